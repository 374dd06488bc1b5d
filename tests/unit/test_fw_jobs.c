// SPDX-License-Identifier: MIT
/* Jobs through the firmware: how they end, reports, limits, aborts, resets. */
#include <stdarg.h>
#include <stdlib.h>
#include <setjmp.h>
#include <cmocka.h>
#include "tests/unit/device_board.h"

#define OFFSET(field)	offsetof(struct npu_job_sqe, field)
#define VA_LONG		(DEV_VA + 0x1000)
#define VA_REPORT	DEV_VA_DATA

static struct dev_board d;
static struct dev_queue q;
static u32 n_finish, n_long;

static int setup(void **state)
{
	const struct dev_queue_opts opts = { .log_size = 6, .limit = 1000000000 };

	(void)state;
	dev_init(&d, NULL);
	dev_boot(&d);
	dev_context(&d, 1);
	dev_make_cq(&d, 1, 8);
	dev_make_queue(&d, &q, 1, 1, 1, &opts);
	n_finish = dev_program_finish(&d, 1, DEV_VA);
	n_long = dev_program_busy(&d, 1, VA_LONG, 100, 1);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	dev_exit(&d);
	return 0;
}

static void start(const struct npu_job_sqe *sqe)
{
	dev_push(&q, sqe);
	dev_ring(&q);
}

static struct npu_cqe run(const struct npu_job_sqe *sqe)
{
	struct npu_cqe cqe;

	start(sqe);
	dev_run(&d);
	cqe = dev_cqe(&d, 1);
	assert_int_equal(cqe.cmd_id, sqe->cmd_id);
	assert_int_equal(cqe.queue, 1);
	return cqe;
}

static void reports(void **state)
{
	const struct npu_job_report *r = dev_mem(&d, 1, VA_REPORT);
	struct npu_job_sqe job = dev_job(5, VA_LONG, n_long);
	struct npu_cqe cqe;

	(void)state;
	job.report_va = VA_REPORT;
	cqe = run(&job);
	assert_int_equal(cqe.status, NPU_JOB_STATUS_OK);
	assert_int_equal(r->status, NPU_JOB_STATUS_OK);
	assert_int_equal(r->cycles, cqe.cycles);
	assert_int_equal(r->macs, cqe.macs);
	assert_int_equal(r->bytes_read, cqe.bytes_read);
	assert_int_equal(r->bytes_read, 16 * n_long);
	assert_int_equal(r->insn, n_long);
	assert_int_equal(r->context, 1);
	assert_true(r->end_tick >= r->start_tick + r->cycles);
	assert_true(r->start_tick && r->end_tick < npu_model_ticks(d.m));
	assert_true(r->busy_compute > 100 * 16383);

	/* The next one starts from zero, and a NOP has all zeros. */
	job = dev_job(6, DEV_VA, n_finish);
	job.report_va = VA_REPORT;
	cqe = run(&job);
	assert_true(r->cycles == cqe.cycles && r->cycles < 100);
	npu_job_nop(&job, 7);
	job.report_va = VA_REPORT + 128;
	memset(dev_mem(&d, 1, VA_REPORT + 128), 0xff, 128);
	assert_int_equal(run(&job).status, NPU_JOB_STATUS_OK);
	assert_int_equal((r + 1)->status, NPU_JOB_STATUS_OK);
	assert_int_equal((r + 1)->cycles, 0);
	assert_int_equal((r + 1)->start_tick, 0);
	assert_int_equal((r + 1)->context, 1);
	assert_int_equal((r + 1)->stall_store, 0);
}

static void tells_report_faults(void **state)
{
	struct npu_job_sqe job = dev_job(5, DEV_VA, n_finish);
	struct npu_cqe cqe;

	(void)state;
	job.report_va = DEV_VA + DEV_VA_BYTES - 64;
	cqe = run(&job);
	assert_int_equal(cqe.status, NPU_JOB_STATUS_REPORT_FAULT);
	assert_int_equal(cqe.fault_code, NPU_FAULT_UNMAPPED);
	assert_int_equal(cqe.fault_unit, NPU_UNIT_DMA);
	assert_int_equal(cqe.fault_access, NPU_ACCESS_WRITE);
	assert_int_equal(cqe.fault_va, DEV_VA + DEV_VA_BYTES);
	/* After another end that end's status stays. */
	job.insn_va = 0x10000000;
	cqe = run(&job);
	assert_int_equal(cqe.status, NPU_JOB_STATUS_FAULT);
	assert_int_equal(cqe.fault_va, 0x10000000);
}

