// SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 OR MIT
/* Registers and states of a compute core. */
#include "firmware/model/core_internal.h"

size_t npu_core_size(void)
{
	return sizeof(struct npu_core);
}

void npu_core_init(struct npu_core *c, u32 index, u64 features,
		   const struct npu_core_mem *mem)
{
	memset(c, 0, sizeof(*c));
	c->index = index;
	c->features = features;
	c->mem = *mem;
	c->kernels = npu_core_kernels_portable();
	npu_core_reset(c);
}

void npu_core_set_kernels(struct npu_core *c,
			  const struct npu_core_kernels *kernels)
{
	c->kernels = kernels;
	memset(c->pack_tag, 0, sizeof(c->pack_tag));
}

const char *npu_core_kernels_name(const struct npu_core_kernels *kernels)
{
	return kernels->name;
}

void npu_core_reset(struct npu_core *c)
{
	c->state = NPU_CORE_STATE_IDLE;
	c->event = false;
	c->yield_request = false;
	c->limit = (u64)NPU_CORE_LIMIT_HI_RESET << 32 | NPU_CORE_LIMIT_LO_RESET;
	c->resume_index = 0;
	memset(&c->regs, 0, sizeof(c->regs));
	memset(&c->report, 0, sizeof(c->report));
	core_sram_clear(c);
}

bool npu_core_event(const struct npu_core *c)
{
	return c->event;
}

bool npu_core_running(const struct npu_core *c)
{
	return core_is_running(c);
}

/* Ends RUNNING at the current cycle, for a reason that raises the interrupt. */
void core_leave(struct npu_core *c, u8 state)
{
	c->state = state;
	c->event = true;
	c->report.job.end_tick = c->tick + c->now;
}

/* The first fault counts: it stops everything. */
void core_raise(struct npu_core *c, u8 code, u8 unit, u8 access, u32 insn,
		u64 va)
{
	struct npu_job_report *r = &c->report.job;

	if (!core_is_running(c))
		return;
	r->fault_code = code;
	r->fault_unit = unit;
	r->fault_access = access;
	r->fault_va = va;
	r->insn = insn;
	core_leave(c, NPU_CORE_STATE_FAULT);
}

static void core_start(struct npu_core *c, u64 tick)
{
	struct npu_job_report *r = &c->report.job;
	u8 i;

	c->job = c->regs;
	c->state = NPU_CORE_STATE_RUNNING;
	c->starting = true;
	c->now = 0;
	c->tick = tick;
	c->finished = false;
	c->read_port.used = false;
	c->write_port.used = false;
	memset(c->tokens, 0, sizeof(c->tokens));
	for (i = 0; i < CORE_UNITS; i++)
		core_unit_reset(&c->unit[i], i);
	core_sram_clear(c);
	if (!c->job.start_index)
		memset(&c->report, 0, sizeof(c->report));
	r->core = c->index;
	r->context = c->job.context;
	r->fault_code = NPU_FAULT_NONE;
	r->fault_unit = NPU_UNIT_NONE;
	r->fault_access = 0;
	r->fault_va = 0;
	if (!r->start_tick)
		r->start_tick = tick;
}

static void core_stop(struct npu_core *c, u8 state, u64 tick)
{
	if (core_is_running(c))
		c->report.job.end_tick = tick;
	c->state = state;
}

static void core_control(struct npu_core *c, u32 command, u64 tick)
{
	switch (command) {
	case NPU_CORE_CONTROL_START_MASK:
		if (c->state == NPU_CORE_STATE_IDLE)
			core_start(c, tick);
		break;
	case NPU_CORE_CONTROL_STOP_MASK:
		if (core_is_running(c))
			core_stop(c, NPU_CORE_STATE_STOPPED, tick);
		break;
	case NPU_CORE_CONTROL_RESUME_MASK:
		if (c->state == NPU_CORE_STATE_STOPPED ||
		    c->state == NPU_CORE_STATE_LIMIT)
			c->state = NPU_CORE_STATE_RUNNING;
		break;
	case NPU_CORE_CONTROL_CLEAR_MASK:
		core_stop(c, NPU_CORE_STATE_IDLE, tick);
		core_sram_clear(c);
		break;
	}
}

