// SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 OR MIT
/* Cores: starting, stopping and saving them. */
#include "firmware/cp/fw.h"

static volatile u32 *window(u32 n)
{
	return (volatile u32 *)(core_base(n) + NPU_CORE_REPORT(0));
}

static u32 state(u32 n)
{
	return core_read(n, STATUS) & NPU_CORE_STATUS_STATE_MASK;
}

u64 core_cycles(u32 n)
{
	const u32 word = offsetof(struct npu_job_report, cycles) / 4;
	u32 hi, lo;

	do {
		hi = window(n)[word + 1];
		lo = window(n)[word];
	} while (hi != window(n)[word + 1]);
	return lo | (u64)hi << 32;
}

static void write_registers(u32 n, const struct job *job)
{
	const struct npu_job_sqe *sqe = &job->sqe;
	u64 limit = job->queue->limit;

	if (sqe->limit && sqe->limit < limit)
		limit = sqe->limit;
	core_write(n, CONTEXT, job->queue->context);
	core_write(n, INSN_LO, sqe->insn_va);
	core_write(n, INSN_HI, sqe->insn_va >> 32);
	core_write(n, INSN_COUNT, sqe->insn_count);
	core_write(n, START_INDEX, job->resume_index);
	core_write(n, REGION_LO, sqe->region_va);
	core_write(n, REGION_HI, sqe->region_va >> 32);
	core_write(n, REGION_COUNT, sqe->region_count);
	core_write(n, YIELD_REQUEST, 0);
	core_write(n, LIMIT_LO, limit);
	core_write(n, LIMIT_HI, limit >> 32);
}

static void go(u32 n, struct job *job)
{
	struct core *c = &fw.core[n];

	write_registers(n, job);
	c->job = job;
	c->use = CORE_BUSY;
	c->yield = false;
	fw.core_idle &= ~(1u << n);
	core_write(n, CONTROL, NPU_CORE_CONTROL_START_MASK);
	timer_arm();
}

/* Starts the next entry of @q, which the caller then counts as consumed. */
void core_start(u32 n, struct queue *q)
{
	struct job *job = entry_of(list_pop(&fw.free_jobs), struct job, node);
	volatile u32 *w = window(n);
	u32 i;

	job->queue = q;
	job->resume_index = 0;
	job->sqe = *queue_head(q);
	q->running++;
	for (i = 0; i < REPORT_WORDS; i += 8, w += 8) {
		w[0] = 0;
		w[1] = 0;
		w[2] = 0;
		w[3] = 0;
		w[4] = 0;
		w[5] = 0;
		w[6] = 0;
		w[7] = 0;
	}
	go(n, job);
}

void core_resume(u32 n, struct job *job)
{
	u32 i;

	for (i = 0; i < REPORT_WORDS; i++)
		window(n)[i] = job->report[i];
	go(n, job);
}

static void leave(u32 n)
{
	struct core *c = &fw.core[n];

	core_write(n, CONTROL, NPU_CORE_CONTROL_CLEAR_MASK);
	c->job = NULL;
	c->use = CORE_FREE;
	fw.core_idle |= 1u << n;
	fw.core_stopping &= ~(1u << n);
	fw.work |= WORK_SCHED;
}

static void end_job(struct job *job, const volatile u32 *report, u32 status)
{
	const u32 word = offsetof(struct npu_job_report, cycles) / 4;
	struct queue *q = job->queue;

	q->cycles += report[word] | (u64)report[word + 1] << 32;
	finish_job(q, &job->sqe, report, status);
	list_push(&fw.free_jobs, &job->node);
	if (!--q->running) {
		queue_settle(q);
		queue_update(q);
	}
}

static void end_running(u32 n, u32 status)
{
	end_job(fw.core[n].job, window(n), status);
	leave(n);
}

void core_end_paused(struct job *job, u32 status)
{
	list_remove(&fw.paused[job->queue->priority], &job->node);
	end_job(job, job->report, status);
}

static void pause(u32 n)
{
	struct job *job = fw.core[n].job;
	u32 i;

	for (i = 0; i < REPORT_WORDS; i++)
		job->report[i] = window(n)[i];
	job->resume_index = core_read(n, RESUME_INDEX);
	list_push(&fw.paused[job->queue->priority], &job->node);
	fw.counters.yields++;
	leave(n);
}

static void end_killed(u32 n, u32 status)
{
	fw.core[n].killed = true;
	end_running(n, status);
}

/* Acts on a core that is not running any more; @kill: status of one that was stopped. */
static void ended(u32 n, u32 kill)
{
	u32 s = state(n);

	core_write(n, EVENT, 1);
	if (s == NPU_CORE_STATE_DONE)
		end_running(n, NPU_JOB_STATUS_OK);
	else if (s == NPU_CORE_STATE_FAULT)
		end_running(n, NPU_JOB_STATUS_FAULT);
	else if (s == NPU_CORE_STATE_LIMIT)
		end_running(n, NPU_JOB_STATUS_LIMIT);
	else if (kill)
		end_killed(n, kill);
	else if (s == NPU_CORE_STATE_YIELDED)
		pause(n);
}

void core_events(u32 mask)
{
	u32 n;

	for (; mask; mask &= mask - 1) {
		n = lowest_bit(mask);
		/* Without room for the completion the event stays. */
		if (fw.core[n].use == CORE_BUSY && finish_room())
			ended(n, 0);
		else if (fw.core[n].use == CORE_FREE)
			core_write(n, EVENT, 1);
	}
}

void core_stop(u32 n, u32 status)
{
	struct core *c = &fw.core[n];

	c->kill = status;
	c->killed = false;
	c->use = CORE_STOPPING;
	fw.core_stopping |= 1u << n;
	core_write(n, CONTROL, NPU_CORE_CONTROL_STOP_MASK);
}

void core_poll_stopping(void)
{
	u32 n, mask;

	for (mask = fw.core_stopping; mask; mask &= mask - 1) {
		n = lowest_bit(mask);
		if (state(n) != NPU_CORE_STATE_RUNNING && finish_room())
			ended(n, fw.core[n].kill);
	}
}

void core_request_yield(u32 n)
{
	fw.core[n].yield = true;
	core_write(n, YIELD_REQUEST, 1);
}
