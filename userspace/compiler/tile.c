// SPDX-License-Identifier: MIT
#include "userspace/compiler/tile.h"

#include <errno.h>
#include <string.h>

#include "npu_isa.h"
#include "npu_regs.h"

#define MAX_TCO	   64	 /* bounds the parameter rows of a piece */
#define MAX_UOPS   2048	 /* of one piece's kernel */
#define MAX_EXTENT 16383 /* of a hardware loop */

/* What a piece costs the compute unit beside its micro-ops: fills, and waits for tokens. */
#define PIECE_OVERHEAD 44
#define PASS_OVERHEAD  24

/* What a LOAD costs the load unit beside its bytes: issue, latency, a token. */
#define LOAD_OVERHEAD 20

static int ceil_div(int a, int b)
{
	return (a + b - 1) / b;
}

/* Groups whose blocks are cut apart from those of others. */
static int groups(const struct npuc_layer *l)
{
	return l->vector ? 1 : l->groups;
}

static int group_out(const struct npuc_layer *l)
{
	return npuc_blocks(l->out_c / groups(l));
}

static int group_in(const struct npuc_layer *l)
{
	return l->conv && !l->vector ? npuc_blocks(l->in_c / l->groups) : 1;
}

struct npuc_blocks npuc_blocks_at(const struct npuc_layer *l, const struct npuc_tiling *c, int co,
				  int ci)
{
	int pieces = c->n_co / groups(l), group = co / pieces, i = co % pieces;
	struct npuc_blocks b;

	b.out0 = group * group_out(l) + i * c->tco;
	b.n_out = npuc_part(group_out(l), c->tco, i);
	b.in0 = l->vector ? b.out0 : group * group_in(l) + ci * c->tci;
	b.n_in = l->vector ? b.n_out : npuc_part(group_in(l), c->tci, ci);
	return b;
}

int npuc_weight_elements(const struct npuc_layer *l, int n_out, int n_in)
{
	int taps = npuc_layer_taps(l);

	return l->vector ? ceil_div(n_out * taps, NPU_BLOCK) : n_out * n_in * taps;
}

int64_t npuc_layer_elements(const struct npuc_layer *l)
{
	return (int64_t)groups(l) * npuc_weight_elements(l, group_out(l), group_in(l));
}

bool npuc_pool_inside(const struct npuc_layer *l)
{
	const struct npuc_window *p = &l->pool;

	return !p->pad_top && !p->pad_left &&
	       npuc_window_out(l->mid_h, p->kernel_h, p->stride_h, p->dilation_h, 0) >= l->out_h &&
	       npuc_window_out(l->mid_w, p->kernel_w, p->stride_w, p->dilation_w, 0) >= l->out_w;
}

enum npuc_pool_mode npuc_pool_mode(const struct npuc_layer *l)
{
	const struct npuc_window *p = &l->pool;

	if (p->kernel_h == 1 && p->kernel_w == 1 && p->stride_h == 1 && p->stride_w == 1 &&
	    !p->pad_top && !p->pad_left && !p->pad_bottom && !p->pad_right)
		return NPUC_POOL_NONE;
	if (l->conv && p->kernel_h == p->stride_h && p->kernel_w == p->stride_w &&
	    p->dilation_h == 1 && p->dilation_w == 1 && npuc_pool_inside(l))
		return NPUC_POOL_PLANES;
	return NPUC_POOL_WINDOWS;
}

int npuc_tile_rows(const struct npuc_layer *l, enum npuc_pool_mode mode,
		   const struct npuc_tile *t)
{
	/* Both operands, and what tables make of them. */
	if (l->binary)
		return (l->binary == NPUC_SUM ? 3 : 2) * t->mh * t->mw;
	return t->mh * t->mw + (mode == NPUC_POOL_WINDOWS ? t->h * t->w : 0);
}

/*
 * Rows (or columns) of the middle that outputs [o0, o0 + n) read, cut to what
 * exists: at least one.
 */
static void pool_range(int o0, int n, int kernel, int stride, int dilation, int pad, int size,
		       int *m0, int *mn)
{
	int from = o0 * stride - pad,
	    to = (o0 + n - 1) * stride - pad + (kernel - 1) * dilation + 1;

	from = from < 0 ? 0 : from;
	from = from < size ? from : size - 1;
	to = to > size ? size : to;
	*m0 = from;
	*mn = to > from ? to - from : 1;
}

