// SPDX-License-Identifier: MIT
/* Writes the quantised graph. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "userspace/compiler/graph_build.h"
#include "userspace/compiler/quantise.h"

/*
 * @as_float, @as_int8: for each tensor of the float graph the one of the new
 * graph, -1 while there is none. @scale, @zero: constants of its grid.
 */
struct writer {
	const struct npuc_quantiser *q;
	const struct npuc_graph *g;
	struct npuc_graph *out;
	int *as_float, *as_int8, *scale, *zero;
	struct npuc_grid *grid;
};

static int constant(struct writer *w, const char *name, const char *suffix, enum npuc_dtype dtype,
		    int rank, const int64_t *dim, const void *data)
{
	int id = npuc_build_tensor(w->out, name, suffix, dtype), err;

	err = id < 0 ? id : npuc_build_constant(w->out, id, rank, dim, data);
	return err ? err : id;
}

/* Nodes may share a name, tensors do not. */
static const char *made_name(const struct writer *w, const struct npuc_node *n)
{
	return w->g->tensor[n->out[0]].name;
}

/* Scale and zero point of a tensor of the float graph, made when first asked for. */
static int grid_constants(struct writer *w, int t)
{
	const char *name = w->g->tensor[t].name;
	int8_t zero = w->grid[t].zero;

	if (w->scale[t] >= 0)
		return 0;
	w->scale[t] = constant(w, name, "scale", NPUC_F32, 0, NULL, &w->grid[t].scale);
	w->zero[t] = constant(w, name, "zero", NPUC_I8, 0, NULL, &zero);
	return w->scale[t] < 0 ? w->scale[t] : w->zero[t] < 0 ? w->zero[t] : 0;
}

/* A constant operand of Add and its like gets a grid of its own. */
static int constant_int8(struct writer *w, int t)
{
	const struct npuc_tensor *from = &w->g->tensor[t];
	int64_t n = npuc_elements(from);
	const float *value = from->data;
	float lo = 0, hi = 0;
	int8_t *data = malloc(n);
	int id;

	if (!data)
		return -ENOMEM;
	for (int64_t i = 0; i < n; i++) {
		lo = fminf(lo, value[i]);
		hi = fmaxf(hi, value[i]);
	}
	w->grid[t] = npuc_grid_of(lo, hi);
	for (int64_t i = 0; i < n; i++)
		data[i] = rintf(npuc_on_grid(&w->grid[t], value[i]) / w->grid[t].scale) +
			  w->grid[t].zero;
	id = constant(w, from->name, "int8", NPUC_I8, from->rank, from->dim, data);
	free(data);
	return id;
}

static int want_int8(struct writer *w, int t)
{
	int err, id;

	if (w->as_int8[t] >= 0)
		return grid_constants(w, t);
	if (w->g->tensor[t].data) {
		w->as_int8[t] = constant_int8(w, t);
		return w->as_int8[t] < 0 ? w->as_int8[t] : grid_constants(w, t);
	}
	err = grid_constants(w, t);
	if (err)
		return err;
	id = npuc_build_tensor(w->out, w->g->tensor[t].name, "int8", NPUC_I8);
	if (id < 0)
		return id;
	w->as_int8[t] = id;
	return npuc_build_node(w->out, "QuantizeLinear", w->g->tensor[t].name,
			       (int[]){ w->as_float[t], w->scale[t], w->zero[t] }, 3, id, NULL);
}

/* The tensor by its own name: an output keeps its name. */
static int want_float(struct writer *w, int t)
{
	const struct npuc_tensor *from = &w->g->tensor[t];
	int err, id;

	if (w->as_float[t] >= 0)
		return 0;
	if (from->data) {
		id = constant(w, from->name, NULL, from->dtype, from->rank, from->dim, from->data);
		w->as_float[t] = id;
		return id < 0 ? id : 0;
	}
	err = want_int8(w, t);
	id = err ? err : npuc_build_tensor(w->out, from->name, NULL, NPUC_F32);
	if (id < 0)
		return id;
	w->as_float[t] = id;
	return npuc_build_node(w->out, "DequantizeLinear", from->name,
			       (int[]){ w->as_int8[t], w->scale[t], w->zero[t] }, 3, id, NULL);
}

/* A new int8 tensor for @t of the float graph. */
static int make_int8(struct writer *w, int t)
{
	int err = grid_constants(w, t);

	if (err)
		return err;
	w->as_int8[t] = npuc_build_tensor(w->out, w->g->tensor[t].name, "int8", NPUC_I8);
	return w->as_int8[t] < 0 ? w->as_int8[t] : 0;
}

