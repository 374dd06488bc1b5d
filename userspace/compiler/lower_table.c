// SPDX-License-Identifier: MIT
/*
 * Functions of one 8-bit value, as a table of their 256 results. Compiled with
 * -ffp-contract=off: every step is rounded to binary32, as ONNX Runtime does it.
 */
#include "userspace/compiler/program.h"
#include "userspace/compiler/qdq.h"

#include <errno.h>
#include <math.h>
#include <string.h>

static uint8_t quantised(const struct npuc_table *t, float v)
{
	const float lo = (t->y_type == NPUC_U8 ? 0 : INT8_MIN) - t->y.zero_point;
	const float hi = (t->y_type == NPUC_U8 ? UINT8_MAX : INT8_MAX) - t->y.zero_point;

	v = v / t->y.scale;
	v = v < lo ? lo : v;
	v = v > hi ? hi : v;
	return (uint8_t)((int)rintf(v) + t->y.zero_point);
}

void npuc_fill_table(const struct npuc_table *t, uint8_t *table)
{
	for (int i = 0; i < 256; i++) {
		int x = t->x_type == NPUC_U8 ? i : (int8_t)i;
		float v = t->x.scale * (float)(x - t->x.zero_point);

		table[i] = quantised(t, t->f ? t->f(v, t->parameter) : v);
	}
}

/*
 * The logistic function as ONNX Runtime has it where the processor fuses
 * multiply and add: a quotient of polynomials in odd and even powers.
 */
static float logistic(float x, float unused)
{
	static const float odd[] = { 4.37031012579801e-11f, 1.15627324459942e-07f,
				     6.08574864600143e-05f, 8.51377133304701e-03f,
				     2.48287947061529e-01f };
	static const float even[] = { 6.10247389755681e-13f, 5.76102136993427e-09f,
				      6.29106785017040e-06f, 1.70198817374094e-03f,
				      1.16817656904453e-01f, 9.93151921023180e-01f };
	float square, p = odd[0], q = even[0], y;

	(void)unused;
	x = x < -18 ? -18 : x > 18 ? 18 : x;
	square = x * x;
	for (int i = 1; i < 5; i++)
		p = fmaf(p, square, odd[i]);
	for (int i = 1; i < 6; i++)
		q = fmaf(q, square, even[i]);
	y = p * x / q + 0.5f;
	return y < 0 ? 0 : y > 1 ? 1 : y;
}

static float leaky_relu(float x, float alpha)
{
	return x >= 0 ? x : alpha * x;
}

static int read_function(struct npuc_program *p, const struct npuc_node *n, struct npuc_table *t)
{
	const struct npuc_attr *alpha = npuc_attr(n, "alpha");

	t->parameter = alpha && alpha->kind == NPUC_ATTR_FLOAT ? alpha->f : 0.01f;
	if (!strcmp(n->op, "QLinearSigmoid"))
		t->f = logistic;
	else if (!strcmp(n->op, "QLinearLeakyRelu"))
		t->f = leaky_relu;
	if (!isfinite(t->parameter))
		return npuc_refuse(p, n, "alpha is %g", (double)t->parameter);
	return 0;
}

/* Of the input's type, but for a change of quantisation. */
static int read_y_type(struct npuc_program *p, const struct npuc_node *n, struct npuc_table *t)
{
	const struct npuc_tensor *zero;
	int err;

	t->y_type = t->x_type;
	if (strcmp(n->op, NPUC_REQUANTIZE))
		return 0;
	err = npuc_const(p, n, 4, "output zero point", &zero);
	if (!err)
		t->y_type = zero->dtype;
	return err;
}

/* Inputs: x, its scale and zero point, scale and zero point of the result. */
int npuc_lower_table(struct npuc_program *p, const struct npuc_node *n)
{
	const struct npuc_tensor *x = &p->g->tensor[n->in[0]];
	struct npuc_table t = { .x_type = x->dtype };
	struct npu_host_lookup param;
	struct npuc_place operand[2];
	int err = npuc_quantised(p, n, 0);

	if (!err)
		err = read_function(p, n, &t);
	if (!err)
		err = read_y_type(p, n, &t);
	if (!err)
		err = npuc_host_scale(p, n, 1, "input scale", t.x_type, &t.x);
	if (!err)
		err = npuc_host_scale(p, n, 3, "output scale", t.y_type, &t.y);
	if (err)
		return err;
	npuc_fill_table(&t, param.table);
	err = npuc_lower_lookup(p, n, t.y_type, param.table);
	if (err != -ENOENT)
		return err;
	err = npuc_host_input(p, n, 0, &operand[0]);
	if (!err)
		err = npuc_host_output(p, n, t.y_type, x->rank, x->dim, &operand[1]);
	if (err)
		return err;
	param.size = operand[1].size;
	return npuc_host_last(p, n, "lookup8", operand, 2, &param, sizeof(param));
}
