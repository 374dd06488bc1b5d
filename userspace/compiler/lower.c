// SPDX-License-Identifier: MIT
#include "userspace/compiler/program.h"
#include "userspace/compiler/qdq.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SCRATCH_ALIGN 256
#define MAX_STAGES    65536

int npuc_refuse(struct npuc_program *p, const struct npuc_node *n, const char *fmt, ...)
{
	char reason[320];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(reason, sizeof(reason), fmt, ap);
	va_end(ap);
	return npuc_fail(p->d, -EOPNOTSUPP, "%s %s: %s", n->op, n->name, reason);
}

static int oom(struct npuc_program *p)
{
	return npuc_fail(p->d, -ENOMEM, "out of memory");
}

static void *grow(void *array, size_t count, size_t size)
{
	if (count & (count - 1))
		return array;
	return realloc(array, (count ? count * 2 : 1) * size);
}

struct npuc_place npuc_scratch(struct npuc_program *p, uint64_t size)
{
	struct npuc_place place = { NPUC_SPACE_SCRATCH, 0, p->scratch, size };

	p->scratch += (size + SCRATCH_ALIGN - 1) / SCRATCH_ALIGN * SCRATCH_ALIGN;
	return place;
}

int npuc_value_new(struct npuc_program *p, int tensor)
{
	struct npuc_value *v = grow(p->value, p->n_value, sizeof(*v));

	if (!v)
		return oom(p);
	p->value = v;
	v[p->n_value] = (struct npuc_value){
		.tensor = tensor,
		.alias = -1,
		.flip = p->g->tensor[tensor].dtype == NPUC_U8,
	};
	return p->n_value++;
}

int npuc_value_of(struct npuc_program *p, int tensor)
{
	for (size_t i = p->n_value; i-- > 0;)
		if (p->value[i].tensor == tensor && !p->value[i].windows)
			return i;
	return npuc_fail(p->d, -EINVAL, "tensor %s is read before it is made",
			 p->g->tensor[tensor].name);
}

static struct npuc_value *root(struct npuc_program *p, int value)
{
	while (p->value[value].alias >= 0)
		value = p->value[value].alias;
	return &p->value[value];
}

static struct npuc_stage *stage_new(struct npuc_program *p, const char *name)
{
	struct npuc_stage *s = grow(p->stage, p->n_stage, sizeof(*s));

	if (!s || p->n_stage >= MAX_STAGES)
		return NULL;
	p->stage = s;
	s += p->n_stage;
	*s = (struct npuc_stage){ .name = strdup(name) };
	if (!s->name)
		return NULL;
	p->n_stage++;
	return s;
}

int npuc_stage_host_n(struct npuc_program *p, const char *name, const char *kernel,
		      const struct npuc_place *operand, int operands, const void *param,
		      size_t param_size)
{
	struct npuc_stage *s = stage_new(p, name);

	if (!s)
		return oom(p);
	s->is_host = true;
	s->host = (struct npuc_host){
		.kernel = kernel, .operands = operands, .param_size = param_size
	};
	memcpy(s->host.operand, operand, operands * sizeof(*operand));
	s->host.param = malloc(param_size);
	if (!s->host.param)
		return oom(p);
	memcpy(s->host.param, param, param_size);
	return p->n_stage - 1;
}

int npuc_stage_host(struct npuc_program *p, const char *name, const char *kernel,
		    struct npuc_place a, struct npuc_place b, const void *param, size_t param_size)
{
	return npuc_stage_host_n(p, name, kernel, (struct npuc_place[]){ a, b }, 2, param,
				 param_size);
}

int npuc_constant(struct npuc_program *p, const void *data, uint64_t size, struct npuc_place *out)
{
	uint64_t at = (p->constant_size + NPU_MODULE_ALIGN - 1) / NPU_MODULE_ALIGN *
		      NPU_MODULE_ALIGN;
	uint8_t *grown = realloc(p->constant, at + size);

	if (!grown)
		return oom(p);
	memset(grown + p->constant_size, 0, at - p->constant_size);
	memcpy(grown + at, data, size);
	p->constant = grown;
	p->constant_size = at + size;
	*out = (struct npuc_place){ NPUC_SPACE_CONST, 0, at, size };
	return 0;
}

