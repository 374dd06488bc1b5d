// SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 OR MIT
/* Cores: starting, stopping and saving them. */
#include "firmware/cp/fw.h"

static volatile u32 *window(const struct core *c)
{
	return (volatile u32 *)(c->base + NPU_CORE_REPORT(0));
}

static u32 state(const struct core *c)
{
	return core_read(c, STATUS) & NPU_CORE_STATUS_STATE_MASK;
}

/* A counter of 64 bits at @offset of the report window, which may be counting. */
u64 core_counter(const struct core *c, u32 offset)
{
	const volatile u32 *word = window(c) + offset / 4;
	u32 hi, lo;

	do {
		hi = word[1];
		lo = word[0];
	} while (hi != word[1]);
	return lo | (u64)hi << 32;
}

static inline void write_limit(const struct core *c, const struct queue *q, u64 limit)
{
	if (!limit || limit > q->limit)
		limit = q->limit;
	core_write(c, LIMIT_LO, limit);
	core_write(c, LIMIT_HI, limit >> 32);
}

static inline void mark_busy(const struct core *c)
{
	fw.core_idle &= ~c->bit;
	if (!fw.timer_armed)
		timer_arm();
}

/*
 * All but the context, which is the queue's. From instruction 0 a core starts
 * with the report window cleared.
 */
static inline void load_and_go(const struct core *c, const struct queue *q)
{
	const struct npu_job_sqe *sqe = q->head;
	struct job *job = c->job;

	job->cmd_id = sqe->cmd_id;
	job->report_va = sqe->report_va;
	core_write(c, INSN_LO, sqe->insn_va);
	core_write(c, INSN_HI, sqe->insn_va >> 32);
	core_write(c, INSN_COUNT, sqe->insn_count);
	core_write(c, START_INDEX, 0);
	core_write(c, REGION_LO, sqe->region_va);
	core_write(c, REGION_HI, sqe->region_va >> 32);
	core_write(c, REGION_COUNT, sqe->region_count);
	write_limit(c, q, sqe->limit);
	core_write(c, CONTROL, NPU_CORE_CONTROL_START_MASK);
}

/* Starts the next entry of @q, which the caller then takes away. */
void core_start(struct core *c, struct queue *q)
{
	q->running++;
	c->job->queue = q;
	core_write(c, CONTEXT, q->context);
	load_and_go(c, q);
	mark_busy(c);
}

/* Job registers that are kept while a job is paused; the core keeps them until then. */
static const u8 saved_registers[JOB_REGISTERS] = {
	NPU_CORE_INSN_LO, NPU_CORE_INSN_HI, NPU_CORE_INSN_COUNT, NPU_CORE_REGION_LO,
	NPU_CORE_REGION_HI, NPU_CORE_REGION_COUNT, NPU_CORE_LIMIT_LO, NPU_CORE_LIMIT_HI,
};

void core_resume(struct core *c, struct job *job)
{
	u32 i;

	for (i = 0; i < JOB_REGISTERS; i++)
		reg_write(c->base + saved_registers[i], job->registers[i]);
	for (i = 0; i < REPORT_WORDS; i++)
		window(c)[i] = job->report[i];
	core_write(c, START_INDEX, job->resume_index);
	list_push(&fw.free_jobs, &c->job->node);
	c->job = job;
	core_write(c, CONTEXT, job->queue->context);
	core_write(c, CONTROL, NPU_CORE_CONTROL_START_MASK);
	mark_busy(c);
}

static void leave(const struct core *c)
{
	core_write(c, CONTROL, NPU_CORE_CONTROL_CLEAR_MASK);
	fw.core_idle |= c->bit;
	if (unlikely((fw.core_stopping | fw.core_asked) & c->bit)) {
		fw.core_stopping &= ~c->bit;
		fw.core_asked &= ~c->bit;
		core_write(c, YIELD_REQUEST, 0);
	}
}

static inline void job_ended(struct queue *q)
{
	if (--q->running)
		return;
	q->killing = q->kill;
	if (q->buffered && !q->ready.on)
		queue_update(q);
}

