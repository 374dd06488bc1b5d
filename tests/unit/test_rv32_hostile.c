// SPDX-License-Identifier: MIT
/*
 * Programs that mean harm, or nothing: random bytes and random instructions,
 * with a bus that answers at random. Built with the address and undefined
 * behaviour sanitizers; memory is allocated to the byte, so that any access
 * outside ends the test.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "firmware/model/rv32.h"

#define BASE	0x80000000u
#define SIZE	1024u
#define STEPS	1000000u

struct victim {
	struct rv32 cpu;
	u8 *tcm;
	void *predecode;
	u64 random;		/* state of the generator that drives it */
	bool instructions;	/* fill with plausible instructions */
};

static u32 draw(struct victim *victim)
{
	/* xorshift64* */
	victim->random ^= victim->random >> 12;
	victim->random ^= victim->random << 25;
	victim->random ^= victim->random >> 27;
	return victim->random * 0x2545f4914f6cdd1dull >> 32;
}

static u32 draw_below(struct victim *victim, u32 n)
{
	return draw(victim) % n;
}

/* An address in memory, near its ends, or anywhere */
static u32 draw_address(struct victim *victim)
{
	switch (draw_below(victim, 4)) {
	case 0:
		return BASE + SIZE - 8 + draw_below(victim, 16);
	case 1:
		return draw(victim);
	default:
		return BASE + draw_below(victim, SIZE);
	}
}

static u32 draw_instruction(struct victim *victim)
{
	static const u8 opcodes[] = {
		0x03, 0x0f, 0x13, 0x17, 0x23, 0x33, 0x37, 0x63, 0x67, 0x6f, 0x73,
	};
	u32 insn = draw(victim);
	u32 opcode = opcodes[draw_below(victim, sizeof(opcodes))];

	if (draw_below(victim, 3) == 0)
		return insn; /* mostly two compressed ones */
	insn = (insn & ~0x7fu) | opcode;
	if (opcode == 0x33 || (opcode == 0x13 && (insn & 0x3000) == 0x1000))
		insn &= draw_below(victim, 2) ? 0x01ffffff : 0x41ffffff;
	if (opcode == 0x33 && draw_below(victim, 2))
		insn = (insn & 0x01ffffff) | 1 << 25;
	if (opcode == 0x73 && draw_below(victim, 2))
		insn = (insn & 0xfffff) | (0x300 + draw_below(victim, 0x48)) << 20;
	return insn;
}

static void disturb(struct victim *victim)
{
	u32 addr = draw_address(victim);

	switch (draw_below(victim, 16)) {
	case 0:
		rv32_set_irq(&victim->cpu, draw(victim), true);
		break;
	case 1:
		rv32_set_irq(&victim->cpu, draw(victim), false);
		break;
	case 2:
		rv32_stop(&victim->cpu);
		break;
	case 3:
		rv32_tcm_written(&victim->cpu, addr, draw(victim));
		break;
	case 4:
		victim->tcm[addr % SIZE] = draw(victim);
		rv32_tcm_written(&victim->cpu, BASE + addr % SIZE, 1);
		break;
	case 5:
		if (draw_below(victim, 64) == 0)
			rv32_halt(&victim->cpu);
		break;
	}
}

static void check_access(u32 addr, u32 size)
{
	assert_true(size == 1 || size == 2 || size == 4);
	assert_int_equal(addr % size, 0);
	assert_true(addr - BASE >= SIZE);
}

static int hostile_read(void *opaque, u32 addr, u32 size, u32 *val)
{
	struct victim *victim = opaque;

	check_access(addr, size);
	disturb(victim);
	*val = draw_address(victim);
	return draw_below(victim, 4) == 0;
}

static int hostile_write(void *opaque, u32 addr, u32 size, u32 val)
{
	struct victim *victim = opaque;

	check_access(addr, size);
	assert_true(size == 4 || val < 1u << 8 * size);
	disturb(victim);
	return draw_below(victim, 4) == 0;
}

static const struct rv32_bus hostile_bus = { hostile_read, hostile_write };

static void fill(struct victim *victim)
{
	u32 i;

	for (i = 0; i < SIZE; i += 4)
		npu_put_le32(victim->tcm + i, victim->instructions ?
			     draw_instruction(victim) : draw(victim));
	rv32_tcm_written(&victim->cpu, BASE, SIZE);
}

static void start(struct victim *victim)
{
	u32 i;

	fill(victim);
	rv32_reset(&victim->cpu, draw_address(victim));
	for (i = 1; i < 32; i++)
		victim->cpu.x[i] = draw_address(victim);
	victim->cpu.mtvec = draw_address(victim) & ~2u;
}

