// SPDX-License-Identifier: MIT
/* Layout: the core's blocked form and back, copies, transposition. */
#include <errno.h>
#include <string.h>
#include "userspace/libnpu/backend.h"
#include "userspace/libnpu/hostkernel.h"
#include "userspace/libnpu/include/npu/npu.h"

#define BLOCK	16u

/* ---- blocked layout ---- */

size_t npu_packed_size(size_t n, size_t c, size_t h, size_t w)
{
	size_t size;

	if (__builtin_mul_overflow(n, c / BLOCK + !!(c % BLOCK), &size) ||
	    __builtin_mul_overflow(size, h, &size) || __builtin_mul_overflow(size, w, &size) ||
	    __builtin_mul_overflow(size, BLOCK, &size))
		return 0;
	return size;
}

/* One block of up to 16 channels of @area pixels each. */
static void pack_block(const int8_t *src, int8_t *dst, size_t channels, size_t area, int8_t pad)
{
	size_t c, i;

	if (channels < BLOCK)
		memset(dst, pad, area * BLOCK);
	for (c = 0; c < channels; c++, src += area)
		for (i = 0; i < area; i++)
			dst[i * BLOCK + c] = src[i];
}

static void unpack_block(const int8_t *src, int8_t *dst, size_t channels, size_t area)
{
	size_t c, i;

	for (c = 0; c < channels; c++, dst += area)
		for (i = 0; i < area; i++)
			dst[i] = src[i * BLOCK + c];
}

void npu_pack_nchw16(const int8_t *src, int8_t *dst, size_t n, size_t c, size_t h, size_t w,
		     int8_t pad)
{
	size_t area = h * w;
	size_t first, count;

	for (; n; n--) {
		for (first = 0; first < c; first += BLOCK) {
			count = c - first < BLOCK ? c - first : BLOCK;
			pack_block(src, dst, count, area, pad);
			src += count * area;
			dst += BLOCK * area;
		}
	}
}

void npu_unpack_nchw16(const int8_t *src, int8_t *dst, size_t n, size_t c, size_t h, size_t w)
{
	size_t area = h * w;
	size_t first, count;

	for (; n; n--) {
		for (first = 0; first < c; first += BLOCK) {
			count = c - first < BLOCK ? c - first : BLOCK;
			unpack_block(src, dst, count, area);
			src += BLOCK * area;
			dst += count * area;
		}
	}
}

static int check_pack(const char *name, const void *params, uint32_t size, int pad_min,
		      int pad_max, struct npu_host_need *plain, struct npu_host_need *packed)
{
	const struct npu_host_pack *p = params;
	uint64_t dense = 1;
	uint64_t blocked = BLOCK;

	if (size != sizeof(*p))
		return npu_host_check_size(name, sizeof(*p), size);
	if (!npu_host_multiply(&dense, p->n) || !npu_host_multiply(&dense, p->c) ||
	    !npu_host_multiply(&dense, p->h) || !npu_host_multiply(&dense, p->w) ||
	    !npu_host_multiply(&blocked, dense / p->c) ||
	    !npu_host_multiply(&blocked, ((uint64_t)p->c + BLOCK - 1) / BLOCK))
		return npu_fail(-EINVAL, "shape of %s: expected 1 to %llu bytes, found %u x %u x %u x %u",
				name, NPU_PLAN_MAX_BYTES, p->n, p->c, p->h, p->w);
	if (p->pad < pad_min || p->pad > pad_max || p->reserved)
		return npu_fail(-EINVAL, "pad value of %s: expected %d to %d and reserved 0, found %d and %u",
				name, pad_min, pad_max, p->pad, p->reserved);
	*plain = (struct npu_host_need) { dense, 1 };
	*packed = (struct npu_host_need) { blocked, 1 };
	return 0;
}

static int check_pack_nchw16(const void *params, uint32_t size, struct npu_host_need *need)
{
	return check_pack("pack_nchw16", params, size, -128, 127, &need[0], &need[1]);
}

static int check_unpack_nchw16(const void *params, uint32_t size, struct npu_host_need *need)
{
	return check_pack("unpack_nchw16", params, size, 0, 0, &need[1], &need[0]);
}

static void run_pack_nchw16(const void *params, const void *const *src, void *dst)
{
	const struct npu_host_pack *p = params;

	npu_pack_nchw16(src[0], dst, p->n, p->c, p->h, p->w, (int8_t)p->pad);
}

static void run_unpack_nchw16(const void *params, const void *const *src, void *dst)
{
	const struct npu_host_pack *p = params;

	npu_unpack_nchw16(src[0], dst, p->n, p->c, p->h, p->w);
}

/* ---- copies ---- */

