// SPDX-License-Identifier: MIT
/*
 * Averages of 8-bit elements. Compiled with -ffp-contract=off, since every step
 * is rounded to binary32.
 */
#include <errno.h>
#include <math.h>
#include "userspace/libnpu/backend.h"
#include "userspace/libnpu/hostkernel.h"

#define MAX_MEAN	(1u << 23)	/* elements whose sum fits 31 bits */

/* ---- windows ---- */

static int check_average(const void *params, uint32_t size, struct npu_host_need *need)
{
	const char *name = "average_pool8";
	const struct npu_host_average *p = params;
	int ret;

	if (size != sizeof(*p))
		return npu_host_check_size(name, sizeof(*p), size);
	if (p->include_pad > 1 || p->reserved)
		return npu_fail(-EINVAL, "%s: expected include_pad 0 or 1 and reserved 0, found %u and %u",
				name, p->include_pad, p->reserved);
	ret = npu_host_check_pool(name, &p->pool, need);
	if (!ret)
		ret = npu_host_check_scale(name, "operand 0", p->pool.dtype_code, &p->x);
	if (!ret)
		ret = npu_host_check_scale(name, "operand 1", p->pool.dtype_code, &p->y);
	return ret;
}

static float sum_window(const struct npu_host_average *p, const uint8_t *plane,
			struct npu_host_window rows, struct npu_host_window columns)
{
	float sum = 0;
	int64_t y, x;

	for (y = rows.begin; y < rows.end; y++) {
		const uint8_t *row = plane + y * p->pool.w;

		for (x = columns.begin; x < columns.end; x++)
			sum += p->x.scale * (float)(npu_host_value8(p->pool.dtype_code, row[x]) -
						    p->x.zero_point);
	}
	return sum;
}

static uint8_t average(const struct npu_host_average *p, const uint8_t *plane, uint32_t oy,
		       uint32_t ox)
{
	const struct npu_host_pool *k = &p->pool;
	struct npu_host_window rows, columns;
	int64_t count;
	float mean;

	rows = npu_host_clip(oy, k->stride_h, k->pad_top, k->kernel_h, k->h);
	columns = npu_host_clip(ox, k->stride_w, k->pad_left, k->kernel_w, k->w);
	count = (rows.end - rows.begin) * (columns.end - columns.begin);
	if (p->include_pad)
		count = (int64_t)k->kernel_h * k->kernel_w;
	mean = sum_window(p, plane, rows, columns) / (float)count;
	return npu_host_saturate8(k->dtype_code, mean / p->y.scale + (float)p->y.zero_point);
}

static void run_average(const void *params, const void *const *src, void *dst)
{
	const struct npu_host_average *p = params;
	const struct npu_host_pool *k = &p->pool;
	const uint8_t *plane = src[0];
	uint8_t *to = dst;
	uint32_t y, x;
	uint64_t i;

	for (i = 0; i < (uint64_t)k->n * k->c; i++, plane += (uint64_t)k->h * k->w)
		for (y = 0; y < k->out_h; y++)
			for (x = 0; x < k->out_w; x++)
				*to++ = average(p, plane, y, x);
}

/* ---- whole planes ---- */

static int check_mean(const void *params, uint32_t size, struct npu_host_need *need)
{
	const struct npu_host_mean *p = params;
	const char *name = "mean8";
	uint64_t elements;
	int ret;

	if (size != sizeof(*p))
		return npu_host_check_size(name, sizeof(*p), size);
	if (p->reserved || p->reserved1)
		return npu_fail(-EINVAL, "%s: reserved fields are not 0", name);
	ret = npu_host_check_type8(name, p->dtype_code, p->dtype_bits);
	if (!ret)
		ret = npu_host_check_scale(name, "operand 0", p->dtype_code, &p->x);
	if (!ret)
		ret = npu_host_check_scale(name, "operand 1", p->dtype_code, &p->y);
	if (ret)
		return ret;
	elements = p->outer;
	if (!p->outer || p->inner > MAX_MEAN || !npu_host_multiply(&elements, p->inner))
		return npu_fail(-EINVAL, "shape of %s: expected 1 to %u elements a mean and up to %llu in all, found %u means of %u",
				name, MAX_MEAN, NPU_PLAN_MAX_BYTES, p->outer, p->inner);
	need[0] = (struct npu_host_need) { elements, 1 };
	need[1] = (struct npu_host_need) { p->outer, 1 };
	return 0;
}

static void run_mean(const void *params, const void *const *src, void *dst)
{
	const struct npu_host_mean *p = params;
	const float scale = p->x.scale / (p->y.scale * (float)p->inner);
	const uint8_t *from = src[0];
	uint8_t *to = dst;
	uint32_t o, i;

	for (o = 0; o < p->outer; o++) {
		int32_t sum = 0;

		for (i = 0; i < p->inner; i++)
			sum += npu_host_value8(p->dtype_code, *from++) - p->x.zero_point;
		to[o] = npu_host_requantize8(p->dtype_code, (float)sum * scale, p->y.zero_point);
	}
}

const struct npu_host_kernel npu_host_kernels_average[] = {
	{ "average_pool8", 1, check_average, run_average },
	{ "mean8", 1, check_mean, run_mean },
	{ NULL, 0, NULL, NULL }
};
