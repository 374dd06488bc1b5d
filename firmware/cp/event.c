// SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 OR MIT
/*
 * The event ring. Before an entry is written its last word is read: the host
 * clears it when it has read the entry. Each event takes three transfers.
 */
#include "firmware/cp/fw.h"

#define PHASE_FULL	2u

static struct npu_event fifo[EVENT_SLOTS];
static u32 put, got;

static u64 ring;	/* 0: none */
static u32 log_size;
static u32 tail;
static u64 lost;
static bool full;	/* was, when last looked at */

static enum { IDLE, READ_OLD, WRITE_DATA, WRITE_PHASE } state;
static struct npu_event out;
static bool out_is_lost;
static u32 old_phase;

static void drop_one(void)
{
	fw.counters.events_lost++;
	if (ring)
		lost++;
}

static void push(const struct npu_event *event)
{
	if (!ring || put - got == EVENT_SLOTS) {
		drop_one();
		return;
	}
	full = false;
	fifo[put++ % EVENT_SLOTS] = *event;
	fw.work |= WORK_AUX;
}

void event_fault(const struct queue *q, const struct npu_cqe *cqe)
{
	struct npu_event event = {
		.type = NPU_EVENT_FAULT,
		.queue = q->id,
		.context = q->context,
		.fault_code = cqe->fault_code,
		.fault_unit = cqe->fault_unit,
		.cmd_id = cqe->cmd_id,
		.insn = cqe->insn,
		.fault_va = cqe->fault_va,
		.tick = read_ticks(),
		.fault_access = cqe->fault_access,
		.core = cqe->core,
	};

	push(&event);
}

void event_ring_fault(u32 queue, u32 context, const struct dma_end *end, u32 access)
{
	struct npu_event event = {
		.type = NPU_EVENT_RING_FAULT,
		.queue = queue,
		.context = context,
		.fault_code = end->fault,
		.fault_unit = NPU_UNIT_DMA,
		.fault_va = end->va,
		.tick = read_ticks(),
		.fault_access = access,
	};

	log_add(NPU_LOG_RING_FAULT, end->fault, queue, 0, end->va);
	push(&event);
}

/* Only while event_idle(). */
void event_ring_set(u64 address, u32 log)
{
	ring = address;
	log_size = log;
	tail = 0;
	lost = 0;
	got = put;
}

bool event_idle(void)
{
	return state == IDLE;
}

void event_retry_lost(void)
{
	full = false;
	if (lost)
		fw.work |= WORK_AUX;
}

static u64 place(void)
{
	return ring + (tail & ((1u << log_size) - 1)) * sizeof(struct npu_event);
}

void event_kick(void)
{
	if (state != IDLE || !ring || full || (put == got && !lost))
		return;
	state = READ_OLD;
	aux_start(AUX_EVENT, 0, place() + offsetof(struct npu_event, phase), &old_phase,
		  sizeof(old_phase), false);
}

static void choose(void)
{
	out_is_lost = lost;
	if (!lost) {
		out = fifo[got % EVENT_SLOTS];
		return;
	}
	memset(&out, 0, sizeof(out));
	out.type = NPU_EVENT_LOST;
	out.fault_va = lost;
	out.tick = read_ticks();
}

static void old_was_read(void)
{
	if (old_phase & PHASE_FULL) {
		state = IDLE;
		/* It is looked at again for the next event or heartbeat. */
		full = true;
		for (; got != put; got++)
			drop_one();
		return;
	}
	choose();
	state = WRITE_DATA;
	aux_start(AUX_EVENT, 0, place(), &out, offsetof(struct npu_event, phase), true);
}

static void data_was_written(void)
{
	out.phase = PHASE_FULL | (~(tail >> log_size) & 1);
	state = WRITE_PHASE;
	aux_start(AUX_EVENT, 0, place() + offsetof(struct npu_event, phase), &out.phase,
		  sizeof(out.phase), true);
}

static void phase_was_written(void)
{
	state = IDLE;
	tail++;
	if (out_is_lost)
		lost -= out.fault_va;
	else
		got++;
	sys_write(HOST_IRQ, 0);
}

void event_done(const struct dma_end *end)
{
	if (end->fault) {
		/* There is no one to tell. */
		state = IDLE;
		fw.counters.events_lost += put - got;
		event_ring_set(0, 0);
	} else if (state == READ_OLD) {
		old_was_read();
	} else if (state == WRITE_DATA) {
		data_was_written();
	} else {
		phase_was_written();
	}
}
