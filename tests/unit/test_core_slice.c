// SPDX-License-Identifier: MIT
/*
 * What a program does, and in how many cycles, is the same however its time is
 * sliced, whether it is stopped and resumed, and with all kernels.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>
#include "firmware/model/core_internal.h"
#include "tests/unit/core_random.h"

#define PROGRAMS	250u
#define MAX_INSNS	60u
#define LIMIT		30000u

/* All that can be seen of a job's end. */
struct outcome {
	u32 state;
	struct npu_job_report report;
	u8 mem[RANDOM_BYTES];
	s32 acc[NPU_ACC_DEPTH][NPU_BLOCK];
};

struct way {
	const char *name;
	u64 slice;
	bool stop;		/* and resume, after each slice */
	bool native;
};

static const struct way ways[] = {
	{ .name = "native", .native = true },
	{ .name = "slices of 1", .slice = 1 },
	{ .name = "slices of 7, native", .slice = 7, .native = true },
	{ .name = "slices of 1000", .slice = 1000 },
	{ .name = "stopped each 333 cycles", .slice = 333, .stop = true },
};

static struct board board;
static u8 memory[RANDOM_BYTES];
static struct outcome first, other;

/* Starts from the same memory each time, and from other leftovers in SRAM. */
static void run(const struct way *way, struct outcome *out)
{
	struct board *b = &board;
	u32 i;

	memcpy(b->mem + RANDOM_BASE, memory, RANDOM_BYTES);
	npu_core_set_kernels(b->core, way->native ? npu_core_kernels_native() :
						    npu_core_kernels_portable());
	b->tick = 1;
	npu_core_reg_write(b->core, NPU_CORE_LIMIT_LO, LIMIT, 0);
	npu_core_reg_write(b->core, NPU_CORE_LIMIT_HI, 0, 0);
	board_start(b, &(struct board_run){ .regions = RANDOM_REGIONS });
	while (npu_core_running(b->core)) {
		b->tick += npu_core_run(b->core,
					way->slice ? way->slice : ~0ull,
					b->tick);
		/* At its limit it would be resumed for ever. */
		if (way->stop && npu_core_running(b->core)) {
			board_command(b, NPU_CORE_CONTROL_STOP_MASK);
			board_command(b, NPU_CORE_CONTROL_RESUME_MASK);
		}
	}
	out->state = board_state(b);
	out->report = board_report(b);
	memcpy(out->mem, b->mem + RANDOM_BASE, RANDOM_BYTES);
	for (i = 0; i < NPU_ACC_DEPTH; i++)
		memcpy(out->acc[i], board_acc(b, i), sizeof(out->acc[i]));
}

static void compare(u32 program, const struct way *way)
{
	run(way, &other);
	if (memcmp(&first, &other, sizeof(first)))
		print_message("program %u differs: %s\n", program, way->name);
	assert_int_equal(first.state, other.state);
	assert_memory_equal(&first.report, &other.report, sizeof(first.report));
	assert_memory_equal(first.mem, other.mem, sizeof(first.mem));
	assert_memory_equal(first.acc, other.acc, sizeof(first.acc));
}

static void all_ways(u32 wild)
{
	const struct way plain = { .name = "plain" };
	struct random rnd = { .state = wild };
	u32 ends[8] = { 0 };
	u32 i, w;

	for (i = 0; i < PROGRAMS; i++) {
		random_program(&board, &rnd, MAX_INSNS, wild);
		memcpy(memory, board.mem + RANDOM_BASE, RANDOM_BYTES);
		run(&plain, &first);
		ends[first.state]++;
		for (w = 0; w < sizeof(ways) / sizeof(ways[0]); w++)
			compare(i, &ways[w]);
	}
	/* The programs are worth it only if they end in many ways. */
	assert_true(ends[NPU_CORE_STATE_DONE] > PROGRAMS / 10);
	assert_true(ends[NPU_CORE_STATE_FAULT] > PROGRAMS / 10);
	print_message("done %u, fault %u, limit %u\n",
		      ends[NPU_CORE_STATE_DONE], ends[NPU_CORE_STATE_FAULT],
		      ends[NPU_CORE_STATE_LIMIT]);
}

static void sensible(void **state)
{
	(void)state;
	all_ways(0);
}

static void wild(void **state)
{
	(void)state;
	all_ways(1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sensible),
		cmocka_unit_test(wild),
	};
	int failed;

	board_init(&board, BOARD_FEATURES);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	board_exit(&board);
	return failed;
}
