// SPDX-License-Identifier: MIT
/* The float edges of a graph, and operators that only name a value anew. */
#include "userspace/compiler/program.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Splits the shape around the quantisation axis. */
static int scale_layout(struct npuc_program *p, const struct npuc_node *n,
			const struct npuc_tensor *x, int64_t scales, struct npu_host_quantize *q)
{
	int64_t axis = npuc_attr_int(n, "axis", 1), outer = 1, inner = 1;

	if (scales == 1) {
		*q = (struct npu_host_quantize){
			.dtype_bits = 8, .outer = 1, .channels = 1, .inner = npuc_elements(x)
		};
		return 0;
	}
	if (axis < 0)
		axis += x->rank;
	if (axis < 0 || axis >= x->rank || x->dim[axis] != scales)
		return npuc_refuse(p, n, "%lld scales do not fit axis %lld of the input",
				   (long long)scales, (long long)axis);
	for (int i = 0; i < axis; i++)
		outer *= x->dim[i];
	for (int i = axis + 1; i < x->rank; i++)
		inner *= x->dim[i];
	*q = (struct npu_host_quantize){
		.dtype_bits = 8, .outer = outer, .channels = scales, .inner = inner
	};
	return 0;
}

static int fill_scales(struct npuc_program *p, const struct npuc_node *n,
		       const struct npuc_tensor *scale, const struct npuc_tensor *zero,
		       struct npu_host_scale *out)
{
	for (int64_t i = 0; i < npuc_elements(scale); i++) {
		float s = ((float *)scale->data)[i];

		if (!(s > 0 && s < 3.4e38f))
			return npuc_refuse(p, n, "scale %lld is %g, want a positive number",
					   (long long)i, s);
		out[i].scale = s;
		if (zero)
			out[i].zero_point = zero->dtype == NPUC_U8 ? ((uint8_t *)zero->data)[i]
								   : ((int8_t *)zero->data)[i];
	}
	return 0;
}

/* Scale, zero point and their layout, as the host kernels take them; freed by the caller. */
static int scale_params(struct npuc_program *p, const struct npuc_node *n,
			const struct npuc_tensor *x, struct npu_host_quantize **out, size_t *size,
			enum npuc_dtype *type)
{
	const struct npuc_tensor *scale, *zero = NULL;
	struct npu_host_quantize q;
	int64_t count;
	int err = npuc_const(p, n, 1, "scale", &scale);

	if (!err && n->n_in > 2 && n->in[2] >= 0)
		err = npuc_const(p, n, 2, "zero point", &zero);
	if (err)
		return err;
	count = npuc_elements(scale);
	*type = zero ? zero->dtype : NPUC_U8;
	if (scale->dtype != NPUC_F32 || (zero && npuc_elements(zero) != count))
		return npuc_refuse(p, n, "scale is %lld of %s, zero point %lld elements",
				   (long long)count, npuc_dtype_name(scale->dtype),
				   (long long)(zero ? npuc_elements(zero) : 0));
	if (*type != NPUC_I8 && *type != NPUC_U8)
		return npuc_refuse(p, n, "zero point is %s; int8 and uint8 are possible",
				   npuc_dtype_name(*type));
	err = scale_layout(p, n, x, count, &q);
	if (err)
		return err;
	q.dtype_code = *type == NPUC_U8;
	*size = sizeof(q) + count * sizeof(struct npu_host_scale);
	*out = calloc(1, *size);
	if (!*out)
		return npuc_fail(p->d, -ENOMEM, "out of memory");
	**out = q;
	err = fill_scales(p, n, scale, zero, (struct npu_host_scale *)(*out + 1));
	if (err)
		free(*out);
	return err;
}

static int host_scale_node(struct npuc_program *p, const struct npuc_node *n, const char *kernel,
			   int in, enum npuc_dtype out_type, const void *param, size_t size)
{
	const struct npuc_tensor *x = &p->g->tensor[n->in[0]];
	struct npuc_tensor *y = &p->g->tensor[n->out[0]];
	int root = in, out, stage;

	y->rank = x->rank;
	memcpy(y->dim, x->dim, sizeof(y->dim));
	y->dtype = out_type;
	out = npuc_value_new(p, n->out[0]);
	if (out < 0)
		return out;
	while (p->value[root].alias >= 0)
		root = p->value[root].alias;
	p->value[out].dense = npuc_dense_place(p, n->out[0]);
	stage = npuc_stage_host(p, n->name, kernel, p->value[root].dense, p->value[out].dense,
				param, size);
	return stage < 0 ? stage : npuc_placed(p, n, "host", stage, 0);
}

