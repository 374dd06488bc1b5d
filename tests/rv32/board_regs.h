/* SPDX-License-Identifier: MIT */
/* Memory and registers of the board, for test programs and the board itself. */
#ifndef TESTS_RV32_BOARD_REGS_H
#define TESTS_RV32_BOARD_REGS_H

#define BOARD_TCM_BASE	0x80000000
#define BOARD_TCM_SIZE	0x10000
#define BOARD_TCM_END	0x80010000
#define BOARD_HARTID	5

#define BOARD_EXIT	0x40000000	/* w: ends the program with this code */
#define BOARD_IRQ_SET	0x40000004	/* w: raises lines, r: level of all */
#define BOARD_IRQ_CLEAR	0x40000008	/* w: lowers lines */
#define BOARD_FAULT	0x4000000c	/* every access faults */
#define BOARD_TIMER	0x40000010	/* w: timer line rises in n cycles */
#define BOARD_POKE_ADDR	0x40000014	/* w: address for BOARD_POKE */
#define BOARD_POKE	0x40000018	/* w: the board writes a word to TCM */
#define BOARD_STALL	0x4000001c	/* w: lets n cycles pass */
#define BOARD_SIZE	0x40000020	/* r: bytes of the last cell access */
#define BOARD_CELL	0x40000040	/* rw, any size: 16 bytes of storage */

#endif /* TESTS_RV32_BOARD_REGS_H */
