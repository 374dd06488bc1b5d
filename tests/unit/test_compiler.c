// SPDX-License-Identifier: MIT
/* Compiled networks give, value for value, what ONNX Runtime's rules say. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/compiler_net.h"
#include "tests/unit/compiler_run.h"

/* Finishes @n, runs it and compares; frees it. */
static struct run_result check_yield(struct net *n, const char *what, uint64_t yield_cycles)
{
	struct run_result r;
	void *bytes;
	size_t size;

	net_finish(n);
	bytes = net_pack(n, &size);
	run_model(bytes, size, n->input, yield_cycles, &r);
	if (r.err)
		fail_msg("%s: %d %s", what, r.err, r.message);
	if (r.fault)
		fail_msg("%s: fault %d at instruction %u", what, r.fault, r.fault_insn);
	assert_int_equal(r.output_elements, n->output_elements);
	for (int64_t i = 0; i < n->output_elements; i++)
		if (r.output[i] != n->output[i])
			fail_msg("%s: element %lld is %g, expected %g", what, (long long)i,
				 r.output[i], n->output[i]);
	free(bytes);
	free(r.output);
	r.output = NULL;
	net_free(n);
	return r;
}

static struct run_result check(struct net *n, const char *what)
{
	return check_yield(n, what, 0);
}

static const struct net_conv conv3 = {
	.out_c = 16,
	.kernel_h = 3,
	.kernel_w = 3,
	.stride_h = 1,
	.stride_w = 1,
	.dilation = 1,
	.groups = 1,
	.pad = { 1, 1, 1, 1 },
	.bias = true,
	.per_channel = true,
};

static void test_one_conv(void **state)
{
	struct net n;

	(void)state;
	net_init(&n, 1, 1, 16, 8, 8, false, 0);
	net_conv(&n, &conv3);
	check(&n, "3x3");
}

static void test_strides_and_pads(void **state)
{
	(void)state;
	for (int i = 0; i < 24; i++) {
		struct net_conv c = conv3;
		struct net n;
		char what[64];

		net_init(&n, 100 + i, 1, net_range(&n, 1, 1) + i % 40, 9 + i % 5, 11, i & 1,
			 i & 1 ? 117 : -5);
		c.out_c = 1 + i * 7 % 50;
		c.kernel_h = 1 + i % 5;
		c.kernel_w = 1 + i / 2 % 4;
		c.stride_h = 1 + i % 3;
		c.stride_w = 1 + i / 3 % 3;
		c.dilation = 1 + (i % 7 == 3);
		c.pad[0] = i % 3;
		c.pad[1] = i / 3 % 3;
		c.pad[2] = i / 5 % 3;
		c.pad[3] = i / 7 % 3;
		c.out_zero = i & 1 ? 90 : 12;
		c.unsigned_weights = i % 4 == 2;
		c.per_channel = i % 3;
		net_conv(&n, &c);
		snprintf(what, sizeof(what), "case %d", i);
		check(&n, what);
	}
}

static int random_zero(struct net *n, bool is_unsigned)
{
	return is_unsigned ? net_range(n, 0, 255) : net_range(n, -128, 127);
}

/* int8 and uint8 in any mix, zero points anywhere: of weights for all or for each channel. */
static void test_types_and_zero_points(void **state)
{
	(void)state;
	for (int i = 0; i < 48; i++) {
		bool is_unsigned = i & 1;
		struct net_conv c = conv3;
		char what[64];
		struct net n;

		net_init(&n, 300 + i, 1, 1 + i * 7 % 40, 8, 7, is_unsigned,
			 is_unsigned ? i * 5 : i * 5 - 128);
		c.unsigned_weights = i >> 1 & 1;
		c.zeros = i >> 2 & 3 ? NET_ZERO + (i >> 2 & 1) : NET_SYMMETRIC;
		c.per_channel = i % 3;
		c.other_type = i % 5 == 1;
		c.out_c = 1 + i * 11 % 40;
		c.out_zero = random_zero(&n, is_unsigned != c.other_type);
		c.kernel_h = 1 + i % 3;
		net_conv(&n, &c);
		c.other_type = i % 7 == 2;
		c.out_zero = random_zero(&n, n.now.is_unsigned != c.other_type);
		net_conv(&n, &c);
		snprintf(what, sizeof(what), "case %d", i);
		check(&n, what);
	}
}

