// SPDX-License-Identifier: MIT
/* Loads the network and calls it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "npu_isa.h"
#include "tests/demo/network.h"

static int fail(const char *what)
{
	fprintf(stderr, "%s: %s\n", what, npu_error_message());
	return -1;
}

static int check_tensor(const struct network *n, unsigned int index, const int64_t *shape,
			int32_t ndim)
{
	struct npu_tensor_info info;

	if (npu_function_get_tensor(n->function, index, &info))
		return fail(n->info.name);
	if (info.dtype.code != kDLFloat || info.dtype.bits != 32 || info.ndim != ndim ||
	    memcmp(info.shape, shape, ndim * sizeof(*shape))) {
		fprintf(stderr, "%s: argument %u is not the network's\n", n->info.name, index);
		return -1;
	}
	return 0;
}

static int check_function(const struct network *n)
{
	const int64_t input[] = { 1, 1, DATASET_SIDE, DATASET_SIDE };
	const int64_t output[] = { 1, DATASET_CLASSES };

	if (n->info.inputs != 1 || n->info.outputs != 1 || !n->info.batched) {
		fprintf(stderr, "%s: expected one input, one output and batches\n", n->info.name);
		return -1;
	}
	if (check_tensor(n, 0, input, 4))
		return -1;
	return check_tensor(n, 1, output, 2);
}

static int load(struct network *n, const char *path)
{
	if (npu_module_load(n->dev, path, &n->module))
		return fail("network");
	if (npu_module_get_function(n->module, "main", &n->function))
		return fail(path);
	npu_function_get_info(n->function, &n->info);
	n->stats = calloc(n->info.steps, sizeof(*n->stats));
	if (!n->stats) {
		fprintf(stderr, "out of memory\n");
		return -1;
	}
	return check_function(n);
}

int network_open(struct network *n, const char *device, const char *path)
{
	memset(n, 0, sizeof(*n));
	if (npu_device_open(&n->dev, device))
		return fail("no device");
	if (load(n, path)) {
		network_close(n);
		return -1;
	}
	return 0;
}

void network_close(struct network *n)
{
	free(n->stats);
	npu_module_free(n->module);
	npu_device_close(n->dev);
	memset(n, 0, sizeof(*n));
}

static void add_stats(const struct network *n, uint32_t count, struct network_totals *totals)
{
	uint32_t i;

	totals->images += count;
	for (i = 0; i < n->info.steps; i++) {
		if (n->stats[i].kind != NPU_STEP_KIND_NPU)
			continue;
		totals->jobs += n->stats[i].runs;
		totals->cycles += n->stats[i].total.cycles;
	}
}

static int call(struct network *n, float *pixels, uint32_t count, float *logits)
{
	int64_t in_shape[] = { count, 1, DATASET_SIDE, DATASET_SIDE };
	int64_t out_shape[] = { count, DATASET_CLASSES };
	DLTensor in = {
		.data = pixels, .device = { kDLCPU, 0 }, .ndim = 4,
		.dtype = { kDLFloat, 32, 1 }, .shape = in_shape,
	};
	DLTensor out = {
		.data = logits, .device = { kDLCPU, 0 }, .ndim = 2,
		.dtype = { kDLFloat, 32, 1 }, .shape = out_shape,
	};
	const struct npu_value args[] = {
		{ .type_index = NPU_TYPE_TENSOR, .v_tensor = &in },
		{ .type_index = NPU_TYPE_TENSOR, .v_tensor = &out },
	};

	if (npu_function_profile(n->function, args, 2, n->stats, n->info.steps))
		return fail(n->info.name);
	return 0;
}

int network_run(struct network *n, const uint8_t *images, uint32_t count, float *logits,
		struct network_totals *totals)
{
	size_t i, pixels = (size_t)count * DATASET_PIXELS;
	float *input = malloc(pixels * sizeof(*input));
	int ret;

	if (!input) {
		fprintf(stderr, "out of memory for %u images\n", count);
		return -1;
	}
	for (i = 0; i < pixels; i++)
		input[i] = images[i] / 255.0f;
	ret = call(n, input, count, logits);
	free(input);
	if (!ret)
		add_stats(n, count, totals);
	return ret;
}

unsigned int network_class(const float *logits)
{
	unsigned int i, best = 0;

	for (i = 1; i < DATASET_CLASSES; i++)
		if (logits[i] > logits[best])
			best = i;
	return best;
}

double network_utilisation(uint64_t useful_macs, uint64_t cycles)
{
	return cycles ? (double)useful_macs / ((double)NPU_BLOCK * NPU_BLOCK * cycles) : 0;
}
