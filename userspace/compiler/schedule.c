// SPDX-License-Identifier: MIT
#include "userspace/compiler/schedule.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "npu_proto.h"

#define MAX_OPS (1 << 24)

void npuc_schedule_init(struct npuc_schedule *s, struct npuc_diag *d)
{
	*s = (struct npuc_schedule){ .d = d };
	memset(s->heard, 0xff, sizeof(s->heard));
}

void npuc_schedule_free(struct npuc_schedule *s)
{
	free(s->op);
	s->op = NULL;
}

static enum npuc_unit unit_of(const struct npuc_op *op)
{
	switch (op->kind) {
	case NPUC_OP_LOAD:
		return op->mem.memory == NPU_MEM_INP || op->mem.memory == NPU_MEM_WGT
			       ? NPUC_LOAD
			       : NPUC_COMPUTE;
	case NPUC_OP_STORE:
		return NPUC_STORE;
	case NPUC_OP_PAD_VALUE:
		return NPUC_LOAD;
	default:
		return NPUC_COMPUTE;
	}
}

static int append(struct npuc_schedule *s, const struct npuc_op *op)
{
	struct npuc_op *grown = s->op;
	int n = s->n_op;

	if (n >= MAX_OPS)
		return npuc_fail(s->d, -E2BIG, "the program has more than %d operations", MAX_OPS);
	if (!(n & (n - 1)))
		grown = realloc(s->op, (n ? 2 * (size_t)n : 1) * sizeof(*grown));
	if (!grown)
		return npuc_fail(s->d, -ENOMEM, "out of memory");
	s->op = grown;
	grown[n] = *op;
	grown[n].unit = unit_of(op);
	memset(grown[n].pop, 0, sizeof(grown[n].pop));
	memset(grown[n].push, 0, sizeof(grown[n].push));
	s->n_op++;
	return n;
}

static void hear(int *heard, const int *news)
{
	for (int u = 0; u < NPUC_UNITS; u++)
		if (news[u] > heard[u])
			heard[u] = news[u];
}

/* Operation @id takes a token from operation @from of a neighbour. */
static void token(struct npuc_schedule *s, int id, int from)
{
	struct npuc_op *to = &s->op[id], *src = &s->op[from];

	src->push[to->unit] = true;
	to->pop[src->unit] = true;
	hear(s->heard[to->unit], src->heard);
}

static void complete(struct npuc_schedule *s, int id)
{
	struct npuc_op *op = &s->op[id];

	op->seq = s->count[op->unit]++;
	s->heard[op->unit][op->unit] = op->seq;
	memcpy(op->heard, s->heard[op->unit], sizeof(op->heard));
}

/* The first compute operation that has heard of store @seq, made if there is none. */
static int relay(struct npuc_schedule *s, int store)
{
	int seq = s->op[store].seq, found = NPUC_NO_OP, id;

	for (int i = s->n_op; i-- > 0;) {
		if (s->op[i].unit != NPUC_COMPUTE)
			continue;
		if (s->op[i].heard[NPUC_STORE] < seq)
			break;
		found = i;
	}
	if (found != NPUC_NO_OP)
		return found;
	id = append(s, &(struct npuc_op){ .kind = NPUC_OP_NOP });
	if (id < 0)
		return id;
	token(s, id, store);
	complete(s, id);
	return id;
}

static bool newer(const struct npuc_schedule *s, int a, int b)
{
	return b == NPUC_NO_OP || s->op[a].seq > s->op[b].seq;
}

/* Sorts what @unit must wait for into the latest of each unit; leaves out what it has heard. */
static void latest(const struct npuc_schedule *s, enum npuc_unit unit, const int *after, int n,
		   int *out)
{
	for (int u = 0; u < NPUC_UNITS; u++)
		out[u] = NPUC_NO_OP;
	for (int i = 0; i < n; i++) {
		enum npuc_unit u;

		if (after[i] == NPUC_NO_OP)
			continue;
		u = s->op[after[i]].unit;
		if (u != unit && s->op[after[i]].seq > s->heard[unit][u] &&
		    newer(s, after[i], out[u]))
			out[u] = after[i];
	}
}

