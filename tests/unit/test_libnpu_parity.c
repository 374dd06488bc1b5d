// SPDX-License-Identifier: MIT
/* The kernel's driver and the model in this process: same results, same cycles. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <npu/npu.h>
#include "tests/unit/libnpu_image.h"

#define ITEMS	100
#define STEPS	3

struct outcome {
	struct npu_step_stats stats[STEPS];
	int8_t y[ITEMS * IMAGE_BLOCK];
};

static void run_on(const char *name, struct outcome *outcome)
{
	int64_t shape[2] = { ITEMS, IMAGE_BLOCK };
	int8_t x[ITEMS * IMAGE_BLOCK];
	struct npu_function *function;
	struct npu_module *module;
	struct npu_value args[2];
	struct npu_device *dev;
	DLTensor tensors[2];
	struct image image;
	int i;

	for (i = 0; i < (int)sizeof(x); i++)
		x[i] = i * 13 + i / 100;
	for (i = 0; i < 2; i++) {
		tensors[i] = (DLTensor) {
			.data = i ? outcome->y : x, .device = { kDLCPU, 0 }, .ndim = 2,
			.dtype = { kDLInt, 8, 1 }, .shape = shape,
		};
		args[i] = (struct npu_value) {
			.type_index = NPU_TYPE_TENSOR, .v_tensor = &tensors[i],
		};
	}
	image_make(&image);
	if (npu_device_open(&dev, name) ||
	    npu_module_load_memory(dev, image.data, image.size, &module) ||
	    npu_module_get_function(module, "main", &function) ||
	    npu_function_profile(function, args, 2, outcome->stats, STEPS))
		fail_msg("%s: %s", name, npu_error_message());
	npu_module_free(module);
	npu_device_close(dev);
	image_free(&image);
}

static void test_same_results_and_cycles(void **state)
{
	static struct outcome sim, accel;
	const struct npu_report *a = &sim.stats[1].total;
	const struct npu_report *b = &accel.stats[1].total;

	(void)state;
	run_on("sim", &sim);
	run_on("/dev/accel/accel0", &accel);
	assert_memory_equal(sim.y, accel.y, sizeof(sim.y));
	assert_true(a->cycles > 0);
	assert_int_equal(a->cycles, b->cycles);
	assert_memory_equal(a, b, sizeof(*a));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_same_results_and_cycles),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("libnpu on both backends", tests, NULL, NULL);
}
