// SPDX-License-Identifier: GPL-2.0-only
/* Tracepoints, read through an instance of tracefs. */
#include <sys/mount.h>
#include <sys/stat.h>

#include "tests/kselftest/npu_harness.h"

#define TRACEFS		"/sys/kernel/tracing"
#define INSTANCE	TRACEFS "/instances/npu_test"
#define DEBUGFS		"/sys/kernel/debug"
#define DEBUGFS_RESET	DEBUGFS "/accel/npu_sim.npu.0/reset"
#define DEVICE		"dev=npu_sim.npu.0 "

#define CODE_VA	TEST_VA
#define DATA_VA	(TEST_VA + 0x10000)

FIXTURE(trace)
{
	int fd;
	uint32_t queue;
	uint8_t *code;
	struct drm_npu_job copy;
	char text[65536];
};

FIXTURE_SETUP(trace)
{
	mount("tracefs", TRACEFS, "tracefs", 0, NULL);
	mount("debugfs", DEBUGFS, "debugfs", 0, NULL);
	self->fd = test_open(0);
	ASSERT_GE(self->fd, 0);
	ASSERT_EQ(0, test_queue_create(self->fd, 1, 0, &self->queue));
	self->code = test_buffer(self->fd, CODE_VA, TEST_PAGE, TEST_RWX, NULL);
	ASSERT_NE(MAP_FAILED, self->code);
	ASSERT_NE(MAP_FAILED, test_buffer(self->fd, DATA_VA, 2 * TEST_PAGE, TEST_RW, NULL));
	self->copy = (struct drm_npu_job) { .insn_va = CODE_VA };
	self->copy.insn_count = test_copy_program(self->code, DATA_VA, DATA_VA + TEST_PAGE, 4);
	ASSERT_EQ(0, mkdir(INSTANCE, 0700));
	ASSERT_EQ(0, test_write_file(INSTANCE "/events/npu/enable", "1"));
}

FIXTURE_TEARDOWN(trace)
{
	close(self->fd);
	rmdir(INSTANCE);
}

/* The arguments of the last event of the name; an empty string if there is none. */
static const char *event(char *text, size_t size, const char *name)
{
	char head[64], *at, *found = "";

	if (test_read_file(INSTANCE "/trace", text, size) < 0)
		return "";
	snprintf(head, sizeof(head), " %s: " DEVICE, name);
	for (at = text; (at = strstr(at, head)); at++)
		found = at + strlen(head);
	if (*found)
		found[strcspn(found, "\n")] = 0;
	return found;
}

static unsigned long long number(const char *text, const char *key)
{
	const char *at = strstr(text, key);

	return at ? strtoull(at + strlen(key), NULL, 0) : ~0ull;
}

TEST_F(trace, follows_a_job)
{
	struct drm_npu_queue_query query;
	unsigned long long cmd_id;
	const char *at;

	ASSERT_EQ(0, test_run(self->fd, self->queue, &self->copy));
	ASSERT_EQ(0, test_queue_query(self->fd, self->queue, &query));

	at = event(self->text, sizeof(self->text), "npu_submit");
	EXPECT_EQ(1, number(at, "first="));
	EXPECT_EQ(1, number(at, "count="));
	EXPECT_NE(NULL, strstr(at, "fence="));
	at = event(self->text, sizeof(self->text), "npu_run");
	EXPECT_EQ(1, number(at, "job="));
	EXPECT_EQ(CODE_VA, number(at, "insn="));
	cmd_id = number(at, "cmd_id=");
	EXPECT_NE(~0ull, cmd_id);
	at = event(self->text, sizeof(self->text), "npu_complete");
	EXPECT_EQ(1, number(at, "job="));
	EXPECT_NE(NULL, strstr(at, "status=ok "));
	EXPECT_EQ(query.cycles, number(at, "cycles="));
	EXPECT_EQ(self->copy.insn_count, number(at, "insn="));
	/* The instructions, and 4 elements of 64 bytes; 16 bytes each go back. */
	EXPECT_EQ(self->copy.insn_count * NPU_INSN_BYTES + 4 * 64, number(at, "read="));
	EXPECT_EQ(4 * 16, number(at, "written="));
	EXPECT_STREQ("", event(self->text, sizeof(self->text), "npu_fault"));
}

TEST_F(trace, numbers_jobs_of_a_batch)
{
	struct drm_npu_job jobs[5] = { self->copy, self->copy, self->copy, self->copy, self->copy };
	uint32_t sync;

	ASSERT_EQ(0, test_run(self->fd, self->queue, &self->copy));
	ASSERT_EQ(0, test_syncobj_create(self->fd, &sync));
	ASSERT_EQ(0, test_submit(self->fd, self->queue, jobs, 5, sync));
	ASSERT_EQ(0, test_syncobj_status(self->fd, sync));
	EXPECT_EQ(2, number(event(self->text, sizeof(self->text), "npu_submit"), "first="));
	EXPECT_EQ(6, number(event(self->text, sizeof(self->text), "npu_run"), "job="));
	EXPECT_EQ(6, number(event(self->text, sizeof(self->text), "npu_complete"), "job="));
}

TEST_F(trace, tells_a_fault)
{
	struct drm_npu_queue_query query;
	const char *at;

	ASSERT_EQ(0, test_unbind(self->fd, DATA_VA, 2 * TEST_PAGE));
	ASSERT_EQ(-EFAULT, test_run(self->fd, self->queue, &self->copy));
	ASSERT_EQ(0, test_queue_query(self->fd, self->queue, &query));
	at = event(self->text, sizeof(self->text), "npu_fault");
	EXPECT_EQ(1, number(at, "job="));
	EXPECT_NE(NULL, strstr(at, "code=unmapped unit=compute access=read "));
	EXPECT_EQ(query.fault_va, number(at, "va="));
	EXPECT_EQ(query.fault_insn, number(at, "insn="));
	at = event(self->text, sizeof(self->text), "npu_complete");
	EXPECT_NE(NULL, strstr(at, "status=fault "));
}

TEST_F(trace, tells_a_reset)
{
	struct drm_npu_query_device info;
	struct drm_npu_job spin = { .insn_va = CODE_VA };
	unsigned long long resets;
	uint32_t sync;
	const char *at;

	spin.insn_count = test_spin_program(self->code);
	ASSERT_EQ(0, test_syncobj_create(self->fd, &sync));
	ASSERT_EQ(0, test_submit(self->fd, self->queue, &spin, 1, sync));
	test_wait_until_it_runs(self->fd);
	ASSERT_EQ(0, test_write_file(DEBUGFS_RESET, "1"));
	ASSERT_EQ(0, test_query_device(self->fd, &info));
	at = event(self->text, sizeof(self->text), "npu_reset");
	resets = number(at, "resets=");
	EXPECT_EQ(0, number(at, "guilty="));
	at = event(self->text, sizeof(self->text), "npu_reset_done");
	EXPECT_EQ(info.resets, number(at, "resets="));
	EXPECT_EQ(resets + 1, info.resets);
	EXPECT_EQ(0, number(at, "error="));
	/* What the reset took has an end, too. */
	EXPECT_EQ(-ECANCELED, test_syncobj_status(self->fd, sync));
	at = event(self->text, sizeof(self->text), "npu_complete");
	EXPECT_EQ(1, number(at, "job="));
	EXPECT_NE(NULL, strstr(at, "status=canceled "));
}

TEST_HARNESS_MAIN
