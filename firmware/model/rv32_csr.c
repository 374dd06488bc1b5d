// SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 OR MIT
/* Control and status registers, and the other SYSTEM instructions. */
#include "firmware/model/rv32_internal.h"

#define OPCODE_SYSTEM	0x73

#define INSN_ECALL	0x00000073
#define INSN_EBREAK	0x00100073
#define INSN_MRET	0x30200073
#define INSN_WFI	0x10500073

#define CSR_MSTATUS	0x300
#define CSR_MISA	0x301
#define CSR_MIE		0x304
#define CSR_MTVEC	0x305
#define CSR_MSTATUSH	0x310
#define CSR_MSCRATCH	0x340
#define CSR_MEPC	0x341
#define CSR_MCAUSE	0x342
#define CSR_MTVAL	0x343
#define CSR_MIP		0x344
#define CSR_MCYCLE	0xb00
#define CSR_MINSTRET	0xb02
#define CSR_MCYCLEH	0xb80
#define CSR_MINSTRETH	0xb82
#define CSR_MVENDORID	0xf11
#define CSR_MARCHID	0xf12
#define CSR_MIMPID	0xf13
#define CSR_MHARTID	0xf14
#define CSR_MCONFIGPTR	0xf15

/* XLEN 32, and a bit for each of C, I and M */
#define MISA_VALUE	(1u << 30 | 1u << ('C' - 'A') | 1u << ('I' - 'A') | \
			 1u << ('M' - 'A'))

static bool csr_read(const struct rv32 *cpu, u32 csr, u32 *val)
{
	u64 mcycle = cpu->cycles + cpu->mcycle_offset;
	u64 minstret = cpu->insns + cpu->minstret_offset;

	switch (csr) {
	case CSR_MSTATUS:
		*val = cpu->mstatus | RV32_MSTATUS_MPP;
		return true;
	case CSR_MISA:
		*val = MISA_VALUE;
		return true;
	case CSR_MIE:
		*val = cpu->mie;
		return true;
	case CSR_MTVEC:
		*val = cpu->mtvec;
		return true;
	case CSR_MSCRATCH:
		*val = cpu->mscratch;
		return true;
	case CSR_MEPC:
		*val = cpu->mepc;
		return true;
	case CSR_MCAUSE:
		*val = cpu->mcause;
		return true;
	case CSR_MTVAL:
		*val = cpu->mtval;
		return true;
	case CSR_MIP:
		*val = cpu->mip;
		return true;
	case CSR_MCYCLE:
		*val = (u32)mcycle;
		return true;
	case CSR_MCYCLEH:
		*val = mcycle >> 32;
		return true;
	case CSR_MINSTRET:
		*val = (u32)minstret;
		return true;
	case CSR_MINSTRETH:
		*val = minstret >> 32;
		return true;
	case CSR_MHARTID:
		*val = cpu->cfg.hartid;
		return true;
	case CSR_MSTATUSH:
	case CSR_MVENDORID:
	case CSR_MARCHID:
	case CSR_MIMPID:
	case CSR_MCONFIGPTR:
		*val = 0;
		return true;
	default:
		return false;
	}
}

/*
 * Writes half of a counter that shows @count + @*offset. The next instruction
 * reads a low half as written, so this instruction itself must not count.
 */
static void write_counter(u64 count, u64 *offset, u32 val, bool high)
{
	u64 old = count + *offset;

	if (high)
		*offset = ((u64)val << 32 | (u32)old) - count;
	else
		*offset = (old >> 32 << 32 | val) - (count + 1);
}

