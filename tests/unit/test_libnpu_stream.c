// SPDX-License-Identifier: MIT
/* Devices, buffers, streams and events on the device model in this process. */
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>
#include <npu/npu.h>
#include "npu_isa.h"
#include "npu_proto.h"
#include "npu_regs.h"
#include "tests/unit/libnpu_image.h"

/* Compiled once more for the virtual machine, with the node of a real driver. */
#ifndef TEST_DEVICE
#define TEST_DEVICE	"sim"
#endif

#define JOBS	600

struct fixture {
	struct npu_device *dev;
	struct npu_stream *stream;
	struct npu_buffer *insn;
	struct npu_buffer *data;	/* weights, micro-ops, x and y of each job */
	struct program program;
};

enum { AT_W = 0, AT_UOP = 256, AT_X = 4096, STEP = 64, AT_Y = AT_X + JOBS * STEP };

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	uint8_t *data;

	program_make(&f->program);
	if (npu_device_open(&f->dev, TEST_DEVICE))
		fail_msg("%s", npu_error_message());
	assert_int_equal(npu_stream_create(f->dev, NULL, &f->stream), 0);
	assert_int_equal(npu_buffer_alloc(f->dev, f->program.insn_count * NPU_INSN_BYTES,
					  NPU_BUFFER_READ_ONLY | NPU_BUFFER_EXECUTE, &f->insn), 0);
	assert_int_equal(npu_buffer_alloc(f->dev, AT_Y + JOBS * STEP, 0, &f->data), 0);
	memcpy(npu_buffer_data(f->insn), f->program.insns,
	       f->program.insn_count * NPU_INSN_BYTES);
	data = npu_buffer_data(f->data);
	memcpy(data + AT_W, image_weights, sizeof(image_weights));
	memcpy(data + AT_UOP, f->program.uops, f->program.uop_bytes);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	npu_stream_destroy(f->stream);
	npu_buffer_free(f->insn);
	npu_buffer_free(f->data);
	npu_device_close(f->dev);
	program_free(&f->program);
	free(f);
	return 0;
}

static int8_t *at(struct fixture *f, size_t offset)
{
	return (int8_t *)npu_buffer_data(f->data) + offset;
}

static struct npu_job job(struct fixture *f, struct npu_job_region *regions, unsigned int n)
{
	uint64_t base = npu_buffer_address(f->data);

	memset(regions, 0, IMAGE_REGIONS * sizeof(*regions));
	regions[IMAGE_REGION_X] = (struct npu_job_region) { base + AT_X + n * STEP, 16 };
	regions[IMAGE_REGION_W] = (struct npu_job_region) { base + AT_W, 256 };
	regions[IMAGE_REGION_UOP] = (struct npu_job_region) { base + AT_UOP, 64 };
	regions[IMAGE_REGION_Y] = (struct npu_job_region) { base + AT_Y + n * STEP, 16 };
	return (struct npu_job) {
		.insn_address = npu_buffer_address(f->insn),
		.insn_count = f->program.insn_count,
		.region_count = IMAGE_REGIONS,
		.regions = regions,
	};
}

static void assert_message(const char *text)
{
	if (!strstr(npu_error_message(), text))
		fail_msg("\"%s\" is not in \"%s\"", text, npu_error_message());
}

static void test_device_info(void **state)
{
	struct fixture *f = *state;
	struct npu_device_info info;
	uint64_t ticks, ns;
	char small[1] = { 1 };

	assert_int_equal(npu_device_get_info(f->dev, &info, sizeof(info)), 0);
	assert_string_equal(info.path, TEST_DEVICE);
	assert_string_equal(info.backend, TEST_DEVICE[0] == '/' ? "accel" : "sim");
	assert_in_range(info.cores, 1, NPU_MAX_CORES);
	assert_int_equal(info.config0, NPU_HOST_CONFIG0_RESET);
	assert_true(info.fw_proto >= NPU_PROTO_MIN && info.fw_proto <= NPU_PROTO_MAX);
	assert_int_equal(npu_device_get_info(f->dev, (void *)small, 1), 0);
	assert_int_equal(small[0], TEST_DEVICE[0]);
	assert_int_equal(npu_device_get_info(f->dev, &info, 0), -EINVAL);
	assert_int_equal(npu_device_get_time(f->dev, &ticks, &ns), 0);
	assert_true(ticks > 0);
}