/* The tensor that @index makes in int8: past the Relu or Clip that its bounds replace. */
static int result(struct writer *w, size_t index)
{
	int fused = w->q->fused[index];

	return w->g->node[fused < 0 ? (int)index : fused].out[0];
}

/* int8 weights [channel][...] and their scales; @shape is that of the new tensor. */
static int weights(struct writer *w, const struct npuc_node *n, const float *scale, int rank,
		   const int64_t *shape, int *in)
{
	const struct npuc_tensor *from = &w->g->tensor[n->in[1]];
	int64_t channels = shape[0], per = npuc_elements(from) / channels;
	int8_t *data = malloc(channels * per), *zeros = calloc(channels, 1);

	for (int64_t c = 0; data && zeros && c < channels; c++)
		for (int64_t i = 0; i < per; i++)
			data[c * per + i] = fminf(
				fmaxf(rintf(npuc_weight_at(from, n, c, i) / scale[c]), -127), 127);
	in[3] = in[4] = in[5] = -ENOMEM;
	if (data && zeros) {
		in[3] = constant(w, made_name(w, n), "weight", NPUC_I8, rank, shape, data);
		in[4] = constant(w, made_name(w, n), "weight_scale", NPUC_F32, 1, shape, scale);
		in[5] = constant(w, made_name(w, n), "weight_zero", NPUC_I8, 1, shape, zeros);
	}
	free(data);
	free(zeros);
	return in[3] < 0 ? in[3] : in[4] < 0 ? in[4] : in[5] < 0 ? in[5] : 0;
}

/* A bias of one element is that of every channel. */
static int bias(struct writer *w, const struct npuc_node *n, const float *scale, int64_t channels,
		int *in)
{
	const struct npuc_tensor *b = n->n_in > 2 && n->in[2] >= 0 ? &w->g->tensor[n->in[2]] : NULL;
	float step = w->grid[n->in[0]].scale;
	int32_t *data;

	in[8] = -1;
	if (!b)
		return 0;
	if (!b->data || b->dtype != NPUC_F32 ||
	    (npuc_elements(b) != channels && npuc_elements(b) != 1))
		return npuc_fail(w->q->d, -EOPNOTSUPP,
				 "%s %s: the bias must be a constant of float32, one a channel",
				 n->op, n->name);
	data = malloc(channels * sizeof(*data));
	if (!data)
		return -ENOMEM;
	for (int64_t c = 0; c < channels; c++)
		data[c] = rint((double)((float *)b->data)[npuc_elements(b) == 1 ? 0 : c] /
			       ((double)step * scale[c]));
	in[8] = constant(w, made_name(w, n), "bias", NPUC_I32, 1, &channels, data);
	free(data);
	return in[8] < 0 ? in[8] : 0;
}

/* Inputs of QLinearConv and QGemm for @n, whose result is @t; @rank and @shape are the weights'. */
static int product_inputs(struct writer *w, const struct npuc_node *n, int t, int rank,
			  const int64_t *shape, int *in)
{
	int err = want_int8(w, n->in[0]);
	float *scale;

	if (!err)
		err = make_int8(w, t);
	if (err)
		return err;
	scale = npuc_weight_scales(w->q, n);
	if (!scale)
		return -ENOMEM;
	in[0] = w->as_int8[n->in[0]];
	in[1] = w->scale[n->in[0]];
	in[2] = w->zero[n->in[0]];
	err = weights(w, n, scale, rank, shape, in);
	if (!err)
		err = bias(w, n, scale, shape[0], in);
	free(scale);
	in[6] = w->scale[t];
	in[7] = w->zero[t];
	return err;
}

static int write_conv(struct writer *w, const struct npuc_node *n, size_t index)
{
	int t = result(w, index), in[9];
	int err = product_inputs(w, n, t, 4, w->g->tensor[n->in[1]].dim, in);

	return err ? err : npuc_build_node(w->out, "QLinearConv", n->name, in, in[8] < 0 ? 8 : 9,
					   w->as_int8[t], n);
}

