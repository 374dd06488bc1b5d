// SPDX-License-Identifier: MIT
/* Host kernels of operators: values worked by hand, and refusals. */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include <npu/npu.h>
#include "userspace/libnpu/hostkernel.h"

struct memory {
	const void *src[NPU_HOST_MAX_INPUTS];
	void *dst;
	uint64_t size[NPU_HOST_MAX_OPERANDS];
};

static void run(const char *name, const void *params, uint32_t size, const struct memory *m)
{
	const struct npu_host_kernel *kernel = npu_host_kernel_find(name);
	struct npu_host_need need[NPU_HOST_MAX_OPERANDS];
	uint32_t i;

	assert_non_null(kernel);
	if (kernel->check(params, size, need))
		fail_msg("%s", npu_error_message());
	for (i = 0; i <= kernel->inputs; i++)
		assert_int_equal(need[i].size, m->size[i]);
	kernel->run(params, m->src, m->dst);
}

static void refuse(const char *name, const void *params, uint32_t size, const char *text)
{
	const struct npu_host_kernel *kernel = npu_host_kernel_find(name);
	struct npu_host_need need[NPU_HOST_MAX_OPERANDS];

	assert_non_null(kernel);
	assert_int_equal(kernel->check(params, size, need), -EINVAL);
	if (!strstr(npu_error_message(), text))
		fail_msg("\"%s\" is not in \"%s\"", text, npu_error_message());
}

/* Each kernel's own fields, changed one at a time. */
#define REFUSE(kernel, good, field, value, text) do { \
		__typeof__(good) changed = (good); \
		changed.field = (value); \
		refuse(kernel, &changed, sizeof(changed), text); \
	} while (0)

static void test_lookup(void **state)
{
	struct npu_host_lookup p = { .size = 4 };
	const uint8_t x[4] = { 0, 255, 7, 128 }, expected[4] = { 255, 0, 248, 127 };
	uint8_t y[4];
	int i;

	(void)state;
	for (i = 0; i < 256; i++)
		p.table[i] = 255 - i;
	run("lookup8", &p, sizeof(p), &(struct memory){ { x }, y, { 4, 4 } });
	assert_memory_equal(y, expected, 4);
	REFUSE("lookup8", p, size, 0, "size of lookup8");
	REFUSE("lookup8", p, size, NPU_PLAN_MAX_BYTES + 1, "size of lookup8");
	refuse("lookup8", &p, sizeof(p) - 1, "expected 264 bytes");
}

static void test_blocks(void **state)
{
	struct npu_host_blocks p = { .count = 2, .size = 2, .src_step = 3, .dst_step = 4 };
	char y[] = "......";

	(void)state;
	run("copy_blocks", &p, sizeof(p), &(struct memory){ { "abcde" }, y, { 5, 6 } });
	assert_string_equal(y, "ab..de");
	REFUSE("copy_blocks", p, count, 0, "blocks of");
	REFUSE("copy_blocks", p, size, 0, "blocks of");
	REFUSE("copy_blocks", p, src_step, 1, "blocks of");
	REFUSE("copy_blocks", p, dst_step, 1, "blocks of");
	REFUSE("copy_blocks", p, dst_step, UINT64_MAX, "blocks of");
	REFUSE("copy_blocks", p, count, UINT64_MAX, "blocks of");
	refuse("copy_blocks", &p, sizeof(p) + 8, "expected 32 bytes");
}

struct gather {
	struct npu_host_gather head;
	int32_t index[5];
};

static void test_gather(void **state)
{
	struct gather p = {
		.head = { .ndim = 2, .element = 2, .src_shape = { 2, 3 }, .dst_shape = { 2, 3 },
			  .fill = { 9 } },
		.index = { 1, -1, 2, -1, 0 },
	};
	const uint16_t x[2][3] = { { 1, 2, 3 }, { 4, 5, 6 } };
	const uint16_t expected[2][3] = { { 6, 9, 4 }, { 9, 9, 9 } };
	uint16_t y[2][3];

	(void)state;
	run("gather", &p, sizeof(p), &(struct memory){ { x }, y, { 12, 12 } });
	assert_memory_equal(y, expected, sizeof(y));
	REFUSE("gather", p, head.ndim, 0, "dimensions of gather");
	REFUSE("gather", p, head.ndim, 9, "dimensions of gather");
	REFUSE("gather", p, head.element, 3, "element of gather");
	REFUSE("gather", p, head.src_shape[2], 1, "dimension 2 of 2 is not 0");
	REFUSE("gather", p, head.dst_shape[7], 1, "dimension 7 of 2 is not 0");
	REFUSE("gather", p, head.fill[2], 1, "byte 2 of a fill of 2");
	REFUSE("gather", p, head.src_shape[0], 0, "shapes of gather");
	REFUSE("gather", p, head.dst_shape[1], 0xffffffff, "shapes of gather");
	REFUSE("gather", p, head.dst_shape[1], 4, "expected 104 bytes");
	REFUSE("gather", p, index[2], 3, "index 0 of dimension 1: expected -1 to below 3, found 3");
	REFUSE("gather", p, index[1], -2, "index 1 of dimension 0");
	refuse("gather", &p, sizeof(p.head) - 1, "expected 80 bytes");
}

