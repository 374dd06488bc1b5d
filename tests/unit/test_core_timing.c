// SPDX-License-Identifier: MIT
/*
 * Cycles of small programs, worked out by hand from the manual's timing.rst
 * with the numbers of its table; no formula of the model is repeated here.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "tests/unit/core_board.h"

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

static struct npu_job_report run(u32 regions)
{
	BOARD_FINISH(b);
	assert_int_equal(board_run(b, &(struct board_run){ .regions = regions }),
			 NPU_CORE_STATE_DONE);
	return board_report(b);
}

/* Requested in 0, arrives in 16 + 2, starts in 19, completes in 20. */
static void finish_only(void **state)
{
	struct npu_job_report r = run(0);

	(void)state;
	assert_int_equal(r.cycles, 20);
	assert_int_equal(r.busy_compute, 1);
	assert_int_equal(r.bytes_read, 16);
	assert_int_equal(r.insn, 1);
}

/*
 * Three entries of 16 bytes arrive in 16 + 6 = 22; the line is requested then,
 * with the port not idle: arrives in 24, starts in 25, completes in 26.
 */
static void region_table(void **state)
{
	struct npu_job_report r = run(3);

	(void)state;
	assert_int_equal(r.cycles, 26);
	assert_int_equal(r.bytes_read, 48 + 16);
}

/* The example of the manual. */
static void load_rows(void **state)
{
	struct npu_job_report r;

	(void)state;
	BOARD_LOAD(b, .memory = NPU_MEM_INP, .y_size = 2, .x_size = 3,
		   .x_stride = 9, .x_pad_0 = 1);
	r = run(0);
	assert_int_equal(r.cycles, 52);
	assert_int_equal(r.busy_load, 31);
	assert_int_equal(r.busy_compute, 1);
	assert_int_equal(r.stall_load, 0);
	assert_int_equal(r.bytes_read, 32 + 96);
}

/*
 * One micro-op of 4 bytes takes a whole beat. Two instructions: the line
 * arrives in 20, the LOAD starts in 21, asks in 22, has its data in 38 and
 * completes in 39; FINISH starts then, done in 40.
 */
static void load_part_of_beat(void **state)
{
	(void)state;
	BOARD_LOAD(b, .memory = NPU_MEM_UOP, .y_size = 1, .x_size = 1);
	assert_int_equal(run(0).cycles, 40);
}

/* MEM_ISSUE, then 4 + 5 elements of padding: 21 + 1 + 9 = 31, FINISH 32. */
static void load_padding_only(void **state)
{
	(void)state;
	BOARD_LOAD(b, .memory = NPU_MEM_ACC, .y_size = 0, .x_size = 2,
		   .x_pad_0 = 1, .y_pad_0 = 1, .y_pad_1 = 2);
	assert_int_equal(run(0).cycles, 32);
}

/* 21 + 1, and FINISH right after it. */
static void load_nothing(void **state)
{
	(void)state;
	BOARD_LOAD(b, .memory = NPU_MEM_UOP);
	assert_int_equal(run(0).cycles, 23);
}

/*
 * STORE starts in 21, its rows of 2 elements (4 beats) leave in 26 and 30, the
 * acknowledgement comes in 46. FINISH was done in 23.
 */
static void store(void **state)
{
	struct npu_job_report r;

	(void)state;
	BOARD_STORE(b, .dram_base = BOARD_OUT / 16, .y_size = 2, .x_size = 2,
		    .x_stride = 7);
	r = run(0);
	assert_int_equal(r.cycles, 46);
	assert_int_equal(r.busy_store, 25);
	assert_int_equal(r.bytes_written, 64);
}

/* No rows, no acknowledgement: completes in 22; FINISH in 23. */
static void store_nothing(void **state)
{
	(void)state;
	BOARD_STORE(b, .dram_base = BOARD_OUT / 16, .y_size = 0, .x_size = 2);
	assert_int_equal(run(0).cycles, 23);
}

/* Starts in 21 with the line of two; @cycles later FINISH takes one more. */
static void one_insn(u64 cycles)
{
	struct npu_job_report r = run(0);

	assert_int_equal(r.cycles, 21 + cycles + 1);
	assert_int_equal(r.busy_compute, cycles + 1);
	board_clear(b);
}

static void compute(void **state)
{
	(void)state;
	BOARD_GEMM(b, .uop_end = 3, .iter_out = 5, .iter_in = 7);
	one_insn(6 + 105);
	BOARD_GEMM(b, .uop_end = 3, .iter_out = 5, .iter_in = 7, .reset = 1);
	one_insn(6 + 105);
	BOARD_GEMM(b, .uop_end = 3, .iter_out = 0, .iter_in = 7);
	one_insn(6);
	BOARD_ALU(b, .uop_end = 3, .iter_out = 5, .iter_in = 7, .use_imm = 1);
	one_insn(6 + 105);
	BOARD_ALU(b, .uop_end = 3, .iter_out = 5, .iter_in = 7);
	one_insn(6 + 210);
	BOARD_EXT(b, REQUANT, requant, .uop_end = 2, .iter_out = 10,
		  .iter_in = 300);
	one_insn(8 + 6000);
	BOARD_EXT(b, VMAC, vmac, .uop_end = 1, .iter_out = 2, .iter_in = 3);
	one_insn(8 + 6);
	BOARD_EXT(b, LUT, lut, .uop_end = 1, .iter_out = 2, .iter_in = 3);
	one_insn(8 + 6);
	BOARD_EXT(b, PAD_VALUE, pad_value, .unit = NPU_PAD_UNIT_COMPUTE);
	one_insn(1);
}

