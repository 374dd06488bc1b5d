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
			 NPU_FW_FEATURE_TELEMETRY | NPU_FW_FEATURE_SUSPEND | NPU_FW_FEATURE_LOG);
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

static void expect_failure(struct dev_board *d, u32 error)
{
	dev_run(d);
	assert_int_equal(reg(d, NPU_HOST_BOOT_STATE), NPU_BOOT_FAILED);
	assert_int_equal(reg(d, NPU_HOST_BOOT_ERROR) & 0xff, error);
	assert_int_equal(d->irqs[0], 1);
	d->irqs[0] = 0;
}

static void write_reg(struct dev_board *d, u32 offset, u32 value)
{
	npu_model_reg_write(d->m, offset, value);
}

/* The steps of the manual by hand, so that each can go wrong. */
static void prepare(struct dev_board *d)
{
	u32 i;

	write_reg(d, NPU_HOST_RESET, NPU_RESET_KEY);
	for (i = 0; i < d->fw.length; i += 4)
		write_reg(d, NPU_TCM_WINDOW + i, npu_get_le32(d->fw.payload + i));
	write_reg(d, NPU_HOST_ADMIN_SIZE, 6 | 6 << 8);
	write_reg(d, NPU_HOST_ADMIN_SQ_LO, d->sq_bus);
	write_reg(d, NPU_HOST_ADMIN_CQ_LO, d->cq_bus);
	write_reg(d, NPU_HOST_HOST_PROTO_RANGE, 1 << 16 | 1);
}

static void start(struct dev_board *d)
{
	write_reg(d, NPU_HOST_CP_ENTRY, d->fw.entry);
	write_reg(d, NPU_HOST_CP_CONTROL, 1);
}

static void refuses_protocols(void **state)
{
	struct dev_board d;

	(void)state;
	dev_init(&d, NULL);
	prepare(&d);
	write_reg(&d, NPU_HOST_HOST_PROTO_RANGE, 9u << 16 | (NPU_PROTO_MAX + 1));
	start(&d);
	expect_failure(&d, NPU_BOOT_ERROR_PROTO);
	assert_int_equal(reg(&d, NPU_HOST_FW_PROTO), 0);
	assert_int_equal(reg(&d, NPU_HOST_FW_PROTO_RANGE), NPU_PROTO_MAX << 16 | NPU_PROTO_MIN);
	/* A range that is the wrong way round, and none at all. */
	prepare(&d);
	write_reg(&d, NPU_HOST_HOST_PROTO_RANGE, 1u << 16 | 2);
	start(&d);
	expect_failure(&d, NPU_BOOT_ERROR_PROTO);
	prepare(&d);
	write_reg(&d, NPU_HOST_HOST_PROTO_RANGE, 0);
	start(&d);
	expect_failure(&d, NPU_BOOT_ERROR_PROTO);
	/* A host that knows more than the firmware: the best that both know. */
	prepare(&d);
	write_reg(&d, NPU_HOST_HOST_PROTO_RANGE, 0xffffu << 16 | 1);
	start(&d);
	dev_run(&d);
	assert_int_equal(reg(&d, NPU_HOST_BOOT_STATE), NPU_BOOT_READY);
	assert_int_equal(reg(&d, NPU_HOST_FW_PROTO), NPU_PROTO_MAX);
	dev_exit(&d);
}

static void refuses_admin_rings(void **state)
{
	static const u32 sizes[] = { 0, 6, 6 << 8, 6 | 5 << 8, 11 | 11 << 8, 6 | 11 << 8, 255 };
	struct dev_board d;
	u32 i;

	(void)state;
	dev_init(&d, NULL);
	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		prepare(&d);
		write_reg(&d, NPU_HOST_ADMIN_SIZE, sizes[i]);
		start(&d);
		expect_failure(&d, NPU_BOOT_ERROR_ADMIN_RING);
	}
	prepare(&d);
	write_reg(&d, NPU_HOST_ADMIN_SQ_LO, d.sq_bus + 64);
	start(&d);
	expect_failure(&d, NPU_BOOT_ERROR_ADMIN_RING);
	prepare(&d);
	write_reg(&d, NPU_HOST_ADMIN_CQ_LO, d.cq_bus + 4);
	start(&d);
	expect_failure(&d, NPU_BOOT_ERROR_ADMIN_RING);
	prepare(&d);
	write_reg(&d, NPU_HOST_ADMIN_CQ_HI, 0x80);
	start(&d);
	expect_failure(&d, NPU_BOOT_ERROR_DMA);
	prepare(&d);
	write_reg(&d, NPU_HOST_ADMIN_SQ_HI, 0xffffffff);
	start(&d);
	expect_failure(&d, NPU_BOOT_ERROR_DMA);
	dev_exit(&d);
}

