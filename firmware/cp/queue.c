// SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 OR MIT
/* Queues: new tails, entries taken, faults of their rings, and their end. */
#include "firmware/cp/fw.h"

static void doorbell_word(u32 word)
{
	u32 addr = NPU_CP_DOORBELL + NPU_DB_PENDING(word);
	u32 d, pending = reg_read(addr);
	struct queue *q;

	/* First clear, then read: a value of after that sets the bit again. */
	reg_write(addr, pending);
	for (; pending; pending &= pending - 1) {
		d = word * 32 + lowest_bit(pending);
		if (d >= fw.queue_count)
			continue;
		q = &fw.queues[d];
		if (q->state == QUEUE_ACTIVE)
			queue_new_tail(q, reg_read(NPU_CP_DOORBELL + NPU_DB_VALUE(d)));
	}
}

void doorbells(void)
{
	u32 word;

	for (word = 0; word * 32 < fw.queue_count; word++)
		doorbell_word(word);
}

bool queue_may_fetch(const struct queue *q)
{
	return (q->state == QUEUE_ACTIVE || q->state == QUEUE_CLOSING) && !q->fetching &&
	       !q->hold && q->fetched != q->tail;
}

void queue_want_fetch(struct queue *q)
{
	if (q->fetched == q->tail || q->buffered > fw.buffer_low || q->fetch.on ||
	    !queue_may_fetch(q))
		return;
	if (likely(!fw.fetch_mask && !dma_is_busy(DMA_FETCH))) {
		fetch_start(q);
		return;
	}
	list_push(&fw.fetch[q->priority], &q->fetch);
	fw.fetch_mask |= 1u << q->priority;
	fw.work |= WORK_FETCH;
}

void queue_new_tail(struct queue *q, u32 tail)
{
	const struct dma_end impossible = { NPU_FAULT_LENGTH, tail };
	u32 size = 1u << q->log_size, ahead = tail - q->fetched;

	if (ahead <= size) {
		/* Doorbell and shadow block may overtake each other. */
		if (ahead > q->tail - q->fetched)
			q->tail = tail;
		queue_want_fetch(q);
	} else if (q->fetched - tail > size) {
		queue_fault(q, &impossible, NPU_ACCESS_READ);
	}
}

void queue_fault(struct queue *q, const struct dma_end *end, u32 access)
{
	if (!q->id)
		fw_fail(end->fault == NPU_FAULT_LENGTH ? NPU_BOOT_ERROR_ADMIN_RING :
							 NPU_BOOT_ERROR_DMA, end->fault);
	if (q->state == QUEUE_STOPPED)
		return;
	event_ring_fault(q->id, q->context, end, access);
	q->state = QUEUE_STOPPED;
	q->tail = q->fetched;
	if (q->kill) {
		q->kill_end = q->fetched;
		if (!q->buffered)
			q->kill = 0;
		queue_settle(q);
	}
	if (q->fetch.on)
		list_remove(&fw.fetch[q->priority], &q->fetch);
}

/* A core is free and nobody else waits for one: this is what schedule() would do. */
static void start_at_once(struct queue *q)
{
	core_start(&fw.core[lowest_bit(fw.core_idle & q->core_mask)], q);
	queue_take(q);
	queue_want_fetch(q);
}

void queue_update(struct queue *q)
{
	if (!q->id) {
		if (q->buffered)
			fw.work |= WORK_ADMIN;
		return;
	}
	if (q->ready.on)
		return;
	while (q->buffered && !job_is_quick(q)) {
		if (fw.ready_mask || fw.quick.head || !(fw.core_idle & q->core_mask)) {
			schedule_push(&fw.ready[q->priority], &q->ready, q->priority);
			return;
		}
		start_at_once(q);
	}
	if (!q->buffered) {
		if (q->has_shadow && q->fetched == q->tail)
			shadow_request(q);
	} else if (!q->running) {
		/* In its turn: jobs of one queue end in order where they can. */
		list_push(&fw.quick, &q->ready);
		fw.sole = NULL;
		fw.work |= WORK_SCHED;
	}
}

/* Looked at whenever a job or an entry ended: under load it lasts a moment only. */
void queue_settle(struct queue *q)
{
	if (!q->kill && !q->running)
		q->killing = false;
}

/* After queue_take(): what follows from it. */
void queue_taken(struct queue *q)
{
	if (q->kill && q->fetched - q->buffered == q->kill_end)
		q->kill = 0;
	queue_settle(q);
	queue_want_fetch(q);
	queue_update(q);
}

/* The next entry of @q may have become one that needs no core. */
void queue_reconsider(struct queue *q)
{
	fw.sole = NULL;
	if (q->ready.on) {
		list_remove(&fw.quick, &q->ready);
		list_remove(&fw.ready[q->priority], &q->ready);
	}
	queue_update(q);
}

static void kill_started(struct queue *q, u32 status)
{
	struct node *node, *next;
	u32 n;

	for (n = 0; n < fw.cores; n++)
		if (core_runs(&fw.core[n], q))
			core_stop(&fw.core[n], status);
	for (node = fw.paused[q->priority].head; node; node = next) {
		struct job *job = entry_of(node, struct job, node);

		next = node->next;
		if (job->queue == q)
			core_end_paused(job, status);
	}
}

/*
 * Ends every job up to the present tail with @status. Paused jobs end at once:
 * the caller has made sure of room for their completions.
 */
void queue_kill(struct queue *q, u32 status)
{
	q->kill_end = q->tail;
	q->kill = q->fetched - q->buffered != q->kill_end ? status : 0;
	q->killing = true;
	fw.sole = NULL;
	kill_started(q, status);
	queue_settle(q);
	queue_want_fetch(q);
	queue_reconsider(q);
}
