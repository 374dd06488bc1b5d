// SPDX-License-Identifier: MIT
/* MaxPool, and Relu and Clip on quantised values. */
#include "userspace/compiler/program.h"

#include <errno.h>
#include <string.h>

static bool quantised(const struct npuc_tensor *t)
{
	return t->dtype == NPUC_I8 || t->dtype == NPUC_U8;
}

int npuc_plain_value(struct npuc_program *p, const struct npuc_node *n, enum npuc_dtype type,
		     const struct npuc_value *like)
{
	struct npuc_value shape = *like;
	int v;

	p->g->tensor[n->out[0]].dtype = type;
	v = npuc_value_new(p, n->out[0]);
	if (v < 0)
		return v;
	p->value[v].n = shape.n;
	p->value[v].c = shape.c;
	p->value[v].h = shape.h;
	p->value[v].w = shape.w;
	return v;
}

static bool pooled(const struct npuc_layer *l)
{
	return l->pool.kernel_h > 1 || l->pool.kernel_w > 1 || l->pool.stride_h > 1 ||
	       l->pool.stride_w > 1;
}

int npuc_plain_layer(struct npuc_program *p, const struct npuc_node *n, struct npuc_layer *l)
{
	struct npuc_value *x = &p->value[l->in], *y = &p->value[l->out];
	int stage;

	l->in_c = x->c;
	l->in_h = l->mid_h = x->h;
	l->in_w = l->mid_w = x->w;
	l->out_c = y->c;
	l->out_h = y->h;
	l->out_w = y->w;
	l->groups = l->parts = 1;
	l->window = (struct npuc_window){ 1, 1, 1, 1, 1, 1, 0, 0, 0, 0 };
	y->blocked = npuc_scratch(p, (uint64_t)y->n * npuc_blocks(y->c) * y->h * y->w * 16);
	stage = npuc_stage_layer(p, n->name, l);
	if (stage < 0) {
		npuc_layer_free(l);
		return stage;
	}
	return npuc_placed(p, n, "npu", stage, 0);
}

static int pool_window(struct npuc_program *p, const struct npuc_node *n,
		       const struct npuc_tensor *x, struct npuc_window *win)
{
	const struct npuc_attr *a = npuc_attr(n, "auto_pad");
	char shape[128];
	int err;

	if (!quantised(x) || x->rank < 3 || x->rank > 4)
		return npuc_refuse(
			p, n, "input is %s %s; int8 or uint8 of 3 or 4 dimensions is possible",
			npuc_dtype_name(x->dtype), npuc_shape_text(x, shape, sizeof(shape)));
	if (n->n_out > 1 && n->out[1] >= 0 && p->g->tensor[n->out[1]].uses)
		return npuc_refuse(p, n, "output Indices is not possible");
	if (!npuc_attr(n, "kernel_shape"))
		return npuc_refuse(p, n, "kernel_shape is missing");
	win->kernel_h = 1;
	err = npuc_read_window(p, n, x->rank - 2, x->rank == 4 ? x->dim[2] : 1,
			       x->dim[x->rank - 1], win);
	if (err)
		return err;
	if (a && a->kind == NPUC_ATTR_STRING && !strncmp(a->s, "SAME", 4) &&
	    (win->dilation_h > 1 || win->dilation_w > 1))
		return npuc_refuse(p, n,
				   "auto_pad %s with dilations: ONNX and ONNX Runtime give different "
				   "shapes; give pads",
				   a->s);
	if (win->pad_top >= win->kernel_h || win->pad_bottom >= win->kernel_h ||
	    win->pad_left >= win->kernel_w || win->pad_right >= win->kernel_w)
		return npuc_refuse(p, n, "pads [%d,%d,%d,%d] are not below the kernel's %d x %d",
				   win->pad_top, win->pad_left, win->pad_bottom, win->pad_right,
				   win->kernel_h, win->kernel_w);
	return 0;
}

/* With ceil_mode a last window may reach beyond the padding, if it begins before it. */
static int pool_out(const struct npuc_node *n, int size, int kernel, int stride, int dilation,
		    int before, int after)
{
	int out = npuc_window_out(size, kernel, stride, dilation, before + after);

	if (!out || !npuc_attr_int(n, "ceil_mode", 0))
		return out;
	if ((size + before + after - (kernel - 1) * dilation - 1) % stride)
		out += out * stride < size + before;
	return out;
}

