// SPDX-License-Identifier: MIT
/* QLinearConv and QLinearMatMul: both become a convolution of the core. */
#include "userspace/compiler/program.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MAX_PAD	   15  /* a LOAD's field */
#define MAX_WINDOW 512 /* taps: half of the weight memory */

/* The quantisation of a node, read from its inputs. */
struct quant {
	float x_scale, y_scale;
	int x_zero, y_zero;
	const struct npuc_tensor *w, *w_scale;
	enum npuc_dtype x_type, y_type;
};

int npuc_window_out(int size, int kernel, int stride, int dilation, int pads)
{
	int span = (kernel - 1) * dilation + 1;

	return size + pads < span ? 0 : (size + pads - span) / stride + 1;
}

static void same_pads(int size, int kernel, int stride, int dilation, bool upper, int *before,
		      int *after)
{
	int out = (size + stride - 1) / stride;
	int total = (out - 1) * stride + (kernel - 1) * dilation + 1 - size;

	if (total < 0)
		total = 0;
	*before = upper ? total / 2 : total - total / 2;
	*after = total - *before;
}

static int auto_pad(struct npuc_program *p, const struct npuc_node *n, int h, int w,
		    struct npuc_window *win)
{
	const struct npuc_attr *a = npuc_attr(n, "auto_pad");
	bool upper;

	if (!a || a->kind != NPUC_ATTR_STRING || !strcmp(a->s, "NOTSET"))
		return 0;
	if (!strcmp(a->s, "VALID")) {
		win->pad_top = win->pad_left = win->pad_bottom = win->pad_right = 0;
		return 0;
	}
	upper = !strcmp(a->s, "SAME_UPPER");
	if (!upper && strcmp(a->s, "SAME_LOWER"))
		return npuc_refuse(p, n, "auto_pad is %s", a->s);
	same_pads(h, win->kernel_h, win->stride_h, win->dilation_h, upper, &win->pad_top,
		  &win->pad_bottom);
	same_pads(w, win->kernel_w, win->stride_w, win->dilation_w, upper, &win->pad_left,
		  &win->pad_right);
	return 0;
}

int npuc_read_window(struct npuc_program *p, const struct npuc_node *n, int h, int w,
		     struct npuc_window *out)
{
	int64_t kernel[2] = { out->kernel_h, out->kernel_w }, stride[2] = { 1, 1 };
	int64_t dilation[2] = { 1, 1 }, pad[4] = { 0 };
	int err;

	err = npuc_attr_ints(n, "kernel_shape", kernel, 2, 1, 4096, p->d);
	if (!err)
		err = npuc_attr_ints(n, "strides", stride, 2, 1, 1024, p->d);
	if (!err)
		err = npuc_attr_ints(n, "dilations", dilation, 2, 1, 1024, p->d);
	if (!err)
		err = npuc_attr_ints(n, "pads", pad, 4, 0, 4096, p->d);
	if (err)
		return err;
	if (out->kernel_h && (kernel[0] != out->kernel_h || kernel[1] != out->kernel_w))
		return npuc_refuse(p, n, "kernel_shape is [%lld,%lld], the weights say [%d,%d]",
				   (long long)kernel[0], (long long)kernel[1], out->kernel_h,
				   out->kernel_w);
	*out = (struct npuc_window){
		kernel[0],   kernel[1], stride[0], stride[1], dilation[0],
		dilation[1], pad[0],	pad[1],	   pad[2],    pad[3],
	};
	return auto_pad(p, n, h, w, out);
}

static int quant_type(struct npuc_program *p, const struct npuc_node *n, size_t index,
		      const char *what, enum npuc_dtype *out)
{
	const struct npuc_tensor *t;
	int err = npuc_const(p, n, index, what, &t);

	if (err)
		return err;
	if (t->dtype != NPUC_I8 && t->dtype != NPUC_U8)
		return npuc_refuse(p, n, "%s is %s, int8 and uint8 are possible", what,
				   npuc_dtype_name(t->dtype));
	*out = t->dtype;
	return 0;
}

