/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 OR MIT */
/* Generated from firmware/contract by gen.py; do not edit. */
#ifndef NPU_ISA_H
#define NPU_ISA_H

/*
 * Field lists: X(name, 64-bit word, lowest bit in that word, width, signed).
 * A *_VALID mask has a bit for each bit that some field of the format names;
 * the others must be 0.
 */

/* Bytes of an instruction. */
#define NPU_INSN_BYTES			16u
/* Channels of a block (input and output). */
#define NPU_BLOCK			16u
/* Micro-ops in UOP memory. */
#define NPU_UOP_DEPTH			8192u
/* Elements of WGT memory. */
#define NPU_WGT_DEPTH			1024u
/* Elements of INP memory. */
#define NPU_INP_DEPTH			2048u
/* Elements of ACC memory (and of OUT). */
#define NPU_ACC_DEPTH			2048u
/* Bytes of a micro-op. */
#define NPU_UOP_BYTES			4u
/* Bytes of a WGT element. */
#define NPU_WGT_BYTES			256u
/* Bytes of an INP element. */
#define NPU_INP_BYTES			16u
/* Bytes of an ACC element. */
#define NPU_ACC_BYTES			64u
/* Bytes of an OUT or ACC8 element in memory. */
#define NPU_OUT_BYTES			16u
/* Bytes of a row of WGT, the unit of VMAC's weight index. */
#define NPU_WGT_ROW_BYTES		16u
/* Instructions that wait in front of one unit. */
#define NPU_CMD_QUEUE_DEPTH		512u
/* Tokens that one token queue holds; a push into a full queue waits. */
#define NPU_TOKEN_MAX			255u

/* Bits 2:0. */
#define NPU_OP_LOAD			0u
#define NPU_OP_STORE			1u
#define NPU_OP_GEMM			2u
#define NPU_OP_FINISH			3u
#define NPU_OP_ALU			4u
#define NPU_OP_EXT			5u
#define NPU_OP_NAMES(X) \
	X(LOAD, 0, "load") \
	X(STORE, 1, "store") \
	X(GEMM, 2, "gemm") \
	X(FINISH, 3, "finish") \
	X(ALU, 4, "alu") \
	X(EXT, 5, "ext")

/* Memories, field memory of LOAD and STORE. */
#define NPU_MEM_UOP			0u
#define NPU_MEM_WGT			1u
#define NPU_MEM_INP			2u
#define NPU_MEM_ACC			3u
#define NPU_MEM_OUT			4u
#define NPU_MEM_ACC8			5u
#define NPU_MEM_NAMES(X) \
	X(UOP, 0, "uop") \
	X(WGT, 1, "wgt") \
	X(INP, 2, "inp") \
	X(ACC, 3, "acc") \
	X(OUT, 4, "out") \
	X(ACC8, 5, "acc8")

/* ALU operations. */
#define NPU_ALU_MIN			0u
#define NPU_ALU_MAX			1u
#define NPU_ALU_ADD			2u
#define NPU_ALU_SHR			3u
#define NPU_ALU_MUL			4u
#define NPU_ALU_NAMES(X) \
	X(MIN, 0, "min") \
	X(MAX, 1, "max") \
	X(ADD, 2, "add") \
	X(SHR, 3, "shr") \
	X(MUL, 4, "mul")

/* What LOAD writes into padding. */
#define NPU_PAD_ZERO			0u
#define NPU_PAD_VALUE			1u
#define NPU_PAD_NAMES(X) \
	X(ZERO, 0, "zero") \
	X(VALUE, 1, "value")

/* Sub-opcode of EXT, bits 127:124. 0 and 6 to 15 are reserved. */
#define NPU_EXT_YIELD			1u
#define NPU_EXT_PAD_VALUE		2u
#define NPU_EXT_REQUANT			3u
#define NPU_EXT_VMAC			4u
#define NPU_EXT_LUT			5u
#define NPU_EXT_NAMES(X) \
	X(YIELD, 1, "yield") \
	X(PAD_VALUE, 2, "pad_value") \
	X(REQUANT, 3, "requant") \
	X(VMAC, 4, "vmac") \
	X(LUT, 5, "lut")

/* Unit of PAD_VALUE. */
#define NPU_PAD_UNIT_LOAD		0u
#define NPU_PAD_UNIT_COMPUTE		1u
#define NPU_PAD_UNIT_NAMES(X) \
	X(LOAD, 0, "load") \
	X(COMPUTE, 1, "compute")

