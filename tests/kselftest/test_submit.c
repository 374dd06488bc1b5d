// SPDX-License-Identifier: GPL-2.0-only
/* SUBMIT: what it runs, and what it refuses. */
#include "tests/kselftest/npu_harness.h"

FIXTURE(submit)
{
	int fd;
	uint32_t queue;
	uint32_t sync;
	uint8_t *code;
	uint8_t *data;
	struct drm_npu_job job;
};

#define CODE_VA	TEST_VA
#define DATA_VA	(TEST_VA + 0x10000)

FIXTURE_SETUP(submit)
{
	self->fd = test_open(0);
	ASSERT_GE(self->fd, 0);
	ASSERT_EQ(0, test_queue_create(self->fd, 1, 0, &self->queue));
	ASSERT_EQ(0, test_syncobj_create(self->fd, &self->sync));
	self->code = test_buffer(self->fd, CODE_VA, TEST_PAGE, TEST_RWX, NULL);
	ASSERT_NE(MAP_FAILED, self->code);
	self->data = test_buffer(self->fd, DATA_VA, 4 * TEST_PAGE, TEST_RW, NULL);
	ASSERT_NE(MAP_FAILED, self->data);
	self->job = (struct drm_npu_job) { .insn_va = CODE_VA };
	self->job.insn_count = test_copy_program(self->code, DATA_VA, DATA_VA + TEST_PAGE, 4);
}

FIXTURE_TEARDOWN(submit)
{
	close(self->fd);
}

static void fill(uint8_t *data, uint32_t seed)
{
	uint32_t i;

	for (i = 0; i < TEST_PAGE; i++)
		data[i] = seed + i * 7;
}

static bool copied(const uint8_t *data)
{
	uint32_t i;

	for (i = 0; i < 64; i++)
		if (data[TEST_PAGE + i] != data[4 * i])
			return false;
	return true;
}

TEST_F(submit, null_job)
{
	struct drm_npu_job job = {};

	EXPECT_EQ(0, test_run(self->fd, self->queue, &job));
}

TEST_F(submit, job_reads_and_writes_memory)
{
	fill(self->data, 3);
	EXPECT_EQ(0, test_run(self->fd, self->queue, &self->job));
	EXPECT_TRUE(copied(self->data));
}

TEST_F(submit, many_jobs_in_one_call)
{
	struct drm_npu_query_device info;
	struct drm_npu_queue_query query;
	struct drm_npu_job *jobs;
	uint32_t i;

	ASSERT_EQ(0, test_query_device(self->fd, &info));
	jobs = calloc(info.max_jobs, sizeof(*jobs));
	ASSERT_NE(NULL, jobs);
	for (i = 0; i < info.max_jobs; i += 2)
		jobs[i] = self->job;
	fill(self->data, 9);
	ASSERT_EQ(0, test_submit(self->fd, self->queue, jobs, info.max_jobs, self->sync));
	EXPECT_EQ(0, test_syncobj_status(self->fd, self->sync));
	EXPECT_TRUE(copied(self->data));
	ASSERT_EQ(0, test_queue_query(self->fd, self->queue, &query));
	EXPECT_EQ(info.max_jobs, query.jobs_submitted);
	EXPECT_EQ(info.max_jobs, query.jobs_done);
	EXPECT_EQ(0, query.jobs_failed);
	EXPECT_LT(0, query.cycles);
	free(jobs);
}

TEST_F(submit, calls_end_in_order)
{
	struct drm_npu_job jobs[3] = { self->job, self->job, self->job };
	uint32_t syncs[40];
	uint32_t i;

	for (i = 0; i < 40; i++) {
		ASSERT_EQ(0, test_syncobj_create(self->fd, &syncs[i]));
		ASSERT_EQ(0, test_submit(self->fd, self->queue, jobs, 1 + i % 3, syncs[i]));
	}
	ASSERT_EQ(0, test_syncobj_status(self->fd, syncs[39]));
	for (i = 0; i < 40; i++)
		EXPECT_EQ(0, test_syncobj_wait(self->fd, syncs[i], 0, 0));
}

