// SPDX-License-Identifier: MIT
/* Tables, and sums and products of two inputs, in the accumulators. */
#include "userspace/compiler/emit.h"

#include "npu_isa.h"

/* Parameter rows of a sum behind those of REQUANT. */
#define FACTOR_ROWS 3

int npuc_emit_lut(struct npuc_emitter *e, const struct npuc_piece *pc, int index, int dst, int src,
		  int rows)
{
	struct npuc_wgt_entry *w = &e->wgt[pc->tables];
	struct npuc_dim dim = { rows, 1, 1, 0 };
	struct npuc_op op = { .kind = NPUC_OP_LUT, .value = w->base + index };
	int id;

	op.kernel = npuc_kernel(e, &dim, 1, dst, src, 0);
	id = op.kernel < 0 ? op.kernel : npuc_emit_op(e, &op, &w->writer, 1);
	if (id >= 0)
		w->reader = id;
	return id;
}

/* ACC[dst + i] = op(ACC[dst + i], ACC[src + i * step]) */
static int alu(struct npuc_emitter *e, unsigned int alu_op, int dst, int src, int step, int rows)
{
	struct npuc_dim dim = { rows, 1, step, 0 };
	struct npuc_op op = { .kind = NPUC_OP_ALU, .alu_op = alu_op };

	op.kernel = npuc_kernel(e, &dim, 1, dst, src, 0);
	return op.kernel < 0 ? op.kernel : npuc_emit_op(e, &op, NULL, 0);
}

static int add_offset(struct npuc_emitter *e, int value, int dst, int rows)
{
	struct npuc_dim dim = { rows, 1, 1, 0 };
	struct npuc_op op = { .kind = NPUC_OP_ALU_IMM, .alu_op = NPU_ALU_ADD, .value = value };

	if (!value)
		return 0;
	op.kernel = npuc_kernel(e, &dim, 1, dst, dst, 0);
	return op.kernel < 0 ? op.kernel : npuc_emit_op(e, &op, NULL, 0);
}

/* x * factor, and what the table says of x. */
static int weigh(struct npuc_emitter *e, const struct npuc_piece *pc, int index, int x, int free,
		 int rows, int factor)
{
	const struct npuc_layer *l = e->layer[pc->layer].l;
	int err = 0;

	if (l->operand[index].correction)
		err = npuc_emit_lut(e, pc, index && l->operand[0].correction, free, x, rows);
	if (err >= 0)
		err = alu(e, NPU_ALU_MUL, x, factor, 0, rows);
	if (err >= 0 && l->operand[index].correction)
		err = alu(e, NPU_ALU_ADD, x, free, 1, rows);
	return err;
}

int npuc_emit_binary(struct npuc_emitter *e, const struct npuc_piece *pc, int a, int b, int rows,
		     int param)
{
	const struct npuc_layer *l = e->layer[pc->layer].l;
	int err;

	if (l->binary == NPUC_PRODUCT) {
		err = add_offset(e, l->operand[0].offset, a, rows);
		if (err >= 0)
			err = add_offset(e, l->operand[1].offset, b, rows);
		return err < 0 ? err : alu(e, NPU_ALU_MUL, a, b, 1, rows);
	}
	err = weigh(e, pc, 0, a, b + rows, rows, param + FACTOR_ROWS);
	if (err >= 0)
		err = weigh(e, pc, 1, b, b + rows, rows, param + FACTOR_ROWS + 1);
	return err < 0 ? err : alu(e, NPU_ALU_ADD, a, b, 1, rows);
}
