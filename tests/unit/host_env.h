/* SPDX-License-Identifier: MIT */
/*
 * An environment for the host library without a device: pages at made-up bus
 * addresses, counted, failing on demand; registers in an array.
 */
#ifndef TESTS_UNIT_HOST_ENV_H
#define TESTS_UNIT_HOST_ENV_H

#include <stdlib.h>
#include "firmware/host/npu_host.h"

#define TEST_PAGES	4096

struct test_env {
	struct npu_host_env env;
	void *pages[TEST_PAGES];	/* page i is at bus address (i + 1) * 4096 */
	long allocated;			/* pages and memory blocks in use */
	long fail_after;		/* allocations that succeed; -1: all */
	u32 regs[64];			/* first words of the register region */
	u32 tcm[NPU_TCM_MAX_SIZE / 4];
	void (*on_write)(struct test_env *te, u32 offset, u32 value);
	void (*on_relax)(struct test_env *te);
	u64 now;
	u32 doorbells;			/* writes seen */
	u32 doorbell_index;
	u32 doorbell_value;
};

static inline bool test_may_alloc(struct test_env *te)
{
	if (!te->fail_after)
		return false;
	if (te->fail_after > 0)
		te->fail_after--;
	return true;
}

static inline void *test_page_alloc(void *opaque, u64 *bus)
{
	struct test_env *te = opaque;
	int i;

	if (!test_may_alloc(te))
		return NULL;
	for (i = 0; i < TEST_PAGES && te->pages[i]; i++)
		;
	if (i == TEST_PAGES)
		return NULL;
	te->pages[i] = aligned_alloc(4096, 4096);
	if (!te->pages[i])
		return NULL;
	memset(te->pages[i], 0, 4096);
	*bus = (u64)(i + 1) << 12;
	te->allocated++;
	return te->pages[i];
}

/* Memory at a bus address of test_page_alloc(), or NULL. */
static inline void *test_page(struct test_env *te, u64 bus)
{
	u64 i = (bus >> 12) - 1;

	return i < TEST_PAGES ? te->pages[i] : NULL;
}

static inline void test_page_free(void *opaque, void *cpu, u64 bus)
{
	struct test_env *te = opaque;

	if (test_page(te, bus) != cpu)
		abort();
	te->pages[(bus >> 12) - 1] = NULL;
	te->allocated--;
	free(cpu);
}

static inline void *test_mem_alloc(void *opaque, size_t size)
{
	struct test_env *te = opaque;

	if (!test_may_alloc(te))
		return NULL;
	te->allocated++;
	return calloc(1, size);
}

static inline void test_mem_free(void *opaque, void *mem)
{
	struct test_env *te = opaque;

	te->allocated--;
	free(mem);
}

static inline u32 test_reg_read(void *opaque, u32 offset)
{
	struct test_env *te = opaque;

	return offset / 4 < 64 ? te->regs[offset / 4] : 0;
}

static inline void test_reg_write(void *opaque, u32 offset, u32 value)
{
	struct test_env *te = opaque;

	if (offset >= NPU_TCM_WINDOW)
		te->tcm[(offset - NPU_TCM_WINDOW) / 4] = value;
	else if (offset / 4 < 64)
		te->regs[offset / 4] = value;
	if (te->on_write)
		te->on_write(te, offset, value);
}

static inline void test_doorbell(void *opaque, u32 index, u32 value)
{
	struct test_env *te = opaque;

	te->doorbells++;
	te->doorbell_index = index;
	te->doorbell_value = value;
}

static inline u64 test_now(void *opaque)
{
	return ((struct test_env *)opaque)->now;
}

static inline void test_relax(void *opaque)
{
	struct test_env *te = opaque;

	te->now += 10;
	if (te->on_relax)
		te->on_relax(te);
}

static const struct npu_host_ops test_host_ops = {
	.reg_read = test_reg_read,
	.reg_write = test_reg_write,
	.doorbell = test_doorbell,
	.now_us = test_now,
	.relax = test_relax,
	.page_alloc = test_page_alloc,
	.page_free = test_page_free,
	.mem_alloc = test_mem_alloc,
	.mem_free = test_mem_free,
};

static inline struct test_env *test_env_new(void)
{
	struct test_env *te = calloc(1, sizeof(*te));

	if (!te)
		abort();
	te->env.ops = &test_host_ops;
	te->env.opaque = te;
	te->fail_after = -1;
	return te;
}

/* A small generator, so that a failure can be repeated. */
static inline u32 test_random(u64 *state)
{
	*state = *state * 6364136223846793005ull + 1442695040888963407ull;
	return (u32)(*state >> 33);
}

#endif
