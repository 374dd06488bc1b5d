// SPDX-License-Identifier: MIT
/* Which tensors of a float graph become int8, and how fine. */
#include "userspace/compiler/quantise.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Scales stay where the multiplier of a layer is a normal float32. */
#define LEAST_SCALE 0x1p-60f

static bool one_of(const char *op, const char *const *list)
{
	while (*list && strcmp(*list, op))
		list++;
	return *list;
}

bool npuc_has_weights(const struct npuc_node *n)
{
	static const char *const ops[] = { "Conv", "Gemm", "MatMul", NULL };

	return one_of(n->op, ops);
}

bool npuc_moves_values(const struct npuc_node *n)
{
	static const char *const ops[] = { "Dropout", "Flatten", "Identity", "MaxPool", "Reshape",
					   "Squeeze", "Transpose", "Unsqueeze", NULL };

	return one_of(n->op, ops);
}

/* What stays float, on the host. */
static bool stays_float(const struct npuc_node *n)
{
	return !strcmp(n->op, "Softmax");
}

/* Relu, or a Clip around 0: bounds that a grid can have instead. */
static bool bounds_only(const struct npuc_quantiser *q, const struct npuc_node *n)
{
	struct npuc_clip clip;

	if (!strcmp(n->op, "Relu"))
		return true;
	return !strcmp(n->op, "Clip") && !npuc_read_clip(q->g, n, &clip) && clip.lo <= 0 &&
	       clip.hi >= 0;
}

int npuc_read_clip(const struct npuc_graph *g, const struct npuc_node *n, struct npuc_clip *out)
{
	static const char *const names[] = { "min", "max" };
	float bound[] = { -INFINITY, INFINITY };

	if (!strcmp(n->op, "Relu"))
		bound[0] = 0;
	for (size_t i = 0; i < 2 && strcmp(n->op, "Relu"); i++) {
		const struct npuc_attr *a = npuc_attr(n, names[i]);
		const struct npuc_tensor *t = i + 1 < n->n_in && n->in[i + 1] >= 0
						      ? &g->tensor[n->in[i + 1]] : NULL;

		if (t && (!t->data || t->dtype != NPUC_F32 || npuc_elements(t) != 1))
			return -EOPNOTSUPP;
		if (t)
			bound[i] = *(float *)t->data;
		else if (a && a->kind == NPUC_ATTR_FLOAT)
			bound[i] = a->f;
	}
	*out = (struct npuc_clip){ bound[0], bound[1] };
	return 0;
}

/* The node that alone reads what @n makes; -1 if there are others or it is an output. */
static int only_reader(const struct npuc_quantiser *q, const struct npuc_node *n)
{
	if (q->g->tensor[n->out[0]].uses != 1)
		return -1;
	for (size_t i = 0; i < q->g->n_node; i++)
		if (!q->g->node[i].dead && q->g->node[i].n_in && q->g->node[i].in[0] == n->out[0])
			return i;
	return -1;
}

static int check_node(struct npuc_quantiser *q, const struct npuc_node *n)
{
	const struct npuc_tensor *w = n->n_in > 1 && n->in[1] >= 0 ? &q->g->tensor[n->in[1]] : NULL;

	if (n->n_in < 1 || n->n_out < 1 || n->in[0] < 0 || n->out[0] < 0)
		return npuc_fail(q->d, -EOPNOTSUPP, "%s %s: has no input or no output", n->op,
				 n->name);
	if (npuc_has_weights(n) && (!w || !w->data || w->dtype != NPUC_F32 || w->rank < 2))
		return npuc_fail(q->d, -EOPNOTSUPP,
				 "%s %s: its second input must be a constant of float32", n->op,
				 n->name);
	return 0;
}

static void keep_floats(struct npuc_quantiser *q, const int *tensor, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (tensor[i] >= 0 && !q->g->tensor[tensor[i]].data)
			q->kept[tensor[i]] = true;
}

int npuc_choose_kept(struct npuc_quantiser *q)
{
	for (size_t i = 0; i < q->g->n_node; i++) {
		const struct npuc_node *n = &q->g->node[i];
		int err, reader;

		q->fused[i] = -1;
		if (n->dead)
			continue;
		err = check_node(q, n);
		if (err)
			return err;
		if (stays_float(n))
			continue;
		keep_floats(q, n->in, n->n_in);
		reader = npuc_moves_values(n) || bounds_only(q, n) ? -1 : only_reader(q, n);
		if (reader >= 0 && bounds_only(q, &q->g->node[reader]))
			q->fused[i] = reader;
		keep_floats(q, n->out, 1);
	}
	for (size_t i = 0; i < q->g->n_node; i++)
		if (!q->g->node[i].dead && q->fused[i] >= 0)
			q->kept[q->g->node[i].out[0]] = false;
	return 0;
}

