// SPDX-License-Identifier: MIT
/*
 * Page tables against a walker written from the manual and a flat array of what
 * each page should be: random maps, unmaps, splits; failing allocations leave
 * everything as it was.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "tests/unit/host_env.h"

#define WINDOW_PAGES	4096u			/* 16 MiB, eight 2 MiB slots */
#define WINDOW_SIZE	((u64)WINDOW_PAGES << 12)
#define WINDOW_VA	((1ull << 30) - WINDOW_SIZE / 2)	/* straddles two root entries */
#define BUS_BITS	40

struct page {
	u64 bus;
	u32 prot;	/* 0: not mapped */
};

struct fixture {
	struct test_env *te;
	struct npu_pt pt;
	struct page want[WINDOW_PAGES];
	u64 rnd;
};

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	f->te = test_env_new();
	f->rnd = 42;
	*state = f;
	return npu_pt_init(&f->pt, &f->te->env, BUS_BITS);
}

static int teardown(void **state)
{
	struct fixture *f = *state;
	long left;

	npu_pt_fini(&f->pt);
	left = f->te->allocated;
	free(f->te);
	free(f);
	return left ? -1 : 0;
}

/* The manual's walk. Returns 0 and the page, or a fault code. */
static u32 walk(struct test_env *te, u64 root, u64 va, struct page *out)
{
	u64 table = root;
	int level;

	if (va >> NPU_VA_BITS)
		return NPU_FAULT_ADDRESS;
	for (level = 2; level >= 0; level--) {
		u64 *cpu = test_page(te, table);
		u64 pte;

		if (!cpu)
			return NPU_FAULT_BUS;
		pte = cpu[va >> (12 + 9 * level) & 511];
		if (!(pte & NPU_PTE_V))
			return NPU_FAULT_UNMAPPED;
		if (pte >> 54)
			return NPU_FAULT_MALFORMED;
		if (!(pte & (NPU_PTE_R | NPU_PTE_W | NPU_PTE_X))) {
			if (!level || pte & (NPU_PTE_A | NPU_PTE_D | NPU_PTE_U))
				return NPU_FAULT_MALFORMED;
			table = pte >> 10 << 12;
			continue;
		}
		if (level == 2 || (level == 1 && pte >> 10 & 511) ||
		    (pte & NPU_PTE_W && !(pte & NPU_PTE_R)))
			return NPU_FAULT_MALFORMED;
		if (!(pte & NPU_PTE_U) || !(pte & NPU_PTE_A) || !(pte & NPU_PTE_D))
			return NPU_FAULT_PERMISSION;
		out->bus = (pte >> 10 << 12) + (va & ((1ull << (12 + 9 * level)) - 1) & ~4095ull);
		out->prot = (pte & NPU_PTE_R ? NPU_PT_READ : 0) |
			    (pte & NPU_PTE_W ? NPU_PT_WRITE : 0) |
			    (pte & NPU_PTE_X ? NPU_PT_EXEC : 0);
		return NPU_FAULT_NONE;
	}
	return NPU_FAULT_MALFORMED;
}

static void check_window(struct fixture *f)
{
	struct page page = { 0 };
	u64 bus;
	u32 i, prot;

	for (i = 0; i < WINDOW_PAGES; i++) {
		u64 va = WINDOW_VA + (u64)i * 4096;
		u32 fault = walk(f->te, npu_pt_root(&f->pt), va, &page);

		assert_int_equal(npu_pt_lookup(&f->pt, va + 5, &bus, &prot), !!f->want[i].prot);
		if (!f->want[i].prot) {
			assert_int_equal(fault, NPU_FAULT_UNMAPPED);
			continue;
		}
		assert_int_equal(fault, NPU_FAULT_NONE);
		assert_int_equal(page.bus, f->want[i].bus);
		assert_int_equal(page.prot, f->want[i].prot);
		assert_int_equal(bus, page.bus + 5);
		assert_int_equal(prot, page.prot);
	}
}

/* Going from leaf to leaf meets what lookups find, in order, and no more. */
static void check_leaves(struct fixture *f)
{
	u64 va = 0, size, bus, pages = 0, want = 0;
	u32 prot, i, k;

	for (i = 0; i < WINDOW_PAGES; i++)
		want += !!f->want[i].prot;
	for (; npu_pt_next(&f->pt, &va, &size, &bus, &prot); va += size) {
		assert_true(size == NPU_PAGE_SIZE || size == NPU_HUGE_SIZE);
		assert_in_range(va, WINDOW_VA, WINDOW_VA + (u64)WINDOW_PAGES * 4096 - size);
		for (k = 0; k < size / 4096; k++, pages++) {
			i = (va - WINDOW_VA) / 4096 + k;
			assert_int_equal(f->want[i].prot, prot);
			assert_int_equal(f->want[i].bus, bus + k * 4096ull);
		}
	}
	assert_int_equal(pages, want);
}

