// SPDX-License-Identifier: MIT
/* What each instruction of the compute core does to SRAM and memory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>
#include "tests/unit/core_board.h"

#define VA_UOP	BOARD_DATA
#define VA_ACC	(BOARD_DATA + 0x010000)
#define VA_INP	(BOARD_DATA + 0x040000)
#define VA_WGT	(BOARD_DATA + 0x080000)

static struct board board;
static struct board *b = &board;
static struct random rnd;

static int setup(void **state)
{
	(void)state;
	board_init(b, BOARD_FEATURES);
	rnd.state = 1;
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	board_exit(b);
	return 0;
}

/* Micro-op @i of the program's table. */
static void uop(u32 i, u32 dst, u32 src, u32 wgt)
{
	board_put32(b, VA_UOP + 4 * i, board_uop(dst, src, wgt));
}

static const s8 *inp_at(u32 i)
{
	return (s8 *)b->mem + VA_INP + 16 * i;
}

static const s8 *wgt_at(u32 i)
{
	return (s8 *)b->mem + VA_WGT + 256 * i;
}

static s32 acc_at(u32 i, u32 o)
{
	return board_get32(b, VA_ACC + 64 * i + 4 * o);
}

/* Micro-ops 0 to @uops - 1, and @accs elements of noise in ACC. */
static void begin(u32 uops, u32 accs)
{
	board_noise(b, VA_ACC, 64 * accs, &rnd);
	BOARD_ROW(b, UOP, 0, uops, VA_UOP);
	if (accs)
		BOARD_ROW(b, ACC, 0, accs, VA_ACC);
}

static void load_inp_wgt(u32 inps, u32 wgts)
{
	board_noise(b, VA_INP, 16 * inps, &rnd);
	board_noise(b, VA_WGT, 256 * wgts, &rnd);
	BOARD_ROW(b, INP, 0, inps, VA_INP);
	BOARD_ROW(b, WGT, 0, wgts, VA_WGT, .push_next = 1);
}

static void finish(void)
{
	BOARD_FINISH(b);
	board_expect_done(b);
}

static void expect_lanes(u32 i, const s32 *want)
{
	assert_memory_equal(board_acc(b, i), want, 64);
}

static void load_acc(void **state)
{
	u32 i;

	(void)state;
	begin(1, 40);
	finish();
	for (i = 0; i < 40; i++)
		expect_lanes(i, (s32 *)(b->mem + VA_ACC + 64 * i));
}

static void load_acc8(void **state)
{
	u32 i, o;

	(void)state;
	/* More than the model converts at a time. */
	board_noise(b, VA_ACC, 16 * 1000, &rnd);
	BOARD_LOAD(b, .memory = NPU_MEM_ACC8, .sram_base = 3,
		   .dram_base = VA_ACC / 16, .y_size = 1, .x_size = 1000);
	finish();
	for (i = 0; i < 1000; i++) {
		for (o = 0; o < 16; o++)
			assert_int_equal(board_acc(b, 3 + i)[o],
					 (s8)b->mem[VA_ACC + 16 * i + o]);
	}
}

/* Rows 2 apart in memory, three deep, with every kind of padding. */
static void load_padding(void **state)
{
	const u32 row = 2 + 3 + 1;
	u32 y, x, o;

	(void)state;
	board_noise(b, VA_ACC, 64 * 32, &rnd);
	BOARD_EXT(b, PAD_VALUE, pad_value, .unit = NPU_PAD_UNIT_COMPUTE,
		  .value = -1234567);
	BOARD_LOAD(b, .memory = NPU_MEM_ACC, .sram_base = 100,
		   .dram_base = VA_ACC / 64, .y_size = 3, .x_size = 3,
		   .x_stride = 5, .y_pad_0 = 2, .y_pad_1 = 1, .x_pad_0 = 2,
		   .x_pad_1 = 1, .pad_mode = NPU_PAD_VALUE);
	BOARD_LOAD(b, .memory = NPU_MEM_ACC, .sram_base = 200,
		   .dram_base = VA_ACC / 64, .y_size = 3, .x_size = 3,
		   .x_stride = 5, .y_pad_0 = 2, .y_pad_1 = 1, .x_pad_0 = 2,
		   .x_pad_1 = 1);
	finish();
	for (y = 0; y < 6; y++) {
		for (x = 0; x < row; x++) {
			bool pad = y < 2 || y > 4 || x < 2 || x > 4;
			u32 from = (y - 2) * 5 + x - 2;

			for (o = 0; o < 16; o++) {
				assert_int_equal(
					board_acc(b, 100 + y * row + x)[o],
					pad ? -1234567 : acc_at(from, o));
				assert_int_equal(
					board_acc(b, 200 + y * row + x)[o],
					pad ? 0 : acc_at(from, o));
			}
		}
	}
}

