// SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 OR MIT
/*
 * Shadow blocks. A visit writes event_idx, sq_head and progress, and reads
 * sq_tail when the write is done: a tail of after that rings the doorbell.
 */
#include "firmware/cp/fw.h"

static struct {
	u32 event_idx;
	u32 sq_head;
	u64 progress;
} block;

static_assert(sizeof(block) == offsetof(struct npu_shadow, reserved1) -
			       offsetof(struct npu_shadow, event_idx), "shadow block");

static struct queue *current;
static bool reading;
static u32 tail;

bool shadow_is_busy(const struct queue *q)
{
	return q->shadow_node.on || current == q;
}

static u64 report_cycles(const u32 *report)
{
	const u32 *word = report + offsetof(struct npu_job_report, cycles) / 4;

	return word[0] | (u64)word[1] << 32;
}

static u64 progress(const struct queue *q)
{
	u64 cycles = q->cycles;
	struct node *node;
	u32 n;

	if (!q->running)
		return cycles;
	for (n = 0; n < fw.cores; n++)
		if (core_runs(&fw.core[n], q))
			cycles += core_cycles(&fw.core[n]);
	for (node = fw.paused[q->priority].head; node; node = node->next) {
		struct job *job = entry_of(node, struct job, node);

		if (job->queue == q)
			cycles += report_cycles(job->report);
	}
	return cycles;
}

static void visit(struct queue *q)
{
	current = q;
	block.event_idx = q->fetched;
	block.sq_head = q->fetched;
	block.progress = progress(q);
	reading = false;
	dma_start(DMA_SHADOW, q->space, q->shadow + offsetof(struct npu_shadow, event_idx), &block,
		  sizeof(block), true);
}

void shadow_request(struct queue *q)
{
	if (!q->has_shadow || q->state != QUEUE_ACTIVE || q->shadow_node.on)
		return;
	if (!current)
		visit(q);
	else
		list_push(&fw.shadow, &q->shadow_node);
}

void shadow_kick(void)
{
	struct node *node;

	if (current)
		return;
	node = list_pop(&fw.shadow);
	if (node)
		visit(entry_of(node, struct queue, shadow_node));
}

static void read_tail(const struct queue *q)
{
	reading = true;
	dma_start(DMA_SHADOW, q->space, q->shadow + offsetof(struct npu_shadow, sq_tail), &tail,
		  sizeof(tail), false);
}

void shadow_done(const struct dma_end *end)
{
	struct queue *q = current;

	if (!end->fault && !reading) {
		read_tail(q);
		return;
	}
	current = NULL;
	if (end->fault)
		queue_fault(q, end, reading ? NPU_ACCESS_READ : NPU_ACCESS_WRITE);
	else if (q->state == QUEUE_ACTIVE)
		queue_new_tail(q, tail);
	if (fw.shadow.head)
		fw.work |= WORK_SHADOW;
}
