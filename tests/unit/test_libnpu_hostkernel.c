// SPDX-License-Identifier: MIT
/* Host kernels against plain restatements of their rules. */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <npu/npu.h>
#include "userspace/libnpu/hostkernel.h"

static uint32_t rnd(uint64_t *state)
{
	*state = *state * 6364136223846793005ull + 1442695040888963407ull;
	return *state >> 33;
}

static void run(const char *name, const void *params, uint32_t size, const void *src, void *dst,
		uint64_t src_size, uint64_t dst_size)
{
	const struct npu_host_kernel *kernel = npu_host_kernel_find(name);
	struct npu_host_need need[NPU_HOST_MAX_OPERANDS];

	assert_non_null(kernel);
	if (kernel->check(params, size, need))
		fail_msg("%s", npu_error_message());
	assert_int_equal(need[0].size, src_size);
	assert_int_equal(need[1].size, dst_size);
	kernel->run(params, &src, dst);
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

/* ---- quantisation ---- */

struct quant {
	struct npu_host_quantize head;
	struct npu_host_scale scales[3];
};

/* Nearest, ties to even, by exact arithmetic in double: a float quotient has 24 bits. */
static int quantize(float x, float scale, int zero_point, int min, int max)
{
	double q = (double)(float)(x / scale);
	double low = floor(q);
	double rest = q - low;
	double r = rest > 0.5 || (rest == 0.5 && fmod(low, 2.0) != 0) ? low + 1 : low;

	r += zero_point;
	return r < min ? min : r > max ? max : (int)r;
}

static void check_quantize(uint8_t code, int min, int max)
{
	struct quant q = {
		.head = { .dtype_code = code, .dtype_bits = 8, .outer = 2, .channels = 3,
			  .inner = 1000 },
		.scales = { { 0.0078125f, min + 5 }, { 0.1f, max }, { 3.7f, min + 128 } },
	};
	static float x[6000], back[6000];
	static uint8_t y[6000];
	uint64_t seed = code + 1;
	int i;

	for (i = 0; i < 6000; i++) {
		float scale = q.scales[i / 1000 % 3].scale;

		/* Every fourth one is a tie, or next to it. */
		x[i] = i % 4 ? ((int)(rnd(&seed) % 20000) - 10000) * 0.013f * scale :
			       ((int)(rnd(&seed) % 600) - 300 + 0.5f) * scale;
	}
	x[0] = INFINITY;
	x[1] = -INFINITY;
	x[2] = -0.0f;
	run("quantize_linear", &q, sizeof(q), x, y, sizeof(x), sizeof(y));
	run("dequantize_linear", &q, sizeof(q), y, back, sizeof(y), sizeof(back));
	for (i = 0; i < 6000; i++) {
		const struct npu_host_scale *s = &q.scales[i / 1000 % 3];
		int value = code ? y[i] : (int8_t)y[i];

		assert_int_equal(value, quantize(x[i], s->scale, s->zero_point, min, max));
		assert_true(back[i] == (float)(value - s->zero_point) * s->scale);
	}
}

static void test_quantize(void **state)
{
	struct quant q = {
		.head = { .dtype_bits = 8, .outer = 1, .channels = 1, .inner = 1 },
		.scales = { { 1, 7 } },
	};
	const float nan = NAN;
	int8_t y;

	(void)state;
	check_quantize(0, -128, 127);
	check_quantize(1, 0, 255);
	run("quantize_linear", &q, sizeof(q.head) + sizeof(q.scales[0]), &nan, &y, 4, 1);
	assert_int_equal(y, 7);
}

static void test_quantize_refusals(void **state)
{
	const struct quant good = {
		.head = { .dtype_bits = 8, .outer = 1, .channels = 3, .inner = 1 },
		.scales = { { 1, 0 }, { 1, 0 }, { 1, 0 } },
	};
	struct quant q;

	(void)state;
#define REFUSE(field, value, text) do { \
		q = good; \
		q.field = (value); \
		refuse("quantize_linear", &q, sizeof(q), text); \
		refuse("dequantize_linear", &q, sizeof(q), text); \
	} while (0)
	REFUSE(head.dtype_code, 2, "type of");
	REFUSE(head.dtype_bits, 16, "type of");
	REFUSE(head.reserved, 1, "type of");
	REFUSE(head.outer, 0, "shape of");
	REFUSE(head.inner, 0, "shape of");
	REFUSE(head.channels, 0, "shape of");
	REFUSE(head.inner, 0xffffffff, "shape of");
	REFUSE(head.channels, 4, "expected 48 bytes, found 40");
	REFUSE(scales[1].scale, 0, "scale of channel 1");
	REFUSE(scales[1].scale, -1, "scale of channel 1");
	REFUSE(scales[2].scale, NAN, "scale of channel 2");
	REFUSE(scales[0].scale, INFINITY, "scale of channel 0");
	REFUSE(scales[0].zero_point, 128, "zero point of channel 0: expected -128 to 127, found 128");
#undef REFUSE
	q = good;
	refuse("quantize_linear", &q, 15, "expected 24 bytes, found 15");
}