/* Format mem: LOAD and STORE. */
#define NPU_FMT_MEM_FIELDS(X) \
	X(opcode, 0, 0, 3, 0) \
	X(pop_prev, 0, 3, 1, 0) \
	X(pop_next, 0, 4, 1, 0) \
	X(push_prev, 0, 5, 1, 0) \
	X(push_next, 0, 6, 1, 0) \
	X(memory, 0, 7, 3, 0) \
	X(sram_base, 0, 10, 16, 0) \
	X(dram_base, 0, 26, 32, 0) \
	X(pad_mode, 0, 58, 2, 0) \
	X(region, 0, 60, 4, 0) \
	X(y_size, 1, 0, 16, 0) \
	X(x_size, 1, 16, 16, 0) \
	X(x_stride, 1, 32, 16, 0) \
	X(y_pad_0, 1, 48, 4, 0) \
	X(y_pad_1, 1, 52, 4, 0) \
	X(x_pad_0, 1, 56, 4, 0) \
	X(x_pad_1, 1, 60, 4, 0)
#define NPU_FMT_MEM_VALID_LO		0xffffffffffffffffull
#define NPU_FMT_MEM_VALID_HI		0xffffffffffffffffull

/* Format gemm: GEMM. */
#define NPU_FMT_GEMM_FIELDS(X) \
	X(opcode, 0, 0, 3, 0) \
	X(pop_prev, 0, 3, 1, 0) \
	X(pop_next, 0, 4, 1, 0) \
	X(push_prev, 0, 5, 1, 0) \
	X(push_next, 0, 6, 1, 0) \
	X(reset, 0, 7, 1, 0) \
	X(uop_bgn, 0, 8, 13, 0) \
	X(uop_end, 0, 21, 14, 0) \
	X(iter_out, 0, 35, 14, 0) \
	X(iter_in, 0, 49, 14, 0) \
	X(dst_factor_out, 1, 0, 11, 0) \
	X(dst_factor_in, 1, 11, 11, 0) \
	X(src_factor_out, 1, 22, 11, 0) \
	X(src_factor_in, 1, 33, 11, 0) \
	X(wgt_factor_out, 1, 44, 10, 0) \
	X(wgt_factor_in, 1, 54, 10, 0)
#define NPU_FMT_GEMM_VALID_LO		0x7fffffffffffffffull
#define NPU_FMT_GEMM_VALID_HI		0xffffffffffffffffull

/* Format alu: ALU. */
#define NPU_FMT_ALU_FIELDS(X) \
	X(opcode, 0, 0, 3, 0) \
	X(pop_prev, 0, 3, 1, 0) \
	X(pop_next, 0, 4, 1, 0) \
	X(push_prev, 0, 5, 1, 0) \
	X(push_next, 0, 6, 1, 0) \
	X(reset, 0, 7, 1, 0) \
	X(uop_bgn, 0, 8, 13, 0) \
	X(uop_end, 0, 21, 14, 0) \
	X(iter_out, 0, 35, 14, 0) \
	X(iter_in, 0, 49, 14, 0) \
	X(dst_factor_out, 1, 0, 11, 0) \
	X(dst_factor_in, 1, 11, 11, 0) \
	X(src_factor_out, 1, 22, 11, 0) \
	X(src_factor_in, 1, 33, 11, 0) \
	X(alu_op, 1, 44, 3, 0) \
	X(use_imm, 1, 47, 1, 0) \
	X(imm, 1, 48, 16, 1)
#define NPU_FMT_ALU_VALID_LO		0x7fffffffffffffffull
#define NPU_FMT_ALU_VALID_HI		0xffffffffffffffffull

/*
 * Format finish: FINISH. Runs on the compute unit; the last instruction of a
 * program.
 */
#define NPU_FMT_FINISH_FIELDS(X) \
	X(opcode, 0, 0, 3, 0) \
	X(pop_prev, 0, 3, 1, 0) \
	X(pop_next, 0, 4, 1, 0) \
	X(push_prev, 0, 5, 1, 0) \
	X(push_next, 0, 6, 1, 0)
#define NPU_FMT_FINISH_VALID_LO		0x000000000000007full
#define NPU_FMT_FINISH_VALID_HI		0x0000000000000000ull

/* Format yield: EXT.YIELD. */
#define NPU_FMT_YIELD_FIELDS(X) \
	X(opcode, 0, 0, 3, 0) \
	X(pop_prev, 0, 3, 1, 0) \
	X(pop_next, 0, 4, 1, 0) \
	X(push_prev, 0, 5, 1, 0) \
	X(push_next, 0, 6, 1, 0) \
	X(ext_op, 1, 60, 4, 0)
#define NPU_FMT_YIELD_VALID_LO		0x000000000000007full
#define NPU_FMT_YIELD_VALID_HI		0xf000000000000000ull

/* Format pad_value: EXT.PAD_VALUE. */
#define NPU_FMT_PAD_VALUE_FIELDS(X) \
	X(opcode, 0, 0, 3, 0) \
	X(pop_prev, 0, 3, 1, 0) \
	X(pop_next, 0, 4, 1, 0) \
	X(push_prev, 0, 5, 1, 0) \
	X(push_next, 0, 6, 1, 0) \
	X(unit, 0, 7, 1, 0) \
	X(value, 0, 32, 32, 1) \
	X(ext_op, 1, 60, 4, 0)
