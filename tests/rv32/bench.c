// SPDX-License-Identifier: MIT
/* Speed of the interpreter on firmware-like code. Prints "name value". */
#include <stdio.h>
#include <time.h>

#include "tests/rv32/board.h"

#define STEPS 100000000u

static double cpu_seconds(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return ts.tv_sec + ts.tv_nsec * 1e-9;
}

int main(void)
{
	struct board *board = board_new(BOARD_TCM_BASE, BOARD_TCM_SIZE);
	double start;
	u32 steps;

	if (!board_load(board, RV32_DIR "/workload.bin")) {
		fprintf(stderr, "%s/workload.bin cannot be read\n", RV32_DIR);
		return 1;
	}
	rv32_reset(&board->cpu, BOARD_TCM_BASE);
	start = cpu_seconds();
	steps = rv32_run(&board->cpu, STEPS);
	if (steps != STEPS || board->cpu.mcause) {
		fprintf(stderr, "stopped at pc %#x, cause %u\n", board->cpu.pc,
			board->cpu.mcause);
		return 1;
	}
	printf("rv32_mips %.1f\n", steps / (cpu_seconds() - start) / 1e6);
	board_free(board);
	return 0;
}
