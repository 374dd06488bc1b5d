// SPDX-License-Identifier: MIT
#include <stdarg.h>
#include <stdlib.h>
#include <setjmp.h>
#include <cmocka.h>
#include "tests/unit/fw_yield.h"

#define CQ		1
#define PARTS		8
#define VA_YIELDS	(DEV_VA + 0x1000)
#define VA_REPORT_HIGH	DEV_VA_DATA
#define VA_REPORT_LOW	(DEV_VA_DATA + sizeof(struct npu_job_report))

struct bench {
	struct dev_board d;
	struct dev_queue low;
	struct dev_queue high;
	struct npu_job_sqe slow;
	struct npu_job_sqe quick;
};

static void bench_init(struct bench *b)
{
	const struct dev_queue_opts low = { .priority = 0 };
	const struct dev_queue_opts high = { .priority = NPU_PRIORITIES - 1 };

	dev_init(&b->d, NULL);
	dev_boot(&b->d);
	dev_context(&b->d, 1);
	dev_make_cq(&b->d, CQ, 8);
	dev_make_queue(&b->d, &b->low, 1, CQ, 1, &low);
	dev_make_queue(&b->d, &b->high, 2, CQ, 1, &high);
	b->quick = dev_job(1, DEV_VA, dev_program_finish(&b->d, 1, DEV_VA));
	b->quick.report_va = VA_REPORT_HIGH;
	b->slow = dev_job(2, VA_YIELDS, dev_program_busy(&b->d, 1, VA_YIELDS, 1, PARTS));
	b->slow.report_va = VA_REPORT_LOW;
	dev_run(&b->d);
}

static void push(struct dev_queue *q, const struct npu_job_sqe *sqe)
{
	dev_push(q, sqe);
	dev_ring(q);
}

static void complete(struct bench *b, struct dev_queue *q)
{
	const struct npu_cqe cqe = dev_cqe(&b->d, CQ);

	assert_int_equal(cqe.status, NPU_JOB_STATUS_OK);
	assert_int_equal(cqe.queue, q->slot);
	npu_sq_complete(&q->sq);
}

/* Ticks from the doorbell to the start of a job of high priority. */
static u64 delay(struct bench *b)
{
	const struct npu_job_report *report = dev_mem(&b->d, 1, VA_REPORT_HIGH);
	u64 rung = npu_read_ticks(&b->d.env);

	push(&b->high, &b->quick);
	dev_run(&b->d);
	complete(b, &b->high);
	return report->start_tick - rung;
}

/* Of the job of low priority alone. */
static u64 interval(struct bench *b)
{
	push(&b->low, &b->slow);
	dev_run(&b->d);
	complete(b, &b->low);
	return ((struct npu_job_report *)dev_mem(&b->d, 1, VA_REPORT_LOW))->cycles / PARTS;
}

static void run_until(struct bench *b, u64 tick)
{
	while (npu_read_ticks(&b->d.env) < tick)
		npu_model_run(b->d.m, 16);
}

void fw_yield_measure(struct fw_yield *out)
{
	struct bench b;
	u64 ticks;
	u32 i;

	bench_init(&b);
	*out = (struct fw_yield) { .best = UINT64_MAX };
	out->idle = delay(&b);
	out->interval = interval(&b);
	for (i = 0; i < YIELD_PHASES; i++) {
		push(&b.low, &b.slow);
		run_until(&b, npu_read_ticks(&b.d.env) + 2 * out->interval +
			  i * out->interval / YIELD_PHASES);
		ticks = delay(&b);
		complete(&b, &b.low);
		if (ticks < out->best)
			out->best = ticks;
		if (ticks > out->worst)
			out->worst = ticks;
	}
	dev_exit(&b.d);
}
