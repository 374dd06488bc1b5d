// SPDX-License-Identifier: MIT
/*
 * A host that writes random bytes into everything it shares with the firmware
 * while it works, and rings at random. Whatever comes of it, the firmware does
 * not trap, and the device serves again after a reset.
 */
#include <stdarg.h>
#include <stdlib.h>
#include <setjmp.h>
#include <cmocka.h>
#include "tests/unit/device_board.h"

#define QUEUES	6
#define STEPS	4000

static u64 seed;

static u32 rnd(void)
{
	seed = seed * 6364136223846793005ull + 1442695040888963407ull;
	return seed >> 33;
}

struct host {
	struct dev_board d;
	struct dev_queue q[QUEUES];
	u32 tails[QUEUES + 1];
};

/* Interrupts of completion rings: that the games are not over at once. */
static u32 interrupts;

static void begin(struct host *h)
{
	struct npu_admin_sqe sqe;
	u64 bus;
	u32 i;

	dev_boot(&h->d);
	memset(h->tails, 0, sizeof(h->tails));
	dev_context(&h->d, 1);
	dev_context(&h->d, 2);
	dev_make_cq(&h->d, 1, 5);
	dev_make_cq(&h->d, 2, 3);
	for (i = 0; i < QUEUES; i++)
		dev_make_queue(&h->d, &h->q[i], i + 1, 1 + i % 2, 1 + i % 2,
			       &(struct dev_queue_opts){ .priority = i % 4, .shadow = i & 1,
							 .in_context = i & 2,
							 .log_size = 2 + i % 3,
							 .limit = 20000 });
	dev_pages(&h->d, 1, &bus);
	npu_admin_event_ring_set(&sqe, bus, 2);
	dev_admin_ok(&h->d, &sqe);
	h->tails[0] = h->d.admin.sq.tail;
	dev_program_busy(&h->d, 1, DEV_VA, 1, 4);
	dev_program_busy(&h->d, 2, DEV_VA, 1, 4);
}

/* An entry that is mostly right, with some bytes that are not. */
static void scribble_entry(struct host *h, u32 i)
{
	struct dev_queue *q = &h->q[i];
	struct npu_job_sqe sqe = dev_job(rnd(), DEV_VA + 16 * (rnd() % 4), 1 + rnd() % 10);
	u32 k;

	sqe.op = rnd() & 1;
	if (rnd() & 1)
		npu_job_nop(&sqe, rnd());
	if (!(rnd() % 4))
		sqe.report_va = DEV_VA_DATA + 64 * (rnd() % 64);
	for (k = rnd() % 4; k; k--)
		((u8 *)&sqe)[rnd() % sizeof(sqe)] = rnd();
	memcpy((u8 *)q->entries + 64 * (rnd() % q->sq.size), &sqe, sizeof(sqe));
}

static void scribble_admin(struct host *h)
{
	struct npu_admin_sqe sqe = {
		.op = rnd() % 12, .queue = rnd() % (QUEUES + 2), .cq = rnd() % 4,
		.context = rnd() % 4, .log_size = rnd() % 5, .priority = rnd() % 5,
		.arg0 = rnd() % 4, .core_mask = 1, .limit = 1 + rnd() % 50000,
		.address = h->d.sq_bus + 4096ull * (rnd() % 64),
	};
	u32 k;

	/* Not SUSPEND: it is the end of the game. Unused fields mostly 0. */
	if (sqe.op != NPU_ADMIN_QUEUE_CREATE) {
		sqe.core_mask = 0;
		sqe.limit = 0;
		sqe.priority = 0;
	}
	for (k = rnd() % 3; k; k--)
		((u8 *)&sqe)[1 + rnd() % (sizeof(sqe) - 1)] = rnd();
	memcpy((u8 *)h->d.sq + 64 * (h->tails[0]++ % NPU_ADMIN_SLOTS), &sqe, sizeof(sqe));
	npu_model_doorbell(h->d.m, 0, h->tails[0]);
}

static void scribble_memory(struct host *h)
{
	u64 at = rnd() % (DEV_PAGES * 4096ull);

	/* Not the admin rings, which scribble_admin() has. */
	if (at < 2 * 4096)
		return;
	h->d.mem[at] = rnd();
}

static void step(struct host *h)
{
	u32 i = rnd() % QUEUES;

	switch (rnd() % 12) {
	case 0:
	case 1:
	case 2:
	case 3:
		scribble_entry(h, i);
		break;
	case 4:
	case 5:
	case 6:
		h->tails[i + 1] += rnd() % 3;
		if (h->q[i].shadow)
			h->q[i].shadow->sq_tail = h->tails[i + 1];
		npu_model_doorbell(h->d.m, i + 1, h->tails[i + 1]);
		break;
	case 7:
		scribble_memory(h);
		break;
	case 8:
		if (!(rnd() % 8))
			scribble_admin(h);
		break;
	case 9:
		if (!(rnd() % 64))
			npu_model_doorbell(h->d.m, 1 + rnd() % (QUEUES + 4), rnd() << 1);
		break;
	default:
		npu_model_run(h->d.m, rnd() % 3000);
		break;
	}
}

static void game(u64 number, u32 cores)
{
	struct npu_model_config cfg;
	struct host *h = malloc(sizeof(*h));
	u32 i, error;

	assert_non_null(h);
	npu_model_default_config(&cfg);
	cfg.cores = cores;
	seed = number;
	dev_init(&h->d, &cfg);
	begin(h);
	for (i = 0; i < STEPS; i++)
		step(h);
	dev_run(&h->d);
	error = npu_model_reg_read(h->d.m, NPU_HOST_BOOT_ERROR);
	if ((error & 0xff) == NPU_BOOT_ERROR_TRAP ||
	    npu_model_reg_read(h->d.m, NPU_HOST_CP_STATUS) & NPU_HOST_CP_STATUS_HALTED_MASK)
		fail_msg("game %llu: boot error 0x%x", (unsigned long long)number, error);
	interrupts += h->d.irqs[1] + h->d.irqs[2];
	dev_exit(&h->d);
	dev_init(&h->d, &cfg);
	begin(h);
	dev_push_nop(&h->q[0], 1234);
	dev_ring(&h->q[0]);
	dev_run(&h->d);
	assert_int_equal(dev_cqe(&h->d, 1).cmd_id, 1234);
	dev_exit(&h->d);
	free(h);
}

static void one_core(void **state)
{
	u64 i;

	(void)state;
	for (i = 1; i <= 40; i++)
		game(i, 1);
	assert_true(interrupts > 2000);
	interrupts = 0;
}

static void three_cores(void **state)
{
	u64 i;

	(void)state;
	for (i = 101; i <= 130; i++)
		game(i, 3);
	assert_true(interrupts > 2000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_core),
		cmocka_unit_test(three_cores),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("fw_hostile", tests, NULL, NULL);
}
