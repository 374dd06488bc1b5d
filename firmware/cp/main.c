// SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 OR MIT
/* The loop, the heartbeat, and the end. */
#include "firmware/cp/fw.h"

/* How long a completion waits for others. */
#define HOLD_TICKS	8000u

struct fw fw;

/* De Bruijn sequence of lowest_bit(). */
const u8 lowest_bit_table[32] = {
	0, 1, 28, 2, 29, 14, 24, 3, 30, 22, 20, 15, 25, 17, 4, 8,
	31, 27, 13, 23, 21, 19, 16, 7, 26, 12, 18, 6, 11, 5, 10, 9,
};

void list_remove(struct list *list, struct node *node)
{
	struct node *prev = NULL, *at = list->head;

	while (at && at != node) {
		prev = at;
		at = at->next;
	}
	if (!at)
		return;
	if (prev)
		prev->next = node->next;
	else
		list->head = node->next;
	if (list->tail == node)
		list->tail = prev;
	node->on = false;
}

_Noreturn void fw_sleep_for_ever(void)
{
	csr_set_mie(0);
	sys_write(IRQ_ENABLE, 0);
	for (;;)
		wait_for_interrupt();
}

_Noreturn void fw_fail(u32 error, u32 detail)
{
	u32 n;

	for (n = 0; n < fw.cores; n++)
		core_write(&fw.core[n], CONTROL, NPU_CORE_CONTROL_CLEAR_MASK);
	log_add(NPU_LOG_FAILED, 0, 0, error | detail << 8, 0);
	host_write(BOOT_ERROR, error | detail << 8);
	host_write(BOOT_STATE, NPU_BOOT_FAILED);
	sys_write(HOST_IRQ, 0);
	fw_sleep_for_ever();
}

/* Interrupts are never enabled in mstatus: this is the end. */
void fw_trap(u32 cause)
{
	fw_fail(NPU_BOOT_ERROR_TRAP, cause);
}

static void set_timer(u64 tick)
{
	/* No moment at which the two words together are early. */
	sys_write(MTIMECMP_HI, ~0u);
	sys_write(MTIMECMP_LO, tick);
	sys_write(MTIMECMP_HI, tick >> 32);
}

static void timer_disarm(void)
{
	sys_write(MTIMECMP_HI, ~0u);
	sys_write(MTIMECMP_LO, ~0u);
	fw.timer_armed = false;
	fw.held = false;
}

void timer_arm(void)
{
	if (fw.timer_armed)
		return;
	fw.timer_armed = true;
	fw.heartbeat_at = read_ticks() + NPU_TIMING_HEARTBEAT_TICKS;
	set_timer(fw.heartbeat_at);
}

static bool jobs_run(void)
{
	return fw.core_idle != fw.core_all;
}

static void heartbeat(void)
{
	u32 n;

	host_write(HEARTBEAT, ++fw.heartbeat);
	for (n = 0; n < fw.cores; n++)
		if (!(fw.core_idle & fw.core[n].bit))
			shadow_request(fw.core[n].job->queue);
	event_retry_lost();
	energy_look();
	timer_disarm();
	if (jobs_run())
		timer_arm();
}

/* One timer for two things: heartbeats, and completions that were held. */
static void timer(void)
{
	finish_kick_cq();
	if (read_ticks() >= fw.heartbeat_at)
		heartbeat();
	else
		set_timer(fw.heartbeat_at);
}

static void run_work(void)
{
	u32 work = fw.work;

	fw.work = 0;
	if (work & WORK_SCHED)
		schedule();
	if (work & WORK_FETCH)
		fetch_kick();
	if (unlikely(work & ~(WORK_SCHED | WORK_FETCH))) {
		if (work & WORK_STOP)
			core_poll_stopping();
		if (work & WORK_AUX)
			aux_kick();
		if (work & WORK_SHADOW)
			shadow_kick();
		if (work & WORK_ADMIN)
			admin_step();
	}
	/* What it waits for can have come about by any of this. */
	if (unlikely(fw.admin_active && work != WORK_ADMIN))
		fw.work |= WORK_ADMIN;
}

/*
 * Completion entries wait until there is nothing else to do, and while a core
 * runs a moment longer, so that those which come close to each other share a
 * transfer and an interrupt.
 */
static void idle(void)
{
	if (jobs_run()) {
		if (!fw.held && finish_waits()) {
			fw.held = true;
			set_timer(read_ticks() + HOLD_TICKS);
		}
	} else if (finish_waits()) {
		finish_kick_cq();
		return;
	} else if (fw.timer_armed) {
		timer_disarm();
	}
	wait_for_interrupt();
}

static void sources(void)
{
	u32 pending = sys_read(IRQ_PENDING);

	if (pending & NPU_CP_IRQ_DMA)
		dma_events();
	if (pending >> NPU_CP_IRQ_CORE0_BIT)
		core_events(pending >> NPU_CP_IRQ_CORE0_BIT);
	if (pending & NPU_CP_IRQ_DOORBELL)
		doorbells();
	if (unlikely(fw.admin_active))
		fw.work |= WORK_ADMIN;
}

static _Noreturn void loop(void)
{
	u32 pending;

	for (;;) {
		pending = csr_mip();
		if (pending & MIP_EXTERNAL)
			sources();
		if (unlikely(pending & MIP_TIMER))
			timer();
		if (fw.work)
			run_work();
		else
			idle();
	}
}

_Noreturn void fw_main(void)
{
	boot();
	csr_set_mie(MIP_TIMER | MIP_EXTERNAL);
	sys_write(IRQ_ENABLE, ~0u);
	loop();
}
