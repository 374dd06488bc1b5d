// SPDX-License-Identifier: MIT
/* QLinearConv. */
#include "userspace/compiler/quant.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "npu_regs.h"

#define MAX_PAD	   15  /* a LOAD's field */
#define MAX_WINDOW 512 /* taps: half of the weight memory */

/* A VMAC's loops step over at most that many rows. */
#define MAX_VECTOR_TAPS 255

int npuc_window_out(int size, int kernel, int stride, int dilation, int pads)
{
	int span = (kernel - 1) * dilation + 1;

	return size + pads < span ? 0 : (size + pads - span) / stride + 1;
}

struct same_pads {
	bool upper, conv;
};

static void same_pads(const struct same_pads *s, int size, int kernel, int stride, int dilation,
		      int *before, int *after)
{
	int out = (size + stride - 1) / stride;
	int total = (out - 1) * stride + (kernel - 1) * dilation + 1 - size;

	if (total < 0 && s->conv)
		total = 0;
	*before = (s->upper ? total : total + 1) / 2;
	*after = total - *before;
}

static int auto_pad(struct npuc_program *p, const struct npuc_node *n, int h, int w,
		    struct npuc_window *win)
{
	const struct npuc_attr *a = npuc_attr(n, "auto_pad");
	struct same_pads s = { .conv = strstr(n->op, "Conv") };

	if (!a || a->kind != NPUC_ATTR_STRING || !strcmp(a->s, "NOTSET"))
		return 0;
	if (!strcmp(a->s, "VALID")) {
		win->pad_top = win->pad_left = win->pad_bottom = win->pad_right = 0;
		return 0;
	}
	s.upper = !strcmp(a->s, "SAME_UPPER");
	if (!s.upper && strcmp(a->s, "SAME_LOWER"))
		return npuc_refuse(p, n, "auto_pad is %s", a->s);
	same_pads(&s, h, win->kernel_h, win->stride_h, win->dilation_h, &win->pad_top,
		  &win->pad_bottom);
	same_pads(&s, w, win->kernel_w, win->stride_w, win->dilation_w, &win->pad_left,
		  &win->pad_right);
	return 0;
}

/* Ints along one or two axes; a single axis is the columns. */
static int read_pair(const struct npuc_node *n, const char *name, int axes, int64_t most,
		     int64_t out[2], struct npuc_diag *d)
{
	return npuc_attr_ints(n, name, out + 2 - axes, axes, 1, most, d);
}

static int read_pads(const struct npuc_node *n, int axes, int64_t out[4], struct npuc_diag *d)
{
	int64_t pad[4] = { 0 };
	int err = npuc_attr_ints(n, "pads", pad, 2 * axes, 0, 4096, d);

	for (int i = 0; i < axes; i++) {
		out[2 - axes + i] = pad[i];
		out[4 - axes + i] = pad[axes + i];
	}
	return err;
}

int npuc_read_window(struct npuc_program *p, const struct npuc_node *n, int axes, int h, int w,
		     struct npuc_window *out)
{
	int64_t kernel[2] = { out->kernel_h, out->kernel_w }, stride[2] = { 1, 1 };
	int64_t dilation[2] = { 1, 1 }, pad[4] = { 0 };
	int err;

	err = read_pair(n, "kernel_shape", axes, 4096, kernel, p->d);
	if (!err)
		err = read_pair(n, "strides", axes, 1024, stride, p->d);
	if (!err)
		err = read_pair(n, "dilations", axes, 1024, dilation, p->d);
	if (!err)
		err = read_pads(n, axes, pad, p->d);
	if (err)
		return err;
	if (out->kernel_w && (kernel[0] != out->kernel_h || kernel[1] != out->kernel_w))
		return npuc_refuse(p, n, "kernel_shape is [%lld,%lld], the weights say [%d,%d]",
				   (long long)kernel[0], (long long)kernel[1], out->kernel_h,
				   out->kernel_w);
	*out = (struct npuc_window){
		kernel[0],   kernel[1], stride[0], stride[1], dilation[0],
		dilation[1], pad[0],	pad[1],	   pad[2],    pad[3],
	};
	return auto_pad(p, n, h, w, out);
}

/*
 * How many groups of the operator become one of the core, whose groups are whole
 * blocks: the fewest that fill blocks, or all of them.
 */
static int groups_together(int groups, int in_g, int out_g)
{
	for (int f = 1; f < groups; f++)
		if (groups % f == 0 && f * in_g % 16 == 0 && f * out_g % 16 == 0)
			return f;
	return groups;
}

/* A channel at a time takes one operation for 16 of them, where the core has it. */
static bool is_vector(const struct npuc_program *p, const struct npuc_layer *l, int groups)
{
	return p->features & NPU_HW_FEATURE_VMAC && groups > 1 && groups == l->in_c &&
	       groups == l->out_c && npuc_layer_taps(l) <= MAX_VECTOR_TAPS;
}

