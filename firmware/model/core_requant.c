// SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 OR MIT
/* REQUANT: binary32 arithmetic of one multiplication, in integers. */
#include "firmware/model/core_internal.h"

/* Bits of a number that is not 0. */
#ifdef __KERNEL__
#include <linux/bitops.h>
#define bit_length(v) fls(v)
#else
#define bit_length(v) (32u - __builtin_clz(v))
#endif

/* Bits of a binary32 number and of its mantissa, the hidden one included. */
#define EXPONENT_SHIFT	23
#define EXPONENT_BIAS	150
#define MANTISSA_BITS	24

/* Exponent field of 2^31, and of nothing useful any more. */
#define EXPONENT_END	(127 + 31)

/* v / 2^shift, to nearest, ties to even; 0 < shift < 63. */
static u64 shift_even(u64 v, u32 shift)
{
	u64 odd = v >> shift & 1;

	return (v + (1ull << (shift - 1)) - 1 + odd) >> shift;
}

/* |v| * scale, rounded as binary32 does it; at most 2^32 counts. */
static u64 requant_magnitude(u32 a, u32 mantissa, s32 exponent)
{
	u32 bits = bit_length(a);
	u64 p;

	if (bits > MANTISSA_BITS) {
		exponent += bits - MANTISSA_BITS;
		a = shift_even(a, bits - MANTISSA_BITS);
	} else {
		exponent -= MANTISSA_BITS - bits;
		a <<= MANTISSA_BITS - bits;
	}
	p = (u64)a * mantissa;
	bits = p >> (2 * MANTISSA_BITS - 1) ? MANTISSA_BITS : MANTISSA_BITS - 1;
	p = shift_even(p, bits);
	exponent += bits;
	if (exponent > 8)
		return 1ull << 32;
	if (exponent >= 0)
		return p << exponent;
	return exponent < -MANTISSA_BITS - 1 ? 0 : shift_even(p, -exponent);
}

static s32 sign_extend10(u32 v)
{
	return (s32)(v << 22) >> 22;
}

s32 core_requant_lane(s32 v, u32 scale, u32 bounds)
{
	s32 zero_point = sign_extend10(bounds);
	s32 low = sign_extend10(bounds >> 10);
	s32 high = sign_extend10(bounds >> 20);
	u32 exponent = scale >> EXPONENT_SHIFT;
	s64 r = 0;

	/* The sign bit makes the exponent too high. */
	if (v && exponent && exponent < EXPONENT_END) {
		u32 mantissa = (scale & ((1u << EXPONENT_SHIFT) - 1)) |
			       1u << EXPONENT_SHIFT;

		r = requant_magnitude(v < 0 ? -(u32)v : (u32)v,
				      mantissa,
				      (s32)exponent - EXPONENT_BIAS);
		if (v < 0)
			r = -r;
	}
	if (r > high)
		r = high;
	if (r < low)
		r = low;
	return (s32)r + zero_point;
}

void core_requant(struct npu_core *c, const u64 *step, u32 n)
{
	u32 param[3][NPU_BLOCK];
	u32 i, o;

	for (i = 0; i < n; i++, step++) {
		s32 *acc = c->acc[step_dst(*step)];

		memcpy(param, c->acc[step_src(*step)], sizeof(param));
		for (o = 0; o < NPU_BLOCK; o++)
			acc[o] = core_requant_lane((u32)acc[o] + param[2][o],
						   param[0][o], param[1][o]);
	}
}
