// SPDX-License-Identifier: MIT
/* Where the firmware of a simulated device comes from. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "userspace/libnpu/sim.h"

#define INSTALLED	"/lib/firmware/npu/npu_fw.bin"
#define IN_BUILD	"firmware/cp/npu_fw.bin"
#define MAX_IMAGE	(1u << 20)	/* what the check of the image refuses need not be read */

static int read_all(int fd, size_t max, void **data, size_t *size)
{
	struct stat st;
	char *buf;
	size_t got = 0;
	ssize_t n;

	if (fstat(fd, &st))
		return -errno;
	if (!S_ISREG(st.st_mode))
		return S_ISDIR(st.st_mode) ? -EISDIR : -EINVAL;
	if ((uint64_t)st.st_size > max)
		return -EFBIG;
	buf = malloc(st.st_size + 1);
	if (!buf)
		return -ENOMEM;

	while (got < (size_t)st.st_size) {
		n = read(fd, buf + got, st.st_size - got);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		got += n;
	}
	if (got < (size_t)st.st_size) {
		int error = n < 0 ? -errno : -EIO;

		free(buf);
		return error;
	}
	*data = buf;
	*size = got;
	return 0;
}

int npu_read_file(const char *path, size_t max, void **data, size_t *size)
{
	/* What is no regular file is refused; a pipe without a writer would make this wait. */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	int ret;

	if (fd < 0)
		return -errno;
	ret = read_all(fd, max, data, size);
	close(fd);
	return ret;
}

const char *npu_read_error(int error)
{
	return error == -EINVAL ? "not a regular file" : strerror(-error);
}

/* The build tree is found by going up from this library, or from the program it is part of. */
static bool find_in_build(char *path, size_t size)
{
	char self[PATH_MAX];
	Dl_info info;
	char *slash;

	if (!dladdr((void *)(uintptr_t)find_in_build, &info) || !info.dli_fname)
		return false;
	if (!realpath(info.dli_fname, self) && !realpath("/proc/self/exe", self))
		return false;
	while ((slash = strrchr(self, '/'))) {
		*slash = '\0';
		if (snprintf(path, size, "%s/" IN_BUILD, self) < (int)size &&
		    !access(path, R_OK))
			return true;
	}
	return false;
}

int sim_firmware_read(void **image, size_t *size, char *path, size_t path_size)
{
	const char *env = getenv("NPU_FIRMWARE");
	int ret;

	if (env && *env) {
		if (snprintf(path, path_size, "%s", env) >= (int)path_size)
			return npu_fail(-ENAMETOOLONG, "NPU_FIRMWARE has %zu bytes: expected at most %zu",
					strlen(env), path_size - 1);
		ret = npu_read_file(path, MAX_IMAGE, image, size);
		return ret ? npu_fail(ret, "firmware %s (from NPU_FIRMWARE): %s", path,
				      npu_read_error(ret)) : 0;
	}

	snprintf(path, path_size, INSTALLED);
	ret = npu_read_file(path, MAX_IMAGE, image, size);
	if (ret == -ENOENT && find_in_build(path, path_size))
		ret = npu_read_file(path, MAX_IMAGE, image, size);
	if (ret == -ENOENT)
		return npu_fail(ret, "no firmware for the simulated device: NPU_FIRMWARE is not set, " INSTALLED
				" does not exist, and the library lies in no build tree with " IN_BUILD);
	return ret ? npu_fail(ret, "firmware %s: %s", path, npu_read_error(ret)) : 0;
}
