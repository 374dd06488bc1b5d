// SPDX-License-Identifier: MIT
/* Which job runs when: priorities, turns, preemption, several cores. */
#include <stdarg.h>
#include <stdlib.h>
#include <setjmp.h>
#include <cmocka.h>
#include "tests/unit/device_board.h"

#define VA_LONG		(DEV_VA + 0x1000)
#define VA_YIELDS	(DEV_VA + 0x2000)
#define YIELD_PARTS	20

static struct dev_board d;
static u32 n_finish, n_long, n_yields;

static void setup_cores(u32 cores)
{
	struct npu_model_config cfg;

	npu_model_default_config(&cfg);
	cfg.cores = cores;
	dev_init(&d, &cfg);
	dev_boot(&d);
	dev_context(&d, 1);
	dev_make_cq(&d, 1, 8);
	n_finish = dev_program_finish(&d, 1, DEV_VA);
	n_long = dev_program_busy(&d, 1, VA_LONG, 4, 1);
	n_yields = dev_program_busy(&d, 1, VA_YIELDS, 1, YIELD_PARTS);
}

static int setup(void **state)
{
	(void)state;
	setup_cores(1);
	return 0;
}

static int setup_four(void **state)
{
	(void)state;
	setup_cores(4);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	dev_exit(&d);
	return 0;
}

static void make(struct dev_queue *q, u32 slot, u32 priority, u32 core_mask)
{
	const struct dev_queue_opts opts = { .priority = priority, .core_mask = core_mask };

	dev_make_queue(&d, q, slot, 1, 1, &opts);
}

static void push_jobs(struct dev_queue *q, u32 count, u64 va, u32 n)
{
	struct npu_job_sqe job;
	u32 i;

	for (i = 0; i < count; i++) {
		job = dev_job(i, va, n);
		dev_push(q, &job);
	}
	dev_ring(q);
}

static void takes_the_highest_priority_first(void **state)
{
	struct dev_queue q[4];
	u32 i, k;

	(void)state;
	for (i = 0; i < 4; i++)
		make(&q[i], i + 1, i, 1);
	/* Something runs while all of them get work. */
	push_jobs(&q[3], 1, VA_LONG, n_long);
	npu_model_run(d.m, 5000);
	for (i = 0; i < 4; i++)
		push_jobs(&q[i], 3, VA_LONG, n_long);
	dev_run(&d);
	for (k = 0; k < 4; k++)
		assert_int_equal(dev_cqe(&d, 1).queue, 4);
	for (i = 3; i--;)
		for (k = 0; k < 3; k++)
			assert_int_equal(dev_cqe(&d, 1).queue, i + 1);
}

static void takes_turns(void **state)
{
	struct dev_queue q[5];
	u32 i, k;

	(void)state;
	for (i = 0; i < 5; i++)
		make(&q[i], i + 1, 1, 1);
	push_jobs(&q[0], 1, VA_LONG, n_long);
	npu_model_run(d.m, 5000);
	/* One has many more than the others, and does not get ahead by it. */
	push_jobs(&q[4], 15, VA_LONG, n_long);
	for (i = 0; i < 4; i++)
		push_jobs(&q[i], 6, VA_LONG, n_long);
	dev_run(&d);
	assert_int_equal(dev_cqe(&d, 1).queue, 1);
	for (k = 0; k < 6; k++) {
		u32 seen = 0;

		for (i = 0; i < 5; i++)
			seen |= 1u << dev_cqe(&d, 1).queue;
		assert_int_equal(seen, 0x3e);
	}
	for (k = 0; k < 9; k++)
		assert_int_equal(dev_cqe(&d, 1).queue, 5);
}

static u64 undisturbed_cycles(struct dev_queue *q)
{
	push_jobs(q, 1, VA_YIELDS, n_yields);
	dev_run(&d);
	return dev_cqe(&d, 1).cycles;
}

