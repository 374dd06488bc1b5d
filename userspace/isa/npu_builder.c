// SPDX-License-Identifier: MIT
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "userspace/isa/builder.h"
#include "npu_regs.h"

enum { LOAD, COMPUTE, STORE };

#define ALL_FEATURES \
	(NPU_HW_FEATURE_REQUANT | NPU_HW_FEATURE_PAD_VALUE | NPU_HW_FEATURE_YIELD | \
	 NPU_HW_FEATURE_VMAC | NPU_HW_FEATURE_LUT)

int npu_builder_new(struct npu_builder **out, const struct npu_builder_config *config)
{
	struct npu_builder *b;

	if (config && (config->uop_region >= NPU_REGION_ENTRIES ||
		       config->uop_depth > NPU_UOP_DEPTH))
		return -EINVAL;
	b = calloc(1, sizeof(*b));
	if (!b)
		return -ENOMEM;
	if (config)
		b->config = *config;
	else
		b->config.features = ALL_FEATURES;
	if (!b->config.uop_depth)
		b->config.uop_depth = NPU_UOP_DEPTH;
	*out = b;
	return 0;
}

void npu_builder_free(struct npu_builder *b)
{
	if (!b)
		return;
	kernels_free(&b->kernels);
	free(b->insns);
	free(b);
}

int npu_builder_error(const struct npu_builder *b)
{
	return b->error;
}

const char *npu_builder_message(const struct npu_builder *b)
{
	return b->message;
}

size_t npu_builder_count(const struct npu_builder *b)
{
	return b->count;
}

int builder_fail(struct npu_builder *b, int code, const char *fmt, ...)
{
	va_list args;

	if (b->error)
		return b->error;
	b->error = code;
	va_start(args, fmt);
	vsnprintf(b->message, sizeof(b->message), fmt, args);
	va_end(args);
	return code;
}

int builder_ready(struct npu_builder *b)
{
	if (!b->error && b->finished)
		return builder_fail(b, -EINVAL, "instruction %zu: the program is finished", b->count);
	if (!b->error && b->kernels.recording.active)
		return builder_fail(b, -EINVAL, "instruction %zu: a kernel is being recorded",
				    b->count);
	return b->error;
}

void *builder_grow(void *array, size_t *capacity, size_t count, size_t more, size_t size)
{
	size_t wanted = *capacity ? *capacity : 64;
	void *grown;

	if (array && more <= *capacity - count)
		return array;
	while (wanted - count < more) {
		if (wanted > SIZE_MAX / size / 2)
			return NULL;
		wanted *= 2;
	}
	grown = realloc(array, wanted * size);
	if (grown)
		*capacity = wanted;
	return grown;
}

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

static int encode(struct npu_builder *b, const struct npu_insn *insn, void *word)
{
	struct npu_isa_error err;
	int ret = npu_insn_encode(insn, word, &err);

	if (!ret)
		return 0;
	return builder_fail(b, ret, "instruction %zu: %s is %" PRId64 ", not in %" PRId64 " to %"
			    PRId64, b->count, err.field, err.value, err.min, err.max);
}

/* Encodes the instruction and makes it the last one of its unit. */
static int put(struct npu_builder *b, const struct npu_insn *insn)
{
	struct unit_state *unit = &b->units[unit_of(insn)];
	void *grown;
	int ret;

	if (b->count == UINT32_MAX)
		return builder_fail(b, -E2BIG, "a program has at most %" PRIu32 " instructions",
				    UINT32_MAX);
	grown = builder_grow(b->insns, &b->capacity, b->count, 1, NPU_INSN_BYTES);
	if (!grown)
		return builder_fail(b, -ENOMEM, "no memory for instruction %zu", b->count);
	b->insns = grown;
	ret = encode(b, insn, b->insns + b->count * NPU_INSN_BYTES);
	if (ret)
		return ret;
	unit->has_last = true;
	unit->last = b->count++;
	return 0;
}

/* An instruction of the unit that moves tokens only; it takes pending pops. */
static int put_token_mover(struct npu_builder *b, unsigned int u)
{
	static const unsigned char opcode[] = {
		[LOAD] = NPU_OP_LOAD, [COMPUTE] = NPU_OP_LOAD, [STORE] = NPU_OP_STORE,
	};
	static const unsigned char memory[] = {
		[LOAD] = NPU_MEM_INP, [COMPUTE] = NPU_MEM_UOP, [STORE] = NPU_MEM_OUT,
	};
	struct npu_insn insn = {
		.format = NPU_FORMAT_MEM,
		.mem = { .opcode = opcode[u], .memory = memory[u] },
	};

	npu_insn_add_tokens(&insn, b->units[u].pending);
	b->units[u].pending = (struct npu_tokens){ 0 };
	return put(b, &insn);
}

static bool pops_pending(const struct unit_state *unit)
{
	return unit->pending.pop_prev || unit->pending.pop_next;
}

