// SPDX-License-Identifier: MIT
/*
 * Registers of the device, on both sides: reset values, access rights and the
 * bits that exist, for every register of the contract; and what they do.
 */
#include <stdarg.h>
#include <stdlib.h>
#include <setjmp.h>
#include <cmocka.h>
#include "tests/unit/soc_board.h"

enum access { NONE, RO, RW, WO, W1C };
enum kind { FIXED, IMPL };

struct reg {
	const char *name;
	u32 offset, count, stride;
	enum access host, cp;
	enum kind kind;
	u32 reset, mask;
};

#define REG(name, ...) { #name, __VA_ARGS__ },

static const struct reg host_regs[] = { NPU_HOST_REGS(REG) };
static const struct reg sys_regs[] = { NPU_SYS_REGS(REG) };
static const struct reg db_regs[] = { NPU_DB_REGS(REG) };
static const struct reg mmu_regs[] = { NPU_MMU_REGS(REG) };
static const struct reg dma_regs[] = { NPU_DMA_REGS(REG) };
static const struct reg core_regs[] = { NPU_CORE_REGS(REG) };

#define COUNT(a)	(sizeof(a) / sizeof((a)[0]))

static struct soc_board b;

static int setup(void **state)
{
	(void)state;
	soc_init(&b, NULL);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	soc_exit(&b);
	return 0;
}

/* Registers that change by themselves, or do something else than hold a value. */
static bool is_alive(const char *name)
{
	return strstr(name, "TIME_") || !strcmp(name, "RESET") || !strcmp(name, "CP_CONTROL") ||
	       !strcmp(name, "CP_STATUS");
}

static void host_reset_values(void **state)
{
	u32 i, v;

	(void)state;
	npu_model_reg_write(b.m, NPU_HOST_RESET, NPU_RESET_KEY);
	for (i = 0; i < COUNT(host_regs); i++) {
		const struct reg *r = &host_regs[i];

		v = npu_model_reg_read(b.m, r->offset);
		if (r->kind == FIXED && strcmp(r->name, "CP_STATUS") && v != r->reset)
			fail_msg("%s: 0x%x instead of 0x%x", r->name, v, r->reset);
	}
	assert_int_equal(npu_model_reg_read(b.m, NPU_HOST_CP_STATUS), 0);
	assert_int_equal(npu_model_reg_read(b.m, NPU_HOST_TOPOLOGY),
			 b.cfg.cores | b.cfg.queues << 8 | b.cfg.cqs << 16);
	assert_int_equal(npu_model_reg_read(b.m, NPU_HOST_CONTEXTS), b.cfg.contexts);
	assert_int_equal(npu_model_reg_read(b.m, NPU_HOST_CLOCK_KHZ), b.cfg.clock_khz);
	assert_int_equal(npu_model_reg_read(b.m, NPU_HOST_ADDRESS),
			 b.cfg.bus_bits | NPU_VA_BITS << 8);
	assert_int_equal(npu_model_reg_read(b.m, NPU_HOST_TCM_SIZE), b.cfg.tcm_size);
	assert_int_equal(npu_model_reg_read(b.m, NPU_HOST_REVISION), b.cfg.revision);
	assert_int_equal(npu_model_reg_read(b.m, NPU_HOST_FEATURES_LO), (u32)b.cfg.features);
	for (i = 0; i < 4; i++)
		assert_int_equal(npu_model_reg_read(b.m, NPU_HOST_UUID0 + 4 * i),
				 npu_get_le32(b.cfg.uuid + 4 * i));
}

static void host_access_rights(void **state)
{
	u32 i, before, after;

	(void)state;
	for (i = 0; i < COUNT(host_regs); i++) {
		const struct reg *r = &host_regs[i];

		if (is_alive(r->name))
			continue;
		before = npu_model_reg_read(b.m, r->offset);
		npu_model_reg_write(b.m, r->offset, ~0u);
		after = npu_model_reg_read(b.m, r->offset);
		if (after != (r->host == RW ? r->mask : before))
			fail_msg("%s: 0x%x after all ones", r->name, after);
		npu_model_reg_write(b.m, r->offset, 0);
		after = npu_model_reg_read(b.m, r->offset);
		if (after != (r->host == RW ? 0 : before))
			fail_msg("%s: 0x%x after zero", r->name, after);
		npu_model_reg_write(b.m, r->offset, before);
	}
}

