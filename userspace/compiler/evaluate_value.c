// SPDX-License-Identifier: MIT
/* Operators on single values, and those that move values, in float. */
#include "userspace/compiler/quantise.h"

#include <errno.h>
#include <math.h>
#include <string.h>

int npuc_eval_unary(struct npuc_eval *e, const struct npuc_node *n)
{
	const struct npuc_tensor *t = npuc_eval_tensor(e, n, 0);
	const float *x = npuc_eval_in(e, n, 0);
	bool sigmoid = !strcmp(n->op, "Sigmoid"), clip = !strcmp(n->op, "Clip");
	struct npuc_clip bounds;
	const struct npuc_attr *alpha = npuc_attr(n, "alpha");
	float slope = strcmp(n->op, "LeakyRelu") ? 0 : alpha ? alpha->f : 0.01f;
	float *out;

	if (clip && npuc_read_clip(e->p.g, n, &bounds))
		return npuc_refuse(&e->p, n, "its bounds must be constants of float32");
	out = npuc_eval_out(e, n, t->rank, t->dim);
	if (!out)
		return npuc_eval_oom(e);
	for (int64_t i = 0; i < npuc_elements(t); i++) {
		if (sigmoid)
			out[i] = 1 / (1 + expf(-x[i]));
		else if (clip)
			out[i] = fminf(fmaxf(x[i], bounds.lo), bounds.hi);
		else
			out[i] = x[i] < 0 ? slope * x[i] : x[i];
	}
	return 0;
}

/* Shapes that broadcast: dimensions of @t seen from the right, and its steps, 0 where it repeats. */
static bool broadcast(const struct npuc_tensor *t, int rank, int64_t *dim, int64_t *step)
{
	int64_t size = 1;

	for (int i = rank - 1; i >= 0; i--) {
		int own = i - (rank - t->rank);
		int64_t d = own < 0 ? 1 : t->dim[own];

		if (dim[i] == 1)
			dim[i] = d;
		if (d != 1 && d != dim[i])
			return false;
		step[i] = d == 1 ? 0 : size;
		size *= d;
	}
	return true;
}

int npuc_eval_binary(struct npuc_eval *e, const struct npuc_node *n)
{
	const struct npuc_tensor *a = npuc_eval_tensor(e, n, 0), *b = npuc_eval_tensor(e, n, 1);
	int64_t dim[NPUC_MAX_RANK], step_a[NPUC_MAX_RANK], step_b[NPUC_MAX_RANK], count = 1;
	const float *x = npuc_eval_in(e, n, 0), *y = npuc_eval_in(e, n, 1);
	bool add = !strcmp(n->op, "Add");
	int rank;
	float *out;

	if (!y)
		return npuc_refuse(&e->p, n, "wants two inputs of float32");
	rank = a->rank > b->rank ? a->rank : b->rank;
	for (int i = 0; i < rank; i++)
		dim[i] = 1;
	if (!broadcast(a, rank, dim, step_a) || !broadcast(b, rank, dim, step_b))
		return npuc_refuse(&e->p, n, "the shapes of the inputs do not agree");
	out = npuc_eval_out(e, n, rank, dim);
	if (!out)
		return npuc_eval_oom(e);
	for (int i = 0; i < rank; i++)
		count *= dim[i];
	for (int64_t i = 0; i < count; i++) {
		int64_t rest = i, at_a = 0, at_b = 0;

		for (int k = rank - 1; k >= 0; k--) {
			at_a += rest % dim[k] * step_a[k];
			at_b += rest % dim[k] * step_b[k];
			rest /= dim[k];
		}
		out[i] = add ? x[at_a] + y[at_b] : x[at_a] * y[at_b];
	}
	return 0;
}

/* Before operator set 13 the axis and all after it are one. */
int npuc_eval_softmax(struct npuc_eval *e, const struct npuc_node *n)
{
	const struct npuc_tensor *t = npuc_eval_tensor(e, n, 0);
	int64_t axis = npuc_attr_int(n, "axis", e->p.g->opset < 13 ? 1 : -1), inner = 1, size = 1;
	const float *x = npuc_eval_in(e, n, 0);
	float *out = npuc_eval_out(e, n, t->rank, t->dim);

	if (!out)
		return npuc_eval_oom(e);
	if (axis < 0)
		axis += t->rank;
	if (axis < 0 || axis >= t->rank)
		return npuc_refuse(&e->p, n, "axis %lld of %d dimensions", (long long)axis, t->rank);
	for (int i = axis; i < t->rank; i++)
		*(i == axis || e->p.g->opset < 13 ? &size : &inner) *= t->dim[i];
	for (int64_t at = 0; at < npuc_elements(t); at++) {
		int64_t first = at / (size * inner) * size * inner + at % inner;
		float max = -INFINITY;
		double sum = 0;

		for (int64_t i = 0; i < size; i++)
			max = fmaxf(max, x[first + i * inner]);
		for (int64_t i = 0; i < size; i++)
			sum += exp(x[first + i * inner] - max);
		out[at] = exp(x[at] - max) / sum;
	}
	return 0;
}

