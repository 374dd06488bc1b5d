// SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 OR MIT
/* From instruction bits to predecoded instructions. */
#include "firmware/model/rv32_internal.h"

#define OPCODE_LOAD	0x03
#define OPCODE_MISC_MEM	0x0f
#define OPCODE_OP_IMM	0x13
#define OPCODE_AUIPC	0x17
#define OPCODE_STORE	0x23
#define OPCODE_OP	0x33
#define OPCODE_LUI	0x37
#define OPCODE_BRANCH	0x63
#define OPCODE_JALR	0x67
#define OPCODE_JAL	0x6f

#define INSN_EBREAK	0x00100073

static u32 bits(u32 insn, u32 high, u32 low)
{
	return (insn >> low) & ((2u << (high - low)) - 1);
}

/* Bits @high to @low of an instruction, moved to bit @to and upwards. */
static u32 move(u32 insn, u32 high, u32 low, u32 to)
{
	return bits(insn, high, low) << to;
}

static u32 sign_extend(u32 value, u32 width)
{
	u32 sign = 1u << (width - 1);

	return (value ^ sign) - sign;
}

/* Encoders of the formats that compressed instructions expand to. */

static u32 enc_i(u32 opcode, u32 funct3, u32 rd, u32 rs1, u32 imm)
{
	return imm << 20 | rs1 << 15 | funct3 << 12 | rd << 7 | opcode;
}

static u32 enc_r(u32 funct7, u32 funct3, u32 rd, u32 rs1, u32 rs2)
{
	return enc_i(OPCODE_OP, funct3, rd, rs1, funct7 << 5 | rs2);
}

static u32 enc_sw(u32 rs1, u32 rs2, u32 imm)
{
	return move(imm, 11, 5, 25) | rs2 << 20 | rs1 << 15 | 2 << 12 |
	       move(imm, 4, 0, 7) | OPCODE_STORE;
}

static u32 enc_branch(u32 funct3, u32 rs1, u32 imm)
{
	return move(imm, 12, 12, 31) | move(imm, 10, 5, 25) | rs1 << 15 |
	       funct3 << 12 | move(imm, 4, 1, 8) | move(imm, 11, 11, 7) |
	       OPCODE_BRANCH;
}

static u32 enc_jal(u32 rd, u32 imm)
{
	return move(imm, 20, 20, 31) | move(imm, 10, 1, 21) |
	       move(imm, 11, 11, 20) | move(imm, 19, 12, 12) | rd << 7 |
	       OPCODE_JAL;
}

/* Immediates of the compressed formats. */

static u32 cimm6(u32 c)
{
	return sign_extend(move(c, 12, 12, 5) | bits(c, 6, 2), 6);
}

static u32 cimm_jump(u32 c)
{
	return sign_extend(move(c, 12, 12, 11) | move(c, 11, 11, 4) |
			   move(c, 10, 9, 8) | move(c, 8, 8, 10) |
			   move(c, 7, 7, 6) | move(c, 6, 6, 7) |
			   move(c, 5, 3, 1) | move(c, 2, 2, 5), 12);
}

static u32 cimm_branch(u32 c)
{
	return sign_extend(move(c, 12, 12, 8) | move(c, 11, 10, 3) |
			   move(c, 6, 5, 6) | move(c, 4, 3, 1) |
			   move(c, 2, 2, 5), 9);
}

static u32 cimm_word(u32 c)
{
	return move(c, 12, 10, 3) | move(c, 6, 6, 2) | move(c, 5, 5, 6);
}

static u32 expand_quadrant0(u32 c)
{
	u32 rd = 8 + bits(c, 4, 2);
	u32 rs1 = 8 + bits(c, 9, 7);
	u32 imm;

	switch (bits(c, 15, 13)) {
	case 0: /* c.addi4spn */
		imm = move(c, 12, 11, 4) | move(c, 10, 7, 6) |
		      move(c, 6, 6, 2) | move(c, 5, 5, 3);
		return imm ? enc_i(OPCODE_OP_IMM, 0, rd, 2, imm) : 0;
	case 2: /* c.lw */
		return enc_i(OPCODE_LOAD, 2, rd, rs1, cimm_word(c));
	case 6: /* c.sw */
		return enc_sw(rs1, rd, cimm_word(c));
	default:
		return 0;
	}
}

static u32 expand_lui_addi16sp(u32 c)
{
	u32 rd = bits(c, 11, 7);
	u32 imm = cimm6(c);

	if (!imm)
		return 0;
	if (rd != 2)
		return imm << 12 | rd << 7 | OPCODE_LUI;
	imm = sign_extend(move(c, 12, 12, 9) | move(c, 6, 6, 4) |
			  move(c, 5, 5, 6) | move(c, 4, 3, 7) |
			  move(c, 2, 2, 5), 10);
	return enc_i(OPCODE_OP_IMM, 0, 2, 2, imm);
}

