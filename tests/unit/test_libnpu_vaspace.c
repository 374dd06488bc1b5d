// SPDX-License-Identifier: MIT
/* Device addresses: random allocation against a map of every unit. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include "userspace/libnpu/vaspace.h"

#define START	1000u
#define UNITS	4096u
#define RANGES	64

static uint8_t used[UNITS];

static uint32_t rnd(uint64_t *state)
{
	*state = *state * 6364136223846793005ull + 1442695040888963407ull;
	return *state >> 33;
}

static void mark(uint64_t start, uint64_t size, uint8_t value)
{
	uint64_t i;

	for (i = start - START; i < start - START + size; i++) {
		assert_in_range(i, 0, UNITS - 1);
		assert_int_equal(used[i], !value);
		used[i] = value;
	}
}

/* The free units are the holes, which ascend and never touch. */
static void check_holes(const struct npu_vaspace *va)
{
	uint64_t at = START;
	size_t i;

	for (i = 0; i < va->count; i++) {
		assert_true(va->holes[i].start < va->holes[i].end);
		assert_true(!i || va->holes[i].start > va->holes[i - 1].end);
		for (; at < va->holes[i].start; at++)
			assert_int_equal(used[at - START], 1);
		for (; at < va->holes[i].end; at++)
			assert_int_equal(used[at - START], 0);
	}
	for (; at < START + UNITS; at++)
		assert_int_equal(used[at - START], 1);
}

static void test_random(void **state)
{
	struct { uint64_t start, size; } ranges[RANGES] = { { 0, 0 } };
	struct npu_vaspace va;
	uint64_t seed = 7;
	int step, i, ret;

	(void)state;
	memset(used, 0, sizeof(used));
	assert_int_equal(npu_vaspace_init(&va, START, START + UNITS), 0);
	for (step = 0; step < 20000; step++) {
		i = rnd(&seed) % RANGES;
		if (ranges[i].size) {
			mark(ranges[i].start, ranges[i].size, 0);
			npu_vaspace_free(&va, ranges[i].start, ranges[i].size);
			ranges[i].size = 0;
		} else {
			uint64_t size = 1 + rnd(&seed) % 200;
			uint64_t align = 1u << rnd(&seed) % 6;

			ret = npu_vaspace_alloc(&va, size, align, &ranges[i].start);
			if (ret) {
				assert_int_equal(ret, -ENOSPC);
			} else {
				assert_int_equal(ranges[i].start % align, 0);
				ranges[i].size = size;
				mark(ranges[i].start, size, 1);
			}
		}
		if (step % 16 == 0)
			check_holes(&va);
	}
	for (i = 0; i < RANGES; i++)
		if (ranges[i].size)
			npu_vaspace_free(&va, ranges[i].start, ranges[i].size);
	assert_int_equal(va.count, 1);
	assert_int_equal(va.used, 0);
	assert_int_equal(va.holes[0].start, START);
	assert_int_equal(va.holes[0].end, START + UNITS);
	npu_vaspace_fini(&va);
}

static void test_full(void **state)
{
	struct npu_vaspace va;
	uint64_t at;

	(void)state;
	assert_int_equal(npu_vaspace_init(&va, 4096, 8192), 0);
	assert_int_equal(npu_vaspace_alloc(&va, 4097, 1, &at), -ENOSPC);
	assert_int_equal(npu_vaspace_alloc(&va, 4096, 4096, &at), 0);
	assert_int_equal(at, 4096);
	assert_int_equal(npu_vaspace_alloc(&va, 1, 1, &at), -ENOSPC);
	npu_vaspace_free(&va, 4096, 4096);
	assert_int_equal(npu_vaspace_alloc(&va, 1, 1ull << 40, &at), -ENOSPC);
	npu_vaspace_fini(&va);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random),
		cmocka_unit_test(test_full),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("libnpu device addresses", tests, NULL, NULL);
}
