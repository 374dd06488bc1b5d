// SPDX-License-Identifier: GPL-2.0-only
/* Many devices, and devices of several cores: the transport is loaded anew for that. */
#include "tests/kselftest/npu_harness.h"

#define DEVICES		16u
#define CORES		4u
#define CODE_VA		TEST_VA
#define DATA_VA		(TEST_VA + 0x10000)
#define REPORT_VA	(TEST_VA + 0x20000)

/* Far more than a start takes. */
#define WORK		(1u << 20)

/**
 * struct client - a client of one device
 * @fd: open file
 * @queue: its queue
 * @sync: for its jobs
 * @code: instructions, at CODE_VA
 * @data: two pages, at DATA_VA
 * @handle: of @data
 */
struct client {
	int fd;
	uint32_t queue;
	uint32_t sync;
	uint8_t *code;
	uint8_t *data;
	uint32_t handle;
};

static int client_init(struct client *client, uint32_t device)
{
	client->fd = test_open(device);
	if (client->fd < 0 || test_queue_create(client->fd, 1, 0, &client->queue) ||
	    test_syncobj_create(client->fd, &client->sync))
		return -1;
	client->code = test_buffer(client->fd, CODE_VA, TEST_PAGE, TEST_RWX, NULL);
	client->data = test_buffer(client->fd, DATA_VA, 2 * TEST_PAGE, TEST_RW, &client->handle);
	return client->code == MAP_FAILED || client->data == MAP_FAILED ? -1 : 0;
}

static void client_close(struct client *client)
{
	munmap(client->code, TEST_PAGE);
	munmap(client->data, 2 * TEST_PAGE);
	close(client->fd);
}

FIXTURE(devices)
{
	struct client clients[DEVICES];
};

FIXTURE_SETUP(devices)
{
	uint32_t i;

	ASSERT_EQ(0, test_unload("npu_sim"));
	ASSERT_EQ(0, test_load("npu_sim", "devices=16"));
	for (i = 0; i < DEVICES; i++)
		ASSERT_EQ(0, client_init(&self->clients[i], i));
}

FIXTURE_TEARDOWN(devices)
{
	uint32_t i;

	for (i = 0; i < DEVICES; i++)
		client_close(&self->clients[i]);
	test_unload("npu_sim");
	/* As the suite has loaded it. */
	EXPECT_EQ(0, test_load("npu_sim", "devices=2"));
}

static bool all_are_others(struct client *clients)
{
	struct drm_npu_query_device info[DEVICES];
	uint32_t i, k;

	for (i = 0; i < DEVICES; i++) {
		if (test_query_device(clients[i].fd, &info[i]))
			return false;
		for (k = 0; k < i; k++)
			if (!memcmp(info[i].uuid, info[k].uuid, sizeof(info[i].uuid)))
				return false;
	}
	return true;
}

TEST_F(devices, all_work_at_once)
{
	struct drm_npu_job job = { .insn_va = CODE_VA };
	uint32_t i, round;

	ASSERT_TRUE(all_are_others(self->clients));
	for (i = 0; i < DEVICES; i++) {
		struct client *client = &self->clients[i];

		memset(client->data, 0x30 + i, TEST_PAGE);
		job.insn_count = test_copy_program(client->code, DATA_VA, DATA_VA + TEST_PAGE, 4);
	}
	for (round = 0; round < 10; round++)
		for (i = 0; i < DEVICES; i++)
			ASSERT_EQ(0, test_submit(self->clients[i].fd, self->clients[i].queue, &job,
						 1, self->clients[i].sync));
	for (i = 0; i < DEVICES; i++) {
		EXPECT_EQ(0, test_syncobj_status(self->clients[i].fd, self->clients[i].sync));
		EXPECT_EQ(0x30 + i, self->clients[i].data[TEST_PAGE]);
	}
}

