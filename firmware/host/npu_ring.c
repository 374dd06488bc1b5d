// SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 OR MIT
/* Submission, completion and event rings. */
#include "firmware/host/npu_host.h"

#define ENTRY_BYTES	sizeof(struct npu_cqe)
#define EVENT_FULL	2u	/* bit of npu_event.phase */

static_assert(sizeof(struct npu_job_sqe) == ENTRY_BYTES, "job entry");
static_assert(sizeof(struct npu_admin_sqe) == ENTRY_BYTES, "admin entry");
static_assert(sizeof(struct npu_event) == ENTRY_BYTES, "event entry");

static bool log_size_ok(u32 log_size)
{
	return log_size >= NPU_RING_LOG_MIN && log_size <= NPU_RING_LOG_MAX;
}

/* Phase that an entry has when the device has written it on this pass. */
static u32 phase_of(u32 head, u32 size)
{
	return !(head & size);
}

int npu_sq_init(struct npu_sq *sq, const struct npu_host_env *env, void *entries, u32 log_size,
		u32 doorbell, struct npu_shadow *shadow)
{
	if (!log_size_ok(log_size))
		return -EINVAL;

	*sq = (struct npu_sq) {
		.env = env,
		.entries = entries,
		.shadow = shadow,
		.size = 1u << log_size,
		.doorbell = doorbell,
	};
	return 0;
}

u32 npu_sq_room(const struct npu_sq *sq)
{
	return sq->size - sq->outstanding;
}

int npu_sq_push(struct npu_sq *sq, const void *entry)
{
	if (sq->outstanding >= sq->size)
		return -ENOSPC;

	memcpy(sq->entries + (sq->tail & (sq->size - 1)) * ENTRY_BYTES, entry, ENTRY_BYTES);
	sq->tail++;
	sq->outstanding++;
	return 0;
}

bool npu_sq_publish(struct npu_sq *sq)
{
	u32 old = sq->published;
	u32 event_idx;

	if (sq->tail == old)
		return false;

	sq->published = sq->tail;
	npu_wmb();
	if (!sq->shadow)
		return true;

	WRITE_ONCE(sq->shadow->sq_tail, NPU_LE32(sq->tail));
	/* The device writes event_idx, then reads sq_tail: one of both sees the other. */
	npu_mb();
	event_idx = NPU_LE32(READ_ONCE(sq->shadow->event_idx));
	return (u32)(sq->tail - event_idx - 1) < (u32)(sq->tail - old);
}

void npu_sq_ring(struct npu_sq *sq)
{
	if (npu_sq_publish(sq))
		sq->env->ops->doorbell(sq->env->opaque, sq->doorbell, sq->tail);
}

int npu_sq_complete(struct npu_sq *sq)
{
	if (!sq->outstanding)
		return -EPROTO;
	sq->outstanding--;
	return 0;
}

u64 npu_sq_progress(const struct npu_sq *sq)
{
	return sq->shadow ? NPU_LE64(READ_ONCE(sq->shadow->progress)) : 0;
}

int npu_cq_init(struct npu_cq *cq, void *entries, u32 log_size)
{
	if (!log_size_ok(log_size))
		return -EINVAL;

	*cq = (struct npu_cq) { .entries = entries, .size = 1u << log_size };
	return 0;
}

static void cqe_to_cpu(struct npu_cqe *cqe)
{
	cqe->cmd_id = NPU_LE32(cqe->cmd_id);
	cqe->status = NPU_LE16(cqe->status);
	cqe->cycles = NPU_LE64(cqe->cycles);
	cqe->macs = NPU_LE64(cqe->macs);
	cqe->bytes_read = NPU_LE64(cqe->bytes_read);
	cqe->bytes_written = NPU_LE64(cqe->bytes_written);
	cqe->fault_va = NPU_LE64(cqe->fault_va);
	cqe->insn = NPU_LE32(cqe->insn);
	cqe->reserved = NPU_LE16(cqe->reserved);
	cqe->queue = NPU_LE16(cqe->queue);
	cqe->sq_head = NPU_LE16(cqe->sq_head);
}

int npu_cq_poll(struct npu_cq *cq, struct npu_cqe *out)
{
	struct npu_cqe *entry = &cq->entries[cq->head & (cq->size - 1)];
	u32 phase = NPU_LE32(READ_ONCE(entry->phase));

	if ((phase & 1) != phase_of(cq->head, cq->size))
		return 0;

	npu_rmb();
	memcpy(out, entry, sizeof(*out));
	cqe_to_cpu(out);
	out->phase = phase;
	cq->head++;
	return phase & ~1u || out->reserved ? -EPROTO : 1;
}

int npu_evq_init(struct npu_evq *evq, void *entries, u32 log_size)
{
	if (!log_size_ok(log_size))
		return -EINVAL;

	*evq = (struct npu_evq) { .entries = entries, .size = 1u << log_size };
	return 0;
}

static void event_to_cpu(struct npu_event *event)
{
	event->type = NPU_LE16(event->type);
	event->queue = NPU_LE16(event->queue);
	event->context = NPU_LE16(event->context);
	event->cmd_id = NPU_LE32(event->cmd_id);
	event->insn = NPU_LE32(event->insn);
	event->fault_va = NPU_LE64(event->fault_va);
	event->tick = NPU_LE64(event->tick);
}

int npu_evq_poll(struct npu_evq *evq, struct npu_event *out)
{
	struct npu_event *entry = &evq->entries[evq->head & (evq->size - 1)];
	u32 phase = NPU_LE32(READ_ONCE(entry->phase));

	if (!(phase & EVENT_FULL) || (phase & 1) != phase_of(evq->head, evq->size))
		return 0;

	npu_rmb();
	memcpy(out, entry, sizeof(*out));
	event_to_cpu(out);
	out->phase = phase;
	/* The device may overwrite the entry from here on. */
	npu_mb();
	WRITE_ONCE(entry->phase, 0);
	evq->head++;
	return phase & ~(EVENT_FULL | 1u) ? -EPROTO : 1;
}
