// SPDX-License-Identifier: MIT
/* Admin operations: every builder, matching, time-outs, strays, errno values. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "tests/unit/host_env.h"

struct fixture {
	struct test_env *te;
	struct npu_admin admin;
	struct npu_admin_sqe *sq;
	struct npu_cqe *cq;
	u32 tail;
};

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	f->te = test_env_new();
	f->sq = aligned_alloc(4096, 4096);
	f->cq = aligned_alloc(4096, 4096);
	npu_admin_init(&f->admin, &f->te->env, f->sq, 0x1000, f->cq, 0x2000);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	free(f->te);
	free(f->sq);
	free(f->cq);
	free(f);
	return 0;
}

static void answer(struct fixture *f, u32 cmd_id, u32 status, u64 result0)
{
	struct npu_cqe *cqe = &f->cq[f->tail % NPU_ADMIN_SLOTS];

	memset(cqe, 0, sizeof(*cqe));
	cqe->cmd_id = cmd_id;
	cqe->status = status;
	cqe->cycles = result0;
	cqe->macs = 77;
	cqe->phase = !(f->tail & NPU_ADMIN_SLOTS);
	f->tail++;
}

static void keep_result(void *cookie, const struct npu_admin_result *result)
{
	*(struct npu_admin_result *)cookie = *result;
}

static void test_builders(void **state)
{
	static const struct npu_queue_desc desc = {
		.queue = 3, .cq = 2, .context = 9, .ring_space = 9, .priority = 1, .log_size = 6,
		.core_mask = 5, .ring = 0x123000, .shadow = 0x456040, .limit = 1000000007,
	};
	struct npu_admin_sqe sqe, want;

	(void)state;
#define CHECK(call, ...) do { \
		memset(&sqe, 0xff, sizeof(sqe)); \
		call; \
		want = (struct npu_admin_sqe) { __VA_ARGS__ }; \
		assert_memory_equal(&sqe, &want, sizeof(sqe)); \
	} while (0)

	CHECK(npu_admin_ping(&sqe, 0xabcdef01), .op = NPU_ADMIN_PING, .arg0 = 0xabcdef01);
	CHECK(npu_admin_cq_create(&sqe, 4, 0x5000, 7, 6), .op = NPU_ADMIN_CQ_CREATE, .cq = 4,
	      .address = 0x5000, .log_size = 7, .vector = 6);
	CHECK(npu_admin_cq_destroy(&sqe, 4), .op = NPU_ADMIN_CQ_DESTROY, .cq = 4);
	CHECK(npu_admin_queue_create(&sqe, &desc), .op = NPU_ADMIN_QUEUE_CREATE, .queue = 3,
	      .cq = 2, .context = 9, .ring_space = 9, .priority = 1, .log_size = 6,
	      .core_mask = 5, .address = 0x123000, .shadow = 0x456040, .limit = 1000000007);
	CHECK(npu_admin_queue_destroy(&sqe, 3), .op = NPU_ADMIN_QUEUE_DESTROY, .queue = 3);
	CHECK(npu_admin_abort(&sqe, 3, 8), .op = NPU_ADMIN_ABORT, .queue = 3, .arg0 = 8);
	CHECK(npu_admin_context_set_root(&sqe, 2, 0x9000), .op = NPU_ADMIN_CONTEXT_SET_ROOT,
	      .context = 2, .address = 0x9000);
	CHECK(npu_admin_tlb_invalidate(&sqe, 2, 0x9000, 0x4000), .op = NPU_ADMIN_TLB_INVALIDATE,
	      .context = 2, .address = 0x9000, .size = 0x4000);
	CHECK(npu_admin_context_reset(&sqe, 2), .op = NPU_ADMIN_CONTEXT_RESET, .context = 2);
	CHECK(npu_admin_event_ring_set(&sqe, 0x7000, 6), .op = NPU_ADMIN_EVENT_RING_SET,
	      .address = 0x7000, .log_size = 6);
	CHECK(npu_admin_telemetry(&sqe, 0x8000), .op = NPU_ADMIN_TELEMETRY, .address = 0x8000);
	CHECK(npu_admin_suspend(&sqe), .op = NPU_ADMIN_SUSPEND);
#undef CHECK
}

static void test_answers_out_of_order(void **state)
{
	struct fixture *f = *state;
	struct npu_admin_result first = { .error = 1 }, second = { .error = 1 };
	struct npu_admin_sqe sqe;
	u32 id1, id2;

	npu_admin_ping(&sqe, 1);
	assert_int_equal(npu_admin_submit(&f->admin, &sqe, keep_result, &first, &id1), 0);
	npu_admin_queue_destroy(&sqe, 1);
	assert_int_equal(npu_admin_submit(&f->admin, &sqe, keep_result, &second, &id2), 0);
	assert_int_not_equal(id1, id2);
	assert_int_equal(f->te->doorbells, 2);
	assert_int_equal(f->te->doorbell_value, 2);
	assert_int_equal(f->sq[1].cmd_id, id2);

	answer(f, id2, NPU_ADMIN_STATUS_NOT_FOUND, 0);
	answer(f, id1, NPU_ADMIN_STATUS_OK, 1);
	assert_int_equal(npu_admin_process(&f->admin), 2);
	assert_int_equal(first.error, 0);
	assert_int_equal(first.result0, 1);
	assert_int_equal(first.result1, 77);
	assert_int_equal(second.error, -ENOENT);
	assert_int_equal(second.op, NPU_ADMIN_QUEUE_DESTROY);
	assert_int_equal(f->admin.strays, 0);
}

static void test_strays_touch_nothing(void **state)
{
	struct fixture *f = *state;
	struct npu_admin_result result = { .error = 1 };
	struct npu_admin_sqe sqe;
	u32 id;

	npu_admin_ping(&sqe, 1);
	npu_admin_submit(&f->admin, &sqe, keep_result, &result, &id);
	answer(f, 0, 0, 0);
	answer(f, id + NPU_ADMIN_SLOTS, 0, 0);
	answer(f, id + 1, 0, 0);
	answer(f, id, 0, 0);
	f->cq[3].queue = 1;
	assert_int_equal(npu_admin_process(&f->admin), 4);
	assert_int_equal(f->admin.strays, 4);
	assert_int_equal(result.error, 1);
	answer(f, id, 0, 0);
	answer(f, id, 0, 0);
	assert_int_equal(npu_admin_process(&f->admin), 2);
	assert_int_equal(result.error, 0);
	assert_int_equal(f->admin.strays, 5);
}

static void test_full_and_many_rounds(void **state)
{
	struct fixture *f = *state;
	struct npu_admin_result results[NPU_ADMIN_SLOTS];
	u32 ids[NPU_ADMIN_SLOTS], extra;
	struct npu_admin_sqe sqe;
	u32 round, i;

	for (round = 0; round < 5; round++) {
		for (i = 0; i < NPU_ADMIN_SLOTS; i++) {
			npu_admin_ping(&sqe, i);
			assert_int_equal(npu_admin_submit(&f->admin, &sqe, keep_result,
							  &results[i], &ids[i]), 0);
		}
		assert_int_equal(npu_admin_submit(&f->admin, &sqe, keep_result, NULL, &extra),
				 -EBUSY);
		for (i = 0; i < NPU_ADMIN_SLOTS; i++)
			answer(f, ids[i], 0, 1000 + i);
		assert_int_equal(npu_admin_process(&f->admin), NPU_ADMIN_SLOTS);
		for (i = 0; i < NPU_ADMIN_SLOTS; i++)
			assert_int_equal(results[i].result0, 1000 + i);
	}
}

static struct fixture *calling;

static void answer_last(struct test_env *te)
{
	if (te->now >= 100 && !calling->tail)
		answer(calling, calling->sq[0].cmd_id, NPU_ADMIN_STATUS_BAD_FIELD, 20);
}

static void test_call(void **state)
{
	struct fixture *f = *state;
	struct npu_admin_result result;
	struct npu_admin_sqe sqe;

	calling = f;
	f->te->on_relax = answer_last;
	npu_admin_context_reset(&sqe, 0);
	assert_int_equal(npu_admin_call(&f->admin, &sqe, 1000, &result), -EINVAL);
	assert_int_equal(result.status, NPU_ADMIN_STATUS_BAD_FIELD);
	assert_int_equal(result.result0, 20);
}

static void test_call_times_out_and_late_answer_is_dropped(void **state)
{
	struct fixture *f = *state;
	struct npu_admin_sqe sqe;

	npu_admin_ping(&sqe, 1);
	assert_int_equal(npu_admin_call(&f->admin, &sqe, 1000, NULL), -ETIMEDOUT);
	assert_in_range(f->te->now, 1000, 1100);
	answer(f, f->sq[0].cmd_id, 0, 0);
	assert_int_equal(npu_admin_process(&f->admin), 1);
	assert_int_equal(f->admin.strays, 0);
	assert_int_equal(npu_sq_room(&f->admin.sq), NPU_ADMIN_SLOTS);
}

static void test_cancel(void **state)
{
	struct fixture *f = *state;
	struct npu_admin_result result = { 0 };
	struct npu_admin_sqe sqe;
	u32 id, again;

	npu_admin_ping(&sqe, 1);
	npu_admin_submit(&f->admin, &sqe, keep_result, &result, &id);
	npu_admin_cancel(&f->admin, -ENODEV);
	assert_int_equal(result.error, -ENODEV);
	assert_int_equal(result.op, NPU_ADMIN_PING);
	assert_int_equal(result.cmd_id, id);

	npu_admin_init(&f->admin, &f->te->env, f->sq, 0x1000, f->cq, 0x2000);
	npu_admin_submit(&f->admin, &sqe, keep_result, &result, &again);
	assert_int_not_equal(id, again);
}

static void test_errnos(void **state)
{
	(void)state;
	assert_int_equal(npu_admin_errno(NPU_ADMIN_STATUS_OK), 0);
	assert_int_equal(npu_admin_errno(NPU_ADMIN_STATUS_BAD_OP), -EOPNOTSUPP);
	assert_int_equal(npu_admin_errno(NPU_ADMIN_STATUS_EXISTS), -EEXIST);
	assert_int_equal(npu_admin_errno(NPU_ADMIN_STATUS_BUSY), -EBUSY);
	assert_int_equal(npu_admin_errno(NPU_ADMIN_STATUS_DMA_ERROR), -EIO);
	assert_int_equal(npu_admin_errno(1000), -EPROTO);
	assert_int_equal(npu_job_errno(NPU_JOB_STATUS_OK), 0);
	assert_int_equal(npu_job_errno(NPU_JOB_STATUS_FAULT), -EFAULT);
	assert_int_equal(npu_job_errno(NPU_JOB_STATUS_REPORT_FAULT), -EFAULT);
	assert_int_equal(npu_job_errno(NPU_JOB_STATUS_LIMIT), -ETIME);
	assert_int_equal(npu_job_errno(NPU_JOB_STATUS_ABORTED), -ECANCELED);
	assert_int_equal(npu_job_errno(NPU_JOB_STATUS_CANCELED), -ECANCELED);
	assert_int_equal(npu_job_errno(NPU_JOB_STATUS_INVALID), -EINVAL);
	assert_int_equal(npu_job_errno(1000), -EPROTO);
	assert_string_equal(npu_fault_name(NPU_FAULT_DEADLOCK), "deadlock");
	assert_string_equal(npu_fault_name(255), "unknown");
	assert_string_equal(npu_admin_op_name(NPU_ADMIN_PING), "ping");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_builders),
		cmocka_unit_test_setup_teardown(test_answers_out_of_order, setup, teardown),
		cmocka_unit_test_setup_teardown(test_strays_touch_nothing, setup, teardown),
		cmocka_unit_test_setup_teardown(test_full_and_many_rounds, setup, teardown),
		cmocka_unit_test_setup_teardown(test_call, setup, teardown),
		cmocka_unit_test_setup_teardown(test_call_times_out_and_late_answer_is_dropped,
						setup, teardown),
		cmocka_unit_test_setup_teardown(test_cancel, setup, teardown),
		cmocka_unit_test(test_errnos),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("host admin operations", tests, NULL, NULL);
}
