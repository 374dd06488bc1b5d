/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 OR MIT */
/*
 * Loops over the lanes of ACC in plain C, for the compiler to make the best
 * of: each set of kernels has them compiled for its processor.
 */
#ifndef FIRMWARE_MODEL_CORE_LANES_H
#define FIRMWARE_MODEL_CORE_LANES_H

#include "firmware/model/core_internal.h"

/* Unsigned: sums and products wrap. */
static __always_inline u32 alu_op(u32 op, s32 a, s32 b)
{
	switch (op) {
	case NPU_ALU_MIN:
		return a < b ? a : b;
	case NPU_ALU_MAX:
		return a > b ? a : b;
	case NPU_ALU_ADD:
		return (u32)a + (u32)b;
	case NPU_ALU_MUL:
		return (u32)a * (u32)b;
	default:
		return b >= 0 ? (u32)(a >> (b & 31)) : (u32)a << (-(u32)b & 31);
	}
}

static __always_inline void each_imm(struct npu_core *c,
				     const u64 *step, u32 n, u32 op,
				     s32 imm)
{
	u32 i, o;

	for (i = 0; i < n; i++) {
		s32 *acc = c->acc[step_dst(step[i])];

		for (o = 0; o < NPU_BLOCK; o++)
			acc[o] = alu_op(op, acc[o], imm);
	}
}

static __always_inline void each_reg(struct npu_core *c,
				     const u64 *step, u32 n, u32 op)
{
	u32 i, o;

	for (i = 0; i < n; i++) {
		s32 *acc = c->acc[step_dst(step[i])];
		s32 b[NPU_BLOCK];

		memcpy(b, c->acc[step_src(step[i])], sizeof(b));
		for (o = 0; o < NPU_BLOCK; o++)
			acc[o] = alu_op(op, acc[o], b[o]);
	}
}

/* One loop an operation, so that each is as tight as can be. */
static __always_inline void lanes_alu_imm(struct npu_core *c,
					  const u64 *step, u32 n,
					  u32 op, s32 imm)
{
	switch (op) {
	case NPU_ALU_MIN:
		each_imm(c, step, n, NPU_ALU_MIN, imm);
		break;
	case NPU_ALU_MAX:
		each_imm(c, step, n, NPU_ALU_MAX, imm);
		break;
	case NPU_ALU_ADD:
		each_imm(c, step, n, NPU_ALU_ADD, imm);
		break;
	case NPU_ALU_MUL:
		each_imm(c, step, n, NPU_ALU_MUL, imm);
		break;
	default:
		if (imm >= 0)
			each_imm(c, step, n, NPU_ALU_SHR, imm & 31);
		else
			each_imm(c, step, n, NPU_ALU_SHR, imm);
		break;
	}
}

static __always_inline void lanes_alu_reg(struct npu_core *c,
					  const u64 *step, u32 n,
					  u32 op)
{
	switch (op) {
	case NPU_ALU_MIN:
		each_reg(c, step, n, NPU_ALU_MIN);
		break;
	case NPU_ALU_MAX:
		each_reg(c, step, n, NPU_ALU_MAX);
		break;
	case NPU_ALU_ADD:
		each_reg(c, step, n, NPU_ALU_ADD);
		break;
	case NPU_ALU_MUL:
		each_reg(c, step, n, NPU_ALU_MUL);
		break;
	default:
		each_reg(c, step, n, NPU_ALU_SHR);
		break;
	}
}

static __always_inline void lanes_vmac(struct npu_core *c,
				       const u64 *step, u32 n)
{
	const s8 (*row)[NPU_BLOCK] = c->wgt[0];
	u32 i, o;

	for (i = 0; i < n; i++) {
		const s8 *wgt = row[step_wgt(step[i])];
		const s8 *inp = c->inp[step_src(step[i])];
		s32 *acc = c->acc[step_dst(step[i])];

		for (o = 0; o < NPU_BLOCK; o++)
			acc[o] = (u32)acc[o] + (u32)(inp[o] * wgt[o]);
	}
}

static __always_inline void lanes_lut(struct npu_core *c,
				      const u64 *step, u32 n,
				      const s8 *table)
{
	u32 i, o;

	for (i = 0; i < n; i++) {
		const s32 *src = c->acc[step_src(step[i])];
		s32 *acc = c->acc[step_dst(step[i])];

		for (o = 0; o < NPU_BLOCK; o++)
			acc[o] = table[src[o] & 255];
	}
}

#endif /* FIRMWARE_MODEL_CORE_LANES_H */
