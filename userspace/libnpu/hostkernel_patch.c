// SPDX-License-Identifier: MIT
/* Windows of an image laid out as channels. */
#include <errno.h>
#include <string.h>
#include "userspace/libnpu/backend.h"
#include "userspace/libnpu/hostkernel.h"

#define BLOCK		16u
#define MAX_SIDE	(1u << 24)	/* of anything along an image, so that sums stay small */

static bool sides_ok(const struct npu_host_patches *p)
{
	const uint32_t side[] = {
		p->h, p->w, p->out_h, p->out_w, p->kernel_h, p->kernel_w, p->stride_h, p->stride_w,
		p->dilation_h, p->dilation_w,
	};
	size_t i;

	for (i = 0; i < sizeof(side) / sizeof(side[0]); i++)
		if (!side[i] || side[i] > MAX_SIDE)
			return false;
	return p->pad_top <= MAX_SIDE && p->pad_left <= MAX_SIDE;
}

static int check_patches(const void *params, uint32_t size, struct npu_host_need *need)
{
	const struct npu_host_patches *p = params;
	uint64_t dense = 1, taps = 1, blocked = BLOCK;

	if (size != sizeof(*p))
		return npu_host_check_size("pack_patches", sizeof(*p), size);
	if (!sides_ok(p) || p->pad < -128 || p->pad > 127 || p->reserved)
		return npu_fail(-EINVAL,
				"pack_patches: expected sides of 1 to %u, a pad value of -128 to 127 and reserved 0, found %u x %u to %u x %u, window %u x %u, pad %d, reserved %u",
				MAX_SIDE, p->h, p->w, p->out_h, p->out_w, p->kernel_h, p->kernel_w, p->pad,
				p->reserved);
	if (!npu_host_multiply(&dense, p->n) || !npu_host_multiply(&dense, p->c) ||
	    !npu_host_multiply(&dense, p->h) || !npu_host_multiply(&dense, p->w) ||
	    !npu_host_multiply(&taps, p->c) || !npu_host_multiply(&taps, p->kernel_h) ||
	    !npu_host_multiply(&taps, p->kernel_w) ||
	    !npu_host_multiply(&blocked, (taps + BLOCK - 1) / BLOCK) || !npu_host_multiply(&blocked, p->n) ||
	    !npu_host_multiply(&blocked, p->out_h) || !npu_host_multiply(&blocked, p->out_w))
		return npu_fail(-EINVAL, "pack_patches: expected operands of 1 to %llu bytes, found %u x %u x %u x %u to %u x %u of %u x %u",
				NPU_PLAN_MAX_BYTES, p->n, p->c, p->h, p->w, p->out_h, p->out_w, p->kernel_h,
				p->kernel_w);
	need[0] = (struct npu_host_need) { dense, 1 };
	need[1] = (struct npu_host_need) { blocked, 1 };
	return 0;
}

/* One tap of every window: a lane of the result. */
static void pack_tap(const struct npu_host_patches *p, const int8_t *image, int8_t *lane, int64_t y, int64_t x)
{
	uint32_t oy, ox;

	for (oy = 0; oy < p->out_h; oy++, y += p->stride_h) {
		const int8_t *row;
		int64_t column = x;

		if (y < 0 || y >= p->h) {
			lane += (size_t)p->out_w * BLOCK;
			continue;
		}
		row = image + y * p->w;
		for (ox = 0; ox < p->out_w; ox++, column += p->stride_w, lane += BLOCK)
			if (column >= 0 && column < p->w)
				*lane = row[column];
	}
}

static void run_patches(const void *params, const void *const *src, void *dst)
{
	const struct npu_host_patches *p = params;
	size_t area = (size_t)p->out_h * p->out_w * BLOCK, taps = (size_t)p->c * p->kernel_h * p->kernel_w;
	const int8_t *image = src[0];
	int8_t *out = dst;
	uint32_t n, c, ky, kx;
	size_t tap;

	for (n = 0; n < p->n; n++, out += (taps + BLOCK - 1) / BLOCK * area) {
		memset(out, p->pad, (taps + BLOCK - 1) / BLOCK * area);
		for (c = 0, tap = 0; c < p->c; c++, image += (size_t)p->h * p->w)
			for (ky = 0; ky < p->kernel_h; ky++)
				for (kx = 0; kx < p->kernel_w; kx++, tap++)
					pack_tap(p, image, out + tap / BLOCK * area + tap % BLOCK,
						 (int64_t)ky * p->dilation_h - p->pad_top,
						 (int64_t)kx * p->dilation_w - p->pad_left);
	}
}

const struct npu_host_kernel npu_host_kernels_patch[] = {
	{ "pack_patches", 1, check_patches, run_patches },
	{ NULL, 0, NULL, NULL }
};
