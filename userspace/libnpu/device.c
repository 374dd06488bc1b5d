// SPDX-License-Identifier: MIT
/* Opening and closing of devices. */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "userspace/libnpu/device.h"

#define MAX_INFO	4096u	/* bytes of any later struct npu_device_info */

/* How many forks lie between the process that loaded the library and this one. */
static unsigned int forks;
static pthread_once_t watch_once = PTHREAD_ONCE_INIT;
static int watch_error;

static void count_fork(void)
{
	forks++;
}

static void watch(void)
{
	watch_error = pthread_atfork(NULL, NULL, count_fork);
}

static int watch_forks(void)
{
	pthread_once(&watch_once, watch);
	return watch_error ? npu_fail(-watch_error, "watching for fork(): %s",
				      strerror(watch_error)) : 0;
}

bool npu_device_inherited(const struct npu_device *dev)
{
	return dev->process != forks;
}

int npu_device_check(const struct npu_device *dev)
{
	if (!npu_device_inherited(dev))
		return 0;
	return npu_fail(-EBADF, "device %s was opened before fork() by the parent: open it anew in this process",
			dev->info.path);
}

struct npu_device *npu_device_get(struct npu_device *dev)
{
	__atomic_add_fetch(&dev->refs, 1, __ATOMIC_RELAXED);
	return dev;
}

void npu_device_close(struct npu_device *dev)
{
	if (!dev || __atomic_sub_fetch(&dev->refs, 1, __ATOMIC_ACQ_REL))
		return;
	/* The copy of memory that the parent's threads were changing is left as it is. */
	if (npu_device_inherited(dev))
		return;

	dev->backend->ops->close(dev->backend);
	npu_vaspace_fini(&dev->va);
	pthread_mutex_destroy(&dev->lock);
	free(dev);
}

static bool is_number(const char *name)
{
	size_t digits = strspn(name, "0123456789");

	return digits && digits < 10 && !name[digits];
}

/* What the user wrote, or did not, as "sim" or a path. */
static int resolve(const char *name, char *path, size_t size)
{
	int len;

	if (!name)
		name = getenv("NPU_DEVICE");
	if (!name || !*name)
		return npu_enumerate_first(path, size);

	if (is_number(name))
		len = snprintf(path, size, "/dev/accel/accel%s", name);
	else if (!strcmp(name, "sim") || name[0] == '/')
		len = snprintf(path, size, "%s", name);
	else
		return npu_fail(-EINVAL, "device name \"%s\": expected \"sim\", a number, or an absolute path",
				name);
	if (len < 0 || (size_t)len >= size)
		return npu_fail(-ENAMETOOLONG, "device name of %zu bytes: expected at most %zu",
				strlen(name), size - 1);
	return 0;
}

static int open_backend(const char *path, struct npu_backend **out)
{
	if (!strcmp(path, "sim"))
		return npu_backend_sim_open(out);
	return npu_backend_accel_open(path, out);
}

/* Address 0 is kept free, so that a forgotten base is a fault. */
static int init_device(struct npu_device *dev, const char *path)
{
	struct npu_device_info *info = &dev->info;
	uint64_t start;
	int ret;

	ret = dev->backend->ops->get_info(dev->backend, info);
	if (ret)
		return ret;
	snprintf(info->path, sizeof(info->path), "%s", path);
	snprintf(info->backend, sizeof(info->backend), "%s", dev->backend->ops->name);
	start = info->va_start > 1 << 20 ? info->va_start : 1 << 20;
	if (start >= info->va_end || !info->max_jobs)
		return npu_fail(-EPROTO, "device %s: addresses end at %#llx and a submission takes %u jobs",
				path, (unsigned long long)info->va_end, info->max_jobs);
	ret = npu_vaspace_init(&dev->va, start, info->va_end);
	return ret ? npu_fail(ret, "out of memory for a device") : 0;
}

int npu_device_open(struct npu_device **out, const char *name)
{
	struct npu_device *dev;
	char path[sizeof(dev->info.path)];
	int ret;

	if (npu_null(out))
		return -EINVAL;
	ret = resolve(name, path, sizeof(path));
	if (!ret)
		ret = watch_forks();
	if (ret)
		return ret;

	dev = calloc(1, sizeof(*dev));
	if (!dev)
		return npu_fail(-ENOMEM, "out of memory for a device");
	dev->refs = 1;
	dev->process = forks;
	pthread_mutex_init(&dev->lock, NULL);
	ret = open_backend(path, &dev->backend);
	if (ret)
		goto free_device;
	ret = init_device(dev, path);
	if (ret)
		goto close_backend;
	*out = dev;
	return 0;

close_backend:
	dev->backend->ops->close(dev->backend);
free_device:
	pthread_mutex_destroy(&dev->lock);
	free(dev);
	return ret;
}

int npu_device_get_info(struct npu_device *dev, struct npu_device_info *info, size_t size)
{
	struct npu_device_info now;
	int ret;

	if (npu_null(dev) || npu_null(info))
		return -EINVAL;
	if (!size || size > MAX_INFO)
		return npu_fail(-EINVAL, "size of struct npu_device_info: expected %zu, found %zu",
				sizeof(now), size);
	ret = npu_device_check(dev);
	if (ret)
		return ret;
	memset(&now, 0, sizeof(now));
	ret = dev->backend->ops->get_info(dev->backend, &now);
	if (ret)
		return ret;

	memcpy(now.path, dev->info.path, sizeof(now.path));
	memcpy(now.backend, dev->info.backend, sizeof(now.backend));
	memset(info, 0, size);
	memcpy(info, &now, size < sizeof(now) ? size : sizeof(now));
	return 0;
}

int npu_device_get_time(struct npu_device *dev, uint64_t *ticks, uint64_t *monotonic_ns)
{
	int ret;

	if (npu_null(dev) || npu_null(ticks) || npu_null(monotonic_ns))
		return -EINVAL;
	ret = npu_device_check(dev);
	return ret ? ret : dev->backend->ops->get_time(dev->backend, ticks, monotonic_ns);
}

int64_t npu_deadline(int64_t timeout_ns)
{
	int64_t now = npu_clock_ns();

	if (timeout_ns <= 0)
		return now;
	return timeout_ns > INT64_MAX - now ? INT64_MAX : now + timeout_ns;
}
