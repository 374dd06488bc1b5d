// SPDX-License-Identifier: MIT
/* NPUs of this machine. libdrm knows no accel nodes, so sysfs is read here. */
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "userspace/libnpu/device.h"

/* Drivers that bind NPUs, one a transport: npu_aux and npu_pci belong to npu.ko. */
#define DRIVER_PREFIX	"npu"
#define ACCEL_CLASS	"class/accel"

const char *npu_sysfs_root(void)
{
	const char *root = getenv("NPU_SYSFS");

	return root && *root ? root : "/sys";
}

/* Last part of what a link of the device points to. */
static int link_name(const char *device, const char *link, char *name, size_t size)
{
	char path[PATH_MAX];
	char target[PATH_MAX];
	const char *base;
	ssize_t len;

	if (snprintf(path, sizeof(path), "%s/%s", device, link) >= (int)sizeof(path))
		return -ENAMETOOLONG;
	len = readlink(path, target, sizeof(target) - 1);
	if (len < 0)
		return -errno;
	target[len] = '\0';
	base = strrchr(target, '/');
	base = base ? base + 1 : target;
	if (snprintf(name, size, "%s", base) >= (int)size)
		return -ENAMETOOLONG;
	return 0;
}

/* True if accel minor @number exists and is an NPU. */
static bool describe(unsigned int number, struct npu_device_entry *entry)
{
	char device[PATH_MAX];
	char target[PATH_MAX];

	snprintf(entry->path, sizeof(entry->path), "/dev/accel/accel%u", number);
	if (snprintf(device, sizeof(device), "%s/" ACCEL_CLASS "/accel%u/device",
		     npu_sysfs_root(), number) >= (int)sizeof(device))
		return false;
	if (link_name(device, "driver", entry->driver, sizeof(entry->driver)))
		return false;
	if (strncmp(entry->driver, DRIVER_PREFIX, strlen(DRIVER_PREFIX)))
		return false;
	if (!realpath(device, target))
		return false;
	snprintf(entry->parent, sizeof(entry->parent), "%.*s", (int)sizeof(entry->parent) - 1,
		 strrchr(target, '/') + 1);
	return true;
}

static int compare(const void *a, const void *b)
{
	unsigned int x = *(const unsigned int *)a;
	unsigned int y = *(const unsigned int *)b;

	return (x > y) - (x < y);
}

/* Numbers of all accel devices, ascending. */
static int read_numbers(DIR *dir, unsigned int **numbers, unsigned int *count)
{
	struct dirent *ent;
	unsigned int number;
	unsigned int *more;
	char tail;

	while ((ent = readdir(dir))) {
		if (sscanf(ent->d_name, "accel%u%c", &number, &tail) != 1)
			continue;
		more = reallocarray(*numbers, *count + 1, sizeof(*more));
		if (!more)
			return npu_fail(-ENOMEM, "out of memory for the list of devices");
		*numbers = more;
		more[(*count)++] = number;
	}
	if (*count)
		qsort(*numbers, *count, sizeof(**numbers), compare);
	return 0;
}

/* @others: accel devices of other drivers. */
static int list(struct npu_device_entry *entries, unsigned int max, unsigned int *count,
		unsigned int *others)
{
	char path[PATH_MAX];
	struct npu_device_entry entry;
	unsigned int *numbers = NULL;
	unsigned int n = 0;
	unsigned int i;
	DIR *dir;
	int ret;

	*count = 0;
	*others = 0;
	snprintf(path, sizeof(path), "%s/" ACCEL_CLASS, npu_sysfs_root());
	dir = opendir(path);
	if (!dir)
		return errno == ENOENT ? 0 : npu_fail(-errno, "%s: %s", path, strerror(errno));

	ret = read_numbers(dir, &numbers, &n);
	closedir(dir);
	for (i = 0; !ret && i < n; i++) {
		memset(&entry, 0, sizeof(entry));
		if (!describe(numbers[i], &entry)) {
			++*others;
			continue;
		}
		if (*count < max)
			entries[*count] = entry;
		++*count;
	}
	free(numbers);
	return ret;
}

int npu_device_list(struct npu_device_entry *entries, unsigned int max, unsigned int *count)
{
	unsigned int others;

	if (npu_null(count) || (max && npu_null(entries)))
		return -EINVAL;
	return list(entries, max, count, &others);
}

int npu_enumerate_first(char *path, size_t size)
{
	struct npu_device_entry entry;
	unsigned int count, others;
	char module[PATH_MAX];
	int ret;

	ret = list(&entry, 1, &count, &others);
	if (ret)
		return ret;
	if (count) {
		snprintf(path, size, "%s", entry.path);
		return 0;
	}

	snprintf(module, sizeof(module), "%s/module/npu", npu_sysfs_root());
	if (access(module, F_OK))
		return npu_fail(-ENODEV, "no NPU: the driver npu.ko is not loaded (%u other accelerators); load it, or set NPU_DEVICE=sim",
				others);
	return npu_fail(-ENODEV, "no NPU: the driver npu.ko is loaded but has no device; load npu_sim.ko for a simulated one, or set NPU_DEVICE=sim");
}
