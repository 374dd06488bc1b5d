// SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 OR MIT
/* Page walker, TLB and access to the bus. */
#include "firmware/model/mmu.h"

#define PTE_RIGHTS	(NPU_PTE_R | NPU_PTE_W | NPU_PTE_X)
#define PTE_POINTER_ZERO (NPU_PTE_A | NPU_PTE_D | NPU_PTE_U)
#define PTE_PPN_SHIFT	10
#define PTE_PPN_MASK	((1ull << 44) - 1)
#define PTE_HIGH_SHIFT	54
#define VPN_BITS	9
#define VPN_MASK	((1u << VPN_BITS) - 1)
#define LARGE_SIZE	(1u << NPU_MMU_LARGE_SHIFT)
#define TAG_CONTEXT	40
#define SHARED_BYTES	64u

typedef u32 __attribute__((__may_alias__)) shared_word;

static u64 tag_of(u32 context, u64 va, u32 shift)
{
	return (u64)context << TAG_CONTEXT | va >> shift;
}

static struct npu_mmu_entry *small_slot(struct npu_mmu *mmu, u32 context, u64 va)
{
	u64 vpn = va >> NPU_MMU_PAGE_SHIFT;

	return &mmu->small[(vpn ^ context * 61u) % NPU_MMU_TLB_SMALL];
}

static struct npu_mmu_entry *large_slot(struct npu_mmu *mmu, u32 context, u64 va)
{
	u64 vpn = va >> NPU_MMU_LARGE_SHIFT;

	return &mmu->large[(vpn ^ context * 7u) % NPU_MMU_TLB_LARGE];
}

static bool bus_in_range(const struct npu_mmu *mmu, u64 bus)
{
	return !(bus >> mmu->bus_bits);
}

static void *bus_map(struct npu_mmu *mmu, u64 bus, u32 len)
{
	if (!bus_in_range(mmu, bus) || !mmu->ops->map)
		return NULL;
	return mmu->ops->map(mmu->opaque, bus, len);
}

static int bus_read(struct npu_mmu *mmu, u64 bus, void *buf, u32 len)
{
	if (!bus_in_range(mmu, bus) || !mmu->ops->read)
		return -EFAULT;
	return mmu->ops->read(mmu->opaque, bus, buf, len) ? -EFAULT : 0;
}

static int bus_write(struct npu_mmu *mmu, u64 bus, const void *buf, u32 len)
{
	if (!bus_in_range(mmu, bus) || !mmu->ops->write)
		return -EFAULT;
	return mmu->ops->write(mmu->opaque, bus, buf, len) ? -EFAULT : 0;
}

static int bus_read_pte(struct npu_mmu *mmu, u64 bus, u64 *pte)
{
	const u64 *p = bus_map(mmu, bus, sizeof(*pte));
	u64 raw;

	if (p) {
		/* One access: the host may change the entry at this moment. */
		raw = *(const volatile u64 *)p;
		*pte = NPU_LE64(raw);
		return 0;
	}
	if (bus_read(mmu, bus, &raw, sizeof(raw)))
		return -EFAULT;
	*pte = NPU_LE64(raw);
	return 0;
}

/* Code of a fault that @pte is on @level (2: root), whatever the access; or 0. */
static u32 pte_fault(u64 pte, u32 level)
{
	bool leaf = pte & PTE_RIGHTS;
	u64 ppn = pte >> PTE_PPN_SHIFT & PTE_PPN_MASK;

	if (!(pte & NPU_PTE_V))
		return NPU_FAULT_UNMAPPED;
	if (pte >> PTE_HIGH_SHIFT)
		return NPU_FAULT_MALFORMED;
	if (!leaf)
		return !level || pte & PTE_POINTER_ZERO ? NPU_FAULT_MALFORMED : 0;
	if ((pte & (NPU_PTE_R | NPU_PTE_W)) == NPU_PTE_W || level == 2)
		return NPU_FAULT_MALFORMED;
	if (level == 1 && ppn & VPN_MASK)
		return NPU_FAULT_MALFORMED;
	return pte & NPU_PTE_U ? 0 : NPU_FAULT_PERMISSION;
}

/* Finds the leaf of @va; *@level becomes 0 for 4 KiB, 1 for 2 MiB. */
static u32 walk(struct npu_mmu *mmu, u32 context, u64 va, u64 *pte, u32 *level)
{
	u64 table = mmu->roots[context];
	u32 l, code;

	mmu->walks++;
	for (l = 2;; l--) {
		u32 shift = NPU_MMU_PAGE_SHIFT + l * VPN_BITS;
		u64 index = va >> shift & VPN_MASK;

		if (bus_read_pte(mmu, table + index * sizeof(*pte), pte))
			return NPU_FAULT_BUS;
		code = pte_fault(*pte, l);
		if (code)
			return code;
		table = (*pte >> PTE_PPN_SHIFT & PTE_PPN_MASK) << NPU_MMU_PAGE_SHIFT;
		if (*pte & PTE_RIGHTS)
			break;
	}
	*level = l;
	return 0;
}

