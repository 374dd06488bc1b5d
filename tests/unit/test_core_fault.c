// SPDX-License-Identifier: MIT
/* Every fault of the compute core: code, unit, instruction, address, access. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "tests/unit/core_board.h"

#define READ	NPU_ACCESS_READ
#define WRITE	NPU_ACCESS_WRITE
#define EXECUTE	NPU_ACCESS_EXECUTE
#define VA_UOP	BOARD_DATA

static struct board board;
static struct board *b = &board;

static int setup(void **state)
{
	(void)state;
	board_init(b, BOARD_FEATURES);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	board_exit(b);
	return 0;
}

static void restart(u64 features)
{
	board_exit(b);
	board_init(b, features);
}

static void reg(u32 offset, u32 value)
{
	npu_core_reg_write(b->core, offset, value, b->tick);
}

/* Ends the program and runs it; @insn is the one that faults. */
static void fault(u8 code, u8 unit, u32 insn, u64 va, u8 access)
{
	BOARD_FINISH(b);
	board_expect_fault(b, code, unit, insn, va, access);
	board_clear(b);
}

/* Starts with the given job registers, runs, and checks the fault. */
static void start_fault(u32 offset, u32 value, u8 code, u8 unit, u32 insn,
			u64 va, u8 access)
{
	struct npu_job_report r;

	board_clear(b);
	BOARD_FINISH(b);
	board_start(b, &(struct board_run){ 0 });
	board_command(b, NPU_CORE_CONTROL_CLEAR_MASK);
	reg(NPU_CORE_REGION_COUNT, 1);
	reg(offset, value);
	board_command(b, NPU_CORE_CONTROL_START_MASK);
	assert_int_equal(board_go(b, 0), NPU_CORE_STATE_FAULT);
	r = board_report(b);
	assert_int_equal(r.fault_code, code);
	assert_int_equal(r.fault_unit, unit);
	assert_int_equal(r.insn, insn);
	assert_int_equal(r.fault_va, va);
	assert_int_equal(r.fault_access, access);
}

static void at_start(void **state)
{
	(void)state;
	start_fault(NPU_CORE_INSN_LO, BOARD_INSN + 8, NPU_FAULT_ALIGNMENT,
		    NPU_UNIT_FETCH, 0, BOARD_INSN + 8, EXECUTE);
	start_fault(NPU_CORE_INSN_COUNT, 0, NPU_FAULT_LENGTH, NPU_UNIT_FETCH,
		    0, 0, EXECUTE);
	start_fault(NPU_CORE_START_INDEX, 1, NPU_FAULT_NO_FINISH,
		    NPU_UNIT_FETCH, 1, 0, EXECUTE);
	start_fault(NPU_CORE_REGION_LO, BOARD_REGIONS + 8, NPU_FAULT_ALIGNMENT,
		    NPU_UNIT_REGION, 0, BOARD_REGIONS + 8, READ);
	start_fault(NPU_CORE_REGION_COUNT, NPU_REGION_TABLE_MAX + 1,
		    NPU_FAULT_LENGTH, NPU_UNIT_REGION, 0,
		    NPU_REGION_TABLE_MAX + 1, READ);
	start_fault(NPU_CORE_CONTEXT, 3, NPU_FAULT_CONTEXT, NPU_UNIT_REGION, 0,
		    BOARD_REGIONS, READ);
	start_fault(NPU_CORE_REGION_HI, 1, NPU_FAULT_UNMAPPED, NPU_UNIT_REGION,
		    0, (1ull << 32) + BOARD_REGIONS, READ);
}

/* Faults of the job registers name the instruction that was to be the first. */
static void at_start_index(void **state)
{
	struct npu_job_report r;

	(void)state;
	board_clear(b);
	BOARD_FINISH(b);
	board_start(b, &(struct board_run){ .start = 3 });
	board_command(b, NPU_CORE_CONTROL_CLEAR_MASK);
	reg(NPU_CORE_INSN_COUNT, 0);
	board_command(b, NPU_CORE_CONTROL_START_MASK);
	assert_int_equal(board_go(b, 0), NPU_CORE_STATE_FAULT);
	r = board_report(b);
	assert_int_equal(r.fault_code, NPU_FAULT_LENGTH);
	assert_int_equal(r.fault_unit, NPU_UNIT_FETCH);
	assert_int_equal(r.insn, 3);
}

