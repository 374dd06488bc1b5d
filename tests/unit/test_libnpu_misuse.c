// SPDX-License-Identifier: MIT
/*
 * Wrong use of the library: each is refused with a message, nothing is lost. Run
 * with AddressSanitizer, which also finds leaks, and with requests for memory that fail.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>
#include <npu/npu.h>
#include "tests/unit/libnpu_image.h"

/* ---- memory that runs out ---- */

/* The request that fails, counted down; 0: none. */
static long fail_at;

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_reallocarray(void *old, size_t count, size_t size);
void *__real_aligned_alloc(size_t align, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_reallocarray(void *old, size_t count, size_t size);
void *__wrap_aligned_alloc(size_t align, size_t size);

static bool runs_out(void)
{
	long before = __atomic_load_n(&fail_at, __ATOMIC_RELAXED);

	return before && !__atomic_sub_fetch(&fail_at, 1, __ATOMIC_RELAXED);
}

void *__wrap_malloc(size_t size)
{
	return runs_out() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
	return runs_out() ? NULL : __real_calloc(count, size);
}

void *__wrap_reallocarray(void *old, size_t count, size_t size)
{
	return runs_out() ? NULL : __real_reallocarray(old, count, size);
}

void *__wrap_aligned_alloc(size_t align, size_t size)
{
	return runs_out() ? NULL : __real_aligned_alloc(align, size);
}

/* ---- everything there is ---- */

struct objects {
	struct npu_device *dev;
	struct npu_buffer *buf;
	struct npu_stream *stream;
	struct npu_stream_event *event;
	struct npu_module *module;
	struct npu_function *fn;
};

static struct image image;

static int make(struct objects *o)
{
	int ret = npu_device_open(&o->dev, "sim");

	if (!ret)
		ret = npu_buffer_alloc(o->dev, 4096, 0, &o->buf);
	if (!ret)
		ret = npu_stream_create(o->dev, NULL, &o->stream);
	if (!ret)
		ret = npu_event_create(o->dev, &o->event);
	if (!ret)
		ret = npu_module_load_memory(o->dev, image.data, image.size, &o->module);
	if (!ret)
		ret = npu_module_get_function(o->module, "main", &o->fn);
	return ret;
}

static void drop(struct objects *o)
{
	npu_module_free(o->module);
	npu_event_destroy(o->event);
	npu_stream_destroy(o->stream);
	npu_buffer_free(o->buf);
	npu_device_close(o->dev);
	memset(o, 0, sizeof(*o));
}

static int run(struct npu_function *fn)
{
	int64_t shape[] = { 1, 16 };
	int8_t x[16] = { 1 }, y[16];
	DLTensor t[] = {
		{ .data = x, .device = { kDLCPU, 0 }, .ndim = 2, .dtype = { 0, 8, 1 },
		  .shape = shape },
		{ .data = y, .device = { kDLCPU, 0 }, .ndim = 2, .dtype = { 0, 8, 1 },
		  .shape = shape },
	};
	const struct npu_value args[] = {
		{ .type_index = NPU_TYPE_TENSOR, .v_tensor = &t[0] },
		{ .type_index = NPU_TYPE_TENSOR, .v_tensor = &t[1] },
	};

	return npu_function_call(fn, args, 2, NULL);
}

static int use(struct objects *o)
{
	const struct npu_job null = { 0 };
	int ret = npu_stream_submit(o->stream, &null, 1, NULL);

	if (!ret)
		ret = npu_event_record(o->event, o->stream);
	if (!ret)
		ret = npu_stream_wait_event(o->stream, o->event);
	if (!ret)
		ret = npu_stream_submit(o->stream, &null, 1, NULL);
	if (!ret)
		ret = npu_event_wait(o->event, NPU_FOREVER);
	if (!ret)
		ret = npu_stream_wait(o->stream, 0, NPU_FOREVER);
	return ret ? ret : run(o->fn);
}

static int setup(void **state)
{
	static struct objects o;

	if (!image.data)
		image_make(&image);
	assert_int_equal(make(&o), 0);
	*state = &o;
	return 0;
}

static int teardown(void **state)
{
	drop(*state);
	return 0;
}

static int end(void **state)
{
	(void)state;
	image_free(&image);
	return 0;
}

#define REFUSES(error, text, call) do {						\
		assert_int_equal(call, error);					\
		if (!strstr(npu_error_message(), text))				\
			fail_msg("no \"%s\" in \"%s\"", text, npu_error_message());	\
	} while (0)

#define NO(argument, call) REFUSES(-EINVAL, argument " is a null pointer", call)

