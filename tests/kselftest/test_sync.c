// SPDX-License-Identifier: GPL-2.0-only
/* Syncobjs that submissions wait for and signal, binary and timeline. */
#include "tests/kselftest/npu_harness.h"

FIXTURE(sync)
{
	int fd;
	uint32_t queue;
	uint32_t other;
	uint32_t in;
	uint32_t out;
	uint8_t *code;
	struct drm_npu_job work;
	struct drm_npu_job spin;
};

FIXTURE_SETUP(sync)
{
	self->fd = test_open(0);
	ASSERT_GE(self->fd, 0);
	ASSERT_EQ(0, test_queue_create(self->fd, 1, 0, &self->queue));
	ASSERT_EQ(0, test_queue_create(self->fd, 1, 0, &self->other));
	ASSERT_EQ(0, test_syncobj_create(self->fd, &self->in));
	ASSERT_EQ(0, test_syncobj_create(self->fd, &self->out));
	self->code = test_buffer(self->fd, TEST_VA, TEST_PAGE, TEST_RWX, NULL);
	ASSERT_NE(MAP_FAILED, self->code);
	self->work = (struct drm_npu_job) { .insn_va = TEST_VA };
	self->work.insn_count = test_work_program(self->code, 200000);
	self->spin = (struct drm_npu_job) { .insn_va = TEST_VA + 1024 };
	self->spin.insn_count = test_spin_program(self->code + 1024);
}

FIXTURE_TEARDOWN(sync)
{
	close(self->fd);
}

static int submit(int fd, uint32_t queue, const struct drm_npu_job *job,
		  const struct drm_npu_sync *ins, uint32_t in_count,
		  const struct drm_npu_sync *outs, uint32_t out_count)
{
	struct drm_npu_submit args = {
		.queue_id = queue,
		.job_count = 1,
		.job_stride = sizeof(*job),
		.jobs = PTR(job),
		.in_sync_count = in_count,
		.out_sync_count = out_count,
		.in_syncs = PTR(ins),
		.out_syncs = PTR(outs),
	};

	return test_ioctl(fd, DRM_IOCTL_NPU_SUBMIT, &args);
}

TEST_F(sync, out_signals_when_the_job_ended)
{
	struct drm_npu_queue_query query;

	ASSERT_EQ(0, test_submit(self->fd, self->queue, &self->work, 1, self->out));
	ASSERT_EQ(0, test_syncobj_status(self->fd, self->out));
	ASSERT_EQ(0, test_queue_query(self->fd, self->queue, &query));
	EXPECT_EQ(1, query.jobs_done);
}

TEST_F(sync, in_holds_a_job_back)
{
	const struct drm_npu_sync in = { .handle = self->in }, out = { .handle = self->out };
	struct drm_npu_job job = {};

	ASSERT_EQ(0, test_submit(self->fd, self->other, &self->spin, 1, self->in));
	ASSERT_EQ(0, submit(self->fd, self->queue, &job, &in, 1, &out, 1));
	EXPECT_EQ(-ETIME, test_syncobj_wait(self->fd, self->out, 0, 50));
	ASSERT_EQ(0, test_queue_destroy(self->fd, self->other));
	EXPECT_EQ(0, test_syncobj_status(self->fd, self->out));
}

TEST_F(sync, in_that_has_signalled)
{
	const struct drm_npu_sync in = { .handle = self->in }, out = { .handle = self->out };
	struct drm_npu_job job = {};

	ASSERT_EQ(0, test_syncobj_signal(self->fd, self->in));
	ASSERT_EQ(0, submit(self->fd, self->queue, &job, &in, 1, &out, 1));
	EXPECT_EQ(0, test_syncobj_status(self->fd, self->out));
}

TEST_F(sync, several)
{
	struct drm_npu_sync ins[4], outs[4];
	struct drm_npu_job job = {};
	uint32_t i;

	for (i = 0; i < 4; i++) {
		ins[i] = (struct drm_npu_sync) {};
		outs[i] = (struct drm_npu_sync) { .point = i };
		ASSERT_EQ(0, test_syncobj_create(self->fd, &ins[i].handle));
		ASSERT_EQ(0, test_syncobj_create(self->fd, &outs[i].handle));
		ASSERT_EQ(0, test_submit(self->fd, i & 1 ? self->queue : self->other,
					 &self->work, 1, ins[i].handle));
	}
	ASSERT_EQ(0, submit(self->fd, self->queue, &job, ins, 4, outs, 4));
	for (i = 0; i < 4; i++) {
		EXPECT_EQ(0, test_syncobj_wait(self->fd, outs[i].handle, i, TEST_WAIT_MS));
		EXPECT_EQ(0, test_syncobj_wait(self->fd, ins[i].handle, 0, 0));
	}
}

