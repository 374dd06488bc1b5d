/* SPDX-License-Identifier: MIT */
/* Code that is stored is executed, with and without fence.i. */
#include "tests/rv32/program.h"

#define LI_A0(n)	(0x00000513 | (n) << 20)	/* addi a0, zero, n */
#define RET		0x00008067
#define C_LI_A0(n)	(0x4501 | (n) << 2)
#define C_RET		0x8082

main:
	/* The same place time and again */
	la	s9, spot
	li	a1, LI_A0(1)
	sw	a1, 0(s9)
	li	a1, RET
	sw	a1, 4(s9)
	jalr	s9
	CHECK(a0, 1)
	li	a1, LI_A0(2)
	sw	a1, 0(s9)
	jalr	s9
	CHECK(a0, 2)
	li	a1, LI_A0(3)
	sw	a1, 0(s9)
	fence.i
	jalr	s9
	CHECK(a0, 3)

	/* Only a byte, only a half of an instruction */
	li	a1, LI_A0(0x123) >> 24
	sb	a1, 3(s9)
	jalr	s9
	CHECK(a0, 0x123 & ~15 | 3)
	li	a1, LI_A0(0x456) >> 16
	sh	a1, 2(s9)
	jalr	s9
	CHECK(a0, 0x456)

	/* Two short ones where a long one was, and back */
	li	a1, C_LI_A0(5) | C_RET << 16
	sw	a1, 0(s9)
	jalr	s9
	CHECK(a0, 5)
	li	a1, LI_A0(6)
	sw	a1, 0(s9)
	jalr	s9
	CHECK(a0, 6)

	/* The upper half of an instruction that crosses two lines */
	la	s9, line - 2
	li	a1, LI_A0(7)
	sh	a1, 0(s9)
	srli	a1, a1, 16
	sh	a1, 2(s9)
	li	a1, C_RET
	sh	a1, 4(s9)
	jalr	s9
	CHECK(a0, 7)
	li	a1, LI_A0(8) >> 16
	sh	a1, 2(s9)
	jalr	s9
	CHECK(a0, 8)
	li	a1, LI_A0(9) >> 24
	sb	a1, 3(s9)
	jalr	s9
	CHECK(a0, 8)
	li	a1, LI_A0(0x9a0) >> 24
	sb	a1, 3(s9)
	jalr	s9
	CHECK(a0, 0xfffff9a8)

	/* A line of which only the end of a jump was ever executed */
	la	s9, jump_end - 2
	li	a1, RET
	sh	a1, 0(s9)
	srli	a1, a1, 16
	sh	a1, 2(s9)
	.option	push
	.option	norvc
	li	a0, 0
	jalr	s9
	addi	a0, a0, 1
	CHECK(a0, 1)
	li	a1, 4 << 4			/* returns 4 bytes further */
	sh	a1, 2(s9)
	li	a0, 0
	jalr	s9
	addi	a0, a0, 1
	CHECK(a0, 0)
	.option	pop

	/* A line that holds short instructions alone */
	la	s9, short
	li	a1, C_LI_A0(1) | C_RET << 16
	sw	a1, 0(s9)
	jalr	s9
	CHECK(a0, 1)
	li	a1, C_LI_A0(2)
	sh	a1, 0(s9)
	jalr	s9
	CHECK(a0, 2)

	/* An instruction that overwrites the next one, and one itself */
	li	a1, LI_A0(10)
	la	s9, 1f
	.balign	4
	.option	push
	.option	norvc
	sw	a1, 0(s9)
1:	addi	a0, zero, 99
	CHECK(a0, 10)
	la	s9, 2f
	li	a1, LI_A0(11)
	li	s10, 0
2:	sw	a1, 0(s9)
	addi	s10, s10, 1
	CHECK(s10, 1)
	lw	a0, 0(s9)
	CHECK(a0, LI_A0(11))
	.option	pop

	/* What the board writes is executed as well */
	la	s9, spot
	li	a1, LI_A0(12)
	sw	a1, 0(s9)
	li	a1, RET
	sw	a1, 4(s9)
	jalr	s9
	CHECK(a0, 12)
	li	t0, BOARD_POKE_ADDR
	sw	s9, 0(t0)
	li	t0, BOARD_POKE
	li	a1, LI_A0(13)
	sw	a1, 0(t0)
	jalr	s9
	CHECK(a0, 13)

	/* even where it hits the very instruction that asked for it */
	la	s9, 3f
	li	t1, BOARD_POKE_ADDR
	sw	s9, 0(t1)
	li	a1, LI_A0(14)
	li	s10, 0
	.balign	4
	.option	push
	.option	norvc
3:	sw	a1, 0(t0)
	.option	pop
	addi	s10, s10, 1
	CHECK(s10, 1)
	lw	a0, 0(s9)
	CHECK(a0, LI_A0(14))
	CHECK(s5, 0)
	PASS

	.balign	64
spot:	.zero	128
line:	.zero	64
	.zero	64
jump_end:
	.zero	64
short:	.zero	64
