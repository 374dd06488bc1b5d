// SPDX-License-Identifier: MIT
#include "tests/unit/compiler_net.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

uint32_t net_random(struct net *n)
{
	n->seed ^= n->seed << 13;
	n->seed ^= n->seed >> 7;
	n->seed ^= n->seed << 17;
	return n->seed >> 16;
}

int net_range(struct net *n, int lo, int hi)
{
	return lo + (int)(net_random(n) % (unsigned int)(hi - lo + 1));
}

static void *push(void *array, size_t *count, void *item)
{
	void **grown = realloc(array, (*count + 1) * sizeof(void *));

	if (!grown)
		abort();
	grown[(*count)++] = item;
	return grown;
}

static void *zalloc(size_t size)
{
	void *p = calloc(1, size ? size : 1);

	if (!p)
		abort();
	return p;
}

static char *text(const char *fmt, int number)
{
	char buf[32];

	snprintf(buf, sizeof(buf), fmt, number);
	return strdup(buf);
}

Onnx__NodeProto *net_node(struct net *n, const char *op)
{
	Onnx__NodeProto *node = zalloc(sizeof(*node));

	onnx__node_proto__init(node);
	node->op_type = strdup(op);
	node->name = text("node%d", n->nodes);
	n->graph.node = push(n->graph.node, &n->graph.n_node, node);
	n->nodes++;
	return node;
}

static void in(Onnx__NodeProto *node, const char *name)
{
	node->input = push(node->input, &node->n_input, strdup(name));
}

static const char *constant(struct net *n, Onnx__NodeProto *node, int type, int rank,
			    const int64_t *dim, const void *data, size_t bytes)
{
	Onnx__TensorProto *t = zalloc(sizeof(*t));

	onnx__tensor_proto__init(t);
	t->name = text("const%d", n->graph.n_initializer);
	t->has_data_type = 1;
	t->data_type = type;
	t->n_dims = rank;
	t->dims = zalloc(rank * sizeof(*dim));
	if (rank)
		memcpy(t->dims, dim, rank * sizeof(*dim));
	t->has_raw_data = 1;
	t->raw_data.len = bytes;
	t->raw_data.data = zalloc(bytes);
	memcpy(t->raw_data.data, data, bytes);
	n->graph.initializer = push(n->graph.initializer, &n->graph.n_initializer, t);
	if (node)
		in(node, t->name);
	return t->name;
}

static void scalar_f32(struct net *n, Onnx__NodeProto *node, float v)
{
	constant(n, node, ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT, 0, NULL, &v, sizeof(v));
}

static void scalar_q(struct net *n, Onnx__NodeProto *node, bool is_unsigned, int v)
{
	uint8_t byte = v;

	constant(n, node,
		 is_unsigned ? ONNX__TENSOR_PROTO__DATA_TYPE__UINT8
			     : ONNX__TENSOR_PROTO__DATA_TYPE__INT8,
		 0, NULL, &byte, 1);
}

static Onnx__AttributeProto *attribute(Onnx__NodeProto *node, const char *name, int type)
{
	Onnx__AttributeProto *a = zalloc(sizeof(*a));

	onnx__attribute_proto__init(a);
	a->name = strdup(name);
	a->has_type = 1;
	a->type = type;
	node->attribute = push(node->attribute, &node->n_attribute, a);
	return a;
}

static void attr_ints(Onnx__NodeProto *node, const char *name, int count, const int64_t *v)
{
	Onnx__AttributeProto *a =
		attribute(node, name, ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INTS);

	a->n_ints = count;
	a->ints = zalloc(count * sizeof(*v));
	memcpy(a->ints, v, count * sizeof(*v));
}

static void attr_int(Onnx__NodeProto *node, const char *name, int64_t v)
{
	Onnx__AttributeProto *a =
		attribute(node, name, ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INT);

	a->has_i = 1;
	a->i = v;
}

static void attr_float(Onnx__NodeProto *node, const char *name, float v)
{
	Onnx__AttributeProto *a =
		attribute(node, name, ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__FLOAT);

	a->has_f = 1;
	a->f = v;
}