/* The load unit pads with its own value, cut to 8 bits. */
static void load_padding_narrow(void **state)
{
	const s32 minus_one[16] = { -16, -16, -16, -16, -16, -16, -16, -16,
				    -16, -16, -16, -16, -16, -16, -16, -16 };
	u32 o;

	(void)state;
	for (o = 0; o < 256; o++)
		b->mem[VA_WGT + o] = 1;
	uop(0, 0, 1, 0);
	uop(1, 1, 0, 1);
	begin(2, 0);
	BOARD_EXT(b, PAD_VALUE, pad_value, .unit = NPU_PAD_UNIT_COMPUTE,
		  .value = 5);
	BOARD_EXT(b, PAD_VALUE, pad_value, .unit = NPU_PAD_UNIT_LOAD,
		  .value = 0x1ff);
	BOARD_LOAD(b, .memory = NPU_MEM_INP, .y_size = 0, .x_size = 1,
		   .y_pad_0 = 2, .pad_mode = NPU_PAD_VALUE);
	BOARD_LOAD(b, .memory = NPU_MEM_WGT, .dram_base = VA_WGT / 256,
		   .y_size = 1, .x_size = 1, .x_pad_1 = 1,
		   .pad_mode = NPU_PAD_VALUE, .push_next = 1);
	BOARD_GEMM(b, .uop_bgn = 0, .uop_end = 2, .iter_out = 1, .iter_in = 1,
		   .pop_prev = 1);
	finish();
	/* Input of -1 by weights of 1, and by weights of -1. */
	expect_lanes(0, minus_one);
	for (o = 0; o < 16; o++)
		assert_int_equal(board_acc(b, 1)[o], 16);
}

static void store(void **state)
{
	u32 y, x, o;

	(void)state;
	begin(1, 600);
	memset(b->mem + BOARD_OUT, 0xee, 0x10000);
	BOARD_ALU(b, .alu_op = NPU_ALU_ADD, .use_imm = 1, .uop_end = 1,
		  .iter_out = 1, .iter_in = 1, .push_next = 1);
	BOARD_STORE(b, .sram_base = 7, .dram_base = BOARD_OUT / 16 + 1,
		    .y_size = 2, .x_size = 290, .x_stride = 300, .pop_prev = 1);
	finish();
	for (y = 0; y < 2; y++) {
		for (x = 0; x < 300; x++) {
			const u8 *at = b->mem + BOARD_OUT + 16 +
				       16 * (300 * y + x);

			for (o = 0; o < 16; o++)
				assert_int_equal(at[o], x >= 290 ? 0xee :
					(u8)acc_at(7 + 290 * y + x, o));
		}
	}
	assert_int_equal(board_report(b).bytes_written, 2 * 290 * 16);
}

static s32 dot(const s8 *x, const s8 *w)
{
	s32 sum = 0;
	u32 c;

	for (c = 0; c < 16; c++)
		sum += x[c] * w[c];
	return sum;
}

/* Weights are used again and again, and changed in between. */
static void gemm(const struct npu_core_kernels *kernels)
{
	u32 want[128][16];
	u32 i, j, u, o;

	npu_core_set_kernels(b->core, kernels);
	uop(0, 0, 1, 2);
	uop(1, 1, 3, 9);
	uop(2, 0, 0, 30);
	begin(3, 128);
	load_inp_wgt(64, 64);
	memset(b->mem + VA_INP, 0x80, 256);
	memset(b->mem + VA_WGT, 0x80, 4 * 256);
	memcpy(want, b->mem + VA_ACC, sizeof(want));
	BOARD_GEMM(b, .uop_bgn = 0, .uop_end = 3, .iter_out = 5, .iter_in = 7,
		   .dst_factor_out = 14, .dst_factor_in = 2,
		   .src_factor_out = 3, .src_factor_in = 4,
		   .wgt_factor_out = 1, .wgt_factor_in = 2, .pop_prev = 1);
	BOARD_FINISH(b);
	board_expect_done(b);
	for (i = 0; i < 5; i++) {
		for (j = 0; j < 7; j++) {
			for (u = 0; u < 3; u++) {
				u32 d = "\0\1\0"[u] + 14 * i + 2 * j;
				u32 s = "\1\3\0"[u] + 3 * i + 4 * j;
				u32 w = "\2\11\36"[u] + i + 2 * j;

				for (o = 0; o < 16; o++)
					want[d][o] += dot(inp_at(s), wgt_at(w) +
							  16 * o);
			}
		}
	}
	for (i = 0; i < 128; i++)
		expect_lanes(i, (s32 *)want[i]);
	assert_int_equal(board_report(b).macs, 5 * 7 * 3 * 256);
}