static void set_half(u64 *reg, bool high, u32 value)
{
	if (high)
		*reg = (*reg & 0xffffffffull) | (u64)value << 32;
	else
		*reg = (*reg & ~0xffffffffull) | value;
}

/* Registers that hold still while the core runs. */
static void core_job_write(struct npu_core *c, u32 offset, u32 value)
{
	if (core_is_running(c))
		return;
	if (offset >= NPU_CORE_REPORT(0) && offset < NPU_CORE_REPORT(32)) {
		c->report.word[(offset - NPU_CORE_REPORT(0)) / 4] = value;
		return;
	}
	switch (offset) {
	case NPU_CORE_CONTEXT:
		c->regs.context = value;
		break;
	case NPU_CORE_INSN_LO:
	case NPU_CORE_INSN_HI:
		set_half(&c->regs.insn_va, offset == NPU_CORE_INSN_HI, value);
		break;
	case NPU_CORE_INSN_COUNT:
		c->regs.insn_count = value;
		break;
	case NPU_CORE_START_INDEX:
		c->regs.start_index = value;
		break;
	case NPU_CORE_REGION_LO:
	case NPU_CORE_REGION_HI:
		set_half(&c->regs.region_va, offset == NPU_CORE_REGION_HI,
			 value);
		break;
	case NPU_CORE_REGION_COUNT:
		c->regs.region_count = value;
		break;
	}
}

void npu_core_reg_write(struct npu_core *c, u32 offset, u32 value, u64 now_tick)
{
	switch (offset) {
	case NPU_CORE_CONTROL:
		core_control(c, value, now_tick);
		break;
	case NPU_CORE_EVENT:
		if (value & 1)
			c->event = false;
		break;
	case NPU_CORE_YIELD_REQUEST:
		c->yield_request = value & 1;
		break;
	case NPU_CORE_LIMIT_LO:
	case NPU_CORE_LIMIT_HI:
		set_half(&c->limit, offset == NPU_CORE_LIMIT_HI, value);
		break;
	default:
		core_job_write(c, offset, value);
		break;
	}
}

static u32 core_job_read(const struct npu_core *c, u32 offset)
{
	switch (offset) {
	case NPU_CORE_CONTEXT:
		return c->regs.context;
	case NPU_CORE_INSN_LO:
		return (u32)c->regs.insn_va;
	case NPU_CORE_INSN_HI:
		return c->regs.insn_va >> 32;
	case NPU_CORE_INSN_COUNT:
		return c->regs.insn_count;
	case NPU_CORE_START_INDEX:
		return c->regs.start_index;
	case NPU_CORE_REGION_LO:
		return (u32)c->regs.region_va;
	case NPU_CORE_REGION_HI:
		return c->regs.region_va >> 32;
	case NPU_CORE_REGION_COUNT:
		return c->regs.region_count;
	}
	return 0;
}

u32 npu_core_reg_read(const struct npu_core *c, u32 offset)
{
	if (offset >= NPU_CORE_REPORT(0) && offset < NPU_CORE_REPORT(32))
		return c->report.word[(offset - NPU_CORE_REPORT(0)) / 4];
	switch (offset) {
	case NPU_CORE_STATUS:
		return (u32)c->state << NPU_CORE_STATUS_STATE_SHIFT;
	case NPU_CORE_EVENT:
		return c->event;
	case NPU_CORE_YIELD_REQUEST:
		return c->yield_request;
	case NPU_CORE_LIMIT_LO:
		return (u32)c->limit;
	case NPU_CORE_LIMIT_HI:
		return c->limit >> 32;
	case NPU_CORE_RESUME_INDEX:
		return c->resume_index;
	}
	return core_job_read(c, offset);
}

bool npu_core_report_copy(const struct npu_core *c, u32 offset, void *buf,
			  u32 len)
{
	if (offset > sizeof(c->report) || len > sizeof(c->report) - offset)
		return false;
	memcpy(buf, (const u8 *)&c->report + offset, len);
	return true;
}
