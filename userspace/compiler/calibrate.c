// SPDX-License-Identifier: MIT
/* Measures a float graph on samples: ranges first, then what int8 loses. */
#include "userspace/compiler/quantise.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define BINS	   2048
/* For channels, twice for ranges, then as float and as int8. */
#define PASSES	   5
#define SHRINK	   0.96f
#define SHRINKS	   30
#define LEAST_STEP 0x1p-100f

static int oom(struct npuc_quantiser *q)
{
	return npuc_fail(q->d, -ENOMEM, "out of memory");
}

/* Dimensions after the first, without those that are 1. */
static int squeezed(int rank, const int64_t *dim, int64_t *out)
{
	int n = 0;

	for (int i = 1; i < rank; i++)
		if (dim[i] != 1)
			out[n++] = dim[i];
	return n;
}

static int check_input(struct npuc_quantiser *q, size_t i, unsigned int *runs)
{
	const struct npuc_tensor *t = &q->g->tensor[q->g->input[i]];
	const struct npu_calibration_input *in = &q->c->input[i];
	int64_t want[NPUC_MAX_RANK], have[NPUC_MAX_RANK], batch = t->rank ? t->dim[0] : 1;
	struct npuc_tensor given = { .rank = in->rank };
	char shape[128], other[128];

	if (t->dtype != NPUC_F32)
		return npuc_fail(q->d, -EINVAL, "input %s is %s: the model is quantised already",
				 t->name, npuc_dtype_name(t->dtype));
	if (in->rank < 1 || in->rank > NPUC_MAX_RANK)
		return npuc_fail(q->d, -EINVAL, "samples of input %s have %u dimensions, want 1 to %d",
				 t->name, in->rank, NPUC_MAX_RANK);
	memcpy(given.dim, in->dim, in->rank * sizeof(*in->dim));
	if (squeezed(t->rank, t->dim, want) != squeezed(given.rank, given.dim, have) ||
	    memcmp(want, have, squeezed(t->rank, t->dim, want) * sizeof(*want)) ||
	    in->dim[0] < batch || in->dim[0] % batch)
		return npuc_fail(q->d, -EINVAL,
				 "input %s is %s, samples are %s: the first dimension must be a multiple, the others equal",
				 t->name, npuc_shape_text(t, shape, sizeof(shape)),
				 npuc_shape_text(&given, other, sizeof(other)));
	if (*runs && *runs != in->dim[0] / batch)
		return npuc_fail(q->d, -EINVAL, "input %s has samples for %lld runs, the first for %u",
				 t->name, (long long)(in->dim[0] / batch), *runs);
	*runs = in->dim[0] / batch;
	return 0;
}

int npuc_check_samples(struct npuc_quantiser *q)
{
	unsigned int runs = 0;
	int err = 0;

	if (q->c->inputs != q->g->n_input || !q->g->n_input)
		return npuc_fail(q->d, -EINVAL, "the model has %zu inputs, samples are for %u",
				 q->g->n_input, q->c->inputs);
	for (size_t i = 0; i < q->g->n_input && !err; i++)
		err = check_input(q, i, &runs);
	q->total.runs = runs;
	return err;
}

int npuc_run_all(struct npuc_quantiser *q, struct npuc_eval *a, struct npuc_eval *b,
		 int (*each)(struct npuc_quantiser *q, struct npuc_eval *a, struct npuc_eval *b,
			     unsigned int run))
{
	const float **input = calloc(q->g->n_input, sizeof(*input));
	int err = input ? 0 : oom(q);

	for (unsigned int run = 0; run < q->total.runs && !err; run++) {
		for (size_t i = 0; i < q->g->n_input; i++)
			input[i] = q->c->input[i].data +
				   run * npuc_elements(&q->g->tensor[q->g->input[i]]);
		err = npuc_eval_run(a, input);
		if (!err && b)
			err = npuc_eval_run(b, input);
		if (!err && each)
			err = each(q, a, b, run);
		q->steps += b ? 2 : 1;
		if (q->c->progress)
			q->c->progress(q->c->arg, q->steps, q->total.runs * PASSES);
	}
	free(input);
	return err;
}

struct range {
	float lo, hi;
	bool infinite;
	uint32_t *bin;
};

static void widen(void *arg, int tensor, float *value, int64_t n)
{
	struct range *r = (struct range *)arg + tensor;

	for (int64_t i = 0; i < n; i++) {
		r->lo = fminf(r->lo, value[i]);
		r->hi = fmaxf(r->hi, value[i]);
		r->infinite |= !isfinite(value[i]);
	}
}

