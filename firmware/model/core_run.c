// SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 OR MIT
/*
 * Time: the core goes from event to event, earliest first. What happens in
 * one cycle has a fixed order, so that a program's history is the same however
 * its time is sliced:
 *
 *	1. bursts arrive, instructions complete
 *	2. tokens are pushed, instructions start, until nothing can
 *	3. one instruction is handed out
 *	4. requests for memory, and micro-ops
 *
 * Steps 3 and 4 cause nothing that is due before the next cycle.
 */
#include "firmware/model/core_internal.h"

/* Returns the cycle after the last data of a burst that is requested now. */
u64 core_port_claim(struct core_port *port, u64 now, u32 latency, u64 bytes)
{
	u64 beats = (bytes + NPU_TIMING_MEM_BYTES_PER_CYCLE - 1) /
		    NPU_TIMING_MEM_BYTES_PER_CYCLE;
	u64 first;

	if (!port->used || port->free < now)
		first = now + latency;
	else
		first = port->free;
	port->used = true;
	port->free = first + beats;
	return port->free;
}

static u64 core_next_event(const struct npu_core *c)
{
	u64 next = CORE_NEVER;
	u32 i;

	if (c->starting)
		return c->now;
	if (c->fetch.handed_out)
		next = c->now + 1;
	if (c->fetch.arrival < next)
		next = c->fetch.arrival;
	if (c->fetch.dispatch < next)
		next = c->fetch.dispatch;
	for (i = 0; i < CORE_UNITS; i++) {
		if (c->unit[i].when < next)
			next = c->unit[i].when;
	}
	return next;
}

static void core_advance(struct npu_core *c, u64 time)
{
	u64 cycles = time - c->now;
	u32 i;

	c->now = time;
	c->report.job.cycles += cycles;
	for (i = 0; i < CORE_UNITS; i++) {
		if (c->unit[i].account != ACCOUNT_IDLE)
			c->report.quad[c->unit[i].account] += cycles;
	}
}

/* Nothing is due any more: whoever has an instruction waits for ever. */
static void core_deadlock(struct npu_core *c)
{
	const struct core_unit *lowest = NULL;
	u32 index = 0;
	u32 i;

	for (i = 0; i < CORE_UNITS; i++) {
		const struct core_unit *u = &c->unit[i];
		u32 waiting;

		if (u->phase == PHASE_PUSH)
			waiting = u->insn.index;
		else if (u->count)
			waiting = u->queue[u->head].index;
		else
			continue;
		if (!lowest || waiting < index) {
			lowest = u;
			index = waiting;
		}
	}
	core_raise(c, NPU_FAULT_DEADLOCK,
		   lowest ? lowest->name : NPU_UNIT_NONE, NPU_ACCESS_READ,
		   index, 0);
}

static void core_work(struct npu_core *c)
{
	u32 i;

	core_fetch_request(c);
	for (i = 0; i < CORE_UNITS && core_is_running(c); i++) {
		struct core_unit *u = &c->unit[i];

		if (u->when != c->now)
			continue;
		if (u->phase == PHASE_REQUEST)
			core_mem_row(c, u);
		else
			core_loop_piece(c, u);
	}
}

static void core_cycle(struct npu_core *c)
{
	u32 i;

	if (c->starting) {
		c->starting = false;
		core_fetch_start(c);
	}
	c->fetch.handed_out = false;
	core_fetch_arrive(c);
	for (i = 0; i < CORE_UNITS; i++) {
		struct core_unit *u = &c->unit[i];

		if (u->phase == PHASE_COMPLETE && u->when == c->now)
			core_unit_complete(c, u);
	}
	core_units_settle(c);
	if (c->finished && core_is_running(c) && core_units_idle(c))
		core_leave(c, NPU_CORE_STATE_DONE);
	if (core_is_running(c))
		core_fetch_dispatch(c);
	if (core_is_running(c))
		core_work(c);
}

/* Cycle at which the current job reaches its limit. */
static u64 core_limit(const struct npu_core *c)
{
	u64 cycles = c->report.job.cycles;
	u64 left = c->limit > cycles ? c->limit - cycles : 0;

	return left < CORE_NEVER - c->now ? c->now + left : CORE_NEVER - 1;
}

u64 npu_core_run(struct npu_core *c, u64 max_cycles, u64 now_tick)
{
	u64 begin = c->now;
	u64 limit, end;

	if (!core_is_running(c))
		return 0;
	c->tick = now_tick - begin;
	limit = core_limit(c);
	end = max_cycles < limit - begin ? begin + max_cycles : limit;
	while (core_is_running(c)) {
		u64 next = core_next_event(c);

		if (next == CORE_NEVER) {
			core_deadlock(c);
			break;
		}
		if (next > end) {
			core_advance(c, end);
			break;
		}
		core_advance(c, next);
		core_cycle(c);
	}
	if (core_is_running(c) && c->now == limit)
		core_leave(c, NPU_CORE_STATE_LIMIT);
	return c->now - begin;
}
