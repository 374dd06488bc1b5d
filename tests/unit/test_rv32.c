// SPDX-License-Identifier: MIT
/* The interpreter as its owner sees it: set-up, slices, lines, halts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "tests/rv32/board.h"

#define BASE	BOARD_TCM_BASE
#define SIZE	4096

#define NOP		0x00000013
#define LOOP		0x0000006f	/* j . */
#define ECALL		0x00000073
#define WFI		0x10500073
#define MRET		0x30200073
#define INC_A0		0x00150513	/* addi a0, a0, 1 */
#define BACK4		0xffdff06f	/* j . - 4 */
#define SW_A1_A2	0x00c5a023	/* sw a2, 0(a1) */
#define LW_A2_A1	0x0005a603	/* lw a2, 0(a1) */
#define MTVEC_A1	0x30559073	/* csrw mtvec, a1 */
#define MIE_A1		0x30459073	/* csrw mie, a1 */
#define MIE_ON		0x30046073	/* csrsi mstatus, 8 */
#define ILLEGAL		0xffffffff

static void put(struct board *board, u32 addr, u32 insn)
{
	npu_put_le32(board->tcm + (addr - BASE), insn);
	rv32_tcm_written(&board->cpu, addr, 4);
}

#define PROGRAM(board, ...)						\
	do {								\
		static const u32 words[] = { __VA_ARGS__ };		\
									\
		load(board, words, sizeof(words) / sizeof(words[0]));	\
	} while (0)

static void load(struct board *board, const u32 *words, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		put(board, BASE + 4 * i, words[i]);
	rv32_reset(&board->cpu, BASE);
}

static int setup(void **state)
{
	*state = board_new(BASE, SIZE);
	return 0;
}

static int teardown(void **state)
{
	board_free(*state);
	return 0;
}

static struct rv32_config valid_config(void)
{
	static u64 predecode[RV32_PREDECODE_BYTES(64) / 8 + 1];
	static u8 tcm[64];

	return (struct rv32_config) {
		.tcm = tcm, .tcm_base = 0x1000, .tcm_size = 64,
		.predecode = predecode,
	};
}

#define REFUSED(field, value)						\
	do {								\
		struct rv32_config cfg = valid_config();		\
									\
		cfg.field = value;					\
		assert_int_equal(rv32_init(&cpu, &cfg), -EINVAL);	\
	} while (0)

static void test_init_refuses(void **state)
{
	struct rv32_config cfg = valid_config();
	struct rv32 cpu;

	(void)state;
	memset(&cpu, 0xff, sizeof(cpu));
	assert_int_equal(rv32_init(&cpu, &cfg), 0);
	assert_int_equal(cpu.mip, 0);
	assert_int_equal(cpu.halt, RV32_HALT_RESET);
	REFUSED(tcm, NULL);
	REFUSED(predecode, NULL);
	REFUSED(predecode, (u8 *)cfg.predecode + 4);
	REFUSED(tcm_base, 2);
	REFUSED(tcm_size, 0);
	REFUSED(tcm_size, 32);
	REFUSED(tcm_size, 96);
	REFUSED(tcm_base, 0xffffffc4);
	cfg.tcm_base = 0xffffffc0;
	assert_int_equal(rv32_init(&cpu, &cfg), 0);
}

static void test_held_in_reset(void **state)
{
	struct board *board = *state;

	assert_int_equal(board->cpu.halt, RV32_HALT_RESET);
	assert_false(rv32_runnable(&board->cpu));
	assert_int_equal(rv32_run(&board->cpu, 100), 0);
	PROGRAM(board, LOOP);
	assert_true(rv32_runnable(&board->cpu));
	assert_int_equal(rv32_run(&board->cpu, 100), 100);
	rv32_halt(&board->cpu);
	assert_int_equal(rv32_run(&board->cpu, 100), 0);
	assert_int_equal(board->cpu.insns, 100);
}

/* Sets every field that instructions or lines can change. */
static void scribble(struct rv32 *cpu)
{
	struct rv32 before = *cpu;

	memset(cpu, 0xff, offsetof(struct rv32, cfg));
	cpu->mip = before.mip;
}