static float bin_width(const struct range *r)
{
	return (r->hi - r->lo) / BINS;
}

static void count(void *arg, int tensor, float *value, int64_t n)
{
	struct range *r = (struct range *)arg + tensor;

	if (!r->bin)
		return;
	for (int64_t i = 0; i < n; i++) {
		int at = (value[i] - r->lo) / bin_width(r);

		r->bin[at < 0 ? 0 : at >= BINS ? BINS - 1 : at]++;
	}
}

struct npuc_grid npuc_grid_of(float lo, float hi)
{
	struct npuc_grid grid = { .scale = (fmaxf(hi, 0) - fminf(lo, 0)) / 255 };

	if (grid.scale < LEAST_STEP)
		return (struct npuc_grid){ 1, 0 };
	grid.zero = (int)rintf(-128 - fminf(lo, 0) / grid.scale);
	grid.zero = grid.zero < -128 ? -128 : grid.zero > 127 ? 127 : grid.zero;
	return grid;
}

float npuc_on_grid(const struct npuc_grid *grid, float x)
{
	float v = rintf(x / grid->scale) + grid->zero;

	return (fminf(fmaxf(v, -128), 127) - grid->zero) * grid->scale;
}

/* Expected square error: that of rounding inside, that of clipping outside. */
static double loss(const struct range *r, float lo, float hi)
{
	double step = (hi - lo) / 255, sum = 0;

	for (int i = 0; i < BINS; i++) {
		double x = r->lo + (i + 0.5) * bin_width(r);
		double out = x < lo ? lo - x : x > hi ? x - hi : 0;

		sum += r->bin[i] * (out ? out * out : step * step / 12);
	}
	return sum;
}

static struct npuc_grid best_grid(const struct range *r)
{
	float lo = fminf(r->lo, 0), hi = fmaxf(r->hi, 0), best = 1, factor = 1;
	double least = INFINITY;

	for (int i = 0; i < SHRINKS; i++, factor *= SHRINK) {
		double sum = loss(r, lo * factor, hi * factor);

		if (sum < least) {
			least = sum;
			best = factor;
		}
	}
	return npuc_grid_of(lo * best, hi * best);
}

static int make_bins(struct npuc_quantiser *q, struct range *r)
{
	for (size_t i = 0; i < q->g->n_tensor; i++) {
		if (!q->kept[i])
			continue;
		if (r[i].infinite)
			return npuc_fail(q->d, -ERANGE, "tensor %s: a value is not finite",
					 q->g->tensor[i].name);
		if (r[i].hi > r[i].lo)
			r[i].bin = calloc(BINS, sizeof(*r[i].bin));
		if (r[i].hi > r[i].lo && !r[i].bin)
			return oom(q);
	}
	return 0;
}

static int measure(struct npuc_quantiser *q, struct npuc_eval *e, struct range *r)
{
	int err;

	for (size_t i = 0; i < q->g->n_tensor; i++)
		r[i] = (struct range){ .lo = INFINITY, .hi = -INFINITY };
	e->arg = r;
	e->seen = widen;
	err = npuc_run_all(q, e, NULL, NULL);
	if (!err)
		err = make_bins(q, r);
	e->seen = count;
	if (!err)
		err = npuc_run_all(q, e, NULL, NULL);
	for (size_t i = 0; i < q->g->n_tensor && !err; i++)
		if (q->kept[i])
			q->grid[i] = r[i].bin ? best_grid(&r[i]) : npuc_grid_of(r[i].lo, r[i].hi);
	return err;
}

int npuc_measure(struct npuc_quantiser *q)
{
	struct range *r = calloc(q->g->n_tensor + 1, sizeof(*r));
	struct npuc_eval e = { 0 };
	int err = r ? npuc_eval_init(&e, q->g, q->d) : oom(q);

	if (!err)
		err = measure(q, &e, r);
	npuc_eval_free(&e);
	for (size_t i = 0; r && i < q->g->n_tensor; i++)
		free(r[i].bin);
	free(r);
	return err;
}

static void round_values(void *arg, int tensor, float *value, int64_t n)
{
	const struct npuc_quantiser *q = arg;

	for (int64_t i = 0; q->kept[tensor] && i < n; i++)
		value[i] = npuc_on_grid(&q->grid[tensor], value[i]);
}