static void faults(void **state)
{
	struct npu_event *ev;
	struct npu_evq evq;
	struct npu_event event;
	struct npu_job_sqe job = dev_job(5, 0x10000000, 3);
	struct npu_admin_sqe sqe;
	struct npu_cqe cqe;
	u64 bus;
	u32 irqs;

	(void)state;
	ev = dev_pages(&d, 1, &bus);
	npu_evq_init(&evq, ev, 2);
	npu_admin_event_ring_set(&sqe, bus, 2);
	dev_admin_ok(&d, &sqe);
	irqs = d.irqs[0];
	cqe = run(&job);
	assert_int_equal(cqe.status, NPU_JOB_STATUS_FAULT);
	assert_int_equal(cqe.fault_code, NPU_FAULT_UNMAPPED);
	assert_int_equal(cqe.fault_unit, NPU_UNIT_FETCH);
	assert_int_equal(cqe.fault_access, NPU_ACCESS_EXECUTE);
	assert_int_equal(cqe.fault_va, 0x10000000);
	assert_int_equal(cqe.insn, 0);
	assert_int_equal(d.irqs[0], irqs + 1);
	assert_int_equal(npu_evq_poll(&evq, &event), 1);
	assert_int_equal(event.type, NPU_EVENT_FAULT);
	assert_int_equal(event.queue, 1);
	assert_int_equal(event.context, 1);
	assert_int_equal(event.cmd_id, 5);
	assert_int_equal(event.fault_code, NPU_FAULT_UNMAPPED);
	assert_int_equal(event.fault_unit, NPU_UNIT_FETCH);
	assert_int_equal(event.fault_va, 0x10000000);
	assert_true(event.tick && event.tick <= npu_model_ticks(d.m));
	assert_int_equal(npu_evq_poll(&evq, &event), 0);
	/* It ends the job, not the queue. */
	job = dev_job(6, DEV_VA, n_finish);
	assert_int_equal(run(&job).status, NPU_JOB_STATUS_OK);
	/* A program of another kind of wrong: no FINISH. */
	job = dev_job(7, VA_LONG, n_long - 1);
	cqe = run(&job);
	assert_int_equal(cqe.status, NPU_JOB_STATUS_FAULT);
	assert_int_equal(cqe.fault_code, NPU_FAULT_NO_FINISH);
}

static void keeps_limits(void **state)
{
	const struct dev_queue_opts opts = { .limit = 30000 };
	struct npu_job_sqe job = dev_job(5, VA_LONG, n_long);
	struct dev_queue strict;
	struct npu_cqe cqe;

	(void)state;
	job.limit = 50000;
	cqe = run(&job);
	assert_int_equal(cqe.status, NPU_JOB_STATUS_LIMIT);
	assert_in_range(cqe.cycles, 50000, 50000 + NPU_TIMING_LIMIT_SLACK);
	/* The lower of the two holds. */
	dev_make_queue(&d, &strict, 2, 1, 1, &opts);
	dev_push(&strict, &job);
	job.limit = 0;
	dev_push(&strict, &job);
	job.limit = 20000;
	dev_push(&strict, &job);
	dev_ring(&strict);
	dev_run(&d);
	cqe = dev_cqe(&d, 1);
	assert_int_equal(cqe.status, NPU_JOB_STATUS_LIMIT);
	assert_in_range(cqe.cycles, 30000, 30000 + NPU_TIMING_LIMIT_SLACK);
	assert_in_range(dev_cqe(&d, 1).cycles, 30000, 30000 + NPU_TIMING_LIMIT_SLACK);
	assert_in_range(dev_cqe(&d, 1).cycles, 20000, 20000 + NPU_TIMING_LIMIT_SLACK);
	/* A job just below is not touched. */
	job = dev_job(6, VA_LONG, n_long);
	job.limit = 100 * 16383 + 200;
	assert_int_equal(run(&job).status, NPU_JOB_STATUS_OK);
}

