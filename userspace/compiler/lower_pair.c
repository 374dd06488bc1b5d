// SPDX-License-Identifier: MIT
/*
 * QLinearAdd and QLinearMul on the core, which has no floats: integers are
 * sought that give the value of ONNX Runtime's binary32 steps for each of the
 * 65,536 pairs of operands. Where there are none the host does it. Compiled
 * with -ffp-contract=off.
 */
#include "userspace/compiler/program.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "npu_regs.h"

#define VALUES 256

/* Scales beside the exact one that a product is tried with, in units of the last place. */
#define MAX_ULPS 4

/* Fractions that a sum is tried with: the longest that fit 32 bits, and shorter ones. */
#define FRACTIONS 4

/**
 * struct pair_fit - what is sought
 * @k: what the host would do
 * @origin: value of the graph that is stored as 0
 * @want: stored result of each pair of stored operands, counted from INT8_MIN
 * @l: the layer, with operands and zero point as they are tried
 * @bias: of each channel
 * @scale: of each channel
 */
struct pair_fit {
	const struct npu_host_binary8 *k;
	int origin;
	int8_t want[VALUES][VALUES];
	struct npuc_layer l;
	int32_t bias;
	float scale;
};

static int value_at(const struct pair_fit *f, int i)
{
	return i + INT8_MIN + f->origin;
}

static float sum_offset(const struct npu_host_binary8 *k, float ra, float rb)
{
	float zeros = fmaf(ra, (float)k->a.zero_point, rb * (float)k->b.zero_point);

	return (float)k->y.zero_point - zeros;
}

static int8_t saturated(const struct pair_fit *f, float v)
{
	float lo = INT8_MIN + f->origin, hi = INT8_MAX + f->origin;

	v = v < lo ? lo : v > hi ? hi : v;
	return (int8_t)((int)rintf(v) - f->origin);
}

static void want_sum(struct pair_fit *f)
{
	float ra = f->k->a.scale / f->k->y.scale, rb = f->k->b.scale / f->k->y.scale;
	float offset = sum_offset(f->k, ra, rb);

	for (int b = 0; b < VALUES; b++) {
		float second = fmaf((float)value_at(f, b), rb, offset);

		for (int a = 0; a < VALUES; a++)
			f->want[a][b] = saturated(f, fmaf((float)value_at(f, a), ra, second));
	}
}

static void want_product(struct pair_fit *f)
{
	float r = f->k->a.scale * f->k->b.scale / f->k->y.scale;
	float zero = (float)f->k->y.zero_point;

	for (int a = 0; a < VALUES; a++)
		for (int b = 0; b < VALUES; b++) {
			int x = value_at(f, a) - f->k->a.zero_point;
			int y = value_at(f, b) - f->k->b.zero_point;
			float scaled = (float)(x * y) * r;

			f->want[a][b] = saturated(f, scaled + zero);
		}
}

/* What the layer stores for that sum or product: REQUANT's rule. */
static int stored_result(const struct pair_fit *f, int32_t acc)
{
	float v = (float)acc * f->scale;
	float lo = INT8_MIN - f->l.zero_point, hi = INT8_MAX - f->l.zero_point;

	v = v < lo ? lo : v > hi ? hi : v;
	return (int)rintf(v) + f->l.zero_point;
}

/* Term of operand @index with stored value @i + INT8_MIN in a sum. */
static int64_t term(const struct pair_fit *f, int index, int i)
{
	const struct npuc_operand *o = &f->l.operand[index];
	int x = i + INT8_MIN;

	return (int64_t)x * o->factor + (o->correction ? o->correction[x & 255] : 0);
}

static bool sum_holds(const struct pair_fit *f)
{
	int64_t second[VALUES];

	for (int b = 0; b < VALUES; b++)
		second[b] = term(f, 1, b) + f->bias;
	for (int a = 0; a < VALUES; a++) {
		int64_t first = term(f, 0, a);

		for (int b = 0; b < VALUES; b++) {
			int64_t acc = first + second[b];

			if (acc != (int32_t)acc || stored_result(f, acc) != f->want[a][b])
				return false;
		}
	}
	return true;
}