static void region_table(void **state)
{
	(void)state;
	b->hole = BOARD_REGIONS + 20;
	b->hole_end = BOARD_REGIONS + 21;
	BOARD_FINISH(b);
	board_start(b, &(struct board_run){ .regions = 2 });
	assert_int_equal(board_go(b, 0), NPU_CORE_STATE_FAULT);
	assert_int_equal(board_report(b).fault_va, BOARD_REGIONS + 20);
	assert_int_equal(board_report(b).fault_code, NPU_FAULT_UNMAPPED);

	/* A misaligned base, never used. */
	b->hole_end = 0;
	board_put32(b, BOARD_REGIONS + 16, 0x12340020);
	board_put32(b, BOARD_REGIONS + 20, 5);
	board_start(b, &(struct board_run){ .regions = 2 });
	assert_int_equal(board_go(b, 0), NPU_CORE_STATE_FAULT);
	assert_int_equal(board_report(b).fault_va, 0x512340020);
	assert_int_equal(board_report(b).fault_code, NPU_FAULT_ALIGNMENT);
	assert_int_equal(board_report(b).fault_unit, NPU_UNIT_REGION);

	/* The entry behind the last of the table is not looked at. */
	board_start(b, &(struct board_run){ .regions = 1 });
	assert_int_equal(board_go(b, 0), NPU_CORE_STATE_DONE);
}

/* Instructions before the bad one run, and it is named. */
static void fetch(void **state)
{
	u32 i;

	(void)state;
	for (i = 0; i < 7; i++)
		BOARD_EXT(b, PAD_VALUE, pad_value, .value = 0);
	b->hole = BOARD_INSN + 6 * 16 + 4;
	b->hole_end = b->hole + 1;
	b->hole_access = EXECUTE;
	fault(NPU_FAULT_UNMAPPED, NPU_UNIT_FETCH, 6, b->hole, EXECUTE);

	/* Not to be read does not matter to fetch. */
	b->hole_access = READ;
	b->insns = 8;
	board_expect_done(b);
}

static void fetch_address(void **state)
{
	(void)state;
	start_fault(NPU_CORE_INSN_HI, 0x40, NPU_FAULT_UNMAPPED, NPU_UNIT_FETCH,
		    0, 0x4000000000 + BOARD_INSN, EXECUTE);
	board_start(b, &(struct board_run){ 0 });
	board_command(b, NPU_CORE_CONTROL_CLEAR_MASK);
	reg(NPU_CORE_INSN_LO, 0xffffffe0);
	reg(NPU_CORE_INSN_HI, 0xffffffff);
	reg(NPU_CORE_INSN_COUNT, 8);
	reg(NPU_CORE_START_INDEX, 5);
	board_command(b, NPU_CORE_CONTROL_START_MASK);
	assert_int_equal(board_go(b, 0), NPU_CORE_STATE_FAULT);
	assert_int_equal(board_report(b).fault_code, NPU_FAULT_ADDRESS);
	assert_int_equal(board_report(b).insn, 5);
	assert_int_equal(board_report(b).fault_va, 0x30);
}

static void no_finish(void **state)
{
	(void)state;
	BOARD_EXT(b, PAD_VALUE, pad_value, .value = 0);
	BOARD_FINISH(b);
	fault(NPU_FAULT_NO_FINISH, NPU_UNIT_FETCH, 1, 0, EXECUTE);
	BOARD_EXT(b, PAD_VALUE, pad_value, .value = 0);
	BOARD_EXT(b, PAD_VALUE, pad_value, .value = 0);
	board_expect_fault(b, NPU_FAULT_NO_FINISH, NPU_UNIT_FETCH, 1, 0,
			   EXECUTE);
}