/* The same block from the processor's side, where other rights hold. */
static void host_block_on_the_processor(void **state)
{
	u32 i, before, after, addr;

	(void)state;
	for (i = 0; i < COUNT(host_regs); i++) {
		const struct reg *r = &host_regs[i];

		addr = NPU_CP_HOST + r->offset;
		if (is_alive(r->name))
			continue;
		before = soc_load(&b, addr);
		assert_int_equal(before, npu_model_reg_read(b.m, r->offset));
		soc_store(&b, addr, ~0u);
		after = soc_load(&b, addr);
		if (after != (r->cp == RW ? r->mask : before))
			fail_msg("%s: 0x%x after all ones", r->name, after);
		/* Both sides see one register. */
		assert_int_equal(after, npu_model_reg_read(b.m, r->offset));
	}
}

static bool in_block(const struct reg *regs, size_t n, u32 offset)
{
	size_t i;
	u32 k;

	for (i = 0; i < n; i++)
		for (k = 0; k < regs[i].count; k++)
			if (regs[i].offset + k * regs[i].stride == offset)
				return true;
	return false;
}

/* Reads and writes each word of a block of the processor's. */
static void check_block(const char *block, const struct reg *regs, size_t n, u32 base, u32 size)
{
	u32 offset, k, before, after;
	size_t i;

	for (i = 0; i < n; i++) {
		const struct reg *r = &regs[i];

		for (k = 0; k < r->count; k++) {
			offset = r->offset + k * r->stride;
			before = soc_load(&b, base + offset);
			if (!is_alive(r->name) && before != r->reset)
				fail_msg("%s.%s %u: reset value 0x%x", block, r->name, k, before);
			if (r->cp == RW && !strstr(r->name, "MTIMECMP")) {
				soc_store(&b, base + offset, ~0u);
				after = soc_load(&b, base + offset);
				if (after != r->mask)
					fail_msg("%s.%s: 0x%x after all ones", block, r->name,
						 after);
				soc_store(&b, base + offset, before);
			} else if (r->cp == RO && !is_alive(r->name)) {
				soc_store(&b, base + offset, ~0u);
				after = soc_load(&b, base + offset);
				if (after != before)
					fail_msg("%s.%s can be written", block, r->name);
			}
		}
	}
	for (offset = 0; offset < size; offset += 4) {
		if (in_block(regs, n, offset))
			continue;
		soc_store(&b, base + offset, ~0u);
		if (soc_load(&b, base + offset))
			fail_msg("%s + 0x%x is not in the contract", block, offset);
	}
}

static void blocks_of_the_processor(void **state)
{
	(void)state;
	check_block("SYS", sys_regs, COUNT(sys_regs), NPU_CP_SYS, 0x1000);
	check_block("DOORBELL", db_regs, COUNT(db_regs), NPU_CP_DOORBELL, 0x1000);
	check_block("MMU", mmu_regs, COUNT(mmu_regs), NPU_CP_MMU, 0x1000);
	check_block("CORE", core_regs, COUNT(core_regs), NPU_CP_CORE, NPU_CP_CORE_STRIDE);
}

static void dma_registers(void **state)
{
	u32 ch, offset;

	(void)state;
	for (ch = 0; ch < NPU_DMA_CHANNELS; ch++)
		check_block("DMA", dma_regs, COUNT(dma_regs),
			    NPU_CP_DMA + ch * NPU_CP_DMA_STRIDE, NPU_CP_DMA_STRIDE);
	for (offset = NPU_DMA_CHANNELS * NPU_CP_DMA_STRIDE; offset < 0x1000; offset += 4) {
		soc_store(&b, NPU_CP_DMA + offset, 1);
		assert_int_equal(soc_load(&b, NPU_CP_DMA + offset), 0);
	}
}

