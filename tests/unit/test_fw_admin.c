// SPDX-License-Identifier: MIT
/* Admin operations: what each does, and every refusal. */
#include <stdarg.h>
#include <stdlib.h>
#include <setjmp.h>
#include <cmocka.h>
#include "tests/unit/device_board.h"

#define OFFSET(field)	offsetof(struct npu_admin_sqe, field)

static struct dev_board d;
static struct dev_queue q;

/* Context 1, completion ring 1, queue 1. */
static int setup(void **state)
{
	(void)state;
	dev_init(&d, NULL);
	dev_boot(&d);
	dev_context(&d, 1);
	dev_make_cq(&d, 1, 4);
	dev_make_queue(&d, &q, 1, 1, 1, NULL);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	dev_exit(&d);
	return 0;
}

static void expect_status(struct npu_admin_sqe *sqe, u32 status)
{
	struct npu_admin_result result = dev_admin(&d, sqe);

	if (result.status != status)
		fail_msg("%s: %s instead of %s", npu_admin_op_name(sqe->op),
			 npu_admin_status_name(result.status), npu_admin_status_name(status));
}

static void expect_bad(struct npu_admin_sqe *sqe, u32 offset)
{
	struct npu_admin_result result = dev_admin(&d, sqe);

	if (result.status != NPU_ADMIN_STATUS_BAD_FIELD || result.result0 != offset)
		fail_msg("%s: %s, offset %llu instead of %u", npu_admin_op_name(sqe->op),
			 npu_admin_status_name(result.status),
			 (unsigned long long)result.result0, offset);
}

/* Good entries of all operations; @which is their number. */
static bool good_entry(u32 op, struct npu_admin_sqe *sqe)
{
	const struct npu_queue_desc desc = {
		.queue = 2, .cq = 1, .context = 1, .ring_space = 1, .priority = 3, .log_size = 4,
		.core_mask = 1, .ring = DEV_VA, .shadow = DEV_VA + 0x10000, .limit = 1000,
	};

	switch (op) {
	case NPU_ADMIN_PING:
		npu_admin_ping(sqe, 5);
		return true;
	case NPU_ADMIN_CQ_CREATE:
		npu_admin_cq_create(sqe, 2, DEV_MEM_BASE + 0x100000, 4, 2);
		return true;
	case NPU_ADMIN_CQ_DESTROY:
		npu_admin_cq_destroy(sqe, 1);
		return true;
	case NPU_ADMIN_QUEUE_CREATE:
		npu_admin_queue_create(sqe, &desc);
		return true;
	case NPU_ADMIN_QUEUE_DESTROY:
		npu_admin_queue_destroy(sqe, 1);
		return true;
	case NPU_ADMIN_ABORT:
		npu_admin_abort(sqe, 1, 7);
		return true;
	case NPU_ADMIN_CONTEXT_SET_ROOT:
		npu_admin_context_set_root(sqe, 1, DEV_MEM_BASE);
		return true;
	case NPU_ADMIN_TLB_INVALIDATE:
		npu_admin_tlb_invalidate(sqe, 1, DEV_VA, 4096);
		return true;
	case NPU_ADMIN_CONTEXT_RESET:
		npu_admin_context_reset(sqe, 1);
		return true;
	case NPU_ADMIN_EVENT_RING_SET:
		npu_admin_event_ring_set(sqe, DEV_MEM_BASE + 0x100000, 4);
		return true;
	case NPU_ADMIN_TELEMETRY:
		npu_admin_telemetry(sqe, DEV_MEM_BASE + 0x100000);
		return true;
	case NPU_ADMIN_SUSPEND:
		npu_admin_suspend(sqe);
		return true;
	case NPU_ADMIN_LOG:
		npu_admin_log(sqe, DEV_MEM_BASE + 0x100000);
		return true;
	}
	return false;
}

