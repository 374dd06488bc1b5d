// SPDX-License-Identifier: MIT
/*
 * The second interpreter against results worked out by hand, and what the
 * generator of random programs promises.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "tests/oracle/generator.h"
#include "tests/oracle/oracle.h"
#include "userspace/isa/npu_insn.h"
#include "npu_proto.h"
#include "npu_regs.h"

enum {
	DATA = 0x10000,			/* rw, 64 KiB */
	OUT = 0x18000,			/* in it: where results go */
	CODE = 0x40000,
	REGIONS = 0x80000,
};

struct bench {
	struct address_space space;
	struct segment *data;
	struct segment *code;
	struct oracle_program program;
	struct oracle_result result;
};

static void set_up(struct bench *b)
{
	memset(b, 0, sizeof(*b));
	b->data = address_space_add(&b->space, DATA, 0x10000, "rw");
	b->code = address_space_add(&b->space, CODE, 0x4000, "x");
	assert_true(b->data && b->code);
	memset(b->data->bytes + (OUT - DATA), 0xee, 0x8000);
	b->program = (struct oracle_program){
		.memory = { &b->space, address_space_read, address_space_write },
		.insn_va = CODE,
		.features = 0x1f,
	};
}

static void tear_down(struct bench *b)
{
	address_space_free(&b->space);
}

static void put32(struct bench *b, uint32_t va, uint32_t value)
{
	for (int i = 0; i < 4; i++)
		b->data->bytes[va - DATA + i] = value >> 8 * i & 0xff;
}

static void emit(struct bench *b, const struct npu_insn *insn)
{
	uint8_t *word = b->code->bytes + b->program.insn_count++ * NPU_INSN_BYTES;

	assert_int_equal(npu_insn_encode(insn, word, NULL), 0);
}

