// SPDX-License-Identifier: GPL-2.0-only
/* Syncobjs that submissions wait for and signal, binary and timeline. */
#include <pthread.h>

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

static int signal_at(int fd, uint32_t queue, const struct drm_npu_job *job, uint32_t sync,
		     uint64_t point)
{
	const struct drm_npu_sync out = { .handle = sync, .point = point };

	return submit(fd, queue, job, NULL, 0, &out, 1);
}

static int wait_with(int fd, uint32_t sync, uint64_t point, uint32_t flags, int timeout_ms)
{
	struct drm_syncobj_timeline_wait wait = {
		.handles = PTR(&sync),
		.points = PTR(&point),
		.count_handles = 1,
		.flags = flags,
		.timeout_nsec = test_now_ns() + timeout_ms * 1000000ll,
	};

	return test_ioctl(fd, DRM_IOCTL_SYNCOBJ_TIMELINE_WAIT, &wait);
}

static uint64_t reached(int fd, uint32_t sync)
{
	uint64_t point = UINT64_MAX;
	struct drm_syncobj_timeline_array array = {
		.handles = PTR(&sync), .points = PTR(&point), .count_handles = 1,
	};

	return test_ioctl(fd, DRM_IOCTL_SYNCOBJ_QUERY, &array) ? UINT64_MAX : point;
}

TEST_F(sync, points_signal_in_their_order)
{
	struct drm_npu_job job = {};

	ASSERT_EQ(0, signal_at(self->fd, self->other, &self->spin, self->out, 10));
	/* Ends at once, being one for no core. */
	ASSERT_EQ(0, signal_at(self->fd, self->queue, &job, self->out, 20));
	ASSERT_EQ(0, test_run(self->fd, self->queue, &job));
	EXPECT_EQ(-ETIME, test_syncobj_wait(self->fd, self->out, 20, 0));
	EXPECT_EQ(0, reached(self->fd, self->out));
	ASSERT_EQ(0, test_queue_destroy(self->fd, self->other));
	EXPECT_EQ(0, test_syncobj_wait(self->fd, self->out, 20, TEST_WAIT_MS));
	EXPECT_EQ(20, reached(self->fd, self->out));
}

TEST_F(sync, points_between_are_those_of_the_next)
{
	struct drm_npu_sync in = { .handle = self->out, .point = 15 };
	struct drm_npu_job job = {};

	ASSERT_EQ(0, signal_at(self->fd, self->queue, &job, self->out, 10));
	ASSERT_EQ(0, test_syncobj_wait(self->fd, self->out, 10, TEST_WAIT_MS));
	EXPECT_EQ(-EINVAL, submit(self->fd, self->queue, &job, &in, 1, NULL, 0));
	ASSERT_EQ(0, signal_at(self->fd, self->other, &self->spin, self->out, 20));
	EXPECT_EQ(-ETIME, test_syncobj_wait(self->fd, self->out, 15, 0));
	/* 15 is what the job for 20 will reach. */
	ASSERT_EQ(0, submit(self->fd, self->queue, &job, &in, 1, NULL, 0));
	ASSERT_EQ(0, test_queue_destroy(self->fd, self->other));
	EXPECT_EQ(0, test_syncobj_wait(self->fd, self->out, 15, TEST_WAIT_MS));
}

TEST_F(sync, points_below_earlier_ones_signal_all_the_same)
{
	struct drm_npu_job job = {};

	ASSERT_EQ(0, signal_at(self->fd, self->queue, &job, self->out, 20));
	ASSERT_EQ(0, signal_at(self->fd, self->queue, &job, self->out, 10));
	ASSERT_EQ(0, signal_at(self->fd, self->queue, &job, self->out, 30));
	EXPECT_EQ(0, test_syncobj_wait(self->fd, self->out, 10, TEST_WAIT_MS));
	EXPECT_EQ(0, test_syncobj_wait(self->fd, self->out, 30, TEST_WAIT_MS));
}

/**
 * struct waiter - a thread that waits for what nobody has submitted
 * @fd: open file
 * @sync: syncobj
 * @flags: of the wait
 * @ret: what came of it
 */
struct waiter {
	int fd;
	uint32_t sync;
	uint32_t flags;
	int ret;
};

static void *wait_for_point(void *data)
{
	struct waiter *waiter = data;

	waiter->ret = wait_with(waiter->fd, waiter->sync, 5, waiter->flags, TEST_WAIT_MS);
	return NULL;
}