static void fill(struct npu_mmu_entry *e, u64 tag, u64 bus, u8 rights, bool piece)
{
	e->tag = tag;
	e->bus = bus;
	e->rights = rights;
	e->piece = piece;
	e->host = NULL;
	e->mapped = false;
}

static u32 entry_from_walk(struct npu_mmu *mmu, u32 context, u64 va, struct npu_mmu_entry *e)
{
	u32 code, level;
	u64 pte, bus;

	code = walk(mmu, context, va, &pte, &level);
	if (code)
		return code;
	bus = (pte >> PTE_PPN_SHIFT & PTE_PPN_MASK) << NPU_MMU_PAGE_SHIFT;
	if (level) {
		fill(large_slot(mmu, context, va), tag_of(context, va, NPU_MMU_LARGE_SHIFT), bus,
		     pte & PTE_RIGHTS, false);
		bus += va & (LARGE_SIZE - 1) & ~(u64)(NPU_MMU_PAGE_SIZE - 1);
	}
	fill(e, tag_of(context, va, NPU_MMU_PAGE_SHIFT), bus, pte & PTE_RIGHTS, level);
	return 0;
}

static u32 lookup_slow(struct npu_mmu *mmu, u32 context, u64 va, struct npu_mmu_entry *e)
{
	struct npu_mmu_entry *large;

	if (va >> NPU_VA_BITS)
		return NPU_FAULT_ADDRESS;
	if (context >= mmu->contexts || !mmu->roots[context])
		return NPU_FAULT_CONTEXT;
	large = large_slot(mmu, context, va);
	if (large->tag != tag_of(context, va, NPU_MMU_LARGE_SHIFT))
		return entry_from_walk(mmu, context, va, e);
	fill(e, tag_of(context, va, NPU_MMU_PAGE_SHIFT),
	     large->bus + (va & (LARGE_SIZE - 1) & ~(u64)(NPU_MMU_PAGE_SIZE - 1)), large->rights, true);
	return 0;
}

static const u8 right_of[] = {
	[NPU_ACCESS_READ] = NPU_PTE_R,
	[NPU_ACCESS_WRITE] = NPU_PTE_W,
	[NPU_ACCESS_EXECUTE] = NPU_PTE_X,
};

/* Translation of @va; NULL with *@code set if there is none for @access. */
static struct npu_mmu_entry *lookup(struct npu_mmu *mmu, u32 context, u64 va, u32 access,
				    u32 *code)
{
	struct npu_mmu_entry *e = small_slot(mmu, context, va);

	*code = NPU_FAULT_NONE;
	if (unlikely(va >> NPU_VA_BITS || e->tag != tag_of(context, va, NPU_MMU_PAGE_SHIFT))) {
		*code = lookup_slow(mmu, context, va, e);
		if (*code)
			return NULL;
	}
	if (unlikely(!(e->rights & right_of[access]))) {
		*code = NPU_FAULT_PERMISSION;
		return NULL;
	}
	if (unlikely(!e->mapped)) {
		e->host = bus_map(mmu, e->bus, NPU_MMU_PAGE_SIZE);
		e->mapped = true;
	}
	return e;
}

static int fail(struct npu_mmu_fault *fault, u32 code, u64 va)
{
	fault->code = code;
	fault->va = va;
	return -EFAULT;
}

/* A piece of an access that stays within a page: where it is on the bus. */
struct piece {
	u8 *host;
	u64 bus;
	u32 len;
};

static u32 within_page(u64 addr, u32 len)
{
	u32 room = NPU_MMU_PAGE_SIZE - (addr & (NPU_MMU_PAGE_SIZE - 1));

	return len < room ? len : room;
}

static int find_piece(struct npu_mmu *mmu, u32 context, u64 va, u32 access, u32 len,
		      struct piece *p, struct npu_mmu_fault *fault)
{
	u32 offset = va & (NPU_MMU_PAGE_SIZE - 1);
	struct npu_mmu_entry *e;
	u32 code;

	p->len = within_page(va, len);
	if (!context) {
		p->bus = va;
		p->host = bus_map(mmu, va, p->len);
		return 0;
	}
	e = lookup(mmu, context, va, access, &code);
	if (!e)
		return fail(fault, code, va);
	p->bus = e->bus + offset;
	p->host = e->host ? e->host + offset : NULL;
	return 0;
}

/*
 * Ring entries and what lies beside them, such as shadow blocks: each aligned
 * word at once, since the host may look at them or write them meanwhile.
 */
static void copy(void *to, const void *from, u32 len)
{
	const volatile shared_word *word = from;
	volatile shared_word *out = to;

	if (len > SHARED_BYTES || (((uintptr_t)to | (uintptr_t)from | len) & 3)) {
		memcpy(to, from, len);
		return;
	}
	for (; len; len -= 4)
		*out++ = *word++;
}

int npu_mmu_read(struct npu_mmu *mmu, u32 context, u64 va, void *buf, u32 len, u32 access,
		 struct npu_mmu_fault *fault)
{
	struct piece p;
	u8 *to = buf;