/* Inputs 1, 2 (x), 4, 5 (w), 6, 7 (y) are scale and zero point; 3 is w. */
static int read_quant(struct npuc_program *p, const struct npuc_node *n, struct quant *q)
{
	int w_zero = 0, symmetric;
	int err;

	err = npuc_scalar_f32(p, n, 1, "input scale", &q->x_scale);
	if (!err)
		err = quant_type(p, n, 2, "input zero point", &q->x_type);
	if (!err)
		err = npuc_zero_point(p, n, 2, "input zero point", q->x_type, &q->x_zero);
	if (!err)
		err = npuc_const(p, n, 3, "weights", &q->w);
	if (!err)
		err = npuc_const(p, n, 4, "weight scale", &q->w_scale);
	if (!err)
		err = npuc_zero_point(p, n, 5, "weight zero point", q->w->dtype, &w_zero);
	if (!err)
		err = npuc_scalar_f32(p, n, 6, "output scale", &q->y_scale);
	if (!err)
		err = quant_type(p, n, 7, "output zero point", &q->y_type);
	if (!err)
		err = npuc_zero_point(p, n, 7, "output zero point", q->y_type, &q->y_zero);
	if (err)
		return err;
	if (q->w->dtype != NPUC_I8 && q->w->dtype != NPUC_U8)
		return npuc_refuse(p, n, "weights are %s, int8 and uint8 are possible",
				   npuc_dtype_name(q->w->dtype));
	symmetric = q->w->dtype == NPUC_U8 ? 128 : 0;
	if (w_zero != symmetric)
		return npuc_refuse(p, n,
				   "weight zero point is %d; symmetric weights (%d) are possible",
				   w_zero, symmetric);
	if (q->w_scale->dtype != NPUC_F32)
		return npuc_refuse(p, n, "weight scale is %s, want float32",
				   npuc_dtype_name(q->w_scale->dtype));
	return 0;
}

/* The multiplier of a channel, in the steps that ONNX Runtime takes. */
static int make_scales(struct npuc_program *p, const struct npuc_node *n, const struct quant *q,
		       struct npuc_layer *l)
{
	int64_t count = npuc_elements(q->w_scale);
	const float *ws = q->w_scale->data;

	if (count != 1 && count != l->out_c)
		return npuc_refuse(p, n, "weight scale has %lld elements, want 1 or %d",
				   (long long)count, l->out_c);
	l->scale = calloc(l->out_c, sizeof(*l->scale));
	if (!l->scale)
		return npuc_fail(p->d, -ENOMEM, "out of memory");
	for (int o = 0; o < l->out_c; o++) {
		float product = q->x_scale * ws[count == 1 ? 0 : o];
		float s = product / q->y_scale;

		if (!(s >= 0x1p-126f && s < 0x1p31f))
			return npuc_refuse(
				p, n, "channel %d: multiplier %g, want 2^-126 to below 2^31", o, s);
		l->scale[o] = s;
	}
	return 0;
}

/* Stored values are int8; uint8 is stored with bit 7 inverted. */
static int stored(enum npuc_dtype type, int v)
{
	return type == NPUC_U8 ? v - 128 : v;
}

static void set_bounds(struct npuc_layer *l, const struct quant *q)
{
	l->lo = INT8_MIN;
	l->hi = INT8_MAX;
	l->zero_point = stored(q->y_type, q->y_zero);
	l->pad_value = stored(q->x_type, q->x_zero);
}

static int8_t weight_at(const struct npuc_tensor *w, size_t i)
{
	return w->dtype == NPUC_U8 ? (int)((uint8_t *)w->data)[i] - 128 : ((int8_t *)w->data)[i];
}

static int read_bias(struct npuc_program *p, const struct npuc_node *n, struct npuc_layer *l)
{
	const struct npuc_tensor *t;
	int err;

	l->bias = calloc(l->out_c, sizeof(*l->bias));
	if (!l->bias)
		return npuc_fail(p->d, -ENOMEM, "out of memory");
	if (n->n_in < 9 || n->in[8] < 0)
		return 0;
	err = npuc_const(p, n, 8, "bias", &t);
	if (err)
		return err;
	if (t->dtype != NPUC_I32 || npuc_elements(t) != l->out_c)
		return npuc_refuse(p, n, "bias wants %d of int32, has %lld of %s", l->out_c,
				   (long long)npuc_elements(t), npuc_dtype_name(t->dtype));
	memcpy(l->bias, t->data, l->out_c * sizeof(*l->bias));
	return 0;
}