static void check_reset_state(const struct rv32 *cpu, u32 pc)
{
	static const u32 zeros[33];

	assert_memory_equal(cpu->x, zeros, sizeof(zeros));
	assert_int_equal(cpu->pc, pc);
	assert_int_equal(cpu->mstatus, 0);
	assert_int_equal(cpu->mie, 0);
	assert_int_equal(cpu->mtvec, 0);
	assert_int_equal(cpu->mscratch, 0);
	assert_int_equal(cpu->mepc, 0);
	assert_int_equal(cpu->mcause, 0);
	assert_int_equal(cpu->mtval, 0);
	assert_int_equal(cpu->insns, 0);
	assert_int_equal(cpu->cycles, 0);
	assert_int_equal(cpu->mcycle_offset, 0);
	assert_int_equal(cpu->minstret_offset, 0);
	assert_int_equal(cpu->halt, RV32_HALT_NONE);
	assert_int_equal(cpu->halt_cause, 0);
	assert_int_equal(cpu->halt_tval, 0);
	assert_false(cpu->wfi);
}

static void test_reset_state(void **state)
{
	struct board *board = *state;
	struct rv32 *cpu = &board->cpu;

	PROGRAM(board, NOP, NOP, INC_A0, LOOP);
	rv32_set_irq(cpu, RV32_IRQ_TIMER, true);
	scribble(cpu);
	rv32_reset(cpu, BASE + 9);
	check_reset_state(cpu, BASE + 8);
	assert_int_equal(cpu->mip, RV32_IRQ_TIMER);
	assert_int_equal(rv32_run(cpu, 1), 1);
	assert_int_equal(cpu->x[10], 1);
}

/* The first exception after a reset is a single one, whatever came before. */
static void test_reset_forgets_trap(void **state)
{
	struct board *board = *state;

	PROGRAM(board, ECALL);
	assert_int_equal(rv32_run(&board->cpu, 100), 2);
	assert_int_equal(board->cpu.halt, RV32_HALT_DOUBLE_TRAP);
	rv32_reset(&board->cpu, BASE);
	board->cpu.mtvec = BASE + 64;
	put(board, BASE + 64, LOOP);
	assert_int_equal(rv32_run(&board->cpu, 100), 100);
	assert_int_equal(board->cpu.mcause, RV32_CAUSE_ECALL);
}

static void test_slice_is_exact(void **state)
{
	struct board *board = *state;
	u32 n;

	PROGRAM(board, INC_A0, BACK4);
	assert_int_equal(rv32_run(&board->cpu, 0), 0);
	for (n = 1; n < 50; n++)
		assert_int_equal(rv32_run(&board->cpu, n), n);
	assert_int_equal(board->cpu.insns, 49 * 50 / 2);
	assert_int_equal(board->cpu.cycles, 49 * 50 / 2);
	assert_int_equal(board->cpu.x[10], (49 * 50 / 2 + 1) / 2);
}

static void test_stop_ends_slice(void **state)
{
	struct board *board = *state;

	PROGRAM(board, SW_A1_A2, INC_A0, LOOP);
	board->cpu.x[11] = BOARD_EXIT;
	board->cpu.x[12] = 42;
	assert_int_equal(rv32_run(&board->cpu, 100), 1);
	assert_int_equal(board->exit_code, 42);
	assert_int_equal(board->cpu.pc, BASE + 4);
	/* It was for that slice only, and so is one without a slice. */
	rv32_stop(&board->cpu);
	assert_int_equal(rv32_run(&board->cpu, 100), 100);
	assert_int_equal(board->cpu.x[10], 1);
}

static void test_wfi(void **state)
{
	struct board *board = *state;
	struct rv32 *cpu = &board->cpu;

	PROGRAM(board, MIE_A1, WFI, INC_A0, LOOP);
	cpu->x[11] = RV32_IRQ_EXTERNAL;
	assert_int_equal(rv32_run(cpu, 100), 2);
	assert_true(cpu->wfi);
	assert_false(rv32_runnable(cpu));
	assert_int_equal(cpu->pc, BASE + 8);
	assert_int_equal(rv32_run(cpu, 100), 0);
	/* A line that is not enabled does not wake it. */
	rv32_set_irq(cpu, RV32_IRQ_TIMER, true);
	assert_int_equal(rv32_run(cpu, 100), 0);
	rv32_set_irq(cpu, RV32_IRQ_EXTERNAL, true);
	assert_true(rv32_runnable(cpu));
	assert_int_equal(rv32_run(cpu, 1), 1);
	assert_false(cpu->wfi);
	assert_int_equal(cpu->x[10], 1);
}

