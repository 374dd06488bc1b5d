// SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 OR MIT
/* Admin operations: builders, submission, matching of completions. */
#include "firmware/host/npu_host.h"

#define ADMIN_LOG	6

static_assert((1u << ADMIN_LOG) == NPU_ADMIN_SLOTS, "one slot an entry");
static_assert(NPU_ADMIN_SLOTS * sizeof(struct npu_admin_sqe) <= NPU_RING_ALIGN, "one page");

void npu_admin_init(struct npu_admin *admin, const struct npu_host_env *env, void *sq,
		    u64 sq_bus, void *cq, u64 cq_bus)
{
	/* Ids go on, so that an answer from before a reset matches nothing. */
	u32 sequence = admin->sequence;

	memset(admin, 0, sizeof(*admin));
	memset(sq, 0, NPU_RING_ALIGN);
	memset(cq, 0, NPU_RING_ALIGN);
	npu_sq_init(&admin->sq, env, sq, ADMIN_LOG, 0, NULL);
	npu_cq_init(&admin->cq, cq, ADMIN_LOG);
	admin->sq_bus = sq_bus;
	admin->cq_bus = cq_bus;
	admin->log_sq = ADMIN_LOG;
	admin->log_cq = ADMIN_LOG;
	admin->sequence = sequence;
}

static struct npu_admin_slot *free_slot(struct npu_admin *admin, u32 *index)
{
	for (*index = 0; *index < NPU_ADMIN_SLOTS; (*index)++)
		if (!admin->slots[*index].cmd_id)
			return &admin->slots[*index];
	return NULL;
}

static struct npu_admin_slot *slot_of(struct npu_admin *admin, u32 cmd_id)
{
	struct npu_admin_slot *slot = &admin->slots[cmd_id % NPU_ADMIN_SLOTS];

	return cmd_id && slot->cmd_id == cmd_id ? slot : NULL;
}

int npu_admin_submit(struct npu_admin *admin, struct npu_admin_sqe *sqe, npu_admin_done done,
		     void *cookie, u32 *cmd_id)
{
	struct npu_admin_slot *slot;
	u32 index;

	slot = free_slot(admin, &index);
	if (!slot || !npu_sq_room(&admin->sq))
		return -EBUSY;

	do {
		admin->sequence++;
		slot->cmd_id = admin->sequence * NPU_ADMIN_SLOTS + index;
	} while (!slot->cmd_id);
	slot->op = sqe->op;
	slot->done = done;
	slot->cookie = cookie;
	if (cmd_id)
		*cmd_id = slot->cmd_id;

	sqe->cmd_id = NPU_LE32(slot->cmd_id);
	npu_sq_push(&admin->sq, sqe);
	npu_sq_ring(&admin->sq);
	return 0;
}

void npu_admin_abandon(struct npu_admin *admin, u32 cmd_id)
{
	struct npu_admin_slot *slot = slot_of(admin, cmd_id);

	if (slot)
		slot->done = NULL;
}

void npu_admin_cancel(struct npu_admin *admin, int error)
{
	u32 i;

	for (i = 0; i < NPU_ADMIN_SLOTS; i++) {
		struct npu_admin_slot slot = admin->slots[i];
		struct npu_admin_result result = {
			.error = error, .op = slot.op, .cmd_id = slot.cmd_id,
		};

		memset(&admin->slots[i], 0, sizeof(slot));
		if (slot.cmd_id && slot.done)
			slot.done(slot.cookie, &result);
	}
}

static void finish(struct npu_admin *admin, const struct npu_cqe *cqe)
{
	struct npu_admin_slot *slot = slot_of(admin, cqe->cmd_id);
	struct npu_admin_slot copy;
	struct npu_admin_result result;

	if (!slot || cqe->queue) {
		admin->strays++;
		return;
	}

	copy = *slot;
	memset(slot, 0, sizeof(*slot));
	npu_sq_complete(&admin->sq);
	result = (struct npu_admin_result) {
		.error = npu_admin_errno(cqe->status),
		.op = copy.op,
		.status = cqe->status,
		.result0 = cqe->cycles,
		.result1 = cqe->macs,
		.cmd_id = cqe->cmd_id,
	};
	if (copy.done)
		copy.done(copy.cookie, &result);
}

u32 npu_admin_process(struct npu_admin *admin)
{
	struct npu_cqe cqe;
	u32 taken = 0;
	int ret;

	while (taken < admin->cq.size) {
		ret = npu_cq_poll(&admin->cq, &cqe);
		if (!ret)
			break;
		taken++;
		if (ret < 0)
			admin->strays++;
		else
			finish(admin, &cqe);
	}
	return taken;
}

struct admin_call {
	struct npu_admin_result result;
	bool done;
};

static void call_done(void *cookie, const struct npu_admin_result *result)
{
	struct admin_call *call = cookie;

	call->result = *result;
	call->done = true;
}

int npu_admin_call(struct npu_admin *admin, struct npu_admin_sqe *sqe, u64 timeout_us,
		   struct npu_admin_result *result)
{
	const struct npu_host_env *env = admin->sq.env;
	struct admin_call call = { .done = false };
	u64 end = env->ops->now_us(env->opaque) + timeout_us;
	bool late = false;
	u32 cmd_id;
	int ret;