static void victim_init(struct victim *victim, u64 seed, bool instructions)
{
	struct rv32_config cfg;

	memset(victim, 0, sizeof(*victim));
	victim->random = seed * 0x9e3779b97f4a7c15ull;
	victim->instructions = instructions;
	victim->tcm = malloc(SIZE);
	victim->predecode = malloc(RV32_PREDECODE_BYTES(SIZE));
	assert_non_null(victim->tcm);
	assert_non_null(victim->predecode);
	cfg = (struct rv32_config) {
		.tcm = victim->tcm, .tcm_base = BASE, .tcm_size = SIZE,
		.predecode = victim->predecode,
		.bus = &hostile_bus, .opaque = victim,
	};
	assert_int_equal(rv32_init(&victim->cpu, &cfg), 0);
	start(victim);
}

static void victim_free(struct victim *victim)
{
	free(victim->predecode);
	free(victim->tcm);
}

static void check_invariants(const struct rv32 *cpu)
{
	assert_int_equal(cpu->x[0], 0);
	assert_int_equal(cpu->pc & 1, 0);
	assert_int_equal(cpu->mepc & 1, 0);
	assert_int_equal(cpu->mtvec & 2, 0);
	assert_int_equal(cpu->mstatus & ~(RV32_MSTATUS_MIE | RV32_MSTATUS_MPIE), 0);
	assert_int_equal(cpu->mie & ~(RV32_IRQ_TIMER | RV32_IRQ_EXTERNAL), 0);
	assert_int_equal(cpu->mip & ~(RV32_IRQ_TIMER | RV32_IRQ_EXTERNAL), 0);
	assert_true(cpu->insns <= cpu->cycles);
}

static void run_hostile(u64 seed, bool instructions)
{
	struct victim victim;
	u32 steps = 0, retired = 0;

	victim_init(&victim, seed, instructions);
	while (steps < STEPS) {
		u64 before = victim.cpu.insns;
		u32 slice = draw_below(&victim, 2000);
		u32 taken = rv32_run(&victim.cpu, slice);

		assert_true(taken <= slice);
		check_invariants(&victim.cpu);
		retired += victim.cpu.insns - before;
		steps += taken;
		disturb(&victim);
		/* Time is a step, so that this loop ends in any case. */
		if (!rv32_runnable(&victim.cpu) || draw_below(&victim, 8) == 0) {
			start(&victim);
			steps++;
		}
	}
	assert_true(retired > 0);
	victim_free(&victim);
}

static void test_random_bytes(void **state)
{
	u64 seed;

	(void)state;
	for (seed = 1; seed <= 3; seed++)
		run_hostile(seed, false);
}

static void test_random_instructions(void **state)
{
	u64 seed;

	(void)state;
	for (seed = 1; seed <= 3; seed++)
		run_hostile(seed, true);
}

static void compare(const struct victim *a, const struct victim *b)
{
	assert_memory_equal(a->cpu.x, b->cpu.x, sizeof(u32) * 32);
	assert_int_equal(a->cpu.pc, b->cpu.pc);
	assert_int_equal(a->cpu.insns, b->cpu.insns);
	assert_int_equal(a->cpu.cycles, b->cpu.cycles);
	assert_int_equal(a->cpu.mcause, b->cpu.mcause);
	assert_int_equal(a->cpu.mtval, b->cpu.mtval);
	assert_int_equal(a->cpu.halt, b->cpu.halt);
	assert_memory_equal(a->tcm, b->tcm, SIZE);
}

/*
 * What is decoded once must do what is decoded anew: one victim runs in
 * slices, its twin forgets all it decoded before every single step.
 */
static void test_predecode_is_coherent(void **state)
{
	struct victim a, b;
	u32 steps = 0;

	(void)state;
	victim_init(&a, 77, true);
	victim_init(&b, 77, true);
	while (steps < STEPS / 10) {
		u32 taken = rv32_run(&a.cpu, 100);
		u32 i;

		for (i = 0; i < taken; i++) {
			rv32_tcm_written(&b.cpu, BASE, SIZE);
			assert_int_equal(rv32_run(&b.cpu, 1), 1);
		}
		compare(&a, &b);
		steps += taken + 1;
		if (!rv32_runnable(&a.cpu) || steps % 8 == 0) {
			start(&a);
			start(&b);
		}
	}
	victim_free(&a);
	victim_free(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random_bytes),
		cmocka_unit_test(test_random_instructions),
		cmocka_unit_test(test_predecode_is_coherent),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
