// SPDX-License-Identifier: MIT
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "userspace/libnpu/vaspace.h"

int npu_vaspace_init(struct npu_vaspace *va, uint64_t start, uint64_t end)
{
	*va = (struct npu_vaspace) { .room = 16, .count = 1 };
	va->holes = calloc(va->room, sizeof(*va->holes));
	if (!va->holes)
		return -ENOMEM;
	va->holes[0] = (struct npu_hole) { start, end };
	return 0;
}

void npu_vaspace_fini(struct npu_vaspace *va)
{
	free(va->holes);
	va->holes = NULL;
}

/* Each range handed out can leave one more hole when it is freed. */
static int make_room(struct npu_vaspace *va)
{
	size_t need = va->used + 3;
	struct npu_hole *holes;

	if (need <= va->room)
		return 0;
	holes = reallocarray(va->holes, 2 * need, sizeof(*holes));
	if (!holes)
		return -ENOMEM;
	va->holes = holes;
	va->room = 2 * need;
	return 0;
}

static void insert(struct npu_vaspace *va, size_t at, struct npu_hole hole)
{
	memmove(&va->holes[at + 1], &va->holes[at], (va->count - at) * sizeof(hole));
	va->holes[at] = hole;
	va->count++;
}

static void erase(struct npu_vaspace *va, size_t at)
{
	va->count--;
	memmove(&va->holes[at], &va->holes[at + 1], (va->count - at) * sizeof(va->holes[0]));
}

/* Take [@start, @start + @size) out of hole @at. */
static void cut(struct npu_vaspace *va, size_t at, uint64_t start, uint64_t size)
{
	struct npu_hole hole = va->holes[at];
	struct npu_hole behind = { start + size, hole.end };

	va->holes[at].end = start;
	if (behind.start < behind.end)
		insert(va, at + 1, behind);
	if (hole.start == start)
		erase(va, at);
	va->used++;
}

int npu_vaspace_alloc(struct npu_vaspace *va, uint64_t size, uint64_t align, uint64_t *out)
{
	uint64_t start;
	size_t i;

	if (make_room(va))
		return -ENOMEM;

	for (i = 0; i < va->count; i++) {
		struct npu_hole *hole = &va->holes[i];

		if (hole->start > UINT64_MAX - align)
			break;
		start = (hole->start + align - 1) & ~(align - 1);
		if (start >= hole->end || hole->end - start < size)
			continue;
		cut(va, i, start, size);
		*out = start;
		return 0;
	}
	return -ENOSPC;
}

void npu_vaspace_free(struct npu_vaspace *va, uint64_t start, uint64_t size)
{
	uint64_t end = start + size;
	size_t i = 0;

	while (i < va->count && va->holes[i].end < start)
		i++;
	va->used--;
	if (i < va->count && va->holes[i].end == start) {
		va->holes[i].end = end;
		if (i + 1 < va->count && va->holes[i + 1].start == end) {
			va->holes[i].end = va->holes[i + 1].end;
			erase(va, i + 1);
		}
	} else if (i < va->count && va->holes[i].start == end) {
		va->holes[i].start = start;
	} else {
		insert(va, i, (struct npu_hole) { start, end });
	}
}