static void other_addresses_fault(void **state)
{
	static const u32 addrs[] = {
		0, 0x3ffffffc, NPU_CP_DMA + 0x1000, NPU_CP_CORE - 4,
		NPU_CP_CORE + SOC_CORES * NPU_CP_CORE_STRIDE, NPU_TCM_BASE - 4,
		NPU_TCM_BASE + SOC_TCM, 0xfffffffc,
	};
	u32 i, blocks[] = { NPU_CP_SYS, NPU_CP_HOST, NPU_CP_DOORBELL, NPU_CP_MMU, NPU_CP_DMA,
			    NPU_CP_CORE };

	(void)state;
	for (i = 0; i < COUNT(addrs); i++) {
		assert_int_equal(soc_load_cause(&b, addrs[i], 4), RV32_CAUSE_LOAD_FAULT);
		assert_int_equal(soc_store_cause(&b, addrs[i], 4), RV32_CAUSE_STORE_FAULT);
	}
	for (i = 0; i < COUNT(blocks); i++) {
		assert_int_equal(soc_load_cause(&b, blocks[i] + 0x80, 4), 0);
		assert_int_equal(soc_load_cause(&b, blocks[i] + 0x80, 1), RV32_CAUSE_LOAD_FAULT);
		assert_int_equal(soc_load_cause(&b, blocks[i] + 0x80, 2), RV32_CAUSE_LOAD_FAULT);
		assert_int_equal(soc_store_cause(&b, blocks[i] + 0x80, 1),
				 RV32_CAUSE_STORE_FAULT);
		assert_int_equal(soc_store_cause(&b, blocks[i] + 0x82, 2),
				 RV32_CAUSE_STORE_FAULT);
		assert_int_equal(soc_load_cause(&b, blocks[i] + 0x82, 4),
				 RV32_CAUSE_LOAD_MISALIGNED);
	}
	/* TCM takes all sizes. */
	assert_int_equal(soc_load_cause(&b, NPU_TCM_BASE + SOC_TCM - 1, 1), 0);
	assert_int_equal(soc_store_cause(&b, NPU_TCM_BASE + SOC_TCM - 2, 2), 0);
}

static void tcm_window(void **state)
{
	u32 i;

	(void)state;
	for (i = 0; i < SOC_TCM; i += 4)
		npu_model_reg_write(b.m, NPU_TCM_WINDOW + i, i * 7 + 1);
	for (i = 0; i < SOC_TCM; i += 4)
		assert_int_equal(npu_model_reg_read(b.m, NPU_TCM_WINDOW + i), i * 7 + 1);
	/* Beyond it, between two words and between the blocks there is nothing. */
	npu_model_reg_write(b.m, NPU_TCM_WINDOW + SOC_TCM, 5);
	assert_int_equal(npu_model_reg_read(b.m, NPU_TCM_WINDOW + SOC_TCM), 0);
	npu_model_reg_write(b.m, NPU_TCM_WINDOW + 2, ~0u);
	assert_int_equal(npu_model_reg_read(b.m, NPU_TCM_WINDOW + 2), 0);
	assert_int_equal(npu_model_reg_read(b.m, NPU_TCM_WINDOW), 1);
	assert_int_equal(npu_model_reg_read(b.m, NPU_TCM_WINDOW - 4), 0);
	assert_int_equal(npu_model_reg_read(b.m, NPU_REG_REGION_SIZE), 0);
	assert_int_equal(npu_model_reg_read(b.m, 0xfffffffc), 0);
	/* A reset keeps the bytes; while the processor runs there is no window. */
	npu_model_reg_write(b.m, NPU_HOST_RESET, NPU_RESET_KEY);
	assert_int_equal(npu_model_reg_read(b.m, NPU_TCM_WINDOW + 8), 8 * 7 + 1);
	npu_model_reg_write(b.m, NPU_HOST_CP_CONTROL, 1);
	assert_int_equal(npu_model_reg_read(b.m, NPU_TCM_WINDOW + 8), 0);
	npu_model_reg_write(b.m, NPU_TCM_WINDOW + 8, 0);
	npu_model_reg_write(b.m, NPU_HOST_CP_CONTROL, 0);
	assert_int_equal(npu_model_reg_read(b.m, NPU_TCM_WINDOW + 8), 8 * 7 + 1);
}

