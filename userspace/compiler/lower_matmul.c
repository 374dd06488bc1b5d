// SPDX-License-Identifier: MIT
/* QLinearMatMul and QGemm by constant weights: a convolution over images of one pixel. */
#include "userspace/compiler/quant.h"

#include <errno.h>
#include <stdlib.h>

/**
 * struct product - what the operators differ in
 * @y_index: input that is the output's scale
 * @bias_index: input that is the bias
 * @alpha: factor of the product
 * @turned: B is [n,k]
 */
struct product {
	size_t y_index, bias_index;
	float alpha;
	bool turned;
};

/*
 * The rows of B are permuted to the order in which the blocked form of @v
 * holds the values of one image: block, row, column, lane.
 */
static int weights(struct npuc_program *p, struct npuc_layer *l, const struct npuc_quant *q,
		   bool turned, const struct npuc_value *v)
{
	size_t pixels = (size_t)v->h * v->w, k = v->c * pixels;

	l->in_c = npuc_blocks(v->c) * pixels * 16;
	l->parts = npuc_weight_parts(q);
	l->weight = calloc(npuc_layer_weights(l), l->parts);
	if (!l->weight)
		return npuc_fail(p->d, -ENOMEM, "out of memory");
	for (int c = 0; c < v->c; c++)
		for (size_t i = 0; i < pixels; i++)
			for (int o = 0; o < l->out_c; o++) {
				size_t to = (c / 16 * pixels + i) * 16 + c % 16;
				size_t from = c * pixels + i;

				npuc_put_weight(l, (size_t)o * l->in_c + to, q,
						turned ? o * k + from : from * l->out_c + o, o);
			}
	return 0;
}

/* The value whose blocked form A is: a flattened image, or rows of K channels. */
static int input(struct npuc_program *p, const struct npuc_node *n, int rows, int k)
{
	int v = npuc_value_of(p, n->in[0]), r = v;
	const struct npuc_value *root;

	if (v < 0)
		return v;
	while (p->value[r].alias >= 0)
		r = p->value[r].alias;
	root = &p->value[r];
	if (root->blocked.space && root->n == rows && root->c * root->h * root->w == k)
		return r;
	return npuc_blocked(p, v, rows, k, 1, 1);
}

static int shape(struct npuc_program *p, const struct npuc_node *n, const struct npuc_tensor *a,
		 const struct npuc_tensor *b, bool turned, struct npuc_layer *l)
{
	char as[128], bs[128];

	if (a->rank != 2 || b->rank != 2 || a->dim[1] != b->dim[turned])
		return npuc_refuse(p, n, "A is %s and B %s; [m,k] and %s are possible",
				   npuc_shape_text(a, as, sizeof(as)),
				   npuc_shape_text(b, bs, sizeof(bs)), turned ? "[n,k]" : "[k,n]");
	l->out_c = b->dim[!turned];
	l->in_h = l->in_w = l->mid_h = l->mid_w = l->out_h = l->out_w = 1;
	l->window = (struct npuc_window){ 1, 1, 1, 1, 1, 1, 0, 0, 0, 0 };
	l->macs = (uint64_t)a->dim[0] * a->dim[1] * l->out_c;
	return 0;
}

static int lower_product(struct npuc_program *p, const struct npuc_node *n,
			 const struct product *k, struct npuc_layer *l)
{
	const struct npuc_tensor *a = &p->g->tensor[n->in[0]];
	struct npuc_quant q = { 0 };
	struct npuc_tensor *y;
	int rows, err = npuc_read_quant(p, n, k->y_index, &q);

	if (!err)
		err = shape(p, n, a, q.w, k->turned, l);
	if (!err)
		err = npuc_make_scales(p, n, &q, k->alpha, l);
	if (!err)
		err = npuc_read_bias(p, n, k->bias_index, true, l);
	if (err)
		return err;
	rows = a->dim[0];
	npuc_set_bounds(l, &q);
	l->in = input(p, n, rows, a->dim[1]);
	if (l->in < 0)
		return l->in;
	err = weights(p, l, &q, k->turned, &p->value[l->in]);
	if (err)
		return err;
	y = &p->g->tensor[n->out[0]];
	y->rank = 2;
	y->dim[0] = rows;
	y->dim[1] = l->out_c;
	l->out = npuc_layer_out(p, n, q.y_type, rows, l);
	return l->out < 0 ? l->out : npuc_finish_layer(p, n, l);
}

static int lower(struct npuc_program *p, const struct npuc_node *n, const struct product *k)
{
	struct npuc_layer l = { .conv = true, .groups = 1 };
	int err = lower_product(p, n, k, &l);

	npuc_layer_free(&l);
	return err;
}

int npuc_lower_matmul(struct npuc_program *p, const struct npuc_node *n)
{
	return lower(p, n, &(struct product){ 6, SIZE_MAX, 1, false });
}

int npuc_lower_gemm(struct npuc_program *p, const struct npuc_node *n)
{
	const struct npuc_attr *alpha = npuc_attr(n, "alpha");
	struct product k = { 7, 6, 1, npuc_attr_int(n, "transB", 0) != 0 };

	if (alpha && alpha->kind != NPUC_ATTR_FLOAT)
		return npuc_refuse(p, n, "alpha is no float");
	if (alpha)
		k.alpha = alpha->f;
	if (npuc_attr_int(n, "transA", 0))
		return npuc_refuse(p, n, "transA must be 0: A is computed");
	if (n->n_in < 9 || n->in[7] < 0 || n->in[8] < 0)
		return npuc_refuse(p, n, "a float32 result is not possible: give y_scale and "
					 "y_zero_point");
	return lower(p, n, &k);
}
