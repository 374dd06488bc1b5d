// SPDX-License-Identifier: GPL-2.0-only
/*
 * One open file in several processes, after fork() or sent over a socket: it is one
 * client, whoever calls. Descriptors of buffers and fences sent to other clients.
 */
#include <sys/socket.h>
#include <sys/wait.h>

#include "tests/kselftest/npu_harness.h"

#define CODE_VA	TEST_VA
#define DATA_VA	(TEST_VA + 0x10000)

FIXTURE(fd)
{
	int fd;
	uint32_t queue;
	uint32_t sync;
	uint32_t handle;
	uint8_t *code;
	uint8_t *data;
	int pair[2];
};

FIXTURE_SETUP(fd)
{
	self->fd = test_open(0);
	ASSERT_GE(self->fd, 0);
	ASSERT_EQ(0, test_queue_create(self->fd, 1, 0, &self->queue));
	ASSERT_EQ(0, test_syncobj_create(self->fd, &self->sync));
	self->code = test_buffer(self->fd, CODE_VA, TEST_PAGE, TEST_RWX, NULL);
	ASSERT_NE(MAP_FAILED, self->code);
	self->data = test_buffer(self->fd, DATA_VA, 2 * TEST_PAGE, TEST_RW, &self->handle);
	ASSERT_NE(MAP_FAILED, self->data);
	ASSERT_EQ(0, socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, self->pair));
}

FIXTURE_TEARDOWN(fd)
{
	close(self->pair[0]);
	close(self->pair[1]);
	close(self->fd);
}

static int send_fd(int socket, int fd)
{
	char control[CMSG_SPACE(sizeof(fd))] __attribute__((aligned(8))) = {};
	char byte = 'x';
	struct iovec iov = { .iov_base = &byte, .iov_len = 1 };
	struct msghdr message = {
		.msg_iov = &iov, .msg_iovlen = 1,
		.msg_control = control, .msg_controllen = sizeof(control),
	};
	struct cmsghdr *header = CMSG_FIRSTHDR(&message);

	header->cmsg_level = SOL_SOCKET;
	header->cmsg_type = SCM_RIGHTS;
	header->cmsg_len = CMSG_LEN(sizeof(fd));
	memcpy(CMSG_DATA(header), &fd, sizeof(fd));
	return sendmsg(socket, &message, 0) == 1 ? 0 : -errno;
}

static int receive_fd(int socket)
{
	char control[CMSG_SPACE(sizeof(int))] __attribute__((aligned(8)));
	char byte;
	struct iovec iov = { .iov_base = &byte, .iov_len = 1 };
	struct msghdr message = {
		.msg_iov = &iov, .msg_iovlen = 1,
		.msg_control = control, .msg_controllen = sizeof(control),
	};
	int fd;

	if (recvmsg(socket, &message, MSG_CMSG_CLOEXEC) != 1 || !CMSG_FIRSTHDR(&message))
		return -EIO;
	memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof(fd));
	return fd;
}

