// SPDX-License-Identifier: GPL-2.0-only
/* Clients that go in the middle of things. */
#include <signal.h>
#include <sys/wait.h>

#include "tests/kselftest/npu_harness.h"

#define CODE_VA	TEST_VA
#define DATA_VA	(TEST_VA + 0x10000)

/* A client whose queue is busy for ever and has more waiting. */
static int busy_client(void)
{
	struct drm_npu_job jobs[40];
	uint32_t queue, i;
	uint8_t *code;
	int fd = test_open(0);

	if (fd < 0 || test_queue_create(fd, 1, 0, &queue))
		return -1;
	code = test_buffer(fd, CODE_VA, TEST_PAGE, TEST_RWX, NULL);
	if (code == MAP_FAILED)
		return -1;
	jobs[0] = (struct drm_npu_job) { .insn_va = CODE_VA };
	jobs[0].insn_count = test_spin_program(code);
	/* A mapping would keep the file open. */
	munmap(code, TEST_PAGE);
	for (i = 1; i < 40; i++)
		jobs[i] = jobs[0];
	for (i = 0; i < 5; i++)
		if (test_submit(fd, queue, jobs, 40, 0))
			return -1;
	return fd;
}

static int idle_client_runs(void)
{
	struct drm_npu_job job = { .insn_va = CODE_VA };
	uint32_t queue;
	uint8_t *code, *data;
	int fd = test_open(0);
	int ret = -1;

	if (fd < 0)
		return fd;
	code = test_buffer(fd, CODE_VA, TEST_PAGE, TEST_RWX, NULL);
	data = test_buffer(fd, DATA_VA, 2 * TEST_PAGE, TEST_RW, NULL);
	if (code != MAP_FAILED && data != MAP_FAILED && !test_queue_create(fd, 1, 0, &queue)) {
		job.insn_count = test_copy_program(code, DATA_VA, DATA_VA + TEST_PAGE, 4);
		ret = test_run(fd, queue, &job);
		munmap(code, TEST_PAGE);
		munmap(data, 2 * TEST_PAGE);
	}
	close(fd);
	return ret;
}

TEST(close_with_running_jobs)
{
	int round, fd;

	for (round = 0; round < 10; round++) {
		fd = busy_client();
		ASSERT_GE(fd, 0);
		close(fd);
		ASSERT_EQ(0, idle_client_runs());
	}
}

TEST(kill_in_mid_job)
{
	int status, round;
	int ready[2];
	char byte;
	pid_t pid;

	for (round = 0; round < 10; round++) {
		ASSERT_EQ(0, pipe(ready));
		pid = fork();
		ASSERT_GE(pid, 0);
		if (!pid) {
			if (busy_client() < 0 || write(ready[1], "x", 1) != 1)
				_exit(1);
			for (;;)
				pause();
		}
		close(ready[1]);
		ASSERT_EQ(1, read(ready[0], &byte, 1));
		close(ready[0]);
		kill(pid, SIGKILL);
		ASSERT_EQ(pid, waitpid(pid, &status, 0));
		EXPECT_EQ(SIGKILL, WTERMSIG(status));
		ASSERT_EQ(0, idle_client_runs());
	}
}

TEST(kill_while_it_waits)
{
	struct drm_npu_job job = { .insn_va = CODE_VA };
	uint32_t queue, sync;
	uint8_t *code;
	int status, fd;
	pid_t pid = fork();

	ASSERT_GE(pid, 0);
	if (!pid) {
		fd = test_open(0);
		code = test_buffer(fd, CODE_VA, TEST_PAGE, TEST_RWX, NULL);
		if (code == MAP_FAILED || test_queue_create(fd, 1, 0, &queue) ||
		    test_syncobj_create(fd, &sync))
			_exit(1);
		job.insn_count = test_spin_program(code);
		alarm(1);
		signal(SIGALRM, SIG_DFL);
		test_submit(fd, queue, &job, 1, sync);
		test_syncobj_wait(fd, sync, 0, TEST_WAIT_MS);
		_exit(2);
	}
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(SIGALRM, WTERMSIG(status));
	EXPECT_EQ(0, idle_client_runs());
}

