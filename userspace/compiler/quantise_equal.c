// SPDX-License-Identifier: MIT
/*
 * Evens out the channels of tensors.
 *
 * One scale serves all channels of a tensor, so a channel of small values beside
 * one of large values is left with a few steps. Between convolutions a channel may
 * be divided by any factor where it is made and multiplied by it where it is read,
 * in the weights; Relu, pools, Add and Concat pass the factor on. Channels that are
 * bound to each other in this way form a class and share one factor, which is 1
 * where something else looks at the values.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "userspace/compiler/quantise.h"

/**
 * struct classes - channels of all tensors of 4 dimensions
 * @first: for each tensor its first channel's number; channels of a tensor follow
 * @n: channels of all
 * @parent: of each channel, another one of its class, or itself
 * @most: largest magnitude of a channel; then the logarithm of what it has of its tensor's
 *	range, and at the root of a class the sum of these
 * @count: channels in that sum
 * @weight: largest weight of convolutions over all channels that read it
 * @fixed: the factor is 1
 * @factor: in the end
 */
struct classes {
	struct npuc_graph *g;
	size_t *first, n;
	size_t *parent;
	float *most, *weight, *factor;
	unsigned int *count;
	bool *fixed;
};

static bool has_channels(const struct npuc_tensor *t)
{
	return t->rank == 4 && !t->data;
}

static size_t root(struct classes *k, size_t channel)
{
	while (k->parent[channel] != channel)
		channel = k->parent[channel] = k->parent[k->parent[channel]];
	return channel;
}

static void join(struct classes *k, size_t a, size_t b)
{
	a = root(k, a);
	b = root(k, b);
	k->parent[b] = a;
	k->most[a] += k->most[b];
	k->count[a] += k->count[b];
	k->fixed[a] |= k->fixed[b];
}

static void fix(struct classes *k, int tensor)
{
	for (int64_t c = 0; tensor >= 0 && has_channels(&k->g->tensor[tensor]) &&
			    c < k->g->tensor[tensor].dim[1]; c++)
		k->fixed[root(k, k->first[tensor] + c)] = true;
}

/* Channel c of @a is channel c + @at of @b. */
static void join_tensors(struct classes *k, int a, int b, int64_t at)
{
	for (int64_t c = 0; c < k->g->tensor[a].dim[1]; c++)
		join(k, k->first[a] + c, k->first[b] + at + c);
}

static bool all_zero(const struct npuc_tensor *t)
{
	for (int64_t i = 0; t->dtype == NPUC_F32 && i < npuc_elements(t); i++)
		if (((float *)t->data)[i])
			return false;
	return t->dtype == NPUC_F32;
}

/* A convolution whose weights can be changed. */
static bool is_conv(const struct npuc_graph *g, const struct npuc_node *n)
{
	const struct npuc_tensor *w, *b;

	if (strcmp(n->op, "Conv") || n->n_in < 2 || n->in[0] < 0 || n->in[1] < 0)
		return false;
	w = &g->tensor[n->in[1]];
	b = n->n_in > 2 && n->in[2] >= 0 ? &g->tensor[n->in[2]] : NULL;
	return w->data && w->dtype == NPUC_F32 && w->rank == 4 && npuc_elements(w) &&
	       (!b || (b->data && b->dtype == NPUC_F32 && npuc_elements(b) == w->dim[0]));
}

/* Adds up the inputs' channels (Concat), or lays them on one another (the others). */
static void pass_on(struct classes *k, const struct npuc_node *n, bool concat)
{
	const struct npuc_tensor *y = &k->g->tensor[n->out[0]];
	int64_t at = 0, axis = npuc_attr_int(n, "axis", 0);

	for (size_t i = 0; i < n->n_in; i++) {
		const struct npuc_tensor *x = n->in[i] < 0 ? NULL : &k->g->tensor[n->in[i]];
		bool fits = x && y->rank == 4 && x->rank == 4 &&
			    (concat ? axis == 1 || axis == -3 : x->dim[1] == y->dim[1]);

		if (!fits || (x->data && !all_zero(x))) {
			fix(k, n->in[i]);
			fix(k, n->out[0]);
		} else if (!x->data) {
			join_tensors(k, n->in[i], n->out[0], at);
		}
		at += fits && concat ? x->dim[1] : 0;
	}
}

