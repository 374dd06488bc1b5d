// SPDX-License-Identifier: MIT
/* Address translation: the profile of the page tables, and the TLB. */
#include <stdarg.h>
#include <stdlib.h>
#include <setjmp.h>
#include <cmocka.h>
#include "tests/unit/soc_board.h"

#define ROOT	0x1000u		/* of context 1; its other tables follow */
#define MIDDLE	0x2000u
#define LEAF	0x3000u
#define ROOT2	0x4000u		/* of context 2, which shares MIDDLE */
#define PAGE	0x10000u
#define LARGE	0x200000u
#define RWXU	(NPU_PTE_V | NPU_PTE_R | NPU_PTE_W | NPU_PTE_X | NPU_PTE_U)

/* VA index 3 / 5 / 7: all levels differ. */
#define VA	(3ull << 30 | 5ull << 21 | 7ull << 12)
#define VA_2M	(3ull << 30 | 6ull << 21)

static struct soc_board b;

static u64 pte(u64 bus, u64 bits)
{
	return bus >> 12 << 10 | bits;
}

static void put_pte(u32 table, u32 index, u64 value)
{
	npu_put_le64(b.mem + table + 8 * index, value);
}

static void set_root(u32 context, u64 root)
{
	soc_store(&b, NPU_CP_MMU + NPU_MMU_CONTEXT, context);
	soc_store(&b, NPU_CP_MMU + NPU_MMU_ROOT_LO, root);
	soc_store(&b, NPU_CP_MMU + NPU_MMU_ROOT_HI, root >> 32);
}

static void invalidate(u32 context, u64 va, u64 size)
{
	soc_store(&b, NPU_CP_MMU + NPU_MMU_CONTEXT, context);
	soc_store(&b, NPU_CP_MMU + NPU_MMU_VA_LO, va);
	soc_store(&b, NPU_CP_MMU + NPU_MMU_VA_HI, va >> 32);
	soc_store(&b, NPU_CP_MMU + NPU_MMU_SIZE_LO, size);
	soc_store(&b, NPU_CP_MMU + NPU_MMU_SIZE_HI, size >> 32);
	soc_store(&b, NPU_CP_MMU + NPU_MMU_INVALIDATE, size ? 1 : 2);
}

static int setup(void **state)
{
	(void)state;
	soc_init(&b, NULL);
	put_pte(ROOT, 3, pte(MIDDLE, NPU_PTE_V));
	put_pte(ROOT2, 3, pte(MIDDLE, NPU_PTE_V));
	put_pte(MIDDLE, 5, pte(LEAF, NPU_PTE_V));
	put_pte(MIDDLE, 6, pte(LARGE, RWXU));
	put_pte(LEAF, 7, pte(PAGE, RWXU));
	put_pte(LEAF, 8, pte(PAGE + 0x1000, RWXU));
	set_root(1, ROOT);
	set_root(2, ROOT2);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	soc_exit(&b);
	return 0;
}

/* Reads a word; the fault, which is at @va unless it is none. */
static u32 access_at(u32 context, u64 va, u32 access, u32 *word)
{
	struct npu_mmu_fault fault;

	if (access == NPU_ACCESS_WRITE ?
	    npu_mmu_write(&b.m->mmu, context, va, word, 4, &fault) :
	    npu_mmu_read(&b.m->mmu, context, va, word, 4, access, &fault)) {
		assert_true(fault.va == va);
		return fault.code;
	}
	return NPU_FAULT_NONE;
}

static u32 read_at(u32 context, u64 va, u32 *word)
{
	return access_at(context, va, NPU_ACCESS_READ, word);
}

