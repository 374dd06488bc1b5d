// SPDX-License-Identifier: MIT
/* Queues of a simulated device: submission, completion, dependencies. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "userspace/libnpu/sim.h"

#define SQ_LOG		6u
#define CQ_SIZE		(1u << SIM_CQ_LOG)
#define SLOT_BITS	8

_Static_assert((64u << SQ_LOG) == NPU_PAGE_SIZE, "a ring of one page");

static struct sim *sim_of(struct npu_backend *be)
{
	return (struct sim *)be;
}

int sim_admin(struct sim *sim, struct npu_admin_sqe *sqe)
{
	struct npu_admin_result result = { 0 };
	int ret;

	ret = npu_admin_call(&sim->admin, sqe, SIM_ADMIN_US, &result);
	/* The model was run here, too: what that has left is the worker's. */
	pthread_cond_signal(&sim->work);
	if (ret)
		return npu_fail(ret, "operation %s of the simulated device: %s (results %#llx, %#llx)",
				npu_admin_op_name(sqe->op),
				ret == -ETIMEDOUT ? "no answer" :
						    npu_admin_status_name(result.status),
				(unsigned long long)result.result0,
				(unsigned long long)result.result1);
	return 0;
}

static struct sim_queue *find_queue(const struct sim *sim, uint32_t id)
{
	struct sim_queue *queue = sim->queues[id % SIM_SLOTS];

	return queue && queue->id == id ? queue : NULL;
}

static struct sim_job *job_at(const struct sim_queue *queue, uint64_t seqno)
{
	return &queue->jobs[seqno & (queue->room - 1)];
}

bool sim_ended(const struct sim *sim, struct npu_point point)
{
	const struct sim_queue *queue = find_queue(sim, point.queue);

	return !queue || point.seqno <= queue->ended;
}

/* ---- completion ---- */

static void end_job(struct sim_queue *queue, uint64_t seqno, const struct npu_cqe *cqe)
{
	job_at(queue, seqno)->done = true;
	if (cqe->status == NPU_JOB_STATUS_OK)
		return;
	queue->failure = (struct npu_failure) {
		.seqno = seqno,
		.jobs_failed = queue->failure.jobs_failed + 1,
		.status = cqe->status,
		.insn = cqe->insn,
		.va = cqe->fault_va,
		.code = cqe->fault_code,
		.unit = cqe->fault_unit,
		.access = cqe->fault_access,
		.core = cqe->core,
	};
}

static void collect_one(struct sim *sim, const struct npu_cqe *cqe)
{
	struct sim_queue *queue = cqe->queue < SIM_SLOTS ? sim->queues[cqe->queue] : NULL;
	uint64_t seqno;

	if (!queue)
		return;
	/* The id is the low half of the number; what is not under way is not ours. */
	seqno = queue->ended + (uint32_t)(cqe->cmd_id - (uint32_t)queue->ended);
	if (seqno <= queue->ended || seqno > queue->issued || job_at(queue, seqno)->done)
		return;

	end_job(queue, seqno, cqe);
	npu_sq_complete(&queue->sq);
	sim->outstanding--;
	while (queue->ended < queue->issued && job_at(queue, queue->ended + 1)->done)
		queue->ended++;
}

bool sim_collect(struct sim *sim)
{
	struct npu_cqe cqe;
	bool any = false;
	uint32_t n;
	int ret;

	for (n = 0; n < CQ_SIZE; n++) {
		ret = npu_cq_poll(&sim->cq, &cqe);
		if (!ret)
			break;
		if (ret > 0)
			collect_one(sim, &cqe);
		any = true;
	}
	return any;
}

/* ---- submission ---- */

static bool may_start(const struct sim *sim, const struct sim_job *job)
{
	unsigned int i;

	for (i = 0; i < job->wait_count; i++)
		if (!sim_ended(sim, job->waits[i]))
			return false;
	return true;
}

