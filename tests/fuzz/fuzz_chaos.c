// SPDX-License-Identifier: GPL-2.0-only
/* What only root can do to a device, while clients use it. */
#include <sys/syscall.h>

#include "tests/fuzz/fuzz.h"
#include "tests/kselftest/npu_test.h"

#define DEVICE		"npu_sim.npu.%u"
#define DRIVER		"/sys/bus/auxiliary/drivers/npu/"
#define FROZEN		"/sys/bus/auxiliary/devices/" DEVICE "/frozen"
#define RESET		"/sys/kernel/debug/accel/" DEVICE "/reset"
#define HANG_MS		"/sys/module/npu/parameters/hang_ms"

static int write_to(const char *format, unsigned int device, const char *text)
{
	char path[128];

	snprintf(path, sizeof(path), format, device);
	return test_write_file(path, text);
}

static void rebind(struct fuzz_thread *thread, unsigned int device)
{
	char name[32];

	snprintf(name, sizeof(name), DEVICE, device);
	test_write_file(DRIVER "unbind", name);
	usleep(fuzz_below(thread, 20000));
	test_write_file(DRIVER "bind", name);
}

/* A frozen device is found out and reset, if it has anything to do. */
static void freeze(struct fuzz_thread *thread, unsigned int device)
{
	write_to(FROZEN, device, "1");
	test_write_file(HANG_MS, "300");
	usleep(fuzz_below(thread, 1500000));
	write_to(FROZEN, device, "0");
	test_write_file(HANG_MS, "0");
}

/* Nobody is left who uses the files of the kernel that were written above. */
static void settle(void)
{
	unsigned int device;

	test_write_file(HANG_MS, "0");
	for (device = 0; device < 2; device++)
		write_to(FROZEN, device, "0");
}

void fuzz_chaos(uint64_t seed, const volatile bool *stop)
{
	struct fuzz_thread thread = { .random = seed };

	while (!*stop) {
		unsigned int device = fuzz_below(&thread, 2);

		usleep(fuzz_below(&thread, 300000));
		switch (fuzz_below(&thread, 4)) {
		case 0:
			rebind(&thread, device);
			break;
		case 1:
			freeze(&thread, device);
			break;
		default:
			write_to(RESET, device, "1");
			break;
		}
	}
	settle();
}
