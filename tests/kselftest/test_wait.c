// SPDX-License-Identifier: GPL-2.0-only
/* Waiting: absolute timeouts, signals, poll; for buffers, syncobjs and files of both. */
#include <linux/dma-buf.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/time.h>

#include "tests/kselftest/npu_harness.h"

#define CODE_VA	TEST_VA
#define DATA_VA	(TEST_VA + 0x10000)
#define MS	1000000ll

/* Headers of libdrm may be older than the kernel. */
#ifndef DRM_IOCTL_SYNCOBJ_EVENTFD
#define DRM_IOCTL_SYNCOBJ_EVENTFD DRM_IOWR(0xcf, struct drm_syncobj_eventfd)

struct drm_syncobj_eventfd {
	uint32_t handle;
	uint32_t flags;
	uint64_t point;
	int32_t fd;
	uint32_t pad;
};
#endif

FIXTURE(wait)
{
	int fd;
	uint32_t queue;
	uint32_t sync;
	uint32_t handle;
	struct drm_npu_job spin;
};

FIXTURE_SETUP(wait)
{
	uint8_t *code;

	self->fd = test_open(0);
	ASSERT_GE(self->fd, 0);
	ASSERT_EQ(0, test_queue_create(self->fd, 1, 0, &self->queue));
	ASSERT_EQ(0, test_syncobj_create(self->fd, &self->sync));
	code = test_buffer(self->fd, CODE_VA, TEST_PAGE, TEST_RWX, NULL);
	ASSERT_NE(MAP_FAILED, code);
	ASSERT_NE(MAP_FAILED, test_buffer(self->fd, DATA_VA, TEST_PAGE, TEST_RW, &self->handle));
	self->spin = (struct drm_npu_job) { .insn_va = CODE_VA };
	self->spin.insn_count = test_spin_program(code);
}

FIXTURE_TEARDOWN(wait)
{
	close(self->fd);
}

static int wait_until(int fd, uint32_t handle, int64_t timeout_ns)
{
	struct drm_npu_bo_wait args = { .handle = handle, .timeout_ns = timeout_ns };

	return test_ioctl(fd, DRM_IOCTL_NPU_BO_WAIT, &args);
}

TEST_F(wait, timeout_is_absolute)
{
	int64_t deadline = test_now_ns() + 50 * MS;

	ASSERT_EQ(0, test_submit(self->fd, self->queue, &self->spin, 1, self->sync));
	EXPECT_EQ(-ETIME, wait_until(self->fd, self->handle, deadline));
	EXPECT_LE(deadline, test_now_ns());
	/* It has passed: no call waits for it again. */
	EXPECT_EQ(-ETIME, wait_until(self->fd, self->handle, deadline));
}

/* Whatever part of a jiffy is left. */
TEST_F(wait, is_never_too_short)
{
	int64_t deadline, step;

	ASSERT_EQ(0, test_submit(self->fd, self->queue, &self->spin, 1, self->sync));
	for (step = 1; step < 40; step++) {
		deadline = test_now_ns() + step * 370000;
		EXPECT_EQ(-ETIME, wait_until(self->fd, self->handle, deadline));
		EXPECT_LE(deadline, test_now_ns());
	}
}

TEST_F(wait, past_and_zero_poll)
{
	EXPECT_EQ(0, wait_until(self->fd, self->handle, 0));
	EXPECT_EQ(0, wait_until(self->fd, self->handle, 1));
	EXPECT_EQ(0, wait_until(self->fd, self->handle, -1));
	EXPECT_EQ(0, wait_until(self->fd, self->handle, INT64_MIN));
	ASSERT_EQ(0, test_submit(self->fd, self->queue, &self->spin, 1, self->sync));
	EXPECT_EQ(-ETIME, wait_until(self->fd, self->handle, 0));
	EXPECT_EQ(-ETIME, wait_until(self->fd, self->handle, 1));
	EXPECT_EQ(-ETIME, wait_until(self->fd, self->handle, -1));
	EXPECT_EQ(-ETIME, wait_until(self->fd, self->handle, INT64_MIN));
}