int npuc_schedule_add(struct npuc_schedule *s, const struct npuc_op *op, const int *after, int n)
{
	enum npuc_unit unit = unit_of(op);
	int need[NPUC_UNITS], id;

	latest(s, unit, after, n, need);
	if (unit == NPUC_LOAD && need[NPUC_STORE] != NPUC_NO_OP) {
		int r = relay(s, need[NPUC_STORE]);

		if (r < 0)
			return r;
		need[NPUC_STORE] = NPUC_NO_OP;
		if (newer(s, r, need[NPUC_COMPUTE]))
			need[NPUC_COMPUTE] = r;
	}
	if (unit == NPUC_STORE && need[NPUC_LOAD] != NPUC_NO_OP)
		return npuc_fail(s->d, -EINVAL, "a store waits for a load");
	id = append(s, op);
	if (id < 0)
		return id;
	for (int u = 0; u < NPUC_UNITS; u++)
		if (need[u] != NPUC_NO_OP && s->op[need[u]].seq > s->heard[unit][u])
			token(s, id, need[u]);
	complete(s, id);
	if (op->kind == NPUC_OP_YIELD)
		for (int u = 0; u < NPUC_UNITS; u++)
			for (int v = 0; v < NPUC_UNITS; v++)
				s->heard[u][v] = s->count[v] - 1;
	return id;
}

static const unsigned int unit_number[NPUC_UNITS] = {
	[NPUC_LOAD] = NPU_UNIT_LOAD,
	[NPUC_COMPUTE] = NPU_UNIT_COMPUTE,
	[NPUC_STORE] = NPU_UNIT_STORE,
};

static void emit_op(const struct npuc_op *op, struct npu_builder *b)
{
	switch (op->kind) {
	case NPUC_OP_LOAD:
		npu_builder_load(b, &op->mem);
		break;
	case NPUC_OP_STORE:
		npu_builder_store(b, &op->mem);
		break;
	case NPUC_OP_NOP:
		npu_builder_load(b, &(struct npu_insn_mem){ .memory = NPU_MEM_ACC });
		break;
	case NPUC_OP_RESET:
		npu_builder_gemm(b, op->kernel, true);
		break;
	case NPUC_OP_GEMM:
		npu_builder_gemm(b, op->kernel, false);
		break;
	case NPUC_OP_VMAC:
		npu_builder_vmac(b, op->kernel, false);
		break;
	case NPUC_OP_ALU:
		npu_builder_alu(b, op->kernel, op->alu_op);
		break;
	case NPUC_OP_ALU_IMM:
		npu_builder_alu_imm(b, op->kernel, op->alu_op, op->value);
		break;
	case NPUC_OP_REQUANT:
		npu_builder_requant(b, op->kernel);
		break;
	case NPUC_OP_LUT:
		npu_builder_lut(b, op->kernel, op->value);
		break;
	case NPUC_OP_PAD_VALUE:
		npu_builder_pad_value(b, NPU_PAD_UNIT_LOAD, op->value);
		break;
	case NPUC_OP_YIELD:
		npu_builder_yield(b);
		break;
	}
}

int npuc_schedule_emit(const struct npuc_schedule *s, struct npu_builder *b)
{
	for (int i = 0; i < s->n_op; i++) {
		const struct npuc_op *op = &s->op[i];

		for (int u = 0; u < NPUC_UNITS; u++)
			if (op->pop[u])
				npu_builder_dep_pop(b, unit_number[u], unit_number[op->unit]);
		emit_op(op, b);
		for (int u = 0; u < NPUC_UNITS; u++)
			if (op->push[u])
				npu_builder_dep_push(b, unit_number[op->unit], unit_number[u]);
	}
	if (npu_builder_error(b))
		return npuc_fail(s->d, npu_builder_error(b), "instruction stream: %s",
				 npu_builder_message(b));
	return 0;
}