static int64_t elements(const struct net_tensor *t)
{
	int64_t count = 1;

	for (int i = 0; i < t->rank; i++)
		count *= t->dim[i];
	return count;
}

/* The node's output becomes what the next one reads. */
static void becomes(struct net *n, Onnx__NodeProto *node, struct net_tensor *t)
{
	snprintf(t->name, sizeof(t->name), "t%d", n->nodes);
	node->output = push(node->output, &node->n_output, strdup(t->name));
	free(n->now.value);
	n->now = *t;
}

static Onnx__ValueInfoProto *value_info(const char *name, int type, int rank, const int64_t *dim)
{
	Onnx__ValueInfoProto *v = zalloc(sizeof(*v));

	onnx__value_info_proto__init(v);
	v->name = strdup(name);
	v->type = zalloc(sizeof(*v->type));
	onnx__type_proto__init(v->type);
	v->type->value_case = ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE;
	v->type->tensor_type = zalloc(sizeof(*v->type->tensor_type));
	onnx__type_proto__tensor__init(v->type->tensor_type);
	v->type->tensor_type->has_elem_type = 1;
	v->type->tensor_type->elem_type = type;
	v->type->tensor_type->shape = zalloc(sizeof(*v->type->tensor_type->shape));
	onnx__tensor_shape_proto__init(v->type->tensor_type->shape);
	for (int i = 0; i < rank; i++) {
		Onnx__TensorShapeProto__Dimension *d = zalloc(sizeof(*d));

		onnx__tensor_shape_proto__dimension__init(d);
		d->value_case = ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_VALUE;
		d->dim_value = dim[i];
		v->type->tensor_type->shape->dim = push(v->type->tensor_type->shape->dim,
							&v->type->tensor_type->shape->n_dim, d);
	}
	return v;
}

static int saturate(bool is_unsigned, float rounded, int zero)
{
	int lo = is_unsigned ? 0 : -128, hi = is_unsigned ? 255 : 127;

	if (rounded + zero < lo)
		return lo;
	return rounded + zero > hi ? hi : (int)rounded + zero;
}

void net_init(struct net *n, uint64_t seed, int images, int c, int h, int w, bool is_unsigned,
	      int zero)
{
	struct net_tensor t = {
		.rank = 4,
		.dim = { images, c, h, w },
		.is_unsigned = is_unsigned,
		.scale = 0.037f,
		.zero = zero,
	};
	Onnx__OperatorSetIdProto *opset = zalloc(sizeof(*opset));
	Onnx__NodeProto *node;

	memset(n, 0, sizeof(*n));
	n->seed = seed * 0x9e3779b97f4a7c15ull + 1;
	onnx__model_proto__init(&n->model);
	onnx__graph_proto__init(&n->graph);
	onnx__operator_set_id_proto__init(opset);
	opset->has_version = 1;
	opset->version = 14;
	n->model.opset_import = push(NULL, &n->model.n_opset_import, opset);
	n->model.graph = &n->graph;
	n->graph.input = push(NULL, &n->graph.n_input,
			      value_info("in", ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT, 4, t.dim));
	n->input_elements = elements(&t);
	n->input = zalloc(n->input_elements * sizeof(float));
	t.value = zalloc(n->input_elements * sizeof(int));
	for (int64_t i = 0; i < n->input_elements; i++) {
		n->input[i] = net_range(n, -6000, 6000) / 1000.0f;
		t.value[i] = saturate(is_unsigned, rintf(n->input[i] / t.scale), zero);
	}
	node = net_node(n, "QuantizeLinear");
	in(node, "in");
	scalar_f32(n, node, t.scale);
	scalar_q(n, node, is_unsigned, zero);
	becomes(n, node, &t);
}

/* y = clamp(acc * S) rounded, as ONNX Runtime does it in float32. */
static int requantise(bool is_unsigned, int32_t acc, float multiplier, int zero)
{
	float lo = (is_unsigned ? 0 : -128) - zero, hi = (is_unsigned ? 255 : 127) - zero;
	volatile float product = (float)acc * multiplier;
	float v = product;

	v = v < lo ? lo : v > hi ? hi : v;
	return (int)rintf(v) + zero;
}