static void refuses_entries(void **state)
{
	const struct {
		u32 offset, size;
		u64 value;
	} cases[] = {
		{ OFFSET(op), 1, 2 }, { OFFSET(op), 1, 0xff }, { OFFSET(flags), 1, 1 },
		{ OFFSET(reserved0), 2, 1 }, { OFFSET(reserved0), 2, 0xffff },
		{ OFFSET(insn_va), 8, DEV_VA + 8 }, { OFFSET(insn_count), 4, 0 },
		{ OFFSET(region_count), 4, NPU_REGION_TABLE_MAX + 1 },
		{ OFFSET(region_count), 4, ~0u }, { OFFSET(region_va), 8, DEV_VA },
		{ OFFSET(region_va), 8, 1ull << 33 }, { OFFSET(region_va), 8, 8 },
		{ OFFSET(limit), 8, NPU_LIMIT_MAX + 1 }, { OFFSET(limit), 8, ~0ull },
		{ OFFSET(report_va), 8, VA_REPORT + 32 }, { OFFSET(reserved1), 8, 1 },
		{ OFFSET(reserved1), 8, 1ull << 63 },
	};
	struct npu_job_sqe job;
	struct npu_cqe cqe;
	u32 i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		job = dev_job(i, DEV_VA, n_finish);
		memcpy((u8 *)&job + cases[i].offset, &cases[i].value, cases[i].size);
		cqe = run(&job);
		assert_int_equal(cqe.status, NPU_JOB_STATUS_INVALID);
		assert_int_equal(cqe.insn, cases[i].offset);
		assert_int_equal(cqe.cycles, 0);
	}
	job = dev_job(100, DEV_VA, n_finish);
	job.reserved1[1] = 1;
	assert_int_equal(run(&job).status, NPU_JOB_STATUS_INVALID);
	job = dev_job(101, DEV_VA, n_finish);
	job.limit = NPU_LIMIT_MAX;
	assert_int_equal(run(&job).status, NPU_JOB_STATUS_OK);
	job = dev_job(101, DEV_VA, n_finish);
	job.region_va = VA_REPORT + 8;
	job.region_count = 1;
	cqe = run(&job);
	assert_int_equal(cqe.status, NPU_JOB_STATUS_INVALID);
	assert_int_equal(cqe.insn, OFFSET(region_va));
}

static void refuses_nop_fields(void **state)
{
	static const u32 offsets[] = {
		OFFSET(insn_va), OFFSET(insn_count), OFFSET(region_count), OFFSET(region_va),
		OFFSET(limit),
	};
	struct npu_job_sqe job;
	struct npu_cqe cqe;
	u32 i;

	(void)state;
	for (i = 0; i < sizeof(offsets) / sizeof(offsets[0]); i++) {
		npu_job_nop(&job, i);
		((u8 *)&job)[offsets[i]] = 16;
		cqe = run(&job);
		assert_int_equal(cqe.status, NPU_JOB_STATUS_INVALID);
		assert_int_equal(cqe.insn, offsets[i]);
	}
}

