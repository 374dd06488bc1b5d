// SPDX-License-Identifier: MIT
#include "userspace/compiler/quant.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static bool is_8bit(enum npuc_dtype type)
{
	return type == NPUC_I8 || type == NPUC_U8;
}

static int quant_type(struct npuc_program *p, const struct npuc_node *n, size_t index,
		      const char *what, enum npuc_dtype *out)
{
	const struct npuc_tensor *t;
	int err = npuc_const(p, n, index, what, &t);

	if (err)
		return err;
	if (!is_8bit(t->dtype))
		return npuc_refuse(p, n, "%s is %s, int8 and uint8 are possible", what,
				   npuc_dtype_name(t->dtype));
	*out = t->dtype;
	return 0;
}

static int read_scale_zero(struct npuc_program *p, const struct npuc_node *n, size_t index,
			   const char *const what[2], float *scale, enum npuc_dtype *type,
			   int *zero)
{
	int err = npuc_scalar_f32(p, n, index, what[0], scale);

	if (!err)
		err = quant_type(p, n, index + 1, what[1], type);
	return err ? err : npuc_zero_point(p, n, index + 1, what[1], *type, zero);
}

static int read_weights(struct npuc_program *p, const struct npuc_node *n, struct npuc_quant *q)
{
	int err = npuc_const(p, n, 3, "weights", &q->w);

	if (!err)
		err = npuc_const(p, n, 4, "weight scale", &q->w_scale);
	if (!err)
		err = npuc_const(p, n, 5, "weight zero point", &q->w_zero);
	if (err)
		return err;
	if (!is_8bit(q->w->dtype))
		return npuc_refuse(p, n, "weights are %s, int8 and uint8 are possible",
				   npuc_dtype_name(q->w->dtype));
	if (q->w_zero->dtype != q->w->dtype)
		return npuc_refuse(p, n, "weight zero point is %s, the weights are %s",
				   npuc_dtype_name(q->w_zero->dtype),
				   npuc_dtype_name(q->w->dtype));
	if (q->w_scale->dtype != NPUC_F32)
		return npuc_refuse(p, n, "weight scale is %s, want float32",
				   npuc_dtype_name(q->w_scale->dtype));
	return 0;
}

int npuc_read_quant(struct npuc_program *p, const struct npuc_node *n, size_t y_index,
		    struct npuc_quant *q)
{
	static const char *const x_names[] = { "input scale", "input zero point" };
	static const char *const y_names[] = { "output scale", "output zero point" };
	const struct npuc_tensor *x = &p->g->tensor[n->in[0]];
	int err = read_scale_zero(p, n, 1, x_names, &q->x_scale, &q->x_type, &q->x_zero);

	if (!err)
		err = read_weights(p, n, q);
	if (!err)
		err = read_scale_zero(p, n, y_index, y_names, &q->y_scale, &q->y_type, &q->y_zero);
	if (err)
		return err;
	if (x->dtype != q->x_type)
		return npuc_refuse(p, n, "input is %s, its zero point %s",
				   npuc_dtype_name(x->dtype), npuc_dtype_name(q->x_type));
	return 0;
}

/* One element, or one an output channel. */
static int check_count(struct npuc_program *p, const struct npuc_node *n, const char *what,
		       const struct npuc_tensor *t, const struct npuc_layer *l)
{
	int64_t count = npuc_elements(t);

	if (count == 1 || count == l->out_c)
		return 0;
	return npuc_refuse(p, n, "%s has %lld elements, want 1 or %d", what, (long long)count,
			   l->out_c);
}