/* Weights as stored, with a scale and a zero point for each output channel. */
struct weights {
	int rank;
	int64_t dim[4], count;
	bool is_unsigned;
	int *value, *zero;
	float *scale;
	int n_zero, n_scale;
};

static int weight_zero(const struct weights *w, int o)
{
	return w->zero[w->n_zero > 1 ? o : 0];
}

static float weight_scale(const struct weights *w, int o)
{
	return w->scale[w->n_scale > 1 ? o : 0];
}

static void random_weights(struct net *n, struct weights *w, int channels, bool per_channel,
			   enum net_zeros zeros)
{
	int low = w->is_unsigned ? 0 : -128;

	w->count = 1;
	for (int i = 0; i < w->rank; i++)
		w->count *= w->dim[i];
	w->n_scale = per_channel ? channels : 1;
	w->n_zero = zeros == NET_ZERO_A_CHANNEL ? channels : 1;
	w->value = zalloc(w->count * sizeof(int));
	w->scale = zalloc(w->n_scale * sizeof(float));
	w->zero = zalloc(w->n_zero * sizeof(int));
	for (int64_t i = 0; i < w->count; i++)
		w->value[i] = net_range(n, low, low + 255);
	for (int i = 0; i < w->n_scale; i++)
		w->scale[i] = net_range(n, 50, 2000) / 100000.0f;
	for (int i = 0; i < w->n_zero; i++)
		w->zero[i] = zeros == NET_SYMMETRIC ? low + 128 : net_range(n, low, low + 255);
	for (int i = 0; n->weight_zero && i < w->n_zero; i++)
		w->zero[i] = low + *n->weight_zero;
}

static void weights_free(struct weights *w)
{
	free(w->value);
	free(w->scale);
	free(w->zero);
}

static void bytes_constant(struct net *n, Onnx__NodeProto *node, bool is_unsigned, int rank,
			   const int64_t *dim, const int *v, int64_t count)
{
	uint8_t *bytes = zalloc(count);

	for (int64_t i = 0; i < count; i++)
		bytes[i] = v[i];
	constant(n, node,
		 is_unsigned ? ONNX__TENSOR_PROTO__DATA_TYPE__UINT8
			     : ONNX__TENSOR_PROTO__DATA_TYPE__INT8,
		 rank, dim, bytes, count);
	free(bytes);
}

/* Inputs x, its scale and zero; w, its scales and zeros. */
static void quant_inputs(struct net *n, Onnx__NodeProto *node, const struct weights *w)
{
	in(node, n->now.name);
	scalar_f32(n, node, n->now.scale);
	scalar_q(n, node, n->now.is_unsigned, n->now.zero);
	bytes_constant(n, node, w->is_unsigned, w->rank, w->dim, w->value, w->count);
	constant(n, node, ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT, w->n_scale > 1,
		 (int64_t[]){ w->n_scale }, w->scale, w->n_scale * sizeof(float));
	bytes_constant(n, node, w->is_unsigned, w->n_zero > 1, (int64_t[]){ w->n_zero }, w->zero,
		       w->n_zero);
}

static void output_inputs(struct net *n, Onnx__NodeProto *node, const struct net_tensor *y)
{
	scalar_f32(n, node, y->scale);
	scalar_q(n, node, y->is_unsigned, y->zero);
}

static int32_t *random_bias(struct net *n, Onnx__NodeProto *node, int channels, bool bias)
{
	int32_t *v = zalloc(channels * sizeof(*v));

	for (int o = 0; bias && o < channels; o++)
		v[o] = net_range(n, -200000, 200000);
	if (bias)
		constant(n, node, ONNX__TENSOR_PROTO__DATA_TYPE__INT32, 1, (int64_t[]){ channels },
			 v, channels * sizeof(*v));
	return v;
}

static float random_scale(struct net *n, int64_t taps, float ws)
{
	/* Most results inside the range, some beyond it. */
	return n->now.scale * ws * 75 * 75 * sqrtf(taps) / net_range(n, 40, 200);
}

