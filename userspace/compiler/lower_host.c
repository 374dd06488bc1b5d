// SPDX-License-Identifier: MIT
/* What the operators of host kernels have in common. */
#include "userspace/compiler/program.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int npuc_host_input(struct npuc_program *p, const struct npuc_node *n, size_t index,
		    struct npuc_place *out)
{
	const struct npuc_tensor *t;
	int value, err;

	if (index >= n->n_in || n->in[index] < 0)
		return npuc_refuse(p, n, "input %zu is missing", index);
	t = &p->g->tensor[n->in[index]];
	if (t->data)
		return npuc_constant(p, t->data, npuc_elements(t) * npuc_dtype_size(t->dtype), out);
	value = npuc_value_of(p, n->in[index]);
	err = value < 0 ? value : npuc_dense(p, value);
	if (err)
		return err;
	while (p->value[value].alias >= 0)
		value = p->value[value].alias;
	*out = p->value[value].dense;
	return 0;
}

int npuc_host_output(struct npuc_program *p, const struct npuc_node *n, enum npuc_dtype dtype,
		     int rank, const int64_t *dim, struct npuc_place *out)
{
	struct npuc_tensor *y = &p->g->tensor[n->out[0]];
	int64_t elements = 1;
	int value;

	for (int i = 0; i < rank; i++)
		if (dim[i] < 1 || __builtin_mul_overflow(elements, dim[i], &elements) ||
		    elements > (int64_t)(NPU_PLAN_MAX_BYTES / 8))
			return npuc_refuse(p, n, "dimension %d of the output is %lld", i,
					   (long long)dim[i]);
	y->dtype = dtype;
	y->rank = rank;
	memcpy(y->dim, dim, rank * sizeof(*dim));
	value = npuc_value_new(p, n->out[0]);
	if (value < 0)
		return value;
	*out = npuc_dense_place(p, n->out[0]);
	p->value[value].dense = *out;
	return 0;
}

int npuc_host_last(struct npuc_program *p, const struct npuc_node *n, const char *kernel,
		   const struct npuc_place *operand, int operands, const void *param,
		   size_t param_size)
{
	int stage = npuc_stage_host_n(p, n->name, kernel, operand, operands, param, param_size);

	return stage < 0 ? stage : npuc_placed(p, n, "host", stage, 0);
}

int npuc_host_scale(struct npuc_program *p, const struct npuc_node *n, size_t index,
		    const char *what, enum npuc_dtype dtype, struct npu_host_scale *out)
{
	int zero = 0, err = npuc_scalar_f32(p, n, index, what, &out->scale);

	if (!err && index + 1 < n->n_in && n->in[index + 1] >= 0)
		err = npuc_zero_point(p, n, index + 1, what, dtype, &zero);
	out->zero_point = zero;
	return err;
}

int npuc_quantised(struct npuc_program *p, const struct npuc_node *n, size_t index)
{
	enum npuc_dtype dtype;

	if (index >= n->n_in || n->in[index] < 0)
		return npuc_refuse(p, n, "input %zu is missing", index);
	dtype = p->g->tensor[n->in[index]].dtype;
	if (dtype != NPUC_I8 && dtype != NPUC_U8)
		return npuc_refuse(p, n, "input %zu is %s; int8 and uint8 are possible", index,
				   npuc_dtype_name(dtype));
	return 0;
}

int npuc_axis(struct npuc_program *p, const struct npuc_node *n, int64_t def, int rank, int *out)
{
	int64_t axis = npuc_attr_int(n, "axis", def);

	if (axis < -rank || axis >= rank)
		return npuc_refuse(p, n, "axis %lld of %d dimensions", (long long)axis, rank);
	*out = axis < 0 ? axis + rank : axis;
	return 0;
}

struct npu_host_gather *npuc_gather_new(int rank, const int64_t *src, const int64_t *dst,
					size_t element, size_t *size)
{
	struct npu_host_gather *g;
	int64_t lists = 0;

	for (int i = 0; i < rank; i++)
		lists += dst[i];
	*size = sizeof(*g) + (rank ? lists : 1) * sizeof(int32_t);
	g = calloc(1, *size);
	if (!g)
		return NULL;
	g->element = element;
	g->ndim = rank ? rank : 1;
	g->src_shape[0] = g->dst_shape[0] = 1;
	for (int i = 0; i < rank; i++) {
		g->src_shape[i] = src[i];
		g->dst_shape[i] = dst[i];
	}
	return g;
}

int32_t *npuc_gather_list(struct npu_host_gather *g, int dim)
{
	int32_t *list = (int32_t *)(g + 1);

	for (int i = 0; i < dim; i++)
		list += g->dst_shape[i];
	return list;
}
