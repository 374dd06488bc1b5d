// SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 OR MIT
/*
 * Which job runs where: the highest priority first; within one, paused jobs
 * first and then queues in turn, one job each. A job that finds no core asks
 * for the one with the lowest priority below its own, at its next YIELD.
 *
 * Paused jobs coming first bounds their number: a core leaves at most one of
 * each priority behind. JOBS_PER_CORE relies on that.
 */
#include "firmware/cp/fw.h"

/* Cores whose YIELD a job of this pass waits for already. */
static u32 claimed;

static u32 victim(u32 priority, u32 mask)
{
	u32 n, best = NPU_MAX_CORES, lowest = priority;

	for (n = 0; n < fw.cores; n++) {
		const struct core *c = &fw.core[n];

		if (!(mask & ~claimed & 1u << n) || c->use != CORE_BUSY)
			continue;
		if (c->job->queue->priority >= priority)
			continue;
		/* One that was asked before is as good as any. */
		if (c->yield)
			return n;
		if (c->job->queue->priority < lowest) {
			lowest = c->job->queue->priority;
			best = n;
		}
	}
	return best;
}

static void claim(u32 priority, u32 mask)
{
	u32 n;

	if (!(fw.features & NPU_FW_FEATURE_PREEMPT))
		return;
	n = victim(priority, mask);
	if (n == NPU_MAX_CORES)
		return;
	claimed |= 1u << n;
	if (!fw.core[n].yield)
		core_request_yield(n);
}

static void place_paused(u32 priority)
{
	struct node *node, *next;
	struct job *job;
	u32 cores;

	for (node = fw.paused[priority].head; node; node = next) {
		next = node->next;
		job = entry_of(node, struct job, node);
		cores = fw.core_idle & job->queue->core_mask;
		if (cores) {
			list_remove(&fw.paused[priority], node);
			core_resume(lowest_bit(cores), job);
		} else {
			claim(priority, job->queue->core_mask);
		}
	}
}

static void place_ready(u32 priority)
{
	struct node *node, *next;
	struct queue *q;
	u32 cores;

	for (node = fw.ready[priority].head; node; node = next) {
		next = node->next;
		q = entry_of(node, struct queue, ready);
		cores = fw.core_idle & q->core_mask;
		if (cores && fw.free_jobs.head) {
			list_remove(&fw.ready[priority], node);
			core_start(lowest_bit(cores), q);
			queue_consumed(q);
		} else if (!cores) {
			claim(priority, q->core_mask);
		}
		/* Behind a long list nothing can be had any more. */
		if (!fw.core_idle && (!priority || claimed == (1u << fw.cores) - 1))
			break;
	}
}

void schedule(void)
{
	s32 p;

	job_run_quick();
	claimed = 0;
	for (p = NPU_PRIORITIES - 1; p >= 0; p--) {
		if (fw.paused[p].head)
			place_paused(p);
		if (fw.ready[p].head)
			place_ready(p);
	}
}