int npuc_lower_maxpool(struct npuc_program *p, const struct npuc_node *n)
{
	const struct npuc_tensor *x = &p->g->tensor[n->in[0]];
	struct npuc_window win = { 0 };
	int in, out, in_h, in_w, h, w, err;
	struct npuc_value shape;
	struct npuc_layer *l;

	err = pool_window(p, n, x, &win);
	if (err)
		return err;
	in_h = x->rank == 4 ? x->dim[2] : 1;
	in_w = x->dim[x->rank - 1];
	h = pool_out(n, in_h, win.kernel_h, win.stride_h, win.dilation_h, win.pad_top,
		     win.pad_bottom);
	w = pool_out(n, in_w, win.kernel_w, win.stride_w, win.dilation_w, win.pad_left,
		     win.pad_right);
	if (!h || !w)
		return npuc_refuse(p, n, "the window does not fit into the input");
	npuc_set_image(&p->g->tensor[n->out[0]], x->rank, x->dim[0], x->dim[1], h, w);
	in = npuc_value_of(p, n->in[0]);
	shape = (struct npuc_value){ .n = x->dim[0], .c = x->dim[1], .h = h, .w = w };
	out = in < 0 ? in : npuc_plain_value(p, n, x->dtype, &shape);
	if (out < 0)
		return out;
	l = npuc_fusable(p, in);
	if (l && l->conv && !l->table && !pooled(l) && npuc_pool_fits(l, &win, h, w)) {
		l->pool = win;
		l->out_h = h;
		l->out_w = w;
		npuc_fused(p, l, n, out);
		return npuc_placed(p, n, "npu", p->n_stage - 1, 0);
	}
	in = npuc_blocked(p, in, x->dim[0], x->dim[1], in_h, in_w);
	if (in < 0)
		return in;
	return npuc_plain_layer(p, n, &(struct npuc_layer){
		.in = in, .out = out, .pool = win, .lo = INT8_MIN, .hi = INT8_MAX,
	});
}

/* A bound of Clip: an optional constant of the input's type. */
static int clip_bound(struct npuc_program *p, const struct npuc_node *n, size_t index,
		      const char *what, enum npuc_dtype type, int *out)
{
	const struct npuc_tensor *t;
	int err = npuc_optional(p, n, index, what, type, &t);

	if (err || !t)
		return err;
	*out = type == NPUC_U8 ? *(uint8_t *)t->data - 128 : *(int8_t *)t->data;
	return 0;
}

static int clip_bounds(struct npuc_program *p, const struct npuc_node *n,
		       const struct npuc_tensor *x, int *lo, int *hi)
{
	int err;

	*lo = INT8_MIN;
	*hi = INT8_MAX;
	if (!quantised(x))
		return npuc_refuse(p, n, "input is %s; int8, uint8 and float32 are possible",
				   npuc_dtype_name(x->dtype));
	if (!strcmp(n->op, "Relu")) {
		*lo = x->dtype == NPUC_U8 ? INT8_MIN : 0;
		return 0;
	}
	err = clip_bound(p, n, 1, "min", x->dtype, lo);
	return err ? err : clip_bound(p, n, 2, "max", x->dtype, hi);
}

/* min(max(v, lo), hi) after the clip that @l does already, as ONNX orders it. */
static void clip_more(struct npuc_layer *l, int lo, int hi)
{
	int min = l->lo > lo ? l->lo : lo, max = l->hi > lo ? l->hi : lo;

	l->lo = min < hi ? min : hi;
	l->hi = max < hi ? max : hi;
}

/* A blocked form where any will do: rows of 16 full lanes, or all elements as channels. */
static int blocked_anyhow(struct npuc_program *p, int value, int64_t elements)
{
	if (elements % 16)
		return npuc_blocked(p, value, 1, elements, 1, 1);
	return npuc_blocked(p, value, 1, 16, 1, elements / 16);
}

int npuc_lower_clip(struct npuc_program *p, const struct npuc_node *n)
{
	static const struct npuc_window one = { 1, 1, 1, 1, 1, 1, 0, 0, 0, 0 };
	const struct npuc_tensor *x = &p->g->tensor[n->in[0]];
	struct npuc_tensor *y = &p->g->tensor[n->out[0]];
	int in, out, lo, hi, err;
	struct npuc_layer *l;
	struct npuc_value v;

	if (x->dtype == NPUC_F32)
		return npuc_lower_float_clip(p, n);
	err = clip_bounds(p, n, x, &lo, &hi);
	if (err)
		return err;
	y->rank = x->rank;
	memcpy(y->dim, x->dim, sizeof(y->dim));
	in = npuc_value_of(p, n->in[0]);
	if (in < 0)
		return in;
	l = npuc_fusable(p, in);
	if (!l) {
		v = p->value[in];
		if (!v.blocked.space || v.alias >= 0)
			in = blocked_anyhow(p, in, npuc_elements(x));
		if (in < 0)
			return in;
	}
	v = p->value[in];
	out = npuc_plain_value(p, n, x->dtype, &v);
	if (out < 0)
		return out;
	if (!l)
		return npuc_plain_layer(p, n, &(struct npuc_layer){
			.in = in, .out = out, .pool = one, .lo = lo, .hi = hi,
		});
	if (l->table)
		npuc_clip_table(l, lo, hi);
	else
		clip_more(l, lo, hi);
	npuc_fused(p, l, n, out);
	return npuc_placed(p, n, "npu", p->n_stage - 1, 0);
}