/* Every page that changed while it was mapped must be invalidated. */
static void check_stale(struct fixture *f, const struct page *before,
			const struct npu_pt_garbage *garbage)
{
	u32 i;

	for (i = 0; i < WINDOW_PAGES; i++) {
		u64 va = WINDOW_VA + (u64)i * 4096;

		if (!before[i].prot || (before[i].bus == f->want[i].bus &&
					before[i].prot == f->want[i].prot))
			continue;
		assert_true(va >= garbage->inv_va && va < garbage->inv_end);
	}
}

static const u32 prots[] = {
	NPU_PT_READ, NPU_PT_READ | NPU_PT_WRITE, NPU_PT_EXEC, NPU_PT_READ | NPU_PT_EXEC,
	NPU_PT_READ | NPU_PT_WRITE | NPU_PT_EXEC,
};

static u32 random_runs(struct fixture *f, struct npu_pt_run *runs, u32 first, u32 *pages)
{
	u32 count = 1 + test_random(&f->rnd) % 4;
	u32 i, n;

	*pages = 0;
	for (i = 0; i < count; i++) {
		n = test_random(&f->rnd) % 3 ? 1 + test_random(&f->rnd) % 40 :
					       512 + test_random(&f->rnd) % 1024;
		if (n > WINDOW_PAGES - first - *pages)
			n = WINDOW_PAGES - first - *pages;
		if (!n)
			break;
		runs[i].bus = (u64)(test_random(&f->rnd) % (1 << 20)) << 12;
		/* Half of them in step with the address, so that 2 MiB leaves come about. */
		if (test_random(&f->rnd) & 1)
			runs[i].bus = (runs[i].bus & ~(NPU_HUGE_SIZE - 1)) +
				      ((WINDOW_VA + (u64)(first + *pages) * 4096) &
				       (NPU_HUGE_SIZE - 1));
		runs[i].size = (u64)n << 12;
		*pages += n;
	}
	return i;
}

static void want_runs(struct fixture *f, u32 first, const struct npu_pt_run *runs, u32 count,
		      u32 prot)
{
	u64 off;
	u32 i;

	for (i = 0; i < count; i++)
		for (off = 0; off < runs[i].size; off += 4096)
			f->want[first++] = (struct page) { runs[i].bus + off, prot };
}

static void random_change(struct fixture *f, bool failing)
{
	static struct page before[WINDOW_PAGES];
	struct npu_pt_garbage garbage = { 0 };
	struct npu_host_detail detail = { 0 };
	u32 first = test_random(&f->rnd) % WINDOW_PAGES;
	u64 va = WINDOW_VA + (u64)first * 4096;
	struct npu_pt_run runs[4];
	u32 count, pages, prot;
	int ret;

	if (test_random(&f->rnd) % 4 == 0)
		first = first / 512 * 512, va = WINDOW_VA + (u64)first * 4096;
	count = random_runs(f, runs, first, &pages);
	memcpy(before, f->want, sizeof(before));
	f->te->fail_after = failing ? (long)(test_random(&f->rnd) % 4) : -1;
	if (test_random(&f->rnd) % 5 < 3) {
		prot = prots[test_random(&f->rnd) % 5];
		ret = npu_pt_map(&f->pt, va, runs, count, prot, &garbage, &detail);
		if (!ret)
			want_runs(f, first, runs, count, prot);
	} else {
		ret = npu_pt_unmap(&f->pt, va, (u64)pages << 12, &garbage, &detail);
		if (!ret)
			memset(&f->want[first], 0, pages * sizeof(f->want[0]));
	}
	f->te->fail_after = -1;
	if (!failing)
		assert_int_equal(ret, 0);
	if (ret) {
		assert_int_equal(ret, -ENOMEM);
		assert_string_equal(detail.what, "page tables");
		assert_null(garbage.pages);
		assert_true(garbage.inv_va == garbage.inv_end);
	}
	check_stale(f, before, &garbage);
	npu_pt_garbage_free(&f->pt, &garbage);
}

static void run_random(struct fixture *f, bool failing)
{
	struct npu_pt_garbage garbage = { 0 };
	u32 i;

	for (i = 0; i < 400; i++) {
		random_change(f, failing);
		if (i % 4 == 0)
			check_window(f);
		check_leaves(f);
	}
	check_window(f);
	check_leaves(f);

	assert_int_equal(npu_pt_unmap(&f->pt, 0, 1ull << NPU_VA_BITS, &garbage, NULL), 0);
	npu_pt_garbage_free(&f->pt, &garbage);
	assert_int_equal(f->pt.tables, 1);
	/* Root: its page, its children, itself. */
	assert_int_equal(f->te->allocated, 3);
}

static void test_random_changes(void **state)
{
	run_random(*state, false);
}

static void test_random_changes_with_failing_allocations(void **state)
{
	run_random(*state, true);
}

