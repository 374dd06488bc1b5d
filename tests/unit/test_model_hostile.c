// SPDX-License-Identifier: MIT
/*
 * Random accesses from both sides, with memory that is random, too: nothing
 * but the device itself may be touched. The objects carry sanitizers.
 */
#include <stdarg.h>
#include <stdlib.h>
#include <setjmp.h>
#include <cmocka.h>
#include "tests/unit/soc_board.h"

#define STEPS		60000
#define RUNS_MAX	2000

static u64 seed;

static u32 rnd(void)
{
	seed = seed * 6364136223846793005ull + 1442695040888963407ull;
	return seed >> 33;
}

/* Values that tend to mean something. */
static u32 value(void)
{
	static const u32 liked[] = {
		0, 1, 2, 4, 8, 16, 64, 128, 4096, 0xffff, 0x10000, ~0u, 0x80000000,
		NPU_TCM_BASE, NPU_TCM_BASE + 0x8000, NPU_CP_CORE + 0x80, NPU_RESET_KEY, 0x1000,
	};
	u32 r = rnd();

	switch (r & 3) {
	case 0:
		return liked[(r >> 2) % (sizeof(liked) / sizeof(liked[0]))];
	case 1:
		return (r >> 2) & (SOC_MEM - 1) & ~0xfffu;
	case 2:
		return (r >> 2) & 0xff;
	default:
		return rnd() << 1 ^ r;
	}
}

static u32 processor_address(void)
{
	static const u32 blocks[] = {
		NPU_CP_SYS, NPU_CP_HOST, NPU_CP_DOORBELL, NPU_CP_MMU, NPU_CP_DMA, NPU_CP_DMA,
		NPU_CP_CORE, NPU_CP_CORE, NPU_CP_CORE + NPU_CP_CORE_STRIDE,
		NPU_CP_CORE + 2 * NPU_CP_CORE_STRIDE, 0, NPU_TCM_BASE + 0x100,
	};
	u32 base = blocks[rnd() % (sizeof(blocks) / sizeof(blocks[0]))];

	/* Registers lie at the start of most blocks. */
	return base + (rnd() & (rnd() & 1 ? 0x3f : 0xfff));
}

static void step(struct soc_board *b)
{
	u32 offset;

	switch (rnd() % 8) {
	case 0:
		offset = rnd() & 1 ? rnd() & 0x1ff : rnd();
		npu_model_reg_write(b->m, offset, value());
		break;
	case 1:
		npu_model_reg_read(b->m, rnd() & 1 ? rnd() & 0x1ff : rnd());
		break;
	case 2:
		npu_model_doorbell(b->m, rnd() & 1 ? rnd() & 0xff : rnd(), value());
		break;
	case 3:
		npu_model_run(b->m, rnd() % RUNS_MAX);
		break;
	case 4:
		if (rnd() % 16)
			b->hole = b->hole_end = 0;
		else
			b->hole_end = b->hole + (rnd() & 0xffff);
		npu_model_bus_changed(b->m);
		break;
	default:
		/* The processor may have been stopped or reset by the host's writes. */
		soc_restart(b);
		if (rnd() & 1)
			soc_store_cause(b, processor_address() & ~3u, 4);
		else
			soc_load_cause(b, processor_address(), 1u << rnd() % 3);
		if (rnd() & 1)
			rv32_halt(&b->m->cpu);
		break;
	}
}

static void random_accesses(u64 number, bool no_map)
{
	struct soc_board b;
	u32 i;

	seed = number;
	soc_init(&b, NULL);
	b.no_map = no_map;
	/* Entries of page tables and of programs that are not all nonsense. */
	for (i = 0; i < SOC_MEM; i += 8)
		npu_put_le64(b.mem + i, (u64)(rnd() & 0x1fff) << 10 | (rnd() & 0xff) |
					(rnd() % 8 ? 0 : (u64)rnd() << 32));
	for (i = 0; i < STEPS; i++)
		step(&b);
	soc_exit(&b);
}

static void survives_random_accesses(void **state)
{
	u64 i;

	(void)state;
	for (i = 1; i <= 6; i++)
		random_accesses(i, i & 1);
}

/* Random bytes as a program of the processor. */
static void survives_random_firmware(void **state)
{
	struct soc_board b;
	u32 i, round;

	(void)state;
	seed = 99;
	for (round = 0; round < 200; round++) {
		soc_init(&b, NULL);
		for (i = 0; i < 0x1000; i += 4)
			npu_put_le32(b.m->tcm + i, rnd() << 1 ^ rnd());
		npu_model_reg_write(b.m, NPU_HOST_CP_CONTROL, 1);
		for (i = 0; i < 32; i++)
			b.m->cpu.x[i] = processor_address() & ~3u;
		npu_model_run(b.m, 20000);
		soc_exit(&b);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(survives_random_accesses),
		cmocka_unit_test(survives_random_firmware),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("model_hostile", tests, NULL, NULL);
}
