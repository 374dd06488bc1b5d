// SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 OR MIT
/* DMA_AUX is shared: job reports first, then admin operations, then events. */
#include "firmware/cp/fw.h"

static u32 owner;

void aux_start(u32 who, u32 context, u64 host, const void *local, u32 len, bool to_host)
{
	owner = who;
	dma_start(DMA_AUX, context, host, local, len, to_host);
}

void aux_kick(void)
{
	if (!dma_is_busy(DMA_AUX))
		finish_kick_report();
	if (!dma_is_busy(DMA_AUX))
		admin_kick_dma();
	if (!dma_is_busy(DMA_AUX))
		event_kick();
}

void aux_done(const struct dma_end *end)
{
	fw.work |= WORK_AUX;
	switch (owner) {
	case AUX_REPORT:
		finish_report_done(end);
		break;
	case AUX_ADMIN:
		admin_dma_done(end);
		break;
	case AUX_EVENT:
		event_done(end);
		break;
	}
}