TEST_F(submit, numbers_jobs)
{
	struct drm_npu_job jobs[5] = {};
	struct drm_npu_submit submit = {
		.queue_id = self->queue,
		.job_count = 5,
		.job_stride = sizeof(jobs[0]),
		.jobs = PTR(jobs),
	};

	ASSERT_EQ(0, test_ioctl(self->fd, DRM_IOCTL_NPU_SUBMIT, &submit));
	EXPECT_EQ(5, submit.seqno);
	ASSERT_EQ(0, test_ioctl(self->fd, DRM_IOCTL_NPU_SUBMIT, &submit));
	EXPECT_EQ(10, submit.seqno);
}

TEST_F(submit, writes_report)
{
	const struct npu_job_report *report = (void *)(self->data + 2 * TEST_PAGE);

	self->job.report_va = DATA_VA + 2 * TEST_PAGE;
	memset(self->data + 2 * TEST_PAGE, 0xff, sizeof(*report));
	ASSERT_EQ(0, test_run(self->fd, self->queue, &self->job));
	EXPECT_EQ(NPU_JOB_STATUS_OK, report->status);
	EXPECT_EQ(3, report->insn);
	EXPECT_LT(0, report->cycles);
	EXPECT_EQ(64, report->bytes_written);
	EXPECT_LE(report->start_tick, report->end_tick);
}

TEST_F(submit, region_table_moves_the_program)
{
	struct npu_region *regions = (void *)(self->code + 2048);

	regions[0] = (struct npu_region) { .base = DATA_VA, .limit = 4 * TEST_PAGE };
	self->job.insn_count = test_copy_program(self->code, 0, TEST_PAGE, 4);
	self->job.region_va = CODE_VA + 2048;
	self->job.region_count = 1;
	fill(self->data, 77);
	EXPECT_EQ(0, test_run(self->fd, self->queue, &self->job));
	EXPECT_TRUE(copied(self->data));
}

static int submit_args(int fd, struct drm_npu_submit *submit)
{
	struct drm_npu_submit copy = *submit;

	return test_ioctl(fd, DRM_IOCTL_NPU_SUBMIT, &copy);
}

TEST_F(submit, refuses_arguments)
{
	struct drm_npu_job jobs[2] = {};
	const struct drm_npu_submit good = {
		.queue_id = self->queue,
		.job_count = 1,
		.job_stride = sizeof(jobs[0]),
		.jobs = PTR(jobs),
	};
	struct drm_npu_query_device info;
	struct drm_npu_submit bad;

	ASSERT_EQ(0, test_query_device(self->fd, &info));
	bad = good;
	EXPECT_EQ(0, submit_args(self->fd, &bad));
	bad = good, bad.queue_id = self->queue + 1;
	EXPECT_EQ(-ENOENT, submit_args(self->fd, &bad));
	bad = good, bad.flags = 1;
	EXPECT_EQ(-EINVAL, submit_args(self->fd, &bad));
	bad = good, bad.job_count = 0;
	EXPECT_EQ(-EINVAL, submit_args(self->fd, &bad));
	bad = good, bad.job_count = info.max_jobs + 1;
	EXPECT_EQ(-EINVAL, submit_args(self->fd, &bad));
	bad = good, bad.job_count = UINT32_MAX;
	EXPECT_EQ(-EINVAL, submit_args(self->fd, &bad));
	bad = good, bad.job_stride = 0;
	EXPECT_EQ(-EINVAL, submit_args(self->fd, &bad));
	bad = good, bad.job_stride = sizeof(jobs[0]) - 8;
	EXPECT_EQ(-EINVAL, submit_args(self->fd, &bad));
	bad = good, bad.job_stride = sizeof(jobs[0]) + 4;
	EXPECT_EQ(-EINVAL, submit_args(self->fd, &bad));
	bad = good, bad.job_stride = UINT32_MAX & ~7u;
	EXPECT_EQ(-E2BIG, submit_args(self->fd, &bad));
	bad = good, bad.jobs = 0;
	EXPECT_EQ(-EFAULT, submit_args(self->fd, &bad));
	bad = good, bad.jobs = UINT64_MAX - 16;
	EXPECT_EQ(-EFAULT, submit_args(self->fd, &bad));
	bad = good, bad.in_sync_count = info.max_syncs + 1;
	EXPECT_EQ(-EINVAL, submit_args(self->fd, &bad));
	bad = good, bad.out_sync_count = info.max_syncs + 1;
	EXPECT_EQ(-EINVAL, submit_args(self->fd, &bad));
	bad = good, bad.in_sync_count = 1;
	EXPECT_EQ(-EFAULT, submit_args(self->fd, &bad));
	bad = good, bad.out_sync_count = 1;
	EXPECT_EQ(-EFAULT, submit_args(self->fd, &bad));
}

