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

static void ended(u32 channel, const struct dma_end *end)
{
	switch (channel) {
	case DMA_FETCH:
		fetch_done(end);
		break;
	case DMA_CQ:
		finish_cq_done(end);
		break;
	case DMA_AUX:
		aux_done(end);
		break;
	case DMA_SHADOW:
		shadow_done(end);
		break;
	}
}

void dma_events(void)
{
	u32 base, channel, status, busy = fw.dma_busy;
	struct dma_end end;

	for (; busy; busy &= busy - 1) {
		channel = lowest_bit(busy);
		base = NPU_CP_DMA + channel * NPU_CP_DMA_STRIDE;
		status = reg_read(base + NPU_DMA_STATUS);
		if (!(status & ENDED))
			continue;
		end.fault = 0;
		end.va = 0;
		if (status & NPU_DMA_STATUS_ERROR_MASK) {
			end.fault = (status & NPU_DMA_STATUS_FAULT_MASK) >>
				    NPU_DMA_STATUS_FAULT_SHIFT;
			end.va = reg_read(base + NPU_DMA_FAULT_LO) |
				 (u64)reg_read(base + NPU_DMA_FAULT_HI) << 32;
		}
		reg_write(base + NPU_DMA_STATUS, ENDED);
		fw.dma_busy &= ~(1u << channel);
		ended(channel, &end);
	}
}
