// SPDX-License-Identifier: MIT
#include <stdarg.h>
#include <stdlib.h>
#include <setjmp.h>
#include <cmocka.h>
#include "tests/unit/soc_board.h"

/* x1: address, x2: value. The stub is at the start of TCM. */
#define INSN_LB		0x00008103u	/* lb x2, 0(x1) */
#define INSN_LH		0x00009103u
#define INSN_LW		0x0000a103u
#define INSN_SB		0x00208023u	/* sb x2, 0(x1) */
#define INSN_SH		0x00209023u
#define INSN_SW		0x0020a023u
#define INSN_WFI	0x10500073u
#define INSN_LOOP	0x0000006fu	/* j . */
#define STUB		NPU_TCM_BASE
#define HANDLER		(NPU_TCM_BASE + 0x10)

static bool refused(const struct soc_board *b, u64 bus, u32 len)
{
	return bus + len > SOC_MEM || (bus < b->hole_end && bus + len > b->hole);
}

static void *bus_map(void *opaque, u64 bus, u32 len)
{
	struct soc_board *b = opaque;

	b->maps++;
	assert_true(bus % 4096 + len <= 4096);
	return b->no_map || refused(b, bus, len) ? NULL : b->mem + bus;
}

static int bus_read(void *opaque, u64 bus, void *buf, u32 len)
{
	struct soc_board *b = opaque;

	if (refused(b, bus, len))
		return -EIO;
	memcpy(buf, b->mem + bus, len);
	return 0;
}

static int bus_write(void *opaque, u64 bus, const void *buf, u32 len)
{
	struct soc_board *b = opaque;

	if (refused(b, bus, len))
		return -EIO;
	memcpy(b->mem + bus, buf, len);
	return 0;
}

static void bus_irq(void *opaque, u32 vector)
{
	((struct soc_board *)opaque)->irqs[vector]++;
}

static void bus_debug(void *opaque, u8 c)
{
	((struct soc_board *)opaque)->debug = c;
}

static const struct npu_bus_ops ops = {
	.map = bus_map,
	.read = bus_read,
	.write = bus_write,
	.irq = bus_irq,
	.debug_char = bus_debug,
};

void soc_init(struct soc_board *b, const struct npu_model_config *cfg)
{
	size_t size;
	u32 i;

	memset(b, 0, sizeof(*b));
	npu_model_default_config(&b->cfg);
	b->cfg.cores = SOC_CORES;
	b->cfg.tcm_size = SOC_TCM;
	b->cfg.revision = 7;
	for (i = 0; i < 16; i++)
		b->cfg.uuid[i] = 0xf0 + i;
	if (cfg)
		b->cfg = *cfg;
	b->mem = aligned_alloc(4096, SOC_MEM);
	size = (npu_model_size(&b->cfg) + 63) & ~(size_t)63;
	b->m = aligned_alloc(NPU_MODEL_ALIGN, size);
	assert_non_null(b->mem);
	assert_non_null(b->m);
	memset(b->mem, 0, SOC_MEM);
	memset(b->m, 0xa5, size);
	assert_int_equal(npu_model_init(b->m, &b->cfg, &ops, b), 0);
	soc_restart(b);
}

void soc_exit(struct soc_board *b)
{
	npu_model_fini(b->m);
	free(b->m);
	free(b->mem);
}

/* The processor is released behind the back of CP_CONTROL, which stays 0. */
void soc_restart(struct soc_board *b)
{
	rv32_reset(&b->m->cpu, STUB);
	b->m->slice_cycles = b->m->cpu.cycles;
}

static void put_insn(struct soc_board *b, u32 addr, u32 insn)
{
	npu_put_le32(b->m->tcm + (addr - NPU_TCM_BASE), insn);
	rv32_tcm_written(&b->m->cpu, addr, 4);
}

/* One instruction at the present tick; the exception that it takes. */
static u32 step(struct soc_board *b, u32 insn, u32 addr, u32 value)
{
	struct rv32 *cpu = &b->m->cpu;
	u32 keep = npu_get_le32(b->m->tcm);

	put_insn(b, STUB, insn);
	cpu->pc = STUB;
	cpu->mtvec = HANDLER;
	cpu->mcause = 0;
	cpu->mstatus = 0;
	cpu->x[1] = addr;
	cpu->x[2] = value;
	cpu->wfi = false;
	cpu->trap_insns = ~0ull;
	assert_int_equal(rv32_run(cpu, 1), 1);
	/* Time stands still for the test: it is not what is being tested here. */
	cpu->cycles--;
	put_insn(b, STUB, keep);
	return cpu->mcause;
}

u32 soc_load(struct soc_board *b, u32 addr)
{
	assert_int_equal(step(b, INSN_LW, addr, 0), 0);
	return b->m->cpu.x[2];
}

void soc_store(struct soc_board *b, u32 addr, u32 value)
{
	assert_int_equal(step(b, INSN_SW, addr, value), 0);
}

u32 soc_load_cause(struct soc_board *b, u32 addr, u32 size)
{
	return step(b, size == 4 ? INSN_LW : size == 2 ? INSN_LH : INSN_LB, addr, 0);
}

u32 soc_store_cause(struct soc_board *b, u32 addr, u32 size)
{
	return step(b, size == 4 ? INSN_SW : size == 2 ? INSN_SH : INSN_SB, addr, 0);
}

bool soc_wait(struct soc_board *b, u32 mie, u32 budget)
{
	struct rv32 *cpu = &b->m->cpu;

	put_insn(b, STUB, INSN_WFI);
	put_insn(b, STUB + 4, 0x10500073);
	put_insn(b, STUB + 8, INSN_LOOP);
	cpu->pc = STUB;
	cpu->mie = mie;
	cpu->mstatus = 0;
	return npu_model_run(b->m, budget);
}

void soc_dma_start(struct soc_board *b, u32 channel, const struct soc_dma *t)
{
	u32 base = NPU_CP_DMA + channel * NPU_CP_DMA_STRIDE;

	soc_store(b, base + NPU_DMA_HOST_LO, t->host);
	soc_store(b, base + NPU_DMA_HOST_HI, t->host >> 32);
	soc_store(b, base + NPU_DMA_LOCAL, t->local);
	soc_store(b, base + NPU_DMA_LENGTH, t->length);
	soc_store(b, base + NPU_DMA_CONTEXT, t->context);
	soc_store(b, base + NPU_DMA_CONTROL, t->to_host ? 3 : 1);
}

u32 soc_dma(struct soc_board *b, u32 channel, const struct soc_dma *t)
{
	u32 base = NPU_CP_DMA + channel * NPU_CP_DMA_STRIDE, status;

	soc_dma_start(b, channel, t);
	rv32_halt(&b->m->cpu);
	while (npu_model_run(b->m, 100))
		;
	soc_restart(b);
	status = soc_load(b, base + NPU_DMA_STATUS);
	assert_false(status & NPU_DMA_STATUS_BUSY_MASK);
	soc_store(b, base + NPU_DMA_STATUS, ~0u);
	assert_int_equal(soc_load(b, base + NPU_DMA_STATUS), 0);
	return status;
}

u64 soc_dma_fault(struct soc_board *b, u32 channel)
{
	u32 base = NPU_CP_DMA + channel * NPU_CP_DMA_STRIDE;

	return soc_load(b, base + NPU_DMA_FAULT_LO) |
	       (u64)soc_load(b, base + NPU_DMA_FAULT_HI) << 32;
}
