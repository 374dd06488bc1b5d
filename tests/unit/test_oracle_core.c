// SPDX-License-Identifier: MIT
/*
 * Random programs on the model's compute core and on the second interpreter:
 * outcome, counters and every byte of memory must be the same, however the
 * core's time is cut.
 *
 *	test_oracle_core			all
 *	test_oracle_core --seed N		one program, with its text
 *	test_oracle_core --seed N --count M	a range
 */
#include <getopt.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "firmware/model/npu_core.h"
#include "tests/oracle/generator.h"
#include "tests/oracle/oracle.h"
#include "tests/oracle/random.h"
#include "userspace/isa/npu_builder.h"

enum { CONTEXT = 5, BATCH = 1000, BATCHES = 10, ALL_FEATURES = 0x1f };

/* How a program is run; the result must not depend on it. */
enum mode {
	WHOLE,		/* one call */
	SLICED,		/* cut anywhere, with stops and limits */
	YIELDED,	/* leaves the core at each YIELD */
	MODES,
};

struct bench {
	struct npu_core *core;		/* goes on from program to program */
	struct npu_core *poor;		/* for programs with fewer features */
	struct address_space space;
	u64 tick;
};

static struct bench bench;

static u8 read_space(void *opaque, u16 context, u64 va, void *buf, u32 len, u8 access,
		     u64 *fault_va)
{
	struct bench *b = opaque;

	assert_int_equal(context, CONTEXT);
	return address_space_read(&b->space, va, buf, len, access, fault_va);
}

static u8 write_space(void *opaque, u16 context, u64 va, const void *buf, u32 len, u64 *fault_va)
{
	struct bench *b = opaque;

	assert_int_equal(context, CONTEXT);
	return address_space_write(&b->space, va, buf, len, fault_va);
}

static const struct npu_core_mem memory = { &bench, read_space, write_space };

static void write_reg(struct npu_core *c, u32 offset, u32 value)
{
	npu_core_reg_write(c, offset, value, bench.tick);
}

static void write_reg64(struct npu_core *c, u32 offset, u64 value)
{
	write_reg(c, offset, (u32)value);
	write_reg(c, offset + 4, (u32)(value >> 32));
}

static u32 core_state(const struct npu_core *c)
{
	return npu_core_reg_read(c, NPU_CORE_STATUS) & NPU_CORE_STATUS_STATE_MASK;
}

static void start(struct npu_core *c, u32 index)
{
	write_reg(c, NPU_CORE_CONTROL, NPU_CORE_CONTROL_CLEAR_MASK);
	write_reg(c, NPU_CORE_START_INDEX, index);
	write_reg(c, NPU_CORE_CONTROL, NPU_CORE_CONTROL_START_MASK);
}

static void set_job(struct npu_core *c, const struct generated *g, enum mode mode)
{
	write_reg(c, NPU_CORE_CONTROL, NPU_CORE_CONTROL_CLEAR_MASK);
	for (u32 i = 0; i < sizeof(struct npu_job_report) / 4; i++)
		write_reg(c, NPU_CORE_REPORT(i), 0);
	write_reg(c, NPU_CORE_CONTEXT, CONTEXT);
	write_reg64(c, NPU_CORE_INSN_LO, g->insn_va);
	write_reg(c, NPU_CORE_INSN_COUNT, g->insn_count);
	write_reg64(c, NPU_CORE_REGION_LO, g->region_va);
	write_reg(c, NPU_CORE_REGION_COUNT, g->region_count);
	write_reg(c, NPU_CORE_YIELD_REQUEST, mode == YIELDED);
	write_reg64(c, NPU_CORE_LIMIT_LO, UINT64_MAX);
}

static struct npu_job_report report_of(const struct npu_core *c)
{
	struct npu_job_report report;

	assert_true(npu_core_report_copy(c, 0, &report, sizeof(report)));
	return report;
}

