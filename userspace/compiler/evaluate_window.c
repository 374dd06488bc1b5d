// SPDX-License-Identifier: MIT
/* Convolutions, products and pools in float. */
#include "userspace/compiler/evaluate.h"

#include <errno.h>
#include <math.h>
#include <string.h>

/* What the loops of a window need, and the same for the input of one image. */
struct geometry {
	struct npuc_window w;
	int64_t n, c, h, wide, out_h, out_w;
};

static int read_geometry(struct npuc_eval *e, const struct npuc_node *n, int kernel_h, int kernel_w,
			 struct geometry *g)
{
	const struct npuc_tensor *x = npuc_eval_tensor(e, n, 0);
	char shape[128];
	int err;

	if (x->rank != 4)
		return npuc_refuse(&e->p, n, "input %s; 4 dimensions are possible",
				   npuc_shape_text(x, shape, sizeof(shape)));
	*g = (struct geometry){
		.w = { .kernel_h = kernel_h, .kernel_w = kernel_w },
		.n = x->dim[0], .c = x->dim[1], .h = x->dim[2], .wide = x->dim[3],
	};
	err = npuc_read_window(&e->p, n, 2, g->h, g->wide, &g->w);
	if (err)
		return err;
	g->out_h = npuc_window_out(g->h, g->w.kernel_h, g->w.stride_h, g->w.dilation_h,
				   g->w.pad_top + g->w.pad_bottom);
	g->out_w = npuc_window_out(g->wide, g->w.kernel_w, g->w.stride_w, g->w.dilation_w,
				   g->w.pad_left + g->w.pad_right);
	if (!g->out_h || !g->out_w)
		return npuc_refuse(&e->p, n, "the window does not fit into input %s",
				   npuc_shape_text(x, shape, sizeof(shape)));
	return 0;
}

/* out[oy][ox] += tap * x[oy * stride + at], for one tap of the kernel. */
static void add_tap(const struct geometry *g, const float *x, float tap, int ky, int kx, float *out)
{
	for (int64_t oy = 0; oy < g->out_h; oy++) {
		int64_t y = oy * g->w.stride_h + (int64_t)ky * g->w.dilation_h - g->w.pad_top;
		int64_t at = (int64_t)kx * g->w.dilation_w - g->w.pad_left, step = g->w.stride_w;
		int64_t from = at < 0 ? (-at + step - 1) / step : 0;
		int64_t to = g->wide > at ? (g->wide - 1 - at) / step + 1 : 0;
		const float *row = x + y * g->wide + at;

		if (y < 0 || y >= g->h)
			continue;
		if (to > g->out_w)
			to = g->out_w;
		for (int64_t ox = from; ox < to; ox++)
			out[oy * g->out_w + ox] += tap * row[ox * step];
	}
}

static void conv_channel(const struct geometry *g, const float *x, const float *w, int64_t in_c,
			 float bias, float *out)
{
	for (int64_t i = 0; i < g->out_h * g->out_w; i++)
		out[i] = bias;
	for (int64_t c = 0; c < in_c; c++)
		for (int ky = 0; ky < g->w.kernel_h; ky++)
			for (int kx = 0; kx < g->w.kernel_w; kx++)
				add_tap(g, x + c * g->h * g->wide, *w++, ky, kx, out);
}

int npuc_eval_conv(struct npuc_eval *e, const struct npuc_node *n)
{
	const struct npuc_tensor *w = npuc_eval_tensor(e, n, 1), *b = npuc_eval_tensor(e, n, 2);
	int64_t groups = npuc_attr_int(n, "group", 1), in_c, out_c;
	const float *x = npuc_eval_in(e, n, 0), *weight = npuc_eval_in(e, n, 1);
	const float *bias = npuc_eval_in(e, n, 2);
	struct geometry g;
	float *out;
	int err;

	if (!weight || w->rank != 4)
		return npuc_refuse(&e->p, n, "weights must be float32 of 4 dimensions");
	err = read_geometry(e, n, w->dim[2], w->dim[3], &g);
	if (err)
		return err;
	in_c = w->dim[1];
	out_c = w->dim[0];
	if (groups < 1 || g.c != in_c * groups || out_c % groups || g.w.kernel_h != w->dim[2] ||
	    g.w.kernel_w != w->dim[3] || (b && (!bias || npuc_elements(b) != out_c)))
		return npuc_refuse(&e->p, n, "input, weights, bias and group do not agree");
	out = npuc_eval_out(e, n, 4, (int64_t[]){ g.n, out_c, g.out_h, g.out_w });
	if (!out)
		return npuc_eval_oom(e);
	for (int64_t i = 0; i < g.n; i++)
		for (int64_t o = 0; o < out_c; o++)
			conv_channel(&g, x + (i * g.c + o / (out_c / groups) * in_c) * g.h * g.wide,
				     weight + o * in_c * g.w.kernel_h * g.w.kernel_w, in_c,
				     bias ? bias[o] : 0, out + (i * out_c + o) * g.out_h * g.out_w);
	return 0;
}

struct product {
	int64_t m, k, n;
	bool flip_a, flip_b;
	float alpha, beta;
};

static float attr_float(const struct npuc_node *n, const char *name, float def)
{
	const struct npuc_attr *a = npuc_attr(n, name);

	return a && a->kind == NPUC_ATTR_FLOAT ? a->f : def;
}

