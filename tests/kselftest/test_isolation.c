// SPDX-License-Identifier: GPL-2.0-only
/* Clients cannot reach, see or harm each other. */
#include "tests/kselftest/npu_harness.h"

#define CODE_VA		TEST_VA
#define DATA_VA		(TEST_VA + 0x100000)
#define SECRET		0x5a

/**
 * struct client - one of two clients
 * @fd: open file
 * @queue: its queue
 * @code: instructions, at CODE_VA
 * @data: data, at DATA_VA
 */
struct client {
	int fd;
	uint32_t queue;
	uint8_t *code;
	uint8_t *data;
};

FIXTURE(isolation)
{
	struct client victim;
	struct client wild;
};

static int client_init(struct client *client)
{
	client->fd = test_open(0);
	if (client->fd < 0 || test_queue_create(client->fd, 1, 0, &client->queue))
		return -1;
	client->code = test_buffer(client->fd, CODE_VA, TEST_PAGE, TEST_RWX, NULL);
	client->data = test_buffer(client->fd, DATA_VA, 32 * TEST_PAGE, TEST_RW, NULL);
	return client->code == MAP_FAILED || client->data == MAP_FAILED ? -1 : 0;
}

FIXTURE_SETUP(isolation)
{
	ASSERT_EQ(0, client_init(&self->victim));
	ASSERT_EQ(0, client_init(&self->wild));
}

FIXTURE_TEARDOWN(isolation)
{
	close(self->wild.fd);
	close(self->victim.fd);
}

static int copy(struct client *client, uint64_t from, uint64_t to, uint32_t count)
{
	struct drm_npu_job job = { .insn_va = CODE_VA };

	job.insn_count = test_copy_program(client->code, from, to, count);
	return test_run(client->fd, client->queue, &job);
}

TEST_F(isolation, same_address_is_other_memory)
{
	memset(self->victim.data, SECRET, TEST_PAGE);
	memset(self->wild.data, 1, TEST_PAGE);
	ASSERT_EQ(0, copy(&self->wild, DATA_VA, DATA_VA + TEST_PAGE, 4));
	EXPECT_EQ(1, self->wild.data[TEST_PAGE]);
	ASSERT_EQ(0, copy(&self->victim, DATA_VA, DATA_VA + TEST_PAGE, 4));
	EXPECT_EQ(SECRET, self->victim.data[TEST_PAGE]);
	EXPECT_EQ(1, self->wild.data[0]);
	EXPECT_EQ(0, self->wild.data[2 * TEST_PAGE]);
}

TEST_F(isolation, address_of_another_client_faults)
{
	const uint64_t va = DATA_VA + (1ull << 32);
	struct drm_npu_queue_query query;
	uint8_t *data = test_buffer(self->victim.fd, va, TEST_PAGE, TEST_RW, NULL);

	ASSERT_NE(MAP_FAILED, data);
	memset(data, SECRET, TEST_PAGE);
	EXPECT_EQ(-EFAULT, copy(&self->wild, va, DATA_VA, 4));
	ASSERT_EQ(0, test_queue_query(self->wild.fd, self->wild.queue, &query));
	EXPECT_EQ(va, query.fault_va);
	EXPECT_EQ(NPU_FAULT_UNMAPPED, query.fault_code);
	EXPECT_EQ(0, self->wild.data[0]);
	EXPECT_EQ(-EFAULT, copy(&self->wild, DATA_VA, va, 4));
	ASSERT_EQ(0, test_queue_query(self->wild.fd, self->wild.queue, &query));
	EXPECT_EQ(va, query.fault_va);
	EXPECT_EQ(NPU_ACCESS_WRITE, query.fault_access);
	EXPECT_EQ(SECRET, data[0]);
}

TEST_F(isolation, handles_are_the_clients_own)
{
	struct drm_npu_bo_mmap_offset offset = {};
	uint32_t handle;
	uint32_t i;

	for (i = 0; i < 8; i++)
		ASSERT_EQ(0, test_bo_create(self->victim.fd, TEST_PAGE, &handle));
	EXPECT_EQ(-ENOENT, test_bind(self->wild.fd, handle, TEST_VA + 0x80000, 0, TEST_PAGE,
				     TEST_RW));
	EXPECT_EQ(-ENOENT, test_bo_wait(self->wild.fd, handle, 0, 0));
	offset.handle = handle;
	EXPECT_EQ(-ENOENT, test_ioctl(self->wild.fd, DRM_IOCTL_NPU_BO_MMAP_OFFSET, &offset));
}