static void refuses_unused_fields(void **state)
{
	static const struct {
		u32 offset, size;
	} fields[] = {
		{ OFFSET(priority), 1 }, { OFFSET(log_size), 1 }, { OFFSET(vector), 1 },
		{ OFFSET(queue), 2 }, { OFFSET(cq), 2 }, { OFFSET(context), 2 },
		{ OFFSET(ring_space), 2 }, { OFFSET(address), 8 }, { OFFSET(size), 8 },
		{ OFFSET(shadow), 8 }, { OFFSET(limit), 8 }, { OFFSET(core_mask), 4 },
		{ OFFSET(arg0), 4 }, { OFFSET(reserved), 8 },
	};
	/* A bit a field, in the order above, that the operation uses. */
	static const u32 used[] = {
		[NPU_ADMIN_PING] = 1 << 12,
		[NPU_ADMIN_CQ_CREATE] = 1 << 1 | 1 << 2 | 1 << 4 | 1 << 7,
		[NPU_ADMIN_CQ_DESTROY] = 1 << 4,
		[NPU_ADMIN_QUEUE_CREATE] = 1 << 0 | 1 << 1 | 1 << 3 | 1 << 4 | 1 << 5 | 1 << 6 |
					   1 << 7 | 1 << 9 | 1 << 10 | 1 << 11,
		[NPU_ADMIN_QUEUE_DESTROY] = 1 << 3,
		[NPU_ADMIN_ABORT] = 1 << 3 | 1 << 12,
		[NPU_ADMIN_CONTEXT_SET_ROOT] = 1 << 5 | 1 << 7,
		[NPU_ADMIN_TLB_INVALIDATE] = 1 << 5 | 1 << 7 | 1 << 8,
		[NPU_ADMIN_CONTEXT_RESET] = 1 << 5,
		[NPU_ADMIN_EVENT_RING_SET] = 1 << 1 | 1 << 7,
		[NPU_ADMIN_TELEMETRY] = 1 << 7,
		[NPU_ADMIN_SUSPEND] = 0,
		[NPU_ADMIN_LOG] = 1 << 7,
	};
	struct npu_admin_sqe sqe;
	u32 op, f, byte;

	(void)state;
	for (op = NPU_ADMIN_PING; op <= NPU_ADMIN_LOG; op++) {
		for (f = 0; f < sizeof(fields) / sizeof(fields[0]); f++) {
			if (used[op] & 1u << f)
				continue;
			for (byte = 0; byte < fields[f].size; byte++) {
				assert_true(good_entry(op, &sqe));
				((u8 *)&sqe)[fields[f].offset + byte] = 0x80;
				expect_bad(&sqe, fields[f].offset);
			}
		}
	}
	assert_int_equal(npu_model_reg_read(d.m, NPU_HOST_BOOT_STATE), NPU_BOOT_READY);
}

static void refuses_unknown_ops(void **state)
{
	struct npu_admin_sqe sqe = { 0 };
	u32 op;

	(void)state;
	for (op = 0; op < 256; op++) {
		if (op >= NPU_ADMIN_PING && op <= NPU_ADMIN_LOG)
			continue;
		sqe.op = op;
		expect_status(&sqe, NPU_ADMIN_STATUS_BAD_OP);
	}
}

#define REFUSE(op, field, value) do { \
	assert_true(good_entry(op, &sqe)); \
	sqe.field = value; \
	expect_bad(&sqe, OFFSET(field)); \
} while (0)

static void refuses_cq_fields(void **state)
{
	struct npu_admin_sqe sqe;

	(void)state;
	REFUSE(NPU_ADMIN_CQ_CREATE, log_size, 0);
	REFUSE(NPU_ADMIN_CQ_CREATE, log_size, NPU_RING_LOG_MAX + 1);
	REFUSE(NPU_ADMIN_CQ_CREATE, vector, d.cfg.cqs);
	REFUSE(NPU_ADMIN_CQ_CREATE, cq, 0);
	REFUSE(NPU_ADMIN_CQ_CREATE, cq, d.cfg.cqs);
	REFUSE(NPU_ADMIN_CQ_CREATE, address, DEV_MEM_BASE + 64);
	REFUSE(NPU_ADMIN_CQ_CREATE, address, 1ull << d.cfg.bus_bits);
	good_entry(NPU_ADMIN_CQ_CREATE, &sqe);
	sqe.cq = 1;
	expect_status(&sqe, NPU_ADMIN_STATUS_EXISTS);

	REFUSE(NPU_ADMIN_CQ_DESTROY, cq, 0);
	REFUSE(NPU_ADMIN_CQ_DESTROY, cq, d.cfg.cqs);
	npu_admin_cq_destroy(&sqe, 2);
	expect_status(&sqe, NPU_ADMIN_STATUS_NOT_FOUND);
	npu_admin_cq_destroy(&sqe, 1);
	expect_status(&sqe, NPU_ADMIN_STATUS_BUSY);
}

