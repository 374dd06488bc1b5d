// SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 OR MIT
/*
 * Page tables: Sv39 in the device's profile.
 *
 * What the library knows of the tables (which entries are in use, which tables
 * hang below) is kept beside them in memory of the host, so that a device that
 * scribbles over its tables misleads nobody but itself.
 */
#include "firmware/host/npu_detail.h"

#define ENTRIES		512u
#define GIGA_SHIFT	30
#define GIGA_SIZE	(1ull << GIGA_SHIFT)
#define VA_END		(1ull << NPU_VA_BITS)
#define PPN_SHIFT	10
#define PPN_MASK	(((1ull << 44) - 1) << PPN_SHIFT)

#define LEAF_BITS	(NPU_PTE_V | NPU_PTE_U | NPU_PTE_A | NPU_PTE_D)
#define PROT_BITS	(NPU_PT_READ | NPU_PT_WRITE | NPU_PT_EXEC)

/* Tables that a change will need, taken before anything is changed. */
struct pool {
	struct npu_pt_node *mids;
	struct npu_pt_node *lasts;
};

/* A part of a change that lies within one 2 MiB slot. */
struct piece {
	u64 va;
	u64 bus;
	u64 size;
};

static u64 lower(u64 a, u64 b)
{
	return a < b ? a : b;
}

static u64 align_down(u64 value, u64 size)
{
	return value & ~(size - 1);
}

static u32 mid_index(u64 va)
{
	return va >> GIGA_SHIFT & (ENTRIES - 1);
}

static u32 last_index(u64 va)
{
	return va >> NPU_HUGE_SHIFT & (ENTRIES - 1);
}

static u32 page_index(u64 va)
{
	return va >> NPU_PAGE_SHIFT & (ENTRIES - 1);
}

/* ---- tables ---- */

static void node_free(struct npu_pt *pt, struct npu_pt_node *node)
{
	const struct npu_host_env *env = pt->env;

	if (node->cpu)
		env->ops->page_free(env->opaque, node->cpu, node->bus);
	if (node->children)
		env->ops->mem_free(env->opaque, node->children);
	env->ops->mem_free(env->opaque, node);
}

static struct npu_pt_node *node_alloc(struct npu_pt *pt, bool with_children)
{
	const struct npu_host_env *env = pt->env;
	struct npu_pt_node *node;

	node = env->ops->mem_alloc(env->opaque, sizeof(*node));
	if (!node)
		return NULL;

	node->cpu = env->ops->page_alloc(env->opaque, &node->bus);
	if (with_children)
		node->children = env->ops->mem_alloc(env->opaque,
						     ENTRIES * sizeof(node->children[0]));
	if (!node->cpu || (with_children && !node->children)) {
		node_free(pt, node);
		return NULL;
	}
	return node;
}

static void list_free(struct npu_pt *pt, struct npu_pt_node **list)
{
	struct npu_pt_node *node;

	while ((node = *list)) {
		*list = node->next;
		node_free(pt, node);
	}
}

static int list_fill(struct npu_pt *pt, struct npu_pt_node **list, u32 count, bool with_children)
{
	struct npu_pt_node *node;

	while (count--) {
		node = node_alloc(pt, with_children);
		if (!node)
			return -ENOMEM;
		node->next = *list;
		*list = node;
	}
	return 0;
}

static int pool_fill(struct npu_pt *pt, struct pool *pool, u32 mids, u32 lasts)
{
	int ret;

	ret = list_fill(pt, &pool->mids, mids, true);
	if (!ret)
		ret = list_fill(pt, &pool->lasts, lasts, false);
	if (ret) {
		list_free(pt, &pool->mids);
		list_free(pt, &pool->lasts);
	}
	return ret;
}

static struct npu_pt_node *take(struct npu_pt *pt, struct npu_pt_node **list)
{
	struct npu_pt_node *node = *list;

	*list = node->next;
	node->next = NULL;
	pt->tables++;
	return node;
}

/* ---- entries ---- */

static bool is_valid(const struct npu_pt_node *node, u32 index)
{
	return node->valid[index / 64] >> index % 64 & 1;
}

static u64 get_entry(const struct npu_pt_node *node, u32 index)
{
	return NPU_LE64(READ_ONCE(node->cpu[index]));
}

/* The device may walk at any time: one store an entry. */
static void set_entry(struct npu_pt_node *node, u32 index, u64 entry)
{
	WRITE_ONCE(node->cpu[index], NPU_LE64(entry));
	if (!is_valid(node, index)) {
		node->valid[index / 64] |= 1ull << index % 64;
		node->count++;
	}
}

