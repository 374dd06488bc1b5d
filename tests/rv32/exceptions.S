/* SPDX-License-Identifier: MIT */
/* Every exception: cause, value, address, and where execution goes on. */
#include "tests/rv32/program.h"

#define ILLEGAL_WORD(bits)		\
	.option	push;			\
	.option	norvc;			\
88:	.word	bits;			\
	.option	pop;			\
	CHECK_TRAP(2, bits, 88b)

#define ILLEGAL_HALF(bits)		\
88:	.half	bits;			\
	CHECK_TRAP(2, bits, 88b)

/* @insn accesses @offset(a1), which faults with @cause */
#define BAD_ACCESS(insn, address, cause)	\
	li	a1, address;			\
	li	a2, 0x12345678;			\
88:	insn	a2, 0(a1);			\
	CHECK_TRAP(cause, address, 88b);	\
	CHECK(a2, 0x12345678)

	.equ	below, 0x7ffffff0

main:
	/* Environment call and breakpoint, and the stack of mstatus.MIE */
	csrsi	mstatus, 8
here1:	ecall
	CHECK_TRAP(11, 0, here1)
	CHECK(s6, 0x1880)
	csrr	a0, mstatus
	CHECK(a0, 0x1888)
	csrci	mstatus, 8
	csrr	a0, mstatus
	CHECK(a0, 0x1880)
	ecall
	li	s5, 0
	CHECK(s6, 0x1800)
	csrr	a0, mstatus
	CHECK(a0, 0x1880)

	.option	push
	.option	norvc
here2:	ebreak
	.option	pop
	la	a0, here2
	bne	a0, s3, 1f
	CHECK_ADDR(s4, here2)
	CHECK(s2, 3)
	li	s5, 0
here3:	c.ebreak
	la	a0, here3
	bne	a0, s3, 1f
	CHECK_ADDR(s4, here3)
	CHECK(s2, 3)
	CHECK(s5, 1)
	li	s5, 0
	j	2f
1:	li	a0, __LINE__
	j	fail
