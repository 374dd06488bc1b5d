// SPDX-License-Identifier: MIT
/* Memory that host and device share. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "npu_proto.h"
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

/* Give memory that exists an address; it is freed on error. */
static int place(struct npu_buffer *buf)
{
	struct npu_backend *be = buf->dev->backend;
	int ret;

	ret = take_address(buf->dev, buf->mem.size, &buf->va);
	if (ret)
		goto free_memory;
	ret = be->ops->map(be, &buf->mem, buf->va, rights_of(buf->flags));
	if (ret)
		goto free_address;
	return 0;

free_address:
	give_address(buf->dev, buf->mem.size, buf->va);
free_memory:
	be->ops->memory_free(be, &buf->mem);
	return ret;
}

static int alloc(struct npu_buffer *buf)
{
	struct npu_backend *be = buf->dev->backend;
	int ret;

	buf->mem.size = (buf->size + PAGE - 1) & ~(size_t)(PAGE - 1);
	ret = be->ops->memory_alloc(be, &buf->mem);
	return ret ? ret : place(buf);
}

static int check_arguments(size_t size, uint32_t flags, uint32_t all)
{
	if (!size || size > SIZE_MAX / 2)
		return npu_fail(-EINVAL, "size of a buffer: expected 1 to %zu, found %zu",
				SIZE_MAX / 2, size);
	if (flags & ~all)
		return npu_fail(-EINVAL, "flags of a buffer: expected bits of %#x, found %#x", all,
				flags);
	return 0;
}

static struct npu_buffer *new_buffer(struct npu_device *dev, void *data, size_t size,
				     uint32_t flags)
{
	struct npu_buffer *buf = calloc(1, sizeof(*buf));

	if (!buf) {
		npu_fail(-ENOMEM, "out of memory for a buffer");
		return NULL;
	}
	buf->dev = npu_device_get(dev);
	buf->data = data;
	buf->size = size;
	buf->flags = flags;
	return buf;
}

static void drop_buffer(struct npu_buffer *buf)
{
	npu_device_close(buf->dev);
	free(buf);
}

int npu_buffer_alloc(struct npu_device *dev, size_t size, uint32_t flags, struct npu_buffer **out)
{
	struct npu_buffer *buf;
	int ret;

	if (npu_null(dev) || npu_null(out))
		return -EINVAL;
	ret = check_arguments(size, flags, ALL_FLAGS);
	if (!ret)
		ret = npu_device_check(dev);
	if (ret)
		return ret;
	buf = new_buffer(dev, NULL, size, flags);
	if (!buf)
		return -ENOMEM;
	ret = alloc(buf);
	if (ret) {
		drop_buffer(buf);
		return ret;
	}
	buf->data = buf->mem.data;
	buf->size = buf->mem.size;
	*out = buf;
	return 0;
}

/* ---- memory of the caller ---- */

/* The pages that the memory lies in. */
static int share(struct npu_buffer *buf)
{
	struct npu_backend *be = buf->dev->backend;
	uintptr_t start = (uintptr_t)buf->data;
	size_t before = start % PAGE;
	int ret;

	if (start % NPU_REGION_ALIGN)
		return npu_fail(-EINVAL, "importing memory at %p: expected a multiple of %u", buf->data,
				NPU_REGION_ALIGN);
	buf->mem.data = (uint8_t *)buf->data - before;
	buf->mem.size = (before + buf->size + PAGE - 1) & ~(size_t)(PAGE - 1);
	ret = be->ops->memory_import(be, &buf->mem, !(buf->flags & NPU_BUFFER_READ_ONLY));
	return ret ? ret : place(buf);
}

/* Faults of the caller are not mended by a copy. */
static bool copy_helps(const struct npu_buffer *buf, int error)
{
	if (!(buf->flags & NPU_BUFFER_MAY_COPY))
		return false;
	return error == -EOPNOTSUPP || error == -EDQUOT ||
	       (error == -EINVAL && (uintptr_t)buf->data % NPU_REGION_ALIGN);
}

static int share_or_copy(struct npu_buffer *buf)
{
	int ret = share(buf);

	if (!ret || !copy_helps(buf, ret))
		return ret;
	buf->mem = (struct npu_memory) { 0 };
	ret = alloc(buf);
	if (ret)
		return ret;
	buf->copied = true;
	memcpy(buf->mem.data, buf->data, buf->size);
	return 0;
}

int npu_buffer_import(struct npu_device *dev, void *data, size_t size, uint32_t flags,
		      struct npu_buffer **out)
{
	struct npu_buffer *buf;
	int ret;

