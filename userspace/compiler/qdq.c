// SPDX-License-Identifier: MIT
#include "userspace/compiler/qdq.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "userspace/compiler/graph_build.h"

/* How a float operator is done on quantised values. */
enum form {
	FORM_NONE,
	FORM_WEIGHTS, /* x, weights, bias: Conv, MatMul, Gemm */
	FORM_BINARY,
	FORM_UNARY,
	FORM_CONCAT,
	FORM_MOVE,  /* values stay what they are */
	FORM_BOUND, /* values are only bounded */
	FORM_INDEX, /* ArgMax: no quantised result */
};

static const struct {
	const char *op;
	enum form form;
	const char *becomes;
} forms[] = {
	{ "Add", FORM_BINARY, "QLinearAdd" },
	{ "ArgMax", FORM_INDEX, "ArgMax" },
	{ "AveragePool", FORM_UNARY, "QLinearAveragePool" },
	{ "Clip", FORM_BOUND, "Clip" },
	{ "Concat", FORM_CONCAT, "QLinearConcat" },
	{ "Conv", FORM_WEIGHTS, "QLinearConv" },
	{ "Flatten", FORM_MOVE, "Flatten" },
	{ "Gemm", FORM_WEIGHTS, "QGemm" },
	{ "GlobalAveragePool", FORM_UNARY, "QLinearGlobalAveragePool" },
	{ "Identity", FORM_MOVE, "Identity" },
	{ "LeakyRelu", FORM_UNARY, "QLinearLeakyRelu" },
	{ "MatMul", FORM_WEIGHTS, "QLinearMatMul" },
	{ "MaxPool", FORM_MOVE, "MaxPool" },
	{ "Mul", FORM_BINARY, "QLinearMul" },
	{ "Relu", FORM_BOUND, "Relu" },
	{ "Reshape", FORM_MOVE, "Reshape" },
	{ "Resize", FORM_MOVE, "Resize" },
	{ "Sigmoid", FORM_UNARY, "QLinearSigmoid" },
	{ "Slice", FORM_MOVE, "Slice" },
	{ "Squeeze", FORM_MOVE, "Squeeze" },
	{ "Transpose", FORM_MOVE, "Transpose" },
	{ "Unsqueeze", FORM_MOVE, "Unsqueeze" },
};

/* Tensors of a quantisation: its values, scale and zero point (-1: none, which is 0). */
struct quantised {
	int tensor, scale, zero;
	enum npuc_dtype dtype;
};

/**
 * struct group - what becomes one operator
 * @form: of the float operator
 * @becomes: name of the other one
 * @bound: node of a Relu or Clip after it, -1 without
 * @quantize: QuantizeLinear at its end, -1 for FORM_INDEX
 * @y: what that makes
 */
struct group {
	enum form form;
	const char *becomes;
	int bound, quantize;
	struct quantised y;
};

struct fuser {
	struct npuc_graph *g;
	struct npuc_diag *d;
	int *reader;	     /* of each tensor: the one node that reads it, else -1 */
	enum npuc_dtype *type; /* of each tensor, as far as it is known before lowering */
	struct group *group; /* of each node */
	struct npuc_node *old;
	size_t n_old;
};

/* ---- what reads and makes a tensor ---- */

static void find_readers(struct fuser *f)
{
	const struct npuc_graph *g = f->g;

	for (size_t i = 0; i < g->n_tensor; i++)
		f->reader[i] = -1;
	for (size_t i = 0; i < g->n_node; i++)
		for (size_t k = 0; k < g->node[i].n_in; k++)
			if (g->node[i].in[k] >= 0 && g->tensor[g->node[i].in[k]].uses == 1)
				f->reader[g->node[i].in[k]] = i;
	for (size_t i = 0; i < g->n_output; i++)
		f->reader[g->output[i]] = -1;
}

