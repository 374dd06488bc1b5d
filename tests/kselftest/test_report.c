// SPDX-License-Identifier: GPL-2.0-only
/* Reports of jobs: what they say of each end, where they go, and when. */
#include "tests/kselftest/npu_harness.h"

#define CODE_VA		TEST_VA
#define DATA_VA		(TEST_VA + 0x10000)
#define REPORT_VA	(TEST_VA + 0x20000)
#define REPORTS		(TEST_PAGE / sizeof(struct npu_job_report))
#define UNTOUCHED	0xee

FIXTURE(report)
{
	int fd;
	uint32_t queue;
	uint32_t sync;
	uint32_t handle;
	uint8_t *code;
	uint8_t *data;
	struct npu_job_report *reports;
	struct drm_npu_job job;
};

FIXTURE_SETUP(report)
{
	self->fd = test_open(0);
	ASSERT_GE(self->fd, 0);
	ASSERT_EQ(0, test_queue_create(self->fd, 1, 0, &self->queue));
	ASSERT_EQ(0, test_syncobj_create(self->fd, &self->sync));
	self->code = test_buffer(self->fd, CODE_VA, TEST_PAGE, TEST_RWX, NULL);
	self->data = test_buffer(self->fd, DATA_VA, 2 * TEST_PAGE, TEST_RW, NULL);
	self->reports = test_buffer(self->fd, REPORT_VA, TEST_PAGE, TEST_RW, &self->handle);
	ASSERT_NE(MAP_FAILED, self->code);
	ASSERT_NE(MAP_FAILED, self->data);
	ASSERT_NE(MAP_FAILED, self->reports);
	memset(self->reports, UNTOUCHED, TEST_PAGE);
	self->job = (struct drm_npu_job) { .insn_va = CODE_VA, .report_va = REPORT_VA };
	self->job.insn_count = test_copy_program(self->code, DATA_VA, DATA_VA + TEST_PAGE, 4);
}

FIXTURE_TEARDOWN(report)
{
	close(self->fd);
}

static bool untouched(const void *data, size_t size)
{
	const uint8_t *bytes = data;

	while (size--)
		if (bytes[size] != UNTOUCHED)
			return false;
	return true;
}

TEST_F(report, of_a_job_that_ended_well)
{
	const struct npu_job_report *report = &self->reports[0];
	uint64_t before = test_ticks(self->fd);

	ASSERT_EQ(0, test_run(self->fd, self->queue, &self->job));
	EXPECT_EQ(NPU_JOB_STATUS_OK, report->status);
	EXPECT_EQ(0, report->fault_code);
	EXPECT_EQ(0, report->fault_va);
	EXPECT_EQ(0, report->core);
	EXPECT_EQ(self->job.insn_count, report->insn);
	EXPECT_EQ(64, report->bytes_written);
	/* Data and instructions. */
	EXPECT_EQ(4 * NPU_ACC_BYTES + NPU_INSN_BYTES * self->job.insn_count, report->bytes_read);
	EXPECT_EQ(0, report->macs);
	/* The compute unit loads accumulators, and the load unit had nothing to do. */
	EXPECT_LT(0, report->busy_compute);
	EXPECT_EQ(0, report->busy_load);
	EXPECT_LT(0, report->busy_store);
	EXPECT_EQ(0, report->reserved);
	EXPECT_LT(before, report->start_tick);
	EXPECT_LE(report->start_tick + report->cycles, report->end_tick);
	EXPECT_LE(report->end_tick, test_ticks(self->fd));
	/* And nothing behind it. */
	EXPECT_TRUE(untouched(&self->reports[1], sizeof(*report)));
}

TEST_F(report, is_the_same_each_time)
{
	struct npu_job_report first;

	ASSERT_EQ(0, test_run(self->fd, self->queue, &self->job));
	first = self->reports[0];
	ASSERT_EQ(0, test_run(self->fd, self->queue, &self->job));
	EXPECT_EQ(first.cycles, self->reports[0].cycles);
	EXPECT_EQ(first.busy_compute, self->reports[0].busy_compute);
	EXPECT_EQ(first.busy_store, self->reports[0].busy_store);
	EXPECT_EQ(first.stall_store, self->reports[0].stall_store);
	EXPECT_LE(first.end_tick, self->reports[0].start_tick);
}

TEST_F(report, is_what_the_queue_counts)
{
	struct drm_npu_queue_query query;

	self->job.insn_count = test_work_program(self->code, 50000);
	ASSERT_EQ(0, test_run(self->fd, self->queue, &self->job));
	ASSERT_EQ(0, test_queue_query(self->fd, self->queue, &query));
	EXPECT_EQ(query.cycles, self->reports[0].cycles);
	EXPECT_LE(50000, self->reports[0].busy_compute);
	EXPECT_LE(50000 * NPU_INP_BYTES, self->reports[0].macs);
}

