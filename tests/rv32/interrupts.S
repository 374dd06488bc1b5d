/* SPDX-License-Identifier: MIT */
/* Interrupts: masks, priority, entry and return, direct and vectored. */
#include "tests/rv32/program.h"

#define EXTERNAL	0x800
#define TIMER		0x80

#define RAISE(lines)			\
	li	t0, BOARD_IRQ_SET;	\
	li	t1, lines;		\
	sw	t1, 0(t0)

#define LOWER(lines)			\
	li	t0, BOARD_IRQ_CLEAR;	\
	li	t1, lines;		\
	sw	t1, 0(t0)

	.option	norvc
main:
	/* Raised, but not enabled in mie; then not in mstatus */
	csrsi	mstatus, 8
	RAISE(EXTERNAL | TIMER)
	nop
	CHECK(s5, 0)
	csrci	mstatus, 8
	li	a1, EXTERNAL | TIMER
	csrw	mie, a1
	nop
	CHECK(s5, 0)
	LOWER(EXTERNAL | TIMER)

	/* Taken between the raising store and the next instruction */
	csrsi	mstatus, 8
	RAISE(EXTERNAL)
next1:	CHECK(s5, 1)
	li	s5, 0
	CHECK(s2, 0x8000000b)
	CHECK(s3, 0)
	CHECK_ADDR(s4, next1)
	CHECK(s6, 0x1880)
	csrr	a0, mstatus
	CHECK(a0, 0x1888)
	RAISE(TIMER)
next2:	CHECK(s5, 1)
	li	s5, 0
	CHECK(s2, 0x80000007)
	CHECK_ADDR(s4, next2)

	/* Both pending: external, then timer, before anything else runs */
	csrci	mstatus, 8
	RAISE(EXTERNAL | TIMER)
	li	s9, 0
	csrsi	mstatus, 8
next3:	CHECK(s5, 2)
	li	s5, 0
	CHECK(s2, 0x80000007)
	CHECK_ADDR(s4, next3)

	/* Enabling by mie takes effect at once, too */
	csrw	mie, zero
	RAISE(TIMER)
	li	a1, TIMER
	csrs	mie, a1
next4:	CHECK(s5, 1)
	li	s5, 0
	CHECK_ADDR(s4, next4)

	/* mret enables: the interrupt comes before what it returns to */
	li	a1, EXTERNAL
	csrw	mie, a1
	csrci	mstatus, 8
	RAISE(EXTERNAL)
	la	a1, next5
	csrw	mepc, a1
	li	a1, 0x80
	csrs	mstatus, a1
	mret
	j	bad
next5:	CHECK(s5, 1)
	li	s5, 0
	CHECK_ADDR(s4, next5)

	/* The timer comes in the middle of a loop */
	li	a1, TIMER
	csrw	mie, a1
	li	t0, BOARD_TIMER
	li	t1, 100
	sw	t1, 0(t0)
	li	a1, 1000
1:	addi	a1, a1, -1
	bnez	s5, 2f
	bnez	a1, 1b
	j	bad
2:	CHECK(s2, 0x80000007)
	li	s5, 0
	/*
	 * 99 instructions follow the store: one before the loop, three a round,
	 * and what is left of a round that has tested s5 already
	 */
	CHECK(a1, 1000 - 34)

	/* Vectored: each interrupt has its entry, exceptions use the first */
	la	a1, vectors + 1
	csrw	mtvec, a1
	li	a1, EXTERNAL | TIMER
	csrw	mie, a1
	RAISE(TIMER)
	CHECK(s9, 7)
	RAISE(EXTERNAL)
	CHECK(s9, 11)
	ecall
	CHECK(s9, 100)

	/* Nested: the handler allows the other line */
	la	a1, outer
	csrw	mtvec, a1
	csrw	mie, a1
	li	a1, EXTERNAL | TIMER
	csrw	mie, a1
	li	s9, 0
	RAISE(TIMER)
	CHECK(s9, 0x21)
	csrr	a0, mstatus
	CHECK(a0, 0x1888)
	PASS

bad:	li	a0, __LINE__
	j	fail

	.balign	4
vectors:
	j	exception
	.word	0, 0, 0, 0, 0, 0
	j	timer
	.word	0, 0, 0
	j	external

timer:
	li	s9, 7
	LOWER(TIMER)
	mret
external:
	li	s9, 11
	LOWER(EXTERNAL)
	mret
exception:
	li	s9, 100
	csrr	a1, mepc
	addi	a1, a1, 4
	csrw	mepc, a1
	mret

	/* s9 becomes 1, by the inner interrupt 2 times 16 more */
	.balign	4
outer:
	csrr	t2, mcause
	andi	t2, t2, 15
	addi	t2, t2, -11
	beqz	t2, inner
	addi	s9, s9, 1
	LOWER(TIMER)
	csrr	s10, mepc
	RAISE(EXTERNAL)
	csrsi	mstatus, 8
	csrci	mstatus, 8
	csrw	mepc, s10
	li	t2, 0x80
	csrs	mstatus, t2
	mret
inner:
	addi	s9, s9, 32
	LOWER(EXTERNAL)
	mret