static void aborts(void **state)
{
	struct npu_job_sqe job = dev_job(1, VA_LONG, n_long);
	struct npu_job_report *r = dev_mem(&d, 1, VA_REPORT);
	struct npu_admin_sqe sqe;
	struct npu_cqe cqe;
	u32 i;

	(void)state;
	/* One runs, one waits in the buffer, one waits in the ring. */
	job.report_va = VA_REPORT;
	dev_push(&q, &job);
	job.report_va = 0;
	for (i = 2; i < 50; i++) {
		job = dev_job(i, DEV_VA, n_finish);
		dev_push(&q, &job);
	}
	dev_ring(&q);
	npu_model_run(d.m, 20000);
	npu_admin_abort(&sqe, 1, 3);
	dev_admin_ok(&d, &sqe);
	npu_admin_abort(&sqe, 1, 45);
	dev_admin_ok(&d, &sqe);
	npu_admin_abort(&sqe, 1, 45);
	assert_int_equal(dev_admin(&d, &sqe).status, NPU_ADMIN_STATUS_NOT_FOUND);
	npu_admin_abort(&sqe, 1, 50);
	assert_int_equal(dev_admin(&d, &sqe).status, NPU_ADMIN_STATUS_NOT_FOUND);
	assert_false(dev_poll(&d, 1, &cqe));
	npu_admin_abort(&sqe, 1, 1);
	dev_admin_ok(&d, &sqe);
	/* The job's completion was written before the operation's. */
	cqe = dev_cqe(&d, 1);
	assert_int_equal(cqe.cmd_id, 1);
	assert_int_equal(cqe.status, NPU_JOB_STATUS_ABORTED);
	assert_true(cqe.cycles > 1000);
	assert_int_equal(r->status, NPU_JOB_STATUS_ABORTED);
	assert_int_equal(r->cycles, cqe.cycles);
	dev_run(&d);
	for (i = 2; i < 50; i++) {
		cqe = dev_cqe(&d, 1);
		assert_int_equal(cqe.cmd_id, i);
		assert_int_equal(cqe.status, i == 3 || i == 45 ? NPU_JOB_STATUS_ABORTED :
								 NPU_JOB_STATUS_OK);
	}
	npu_admin_abort(&sqe, 1, 49);
	assert_int_equal(dev_admin(&d, &sqe).status, NPU_ADMIN_STATUS_NOT_FOUND);
}

static void runs_out_of_marks(void **state)
{
	struct npu_job_sqe job = dev_job(1, VA_LONG, n_long);
	struct npu_admin_sqe sqe;
	u32 i, marked = 0, status = NPU_ADMIN_STATUS_OK;

	(void)state;
	dev_push(&q, &job);
	for (i = 2; i < 60; i++)
		dev_push_nop(&q, i);
	dev_ring(&q);
	npu_model_run(d.m, 20000);
	for (i = 2; i < 60; i++) {
		npu_admin_abort(&sqe, 1, i);
		status = dev_admin(&d, &sqe).status;
		if (status)
			break;
		marked++;
	}
	assert_int_equal(status, NPU_ADMIN_STATUS_BUSY);
	assert_true(marked >= 16);
	/* They come back with the queue that had them. */
	npu_admin_queue_destroy(&sqe, 1);
	dev_admin_ok(&d, &sqe);
	for (i = 1; i < 60; i++)
		assert_int_equal(dev_cqe(&d, 1).status, NPU_JOB_STATUS_ABORTED);
	dev_make_queue(&d, &q, 1, 1, 1, NULL);
	job = dev_job(1, VA_LONG, n_long);
	dev_push(&q, &job);
	dev_push_nop(&q, 2);
	dev_ring(&q);
	npu_model_run(d.m, 20000);
	npu_admin_abort(&sqe, 1, 2);
	dev_admin_ok(&d, &sqe);
	dev_run(&d);
	assert_int_equal(dev_cqe(&d, 1).status, NPU_JOB_STATUS_OK);
	assert_int_equal(dev_cqe(&d, 1).status, NPU_JOB_STATUS_ABORTED);
}

static void destroys_with_jobs_in_flight(void **state)
{
	struct npu_job_sqe job = dev_job(0, VA_LONG, n_long);
	struct npu_admin_sqe sqe;
	struct npu_cqe cqe;
	u32 i;

	(void)state;
	for (i = 0; i < 60; i++) {
		job.cmd_id = i;
		dev_push(&q, &job);
	}
	dev_ring(&q);
	npu_model_run(d.m, 20000);
	npu_admin_queue_destroy(&sqe, 1);
	dev_admin_ok(&d, &sqe);
	for (i = 0; i < 60; i++) {
		cqe = dev_cqe(&d, 1);
		assert_int_equal(cqe.cmd_id, i);
		assert_int_equal(cqe.status, NPU_JOB_STATUS_ABORTED);
		assert_true(!i == !!cqe.cycles);
	}
	dev_run(&d);
	assert_false(dev_poll(&d, 1, &cqe));
	npu_model_doorbell(d.m, 1, 70);
	dev_run(&d);
	assert_false(dev_poll(&d, 1, &cqe));
}

