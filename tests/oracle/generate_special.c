// SPDX-License-Identifier: MIT
/* Programs for what chance alone would hardly ever meet. */
#include <math.h>
#include <string.h>
#include "tests/oracle/generate.h"

enum {
	DATA_VA = 0x10000,
	OUT_VA = 0x40000,
	CODE_VA = 0x80000,
	ROW = NPU_ACC_BYTES,
	GROUP = 4,			/* scale, bounds, bias, accumulator */
	GROUPS = NPU_ACC_DEPTH / GROUP,
	TOKEN_INSNS = 1200,
};

static void put_le32(uint8_t *p, uint32_t value)
{
	for (int i = 0; i < 4; i++)
		p[i] = value >> 8 * i & 0xff;
}

static bool put_program(struct generated *program, const struct npu_insn *insns, uint32_t count)
{
	struct segment *code = address_space_add(&program->space, CODE_VA,
						 (count * NPU_INSN_BYTES + MEMORY_PAGE - 1) &
						 ~(MEMORY_PAGE - 1u), "x");

	if (!code)
		return false;
	for (uint32_t i = 0; i < count; i++)
		if (npu_insn_encode(&insns[i], code->bytes + i * NPU_INSN_BYTES, NULL))
			return false;
	program->insn_va = CODE_VA;
	program->insn_count = count;
	return true;
}

static float random_scale(struct random *r)
{
	return ldexpf((float)random_range(r, 1 << 23, (1 << 24) - 1),
		      (int)random_range(r, -46, -25));
}

/* One lane: bias and accumulator whose sum, scaled, is about half an integer. */
static void put_lane(struct random *r, uint8_t *group, unsigned int lane)
{
	const struct npu_requant_bounds bounds = {
		random_range(r, -8, 8), random_range(r, -512, -200), random_range(r, 200, 511),
	};
	float scale = random_scale(r);
	double target = (double)random_range(r, -256, 255) + 0.5;
	double exact = floor(target / (double)scale) + (double)random_range(r, -1, 2);
	int32_t sum = exact > INT32_MAX ? INT32_MAX : exact < INT32_MIN ? INT32_MIN :
									 (int32_t)exact;
	uint32_t bias = (uint32_t)random_u64(r), word;

	memcpy(&word, &scale, sizeof(word));
	put_le32(group + 4 * lane, word);
	npu_requant_bounds_pack(&bounds, &word, NULL);
	put_le32(group + ROW + 4 * lane, word);
	put_le32(group + 2 * ROW + 4 * lane, bias);
	put_le32(group + 3 * ROW + 4 * lane, (uint32_t)sum - bias);
}

bool generate_requant(struct generated *program, uint64_t seed)
{
	static const struct npu_insn insns[] = {
		{ .format = NPU_FORMAT_MEM,	/* ACC: everything */
		  .mem = { .opcode = NPU_OP_LOAD, .memory = NPU_MEM_ACC,
			   .dram_base = DATA_VA / NPU_ACC_BYTES, .y_size = 1,
			   .x_size = NPU_ACC_DEPTH } },
		{ .format = NPU_FORMAT_MEM,	/* UOP 0: dst 3, src 0 */
		  .mem = { .opcode = NPU_OP_LOAD, .memory = NPU_MEM_UOP,
			   .dram_base = OUT_VA / NPU_UOP_BYTES, .y_size = 1, .x_size = 1 } },
		{ .format = NPU_FORMAT_REQUANT,
		  .requant = { .opcode = NPU_OP_EXT, .ext_op = NPU_EXT_REQUANT, .uop_end = 1,
			       .iter_out = 1, .iter_in = GROUPS, .dst_factor_in = GROUP,
			       .src_factor_in = GROUP, .push_next = 1 } },
		{ .format = NPU_FORMAT_MEM,
		  .mem = { .opcode = NPU_OP_STORE, .memory = NPU_MEM_OUT,
			   .dram_base = OUT_VA / NPU_OUT_BYTES, .y_size = 1,
			   .x_size = NPU_ACC_DEPTH, .pop_prev = 1 } },
		{ .format = NPU_FORMAT_FINISH, .finish = { .opcode = NPU_OP_FINISH } },
	};
	struct random r = { seed };
	struct segment *data, *out;

	memset(program, 0, sizeof(*program));
	program->seed = seed;
	program->features = 0x1f;
	data = address_space_add(&program->space, DATA_VA, NPU_ACC_DEPTH * ROW, "r");
	out = data ? address_space_add(&program->space, OUT_VA, NPU_ACC_DEPTH * NPU_OUT_BYTES,
				       "rw") : NULL;
	if (!out || !put_program(program, insns, sizeof(insns) / sizeof(insns[0]))) {
		generated_free(program);
		return false;
	}
	put_le32(out->bytes, 3);
	for (unsigned int g = 0; g < GROUPS; g++)
		for (unsigned int lane = 0; lane < NPU_BLOCK; lane++)
			put_lane(&r, data->bytes + g * GROUP * ROW, lane);
	return true;
}

