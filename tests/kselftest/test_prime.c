// SPDX-License-Identifier: GPL-2.0-only
/* Buffers shared between two clients by PRIME, and with other drivers. */
#include <linux/dma-buf.h>

#include "tests/kselftest/npu_harness.h"

#define CODE_VA	TEST_VA
#define DATA_VA	(TEST_VA + 0x10000)

FIXTURE(prime)
{
	int owner;
	int other;
	uint32_t handle;
	uint8_t *data;
	uint32_t owner_queue;
	uint32_t other_queue;
	uint8_t *owner_code;
	uint8_t *other_code;
};

FIXTURE_SETUP(prime)
{
	self->owner = test_open(0);
	self->other = test_open(0);
	ASSERT_GE(self->owner, 0);
	ASSERT_GE(self->other, 0);
	ASSERT_EQ(0, test_queue_create(self->owner, 1, 0, &self->owner_queue));
	ASSERT_EQ(0, test_queue_create(self->other, 1, 0, &self->other_queue));
	self->owner_code = test_buffer(self->owner, CODE_VA, TEST_PAGE, TEST_RWX, NULL);
	self->other_code = test_buffer(self->other, CODE_VA, TEST_PAGE, TEST_RWX, NULL);
	ASSERT_NE(MAP_FAILED, self->owner_code);
	ASSERT_NE(MAP_FAILED, self->other_code);
	ASSERT_EQ(0, test_bo_create(self->owner, 2 * TEST_PAGE, &self->handle));
	self->data = test_bo_map(self->owner, self->handle, 2 * TEST_PAGE);
	ASSERT_NE(MAP_FAILED, self->data);
}

FIXTURE_TEARDOWN(prime)
{
	close(self->owner);
	close(self->other);
}

static int to_fd(int fd, uint32_t handle)
{
	struct drm_prime_handle prime = { .handle = handle, .flags = DRM_CLOEXEC | DRM_RDWR };
	int ret = test_ioctl(fd, DRM_IOCTL_PRIME_HANDLE_TO_FD, &prime);

	return ret ?: prime.fd;
}

static int to_handle(int fd, int dmabuf, uint32_t *handle)
{
	struct drm_prime_handle prime = { .fd = dmabuf };
	int ret = test_ioctl(fd, DRM_IOCTL_PRIME_FD_TO_HANDLE, &prime);

	*handle = prime.handle;
	return ret;
}

static int share(int from, uint32_t handle, int to, uint32_t *out)
{
	int dmabuf = to_fd(from, handle);
	int ret;

	if (dmabuf < 0)
		return dmabuf;
	ret = to_handle(to, dmabuf, out);
	close(dmabuf);
	return ret;
}

static int copy(int fd, uint32_t queue, uint8_t *code)
{
	struct drm_npu_job job = { .insn_va = CODE_VA };

	job.insn_count = test_copy_program(code, DATA_VA, DATA_VA + TEST_PAGE, 4);
	return test_run(fd, queue, &job);
}

TEST_F(prime, two_clients_use_one_buffer)
{
	uint32_t imported;
	uint8_t *data;

	ASSERT_EQ(0, share(self->owner, self->handle, self->other, &imported));
	ASSERT_EQ(0, test_bind(self->other, imported, DATA_VA, 0, 2 * TEST_PAGE, TEST_RW));
	memset(self->data, 0x21, TEST_PAGE);
	ASSERT_EQ(0, copy(self->other, self->other_queue, self->other_code));
	EXPECT_EQ(0x21, self->data[TEST_PAGE]);
	data = test_bo_map(self->other, imported, 2 * TEST_PAGE);
	ASSERT_NE(MAP_FAILED, data);
	EXPECT_EQ(0x21, data[TEST_PAGE]);
	/* The other client keeps it when the owner goes. */
	close(self->owner);
	self->owner = -1;
	memset(data, 0x22, TEST_PAGE);
	EXPECT_EQ(0, copy(self->other, self->other_queue, self->other_code));
	EXPECT_EQ(0x22, data[TEST_PAGE]);
}

TEST_F(prime, import_to_the_same_client_is_the_same_handle)
{
	uint32_t imported;

	ASSERT_EQ(0, share(self->owner, self->handle, self->owner, &imported));
	EXPECT_EQ(self->handle, imported);
}

static int spin(int fd, uint32_t queue, uint8_t *code)
{
	struct drm_npu_job job = { .insn_va = CODE_VA };

	job.insn_count = test_spin_program(code);
	return test_submit(fd, queue, &job, 1, 0);
}