static void preempts_at_a_yield(void **state)
{
	const struct npu_job_report *r = dev_mem(&d, 1, DEV_VA_DATA);
	struct dev_queue low, middle, high;
	struct npu_job_sqe job;
	struct npu_cqe cqe;
	u64 alone;
	u32 i;

	(void)state;
	make(&low, 1, 0, 1);
	make(&middle, 2, 1, 1);
	make(&high, 3, 2, 1);
	alone = undisturbed_cycles(&low);
	npu_sq_complete(&low.sq);
	job = dev_job(1, VA_YIELDS, n_yields);
	job.report_va = DEV_VA_DATA;
	dev_push(&low, &job);
	dev_ring(&low);
	npu_model_run(d.m, 3 * 16383);
	push_jobs(&middle, 1, VA_YIELDS, n_yields);
	npu_model_run(d.m, 3 * 16383);
	push_jobs(&high, 1, DEV_VA, n_finish);
	dev_run(&d);
	for (i = 3; i; i--) {
		cqe = dev_cqe(&d, 1);
		assert_int_equal(cqe.status, NPU_JOB_STATUS_OK);
		assert_int_equal(cqe.queue, i);
	}
	/* Each part pays a start; the rest is exact, and nothing is done twice. */
	assert_in_range(cqe.cycles, alone, alone + 200);
	assert_int_equal(cqe.insn, n_yields);
	assert_int_equal(r->cycles, cqe.cycles);
	assert_true(r->end_tick - r->start_tick > 2 * alone);
	assert_in_range(cqe.bytes_read, 16 * n_yields, 16 * n_yields + 128);
}

static void does_not_preempt_its_equal(void **state)
{
	struct dev_queue a, b;

	(void)state;
	make(&a, 1, 1, 1);
	make(&b, 2, 1, 1);
	push_jobs(&a, 1, VA_YIELDS, n_yields);
	npu_model_run(d.m, 3 * 16383);
	push_jobs(&b, 1, DEV_VA, n_finish);
	dev_run(&d);
	assert_int_equal(dev_cqe(&d, 1).queue, 1);
	assert_int_equal(dev_cqe(&d, 1).queue, 2);
}

static void counts_limits_over_all_parts(void **state)
{
	struct dev_queue low, high;
	struct npu_job_sqe job;
	struct npu_cqe cqe;
	u32 i;

	(void)state;
	make(&low, 1, 0, 1);
	make(&high, 2, 3, 1);
	job = dev_job(1, VA_YIELDS, n_yields);
	job.limit = 10 * 16383;
	dev_push(&low, &job);
	dev_ring(&low);
	for (i = 0; i < 4; i++) {
		npu_model_run(d.m, 2 * 16383);
		push_jobs(&high, 1, DEV_VA, n_finish);
	}
	dev_run(&d);
	for (i = 0; i < 4; i++)
		assert_int_equal(dev_cqe(&d, 1).queue, 2);
	cqe = dev_cqe(&d, 1);
	assert_int_equal(cqe.queue, 1);
	assert_int_equal(cqe.status, NPU_JOB_STATUS_LIMIT);
	assert_in_range(cqe.cycles, job.limit, job.limit + NPU_TIMING_LIMIT_SLACK);
}

/* Paused jobs can be aborted, and destroyed with their queue. */
static void ends_paused_jobs(void **state)
{
	struct dev_queue low, middle, high;
	struct npu_admin_sqe sqe;
	struct npu_cqe cqe;

	(void)state;
	make(&low, 1, 0, 1);
	make(&middle, 2, 1, 1);
	make(&high, 3, 2, 1);
	push_jobs(&low, 1, VA_YIELDS, n_yields);
	npu_model_run(d.m, 3 * 16383);
	push_jobs(&middle, 1, VA_YIELDS, n_yields);
	npu_model_run(d.m, 3 * 16383);
	push_jobs(&high, 1, VA_YIELDS, n_yields);
	npu_model_run(d.m, 3 * 16383);
	npu_admin_abort(&sqe, 1, 0);
	dev_admin_ok(&d, &sqe);
	cqe = dev_cqe(&d, 1);
	assert_int_equal(cqe.queue, 1);
	assert_int_equal(cqe.status, NPU_JOB_STATUS_ABORTED);
	assert_true(cqe.cycles > 16383);
	npu_admin_queue_destroy(&sqe, 2);
	dev_admin_ok(&d, &sqe);
	cqe = dev_cqe(&d, 1);
	assert_int_equal(cqe.queue, 2);
	assert_int_equal(cqe.status, NPU_JOB_STATUS_ABORTED);
	dev_run(&d);
	cqe = dev_cqe(&d, 1);
	assert_int_equal(cqe.queue, 3);
	assert_int_equal(cqe.status, NPU_JOB_STATUS_OK);
}