static int32_t conv_sum(const struct net *n, const struct net_conv *c, const struct weights *w,
			int img, int o, int y, int x)
{
	const struct net_tensor *t = &n->now;
	int in_g = t->dim[1] / c->groups, g = o / (c->out_c / c->groups);
	uint32_t acc = 0;

	for (int i = 0; i < in_g; i++)
		for (int ky = 0; ky < c->kernel_h; ky++)
			for (int kx = 0; kx < c->kernel_w; kx++) {
				int64_t iy =
					(int64_t)y * c->stride_h - c->pad[0] + ky * c->dilation;
				int64_t ix =
					(int64_t)x * c->stride_w - c->pad[1] + kx * c->dilation;
				int64_t at = ((img * t->dim[1] + g * in_g + i) * t->dim[2] + iy) *
						     t->dim[3] +
					     ix;
				int64_t tap = (o * in_g + i) * c->kernel_h + ky;
				int wt = w->value[tap * c->kernel_w + kx] - weight_zero(w, o);

				if (iy >= 0 && iy < t->dim[2] && ix >= 0 && ix < t->dim[3])
					acc += (uint32_t)((t->value[at] - t->zero) * wt);
			}
	return acc;
}

static void conv_attrs(Onnx__NodeProto *node, const struct net_conv *c)
{
	attr_ints(node, "kernel_shape", 2, (int64_t[]){ c->kernel_h, c->kernel_w });
	attr_ints(node, "strides", 2, (int64_t[]){ c->stride_h, c->stride_w });
	attr_ints(node, "dilations", 2, (int64_t[]){ c->dilation, c->dilation });
	attr_ints(node, "pads", 4, (int64_t[]){ c->pad[0], c->pad[1], c->pad[2], c->pad[3] });
	attr_int(node, "group", c->groups);
}

static int extent(int size, int kernel, int stride, int dilation, int pads)
{
	return (size + pads - (kernel - 1) * dilation - 1) / stride + 1;
}

void net_conv(struct net *n, const struct net_conv *c)
{
	int in_g = n->now.dim[1] / c->groups;
	struct weights w = { .rank = 4,
			     .dim = { c->out_c, in_g, c->kernel_h, c->kernel_w },
			     .is_unsigned = c->unsigned_weights };
	struct net_tensor y = {
		.rank = 4,
		.is_unsigned = n->now.is_unsigned != c->other_type,
		.zero = c->out_zero,
		.dim = { n->now.dim[0], c->out_c,
			 extent(n->now.dim[2], c->kernel_h, c->stride_h, c->dilation,
				c->pad[0] + c->pad[2]),
			 extent(n->now.dim[3], c->kernel_w, c->stride_w, c->dilation,
				c->pad[1] + c->pad[3]) },
	};
	Onnx__NodeProto *node = net_node(n, "QLinearConv");
	int64_t at = 0;
	int32_t *bias;

	random_weights(n, &w, c->out_c, c->per_channel, c->zeros);
	y.scale = random_scale(n, w.count / c->out_c, w.scale[0]);
	y.value = zalloc(elements(&y) * sizeof(int));
	quant_inputs(n, node, &w);
	output_inputs(n, node, &y);
	bias = random_bias(n, node, c->out_c, c->bias);
	conv_attrs(node, c);
	for (int img = 0; img < y.dim[0]; img++)
		for (int o = 0; o < c->out_c; o++) {
			float product = n->now.scale * weight_scale(&w, o);
			float multiplier = product / y.scale;

			for (int oy = 0; oy < y.dim[2]; oy++)
				for (int ox = 0; ox < y.dim[3]; ox++) {
					uint32_t acc = conv_sum(n, c, &w, img, o, oy, ox);

					y.value[at++] =
						requantise(y.is_unsigned, acc + (uint32_t)bias[o],
							   multiplier, y.zero);
				}
		}
	becomes(n, node, &y);
	weights_free(&w);
	free(bias);
}