static void host_interrupts(void **state)
{
	(void)state;
	soc_store(&b, NPU_CP_SYS + NPU_SYS_HOST_IRQ, 3);
	assert_int_equal(b.irqs[3], 1);
	assert_int_equal(npu_model_reg_read(b.m, NPU_HOST_IRQ_STATUS), 8);
	soc_store(&b, NPU_CP_SYS + NPU_SYS_HOST_IRQ, 3);
	assert_int_equal(b.irqs[3], 2);
	npu_model_reg_write(b.m, NPU_HOST_IRQ_STATUS, 8);
	assert_int_equal(npu_model_reg_read(b.m, NPU_HOST_IRQ_STATUS), 0);
	/* Masked: noted, and signalled when the mask goes. */
	npu_model_reg_write(b.m, NPU_HOST_IRQ_MASK, 0xc);
	soc_store(&b, NPU_CP_SYS + NPU_SYS_HOST_IRQ, 3);
	assert_int_equal(b.irqs[3], 2);
	assert_int_equal(npu_model_reg_read(b.m, NPU_HOST_IRQ_STATUS), 8);
	npu_model_reg_write(b.m, NPU_HOST_IRQ_MASK, 0);
	assert_int_equal(b.irqs[3], 3);
	assert_int_equal(b.irqs[2], 0);
	/* Beyond the vectors nothing is raised. */
	soc_store(&b, NPU_CP_SYS + NPU_SYS_HOST_IRQ, b.cfg.cqs);
	soc_store(&b, NPU_CP_SYS + NPU_SYS_HOST_IRQ, ~0u);
	assert_int_equal(npu_model_reg_read(b.m, NPU_HOST_IRQ_STATUS), 8);
	soc_store(&b, NPU_CP_SYS + NPU_SYS_DEBUG_CHAR, 'x');
	assert_int_equal(b.debug, 'x');
}

static void doorbells(void **state)
{
	u32 d;

	(void)state;
	soc_store(&b, NPU_CP_SYS + NPU_SYS_IRQ_ENABLE, NPU_CP_IRQ_DOORBELL);
	for (d = 0; d <= b.cfg.queues; d++) {
		npu_model_doorbell(b.m, d, 100 + d);
		npu_model_doorbell(b.m, d, 200 + d);
		assert_int_equal(soc_load(&b, NPU_CP_DOORBELL + NPU_DB_VALUE(d)), 200 + d);
		assert_int_equal(soc_load(&b, NPU_CP_DOORBELL + NPU_DB_PENDING(d / 32)),
				 1u << d % 32);
		assert_int_equal(soc_load(&b, NPU_CP_SYS + NPU_SYS_IRQ_PENDING),
				 NPU_CP_IRQ_DOORBELL);
		assert_true(b.m->cpu.mip & RV32_IRQ_EXTERNAL);
		soc_store(&b, NPU_CP_DOORBELL + NPU_DB_PENDING(d / 32), ~(1u << d % 32));
		assert_int_equal(soc_load(&b, NPU_CP_SYS + NPU_SYS_IRQ_PENDING),
				 NPU_CP_IRQ_DOORBELL);
		soc_store(&b, NPU_CP_DOORBELL + NPU_DB_PENDING(d / 32), 1u << d % 32);
		assert_int_equal(soc_load(&b, NPU_CP_SYS + NPU_SYS_IRQ_PENDING), 0);
		assert_false(b.m->cpu.mip & RV32_IRQ_EXTERNAL);
	}
	/* There is none beyond the last queue's. */
	npu_model_doorbell(b.m, b.cfg.queues + 1, 1);
	npu_model_doorbell(b.m, ~0u, 1);
	assert_int_equal(soc_load(&b, NPU_CP_SYS + NPU_SYS_IRQ_PENDING), 0);
}