static void test_one_job(void **state)
{
	struct fixture *f = *state;
	struct npu_job_region regions[IMAGE_REGIONS];
	struct npu_job j = job(f, regions, 0);
	struct npu_report report;
	int8_t want[16];
	uint64_t seqno;
	int i;

	for (i = 0; i < 16; i++)
		at(f, AT_X)[i] = i * 11 - 70;
	assert_int_equal(npu_stream_submit(f->stream, &j, 1, &seqno), 0);
	assert_int_equal(seqno, 1);
	/* The table was copied. */
	memset(regions, 0xff, sizeof(regions));
	assert_int_equal(npu_stream_wait(f->stream, seqno, NPU_FOREVER), 0);
	assert_int_equal(npu_stream_report(f->stream, seqno, &report), 0);
	assert_int_equal(report.status, NPU_JOB_STATUS_OK);
	assert_int_equal(report.macs, 256);
	assert_true(report.cycles > 0);
	assert_true(report.end_tick - report.start_tick >= report.cycles);
	image_expect(image_weights, at(f, AT_X), want);
	assert_memory_equal(at(f, AT_Y), want, sizeof(want));
}

static void test_many_jobs_and_equal_cycles(void **state)
{
	struct fixture *f = *state;
	struct npu_job_region regions[60][IMAGE_REGIONS];
	struct npu_job jobs[60];
	struct npu_report report;
	uint64_t seqno, cycles = 0;
	int8_t want[16];
	unsigned int n, i;

	for (n = 0; n < JOBS * STEP; n++)
		at(f, AT_X)[n] = n * 37 + n / 64;
	for (n = 0; n < JOBS; n += 60) {
		for (i = 0; i < 60; i++)
			jobs[i] = job(f, regions[i], n + i);
		assert_int_equal(npu_stream_submit(f->stream, jobs, 60, &seqno), 0);
		assert_int_equal(seqno, n + 60);
	}
	assert_int_equal(npu_stream_wait(f->stream, 0, NPU_FOREVER), 0);
	for (n = 0; n < JOBS; n++) {
		image_expect(image_weights, at(f, AT_X + n * STEP), want);
		assert_memory_equal(at(f, AT_Y + n * STEP), want, sizeof(want));
		if (n + 1 <= JOBS - 256)
			continue;
		assert_int_equal(npu_stream_report(f->stream, n + 1, &report), 0);
		if (!cycles)
			cycles = report.cycles;
		assert_int_equal(report.cycles, cycles);
	}
	assert_int_equal(npu_stream_report(f->stream, JOBS - 256, NULL), -ENOENT);
	assert_int_equal(npu_stream_report(f->stream, JOBS + 1, NULL), -ENOENT);
}

static void test_null_jobs(void **state)
{
	struct fixture *f = *state;
	struct npu_job jobs[64] = { 0 };
	struct npu_report report;
	uint64_t seqno;
	int i;

	for (i = 1; i <= 10; i++) {
		assert_int_equal(npu_stream_submit(f->stream, jobs, 64, &seqno), 0);
		assert_int_equal(seqno, 64 * i);
	}
	assert_int_equal(npu_stream_wait(f->stream, 0, NPU_FOREVER), 0);
	assert_int_equal(npu_stream_report(f->stream, 640, &report), 0);
	assert_int_equal(report.cycles, 0);
}

/* A region that is too small, then a good job: the fault is told, the queue lives on. */
static void test_fault(void **state)
{
	struct fixture *f = *state;
	struct npu_job_region regions[2][IMAGE_REGIONS];
	struct npu_job jobs[2] = { job(f, regions[0], 0), job(f, regions[1], 1) };
	struct npu_report report;
	uint64_t seqno;

	regions[0][IMAGE_REGION_Y].limit = 15;
	assert_int_equal(npu_stream_submit(f->stream, jobs, 2, &seqno), 0);
	assert_int_equal(npu_stream_wait(f->stream, seqno, NPU_FOREVER), 0);
	assert_int_equal(npu_stream_report(f->stream, 1, &report), -EFAULT);
	assert_int_equal(report.status, NPU_JOB_STATUS_FAULT);
	assert_int_equal(report.fault_code, NPU_FAULT_REGION);
	assert_int_equal(report.fault_unit, NPU_UNIT_STORE);
	assert_int_equal(report.fault_access, NPU_ACCESS_WRITE);
	assert_int_equal(report.fault_address, regions[0][IMAGE_REGION_Y].base);
	assert_message("job 1: fault \"region\" of unit store");
	assert_int_equal(npu_stream_report(f->stream, 2, &report), 0);
}

