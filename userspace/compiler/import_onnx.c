// SPDX-License-Identifier: MIT
#include "userspace/compiler/graph.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "onnx.pb-c.h"

#define MAX_MODEL_BYTES (1u << 30)
#define MAX_NODES	20000
#define MAX_DIM		(1 << 24)
#define MAX_ELEMENTS	(1ll << 31)

struct importer {
	struct npuc_graph *g;
	struct npuc_diag *d;
};

static enum npuc_dtype dtype_of(int32_t onnx)
{
	switch (onnx) {
	case ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT:
		return NPUC_F32;
	case ONNX__TENSOR_PROTO__DATA_TYPE__INT8:
		return NPUC_I8;
	case ONNX__TENSOR_PROTO__DATA_TYPE__UINT8:
		return NPUC_U8;
	case ONNX__TENSOR_PROTO__DATA_TYPE__INT32:
		return NPUC_I32;
	case ONNX__TENSOR_PROTO__DATA_TYPE__INT64:
		return NPUC_I64;
	}
	return NPUC_NONE;
}

static int oom(struct importer *im)
{
	return npuc_fail(im->d, -ENOMEM, "out of memory");
}

/* Constants may be empty: see leave_out(). */
static int set_dims(struct importer *im, struct npuc_tensor *t, const int64_t *dim, size_t n,
		    int lowest)
{
	int64_t elements = 1;

	if (n > NPUC_MAX_RANK)
		return npuc_fail(im->d, -EOPNOTSUPP, "tensor %s: rank %zu, at most %d is possible",
				 t->name, n, NPUC_MAX_RANK);
	for (size_t i = 0; i < n; i++) {
		if (dim[i] < lowest || dim[i] > MAX_DIM)
			return npuc_fail(im->d, -EINVAL,
					 "tensor %s: dimension %zu is %lld, want %d to %d", t->name,
					 i, (long long)dim[i], lowest, MAX_DIM);
		elements *= dim[i];
		if (elements > MAX_ELEMENTS)
			return npuc_fail(im->d, -EINVAL, "tensor %s: more than %lld elements",
					 t->name, MAX_ELEMENTS);
		t->dim[i] = dim[i];
	}
	t->rank = n;
	return 0;
}

static int count_mismatch(struct importer *im, const struct npuc_tensor *t, size_t found)
{
	char shape[128];

	return npuc_fail(im->d, -EINVAL, "tensor %s: shape %s wants %lld elements, data has %zu",
			 t->name, npuc_shape_text(t, shape, sizeof(shape)),
			 (long long)npuc_elements(t), found);
}

static int fill_int32(struct importer *im, struct npuc_tensor *t, const Onnx__TensorProto *p)
{
	for (size_t i = 0; i < p->n_int32_data; i++) {
		int32_t v = p->int32_data[i];

		if (t->dtype == NPUC_I32)
			((int32_t *)t->data)[i] = v;
		else if (t->dtype == NPUC_I8 && v >= INT8_MIN && v <= INT8_MAX)
			((int8_t *)t->data)[i] = v;
		else if (t->dtype == NPUC_U8 && v >= 0 && v <= UINT8_MAX)
			((uint8_t *)t->data)[i] = v;
		else
			return npuc_fail(im->d, -EINVAL, "tensor %s: element %zu is %d, not a %s",
					 t->name, i, v, npuc_dtype_name(t->dtype));
	}
	return 0;
}

static int fill_typed(struct importer *im, struct npuc_tensor *t, const Onnx__TensorProto *p)
{
	size_t n = npuc_elements(t), found;

	switch (t->dtype) {
	case NPUC_F32:
		found = p->n_float_data;
		if (found == n)
			memcpy(t->data, p->float_data, n * sizeof(float));
		break;
	case NPUC_I64:
		found = p->n_int64_data;
		if (found == n)
			memcpy(t->data, p->int64_data, n * sizeof(int64_t));
		break;
	default:
		found = p->n_int32_data;
		if (found == n)
			return fill_int32(im, t, p);
	}
	return found == n ? 0 : count_mismatch(im, t, found);
}