/* The @op that alone reads the result of @n, as its first input. */
static int reader_of(const struct fuser *f, const struct npuc_node *n, const char *op)
{
	int reader = n->n_out == 1 && n->out[0] >= 0 ? f->reader[n->out[0]] : -1;

	return reader >= 0 && !strcmp(f->old[reader].op, op) && f->old[reader].in[0] == n->out[0] ?
		       reader :
		       -1;
}

static bool one_float(const struct npuc_tensor *t)
{
	return t->data && t->dtype == NPUC_F32 && npuc_elements(t) == 1;
}

static void find_types(struct fuser *f)
{
	const struct npuc_graph *g = f->g;

	for (size_t i = 0; i < g->n_tensor; i++)
		f->type[i] = g->tensor[i].dtype;
	for (size_t i = 0; i < g->n_node; i++) {
		const struct npuc_node *n = &g->node[i];

		if (strcmp(n->op, "QuantizeLinear") || n->n_out != 1 || n->out[0] < 0)
			continue;
		f->type[n->out[0]] =
			n->n_in > 2 && n->in[2] >= 0 ? g->tensor[n->in[2]].dtype : NPUC_U8;
	}
}

/* Scale and zero point at inputs 1 and 2 of a QuantizeLinear or DequantizeLinear. */
static bool read_scales(const struct fuser *f, const struct npuc_node *n, struct quantised *q)
{
	q->scale = n->n_in > 1 ? n->in[1] : -1;
	q->zero = n->n_in > 2 ? n->in[2] : -1;
	if (n->n_in < 2 || q->scale < 0 || !f->g->tensor[q->scale].data)
		return false;
	if (q->zero >= 0)
		q->dtype = f->g->tensor[q->zero].dtype;
	return q->zero < 0 || f->g->tensor[q->zero].data;
}

/* Input @index of @n, if it comes from a DequantizeLinear. */
static bool dequantised(const struct fuser *f, const struct npuc_node *n, size_t index,
			struct quantised *q)
{
	int t = index < n->n_in ? n->in[index] : -1;
	const struct npuc_node *dq;

	if (t < 0 || f->g->tensor[t].producer < 0)
		return false;
	dq = &f->old[f->g->tensor[t].producer];
	if (strcmp(dq->op, "DequantizeLinear") || dq->n_in < 1 || dq->in[0] < 0)
		return false;
	q->tensor = dq->in[0];
	q->dtype = f->type[q->tensor];
	return read_scales(f, dq, q);
}

static bool eight_bits(enum npuc_dtype dtype)
{
	return dtype == NPUC_I8 || dtype == NPUC_U8;
}

/* The same, of 8 bits with one scale for all. */
static bool activation(const struct fuser *f, const struct npuc_node *n, size_t index,
		       struct quantised *q)
{
	return dequantised(f, n, index, q) && eight_bits(q->dtype) &&
	       one_float(&f->g->tensor[q->scale]);
}

static int zero_of(const struct fuser *f, const struct quantised *q)
{
	const struct npuc_tensor *t = q->zero < 0 ? NULL : &f->g->tensor[q->zero];

	if (!t)
		return 0;
	return q->dtype == NPUC_U8 ? *(uint8_t *)t->data : *(int8_t *)t->data;
}

static float scale_of(const struct fuser *f, const struct quantised *q)
{
	return *(float *)f->g->tensor[q->scale].data;
}

static bool same_quantisation(const struct fuser *f, const struct quantised *a,
			      const struct quantised *b)
{
	return a->dtype == b->dtype && scale_of(f, a) == scale_of(f, b) &&
	       zero_of(f, a) == zero_of(f, b);
}

/* ---- which operators fit ---- */

