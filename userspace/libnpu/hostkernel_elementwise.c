// SPDX-License-Identifier: MIT
/*
 * Sums and products of two tensors of one shape, bounds of one. Compiled with
 * -ffp-contract=off: steps are fused where the rules say so, and nowhere else.
 */
#include <errno.h>
#include <math.h>
#include "userspace/libnpu/backend.h"
#include "userspace/libnpu/hostkernel.h"

/* ---- quantised ---- */

static int check_binary8(const char *name, const void *params, uint32_t size,
			 struct npu_host_need *need)
{
	const struct npu_host_binary8 *p = params;
	int ret;

	if (size != sizeof(*p))
		return npu_host_check_size(name, sizeof(*p), size);
	if (p->reserved || p->reserved1)
		return npu_fail(-EINVAL, "%s: reserved fields are not 0", name);
	ret = npu_host_check_type8(name, p->dtype_code, p->dtype_bits);
	if (!ret)
		ret = npu_host_check_scale(name, "operand 0", p->dtype_code, &p->a);
	if (!ret)
		ret = npu_host_check_scale(name, "operand 1", p->dtype_code, &p->b);
	if (!ret)
		ret = npu_host_check_scale(name, "operand 2", p->dtype_code, &p->y);
	if (ret)
		return ret;
	if (!p->size || p->size > NPU_PLAN_MAX_BYTES)
		return npu_fail(-EINVAL, "size of %s: expected 1 to %llu, found %llu", name,
				NPU_PLAN_MAX_BYTES, (unsigned long long)p->size);
	need[0] = (struct npu_host_need) { p->size, 1 };
	need[1] = need[0];
	need[2] = need[0];
	return 0;
}

static int check_quantized_add(const void *params, uint32_t size, struct npu_host_need *need)
{
	return check_binary8("quantized_add", params, size, need);
}

static int check_quantized_mul(const void *params, uint32_t size, struct npu_host_need *need)
{
	return check_binary8("quantized_mul", params, size, need);
}

static void run_quantized_add(const void *params, const void *const *src, void *dst)
{
	const struct npu_host_binary8 *p = params;
	const float ra = p->a.scale / p->y.scale, rb = p->b.scale / p->y.scale;
	const float f = (float)p->y.zero_point -
			fmaf(ra, (float)p->a.zero_point, rb * (float)p->b.zero_point);
	const uint8_t *a = src[0], *b = src[1];
	uint8_t *y = dst;
	uint64_t i;

	for (i = 0; i < p->size; i++) {
		float x = (float)npu_host_value8(p->dtype_code, a[i]);
		float z = (float)npu_host_value8(p->dtype_code, b[i]);

		y[i] = npu_host_saturate8(p->dtype_code, fmaf(x, ra, fmaf(z, rb, f)));
	}
}

static void run_quantized_mul(const void *params, const void *const *src, void *dst)
{
	const struct npu_host_binary8 *p = params;
	const float r = p->a.scale * p->b.scale / p->y.scale;
	const float zero = (float)p->y.zero_point;
	const uint8_t *a = src[0], *b = src[1];
	uint8_t *y = dst;
	uint64_t i;

	for (i = 0; i < p->size; i++) {
		int x = npu_host_value8(p->dtype_code, a[i]) - p->a.zero_point;
		int z = npu_host_value8(p->dtype_code, b[i]) - p->b.zero_point;

		y[i] = npu_host_saturate8(p->dtype_code, (float)(x * z) * r + zero);
	}
}

/* ---- floats ---- */

static int check_float(const char *name, const void *params, uint32_t size,
		       struct npu_host_need *need)
{
	const struct npu_host_copy *p = params;

	if (size != sizeof(*p))
		return npu_host_check_size(name, sizeof(*p), size);
	if (!p->size || p->size % sizeof(float) || p->size > NPU_PLAN_MAX_BYTES)
		return npu_fail(-EINVAL, "size of %s: expected a multiple of 4 up to %llu, found %llu",
				name, NPU_PLAN_MAX_BYTES, (unsigned long long)p->size);
	need[0] = (struct npu_host_need) { p->size, sizeof(float) };
	need[1] = need[0];
	need[2] = need[0];
	return 0;
}

static int check_add_f32(const void *params, uint32_t size, struct npu_host_need *need)
{
	return check_float("add_f32", params, size, need);
}

static int check_mul_f32(const void *params, uint32_t size, struct npu_host_need *need)
{
	return check_float("mul_f32", params, size, need);
}

static void run_add_f32(const void *params, const void *const *src, void *dst)
{
	const struct npu_host_copy *p = params;
	const float *a = src[0], *b = src[1];
	float *y = dst;
	uint64_t i;

	for (i = 0; i < p->size / sizeof(float); i++)
		y[i] = a[i] + b[i];
}

static void run_mul_f32(const void *params, const void *const *src, void *dst)
{
	const struct npu_host_copy *p = params;
	const float *a = src[0], *b = src[1];
	float *y = dst;
	uint64_t i;

	for (i = 0; i < p->size / sizeof(float); i++)
		y[i] = a[i] * b[i];
}

static int check_clip_f32(const void *params, uint32_t size, struct npu_host_need *need)
{
	const struct npu_host_bound *p = params;

	if (size != sizeof(*p))
		return npu_host_check_size("clip_f32", sizeof(*p), size);
	if (!p->size || p->size % sizeof(float) || p->size > NPU_PLAN_MAX_BYTES)
		return npu_fail(-EINVAL, "size of clip_f32: expected a multiple of 4 up to %llu, found %llu",
				NPU_PLAN_MAX_BYTES, (unsigned long long)p->size);
	if (isnan(p->low) || isnan(p->high))
		return npu_fail(-EINVAL, "bounds of clip_f32: expected numbers, found %g and %g",
				(double)p->low, (double)p->high);
	need[0] = (struct npu_host_need) { p->size, sizeof(float) };
	need[1] = need[0];
	return 0;
}

static void run_clip_f32(const void *params, const void *const *src, void *dst)
{
	const struct npu_host_bound *p = params;
	const float *from = src[0];
	float *to = dst;
	uint64_t i;

	for (i = 0; i < p->size / sizeof(float); i++) {
		float x = from[i] < p->low ? p->low : from[i];

		to[i] = x > p->high ? p->high : x;
	}
}

const struct npu_host_kernel npu_host_kernels_elementwise[] = {
	{ "quantized_add", 2, check_quantized_add, run_quantized_add },
	{ "quantized_mul", 2, check_quantized_mul, run_quantized_mul },
	{ "add_f32", 2, check_add_f32, run_add_f32 },
	{ "mul_f32", 2, check_mul_f32, run_mul_f32 },
	{ "clip_f32", 1, check_clip_f32, run_clip_f32 },
	{ NULL, 0, NULL, NULL }
};