static void translates(void **state)
{
	u32 word = 0;

	(void)state;
	npu_put_le32(b.mem + PAGE + 0x123 * 4, 0xcafe);
	assert_int_equal(read_at(1, VA + 0x123 * 4, &word), 0);
	assert_int_equal(word, 0xcafe);
	npu_put_le32(b.mem + LARGE + 0x1fff08, 0xbeef);
	assert_int_equal(read_at(1, VA_2M + 0x1fff08, &word), 0);
	assert_int_equal(word, 0xbeef);
	word = 0x1234;
	assert_int_equal(access_at(1, VA + 8, NPU_ACCESS_WRITE, &word), 0);
	assert_int_equal(npu_get_le32(b.mem + PAGE + 8), 0x1234);
	/* The tables are never written, not even A and D. */
	assert_true(npu_get_le64(b.mem + LEAF + 7 * 8) == pte(PAGE, RWXU));
}

static void crosses_pages(void **state)
{
	struct npu_mmu_fault fault;
	u8 buf[0x3000], back[0x2000];
	u32 i;

	(void)state;
	for (i = 0; i < sizeof(buf); i++)
		buf[i] = i * 7;
	assert_int_equal(npu_mmu_write(&b.m->mmu, 1, VA, buf, 0x2000, &fault), 0);
	assert_memory_equal(b.mem + PAGE, buf, 0x2000);
	assert_int_equal(npu_mmu_read(&b.m->mmu, 1, VA + 1, back, 0x1fff, NPU_ACCESS_READ,
				      &fault), 0);
	assert_memory_equal(back, buf + 1, 0x1fff);
	/* The third page is missing: the two before are done, and it is named. */
	memset(b.mem + PAGE, 0, 0x2000);
	assert_int_equal(npu_mmu_write(&b.m->mmu, 1, VA + 0x10, buf, 0x2ff0, &fault), -EFAULT);
	assert_int_equal(fault.code, NPU_FAULT_UNMAPPED);
	assert_true(fault.va == VA + 0x2000);
	assert_memory_equal(b.mem + PAGE + 0x10, buf, 0x1ff0);
}

