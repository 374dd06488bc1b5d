// SPDX-License-Identifier: MIT
/* Rings and doorbells: wraps, phases, sharing, shadow blocks, and hostile contents. */
#include <stdarg.h>
#include <stdlib.h>
#include <setjmp.h>
#include <cmocka.h>
#include "tests/unit/device_board.h"

static struct dev_board d;
static u32 n_finish;

static int setup(void **state)
{
	(void)state;
	dev_init(&d, NULL);
	dev_boot(&d);
	dev_context(&d, 1);
	n_finish = dev_program_finish(&d, 1, DEV_VA);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	dev_exit(&d);
	return 0;
}

static void event_ring(struct npu_evq *evq, u32 log_size)
{
	struct npu_admin_sqe sqe;
	void *entries;
	u64 bus;

	entries = dev_pages(&d, 1, &bus);
	npu_evq_init(evq, entries, log_size);
	npu_admin_event_ring_set(&sqe, bus, log_size);
	dev_admin_ok(&d, &sqe);
}

/* Every size of rings, several passes of each, in lots of all sizes. */
static void wraps(void **state)
{
	struct dev_queue q;
	u32 log, i, lot, sent, taken;

	(void)state;
	for (log = NPU_RING_LOG_MIN; log <= NPU_RING_LOG_MAX; log++) {
		const struct dev_queue_opts opts = { .log_size = log };
		struct npu_admin_sqe sqe;
		struct npu_cqe cqe;

		dev_make_cq(&d, 1, log);
		dev_make_queue(&d, &q, 1, 1, 1, &opts);
		for (sent = taken = 0, lot = 1; sent < 5u << log; lot = lot % 37 + 1) {
			for (i = 0; i < lot && npu_sq_room(&q.sq); i++)
				dev_push_nop(&q, sent++);
			dev_ring(&q);
			dev_run(&d);
			while (dev_poll(&d, 1, &cqe)) {
				assert_int_equal(cqe.cmd_id, taken++);
				assert_int_equal(cqe.status, NPU_JOB_STATUS_OK);
				npu_sq_complete(&q.sq);
			}
			assert_int_equal(taken, sent);
		}
		npu_admin_queue_destroy(&sqe, 1);
		dev_admin_ok(&d, &sqe);
		npu_admin_cq_destroy(&sqe, 1);
		dev_admin_ok(&d, &sqe);
	}
}

/* Eight queues on one ring, of all kinds; each stays in order. */
static void counts_completions_of_many_queues(void **state)
{
	struct dev_queue q[8];
	struct npu_job_sqe job = dev_job(0, DEV_VA, n_finish);
	u32 i, k, round, next[9] = { 0 };
	struct npu_cqe cqe;

	(void)state;
	dev_make_cq(&d, 1, 7);
	for (i = 0; i < 8; i++)
		dev_make_queue(&d, &q[i], i + 1, 1, 1,
			       &(struct dev_queue_opts){ .priority = i % 4, .shadow = i & 1,
							 .in_context = i & 2 });
	for (round = 0; round < 40; round++) {
		for (i = 0; i < 8; i++) {
			for (k = 0; k < (round + i) % 16; k++) {
				job.cmd_id = q[i].sq.tail;
				if (k % 3)
					dev_push_nop(&q[i], job.cmd_id);
				else
					dev_push(&q[i], &job);
			}
			dev_ring(&q[i]);
			npu_model_run(d.m, 100 * (round % 5));
		}
		dev_run(&d);
		while (dev_poll(&d, 1, &cqe)) {
			assert_in_range(cqe.queue, 1, 8);
			assert_int_equal(cqe.cmd_id, next[cqe.queue]++);
			npu_sq_complete(&q[cqe.queue - 1].sq);
		}
		for (i = 0; i < 8; i++)
			assert_int_equal(next[i + 1], q[i].sq.tail);
	}
	assert_true(d.irqs[1] > 0);
}

/* An interrupt covers many entries, and the last one is never without. */
static void shares_interrupts(void **state)
{
	const struct dev_queue_opts opts = { .log_size = 7 };
	struct dev_queue q;
	u32 i;

	(void)state;
	dev_make_cq(&d, 1, 8);
	dev_make_queue(&d, &q, 1, 1, 1, &opts);
	for (i = 0; i < 128; i++)
		dev_push_nop(&q, i);
	dev_ring(&q);
	dev_run(&d);
	assert_in_range(d.irqs[1], 1, 16);
	for (i = 0; i < 128; i++)
		assert_int_equal(dev_cqe(&d, 1).cmd_id, i);
	d.irqs[1] = 0;
	for (i = 0; i < 5; i++) {
		npu_sq_complete(&q.sq);
		dev_push_nop(&q, i);
		dev_ring(&q);
		dev_run(&d);
		assert_int_equal(d.irqs[1], i + 1);
	}
}

