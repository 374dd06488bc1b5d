// SPDX-License-Identifier: MIT
/* Registers and states of a compute core; stopping inside an instruction. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>
#include "tests/unit/core_board.h"

#define START	NPU_CORE_CONTROL_START_MASK
#define STOP	NPU_CORE_CONTROL_STOP_MASK
#define RESUME	NPU_CORE_CONTROL_RESUME_MASK
#define CLEAR	NPU_CORE_CONTROL_CLEAR_MASK
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

static u32 get(u32 offset)
{
	return npu_core_reg_read(b->core, offset);
}

static void set(u32 offset, u32 value)
{
	npu_core_reg_write(b->core, offset, value, b->tick);
}

static void expect_reset_values(void)
{
	u32 offset;

	for (offset = 0; offset < 0x1000; offset += 4) {
		bool limit = offset == NPU_CORE_LIMIT_LO ||
			     offset == NPU_CORE_LIMIT_HI;

		assert_int_equal(get(offset), limit ? 0xffffffff : 0);
	}
	assert_false(npu_core_event(b->core));
}

static void reset_values(void **state)
{
	u32 offset;

	(void)state;
	expect_reset_values();
	for (offset = 0; offset < 0x1000; offset += 4) {
		if (offset != NPU_CORE_CONTROL)
			set(offset, 0x5a5a5a5a);
	}
	BOARD_FINISH(b);
	board_expect_done(b);
	npu_core_reset(b->core);
	expect_reset_values();
}

static void read_back(void **state)
{
	static const u32 rw[] = {
		NPU_CORE_INSN_LO, NPU_CORE_INSN_HI, NPU_CORE_INSN_COUNT,
		NPU_CORE_START_INDEX, NPU_CORE_REGION_LO, NPU_CORE_REGION_HI,
		NPU_CORE_REGION_COUNT, NPU_CORE_LIMIT_LO, NPU_CORE_LIMIT_HI,
	};
	u32 i;

	(void)state;
	for (i = 0; i < sizeof(rw) / 4; i++)
		set(rw[i], 0x12345600 + i);
	for (i = 0; i < 32; i++)
		set(NPU_CORE_REPORT(i), 0xabcd0000 + i);
	set(NPU_CORE_CONTEXT, 0x1234);
	set(NPU_CORE_YIELD_REQUEST, 1);
	for (i = 0; i < sizeof(rw) / 4; i++)
		assert_int_equal(get(rw[i]), 0x12345600 + i);
	for (i = 0; i < 32; i++)
		assert_int_equal(get(NPU_CORE_REPORT(i)), 0xabcd0000 + i);
	assert_int_equal(get(NPU_CORE_CONTEXT), 0x1234);
	assert_int_equal(get(NPU_CORE_YIELD_REQUEST), 1);
	/* Read-only and write-only ones. */
	set(NPU_CORE_STATUS, 3);
	set(NPU_CORE_RESUME_INDEX, 3);
	assert_int_equal(get(NPU_CORE_STATUS), 0);
	assert_int_equal(get(NPU_CORE_RESUME_INDEX), 0);
	assert_int_equal(get(NPU_CORE_CONTROL), 0);
}

static void report_window(void **state)
{
	u8 buf[128];
	u32 i;

	(void)state;
	for (i = 0; i < 32; i++)
		set(NPU_CORE_REPORT(i), i * 0x01010101);
	memset(buf, 0xee, sizeof(buf));
	assert_true(npu_core_report_copy(b->core, 8, buf, 12));
	for (i = 0; i < 13; i++)
		assert_int_equal(buf[i], i < 12 ? 2 + i / 4 : 0xee);
	assert_true(npu_core_report_copy(b->core, 128, buf, 0));
	assert_false(npu_core_report_copy(b->core, 124, buf, 8));
	assert_false(npu_core_report_copy(b->core, 132, buf, 4));
	assert_false(npu_core_report_copy(b->core, 4, buf, ~0u));
	assert_int_equal(buf[0], 2);
}

/* A GEMM of @uops micro-ops into ACC 0, over inputs and weights of 1. */
static void long_gemm(u32 out, u32 in)
{
	BOARD_EXT(b, PAD_VALUE, pad_value, .unit = NPU_PAD_UNIT_LOAD,
		  .value = 1);
	BOARD_LOAD(b, .memory = NPU_MEM_INP, .y_size = 0, .x_size = 1,
		   .y_pad_0 = 1, .pad_mode = NPU_PAD_VALUE);
	BOARD_LOAD(b, .memory = NPU_MEM_WGT, .y_size = 0, .x_size = 1,
		   .y_pad_0 = 1, .pad_mode = NPU_PAD_VALUE, .push_next = 1);
	BOARD_GEMM(b, .uop_end = 1, .iter_out = out, .iter_in = in,
		   .pop_prev = 1);
	BOARD_FINISH(b);
}