static void bind(struct classes *k, const struct npuc_node *n)
{
	static const char *const passing[] = { "Add", "AveragePool", "Dropout", "GlobalAveragePool",
					       "Identity", "LeakyRelu", "MaxPool", "Relu" };

	if (is_conv(k->g, n))
		return;
	for (size_t i = 0; i < sizeof(passing) / sizeof(passing[0]); i++)
		if (!strcmp(n->op, passing[i]))
			return pass_on(k, n, false);
	if (!strcmp(n->op, "Concat"))
		return pass_on(k, n, true);
	for (size_t i = 0; i < n->n_in; i++)
		fix(k, n->in[i]);
	fix(k, n->out[0]);
}

/* The channel of the input that weight @i of @n meets. */
static int64_t input_channel(const struct npuc_tensor *w, int64_t groups, int64_t i)
{
	int64_t window = w->dim[2] * w->dim[3], output = i / window / w->dim[1];

	return output / (w->dim[0] / groups) * w->dim[1] + i / window % w->dim[1];
}

/*
 * Where each output has one input its own scale takes a factor without loss; over
 * many inputs weights of all sizes come under one scale, which counts.
 */
static void weigh(struct classes *k, const struct npuc_node *n)
{
	const struct npuc_tensor *w = &k->g->tensor[n->in[1]];

	for (int64_t i = 0; w->dim[1] > 1 && i < npuc_elements(w); i++) {
		size_t c = root(k, k->first[n->in[0]] +
					   input_channel(w, npuc_attr_int(n, "group", 1), i));

		k->weight[c] = fmaxf(k->weight[c], fabsf(((float *)w->data)[i]));
	}
}

/*
 * A class has a different part of the range in each of its tensors: the geometric
 * mean is fair to all. Where weights count, values and weights share the factor.
 */
static void choose(struct classes *k)
{
	for (size_t i = 0; i < k->n; i++) {
		size_t c = root(k, i);
		float factor = k->count[c] ? expf(k->most[c] / k->count[c]) : 1;

		if (k->weight[c] > 0)
			factor = sqrtf(factor / k->weight[c]);

		k->factor[i] = k->fixed[c] || !isnormal(factor) ? 1 : factor;
	}
}

static int scale_weights(struct classes *k, struct npuc_node *n)
{
	struct npuc_tensor w = k->g->tensor[n->in[1]];
	int64_t all = npuc_elements(&w), groups = npuc_attr_int(n, "group", 1);
	const float *in = k->factor + k->first[n->in[0]], *out = k->factor + k->first[n->out[0]];
	float *data = malloc(all * sizeof(*data));
	int err;

	if (!data)
		return -ENOMEM;
	for (int64_t i = 0; i < all; i++)
		data[i] = ((float *)w.data)[i] * in[input_channel(&w, groups, i)] /
			  out[i / (all / w.dim[0])];
	err = npuc_replace_constant(k->g, n, 1, "even_weight", &w, data);
	free(data);
	return err;
}

static int scale_bias(struct classes *k, struct npuc_node *n)
{
	struct npuc_tensor b;
	float *data;
	int err;

	if (n->n_in < 3 || n->in[2] < 0)
		return 0;
	b = k->g->tensor[n->in[2]];
	data = malloc(npuc_elements(&b) * sizeof(*data));
	if (!data)
		return -ENOMEM;
	for (int64_t i = 0; i < npuc_elements(&b); i++)
		data[i] = ((float *)b.data)[i] / k->factor[k->first[n->out[0]] + i];
	err = npuc_replace_constant(k->g, n, 2, "even_bias", &b, data);
	free(data);
	return err;
}

static void seen(void *arg, int tensor, float *value, int64_t n)
{
	struct classes *k = arg;
	const struct npuc_tensor *t = &k->g->tensor[tensor];
	int64_t pixels = t->dim[2] * t->dim[3];

	for (int64_t i = 0; has_channels(t) && i < n; i++) {
		float *most = &k->most[k->first[tensor] + i / pixels % t->dim[1]];

		*most = fmaxf(*most, fabsf(value[i]));
	}
}

