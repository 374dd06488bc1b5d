/* SPDX-License-Identifier: MIT */
/* How a layer is cut so that its pieces fit the core's memories. */
#ifndef NPU_COMPILER_TILE_H
#define NPU_COMPILER_TILE_H

#include "userspace/compiler/program.h"

/* Halves of INP and WGT: one is filled while the other is used. */
#define NPUC_INP_SLOT  1024
#define NPUC_WGT_SLOT  512
#define NPUC_WGT_DEPTH 1024

/* Weights of VMAC: its micro-ops reach elements below the first, half of them at a time. */
#define NPUC_VECTOR_DEPTH 64
#define NPUC_VECTOR_SLOT  32

/* Tables have the last elements of WGT, in programs with any. */
#define NPUC_TABLE_DEPTH 16

/* How a pool follows in the accumulators. */
enum npuc_pool_mode {
	NPUC_POOL_NONE,
	NPUC_POOL_PLANES,  /* windows do not overlap: a plane for each tap */
	NPUC_POOL_WINDOWS, /* results go to rows of their own */
};

/**
 * struct npuc_tiling - sizes of the pieces
 * @mode: of the pool
 * @th: output rows
 * @tw: output columns
 * @tco: output blocks of a group
 * @tci: input blocks of a group (of a vector layer: 1, and each output block has its own)
 * @n_y: pieces along the rows
 * @n_x: along the columns
 * @n_co: along the output blocks, all groups together
 * @n_ci: along the input blocks
 * @co_outer: output blocks are the outermost loop: weights stay, inputs are
 *	read again; else the other way round
 */
struct npuc_tiling {
	enum npuc_pool_mode mode;
	int th, tw, tco, tci;
	int n_y, n_x, n_co, n_ci;
	bool co_outer;
};

/* A piece: what it writes, what it takes from the convolution, what it reads. */
struct npuc_tile {
	int y0, x0, h, w;     /* output */
	int my0, mx0, mh, mw; /* after the convolution (of a plain layer: the input) */
	int iy0, ix0, ih, iw; /* input, padding included: may begin below 0 */
};

/* Whether all windows of the pool lie inside what they pool. */
bool npuc_pool_inside(const struct npuc_layer *l);
enum npuc_pool_mode npuc_pool_mode(const struct npuc_layer *l);

/* Accumulator rows of a piece for one output block. */
int npuc_tile_rows(const struct npuc_layer *l, enum npuc_pool_mode mode,
		   const struct npuc_tile *t);

/* Part @index of @whole cut into parts of @size: the last may be smaller. */
static inline int npuc_part(int whole, int size, int index)
{
	int left = whole - index * size;

	return left < size ? left : size;
}

/* Blocks that a piece writes and reads. */
struct npuc_blocks {
	int out0, n_out, in0, n_in;
};

struct npuc_blocks npuc_blocks_at(const struct npuc_layer *l, const struct npuc_tiling *c, int co,
				  int ci);

/* Elements of WGT for @n_out output and @n_in input blocks of a group. */
int npuc_weight_elements(const struct npuc_layer *l, int n_out, int n_in);

/* The same for all of the layer. */
int64_t npuc_layer_elements(const struct npuc_layer *l);

void npuc_tile_at(const struct npuc_layer *l, const struct npuc_tiling *c, int ty, int tx,
		  struct npuc_tile *out);

/* Finds the cheapest cut with at most @acc_rows accumulator rows a piece; -ENOSPC if none fits. */
int npuc_tile_choose(const struct npuc_layer *l, int images, int acc_rows, struct npuc_tiling *out);

#endif