static void selector(void **state)
{
	struct npu_job_report r;

	(void)state;
	BOARD_LOAD(b, .memory = NPU_MEM_INP, .y_size = 1, .x_size = 1,
		   .region = 1);
	fault(NPU_FAULT_SELECTOR, NPU_UNIT_LOAD, 0, 1, READ);
	BOARD_STORE(b, .y_size = 1, .x_size = 1, .region = 15);
	fault(NPU_FAULT_SELECTOR, NPU_UNIT_STORE, 0, 15, WRITE);

	/* Entries 0 and 1 exist, 2 does not. */
	npu_put_le64(b->mem + BOARD_REGIONS + 24, 64);
	BOARD_LOAD(b, .memory = NPU_MEM_ACC, .y_size = 1, .x_size = 1,
		   .region = 1);
	BOARD_LOAD(b, .memory = NPU_MEM_ACC, .y_size = 1, .x_size = 1,
		   .region = 2);
	BOARD_FINISH(b);
	board_run(b, &(struct board_run){ .regions = 2 });
	r = board_report(b);
	assert_int_equal(r.fault_code, NPU_FAULT_SELECTOR);
	assert_int_equal(r.insn, 1);
	assert_int_equal(r.fault_va, 2);
	assert_int_equal(r.fault_unit, NPU_UNIT_COMPUTE);
	board_clear(b);

	/* Nothing is moved: the selector does not matter. */
	BOARD_LOAD(b, .memory = NPU_MEM_INP, .y_size = 0, .x_size = 1,
		   .y_pad_0 = 1, .region = 9);
	BOARD_LOAD(b, .memory = NPU_MEM_INP, .y_size = 1, .region = 9);
	BOARD_FINISH(b);
	board_expect_done(b);
}

static void region_entry(u32 i, u64 base, u64 limit)
{
	npu_put_le64(b->mem + BOARD_REGIONS + 16 * i, base);
	npu_put_le64(b->mem + BOARD_REGIONS + 16 * i + 8, limit);
}

static void region_fault(u8 code, u64 va, u8 access)
{
	struct npu_job_report r;

	BOARD_FINISH(b);
	board_run(b, &(struct board_run){ .regions = 24 });
	r = board_report(b);
	assert_int_equal(r.fault_code, code);
	assert_int_equal(r.fault_va, va);
	assert_int_equal(r.fault_access, access);
	board_clear(b);
}

static void region(void **state)
{
	(void)state;
	region_entry(3, 0x200000, 95);
	region_entry(4, 0xffffffffffffffc0, ~0ull);
	region_entry(5, 0, ~0ull);
	region_entry(16 + NPU_MEM_OUT, 0x10000, 16);
	region_entry(16 + NPU_MEM_INP, 0x20000, 0);
	/* The third row of two elements ends at 96. */
	BOARD_LOAD(b, .memory = NPU_MEM_INP, .y_size = 3, .x_size = 2,
		   .x_stride = 2, .region = 3);
	region_fault(NPU_FAULT_REGION, 0x200040, READ);
	BOARD_STORE(b, .y_size = 1, .x_size = 1, .dram_base = 0xffffffff,
		    .region = 3);
	region_fault(NPU_FAULT_REGION, 0x200000 + 0xffffffffull * 16, WRITE);
	BOARD_LOAD(b, .memory = NPU_MEM_WGT, .y_size = 2, .x_size = 1,
		   .x_stride = 65535, .dram_base = 0xffffffff, .region = 3);
	region_fault(NPU_FAULT_REGION, 0x200000 + 0xffffffffull * 256, READ);
	/* The legacy bases of OUT and INP; the latter is empty. */
	BOARD_STORE(b, .y_size = 2, .x_size = 1, .x_stride = 1);
	region_fault(NPU_FAULT_REGION, 0x10010, WRITE);
	BOARD_LOAD(b, .memory = NPU_MEM_INP, .y_size = 1, .x_size = 1);
	region_fault(NPU_FAULT_REGION, 0x20000, READ);
	/* Sums that leave 64 bits, in the row's address and in its end. */
	BOARD_LOAD(b, .memory = NPU_MEM_INP, .y_size = 1, .x_size = 1,
		   .dram_base = 5, .region = 4);
	region_fault(NPU_FAULT_ADDRESS, 0x10, READ);
	BOARD_STORE(b, .y_size = 1, .x_size = 5, .region = 4);
	region_fault(NPU_FAULT_ADDRESS, 0xffffffffffffffc0, WRITE);
	/* Inside its region, but not mapped. */
	BOARD_LOAD(b, .memory = NPU_MEM_ACC, .y_size = 1, .x_size = 2,
		   .dram_base = BOARD_BYTES / 64 - 1, .region = 5);
	region_fault(NPU_FAULT_UNMAPPED, BOARD_BYTES, READ);
}

