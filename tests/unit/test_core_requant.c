// SPDX-License-Identifier: MIT
/*
 * REQUANT is defined in integers and claims to be what binary32 arithmetic
 * gives. Here the processor's own binary32 arithmetic is the judge of both
 * kernels.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <math.h>
#include <cmocka.h>
#include <fenv.h>
#include "firmware/model/core_internal.h"
#include "tests/unit/core_board.h"

#define VALUES		12000000u
#define ROWS		512u		/* of 16 lanes, in one piece */

static struct board board;
static struct random rnd;

static float as_float(u32 bits)
{
	float f;

	memcpy(&f, &bits, sizeof(f));
	return f;
}

static u32 as_bits(float f)
{
	u32 bits;

	memcpy(&bits, &f, sizeof(bits));
	return bits;
}

static s32 field(u32 v, u32 low)
{
	s32 f = v >> low & 1023;

	return f < 512 ? f : f - 1024;
}

static s32 expected(s32 v, u32 scale, u32 bounds)
{
	bool valid = scale >= 0x00800000 && scale < as_bits(2147483648.0f);
	float s = valid ? as_float(scale) : 0.0f;
	volatile float product = (float)v * s;
	float r = rintf(product);
	float lo = field(bounds, 10), hi = field(bounds, 20);

	if (r > hi)
		r = hi;
	if (r < lo)
		r = lo;
	return (s32)r + field(bounds, 0);
}

/* Runs @n lanes through the kernel, of which each row has its parameters. */
static void check(const struct npu_core_kernels *k, const s32 *v,
		  const u32 *scale, const u32 *bounds, u32 n)
{
	struct npu_core *c = board.core;
	u32 rows = n / 16, i, o;

	for (i = 0; i < rows; i++) {
		u32 at = 4 * (i % ROWS);

		for (o = 0; o < 16; o++) {
			s32 bias = (s32)(i * 16 + o) * 77777;

			c->acc[at][o] = (u32)v[16 * i + o] - (u32)bias;
			c->acc[at + 1][o] = scale[16 * i + o];
			c->acc[at + 2][o] = bounds[16 * i + o];
			c->acc[at + 3][o] = bias;
		}
		c->step[i % ROWS] = core_step(at, at + 1, 0);
	}
	k->requant(c, c->step, rows);
	for (i = 0; i < n; i++) {
		s32 got = c->acc[4 * (i / 16)][i % 16];
		s32 want = expected(v[i], scale[i], bounds[i]);

		if (got != want)
			print_message("%s: %d * 0x%08x (0x%08x): %d, not %d\n",
				      k->name, v[i], scale[i], bounds[i], got,
				      want);
		assert_int_equal(got, want);
	}
}

/* Mostly such that the product lies within the bounds or just outside. */
static void random_lane(s32 *v, u32 *scale, u32 *bounds)
{
	float product = (float)random_range(&rnd, -70000, 70000) / 128;

	*v = (s32)random_u64(&rnd) >> random_below(&rnd, 32);
	*bounds = random_u64(&rnd);
	switch (random_below(&rnd, 8)) {
	case 0:
		*scale = random_u64(&rnd);
		break;
	case 1:
		/* Powers of two: ties. */
		*scale = (u32)random_range(&rnd, 127 - 32, 128) << 23;
		break;
	default:
		*scale = as_bits(fabsf(product / (*v ? *v : 1)));
		*bounds = 512u << 10 | 511u << 20 | (*bounds & 1023);
		break;
	}
}

static void random_values(const struct npu_core_kernels *k)
{
	static s32 v[ROWS * 16];
	static u32 scale[ROWS * 16], bounds[ROWS * 16];
	u32 done, i;

	rnd.state = 42;
	for (done = 0; done < VALUES; done += ROWS * 16) {
		for (i = 0; i < ROWS * 16; i++)
			random_lane(&v[i], &scale[i], &bounds[i]);
		check(k, v, scale, bounds, ROWS * 16);
	}
}

