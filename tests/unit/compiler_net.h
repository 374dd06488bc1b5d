/* SPDX-License-Identifier: MIT */
/*
 * Networks for the compiler's tests: made node by node, with the expected
 * output computed beside them straight from ONNX Runtime's rules, in plain
 * loops that share nothing with the compiler.
 */
#ifndef TESTS_UNIT_COMPILER_NET_H
#define TESTS_UNIT_COMPILER_NET_H

#include <stdbool.h>
#include <stdint.h>
#include "onnx.pb-c.h"

#define NET_MAX_NODES 32
#define NET_MAX_DIMS  4

struct net_tensor {
	char name[16];
	int rank;
	int64_t dim[NET_MAX_DIMS];
	bool is_unsigned;
	int *value; /* elements of int8 or uint8 */
	float scale;
	int zero;
};

/* A network under construction; the last tensor is what the next node reads. */
struct net {
	Onnx__ModelProto model;
	Onnx__GraphProto graph;
	uint64_t seed;
	struct net_tensor now;
	float *input; /* float input of the whole */
	int64_t input_elements;
	float *output; /* expected float output */
	int64_t output_elements;
	int nodes;
	struct net_tensor kept;  /* by net_keep() */
	const int *weight_zero; /* if set: zero points, counted from the lowest value */
};

/* Zero points of weights. */
enum net_zeros {
	NET_SYMMETRIC,
	NET_ZERO,
	NET_ZERO_A_CHANNEL,
};

struct net_conv {
	int out_c, kernel_h, kernel_w, stride_h, stride_w, dilation, groups;
	int pad[4]; /* top, left, bottom, right */
	bool bias, per_channel, unsigned_weights;
	int out_zero;
	enum net_zeros zeros;
	bool other_type; /* the output is uint8 if the input is int8, and so on */
};

struct net_product {
	int columns, out_zero;
	bool per_channel, unsigned_weights;
	enum net_zeros zeros;
	bool other_type;
	bool gemm; /* QGemm, not QLinearMatMul */
	bool bias, turned; /* of QGemm */
	float alpha; /* 0 for none */
};

struct net_pool {
	int kernel_h, kernel_w, stride_h, stride_w, dilation_h, dilation_w;
	int pad[4]; /* top, left, bottom, right */
	bool ceil;
};

uint32_t net_random(struct net *n);
int net_range(struct net *n, int lo, int hi);

void net_init(struct net *n, uint64_t seed, int images, int c, int h, int w, bool is_unsigned,
	      int zero);
void net_conv(struct net *n, const struct net_conv *c);
void net_matmul(struct net *n, int columns, int out_zero);
void net_product(struct net *n, const struct net_product *c);
void net_pool(struct net *n, const struct net_pool *c);
void net_maxpool(struct net *n, int kh, int kw, int sh, int sw, const int *pad);
void net_relu(struct net *n);
/* QLinearLeakyRelu with that output zero point. */
void net_leaky_relu(struct net *n, float alpha, int out_zero);
/* QLinearSigmoid with scale 1/256 and the lowest zero point. */
void net_sigmoid(struct net *n);
/* The last tensor is kept for net_pair() to read, too. */
void net_keep(struct net *n);
/* QLinearAdd or QLinearMul of the last tensor and the kept one, of the same shape and type. */
void net_pair(struct net *n, bool sum, float out_scale, int out_zero);
void net_clip(struct net *n, int lo, int hi);
void net_flatten(struct net *n);
/* Ends the graph with DequantizeLinear. */
void net_finish(struct net *n);
void *net_pack(struct net *n, size_t *size);
void net_free(struct net *n);

/* For tests of refusals: a node as it is, and a constant. */
Onnx__NodeProto *net_node(struct net *n, const char *op);
void net_rename_op(struct net *n, const char *op);
void net_attr(struct net *n, const char *name, int64_t value);

#endif