/*
 * Nine instructions of one cycle on the compute unit. Line 0 arrives in 24,
 * lines 1 and 2 behind it in 32 and 34 (16 bytes): 24 to 27 hand out line 0,
 * 32 to 35 line 1, 36 FINISH, which starts in 37.
 */
static void fetch_lines(void **state)
{
	u32 i;

	(void)state;
	for (i = 0; i < 8; i++)
		BOARD_EXT(b, PAD_VALUE, pad_value,
			  .unit = NPU_PAD_UNIT_COMPUTE);
	assert_int_equal(run(0).cycles, 38);
}

/*
 * Two lines wait at most. The program fills the queue of the compute unit
 * behind a GEMM, so that fetch stops; that the count is exact shows that a
 * place becomes free when an instruction starts, and that fetch goes on then.
 *
 * GEMM 0 starts in 25. Lines arrive every 8 cycles, so 512 more instructions
 * (1 to 512) are handed out by 24 + 128 * 8 = 1048. GEMM 0 runs until 25 + 6 +
 * 5000 = 5031. Then instruction 1 starts, 513 is handed out in 5031, 2 starts
 * in 5032, 514 is handed out and so on, one a cycle: instruction i starts in
 * 5030 + i. With 520 instructions before it FINISH (520) starts in 5550.
 */
static void queue_full(void **state)
{
	u32 i;

	(void)state;
	BOARD_GEMM(b, .uop_end = 1, .iter_out = 50, .iter_in = 100);
	for (i = 1; i < 520; i++)
		BOARD_EXT(b, PAD_VALUE, pad_value,
			  .unit = NPU_PAD_UNIT_COMPUTE);
	assert_int_equal(run(0).cycles, 5551);
}

/*
 * Fetch is before load in the read port, and load before compute.
 *
 * Two LOADs of two beats, then FINISH: the line of 48 bytes arrives in 22. LOAD
 * INP starts in 23 and asks in 24: data in 40, 41, leaves in 42. LOAD ACC8
 * starts in 24, asks in 25, is served from 42 on and leaves in 44. FINISH 45.
 */
static void read_port(void **state)
{
	struct npu_job_report r;

	(void)state;
	BOARD_LOAD(b, .memory = NPU_MEM_INP, .y_size = 1, .x_size = 1);
	BOARD_LOAD(b, .memory = NPU_MEM_ACC8, .y_size = 1, .x_size = 1);
	r = run(0);
	assert_int_equal(r.cycles, 45);
	assert_int_equal(r.busy_load, 42 - 23);
	assert_int_equal(r.busy_compute, 44 - 24 + 1);
}

/*
 * The line arrives in 24 (64 bytes), hand-out in 24 to 27, starts in 25 (LOAD),
 * GEMM is there from 26 on. LOAD: asks in 26, data in 42, 43, completes in 44
 * and pushes: GEMM starts in 44 (18 cycles of stall), takes 6 + 1 to 51 and
 * pushes to the store unit: STORE, there from 27 on, starts in 51 (24 cycles),
 * leaves in 54, acknowledged in 70. FINISH: 51 to 52.
 *
 * The second line does not exist: four instructions.
 */
static void stalls(void **state)
{
	struct npu_job_report r;

	(void)state;
	BOARD_LOAD(b, .memory = NPU_MEM_INP, .y_size = 1, .x_size = 1,
		   .push_next = 1);
	BOARD_GEMM(b, .uop_end = 1, .iter_out = 1, .iter_in = 1, .pop_prev = 1,
		   .push_next = 1);
	BOARD_STORE(b, .dram_base = BOARD_OUT / 16, .y_size = 1, .x_size = 1,
		    .pop_prev = 1);
	r = run(0);
	assert_int_equal(r.cycles, 70);
	assert_int_equal(r.stall_compute_load, 18);
	assert_int_equal(r.stall_compute_store, 0);
	assert_int_equal(r.stall_store, 24);
	assert_int_equal(r.stall_load, 0);
	assert_int_equal(r.busy_load, 19);
	assert_int_equal(r.busy_compute, 7 + 1);
	assert_int_equal(r.busy_store, 19);
}

