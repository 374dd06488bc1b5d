// SPDX-License-Identifier: GPL-2.0-only
/* VM_BIND: mapping, splitting, replacing, and what is refused. */
#include "tests/kselftest/npu_harness.h"

FIXTURE(vm)
{
	int fd;
	uint32_t queue;
	uint32_t bo;
	uint8_t *data;
	uint8_t *code;
};

#define CODE_VA	TEST_VA
#define DATA_VA	(TEST_VA + 0x100000)
#define PAGES	16u

FIXTURE_SETUP(vm)
{
	self->fd = test_open(0);
	ASSERT_GE(self->fd, 0);
	ASSERT_EQ(0, test_queue_create(self->fd, 1, 0, &self->queue));
	self->code = test_buffer(self->fd, CODE_VA, TEST_PAGE, TEST_RWX, NULL);
	ASSERT_NE(MAP_FAILED, self->code);
	ASSERT_EQ(0, test_bo_create(self->fd, PAGES * TEST_PAGE, &self->bo));
	self->data = test_bo_map(self->fd, self->bo, PAGES * TEST_PAGE);
	ASSERT_NE(MAP_FAILED, self->data);
}

FIXTURE_TEARDOWN(vm)
{
	close(self->fd);
}

/* Has the device read a page and write its mark to another. */
static int device_copies(int fd, uint32_t queue, uint8_t *code, uint64_t from, uint64_t to)
{
	struct drm_npu_job job = { .insn_va = CODE_VA };

	job.insn_count = test_copy_program(code, from, to, 1);
	return test_run(fd, queue, &job);
}

static void mark(uint8_t *data, uint32_t pages)
{
	uint32_t i;

	for (i = 0; i < pages; i++)
		memset(data + i * TEST_PAGE, 0x10 + i, TEST_PAGE);
}

TEST_F(vm, device_sees_the_offset)
{
	mark(self->data, PAGES);
	ASSERT_EQ(0, test_bind(self->fd, self->bo, DATA_VA, 3 * TEST_PAGE, 2 * TEST_PAGE, TEST_RW));
	ASSERT_EQ(0, device_copies(self->fd, self->queue, self->code, DATA_VA + TEST_PAGE,
				   DATA_VA));
	EXPECT_EQ(0x14, self->data[3 * TEST_PAGE]);
	EXPECT_EQ(0x14, self->data[3 * TEST_PAGE + 15]);
	EXPECT_EQ(0x13, self->data[3 * TEST_PAGE + 16]);
}

TEST_F(vm, unmapped_address_faults)
{
	struct drm_npu_queue_query query;

	ASSERT_EQ(0, test_bind(self->fd, self->bo, DATA_VA, 0, PAGES * TEST_PAGE, TEST_RW));
	ASSERT_EQ(0, device_copies(self->fd, self->queue, self->code, DATA_VA, DATA_VA + TEST_PAGE));
	ASSERT_EQ(0, test_unbind(self->fd, DATA_VA, TEST_PAGE));
	EXPECT_EQ(-EFAULT, device_copies(self->fd, self->queue, self->code, DATA_VA,
					 DATA_VA + TEST_PAGE));
	ASSERT_EQ(0, test_queue_query(self->fd, self->queue, &query));
	EXPECT_EQ(NPU_JOB_STATUS_FAULT, query.failed_status);
	EXPECT_EQ(NPU_FAULT_UNMAPPED, query.fault_code);
	EXPECT_EQ(NPU_ACCESS_READ, query.fault_access);
	EXPECT_EQ(DATA_VA, query.fault_va);
	EXPECT_EQ(2, query.failed_job);
}

TEST_F(vm, unmap_cuts_a_hole)
{
	mark(self->data, PAGES);
	ASSERT_EQ(0, test_bind(self->fd, self->bo, DATA_VA, 0, PAGES * TEST_PAGE, TEST_RW));
	ASSERT_EQ(0, test_unbind(self->fd, DATA_VA + 4 * TEST_PAGE, 4 * TEST_PAGE));
	EXPECT_EQ(0, device_copies(self->fd, self->queue, self->code, DATA_VA + 3 * TEST_PAGE,
				   DATA_VA));
	EXPECT_EQ(0x13, self->data[0]);
	EXPECT_EQ(0, device_copies(self->fd, self->queue, self->code, DATA_VA + 8 * TEST_PAGE,
				   DATA_VA));
	EXPECT_EQ(0x18, self->data[0]);
	EXPECT_EQ(-EFAULT, device_copies(self->fd, self->queue, self->code,
					 DATA_VA + 4 * TEST_PAGE, DATA_VA));
	EXPECT_EQ(-EFAULT, device_copies(self->fd, self->queue, self->code,
					 DATA_VA + 7 * TEST_PAGE, DATA_VA));
	/* The parts go away one by one, over their ends. */
	EXPECT_EQ(0, test_unbind(self->fd, DATA_VA - TEST_PAGE, 3 * TEST_PAGE));
	EXPECT_EQ(-EFAULT, device_copies(self->fd, self->queue, self->code, DATA_VA + TEST_PAGE,
					 DATA_VA + 2 * TEST_PAGE));
	EXPECT_EQ(0, device_copies(self->fd, self->queue, self->code, DATA_VA + 2 * TEST_PAGE,
				   DATA_VA + 3 * TEST_PAGE));
	EXPECT_EQ(0, test_unbind(self->fd, DATA_VA, PAGES * TEST_PAGE));
	EXPECT_EQ(0, test_unbind(self->fd, DATA_VA, PAGES * TEST_PAGE));
}