int npuc_lower_quantize(struct npuc_program *p, const struct npuc_node *n)
{
	const struct npuc_tensor *x = &p->g->tensor[n->in[0]];
	struct npu_host_quantize *param;
	enum npuc_dtype type;
	size_t size;
	int err, in;

	if (x->dtype != NPUC_F32)
		return npuc_refuse(p, n, "input is %s, want float32", npuc_dtype_name(x->dtype));
	in = npuc_value_of(p, n->in[0]);
	err = in < 0 ? in : npuc_dense(p, in);
	if (!err)
		err = scale_params(p, n, x, &param, &size, &type);
	if (err)
		return err;
	err = host_scale_node(p, n, "quantize_linear", in, type, param, size);
	free(param);
	return err;
}

int npuc_lower_dequantize(struct npuc_program *p, const struct npuc_node *n)
{
	const struct npuc_tensor *x = &p->g->tensor[n->in[0]];
	struct npu_host_quantize *param;
	enum npuc_dtype type;
	size_t size;
	int err, in;

	in = npuc_value_of(p, n->in[0]);
	err = in < 0 ? in : npuc_dense(p, in);
	if (!err)
		err = scale_params(p, n, x, &param, &size, &type);
	if (err)
		return err;
	if (type != x->dtype)
		err = npuc_refuse(p, n, "input is %s, its zero point %s", npuc_dtype_name(x->dtype),
				  npuc_dtype_name(type));
	else
		err = host_scale_node(p, n, "dequantize_linear", in, NPUC_F32, param, size);
	free(param);
	return err;
}

/* A bound of a Clip of floats. */
static int float_bound(struct npuc_program *p, const struct npuc_node *n, size_t index,
		       const char *what, float *out)
{
	const struct npuc_tensor *t;
	int err = npuc_optional(p, n, index, what, NPUC_F32, &t);

	if (err || !t)
		return err;
	if (isnan(*(float *)t->data))
		return npuc_refuse(p, n, "%s is no number", what);
	*out = *(float *)t->data;
	return 0;
}

int npuc_lower_float_clip(struct npuc_program *p, const struct npuc_node *n)
{
	const struct npuc_tensor *x = &p->g->tensor[n->in[0]];
	struct npu_host_bound param = { .low = -INFINITY, .high = INFINITY };
	struct npuc_place operand[2];
	int err = 0;

	if (!strcmp(n->op, "Relu"))
		param.low = 0;
	else
		err = float_bound(p, n, 1, "min", &param.low);
	if (!err && strcmp(n->op, "Relu"))
		err = float_bound(p, n, 2, "max", &param.high);
	if (!err)
		err = npuc_host_input(p, n, 0, &operand[0]);
	if (!err)
		err = npuc_host_output(p, n, NPUC_F32, x->rank, x->dim, &operand[1]);
	if (err)
		return err;
	param.size = operand[1].size;
	return npuc_host_last(p, n, "clip_f32", operand, 2, &param, sizeof(param));
}

static int flatten_shape(struct npuc_program *p, const struct npuc_node *n,
			 const struct npuc_tensor *x, struct npuc_tensor *y)
{
	int64_t axis = npuc_attr_int(n, "axis", 1);

	if (axis < 0)
		axis += x->rank;
	if (axis < 0 || axis > x->rank)
		return npuc_refuse(p, n, "axis %lld of %d dimensions", (long long)axis, x->rank);
	y->rank = 2;
	y->dim[0] = y->dim[1] = 1;
	for (int i = 0; i < x->rank; i++)
		y->dim[i >= axis] *= x->dim[i];
	return 0;
}

static int reshape_shape(struct npuc_program *p, const struct npuc_node *n,
			 const struct npuc_tensor *x, struct npuc_tensor *y)
{
	int64_t rest = npuc_elements(x), known = 1;
	const struct npuc_tensor *shape;
	int err = npuc_const(p, n, 1, "shape", &shape), open = -1;

	if (err)
		return err;
	if (shape->dtype != NPUC_I64 || npuc_elements(shape) > NPUC_MAX_RANK)
		return npuc_refuse(p, n, "shape is %lld of %s", (long long)npuc_elements(shape),
				   npuc_dtype_name(shape->dtype));
	y->rank = npuc_elements(shape);
	for (int i = 0; i < y->rank; i++) {
		int64_t dim = ((int64_t *)shape->data)[i];

		if (dim == 0 && i < x->rank && !npuc_attr_int(n, "allowzero", 0))
			dim = x->dim[i];
		if (dim == -1 && open < 0)
			open = i;
		else if (dim < 1 || dim > rest || (known *= dim) > rest)
			return npuc_refuse(p, n, "dimension %d of shape is %lld", i,
					   (long long)dim);
		y->dim[i] = dim;
	}
	if (open >= 0)
		y->dim[open] = rest / known;
	if (open < 0 ? known != rest : rest % known)
		return npuc_refuse(p, n, "%lld elements do not fit the new shape", (long long)rest);
	return 0;
}

