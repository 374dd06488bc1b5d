// SPDX-License-Identifier: MIT
/* Host kernels by name. */
#include <errno.h>
#include <string.h>
#include "userspace/libnpu/backend.h"
#include "userspace/libnpu/hostkernel.h"

const struct npu_host_kernel *npu_host_kernel_find(const char *name)
{
	static const struct npu_host_kernel *const tables[] = {
		npu_host_kernels_quantize, npu_host_kernels_layout, npu_host_kernels_patch,
		npu_host_kernels_pool,
	};
	const struct npu_host_kernel *kernel;
	size_t i;

	for (i = 0; i < sizeof(tables) / sizeof(tables[0]); i++)
		for (kernel = tables[i]; kernel->name; kernel++)
			if (!strcmp(kernel->name, name))
				return kernel;
	return NULL;
}

bool npu_host_multiply(uint64_t *total, uint64_t factor)
{
	if (!factor || *total > NPU_PLAN_MAX_BYTES / factor)
		return false;
	*total *= factor;
	return true;
}

int npu_host_check_size(const char *kernel, uint64_t want, uint32_t size)
{
	if (size == want)
		return 0;
	return npu_fail(-EINVAL, "parameters of %s: expected %llu bytes, found %u", kernel,
			(unsigned long long)want, size);
}