static void clear_entry(struct npu_pt_node *node, u32 index)
{
	WRITE_ONCE(node->cpu[index], 0);
	node->valid[index / 64] &= ~(1ull << index % 64);
	node->count--;
}

static u64 pointer_to(const struct npu_pt_node *node)
{
	return node->bus >> NPU_PAGE_SHIFT << PPN_SHIFT | NPU_PTE_V;
}

static u64 leaf_to(u64 bus, u64 bits)
{
	return bus >> NPU_PAGE_SHIFT << PPN_SHIFT | bits;
}

static u64 prot_to_bits(u32 prot)
{
	return LEAF_BITS | (prot & NPU_PT_READ ? NPU_PTE_R : 0) |
	       (prot & NPU_PT_WRITE ? NPU_PTE_W : 0) | (prot & NPU_PT_EXEC ? NPU_PTE_X : 0);
}

/* Hang @child below @parent; what it holds must be seen before the pointer. */
static void link_child(struct npu_pt_node *parent, u32 index, struct npu_pt_node *child)
{
	npu_wmb();
	set_entry(parent, index, pointer_to(child));
	parent->children[index] = child;
}

static void stale(struct npu_pt_garbage *garbage, u64 va, u64 end)
{
	if (garbage->inv_va == garbage->inv_end) {
		garbage->inv_va = va;
		garbage->inv_end = end;
		return;
	}
	garbage->inv_va = lower(garbage->inv_va, va);
	if (end > garbage->inv_end)
		garbage->inv_end = end;
}

/* @node, which translated @size bytes at @va, is out of the tree. */
static void discard(struct npu_pt *pt, struct npu_pt_node *node, u64 va, u64 size,
		    struct npu_pt_garbage *garbage)
{
	stale(garbage, align_down(va, size), align_down(va, size) + size);
	node->next = garbage->pages;
	garbage->pages = node;
	pt->tables--;
}

/* ---- changes; these never fail ---- */

static struct npu_pt_node *get_mid(struct npu_pt *pt, u64 va, struct pool *pool)
{
	u32 index = mid_index(va);

	if (!pt->root->children[index])
		link_child(pt->root, index, take(pt, &pool->mids));
	return pt->root->children[index];
}

/* Turn the 2 MiB leaf of @mid at @va into a table of the same pages. */
static void split(struct npu_pt *pt, struct npu_pt_node *mid, u64 va, struct pool *pool,
		  struct npu_pt_garbage *garbage)
{
	u32 index = last_index(va);
	u64 leaf = get_entry(mid, index);
	u64 bits = leaf & ~PPN_MASK;
	u64 bus = (leaf & PPN_MASK) >> PPN_SHIFT << NPU_PAGE_SHIFT;
	struct npu_pt_node *last = take(pt, &pool->lasts);
	u32 i;

	for (i = 0; i < ENTRIES; i++)
		set_entry(last, i, leaf_to(bus + i * NPU_PAGE_SIZE, bits));
	link_child(mid, index, last);
	va = align_down(va, NPU_HUGE_SIZE);
	stale(garbage, va, va + NPU_HUGE_SIZE);
}

static struct npu_pt_node *get_last(struct npu_pt *pt, struct npu_pt_node *mid, u64 va,
				    struct pool *pool, struct npu_pt_garbage *garbage)
{
	u32 index = last_index(va);

	if (mid->children[index])
		return mid->children[index];
	if (is_valid(mid, index))
		split(pt, mid, va, pool, garbage);
	else
		link_child(mid, index, take(pt, &pool->lasts));
	return mid->children[index];
}

static void map_huge(struct npu_pt *pt, struct npu_pt_node *mid, const struct piece *piece,
		     u64 bits, struct npu_pt_garbage *garbage)
{
	u32 index = last_index(piece->va);
	struct npu_pt_node *old = mid->children[index];

	if (is_valid(mid, index))
		stale(garbage, piece->va, piece->va + piece->size);
	set_entry(mid, index, leaf_to(piece->bus, bits));
	mid->children[index] = NULL;
	if (old)
		discard(pt, old, piece->va, NPU_HUGE_SIZE, garbage);
}

static void map_pages(struct npu_pt_node *last, const struct piece *piece, u64 bits,
		      struct npu_pt_garbage *garbage)
{
	u64 done;

