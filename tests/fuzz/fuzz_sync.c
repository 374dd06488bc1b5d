// SPDX-License-Identifier: GPL-2.0-only
/* Operations on syncobjs, dma-bufs and sync_files. */
#include <linux/dma-buf.h>

#include "tests/fuzz/fuzz.h"
#include "tests/kselftest/npu_test.h"

static struct fuzz_file *any_file(struct fuzz_thread *thread)
{
	return &thread->process->files[fuzz_below(thread, FUZZ_FILES)];
}

static uint32_t *any_sync(struct fuzz_thread *thread, struct fuzz_file *file)
{
	return &file->syncs[fuzz_below(thread, FUZZ_SYNCS)];
}

static int *any_fd(struct fuzz_thread *thread)
{
	return &thread->process->fds[fuzz_below(thread, FUZZ_FDS)];
}

/* Whoever takes a number out of the table closes it, and nobody else. */
int fuzz_close_fd(struct fuzz_thread *thread)
{
	int fd = __atomic_exchange_n(any_fd(thread), -1, __ATOMIC_RELAXED);

	return fd < 0 ? -EBADF : close(fd) ? -errno : 0;
}

void fuzz_keep_fd(struct fuzz_thread *thread, int fd)
{
	int old = __atomic_exchange_n(any_fd(thread), fd, __ATOMIC_RELAXED);

	if (old >= 0)
		close(old);
}

static int sync_wait(struct fuzz_thread *thread, struct fuzz_file *file)
{
	uint32_t handles[2] = { *any_sync(thread, file), *any_sync(thread, file) };
	uint64_t points[2] = { fuzz_below(thread, 4), fuzz_below(thread, 4) };
	struct drm_syncobj_timeline_wait wait = {
		.handles = PTR(handles),
		.points = PTR(points),
		.count_handles = 1 + fuzz_below(thread, 2),
		.timeout_nsec = test_now_ns() + fuzz_below(thread, 3000000),
		.flags = fuzz_below(thread, 8),
	};

	fuzz_mutate(thread, &wait, sizeof(wait));
	/* DRM itself warns of an array that is too large for it. */
	wait.count_handles %= 3;
	wait.timeout_nsec = test_now_ns() + 3000000;
	return test_ioctl(file->fd, DRM_IOCTL_SYNCOBJ_TIMELINE_WAIT, &wait);
}

static int sync_transfer(struct fuzz_thread *thread, struct fuzz_file *file)
{
	struct drm_syncobj_transfer transfer = {
		.src_handle = *any_sync(thread, file),
		.dst_handle = *any_sync(thread, file),
		.src_point = fuzz_below(thread, 4),
		.dst_point = fuzz_below(thread, 8),
	};

	return test_ioctl(file->fd, DRM_IOCTL_SYNCOBJ_TRANSFER, &transfer);
}

static int sync_signal(struct fuzz_thread *thread, struct fuzz_file *file)
{
	uint32_t handle = *any_sync(thread, file);
	uint64_t point = fuzz_below(thread, 8);
	struct drm_syncobj_timeline_array timeline = {
		.handles = PTR(&handle), .points = PTR(&point), .count_handles = 1,
	};
	struct drm_syncobj_array array = { .handles = PTR(&handle), .count_handles = 1 };

	if (fuzz_one_in(thread, 3))
		return test_ioctl(file->fd, DRM_IOCTL_SYNCOBJ_RESET, &array);
	return test_ioctl(file->fd, DRM_IOCTL_SYNCOBJ_TIMELINE_SIGNAL, &timeline);
}

static int sync_export(struct fuzz_thread *thread, struct fuzz_file *file)
{
	struct drm_syncobj_handle args = {
		.handle = *any_sync(thread, file),
		.flags = fuzz_below(thread, 2),
	};
	int ret;

	ret = test_ioctl(file->fd, DRM_IOCTL_SYNCOBJ_HANDLE_TO_FD, &args);
	if (!ret)
		fuzz_keep_fd(thread, args.fd);
	return ret;
}

static int sync_import(struct fuzz_thread *thread, struct fuzz_file *file)
{
	struct drm_syncobj_handle args = {
		.handle = *any_sync(thread, file),
		.fd = *any_fd(thread),
		.flags = fuzz_below(thread, 2),
	};
	int ret;

	ret = test_ioctl(file->fd, DRM_IOCTL_SYNCOBJ_FD_TO_HANDLE, &args);
	if (!ret && !args.flags)
		*any_sync(thread, file) = args.handle;
	return ret;
}

int fuzz_syncobj(struct fuzz_thread *thread)
{
	struct fuzz_file *file = any_file(thread);
	uint32_t *sync = any_sync(thread, file);

	switch (fuzz_below(thread, 8)) {
	case 0:
		return test_syncobj_create(file->fd, sync);
	case 1:
		test_syncobj_destroy(file->fd, *sync);
		return 0;
	case 2:
	case 3:
		return sync_wait(thread, file);
	case 4:
		return sync_transfer(thread, file);
	case 5:
		return sync_signal(thread, file);
	case 6:
		return sync_export(thread, file);
	default:
		return sync_import(thread, file);
	}
}

static int prime_export(struct fuzz_thread *thread, struct fuzz_file *file)
{
	struct drm_prime_handle prime = {
		.handle = file->handles[fuzz_below(thread, FUZZ_HANDLES)],
		.flags = DRM_CLOEXEC | (fuzz_one_in(thread, 2) ? DRM_RDWR : 0),
	};
	int ret;

	ret = test_ioctl(file->fd, DRM_IOCTL_PRIME_HANDLE_TO_FD, &prime);
	if (!ret)
		fuzz_keep_fd(thread, prime.fd);
	return ret;
}

static int prime_import(struct fuzz_thread *thread, struct fuzz_file *file)
{
	struct drm_prime_handle prime = { .fd = *any_fd(thread) };
	int ret;

	ret = test_ioctl(file->fd, DRM_IOCTL_PRIME_FD_TO_HANDLE, &prime);
	if (!ret)
		file->handles[fuzz_below(thread, FUZZ_HANDLES)] = prime.handle;
	return ret;
}

static int prime_access(struct fuzz_thread *thread)
{
	struct dma_buf_sync sync = { .flags = fuzz_below(thread, 8) };

	return test_ioctl(*any_fd(thread), DMA_BUF_IOCTL_SYNC, &sync);
}

int fuzz_prime(struct fuzz_thread *thread)
{
	struct fuzz_file *file = any_file(thread);

	switch (fuzz_below(thread, 5)) {
	case 0:
	case 1:
		return prime_export(thread, file);
	case 2:
		return prime_access(thread);
	default:
		return prime_import(thread, file);
	}
}

int fuzz_udmabuf(struct fuzz_thread *thread)
{
	uint64_t size = (1 + fuzz_below(thread, 8)) * TEST_PAGE;
	uint8_t *data = MAP_FAILED;
	int fd = test_udmabuf(size, &data);

	if (data != MAP_FAILED)
		munmap(data, size);
	if (fd >= 0)
		fuzz_keep_fd(thread, fd);
	return fd < 0 ? -ENODEV : 0;
}