TEST_F(prime, wait_sees_jobs_of_the_other_client)
{
	uint32_t imported;

	ASSERT_EQ(0, share(self->owner, self->handle, self->other, &imported));
	ASSERT_EQ(0, test_bind(self->other, imported, DATA_VA, 0, TEST_PAGE, DRM_NPU_BIND_READ));
	EXPECT_EQ(0, test_bo_wait(self->owner, self->handle, 0, 0));
	ASSERT_EQ(0, spin(self->other, self->other_queue, self->other_code));
	EXPECT_EQ(-ETIME, test_bo_wait(self->owner, self->handle, 0, 0));
	EXPECT_EQ(0, test_bo_wait(self->owner, self->handle, DRM_NPU_BO_WAIT_READ, 0));
	ASSERT_EQ(0, test_queue_destroy(self->other, self->other_queue));
	EXPECT_EQ(0, test_bo_wait(self->owner, self->handle, 0, TEST_WAIT_MS));
}

TEST_F(prime, wait_sees_jobs_from_before_the_export)
{
	uint32_t imported;

	ASSERT_EQ(0, test_bind(self->owner, self->handle, DATA_VA, 0, TEST_PAGE, TEST_RW));
	ASSERT_EQ(0, spin(self->owner, self->owner_queue, self->owner_code));
	ASSERT_EQ(0, share(self->owner, self->handle, self->other, &imported));
	EXPECT_EQ(-ETIME, test_bo_wait(self->other, imported, DRM_NPU_BO_WAIT_READ, 0));
	ASSERT_EQ(0, test_queue_destroy(self->owner, self->owner_queue));
	EXPECT_EQ(0, test_bo_wait(self->other, imported, 0, TEST_WAIT_MS));
}

TEST_F(prime, memory_of_another_driver)
{
	uint32_t imported;
	uint8_t *data = NULL;
	int dmabuf = test_udmabuf(2 * TEST_PAGE, &data);

	ASSERT_GE(dmabuf, 0);
	ASSERT_EQ(0, to_handle(self->other, dmabuf, &imported));
	close(dmabuf);
	ASSERT_EQ(0, test_bind(self->other, imported, DATA_VA, 0, 2 * TEST_PAGE, TEST_RW));
	memset(data, 0x44, TEST_PAGE);
	ASSERT_EQ(0, copy(self->other, self->other_queue, self->other_code));
	EXPECT_EQ(0x44, data[TEST_PAGE]);
	test_bo_close(self->other, imported);
	EXPECT_EQ(0, copy(self->other, self->other_queue, self->other_code));
}

TEST_F(prime, memory_of_another_driver_for_two)
{
	uint32_t first, second;
	uint8_t *data = NULL;
	int dmabuf = test_udmabuf(2 * TEST_PAGE, &data);

	ASSERT_GE(dmabuf, 0);
	ASSERT_EQ(0, to_handle(self->owner, dmabuf, &first));
	ASSERT_EQ(0, to_handle(self->other, dmabuf, &second));
	close(dmabuf);
	ASSERT_EQ(0, test_bind(self->owner, first, DATA_VA, 0, 2 * TEST_PAGE, TEST_RW));
	ASSERT_EQ(0, test_bind(self->other, second, DATA_VA, 0, 2 * TEST_PAGE, TEST_RW));
	memset(data, 0x46, TEST_PAGE);
	ASSERT_EQ(0, copy(self->owner, self->owner_queue, self->owner_code));
	EXPECT_EQ(0x46, data[TEST_PAGE]);
	/* It is not the handle of one client that keeps it for the other. */
	ASSERT_EQ(0, test_unbind(self->owner, DATA_VA, 2 * TEST_PAGE));
	test_bo_close(self->owner, first);
	memset(data, 0x47, TEST_PAGE);
	ASSERT_EQ(0, copy(self->other, self->other_queue, self->other_code));
	EXPECT_EQ(0x47, data[TEST_PAGE]);
	/* Jobs of one are seen by the other. */
	ASSERT_EQ(0, spin(self->owner, self->owner_queue, self->owner_code));
	EXPECT_EQ(0, test_bo_wait(self->other, second, 0, 0));
}

