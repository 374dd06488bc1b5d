/* SPDX-License-Identifier: MIT */
/* A small address space for programs under test. */
#ifndef TESTS_ORACLE_MEMORY_H
#define TESTS_ORACLE_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

#define MEMORY_PAGE 4096
#define MEMORY_SEGMENTS 8

/* Pages with the same rights; bytes belong to the address space. */
struct segment {
	uint64_t va;
	uint32_t size;			/* a multiple of MEMORY_PAGE */
	bool readable;
	bool writable;
	bool executable;
	uint8_t *bytes;
};

struct address_space {
	struct segment segments[MEMORY_SEGMENTS];
	unsigned int count;
};

/* A segment of zeros, which overlaps no other; NULL without memory. */
struct segment *address_space_add(struct address_space *space, uint64_t va, uint32_t size,
				  const char *rights);

/* An equal address space with bytes of its own; false without memory. */
bool address_space_copy(struct address_space *to, const struct address_space *from);

void address_space_free(struct address_space *space);

/* True when a segment holds [va, va + size) or some of it. */
bool address_space_touches(const struct address_space *space, uint64_t va, uint64_t size);

/*
 * What the MMU and memory do: 0, or NPU_FAULT_* with the first address that
 * failed; bytes before it have been moved.
 */
uint8_t address_space_read(void *space, uint64_t va, void *buf, uint32_t len, uint8_t access,
			   uint64_t *fault_va);
uint8_t address_space_write(void *space, uint64_t va, const void *buf, uint32_t len,
			    uint64_t *fault_va);

#endif /* TESTS_ORACLE_MEMORY_H */
