// SPDX-License-Identifier: MIT
#include <stdarg.h>
#include <stdlib.h>
#include <setjmp.h>
#include <cmocka.h>
#include "tests/unit/fw_yield.h"

/*
 * The best case is a doorbell just in front of a YIELD: the cost of the switch.
 * Beyond that nothing adds to the way to the next YIELD.
 */
static void starts_within_an_interval(void **state)
{
	struct fw_yield delay;

	(void)state;
	fw_yield_measure(&delay);
	print_message("# interval %llu, delay %llu to %llu, on an idle device %llu\n",
		      (unsigned long long)delay.interval, (unsigned long long)delay.best,
		      (unsigned long long)delay.worst, (unsigned long long)delay.idle);
	assert_in_range(delay.best, delay.idle, delay.idle + 1024);
	assert_in_range(delay.worst, delay.interval / 2, delay.interval + delay.best);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(starts_within_an_interval),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