static int concat_shape(struct npuc_eval *e, const struct npuc_node *n, int axis, int64_t *dim)
{
	const struct npuc_tensor *first = npuc_eval_tensor(e, n, 0);

	memcpy(dim, first->dim, first->rank * sizeof(*dim));
	for (size_t i = 1; i < n->n_in; i++) {
		const struct npuc_tensor *t = npuc_eval_tensor(e, n, i);

		if (!npuc_eval_in(e, n, i) || t->rank != first->rank)
			return npuc_refuse(&e->p, n, "input %zu does not fit the first", i);
		for (int k = 0; k < t->rank; k++)
			if (k != axis && t->dim[k] != first->dim[k])
				return npuc_refuse(&e->p, n, "dimension %d of input %zu is %lld, "
						   "that of the first %lld", k, i,
						   (long long)t->dim[k], (long long)first->dim[k]);
		dim[axis] += t->dim[axis];
	}
	return 0;
}

int npuc_eval_concat(struct npuc_eval *e, const struct npuc_node *n)
{
	const struct npuc_tensor *first = npuc_eval_tensor(e, n, 0);
	int64_t dim[NPUC_MAX_RANK], axis = npuc_attr_int(n, "axis", 0), outer = 1, inner = 1;
	float *out;
	int err;

	if (axis < 0)
		axis += first->rank;
	if (axis < 0 || axis >= first->rank)
		return npuc_refuse(&e->p, n, "axis %lld of %d dimensions", (long long)axis,
				   first->rank);
	err = concat_shape(e, n, axis, dim);
	if (err)
		return err;
	for (int i = 0; i < first->rank; i++)
		*(i < axis ? &outer : &inner) *= i == axis ? 1 : dim[i];
	out = npuc_eval_out(e, n, first->rank, dim);
	if (!out)
		return npuc_eval_oom(e);
	for (int64_t o = 0; o < outer; o++)
		for (size_t i = 0; i < n->n_in; i++) {
			int64_t part = npuc_eval_tensor(e, n, i)->dim[axis] * inner;

			memcpy(out, npuc_eval_in(e, n, i) + o * part, part * sizeof(*out));
			out += part;
		}
	return 0;
}

int npuc_eval_transpose(struct npuc_eval *e, const struct npuc_node *n)
{
	const struct npuc_tensor *t = npuc_eval_tensor(e, n, 0);
	int64_t perm[NPUC_MAX_RANK], dim[NPUC_MAX_RANK], step[NPUC_MAX_RANK], size = 1;
	const float *x = npuc_eval_in(e, n, 0);
	unsigned int used = 0;
	float *out;
	int err;

	for (int i = 0; i < t->rank; i++)
		perm[i] = t->rank - 1 - i;
	err = npuc_attr_ints(n, "perm", perm, t->rank, 0, t->rank - 1, e->p.d);
	if (err)
		return err;
	for (int i = t->rank - 1; i >= 0; i--) {
		step[i] = size;
		size *= t->dim[i];
		used |= 1u << perm[i];
	}
	if (used != (1u << t->rank) - 1)
		return npuc_refuse(&e->p, n, "perm names a dimension twice");
	for (int i = 0; i < t->rank; i++)
		dim[i] = t->dim[perm[i]];
	out = npuc_eval_out(e, n, t->rank, dim);
	if (!out)
		return npuc_eval_oom(e);
	for (int64_t i = 0; i < size; i++) {
		int64_t rest = i, at = 0;

		for (int k = t->rank - 1; k >= 0; k--) {
			at += rest % dim[k] * step[perm[k]];
			rest /= dim[k];
		}
		out[i] = x[at];
	}
	return 0;
}

int npuc_eval_view(struct npuc_eval *e, const struct npuc_node *n)
{
	const struct npuc_tensor *x = npuc_eval_tensor(e, n, 0);
	struct npuc_tensor y = { .rank = -1 };
	int err = npuc_view_shape(&e->p, n, x, &y);
	float *out;

	if (err)
		return err;
	out = npuc_eval_out(e, n, y.rank, y.dim);
	if (!out)
		return npuc_eval_oom(e);
	memcpy(out, npuc_eval_in(e, n, 0), npuc_elements(x) * sizeof(*out));
	return 0;
}