/* ---- layout ---- */

static void test_pack_round_trip(void **state)
{
	static const uint32_t shapes[][4] = {
		{ 1, 1, 1, 1 }, { 1, 16, 3, 5 }, { 2, 17, 4, 3 }, { 3, 33, 1, 7 }, { 1, 15, 8, 8 },
	};
	uint64_t seed = 3;
	size_t s;

	(void)state;
	for (s = 0; s < sizeof(shapes) / sizeof(shapes[0]); s++) {
		struct npu_host_pack p = { shapes[s][0], shapes[s][1], shapes[s][2], shapes[s][3],
					   -77, 0 };
		uint32_t blocks = (p.c + 15) / 16;
		size_t dense = (size_t)p.n * p.c * p.h * p.w;
		size_t packed = npu_packed_size(p.n, p.c, p.h, p.w);
		int8_t *x = malloc(dense), *y = malloc(packed), *z = malloc(dense);
		uint32_t n, c, h, w;
		size_t i;

		for (i = 0; i < dense; i++)
			x[i] = rnd(&seed);
		run("pack_nchw16", &p, sizeof(p), x, y, dense, packed);
		for (n = 0; n < p.n; n++)
			for (c = 0; c < blocks * 16; c++)
				for (h = 0; h < p.h; h++)
					for (w = 0; w < p.w; w++)
						assert_int_equal(
							y[(((n * blocks + c / 16) * p.h + h) *
							   p.w + w) * 16 + c % 16],
							c < p.c ? x[((n * p.c + c) * p.h + h) *
								    p.w + w] : -77);
		p.pad = 0;
		run("unpack_nchw16", &p, sizeof(p), y, z, packed, dense);
		assert_memory_equal(x, z, dense);
		free(x);
		free(y);
		free(z);
	}
	assert_int_equal(npu_packed_size(SIZE_MAX, 16, 2, 1), 0);
	assert_int_equal(npu_packed_size(1, SIZE_MAX, 1, 16), 0);
}

static void test_copies(void **state)
{
	const struct npu_host_copy p = { 256 };
	uint8_t x[256], y[256], z[256];
	int i;

	(void)state;
	for (i = 0; i < 256; i++)
		x[i] = i;
	run("copy", &p, sizeof(p), x, y, 256, 256);
	assert_memory_equal(x, y, 256);
	run("flip_sign8", &p, sizeof(p), x, y, 256, 256);
	for (i = 0; i < 256; i++)
		assert_int_equal((int8_t)y[i], i - 128);
	run("flip_sign8", &p, sizeof(p), y, z, 256, 256);
	assert_memory_equal(x, z, 256);
}

static void test_transpose(void **state)
{
	const struct npu_host_transpose p = {
		.ndim = 4, .element = 2, .shape = { 2, 3, 4, 5 }, .perm = { 0, 2, 3, 1 },
	};
	uint16_t x[2][3][4][5], y[2][4][5][3];
	int n, c, h, w;
	size_t i;

	(void)state;
	for (i = 0; i < 120; i++)
		((uint16_t *)x)[i] = i * 331;
	run("transpose", &p, sizeof(p), x, y, 240, 240);
	for (n = 0; n < 2; n++)
		for (c = 0; c < 3; c++)
			for (h = 0; h < 4; h++)
				for (w = 0; w < 5; w++)
					assert_int_equal(y[n][h][w][c], x[n][c][h][w]);
}