/* @csr was found readable, and its number does not say read-only. */
static void csr_write(struct rv32 *cpu, u32 csr, u32 val)
{
	switch (csr) {
	case CSR_MSTATUS:
		cpu->mstatus = val & (RV32_MSTATUS_MIE | RV32_MSTATUS_MPIE);
		break;
	case CSR_MIE:
		cpu->mie = val & (RV32_IRQ_TIMER | RV32_IRQ_EXTERNAL);
		break;
	case CSR_MTVEC:
		cpu->mtvec = val & ~2u;
		break;
	case CSR_MSCRATCH:
		cpu->mscratch = val;
		break;
	case CSR_MEPC:
		cpu->mepc = val & ~1u;
		break;
	case CSR_MCAUSE:
		cpu->mcause = val;
		break;
	case CSR_MTVAL:
		cpu->mtval = val;
		break;
	case CSR_MCYCLE:
	case CSR_MCYCLEH:
		write_counter(cpu->cycles, &cpu->mcycle_offset, val,
			      csr == CSR_MCYCLEH);
		break;
	case CSR_MINSTRET:
	case CSR_MINSTRETH:
		write_counter(cpu->insns, &cpu->minstret_offset, val,
			      csr == CSR_MINSTRETH);
		break;
	default:
		/* misa, mstatush and mip: all fields are read-only */
		break;
	}
}

/* Returns whether @insn is a legal access, and then it was done. */
static bool csr_access(struct rv32 *cpu, u32 insn)
{
	u32 csr = insn >> 20;
	u32 kind = insn >> 12 & 3; /* 1 write, 2 set, 3 clear */
	u32 field = insn >> 15 & 31;
	u32 operand = insn & 1u << 14 ? field : cpu->x[field];
	u32 rd = insn >> 7 & 31;
	bool writes = kind == 1 || field;
	u32 old;

	if (writes && csr >> 10 == 3)
		return false;
	if (!csr_read(cpu, csr, &old))
		return false;

	if (writes && kind == 1)
		csr_write(cpu, csr, operand);
	else if (writes && kind == 2)
		csr_write(cpu, csr, old | operand);
	else if (writes)
		csr_write(cpu, csr, old & ~operand);
	cpu->x[rd ? rd : RV32_SINK] = old;
	return true;
}

static void mret(struct rv32 *cpu)
{
	cpu->mstatus = RV32_MSTATUS_MPIE |
		       (cpu->mstatus & RV32_MSTATUS_MPIE ? RV32_MSTATUS_MIE : 0);
	rv32_retire(cpu, cpu->mepc);
}

/* Executes @insn at cpu->pc, of which @len half-words hold @raw. */
static void system_insn(struct rv32 *cpu, u32 insn, u32 raw, u32 len)
{
	u32 next_pc = cpu->pc + 2 * len;

	switch (insn) {
	case INSN_ECALL:
		rv32_trap(cpu, RV32_CAUSE_ECALL, 0);
		return;
	case INSN_EBREAK:
		rv32_trap(cpu, RV32_CAUSE_BREAKPOINT, cpu->pc);
		return;
	case INSN_MRET:
		mret(cpu);
		return;
	case INSN_WFI:
		cpu->wfi = true;
		rv32_retire(cpu, next_pc);
		return;
	}
	if ((insn & 0x7f) == OPCODE_SYSTEM && (insn >> 12 & 3) &&
	    csr_access(cpu, insn))
		rv32_retire(cpu, next_pc);
	else
		rv32_trap(cpu, RV32_CAUSE_ILLEGAL, raw);
}

/* Executes what the fast path left over, or finds that it is no instruction. */
void rv32_system(struct rv32 *cpu)
{
	u32 offset = cpu->pc - cpu->cfg.tcm_base;
	u32 raw, len;

	if (!rv32_in_tcm(cpu, cpu->pc)) {
		rv32_trap(cpu, RV32_CAUSE_FETCH_FAULT, cpu->pc);
		return;
	}
	raw = npu_get_le16(cpu->cfg.tcm + offset);
	len = rv32_insn_len(raw);
	if (len == 2) {
		if (!rv32_in_tcm(cpu, cpu->pc + 2)) {
			rv32_trap(cpu, RV32_CAUSE_FETCH_FAULT, cpu->pc + 2);
			return;
		}
		raw |= (u32)npu_get_le16(cpu->cfg.tcm + offset + 2) << 16;
	}
	system_insn(cpu, rv32_expand(raw), raw, len);
}
