// SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 OR MIT
/*
 * ABORT of a job that waits: its entry is marked, and ends when its turn has
 * come. Entries that are still in the ring are looked through there.
 */
#include "firmware/cp/admin.h"

static struct npu_job_sqe chunk[SCAN_ENTRIES];

static u32 mark(struct queue *q, u32 index)
{
	if (!mark_add(q, index))
		return NPU_ADMIN_STATUS_BUSY;
	if (q->buffered)
		queue_reconsider(q);
	return NPU_ADMIN_STATUS_OK;
}

static bool is_it(const struct queue *q, const struct npu_job_sqe *sqe, u32 index)
{
	return sqe->cmd_id == admin.sqe.arg0 && !mark_present(q, index);
}

static void read_chunk(const struct queue *q)
{
	u32 size = 1u << q->log_size, at = admin.index & (size - 1);
	u32 n = q->tail - admin.index;

	if (n > SCAN_ENTRIES)
		n = SCAN_ENTRIES;
	if (n > size - at)
		n = size - at;
	admin.chunk = n;
	admin_dma(q->space, q->ring + at * sizeof(chunk[0]), chunk, n * sizeof(chunk[0]), false);
}

static u32 search_buffer(struct queue *q)
{
	const struct npu_job_sqe *sqe;

	for (; admin.index != q->fetched; admin.index++) {
		sqe = &q->buf[admin.index & (fw.buffer_entries - 1)];
		if (is_it(q, sqe, admin.index))
			return mark(q, admin.index);
	}
	return ADMIN_PENDING;
}

static u32 search_chunk(struct queue *q)
{
	u32 i, n = admin.chunk;

	admin.chunk = 0;
	if (admin.end.fault) {
		admin.result0 = admin.end.fault;
		admin.result1 = admin.end.va;
		return NPU_ADMIN_STATUS_DMA_ERROR;
	}
	for (i = 0; i < n; i++, admin.index++)
		if (is_it(q, &chunk[i], admin.index))
			return mark(q, admin.index);
	return ADMIN_PENDING;
}

/* Polled with admin.index at the first entry that waits. */
u32 abort_waiting(void)
{
	struct queue *q = admin.queue;
	u32 status = ADMIN_PENDING;

	if (admin.dma_wanted)
		return ADMIN_PENDING;
	if (admin.chunk)
		status = search_chunk(q);
	else if ((s32)(admin.index - q->fetched) < 0)
		status = search_buffer(q);
	if (status != ADMIN_PENDING)
		return status;
	/* A fault of the ring may have taken the tail back. */
	if ((s32)(q->tail - admin.index) <= 0)
		return NPU_ADMIN_STATUS_NOT_FOUND;
	read_chunk(q);
	return ADMIN_PENDING;
}
