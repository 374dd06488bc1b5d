// SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 OR MIT
/*
 * Execution. fast_path() runs predecoded instructions that neither trap nor
 * leave the processor; it stops in front of any other, which slow_step()
 * executes alone. Interrupts can only become due in slow steps or between two
 * slices, so only there they are looked for.
 */
#include "firmware/model/rv32_internal.h"

static __always_inline u32 divide(u32 a, u32 b)
{
	if (!b)
		return ~0u;
	if (a == 1u << 31 && b == ~0u)
		return a;
	return (s32)a / (s32)b;
}

static __always_inline u32 remainder_signed(u32 a, u32 b)
{
	if (!b)
		return a;
	if (b == ~0u)
		return 0;
	return (s32)a % (s32)b;
}

static __always_inline u32 mulh(s64 a, s64 b)
{
	return (u64)(a * b) >> 32;
}

/* Whether an access of @size bytes at @offset of TCM is aligned and inside. */
static __always_inline bool fits(const struct rv32 *cpu, u32 offset, u32 size)
{
	return offset < cpu->cfg.tcm_size && !(offset & (size - 1));
}

static __always_inline void stored(struct rv32 *cpu, u32 offset, u32 size)
{
	if (unlikely(cpu->code[offset / RV32_TCM_LINE]))
		rv32_forget(cpu, offset, size);
}

/* Operands of the current instruction. */
#define RS1	x[op->rs1]
#define RS2	x[op->imm]
#define R	x[op->r]
#define IMM	((u32)op->imm)
#define SHAMT	(RS2 & 31)
#define OFFSET	(RS1 + IMM - base)

#define ALU(name, value)						\
	case RV32_OP_##name:						\
		R = (value);						\
		break

#define BRANCH(name, condition)						\
	case RV32_OP_##name:						\
		if (condition)						\
			next = i + IMM;					\
		break

#define LOAD(name, size, value)						\
	case RV32_OP_##name:						\
		if (unlikely(!fits(cpu, OFFSET, size)))			\
			goto leave;					\
		R = (value);						\
		break

#define STORE(name, size, put)						\
	case RV32_OP_##name:						\
		offset = OFFSET;					\
		if (unlikely(!fits(cpu, offset, size)))			\
			goto leave;					\
		put;							\
		stored(cpu, offset, size);				\
		break

/*
 * Executes at most @max instructions and returns how many retired. Where it
 * is fewer, a slow step is due at cpu->pc.
 */
static u32 fast_path(struct rv32 *cpu, u32 max)
{
	const u32 base = cpu->cfg.tcm_base;
	const u32 end = cpu->cfg.tcm_size / 2;
	u8 *const tcm = cpu->cfg.tcm;
	u32 *const x = cpu->x;
	const struct rv32_op *const ops = cpu->ops;
	u32 i = rv32_index(cpu, cpu->pc);
	u32 left, next, offset;

	for (left = max; left && likely(i < end); left--) {
		const struct rv32_op *op = &ops[i];

		if (unlikely(op->op == RV32_OP_UNDECODED))
			rv32_decode(cpu, i);
		next = i + op->len;

		switch (op->op) {
		case RV32_OP_NOP:
			break;
		ALU(LI, IMM);
		ALU(ADDI, RS1 + IMM);
		ALU(SLTI, (s32)RS1 < (s32)IMM);
		ALU(SLTIU, RS1 < IMM);
		ALU(XORI, RS1 ^ IMM);
		ALU(ORI, RS1 | IMM);
		ALU(ANDI, RS1 & IMM);
		ALU(SLLI, RS1 << IMM);
		ALU(SRLI, RS1 >> IMM);
		ALU(SRAI, (s32)RS1 >> IMM);
		ALU(ADD, RS1 + RS2);
		ALU(SUB, RS1 - RS2);
		ALU(SLL, RS1 << SHAMT);
		ALU(SLT, (s32)RS1 < (s32)RS2);
		ALU(SLTU, RS1 < RS2);
		ALU(XOR, RS1 ^ RS2);
		ALU(SRL, RS1 >> SHAMT);
		ALU(SRA, (s32)RS1 >> SHAMT);
		ALU(OR, RS1 | RS2);
		ALU(AND, RS1 & RS2);
		ALU(MUL, RS1 * RS2);
		ALU(MULH, mulh((s32)RS1, (s32)RS2));
		ALU(MULHSU, mulh((s32)RS1, RS2));
		ALU(MULHU, (u64)RS1 * RS2 >> 32);
		ALU(DIV, divide(RS1, RS2));
		ALU(DIVU, RS2 ? RS1 / RS2 : ~0u);
		ALU(REM, remainder_signed(RS1, RS2));
		ALU(REMU, RS2 ? RS1 % RS2 : RS1);
		LOAD(LB, 1, (s8)tcm[OFFSET]);
		LOAD(LH, 2, (s16)npu_get_le16(tcm + OFFSET));
		LOAD(LW, 4, npu_get_le32(tcm + OFFSET));
		LOAD(LBU, 1, tcm[OFFSET]);
		LOAD(LHU, 2, npu_get_le16(tcm + OFFSET));
		STORE(SB, 1, tcm[offset] = R);
		STORE(SH, 2, npu_put_le16(tcm + offset, R));
		STORE(SW, 4, npu_put_le32(tcm + offset, R));
		BRANCH(BEQ, RS1 == R);
		BRANCH(BNE, RS1 != R);
		BRANCH(BLT, (s32)RS1 < (s32)R);
		BRANCH(BGE, (s32)RS1 >= (s32)R);
		BRANCH(BLTU, RS1 < R);
		BRANCH(BGEU, RS1 >= R);
		case RV32_OP_JAL:
			R = base + 2 * next;
			next = i + IMM;
			break;
		case RV32_OP_JALR:
			offset = OFFSET & ~1u;
			R = base + 2 * next;
			next = offset / 2;
			break;
		default:
			goto leave;
		}
		i = next;
	}
leave:
	cpu->pc = base + 2 * i;
	cpu->insns += max - left;
	cpu->cycles += max - left;
	return max - left;
}