TEST_F(isolation, wild_stream_harms_no_neighbour)
{
	struct drm_npu_job job = { .insn_va = CODE_VA };
	struct drm_npu_queue_query query;
	uint32_t sync, round;

	memset(self->victim.data, SECRET, TEST_PAGE);
	job.insn_count = test_copy_program(self->victim.code, DATA_VA, DATA_VA + TEST_PAGE, 64);
	ASSERT_EQ(0, test_syncobj_create(self->victim.fd, &sync));
	for (round = 0; round < 20; round++) {
		uint64_t va = (1ull << 31) + round * 0x10000;

		ASSERT_EQ(0, test_submit(self->victim.fd, self->victim.queue, &job, 1, sync));
		EXPECT_EQ(-EFAULT, copy(&self->wild, va, DATA_VA, 1));
		ASSERT_EQ(0, test_queue_query(self->wild.fd, self->wild.queue, &query));
		EXPECT_EQ(va, query.fault_va);
		EXPECT_EQ(0, test_syncobj_status(self->victim.fd, sync));
		EXPECT_EQ(SECRET, self->victim.data[TEST_PAGE + 1023]);
		memset(self->victim.data + TEST_PAGE, 0, TEST_PAGE);
	}
}

TEST_F(isolation, random_instructions_harm_no_neighbour)
{
	struct drm_npu_job wild = { .insn_va = CODE_VA, .insn_count = 64, .limit = 1000000 };
	uint32_t round, i;

	srandom(20261130);
	memset(self->victim.data, SECRET, 32 * TEST_PAGE);
	for (round = 0; round < 200; round++) {
		for (i = 0; i < 64 * NPU_INSN_BYTES; i++)
			self->wild.code[i] = random();
		test_run(self->wild.fd, self->wild.queue, &wild);
	}
	for (i = 0; i < 32 * TEST_PAGE; i++)
		ASSERT_EQ(SECRET, self->victim.data[i]);
	EXPECT_EQ(0, copy(&self->victim, DATA_VA, DATA_VA + TEST_PAGE, 64));
}

/* Stores all of ACC without having loaded any of it. */
static uint32_t leak_program(uint8_t *code)
{
	struct test_program program = { .words = code };

	test_program_load(&program, NPU_MEM_ACC, NPU_ACC_DEPTH - 1, DATA_VA / NPU_ACC_BYTES, 1);
	test_program_store(&program, 0, DATA_VA / NPU_OUT_BYTES, NPU_ACC_DEPTH);
	test_program_finish(&program, true);
	return program.count;
}

TEST_F(isolation, sram_holds_nothing_of_the_last_client)
{
	struct drm_npu_job job = { .insn_va = CODE_VA };
	uint32_t i;

	memset(self->victim.data, SECRET, 32 * TEST_PAGE);
	ASSERT_EQ(0, copy(&self->victim, DATA_VA, DATA_VA, 2048));
	EXPECT_EQ(SECRET, self->victim.data[0]);

	job.insn_count = leak_program(self->wild.code);
	memset(self->wild.data, 0xee, 32 * TEST_PAGE);
	memset(self->wild.data, 0x11, NPU_ACC_BYTES);
	ASSERT_EQ(0, test_run(self->wild.fd, self->wild.queue, &job));
	for (i = 0; i < (NPU_ACC_DEPTH - 1) * NPU_OUT_BYTES; i++)
		ASSERT_EQ(0, self->wild.data[i]);
	/* The one that the program loaded itself. */
	EXPECT_EQ(0x11, self->wild.data[(NPU_ACC_DEPTH - 1) * NPU_OUT_BYTES]);
}

TEST_F(isolation, freed_memory_is_not_reached_again)
{
	const uint64_t va = DATA_VA + (1 << 28);
	uint32_t handle, round;

	for (round = 0; round < 50; round++) {
		uint8_t *data = test_buffer(self->wild.fd, va, TEST_PAGE, TEST_RW, &handle);

		ASSERT_NE(MAP_FAILED, data);
		data[0] = round;
		EXPECT_EQ(0, copy(&self->wild, va, DATA_VA, 1));
		EXPECT_EQ(round, self->wild.data[0]);
		munmap(data, TEST_PAGE);
		ASSERT_EQ(0, test_unbind(self->wild.fd, va, TEST_PAGE));
		test_bo_close(self->wild.fd, handle);
		EXPECT_EQ(-EFAULT, copy(&self->wild, va, DATA_VA, 1));
	}
}

TEST_HARNESS_MAIN
