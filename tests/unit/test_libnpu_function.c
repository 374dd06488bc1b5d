// SPDX-License-Identifier: MIT
/* Calls: results, batches, profiles, and arguments that are refused. */
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <npu/npu.h>
#include "npu_proto.h"
#include "tests/unit/libnpu_image.h"

/* Compiled once more for the virtual machine, with the node of a real driver. */
#ifndef TEST_DEVICE
#define TEST_DEVICE	"sim"
#endif

#define MOST	300

struct fixture {
	struct npu_device *dev;
	struct npu_module *module;
	struct npu_function *function;
	int8_t x[MOST * IMAGE_BLOCK];
	int8_t y[MOST * IMAGE_BLOCK];
	int64_t shapes[2][2];
	DLTensor tensors[2];
	struct npu_value args[2];
};

static void set_items(struct fixture *f, int64_t items)
{
	int i;

	for (i = 0; i < 2; i++) {
		f->shapes[i][0] = items;
		f->shapes[i][1] = IMAGE_BLOCK;
		f->tensors[i] = (DLTensor) {
			.data = i ? f->y : f->x, .device = { kDLCPU, 0 }, .ndim = 2,
			.dtype = { kDLInt, 8, 1 }, .shape = f->shapes[i],
		};
		f->args[i] = (struct npu_value) {
			.type_index = NPU_TYPE_TENSOR, .v_tensor = &f->tensors[i],
		};
	}
}

static int load(struct fixture *f, void (*change)(struct image *))
{
	struct image image;
	int ret;

	image_make(&image);
	if (change)
		change(&image);
	ret = npu_module_load_memory(f->dev, image.data, image.size, &f->module);
	image_free(&image);
	if (ret)
		fail_msg("%s", npu_error_message());
	return npu_module_get_function(f->module, "main", &f->function);
}

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	size_t i;

	if (npu_device_open(&f->dev, TEST_DEVICE))
		fail_msg("%s", npu_error_message());
	for (i = 0; i < sizeof(f->x); i++)
		f->x[i] = i * 7 + i / 256;
	set_items(f, 1);
	*state = f;
	return load(f, NULL);
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	npu_module_free(f->module);
	npu_device_close(f->dev);
	free(f);
	return 0;
}

static void assert_message(const char *text)
{
	if (!strstr(npu_error_message(), text))
		fail_msg("\"%s\" is not in \"%s\"", text, npu_error_message());
}

static void check_result(struct fixture *f, int64_t items)
{
	int8_t want[IMAGE_BLOCK];
	int64_t i;

	for (i = 0; i < items; i++) {
		image_expect(image_weights, f->x + i * IMAGE_BLOCK, want);
		assert_memory_equal(f->y + i * IMAGE_BLOCK, want, IMAGE_BLOCK);
	}
	for (i = items * IMAGE_BLOCK; i < MOST * IMAGE_BLOCK; i++)
		assert_int_equal(f->y[i], 0x55);
}

static void test_batches(void **state)
{
	static const int64_t sizes[] = { 1, 2, 3, 31, 32, 33, 63, 64, 65, 97, 200, 300, 1, 64 };
	struct fixture *f = *state;
	struct npu_value ret = { .type_index = 99 };
	size_t i;

	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		set_items(f, sizes[i]);
		memset(f->y, 0x55, sizeof(f->y));
		if (npu_function_call(f->function, f->args, 2, &ret))
			fail_msg("%s", npu_error_message());
		assert_int_equal(ret.type_index, NPU_TYPE_NONE);
		check_result(f, sizes[i]);
	}
}

static void test_strides_and_offset(void **state)
{
	struct fixture *f = *state;
	int64_t strides[2] = { IMAGE_BLOCK, 1 };
	int64_t odd[2] = { 12345, 1 };

	set_items(f, 2);
	f->tensors[0].strides = strides;
	assert_int_equal(npu_function_call(f->function, f->args, 2, NULL), 0);
	/* A stride that is never used may be anything. */
	set_items(f, 1);
	f->tensors[0].strides = odd;
	f->tensors[0].byte_offset = IMAGE_BLOCK;
	f->tensors[0].data = f->x - IMAGE_BLOCK;
	memset(f->y, 0x55, sizeof(f->y));
	assert_int_equal(npu_function_call(f->function, f->args, 2, NULL), 0);
	check_result(f, 1);
}

static void test_profile(void **state)
{
	struct fixture *f = *state;
	struct npu_step_stats one[3], many[3], again[3];

	assert_int_equal(npu_function_profile(f->function, f->args, 2, one, 3), 0);
	set_items(f, 100);
	assert_int_equal(npu_function_profile(f->function, f->args, 2, many, 3), 0);
	assert_int_equal(npu_function_profile(f->function, f->args, 2, again, 2), 0);
	assert_string_equal(many[0].name, "pack_nchw16");
	assert_int_equal(many[0].kind, NPU_STEP_KIND_HOST);
	assert_int_equal(many[0].runs, 100);
	assert_string_equal(many[1].name, "gemm");
	assert_int_equal(many[1].kind, NPU_STEP_KIND_NPU);
	assert_int_equal(many[1].runs, 100);
	assert_int_equal(many[1].useful_macs, 25600);
	assert_int_equal(many[1].total.macs, 25600);
	assert_int_equal(many[1].total.cycles, 100 * one[1].total.cycles);
	assert_memory_equal(&many[1].total, &again[1].total, sizeof(many[1].total));
	assert_int_equal(many[2].runs, 100);
}