static void test_irq_between_slices(void **state)
{
	struct board *board = *state;
	struct rv32 *cpu = &board->cpu;

	PROGRAM(board, MTVEC_A1, MIE_A1, MIE_ON, LOOP);
	put(board, BASE + 0x880, INC_A0);
	put(board, BASE + 0x884, MRET);
	/* Its bits are those of both lines too. */
	cpu->x[11] = BASE + 0x880;
	rv32_run(cpu, 10);
	rv32_set_irq(cpu, RV32_IRQ_TIMER | RV32_IRQ_EXTERNAL, true);
	assert_int_equal(cpu->x[10], 0);
	rv32_run(cpu, 1);
	assert_int_equal(cpu->x[10], 1);
	assert_int_equal(cpu->mcause, RV32_CAUSE_INTERRUPT | 11);
	assert_int_equal(cpu->mepc, BASE + 12);
	assert_int_equal(cpu->pc, BASE + 0x884);
	rv32_set_irq(cpu, RV32_IRQ_EXTERNAL, false);
	rv32_run(cpu, 2);
	assert_int_equal(cpu->mcause, RV32_CAUSE_INTERRUPT | 7);
	rv32_set_irq(cpu, RV32_IRQ_TIMER, false);
	rv32_run(cpu, 2);
	assert_int_equal(cpu->pc, BASE + 12);
}

static void test_other_lines_do_not_exist(void **state)
{
	struct board *board = *state;

	rv32_set_irq(&board->cpu, ~0u, true);
	assert_int_equal(board->cpu.mip, RV32_IRQ_TIMER | RV32_IRQ_EXTERNAL);
	rv32_set_irq(&board->cpu, ~0u, false);
	assert_int_equal(board->cpu.mip, 0);
}

static void check_double_trap(struct rv32 *cpu, u32 pc, u32 cause, u32 tval)
{
	assert_int_equal(rv32_run(cpu, 1u << 31), 2);
	assert_int_equal(cpu->halt, RV32_HALT_DOUBLE_TRAP);
	assert_int_equal(cpu->halt_cause, cause);
	assert_int_equal(cpu->halt_tval, tval);
	assert_int_equal(cpu->pc, pc);
	assert_int_equal(cpu->mepc, BASE);
	assert_int_equal(cpu->mcause, RV32_CAUSE_ECALL);
	assert_int_equal(cpu->insns, 0);
	assert_false(rv32_runnable(cpu));
	assert_int_equal(rv32_run(cpu, 100), 0);
}

static void test_double_trap(void **state)
{
	struct board *board = *state;
	struct rv32 *cpu = &board->cpu;

	PROGRAM(board, ECALL);
	check_double_trap(cpu, 0, RV32_CAUSE_FETCH_FAULT, 0);

	put(board, BASE + 64, ILLEGAL);
	rv32_reset(cpu, BASE);
	cpu->mtvec = BASE + 64;
	check_double_trap(cpu, BASE + 64, RV32_CAUSE_ILLEGAL, ILLEGAL);

	put(board, BASE + 64, LW_A2_A1);
	rv32_reset(cpu, BASE);
	cpu->mtvec = BASE + 64;
	check_double_trap(cpu, BASE + 64, RV32_CAUSE_LOAD_FAULT, 0);

	/* The handler is the trapping instruction. */
	rv32_reset(cpu, BASE);
	cpu->mtvec = BASE;
	check_double_trap(cpu, BASE, RV32_CAUSE_ECALL, 0);
}

static void test_double_trap_on_interrupt(void **state)
{
	struct board *board = *state;
	struct rv32 *cpu = &board->cpu;

	PROGRAM(board, MIE_A1, MIE_ON, LOOP);
	cpu->x[11] = RV32_IRQ_TIMER;
	rv32_run(cpu, 10);
	rv32_set_irq(cpu, RV32_IRQ_TIMER, true);
	assert_int_equal(rv32_run(cpu, 100), 1);
	assert_int_equal(cpu->halt, RV32_HALT_DOUBLE_TRAP);
	assert_int_equal(cpu->halt_cause, RV32_CAUSE_FETCH_FAULT);
	assert_int_equal(cpu->mcause, RV32_CAUSE_INTERRUPT | 7);
	assert_int_equal(cpu->mepc, BASE + 8);
}

