// SPDX-License-Identifier: GPL-2.0-only
/* Limits, hangs and resets. */
#include <sys/mount.h>

#include "tests/kselftest/npu_harness.h"

#define SYSFS_FROZEN	"/sys/bus/auxiliary/devices/npu_sim.npu.0/frozen"
#define HANG_MS		"/sys/module/npu/parameters/hang_ms"
#define DEBUGFS		"/sys/kernel/debug"
#define DEBUGFS_RESET	DEBUGFS "/accel/npu_sim.npu.0/reset"

#define CODE_VA		TEST_VA
#define SPIN_VA		(TEST_VA + 1024)
#define POLITE_VA	(TEST_VA + 2048)
#define DATA_VA		(TEST_VA + 0x10000)

FIXTURE(recovery)
{
	int fd;
	int other;
	uint32_t queue;
	uint32_t neighbour;
	uint32_t sync;
	uint32_t other_sync;
	uint8_t *code;
	uint8_t *data;
	struct drm_npu_job copy;
	struct drm_npu_job other_copy;
	struct drm_npu_job spin;
	struct drm_npu_job other_spin;
};

static int programs(int fd, uint8_t **code_out, uint8_t **data, struct drm_npu_job *copy,
		    struct drm_npu_job *spin)
{
	uint8_t *code = test_buffer(fd, CODE_VA, TEST_PAGE, TEST_RWX, NULL);

	*code_out = code;
	*data = test_buffer(fd, DATA_VA, 2 * TEST_PAGE, TEST_RW, NULL);
	if (code == MAP_FAILED || *data == MAP_FAILED)
		return -1;
	*copy = (struct drm_npu_job) { .insn_va = CODE_VA };
	copy->insn_count = test_copy_program(code, DATA_VA, DATA_VA + TEST_PAGE, 4);
	*spin = (struct drm_npu_job) { .insn_va = SPIN_VA };
	spin->insn_count = test_spin_program(code + 1024);
	return 0;
}

FIXTURE_SETUP(recovery)
{
	uint8_t *other_code, *other_data;

	mount("debugfs", DEBUGFS, "debugfs", 0, NULL);
	self->fd = test_open(0);
	self->other = test_open(0);
	ASSERT_GE(self->fd, 0);
	ASSERT_GE(self->other, 0);
	ASSERT_EQ(0, test_queue_create(self->fd, 1, 0, &self->queue));
	ASSERT_EQ(0, test_queue_create(self->other, 1, 0, &self->neighbour));
	ASSERT_EQ(0, test_syncobj_create(self->fd, &self->sync));
	ASSERT_EQ(0, test_syncobj_create(self->other, &self->other_sync));
	ASSERT_EQ(0, programs(self->fd, &self->code, &self->data, &self->copy, &self->spin));
	ASSERT_EQ(0, programs(self->other, &other_code, &other_data, &self->other_copy,
			      &self->other_spin));
}

FIXTURE_TEARDOWN(recovery)
{
	close(self->fd);
	close(self->other);
	test_write_file(HANG_MS, "0");
}

TEST_F(recovery, limit_of_the_job_ends_it)
{
	struct drm_npu_queue_query query;

	self->spin.limit = 100000;
	EXPECT_EQ(-ETIME, test_run(self->fd, self->queue, &self->spin));
	ASSERT_EQ(0, test_queue_query(self->fd, self->queue, &query));
	EXPECT_EQ(NPU_JOB_STATUS_LIMIT, query.failed_status);
	EXPECT_LE(100000, query.cycles);
	EXPECT_GE(100000 + 4096, query.cycles);
	EXPECT_EQ(0, query.resets);
	EXPECT_EQ(0, test_run(self->fd, self->queue, &self->copy));
}

TEST_F(recovery, lower_limit_holds)
{
	struct drm_npu_queue_query query;
	uint32_t limited;

	ASSERT_EQ(0, test_queue_create(self->fd, 1, 50000, &limited));
	self->spin.limit = 1000000;
	EXPECT_EQ(-ETIME, test_run(self->fd, limited, &self->spin));
	ASSERT_EQ(0, test_queue_query(self->fd, limited, &query));
	EXPECT_LE(50000, query.cycles);
	EXPECT_GE(50000 + 4096, query.cycles);
}

TEST_F(recovery, waiting_does_not_count)
{
	self->spin.limit = 2000000;
	self->other_copy.limit = 100000;
	ASSERT_EQ(0, test_submit(self->fd, self->queue, &self->spin, 1, self->sync));
	EXPECT_EQ(0, test_run(self->other, self->neighbour, &self->other_copy));
	EXPECT_EQ(-ETIME, test_syncobj_status(self->fd, self->sync));
}