static int fill_constant(struct importer *im, struct npuc_tensor *t, const Onnx__TensorProto *p)
{
	size_t bytes;
	int err;

	t->dtype = dtype_of(p->data_type);
	if (t->dtype == NPUC_NONE)
		return npuc_fail(
			im->d, -EOPNOTSUPP,
			"tensor %s: element type %d; float32, int8, uint8, int32 and int64 are possible",
			t->name, p->data_type);
	if (p->n_external_data || p->data_location == ONNX__TENSOR_PROTO__DATA_LOCATION__EXTERNAL)
		return npuc_fail(im->d, -EOPNOTSUPP, "tensor %s: its data is in another file",
				 t->name);
	err = set_dims(im, t, p->dims, p->n_dims, 0);
	if (err)
		return err;
	if (p->has_raw_data && (p->n_float_data || p->n_int32_data || p->n_int64_data))
		return npuc_fail(im->d, -EINVAL,
				 "tensor %s: has both raw data and %zu elements of typed data",
				 t->name, p->n_float_data + p->n_int32_data + p->n_int64_data);
	bytes = npuc_elements(t) * npuc_dtype_size(t->dtype);
	if (p->has_raw_data && p->raw_data.len != bytes)
		return count_mismatch(im, t, p->raw_data.len / npuc_dtype_size(t->dtype));
	t->data = malloc(bytes + 1);
	if (!t->data)
		return oom(im);
	if (!p->has_raw_data)
		return fill_typed(im, t, p);
	memcpy(t->data, p->raw_data.data, bytes);
	return 0;
}

static int import_constant(struct importer *im, const char *name, const Onnx__TensorProto *p)
{
	int id = name && *name ? npuc_graph_tensor(im->g, name) : -EINVAL;

	if (id == -ENOMEM)
		return oom(im);
	if (id < 0)
		return npuc_fail(im->d, -EINVAL, "a constant has no name");
	if (im->g->tensor[id].data)
		return npuc_fail(im->d, -EINVAL, "tensor %s: constant twice", name);
	return fill_constant(im, &im->g->tensor[id], p);
}

/* A symbolic or missing leading dimension is taken as 1: the batch. */
static int import_shape(struct importer *im, struct npuc_tensor *t, const Onnx__TensorShapeProto *s)
{
	int64_t dim[NPUC_MAX_RANK];

	if (s->n_dim > NPUC_MAX_RANK)
		return npuc_fail(im->d, -EOPNOTSUPP, "tensor %s: rank %zu, at most %d is possible",
				 t->name, s->n_dim, NPUC_MAX_RANK);
	for (size_t i = 0; i < s->n_dim; i++) {
		const Onnx__TensorShapeProto__Dimension *p = s->dim[i];

		if (p->value_case == ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_VALUE)
			dim[i] = p->dim_value;
		else if (i == 0)
			dim[i] = 1;
		else
			return npuc_fail(im->d, -EOPNOTSUPP,
					 "tensor %s: dimension %zu has no number", t->name, i);
	}
	return set_dims(im, t, dim, s->n_dim, 1);
}

static int import_value(struct importer *im, const Onnx__ValueInfoProto *p, bool need_shape)
{
	const Onnx__TypeProto__Tensor *type;
	struct npuc_tensor *t;
	int id;

	if (!p->name || !*p->name)
		return npuc_fail(im->d, -EINVAL, "an input or output has no name");
	id = npuc_graph_tensor(im->g, p->name);
	if (id < 0)
		return oom(im);
	t = &im->g->tensor[id];
	if (!p->type || p->type->value_case != ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE)
		return npuc_fail(im->d, -EOPNOTSUPP, "%s is not a tensor", p->name);
	type = p->type->tensor_type;
	t->dtype = dtype_of(type->elem_type);
	if (t->dtype == NPUC_NONE)
		return npuc_fail(
			im->d, -EOPNOTSUPP,
			"tensor %s: element type %d; float32, int8, uint8, int32 and int64 are possible",
			p->name, type->elem_type);
	if (!need_shape)
		return id;
	if (!type->shape)
		return npuc_fail(im->d, -EOPNOTSUPP, "input %s has no shape", p->name);
	return import_shape(im, t, type->shape) ? -EINVAL : id;
}

/* Attributes have one type in all operators that are read here; 0 for names that are not. */
static int attr_type(const char *name)
{
	static const struct {
		const char *names;
		int type;
	} known[] = {
		{ " allowzero axis ceil_mode count_include_pad group storage_order transA transB ",
		  ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INT },
		{ " axes dilations kernel_shape pads strides ",
		  ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INTS },
		{ " alpha beta epsilon ", ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__FLOAT },
		{ " auto_pad ", ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__STRING },
	};
	char word[32];

	if (snprintf(word, sizeof(word), " %s ", name) >= (int)sizeof(word) || strchr(name, ' '))
		return 0;
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (strstr(known[i].names, word))
			return known[i].type;
	return 0;
}