/* A trap in a handler that has begun is an ordinary one, and bounded. */
static void test_trap_in_handler(void **state)
{
	struct board *board = *state;
	struct rv32 *cpu = &board->cpu;

	PROGRAM(board, INC_A0, ECALL);
	cpu->mtvec = BASE;
	assert_int_equal(rv32_run(cpu, 1000), 1000);
	assert_int_equal(cpu->halt, RV32_HALT_NONE);
	assert_int_equal(cpu->x[10], 500);
	assert_int_equal(cpu->insns, 500);
	assert_int_equal(cpu->cycles, 1000);
}

static void test_bad_entry(void **state)
{
	struct board *board = *state;
	struct rv32 *cpu = &board->cpu;

	rv32_reset(cpu, 0x1000);
	assert_int_equal(rv32_run(cpu, 100), 2);
	assert_int_equal(cpu->halt, RV32_HALT_DOUBLE_TRAP);
	assert_int_equal(cpu->mepc, 0x1000);
	assert_int_equal(cpu->mtval, 0x1000);
	assert_int_equal(cpu->mcause, RV32_CAUSE_FETCH_FAULT);
}

static void test_owner_writes_code(void **state)
{
	struct board *board = *state;
	struct rv32 *cpu = &board->cpu;

	PROGRAM(board, INC_A0, BACK4);
	rv32_run(cpu, 100);
	assert_int_equal(cpu->x[10], 50);
	put(board, BASE, NOP);
	rv32_run(cpu, 100);
	assert_int_equal(cpu->x[10], 50);
	/* A report of a wider range, of all addresses, of a half */
	npu_put_le32(board->tcm, INC_A0);
	rv32_tcm_written(cpu, 0, 0xffffffff);
	rv32_run(cpu, 100);
	assert_int_equal(cpu->x[10], 100);
	npu_put_le32(board->tcm, 0x00250513);
	rv32_tcm_written(cpu, BASE + 2, 1);
	rv32_run(cpu, 100);
	assert_int_equal(cpu->x[10], 200);
	npu_put_le32(board->tcm, NOP);
	rv32_tcm_written(cpu, BASE - 64, 65);
	rv32_run(cpu, 100);
	assert_int_equal(cpu->x[10], 200);
}

static void test_reports_outside_memory(void **state)
{
	struct board *board = *state;
	struct rv32 *cpu = &board->cpu;

	PROGRAM(board, INC_A0, BACK4);
	rv32_run(cpu, 100);
	rv32_tcm_written(cpu, BASE, 0);
	rv32_tcm_written(cpu, 0, BASE);
	rv32_tcm_written(cpu, BASE + SIZE, 4096);
	rv32_tcm_written(cpu, BASE + SIZE - 1, 0xffffffff);
	rv32_tcm_written(cpu, 0xffffffff, 0xffffffff);
	rv32_tcm_written(cpu, BASE - 1, 0xffffffff);
	rv32_run(cpu, 100);
	assert_int_equal(cpu->x[10], 100);
}

static void test_instances_share_nothing(void **state)
{
	struct board *one = *state;
	struct board *two = board_new(BASE, SIZE);

	PROGRAM(one, INC_A0, BACK4);
	PROGRAM(two, INC_A0, INC_A0, BACK4);
	rv32_run(&one->cpu, 10);
	rv32_run(&two->cpu, 7);
	rv32_run(&one->cpu, 10);
	assert_int_equal(one->cpu.x[10], 10);
	assert_int_equal(two->cpu.x[10], 4);
	assert_int_equal(two->cpu.insns, 7);
	board_free(two);
}

static void check_no_bus(struct rv32 *cpu)
{
	rv32_reset(cpu, BASE);
	rv32_run(cpu, 1);
	assert_int_equal(cpu->mcause, RV32_CAUSE_LOAD_FAULT);
	rv32_reset(cpu, BASE + 4);
	rv32_run(cpu, 1);
	assert_int_equal(cpu->mcause, RV32_CAUSE_STORE_FAULT);
}

static void test_no_bus(void **state)
{
	struct board *board = *state;
	struct rv32_config cfg = board->cpu.cfg;
	static const struct rv32_bus none;

	npu_put_le32(board->tcm, LW_A2_A1);
	npu_put_le32(board->tcm + 4, SW_A1_A2);
	cfg.bus = NULL;
	assert_int_equal(rv32_init(&board->cpu, &cfg), 0);
	check_no_bus(&board->cpu);
	cfg.bus = &none;
	assert_int_equal(rv32_init(&board->cpu, &cfg), 0);
	check_no_bus(&board->cpu);
}

