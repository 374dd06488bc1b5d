// SPDX-License-Identifier: MIT
/* Energy of counts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "firmware/host/npu_host.h"

static u64 exact(u64 ticks, u64 cycles, u64 macs, u64 bytes)
{
	unsigned __int128 sum = (unsigned __int128)ticks * NPU_ENERGY_TICK;

	sum += (unsigned __int128)cycles * NPU_ENERGY_CYCLE;
	sum += (unsigned __int128)macs * NPU_ENERGY_MAC;
	sum += (unsigned __int128)bytes * NPU_ENERGY_BYTE;
	return (u64)(sum >> NPU_ENERGY_UNIT_LOG);
}

static void nothing_costs_nothing(void **state)
{
	(void)state;
	assert_int_equal(npu_energy_nj(0, 0, 0, 0), 0);
}

/* The figures that the contract's texts name, within its rounding. */
static void weights_are_those_of_the_texts(void **state)
{
	(void)state;
	assert_int_equal((npu_energy_nj(1000000000, 0, 0, 0) + 500000) / 1000000, 50);
	assert_int_equal((npu_energy_nj(0, 1000000000, 0, 0) + 500000) / 1000000, 20);
	assert_int_equal((npu_energy_nj(0, 0, 10000000000, 0) + 500000) / 1000000, 4);
	assert_int_equal((npu_energy_nj(0, 0, 0, 1000000000) + 500000) / 1000000, 40);
}

static void sums_are_exact(void **state)
{
	u64 n[4] = { 1, 3, 5, 7 };
	u32 i, k;

	(void)state;
	for (i = 0; i < 10000; i++) {
		assert_int_equal(npu_energy_nj(n[0], n[1], n[2], n[3]),
				 exact(n[0], n[1], n[2], n[3]));
		for (k = 0; k < 4; k++)
			n[k] = (n[k] * 6364136223846793005ull + 1442695040888963407ull) >> (i % 40);
		for (k = 0; k < 4; k++)
			n[k] >>= 4;
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_costs_nothing),
		cmocka_unit_test(weights_are_those_of_the_texts),
		cmocka_unit_test(sums_are_exact),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