static void null_jobs_keep_their_turn(void **state)
{
	struct dev_queue q;
	struct npu_job_sqe job;
	u32 i;

	(void)state;
	make(&q, 1, 0, 1);
	for (i = 0; i < 12; i++) {
		if (i % 3 == 1) {
			dev_push_nop(&q, i);
			continue;
		}
		job = dev_job(i, i % 3 ? DEV_VA : VA_LONG, i % 3 ? n_finish : n_long);
		if (i == 5)
			job.flags = 1;
		dev_push(&q, &job);
	}
	dev_ring(&q);
	dev_run(&d);
	for (i = 0; i < 12; i++)
		assert_int_equal(dev_cqe(&d, 1).cmd_id, i);
}

static void uses_the_cores_of_the_mask(void **state)
{
	struct dev_queue any, two, last;
	struct npu_cqe cqe;
	u32 i, used[3] = { 0 };

	(void)state;
	make(&any, 1, 1, 0xf);
	make(&two, 2, 1, 0x6);
	make(&last, 3, 1, 0x8);
	push_jobs(&last, 10, VA_LONG, n_long);
	push_jobs(&two, 10, VA_LONG, n_long);
	push_jobs(&any, 15, VA_LONG, n_long);
	dev_run(&d);
	for (i = 0; i < 35; i++) {
		cqe = dev_cqe(&d, 1);
		assert_int_equal(cqe.status, NPU_JOB_STATUS_OK);
		assert_in_range(cqe.queue, 1, 3);
		used[cqe.queue - 1] |= 1u << cqe.core;
	}
	assert_true(used[0] & 1);
	assert_int_equal(used[1], 0x6);
	assert_int_equal(used[2], 0x8);
}

static void preempts_on_four_cores(void **state)
{
	struct dev_queue low, high;
	struct npu_cqe cqe;
	u32 i, yields;
	const struct npu_telemetry *t;
	struct npu_admin_sqe sqe;
	u64 bus;

	(void)state;
	t = dev_pages(&d, 1, &bus);
	make(&low, 1, 0, 0xf);
	make(&high, 2, 1, 0x3);
	push_jobs(&low, 8, VA_YIELDS, n_yields);
	npu_model_run(d.m, 3 * 16383);
	push_jobs(&high, 6, VA_LONG, n_long);
	dev_run(&d);
	for (i = 0; i < 6; i++) {
		cqe = dev_cqe(&d, 1);
		assert_int_equal(cqe.queue, 2);
		assert_in_range(cqe.core, 0, 1);
	}
	for (i = 0; i < 8; i++) {
		cqe = dev_cqe(&d, 1);
		assert_int_equal(cqe.queue, 1);
		assert_int_equal(cqe.status, NPU_JOB_STATUS_OK);
		assert_int_equal(cqe.insn, n_yields);
	}
	npu_admin_telemetry(&sqe, bus);
	dev_admin_ok(&d, &sqe);
	yields = t->yields;
	/* Two cores were asked for, those and no more. */
	assert_int_equal(yields, 2);
}

/* More priorities and cores than there are spare places, over and over. */
static void bounds_paused_jobs(void **state)
{
	struct dev_queue q[8];
	struct npu_cqe cqe;
	u32 i, round, total = 0;

	(void)state;
	for (i = 0; i < 8; i++)
		make(&q[i], i + 1, i / 2, 1u << i % 4 | 1u << (i + 1) % 4);
	for (round = 0; round < 12; round++) {
		for (i = 0; i < 8; i++) {
			push_jobs(&q[i], 1, VA_YIELDS, n_yields);
			npu_model_run(d.m, 5000 + 3000 * (round % 3));
		}
	}
	dev_run(&d);
	while (dev_poll(&d, 1, &cqe)) {
		assert_int_equal(cqe.status, NPU_JOB_STATUS_OK);
		assert_int_equal(cqe.insn, n_yields);
		total++;
	}
	assert_int_equal(total, 96);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
#define TEST_FOUR(name) cmocka_unit_test_setup_teardown(name, setup_four, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(takes_the_highest_priority_first), TEST(takes_turns),
		TEST(preempts_at_a_yield), TEST(does_not_preempt_its_equal),
		TEST(counts_limits_over_all_parts), TEST(ends_paused_jobs),
		TEST(null_jobs_keep_their_turn), TEST_FOUR(uses_the_cores_of_the_mask),
		TEST_FOUR(preempts_on_four_cores), TEST_FOUR(bounds_paused_jobs),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("fw_sched", tests, NULL, NULL);
}
