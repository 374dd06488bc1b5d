/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 OR MIT */
/* State of a device, shared by the files that make up the system around the core. */
#ifndef FIRMWARE_MODEL_MODEL_INTERNAL_H
#define FIRMWARE_MODEL_MODEL_INTERNAL_H

#include "firmware/model/mmu.h"
#include "firmware/model/npu_core.h"
#include "firmware/model/npu_model.h"
#include "firmware/model/rv32.h"

#define NPU_NEVER	(~0ull)

/*
 * While the processor runs, cores follow it at multiples of this many ticks,
 * and sooner when it looks at one.
 */
#define NPU_QUANTUM	64u

#define NPU_HOST_WORDS	(NPU_HOST_IRQ_MASK / 4 + 1)
#define NPU_DB_WORDS	8u
#define NPU_DOORBELLS	(NPU_MAX_QUEUES + 1)

/* Access rights of a register, and of the registers of a block by word. */
enum npu_reg_access {
	NPU_REG_NONE,
	NPU_REG_RO,
	NPU_REG_RW,
	NPU_REG_WO,
	NPU_REG_W1C,
};

/**
 * struct npu_dma_channel - a DMA channel
 * @regs: HOST_LO to CONTEXT as written
 * @status: DONE and ERROR with FAULT; BUSY while @done_at is not NPU_NEVER
 * @fault_va: address of the last error
 * @host: of the transfer under way, taken at its start, as are those that follow
 * @local: address in TCM or in a report window
 * @length: bytes
 * @context: context of @host
 * @to_host: direction
 * @done_at: tick at which it ends
 */
struct npu_dma_channel {
	u32 regs[NPU_DMA_CONTROL / 4];
	u32 status;
	u64 fault_va;
	u64 host;
	u32 local;
	u32 length;
	u32 context;
	bool to_host;
	u64 done_at;
};

/**
 * struct npu_core_slot - a core in the device
 * @core: the core
 * @time: tick up to which it has been run
 */
struct npu_core_slot {
	struct npu_core *core;
	u64 time;
};

/**
 * struct npu_model - a device
 * @cfg: configuration
 * @ops: bus
 * @opaque: first argument of @ops
 * @now: tick counter; during a slice of the processor, at its begin
 * @slice_cycles: the processor's cycles at @now
 * @mtimecmp: timer
 * @irq_enable: SYS.IRQ_ENABLE
 * @irq_pending: SYS.IRQ_PENDING
 * @time_hi_host: what HOST.TIME_HI reads on the bus
 * @time_hi_cp: what HOST.TIME_HI reads on the processor
 * @mtime_hi: what SYS.MTIME_HI reads
 * @host: HOST registers that are plain storage
 * @db_pending: doorbells written since cleared
 * @db_value: last value of each
 * @dma: DMA channels
 * @mmu: MMU block
 * @cores: compute cores
 * @tcm: tightly coupled memory
 * @cpu: control processor
 */
struct npu_model {
	struct npu_model_config cfg;
	const struct npu_bus_ops *ops;
	void *opaque;
	u64 now;
	u64 slice_cycles;
	u64 mtimecmp;
	u32 irq_enable;
	u32 irq_pending;
	u32 time_hi_host;
	u32 time_hi_cp;
	u32 mtime_hi;
	u32 host[NPU_HOST_WORDS];
	u32 db_pending[NPU_DB_WORDS];
	u32 db_value[NPU_DOORBELLS];
	struct npu_dma_channel dma[NPU_DMA_CHANNELS];
	struct npu_mmu mmu;
	struct npu_core_slot cores[NPU_MAX_CORES];
	u8 *tcm;
	struct rv32 cpu;
};

/* model.c */
u64 npu_now(const struct npu_model *m);
void npu_model_reset(struct npu_model *m);
void npu_core_catch_up(struct npu_model *m, u32 core, u64 tick);

/* soc_irq.c: everything that makes interrupts of the processor and the host. */
void npu_irq_update(struct npu_model *m);
void npu_irq_raise_host(struct npu_model *m, u32 vector);
void npu_irq_set_mask(struct npu_model *m, u32 mask);
u32 npu_sys_read(struct npu_model *m, u32 offset);
void npu_sys_write(struct npu_model *m, u32 offset, u32 value);
u32 npu_db_read(const struct npu_model *m, u32 offset);
void npu_db_write(struct npu_model *m, u32 offset, u32 value);

/* soc_host.c */
void npu_host_reset(struct npu_model *m);
u32 npu_host_read_cp(struct npu_model *m, u32 offset);
void npu_host_write_cp(struct npu_model *m, u32 offset, u32 value);

/* soc_cp.c */
extern const struct rv32_bus npu_cp_bus;

/* dma.c */
void npu_dma_reset(struct npu_model *m);
u32 npu_dma_read(const struct npu_model *m, u32 offset);
void npu_dma_write(struct npu_model *m, u32 offset, u32 value);
bool npu_dma_irq(const struct npu_model *m);
u64 npu_dma_next(const struct npu_model *m);
void npu_dma_complete(struct npu_model *m);

#endif /* FIRMWARE_MODEL_MODEL_INTERNAL_H */
