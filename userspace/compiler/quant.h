/* SPDX-License-Identifier: MIT */
/* What operators with weights say of their quantisation, and layers made of it. */
#ifndef NPU_COMPILER_QUANT_H
#define NPU_COMPILER_QUANT_H

#include "userspace/compiler/program.h"

/**
 * struct npuc_quant - the quantisation of a node, read from its inputs
 * @x_scale: of the input
 * @y_scale: of the output
 * @x_zero: of the input
 * @y_zero: of the output
 * @w: weights
 * @w_scale: one, or one an output channel
 * @w_zero: one, or one an output channel
 * @x_type: of the input
 * @y_type: of the output
 */
struct npuc_quant {
	float x_scale, y_scale;
	int x_zero, y_zero;
	const struct npuc_tensor *w, *w_scale, *w_zero;
	enum npuc_dtype x_type, y_type;
};

/*
 * Inputs 1, 2 (x) and 4, 5 (w) are scale and zero point, 3 is w; scale and
 * zero point of the output are inputs @y_index and the one after it.
 */
int npuc_read_quant(struct npuc_program *p, const struct npuc_node *n, size_t y_index,
		    struct npuc_quant *q);

/* The multiplier of each output channel, in the steps that ONNX Runtime takes. */
int npuc_make_scales(struct npuc_program *p, const struct npuc_node *n, const struct npuc_quant *q,
		     float alpha, struct npuc_layer *l);

/* Bounds and zero points of what is stored. */
void npuc_set_bounds(struct npuc_layer *l, const struct npuc_quant *q);

/* Parts that the weights need: zero points can make them wider than the core's 8 bits. */
int npuc_weight_parts(const struct npuc_quant *q);

/* Weight @from of channel @o becomes weight @to of the layer, in all its parts. */
void npuc_put_weight(struct npuc_layer *l, size_t to, const struct npuc_quant *q, size_t from,
		     int o);

/* Input @index as the bias, one element for all channels if @broadcast; without one it is 0. */
int npuc_read_bias(struct npuc_program *p, const struct npuc_node *n, size_t index, bool broadcast,
		   struct npuc_layer *l);

/* The output of @n, of the shape of @l's, with memory; or -errno. */
int npuc_layer_out(struct npuc_program *p, const struct npuc_node *n, enum npuc_dtype type,
		   int images, const struct npuc_layer *l);

/* Makes the layer a stage, which takes over its arrays. */
int npuc_finish_layer(struct npuc_program *p, const struct npuc_node *n, struct npuc_layer *l);

#endif
