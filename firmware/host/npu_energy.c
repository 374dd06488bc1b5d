// SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 OR MIT
/* Energy of what was counted, by the contract's model. */
#include "firmware/host/npu_host.h"

#define UNIT_MASK	((1u << NPU_ENERGY_UNIT_LOG) - 1)

/* Whole nanojoules of @count; the units that are left go to @rest. */
static u64 whole(u64 count, u32 each, u64 *rest)
{
	*rest += (count & UNIT_MASK) * each;
	return (count >> NPU_ENERGY_UNIT_LOG) * each;
}

u64 npu_energy_nj(u64 ticks, u64 cycles, u64 macs, u64 bytes)
{
	u64 rest = 0;
	u64 sum;

	sum = whole(ticks, NPU_ENERGY_TICK, &rest);
	sum += whole(cycles, NPU_ENERGY_CYCLE, &rest);
	sum += whole(macs, NPU_ENERGY_MAC, &rest);
	sum += whole(bytes, NPU_ENERGY_BYTE, &rest);
	return sum + (rest >> NPU_ENERGY_UNIT_LOG);
}
