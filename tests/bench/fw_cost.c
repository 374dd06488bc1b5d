// SPDX-License-Identifier: MIT
/* Instructions of the control processor for jobs that do nothing. */
#include <stdio.h>
#include "tests/unit/fw_cost.h"

static u64 worse(u64 a, u64 b)
{
	return a > b ? a : b;
}

int main(void)
{
	struct fw_cost cost;

	fw_cost_measure(&cost);
	printf("cp_insns_null_job %llu\n", (unsigned long long)worse(cost.nop, cost.run));
	printf("cp_insns_batch64 %llu\n",
	       (unsigned long long)worse(cost.batch_nop, cost.batch_run) / COST_BATCH);
	return 0;
}
