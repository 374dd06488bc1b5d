/* SPDX-License-Identifier: MIT */
/* Random programs for the compute core. */
#ifndef TESTS_UNIT_CORE_RANDOM_H
#define TESTS_UNIT_CORE_RANDOM_H

#include "tests/unit/core_board.h"

/* All that these programs reach through their regions. */
#define RANDOM_BASE	BOARD_DATA
#define RANDOM_BYTES	0x100000u

/* Run them with a table of this many entries. */
#define RANDOM_REGIONS	16u

/*
 * Writes a program of at most @max instructions, FINISH included, a region
 * table, and noise into memory. Most instructions are sensible, and then most
 * programs end well; @wild per cent of the instructions are not, and may be
 * anything. Programs race: what they do is the model's own affair, but it must
 * be the same whenever it is the same program.
 */
void random_program(struct board *b, struct random *r, u32 max, u32 wild);

#endif /* TESTS_UNIT_CORE_RANDOM_H */