static void test_null_device(void **state)
{
	struct objects *o = *state;
	struct npu_device_info info;
	struct npu_buffer *buf = NULL;
	unsigned int count;
	uint64_t time;
	DLTensor t = { 0 };

	NO("npu_device_open: out", npu_device_open(NULL, "sim"));
	NO("count", npu_device_list(NULL, 0, NULL));
	NO("entries", npu_device_list(NULL, 1, &count));
	NO("npu_device_get_info: dev", npu_device_get_info(NULL, &info, sizeof(info)));
	NO("info", npu_device_get_info(o->dev, NULL, sizeof(info)));
	REFUSES(-EINVAL, "found 18446744073709551615",
		npu_device_get_info(o->dev, &info, SIZE_MAX));
	NO("dev", npu_device_get_time(NULL, &time, &time));
	NO("ticks", npu_device_get_time(o->dev, NULL, &time));
	NO("dev", npu_buffer_alloc(NULL, 1, 0, &buf));
	NO("out", npu_buffer_alloc(o->dev, 1, 0, NULL));
	NO("dev", npu_buffer_import(NULL, image.data, 1, 0, &buf));
	NO("out", npu_buffer_import(o->dev, image.data, 1, 0, NULL));
	NO("tensor", npu_buffer_import_tensor(o->dev, NULL, 0, &buf));
	NO("tensor->data", npu_buffer_import_tensor(o->dev, &t, 0, &buf));
	NO("buf", npu_buffer_sync(NULL, NPU_SYNC_FOR_HOST));
	assert_null(npu_buffer_data(NULL));
	assert_int_equal(npu_buffer_size(NULL) | npu_buffer_address(NULL), 0);
	assert_int_equal(npu_buffer_is_copy(NULL), 0);
	assert_null(buf);
}

static void test_null_stream(void **state)
{
	struct objects *o = *state;
	struct npu_stream *stream = NULL;
	struct npu_stream_event *event = NULL;
	const struct npu_job job = { 0 };

	NO("dev", npu_stream_create(NULL, NULL, &stream));
	NO("out", npu_stream_create(o->dev, NULL, NULL));
	NO("stream", npu_stream_submit(NULL, &job, 1, NULL));
	NO("jobs", npu_stream_submit(o->stream, NULL, 1, NULL));
	NO("stream", npu_stream_wait(NULL, 0, 0));
	NO("stream", npu_stream_report(NULL, 0, NULL));
	NO("dev", npu_event_create(NULL, &event));
	NO("out", npu_event_create(o->dev, NULL));
	NO("event", npu_event_record(NULL, o->stream));
	NO("stream", npu_event_record(o->event, NULL));
	NO("event", npu_event_wait(NULL, 0));
	NO("stream", npu_stream_wait_event(NULL, o->event));
	NO("event", npu_stream_wait_event(o->stream, NULL));
	assert_true(!stream && !event);
}

static void test_null_module(void **state)
{
	struct objects *o = *state;
	struct npu_module *module = NULL;
	struct npu_function *fn = NULL;
	struct npu_function_info info;
	struct npu_tensor_info tensor;

	NO("path", npu_module_load(o->dev, NULL, &module));
	NO("out", npu_module_load(o->dev, "x", NULL));
	NO("data", npu_module_load_memory(o->dev, NULL, 1, &module));
	NO("out", npu_module_load_memory(o->dev, image.data, image.size, NULL));
	REFUSES(-ENODEV, "needs a device",
		npu_module_load_memory(NULL, image.data, image.size, &module));
	assert_string_equal(npu_module_kind(NULL), "");
	assert_string_equal(npu_module_info(NULL), "");
	assert_int_equal(npu_module_function_count(NULL), 0);
	assert_null(npu_module_function_name(NULL, 0));
	NO("module", npu_module_get_function(NULL, "main", &fn));
	NO("name", npu_module_get_function(o->module, NULL, &fn));
	NO("out", npu_module_get_function(o->module, "main", NULL));
	NO("other", npu_module_import(o->module, NULL));
	NO("module", npu_module_import(NULL, o->module));
	npu_function_get_info(o->fn, NULL);
	npu_function_get_info(NULL, &info);
	assert_null(info.name);
	NO("fn", npu_function_get_tensor(NULL, 0, &tensor));
	NO("info", npu_function_get_tensor(o->fn, 0, NULL));
	REFUSES(-EINVAL, "found 4294967295", npu_function_get_tensor(o->fn, UINT32_MAX, &tensor));
	NO("function", npu_function_call(NULL, NULL, 0, NULL));
	assert_int_equal(npu_function_safe_call(NULL, NULL, 0, NULL), -1);
	assert_true(!module && !fn);
}

static void test_wrong_tensors(void **state)
{
	struct objects *o = *state;
	int64_t shape[] = { 1, 16 };
	DLTensor t = { .data = image.data, .device = { kDLCPU, 0 }, .ndim = 2,
		       .dtype = { 0, 8, 1 }, .shape = shape };
	const struct npu_value args[2] = {
		{ .type_index = NPU_TYPE_TENSOR, .v_tensor = &t },
		{ .type_index = NPU_TYPE_TENSOR, .v_tensor = &t },
	};
	struct npu_buffer *buf = NULL;

	t.byte_offset = UINT64_MAX;
	REFUSES(-EINVAL, "no memory 18446744073709551615", npu_function_call(o->fn, args, 2, NULL));
	REFUSES(-EFAULT, "no memory", npu_buffer_import_tensor(o->dev, &t, 0, &buf));
	t.byte_offset = 0;
	t.ndim = -1;
	REFUSES(-EINVAL, "at least 1", npu_function_call(o->fn, args, 2, NULL));
	REFUSES(-EINVAL, "-1 dimensions", npu_buffer_import_tensor(o->dev, &t, 0, &buf));
	t.ndim = 2;
	t.shape = NULL;
	REFUSES(-EINVAL, "dimension", npu_function_call(o->fn, args, 2, NULL));
	REFUSES(-EINVAL, "2 dimensions with a shape at",
		npu_buffer_import_tensor(o->dev, &t, 0, &buf));
	assert_null(buf);
}

