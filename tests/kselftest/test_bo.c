// SPDX-License-Identifier: GPL-2.0-only
/* BO_CREATE, BO_MMAP_OFFSET, BO_WAIT. */
#include "tests/kselftest/npu_harness.h"

FIXTURE(bo)
{
	int fd;
	uint32_t queue;
	uint32_t sync;
	void *code;
	struct drm_npu_job spin;
};

#define DATA_VA	(TEST_VA + 0x10000)

FIXTURE_SETUP(bo)
{
	self->fd = test_open(0);
	ASSERT_GE(self->fd, 0);
	ASSERT_EQ(0, test_queue_create(self->fd, 1, 0, &self->queue));
	ASSERT_EQ(0, test_syncobj_create(self->fd, &self->sync));
	self->code = test_buffer(self->fd, TEST_VA, TEST_PAGE, TEST_RWX, NULL);
	ASSERT_NE(MAP_FAILED, self->code);
	self->spin = (struct drm_npu_job) { .insn_va = TEST_VA };
	self->spin.insn_count = test_spin_program(self->code);
}

FIXTURE_TEARDOWN(bo)
{
	close(self->fd);
}

static int create(int fd, const struct drm_npu_bo_create *args)
{
	struct drm_npu_bo_create copy = *args;

	return test_ioctl(fd, DRM_IOCTL_NPU_BO_CREATE, &copy);
}

TEST_F(bo, create_rounds_up_and_zeroes)
{
	struct drm_npu_bo_create args = { .size = TEST_PAGE + 1 };
	const uint8_t *data;
	uint32_t i, sum = 0;

	ASSERT_EQ(0, test_ioctl(self->fd, DRM_IOCTL_NPU_BO_CREATE, &args));
	EXPECT_EQ(2 * TEST_PAGE, args.size);
	EXPECT_NE(0, args.handle);
	data = test_bo_map(self->fd, args.handle, args.size);
	ASSERT_NE(MAP_FAILED, data);
	for (i = 0; i < args.size; i++)
		sum |= data[i];
	EXPECT_EQ(0, sum);
}

TEST_F(bo, write_combined)
{
	struct drm_npu_bo_create args = { .size = TEST_PAGE, .flags = DRM_NPU_BO_WC };
	uint32_t *data;

	ASSERT_EQ(0, test_ioctl(self->fd, DRM_IOCTL_NPU_BO_CREATE, &args));
	data = test_bo_map(self->fd, args.handle, args.size);
	ASSERT_NE(MAP_FAILED, data);
	data[5] = 0x12345678;
	EXPECT_EQ(0x12345678, data[5]);
	EXPECT_EQ(0, test_bind(self->fd, args.handle, DATA_VA, 0, TEST_PAGE, TEST_RW));
}

TEST_F(bo, create_refuses)
{
	EXPECT_EQ(-EINVAL, create(self->fd, &(struct drm_npu_bo_create) { .size = 0 }));
	EXPECT_EQ(-EINVAL, create(self->fd, &(struct drm_npu_bo_create) { .size = UINT64_MAX }));
	EXPECT_EQ(-EINVAL, create(self->fd, &(struct drm_npu_bo_create) { .size = 1ull << 38 }));
	EXPECT_EQ(-EINVAL, create(self->fd, &(struct drm_npu_bo_create) {
		.size = TEST_PAGE, .flags = DRM_NPU_BO_FLAGS + 1 }));
	EXPECT_EQ(-EINVAL, create(self->fd, &(struct drm_npu_bo_create) {
		.size = TEST_PAGE, .pad = 1 }));
	EXPECT_EQ(-ENOENT, create(self->fd, &(struct drm_npu_bo_create) {
		.size = TEST_PAGE, .region = 1 }));
}

TEST_F(bo, mmap_offset_refuses)
{
	struct drm_npu_bo_mmap_offset args = { .handle = 12345 };
	uint32_t handle;

	EXPECT_EQ(-ENOENT, test_ioctl(self->fd, DRM_IOCTL_NPU_BO_MMAP_OFFSET, &args));
	ASSERT_EQ(0, test_bo_create(self->fd, TEST_PAGE, &handle));
	args = (struct drm_npu_bo_mmap_offset) { .handle = handle, .pad = 1 };
	EXPECT_EQ(-EINVAL, test_ioctl(self->fd, DRM_IOCTL_NPU_BO_MMAP_OFFSET, &args));
}

