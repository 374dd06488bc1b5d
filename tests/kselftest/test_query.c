// SPDX-License-Identifier: GPL-2.0-only
/* DEV_QUERY: what the device is, and what is refused. */
#include "tests/kselftest/npu_harness.h"

FIXTURE(query)
{
	int fd;
};

FIXTURE_SETUP(query)
{
	self->fd = test_open(0);
	ASSERT_GE(self->fd, 0);
}

FIXTURE_TEARDOWN(query)
{
	close(self->fd);
}

static int query(int fd, uint32_t what, void *data, uint32_t *size)
{
	struct drm_npu_dev_query args = { .query = what, .size = *size, .data = PTR(data) };
	int ret = test_ioctl(fd, DRM_IOCTL_NPU_DEV_QUERY, &args);

	*size = args.size;
	return ret;
}

TEST_F(query, device)
{
	struct drm_npu_query_device info;

	ASSERT_EQ(0, test_query_device(self->fd, &info));
	EXPECT_EQ(0, info.contract >> 16);
	EXPECT_EQ(0x4e500001, info.device_id);
	EXPECT_LE(1, info.cores);
	EXPECT_LE(1, info.queue_slots);
	EXPECT_LE(1, info.contexts);
	EXPECT_LE(1, info.fw_proto);
	EXPECT_EQ(4, info.priorities);
	EXPECT_LE(64, info.max_jobs);
	EXPECT_LT(0, info.clock_khz);
	EXPECT_LT(0, info.va_start);
	EXPECT_EQ(1ull << 38, info.va_end);
	EXPECT_LE(info.limit_default, info.limit_max);
}

TEST_F(query, regions_count_buffers)
{
	struct drm_npu_query_region before, after;
	uint32_t size = sizeof(before);
	uint32_t handle;

	ASSERT_EQ(0, query(self->fd, DRM_NPU_QUERY_REGIONS, &before, &size));
	EXPECT_EQ(sizeof(before), size);
	EXPECT_EQ(DRM_NPU_REGION_SYSTEM, before.id);
	ASSERT_EQ(0, test_bo_create(self->fd, 3 * TEST_PAGE, &handle));
	ASSERT_EQ(0, query(self->fd, DRM_NPU_QUERY_REGIONS, &after, &size));
	EXPECT_EQ(before.used + 3 * TEST_PAGE, after.used);
	test_bo_close(self->fd, handle);
	ASSERT_EQ(0, query(self->fd, DRM_NPU_QUERY_REGIONS, &after, &size));
	EXPECT_EQ(before.used, after.used);
}

TEST_F(query, time_goes_on)
{
	struct drm_npu_query_time first, second;
	uint32_t size = sizeof(first);
	int64_t before = test_now_ns();

	ASSERT_EQ(0, query(self->fd, DRM_NPU_QUERY_TIME, &first, &size));
	ASSERT_EQ(0, query(self->fd, DRM_NPU_QUERY_TIME, &second, &size));
	EXPECT_LE(first.ticks, second.ticks);
	EXPECT_LE(before, first.monotonic_ns);
	EXPECT_LE(first.monotonic_ns, second.monotonic_ns);
	EXPECT_LE(second.monotonic_ns, test_now_ns());
}

TEST_F(query, size_can_be_asked)
{
	uint32_t size = 0;

	ASSERT_EQ(0, query(self->fd, DRM_NPU_QUERY_DEVICE, NULL, &size));
	EXPECT_EQ(sizeof(struct drm_npu_query_device), size);
}

TEST_F(query, shorter_and_longer_structures)
{
	struct {
		struct drm_npu_query_device info;
		uint8_t tail[64];
	} buf;
	uint32_t size = 8;
	uint32_t i;

	memset(&buf, 0xff, sizeof(buf));
	ASSERT_EQ(0, query(self->fd, DRM_NPU_QUERY_DEVICE, &buf, &size));
	EXPECT_EQ(0x4e500001, buf.info.device_id);
	EXPECT_EQ(UINT32_MAX, buf.info.revision);

	size = sizeof(buf);
	ASSERT_EQ(0, query(self->fd, DRM_NPU_QUERY_DEVICE, &buf, &size));
	EXPECT_EQ(sizeof(buf.info), size);
	for (i = 0; i < sizeof(buf.tail); i++)
		EXPECT_EQ(0, buf.tail[i]);
}

TEST_F(query, refuses_unknown_query)
{
	uint32_t size = 8;
	uint64_t data;

	EXPECT_EQ(-EINVAL, query(self->fd, 99, &data, &size));
}

TEST_F(query, refuses_bad_pointer)
{
	uint32_t size = sizeof(struct drm_npu_query_device);

	EXPECT_EQ(-EFAULT, query(self->fd, DRM_NPU_QUERY_DEVICE, NULL, &size));
}

TEST_F(query, refuses_unknown_ioctl)
{
	uint64_t data = 0;

	EXPECT_EQ(-EINVAL, test_ioctl(self->fd, DRM_IOW(DRM_COMMAND_BASE + 0x3f, uint64_t), &data));
}

TEST_HARNESS_MAIN
