/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 OR MIT */
/* What the parts of the processor's interpreter share. */
#ifndef FIRMWARE_MODEL_RV32_INTERNAL_H
#define FIRMWARE_MODEL_RV32_INTERNAL_H

#include "firmware/model/rv32.h"

/* Where instructions that name x0 as destination put their result. */
#define RV32_SINK 32

enum rv32_op_index {
	RV32_OP_UNDECODED,	/* what zeroed predecode memory means */
	RV32_OP_SLOW,		/* left to rv32_system() */
	RV32_OP_NOP,
	RV32_OP_LI,		/* lui, and auipc with its sum */

	RV32_OP_ADDI,
	RV32_OP_SLTI,
	RV32_OP_SLTIU,
	RV32_OP_XORI,
	RV32_OP_ORI,
	RV32_OP_ANDI,
	RV32_OP_SLLI,
	RV32_OP_SRLI,
	RV32_OP_SRAI,

	RV32_OP_ADD,
	RV32_OP_SUB,
	RV32_OP_SLL,
	RV32_OP_SLT,
	RV32_OP_SLTU,
	RV32_OP_XOR,
	RV32_OP_SRL,
	RV32_OP_SRA,
	RV32_OP_OR,
	RV32_OP_AND,

	/* in the order of funct3 */
	RV32_OP_MUL,
	RV32_OP_MULH,
	RV32_OP_MULHSU,
	RV32_OP_MULHU,
	RV32_OP_DIV,
	RV32_OP_DIVU,
	RV32_OP_REM,
	RV32_OP_REMU,

	RV32_OP_LB,
	RV32_OP_LH,
	RV32_OP_LW,
	RV32_OP_LBU,
	RV32_OP_LHU,
	RV32_OP_SB,
	RV32_OP_SH,
	RV32_OP_SW,

	RV32_OP_BEQ,
	RV32_OP_BNE,
	RV32_OP_BLT,
	RV32_OP_BGE,
	RV32_OP_BLTU,
	RV32_OP_BGEU,
	RV32_OP_JAL,
	RV32_OP_JALR,
};

/*
 * A predecoded instruction. Every field is in range whatever the instruction
 * was: r at most RV32_SINK, rs1 at most 31, and so is imm where it names a
 * register.
 */
struct rv32_op {
	u8 op;
	u8 len;		/* half-words */
	u8 r;		/* rd; rs2 of stores and branches */
	u8 rs1;
	s32 imm;	/* rs2 of register arithmetic; half-words for jumps */
};

static inline bool rv32_in_tcm(const struct rv32 *cpu, u32 addr)
{
	return addr - cpu->cfg.tcm_base < cpu->cfg.tcm_size;
}

static inline u32 rv32_index(const struct rv32 *cpu, u32 addr)
{
	return (addr - cpu->cfg.tcm_base) / 2;
}

/* Length in half-words of the instruction whose low bits are @bits. */
static inline u32 rv32_insn_len(u32 bits)
{
	return (bits & 3) == 3 ? 2 : 1;
}

static inline void rv32_retire(struct rv32 *cpu, u32 next_pc)
{
	cpu->pc = next_pc;
	cpu->insns++;
}

/* rv32.c */
void rv32_trap(struct rv32 *cpu, u32 cause, u32 tval);
void rv32_interrupt(struct rv32 *cpu);
void rv32_forget(struct rv32 *cpu, u32 offset, u32 len);

/* rv32_decode.c */
u32 rv32_expand(u32 insn);
void rv32_decode(struct rv32 *cpu, u32 index);

/* rv32_csr.c */
void rv32_system(struct rv32 *cpu);

#endif /* FIRMWARE_MODEL_RV32_INTERNAL_H */
