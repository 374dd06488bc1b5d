// SPDX-License-Identifier: MIT
/* The tick counter, the timer, rest, and that slices do not matter. */
#include <stdarg.h>
#include <stdlib.h>
#include <setjmp.h>
#include <cmocka.h>
#include "npu_isa.h"
#include "tests/unit/soc_board.h"

#define PROGRAM		0x8000u		/* bus address and virtual address */
#define PAGES		(NPU_PTE_V | NPU_PTE_R | NPU_PTE_W | NPU_PTE_X | NPU_PTE_U)
#define GEMM_COUNT	100000u

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

static void set_timer(u64 tick)
{
	soc_store(&b, NPU_CP_SYS + NPU_SYS_MTIMECMP_LO, tick);
	soc_store(&b, NPU_CP_SYS + NPU_SYS_MTIMECMP_HI, tick >> 32);
}

static void stands_still_at_rest(void **state)
{
	u64 tick;

	(void)state;
	while (soc_wait(&b, 0, 1000))
		;
	tick = npu_model_ticks(b.m);
	assert_false(npu_model_run(b.m, 1u << 31));
	assert_true(npu_model_ticks(b.m) == tick);
	/* A timer that could not wake the processor is not armed. */
	set_timer(tick + 1000);
	assert_false(soc_wait(&b, RV32_IRQ_EXTERNAL, 1000));
	assert_true(npu_model_ticks(b.m) < tick + 100);
}

static void jumps_to_the_timer(void **state)
{
	(void)state;
	set_timer(1ull << 40);
	/* A jump costs next to nothing, and ends at the very tick. */
	b.m->cpu.mie = RV32_IRQ_TIMER;
	assert_true(soc_wait(&b, RV32_IRQ_TIMER, 100));
	assert_in_range(npu_model_ticks(b.m) >> 20, (1ull << 40) >> 20, ((1ull << 40) >> 20) + 1);
	assert_true(b.m->cpu.mip & RV32_IRQ_TIMER);
	assert_int_equal(npu_model_reg_read(b.m, NPU_HOST_TIME_LO), (u32)npu_model_ticks(b.m));
	assert_int_equal(npu_model_reg_read(b.m, NPU_HOST_TIME_HI), 1 << 8);
	/* The level goes with a new value, and comes back with the old one. */
	set_timer(~0ull);
	assert_false(b.m->cpu.mip & RV32_IRQ_TIMER);
	set_timer(5);
	assert_true(b.m->cpu.mip & RV32_IRQ_TIMER);
}

/* The high word that a reader gets belongs to its own last low word. */
static void latches_for_each_reader(void **state)
{
	(void)state;
	b.m->now = 0x1ffffffff;
	npu_model_reg_read(b.m, NPU_HOST_TIME_LO);
	soc_load(&b, NPU_CP_SYS + NPU_SYS_MTIME_LO);
	b.m->now = 0x200000000;
	assert_int_equal(npu_model_reg_read(b.m, NPU_HOST_TIME_HI), 1);
	assert_int_equal(soc_load(&b, NPU_CP_SYS + NPU_SYS_MTIME_HI), 1);
	assert_int_equal(soc_load(&b, NPU_CP_HOST + NPU_HOST_TIME_HI), 0);
	assert_int_equal(soc_load(&b, NPU_CP_HOST + NPU_HOST_TIME_LO), 0);
	assert_int_equal(soc_load(&b, NPU_CP_HOST + NPU_HOST_TIME_HI), 2);
	assert_int_equal(npu_model_reg_read(b.m, NPU_HOST_TIME_HI), 1);
}

/* Context 1 maps the first 2 MiB to themselves; a long GEMM and FINISH. */
static void prepare_job(void)
{
	u64 gemm_lo = NPU_OP_GEMM | 1ull << 7 | 1ull << 21 | 10000ull << 35 | 10ull << 49;

	npu_put_le64(b.mem + 0x1000, 0x2000 >> 2 | NPU_PTE_V);
	npu_put_le64(b.mem + 0x2000, PAGES);
	npu_put_le64(b.mem + PROGRAM, gemm_lo);
	npu_put_le64(b.mem + PROGRAM + 8, 0);
	npu_put_le64(b.mem + PROGRAM + 16, NPU_OP_FINISH);
	npu_put_le64(b.mem + PROGRAM + 24, 0);
	soc_store(&b, NPU_CP_MMU + NPU_MMU_CONTEXT, 1);
	soc_store(&b, NPU_CP_MMU + NPU_MMU_ROOT_LO, 0x1000);
	soc_store(&b, NPU_CP_MMU + NPU_MMU_ROOT_HI, 0);
}

