// SPDX-License-Identifier: MIT
/* What the firmware tells of itself: counters, energy, power, temperature, the log. */
#include <stdarg.h>
#include <stdlib.h>
#include <setjmp.h>
#include <cmocka.h>
#include "tests/unit/device_board.h"

static struct dev_board d;
static struct dev_queue q;

/* Context 1, completion ring 1, queue 1. */
static int setup(void **state)
{
	(void)state;
	dev_init(&d, NULL);
	dev_boot(&d);
	dev_context(&d, 1);
	dev_make_cq(&d, 1, 4);
	dev_make_queue(&d, &q, 1, 1, 1, NULL);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	dev_exit(&d);
	return 0;
}

static void run_busy(u32 cmd_id, u32 k, u32 n)
{
	struct npu_job_sqe job = dev_job(cmd_id, DEV_VA, dev_program_busy(&d, 1, DEV_VA, k, n));

	dev_push(&q, &job);
	dev_ring(&q);
	dev_run(&d);
	assert_int_equal(dev_cqe(&d, 1).status, NPU_JOB_STATUS_OK);
}

static const struct npu_telemetry *telemetry(void)
{
	static struct npu_telemetry *t;
	static u64 bus;
	struct npu_admin_sqe sqe;

	t = dev_pages(&d, 1, &bus);
	npu_admin_telemetry(&sqe, bus);
	dev_admin_ok(&d, &sqe);
	return t;
}

static void tells_telemetry(void **state)
{
	const struct npu_telemetry *t;
	struct npu_admin_result result;
	struct npu_admin_sqe sqe;
	struct npu_job_sqe job;
	u64 bus, cycles;

	(void)state;
	t = dev_pages(&d, 1, &bus);
	dev_push_nop(&q, 1);
	job = dev_job(2, DEV_VA, dev_program_busy(&d, 1, DEV_VA, 1, 1));
	dev_push(&q, &job);
	job = dev_job(3, DEV_VA_DATA + 0x10000000, 1);
	dev_push(&q, &job);
	dev_ring(&q);
	dev_run(&d);
	dev_cqe(&d, 1);
	cycles = dev_cqe(&d, 1).cycles;
	assert_int_equal(dev_cqe(&d, 1).status, NPU_JOB_STATUS_FAULT);

	npu_admin_telemetry(&sqe, bus);
	dev_admin_ok(&d, &sqe);
	assert_int_equal(t->jobs, 3);
	assert_int_equal(t->faults, 1);
	assert_int_equal(t->aborts, 0);
	assert_int_equal(t->limits, 0);
	assert_true(t->cycles >= cycles && t->cycles < cycles + 100);
	assert_true(t->bytes_read >= 32);
	assert_true(t->tick && t->tick <= npu_model_ticks(d.m));
	assert_true(t->cp_insns && t->cp_insns <= npu_model_cp_insns(d.m));

	npu_admin_telemetry(&sqe, DEV_MEM_BASE - 4096);
	result = dev_admin(&d, &sqe);
	assert_int_equal(result.status, NPU_ADMIN_STATUS_DMA_ERROR);
	assert_int_equal(result.result0, NPU_FAULT_BUS);
	assert_int_equal(result.result1, DEV_MEM_BASE - 4096);
}

static u64 energy_of(const struct npu_telemetry *t)
{
	return npu_energy_nj(t->tick, t->cycles, t->macs, t->bytes_read + t->bytes_written);
}

static void energy_is_that_of_the_counters(void **state)
{
	const struct npu_telemetry *t;
	u64 before;
	u32 i;

	(void)state;
	t = telemetry();
	assert_int_equal(t->energy, energy_of(t));
	before = t->energy;
	for (i = 0; i < 5; i++) {
		run_busy(i, 1 + i * 20, 2);
		t = telemetry();
		assert_int_equal(t->energy, energy_of(t));
		assert_true(t->energy > before);
		before = t->energy;
	}
}

/* Rounded down twice on the way: to units a tick, and to milliwatts. */
static void power_is_that_since_the_last_look(void **state)
{
	struct npu_telemetry a, b;
	u64 exact;

	(void)state;
	a = *telemetry();
	run_busy(1, 100, 3);
	b = *telemetry();
	exact = (b.energy - a.energy) * d.cfg.clock_khz / (b.tick - a.tick) / 1000;
	assert_true(b.power <= exact && b.power + 1 >= exact);
	/* Ticks and cycles, and no multiplication: 50 + 20 mW at 1 GHz. */
	assert_in_range(b.power, 69 * (d.cfg.clock_khz / 1000) / 1000,
			71 * (d.cfg.clock_khz / 1000) / 1000);
	b = *telemetry();
	assert_in_range(b.power, 49 * (d.cfg.clock_khz / 1000) / 1000,
			55 * (d.cfg.clock_khz / 1000) / 1000);
}

/* The contract's steps, from what telemetry told, in a plain way. */
static void temperature_follows_the_power(void **state)
{
	const u32 ambient = NPU_ENERGY_AMBIENT;
	const struct npu_telemetry *t;
	u32 last = ambient, i, aim;

	(void)state;
	t = telemetry();
	assert_int_equal(t->temperature, ambient);
	for (i = 0; i < 4; i++) {
		run_busy(i, 3000, 1);
		t = telemetry();
		aim = ambient + t->power * NPU_ENERGY_RESISTANCE;
		assert_true(t->temperature > last && t->temperature < aim);
		/* At most as many steps as ticks hold, each 1/256 of the rest. */
		assert_true(t->temperature - ambient <=
			    (aim - ambient) * ((t->tick >> NPU_ENERGY_STEP_LOG) + 1) >>
			    NPU_ENERGY_STEP_SHIFT);
		last = t->temperature;
	}
}

