/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The seam between the driver and whatever carries its accesses to a device.
 */
#ifndef NPU_HW_H
#define NPU_HW_H

#include <linux/auxiliary_bus.h>
#include <linux/container_of.h>
#include <linux/device.h>
#include <linux/types.h>

struct npu_hw;

/**
 * typedef npu_hw_irq - takes an interrupt
 * @data: as given to irq_request
 * @vector: vector that was raised
 *
 * May be called from any context, hard interrupts included, and for several
 * vectors at a time. It neither sleeps nor calls an operation of struct
 * npu_hw_ops other than doorbell.
 */
typedef void (*npu_hw_irq)(void *data, u32 vector);

/**
 * struct npu_hw_ops - operations of a transport
 * @reg_read: read a register, or a word of the TCM window; all ones when the
 *	device is gone.
 *	Process context, may sleep, allocates nothing.
 * @reg_write: write a register, or a word of the TCM window. Context as
 *	@reg_read. Ordered with earlier writes and doorbells.
 * @doorbell: write doorbell @index; any context. Earlier writes to memory are
 *	visible to the device before it.
 * @irq_request: start to deliver interrupts of vectors 0 to @vectors - 1. May
 *	allocate. 0 or a negative errno.
 * @irq_free: stop to deliver interrupts; when it returns no handler runs any
 *	more. May sleep.
 */
struct npu_hw_ops {
	u32 (*reg_read)(struct npu_hw *hw, u32 offset);
	void (*reg_write)(struct npu_hw *hw, u32 offset, u32 value);
	void (*doorbell)(struct npu_hw *hw, u32 index, u32 value);
	int (*irq_request)(struct npu_hw *hw, u32 vectors, npu_hw_irq handler, void *data);
	void (*irq_free)(struct npu_hw *hw);
};

/**
 * struct npu_hw - a device as its transport presents it
 * @ops: operations
 * @dev: parent of the DRM device; does DMA on the device's behalf
 * @transport: whatever @ops need
 * @patience_ms: how long a device of this kind may show no sign of life while
 *	it works, before it counts as hung
 */
struct npu_hw {
	const struct npu_hw_ops *ops;
	struct device *dev;
	void *transport;
	u32 patience_ms;
};

/**
 * struct npu_hw_aux - a device on the auxiliary bus
 * @adev: base
 * @dma_parms: of its device
 * @hw: what the driver sees
 */
struct npu_hw_aux {
	struct auxiliary_device adev;
	struct device_dma_parameters dma_parms;
	struct npu_hw hw;
};

static inline struct npu_hw_aux *to_npu_hw_aux(struct auxiliary_device *adev)
{
	return container_of(adev, struct npu_hw_aux, adev);
}

struct npu_hw_aux *npu_hw_aux_create(struct device *parent, u32 id,
				     const struct npu_hw_ops *ops, void *transport);

#endif