/* A host that looks at every tick sees whole entries, in order. */
static void shows_whole_entries_only(void **state)
{
	struct npu_job_sqe job = dev_job(0, DEV_VA, n_finish);
	const struct npu_job_report *r = dev_mem(&d, 1, DEV_VA_DATA);
	struct dev_queue q;
	struct npu_cqe cqe;
	u32 i, taken = 0;

	(void)state;
	dev_make_cq(&d, 1, 5);
	dev_make_queue(&d, &q, 1, 1, 1, NULL);
	memset(d.cqs[1].entries, 0, 4096);
	for (i = 0; i < 16; i++) {
		job.cmd_id = i + 1;
		job.report_va = DEV_VA_DATA + 128 * i;
		dev_push(&q, &job);
	}
	memset(dev_mem(&d, 1, DEV_VA_DATA), 0xff, 16 * 128);
	dev_ring(&q);
	while (npu_model_run(d.m, 1)) {
		while (dev_poll(&d, 1, &cqe)) {
			assert_int_equal(cqe.cmd_id, taken + 1);
			assert_int_equal(cqe.queue, 1);
			assert_true(cqe.cycles && cqe.insn == n_finish);
			assert_int_equal(r[taken].cycles, cqe.cycles);
			taken++;
		}
	}
	assert_int_equal(taken, 16);
}

/* Under load hardly any doorbell is written, and nothing is missed. */
static void shadow_saves_doorbells(void **state)
{
	const struct dev_queue_opts opts = { .log_size = 6, .shadow = true };
	struct npu_job_sqe job;
	struct dev_queue q;
	struct npu_cqe cqe;
	u32 i, doorbells = 0, taken = 0;

	(void)state;
	dev_make_cq(&d, 1, 8);
	dev_make_queue(&d, &q, 1, 1, 1, &opts);
	job = dev_job(0, DEV_VA, dev_program_busy(&d, 1, DEV_VA, 1, 1));
	for (i = 0; i < 400; i++) {
		job.cmd_id = i;
		dev_push(&q, &job);
		if (npu_sq_publish(&q.sq)) {
			doorbells++;
			npu_model_doorbell(d.m, 1, q.sq.tail);
		}
		while (!npu_sq_room(&q.sq) || i == 399) {
			if (!npu_model_run(d.m, 5000) && !npu_sq_room(&q.sq) &&
			    taken + 64 < q.sq.tail)
				fail_msg("stuck at %u of %u", taken, i);
			while (dev_poll(&d, 1, &cqe)) {
				assert_int_equal(cqe.cmd_id, taken++);
				npu_sq_complete(&q.sq);
			}
			if (taken == 400)
				break;
		}
	}
	assert_int_equal(taken, 400);
	assert_in_range(doorbells, 1, 20);
	dev_run(&d);
	/* At rest the device wants the doorbell, and says what it has fetched. */
	assert_int_equal(q.shadow->event_idx, 400);
	assert_int_equal(q.shadow->sq_head, 400);
}

/* Random steps of host and device: whoever sleeps is woken. */
static void shadow_loses_no_wakeup(void **state)
{
	const struct dev_queue_opts opts = { .log_size = 3, .shadow = true };
	struct dev_queue q;
	struct npu_cqe cqe;
	u32 i, seed = 1, taken = 0;

	(void)state;
	dev_make_cq(&d, 1, 8);
	dev_make_queue(&d, &q, 1, 1, 1, &opts);
	for (i = 0; i < 20000; i++) {
		seed = seed * 1103515245 + 12345;
		if (npu_sq_room(&q.sq) && seed >> 16 & 1) {
			dev_push_nop(&q, q.sq.tail);
			dev_ring(&q);
		}
		npu_model_run(d.m, seed >> 20 & 1023);
		while (dev_poll(&d, 1, &cqe)) {
			assert_int_equal(cqe.cmd_id, taken++);
			npu_sq_complete(&q.sq);
		}
		if (i % 1000 == 999) {
			dev_run(&d);
			while (dev_poll(&d, 1, &cqe)) {
				taken++;
				npu_sq_complete(&q.sq);
			}
			assert_int_equal(taken, q.sq.tail);
		}
	}
	assert_true(taken > 4000);
}

