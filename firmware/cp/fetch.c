// SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 OR MIT
/* Moves submission entries into the buffers of their queues, several at once. */
#include "firmware/cp/fw.h"

static struct queue *current;
static u32 count;

static struct queue *next_queue(void)
{
	u32 p = ADMIN_PRIORITY;
	struct node *node;

	if (!(fw.fetch_mask & 1u << ADMIN_PRIORITY))
		p = highest_priority[fw.fetch_mask];
	node = list_pop(&fw.fetch[p]);
	if (!fw.fetch[p].head)
		fw.fetch_mask &= ~(1u << p);
	return node ? entry_of(node, struct queue, fetch) : NULL;
}

static u32 least(u32 a, u32 b)
{
	return a < b ? a : b;
}

/* Only when queue_may_fetch() and the channel is free. */
void fetch_start(struct queue *q)
{
	u32 place = q->fetched & ((1u << q->log_size) - 1);
	u32 slot = q->fetched & (fw.buffer_entries - 1);

	/* Neither the ring nor the buffer wraps within a transfer. */
	count = least(q->tail - q->fetched, fw.buffer_entries - q->buffered);
	count = least(count, (1u << q->log_size) - place);
	count = least(count, fw.buffer_entries - slot);
	q->fetching = true;
	current = q;
	dma_start(DMA_FETCH, q->space, q->ring + place * sizeof(struct npu_job_sqe),
		  &q->buf[slot], count * sizeof(struct npu_job_sqe), false);
}

void fetch_kick(void)
{
	struct queue *q;

	while (fw.fetch_mask && !dma_is_busy(DMA_FETCH)) {
		q = next_queue();
		if (q && queue_may_fetch(q))
			fetch_start(q);
	}
}

static void check_entries(struct queue *q)
{
	struct npu_job_sqe *sqe = &q->buf[q->fetched & (fw.buffer_entries - 1)];
	u32 i;

	/* reserved0 holds the verdict from here on. */
	for (i = 0; i < count; i++, sqe++)
		sqe->reserved0 = job_check(sqe);
}

void fetch_done(const struct dma_end *end)
{
	struct queue *q = current;

	if (fw.fetch_mask)
		fw.work |= WORK_FETCH;
	q->fetching = false;
	if (end->fault) {
		queue_fault(q, end, NPU_ACCESS_READ);
		return;
	}
	if (q->id)
		check_entries(q);
	q->fetched += count;
	q->buffered += count;
	queue_want_fetch(q);
	queue_update(q);
}