static void test_layout_refusals(void **state)
{
	struct npu_host_pack pack = { 1, 16, 1, 1, 0, 0 };
	struct npu_host_copy copy = { 0 };
	struct npu_host_transpose t = { .ndim = 2, .element = 1, .shape = { 2, 3 },
					.perm = { 1, 1 } };

	(void)state;
	refuse("pack_nchw16", &pack, 23, "expected 24 bytes, found 23");
	pack.pad = 128;
	refuse("pack_nchw16", &pack, 24, "expected -128 to 127");
	pack.pad = 1;
	refuse("unpack_nchw16", &pack, 24, "expected 0 to 0");
	pack = (struct npu_host_pack) { 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0, 0 };
	refuse("pack_nchw16", &pack, 24, "shape of");
	pack = (struct npu_host_pack) { 1, 0, 1, 1, 0, 0 };
	refuse("pack_nchw16", &pack, 24, "shape of");
	pack = (struct npu_host_pack) { 1, 16, 1, 1, 0, 1 };
	refuse("pack_nchw16", &pack, 24, "reserved");
	refuse("copy", &copy, 8, "size of a copy");
	copy.size = NPU_PLAN_MAX_BYTES + 1;
	refuse("flip_sign8", &copy, 8, "size of a copy");
	refuse("copy", &copy, 7, "expected 8 bytes");
	refuse("transpose", &t, sizeof(t), "perm[1]");
	t.perm[0] = 2;
	refuse("transpose", &t, sizeof(t), "perm[0]");
	t.perm[0] = 0;
	t.perm[5] = 1;
	refuse("transpose", &t, sizeof(t), "dimension 5 of 2");
	t.element = 3;
	refuse("transpose", &t, sizeof(t), "element");
	t.ndim = 9;
	refuse("transpose", &t, sizeof(t), "dimensions");
	t = (struct npu_host_transpose) { .ndim = 1, .element = 1 };
	refuse("transpose", &t, sizeof(t), "shape");
	assert_null(npu_host_kernel_find("no such"));
}

/* ---- pooling ---- */

static int pool_at(const struct npu_host_pool *p, const uint8_t *plane, int oy, int ox)
{
	int best = -1000;
	uint32_t ky, kx;

	for (ky = 0; ky < p->kernel_h; ky++) {
		for (kx = 0; kx < p->kernel_w; kx++) {
			int y = oy * (int)p->stride_h - (int)p->pad_top + (int)ky;
			int x = ox * (int)p->stride_w - (int)p->pad_left + (int)kx;
			int v;

			if (y < 0 || x < 0 || y >= (int)p->h || x >= (int)p->w)
				continue;
			v = plane[y * p->w + x];
			if (!p->dtype_code)
				v = (int8_t)v;
			if (v > best)
				best = v;
		}
	}
	return best;
}

static void test_maxpool(void **state)
{
	struct npu_host_pool p = {
		.dtype_bits = 8, .n = 2, .c = 3, .h = 9, .w = 7, .out_h = 5, .out_w = 3,
		.kernel_h = 3, .kernel_w = 3, .stride_h = 2, .stride_w = 3, .pad_top = 1,
		.pad_left = 2,
	};
	uint8_t x[2 * 3 * 9 * 7], y[2 * 3 * 5 * 3];
	uint64_t seed = 9;
	int code, i, plane, oy, ox;

	(void)state;
	for (code = 0; code < 2; code++) {
		p.dtype_code = code;
		for (i = 0; i < (int)sizeof(x); i++)
			x[i] = rnd(&seed);
		run("maxpool", &p, sizeof(p), x, y, sizeof(x), sizeof(y));
		for (plane = 0; plane < 6; plane++)
			for (oy = 0; oy < 5; oy++)
				for (ox = 0; ox < 3; ox++)
					assert_int_equal((uint8_t)pool_at(&p, x + plane * 63, oy,
									  ox),
							 y[(plane * 5 + oy) * 3 + ox]);
	}
}