/* No table: the whole address space, and no more. */
static void no_region(void **state)
{
	(void)state;
	BOARD_LOAD(b, .memory = NPU_MEM_WGT, .y_size = 1, .x_size = 1,
		   .dram_base = 0x3fffffff);
	fault(NPU_FAULT_UNMAPPED, NPU_UNIT_LOAD, 0, 0x3fffffff00, READ);
	BOARD_LOAD(b, .memory = NPU_MEM_WGT, .y_size = 1, .x_size = 2,
		   .dram_base = 0x3fffffff);
	fault(NPU_FAULT_REGION, NPU_UNIT_LOAD, 0, 0x3fffffff00, READ);
}

static void memory(void **state)
{
	(void)state;
	b->hole = BOARD_DATA + 0x1234;
	b->hole_end = BOARD_DATA + 0x1235;
	/* UOP and ACC8 in rows of more than one conversion. */
	BOARD_LOAD(b, .memory = NPU_MEM_UOP, .y_size = 1, .x_size = 8000,
		   .dram_base = BOARD_DATA / 4);
	fault(NPU_FAULT_UNMAPPED, NPU_UNIT_COMPUTE, 0, b->hole, READ);
	BOARD_LOAD(b, .memory = NPU_MEM_ACC8, .y_size = 1, .x_size = 2000,
		   .dram_base = BOARD_DATA / 16);
	fault(NPU_FAULT_UNMAPPED, NPU_UNIT_COMPUTE, 0, b->hole, READ);
	BOARD_LOAD(b, .memory = NPU_MEM_WGT, .y_size = 20, .x_size = 1,
		   .x_stride = 1, .dram_base = BOARD_DATA / 256);
	fault(NPU_FAULT_UNMAPPED, NPU_UNIT_LOAD, 0, b->hole, READ);
	BOARD_LOAD(b, .memory = NPU_MEM_ACC, .x_size = 0);
	BOARD_LOAD(b, .memory = NPU_MEM_ACC, .y_size = 1, .x_size = 80,
		   .dram_base = BOARD_DATA / 64);
	fault(NPU_FAULT_UNMAPPED, NPU_UNIT_COMPUTE, 1, b->hole, READ);

	b->hole_access = WRITE;
	BOARD_STORE(b, .y_size = 1, .x_size = 300,
		    .dram_base = BOARD_DATA / 16);
	fault(NPU_FAULT_UNMAPPED, NPU_UNIT_STORE, 0, b->hole, WRITE);
}

static void sram_mem(void **state)
{
	static const struct {
		u32 memory, depth;
		u8 unit;
	} mem[] = {
		{ NPU_MEM_UOP, NPU_UOP_DEPTH, NPU_UNIT_COMPUTE },
		{ NPU_MEM_WGT, NPU_WGT_DEPTH, NPU_UNIT_LOAD },
		{ NPU_MEM_INP, NPU_INP_DEPTH, NPU_UNIT_LOAD },
		{ NPU_MEM_ACC, NPU_ACC_DEPTH, NPU_UNIT_COMPUTE },
		{ NPU_MEM_ACC8, NPU_ACC_DEPTH, NPU_UNIT_COMPUTE },
	};
	u32 i;

	(void)state;
	for (i = 0; i < 5; i++) {
		/* Fits to the last element, by padding alone. */
		BOARD_LOAD(b, .memory = mem[i].memory, .y_size = 0, .x_size = 1,
			   .y_pad_1 = 2, .sram_base = mem[i].depth - 2);
		BOARD_LOAD(b, .memory = mem[i].memory, .y_size = 0, .x_size = 1,
			   .y_pad_0 = 1, .y_pad_1 = 2,
			   .sram_base = mem[i].depth - 2);
		fault(NPU_FAULT_SRAM, mem[i].unit, 1, mem[i].depth, READ);
		BOARD_LOAD(b, .memory = mem[i].memory, .y_size = 65535,
			   .x_size = 65535, .x_stride = 65535, .region = 7);
		fault(NPU_FAULT_SRAM, mem[i].unit, 0, mem[i].depth, READ);
		BOARD_LOAD(b, .memory = mem[i].memory, .y_size = 0, .x_size = 1,
			   .sram_base = 65535);
		fault(NPU_FAULT_SRAM, mem[i].unit, 0, mem[i].depth, READ);
	}
	BOARD_STORE(b, .y_size = 2, .x_size = 2, .sram_base = 2045, .region = 3);
	fault(NPU_FAULT_SRAM, NPU_UNIT_STORE, 0, NPU_ACC_DEPTH, READ);
	/* No element: nothing is checked. */
	BOARD_LOAD(b, .memory = NPU_MEM_INP, .sram_base = 65535, .y_size = 9,
		   .pad_mode = 3);
	BOARD_STORE(b, .sram_base = 65535, .y_size = 9);
	BOARD_FINISH(b);
	board_expect_done(b);
}