static void issue(struct sim *sim, struct sim_queue *queue, struct sim_job *job)
{
	const struct npu_job_desc desc = {
		.insn_va = job->job.insn_va,
		.region_va = job->job.region_va,
		.limit = job->job.limit,
		.report_va = job->job.report_va,
		.insn_count = job->job.insn_count,
		.region_count = job->job.region_count,
	};
	struct npu_job_sqe sqe;

	queue->issued++;
	if (desc.insn_count)
		npu_job_run(&sqe, (uint32_t)queue->issued, &desc);
	else
		npu_job_nop(&sqe, (uint32_t)queue->issued);
	npu_sq_push(&queue->sq, &sqe);
	sim->outstanding++;
	free(job->waits);
	job->waits = NULL;
	job->wait_count = 0;
}

static void pump_queue(struct sim *sim, struct sim_queue *queue)
{
	struct sim_job *job;

	while (queue->issued < queue->submitted && npu_sq_room(&queue->sq) &&
	       sim->outstanding < CQ_SIZE) {
		job = job_at(queue, queue->issued + 1);
		if (!may_start(sim, job))
			break;
		issue(sim, queue, job);
	}
	npu_sq_ring(&queue->sq);
}

void sim_pump(struct sim *sim)
{
	unsigned int i;

	for (i = 1; i < SIM_SLOTS; i++)
		if (sim->queues[i])
			pump_queue(sim, sim->queues[i]);
}

static int grow(struct sim_queue *queue, unsigned int count)
{
	struct sim_queue bigger = *queue;
	uint64_t seqno;

	while (bigger.room < queue->submitted - queue->ended + count)
		bigger.room *= 2;
	if (bigger.room == queue->room)
		return 0;
	bigger.jobs = calloc(bigger.room, sizeof(*bigger.jobs));
	if (!bigger.jobs)
		return npu_fail(-ENOMEM, "out of memory for %u jobs", count);
	for (seqno = queue->ended + 1; seqno <= queue->submitted; seqno++)
		*job_at(&bigger, seqno) = *job_at(queue, seqno);
	free(queue->jobs);
	queue->jobs = bigger.jobs;
	queue->room = bigger.room;
	return 0;
}

/* Only the first of the jobs waits; those behind it follow in order. */
static int submit(struct sim *sim, struct sim_queue *queue, const struct npu_backend_job *jobs,
		  unsigned int count, const struct npu_point *waits, unsigned int wait_count)
{
	struct npu_point *copy = NULL;
	unsigned int i;
	int ret;

	ret = grow(queue, count);
	if (ret)
		return ret;
	if (wait_count) {
		copy = malloc(wait_count * sizeof(*copy));
		if (!copy)
			return npu_fail(-ENOMEM, "out of memory for the waits of a job");
		memcpy(copy, waits, wait_count * sizeof(*copy));
	}
	for (i = 0; i < count; i++)
		*job_at(queue, ++queue->submitted) = (struct sim_job) {
			.job = jobs[i],
			.waits = i ? NULL : copy,
			.wait_count = i ? 0 : wait_count,
		};
	pump_queue(sim, queue);
	pthread_cond_signal(&sim->work);
	return 0;
}

int sim_submit(struct npu_backend *be, uint32_t id, const struct npu_backend_job *jobs,
	       unsigned int count, const struct npu_point *waits, unsigned int wait_count,
	       uint64_t *seqno)
{
	struct sim *sim = sim_of(be);
	struct sim_queue *queue;
	int ret;

	sim_lock(sim);
	queue = find_queue(sim, id);
	if (queue)
		ret = submit(sim, queue, jobs, count, waits, wait_count);
	else
		ret = npu_fail(-ENOENT, "queue %#x does not exist", id);
	if (!ret)
		*seqno = queue->submitted;
	sim_unlock(sim);
	return ret;
}

int sim_last_failure(struct npu_backend *be, uint32_t id, struct npu_failure *failure)
{
	struct sim *sim = sim_of(be);
	struct sim_queue *queue;
	int ret = 0;

	sim_lock(sim);
	queue = find_queue(sim, id);
	if (queue)
		*failure = queue->failure;
	else
		ret = npu_fail(-ENOENT, "queue %#x does not exist", id);
	sim_unlock(sim);
	return ret;
}

/* ---- queues ---- */