static void gemm_portable(void **state)
{
	(void)state;
	gemm(npu_core_kernels_portable());
	board_clear(b);
	gemm(npu_core_kernels_portable());
}

static void gemm_native(void **state)
{
	(void)state;
	gemm(npu_core_kernels_native());
	board_clear(b);
	gemm(npu_core_kernels_native());
}

/*
 * Weights that have been used, again and again, change: by LOAD, by padding,
 * and by a new program that does not load them.
 */
static void weights_change(const struct npu_core_kernels *kernels)
{
	const s32 zero[16] = { 0 };
	s32 want[16];
	u32 job, o;

	npu_core_set_kernels(b->core, kernels);
	board_noise(b, VA_INP, 16, &rnd);
	board_noise(b, VA_WGT, 2 * 256, &rnd);
	for (job = 0; job < 2; job++) {
		board_clear(b);
		uop(0, 0, 0, 5);
		begin(1, 0);
		BOARD_ROW(b, INP, 0, 1, VA_INP);
		BOARD_ROW(b, WGT, 5, 1, VA_WGT, .push_next = 1);
		BOARD_GEMM(b, .uop_end = 1, .iter_out = 1, .iter_in = 4,
			   .pop_prev = 1, .push_prev = 1);
		BOARD_ROW(b, WGT, 5, 1, VA_WGT + 256, .pop_next = 1,
			  .push_next = 1);
		BOARD_GEMM(b, .uop_end = 1, .iter_out = 1, .iter_in = 3,
			   .pop_prev = 1, .push_prev = 1);
		BOARD_LOAD(b, .memory = NPU_MEM_WGT, .sram_base = 5,
			   .y_size = 0, .x_size = 1, .y_pad_0 = 1,
			   .pop_next = 1, .push_next = 1);
		BOARD_GEMM(b, .uop_end = 1, .iter_out = 1, .iter_in = 2,
			   .pop_prev = 1);
		finish();
		for (o = 0; o < 16; o++)
			want[o] = 4 * dot(inp_at(0), wgt_at(0) + 16 * o) +
				  3 * dot(inp_at(0), wgt_at(1) + 16 * o);
		expect_lanes(0, want);
		/* Leave weights behind that are ready for use. */
		board_clear(b);
		begin(1, 0);
		BOARD_ROW(b, INP, 0, 1, VA_INP);
		BOARD_ROW(b, WGT, 5, 1, VA_WGT, .push_next = 1);
		BOARD_GEMM(b, .uop_end = 1, .iter_out = 1, .iter_in = 4,
			   .pop_prev = 1);
		finish();
		board_clear(b);
		begin(1, 0);
		BOARD_ROW(b, INP, 0, 1, VA_INP, .push_next = 1);
		BOARD_GEMM(b, .uop_end = 1, .iter_out = 1, .iter_in = 4,
			   .pop_prev = 1);
		finish();
		expect_lanes(0, zero);
	}
}

static void weights_portable(void **state)
{
	(void)state;
	weights_change(npu_core_kernels_portable());
}

static void weights_native(void **state)
{
	(void)state;
	weights_change(npu_core_kernels_native());
}

