// SPDX-License-Identifier: MIT
/* Memory that host and device share. */
#include <errno.h>
#include <stdlib.h>
#include "userspace/libnpu/device.h"

#define PAGE		4096u
#define HUGE		(2u << 20)
#define ALL_FLAGS	(NPU_BUFFER_READ_ONLY | NPU_BUFFER_EXECUTE)

/* Large buffers start where 2 MiB pages can be used. */
static int take_address(struct npu_device *dev, size_t size, uint64_t *va)
{
	int ret;

	pthread_mutex_lock(&dev->lock);
	ret = npu_vaspace_alloc(&dev->va, size, size >= HUGE ? HUGE : PAGE, va);
	pthread_mutex_unlock(&dev->lock);
	if (ret == -ENOSPC)
		return npu_fail(ret, "no device addresses are left for a buffer of %zu bytes", size);
	return ret ? npu_fail(ret, "out of memory for a buffer") : 0;
}

static void give_address(struct npu_device *dev, size_t size, uint64_t va)
{
	pthread_mutex_lock(&dev->lock);
	npu_vaspace_free(&dev->va, va, size);
	pthread_mutex_unlock(&dev->lock);
}

static uint32_t rights_of(uint32_t flags)
{
	return NPU_RIGHT_READ | (flags & NPU_BUFFER_READ_ONLY ? 0 : NPU_RIGHT_WRITE) |
	       (flags & NPU_BUFFER_EXECUTE ? NPU_RIGHT_EXECUTE : 0);
}

static int place(struct npu_buffer *buf, uint32_t flags)
{
	struct npu_backend *be = buf->dev->backend;
	int ret;

	ret = be->ops->memory_alloc(be, &buf->mem);
	if (ret)
		return ret;
	ret = take_address(buf->dev, buf->mem.size, &buf->va);
	if (ret)
		goto free_memory;
	ret = be->ops->map(be, &buf->mem, buf->va, rights_of(flags));
	if (ret)
		goto free_address;
	return 0;

free_address:
	give_address(buf->dev, buf->mem.size, buf->va);
free_memory:
	be->ops->memory_free(be, &buf->mem);
	return ret;
}

int npu_buffer_alloc(struct npu_device *dev, size_t size, uint32_t flags, struct npu_buffer **out)
{
	struct npu_buffer *buf;
	int ret;

	if (!size || size > SIZE_MAX / 2)
		return npu_fail(-EINVAL, "size of a buffer: expected 1 to %zu, found %zu",
				SIZE_MAX / 2, size);
	if (flags & ~ALL_FLAGS)
		return npu_fail(-EINVAL, "flags of a buffer: expected bits of %#x, found %#x",
				ALL_FLAGS, flags);
	buf = calloc(1, sizeof(*buf));
	if (!buf)
		return npu_fail(-ENOMEM, "out of memory for a buffer");

	buf->dev = npu_device_get(dev);
	buf->mem.size = (size + PAGE - 1) & ~(size_t)(PAGE - 1);
	ret = place(buf, flags);
	if (ret) {
		npu_device_close(buf->dev);
		free(buf);
		return ret;
	}
	*out = buf;
	return 0;
}

void npu_buffer_free(struct npu_buffer *buf)
{
	struct npu_backend *be;

	if (!buf)
		return;
	be = buf->dev->backend;
	/* A device that is gone refuses, and reaches nothing any more. */
	if (!be->ops->unmap(be, buf->va, buf->mem.size))
		give_address(buf->dev, buf->mem.size, buf->va);
	be->ops->memory_free(be, &buf->mem);
	npu_device_close(buf->dev);
	free(buf);
}

void *npu_buffer_data(struct npu_buffer *buf)
{
	return buf->mem.data;
}

size_t npu_buffer_size(const struct npu_buffer *buf)
{
	return buf->mem.size;
}

uint64_t npu_buffer_address(const struct npu_buffer *buf)
{
	return buf->va;
}

int npu_buffer_sync(struct npu_buffer *buf, int direction)
{
	(void)buf;
	switch (direction) {
	case NPU_SYNC_FOR_DEVICE:
		__atomic_thread_fence(__ATOMIC_RELEASE);
		return 0;
	case NPU_SYNC_FOR_HOST:
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
		return 0;
	default:
		return npu_fail(-EINVAL, "direction of a synchronisation: expected %d or %d, found %d",
				NPU_SYNC_FOR_DEVICE, NPU_SYNC_FOR_HOST, direction);
	}
}
