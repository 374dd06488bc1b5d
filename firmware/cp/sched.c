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

const u8 highest_priority[1u << NPU_PRIORITIES] = {
	0, 0, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 3, 3, 3, 3,
};

static struct core *victim(u32 priority, u32 mask)
{
	u32 lowest = priority, p;
	struct core *c, *best = NULL;

	for (mask &= ~claimed & ~fw.core_idle & ~fw.core_stopping; mask; mask &= mask - 1) {
		c = &fw.core[lowest_bit(mask)];
		p = c->job->queue->priority;
		if (p >= priority)
			continue;
		/* One that was asked before is as good as any. */
		if (fw.core_asked & c->bit)
			return c;
		if (p < lowest) {
			lowest = p;
			best = c;
		}
	}
	return best;
}

/* Claims a core for a job; false: there is none to be had. */
static bool claim(u32 priority, u32 mask)
{
	struct core *c;

	if (!(fw.features & NPU_FW_FEATURE_PREEMPT))
		return false;
	c = victim(priority, mask);
	if (!c)
		return false;
	claimed |= c->bit;
	if (!(fw.core_asked & c->bit))
		core_request_yield(c);
	return true;
}

static void claim_for_entries(const struct queue *q)
{
	u32 n = q->buffered;

	while (n-- && claim(q->priority, q->core_mask))
		;
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
			core_resume(&fw.core[lowest_bit(cores)], job);
		} else {
			claim(priority, job->queue->core_mask);
		}
	}
}

/* Into ready or paused. */
void schedule_push(struct list *list, struct node *node, u32 priority)
{
	list_push(list, node);
	fw.ready_mask |= 1u << priority;
	fw.sole = NULL;
	fw.work |= WORK_SCHED;
}

/* The next entry of @q, which is in ready, is none that needs a core. */
noinline void schedule_left(struct queue *q)
{
	fw.sole = NULL;
	list_remove(&fw.ready[q->priority], &q->ready);
	queue_update(q);
}

static void start_next(struct core *c, struct queue *q, struct list *list)
{
	core_start(c, q);
	queue_take(q);
	queue_want_fetch(q);
	if (!q->buffered || job_is_quick(q)) {
		schedule_left(q);
	} else if (list->head->next) {
		list_remove(list, &q->ready);
		list_push(list, &q->ready);
	}
}

static void place_ready(u32 priority)
{
	struct list *list = &fw.ready[priority];
	struct node *node, *next;
	struct queue *q;
	u32 cores;

	for (node = list->head; node; node = next) {
		next = node->next;
		q = entry_of(node, struct queue, ready);
		cores = fw.core_idle & q->core_mask;
		if (cores)
			start_next(&fw.core[lowest_bit(cores)], q, list);
		/* A queue by itself stays where it is, and may have more. */
		if (cores && !next && fw.core_idle & q->core_mask)
			next = list->head;
		else if (priority && node->on && !(fw.core_idle & q->core_mask))
			claim_for_entries(q);
		/* Behind a long list nothing can be had any more. */
		if (!fw.core_idle && (!priority || claimed == fw.core_all))
			break;
	}
}

static struct queue *find_sole(void)
{
	u32 mask = fw.ready_mask, p = highest_priority[mask];
	struct node *node = fw.ready[p].head;
	struct queue *q;

	if (!mask || mask & (mask - 1) || !node || node->next)
		return NULL;
	if (fw.quick.head || fw.paused[p].head || fw.core_stopping || fw.core_asked)
		return NULL;
	q = entry_of(node, struct queue, ready);
	return q->killing || q->marks ? NULL : q;
}

void schedule(void)
{
	u32 p, mask;

	if (fw.quick.head)
		job_run_quick();
	claimed = 0;
	for (mask = fw.ready_mask; mask; mask &= ~(1u << p)) {
		p = highest_priority[mask];
		if (!fw.core_idle && !p)
			break;
		if (fw.paused[p].head)
			place_paused(p);
		if (fw.ready[p].head)
			place_ready(p);
		if (!fw.paused[p].head && !fw.ready[p].head)
			fw.ready_mask &= ~(1u << p);
	}
	fw.sole = find_sole();
}
