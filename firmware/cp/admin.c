// SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 OR MIT
/*
 * The admin ring: one operation after the other, each checked as a whole
 * before it changes anything. This file has the frame and those operations
 * that are over at once.
 */
#include "firmware/cp/admin.h"

struct admin admin;

static struct npu_telemetry telemetry;

void admin_dma(u32 context, u64 host, void *local, u32 len, bool to_host)
{
	admin.context = context;
	admin.host = host;
	admin.local = local;
	admin.len = len;
	admin.to_host = to_host;
	admin.dma_wanted = true;
	fw.work |= WORK_AUX;
}

void admin_kick_dma(void)
{
	if (!admin.dma_wanted || admin.dma_running)
		return;
	admin.dma_running = true;
	aux_start(AUX_ADMIN, admin.context, admin.host, admin.local, admin.len, admin.to_host);
}

void admin_dma_done(const struct dma_end *end)
{
	admin.end = *end;
	admin.dma_running = false;
	admin.dma_wanted = false;
}

u32 admin_wait(u32 (*poll)(void))
{
	admin.poll = poll;
	admin.step = 0;
	return poll();
}

u32 admin_bad_field(u32 offset)
{
	admin.result0 = offset;
	return NPU_ADMIN_STATUS_BAD_FIELD;
}

static bool context_ok(void)
{
	return admin.sqe.context && admin.sqe.context < fw.context_count;
}

static u32 op_ping(void)
{
	admin.result0 = admin.sqe.arg0;
	admin.result1 = read_ticks();
	return NPU_ADMIN_STATUS_OK;
}

static bool context_runs(u32 context)
{
	u32 i;

	for (i = 1; i < fw.queue_count; i++)
		if (fw.queues[i].state != QUEUE_FREE && fw.queues[i].context == context &&
		    fw.queues[i].running)
			return true;
	return false;
}

static u32 op_context_set_root(void)
{
	u64 root = admin.sqe.address;

	if (!context_ok())
		return BAD_FIELD(context);
	if (root % 4096 || !bus_has(root))
		return BAD_FIELD(address);
	if (context_runs(admin.sqe.context))
		return NPU_ADMIN_STATUS_BUSY;
	mmu_write(CONTEXT, admin.sqe.context);
	mmu_write(ROOT_LO, root);
	mmu_write(ROOT_HI, root >> 32);
	mmu_write(INVALIDATE, 2);
	return NPU_ADMIN_STATUS_OK;
}

static u32 op_tlb_invalidate(void)
{
	const struct npu_admin_sqe *sqe = &admin.sqe;

	if (!context_ok())
		return BAD_FIELD(context);
	mmu_write(CONTEXT, sqe->context);
	mmu_write(VA_LO, sqe->address);
	mmu_write(VA_HI, sqe->address >> 32);
	mmu_write(SIZE_LO, sqe->size);
	mmu_write(SIZE_HI, sqe->size >> 32);
	mmu_write(INVALIDATE, sqe->size ? 1 : 2);
	return NPU_ADMIN_STATUS_OK;
}

static u32 poll_event_ring(void)
{
	if (!event_idle())
		return ADMIN_PENDING;
	event_ring_set(admin.sqe.address, admin.sqe.log_size);
	return NPU_ADMIN_STATUS_OK;
}

static u32 op_event_ring_set(void)
{
	const struct npu_admin_sqe *sqe = &admin.sqe;

	if (sqe->log_size > NPU_RING_LOG_MAX ||
	    (sqe->address && sqe->log_size < NPU_RING_LOG_MIN))
		return BAD_FIELD(log_size);
	if (sqe->address % NPU_RING_ALIGN || !bus_has(sqe->address))
		return BAD_FIELD(address);
	return admin_wait(poll_event_ring);
}

static u32 poll_write(void)
{
	if (admin.dma_wanted)
		return ADMIN_PENDING;
	if (!admin.end.fault)
		return NPU_ADMIN_STATUS_OK;
	admin.result0 = admin.end.fault;
	admin.result1 = admin.end.va;
	return NPU_ADMIN_STATUS_DMA_ERROR;
}

static u32 write_to_host(void *from, u32 len)
{
	if (admin.sqe.address % NPU_COPY_ALIGN || !bus_has(admin.sqe.address))
		return BAD_FIELD(address);
	admin_dma(0, admin.sqe.address, from, len, true);
	return admin_wait(poll_write);
}

static u32 op_telemetry(void)
{
	u32 i;

	telemetry = fw.counters;
	/* What queues of before ran is in there already. */
	for (i = 1; i < fw.queue_count; i++)
		if (fw.queues[i].state != QUEUE_FREE)
			telemetry.cycles += fw.queues[i].cycles;
	energy_tell(&telemetry);
	telemetry.cp_insns = read_insns();
	return write_to_host(&telemetry, sizeof(telemetry));
}