static void gemm_reset(void **state)
{
	const s32 zero[16] = { 0 };
	u32 i;

	(void)state;
	/* Source and weight are out of range, and not looked at. */
	uop(0, 1, 2047, 1023);
	begin(1, 64);
	BOARD_GEMM(b, .reset = 1, .uop_end = 1, .iter_out = 4, .iter_in = 3,
		   .dst_factor_out = 16, .dst_factor_in = 2,
		   .src_factor_out = 2047, .wgt_factor_in = 1023);
	finish();
	for (i = 0; i < 64; i++)
		expect_lanes(i, i % 16 % 2 == 1 && i % 16 < 6 ? zero :
			     (s32 *)(b->mem + VA_ACC + 64 * i));
	assert_int_equal(board_report(b).macs, 0);
}

static void gemm_nothing(void **state)
{
	(void)state;
	uop(0, 0, 0, 0);
	begin(1, 1);
	BOARD_GEMM(b, .reset = 1, .uop_end = 1, .iter_out = 0, .iter_in = 9);
	BOARD_GEMM(b, .reset = 1, .uop_end = 1, .iter_out = 9, .iter_in = 0);
	BOARD_GEMM(b, .reset = 1, .uop_bgn = 1, .uop_end = 1, .iter_out = 1,
		   .iter_in = 1);
	BOARD_GEMM(b, .reset = 1, .uop_bgn = 8191, .uop_end = 2, .iter_out = 1,
		   .iter_in = 1);
	finish();
	expect_lanes(0, (s32 *)(b->mem + VA_ACC));
}

static s32 alu(u32 op, s32 x, s32 y)
{
	switch (op) {
	case NPU_ALU_MIN:
		return x < y ? x : y;
	case NPU_ALU_MAX:
		return x < y ? y : x;
	case NPU_ALU_ADD:
		return (u32)((s64)x + y);
	case NPU_ALU_MUL:
		return (u32)((s64)x * y);
	}
	if (y >= 0)
		return x >> y % 32;
	return (u32)x << -(s64)y % 32;
}

static const s32 special[] = {
	0, 1, -1, 2, 31, 32, 33, -31, -32, -33, 127, -128, 0x7fff, -0x8000,
	0x7fffffff, -0x7fffffff - 1, -0x7fffffff, 0x40000000,
};

/* Element 0 .. 63 op element 64 .. 127, random and special values mixed. */
static void alu_reg(const struct npu_core_kernels *kernels)
{
	u32 op, i, o;

	npu_core_set_kernels(b->core, kernels);
	uop(0, 0, 64, 0);
	for (op = NPU_ALU_MIN; op <= NPU_ALU_MUL; op++) {
		board_clear(b);
		begin(1, 0);
		board_noise(b, VA_ACC, 64 * 128, &rnd);
		for (i = 0; i < 2048; i++) {
			if (random_chance(&rnd, 50))
				board_put32(b, VA_ACC + 4 * i,
					    special[random_below(&rnd, 18)]);
		}
		BOARD_ROW(b, ACC, 0, 128, VA_ACC);
		BOARD_ALU(b, .alu_op = op, .uop_end = 1, .iter_out = 8,
			  .iter_in = 8, .dst_factor_out = 8,
			  .dst_factor_in = 1, .src_factor_out = 8,
			  .src_factor_in = 1);
		finish();
		for (i = 0; i < 64; i++) {
			for (o = 0; o < 16; o++)
				assert_int_equal(board_acc(b, i)[o],
					alu(op, acc_at(i, o),
					    acc_at(i + 64, o)));
		}
	}
}

static void alu_imm(const struct npu_core_kernels *kernels)
{
	static const s16 imm[] = { 0, 1, -1, 5, 31, 32, -3, -31, -32, -33,
				   0x7fff, -0x8000, 127, -128 };
	u32 op, k, o;

	npu_core_set_kernels(b->core, kernels);
	for (k = 0; k < 14; k++)
		uop(k, k, 2047, 0);
	for (op = NPU_ALU_MIN; op <= NPU_ALU_MUL; op++) {
		board_clear(b);
		begin(14, 14);
		for (k = 0; k < 14; k++)
			BOARD_ALU(b, .alu_op = op, .use_imm = 1, .imm = imm[k],
				  .uop_bgn = k, .uop_end = k + 1,
				  .iter_out = 1, .iter_in = 1, .reset = k & 1,
				  .src_factor_out = 2047);
		finish();
		for (k = 0; k < 14; k++) {
			for (o = 0; o < 16; o++)
				assert_int_equal(board_acc(b, k)[o],
					alu(op, acc_at(k, o), imm[k]));
		}
	}
}

