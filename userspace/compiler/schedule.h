/* SPDX-License-Identifier: MIT */
/*
 * Operations of the three units in program order, and the tokens between them.
 *
 * An operation names the operations that must be complete before it starts.
 * Tokens are derived: for each pair of units the schedule knows up to which
 * operation of the one the other has heard, directly or through the third, and
 * a token is spent only on news. Pushes and pops of a pair come out in the same
 * order, so the k-th pop takes the k-th push. Load and store units do not know
 * each other: what a load must hear of a store goes through the compute unit.
 */
#ifndef NPU_COMPILER_SCHEDULE_H
#define NPU_COMPILER_SCHEDULE_H

#include "userspace/compiler/diag.h"
#include "userspace/isa/npu_builder.h"

enum npuc_unit {
	NPUC_LOAD,
	NPUC_COMPUTE,
	NPUC_STORE,
	NPUC_UNITS
};

enum npuc_op_kind {
	NPUC_OP_LOAD,	   /* mem */
	NPUC_OP_STORE,	   /* mem */
	NPUC_OP_NOP,	   /* moves tokens, on the compute unit */
	NPUC_OP_RESET,	   /* kernel */
	NPUC_OP_GEMM,	   /* kernel */
	NPUC_OP_VMAC,	   /* kernel */
	NPUC_OP_ALU,	   /* kernel, alu_op */
	NPUC_OP_ALU_IMM,   /* kernel, alu_op, value */
	NPUC_OP_REQUANT,   /* kernel */
	NPUC_OP_LUT,	   /* kernel, value: element of WGT */
	NPUC_OP_PAD_VALUE, /* value, of the load unit */
	NPUC_OP_YIELD,
};

#define NPUC_NO_OP (-1)

struct npuc_op {
	enum npuc_op_kind kind;
	struct npu_insn_mem mem;
	int kernel;
	unsigned int alu_op;
	int value;
	/* kept by the schedule */
	enum npuc_unit unit;
	int seq;	       /* among those of its unit */
	int heard[NPUC_UNITS]; /* up to which of each unit, when it has completed */
	bool pop[NPUC_UNITS];  /* from that unit, before */
	bool push[NPUC_UNITS]; /* to that unit, after */
};

struct npuc_schedule {
	struct npuc_op *op;
	int n_op;
	int count[NPUC_UNITS];
	int heard[NPUC_UNITS][NPUC_UNITS];
	struct npuc_diag *d;
};

void npuc_schedule_init(struct npuc_schedule *s, struct npuc_diag *d);
void npuc_schedule_free(struct npuc_schedule *s);

/*
 * Appends @op, which waits for the @n operations in @after (NPUC_NO_OP among
 * them is ignored). Returns its number, or -errno.
 */
int npuc_schedule_add(struct npuc_schedule *s, const struct npuc_op *op, const int *after, int n);

/* Gives everything to the builder. */
int npuc_schedule_emit(const struct npuc_schedule *s, struct npu_builder *b);

#endif