TEST(fence_outlives_its_client)
{
	struct drm_syncobj_handle export = {
		.flags = DRM_SYNCOBJ_HANDLE_TO_FD_FLAGS_EXPORT_SYNC_FILE,
	};
	struct drm_syncobj_handle import = {
		.flags = DRM_SYNCOBJ_FD_TO_HANDLE_FLAGS_IMPORT_SYNC_FILE,
	};
	struct drm_npu_job job = { .insn_va = CODE_VA };
	uint32_t queue, sync, other;
	uint8_t *code;
	int fd = test_open(0), watcher = test_open(0);

	ASSERT_GE(fd, 0);
	ASSERT_GE(watcher, 0);
	ASSERT_EQ(0, test_queue_create(fd, 1, 0, &queue));
	ASSERT_EQ(0, test_syncobj_create(fd, &sync));
	ASSERT_EQ(0, test_syncobj_create(watcher, &other));
	code = test_buffer(fd, CODE_VA, TEST_PAGE, TEST_RWX, NULL);
	ASSERT_NE(MAP_FAILED, code);
	job.insn_count = test_spin_program(code);
	munmap(code, TEST_PAGE);
	ASSERT_EQ(0, test_submit(fd, queue, &job, 1, sync));
	export.handle = sync;
	ASSERT_EQ(0, test_ioctl(fd, DRM_IOCTL_SYNCOBJ_HANDLE_TO_FD, &export));
	import.handle = other;
	import.fd = export.fd;
	ASSERT_EQ(0, test_ioctl(watcher, DRM_IOCTL_SYNCOBJ_FD_TO_HANDLE, &import));
	close(fd);
	EXPECT_EQ(-ECANCELED, test_syncobj_status(watcher, other));
	close(export.fd);
	close(watcher);
}

TEST(waiting_submissions_go_with_their_client)
{
	struct drm_npu_sync in = {};
	struct drm_npu_job job = {};
	struct drm_npu_submit submit = {
		.job_count = 1,
		.job_stride = sizeof(job),
		.jobs = PTR(&job),
		.in_sync_count = 1,
		.in_syncs = PTR(&in),
	};
	struct drm_syncobj_handle export = {};
	struct drm_syncobj_handle import = {};
	uint32_t blocker_sync, blocker_queue;
	struct drm_npu_job spin = { .insn_va = CODE_VA };
	int blocker = test_open(0), fd = test_open(0);
	uint8_t *code;

	ASSERT_GE(blocker, 0);
	ASSERT_GE(fd, 0);
	code = test_buffer(blocker, CODE_VA, TEST_PAGE, TEST_RWX, NULL);
	ASSERT_NE(MAP_FAILED, code);
	spin.insn_count = test_spin_program(code);
	munmap(code, TEST_PAGE);
	ASSERT_EQ(0, test_syncobj_create(blocker, &blocker_sync));
	ASSERT_EQ(0, test_queue_create(blocker, 1, 0, &blocker_queue));
	ASSERT_EQ(0, test_submit(blocker, blocker_queue, &spin, 1, blocker_sync));

	export.handle = blocker_sync;
	ASSERT_EQ(0, test_ioctl(blocker, DRM_IOCTL_SYNCOBJ_HANDLE_TO_FD, &export));
	import.fd = export.fd;
	ASSERT_EQ(0, test_ioctl(fd, DRM_IOCTL_SYNCOBJ_FD_TO_HANDLE, &import));
	close(export.fd);
	in.handle = import.handle;
	ASSERT_EQ(0, test_queue_create(fd, 1, 0, &submit.queue_id));
	ASSERT_EQ(0, test_ioctl(fd, DRM_IOCTL_NPU_SUBMIT, &submit));
	/* It still waits for the other client's job when its own client goes. */
	close(fd);
	close(blocker);
	EXPECT_EQ(0, idle_client_runs());
}

TEST_HARNESS_MAIN
