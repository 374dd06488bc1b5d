// SPDX-License-Identifier: MIT
/* Kernels that take elements from elsewhere: tables, blocks, index lists. */
#include <errno.h>
#include <string.h>
#include "userspace/libnpu/backend.h"
#include "userspace/libnpu/hostkernel.h"

/* ---- tables ---- */

static int check_lookup(const void *params, uint32_t size, struct npu_host_need *need)
{
	const struct npu_host_lookup *p = params;

	if (size != sizeof(*p))
		return npu_host_check_size("lookup8", sizeof(*p), size);
	if (!p->size || p->size > NPU_PLAN_MAX_BYTES)
		return npu_fail(-EINVAL, "size of lookup8: expected 1 to %llu, found %llu",
				NPU_PLAN_MAX_BYTES, (unsigned long long)p->size);
	need[0] = (struct npu_host_need) { p->size, 1 };
	need[1] = need[0];
	return 0;
}

static void run_lookup(const void *params, const void *const *src, void *dst)
{
	const struct npu_host_lookup *p = params;
	const uint8_t *from = src[0];
	uint8_t *to = dst;
	uint64_t i;

	for (i = 0; i < p->size; i++)
		to[i] = p->table[from[i]];
}

/* ---- blocks ---- */

/* Bytes from the first block's start to the last one's end; 0: too many. */
static uint64_t block_span(const struct npu_host_blocks *p, uint64_t step)
{
	uint64_t span;

	if (__builtin_mul_overflow(p->count - 1, step, &span) ||
	    __builtin_add_overflow(span, p->size, &span) || span > NPU_PLAN_MAX_BYTES)
		return 0;
	return span;
}

static int check_blocks(const void *params, uint32_t size, struct npu_host_need *need)
{
	const struct npu_host_blocks *p = params;

	if (size != sizeof(*p))
		return npu_host_check_size("copy_blocks", sizeof(*p), size);
	if (!p->count || !p->size || p->src_step < p->size || p->dst_step < p->size ||
	    !block_span(p, p->src_step) || !block_span(p, p->dst_step))
		return npu_fail(-EINVAL, "blocks of copy_blocks: expected at least one byte each, steps no smaller and at most %llu bytes, found %llu of %llu with steps %llu and %llu",
				NPU_PLAN_MAX_BYTES, (unsigned long long)p->count,
				(unsigned long long)p->size, (unsigned long long)p->src_step,
				(unsigned long long)p->dst_step);
	need[0] = (struct npu_host_need) { block_span(p, p->src_step), 1 };
	need[1] = (struct npu_host_need) { block_span(p, p->dst_step), 1 };
	return 0;
}

static void run_blocks(const void *params, const void *const *src, void *dst)
{
	const struct npu_host_blocks *p = params;
	const uint8_t *from = src[0];
	uint8_t *to = dst;
	uint64_t i;

	for (i = 0; i < p->count; i++)
		memcpy(to + i * p->dst_step, from + i * p->src_step, p->size);
}

/* ---- index lists ---- */

static const int32_t *indices_of(const struct npu_host_gather *p)
{
	return (const int32_t *)(p + 1);
}

static int check_gather_head(const struct npu_host_gather *p)
{
	uint32_t i;

	if (!p->ndim || p->ndim > NPU_PLAN_MAX_DIMS)
		return npu_fail(-EINVAL, "dimensions of gather: expected 1 to %u, found %u",
				NPU_PLAN_MAX_DIMS, p->ndim);
	if (p->element != 1 && p->element != 2 && p->element != 4 && p->element != 8)
		return npu_fail(-EINVAL, "element of gather: expected 1, 2, 4 or 8 bytes, found %u",
				p->element);
	for (i = p->ndim; i < NPU_PLAN_MAX_DIMS; i++)
		if (p->src_shape[i] || p->dst_shape[i])
			return npu_fail(-EINVAL, "gather: dimension %u of %u is not 0", i, p->ndim);
	for (i = p->element; i < sizeof(p->fill); i++)
		if (p->fill[i])
			return npu_fail(-EINVAL, "gather: byte %u of a fill of %u is not 0", i,
					p->element);
	return 0;
}

