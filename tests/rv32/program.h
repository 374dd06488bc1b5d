/* SPDX-License-Identifier: MIT */
/*
 * Head of every test program. A program ends by PASS, or by the first CHECK
 * that does not hold, whose line is then its exit code.
 *
 * "record" is a trap handler that keeps what it saw and resumes behind the
 * trapping instruction, or at s7 where that is set:
 *	s2 mcause, s3 mtval, s4 mepc, s5 number of traps, s6 mstatus
 * It changes t6 besides, which CHECK uses too.
 */
#include "tests/rv32/board_regs.h"

#define CHECK(reg, value)		\
	li	t6, value;		\
	beq	reg, t6, 77f;		\
	li	a0, __LINE__;		\
	j	fail;			\
77:

#define CHECK_ADDR(reg, label)		\
	la	t6, label;		\
	beq	reg, t6, 77f;		\
	li	a0, __LINE__;		\
	j	fail;			\
77:

/* The one trap since the last one checked */
#define CHECK_TRAP(cause, value, label)	\
	CHECK(s5, 1);			\
	li	s5, 0;			\
	CHECK(s2, cause);		\
	CHECK(s3, value);		\
	CHECK_ADDR(s4, label)

#define PASS				\
	li	a0, 0;			\
	j	fail

	.section .text.start, "ax"
	.globl	_start
_start:
	la	t0, record
	csrw	mtvec, t0
	j	main

	.text
fail:
	li	t0, BOARD_EXIT
	sw	a0, 0(t0)
1:	j	1b

	.balign	4
record:
	csrr	s2, mcause
	csrr	s3, mtval
	csrr	s4, mepc
	csrr	s6, mstatus
	addi	s5, s5, 1
	bltz	s2, 2f
	beqz	s7, 1f
	csrw	mepc, s7
	li	s7, 0
	mret
1:	lhu	t6, 0(s4)
	andi	t6, t6, 3
	addi	t6, t6, -3
	seqz	t6, t6
	slli	t6, t6, 1
	add	t6, t6, s4
	addi	t6, t6, 2
	csrw	mepc, t6
	mret
	/* An interrupt: lower the line that the cause names */
2:	li	t6, 1
	sll	t6, t6, s2
	li	s8, BOARD_IRQ_CLEAR
	sw	t6, 0(s8)
	mret
