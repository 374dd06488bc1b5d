// SPDX-License-Identifier: MIT
/* Concat and QLinearConcat: each input becomes blocks of the result. */
#include "userspace/compiler/program.h"

#include <errno.h>
#include <string.h>

/* What is joined: inputs @first, @first + @step ... of the node. */
struct joint {
	size_t first, step;
	int axis;
	struct npuc_place to;
	uint64_t outer;	   /* blocks of an input */
	uint64_t dst_step; /* bytes from block to block of the result */
	uint64_t at;	   /* bytes before the next block in the first one of the result */
};

static bool same_but_axis(const struct npuc_tensor *a, const struct npuc_tensor *b, int axis)
{
	if (a->rank != b->rank || a->dtype != b->dtype)
		return false;
	for (int i = 0; i < a->rank; i++)
		if (i != axis && a->dim[i] != b->dim[i])
			return false;
	return true;
}

static int open_joint(struct npuc_program *p, const struct npuc_node *n, struct joint *j)
{
	const struct npuc_tensor *x = &p->g->tensor[n->in[j->first]];
	int64_t dim[NPUC_MAX_RANK];
	char as[128], bs[128];
	int err;

	if (!npuc_attr(n, "axis"))
		return npuc_refuse(p, n, "axis is missing");
	err = npuc_axis(p, n, 0, x->rank, &j->axis);
	if (err)
		return err;
	memcpy(dim, x->dim, sizeof(dim));
	for (size_t i = j->first + j->step; i < n->n_in; i += j->step) {
		const struct npuc_tensor *t = n->in[i] < 0 ? NULL : &p->g->tensor[n->in[i]];

		if (!t || !same_but_axis(x, t, j->axis))
			return npuc_refuse(p, n, "inputs %s %s and %s %s do not agree",
					   npuc_dtype_name(x->dtype),
					   npuc_shape_text(x, as, sizeof(as)),
					   t ? npuc_dtype_name(t->dtype) : "none",
					   t ? npuc_shape_text(t, bs, sizeof(bs)) : "");
		dim[j->axis] += t->dim[j->axis];
	}
	j->outer = 1;
	for (int i = 0; i < j->axis; i++)
		j->outer *= dim[i];
	err = npuc_host_output(p, n, x->dtype, x->rank, dim, &j->to);
	j->dst_step = j->to.size / j->outer;
	return err;
}

/* Copies the next input, which is at @from, into its blocks; the stage. */
static int join(struct npuc_program *p, const struct npuc_node *n, struct joint *j,
		struct npuc_place from)
{
	uint64_t size = from.size / j->outer;
	struct npu_host_blocks param = { j->outer, size, size, j->dst_step };
	struct npuc_place to = j->to;

	to.offset += j->at;
	to.size = (j->outer - 1) * j->dst_step + size;
	j->at += size;
	return npuc_stage_host(p, n->name, "copy_blocks", from, to, &param, sizeof(param));
}

int npuc_lower_concat(struct npuc_program *p, const struct npuc_node *n)
{
	struct joint j = { .first = 0, .step = 1 };
	int err = open_joint(p, n, &j), stage = -1;

	for (size_t i = 0; i < n->n_in && !err; i++) {
		struct npuc_place from;

		err = npuc_host_input(p, n, i, &from);
		if (!err)
			stage = join(p, n, &j, from);
		if (stage < 0 && !err)
			err = stage;
	}
	return err ? err : npuc_placed(p, n, "host", stage, 0);
}

/* An input in the quantisation of the result. */
static int requantised(struct npuc_program *p, const struct npuc_node *n,
		       const struct npuc_table *t, struct npuc_place *place)
{
	struct npu_host_lookup param = { .size = place->size };
	struct npuc_place to;
	int stage;

	if (t->x.scale == t->y.scale && t->x.zero_point == t->y.zero_point)
		return 0;
	npuc_fill_table(t, param.table);
	to = npuc_scratch(p, place->size);
	stage = npuc_stage_host(p, n->name, "lookup8", *place, to, &param, sizeof(param));
	*place = to;
	return stage < 0 ? stage : 0;
}

/* Inputs: scale and zero point of the result, then of each tensor itself, scale, zero point. */
int npuc_lower_quantised_concat(struct npuc_program *p, const struct npuc_node *n)
{
	struct joint j = { .first = 2, .step = 3 };
	struct npuc_table t = { 0 };
	int err, stage = -1;

	if (n->n_in < 5 || (n->n_in - 2) % 3)
		return npuc_refuse(p, n, "wants 2 inputs and 3 for each tensor, has %zu", n->n_in);
	err = npuc_quantised(p, n, 2);
	if (err)
		return err;
	t.x_type = t.y_type = p->g->tensor[n->in[2]].dtype;
	err = npuc_host_scale(p, n, 0, "output scale", t.x_type, &t.y);
	if (!err)
		err = open_joint(p, n, &j);
	for (size_t i = 2; i < n->n_in && !err; i += 3) {
		struct npuc_place from;

		err = npuc_host_scale(p, n, i + 1, "input scale", t.x_type, &t.x);
		if (!err)
			err = npuc_host_input(p, n, i, &from);
		if (!err)
			err = requantised(p, n, &t, &from);
		if (!err)
			stage = join(p, n, &j, from);
		if (stage < 0 && !err)
			err = stage;
	}
	return err ? err : npuc_placed(p, n, "host", stage, 0);
}
