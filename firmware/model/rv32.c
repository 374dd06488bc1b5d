// SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 OR MIT
/* State of the control processor: set-up, reset, interrupt lines, traps. */
#include "firmware/model/rv32_internal.h"

static bool config_valid(const struct rv32_config *cfg)
{
	if (!cfg->tcm || !cfg->predecode)
		return false;
	if ((uintptr_t)cfg->predecode % 8)
		return false;
	if (cfg->tcm_base % 4)
		return false;
	if (!cfg->tcm_size || cfg->tcm_size % RV32_TCM_LINE)
		return false;
	return (u64)cfg->tcm_base + cfg->tcm_size <= 1ull << 32;
}

int rv32_init(struct rv32 *cpu, const struct rv32_config *cfg)
{
	if (!config_valid(cfg))
		return -EINVAL;

	memset(cpu, 0, sizeof(*cpu));
	cpu->cfg = *cfg;
	cpu->halt = RV32_HALT_RESET;
	cpu->ops = cfg->predecode;
	cpu->code = (u8 *)(cpu->ops + cfg->tcm_size / 2);
	memset(cfg->predecode, 0, RV32_PREDECODE_BYTES(cfg->tcm_size));
	return 0;
}

void rv32_reset(struct rv32 *cpu, u32 entry)
{
	memset(cpu->x, 0, sizeof(cpu->x));
	cpu->pc = entry & ~1u;
	cpu->mstatus = 0;
	cpu->mie = 0;
	cpu->mtvec = 0;
	cpu->mscratch = 0;
	cpu->mepc = 0;
	cpu->mcause = 0;
	cpu->mtval = 0;
	cpu->insns = 0;
	cpu->cycles = 0;
	cpu->mcycle_offset = 0;
	cpu->minstret_offset = 0;
	cpu->trap_insns = ~0ull;
	cpu->halt = RV32_HALT_NONE;
	cpu->halt_cause = 0;
	cpu->halt_tval = 0;
	cpu->wfi = false;
}

void rv32_halt(struct rv32 *cpu)
{
	cpu->halt = RV32_HALT_RESET;
}

void rv32_set_irq(struct rv32 *cpu, u32 lines, bool level)
{
	lines &= RV32_IRQ_TIMER | RV32_IRQ_EXTERNAL;
	if (level)
		cpu->mip |= lines;
	else
		cpu->mip &= ~lines;
}

bool rv32_runnable(const struct rv32 *cpu)
{
	if (cpu->halt != RV32_HALT_NONE)
		return false;
	return !cpu->wfi || (cpu->mip & cpu->mie);
}

static void enter_trap(struct rv32 *cpu, u32 cause, u32 tval)
{
	cpu->mepc = cpu->pc;
	cpu->mcause = cause;
	cpu->mtval = tval;
	cpu->mstatus = cpu->mstatus & RV32_MSTATUS_MIE ? RV32_MSTATUS_MPIE : 0;
	cpu->pc = cpu->mtvec & ~3u;
	if ((cpu->mtvec & 1) && (cause & RV32_CAUSE_INTERRUPT))
		cpu->pc += 4 * (cause & ~RV32_CAUSE_INTERRUPT);
	cpu->trap_insns = cpu->insns;
}

/*
 * Raises an exception at cpu->pc. Where nothing retired since the last trap
 * entry, the handler itself cannot run, and would trap for ever.
 */
void rv32_trap(struct rv32 *cpu, u32 cause, u32 tval)
{
	if (cpu->trap_insns == cpu->insns) {
		cpu->halt = RV32_HALT_DOUBLE_TRAP;
		cpu->halt_cause = cause;
		cpu->halt_tval = tval;
		return;
	}
	enter_trap(cpu, cause, tval);
}

void rv32_interrupt(struct rv32 *cpu)
{
	u32 pending = cpu->mip & cpu->mie;

	if (!pending || !(cpu->mstatus & RV32_MSTATUS_MIE))
		return;
	if (pending & RV32_IRQ_EXTERNAL)
		enter_trap(cpu, RV32_CAUSE_INTERRUPT | 11, 0);
	else
		enter_trap(cpu, RV32_CAUSE_INTERRUPT | 7, 0);
}

/*
 * Drops what was decoded from @len bytes at @offset of TCM, which lie within
 * it, including an instruction that starts one half-word before.
 */
void rv32_forget(struct rv32 *cpu, u32 offset, u32 len)
{
	u32 first = offset / 2;
	u32 last = (offset + len - 1) / 2;

	if (first)
		first--;
	memset(&cpu->ops[first], 0, (last - first + 1) * sizeof(cpu->ops[0]));
}

void rv32_tcm_written(struct rv32 *cpu, u32 addr, u32 len)
{
	u64 start = addr > cpu->cfg.tcm_base ? addr - cpu->cfg.tcm_base : 0;
	u64 end = (u64)addr + len;
	u64 next;

	if (end <= cpu->cfg.tcm_base)
		return;
	end -= cpu->cfg.tcm_base;
	if (end > cpu->cfg.tcm_size)
		end = cpu->cfg.tcm_size;

	for (; start < end; start = next) {
		next = (start / RV32_TCM_LINE + 1) * RV32_TCM_LINE;
		if (next > end)
			next = end;
		if (cpu->code[start / RV32_TCM_LINE])
			rv32_forget(cpu, start, next - start);
	}
}