static int wait_for(pid_t pid)
{
	int status;

	if (waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
		return -1;
	return WEXITSTATUS(status);
}

static int copy(int fd, uint32_t queue, uint8_t *code)
{
	struct drm_npu_job job = { .insn_va = CODE_VA };

	job.insn_count = test_copy_program(code, DATA_VA, DATA_VA + TEST_PAGE, 4);
	return test_run(fd, queue, &job);
}

TEST_F(fd, child_uses_the_client_of_its_parent)
{
	struct drm_npu_queue_query query;
	pid_t pid = fork();

	ASSERT_GE(pid, 0);
	if (!pid) {
		/* Mappings of buffers are inherited, and are the same memory. */
		memset(self->data, 0x17, TEST_PAGE);
		_exit(copy(self->fd, self->queue, self->code) ? 1 : 0);
	}
	ASSERT_EQ(0, wait_for(pid));
	EXPECT_EQ(0x17, self->data[TEST_PAGE]);
	ASSERT_EQ(0, test_queue_query(self->fd, self->queue, &query));
	EXPECT_EQ(1, query.jobs_done);
	/* The end of the child ended nothing. */
	memset(self->data, 0x18, TEST_PAGE);
	EXPECT_EQ(0, copy(self->fd, self->queue, self->code));
	EXPECT_EQ(0x18, self->data[TEST_PAGE]);
}

TEST_F(fd, what_the_child_makes_is_the_parents_too)
{
	struct drm_npu_queue_query query;
	uint32_t made[2];
	pid_t pid = fork();

	ASSERT_GE(pid, 0);
	if (!pid) {
		if (test_queue_create(self->fd, 0, 0, &made[0]) ||
		    test_bo_create(self->fd, TEST_PAGE, &made[1]) ||
		    write(self->pair[0], made, sizeof(made)) != sizeof(made))
			_exit(1);
		_exit(0);
	}
	ASSERT_EQ(0, wait_for(pid));
	ASSERT_EQ(sizeof(made), read(self->pair[1], made, sizeof(made)));
	EXPECT_EQ(0, test_queue_query(self->fd, made[0], &query));
	EXPECT_EQ(0, test_bind(self->fd, made[1], DATA_VA + 0x10000, 0, TEST_PAGE, TEST_RW));
}

TEST_F(fd, client_lives_as_long_as_a_process_has_it)
{
	pid_t pid = fork();
	char byte;

	ASSERT_GE(pid, 0);
	if (!pid) {
		/* Until the parent has closed its own. */
		if (read(self->pair[1], &byte, 1) != 1)
			_exit(1);
		memset(self->data, 0x19, TEST_PAGE);
		if (copy(self->fd, self->queue, self->code))
			_exit(2);
		_exit(self->data[TEST_PAGE] == 0x19 ? 0 : 3);
	}
	munmap(self->code, TEST_PAGE);
	munmap(self->data, 2 * TEST_PAGE);
	close(self->fd);
	ASSERT_EQ(1, write(self->pair[0], "x", 1));
	EXPECT_EQ(0, wait_for(pid));
	self->fd = -1;
}

TEST_F(fd, parent_and_child_submit_at_once)
{
	struct drm_npu_job jobs[8] = {};
	struct drm_npu_queue_query query;
	pid_t pids[3];
	uint32_t i, k;

	for (i = 0; i < 3; i++) {
		pids[i] = fork();
		ASSERT_GE(pids[i], 0);
		if (pids[i])
			continue;
		for (k = 0; k < 50; k++)
			if (test_submit(self->fd, self->queue, jobs, 8, 0))
				_exit(1);
		_exit(0);
	}
	for (k = 0; k < 50; k++)
		ASSERT_EQ(0, test_submit(self->fd, self->queue, jobs, 8, 0));
	for (i = 0; i < 3; i++)
		EXPECT_EQ(0, wait_for(pids[i]));
	ASSERT_EQ(0, test_run(self->fd, self->queue, jobs));
	ASSERT_EQ(0, test_queue_query(self->fd, self->queue, &query));
	EXPECT_EQ(4 * 50 * 8 + 1, query.jobs_submitted);
	EXPECT_EQ(4 * 50 * 8 + 1, query.jobs_done);
	EXPECT_EQ(0, query.jobs_failed);
}

/* Rights are those of who calls, not of who has opened. */
TEST_F(fd, rights_are_the_callers)
{
	uint32_t queue;
	pid_t pid = fork();

	ASSERT_GE(pid, 0);
	if (!pid)
		_exit(test_drop_capabilities() || test_queue_create(self->fd, 3, 0, &queue) != -EACCES);
	EXPECT_EQ(0, wait_for(pid));
	EXPECT_EQ(0, test_queue_create(self->fd, 3, 0, &queue));
}

TEST_F(fd, exec_closes_what_says_so)
{
	char script[128];
	int kept = dup(self->fd);
	pid_t pid = fork();

	ASSERT_GE(pid, 0);
	if (!pid) {
		/* The duplicate has no FD_CLOEXEC, the first one has. */
		snprintf(script, sizeof(script),
			 "[ -e /proc/self/fd/%d ] && ! [ -e /proc/self/fd/%d ]", kept, self->fd);
		execl("/bin/sh", "sh", "-c", script, NULL);
		_exit(127);
	}
	EXPECT_EQ(0, wait_for(pid));
	close(kept);
}

TEST_F(fd, node_is_sent_over_a_socket)
{
	pid_t pid = fork();

	ASSERT_GE(pid, 0);
	if (!pid) {
		int fd = receive_fd(self->pair[1]);

		close(self->fd);
		memset(self->data, 0x27, TEST_PAGE);
		_exit(fd < 0 || copy(fd, self->queue, self->code));
	}
	ASSERT_EQ(0, send_fd(self->pair[0], self->fd));
	EXPECT_EQ(0, wait_for(pid));
	EXPECT_EQ(0x27, self->data[TEST_PAGE]);
}

/* A client that is in a socket alone ends with it. */
TEST_F(fd, node_that_nobody_receives_is_closed)
{
	struct drm_npu_query_device info;
	uint32_t id, i, round;
	int pair[2], fd;

	ASSERT_EQ(0, test_query_device(self->fd, &info));
	for (round = 0; round < 3; round++) {
		ASSERT_EQ(0, socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair));
		fd = test_open(0);
		ASSERT_GE(fd, 0);
		/* All that are left. */
		for (i = 1; i < info.queue_slots; i++)
			ASSERT_EQ(0, test_queue_create(fd, 0, 0, &id));
		ASSERT_EQ(0, send_fd(pair[0], fd));
		close(fd);
		EXPECT_EQ(-ENOSPC, test_queue_create(self->fd, 0, 0, &id));
		close(pair[0]);
		close(pair[1]);
	}
	EXPECT_EQ(0, test_queue_create(self->fd, 0, 0, &id));
}

