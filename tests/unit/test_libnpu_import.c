// SPDX-License-Identifier: MIT
/* Memory of the program that the device uses where it is, and copies where it cannot. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>
#include <npu/npu.h>
#include "npu_isa.h"
#include "npu_proto.h"
#include "tests/unit/libnpu_image.h"

/* Compiled once more for the virtual machine, with the node of a real driver. */
#ifndef TEST_DEVICE
#define TEST_DEVICE	"sim"
#endif

#define IS_SIM	(TEST_DEVICE[0] != '/')
#define PAGE	4096u
#define HUGE	(2u << 20)
#define NOBODY	65534

struct fixture {
	struct npu_device *dev;
	struct npu_stream *stream;
	struct npu_buffer *insn;
	struct npu_buffer *tables;	/* weights, micro-ops */
	struct program program;
};

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	uint8_t *tables;

	program_make(&f->program);
	if (npu_device_open(&f->dev, TEST_DEVICE))
		fail_msg("%s", npu_error_message());
	assert_int_equal(npu_stream_create(f->dev, NULL, &f->stream), 0);
	assert_int_equal(npu_buffer_alloc(f->dev, PAGE, NPU_BUFFER_EXECUTE, &f->insn), 0);
	assert_int_equal(npu_buffer_alloc(f->dev, PAGE, 0, &f->tables), 0);
	memcpy(npu_buffer_data(f->insn), f->program.insns,
	       f->program.insn_count * NPU_INSN_BYTES);
	tables = npu_buffer_data(f->tables);
	memcpy(tables, image_weights, sizeof(image_weights));
	memcpy(tables + 256, f->program.uops, f->program.uop_bytes);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	npu_stream_destroy(f->stream);
	npu_buffer_free(f->insn);
	npu_buffer_free(f->tables);
	npu_device_close(f->dev);
	program_free(&f->program);
	free(f);
	return 0;
}

/* y = W x at these device addresses. */
static int run(struct fixture *f, uint64_t x, uint64_t y, struct npu_report *report)
{
	uint64_t base = npu_buffer_address(f->tables);
	const struct npu_job_region regions[IMAGE_REGIONS] = {
		[IMAGE_REGION_X] = { x, IMAGE_BLOCK },
		[IMAGE_REGION_W] = { base, 256 },
		[IMAGE_REGION_UOP] = { base + 256, 64 },
		[IMAGE_REGION_Y] = { y, IMAGE_BLOCK },
	};
	const struct npu_job job = {
		.insn_address = npu_buffer_address(f->insn),
		.insn_count = f->program.insn_count,
		.region_count = IMAGE_REGIONS,
		.regions = regions,
	};

	assert_int_equal(npu_stream_submit(f->stream, &job, 1, NULL), 0);
	assert_int_equal(npu_stream_wait(f->stream, 0, NPU_FOREVER), 0);
	return npu_stream_report(f->stream, 0, report);
}

static void fill(int8_t *x, int seed)
{
	int i;

	for (i = 0; i < IMAGE_BLOCK; i++)
		x[i] = i * 11 + seed * 5 - 70;
}

static void assert_result(const int8_t *x, const int8_t *y)
{
	int8_t want[IMAGE_BLOCK];

	image_expect(image_weights, x, want);
	assert_memory_equal(y, want, sizeof(want));
}

static void assert_message(const char *text)
{
	if (!strstr(npu_error_message(), text))
		fail_msg("\"%s\" is not in \"%s\"", text, npu_error_message());
}

