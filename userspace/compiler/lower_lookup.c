// SPDX-License-Identifier: MIT
/* Functions of one 8-bit value, by tables of the core. */
#include "userspace/compiler/program.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "npu_regs.h"

void npuc_clip_table(struct npuc_layer *l, int lo, int hi)
{
	for (int i = 0; i < NPUC_TABLE; i++) {
		int v = l->table[i] > lo ? l->table[i] : lo;

		l->table[i] = v < hi ? v : hi;
	}
}

/* @table, over values of the graph, as one over what is stored, after @first if there is one. */
static int8_t *stored_table(const int8_t *first, const uint8_t *table, bool flip_in,
			    bool flip_out)
{
	int8_t *made = malloc(NPUC_TABLE);

	for (int i = 0; made && i < NPUC_TABLE; i++) {
		uint8_t x = (first ? (uint8_t)first[i] : i) ^ (flip_in ? 0x80 : 0);

		made[i] = (int8_t)(table[x] ^ (flip_out ? 0x80 : 0));
	}
	return made;
}

int npuc_lower_lookup(struct npuc_program *p, const struct npuc_node *n, enum npuc_dtype type,
		      const uint8_t *table)
{
	const struct npuc_tensor *x = &p->g->tensor[n->in[0]];
	struct npuc_tensor *y = &p->g->tensor[n->out[0]];
	int in = x->data ? -ENOENT : npuc_value_of(p, n->in[0]), out;
	struct npuc_layer *l, made = {
		.pool = { 1, 1, 1, 1, 1, 1, 0, 0, 0, 0 }, .lo = INT8_MIN, .hi = INT8_MAX,
	};
	int8_t *composed;

	if (in < 0)
		return in;
	l = npuc_fusable(p, in);
	while (p->value[in].alias >= 0)
		in = p->value[in].alias;
	if (!(p->features & NPU_HW_FEATURE_LUT) || !p->value[in].blocked.space)
		return -ENOENT;
	composed = stored_table(l ? l->table : NULL, table, x->dtype == NPUC_U8, type == NPUC_U8);
	if (!composed)
		return npuc_fail(p->d, -ENOMEM, "out of memory");
	y->rank = x->rank;
	memcpy(y->dim, x->dim, sizeof(y->dim));
	out = npuc_plain_value(p, n, type, &p->value[in]);
	if (out < 0) {
		free(composed);
		return out;
	}
	if (l) {
		free(l->table);
		l->table = composed;
		npuc_fused(p, l, n, out);
		return npuc_placed(p, n, "npu", p->n_stage - 1, 0);
	}
	made.in = in;
	made.out = out;
	made.table = composed;
	return npuc_plain_layer(p, n, &made);
}
