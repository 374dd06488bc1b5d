// SPDX-License-Identifier: MIT
#include <stdarg.h>
#include <stdlib.h>
#include <setjmp.h>
#include <cmocka.h>
#include "tests/unit/fw_cost.h"

#define CQ	1
#define ROUNDS	5

static u64 run_jobs(struct dev_board *d, struct dev_queue *q, const struct npu_job_sqe *sqe,
		    u32 count)
{
	u64 worst = 0, before, insns;
	u32 i, round;

	for (round = 0; round < ROUNDS; round++) {
		for (i = 0; i < count; i++)
			dev_push(q, sqe);
		before = npu_model_cp_insns(d->m);
		dev_ring(q);
		dev_run(d);
		insns = npu_model_cp_insns(d->m) - before;
		for (i = 0; i < count; i++) {
			assert_int_equal(dev_cqe(d, CQ).status, NPU_JOB_STATUS_OK);
			npu_sq_complete(&q->sq);
		}
		if (insns > worst)
			worst = insns;
	}
	return worst;
}

void fw_cost_measure(struct fw_cost *cost)
{
	const struct dev_queue_opts large = { .log_size = 7 };
	const struct dev_queue_opts shadow = { .log_size = 7, .shadow = true };
	struct npu_job_sqe nop, run, report;
	struct dev_queue q, with_shadow;
	struct dev_board d;

	dev_init(&d, NULL);
	dev_boot(&d);
	dev_context(&d, 1);
	dev_make_cq(&d, CQ, 8);
	dev_make_queue(&d, &q, 1, CQ, 1, &large);
	dev_make_queue(&d, &with_shadow, 2, CQ, 1, &shadow);
	dev_run(&d);
	npu_job_nop(&nop, 1);
	run = dev_job(2, DEV_VA, dev_program_finish(&d, 1, DEV_VA));
	report = run;
	report.report_va = DEV_VA_DATA;

	cost->nop = run_jobs(&d, &q, &nop, 1);
	cost->run = run_jobs(&d, &q, &run, 1);
	cost->run_shadow = run_jobs(&d, &with_shadow, &run, 1);
	cost->run_report = run_jobs(&d, &q, &report, 1);
	cost->batch_nop = run_jobs(&d, &q, &nop, COST_BATCH);
	cost->batch_run = run_jobs(&d, &q, &run, COST_BATCH);
	dev_exit(&d);
}
