// SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 OR MIT
/* Admin operations that create queues and completion rings. */
#include "firmware/cp/admin.h"

static bool log_ok(u32 log)
{
	return log >= NPU_RING_LOG_MIN && log <= NPU_RING_LOG_MAX;
}

static bool bus_ok(u64 address, u32 align)
{
	return !(address % align) && bus_has(address);
}

u32 op_cq_create(void)
{
	const struct npu_admin_sqe *sqe = &admin.sqe;
	struct cq *cq;

	if (!log_ok(sqe->log_size))
		return BAD_FIELD(log_size);
	if (sqe->vector >= fw.cq_count)
		return BAD_FIELD(vector);
	if (!sqe->cq || sqe->cq >= fw.cq_count)
		return BAD_FIELD(cq);
	if (!bus_ok(sqe->address, NPU_RING_ALIGN))
		return BAD_FIELD(address);
	cq = &fw.cqs[sqe->cq];
	if (cq->used)
		return NPU_ADMIN_STATUS_EXISTS;
	memset(cq, 0, sizeof(*cq));
	cq->used = true;
	cq->log_size = sqe->log_size;
	cq->vector = sqe->vector;
	cq->address = sqe->address;
	return NPU_ADMIN_STATUS_OK;
}

static u32 poll_cq_destroy(void)
{
	/* Completions that are still on their way hold the ring. */
	if (!finish_passed(admin.index))
		return ADMIN_PENDING;
	fw.cqs[admin.sqe.cq].used = false;
	return NPU_ADMIN_STATUS_OK;
}

u32 op_cq_destroy(void)
{
	u32 cq = admin.sqe.cq;

	if (!cq || cq >= fw.cq_count)
		return BAD_FIELD(cq);
	if (!fw.cqs[cq].used)
		return NPU_ADMIN_STATUS_NOT_FOUND;
	if (fw.cqs[cq].users)
		return NPU_ADMIN_STATUS_BUSY;
	admin.index = finish_mark();
	return admin_wait(poll_cq_destroy);
}

/* The existing queue that the entry names; NULL with *@status set. */
struct queue *admin_find_queue(u32 *status)
{
	u32 slot = admin.sqe.queue;

	if (!slot || slot >= fw.queue_count) {
		*status = BAD_FIELD(queue);
		return NULL;
	}
	if (fw.queues[slot].state == QUEUE_FREE) {
		*status = NPU_ADMIN_STATUS_NOT_FOUND;
		return NULL;
	}
	return &fw.queues[slot];
}

static bool space_ok(u64 address, u32 align)
{
	if (!admin.sqe.ring_space)
		return bus_ok(address, align);
	return !(address % align) && !(address >> NPU_VA_BITS);
}

static u32 check_queue(const struct npu_admin_sqe *sqe)
{
	if (sqe->priority >= NPU_PRIORITIES)
		return BAD_FIELD(priority);
	if (!log_ok(sqe->log_size))
		return BAD_FIELD(log_size);
	if (!sqe->queue || sqe->queue >= fw.queue_count)
		return BAD_FIELD(queue);
	if (!sqe->cq || sqe->cq >= fw.cq_count)
		return BAD_FIELD(cq);
	if (sqe->ring_space && sqe->ring_space != sqe->context)
		return BAD_FIELD(ring_space);
	if (!space_ok(sqe->address, NPU_RING_ALIGN))
		return BAD_FIELD(address);
	if (!space_ok(sqe->shadow, NPU_SHADOW_ALIGN))
		return BAD_FIELD(shadow);
	if (!sqe->limit || sqe->limit > NPU_LIMIT_MAX)
		return BAD_FIELD(limit);
	if (!sqe->core_mask || sqe->core_mask & ~fw.core_all)
		return BAD_FIELD(core_mask);
	return NPU_ADMIN_STATUS_OK;
}

static void open_queue(struct queue *q, const struct npu_admin_sqe *sqe)
{
	struct npu_job_sqe *buf = q->buf;

	memset(q, 0, sizeof(*q));
	q->buf = buf;
	q->buf_end = buf + fw.buffer_entries;
	q->head = buf;
	q->id = sqe->queue;
	q->state = QUEUE_ACTIVE;
	q->priority = sqe->priority;
	q->log_size = sqe->log_size;
	q->context = sqe->context;
	q->space = sqe->ring_space;
	q->core_mask = sqe->core_mask;
	q->ring = sqe->address;
	q->shadow = sqe->shadow;
	q->has_shadow = sqe->shadow;
	q->limit = sqe->limit;
	q->cq = &fw.cqs[sqe->cq];
	q->cq->users++;
	/* A doorbell of the slot's last owner means nothing any more. */
	reg_write(NPU_CP_DOORBELL + NPU_DB_PENDING(q->id / 32), 1u << q->id % 32);
	/* Until event_idx is written the host need not ring. */
	shadow_request(q);
}

u32 op_queue_create(void)
{
	const struct npu_admin_sqe *sqe = &admin.sqe;
	u32 status = check_queue(sqe);

	if (status)
		return status;
	if (fw.queues[sqe->queue].state != QUEUE_FREE)
		return NPU_ADMIN_STATUS_EXISTS;
	if (!fw.cqs[sqe->cq].used)
		return NPU_ADMIN_STATUS_NOT_FOUND;
	open_queue(&fw.queues[sqe->queue], sqe);
	return NPU_ADMIN_STATUS_OK;
}
