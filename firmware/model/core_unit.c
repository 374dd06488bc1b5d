// SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 OR MIT
/* The three units: queues, tokens, and the life of an instruction. */
#include "firmware/model/core_internal.h"

/* Token queues of a unit to and from its previous and its next one. */
static const u8 pop_queue[CORE_UNITS][2] = {
	[CORE_LOAD] = { CORE_NO_TOKEN, CORE_COMPUTE_TO_LOAD },
	[CORE_COMPUTE] = { CORE_LOAD_TO_COMPUTE, CORE_STORE_TO_COMPUTE },
	[CORE_STORE] = { CORE_COMPUTE_TO_STORE, CORE_NO_TOKEN },
};

static const u8 push_queue[CORE_UNITS][2] = {
	[CORE_LOAD] = { CORE_NO_TOKEN, CORE_LOAD_TO_COMPUTE },
	[CORE_COMPUTE] = { CORE_COMPUTE_TO_LOAD, CORE_COMPUTE_TO_STORE },
	[CORE_STORE] = { CORE_STORE_TO_COMPUTE, CORE_NO_TOKEN },
};

static const u8 unit_name[CORE_UNITS] = {
	[CORE_LOAD] = NPU_UNIT_LOAD,
	[CORE_COMPUTE] = NPU_UNIT_COMPUTE,
	[CORE_STORE] = NPU_UNIT_STORE,
};

CORE_DECODER(pad_value, PAD_VALUE)

void core_unit_reset(struct core_unit *u, u8 id)
{
	u->when = CORE_NEVER;
	u->id = id;
	u->name = unit_name[id];
	u->phase = PHASE_FREE;
	u->account = ACCOUNT_IDLE;
	u->pushes = 0;
	u->pad_value = 0;
	u->head = 0;
	u->count = 0;
}

void core_unit_fault(struct npu_core *c, const struct core_unit *u, u8 code,
		     u8 access, u64 va)
{
	core_raise(c, code, u->name, access, u->insn.index, va);
}

void core_unit_after(struct npu_core *c, struct core_unit *u, u8 phase,
		     u64 cycles)
{
	u->phase = phase;
	u->when = c->now + cycles;
}

static bool unit_idle(const struct core_unit *u)
{
	return u->phase == PHASE_FREE && !u->count;
}

bool core_units_idle(const struct npu_core *c)
{
	return unit_idle(&c->unit[CORE_LOAD]) &&
	       unit_idle(&c->unit[CORE_COMPUTE]) &&
	       unit_idle(&c->unit[CORE_STORE]);
}

/* The two flags of prev and next, from @low on, as a mask of token queues. */
static u8 token_mask(const u8 *queue, const struct core_insn *insn, u32 low)
{
	u8 mask = 0;

	if (insn->word[0] >> low & 1)
		mask |= 1u << queue[0];
	if (insn->word[0] >> (low + 1) & 1)
		mask |= 1u << queue[1];
	return mask & ((1u << CORE_TOKENS) - 1);
}

static u8 insn_pops(const struct core_unit *u, const struct core_insn *insn)
{
	return token_mask(pop_queue[u->id], insn, 3);
}

static u8 insn_pushes(const struct core_unit *u, const struct core_insn *insn)
{
	return token_mask(push_queue[u->id], insn, 5);
}

static u8 missing_tokens(const struct npu_core *c, u8 pops)
{
	u8 t;

	for (t = 0; t < CORE_TOKENS; t++) {
		if (c->tokens[t])
			pops &= ~(1u << t);
	}
	return pops;
}

static bool is_yield(const struct core_insn *insn)
{
	return core_ext_op(insn) == NPU_EXT_YIELD;
}

/* A YIELD executes when there is nothing else in the core. */
static bool yield_may_start(const struct npu_core *c)
{
	return unit_idle(&c->unit[CORE_LOAD]) && unit_idle(&c->unit[CORE_STORE]);
}

static void yield_complete(struct npu_core *c, struct core_unit *u)
{
	memset(c->tokens, 0, sizeof(c->tokens));
	c->unit[CORE_LOAD].pad_value = 0;
	c->unit[CORE_COMPUTE].pad_value = 0;
	core_sram_clear(c);
	c->fetch.barrier = false;
	if (c->yield_request) {
		c->resume_index = u->insn.index + 1;
		core_leave(c, NPU_CORE_STATE_YIELDED);
	}
}

static void pad_value_begin(struct npu_core *c, struct core_unit *u)
{
	struct core_pad_value_fields f;

	core_decode_pad_value(&f, &u->insn);
	u->pad_value = f.value;
	core_unit_after(c, u, PHASE_COMPLETE, NPU_TIMING_CONTROL);
}