/* Each device copies from the first page to the second, and hands on what it got there. */
TEST_F(devices, one_buffer_through_all)
{
	struct drm_prime_handle prime = {
		.handle = self->clients[0].handle, .flags = DRM_CLOEXEC | DRM_RDWR,
	};
	struct drm_npu_job job = { .insn_va = CODE_VA };
	uint8_t *data = self->clients[0].data;
	uint32_t i;

	ASSERT_EQ(0, test_ioctl(self->clients[0].fd, DRM_IOCTL_PRIME_HANDLE_TO_FD, &prime));
	memset(data, 0x51, 64);
	for (i = 0; i < DEVICES; i++) {
		struct client *client = &self->clients[i];
		struct drm_prime_handle import = { .fd = prime.fd };
		uint64_t from = DATA_VA + i * 64, to = DATA_VA + (i + 1) * 64;

		ASSERT_EQ(0, test_ioctl(client->fd, DRM_IOCTL_PRIME_FD_TO_HANDLE, &import));
		ASSERT_EQ(0, test_bind(client->fd, import.handle, DATA_VA, 0, TEST_PAGE, TEST_RW));
		job.insn_count = test_copy_program(client->code, from, to, 1);
		ASSERT_EQ(0, test_run(client->fd, client->queue, &job));
		EXPECT_EQ(0x51, data[(i + 1) * 64]);
		memset(data + (i + 1) * 64, 0x51, 64);
	}
	close(prime.fd);
}