TEST_F(recovery, destroying_the_queue_aborts_its_jobs)
{
	uint32_t second;

	ASSERT_EQ(0, test_submit(self->fd, self->queue, &self->spin, 1, self->sync));
	ASSERT_EQ(0, test_syncobj_create(self->fd, &second));
	ASSERT_EQ(0, test_submit(self->fd, self->queue, &self->copy, 1, second));
	ASSERT_EQ(0, test_queue_destroy(self->fd, self->queue));
	EXPECT_EQ(-ECANCELED, test_syncobj_status(self->fd, self->sync));
	EXPECT_EQ(-ECANCELED, test_syncobj_status(self->fd, second));
	EXPECT_EQ(0, test_run(self->other, self->neighbour, &self->other_copy));
}

TEST_F(recovery, unmapping_under_a_job_faults_it)
{
	struct drm_npu_queue_query query;
	struct test_program program = {};
	uint8_t *code = test_buffer(self->fd, DATA_VA + 0x100000, TEST_PAGE, TEST_RWX, NULL);
	struct drm_npu_job victim = { .insn_va = DATA_VA + 0x100000 };

	ASSERT_NE(MAP_FAILED, code);
	program.words = code;
	test_program_gemm(&program, 3000000);
	victim.insn_count = program.count + test_copy_program(code + program.count *
							      NPU_INSN_BYTES, DATA_VA,
							      DATA_VA + TEST_PAGE, 4);
	ASSERT_EQ(0, test_submit(self->fd, self->queue, &victim, 1, self->sync));
	ASSERT_EQ(0, test_unbind(self->fd, DATA_VA, 2 * TEST_PAGE));
	EXPECT_EQ(-EFAULT, test_syncobj_status(self->fd, self->sync));
	ASSERT_EQ(0, test_queue_query(self->fd, self->queue, &query));
	EXPECT_EQ(NPU_FAULT_UNMAPPED, query.fault_code);
	EXPECT_EQ(DATA_VA, query.fault_va & ~0xfffull);
}

TEST_F(recovery, reset_fails_what_had_started_and_runs_the_rest)
{
	struct drm_npu_queue_query query;
	struct drm_npu_query_device before, after;
	uint32_t second;

	ASSERT_EQ(0, test_query_device(self->fd, &before));
	ASSERT_EQ(0, test_submit(self->fd, self->queue, &self->spin, 1, self->sync));
	ASSERT_EQ(0, test_syncobj_create(self->fd, &second));
	ASSERT_EQ(0, test_submit(self->fd, self->queue, &self->copy, 1, second));
	memset(self->data, 0x33, TEST_PAGE);
	test_wait_until_it_runs(self->fd);
	ASSERT_EQ(0, test_write_file(DEBUGFS_RESET, "1"));
	EXPECT_EQ(-ECANCELED, test_syncobj_status(self->fd, self->sync));
	EXPECT_EQ(0, test_syncobj_status(self->fd, second));
	EXPECT_EQ(0x33, self->data[TEST_PAGE]);
	ASSERT_EQ(0, test_queue_query(self->fd, self->queue, &query));
	EXPECT_EQ(1, query.resets);
	EXPECT_EQ(0, query.state);
	ASSERT_EQ(0, test_query_device(self->fd, &after));
	EXPECT_EQ(before.resets + 1, after.resets);
	/* Address space and queues are there as before. */
	EXPECT_EQ(0, test_run(self->fd, self->queue, &self->copy));
	EXPECT_EQ(0, test_run(self->other, self->neighbour, &self->other_copy));
}

TEST_F(recovery, batch_goes_on_after_a_reset)
{
	struct drm_npu_queue_query query;
	struct drm_npu_job jobs[300];
	uint32_t i;

	for (i = 0; i < 300; i++)
		jobs[i] = self->copy;
	jobs[0] = self->spin;
	ASSERT_EQ(0, test_submit(self->fd, self->queue, jobs, 300, self->sync));
	test_wait_until_it_runs(self->fd);
	ASSERT_EQ(0, test_write_file(DEBUGFS_RESET, "1"));
	EXPECT_EQ(-ECANCELED, test_syncobj_status(self->fd, self->sync));
	ASSERT_EQ(0, test_queue_query(self->fd, self->queue, &query));
	EXPECT_EQ(300, query.jobs_done);
	EXPECT_EQ(1, query.jobs_failed);
	EXPECT_EQ(1, query.failed_job);
}

TEST_F(recovery, resets_in_a_row)
{
	uint32_t round;

	for (round = 0; round < 10; round++) {
		ASSERT_EQ(0, test_write_file(DEBUGFS_RESET, "1"));
		ASSERT_EQ(0, test_run(self->fd, self->queue, &self->copy));
	}
}