#define EMIT(b, format_, member, ...) \
	emit(b, &(struct npu_insn){ .format = NPU_FORMAT_##format_, .member = { __VA_ARGS__ } })
#define MEM(b, ...) EMIT(b, MEM, mem, __VA_ARGS__)
/* One row of n elements to an SRAM index. */
#define ROW(b, name, index, n, va, ...) \
	MEM(b, .opcode = NPU_OP_LOAD, .memory = NPU_MEM_##name, .sram_base = (index), \
	    .dram_base = (va) / NPU_##name##_BYTES, .y_size = 1, .x_size = (n), __VA_ARGS__)
#define EXT(b, format_, member, ...) \
	EMIT(b, format_, member, .opcode = NPU_OP_EXT, .ext_op = NPU_EXT_##format_, \
	     ##__VA_ARGS__)
#define ONCE .uop_end = 1, .iter_out = 1, .iter_in = 1

/* One micro-op at address va and in UOP 0. */
static void uop(struct bench *b, uint32_t va, int64_t dst, int64_t src, int64_t wgt)
{
	const struct npu_uop fields = { dst, src, wgt };
	uint32_t word;

	assert_int_equal(npu_uop_pack(&fields, &word, NULL), 0);
	put32(b, va, word);
	ROW(b, UOP, 0, 1, va);
}

/* Everything before it, in order: the store unit waits for the compute unit. */
static void store_row(struct bench *b, int64_t index, int64_t n, uint32_t va)
{
	MEM(b, .opcode = NPU_OP_LOAD, .memory = NPU_MEM_ACC, .push_next = 1);
	MEM(b, .opcode = NPU_OP_STORE, .memory = NPU_MEM_OUT, .sram_base = index,
	    .dram_base = va / 16, .y_size = 1, .x_size = n, .pop_prev = 1, .push_prev = 1);
	MEM(b, .opcode = NPU_OP_LOAD, .memory = NPU_MEM_ACC, .pop_next = 1);
}

/* Loads of the load unit are over before what follows. */
static void wait_for_load(struct bench *b)
{
	MEM(b, .opcode = NPU_OP_LOAD, .memory = NPU_MEM_INP, .push_next = 1);
	MEM(b, .opcode = NPU_OP_LOAD, .memory = NPU_MEM_ACC, .pop_prev = 1);
}

static void run(struct bench *b)
{
	EMIT(b, FINISH, finish, .opcode = NPU_OP_FINISH);
	assert_int_equal(oracle_run(&b->program, &b->result), 0);
}

static void run_well(struct bench *b)
{
	run(b);
	assert_int_equal(b->result.fault_code, NPU_FAULT_NONE);
	assert_int_equal(b->result.insn, b->program.insn_count);
}

static void expect_fault(struct bench *b, uint8_t code, uint8_t unit, uint32_t insn, uint64_t va)
{
	run(b);
	assert_int_equal(b->result.fault_code, code);
	assert_int_equal(b->result.fault_unit, unit);
	assert_int_equal(b->result.insn, insn);
	assert_true(b->result.fault_va == va);
	tear_down(b);
}

static int8_t out(const struct bench *b, uint32_t va)
{
	return (int8_t)b->data->bytes[va - DATA];
}

/* The low bytes of 4 lanes of element 0 after its low byte was stored. */
static void assert_out(const struct bench *b, uint32_t va, int a, int c, int d, int e)
{
	assert_int_equal(out(b, va), a);
	assert_int_equal(out(b, va + 1), c);
	assert_int_equal(out(b, va + 2), d);
	assert_int_equal(out(b, va + 3), e);
}

/* Each lane as 32 bits: the low byte, then three shifts by 8. */
static uint32_t lane(struct bench *b, uint32_t va, int o)
{
	uint32_t value = 0;

	for (int i = 3; i >= 0; i--)
		value = value << 8 | b->data->bytes[va - DATA + 16 * i + o];
	return value;
}

/* Stores ACC[index] as four rows of bytes; destroys it. Needs UOP 0 = index. */
static void store_wide(struct bench *b, int64_t index, uint32_t va)
{
	for (int i = 0; i < 4; i++) {
		store_row(b, index, 1, va + 16 * (uint32_t)i);
		EMIT(b, ALU, alu, .opcode = NPU_OP_ALU, .alu_op = NPU_ALU_SHR, .use_imm = 1,
		     .imm = 8, ONCE);
	}
}

static void test_load_and_store(void **state)
{
	struct bench b;
	(void)state;

	set_up(&b);
	for (uint32_t i = 0; i < 12 * 16; i++)
		put32(&b, DATA + 4 * i, i);	/* ACC element e, lane o: 16 e + o */
	/* Rows 0 and 1 of two elements, 3 apart, with padding all around. */
	MEM(&b, .opcode = NPU_OP_LOAD, .memory = NPU_MEM_ACC, .sram_base = 100,
	    .dram_base = DATA / 64, .y_size = 2, .x_size = 2, .x_stride = 3, .y_pad_0 = 1,
	    .y_pad_1 = 1, .x_pad_0 = 1, .x_pad_1 = 2);
	store_row(&b, 100, 20, OUT);
	run_well(&b);
	for (int i = 0; i < 20; i++) {
		static const int element[20] = { -1, -1, -1, -1, -1, -1, 0, 1, -1, -1,
						 -1, 3, 4, -1, -1, -1, -1, -1, -1, -1 };

		for (int o = 0; o < 16; o++)
			assert_int_equal(out(&b, OUT + (uint32_t)(16 * i + o)),
					 element[i] < 0 ? 0 : (int8_t)(16 * element[i] + o));
	}
	assert_int_equal(out(&b, OUT + 320), (int8_t)0xee);
	/* Six instructions, four elements; the row that was stored. */
	assert_int_equal(b.result.bytes_read, 5 * 16 + 4 * 64);
	assert_int_equal(b.result.bytes_written, 320);
	tear_down(&b);
}

static void test_load_acc8_and_padding(void **state)
{
	struct bench b;
	(void)state;

	set_up(&b);
	put32(&b, DATA, 0x807f01ff);	/* -1, 1, 127, -128 */
	uop(&b, DATA + 0x100, 5, 5, 0);
	EXT(&b, PAD_VALUE, pad_value, .unit = NPU_PAD_UNIT_COMPUTE, .value = -70000);
	EXT(&b, PAD_VALUE, pad_value, .unit = NPU_PAD_UNIT_LOAD, .value = 3);
	MEM(&b, .opcode = NPU_OP_LOAD, .memory = NPU_MEM_ACC8, .sram_base = 4,
	    .dram_base = DATA / 16, .y_size = 1, .x_size = 1, .x_pad_0 = 1, .x_pad_1 = 1,
	    .pad_mode = NPU_PAD_VALUE);
	store_row(&b, 4, 1, OUT + 0x100);
	store_row(&b, 6, 1, OUT + 0x110);
	store_wide(&b, 5, OUT);
	run_well(&b);
	assert_int_equal(lane(&b, OUT, 0), 0xffffffff);
	assert_int_equal(lane(&b, OUT, 1), 1);
	assert_int_equal(lane(&b, OUT, 2), 127);
	assert_int_equal(lane(&b, OUT, 3), 0xffffff80);
	/* -70000 is 0xfffeee90. */
	assert_int_equal(out(&b, OUT + 0x100), (int8_t)0x90);
	assert_int_equal(out(&b, OUT + 0x11f), (int8_t)0x90);
	tear_down(&b);
}

static void test_invalid_elements_are_zero(void **state)
{
	struct bench b;
	(void)state;

	set_up(&b);
	store_row(&b, 7, 1, OUT);
	uop(&b, DATA, 0, 0, 0);
	EMIT(&b, ALU, alu, .opcode = NPU_OP_ALU, .alu_op = NPU_ALU_ADD, .use_imm = 1, .imm = 5,
	     ONCE);
	/* Invalid micro-ops, too: each adds 1 to ACC[0]. */
	EMIT(&b, ALU, alu, .opcode = NPU_OP_ALU, .alu_op = NPU_ALU_ADD, .use_imm = 1, .imm = 1,
	     .uop_bgn = 10, .uop_end = 13, .iter_out = 1, .iter_in = 2);
	store_row(&b, 0, 1, OUT + 16);
	EXT(&b, YIELD, yield);
	store_row(&b, 0, 1, OUT + 32);
	run_well(&b);
	assert_out(&b, OUT, 0, 0, 0, 0);
	assert_out(&b, OUT + 16, 11, 11, 11, 11);
	assert_out(&b, OUT + 32, 0, 0, 0, 0);
	tear_down(&b);
}

static void test_gemm(void **state)
{
	struct bench b;
	(void)state;

	set_up(&b);
	/* inp[0] = 1, 2, 0 ...; inp[1] = -3, 0 ...; wgt[0][o][0] = o, wgt[0][o][1] = 10 */
	b.data->bytes[0] = 1;
	b.data->bytes[1] = 2;
	b.data->bytes[16] = 0xfd;
	for (int o = 0; o < 16; o++) {
		b.data->bytes[0x400 + 16 * o] = (uint8_t)o;
		b.data->bytes[0x400 + 16 * o + 1] = 10;
	}
	ROW(&b, INP, 0, 2, DATA);
	ROW(&b, WGT, 9, 1, DATA + 0x400);
	wait_for_load(&b);
	uop(&b, DATA + 0x800, 20, 0, 9);
	/* d = 20, 21 for s = 0, 1; twice: the outer loop moves nothing. */
	EMIT(&b, GEMM, gemm, .opcode = NPU_OP_GEMM, .uop_end = 1, .iter_out = 2, .iter_in = 2,
	     .dst_factor_in = 1, .src_factor_in = 1);
	store_row(&b, 20, 2, OUT);
	EMIT(&b, GEMM, gemm, .opcode = NPU_OP_GEMM, .reset = 1, ONCE);
	store_row(&b, 20, 2, OUT + 32);
	run_well(&b);
	for (int o = 0; o < 16; o++) {
		assert_int_equal(out(&b, OUT + (uint32_t)o), 2 * (o + 20));
		assert_int_equal(out(&b, OUT + 16 + (uint32_t)o), 2 * -3 * o);
		assert_int_equal(out(&b, OUT + 32 + (uint32_t)o), 0);
		assert_int_equal(out(&b, OUT + 48 + (uint32_t)o), 2 * -3 * o);
	}
	assert_int_equal(b.result.macs, 4 * 256);
	tear_down(&b);
}

static uint32_t alu(unsigned int op, uint32_t a, uint32_t second, bool immediate)
{
	struct bench b;
	uint32_t value;

	set_up(&b);
	put32(&b, DATA, a);
	put32(&b, DATA + 64, second);
	ROW(&b, ACC, 0, 2, DATA);
	uop(&b, DATA + 0x100, 0, 1, 0);
	EMIT(&b, ALU, alu, .opcode = NPU_OP_ALU, .alu_op = op, .use_imm = immediate,
	     .imm = immediate ? (int32_t)second : 0, ONCE);
	store_wide(&b, 0, OUT);
	run_well(&b);
	value = lane(&b, OUT, 0);
	tear_down(&b);
	return value;
}

static void test_alu(void **state)
{
	static const struct {
		unsigned int op;
		uint32_t a, b, result;
	} cases[] = {
		{ NPU_ALU_MIN, 5, (uint32_t)-6, (uint32_t)-6 },
		{ NPU_ALU_MAX, 5, (uint32_t)-6, 5 },
		{ NPU_ALU_ADD, 0x7fffffff, 1, 0x80000000 },
		{ NPU_ALU_ADD, 7, (uint32_t)-9, (uint32_t)-2 },
		{ NPU_ALU_SHR, 0x80000000, 4, 0xf8000000 },
		{ NPU_ALU_SHR, (uint32_t)-1, 31, (uint32_t)-1 },
		{ NPU_ALU_SHR, 0x1234, 36, 0x123 },	/* 36 & 31 is 4 */
		{ NPU_ALU_SHR, 0x1234, (uint32_t)-4, 0x12340 },
		{ NPU_ALU_SHR, 0xc0000001, (uint32_t)-1, 0x80000002 },
		{ NPU_ALU_SHR, 0x1234, (uint32_t)-32, 0x1234 },
		{ NPU_ALU_MUL, 0x10001, 0x7001, 0x70017001 },
		{ NPU_ALU_MUL, (uint32_t)-3, 7, (uint32_t)-21 },
	};
	(void)state;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(alu(cases[i].op, cases[i].a, cases[i].b, false), cases[i].result);
		assert_int_equal(alu(cases[i].op, cases[i].a, cases[i].b, true), cases[i].result);
	}
	/* An amount of a register has 32 bits: the least one shifts left by 0. */
	assert_int_equal(alu(NPU_ALU_SHR, 9, 0x80000000, false), 9);
}

static int requant(int32_t acc, uint32_t scale, int zero_point, int lo, int hi, int32_t bias)
{
	const struct npu_requant_bounds fields = { zero_point, lo, hi };
	struct bench b;
	uint32_t word;
	int value;

	set_up(&b);
	put32(&b, DATA, scale);
	assert_int_equal(npu_requant_bounds_pack(&fields, &word, NULL), 0);
	put32(&b, DATA + 64, word | 0xc0000000);
	put32(&b, DATA + 128, (uint32_t)bias);
	put32(&b, DATA + 192, (uint32_t)acc);
	ROW(&b, ACC, 0, 4, DATA);
	uop(&b, DATA + 0x100, 3, 0, 0);
	EXT(&b, REQUANT, requant, ONCE);
	uop(&b, DATA + 0x110, 3, 3, 0);
	store_wide(&b, 3, OUT);
	run_well(&b);
	value = (int)lane(&b, OUT, 0);
	tear_down(&b);
	return value;
}

static void test_requant(void **state)
{
	(void)state;
	/* 0x3f000000 is 0.5: ties go to even. */
	assert_int_equal(requant(5, 0x3f000000, 0, -512, 511, 0), 2);
	assert_int_equal(requant(7, 0x3f000000, 0, -512, 511, 0), 4);
	assert_int_equal(requant(-5, 0x3f000000, 0, -512, 511, 0), -2);
	assert_int_equal(requant(5, 0x3f000000, 0, -512, 511, 2), 4);
	assert_int_equal(requant(100, 0x3f800000, -3, -128, 127, 0), 97);
	assert_int_equal(requant(1000, 0x3f800000, -3, -125, 130, 0), 127);
	assert_int_equal(requant(-1000, 0x3f800000, -3, -125, 130, 0), -128);
	/* lo above hi gives lo; the sum of accumulator and bias wraps. */
	assert_int_equal(requant(0, 0x3f800000, 1, 10, -10, 0), 11);
	assert_int_equal(requant(INT32_MAX, 0x3f800000, 0, -512, 511, 1), -512);
	/* No scale: negative, subnormal, infinite, NaN, 2^31. */
	assert_int_equal(requant(100, 0xbf800000, 0, -512, 511, 0), 0);
	assert_int_equal(requant(100, 0x007fffff, 0, -512, 511, 0), 0);
	assert_int_equal(requant(100, 0x7f800000, 0, -512, 511, 0), 0);
	assert_int_equal(requant(100, 0x7fc00000, 0, -512, 511, 0), 0);
	assert_int_equal(requant(100, 0x4f000000, 0, -512, 511, 0), 0);
	assert_int_equal(requant(100, 0x4effffff, 0, -512, 511, 0), 511);
	/* 2^24 + 1 is 2^24 in binary32; 0x33800000 is 2^-24. */
	assert_int_equal(requant((1 << 24) + 1, 0x33800000, 0, -512, 511, 0), 1);
	/* 25165824 * 2^-24 is 1.5, and so is 25165825 after rounding. */
	assert_int_equal(requant(25165825, 0x33800000, 0, -512, 511, 0), 2);
	assert_int_equal(requant(41943041, 0x33800000, 0, -512, 511, 0), 2);	/* 2.5 */
}

static void test_vmac_and_lut(void **state)
{
	struct bench b;
	(void)state;

	set_up(&b);
	for (int o = 0; o < 16; o++) {
		b.data->bytes[o] = (uint8_t)(o - 8);		/* inp[0][o] */
		for (int row = 0; row < 16; row++)	/* row r of element 2 of WGT: r */
			b.data->bytes[0x400 + 16 * row + o] = (uint8_t)row;
	}
	ROW(&b, INP, 0, 1, DATA);
	ROW(&b, WGT, 2, 1, DATA + 0x400);
	wait_for_load(&b);
	uop(&b, DATA + 0x800, 1, 0, 32 + 3);
	/* Rows 35, 37: 3 and 5. */
	EXT(&b, VMAC, vmac, .uop_end = 1, .iter_out = 1, .iter_in = 2, .wgt_factor_in = 2);
	store_row(&b, 1, 1, OUT);
	/* t[i] is i / 16. ACC[1][o] = 8 (o - 8): -64 ... 56. */
	EXT(&b, LUT, lut, .table = 2, ONCE);		/* acc[1] = t[acc[0]] = 0 */
	store_row(&b, 1, 1, OUT + 16);
	EXT(&b, VMAC, vmac, .uop_end = 1, .iter_out = 1, .iter_in = 2, .wgt_factor_in = 2);
	uop(&b, DATA + 0x810, 2, 1, 0);
	EXT(&b, LUT, lut, .table = 2, ONCE);
	store_row(&b, 2, 1, OUT + 32);
	uop(&b, DATA + 0x820, 1, 0, 0);
	EXT(&b, VMAC, vmac, .reset = 1, ONCE);
	store_row(&b, 1, 1, OUT + 48);
	run_well(&b);
	for (int o = 0; o < 16; o++) {
		assert_int_equal(out(&b, OUT + (uint32_t)o), 8 * (o - 8));
		assert_int_equal(out(&b, OUT + 16 + (uint32_t)o), 0);
		assert_int_equal(out(&b, OUT + 32 + (uint32_t)o), (8 * (o - 8) & 255) / 16);
		assert_int_equal(out(&b, OUT + 48 + (uint32_t)o), 0);
	}
	assert_int_equal(b.result.macs, 4 * 16);
	tear_down(&b);
}

static void set_regions(struct bench *b, const struct npu_region *regions, uint32_t count)
{
	struct segment *s = address_space_add(&b->space, REGIONS, MEMORY_PAGE, "r");

	assert_non_null(s);
	memcpy(s->bytes, regions, count * sizeof(*regions));
	b->program.region_va = REGIONS;
	b->program.region_count = count;
}

static void test_regions(void **state)
{
	struct npu_region regions[21] = { { DATA, 0x8000 }, { DATA + 64, 128 } };
	struct bench b;
	(void)state;

	set_up(&b);
	regions[16 + NPU_MEM_OUT] = (struct npu_region){ OUT, 0x1000 };
	set_regions(&b, regions, 21);
	put32(&b, DATA + 64, 7);
	put32(&b, DATA + 128, 9);
	MEM(&b, .opcode = NPU_OP_LOAD, .memory = NPU_MEM_ACC, .region = 1, .y_size = 1,
	    .x_size = 1);
	/* ACC8 has no legacy base in this table: entry 0. */
	MEM(&b, .opcode = NPU_OP_LOAD, .memory = NPU_MEM_ACC8, .sram_base = 1, .dram_base = 8,
	    .y_size = 1, .x_size = 1);
	store_row(&b, 0, 2, 16);	/* the legacy base of OUT */
	run_well(&b);
	assert_int_equal(out(&b, OUT + 16), 7);
	assert_int_equal(out(&b, OUT + 32), 9);
	assert_int_equal(b.result.bytes_read, 21 * 16 + 6 * 16 + 64 + 16);
	tear_down(&b);
}

static void test_region_faults(void **state)
{
	const struct npu_region regions[] = { { DATA, 64 }, { UINT64_MAX - 63, 128 } };
	struct bench b;
	(void)state;

	set_up(&b);
	set_regions(&b, regions, 2);
	MEM(&b, .opcode = NPU_OP_LOAD, .memory = NPU_MEM_INP, .dram_base = 3, .y_size = 2,
	    .x_size = 1, .x_stride = 1);
	expect_fault(&b, NPU_FAULT_REGION, NPU_UNIT_LOAD, 0, DATA + 64);
	set_up(&b);
	set_regions(&b, regions, 2);
	MEM(&b, .opcode = NPU_OP_STORE, .memory = NPU_MEM_OUT, .region = 2, .y_size = 1,
	    .x_size = 1);
	expect_fault(&b, NPU_FAULT_SELECTOR, NPU_UNIT_STORE, 0, 2);
	set_up(&b);
	set_regions(&b, regions, 2);
	MEM(&b, .opcode = NPU_OP_LOAD, .memory = NPU_MEM_ACC8, .region = 1, .dram_base = 3,
	    .y_size = 1, .x_size = 2);
	expect_fault(&b, NPU_FAULT_ADDRESS, NPU_UNIT_COMPUTE, 0, UINT64_MAX - 15);
	set_up(&b);
	set_regions(&b, &(struct npu_region){ DATA + 32, 64 }, 1);
	expect_fault(&b, NPU_FAULT_ALIGNMENT, NPU_UNIT_REGION, 0, DATA + 32);
	set_up(&b);
	b.program.region_va = REGIONS;
	b.program.region_count = 1;
	expect_fault(&b, NPU_FAULT_UNMAPPED, NPU_UNIT_REGION, 0, REGIONS);
}

static void test_sram_faults(void **state)
{
	struct bench b;
	(void)state;

	set_up(&b);
	ROW(&b, WGT, 1023, 2, DATA);
	expect_fault(&b, NPU_FAULT_SRAM, NPU_UNIT_LOAD, 0, 1024);
	set_up(&b);
	uop(&b, DATA, 2047, 0, 0);
	EMIT(&b, GEMM, gemm, .opcode = NPU_OP_GEMM, .reset = 1, .uop_end = 1, .iter_out = 1,
	     .iter_in = 2, .dst_factor_in = 3);
	expect_fault(&b, NPU_FAULT_SRAM, NPU_UNIT_COMPUTE, 1, 2050);
	set_up(&b);
	uop(&b, DATA, 0, 2047, 1023);
	EMIT(&b, GEMM, gemm, .opcode = NPU_OP_GEMM, .uop_end = 1, .iter_out = 2, .iter_in = 1,
	     .src_factor_out = 1, .wgt_factor_out = 1);
	expect_fault(&b, NPU_FAULT_SRAM, NPU_UNIT_COMPUTE, 1, 2048);
	set_up(&b);
	EMIT(&b, ALU, alu, .opcode = NPU_OP_ALU, .uop_end = 8193);
	expect_fault(&b, NPU_FAULT_SRAM, NPU_UNIT_COMPUTE, 0, 8193);
	set_up(&b);
	uop(&b, DATA, 0, 2046, 0);
	EXT(&b, REQUANT, requant, ONCE);
	expect_fault(&b, NPU_FAULT_SRAM, NPU_UNIT_COMPUTE, 1, 2046);
	set_up(&b);
	uop(&b, DATA, 0, 0, 1023);	/* 1023 + 60 * 255 is 16323, the next 16578 */
	EXT(&b, VMAC, vmac, .uop_end = 1, .iter_out = 1, .iter_in = 100, .wgt_factor_in = 255);
	expect_fault(&b, NPU_FAULT_SRAM, NPU_UNIT_COMPUTE, 1, 16578);
	set_up(&b);
	MEM(&b, .opcode = NPU_OP_STORE, .memory = NPU_MEM_OUT, .sram_base = 2047,
	    .dram_base = OUT / 16, .y_size = 1, .x_size = 2);
	expect_fault(&b, NPU_FAULT_SRAM, NPU_UNIT_STORE, 0, 2048);
}

static void test_other_faults(void **state)
{
	struct bench b;
	(void)state;

	set_up(&b);
	ROW(&b, INP, 0, 2, DATA + 0xfff0);
	expect_fault(&b, NPU_FAULT_UNMAPPED, NPU_UNIT_LOAD, 0, DATA + 0x10000);
	set_up(&b);
	MEM(&b, .opcode = NPU_OP_STORE, .memory = NPU_MEM_OUT, .dram_base = CODE / 16,
	    .y_size = 1, .x_size = 1);
	expect_fault(&b, NPU_FAULT_PERMISSION, NPU_UNIT_STORE, 0, CODE);
	set_up(&b);
	MEM(&b, .opcode = NPU_OP_LOAD, .memory = NPU_MEM_OUT);
	expect_fault(&b, NPU_FAULT_ILLEGAL, NPU_UNIT_COMPUTE, 0, 0);
	set_up(&b);
	b.program.features = 0x1f & ~NPU_HW_FEATURE_PAD_VALUE;
	EXT(&b, PAD_VALUE, pad_value, .unit = NPU_PAD_UNIT_LOAD);
	expect_fault(&b, NPU_FAULT_ILLEGAL, NPU_UNIT_LOAD, 0, 0);
	set_up(&b);
	MEM(&b, .opcode = NPU_OP_LOAD, .memory = NPU_MEM_INP);
	MEM(&b, .opcode = NPU_OP_STORE, .memory = NPU_MEM_OUT, .pop_prev = 1);
	expect_fault(&b, NPU_FAULT_DEADLOCK, NPU_UNIT_STORE, 1, 0);
	set_up(&b);
	EMIT(&b, FINISH, finish, .opcode = NPU_OP_FINISH);
	expect_fault(&b, NPU_FAULT_NO_FINISH, NPU_UNIT_FETCH, 0, 0);
	set_up(&b);
	b.program.insn_va += 8;
	expect_fault(&b, NPU_FAULT_ALIGNMENT, NPU_UNIT_FETCH, 0, CODE + 8);
	set_up(&b);
	for (int i = 0; i < 0x400; i++)
		MEM(&b, .opcode = NPU_OP_LOAD, .memory = NPU_MEM_INP);
	b.program.insn_count++;		/* FINISH lies where nothing is mapped */
	assert_int_equal(oracle_run(&b.program, &b.result), 0);
	assert_int_equal(b.result.fault_code, NPU_FAULT_UNMAPPED);
	assert_int_equal(b.result.fault_access, NPU_ACCESS_EXECUTE);
	assert_int_equal(b.result.insn, 0x400);
	tear_down(&b);
}

static struct oracle_result run_generated(struct generated *g)
{
	const struct oracle_program program = {
		.memory = { &g->space, address_space_read, address_space_write },
		.insn_va = g->insn_va,
		.insn_count = g->insn_count,
		.region_va = g->region_va,
		.region_count = g->region_count,
		.features = g->features,
	};
	struct oracle_result result;

	assert_int_equal(oracle_run(&program, &result), 0);
	return result;
}

static void test_generator_repeats(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed < 50; seed++) {
		struct generated a, b;

		assert_true(generate(&a, seed) && generate(&b, seed));
		run_generated(&a);
		run_generated(&b);
		assert_int_equal(a.space.count, b.space.count);
		for (unsigned int i = 0; i < a.space.count; i++) {
			assert_true(a.space.segments[i].va == b.space.segments[i].va);
			assert_memory_equal(a.space.segments[i].bytes, b.space.segments[i].bytes,
					    a.space.segments[i].size);
		}
		generated_free(&a);
		generated_free(&b);
	}
}

/* What the programs of some seeds hold, all together. */
struct census {
	unsigned int format[NPU_FORMAT_RESERVED + 1];
	unsigned int load[8];
	unsigned int alu_op[8];
	unsigned int fault[16];
	unsigned int fault_unit[8];
	unsigned int pads, pad_values, selectors, resets, yields;
	unsigned int quiet;		/* programs whose units hardly meet */
	unsigned int busy;		/* programs with a token every third instruction */
};

static void count_insn(struct census *c, const struct npu_insn *insn, unsigned int *tokens)
{
	struct npu_tokens flags = npu_insn_tokens(insn);

	c->format[insn->format]++;
	*tokens += flags.pop_prev + flags.pop_next;
	if (insn->format == NPU_FORMAT_MEM && insn->mem.x_size) {
		c->load[insn->mem.memory]++;
		c->pads += insn->mem.y_pad_0 && insn->mem.x_pad_1;
		c->pad_values += insn->mem.pad_mode == NPU_PAD_VALUE;
		c->selectors += insn->mem.region != 0;
	} else if (insn->format == NPU_FORMAT_ALU) {
		c->alu_op[insn->alu.alu_op]++;
	} else if (insn->format == NPU_FORMAT_GEMM) {
		c->resets += (unsigned int)insn->gemm.reset;
	}
}

static void count_program(struct census *c, struct generated *g)
{
	unsigned int tokens = 0;

	for (uint32_t i = 0; i < g->insn_count; i++) {
		uint8_t word[NPU_INSN_BYTES];
		struct npu_insn insn;
		uint64_t bad;

		if (address_space_read(&g->space, g->insn_va + 16 * (uint64_t)i, word, 16,
				       NPU_ACCESS_EXECUTE, &bad))
			break;
		npu_insn_decode(word, &insn);
		count_insn(c, &insn, &tokens);
	}
	c->fault[g->fault_code]++;
	c->fault_unit[g->fault_unit]++;
	c->yields += g->yields;
	if (g->insn_count >= 20) {
		c->quiet += tokens * 20 < g->insn_count;
		c->busy += tokens * 3 > g->insn_count;
	}
}

static void assert_common(const unsigned int *counts, const unsigned int *kinds, size_t n)
{
	for (size_t i = 0; i < n; i++)
		assert_in_range(counts[kinds[i]], 10, UINT32_MAX);
}

#define ASSERT_COMMON(counts, ...) \
	assert_common(counts, (const unsigned int[]){ __VA_ARGS__ }, \
		      sizeof((const unsigned int[]){ __VA_ARGS__ }) / sizeof(unsigned int))

/* All kinds of everything occur, and each planted fault is what comes of it. */
static void test_generator_census(void **state)
{
	struct census c = { 0 };
	(void)state;

	for (uint64_t seed = 100000; seed < 104000; seed++) {
		struct oracle_result result;
		struct generated g;

		assert_true(generate(&g, seed));
		count_program(&c, &g);
		result = run_generated(&g);
		assert_int_equal(result.fault_code, g.fault_code);
		if (g.fault_code) {
			assert_int_equal(result.fault_unit, g.fault_unit);
			assert_int_equal(result.insn, g.fault_insn);
		}
		generated_free(&g);
	}
	for (unsigned int i = 0; i <= NPU_FORMAT_RESERVED; i++)
		assert_in_range(c.format[i], 10, UINT32_MAX);
	ASSERT_COMMON(c.load, NPU_MEM_UOP, NPU_MEM_WGT, NPU_MEM_INP, NPU_MEM_ACC, NPU_MEM_ACC8,
		      NPU_MEM_OUT);
	ASSERT_COMMON(c.alu_op, NPU_ALU_MIN, NPU_ALU_MAX, NPU_ALU_ADD, NPU_ALU_SHR, NPU_ALU_MUL);
	ASSERT_COMMON(c.fault, NPU_FAULT_NONE, NPU_FAULT_UNMAPPED, NPU_FAULT_PERMISSION,
		      NPU_FAULT_ADDRESS, NPU_FAULT_REGION, NPU_FAULT_SELECTOR, NPU_FAULT_ALIGNMENT,
		      NPU_FAULT_SRAM, NPU_FAULT_ILLEGAL, NPU_FAULT_DEADLOCK, NPU_FAULT_NO_FINISH);
	ASSERT_COMMON(c.fault_unit, NPU_UNIT_FETCH, NPU_UNIT_LOAD, NPU_UNIT_COMPUTE,
		      NPU_UNIT_STORE, NPU_UNIT_REGION);
	assert_in_range(c.pads, 100, UINT32_MAX);
	assert_in_range(c.pad_values, 100, UINT32_MAX);
	assert_in_range(c.selectors, 1000, UINT32_MAX);
	assert_in_range(c.resets, 100, UINT32_MAX);
	assert_in_range(c.yields, 100, UINT32_MAX);
	assert_in_range(c.quiet, 100, UINT32_MAX);
	assert_in_range(c.busy, 100, UINT32_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_load_and_store),
		cmocka_unit_test(test_load_acc8_and_padding),
		cmocka_unit_test(test_invalid_elements_are_zero),
		cmocka_unit_test(test_gemm),
		cmocka_unit_test(test_alu),
		cmocka_unit_test(test_requant),
		cmocka_unit_test(test_vmac_and_lut),
		cmocka_unit_test(test_regions),
		cmocka_unit_test(test_region_faults),
		cmocka_unit_test(test_sram_faults),
		cmocka_unit_test(test_other_faults),
		cmocka_unit_test(test_generator_repeats),
		cmocka_unit_test(test_generator_census),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