TEST_F(report, each_job_has_its_own)
{
	struct drm_npu_job jobs[REPORTS];
	uint32_t i;

	for (i = 0; i < REPORTS; i++) {
		jobs[i] = self->job;
		jobs[i].report_va = i % 4 == 3 ? 0 : REPORT_VA + i * sizeof(self->reports[0]);
	}
	ASSERT_EQ(0, test_submit(self->fd, self->queue, jobs, REPORTS, self->sync));
	ASSERT_EQ(0, test_syncobj_status(self->fd, self->sync));
	for (i = 0; i < REPORTS; i++) {
		if (i % 4 == 3) {
			EXPECT_TRUE(untouched(&self->reports[i], sizeof(self->reports[i])));
			continue;
		}
		EXPECT_EQ(NPU_JOB_STATUS_OK, self->reports[i].status);
		if (i % 4)
			EXPECT_LE(self->reports[i - 1].end_tick, self->reports[i].start_tick);
	}
}

TEST_F(report, of_a_fault)
{
	const struct npu_job_report *report = &self->reports[0];
	const uint64_t nowhere = 1ull << 32;

	self->job.insn_count = test_copy_program(self->code, DATA_VA, nowhere, 4);
	EXPECT_EQ(-EFAULT, test_run(self->fd, self->queue, &self->job));
	EXPECT_EQ(NPU_JOB_STATUS_FAULT, report->status);
	EXPECT_EQ(NPU_FAULT_UNMAPPED, report->fault_code);
	EXPECT_EQ(NPU_UNIT_STORE, report->fault_unit);
	EXPECT_EQ(NPU_ACCESS_WRITE, report->fault_access);
	EXPECT_EQ(nowhere, report->fault_va);
	EXPECT_EQ(1, report->insn);
	EXPECT_EQ(0, report->bytes_written);
}

TEST_F(report, of_a_limit)
{
	const struct npu_job_report *report = &self->reports[0];

	self->job.insn_count = test_spin_program(self->code);
	self->job.limit = 70000;
	EXPECT_EQ(-ETIME, test_run(self->fd, self->queue, &self->job));
	EXPECT_EQ(NPU_JOB_STATUS_LIMIT, report->status);
	EXPECT_LE(70000, report->cycles);
	EXPECT_GE(70000 + NPU_TIMING_LIMIT_SLACK, report->cycles);
	EXPECT_EQ(0, report->fault_code);
}

TEST_F(report, of_an_abort)
{
	struct npu_job_report *report = &self->reports[0];

	self->job.insn_count = test_spin_program(self->code);
	ASSERT_EQ(0, test_submit(self->fd, self->queue, &self->job, 1, self->sync));
	test_wait_until_it_runs(self->fd);
	EXPECT_TRUE(untouched(report, sizeof(*report)));
	ASSERT_EQ(0, test_queue_destroy(self->fd, self->queue));
	EXPECT_EQ(-ECANCELED, test_syncobj_status(self->fd, self->sync));
	EXPECT_EQ(NPU_JOB_STATUS_ABORTED, report->status);
	EXPECT_LT(0, report->cycles);
}

static int run_with_report_at(int fd, uint32_t queue, struct drm_npu_job job, uint64_t va,
			      struct drm_npu_queue_query *query)
{
	int ret;

	job.report_va = va;
	ret = test_run(fd, queue, &job);
	return test_queue_query(fd, queue, query) ?: ret;
}

TEST_F(report, that_cannot_be_written_is_a_fault)
{
	struct drm_npu_queue_query query;
	const uint64_t nowhere = 1ull << 32;

	EXPECT_EQ(-EFAULT, run_with_report_at(self->fd, self->queue, self->job, nowhere, &query));
	EXPECT_EQ(NPU_JOB_STATUS_REPORT_FAULT, query.failed_status);
	EXPECT_EQ(NPU_FAULT_UNMAPPED, query.fault_code);
	EXPECT_EQ(NPU_ACCESS_WRITE, query.fault_access);
	EXPECT_EQ(nowhere, query.fault_va);

	ASSERT_EQ(0, test_bind(self->fd, self->handle, REPORT_VA, 0, TEST_PAGE, DRM_NPU_BIND_READ));
	EXPECT_EQ(-EFAULT, run_with_report_at(self->fd, self->queue, self->job, REPORT_VA, &query));
	EXPECT_EQ(NPU_JOB_STATUS_REPORT_FAULT, query.failed_status);
	EXPECT_EQ(NPU_FAULT_PERMISSION, query.fault_code);
	EXPECT_EQ(2, query.failed_job);
	EXPECT_TRUE(untouched(self->reports, TEST_PAGE));
}

/* It is written before the fence signals, into whatever is mapped there. */
TEST_F(report, goes_to_memory_of_the_process)
{
	struct npu_job_report *own = mmap(NULL, TEST_PAGE, PROT_READ | PROT_WRITE,
					  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint32_t handle;

	ASSERT_NE(MAP_FAILED, own);
	ASSERT_EQ(0, test_import(self->fd, own, TEST_PAGE, 0, &handle));
	ASSERT_EQ(0, test_bind(self->fd, handle, REPORT_VA, 0, TEST_PAGE, TEST_RW));
	ASSERT_EQ(0, test_run(self->fd, self->queue, &self->job));
	EXPECT_EQ(self->job.insn_count, own[0].insn);
	EXPECT_TRUE(untouched(self->reports, TEST_PAGE));
}

TEST_HARNESS_MAIN