#define NPU_FMT_PAD_VALUE_VALID_LO	0xffffffff000000ffull
#define NPU_FMT_PAD_VALUE_VALID_HI	0xf000000000000000ull

/* Format requant: EXT.REQUANT. */
#define NPU_FMT_REQUANT_FIELDS(X) \
	X(opcode, 0, 0, 3, 0) \
	X(pop_prev, 0, 3, 1, 0) \
	X(pop_next, 0, 4, 1, 0) \
	X(push_prev, 0, 5, 1, 0) \
	X(push_next, 0, 6, 1, 0) \
	X(uop_bgn, 0, 8, 13, 0) \
	X(uop_end, 0, 21, 14, 0) \
	X(iter_out, 0, 35, 14, 0) \
	X(iter_in, 0, 49, 14, 0) \
	X(dst_factor_out, 1, 0, 11, 0) \
	X(dst_factor_in, 1, 11, 11, 0) \
	X(src_factor_out, 1, 22, 11, 0) \
	X(src_factor_in, 1, 33, 11, 0) \
	X(ext_op, 1, 60, 4, 0)
#define NPU_FMT_REQUANT_VALID_LO	0x7fffffffffffff7full
#define NPU_FMT_REQUANT_VALID_HI	0xf0000fffffffffffull

/* Format vmac: EXT.VMAC. */
#define NPU_FMT_VMAC_FIELDS(X) \
	X(opcode, 0, 0, 3, 0) \
	X(pop_prev, 0, 3, 1, 0) \
	X(pop_next, 0, 4, 1, 0) \
	X(push_prev, 0, 5, 1, 0) \
	X(push_next, 0, 6, 1, 0) \
	X(reset, 0, 7, 1, 0) \
	X(uop_bgn, 0, 8, 13, 0) \
	X(uop_end, 0, 21, 14, 0) \
	X(iter_out, 0, 35, 14, 0) \
	X(iter_in, 0, 49, 14, 0) \
	X(dst_factor_out, 1, 0, 11, 0) \
	X(dst_factor_in, 1, 11, 11, 0) \
	X(src_factor_out, 1, 22, 11, 0) \
	X(src_factor_in, 1, 33, 11, 0) \
	X(wgt_factor_out, 1, 44, 8, 0) \
	X(wgt_factor_in, 1, 52, 8, 0) \
	X(ext_op, 1, 60, 4, 0)
#define NPU_FMT_VMAC_VALID_LO		0x7fffffffffffffffull
#define NPU_FMT_VMAC_VALID_HI		0xffffffffffffffffull

/* Format lut: EXT.LUT. */
#define NPU_FMT_LUT_FIELDS(X) \
	X(opcode, 0, 0, 3, 0) \
	X(pop_prev, 0, 3, 1, 0) \
	X(pop_next, 0, 4, 1, 0) \
	X(push_prev, 0, 5, 1, 0) \
	X(push_next, 0, 6, 1, 0) \
	X(uop_bgn, 0, 8, 13, 0) \
	X(uop_end, 0, 21, 14, 0) \
	X(iter_out, 0, 35, 14, 0) \
	X(iter_in, 0, 49, 14, 0) \
	X(dst_factor_out, 1, 0, 11, 0) \
	X(dst_factor_in, 1, 11, 11, 0) \
	X(src_factor_out, 1, 22, 11, 0) \
	X(src_factor_in, 1, 33, 11, 0) \
	X(table, 1, 44, 10, 0) \
	X(ext_op, 1, 60, 4, 0)
#define NPU_FMT_LUT_VALID_LO		0x7fffffffffffff7full
#define NPU_FMT_LUT_VALID_HI		0xf03fffffffffffffull

#define NPU_FORMATS(X) \
	X(mem, MEM) \
	X(gemm, GEMM) \
	X(alu, ALU) \
	X(finish, FINISH) \
	X(yield, YIELD) \
	X(pad_value, PAD_VALUE) \
	X(requant, REQUANT) \
	X(vmac, VMAC) \
	X(lut, LUT)

/* Micro-op (32 bits). */
#define NPU_UOP_FIELDS(X) \
	X(dst, 0, 0, 11, 0) \
	X(src, 0, 11, 11, 0) \
	X(wgt, 0, 22, 10, 0)
#define NPU_UOP_VALID			0xffffffffu

/* One lane of the second parameter row of REQUANT (32 bits). */
#define NPU_REQUANT_BOUNDS_FIELDS(X) \
	X(zero_point, 0, 0, 10, 1) \
	X(lo, 0, 10, 10, 1) \
	X(hi, 0, 20, 10, 1)
#define NPU_REQUANT_BOUNDS_VALID	0x3fffffffu

#endif