static void *call_many(void *arg)
{
	struct fixture *shared = arg;
	struct fixture *f = malloc(sizeof(*f));
	long failures = 0;
	int8_t want[IMAGE_BLOCK];
	int i;

	memcpy(f, shared, sizeof(*f));
	set_items(f, 5);
	for (i = 0; i < 50; i++)
		failures += !!npu_function_call(f->function, f->args, 2, NULL);
	image_expect(image_weights, f->x + 4 * IMAGE_BLOCK, want);
	failures += !!memcmp(want, f->y + 4 * IMAGE_BLOCK, IMAGE_BLOCK);
	free(f);
	return (void *)failures;
}

static void test_threads(void **state)
{
	pthread_t threads[3];
	void *failures;
	int i;

	for (i = 0; i < 3; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, call_many, *state), 0);
	for (i = 0; i < 3; i++) {
		pthread_join(threads[i], &failures);
		assert_null(failures);
	}
}

static void refuse(struct fixture *f, const char *text)
{
	assert_int_equal(npu_function_call(f->function, f->args, 2, NULL), -EINVAL);
	assert_message("function \"main\"");
	assert_message(text);
	set_items(f, 2);
}

static void test_refused_arguments(void **state)
{
	struct fixture *f = *state;
	int64_t strides[2] = { 32, 1 };

	set_items(f, 2);
	assert_int_equal(npu_function_call(f->function, f->args, 1, NULL), -EINVAL);
	assert_message("arguments: expected 2 (1 inputs, 1 outputs), found 1");
	assert_int_equal(npu_function_call(f->function, NULL, 2, NULL), -EINVAL);
	assert_int_equal(npu_function_call(f->function, f->args, -1, NULL), -EINVAL);
	f->args[1].type_index = NPU_TYPE_INT;
	refuse(f, "argument 1 (\"y\"): kind of value: expected 7 (tensor), found 1");
	f->args[0].v_tensor = NULL;
	refuse(f, "argument 0 (\"x\"): first dimension");
	f->args[1].v_tensor = NULL;
	refuse(f, "argument 1 (\"y\"): is a null tensor");
	f->tensors[0].device.device_type = kDLCUDA;
	refuse(f, "device type: expected 1 (CPU), found 2");
	f->tensors[0].dtype.code = kDLFloat;
	refuse(f, "type: expected code 0 with 8 bits, found code 2 with 8 bits");
	f->tensors[0].dtype.lanes = 4;
	refuse(f, "4 lanes");
	f->tensors[1].data = NULL;
	refuse(f, "data is a null pointer");
	f->tensors[1].ndim = 3;
	refuse(f, "dimensions: expected 2, found 3");
	f->tensors[1].shape = NULL;
	refuse(f, "shape of 2 dimensions is a null pointer");
	f->shapes[1][0] = 3;
	refuse(f, "argument 1 (\"y\"): dimension 0: expected 2, found 3");
	f->shapes[0][1] = 17;
	refuse(f, "argument 0 (\"x\"): dimension 1: expected 16, found 17");
	f->shapes[0][0] = 0;
	refuse(f, "first dimension: expected at least 1");
	f->shapes[0][0] = INT64_MAX;
	refuse(f, "first dimension: expected at most");
	f->tensors[0].strides = strides;
	refuse(f, "stride of dimension 0: expected 16 (compact), found 32");
}

static void cut_region(struct image *image)
{
	image->plan->regions[IMAGE_REGION_Y].limit = 8;
}

/* A program that leaves its region: step, item and cause are named, and the next call works. */
static void test_fault_in_a_step(void **state)
{
	struct fixture *f = *state;

	npu_module_free(f->module);
	load(f, cut_region);
	set_items(f, 70);
	assert_int_equal(npu_function_call(f->function, f->args, 2, NULL), -EFAULT);
	assert_message("function \"main\": step 1 (\"gemm\"), item 0: job 1: fault \"region\" of unit store");
	assert_int_equal(npu_function_call(f->function, f->args, 2, NULL), -EFAULT);
	npu_module_free(f->module);
	load(f, NULL);
	memset(f->y, 0x55, sizeof(f->y));
	assert_int_equal(npu_function_call(f->function, f->args, 2, NULL), 0);
	check_result(f, 70);
}

static void test_safe_call(void **state)
{
	struct fixture *f = *state;
	struct npu_value ret;

	memset(f->y, 0x55, sizeof(f->y));
	assert_int_equal(npu_function_safe_call(f->function, f->args, 2, &ret), 0);
	check_result(f, 1);
	assert_int_equal(npu_function_safe_call(f->function, f->args, 3, &ret), -1);
	assert_message("found 3");
}

static void test_value_layout(void **state)
{
	(void)state;
	assert_int_equal(sizeof(struct npu_value), 16);
	assert_int_equal(offsetof(struct npu_value, v_ptr), 8);
}

int main(void)
{
#define WITH(test)	cmocka_unit_test_setup_teardown(test, setup, teardown)
	const struct CMUnitTest tests[] = {
		WITH(test_batches),
		WITH(test_strides_and_offset),
		WITH(test_profile),
		WITH(test_threads),
		WITH(test_refused_arguments),
		WITH(test_fault_in_a_step),
		WITH(test_safe_call),
		cmocka_unit_test(test_value_layout),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("libnpu functions", tests, NULL, NULL);
}
