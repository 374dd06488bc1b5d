// SPDX-License-Identifier: MIT
/*
 * Follows the tokens of a program. Each token queue has one unit that pushes
 * and one that pops, both in order, so whether a program gets stuck does not
 * depend on the order in which ready units are served.
 */
#include <errno.h>
#include <string.h>
#include "userspace/isa/npu_builder.h"

enum { LOAD, COMPUTE, STORE, UNITS };

struct unit {
	size_t queue[NPU_CMD_QUEUE_DEPTH];
	size_t head;
	size_t waiting;
	bool pushing;			/* the instruction below waits to push */
	size_t executing;
	struct npu_tokens left;		/* what it has still to push */
};

struct machine {
	const unsigned char *insns;
	size_t count;
	size_t fetched;
	bool held;			/* fetch stands behind a YIELD */
	struct unit units[UNITS];
	/* Tokens that a unit has got from its previous and its next unit. */
	unsigned int from_prev[UNITS];
	unsigned int from_next[UNITS];
};

static unsigned int unit_of(const struct npu_insn *insn)
{
	switch (npu_insn_unit(insn)) {
	case NPU_UNIT_LOAD:
		return LOAD;
	case NPU_UNIT_STORE:
		return STORE;
	default:
		return COMPUTE;
	}
}

static void read_insn(const struct machine *m, size_t index, struct npu_insn *insn)
{
	npu_insn_decode(m->insns + index * NPU_INSN_BYTES, insn);
}

static bool fetch(struct machine *m)
{
	struct npu_insn insn;
	struct unit *unit;

	if (m->held || m->fetched == m->count)
		return false;
	read_insn(m, m->fetched, &insn);
	unit = &m->units[unit_of(&insn)];
	if (unit->waiting == NPU_CMD_QUEUE_DEPTH)
		return false;
	unit->queue[(unit->head + unit->waiting++) % NPU_CMD_QUEUE_DEPTH] = m->fetched++;
	m->held = insn.format == NPU_FORMAT_YIELD;
	return true;
}

static bool give(unsigned int *queue, bool *wanted)
{
	if (!*wanted)
		return true;
	if (*queue == NPU_TOKEN_MAX)
		return false;
	(*queue)++;
	*wanted = false;
	return true;
}

/* True when the instruction has pushed all it pushes. */
static bool push(struct machine *m, unsigned int u)
{
	struct npu_tokens *left = &m->units[u].left;
	bool prev = u == LOAD || give(&m->from_next[u - 1], &left->push_prev);
	bool next = u == STORE || give(&m->from_prev[u + 1], &left->push_next);

	m->units[u].pushing = !(prev && next);
	return prev && next;
}

static bool idle(const struct unit *unit)
{
	return !unit->waiting && !unit->pushing;
}

static bool start(struct machine *m, unsigned int u)
{
	struct unit *unit = &m->units[u];
	struct npu_insn insn;
	bool yield;

	if (!unit->waiting)
		return false;
	unit->executing = unit->queue[unit->head];
	read_insn(m, unit->executing, &insn);
	unit->left = npu_insn_tokens(&insn);
	yield = insn.format == NPU_FORMAT_YIELD;
	if ((unit->left.pop_prev && !m->from_prev[u]) || (unit->left.pop_next && !m->from_next[u]) ||
	    (yield && !(idle(&m->units[LOAD]) && idle(&m->units[STORE]))))
		return false;
	m->from_prev[u] -= unit->left.pop_prev;
	m->from_next[u] -= unit->left.pop_next;
	unit->head = (unit->head + 1) % NPU_CMD_QUEUE_DEPTH;
	unit->waiting--;
	if (!yield) {
		push(m, u);
		return true;
	}
	memset(m->from_prev, 0, sizeof(m->from_prev));
	memset(m->from_next, 0, sizeof(m->from_next));
	m->held = false;
	return true;
}

static bool step(struct machine *m, unsigned int u)
{
	struct npu_tokens before = m->units[u].left;

	if (!m->units[u].pushing)
		return start(m, u);
	push(m, u);
	return memcmp(&before, &m->units[u].left, sizeof(before)) || !m->units[u].pushing;
}

static size_t lowest_waiting(const struct machine *m)
{
	size_t lowest = m->count;

	for (unsigned int u = 0; u < UNITS; u++) {
		const struct unit *unit = &m->units[u];
		size_t index = unit->pushing ? unit->executing :
			       unit->waiting ? unit->queue[unit->head] : m->count;

		if (index < lowest)
			lowest = index;
	}
	return lowest;
}

int npu_tokens_check(const void *insns, size_t count, size_t *stuck)
{
	struct machine m = { .insns = insns, .count = count };
	bool progress;
	size_t lowest;

	do {
		progress = false;
		while (fetch(&m))
			progress = true;
		for (unsigned int u = 0; u < UNITS; u++)
			while (step(&m, u))
				progress = true;
	} while (progress);
	lowest = lowest_waiting(&m);
	if (lowest == count)
		return 0;
	if (stuck)
		*stuck = lowest;
	return -EDEADLK;
}
