// SPDX-License-Identifier: MIT
/* Nodes of NPUs: finding, opening, and what the driver tells there. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "userspace/tools/accel_node.h"
#include "userspace/tools/tool.h"

#define ACCOUNTS_A_CALL	64

int accel_find(struct npu_device_entry **entries, unsigned int *count)
{
	unsigned int room = 0;
	int err;

	*entries = NULL;
	for (;;) {
		struct npu_device_entry *grown;

		err = npu_device_list(*entries, room, count);
		if (err || *count <= room)
			return err;
		/* Some may have come while they were counted. */
		room = *count + 8;
		grown = realloc(*entries, room * sizeof(**entries));
		if (!grown)
			return -ENOMEM;
		*entries = grown;
	}
}

static bool is_named(const struct npu_device_entry *entry, const char *device)
{
	const char *number = entry->path + strcspn(entry->path, "0123456789");

	return !strcmp(entry->path, device) || !strcmp(number, device) ||
	       !strcmp(entry->parent, device);
}

int accel_choose(const char *device, struct npu_device_entry **entries, unsigned int *count)
{
	int err = accel_find(entries, count);
	unsigned int i;

	if (err) {
		tool_fail_npu(err, "looking for devices");
		goto out;
	}
	if (!device)
		return 0;
	for (i = 0; i < *count; i++) {
		if (!is_named(&(*entries)[i], device))
			continue;
		(*entries)[0] = (*entries)[i];
		*count = 1;
		return 0;
	}
	err = -ENODEV;
	tool_fail("%s: no NPU is called so; \"npu list\" has their names", device);
out:
	free(*entries);
	*entries = NULL;
	return err;
}

int accel_open(const char *path)
{
	int fd = open(path, O_RDWR | O_CLOEXEC);

	if (fd < 0) {
		fd = -errno;
		tool_fail("%s: %s%s", path, strerror(errno),
			  errno == EACCES ? "; its group may use it" : "");
	}
	return fd;
}

static int read_some(int fd, uint32_t flags, struct accel_accounts *accounts)
{
	struct drm_npu_accounts args = {
		.flags = flags,
		.count = ACCOUNTS_A_CALL,
		.stride = sizeof(*accounts->list),
		.records = (uintptr_t)(accounts->list + accounts->count),
		.after = accounts->after,
	};
	int ret;

	do
		ret = ioctl(fd, DRM_IOCTL_NPU_ACCOUNTS, &args);
	while (ret < 0 && errno == EINTR);
	if (ret < 0)
		return -errno;
	accounts->after = args.after;
	accounts->lost += args.lost;
	accounts->count += args.count;
	return (int)args.count;
}

int accel_accounts(int fd, uint32_t flags, struct accel_accounts *accounts)
{
	int got;

	do {
		struct drm_npu_account *grown =
			realloc(accounts->list, (accounts->count + ACCOUNTS_A_CALL) * sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		accounts->list = grown;
		got = read_some(fd, flags, accounts);
	} while (got > 0);
	return got;
}
