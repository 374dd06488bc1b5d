/* SPDX-License-Identifier: MIT */
/* A program and a module file for tests of the runtime: y = W x, 16 by 16, int8. */
#ifndef TESTS_UNIT_LIBNPU_IMAGE_H
#define TESTS_UNIT_LIBNPU_IMAGE_H

#include <stddef.h>
#include <stdint.h>
#include "userspace/isa/npu_module.h"

#define IMAGE_BLOCK	16

/* Selectors of the program's regions; 0 is not used. */
enum { IMAGE_REGION_X = 1, IMAGE_REGION_W, IMAGE_REGION_UOP, IMAGE_REGION_Y, IMAGE_REGIONS };

/**
 * struct program - instructions and micro-ops, as the device wants them
 * @insns: to be freed
 * @insn_count: instructions
 * @uops: to be freed
 * @uop_bytes: bytes of @uops
 */
struct program {
	void *insns;
	size_t insn_count;
	void *uops;
	size_t uop_bytes;
};

/* One GEMM; ends the test on error. */
void program_make(struct program *p);
void program_free(struct program *p);

/* What the program computes. */
void image_expect(const int8_t *w, const int8_t *x, int8_t *y);

/* Weights, the same in every test. */
extern const int8_t image_weights[IMAGE_BLOCK * IMAGE_BLOCK];

/* Where the parts of the module's plan are, for tests that change it. */
struct image_plan {
	struct npu_plan_header head;
	struct npu_plan_function function;
	struct npu_plan_tensor tensors[2];
	struct npu_plan_buffer buffers[5];
	struct npu_plan_step steps[3];
	struct npu_plan_region regions[IMAGE_REGIONS];
	struct npu_plan_operand operands[4];
	struct npu_host_pack params[2];
};

/**
 * struct image - a module file in memory
 * @data: the file, to be freed
 * @size: bytes
 * @plan: points into @data
 * @note: points into @data
 */
struct image {
	uint8_t *data;
	size_t size;
	struct image_plan *plan;
	struct npu_module_note *note;
};

/*
 * Function "main": input "x" int8 [1, 16], output "y" int8 [1, 16], batched.
 * Steps: pack, NPU "gemm", unpack. Ends the test on error.
 */
void image_make(struct image *image);
void image_free(struct image *image);

#endif