static int check_indices(const struct npu_host_gather *p)
{
	const int32_t *index = indices_of(p);
	uint32_t i, k;

	for (i = 0; i < p->ndim; i++)
		for (k = 0; k < p->dst_shape[i]; k++, index++)
			if (*index < -1 || *index >= (int64_t)p->src_shape[i])
				return npu_fail(-EINVAL, "gather: index %u of dimension %u: expected -1 to below %u, found %d",
						k, i, p->src_shape[i], *index);
	return 0;
}

static int check_gather(const void *params, uint32_t size, struct npu_host_need *need)
{
	const struct npu_host_gather *p = params;
	uint64_t src, dst, lists = 0;
	uint32_t i;
	int ret;

	if (size < sizeof(*p))
		return npu_host_check_size("gather", sizeof(*p), size);
	ret = check_gather_head(p);
	if (ret)
		return ret;
	src = p->element;
	dst = p->element;
	if (!npu_host_multiply_all(&src, p->src_shape, p->ndim) ||
	    !npu_host_multiply_all(&dst, p->dst_shape, p->ndim))
		return npu_fail(-EINVAL, "shapes of gather: expected 1 to %llu bytes each",
				NPU_PLAN_MAX_BYTES);
	for (i = 0; i < p->ndim; i++)
		lists += p->dst_shape[i];
	ret = npu_host_check_size("gather", sizeof(*p) + lists * sizeof(int32_t), size);
	if (!ret)
		ret = check_indices(p);
	need[0] = (struct npu_host_need) { src, p->element };
	need[1] = (struct npu_host_need) { dst, p->element };
	return ret;
}

/* A dimension of a gather under way. */
struct gather_dim {
	const int32_t *index;
	uint32_t count;
	uint64_t stride;	/* bytes from element to element of operand 0 */
};

static void fill_elements(uint8_t *to, const struct npu_host_gather *p, uint64_t count)
{
	uint64_t i;

	for (i = 0; i < count; i++)
		memcpy(to + i * p->element, p->fill, p->element);
}

/* The last dimension. */
static void gather_row(const struct npu_host_gather *p, const struct gather_dim *d,
		       const uint8_t *from, uint8_t *to)
{
	uint32_t i;

	for (i = 0; i < d->count; i++, to += p->element)
		memcpy(to, d->index[i] < 0 ? p->fill : from + d->index[i] * d->stride, p->element);
}

/* Dimension @at and those inside it; what was written ends at the result. */
static uint8_t *gather_dims(const struct npu_host_gather *p, const struct gather_dim *dims,
			    uint32_t at, const uint8_t *from, uint8_t *to)
{
	const struct gather_dim *d = &dims[at];
	uint64_t inside = 1;
	uint32_t i;

	if (at == p->ndim - 1) {
		gather_row(p, d, from, to);
		return to + (uint64_t)d->count * p->element;
	}
	for (i = at + 1; i < p->ndim; i++)
		inside *= dims[i].count;
	for (i = 0; i < d->count; i++) {
		if (d->index[i] < 0) {
			fill_elements(to, p, inside);
			to += inside * p->element;
		} else {
			to = gather_dims(p, dims, at + 1, from + d->index[i] * d->stride, to);
		}
	}
	return to;
}

static void run_gather(const void *params, const void *const *src, void *dst)
{
	const struct npu_host_gather *p = params;
	struct gather_dim dims[NPU_PLAN_MAX_DIMS];
	const int32_t *index = indices_of(p);
	uint64_t stride = p->element;
	uint32_t i;

	for (i = 0; i < p->ndim; i++) {
		dims[i].index = index;
		dims[i].count = p->dst_shape[i];
		index += p->dst_shape[i];
	}
	for (i = p->ndim; i-- > 0; stride *= p->src_shape[i])
		dims[i].stride = stride;
	gather_dims(p, dims, 0, src[0], dst);
}

const struct npu_host_kernel npu_host_kernels_index[] = {
	{ "lookup8", 1, check_lookup, run_lookup },
	{ "copy_blocks", 1, check_blocks, run_blocks },
	{ "gather", 1, check_gather, run_gather },
	{ NULL, 0, NULL, NULL }
};
