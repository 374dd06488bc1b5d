/* SPDX-License-Identifier: MIT */
/*
 * A float graph becomes a quantised one: int8 values with a scale and a zero
 * point for each tensor, int8 weights with a scale for each output channel.
 */
#ifndef NPU_COMPILER_QUANTISE_H
#define NPU_COMPILER_QUANTISE_H

#include "userspace/compiler/evaluate.h"
#include "userspace/compiler/npu_compiler.h"

/* The values that int8 can take for a tensor: (q - zero) * scale. */
struct npuc_grid {
	float scale;
	int zero;
};

/**
 * struct npuc_quantiser - what is known of a float graph
 * @g: the float graph
 * @d: messages
 * @c: the samples
 * @grid: for each tensor; of use where @kept is set
 * @kept: tensors that exist as int8 in the quantised graph
 * @fused: for each node, the Relu or Clip whose work its bounds do, or -1
 * @steps: runs of the graph so far
 * @row: the report, a row for each node that computes on int8
 */
struct npuc_quantiser {
	struct npuc_graph *g;
	struct npuc_diag *d;
	const struct npu_calibration *c;
	struct npuc_grid *grid;
	bool *kept;
	int *fused;
	struct npu_calibrated_row *row;
	size_t n_row;
	struct npu_calibrated total;
	unsigned int steps;
};

/* BatchNormalization becomes part of the convolution before it. */
int npuc_fold_norms(struct npuc_graph *g, struct npuc_diag *d);

/* A constant of its own, @data in the form of @shape, for input @at of a node. */
int npuc_replace_constant(struct npuc_graph *g, struct npuc_node *n, size_t at, const char *suffix,
			  const struct npuc_tensor *shape, const float *data);

/* Checks the samples against the graph's inputs; gives how many runs they make. */
int npuc_check_samples(struct npuc_quantiser *q);

/* Evens out the channels between convolutions: the graph computes the same with other weights. */
int npuc_equalise(struct npuc_quantiser *q);

/* One pass over all samples, through one evaluator or two side by side. */
int npuc_run_all(struct npuc_quantiser *q, struct npuc_eval *a, struct npuc_eval *b,
		 int (*each)(struct npuc_quantiser *q, struct npuc_eval *a, struct npuc_eval *b,
			     unsigned int run));

/* What each node of the graph will be in int8: sets @kept and @fused. */
int npuc_choose_kept(struct npuc_quantiser *q);

/* Runs all samples and sets @grid. */
int npuc_measure(struct npuc_quantiser *q);

/* Runs all samples as they are and on the grids; fills the report. */
int npuc_compare(struct npuc_quantiser *q);

/* The grid that loses least of values in [@lo, @hi]. */
struct npuc_grid npuc_grid_of(float lo, float hi);
float npuc_on_grid(const struct npuc_grid *grid, float x);

/* Conv, Gemm and MatMul: input 1 has the weights. */
bool npuc_has_weights(const struct npuc_node *n);

/* MaxPool, Reshape and their like: the result is some of the input's values. */
bool npuc_moves_values(const struct npuc_node *n);

/* Bounds of Clip and Relu; -EOPNOTSUPP if they are no constants. */
struct npuc_clip {
	float lo, hi;
};
int npuc_read_clip(const struct npuc_graph *g, const struct npuc_node *n, struct npuc_clip *out);

/* The weight of an output channel of @n, @i counting within the channel. */
float npuc_weight_at(const struct npuc_tensor *w, const struct npuc_node *n, int64_t channel,
		     int64_t i);

/* The scale of each output channel's weights, to be freed; NULL without memory. */
float *npuc_weight_scales(const struct npuc_quantiser *q, const struct npuc_node *n);

/* Makes the quantised graph. */
int npuc_quantise(const struct npuc_quantiser *q, struct npuc_graph **out);

/* All of the above: replaces @g. The report lives in @q until npuc_quantiser_free(). */
int npuc_calibrate(struct npuc_graph **g, const struct npu_calibration *c, struct npuc_quantiser *q,
		   struct npuc_diag *d);
void npuc_quantiser_free(struct npuc_quantiser *q);

#endif