/* Row @r of A by column @o of B. */
static uint32_t product_sum(const struct net *n, const struct weights *w, int r, int o,
			    bool turned)
{
	int k = n->now.dim[1], columns = w->dim[!turned];
	uint32_t acc = 0;

	for (int i = 0; i < k; i++) {
		int b = w->value[turned ? o * k + i : i * columns + o] - weight_zero(w, o);

		acc += (uint32_t)((n->now.value[r * k + i] - n->now.zero) * b);
	}
	return acc;
}

void net_product(struct net *n, const struct net_product *c)
{
	int rows = n->now.dim[0], k = n->now.dim[1];
	struct weights w = { .rank = 2, .is_unsigned = c->unsigned_weights };
	struct net_tensor y = {
		.rank = 2,
		.dim = { rows, c->columns },
		.is_unsigned = n->now.is_unsigned != c->other_type,
		.zero = c->out_zero,
	};
	Onnx__NodeProto *node = net_node(n, c->gemm ? "QGemm" : "QLinearMatMul");
	float alpha = c->alpha != 0 ? c->alpha : 1;
	int32_t *bias = NULL;

	w.dim[c->turned] = k;
	w.dim[!c->turned] = c->columns;
	random_weights(n, &w, c->columns, c->per_channel, c->zeros);
	y.scale = random_scale(n, k, w.scale[0]) * alpha;
	y.value = zalloc(elements(&y) * sizeof(int));
	quant_inputs(n, node, &w);
	bias = random_bias(n, node, c->columns, c->bias);
	if (c->gemm && !c->bias)
		in(node, "");
	output_inputs(n, node, &y);
	if (c->gemm)
		attr_int(node, "transB", c->turned);
	if (c->alpha != 0)
		attr_float(node, "alpha", alpha);
	for (int r = 0; r < rows; r++)
		for (int o = 0; o < c->columns; o++) {
			float left = alpha * n->now.scale;
			float product = left * weight_scale(&w, o);
			uint32_t acc = product_sum(n, &w, r, o, c->turned) + (uint32_t)bias[o];

			y.value[r * c->columns + o] =
				requantise(y.is_unsigned, acc, product / y.scale, y.zero);
		}
	becomes(n, node, &y);
	weights_free(&w);
	free(bias);
}

void net_matmul(struct net *n, int columns, int out_zero)
{
	net_product(n, &(struct net_product){
			       .columns = columns, .out_zero = out_zero, .per_channel = true });
}

/* The maximum of what the window meets, the least value if that is nothing. */
static int window_max(const struct net_tensor *t, int64_t plane, int oy, int ox,
		      const struct net_pool *c)
{
	int best = t->is_unsigned ? 0 : -128;

	for (int ky = 0; ky < c->kernel_h; ky++)
		for (int kx = 0; kx < c->kernel_w; kx++) {
			int y = oy * c->stride_h - c->pad[0] + ky * c->dilation_h;
			int x = ox * c->stride_w - c->pad[1] + kx * c->dilation_w;

			if (y >= 0 && y < t->dim[2] && x >= 0 && x < t->dim[3] &&
			    t->value[(plane * t->dim[2] + y) * t->dim[3] + x] > best)
				best = t->value[(plane * t->dim[2] + y) * t->dim[3] + x];
		}
	return best;
}

/* As extent(), and one more if what is left over begins within size and leading pad. */
static int pool_extent(int size, int kernel, int stride, int dilation, int before, int after,
		       bool ceil)
{
	int out = extent(size, kernel, stride, dilation, before + after);
	int covered = (out - 1) * stride + (kernel - 1) * dilation + 1;

	if (ceil && covered < size + before + after && out * stride < size + before)
		out++;
	return out;
}

