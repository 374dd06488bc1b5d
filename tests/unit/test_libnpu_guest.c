// SPDX-License-Identifier: GPL-2.0-only
/* Errors that only a device of the kernel's driver can meet; as root in the virtual machine. */
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/capability.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <cmocka.h>
#include <npu/npu.h>
#include "tests/kselftest/npu_test.h"

#define NODE	"/dev/accel/accel0"
#define DEVICE	"npu_sim.npu.0"
#define DRIVER	"/sys/bus/auxiliary/drivers/npu/"
#define FROZEN	"/sys/bus/auxiliary/devices/" DEVICE "/frozen"
#define HANG_MS	"/sys/module/npu/parameters/hang_ms"
#define CGROUP	"/sys/fs/cgroup/npu-test"
#define NOBODY	65534

static bool says(const char *text)
{
	if (strstr(npu_error_message(), text))
		return true;
	printf("# \"%s\" is not in \"%s\"\n", text, npu_error_message());
	return false;
}

static bool open_fails(const char *path, int error, const char *text)
{
	struct npu_device *dev = NULL;
	int ret = npu_device_open(&dev, path);

	if (ret != error)
		printf("# opening: %d, expected %d\n", ret, error);
	return ret == error && says(text);
}

/* @check in a process of its own. */
static void in_child(bool (*check)(void))
{
	int status;
	pid_t pid = fork();

	if (!pid) {
		bool good = check();

		fflush(stdout);
		_exit(!good);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

/* ---- permissions ---- */

static bool mode_forbids(void)
{
	return !setgid(NOBODY) && !setuid(NOBODY) && open_fails(NODE, -EACCES, "it is for user 0");
}

static void test_mode(void **state)
{
	struct stat st;

	(void)state;
	assert_int_equal(stat(NODE, &st), 0);
	assert_int_equal(chmod(NODE, 0600), 0);
	in_child(mode_forbids);
	assert_int_equal(chmod(NODE, st.st_mode & 07777), 0);
}

static bool file_system_forbids(void)
{
	struct stat st;

	return !stat(NODE, &st) && !mkdir("/run/nodev", 0755) &&
	       !mount("none", "/run/nodev", "tmpfs", MS_NODEV, NULL) &&
	       !mknod("/run/nodev/accel0", S_IFCHR | 0666, st.st_rdev) &&
	       open_fails("/run/nodev/accel0", -EACCES, "mounted nodev") &&
	       !umount("/run/nodev") && !rmdir("/run/nodev");
}

static void test_file_system(void **state)
{
	(void)state;
	in_child(file_system_forbids);
}

static int bpf(int command, union bpf_attr *attr)
{
	return syscall(SYS_bpf, command, attr, sizeof(*attr));
}

/* A program of the cgroup @fd that forbids all devices: r0 = 0; exit. */
static int forbid_devices(int fd)
{
	static const struct bpf_insn insns[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K }, { .code = BPF_JMP | BPF_EXIT },
	};
	union bpf_attr load = { 0 }, attach = { 0 };
	int program;

	load.prog_type = BPF_PROG_TYPE_CGROUP_DEVICE;
	load.insns = PTR(insns);
	load.insn_cnt = 2;
	load.license = PTR("GPL");
	program = bpf(BPF_PROG_LOAD, &load);
	if (program < 0)
		return -errno;
	attach.target_fd = fd;
	attach.attach_bpf_fd = program;
	attach.attach_type = BPF_CGROUP_DEVICE;
	return bpf(BPF_PROG_ATTACH, &attach) ? -errno : 0;
}

static bool cgroup_forbids(void)
{
	return !test_write_file(CGROUP "/cgroup.procs", "0") &&
	       open_fails(NODE, -EACCES, "device cgroup");
}

static void test_device_cgroup(void **state)
{
	int fd;

	(void)state;
	assert_int_equal(mkdir(CGROUP, 0755), 0);
	fd = open(CGROUP, O_RDONLY | O_DIRECTORY);
	assert_true(fd >= 0);
	assert_int_equal(forbid_devices(fd), 0);
	in_child(cgroup_forbids);
	close(fd);
	assert_int_equal(rmdir(CGROUP), 0);
}

static bool priority_forbidden(void)
{
	struct npu_stream_options options = { .priority = 3 };
	struct npu_stream *stream;
	struct npu_device *dev;

	return !npu_device_open(&dev, NODE) && !setgid(NOBODY) && !setuid(NOBODY) &&
	       npu_stream_create(dev, &options, &stream) == -EACCES && says("CAP_SYS_NICE");
}

static void test_priority(void **state)
{
	(void)state;
	in_child(priority_forbidden);
}

/* ---- a device that hangs, one that goes ---- */

/* The file descriptor that the library has of the node. */
static int find_fd(void)
{
	char path[64], target[64];
	ssize_t n;
	int fd;

	for (fd = 0; fd < 1024; fd++) {
		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
		n = readlink(path, target, sizeof(target) - 1);
		if (n > 0 && !strncmp(target, NODE, n) && n == (ssize_t)strlen(NODE))
			return fd;
	}
	return -1;
}

static void test_banned_queue(void **state)
{
	struct npu_job spin, null = { 0 };
	struct npu_stream *stream, *other;
	struct npu_device *dev;
	struct npu_buffer *code;

	(void)state;
	assert_int_equal(npu_device_open(&dev, NODE), 0);
	assert_int_equal(npu_buffer_alloc(dev, 4096, NPU_BUFFER_EXECUTE, &code), 0);
	assert_int_equal(npu_stream_create(dev, NULL, &stream), 0);
	spin = (struct npu_job) { .insn_address = npu_buffer_address(code) };
	spin.insn_count = test_spin_program(npu_buffer_data(code));
	assert_int_equal(npu_stream_submit(stream, &spin, 1, NULL), 0);
	test_wait_until_it_runs(find_fd());
	assert_int_equal(test_write_file(FROZEN, "1"), 0);
	assert_int_equal(test_write_file(HANG_MS, "200"), 0);
	assert_int_equal(npu_stream_wait(stream, 0, NPU_FOREVER), 0);
	assert_int_equal(test_write_file(HANG_MS, "0"), 0);
	assert_int_equal(npu_stream_report(stream, 0, NULL), -ECANCELED);
	assert_int_equal(npu_stream_submit(stream, &null, 1, NULL), -EIO);
	assert_true(says("the queue is banned, since its job 1 hung the device"));
	/* As the message says. */
	assert_int_equal(npu_stream_create(dev, NULL, &other), 0);
	assert_int_equal(npu_stream_submit(other, &null, 1, NULL), 0);
	assert_int_equal(npu_stream_wait(other, 0, NPU_FOREVER), 0);
	npu_stream_destroy(other);
	npu_stream_destroy(stream);
	npu_buffer_free(code);
	npu_device_close(dev);
}

static bool has_node(void)
{
	struct npu_device_entry entries[16];
	unsigned int count, i;

	assert_int_equal(npu_device_list(entries, 16, &count), 0);
	for (i = 0; i < count; i++)
		if (!strcmp(entries[i].parent, DEVICE))
			return !strcmp(entries[i].path, NODE);
	return false;
}

/* Its number is free for it when the driver has let go of the last object, which takes a moment. */
static void bind_again(void)
{
	assert_int_equal(test_write_file(DRIVER "bind", DEVICE), 0);
	while (!has_node()) {
		assert_int_equal(test_write_file(DRIVER "unbind", DEVICE), 0);
		usleep(20000);
		assert_int_equal(test_write_file(DRIVER "bind", DEVICE), 0);
	}
}

static void test_device_is_gone(void **state)
{
	struct npu_stream *stream, *other;
	struct npu_device_info info;
	struct npu_job null = { 0 };
	struct npu_device *dev;
	struct npu_buffer *buf, *more;

	(void)state;
	assert_int_equal(npu_device_open(&dev, NODE), 0);
	assert_int_equal(npu_stream_create(dev, NULL, &stream), 0);
	assert_int_equal(npu_buffer_alloc(dev, 4096, 0, &buf), 0);
	assert_int_equal(test_write_file(DRIVER "unbind", DEVICE), 0);
	assert_int_equal(npu_stream_submit(stream, &null, 1, NULL), -ENODEV);
	assert_true(says("the device is gone"));
	assert_int_equal(npu_buffer_alloc(dev, 4096, 0, &more), -ENODEV);
	assert_true(says("creating a buffer: the device is gone"));
	assert_int_equal(npu_stream_create(dev, NULL, &other), -ENODEV);
	assert_true(says("the device is gone"));
	assert_int_equal(npu_device_get_info(dev, &info, sizeof(info)), -ENODEV);
	assert_true(says("the device is gone"));
	/* What exists can be given back, and memory still be read. */
	memset(npu_buffer_data(buf), 1, 4096);
	npu_buffer_free(buf);
	npu_stream_destroy(stream);
	npu_device_close(dev);
	assert_true(open_fails(NODE, -ENOENT, "is loaded and has no such device"));
	bind_again();
	assert_int_equal(npu_device_open(&dev, NODE), 0);
	npu_device_close(dev);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_mode),
		cmocka_unit_test(test_file_system),
		cmocka_unit_test(test_device_cgroup),
		cmocka_unit_test(test_priority),
		cmocka_unit_test(test_banned_queue),
		cmocka_unit_test(test_device_is_gone),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("libnpu errors of a device", tests, NULL, NULL);
}