static void check_fault(struct fixture *f, struct npu_job *j, unsigned int code,
			unsigned int unit, uint64_t address)
{
	struct npu_report report;
	uint64_t seqno;

	assert_int_equal(npu_stream_submit(f->stream, j, 1, &seqno), 0);
	assert_int_equal(npu_stream_wait(f->stream, seqno, NPU_FOREVER), 0);
	assert_int_equal(npu_stream_report(f->stream, seqno, &report), -EFAULT);
	assert_int_equal(report.fault_code, code);
	assert_int_equal(report.fault_unit, unit);
	assert_int_equal(report.fault_address, address);
}

static void test_rights_and_unmapped_memory(void **state)
{
	struct fixture *f = *state;
	struct npu_job_region regions[IMAGE_REGIONS];
	struct npu_job j = job(f, regions, 0);
	struct npu_buffer *gone;
	uint64_t insn = npu_buffer_address(f->insn);
	uint64_t address;

	/* The store's target is read-only. */
	regions[IMAGE_REGION_Y].base = insn;
	check_fault(f, &j, NPU_FAULT_PERMISSION, NPU_UNIT_STORE, insn);
	/* Instructions out of a buffer that is not for them. */
	j = job(f, regions, 0);
	j.insn_address = npu_buffer_address(f->data);
	check_fault(f, &j, NPU_FAULT_PERMISSION, NPU_UNIT_FETCH, j.insn_address);
	/* A buffer that was freed. */
	assert_int_equal(npu_buffer_alloc(f->dev, 4096, 0, &gone), 0);
	address = npu_buffer_address(gone);
	j = job(f, regions, 0);
	regions[IMAGE_REGION_X].base = address;
	assert_int_equal(npu_stream_submit(f->stream, &j, 1, NULL), 0);
	assert_int_equal(npu_stream_wait(f->stream, 0, NPU_FOREVER), 0);
	assert_int_equal(npu_stream_report(f->stream, 0, NULL), 0);
	npu_buffer_free(gone);
	check_fault(f, &j, NPU_FAULT_UNMAPPED, NPU_UNIT_LOAD, address);
}

static void test_limit(void **state)
{
	struct fixture *f = *state;
	struct npu_job_region regions[IMAGE_REGIONS];
	struct npu_job j = job(f, regions, 0);
	struct npu_report report;

	j.limit = 1;
	assert_int_equal(npu_stream_submit(f->stream, &j, 1, NULL), 0);
	assert_int_equal(npu_stream_wait(f->stream, 0, NPU_FOREVER), 0);
	assert_int_equal(npu_stream_report(f->stream, 0, &report), -ETIME);
	assert_int_equal(report.status, NPU_JOB_STATUS_LIMIT);
	assert_message("limit after");
}

static void test_refused_jobs(void **state)
{
	struct fixture *f = *state;
	struct npu_job_region regions[NPU_REGION_TABLE_MAX + 1] = { 0 };
	struct npu_job j = job(f, regions, 0);
	uint64_t seqno = 77;

	j.insn_address += 8;
	assert_int_equal(npu_stream_submit(f->stream, &j, 1, &seqno), -EINVAL);
	assert_message("expected a multiple of 16");
	j = job(f, regions, 0);
	j.region_count = NPU_REGION_TABLE_MAX + 1;
	assert_int_equal(npu_stream_submit(f->stream, &j, 1, &seqno), -EINVAL);
	assert_message("expected at most 24, found 25");
	j = job(f, regions, 0);
	j.regions = NULL;
	assert_int_equal(npu_stream_submit(f->stream, &j, 1, &seqno), -EINVAL);
	j = job(f, regions, 0);
	j.limit = UINT64_MAX;
	assert_int_equal(npu_stream_submit(f->stream, &j, 1, &seqno), -EINVAL);
	j.insn_count = 0;
	assert_int_equal(npu_stream_submit(f->stream, &j, 1, &seqno), -EINVAL);
	assert_message("null job");
	assert_int_equal(npu_stream_submit(f->stream, &j, 0, &seqno), -EINVAL);
	assert_int_equal(npu_stream_submit(f->stream, &j, 1000, &seqno), -EINVAL);
	assert_int_equal(seqno, 77);
	assert_int_equal(npu_stream_wait(f->stream, 1, 0), -EINVAL);
	assert_int_equal(npu_stream_wait(f->stream, 0, 0), 0);
	assert_int_equal(npu_stream_report(f->stream, 0, NULL), -ENOENT);
}

