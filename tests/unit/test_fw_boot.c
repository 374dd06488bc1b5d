// SPDX-License-Identifier: MIT
/* Firmware in the device: boot, and the first things it does. */
#include <stdarg.h>
#include <stdlib.h>
#include <setjmp.h>
#include <cmocka.h>
#include "tests/unit/device_board.h"

static u32 reg(struct dev_board *d, u32 offset)
{
	return npu_model_reg_read(d->m, offset);
}

static void boots(void **state)
{
	struct dev_board d;

	(void)state;
	dev_init(&d, NULL);
	dev_boot(&d);
	assert_int_equal(reg(&d, NPU_HOST_BOOT_STATE), NPU_BOOT_READY);
	assert_int_equal(reg(&d, NPU_HOST_BOOT_ERROR), NPU_BOOT_ERROR_NONE);
	assert_int_equal(reg(&d, NPU_HOST_FW_PROTO), NPU_PROTO_MAX);
	assert_int_equal(reg(&d, NPU_HOST_FW_PROTO_RANGE), NPU_PROTO_MAX << 16 | NPU_PROTO_MIN);
	assert_int_equal(reg(&d, NPU_HOST_FW_VERSION), d.fw.version);
	assert_int_equal(reg(&d, NPU_HOST_FW_FEATURES),
			 NPU_FW_FEATURE_SHADOW | NPU_FW_FEATURE_EVENTS | NPU_FW_FEATURE_PREEMPT |
			 NPU_FW_FEATURE_TELEMETRY | NPU_FW_FEATURE_SUSPEND);
	assert_int_equal(d.irqs[0], 1);
	dev_run(&d);
	assert_int_equal(reg(&d, NPU_HOST_CP_STATUS),
			 NPU_HOST_CP_STATUS_RUNNING_MASK | NPU_HOST_CP_STATUS_WFI_MASK);
	dev_exit(&d);
}

static void answers_ping(void **state)
{
	struct npu_admin_result result;
	struct npu_admin_sqe sqe;
	struct dev_board d;

	(void)state;
	dev_init(&d, NULL);
	dev_boot(&d);
	npu_admin_ping(&sqe, 0xdeadbeef);
	result = dev_admin(&d, &sqe);
	assert_int_equal(result.status, NPU_ADMIN_STATUS_OK);
	assert_int_equal(result.result0, 0xdeadbeef);
	assert_true(result.result1 > 0 && result.result1 <= npu_model_ticks(d.m));
	dev_exit(&d);
}

static void runs_first_jobs(void **state)
{
	struct dev_queue q;
	struct npu_job_sqe sqe;
	struct npu_cqe cqe;
	struct dev_board d;
	u32 n;

	(void)state;
	dev_init(&d, NULL);
	dev_boot(&d);
	dev_context(&d, 1);
	dev_make_cq(&d, 1, 4);
	dev_make_queue(&d, &q, 1, 1, 1, NULL);
	dev_push_nop(&q, 0x11);
	n = dev_program_busy(&d, 1, DEV_VA, 3, 1);
	sqe = dev_job(0x22, DEV_VA, n);
	dev_push(&q, &sqe);
	dev_ring(&q);
	dev_run(&d);

	cqe = dev_cqe(&d, 1);
	assert_int_equal(cqe.cmd_id, 0x11);
	assert_int_equal(cqe.status, NPU_JOB_STATUS_OK);
	assert_int_equal(cqe.queue, 1);
	assert_int_equal(cqe.cycles, 0);
	cqe = dev_cqe(&d, 1);
	assert_int_equal(cqe.cmd_id, 0x22);
	assert_int_equal(cqe.status, NPU_JOB_STATUS_OK);
	assert_int_equal(cqe.insn, n);
	assert_true(cqe.cycles > 3 * 16383 && cqe.cycles < 3 * 16383 + 100);
	assert_int_equal(cqe.sq_head, 2);
	assert_true(d.irqs[1] >= 1);
	dev_exit(&d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(boots),
		cmocka_unit_test(answers_ping),
		cmocka_unit_test(runs_first_jobs),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("fw_boot", tests, NULL, NULL);
}
