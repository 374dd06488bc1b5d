// SPDX-License-Identifier: MIT
/*
 * What the header allows threads to do, with a sanitizer that finds races: all
 * functions from all threads at once on shared devices, streams, events, modules
 * and functions, and objects of their own beside them.
 */
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <npu/npu.h>
#include "npu_isa.h"
#include "tests/unit/libnpu_image.h"

#define THREADS	6
#define ROUNDS	30

enum { AT_W = 0, AT_UOP = 256, AT_X = 4096, AT_Y = 8192 };

/**
 * struct shared - what all threads use
 * @dev: device
 * @stream: stream that all submit to
 * @event: recorded and awaited by all
 * @insn: the program
 * @data: weights, micro-ops, x
 * @module: called by all
 * @other: imported while others look for functions
 * @image: file of @module
 * @program: as in @insn
 * @start: all begin together
 */
struct shared {
	struct npu_device *dev;
	struct npu_stream *stream;
	struct npu_stream_event *event;
	struct npu_buffer *insn;
	struct npu_buffer *data;
	struct npu_module *module;
	struct npu_module *other;
	struct image image;
	struct program program;
	pthread_barrier_t start;
};

/**
 * struct thread - one of them
 * @shared: of all
 * @number: 0 to THREADS - 1
 * @run: what it does
 * @failed: first thing that went wrong
 * @id: thread
 */
struct thread {
	struct shared *shared;
	int number;
	void (*run)(struct thread *t);
	char failed[256];
	pthread_t id;
};

static void expect(struct thread *t, int found, int wanted, const char *what)
{
	if (found != wanted && !t->failed[0])
		snprintf(t->failed, sizeof(t->failed), "%s: %d, expected %d: %s", what, found,
			 wanted, npu_error_message());
}

#define EXPECT(t, call, wanted)	expect(t, call, wanted, #call)

static int setup(void **state)
{
	struct shared *s = calloc(1, sizeof(*s));
	uint8_t *data;

	program_make(&s->program);
	image_make(&s->image);
	if (npu_device_open(&s->dev, "sim"))
		fail_msg("%s", npu_error_message());
	assert_int_equal(npu_stream_create(s->dev, NULL, &s->stream), 0);
	assert_int_equal(npu_event_create(s->dev, &s->event), 0);
	assert_int_equal(npu_buffer_alloc(s->dev, s->program.insn_count * NPU_INSN_BYTES,
					  NPU_BUFFER_READ_ONLY | NPU_BUFFER_EXECUTE, &s->insn), 0);
	assert_int_equal(npu_buffer_alloc(s->dev, AT_Y, 0, &s->data), 0);
	memcpy(npu_buffer_data(s->insn), s->program.insns, s->program.insn_count * NPU_INSN_BYTES);
	data = npu_buffer_data(s->data);
	memcpy(data + AT_W, image_weights, sizeof(image_weights));
	memcpy(data + AT_UOP, s->program.uops, s->program.uop_bytes);
	memset(data + AT_X, 3, IMAGE_BLOCK);
	assert_int_equal(npu_module_load_memory(s->dev, s->image.data, s->image.size, &s->module),
			 0);
	assert_int_equal(npu_module_load_memory(s->dev, s->image.data, s->image.size, &s->other),
			 0);
	pthread_barrier_init(&s->start, NULL, THREADS);
	*state = s;
	return 0;
}

static int teardown(void **state)
{
	struct shared *s = *state;

	npu_module_free(s->module);
	npu_module_free(s->other);
	npu_event_destroy(s->event);
	npu_stream_destroy(s->stream);
	npu_buffer_free(s->insn);
	npu_buffer_free(s->data);
	npu_device_close(s->dev);
	image_free(&s->image);
	program_free(&s->program);
	pthread_barrier_destroy(&s->start);
	free(s);
	return 0;
}

static void *begin(void *arg)
{
	struct thread *t = arg;

	pthread_barrier_wait(&t->shared->start);
	t->run(t);
	return NULL;
}

/* Thread n does what is at n of @runs, which start again where they end. */
static void run_threads(struct shared *s, void (*const *runs)(struct thread *t), int count)
{
	struct thread threads[THREADS] = { 0 };
	int i;

	for (i = 0; i < THREADS; i++) {
		threads[i] = (struct thread) { .shared = s, .number = i, .run = runs[i % count] };
		assert_int_equal(pthread_create(&threads[i].id, NULL, begin, &threads[i]), 0);
	}
	for (i = 0; i < THREADS; i++)
		pthread_join(threads[i].id, NULL);
	for (i = 0; i < THREADS; i++)
		if (threads[i].failed[0])
			fail_msg("thread %d: %s", i, threads[i].failed);
}