/* The axis of weights along which outputs lie, or -1 for one scale. */
static bool weight_axis_fits(const struct fuser *f, const struct npuc_node *n,
			     const struct quantised *w)
{
	const struct npuc_node *dq = &f->old[f->g->tensor[n->in[1]].producer];
	const struct npuc_tensor *t = &f->g->tensor[w->tensor];
	int64_t axis = npuc_attr_int(dq, "axis", 1), want = strcmp(n->op, "Conv") ? 1 : 0;

	if (npuc_elements(&f->g->tensor[w->scale]) == 1)
		return true;
	if (!strcmp(n->op, "Gemm") && npuc_attr_int(n, "transB", 0))
		want = 0;
	return (axis < 0 ? axis + t->rank : axis) == want;
}

/* A bias in float32, or in int32 by the product of the other two scales. */
static bool bias_fits(const struct fuser *f, const struct npuc_node *n, const struct quantised *x,
		      const struct quantised *w)
{
	const struct npuc_tensor *t, *ws = &f->g->tensor[w->scale], *bs;
	struct quantised b;

	if (n->n_in < 3 || n->in[2] < 0)
		return true;
	t = &f->g->tensor[n->in[2]];
	if (t->data)
		return t->dtype == NPUC_F32;
	if (!dequantised(f, n, 2, &b) || b.dtype != NPUC_I32 || !f->g->tensor[b.tensor].data)
		return false;
	bs = &f->g->tensor[b.scale];
	if (bs->dtype != NPUC_F32)
		return false;
	for (int64_t i = 0; i < npuc_elements(bs); i++) {
		float product = scale_of(f, x) *
				((float *)ws->data)[npuc_elements(ws) == 1 ? 0 : i % npuc_elements(ws)];

		if (!(fabsf(((float *)bs->data)[i] - product) <= 1e-3f * product))
			return false;
	}
	return true;
}

static bool weights_fit(const struct fuser *f, const struct npuc_node *n)
{
	const struct npuc_attr *beta = npuc_attr(n, "beta");
	struct quantised x, w;

	if (!activation(f, n, 0, &x) || !dequantised(f, n, 1, &w) || !eight_bits(w.dtype) ||
	    !f->g->tensor[w.tensor].data || f->g->tensor[w.scale].dtype != NPUC_F32)
		return false;
	if (!strcmp(n->op, "Gemm") && ((beta && beta->f != 1) || npuc_attr_int(n, "transA", 0)))
		return false;
	return weight_axis_fits(f, n, &w) && bias_fits(f, n, &x, &w);
}

/* That all inputs are of the type of the result. */
static bool inputs_fit(const struct fuser *f, const struct npuc_node *n, enum npuc_dtype dtype)
{
	struct quantised x;

	for (size_t i = 0; i < n->n_in; i++)
		if (!activation(f, n, i, &x) || x.dtype != dtype)
			return false;
	return n->n_in > 0;
}

static bool fits(const struct fuser *f, const struct npuc_node *n, const struct group *g)
{
	struct quantised x;

	switch (g->form) {
	case FORM_WEIGHTS:
		return weights_fit(f, n);
	case FORM_BINARY:
		return n->n_in == 2 && inputs_fit(f, n, g->y.dtype);
	case FORM_UNARY:
		return n->n_in == 1 && inputs_fit(f, n, g->y.dtype);
	case FORM_CONCAT:
		return inputs_fit(f, n, g->y.dtype);
	default:
		return activation(f, n, 0, &x);
	}
}

/* A bound of Clip that is a constant, or none. */
static bool clip_fits(const struct fuser *f, const struct npuc_node *n)
{
	for (size_t i = 1; i < 3; i++)
		if (i < n->n_in && n->in[i] >= 0 && !one_float(&f->g->tensor[n->in[i]]))
			return false;
	return !n->n_attr;
}

static bool bounds_values(const struct fuser *f, const struct npuc_node *n)
{
	return !strcmp(n->op, "Relu") || (!strcmp(n->op, "Clip") && clip_fits(f, n));
}

