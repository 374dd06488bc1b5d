// SPDX-License-Identifier: MIT
/*
 * Instruction words of any kind: the core neither crashes nor reaches what it
 * may not (this program and the model are built with sanitizers), and each job
 * ends, at its limit at the latest.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>
#include "tests/unit/core_random.h"

#define PROGRAMS	800u
#define MAX_INSNS	100u
#define LIMIT		20000u

static struct board board;

static u32 run(u32 regions, u64 slice)
{
	struct board *b = &board;
	u64 cycles = 0;

	npu_core_reg_write(b->core, NPU_CORE_LIMIT_LO, LIMIT, 0);
	npu_core_reg_write(b->core, NPU_CORE_LIMIT_HI, 0, 0);
	board_start(b, &(struct board_run){ .regions = regions });
	while (npu_core_running(b->core)) {
		cycles += npu_core_run(b->core, slice, b->tick);
		assert_true(cycles <= LIMIT);
	}
	assert_int_equal(board_report(b).cycles, cycles);
	return board_state(b);
}

/* @wild per cent of the words are anything. */
static void programs(u32 wild)
{
	struct random rnd = { .state = 1000 + wild };
	u32 ends[8] = { 0 };
	u32 i;

	for (i = 0; i < PROGRAMS; i++) {
		npu_core_set_kernels(board.core, i % 2 ?
				     npu_core_kernels_native() :
				     npu_core_kernels_portable());
		random_program(&board, &rnd, MAX_INSNS, wild);
		ends[run(random_below(&rnd, 25), 1 + random_below(&rnd, 9999))]++;
	}
	assert_int_equal(ends[NPU_CORE_STATE_DONE] + ends[NPU_CORE_STATE_FAULT] +
			 ends[NPU_CORE_STATE_LIMIT], PROGRAMS);
	assert_true(ends[NPU_CORE_STATE_FAULT] > 0);
	if (wild < 50)
		assert_true(ends[NPU_CORE_STATE_DONE] > 0);
}

static void mild(void **state)
{
	(void)state;
	programs(1);
}

static void wild(void **state)
{
	(void)state;
	programs(20);
}

static void noise(void **state)
{
	(void)state;
	programs(100);
}

/* Registers and the region table are hostile, too. */
static void registers(void **state)
{
	struct random rnd = { .state = 77 };
	struct board *b = &board;
	u32 i, k;

	(void)state;
	for (i = 0; i < PROGRAMS; i++) {
		random_program(b, &rnd, 20, 5);
		if (random_chance(&rnd, 50))
			board_noise(b, BOARD_REGIONS, 16 * 24, &rnd);
		board_start(b, &(struct board_run){ .regions = 24 });
		for (k = 0; k < 20; k++) {
			u32 value = random_u64(&rnd) >> random_below(&rnd, 64);

			npu_core_run(b->core, random_below(&rnd, 300), b->tick);
			npu_core_reg_write(b->core, 4 * random_below(&rnd, 64),
					   value, b->tick);
			npu_core_reg_write(b->core, NPU_CORE_CONTROL,
					   1u << random_below(&rnd, 4),
					   b->tick);
		}
		board_command(b, NPU_CORE_CONTROL_CLEAR_MASK);
	}
	assert_int_equal(board_state(b), NPU_CORE_STATE_IDLE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(mild),
		cmocka_unit_test(wild),
		cmocka_unit_test(noise),
		cmocka_unit_test(registers),
	};
	int failed;

	board_init(&board, BOARD_FEATURES);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	board_exit(&board);
	return failed;
}