/* Lets some cycles pass, now and then with a stop or a limit on the way. */
static void run_slice(struct npu_core *c, struct random *r)
{
	u64 cycles = (u64)random_range(r, 0, random_chance(r, 80) ? 40 : 4000);

	if (random_chance(r, 10)) {
		write_reg64(c, NPU_CORE_LIMIT_LO, report_of(c).cycles + 1 + random_below(r, 50));
		cycles += 4096 + 50;
	}
	bench.tick += npu_core_run(c, cycles, bench.tick);
	write_reg64(c, NPU_CORE_LIMIT_LO, UINT64_MAX);
	if (core_state(c) == NPU_CORE_STATE_RUNNING && random_chance(r, 20)) {
		write_reg(c, NPU_CORE_CONTROL, NPU_CORE_CONTROL_STOP_MASK);
		assert_int_equal(core_state(c), NPU_CORE_STATE_STOPPED);
	}
	if (core_state(c) == NPU_CORE_STATE_STOPPED || core_state(c) == NPU_CORE_STATE_LIMIT)
		write_reg(c, NPU_CORE_CONTROL, NPU_CORE_CONTROL_RESUME_MASK);
}

static void run_core(struct npu_core *c, const struct generated *g, enum mode mode)
{
	struct random r = { g->seed };
	u32 yields = 0;

	set_job(c, g, mode);
	start(c, 0);
	for (;;) {
		if (mode == SLICED)
			run_slice(c, &r);
		else
			bench.tick += npu_core_run(c, UINT32_MAX, bench.tick);
		if (core_state(c) == NPU_CORE_STATE_YIELDED) {
			assert_in_range(++yields, 1, g->yields);
			start(c, npu_core_reg_read(c, NPU_CORE_RESUME_INDEX));
		} else if (core_state(c) != NPU_CORE_STATE_RUNNING) {
			break;
		}
	}
}

struct outcome {
	struct npu_job_report report;
	u32 state;
};

static struct npu_core *core_for(const struct generated *g, enum mode mode)
{
	struct npu_core *c = bench.core;

	if (g->features != ALL_FEATURES) {
		c = bench.poor;
		npu_core_init(c, 1, g->features, &memory);
	}
	npu_core_set_kernels(c, (g->seed + mode) % 2 ? npu_core_kernels_native() :
						       npu_core_kernels_portable());
	return c;
}

/* Leaves the memory that the program made in the bench. */
static struct outcome outcome_of(const struct generated *g, enum mode mode)
{
	struct npu_core *c = core_for(g, mode);
	struct outcome outcome;

	assert_true(address_space_copy(&bench.space, &g->space));
	run_core(c, g, mode);
	outcome.report = report_of(c);
	outcome.state = core_state(c);
	return outcome;
}

static void explain(const struct generated *g, const struct oracle_result *o,
		    const struct outcome *c, enum mode mode, const char *what)
{
	generated_print(g, stderr);
	fprintf(stderr, "# oracle: fault %u unit %u access %u insn %" PRIu32 " va 0x%" PRIx64
		" macs %" PRIu64 " read %" PRIu64 " written %" PRIu64 "\n", o->fault_code,
		o->fault_unit, o->fault_access, o->insn, o->fault_va, o->macs, o->bytes_read,
		o->bytes_written);
	fprintf(stderr, "# core, state %u, mode %u: fault %u unit %u access %u insn %" PRIu32
		" va 0x%" PRIx64 " macs %" PRIu64 " read %" PRIu64 " written %" PRIu64 "\n",
		c->state, mode, c->report.fault_code, c->report.fault_unit,
		c->report.fault_access, c->report.insn, (uint64_t)c->report.fault_va,
		(uint64_t)c->report.macs, (uint64_t)c->report.bytes_read,
		(uint64_t)c->report.bytes_written);
	fail_msg("seed %" PRIu64 ": %s; replay with --seed %" PRIu64, g->seed, what, g->seed);
}

static const char *compare_fault(const struct oracle_result *o, const struct outcome *c)
{
	if (c->state != NPU_CORE_STATE_FAULT)
		return "the core did not fault";
	if (c->report.fault_code != o->fault_code)
		return "another fault";
	if (c->report.fault_unit != o->fault_unit)
		return "another unit";
	if (c->report.insn != o->insn)
		return "another instruction";
	if (c->report.fault_va != o->fault_va)
		return "another address";
	return c->report.fault_access != o->fault_access ? "another access" : NULL;
}