static void ext_begin(struct npu_core *c, struct core_unit *u)
{
	if (!core_ext_valid(c, &u->insn)) {
		core_unit_fault(c, u, NPU_FAULT_ILLEGAL, NPU_ACCESS_READ, 0);
		return;
	}
	switch (core_ext_op(&u->insn)) {
	case NPU_EXT_YIELD:
		core_unit_after(c, u, PHASE_COMPLETE, NPU_TIMING_CONTROL);
		break;
	case NPU_EXT_PAD_VALUE:
		pad_value_begin(c, u);
		break;
	default:
		core_loop_begin(c, u);
		break;
	}
}

static void unit_begin(struct npu_core *c, struct core_unit *u)
{
	switch (core_opcode(&u->insn)) {
	case NPU_OP_LOAD:
	case NPU_OP_STORE:
		core_mem_begin(c, u);
		break;
	case NPU_OP_GEMM:
	case NPU_OP_ALU:
		core_loop_begin(c, u);
		break;
	case NPU_OP_FINISH:
		core_unit_after(c, u, PHASE_COMPLETE, NPU_TIMING_CONTROL);
		break;
	case NPU_OP_EXT:
		ext_begin(c, u);
		break;
	default:
		core_unit_fault(c, u, NPU_FAULT_ILLEGAL, NPU_ACCESS_READ, 0);
		break;
	}
}

static bool unit_start(struct npu_core *c, struct core_unit *u)
{
	const struct core_insn *next = &u->queue[u->head];
	u8 pops, t;

	if (u->phase != PHASE_FREE || !u->count)
		return false;
	pops = insn_pops(u, next);
	if (missing_tokens(c, pops))
		return false;
	if (is_yield(next) && !yield_may_start(c))
		return false;
	for (t = 0; t < CORE_TOKENS; t++)
		c->tokens[t] -= pops >> t & 1;
	u->insn = *next;
	u->head = (u->head + 1) % NPU_CMD_QUEUE_DEPTH;
	u->count--;
	unit_begin(c, u);
	return true;
}

void core_unit_complete(struct npu_core *c, struct core_unit *u)
{
	u->when = CORE_NEVER;
	u->phase = PHASE_FREE;
	u->pushes = 0;
	c->report.job.insn++;
	if (is_yield(&u->insn)) {
		yield_complete(c, u);
		return;
	}
	u->pushes = insn_pushes(u, &u->insn);
	if (u->pushes)
		u->phase = PHASE_PUSH;
	if (core_opcode(&u->insn) == NPU_OP_FINISH)
		c->finished = true;
}

/* Each token goes as soon as its own queue has room. */
static bool unit_push(struct npu_core *c, struct core_unit *u)
{
	u8 before = u->pushes;
	u8 t;

	for (t = 0; t < CORE_TOKENS; t++) {
		if ((u->pushes >> t & 1) && c->tokens[t] < NPU_TOKEN_MAX) {
			c->tokens[t]++;
			u->pushes &= ~(1u << t);
		}
	}
	if (u->phase == PHASE_PUSH && !u->pushes)
		u->phase = PHASE_FREE;
	return u->pushes != before;
}

static u8 unit_stall(const struct core_unit *u, u8 tokens)
{
	const u8 load = 1u << CORE_LOAD_TO_COMPUTE | 1u << CORE_COMPUTE_TO_LOAD;

	if (!tokens)
		return ACCOUNT_IDLE;
	if (u->id == CORE_LOAD)
		return ACCOUNT_STALL_LOAD;
	if (u->id == CORE_STORE)
		return ACCOUNT_STALL_STORE;
	return tokens & load ? ACCOUNT_STALL_COMPUTE_LOAD :
			       ACCOUNT_STALL_COMPUTE_STORE;
}

static u8 unit_account(const struct npu_core *c, const struct core_unit *u)
{
	static const u8 busy[CORE_UNITS] = {
		[CORE_LOAD] = ACCOUNT_BUSY_LOAD,
		[CORE_COMPUTE] = ACCOUNT_BUSY_COMPUTE,
		[CORE_STORE] = ACCOUNT_BUSY_STORE,
	};

	if (u->phase == PHASE_PUSH)
		return unit_stall(u, u->pushes);
	if (u->phase != PHASE_FREE)
		return busy[u->id];
	if (!u->count)
		return ACCOUNT_IDLE;
	return unit_stall(u, missing_tokens(c, insn_pops(u,
						&u->queue[u->head])));
}

/*
 * Each token queue has one producer and one consumer, so the order of the
 * units in here makes no difference to where it ends.
 */
void core_units_settle(struct npu_core *c)
{
	bool again = true;
	u32 i;

	while (again) {
		again = false;
		for (i = 0; i < CORE_UNITS; i++) {
			if (!core_is_running(c))
				return;
			again |= unit_push(c, &c->unit[i]);
			again |= unit_start(c, &c->unit[i]);
		}
	}
	for (i = 0; i < CORE_UNITS; i++)
		c->unit[i].account = unit_account(c, &c->unit[i]);
}
