/* SPDX-License-Identifier: MIT */
/*
 * Host kernels: what a module's HOST steps run. Parameters and operands are
 * described in userspace/isa/npu_module.h. Pure functions; any thread.
 */
#ifndef USERSPACE_LIBNPU_HOSTKERNEL_H
#define USERSPACE_LIBNPU_HOSTKERNEL_H

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

/**
 * struct npu_host_kernel - one kernel; operand 0 is read, operand 1 written
 * @name: as in the plan
 * @check: 0, or -EINVAL with a message, for parameters of a file; fills in @need
 * @run: do it; parameters were checked, operands do not overlap
 */
struct npu_host_kernel {
	const char *name;
	int (*check)(const void *params, uint32_t size, struct npu_host_need need[2]);
	void (*run)(const void *params, const void *src, void *dst);
};

#define NPU_HOST_OPERANDS	2

/* NULL for a name that is not known. */
const struct npu_host_kernel *npu_host_kernel_find(const char *name);

/* Tables of hostkernel_*.c, each ended by an entry without a name. */
extern const struct npu_host_kernel npu_host_kernels_quantize[];
extern const struct npu_host_kernel npu_host_kernels_layout[];
extern const struct npu_host_kernel npu_host_kernels_patch[];
extern const struct npu_host_kernel npu_host_kernels_pool[];

/* *@total *= @factor; false beyond NPU_PLAN_MAX_BYTES, or for 0. */
bool npu_host_multiply(uint64_t *total, uint64_t factor);

/* That a parameter block has exactly @want bytes. */
int npu_host_check_size(const char *kernel, uint64_t want, uint32_t size);

#endif /* USERSPACE_LIBNPU_HOSTKERNEL_H */