static void test_maxpool_refusals(void **state)
{
	const struct npu_host_pool good = {
		.dtype_bits = 8, .n = 1, .c = 1, .h = 4, .w = 4, .out_h = 2, .out_w = 2,
		.kernel_h = 2, .kernel_w = 2, .stride_h = 2, .stride_w = 2,
	};
	struct npu_host_pool p;

	(void)state;
#define REFUSE(field, value, text) do { \
		p = good; \
		p.field = (value); \
		refuse("maxpool", &p, sizeof(p), text); \
	} while (0)
	REFUSE(dtype_code, 2, "type of");
	REFUSE(reserved1, 2, "type of");
	REFUSE(n, 0, "shape of");
	REFUSE(w, 0, "shape of");
	REFUSE(out_h, 0xffffffff, "shape of");
	REFUSE(kernel_h, 0, "rows");
	REFUSE(stride_w, 0, "columns");
	REFUSE(pad_left, 2, "columns");
	REFUSE(out_h, 3, "a window beyond the input");
#undef REFUSE
	refuse("maxpool", &good, 55, "expected 56 bytes");
}

/* ---- windows ---- */

static int tap_at(const struct npu_host_patches *p, const int8_t *image, uint32_t tap, int oy, int ox)
{
	uint32_t window = p->kernel_h * p->kernel_w;
	int y = oy * (int)p->stride_h - (int)p->pad_top +
		(int)(tap % window / p->kernel_w * p->dilation_h);
	int x = ox * (int)p->stride_w - (int)p->pad_left +
		(int)(tap % window % p->kernel_w * p->dilation_w);

	if (tap / window >= p->c || y < 0 || x < 0 || y >= (int)p->h || x >= (int)p->w)
		return p->pad;
	return image[(tap / window * p->h + y) * p->w + x];
}

static void test_patches(void **state)
{
	const struct npu_host_patches p = {
		.n = 2, .c = 2, .h = 7, .w = 6, .out_h = 4, .out_w = 5, .kernel_h = 3,
		.kernel_w = 3, .stride_h = 2, .stride_w = 1, .dilation_h = 1, .dilation_w = 2,
		.pad_top = 1, .pad_left = 2, .pad = -9,
	};
	int8_t x[2 * 2 * 7 * 6], y[2][2][4][5][16];
	uint32_t n, tap, oy, ox;
	uint64_t seed = 11;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(x); i++)
		x[i] = rnd(&seed);
	run("pack_patches", &p, sizeof(p), x, y, sizeof(x), sizeof(y));
	for (n = 0; n < 2; n++)
		for (tap = 0; tap < 32; tap++)
			for (oy = 0; oy < 4; oy++)
				for (ox = 0; ox < 5; ox++)
					assert_int_equal(y[n][tap / 16][oy][ox][tap % 16],
							 tap_at(&p, x + n * 84, tap, oy, ox));
}

static void test_patches_refusals(void **state)
{
	const struct npu_host_patches good = {
		.n = 1, .c = 1, .h = 4, .w = 4, .out_h = 2, .out_w = 2, .kernel_h = 2,
		.kernel_w = 2, .stride_h = 2, .stride_w = 2, .dilation_h = 1, .dilation_w = 1,
	};
	struct npu_host_patches p;

	(void)state;
#define REFUSE(field, value, text) do { \
		p = good; \
		p.field = (value); \
		refuse("pack_patches", &p, sizeof(p), text); \
	} while (0)
	REFUSE(h, 0, "expected sides");
	REFUSE(out_w, 0xffffffff, "expected sides");
	REFUSE(dilation_h, 0, "expected sides");
	REFUSE(pad_top, 0xffffffff, "expected sides");
	REFUSE(pad, 128, "a pad value");
	REFUSE(reserved, 1, "reserved");
	REFUSE(n, 0, "expected operands");
	REFUSE(c, 0xffffffff, "expected operands");
#undef REFUSE
	refuse("pack_patches", &good, 63, "expected 64 bytes");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_quantize),
		cmocka_unit_test(test_quantize_refusals),
		cmocka_unit_test(test_pack_round_trip),
		cmocka_unit_test(test_copies),
		cmocka_unit_test(test_transpose),
		cmocka_unit_test(test_layout_refusals),
		cmocka_unit_test(test_maxpool),
		cmocka_unit_test(test_maxpool_refusals),
		cmocka_unit_test(test_patches),
		cmocka_unit_test(test_patches_refusals),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("libnpu host kernels", tests, NULL, NULL);
}
