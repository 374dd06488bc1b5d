// SPDX-License-Identifier: MIT
/* Cuts a chain of operators. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "onnx.pb-c.h"
#include "tests/bench/net_graph.h"

#define MAX_LAYERS	64
#define MAX_BYTES	(64l << 20)

/**
 * struct net_graph - a model and its layers
 * @model: all of it
 * @layers: their number
 * @start: first node of each layer, and the number of nodes at the end
 * @name: its QLinearConv or QLinearMatMul
 */
struct net_graph {
	Onnx__ModelProto *model;
	unsigned int layers;
	size_t start[MAX_LAYERS + 1];
	const char *name[MAX_LAYERS];
};

static void *read_file(const char *path, size_t *size)
{
	FILE *file = fopen(path, "rb");
	void *data = NULL;
	long length = -1;

	if (file && !fseek(file, 0, SEEK_END))
		length = ftell(file);
	if (length > 0 && length <= MAX_BYTES)
		data = malloc(length);
	if (data && (fseek(file, 0, SEEK_SET) || fread(data, length, 1, file) != 1)) {
		free(data);
		data = NULL;
	}
	if (!data)
		perror(path);
	if (file)
		fclose(file);
	*size = length;
	return data;
}

static int is_layer(const Onnx__NodeProto *node)
{
	return !strcmp(node->op_type, "QLinearConv") || !strcmp(node->op_type, "QLinearMatMul");
}

/* A cut passes one tensor on, so each node must read what the one before it makes. */
static int is_chain(const Onnx__GraphProto *graph)
{
	size_t i;

	for (i = 0; i < graph->n_node; i++) {
		const Onnx__NodeProto *node = graph->node[i];
		const char *from = i ? graph->node[i - 1]->output[0] : graph->input[0]->name;

		if (!node->n_input || node->n_output != 1 || strcmp(node->input[0], from))
			return 0;
	}
	return 1;
}

static int find_layers(struct net_graph *g)
{
	const Onnx__GraphProto *graph = g->model->graph;
	size_t i;

	if (!graph || graph->n_input != 1 || graph->n_output != 1 || !is_chain(graph))
		return -1;
	for (i = 0; i < graph->n_node && g->layers < MAX_LAYERS; i++) {
		if (!is_layer(graph->node[i]))
			continue;
		g->start[g->layers] = g->layers ? i : 0;
		g->name[g->layers++] = graph->node[i]->name;
	}
	g->start[g->layers] = graph->n_node;
	return g->layers ? 0 : -1;
}

struct net_graph *net_graph_load(const char *path)
{
	struct net_graph *g = calloc(1, sizeof(*g));
	size_t size;
	void *data = g ? read_file(path, &size) : NULL;

	if (data)
		g->model = onnx__model_proto__unpack(NULL, size, data);
	free(data);
	if (g && g->model && !find_layers(g))
		return g;
	fprintf(stderr, "%s: expected an ONNX model that is one chain\n", path);
	net_graph_free(g);
	return NULL;
}

void net_graph_free(struct net_graph *g)
{
	if (g && g->model)
		onnx__model_proto__free_unpacked(g->model, NULL);
	free(g);
}

unsigned int net_graph_layers(const struct net_graph *g)
{
	return g->layers;
}

const char *net_graph_layer_name(const struct net_graph *g, unsigned int layer)
{
	return g->name[layer];
}

/**
 * struct value - an int8 tensor at a cut, as protobuf wants it
 * @info: the whole, which points to the others
 */
struct value {
	Onnx__ValueInfoProto info;
	Onnx__TypeProto type;
	Onnx__TypeProto__Tensor tensor;
	Onnx__TensorShapeProto shape;
	Onnx__TensorShapeProto__Dimension dim[NPU_MAX_DIMS];
	Onnx__TensorShapeProto__Dimension *dims[NPU_MAX_DIMS];
};

static void value_init(struct value *v, char *name, const struct npu_tensor_info *info)
{
	int i;

	onnx__value_info_proto__init(&v->info);
	onnx__type_proto__init(&v->type);
	onnx__type_proto__tensor__init(&v->tensor);
	onnx__tensor_shape_proto__init(&v->shape);
	v->info.name = name;
	v->info.type = &v->type;
	v->type.value_case = ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE;
	v->type.tensor_type = &v->tensor;
	v->tensor.has_elem_type = 1;
	v->tensor.elem_type = ONNX__TENSOR_PROTO__DATA_TYPE__INT8;
	if (!info)
		return;
	v->tensor.shape = &v->shape;
	v->shape.n_dim = info->ndim;
	v->shape.dim = v->dims;
	for (i = 0; i < info->ndim; i++) {
		onnx__tensor_shape_proto__dimension__init(&v->dim[i]);
		v->dim[i].value_case = ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_VALUE;
		v->dim[i].dim_value = info->shape[i];
		v->dims[i] = &v->dim[i];
	}
}

void *net_graph_cut(const struct net_graph *g, unsigned int first, unsigned int last,
		    const struct npu_tensor_info *input, size_t *size)
{
	Onnx__ModelProto model = *g->model;
	Onnx__GraphProto graph = *g->model->graph;
	Onnx__ValueInfoProto *in, *out;
	struct value in_value, out_value;
	void *data;

	graph.node += g->start[first];
	graph.n_node = g->start[last + 1] - g->start[first];
	value_init(&in_value, graph.node[0]->input[0], input);
	value_init(&out_value, graph.node[graph.n_node - 1]->output[0], NULL);
	in = &in_value.info;
	out = &out_value.info;
	if (first)
		graph.input = &in;
	if (last + 1 < g->layers)
		graph.output = &out;
	model.graph = &graph;

	*size = onnx__model_proto__get_packed_size(&model);
	data = malloc(*size);
	if (data)
		onnx__model_proto__pack(&model, data);
	else
		fprintf(stderr, "out of memory for a model of %zu bytes\n", *size);
	return data;
}

/* ---- logits ---- */

static const Onnx__TensorProto *constant(const Onnx__GraphProto *graph, const char *name)
{
	size_t i;

	for (i = 0; i < graph->n_initializer; i++)
		if (!strcmp(graph->initializer[i]->name, name))
			return graph->initializer[i];
	return NULL;
}

float net_graph_logit_scale(const struct net_graph *g)
{
	const Onnx__GraphProto *graph = g->model->graph;
	const Onnx__NodeProto *node = graph->node[graph->n_node - 1];
	const Onnx__TensorProto *scale = NULL, *zero = NULL;
	float value = 0;

	if (!strcmp(node->op_type, "DequantizeLinear") && node->n_input == 3) {
		scale = constant(graph, node->input[1]);
		zero = constant(graph, node->input[2]);
	}
	if (scale && scale->raw_data.len == sizeof(value) && zero &&
	    zero->data_type == ONNX__TENSOR_PROTO__DATA_TYPE__INT8 && zero->raw_data.len == 1 &&
	    !zero->raw_data.data[0])
		memcpy(&value, scale->raw_data.data, sizeof(value));
	if (!(value > 0))
		fprintf(stderr, "expected DequantizeLinear from int8 with zero point 0 at the end\n");
	return value > 0 ? value : 0;
}

size_t net_logits_quantised(const float *logits, size_t count, float scale, int8_t *out)
{
	size_t i, strange = 0;

	for (i = 0; i < count; i++) {
		float value = fminf(fmaxf(rintf(logits[i] / scale), INT8_MIN), INT8_MAX);

		out[i] = value;
		strange += !(value * scale == logits[i]);
	}
	return strange;
}