TEST_F(sync, wait_before_submit)
{
	struct waiter waiter = {
		.fd = self->fd, .sync = self->out, .ret = 1,
		.flags = DRM_SYNCOBJ_WAIT_FLAGS_WAIT_FOR_SUBMIT,
	};
	pthread_t thread;

	EXPECT_EQ(-EINVAL, wait_with(self->fd, self->out, 5, 0, 0));
	EXPECT_EQ(-ETIME, wait_with(self->fd, self->out, 5, waiter.flags, 10));
	ASSERT_EQ(0, pthread_create(&thread, NULL, wait_for_point, &waiter));
	usleep(20000);
	ASSERT_EQ(0, signal_at(self->fd, self->queue, &self->work, self->out, 5));
	ASSERT_EQ(0, pthread_join(thread, NULL));
	EXPECT_EQ(0, waiter.ret);
	EXPECT_EQ(5, reached(self->fd, self->out));
}

TEST_F(sync, wait_for_the_submission_alone)
{
	struct waiter waiter = {
		.fd = self->fd, .sync = self->out, .ret = 1,
		.flags = DRM_SYNCOBJ_WAIT_FLAGS_WAIT_AVAILABLE |
			 DRM_SYNCOBJ_WAIT_FLAGS_WAIT_FOR_SUBMIT,
	};
	struct drm_npu_sync in = { .handle = self->out, .point = 5 };
	struct drm_npu_job job = {};
	pthread_t thread;

	ASSERT_EQ(0, pthread_create(&thread, NULL, wait_for_point, &waiter));
	ASSERT_EQ(0, signal_at(self->fd, self->other, &self->spin, self->out, 5));
	ASSERT_EQ(0, pthread_join(thread, NULL));
	EXPECT_EQ(0, waiter.ret);
	EXPECT_EQ(-ETIME, test_syncobj_wait(self->fd, self->out, 5, 0));
	/* From here on another submission can wait for it. */
	EXPECT_EQ(0, submit(self->fd, self->queue, &job, &in, 1, NULL, 0));
}

TEST_F(sync, host_signals_a_point)
{
	uint64_t point = 8;
	struct drm_syncobj_timeline_array array = {
		.handles = PTR(&self->in), .points = PTR(&point), .count_handles = 1,
	};
	const struct drm_npu_sync in = { .handle = self->in, .point = 8 };
	struct drm_npu_sync out = { .handle = self->out, .point = 1 };
	struct drm_npu_job job = {};

	ASSERT_EQ(0, test_ioctl(self->fd, DRM_IOCTL_SYNCOBJ_TIMELINE_SIGNAL, &array));
	ASSERT_EQ(0, submit(self->fd, self->queue, &job, &in, 1, &out, 1));
	EXPECT_EQ(0, test_syncobj_wait(self->fd, self->out, 1, TEST_WAIT_MS));
}

TEST_F(sync, as_many_as_there_may_be)
{
	struct drm_npu_query_device info;
	struct drm_npu_sync *syncs;
	struct drm_npu_job job = {};
	uint32_t i;

	ASSERT_EQ(0, test_query_device(self->fd, &info));
	syncs = calloc(info.max_syncs + 1, sizeof(*syncs));
	ASSERT_NE(NULL, syncs);
	for (i = 0; i <= info.max_syncs; i++)
		syncs[i] = (struct drm_npu_sync) { .handle = self->out, .point = i + 1 };
	ASSERT_EQ(0, submit(self->fd, self->queue, &job, NULL, 0, syncs, info.max_syncs));
	EXPECT_EQ(0, submit(self->fd, self->queue, &job, syncs, info.max_syncs, NULL, 0));
	EXPECT_EQ(-EINVAL, submit(self->fd, self->queue, &job, NULL, 0, syncs, info.max_syncs + 1));
	EXPECT_EQ(0, test_syncobj_wait(self->fd, self->out, info.max_syncs, TEST_WAIT_MS));
	free(syncs);
}

TEST_F(sync, point_of_a_binary_syncobj_is_refused)
{
	const struct drm_npu_sync in = { .handle = self->in, .point = 5 };
	struct drm_npu_job job = {};

	ASSERT_EQ(0, test_submit(self->fd, self->other, &self->spin, 1, self->in));
	EXPECT_EQ(-EINVAL, submit(self->fd, self->queue, &job, &in, 1, NULL, 0));
}

TEST_F(sync, refused_submission_leaves_the_timeline)
{
	struct drm_npu_sync out = { .handle = self->out, .point = 6 };
	struct drm_npu_job bad = { .flags = 1 };
	struct drm_npu_job job = {};

	ASSERT_EQ(0, signal_at(self->fd, self->queue, &job, self->out, 5));
	ASSERT_EQ(0, test_syncobj_wait(self->fd, self->out, 5, TEST_WAIT_MS));
	EXPECT_EQ(-EINVAL, submit(self->fd, self->queue, &bad, NULL, 0, &out, 1));
	EXPECT_EQ(-EINVAL, test_syncobj_wait(self->fd, self->out, 6, 0));
	EXPECT_EQ(5, reached(self->fd, self->out));
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