void net_pool(struct net *n, const struct net_pool *c)
{
	struct net_tensor y = n->now;
	Onnx__NodeProto *node = net_node(n, "MaxPool");
	int64_t at = 0;

	y.dim[2] = pool_extent(n->now.dim[2], c->kernel_h, c->stride_h, c->dilation_h, c->pad[0],
			       c->pad[2], c->ceil);
	y.dim[3] = pool_extent(n->now.dim[3], c->kernel_w, c->stride_w, c->dilation_w, c->pad[1],
			       c->pad[3], c->ceil);
	y.value = zalloc(elements(&y) * sizeof(int));
	in(node, n->now.name);
	attr_ints(node, "kernel_shape", 2, (int64_t[]){ c->kernel_h, c->kernel_w });
	attr_ints(node, "strides", 2, (int64_t[]){ c->stride_h, c->stride_w });
	attr_ints(node, "dilations", 2, (int64_t[]){ c->dilation_h, c->dilation_w });
	attr_ints(node, "pads", 4, (int64_t[]){ c->pad[0], c->pad[1], c->pad[2], c->pad[3] });
	attr_int(node, "ceil_mode", c->ceil);
	for (int64_t plane = 0; plane < y.dim[0] * y.dim[1]; plane++)
		for (int oy = 0; oy < y.dim[2]; oy++)
			for (int ox = 0; ox < y.dim[3]; ox++)
				y.value[at++] = window_max(&n->now, plane, oy, ox, c);
	becomes(n, node, &y);
}

void net_maxpool(struct net *n, int kh, int kw, int sh, int sw, const int *pad)
{
	net_pool(n, &(struct net_pool){
			    kh, kw, sh, sw, 1, 1, { pad[0], pad[1], pad[2], pad[3] }, false });
}

static void clip(struct net *n, Onnx__NodeProto *node, int lo, int hi)
{
	struct net_tensor y = n->now;

	y.value = zalloc(elements(&y) * sizeof(int));
	for (int64_t i = 0; i < elements(&y); i++) {
		int v = n->now.value[i] > lo ? n->now.value[i] : lo;

		y.value[i] = v < hi ? v : hi;
	}
	becomes(n, node, &y);
}

void net_relu(struct net *n)
{
	Onnx__NodeProto *node = net_node(n, "Relu");

	in(node, n->now.name);
	clip(n, node, 0, 1000);
}

/* A node over x, its scale and zero; scale and zero of the result. */
static Onnx__NodeProto *unary(struct net *n, const char *op, struct net_tensor *y, float scale,
			      int zero)
{
	Onnx__NodeProto *node = net_node(n, op);

	*y = n->now;
	y->scale = scale;
	y->zero = zero;
	y->value = zalloc(elements(y) * sizeof(int));
	in(node, n->now.name);
	scalar_f32(n, node, n->now.scale);
	scalar_q(n, node, n->now.is_unsigned, n->now.zero);
	output_inputs(n, node, y);
	return node;
}

void net_leaky_relu(struct net *n, float alpha, int out_zero)
{
	struct net_tensor y;
	Onnx__NodeProto *node = unary(n, "QLinearLeakyRelu", &y, n->now.scale * 0.7f, out_zero);

	attr_float(node, "alpha", alpha);
	for (int64_t i = 0; i < elements(&y); i++) {
		float x = n->now.scale * (float)(n->now.value[i] - n->now.zero);

		x = x < 0 ? alpha * x : x;
		y.value[i] = saturate(y.is_unsigned, rintf(x / y.scale), y.zero);
	}
	becomes(n, node, &y);
}

/* In doubles: no value of the tests lies near the middle of two steps. */
void net_sigmoid(struct net *n)
{
	struct net_tensor y;
	int low = n->now.is_unsigned ? 0 : -128;
	Onnx__NodeProto *node = unary(n, "QLinearSigmoid", &y, 1 / 256.0f, low);

	for (int64_t i = 0; i < elements(&y); i++) {
		double x = (double)n->now.scale * (n->now.value[i] - n->now.zero);

		y.value[i] = saturate(y.is_unsigned, (float)rint(256 / (1 + exp(-x))), low);
	}
	becomes(n, node, &y);
}

void net_keep(struct net *n)
{
	free(n->kept.value);
	n->kept = n->now;
	n->kept.value = zalloc(elements(&n->now) * sizeof(int));
	memcpy(n->kept.value, n->now.value, elements(&n->now) * sizeof(int));
}