/* An instruction of a unit without any effect but on tokens. */
static struct npu_insn mover(unsigned int unit, struct npu_tokens tokens)
{
	static const unsigned int memories[] = { NPU_MEM_WGT, NPU_MEM_ACC8, NPU_MEM_OUT };
	struct npu_insn insn = {
		.format = NPU_FORMAT_MEM,
		.mem = { .opcode = unit == STORE ? NPU_OP_STORE : NPU_OP_LOAD,
			 .memory = memories[unit] },
	};

	npu_insn_add_tokens(&insn, tokens);
	return insn;
}

static struct npu_insn control(unsigned int format, struct npu_tokens tokens)
{
	struct npu_insn insn = { .format = format };

	if (format == NPU_FORMAT_FINISH)
		insn.finish.opcode = NPU_OP_FINISH;
	else
		insn.yield = (struct npu_insn_yield){ .opcode = NPU_OP_EXT,
						      .ext_op = NPU_EXT_YIELD };
	npu_insn_add_tokens(&insn, tokens);
	return insn;
}

static struct npu_tokens random_tokens(struct random *r, unsigned int percent)
{
	return (struct npu_tokens){ random_chance(r, percent), random_chance(r, percent),
				    random_chance(r, 2 * percent), random_chance(r, 2 * percent) };
}

bool generate_tokens(struct generated *program, uint64_t seed)
{
	struct npu_insn insns[TOKEN_INSNS + 1];
	struct random r = { seed };
	uint32_t count = (uint32_t)random_range(&r, 1, random_below(&r, 2) ? 20 : TOKEN_INSNS);
	unsigned int percent = (unsigned int)random_range(&r, 1, 30);
	uint32_t i = 0;

	memset(program, 0, sizeof(*program));
	program->seed = seed;
	program->features = 0x1f;
	while (i < count) {
		/* Runs of one kind bring queues to their ends. */
		uint32_t run = random_chance(&r, 2) ? (uint32_t)random_range(&r, 250, 520) : 1;
		struct npu_tokens tokens = random_tokens(&r, percent);
		unsigned int unit = (unsigned int)random_below(&r, UNITS);
		bool yield = run == 1 && random_chance(&r, 5);

		program->yields += yield;
		while (run-- && i < count)
			insns[i++] = yield ? control(NPU_FORMAT_YIELD, tokens) :
					     mover(unit, tokens);
	}
	insns[i++] = control(NPU_FORMAT_FINISH, random_tokens(&r, percent));
	if (put_program(program, insns, i))
		return true;
	generated_free(program);
	return false;
}

bool generate_queue(struct generated *program, unsigned int unit, uint32_t waiting)
{
	struct npu_insn insns[TOKEN_INSNS + 1];
	/* Flags that a unit does not have do nothing. */
	const struct npu_tokens all[] = {
		{ .pop_prev = unit != LOAD, .pop_next = unit == LOAD },
		{ .push_prev = unit == LOAD, .push_next = true },
	};

	memset(program, 0, sizeof(*program));
	program->features = 0x1f;
	for (uint32_t i = 0; i < waiting; i++)
		insns[i] = mover(unit, i ? (struct npu_tokens){ 0 } : all[0]);
	insns[waiting] = mover(unit == COMPUTE ? LOAD : COMPUTE, all[1]);
	insns[waiting + 1] = control(NPU_FORMAT_FINISH, (struct npu_tokens){ 0 });
	if (put_program(program, insns, waiting + 2))
		return true;
	generated_free(program);
	return false;
}