#define RUN(s, ...) do {						\
	void (*const runs[])(struct thread *t) = { __VA_ARGS__ };	\
									\
	run_threads(s, runs, sizeof(runs) / sizeof(runs[0]));		\
} while (0)

/* ---- jobs ---- */

static struct npu_job job(struct shared *s, struct npu_job_region *regions, uint64_t y)
{
	uint64_t base = npu_buffer_address(s->data);

	memset(regions, 0, IMAGE_REGIONS * sizeof(*regions));
	regions[IMAGE_REGION_X] = (struct npu_job_region) { base + AT_X, IMAGE_BLOCK };
	regions[IMAGE_REGION_W] = (struct npu_job_region) { base + AT_W, 256 };
	regions[IMAGE_REGION_UOP] = (struct npu_job_region) { base + AT_UOP, 64 };
	regions[IMAGE_REGION_Y] = (struct npu_job_region) { y, IMAGE_BLOCK };
	return (struct npu_job) {
		.insn_address = npu_buffer_address(s->insn),
		.insn_count = s->program.insn_count,
		.region_count = IMAGE_REGIONS,
		.regions = regions,
	};
}

static void check_y(struct thread *t, struct npu_buffer *buf)
{
	int8_t x[IMAGE_BLOCK], want[IMAGE_BLOCK];

	memset(x, 3, sizeof(x));
	image_expect(image_weights, x, want);
	expect(t, memcmp(npu_buffer_data(buf), want, sizeof(want)), 0, "result of a job");
}

/* Buffer and stream of its own, on the device of all. */
static void own_objects(struct thread *t)
{
	struct npu_job_region regions[IMAGE_REGIONS];
	struct shared *s = t->shared;
	struct npu_stream *stream;
	struct npu_buffer *buf;
	struct npu_report report;
	struct npu_job j;
	int i;

	for (i = 0; i < ROUNDS && !t->failed[0]; i++) {
		EXPECT(t, npu_buffer_alloc(s->dev, 4096 * (1 + i % 5), 0, &buf), 0);
		EXPECT(t, npu_stream_create(s->dev, NULL, &stream), 0);
		if (t->failed[0])
			return;
		j = job(s, regions, npu_buffer_address(buf));
		EXPECT(t, npu_stream_submit(stream, &j, 1, NULL), 0);
		EXPECT(t, npu_stream_wait(stream, 0, NPU_FOREVER), 0);
		EXPECT(t, npu_stream_report(stream, 0, &report), 0);
		check_y(t, buf);
		npu_stream_destroy(stream);
		npu_buffer_free(buf);
	}
}

/* The stream of all; numbers are handed out once each. */
static void one_stream(struct thread *t)
{
	struct npu_job_region regions[IMAGE_REGIONS];
	struct shared *s = t->shared;
	struct npu_report report;
	struct npu_buffer *buf;
	uint64_t seqno, before = 0;
	struct npu_job j;
	int i;

	EXPECT(t, npu_buffer_alloc(s->dev, 4096, 0, &buf), 0);
	for (i = 0; i < ROUNDS && !t->failed[0]; i++) {
		j = job(s, regions, npu_buffer_address(buf));
		EXPECT(t, npu_stream_submit(s->stream, &j, 1, &seqno), 0);
		expect(t, seqno > before, 1, "numbers rise");
		before = seqno;
		EXPECT(t, npu_stream_wait(s->stream, seqno, NPU_FOREVER), 0);
		EXPECT(t, npu_stream_report(s->stream, seqno, &report), 0);
		check_y(t, buf);
	}
	/* It is free for others only when no job of this thread is left, which was waited for. */
	npu_buffer_free(buf);
}

/* Memory of its own that the model, another thread, uses in place. */
static void imports(struct thread *t)
{
	int8_t data[3 * 64] __attribute__((aligned(64)));
	struct npu_job_region regions[IMAGE_REGIONS];
	struct shared *s = t->shared;
	struct npu_stream *stream;
	struct npu_buffer *buf;
	struct npu_job j;
	int i;

	EXPECT(t, npu_stream_create(s->dev, NULL, &stream), 0);
	for (i = 0; i < ROUNDS && !t->failed[0]; i++) {
		memset(data, 0, sizeof(data));
		EXPECT(t, npu_buffer_import(s->dev, data, sizeof(data), 0, &buf), 0);
		if (t->failed[0])
			break;
		j = job(s, regions, npu_buffer_address(buf));
		EXPECT(t, npu_stream_submit(stream, &j, 1, NULL), 0);
		EXPECT(t, npu_stream_wait(stream, 0, NPU_FOREVER), 0);
		check_y(t, buf);
		npu_buffer_free(buf);
	}
	npu_stream_destroy(stream);
}

