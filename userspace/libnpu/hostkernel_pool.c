// SPDX-License-Identifier: MIT
/* MaxPool on 8-bit elements. */
#include <errno.h>
#include "userspace/libnpu/backend.h"
#include "userspace/libnpu/hostkernel.h"

/* One dimension: every window must hold at least one element of the input. */
static int check_axis(const char *kernel_name, const char *axis, uint64_t in, uint64_t out,
		      uint64_t kernel, uint64_t stride, uint64_t pad)
{
	if (!kernel || !stride || pad >= kernel)
		return npu_fail(-EINVAL, "%s, %s: expected a window and stride of at least 1 and padding below the window, found %llu, %llu, %llu",
				kernel_name, axis, (unsigned long long)kernel,
				(unsigned long long)stride, (unsigned long long)pad);
	if ((out - 1) * stride >= in + pad)
		return npu_fail(-EINVAL, "%s, %s: output %llu is a window beyond the input of %llu",
				kernel_name, axis, (unsigned long long)out - 1,
				(unsigned long long)in);
	return 0;
}

int npu_host_check_pool(const char *name, const struct npu_host_pool *p,
			struct npu_host_need *need)
{
	uint64_t planes = 1;
	uint64_t in, out;
	int ret;

	if (p->dtype_code > 1 || p->dtype_bits != 8 || p->reserved || p->reserved1)
		return npu_fail(-EINVAL, "type of %s: expected code 0 or 1 with 8 bits and reserved 0, found code %u with %u bits and reserved %u, %u",
				name, p->dtype_code, p->dtype_bits, p->reserved, p->reserved1);
	if (!npu_host_multiply(&planes, p->n) || !npu_host_multiply(&planes, p->c))
		return npu_fail(-EINVAL, "shape of %s: found %u images of %u channels", name, p->n,
				p->c);
	in = planes;
	out = planes;
	if (!npu_host_multiply(&in, p->h) || !npu_host_multiply(&in, p->w) ||
	    !npu_host_multiply(&out, p->out_h) || !npu_host_multiply(&out, p->out_w))
		return npu_fail(-EINVAL, "shape of %s: expected 1 to %llu bytes, found %u x %u to %u x %u",
				name, NPU_PLAN_MAX_BYTES, p->h, p->w, p->out_h, p->out_w);
	ret = check_axis(name, "rows", p->h, p->out_h, p->kernel_h, p->stride_h, p->pad_top);
	if (!ret)
		ret = check_axis(name, "columns", p->w, p->out_w, p->kernel_w, p->stride_w,
				 p->pad_left);
	need[0] = (struct npu_host_need) { in, 1 };
	need[1] = (struct npu_host_need) { out, 1 };
	return ret;
}

static int check_maxpool(const void *params, uint32_t size, struct npu_host_need *need)
{
	const struct npu_host_pool *p = params;

	if (size != sizeof(*p))
		return npu_host_check_size("maxpool", sizeof(*p), size);
	return npu_host_check_pool("maxpool", p, need);
}

/* @flip turns either type into an unsigned one of the same order. */
static uint8_t highest(const uint8_t *plane, uint32_t width, struct npu_host_window rows,
		       struct npu_host_window columns, uint8_t flip)
{
	uint8_t best = 0;
	int64_t y, x;

	for (y = rows.begin; y < rows.end; y++) {
		for (x = columns.begin; x < columns.end; x++) {
			uint8_t value = plane[y * width + x] ^ flip;

			best = value > best ? value : best;
		}
	}
	return best ^ flip;
}

static void run_pool(const void *params, const void *const *src, void *dst)
{
	const struct npu_host_pool *p = params;
	const uint8_t flip = p->dtype_code ? 0 : 0x80;
	const uint8_t *plane = src[0];
	uint8_t *to = dst;
	uint64_t i;
	uint32_t y, x;

	for (i = 0; i < (uint64_t)p->n * p->c; i++, plane += (uint64_t)p->h * p->w) {
		for (y = 0; y < p->out_h; y++) {
			struct npu_host_window rows =
				npu_host_clip(y, p->stride_h, p->pad_top, p->kernel_h, p->h);

			for (x = 0; x < p->out_w; x++)
				*to++ = highest(plane, p->w, rows,
						npu_host_clip(x, p->stride_w, p->pad_left,
							      p->kernel_w, p->w), flip);
		}
	}
}

const struct npu_host_kernel npu_host_kernels_pool[] = {
	{ "maxpool", 1, check_maxpool, run_pool },
	{ NULL, 0, NULL, NULL }
};
