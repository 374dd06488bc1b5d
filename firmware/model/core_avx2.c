// SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 OR MIT
/*
 * The kernels for x86 processors with AVX2, and the choice between them and
 * the portable ones. In user space only: the kernel does without vectors.
 *
 * Weights are packed as pairs of input channels, widened to 16 bits: value
 * 32 * p + 2 * o + i is wgt[o][2 * p + i]. One VPMADDWD makes two products and
 * their sum for each of 8 output channels; it cannot overflow.
 */
#ifndef __KERNEL__

#include "firmware/model/core_lanes.h"

#if defined(__x86_64__)

#include <immintrin.h>

#define AVX2 __attribute__((target("avx2")))
#define NOINLINE __attribute__((noinline))

/* Rounding to nearest, all exceptions masked, no flushing to zero. */
#define MXCSR_DEFAULT 0x1f80

/* Transposes 8 x 8 values of 16 bits; rows are 16 bytes apart at @from. */
static AVX2 void avx2_transpose(__m128i to[8], const s8 *from)
{
	__m128i r[8], s[8];
	int i;

	for (i = 0; i < 8; i++)
		r[i] = _mm_loadu_si128((const __m128i *)(from + 16 * i));
	for (i = 0; i < 4; i++) {
		s[i] = _mm_unpacklo_epi16(r[i], r[i + 4]);
		s[i + 4] = _mm_unpackhi_epi16(r[i], r[i + 4]);
	}
	for (i = 0; i < 2; i++) {
		r[i] = _mm_unpacklo_epi16(s[i], s[i + 2]);
		r[i + 2] = _mm_unpackhi_epi16(s[i], s[i + 2]);
		r[i + 4] = _mm_unpacklo_epi16(s[i + 4], s[i + 6]);
		r[i + 6] = _mm_unpackhi_epi16(s[i + 4], s[i + 6]);
	}
	for (i = 0; i < 8; i += 2) {
		to[i] = _mm_unpacklo_epi16(r[i], r[i + 1]);
		to[i + 1] = _mm_unpackhi_epi16(r[i], r[i + 1]);
	}
}

static AVX2 NOINLINE void avx2_pack(__m256i *to, const s8 *wgt)
{
	__m128i low[8], high[8];
	int p;

	avx2_transpose(low, wgt);
	avx2_transpose(high, wgt + 128);
	for (p = 0; p < 8; p++) {
		_mm256_storeu_si256(to++, _mm256_cvtepi8_epi16(low[p]));
		_mm256_storeu_si256(to++, _mm256_cvtepi8_epi16(high[p]));
	}
}

/* Eight output channels of two input channels. */
#define AVX2_STEP(sum, x, wgt) \
	_mm256_add_epi32(sum, _mm256_madd_epi16(x, _mm256_loadu_si256(wgt)))

static AVX2 void avx2_gemm(struct npu_core *c, const u64 *step, u32 n)
{
	__m256i *acc = (__m256i *)c->acc[step_dst(*step)];
	__m256i sum0 = _mm256_loadu_si256(acc);
	__m256i sum1 = _mm256_loadu_si256(acc + 1);
	u32 i, p;

	for (i = 0; i < n; i++, step++) {
		u32 w = step_wgt(*step);
		__m256i *wgt = (__m256i *)c->pack + w * NPU_BLOCK;
		__m256i *to = (__m256i *)c->acc[step_dst(*step)];
		s32 pair[NPU_BLOCK / 2];
		__m128i inp;

		if (unlikely(c->pack_tag[w] != w + 1)) {
			avx2_pack(wgt, c->wgt[w][0]);
			c->pack_tag[w] = w + 1;
		}
		if (to != acc) {
			_mm256_storeu_si256(acc, sum0);
			_mm256_storeu_si256(acc + 1, sum1);
			acc = to;
			sum0 = _mm256_loadu_si256(acc);
			sum1 = _mm256_loadu_si256(acc + 1);
		}
		inp = _mm_loadu_si128((__m128i *)c->inp[step_src(*step)]);
		_mm256_storeu_si256((__m256i *)pair, _mm256_cvtepi8_epi16(inp));
#pragma GCC unroll 8
		for (p = 0; p < NPU_BLOCK / 2; p++) {
			__m256i x = _mm256_set1_epi32(pair[p]);

			sum0 = AVX2_STEP(sum0, x, wgt + 2 * p);
			sum1 = AVX2_STEP(sum1, x, wgt + 2 * p + 1);
		}
	}
	_mm256_storeu_si256(acc, sum0);
	_mm256_storeu_si256(acc + 1, sum1);
}

