// SPDX-License-Identifier: MIT
/*
 * Resize to the nearest element. Compiled with -ffp-contract=off: coordinates
 * are binary32 in stated steps.
 */
#include "userspace/compiler/program.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum coordinates { HALF_PIXEL, ASYMMETRIC, PYTORCH_HALF_PIXEL, ALIGN_CORNERS, TF_HALF_PIXEL };
enum nearest { PREFER_FLOOR, PREFER_CEIL, FLOOR, CEIL };

struct resize {
	int coordinates, nearest;
	int64_t dim[NPUC_MAX_RANK];
	float scale[NPUC_MAX_RANK];
};

/* The place of a string attribute among @names; the first where it is absent. */
static int choice(struct npuc_program *p, const struct npuc_node *n, const char *name,
		  const char *const *names, int count, int *out)
{
	const struct npuc_attr *a = npuc_attr(n, name);

	*out = 0;
	if (!a)
		return 0;
	for (int i = 0; i < count; i++) {
		if (a->kind == NPUC_ATTR_STRING && !strcmp(a->s, names[i])) {
			*out = i;
			return 0;
		}
	}
	return npuc_refuse(p, n, "%s is %s", name,
			   a->kind == NPUC_ATTR_STRING ? a->s : "no string");
}

static int read_modes(struct npuc_program *p, const struct npuc_node *n, struct resize *r)
{
	static const char *const coordinates[] = { "half_pixel", "asymmetric",
						   "pytorch_half_pixel", "align_corners",
						   "tf_half_pixel_for_nn" };
	static const char *const nearest[] = { "round_prefer_floor", "round_prefer_ceil", "floor",
					       "ceil" };
	static const char *const mode[] = { "nearest" };
	static const char *const policy[] = { "stretch" };
	int unused, err;

	if (p->g->opset < 11)
		return npuc_refuse(p, n, "operator set %lld, 11 or later is possible",
				   (long long)p->g->opset);
	if (npuc_attr(n, "axes") || npuc_attr_int(n, "antialias", 0))
		return npuc_refuse(p, n, "axes and antialias are not possible");
	err = choice(p, n, "mode", mode, 1, &unused);
	if (!err)
		err = choice(p, n, "keep_aspect_ratio_policy", policy, 1, &unused);
	if (!err)
		err = choice(p, n, "coordinate_transformation_mode", coordinates, 5,
			     &r->coordinates);
	return err ? err : choice(p, n, "nearest_mode", nearest, 4, &r->nearest);
}

/* Inputs 2 and 3 are scales and sizes; one of them is there. */
static int read_sizes(struct npuc_program *p, const struct npuc_node *n,
		      const struct npuc_tensor *x, struct resize *r)
{
	bool by_size = n->n_in > 3 && n->in[3] >= 0;
	const struct npuc_tensor *t;
	int err = npuc_const(p, n, by_size ? 3 : 2, by_size ? "sizes" : "scales", &t);

	if (err)
		return err;
	if (t->dtype != (by_size ? NPUC_I64 : NPUC_F32) || npuc_elements(t) != x->rank)
		return npuc_refuse(p, n, "%s are %lld of %s for %d dimensions",
				   by_size ? "sizes" : "scales", (long long)npuc_elements(t),
				   npuc_dtype_name(t->dtype), x->rank);
	for (int i = 0; i < x->rank; i++) {
		float scale = by_size ? 0 : ((float *)t->data)[i];

		if (!by_size && !(scale > 0 && scale < 1e6f))
			return npuc_refuse(p, n, "scale %d is %g", i, (double)scale);
		r->dim[i] = by_size ? ((int64_t *)t->data)[i]
				    : (int64_t)(scale * (float)x->dim[i]);
		if (r->dim[i] < 1 || r->dim[i] > 1 << 24)
			return npuc_refuse(p, n, "dimension %d becomes %lld", i,
					   (long long)r->dim[i]);
		r->scale[i] = by_size ? (float)r->dim[i] / (float)x->dim[i] : scale;
	}
	return 0;
}

static float coordinate(const struct resize *r, int i, int64_t at, int64_t dim)
{
	float x = (float)at, scale = r->scale[i];

	switch (r->coordinates) {
	case ASYMMETRIC:
		return x / scale;
	case PYTORCH_HALF_PIXEL:
		return r->dim[i] > 1 ? (x + 0.5f) / scale - 0.5f : 0;
	case ALIGN_CORNERS:
		return r->dim[i] == 1 ? 0 : x * (float)(dim - 1) / (float)(r->dim[i] - 1);
	case TF_HALF_PIXEL:
		return (x + 0.5f) / scale;
	default:
		return (x + 0.5f) / scale - 0.5f;
	}
}

/* What lies this near to the middle of two elements counts as the middle. */
#define TIE 1e-6f

static int64_t nearest(const struct resize *r, float x)
{
	float low = floorf(x), part = x - low;

	if (r->nearest == FLOOR)
		return (int64_t)low;
	if (r->nearest == CEIL)
		return (int64_t)ceilf(x);
	if (fabsf(part - 0.5f) <= TIE)
		return (int64_t)low + (r->nearest == PREFER_CEIL);
	return (int64_t)low + (part > 0.5f);
}

static int64_t source(const struct resize *r, int i, int64_t at, int64_t dim)
{
	int64_t from = r->scale[i] == 1 ? at : nearest(r, coordinate(r, i, at, dim));

	return from < 0 ? 0 : from >= dim ? dim - 1 : from;
}

int npuc_lower_resize(struct npuc_program *p, const struct npuc_node *n)
{
	const struct npuc_tensor *x = &p->g->tensor[n->in[0]];
	struct npuc_place operand[2];
	struct npu_host_gather *g;
	struct resize r = { 0 };
	size_t size;
	int err = read_modes(p, n, &r);

	if (!err)
		err = read_sizes(p, n, x, &r);
	if (err)
		return err;
	g = npuc_gather_new(x->rank, x->dim, r.dim, npuc_dtype_size(x->dtype), &size);
	if (!g)
		return npuc_fail(p->d, -ENOMEM, "out of memory");
	for (int i = 0; i < x->rank; i++)
		for (int64_t k = 0; k < r.dim[i]; k++)
			npuc_gather_list(g, i)[k] = source(&r, i, k, x->dim[i]);
	err = npuc_host_input(p, n, 0, &operand[0]);
	if (!err)
		err = npuc_host_output(p, n, x->dtype, x->rank, r.dim, &operand[1]);
	if (!err)
		err = npuc_host_last(p, n, "gather", operand, 2, g, size);
	free(g);
	return err;
}
