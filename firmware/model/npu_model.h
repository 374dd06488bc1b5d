/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 OR MIT */
/*
 * The whole device: control processor, TCM, registers, doorbells, DMA block,
 * MMU and compute cores. Bodies (a kernel module, a PCI device process, a
 * library in a process) wrap it with a bus and with interrupts.
 *
 * Freestanding: no allocation, no global state, no floating point. Devices
 * share nothing. Calls on one device are serialised by the caller, and no
 * callback calls back into the device.
 *
 * Time is one tick counter. An instruction of the control processor takes one
 * tick, as does a cycle of a core. Time advances only in npu_model_run(), and
 * stands still while nothing is pending. What happens at which tick depends
 * on the ticks at which registers and doorbells were written, not on how
 * runs were cut; a job's cycles do not even depend on those.
 */
#ifndef FIRMWARE_MODEL_NPU_MODEL_H
#define FIRMWARE_MODEL_NPU_MODEL_H

#include "firmware/model/npu_types.h"

#define NPU_MODEL_ALIGN		64u

/**
 * struct npu_bus_ops - what a body gives a device
 * @map: direct pointer to the @len bytes at @bus_addr, all within one 4 KiB
 *	page, for reading and writing; NULL where there is none, or the bus
 *	refuses the address. The device keeps pointers to whole pages until the
 *	firmware invalidates the translation they belong to, the device is
 *	reset, or the body calls npu_model_bus_changed(). May be NULL.
 * @read: used where @map gives NULL; non-zero is a bus error. @len is at most
 *	4096, within one page. May be NULL: every such access fails.
 * @write: likewise
 * @irq: vector @vector is raised: it was set in IRQ_STATUS and is not masked,
 *	or it is pending and was unmasked just now
 * @debug_char: the firmware wrote @c to its debug console; may be NULL
 *
 * Called from npu_model_run() and npu_model_reg_write() alone.
 */
struct npu_bus_ops {
	void *(*map)(void *opaque, u64 bus_addr, u32 len);
	int (*read)(void *opaque, u64 bus_addr, void *buf, u32 len);
	int (*write)(void *opaque, u64 bus_addr, const void *buf, u32 len);
	void (*irq)(void *opaque, u32 vector);
	void (*debug_char)(void *opaque, u8 c);
};

/**
 * struct npu_model_config - what device it is
 * @cores: compute cores, 1 to NPU_MAX_CORES
 * @queues: job queue slots, 1 to NPU_MAX_QUEUES
 * @cqs: completion rings and vectors, 1 to NPU_MAX_CQS
 * @contexts: contexts with context 0, 2 to NPU_MAX_CONTEXTS
 * @clock_khz: what CLOCK_KHZ shows, not 0
 * @tcm_size: bytes of TCM, a multiple of 4096 up to NPU_TCM_MAX_SIZE
 * @bus_bits: bits of a bus address, 32 to 56
 * @revision: what REVISION shows
 * @features: NPU_HW_FEATURE_*
 * @uuid: unique id
 */
struct npu_model_config {
	u32 cores;
	u32 queues;
	u32 cqs;
	u32 contexts;
	u32 clock_khz;
	u32 tcm_size;
	u32 bus_bits;
	u32 revision;
	u64 features;
	u8 uuid[16];
};

struct npu_core_kernels;
struct npu_model;

/**
 * npu_model_default_config - one core, 64 queues, all features, 1 GHz
 * @cfg: filled in; the uuid is zeros
 */
void npu_model_default_config(struct npu_model_config *cfg);

/**
 * npu_model_size - memory that a device takes
 * @cfg: its configuration
 *
 * Return: bytes, or 0 if @cfg breaks a rule of struct npu_model_config.
 */
size_t npu_model_size(const struct npu_model_config *cfg);

/**
 * npu_model_init - bring a device into reset state
 * @m: npu_model_size() bytes, aligned to NPU_MODEL_ALIGN, any contents
 * @cfg: configuration, copied
 * @ops: bus, kept by the caller for the device's life
 * @opaque: first argument of @ops
 *
 * TCM is zeroed.
 *
 * Return: 0, or -EINVAL.
 */
int npu_model_init(struct npu_model *m, const struct npu_model_config *cfg,
		   const struct npu_bus_ops *ops, void *opaque);

/**
 * npu_model_fini - end a device
 * @m: device; its memory may be freed afterwards. No callback follows.
 */
void npu_model_fini(struct npu_model *m);

/**
 * npu_model_reg_read - a host's load from the register region
 * @m: device
 * @offset: byte offset; a misaligned one, or one beyond the region, reads 0
 */
u32 npu_model_reg_read(struct npu_model *m, u32 offset);

/**
 * npu_model_reg_write - a host's store to the register region
 * @m: device
 * @offset: byte offset; a misaligned one, or one beyond the region, is ignored
 * @value: what is written
 */
void npu_model_reg_write(struct npu_model *m, u32 offset, u32 value);

/**
 * npu_model_doorbell - a host's store to doorbell @index
 * @m: device
 * @index: beyond TOPOLOGY.QUEUES it is ignored
 * @value: new tail
 */
void npu_model_doorbell(struct npu_model *m, u32 index, u32 value);

/**
 * npu_model_run - let time pass
 * @m: device
 * @budget: bound of the host's work, in ticks on which a core or the control
 *	processor is busy; rounded up to a whole quantum of 64
 *
 * Return: true if there is more to do; false if nothing happens until the next
 * register or doorbell write.
 */
bool npu_model_run(struct npu_model *m, u32 budget);

/**
 * npu_model_set_kernels - choose the code that does the cores' arithmetic
 * @m: device of which no core runs
 * @kernels: see npu_core.h; results and cycles are the same with all
 */
void npu_model_set_kernels(struct npu_model *m,
			   const struct npu_core_kernels *kernels);

/**
 * npu_model_bus_changed - what the bus maps where has changed
 * @m: device
 *
 * Drops every pointer that @map gave; translations stay.
 */
void npu_model_bus_changed(struct npu_model *m);

/**
 * npu_model_ticks - the tick counter
 * @m: device
 */
u64 npu_model_ticks(const struct npu_model *m);

/**
 * npu_model_cp_insns - instructions that the control processor has retired
 * @m: device; counted since CP_CONTROL.RUN became 1
 */
u64 npu_model_cp_insns(const struct npu_model *m);

#endif /* FIRMWARE_MODEL_NPU_MODEL_H */