/* Memory that ends at 4 GiB: code that runs off it continues at 0. */
static void test_top_of_addresses(void **state)
{
	struct board *board = board_new(0xfffff000, SIZE);
	struct rv32 *cpu = &board->cpu;

	(void)state;
	npu_put_le32(board->tcm + SIZE - 4, SW_A1_A2);
	rv32_tcm_written(cpu, 0xffffffff, 1);
	rv32_reset(cpu, 0xfffffffc);
	cpu->mtvec = 0xfffff000;
	cpu->x[11] = 0xfffffff8;
	cpu->x[12] = 0x01020304;
	assert_int_equal(rv32_run(cpu, 2), 2);
	assert_int_equal(npu_get_le32(board->tcm + SIZE - 8), 0x01020304);
	assert_int_equal(cpu->mcause, RV32_CAUSE_FETCH_FAULT);
	assert_int_equal(cpu->mepc, 0);

	/* A report here finds what was decoded, as it does elsewhere. */
	npu_put_le32(board->tcm + SIZE - 4, INC_A0);
	rv32_tcm_written(cpu, 0xfffffffc, 4);
	rv32_reset(cpu, 0xfffffffc);
	assert_int_equal(rv32_run(cpu, 1), 1);
	assert_int_equal(cpu->x[10], 1);
	board_free(board);
}

static int halting_write(void *opaque, u32 addr, u32 size, u32 val)
{
	struct board *board = opaque;

	assert_int_equal(addr, BOARD_CELL);
	assert_int_equal(size, 4);
	assert_int_equal(val, 7);
	assert_int_equal(board->cpu.pc, BASE + 8);
	assert_int_equal(board->cpu.insns, 2);
	assert_int_equal(board->cpu.cycles, 2);
	rv32_halt(&board->cpu);
	return 0;
}

static void test_halt_from_callback(void **state)
{
	struct board *board = *state;

	PROGRAM(board, NOP, NOP, SW_A1_A2, LOOP);
	board->bus.write = halting_write;
	board->cpu.x[11] = BOARD_CELL;
	board->cpu.x[12] = 7;
	assert_int_equal(rv32_run(&board->cpu, 100), 3);
	assert_int_equal(board->cpu.halt, RV32_HALT_RESET);
	assert_int_equal(board->cpu.pc, BASE + 12);
}

static void test_little_endian_access(void **state)
{
	u8 bytes[9] = { 0, 1, 2, 3, 4, 5, 6, 7, 8 };

	(void)state;
	assert_int_equal(npu_get_le16(bytes + 1), 0x0201);
	assert_int_equal(npu_get_le32(bytes + 1), 0x04030201);
	assert_true(npu_get_le64(bytes + 1) == 0x0807060504030201ull);
	npu_put_le16(bytes + 1, 0xa1a2);
	assert_int_equal(bytes[1], 0xa2);
	assert_int_equal(bytes[2], 0xa1);
	assert_int_equal(bytes[3], 3);
	npu_put_le32(bytes + 1, 0xb1b2b3b4);
	assert_int_equal(bytes[1], 0xb4);
	assert_int_equal(bytes[4], 0xb1);
	assert_int_equal(bytes[5], 5);
	npu_put_le64(bytes + 1, 0xc1c2c3c4c5c6c7c8ull);
	assert_int_equal(bytes[1], 0xc8);
	assert_int_equal(bytes[8], 0xc1);
	assert_int_equal(bytes[0], 0);
}

#define WITH_BOARD(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_init_refuses),
		WITH_BOARD(test_held_in_reset),
		WITH_BOARD(test_reset_state),
		WITH_BOARD(test_reset_forgets_trap),
		WITH_BOARD(test_slice_is_exact),
		WITH_BOARD(test_stop_ends_slice),
		WITH_BOARD(test_wfi),
		WITH_BOARD(test_irq_between_slices),
		WITH_BOARD(test_other_lines_do_not_exist),
		WITH_BOARD(test_double_trap),
		WITH_BOARD(test_double_trap_on_interrupt),
		WITH_BOARD(test_trap_in_handler),
		WITH_BOARD(test_bad_entry),
		WITH_BOARD(test_owner_writes_code),
		WITH_BOARD(test_reports_outside_memory),
		WITH_BOARD(test_instances_share_nothing),
		WITH_BOARD(test_no_bus),
		cmocka_unit_test(test_top_of_addresses),
		WITH_BOARD(test_halt_from_callback),
		cmocka_unit_test(test_little_endian_access),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