/* The QuantizeLinear at the end of @n, a Relu or Clip between them or not. */
static bool find_end(const struct fuser *f, const struct npuc_node *n, struct group *g)
{
	int bound = reader_of(f, n, "Relu");

	if (bound < 0)
		bound = reader_of(f, n, "Clip");
	g->bound = -1;
	g->quantize = reader_of(f, n, "QuantizeLinear");
	if (bound >= 0 && g->form != FORM_BOUND && bounds_values(f, &f->old[bound])) {
		g->bound = bound;
		g->quantize = reader_of(f, &f->old[bound], "QuantizeLinear");
	}
	if (g->quantize < 0 || f->old[g->quantize].n_out != 1)
		return false;
	g->y.dtype = NPUC_U8;
	g->y.tensor = f->old[g->quantize].out[0];
	return read_scales(f, &f->old[g->quantize], &g->y) && eight_bits(g->y.dtype) &&
	       one_float(&f->g->tensor[g->y.scale]);
}

static void find_group(struct fuser *f, size_t index)
{
	const struct npuc_node *n = &f->old[index];
	struct group *g = &f->group[index], found = { .quantize = -1, .bound = -1 };

	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		if (!strcmp(n->op, forms[i].op)) {
			found.form = forms[i].form;
			found.becomes = forms[i].becomes;
		}
	}
	if (found.form == FORM_NONE || (found.form == FORM_BOUND && !bounds_values(f, n)))
		return;
	if (found.form != FORM_INDEX && !find_end(f, n, &found))
		return;
	if (fits(f, n, &found))
		*g = found;
}

/* ---- the new nodes ---- */

static int oom(const struct fuser *f)
{
	return npuc_fail(f->d, -ENOMEM, "out of memory");
}

static int new_tensor(struct fuser *f, const char *name, const char *suffix, enum npuc_dtype dtype)
{
	char unique[32];
	int id = npuc_build_tensor(f->g, name, suffix, dtype);

	if (id == -EEXIST) {
		snprintf(unique, sizeof(unique), "%s:%zu", suffix, f->g->n_tensor);
		id = npuc_build_tensor(f->g, name, unique, dtype);
	}
	return id < 0 ? oom(f) : id;
}

/* A constant of one 8-bit element. */
static int new_byte(struct fuser *f, const char *name, const char *suffix, enum npuc_dtype dtype,
		    int value)
{
	uint8_t byte = value;
	int id = new_tensor(f, name, suffix, dtype);

	if (id >= 0 && npuc_build_constant(f->g, id, 0, NULL, &byte))
		return oom(f);
	return id;
}

/* The zero point's tensor: operators on quantised values want one. */
static int zero_tensor(struct fuser *f, const char *name, const struct quantised *q)
{
	return q->zero >= 0 ? q->zero : new_byte(f, name, "zero", q->dtype, 0);
}

/* Appends values, scale and zero point to a list of inputs. */
static int put(struct fuser *f, const char *name, const struct quantised *q, bool values, int *in,
	       size_t *count)
{
	int zero = zero_tensor(f, name, q);

	if (zero < 0)
		return zero;
	if (values)
		in[(*count)++] = q->tensor;
	in[(*count)++] = q->scale;
	in[(*count)++] = zero;
	return 0;
}

/* round_even(b / (xs * ws)), as ONNX Runtime quantises a float bias. */
static int quantise_bias(struct fuser *f, const struct npuc_node *n, const struct quantised *x,
			 const struct quantised *w)
{
	const struct npuc_tensor *ws = &f->g->tensor[w->scale], *b = &f->g->tensor[n->in[2]];
	int64_t count = npuc_elements(b), scales = npuc_elements(ws), dim = count;
	int32_t *values = calloc(count + 1, sizeof(*values));
	float xs = scale_of(f, x);
	int id;

	if (!values)
		return oom(f);
	for (int64_t i = 0; i < count; i++) {
		float scale = xs * ((float *)ws->data)[scales == 1 ? 0 : i % scales];
		float v = rintf(((float *)b->data)[i] / scale);

		values[i] = v >= 0x1p31f ? INT32_MAX : v > -0x1p31f ? (int32_t)v : INT32_MIN;
	}
	id = new_tensor(f, n->name, "bias", NPUC_I32);
	if (id >= 0 && npuc_build_constant(f->g, id, 1, &dim, values))
		id = oom(f);
	free(values);
	return id;
}

