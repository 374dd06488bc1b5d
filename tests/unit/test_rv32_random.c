// SPDX-License-Identifier: MIT
/*
 * Compares the interpreter with qemu-riscv32: random sequences of unprivileged
 * instructions must leave the same registers and memory. One image holds many
 * sequences; its state as it is at the end comes from QEMU by a write system
 * call, and from the board by what that call would write.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#include "tests/rv32/board.h"

#define IMAGE_BASE	0x10000
#define TCM_SIZE	0x100000
#define CYCLE_LIMIT	10000000

#define SYS_WRITE	64

/* Words of a sequence's state: registers, then memory */
#define STATE_WORDS	96

/* Reads what the program prints under QEMU. Ends the test on failure. */
static size_t run_qemu(const char *name, u8 *out, size_t size)
{
	char command[512];
	FILE *pipe;
	size_t n;

	snprintf(command, sizeof(command), "qemu-riscv32 %s/%s.elf", RV32_DIR, name);
	pipe = popen(command, "r");
	assert_non_null(pipe);
	n = fread(out, 1, size, pipe);
	assert_int_equal(pclose(pipe), 0);
	return n;
}

/*
 * Runs the image up to its first system call, which halts: there is no trap
 * handler at mtvec, which is 0.
 */
static struct board *run_board(const char *name, u32 slice)
{
	struct board *board = board_new(IMAGE_BASE, TCM_SIZE);
	char path[256];

	snprintf(path, sizeof(path), "%s/%s.bin", RV32_DIR, name);
	assert_int_not_equal(board_load(board, path), 0);
	rv32_reset(&board->cpu, IMAGE_BASE);
	board_run(board, slice, CYCLE_LIMIT);

	if (board->cpu.mcause != RV32_CAUSE_ECALL || board->cpu.x[17] != SYS_WRITE)
		fail_msg("%s: ends with cause %u, mtval %#x at %#x", name,
			 board->cpu.mcause, board->cpu.mtval, board->cpu.mepc);
	assert_int_equal(board->cpu.halt, RV32_HALT_DOUBLE_TRAP);
	return board;
}

static void compare(const char *name, const u8 *expected, const u8 *found, size_t n)
{
	size_t i;

	for (i = 0; i < n / 4; i++) {
		size_t sequence = i / STATE_WORDS;
		size_t word = i % STATE_WORDS;
		u32 want = npu_get_le32(expected + 4 * i);
		u32 have = npu_get_le32(found + 4 * i);

		if (want != have)
			fail_msg("%s, sequence %zu: %s %zu is %#x, expected %#x",
				 name, sequence, word < 32 ? "register" : "memory word",
				 word < 32 ? word : word - 32, have, want);
	}
}

static void test_image(void **state)
{
	static const u32 slices[] = { 1u << 30, 13 };
	const char *name = *state;
	u8 *expected = malloc(TCM_SIZE);
	size_t n, i;

	assert_non_null(expected);
	n = run_qemu(name, expected, TCM_SIZE);
	assert_true(n >= 4 * STATE_WORDS);
	for (i = 0; i < sizeof(slices) / sizeof(slices[0]); i++) {
		struct board *board = run_board(name, slices[i]);
		u32 offset = board->cpu.x[11] - IMAGE_BASE;

		assert_int_equal(board->cpu.x[12], n);
		assert_true(offset < TCM_SIZE && n <= TCM_SIZE - offset);
		compare(name, expected, board->tcm + offset, n);
		board_free(board);
	}
	free(expected);
}

#define IMAGE(name) { #name, test_image, NULL, NULL, #name }

int main(void)
{
	const struct CMUnitTest tests[] = {
		IMAGE(random1), IMAGE(random2), IMAGE(random3), IMAGE(random4),
		IMAGE(random5), IMAGE(random6), IMAGE(random7), IMAGE(random8),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
