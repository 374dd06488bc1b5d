// SPDX-License-Identifier: MIT
/* Opening the node of a device, and why that may fail. */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xf86drm.h>
#include "userspace/libnpu/accel_node.h"
#include "userspace/libnpu/device.h"

#define DRIVER_NAME	"npu"

static bool in_sysfs(const char *format, const char *name)
{
	char path[PATH_MAX];

	return snprintf(path, sizeof(path), format, npu_sysfs_root(), name) < (int)sizeof(path) &&
	       !access(path, F_OK);
}

static int refuse_absent(const char *path)
{
	const char *name = strrchr(path, '/') + 1;

	if (in_sysfs("%s/class/accel/%s", name))
		return npu_fail(-ENOENT, "%s does not exist, but the kernel has the device: udev has not made its node, or this container was not given it",
				path);
	if (in_sysfs("%s/module/%s", DRIVER_NAME))
		return npu_fail(-ENOENT, "%s does not exist: the driver npu.ko is loaded and has no such device",
				path);
	return npu_fail(-ENOENT, "%s does not exist: the driver npu.ko is not loaded", path);
}

/* The mode's refusal is EACCES; EPERM comes from elsewhere. */
static int refuse_access(const char *path)
{
	struct group *group;
	struct stat st;

	if (stat(path, &st))
		return npu_fail(-EACCES, "no permission to open %s: a folder on the way cannot be entered",
				path);
	if (!eaccess(path, R_OK | W_OK))
		return npu_fail(-EACCES, "no permission to open %s, although its mode %#o allows it: its file system is mounted nodev, or a security module forbids it",
				path, st.st_mode & 07777u);
	group = getgrgid(st.st_gid);
	return npu_fail(-EACCES, "no permission to open %s: it is for user %u and group %s, mode %#o",
			path, (unsigned int)st.st_uid, group ? group->gr_name : "unknown",
			st.st_mode & 07777u);
}

static int refuse_open(const char *path, int error)
{
	switch (error) {
	case ENOENT:
		return refuse_absent(path);
	case EACCES:
		return refuse_access(path);
	case EPERM:
		return npu_fail(-EACCES, "no permission to open %s: the device cgroup of this process forbids it (DeviceAllow= of its service, --device of its container)",
				path);
	case ENXIO:
	case ENODEV:
		return npu_fail(-ENODEV, "%s has no device behind it: the driver npu.ko is not loaded, or the device is gone",
				path);
	default:
		return npu_fail(-error, "opening %s: %s", path, strerror(error));
	}
}

static int check_driver(int fd, const char *path)
{
	drmVersionPtr version = drmGetVersion(fd);
	int ret = 0;

	if (!version)
		return npu_fail(-ENODEV, "%s is not the node of an accelerator", path);
	if (strcmp(version->name, DRIVER_NAME))
		ret = npu_fail(-ENODEV, "%s: driver: expected %s, found %s", path, DRIVER_NAME,
			       version->name);
	drmFreeVersion(version);
	return ret;
}

int npu_accel_open_node(const char *path, int *out)
{
	int fd = open(path, O_RDWR | O_CLOEXEC);
	int ret;

	if (fd < 0)
		return refuse_open(path, errno);
	ret = check_driver(fd, path);
	if (ret) {
		close(fd);
		return ret;
	}
	*out = fd;
	return 0;
}
