// SPDX-License-Identifier: GPL-2.0-only
/* What debugfs shows of queues, rings, page tables and the firmware. */
#include <signal.h>
#include <sys/mount.h>
#include <sys/wait.h>

#include "tests/kselftest/npu_harness.h"

#define DRIVER	"/sys/bus/auxiliary/drivers/npu/"
#define DEVICE	"npu_sim.npu.0"
#define DEBUGFS	"/sys/kernel/debug"
#define FOLDER	DEBUGFS "/accel/" DEVICE "/"
#define CODE_VA	TEST_VA
#define DATA_VA	(TEST_VA + 0x10000)

FIXTURE(debugfs)
{
	int fd;
	uint32_t queue;
	uint8_t *code;
	struct drm_npu_job copy;
	char text[262144];
};

FIXTURE_SETUP(debugfs)
{
	mount("debugfs", DEBUGFS, "debugfs", 0, NULL);
	self->fd = test_open(0);
	ASSERT_GE(self->fd, 0);
	ASSERT_EQ(0, test_queue_create(self->fd, 1, 0, &self->queue));
	self->code = test_buffer(self->fd, CODE_VA, TEST_PAGE, TEST_RWX, NULL);
	ASSERT_NE(MAP_FAILED, self->code);
	self->copy = (struct drm_npu_job) { .insn_va = CODE_VA };
	self->copy.insn_count = test_copy_program(self->code, DATA_VA, DATA_VA + TEST_PAGE, 4);
}

FIXTURE_TEARDOWN(debugfs)
{
	close(self->fd);
}

TEST_F(debugfs, rings_show_jobs_under_way)
{
	struct drm_npu_job spin = { .insn_va = CODE_VA };

	ASSERT_LT(0, test_read_file(FOLDER "npu_rings", self->text, sizeof(self->text)));
	EXPECT_NE(NULL, strstr(self->text, "admin: tail "));
	EXPECT_NE(NULL, strstr(self->text, "\ncq 1: "));
	EXPECT_NE(NULL, strstr(self->text, "\nqueue 1: "));
	EXPECT_EQ(NULL, strstr(self->text, "job 1 "));
	spin.insn_count = test_spin_program(self->code);
	ASSERT_EQ(0, test_submit(self->fd, self->queue, &spin, 1, 0));
	test_wait_until_it_runs(self->fd);
	ASSERT_LT(0, test_read_file(FOLDER "npu_rings", self->text, sizeof(self->text)));
	EXPECT_NE(NULL, strstr(self->text, " under way 1 of "));
	EXPECT_NE(NULL, strstr(self->text, "entry 0: job 1 cmd_id "));
	EXPECT_NE(NULL, strstr(self->text, " insn 0x100000 + 2\n"));
}

TEST_F(debugfs, tables_show_what_is_mapped)
{
	uint32_t handle;

	ASSERT_EQ(0, test_bo_create(self->fd, 16 * TEST_PAGE, &handle));
	ASSERT_EQ(0, test_bind(self->fd, handle, DATA_VA, 0, 16 * TEST_PAGE, TEST_RW));
	ASSERT_LT(0, test_read_file(FOLDER "npu_vm", self->text, sizeof(self->text)));
	EXPECT_NE(NULL, strstr(self->text, "client "));
	EXPECT_NE(NULL, strstr(self->text, "  0x0000100000 - 0x0000101000 -> 0x"));
	EXPECT_NE(NULL, strstr(self->text, " rwx\n"));
	EXPECT_NE(NULL, strstr(self->text, "  0x0000110000 - 0x"));
	EXPECT_NE(NULL, strstr(self->text, " rw-\n"));
	ASSERT_EQ(0, test_unbind(self->fd, DATA_VA, 16 * TEST_PAGE));
	ASSERT_LT(0, test_read_file(FOLDER "npu_vm", self->text, sizeof(self->text)));
	EXPECT_EQ(NULL, strstr(self->text, "  0x0000110000 - 0x"));
}

/* One page, again and again, so that no two extents can be one. */
TEST_F(debugfs, tables_are_bounded)
{
	uint32_t handle, i;
	const char *at;
	int lines = 0;

	ASSERT_EQ(0, test_bo_create(self->fd, TEST_PAGE, &handle));
	for (i = 0; i < 5000; i++)
		ASSERT_EQ(0, test_bind(self->fd, handle, DATA_VA + i * TEST_PAGE, 0, TEST_PAGE,
				       TEST_RW));
	ASSERT_LT(0, test_read_file(FOLDER "npu_vm", self->text, sizeof(self->text)));
	for (at = self->text; (at = strstr(at, " -> 0x")); at++)
		lines++;
	EXPECT_EQ(4096, lines);
	EXPECT_NE(NULL, strstr(self->text, "\n  ...\n"));
}

TEST_F(debugfs, firmware_log_tells_of_faults)
{
	ASSERT_EQ(-EFAULT, test_run(self->fd, self->queue, &self->copy));
	ASSERT_LT(0, test_read_file(FOLDER "npu_firmware_log", self->text, sizeof(self->text)));
	EXPECT_NE(NULL, strstr(self->text, " queue_create: ok"));
	EXPECT_NE(NULL, strstr(self->text, ": fault, va 0x110000\n"));
}

TEST_F(debugfs, readers_meet_an_unbind)
{
	static const char *const files[] = { "npu_state", "npu_rings", "npu_vm",
					     "npu_firmware_log" };
	struct drm_npu_job spin = { .insn_va = CODE_VA };
	char path[128];
	int round, status;
	unsigned int i;
	pid_t pid;

	spin.insn_count = test_spin_program(self->code);
	ASSERT_EQ(0, test_submit(self->fd, self->queue, &spin, 1, 0));
	pid = fork();
	if (!pid)
		for (i = 0;; i++) {
			snprintf(path, sizeof(path), FOLDER "%s", files[i % 4]);
			test_read_file(path, self->text, sizeof(self->text));
		}
	for (round = 0; round < 5; round++) {
		ASSERT_EQ(0, test_write_file(DRIVER "unbind", DEVICE));
		ASSERT_EQ(0, test_write_file(DRIVER "bind", DEVICE));
	}
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	EXPECT_LT(0, test_read_file(FOLDER "npu_rings", self->text, sizeof(self->text)));
}

TEST_HARNESS_MAIN