struct npuc_place npuc_dense_place(struct npuc_program *p, int tensor)
{
	const struct npuc_tensor *t = &p->g->tensor[tensor];
	uint64_t size = npuc_elements(t) * npuc_dtype_size(t->dtype);

	for (size_t i = 0; i < p->g->n_output; i++)
		if (p->g->output[i] == tensor)
			return (struct npuc_place){ NPUC_SPACE_OUTPUT, i, 0, size };
	return npuc_scratch(p, size);
}

int npuc_stage_layer(struct npuc_program *p, const char *name, const struct npuc_layer *l)
{
	struct npuc_stage *s = stage_new(p, name);

	if (!s)
		return oom(p);
	s->layer = *l;
	return p->n_stage - 1;
}

int npuc_placed(struct npuc_program *p, const struct npuc_node *n, const char *where, int stage,
		uint64_t macs)
{
	struct npuc_placement *pl = grow(p->placement, p->n_placement, sizeof(*pl));

	if (!pl)
		return oom(p);
	p->placement = pl;
	pl += p->n_placement;
	*pl = (struct npuc_placement){
		.op = strdup(n->op),
		.name = strdup(n->name),
		.where = where,
		.stage = stage,
		.macs = macs,
	};
	p->n_placement++;
	return pl->op && pl->name ? 0 : oom(p);
}

/* bytes of the row-major form */
static uint64_t dense_bytes(const struct npuc_program *p, const struct npuc_value *v)
{
	const struct npuc_tensor *t = &p->g->tensor[v->tensor];

	return npuc_elements(t) * npuc_dtype_size(t->dtype);
}

static int flip_bytes(struct npuc_program *p, const char *name, struct npuc_place *place)
{
	struct npu_host_copy param = { .size = place->size };
	struct npuc_place to = npuc_scratch(p, place->size);
	int err = npuc_stage_host(p, name, "flip_sign8", *place, to, &param, sizeof(param));

	*place = to;
	return err < 0 ? err : 0;
}

/* Makes the row-major form exist; returns 0. */
int npuc_dense(struct npuc_program *p, int value)
{
	struct npuc_value *v = root(p, value);
	const char *name = p->g->tensor[v->tensor].name;
	struct npu_host_pack pack = { v->n, v->c, v->h, v->w, 0, 0 };
	struct npuc_place place;
	int err;

	if (v->dense.space)
		return 0;
	if (!v->blocked.space)
		return npuc_fail(p->d, -EINVAL, "tensor %s has no memory", name);
	place = npuc_scratch(p, dense_bytes(p, v));
	err = npuc_stage_host(p, name, "unpack_nchw16", v->blocked, place, &pack, sizeof(pack));
	if (err >= 0 && v->flip)
		err = flip_bytes(p, name, &place);
	v->dense = place;
	return err < 0 ? err : 0;
}

/* Makes the blocked form of that shape exist; returns the value that has it. */
int npuc_blocked(struct npuc_program *p, int value, int n, int c, int h, int w)
{
	struct npu_host_pack pack = { n, c, h, w, 0, 0 };
	struct npuc_value *v = root(p, value);
	const char *name = p->g->tensor[v->tensor].name;
	struct npuc_place dense;
	int err;

	if (v->blocked.space && v->n == n && v->c == c && v->h == h && v->w == w)
		return v - p->value;
	err = npuc_dense(p, value);
	if (err)
		return err;
	dense = v->dense;
	if (v->blocked.space) {
		/* Another shape of the same bytes: a form of its own. */
		struct npuc_value copy = *v;

		value = npuc_value_new(p, copy.tensor);
		if (value < 0)
			return value;
		v = &p->value[value];
		v->dense = dense;
		v->flip = copy.flip;
	}
	if (v->flip) {
		err = flip_bytes(p, name, &dense);
		if (err)
			return err;
	}
	v->n = n;
	v->c = c;
	v->h = h;
	v->w = w;
	v->blocked = npuc_scratch(p, (uint64_t)n * npuc_blocks(c) * h * w * 16);
	err = npuc_stage_host(p, name, "pack_nchw16", dense, v->blocked, &pack, sizeof(pack));
	return err < 0 ? err : (int)(v - p->value);
}

