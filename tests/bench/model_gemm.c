// SPDX-License-Identifier: MIT
/*
 * Speed of the compute core's model: a product of two 256 x 256 matrices of
 * int8 through an instruction stream, scaled, clipped and stored, and a job of
 * FINISH alone. Prints "name value" lines, medians.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include "tests/unit/core_board.h"

#define N		256
#define BLOCKS		(N / NPU_BLOCK)
#define TILE_ROWS	64
#define TILES		(N / TILE_ROWS)
#define TILE		(TILE_ROWS * BLOCKS)	/* elements of INP and of ACC */
#define RUNS		31
#define NULL_JOBS	2000

#define VA_UOP		BOARD_DATA
#define VA_WGT		(BOARD_DATA + 0x10000)
#define VA_INP		(BOARD_DATA + 0x80000)

static s8 a[N][N], b[N][N];

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec * 1e-9;
}

static int compare(const void *x, const void *y)
{
	double d = *(const double *)x - *(const double *)y;

	return d > 0 ? 1 : d < 0 ? -1 : 0;
}

static double median(double *value, size_t n)
{
	qsort(value, n, sizeof(*value), compare);
	return value[n / 2];
}

static void fill(struct board *bd)
{
	u32 i, k, n;

	for (i = 0; i < N; i++) {
		for (k = 0; k < N; k++) {
			a[i][k] = rand();
			b[i][k] = rand();
			bd->mem[VA_INP + i * N + k] = a[i][k];
		}
	}
	/* Block (n, k) of the weights is element 16 n + k. */
	for (n = 0; n < N; n++) {
		for (k = 0; k < N; k++)
			bd->mem[VA_WGT + (n / 16 * BLOCKS + k / 16) * 256 +
				n % 16 * 16 + k % 16] = b[k][n];
	}
	for (k = 0; k < BLOCKS; k++)
		board_put32(bd, VA_UOP + 4 * k, board_uop(0, k, k));
	for (k = 0; k < BLOCKS; k++)
		board_put32(bd, VA_UOP + 4 * (BLOCKS + k),
			    board_uop(TILE, TILE + k, k));
}

/* Tiles alternate between two halves of INP and of ACC. */
static void tile(struct board *bd, u32 t)
{
	u32 half = t % 2;
	u32 uop = half * BLOCKS;

	BOARD_LOAD(bd, .memory = NPU_MEM_INP, .sram_base = half * TILE,
		   .dram_base = VA_INP / 16 + t * TILE, .y_size = 1,
		   .x_size = TILE, .x_stride = TILE, .pop_next = t >= 2,
		   .push_next = 1);
	BOARD_GEMM(bd, .reset = 1, .uop_bgn = uop, .uop_end = uop + 1,
		   .iter_out = 1, .iter_in = TILE, .dst_factor_in = 1,
		   .pop_prev = 1, .pop_next = t >= 2);
	BOARD_GEMM(bd, .uop_bgn = uop, .uop_end = uop + BLOCKS,
		   .iter_out = BLOCKS, .iter_in = TILE_ROWS,
		   .dst_factor_out = 1, .dst_factor_in = BLOCKS,
		   .src_factor_in = BLOCKS, .wgt_factor_out = BLOCKS,
		   .push_prev = 1);
	BOARD_ALU(bd, .alu_op = NPU_ALU_SHR, .use_imm = 1, .imm = 10,
		  .uop_bgn = uop, .uop_end = uop + 1, .iter_out = 1,
		  .iter_in = TILE, .dst_factor_in = 1);
	BOARD_ALU(bd, .alu_op = NPU_ALU_MAX, .use_imm = 1, .imm = -128,
		  .uop_bgn = uop, .uop_end = uop + 1, .iter_out = 1,
		  .iter_in = TILE, .dst_factor_in = 1);
	BOARD_ALU(bd, .alu_op = NPU_ALU_MIN, .use_imm = 1, .imm = 127,
		  .uop_bgn = uop, .uop_end = uop + 1, .iter_out = 1,
		  .iter_in = TILE, .dst_factor_in = 1, .push_next = 1);
	BOARD_STORE(bd, .sram_base = half * TILE,
		    .dram_base = BOARD_OUT / 16 + t * TILE, .y_size = 1,
		    .x_size = TILE, .x_stride = TILE, .pop_prev = 1,
		    .push_prev = 1);
}

static void program(struct board *bd)
{
	u32 t;

	board_clear(bd);
	BOARD_LOAD(bd, .memory = NPU_MEM_UOP, .dram_base = VA_UOP / 4,
		   .y_size = 1, .x_size = 2 * BLOCKS, .x_stride = 1);
	BOARD_LOAD(bd, .memory = NPU_MEM_WGT, .dram_base = VA_WGT / 256,
		   .y_size = 1, .x_size = BLOCKS * BLOCKS, .x_stride = 1);
	for (t = 0; t < TILES; t++)
		tile(bd, t);
	BOARD_FINISH(bd, .pop_next = 1);
}

static void check(const struct board *bd)
{
	u32 m, n, k;

	for (m = 0; m < N; m++) {
		for (n = 0; n < N; n++) {
			s32 sum = 0;

			for (k = 0; k < N; k++)
				sum += a[m][k] * b[k][n];
			sum >>= 10;
			sum = sum < -128 ? -128 : sum > 127 ? 127 : sum;
			if ((s8)bd->mem[BOARD_OUT + m * N + n] == sum)
				continue;
			fprintf(stderr, "c[%u][%u] is %d, should be %d\n", m, n,
				(s8)bd->mem[BOARD_OUT + m * N + n], sum);
			exit(1);
		}
	}
}

static double run(struct board *bd)
{
	double begin = seconds();

	if (board_run(bd, &(struct board_run){ 0 }) != NPU_CORE_STATE_DONE) {
		fprintf(stderr, "the job ended with fault %u\n",
			board_report(bd).fault_code);
		exit(1);
	}
	return seconds() - begin;
}

static double gemm(struct board *bd, const struct npu_core_kernels *kernels)
{
	double gmacs[RUNS];
	u32 i;

	npu_core_set_kernels(bd->core, kernels);
	program(bd);
	memset(bd->mem + BOARD_OUT, 0, N * N);
	run(bd);
	check(bd);
	for (i = 0; i < RUNS; i++)
		gmacs[i] = (double)N * N * N * 1e-9 / run(bd);
	return median(gmacs, RUNS);
}

static double null_job(struct board *bd)
{
	static double us[NULL_JOBS];
	u32 i;

	board_clear(bd);
	BOARD_FINISH(bd);
	for (i = 0; i < NULL_JOBS; i++)
		us[i] = run(bd) * 1e6;
	return median(us, NULL_JOBS);
}

int main(void)
{
	struct board bd;

	board_init(&bd, BOARD_FEATURES);
	fill(&bd);
	printf("model_gemm256_gmacs %.2f\n",
	       gemm(&bd, npu_core_kernels_native()));
	printf("model_gemm256_cycles %llu\n",
	       (unsigned long long)board_report(&bd).cycles);
	printf("model_gemm256_portable_gmacs %.2f\n",
	       gemm(&bd, npu_core_kernels_portable()));
	printf("model_null_job_us %.3f\n", null_job(&bd));
	board_exit(&bd);
	return 0;
}
