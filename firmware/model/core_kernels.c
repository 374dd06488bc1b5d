// SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 OR MIT
/* The kernels in portable C. */
#include "firmware/model/core_lanes.h"

static void alu_imm(struct npu_core *c, const u64 *step, u32 n,
		    u32 op, s32 imm)
{
	lanes_alu_imm(c, step, n, op, imm);
}

static void alu_reg(struct npu_core *c, const u64 *step, u32 n,
		    u32 op)
{
	lanes_alu_reg(c, step, n, op);
}

static void vmac(struct npu_core *c, const u64 *step, u32 n)
{
	lanes_vmac(c, step, n);
}

static void lut(struct npu_core *c, const u64 *step, u32 n,
		const s8 *table)
{
	lanes_lut(c, step, n, table);
}

const struct npu_core_kernels *npu_core_kernels_portable(void)
{
	static const struct npu_core_kernels kernels = {
		.name = "portable",
		.pack_slots = 256,
		.gemm = core_gemm,
		.vmac = vmac,
		.alu_imm = alu_imm,
		.alu_reg = alu_reg,
		.requant = core_requant,
		.lut = lut,
	};

	return &kernels;
}