/*
 * As before, and FINISH waits for the store unit's token: from 51, when the
 * GEMM completes, to 70. The load unit has a second LOAD (nothing but tokens)
 * that waits for the GEMM: five instructions in two lines. Line 0 in 24, line 1
 * is asked for in 24 and arrives in 26: no delay, FINISH is handed out in 28.
 * The LOAD of index 3 is handed out in 27; the unit is busy until 44, waits
 * until 51 and takes one cycle.
 *
 * The data of the first LOAD: asked for in 26 with the port free in 26, so not
 * idle: it comes at once, in 26 and 27; the LOAD completes in 28. GEMM, there
 * from 26 on, starts in 28 (2 cycles of stall) and ends in 35. STORE, there
 * from 27 on, starts in 35 (8), leaves in 38, ends in 54. The second LOAD,
 * there from 28 on, waits until 35 (7). FINISH waits from 35 to 54 (19).
 */
static void stalls_of_all(void **state)
{
	struct npu_job_report r;

	(void)state;
	BOARD_LOAD(b, .memory = NPU_MEM_INP, .y_size = 1, .x_size = 1,
		   .push_next = 1);
	BOARD_GEMM(b, .uop_end = 1, .iter_out = 1, .iter_in = 1, .pop_prev = 1,
		   .push_next = 1, .push_prev = 1);
	BOARD_STORE(b, .dram_base = BOARD_OUT / 16, .y_size = 1, .x_size = 1,
		    .pop_prev = 1, .push_prev = 1);
	BOARD_LOAD(b, .memory = NPU_MEM_INP, .pop_next = 1);
	BOARD_FINISH(b, .pop_next = 1);
	assert_int_equal(board_run(b, &(struct board_run){ 0 }),
			 NPU_CORE_STATE_DONE);
	r = board_report(b);
	assert_int_equal(r.cycles, 55);
	assert_int_equal(r.stall_compute_load, 2);
	assert_int_equal(r.stall_store, 8);
	assert_int_equal(r.stall_load, 7);
	assert_int_equal(r.stall_compute_store, 19);
	assert_int_equal(r.busy_load, 3 + 1);
	assert_int_equal(r.busy_compute, 7 + 1);
	assert_int_equal(r.busy_store, 19);
}

/*
 * A YIELD waits for a STORE; that is no stall, and nothing is handed out behind
 * it until it has executed. The line of 48 bytes arrives in 22, STORE starts in
 * 23, leaves in 26, ends in 42; YIELD (there from 24 on) runs from 42 to 43;
 * FINISH is handed out in 43, starts in 44, ends in 45.
 */
static void yield(void **state)
{
	struct npu_job_report r;

	(void)state;
	BOARD_STORE(b, .dram_base = BOARD_OUT / 16, .y_size = 1, .x_size = 1);
	BOARD_EXT(b, YIELD, yield);
	r = run(0);
	assert_int_equal(r.cycles, 45);
	assert_int_equal(r.busy_compute, 2);
	assert_int_equal(r.stall_compute_load, 0);
	assert_int_equal(r.stall_compute_store, 0);
}

/*
 * A job that yields pays for its start again, from the middle of a line.
 * YIELD is instruction 1 of 6: line 0 arrives in 24, it is handed out in 25,
 * runs from 26 to 27. Then the rest of line 0 (32 bytes) arrives in 20 of the
 * second start, line 1 (32 bytes) in 24; hand-out in 20, 21, 24, 25; FINISH,
 * the fourth, starts in 26 and ends in 27.
 */
static void yield_and_start(void **state)
{
	struct npu_job_report r;
	u32 i;

	(void)state;
	npu_core_reg_write(b->core, NPU_CORE_YIELD_REQUEST, 1, 0);
	for (i = 0; i < 5; i++) {
		if (i == 1)
			BOARD_EXT(b, YIELD, yield);
		else
			BOARD_EXT(b, PAD_VALUE, pad_value,
				  .unit = NPU_PAD_UNIT_COMPUTE);
	}
	BOARD_FINISH(b);
	assert_int_equal(board_run(b, &(struct board_run){ 0 }),
			 NPU_CORE_STATE_YIELDED);
	assert_int_equal(board_report(b).cycles, 27);
	assert_int_equal(npu_core_reg_read(b->core, NPU_CORE_RESUME_INDEX), 2);
	assert_int_equal(board_run(b, &(struct board_run){ .start = 2 }),
			 NPU_CORE_STATE_DONE);
	r = board_report(b);
	assert_int_equal(r.cycles, 27 + 27);
	assert_int_equal(r.insn, 6);
	/* The second line was read twice. */
	assert_int_equal(r.bytes_read, 64 + 32 + 32 + 32);
}

/* Ticks: the board's counter stands at 1000 at START. */
static void ticks(void **state)
{
	struct npu_job_report r = run(0);

	(void)state;
	assert_int_equal(r.start_tick, 1000);
	assert_int_equal(r.end_tick, 1020);
	assert_int_equal(r.core, 3);
	assert_int_equal(r.context, BOARD_CONTEXT);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(finish_only),
		TEST(region_table),
		TEST(load_rows),
		TEST(load_part_of_beat),
		TEST(load_padding_only),
		TEST(load_nothing),
		TEST(store),
		TEST(store_nothing),
		TEST(compute),
		TEST(fetch_lines),
		TEST(queue_full),
		TEST(read_port),
		TEST(stalls),
		TEST(stalls_of_all),
		TEST(yield),
		TEST(yield_and_start),
		TEST(ticks),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