static void start_job(u32 core)
{
	u32 base = NPU_CP_CORE + core * NPU_CP_CORE_STRIDE;

	soc_store(&b, base + NPU_CORE_CONTEXT, 1);
	soc_store(&b, base + NPU_CORE_INSN_LO, PROGRAM);
	soc_store(&b, base + NPU_CORE_INSN_COUNT, 2);
	soc_store(&b, base + NPU_CORE_CONTROL, NPU_CORE_CONTROL_START_MASK);
}

static u32 cycles(u32 core)
{
	return soc_load(&b, NPU_CP_CORE + core * NPU_CP_CORE_STRIDE + NPU_CORE_REPORT(8));
}

/* WFI, then the tick counter into x3, then rest. */
static void wait_and_look(void)
{
	static const u32 insns[] = { 0x10500073, 0x00022183, 0x10500073, 0x0000006f };
	u32 i;

	for (i = 0; i < 4; i++)
		npu_put_le32(b.m->tcm + 4 * i, insns[i]);
	rv32_tcm_written(&b.m->cpu, NPU_TCM_BASE, sizeof(insns));
	b.m->cpu.pc = NPU_TCM_BASE;
	b.m->cpu.mie = RV32_IRQ_EXTERNAL;
	b.m->cpu.mstatus = 0;
	b.m->cpu.x[3] = 0;
	b.m->cpu.x[4] = NPU_CP_SYS;
}

static u32 run_sliced(u32 cores, u32 slice, u64 *ticks)
{
	u64 begin = b.m->now;
	u32 i, result;

	for (i = 0; i < cores; i++)
		start_job(i);
	soc_store(&b, NPU_CP_SYS + NPU_SYS_IRQ_ENABLE, NPU_CP_IRQ_CORE0);
	wait_and_look();
	while (!b.m->cpu.x[3])
		npu_model_run(b.m, slice);
	*ticks = b.m->cpu.x[3] - (u32)begin;
	rv32_halt(&b.m->cpu);
	while (npu_model_run(b.m, 100000))
		;
	soc_restart(&b);
	result = cycles(0);
	for (i = 0; i < cores; i++) {
		assert_int_equal(cycles(i), result);
		soc_store(&b, NPU_CP_CORE + i * NPU_CP_CORE_STRIDE + NPU_CORE_EVENT, 1);
		soc_store(&b, NPU_CP_CORE + i * NPU_CP_CORE_STRIDE + NPU_CORE_CONTROL,
			  NPU_CORE_CONTROL_CLEAR_MASK);
	}
	return result;
}

static void slices_do_not_matter(void **state)
{
	static const u32 slices[] = { 1, 63, 64, 65, 1000, 4097, 1000000 };
	u32 i, cores, expected = 0, got;
	u64 ticks, all = 0;

	(void)state;
	prepare_job();
	for (cores = 1; cores <= SOC_CORES; cores++) {
		for (i = 0; i < sizeof(slices) / sizeof(slices[0]); i++) {
			/* From the same place within a quantum each time. */
			b.m->now = (b.m->now | (NPU_QUANTUM - 1)) + 1;
			b.m->cores[0].time = b.m->now;
			b.m->cores[1].time = b.m->now;
			got = run_sliced(cores, slices[i], &ticks);
			if (!i) {
				expected = got;
				all = ticks;
			}
			assert_in_range(got, GEMM_COUNT, GEMM_COUNT + 200);
			assert_int_equal(got, expected);
			/* The tick at which the processor woke is the same, too. */
			assert_true(ticks == all);
		}
	}
}

static void budgets_bound_a_run(void **state)
{
	u64 before;

	(void)state;
	prepare_job();
	start_job(0);
	while (b.m->cpu.wfi == false)
		soc_wait(&b, 0, 1);
	before = b.m->now;
	assert_true(npu_model_run(b.m, 1000));
	assert_in_range(b.m->now - before, 1000, 1000 + NPU_QUANTUM);
	assert_true(npu_model_run(b.m, 0));
	rv32_reset(&b.m->cpu, NPU_TCM_BASE + 8);	/* j . */
	before = b.m->now;
	assert_true(npu_model_run(b.m, 1000));
	assert_in_range(b.m->now - before, 1000, 1000 + NPU_QUANTUM);
}