static void refuses_queue_fields(void **state)
{
	struct npu_admin_sqe sqe;

	(void)state;
	REFUSE(NPU_ADMIN_QUEUE_CREATE, priority, NPU_PRIORITIES);
	REFUSE(NPU_ADMIN_QUEUE_CREATE, log_size, 0);
	REFUSE(NPU_ADMIN_QUEUE_CREATE, log_size, NPU_RING_LOG_MAX + 1);
	REFUSE(NPU_ADMIN_QUEUE_CREATE, queue, 0);
	REFUSE(NPU_ADMIN_QUEUE_CREATE, queue, d.cfg.queues + 1);
	REFUSE(NPU_ADMIN_QUEUE_CREATE, cq, 0);
	REFUSE(NPU_ADMIN_QUEUE_CREATE, cq, d.cfg.cqs);
	REFUSE(NPU_ADMIN_QUEUE_CREATE, context, 0);
	REFUSE(NPU_ADMIN_QUEUE_CREATE, context, d.cfg.contexts);
	REFUSE(NPU_ADMIN_QUEUE_CREATE, ring_space, 2);
	REFUSE(NPU_ADMIN_QUEUE_CREATE, address, DEV_VA + 64);
	REFUSE(NPU_ADMIN_QUEUE_CREATE, address, 1ull << NPU_VA_BITS);
	REFUSE(NPU_ADMIN_QUEUE_CREATE, shadow, DEV_VA + 32);
	REFUSE(NPU_ADMIN_QUEUE_CREATE, shadow, 1ull << NPU_VA_BITS);
	REFUSE(NPU_ADMIN_QUEUE_CREATE, limit, 0);
	REFUSE(NPU_ADMIN_QUEUE_CREATE, limit, NPU_LIMIT_MAX + 1);
	REFUSE(NPU_ADMIN_QUEUE_CREATE, core_mask, 0);
	REFUSE(NPU_ADMIN_QUEUE_CREATE, core_mask, 3);
	good_entry(NPU_ADMIN_QUEUE_CREATE, &sqe);
	sqe.ring_space = 0;
	sqe.address = 1ull << d.cfg.bus_bits;
	expect_bad(&sqe, OFFSET(address));
	good_entry(NPU_ADMIN_QUEUE_CREATE, &sqe);
	sqe.queue = 1;
	expect_status(&sqe, NPU_ADMIN_STATUS_EXISTS);
	good_entry(NPU_ADMIN_QUEUE_CREATE, &sqe);
	sqe.cq = 2;
	expect_status(&sqe, NPU_ADMIN_STATUS_NOT_FOUND);

	REFUSE(NPU_ADMIN_QUEUE_DESTROY, queue, 0);
	REFUSE(NPU_ADMIN_QUEUE_DESTROY, queue, d.cfg.queues + 1);
	npu_admin_queue_destroy(&sqe, 2);
	expect_status(&sqe, NPU_ADMIN_STATUS_NOT_FOUND);
	REFUSE(NPU_ADMIN_ABORT, queue, 0);
	npu_admin_abort(&sqe, 2, 0);
	expect_status(&sqe, NPU_ADMIN_STATUS_NOT_FOUND);
	npu_admin_abort(&sqe, 1, 7);
	expect_status(&sqe, NPU_ADMIN_STATUS_NOT_FOUND);
}