static int bias_tensor(struct fuser *f, const struct npuc_node *n, const struct quantised *x,
		       const struct quantised *w)
{
	struct quantised b;

	if (n->n_in < 3 || n->in[2] < 0)
		return -1;
	if (f->g->tensor[n->in[2]].data)
		return quantise_bias(f, n, x, w);
	dequantised(f, n, 2, &b);
	return b.tensor;
}

/* QLinearConv has the bias last, QGemm before the result's scale. */
static int weights_inputs(struct fuser *f, const struct npuc_node *n, const struct group *g,
			  int *in, size_t *count)
{
	bool gemm = !strcmp(g->becomes, "QGemm"), conv = !strcmp(g->becomes, "QLinearConv");
	struct quantised x, w;
	int bias, err;

	activation(f, n, 0, &x);
	dequantised(f, n, 1, &w);
	err = put(f, n->name, &x, true, in, count);
	if (!err)
		err = put(f, n->name, &w, true, in, count);
	if (err)
		return err;
	bias = bias_tensor(f, n, &x, &w);
	if (bias < -1)
		return bias;
	if (gemm)
		in[(*count)++] = bias;
	err = put(f, n->name, &g->y, false, in, count);
	if (conv && bias >= 0)
		in[(*count)++] = bias;
	return err;
}

static int operator_inputs(struct fuser *f, const struct npuc_node *n, const struct group *g,
			   int *in, size_t *count)
{
	struct quantised x;
	int err = 0;

	if (g->form == FORM_WEIGHTS)
		return weights_inputs(f, n, g, in, count);
	if (g->form == FORM_MOVE || g->form == FORM_INDEX) {
		activation(f, n, 0, &x);
		in[(*count)++] = x.tensor;
		for (size_t i = 1; i < n->n_in; i++)
			in[(*count)++] = n->in[i];
		return 0;
	}
	if (g->form == FORM_CONCAT)
		err = put(f, n->name, &g->y, false, in, count);
	for (size_t i = 0; i < n->n_in && !err; i++)
		if (activation(f, n, i, &x))
			err = put(f, n->name, &x, true, in, count);
	return err || g->form == FORM_CONCAT ? err : put(f, n->name, &g->y, false, in, count);
}

/* The bounds of a Relu or Clip on values of quantisation @y, in these values. */
static void bounds_of(const struct fuser *f, const struct npuc_node *n, const struct quantised *y,
		      int bound[2])
{
	const int low = y->dtype == NPUC_U8 ? 0 : INT8_MIN;
	const int high = y->dtype == NPUC_U8 ? UINT8_MAX : INT8_MAX;

	bound[0] = low;
	bound[1] = high;
	if (!strcmp(n->op, "Relu")) {
		bound[0] = zero_of(f, y);
		return;
	}
	for (size_t i = 1; i < 3; i++) {
		float v;

		if (i >= n->n_in || n->in[i] < 0)
			continue;
		v = *(float *)f->g->tensor[n->in[i]].data / scale_of(f, y);
		v = v < low - zero_of(f, y) ? low - zero_of(f, y) : v;
		v = v > high - zero_of(f, y) ? high - zero_of(f, y) : v;
		bound[i - 1] = (v == v ? (int)rintf(v) : 0) + zero_of(f, y);
	}
}

/* A group under way: what it has made so far. */
struct chain {
	const struct npuc_node *n;
	const struct group *g;
	int at; /* tensor */
};

/* A tensor for a result that is @last or not. */
static int chain_out(struct fuser *f, struct chain *c, bool last, const char *suffix)
{
	return last ? c->g->y.tensor : new_tensor(f, c->n->name, suffix, c->g->y.dtype);
}