static u32 expand_arithmetic(u32 c)
{
	static const u8 funct3[4] = { 0, 4, 6, 7 }; /* sub xor or and */
	u32 rd = 8 + bits(c, 9, 7);
	u32 select = bits(c, 6, 5);

	switch (bits(c, 11, 10)) {
	case 0:
	case 1:
		if (bits(c, 12, 12))
			return 0;
		return enc_i(OPCODE_OP_IMM, 5, rd, rd,
			     move(c, 10, 10, 10) | bits(c, 6, 2));
	case 2:
		return enc_i(OPCODE_OP_IMM, 7, rd, rd, cimm6(c));
	default:
		if (bits(c, 12, 12))
			return 0;
		return enc_r(select ? 0 : 0x20, funct3[select], rd, rd,
			     8 + bits(c, 4, 2));
	}
}

static u32 expand_quadrant1(u32 c)
{
	u32 rd = bits(c, 11, 7);

	switch (bits(c, 15, 13)) {
	case 0:
		return enc_i(OPCODE_OP_IMM, 0, rd, rd, cimm6(c));
	case 1:
		return enc_jal(1, cimm_jump(c));
	case 2:
		return enc_i(OPCODE_OP_IMM, 0, rd, 0, cimm6(c));
	case 3:
		return expand_lui_addi16sp(c);
	case 4:
		return expand_arithmetic(c);
	case 5:
		return enc_jal(0, cimm_jump(c));
	default: /* c.beqz, c.bnez */
		return enc_branch(bits(c, 13, 13), 8 + bits(c, 9, 7),
				  cimm_branch(c));
	}
}

static u32 expand_jump_move_add(u32 c)
{
	u32 rd = bits(c, 11, 7);
	u32 rs2 = bits(c, 6, 2);
	bool second = bits(c, 12, 12);

	if (rs2)
		return enc_r(0, 0, rd, second ? rd : 0, rs2);
	if (rd)
		return enc_i(OPCODE_JALR, 0, second, rd, 0);
	return second ? INSN_EBREAK : 0;
}

static u32 expand_quadrant2(u32 c)
{
	u32 rd = bits(c, 11, 7);
	u32 imm;

	switch (bits(c, 15, 13)) {
	case 0:
		if (bits(c, 12, 12))
			return 0;
		return enc_i(OPCODE_OP_IMM, 1, rd, rd, bits(c, 6, 2));
	case 2: /* c.lwsp */
		imm = move(c, 12, 12, 5) | move(c, 6, 4, 2) | move(c, 3, 2, 6);
		return rd ? enc_i(OPCODE_LOAD, 2, rd, 2, imm) : 0;
	case 4:
		return expand_jump_move_add(c);
	case 6: /* c.swsp */
		imm = move(c, 12, 9, 2) | move(c, 8, 7, 6);
		return enc_sw(2, bits(c, 6, 2), imm);
	default:
		return 0;
	}
}

/*
 * The instruction of 32 bits that does what the compressed @insn does; 0, which
 * is not an instruction, where there is none. Other instructions come back.
 */
u32 rv32_expand(u32 insn)
{
	switch (insn & 3) {
	case 0:
		return expand_quadrant0(insn & 0xffff);
	case 1:
		return expand_quadrant1(insn & 0xffff);
	case 2:
		return expand_quadrant2(insn & 0xffff);
	default:
		return insn;
	}
}

/* Decoders of the full formats. They leave op SLOW where a trap is due. */

static void decode_op_imm(struct rv32_op *op, u32 insn)
{
	static const u8 index[8] = {
		RV32_OP_ADDI, RV32_OP_SLLI, RV32_OP_SLTI, RV32_OP_SLTIU,
		RV32_OP_XORI, RV32_OP_SRLI, RV32_OP_ORI, RV32_OP_ANDI,
	};
	u32 funct3 = bits(insn, 14, 12);
	u32 funct7 = bits(insn, 31, 25);

	op->imm = sign_extend(bits(insn, 31, 20), 12);
	if (funct3 == 1 || funct3 == 5) {
		op->imm = bits(insn, 24, 20);
		if (funct3 == 5 && funct7 == 0x20) {
			op->op = RV32_OP_SRAI;
			return;
		}
		if (funct7)
			return;
	}
	op->op = index[funct3];
}

static void decode_op(struct rv32_op *op, u32 insn)
{
	static const u8 index[8] = {
		RV32_OP_ADD, RV32_OP_SLL, RV32_OP_SLT, RV32_OP_SLTU,
		RV32_OP_XOR, RV32_OP_SRL, RV32_OP_OR, RV32_OP_AND,
	};
	u32 funct3 = bits(insn, 14, 12);

	op->imm = bits(insn, 24, 20);
	switch (bits(insn, 31, 25)) {
	case 0:
		op->op = index[funct3];
		break;
	case 1:
		op->op = RV32_OP_MUL + funct3;
		break;
	case 0x20:
		if (funct3 == 0)
			op->op = RV32_OP_SUB;
		else if (funct3 == 5)
			op->op = RV32_OP_SRA;
		break;
	}
}