TEST_F(submit, takes_longer_jobs_with_zero_tails)
{
	struct {
		struct drm_npu_job job;
		uint64_t tail;
	} jobs[2] = {};
	struct drm_npu_submit submit = {
		.queue_id = self->queue,
		.job_count = 2,
		.job_stride = sizeof(jobs[0]),
		.jobs = PTR(jobs),
	};

	EXPECT_EQ(0, submit_args(self->fd, &submit));
	jobs[1].tail = 1;
	EXPECT_EQ(-E2BIG, submit_args(self->fd, &submit));
}

static int submit_job(int fd, uint32_t queue, const struct drm_npu_job *job)
{
	return test_submit(fd, queue, job, 1, 0);
}

TEST_F(submit, refuses_jobs)
{
	const struct drm_npu_job good = self->job;
	struct drm_npu_job bad;

	bad = good, bad.flags = 1;
	EXPECT_EQ(-EINVAL, submit_job(self->fd, self->queue, &bad));
	bad = good, bad.pad = 1;
	EXPECT_EQ(-EINVAL, submit_job(self->fd, self->queue, &bad));
	bad = good, bad.insn_va += 8;
	EXPECT_EQ(-EINVAL, submit_job(self->fd, self->queue, &bad));
	bad = good, bad.region_va = CODE_VA;
	EXPECT_EQ(-EINVAL, submit_job(self->fd, self->queue, &bad));
	bad = good, bad.region_va = CODE_VA + 8, bad.region_count = 1;
	EXPECT_EQ(-EINVAL, submit_job(self->fd, self->queue, &bad));
	bad = good, bad.region_count = NPU_REGION_TABLE_MAX + 1;
	EXPECT_EQ(-EINVAL, submit_job(self->fd, self->queue, &bad));
	bad = good, bad.limit = NPU_LIMIT_MAX + 1;
	EXPECT_EQ(-EINVAL, submit_job(self->fd, self->queue, &bad));
	bad = good, bad.report_va = DATA_VA + 32;
	EXPECT_EQ(-EINVAL, submit_job(self->fd, self->queue, &bad));
}

TEST_F(submit, refuses_null_jobs_with_more)
{
	struct drm_npu_job bad = {};

	bad.insn_va = CODE_VA;
	EXPECT_EQ(-EINVAL, submit_job(self->fd, self->queue, &bad));
	bad = (struct drm_npu_job) { .region_va = CODE_VA };
	EXPECT_EQ(-EINVAL, submit_job(self->fd, self->queue, &bad));
	bad = (struct drm_npu_job) { .region_count = 1 };
	EXPECT_EQ(-EINVAL, submit_job(self->fd, self->queue, &bad));
	bad = (struct drm_npu_job) { .limit = 1 };
	EXPECT_EQ(-EINVAL, submit_job(self->fd, self->queue, &bad));
	bad = (struct drm_npu_job) { .report_va = DATA_VA };
	EXPECT_EQ(-EINVAL, submit_job(self->fd, self->queue, &bad));
}

TEST_F(submit, queues_nothing_when_the_last_job_is_refused)
{
	struct drm_npu_job jobs[2] = { {}, { .flags = 1 } };
	struct drm_npu_queue_query query;

	EXPECT_EQ(-EINVAL, test_submit(self->fd, self->queue, jobs, 2, self->sync));
	ASSERT_EQ(0, test_queue_query(self->fd, self->queue, &query));
	EXPECT_EQ(0, query.jobs_submitted);
	/* The out sync has no fence. */
	EXPECT_EQ(-EINVAL, test_syncobj_wait(self->fd, self->sync, 0, 0));
}

TEST_HARNESS_MAIN