static const char *attr_type_name(int type)
{
	const ProtobufCEnumValue *v = protobuf_c_enum_descriptor_get_value(
		&onnx__attribute_proto__attribute_type__descriptor, type);

	return v ? v->name : "unknown";
}

/* A value of another type, or a second one, would be passed over in silence. */
static int check_attr(struct importer *im, const struct npuc_node *n,
		      const Onnx__AttributeProto *p)
{
	int want = attr_type(p->name ? p->name : "");

	if (want && (int)p->type != want)
		return npuc_fail(im->d, -EINVAL, "%s %s: attribute %s is of type %s, want %s",
				 n->op, n->name, p->name, attr_type_name(p->type),
				 attr_type_name(want));
	if (p->name && npuc_attr(n, p->name))
		return npuc_fail(im->d, -EINVAL, "%s %s: attribute %s is there twice", n->op,
				 n->name, p->name);
	return 0;
}

static int import_attr(struct importer *im, struct npuc_attr *a, const Onnx__AttributeProto *p)
{
	a->name = strdup(p->name ? p->name : "");
	if (!a->name)
		return oom(im);
	a->kind = NPUC_ATTR_OTHER;
	switch (p->type) {
	case ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INT:
		a->kind = NPUC_ATTR_INT;
		a->i = p->i;
		break;
	case ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__FLOAT:
		a->kind = NPUC_ATTR_FLOAT;
		a->f = p->f;
		break;
	case ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__STRING:
		a->kind = NPUC_ATTR_STRING;
		a->s = strndup(p->has_s ? (const char *)p->s.data : "", p->has_s ? p->s.len : 0);
		return a->s ? 0 : oom(im);
	case ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INTS:
		a->kind = NPUC_ATTR_INTS;
		a->n_ints = p->n_ints;
		a->ints = calloc(p->n_ints + 1, sizeof(*a->ints));
		if (!a->ints)
			return oom(im);
		memcpy(a->ints, p->ints, p->n_ints * sizeof(*a->ints));
		break;
	default:
		break;
	}
	return 0;
}

static int import_names(struct importer *im, char **names, size_t n, int **out)
{
	*out = calloc(n + 1, sizeof(**out));
	if (!*out)
		return oom(im);
	for (size_t i = 0; i < n; i++) {
		(*out)[i] = *names[i] ? npuc_graph_tensor(im->g, names[i]) : -1;
		if ((*out)[i] == -ENOMEM)
			return oom(im);
	}
	return 0;
}

/* An empty constant is how old models say that an input is left out. */
static void leave_out(const struct importer *im, struct npuc_node *n)
{
	for (size_t i = 0; i < n->n_in; i++) {
		const struct npuc_tensor *t = n->in[i] < 0 ? NULL : &im->g->tensor[n->in[i]];

		if (t && t->data && !npuc_elements(t))
			n->in[i] = -1;
	}
}

/* Nodes stand in topological order: what one reads is known by then. */
static int link_node(struct importer *im, int index)
{
	struct npuc_node *n = &im->g->node[index];

	for (size_t i = 0; i < n->n_in; i++) {
		struct npuc_tensor *t = n->in[i] < 0 ? NULL : &im->g->tensor[n->in[i]];

		if (t && t->producer < 0 && !t->data && t->rank < 0)
			return npuc_fail(im->d, -EINVAL,
					 "%s %s: input %s is made by no node before it", n->op,
					 n->name, t->name);
		if (t)
			t->uses++;
	}
	for (size_t i = 0; i < n->n_out; i++) {
		struct npuc_tensor *t = n->out[i] < 0 ? NULL : &im->g->tensor[n->out[i]];

		if (t && (t->producer >= 0 || t->data || t->rank >= 0))
			return npuc_fail(im->d, -EINVAL, "%s %s: output %s exists already", n->op,
					 n->name, t->name);
		if (t)
			t->producer = index;
	}
	return 0;
}

/* A Constant node is an initialiser in another dress. */
static int import_constant_node(struct importer *im, const Onnx__NodeProto *p)
{
	if (p->n_output != 1 || p->n_attribute != 1 || !p->attribute[0]->t)
		return npuc_fail(im->d, -EOPNOTSUPP,
				 "Constant %s: only the attribute value is possible",
				 p->name ? p->name : "");
	return import_constant(im, p->output[0], p->attribute[0]->t);
}