static void alu_portable(void **state)
{
	(void)state;
	alu_reg(npu_core_kernels_portable());
	alu_imm(npu_core_kernels_portable());
}

static void alu_native(void **state)
{
	(void)state;
	alu_reg(npu_core_kernels_native());
	alu_imm(npu_core_kernels_native());
}

/* Micro-ops in sequence feed each other; a source may be the destination. */
static void alu_chain(void **state)
{
	u32 i, o;

	(void)state;
	uop(0, 1, 0, 0);
	uop(1, 2, 2, 0);
	begin(2, 9);
	BOARD_ALU(b, .alu_op = NPU_ALU_ADD, .uop_end = 1, .iter_out = 1,
		  .iter_in = 8, .dst_factor_in = 1, .src_factor_in = 1);
	BOARD_ALU(b, .alu_op = NPU_ALU_MUL, .uop_bgn = 1, .uop_end = 2,
		  .iter_out = 1, .iter_in = 1);
	finish();
	for (o = 0; o < 16; o++) {
		u32 sum = acc_at(0, o);

		for (i = 1; i <= 8; i++) {
			sum += acc_at(i, o);
			assert_int_equal((u32)board_acc(b, i)[o],
					 i == 2 ? sum * sum : sum);
		}
	}
}

static u32 bounds(s32 zero_point, s32 lo, s32 hi)
{
	return (zero_point & 1023) | (lo & 1023) << 10 | (u32)(hi & 1023) << 20;
}

/* By hand: (acc + bias) / 4, ties to even, clipped, plus zero point. */
static void requant(const struct npu_core_kernels *kernels)
{
	static const s32 in[16] = { 0, 1, 2, 3, 4, 6, 10, -2, -6, 1000, -1000,
				    508, 510, -518, 7, -7 };
	static const s32 out[16] = { 0, 0, 0, 1, 1, 2, 2, 0, -2, 127, -128,
				     127, 127, -128, 2, -2 };
	u32 o;

	npu_core_set_kernels(b->core, kernels);
	uop(0, 9, 0, 0);
	begin(1, 10);
	for (o = 0; o < 16; o++) {
		board_put32(b, VA_ACC + 4 * o, 0x3e800000);
		board_put32(b, VA_ACC + 64 + 4 * o,
			    bounds(o, -128, 127) | 3u << 30);
		board_put32(b, VA_ACC + 128 + 4 * o, o * 100);
		board_put32(b, VA_ACC + 64 * 9 + 4 * o, in[o] - o * 100);
	}
	BOARD_EXT(b, REQUANT, requant, .uop_end = 1, .iter_out = 1,
		  .iter_in = 1);
	finish();
	for (o = 0; o < 16; o++)
		assert_int_equal(board_acc(b, 9)[o], out[o] + (s32)o);
}

/* The destination is one of the parameter rows. */
static void requant_in_place(const struct npu_core_kernels *kernels)
{
	u32 d, o;

	npu_core_set_kernels(b->core, kernels);
	for (d = 0; d < 3; d++) {
		board_clear(b);
		uop(0, d, 0, 0);
		begin(1, 3);
		for (o = 0; o < 16; o++) {
			board_put32(b, VA_ACC + 4 * o, 0x3f800000);
			board_put32(b, VA_ACC + 64 + 4 * o,
				    bounds(-3, -512, 511));
			board_put32(b, VA_ACC + 128 + 4 * o, 50 - o);
		}
		BOARD_EXT(b, REQUANT, requant, .uop_end = 1, .iter_out = 1,
			  .iter_in = 1);
		finish();
		for (o = 0; o < 16; o++)
			assert_int_equal(board_acc(b, d)[o],
				d == 2 ? 100 - 2 * (s32)o - 3 : 511 - 3);
	}
}

static void requant_portable(void **state)
{
	(void)state;
	requant(npu_core_kernels_portable());
	requant_in_place(npu_core_kernels_portable());
}

static void requant_native(void **state)
{
	(void)state;
	requant(npu_core_kernels_native());
	board_clear(b);
	requant_in_place(npu_core_kernels_native());
}