static bool product_holds(const struct pair_fit *f)
{
	for (int a = 0; a < VALUES; a++)
		for (int b = 0; b < VALUES; b++) {
			int x = a + INT8_MIN + f->l.operand[0].offset;
			int y = b + INT8_MIN + f->l.operand[1].offset;

			if (stored_result(f, x * y) != f->want[a][b])
				return false;
		}
	return true;
}

/*
 * Operand @index of a sum with values @v: the nearest line, and with @table
 * what is left of each value. The middle of what is left goes into the bias.
 */
static bool fit_operand(struct pair_fit *f, int index, const double *v, double slope, int shift,
			bool table)
{
	struct npuc_operand *o = &f->l.operand[index];
	int64_t left[VALUES], lo = INT64_MAX, hi = INT64_MIN, middle;

	o->factor = (int32_t)llrint(ldexp(slope, shift));
	for (int i = 0; i < VALUES; i++) {
		left[i] = llrint(ldexp(v[i], shift)) - (int64_t)(i + INT8_MIN) * o->factor;
		lo = left[i] < lo ? left[i] : lo;
		hi = left[i] > hi ? left[i] : hi;
	}
	middle = lo + (hi - lo + 1) / 2;
	f->bias = (int32_t)((uint32_t)f->bias + (uint32_t)middle);
	if (!table)
		return true;
	if (hi - middle > INT8_MAX || lo - middle < INT8_MIN)
		return false;
	o->correction = o->correction ? o->correction : malloc(NPUC_TABLE);
	for (int i = 0; o->correction && i < VALUES; i++)
		o->correction[(i + INT8_MIN) & 255] = (int8_t)(left[i] - middle);
	return o->correction;
}

static double most(const double *v)
{
	double found = 0;

	for (int i = 0; i < VALUES; i++)
		found = fabs(v[i]) > found ? fabs(v[i]) : found;
	return found;
}

static bool fit_sum(struct pair_fit *f, bool table)
{
	float ra = f->k->a.scale / f->k->y.scale, rb = f->k->b.scale / f->k->y.scale;
	float offset = sum_offset(f->k, ra, rb);
	double first[VALUES], second[VALUES];
	int shift = 30;

	for (int i = 0; i < VALUES; i++) {
		first[i] = (double)value_at(f, i) * ra;
		second[i] = fmaf((float)value_at(f, i), rb, offset);
	}
	while (shift > 0 && ldexp(most(first) + most(second), shift) >= 0x1p31 - 1024)
		shift--;
	for (int i = 0; i < FRACTIONS && shift > 8; i++, shift--) {
		f->bias = 0;
		f->scale = ldexpf(1, -shift);
		if (fit_operand(f, 0, first, ra, shift, table) &&
		    fit_operand(f, 1, second, rb, shift, table) && sum_holds(f))
			return true;
	}
	return false;
}

static bool fit_product(struct pair_fit *f)
{
	float r = f->k->a.scale * f->k->b.scale / f->k->y.scale, up = r, down = r;

	f->l.operand[0].offset = f->origin - f->k->a.zero_point;
	f->l.operand[1].offset = f->origin - f->k->b.zero_point;
	f->l.zero_point = f->k->y.zero_point - f->origin;
	for (int i = 0; i <= MAX_ULPS; i++) {
		if (!(down >= 0x1p-126f && up < 0x1p31f))
			return false;
		f->scale = up;
		if (product_holds(f))
			return true;
		f->scale = down;
		if (product_holds(f))
			return true;
		up = nextafterf(up, INFINITY);
		down = nextafterf(down, 0);
	}
	return false;
}

static bool fit(struct pair_fit *f, uint64_t features)
{
	if (f->l.binary == NPUC_PRODUCT) {
		want_product(f);
		return fit_product(f);
	}
	want_sum(f);
	f->l.zero_point = -f->origin;
	return fit_sum(f, false) || (features & NPU_HW_FEATURE_LUT && fit_sum(f, true));
}