static AVX2 void avx2_alu_imm(struct npu_core *c, const u64 *step,
			      u32 n, u32 op, s32 imm)
{
	lanes_alu_imm(c, step, n, op, imm);
}

static AVX2 void avx2_alu_reg(struct npu_core *c, const u64 *step,
			      u32 n, u32 op)
{
	lanes_alu_reg(c, step, n, op);
}

static AVX2 void avx2_vmac(struct npu_core *c, const u64 *step,
			   u32 n)
{
	lanes_vmac(c, step, n);
}

static AVX2 void avx2_lut(struct npu_core *c, const u64 *step,
			  u32 n, const s8 *table)
{
	lanes_lut(c, step, n, table);
}

/* A field of 10 bits whose highest bit is bit @top, sign-extended. */
#define AVX2_FIELD(v, top) \
	_mm256_srai_epi32(_mm256_slli_epi32(v, 31 - (top)), 22)

/*
 * What REQUANT is defined by in integers is binary32 arithmetic, which this
 * uses; scales outside the normal range below 2^31 count as 0, so that no
 * special value comes up. Bounds are within +-512, so a product may be cut to
 * +-1024 before it becomes an integer.
 */
static AVX2 __m256i avx2_requant_lanes(__m256i v, __m256i scale, __m256i bounds)
{
	const __m256 far = _mm256_set1_ps(1024.0f);
	__m256i above = _mm256_cmpgt_epi32(scale, _mm256_set1_epi32(0x7fffff));
	__m256i below = _mm256_cmpgt_epi32(_mm256_set1_epi32(0x4f000000),
					   scale);
	__m256i normal = _mm256_and_si256(above, below);
	__m256 s = _mm256_castsi256_ps(_mm256_and_si256(scale, normal));
	__m256 r = _mm256_mul_ps(_mm256_cvtepi32_ps(v), s);
	__m256i i;

	r = _mm256_max_ps(_mm256_min_ps(r, far),
			  _mm256_sub_ps(_mm256_setzero_ps(), far));
	i = _mm256_cvtps_epi32(r);
	i = _mm256_min_epi32(i, AVX2_FIELD(bounds, 29));
	i = _mm256_max_epi32(i, AVX2_FIELD(bounds, 19));
	return _mm256_add_epi32(i, AVX2_FIELD(bounds, 9));
}

/* Not inlined, so that it stays between the changes of the rounding mode. */
static AVX2 NOINLINE void avx2_requant_rows(struct npu_core *c,
					    const u64 *step, u32 n)
{
	u32 i, half;

	for (i = 0; i < n; i++, step++) {
		__m256i *acc = (__m256i *)c->acc[step_dst(*step)];
		__m256i param[6];

		memcpy(param, c->acc[step_src(*step)], sizeof(param));
		for (half = 0; half < 2; half++) {
			__m256i v = _mm256_loadu_si256(acc + half);

			v = _mm256_add_epi32(v, param[4 + half]);
			v = avx2_requant_lanes(v, param[half],
					       param[2 + half]);
			_mm256_storeu_si256(acc + half, v);
		}
	}
}

static AVX2 void avx2_requant(struct npu_core *c, const u64 *step,
			      u32 n)
{
	u32 mxcsr = _mm_getcsr();

	_mm_setcsr(MXCSR_DEFAULT);
	avx2_requant_rows(c, step, n);
	_mm_setcsr(mxcsr);
}

static const struct npu_core_kernels avx2_kernels = {
	.name = "avx2",
	.pack_slots = NPU_WGT_DEPTH,
	.gemm = avx2_gemm,
	.vmac = avx2_vmac,
	.alu_imm = avx2_alu_imm,
	.alu_reg = avx2_alu_reg,
	.requant = avx2_requant,
	.lut = avx2_lut,
};

const struct npu_core_kernels *npu_core_kernels_native(void)
{
	return __builtin_cpu_supports("avx2") ? &avx2_kernels :
						npu_core_kernels_portable();
}

#else /* not x86-64 */

const struct npu_core_kernels *npu_core_kernels_native(void)
{
	return npu_core_kernels_portable();
}

#endif

#endif /* !__KERNEL__ */