static void ignored_while_running(void **state)
{
	u32 count;

	(void)state;
	long_gemm(100, 100);
	board_start(b, &(struct board_run){ 0 });
	npu_core_run(b->core, 500, b->tick);
	assert_int_equal(board_state(b), NPU_CORE_STATE_RUNNING);
	count = get(NPU_CORE_INSN_COUNT);
	set(NPU_CORE_INSN_COUNT, 1);
	set(NPU_CORE_CONTEXT, 1);
	set(NPU_CORE_REPORT(8), 0);
	set(NPU_CORE_CONTROL, START);
	assert_int_equal(get(NPU_CORE_INSN_COUNT), count);
	assert_int_equal(get(NPU_CORE_CONTEXT), BOARD_CONTEXT);
	assert_int_equal(board_report(b).cycles, 500);
	/* A job under way keeps what it started with. */
	set(NPU_CORE_CONTROL, STOP);
	set(NPU_CORE_INSN_COUNT, 1);
	set(NPU_CORE_CONTEXT, 1);
	set(NPU_CORE_CONTROL, RESUME);
	assert_int_equal(board_go(b, 0), NPU_CORE_STATE_DONE);
	assert_int_equal(board_report(b).insn, 5);
}

/* Which command does something in which state. */
static void commands(void **state)
{
	(void)state;
	long_gemm(100, 100);
	board_start(b, &(struct board_run){ 0 });
	npu_core_run(b->core, 200, b->tick);
	/* Running: neither RESUME nor two bits at once. */
	set(NPU_CORE_CONTROL, RESUME);
	set(NPU_CORE_CONTROL, STOP | CLEAR);
	assert_int_equal(board_state(b), NPU_CORE_STATE_RUNNING);
	b->tick = 5000;
	set(NPU_CORE_CONTROL, STOP);
	assert_int_equal(board_state(b), NPU_CORE_STATE_STOPPED);
	assert_int_equal(board_report(b).end_tick, 5000);
	assert_false(npu_core_event(b->core));
	assert_int_equal(npu_core_run(b->core, 100, b->tick), 0);
	/* Stopped: neither START nor another STOP. */
	set(NPU_CORE_CONTROL, START);
	set(NPU_CORE_CONTROL, STOP);
	assert_int_equal(board_state(b), NPU_CORE_STATE_STOPPED);
	set(NPU_CORE_CONTROL, CLEAR);
	assert_int_equal(board_state(b), NPU_CORE_STATE_IDLE);
	assert_int_equal(board_report(b).cycles, 200);
	/* Idle: START alone. */
	set(NPU_CORE_CONTROL, RESUME);
	set(NPU_CORE_CONTROL, STOP);
	assert_int_equal(board_state(b), NPU_CORE_STATE_IDLE);
	set(NPU_CORE_CONTROL, START);
	assert_int_equal(board_state(b), NPU_CORE_STATE_RUNNING);
	set(NPU_CORE_CONTROL, CLEAR);
	assert_int_equal(board_state(b), NPU_CORE_STATE_IDLE);
	assert_false(npu_core_event(b->core));
	/* A START at instruction 0 begins a new report ... */
	b->tick = 6000;
	set(NPU_CORE_CONTROL, START);
	npu_core_run(b->core, 33, b->tick);
	assert_int_equal(board_report(b).cycles, 33);
	assert_int_equal(board_report(b).start_tick, 6000);
	/* ... any other one goes on with what the window holds. */
	set(NPU_CORE_CONTROL, CLEAR);
	set(NPU_CORE_START_INDEX, 1);
	b->tick = 9000;
	set(NPU_CORE_CONTROL, START);
	npu_core_run(b->core, 10, b->tick);
	assert_int_equal(board_report(b).cycles, 43);
	assert_int_equal(board_report(b).start_tick, 6000);
}

static void event(void **state)
{
	(void)state;
	BOARD_FINISH(b);
	board_expect_done(b);
	assert_true(npu_core_event(b->core));
	assert_int_equal(get(NPU_CORE_EVENT), 1);
	set(NPU_CORE_EVENT, 0xfffffffe);
	assert_true(npu_core_event(b->core));
	set(NPU_CORE_EVENT, 1);
	assert_false(npu_core_event(b->core));
	assert_int_equal(get(NPU_CORE_EVENT), 0);
	assert_int_equal(board_state(b), NPU_CORE_STATE_DONE);
	/* Neither CLEAR nor START clears it. */
	set(NPU_CORE_CONTROL, CLEAR);
	set(NPU_CORE_CONTROL, START);
	board_go(b, 0);
	set(NPU_CORE_CONTROL, CLEAR);
	assert_true(npu_core_event(b->core));
	set(NPU_CORE_CONTROL, START);
	assert_true(npu_core_event(b->core));
}