	for (; len; len -= p.len, va += p.len, to += p.len) {
		if (find_piece(mmu, context, va, access, len, &p, fault))
			return -EFAULT;
		if (p.host)
			copy(to, p.host, p.len);
		else if (bus_read(mmu, p.bus, to, p.len))
			return fail(fault, NPU_FAULT_BUS, va);
	}
	return 0;
}

int npu_mmu_write(struct npu_mmu *mmu, u32 context, u64 va, const void *buf, u32 len,
		  struct npu_mmu_fault *fault)
{
	const u8 *from = buf;
	struct piece p;

	for (; len; len -= p.len, va += p.len, from += p.len) {
		if (find_piece(mmu, context, va, NPU_ACCESS_WRITE, len, &p, fault))
			return -EFAULT;
		if (p.host)
			copy(p.host, from, p.len);
		else if (bus_write(mmu, p.bus, from, p.len))
			return fail(fault, NPU_FAULT_BUS, va);
	}
	return 0;
}

void npu_mmu_invalidate(struct npu_mmu *mmu, u32 context, u64 va, u64 size)
{
	const u64 end = 1ull << NPU_VA_BITS;
	u64 last, first_tag, last_tag, first_large, last_large;
	struct npu_mmu_entry *e;
	u32 i;

	if (!size || !context || context >= mmu->contexts || va >= end)
		return;
	last = size > end - va ? end - 1 : va + size - 1;
	first_tag = tag_of(context, va, NPU_MMU_PAGE_SHIFT);
	last_tag = tag_of(context, last, NPU_MMU_PAGE_SHIFT);
	first_large = tag_of(context, va, NPU_MMU_LARGE_SHIFT);
	last_large = tag_of(context, last, NPU_MMU_LARGE_SHIFT);

	for (i = 0; i < NPU_MMU_TLB_LARGE; i++) {
		e = &mmu->large[i];
		if (e->tag >= first_large && e->tag <= last_large)
			e->tag = NPU_MMU_TAG_FREE;
	}
	/* A large page that the range touches goes with all its pieces. */
	va &= ~(u64)(LARGE_SIZE - 1);
	last |= LARGE_SIZE - 1;
	first_large = tag_of(context, va, NPU_MMU_PAGE_SHIFT);
	last_large = tag_of(context, last, NPU_MMU_PAGE_SHIFT);
	for (i = 0; i < NPU_MMU_TLB_SMALL; i++) {
		e = &mmu->small[i];
		if ((e->tag >= first_tag && e->tag <= last_tag) ||
		    (e->piece && e->tag >= first_large && e->tag <= last_large))
			e->tag = NPU_MMU_TAG_FREE;
	}
}

void npu_mmu_invalidate_context(struct npu_mmu *mmu, u32 context)
{
	npu_mmu_invalidate(mmu, context, 0, 1ull << NPU_VA_BITS);
}

void npu_mmu_forget_pointers(struct npu_mmu *mmu)
{
	u32 i;

	for (i = 0; i < NPU_MMU_TLB_SMALL; i++) {
		mmu->small[i].host = NULL;
		mmu->small[i].mapped = false;
	}
}

void npu_mmu_reset(struct npu_mmu *mmu)
{
	memset(mmu->small, 0, sizeof(mmu->small));
	memset(mmu->large, 0, sizeof(mmu->large));
	memset(mmu->roots, 0, sizeof(*mmu->roots) * mmu->contexts);
	memset(mmu->regs, 0, sizeof(mmu->regs));
	mmu->walks = 0;
}

void npu_mmu_init(struct npu_mmu *mmu, const struct npu_bus_ops *ops, void *opaque,
		  const struct npu_model_config *cfg, u64 *roots)
{
	mmu->ops = ops;
	mmu->opaque = opaque;
	mmu->bus_bits = cfg->bus_bits;
	mmu->contexts = cfg->contexts;
	mmu->roots = roots;
	npu_mmu_reset(mmu);
}

u32 npu_mmu_reg_read(const struct npu_mmu *mmu, u32 offset)
{
	return offset < NPU_MMU_INVALIDATE ? mmu->regs[offset / 4] : 0;
}

static u64 reg64(const struct npu_mmu *mmu, u32 lo)
{
	return mmu->regs[lo / 4] | (u64)mmu->regs[lo / 4 + 1] << 32;
}

void npu_mmu_reg_write(struct npu_mmu *mmu, u32 offset, u32 value)
{
	u32 context = mmu->regs[NPU_MMU_CONTEXT / 4];

	if (offset < NPU_MMU_INVALIDATE)
		mmu->regs[offset / 4] = value;
	if (!context || context >= mmu->contexts)
		return;
	if (offset == NPU_MMU_ROOT_HI)
		mmu->roots[context] = reg64(mmu, NPU_MMU_ROOT_LO) & ~(u64)(NPU_MMU_PAGE_SIZE - 1);
	else if (offset == NPU_MMU_INVALIDATE && value == 1)
		npu_mmu_invalidate(mmu, context, reg64(mmu, NPU_MMU_VA_LO),
				   reg64(mmu, NPU_MMU_SIZE_LO));
	else if (offset == NPU_MMU_INVALIDATE && value == 2)
		npu_mmu_invalidate_context(mmu, context);
}
