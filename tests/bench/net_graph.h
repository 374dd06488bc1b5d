/* SPDX-License-Identifier: MIT */
/*
 * The ONNX graph of a network that is one chain: its layers, parts of it, and
 * the scale of its logits. A layer is a QLinearConv or QLinearMatMul with what
 * follows up to the next one; what comes before the first belongs to the first.
 */
#ifndef TESTS_BENCH_NET_GRAPH_H
#define TESTS_BENCH_NET_GRAPH_H

#include <stddef.h>
#include <stdint.h>
#include <npu/npu.h>

#define NET_MODEL	"tests/models/fashion.onnx"

struct net_graph;

/* NULL after a message on stderr. */
struct net_graph *net_graph_load(const char *path);
void net_graph_free(struct net_graph *g);

unsigned int net_graph_layers(const struct net_graph *g);
const char *net_graph_layer_name(const struct net_graph *g, unsigned int layer);

/**
 * net_graph_cut - a model of some of the layers
 * @g: the whole
 * @first: first layer
 * @last: last layer
 * @input: shape of its int8 input; not read if @first is 0, which takes the
 *	network's
 * @size: out: bytes of the model
 *
 * The output is int8 unless @last is the network's last layer.
 *
 * Return: the model, to be freed; NULL after a message on stderr.
 */
void *net_graph_cut(const struct net_graph *g, unsigned int first, unsigned int last,
		    const struct npu_tensor_info *input, size_t *size);

/**
 * net_graph_logit_scale - scale of the DequantizeLinear at the end
 * @g: network
 *
 * Return: scale; 0 after a message on stderr: there is none, or its zero point
 * is not 0.
 */
float net_graph_logit_scale(const struct net_graph *g);

/**
 * net_logits_quantised - the int8 values that logits were made of
 * @logits: logits
 * @count: their number
 * @scale: from net_graph_logit_scale()
 * @out: int8 values
 *
 * Return: number of logits that no int8 value gives.
 */
size_t net_logits_quantised(const float *logits, size_t count, float scale, int8_t *out);

#endif