static void test_huge_leaves(void **state)
{
	struct fixture *f = *state;
	struct npu_pt_garbage garbage = { 0 };
	const struct npu_pt_run run = { .bus = 8 * NPU_HUGE_SIZE, .size = 4 * NPU_HUGE_SIZE };

	assert_int_equal(npu_pt_map(&f->pt, NPU_HUGE_SIZE, &run, 1, NPU_PT_READ, &garbage, NULL),
			 0);
	/* Root and one table of 2 MiB leaves; nothing was cached before. */
	assert_int_equal(f->pt.tables, 2);
	assert_true(garbage.inv_va == garbage.inv_end);

	/* A hole in the middle of one leaf costs one table. */
	assert_int_equal(npu_pt_unmap(&f->pt, 2 * NPU_HUGE_SIZE + 4096, 4096, &garbage, NULL), 0);
	assert_int_equal(f->pt.tables, 3);
	assert_true(garbage.inv_va <= 2 * NPU_HUGE_SIZE && garbage.inv_end >= 3 * NPU_HUGE_SIZE);
	npu_pt_garbage_free(&f->pt, &garbage);

	/* The leaf over the table makes the table garbage; it stays until freed. */
	assert_int_equal(npu_pt_map(&f->pt, NPU_HUGE_SIZE, &run, 1, NPU_PT_READ, &garbage, NULL),
			 0);
	assert_int_equal(f->pt.tables, 2);
	assert_non_null(garbage.pages);
	assert_non_null(test_page(f->te, garbage.pages->bus));
	npu_pt_garbage_free(&f->pt, &garbage);
}

static void check_refusal(int ret, int error, const char *what, const struct npu_host_detail *d)
{
	assert_int_equal(ret, error);
	assert_string_equal(d->what, what);
}

static void test_refusals(void **state)
{
	struct fixture *f = *state;
	struct npu_pt_garbage g = { 0 };
	struct npu_host_detail d;
	struct npu_pt_run run = { .bus = 0x1000, .size = 0x1000 };
	const u64 va_end = 1ull << NPU_VA_BITS;
	struct npu_pt bad;

	check_refusal(npu_pt_map(&f->pt, 0x10, &run, 1, 1, &g, &d), -EINVAL,
		      "address not a multiple of the page size", &d);
	check_refusal(npu_pt_map(&f->pt, 0, &run, 1, 0, &g, &d), -EINVAL, "protection bits", &d);
	check_refusal(npu_pt_map(&f->pt, 0, &run, 1, 8, &g, &d), -EINVAL, "protection bits", &d);
	check_refusal(npu_pt_map(&f->pt, 0, &run, 1, NPU_PT_WRITE, &g, &d), -EINVAL,
		      "protection bits, write without read", &d);
	check_refusal(npu_pt_map(&f->pt, 0, &run, 0, 1, &g, &d), -EINVAL, "number of runs", &d);
	check_refusal(npu_pt_map(&f->pt, va_end, &run, 1, 1, &g, &d), -ERANGE, "last address", &d);
	run.size = 0x2000;
	check_refusal(npu_pt_map(&f->pt, va_end - 4096, &run, 1, 1, &g, &d), -ERANGE,
		      "last address", &d);
	run.size = 0;
	check_refusal(npu_pt_map(&f->pt, 0, &run, 1, 1, &g, &d), -EINVAL,
		      "size not a multiple of the page size above 0", &d);
	run.size = 0x800;
	check_refusal(npu_pt_map(&f->pt, 0, &run, 1, 1, &g, &d), -EINVAL,
		      "size not a multiple of the page size above 0", &d);
	run = (struct npu_pt_run) { .bus = 0x1200, .size = 0x1000 };
	check_refusal(npu_pt_map(&f->pt, 0, &run, 1, 1, &g, &d), -EINVAL,
		      "bus address not a multiple of the page size", &d);
	run.bus = (1ull << BUS_BITS) - 0x1000;
	run.size = 0x2000;
	check_refusal(npu_pt_map(&f->pt, 0, &run, 1, 1, &g, &d), -ERANGE, "last bus address", &d);
	assert_int_equal(d.expected, (1ull << BUS_BITS) - 1);
	assert_int_equal(d.found, (1ull << BUS_BITS) + 0xfff);
	check_refusal(npu_pt_unmap(&f->pt, 0x1000, ~0xfffull, &g, &d), -ERANGE, "last address", &d);
	check_refusal(npu_pt_unmap(&f->pt, 0x1000, 0, &g, &d), -EINVAL,
		      "size not a multiple of the page size above 0", &d);
	assert_int_equal(npu_pt_init(&bad, &f->te->env, 12), -EINVAL);
	assert_int_equal(npu_pt_init(&bad, &f->te->env, 57), -EINVAL);
	assert_null(g.pages);
	assert_int_equal(f->pt.tables, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_huge_leaves, setup, teardown),
		cmocka_unit_test_setup_teardown(test_refusals, setup, teardown),
		cmocka_unit_test_setup_teardown(test_random_changes, setup, teardown),
		cmocka_unit_test_setup_teardown(test_random_changes_with_failing_allocations,
						setup, teardown),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("host page tables", tests, NULL, NULL);
}