static const char *compare_done(const struct oracle_result *o, const struct outcome *c,
				enum mode mode)
{
	if (c->state != NPU_CORE_STATE_DONE)
		return "the core is not done";
	if (c->report.fault_code)
		return "a fault is reported";
	if (c->report.macs != o->macs)
		return "another number of multiply-accumulates";
	if (c->report.bytes_written != o->bytes_written)
		return "another number of bytes written";
	/* A program that goes on after a YIELD reads some of its words again. */
	if (mode != YIELDED && c->report.bytes_read != o->bytes_read)
		return "another number of bytes read";
	return mode != YIELDED && c->report.insn != o->insn ? "another number of instructions" :
							      NULL;
}

static bool same_memory(const struct address_space *a, const struct address_space *b)
{
	for (unsigned int i = 0; i < a->count; i++)
		if (memcmp(a->segments[i].bytes, b->segments[i].bytes, a->segments[i].size))
			return false;
	return true;
}

/* Whatever a program does that faults, it writes where its STOREs point only. */
static bool confined(const struct generated *g, const struct address_space *after)
{
	for (unsigned int i = 0; i < g->space.count; i++) {
		const struct segment *s = &g->space.segments[i];

		for (u32 at = 0; at < s->size; at += GENERATED_GRANULE) {
			bool stored = i < GENERATED_DATA_SEGMENTS && at < GENERATED_SEGMENT &&
				      g->stored[i][at / GENERATED_GRANULE];

			if (!stored && memcmp(s->bytes + at, after->segments[i].bytes + at,
					      GENERATED_GRANULE))
				return false;
		}
	}
	return true;
}

static void check_mode(const struct generated *g, const struct address_space *expected,
		       const struct oracle_result *o, enum mode mode, u64 *cycles)
{
	struct outcome c = outcome_of(g, mode);
	const char *what = o->fault_code ? compare_fault(o, &c) : compare_done(o, &c, mode);

	if (!what && !o->fault_code && !same_memory(&bench.space, expected))
		what = "other bytes in memory";
	if (!what && o->fault_code && o->fault_unit != NPU_UNIT_STORE &&
	    !confined(g, &bench.space))
		what = "bytes changed that no STORE names";
	if (!what && mode == SLICED && c.report.cycles != *cycles)
		what = "slices changed the number of cycles";
	if (mode == WHOLE)
		*cycles = c.report.cycles;
	if (what)
		explain(g, o, &c, mode, what);
	address_space_free(&bench.space);
}

static void run_oracle(const struct generated *g, struct address_space *space,
		       struct oracle_result *result)
{
	const struct oracle_program program = {
		.memory = { space, address_space_read, address_space_write },
		.insn_va = g->insn_va,
		.insn_count = g->insn_count,
		.region_va = g->region_va,
		.region_count = g->region_count,
		.features = g->features,
	};

	assert_int_equal(oracle_run(&program, result), 0);
}

/* Runs a program on both; gives the outcome, and frees the program. */
static struct oracle_result check_program(struct generated *g)
{
	struct address_space expected;
	struct oracle_result result;
	u64 cycles = 0;

	assert_true(address_space_copy(&expected, &g->space));
	run_oracle(g, &expected, &result);
	check_mode(g, &expected, &result, WHOLE, &cycles);
	if (g->seed % 2)
		check_mode(g, &expected, &result, SLICED, &cycles);
	if (g->yields)
		check_mode(g, &expected, &result, YIELDED, &cycles);
	address_space_free(&expected);
	return result;
}

static void check_seed(uint64_t seed, bool print)
{
	struct oracle_result result;
	struct generated g;

	assert_true(generate(&g, seed));
	if (print)
		generated_print(&g, stderr);
	result = check_program(&g);
	assert_int_equal(result.fault_code, g.fault_code);
	if (g.fault_code) {
		assert_int_equal(result.fault_unit, g.fault_unit);
		assert_int_equal(result.insn, g.fault_insn);
	}
	generated_free(&g);
}

static void test_batch(void **state)
{
	uint64_t first = *(const uint64_t *)*state;

	for (uint64_t seed = first; seed < first + BATCH; seed++)
		check_seed(seed, false);
}