void npuc_tile_at(const struct npuc_layer *l, const struct npuc_tiling *c, int ty, int tx,
		  struct npuc_tile *t)
{
	const struct npuc_window *p = &l->pool, *win = &l->window;

	t->y0 = ty * c->th;
	t->x0 = tx * c->tw;
	t->h = l->out_h - t->y0 < c->th ? l->out_h - t->y0 : c->th;
	t->w = l->out_w - t->x0 < c->tw ? l->out_w - t->x0 : c->tw;
	pool_range(t->y0, t->h, p->kernel_h, p->stride_h, p->dilation_h, p->pad_top, l->mid_h,
		   &t->my0, &t->mh);
	pool_range(t->x0, t->w, p->kernel_w, p->stride_w, p->dilation_w, p->pad_left, l->mid_w,
		   &t->mx0, &t->mw);
	t->iy0 = t->my0 * win->stride_h - win->pad_top;
	t->ix0 = t->mx0 * win->stride_w - win->pad_left;
	t->ih = (t->mh - 1) * win->stride_h + (win->kernel_h - 1) * win->dilation_h + 1;
	t->iw = (t->mw - 1) * win->stride_w + (win->kernel_w - 1) * win->dilation_w + 1;
}

/* Micro-ops of the kernel when the two longest of these dimensions are hardware loops. */
static int kernel_uops(const struct npuc_layer *l, const struct npuc_tiling *c,
		       const struct npuc_tile *t)
{
	int dim[] = { c->tco, c->tci, l->parts, l->window.kernel_h, l->window.kernel_w, t->mh,
		      t->mw };
	long n = 1;

	for (int loops = 0; loops < 2; loops++) {
		size_t best = 0;

		for (size_t i = 1; i < sizeof(dim) / sizeof(dim[0]); i++)
			if (dim[i] > dim[best])
				best = i;
		if (dim[best] > MAX_EXTENT)
			return MAX_UOPS + 1;
		dim[best] = 1;
	}
	for (size_t i = 0; i < sizeof(dim) / sizeof(dim[0]); i++) {
		n *= dim[i];
		if (n > MAX_UOPS)
			return MAX_UOPS + 1;
	}
	return n;
}

/*
 * Whether the pieces fit, edges included: the first piece is the largest but
 * for windows cut at the edge, and no piece is larger than the widest.
 */
static bool fits(const struct npuc_layer *l, const struct npuc_tiling *c, int acc_rows,
		 struct npuc_tile *t)
{
	struct npuc_tile inner;
	int wgt;

	npuc_tile_at(l, c, 0, 0, t);
	npuc_tile_at(l, c, c->n_y > 1, c->n_x > 1, &inner);
	if (inner.mh > t->mh) {
		t->mh = inner.mh;
		t->ih = inner.ih;
	}
	if (inner.mw > t->mw) {
		t->mw = inner.mw;
		t->iw = inner.iw;
	}
	if ((long)c->tco * npuc_tile_rows(l, c->mode, t) > acc_rows)
		return false;
	if (!l->conv)
		return true;
	wgt = l->vector ? NPUC_VECTOR_SLOT : NPUC_WGT_SLOT;
	return (long)(l->vector ? c->tco : c->tci) * t->ih * t->iw <= NPUC_INP_SLOT &&
	       npuc_weight_elements(l, c->tco, c->tci) <= wgt && kernel_uops(l, c, t) <= MAX_UOPS;
}

/* Cycles, roughly: the busiest of the three units, and what cannot overlap. */
static double cost(const struct npuc_layer *l, const struct npuc_tiling *c, int images,
		   const struct npuc_tile *t)
{
	const double bytes = NPU_TIMING_MEM_BYTES_PER_CYCLE;
	double taps = npuc_layer_taps(l), elements = npuc_layer_elements(l);
	double places = (double)images * c->n_y * c->n_x, pieces = places * c->n_co;
	double in_tile = LOAD_OVERHEAD +
			 (l->vector ? c->tco : c->tci) *
				 ((double)t->ih * t->iw * NPU_INP_BYTES / bytes + 2 + t->ih);
	bool again = c->n_ci > 1 || c->co_outer || l->vector || l->groups > 1;
	double in_loads = again ? pieces * c->n_ci : places;
	double wgt = elements * NPU_WGT_BYTES / bytes;
	bool resident = elements <= (l->vector ? NPUC_VECTOR_SLOT : NPUC_WGT_SLOT);
	double wgt_loads = resident || (c->co_outer && c->n_ci == 1) ? 1 : places;
	double mid = (double)t->mh * t->mw, out = (double)t->h * t->w;
	double compute, load, store, most;

	compute = pieces * (c->n_ci * (PASS_OVERHEAD + c->tco * c->tci * taps * mid) +
			    c->tco * (mid + out) + PIECE_OVERHEAD);
	load = in_loads * in_tile + wgt_loads * (wgt + LOAD_OVERHEAD * c->n_co * c->n_ci);
	store = pieces * c->tco * (out * NPU_OUT_BYTES / bytes + 2 + t->h);
	if (!l->conv) {
		compute = pieces * c->tco *
			  (mid * 2 + out * 2 * l->pool.kernel_h * l->pool.kernel_w + 40);
		load = 0;
	}
	most = compute > load ? compute : load;
	most = most > store ? most : store;
	return most + in_tile + store / pieces + 0.05 * (load + store);
}

