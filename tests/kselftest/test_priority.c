// SPDX-License-Identifier: GPL-2.0-only
/* Priorities and YIELD, in cycles of the device, which stands still where a test needs it to. */
#include "tests/kselftest/npu_harness.h"

#define DEBUGFS		"/sys/kernel/debug"
#define FROZEN		"/sys/bus/auxiliary/devices/npu_sim.npu.0/frozen"
#define RINGS		DEBUGFS "/accel/npu_sim.npu.0/npu_rings"
#define STATE		DEBUGFS "/accel/npu_sim.npu.0/npu_state"

#define CODE_VA		TEST_VA
#define REPORT_VA	(TEST_VA + 0x10000)

/* Micro-ops between two YIELDs, and how often. */
#define INTERVAL	(1u << 18)
#define PARTS		48u

/* More than all that a switch takes of the control processor. */
#define SWITCH		4096u

enum job { LOW, HIGH, JOBS };

FIXTURE(priority)
{
	int fd;
	uint32_t queues[JOBS];
	uint32_t syncs[JOBS];
	uint8_t *code;
	const struct npu_job_report *reports;
};

FIXTURE_SETUP(priority)
{
	int i;

	self->fd = test_open(0);
	ASSERT_GE(self->fd, 0);
	for (i = 0; i < JOBS; i++) {
		ASSERT_EQ(0, test_queue_create(self->fd, i == HIGH ? 3 : 0, 0, &self->queues[i]));
		ASSERT_EQ(0, test_syncobj_create(self->fd, &self->syncs[i]));
	}
	self->code = test_buffer(self->fd, CODE_VA, TEST_PAGE, TEST_RWX, NULL);
	ASSERT_NE(MAP_FAILED, self->code);
	self->reports = (void *)test_buffer(self->fd, REPORT_VA, TEST_PAGE, TEST_RW, NULL);
	ASSERT_NE(MAP_FAILED, self->reports);
}

FIXTURE_TEARDOWN(priority)
{
	test_write_file(FROZEN, "0");
	close(self->fd);
}

static int submit(int fd, uint32_t queue, enum job which, uint32_t insns, uint32_t sync)
{
	struct drm_npu_job job = {
		.insn_va = CODE_VA + which * 2048,
		.insn_count = insns,
		.report_va = REPORT_VA + which * sizeof(struct npu_job_report),
	};

	return test_submit(fd, queue, &job, 1, sync);
}

/* Slot of the queue of priority 3; there is one. */
static int slot_of_high(void)
{
	char text[8192];
	unsigned int slot, priority;
	char *line, *rest = text;

	if (test_read_file(STATE, text, sizeof(text)) < 0)
		return -1;
	while ((line = strsep(&rest, "\n")))
		if (sscanf(line, "queue %u: client %*u context %*u priority %u", &slot,
			   &priority) == 2 && priority == 3)
			return slot;
	return -1;
}

/* The device was told of the first job of that queue. */
static bool high_was_rung(void)
{
	char text[8192], key[32];
	unsigned int tail, told;
	const char *line;

	snprintf(key, sizeof(key), "\nqueue %d: tail ", slot_of_high());
	if (test_read_file(RINGS, text, sizeof(text)) < 0)
		return false;
	line = strstr(text, key);
	return line && sscanf(line + strlen(key), "%u told %u", &tail, &told) == 2 && tail == 1 &&
	       told == 1;
}

/* With the device standing still: a job of priority 3, and the tick that it came at. */
static int submit_high(int fd, uint32_t queue, uint32_t insns, uint32_t sync, uint64_t *came)
{
	int ret;

	*came = test_ticks(fd);
	ret = submit(fd, queue, HIGH, insns, sync);
	while (!ret && !high_was_rung())
		usleep(1000);
	return ret;
}

static uint32_t finish_program(uint8_t *words)
{
	struct test_program program = { .words = words };

	test_program_finish(&program, false);
	return program.count;
}

/* Starts the job of priority 0 and stops the device in the middle of it. */
static int freeze_in_the_middle(int fd, uint32_t queue, uint32_t insns, uint32_t sync)
{
	struct drm_npu_queue_query query;
	int64_t before;
	int ret;

	/* Again if this process got no turn until it had ended. */
	do {
		before = test_cycles(fd);
		ret = test_write_file(FROZEN, "0") ?: submit(fd, queue, LOW, insns, sync);
		if (ret)
			return ret;
		while (test_cycles(fd) == before)
			usleep(1000);
		ret = test_write_file(FROZEN, "1") ?: test_queue_query(fd, queue, &query);
	} while (!ret && query.jobs_done == query.jobs_submitted);
	return ret;
}

