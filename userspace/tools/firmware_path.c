// SPDX-License-Identifier: MIT
#include "userspace/tools/firmware_path.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "userspace/tools/tool.h"

#define SEARCH_PATH	"/sys/module/firmware_class/parameters/path"
#define NAME		"npu/npu_fw.bin"
#define IN_BUILD	"firmware/cp/npu_fw.bin"

/* The kernel looks in these folders by itself. */
static bool is_installed(void)
{
	char path[PATH_MAX];
	struct utsname u;

	if (!access("/lib/firmware/" NAME, R_OK) || !access("/lib/firmware/updates/" NAME, R_OK))
		return true;
	if (uname(&u))
		return false;
	snprintf(path, sizeof(path), "/lib/firmware/%s/" NAME, u.release);
	if (!access(path, R_OK))
		return true;
	snprintf(path, sizeof(path), "/lib/firmware/updates/%s/" NAME, u.release);
	return !access(path, R_OK);
}

/* From the program's place upwards, as libnpu does. */
static bool find_in_build(char *out, size_t size)
{
	char self[PATH_MAX - sizeof(IN_BUILD) - 1];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

	if (n < 0)
		return false;
	self[n] = 0;
	for (char *slash = strrchr(self, '/'); slash; slash = strrchr(self, '/')) {
		*slash = 0;
		snprintf(out, size, "%s/" IN_BUILD, self);
		if (!access(out, R_OK))
			return true;
	}
	return false;
}

static int read_search_path(char *out, size_t size)
{
	int fd = open(SEARCH_PATH, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, out, size - 1);

	if (fd >= 0)
		close(fd);
	if (n < 0)
		return -errno;
	out[n] = 0;
	out[strcspn(out, "\n")] = 0;
	return 0;
}

/* With its NUL, since the kernel takes no empty write, and no newline. */
static int write_search_path(const char *text)
{
	int fd = open(SEARCH_PATH, O_WRONLY | O_CLOEXEC), err = 0;

	if (fd < 0)
		return -errno;
	if (write(fd, text, strlen(text) + 1) < 0)
		err = -errno;
	close(fd);
	return err;
}

static int fail(const char *what, int err)
{
	return tool_fail("%s: %s%s", what, strerror(-err),
			 err == -EACCES || err == -EPERM ? "; loading needs root" : "");
}

static int make_folder(char *folder)
{
	char path[PATH_MAX];

	if (!mkdtemp(folder))
		return -errno;
	snprintf(path, sizeof(path), "%s/npu", folder);
	return mkdir(path, 0755) ? -errno : 0;
}

static void drop_folder(const char *folder)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/" NAME, folder);
	unlink(path);
	snprintf(path, sizeof(path), "%s/npu", folder);
	rmdir(path);
	rmdir(folder);
}

static void hold_signals(struct firmware_path *fp)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigprocmask(SIG_BLOCK, &set, &fp->signals);
}

static void leave(struct firmware_path *fp)
{
	drop_folder(fp->folder);
	sigprocmask(SIG_SETMASK, &fp->signals, NULL);
	fp->active = false;
}

static int lead_to(struct firmware_path *fp, const char *image)
{
	char path[PATH_MAX];
	size_t size;
	void *data = tool_read_file(image, &size);
	int err, status;

	if (!data)
		return TOOL_FAILED;
	strcpy(fp->folder, "/run/npu-firmware.XXXXXX");
	hold_signals(fp);
	err = make_folder(fp->folder);
	if (err) {
		free(data);
		leave(fp);
		return fail("a folder below /run for the firmware", err);
	}
	snprintf(path, sizeof(path), "%s/" NAME, fp->folder);
	status = tool_save_file(path, data, size);
	free(data);
	err = status ? 0 : read_search_path(fp->before, sizeof(fp->before));
	if (!status && !err)
		err = write_search_path(fp->folder);
	if (err)
		status = fail(SEARCH_PATH, err);
	fp->active = true;
	if (status)
		leave(fp);
	return status;
}

int firmware_path_set(struct firmware_path *fp, const char *from)
{
	const char *env = getenv("NPU_FIRMWARE");
	char path[PATH_MAX];

	fp->active = false;
	if (env && *env)
		return lead_to(fp, env);
	if (!from || is_installed() || !find_in_build(path, sizeof(path)))
		return TOOL_OK;
	return lead_to(fp, path);
}

void firmware_path_restore(struct firmware_path *fp)
{
	int err;

	if (!fp->active)
		return;
	err = write_search_path(fp->before);
	if (err)
		tool_fail(SEARCH_PATH " is not restored to \"%s\": %s", fp->before, strerror(-err));
	leave(fp);
}