TEST_F(bo, mmap_is_refused_to_others)
{
	struct drm_npu_bo_mmap_offset args = {};
	int other = test_open(0);

	ASSERT_GE(other, 0);
	ASSERT_EQ(0, test_bo_create(self->fd, TEST_PAGE, &args.handle));
	ASSERT_EQ(0, test_ioctl(self->fd, DRM_IOCTL_NPU_BO_MMAP_OFFSET, &args));
	EXPECT_EQ(MAP_FAILED, mmap(NULL, TEST_PAGE, PROT_READ, MAP_SHARED, other, args.offset));
	EXPECT_EQ(EACCES, errno);
	close(other);
}

TEST_F(bo, mmap_is_bounded)
{
	struct drm_npu_bo_mmap_offset args = {};

	ASSERT_EQ(0, test_bo_create(self->fd, TEST_PAGE, &args.handle));
	ASSERT_EQ(0, test_ioctl(self->fd, DRM_IOCTL_NPU_BO_MMAP_OFFSET, &args));
	EXPECT_EQ(MAP_FAILED, mmap(NULL, 2 * TEST_PAGE, PROT_READ, MAP_SHARED, self->fd,
				   args.offset));
}

TEST_F(bo, mapping_outlives_handle_and_file)
{
	uint32_t handle;
	uint32_t *data;
	int fd = test_open(0);

	ASSERT_GE(fd, 0);
	ASSERT_EQ(0, test_bo_create(fd, TEST_PAGE, &handle));
	data = test_bo_map(fd, handle, TEST_PAGE);
	ASSERT_NE(MAP_FAILED, data);
	data[0] = 42;
	test_bo_close(fd, handle);
	close(fd);
	EXPECT_EQ(42, data[0]);
}

TEST_F(bo, wait_idle)
{
	uint32_t handle;

	ASSERT_EQ(0, test_bo_create(self->fd, TEST_PAGE, &handle));
	EXPECT_EQ(0, test_bo_wait(self->fd, handle, 0, 0));
	EXPECT_EQ(0, test_bo_wait(self->fd, handle, DRM_NPU_BO_WAIT_READ, 0));
}

TEST_F(bo, wait_sees_jobs_of_the_address_space)
{
	uint32_t written, read, unbound;

	ASSERT_NE(MAP_FAILED, test_buffer(self->fd, DATA_VA, TEST_PAGE, TEST_RW, &written));
	ASSERT_NE(MAP_FAILED, test_buffer(self->fd, DATA_VA + TEST_PAGE, TEST_PAGE,
					  DRM_NPU_BIND_READ, &read));
	ASSERT_EQ(0, test_bo_create(self->fd, TEST_PAGE, &unbound));
	ASSERT_EQ(0, test_submit(self->fd, self->queue, &self->spin, 1, self->sync));

	EXPECT_EQ(-ETIME, test_bo_wait(self->fd, written, 0, 0));
	EXPECT_EQ(-ETIME, test_bo_wait(self->fd, written, 0, 20));
	EXPECT_EQ(-ETIME, test_bo_wait(self->fd, written, DRM_NPU_BO_WAIT_READ, 0));
	EXPECT_EQ(-ETIME, test_bo_wait(self->fd, read, 0, 0));
	/* Jobs cannot have written this one. */
	EXPECT_EQ(0, test_bo_wait(self->fd, read, DRM_NPU_BO_WAIT_READ, 0));
	EXPECT_EQ(0, test_bo_wait(self->fd, unbound, 0, 0));

	ASSERT_EQ(0, test_queue_destroy(self->fd, self->queue));
	EXPECT_EQ(0, test_bo_wait(self->fd, written, 0, TEST_WAIT_MS));
}

TEST_F(bo, wait_refuses)
{
	struct drm_npu_bo_wait args = { .handle = 12345 };
	uint32_t handle;

	EXPECT_EQ(-ENOENT, test_ioctl(self->fd, DRM_IOCTL_NPU_BO_WAIT, &args));
	ASSERT_EQ(0, test_bo_create(self->fd, TEST_PAGE, &handle));
	args = (struct drm_npu_bo_wait) { .handle = handle, .flags = 2 };
	EXPECT_EQ(-EINVAL, test_ioctl(self->fd, DRM_IOCTL_NPU_BO_WAIT, &args));
}

TEST_HARNESS_MAIN