static void uops(u32 first, u32 second)
{
	board_put32(b, VA_UOP, first);
	board_put32(b, VA_UOP + 4, second);
	BOARD_ROW(b, UOP, 0, 2, VA_UOP);
}

static void sram_gemm(void **state)
{
	(void)state;
	BOARD_GEMM(b, .uop_end = 8193, .iter_out = 0, .iter_in = 0);
	fault(NPU_FAULT_SRAM, NPU_UNIT_COMPUTE, 0, 8193, READ);
	/* The third and fourth micro-op of these go beyond. */
	uops(board_uop(0, 0, 0), board_uop(2045, 0, 0));
	BOARD_GEMM(b, .uop_end = 2, .iter_out = 3, .iter_in = 2,
		   .dst_factor_in = 4, .dst_factor_out = 1);
	fault(NPU_FAULT_SRAM, NPU_UNIT_COMPUTE, 1, 2049, READ);
	uops(board_uop(0, 0, 0), board_uop(0, 2047, 0));
	BOARD_GEMM(b, .uop_end = 2, .iter_out = 2, .iter_in = 1,
		   .src_factor_out = 2047);
	fault(NPU_FAULT_SRAM, NPU_UNIT_COMPUTE, 1, 4094, READ);
	uops(board_uop(0, 0, 0), board_uop(0, 0, 1023));
	BOARD_GEMM(b, .uop_end = 2, .iter_out = 2, .iter_in = 1,
		   .wgt_factor_out = 1);
	fault(NPU_FAULT_SRAM, NPU_UNIT_COMPUTE, 1, 1024, READ);
	/* All three at once: destination first, then source. */
	uops(board_uop(2047, 2047, 1023), 0);
	BOARD_GEMM(b, .uop_end = 1, .iter_out = 2, .iter_in = 1,
		   .dst_factor_out = 3, .src_factor_out = 2,
		   .wgt_factor_out = 1);
	fault(NPU_FAULT_SRAM, NPU_UNIT_COMPUTE, 1, 2050, READ);
	uops(board_uop(2047, 2047, 1023), 0);
	BOARD_GEMM(b, .uop_end = 1, .iter_out = 2, .iter_in = 1,
		   .src_factor_out = 2, .wgt_factor_out = 1);
	fault(NPU_FAULT_SRAM, NPU_UNIT_COMPUTE, 1, 2049, READ);
	/* As far out as can be. */
	uops(board_uop(2047, 2047, 1023), 0);
	BOARD_GEMM(b, .uop_end = 1, .iter_out = 16383, .iter_in = 16383,
		   .dst_factor_out = 2047, .src_factor_out = 2047,
		   .wgt_factor_out = 1023, .dst_factor_in = 2047,
		   .src_factor_in = 2047, .wgt_factor_in = 1023);
	fault(NPU_FAULT_SRAM, NPU_UNIT_COMPUTE, 1, 4094, READ);
}

/* More than a piece lies before the micro-op that goes beyond. */
static void sram_late(void **state)
{
	(void)state;
	uops(board_uop(0, 0, 0), 0);
	BOARD_GEMM(b, .uop_end = 1, .iter_out = 1, .iter_in = 5000,
		   .dst_factor_in = 1);
	fault(NPU_FAULT_SRAM, NPU_UNIT_COMPUTE, 1, 2048, READ);
	assert_int_equal(board_report(b).macs, 2048 * 256);
}