static int put_with_pops(struct npu_builder *b, const struct npu_insn *insn)
{
	unsigned int u = unit_of(insn);
	struct npu_tokens own = npu_insn_tokens(insn);
	struct unit_state *unit = &b->units[u];
	struct npu_insn copy = *insn;
	int ret;

	/* One instruction pops at most one token of each neighbour. */
	if ((own.pop_prev && unit->pending.pop_prev) || (own.pop_next && unit->pending.pop_next)) {
		ret = put_token_mover(b, u);
		if (ret)
			return ret;
	}
	npu_insn_add_tokens(&copy, unit->pending);
	unit->pending = (struct npu_tokens){ 0 };
	return put(b, &copy);
}

static int check(struct npu_builder *b, const struct npu_insn *insn)
{
	const char *why;
	int ret = npu_insn_check(insn, b->config.features, &why);

	return ret ? builder_fail(b, ret, "instruction %zu: %s", b->count, why) : 0;
}

int builder_append(struct npu_builder *b, const struct npu_insn *insn)
{
	int ret = check(b, insn);

	return ret ? ret : put_with_pops(b, insn);
}

int builder_append_plain(struct npu_builder *b, const struct npu_insn *insn)
{
	int ret = check(b, insn);

	return ret ? ret : put(b, insn);
}

static unsigned int depth_of(int64_t memory)
{
	switch (memory) {
	case NPU_MEM_UOP:
		return NPU_UOP_DEPTH;
	case NPU_MEM_WGT:
		return NPU_WGT_DEPTH;
	case NPU_MEM_INP:
		return NPU_INP_DEPTH;
	default:
		return NPU_ACC_DEPTH;
	}
}

/* Fields were encoded, hence are in range and their products do not overflow. */
static int check_sram(struct npu_builder *b, const struct npu_insn_mem *mem)
{
	int64_t rows = mem->y_pad_0 + mem->y_size + mem->y_pad_1;
	int64_t row = mem->x_pad_0 + mem->x_size + mem->x_pad_1;
	int64_t end = mem->sram_base + rows * row;
	int64_t depth = depth_of(mem->memory);

	if (!mem->x_size || end <= depth)
		return 0;
	return builder_fail(b, -ERANGE, "instruction %zu: elements %" PRId64 " to %" PRId64
			    " leave the SRAM, which has %" PRId64, b->count, mem->sram_base,
			    end - 1, depth);
}

static int append_mem(struct npu_builder *b, const struct npu_insn_mem *mem)
{
	struct npu_insn insn = { .format = NPU_FORMAT_MEM, .mem = *mem };
	unsigned char word[NPU_INSN_BYTES];
	int ret = encode(b, &insn, word);

	if (!ret)
		ret = check_sram(b, mem);
	return ret ? ret : builder_append(b, &insn);
}

int npu_builder_load(struct npu_builder *b, const struct npu_insn_mem *mem)
{
	struct npu_insn_mem load = *mem;
	int ret = builder_ready(b);

	if (ret)
		return ret;
	if (mem->memory == NPU_MEM_UOP)
		return builder_fail(b, -EINVAL, "instruction %zu: micro-ops are loaded by kernels",
				    b->count);
	load.opcode = NPU_OP_LOAD;
	return append_mem(b, &load);
}

int npu_builder_store(struct npu_builder *b, const struct npu_insn_mem *mem)
{
	struct npu_insn_mem store = *mem;
	int ret = builder_ready(b);

	if (ret)
		return ret;
	store.opcode = NPU_OP_STORE;
	store.memory = NPU_MEM_OUT;
	return append_mem(b, &store);
}

/* YIELD drops tokens: pops before it must be met before it. */
static int put_yield(struct npu_builder *b, const struct npu_insn *insn)
{
	int ret = 0;

	if (pops_pending(&b->units[LOAD]))
		ret = put_token_mover(b, LOAD);
	if (!ret && pops_pending(&b->units[STORE]))
		ret = put_token_mover(b, STORE);
	if (!ret)
		ret = put_with_pops(b, insn);
	for (int u = LOAD; u <= STORE; u++)
		b->units[u].has_last = false;
	kernels_forget(&b->kernels);
	return ret;
}

int npu_builder_yield(struct npu_builder *b)
{
	const struct npu_insn insn = {
		.format = NPU_FORMAT_YIELD,
		.yield = { .opcode = NPU_OP_EXT, .ext_op = NPU_EXT_YIELD },
	};
	int ret = builder_ready(b);

	if (!ret)
		ret = check(b, &insn);
	return ret ? ret : put_yield(b, &insn);
}