static void needs_enough_tcm(void **state)
{
	struct npu_model_config cfg;
	struct dev_board d;

	(void)state;
	npu_model_default_config(&cfg);
	/* The static part fits, the queues of a large device do not. */
	cfg.tcm_size = 64 << 10;
	cfg.queues = 255;
	dev_init(&d, &cfg);
	prepare(&d);
	start(&d);
	expect_failure(&d, NPU_BOOT_ERROR_DEVICE);
	dev_exit(&d);
	/* A small device does with little, the largest with all there can be. */
	cfg.queues = 4;
	cfg.contexts = 2;
	cfg.cqs = 2;
	dev_init(&d, &cfg);
	dev_boot(&d);
	dev_exit(&d);
	npu_model_default_config(&cfg);
	cfg.queues = 255;
	cfg.cqs = 32;
	cfg.contexts = 1024;
	cfg.cores = 16;
	dev_init(&d, &cfg);
	dev_boot(&d);
	dev_exit(&d);
}

#define INSN_WFI	0x10500073u
#define CAUSE_ILLEGAL	2u

/* An illegal instruction in the place of each WFI in turn: one is the loop's. */
static void tells_unexpected_traps(void **state)
{
	struct dev_board d;
	u32 i, told = 0;

	(void)state;
	dev_init(&d, NULL);
	for (i = 0; i < d.fw.length - 2; i += 2) {
		if (npu_get_le32(d.fw.payload + i) != INSN_WFI)
			continue;
		npu_put_le32(d.image + (d.fw.payload - d.image) + i, 0);
		prepare(&d);
		npu_put_le32(d.image + (d.fw.payload - d.image) + i, INSN_WFI);
		start(&d);
		dev_run(&d);
		if (reg(&d, NPU_HOST_BOOT_STATE) != NPU_BOOT_FAILED)
			continue;
		assert_int_equal(reg(&d, NPU_HOST_BOOT_ERROR),
				 NPU_BOOT_ERROR_TRAP | CAUSE_ILLEGAL << 8);
		told++;
	}
	assert_int_equal(told, 1);
	dev_exit(&d);
}

static void boots_again_after_reset(void **state)
{
	struct dev_queue q;
	struct npu_job_sqe sqe;
	struct dev_board d;
	u32 i;

	(void)state;
	dev_init(&d, NULL);
	for (i = 0; i < 5; i++) {
		dev_boot(&d);
		dev_context(&d, 1);
		dev_make_cq(&d, 1, 4);
		dev_make_queue(&d, &q, 1, 1, 1, NULL);
		sqe = dev_job(i, DEV_VA, dev_program_busy(&d, 1, DEV_VA, 1, 1));
		dev_push(&q, &sqe);
		dev_push(&q, &sqe);
		dev_ring(&q);
		/* In the middle of anything: of boot's wake, of DMA, of the job. */
		npu_model_run(d.m, 100 * i * i);
	}
	dev_run(&d);
	assert_int_equal(dev_cqe(&d, 1).cmd_id, 4);
	assert_int_equal(dev_cqe(&d, 1).status, NPU_JOB_STATUS_OK);
	dev_exit(&d);
}

/* A lost admin ring is the end of the firmware, and it says so. */
static void fails_with_its_admin_ring(void **state)
{
	struct dev_board d;

	(void)state;
	dev_init(&d, NULL);
	dev_boot(&d);
	d.irqs[0] = 0;
	npu_model_doorbell(d.m, 0, 1000);
	expect_failure(&d, NPU_BOOT_ERROR_ADMIN_RING);
	dev_boot(&d);
	d.irqs[0] = 0;
	d.hole = d.sq_bus;
	d.hole_end = d.hole + 4096;
	npu_model_doorbell(d.m, 0, 1);
	expect_failure(&d, NPU_BOOT_ERROR_DMA);
	dev_exit(&d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(boots),
		cmocka_unit_test(answers_ping),
		cmocka_unit_test(runs_first_jobs),
		cmocka_unit_test(refuses_protocols),
		cmocka_unit_test(refuses_admin_rings),
		cmocka_unit_test(needs_enough_tcm),
		cmocka_unit_test(tells_unexpected_traps),
		cmocka_unit_test(boots_again_after_reset),
		cmocka_unit_test(fails_with_its_admin_ring),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("fw_boot", tests, NULL, NULL);
}
