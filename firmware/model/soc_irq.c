// SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 OR MIT
/* Interrupts and the blocks that make them: SYS and DOORBELL. */
#include "firmware/model/model_internal.h"

static bool doorbell_pending(const struct npu_model *m)
{
	u32 i, any = 0;

	for (i = 0; i < NPU_DB_WORDS; i++)
		any |= m->db_pending[i];
	return any;
}

void npu_irq_update(struct npu_model *m)
{
	u32 i, pending = 0;

	if (doorbell_pending(m))
		pending |= NPU_CP_IRQ_DOORBELL;
	if (npu_dma_irq(m))
		pending |= NPU_CP_IRQ_DMA;
	for (i = 0; i < m->cfg.cores; i++)
		if (npu_core_event(m->cores[i].core))
			pending |= NPU_CP_IRQ_CORE0 << i;
	m->irq_pending = pending;
	rv32_set_irq(&m->cpu, RV32_IRQ_EXTERNAL, pending & m->irq_enable);
	rv32_set_irq(&m->cpu, RV32_IRQ_TIMER, npu_now(m) >= m->mtimecmp);
}

void npu_irq_raise_host(struct npu_model *m, u32 vector)
{
	if (vector >= m->cfg.cqs)
		return;
	m->host[NPU_HOST_IRQ_STATUS / 4] |= 1u << vector;
	if (!(m->host[NPU_HOST_IRQ_MASK / 4] & 1u << vector) && m->ops->irq)
		m->ops->irq(m->opaque, vector);
}

void npu_irq_set_mask(struct npu_model *m, u32 mask)
{
	u32 v, opened = m->host[NPU_HOST_IRQ_MASK / 4] & ~mask;

	m->host[NPU_HOST_IRQ_MASK / 4] = mask;
	opened &= m->host[NPU_HOST_IRQ_STATUS / 4];
	for (v = 0; v < m->cfg.cqs; v++)
		if (opened & 1u << v && m->ops->irq)
			m->ops->irq(m->opaque, v);
}

u32 npu_sys_read(struct npu_model *m, u32 offset)
{
	u64 now = npu_now(m);

	switch (offset) {
	case NPU_SYS_MTIME_LO:
		m->mtime_hi = now >> 32;
		return now;
	case NPU_SYS_MTIME_HI:
		return m->mtime_hi;
	case NPU_SYS_MTIMECMP_LO:
		return m->mtimecmp;
	case NPU_SYS_MTIMECMP_HI:
		return m->mtimecmp >> 32;
	case NPU_SYS_IRQ_PENDING:
		return m->irq_pending;
	case NPU_SYS_IRQ_ENABLE:
		return m->irq_enable;
	default:
		return 0;
	}
}

static void set_timer(struct npu_model *m, u64 mtimecmp)
{
	m->mtimecmp = mtimecmp;
	npu_irq_update(m);
	/* The slice was cut for the tick of before. */
	rv32_stop(&m->cpu);
}

void npu_sys_write(struct npu_model *m, u32 offset, u32 value)
{
	switch (offset) {
	case NPU_SYS_MTIMECMP_LO:
		set_timer(m, (m->mtimecmp & ~0xffffffffull) | value);
		break;
	case NPU_SYS_MTIMECMP_HI:
		set_timer(m, (m->mtimecmp & 0xffffffffu) | (u64)value << 32);
		break;
	case NPU_SYS_IRQ_ENABLE:
		m->irq_enable = value;
		npu_irq_update(m);
		break;
	case NPU_SYS_HOST_IRQ:
		npu_irq_raise_host(m, value);
		break;
	case NPU_SYS_DEBUG_CHAR:
		if (m->ops->debug_char)
			m->ops->debug_char(m->opaque, value);
		break;
	}
}

u32 npu_db_read(const struct npu_model *m, u32 offset)
{
	if (offset < NPU_DB_PENDING(NPU_DB_WORDS))
		return m->db_pending[offset / 4];
	if (offset >= NPU_DB_VALUE(0) && offset < NPU_DB_VALUE(NPU_DOORBELLS))
		return m->db_value[(offset - NPU_DB_VALUE(0)) / 4];
	return 0;
}

void npu_db_write(struct npu_model *m, u32 offset, u32 value)
{
	if (offset >= NPU_DB_PENDING(NPU_DB_WORDS))
		return;
	m->db_pending[offset / 4] &= ~value;
	npu_irq_update(m);
}

void npu_model_doorbell(struct npu_model *m, u32 index, u32 value)
{
	if (index > m->cfg.queues)
		return;
	m->db_value[index] = value;
	m->db_pending[index / 32] |= 1u << index % 32;
	npu_irq_update(m);
}