static int check_copy(const void *params, uint32_t size, struct npu_host_need *need)
{
	const struct npu_host_copy *p = params;

	if (size != sizeof(*p))
		return npu_host_check_size("copy", sizeof(*p), size);
	if (!p->size || p->size > NPU_PLAN_MAX_BYTES)
		return npu_fail(-EINVAL, "size of a copy: expected 1 to %llu, found %llu",
				NPU_PLAN_MAX_BYTES, (unsigned long long)p->size);
	need[0] = (struct npu_host_need) { p->size, 1 };
	need[1] = need[0];
	return 0;
}

static void run_copy(const void *params, const void *const *src, void *dst)
{
	const struct npu_host_copy *p = params;

	memcpy(dst, src[0], p->size);
}

static void run_flip_sign8(const void *params, const void *const *src, void *dst)
{
	const struct npu_host_copy *p = params;
	const uint8_t *from = src[0];
	uint8_t *to = dst;
	uint64_t i;

	for (i = 0; i < p->size; i++)
		to[i] = from[i] ^ 0x80;
}

/* ---- transposition ---- */

static int check_perm(const struct npu_host_transpose *p)
{
	uint32_t seen = 0;
	uint32_t i;

	for (i = 0; i < NPU_PLAN_MAX_DIMS; i++) {
		if (i >= p->ndim) {
			if (p->perm[i] || p->shape[i])
				return npu_fail(-EINVAL, "transpose: dimension %u of %u is not 0", i,
						p->ndim);
			continue;
		}
		if (p->perm[i] >= p->ndim || seen >> p->perm[i] & 1)
			return npu_fail(-EINVAL, "transpose: perm[%u]: expected one of %u not named before, found %u",
					i, p->ndim, p->perm[i]);
		seen |= 1u << p->perm[i];
	}
	return 0;
}

static int check_transpose(const void *params, uint32_t size, struct npu_host_need *need)
{
	const struct npu_host_transpose *p = params;
	uint64_t bytes = 1;
	uint32_t i;

	if (size != sizeof(*p))
		return npu_host_check_size("transpose", sizeof(*p), size);
	if (!p->ndim || p->ndim > NPU_PLAN_MAX_DIMS)
		return npu_fail(-EINVAL, "dimensions of transpose: expected 1 to %u, found %u",
				NPU_PLAN_MAX_DIMS, p->ndim);
	if (p->element != 1 && p->element != 2 && p->element != 4 && p->element != 8)
		return npu_fail(-EINVAL, "element of transpose: expected 1, 2, 4 or 8 bytes, found %u",
				p->element);
	bytes = p->element;
	for (i = 0; i < p->ndim; i++)
		if (!npu_host_multiply(&bytes, p->shape[i]))
			return npu_fail(-EINVAL, "shape of transpose: expected 1 to %llu bytes, dimension %u is %u",
					NPU_PLAN_MAX_BYTES, i, p->shape[i]);
	need[0] = (struct npu_host_need) { bytes, p->element };
	need[1] = need[0];
	return check_perm(p);
}

/* Bytes from one element to the next along each dimension of the result. */
static void source_strides(const struct npu_host_transpose *p, uint64_t *strides)
{
	uint64_t stride[NPU_PLAN_MAX_DIMS];
	uint64_t step = p->element;
	uint32_t i;

	for (i = p->ndim; i-- > 0; step *= p->shape[i])
		stride[i] = step;
	for (i = 0; i < p->ndim; i++)
		strides[i] = stride[p->perm[i]];
}

/* Count up in the result's order; false after the last element. */
static bool next_index(const struct npu_host_transpose *p, uint32_t *index,
		       const uint64_t *strides, uint64_t *at)
{
	uint32_t i;

	for (i = p->ndim; i-- > 0;) {
		*at += strides[i];
		if (++index[i] < p->shape[p->perm[i]])
			return true;
		*at -= index[i] * strides[i];
		index[i] = 0;
	}
	return false;
}

static void run_transpose(const void *params, const void *const *src, void *dst)
{
	const struct npu_host_transpose *p = params;
	uint32_t index[NPU_PLAN_MAX_DIMS] = { 0 };
	uint64_t strides[NPU_PLAN_MAX_DIMS];
	const uint8_t *from = src[0];
	uint8_t *to = dst;
	uint64_t at = 0;

	source_strides(p, strides);
	do {
		memcpy(to, from + at, p->element);
		to += p->element;
	} while (next_index(p, index, strides, &at));
}

const struct npu_host_kernel npu_host_kernels_layout[] = {
	{ "pack_nchw16", 1, check_pack_nchw16, run_pack_nchw16 },
	{ "unpack_nchw16", 1, check_unpack_nchw16, run_unpack_nchw16 },
	{ "copy", 1, check_copy, run_copy },
	{ "flip_sign8", 1, check_copy, run_flip_sign8 },
	{ "transpose", 1, check_transpose, run_transpose },
	{ NULL, 0, NULL, NULL }
};
