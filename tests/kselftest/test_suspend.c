// SPDX-License-Identifier: GPL-2.0-only
/* The system sleeps, as far as its devices are concerned, and wakes up. */
#include "tests/kselftest/npu_harness.h"

#define PM_TEST	"/sys/power/pm_test"
#define STATE	"/sys/power/state"
#define DELAY	"/sys/module/suspend/parameters/pm_test_delay"
#define CODE_VA	TEST_VA
#define DATA_VA	(TEST_VA + 0x10000)

FIXTURE(suspend)
{
	int fd;
	uint32_t queue;
	uint32_t sync;
	uint8_t *code;
	uint8_t *data;
	struct drm_npu_job copy;
	struct drm_npu_query_device before;
};

FIXTURE_SETUP(suspend)
{
	if (access(PM_TEST, W_OK))
		SKIP(return, "the kernel has no " PM_TEST);
	self->fd = test_open(0);
	ASSERT_GE(self->fd, 0);
	ASSERT_EQ(0, test_queue_create(self->fd, 1, 0, &self->queue));
	ASSERT_EQ(0, test_syncobj_create(self->fd, &self->sync));
	self->code = test_buffer(self->fd, CODE_VA, TEST_PAGE, TEST_RWX, NULL);
	self->data = test_buffer(self->fd, DATA_VA, 2 * TEST_PAGE, TEST_RW, NULL);
	ASSERT_NE(MAP_FAILED, self->code);
	ASSERT_NE(MAP_FAILED, self->data);
	self->copy = (struct drm_npu_job) { .insn_va = CODE_VA };
	self->copy.insn_count = test_copy_program(self->code, DATA_VA, DATA_VA + TEST_PAGE, 4);
	ASSERT_EQ(0, test_query_device(self->fd, &self->before));
	test_write_file(DELAY, "1");
	ASSERT_EQ(0, test_write_file(PM_TEST, "devices"));
}

FIXTURE_TEARDOWN(suspend)
{
	test_write_file(PM_TEST, "none");
	close(self->fd);
}

/* Devices are suspended and resumed; returns when all of them are awake. */
static int sleep_once(void)
{
	return test_write_file(STATE, "freeze");
}

TEST_F(suspend, everything_is_there_afterwards)
{
	struct drm_npu_query_device after;
	uint32_t second;
	int round;

	for (round = 0; round < 3; round++) {
		ASSERT_EQ(0, test_run(self->fd, self->queue, &self->copy));
		ASSERT_EQ(0, sleep_once());
		memset(self->data, 0x40 + round, TEST_PAGE);
		ASSERT_EQ(0, test_run(self->fd, self->queue, &self->copy));
		EXPECT_EQ(0x40 + round, self->data[TEST_PAGE]);
	}
	ASSERT_EQ(0, test_queue_create(self->fd, 1, 0, &second));
	EXPECT_EQ(0, test_run(self->fd, second, &self->copy));
	ASSERT_EQ(0, test_query_device(self->fd, &after));
	/* A sleep is no reset, and the device is the same. */
	EXPECT_EQ(self->before.resets, after.resets);
	EXPECT_EQ(0, memcmp(self->before.uuid, after.uuid, sizeof(after.uuid)));
}

TEST_F(suspend, what_is_short_ends_before)
{
	struct drm_npu_queue_query query;
	struct drm_npu_job jobs[200];
	int i;

	for (i = 0; i < 200; i++)
		jobs[i] = self->copy;
	ASSERT_EQ(0, test_submit(self->fd, self->queue, jobs, 200, self->sync));
	ASSERT_EQ(0, sleep_once());
	EXPECT_EQ(0, test_syncobj_status(self->fd, self->sync));
	ASSERT_EQ(0, test_queue_query(self->fd, self->queue, &query));
	EXPECT_EQ(200, query.jobs_done);
	EXPECT_EQ(0, query.jobs_failed);
}

TEST_F(suspend, what_does_not_end_is_lost_and_what_waits_runs)
{
	struct drm_npu_job spin = { .insn_va = CODE_VA + 1024 };
	struct drm_npu_queue_query query;
	uint32_t second;

	spin.insn_count = test_spin_program(self->code + 1024);
	memset(self->data, 0x5a, TEST_PAGE);
	ASSERT_EQ(0, test_submit(self->fd, self->queue, &spin, 1, self->sync));
	ASSERT_EQ(0, test_syncobj_create(self->fd, &second));
	ASSERT_EQ(0, test_submit(self->fd, self->queue, &self->copy, 1, second));
	test_wait_until_it_runs(self->fd);
	ASSERT_EQ(0, sleep_once());
	EXPECT_EQ(-ECANCELED, test_syncobj_status(self->fd, self->sync));
	EXPECT_EQ(0, test_syncobj_status(self->fd, second));
	EXPECT_EQ(0x5a, self->data[TEST_PAGE]);
	ASSERT_EQ(0, test_queue_query(self->fd, self->queue, &query));
	EXPECT_EQ(0, query.state);
	EXPECT_EQ(1, query.jobs_failed);
}

TEST_HARNESS_MAIN
