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
		npu_host_kernels_pool, npu_host_kernels_index, npu_host_kernels_elementwise,
		npu_host_kernels_average, npu_host_kernels_reduce,
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

bool npu_host_multiply_all(uint64_t *total, const uint32_t *factor, uint32_t n)
{
	uint32_t i;

	for (i = 0; i < n; i++)
		if (!npu_host_multiply(total, factor[i]))
			return false;
	return true;
}

int npu_host_check_size(const char *kernel, uint64_t want, uint32_t size)
{
	if (size == want)
		return 0;
	return npu_fail(-EINVAL, "parameters of %s: expected %llu bytes, found %u", kernel,
			(unsigned long long)want, size);
}

int npu_host_check_type8(const char *kernel, uint32_t code, uint32_t bits)
{
	if (code <= 1 && bits == 8)
		return 0;
	return npu_fail(-EINVAL, "type of %s: expected code 0 or 1 with 8 bits, found code %u with %u bits",
			kernel, code, bits);
}

int npu_host_check_scale(const char *kernel, const char *what, uint32_t code,
			 const struct npu_host_scale *scale)
{
	int min = npu_host_min8(code), max = npu_host_max8(code);

	if (!(scale->scale > 0) || !isfinite(scale->scale))
		return npu_fail(-EINVAL, "%s: scale of %s: expected above 0 and finite, found %g",
				kernel, what, (double)scale->scale);
	if (scale->zero_point < min || scale->zero_point > max)
		return npu_fail(-EINVAL, "%s: zero point of %s: expected %d to %d, found %d",
				kernel, what, min, max, scale->zero_point);
	return 0;
}
