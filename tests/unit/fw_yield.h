/* SPDX-License-Identifier: MIT */
/* How long a job of high priority waits for a core that runs one of low priority. */
#ifndef TESTS_UNIT_FW_YIELD_H
#define TESTS_UNIT_FW_YIELD_H

#include "tests/unit/device_board.h"

#define YIELD_PHASES	64

/**
 * struct fw_yield - ticks, from the doorbell of a job to the start in its report
 * @interval: between two YIELDs of the job of low priority
 * @idle: delay on an idle device
 * @best: shortest delay behind the other job
 * @worst: longest delay, over doorbells at YIELD_PHASES points of the interval
 */
struct fw_yield {
	u64 interval;
	u64 idle;
	u64 best;
	u64 worst;
};

void fw_yield_measure(struct fw_yield *out);

#endif /* TESTS_UNIT_FW_YIELD_H */