/* Groups that the core does as one have zeros between them. */
static int conv_weights(struct npuc_program *p, const struct npuc_node *n, struct npuc_layer *l,
			const struct npuc_quant *q, int groups)
{
	size_t window = (size_t)l->window.kernel_h * l->window.kernel_w;
	int in_g = l->in_c / groups, out_g = l->out_c / groups, f;

	l->parts = npuc_weight_parts(q);
	if (npuc_layer_taps(l) > MAX_WINDOW)
		return npuc_refuse(p, n, "a window of %d x %d%s; at most %d taps are possible",
				   l->window.kernel_h, l->window.kernel_w,
				   l->parts > 1 ? " of weights wider than 8 bits" : "",
				   MAX_WINDOW / l->parts);
	l->vector = is_vector(p, l, groups);
	f = l->vector ? 1 : groups_together(groups, in_g, out_g);
	l->groups = groups / f;
	l->weight = calloc(npuc_layer_weights(l), l->parts);
	if (!l->weight)
		return npuc_fail(p->d, -ENOMEM, "out of memory");
	for (int o = 0; o < l->out_c; o++)
		for (int i = 0; i < in_g; i++)
			for (size_t k = 0; k < window; k++) {
				size_t row = (size_t)o * f * in_g + o / out_g % f * in_g + i;

				npuc_put_weight(l, row * window + k, q,
						((size_t)o * in_g + i) * window + k, o);
			}
	return 0;
}

static int conv_shape(struct npuc_program *p, const struct npuc_node *n,
		      const struct npuc_tensor *x, const struct npuc_quant *q,
		      struct npuc_layer *l, int *groups)
{
	const struct npuc_tensor *w = q->w;
	struct npuc_window *win = &l->window;
	int64_t group = npuc_attr_int(n, "group", 1);
	char xs[128], ws[128];
	int err;

	if (x->rank < 3 || x->rank > 4 || w->rank != x->rank)
		return npuc_refuse(p, n, "input %s and weights %s; 3 or 4 dimensions are possible",
				   npuc_shape_text(x, xs, sizeof(xs)),
				   npuc_shape_text(w, ws, sizeof(ws)));
	if (group < 1 || group > x->dim[1] || x->dim[1] != w->dim[1] * group || w->dim[0] % group)
		return npuc_refuse(p, n, "input %s, weights %s and group %lld do not agree",
				   npuc_shape_text(x, xs, sizeof(xs)),
				   npuc_shape_text(w, ws, sizeof(ws)), (long long)group);
	*groups = group;
	l->in_c = x->dim[1];
	l->in_h = x->rank == 4 ? x->dim[2] : 1;
	l->in_w = x->dim[x->rank - 1];
	l->out_c = w->dim[0];
	win->kernel_h = w->rank == 4 ? w->dim[2] : 1;
	win->kernel_w = w->dim[w->rank - 1];
	err = npuc_read_window(p, n, x->rank - 2, l->in_h, l->in_w, win);
	if (err)
		return err;
	if (win->pad_top > MAX_PAD || win->pad_left > MAX_PAD || win->pad_bottom > MAX_PAD ||
	    win->pad_right > MAX_PAD)
		return npuc_refuse(p, n, "pads [%d,%d,%d,%d]; at most %d is possible", win->pad_top,
				   win->pad_left, win->pad_bottom, win->pad_right, MAX_PAD);
	l->mid_h = l->out_h = npuc_window_out(l->in_h, win->kernel_h, win->stride_h,
					      win->dilation_h, win->pad_top + win->pad_bottom);
	l->mid_w = l->out_w = npuc_window_out(l->in_w, win->kernel_w, win->stride_w,
					      win->dilation_w, win->pad_left + win->pad_right);
	if (!l->out_h || !l->out_w)
		return npuc_refuse(p, n, "the window does not fit into input %s",
				   npuc_shape_text(x, xs, sizeof(xs)));
	return 0;
}

void npuc_set_image(struct npuc_tensor *t, int rank, int64_t images, int channels, int h, int w)
{
	t->rank = rank;
	t->dim[0] = images;
	t->dim[1] = channels;
	t->dim[2] = h;
	t->dim[rank - 1] = w;
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
	l->in = l->groups > 1 ? -ENOENT : npuc_patches(p, value, l, images);
	if (l->in >= 0)
		over_patches(l);
	else if (l->in == -ENOENT)
		l->in = npuc_blocked(p, value, images, l->in_c, l->in_h, l->in_w);
	return l->in < 0 ? l->in : 0;
}

static int lower_conv(struct npuc_program *p, const struct npuc_node *n, struct npuc_layer *l)
{
	const struct npuc_tensor *x = &p->g->tensor[n->in[0]];
	struct npuc_quant q = { 0 };
	int err, groups = 1;

	err = npuc_read_quant(p, n, 6, &q);
	if (!err)
		err = conv_shape(p, n, x, &q, l, &groups);
	if (!err)
		err = npuc_make_scales(p, n, &q, 1, l);
	if (!err)
		err = npuc_read_bias(p, n, 8, false, l);
	if (!err)
		err = conv_weights(p, n, l, &q, groups);
	if (err)
		return err;
	npuc_set_bounds(l, &q);
	l->macs = (uint64_t)x->dim[0] * l->out_c * l->mid_h * l->mid_w * (l->in_c / groups) *
		  l->window.kernel_h * l->window.kernel_w;
	err = conv_input(p, n, l, x->dim[0]);
	if (err)
		return err;
	npuc_set_image(&p->g->tensor[n->out[0]], x->rank, x->dim[0], l->out_c, l->out_h, l->out_w);
	l->out = npuc_layer_out(p, n, q.y_type, x->dim[0], l);
	return l->out < 0 ? l->out : npuc_finish_layer(p, n, l);
}

int npuc_lower_conv(struct npuc_program *p, const struct npuc_node *n)
{
	struct npuc_layer l = { .conv = true };
	int err = lower_conv(p, n, &l);

	npuc_layer_free(&l);
	return err;
}