TEST_F(devices, memory_of_the_process_on_all)
{
	struct drm_npu_job job = { .insn_va = CODE_VA };
	uint8_t *data = mmap(NULL, 2 * TEST_PAGE, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint32_t i, handle;

	ASSERT_NE(MAP_FAILED, data);
	for (i = 0; i < DEVICES; i++) {
		struct client *client = &self->clients[i];

		ASSERT_EQ(0, test_import(client->fd, data, 2 * TEST_PAGE, 0, &handle));
		ASSERT_EQ(0, test_bind(client->fd, handle, DATA_VA, 0, 2 * TEST_PAGE, TEST_RW));
		memset(data, 0x60 + i, 64);
		job.insn_count = test_copy_program(client->code, DATA_VA, DATA_VA + TEST_PAGE, 1);
		ASSERT_EQ(0, test_run(client->fd, client->queue, &job));
		EXPECT_EQ(0x60 + i, data[TEST_PAGE]);
	}
	EXPECT_EQ(DEVICES * 2 * TEST_PAGE / 1024, test_pinned_kb());
}

TEST(numbers_are_refused)
{
	ASSERT_EQ(0, test_unload("npu_sim"));
	EXPECT_EQ(-EINVAL, test_load("npu_sim", "devices=0"));
	EXPECT_EQ(-EINVAL, test_load("npu_sim", "devices=17"));
	EXPECT_EQ(-EINVAL, test_load("npu_sim", "cores=0"));
	EXPECT_EQ(-EINVAL, test_load("npu_sim", "cores=17"));
	EXPECT_EQ(0, test_load("npu_sim", "devices=2"));
}

FIXTURE(cores)
{
	struct client client;
	const struct npu_job_report *reports;
};

FIXTURE_SETUP(cores)
{
	ASSERT_EQ(0, test_unload("npu_sim"));
	ASSERT_EQ(0, test_load("npu_sim", "devices=1 cores=4"));
	ASSERT_EQ(0, client_init(&self->client, 0));
	self->reports = (void *)test_buffer(self->client.fd, REPORT_VA, TEST_PAGE, TEST_RW, NULL);
	ASSERT_NE(MAP_FAILED, self->reports);
}

FIXTURE_TEARDOWN(cores)
{
	munmap((void *)self->reports, TEST_PAGE);
	client_close(&self->client);
	test_unload("npu_sim");
	EXPECT_EQ(0, test_load("npu_sim", "devices=2"));
}

static int create_on(int fd, uint32_t core_mask, uint32_t *id)
{
	struct drm_npu_queue_create create = { .priority = 1, .core_mask = core_mask };
	int ret = test_ioctl(fd, DRM_IOCTL_NPU_QUEUE_CREATE, &create);

	*id = create.queue_id;
	return ret;
}

/* @count jobs of some length on the cores of @core_mask; cores that they used, by reports. */
static int run_on(struct client *client, const struct npu_job_report *reports, uint32_t core_mask,
		  uint32_t count, uint32_t *used)
{
	struct drm_npu_job jobs[16] = {};
	uint32_t queue, i;
	int ret;

	for (i = 0; i < count; i++) {
		jobs[i].insn_va = CODE_VA;
		jobs[i].insn_count = test_work_program(client->code, WORK);
		jobs[i].report_va = REPORT_VA + i * sizeof(*reports);
	}
	ret = create_on(client->fd, core_mask, &queue);
	if (!ret)
		ret = test_submit(client->fd, queue, jobs, count, client->sync);
	if (!ret)
		ret = test_syncobj_status(client->fd, client->sync);
	for (i = 0, *used = 0; i < count; i++)
		*used |= 1u << reports[i].core;
	return ret ?: test_queue_destroy(client->fd, queue);
}

TEST_F(cores, are_counted)
{
	struct drm_npu_query_device info;
	uint32_t id;

	ASSERT_EQ(0, test_query_device(self->client.fd, &info));
	EXPECT_EQ(CORES, info.cores);
	EXPECT_EQ(0, create_on(self->client.fd, 1u << (CORES - 1), &id));
	EXPECT_EQ(-EINVAL, create_on(self->client.fd, 1u << CORES, &id));
	EXPECT_EQ(-EINVAL, create_on(self->client.fd, 1u << CORES | 1, &id));
	EXPECT_EQ(-EINVAL, create_on(self->client.fd, 1u << 31, &id));
}

TEST_F(cores, mask_of_one)
{
	uint32_t core, used;

	for (core = 0; core < CORES; core++) {
		ASSERT_EQ(0, run_on(&self->client, self->reports, 1u << core, 3, &used));
		EXPECT_EQ(1u << core, used);
		/* One after the other. */
		EXPECT_LE(self->reports[0].end_tick, self->reports[1].start_tick);
		EXPECT_LE(self->reports[1].end_tick, self->reports[2].start_tick);
	}
}

TEST_F(cores, mask_of_some)
{
	uint32_t used;

	ASSERT_EQ(0, run_on(&self->client, self->reports, 0xa, 8, &used));
	EXPECT_EQ(0xa, used);
	/* Side by side, in the order of their numbers. */
	EXPECT_LT(self->reports[1].start_tick, self->reports[0].end_tick);
	EXPECT_LE(self->reports[0].start_tick, self->reports[1].start_tick);
}

TEST_F(cores, mask_of_none_is_all)
{
	uint32_t used;

	ASSERT_EQ(0, run_on(&self->client, self->reports, 0, 8, &used));
	EXPECT_EQ((1u << CORES) - 1, used);
}

TEST_F(cores, fence_is_that_of_the_last_to_end)
{
	struct drm_npu_job jobs[2] = { { .insn_va = CODE_VA }, {} };
	struct drm_npu_queue_query query;

	/* The second needs no core, and ends while the first one runs. */
	jobs[0].insn_count = test_work_program(self->client.code, WORK);
	ASSERT_EQ(0, test_submit(self->client.fd, self->client.queue, jobs, 2, self->client.sync));
	ASSERT_EQ(0, test_syncobj_status(self->client.fd, self->client.sync));
	ASSERT_EQ(0, test_queue_query(self->client.fd, self->client.queue, &query));
	EXPECT_EQ(2, query.jobs_done);
	EXPECT_LE(WORK, query.cycles);
}

TEST_HARNESS_MAIN
