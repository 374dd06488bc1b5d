/* SPDX-License-Identifier: MIT */
/* What jobs cost the control processor, in instructions. */
#ifndef TESTS_UNIT_FW_COST_H
#define TESTS_UNIT_FW_COST_H

#include "tests/unit/device_board.h"

#define COST_BATCH	64

struct fw_cost {
	u64 nop;		/* one NOP, doorbell to rest */
	u64 run;		/* one RUN of FINISH alone */
	u64 run_shadow;		/* the same on a queue with a shadow block */
	u64 run_report;		/* the same with a report */
	u64 batch_nop;		/* COST_BATCH of them with one doorbell */
	u64 batch_run;
};

/* Each is the worst of several; completions are checked. */
void fw_cost_measure(struct fw_cost *cost);

#endif /* TESTS_UNIT_FW_COST_H */