static int root_of(const struct npuc_program *p, int value)
{
	while (p->value[value].alias >= 0)
		value = p->value[value].alias;
	return value;
}

static bool same_shape(const struct npuc_tensor *a, const struct npuc_tensor *b)
{
	if (a->rank != b->rank || npuc_elements(a) < 2)
		return false;
	return !memcmp(a->dim, b->dim, a->rank * sizeof(a->dim[0]));
}

/* Values of both inputs in one blocked form, if one of them has it already. */
static int pair_inputs(struct npuc_program *p, struct npuc_layer *l, int a, int b)
{
	struct npuc_value like = p->value[root_of(p, a)];

	if (!like.blocked.space)
		like = p->value[root_of(p, b)];
	l->in = npuc_blocked(p, a, like.n, like.c, like.h, like.w);
	if (l->in < 0)
		return l->in;
	l->in2 = npuc_blocked(p, b, like.n, like.c, like.h, like.w);
	return l->in2 < 0 ? l->in2 : 0;
}

static int fill_channels(struct npuc_program *p, struct pair_fit *f)
{
	int channels = p->value[f->l.in].c;

	f->l.scale = calloc(channels, sizeof(*f->l.scale));
	f->l.bias = calloc(channels, sizeof(*f->l.bias));
	if (!f->l.scale || !f->l.bias)
		return npuc_fail(p->d, -ENOMEM, "out of memory");
	for (int c = 0; c < channels; c++) {
		f->l.scale[c] = f->scale;
		f->l.bias[c] = f->bias;
	}
	return 0;
}

static int make_layer(struct npuc_program *p, const struct npuc_node *n, struct pair_fit *f, int a,
		      int b)
{
	const struct npuc_tensor *x = &p->g->tensor[n->in[0]];
	struct npuc_tensor *y = &p->g->tensor[n->out[0]];
	int err;

	if (!fit(f, p->features))
		return -ENOENT;
	err = pair_inputs(p, &f->l, a, b);
	if (!err)
		err = fill_channels(p, f);
	if (err)
		return err;
	y->rank = x->rank;
	memcpy(y->dim, x->dim, sizeof(y->dim));
	f->l.out = npuc_plain_value(p, n, x->dtype, &p->value[f->l.in]);
	if (f->l.out < 0)
		return f->l.out;
	err = npuc_plain_layer(p, n, &f->l);
	f->l = (struct npuc_layer){ 0 };
	return err;
}

int npuc_lower_pair(struct npuc_program *p, const struct npuc_node *n, enum npuc_binary binary,
		    const struct npu_host_binary8 *k)
{
	const struct npuc_tensor *x = &p->g->tensor[n->in[0]], *y = &p->g->tensor[n->in[3]];
	struct pair_fit *f;
	int a, b, err;

	if (x->data || y->data || x->dtype != y->dtype || !same_shape(x, y) ||
	    !(p->features & NPU_HW_FEATURE_REQUANT))
		return -ENOENT;
	a = npuc_value_of(p, n->in[0]);
	b = a < 0 ? a : npuc_value_of(p, n->in[3]);
	if (b < 0)
		return b;
	if (!p->value[root_of(p, a)].blocked.space && !p->value[root_of(p, b)].blocked.space)
		return -ENOENT;
	f = calloc(1, sizeof(*f));
	if (!f)
		return npuc_fail(p->d, -ENOMEM, "out of memory");
	f->k = k;
	f->origin = k->dtype_code ? 128 : 0;
	f->l = (struct npuc_layer){ .binary = binary,
				    .pool = { 1, 1, 1, 1, 1, 1, 0, 0, 0, 0 },
				    .lo = INT8_MIN,
				    .hi = INT8_MAX };
	err = make_layer(p, n, f, a, b);
	npuc_layer_free(&f->l);
	free(f);
	return err;
}