static void counts(const struct npuc_layer *l, struct npuc_tiling *c)
{
	c->n_y = ceil_div(l->out_h, c->th);
	c->n_x = ceil_div(l->out_w, c->tw);
	c->n_co = groups(l) * ceil_div(group_out(l), c->tco);
	c->n_ci = ceil_div(group_in(l), c->tci);
}

struct search {
	const struct npuc_layer *l;
	int images, acc_rows;
	struct npuc_tiling best;
	double best_cost;
};

static void consider(struct search *s, struct npuc_tiling *c)
{
	struct npuc_tile t;
	double k;

	counts(s->l, c);
	if (!fits(s->l, c, s->acc_rows, &t))
		return;
	for (int outer = 0; outer < 2; outer++) {
		c->co_outer = outer;
		k = cost(s->l, c, s->images, &t);
		if (s->best_cost < 0 || k < s->best_cost) {
			s->best_cost = k;
			s->best = *c;
		}
	}
}

/* Sizes worth a try: the whole, and what cuts it into 2, 3, 4, ... equal pieces. */
static int next_size(int whole, int size)
{
	int pieces = ceil_div(whole, size) + 1, next = ceil_div(whole, pieces);

	return next < size ? next : size - 1;
}

static void search_blocks(struct search *s, struct npuc_tiling *c)
{
	int co = group_out(s->l), ci = group_in(s->l);

	for (c->tco = co < MAX_TCO ? co : MAX_TCO; c->tco > 0; c->tco = next_size(co, c->tco))
		for (c->tci = ci; c->tci > 0; c->tci = next_size(ci, c->tci))
			consider(s, c);
}

int npuc_tile_choose(const struct npuc_layer *l, int images, int acc_rows, struct npuc_tiling *out)
{
	struct search s = { .l = l, .images = images, .acc_rows = acc_rows, .best_cost = -1 };
	struct npuc_tiling c = { .mode = npuc_pool_mode(l) };

	for (c.th = l->out_h; c.th > 0; c.th = next_size(l->out_h, c.th))
		for (c.tw = l->out_w; c.tw > 0; c.tw = next_size(l->out_w, c.tw))
			search_blocks(&s, &c);
	if (s.best_cost < 0)
		return -ENOSPC;
	*out = s.best;
	return 0;
}

/* Whether a window can have no tap inside: dilated over padding. */
static bool misses(int size, int out, int kernel, int stride, int dilation, int pad)
{
	for (int o = 0; o < out; o++) {
		int inside = 0;

		for (int k = 0; k < kernel; k++) {
			int at = o * stride - pad + k * dilation;

			inside += at >= 0 && at < size;
		}
		if (!inside)
			return true;
	}
	return false;
}

/* A pool with overlapping windows must see all of the convolution at once. */
bool npuc_pool_fits(const struct npuc_layer *l, const struct npuc_window *pool, int out_h,
		    int out_w)
{
	struct npuc_layer fused = *l;
	struct npuc_tiling c;

	fused.pool = *pool;
	fused.out_h = out_h;
	fused.out_w = out_w;
	if (misses(l->mid_h, out_h, pool->kernel_h, pool->stride_h, pool->dilation_h,
		   pool->pad_top) ||
	    misses(l->mid_w, out_w, pool->kernel_w, pool->stride_w, pool->dilation_w,
		   pool->pad_left))
		return false;
	if (npuc_tile_choose(&fused, 1, (NPU_ACC_DEPTH - 512) / 2, &c))
		return false;
	return c.mode != NPUC_POOL_WINDOWS || (c.n_y == 1 && c.n_x == 1);
}