TEST_F(sync, timeline)
{
	struct drm_npu_sync in = { .handle = self->out, .point = 10 };
	struct drm_npu_sync out = { .handle = self->out, .point = 10 };

	ASSERT_EQ(0, submit(self->fd, self->queue, &self->work, NULL, 0, &out, 1));
	out.point = 20;
	ASSERT_EQ(0, submit(self->fd, self->other, &self->work, &in, 1, &out, 1));
	EXPECT_EQ(0, test_syncobj_wait(self->fd, self->out, 20, TEST_WAIT_MS));
	EXPECT_EQ(0, test_syncobj_wait(self->fd, self->out, 10, 0));
}

TEST_F(sync, timeline_point_without_fence_is_refused)
{
	const struct drm_npu_sync in = { .handle = self->in, .point = 5 };
	struct drm_npu_job job = {};

	EXPECT_EQ(-EINVAL, submit(self->fd, self->queue, &job, &in, 1, NULL, 0));
}

TEST_F(sync, own_queue)
{
	const struct drm_npu_sync sync = { .handle = self->out };
	uint32_t i;

	ASSERT_EQ(0, submit(self->fd, self->queue, &self->work, NULL, 0, &sync, 1));
	for (i = 0; i < 20; i++)
		ASSERT_EQ(0, submit(self->fd, self->queue, &self->work, &sync, 1, &sync, 1));
	EXPECT_EQ(0, test_syncobj_status(self->fd, self->out));
}

TEST_F(sync, error_of_an_in_sync_holds_nothing_back)
{
	const struct drm_npu_sync in = { .handle = self->in }, out = { .handle = self->out };
	struct drm_npu_job bad = { .insn_va = 1ull << 32, .insn_count = 1 };
	struct drm_npu_job job = {};

	ASSERT_EQ(0, test_submit(self->fd, self->other, &bad, 1, self->in));
	ASSERT_EQ(0, submit(self->fd, self->queue, &job, &in, 1, &out, 1));
	EXPECT_EQ(0, test_syncobj_status(self->fd, self->out));
	EXPECT_EQ(-EFAULT, test_syncobj_status(self->fd, self->in));
}

TEST_F(sync, refuses)
{
	struct drm_npu_sync sync = { .handle = 12345 };
	struct drm_npu_job job = {};

	EXPECT_EQ(-ENOENT, submit(self->fd, self->queue, &job, &sync, 1, NULL, 0));
	EXPECT_EQ(-ENOENT, submit(self->fd, self->queue, &job, NULL, 0, &sync, 1));
	sync = (struct drm_npu_sync) { .handle = self->in };
	EXPECT_EQ(-EINVAL, submit(self->fd, self->queue, &job, &sync, 1, NULL, 0));
	sync = (struct drm_npu_sync) { .handle = self->out, .flags = 1 };
	EXPECT_EQ(-EINVAL, submit(self->fd, self->queue, &job, NULL, 0, &sync, 1));
	ASSERT_EQ(0, test_syncobj_signal(self->fd, self->in));
	sync = (struct drm_npu_sync) { .handle = self->in, .flags = 1 };
	EXPECT_EQ(-EINVAL, submit(self->fd, self->queue, &job, &sync, 1, NULL, 0));
}

TEST_F(sync, destroyed_queue_cancels_what_waits)
{
	const struct drm_npu_sync in = { .handle = self->in }, out = { .handle = self->out };
	struct drm_npu_job job = {};

	ASSERT_EQ(0, test_submit(self->fd, self->other, &self->spin, 1, self->in));
	ASSERT_EQ(0, submit(self->fd, self->queue, &job, &in, 1, &out, 1));
	ASSERT_EQ(0, test_queue_destroy(self->fd, self->queue));
	ASSERT_EQ(0, test_queue_destroy(self->fd, self->other));
	EXPECT_EQ(-ECANCELED, test_syncobj_status(self->fd, self->in));
	EXPECT_EQ(-ECANCELED, test_syncobj_status(self->fd, self->out));
}

TEST_HARNESS_MAIN
