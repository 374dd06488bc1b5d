// SPDX-License-Identifier: GPL-2.0-only
/*
 * Jobs on their way through the device: from the scheduler into the ring as far
 * as there is room, and from their completions to the fence of their submission.
 *
 * Jobs of a queue may end out of order where there are several cores, but
 * submissions leave, and their fences signal, in order.
 *
 * All this is on the path that signals fences: nothing allocates or sleeps.
 */
#include <linux/bitmap.h>
#include <linux/slab.h>

#include "npu_queue.h"
#include "npu_trace.h"

#define NPU_TAG_BITS	16
#define NPU_TAG_MASK	GENMASK(NPU_TAG_BITS - 1, 0)

int npu_flights_init(struct npu_queue *queue)
{
	u32 size = 1u << queue->desc.log_size;

	spin_lock_init(&queue->lock);
	INIT_LIST_HEAD(&queue->running);
	INIT_LIST_HEAD(&queue->touched);
	queue->flights = kcalloc(size, sizeof(*queue->flights), GFP_KERNEL_ACCOUNT);
	queue->free_tags = kcalloc(size, sizeof(*queue->free_tags), GFP_KERNEL_ACCOUNT);
	if (!queue->flights || !queue->free_tags) {
		npu_flights_fini(queue);
		return -ENOMEM;
	}
	return 0;
}

void npu_flights_fini(struct npu_queue *queue)
{
	kfree(queue->free_tags);
	kfree(queue->flights);
	queue->free_tags = NULL;
	queue->flights = NULL;
}

/* An empty ring and no job given, for a slot that the device has yet to create. */
static void npu_queue_rewind_locked(struct npu_queue *queue)
{
	u32 size = 1u << queue->desc.log_size;
	u32 ring_bytes = size * sizeof(struct npu_job_sqe);
	u32 i;

	if (!queue->mem.cpu)
		return;
	memset(queue->mem.cpu, 0, queue->mem.size);
	npu_sq_init(&queue->sq, &queue->ndev->env, queue->mem.cpu, queue->desc.log_size,
		    queue->desc.queue, queue->desc.shadow ? queue->mem.cpu + ring_bytes : NULL);
	memset(queue->flights, 0, size * sizeof(*queue->flights));
	for (i = 0; i < size; i++)
		queue->free_tags[i] = i;
	queue->free_count = size;
	queue->broken = false;
	queue->seen_at = jiffies;
	queue->seen_progress = 0;
	queue->progress_base = queue->stats.cycles;
}

void npu_queue_rewind(struct npu_queue *queue)
{
	spin_lock_irq(&queue->lock);
	npu_queue_rewind_locked(queue);
	spin_unlock_irq(&queue->lock);
}

static void npu_queue_fill(struct npu_job_sqe *sqe, u32 cmd_id, const struct drm_npu_job *job)
{
	const struct npu_job_desc desc = {
		.insn_va = job->insn_va,
		.region_va = job->region_va,
		.limit = job->limit,
		.report_va = job->report_va,
		.insn_count = job->insn_count,
		.region_count = job->region_count,
	};

	if (job->insn_count)
		npu_job_run(sqe, cmd_id, &desc);
	else
		npu_job_nop(sqe, cmd_id);
}

/* There is a free tag for each free entry of the ring. */
static void npu_queue_issue_job(struct npu_queue *queue, struct npu_submission *submission,
				u32 index)
{
	u32 tag = queue->free_tags[--queue->free_count];
	u32 cmd_id = ++queue->sequence << NPU_TAG_BITS | tag;
	struct npu_job_sqe sqe;

	queue->flights[tag] = (struct npu_flight) {
		.submission = submission,
		.index = index,
		.cmd_id = cmd_id,
		.position = queue->sq.tail,
	};
	trace_npu_run(queue, submission->first + index, cmd_id, &submission->jobs[index]);
	npu_queue_fill(&sqe, cmd_id, &submission->jobs[index]);
	npu_sq_push(&queue->sq, &sqe);
}

/* Gives the device what there is room for. */
static void npu_queue_issue(struct npu_queue *queue)
{
	struct npu_submission *submission = queue->issue;

	lockdep_assert_held(&queue->lock);
	/* What a reset finds not given to the device it may give later. */
	if (!submission || queue->gone || READ_ONCE(queue->ndev->state) != NPU_STATE_UP)
		return;

	if (!queue->sq.outstanding)
		queue->seen_at = jiffies;
	while (submission && npu_sq_room(&queue->sq)) {
		u32 index = find_next_zero_bit(submission->done, submission->count,
					       submission->next);

		if (index < submission->count) {
			npu_queue_issue_job(queue, submission, index);
			submission->next = index + 1;
			continue;
		}
		submission->next = submission->count;
		submission = list_is_last(&submission->link, &queue->running) ? NULL :
			     list_next_entry(submission, link);
	}
	queue->issue = submission;
	npu_sq_ring(&queue->sq);
}

