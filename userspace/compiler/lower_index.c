// SPDX-License-Identifier: MIT
/* Transpose, Slice and Pad: each element of the result is one of the input. */
#include "userspace/compiler/program.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A list of integers: an attribute in old operator sets, a constant input in new ones. */
struct integers {
	const int64_t *value;
	int64_t *owned;
	int64_t count;
};

static int read_integers(struct npuc_program *p, const struct npuc_node *n, const char *attribute,
			 size_t index, struct integers *out)
{
	const struct npuc_attr *a = npuc_attr(n, attribute);
	const struct npuc_tensor *t;
	int err;

	*out = (struct integers){ 0 };
	if (a && a->kind == NPUC_ATTR_INTS) {
		out->value = a->ints;
		out->count = a->n_ints;
		return 0;
	}
	if (a)
		return npuc_refuse(p, n, "attribute %s is no list of integers", attribute);
	if (index >= n->n_in || n->in[index] < 0)
		return 0;
	err = npuc_const(p, n, index, attribute, &t);
	if (err)
		return err;
	if (t->dtype != NPUC_I64 && t->dtype != NPUC_I32)
		return npuc_refuse(p, n, "%s are %s, want int64 or int32", attribute,
				   npuc_dtype_name(t->dtype));
	out->count = npuc_elements(t);
	out->owned = calloc(out->count + 1, sizeof(*out->owned));
	if (!out->owned)
		return npuc_fail(p->d, -ENOMEM, "out of memory");
	for (int64_t i = 0; i < out->count; i++)
		out->owned[i] = t->dtype == NPUC_I64 ? ((int64_t *)t->data)[i]
						     : ((int32_t *)t->data)[i];
	out->value = out->owned;
	return 0;
}

int npuc_lower_transpose(struct npuc_program *p, const struct npuc_node *n)
{
	const struct npuc_tensor *x = &p->g->tensor[n->in[0]];
	struct npu_host_transpose param = { .ndim = x->rank,
					    .element = npuc_dtype_size(x->dtype) };
	int64_t perm[NPUC_MAX_RANK], dim[NPUC_MAX_RANK];
	struct npuc_place operand[2];
	unsigned int seen = 0;
	int err;

	if (x->rank < 1)
		return npuc_refuse(p, n, "input has no dimensions");
	for (int i = 0; i < x->rank; i++)
		perm[i] = x->rank - 1 - i;
	err = npuc_attr_ints(n, "perm", perm, x->rank, 0, x->rank - 1, p->d);
	if (err)
		return err;
	for (int i = 0; i < x->rank; i++) {
		if (seen >> perm[i] & 1)
			return npuc_refuse(p, n, "perm names dimension %lld twice",
					   (long long)perm[i]);
		seen |= 1u << perm[i];
		dim[i] = x->dim[perm[i]];
		param.shape[i] = x->dim[i];
		param.perm[i] = perm[i];
	}
	err = npuc_host_input(p, n, 0, &operand[0]);
	if (!err)
		err = npuc_host_output(p, n, x->dtype, x->rank, dim, &operand[1]);
	return err ? err : npuc_host_last(p, n, "transpose", operand, 2, &param, sizeof(param));
}

/* From where a dimension of the result is taken: @first, @first + @step ... of the input. */
struct range {
	int64_t first, step, count;
};

static int64_t clamp(int64_t v, int64_t low, int64_t high)
{
	return v < low ? low : v > high ? high : v;
}

static struct range slice_range(int64_t dim, int64_t start, int64_t end, int64_t step)
{
	struct range r = { .step = step };

	start = start < 0 ? start + dim : start;
	end = end < 0 ? end + dim : end;
	if (step > 0) {
		r.first = clamp(start, 0, dim);
		end = clamp(end, 0, dim);
		r.count = end > r.first ? (end - r.first - 1) / step + 1 : 0;
	} else {
		r.first = clamp(start, 0, dim - 1);
		end = clamp(end, -1, dim - 1);
		r.count = r.first > end ? (r.first - end - 1) / -step + 1 : 0;
	}
	return r;
}