static float pair_value(const struct net_tensor *a, const struct net_tensor *b,
			const struct net_tensor *y, bool sum, int64_t i)
{
	float x = a->value[i], z = b->value[i], ra = a->scale / y->scale, rb = b->scale / y->scale;
	float zeros = fmaf(ra, a->zero, rb * (float)b->zero), offset = (float)y->zero - zeros;
	float r = a->scale * b->scale / y->scale;
	float product = (x - (float)a->zero) * (z - (float)b->zero) * r;

	return sum ? fmaf(x, ra, fmaf(z, rb, offset)) : product + (float)y->zero;
}

void net_pair(struct net *n, bool sum, float out_scale, int out_zero)
{
	const struct net_tensor *k = &n->kept;
	struct net_tensor y;
	Onnx__NodeProto *node = net_node(n, sum ? "QLinearAdd" : "QLinearMul");

	y = n->now;
	y.scale = out_scale;
	y.zero = out_zero;
	y.value = zalloc(elements(&y) * sizeof(int));
	in(node, n->now.name);
	output_inputs(n, node, &n->now);
	in(node, k->name);
	output_inputs(n, node, k);
	output_inputs(n, node, &y);
	for (int64_t i = 0; i < elements(&y); i++)
		y.value[i] = saturate(y.is_unsigned, rintf(pair_value(&n->now, k, &y, sum, i)), 0);
	becomes(n, node, &y);
}

void net_clip(struct net *n, int lo, int hi)
{
	Onnx__NodeProto *node = net_node(n, "Clip");

	in(node, n->now.name);
	scalar_q(n, node, n->now.is_unsigned, lo);
	scalar_q(n, node, n->now.is_unsigned, hi);
	clip(n, node, lo, hi);
}

void net_flatten(struct net *n)
{
	Onnx__NodeProto *node = net_node(n, "Flatten");
	struct net_tensor y = n->now;

	in(node, n->now.name);
	y.rank = 2;
	y.dim[1] = elements(&n->now) / n->now.dim[0];
	y.value = zalloc(elements(&y) * sizeof(int));
	memcpy(y.value, n->now.value, elements(&y) * sizeof(int));
	becomes(n, node, &y);
}

void net_finish(struct net *n)
{
	Onnx__NodeProto *node = net_node(n, "DequantizeLinear");

	in(node, n->now.name);
	scalar_f32(n, node, n->now.scale);
	scalar_q(n, node, n->now.is_unsigned, n->now.zero);
	node->output = push(NULL, &node->n_output, strdup("out"));
	n->graph.output = push(
		NULL, &n->graph.n_output,
		value_info("out", ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT, n->now.rank, n->now.dim));
	n->output_elements = elements(&n->now);
	n->output = zalloc(n->output_elements * sizeof(float));
	for (int64_t i = 0; i < n->output_elements; i++)
		n->output[i] = (n->now.value[i] - n->now.zero) * n->now.scale;
}

void net_attr(struct net *n, const char *name, int64_t value)
{
	attr_int(n->graph.node[n->graph.n_node - 1], name, value);
}

void net_rename_op(struct net *n, const char *op)
{
	Onnx__NodeProto *node = n->graph.node[n->graph.n_node - 1];

	free(node->op_type);
	node->op_type = strdup(op);
}

void *net_pack(struct net *n, size_t *size)
{
	void *bytes;

	*size = onnx__model_proto__get_packed_size(&n->model);
	bytes = zalloc(*size);
	onnx__model_proto__pack(&n->model, bytes);
	return bytes;
}

/* protobuf-c frees what it unpacked: a copy takes the pieces over. */
void net_free(struct net *n)
{
	Onnx__ModelProto *copy = zalloc(sizeof(*copy));
	Onnx__GraphProto *graph = zalloc(sizeof(*graph));

	*copy = n->model;
	*graph = n->graph;
	copy->graph = graph;
	onnx__model_proto__free_unpacked(copy, NULL);
	free(n->now.value);
	free(n->kept.value);
	free(n->input);
	free(n->output);
}
