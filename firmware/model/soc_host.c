// SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 OR MIT
/* The HOST block and the TCM window. */
#include "firmware/model/model_internal.h"

#define REG_BY_WORD(name, offset, count, stride, h, c, kind, reset_value, bits) \
	[(offset) / 4] = { .host = NPU_REG_##h, .cp = NPU_REG_##c, \
			   .reset = reset_value, .mask = bits },

static const struct host_reg {
	u8 host;
	u8 cp;
	u32 reset;
	u32 mask;
} host_regs[NPU_HOST_WORDS] = {
	NPU_HOST_REGS(REG_BY_WORD)
};

static u32 *host_word(struct npu_model *m, u32 offset)
{
	return &m->host[offset / 4];
}

static void set_uuid(struct npu_model *m)
{
	u32 i;

	for (i = 0; i < 4; i++)
		*host_word(m, NPU_HOST_UUID0 + 4 * i) = npu_get_le32(m->cfg.uuid + 4 * i);
}

void npu_host_reset(struct npu_model *m)
{
	const struct npu_model_config *cfg = &m->cfg;
	u32 i;

	for (i = 0; i < NPU_HOST_WORDS; i++)
		m->host[i] = host_regs[i].reset;
	*host_word(m, NPU_HOST_REVISION) = cfg->revision;
	*host_word(m, NPU_HOST_FEATURES_LO) = cfg->features;
	*host_word(m, NPU_HOST_FEATURES_HI) = cfg->features >> 32;
	*host_word(m, NPU_HOST_TOPOLOGY) = cfg->cores << NPU_HOST_TOPOLOGY_CORES_SHIFT |
					   cfg->queues << NPU_HOST_TOPOLOGY_QUEUES_SHIFT |
					   cfg->cqs << NPU_HOST_TOPOLOGY_CQS_SHIFT;
	*host_word(m, NPU_HOST_CONTEXTS) = cfg->contexts;
	*host_word(m, NPU_HOST_CLOCK_KHZ) = cfg->clock_khz;
	*host_word(m, NPU_HOST_ADDRESS) = cfg->bus_bits << NPU_HOST_ADDRESS_BUS_BITS_SHIFT |
					  NPU_VA_BITS << NPU_HOST_ADDRESS_VA_BITS_SHIFT;
	*host_word(m, NPU_HOST_TCM_SIZE) = cfg->tcm_size;
	set_uuid(m);
	m->time_hi_host = 0;
	m->time_hi_cp = 0;
}

static u32 cp_status(const struct npu_model *m)
{
	u32 status = 0;

	if (m->cpu.halt == RV32_HALT_DOUBLE_TRAP)
		status |= NPU_HOST_CP_STATUS_HALTED_MASK;
	if (m->cpu.halt == RV32_HALT_NONE) {
		status |= NPU_HOST_CP_STATUS_RUNNING_MASK;
		if (m->cpu.wfi)
			status |= NPU_HOST_CP_STATUS_WFI_MASK;
	}
	return status;
}

static u32 host_read(struct npu_model *m, u32 offset, u32 *time_hi)
{
	u64 now;

	if (offset / 4 >= NPU_HOST_WORDS)
		return 0;
	switch (offset) {
	case NPU_HOST_TIME_LO:
		now = npu_now(m);
		*time_hi = now >> 32;
		return now;
	case NPU_HOST_TIME_HI:
		return *time_hi;
	case NPU_HOST_CP_STATUS:
		return cp_status(m);
	default:
		return m->host[offset / 4];
	}
}

static void set_cp_run(struct npu_model *m, bool run)
{
	bool runs = m->host[NPU_HOST_CP_CONTROL / 4] & NPU_HOST_CP_CONTROL_RUN_MASK;

	if (run == runs)
		return;
	m->host[NPU_HOST_CP_CONTROL / 4] = run ? NPU_HOST_CP_CONTROL_RUN_MASK : 0;
	if (run)
		rv32_reset(&m->cpu, m->host[NPU_HOST_CP_ENTRY / 4]);
	else
		rv32_halt(&m->cpu);
}

static void host_write(struct npu_model *m, u32 offset, u32 value)
{
	const struct host_reg *reg;

	if (offset / 4 >= NPU_HOST_WORDS)
		return;
	reg = &host_regs[offset / 4];
	if (reg->host != NPU_REG_RW && reg->host != NPU_REG_W1C)
		return;
	value &= reg->mask;
	switch (offset) {
	case NPU_HOST_CP_CONTROL:
		set_cp_run(m, value & NPU_HOST_CP_CONTROL_RUN_MASK);
		break;
	case NPU_HOST_RESET:
		/* It is over before anyone could read the register. */
		if (value == NPU_RESET_KEY)
			npu_model_reset(m);
		break;
	case NPU_HOST_IRQ_MASK:
		npu_irq_set_mask(m, value);
		break;
	default:
		if (reg->host == NPU_REG_W1C)
			m->host[offset / 4] &= ~value;
		else
			m->host[offset / 4] = value;
	}
}

u32 npu_host_read_cp(struct npu_model *m, u32 offset)
{
	return host_read(m, offset, &m->time_hi_cp);
}

void npu_host_write_cp(struct npu_model *m, u32 offset, u32 value)
{
	if (offset / 4 < NPU_HOST_WORDS && host_regs[offset / 4].cp == NPU_REG_RW)
		m->host[offset / 4] = value & host_regs[offset / 4].mask;
}

/* The place in TCM that @offset of the register region shows, if it does now. */
static u8 *tcm_window(struct npu_model *m, u32 offset)
{
	if (offset < NPU_TCM_WINDOW || offset - NPU_TCM_WINDOW >= m->cfg.tcm_size)
		return NULL;
	if (m->host[NPU_HOST_CP_CONTROL / 4] & NPU_HOST_CP_CONTROL_RUN_MASK)
		return NULL;
	return m->tcm + (offset - NPU_TCM_WINDOW);
}

u32 npu_model_reg_read(struct npu_model *m, u32 offset)
{
	const u8 *tcm;

	if (offset % 4)
		return 0;
	tcm = tcm_window(m, offset);
	return tcm ? npu_get_le32(tcm) : host_read(m, offset, &m->time_hi_host);
}

void npu_model_reg_write(struct npu_model *m, u32 offset, u32 value)
{
	u8 *tcm;

	if (offset % 4)
		return;
	tcm = tcm_window(m, offset);
	if (!tcm) {
		host_write(m, offset, value);
		return;
	}
	npu_put_le32(tcm, value);
	rv32_tcm_written(&m->cpu, NPU_TCM_BASE + (offset - NPU_TCM_WINDOW), 4);
}