static void stops_at_impossible_tails(void **state)
{
	static const u32 tails[] = { 17, 100, 0x7fffffff, 0x80000000, 0xfffffff0 - 1 };
	struct npu_admin_sqe sqe;
	struct npu_event event;
	struct npu_evq evq;
	struct dev_queue q;
	struct npu_cqe cqe;
	u32 i;

	(void)state;
	event_ring(&evq, 4);
	dev_make_cq(&d, 1, 4);
	for (i = 0; i < sizeof(tails) / sizeof(tails[0]); i++) {
		dev_make_queue(&d, &q, 1, 1, 1, NULL);
		npu_model_doorbell(d.m, 1, tails[i]);
		dev_run(&d);
		assert_int_equal(npu_evq_poll(&evq, &event), 1);
		assert_int_equal(event.type, NPU_EVENT_RING_FAULT);
		assert_int_equal(event.queue, 1);
		assert_int_equal(event.context, 1);
		assert_int_equal(event.fault_code, NPU_FAULT_LENGTH);
		assert_int_equal(event.fault_va, tails[i]);
		/* Stopped until it is destroyed; told once. */
		npu_model_doorbell(d.m, 1, 1);
		npu_model_doorbell(d.m, 1, 500);
		dev_run(&d);
		assert_false(dev_poll(&d, 1, &cqe));
		assert_int_equal(npu_evq_poll(&evq, &event), 0);
		npu_admin_queue_destroy(&sqe, 1);
		dev_admin_ok(&d, &sqe);
	}
	/* The rest of the device is well. */
	dev_make_queue(&d, &q, 1, 1, 1, NULL);
	dev_push_nop(&q, 1);
	dev_ring(&q);
	dev_run(&d);
	assert_int_equal(dev_cqe(&d, 1).cmd_id, 1);
}

static void stops_at_unreachable_rings(void **state)
{
	const struct dev_queue_opts in_context = { .in_context = true, .shadow = true };
	struct npu_pt_garbage garbage = { 0 };
	struct npu_host_detail detail;
	struct npu_admin_sqe sqe;
	struct npu_event event;
	struct npu_evq evq;
	struct dev_queue q, good;

	(void)state;
	event_ring(&evq, 4);
	dev_make_cq(&d, 1, 4);
	dev_make_queue(&d, &good, 2, 1, 1, NULL);
	dev_make_queue(&d, &q, 1, 1, 1, &in_context);
	dev_run(&d);
	npu_pt_unmap(&d.pt[1], q.bus, 0x1000, &garbage, &detail);
	npu_admin_tlb_invalidate(&sqe, 1, q.bus, 0x1000);
	dev_admin_ok(&d, &sqe);
	dev_push_nop(&q, 1);
	dev_ring(&q);
	dev_push_nop(&good, 2);
	dev_ring(&good);
	dev_run(&d);
	assert_int_equal(dev_cqe(&d, 1).cmd_id, 2);
	assert_int_equal(npu_evq_poll(&evq, &event), 1);
	assert_int_equal(event.type, NPU_EVENT_RING_FAULT);
	assert_int_equal(event.fault_code, NPU_FAULT_UNMAPPED);
	assert_int_equal(event.fault_unit, NPU_UNIT_DMA);
	assert_int_equal(event.fault_access, NPU_ACCESS_READ);
	assert_int_equal(event.fault_va, q.bus);
	/* Where the shadow block goes while the queue lives. */
	npu_admin_queue_destroy(&sqe, 1);
	dev_admin_ok(&d, &sqe);
	q.slot = 3;
	dev_make_queue(&d, &q, 3, 1, 1, &in_context);
	dev_run(&d);
	npu_pt_unmap(&d.pt[1], q.shadow_bus, 0x1000, &garbage, &detail);
	npu_admin_tlb_invalidate(&sqe, 1, 0, 0);
	dev_admin_ok(&d, &sqe);
	dev_push_nop(&q, 3);
	npu_model_doorbell(d.m, 3, 1);
	dev_run(&d);
	assert_int_equal(dev_cqe(&d, 1).cmd_id, 3);
	assert_int_equal(npu_evq_poll(&evq, &event), 1);
	assert_int_equal(event.fault_access, NPU_ACCESS_WRITE);
	assert_int_equal(event.queue, 3);
	npu_admin_queue_destroy(&sqe, 3);
	dev_admin_ok(&d, &sqe);
	npu_pt_garbage_free(&d.pt[1], &garbage);
}

static void survives_a_lost_completion_ring(void **state)
{
	struct dev_queue q, other;
	struct npu_admin_sqe sqe;
	struct npu_event event;
	struct npu_evq evq;
	u32 i;

	(void)state;
	event_ring(&evq, 4);
	dev_make_cq(&d, 1, 4);
	dev_make_cq(&d, 2, 4);
	dev_make_queue(&d, &q, 1, 1, 1, NULL);
	dev_make_queue(&d, &other, 2, 2, 1, NULL);
	d.hole = d.cqs[1].bus;
	d.hole_end = d.hole + 4096;
	for (i = 0; i < 16; i++) {
		dev_push_nop(&q, i);
		dev_push_nop(&other, i);
	}
	dev_ring(&q);
	dev_ring(&other);
	dev_run(&d);
	for (i = 0; i < 16; i++)
		assert_int_equal(dev_cqe(&d, 2).cmd_id, i);
	assert_int_equal(npu_evq_poll(&evq, &event), 1);
	assert_int_equal(event.type, NPU_EVENT_RING_FAULT);
	assert_int_equal(event.queue, 1);
	assert_int_equal(event.fault_code, NPU_FAULT_BUS);
	assert_int_equal(event.fault_access, NPU_ACCESS_WRITE);
	npu_admin_queue_destroy(&sqe, 1);
	dev_admin_ok(&d, &sqe);
	npu_admin_cq_destroy(&sqe, 1);
	dev_admin_ok(&d, &sqe);
}