/* Stops after every @step cycles; the count and the sum are unharmed. */
static void stop_resume(void **state)
{
	static const u32 step[] = { 1, 13, 997, 5000 };
	u32 i;

	(void)state;
	for (i = 0; i < 4; i++) {
		u32 stops = 0;

		board_clear(b);
		long_gemm(30, 100);
		board_start(b, &(struct board_run){ 0 });
		while (npu_core_running(b->core)) {
			npu_core_run(b->core, step[i], b->tick);
			set(NPU_CORE_CONTROL, STOP);
			assert_int_equal(npu_core_run(b->core, 50, b->tick), 0);
			set(NPU_CORE_CONTROL, RESUME);
			stops++;
		}
		assert_int_equal(board_state(b), NPU_CORE_STATE_DONE);
		assert_int_equal(board_acc(b, 0)[9], 30 * 100 * 16);
		assert_int_equal(board_report(b).macs, 30 * 100 * 256);
		/*
		 * Lines of 4 and 1 arrive in 24 and 26. PAD_VALUE starts in
		 * 25; LOAD in 26, ends in 28, the other in 30. The GEMM takes
		 * 6 + 3000, FINISH one.
		 */
		assert_int_equal(board_report(b).cycles, 30 + 3006 + 1);
		assert_int_equal(stops, (3037 + step[i] - 1) / step[i]);
	}
}

static void set_limit(u64 cycles)
{
	set(NPU_CORE_LIMIT_LO, (u32)cycles);
	set(NPU_CORE_LIMIT_HI, cycles >> 32);
}

/* Hours of work: the limit ends it inside the instruction, to the cycle. */
static void limit(void **state)
{
	u64 ran;

	(void)state;
	long_gemm(16383, 16383);
	board_start(b, &(struct board_run){ 0 });
	set_limit(100000);
	b->tick = 7000;
	ran = npu_core_run(b->core, ~0ull, b->tick);
	assert_int_equal(board_state(b), NPU_CORE_STATE_LIMIT);
	assert_true(npu_core_event(b->core));
	assert_int_equal(ran, 100000);
	assert_int_equal(board_report(b).cycles, 100000);
	assert_int_equal(board_report(b).end_tick, 107000);
	assert_int_equal(board_report(b).insn, 3);
	/* The limit is not higher: not a cycle more. */
	set(NPU_CORE_EVENT, 1);
	set(NPU_CORE_CONTROL, RESUME);
	assert_int_equal(npu_core_run(b->core, ~0ull, b->tick), 0);
	assert_int_equal(board_state(b), NPU_CORE_STATE_LIMIT);
	assert_true(npu_core_event(b->core));
	/* It is moved while the core runs, also to below what has run. */
	set(NPU_CORE_CONTROL, RESUME);
	set_limit(1ull << 40);
	assert_int_equal(npu_core_run(b->core, 1000, b->tick), 1000);
	set_limit(5);
	assert_int_equal(npu_core_run(b->core, 1000, b->tick), 0);
	assert_int_equal(board_state(b), NPU_CORE_STATE_LIMIT);
	assert_int_equal(board_report(b).cycles, 101000);
}

/* A job that takes exactly its limit is done; one cycle less is not enough. */
static void limit_exact(void **state)
{
	(void)state;
	BOARD_FINISH(b);
	set_limit(20);
	board_expect_done(b);
	set_limit(19);
	assert_int_equal(board_run(b, &(struct board_run){ 0 }),
			 NPU_CORE_STATE_LIMIT);
	assert_int_equal(board_report(b).cycles, 19);
	set_limit(20);
	board_command(b, RESUME);
	assert_int_equal(board_go(b, 0), NPU_CORE_STATE_DONE);
	set_limit(0);
	assert_int_equal(board_run(b, &(struct board_run){ 0 }),
			 NPU_CORE_STATE_LIMIT);
	assert_int_equal(board_report(b).cycles, 0);
}

/* Work of one call is bounded by its cycles, whatever the instruction. */
static void slice_is_exact(void **state)
{
	u64 cycles = 0;

	(void)state;
	long_gemm(16383, 16383);
	board_start(b, &(struct board_run){ 0 });
	while (cycles < 50000) {
		assert_int_equal(npu_core_run(b->core, 777, b->tick), 777);
		cycles += 777;
	}
	assert_int_equal(board_report(b).cycles, cycles);
	/* At most one piece of micro-ops ahead of time. */
	assert_true(board_report(b).macs <= (cycles + 1024) * 256);
	assert_true(board_report(b).macs >= (cycles - 100) * 256);
}

/* Two cores share nothing. */
static void two_cores(void **state)
{
	struct board other;

	(void)state;
	board_init(&other, 0);
	long_gemm(10, 10);
	BOARD_FINISH(&other);
	board_start(b, &(struct board_run){ 0 });
	board_start(&other, &(struct board_run){ 0 });
	npu_core_run(b->core, 50, b->tick);
	assert_int_equal(board_go(&other, 0), NPU_CORE_STATE_DONE);
	assert_int_equal(board_go(b, 0), NPU_CORE_STATE_DONE);
	assert_int_equal(board_report(&other).cycles, 20);
	assert_int_equal(board_acc(b, 0)[0], 1600);
	board_exit(&other);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(reset_values),
		TEST(read_back),
		TEST(report_window),
		TEST(ignored_while_running),
		TEST(commands),
		TEST(event),
		TEST(stop_resume),
		TEST(limit),
		TEST(limit_exact),
		TEST(slice_is_exact),
		TEST(two_cores),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