2:
	/* What is no instruction of this processor */
	ILLEGAL_WORD(0xffffffff)
	ILLEGAL_WORD(0x10200073)	/* sret */
	ILLEGAL_WORD(0x00200073)	/* uret */
	ILLEGAL_WORD(0x7b200073)	/* dret */
	ILLEGAL_WORD(0x12000073)	/* sfence.vma */
	ILLEGAL_WORD(0x302000f3)	/* mret with a destination */
	ILLEGAL_WORD(0x105000f3)	/* wfi with a destination */
	ILLEGAL_WORD(0x00008073)	/* ecall with a source */
	ILLEGAL_WORD(0x00104073)	/* SYSTEM funct3 4 */
	ILLEGAL_WORD(0x340000f3)	/* number of a CSR, funct3 0 */
	ILLEGAL_WORD(0x340040f3)	/* number of a CSR, funct3 4 */
	ILLEGAL_WORD(0x00002007)	/* flw */
	ILLEGAL_WORD(0x00002027)	/* fsw */
	ILLEGAL_WORD(0x00000053)	/* fadd.s */
	ILLEGAL_WORD(0x0000202f)	/* amoadd.w */
	ILLEGAL_WORD(0x0000001b)	/* addiw */
	ILLEGAL_WORD(0x0000003b)	/* addw */
	ILLEGAL_WORD(0x00003003)	/* ld */
	ILLEGAL_WORD(0x00006003)	/* lwu */
	ILLEGAL_WORD(0x00003023)	/* sd */
	ILLEGAL_WORD(0x00002063)	/* BRANCH funct3 2 */
	ILLEGAL_WORD(0x00003063)	/* BRANCH funct3 3 */
	ILLEGAL_WORD(0x00001067)	/* JALR funct3 1 */
	ILLEGAL_WORD(0x0000200f)	/* MISC-MEM funct3 2 */
	ILLEGAL_WORD(0x02001013)	/* slli by 32 */
	ILLEGAL_WORD(0x02005013)	/* srli by 32 */
	ILLEGAL_WORD(0x42005013)	/* srai by 32 */
	ILLEGAL_WORD(0x40001013)	/* slli with bit 30 */
	ILLEGAL_WORD(0x40001033)	/* sll with bit 30 */
	ILLEGAL_WORD(0x40007033)	/* andn */
	ILLEGAL_WORD(0x04000033)	/* OP funct7 2 */
	ILLEGAL_WORD(0x0000001f)	/* prefix of a longer instruction */
	ILLEGAL_HALF(0x0000)		/* defined illegal */
	ILLEGAL_HALF(0x0004)		/* c.addi4spn of 0 */
	ILLEGAL_HALF(0x2000)		/* c.fld */
	ILLEGAL_HALF(0x6000)		/* c.flw */
	ILLEGAL_HALF(0x8000)		/* reserved */
	ILLEGAL_HALF(0xa000)		/* c.fsd */
	ILLEGAL_HALF(0xe000)		/* c.fsw */
	ILLEGAL_HALF(0x6101)		/* c.addi16sp of 0 */
	ILLEGAL_HALF(0x6081)		/* c.lui of 0 */
	ILLEGAL_HALF(0x9001)		/* c.srli by 32 */
	ILLEGAL_HALF(0x9401)		/* c.srai by 32 */
	ILLEGAL_HALF(0x9c01)		/* c.subw */
	ILLEGAL_HALF(0x9c21)		/* c.addw */
	ILLEGAL_HALF(0x9c41)		/* reserved */
	ILLEGAL_HALF(0x9c61)		/* reserved */
	ILLEGAL_HALF(0x1082)		/* c.slli by 32 */
	ILLEGAL_HALF(0x2002)		/* c.fldsp */
	ILLEGAL_HALF(0x4002)		/* c.lwsp to x0 */
	ILLEGAL_HALF(0x6002)		/* c.flwsp */
	ILLEGAL_HALF(0x8002)		/* c.jr of x0 */
	ILLEGAL_HALF(0xa002)		/* c.fsdsp */
	ILLEGAL_HALF(0xe002)		/* c.fswsp */

	/* Hints and fences that do nothing */
	.half	0x0005			/* c.nop with an immediate */
	.half	0x4005			/* c.li to x0 */
	.half	0x6005			/* c.lui to x0 */
	.half	0x8006			/* c.mv to x0 */
	.half	0x9006			/* c.add to x0 */
	.half	0x0006			/* c.slli of x0 */
	fence
	fence.i
	.word	0x8330000f		/* fence.tso */
	CHECK(s5, 0)
	CHECK(x0, 0)

	/* Misaligned accesses, wherever they go */
	BAD_ACCESS(lh, BOARD_TCM_END - 15, 4)
	BAD_ACCESS(lhu, BOARD_TCM_END - 1, 4)
	BAD_ACCESS(lw, BOARD_TCM_END - 15, 4)
	BAD_ACCESS(lw, BOARD_TCM_END - 14, 4)
	BAD_ACCESS(lw, BOARD_TCM_END - 2, 4)
	BAD_ACCESS(sh, BOARD_TCM_END - 1, 6)
	BAD_ACCESS(sw, BOARD_TCM_END - 6, 6)
	BAD_ACCESS(sw, BOARD_TCM_END - 3, 6)
	BAD_ACCESS(lw, BOARD_CELL + 2, 4)
	BAD_ACCESS(lh, BOARD_CELL + 1, 4)
	BAD_ACCESS(sw, BOARD_CELL + 2, 6)
	BAD_ACCESS(sh, BOARD_CELL + 3, 6)
	BAD_ACCESS(lw, 0x00000001, 4)
	BAD_ACCESS(sw, 0xffffffff, 6)

	/* Addresses where nothing answers, and one that refuses */
	BAD_ACCESS(lb, 0x00000000, 5)
	BAD_ACCESS(lbu, BOARD_TCM_END, 5)
	BAD_ACCESS(lh, BOARD_TCM_BASE - 2, 5)
	BAD_ACCESS(lhu, 0xfffffffe, 5)
	BAD_ACCESS(lw, BOARD_FAULT, 5)
	BAD_ACCESS(c.lw, BOARD_FAULT, 5)
	BAD_ACCESS(sb, BOARD_TCM_END, 7)
	BAD_ACCESS(sh, BOARD_TCM_BASE - 2, 7)
	BAD_ACCESS(sw, BOARD_FAULT, 7)
	BAD_ACCESS(c.sw, BOARD_FAULT, 7)

	/* An address that wraps around lands where it says */
	li	a1, 0xfffffffc
	li	a2, 0
wrap:	lw	a2, 4(a1)
	CHECK_TRAP(5, 0, wrap)

	/* Jumps out of memory retire, and the target faults */
	la	s7, back1
	li	a1, 0x10000001
	jalr	ra, 1(a1)
link1:	j	bad
back1:	CHECK_TRAP(1, 0x10000002, 0x10000002)
	CHECK_ADDR(ra, link1)
	la	s7, back2
	jal	t1, below
link2:	j	bad
back2:	CHECK_TRAP(1, 0x7ffffff0, below)
	CHECK_ADDR(t1, link2)
	la	s7, back3
	j	far
back3:	CHECK_TRAP(1, 0x7ffffff0, below)

	/* Execution that runs off the end of memory */
	li	a1, BOARD_TCM_END - 4
	li	a2, 0x00000013
	sw	a2, 0(a1)
	la	s7, back4
	jr	a1
back4:	CHECK_TRAP(1, BOARD_TCM_END, BOARD_TCM_END)
	li	a2, 0x00130001		/* c.nop, half of a nop */
	sw	a2, 0(a1)
	la	s7, back5
	jr	a1
back5:	CHECK_TRAP(1, BOARD_TCM_END, BOARD_TCM_END - 2)
	li	a2, 0x00010001		/* c.nop twice */
	sw	a2, 0(a1)
	la	s7, back6
	jr	a1
back6:	CHECK_TRAP(1, BOARD_TCM_END, BOARD_TCM_END)
	PASS

bad:	li	a0, __LINE__
	j	fail

	/* Near enough to the start of memory for a conditional branch */
	.section .text.start, "ax"
far:	beq	zero, zero, below
	j	bad