/* ---- other processes ---- */

#define CHILD_EXPECT(x) do { if (!(x)) _exit(__LINE__ % 250 + 1); } while (0)

static void be_a_child(struct objects *o)
{
	const struct npu_job job = { 0 };
	struct objects own = { 0 };
	struct npu_buffer *buf;

	CHILD_EXPECT(use(o) == -EBADF && strstr(npu_error_message(), "open it anew"));
	CHILD_EXPECT(npu_stream_submit(o->stream, &job, 1, NULL) == -EBADF);
	CHILD_EXPECT(npu_stream_report(o->stream, 0, NULL) == -EBADF);
	CHILD_EXPECT(npu_event_wait(o->event, 0) == -EBADF);
	CHILD_EXPECT(npu_buffer_alloc(o->dev, 1, 0, &buf) == -EBADF);
	CHILD_EXPECT(run(o->fn) == -EBADF);
	drop(o);
	CHILD_EXPECT(!make(&own) && !use(&own));
	drop(&own);
	_exit(0);
}

static void test_fork(void **state)
{
	struct objects *o = *state;
	int status, i;
	pid_t pid;

	for (i = 0; i < 3; i++) {
		assert_int_equal(use(o), 0);
		pid = fork();
		if (!pid)
			be_a_child(o);
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_int_equal(status, 0);
	}
	assert_int_equal(use(o), 0);
}

/* ---- resources ---- */

static void test_no_memory(void **state)
{
	struct objects o = { 0 };
	long n, failed = 0;
	int ret;

	(void)state;
	for (n = 1; ; n++) {
		__atomic_store_n(&fail_at, n, __ATOMIC_RELAXED);
		ret = make(&o);
		if (!ret)
			ret = use(&o);
		drop(&o);
		if (__atomic_exchange_n(&fail_at, 0, __ATOMIC_RELAXED))
			break;
		failed += !!ret;
		if (ret && (ret != -ENOMEM || (!strstr(npu_error_message(), "memory") &&
					       !strstr(npu_error_message(), "page tables"))))
			fail_msg("request %ld: %d: %s", n, ret, npu_error_message());
	}
	assert_int_equal(ret, 0);
	assert_true(failed > 20);
}

static void test_no_files(void **state)
{
	struct rlimit limit, none;
	struct npu_device *dev = NULL;
	struct npu_module *module = NULL;
	int ret;

	(void)state;
	getrlimit(RLIMIT_NOFILE, &limit);
	none = limit;
	none.rlim_cur = 0;
	setrlimit(RLIMIT_NOFILE, &none);
	ret = npu_device_open(&dev, "sim");
	setrlimit(RLIMIT_NOFILE, &limit);
	assert_int_equal(ret, -EMFILE);
	assert_non_null(strstr(npu_error_message(), "Too many open files"));
	setrlimit(RLIMIT_NOFILE, &none);
	ret = npu_module_load(NULL, "x", &module);
	setrlimit(RLIMIT_NOFILE, &limit);
	assert_int_equal(ret, -EMFILE);
}

/* A pipe that nobody writes would wait for ever; a device may have no end. */
static void test_no_regular_file(void **state)
{
	struct objects *o = *state;
	char folder[] = "/tmp/npu-misuse-XXXXXX", path[64];
	struct npu_module *module = NULL;
	struct npu_device *dev = NULL;

	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/pipe", folder);
	assert_int_equal(mkfifo(path, 0600), 0);
	REFUSES(-EINVAL, "not a regular file", npu_module_load(o->dev, path, &module));
	REFUSES(-EINVAL, "not a regular file", npu_module_load(o->dev, "/dev/zero", &module));
	setenv("NPU_FIRMWARE", path, 1);
	REFUSES(-EINVAL, "not a regular file", npu_device_open(&dev, "sim"));
	unsetenv("NPU_FIRMWARE");
	unlink(path);
	rmdir(folder);
}

int main(void)
{
#define WITH(test)	cmocka_unit_test_setup_teardown(test, setup, teardown)
	const struct CMUnitTest tests[] = {
		WITH(test_null_device),
		WITH(test_null_stream),
		WITH(test_null_module),
		WITH(test_wrong_tensors),
		WITH(test_fork),
		WITH(test_no_memory),
		WITH(test_no_files),
		WITH(test_no_regular_file),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("libnpu wrong use", tests, NULL, end);
}