TEST_F(prime, memory_imported_twice)
{
	const uint64_t va = DATA_VA + 0x100000;
	uint32_t first, second;
	uint8_t *data = NULL;
	int dmabuf = test_udmabuf(2 * TEST_PAGE, &data);

	ASSERT_GE(dmabuf, 0);
	ASSERT_EQ(0, to_handle(self->other, dmabuf, &first));
	ASSERT_EQ(0, test_bind(self->other, first, DATA_VA, 0, TEST_PAGE, DRM_NPU_BIND_READ));
	/* The mapping keeps the buffer, but the client has no handle for it. */
	test_bo_close(self->other, first);
	ASSERT_EQ(0, to_handle(self->other, dmabuf, &second));
	close(dmabuf);
	ASSERT_EQ(0, test_bind(self->other, second, DATA_VA + TEST_PAGE, TEST_PAGE, TEST_PAGE,
			       TEST_RW));
	/* Others that are shared, before and after it in the list. */
	ASSERT_EQ(0, share(self->owner, self->handle, self->other, &first));
	ASSERT_EQ(0, test_bind(self->other, first, va, 0, TEST_PAGE, TEST_RW));
	memset(data, 0x45, TEST_PAGE);
	ASSERT_EQ(0, copy(self->other, self->other_queue, self->other_code));
	EXPECT_EQ(0x45, data[TEST_PAGE]);
	/* What may write through one of them is a writer of the memory. */
	ASSERT_EQ(0, spin(self->other, self->other_queue, self->other_code));
	EXPECT_EQ(-ETIME, test_bo_wait(self->other, second, DRM_NPU_BO_WAIT_READ, 0));
	EXPECT_EQ(-ETIME, test_bo_wait(self->owner, self->handle, DRM_NPU_BO_WAIT_READ, 0));
}

/* What another driver, or client, still does with a buffer is no matter of course to wait for. */
TEST_F(prime, fence_of_the_dma_buf_holds_a_job_back)
{
	struct dma_buf_export_sync_file export = { .flags = DMA_BUF_SYNC_RW };
	struct drm_syncobj_handle import = {
		.flags = DRM_SYNCOBJ_FD_TO_HANDLE_FLAGS_IMPORT_SYNC_FILE,
	};
	int dmabuf = to_fd(self->owner, self->handle);
	struct drm_npu_sync in = {};
	struct drm_npu_job job = {};
	struct drm_npu_submit submit = {
		.queue_id = self->other_queue, .job_count = 1, .job_stride = sizeof(job),
		.jobs = PTR(&job), .in_sync_count = 1, .in_syncs = PTR(&in),
	};
	uint32_t imported;

	ASSERT_GE(dmabuf, 0);
	ASSERT_EQ(0, to_handle(self->other, dmabuf, &imported));
	ASSERT_EQ(0, test_bind(self->other, imported, DATA_VA, 0, 2 * TEST_PAGE, TEST_RW));
	ASSERT_EQ(0, test_bind(self->owner, self->handle, DATA_VA, 0, TEST_PAGE, TEST_RW));
	ASSERT_EQ(0, spin(self->owner, self->owner_queue, self->owner_code));
	ASSERT_EQ(0, test_ioctl(dmabuf, DMA_BUF_IOCTL_EXPORT_SYNC_FILE, &export));
	ASSERT_EQ(0, test_syncobj_create(self->other, &import.handle));
	import.fd = export.fd;
	ASSERT_EQ(0, test_ioctl(self->other, DRM_IOCTL_SYNCOBJ_FD_TO_HANDLE, &import));
	in.handle = import.handle;
	ASSERT_EQ(0, test_ioctl(self->other, DRM_IOCTL_NPU_SUBMIT, &submit));
	EXPECT_EQ(-ETIME, test_bo_wait(self->other, imported, 0, 50));
	ASSERT_EQ(0, test_queue_destroy(self->owner, self->owner_queue));
	EXPECT_EQ(0, test_bo_wait(self->other, imported, 0, TEST_WAIT_MS));
	close(export.fd);
	close(dmabuf);
}

TEST_F(prime, export_refuses_bad_handle)
{
	EXPECT_EQ(-ENOENT, to_fd(self->owner, 12345));
}

TEST_F(prime, other_device_imports)
{
	uint32_t imported;
	int second = test_open(1);

	if (second < 0)
		SKIP(return, "there is one device only");
	ASSERT_EQ(0, share(self->owner, self->handle, second, &imported));
	EXPECT_EQ(0, test_bind(second, imported, DATA_VA, 0, 2 * TEST_PAGE, TEST_RW));
	close(second);
}

TEST_HARNESS_MAIN
