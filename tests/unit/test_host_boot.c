// SPDX-License-Identifier: MIT
/* Identification, reset and boot against registers that a test plays. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "tests/unit/host_env.h"

#define R(name)	regs[NPU_HOST_##name / 4]

static u32 payload[64];

static const struct npu_fwimage image = {
	.payload = (const u8 *)payload,
	.length = sizeof(payload),
	.load_address = NPU_TCM_BASE + 0x40,
	.entry = NPU_TCM_BASE + 0x44,
	.proto_min = NPU_PROTO_MIN,
	.proto_max = NPU_PROTO_MAX,
};

static void registers(struct test_env *te)
{
	te->R(MAGIC) = NPU_MAGIC;
	te->R(CONTRACT) = NPU_HOST_CONTRACT_RESET;
	te->R(DEVICE) = NPU_HOST_DEVICE_RESET;
	te->R(FEATURES_LO) = 7;
	te->R(FEATURES_HI) = 1;
	te->R(TOPOLOGY) = 2 | 16 << 8 | 4 << 16;
	te->R(CONTEXTS) = 64;
	te->R(CONFIG0) = NPU_HOST_CONFIG0_RESET;
	te->R(CONFIG1) = NPU_HOST_CONFIG1_RESET;
	te->R(CLOCK_KHZ) = 1000;
	te->R(ADDRESS) = 48 | NPU_VA_BITS << 8;
	te->R(TCM_SIZE) = 0x10000;
	te->R(UUID3) = 0x0f0e0d0c;
	te->R(TIME_LO) = 5;
	te->R(TIME_HI) = 6;
}

static void test_identify(void **state)
{
	struct test_env *te = test_env_new();
	struct npu_dev_info info;

	(void)state;
	registers(te);
	assert_int_equal(npu_identify(&te->env, &info, NULL), 0);
	assert_int_equal(info.cores, 2);
	assert_int_equal(info.queues, 16);
	assert_int_equal(info.cqs, 4);
	assert_int_equal(info.contexts, 64);
	assert_int_equal(info.features, 1ull << 32 | 7);
	assert_int_equal(info.bus_bits, 48);
	assert_int_equal(info.va_bits, NPU_VA_BITS);
	assert_int_equal(info.uuid[15], 0x0f);
	assert_int_equal(npu_read_ticks(&te->env), 6ull << 32 | 5);
	free(te);
}

static void test_identify_refuses(void **state)
{
	struct test_env *te = test_env_new();
	struct npu_host_detail d;
	struct npu_dev_info info;

	(void)state;
#define REFUSE(reg, value, error, text) do { \
		registers(te); \
		te->R(reg) = (value); \
		assert_int_equal(npu_identify(&te->env, &info, &d), error); \
		assert_string_equal(d.what, text); \
	} while (0)

	REFUSE(MAGIC, 0xffffffff, -ENODEV, "device is gone: magic");
	REFUSE(MAGIC, 0x1234, -ENODEV, "magic");
	REFUSE(CONTRACT, 1 << 16, -EPROTONOSUPPORT, "major version of the contract");
	REFUSE(DEVICE, 0x4e500002, -ENODEV, "vendor and device number");
	REFUSE(TOPOLOGY, 0 | 16 << 8 | 4 << 16, -EINVAL, "number of cores");
	REFUSE(TOPOLOGY, 17 | 16 << 8 | 4 << 16, -EINVAL, "number of cores");
	REFUSE(TOPOLOGY, 1 | 0 << 8 | 4 << 16, -EINVAL, "number of queue slots");
	REFUSE(TOPOLOGY, 1 | 1 << 8 | 33 << 16, -EINVAL, "number of completion rings");
	REFUSE(CONTEXTS, 1025, -EINVAL, "number of contexts");
	REFUSE(CLOCK_KHZ, 0, -EINVAL, "clock rate in kHz");
	REFUSE(ADDRESS, 57 | NPU_VA_BITS << 8, -EINVAL, "bits of a bus address");
	REFUSE(ADDRESS, 48 | 39 << 8, -EINVAL, "bits of a virtual address");
	REFUSE(TCM_SIZE, NPU_TCM_MAX_SIZE + 4, -EINVAL, "bytes of TCM");
#undef REFUSE
	free(te);
}

/* The device: a reset that takes a while, then firmware that becomes ready. */
static u32 final_state;
static u32 final_error;
static u32 final_proto;

static void on_write(struct test_env *te, u32 offset, u32 value)
{
	if (offset == NPU_HOST_RESET)
		te->R(RESET) = value == NPU_RESET_KEY;
	if (offset == NPU_HOST_CP_CONTROL && value)
		te->R(BOOT_STATE) = NPU_BOOT_BOOTING;
}