/*
 * The usual case, with the same outcome as what follows in end_running(): @q
 * goes on with its next job on the same core, and nobody else waits. False: it
 * is not the usual case.
 */
static inline bool hand_over(struct core *c, struct queue *q)
{
	if (fw.sole != q || !(q->core_mask & c->bit))
		return false;
	core_write(c, CONTROL, NPU_CORE_CONTROL_CLEAR_MASK);
	load_and_go(c, q);
	queue_take(q);
	if (q->buffered <= fw.buffer_low && q->fetched != q->tail)
		queue_want_fetch(q);
	/* A queue that is sole has no entries to kill or to abort. */
	if (!q->buffered || q->head->reserved0)
		schedule_left(q);
	return true;
}

static inline void end_running(struct core *c, u32 status)
{
	struct queue *q = c->job->queue;

	finish_started(c->job, window(c), status);
	if (likely(hand_over(c, q)))
		return;
	leave(c);
	job_ended(q);
	if (fw.ready_mask)
		fw.work |= WORK_SCHED;
}

void core_end_paused(struct job *job, u32 status)
{
	struct queue *q = job->queue;

	list_remove(&fw.paused[q->priority], &job->node);
	finish_started(job, job->report, status);
	list_push(&fw.free_jobs, &job->node);
	job_ended(q);
}

static void pause(struct core *c)
{
	struct job *job = c->job;
	u32 i;

	for (i = 0; i < JOB_REGISTERS; i++)
		job->registers[i] = reg_read(c->base + saved_registers[i]);
	for (i = 0; i < REPORT_WORDS; i++)
		job->report[i] = window(c)[i];
	job->resume_index = core_read(c, RESUME_INDEX);
	schedule_push(&fw.paused[job->queue->priority], &job->node, job->queue->priority);
	fw.counters.yields++;
	leave(c);
	/* Never empty: see sched.c on the number of paused jobs. */
	c->job = entry_of(list_pop(&fw.free_jobs), struct job, node);
}

/* Acts on a core that is not running any more; @kill: status of one that was stopped. */
static noinline void ended_otherwise(struct core *c, u32 s, u32 kill)
{
	if (s == NPU_CORE_STATE_FAULT) {
		end_running(c, NPU_JOB_STATUS_FAULT);
	} else if (s == NPU_CORE_STATE_LIMIT) {
		end_running(c, NPU_JOB_STATUS_LIMIT);
	} else if (kill) {
		c->killed = true;
		end_running(c, kill);
	} else if (s == NPU_CORE_STATE_YIELDED) {
		pause(c);
	}
}

static void ended(struct core *c, u32 kill)
{
	u32 s = state(c);

	core_write(c, EVENT, 1);
	if (likely(s == NPU_CORE_STATE_DONE))
		end_running(c, NPU_JOB_STATUS_OK);
	else
		ended_otherwise(c, s, kill);
}

__attribute__((flatten)) void core_events(u32 mask)
{
	struct core *c;

	/* Without room for the completion the event stays. */
	for (c = fw.core; mask && finish_room(); c++, mask >>= 1) {
		if (!(mask & 1))
			continue;
		if (unlikely(fw.core_idle & c->bit))
			core_write(c, EVENT, 1);
		else if (likely(!(fw.core_stopping & c->bit)))
			ended(c, 0);
	}
}

void core_stop(struct core *c, u32 status)
{
	c->kill = status;
	c->killed = false;
	fw.core_stopping |= c->bit;
	fw.sole = NULL;
	fw.work |= WORK_STOP;
	core_write(c, CONTROL, NPU_CORE_CONTROL_STOP_MASK);
}

void core_poll_stopping(void)
{
	struct core *c;
	u32 mask;

	for (mask = fw.core_stopping; mask; mask &= mask - 1) {
		c = &fw.core[lowest_bit(mask)];
		if (state(c) != NPU_CORE_STATE_RUNNING && finish_room())
			ended(c, c->kill);
	}
	/* There is no interrupt for this. */
	if (fw.core_stopping)
		fw.work |= WORK_STOP;
}

void core_request_yield(struct core *c)
{
	fw.core_asked |= c->bit;
	fw.sole = NULL;
	core_write(c, YIELD_REQUEST, 1);
}