static void test_refused_options(void **state)
{
	struct fixture *f = *state;
	struct npu_stream_options o = { .priority = NPU_PRIORITIES };
	struct npu_stream *stream = NULL;
	struct npu_buffer *buf = NULL;

	assert_int_equal(npu_stream_create(f->dev, &o, &stream), -EINVAL);
	assert_message("expected 0 to 3, found 4");
	o = (struct npu_stream_options) { .core_mask = 0x80000000 };
	assert_int_equal(npu_stream_create(f->dev, &o, &stream), -EINVAL);
	o = (struct npu_stream_options) { .limit = UINT64_MAX };
	assert_int_equal(npu_stream_create(f->dev, &o, &stream), -EINVAL);
	assert_null(stream);
	assert_int_equal(npu_buffer_alloc(f->dev, 0, 0, &buf), -EINVAL);
	assert_int_equal(npu_buffer_alloc(f->dev, SIZE_MAX, 0, &buf), -EINVAL);
	assert_true(npu_buffer_alloc(f->dev, 1ull << 37, 0, &buf) < 0);
	assert_int_equal(npu_buffer_alloc(f->dev, 4096, 0x80, &buf), -EINVAL);
	assert_null(buf);
	assert_int_equal(npu_buffer_sync(f->data, 3), -EINVAL);
	assert_int_equal(npu_buffer_sync(f->data, NPU_SYNC_FOR_DEVICE), 0);
	assert_int_equal(npu_buffer_sync(f->data, NPU_SYNC_FOR_HOST), 0);
}

static void test_queue_slots_run_out(void **state)
{
	struct fixture *f = *state;
	struct npu_stream *streams[300];
	struct npu_device_info info;
	unsigned int n;
	int ret = 0;

	npu_device_get_info(f->dev, &info, sizeof(info));
	for (n = 0; n < 300 && !ret; n++)
		ret = npu_stream_create(f->dev, NULL, &streams[n]);
	assert_int_equal(ret, -ENOSPC);
	assert_int_equal(n, info.queue_slots);
	for (n--; n-- > 0;)
		npu_stream_destroy(streams[n]);
	assert_int_equal(npu_stream_create(f->dev, NULL, &streams[0]), 0);
	npu_stream_destroy(streams[0]);
}

/* Job of one stream writes what the job of the other reads. */
static void test_events_order_streams(void **state)
{
	struct fixture *f = *state;
	struct npu_job_region regions[2][IMAGE_REGIONS];
	struct npu_stream_event *event;
	struct npu_stream *second;
	int8_t mid[16], want[16];
	struct npu_job j;
	int round, i;

	assert_int_equal(npu_event_create(f->dev, &event), 0);
	assert_int_equal(npu_event_wait(event, 0), 0);
	assert_int_equal(npu_stream_create(f->dev, NULL, &second), 0);
	for (round = 0; round < 20; round++) {
		for (i = 0; i < 16; i++)
			at(f, AT_X)[i] = i + round;
		j = job(f, regions[0], 0);
		assert_int_equal(npu_stream_submit(f->stream, &j, 1, NULL), 0);
		assert_int_equal(npu_event_record(event, f->stream), 0);
		assert_int_equal(npu_stream_wait_event(second, event), 0);
		j = job(f, regions[1], 1);
		regions[1][IMAGE_REGION_X].base = regions[0][IMAGE_REGION_Y].base;
		assert_int_equal(npu_stream_submit(second, &j, 1, NULL), 0);
		assert_int_equal(npu_event_record(event, second), 0);
		assert_int_equal(npu_stream_wait_event(f->stream, event), 0);
		assert_int_equal(npu_event_wait(event, NPU_FOREVER), 0);
		image_expect(image_weights, at(f, AT_X), mid);
		image_expect(image_weights, mid, want);
		assert_memory_equal(at(f, AT_Y + STEP), want, 16);
	}
	npu_stream_destroy(second);
	/* A stream that is gone has nothing under way. */
	assert_int_equal(npu_event_wait(event, 0), 0);
	npu_event_destroy(event);
}