	if (npu_null(dev) || npu_null(out))
		return -EINVAL;
	ret = check_arguments(size, flags, ALL_FLAGS | NPU_BUFFER_MAY_COPY);
	if (!ret)
		ret = npu_device_check(dev);
	if (ret)
		return ret;
	if (!data || size > UINTPTR_MAX - PAGE - (uintptr_t)data)
		return npu_fail(-EFAULT, "importing %zu bytes at %p: no such memory", size, data);
	buf = new_buffer(dev, data, size, flags);
	if (!buf)
		return -ENOMEM;
	ret = share_or_copy(buf);
	if (ret) {
		drop_buffer(buf);
		return ret;
	}
	*out = buf;
	return 0;
}

/* Elements of a compact tensor; 0 for any other, with a message. */
static size_t compact_elements(const DLTensor *t)
{
	size_t stride = 1;
	int d;

	if (t->ndim < 0 || (t->ndim && !t->shape)) {
		npu_fail(-EINVAL, "importing a tensor: %d dimensions with a shape at %p", t->ndim,
			 (void *)t->shape);
		return 0;
	}

	for (d = t->ndim - 1; d >= 0; d--) {
		if (t->strides && t->shape[d] > 1 && t->strides[d] != (int64_t)stride) {
			npu_fail(-EINVAL, "importing a tensor: stride of dimension %d: expected %zu (compact), found %lld",
				 d, stride, (long long)t->strides[d]);
			return 0;
		}
		if (t->shape[d] < 1 || __builtin_mul_overflow(stride, t->shape[d], &stride)) {
			npu_fail(-EINVAL, "importing a tensor: extent of dimension %d: found %lld", d,
				 (long long)t->shape[d]);
			return 0;
		}
	}
	return stride;
}

static int tensor_bytes(const DLTensor *t, size_t *bytes)
{
	size_t bits = (size_t)t->dtype.bits * t->dtype.lanes;
	size_t count;

	if (t->device.device_type != kDLCPU)
		return npu_fail(-EINVAL, "importing a tensor: device type: expected %d (CPU), found %d",
				kDLCPU, (int)t->device.device_type);
	count = compact_elements(t);
	if (!count)
		return -EINVAL;
	if (!bits || __builtin_mul_overflow(count, bits, &bits) || bits % 8)
		return npu_fail(-EINVAL, "importing a tensor: %zu elements of %u bits and %u lanes are no whole bytes",
				count, t->dtype.bits, t->dtype.lanes);
	*bytes = bits / 8;
	return 0;
}

int npu_buffer_import_tensor(struct npu_device *dev, const DLTensor *tensor, uint32_t flags,
			     struct npu_buffer **out)
{
	uintptr_t address;
	size_t size = 0;
	int ret;

	if (npu_null(tensor) || npu_null(tensor->data))
		return -EINVAL;
	ret = tensor_bytes(tensor, &size);
	if (ret)
		return ret;
	if (__builtin_add_overflow((uintptr_t)tensor->data, tensor->byte_offset, &address))
		return npu_fail(-EFAULT, "importing a tensor at %p: no memory %llu bytes behind that",
				tensor->data, (unsigned long long)tensor->byte_offset);
	return npu_buffer_import(dev, (void *)address, size, flags, out);
}

int npu_buffer_is_copy(const struct npu_buffer *buf)
{
	return npu_null(buf) ? 0 : buf->copied;
}

void npu_buffer_free(struct npu_buffer *buf)
{
	struct npu_backend *be;

	if (!buf)
		return;
	be = buf->dev->backend;
	if (!npu_device_inherited(buf->dev)) {
		/* A device that is gone refuses, and reaches nothing any more. */
		if (!be->ops->unmap(be, buf->va, buf->mem.size))
			give_address(buf->dev, buf->mem.size, buf->va);
		be->ops->memory_free(be, &buf->mem);
	}
	npu_device_close(buf->dev);
	free(buf);
}

void *npu_buffer_data(struct npu_buffer *buf)
{
	return npu_null(buf) ? NULL : buf->data;
}

size_t npu_buffer_size(const struct npu_buffer *buf)
{
	return npu_null(buf) ? 0 : buf->size;
}

uint64_t npu_buffer_address(const struct npu_buffer *buf)
{
	if (npu_null(buf))
		return 0;
	return buf->mem.imported ? buf->va + (uintptr_t)buf->data % PAGE : buf->va;
}

int npu_buffer_sync(struct npu_buffer *buf, int direction)
{
	if (npu_null(buf))
		return -EINVAL;
	switch (direction) {
	case NPU_SYNC_FOR_DEVICE:
		if (buf->copied)
			memcpy(buf->mem.data, buf->data, buf->size);
		__atomic_thread_fence(__ATOMIC_RELEASE);
		return 0;
	case NPU_SYNC_FOR_HOST:
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
		if (buf->copied && !(buf->flags & NPU_BUFFER_READ_ONLY))
			memcpy(buf->data, buf->mem.data, buf->size);
		return 0;
	default:
		return npu_fail(-EINVAL, "direction of a synchronisation: expected %d or %d, found %d",
				NPU_SYNC_FOR_DEVICE, NPU_SYNC_FOR_HOST, direction);
	}
}