static bool patches_pay(const struct npuc_layer *l)
{
	int taps = l->window.kernel_h * l->window.kernel_w;
	int64_t packed = (int64_t)npuc_blocks(l->in_c * taps) * l->out_h * l->out_w;
	int64_t plain = (int64_t)npuc_blocks(l->in_c) * l->in_h * l->in_w;

	return taps > 1 && 2 * npuc_blocks(l->in_c * taps) <= npuc_blocks(l->in_c) * taps &&
	       packed <= 4 * plain;
}

int npuc_patches(struct npuc_program *p, int value, const struct npuc_layer *l, int images)
{
	const struct npuc_window *w = &l->window;
	struct npu_host_patches k = {
		images,	     l->in_c,	  l->in_h,	l->in_w,     l->out_h,	    l->out_w,
		w->kernel_h, w->kernel_w, w->stride_h,	w->stride_w, w->dilation_h, w->dilation_w,
		w->pad_top,  w->pad_left, l->pad_value, 0,
	};
	struct npuc_value from = *root(p, value), *v;
	struct npuc_place dense = from.dense;
	const char *name = p->g->tensor[from.tensor].name;
	int err = 0;

	if (!from.dense.space || from.blocked.space || !patches_pay(l))
		return -ENOENT;
	if (from.flip)
		err = flip_bytes(p, name, &dense);
	value = err ? err : npuc_value_new(p, from.tensor);
	if (value < 0)
		return value;
	v = &p->value[value];
	*v = from;
	v->alias = -1;
	v->windows = true;
	v->n = images;
	v->c = l->in_c * w->kernel_h * w->kernel_w;
	v->h = l->out_h;
	v->w = l->out_w;
	v->blocked = npuc_scratch(p, (uint64_t)images * npuc_blocks(v->c) * v->h * v->w * 16);
	err = npuc_stage_host(p, name, "pack_patches", dense, v->blocked, &k, sizeof(k));
	return err < 0 ? err : value;
}

struct npuc_layer *npuc_fusable(struct npuc_program *p, int value)
{
	const struct npuc_value *v = &p->value[value];
	struct npuc_stage *s = p->n_stage ? &p->stage[p->n_stage - 1] : NULL;

	if (!s || s->is_host || s->layer.out != value || v->alias >= 0 || v->dense.space)
		return NULL;
	return p->g->tensor[v->tensor].uses == 1 ? &s->layer : NULL;
}

/* @l, the last stage, now writes @out_value; the memory of its former output is given back. */
void npuc_fused(struct npuc_program *p, struct npuc_layer *l, const struct npuc_node *n,
		int out_value)
{
	struct npuc_stage *s = &p->stage[p->n_stage - 1];
	struct npuc_value *out = &p->value[out_value];
	char name[256];

	p->scratch = p->value[l->out].blocked.offset;
	p->value[l->out].blocked = (struct npuc_place){ 0 };
	l->out = out_value;
	out->blocked =
		npuc_scratch(p, (uint64_t)out->n * npuc_blocks(out->c) * out->h * out->w * 16);
	snprintf(name, sizeof(name), "%.120s+%.120s", s->name, n->name);
	free(s->name);
	s->name = strdup(name);
}

int npuc_const(struct npuc_program *p, const struct npuc_node *n, size_t index, const char *what,
	       const struct npuc_tensor **out)
{
	if (index >= n->n_in || n->in[index] < 0)
		return npuc_refuse(p, n, "input %zu (%s) is missing", index, what);
	*out = &p->g->tensor[n->in[index]];
	if (!(*out)->data)
		return npuc_refuse(p, n, "input %zu (%s) must be constant; %s is computed", index,
				   what, (*out)->name);
	return 0;
}

int npuc_optional(struct npuc_program *p, const struct npuc_node *n, size_t index,
		  const char *what, enum npuc_dtype dtype, const struct npuc_tensor **out)
{
	int err;

	*out = NULL;
	if (index >= n->n_in || n->in[index] < 0)
		return 0;
	err = npuc_const(p, n, index, what, out);
	if (err)
		return err;
	if ((*out)->dtype != dtype || npuc_elements(*out) != 1)
		return npuc_refuse(p, n, "%s wants one %s, has %lld of %s", what,
				   npuc_dtype_name(dtype), (long long)npuc_elements(*out),
				   npuc_dtype_name((*out)->dtype));
	return 0;
}