static void test_other_devices_are_refused(void **state)
{
	struct fixture *f = *state;
	struct npu_stream_event *event;
	struct npu_device *other;

	assert_int_equal(npu_device_open(&other, TEST_DEVICE), 0);
	assert_int_equal(npu_event_create(other, &event), 0);
	assert_int_equal(npu_event_record(event, f->stream), -EINVAL);
	assert_int_equal(npu_stream_wait_event(f->stream, event), -EINVAL);
	/* The event keeps the device alive. */
	npu_device_close(other);
	assert_int_equal(npu_event_wait(event, 0), 0);
	npu_event_destroy(event);
}

static void test_destroy_with_jobs_under_way(void **state)
{
	struct fixture *f = *state;
	struct npu_job_region regions[64][IMAGE_REGIONS];
	struct npu_job jobs[64];
	struct npu_stream *stream;
	int i, round;

	for (i = 0; i < 64; i++)
		jobs[i] = job(f, regions[i], i);
	for (round = 0; round < 10; round++) {
		assert_int_equal(npu_stream_create(f->dev, NULL, &stream), 0);
		assert_int_equal(npu_stream_submit(stream, jobs, 64, NULL), 0);
		assert_int_equal(npu_stream_submit(stream, jobs, 64, NULL), 0);
		npu_stream_destroy(stream);
	}
	assert_int_equal(npu_stream_submit(f->stream, jobs, 64, NULL), 0);
	assert_int_equal(npu_stream_wait(f->stream, 0, NPU_FOREVER), 0);
	assert_int_equal(npu_stream_report(f->stream, 64, NULL), 0);
}

static void *hammer(void *arg)
{
	struct fixture *f = arg;
	struct npu_job_region regions[IMAGE_REGIONS];
	struct npu_job j = job(f, regions, 0);
	struct npu_buffer *buf;
	struct npu_stream *stream;
	uint64_t seqno;
	long failures = 0;
	int i;

	failures += !!npu_stream_create(f->dev, NULL, &stream);
	for (i = 0; i < 100; i++) {
		failures += !!npu_buffer_alloc(f->dev, 4096 * (1 + i % 7), 0, &buf);
		regions[IMAGE_REGION_Y].base = npu_buffer_address(buf);
		failures += !!npu_stream_submit(stream, &j, 1, &seqno);
		failures += !!npu_stream_wait(stream, seqno, NPU_FOREVER);
		failures += !!npu_stream_report(stream, seqno, NULL);
		npu_buffer_free(buf);
	}
	npu_stream_destroy(stream);
	return (void *)failures;
}

static void test_threads(void **state)
{
	pthread_t threads[4];
	void *failures;
	int i;

	for (i = 0; i < 4; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, hammer, *state), 0);
	for (i = 0; i < 4; i++) {
		pthread_join(threads[i], &failures);
		assert_null(failures);
	}
}

/* ---- opening ---- */

static void check_open(const char *name, int error, const char *text)
{
	struct npu_device *dev = NULL;

	assert_int_equal(npu_device_open(&dev, name), error);
	assert_null(dev);
	assert_message(text);
}