static void resets_a_context(void **state)
{
	struct npu_job_sqe job = dev_job(0, VA_LONG, n_long);
	struct dev_queue second, other;
	struct npu_admin_sqe sqe;
	struct npu_cqe cqe;
	u32 i, canceled = 0, ok = 0;

	(void)state;
	dev_context(&d, 2);
	dev_make_queue(&d, &second, 2, 1, 1, NULL);
	dev_make_queue(&d, &other, 3, 1, 2, NULL);
	dev_program_finish(&d, 2, DEV_VA);
	for (i = 0; i < 40; i++)
		dev_push(&q, &job);
	for (i = 0; i < 10; i++)
		dev_push(&second, &job);
	job = dev_job(77, DEV_VA, n_finish);
	for (i = 0; i < 10; i++)
		dev_push(&other, &job);
	dev_ring(&q);
	dev_ring(&second);
	npu_model_run(d.m, 20000);
	dev_ring(&other);
	npu_admin_context_reset(&sqe, 1);
	dev_admin_ok(&d, &sqe);
	dev_run(&d);
	while (dev_poll(&d, 1, &cqe)) {
		if (cqe.queue == 3) {
			assert_int_equal(cqe.status, NPU_JOB_STATUS_OK);
			ok++;
		} else {
			assert_int_equal(cqe.status, NPU_JOB_STATUS_CANCELED);
			canceled++;
		}
	}
	assert_int_equal(canceled, 50);
	assert_int_equal(ok, 10);
	/* The queues stay and accept jobs. */
	while (q.sq.outstanding)
		npu_sq_complete(&q.sq);
	job = dev_job(88, DEV_VA, n_finish);
	assert_int_equal(run(&job).status, NPU_JOB_STATUS_OK);
}

static void beats_while_a_job_runs(void **state)
{
	const struct dev_queue_opts opts = { .shadow = true };
	struct dev_queue with_shadow;
	struct npu_job_sqe job;
	u32 beat, before;
	u64 progress;

	(void)state;
	dev_make_queue(&d, &with_shadow, 2, 1, 1, &opts);
	job = dev_job(1, VA_LONG, dev_program_busy(&d, 1, VA_LONG, 1000, 1));
	dev_run(&d);
	before = npu_model_reg_read(d.m, NPU_HOST_HEARTBEAT);
	dev_push(&with_shadow, &job);
	dev_ring(&with_shadow);
	npu_model_run(d.m, 3 * NPU_TIMING_HEARTBEAT_TICKS);
	beat = npu_model_reg_read(d.m, NPU_HOST_HEARTBEAT);
	assert_in_range(beat - before, 2, 4);
	progress = npu_sq_progress(&with_shadow.sq);
	assert_in_range(progress, NPU_TIMING_HEARTBEAT_TICKS, 3 * NPU_TIMING_HEARTBEAT_TICKS);
	npu_model_run(d.m, 3 * NPU_TIMING_HEARTBEAT_TICKS);
	assert_true(npu_sq_progress(&with_shadow.sq) > progress);
	dev_run(&d);
	assert_int_equal(dev_cqe(&d, 1).status, NPU_JOB_STATUS_OK);
	/* At rest nothing beats, so that time stands still. */
	before = npu_model_reg_read(d.m, NPU_HOST_HEARTBEAT);
	assert_false(npu_model_run(d.m, 10 * NPU_TIMING_HEARTBEAT_TICKS));
	assert_int_equal(npu_model_reg_read(d.m, NPU_HOST_HEARTBEAT), before);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(reports), TEST(tells_report_faults), TEST(faults), TEST(keeps_limits),
		TEST(refuses_entries), TEST(refuses_nop_fields), TEST(aborts),
		TEST(runs_out_of_marks), TEST(destroys_with_jobs_in_flight),
		TEST(resets_a_context), TEST(beats_while_a_job_runs),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("fw_jobs", tests, NULL, NULL);
}