/* Products at half an integer: every rounding step shows. */
static void test_requant(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 40; seed++) {
		struct generated g;

		assert_true(generate_requant(&g, seed));
		assert_int_equal(check_program(&g).fault_code, NPU_FAULT_NONE);
		generated_free(&g);
	}
}

static void check_tokens(struct generated *g, unsigned int *deadlocks)
{
	const struct segment *code = &g->space.segments[0];
	struct oracle_result result = check_program(g);
	size_t stuck = SIZE_MAX;

	/* The builder's check is a third opinion. */
	if (npu_tokens_check(code->bytes, g->insn_count, &stuck)) {
		assert_int_equal(result.fault_code, NPU_FAULT_DEADLOCK);
		assert_int_equal(result.insn, stuck);
		(*deadlocks)++;
	} else {
		assert_int_equal(result.fault_code, NPU_FAULT_NONE);
	}
}

static void test_tokens(void **state)
{
	enum { PROGRAMS = 3000 };
	unsigned int deadlocks = 0;
	(void)state;

	for (uint64_t seed = 1; seed <= PROGRAMS; seed++) {
		struct generated g;

		assert_true(generate_tokens(&g, seed));
		check_tokens(&g, &deadlocks);
		generated_free(&g);
	}
	/* Both ends are common. */
	assert_in_range(deadlocks, PROGRAMS / 10, PROGRAMS - PROGRAMS / 10);
}

/* As many instructions may wait as the queue is deep, and no more. */
static void test_queue_depth(void **state)
{
	(void)state;
	for (unsigned int unit = 0; unit < 3; unit++) {
		for (unsigned int more = 0; more < 2; more++) {
			struct oracle_result result;
			struct generated g;

			assert_true(generate_queue(&g, unit, NPU_CMD_QUEUE_DEPTH + more));
			result = check_program(&g);
			assert_int_equal(result.fault_code,
					 more ? NPU_FAULT_DEADLOCK : NPU_FAULT_NONE);
			generated_free(&g);
		}
	}
}

static uint64_t replay_first, replay_count = 1;

static void test_replay(void **state)
{
	(void)state;
	for (uint64_t seed = replay_first; seed < replay_first + replay_count; seed++)
		check_seed(seed, replay_count == 1);
}

static bool parse_options(int argc, char **argv)
{
	static const struct option options[] = {
		{ "seed", required_argument, NULL, 's' },
		{ "count", required_argument, NULL, 'c' },
		{ NULL, 0, NULL, 0 },
	};
	bool replay = false;
	int option;

	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (option == 's') {
			replay_first = strtoull(optarg, NULL, 0);
			replay = true;
		} else if (option == 'c') {
			replay_count = strtoull(optarg, NULL, 0);
		} else {
			exit(2);
		}
	}
	return replay;
}

static int run_batches(void)
{
	static char names[BATCHES][40];
	static uint64_t firsts[BATCHES];
	struct CMUnitTest tests[BATCHES + 3] = {
		[BATCHES] = cmocka_unit_test(test_requant),
		[BATCHES + 1] = cmocka_unit_test(test_tokens),
		[BATCHES + 2] = cmocka_unit_test(test_queue_depth),
	};

	for (int i = 0; i < BATCHES; i++) {
		firsts[i] = (uint64_t)i * BATCH + 1;
		snprintf(names[i], sizeof(names[i]), "seeds_%d_to_%d", i * BATCH + 1,
			 (i + 1) * BATCH);
		tests[i] = (struct CMUnitTest){ names[i], test_batch, NULL, NULL, &firsts[i] };
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest replays[] = { cmocka_unit_test(test_replay) };
	bool replay = parse_options(argc, argv);
	int ret;

	cmocka_set_message_output(CM_OUTPUT_TAP);
	bench.core = malloc(npu_core_size());
	bench.poor = malloc(npu_core_size());
	if (!bench.core || !bench.poor)
		return 2;
	npu_core_init(bench.core, 0, ALL_FEATURES, &memory);
	ret = replay ? cmocka_run_group_tests(replays, NULL, NULL) : run_batches();
	free(bench.core);
	free(bench.poor);
	return ret;
}