int npuc_make_scales(struct npuc_program *p, const struct npuc_node *n, const struct npuc_quant *q,
		     float alpha, struct npuc_layer *l)
{
	bool one = npuc_elements(q->w_scale) == 1;
	const float *ws = q->w_scale->data;
	int err = check_count(p, n, "weight scale", q->w_scale, l);

	if (!err)
		err = check_count(p, n, "weight zero point", q->w_zero, l);
	if (err)
		return err;
	l->scale = calloc(l->out_c, sizeof(*l->scale));
	if (!l->scale)
		return npuc_fail(p->d, -ENOMEM, "out of memory");
	for (int o = 0; o < l->out_c; o++) {
		float x = alpha * q->x_scale;
		float product = x * ws[one ? 0 : o];
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

void npuc_set_bounds(struct npuc_layer *l, const struct npuc_quant *q)
{
	l->lo = INT8_MIN;
	l->hi = INT8_MAX;
	l->zero_point = stored(q->y_type, q->y_zero);
	l->pad_value = stored(q->x_type, q->x_zero);
}

static int element(const struct npuc_tensor *t, size_t i)
{
	return t->dtype == NPUC_U8 ? ((const uint8_t *)t->data)[i] : ((const int8_t *)t->data)[i];
}

static int least_or_most(const struct npuc_tensor *t, bool most)
{
	int64_t count = npuc_elements(t);
	int found = element(t, 0);

	for (int64_t i = 1; i < count; i++)
		if (most ? element(t, i) > found : element(t, i) < found)
			found = element(t, i);
	return found;
}

static int cut(int v)
{
	if (v > INT8_MAX)
		return INT8_MAX;
	return v < INT8_MIN ? INT8_MIN : v;
}

int npuc_weight_parts(const struct npuc_quant *q)
{
	int lo = least_or_most(q->w, false) - least_or_most(q->w_zero, true);
	int hi = least_or_most(q->w, true) - least_or_most(q->w_zero, false);
	int parts = 1;

	while (lo < INT8_MIN || hi > INT8_MAX) {
		lo -= cut(lo);
		hi -= cut(hi);
		parts++;
	}
	return parts;
}

void npuc_put_weight(struct npuc_layer *l, size_t to, const struct npuc_quant *q, size_t from,
		     int o)
{
	int left = element(q->w, from) - element(q->w_zero, npuc_elements(q->w_zero) == 1 ? 0 : o);
	size_t size = npuc_layer_weights(l);

	for (int part = 0; part < l->parts; part++) {
		l->weight[part * size + to] = cut(left);
		left -= cut(left);
	}
}

int npuc_read_bias(struct npuc_program *p, const struct npuc_node *n, size_t index, bool broadcast,
		   struct npuc_layer *l)
{
	const struct npuc_tensor *t;
	int64_t count;
	int err;

	l->bias = calloc(l->out_c, sizeof(*l->bias));
	if (!l->bias)
		return npuc_fail(p->d, -ENOMEM, "out of memory");
	if (n->n_in <= index || n->in[index] < 0)
		return 0;
	err = npuc_const(p, n, index, "bias", &t);
	if (err)
		return err;
	count = npuc_elements(t);
	if (t->dtype != NPUC_I32 || (count != l->out_c && !(broadcast && count == 1)) ||
	    (t->rank && t->dim[t->rank - 1] != count))
		return npuc_refuse(p, n, "bias wants %d of int32, has %lld of %s", l->out_c,
				   (long long)count, npuc_dtype_name(t->dtype));
	for (int o = 0; o < l->out_c; o++)
		l->bias[o] = ((const int32_t *)t->data)[count == 1 ? 0 : o];
	return 0;
}

/* sum (x - z) w + b = sum x w + (b - z sum w), all modulo 2^32 */
static void fold_zero_point(struct npuc_layer *l)
{
	size_t size = npuc_layer_weights(l), taps = size / l->out_c;

	for (int o = 0; o < l->out_c; o++) {
		uint32_t sum = 0;

		for (int part = 0; part < l->parts; part++)
			for (size_t i = 0; i < taps; i++)
				sum += (uint32_t)l->weight[part * size + o * taps + i];
		l->bias[o] = (uint32_t)l->bias[o] - (uint32_t)l->pad_value * sum;
	}
}

int npuc_layer_out(struct npuc_program *p, const struct npuc_node *n, enum npuc_dtype type,
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

int npuc_finish_layer(struct npuc_program *p, const struct npuc_node *n, struct npuc_layer *l)
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