static int write_gemm(struct writer *w, const struct npuc_node *n, size_t index)
{
	const struct npuc_tensor *a = &w->g->tensor[n->in[0]], *y = &w->g->tensor[n->out[0]];
	const struct npuc_attr *alpha = npuc_attr(n, "alpha"), *beta = npuc_attr(n, "beta");
	static struct npuc_attr turned = { .name = "transB", .kind = NPUC_ATTR_INT, .i = 1 };
	const struct npuc_node like = { .attr = &turned, .n_attr = 1 };
	int t = result(w, index), in[9], err;

	if (npuc_attr_int(n, "transA", 0) || (alpha && alpha->f != 1) || (beta && beta->f != 1))
		return npuc_fail(w->q->d, -EOPNOTSUPP,
				 "%s %s: transA must be 0, alpha and beta 1", n->op, n->name);
	err = product_inputs(w, n, t, 2, (int64_t[]){ y->dim[1], a->dim[1] }, in);
	if (err)
		return err;
	/* The bias comes before the output's grid. */
	return npuc_build_node(w->out, "QGemm", n->name,
			       (int[]){ in[0], in[1], in[2], in[3], in[4], in[5], in[8], in[6], in[7] },
			       9, w->as_int8[t], &like);
}

static int write_moved(struct writer *w, const struct npuc_node *n, size_t index)
{
	int in[2], err = want_int8(w, n->in[0]), t = n->out[0];
	const char *op = strcmp(n->op, "Dropout") ? n->op : "Identity";
	size_t n_in = 1;

	(void)index;
	if (!err)
		err = make_int8(w, t);
	/* The shape of Reshape, the axes of Squeeze. */
	if (!err && n->n_in > 1 && n->in[1] >= 0 && strcmp(op, "Identity"))
		err = want_float(w, n->in[n_in++]);
	if (err)
		return err;
	in[0] = w->as_int8[n->in[0]];
	in[1] = n_in > 1 ? w->as_float[n->in[1]] : -1;
	return npuc_build_node(w->out, op, n->name, in, n_in, w->as_int8[t],
			       strcmp(op, n->op) ? NULL : n);
}

/* A Relu or Clip of its own: the bounds are points of the grid. */
static int write_clip(struct writer *w, const struct npuc_node *n, size_t index)
{
	const struct npuc_grid *grid = &w->grid[n->in[0]];
	int in[3], err = want_int8(w, n->in[0]), t = n->out[0];
	struct npuc_clip clip;
	int8_t bound[2];

	(void)index;
	if (npuc_read_clip(w->g, n, &clip))
		return npuc_fail(w->q->d, -EOPNOTSUPP, "%s %s: bounds must be constants", n->op,
				 n->name);
	if (!err)
		err = make_int8(w, t);
	if (err)
		return err;
	bound[0] = rintf(npuc_on_grid(grid, clip.lo) / grid->scale) + grid->zero;
	bound[1] = rintf(npuc_on_grid(grid, clip.hi) / grid->scale) + grid->zero;
	in[0] = w->as_int8[n->in[0]];
	in[1] = constant(w, made_name(w, n), "lo", NPUC_I8, 0, NULL, &bound[0]);
	in[2] = constant(w, made_name(w, n), "hi", NPUC_I8, 0, NULL, &bound[1]);
	if (in[1] < 0 || in[2] < 0)
		return in[1] < 0 ? in[1] : in[2];
	return npuc_build_node(w->out, "Clip", n->name, in, 3, w->as_int8[t], NULL);
}

/*
 * The others have a QLinear form: each input with its grid, and the output's
 * grid behind them, or in front where the number of inputs is open.
 */
static int write_qlinear(struct writer *w, const struct npuc_node *n, size_t index)
{
	int in[NPUC_MAX_INPUTS], t = result(w, index), err = make_int8(w, t);
	bool first = !strcmp(n->op, "Concat");
	size_t at = first ? 2 : 0;
	char op[64];

	if (3 * n->n_in + 2 > NPUC_MAX_INPUTS)
		return npuc_fail(w->q->d, -EOPNOTSUPP, "%s %s: %zu inputs, at most %d are possible",
				 n->op, n->name, n->n_in, (NPUC_MAX_INPUTS - 2) / 3);
	for (size_t i = 0; i < n->n_in && !err; i++) {
		err = want_int8(w, n->in[i]);
		in[at++] = w->as_int8[n->in[i]];
		in[at++] = w->scale[n->in[i]];
		in[at++] = w->zero[n->in[i]];
	}
	if (err)
		return err;
	in[first ? 0 : at] = w->scale[t];
	in[first ? 1 : at + 1] = w->zero[t];
	snprintf(op, sizeof(op), "QLinear%.40s", n->op);
	return npuc_build_node(w->out, op, n->name, in, first ? at : at + 2, w->as_int8[t], n);
}

