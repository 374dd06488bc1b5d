/* SPDX-License-Identifier: MIT */
/*
 * A board around the processor's interpreter: tightly coupled memory and a
 * few registers by which test programs report and provoke.
 */
#ifndef TESTS_RV32_BOARD_H
#define TESTS_RV32_BOARD_H

#include "firmware/model/rv32.h"
#include "tests/rv32/board_regs.h"

struct board {
	struct rv32 cpu;
	struct rv32_bus bus;
	u8 *tcm;
	void *predecode;
	u8 cells[16];
	u32 cell_size;
	u32 poke_addr;
	u64 timer;	/* cycle at which the line rises, 0 for never */
	bool exited;
	u32 exit_code;
};

/* Ends the calling process where memory is lacking. */
struct board *board_new(u32 tcm_base, u32 tcm_size);
void board_free(struct board *board);

/* Returns the bytes loaded at the start of TCM, 0 where @path cannot be. */
size_t board_load(struct board *board, const char *path);

/*
 * Runs in slices of at most @slice steps until exit, halt, @limit cycles, or a
 * wait that nothing will end.
 */
void board_run(struct board *board, u32 slice, u64 limit);

#endif /* TESTS_RV32_BOARD_H */