	for (done = 0; done < piece->size; done += NPU_PAGE_SIZE) {
		u64 va = piece->va + done;

		if (is_valid(last, page_index(va)))
			stale(garbage, va, va + NPU_PAGE_SIZE);
		set_entry(last, page_index(va), leaf_to(piece->bus + done, bits));
	}
}

static bool is_huge(const struct piece *piece)
{
	return piece->size == NPU_HUGE_SIZE && !(piece->bus & (NPU_HUGE_SIZE - 1));
}

static void map_piece(struct npu_pt *pt, const struct piece *piece, u64 bits, struct pool *pool,
		      struct npu_pt_garbage *garbage)
{
	struct npu_pt_node *mid = get_mid(pt, piece->va, pool);

	if (is_huge(piece))
		map_huge(pt, mid, piece, bits, garbage);
	else
		map_pages(get_last(pt, mid, piece->va, pool, garbage), piece, bits, garbage);
}

static void unmap_pages(struct npu_pt_node *last, u64 va, u64 end, struct npu_pt_garbage *garbage)
{
	for (; va < end; va += NPU_PAGE_SIZE) {
		if (!is_valid(last, page_index(va)))
			continue;
		clear_entry(last, page_index(va));
		stale(garbage, va, va + NPU_PAGE_SIZE);
	}
}

/* [@va, @end) lies in one 2 MiB slot of @mid. */
static void unmap_slot(struct npu_pt *pt, struct npu_pt_node *mid, u64 va, u64 end,
		       struct pool *pool, struct npu_pt_garbage *garbage)
{
	u32 index = last_index(va);
	struct npu_pt_node *last;

	if (!is_valid(mid, index))
		return;

	if (!mid->children[index] && end - va == NPU_HUGE_SIZE) {
		clear_entry(mid, index);
		stale(garbage, va, end);
		return;
	}

	last = get_last(pt, mid, va, pool, garbage);
	unmap_pages(last, va, end, garbage);
	if (!last->count) {
		clear_entry(mid, index);
		mid->children[index] = NULL;
		discard(pt, last, va, NPU_HUGE_SIZE, garbage);
	}
}

/* [@va, @end) lies in one 1 GiB slot of the root. */
static void unmap_giga(struct npu_pt *pt, u64 va, u64 end, struct pool *pool,
		       struct npu_pt_garbage *garbage)
{
	u32 index = mid_index(va);
	struct npu_pt_node *mid = pt->root->children[index];
	u64 start = va;
	u64 next;

	if (!mid)
		return;

	for (; va < end; va = next) {
		next = lower(end, align_down(va, NPU_HUGE_SIZE) + NPU_HUGE_SIZE);
		unmap_slot(pt, mid, va, next, pool, garbage);
	}
	if (!mid->count) {
		clear_entry(pt->root, index);
		pt->root->children[index] = NULL;
		discard(pt, mid, start, GIGA_SIZE, garbage);
	}
}

/* ---- checks and counting ---- */

static int check_range(u64 va, u64 size, struct npu_host_detail *detail)
{
	if (va & (NPU_PAGE_SIZE - 1))
		return npu_refuse(detail, -EINVAL, "address not a multiple of the page size",
				  align_down(va, NPU_PAGE_SIZE), va);
	if (!size || size & (NPU_PAGE_SIZE - 1))
		return npu_refuse(detail, -EINVAL, "size not a multiple of the page size above 0",
				  align_down(size, NPU_PAGE_SIZE) + NPU_PAGE_SIZE, size);
	if (va >= VA_END || size > VA_END - va)
		return npu_refuse(detail, -ERANGE, "last address", VA_END - 1, va + size - 1);
	return 0;
}

static int check_run(const struct npu_pt *pt, const struct npu_pt_run *run,
		     struct npu_host_detail *detail)
{
	if (run->bus & (NPU_PAGE_SIZE - 1))
		return npu_refuse(detail, -EINVAL, "bus address not a multiple of the page size",
				  align_down(run->bus, NPU_PAGE_SIZE), run->bus);
	if (run->bus >= pt->bus_limit || run->size > pt->bus_limit - run->bus)
		return npu_refuse(detail, -ERANGE, "last bus address", pt->bus_limit - 1,
				  run->bus + run->size - 1);
	return 0;
}