static int export_buffer(int fd, uint32_t handle)
{
	struct drm_prime_handle prime = { .handle = handle, .flags = DRM_CLOEXEC | DRM_RDWR };
	int ret = test_ioctl(fd, DRM_IOCTL_PRIME_HANDLE_TO_FD, &prime);

	return ret ?: prime.fd;
}

/* Another process with a client of its own takes a buffer and a syncobj. */
static int stranger(int socket)
{
	struct drm_syncobj_handle import = {};
	struct drm_prime_handle prime = {};
	struct drm_npu_job job = { .insn_va = CODE_VA };
	int fd = test_open(0);
	uint32_t queue;
	uint8_t *code;

	if (fd < 0 || test_queue_create(fd, 1, 0, &queue))
		return 1;
	prime.fd = receive_fd(socket);
	import.fd = receive_fd(socket);
	if (test_ioctl(fd, DRM_IOCTL_PRIME_FD_TO_HANDLE, &prime) ||
	    test_ioctl(fd, DRM_IOCTL_SYNCOBJ_FD_TO_HANDLE, &import))
		return 2;
	code = test_buffer(fd, CODE_VA, TEST_PAGE, TEST_RWX, NULL);
	if (code == MAP_FAILED || test_bind(fd, prime.handle, DATA_VA, 0, 2 * TEST_PAGE, TEST_RW))
		return 3;
	job.insn_count = test_copy_program(code, DATA_VA, DATA_VA + TEST_PAGE, 4);
	if (test_submit(fd, queue, &job, 1, import.handle))
		return 4;
	/* Before it goes, so that the job is not aborted. */
	return test_syncobj_wait(fd, import.handle, 0, TEST_WAIT_MS) ? 5 : 0;
}

TEST_F(fd, buffer_and_syncobj_are_sent_over_a_socket)
{
	struct drm_syncobj_handle export = { .handle = self->sync };
	int dmabuf = export_buffer(self->fd, self->handle);
	pid_t pid;

	ASSERT_GE(dmabuf, 0);
	ASSERT_EQ(0, test_ioctl(self->fd, DRM_IOCTL_SYNCOBJ_HANDLE_TO_FD, &export));
	pid = fork();
	ASSERT_GE(pid, 0);
	if (!pid)
		_exit(stranger(self->pair[1]));
	memset(self->data, 0x37, TEST_PAGE);
	ASSERT_EQ(0, send_fd(self->pair[0], dmabuf));
	ASSERT_EQ(0, send_fd(self->pair[0], export.fd));
	ASSERT_EQ(0, wait_for(pid));
	/* The syncobj is one: the other client's job has signalled it here. */
	EXPECT_EQ(0, test_syncobj_status(self->fd, self->sync));
	EXPECT_EQ(0x37, self->data[TEST_PAGE]);
	close(dmabuf);
	close(export.fd);
}

TEST_HARNESS_MAIN
