// SPDX-License-Identifier: MIT
/* Submission, completion and event rings: wrap, full, phase, shadow doorbell, hostile entries. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "tests/unit/host_env.h"

static void test_sq_sizes(void **state)
{
	struct npu_sq sq;
	struct npu_cq cq;
	struct npu_evq evq;
	static u8 mem[64];

	(void)state;
	assert_int_equal(npu_sq_init(&sq, NULL, mem, NPU_RING_LOG_MIN - 1, 0, NULL), -EINVAL);
	assert_int_equal(npu_sq_init(&sq, NULL, mem, NPU_RING_LOG_MAX + 1, 0, NULL), -EINVAL);
	assert_int_equal(npu_cq_init(&cq, mem, NPU_RING_LOG_MIN - 1), -EINVAL);
	assert_int_equal(npu_cq_init(&cq, mem, NPU_RING_LOG_MAX + 1), -EINVAL);
	assert_int_equal(npu_evq_init(&evq, mem, NPU_RING_LOG_MIN - 1), -EINVAL);
	assert_int_equal(npu_evq_init(&evq, mem, NPU_RING_LOG_MAX + 1), -EINVAL);
}

static void test_sq_wraps_and_fills(void **state)
{
	struct test_env *te = test_env_new();
	struct npu_job_sqe ring[4], sqe;
	struct npu_sq sq;
	u32 i;

	(void)state;
	assert_int_equal(npu_sq_init(&sq, &te->env, ring, 2, 7, NULL), 0);
	for (i = 0; i < 4; i++) {
		npu_job_nop(&sqe, i);
		assert_int_equal(npu_sq_room(&sq), 4 - i);
		assert_int_equal(npu_sq_push(&sq, &sqe), 0);
	}
	assert_int_equal(npu_sq_push(&sq, &sqe), -ENOSPC);
	assert_int_equal(te->doorbells, 0);
	npu_sq_ring(&sq);
	assert_int_equal(te->doorbells, 1);
	assert_int_equal(te->doorbell_index, 7);
	assert_int_equal(te->doorbell_value, 4);
	npu_sq_ring(&sq);
	assert_int_equal(te->doorbells, 1);

	assert_int_equal(npu_sq_complete(&sq), 0);
	npu_job_nop(&sqe, 99);
	assert_int_equal(npu_sq_push(&sq, &sqe), 0);
	assert_int_equal(ring[0].cmd_id, 99);
	assert_int_equal(ring[1].cmd_id, 1);
	npu_sq_ring(&sq);
	assert_int_equal(te->doorbell_value, 5);
	for (i = 0; i < 4; i++)
		assert_int_equal(npu_sq_complete(&sq), 0);
	assert_int_equal(npu_sq_complete(&sq), -EPROTO);
	free(te);
}

static void test_sq_tail_counts_past_32_bits(void **state)
{
	struct test_env *te = test_env_new();
	struct npu_job_sqe ring[2], sqe;
	struct npu_shadow shadow = { .event_idx = 0xffffffff };
	struct npu_sq sq;

	(void)state;
	npu_sq_init(&sq, &te->env, ring, 1, 1, &shadow);
	sq.tail = 0xffffffff;
	sq.published = 0xffffffff;
	npu_job_nop(&sqe, 1);
	npu_sq_push(&sq, &sqe);
	npu_sq_push(&sq, &sqe);
	npu_sq_ring(&sq);
	assert_int_equal(sq.tail, 1);
	assert_int_equal(shadow.sq_tail, 1);
	assert_int_equal(te->doorbells, 1);
	assert_int_equal(te->doorbell_value, 1);
	free(te);
}

/* The manual's rule, for each event index around the old and new tail. */
static void test_sq_shadow_event_index(void **state)
{
	struct test_env *te = test_env_new();
	static struct npu_job_sqe ring[8];
	struct npu_job_sqe sqe;
	struct npu_shadow shadow;
	struct npu_sq sq;
	u32 idx, i;

	(void)state;
	for (idx = 0; idx < 16; idx++) {
		memset(&shadow, 0, sizeof(shadow));
		npu_sq_init(&sq, &te->env, ring, 3, 1, &shadow);
		sq.tail = 5;
		sq.published = 5;
		shadow.event_idx = idx;
		for (i = 0; i < 3; i++) {
			npu_job_nop(&sqe, i);
			npu_sq_push(&sq, &sqe);
		}
		assert_int_equal(npu_sq_publish(&sq), idx >= 5 && idx < 8);
		assert_int_equal(shadow.sq_tail, 8);
	}
	shadow.progress = 123456789012ull;
	assert_int_equal(npu_sq_progress(&sq), 123456789012ull);
	free(te);
}