/* A ring that the host does not empty: nothing is overwritten, the loss is told. */
static void counts_lost_events(void **state)
{
	struct npu_job_sqe job = dev_job(0, 0x10000000, 1);
	struct npu_event event;
	struct npu_evq evq;
	struct dev_queue q;
	u32 i;

	(void)state;
	event_ring(&evq, 2);
	dev_make_cq(&d, 1, 8);
	dev_make_queue(&d, &q, 1, 1, 1, NULL);
	for (i = 0; i < 10; i++) {
		job.cmd_id = i;
		dev_push(&q, &job);
		dev_ring(&q);
		dev_run(&d);
	}
	for (i = 0; i < 4; i++) {
		assert_int_equal(npu_evq_poll(&evq, &event), 1);
		assert_int_equal(event.cmd_id, i);
	}
	assert_int_equal(npu_evq_poll(&evq, &event), 0);
	job.cmd_id = 10;
	dev_push(&q, &job);
	dev_ring(&q);
	dev_run(&d);
	assert_int_equal(npu_evq_poll(&evq, &event), 1);
	assert_int_equal(event.type, NPU_EVENT_LOST);
	assert_int_equal(event.fault_va, 6);
	assert_int_equal(npu_evq_poll(&evq, &event), 1);
	assert_int_equal(event.type, NPU_EVENT_FAULT);
	assert_int_equal(event.cmd_id, 10);
	assert_int_equal(npu_evq_poll(&evq, &event), 0);
}

/* Random bytes as entries: each is answered, the firmware lives. */
static void answers_garbage(void **state)
{
	const struct dev_queue_opts opts = { .log_size = 7 };
	struct npu_admin_sqe admin;
	struct npu_job_sqe job;
	struct dev_queue q;
	u32 i, k, seed = 7, answered = 0;
	struct npu_cqe cqe;

	(void)state;
	dev_make_cq(&d, 1, 8);
	dev_make_queue(&d, &q, 1, 1, 1, &opts);
	for (i = 0; i < 2000; i++) {
		for (k = 0; k < sizeof(job); k++) {
			seed = seed * 1103515245 + 12345;
			((u8 *)&job)[k] = seed >> 28 & 1 ? seed >> 16 : 0;
		}
		job.op &= 1;
		job.cmd_id = i;
		dev_push(&q, &job);
		dev_ring(&q);
		dev_run(&d);
		cqe = dev_cqe(&d, 1);
		assert_int_equal(cqe.cmd_id, i);
		assert_true(cqe.status == NPU_JOB_STATUS_INVALID ||
			    cqe.status == NPU_JOB_STATUS_FAULT ||
			    cqe.status == NPU_JOB_STATUS_OK);
		npu_sq_complete(&q.sq);
		memcpy(&admin, &job, sizeof(admin));
		admin.op = i % 12;
		if (admin.op == NPU_ADMIN_SUSPEND || admin.op == NPU_ADMIN_QUEUE_DESTROY ||
		    admin.op == NPU_ADMIN_TELEMETRY || admin.op == NPU_ADMIN_EVENT_RING_SET)
			continue;
		dev_admin(&d, &admin);
		answered++;
	}
	assert_true(answered > 1000);
	assert_int_equal(npu_model_reg_read(d.m, NPU_HOST_BOOT_STATE), NPU_BOOT_READY);
}

/* A bus without pointers gives the same. */
static void works_without_pointers(void **state)
{
	d.no_map = true;
	npu_model_bus_changed(d.m);
	counts_completions_of_many_queues(state);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(wraps), TEST(counts_completions_of_many_queues), TEST(shares_interrupts),
		TEST(shows_whole_entries_only), TEST(shadow_saves_doorbells),
		TEST(shadow_loses_no_wakeup), TEST(stops_at_impossible_tails),
		TEST(stops_at_unreachable_rings), TEST(survives_a_lost_completion_ring),
		TEST(counts_lost_events), TEST(answers_garbage), TEST(works_without_pointers),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("fw_rings", tests, NULL, NULL);
}
