// SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 OR MIT
/*
 * GEMM in plain integer C.
 *
 * Three products with one 64-bit multiplication: for x = x0 + x1 * 2^21 +
 * x2 * 2^42 and w = w2 + w1 * 2^21 + w0 * 2^42 the coefficient of 2^42 in
 * x * w is x0 * w0 + x1 * w1 + x2 * w2. Over 16 channels it keeps within 20
 * bits, those below it within 21, and what is above bit 63 is lost unmissed.
 * The sixth word holds one channel alone.
 *
 * It takes time to bring an element of weights into that form, so this is
 * done when it is used a second time.
 */
#include "firmware/model/core_internal.h"

#define WORDS 6

/* A tag that says: used once, not packed. */
#define TAG_SEEN 0x8000u

static void gemm_widen_input(u64 *x, const s8 *inp)
{
	u32 i;

	for (i = 0; i < WORDS - 1; i++, inp += 3)
		x[i] = (u64)inp[0] + ((u64)inp[1] << 21) + ((u64)inp[2] << 42);
	x[i] = (u64)inp[0];
}

static void gemm_pack(u64 *w, const s8 *wgt)
{
	u32 o, i;

	for (o = 0; o < NPU_BLOCK; o++) {
		for (i = 0; i < WORDS - 1; i++, wgt += 3)
			*w++ = (u64)wgt[2] + ((u64)wgt[1] << 21) +
			       ((u64)wgt[0] << 42);
		*w++ = (u64)*wgt++ << 42;
	}
}

static void gemm_packed(s32 *acc, const u64 *x, const u64 *w)
{
	u32 o;

	for (o = 0; o < NPU_BLOCK; o++, w += WORDS) {
		u64 sum = x[0] * w[0] + x[1] * w[1] + x[2] * w[2] +
			  x[3] * w[3] + x[4] * w[4] + x[5] * w[5];

		/* Rounds the lower terms off, and drops bit 63. */
		sum = (sum + (1ull << 41)) << 1;
		acc[o] = (u32)acc[o] + (u32)((s64)sum >> 43);
	}
}

static void gemm_plain(s32 *acc, const s8 *inp, const s8 *wgt)
{
	u32 o, i;

	for (o = 0; o < NPU_BLOCK; o++, wgt += NPU_BLOCK) {
		s32 sum = 0;

		for (i = 0; i < NPU_BLOCK; i++)
			sum += inp[i] * wgt[i];
		acc[o] = (u32)acc[o] + (u32)sum;
	}
}

/* The packed form of element @w, or NULL where it does not pay yet. */
static const u64 *gemm_lookup(struct npu_core *c, u32 w)
{
	u32 slot = w & (c->kernels->pack_slots - 1);
	u64 *data = &c->pack[slot * NPU_BLOCK * WORDS];
	u16 *tag = &c->pack_tag[slot];

	if (*tag == w + 1)
		return data;
	if (*tag != ((w + 1) | TAG_SEEN)) {
		*tag = (w + 1) | TAG_SEEN;
		return NULL;
	}
	gemm_pack(data, c->wgt[w][0]);
	*tag = w + 1;
	return data;
}

void core_gemm(struct npu_core *c, const u64 *step, u32 n)
{
	u64 x[WORDS];
	u32 src = NPU_INP_DEPTH;
	u32 i;

	for (i = 0; i < n; i++, step++) {
		const u64 *w = gemm_lookup(c, step_wgt(*step));
		s32 *acc = c->acc[step_dst(*step)];

		if (!w) {
			gemm_plain(acc, c->inp[step_src(*step)], c->wgt[step_wgt(*step)][0]);
			continue;
		}
		if (step_src(*step) != src) {
			src = step_src(*step);
			gemm_widen_input(x, c->inp[src]);
		}
		gemm_packed(acc, x, w);
	}
}
