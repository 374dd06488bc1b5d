// SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 OR MIT
/* What the control processor sees outside TCM. */
#include "firmware/model/model_internal.h"

#define BLOCK_SIZE	0x1000u

/* The core whose block @addr is in; false if there is none. */
static bool core_of(const struct npu_model *m, u32 addr, u32 *core, u32 *offset)
{
	if (addr < NPU_CP_CORE)
		return false;
	*core = (addr - NPU_CP_CORE) / NPU_CP_CORE_STRIDE;
	*offset = (addr - NPU_CP_CORE) % NPU_CP_CORE_STRIDE;
	return *core < m->cfg.cores;
}

static int cp_read(void *opaque, u32 addr, u32 size, u32 *val)
{
	struct npu_model *m = opaque;
	u32 core, offset = addr % BLOCK_SIZE;

	if (size != 4)
		return -EFAULT;
	switch (addr - offset) {
	case NPU_CP_SYS:
		*val = npu_sys_read(m, offset);
		return 0;
	case NPU_CP_HOST:
		*val = npu_host_read_cp(m, offset);
		return 0;
	case NPU_CP_DOORBELL:
		*val = npu_db_read(m, offset);
		return 0;
	case NPU_CP_MMU:
		*val = npu_mmu_reg_read(&m->mmu, offset);
		return 0;
	case NPU_CP_DMA:
		*val = npu_dma_read(m, offset);
		return 0;
	}
	if (!core_of(m, addr, &core, &offset))
		return -EFAULT;
	npu_core_catch_up(m, core, npu_now(m));
	npu_irq_update(m);
	*val = npu_core_reg_read(m->cores[core].core, offset);
	return 0;
}

/*
 * All cores come to this tick before anything that they can notice changes:
 * a core must not use a translation after it has been dropped.
 */
static void cores_catch_up(struct npu_model *m)
{
	u32 i;

	for (i = 0; i < m->cfg.cores; i++)
		npu_core_catch_up(m, i, npu_now(m));
}

static int cp_write(void *opaque, u32 addr, u32 size, u32 val)
{
	struct npu_model *m = opaque;
	u32 core, offset = addr % BLOCK_SIZE;

	if (size != 4)
		return -EFAULT;
	switch (addr - offset) {
	case NPU_CP_SYS:
		npu_sys_write(m, offset, val);
		return 0;
	case NPU_CP_HOST:
		npu_host_write_cp(m, offset, val);
		return 0;
	case NPU_CP_DOORBELL:
		npu_db_write(m, offset, val);
		return 0;
	case NPU_CP_MMU:
		cores_catch_up(m);
		npu_mmu_reg_write(&m->mmu, offset, val);
		return 0;
	case NPU_CP_DMA:
		npu_dma_write(m, offset, val);
		return 0;
	}
	if (!core_of(m, addr, &core, &offset))
		return -EFAULT;
	npu_core_catch_up(m, core, npu_now(m));
	npu_core_reg_write(m->cores[core].core, offset, val, npu_now(m));
	npu_irq_update(m);
	return 0;
}

const struct rv32_bus npu_cp_bus = {
	.read = cp_read,
	.write = cp_write,
};
