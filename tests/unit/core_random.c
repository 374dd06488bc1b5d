// SPDX-License-Identifier: MIT
#include "tests/unit/core_random.h"

static u64 below(struct random *r, u64 n)
{
	return random_below(r, n);
}

/* Mostly small, rarely as large as the field allows. */
static u64 size(struct random *r, u32 bits)
{
	return below(r, below(r, 300) ? 12 : 1ull << bits);
}

static void random_load(struct board *b, struct random *r)
{
	static const u8 memory[] = { NPU_MEM_UOP, NPU_MEM_WGT, NPU_MEM_INP,
				     NPU_MEM_ACC, NPU_MEM_ACC8 };
	static const u16 bytes[] = { 4, 256, 16, 64, 0, 16 };
	u32 m = memory[below(r, 5)];
	bool pad = random_chance(r, 30);

	BOARD_LOAD(b, .memory = m, .sram_base = below(r, 800),
		   .dram_base = below(r, RANDOM_BYTES / bytes[m] / 2),
		   .region = below(r, 3), .y_size = size(r, 16),
		   .x_size = size(r, 16), .x_stride = size(r, 16),
		   .y_pad_0 = pad ? below(r, 4) : 0,
		   .y_pad_1 = pad ? below(r, 4) : 0,
		   .x_pad_0 = pad ? below(r, 4) : 0,
		   .x_pad_1 = pad ? below(r, 4) : 0,
		   .pad_mode = pad && m != NPU_MEM_UOP ? below(r, 2) : 0,
		   .pop_next = random_chance(r, 5),
		   .push_next = random_chance(r, 30),
		   .push_prev = random_chance(r, 20));
}

static void random_store(struct board *b, struct random *r)
{
	BOARD_STORE(b, .sram_base = below(r, 1000),
		    .dram_base = below(r, RANDOM_BYTES / 16 - 500),
		    .y_size = size(r, 16), .x_size = size(r, 16),
		    .x_stride = size(r, 16), .pop_prev = random_chance(r, 5),
		    .push_prev = random_chance(r, 20));
}

/* Fields that all loops have; most loops keep within 2048 elements. */
#define LOOP_FIELDS(r) \
	.uop_bgn = below(r, 8), .uop_end = size(r, 14), \
	.iter_out = size(r, 14), .iter_in = size(r, 14), \
	.dst_factor_out = size(r, 11), .dst_factor_in = size(r, 11), \
	.src_factor_out = size(r, 11), .src_factor_in = size(r, 11), \
	.pop_prev = random_chance(r, 5), .pop_next = random_chance(r, 5), \
	.push_prev = random_chance(r, 20), .push_next = random_chance(r, 20)

static void random_loop(struct board *b, struct random *r)
{
	switch (below(r, 6)) {
	case 0:
	case 1:
		BOARD_GEMM(b, LOOP_FIELDS(r), .reset = random_chance(r, 15),
			   .wgt_factor_out = size(r, 10),
			   .wgt_factor_in = size(r, 10));
		break;
	case 2:
		BOARD_ALU(b, LOOP_FIELDS(r), .alu_op = below(r, 5),
			  .use_imm = below(r, 2),
			  .imm = random_range(r, -40, 40));
		break;
	case 3:
		BOARD_EXT(b, REQUANT, requant, LOOP_FIELDS(r));
		break;
	case 4:
		BOARD_EXT(b, VMAC, vmac, LOOP_FIELDS(r),
			  .reset = random_chance(r, 15),
			  .wgt_factor_out = size(r, 8),
			  .wgt_factor_in = size(r, 8));
		break;
	case 5:
		BOARD_EXT(b, LUT, lut, LOOP_FIELDS(r), .table = below(r, 1024));
		break;
	}
}

static void random_control(struct board *b, struct random *r)
{
	if (random_chance(r, 30))
		BOARD_EXT(b, YIELD, yield, .push_next = random_chance(r, 50));
	else
		BOARD_EXT(b, PAD_VALUE, pad_value, .unit = below(r, 2),
			  .value = (s32)random_u64(r));
}

/* Any bits, or an opcode with any bits behind it. */
static void random_word(struct board *b, struct random *r)
{
	u64 low = random_u64(r), high = random_u64(r);

	if (random_chance(r, 50))
		low &= ~(0xfull << 3);
	if (random_chance(r, 50))
		low &= random_u64(r);
	if (random_chance(r, 50))
		high &= random_u64(r) & random_u64(r);
	board_word(b, low, high);
}

static void random_insn(struct board *b, struct random *r)
{
	u32 kind = below(r, 100);

	if (kind < 40)
		random_load(b, r);
	else if (kind < 55)
		random_store(b, r);
	else if (kind < 90)
		random_loop(b, r);
	else
		random_control(b, r);
}

/* The first half of the memory has micro-ops that reach little. */
static void random_memory(struct board *b, struct random *r)
{
	u32 i;

	board_noise(b, RANDOM_BASE, RANDOM_BYTES, r);
	for (i = 0; i < RANDOM_BYTES / 2; i += 4)
		board_put32(b, RANDOM_BASE + i,
			    board_get32(b, RANDOM_BASE + i) & 0x0fcff9ff);
	for (i = 0; i < RANDOM_REGIONS; i++) {
		npu_put_le64(b->mem + BOARD_REGIONS + 16 * i, RANDOM_BASE);
		npu_put_le64(b->mem + BOARD_REGIONS + 16 * i + 8, RANDOM_BYTES);
	}
}

void random_program(struct board *b, struct random *r, u32 max, u32 wild)
{
	u32 n = 1 + below(r, max - 1);

	random_memory(b, r);
	board_clear(b);
	while (b->insns < n) {
		if (random_chance(r, wild))
			random_word(b, r);
		else
			random_insn(b, r);
	}
	if (!random_chance(r, wild / 4))
		BOARD_FINISH(b);
}