/* The scheduler's run_job: the caller keeps the device from going away. */
int npu_queue_start(struct npu_queue *queue, struct npu_submission *submission)
{
	int ret;

	spin_lock_irq(&queue->lock);
	ret = queue->gone;
	if (ret) {
		queue->stats.done += submission->count;
		queue->stats.failed += submission->count;
	} else {
		list_add_tail(&submission->link, &queue->running);
		if (!queue->issue)
			queue->issue = submission;
		npu_queue_issue(queue);
	}
	spin_unlock_irq(&queue->lock);
	return ret;
}

static void npu_queue_count(struct npu_queue *queue, struct npu_submission *submission,
			    u32 index, int error)
{
	__set_bit(index, submission->done);
	submission->left--;
	queue->stats.done++;
	if (!error)
		return;
	queue->stats.failed++;
	if (index < submission->failed) {
		submission->failed = index;
		submission->error = error;
	}
}

static void npu_queue_trace_end(struct npu_queue *queue, u64 job, const struct npu_cqe *cqe)
{
	if (cqe->status == NPU_JOB_STATUS_FAULT || cqe->status == NPU_JOB_STATUS_REPORT_FAULT)
		trace_npu_fault(queue->ndev, queue->desc.queue, job, cqe->fault_code,
				cqe->fault_unit, cqe->fault_access, cqe->fault_va, cqe->insn);
	trace_npu_complete(queue, job, cqe);
}

/*
 * Takes a completion; @queue's ring is locked. What the device says is not
 * trusted: -ENOENT if it names no job that it has been given.
 */
int npu_queue_job_ended(struct npu_queue *queue, const struct npu_cqe *cqe)
{
	u32 tag = cqe->cmd_id & NPU_TAG_MASK;
	struct npu_flight *flight;
	unsigned long flags;
	int ret = -ENOENT;
	int error;

	lockdep_assert_held(&queue->ring->lock);
	spin_lock_irqsave(&queue->lock, flags);
	if (tag >= 1u << queue->desc.log_size)
		goto out;
	flight = &queue->flights[tag];
	if (!flight->submission || flight->cmd_id != cqe->cmd_id)
		goto out;

	error = npu_job_errno(cqe->status);
	npu_queue_count(queue, flight->submission, flight->index, error);
	queue->stats.cycles += cqe->cycles;
	queue->stats.macs += cqe->macs;
	queue->stats.bytes_read += cqe->bytes_read;
	queue->stats.bytes_written += cqe->bytes_written;
	npu_queue_trace_end(queue, flight->submission->first + flight->index, cqe);
	if (error) {
		const struct drm_npu_job *job = &flight->submission->jobs[flight->index];

		queue->failure = *cqe;
		queue->failed_job = flight->submission->first + flight->index;
		queue->failed_insn_va = job->insn_va;
		queue->failed_insn_count = job->insn_count;
	}
	flight->submission = NULL;
	queue->free_tags[queue->free_count++] = tag;
	npu_sq_complete(&queue->sq);
	ret = 0;
out:
	spin_unlock_irqrestore(&queue->lock, flags);
	return ret;
}

static struct npu_submission *npu_queue_pop_ended(struct npu_queue *queue)
{
	struct npu_submission *submission;
	unsigned long flags;

	spin_lock_irqsave(&queue->lock, flags);
	submission = list_first_entry_or_null(&queue->running, struct npu_submission, link);
	if (submission && !submission->left) {
		list_del_init(&submission->link);
		if (queue->issue == submission)
			queue->issue = list_first_entry_or_null(&queue->running,
								struct npu_submission, link);
	} else {
		submission = NULL;
	}
	spin_unlock_irqrestore(&queue->lock, flags);
	return submission;
}

/* Ends submissions, in order; @queue's ring is locked, its own lock is not. */
static void npu_queue_signal(struct npu_queue *queue)
{
	struct npu_submission *submission;
	struct npu_fence *fence;

	lockdep_assert_held(&queue->ring->lock);
	while ((submission = npu_queue_pop_ended(queue))) {
		int error = submission->error;

		/* The scheduler frees the submission once its fence has signalled. */
		fence = submission->fence;
		dma_fence_get(&fence->base);
		npu_fence_signal(fence, error);
		dma_fence_put(&fence->base);
	}
}

/* Completions were taken: ends submissions and uses the room; ring locked. */
void npu_queue_advance(struct npu_queue *queue)
{
	unsigned long flags;

	spin_lock_irqsave(&queue->lock, flags);
	npu_queue_issue(queue);
	spin_unlock_irqrestore(&queue->lock, flags);
	npu_queue_signal(queue);
}

/* A device that was reset gives nothing back. */
static void npu_queue_fail_job(struct npu_queue *queue, struct npu_submission *submission,
			       u32 index, int error)
{
	npu_queue_count(queue, submission, index, error);
	queue->failed_job = submission->first + index;
	queue->failed_insn_va = submission->jobs[index].insn_va;
	queue->failed_insn_count = submission->jobs[index].insn_count;
	queue->failure = (struct npu_cqe) { .status = NPU_JOB_STATUS_CANCELED };
	npu_queue_trace_end(queue, queue->failed_job, &queue->failure);
}

