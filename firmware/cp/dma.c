// SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 OR MIT
/* DMA channels. */
#include "firmware/cp/fw.h"

#define ENDED	(NPU_DMA_STATUS_DONE_MASK | NPU_DMA_STATUS_ERROR_MASK)

void dma_start(u32 channel, u32 context, u64 host, const void *local, u32 len, bool to_host)
{
	u32 base = NPU_CP_DMA + channel * NPU_CP_DMA_STRIDE;

	reg_write(base + NPU_DMA_HOST_LO, host);
	reg_write(base + NPU_DMA_HOST_HI, host >> 32);
	reg_write(base + NPU_DMA_LOCAL, (u32)local);
	reg_write(base + NPU_DMA_LENGTH, len);
	reg_write(base + NPU_DMA_CONTEXT, context);
	fw.dma_busy |= 1u << channel;
	reg_write(base + NPU_DMA_CONTROL,
		  NPU_DMA_CONTROL_START_MASK | (to_host ? NPU_DMA_CONTROL_TO_HOST_MASK : 0));
}

static __always_inline void look_at(u32 busy, u32 channel,
				    void (*ended)(const struct dma_end *end))
{
	u32 base = NPU_CP_DMA + channel * NPU_CP_DMA_STRIDE;
	struct dma_end end = { 0 };
	u32 status;

	if (!(busy & 1u << channel))
		return;
	status = reg_read(base + NPU_DMA_STATUS);
	if (!(status & ENDED))
		return;
	if (status & NPU_DMA_STATUS_ERROR_MASK) {
		end.fault = (status & NPU_DMA_STATUS_FAULT_MASK) >> NPU_DMA_STATUS_FAULT_SHIFT;
		end.va = reg_read(base + NPU_DMA_FAULT_LO) |
			 (u64)reg_read(base + NPU_DMA_FAULT_HI) << 32;
	}
	reg_write(base + NPU_DMA_STATUS, ENDED);
	fw.dma_busy &= ~(1u << channel);
	ended(&end);
}

void dma_events(void)
{
	u32 busy = fw.dma_busy;

	look_at(busy, DMA_FETCH, fetch_done);
	look_at(busy, DMA_CQ, finish_cq_done);
	look_at(busy, DMA_AUX, aux_done);
	look_at(busy, DMA_SHADOW, shadow_done);
}