static void test_open_errors(void **state)
{
	char file[] = "/tmp/npu-fw-XXXXXX";
	int fd = mkstemp(file);

	(void)state;
	assert_int_equal(ftruncate(fd, 600), 0);
	close(fd);
	check_open("nonsense", -EINVAL, "expected \"sim\", a number, or an absolute path");
	check_open("987654", -ENOENT, "/dev/accel/accel987654 does not exist");
	check_open("/dev/null", -ENODEV, "not the node of an accelerator");
	check_open("/0123456789012345678901234567890123456789012345678901234567890123456789",
		   -ENAMETOOLONG, "at most 63");
	setenv("NPU_FIRMWARE", "/nonexistent/fw", 1);
	check_open("sim", -ENOENT, "firmware /nonexistent/fw (from NPU_FIRMWARE)");
	setenv("NPU_FIRMWARE", "/dev", 1);
	check_open("sim", -EISDIR, "firmware /dev (from NPU_FIRMWARE)");
	setenv("NPU_FIRMWARE", file, 1);
	check_open("sim", -ENOEXEC, "magic: expected 0x4655504e");
	unsetenv("NPU_FIRMWARE");
	unlink(file);
}

static void run_in(const char *format, const char *root)
{
	char command[512];

	snprintf(command, sizeof(command), format, root);
	assert_int_equal(system(command), 0);
}

static void test_enumeration(void **state)
{
	char root[] = "/tmp/npu-sysfs-XXXXXX";
	struct npu_device_entry entries[2];
	unsigned int count;

	(void)state;
	assert_non_null(mkdtemp(root));
	setenv("NPU_SYSFS", root, 1);
	unsetenv("NPU_DEVICE");
	assert_int_equal(npu_device_list(NULL, 0, &count), 0);
	assert_int_equal(count, 0);
	check_open(NULL, -ENODEV, "npu.ko is not loaded (0 other accelerators)");

	run_in("cd %s && mkdir -p module/npu class/accel devices/npu_sim.0 devices/other "
		 "drivers/npu drivers/ivpu", root);
	check_open(NULL, -ENODEV, "is loaded but has no device");
	run_in("cd %s && for n in 10 2; do mkdir class/accel/accel$n && "
		 "ln -s ../../../devices/npu_sim.0 class/accel/accel$n/device; done; "
		 "ln -s ../../drivers/npu devices/npu_sim.0/driver", root);
	run_in("cd %s && mkdir class/accel/accel0 && "
		 "ln -s ../../../devices/other class/accel/accel0/device && "
		 "ln -s ../../drivers/ivpu devices/other/driver", root);
	assert_int_equal(npu_device_list(entries, 2, &count), 0);
	assert_int_equal(count, 2);
	assert_string_equal(entries[0].path, "/dev/accel/accel2");
	assert_string_equal(entries[0].parent, "npu_sim.0");
	assert_string_equal(entries[0].driver, "npu");
	assert_string_equal(entries[1].path, "/dev/accel/accel10");
	assert_int_equal(npu_device_list(entries, 1, &count), 0);
	assert_int_equal(count, 2);
	if (access("/dev/accel/accel2", F_OK))
		check_open(NULL, -ENOENT, "/dev/accel/accel2 does not exist");
	unsetenv("NPU_SYSFS");
	run_in("rm -rf %s", root);
}

static void test_environment_names_the_device(void **state)
{
	struct npu_device_info info;
	struct npu_device *dev;

	(void)state;
	setenv("NPU_DEVICE", "sim", 1);
	assert_int_equal(npu_device_open(&dev, NULL), 0);
	assert_int_equal(npu_device_get_info(dev, &info, sizeof(info)), 0);
	assert_string_equal(info.path, "sim");
	npu_device_close(dev);
	unsetenv("NPU_DEVICE");
	npu_device_close(NULL);
	assert_non_null(npu_version());
}

int main(void)
{
#define WITH(test)	cmocka_unit_test_setup_teardown(test, setup, teardown)
	const struct CMUnitTest tests[] = {
		WITH(test_device_info),
		WITH(test_one_job),
		WITH(test_many_jobs_and_equal_cycles),
		WITH(test_null_jobs),
		WITH(test_fault),
		WITH(test_rights_and_unmapped_memory),
		WITH(test_limit),
		WITH(test_refused_jobs),
		WITH(test_refused_options),
		WITH(test_queue_slots_run_out),
		WITH(test_events_order_streams),
		WITH(test_other_devices_are_refused),
		WITH(test_destroy_with_jobs_under_way),
		WITH(test_threads),
		cmocka_unit_test(test_open_errors),
		cmocka_unit_test(test_enumeration),
		cmocka_unit_test(test_environment_names_the_device),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("libnpu streams", tests, NULL, NULL);
}
