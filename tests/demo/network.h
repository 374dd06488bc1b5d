/* SPDX-License-Identifier: MIT */
/* The compiled network of tests/models on a device. */
#ifndef TESTS_DEMO_NETWORK_H
#define TESTS_DEMO_NETWORK_H

#include <stdint.h>
#include <npu/npu.h>
#include "tests/demo/dataset.h"

/**
 * struct network - a network that was loaded
 * @dev: device
 * @module: module
 * @function: its function "main"
 * @info: what @function is
 * @stats: one entry a step, of the last call
 */
struct network {
	struct npu_device *dev;
	struct npu_module *module;
	struct npu_function *function;
	struct npu_function_info info;
	struct npu_step_stats *stats;
};

/**
 * struct network_totals - what it took
 * @images: images classified
 * @jobs: jobs that ran on the NPU
 * @cycles: core cycles of these jobs
 */
struct network_totals {
	uint64_t images;
	uint64_t jobs;
	uint64_t cycles;
};

/**
 * network_open - open a device and load the network
 * @n: filled in, to be closed with network_close()
 * @device: as npu_device_open()
 * @path: module file
 *
 * Return: 0, or -1 after a message on stderr.
 */
int network_open(struct network *n, const char *device, const char *path);
void network_close(struct network *n);

/**
 * network_run - logits of images, in one call
 * @n: network
 * @images: [count][DATASET_PIXELS]
 * @count: number of images
 * @logits: out: [count][DATASET_CLASSES]
 * @totals: what it took is added
 *
 * Return: 0, or -1 after a message on stderr.
 */
int network_run(struct network *n, const uint8_t *images, uint32_t count, float *logits,
		struct network_totals *totals);

/* The class with the highest logit; the first one of several. */
unsigned int network_class(const float *logits);

/* Multiply-accumulates of the model over what the core could do in these cycles. */
double network_utilisation(uint64_t useful_macs, uint64_t cycles);

#endif