static void nothing(int number)
{
	(void)number;
}

TEST_F(wait, signals_do_not_shift_the_deadline)
{
	const struct sigaction action = { .sa_handler = nothing, .sa_flags = SA_RESTART };
	const struct itimerval often = { { 0, 2000 }, { 0, 2000 } }, never = {};
	int64_t deadline;

	ASSERT_EQ(0, test_submit(self->fd, self->queue, &self->spin, 1, self->sync));
	ASSERT_EQ(0, sigaction(SIGALRM, &action, NULL));
	ASSERT_EQ(0, setitimer(ITIMER_REAL, &often, NULL));
	deadline = test_now_ns() + 100 * MS;
	EXPECT_EQ(-ETIME, wait_until(self->fd, self->handle, deadline));
	EXPECT_LE(deadline, test_now_ns());
	ASSERT_EQ(0, setitimer(ITIMER_REAL, &never, NULL));
}

/**
 * struct waiter - a thread that waits for a buffer
 * @fd: open file
 * @handle: buffer
 * @ret: what came of it
 */
struct waiter {
	int fd;
	uint32_t handle;
	int ret;
};

static void *wait_for_ever(void *data)
{
	struct waiter *waiter = data;

	waiter->ret = wait_until(waiter->fd, waiter->handle, INT64_MAX);
	return NULL;
}

TEST_F(wait, end_of_the_job_wakes)
{
	struct waiter waiter = { .fd = self->fd, .handle = self->handle, .ret = 1 };
	pthread_t thread;

	ASSERT_EQ(0, test_submit(self->fd, self->queue, &self->spin, 1, self->sync));
	ASSERT_EQ(0, pthread_create(&thread, NULL, wait_for_ever, &waiter));
	usleep(20000);
	ASSERT_EQ(0, test_queue_destroy(self->fd, self->queue));
	ASSERT_EQ(0, pthread_join(thread, NULL));
	EXPECT_EQ(0, waiter.ret);
}

static short ready(int fd, short events)
{
	struct pollfd poller = { .fd = fd, .events = events };

	return poll(&poller, 1, 0) < 0 ? -1 : poller.revents;
}

static int wait_ready(int fd, short events)
{
	struct pollfd poller = { .fd = fd, .events = events };
	int ret = poll(&poller, 1, TEST_WAIT_MS);

	return ret == 1 ? poller.revents : -ETIME;
}

TEST_F(wait, sync_file_polls)
{
	struct drm_syncobj_handle export = {
		.handle = self->sync,
		.flags = DRM_SYNCOBJ_HANDLE_TO_FD_FLAGS_EXPORT_SYNC_FILE,
	};

	ASSERT_EQ(0, test_submit(self->fd, self->queue, &self->spin, 1, self->sync));
	ASSERT_EQ(0, test_ioctl(self->fd, DRM_IOCTL_SYNCOBJ_HANDLE_TO_FD, &export));
	EXPECT_EQ(0, ready(export.fd, POLLIN));
	ASSERT_EQ(0, test_queue_destroy(self->fd, self->queue));
	EXPECT_EQ(POLLIN, wait_ready(export.fd, POLLIN));
	close(export.fd);
}

/* POLLIN: nobody writes; POLLOUT: nobody uses it. */
TEST_F(wait, dma_buf_of_a_writer_polls)
{
	struct drm_prime_handle prime = { .handle = self->handle, .flags = DRM_CLOEXEC | DRM_RDWR };

	ASSERT_EQ(0, test_ioctl(self->fd, DRM_IOCTL_PRIME_HANDLE_TO_FD, &prime));
	EXPECT_EQ(POLLIN, ready(prime.fd, POLLIN));
	EXPECT_EQ(POLLOUT, ready(prime.fd, POLLOUT));
	ASSERT_EQ(0, test_submit(self->fd, self->queue, &self->spin, 1, self->sync));
	EXPECT_EQ(0, ready(prime.fd, POLLIN));
	EXPECT_EQ(0, ready(prime.fd, POLLOUT));
	ASSERT_EQ(0, test_queue_destroy(self->fd, self->queue));
	EXPECT_EQ(POLLIN, wait_ready(prime.fd, POLLIN));
	EXPECT_EQ(POLLOUT, wait_ready(prime.fd, POLLOUT));
	close(prime.fd);
}