int npuc_scalar_f32(struct npuc_program *p, const struct npuc_node *n, size_t index,
		    const char *what, float *out)
{
	const struct npuc_tensor *t;
	int err = npuc_const(p, n, index, what, &t);

	if (err)
		return err;
	if (t->dtype != NPUC_F32 || npuc_elements(t) != 1)
		return npuc_refuse(p, n, "%s wants one float32, has %lld of %s", what,
				   (long long)npuc_elements(t), npuc_dtype_name(t->dtype));
	*out = *(const float *)t->data;
	if (!(*out > 0 && *out < 3.4e38f))
		return npuc_refuse(p, n, "%s is %g, want a positive number", what, *out);
	return 0;
}

int npuc_zero_point(struct npuc_program *p, const struct npuc_node *n, size_t index,
		    const char *what, enum npuc_dtype dtype, int *out)
{
	const struct npuc_tensor *t;
	int err = npuc_const(p, n, index, what, &t);

	if (err)
		return err;
	if (t->dtype != dtype)
		return npuc_refuse(p, n, "%s is %s, want %s", what, npuc_dtype_name(t->dtype),
				   npuc_dtype_name(dtype));
	for (int64_t i = 0; i < npuc_elements(t); i++) {
		int v = dtype == NPUC_U8 ? ((uint8_t *)t->data)[i] : ((int8_t *)t->data)[i];

		if (i && v != *out)
			return npuc_refuse(p, n, "%s differs from channel to channel", what);
		*out = v;
	}
	return 0;
}

/* Attributes that the operator may have, between blanks. */
static const struct {
	const char *op;
	const char *attrs;
	int (*lower)(struct npuc_program *p, const struct npuc_node *n);
} operators[] = {
	{ "Add", "", npuc_lower_binary },
	{ "ArgMax", " axis keepdims select_last_index ", npuc_lower_argmax },
	{ "Clip", "", npuc_lower_clip },
	{ "Concat", " axis ", npuc_lower_concat },
	{ "DequantizeLinear", " axis ", npuc_lower_dequantize },
	{ "Flatten", " axis ", npuc_lower_view },
	{ "Identity", "", npuc_lower_view },
	{ "MaxPool", " auto_pad ceil_mode dilations kernel_shape pads storage_order strides ",
	  npuc_lower_maxpool },
	{ "Mul", "", npuc_lower_binary },
	{ "Pad", " mode pads value ", npuc_lower_pad },
	{ "QGemm", " alpha transA transB ", npuc_lower_gemm },
	{ "QLinearAdd", "", npuc_lower_binary },
	{ "QLinearAveragePool",
	  " auto_pad ceil_mode channels_last count_include_pad kernel_shape pads strides ",
	  npuc_lower_average },
	{ "QLinearConcat", " axis ", npuc_lower_quantised_concat },
	{ "QLinearConv", " auto_pad dilations group kernel_shape pads strides ", npuc_lower_conv },
	{ "QLinearGlobalAveragePool", " channels_last ", npuc_lower_global_average },
	{ "QLinearLeakyRelu", " alpha ", npuc_lower_table },
	{ "QLinearMatMul", "", npuc_lower_matmul },
	{ "QLinearMul", "", npuc_lower_binary },
	{ "QLinearSigmoid", "", npuc_lower_table },
	{ "QuantizeLinear", " axis ", npuc_lower_quantize },
	{ "Relu", "", npuc_lower_clip },
	{ "Reshape", " allowzero ", npuc_lower_view },
	{ "Resize",
	  " antialias axes coordinate_transformation_mode cubic_coeff_a exclude_outside extrapolation_value keep_aspect_ratio_policy mode nearest_mode ",
	  npuc_lower_resize },
	{ "Slice", " axes ends starts ", npuc_lower_slice },
	{ "Softmax", " axis ", npuc_lower_softmax },
	{ "Squeeze", " axes ", npuc_lower_view },
	{ "Transpose", " perm ", npuc_lower_transpose },
	{ "Unsqueeze", " axes ", npuc_lower_view },
	{ NPUC_REQUANTIZE, "", npuc_lower_table },
};