TEST_F(recovery, hang_bans_the_guilty_queue_alone)
{
	struct drm_npu_queue_query query;
	uint32_t again;

	ASSERT_EQ(0, test_submit(self->fd, self->queue, &self->spin, 1, self->sync));
	test_wait_until_it_runs(self->fd);
	ASSERT_EQ(0, test_write_file(SYSFS_FROZEN, "1"));
	ASSERT_EQ(0, test_submit(self->other, self->neighbour, &self->other_copy, 1,
				 self->other_sync));
	ASSERT_EQ(0, test_write_file(HANG_MS, "200"));
	EXPECT_EQ(-ECANCELED, test_syncobj_status(self->fd, self->sync));
	EXPECT_EQ(0, test_syncobj_wait(self->other, self->other_sync, 0, TEST_WAIT_MS));
	ASSERT_EQ(0, test_write_file(HANG_MS, "0"));

	ASSERT_EQ(0, test_queue_query(self->fd, self->queue, &query));
	EXPECT_EQ(DRM_NPU_QUEUE_BANNED, query.state);
	EXPECT_EQ(1, query.resets);
	EXPECT_EQ(-EIO, test_submit(self->fd, self->queue, &self->copy, 1, 0));
	ASSERT_EQ(0, test_queue_query(self->other, self->neighbour, &query));
	EXPECT_EQ(0, query.state);
	EXPECT_EQ(0, test_run(self->other, self->neighbour, &self->other_copy));
	/* The client may go on with another queue. */
	ASSERT_EQ(0, test_queue_create(self->fd, 1, 0, &again));
	EXPECT_EQ(0, test_run(self->fd, again, &self->copy));
	EXPECT_EQ(0, test_queue_destroy(self->fd, self->queue));
}

/* Many parts, after each of which it lets a higher priority come first. */
static uint32_t yielding_program(void *words)
{
	struct test_program program = { .words = words };
	uint32_t part;

	for (part = 0; part < 40; part++) {
		test_program_gemm(&program, 500000);
		test_program_yield(&program);
	}
	test_program_finish(&program, false);
	return program.count;
}

TEST_F(recovery, hang_bans_who_came_first_not_who_made_room)
{
	struct drm_npu_job polite = { .insn_va = POLITE_VA };
	struct drm_npu_queue_query query;
	uint32_t low, high;

	polite.insn_count = yielding_program(self->code + (POLITE_VA - CODE_VA));
	ASSERT_EQ(0, test_queue_create(self->fd, 0, 0, &low));
	ASSERT_EQ(0, test_queue_create(self->other, 3, 0, &high));
	ASSERT_EQ(0, test_submit(self->fd, low, &polite, 1, self->sync));
	test_wait_until_it_runs(self->fd);
	ASSERT_EQ(0, test_submit(self->other, high, &self->other_spin, 1, self->other_sync));
	test_wait_until_it_runs(self->other);
	ASSERT_EQ(0, test_write_file(SYSFS_FROZEN, "1"));
	ASSERT_EQ(0, test_write_file(HANG_MS, "200"));
	EXPECT_EQ(-ECANCELED, test_syncobj_status(self->fd, self->sync));
	EXPECT_EQ(-ECANCELED, test_syncobj_status(self->other, self->other_sync));
	ASSERT_EQ(0, test_write_file(HANG_MS, "0"));
	ASSERT_EQ(0, test_queue_query(self->fd, low, &query));
	EXPECT_EQ(0, query.state);
	EXPECT_EQ(1, query.resets);
	ASSERT_EQ(0, test_queue_query(self->other, high, &query));
	EXPECT_EQ(DRM_NPU_QUEUE_BANNED, query.state);
	EXPECT_EQ(0, test_run(self->fd, low, &self->copy));
}

TEST_F(recovery, commands_survive_a_hang)
{
	uint32_t queue;

	ASSERT_EQ(0, test_write_file(HANG_MS, "500"));
	ASSERT_EQ(0, test_write_file(SYSFS_FROZEN, "1"));
	/* The firmware does not answer, the device is reset, and this succeeds. */
	EXPECT_EQ(0, test_queue_create(self->fd, 1, 0, &queue));
	EXPECT_EQ(0, test_run(self->fd, queue, &self->copy));
	ASSERT_EQ(0, test_write_file(SYSFS_FROZEN, "1"));
	EXPECT_EQ(0, test_unbind(self->fd, DATA_VA, 2 * TEST_PAGE));
	EXPECT_EQ(-EFAULT, test_run(self->fd, queue, &self->copy));
	ASSERT_EQ(0, test_write_file(SYSFS_FROZEN, "1"));
	EXPECT_EQ(0, test_queue_destroy(self->fd, queue));
	EXPECT_EQ(0, test_run(self->other, self->neighbour, &self->other_copy));
}

TEST_HARNESS_MAIN
