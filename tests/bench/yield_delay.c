// SPDX-License-Identifier: MIT
/*
 * Cycles that a job of the highest priority waits for the core while one of the
 * lowest runs there: the worst of doorbells spread over an interval of YIELD.
 */
#include <stdio.h>
#include "tests/unit/fw_yield.h"

int main(void)
{
	struct fw_yield delay;

	fw_yield_measure(&delay);
	printf("# a YIELD each %llu cycles: start after %llu to %llu, on an idle device %llu\n",
	       (unsigned long long)delay.interval, (unsigned long long)delay.best,
	       (unsigned long long)delay.worst, (unsigned long long)delay.idle);
	printf("yield_interval_cycles %llu\n", (unsigned long long)delay.interval);
	printf("yield_delay_cycles %llu\n", (unsigned long long)delay.worst);
	return 0;
}
