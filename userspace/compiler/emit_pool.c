// SPDX-License-Identifier: MIT
/* Maximum over windows, in the accumulators. */
#include "userspace/compiler/emit.h"

#include <errno.h>

#include "npu_isa.h"

static int alu(struct npuc_emitter *e, int kernel, unsigned int op, const int *after)
{
	struct npuc_op o = { .kind = NPUC_OP_ALU, .kernel = kernel, .alu_op = op };

	return kernel < 0 ? kernel : npuc_emit_op(e, &o, after, after ? 1 : 0);
}

static int alu_imm(struct npuc_emitter *e, int kernel, unsigned int op, int value)
{
	struct npuc_op o = {
		.kind = NPUC_OP_ALU_IMM, .kernel = kernel, .alu_op = op, .value = value
	};

	return kernel < 0 ? kernel : npuc_emit_op(e, &o, NULL, 0);
}

/* Windows that do not overlap: plane 0 takes the maximum of all planes. */
static int pool_planes(struct npuc_emitter *e, const struct npuc_layer *l,
		       const struct npuc_tile *t, int tco, int src, int after)
{
	int planes = l->pool.kernel_h * l->pool.kernel_w, plane = t->h * t->w;
	struct npuc_dim dim[] = {
		{ tco, planes * plane, planes * plane, 0 },
		{ plane, 1, 1, 0 },
		{ planes - 1, 0, plane, 0 },
	};

	return alu(e, npuc_kernel(e, dim, 3, src, src + plane, 0), NPU_ALU_MAX, &after);
}

/*
 * What the maximum begins with. Stored values have 8 bits, and a window that
 * meets none of them gives the least; sums have 32, of which the least is 1
 * shifted to the top.
 */
static int fill_least(struct npuc_emitter *e, const struct npuc_layer *l, int dst, int rows,
		      int after)
{
	struct npuc_dim dim = { rows, 1, 1, 0 };
	int kernel = npuc_kernel(e, &dim, 1, dst, dst, 0), err;
	struct npuc_op reset = { .kind = NPUC_OP_RESET, .kernel = kernel };

	if (kernel < 0)
		return kernel;
	err = npuc_emit_op(e, &reset, &after, 1);
	if (err < 0 || !l->conv)
		return err < 0 ? err : alu_imm(e, kernel, NPU_ALU_ADD, INT8_MIN);
	err = alu_imm(e, kernel, NPU_ALU_ADD, 1);
	return err < 0 ? err : alu_imm(e, kernel, NPU_ALU_SHR, -31);
}

/* Outputs of [o0, o0 + n) whose tap at @tap lies inside [0, size). */
static void tap_range(int o0, int n, int tap, int stride, int pad, int size, int *first, int *count)
{
	int from = o0, to = o0 + n;

	while (from < to && from * stride - pad + tap < 0)
		from++;
	while (to > from && (to - 1) * stride - pad + tap >= size)
		to--;
	*first = from;
	*count = to - from;
}

static int pool_tap(struct npuc_emitter *e, const struct npuc_layer *l, const struct npuc_tile *t,
		    int tco, int src, int dst, int ky, int kx)
{
	const struct npuc_window *p = &l->pool;
	int y, ny, x, nx, dy = ky * p->dilation_h, dx = kx * p->dilation_w;

	tap_range(t->y0, t->h, dy, p->stride_h, p->pad_top, l->mid_h, &y, &ny);
	tap_range(t->x0, t->w, dx, p->stride_w, p->pad_left, l->mid_w, &x, &nx);
	if (!ny || !nx)
		return 0;
	struct npuc_dim dim[] = {
		{ tco, t->h * t->w, t->mh * t->mw, 0 },
		{ ny, t->w, p->stride_h * t->mw, 0 },
		{ nx, 1, p->stride_w, 0 },
	};

	dst += (y - t->y0) * t->w + x - t->x0;
	src += (y * p->stride_h - p->pad_top + dy - t->my0) * t->mw + x * p->stride_w -
	       p->pad_left + dx - t->mx0;
	return alu(e, npuc_kernel(e, dim, 3, dst, src, 0), NPU_ALU_MAX, NULL);
}

/* No window leaves the middle: all taps are micro-ops of one instruction. */
static int pool_whole(struct npuc_emitter *e, const struct npuc_layer *l, const struct npuc_tile *t,
		      int tco, int src, int dst)
{
	const struct npuc_window *p = &l->pool;
	struct npuc_dim dim[] = {
		{ tco, t->h * t->w, t->mh * t->mw, 0 },
		{ t->h, t->w, p->stride_h * t->mw, 0 },
		{ t->w, 1, p->stride_w, 0 },
		{ p->kernel_h, 0, p->dilation_h * t->mw, 0 },
		{ p->kernel_w, 0, p->dilation_w, 0 },
	};

	return alu(e, npuc_kernel(e, dim, 5, dst, src, 0), NPU_ALU_MAX, NULL);
}

int npuc_emit_pool(struct npuc_emitter *e, const struct npuc_layer *l, enum npuc_pool_mode mode,
		   const struct npuc_tile *t, int tco, int src, int dst, int after)
{
	int err;

	if (mode == NPUC_POOL_PLANES)
		return pool_planes(e, l, t, tco, src, after);
	err = fill_least(e, l, dst, tco * t->h * t->w, after);
	if (err >= 0 && npuc_pool_inside(l))
		return pool_whole(e, l, t, tco, src, dst);
	for (int ky = 0; ky < l->pool.kernel_h && err >= 0; ky++)
		for (int kx = 0; kx < l->pool.kernel_w && err >= 0; kx++)
			err = pool_tap(e, l, t, tco, src, dst, ky, kx);
	return err;
}
