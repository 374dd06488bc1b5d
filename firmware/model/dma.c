// SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 OR MIT
/* The DMA block: four channels, each one transfer at a time. */
#include "firmware/model/model_internal.h"

#define STATUS_W1C	(NPU_DMA_STATUS_DONE_MASK | NPU_DMA_STATUS_ERROR_MASK)
#define REPORT_BYTES	((u32)sizeof(struct npu_job_report))

void npu_dma_reset(struct npu_model *m)
{
	u32 i;

	memset(m->dma, 0, sizeof(m->dma));
	for (i = 0; i < NPU_DMA_CHANNELS; i++)
		m->dma[i].done_at = NPU_NEVER;
}

bool npu_dma_irq(const struct npu_model *m)
{
	u32 i, any = 0;

	for (i = 0; i < NPU_DMA_CHANNELS; i++)
		any |= m->dma[i].status & STATUS_W1C;
	return any;
}

u64 npu_dma_next(const struct npu_model *m)
{
	u64 next = NPU_NEVER;
	u32 i;

	for (i = 0; i < NPU_DMA_CHANNELS; i++)
		if (m->dma[i].done_at < next)
			next = m->dma[i].done_at;
	return next;
}

u32 npu_dma_read(const struct npu_model *m, u32 offset)
{
	u32 reg = offset % NPU_CP_DMA_STRIDE;
	const struct npu_dma_channel *ch;

	if (offset / NPU_CP_DMA_STRIDE >= NPU_DMA_CHANNELS)
		return 0;
	ch = &m->dma[offset / NPU_CP_DMA_STRIDE];
	if (reg < NPU_DMA_CONTROL)
		return ch->regs[reg / 4];
	switch (reg) {
	case NPU_DMA_STATUS:
		return ch->status | (ch->done_at != NPU_NEVER ? NPU_DMA_STATUS_BUSY_MASK : 0);
	case NPU_DMA_FAULT_LO:
		return ch->fault_va;
	case NPU_DMA_FAULT_HI:
		return ch->fault_va >> 32;
	default:
		return 0;
	}
}

static void start(struct npu_model *m, struct npu_dma_channel *ch, u32 control)
{
	u32 beats;

	if (!(control & NPU_DMA_CONTROL_START_MASK) || ch->done_at != NPU_NEVER)
		return;
	ch->host = ch->regs[NPU_DMA_HOST_LO / 4] | (u64)ch->regs[NPU_DMA_HOST_HI / 4] << 32;
	ch->local = ch->regs[NPU_DMA_LOCAL / 4];
	ch->length = ch->regs[NPU_DMA_LENGTH / 4];
	ch->context = ch->regs[NPU_DMA_CONTEXT / 4];
	ch->to_host = control & NPU_DMA_CONTROL_TO_HOST_MASK;
	beats = ch->length > NPU_DMA_MAX_LENGTH ? 0 :
		(ch->length + NPU_TIMING_MEM_BYTES_PER_CYCLE - 1) / NPU_TIMING_MEM_BYTES_PER_CYCLE;
	ch->done_at = npu_now(m) + NPU_TIMING_MEM_LATENCY + beats;
	/* The slice was cut without this transfer's end. */
	rv32_stop(&m->cpu);
}

void npu_dma_write(struct npu_model *m, u32 offset, u32 value)
{
	u32 reg = offset % NPU_CP_DMA_STRIDE;
	struct npu_dma_channel *ch;

	if (offset / NPU_CP_DMA_STRIDE >= NPU_DMA_CHANNELS)
		return;
	ch = &m->dma[offset / NPU_CP_DMA_STRIDE];
	if (reg < NPU_DMA_CONTROL) {
		ch->regs[reg / 4] = value;
	} else if (reg == NPU_DMA_CONTROL) {
		start(m, ch, value);
	} else if (reg == NPU_DMA_STATUS) {
		ch->status &= ~(value & STATUS_W1C);
		if (!(ch->status & NPU_DMA_STATUS_ERROR_MASK))
			ch->status &= ~NPU_DMA_STATUS_FAULT_MASK;
		npu_irq_update(m);
	}
}

static int fail(struct npu_mmu_fault *fault, u32 code, u64 va)
{
	fault->code = code;
	fault->va = va;
	return -EFAULT;
}

static int copy_report(struct npu_model *m, const struct npu_dma_channel *ch,
		       struct npu_mmu_fault *fault)
{
	u32 core = (ch->local - NPU_CP_CORE) / NPU_CP_CORE_STRIDE;
	u32 offset = (ch->local - NPU_CP_CORE) % NPU_CP_CORE_STRIDE - NPU_CORE_REPORT(0);
	u8 buf[REPORT_BYTES];

	if (ch->local < NPU_CP_CORE || core >= m->cfg.cores || offset >= REPORT_BYTES ||
	    ch->length > REPORT_BYTES - offset || !ch->to_host)
		return fail(fault, NPU_FAULT_ADDRESS, ch->local);
	npu_core_catch_up(m, core, m->now);
	npu_core_report_copy(m->cores[core].core, offset, buf, ch->length);
	return npu_mmu_write(&m->mmu, ch->context, ch->host, buf, ch->length, fault);
}

static int copy_tcm(struct npu_model *m, const struct npu_dma_channel *ch,
		    struct npu_mmu_fault *fault)
{
	u8 *tcm = m->tcm + (ch->local - NPU_TCM_BASE);
	int ret;

	if (ch->to_host)
		return npu_mmu_write(&m->mmu, ch->context, ch->host, tcm, ch->length, fault);
	ret = npu_mmu_read(&m->mmu, ch->context, ch->host, tcm, ch->length, NPU_ACCESS_READ,
			   fault);
	/* After a failure, too: part of it may have been written. */
	rv32_tcm_written(&m->cpu, ch->local, ch->length);
	return ret;
}

static int transfer(struct npu_model *m, const struct npu_dma_channel *ch,
		    struct npu_mmu_fault *fault)
{
	u32 at = ch->local - NPU_TCM_BASE;

	if (!ch->length || ch->length % 4 || ch->length > NPU_DMA_MAX_LENGTH)
		return fail(fault, NPU_FAULT_LENGTH, ch->length);
	if (ch->host % 4)
		return fail(fault, NPU_FAULT_ALIGNMENT, ch->host);
	if (ch->local % 4)
		return fail(fault, NPU_FAULT_ALIGNMENT, ch->local);
	if (at < m->cfg.tcm_size && ch->length <= m->cfg.tcm_size - at)
		return copy_tcm(m, ch, fault);
	return copy_report(m, ch, fault);
}

/* Ends the transfers that are due at the present tick. */
void npu_dma_complete(struct npu_model *m)
{
	struct npu_mmu_fault fault;
	struct npu_dma_channel *ch;
	u32 i;

	for (i = 0; i < NPU_DMA_CHANNELS; i++) {
		ch = &m->dma[i];
		if (ch->done_at > m->now)
			continue;
		ch->done_at = NPU_NEVER;
		if (!transfer(m, ch, &fault)) {
			ch->status |= NPU_DMA_STATUS_DONE_MASK;
			continue;
		}
		ch->fault_va = fault.va;
		ch->status &= ~NPU_DMA_STATUS_FAULT_MASK;
		ch->status |= NPU_DMA_STATUS_ERROR_MASK |
			      fault.code << NPU_DMA_STATUS_FAULT_SHIFT;
	}
}