TEST_F(vm, map_replaces)
{
	uint32_t other;
	uint8_t *data = test_buffer(self->fd, DATA_VA + 0x100000, 2 * TEST_PAGE, TEST_RW, &other);

	ASSERT_NE(MAP_FAILED, data);
	mark(self->data, PAGES);
	memset(data, 0x77, 2 * TEST_PAGE);
	ASSERT_EQ(0, test_bind(self->fd, self->bo, DATA_VA, 0, PAGES * TEST_PAGE, TEST_RW));
	ASSERT_EQ(0, device_copies(self->fd, self->queue, self->code, DATA_VA + 5 * TEST_PAGE,
				   DATA_VA));
	EXPECT_EQ(0x15, self->data[0]);
	ASSERT_EQ(0, test_bind(self->fd, other, DATA_VA + 5 * TEST_PAGE, 0, TEST_PAGE, TEST_RW));
	ASSERT_EQ(0, device_copies(self->fd, self->queue, self->code, DATA_VA + 5 * TEST_PAGE,
				   DATA_VA));
	EXPECT_EQ(0x77, self->data[0]);
	ASSERT_EQ(0, device_copies(self->fd, self->queue, self->code, DATA_VA + 6 * TEST_PAGE,
				   DATA_VA));
	EXPECT_EQ(0x16, self->data[0]);
}

TEST_F(vm, buffer_lives_on_in_its_mapping)
{
	mark(self->data, PAGES);
	ASSERT_EQ(0, test_bind(self->fd, self->bo, DATA_VA, 0, PAGES * TEST_PAGE, TEST_RW));
	test_bo_close(self->fd, self->bo);
	EXPECT_EQ(0, device_copies(self->fd, self->queue, self->code, DATA_VA + TEST_PAGE, DATA_VA));
	EXPECT_EQ(0x11, self->data[0]);
}

TEST_F(vm, rights_hold)
{
	struct drm_npu_queue_query query;
	struct drm_npu_job job = { .insn_va = DATA_VA, .insn_count = 1 };

	ASSERT_EQ(0, test_bind(self->fd, self->bo, DATA_VA, 0, TEST_PAGE, DRM_NPU_BIND_READ));
	ASSERT_EQ(0, test_bind(self->fd, self->bo, DATA_VA + TEST_PAGE, 0, TEST_PAGE, TEST_RW));
	EXPECT_EQ(-EFAULT, device_copies(self->fd, self->queue, self->code, DATA_VA + TEST_PAGE,
					 DATA_VA));
	ASSERT_EQ(0, test_queue_query(self->fd, self->queue, &query));
	EXPECT_EQ(NPU_FAULT_PERMISSION, query.fault_code);
	EXPECT_EQ(NPU_ACCESS_WRITE, query.fault_access);
	EXPECT_EQ(DATA_VA, query.fault_va);
	EXPECT_EQ(-EFAULT, test_run(self->fd, self->queue, &job));
	ASSERT_EQ(0, test_queue_query(self->fd, self->queue, &query));
	EXPECT_EQ(NPU_FAULT_PERMISSION, query.fault_code);
	EXPECT_EQ(NPU_ACCESS_EXECUTE, query.fault_access);
}

TEST_F(vm, large_mapping)
{
	const uint64_t size = 6 << 20;
	const uint64_t va = 1ull << 30;
	uint32_t handle;
	uint8_t *data = test_buffer(self->fd, va, size, TEST_RW, &handle);
	uint64_t page;

	ASSERT_NE(MAP_FAILED, data);
	for (page = 0; page < size; page += 1 << 20) {
		memset(data + page, page >> 20, 64);
		ASSERT_EQ(0, device_copies(self->fd, self->queue, self->code, va + page,
					   va + size - TEST_PAGE));
		EXPECT_EQ(page >> 20, data[size - TEST_PAGE]);
	}
	EXPECT_EQ(0, test_unbind(self->fd, va, size));
}