/* Shapes are known after a run of the graph. */
static int number(struct classes *k)
{
	const struct npuc_graph *g = k->g;

	k->n = 0;
	k->first = calloc(g->n_tensor + 1, sizeof(*k->first));
	if (!k->first)
		return -ENOMEM;
	for (size_t i = 0; i < g->n_tensor; i++) {
		k->first[i] = k->n;
		k->n += has_channels(&g->tensor[i]) ? g->tensor[i].dim[1] : 0;
	}
	k->parent = calloc(k->n + 1, sizeof(*k->parent));
	k->most = calloc(k->n + 1, sizeof(*k->most));
	k->weight = calloc(k->n + 1, sizeof(*k->weight));
	k->count = calloc(k->n + 1, sizeof(*k->count));
	k->factor = calloc(k->n + 1, sizeof(*k->factor));
	k->fixed = calloc(k->n + 1, sizeof(*k->fixed));
	for (size_t i = 0; k->parent && i < k->n; i++)
		k->parent[i] = i;
	return k->parent && k->most && k->weight && k->factor && k->fixed ? 0 : -ENOMEM;
}

/* What a channel has of its tensor's range, as a logarithm. */
static void relate(struct classes *k)
{
	for (size_t i = 0; i < k->g->n_tensor; i++) {
		int64_t n = has_channels(&k->g->tensor[i]) ? k->g->tensor[i].dim[1] : 0;
		float *most = k->most + k->first[i], all = 0;

		for (int64_t c = 0; c < n; c++)
			all = fmaxf(all, most[c]);
		for (int64_t c = 0; c < n; c++) {
			k->count[k->first[i] + c] = most[c] > 0;
			most[c] = most[c] > 0 ? logf(most[c] / all) : 0;
		}
	}
}

static int apply(struct classes *k)
{
	struct npuc_graph *g = k->g;
	int err = 0;

	relate(k);

	for (size_t i = 0; i < g->n_input; i++)
		fix(k, g->input[i]);
	for (size_t i = 0; i < g->n_output; i++)
		fix(k, g->output[i]);
	for (size_t i = 0; i < g->n_node; i++)
		if (!g->node[i].dead)
			bind(k, &g->node[i]);
	for (size_t i = 0; i < g->n_node; i++)
		if (!g->node[i].dead && is_conv(g, &g->node[i]))
			weigh(k, &g->node[i]);
	choose(k);
	for (size_t i = 0; i < g->n_node && !err; i++) {
		if (g->node[i].dead || !is_conv(g, &g->node[i]))
			continue;
		err = scale_weights(k, &g->node[i]);
		if (!err)
			err = scale_bias(k, &g->node[i]);
	}
	return err;
}

static int run_first(struct npuc_quantiser *q, struct npuc_eval *e)
{
	const float **input = calloc(q->g->n_input, sizeof(*input));
	int err = input ? 0 : -ENOMEM;

	for (size_t i = 0; input && i < q->g->n_input; i++)
		input[i] = q->c->input[i].data;
	if (!err)
		err = npuc_eval_run(e, input);
	free(input);
	return err;
}

static int measure(struct npuc_quantiser *q, struct classes *k)
{
	struct npuc_eval e = { 0 };
	int err = npuc_eval_init(&e, q->g, q->d);

	if (!err)
		err = run_first(q, &e);
	if (!err)
		err = number(k);
	e.arg = k;
	e.seen = seen;
	if (!err)
		err = npuc_run_all(q, &e, NULL, NULL);
	npuc_eval_free(&e);
	return err;
}

int npuc_equalise(struct npuc_quantiser *q)
{
	struct classes k = { .g = q->g };
	int err = measure(q, &k);

	if (!err)
		err = apply(&k);
	free(k.first);
	free(k.parent);
	free(k.most);
	free(k.weight);
	free(k.count);
	free(k.factor);
	free(k.fixed);
	return err ? npuc_fail(q->d, err, "channels cannot be evened out: %s",
			       err == -EEXIST ? "a tensor's name ends like one of its own"
					      : strerror(-err)) : 0;
}