static void null_jobs(struct thread *t)
{
	struct npu_job jobs[16] = { 0 };
	uint64_t seqno;
	int i;

	for (i = 0; i < ROUNDS; i++) {
		EXPECT(t, npu_stream_submit(t->shared->stream, jobs, 16, &seqno), 0);
		EXPECT(t, npu_stream_wait(t->shared->stream, seqno, NPU_FOREVER), 0);
	}
}

static void events(struct thread *t)
{
	struct shared *s = t->shared;
	struct npu_stream_event *own;
	int i, ret;

	EXPECT(t, npu_event_create(s->dev, &own), 0);
	for (i = 0; i < ROUNDS && !t->failed[0]; i++) {
		EXPECT(t, npu_event_record(s->event, s->stream), 0);
		EXPECT(t, npu_event_record(own, s->stream), 0);
		EXPECT(t, npu_stream_wait_event(s->stream, s->event), 0);
		ret = npu_event_wait(s->event, 0);
		expect(t, ret == 0 || ret == -ETIMEDOUT, 1, "polling an event");
		EXPECT(t, npu_event_wait(own, NPU_FOREVER), 0);
	}
	npu_event_destroy(own);
}

static void questions(struct thread *t)
{
	struct npu_device_entry entries[4];
	struct shared *s = t->shared;
	struct npu_device_info info;
	unsigned int count;
	uint64_t ticks, ns;
	int i;

	for (i = 0; i < ROUNDS; i++) {
		EXPECT(t, npu_device_get_info(s->dev, &info, sizeof(info)), 0);
		EXPECT(t, npu_device_get_time(s->dev, &ticks, &ns), 0);
		EXPECT(t, npu_device_list(entries, 4, &count), 0);
		EXPECT(t, npu_buffer_sync(s->data, NPU_SYNC_FOR_HOST), 0);
		expect(t, npu_buffer_size(s->data) >= AT_Y, 1, "size of a buffer");
	}
}

static void test_one_device(void **state)
{
	RUN(*state, own_objects, one_stream, imports, events, questions, imports);
}

static void test_one_stream(void **state)
{
	RUN(*state, one_stream, events, null_jobs);
}

/* ---- modules and functions ---- */

/**
 * struct arguments - of the function "main"
 * @x: input
 * @y: output
 * @shape: of both
 * @tensors: both
 * @values: both
 */
struct arguments {
	int8_t x[4 * IMAGE_BLOCK];
	int8_t y[4 * IMAGE_BLOCK];
	int64_t shape[2];
	DLTensor tensors[2];
	struct npu_value values[2];
};

static void make_arguments(struct arguments *a, int items, int seed)
{
	int i;

	memset(a, 0, sizeof(*a));
	a->shape[0] = items;
	a->shape[1] = IMAGE_BLOCK;
	for (i = 0; i < (int)sizeof(a->x); i++)
		a->x[i] = i * 7 + seed * 31;
	for (i = 0; i < 2; i++) {
		a->tensors[i] = (DLTensor) {
			.data = i ? a->y : a->x, .device = { kDLCPU, 0 }, .ndim = 2,
			.dtype = { kDLInt, 8, 1 }, .shape = a->shape,
		};
		a->values[i] = (struct npu_value) {
			.type_index = NPU_TYPE_TENSOR, .v_tensor = &a->tensors[i],
		};
	}
}

static void check_arguments(struct thread *t, const struct arguments *a)
{
	int8_t want[IMAGE_BLOCK];
	int64_t i;

	for (i = 0; i < a->shape[0]; i++) {
		image_expect(image_weights, a->x + i * IMAGE_BLOCK, want);
		expect(t, memcmp(a->y + i * IMAGE_BLOCK, want, sizeof(want)), 0,
		       "result of a function");
	}
}

