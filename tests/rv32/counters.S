/* SPDX-License-Identifier: MIT */
/* mcycle and minstret: what counts, and what a write does. */
#include "tests/rv32/program.h"

	.option	norvc
main:
	csrr	a1, minstret
	csrr	a2, minstret
	sub	a0, a2, a1
	CHECK(a0, 1)
	csrr	a1, mcycle
	nop
	nop
	csrr	a2, mcycle
	sub	a0, a2, a1
	CHECK(a0, 3)

	/* A low half that is written shows at the next instruction */
	li	a1, 0x1000
	csrw	minstret, a1
	csrr	a0, minstret
	CHECK(a0, 0x1000)
	csrw	mcycle, a1
	csrr	a0, mcycle
	CHECK(a0, 0x1000)

	/* High halves keep, and take the carry */
	li	a1, 7
	csrw	minstreth, a1
	csrw	mcycleh, a1
	csrr	a0, minstreth
	CHECK(a0, 7)
	csrr	a0, mcycleh
	CHECK(a0, 7)
	li	a1, -1
	csrw	minstret, a1
	csrr	a0, minstret
	csrr	a2, minstreth
	CHECK(a0, -1)
	CHECK(a2, 8)
	csrw	mcycle, a1
	csrr	a0, mcycleh
	csrr	a2, mcycleh
	CHECK(a0, 7)
	CHECK(a2, 8)
	li	a1, -1
	csrw	mcycleh, a1
	csrw	mcycle, a1
	nop
	csrr	a0, mcycleh
	CHECK(a0, 0)

	/* A trapping instruction takes a cycle and does not retire */
	csrr	a1, mcycle
	csrr	a2, minstret
	ecall
	csrr	a3, minstret
	csrr	a4, mcycle
	sub	a3, a3, a2
	sub	a4, a4, a1
	sub	a4, a4, a3
	/* once for the ecall, twice for the order of the reads */
	CHECK(a4, 3)
	li	s5, 0

	/* Cycles that the board adds are cycles, not instructions */
	li	t0, BOARD_STALL
	li	t1, 1000
	csrr	a1, mcycle
	csrr	a2, minstret
	sw	t1, 0(t0)
	csrr	a3, minstret
	csrr	a4, mcycle
	sub	a3, a3, a2
	sub	a4, a4, a1
	CHECK(a3, 2)
	CHECK(a4, 1004)
	PASS