static void refuses_other_fields(void **state)
{
	struct npu_admin_sqe sqe;

	(void)state;
	REFUSE(NPU_ADMIN_CONTEXT_SET_ROOT, context, 0);
	REFUSE(NPU_ADMIN_CONTEXT_SET_ROOT, context, d.cfg.contexts);
	REFUSE(NPU_ADMIN_CONTEXT_SET_ROOT, address, DEV_MEM_BASE + 8);
	REFUSE(NPU_ADMIN_CONTEXT_SET_ROOT, address, 1ull << d.cfg.bus_bits);
	REFUSE(NPU_ADMIN_TLB_INVALIDATE, context, 0);
	REFUSE(NPU_ADMIN_TLB_INVALIDATE, context, d.cfg.contexts);
	REFUSE(NPU_ADMIN_CONTEXT_RESET, context, 0);
	REFUSE(NPU_ADMIN_CONTEXT_RESET, context, d.cfg.contexts);
	REFUSE(NPU_ADMIN_EVENT_RING_SET, log_size, 0);
	REFUSE(NPU_ADMIN_EVENT_RING_SET, log_size, NPU_RING_LOG_MAX + 1);
	REFUSE(NPU_ADMIN_EVENT_RING_SET, address, DEV_MEM_BASE + 64);
	REFUSE(NPU_ADMIN_TELEMETRY, address, DEV_MEM_BASE + 4);
	REFUSE(NPU_ADMIN_TELEMETRY, address, 1ull << d.cfg.bus_bits);
}

static void destroys_and_reuses(void **state)
{
	struct npu_admin_sqe sqe;
	u32 round;

	(void)state;
	for (round = 0; round < 3; round++) {
		dev_push_nop(&q, round);
		dev_ring(&q);
		npu_admin_queue_destroy(&sqe, 1);
		dev_admin_ok(&d, &sqe);
		/* Without a wait: the ring goes when the entries are in memory. */
		npu_admin_cq_destroy(&sqe, 1);
		dev_admin_ok(&d, &sqe);
		assert_int_equal(dev_cqe(&d, 1).cmd_id, round);
		npu_admin_queue_destroy(&sqe, 1);
		expect_status(&sqe, NPU_ADMIN_STATUS_NOT_FOUND);
		dev_make_cq(&d, 1, 4);
		dev_make_queue(&d, &q, 1, 1, 1, NULL);
	}
}

/* Unmapping takes effect with the invalidation, and for the other context never. */
static void invalidates(void **state)
{
	struct npu_pt_garbage garbage = { 0 };
	struct npu_host_detail detail;
	struct dev_queue q2;
	struct npu_admin_sqe sqe;
	struct npu_job_sqe job;
	u32 i, n;

	(void)state;
	dev_context(&d, 2);
	dev_make_queue(&d, &q2, 2, 1, 2, NULL);
	n = dev_program_finish(&d, 1, DEV_VA);
	dev_program_finish(&d, 2, DEV_VA);
	job = dev_job(1, DEV_VA, n);
	assert_int_equal(npu_pt_unmap(&d.pt[1], DEV_VA + 0x200000, 0x1000, &garbage, &detail), 0);
	for (i = 0; i < 3; i++) {
		if (i == 1)
			npu_pt_unmap(&d.pt[1], DEV_VA, 0x1000, &garbage, &detail);
		if (i == 2) {
			npu_admin_tlb_invalidate(&sqe, 1, DEV_VA, 0x1000);
			dev_admin_ok(&d, &sqe);
		}
		dev_push(&q, &job);
		dev_ring(&q);
		dev_run(&d);
		/* The stale translation serves until it is invalidated. */
		assert_int_equal(dev_cqe(&d, 1).status,
				 i < 2 ? NPU_JOB_STATUS_OK : NPU_JOB_STATUS_FAULT);
		dev_push(&q2, &job);
		dev_ring(&q2);
		dev_run(&d);
		assert_int_equal(dev_cqe(&d, 1).status, NPU_JOB_STATUS_OK);
	}
	npu_pt_garbage_free(&d.pt[1], &garbage);
}

