/* SPDX-License-Identifier: MIT */
/* Ranges of device addresses: first fit, neighbours joined when freed. Not locked. */
#ifndef USERSPACE_LIBNPU_VASPACE_H
#define USERSPACE_LIBNPU_VASPACE_H

#include <stddef.h>
#include <stdint.h>

/**
 * struct npu_hole - a free range
 * @start: first address
 * @end: one past the last
 */
struct npu_hole {
	uint64_t start;
	uint64_t end;
};

/**
 * struct npu_vaspace - all free ranges, ascending, none touching the next
 * @holes: array
 * @count: in use
 * @room: allocated; always above @count, so that freeing never allocates
 * @used: ranges handed out
 */
struct npu_vaspace {
	struct npu_hole *holes;
	size_t count;
	size_t room;
	size_t used;
};

/* 0 or -ENOMEM. */
int npu_vaspace_init(struct npu_vaspace *va, uint64_t start, uint64_t end);
void npu_vaspace_fini(struct npu_vaspace *va);

/* @align is a power of two. 0, -ENOSPC or -ENOMEM. */
int npu_vaspace_alloc(struct npu_vaspace *va, uint64_t size, uint64_t align, uint64_t *out);

/* Give back a range of npu_vaspace_alloc(). */
void npu_vaspace_free(struct npu_vaspace *va, uint64_t start, uint64_t size);

#endif /* USERSPACE_LIBNPU_VASPACE_H */