static int bind_ops(int fd, struct drm_npu_bind_op *ops, uint32_t count, uint32_t *failed)
{
	struct drm_npu_vm_bind args = {
		.op_count = count,
		.op_stride = sizeof(*ops),
		.ops = PTR(ops),
	};
	int ret = test_ioctl(fd, DRM_IOCTL_NPU_VM_BIND, &args);

	if (failed)
		*failed = args.failed_op;
	return ret;
}

TEST_F(vm, many_operations_in_one_call)
{
	struct drm_npu_bind_op ops[PAGES + 1] = {};
	uint32_t i;

	mark(self->data, PAGES);
	for (i = 0; i < PAGES; i++)
		ops[i] = (struct drm_npu_bind_op) {
			.op = DRM_NPU_BIND_MAP,
			.flags = TEST_RW,
			.handle = self->bo,
			.va = DATA_VA + i * TEST_PAGE,
			.offset = (PAGES - 1 - i) * TEST_PAGE,
			.size = TEST_PAGE,
		};
	ops[PAGES] = (struct drm_npu_bind_op) {
		.op = DRM_NPU_BIND_UNMAP,
		.va = DATA_VA,
		.size = TEST_PAGE,
	};
	ASSERT_EQ(0, bind_ops(self->fd, ops, PAGES + 1, NULL));
	EXPECT_EQ(0, device_copies(self->fd, self->queue, self->code,
				   DATA_VA + (PAGES - 1) * TEST_PAGE, DATA_VA + TEST_PAGE));
	EXPECT_EQ(0x10, self->data[(PAGES - 2) * TEST_PAGE]);
	EXPECT_EQ(-EFAULT, device_copies(self->fd, self->queue, self->code, DATA_VA,
					 DATA_VA + TEST_PAGE));
}

TEST_F(vm, checks_all_before_it_does_any)
{
	struct drm_npu_bind_op ops[2] = {
		{ .op = DRM_NPU_BIND_MAP, .flags = TEST_RW, .handle = self->bo, .va = DATA_VA,
		  .size = 2 * TEST_PAGE },
		{ .op = DRM_NPU_BIND_UNMAP, .va = DATA_VA, .size = 1 },
	};
	uint32_t failed = 0;

	EXPECT_EQ(-EINVAL, bind_ops(self->fd, ops, 2, &failed));
	EXPECT_EQ(-EFAULT, device_copies(self->fd, self->queue, self->code, DATA_VA,
					 DATA_VA + TEST_PAGE));
}

TEST_F(vm, refuses_operations)
{
	const struct drm_npu_bind_op map = {
		.op = DRM_NPU_BIND_MAP, .flags = TEST_RW, .handle = self->bo, .va = DATA_VA,
		.size = TEST_PAGE,
	};
	const struct drm_npu_bind_op unmap = {
		.op = DRM_NPU_BIND_UNMAP, .va = DATA_VA, .size = TEST_PAGE,
	};
	struct drm_npu_query_device info;
	struct drm_npu_bind_op bad;

	ASSERT_EQ(0, test_query_device(self->fd, &info));
	bad = map, bad.op = 2;
	EXPECT_EQ(-EINVAL, bind_ops(self->fd, &bad, 1, NULL));
	bad = map, bad.flags = 0;
	EXPECT_EQ(-EINVAL, bind_ops(self->fd, &bad, 1, NULL));
	bad = map, bad.flags = DRM_NPU_BIND_WRITE;
	EXPECT_EQ(-EINVAL, bind_ops(self->fd, &bad, 1, NULL));
	bad = map, bad.flags |= 8;
	EXPECT_EQ(-EINVAL, bind_ops(self->fd, &bad, 1, NULL));
	bad = map, bad.handle = 12345;
	EXPECT_EQ(-ENOENT, bind_ops(self->fd, &bad, 1, NULL));
	bad = map, bad.pad = 1;
	EXPECT_EQ(-EINVAL, bind_ops(self->fd, &bad, 1, NULL));
	bad = map, bad.va++;
	EXPECT_EQ(-EINVAL, bind_ops(self->fd, &bad, 1, NULL));
	bad = map, bad.va = info.va_start - TEST_PAGE;
	EXPECT_EQ(-EINVAL, bind_ops(self->fd, &bad, 1, NULL));
	bad = map, bad.va = info.va_end;
	EXPECT_EQ(-EINVAL, bind_ops(self->fd, &bad, 1, NULL));
	bad = map, bad.va = UINT64_MAX - TEST_PAGE + 1;
	EXPECT_EQ(-EINVAL, bind_ops(self->fd, &bad, 1, NULL));
	bad = map, bad.va = info.va_end - TEST_PAGE, bad.size = 2 * TEST_PAGE;
	EXPECT_EQ(-EINVAL, bind_ops(self->fd, &bad, 1, NULL));
	bad = map, bad.offset = 1;
	EXPECT_EQ(-EINVAL, bind_ops(self->fd, &bad, 1, NULL));
	bad = map, bad.offset = PAGES * TEST_PAGE;
	EXPECT_EQ(-EINVAL, bind_ops(self->fd, &bad, 1, NULL));
	bad = map, bad.offset = UINT64_MAX - TEST_PAGE + 1;
	EXPECT_EQ(-EINVAL, bind_ops(self->fd, &bad, 1, NULL));
	bad = map, bad.size = 0;
	EXPECT_EQ(-EINVAL, bind_ops(self->fd, &bad, 1, NULL));
	bad = map, bad.size = TEST_PAGE + 1;
	EXPECT_EQ(-EINVAL, bind_ops(self->fd, &bad, 1, NULL));
	bad = map, bad.size = (PAGES + 1) * TEST_PAGE;
	EXPECT_EQ(-EINVAL, bind_ops(self->fd, &bad, 1, NULL));
	bad = unmap, bad.flags = 1;
	EXPECT_EQ(-EINVAL, bind_ops(self->fd, &bad, 1, NULL));
	bad = unmap, bad.handle = self->bo;
	EXPECT_EQ(-EINVAL, bind_ops(self->fd, &bad, 1, NULL));
	bad = unmap, bad.offset = TEST_PAGE;
	EXPECT_EQ(-EINVAL, bind_ops(self->fd, &bad, 1, NULL));
	bad = unmap, bad.pad = 1;
	EXPECT_EQ(-EINVAL, bind_ops(self->fd, &bad, 1, NULL));
	bad = unmap, bad.size = 0;
	EXPECT_EQ(-EINVAL, bind_ops(self->fd, &bad, 1, NULL));
}

