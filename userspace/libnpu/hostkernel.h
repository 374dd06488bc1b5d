/* SPDX-License-Identifier: MIT */
/*
 * Host kernels: what a module's HOST steps run. Parameters and operands are
 * described in userspace/isa/npu_module.h. Pure functions; any thread.
 */
#ifndef USERSPACE_LIBNPU_HOSTKERNEL_H
#define USERSPACE_LIBNPU_HOSTKERNEL_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "userspace/isa/npu_module.h"

/**
 * struct npu_host_need - what an operand must be
 * @size: bytes
 * @align: bytes of an element
 */
struct npu_host_need {
	uint64_t size;
	uint32_t align;
};

#define NPU_HOST_MAX_INPUTS	2
#define NPU_HOST_MAX_OPERANDS	(NPU_HOST_MAX_INPUTS + 1)

/**
 * struct npu_host_kernel - one kernel; operands are those it reads, then the one it writes
 * @name: as in the plan
 * @inputs: operands that are read, 1 to NPU_HOST_MAX_INPUTS
 * @check: 0, or -EINVAL with a message, for parameters of a file; fills in @need
 *	of every operand
 * @run: do it; parameters were checked, @dst overlaps none of @src
 */
struct npu_host_kernel {
	const char *name;
	uint32_t inputs;
	int (*check)(const void *params, uint32_t size, struct npu_host_need *need);
	void (*run)(const void *params, const void *const *src, void *dst);
};

/* NULL for a name that is not known. */
const struct npu_host_kernel *npu_host_kernel_find(const char *name);

/* Tables of hostkernel_*.c, each ended by an entry without a name. */
extern const struct npu_host_kernel npu_host_kernels_quantize[];
extern const struct npu_host_kernel npu_host_kernels_layout[];
extern const struct npu_host_kernel npu_host_kernels_patch[];
extern const struct npu_host_kernel npu_host_kernels_pool[];
extern const struct npu_host_kernel npu_host_kernels_index[];
extern const struct npu_host_kernel npu_host_kernels_elementwise[];
extern const struct npu_host_kernel npu_host_kernels_average[];
extern const struct npu_host_kernel npu_host_kernels_reduce[];

/* *@total *= @factor; false beyond NPU_PLAN_MAX_BYTES, or for 0. */
bool npu_host_multiply(uint64_t *total, uint64_t factor);

/* *@total *= each of @n factors; false as above. */
bool npu_host_multiply_all(uint64_t *total, const uint32_t *factor, uint32_t n);

/* That a parameter block has exactly @want bytes. */
int npu_host_check_size(const char *kernel, uint64_t want, uint32_t size);

/* That a type is int8 or uint8. */
int npu_host_check_type8(const char *kernel, uint32_t code, uint32_t bits);

/* That a scale is above 0 and finite, and its zero point of the type of @code. */
int npu_host_check_scale(const char *kernel, const char *what, uint32_t code,
			 const struct npu_host_scale *scale);

/* That the windows fit, and the bytes of the two operands. */
int npu_host_check_pool(const char *kernel, const struct npu_host_pool *p,
			struct npu_host_need *need);

struct npu_host_window {
	int64_t begin;
	int64_t end;
};

/* The part of window @i that lies in an input of @in elements. */
static inline struct npu_host_window npu_host_clip(uint32_t i, uint32_t stride, uint32_t pad,
						   uint32_t kernel, uint32_t in)
{
	int64_t begin = (int64_t)i * stride - pad;
	int64_t end = begin + kernel;

	return (struct npu_host_window) { begin < 0 ? 0 : begin, end > in ? in : end };
}

/* Types by DLPack's code: 0 int8, 1 uint8. */
static inline int npu_host_min8(uint32_t code)
{
	return code ? 0 : -128;
}

static inline int npu_host_max8(uint32_t code)
{
	return code ? 255 : 127;
}

static inline int npu_host_value8(uint32_t code, uint8_t x)
{
	return code ? x : (int8_t)x;
}

/*
 * saturate(round_even(x) + zero_point). Bounds are taken before rounding: they
 * are whole numbers, so the result is the same. NaN becomes the zero point.
 */
static inline uint8_t npu_host_requantize8(uint32_t code, float x, int zero_point)
{
	const float lo = (float)(npu_host_min8(code) - zero_point);
	const float hi = (float)(npu_host_max8(code) - zero_point);

	x = x < lo ? lo : x;
	x = x > hi ? hi : x;
	return (uint8_t)((x == x ? (int)lrintf(x) : 0) + zero_point);
}

/* saturate(round_even(x)) */
static inline uint8_t npu_host_saturate8(uint32_t code, float x)
{
	return npu_host_requantize8(code, x, 0);
}

#endif /* USERSPACE_LIBNPU_HOSTKERNEL_H */