int npu_builder_emit(struct npu_builder *b, const struct npu_insn *insn)
{
	unsigned char word[NPU_INSN_BYTES];
	int ret = builder_ready(b);

	if (!ret)
		ret = encode(b, insn, word);
	if (ret)
		return ret;
	if (insn->format == NPU_FORMAT_YIELD)
		return put_yield(b, insn);
	if (insn->format == NPU_FORMAT_MEM && insn->mem.opcode == NPU_OP_LOAD &&
	    insn->mem.memory == NPU_MEM_UOP && insn->mem.x_size)
		kernels_forget(&b->kernels);
	return put_with_pops(b, insn);
}

int npu_builder_pad_value(struct npu_builder *b, unsigned int unit, int64_t value)
{
	const struct npu_insn insn = {
		.format = NPU_FORMAT_PAD_VALUE,
		.pad_value = { .opcode = NPU_OP_EXT, .ext_op = NPU_EXT_PAD_VALUE, .unit = unit,
			       .value = value },
	};
	int ret = builder_ready(b);

	return ret ? ret : builder_append(b, &insn);
}

/* Index of a unit of the contract, or -1. */
static int unit_index(unsigned int unit)
{
	switch (unit) {
	case NPU_UNIT_LOAD:
		return LOAD;
	case NPU_UNIT_COMPUTE:
		return COMPUTE;
	case NPU_UNIT_STORE:
		return STORE;
	default:
		return -1;
	}
}

static int check_neighbours(struct npu_builder *b, int from, int to)
{
	if (from >= 0 && to >= 0 && abs(from - to) == 1)
		return 0;
	return builder_fail(b, -EINVAL, "instruction %zu: tokens pass between load and compute, "
			    "and compute and store, only", b->count);
}

int npu_builder_dep_push(struct npu_builder *b, unsigned int from_unit, unsigned int to_unit)
{
	int from = unit_index(from_unit), to = unit_index(to_unit);
	struct npu_tokens flag = { .push_prev = to < from, .push_next = to > from };
	struct npu_insn insn;
	struct npu_tokens has;
	int ret = builder_ready(b);

	if (!ret)
		ret = check_neighbours(b, from, to);
	/* What is popped before a push is popped before the token is given. */
	if (!ret && (pops_pending(&b->units[from]) || !b->units[from].has_last))
		ret = put_token_mover(b, from);
	if (ret)
		return ret;
	npu_insn_decode(b->insns + b->units[from].last * NPU_INSN_BYTES, &insn);
	has = npu_insn_tokens(&insn);
	if ((has.push_prev && flag.push_prev) || (has.push_next && flag.push_next)) {
		ret = put_token_mover(b, from);
		if (ret)
			return ret;
		npu_insn_decode(b->insns + b->units[from].last * NPU_INSN_BYTES, &insn);
	}
	npu_insn_add_tokens(&insn, flag);
	return encode(b, &insn, b->insns + b->units[from].last * NPU_INSN_BYTES);
}

int npu_builder_dep_pop(struct npu_builder *b, unsigned int from_unit, unsigned int to_unit)
{
	int from = unit_index(from_unit), to = unit_index(to_unit);
	struct unit_state *unit;
	int ret = builder_ready(b);

	if (!ret)
		ret = check_neighbours(b, from, to);
	if (ret)
		return ret;
	unit = &b->units[to];
	if (from < to ? unit->pending.pop_prev : unit->pending.pop_next) {
		ret = put_token_mover(b, to);
		if (ret)
			return ret;
	}
	if (from < to)
		unit->pending.pop_prev = true;
	else
		unit->pending.pop_next = true;
	return 0;
}

static int put_finish(struct npu_builder *b)
{
	const struct npu_insn insn = {
		.format = NPU_FORMAT_FINISH,
		.finish = { .opcode = NPU_OP_FINISH },
	};
	int ret = 0;

	if (pops_pending(&b->units[LOAD]))
		ret = put_token_mover(b, LOAD);
	if (!ret && pops_pending(&b->units[STORE]))
		ret = put_token_mover(b, STORE);
	return ret ? ret : put_with_pops(b, &insn);
}

static int check_program(struct npu_builder *b)
{
	char text[NPU_INSN_PRINT_MAX];
	struct npu_insn insn;
	size_t stuck;
	int ret = npu_tokens_check(b->insns, b->count, &stuck);

	if (!ret)
		return 0;
	npu_insn_decode(b->insns + stuck * NPU_INSN_BYTES, &insn);
	npu_insn_print(&insn, text, sizeof(text));
	return builder_fail(b, ret, "instruction %zu waits for ever: %s", stuck, text);
}

int npu_builder_finish(struct npu_builder *b, struct npu_builder_output *out)
{
	int ret;

	if (!b->finished) {
		ret = builder_ready(b);
		if (!ret)
			ret = put_finish(b);
		if (!ret)
			ret = check_program(b);
		b->finished = true;
	}
	if (b->error)
		return b->error;
	*out = (struct npu_builder_output){
		b->insns, b->count, b->kernels.image, b->kernels.image_count,
	};
	return 0;
}