static void sram_others(void **state)
{
	(void)state;
	uops(board_uop(0, 2047, 0), 0);
	BOARD_ALU(b, .uop_end = 1, .iter_out = 1, .iter_in = 2,
		  .src_factor_in = 1);
	fault(NPU_FAULT_SRAM, NPU_UNIT_COMPUTE, 1, 2048, READ);
	/* The three parameter rows are named by the first. */
	uops(board_uop(0, 2046, 0), 0);
	BOARD_EXT(b, REQUANT, requant, .uop_end = 1, .iter_out = 1,
		  .iter_in = 1);
	fault(NPU_FAULT_SRAM, NPU_UNIT_COMPUTE, 1, 2046, READ);
	uops(board_uop(0, 2045, 0), 0);
	BOARD_EXT(b, REQUANT, requant, .uop_end = 1, .iter_out = 1,
		  .iter_in = 1);
	BOARD_FINISH(b);
	board_expect_done(b);
	board_clear(b);
	uops(board_uop(0, 0, 900), 0);
	BOARD_EXT(b, VMAC, vmac, .uop_end = 1, .iter_out = 1, .iter_in = 63,
		  .wgt_factor_in = 250);
	fault(NPU_FAULT_SRAM, NPU_UNIT_COMPUTE, 1, 900 + 62 * 250, READ);
	uops(board_uop(0, 2047, 0), 0);
	BOARD_EXT(b, LUT, lut, .uop_end = 1, .iter_out = 2, .iter_in = 1,
		  .src_factor_out = 1);
	fault(NPU_FAULT_SRAM, NPU_UNIT_COMPUTE, 1, 2048, READ);
}

static void illegal_one(u8 unit, u64 low, u64 high)
{
	board_word(b, low, high);
	fault(NPU_FAULT_ILLEGAL, unit, 0, 0, READ);
}

static void illegal(void **state)
{
	const u64 acc = NPU_OP_ALU, ext = NPU_OP_EXT;
	u32 op;

	(void)state;
	illegal_one(NPU_UNIT_COMPUTE, 6, 0);
	illegal_one(NPU_UNIT_COMPUTE, 7, 0);
	for (op = 5; op < 8; op++)
		illegal_one(NPU_UNIT_COMPUTE, acc, (u64)op << 44);
	illegal_one(NPU_UNIT_COMPUTE, ext, 0);
	for (op = 6; op < 16; op++)
		illegal_one(NPU_UNIT_COMPUTE, ext, (u64)op << 60);
	/* LOAD of OUT and of reserved memories, even where it loads nothing. */
	illegal_one(NPU_UNIT_COMPUTE, NPU_OP_LOAD | 4 << 7, 0);
	illegal_one(NPU_UNIT_COMPUTE, NPU_OP_LOAD | 6 << 7, 0);
	illegal_one(NPU_UNIT_COMPUTE, NPU_OP_LOAD | 7 << 7, 0);
	for (op = 0; op < 8; op++) {
		if (op != NPU_MEM_OUT)
			illegal_one(NPU_UNIT_STORE, NPU_OP_STORE | op << 7, 0);
	}
	for (op = 48; op < 64; op += 4)
		illegal_one(NPU_UNIT_STORE, NPU_OP_STORE | 4 << 7, 1ull << op);
	illegal_one(NPU_UNIT_STORE, NPU_OP_STORE | 4 << 7 | 1ull << 58, 0);
	/* Pad modes. */
	illegal_one(NPU_UNIT_LOAD, NPU_OP_LOAD | 2 << 7 | 2ull << 58, 1 << 16);
	illegal_one(NPU_UNIT_LOAD, NPU_OP_LOAD | 1 << 7 | 3ull << 58, 1 << 16);
	illegal_one(NPU_UNIT_COMPUTE, NPU_OP_LOAD | 1ull << 58, 1 << 16);
}

