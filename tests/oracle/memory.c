// SPDX-License-Identifier: MIT
#include <stdlib.h>
#include <string.h>
#include "tests/oracle/memory.h"
#include "npu_proto.h"
#include "npu_regs.h"

struct segment *address_space_add(struct address_space *space, uint64_t va, uint32_t size,
				  const char *rights)
{
	struct segment *s = &space->segments[space->count];

	*s = (struct segment){
		.va = va, .size = size, .readable = strchr(rights, 'r'),
		.writable = strchr(rights, 'w'), .executable = strchr(rights, 'x'),
		.bytes = calloc(1, size),
	};
	if (!s->bytes)
		return NULL;
	space->count++;
	return s;
}

bool address_space_copy(struct address_space *to, const struct address_space *from)
{
	to->count = 0;
	for (unsigned int i = 0; i < from->count; i++) {
		struct segment *s = &to->segments[i];

		*s = from->segments[i];
		s->bytes = malloc(s->size);
		if (!s->bytes)
			return false;
		to->count++;
		memcpy(s->bytes, from->segments[i].bytes, s->size);
	}
	return true;
}

void address_space_free(struct address_space *space)
{
	for (unsigned int i = 0; i < space->count; i++)
		free(space->segments[i].bytes);
	space->count = 0;
}

bool address_space_touches(const struct address_space *space, uint64_t va, uint64_t size)
{
	for (unsigned int i = 0; i < space->count; i++) {
		const struct segment *s = &space->segments[i];

		if (va < s->va + s->size && s->va < va + size)
			return true;
	}
	return false;
}

static struct segment *find(struct address_space *space, uint64_t va)
{
	for (unsigned int i = 0; i < space->count; i++) {
		struct segment *s = &space->segments[i];

		if (va >= s->va && va - s->va < s->size)
			return s;
	}
	return NULL;
}

static bool allowed(const struct segment *s, uint8_t access)
{
	return access == NPU_ACCESS_EXECUTE ? s->executable :
	       access == NPU_ACCESS_WRITE ? s->writable : s->readable;
}

/* Moves bytes up to the end of a segment at most; their number, or a fault. */
static uint8_t reach(struct address_space *space, uint64_t va, uint32_t *len, uint8_t access,
		     uint8_t **bytes)
{
	struct segment *s = find(space, va);

	if (va >> NPU_VA_BITS)
		return NPU_FAULT_ADDRESS;
	if (!s)
		return NPU_FAULT_UNMAPPED;
	if (!allowed(s, access))
		return NPU_FAULT_PERMISSION;
	*bytes = s->bytes + (va - s->va);
	if (*len > s->size - (va - s->va))
		*len = (uint32_t)(s->size - (va - s->va));
	return NPU_FAULT_NONE;
}

uint8_t address_space_read(void *space, uint64_t va, void *buf, uint32_t len, uint8_t access,
			   uint64_t *fault_va)
{
	uint8_t *to = buf, *bytes = NULL;

	while (len) {
		uint32_t part = len;
		uint8_t code = reach(space, va, &part, access, &bytes);

		if (code) {
			*fault_va = va;
			return code;
		}
		memcpy(to, bytes, part);
		to += part;
		va += part;
		len -= part;
	}
	return NPU_FAULT_NONE;
}

uint8_t address_space_write(void *space, uint64_t va, const void *buf, uint32_t len,
			    uint64_t *fault_va)
{
	const uint8_t *from = buf;
	uint8_t *bytes = NULL;

	while (len) {
		uint32_t part = len;
		uint8_t code = reach(space, va, &part, NPU_ACCESS_WRITE, &bytes);

		if (code) {
			*fault_va = va;
			return code;
		}
		memcpy(bytes, from, part);
		from += part;
		va += part;
		len -= part;
	}
	return NPU_FAULT_NONE;
}