static const s32 edge_v[] = {
	0, 1, -1, 2, -2, 3, 5, 255, 256, 0xffffff, 0x1000000, 0x1000001,
	0x1000003, -0x1000001, 0x1ffffff, 0x2000001, 0x2000003, 0x7fffff80,
	0x7fffffbf, 0x7fffffc0, 0x7fffffff, -0x7fffffff, -0x7fffffff - 1,
	0x40000001, -0x3fffffff, 1000001, -999999, 12345678,
};

static const u32 edge_scale[] = {
	0x00000000, 0x80000000, 0x00000001, 0x007fffff, 0x00800000, 0x00800001,
	0x00ffffff, 0x01000000, 0x2f800000, 0x2fffffff, 0x30000000, 0x33800000,
	0x33800001, 0x33ffffff, 0x34000000, 0x3effffff, 0x3f000000, 0x3f000001,
	0x3f7fffff, 0x3f800000, 0x3f800001, 0x3fc00000, 0x40490fdb, 0x43ff8000,
	0x44000000, 0x4effffff, 0x4f000000, 0x4f7fffff, 0x7f7fffff, 0x7f800000,
	0x7f800001, 0x7fc00000, 0xbf800000, 0xff800000, 0xffffffff, 0x3dcccccd,
};

static const u32 edge_bounds[] = {
	512u << 10 | 511u << 20,		/* as wide as can be */
	0x380u << 10 | 127u << 20,		/* int8 */
	255u << 20 | 3u << 30,			/* uint8, upper bits set */
	100u << 10 | 50u << 20 | 512,		/* lower bound above the upper */
	511u << 10 | 512u << 20 | 511,
	0,
};

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static void edges(const struct npu_core_kernels *k)
{
	static s32 v[ROWS * 16];
	static u32 scale[ROWS * 16], bounds[ROWS * 16];
	u32 i, n = COUNT(edge_v) * COUNT(edge_scale) * COUNT(edge_bounds);

	assert_true(n <= ROWS * 16);
	for (i = 0; i < n; i++) {
		v[i] = edge_v[i % COUNT(edge_v)];
		scale[i] = edge_scale[i / COUNT(edge_v) % COUNT(edge_scale)];
		bounds[i] = edge_bounds[i / COUNT(edge_v) / COUNT(edge_scale)];
	}
	check(k, v, scale, bounds, (n + 15) & ~15u);
}

static void random_portable(void **state)
{
	(void)state;
	random_values(npu_core_kernels_portable());
}

static void random_native(void **state)
{
	(void)state;
	random_values(npu_core_kernels_native());
}

static void edges_portable(void **state)
{
	(void)state;
	edges(npu_core_kernels_portable());
}

static void edges_native(void **state)
{
	(void)state;
	edges(npu_core_kernels_native());
}

/* The caller's rounding mode neither matters nor changes. */
static void rounding_mode(void **state)
{
	const struct npu_core_kernels *k = npu_core_kernels_native();
	struct npu_core *c = board.core;
	u32 o;

	(void)state;
	for (o = 0; o < 16; o++) {
		c->acc[0][o] = o;
		c->acc[1][o] = 0x3f000000;
		c->acc[2][o] = 512u << 10 | 511u << 20;
		c->acc[3][o] = 0;
	}
	c->step[0] = core_step(0, 1, 0);
	fesetround(FE_UPWARD);
	k->requant(c, c->step, 1);
	assert_int_equal(fegetround(), FE_UPWARD);
	fesetround(FE_TONEAREST);
	for (o = 0; o < 16; o++)
		assert_int_equal(c->acc[0][o], o % 4 == 3 ? o / 2 + 1 : o / 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(edges_portable),
		cmocka_unit_test(edges_native),
		cmocka_unit_test(random_portable),
		cmocka_unit_test(random_native),
		cmocka_unit_test(rounding_mode),
	};
	int failed;

	board_init(&board, BOARD_FEATURES);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	board_exit(&board);
	return failed;
}
