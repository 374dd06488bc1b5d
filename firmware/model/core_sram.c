// SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 OR MIT
/*
 * Valid bits. An element that no instruction of the program has written reads
 * 0. Clearing all bits is one increment; the zeros are written a group at a
 * time, when a group is first touched. So "valid" needs no bit an element: in
 * a group of this generation what was not written is 0.
 */
#include "firmware/model/core_internal.h"

struct sram_layout {
	u32 group_shift;	/* logarithm of the elements of a group */
	u32 element_bytes;
};

static const struct sram_layout sram_layout[CORE_SRAMS] = {
	[CORE_UOP] = { 9, sizeof(u64) },
	[CORE_WGT] = { 4, NPU_WGT_BYTES },
	[CORE_INP] = { 6, NPU_INP_BYTES },
	[CORE_ACC] = { 6, NPU_ACC_BYTES },
};

static u8 *sram_base(struct npu_core *c, u8 sram)
{
	switch (sram) {
	case CORE_UOP:
		return (u8 *)c->uop;
	case CORE_WGT:
		return (u8 *)c->wgt;
	case CORE_INP:
		return (u8 *)c->inp;
	default:
		return (u8 *)c->acc;
	}
}

void core_sram_clear(struct npu_core *c)
{
	if (++c->generation == 0) {
		memset(c->group, 0, sizeof(c->group));
		c->generation = 1;
	}
}

/* Forgets the kernels' copies of elements whose content changes. */
static void pack_drop(struct npu_core *c, u32 first, u32 count)
{
	u32 slots = c->kernels->pack_slots;
	u32 w;

	for (w = first; w < first + count; w++) {
		u16 *tag = &c->pack_tag[w & (slots - 1)];

		if ((*tag & 0x7fff) == w + 1)
			*tag = 0;
	}
}

static void group_zero(struct npu_core *c, u8 sram, u32 g)
{
	const struct sram_layout *l = &sram_layout[sram];
	u32 first = g << l->group_shift;
	u32 count = 1u << l->group_shift;

	memset(sram_base(c, sram) + (size_t)first * l->element_bytes, 0,
	       (size_t)count * l->element_bytes);
	if (sram == CORE_WGT)
		pack_drop(c, first, count);
	c->group[sram][g] = c->generation;
}

/* Makes elements @first to @last readable. */
void core_sram_open(struct npu_core *c, u8 sram, u32 first, u32 last)
{
	u32 shift = sram_layout[sram].group_shift;
	u32 g;

	for (g = first >> shift; g <= last >> shift; g++) {
		if (c->group[sram][g] != c->generation)
			group_zero(c, sram, g);
	}
}

/*
 * Prepares elements for the caller, who writes all of them before anyone can
 * read: groups that they fill need no zeros.
 */
void core_sram_cover(struct npu_core *c, u8 sram, u32 first, u32 count)
{
	u32 shift = sram_layout[sram].group_shift;
	u32 size = 1u << shift;
	u32 g;

	if (!count)
		return;
	for (g = first >> shift; g <= (first + count - 1) >> shift; g++) {
		if (c->group[sram][g] == c->generation)
			continue;
		if (g << shift >= first &&
		    (g << shift) + size <= first + count)
			c->group[sram][g] = c->generation;
		else
			group_zero(c, sram, g);
	}
	if (sram == CORE_WGT)
		pack_drop(c, first, count);
}