static void test_binary(void **state)
{
	struct npu_host_binary8 p = {
		.dtype_bits = 8, .size = 4,
		.a = { 0.5f, 1 }, .b = { 0.25f, -2 }, .y = { 0.5f, 3 },
	};
	const int8_t a[4] = { 1, 2, 127, -128 }, b[4] = { -2, -1, 127, -128 };
	/* add: ((a - 1) / 2 + (b + 2) / 4) * 2 + 3, ties to even: 4.5 -> 4 */
	const int8_t sums[4] = { 3, 4, 127, -128 };
	/* mul: (a - 1) / 2 * (b + 2) / 4 * 2 + 3 = (a - 1) * (b + 2) / 4 + 3 */
	const int8_t products[4] = { 3, 3, 127, 127 };
	int8_t y[4];

	(void)state;
	run("quantized_add", &p, sizeof(p), &(struct memory){ { a, b }, y, { 4, 4, 4 } });
	assert_memory_equal(y, sums, 4);
	run("quantized_mul", &p, sizeof(p), &(struct memory){ { a, b }, y, { 4, 4, 4 } });
	assert_memory_equal(y, products, 4);
	REFUSE("quantized_add", p, dtype_code, 2, "type of quantized_add");
	REFUSE("quantized_mul", p, dtype_bits, 16, "type of quantized_mul");
	REFUSE("quantized_add", p, reserved, 1, "reserved");
	REFUSE("quantized_add", p, reserved1, 1, "reserved");
	REFUSE("quantized_add", p, size, 0, "size of");
	REFUSE("quantized_mul", p, size, NPU_PLAN_MAX_BYTES + 1, "size of");
	REFUSE("quantized_add", p, a.scale, 0, "scale of operand 0");
	REFUSE("quantized_add", p, b.scale, NAN, "scale of operand 1");
	REFUSE("quantized_add", p, y.zero_point, 128, "zero point of operand 2");
	refuse("quantized_mul", &p, sizeof(p) - 8, "expected 40 bytes");
}

static void test_floats(void **state)
{
	struct npu_host_copy p = { 8 };
	const float a[2] = { 1.5f, -2 }, b[2] = { 0.25f, 4 };
	float y[2];

	(void)state;
	run("add_f32", &p, sizeof(p), &(struct memory){ { a, b }, y, { 8, 8, 8 } });
	assert_true(y[0] == 1.75f && y[1] == 2);
	run("mul_f32", &p, sizeof(p), &(struct memory){ { a, b }, y, { 8, 8, 8 } });
	assert_true(y[0] == 0.375f && y[1] == -8);
	REFUSE("add_f32", p, size, 0, "size of add_f32");
	REFUSE("mul_f32", p, size, 6, "size of mul_f32");
	refuse("add_f32", &p, 7, "expected 8 bytes");
}

static void test_clip(void **state)
{
	struct npu_host_bound p = { 20, -1, 2.5f };
	const float x[5] = { -3, -1, 0.5f, 7, NAN };
	float y[5];

	(void)state;
	run("clip_f32", &p, sizeof(p), &(struct memory){ { x }, y, { 20, 20 } });
	assert_true(y[0] == -1 && y[1] == -1 && y[2] == 0.5f && y[3] == 2.5f && isnan(y[4]));
	REFUSE("clip_f32", p, size, 0, "size of clip_f32");
	REFUSE("clip_f32", p, size, 5, "size of clip_f32");
	REFUSE("clip_f32", p, low, NAN, "bounds of clip_f32");
	REFUSE("clip_f32", p, high, NAN, "bounds of clip_f32");
	refuse("clip_f32", &p, 8, "expected 16 bytes");
}

