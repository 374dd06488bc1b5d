// SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 OR MIT
/* Fetch: the region table, lines of instructions, and handing them out. */
#include "firmware/model/core_internal.h"

static void fetch_raise(struct npu_core *c, u8 code, u32 insn, u64 va)
{
	core_raise(c, code, NPU_UNIT_FETCH, NPU_ACCESS_EXECUTE, insn, va);
}

static void region_raise(struct npu_core *c, u8 code, u64 va)
{
	core_raise(c, code, NPU_UNIT_REGION, NPU_ACCESS_READ,
		   c->job.start_index, va);
}

static void fetch_check(struct npu_core *c)
{
	const struct core_job *job = &c->job;

	if (job->insn_va % NPU_INSN_BYTES)
		fetch_raise(c, NPU_FAULT_ALIGNMENT, job->start_index,
			    job->insn_va);
	if (!job->insn_count)
		fetch_raise(c, NPU_FAULT_LENGTH, job->start_index, 0);
	if (job->start_index >= job->insn_count)
		fetch_raise(c, NPU_FAULT_NO_FINISH, job->start_index, 0);
	if (job->region_count && job->region_va % sizeof(struct npu_region))
		region_raise(c, NPU_FAULT_ALIGNMENT, job->region_va);
	if (job->region_count > NPU_REGION_TABLE_MAX)
		region_raise(c, NPU_FAULT_LENGTH, job->region_count);
}

void core_fetch_start(struct npu_core *c)
{
	struct core_fetch *f = &c->fetch;

	f->arrival = CORE_NEVER;
	f->dispatch = CORE_NEVER;
	f->last = 0;
	f->next = c->job.start_index;
	f->lines = 0;
	f->head = 0;
	f->table = c->job.region_count != 0;
	f->barrier = false;
	f->handed_out = false;
	fetch_check(c);
}

void core_fetch_arrive(struct npu_core *c)
{
	struct core_fetch *f = &c->fetch;

	if (f->arrival != c->now)
		return;
	f->arrival = CORE_NEVER;
	if (f->table)
		f->table = false;
	else
		f->lines++;
}

/* Entries that the job's table lacks stay as they were and are never used. */
static void fetch_table(struct npu_core *c)
{
	u32 bytes = c->job.region_count * sizeof(struct npu_region);
	u64 va = c->job.region_va;
	u64 fault_va = va;
	u8 fault;
	u32 i;

	if (va + bytes - 1 < va) {
		region_raise(c, NPU_FAULT_ADDRESS, va);
		return;
	}
	fault = c->mem.read(c->mem.opaque, c->job.context, va, c->region, bytes,
			    NPU_ACCESS_READ, &fault_va);
	if (fault) {
		region_raise(c, fault, fault_va);
		return;
	}
	c->report.job.bytes_read += bytes;
	for (i = 0; i < c->job.region_count; i++) {
		if (c->region[i].base % NPU_REGION_ALIGN)
			region_raise(c, NPU_FAULT_ALIGNMENT, c->region[i].base);
	}
	c->fetch.arrival = core_port_claim(&c->read_port, c->now,
					   NPU_TIMING_MEM_LATENCY, bytes);
}

/*
 * What cannot be fetched is a fault only when its turn comes to be handed
 * out; the instructions before it in the line are good.
 */
static void fetch_line_read(struct npu_core *c, struct core_line *line)
{
	u64 va = c->job.insn_va + (u64)line->first * NPU_INSN_BYTES;
	u32 bytes = line->count * NPU_INSN_BYTES;

	line->good = line->count;
	line->fault_va = va;
	if (va < c->job.insn_va || va + bytes - 1 < va)
		line->fault = NPU_FAULT_ADDRESS;
	else
		line->fault = c->mem.read(c->mem.opaque, c->job.context, va,
					  line->word, bytes, NPU_ACCESS_EXECUTE,
					  &line->fault_va);
	if (line->fault)
		line->good = line->fault_va - va < bytes ?
			     (line->fault_va - va) / NPU_INSN_BYTES : 0;
	c->report.job.bytes_read += line->good * NPU_INSN_BYTES;
}

void core_fetch_request(struct npu_core *c)
{
	struct core_fetch *f = &c->fetch;
	struct core_line *line;
	u32 left;

	if (f->arrival != CORE_NEVER)
		return;
	if (f->table) {
		fetch_table(c);
		return;
	}
	left = c->job.insn_count - f->next;
	if (f->lines == NPU_TIMING_FETCH_LINES || !left)
		return;
	line = &f->line[(f->head + f->lines) % NPU_TIMING_FETCH_LINES];
	line->first = f->next;
	line->next = 0;
	line->count = CORE_LINE_INSNS - f->next % CORE_LINE_INSNS;
	if (line->count > left)
		line->count = left;
	f->next += line->count;
	fetch_line_read(c, line);
	f->arrival = core_port_claim(&c->read_port, c->now,
				     NPU_TIMING_MEM_LATENCY,
				     line->count * NPU_INSN_BYTES);
}

static struct core_unit *fetch_route(struct npu_core *c,
				     const struct core_insn *insn)
{
	u32 memory = insn->word[0] >> 7 & 7;

	switch (core_opcode(insn)) {
	case NPU_OP_LOAD:
		if (memory == NPU_MEM_INP || memory == NPU_MEM_WGT)
			return &c->unit[CORE_LOAD];
		break;
	case NPU_OP_STORE:
		return &c->unit[CORE_STORE];
	case NPU_OP_EXT:
		if (core_ext_op(insn) == NPU_EXT_PAD_VALUE &&
		    (insn->word[0] >> 7 & 1) == NPU_PAD_UNIT_LOAD)
			return &c->unit[CORE_LOAD];
		break;
	}
	return &c->unit[CORE_COMPUTE];
}

static void fetch_line_done(struct core_fetch *f)
{
	f->head = (f->head + 1) % NPU_TIMING_FETCH_LINES;
	f->lines--;
}

/* Hands out the next instruction, if its turn has come and there is room. */
void core_fetch_dispatch(struct npu_core *c)
{
	struct core_fetch *f = &c->fetch;
	struct core_line *line = &f->line[f->head];
	struct core_insn insn;
	struct core_unit *u;

	f->dispatch = CORE_NEVER;
	if (!f->lines || f->barrier)
		return;
	if (c->now < f->last) {
		f->dispatch = f->last;
		return;
	}
	insn.index = line->first + line->next;
	if (line->next >= line->good) {
		fetch_raise(c, line->fault, insn.index, line->fault_va);
		return;
	}
	insn.word[0] = line->word[2 * line->next];
	insn.word[1] = line->word[2 * line->next + 1];
	u = fetch_route(c, &insn);
	if (u->count == NPU_CMD_QUEUE_DEPTH)
		return;
	if ((core_opcode(&insn) == NPU_OP_FINISH) !=
	    (insn.index == c->job.insn_count - 1)) {
		fetch_raise(c, NPU_FAULT_NO_FINISH, insn.index, 0);
		return;
	}
	u->queue[(u->head + u->count++) % NPU_CMD_QUEUE_DEPTH] = insn;
	f->handed_out = true;
	f->last = c->now + NPU_TIMING_DISPATCH_CYCLES;
	f->barrier = core_ext_op(&insn) == NPU_EXT_YIELD;
	if (++line->next == line->count)
		fetch_line_done(f);
	if (f->lines && !f->barrier)
		f->dispatch = f->last;
}