TEST_F(priority, high_starts_at_the_next_yield)
{
	uint32_t low = test_yield_program(self->code, INTERVAL, PARTS);
	uint32_t high = finish_program(self->code + 2048);
	uint64_t came;

	ASSERT_EQ(0, freeze_in_the_middle(self->fd, self->queues[LOW], low, self->syncs[LOW]));
	ASSERT_EQ(0, submit_high(self->fd, self->queues[HIGH], high, self->syncs[HIGH], &came));
	ASSERT_EQ(0, test_write_file(FROZEN, "0"));
	ASSERT_EQ(0, test_syncobj_status(self->fd, self->syncs[HIGH]));
	ASSERT_EQ(0, test_syncobj_status(self->fd, self->syncs[LOW]));
	TH_LOG("%llu cycles, with a YIELD each %u",
	       (unsigned long long)(self->reports[HIGH].start_tick - came), INTERVAL);
	EXPECT_LE(came, self->reports[HIGH].start_tick);
	EXPECT_GE(came + INTERVAL + SWITCH, self->reports[HIGH].start_tick);
	/* In between the other one was stopped, and nothing of it was done twice. */
	EXPECT_LT(self->reports[LOW].start_tick, self->reports[HIGH].start_tick);
	EXPECT_LT(self->reports[HIGH].end_tick, self->reports[LOW].end_tick);
	EXPECT_LE((uint64_t)INTERVAL * PARTS, self->reports[LOW].cycles);
	EXPECT_GE((uint64_t)INTERVAL * PARTS + SWITCH, self->reports[LOW].cycles);
	EXPECT_EQ(low, self->reports[LOW].insn);
}

TEST_F(priority, without_yield_it_waits_for_the_end)
{
	uint32_t low = test_work_program(self->code, (uint64_t)INTERVAL * PARTS);
	uint32_t high = finish_program(self->code + 2048);
	uint64_t came;

	ASSERT_EQ(0, freeze_in_the_middle(self->fd, self->queues[LOW], low, self->syncs[LOW]));
	ASSERT_EQ(0, submit_high(self->fd, self->queues[HIGH], high, self->syncs[HIGH], &came));
	ASSERT_EQ(0, test_write_file(FROZEN, "0"));
	ASSERT_EQ(0, test_syncobj_status(self->fd, self->syncs[HIGH]));
	ASSERT_EQ(0, test_syncobj_status(self->fd, self->syncs[LOW]));
	EXPECT_LE(self->reports[LOW].end_tick, self->reports[HIGH].start_tick);
}

TEST_F(priority, an_equal_waits_for_the_end)
{
	uint32_t low = test_yield_program(self->code, INTERVAL, PARTS);
	uint32_t other = finish_program(self->code + 2048);
	uint32_t equal;

	ASSERT_EQ(0, test_queue_create(self->fd, 0, 0, &equal));
	ASSERT_EQ(0, submit(self->fd, self->queues[LOW], LOW, low, self->syncs[LOW]));
	test_wait_until_it_runs(self->fd);
	ASSERT_EQ(0, submit(self->fd, equal, HIGH, other, self->syncs[HIGH]));
	ASSERT_EQ(0, test_syncobj_status(self->fd, self->syncs[HIGH]));
	ASSERT_EQ(0, test_syncobj_status(self->fd, self->syncs[LOW]));
	EXPECT_LE(self->reports[LOW].end_tick, self->reports[HIGH].start_tick);
}

TEST_F(priority, limit_counts_what_it_ran)
{
	struct npu_job_report *reports = (void *)self->reports;
	uint32_t low = test_yield_program(self->code, INTERVAL, 4);
	uint32_t high = test_work_program(self->code + 2048, INTERVAL * PARTS);
	struct drm_npu_job job = {
		.insn_va = CODE_VA, .insn_count = low, .limit = 6 * INTERVAL,
		.report_va = REPORT_VA,
	};
	uint64_t came;

	/* The one of high priority runs for far longer than the other's limit. */
	ASSERT_EQ(0, test_write_file(FROZEN, "1"));
	ASSERT_EQ(0, test_submit(self->fd, self->queues[LOW], &job, 1, self->syncs[LOW]));
	ASSERT_EQ(0, submit_high(self->fd, self->queues[HIGH], high, self->syncs[HIGH], &came));
	ASSERT_EQ(0, test_write_file(FROZEN, "0"));
	ASSERT_EQ(0, test_syncobj_status(self->fd, self->syncs[HIGH]));
	EXPECT_EQ(0, test_syncobj_status(self->fd, self->syncs[LOW]));
	EXPECT_EQ(NPU_JOB_STATUS_OK, reports[LOW].status);
	EXPECT_GE(6 * INTERVAL, reports[LOW].cycles);
}

TEST_HARNESS_MAIN
