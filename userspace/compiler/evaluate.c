// SPDX-License-Identifier: MIT
#include "userspace/compiler/evaluate.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const struct {
	const char *op;
	int (*run)(struct npuc_eval *e, const struct npuc_node *n);
} operators[] = {
	{ "Add", npuc_eval_binary },
	{ "AveragePool", npuc_eval_pool },
	{ "Clip", npuc_eval_unary },
	{ "Concat", npuc_eval_concat },
	{ "Conv", npuc_eval_conv },
	{ "Dropout", npuc_eval_view },
	{ "Flatten", npuc_eval_view },
	{ "Gemm", npuc_eval_gemm },
	{ "GlobalAveragePool", npuc_eval_global_pool },
	{ "Identity", npuc_eval_view },
	{ "LeakyRelu", npuc_eval_unary },
	{ "MatMul", npuc_eval_gemm },
	{ "MaxPool", npuc_eval_pool },
	{ "Mul", npuc_eval_binary },
	{ "Relu", npuc_eval_unary },
	{ "Reshape", npuc_eval_view },
	{ "Sigmoid", npuc_eval_unary },
	{ "Softmax", npuc_eval_softmax },
	{ "Squeeze", npuc_eval_view },
	{ "Transpose", npuc_eval_transpose },
	{ "Unsqueeze", npuc_eval_view },
};

int npuc_eval_oom(struct npuc_eval *e)
{
	return npuc_fail(e->p.d, -ENOMEM, "out of memory");
}

const struct npuc_tensor *npuc_eval_tensor(struct npuc_eval *e, const struct npuc_node *n,
					   size_t i)
{
	return i < n->n_in && n->in[i] >= 0 ? &e->p.g->tensor[n->in[i]] : NULL;
}

const float *npuc_eval_in(struct npuc_eval *e, const struct npuc_node *n, size_t i)
{
	return i < n->n_in && n->in[i] >= 0 ? e->value[n->in[i]] : NULL;
}

float *npuc_eval_out(struct npuc_eval *e, const struct npuc_node *n, int rank, const int64_t *dim)
{
	struct npuc_tensor *t = &e->p.g->tensor[n->out[0]];
	float *grown;

	t->dtype = NPUC_F32;
	t->rank = rank;
	memmove(t->dim, dim, rank * sizeof(*dim));
	grown = realloc(e->value[n->out[0]], npuc_elements(t) * sizeof(float));
	if (grown)
		e->value[n->out[0]] = grown;
	return grown;
}

int npuc_eval_init(struct npuc_eval *e, const struct npuc_graph *g, struct npuc_diag *d)
{
	e->p = (struct npuc_program){ .g = g, .d = d };
	e->seen = NULL;
	e->value = calloc(g->n_tensor + 1, sizeof(*e->value));
	if (!e->value)
		return npuc_eval_oom(e);
	for (size_t i = 0; i < g->n_tensor; i++) {
		const struct npuc_tensor *t = &g->tensor[i];
		size_t bytes = npuc_elements(t) * sizeof(float);

		if (!t->data || t->dtype != NPUC_F32)
			continue;
		e->value[i] = malloc(bytes);
		if (!e->value[i])
			return npuc_eval_oom(e);
		memcpy(e->value[i], t->data, bytes);
	}
	return 0;
}

void npuc_eval_free(struct npuc_eval *e)
{
	if (!e->value)
		return;
	for (size_t i = 0; i < e->p.g->n_tensor; i++)
		free(e->value[i]);
	free(e->value);
	e->value = NULL;
}

static void tell(struct npuc_eval *e, int tensor)
{
	if (e->seen)
		e->seen(e->arg, tensor, e->value[tensor], npuc_elements(&e->p.g->tensor[tensor]));
}

static int check_inputs(struct npuc_eval *e, const struct npuc_node *n)
{
	if (n->n_in < 1 || n->n_out < 1 || n->in[0] < 0 || n->out[0] < 0)
		return npuc_refuse(&e->p, n, "has no input or no output");
	for (size_t i = 0; i < n->n_in; i++) {
		const struct npuc_tensor *t = npuc_eval_tensor(e, n, i);

		if (t && !t->data && !e->value[n->in[i]])
			return npuc_refuse(&e->p, n, "input %s has no value", t->name);
	}
	for (size_t i = 1; i < n->n_out; i++)
		if (n->out[i] >= 0 && e->p.g->tensor[n->out[i]].uses)
			return npuc_refuse(&e->p, n, "output %s is not possible",
					   e->p.g->tensor[n->out[i]].name);
	if (!e->value[n->in[0]])
		return npuc_refuse(&e->p, n, "input %s is %s, want float32",
				   e->p.g->tensor[n->in[0]].name,
				   npuc_dtype_name(e->p.g->tensor[n->in[0]].dtype));
	return 0;
}

static int run_node(struct npuc_eval *e, const struct npuc_node *n)
{
	for (size_t i = 0; i < sizeof(operators) / sizeof(operators[0]); i++) {
		int err;

		if (strcmp(n->op, operators[i].op))
			continue;
		err = check_inputs(e, n);
		if (!err)
			err = operators[i].run(e, n);
		if (!err)
			tell(e, n->out[0]);
		return err;
	}
	return npuc_refuse(&e->p, n, "this operator cannot be quantised");
}

int npuc_eval_run(struct npuc_eval *e, const float *const *input)
{
	const struct npuc_graph *g = e->p.g;
	int err = 0;

	for (size_t i = 0; i < g->n_input; i++) {
		int t = g->input[i];
		size_t bytes = npuc_elements(&g->tensor[t]) * sizeof(float);
		float *grown = realloc(e->value[t], bytes);

		if (!grown)
			return npuc_eval_oom(e);
		e->value[t] = memcpy(grown, input[i], bytes);
		tell(e, t);
	}
	for (size_t i = 0; i < g->n_node && !err; i++)
		if (!g->node[i].dead)
			err = run_node(e, &g->node[i]);
	return err;
}
