// SPDX-License-Identifier: GPL-2.0-only
/* What /proc/PID/fdinfo says of a client. */
#include "tests/kselftest/npu_harness.h"

#define CODE_VA	TEST_VA

FIXTURE(fdinfo)
{
	int fd;
	uint32_t queue;
	uint8_t *code;
};

FIXTURE_SETUP(fdinfo)
{
	self->fd = test_open(0);
	ASSERT_GE(self->fd, 0);
	ASSERT_EQ(0, test_queue_create(self->fd, 1, 0, &self->queue));
	self->code = test_buffer(self->fd, CODE_VA, TEST_PAGE, TEST_RWX, NULL);
	ASSERT_NE(MAP_FAILED, self->code);
}

FIXTURE_TEARDOWN(fdinfo)
{
	close(self->fd);
}

/* The number behind a key; -1 if the key is missing. */
static long long value(int fd, const char *key)
{
	char path[64], text[4096];
	const char *at;
	long long number = -1;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	if (test_read_file(path, text, sizeof(text)) < 0)
		return -1;
	at = strstr(text, key);
	if (at)
		sscanf(at + strlen(key), ": %lld", &number);
	return number;
}

TEST_F(fdinfo, names_driver_and_client)
{
	char path[64], text[4096];

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", self->fd);
	ASSERT_LT(0, test_read_file(path, text, sizeof(text)));
	EXPECT_NE(NULL, strstr(text, "drm-driver:\tnpu\n"));
	EXPECT_LT(0, value(self->fd, "drm-client-id"));
	EXPECT_LE(1, value(self->fd, "drm-engine-capacity-npu"));
	EXPECT_LT(0, value(self->fd, "drm-maxfreq-npu"));
}

TEST_F(fdinfo, engine_time_is_that_of_the_jobs)
{
	struct drm_npu_job job = { .insn_va = CODE_VA };
	struct drm_npu_queue_query query;
	struct drm_npu_query_device info;
	long long cycles;

	EXPECT_EQ(0, value(self->fd, "drm-engine-npu"));
	job.insn_count = test_work_program(self->code, 300000);
	ASSERT_EQ(0, test_run(self->fd, self->queue, &job));
	ASSERT_EQ(0, test_run(self->fd, self->queue, &job));
	ASSERT_EQ(0, test_queue_query(self->fd, self->queue, &query));
	EXPECT_LE(600000, query.cycles);
	cycles = value(self->fd, "drm-cycles-npu");
	EXPECT_EQ(query.cycles, cycles);
	ASSERT_EQ(0, test_query_device(self->fd, &info));
	EXPECT_EQ(cycles * 1000000 / info.clock_khz, value(self->fd, "drm-engine-npu"));
	/* It stays when the queue goes. */
	ASSERT_EQ(0, test_queue_destroy(self->fd, self->queue));
	EXPECT_EQ(cycles, value(self->fd, "drm-cycles-npu"));
}

TEST_F(fdinfo, engine_time_grows_while_a_job_runs)
{
	struct drm_npu_job job = { .insn_va = CODE_VA };
	long long seen = 0, now, round;

	job.insn_count = test_spin_program(self->code);
	ASSERT_EQ(0, test_submit(self->fd, self->queue, &job, 1, 0));
	for (round = 0; round < 3; round++) {
		do {
			usleep(1000);
			now = value(self->fd, "drm-engine-npu");
			ASSERT_LE(seen, now);
		} while (now == seen);
		seen = now;
	}
}

TEST_F(fdinfo, memory)
{
	long long before = value(self->fd, "drm-total-memory");
	uint32_t handle;

	ASSERT_LE(0, before);
	ASSERT_EQ(0, test_bo_create(self->fd, 1 << 20, &handle));
	EXPECT_EQ(before + 1024, value(self->fd, "drm-total-memory"));
	EXPECT_EQ(4, value(self->fd, "drm-resident-memory"));
	ASSERT_EQ(0, test_bind(self->fd, handle, CODE_VA + (1 << 20), 0, 1 << 20, TEST_RW));
	EXPECT_EQ(1024 + 4, value(self->fd, "drm-resident-memory"));
}

TEST_F(fdinfo, clients_are_apart)
{
	struct drm_npu_job job = { .insn_va = CODE_VA };
	int other = test_open(0);

	ASSERT_GE(other, 0);
	job.insn_count = test_work_program(self->code, 300000);
	ASSERT_EQ(0, test_run(self->fd, self->queue, &job));
	EXPECT_EQ(0, value(other, "drm-cycles-npu"));
	EXPECT_NE(value(self->fd, "drm-client-id"), value(other, "drm-client-id"));
	close(other);
}

TEST_HARNESS_MAIN