/* In EXT each bit counts; a flag that the unit ignores is a field, too. */
static void illegal_bits(void **state)
{
	static const struct {
		u32 op;
		u64 low, high;
	} format[] = {
#define FORMAT(name) { NPU_EXT_##name, NPU_FMT_##name##_VALID_LO, \
		       NPU_FMT_##name##_VALID_HI }
		FORMAT(YIELD), FORMAT(PAD_VALUE), FORMAT(REQUANT),
		FORMAT(VMAC), FORMAT(LUT),
	};
	u32 i, bit;

	(void)state;
	for (i = 0; i < 5; i++) {
		u64 high = (u64)format[i].op << 60;
		u8 unit = format[i].op == NPU_EXT_PAD_VALUE ?
			  NPU_UNIT_LOAD : NPU_UNIT_COMPUTE;

		for (bit = 0; bit < 64; bit++) {
			if (!(format[i].low >> bit & 1))
				illegal_one(unit, NPU_OP_EXT | 1ull << bit,
					    high);
			if (!(format[i].high >> bit & 1))
				illegal_one(unit, NPU_OP_EXT,
					    high | 1ull << bit);
		}
	}
}

/* In the base set bits that no field names are ignored. */
static void ignored_bits(void **state)
{
	(void)state;
	board_word(b, NPU_OP_GEMM | 1ull << 63, 0);
	board_word(b, NPU_OP_ALU | 1ull << 63, 0);
	board_word(b, NPU_OP_LOAD | 2 << 7, 0);
	board_word(b, NPU_OP_FINISH | ~0x7full, ~0ull);
	board_expect_done(b);
}

static void features(void **state)
{
	u32 i;

	(void)state;
	for (i = NPU_EXT_YIELD; i <= NPU_EXT_LUT; i++) {
		static const u64 bit[] = {
			[NPU_EXT_YIELD] = NPU_HW_FEATURE_YIELD,
			[NPU_EXT_PAD_VALUE] = NPU_HW_FEATURE_PAD_VALUE,
			[NPU_EXT_REQUANT] = NPU_HW_FEATURE_REQUANT,
			[NPU_EXT_VMAC] = NPU_HW_FEATURE_VMAC,
			[NPU_EXT_LUT] = NPU_HW_FEATURE_LUT,
		};
		u64 high = (u64)i << 60;

		restart(BOARD_FEATURES & ~bit[i]);
		illegal_one(i == NPU_EXT_PAD_VALUE ? NPU_UNIT_LOAD :
			    NPU_UNIT_COMPUTE, NPU_OP_EXT, high);
		if (i == NPU_EXT_PAD_VALUE)
			illegal_one(NPU_UNIT_LOAD,
				    NPU_OP_LOAD | 2 << 7 | 1ull << 58, 1 << 16);
		restart(bit[i]);
		board_word(b, NPU_OP_EXT, high);
		BOARD_FINISH(b);
		board_expect_done(b);
		board_clear(b);
	}
}

/* A fault stops the other units, too. */
static void stops_all(void **state)
{
	(void)state;
	board_word(b, 7, 0);
	BOARD_STORE(b, .dram_base = BOARD_OUT / 16, .y_size = 1, .x_size = 1);
	memset(b->mem + BOARD_OUT, 0xee, 16);
	fault(NPU_FAULT_ILLEGAL, NPU_UNIT_COMPUTE, 0, 0, READ);
	assert_int_equal(b->mem[BOARD_OUT], 0xee);
	assert_int_equal(npu_core_run(b->core, 1000, b->tick), 0);
	board_command(b, NPU_CORE_CONTROL_RESUME_MASK);
	assert_int_equal(board_state(b), NPU_CORE_STATE_FAULT);
	/* The next job starts with nothing of it. */
	BOARD_FINISH(b);
	board_expect_done(b);
	assert_int_equal(board_report(b).fault_code, NPU_FAULT_NONE);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(at_start),
		TEST(at_start_index),
		TEST(region_table),
		TEST(fetch),
		TEST(fetch_address),
		TEST(no_finish),
		TEST(selector),
		TEST(region),
		TEST(no_region),
		TEST(memory),
		TEST(sram_mem),
		TEST(sram_gemm),
		TEST(sram_late),
		TEST(sram_others),
		TEST(illegal),
		TEST(illegal_bits),
		TEST(ignored_bits),
		TEST(features),
		TEST(stops_all),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