static int bind_args(int fd, const struct drm_npu_vm_bind *args)
{
	struct drm_npu_vm_bind copy = *args;

	return test_ioctl(fd, DRM_IOCTL_NPU_VM_BIND, &copy);
}

TEST_F(vm, refuses_arguments)
{
	struct drm_npu_bind_op op = {
		.op = DRM_NPU_BIND_UNMAP, .va = DATA_VA, .size = TEST_PAGE,
	};
	const struct drm_npu_vm_bind good = {
		.op_count = 1, .op_stride = sizeof(op), .ops = PTR(&op),
	};
	struct drm_npu_query_device info;
	struct drm_npu_vm_bind bad;

	ASSERT_EQ(0, test_query_device(self->fd, &info));
	EXPECT_EQ(0, bind_args(self->fd, &good));
	bad = good, bad.op_count = 0;
	EXPECT_EQ(-EINVAL, bind_args(self->fd, &bad));
	bad = good, bad.op_count = info.max_binds + 1;
	EXPECT_EQ(-EINVAL, bind_args(self->fd, &bad));
	bad = good, bad.op_stride = 8;
	EXPECT_EQ(-EINVAL, bind_args(self->fd, &bad));
	bad = good, bad.op_stride = 1 << 20;
	EXPECT_EQ(-E2BIG, bind_args(self->fd, &bad));
	bad = good, bad.ops = 0;
	EXPECT_EQ(-EFAULT, bind_args(self->fd, &bad));
	bad = good, bad.flags = 1;
	EXPECT_EQ(-EINVAL, bind_args(self->fd, &bad));
	bad = good, bad.in_sync_count = 1;
	EXPECT_EQ(-EINVAL, bind_args(self->fd, &bad));
	bad = good, bad.out_sync_count = 1;
	EXPECT_EQ(-EINVAL, bind_args(self->fd, &bad));
	bad = good, bad.in_syncs = 8;
	EXPECT_EQ(-EINVAL, bind_args(self->fd, &bad));
	bad = good, bad.out_syncs = 8;
	EXPECT_EQ(-EINVAL, bind_args(self->fd, &bad));
}

TEST_F(vm, names_the_operation_that_failed)
{
	struct drm_npu_bind_op ops[4];
	uint32_t failed = 99;
	uint32_t i;

	for (i = 0; i < 4; i++)
		ops[i] = (struct drm_npu_bind_op) {
			.op = DRM_NPU_BIND_UNMAP, .va = DATA_VA, .size = TEST_PAGE,
		};
	ops[2].size = 3;
	EXPECT_EQ(-EINVAL, bind_ops(self->fd, ops, 4, &failed));
	EXPECT_EQ(2, failed);
}

TEST_HARNESS_MAIN