static void call_shared(struct thread *t)
{
	struct npu_step_stats stats[3];
	struct npu_function *function;
	struct arguments a;
	int i;

	EXPECT(t, npu_module_get_function(t->shared->module, "main", &function), 0);
	for (i = 0; i < ROUNDS && !t->failed[0]; i++) {
		/* Another size makes the function take memory anew. */
		make_arguments(&a, 1 + i % 4, t->number);
		if (i % 3)
			EXPECT(t, npu_function_call(function, a.values, 2, NULL), 0);
		else
			EXPECT(t, npu_function_profile(function, a.values, 2, stats, 3), 0);
		check_arguments(t, &a);
	}
}

static void load_own(struct thread *t)
{
	struct shared *s = t->shared;
	struct npu_function *function;
	struct npu_module *module;
	struct arguments a;
	int i;

	for (i = 0; i < ROUNDS / 3 && !t->failed[0]; i++) {
		EXPECT(t, npu_module_load_memory(s->dev, s->image.data, s->image.size, &module), 0);
		if (t->failed[0])
			return;
		EXPECT(t, npu_module_import(module, s->other), 0);
		EXPECT(t, npu_module_get_function(module, "main", &function), 0);
		make_arguments(&a, 2, i);
		EXPECT(t, npu_function_call(function, a.values, 2, NULL), 0);
		check_arguments(t, &a);
		npu_module_free(module);
	}
}

static void import_and_find(struct thread *t)
{
	struct npu_function_info info;
	struct npu_tensor_info tensor;
	struct shared *s = t->shared;
	struct npu_function *function;
	int i;

	for (i = 0; i < ROUNDS; i++) {
		EXPECT(t, npu_module_import(s->module, s->other), 0);
		EXPECT(t, npu_module_import(s->other, s->module), -ELOOP);
		EXPECT(t, npu_module_get_function(s->module, "nowhere", &function), -ENOENT);
		EXPECT(t, npu_module_get_function(s->module, "main", &function), 0);
		npu_function_get_info(function, &info);
		EXPECT(t, npu_function_get_tensor(function, 0, &tensor), 0);
		expect(t, npu_module_function_count(s->module), 1, "number of functions");
		expect(t, strcmp(npu_module_kind(s->module), "npu"), 0, "kind of a module");
	}
}

static void test_one_module(void **state)
{
	RUN(*state, call_shared, call_shared, load_own, import_and_find);
}

/* ---- devices of their own, and messages ---- */

static void open_own(struct thread *t)
{
	struct npu_buffer *buf;
	struct npu_device *dev;
	int i;

	for (i = 0; i < 4 && !t->failed[0]; i++) {
		EXPECT(t, npu_device_open(&dev, "sim"), 0);
		if (t->failed[0])
			return;
		EXPECT(t, npu_buffer_alloc(dev, 4096, 0, &buf), 0);
		npu_device_close(dev);
		memset(npu_buffer_data(buf), t->number, 4096);
		npu_buffer_free(buf);
	}
}

static void own_messages(struct thread *t)
{
	struct npu_device *dev;
	char name[32];
	int i;

	snprintf(name, sizeof(name), "name%d", t->number);
	for (i = 0; i < 200; i++) {
		EXPECT(t, npu_device_open(&dev, name), -EINVAL);
		expect(t, !strstr(npu_error_message(), name), 0, "message of this thread");
	}
}

static void test_devices_and_messages(void **state)
{
	RUN(*state, open_own, own_messages, own_objects);
}

/* The last of the threads to let go of the device closes it. */
static void let_go(struct thread *t)
{
	struct npu_buffer *buf;
	int i;

	for (i = 0; i < ROUNDS; i++) {
		EXPECT(t, npu_buffer_alloc(t->shared->dev, 4096, 0, &buf), 0);
		npu_buffer_free(buf);
	}
	EXPECT(t, npu_buffer_alloc(t->shared->dev, 4096, 0, &buf), 0);
	pthread_barrier_wait(&t->shared->start);
	if (!t->number)
		npu_device_close(t->shared->dev);
	npu_buffer_free(buf);
}

static void test_last_one_closes(void **state)
{
	struct shared s = { 0 };

	(void)state;
	pthread_barrier_init(&s.start, NULL, THREADS);
	assert_int_equal(npu_device_open(&s.dev, "sim"), 0);
	RUN(&s, let_go);
	pthread_barrier_destroy(&s.start);
}

int main(void)
{
#define WITH(test)	cmocka_unit_test_setup_teardown(test, setup, teardown)
	const struct CMUnitTest tests[] = {
		WITH(test_one_device),
		WITH(test_one_stream),
		WITH(test_one_module),
		WITH(test_devices_and_messages),
		cmocka_unit_test(test_last_one_closes),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("libnpu threads", tests, NULL, NULL);
}
