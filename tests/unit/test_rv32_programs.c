// SPDX-License-Identifier: MIT
/*
 * Runs the programs of tests/rv32, which check the processor from inside. Each
 * runs in long slices, in single steps and in slices of a prime length, which
 * must not make a difference.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "tests/rv32/board.h"

#define CYCLE_LIMIT 1000000

struct outcome {
	u32 x[32];
	u64 insns;
	u64 cycles;
};

static void run_program(const char *name, u32 slice, struct outcome *out)
{
	struct board *board = board_new(BOARD_TCM_BASE, BOARD_TCM_SIZE);
	char path[256];

	snprintf(path, sizeof(path), RV32_DIR "/%s.bin", name);
	assert_int_not_equal(board_load(board, path), 0);
	rv32_reset(&board->cpu, BOARD_TCM_BASE);
	board_run(board, slice, CYCLE_LIMIT);

	if (!board->exited)
		fail_msg("%s.S stands at pc %#x, halt %d, cause %#x, mepc %#x", name,
			 board->cpu.pc, board->cpu.halt, board->cpu.mcause,
			 board->cpu.mepc);
	if (board->exit_code)
		fail_msg("the check in %s.S:%u does not hold (s2 %#x s3 %#x s4 %#x s5 %u a0 %#x)",
			 name, board->exit_code, board->cpu.x[18], board->cpu.x[19],
			 board->cpu.x[20], board->cpu.x[21], board->cpu.x[10]);
	memcpy(out->x, board->cpu.x, sizeof(out->x));
	out->insns = board->cpu.insns;
	out->cycles = board->cpu.cycles;
	board_free(board);
}

static void test_program(void **state)
{
	const char *name = *state;
	static const u32 slices[] = { 1, 7 };
	struct outcome whole, sliced;
	size_t i;

	run_program(name, 1u << 20, &whole);
	for (i = 0; i < sizeof(slices) / sizeof(slices[0]); i++) {
		run_program(name, slices[i], &sliced);
		assert_memory_equal(whole.x, sliced.x, sizeof(whole.x));
		assert_int_equal(whole.insns, sliced.insns);
		assert_int_equal(whole.cycles, sliced.cycles);
	}
}

#define PROGRAM(name) { #name, test_program, NULL, NULL, #name }

int main(void)
{
	const struct CMUnitTest tests[] = {
		PROGRAM(exceptions),
		PROGRAM(csr),
		PROGRAM(interrupts),
		PROGRAM(wfi),
		PROGRAM(counters),
		PROGRAM(selfmod),
		PROGRAM(mmio),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