static void keeps_the_profile(void **state)
{
	static const struct {
		u32 table, index;
		u64 value;
		u32 code;
	} cases[] = {
		/* Not valid, whatever else the entry holds. */
		{ LEAF, 7, 0, NPU_FAULT_UNMAPPED },
		{ LEAF, 7, ~1ull, NPU_FAULT_UNMAPPED },
		{ MIDDLE, 5, 0, NPU_FAULT_UNMAPPED },
		{ ROOT, 3, ~1ull, NPU_FAULT_UNMAPPED },
		/* Pointers. */
		{ LEAF, 7, PAGE >> 2 | NPU_PTE_V, NPU_FAULT_MALFORMED },
		{ LEAF, 7, PAGE >> 2 | NPU_PTE_V | NPU_PTE_U, NPU_FAULT_MALFORMED },
		{ MIDDLE, 5, LEAF >> 2 | NPU_PTE_V | NPU_PTE_U, NPU_FAULT_MALFORMED },
		{ MIDDLE, 5, LEAF >> 2 | NPU_PTE_V | NPU_PTE_A, NPU_FAULT_MALFORMED },
		{ MIDDLE, 5, LEAF >> 2 | NPU_PTE_V | NPU_PTE_D, NPU_FAULT_MALFORMED },
		{ ROOT, 3, MIDDLE >> 2 | NPU_PTE_V | NPU_PTE_A, NPU_FAULT_MALFORMED },
		/* Leaves where none may be, or not there. */
		{ ROOT, 3, RWXU, NPU_FAULT_MALFORMED },
		{ MIDDLE, 5, 0x1000 >> 2 | RWXU, NPU_FAULT_MALFORMED },
		{ MIDDLE, 5, 0x100000 >> 2 | RWXU, NPU_FAULT_MALFORMED },
		/* Rights and reserved bits. */
		{ LEAF, 7, PAGE >> 2 | (RWXU & ~NPU_PTE_R), NPU_FAULT_MALFORMED },
		{ LEAF, 7, PAGE >> 2 | NPU_PTE_V | NPU_PTE_W | NPU_PTE_U, NPU_FAULT_MALFORMED },
		{ LEAF, 7, PAGE >> 2 | RWXU | 1ull << 54, NPU_FAULT_MALFORMED },
		{ LEAF, 7, PAGE >> 2 | RWXU | 1ull << 61, NPU_FAULT_MALFORMED },
		{ LEAF, 7, PAGE >> 2 | RWXU | 1ull << 62, NPU_FAULT_MALFORMED },
		{ LEAF, 7, PAGE >> 2 | RWXU | 1ull << 63, NPU_FAULT_MALFORMED },
		{ MIDDLE, 5, LEAF >> 2 | NPU_PTE_V | 1ull << 63, NPU_FAULT_MALFORMED },
		/* Malformed comes before permission, permission last. */
		{ LEAF, 7, PAGE >> 2 | NPU_PTE_V | NPU_PTE_W, NPU_FAULT_MALFORMED },
		{ LEAF, 7, PAGE >> 2 | (RWXU & ~NPU_PTE_U), NPU_FAULT_PERMISSION },
		/* The bus. */
		{ LEAF, 7, (u64)SOC_MEM >> 2 | RWXU, NPU_FAULT_BUS },
		{ LEAF, 7, 1ull << 53 | RWXU, NPU_FAULT_BUS },
		{ MIDDLE, 5, (u64)SOC_MEM >> 2 | NPU_PTE_V, NPU_FAULT_BUS },
		{ ROOT, 3, 1ull << 53 | NPU_PTE_V, NPU_FAULT_BUS },
		/* Ignored: G, A, D and the software's bits. */
		{ LEAF, 7, PAGE >> 2 | RWXU | NPU_PTE_G, 0 },
		{ LEAF, 7, PAGE >> 2 | RWXU | NPU_PTE_A | NPU_PTE_D | 3ull << 8, 0 },
		{ MIDDLE, 5, LEAF >> 2 | NPU_PTE_V | NPU_PTE_G | 3ull << 8, 0 },
		{ MIDDLE, 5, LARGE >> 2 | RWXU, 0 },
	};
	u32 i, code, word;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		u64 keep = npu_get_le64(b.mem + cases[i].table + 8 * cases[i].index);

		put_pte(cases[i].table, cases[i].index, cases[i].value);
		code = read_at(1, VA + 4, &word);
		if (code != cases[i].code)
			fail_msg("case %u: fault %u instead of %u", i, code, cases[i].code);
		put_pte(cases[i].table, cases[i].index, keep);
		/* Faults are not cached; where the bus refused it was no fault of the tables. */
		if (code && code != NPU_FAULT_BUS)
			assert_int_equal(read_at(1, VA + 4, &word), 0);
		invalidate(1, 0, 0);
	}
}

static void checks_rights(void **state)
{
	/* Index: R, W, X. Which accesses are allowed. */
	static const struct {
		u32 bits;
		bool read, write, execute;
	} cases[] = {
		{ NPU_PTE_R, true, false, false },
		{ NPU_PTE_X, false, false, true },
		{ NPU_PTE_R | NPU_PTE_W, true, true, false },
		{ NPU_PTE_R | NPU_PTE_X, true, false, true },
		{ NPU_PTE_R | NPU_PTE_W | NPU_PTE_X, true, true, true },
	};
	u32 i, level, word = 0;
	u64 va;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		for (level = 0; level < 2; level++) {
			put_pte(LEAF, 7, pte(PAGE, NPU_PTE_V | NPU_PTE_U | cases[i].bits));
			put_pte(MIDDLE, 6, pte(LARGE, NPU_PTE_V | NPU_PTE_U | cases[i].bits));
			invalidate(1, 0, 0);
			va = level ? VA_2M : VA;
			/* In any order: what is cached serves the others, too. */
			assert_int_equal(access_at(1, va, NPU_ACCESS_EXECUTE, &word),
					 cases[i].execute ? 0 : NPU_FAULT_PERMISSION);
			assert_int_equal(access_at(1, va, NPU_ACCESS_WRITE, &word),
					 cases[i].write ? 0 : NPU_FAULT_PERMISSION);
			assert_int_equal(access_at(1, va, NPU_ACCESS_READ, &word),
					 cases[i].read ? 0 : NPU_FAULT_PERMISSION);
		}
	}
}

