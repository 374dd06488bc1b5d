// SPDX-License-Identifier: MIT
/*
 * QuantizeLinear and DequantizeLinear. Compiled with -ffp-contract=off, since
 * every step is rounded to binary32.
 */
#include <errno.h>
#include <math.h>
#include "userspace/libnpu/backend.h"
#include "userspace/libnpu/hostkernel.h"

#define INT	0
#define UINT	1

static int type_min(const struct npu_host_quantize *p)
{
	return p->dtype_code == INT ? -128 : 0;
}

static int type_max(const struct npu_host_quantize *p)
{
	return p->dtype_code == INT ? 127 : 255;
}

static const struct npu_host_scale *scales_of(const struct npu_host_quantize *p)
{
	return (const struct npu_host_scale *)(p + 1);
}

static int check_scales(const struct npu_host_quantize *p)
{
	const struct npu_host_scale *scale = scales_of(p);
	uint32_t c;

	for (c = 0; c < p->channels; c++, scale++) {
		if (!(scale->scale > 0) || !isfinite(scale->scale))
			return npu_fail(-EINVAL, "scale of channel %u: expected above 0 and finite, found %g",
					c, (double)scale->scale);
		if (scale->zero_point < type_min(p) || scale->zero_point > type_max(p))
			return npu_fail(-EINVAL, "zero point of channel %u: expected %d to %d, found %d",
					c, type_min(p), type_max(p), scale->zero_point);
	}
	return 0;
}

static int check(const char *name, const void *params, uint32_t size, uint64_t *elements)
{
	const struct npu_host_quantize *p = params;
	int ret;

	if (size < sizeof(*p))
		return npu_host_check_size(name, sizeof(*p) + sizeof(struct npu_host_scale), size);
	if (p->dtype_code > UINT || p->dtype_bits != 8 || p->reserved)
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
	return ret ? ret : check_scales(p);
}

static int check_quantize(const void *params, uint32_t size, struct npu_host_need need[2])
{
	uint64_t n;
	int ret = check("quantize_linear", params, size, &n);

	if (!ret) {
		need[0] = (struct npu_host_need) { 4 * n, 4 };
		need[1] = (struct npu_host_need) { n, 1 };
	}
	return ret;
}

static int check_dequantize(const void *params, uint32_t size, struct npu_host_need need[2])
{
	uint64_t n;
	int ret = check("dequantize_linear", params, size, &n);

	if (!ret) {
		need[0] = (struct npu_host_need) { n, 1 };
		need[1] = (struct npu_host_need) { 4 * n, 4 };
	}
	return ret;
}

/* Bounds are taken before rounding: they are whole numbers, so the result is the same. */
static void quantize_run(const float *src, uint8_t *dst, size_t n, float scale, int zero_point,
			 int min, int max)
{
	const float lo = (float)(min - zero_point);
	const float hi = (float)(max - zero_point);
	size_t i;

	for (i = 0; i < n; i++) {
		float x = src[i] / scale;

		x = x < lo ? lo : x;
		x = x > hi ? hi : x;
		dst[i] = (uint8_t)((x == x ? (int)lrintf(x) : 0) + zero_point);
	}
}

static void run_quantize(const void *params, const void *src, void *dst)
{
	const struct npu_host_quantize *p = params;
	const struct npu_host_scale *scales = scales_of(p);
	const float *from = src;
	uint8_t *to = dst;
	uint32_t o, c;

	for (o = 0; o < p->outer; o++) {
		for (c = 0; c < p->channels; c++) {
			quantize_run(from, to, p->inner, scales[c].scale, scales[c].zero_point,
				     type_min(p), type_max(p));
			from += p->inner;
			to += p->inner;
		}
	}
}

static void run_dequantize(const void *params, const void *src, void *dst)
{
	const struct npu_host_quantize *p = params;
	const struct npu_host_scale *scales = scales_of(p);
	const uint8_t *from = src;
	float *to = dst;
	uint32_t o, c, i;

	for (o = 0; o < p->outer; o++) {
		for (c = 0; c < p->channels; c++) {
			for (i = 0; i < p->inner; i++, from++) {
				int x = p->dtype_code == INT ? (int8_t)*from : *from;

				*to++ = (float)(x - scales[c].zero_point) * scales[c].scale;
			}
		}
	}
}

const struct npu_host_kernel npu_host_kernels_quantize[] = {
	{ "quantize_linear", check_quantize, run_quantize },
	{ "dequantize_linear", check_dequantize, run_dequantize },
	{ NULL, NULL, NULL }
};
