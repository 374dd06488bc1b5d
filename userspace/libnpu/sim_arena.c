// SPDX-License-Identifier: MIT
/* Memory on the model's bus: one large range, handed out by pages. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include "userspace/libnpu/sim.h"

/* Small numbers are no bus addresses, so that a forgotten base is refused. */
#define BUS_BASE	(4ull << 30)
#define LARGEST		(16ull << 30)
#define SMALLEST	(64ull << 20)
#define OUTSIDE		(64ull << 30)
#define OUTSIDE_END	(1ull << 47)

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
	if (!ret)
		ret = npu_vaspace_init(&arena->outside, OUTSIDE, OUTSIDE_END);
	if (!arena->pages || ret) {
		sim_arena_fini(arena);
		return npu_fail(-ENOMEM, "out of memory for a simulated device");
	}
	return 0;
}

void sim_arena_fini(struct sim_arena *arena)
{
	npu_vaspace_fini(&arena->space);
	npu_vaspace_fini(&arena->outside);
	free(arena->windows);
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

/* How many windows begin at @bus or before it. */
static size_t windows_up_to(const struct sim_arena *arena, uint64_t bus)
{
	size_t low = 0, high = arena->window_count;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (arena->windows[middle].bus <= bus)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

int sim_arena_import(struct sim_arena *arena, void *data, uint64_t size, uint64_t *bus)
{
	uint64_t align = size >= NPU_HUGE_SIZE ? NPU_HUGE_SIZE : NPU_PAGE_SIZE;
	struct sim_window *more;
	size_t at;

	more = reallocarray(arena->windows, arena->window_count + 1, sizeof(*more));
	if (!more)
		return npu_fail(-ENOMEM, "out of memory for an import");
	arena->windows = more;
	if (npu_vaspace_alloc(&arena->outside, size, align, bus))
		return npu_fail(-ENOMEM, "the simulated device has no bus addresses for %llu bytes",
				(unsigned long long)size);
	at = windows_up_to(arena, *bus);
	memmove(&more[at + 1], &more[at], (arena->window_count - at) * sizeof(*more));
	more[at] = (struct sim_window) { .bus = *bus, .size = size, .data = data };
	arena->window_count++;
	return 0;
}

void sim_arena_forget(struct sim_arena *arena, uint64_t bus)
{
	size_t at = windows_up_to(arena, bus) - 1;

	npu_vaspace_free(&arena->outside, bus, arena->windows[at].size);
	arena->window_count--;
	memmove(&arena->windows[at], &arena->windows[at + 1],
		(arena->window_count - at) * sizeof(arena->windows[0]));
}

static void *window_at(const struct sim_arena *arena, uint64_t bus, uint64_t size)
{
	size_t count = windows_up_to(arena, bus);
	const struct sim_window *window = &arena->windows[count - 1];

	if (!count || bus - window->bus > window->size ||
	    size > window->size - (bus - window->bus))
		return NULL;
	return window->data + (bus - window->bus);
}

void *sim_arena_at(const struct sim_arena *arena, uint64_t bus, uint64_t size)
{
	uint64_t page, end;

	if (bus >= OUTSIDE)
		return window_at(arena, bus, size);
	if (bus < BUS_BASE || bus - BUS_BASE > arena->size ||
	    size > arena->size - (bus - BUS_BASE))
		return NULL;

	end = page_of(bus + size + NPU_PAGE_SIZE - 1);
	for (page = page_of(bus); page < end; page++)
		if (!(arena->pages[page / 64] >> page % 64 & 1))
			return NULL;
	return arena->base + (bus - BUS_BASE);
}