static void everything_is_reset(void **state)
{
	u32 i;

	(void)state;
	for (i = 0; i < COUNT(host_regs); i++)
		if (!is_alive(host_regs[i].name))
			npu_model_reg_write(b.m, host_regs[i].offset, 0x5a);
	soc_store(&b, NPU_CP_HOST + NPU_HOST_BOOT_STATE, NPU_BOOT_READY);
	soc_store(&b, NPU_CP_SYS + NPU_SYS_IRQ_ENABLE, ~0u);
	soc_store(&b, NPU_CP_SYS + NPU_SYS_MTIMECMP_HI, 0);
	soc_store(&b, NPU_CP_SYS + NPU_SYS_HOST_IRQ, 1);
	soc_store(&b, NPU_CP_MMU + NPU_MMU_CONTEXT, 1);
	soc_store(&b, NPU_CP_MMU + NPU_MMU_ROOT_LO, 0x1000);
	soc_store(&b, NPU_CP_MMU + NPU_MMU_ROOT_HI, 0);
	soc_store(&b, NPU_CP_DMA + NPU_DMA_LENGTH, 4);
	soc_store(&b, NPU_CP_CORE + NPU_CORE_CONTEXT, 3);
	npu_model_doorbell(b.m, 1, 1);
	/* Another value than the key does nothing. */
	npu_model_reg_write(b.m, NPU_HOST_RESET, NPU_RESET_KEY + 1);
	assert_int_equal(npu_model_reg_read(b.m, NPU_HOST_BOOT_STATE), NPU_BOOT_READY);
	npu_model_reg_write(b.m, NPU_HOST_RESET, NPU_RESET_KEY);
	assert_int_equal(npu_model_reg_read(b.m, NPU_HOST_RESET), 0);
	host_reset_values(state);
	assert_int_equal(b.m->mmu.roots[1], 0);
	assert_true(npu_model_ticks(b.m) == 0);
	assert_false(npu_model_run(b.m, 1000));
	soc_restart(&b);
	blocks_of_the_processor(state);
	dma_registers(state);
}

static void refuses_configurations(void **state)
{
	static const struct {
		size_t offset;
		u32 value;
	} bad[] = {
#define BAD(field, value) { offsetof(struct npu_model_config, field), value }
		BAD(cores, 0), BAD(cores, NPU_MAX_CORES + 1), BAD(queues, 0),
		BAD(queues, NPU_MAX_QUEUES + 1), BAD(cqs, 0), BAD(cqs, NPU_MAX_CQS + 1),
		BAD(contexts, 1), BAD(contexts, NPU_MAX_CONTEXTS + 1), BAD(clock_khz, 0),
		BAD(tcm_size, 0), BAD(tcm_size, 4097), BAD(tcm_size, NPU_TCM_MAX_SIZE + 4096),
		BAD(bus_bits, 31), BAD(bus_bits, 57),
	};
	struct npu_model_config cfg;
	u32 i;

	(void)state;
	for (i = 0; i < COUNT(bad); i++) {
		npu_model_default_config(&cfg);
		assert_true(npu_model_size(&cfg));
		memcpy((u8 *)&cfg + bad[i].offset, &bad[i].value, 4);
		assert_int_equal(npu_model_size(&cfg), 0);
		assert_int_equal(npu_model_init(b.m, &cfg, NULL, NULL), -EINVAL);
	}
	npu_model_default_config(&cfg);
	assert_int_equal(npu_model_init((void *)((u8 *)b.m + 8), &cfg, NULL, NULL), -EINVAL);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(host_reset_values), TEST(host_access_rights),
		TEST(host_block_on_the_processor), TEST(blocks_of_the_processor),
		TEST(dma_registers), TEST(other_addresses_fault), TEST(tcm_window),
		TEST(host_interrupts), TEST(doorbells), TEST(everything_is_reset),
		TEST(refuses_configurations),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("model_regs", tests, NULL, NULL);
}