static void checks_addresses_and_contexts(void **state)
{
	u32 word;

	(void)state;
	assert_int_equal(read_at(1, 1ull << 38, &word), NPU_FAULT_ADDRESS);
	assert_int_equal(read_at(1, VA | 1ull << 38, &word), NPU_FAULT_ADDRESS);
	assert_int_equal(read_at(1, VA | 1ull << 63, &word), NPU_FAULT_ADDRESS);
	assert_int_equal(read_at(1, (1ull << 38) - 4, &word), NPU_FAULT_UNMAPPED);
	/* Not even after the page is cached. */
	assert_int_equal(read_at(1, VA, &word), 0);
	assert_int_equal(read_at(1, VA | 1ull << 38, &word), NPU_FAULT_ADDRESS);
	assert_int_equal(read_at(1, VA | 1ull << 40, &word), NPU_FAULT_ADDRESS);
	assert_int_equal(read_at(1, VA | 1ull << 52, &word), NPU_FAULT_ADDRESS);
	assert_int_equal(read_at(3, VA, &word), NPU_FAULT_CONTEXT);
	assert_int_equal(read_at(b.cfg.contexts, VA, &word), NPU_FAULT_CONTEXT);
	assert_int_equal(read_at(~0u, VA, &word), NPU_FAULT_CONTEXT);
	/* Context 0 is the bus. */
	npu_put_le32(b.mem + 0x500, 77);
	assert_int_equal(read_at(0, 0x500, &word), 0);
	assert_int_equal(word, 77);
	assert_int_equal(read_at(0, SOC_MEM, &word), NPU_FAULT_BUS);
	assert_int_equal(read_at(0, ~3ull, &word), NPU_FAULT_BUS);
}

static void keeps_stale_entries(void **state)
{
	u32 word;
	u64 walks;

	(void)state;
	npu_put_le32(b.mem + PAGE, 1);
	npu_put_le32(b.mem + PAGE + 0x1000, 2);
	assert_int_equal(read_at(1, VA, &word), 0);
	walks = b.m->mmu.walks;
	assert_int_equal(read_at(1, VA + 0x800, &word), 0);
	assert_int_equal(b.m->mmu.walks, walks);
	put_pte(LEAF, 7, pte(PAGE + 0x1000, RWXU));
	assert_int_equal(read_at(1, VA, &word), 0);
	assert_int_equal(word, 1);
	/* Neighbours and other contexts are not what is meant. */
	invalidate(1, VA + 0x1000, 0x1000);
	invalidate(1, VA - 0x1000, 0x1000);
	invalidate(2, VA, 0x1000);
	invalidate(2, 0, 0);
	invalidate(1, VA | 1ull << 38, 0x1000);
	read_at(1, VA, &word);
	assert_int_equal(word, 1);
	invalidate(1, VA + 0xfff, 1);
	read_at(1, VA, &word);
	assert_int_equal(word, 2);
	/* From not valid to valid needs no invalidation. */
	assert_int_equal(read_at(1, VA + 0x2000, &word), NPU_FAULT_UNMAPPED);
	put_pte(LEAF, 9, pte(PAGE, RWXU));
	assert_int_equal(read_at(1, VA + 0x2000, &word), 0);
}

static void invalidates_ranges(void **state)
{
	static const struct {
		u64 va, size;
		bool hit;
	} cases[] = {
		{ 0, 1ull << 38, true },
		{ VA - 0x5000, 0x5000, false },
		{ VA - 0x5000, 0x5001, true },
		{ VA + 0x1000, 0x10000000, false },
		{ VA, ~0ull, true },
		{ 0, VA, false },
		{ VA & ~0x1fffffull, 0x200000, true },
	};
	u32 i, word;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		invalidate(1, 0, 0);
		put_pte(LEAF, 7, pte(PAGE, RWXU));
		assert_int_equal(read_at(1, VA, &word), 0);
		put_pte(LEAF, 7, 0);
		invalidate(1, cases[i].va, cases[i].size);
		if (read_at(1, VA, &word) != (cases[i].hit ? NPU_FAULT_UNMAPPED : 0))
			fail_msg("case %u", i);
	}
}