static int chain_node(struct fuser *f, struct chain *c, const char *op, const int *in, size_t count,
		      int out, const struct npuc_node *like)
{
	if (out < 0)
		return out;
	if (npuc_build_node(f->g, op, c->n->name, in, count, out, like))
		return oom(f);
	c->at = out;
	return 0;
}

static int add_requantize(struct fuser *f, struct chain *c, const struct quantised *x, bool last)
{
	struct quantised from = *x;
	int in[5];
	size_t count = 0;
	int err;

	from.tensor = c->at;
	err = put(f, c->n->name, &from, true, in, &count);
	if (!err)
		err = put(f, c->n->name, &c->g->y, false, in, &count);
	return err ? err : chain_node(f, c, NPUC_REQUANTIZE, in, count,
				      chain_out(f, c, last, "requantized"), NULL);
}

static int add_clip(struct fuser *f, struct chain *c, const int bound[2])
{
	int in[3] = { c->at };

	in[1] = new_byte(f, c->n->name, "min", c->g->y.dtype, bound[0]);
	in[2] = in[1] < 0 ? in[1] : new_byte(f, c->n->name, "max", c->g->y.dtype, bound[1]);
	if (in[2] < 0)
		return in[2];
	return chain_node(f, c, "Clip", in, 3, c->g->y.tensor, NULL);
}

/* Whether a Relu or Clip of the group bounds what the type itself does not. */
static bool needs_clip(const struct fuser *f, const struct chain *c, int bound[2])
{
	const struct npuc_node *n = c->g->form == FORM_BOUND ? c->n :
				    c->g->bound >= 0	     ? &f->old[c->g->bound] :
							       NULL;
	bool u8 = c->g->y.dtype == NPUC_U8;

	if (!n)
		return false;
	bounds_of(f, n, &c->g->y, bound);
	return bound[0] > (u8 ? 0 : INT8_MIN) || bound[1] < (u8 ? UINT8_MAX : INT8_MAX);
}

/* QGemm has no beta, which is 1 here. */
static void drop_beta(struct npuc_node *n)
{
	for (size_t i = 0; i < n->n_attr; i++) {
		if (strcmp(n->attr[i].name, "beta"))
			continue;
		free(n->attr[i].name);
		free(n->attr[i].s);
		free(n->attr[i].ints);
		n->attr[i] = n->attr[--n->n_attr];
		return;
	}
}

static int add_operator(struct fuser *f, struct chain *c, int out)
{
	int in[3 * NPUC_MAX_INPUTS + 3];
	size_t count = 0;
	int err;

	if (c->n->n_in > NPUC_MAX_INPUTS)
		return npuc_fail(f->d, -EOPNOTSUPP, "%s %s: %zu inputs, at most %d are possible",
				 c->n->op, c->n->name, c->n->n_in, NPUC_MAX_INPUTS);
	err = operator_inputs(f, c->n, c->g, in, &count);
	if (!err)
		err = chain_node(f, c, c->g->becomes, in, count, out, c->n);
	if (!err)
		drop_beta(&f->g->node[f->g->n_node - 1]);
	return err;
}

/* The operator itself, a change of quantisation, bounds: as many of them as it takes. */
static int add_group(struct fuser *f, const struct npuc_node *n, const struct group *g)
{
	struct chain c = { n, g, -1 };
	struct quantised x;
	bool changes, clip;
	int bound[2], err = 0;

	if (g->form == FORM_INDEX)
		return add_operator(f, &c, n->out[0]);
	activation(f, n, 0, &x);
	clip = needs_clip(f, &c, bound);
	changes = (g->form == FORM_MOVE || g->form == FORM_BOUND) &&
		  !same_quantisation(f, &x, &g->y);
	c.at = x.tensor;
	if (g->form != FORM_BOUND)
		err = add_operator(f, &c, chain_out(f, &c, !changes && !clip, "moved"));
	if (!err && changes)
		err = add_requantize(f, &c, &x, !clip);
	if (!err && clip)
		err = add_clip(f, &c, bound);
	if (!err && c.at != g->y.tensor)
		err = chain_node(f, &c, "Identity", &c.at, 1, g->y.tensor, NULL);
	return err;
}