/* STOP, RESUME and the cycle counter, with the processor looking on. */
static void stops_and_resumes(void **state)
{
	const u32 base = NPU_CP_CORE;
	u32 half, stopped;
	u64 ticks;

	(void)state;
	prepare_job();
	half = run_sliced(1, 1000, &ticks);
	start_job(0);
	soc_wait(&b, 0, 20000);
	soc_store(&b, base + NPU_CORE_CONTROL, NPU_CORE_CONTROL_STOP_MASK);
	assert_int_equal(soc_load(&b, base + NPU_CORE_STATUS), NPU_CORE_STATE_STOPPED);
	stopped = cycles(0);
	assert_in_range(stopped, 19000, 21000);
	assert_int_equal(soc_load(&b, base + NPU_CORE_EVENT), 0);
	assert_false(soc_wait(&b, 0, 20000));
	assert_int_equal(cycles(0), stopped);
	soc_store(&b, base + NPU_CORE_CONTROL, NPU_CORE_CONTROL_RESUME_MASK);
	rv32_halt(&b.m->cpu);
	while (npu_model_run(b.m, 777))
		;
	soc_restart(&b);
	assert_int_equal(soc_load(&b, base + NPU_CORE_STATUS), NPU_CORE_STATE_DONE);
	assert_int_equal(cycles(0), half);
}

static void halts_without_a_handler(void **state)
{
	(void)state;
	/* The first instruction is illegal, and mtvec points nowhere. */
	npu_model_reg_write(b.m, NPU_HOST_RESET, NPU_RESET_KEY);
	npu_model_reg_write(b.m, NPU_TCM_WINDOW, 0);
	npu_model_reg_write(b.m, NPU_HOST_CP_CONTROL, 1);
	assert_int_equal(npu_model_reg_read(b.m, NPU_HOST_CP_STATUS),
			 NPU_HOST_CP_STATUS_RUNNING_MASK);
	assert_false(npu_model_run(b.m, 1000));
	assert_int_equal(npu_model_reg_read(b.m, NPU_HOST_CP_STATUS),
			 NPU_HOST_CP_STATUS_HALTED_MASK);
	/* Writing 1 again is no change; 0 and 1, or a reset, help. */
	npu_model_reg_write(b.m, NPU_HOST_CP_CONTROL, 1);
	assert_int_equal(npu_model_reg_read(b.m, NPU_HOST_CP_STATUS),
			 NPU_HOST_CP_STATUS_HALTED_MASK);
	npu_model_reg_write(b.m, NPU_HOST_CP_CONTROL, 0);
	assert_int_equal(npu_model_reg_read(b.m, NPU_HOST_CP_STATUS), 0);
	npu_model_reg_write(b.m, NPU_HOST_CP_CONTROL, 1);
	assert_int_equal(npu_model_reg_read(b.m, NPU_HOST_CP_STATUS),
			 NPU_HOST_CP_STATUS_RUNNING_MASK);
	assert_false(npu_model_run(b.m, 1000));
	assert_int_equal(npu_model_reg_read(b.m, NPU_HOST_CP_STATUS),
			 NPU_HOST_CP_STATUS_HALTED_MASK);
	npu_model_reg_write(b.m, NPU_HOST_RESET, NPU_RESET_KEY);
	assert_int_equal(npu_model_reg_read(b.m, NPU_HOST_CP_STATUS), 0);
}

static void starts_at_cp_entry(void **state)
{
	(void)state;
	npu_model_reg_write(b.m, NPU_HOST_RESET, NPU_RESET_KEY);
	npu_model_reg_write(b.m, NPU_TCM_WINDOW + 0x100, 0x10500073);	/* wfi */
	npu_model_reg_write(b.m, NPU_HOST_CP_ENTRY, NPU_TCM_BASE + 0x100);
	npu_model_reg_write(b.m, NPU_HOST_CP_CONTROL, 1);
	assert_false(npu_model_run(b.m, 1000));
	assert_int_equal(npu_model_reg_read(b.m, NPU_HOST_CP_STATUS),
			 NPU_HOST_CP_STATUS_RUNNING_MASK | NPU_HOST_CP_STATUS_WFI_MASK);
	assert_int_equal(b.m->cpu.pc, NPU_TCM_BASE + 0x104);
	npu_model_reg_write(b.m, NPU_HOST_CP_CONTROL, 0);
	assert_int_equal(npu_model_reg_read(b.m, NPU_HOST_CP_STATUS), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(stands_still_at_rest), TEST(jumps_to_the_timer),
		TEST(latches_for_each_reader), TEST(slices_do_not_matter),
		TEST(budgets_bound_a_run), TEST(stops_and_resumes),
		TEST(halts_without_a_handler), TEST(starts_at_cp_entry),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("model_time", tests, NULL, NULL);
}
