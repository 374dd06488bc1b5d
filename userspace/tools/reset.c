// SPDX-License-Identifier: MIT
/* npu reset */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "userspace/tools/accel_node.h"
#include "userspace/tools/tool.h"

static int write_attribute(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC), err = 0;

	if (fd < 0)
		return -errno;
	if (write(fd, text, strlen(text)) != (ssize_t)strlen(text))
		err = -errno;
	close(fd);
	return err;
}

static int explain(const char *device, int err)
{
	const char *hint = "";

	if (err == -EACCES || err == -EPERM)
		hint = "; resetting a device needs root";
	else if (err == -EIO)
		hint = "; the device could not be brought back: unbind and bind its driver";
	else if (err == -ENOENT)
		hint = "; its driver has no reset";
	return tool_fail("%s: reset: %s%s", device, strerror(-err), hint);
}

/* The node is a link's end in sysfs: accelN/device/npu/reset. */
static int reset_one(const struct npu_device_entry *entry, bool json)
{
	const char *node = strrchr(entry->path, '/');
	char path[PATH_MAX];
	int err;

	snprintf(path, sizeof(path), "/sys/class/accel%s/device/npu/reset", node ? node : "/");
	err = write_attribute(path, "1");
	if (err)
		return explain(entry->path, err);
	if (json)
		return tool_print_json(json_pack("{s:s, s:b}", "path", entry->path, "reset", 1));
	printf("%s was reset\n", entry->path);
	return TOOL_OK;
}

static int run_reset(int argc, char **argv)
{
	static const struct option options[] = {{"json", no_argument, NULL, 'j'}, {0}};
	struct npu_device_entry *entries;
	unsigned int count;
	bool json = false;
	int opt, status;

	while ((opt = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (opt != 'j')
			return tool_usage(&tool_reset);
		json = true;
	}
	if (tool_operands(&tool_reset, argc, argv, 1, 1))
		return TOOL_USAGE;
	if (accel_choose(argv[optind], &entries, &count))
		return TOOL_FAILED;
	status = reset_one(&entries[0], json);
	free(entries);
	return status;
}

const struct tool_command tool_reset = {
	"reset",
	"[OPTIONS] DEVICE",
	"resets a device",
	"      --json            prints JSON\n",
	run_reset,
};