TEST_F(wait, dma_buf_of_a_reader_polls)
{
	struct drm_prime_handle prime = { .handle = self->handle, .flags = DRM_CLOEXEC | DRM_RDWR };

	ASSERT_EQ(0, test_bind(self->fd, self->handle, DATA_VA, 0, TEST_PAGE, DRM_NPU_BIND_READ));
	ASSERT_EQ(0, test_ioctl(self->fd, DRM_IOCTL_PRIME_HANDLE_TO_FD, &prime));
	ASSERT_EQ(0, test_submit(self->fd, self->queue, &self->spin, 1, self->sync));
	EXPECT_EQ(POLLIN, ready(prime.fd, POLLIN));
	EXPECT_EQ(0, ready(prime.fd, POLLOUT));
	ASSERT_EQ(0, test_queue_destroy(self->fd, self->queue));
	EXPECT_EQ(POLLOUT, wait_ready(prime.fd, POLLOUT));
	close(prime.fd);
}

TEST_F(wait, fence_leaves_the_dma_buf)
{
	struct drm_prime_handle prime = { .handle = self->handle, .flags = DRM_CLOEXEC | DRM_RDWR };
	struct dma_buf_export_sync_file export = { .flags = DMA_BUF_SYNC_RW };

	ASSERT_EQ(0, test_ioctl(self->fd, DRM_IOCTL_PRIME_HANDLE_TO_FD, &prime));
	ASSERT_EQ(0, test_submit(self->fd, self->queue, &self->spin, 1, self->sync));
	ASSERT_EQ(0, test_ioctl(prime.fd, DMA_BUF_IOCTL_EXPORT_SYNC_FILE, &export));
	EXPECT_EQ(0, ready(export.fd, POLLIN));
	ASSERT_EQ(0, test_queue_destroy(self->fd, self->queue));
	EXPECT_EQ(-ECANCELED, test_sync_file_status(export.fd));
	close(export.fd);
	close(prime.fd);
}

TEST_F(wait, eventfd_of_a_point)
{
	struct drm_npu_sync out = { .handle = self->sync, .point = 7 };
	struct drm_npu_submit submit = {
		.queue_id = self->queue,
		.job_count = 1,
		.job_stride = sizeof(self->spin),
		.jobs = PTR(&self->spin),
		.out_sync_count = 1,
		.out_syncs = PTR(&out),
	};
	struct drm_syncobj_eventfd event = {
		.handle = self->sync, .point = 7, .fd = eventfd(0, EFD_CLOEXEC),
	};

	/* Asked for before anything was submitted that would signal it. */
	ASSERT_EQ(0, test_ioctl(self->fd, DRM_IOCTL_SYNCOBJ_EVENTFD, &event));
	ASSERT_EQ(0, test_ioctl(self->fd, DRM_IOCTL_NPU_SUBMIT, &submit));
	EXPECT_EQ(0, ready(event.fd, POLLIN));
	ASSERT_EQ(0, test_queue_destroy(self->fd, self->queue));
	EXPECT_EQ(POLLIN, wait_ready(event.fd, POLLIN));
	close(event.fd);
}

TEST_F(wait, node_itself_has_no_events)
{
	EXPECT_EQ(0, ready(self->fd, POLLIN | POLLPRI));
	ASSERT_EQ(0, test_submit(self->fd, self->queue, &self->spin, 1, self->sync));
	EXPECT_EQ(0, ready(self->fd, POLLIN | POLLPRI));
}

TEST_HARNESS_MAIN
