// SPDX-License-Identifier: MIT
/* The DMA block: transfers, their time, their errors. */
#include <stdarg.h>
#include <stdlib.h>
#include <setjmp.h>
#include <cmocka.h>
#include "tests/unit/soc_board.h"

#define HOST	0x20000u
#define LOCAL	(NPU_TCM_BASE + 0x1000)

static struct soc_board b;

static int setup(void **state)
{
	(void)state;
	soc_init(&b, NULL);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	soc_exit(&b);
	return 0;
}

static u8 *local(u32 addr)
{
	return b.m->tcm + (addr - NPU_TCM_BASE);
}

static void moves_both_ways(void **state)
{
	struct soc_dma t = { .host = HOST + 4, .local = LOCAL, .length = 0x2ffc };
	u32 i, ch;

	(void)state;
	for (ch = 0; ch < NPU_DMA_CHANNELS; ch++) {
		for (i = 0; i < 0x4000; i++) {
			b.mem[HOST + i] = i * 13 + ch;
			*local(LOCAL + i) = 0;
		}
		t.to_host = false;
		assert_int_equal(soc_dma(&b, ch, &t), NPU_DMA_STATUS_DONE_MASK);
		assert_memory_equal(local(LOCAL), b.mem + HOST + 4, t.length);
		assert_int_equal(*local(LOCAL + t.length), 0);
		memset(b.mem + HOST, 0, 0x4000);
		t.to_host = true;
		assert_int_equal(soc_dma(&b, ch, &t), NPU_DMA_STATUS_DONE_MASK);
		assert_memory_equal(local(LOCAL), b.mem + HOST + 4, t.length);
		assert_int_equal(npu_get_le32(b.mem + HOST), 0);
		assert_int_equal(npu_get_le32(b.mem + HOST + 4 + t.length), 0);
	}
}

static void takes_its_time(void **state)
{
	struct soc_dma t = { .host = HOST, .local = LOCAL, .length = 64 };
	const u32 base = NPU_CP_DMA + NPU_CP_DMA_STRIDE;
	u64 begin, end;

	(void)state;
	npu_put_le32(b.mem + HOST, 1);
	begin = npu_model_ticks(b.m);
	soc_dma_start(&b, 1, &t);
	assert_int_equal(soc_load(&b, base + NPU_DMA_STATUS), NPU_DMA_STATUS_BUSY_MASK);
	assert_int_equal(soc_load(&b, NPU_CP_SYS + NPU_SYS_IRQ_PENDING), 0);
	assert_int_equal(npu_get_le32(local(LOCAL)), 0);
	/* A start while it is busy is ignored; the registers may change. */
	t.host += 0x100;
	soc_dma_start(&b, 1, &t);
	/* What is in memory when it ends counts. */
	npu_put_le32(b.mem + HOST, 2);
	soc_store(&b, NPU_CP_SYS + NPU_SYS_IRQ_ENABLE, NPU_CP_IRQ_DMA);
	soc_wait(&b, RV32_IRQ_EXTERNAL, 64);
	end = b.m->now;
	assert_in_range(end - begin, NPU_TIMING_MEM_LATENCY + 8, 200);
	assert_int_equal(npu_get_le32(local(LOCAL)), 2);
	assert_int_equal(soc_load(&b, base + NPU_DMA_STATUS), NPU_DMA_STATUS_DONE_MASK);
	assert_int_equal(soc_load(&b, NPU_CP_SYS + NPU_SYS_IRQ_PENDING), NPU_CP_IRQ_DMA);
	soc_store(&b, base + NPU_DMA_STATUS, NPU_DMA_STATUS_ERROR_MASK);
	assert_int_equal(soc_load(&b, NPU_CP_SYS + NPU_SYS_IRQ_PENDING), NPU_CP_IRQ_DMA);
	soc_store(&b, base + NPU_DMA_STATUS, NPU_DMA_STATUS_DONE_MASK);
	assert_int_equal(soc_load(&b, NPU_CP_SYS + NPU_SYS_IRQ_PENDING), 0);
}

static void channels_are_independent(void **state)
{
	struct soc_dma t = { .host = HOST, .length = 4 };
	u32 ch;

	(void)state;
	for (ch = 0; ch < NPU_DMA_CHANNELS; ch++) {
		npu_put_le32(b.mem + HOST + 4 * ch, ch + 1);
		t.host = HOST + 4 * ch;
		t.local = LOCAL + 4 * ch;
		soc_dma_start(&b, ch, &t);
	}
	rv32_halt(&b.m->cpu);
	assert_false(npu_model_run(b.m, 1000));
	soc_restart(&b);
	for (ch = 0; ch < NPU_DMA_CHANNELS; ch++) {
		assert_int_equal(npu_get_le32(local(LOCAL + 4 * ch)), ch + 1);
		assert_int_equal(soc_load(&b, NPU_CP_DMA + ch * NPU_CP_DMA_STRIDE +
					  NPU_DMA_STATUS), NPU_DMA_STATUS_DONE_MASK);
	}
}