/*
 * Ends all that the scheduler has handed over, and lets it hand over no more.
 * The device has no access to the queue any more.
 */
void npu_queue_fail_all(struct npu_queue *queue, int error, bool ban)
{
	struct npu_submission *submission;
	unsigned long index;

	spin_lock_irq(&queue->ring->lock);
	spin_lock(&queue->lock);
	queue->gone = error;
	queue->issue = NULL;
	if (ban) {
		queue->banned = true;
		queue->stats.resets++;
	}
	list_for_each_entry(submission, &queue->running, link) {
		for_each_clear_bit(index, submission->done, submission->count)
			npu_queue_fail_job(queue, submission, index, error);
		submission->next = submission->count;
	}
	npu_queue_rewind_locked(queue);
	spin_unlock(&queue->lock);
	npu_queue_signal(queue);
	spin_unlock_irq(&queue->ring->lock);
}

/* The job that was given to the device after @last, or first; @queue is locked. */
struct npu_flight *npu_queue_flight_after(struct npu_queue *queue, const struct npu_flight *last)
{
	u32 size = 1u << queue->desc.log_size;
	struct npu_flight *next = NULL;
	u32 tag;

	for (tag = 0; tag < size; tag++) {
		struct npu_flight *flight = &queue->flights[tag];

		if (!flight->submission || (last && (s32)(flight->position - last->position) <= 0))
			continue;
		if (!next || (s32)(flight->position - next->position) < 0)
			next = flight;
	}
	return next;
}

static struct npu_flight *npu_queue_oldest_flight(struct npu_queue *queue)
{
	return npu_queue_flight_after(queue, NULL);
}

/*
 * After a device reset: ends the jobs that may have started and gets the others
 * ready to be given to the device again. Jobs start in order, and no more of
 * them have started and not ended than the queue has cores.
 */
void npu_queue_fail_started(struct npu_queue *queue)
{
	u32 cores = hweight32(queue->desc.core_mask);
	struct npu_submission *submission;
	struct npu_flight *flight;

	spin_lock_irq(&queue->ring->lock);
	spin_lock(&queue->lock);
	flight = npu_queue_oldest_flight(queue);
	queue->stats.resets += !!flight;
	for (; flight && cores--; flight = npu_queue_oldest_flight(queue)) {
		npu_queue_fail_job(queue, flight->submission, flight->index, -ECANCELED);
		flight->submission = NULL;
	}
	list_for_each_entry(submission, &queue->running, link)
		submission->next = 0;
	queue->issue = list_first_entry_or_null(&queue->running, struct npu_submission, link);
	npu_queue_rewind_locked(queue);
	spin_unlock(&queue->lock);
	npu_queue_signal(queue);
	spin_unlock_irq(&queue->ring->lock);
}

/*
 * Whether a job of the queue is known to have run for a while and not to have
 * ended: the device counts more cycles than the jobs that ended took.
 */
bool npu_queue_runs(struct npu_queue *queue)
{
	bool ret;

	spin_lock_irq(&queue->lock);
	ret = !queue->gone && queue->sq.outstanding &&
	      queue->progress_base + npu_sq_progress(&queue->sq) > queue->stats.cycles;
	spin_unlock_irq(&queue->lock);
	return ret;
}

/* The slot was created again: gives the device what waits. */
void npu_queue_kick(struct npu_queue *queue)
{
	spin_lock_irq(&queue->lock);
	npu_queue_issue(queue);
	spin_unlock_irq(&queue->lock);
}

/* Any context. */
void npu_queue_broken(struct npu_queue *queue)
{
	unsigned long flags;

	spin_lock_irqsave(&queue->lock, flags);
	queue->broken = true;
	spin_unlock_irqrestore(&queue->lock, flags);
	drm_sched_fault(&queue->sched);
}

/* Finds the job that was given to the device first. */
bool npu_queue_oldest(struct npu_queue *queue, u32 *cmd_id)
{
	struct npu_flight *oldest;

	spin_lock_irq(&queue->lock);
	oldest = npu_queue_oldest_flight(queue);
	if (oldest)
		*cmd_id = oldest->cmd_id;
	spin_unlock_irq(&queue->lock);
	return oldest;
}

bool npu_queue_in_flight(struct npu_queue *queue, u32 cmd_id)
{
	struct npu_flight *flight = &queue->flights[cmd_id & NPU_TAG_MASK];
	bool ret;

	spin_lock_irq(&queue->lock);
	ret = flight->submission && flight->cmd_id == cmd_id;
	spin_unlock_irq(&queue->lock);
	return ret;
}

bool npu_queue_idle(struct npu_queue *queue)
{
	bool ret;

	spin_lock_irq(&queue->lock);
	ret = !queue->sq.outstanding;
	spin_unlock_irq(&queue->lock);
	return ret;
}