/* Any part of a 2 MiB page takes all of it, pieces that were used among it. */
static void invalidates_large_pages(void **state)
{
	u32 i, word;

	(void)state;
	for (i = 0; i < 512; i += 37) {
		put_pte(MIDDLE, 6, pte(LARGE, RWXU));
		assert_int_equal(read_at(1, VA_2M, &word), 0);
		assert_int_equal(read_at(1, VA_2M + 0x1ff000, &word), 0);
		put_pte(MIDDLE, 6, 0);
		assert_int_equal(read_at(1, VA_2M + 0x100000, &word), 0);
		invalidate(1, VA_2M + 0x200000, 0x1000);
		assert_int_equal(read_at(1, VA_2M + 0x1ff000, &word), 0);
		invalidate(1, VA_2M + i * 4096, 1);
		assert_int_equal(read_at(1, VA_2M, &word), NPU_FAULT_UNMAPPED);
		assert_int_equal(read_at(1, VA_2M + 0x1ff000, &word), NPU_FAULT_UNMAPPED);
		assert_int_equal(read_at(1, VA_2M + 0x100000, &word), NPU_FAULT_UNMAPPED);
	}
}

static void keeps_contexts_apart(void **state)
{
	u32 word, i;

	(void)state;
	/* The same address, other memory. */
	put_pte(ROOT2, 3, pte(0x6000, NPU_PTE_V));
	put_pte(0x6000, 5, pte(0x7000, NPU_PTE_V));
	put_pte(0x7000, 7, pte(PAGE + 0x2000, RWXU));
	npu_put_le32(b.mem + PAGE, 1);
	npu_put_le32(b.mem + PAGE + 0x2000, 2);
	for (i = 0; i < 3; i++) {
		assert_int_equal(read_at(1, VA, &word), 0);
		assert_int_equal(word, 1);
		assert_int_equal(read_at(2, VA, &word), 0);
		assert_int_equal(word, 2);
	}
	/* No root: none of the cached ones of others. */
	set_root(2, 0);
	invalidate(2, 0, 0);
	assert_int_equal(read_at(2, VA, &word), NPU_FAULT_CONTEXT);
	assert_int_equal(read_at(1, VA, &word), 0);
	/* Roots of no context are ignored. */
	set_root(0, ROOT);
	set_root(b.cfg.contexts, ROOT);
	set_root(~0u, ROOT);
	assert_int_equal(read_at(b.cfg.contexts, VA, &word), NPU_FAULT_CONTEXT);
}

static void works_without_pointers(void **state)
{
	u32 word = 5;

	(void)state;
	b.no_map = true;
	translates(state);
	npu_model_bus_changed(b.m);
	assert_int_equal(read_at(1, VA, &word), 0);
	/* Refused by the bus after it was translated. */
	b.hole = PAGE;
	b.hole_end = PAGE + 4096;
	assert_int_equal(read_at(1, VA, &word), NPU_FAULT_BUS);
	assert_int_equal(access_at(1, VA, NPU_ACCESS_WRITE, &word), NPU_FAULT_BUS);
}

static void asks_once_for_a_pointer(void **state)
{
	u32 i, word;
	u64 maps;

	(void)state;
	read_at(1, VA, &word);
	maps = b.maps;
	for (i = 0; i < 1000; i++)
		assert_int_equal(read_at(1, VA + i * 4, &word), 0);
	assert_int_equal(b.maps, maps);
	npu_model_bus_changed(b.m);
	assert_int_equal(read_at(1, VA, &word), 0);
	assert_int_equal(b.maps, maps + 1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(translates), TEST(crosses_pages), TEST(keeps_the_profile),
		TEST(checks_rights), TEST(checks_addresses_and_contexts),
		TEST(keeps_stale_entries), TEST(invalidates_ranges),
		TEST(invalidates_large_pages), TEST(keeps_contexts_apart),
		TEST(works_without_pointers), TEST(asks_once_for_a_pointer),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("model_mmu", tests, NULL, NULL);
}