static void on_relax(struct test_env *te)
{
	if (te->now < 100)
		return;
	te->R(RESET) = 0;
	if (te->now < 200 || !te->R(CP_CONTROL))
		return;
	te->R(BOOT_STATE) = final_state;
	te->R(BOOT_ERROR) = final_error;
	te->R(FW_PROTO) = final_proto;
}

static int boot(struct test_env *te, struct npu_host_detail *d)
{
	static u8 sq[4096], cq[4096];
	static struct npu_admin admin;

	registers(te);
	te->on_write = on_write;
	te->on_relax = on_relax;
	npu_admin_init(&admin, &te->env, sq, 0x123456000ull, cq, 0x234567000ull);
	return npu_boot(&te->env, &image, &admin, 1000, d);
}

static void test_boot(void **state)
{
	struct test_env *te = test_env_new();
	u32 i;

	(void)state;
	for (i = 0; i < 64; i++)
		payload[i] = i * 0x01010101;
	final_state = NPU_BOOT_READY;
	final_proto = NPU_PROTO_MAX;
	assert_int_equal(boot(te, NULL), 0);
	assert_memory_equal(&te->tcm[0x10], payload, sizeof(payload));
	assert_int_equal(te->R(CP_ENTRY), NPU_TCM_BASE + 0x44);
	assert_int_equal(te->R(CP_CONTROL), 1);
	assert_int_equal(te->R(ADMIN_SIZE), 6 | 6 << 8);
	assert_int_equal(te->R(ADMIN_SQ_LO), 0x23456000);
	assert_int_equal(te->R(ADMIN_SQ_HI), 1);
	assert_int_equal(te->R(ADMIN_CQ_LO), 0x34567000);
	assert_int_equal(te->R(ADMIN_CQ_HI), 2);
	assert_int_equal(te->R(HOST_PROTO_RANGE), NPU_PROTO_MIN | NPU_PROTO_MAX << 16);
	free(te);
}

static void check_boot_fails(u32 boot_state, u32 error, u32 proto, int ret, const char *what)
{
	struct test_env *te = test_env_new();
	struct npu_host_detail d;

	final_state = boot_state;
	final_error = error;
	final_proto = proto;
	assert_int_equal(boot(te, &d), ret);
	assert_string_equal(d.what, what);
	assert_int_equal(te->R(CP_CONTROL), 0);
	free(te);
}

static void test_boot_failures(void **state)
{
	(void)state;
	check_boot_fails(NPU_BOOT_FAILED, NPU_BOOT_ERROR_PROTO, 0, -EPROTONOSUPPORT,
			 "range of the firmware's protocol versions");
	check_boot_fails(NPU_BOOT_FAILED, NPU_BOOT_ERROR_TRAP | 5 << 8, 0, -EIO, "boot error");
	check_boot_fails(NPU_BOOT_BOOTING, 0, 0, -ETIMEDOUT, "boot state");
	check_boot_fails(NPU_BOOT_SUSPENDED, 0, 0, -EIO, "boot state");
	check_boot_fails(0xffffffff, 0, 0, -ENODEV, "device is gone: boot state");
	check_boot_fails(NPU_BOOT_READY, 0, NPU_PROTO_MAX + 1, -EPROTO, "protocol version chosen");
	check_boot_fails(NPU_BOOT_READY, 0, 0, -EPROTO, "protocol version chosen");
}

static void halt(struct test_env *te)
{
	te->R(RESET) = 0;
	te->R(CP_STATUS) = NPU_HOST_CP_STATUS_HALTED_MASK;
}

static void keep_resetting(struct test_env *te, u32 offset, u32 value)
{
	if (offset == NPU_HOST_RESET)
		te->R(RESET) = value ? 1 : 0;
}

static void vanish(struct test_env *te)
{
	te->R(RESET) = 0xffffffff;
}

static void test_reset_failures(void **state)
{
	struct test_env *te = test_env_new();
	struct npu_host_detail d;
	struct npu_admin admin = { .log_sq = 6, .log_cq = 6 };

	(void)state;
	te->on_write = keep_resetting;
	assert_int_equal(npu_reset(&te->env, 500, &d), -ETIMEDOUT);
	assert_string_equal(d.what, "reset");
	te->on_relax = vanish;
	assert_int_equal(npu_reset(&te->env, 500, &d), -ENODEV);
	te->on_relax = halt;
	assert_int_equal(npu_boot(&te->env, &image, &admin, 500, &d), -EIO);
	assert_string_equal(d.what, "processor halted: its status");
	free(te);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_identify),
		cmocka_unit_test(test_identify_refuses),
		cmocka_unit_test(test_boot),
		cmocka_unit_test(test_boot_failures),
		cmocka_unit_test(test_reset_failures),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("host boot", tests, NULL, NULL);
}