/* One that is not known may change what the operator means. */
static int check_attrs(struct npuc_program *p, const struct npuc_node *n, const char *known)
{
	char word[64];

	for (size_t i = 0; i < n->n_attr; i++) {
		snprintf(word, sizeof(word), " %.60s ", n->attr[i].name);
		if (!n->attr[i].name[0] || strchr(n->attr[i].name, ' ') || !strstr(known, word))
			return npuc_refuse(p, n, "attribute \"%.60s\" is not known",
					   n->attr[i].name);
	}
	return 0;
}

static int lower_node(struct npuc_program *p, const struct npuc_node *n)
{
	for (size_t i = 0; i < sizeof(operators) / sizeof(operators[0]); i++) {
		int err;

		if (strcmp(n->op, operators[i].op))
			continue;
		if (n->n_in < 1 || n->n_out < 1 || n->in[0] < 0 || n->out[0] < 0)
			return npuc_refuse(p, n, "has no input or no output");
		err = check_attrs(p, n, operators[i].attrs);
		return err ? err : operators[i].lower(p, n);
	}
	return npuc_refuse(p, n, "this operator cannot be compiled");
}

static int lower_inputs(struct npuc_program *p)
{
	for (size_t i = 0; i < p->g->n_input; i++) {
		const struct npuc_tensor *t = &p->g->tensor[p->g->input[i]];
		int v = npuc_value_new(p, p->g->input[i]);

		if (v < 0)
			return v;
		p->value[v].dense = (struct npuc_place){
			NPUC_SPACE_INPUT,
			i,
			0,
			npuc_elements(t) * npuc_dtype_size(t->dtype),
		};
	}
	return 0;
}

/* An output that a host kernel did not write in place is copied. */
static int lower_outputs(struct npuc_program *p)
{
	for (size_t i = 0; i < p->g->n_output; i++) {
		int v = npuc_value_of(p, p->g->output[i]), err;
		struct npu_host_copy param;
		struct npuc_place to, from;

		if (v < 0)
			return v;
		err = npuc_dense(p, v);
		if (err)
			return err;
		from = root(p, v)->dense;
		param.size = from.size;
		to = (struct npuc_place){ NPUC_SPACE_OUTPUT, i, 0, from.size };
		if (from.space == NPUC_SPACE_OUTPUT && (size_t)from.index == i)
			continue;
		err = npuc_stage_host(p, p->g->tensor[p->g->output[i]].name, "copy", from, to,
				      &param, sizeof(param));
		if (err < 0)
			return err;
	}
	return 0;
}

int npuc_lower(const struct npuc_graph *g, uint64_t features, struct npuc_program **out,
	       struct npuc_diag *d)
{
	struct npuc_program *p = calloc(1, sizeof(*p));
	int err;

	if (!p)
		return npuc_fail(d, -ENOMEM, "out of memory");
	p->g = g;
	p->features = features;
	p->d = d;
	err = lower_inputs(p);
	for (size_t i = 0; i < g->n_node && !err; i++)
		if (!g->node[i].dead)
			err = lower_node(p, &g->node[i]);
	if (!err)
		err = lower_outputs(p);
	if (err) {
		npuc_program_free(p);
		return err;
	}
	*out = p;
	return 0;
}

void npuc_layer_free(struct npuc_layer *l)
{
	free(l->weight);
	free(l->bias);
	free(l->scale);
	free(l->table);
	for (int i = 0; i < 2; i++)
		free(l->operand[i].correction);
}

void npuc_program_free(struct npuc_program *p)
{
	if (!p)
		return;
	for (size_t i = 0; i < p->n_stage; i++) {
		free(p->stage[i].name);
		free(p->stage[i].host.param);
		npuc_layer_free(&p->stage[i].layer);
	}
	for (size_t i = 0; i < p->n_placement; i++) {
		free(p->placement[i].op);
		free(p->placement[i].name);
	}
	free(p->stage);
	free(p->placement);
	free(p->value);
	free(p->constant);
	free(p);
}