static void tells_errors(void **state)
{
	static const struct {
		struct soc_dma t;
		u32 code;
		u64 va;
	} cases[] = {
		{ { HOST, LOCAL, 0, 0, false }, NPU_FAULT_LENGTH, 0 },
		{ { HOST, LOCAL, 6, 0, false }, NPU_FAULT_LENGTH, 6 },
		{ { HOST, LOCAL, NPU_DMA_MAX_LENGTH + 4, 0, true }, NPU_FAULT_LENGTH,
		  NPU_DMA_MAX_LENGTH + 4 },
		{ { HOST, LOCAL, ~3u, 0, true }, NPU_FAULT_LENGTH, ~3u },
		{ { HOST + 2, LOCAL, 4, 0, false }, NPU_FAULT_ALIGNMENT, HOST + 2 },
		{ { HOST, LOCAL + 1, 4, 0, false }, NPU_FAULT_ALIGNMENT, LOCAL + 1 },
		/* LENGTH is looked at first, then HOST, then LOCAL. */
		{ { HOST + 2, LOCAL + 1, 6, 0, false }, NPU_FAULT_LENGTH, 6 },
		{ { HOST + 2, LOCAL + 1, 4, 0, false }, NPU_FAULT_ALIGNMENT, HOST + 2 },
		{ { HOST, 1, 4, 0, false }, NPU_FAULT_ALIGNMENT, 1 },
		{ { HOST, NPU_TCM_BASE - 4, 4, 0, false }, NPU_FAULT_ADDRESS, NPU_TCM_BASE - 4 },
		{ { HOST, NPU_TCM_BASE + SOC_TCM - 4, 8, 0, false }, NPU_FAULT_ADDRESS,
		  NPU_TCM_BASE + SOC_TCM - 4 },
		{ { HOST, 0, 4, 0, true }, NPU_FAULT_ADDRESS, 0 },
		{ { HOST, NPU_CP_SYS, 4, 0, true }, NPU_FAULT_ADDRESS, NPU_CP_SYS },
		/* A report window is a source only, and 128 bytes long. */
		{ { HOST, NPU_CP_CORE + 0x80, 4, 0, false }, NPU_FAULT_ADDRESS,
		  NPU_CP_CORE + 0x80 },
		{ { HOST, NPU_CP_CORE + 0x7c, 4, 0, true }, NPU_FAULT_ADDRESS,
		  NPU_CP_CORE + 0x7c },
		{ { HOST, NPU_CP_CORE + 0xfc, 8, 0, true }, NPU_FAULT_ADDRESS,
		  NPU_CP_CORE + 0xfc },
		{ { HOST, NPU_CP_CORE + 0x80 + SOC_CORES * NPU_CP_CORE_STRIDE, 4, 0, true },
		  NPU_FAULT_ADDRESS, NPU_CP_CORE + 0x80 + SOC_CORES * NPU_CP_CORE_STRIDE },
		/* The bus and the MMU; where it crosses into what fails. */
		{ { SOC_MEM, LOCAL, 4, 0, false }, NPU_FAULT_BUS, SOC_MEM },
		{ { SOC_MEM - 8, LOCAL, 16, 0, true }, NPU_FAULT_BUS, SOC_MEM },
		{ { ~3ull, LOCAL, 8, 0, true }, NPU_FAULT_BUS, ~3ull },
		{ { 0x4000, LOCAL, 4, 1, false }, NPU_FAULT_CONTEXT, 0x4000 },
		{ { 0x4000, LOCAL, 4, ~0u, false }, NPU_FAULT_CONTEXT, 0x4000 },
	};
	u32 i, ch, status;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		ch = i % NPU_DMA_CHANNELS;
		status = soc_dma(&b, ch, &cases[i].t);
		if (status != (NPU_DMA_STATUS_ERROR_MASK |
			       cases[i].code << NPU_DMA_STATUS_FAULT_SHIFT))
			fail_msg("case %u: status 0x%x", i, status);
		assert_true(soc_dma_fault(&b, ch) == cases[i].va);
	}
}

static void reads_report_windows(void **state)
{
	struct soc_dma t = { .host = HOST, .local = NPU_CP_CORE + NPU_CP_CORE_STRIDE + 0x80,
			     .length = 128, .to_host = true };
	u32 i;

	(void)state;
	for (i = 0; i < 32; i++)
		soc_store(&b, NPU_CP_CORE + NPU_CP_CORE_STRIDE + NPU_CORE_REPORT(i), 1000 + i);
	assert_int_equal(soc_dma(&b, 0, &t), NPU_DMA_STATUS_DONE_MASK);
	for (i = 0; i < 32; i++)
		assert_int_equal(npu_get_le32(b.mem + HOST + 4 * i), 1000 + i);
	t.local += 8;
	t.length = 4;
	assert_int_equal(soc_dma(&b, 0, &t), NPU_DMA_STATUS_DONE_MASK);
	assert_int_equal(npu_get_le32(b.mem + HOST), 1002);
}

/* Code that arrives by DMA is executed, not what was there before. */
static void brings_code(void **state)
{
	const u32 at = NPU_TCM_BASE + 0x2000;
	struct soc_dma t = { .host = HOST, .local = at, .length = 8 };
	u32 round;

	(void)state;
	for (round = 1; round < 4; round++) {
		npu_put_le32(b.mem + HOST, 0x00000193 | round << 20);	/* li x3, round */
		npu_put_le32(b.mem + HOST + 4, 0x0000006f);		/* j . */
		assert_int_equal(soc_dma(&b, 0, &t), NPU_DMA_STATUS_DONE_MASK);
		b.m->cpu.pc = at;
		npu_model_run(b.m, 64);
		assert_int_equal(b.m->cpu.x[3], round);
	}
}

static void reset_stops_transfers(void **state)
{
	struct soc_dma t = { .host = HOST, .local = LOCAL, .length = 64, .to_host = true };

	(void)state;
	memset(local(LOCAL), 0xff, 64);
	soc_dma_start(&b, 2, &t);
	npu_model_reg_write(b.m, NPU_HOST_RESET, NPU_RESET_KEY);
	assert_false(npu_model_run(b.m, 1000));
	assert_int_equal(npu_get_le32(b.mem + HOST), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(moves_both_ways), TEST(takes_its_time), TEST(channels_are_independent),
		TEST(tells_errors), TEST(reads_report_windows), TEST(brings_code),
		TEST(reset_stops_transfers),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("model_dma", tests, NULL, NULL);
}