static u32 load_result(u32 op, u32 val)
{
	switch (op) {
	case RV32_OP_LB:
		return (s8)val;
	case RV32_OP_LH:
		return (s16)val;
	case RV32_OP_LBU:
		return (u8)val;
	case RV32_OP_LHU:
		return (u16)val;
	default:
		return val;
	}
}

static void slow_load(struct rv32 *cpu, const struct rv32_op *op, u32 size)
{
	const struct rv32_bus *bus = cpu->cfg.bus;
	u32 addr = cpu->x[op->rs1] + op->imm;
	u32 val = 0;

	if (addr & (size - 1)) {
		rv32_trap(cpu, RV32_CAUSE_LOAD_MISALIGNED, addr);
	} else if (!bus || !bus->read ||
		   bus->read(cpu->cfg.opaque, addr, size, &val)) {
		rv32_trap(cpu, RV32_CAUSE_LOAD_FAULT, addr);
	} else {
		cpu->x[op->r] = load_result(op->op, val);
		rv32_retire(cpu, cpu->pc + 2 * op->len);
	}
}

static void slow_store(struct rv32 *cpu, const struct rv32_op *op, u32 size)
{
	const struct rv32_bus *bus = cpu->cfg.bus;
	u32 addr = cpu->x[op->rs1] + op->imm;
	u32 val = cpu->x[op->r];

	if (size < 4)
		val &= (1u << 8 * size) - 1;
	if (addr & (size - 1))
		rv32_trap(cpu, RV32_CAUSE_STORE_MISALIGNED, addr);
	else if (!bus || !bus->write ||
		 bus->write(cpu->cfg.opaque, addr, size, val))
		rv32_trap(cpu, RV32_CAUSE_STORE_FAULT, addr);
	else
		rv32_retire(cpu, cpu->pc + 2 * op->len);
}

static void slow_step(struct rv32 *cpu)
{
	struct rv32_op op = { 0 };

	/* A copy: callbacks may drop what is decoded. */
	if (rv32_in_tcm(cpu, cpu->pc))
		op = cpu->ops[rv32_index(cpu, cpu->pc)];

	switch (op.op) {
	case RV32_OP_LB:
	case RV32_OP_LBU:
		slow_load(cpu, &op, 1);
		break;
	case RV32_OP_LH:
	case RV32_OP_LHU:
		slow_load(cpu, &op, 2);
		break;
	case RV32_OP_LW:
		slow_load(cpu, &op, 4);
		break;
	case RV32_OP_SB:
		slow_store(cpu, &op, 1);
		break;
	case RV32_OP_SH:
		slow_store(cpu, &op, 2);
		break;
	case RV32_OP_SW:
		slow_store(cpu, &op, 4);
		break;
	default:
		rv32_system(cpu);
		break;
	}
	cpu->cycles++;
}

u32 rv32_run(struct rv32 *cpu, u32 max_steps)
{
	u32 left = max_steps;

	cpu->stop = false;
	while (left && !cpu->stop && rv32_runnable(cpu)) {
		cpu->wfi = false;
		rv32_interrupt(cpu);
		left -= fast_path(cpu, left);
		if (left) {
			slow_step(cpu);
			left--;
		}
	}
	return max_steps - left;
}
