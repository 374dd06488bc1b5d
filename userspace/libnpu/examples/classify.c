/* SPDX-License-Identifier: MIT */
/*
 * Classifies one picture of 28 x 28 floats: classify fashion.npu < picture
 * cc classify.c -o classify $(pkg-config --cflags --libs libnpu)
 */
#include <npu/npu.h>
#include <stdio.h>
#include <stdlib.h>

static void check(int error, const char *what)
{
	if (!error)
		return;
	fprintf(stderr, "classify: %s: %s\n", what, npu_error_message());
	exit(1);
}

int main(int argc, char **argv)
{
	static float pixels[28 * 28], scores[10];
	int64_t in_shape[] = { 1, 1, 28, 28 }, out_shape[] = { 1, 10 };
	DLTensor in = { pixels, { kDLCPU, 0 }, 4, { kDLFloat, 32, 1 }, in_shape, NULL, 0 };
	DLTensor out = { scores, { kDLCPU, 0 }, 2, { kDLFloat, 32, 1 }, out_shape, NULL, 0 };
	struct npu_value args[2] = { { NPU_TYPE_TENSOR, 0, { 0 } }, { NPU_TYPE_TENSOR, 0, { 0 } } };
	struct npu_device *dev;
	struct npu_module *module;
	struct npu_function *function;
	int i, best = 0;

	if (argc != 2 || fread(pixels, sizeof(pixels), 1, stdin) != 1) {
		fprintf(stderr, "usage: classify MODULE < PICTURE (%zu bytes)\n", sizeof(pixels));
		return 2;
	}
	args[0].v_tensor = &in;
	args[1].v_tensor = &out;
	check(npu_device_open(&dev, NULL), "device"); /* NPU_DEVICE, else the first one */
	check(npu_module_load(dev, argv[1], &module), "module");
	check(npu_module_get_function(module, "main", &function), "function");
	check(npu_function_call(function, args, 2, NULL), "call");
	for (i = 1; i < 10; i++)
		if (scores[i] > scores[best])
			best = i;
	printf("%d\n", best);
	npu_module_free(module);
	npu_device_close(dev);
	return 0;
}