static void *map(size_t size, int protection)
{
	void *data = mmap(NULL, size, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_ptr_not_equal(data, MAP_FAILED);
	return data;
}

/* x and y lie beside other things of the program, which stay as they are. */
static void test_in_place(void **state)
{
	struct fixture *f = *state;
	uint8_t *heap = aligned_alloc(PAGE, 2 * PAGE);
	int8_t *x = (int8_t *)heap + PAGE - 64;
	struct npu_buffer *buf;
	uint64_t va;
	int round;

	memset(heap, 0xa5, 2 * PAGE);
	assert_int_equal(npu_buffer_import(f->dev, x, 192, 0, &buf), 0);
	assert_ptr_equal(npu_buffer_data(buf), x);
	assert_int_equal(npu_buffer_size(buf), 192);
	assert_int_equal(npu_buffer_is_copy(buf), 0);
	va = npu_buffer_address(buf);
	assert_int_equal(va % PAGE, PAGE - 64);
	for (round = 0; round < 3; round++) {
		fill(x, round);
		assert_int_equal(run(f, va, va + 128, NULL), 0);
		assert_result(x, x + 128);
	}
	npu_buffer_free(buf);
	/* The memory is the program's as before. */
	assert_result(x, x + 128);
	assert_int_equal(heap[PAGE - 65], 0xa5);
	assert_int_equal((uint8_t)x[144], 0xa5);
	free(heap);
}

static void test_large(void **state)
{
	struct fixture *f = *state;
	size_t size = 3 * HUGE + PAGE;
	int8_t *data = map(size, PROT_READ | PROT_WRITE);
	struct npu_buffer *buf;
	uint64_t va;

	assert_int_equal(npu_buffer_import(f->dev, data, size, 0, &buf), 0);
	va = npu_buffer_address(buf);
	fill(data + size - 64, 1);
	assert_int_equal(run(f, va + size - 64, va, NULL), 0);
	assert_result(data + size - 64, data);
	fill(data + HUGE, 2);
	assert_int_equal(run(f, va + HUGE, va + 2 * HUGE + 64, NULL), 0);
	assert_result(data + HUGE, data + 2 * HUGE + 64);
	npu_buffer_free(buf);
	munmap(data, size);
}

static void test_many(void **state)
{
	enum { COUNT = 200 };
	struct fixture *f = *state;
	struct npu_buffer *bufs[COUNT];
	int8_t *data = map(COUNT * PAGE, PROT_READ | PROT_WRITE);
	int i;

	for (i = 0; i < COUNT; i++) {
		fill(data + i * PAGE, i);
		assert_int_equal(npu_buffer_import(f->dev, data + i * PAGE, PAGE, 0, &bufs[i]), 0);
	}
	/* In another order than they came. */
	for (i = 0; i < COUNT; i += 2) {
		npu_buffer_free(bufs[i]);
		assert_int_equal(npu_buffer_import(f->dev, data + i * PAGE, 128, 0, &bufs[i]), 0);
	}
	for (i = 0; i < COUNT; i++) {
		uint64_t va = npu_buffer_address(bufs[i]);

		assert_int_equal(run(f, va, va + 64, NULL), 0);
		assert_result(data + i * PAGE, data + i * PAGE + 64);
	}
	for (i = 0; i < COUNT; i++)
		npu_buffer_free(bufs[i * 7 % COUNT]);
	munmap(data, COUNT * PAGE);
}

static void test_read_only(void **state)
{
	struct fixture *f = *state;
	int8_t *data = map(PAGE, PROT_READ | PROT_WRITE);
	struct npu_report report;
	struct npu_buffer *buf;
	uint64_t va, y = npu_buffer_address(f->tables) + 1024;

	fill(data, 3);
	assert_int_equal(mprotect(data, PAGE, PROT_READ), 0);
	assert_int_equal(npu_buffer_import(f->dev, data, PAGE, 0, &buf), -EACCES);
	assert_message("importing 4096 bytes");
	assert_int_equal(npu_buffer_import(f->dev, data, PAGE, NPU_BUFFER_MAY_COPY, &buf), -EACCES);
	assert_int_equal(npu_buffer_import(f->dev, data, PAGE, NPU_BUFFER_READ_ONLY, &buf), 0);
	va = npu_buffer_address(buf);
	assert_int_equal(run(f, va, y, NULL), 0);
	assert_result(data, (int8_t *)npu_buffer_data(f->tables) + 1024);
	assert_int_equal(run(f, va, va + 64, &report), -EFAULT);
	assert_int_equal(report.fault_code, NPU_FAULT_PERMISSION);
	assert_int_equal(report.fault_address, va + 64);
	npu_buffer_free(buf);
	munmap(data, PAGE);
}

static void test_unmapped(void **state)
{
	struct fixture *f = *state;
	uint8_t *data = map(3 * PAGE, PROT_READ | PROT_WRITE);
	struct npu_buffer *buf = NULL;

	munmap(data + PAGE, PAGE);
	assert_int_equal(npu_buffer_import(f->dev, data, 3 * PAGE, 0, &buf), -EFAULT);
	assert_message("nothing is mapped");
	assert_int_equal(npu_buffer_import(f->dev, data + PAGE, 64, NPU_BUFFER_MAY_COPY, &buf),
			 -EFAULT);
	assert_int_equal(npu_buffer_import(f->dev, NULL, 64, 0, &buf), -EFAULT);
	assert_true(npu_buffer_import(f->dev, data, SIZE_MAX / 2, 0, &buf) < 0);
	assert_int_equal(npu_buffer_import(f->dev, data, 0, 0, &buf), -EINVAL);
	assert_int_equal(npu_buffer_import(f->dev, data, 64, 1u << 7, &buf), -EINVAL);
	assert_int_equal(npu_buffer_alloc(f->dev, 64, NPU_BUFFER_MAY_COPY, &buf), -EINVAL);
	assert_null(buf);
	/* What failed has left nothing behind. */
	assert_int_equal(npu_buffer_import(f->dev, data, PAGE, 0, &buf), 0);
	npu_buffer_free(buf);
	munmap(data, PAGE);
	munmap(data + 2 * PAGE, PAGE);
}

static void test_not_reachable_afterwards(void **state)
{
	struct fixture *f = *state;
	int8_t *data = map(PAGE, PROT_READ | PROT_WRITE);
	struct npu_report report;
	struct npu_buffer *buf;
	uint64_t va;

	assert_int_equal(npu_buffer_import(f->dev, data, PAGE, 0, &buf), 0);
	va = npu_buffer_address(buf);
	assert_int_equal(run(f, va, va + 64, NULL), 0);
	npu_buffer_free(buf);
	memset(data, 1, PAGE);
	assert_int_equal(run(f, va, va + 64, &report), -EFAULT);
	assert_int_equal(report.fault_code, NPU_FAULT_UNMAPPED);
	assert_int_equal(data[64], 1);
	munmap(data, PAGE);
}

/* ---- copies ---- */

static void check_copy(struct fixture *f, struct npu_buffer *buf, int8_t *x)
{
	uint64_t va = npu_buffer_address(buf);

	assert_int_equal(npu_buffer_is_copy(buf), 1);
	assert_ptr_equal(npu_buffer_data(buf), x);
	/* What was there came with the import; y comes with the synchronisation. */
	assert_int_equal(run(f, va, va + 64, NULL), 0);
	assert_int_equal(x[64], 0);
	assert_int_equal(npu_buffer_sync(buf, NPU_SYNC_FOR_HOST), 0);
	assert_result(x, x + 64);
	fill(x, 9);
	assert_int_equal(npu_buffer_sync(buf, NPU_SYNC_FOR_DEVICE), 0);
	assert_int_equal(run(f, va, va + 64, NULL), 0);
	assert_int_equal(npu_buffer_sync(buf, NPU_SYNC_FOR_HOST), 0);
	assert_result(x, x + 64);
}

static void test_copy_is_explicit(void **state)
{
	struct fixture *f = *state;
	int8_t *data = map(PAGE, PROT_READ | PROT_WRITE);
	struct npu_buffer *buf = NULL;

	fill(data + 1, 4);
	assert_int_equal(npu_buffer_import(f->dev, data + 1, 128, 0, &buf), -EINVAL);
	assert_message("expected a multiple of 64");
	assert_null(buf);
	assert_int_equal(npu_buffer_import(f->dev, data + 1, 128, NPU_BUFFER_MAY_COPY, &buf), 0);
	check_copy(f, buf, data + 1);
	npu_buffer_free(buf);
	/* Where sharing is possible it is done. */
	assert_int_equal(npu_buffer_import(f->dev, data, 128, NPU_BUFFER_MAY_COPY, &buf), 0);
	assert_int_equal(npu_buffer_is_copy(buf), 0);
	npu_buffer_free(buf);
	munmap(data, PAGE);
}

static void test_copy_of_read_only_memory(void **state)
{
	struct fixture *f = *state;
	int8_t *data = map(PAGE, PROT_READ | PROT_WRITE);
	const uint32_t flags = NPU_BUFFER_MAY_COPY | NPU_BUFFER_READ_ONLY;
	struct npu_buffer *buf;

	assert_int_equal(mprotect(data, PAGE, PROT_READ), 0);
	assert_int_equal(npu_buffer_import(f->dev, data + 1, 128, flags, &buf), 0);
	assert_int_equal(npu_buffer_is_copy(buf), 1);
	/* It is not written, or this would end the test. */
	assert_int_equal(npu_buffer_sync(buf, NPU_SYNC_FOR_HOST), 0);
	npu_buffer_free(buf);
	munmap(data, PAGE);
}

/* A buffer's own mapping is memory of a device; the model can share that as well. */
static void test_memory_of_a_device(void **state)
{
	struct fixture *f = *state;
	struct npu_buffer *from, *buf;
	int8_t *x;

	assert_int_equal(npu_buffer_alloc(f->dev, PAGE, 0, &from), 0);
	x = npu_buffer_data(from);
	fill(x, 6);
	if (IS_SIM) {
		assert_int_equal(npu_buffer_import(f->dev, x, PAGE, 0, &buf), 0);
		assert_int_equal(npu_buffer_is_copy(buf), 0);
	} else {
		assert_int_equal(npu_buffer_import(f->dev, x, PAGE, 0, &buf), -EOPNOTSUPP);
		assert_message("of a device");
		assert_int_equal(npu_buffer_import(f->dev, x, PAGE, NPU_BUFFER_MAY_COPY, &buf), 0);
		check_copy(f, buf, x);
	}
	npu_buffer_free(buf);
	npu_buffer_free(from);
}

static int beyond_the_limit(struct fixture *f, int8_t *data)
{
	const struct rlimit limit = { PAGE, PAGE };
	struct npu_buffer *buf;

	if (setrlimit(RLIMIT_MEMLOCK, &limit) || setgid(NOBODY) || setuid(NOBODY))
		return 1;
	if (npu_buffer_import(f->dev, data, 4 * PAGE, 0, &buf) != -EDQUOT ||
	    !strstr(npu_error_message(), "RLIMIT_MEMLOCK"))
		return 2;
	if (npu_buffer_import(f->dev, data, 4 * PAGE, NPU_BUFFER_MAY_COPY, &buf))
		return 3;
	return npu_buffer_is_copy(buf) ? 0 : 4;
}

static void test_limit_of_pinned_memory(void **state)
{
	int8_t *data = map(4 * PAGE, PROT_READ | PROT_WRITE);
	int status;
	pid_t pid;

	/* Nothing is pinned where the model uses it. */
	if (IS_SIM)
		return;
	pid = fork();
	if (!pid) {
		struct fixture own = { 0 };

		_exit(npu_device_open(&own.dev, TEST_DEVICE) ? 9 : beyond_the_limit(&own, data));
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	munmap(data, 4 * PAGE);
	(void)state;
}

/* ---- tensors ---- */

static void test_tensors(void **state)
{
	struct fixture *f = *state;
	int8_t *data = map(PAGE, PROT_READ | PROT_WRITE);
	int64_t shape[2] = { 2, IMAGE_BLOCK }, strides[2] = { IMAGE_BLOCK, 1 };
	DLTensor x = {
		.data = data, .byte_offset = 64, .device = { kDLCPU, 0 }, .ndim = 2,
		.dtype = { kDLInt, 8, 1 }, .shape = shape, .strides = strides,
	};
	struct npu_buffer *buf = NULL;
	uint64_t va;

	fill(data + 64, 8);
	assert_int_equal(npu_buffer_import_tensor(f->dev, &x, 0, &buf), 0);
	assert_int_equal(npu_buffer_size(buf), 2 * IMAGE_BLOCK);
	assert_ptr_equal(npu_buffer_data(buf), data + 64);
	va = npu_buffer_address(buf);
	assert_int_equal(run(f, va, va + 64, NULL), 0);
	assert_result(data + 64, data + 128);
	npu_buffer_free(buf);
	munmap(data, PAGE);
}

static void refuse_tensor(struct fixture *f, const DLTensor *t, const char *text)
{
	struct npu_buffer *buf = NULL;

	assert_int_equal(npu_buffer_import_tensor(f->dev, t, NPU_BUFFER_MAY_COPY, &buf), -EINVAL);
	assert_null(buf);
	assert_message(text);
}

static void test_refused_tensors(void **state)
{
	struct fixture *f = *state;
	int64_t shape[2] = { 4, 8 }, strides[2] = { 1, 4 };
	static int8_t data[64];
	const DLTensor good = {
		.data = data, .device = { kDLCPU, 0 }, .ndim = 2, .dtype = { kDLInt, 8, 1 },
		.shape = shape,
	};
	DLTensor t = good;

	t.strides = strides;
	refuse_tensor(f, &t, "stride of dimension 1: expected 1 (compact), found 4");
	t = good;
	t.device.device_type = kDLCUDA;
	refuse_tensor(f, &t, "device type: expected 1 (CPU)");
	t = good;
	t.dtype.bits = 0;
	refuse_tensor(f, &t, "0 bits");
	t = good;
	t.dtype.bits = 1;
	shape[0] = 1;
	shape[1] = 9;
	refuse_tensor(f, &t, "no whole bytes");
	t = good;
	shape[0] = INT64_MAX;
	refuse_tensor(f, &t, "dimension 0");
	shape[0] = -1;
	refuse_tensor(f, &t, "dimension 0: found -1");
	shape[0] = 0;
	refuse_tensor(f, &t, "dimension 0: found 0");
}

int main(void)
{
#define WITH(test)	cmocka_unit_test_setup_teardown(test, setup, teardown)
	const struct CMUnitTest tests[] = {
		WITH(test_in_place),
		WITH(test_large),
		WITH(test_many),
		WITH(test_read_only),
		WITH(test_unmapped),
		WITH(test_not_reachable_afterwards),
		WITH(test_copy_is_explicit),
		WITH(test_copy_of_read_only_memory),
		WITH(test_memory_of_a_device),
		WITH(test_limit_of_pinned_memory),
		WITH(test_tensors),
		WITH(test_refused_tensors),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("libnpu imports", tests, NULL, NULL);
}
