// SPDX-License-Identifier: MIT
/* The control processor's budget: instructions are exact, so they are asserted. */
#include <stdarg.h>
#include <stdlib.h>
#include <setjmp.h>
#include <cmocka.h>
#include "tests/unit/fw_cost.h"

#define NULL_JOB_MAX	1000
#define BATCHED_JOB_MAX	300
/* Two transfers of the shadow block, or one of the report, come on top. */
#define SHADOW_MAX	150
#define REPORT_MAX	500

static struct fw_cost cost;

static int measure(void **state)
{
	(void)state;
	fw_cost_measure(&cost);
	print_message("# NOP %llu, RUN %llu, with shadow %llu, with report %llu\n",
		      (unsigned long long)cost.nop, (unsigned long long)cost.run,
		      (unsigned long long)cost.run_shadow, (unsigned long long)cost.run_report);
	print_message("# batch of %d: NOP %llu, RUN %llu a job\n", COST_BATCH,
		      (unsigned long long)cost.batch_nop / COST_BATCH,
		      (unsigned long long)cost.batch_run / COST_BATCH);
	return 0;
}

static void null_jobs(void **state)
{
	(void)state;
	assert_in_range(cost.nop, 1, NULL_JOB_MAX);
	assert_in_range(cost.run, 1, NULL_JOB_MAX);
	assert_in_range(cost.run_shadow, 1, NULL_JOB_MAX + SHADOW_MAX);
	assert_in_range(cost.run_report, 1, NULL_JOB_MAX + REPORT_MAX);
}

static void batched_jobs(void **state)
{
	(void)state;
	assert_in_range(cost.batch_nop, 1, BATCHED_JOB_MAX * COST_BATCH);
	assert_in_range(cost.batch_run, 1, BATCHED_JOB_MAX * COST_BATCH);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(null_jobs),
		cmocka_unit_test(batched_jobs),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("fw_cost", tests, measure, NULL);
}
