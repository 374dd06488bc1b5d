// SPDX-License-Identifier: GPL-2.0-only
/* QUEUE_CREATE, QUEUE_DESTROY, QUEUE_QUERY. */
#include "tests/kselftest/npu_harness.h"

FIXTURE(queue)
{
	int fd;
};

FIXTURE_SETUP(queue)
{
	self->fd = test_open(0);
	ASSERT_GE(self->fd, 0);
}

FIXTURE_TEARDOWN(queue)
{
	close(self->fd);
}

static int create(int fd, const struct drm_npu_queue_create *args)
{
	struct drm_npu_queue_create copy = *args;

	return test_ioctl(fd, DRM_IOCTL_NPU_QUEUE_CREATE, &copy);
}

TEST_F(queue, create_run_destroy)
{
	struct drm_npu_job job = {};
	uint32_t id;

	ASSERT_EQ(0, test_queue_create(self->fd, 0, 0, &id));
	EXPECT_NE(0, id);
	EXPECT_EQ(0, test_run(self->fd, id, &job));
	EXPECT_EQ(0, test_queue_destroy(self->fd, id));
	EXPECT_EQ(-ENOENT, test_submit(self->fd, id, &job, 1, 0));
	EXPECT_EQ(-ENOENT, test_queue_destroy(self->fd, id));
}

TEST_F(queue, create_refuses)
{
	struct drm_npu_query_device info;

	ASSERT_EQ(0, test_query_device(self->fd, &info));
	EXPECT_EQ(-EINVAL, create(self->fd, &(struct drm_npu_queue_create) {
		.priority = info.priorities }));
	EXPECT_EQ(-EINVAL, create(self->fd, &(struct drm_npu_queue_create) {
		.core_mask = 1u << info.cores }));
	EXPECT_EQ(-EINVAL, create(self->fd, &(struct drm_npu_queue_create) {
		.limit = info.limit_max + 1 }));
	EXPECT_EQ(-EINVAL, create(self->fd, &(struct drm_npu_queue_create) { .flags = 1 }));
}

TEST_F(queue, high_priority_needs_capability)
{
	struct drm_npu_query_device info;
	uint32_t id;

	ASSERT_EQ(0, test_query_device(self->fd, &info));
	EXPECT_EQ(0, test_queue_create(self->fd, info.priorities - 1, 0, &id));
	ASSERT_EQ(0, test_drop_capabilities());
	EXPECT_EQ(-EACCES, test_queue_create(self->fd, info.priorities - 1, 0, &id));
	EXPECT_EQ(-EACCES, test_queue_create(self->fd, info.priorities / 2, 0, &id));
	EXPECT_EQ(0, test_queue_create(self->fd, info.priorities / 2 - 1, 0, &id));
}

TEST_F(queue, slots_run_out_and_come_back)
{
	struct drm_npu_query_device info;
	uint32_t ids[256];
	uint32_t count = 0;
	uint32_t more;

	ASSERT_EQ(0, test_query_device(self->fd, &info));
	while (count < info.queue_slots && !test_queue_create(self->fd, 0, 0, &ids[count]))
		count++;
	EXPECT_EQ(info.queue_slots, count);
	EXPECT_EQ(-ENOSPC, test_queue_create(self->fd, 0, 0, &more));
	ASSERT_EQ(0, test_queue_destroy(self->fd, ids[count / 2]));
	EXPECT_EQ(0, test_queue_create(self->fd, 0, 0, &more));
}

TEST_F(queue, closing_gives_slots_and_contexts_back)
{
	struct drm_npu_query_device info;
	uint32_t i, id;

	ASSERT_EQ(0, test_query_device(self->fd, &info));
	for (i = 0; i < info.queue_slots + info.contexts; i++) {
		int fd = test_open(0);

		ASSERT_GE(fd, 0);
		ASSERT_EQ(0, test_queue_create(fd, 0, 0, &id));
		close(fd);
	}
}

TEST_F(queue, ids_are_the_clients_own)
{
	struct drm_npu_queue_query query;
	struct drm_npu_job job = {};
	uint32_t id;
	int other = test_open(0);

	ASSERT_GE(other, 0);
	ASSERT_EQ(0, test_queue_create(self->fd, 0, 0, &id));
	EXPECT_EQ(-ENOENT, test_submit(other, id, &job, 1, 0));
	EXPECT_EQ(-ENOENT, test_queue_query(other, id, &query));
	EXPECT_EQ(-ENOENT, test_queue_destroy(other, id));
	EXPECT_EQ(0, test_run(self->fd, id, &job));
}

TEST_F(queue, query_counts)
{
	struct drm_npu_queue_query query;
	struct drm_npu_job jobs[3] = { {}, { .insn_va = TEST_VA, .insn_count = 1 }, {} };
	uint32_t id, sync;

	ASSERT_EQ(0, test_queue_create(self->fd, 0, 0, &id));
	ASSERT_EQ(0, test_queue_query(self->fd, id, &query));
	EXPECT_EQ(0, query.jobs_submitted);
	EXPECT_EQ(0, query.failed_job);
	ASSERT_EQ(0, test_syncobj_create(self->fd, &sync));
	ASSERT_EQ(0, test_submit(self->fd, id, jobs, 3, sync));
	/* The second job failed; the third one ran all the same. */
	EXPECT_EQ(-EFAULT, test_syncobj_status(self->fd, sync));
	ASSERT_EQ(0, test_queue_query(self->fd, id, &query));
	EXPECT_EQ(3, query.jobs_submitted);
	EXPECT_EQ(3, query.jobs_done);
	EXPECT_EQ(1, query.jobs_failed);
	EXPECT_EQ(2, query.failed_job);
	EXPECT_EQ(NPU_JOB_STATUS_FAULT, query.failed_status);
	EXPECT_EQ(NPU_UNIT_FETCH, query.fault_unit);
	EXPECT_EQ(NPU_ACCESS_EXECUTE, query.fault_access);
	EXPECT_EQ(TEST_VA, query.fault_va);
	EXPECT_EQ(0, query.state);
}

TEST_F(queue, query_and_destroy_refuse)
{
	struct drm_npu_queue_destroy destroy = {};
	struct drm_npu_queue_query query = {};
	uint32_t id;

	ASSERT_EQ(0, test_queue_create(self->fd, 0, 0, &id));
	EXPECT_EQ(-ENOENT, test_queue_query(self->fd, id + 1, &query));
	query = (struct drm_npu_queue_query) { .queue_id = id, .pad = 1 };
	EXPECT_EQ(-EINVAL, test_ioctl(self->fd, DRM_IOCTL_NPU_QUEUE_QUERY, &query));
	query = (struct drm_npu_queue_query) { .queue_id = id, .pad0 = 1 };
	EXPECT_EQ(-EINVAL, test_ioctl(self->fd, DRM_IOCTL_NPU_QUEUE_QUERY, &query));
	destroy = (struct drm_npu_queue_destroy) { .queue_id = id, .pad = 1 };
	EXPECT_EQ(-EINVAL, test_ioctl(self->fd, DRM_IOCTL_NPU_QUEUE_DESTROY, &destroy));
	EXPECT_EQ(0, test_queue_destroy(self->fd, id));
}

TEST_HARNESS_MAIN