static u32 op_log(void)
{
	return write_to_host(log_bytes(), NPU_LOG_ENTRIES * sizeof(struct npu_log_entry));
}

static const struct {
	u8 offset;
	u8 size;
} fields[] = {
#define FIELD(name) { offsetof(struct npu_admin_sqe, name), sizeof(admin.sqe.name) }
	[F_PRIORITY] = FIELD(priority),
	[F_LOG_SIZE] = FIELD(log_size),
	[F_VECTOR] = FIELD(vector),
	[F_QUEUE] = FIELD(queue),
	[F_CQ] = FIELD(cq),
	[F_CONTEXT] = FIELD(context),
	[F_RING_SPACE] = FIELD(ring_space),
	[F_ADDRESS] = FIELD(address),
	[F_SIZE] = FIELD(size),
	[F_SHADOW] = FIELD(shadow),
	[F_LIMIT] = FIELD(limit),
	[F_CORE_MASK] = FIELD(core_mask),
	[F_ARG0] = FIELD(arg0),
	[F_RESERVED] = FIELD(reserved),
};

#define F(name)	(1u << F_##name)

static const struct op {
	u32 used;
	u32 (*start)(void);
} ops[] = {
	[NPU_ADMIN_PING] = { F(ARG0), op_ping },
	[NPU_ADMIN_CQ_CREATE] = { F(CQ) | F(LOG_SIZE) | F(VECTOR) | F(ADDRESS), op_cq_create },
	[NPU_ADMIN_CQ_DESTROY] = { F(CQ), op_cq_destroy },
	[NPU_ADMIN_QUEUE_CREATE] = { F(PRIORITY) | F(LOG_SIZE) | F(QUEUE) | F(CQ) | F(CONTEXT) |
				     F(RING_SPACE) | F(ADDRESS) | F(SHADOW) | F(LIMIT) |
				     F(CORE_MASK), op_queue_create },
	[NPU_ADMIN_QUEUE_DESTROY] = { F(QUEUE), op_queue_destroy },
	[NPU_ADMIN_ABORT] = { F(QUEUE) | F(ARG0), op_abort },
	[NPU_ADMIN_CONTEXT_SET_ROOT] = { F(CONTEXT) | F(ADDRESS), op_context_set_root },
	[NPU_ADMIN_TLB_INVALIDATE] = { F(CONTEXT) | F(ADDRESS) | F(SIZE), op_tlb_invalidate },
	[NPU_ADMIN_CONTEXT_RESET] = { F(CONTEXT), op_context_reset },
	[NPU_ADMIN_EVENT_RING_SET] = { F(LOG_SIZE) | F(ADDRESS), op_event_ring_set },
	[NPU_ADMIN_TELEMETRY] = { F(ADDRESS), op_telemetry },
	[NPU_ADMIN_SUSPEND] = { 0, op_suspend },
	[NPU_ADMIN_LOG] = { F(ADDRESS), op_log },
};

static bool is_zero(const u8 *p, u32 n)
{
	u32 any = 0;

	while (n--)
		any |= *p++;
	return !any;
}

static u32 start_op(void)
{
	const u8 *sqe = (const u8 *)&admin.sqe;
	const struct op *op;
	u32 f;

	if (admin.sqe.op >= ARRAY_SIZE(ops) || !ops[admin.sqe.op].start)
		return NPU_ADMIN_STATUS_BAD_OP;
	op = &ops[admin.sqe.op];
	for (f = 0; f <= F_RESERVED; f++)
		if (!(op->used & 1u << f) && !is_zero(sqe + fields[f].offset, fields[f].size))
			return admin_bad_field(fields[f].offset);
	if (op->used & F(CONTEXT) && !context_ok())
		return BAD_FIELD(context);
	return op->start();
}

static void take_entry(struct queue *q)
{
	admin.sqe = *(const struct npu_admin_sqe *)q->head;
	admin.result0 = 0;
	admin.result1 = 0;
	queue_take(q);
	queue_taken(q);
}

void admin_step(void)
{
	struct queue *q = &fw.queues[0];
	u32 status;

	/* Room for its own completion and for those of all jobs that it may end. */
	while ((fw.admin_active || q->buffered) &&
	       finish_room_for(fw.cores * JOBS_PER_CORE + 1 < FINISH_SLOTS ?
			       fw.cores * JOBS_PER_CORE + 1 : FINISH_SLOTS)) {
		if (fw.admin_active) {
			status = admin.poll();
		} else {
			take_entry(q);
			status = start_op();
		}
		fw.admin_active = status == ADMIN_PENDING;
		if (fw.admin_active)
			return;
		log_admin(&admin.sqe, status);
		finish_admin(admin.sqe.cmd_id, status, admin.result0, admin.result1);
	}
}
