// SPDX-License-Identifier: MIT
/*
 * Module files with bits flipped and bytes changed: each is refused with a
 * message, or loads and can be called. Run with AddressSanitizer.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <npu/npu.h>
#include "tests/unit/libnpu_image.h"

static struct npu_device *dev;
static struct image image;
static unsigned int loaded, refused;

static int setup(void **state)
{
	(void)state;
	image_make(&image);
	return npu_device_open(&dev, "sim");
}

static int teardown(void **state)
{
	(void)state;
	npu_device_close(dev);
	image_free(&image);
	return 0;
}

/* Call it the way its own description asks for; any result will do. */
static void call(struct npu_module *module)
{
	struct npu_function *function;
	struct npu_function_info info;
	struct npu_tensor_info t;
	struct npu_value args[2];
	DLTensor tensors[2];
	int64_t shapes[2][NPU_MAX_DIMS];
	uint8_t *data[2];
	unsigned int i;
	int d;

	if (npu_module_get_function(module, npu_module_function_name(module, 0), &function))
		fail_msg("%s", npu_error_message());
	npu_function_get_info(function, &info);
	if (info.inputs + info.outputs != 2)
		return;
	for (i = 0; i < 2; i++) {
		size_t size;

		assert_int_equal(npu_function_get_tensor(function, i, &t), 0);
		size = t.dtype.bits / 8;
		for (d = 0; d < t.ndim; d++) {
			shapes[i][d] = t.shape[d];
			size *= t.shape[d];
		}
		data[i] = calloc(1, size);
		tensors[i] = (DLTensor) { .data = data[i], .device = { kDLCPU, 0 },
					  .ndim = t.ndim, .dtype = t.dtype, .shape = shapes[i] };
		args[i] = (struct npu_value) { .type_index = NPU_TYPE_TENSOR,
					       .v_tensor = &tensors[i] };
	}
	npu_function_call(function, args, 2, NULL);
	free(data[0]);
	free(data[1]);
}

static void try(const uint8_t *data, size_t size)
{
	struct npu_module *module = NULL;
	uint8_t *exact = malloc(size ? size : 1);
	int ret;

	/* Of exactly this size, so that a read beyond it is seen. */
	memcpy(exact, data, size);
	ret = npu_module_load_memory(dev, exact, size, &module);
	free(exact);
	if (ret) {
		assert_null(module);
		assert_true(ret == -ENOEXEC || ret == -ENOTSUP || ret == -ENODEV);
		assert_true(*npu_error_message());
		refused++;
		return;
	}
	call(module);
	npu_module_free(module);
	loaded++;
}

static void test_each_bit(void **state)
{
	size_t bit;

	(void)state;
	try(image.data, image.size);
	assert_int_equal(loaded, 1);
	for (bit = 0; bit < image.size * 8; bit++) {
		image.data[bit / 8] ^= 1 << bit % 8;
		try(image.data, image.size);
		image.data[bit / 8] ^= 1 << bit % 8;
	}
	/* Weights may be anything; headers may not. */
	assert_true(loaded > 1000 && refused > 1000);
}

static void test_each_length(void **state)
{
	size_t size;

	(void)state;
	loaded = 0;
	for (size = 0; size < image.size; size++)
		try(image.data, size);
	assert_int_equal(loaded, 0);
}

/* Several interesting values at once, in the plan. */
static void test_interesting_words(void **state)
{
	static const uint32_t values[] = {
		0, 1, 2, 16, 64, 0x7fffffff, 0x80000000, 0xfffffff0, 0xffffffff,
	};
	uint8_t *copy = malloc(image.size);
	size_t base = (uint8_t *)image.plan - image.data;
	uint64_t seed = 5;
	int round, i;

	(void)state;
	for (round = 0; round < 20000; round++) {
		memcpy(copy, image.data, image.size);
		for (i = 0; i < 1 + round % 3; i++) {
			size_t at;

			seed = seed * 6364136223846793005ull + 1442695040888963407ull;
			at = (seed >> 33) % (sizeof(*image.plan) / 4) * 4;
			memcpy(copy + base + at, &values[(seed >> 20) % 9], 4);
		}
		try(copy, image.size);
	}
	free(copy);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_bit),
		cmocka_unit_test(test_each_length),
		cmocka_unit_test(test_interesting_words),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("libnpu changed module files", tests, setup, teardown);
}
