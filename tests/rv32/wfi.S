/* SPDX-License-Identifier: MIT */
/* Waiting: what ends it, and what runs then. */
#include "tests/rv32/program.h"

#define TIMER_IN(cycles)		\
	li	t0, BOARD_TIMER;	\
	li	t1, cycles;		\
	sw	t1, 0(t0)

	.option	norvc
main:
	/* Interrupts off: the line ends the wait and no trap is taken */
	li	a1, 0x80
	csrw	mie, a1
	TIMER_IN(10000)
	csrr	a2, mcycle
	wfi
	csrr	a3, mcycle
	CHECK(s5, 0)
	sub	a3, a3, a2
	/* the store itself took the first cycle */
	CHECK(a3, 9999)
	csrr	a0, mip
	CHECK(a0, 0x80)

	/* The line is up already: no wait */
	wfi
	wfi
	CHECK(s5, 0)
	li	t0, BOARD_IRQ_CLEAR
	li	t1, 0x80
	sw	t1, 0(t0)

	/* Interrupts on: the trap returns behind the wait */
	csrsi	mstatus, 8
	TIMER_IN(50)
	wfi
next:	CHECK(s5, 1)
	CHECK(s2, 0x80000007)
	CHECK_ADDR(s4, next)
	PASS