/* The one element that fills the constant: float32 0 unless said otherwise. */
static int read_filler(struct importer *im, const Onnx__NodeProto *p, struct npuc_tensor *out)
{
	const Onnx__AttributeProto *a = p->n_attribute ? p->attribute[0] : NULL;

	out->name = p->output[0];
	if (a && (p->n_attribute > 1 || !a->name || strcmp(a->name, "value") || !a->t))
		return npuc_fail(im->d, -EOPNOTSUPP,
				 "ConstantOfShape %s: only the attribute value is possible",
				 p->name ? p->name : "");
	if (a)
		return fill_constant(im, out, a->t);
	out->dtype = NPUC_F32;
	out->rank = 0;
	out->data = calloc(1, sizeof(float));
	return out->data ? 0 : oom(im);
}

static int spread(struct importer *im, struct npuc_tensor *t, const struct npuc_tensor *filler)
{
	size_t size = npuc_dtype_size(filler->dtype), n = npuc_elements(t);

	if (npuc_elements(filler) != 1)
		return npuc_fail(im->d, -EINVAL, "tensor %s: its value has %lld elements, want 1",
				 t->name, (long long)npuc_elements(filler));
	t->dtype = filler->dtype;
	t->data = malloc(n * size);
	if (!t->data)
		return oom(im);
	for (size_t i = 0; i < n; i++)
		memcpy((char *)t->data + i * size, filler->data, size);
	return 0;
}

/* ConstantOfShape of a constant shape is a constant. */
static int import_filled(struct importer *im, const Onnx__NodeProto *p)
{
	const struct npuc_tensor *shape;
	struct npuc_tensor filler = { 0 };
	int in, out, err;

	if (p->n_input != 1 || p->n_output != 1 || !*p->output[0])
		return npuc_fail(im->d, -EINVAL, "ConstantOfShape %s: wants one input and output",
				 p->name ? p->name : "");
	in = npuc_graph_tensor(im->g, p->input[0]);
	out = npuc_graph_tensor(im->g, p->output[0]);
	if (in < 0 || out < 0)
		return oom(im);
	shape = &im->g->tensor[in];
	if (!shape->data || shape->dtype != NPUC_I64 || shape->rank != 1)
		return npuc_fail(im->d, -EOPNOTSUPP,
				 "ConstantOfShape %s: its shape must be a constant of int64",
				 p->name ? p->name : "");
	if (im->g->tensor[out].data || im->g->tensor[out].producer >= 0 ||
	    im->g->tensor[out].rank >= 0)
		return npuc_fail(im->d, -EINVAL, "ConstantOfShape %s: output %s exists already",
				 p->name ? p->name : "", p->output[0]);
	err = set_dims(im, &im->g->tensor[out], shape->data, shape->dim[0], 0);
	if (!err)
		err = read_filler(im, p, &filler);
	if (!err)
		err = spread(im, &im->g->tensor[out], &filler);
	free(filler.data);
	return err;
}

static int import_node(struct importer *im, const Onnx__NodeProto *p)
{
	struct npuc_node *n = &im->g->node[im->g->n_node];
	char made[64];
	int err;

	if (!p->op_type || !*p->op_type)
		return npuc_fail(im->d, -EINVAL, "node %zu has no operator", im->g->n_node);
	if (strchr(p->op_type, ':'))
		return npuc_fail(im->d, -EINVAL, "node %zu: \"%.60s\" names no operator",
				 im->g->n_node, p->op_type);
	if (p->domain && *p->domain && strcmp(p->domain, "ai.onnx") &&
	    strcmp(p->domain, "com.microsoft"))
		return npuc_fail(im->d, -EOPNOTSUPP, "%s %s: operator domain %s is not known",
				 p->op_type, p->name ? p->name : "", p->domain);
	if (!strcmp(p->op_type, "Constant"))
		return import_constant_node(im, p);
	if (!strcmp(p->op_type, "ConstantOfShape"))
		return import_filled(im, p);
	snprintf(made, sizeof(made), "%.40s_%zu", p->op_type, im->g->n_node);
	im->g->n_node++;
	n->op = strdup(p->op_type);
	n->name = strdup(p->name && *p->name ? p->name : made);
	n->attr = calloc(p->n_attribute + 1, sizeof(*n->attr));
	if (!n->op || !n->name || !n->attr)
		return oom(im);
	for (size_t i = 0; i < p->n_attribute; i++) {
		err = check_attr(im, n, p->attribute[i]);
		if (err)
			return err;
		n->n_attr++;
		err = import_attr(im, &n->attr[i], p->attribute[i]);
		if (err)
			return err;
	}
	n->n_in = p->n_input;
	n->n_out = p->n_output;
	err = import_names(im, p->input, p->n_input, &n->in);
	if (!err)
		err = import_names(im, p->output, p->n_output, &n->out);
	if (!err)
		leave_out(im, n);
	if (!err)
		err = link_node(im, im->g->n_node - 1);
	return err;
}