/* ---- the whole graph ---- */

/* Who makes and reads what, after nodes were added and taken out. */
static void link_again(struct npuc_graph *g)
{
	for (size_t i = 0; i < g->n_tensor; i++) {
		g->tensor[i].uses = 0;
		g->tensor[i].producer = -1;
	}
	for (size_t i = 0; i < g->n_node; i++) {
		const struct npuc_node *n = &g->node[i];

		for (size_t k = 0; k < n->n_in && !n->dead; k++)
			if (n->in[k] >= 0)
				g->tensor[n->in[k]].uses++;
		for (size_t k = 0; k < n->n_out && !n->dead; k++)
			if (n->out[k] >= 0)
				g->tensor[n->out[k]].producer = i;
	}
	for (size_t i = 0; i < g->n_output; i++)
		g->tensor[g->output[i]].uses++;
}

/* A DequantizeLinear that nothing reads any more. */
static void bury_dequantize(struct npuc_graph *g)
{
	for (size_t i = 0; i < g->n_node; i++) {
		struct npuc_node *n = &g->node[i];

		if (!n->dead && !strcmp(n->op, "DequantizeLinear") && n->n_out == 1 &&
		    n->out[0] >= 0 && !g->tensor[n->out[0]].uses)
			n->dead = true;
	}
}

/* Moves an old node to the new list; the nodes that are read there stay readable in the old one. */
static int push(struct fuser *f, const struct npuc_node *n)
{
	struct npuc_node *grown = realloc(f->g->node, (f->g->n_node + 1) * sizeof(*grown));

	if (!grown)
		return oom(f);
	f->g->node = grown;
	grown[f->g->n_node++] = *n;
	return 0;
}

static void mark_dead(struct fuser *f)
{
	for (size_t i = 0; i < f->n_old; i++) {
		const struct group *g = &f->group[i];

		if (!g->form)
			continue;
		f->old[i].dead = true;
		if (g->bound >= 0)
			f->old[g->bound].dead = true;
		if (g->quantize >= 0)
			f->old[g->quantize].dead = true;
	}
}

/* A group stands where its operator stood: what it reads is made by then. */
static int rebuild(struct fuser *f)
{
	size_t i;
	int err = 0;

	f->g->node = NULL;
	f->g->n_node = 0;
	for (i = 0; i < f->n_old && !err; i++) {
		if (f->group[i].form)
			err = add_group(f, &f->old[i], &f->group[i]);
		if (!err)
			err = push(f, &f->old[i]);
	}
	/* Those that did not move are owned by nobody else. */
	for (i -= !!err; err && i < f->n_old; i++)
		npuc_node_free(&f->old[i]);
	return err;
}

static int fuse(struct fuser *f)
{
	bool any = false;
	int err;

	find_readers(f);
	find_types(f);
	for (size_t i = 0; i < f->n_old; i++) {
		find_group(f, i);
		any |= f->group[i].form != FORM_NONE;
	}
	if (!any)
		return 0;
	mark_dead(f);
	err = rebuild(f);
	free(f->old);
	if (err)
		return err;
	link_again(f->g);
	bury_dequantize(f->g);
	link_again(f->g);
	return 0;
}

int npuc_fuse_qdq(struct npuc_graph *g, struct npuc_diag *d)
{
	struct fuser f = { .g = g, .d = d, .old = g->node, .n_old = g->n_node };
	int err;

	f.reader = calloc(g->n_tensor + 1, sizeof(*f.reader));
	f.type = calloc(g->n_tensor + 1, sizeof(*f.type));
	f.group = calloc(g->n_node + 1, sizeof(*f.group));
	err = f.reader && f.type && f.group ? fuse(&f) : oom(&f);
	free(f.reader);
	free(f.type);
	free(f.group);
	return err;
}