/* A device that completes in order. */
struct device {
	struct npu_cqe *ring;
	u32 size;
	u32 tail;
};

static void device_complete(struct device *dev, u32 cmd_id)
{
	struct npu_cqe *cqe = &dev->ring[dev->tail & (dev->size - 1)];

	memset(cqe, 0, sizeof(*cqe) - sizeof(cqe->phase));
	cqe->cmd_id = cmd_id;
	cqe->status = NPU_JOB_STATUS_FAULT;
	cqe->cycles = 0x1122334455667788ull;
	cqe->queue = 3;
	cqe->phase = !(dev->tail & dev->size);
	dev->tail++;
}

static void test_cq_phases(void **state)
{
	static struct npu_cqe ring[4];
	struct device dev = { .ring = ring, .size = 4 };
	struct npu_cqe cqe;
	struct npu_cq cq;
	u32 seen = 0;
	u32 sent = 0;
	u64 rnd = 1;

	(void)state;
	assert_int_equal(npu_cq_init(&cq, ring, 2), 0);
	assert_int_equal(npu_cq_poll(&cq, &cqe), 0);
	while (seen < 1000) {
		u32 burst = test_random(&rnd) % 5;

		while (burst-- && sent - seen < 4)
			device_complete(&dev, sent++);
		while (npu_cq_poll(&cq, &cqe) == 1) {
			assert_int_equal(cqe.cmd_id, seen);
			assert_int_equal(cqe.status, NPU_JOB_STATUS_FAULT);
			assert_int_equal(cqe.cycles, 0x1122334455667788ull);
			assert_int_equal(cqe.queue, 3);
			seen++;
		}
		assert_int_equal(seen, sent);
	}
}

static void test_cq_hostile_entries(void **state)
{
	static struct npu_cqe ring[2];
	struct npu_cqe cqe;
	struct npu_cq cq;

	(void)state;
	npu_cq_init(&cq, ring, 1);
	ring[0].phase = 0x80000001;
	assert_int_equal(npu_cq_poll(&cq, &cqe), -EPROTO);
	ring[1].phase = 1;
	ring[1].reserved = 1;
	assert_int_equal(npu_cq_poll(&cq, &cqe), -EPROTO);
	assert_int_equal(cq.head, 2);
	/* The old phase is no new entry. */
	assert_int_equal(npu_cq_poll(&cq, &cqe), 0);
}

static void test_evq_acknowledges(void **state)
{
	static struct npu_event ring[2];
	struct npu_event event;
	struct npu_evq evq;
	u32 i;

	(void)state;
	npu_evq_init(&evq, ring, 1);
	for (i = 0; i < 9; i++) {
		assert_int_equal(npu_evq_poll(&evq, &event), 0);
		ring[i & 1].type = NPU_EVENT_FAULT;
		ring[i & 1].fault_va = i;
		ring[i & 1].phase = 2 | !(i & 2);
		assert_int_equal(npu_evq_poll(&evq, &event), 1);
		assert_int_equal(event.type, NPU_EVENT_FAULT);
		assert_int_equal(event.fault_va, i);
		assert_int_equal(ring[i & 1].phase, 0);
	}
	/* A full entry of the wrong phase is not new; unknown bits are told. */
	ring[1].phase = 2 | !!(9 & 2);
	ring[1].phase ^= 1;
	assert_int_equal(npu_evq_poll(&evq, &event), 1);
	ring[0].phase = 2 | !(10 & 2) | 0x100;
	assert_int_equal(npu_evq_poll(&evq, &event), -EPROTO);
	ring[1].phase = 2 | !!(11 & 2);
	assert_int_equal(npu_evq_poll(&evq, &event), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sq_sizes),
		cmocka_unit_test(test_sq_wraps_and_fills),
		cmocka_unit_test(test_sq_tail_counts_past_32_bits),
		cmocka_unit_test(test_sq_shadow_event_index),
		cmocka_unit_test(test_cq_phases),
		cmocka_unit_test(test_cq_hostile_entries),
		cmocka_unit_test(test_evq_acknowledges),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("host rings", tests, NULL, NULL);
}