/* Signal and noise are sums of squares until the end, when they become decibels. */
static void add_errors(struct npu_calibrated_row *row, const float *exact, const float *got,
		       int64_t n)
{
	for (int64_t i = 0; i < n; i++) {
		double diff = (double)got[i] - exact[i];

		row->signal += (double)exact[i] * exact[i];
		row->noise += diff * diff;
		row->max_error = fmax(row->max_error, fabs(diff));
	}
}

static int64_t best_of(const float *value, int64_t n)
{
	int64_t best = 0;

	for (int64_t i = 1; i < n; i++)
		if (value[i] > value[best])
			best = i;
	return best;
}

static int compare_classes(struct npuc_quantiser *q, const float *exact, const float *got,
			   unsigned int run)
{
	const struct npuc_tensor *t = &q->g->tensor[q->g->output[0]];
	int64_t classes = t->rank ? t->dim[t->rank - 1] : 1, rows = npuc_elements(t) / classes;

	if (q->c->label && q->c->labels != rows * q->total.runs)
		return npuc_fail(q->d, -EINVAL, "%lld labels for %lld results",
				 (long long)q->c->labels, (long long)(rows * q->total.runs));
	for (int64_t i = 0; i < rows; i++, exact += classes, got += classes) {
		int64_t a = best_of(exact, classes), b = best_of(got, classes);
		int64_t label = q->c->label ? q->c->label[run * rows + i] : -1;

		q->total.results++;
		q->total.same += a == b;
		q->total.float_right += a == label;
		q->total.int8_right += b == label;
	}
	return 0;
}

static int add_run(struct npuc_quantiser *q, struct npuc_eval *a, struct npuc_eval *b,
		   unsigned int run)
{
	int out = q->g->output[0];

	for (size_t i = 0; i < q->n_row; i++)
		add_errors(&q->row[i], a->value[q->row[i].tensor], b->value[q->row[i].tensor],
			   npuc_elements(&q->g->tensor[q->row[i].tensor]));
	return a->value[out] ? compare_classes(q, a->value[out], b->value[out], run) : 0;
}

static void decibels(struct npu_calibrated_row *row)
{
	row->sqnr_db = row->noise > 0 ? 10 * log10(row->signal / row->noise) : INFINITY;
}

/* The weights and bias of @n, as int8 and int32 will have them. */
static int round_weights(struct npuc_quantiser *q, struct npuc_eval *e, const struct npuc_node *n)
{
	const struct npuc_tensor *w = &q->g->tensor[n->in[1]];
	bool columns = strcmp(n->op, "Conv") &&
		       !(!strcmp(n->op, "Gemm") && npuc_attr_int(n, "transB", 0));
	int64_t channels = w->dim[columns], per = npuc_elements(w) / channels;
	float *value = e->value[n->in[1]], *bias = n->n_in > 2 && n->in[2] >= 0 ?
		     e->value[n->in[2]] : NULL;
	float *scale = npuc_weight_scales(q, n);

	if (!scale)
		return oom(q);
	for (int64_t c = 0; c < channels; c++) {
		struct npuc_grid grid = { scale[c], 0 };
		float step = scale[c] * q->grid[n->in[0]].scale;

		for (int64_t i = 0; i < per; i++) {
			float *v = value + (columns ? i * channels + c : c * per + i);

			*v = npuc_on_grid(&grid, *v);
		}
		if (bias && npuc_elements(&q->g->tensor[n->in[2]]) == channels)
			bias[c] = rintf(bias[c] / step) * step;
	}
	free(scale);
	return 0;
}

int npuc_compare(struct npuc_quantiser *q)
{
	struct npuc_eval exact = { 0 }, rounded = { 0 };
	int err = npuc_eval_init(&exact, q->g, q->d);

	if (!err)
		err = npuc_eval_init(&rounded, q->g, q->d);
	for (size_t i = 0; i < q->g->n_node && !err; i++)
		if (!q->g->node[i].dead && npuc_has_weights(&q->g->node[i]))
			err = round_weights(q, &rounded, &q->g->node[i]);
	rounded.arg = q;
	rounded.seen = round_values;
	if (!err)
		err = npuc_run_all(q, &exact, &rounded, add_run);
	for (size_t i = 0; i < q->n_row; i++)
		decibels(&q->row[i]);
	npuc_eval_free(&rounded);
	npuc_eval_free(&exact);
	return err;
}
