/* SPDX-License-Identifier: MIT */
/* Each CSR: what it keeps of a write, and which accesses are illegal. */
#include "tests/rv32/program.h"

/* All ones and all zeros through the register @csr */
#define KEEPS(csr, ones, zeros)		\
	li	a1, -1;			\
	csrw	csr, a1;		\
	csrr	a0, csr;		\
	CHECK(a0, ones);		\
	csrw	csr, zero;		\
	csrr	a0, csr;		\
	CHECK(a0, zeros)

#define ILLEGAL(insn...)		\
	li	a0, 0x55;		\
88:	insn;				\
	CHECK(s5, 1);			\
	li	s5, 0;			\
	CHECK(s2, 2);			\
	CHECK_ADDR(s4, 88b);		\
	lw	a1, 0(s4);		\
	bne	a1, s3, bad;		\
	CHECK(a0, 0x55)

	.option	norvc
main:
	/* MIE is set for an instant, with no interrupt enabled */
	KEEPS(mstatus, 0x1888, 0x1800)
	KEEPS(0x310, 0, 0)
	KEEPS(misa, 0x40001104, 0x40001104)
	KEEPS(mie, 0x880, 0)
	KEEPS(mscratch, 0xffffffff, 0)
	KEEPS(mepc, 0xfffffffe, 0)
	KEEPS(mcause, 0xffffffff, 0)
	KEEPS(mtval, 0xffffffff, 0)
	KEEPS(mip, 0, 0)
	csrr	a2, mtvec
	KEEPS(mtvec, 0xfffffffd, 0)
	csrw	mtvec, a2

	/* The lines show in mip, and a write leaves them alone */
	li	a1, BOARD_IRQ_SET
	li	a2, -1
	sw	a2, 0(a1)
	csrw	mip, zero
	csrr	a0, mip
	CHECK(a0, 0x880)
	li	a1, BOARD_IRQ_CLEAR
	li	a2, 0x800
	sw	a2, 0(a1)
	csrr	a0, mip
	CHECK(a0, 0x80)
	li	a2, 0x80
	sw	a2, 0(a1)
	csrr	a0, mip
	CHECK(a0, 0)

	/* Identification */
	csrr	a0, mvendorid
	CHECK(a0, 0)
	csrr	a0, marchid
	CHECK(a0, 0)
	csrr	a0, mimpid
	CHECK(a0, 0)
	csrr	a0, mhartid
	CHECK(a0, BOARD_HARTID)
	csrr	a0, 0xf15
	CHECK(a0, 0)
	csrrc	a0, mhartid, zero
	CHECK(a0, BOARD_HARTID)
	csrrsi	a0, mhartid, 0
	CHECK(a0, BOARD_HARTID)
	csrrci	a0, mhartid, 0
	CHECK(a0, BOARD_HARTID)

	/* The six forms */
	li	a1, 0x0ff00ff0
	csrrw	a0, mscratch, a1
	CHECK(a0, 0)
	li	a1, 0xf000000f
	csrrs	a0, mscratch, a1
	CHECK(a0, 0x0ff00ff0)
	li	a1, 0x0f00000f
	csrrc	a0, mscratch, a1
	CHECK(a0, 0xfff00fff)
	csrrwi	a0, mscratch, 31
	CHECK(a0, 0xf0f00ff0)
	csrrci	a0, mscratch, 17
	CHECK(a0, 31)
	csrrsi	a0, mscratch, 16
	CHECK(a0, 14)
	csrrs	a0, mscratch, zero
	CHECK(a0, 30)
	csrrwi	zero, mscratch, 0
	csrr	a0, mscratch
	CHECK(a0, 0)
	/* Source and destination are the same register */
	li	a0, 0x1234
	csrrw	a0, mscratch, a0
	CHECK(a0, 0)
	csrrw	a0, mscratch, a0
	CHECK(a0, 0x1234)
	csrrs	zero, mscratch, a0
	CHECK(zero, 0)

	/* Writes to what is read-only by number, even of the same value */
	ILLEGAL(csrrw a0, mhartid, zero)
	ILLEGAL(csrrwi a0, mhartid, 0)
	ILLEGAL(csrrs a0, mhartid, a0)
	ILLEGAL(csrrc a0, mhartid, a0)
	ILLEGAL(csrrsi a0, mhartid, 1)
	ILLEGAL(csrrci a0, mhartid, 1)
	ILLEGAL(csrw mvendorid, a0)
	ILLEGAL(csrw marchid, a0)
	ILLEGAL(csrw mimpid, a0)
	ILLEGAL(csrw 0xf15, a0)

	/* CSRs that this processor has not */
	ILLEGAL(csrr a0, 0x000)
	ILLEGAL(csrr a0, fcsr)
	ILLEGAL(csrr a0, cycle)
	ILLEGAL(csrr a0, time)
	ILLEGAL(csrr a0, instret)
	ILLEGAL(csrr a0, sstatus)
	ILLEGAL(csrr a0, satp)
	ILLEGAL(csrr a0, medeleg)
	ILLEGAL(csrr a0, mideleg)
	ILLEGAL(csrr a0, mcounteren)
	ILLEGAL(csrr a0, mcountinhibit)
	ILLEGAL(csrr a0, mhpmevent3)
	ILLEGAL(csrr a0, mhpmcounter3)
	ILLEGAL(csrr a0, 0xb01)
	ILLEGAL(csrr a0, pmpcfg0)
	ILLEGAL(csrr a0, pmpaddr0)
	ILLEGAL(csrr a0, 0x7a0)
	ILLEGAL(csrr a0, 0x7b0)
	ILLEGAL(csrr a0, 0xf10)
	ILLEGAL(csrr a0, 0xf16)
	ILLEGAL(csrr a0, 0xfff)
	ILLEGAL(csrw 0x3ff, a0)
	ILLEGAL(csrrwi zero, 0x345, 3)
	CHECK(s5, 0)
	PASS

bad:	li	a0, __LINE__
	j	fail