static int import_inputs(struct importer *im, const Onnx__GraphProto *p)
{
	struct npuc_graph *g = im->g;

	g->input = calloc(p->n_input + 1, sizeof(*g->input));
	if (!g->input)
		return oom(im);
	for (size_t i = 0; i < p->n_input; i++) {
		int id = p->input[i]->name ? npuc_graph_tensor(g, p->input[i]->name) : -EINVAL;

		/* Before IR version 4 initialisers were listed as inputs, too. */
		if (id >= 0 && g->tensor[id].data)
			continue;
		if (id >= 0 && g->tensor[id].rank >= 0)
			return npuc_fail(im->d, -EINVAL, "input %s is there twice",
					 g->tensor[id].name);
		id = import_value(im, p->input[i], true);
		if (id < 0)
			return id;
		g->input[g->n_input++] = id;
	}
	return 0;
}

static int import_outputs(struct importer *im, const Onnx__GraphProto *p)
{
	struct npuc_graph *g = im->g;

	g->output = calloc(p->n_output + 1, sizeof(*g->output));
	if (!g->output)
		return oom(im);
	for (size_t i = 0; i < p->n_output; i++) {
		int id = import_value(im, p->output[i], false);

		if (id < 0)
			return id;
		if (g->tensor[id].producer < 0)
			return npuc_fail(im->d, -EINVAL, "output %s is made by no node",
					 g->tensor[id].name);
		for (size_t k = 0; k < g->n_output; k++)
			if (g->output[k] == id)
				return npuc_fail(im->d, -EINVAL, "output %s is there twice",
						 g->tensor[id].name);
		g->tensor[id].uses++;
		g->output[g->n_output++] = id;
	}
	if (!g->n_output)
		return npuc_fail(im->d, -EINVAL, "the graph has no output");
	return 0;
}

static int import_graph(struct importer *im, const Onnx__GraphProto *p)
{
	int err = 0;

	if (p->n_node > MAX_NODES)
		return npuc_fail(im->d, -EOPNOTSUPP, "%zu nodes, at most %d are possible",
				 p->n_node, MAX_NODES);
	im->g->node = calloc(p->n_node + 1, sizeof(*im->g->node));
	if (!im->g->node)
		return oom(im);
	for (size_t i = 0; i < p->n_initializer && !err; i++)
		err = import_constant(im, p->initializer[i]->name, p->initializer[i]);
	if (!err)
		err = import_inputs(im, p);
	for (size_t i = 0; i < p->n_node && !err; i++)
		err = import_node(im, p->node[i]);
	return err ? err : import_outputs(im, p);
}

static int import_model(struct importer *im, const Onnx__ModelProto *m)
{
	if (!m->graph)
		return npuc_fail(im->d, -EINVAL, "the model has no graph");
	for (size_t i = 0; i < m->n_opset_import; i++) {
		const char *domain = m->opset_import[i]->domain;

		if (!domain || !*domain || !strcmp(domain, "ai.onnx"))
			im->g->opset = m->opset_import[i]->version;
	}
	if (im->g->opset < 7)
		return npuc_fail(im->d, -EOPNOTSUPP, "operator set %lld, 7 or later is possible",
				 (long long)im->g->opset);
	return import_graph(im, m->graph);
}

int npuc_import_onnx(const void *data, size_t size, struct npuc_graph **out, struct npuc_diag *d)
{
	struct importer im = { .d = d };
	Onnx__ModelProto *m;
	int err;

	if (size > MAX_MODEL_BYTES)
		return npuc_fail(d, -EFBIG, "the model has %zu bytes, at most %u are possible",
				 size, MAX_MODEL_BYTES);
	err = npuc_check_wire(data, size, d);
	if (err)
		return err;
	m = onnx__model_proto__unpack(NULL, size, data);
	if (!m)
		return npuc_fail(d, -EINVAL, "not an ONNX model: the %zu bytes do not parse", size);
	im.g = calloc(1, sizeof(*im.g));
	err = im.g ? import_model(&im, m) : npuc_fail(d, -ENOMEM, "out of memory");
	onnx__model_proto__free_unpacked(m, NULL);
	if (err) {
		npuc_graph_free(im.g);
		return err;
	}
	*out = im.g;
	return 0;
}
