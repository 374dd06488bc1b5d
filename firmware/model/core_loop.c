// SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 OR MIT
/*
 * Instructions over micro-ops: their checks, and their loops in pieces. A
 * piece is a list of indices that the kernels go through.
 */
#include "firmware/model/core_internal.h"

CORE_DECODER(gemm, GEMM)
CORE_DECODER(alu, ALU)
CORE_DECODER(vmac, VMAC)
CORE_DECODER(lut, LUT)

/* Rows of ACC that the source of a REQUANT names. */
#define REQUANT_ROWS 3

#define WGT_ROWS (NPU_WGT_DEPTH * NPU_WGT_BYTES / NPU_WGT_ROW_BYTES)

struct ext_format {
	u64 feature;
	u64 valid[2];		/* bits that a field names */
};

#define EXT_FORMAT(name) \
	[NPU_EXT_##name] = { NPU_HW_FEATURE_##name, \
		{ NPU_FMT_##name##_VALID_LO, NPU_FMT_##name##_VALID_HI } }

bool core_ext_valid(const struct npu_core *c, const struct core_insn *insn)
{
	static const struct ext_format format[16] = {
		EXT_FORMAT(YIELD),
		EXT_FORMAT(PAD_VALUE),
		EXT_FORMAT(REQUANT),
		EXT_FORMAT(VMAC),
		EXT_FORMAT(LUT),
	};
	const struct ext_format *f = &format[core_ext_op(insn)];

	return c->features & f->feature && !(insn->word[0] & ~f->valid[0]) &&
	       !(insn->word[1] & ~f->valid[1]);
}

static void loop_index(struct core_index *x, u32 factor_out, u32 factor_in,
		       u32 depth)
{
	x->factor_out = factor_out;
	x->factor_in = factor_in;
	x->depth = depth;
}

/* The part that all formats share has the same place in each. */
static void loop_common(struct core_loop *l, const struct core_insn *insn)
{
	struct core_lut_fields f;

	core_decode_lut(&f, insn);
	l->uop_bgn = f.uop_bgn;
	l->uop_end = f.uop_end;
	l->iter_out = f.iter_out;
	l->iter_in = f.iter_in;
	l->outer = 0;
	l->inner = 0;
	l->uop = f.uop_bgn;
	l->macs = 0;
	l->table = f.table;
	loop_index(&l->dst, f.dst_factor_out, f.dst_factor_in, NPU_ACC_DEPTH);
	loop_index(&l->src, f.src_factor_out, f.src_factor_in, NPU_ACC_DEPTH);
	loop_index(&l->wgt, 0, 0, 0);
}

static void loop_gemm(struct core_loop *l, const struct core_insn *insn)
{
	struct core_gemm_fields f;

	core_decode_gemm(&f, insn);
	l->op = f.reset ? LOOP_RESET : LOOP_GEMM;
	l->uop_cycles = NPU_TIMING_GEMM_UOP;
	l->src.depth = f.reset ? 0 : NPU_INP_DEPTH;
	if (f.reset)
		return;
	l->macs = NPU_BLOCK * NPU_BLOCK;
	loop_index(&l->wgt, f.wgt_factor_out, f.wgt_factor_in, NPU_WGT_DEPTH);
}

static void loop_vmac(struct core_loop *l, const struct core_insn *insn)
{
	struct core_vmac_fields f;

	core_decode_vmac(&f, insn);
	l->op = f.reset ? LOOP_RESET : LOOP_VMAC;
	l->uop_cycles = NPU_TIMING_VMAC_UOP;
	l->src.depth = f.reset ? 0 : NPU_INP_DEPTH;
	if (f.reset)
		return;
	l->macs = NPU_BLOCK;
	loop_index(&l->wgt, f.wgt_factor_out, f.wgt_factor_in, WGT_ROWS);
}

static bool loop_alu(struct core_loop *l, const struct core_insn *insn)
{
	struct core_alu_fields f;

	core_decode_alu(&f, insn);
	l->op = LOOP_ALU;
	l->alu_op = f.alu_op;
	l->use_imm = f.use_imm;
	l->imm = f.imm;
	l->uop_cycles = f.use_imm ? NPU_TIMING_ALU_IMM_UOP :
				    NPU_TIMING_ALU_REG_UOP;
	if (f.use_imm)
		l->src.depth = 0;
	return f.alu_op <= NPU_ALU_MUL;
}

static void loop_ext(struct core_loop *l, const struct core_insn *insn)
{
	switch (core_ext_op(insn)) {
	case NPU_EXT_REQUANT:
		l->op = LOOP_REQUANT;
		l->uop_cycles = NPU_TIMING_REQUANT_UOP;
		break;
	case NPU_EXT_VMAC:
		loop_vmac(l, insn);
		break;
	default:
		l->op = LOOP_LUT;
		l->uop_cycles = NPU_TIMING_LUT_UOP;
		break;
	}
}

/* Decodes; returns the cycles before the first micro-op, 0 if illegal. */
static u32 loop_decode(struct core_loop *l, const struct core_insn *insn)
{
	loop_common(l, insn);
	switch (core_opcode(insn)) {
	case NPU_OP_GEMM:
		loop_gemm(l, insn);
		return NPU_TIMING_GEMM_FILL;
	case NPU_OP_ALU:
		return loop_alu(l, insn) ? NPU_TIMING_ALU_FILL : 0;
	default:
		loop_ext(l, insn);
		return NPU_TIMING_EXT_FILL;
	}
}

struct uop_range {
	u32 low;
	u32 high;
};

static void range_add(struct uop_range *r, u32 value)
{
	if (value < r->low)
		r->low = value;
	if (value > r->high)
		r->high = value;
}

/* All that @x reaches; the loops are independent, so the bounds are exact. */
static void range_extend(const struct core_loop *l, const struct core_index *x,
			 struct uop_range *r)
{
	r->high += (l->iter_out - 1) * x->factor_out +
		   (l->iter_in - 1) * x->factor_in;
}

static bool range_inside(const struct core_index *x, const struct uop_range *r)
{
	return !x->depth || r->high < x->depth;
}

/* Opens what the instruction may read; where a range leaves it, up to there. */
static void range_open(struct npu_core *c, u8 sram, u32 shift,
		       const struct core_index *x, const struct uop_range *r)
{
	u32 high = r->high < x->depth ? r->high : x->depth - 1;

	if (x->depth && r->low <= high)
		core_sram_open(c, sram, r->low >> shift, high >> shift);
}

static void loop_survey(struct npu_core *c, struct core_loop *l)
{
	struct uop_range dst = { ~0u, 0 }, src = { ~0u, 0 }, wgt = { ~0u, 0 };
	bool inp = l->op == LOOP_GEMM || l->op == LOOP_VMAC;
	u32 u;

	core_sram_open(c, CORE_UOP, l->uop_bgn, l->uop_end - 1);
	for (u = l->uop_bgn; u < l->uop_end; u++) {
		range_add(&dst, step_dst(c->uop[u]));
		range_add(&src, step_src(c->uop[u]));
		range_add(&wgt, step_wgt(c->uop[u]));
	}
	range_extend(l, &l->dst, &dst);
	range_extend(l, &l->src, &src);
	range_extend(l, &l->wgt, &wgt);
	if (l->op == LOOP_REQUANT)
		src.high += REQUANT_ROWS - 1;
	l->factor_out = core_step(l->dst.factor_out, l->src.factor_out,
				  l->wgt.factor_out);
	l->factor_in = core_step(l->dst.factor_in, l->src.factor_in,
				 l->wgt.factor_in);
	l->inside = range_inside(&l->dst, &dst) &&
		    range_inside(&l->src, &src) && range_inside(&l->wgt, &wgt);
	range_open(c, CORE_ACC, 0, &l->dst, &dst);
	range_open(c, inp ? CORE_INP : CORE_ACC, 0, &l->src, &src);
	range_open(c, CORE_WGT, l->op == LOOP_VMAC ? 4 : 0, &l->wgt, &wgt);
}

void core_loop_begin(struct npu_core *c, struct core_unit *u)
{
	struct core_loop *l = &c->loop;
	u32 fill = loop_decode(l, &u->insn);

	if (!fill) {
		core_unit_fault(c, u, NPU_FAULT_ILLEGAL, NPU_ACCESS_READ, 0);
		return;
	}
	if (l->uop_end > NPU_UOP_DEPTH) {
		core_unit_fault(c, u, NPU_FAULT_SRAM, NPU_ACCESS_READ,
				l->uop_end);
		return;
	}
	if (l->uop_end <= l->uop_bgn || !l->iter_out || !l->iter_in) {
		core_unit_after(c, u, PHASE_COMPLETE, fill);
		return;
	}
	loop_survey(c, l);
	core_unit_after(c, u, PHASE_PIECE, fill);
}

static u32 index_base(const struct core_loop *l, const struct core_index *x)
{
	return l->outer * x->factor_out + l->inner * x->factor_in;
}

/* Goes on by @n micro-ops within the current run over the micro-op memory. */
static void loop_step(struct core_loop *l, u32 n)
{
	l->uop += n;
	if (l->uop < l->uop_end)
		return;
	l->uop = l->uop_bgn;
	if (++l->inner < l->iter_in)
		return;
	l->inner = 0;
	l->outer++;
}

/* Lists micro-ops of one iteration, at most @max; returns their number. */
static u32 list_uops(const struct npu_core *c, struct core_loop *l, u64 *step,
		     u32 max)
{
	u64 base = l->outer * l->factor_out + l->inner * l->factor_in;
	const u64 *uop = &c->uop[l->uop];
	u32 n = l->uop_end - l->uop;
	u32 i;

	if (n > max)
		n = max;
	for (i = 0; i < n; i++)
		step[i] = base + uop[i];
	loop_step(l, n);
	return n;
}

/* The same over inner iterations, where there is but one micro-op. */
static u32 list_inner(const struct npu_core *c, struct core_loop *l, u64 *step,
		      u32 max)
{
	u64 base = l->outer * l->factor_out + l->inner * l->factor_in +
		   c->uop[l->uop];
	u32 n = l->iter_in - l->inner;
	u32 i;

	if (n > max)
		n = max;
	for (i = 0; i < n; i++)
		step[i] = base + i * l->factor_in;
	l->inner += n - 1;
	loop_step(l, 1);
	return n;
}

static u32 loop_list(struct npu_core *c, struct core_loop *l)
{
	bool one = l->uop_end == l->uop_bgn + 1;
	u32 n = 0;

	while (n < CORE_PIECE && l->outer < l->iter_out) {
		u32 max = CORE_PIECE - n;

		n += one ? list_inner(c, l, &c->step[n], max) :
			   list_uops(c, l, &c->step[n], max);
	}
	return n;
}

/* Whether @rows from the index on leave the SRAM. */
static bool index_outside(const struct core_loop *l, const struct core_index *x,
			  u32 field, u32 rows, u32 *index)
{
	*index = field + index_base(l, x);
	return x->depth && *index + rows > x->depth;
}

/* The index at which the next micro-op leaves the SRAM, if it does. */
static bool loop_outside(const struct npu_core *c, const struct core_loop *l,
			 u32 *index)
{
	u64 uop = c->uop[l->uop];
	u32 rows = l->op == LOOP_REQUANT ? REQUANT_ROWS : 1;

	return index_outside(l, &l->dst, step_dst(uop), 1, index) ||
	       index_outside(l, &l->src, step_src(uop), rows, index) ||
	       index_outside(l, &l->wgt, step_wgt(uop), 1, index);
}

/* As loop_list(), up to the first micro-op that leaves the SRAM. */
static u32 loop_list_checked(struct npu_core *c, struct core_loop *l,
			     u32 *outside)
{
	u32 n = 0;

	while (n < CORE_PIECE && l->outer < l->iter_out) {
		u64 uop = c->uop[l->uop];

		if (loop_outside(c, l, outside))
			break;
		c->step[n++] = uop + l->outer * l->factor_out +
			       l->inner * l->factor_in;
		loop_step(l, 1);
	}
	return n;
}

static void loop_reset(struct npu_core *c, u32 n)
{
	u32 i;

	for (i = 0; i < n; i++)
		memset(c->acc[step_dst(c->step[i])], 0, NPU_ACC_BYTES);
}

static void loop_lut(struct npu_core *c, const struct core_loop *l, u32 n)
{
	core_sram_open(c, CORE_WGT, l->table, l->table);
	c->kernels->lut(c, c->step, n, c->wgt[l->table][0]);
}

static void loop_execute(struct npu_core *c, const struct core_loop *l, u32 n)
{
	const struct npu_core_kernels *k = c->kernels;

	switch (l->op) {
	case LOOP_GEMM:
		k->gemm(c, c->step, n);
		break;
	case LOOP_RESET:
		loop_reset(c, n);
		break;
	case LOOP_ALU:
		if (l->use_imm)
			k->alu_imm(c, c->step, n, l->alu_op, l->imm);
		else
			k->alu_reg(c, c->step, n, l->alu_op);
		break;
	case LOOP_REQUANT:
		k->requant(c, c->step, n);
		break;
	case LOOP_VMAC:
		k->vmac(c, c->step, n);
		break;
	case LOOP_LUT:
		loop_lut(c, l, n);
		break;
	}
}

void core_loop_piece(struct npu_core *c, struct core_unit *u)
{
	struct core_loop *l = &c->loop;
	u32 outside = 0;
	u32 n;

	n = l->inside ? loop_list(c, l) : loop_list_checked(c, l, &outside);
	if (!n) {
		core_unit_fault(c, u, NPU_FAULT_SRAM, NPU_ACCESS_READ, outside);
		return;
	}
	loop_execute(c, l, n);
	c->report.job.macs += (u64)n * l->macs;
	core_unit_after(c, u, l->outer < l->iter_out ? PHASE_PIECE :
						       PHASE_COMPLETE,
			(u64)n * l->uop_cycles);
}
