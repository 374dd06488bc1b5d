// SPDX-License-Identifier: MIT
/* Errors of opening a device name what stands in the way. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>
#include <npu/npu.h>
#include "firmware/host/npu_host.h"

#define NOBODY	65534

struct fixture {
	char root[32];
	char path[64];
};

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	strcpy(f->root, "/tmp/npu-errors-XXXXXX");
	assert_non_null(mkdtemp(f->root));
	chmod(f->root, 0755);
	snprintf(f->path, sizeof(f->path), "%s/accel0", f->root);
	setenv("NPU_SYSFS", f->root, 1);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;
	char command[64];

	snprintf(command, sizeof(command), "rm -rf %s", f->root);
	assert_int_equal(system(command), 0);
	unsetenv("NPU_SYSFS");
	unsetenv("NPU_FIRMWARE");
	free(f);
	return 0;
}

/* The error of opening; 0 if its message lacks @text. */
static int open_error(const char *name, const char *text)
{
	struct npu_device *dev = NULL;
	int ret = npu_device_open(&dev, name);

	if (!strstr(npu_error_message(), text)) {
		printf("# \"%s\" is not in \"%s\"\n", text, npu_error_message());
		return 0;
	}
	return dev ? 1 : ret;
}

static void make_folder(const struct fixture *f, const char *name)
{
	char command[128];

	snprintf(command, sizeof(command), "mkdir -p %s/%s", f->root, name);
	assert_int_equal(system(command), 0);
}

static void test_node_is_absent(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(open_error(f->path, "accel0 does not exist: the driver npu.ko is not loaded"),
			 -ENOENT);
	make_folder(f, "module/npu");
	assert_int_equal(open_error(f->path, "is loaded and has no such device"), -ENOENT);
	make_folder(f, "class/accel/accel0");
	assert_int_equal(open_error(f->path, "the kernel has the device: udev has not made its node"),
			 -ENOENT);
}

/* In a process of its own that is not root's: whether opening gave EACCES and the text. */
static void check_as_nobody(const char *path, const char *text)
{
	int status;
	pid_t pid = fork();

	if (!pid) {
		if (!geteuid() && (setgid(NOBODY) || setuid(NOBODY)))
			_exit(2);
		_exit(open_error(path, text) != -EACCES);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

static void test_no_permission(void **state)
{
	struct fixture *f = *state;
	FILE *file = fopen(f->path, "w");

	fclose(file);
	chmod(f->path, 0);
	check_as_nobody(f->path, "no permission to open");
	check_as_nobody(f->path, "it is for user");
	check_as_nobody(f->path, "mode 0");
	if (geteuid())
		return;
	chmod(f->root, 0700);
	check_as_nobody(f->path, "a folder on the way cannot be entered");
}

static void test_other_nodes(void **state)
{
	struct fixture *f = *state;
	FILE *file = fopen(f->path, "w");

	fclose(file);
	assert_int_equal(open_error(f->path, "is not the node of an accelerator"), -ENODEV);
	assert_int_equal(open_error(f->root, "Is a directory"), -EISDIR);
}

/* The image, as @change leaves its head; @spoil: with a payload that its checksum does not fit. */
static void write_image(const char *path, void (*change)(struct npu_fw_header *head), bool spoil)
{
	static uint8_t image[1 << 20];
	struct npu_fw_header *head = (void *)image;
	FILE *file = fopen(TEST_FIRMWARE, "r");
	size_t size;

	assert_non_null(file);
	size = fread(image, 1, sizeof(image), file);
	fclose(file);
	if (change)
		change(head);
	head->header_crc32 = 0;
	head->header_crc32 = NPU_LE32(npu_crc32(0, image, sizeof(*head)));
	if (spoil)
		image[size - 1] ^= 1;
	file = fopen(path, "w");
	assert_int_equal(fwrite(image, 1, size, file), size);
	fclose(file);
}

static void of_later_protocol(struct npu_fw_header *head)
{
	head->proto_min = NPU_LE16(NPU_PROTO_MAX + 1);
	head->proto_max = head->proto_min;
}

static void for_other_device(struct npu_fw_header *head)
{
	head->device ^= 1;
}

static void test_wrong_firmware(void **state)
{
	struct fixture *f = *state;
	struct npu_device *dev;

	setenv("NPU_FIRMWARE", f->path, 1);
	assert_int_equal(open_error("sim", "accel0 (from NPU_FIRMWARE): No such file"), -ENOENT);
	write_image(f->path, NULL, true);
	assert_int_equal(open_error("sim", "firmware"), -EBADMSG);
	assert_int_equal(open_error("sim", "CRC of the payload: expected"), -EBADMSG);
	write_image(f->path, of_later_protocol, false);
	assert_int_equal(open_error("sim", "lowest protocol version: expected"), -EPROTONOSUPPORT);
	write_image(f->path, for_other_device, false);
	assert_int_equal(open_error("sim", "device number: expected"), -ENODEV);
	write_image(f->path, NULL, false);
	assert_int_equal(npu_device_open(&dev, "sim"), 0);
	npu_device_close(dev);
}

int main(void)
{
#define WITH(test)	cmocka_unit_test_setup_teardown(test, setup, teardown)
	const struct CMUnitTest tests[] = {
		WITH(test_node_is_absent),
		WITH(test_no_permission),
		WITH(test_other_nodes),
		WITH(test_wrong_firmware),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("libnpu errors", tests, NULL, NULL);
}
