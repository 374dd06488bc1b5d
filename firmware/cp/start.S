/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 OR MIT */
/* Entry and trap vector. Interrupts are polled, so every trap is unexpected. */
	.section .text.start, "ax"
	.globl	_start
_start:
	.option	push
	.option	norelax
	la	gp, __global_pointer$
	.option	pop
	la	sp, stack_top
	la	t0, trap_entry
	csrw	mtvec, t0
	la	t0, bss_start
	la	t1, bss_end
1:	bgeu	t0, t1, 2f
	sw	zero, 0(t0)
	addi	t0, t0, 4
	j	1b
2:	call	fw_main
	/* fw_main() does not return. */
	ebreak

	.balign	4
trap_entry:
	/* What traps from here on ends in sleep. */
	la	t0, sleep
	csrw	mtvec, t0
	la	sp, stack_top
	csrr	a0, mcause
	call	fw_trap

	.balign	4
sleep:
	csrw	mie, zero
1:	wfi
	j	1b