/* Squeeze and Unsqueeze: the node's axes as a mask over @rank dimensions; 0 without axes. */
static int read_axes(struct npuc_program *p, const struct npuc_node *n, int rank,
		     unsigned int *mask)
{
	const struct npuc_attr *a = npuc_attr(n, "axes");
	const int64_t *axes = a ? a->ints : NULL;
	size_t count = a ? a->n_ints : 0;
	const struct npuc_tensor *t;

	*mask = 0;
	if (!a && n->n_in > 1 && n->in[1] >= 0) {
		int err = npuc_const(p, n, 1, "axes", &t);

		if (err)
			return err;
		if (t->dtype != NPUC_I64)
			return npuc_refuse(p, n, "axes are %s, want int64",
					   npuc_dtype_name(t->dtype));
		axes = t->data;
		count = npuc_elements(t);
	}
	for (size_t i = 0; i < count; i++) {
		int64_t axis = axes[i] < 0 ? axes[i] + rank : axes[i];

		if (axis < 0 || axis >= rank || *mask & 1u << axis)
			return npuc_refuse(p, n, "axis %lld of %d dimensions", (long long)axes[i],
					   rank);
		*mask |= 1u << axis;
	}
	return 0;
}

static int squeeze_shape(struct npuc_program *p, const struct npuc_node *n,
			 const struct npuc_tensor *x, struct npuc_tensor *y)
{
	unsigned int mask;
	int err = read_axes(p, n, x->rank, &mask);

	if (err)
		return err;
	y->rank = 0;
	for (int i = 0; i < x->rank; i++) {
		bool drop = mask ? mask >> i & 1 : x->dim[i] == 1;

		if (drop && x->dim[i] != 1)
			return npuc_refuse(p, n, "dimension %d is %lld, want 1", i,
					   (long long)x->dim[i]);
		if (!drop)
			y->dim[y->rank++] = x->dim[i];
	}
	return 0;
}

static int unsqueeze_shape(struct npuc_program *p, const struct npuc_node *n,
			   const struct npuc_tensor *x, struct npuc_tensor *y)
{
	unsigned int mask;
	int rank, from = 0, err;

	const struct npuc_attr *a = npuc_attr(n, "axes");
	size_t count = a ? a->n_ints : 0;

	if (!a && n->n_in > 1 && n->in[1] >= 0)
		count = npuc_elements(&p->g->tensor[n->in[1]]);
	if (count > (size_t)(NPUC_MAX_RANK - x->rank))
		return npuc_refuse(p, n, "more than %d dimensions", NPUC_MAX_RANK);
	rank = x->rank + count;
	err = read_axes(p, n, rank, &mask);
	if (err)
		return err;
	y->rank = rank;
	for (int i = 0; i < rank; i++)
		y->dim[i] = mask >> i & 1 ? 1 : x->dim[from++];
	return 0;
}

int npuc_view_shape(struct npuc_program *p, const struct npuc_node *n, const struct npuc_tensor *x,
		    struct npuc_tensor *y)
{
	if (!strcmp(n->op, "Flatten"))
		return flatten_shape(p, n, x, y);
	if (!strcmp(n->op, "Reshape"))
		return reshape_shape(p, n, x, y);
	if (!strcmp(n->op, "Squeeze"))
		return squeeze_shape(p, n, x, y);
	if (!strcmp(n->op, "Unsqueeze"))
		return unsqueeze_shape(p, n, x, y);
	y->rank = x->rank;
	memcpy(y->dim, x->dim, sizeof(y->dim));
	return 0;
}

int npuc_lower_view(struct npuc_program *p, const struct npuc_node *n)
{
	const struct npuc_tensor *x = &p->g->tensor[n->in[0]];
	struct npuc_tensor *y = &p->g->tensor[n->out[0]];
	int in = npuc_value_of(p, n->in[0]), out, err;

	if (in < 0)
		return in;
	err = npuc_view_shape(p, n, x, y);
	if (err)
		return err;
	y->dtype = x->dtype;
	out = npuc_value_new(p, n->out[0]);
	if (out < 0)
		return out;
	p->value[out].alias = in;
	return npuc_placed(p, n, "free", -1, 0);
}