	ret = npu_admin_submit(admin, sqe, call_done, &call, &cmd_id);
	if (ret)
		return ret;

	for (;;) {
		npu_admin_process(admin);
		if (call.done || late)
			break;
		env->ops->relax(env->opaque);
		/* One more look after the time is up: the poller itself may have slept. */
		late = env->ops->now_us(env->opaque) >= end;
	}
	if (!call.done) {
		npu_admin_abandon(admin, cmd_id);
		return -ETIMEDOUT;
	}
	if (result)
		*result = call.result;
	return call.result.error;
}

static struct npu_admin_sqe *start(struct npu_admin_sqe *sqe, u32 op)
{
	memset(sqe, 0, sizeof(*sqe));
	sqe->op = op;
	return sqe;
}

void npu_admin_ping(struct npu_admin_sqe *sqe, u32 value)
{
	start(sqe, NPU_ADMIN_PING)->arg0 = NPU_LE32(value);
}

void npu_admin_cq_create(struct npu_admin_sqe *sqe, u32 cq, u64 bus, u32 log_size, u32 vector)
{
	start(sqe, NPU_ADMIN_CQ_CREATE)->cq = NPU_LE16(cq);
	sqe->address = NPU_LE64(bus);
	sqe->log_size = log_size;
	sqe->vector = vector;
}

void npu_admin_cq_destroy(struct npu_admin_sqe *sqe, u32 cq)
{
	start(sqe, NPU_ADMIN_CQ_DESTROY)->cq = NPU_LE16(cq);
}

void npu_admin_queue_create(struct npu_admin_sqe *sqe, const struct npu_queue_desc *desc)
{
	start(sqe, NPU_ADMIN_QUEUE_CREATE)->queue = NPU_LE16(desc->queue);
	sqe->cq = NPU_LE16(desc->cq);
	sqe->context = NPU_LE16(desc->context);
	sqe->ring_space = NPU_LE16(desc->ring_space);
	sqe->priority = desc->priority;
	sqe->log_size = desc->log_size;
	sqe->core_mask = NPU_LE32(desc->core_mask);
	sqe->address = NPU_LE64(desc->ring);
	sqe->shadow = NPU_LE64(desc->shadow);
	sqe->limit = NPU_LE64(desc->limit);
}

void npu_admin_queue_destroy(struct npu_admin_sqe *sqe, u32 queue)
{
	start(sqe, NPU_ADMIN_QUEUE_DESTROY)->queue = NPU_LE16(queue);
}

void npu_admin_abort(struct npu_admin_sqe *sqe, u32 queue, u32 job_cmd_id)
{
	start(sqe, NPU_ADMIN_ABORT)->queue = NPU_LE16(queue);
	sqe->arg0 = NPU_LE32(job_cmd_id);
}

void npu_admin_context_set_root(struct npu_admin_sqe *sqe, u32 context, u64 root)
{
	start(sqe, NPU_ADMIN_CONTEXT_SET_ROOT)->context = NPU_LE16(context);
	sqe->address = NPU_LE64(root);
}

void npu_admin_tlb_invalidate(struct npu_admin_sqe *sqe, u32 context, u64 va, u64 size)
{
	start(sqe, NPU_ADMIN_TLB_INVALIDATE)->context = NPU_LE16(context);
	sqe->address = NPU_LE64(va);
	sqe->size = NPU_LE64(size);
}

void npu_admin_context_reset(struct npu_admin_sqe *sqe, u32 context)
{
	start(sqe, NPU_ADMIN_CONTEXT_RESET)->context = NPU_LE16(context);
}

void npu_admin_event_ring_set(struct npu_admin_sqe *sqe, u64 bus, u32 log_size)
{
	start(sqe, NPU_ADMIN_EVENT_RING_SET)->address = NPU_LE64(bus);
	sqe->log_size = log_size;
}

void npu_admin_telemetry(struct npu_admin_sqe *sqe, u64 bus)
{
	start(sqe, NPU_ADMIN_TELEMETRY)->address = NPU_LE64(bus);
}

void npu_admin_log(struct npu_admin_sqe *sqe, u64 bus)
{
	start(sqe, NPU_ADMIN_LOG)->address = NPU_LE64(bus);
}

void npu_admin_suspend(struct npu_admin_sqe *sqe)
{
	start(sqe, NPU_ADMIN_SUSPEND);
}

void npu_job_run(struct npu_job_sqe *sqe, u32 cmd_id, const struct npu_job_desc *desc)
{
	*sqe = (struct npu_job_sqe) {
		.op = NPU_JOB_RUN,
		.cmd_id = NPU_LE32(cmd_id),
		.insn_va = NPU_LE64(desc->insn_va),
		.insn_count = NPU_LE32(desc->insn_count),
		.region_count = NPU_LE32(desc->region_count),
		.region_va = NPU_LE64(desc->region_va),
		.limit = NPU_LE64(desc->limit),
		.report_va = NPU_LE64(desc->report_va),
	};
}

void npu_job_nop(struct npu_job_sqe *sqe, u32 cmd_id)
{
	*sqe = (struct npu_job_sqe) { .op = NPU_JOB_NOP, .cmd_id = NPU_LE32(cmd_id) };
}