static void sets_roots(void **state)
{
	struct npu_admin_sqe sqe;
	struct npu_job_sqe job;
	struct npu_cqe cqe;

	(void)state;
	job = dev_job(1, DEV_VA, dev_program_busy(&d, 1, DEV_VA, 1000, 1));
	dev_push(&q, &job);
	dev_ring(&q);
	npu_model_run(d.m, 20000);
	npu_admin_context_set_root(&sqe, 1, 0);
	expect_status(&sqe, NPU_ADMIN_STATUS_BUSY);
	npu_admin_abort(&sqe, 1, 1);
	dev_admin_ok(&d, &sqe);
	assert_int_equal(dev_cqe(&d, 1).status, NPU_JOB_STATUS_ABORTED);
	npu_admin_context_set_root(&sqe, 1, 0);
	dev_admin_ok(&d, &sqe);
	dev_push(&q, &job);
	dev_ring(&q);
	dev_run(&d);
	cqe = dev_cqe(&d, 1);
	assert_int_equal(cqe.status, NPU_JOB_STATUS_FAULT);
	assert_int_equal(cqe.fault_code, NPU_FAULT_CONTEXT);
	dev_context(&d, 1);
	job = dev_job(2, DEV_VA, dev_program_finish(&d, 1, DEV_VA));
	dev_push(&q, &job);
	dev_ring(&q);
	dev_run(&d);
	assert_int_equal(dev_cqe(&d, 1).status, NPU_JOB_STATUS_OK);
}

/* More operations than the ring holds, several outstanding at once. */
static void wraps_the_admin_rings(void **state)
{
	struct npu_admin_sqe sqe;
	u32 i, taken = 0, sent = 0;

	(void)state;
	for (i = 0; i < 20; i++) {
		for (;; sent++) {
			npu_admin_ping(&sqe, sent);
			if (npu_admin_submit(&d.admin, &sqe, NULL, NULL, NULL))
				break;
		}
		dev_run(&d);
		taken += npu_admin_process(&d.admin);
	}
	assert_true(sent > 600);
	assert_int_equal(taken, sent);
	assert_int_equal(d.admin.strays, 0);
}

static void suspends(void **state)
{
	struct npu_admin_sqe sqe;
	struct npu_job_sqe job;
	struct npu_cqe cqe;
	u8 *before;

	(void)state;
	job = dev_job(1, DEV_VA, dev_program_busy(&d, 1, DEV_VA, 1000, 1));
	dev_push(&q, &job);
	dev_ring(&q);
	npu_model_run(d.m, 20000);
	npu_admin_suspend(&sqe);
	dev_admin_ok(&d, &sqe);
	dev_run(&d);
	assert_int_equal(npu_model_reg_read(d.m, NPU_HOST_BOOT_STATE), NPU_BOOT_SUSPENDED);
	/* Nothing moves any more, whatever is rung. */
	before = malloc(DEV_PAGES * 4096ull);
	assert_non_null(before);
	memcpy(before, d.mem, DEV_PAGES * 4096ull);
	npu_model_doorbell(d.m, 1, 5);
	npu_model_doorbell(d.m, 0, 50);
	dev_run(&d);
	assert_memory_equal(before, d.mem, DEV_PAGES * 4096ull);
	free(before);
	assert_false(dev_poll(&d, 1, &cqe));
	/* A reset leads on. */
	dev_boot(&d);
	dev_context(&d, 1);
	dev_make_cq(&d, 1, 4);
	dev_make_queue(&d, &q, 1, 1, 1, NULL);
	dev_push_nop(&q, 9);
	dev_ring(&q);
	dev_run(&d);
	assert_int_equal(dev_cqe(&d, 1).cmd_id, 9);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(refuses_unused_fields), TEST(refuses_unknown_ops), TEST(refuses_cq_fields),
		TEST(refuses_queue_fields), TEST(refuses_other_fields), TEST(destroys_and_reuses),
		TEST(invalidates), TEST(sets_roots),
		TEST(wraps_the_admin_rings), TEST(suspends),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("fw_admin", tests, NULL, NULL);
}
