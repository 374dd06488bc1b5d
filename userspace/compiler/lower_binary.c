// SPDX-License-Identifier: MIT
/* Add and Mul, quantised and in floats, with broadcasting. */
#include "userspace/compiler/program.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The two tensors of a node, and the shape of its result. */
struct pair {
	const struct npuc_tensor *x[2];
	struct npuc_place place[2];
	int rank;
	int64_t dim[NPUC_MAX_RANK];
};

/* Extent of @t along dimension @i of @rank, as if ones stood before its own. */
static int64_t extent(const struct npuc_tensor *t, int i, int rank)
{
	int own = i - (rank - t->rank);

	return own < 0 ? 1 : t->dim[own];
}

static int broadcast_shape(struct npuc_program *p, const struct npuc_node *n, struct pair *pair)
{
	char as[128], bs[128];

	pair->rank = pair->x[0]->rank > pair->x[1]->rank ? pair->x[0]->rank : pair->x[1]->rank;
	for (int i = 0; i < pair->rank; i++) {
		int64_t a = extent(pair->x[0], i, pair->rank);
		int64_t b = extent(pair->x[1], i, pair->rank);

		if (a != b && a != 1 && b != 1)
			return npuc_refuse(p, n, "shapes %s and %s do not agree",
					   npuc_shape_text(pair->x[0], as, sizeof(as)),
					   npuc_shape_text(pair->x[1], bs, sizeof(bs)));
		pair->dim[i] = a > b ? a : b;
	}
	return 0;
}

static int64_t elements(const struct pair *pair)
{
	int64_t count = 1;

	for (int i = 0; i < pair->rank; i++)
		count *= pair->dim[i];
	return count;
}

/* Repeats operand @which where the result has more of it. */
static int spread(struct npuc_program *p, const struct npuc_node *n, struct pair *pair, int which)
{
	const struct npuc_tensor *x = pair->x[which];
	size_t element = npuc_dtype_size(x->dtype), size;
	int64_t src[NPUC_MAX_RANK];
	struct npu_host_gather *g;
	struct npuc_place to;
	int err;

	if (npuc_elements(x) == elements(pair))
		return 0;
	for (int i = 0; i < pair->rank; i++)
		src[i] = extent(x, i, pair->rank);
	g = npuc_gather_new(pair->rank, src, pair->dim, element, &size);
	if (!g)
		return npuc_fail(p->d, -ENOMEM, "out of memory");
	for (int i = 0; i < pair->rank; i++)
		for (int64_t k = 0; k < pair->dim[i]; k++)
			npuc_gather_list(g, i)[k] = src[i] == 1 ? 0 : k;
	to = npuc_scratch(p, elements(pair) * element);
	err = npuc_stage_host(p, n->name, "gather", pair->place[which], to, g, size);
	pair->place[which] = to;
	free(g);
	return err < 0 ? err : 0;
}

static int prepare(struct npuc_program *p, const struct npuc_node *n, size_t a, size_t b,
		   enum npuc_dtype dtype, struct npuc_place *operand)
{
	struct pair pair = { .x = { &p->g->tensor[n->in[a]], &p->g->tensor[n->in[b]] } };
	int err = broadcast_shape(p, n, &pair);

	if (!err && pair.x[1]->dtype != dtype)
		err = npuc_refuse(p, n, "inputs are %s and %s", npuc_dtype_name(dtype),
				  npuc_dtype_name(pair.x[1]->dtype));
	if (!err)
		err = npuc_host_input(p, n, a, &pair.place[0]);
	if (!err)
		err = npuc_host_input(p, n, b, &pair.place[1]);
	if (!err)
		err = npuc_host_output(p, n, dtype, pair.rank, pair.dim, &operand[2]);
	for (int i = 0; i < 2 && !err; i++)
		err = spread(p, n, &pair, i);
	operand[0] = pair.place[0];
	operand[1] = pair.place[1];
	return err;
}

static int float_binary(struct npuc_program *p, const struct npuc_node *n)
{
	const char *kernel = strcmp(n->op, "Add") ? "mul_f32" : "add_f32";
	const struct npuc_tensor *x = &p->g->tensor[n->in[0]];
	struct npuc_place operand[3];
	struct npu_host_copy param;
	int err;

	if (n->n_in != 2)
		return npuc_refuse(p, n, "wants 2 inputs, has %zu", n->n_in);
	if (n->in[1] < 0)
		return npuc_refuse(p, n, "input 1 is missing");
	if (x->dtype != NPUC_F32)
		return npuc_refuse(p, n, "input is %s, want float32", npuc_dtype_name(x->dtype));
	err = prepare(p, n, 0, 1, NPUC_F32, operand);
	if (err)
		return err;
	param.size = operand[2].size;
	return npuc_host_last(p, n, kernel, operand, 3, &param, sizeof(param));
}

/*
 * Whether ONNX Runtime takes A for the one that is the same over a run of
 * elements, and therefore adds it first: so it is where A has one element along
 * the innermost dimension of both in which either has more.
 */
static bool a_is_added_first(const struct npuc_tensor *a, const struct npuc_tensor *b)
{
	int common = a->rank < b->rank ? a->rank : b->rank;

	if (!common)
		return !a->rank || a->dim[a->rank - 1] == 1;
	for (int i = 1; i < common; i++)
		if (a->dim[a->rank - i] > 1 || b->dim[b->rank - i] > 1)
			return a->dim[a->rank - i] == 1;
	return a->dim[a->rank - common] == 1;
}

static void swap_operands(struct npu_host_binary8 *param, struct npuc_place *operand)
{
	struct npu_host_scale scale = param->a;
	struct npuc_place place = operand[0];

	param->a = param->b;
	param->b = scale;
	operand[0] = operand[1];
	operand[1] = place;
}

/* Inputs: a, its scale and zero point, b, the same, scale and zero point of the result. */
static int quantised_binary(struct npuc_program *p, const struct npuc_node *n)
{
	bool sum = !strcmp(n->op, "QLinearAdd");
	enum npuc_dtype dtype = p->g->tensor[n->in[0]].dtype;
	struct npu_host_binary8 param = { .dtype_code = dtype == NPUC_U8, .dtype_bits = 8 };
	struct npuc_place operand[3];
	int err = npuc_quantised(p, n, 0);

	if (!err)
		err = npuc_quantised(p, n, 3);
	if (!err)
		err = npuc_host_scale(p, n, 1, "scale of A", dtype, &param.a);
	if (!err)
		err = npuc_host_scale(p, n, 4, "scale of B", dtype, &param.b);
	if (!err)
		err = npuc_host_scale(p, n, 6, "scale of C", dtype, &param.y);
	if (err)
		return err;
	err = npuc_lower_pair(p, n, sum ? NPUC_SUM : NPUC_PRODUCT, &param);
	if (err != -ENOENT)
		return err;
	err = prepare(p, n, 0, 3, dtype, operand);
	if (err)
		return err;
	if (a_is_added_first(&p->g->tensor[n->in[0]], &p->g->tensor[n->in[3]]))
		swap_operands(&param, operand);
	param.size = operand[2].size;
	return npuc_host_last(p, n, sum ? "quantized_add" : "quantized_mul", operand, 3, &param,
			      sizeof(param));
}

int npuc_lower_binary(struct npuc_program *p, const struct npuc_node *n)
{
	return strncmp(n->op, "QLinear", 7) ? float_binary(p, n) : quantised_binary(p, n);
}