/* What only moves values has its input's grid, in whatever order the nodes stand. */
static void share_grids(struct npuc_quantiser *q)
{
	for (size_t i = 0; i < q->g->n_node; i++) {
		const struct npuc_node *n = &q->g->node[i];

		if (!n->dead && q->kept[n->in[0]] &&
		    (npuc_moves_values(n) || !strcmp(n->op, "Relu") || !strcmp(n->op, "Clip")))
			q->grid[n->out[0]] = q->grid[n->in[0]];
	}
}

static bool by_column(const struct npuc_node *n)
{
	return !strcmp(n->op, "MatMul") ||
	       (!strcmp(n->op, "Gemm") && !npuc_attr_int(n, "transB", 0));
}

float npuc_weight_at(const struct npuc_tensor *w, const struct npuc_node *n, int64_t channel,
		     int64_t i)
{
	const float *value = w->data;
	int64_t channels = w->dim[by_column(n)], per = npuc_elements(w) / channels;

	return by_column(n) ? value[i * channels + channel] : value[channel * per + i];
}

/* Large enough for the weights, and for the bias to fit into int32. */
float *npuc_weight_scales(const struct npuc_quantiser *q, const struct npuc_node *n)
{
	const struct npuc_tensor *w = &q->g->tensor[n->in[1]];
	const struct npuc_tensor *b = n->n_in > 2 && n->in[2] >= 0 ? &q->g->tensor[n->in[2]] : NULL;
	int64_t channels = w->dim[by_column(n)], per = npuc_elements(w) / channels;
	float *scale = calloc(channels, sizeof(*scale));

	for (int64_t c = 0; scale && c < channels; c++) {
		float most = 0;

		for (int64_t i = 0; i < per; i++)
			most = fmaxf(most, fabsf(npuc_weight_at(w, n, c, i)));
		scale[c] = fmaxf(most / 127, LEAST_SCALE);
		if (b && b->data && npuc_elements(b) == channels)
			scale[c] = fmaxf(scale[c], fabsf(((float *)b->data)[c]) /
							   (q->grid[n->in[0]].scale * 0x1p30f));
	}
	return scale;
}

/* A row for each node that computes; the tensor is the one that exists as int8. */
static int make_report(struct npuc_quantiser *q)
{
	q->row = calloc(q->g->n_node + 1, sizeof(*q->row));
	if (!q->row)
		return npuc_fail(q->d, -ENOMEM, "out of memory");
	for (size_t i = 0; i < q->g->n_node; i++) {
		const struct npuc_node *n = &q->g->node[i];
		int out = q->fused[i] < 0 ? n->out[0] : q->g->node[q->fused[i]].out[0];

		if (n->dead || stays_float(n) || npuc_moves_values(n) || bounds_only(q, n) ||
		    !q->kept[out])
			continue;
		q->row[q->n_row++] = (struct npu_calibrated_row){
			.op = n->op, .name = n->name, .tensor = out,
			.scale = q->grid[out].scale, .zero = q->grid[out].zero,
		};
	}
	return 0;
}

static int check_float(struct npuc_quantiser *q)
{
	for (size_t i = 0; i < q->g->n_node; i++) {
		const struct npuc_node *n = &q->g->node[i];

		if (n->op[0] == 'Q' || !strcmp(n->op, "DequantizeLinear"))
			return npuc_fail(q->d, -EINVAL, "%s %s: the model is quantised already",
					 n->op, n->name);
	}
	return 0;
}

static int calibrate(struct npuc_quantiser *q, struct npuc_graph **out)
{
	int err = check_float(q);

	if (!err)
		err = npuc_fold_norms(q->g, q->d);
	if (!err)
		err = npuc_check_samples(q);
	if (!err)
		err = npuc_equalise(q);
	if (err)
		return err;
	q->grid = calloc(q->g->n_tensor + 1, sizeof(*q->grid));
	q->kept = calloc(q->g->n_tensor + 1, sizeof(*q->kept));
	q->fused = calloc(q->g->n_node + 1, sizeof(*q->fused));
	if (!q->grid || !q->kept || !q->fused)
		return npuc_fail(q->d, -ENOMEM, "out of memory");
	err = npuc_choose_kept(q);
	if (!err)
		err = npuc_measure(q);
	if (err)
		return err;
	share_grids(q);
	err = make_report(q);
	if (!err)
		err = npuc_compare(q);
	return err ? err : npuc_quantise(q, out);
}

/* @g is replaced; the report's names live as long as the float graph, which @q then owns. */
int npuc_calibrate(struct npuc_graph **g, const struct npu_calibration *c, struct npuc_quantiser *q,
		   struct npuc_diag *d)
{
	struct npuc_graph *out = NULL;
	int err;

	*q = (struct npuc_quantiser){ .g = *g, .d = d, .c = c };
	err = calibrate(q, &out);
	*g = out;
	return err;
}

void npuc_quantiser_free(struct npuc_quantiser *q)
{
	npuc_graph_free(q->g);
	free(q->grid);
	free(q->kept);
	free(q->fused);
	free(q->row);
}