/* C is a scalar, a row, a column or a whole matrix. */
static float addend(const struct npuc_tensor *c, const float *value, int64_t row, int64_t column)
{
	int64_t columns = c->rank ? c->dim[c->rank - 1] : 1, rows = c->rank > 1 ? c->dim[0] : 1;

	return value[(rows > 1 ? row : 0) * columns + (columns > 1 ? column : 0)];
}

static void multiply(const struct product *p, const float *a, const float *b, float *out)
{
	for (int64_t i = 0; i < p->m; i++) {
		float *row = out + i * p->n;

		memset(row, 0, p->n * sizeof(*row));
		for (int64_t k = 0; k < p->k; k++) {
			float left = p->alpha * (p->flip_a ? a[k * p->m + i] : a[i * p->k + k]);

			for (int64_t j = 0; j < p->n; j++)
				row[j] += left * (p->flip_b ? b[j * p->k + k] : b[k * p->n + j]);
		}
	}
}

int npuc_eval_gemm(struct npuc_eval *e, const struct npuc_node *n)
{
	const struct npuc_tensor *a = npuc_eval_tensor(e, n, 0), *b = npuc_eval_tensor(e, n, 1);
	const struct npuc_tensor *c = npuc_eval_tensor(e, n, 2);
	bool gemm = !strcmp(n->op, "Gemm");
	struct product p = {
		.flip_a = gemm && npuc_attr_int(n, "transA", 0),
		.flip_b = gemm && npuc_attr_int(n, "transB", 0),
		.alpha = attr_float(n, "alpha", 1),
		.beta = attr_float(n, "beta", 1),
	};
	const float *add = npuc_eval_in(e, n, 2);
	float *out;

	if (a->rank != 2 || !b || b->rank != 2 || !npuc_eval_in(e, n, 1) || (c && !add))
		return npuc_refuse(&e->p, n, "matrices of float32 are possible");
	p.m = a->dim[p.flip_a];
	p.k = a->dim[!p.flip_a];
	p.n = b->dim[!p.flip_b];
	if (b->dim[p.flip_b] != p.k ||
	    (c && npuc_elements(c) != 1 && npuc_elements(c) != p.n && npuc_elements(c) != p.m * p.n))
		return npuc_refuse(&e->p, n, "the shapes of the matrices do not agree");
	out = npuc_eval_out(e, n, 2, (int64_t[]){ p.m, p.n });
	if (!out)
		return npuc_eval_oom(e);
	multiply(&p, npuc_eval_in(e, n, 0), npuc_eval_in(e, n, 1), out);
	for (int64_t i = 0; c && i < p.m * p.n; i++)
		out[i] += p.beta * addend(c, add, i / p.n, i % p.n);
	return 0;
}

/* The window's maximum, or the mean over the taps inside, or over all taps. */
static float pool_at(const struct geometry *g, const float *x, int64_t oy, int64_t ox, bool max,
		     bool count_pad)
{
	double sum = 0;
	float best = -INFINITY;
	int count = 0;

	for (int ky = 0; ky < g->w.kernel_h; ky++)
		for (int kx = 0; kx < g->w.kernel_w; kx++) {
			int64_t y = oy * g->w.stride_h + ky * g->w.dilation_h - g->w.pad_top;
			int64_t at = ox * g->w.stride_w + kx * g->w.dilation_w - g->w.pad_left;

			if (y < 0 || y >= g->h || at < 0 || at >= g->wide)
				continue;
			sum += x[y * g->wide + at];
			best = fmaxf(best, x[y * g->wide + at]);
			count++;
		}
	if (max)
		return best;
	return sum / (count_pad ? g->w.kernel_h * g->w.kernel_w : count ? count : 1);
}

int npuc_eval_pool(struct npuc_eval *e, const struct npuc_node *n)
{
	bool max = !strcmp(n->op, "MaxPool");
	const float *x = npuc_eval_in(e, n, 0);
	struct geometry g;
	float *out;
	int err;

	if (!npuc_attr(n, "kernel_shape") || npuc_attr_int(n, "ceil_mode", 0))
		return npuc_refuse(&e->p, n, "wants kernel_shape, and ceil_mode 0");
	err = read_geometry(e, n, 0, 0, &g);
	if (err)
		return err;
	out = npuc_eval_out(e, n, 4, (int64_t[]){ g.n, g.c, g.out_h, g.out_w });
	if (!out)
		return npuc_eval_oom(e);
	for (int64_t i = 0; i < g.n * g.c; i++)
		for (int64_t oy = 0; oy < g.out_h; oy++)
			for (int64_t ox = 0; ox < g.out_w; ox++)
				*out++ = pool_at(&g, x + i * g.h * g.wide, oy, ox, max,
						 npuc_attr_int(n, "count_include_pad", 0));
	return 0;
}

int npuc_eval_global_pool(struct npuc_eval *e, const struct npuc_node *n)
{
	const struct npuc_tensor *x = npuc_eval_tensor(e, n, 0);
	const float *value = npuc_eval_in(e, n, 0);
	int64_t pixels;
	float *out;

	if (x->rank != 4)
		return npuc_refuse(&e->p, n, "an input of 4 dimensions is possible");
	pixels = x->dim[2] * x->dim[3];
	out = npuc_eval_out(e, n, 4, (int64_t[]){ x->dim[0], x->dim[1], 1, 1 });
	if (!out)
		return npuc_eval_oom(e);
	for (int64_t i = 0; i < x->dim[0] * x->dim[1]; i++) {
		double sum = 0;

		for (int64_t k = 0; k < pixels; k++)
			sum += *value++;
		out[i] = sum / pixels;
	}
	return 0;
}