/* sum (x - z) w + b = sum x w + (b - z sum w), all modulo 2^32 */
static void fold_zero_point(struct npuc_layer *l)
{
	size_t taps = (size_t)l->in_c * l->window.kernel_h * l->window.kernel_w;

	for (int o = 0; o < l->out_c; o++) {
		uint32_t sum = 0;

		for (size_t i = 0; i < taps; i++)
			sum += (uint32_t)l->weight[o * taps + i];
		l->bias[o] = (uint32_t)l->bias[o] - (uint32_t)l->pad_value * sum;
	}
}

static int out_value(struct npuc_program *p, const struct npuc_node *n, enum npuc_dtype type,
		     int images, const struct npuc_layer *l)
{
	struct npuc_tensor *t = &p->g->tensor[n->out[0]];
	int v;

	t->dtype = type;
	v = npuc_value_new(p, n->out[0]);
	if (v < 0)
		return v;
	p->value[v].n = images;
	p->value[v].c = l->out_c;
	p->value[v].h = l->out_h;
	p->value[v].w = l->out_w;
	p->value[v].blocked = npuc_scratch(p, (uint64_t)images * npuc_blocks(l->out_c) * l->out_h *
						      l->out_w * 16);
	return v;
}

static int finish_layer(struct npuc_program *p, const struct npuc_node *n, struct npuc_layer *l)
{
	int stage;

	l->pool = (struct npuc_window){ 1, 1, 1, 1, 1, 1, 0, 0, 0, 0 };
	fold_zero_point(l);
	stage = npuc_stage_layer(p, n->name, l);
	if (stage < 0)
		return stage;
	/* The stage owns the arrays now. */
	l->weight = NULL;
	l->bias = NULL;
	l->scale = NULL;
	return npuc_placed(p, n, "npu", stage, l->macs);
}

static void drop_layer(struct npuc_layer *l)
{
	free(l->weight);
	free(l->bias);
	free(l->scale);
}

/* A grouped convolution is a dense one with zeros between the groups. */
static int conv_weights(struct npuc_program *p, struct npuc_layer *l, const struct npuc_tensor *w,
			int groups)
{
	size_t window = (size_t)l->window.kernel_h * l->window.kernel_w;
	int in_g = l->in_c / groups, out_g = l->out_c / groups;

	l->weight = calloc((size_t)l->out_c * l->in_c, window);
	if (!l->weight)
		return npuc_fail(p->d, -ENOMEM, "out of memory");
	for (int o = 0; o < l->out_c; o++)
		for (int i = 0; i < in_g; i++)
			for (size_t k = 0; k < window; k++)
				l->weight[((size_t)o * l->in_c + o / out_g * in_g + i) * window +
					  k] = weight_at(w, ((size_t)o * in_g + i) * window + k);
	return 0;
}