static void same_work_gives_the_same_figures(void **state)
{
	struct npu_telemetry first, second;
	u32 i;

	(void)state;
	for (i = 0; i < 3; i++)
		run_busy(i, 500, 3);
	first = *telemetry();
	teardown(state);
	setup(state);
	/* However the model's time is sliced. */
	d.slice = 777;
	for (i = 0; i < 3; i++)
		run_busy(i, 500, 3);
	second = *telemetry();
	assert_int_equal(first.energy, second.energy);
	assert_int_equal(first.power, second.power);
	assert_int_equal(first.temperature, second.temperature);
}

static const struct npu_log_entry *log_entries(void)
{
	static struct npu_log_entry *entries;
	struct npu_admin_sqe sqe;
	u64 bus;

	entries = dev_pages(&d, 1, &bus);
	npu_admin_log(&sqe, bus);
	dev_admin_ok(&d, &sqe);
	return entries;
}

static const struct npu_log_entry *newest(const struct npu_log_entry *entries)
{
	const struct npu_log_entry *e = entries;
	u32 i;

	for (i = 0; i < NPU_LOG_ENTRIES; i++)
		if (entries[i].sequence > e->sequence)
			e = &entries[i];
	return e;
}

static void logs_what_is_out_of_the_ordinary(void **state)
{
	const struct npu_log_entry *entries = log_entries(), *e;
	struct npu_admin_sqe sqe;
	struct npu_job_sqe job;

	(void)state;
	assert_int_equal(entries[0].sequence, 1);
	assert_int_equal(entries[0].what, NPU_LOG_BOOT);
	assert_int_equal(entries[0].code, NPU_PROTO_MAX);
	e = newest(entries);
	assert_int_equal(e->what, NPU_LOG_ADMIN);
	assert_int_equal(e->code, NPU_ADMIN_QUEUE_CREATE);
	assert_int_equal(e->arg0, NPU_ADMIN_STATUS_OK);
	assert_int_equal(e->queue, 1);

	/* Neither what is well, nor looking at it. */
	run_busy(1, 1, 1);
	telemetry();
	assert_int_equal(newest(log_entries())->sequence, e->sequence);

	job = dev_job(0x77, DEV_VA_DATA + 0x10000000, 1);
	dev_push(&q, &job);
	dev_ring(&q);
	dev_run(&d);
	e = newest(log_entries());
	assert_int_equal(e->what, NPU_LOG_JOB);
	assert_int_equal(e->code, NPU_JOB_STATUS_FAULT);
	assert_int_equal(e->queue, 1);
	assert_int_equal(e->arg0, 0x77);
	assert_int_equal(e->arg1, DEV_VA_DATA + 0x10000000);
	assert_true(e->tick && e->tick <= npu_model_ticks(d.m));

	npu_admin_queue_destroy(&sqe, 9);
	assert_int_equal(dev_admin(&d, &sqe).status, NPU_ADMIN_STATUS_NOT_FOUND);
	e = newest(log_entries());
	assert_int_equal(e->what, NPU_LOG_ADMIN);
	assert_int_equal(e->arg0, NPU_ADMIN_STATUS_NOT_FOUND);
}

static void log_keeps_the_last_entries(void **state)
{
	const struct npu_log_entry *entries;
	struct npu_admin_sqe sqe;
	u32 i;

	(void)state;
	for (i = 0; i < 3 * NPU_LOG_ENTRIES; i++) {
		npu_admin_queue_destroy(&sqe, 9);
		assert_int_equal(dev_admin(&d, &sqe).status, NPU_ADMIN_STATUS_NOT_FOUND);
	}
	entries = log_entries();
	for (i = 0; i < NPU_LOG_ENTRIES; i++) {
		assert_true(newest(entries)->sequence - entries[i].sequence < NPU_LOG_ENTRIES);
		assert_int_equal((entries[i].sequence - 1) % NPU_LOG_ENTRIES, i);
	}
}

/* A reset keeps TCM, and the log in it. */
static void log_survives_a_reset(void **state)
{
	u32 at = npu_model_reg_read(d.m, NPU_HOST_FW_LOG), i;
	u32 words[sizeof(struct npu_log_entry) / 4];
	struct npu_log_entry e;

	(void)state;
	assert_in_range(at, NPU_TCM_BASE, NPU_TCM_BASE + d.cfg.tcm_size - 1);
	assert_int_equal(npu_reset(&d.env, 1000000, NULL), 0);
	assert_int_equal(npu_model_reg_read(d.m, NPU_HOST_FW_LOG), 0);
	for (i = 0; i < sizeof(words) / 4; i++)
		words[i] = npu_model_reg_read(d.m, NPU_TCM_WINDOW + at - NPU_TCM_BASE + 4 * i);
	memcpy(&e, words, sizeof(e));
	assert_int_equal(e.sequence, 1);
	assert_int_equal(e.what, NPU_LOG_BOOT);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(tells_telemetry), TEST(energy_is_that_of_the_counters),
		TEST(power_is_that_since_the_last_look), TEST(temperature_follows_the_power),
		TEST(same_work_gives_the_same_figures), TEST(logs_what_is_out_of_the_ordinary),
		TEST(log_keeps_the_last_entries), TEST(log_survives_a_reset),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("fw_telemetry", tests, NULL, NULL);
}
