// SPDX-License-Identifier: MIT
/*
 * QuantizeLinear and DequantizeLinear of constants become constants. Compiled
 * with -ffp-contract=off: every step is rounded to binary32.
 */
#include "userspace/compiler/qdq.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/**
 * struct change - of constant values
 * @x: values
 * @scale: one, or one for each position along the axis
 * @zero: as many, or NULL
 * @inner: elements from one scale to the next
 * @type: of the quantised side
 */
struct change {
	const struct npuc_tensor *x, *scale, *zero;
	int64_t inner;
	enum npuc_dtype type;
};

static const struct npuc_tensor *constant(const struct npuc_graph *g, const struct npuc_node *n,
					  size_t index)
{
	const struct npuc_tensor *t = index < n->n_in && n->in[index] >= 0 ?
					      &g->tensor[n->in[index]] :
					      NULL;

	return t && t->data ? t : NULL;
}

static bool read_axis(const struct npuc_node *n, struct change *c)
{
	int64_t axis = npuc_attr_int(n, "axis", 1), scales = npuc_elements(c->scale);

	c->inner = npuc_elements(c->x);
	if (scales == 1)
		return true;
	axis = axis < 0 ? axis + c->x->rank : axis;
	if (axis < 0 || axis >= c->x->rank || c->x->dim[axis] != scales)
		return false;
	c->inner = 1;
	for (int i = axis + 1; i < c->x->rank; i++)
		c->inner *= c->x->dim[i];
	return true;
}

static bool is_result(const struct npuc_graph *g, int tensor)
{
	for (size_t i = 0; i < g->n_output; i++)
		if (g->output[i] == tensor)
			return true;
	return false;
}

/* Whether @n can be done now; anything odd is left for the lowering to refuse. */
static bool read_change(const struct npuc_graph *g, const struct npuc_node *n, bool quantize,
			struct change *c)
{
	if (n->n_out != 1 || n->out[0] < 0 || is_result(g, n->out[0]))
		return false;
	c->x = constant(g, n, 0);
	c->scale = constant(g, n, 1);
	c->zero = constant(g, n, 2);
	if (!c->x || !c->scale || c->scale->dtype != NPUC_F32 ||
	    (!c->zero && n->n_in > 2 && n->in[2] >= 0))
		return false;
	c->type = !quantize ? c->x->dtype : c->zero ? c->zero->dtype : NPUC_U8;
	if (quantize ? c->x->dtype != NPUC_F32 || c->type == NPUC_I32 : c->type == NPUC_F32)
		return false;
	if (c->type != NPUC_I8 && c->type != NPUC_U8 && c->type != NPUC_I32)
		return false;
	if (c->zero &&
	    (c->zero->dtype != c->type || npuc_elements(c->zero) != npuc_elements(c->scale)))
		return false;
	for (int64_t i = 0; i < npuc_elements(c->scale); i++)
		if (!(((float *)c->scale->data)[i] > 0 && isfinite(((float *)c->scale->data)[i])))
			return false;
	return read_axis(n, c);
}

static int32_t integer_at(const struct npuc_tensor *t, int64_t i)
{
	switch (t->dtype) {
	case NPUC_I8:
		return ((int8_t *)t->data)[i];
	case NPUC_U8:
		return ((uint8_t *)t->data)[i];
	default:
		return ((int32_t *)t->data)[i];
	}
}

static void quantize(const struct change *c, uint8_t *out)
{
	const int min = c->type == NPUC_U8 ? 0 : INT8_MIN;
	const int max = c->type == NPUC_U8 ? UINT8_MAX : INT8_MAX;

	for (int64_t i = 0; i < npuc_elements(c->x); i++) {
		int64_t s = i / c->inner % npuc_elements(c->scale);
		int zero = c->zero ? integer_at(c->zero, s) : 0;
		float v = ((float *)c->x->data)[i] / ((float *)c->scale->data)[s];

		v = v < min - zero ? min - zero : v;
		v = v > max - zero ? max - zero : v;
		out[i] = (uint8_t)((v == v ? (int)rintf(v) : 0) + zero);
	}
}

static void dequantize(const struct change *c, float *out)
{
	for (int64_t i = 0; i < npuc_elements(c->x); i++) {
		int64_t s = i / c->inner % npuc_elements(c->scale);
		int64_t zero = c->zero ? integer_at(c->zero, s) : 0;

		out[i] = (float)(integer_at(c->x, i) - zero) * ((float *)c->scale->data)[s];
	}
}

static int fold(struct npuc_graph *g, struct npuc_node *n, const struct change *c, bool quantizes,
		struct npuc_diag *d)
{
	struct npuc_tensor *y = &g->tensor[n->out[0]];

	y->dtype = quantizes ? c->type : NPUC_F32;
	y->data = malloc(npuc_elements(c->x) * npuc_dtype_size(y->dtype) + 1);
	if (!y->data)
		return npuc_fail(d, -ENOMEM, "out of memory");
	y->rank = c->x->rank;
	memcpy(y->dim, c->x->dim, sizeof(y->dim));
	y->producer = -1;
	if (quantizes)
		quantize(c, y->data);
	else
		dequantize(c, y->data);
	n->dead = true;
	return 0;
}

int npuc_fold_constants(struct npuc_graph *g, bool quantizes, struct npuc_diag *d)
{
	const char *op = quantizes ? "QuantizeLinear" : "DequantizeLinear";
	int err = 0;

	for (size_t i = 0; i < g->n_node && !err; i++) {
		struct npuc_node *n = &g->node[i];
		struct change c;

		if (!n->dead && !strcmp(n->op, op) && read_change(g, n, quantizes, &c))
			err = fold(g, n, &c, quantizes, d);
	}
	return err;
}