static int conv_shape(struct npuc_program *p, const struct npuc_node *n,
		      const struct npuc_tensor *x, const struct quant *q, struct npuc_layer *l,
		      int *groups)
{
	const struct npuc_tensor *w = q->w;
	struct npuc_window *win = &l->window;
	char xs[128], ws[128];
	int err;

	*groups = npuc_attr_int(n, "group", 1);
	if (x->rank != 4 || w->rank != 4)
		return npuc_refuse(p, n, "input %s and weights %s; 4 dimensions are possible",
				   npuc_shape_text(x, xs, sizeof(xs)),
				   npuc_shape_text(w, ws, sizeof(ws)));
	if (*groups < 1 || x->dim[1] != w->dim[1] * *groups || w->dim[0] % *groups)
		return npuc_refuse(p, n, "input %s, weights %s and group %d do not agree",
				   npuc_shape_text(x, xs, sizeof(xs)),
				   npuc_shape_text(w, ws, sizeof(ws)), *groups);
	l->in_c = x->dim[1];
	l->in_h = x->dim[2];
	l->in_w = x->dim[3];
	l->out_c = w->dim[0];
	win->kernel_h = w->dim[2];
	win->kernel_w = w->dim[3];
	err = npuc_read_window(p, n, l->in_h, l->in_w, win);
	if (err)
		return err;
	if (win->pad_top > MAX_PAD || win->pad_left > MAX_PAD || win->pad_bottom > MAX_PAD ||
	    win->pad_right > MAX_PAD)
		return npuc_refuse(p, n, "pads [%d,%d,%d,%d]; at most %d is possible", win->pad_top,
				   win->pad_left, win->pad_bottom, win->pad_right, MAX_PAD);
	if (win->kernel_h * win->kernel_w > MAX_WINDOW)
		return npuc_refuse(p, n, "a window of %d x %d; at most %d taps are possible",
				   win->kernel_h, win->kernel_w, MAX_WINDOW);
	l->mid_h = l->out_h = npuc_window_out(l->in_h, win->kernel_h, win->stride_h,
					      win->dilation_h, win->pad_top + win->pad_bottom);
	l->mid_w = l->out_w = npuc_window_out(l->in_w, win->kernel_w, win->stride_w,
					      win->dilation_w, win->pad_left + win->pad_right);
	if (!l->out_h || !l->out_w)
		return npuc_refuse(p, n, "the window does not fit into input %s",
				   npuc_shape_text(x, xs, sizeof(xs)));
	return 0;
}

static void set_shape(struct npuc_tensor *t, int rank, const int64_t *dim)
{
	t->rank = rank;
	memcpy(t->dim, dim, rank * sizeof(*dim));
}

static int check_input(struct npuc_program *p, const struct npuc_node *n,
		       const struct npuc_tensor *x, const struct quant *q)
{
	if (x->dtype != q->x_type)
		return npuc_refuse(p, n, "input is %s, its zero point %s",
				   npuc_dtype_name(x->dtype), npuc_dtype_name(q->x_type));
	return 0;
}

/* A layer over patches is a product: each window is a pixel, each tap a channel. */
static void over_patches(struct npuc_layer *l)
{
	l->in_c *= l->window.kernel_h * l->window.kernel_w;
	l->in_h = l->out_h;
	l->in_w = l->out_w;
	l->window = (struct npuc_window){ 1, 1, 1, 1, 1, 1, 0, 0, 0, 0 };
}

static int conv_input(struct npuc_program *p, const struct npuc_node *n, struct npuc_layer *l,
		      int images)
{
	int value = npuc_value_of(p, n->in[0]);

	if (value < 0)
		return value;
	l->in = npuc_patches(p, value, l, images);
	if (l->in >= 0)
		over_patches(l);
	else if (l->in == -ENOENT)
		l->in = npuc_blocked(p, value, images, l->in_c, l->in_h, l->in_w);
	return l->in < 0 ? l->in : 0;
}

static int lower_conv(struct npuc_program *p, const struct npuc_node *n, struct npuc_layer *l)
{
	const struct npuc_tensor *x = &p->g->tensor[n->in[0]];
	struct quant q = { 0 };
	int err, groups;

	err = read_quant(p, n, &q);
	if (!err)
		err = check_input(p, n, x, &q);
	if (!err)
		err = conv_shape(p, n, x, &q, l, &groups);
	if (!err)
		err = make_scales(p, n, &q, l);
	if (!err)
		err = read_bias(p, n, l);
	if (!err)
		err = conv_weights(p, l, q.w, groups);
	if (err)
		return err;
	set_bounds(l, &q);
	l->macs = (uint64_t)x->dim[0] * l->out_c * l->mid_h * l->mid_w * (l->in_c / groups) *
		  l->window.kernel_h * l->window.kernel_w;
	err = conv_input(p, n, l, x->dim[0]);
	if (err)
		return err;
	set_shape(&p->g->tensor[n->out[0]], 4,
		  (int64_t[]){ x->dim[0], l->out_c, l->out_h, l->out_w });
	l->out = out_value(p, n, q.y_type, x->dim[0], l);
	return l->out < 0 ? l->out : finish_layer(p, n, l);
}

