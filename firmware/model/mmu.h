/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 OR MIT */
/*
 * Address translation and the way to the bus.
 *
 * The TLB is real: a translation stays until it is invalidated or its place is
 * taken, whatever happens to the tables meanwhile. Entries are tagged with
 * their context. Pages of 4 KiB, and the 4 KiB pieces of 2 MiB pages, carry
 * the pointer that the bus gave for them.
 */
#ifndef FIRMWARE_MODEL_MMU_H
#define FIRMWARE_MODEL_MMU_H

#include "firmware/model/npu_model.h"
#include "npu_proto.h"
#include "npu_regs.h"

#define NPU_MMU_PAGE_SHIFT		12
#define NPU_MMU_PAGE_SIZE		(1u << NPU_MMU_PAGE_SHIFT)
#define NPU_MMU_LARGE_SHIFT		21
#define NPU_MMU_TLB_SMALL		1024u
#define NPU_MMU_TLB_LARGE		64u

/**
 * struct npu_mmu_fault - why an access failed
 * @code: NPU_FAULT_*
 * @va: address at which it failed
 */
struct npu_mmu_fault {
	u32 code;
	u64 va;
};

/* A tag that no lookup asks for: context 0 is not translated. */
#define NPU_MMU_TAG_FREE	0u

/**
 * struct npu_mmu_entry - a translation
 * @tag: virtual page number with the context above it; NPU_MMU_TAG_FREE: none
 * @bus: bus address of the page
 * @host: pointer to the page, or NULL; of no meaning for large pages
 * @rights: NPU_PTE_R, NPU_PTE_W, NPU_PTE_X
 * @piece: part of a large page
 * @mapped: @host has been asked for
 */
struct npu_mmu_entry {
	u64 tag;
	u64 bus;
	u8 *host;
	u8 rights;
	bool piece;
	bool mapped;
};

/**
 * struct npu_mmu - MMU block of a device
 * @ops: bus
 * @opaque: its first argument
 * @bus_bits: bits of a bus address
 * @contexts: number of contexts
 * @roots: bus address of each context's root table, 0 for none
 * @regs: registers of the block that read back
 * @small: translations of 4 KiB
 * @large: translations of 2 MiB
 * @walks: page walks since reset
 */
struct npu_mmu {
	const struct npu_bus_ops *ops;
	void *opaque;
	u32 bus_bits;
	u32 contexts;
	u64 *roots;
	u32 regs[NPU_MMU_INVALIDATE / 4];
	u64 walks;
	struct npu_mmu_entry small[NPU_MMU_TLB_SMALL];
	struct npu_mmu_entry large[NPU_MMU_TLB_LARGE];
};

void npu_mmu_init(struct npu_mmu *mmu, const struct npu_bus_ops *ops, void *opaque,
	      const struct npu_model_config *cfg, u64 *roots);
void npu_mmu_reset(struct npu_mmu *mmu);
u32 npu_mmu_reg_read(const struct npu_mmu *mmu, u32 offset);
void npu_mmu_reg_write(struct npu_mmu *mmu, u32 offset, u32 value);

/* Drops translations of @context; @size 0 is none of them. */
void npu_mmu_invalidate(struct npu_mmu *mmu, u32 context, u64 va, u64 size);
void npu_mmu_invalidate_context(struct npu_mmu *mmu, u32 context);
void npu_mmu_forget_pointers(struct npu_mmu *mmu);

/*
 * Each of the following moves @len bytes at @va of @context (0: a bus
 * address), of any alignment and length, page by page in ascending order. On a
 * failure, -EFAULT, earlier pages have been moved and *@fault says where and
 * why.
 */

/* @access: NPU_ACCESS_READ or NPU_ACCESS_EXECUTE */
int npu_mmu_read(struct npu_mmu *mmu, u32 context, u64 va, void *buf, u32 len,
	     u32 access, struct npu_mmu_fault *fault);
int npu_mmu_write(struct npu_mmu *mmu, u32 context, u64 va, const void *buf, u32 len,
	      struct npu_mmu_fault *fault);

#endif /* FIRMWARE_MODEL_MMU_H */
