/* SPDX-License-Identifier: MIT */
/* Runs what the compiler made, on a compute core and plain host kernels. */
#ifndef TESTS_UNIT_COMPILER_RUN_H
#define TESTS_UNIT_COMPILER_RUN_H

#include <stddef.h>
#include <stdint.h>

struct run_result {
	int err; /* of the compiler */
	char message[512];
	int fault; /* NPU_FAULT_*, or -1 when the core did not end */
	uint32_t fault_insn;
	float *output;
	size_t output_elements;
	uint64_t cycles, macs, useful_macs;
	int streams;
};

/* One float input, one float output; @r->output is the caller's to free. */
void run_model(const void *onnx, size_t size, const float *input, uint64_t yield_cycles,
	       struct run_result *r);

/* Compiles and writes the module to memory, runs nothing; gives @r->err. */
int compile_model(const void *onnx, size_t size, struct run_result *r);

#endif
