// SPDX-License-Identifier: MIT
/* BatchNormalization folded into the convolution whose results it scales. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "userspace/compiler/graph_build.h"
#include "userspace/compiler/quantise.h"

#define DEFAULT_EPSILON 1e-5f

struct norm {
	const float *gain, *shift, *mean, *variance;
	float epsilon;
	int64_t channels;
};

static int refuse(struct npuc_diag *d, const struct npuc_node *n, const char *why)
{
	return npuc_fail(d, -EOPNOTSUPP, "%s %s: %s", n->op, n->name, why);
}

static int read_norm(struct npuc_graph *g, const struct npuc_node *n, struct npuc_diag *d,
		     struct norm *out)
{
	const struct npuc_attr *epsilon = npuc_attr(n, "epsilon");
	const float **field[] = { &out->gain, &out->shift, &out->mean, &out->variance };

	out->epsilon = epsilon && epsilon->kind == NPUC_ATTR_FLOAT ? epsilon->f : DEFAULT_EPSILON;
	for (size_t i = 0; i < 4; i++) {
		const struct npuc_tensor *t = i + 1 < n->n_in && n->in[i + 1] >= 0
						      ? &g->tensor[n->in[i + 1]] : NULL;

		if (!t || !t->data || t->dtype != NPUC_F32 || npuc_elements(t) != out->channels)
			return refuse(d, n, "its parameters must be constants of float32, one a channel");
		*field[i] = t->data;
	}
	return 0;
}

int npuc_replace_constant(struct npuc_graph *g, struct npuc_node *n, size_t at, const char *suffix,
			  const struct npuc_tensor *shape, const float *data)
{
	int id = npuc_build_tensor(g, g->tensor[n->out[0]].name, suffix, NPUC_F32);
	int err = id < 0 ? id : npuc_build_constant(g, id, shape->rank, shape->dim, data);

	if (err)
		return err;
	g->tensor[id].uses = 1;
	n->in[at] = id;
	return 0;
}

/* A convolution without a bias gets room for one. */
static int third_input(struct npuc_node *conv)
{
	int *grown = realloc(conv->in, 3 * sizeof(*grown));

	if (!grown)
		return -ENOMEM;
	conv->in = grown;
	while (conv->n_in < 3)
		conv->in[conv->n_in++] = -1;
	return 0;
}

static int scale_conv(struct npuc_graph *g, struct npuc_node *conv, const struct norm *norm)
{
	/* A copy, since new tensors move the others. */
	struct npuc_tensor w = g->tensor[conv->in[1]];
	int64_t all = npuc_elements(&w), per = all / norm->channels;
	const float *b = conv->in[2] < 0 ? NULL : g->tensor[conv->in[2]].data;
	float *weight = malloc(all * sizeof(*weight));
	float *bias = malloc(norm->channels * sizeof(*bias));
	struct npuc_tensor line = { .rank = 1, .dim = { norm->channels } };
	int err = weight && bias ? 0 : -ENOMEM;

	for (int64_t c = 0; c < norm->channels && !err; c++) {
		float gain = norm->gain[c] / sqrtf(norm->variance[c] + norm->epsilon);

		for (int64_t i = 0; i < per; i++)
			weight[c * per + i] = ((float *)w.data)[c * per + i] * gain;
		bias[c] = ((b ? b[c] : 0) - norm->mean[c]) * gain + norm->shift[c];
	}
	if (!err)
		err = npuc_replace_constant(g, conv, 1, "folded_weight", &w, weight);
	if (!err)
		err = npuc_replace_constant(g, conv, 2, "folded_bias", &line, bias);
	free(weight);
	free(bias);
	return err;
}

static bool constant(const struct npuc_graph *g, int t)
{
	return t >= 0 && (g->tensor[t].data && g->tensor[t].dtype == NPUC_F32);
}

/* One element for each output channel. */
static bool bias_fits(const struct npuc_graph *g, const struct npuc_node *conv)
{
	return conv->in[2] < 0 || (constant(g, conv->in[2]) &&
				   npuc_elements(&g->tensor[conv->in[2]]) ==
					   g->tensor[conv->in[1]].dim[0]);
}

static int fold(struct npuc_graph *g, int index, struct npuc_diag *d)
{
	struct npuc_node *n = &g->node[index], *conv;
	struct norm norm;
	int in = n->n_in && n->n_out ? n->in[0] : -1, from, err;

	from = in < 0 ? -1 : g->tensor[in].producer;
	conv = from < 0 ? NULL : &g->node[from];
	if (!conv || strcmp(conv->op, "Conv") || g->tensor[in].uses != 1 || conv->n_in < 2 ||
	    conv->in[1] < 0 || !constant(g, conv->in[1]) ||
	    g->tensor[conv->in[1]].rank < 2 ||
	    (conv->n_in > 2 && !bias_fits(g, conv)))
		return refuse(d, n, "it can only follow a Conv with constant weights, which nothing else reads");
	norm.channels = g->tensor[conv->in[1]].dim[0];
	err = read_norm(g, n, d, &norm);
	if (err)
		return err;
	err = third_input(conv);
	if (!err)
		err = scale_conv(g, conv, &norm);
	if (err)
		return npuc_fail(d, err, "%s %s: cannot be folded: %s", n->op, n->name,
				 strerror(-err));
	/* The convolution makes what the normalisation made. */
	conv->out[0] = n->out[0];
	g->tensor[n->out[0]].producer = from;
	n->dead = true;
	return 0;
}

int npuc_fold_norms(struct npuc_graph *g, struct npuc_diag *d)
{
	int err = 0;

	for (size_t i = 0; i < g->n_node && !err; i++)
		if (!g->node[i].dead && !strcmp(g->node[i].op, "BatchNormalization"))
			err = fold(g, i, d);
	return err;
}
