// SPDX-License-Identifier: MIT
/* Kernels along one dimension: ArgMax and Softmax. */
#include <errno.h>
#include <math.h>
#include "userspace/libnpu/backend.h"
#include "userspace/libnpu/hostkernel.h"

#define CODE_FLOAT	2

static int check_reduce(const char *name, const void *params, uint32_t size, uint64_t *elements)
{
	const struct npu_host_reduce *p = params;

	if (size != sizeof(*p))
		return npu_host_check_size(name, sizeof(*p), size);
	if (p->select_last > 1 || p->reserved)
		return npu_fail(-EINVAL, "%s: expected select_last 0 or 1 and reserved 0, found %u and %u",
				name, p->select_last, p->reserved);
	*elements = 1;
	/* Eight bytes an element of an int64 result. */
	if (!npu_host_multiply(elements, p->outer) || !npu_host_multiply(elements, p->count) ||
	    !npu_host_multiply(elements, p->inner) || *elements > NPU_PLAN_MAX_BYTES / 8)
		return npu_fail(-EINVAL, "shape of %s: expected 1 to %llu elements, found %u x %u x %u",
				name, NPU_PLAN_MAX_BYTES / 8, p->outer, p->count, p->inner);
	return 0;
}

static int check_argmax(const void *params, uint32_t size, struct npu_host_need *need)
{
	const struct npu_host_reduce *p = params;
	uint32_t bytes;
	uint64_t n;
	int ret = check_reduce("argmax", params, size, &n);

	if (ret)
		return ret;
	bytes = p->dtype_bits / 8;
	if (!(p->dtype_code <= 1 && p->dtype_bits == 8) &&
	    !(p->dtype_code == CODE_FLOAT && p->dtype_bits == 32))
		return npu_fail(-EINVAL, "type of argmax: expected code 0 or 1 with 8 bits or 2 with 32, found code %u with %u bits",
				p->dtype_code, p->dtype_bits);
	need[0] = (struct npu_host_need) { n * bytes, bytes };
	need[1] = (struct npu_host_need) { n / p->count * sizeof(int64_t), sizeof(int64_t) };
	return 0;
}

static float value_at(const struct npu_host_reduce *p, const void *src, uint64_t i)
{
	if (p->dtype_code == CODE_FLOAT)
		return ((const float *)src)[i];
	return (float)npu_host_value8(p->dtype_code, ((const uint8_t *)src)[i]);
}

static int64_t highest(const struct npu_host_reduce *p, const void *src, uint64_t first)
{
	float best = value_at(p, src, first);
	int64_t place = 0;
	uint32_t i;

	for (i = 1; i < p->count; i++) {
		float value = value_at(p, src, first + (uint64_t)i * p->inner);

		if (value > best || (p->select_last && value == best)) {
			best = value;
			place = i;
		}
	}
	return place;
}

static void run_argmax(const void *params, const void *const *src, void *dst)
{
	const struct npu_host_reduce *p = params;
	int64_t *to = dst;
	uint32_t o, i;

	for (o = 0; o < p->outer; o++)
		for (i = 0; i < p->inner; i++)
			*to++ = highest(p, src[0], (uint64_t)o * p->count * p->inner + i);
}

static int check_softmax(const void *params, uint32_t size, struct npu_host_need *need)
{
	const struct npu_host_reduce *p = params;
	uint64_t n;
	int ret = check_reduce("softmax", params, size, &n);

	if (ret)
		return ret;
	if (p->dtype_code != CODE_FLOAT || p->dtype_bits != 32 || p->select_last)
		return npu_fail(-EINVAL, "type of softmax: expected code 2 with 32 bits and select_last 0, found code %u with %u bits and %u",
				p->dtype_code, p->dtype_bits, p->select_last);
	need[0] = (struct npu_host_need) { n * sizeof(float), sizeof(float) };
	need[1] = need[0];
	return 0;
}

static void softmax(const float *from, float *to, uint32_t count, uint64_t step)
{
	float max = from[0];
	double sum = 0;
	uint32_t i;

	for (i = 1; i < count; i++)
		max = from[i * step] > max ? from[i * step] : max;
	for (i = 0; i < count; i++)
		sum += exp((double)from[i * step] - (double)max);
	for (i = 0; i < count; i++)
		to[i * step] = (float)(exp((double)from[i * step] - (double)max) / sum);
}

static void run_softmax(const void *params, const void *const *src, void *dst)
{
	const struct npu_host_reduce *p = params;
	const float *from = src[0];
	float *to = dst;
	uint32_t o, i;

	for (o = 0; o < p->outer; o++) {
		uint64_t first = (uint64_t)o * p->count * p->inner;

		for (i = 0; i < p->inner; i++)
			softmax(from + first + i, to + first + i, p->count, p->inner);
	}
}

const struct npu_host_kernel npu_host_kernels_reduce[] = {
	{ "argmax", 1, check_argmax, run_argmax },
	{ "softmax", 1, check_softmax, run_softmax },
	{ NULL, 0, NULL, NULL }
};
