// SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 OR MIT
/* The portable arithmetic, but for GEMM and REQUANT. */
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

static __always_inline void alu_imm(struct npu_core *c,
				    const struct core_step *step, u32 n, u32 op,
				    s32 imm)
{
	u32 i, o;

	for (i = 0; i < n; i++) {
		s32 *acc = c->acc[step[i].dst];

		for (o = 0; o < NPU_BLOCK; o++)
			acc[o] = alu_op(op, acc[o], imm);
	}
}

static __always_inline void alu_reg(struct npu_core *c,
				    const struct core_step *step, u32 n, u32 op)
{
	u32 i, o;

	for (i = 0; i < n; i++) {
		s32 *acc = c->acc[step[i].dst];
		s32 b[NPU_BLOCK];

		memcpy(b, c->acc[step[i].src], sizeof(b));
		for (o = 0; o < NPU_BLOCK; o++)
			acc[o] = alu_op(op, acc[o], b[o]);
	}
}

/* One loop an operation, so that each is as tight as can be. */
void core_alu_imm(struct npu_core *c, const struct core_step *step, u32 n,
		  u32 op, s32 imm)
{
	switch (op) {
	case NPU_ALU_MIN:
		alu_imm(c, step, n, NPU_ALU_MIN, imm);
		break;
	case NPU_ALU_MAX:
		alu_imm(c, step, n, NPU_ALU_MAX, imm);
		break;
	case NPU_ALU_ADD:
		alu_imm(c, step, n, NPU_ALU_ADD, imm);
		break;
	case NPU_ALU_MUL:
		alu_imm(c, step, n, NPU_ALU_MUL, imm);
		break;
	default:
		if (imm >= 0)
			alu_imm(c, step, n, NPU_ALU_SHR, imm & 31);
		else
			alu_imm(c, step, n, NPU_ALU_SHR, imm);
		break;
	}
}

void core_alu_reg(struct npu_core *c, const struct core_step *step, u32 n,
		  u32 op)
{
	switch (op) {
	case NPU_ALU_MIN:
		alu_reg(c, step, n, NPU_ALU_MIN);
		break;
	case NPU_ALU_MAX:
		alu_reg(c, step, n, NPU_ALU_MAX);
		break;
	case NPU_ALU_ADD:
		alu_reg(c, step, n, NPU_ALU_ADD);
		break;
	case NPU_ALU_MUL:
		alu_reg(c, step, n, NPU_ALU_MUL);
		break;
	default:
		alu_reg(c, step, n, NPU_ALU_SHR);
		break;
	}
}

void core_vmac(struct npu_core *c, const struct core_step *step, u32 n)
{
	const s8 (*row)[NPU_BLOCK] = c->wgt[0];
	u32 i, o;

	for (i = 0; i < n; i++) {
		const s8 *wgt = row[step[i].wgt];
		const s8 *inp = c->inp[step[i].src];
		s32 *acc = c->acc[step[i].dst];

		for (o = 0; o < NPU_BLOCK; o++)
			acc[o] = (u32)acc[o] + (u32)(inp[o] * wgt[o]);
	}
}

void core_lut(struct npu_core *c, const struct core_step *step, u32 n,
	      const s8 *table)
{
	u32 i, o;

	for (i = 0; i < n; i++) {
		const s32 *src = c->acc[step[i].src];
		s32 *acc = c->acc[step[i].dst];

		for (o = 0; o < NPU_BLOCK; o++)
			acc[o] = table[src[o] & 255];
	}
}

const struct npu_core_kernels *npu_core_kernels_portable(void)
{
	static const struct npu_core_kernels kernels = {
		.name = "portable",
		.pack_slots = 256,
		.gemm = core_gemm,
		.vmac = core_vmac,
		.alu_imm = core_alu_imm,
		.alu_reg = core_alu_reg,
		.requant = core_requant,
		.lut = core_lut,
	};

	return &kernels;
}