static void vmac(const struct npu_core_kernels *kernels)
{
	u32 i, j, o;

	npu_core_set_kernels(b->core, kernels);
	uop(0, 0, 1, 1000);
	begin(1, 64);
	load_inp_wgt(64, 512);
	BOARD_EXT(b, VMAC, vmac, .pop_prev = 1, .uop_end = 1, .iter_out = 8,
		  .iter_in = 8, .dst_factor_out = 8, .dst_factor_in = 1,
		  .src_factor_out = 1, .src_factor_in = 7,
		  .wgt_factor_out = 255, .wgt_factor_in = 254);
	BOARD_EXT(b, VMAC, vmac, .reset = 1, .uop_end = 1, .iter_out = 1,
		  .iter_in = 1, .dst_factor_out = 1);
	BOARD_FINISH(b);
	board_expect_done(b);
	for (i = 0; i < 8; i++) {
		for (j = 0; j < 8; j++) {
			u32 w = 1000 + 255 * i + 254 * j;

			for (o = 0; o < 16; o++)
				assert_int_equal(board_acc(b, 8 * i + j)[o],
					!i && !j ? 0 : (s32)((u32)acc_at(8 * i + j, o) +
					inp_at(1 + i + 7 * j)[o] *
					wgt_at(w / 16)[w % 16 * 16 + o]));
		}
	}
	assert_int_equal(board_report(b).macs, 64 * 16);
}

static void vmac_portable(void **state)
{
	(void)state;
	vmac(npu_core_kernels_portable());
}

static void vmac_native(void **state)
{
	(void)state;
	vmac(npu_core_kernels_native());
}

static void lut(const struct npu_core_kernels *kernels)
{
	u32 i, o;

	npu_core_set_kernels(b->core, kernels);
	uop(0, 64, 0, 0);
	begin(1, 64);
	load_inp_wgt(1, 4);
	BOARD_EXT(b, LUT, lut, .pop_prev = 1, .uop_end = 1, .iter_out = 1,
		  .iter_in = 64, .dst_factor_in = 1, .src_factor_in = 1,
		  .table = 3);
	BOARD_EXT(b, LUT, lut, .uop_end = 1, .iter_out = 1, .iter_in = 1,
		  .dst_factor_in = 1, .table = 1023);
	BOARD_FINISH(b);
	board_expect_done(b);
	for (i = 0; i < 64; i++) {
		for (o = 0; o < 16; o++)
			assert_int_equal(board_acc(b, 64 + i)[o], !i ? 0 :
				wgt_at(3)[acc_at(i, o) & 255]);
	}
}

static void lut_portable(void **state)
{
	(void)state;
	lut(npu_core_kernels_portable());
}

static void lut_native(void **state)
{
	(void)state;
	lut(npu_core_kernels_native());
}

/* 2 x 600 micro-ops: pieces of 1024 end inside a run and inside a loop. */
static void long_loops(void **state)
{
	u32 i, o;

	(void)state;
	for (i = 0; i < 600; i++)
		uop(i, i, i, 0);
	begin(600, 602);
	BOARD_ALU(b, .alu_op = NPU_ALU_ADD, .use_imm = 1, .imm = 1,
		  .uop_end = 600, .iter_out = 3, .iter_in = 2,
		  .dst_factor_out = 1, .dst_factor_in = 0);
	BOARD_ALU(b, .alu_op = NPU_ALU_ADD, .use_imm = 1, .imm = 100,
		  .uop_end = 1, .iter_out = 5, .iter_in = 500,
		  .dst_factor_in = 1);
	finish();
	for (i = 0; i < 602; i++) {
		/* Added 2 for each of the offsets 0, 1, 2 that reaches i. */
		s32 add = 2 * ((i < 600) + (i >= 1 && i < 601) + (i >= 2));

		for (o = 0; o < 16; o++)
			assert_int_equal(board_acc(b, i)[o], (s32)
				(acc_at(i, o) + (u32)add + (i < 500 ? 500 : 0)));
	}
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(load_acc),
		TEST(load_acc8),
		TEST(load_padding),
		TEST(load_padding_narrow),
		TEST(store),
		TEST(gemm_portable),
		TEST(gemm_native),
		TEST(weights_portable),
		TEST(weights_native),
		TEST(gemm_reset),
		TEST(gemm_nothing),
		TEST(alu_portable),
		TEST(alu_native),
		TEST(alu_chain),
		TEST(requant_portable),
		TEST(requant_native),
		TEST(vmac_portable),
		TEST(vmac_native),
		TEST(lut_portable),
		TEST(lut_native),
		TEST(long_loops),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