/* starts, ends, axes and steps of a Slice, in this order. */
static int read_ranges(struct npuc_program *p, const struct npuc_node *n,
		       const struct npuc_tensor *x, const struct integers *list, struct range *out)
{
	unsigned int seen = 0;

	for (int i = 0; i < x->rank; i++)
		out[i] = (struct range){ 0, 1, x->dim[i] };
	if (!list[0].count || list[1].count != list[0].count ||
	    (list[2].value && list[2].count != list[0].count) ||
	    (list[3].value && list[3].count != list[0].count) || list[0].count > x->rank)
		return npuc_refuse(p, n, "%lld starts, %lld ends, %lld axes and %lld steps",
				   (long long)list[0].count, (long long)list[1].count,
				   (long long)list[2].count, (long long)list[3].count);
	for (int64_t i = 0; i < list[0].count; i++) {
		int64_t axis = list[2].value ? list[2].value[i] : i;
		int64_t step = list[3].value ? list[3].value[i] : 1;

		axis = axis < 0 ? axis + x->rank : axis;
		if (axis < 0 || axis >= x->rank || seen >> axis & 1)
			return npuc_refuse(p, n, "axis %lld of %d dimensions", (long long)axis,
					   x->rank);
		if (!step || step < -INT32_MAX || step > INT32_MAX)
			return npuc_refuse(p, n, "step %lld", (long long)step);
		seen |= 1u << axis;
		out[axis] = slice_range(x->dim[axis],
					clamp(list[0].value[i], -INT32_MAX, INT32_MAX),
					clamp(list[1].value[i], -INT32_MAX, INT32_MAX), step);
	}
	return 0;
}

/* The stage of a gather whose lists were filled in. */
static int gather(struct npuc_program *p, const struct npuc_node *n,
		  const struct npuc_tensor *x, const int64_t *dim, const struct npu_host_gather *g,
		  size_t size)
{
	struct npuc_place operand[2];
	int err = npuc_host_input(p, n, 0, &operand[0]);

	if (!err)
		err = npuc_host_output(p, n, x->dtype, x->rank, dim, &operand[1]);
	return err ? err : npuc_host_last(p, n, "gather", operand, 2, g, size);
}

static int slice(struct npuc_program *p, const struct npuc_node *n, const struct npuc_tensor *x,
		 const struct integers *list)
{
	struct range range[NPUC_MAX_RANK];
	int64_t dim[NPUC_MAX_RANK];
	struct npu_host_gather *g;
	size_t size;
	int err = read_ranges(p, n, x, list, range);

	if (err)
		return err;
	for (int i = 0; i < x->rank; i++) {
		dim[i] = range[i].count;
		if (!dim[i])
			return npuc_refuse(p, n, "nothing of dimension %d is left", i);
	}
	g = npuc_gather_new(x->rank, x->dim, dim, npuc_dtype_size(x->dtype), &size);
	if (!g)
		return npuc_fail(p->d, -ENOMEM, "out of memory");
	for (int i = 0; i < x->rank; i++)
		for (int64_t k = 0; k < dim[i]; k++)
			npuc_gather_list(g, i)[k] = range[i].first + k * range[i].step;
	err = gather(p, n, x, dim, g, size);
	free(g);
	return err;
}

int npuc_lower_slice(struct npuc_program *p, const struct npuc_node *n)
{
	static const char *const names[] = { "starts", "ends", "axes", "steps" };
	const struct npuc_tensor *x = &p->g->tensor[n->in[0]];
	struct integers list[4] = { { 0 } };
	int err = 0;

	for (int i = 0; i < 4 && !err; i++)
		err = read_integers(p, n, names[i], i + 1, &list[i]);
	if (!err)
		err = slice(p, n, x, list);
	for (int i = 0; i < 4; i++)
		free(list[i].owned);
	return err;
}

enum pad_mode { PAD_CONSTANT, PAD_EDGE, PAD_REFLECT, PAD_WRAP };

/* The element of an input of @dim that stands at @i, which may lie outside; -1: none. */
static int64_t padded_from(enum pad_mode mode, int64_t i, int64_t dim)
{
	int64_t period = 2 * (dim - 1);

	if (i >= 0 && i < dim)
		return i;
	switch (mode) {
	case PAD_EDGE:
		return i < 0 ? 0 : dim - 1;
	case PAD_REFLECT:
		if (!period)
			return 0;
		i = (i % period + period) % period;
		return i < dim ? i : period - i;
	case PAD_WRAP:
		return (i % dim + dim) % dim;
	default:
		return -1;
	}
}