static int check_map(const struct npu_pt *pt, u64 va, const struct npu_pt_run *runs, u32 count,
		     u32 prot, struct npu_host_detail *detail)
{
	u32 i;
	int ret;

	if (!prot || prot & ~PROT_BITS)
		return npu_refuse(detail, -EINVAL, "protection bits", PROT_BITS, prot);
	if (prot & NPU_PT_WRITE && !(prot & NPU_PT_READ))
		return npu_refuse(detail, -EINVAL, "protection bits, write without read",
				  prot | NPU_PT_READ, prot);
	if (!count)
		return npu_refuse(detail, -EINVAL, "number of runs", 1, 0);

	for (i = 0; i < count; i++) {
		ret = check_range(va, runs[i].size, detail);
		if (!ret)
			ret = check_run(pt, &runs[i], detail);
		if (ret)
			return ret;
		va += runs[i].size;
	}
	return 0;
}

/* The next piece of what is left of a run; false at its end. */
static bool next_piece(struct piece *piece, struct npu_pt_run *rest, u64 *va)
{
	if (!rest->size)
		return false;

	piece->va = *va;
	piece->bus = rest->bus;
	piece->size = lower(rest->size, NPU_HUGE_SIZE - (*va & (NPU_HUGE_SIZE - 1)));
	*va += piece->size;
	rest->bus += piece->size;
	rest->size -= piece->size;
	return true;
}

struct need {
	u64 mid_seen;	/* index of the last one counted, plus 1 */
	u64 last_seen;
	u32 mids;
	u32 lasts;
};

/* Addresses ascend, so each table is counted once. */
static void count_piece(const struct npu_pt *pt, const struct piece *piece, struct need *need)
{
	const struct npu_pt_node *mid = pt->root->children[mid_index(piece->va)];
	u64 giga = (piece->va >> GIGA_SHIFT) + 1;
	u64 slot = (piece->va >> NPU_HUGE_SHIFT) + 1;

	if (!mid && need->mid_seen != giga) {
		need->mid_seen = giga;
		need->mids++;
	}
	if (is_huge(piece) || need->last_seen == slot)
		return;
	if (!mid || !mid->children[last_index(piece->va)]) {
		need->last_seen = slot;
		need->lasts++;
	}
}

/* Would unmapping from or up to @va cut a 2 MiB leaf? */
static bool cuts_leaf(const struct npu_pt *pt, u64 va)
{
	const struct npu_pt_node *mid;

	if (!(va & (NPU_HUGE_SIZE - 1)))
		return false;
	mid = pt->root->children[mid_index(va)];
	return mid && is_valid(mid, last_index(va)) && !mid->children[last_index(va)];
}

static u32 count_splits(const struct npu_pt *pt, u64 va, u64 end)
{
	u32 splits = cuts_leaf(pt, va);

	if (cuts_leaf(pt, end) && (!splits || va >> NPU_HUGE_SHIFT != end >> NPU_HUGE_SHIFT))
		splits++;
	return splits;
}

/* ---- interface ---- */

int npu_pt_init(struct npu_pt *pt, const struct npu_host_env *env, u32 bus_bits)
{
	if (bus_bits <= NPU_PAGE_SHIFT || bus_bits > 56)
		return -EINVAL;

	*pt = (struct npu_pt) { .env = env, .bus_limit = 1ull << bus_bits, .tables = 1 };
	pt->root = node_alloc(pt, true);
	return pt->root ? 0 : -ENOMEM;
}

void npu_pt_fini(struct npu_pt *pt)
{
	struct npu_pt_node *mid;
	u32 i, j;

	if (!pt->root)
		return;

	for (i = 0; i < ENTRIES; i++) {
		mid = pt->root->children[i];
		if (!mid)
			continue;
		for (j = 0; j < ENTRIES; j++)
			if (mid->children[j])
				node_free(pt, mid->children[j]);
		node_free(pt, mid);
	}
	node_free(pt, pt->root);
	pt->root = NULL;
	pt->tables = 0;
}

u64 npu_pt_root(const struct npu_pt *pt)
{
	return pt->root->bus;
}

int npu_pt_map(struct npu_pt *pt, u64 va, const struct npu_pt_run *runs, u32 count, u32 prot,
	       struct npu_pt_garbage *garbage, struct npu_host_detail *detail)
{
	struct need need = { 0 };
	struct pool pool = { NULL, NULL };
	struct npu_pt_run rest;
	struct piece piece;
	u64 at;
	u32 i;
	int ret;

	ret = check_map(pt, va, runs, count, prot, detail);
	if (ret)
		return ret;

	for (i = 0, at = va; i < count; i++)
		for (rest = runs[i]; next_piece(&piece, &rest, &at);)
			count_piece(pt, &piece, &need);
	if (pool_fill(pt, &pool, need.mids, need.lasts))
		return npu_refuse(detail, -ENOMEM, "page tables", need.mids + need.lasts, 0);