static int write_float(struct writer *w, const struct npuc_node *n, size_t index)
{
	int in[NPUC_MAX_INPUTS], err = 0, id;

	(void)index;
	for (size_t i = 0; i < n->n_in && i < NPUC_MAX_INPUTS && !err; i++) {
		err = n->in[i] < 0 ? 0 : want_float(w, n->in[i]);
		in[i] = n->in[i] < 0 ? -1 : w->as_float[n->in[i]];
	}
	id = err ? err : npuc_build_tensor(w->out, w->g->tensor[n->out[0]].name, NULL, NPUC_F32);
	if (id < 0)
		return id;
	w->as_float[n->out[0]] = id;
	return npuc_build_node(w->out, n->op, n->name, in, n->n_in, id, n);
}

static int write_node(struct writer *w, size_t index)
{
	const struct npuc_node *n = &w->g->node[index];

	if (!strcmp(n->op, "Softmax"))
		return write_float(w, n, index);
	if (!strcmp(n->op, "Conv"))
		return write_conv(w, n, index);
	if (npuc_has_weights(n))
		return write_gemm(w, n, index);
	if (npuc_moves_values(n))
		return write_moved(w, n, index);
	if (!strcmp(n->op, "Relu") || !strcmp(n->op, "Clip"))
		return write_clip(w, n, index);
	return write_qlinear(w, n, index);
}

static bool is_fused(const struct writer *w, size_t index)
{
	for (size_t i = 0; i < index; i++)
		if (!w->g->node[i].dead && w->q->fused[i] == (int)index)
			return true;
	return false;
}

static int write_inputs(struct writer *w)
{
	w->out->input = calloc(w->g->n_input + 1, sizeof(int));
	if (!w->out->input)
		return -ENOMEM;
	for (size_t i = 0; i < w->g->n_input; i++) {
		const struct npuc_tensor *t = &w->g->tensor[w->g->input[i]];
		int id = npuc_build_tensor(w->out, t->name, NULL, NPUC_F32);

		if (id < 0)
			return id;
		w->out->tensor[id].rank = t->rank;
		memcpy(w->out->tensor[id].dim, t->dim, sizeof(t->dim));
		w->as_float[w->g->input[i]] = id;
		w->out->input[w->out->n_input++] = id;
	}
	return 0;
}

static int write_outputs(struct writer *w)
{
	w->out->output = calloc(w->g->n_output + 1, sizeof(int));
	if (!w->out->output)
		return -ENOMEM;
	for (size_t i = 0; i < w->g->n_output; i++) {
		int t = w->g->output[i], err = want_float(w, t);

		if (err)
			return err;
		w->out->tensor[w->as_float[t]].uses++;
		w->out->output[w->out->n_output++] = w->as_float[t];
	}
	return 0;
}

static int write_graph(struct writer *w)
{
	int err = write_inputs(w);

	for (size_t i = 0; i < w->g->n_node && !err; i++)
		if (!w->g->node[i].dead && !is_fused(w, i))
			err = write_node(w, i);
	return err ? err : write_outputs(w);
}

static int start(struct writer *w)
{
	size_t n = w->g->n_tensor + 1;
	int **list[] = { &w->as_float, &w->as_int8, &w->scale, &w->zero };

	w->out = calloc(1, sizeof(*w->out));
	w->grid = malloc(n * sizeof(*w->grid));
	if (!w->out || !w->grid)
		return -ENOMEM;
	memcpy(w->grid, w->q->grid, w->g->n_tensor * sizeof(*w->grid));
	w->out->opset = w->g->opset;
	for (size_t i = 0; i < sizeof(list) / sizeof(list[0]); i++) {
		*list[i] = malloc(n * sizeof(int));
		if (!*list[i])
			return -ENOMEM;
		memset(*list[i], 0xff, n * sizeof(int));
	}
	return 0;
}

int npuc_quantise(const struct npuc_quantiser *q, struct npuc_graph **out)
{
	struct writer w = { .q = q, .g = q->g };
	int err = start(&w);

	if (!err)
		err = write_graph(&w);
	free(w.as_float);
	free(w.as_int8);
	free(w.scale);
	free(w.zero);
	free(w.grid);
	if (err) {
		npuc_graph_free(w.out);
		return npuc_fail(q->d, err, "the quantised graph cannot be written: %s",
				 err == -EEXIST ? "a tensor's name ends like one of its own"
						: strerror(-err));
	}
	*out = w.out;
	return 0;
}
