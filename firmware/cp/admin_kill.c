// SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 OR MIT
/* Admin operations that end jobs. They last until the jobs have ended. */
#include "firmware/cp/admin.h"

/* Steps of these operations. */
enum { LEARN_TAILS, KILL, WAIT, FLUSH };

static u32 poll_queue_destroy(void)
{
	struct queue *q = admin.queue;

	switch (admin.step) {
	case LEARN_TAILS:
		if (shadow_is_busy(q))
			return ADMIN_PENDING;
		if (q->state == QUEUE_ACTIVE)
			q->state = QUEUE_CLOSING;
		queue_kill(q, NPU_JOB_STATUS_ABORTED);
		admin.step = WAIT;
		fallthrough;
	default:
		if (q->killing || q->fetching || shadow_is_busy(q))
			return ADMIN_PENDING;
	}
	mark_drop_all(q);
	fw.counters.cycles += q->cycles;
	q->cq->users--;
	q->state = QUEUE_FREE;
	return NPU_ADMIN_STATUS_OK;
}

u32 op_queue_destroy(void)
{
	u32 status;

	admin.queue = admin_find_queue(&status);
	if (!admin.queue)
		return status;
	shadow_request(admin.queue);
	return admin_wait(poll_queue_destroy);
}

static bool abort_running(const struct queue *q, u32 cmd_id)
{
	u32 n;

	for (n = 0; n < fw.cores; n++) {
		if (!core_runs(&fw.core[n], q) || fw.core[n].job->cmd_id != cmd_id)
			continue;
		core_stop(&fw.core[n], NPU_JOB_STATUS_ABORTED);
		admin.core = n;
		return true;
	}
	return false;
}

static bool abort_paused(const struct queue *q, u32 cmd_id)
{
	struct node *node;

	for (node = fw.paused[q->priority].head; node; node = node->next) {
		struct job *job = entry_of(node, struct job, node);

		if (job->queue != q || job->cmd_id != cmd_id)
			continue;
		core_end_paused(job, NPU_JOB_STATUS_ABORTED);
		return true;
	}
	return false;
}

static u32 poll_abort(void)
{
	struct queue *q = admin.queue;
	u32 status;

	switch (admin.step) {
	case LEARN_TAILS:
		if (shadow_is_busy(q) || q->fetching)
			return ADMIN_PENDING;
		if (abort_running(q, admin.sqe.arg0)) {
			admin.step = WAIT;
			return ADMIN_PENDING;
		}
		if (abort_paused(q, admin.sqe.arg0)) {
			status = NPU_ADMIN_STATUS_OK;
			break;
		}
		admin.step = KILL;
		admin.index = q->fetched - q->buffered;
		admin.chunk = 0;
		fallthrough;
	case KILL:
		status = abort_waiting();
		break;
	default:
		if (fw.core_stopping & fw.core[admin.core].bit)
			return ADMIN_PENDING;
		/* It may have ended by itself in the last moment. */
		status = fw.core[admin.core].killed ? NPU_ADMIN_STATUS_OK :
						      NPU_ADMIN_STATUS_NOT_FOUND;
	}
	if (status != ADMIN_PENDING) {
		q->hold = false;
		queue_want_fetch(q);
	}
	return status;
}

u32 op_abort(void)
{
	u32 status;

	admin.queue = admin_find_queue(&status);
	if (!admin.queue)
		return status;
	/* The ring's part of the entries keeps still while it is searched. */
	admin.queue->hold = true;
	shadow_request(admin.queue);
	return admin_wait(poll_abort);
}

static bool of_context(const struct queue *q)
{
	return q->state != QUEUE_FREE && q->context == admin.sqe.context;
}

static u32 poll_context_reset(void)
{
	u32 i;

	if (admin.step == LEARN_TAILS) {
		for (i = 1; i < fw.queue_count; i++)
			if (of_context(&fw.queues[i]) && shadow_is_busy(&fw.queues[i]))
				return ADMIN_PENDING;
		for (i = 1; i < fw.queue_count; i++)
			if (of_context(&fw.queues[i]))
				queue_kill(&fw.queues[i], NPU_JOB_STATUS_CANCELED);
		admin.step = WAIT;
	}
	for (i = 1; admin.step == WAIT && i < fw.queue_count; i++)
		if (of_context(&fw.queues[i]) && fw.queues[i].killing)
			return ADMIN_PENDING;
	/* Their reports use the translations still. */
	if (admin.step == WAIT) {
		admin.index = finish_mark();
		admin.step = FLUSH;
	}
	if (!finish_passed(admin.index))
		return ADMIN_PENDING;
	mmu_write(CONTEXT, admin.sqe.context);
	mmu_write(INVALIDATE, 2);
	return NPU_ADMIN_STATUS_OK;
}

u32 op_context_reset(void)
{
	u32 i;

	for (i = 1; i < fw.queue_count; i++)
		if (of_context(&fw.queues[i]))
			shadow_request(&fw.queues[i]);
	return admin_wait(poll_context_reset);
}

static bool cores_quiet(void)
{
	u32 n, state;

	for (n = 0; n < fw.cores; n++) {
		state = core_read(&fw.core[n], STATUS) & NPU_CORE_STATUS_STATE_MASK;
		if (state == NPU_CORE_STATE_RUNNING)
			return false;
	}
	return true;
}

static u32 poll_suspend(void)
{
	if (!cores_quiet()) {
		/* There is no interrupt for this. */
		fw.work |= WORK_ADMIN;
		return ADMIN_PENDING;
	}
	if (fw.dma_busy || !finish_idle() || !event_idle())
		return ADMIN_PENDING;
	if (admin.step == LEARN_TAILS) {
		event_ring_set(0, 0);
		log_admin(&admin.sqe, NPU_ADMIN_STATUS_OK);
		finish_admin(admin.sqe.cmd_id, NPU_ADMIN_STATUS_OK, 0, 0);
		admin.step = FLUSH;
		return ADMIN_PENDING;
	}
	host_write(BOOT_STATE, NPU_BOOT_SUSPENDED);
	sys_write(HOST_IRQ, 0);
	fw_sleep_for_ever();
}

u32 op_suspend(void)
{
	u32 i;

	for (i = 0; i < NPU_PRIORITIES; i++) {
		fw.ready[i].head = NULL;
		fw.paused[i].head = NULL;
	}
	for (i = 0; i <= ADMIN_PRIORITY; i++)
		fw.fetch[i].head = NULL;
	fw.quick.head = NULL;
	fw.shadow.head = NULL;
	for (i = 0; i < fw.queue_count; i++)
		fw.queues[i].state = QUEUE_STOPPED;
	for (i = 0; i < fw.cores; i++)
		core_write(&fw.core[i], CONTROL, NPU_CORE_CONTROL_CLEAR_MASK);
	fw.core_idle = fw.core_all;
	fw.core_stopping = 0;
	return admin_wait(poll_suspend);
}