static void test_average(void **state)
{
	struct npu_host_average p = {
		.pool = { .dtype_code = 1, .dtype_bits = 8, .n = 1, .c = 1, .h = 2, .w = 2,
			  .out_h = 2, .out_w = 2, .kernel_h = 2, .kernel_w = 2, .stride_h = 1,
			  .stride_w = 1, .pad_top = 1, .pad_left = 1 },
		.x = { 1, 10 }, .y = { 0.5f, 7 },
	};
	const uint8_t x[4] = { 12, 18, 10, 20 };
	/* means 2, 5, 1, 5; with padding a quarter of the sums 2, 10, 2, 20 */
	const uint8_t without[4] = { 11, 17, 9, 17 }, with[4] = { 8, 12, 8, 17 };
	uint8_t y[4];

	(void)state;
	run("average_pool8", &p, sizeof(p), &(struct memory){ { x }, y, { 4, 4 } });
	assert_memory_equal(y, without, 4);
	p.include_pad = 1;
	run("average_pool8", &p, sizeof(p), &(struct memory){ { x }, y, { 4, 4 } });
	assert_memory_equal(y, with, 4);
	REFUSE("average_pool8", p, include_pad, 2, "include_pad");
	REFUSE("average_pool8", p, reserved, 1, "reserved");
	REFUSE("average_pool8", p, pool.dtype_code, 2, "type of average_pool8");
	REFUSE("average_pool8", p, pool.out_h, 4, "average_pool8, rows: output 3 is a window beyond");
	REFUSE("average_pool8", p, x.scale, -1, "scale of operand 0");
	REFUSE("average_pool8", p, y.zero_point, -1, "zero point of operand 1");
	refuse("average_pool8", &p, 1, "expected 80 bytes");
}

static void test_mean(void **state)
{
	struct npu_host_mean p = {
		.dtype_bits = 8, .outer = 2, .inner = 3, .x = { 1, 0 }, .y = { 0.5f, -1 },
	};
	const int8_t x[6] = { 1, 2, 6, -128, -128, -128 };
	const int8_t expected[2] = { 5, -128 };
	int8_t y[2];

	(void)state;
	run("mean8", &p, sizeof(p), &(struct memory){ { x }, y, { 6, 2 } });
	assert_memory_equal(y, expected, 2);
	REFUSE("mean8", p, outer, 0, "shape of mean8");
	REFUSE("mean8", p, inner, 0, "shape of mean8");
	REFUSE("mean8", p, inner, (1u << 23) + 1, "shape of mean8");
	REFUSE("mean8", p, reserved, 1, "reserved");
	REFUSE("mean8", p, dtype_bits, 4, "type of mean8");
	REFUSE("mean8", p, y.scale, INFINITY, "scale of operand 1");
	refuse("mean8", &p, 33, "expected 32 bytes");
}

static void test_argmax(void **state)
{
	struct npu_host_reduce p = { .dtype_bits = 8, .outer = 1, .count = 3, .inner = 2 };
	const int8_t x[6] = { 5, -1, 5, -128, 0, -1 };
	const float f[6] = { -1, 4, 2, 3, 2, 4 };
	int64_t y[2];

	(void)state;
	run("argmax", &p, sizeof(p), &(struct memory){ { x }, y, { 6, 16 } });
	assert_true(y[0] == 0 && y[1] == 0);
	p.select_last = 1;
	run("argmax", &p, sizeof(p), &(struct memory){ { x }, y, { 6, 16 } });
	assert_true(y[0] == 1 && y[1] == 2);
	p.dtype_code = 1;
	run("argmax", &p, sizeof(p), &(struct memory){ { x }, y, { 6, 16 } });
	assert_true(y[0] == 1 && y[1] == 2);
	p = (struct npu_host_reduce) { .dtype_code = 2, .dtype_bits = 32, .outer = 1, .count = 3,
				       .inner = 2 };
	run("argmax", &p, sizeof(p), &(struct memory){ { f }, y, { 24, 16 } });
	assert_true(y[0] == 1 && y[1] == 0);
	REFUSE("argmax", p, dtype_bits, 8, "type of argmax");
	REFUSE("argmax", p, select_last, 2, "select_last");
	REFUSE("argmax", p, count, 0, "shape of argmax");
	REFUSE("argmax", p, inner, 0xffffffff, "shape of argmax");
	refuse("argmax", &p, 15, "expected 16 bytes");
}

static void test_softmax(void **state)
{
	struct npu_host_reduce p = { .dtype_code = 2, .dtype_bits = 32, .outer = 1,
					   .count = 2, .inner = 2 };
	const float x[4] = { 1000, 0, 1000, 1 };
	float y[4];

	(void)state;
	run("softmax", &p, sizeof(p), &(struct memory){ { x }, y, { 16, 16 } });
	assert_true(y[0] == 0.5f && y[2] == 0.5f);
	assert_true(fabs(y[1] - 1 / (1 + exp(1))) < 1e-7 && fabs(y[1] + y[3] - 1) < 1e-6);
	REFUSE("softmax", p, dtype_code, 1, "type of softmax");
	REFUSE("softmax", p, select_last, 1, "type of softmax");
	REFUSE("softmax", p, reserved, 1, "reserved");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lookup),
		cmocka_unit_test(test_blocks),
		cmocka_unit_test(test_gather),
		cmocka_unit_test(test_binary),
		cmocka_unit_test(test_floats),
		cmocka_unit_test(test_clip),
		cmocka_unit_test(test_average),
		cmocka_unit_test(test_mean),
		cmocka_unit_test(test_argmax),
		cmocka_unit_test(test_softmax),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