/* Differences of 255 need three parts, of 254 two. */
static void test_extreme_zero_points(void **state)
{
	static const int zero[] = { 0, 1, 127, 128, 254, 255 };

	(void)state;
	for (int i = 0; i < 12; i++) {
		struct net_conv c = conv3;
		char what[64];
		struct net n;

		c.unsigned_weights = i & 1;
		c.groups = i % 3 ? 1 : 20;
		c.out_c = 20;
		net_init(&n, 400 + i, 1, 20, 6, 7, false, -128 + i * 20);
		n.weight_zero = &zero[i / 2];
		net_conv(&n, &c);
		net_flatten(&n);
		net_product(&n, &(struct net_product){ .columns = 12, .unsigned_weights = i & 1 });
		snprintf(what, sizeof(what), "zero point %d of the range", zero[i / 2]);
		check(&n, what);
	}
}

static void test_groups(void **state)
{
	/* input channels, groups, output channels */
	static const int shape[][3] = {
		{ 24, 24, 24 }, { 24, 2, 10 },	 { 64, 2, 64 },	  { 64, 4, 128 }, { 32, 8, 64 },
		{ 32, 32, 64 }, { 96, 96, 96 },	 { 48, 3, 96 },	  { 5, 5, 5 },	  { 5, 5, 20 },
		{ 40, 8, 80 },	{ 64, 16, 16 }, { 128, 2, 32 }, { 300, 300, 300 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(shape) / sizeof(shape[0]) * 4; i++) {
		const int *s = shape[i / 4];
		struct net_conv c = conv3;
		char what[64];
		struct net n;

		net_init(&n, 500 + i, 1, s[0], 9, 12, i & 1, i & 1 ? 90 : 3);
		c.groups = s[1];
		c.out_c = s[2];
		c.stride_h = 1 + (i & 1);
		c.kernel_w = 1 + i % 5;
		c.pad[1] = c.pad[3] = i % 5 / 2;
		c.dilation = 1 + (i % 3 == 0);
		c.zeros = i % 4;
		if (c.zeros > NET_ZERO_A_CHANNEL)
			c.zeros = NET_SYMMETRIC;
		c.unsigned_weights = i & 2;
		net_conv(&n, &c);
		if (i & 1)
			net_maxpool(&n, 2, 2, 2, 2, (int[4]){ 0 });
		else
			net_relu(&n);
		net_conv(&n, &conv3);
		snprintf(what, sizeof(what), "%d channels in %d groups to %d, %zu", s[0], s[1],
			 s[2], i % 4);
		check(&n, what);
	}
}

/* Depthwise layers between pointwise ones, too large for one piece. */
static void test_depthwise_chain(void **state)
{
	struct net_conv point = conv3, depth = conv3;
	struct run_result r;
	struct net n;

	(void)state;
	point.kernel_h = point.kernel_w = 1;
	memset(point.pad, 0, sizeof(point.pad));
	point.out_c = depth.out_c = depth.groups = 160;
	point.out_zero = 4;
	net_init(&n, 600, 2, 20, 30, 26, false, 7);
	for (int i = 0; i < 3; i++) {
		net_conv(&n, &point);
		depth.stride_h = depth.stride_w = 1 + (i == 1);
		net_conv(&n, &depth);
		net_relu(&n);
	}
	r = check_yield(&n, "depthwise chain", 4000);
	assert_true(r.macs < r.useful_macs + r.useful_macs / 2);
}

static void test_gemm(void **state)
{
	(void)state;
	for (int i = 0; i < 32; i++) {
		struct net_product c = {
			.columns = 1 + i * 13 % 50,
			.per_channel = i & 1,
			.unsigned_weights = i >> 1 & 1,
			.zeros = i % 3,
			.other_type = i % 5 == 1,
			.gemm = true,
			.bias = i >> 2 & 1,
			.turned = i >> 3 & 1,
			.alpha = i % 4 ? 0 : 0.3f,
		};
		char what[64];
		struct net n;

		net_init(&n, 700 + i, 1 + i % 3, 7 + i, 2, 3, i & 1, i & 1 ? 31 : -31);
		if (i & 4)
			net_conv(&n, &conv3);
		net_flatten(&n);
		c.out_zero = random_zero(&n, n.now.is_unsigned != c.other_type);
		net_product(&n, &c);
		c.gemm = i & 1;
		c.bias = c.bias && c.gemm;
		c.turned = c.turned && c.gemm;
		c.alpha = 0;
		c.out_zero = random_zero(&n, n.now.is_unsigned != c.other_type);
		net_product(&n, &c);
		snprintf(what, sizeof(what), "case %d", i);
		check(&n, what);
	}
}

/* Too large for the core's memories: rows, columns, input and output blocks are cut. */
static void test_large(void **state)
{
	struct net_conv c = conv3;
	struct net n;

	(void)state;
	net_init(&n, 7, 1, 3, 70, 90, false, 0);
	c.out_c = 48;
	net_conv(&n, &c);
	net_relu(&n);
	c.out_c = 40;
	c.stride_h = c.stride_w = 2;
	net_conv(&n, &c);
	check(&n, "wide");
	net_init(&n, 8, 1, 300, 9, 9, false, 0);
	c.out_c = 280;
	c.stride_h = c.stride_w = 1;
	net_conv(&n, &c);
	check(&n, "deep");
}

static void test_pools(void **state)
{
	static const int none[4], one[4] = { 1, 1, 1, 1 }, odd[4] = { 0, 1, 1, 0 };
	struct net n;

	(void)state;
	net_init(&n, 9, 1, 20, 12, 14, false, 0);
	net_conv(&n, &conv3);
	net_relu(&n);
	net_maxpool(&n, 2, 2, 2, 2, none);
	net_conv(&n, &conv3);
	net_maxpool(&n, 3, 3, 2, 2, none);
	check(&n, "fused");
	net_init(&n, 10, 1, 20, 13, 13, true, 100);
	net_maxpool(&n, 3, 2, 2, 1, odd);
	net_conv(&n, &conv3);
	net_maxpool(&n, 3, 3, 1, 1, one);
	net_clip(&n, 20, 200);
	net_maxpool(&n, 2, 2, 2, 2, none);
	check(&n, "alone and padded");
	net_init(&n, 11, 1, 33, 60, 61, false, 0);
	net_maxpool(&n, 3, 3, 2, 2, one);
	check(&n, "large");
}

/* Dilation, any pads, ceil_mode: behind a convolution and alone. */
static void test_pool_attributes(void **state)
{
	(void)state;
	for (int i = 0; i < 80; i++) {
		struct net_pool c = { .ceil = i & 1 };
		char what[64];
		struct net n;

		net_init(&n, 800 + i, 1, 1 + i * 3 % 40, 9 + i % 7, 8 + i % 5, i & 2,
			 i & 2 ? 99 : 9);
		if (i % 3)
			net_conv(&n, &conv3);
		c.kernel_h = net_range(&n, 1, 4);
		c.kernel_w = net_range(&n, 1, 4);
		c.stride_h = i % 5 ? net_range(&n, 1, 4) : c.kernel_h;
		c.stride_w = i % 5 ? net_range(&n, 1, 4) : c.kernel_w;
		c.dilation_h = net_range(&n, 1, 2 + i % 2);
		c.dilation_w = i % 5 ? net_range(&n, 1, 2) : 1;
		for (int k = 0; k < 4; k++)
			c.pad[k] = net_range(&n, 0, (k & 1 ? c.kernel_w : c.kernel_h) - 1);
		net_pool(&n, &c);
		net_relu(&n);
		snprintf(what, sizeof(what), "case %d", i);
		check(&n, what);
	}
	for (int i = 0; i < 8; i++) {
		/* Taps at -1 and at 2 or 3 of rows 0 to 1: some windows meet nothing. */
		struct net_pool c = { 2, 2, 1, 1, 3 + i % 2, 1, { 1, i & 1, 1, 0 }, i & 2 };
		struct net n;

		net_init(&n, 900 + i, 1, 5, 3, 6, i & 4, 3);
		if (i & 1)
			net_conv(&n, &conv3);
		c.pad[2] = c.dilation_h > 3;
		net_pool(&n, &c);
		check(&n, "windows without input");
	}
	for (int i = 0; i < 4; i++) {
		struct net_pool c = { 3, 5, 2, 3, 3, 2, { 2, 4, 1, 3 }, i & 1 };
		struct net n;

		net_init(&n, 950 + i, 1, 40, 61, 58, i & 2, 0);
		net_pool(&n, &c);
		check(&n, "large");
	}
}

static void test_clips(void **state)
{
	struct net n;

	(void)state;
	net_init(&n, 12, 1, 5, 6, 7, false, -9);
	net_relu(&n);
	net_clip(&n, -20, 50);
	net_conv(&n, &conv3);
	net_clip(&n, -100, 90);
	net_relu(&n);
	net_clip(&n, 60, 20);
	check(&n, "clips");
}

static void test_flatten_and_product(void **state)
{
	struct net_conv c = conv3;
	struct net n;

	(void)state;
	net_init(&n, 13, 1, 20, 5, 6, false, 2);
	net_conv(&n, &c);
	net_flatten(&n);
	net_matmul(&n, 37, -3);
	net_relu(&n);
	net_matmul(&n, 10, 0);
	check(&n, "flattened image");
	net_init(&n, 14, 1, 20, 5, 6, true, 120);
	net_flatten(&n);
	net_matmul(&n, 700, 100);
	net_matmul(&n, 10, 3);
	check(&n, "product alone");
	net_init(&n, 15, 3, 20, 5, 6, false, 0);
	c.out_c = 40;
	net_conv(&n, &c);
	net_flatten(&n);
	net_matmul(&n, 10, 0);
	check(&n, "three images");
}

/* One group, one for each channel, or what divides the channels. */
static void random_groups(struct net *n, struct net_conv *c)
{
	int channels = n->now.dim[1];

	c->groups = 1;
	if (net_range(n, 0, 2) == 0)
		c->groups = channels;
	else if (net_range(n, 0, 3) == 0)
		c->groups = channels % 4 ? 1 : channels / 4;
	c->out_c = c->groups > 1 ? c->groups * net_range(n, 1, 2) : net_range(n, 1, 70);
}

/* Tables behind a convolution, behind one another, alone, and before a pool. */
static void test_tables(void **state)
{
	(void)state;
	for (int i = 0; i < 16; i++) {
		bool is_unsigned = i & 1;
		struct run_result r;
		char what[64];
		struct net n;

		net_init(&n, 1100 + i, 1 + i % 2, 1 + i * 5 % 40, 9, 8 + i, is_unsigned,
			 is_unsigned ? 100 : -4);
		net_conv(&n, &conv3);
		if (i & 2)
			net_relu(&n);
		net_leaky_relu(&n, 0.1f, random_zero(&n, is_unsigned));
		if (i & 4)
			net_maxpool(&n, 2, 2, 2, 2, (int[4]){ 0 });
		net_clip(&n, is_unsigned ? 20 : -90, is_unsigned ? 200 : 100);
		net_sigmoid(&n);
		if (i & 8)
			net_conv(&n, &conv3);
		snprintf(what, sizeof(what), "case %d", i);
		r = check_yield(&n, what, i & 1 ? 500 : 0);
		assert_int_equal(r.streams, 1);
	}
}

/* More tables than have room at once, and weights that would like all of WGT. */
static void test_many_tables(void **state)
{
	struct net_conv c = conv3;
	struct net n;

	(void)state;
	net_init(&n, 1200, 1, 64, 12, 12, false, 3);
	c.out_c = 128;
	for (int i = 0; i < 10; i++) {
		net_conv(&n, &c);
		net_keep(&n);
		net_leaky_relu(&n, 0.02f * i, i - 5);
		if (i % 3 == 2)
			net_pair(&n, true, n.now.scale * 1.9f, 5);
	}
	assert_int_equal(check(&n, "many tables").streams, 1);
}

/* Scales as they come, where the host would do it if integers could not. */
static void test_pairs(void **state)
{
	(void)state;
	for (int i = 0; i < 48; i++) {
		bool is_unsigned = i & 1, sum = i & 2;
		struct net_conv c = conv3;
		float scale;
		char what[64];
		struct net n;

		net_init(&n, 1300 + i, 1 + i % 2, 1 + i * 5 % 40, 9, 8 + i % 30, is_unsigned,
			 is_unsigned ? 100 : -4);
		c.out_c = 1 + i * 9 % 50;
		c.out_zero = random_zero(&n, is_unsigned);
		net_conv(&n, &c);
		net_keep(&n);
		c.out_zero = random_zero(&n, is_unsigned);
		net_conv(&n, &c);
		scale = sum ? n.now.scale + n.kept.scale : n.now.scale * n.kept.scale * 90;
		net_pair(&n, sum, scale * net_range(&n, 30, 110) / 100,
			 sum ? random_zero(&n, is_unsigned) : is_unsigned ? 128 : 0);
		if (i & 4)
			net_relu(&n);
		if (i & 8)
			net_leaky_relu(&n, 0.2f, 0);
		if (i & 16)
			net_conv(&n, &conv3);
		snprintf(what, sizeof(what), "%s %d", sum ? "sum" : "product", i);
		assert_int_equal(check_yield(&n, what, i & 1 ? 500 : 0).streams, 1);
	}
}

static void random_layer(struct net *n)
{
	static const int none[4];
	struct net_conv c = {
		.kernel_h = net_range(n, 1, 4),
		.kernel_w = net_range(n, 1, 4),
		.stride_h = net_range(n, 1, 2),
		.stride_w = net_range(n, 1, 2),
		.dilation = 1,
		.bias = net_range(n, 0, 1),
		.per_channel = net_range(n, 0, 1),
		.unsigned_weights = net_range(n, 0, 1),
		.zeros = net_range(n, 0, 5),
		.other_type = net_range(n, 0, 3) == 0,
	};
	int h = n->now.dim[2], w = n->now.dim[3];

	for (int i = 0; i < 4; i++)
		c.pad[i] = net_range(n, 0, 2);
	if (c.zeros > NET_ZERO_A_CHANNEL)
		c.zeros = NET_SYMMETRIC;
	random_groups(n, &c);
	c.out_zero = random_zero(n, n->now.is_unsigned != c.other_type);
	if (h >= 4 && w >= 4)
		net_conv(n, &c);
	if (net_range(n, 0, 1))
		net_relu(n);
	if (net_range(n, 0, 2) == 0 && n->now.dim[2] >= 3 && n->now.dim[3] >= 3)
		net_maxpool(n, net_range(n, 2, 3), net_range(n, 1, 3), net_range(n, 1, 3),
			    net_range(n, 1, 3), none);
}

static void test_random(void **state)
{
	(void)state;
	for (int i = 0; i < 60; i++) {
		struct net n;
		char what[32];
		bool is_unsigned = i % 3 == 0;

		snprintf(what, sizeof(what), "random %d", i);
		net_init(&n, 1000 + i, 1 + (i % 11 == 0), 1 + i * 13 % 50, 4 + i * 5 % 30,
			 4 + i * 7 % 27, is_unsigned, is_unsigned ? i * 4 : i - 30);
		for (int k = 0; k < 1 + i % 5; k++)
			random_layer(&n);
		if (i & 1) {
			net_flatten(&n);
			net_matmul(&n, 1 + i, 0);
		}
		check_yield(&n, what, i % 4 ? 0 : 3000);
	}
}

static void refuse(struct net *n, int err, const char *part)
{
	struct run_result r;
	void *bytes;
	size_t size;

	net_finish(n);
	bytes = net_pack(n, &size);
	run_model(bytes, size, n->input, 0, &r);
	assert_int_equal(r.err, err);
	if (!strstr(r.message, part))
		fail_msg("\"%s\" lacks \"%s\"", r.message, part);
	free(bytes);
	net_free(n);
}

static void test_refusals(void **state)
{
	struct net_conv c = conv3;
	struct run_result r;
	struct net n;

	(void)state;
	net_init(&n, 20, 1, 4, 6, 6, false, 0);
	net_relu(&n);
	net_rename_op(&n, "LSTM");
	refuse(&n, -EOPNOTSUPP, "LSTM node1: this operator cannot be compiled");
	net_init(&n, 21, 1, 4, 20, 20, false, 0);
	c.pad[0] = 16;
	net_conv(&n, &c);
	refuse(&n, -EOPNOTSUPP, "at most 15");
	net_init(&n, 22, 1, 4, 40, 40, false, 0);
	c.pad[0] = 0;
	c.kernel_h = c.kernel_w = 23;
	net_conv(&n, &c);
	refuse(&n, -EOPNOTSUPP, "at most 512 taps");
	net_init(&n, 25, 1, 4, 6, 6, false, 0);
	net_conv(&n, &conv3);
	net_attr(&n, "stridex", 2);
	refuse(&n, -EOPNOTSUPP, "QLinearConv node1: attribute \"stridex\" is not known");
	net_init(&n, 26, 1, 4, 6, 6, false, 0);
	net_flatten(&n);
	net_product(&n, &(struct net_product){ .columns = 3, .gemm = true });
	net_attr(&n, "transA", 1);
	refuse(&n, -EOPNOTSUPP, "QGemm node2: transA must be 0");
	net_init(&n, 27, 1, 4, 40, 40, false, 0);
	c.unsigned_weights = true;
	c.kernel_h = c.kernel_w = 17;
	n.weight_zero = &(int){ 0 };
	net_conv(&n, &c);
	refuse(&n, -EOPNOTSUPP, "of weights wider than 8 bits; at most 170 taps");
	run_model("\x08\x07garbage", 9, NULL, 0, &r);
	assert_int_equal(r.err, -EINVAL);
	assert_non_null(strstr(r.message, "not an ONNX model"));
	run_model("", 0, NULL, 0, &r);
	assert_int_equal(r.err, -EINVAL);
}

/* Every prefix of a model is refused or compiled; none is worse. */
static void test_cut_model(void **state)
{
	struct run_result r;
	struct net n;
	void *bytes;
	size_t size;

	(void)state;
	net_init(&n, 23, 1, 4, 6, 6, false, 0);
	net_conv(&n, &conv3);
	net_finish(&n);
	bytes = net_pack(&n, &size);
	for (size_t cut = 0; cut < size; cut++) {
		run_model(bytes, cut, n.input, 0, &r);
		assert_true(r.err < 0);
		assert_true(r.message[0]);
	}
	free(bytes);
	net_free(&n);
}

/* Changed bytes are refused with a reason, or compile. */
static void test_changed_model(void **state)
{
	struct run_result r;
	uint8_t *bytes, *copy;
	struct net n;
	size_t size;

	(void)state;
	net_init(&n, 24, 1, 4, 6, 6, false, 0);
	net_conv(&n, &conv3);
	net_flatten(&n);
	net_matmul(&n, 5, 0);
	net_finish(&n);
	bytes = net_pack(&n, &size);
	copy = malloc(size);
	for (int i = 0; i < 2000; i++) {
		memcpy(copy, bytes, size);
		for (int k = 0; k <= i % 3; k++)
			copy[net_random(&n) % size] = net_random(&n);
		if (compile_model(copy, size, &r))
			assert_true(r.message[0]);
	}
	free(copy);
	free(bytes);
	net_free(&n);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_conv),
		cmocka_unit_test(test_strides_and_pads),
		cmocka_unit_test(test_types_and_zero_points),
		cmocka_unit_test(test_extreme_zero_points),
		cmocka_unit_test(test_groups),
		cmocka_unit_test(test_depthwise_chain),
		cmocka_unit_test(test_gemm),
		cmocka_unit_test(test_large),
		cmocka_unit_test(test_pools),
		cmocka_unit_test(test_pool_attributes),
		cmocka_unit_test(test_clips),
		cmocka_unit_test(test_flatten_and_product),
		cmocka_unit_test(test_tables),
		cmocka_unit_test(test_many_tables),
		cmocka_unit_test(test_pairs),
		cmocka_unit_test(test_random),
		cmocka_unit_test(test_refusals),
		cmocka_unit_test(test_cut_model),
		cmocka_unit_test(test_changed_model),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