static int read_pad_mode(struct npuc_program *p, const struct npuc_node *n, enum pad_mode *mode)
{
	static const char *const names[] = { "constant", "edge", "reflect", "wrap" };
	const struct npuc_attr *a = npuc_attr(n, "mode");

	*mode = PAD_CONSTANT;
	if (!a)
		return 0;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (a->kind == NPUC_ATTR_STRING && !strcmp(a->s, names[i])) {
			*mode = i;
			return 0;
		}
	}
	return npuc_refuse(p, n, "mode is %s", a->kind == NPUC_ATTR_STRING ? a->s : "no string");
}

/* What stands outside: an attribute in floats once, now a constant of the input's type. */
static int read_fill(struct npuc_program *p, const struct npuc_node *n,
		     const struct npuc_tensor *x, struct npu_host_gather *g)
{
	const struct npuc_attr *a = npuc_attr(n, "value");
	const struct npuc_tensor *t;
	int err;

	if (a) {
		if (a->kind != NPUC_ATTR_FLOAT || x->dtype != NPUC_F32)
			return npuc_refuse(p, n, "attribute value is for float32, the input is %s",
					   npuc_dtype_name(x->dtype));
		memcpy(g->fill, &a->f, sizeof(a->f));
		return 0;
	}
	err = npuc_optional(p, n, 2, "constant value", x->dtype, &t);
	if (err || !t)
		return err;
	memcpy(g->fill, t->data, npuc_dtype_size(t->dtype));
	return 0;
}

/* Elements before and after each dimension: all before, then all after, of the named axes. */
static int read_pads(struct npuc_program *p, const struct npuc_node *n,
		     const struct npuc_tensor *x, const struct integers *pads,
		     const struct integers *axes, int64_t *before, int64_t *dim)
{
	int64_t count = axes->value ? axes->count : x->rank;

	memset(before, 0, NPUC_MAX_RANK * sizeof(*before));
	memcpy(dim, x->dim, NPUC_MAX_RANK * sizeof(*dim));
	if (count > x->rank || pads->count != 2 * count)
		return npuc_refuse(p, n, "%lld pads for %lld of %d dimensions",
				   (long long)pads->count, (long long)count, x->rank);
	for (int64_t i = 0; i < count; i++) {
		int64_t axis = axes->value ? axes->value[i] : i;
		int64_t first = pads->value[i], last = pads->value[i + count];

		axis = axis < 0 ? axis + x->rank : axis;
		if (axis < 0 || axis >= x->rank)
			return npuc_refuse(p, n, "axis %lld of %d dimensions", (long long)axis,
					   x->rank);
		if (first < -(1 << 24) || first > 1 << 24 || last < -(1 << 24) || last > 1 << 24 ||
		    x->dim[axis] + first + last < 1)
			return npuc_refuse(p, n, "pads %lld and %lld of dimension %lld",
					   (long long)first, (long long)last, (long long)axis);
		before[axis] = first;
		dim[axis] = x->dim[axis] + first + last;
	}
	return 0;
}

static int pad(struct npuc_program *p, const struct npuc_node *n, const struct npuc_tensor *x,
	       const int64_t *before, const int64_t *dim, enum pad_mode mode)
{
	struct npu_host_gather *g;
	size_t size;
	int err;

	g = npuc_gather_new(x->rank, x->dim, dim, npuc_dtype_size(x->dtype), &size);
	if (!g)
		return npuc_fail(p->d, -ENOMEM, "out of memory");
	for (int i = 0; i < x->rank; i++)
		for (int64_t k = 0; k < dim[i]; k++)
			npuc_gather_list(g, i)[k] = padded_from(mode, k - before[i], x->dim[i]);
	err = read_fill(p, n, x, g);
	if (!err)
		err = gather(p, n, x, dim, g, size);
	free(g);
	return err;
}

int npuc_lower_pad(struct npuc_program *p, const struct npuc_node *n)
{
	const struct npuc_tensor *x = &p->g->tensor[n->in[0]];
	int64_t before[NPUC_MAX_RANK], dim[NPUC_MAX_RANK];
	struct integers pads = { 0 }, axes = { 0 };
	enum pad_mode mode;
	int err = read_pad_mode(p, n, &mode);

	if (!err)
		err = read_integers(p, n, "pads", 1, &pads);
	if (!err)
		err = read_integers(p, n, "axes", 3, &axes);
	if (!err)
		err = read_pads(p, n, x, &pads, &axes, before, dim);
	if (!err)
		err = pad(p, n, x, before, dim, mode);
	free(pads.owned);
	free(axes.owned);
	return err;
}