static void decode_load(struct rv32_op *op, u32 insn)
{
	static const u8 index[8] = {
		RV32_OP_LB, RV32_OP_LH, RV32_OP_LW, RV32_OP_SLOW,
		RV32_OP_LBU, RV32_OP_LHU, RV32_OP_SLOW, RV32_OP_SLOW,
	};

	op->imm = sign_extend(bits(insn, 31, 20), 12);
	op->op = index[bits(insn, 14, 12)];
}

static void decode_store(struct rv32_op *op, u32 insn)
{
	static const u8 index[8] = {
		RV32_OP_SB, RV32_OP_SH, RV32_OP_SW, RV32_OP_SLOW,
		RV32_OP_SLOW, RV32_OP_SLOW, RV32_OP_SLOW, RV32_OP_SLOW,
	};

	op->r = bits(insn, 24, 20);
	op->imm = sign_extend(move(insn, 31, 25, 5) | bits(insn, 11, 7), 12);
	op->op = index[bits(insn, 14, 12)];
}

static void decode_branch(struct rv32_op *op, u32 insn)
{
	static const u8 index[8] = {
		RV32_OP_BEQ, RV32_OP_BNE, RV32_OP_SLOW, RV32_OP_SLOW,
		RV32_OP_BLT, RV32_OP_BGE, RV32_OP_BLTU, RV32_OP_BGEU,
	};

	op->r = bits(insn, 24, 20);
	op->imm = (s32)sign_extend(move(insn, 31, 31, 12) | move(insn, 7, 7, 11) |
				   move(insn, 30, 25, 5) |
				   move(insn, 11, 8, 1), 13) / 2;
	op->op = index[bits(insn, 14, 12)];
}

static void decode_jal(struct rv32_op *op, u32 insn)
{
	op->imm = (s32)sign_extend(move(insn, 31, 31, 20) |
				   move(insn, 19, 12, 12) |
				   move(insn, 20, 20, 11) |
				   move(insn, 30, 21, 1), 21) / 2;
	op->op = RV32_OP_JAL;
}

static void decode_jalr(struct rv32_op *op, u32 insn)
{
	if (bits(insn, 14, 12))
		return;
	op->imm = sign_extend(bits(insn, 31, 20), 12);
	op->op = RV32_OP_JALR;
}

static void decode_insn(struct rv32_op *op, u32 insn, u32 pc)
{
	u32 rd = bits(insn, 11, 7);

	op->op = RV32_OP_SLOW;
	op->r = rd ? rd : RV32_SINK;
	op->rs1 = bits(insn, 19, 15);
	op->imm = 0;

	switch (bits(insn, 6, 0)) {
	case OPCODE_LUI:
		op->imm = insn & 0xfffff000;
		op->op = RV32_OP_LI;
		break;
	case OPCODE_AUIPC:
		op->imm = pc + (insn & 0xfffff000);
		op->op = RV32_OP_LI;
		break;
	case OPCODE_OP_IMM:
		decode_op_imm(op, insn);
		break;
	case OPCODE_OP:
		decode_op(op, insn);
		break;
	case OPCODE_LOAD:
		decode_load(op, insn);
		break;
	case OPCODE_STORE:
		decode_store(op, insn);
		break;
	case OPCODE_BRANCH:
		decode_branch(op, insn);
		break;
	case OPCODE_JAL:
		decode_jal(op, insn);
		break;
	case OPCODE_JALR:
		decode_jalr(op, insn);
		break;
	case OPCODE_MISC_MEM: /* fence, fence.i */
		if (bits(insn, 14, 12) <= 1)
			op->op = RV32_OP_NOP;
		break;
	}
}

/*
 * Decodes the instruction at half-word @index of TCM. Afterwards the slot is
 * not UNDECODED, whatever the bits are.
 */
void rv32_decode(struct rv32 *cpu, u32 index)
{
	struct rv32_op *op = &cpu->ops[index];
	u32 offset = 2 * index;
	u32 insn = npu_get_le16(cpu->cfg.tcm + offset);
	u32 len = rv32_insn_len(insn);

	op->len = len;
	cpu->code[offset / RV32_TCM_LINE] = 1;
	if (len == 2) {
		if (offset + 2 == cpu->cfg.tcm_size) {
			op->op = RV32_OP_SLOW;
			return;
		}
		insn |= (u32)npu_get_le16(cpu->cfg.tcm + offset + 2) << 16;
		cpu->code[(offset + 2) / RV32_TCM_LINE] = 1;
	}
	decode_insn(op, rv32_expand(insn), cpu->cfg.tcm_base + offset);
}
