// SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 OR MIT
/*
 * Energy, power and temperature of a device without sensors: the contract's
 * model over the counters. Whole numbers of ticks and counts go in, so the same
 * work gives the same figures.
 */
#include "firmware/cp/fw.h"

#define UNITS(n)	((n) >> NPU_ENERGY_UNIT_LOG)
#define UNIT_MASK	((1u << NPU_ENERGY_UNIT_LOG) - 1)

/* Longer than this between two looks counts as this: sums stay in 64 bits. */
#define MAX_TICKS	(1ull << 44)
#define MAX_STEPS	(8u << NPU_ENERGY_STEP_SHIFT)
#define MAX_MILLIWATTS	0xffffu

/* Counters as they were at the last look. */
struct counts {
	u64 tick;
	u64 cycles;
	u64 macs;
	u64 bytes;
};

static struct counts last;
static u64 nanojoules;
static u32 rest;		/* of a nanojoule, in units */

static u64 step_tick, step_units;	/* last step of the temperature, and since then */
static u64 told_tick, told_units;	/* the same for what TELEMETRY told */
static u32 milliwatts;

/* Millidegrees above the surroundings, times 256. */
static u32 heat;

static void add_core(struct counts *now, const struct core *c)
{
	now->cycles += core_counter(c, offsetof(struct npu_job_report, cycles));
	now->macs += core_counter(c, offsetof(struct npu_job_report, macs));
	now->bytes += core_counter(c, offsetof(struct npu_job_report, bytes_read)) +
		      core_counter(c, offsetof(struct npu_job_report, bytes_written));
}

static void look(struct counts *now)
{
	const struct npu_telemetry *t = &fw.counters;
	u32 i;

	now->tick = read_ticks();
	now->cycles = t->cycles;
	now->macs = t->macs;
	now->bytes = t->bytes_read + t->bytes_written;
	for (i = 1; i < fw.queue_count; i++)
		if (fw.queues[i].state != QUEUE_FREE)
			now->cycles += fw.queues[i].cycles;
	for (i = 0; i < fw.cores; i++)
		if (!(fw.core_idle & fw.core[i].bit))
			add_core(now, &fw.core[i]);
}

/* A paused job's counters are out of sight until it ends: then they count. */
static u64 rise(u64 *last_value, u64 value)
{
	u64 by = value > *last_value ? value - *last_value : 0;

	*last_value += by;
	return by;
}

static u64 divide(u64 n, u64 by)
{
	u64 quotient = 0, left = 0;
	u32 i;

	for (i = 0; i < 64; i++) {
		left = left << 1 | n >> 63;
		n <<= 1;
		quotient <<= 1;
		if (left >= by) {
			left -= by;
			quotient |= 1;
		}
	}
	return quotient;
}

static u32 power(u64 units, u64 ticks)
{
	u64 units_per_ms = divide(units, ticks) * host_read(CLOCK_KHZ);
	u64 mw = divide(UNITS(units_per_ms), 1000);

	return mw < MAX_MILLIWATTS ? mw : MAX_MILLIWATTS;
}

static void warm(u64 now)
{
	u64 ticks = now - step_tick;
	u64 steps = ticks >> NPU_ENERGY_STEP_LOG;
	u32 aim;

	if (!steps)
		return;
	aim = power(step_units, ticks) * NPU_ENERGY_RESISTANCE << 8;
	for (steps = steps < MAX_STEPS ? steps : MAX_STEPS; steps; steps--)
		heat += (s32)(aim - heat) >> NPU_ENERGY_STEP_SHIFT;
	step_tick = now;
	step_units = 0;
}

void energy_look(void)
{
	struct counts now;
	u64 ticks, units;

	look(&now);
	ticks = rise(&last.tick, now.tick);
	units = (ticks < MAX_TICKS ? ticks : MAX_TICKS) * NPU_ENERGY_TICK;
	units += rise(&last.cycles, now.cycles) * NPU_ENERGY_CYCLE;
	units += rise(&last.macs, now.macs) * NPU_ENERGY_MAC;
	units += rise(&last.bytes, now.bytes) * NPU_ENERGY_BYTE;
	step_units += units;
	told_units += units;
	units += rest;
	nanojoules += UNITS(units);
	rest = units & UNIT_MASK;
	warm(now.tick);
}

void energy_tell(struct npu_telemetry *t)
{
	energy_look();
	if (last.tick != told_tick)
		milliwatts = power(told_units, last.tick - told_tick);
	told_tick = last.tick;
	told_units = 0;
	t->tick = last.tick;
	t->energy = nanojoules;
	t->power = milliwatts;
	t->temperature = NPU_ENERGY_AMBIENT + (heat >> 8);
}
