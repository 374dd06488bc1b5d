/* SPDX-License-Identifier: MIT */
/* Accesses outside memory: sizes, extension, and accesses to x0. */
#include "tests/rv32/program.h"

#define SIZE_IS(n)			\
	lw	a0, 0(s10);		\
	CHECK(a0, n)

main:
	li	s9, BOARD_CELL
	li	s10, BOARD_SIZE
	li	a1, 0x8899aabb
	sw	a1, 0(s9)
	SIZE_IS(4)
	lb	a0, 1(s9)
	CHECK(a0, 0xffffffaa)
	SIZE_IS(1)
	lbu	a0, 1(s9)
	CHECK(a0, 0xaa)
	SIZE_IS(1)
	lh	a0, 2(s9)
	CHECK(a0, 0xffff8899)
	SIZE_IS(2)
	lhu	a0, 2(s9)
	CHECK(a0, 0x8899)
	SIZE_IS(2)
	lw	a0, 0(s9)
	CHECK(a0, 0x8899aabb)
	SIZE_IS(4)
	mv	s1, s9
	c.lw	a0, 0(s1)
	CHECK(a0, 0x8899aabb)

	li	a1, 0x11223344
	sb	a1, 3(s9)
	SIZE_IS(1)
	lw	a0, 0(s9)
	CHECK(a0, 0x4499aabb)
	sh	a1, 0(s9)
	SIZE_IS(2)
	lw	a0, 0(s9)
	CHECK(a0, 0x44993344)

	/* A load to x0 is made, and its result is dropped */
	lhu	zero, 4(s9)
	SIZE_IS(2)
	CHECK(zero, 0)
	sw	zero, 0(s9)
	lw	a0, 0(s9)
	CHECK(a0, 0)
	lw	zero, 0(s9)
	la	a1, 1f
	.balign	4
1:	lw	zero, 0(a1)
	CHECK(zero, 0)

	/* Base and destination are the same register */
	li	a1, 0x13579bdf
	sw	a1, 8(s9)
	mv	a0, s9
	lw	a0, 8(a0)
	CHECK(a0, 0x13579bdf)
	CHECK(s5, 0)
	PASS
