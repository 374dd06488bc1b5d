// SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 OR MIT
/*
 * The log: the last few things that were out of the ordinary. It lies in TCM,
 * which a reset keeps, so that a host can read it when the firmware is lost.
 */
#include "firmware/cp/fw.h"

static struct npu_log_entry entries[NPU_LOG_ENTRIES];
static u32 sequence;

void log_add(u32 what, u32 code, u32 queue, u32 arg0, u64 arg1)
{
	struct npu_log_entry *e = &entries[sequence % NPU_LOG_ENTRIES];

	/* No half entry is ever a whole one. */
	*(volatile u32 *)&e->sequence = 0;
	e->what = what;
	e->code = code;
	e->queue = queue;
	e->tick = read_ticks();
	e->arg0 = arg0;
	e->arg1 = arg1;
	*(volatile u32 *)&e->sequence = ++sequence;
}

void log_admin(const struct npu_admin_sqe *sqe, u32 status)
{
	if (status == NPU_ADMIN_STATUS_OK &&
	    (sqe->op == NPU_ADMIN_PING || sqe->op == NPU_ADMIN_TELEMETRY ||
	     sqe->op == NPU_ADMIN_LOG || sqe->op == NPU_ADMIN_TLB_INVALIDATE))
		return;
	log_add(NPU_LOG_ADMIN, sqe->op, sqe->queue, status, sqe->address);
}

void *log_bytes(void)
{
	return entries;
}
