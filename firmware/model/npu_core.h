/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 OR MIT */
/*
 * The compute core: fetch, the load, compute and store units with their token
 * queues, and the CORE register block. The manual says what it does
 * (Documentation/hardware/instruction-set.rst) and when (timing.rst).
 *
 * Freestanding: no allocation, no global state that changes, no floating
 * point, no recursion. Any number of cores may exist side by side; all calls
 * on one core must be serialised by its owner.
 */
#ifndef FIRMWARE_MODEL_NPU_CORE_H
#define FIRMWARE_MODEL_NPU_CORE_H

#include "firmware/model/npu_types.h"
#include "npu_proto.h"
#include "npu_regs.h"

struct npu_core;
struct npu_core_kernels;

/**
 * struct npu_core_mem - the memory that a core reaches
 * @opaque: first argument of the callbacks
 * @read: copies @len bytes at virtual address @va of @context to @buf. @access
 *	is %NPU_ACCESS_READ or %NPU_ACCESS_EXECUTE.
 * @write: copies @len bytes of @buf to @va of @context
 *
 * Both return 0, or a NPU_FAULT_* and then store the first address that
 * failed in *@fault_va; what lies before it may have been moved. @len is never
 * 0 and @va + @len never passes 2^64. They must not call into the core.
 */
struct npu_core_mem {
	void *opaque;
	u8 (*read)(void *opaque, u16 context, u64 va, void *buf, u32 len,
		   u8 access, u64 *fault_va);
	u8 (*write)(void *opaque, u16 context, u64 va, const void *buf, u32 len,
		    u64 *fault_va);
};

/**
 * npu_core_size - bytes of a core
 *
 * Return: size of the memory that npu_core_init() takes, about 1 MiB (750 KiB in
 * a kernel).
 */
size_t npu_core_size(void);

/**
 * npu_core_init - set up a core in reset state
 * @c: npu_core_size() bytes, aligned to 8 (64 is faster), of any content
 * @index: number of the core, which job reports carry
 * @features: NPU_HW_FEATURE_* bits; instructions without their bit are illegal
 * @mem: memory behind the MMU, copied
 *
 * The core computes with portable code until npu_core_set_kernels(). There is
 * nothing to undo.
 */
void npu_core_init(struct npu_core *c, u32 index, u64 features,
		   const struct npu_core_mem *mem);

/**
 * npu_core_set_kernels - choose the code that does the arithmetic
 * @c: the core, not running
 * @kernels: of npu_core_kernels_native() or npu_core_kernels_portable()
 *
 * Results and cycle counts are the same with all of them.
 */
void npu_core_set_kernels(struct npu_core *c,
			  const struct npu_core_kernels *kernels);

/**
 * npu_core_kernels_portable - arithmetic in plain integer C
 *
 * Return: the kernels that a core has from the start.
 */
const struct npu_core_kernels *npu_core_kernels_portable(void);

/**
 * npu_core_kernels_native - the fastest arithmetic that this processor runs
 *
 * In user space only (core_avx2.c). Thread-safe.
 *
 * Return: never NULL; npu_core_kernels_portable() where there is nothing
 * better.
 */
const struct npu_core_kernels *npu_core_kernels_native(void);

/**
 * npu_core_kernels_name - for people
 * @kernels: kernels
 *
 * Return: "portable", "avx2".
 */
const char *npu_core_kernels_name(const struct npu_core_kernels *kernels);

/**
 * npu_core_reset - device reset
 * @c: the core
 *
 * Every register gets its reset value and every SRAM element is invalid.
 */
void npu_core_reset(struct npu_core *c);

/**
 * npu_core_reg_read - read a register of the CORE block
 * @c: the core
 * @offset: offset in the block; a multiple of 4
 *
 * Return: its value, 0 where there is none.
 */
u32 npu_core_reg_read(const struct npu_core *c, u32 offset);

/**
 * npu_core_reg_write - write a register of the CORE block
 * @c: the core
 * @offset: offset in the block; a multiple of 4
 * @value: value
 * @now_tick: tick counter, for the report's ticks
 *
 * Writes where there is no writable register, and to job registers of a
 * running core, have no effect. A START is carried out by the next
 * npu_core_run().
 */
void npu_core_reg_write(struct npu_core *c, u32 offset, u32 value,
			u64 now_tick);

/**
 * npu_core_event - level of the core's interrupt source
 * @c: the core
 *
 * Return: bit 0 of EVENT.
 */
bool npu_core_event(const struct npu_core *c);

/**
 * npu_core_running - whether npu_core_run() would do anything
 * @c: the core
 *
 * Return: true in state RUNNING.
 */
bool npu_core_running(const struct npu_core *c);

/**
 * npu_core_run - let time pass
 * @c: the core
 * @max_cycles: bound; 0 carries out what is due at this cycle
 * @now_tick: tick counter at the first of these cycles
 *
 * Returns early when the core leaves RUNNING, so that the owner can act on
 * the event at the cycle where it arose. What the core does at which cycle
 * does not depend on how its time is cut into calls. The host's work is
 * bounded by @max_cycles and one burst of memory or 1024 micro-ops more.
 *
 * Return: cycles that passed, at most @max_cycles.
 */
u64 npu_core_run(struct npu_core *c, u64 max_cycles, u64 now_tick);

/**
 * npu_core_report_copy - bytes of the report window, for DMA
 * @c: the core
 * @offset: from the start of the window
 * @buf: takes the bytes, little endian as in memory
 * @len: bytes
 *
 * Return: false, with nothing copied, if the range leaves the window.
 */
bool npu_core_report_copy(const struct npu_core *c, u32 offset, void *buf,
			  u32 len);

#endif /* FIRMWARE_MODEL_NPU_CORE_H */
