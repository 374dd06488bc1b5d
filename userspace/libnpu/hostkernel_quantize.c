// SPDX-License-Identifier: MIT
/*
 * QuantizeLinear and DequantizeLinear. Compiled with -ffp-contract=off, since
 * every step is rounded to binary32.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include "userspace/libnpu/backend.h"
#include "userspace/libnpu/hostkernel.h"

static const struct npu_host_scale *scales_of(const struct npu_host_quantize *p)
{
	return (const struct npu_host_scale *)(p + 1);
}

static int check_scales(const char *name, const struct npu_host_quantize *p)
{
	char what[32];
	uint32_t c;
	int ret = 0;

	for (c = 0; !ret && c < p->channels; c++) {
		snprintf(what, sizeof(what), "channel %u", c);
		ret = npu_host_check_scale(name, what, p->dtype_code, scales_of(p) + c);
	}
	return ret;
}

static int check(const char *name, const void *params, uint32_t size, uint64_t *elements)
{
	const struct npu_host_quantize *p = params;
	int ret;

	if (size < sizeof(*p))
		return npu_host_check_size(name, sizeof(*p) + sizeof(struct npu_host_scale), size);
	if (p->dtype_code > 1 || p->dtype_bits != 8 || p->reserved)
		return npu_fail(-EINVAL, "type of %s: expected code 0 or 1 with 8 bits and reserved 0, found code %u with %u bits and reserved %u",
				name, p->dtype_code, p->dtype_bits, p->reserved);
	*elements = 1;
	/* Four bytes an element on the float side. */
	if (!npu_host_multiply(elements, p->outer) || !npu_host_multiply(elements, p->channels) ||
	    !npu_host_multiply(elements, p->inner) || *elements > NPU_PLAN_MAX_BYTES / 4)
		return npu_fail(-EINVAL, "shape of %s: expected 1 to %llu elements, found %u x %u x %u",
				name, NPU_PLAN_MAX_BYTES / 4, p->outer, p->channels, p->inner);
	ret = npu_host_check_size(name, sizeof(*p) +
				  (uint64_t)p->channels * sizeof(struct npu_host_scale), size);
	return ret ? ret : check_scales(name, p);
}

static int check_quantize(const void *params, uint32_t size, struct npu_host_need *need)
{
	uint64_t n;
	int ret = check("quantize_linear", params, size, &n);

	if (!ret) {
		need[0] = (struct npu_host_need) { 4 * n, 4 };
		need[1] = (struct npu_host_need) { n, 1 };
	}
	return ret;
}

static int check_dequantize(const void *params, uint32_t size, struct npu_host_need *need)
{
	uint64_t n;
	int ret = check("dequantize_linear", params, size, &n);

	if (!ret) {
		need[0] = (struct npu_host_need) { n, 1 };
		need[1] = (struct npu_host_need) { 4 * n, 4 };
	}
	return ret;
}

static void quantize_run(const float *src, uint8_t *dst, size_t n, float scale, int zero_point,
			 uint32_t code)
{
	size_t i;

	for (i = 0; i < n; i++)
		dst[i] = npu_host_requantize8(code, src[i] / scale, zero_point);
}

static void run_quantize(const void *params, const void *const *src, void *dst)
{
	const struct npu_host_quantize *p = params;
	const struct npu_host_scale *scales = scales_of(p);
	const float *from = src[0];
	uint8_t *to = dst;
	uint32_t o, c;

	for (o = 0; o < p->outer; o++) {
		for (c = 0; c < p->channels; c++) {
			quantize_run(from, to, p->inner, scales[c].scale, scales[c].zero_point,
				     p->dtype_code);
			from += p->inner;
			to += p->inner;
		}
	}
}

static void run_dequantize(const void *params, const void *const *src, void *dst)
{
	const struct npu_host_quantize *p = params;
	const struct npu_host_scale *scales = scales_of(p);
	const uint8_t *from = src[0];
	float *to = dst;
	uint32_t o, c, i;

	for (o = 0; o < p->outer; o++) {
		for (c = 0; c < p->channels; c++) {
			for (i = 0; i < p->inner; i++, from++) {
				int x = npu_host_value8(p->dtype_code, *from);

				*to++ = (float)(x - scales[c].zero_point) * scales[c].scale;
			}
		}
	}
}

const struct npu_host_kernel npu_host_kernels_quantize[] = {
	{ "quantize_linear", 1, check_quantize, run_quantize },
	{ "dequantize_linear", 1, check_dequantize, run_dequantize },
	{ NULL, 0, NULL, NULL }
};