int npuc_lower_conv(struct npuc_program *p, const struct npuc_node *n)
{
	struct npuc_layer l = { .conv = true };
	int err = lower_conv(p, n, &l);

	drop_layer(&l);
	return err;
}

/*
 * The rows of B are permuted to the order in which the blocked form of @v
 * holds the values of one image: block, row, column, lane.
 */
static int matmul_weights(struct npuc_program *p, struct npuc_layer *l, const struct npuc_tensor *b,
			  const struct npuc_value *v)
{
	int columns = l->out_c;

	l->in_c = npuc_blocks(v->c) * v->h * v->w * 16;
	l->weight = calloc((size_t)columns, l->in_c);
	if (!l->weight)
		return npuc_fail(p->d, -ENOMEM, "out of memory");
	for (int c = 0; c < v->c; c++)
		for (int i = 0; i < v->h * v->w; i++)
			for (int o = 0; o < columns; o++)
				l->weight[(size_t)o * l->in_c + (c / 16 * v->h * v->w + i) * 16 +
					  c % 16] =
					weight_at(b, ((size_t)c * v->h * v->w + i) * columns + o);
	return 0;
}

/* The value whose blocked form A is: a flattened image, or rows of K channels. */
static int matmul_input(struct npuc_program *p, const struct npuc_node *n, int rows, int k)
{
	int v = npuc_value_of(p, n->in[0]), r = v;
	const struct npuc_value *root;

	if (v < 0)
		return v;
	while (p->value[r].alias >= 0)
		r = p->value[r].alias;
	root = &p->value[r];
	if (root->blocked.space && root->n == rows && root->c * root->h * root->w == k)
		return r;
	return npuc_blocked(p, v, rows, k, 1, 1);
}

static int lower_matmul(struct npuc_program *p, const struct npuc_node *n, struct npuc_layer *l)
{
	const struct npuc_tensor *a = &p->g->tensor[n->in[0]];
	struct quant q = { 0 };
	char as[128], bs[128];
	int err;

	err = read_quant(p, n, &q);
	if (!err)
		err = check_input(p, n, a, &q);
	if (err)
		return err;
	if (a->rank != 2 || q.w->rank != 2 || a->dim[1] != q.w->dim[0])
		return npuc_refuse(p, n, "A is %s and B %s; [m,k] and [k,n] are possible",
				   npuc_shape_text(a, as, sizeof(as)),
				   npuc_shape_text(q.w, bs, sizeof(bs)));
	l->out_c = q.w->dim[1];
	l->in_h = l->in_w = l->mid_h = l->mid_w = l->out_h = l->out_w = 1;
	l->window = (struct npuc_window){ 1, 1, 1, 1, 1, 1, 0, 0, 0, 0 };
	l->macs = (uint64_t)a->dim[0] * a->dim[1] * l->out_c;
	err = make_scales(p, n, &q, l);
	if (err)
		return err;
	l->bias = calloc(l->out_c, sizeof(*l->bias));
	if (!l->bias)
		return npuc_fail(p->d, -ENOMEM, "out of memory");
	set_bounds(l, &q);
	l->in = matmul_input(p, n, a->dim[0], a->dim[1]);
	if (l->in < 0)
		return l->in;
	err = matmul_weights(p, l, q.w, &p->value[l->in]);
	if (err)
		return err;
	set_shape(&p->g->tensor[n->out[0]], 2, (int64_t[]){ a->dim[0], l->out_c });
	l->out = out_value(p, n, q.y_type, a->dim[0], l);
	return l->out < 0 ? l->out : finish_layer(p, n, l);
}

int npuc_lower_matmul(struct npuc_program *p, const struct npuc_node *n)
{
	struct npuc_layer l = { .conv = true };
	int err = lower_matmul(p, n, &l);

	drop_layer(&l);
	return err;
}