static void free_queue(struct sim *sim, struct sim_queue *queue)
{
	uint64_t seqno;

	for (seqno = queue->issued + 1; seqno <= queue->submitted; seqno++)
		free(job_at(queue, seqno)->waits);
	if (queue->ring_size)
		sim_arena_free(&sim->arena, queue->ring_bus, queue->ring_size);
	free(queue->jobs);
	free(queue);
}

static int init_rings(struct sim *sim, struct sim_queue *queue, uint32_t slot)
{
	const uint64_t size = 2 * NPU_PAGE_SIZE;
	struct npu_shadow *shadow = NULL;
	void *ring;
	int ret;

	ret = sim_arena_alloc(&sim->arena, size, &queue->ring_bus, &ring);
	if (ret)
		return ret;
	queue->ring_size = size;
	if (sim->fw_features & NPU_FW_FEATURE_SHADOW)
		shadow = (struct npu_shadow *)((uint8_t *)ring + NPU_PAGE_SIZE);
	return npu_sq_init(&queue->sq, &sim->env, ring, SQ_LOG, slot, shadow);
}

static int create_on_device(struct sim *sim, struct sim_queue *queue, uint32_t slot,
			    uint32_t priority, uint32_t core_mask, uint64_t limit)
{
	const struct npu_queue_desc desc = {
		.queue = slot,
		.cq = SIM_CQ,
		.context = SIM_CONTEXT,
		.priority = priority,
		.log_size = SQ_LOG,
		.core_mask = core_mask ? core_mask : (1u << sim->info.cores) - 1,
		.ring = queue->ring_bus,
		.shadow = queue->sq.shadow ? queue->ring_bus + NPU_PAGE_SIZE : 0,
		.limit = limit ? limit : NPU_LIMIT_DEFAULT,
	};
	struct npu_admin_sqe sqe;

	npu_admin_queue_create(&sqe, &desc);
	return sim_admin(sim, &sqe);
}

static int free_slot(const struct sim *sim, uint32_t *slot)
{
	for (*slot = 1; *slot <= sim->info.queues; ++*slot)
		if (!sim->queues[*slot])
			return 0;
	return npu_fail(-ENOSPC, "all %u queue slots of the device are in use", sim->info.queues);
}

static int create(struct sim *sim, uint32_t priority, uint32_t core_mask, uint64_t limit,
		  uint32_t *id)
{
	struct sim_queue *queue;
	uint32_t slot;
	int ret;

	ret = free_slot(sim, &slot);
	if (ret)
		return ret;
	queue = calloc(1, sizeof(*queue));
	if (!queue)
		return npu_fail(-ENOMEM, "out of memory for a queue");
	queue->room = 1u << SQ_LOG;
	queue->jobs = calloc(queue->room, sizeof(*queue->jobs));
	ret = queue->jobs ? init_rings(sim, queue, slot) :
			    npu_fail(-ENOMEM, "out of memory for a queue");
	if (!ret)
		ret = create_on_device(sim, queue, slot, priority, core_mask, limit);
	if (ret) {
		free_queue(sim, queue);
		return ret;
	}
	queue->id = sim->generation++ << SLOT_BITS | slot;
	sim->queues[slot] = queue;
	*id = queue->id;
	return 0;
}

int sim_queue_create(struct npu_backend *be, uint32_t priority, uint32_t core_mask,
		     uint64_t limit, uint32_t *id)
{
	struct sim *sim = sim_of(be);
	int ret;

	sim_lock(sim);
	ret = create(sim, priority, core_mask, limit, id);
	sim_unlock(sim);
	return ret;
}

void sim_queue_destroy(struct npu_backend *be, uint32_t id)
{
	struct sim *sim = sim_of(be);
	struct sim_queue *queue;
	struct npu_admin_sqe sqe;

	sim_lock(sim);
	queue = find_queue(sim, id);
	npu_admin_queue_destroy(&sqe, id % SIM_SLOTS);
	if (queue && !sim_admin(sim, &sqe)) {
		sim_collect(sim);
		sim->queues[id % SIM_SLOTS] = NULL;
		free_queue(sim, queue);
	}
	sim_pump(sim);
	pthread_cond_broadcast(&sim->done);
	sim_unlock(sim);
}
