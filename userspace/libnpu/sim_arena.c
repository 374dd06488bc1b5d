// SPDX-License-Identifier: MIT
/* Memory on the model's bus: one large range, handed out by pages. */
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include "userspace/libnpu/sim.h"

/* Small numbers are no bus addresses, so that a forgotten base is refused. */
#define BUS_BASE	(4ull << 30)
#define LARGEST		(16ull << 30)
#define SMALLEST	(64ull << 20)

static uint64_t page_of(uint64_t bus)
{
	return (bus - BUS_BASE) >> NPU_PAGE_SHIFT;
}

int sim_arena_init(struct sim_arena *arena)
{
	void *base = MAP_FAILED;
	uint64_t size;
	int ret;

	for (size = LARGEST; size >= SMALLEST && base == MAP_FAILED; size /= 2) {
		base = mmap(NULL, size, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
		arena->size = size;
	}
	if (base == MAP_FAILED)
		return npu_fail(-ENOMEM, "no address space for the memory of a simulated device");

	arena->base = base;
	arena->pages = calloc(arena->size >> (NPU_PAGE_SHIFT + 6), sizeof(*arena->pages));
	ret = npu_vaspace_init(&arena->space, BUS_BASE, BUS_BASE + arena->size);
	if (!arena->pages || ret) {
		sim_arena_fini(arena);
		return npu_fail(-ENOMEM, "out of memory for a simulated device");
	}
	return 0;
}

void sim_arena_fini(struct sim_arena *arena)
{
	npu_vaspace_fini(&arena->space);
	free(arena->pages);
	munmap(arena->base, arena->size);
	arena->base = NULL;
}

static void mark(struct sim_arena *arena, uint64_t bus, uint64_t size, bool used)
{
	uint64_t page = page_of(bus);
	uint64_t end = page + (size >> NPU_PAGE_SHIFT);

	for (; page < end; page++) {
		if (used)
			arena->pages[page / 64] |= 1ull << page % 64;
		else
			arena->pages[page / 64] &= ~(1ull << page % 64);
	}
}

int sim_arena_alloc(struct sim_arena *arena, uint64_t size, uint64_t *bus, void **data)
{
	uint64_t align = size >= NPU_HUGE_SIZE ? NPU_HUGE_SIZE : NPU_PAGE_SIZE;

	if (npu_vaspace_alloc(&arena->space, size, align, bus))
		return npu_fail(-ENOMEM, "the simulated device has no room for %llu bytes of %llu",
				(unsigned long long)size, (unsigned long long)arena->size);
	mark(arena, *bus, size, true);
	*data = arena->base + (*bus - BUS_BASE);
	return 0;
}

void sim_arena_free(struct sim_arena *arena, uint64_t bus, uint64_t size)
{
	mark(arena, bus, size, false);
	/* Gives the pages back; the next touch finds zeros. */
	madvise(arena->base + (bus - BUS_BASE), size, MADV_DONTNEED);
	npu_vaspace_free(&arena->space, bus, size);
}

void *sim_arena_at(const struct sim_arena *arena, uint64_t bus, uint64_t size)
{
	uint64_t page, end;

	if (bus < BUS_BASE || bus - BUS_BASE > arena->size ||
	    size > arena->size - (bus - BUS_BASE))
		return NULL;

	end = page_of(bus + size + NPU_PAGE_SIZE - 1);
	for (page = page_of(bus); page < end; page++)
		if (!(arena->pages[page / 64] >> page % 64 & 1))
			return NULL;
	return arena->base + (bus - BUS_BASE);
}