	for (i = 0, at = va; i < count; i++)
		for (rest = runs[i]; next_piece(&piece, &rest, &at);)
			map_piece(pt, &piece, prot_to_bits(prot), &pool, garbage);
	npu_wmb();
	return 0;
}

int npu_pt_unmap(struct npu_pt *pt, u64 va, u64 size, struct npu_pt_garbage *garbage,
		 struct npu_host_detail *detail)
{
	struct pool pool = { NULL, NULL };
	u64 end = va + size;
	u32 splits;
	u64 next;
	int ret;

	ret = check_range(va, size, detail);
	if (ret)
		return ret;

	splits = count_splits(pt, va, end);
	if (pool_fill(pt, &pool, 0, splits))
		return npu_refuse(detail, -ENOMEM, "page tables", splits, 0);

	for (; va < end; va = next) {
		next = lower(end, align_down(va, GIGA_SIZE) + GIGA_SIZE);
		unmap_giga(pt, va, next, &pool, garbage);
	}
	npu_wmb();
	return 0;
}

static u32 entry_prot(u64 entry)
{
	return (entry & NPU_PTE_R ? NPU_PT_READ : 0) | (entry & NPU_PTE_W ? NPU_PT_WRITE : 0) |
	       (entry & NPU_PTE_X ? NPU_PT_EXEC : 0);
}

bool npu_pt_lookup(const struct npu_pt *pt, u64 va, u64 *bus, u32 *prot)
{
	const struct npu_pt_node *node;
	u64 size = NPU_HUGE_SIZE;
	u32 index = last_index(va);
	u64 entry;

	if (va >= VA_END)
		return false;
	node = pt->root->children[mid_index(va)];
	if (!node)
		return false;
	if (node->children[index]) {
		node = node->children[index];
		index = page_index(va);
		size = NPU_PAGE_SIZE;
	}
	if (!is_valid(node, index))
		return false;

	entry = get_entry(node, index);
	*bus = ((entry & PPN_MASK) >> PPN_SHIFT << NPU_PAGE_SHIFT) + (va & (size - 1));
	*prot = entry_prot(entry);
	return true;
}

/* The next entry in use of @node from @index on; ENTRIES if there is none. */
static u32 next_valid(const struct npu_pt_node *node, u32 index)
{
	while (index < ENTRIES && !is_valid(node, index))
		index++;
	return index;
}

static void tell_leaf(u64 entry, u64 *bus, u32 *prot)
{
	*bus = (entry & PPN_MASK) >> PPN_SHIFT << NPU_PAGE_SHIFT;
	*prot = entry_prot(entry);
}

/* Within the table of @mid at @va; false if nothing is left there. */
static bool next_of_mid(const struct npu_pt_node *mid, u64 *va, u64 *size, u64 *bus, u32 *prot)
{
	u64 base = align_down(*va, GIGA_SIZE);
	u32 first = last_index(*va), from = page_index(*va);
	const struct npu_pt_node *last;
	u32 i, page;

	for (i = next_valid(mid, first); i < ENTRIES; i = next_valid(mid, i + 1)) {
		last = mid->children[i];
		page = last ? next_valid(last, i == first ? from : 0) : 0;
		if (page == ENTRIES)
			continue;
		*va = base + ((u64)i << NPU_HUGE_SHIFT) + ((u64)page << NPU_PAGE_SHIFT);
		*size = last ? NPU_PAGE_SIZE : NPU_HUGE_SIZE;
		tell_leaf(last ? get_entry(last, page) : get_entry(mid, i), bus, prot);
		return true;
	}
	return false;
}

bool npu_pt_next(const struct npu_pt *pt, u64 *va, u64 *size, u64 *bus, u32 *prot)
{
	u32 i;

	while (*va < VA_END) {
		i = next_valid(pt->root, mid_index(*va));
		if (i >= VA_END >> GIGA_SHIFT)
			break;
		if (i != mid_index(*va))
			*va = (u64)i << GIGA_SHIFT;
		if (next_of_mid(pt->root->children[i], va, size, bus, prot))
			return true;
		*va = ((u64)i + 1) << GIGA_SHIFT;
	}
	return false;
}

void npu_pt_garbage_free(struct npu_pt *pt, struct npu_pt_garbage *garbage)
{
	list_free(pt, &garbage->pages);
	garbage->inv_va = 0;
	garbage->inv_end = 0;
}
