/* SPDX-License-Identifier: MIT */
/* Arrays in NumPy's file format. */
#ifndef NPU_TOOLS_NPY_H
#define NPU_TOOLS_NPY_H

#include <stddef.h>
#include <stdint.h>

#define NPY_MAX_RANK 8

/**
 * struct npy - an array
 * @rank: number of dimensions
 * @dim: dimensions
 * @elements: their product
 * @kind: 'f' for floating point, 'i' for integers
 * @real: elements in row-major order if @kind is 'f', owned
 * @whole: the same if @kind is 'i', owned
 */
struct npy {
	unsigned int rank;
	int64_t dim[NPY_MAX_RANK];
	int64_t elements;
	char kind;
	float *real;
	int64_t *whole;
};

/*
 * Reads an array of float32, float64, or integers of 8 to 64 bits. What is wrong with the file
 * is reported; returns TOOL_OK or TOOL_FAILED.
 */
int npy_read(const char *path, struct npy *out);

/* Integers become floating point. */
int npy_to_real(struct npy *a);

void npy_free(struct npy *a);

#endif
