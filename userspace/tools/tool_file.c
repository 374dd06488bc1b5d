// SPDX-License-Identifier: MIT
/* Files that are read and written whole. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <fcntl.h>
#include <unistd.h>

#include "userspace/tools/tool.h"

static void *read_all(FILE *f, const char *path, size_t *size)
{
	size_t room = 1 << 16, n = 0;
	char *data = malloc(room), *grown;

	while (data) {
		n += fread(data + n, 1, room - n, f);
		if (n < room)
			break;
		room *= 2;
		grown = realloc(data, room);
		if (!grown)
			free(data);
		data = grown;
	}
	if (!data) {
		tool_fail("%s: out of memory", path);
		return NULL;
	}
	if (ferror(f)) {
		tool_fail("%s: %s", path, strerror(errno));
		free(data);
		return NULL;
	}
	*size = n;
	return data;
}

void *tool_read_file(const char *path, size_t *size)
{
	FILE *f = strcmp(path, "-") ? fopen(path, "rbe") : stdin;
	void *data;

	if (!f) {
		tool_fail("%s: %s", path, strerror(errno));
		return NULL;
	}
	data = read_all(f, path, size);
	if (f != stdin)
		fclose(f);
	return data;
}

static int write_all(int fd, const char *data, size_t size)
{
	while (size) {
		ssize_t n = write(fd, data, size);

		if (n < 0 && errno != EINTR)
			return -errno;
		if (n > 0) {
			data += n;
			size -= n;
		}
	}
	return 0;
}

static int close_after(int fd, int err)
{
	return close(fd) && !err ? -errno : err;
}

/* Through a file of its own beside the target, which becomes the target when complete. */
static int replace(const char *target, mode_t mode, const void *data, size_t size)
{
	char temp[PATH_MAX];
	int fd, err;

	if ((size_t)snprintf(temp, sizeof(temp), "%s.XXXXXX", target) >= sizeof(temp))
		return -ENAMETOOLONG;
	fd = mkostemp(temp, O_CLOEXEC);
	if (fd < 0)
		return -errno;
	err = write_all(fd, data, size);
	if (!err && (fchmod(fd, mode) || fsync(fd)))
		err = -errno;
	err = close_after(fd, err);
	if (!err && rename(temp, target))
		err = -errno;
	if (err)
		unlink(temp);
	return err;
}

/* A pipe or device cannot be replaced. */
static int write_into(const char *target, const void *data, size_t size)
{
	int fd = open(target, O_WRONLY | O_CLOEXEC);

	return fd < 0 ? -errno : close_after(fd, write_all(fd, data, size));
}

static mode_t default_mode(void)
{
	mode_t mask = umask(0);

	umask(mask);
	return 0666 & ~mask;
}

/* The file that a chain of links ends at, which is replaced in their stead. */
static int replace_existing(const char *path, mode_t mode, const void *data, size_t size)
{
	char *target = realpath(path, NULL);
	int err = target ? replace(target, mode, data, size) : -errno;

	free(target);
	return err;
}

int tool_save_file(const char *path, const void *data, size_t size)
{
	struct stat st;
	int err;

	if (!stat(path, &st))
		err = S_ISREG(st.st_mode) ? replace_existing(path, st.st_mode & 0777, data, size)
					  : write_into(path, data, size);
	else if (errno == ENOENT && lstat(path, &st))
		err = replace(path, default_mode(), data, size);
	else
		err = -errno;
	return err ? tool_fail("%s: %s", path, strerror(-err)) : TOOL_OK;
}
