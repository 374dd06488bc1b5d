/* SPDX-License-Identifier: MIT */
/*
 * Runs a float graph as it is, in plain loops: what calibration measures, and
 * what the quantised graph is compared with.
 */
#ifndef NPU_COMPILER_EVALUATE_H
#define NPU_COMPILER_EVALUATE_H

#include "userspace/compiler/program.h"

/**
 * struct npuc_eval - a graph with the values of one run
 * @p: the graph and the messages, for what is shared with lowering
 * @value: elements of each float tensor, NULL before it is made; constants are copies
 * @seen: called with each input and each output of a node when it is made; may change its values
 * @arg: its argument
 */
struct npuc_eval {
	struct npuc_program p;
	float **value;
	void (*seen)(void *arg, int tensor, float *value, int64_t n);
	void *arg;
};

int npuc_eval_init(struct npuc_eval *e, const struct npuc_graph *g, struct npuc_diag *d);
void npuc_eval_free(struct npuc_eval *e);

/* One run; @input has the elements of each input of the graph. Sets the shapes of all tensors. */
int npuc_eval_run(struct npuc_eval *e, const float *const *input);

/* For evaluate_*.c: shape and memory of output 0 of @n; gives its values, NULL without memory. */
float *npuc_eval_out(struct npuc_eval *e, const struct npuc_node *n, int rank, const int64_t *dim);
/* The values of input @i of @n, NULL where it is left out. */
const float *npuc_eval_in(struct npuc_eval *e, const struct npuc_node *n, size_t i);
const struct npuc_tensor *npuc_eval_tensor(struct npuc_eval *e, const struct npuc_node *n,
					   size_t i);
int npuc_eval_oom(struct npuc_eval *e);

int npuc_eval_conv(struct npuc_eval *e, const struct npuc_node *n);
int npuc_eval_gemm(struct npuc_eval *e, const struct npuc_node *n);
int npuc_eval_pool(struct npuc_eval *e, const struct npuc_node *n);
int npuc_eval_global_pool(struct npuc_eval *e, const struct npuc_node *n);
int npuc_eval_binary(struct npuc_eval *e, const struct npuc_node *n);
int npuc_eval_unary(struct npuc_eval *e, const struct npuc_node *n);
int npuc_eval_softmax(struct npuc_eval *e, const struct npuc_node *n);
int npuc_eval_concat(struct npuc_eval *e, const struct npuc_node *n);
int npuc_eval_transpose(struct npuc_eval *e, const struct npuc_node *n);
int npuc_eval_view(struct npuc_eval *e, const struct npuc_node *n);

#endif
