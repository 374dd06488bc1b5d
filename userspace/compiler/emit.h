/* SPDX-License-Identifier: MIT */
/* From layers to an instruction stream. */
#ifndef NPU_COMPILER_EMIT_H
#define NPU_COMPILER_EMIT_H

#include "userspace/compiler/program.h"
#include "userspace/compiler/schedule.h"
#include "userspace/compiler/tile.h"

/* Selectors of a stream's regions. */
enum {
	NPUC_REGION_NONE,
	NPUC_REGION_CONST,
	NPUC_REGION_SCRATCH,
	NPUC_REGION_UOP,
	NPUC_REGIONS,
};

/* A growing image of bytes. */
struct npuc_image {
	uint8_t *data;
	size_t size, room;
};

/* Appends @size zeroed bytes at a multiple of @align; returns their offset, or -ENOMEM. */
int64_t npuc_image_add(struct npuc_image *im, size_t size, size_t align);

/**
 * struct npuc_stream - the layers of consecutive stages as one program
 * @first_stage: first stage
 * @stages: how many
 * @insn_first: index of its first instruction in the image
 * @insn_count: instructions
 * @uop_offset: of its micro-ops in the constant image
 * @uop_size: their bytes
 * @macs: as the model counts them
 */
struct npuc_stream {
	int first_stage, stages;
	uint32_t insn_first, insn_count;
	uint64_t uop_offset, uop_size;
	uint64_t macs;
};

struct npuc_emit_options {
	uint64_t features;
	uint64_t yield_cycles; /* a YIELD at least this often, 0: never */
};

/* Appends the program of stages [first, first + count), all of them layers. */
int npuc_emit_stream(struct npuc_program *p, int first, int count,
		     const struct npuc_emit_options *opt, struct npuc_image *insn,
		     struct npuc_image *constants, struct npuc_stream *out);

/* For emit_*.c. */

/* What a slot of INP holds. */
struct npuc_inp_slot {
	bool valid;
	int layer, image, ty, tx, block; /* the first of them */
	int writer, reader; /* last operation that did so */
};

struct npuc_wgt_entry {
	bool valid;
	int layer, co, ci;
	int base, size;
	int writer, reader;
	int piece; /* the last that will read it */
};

#define NPUC_WGT_ENTRIES 64

struct npuc_store_note {
	int value, image, y0, y1, op;
};

/* One pass of the compute unit over one input and one weight piece. */
struct npuc_piece {
	int layer; /* number within the stream */
	int image, ty, tx, co, ci;
	int inp, wgt; /* slot and entry, once loaded */
	int tables;   /* entry of the layer's tables, if it has any */
	int need;     /* operation that the GEMM waits for */
};

struct npuc_layer_state {
	const struct npuc_layer *l;
	struct npuc_tiling c;
	int images;
	int64_t *weight; /* offset of each packed piece, -1 until packed */
	int64_t param;	 /* offset of the parameter rows */
	int64_t tables;	 /* offset of the tables */
	int first_piece, n_piece;
};

struct npuc_emitter {
	struct npuc_program *p;
	struct npuc_diag *d;
	struct npu_builder *b;
	struct npuc_schedule s;
	struct npuc_image *constants;
	struct npuc_layer_state *layer;
	int n_layer;
	struct npuc_piece *piece;
	int n_piece;
	int done; /* pieces up to this one are computed */
	bool param_resident, param_loaded;
	int param_rows; /* of ACC kept for parameters */
	int param_layer, param_co;
	int acc_rows; /* of a half of the rest */
	int acc_half;
	int acc_store[2]; /* last store from that half */
	int last_compute;
	struct npuc_inp_slot inp[2];
	int inp_used;
	struct npuc_wgt_entry wgt[NPUC_WGT_ENTRIES];
	int wgt_head, vector_head, table_head;
	int wgt_depth; /* elements for weights; the rest is for tables */
	int pad_value;
	struct npuc_store_note *store;
	size_t n_store;
	uint64_t since_yield;
};

/* A dimension of a loop nest. */
struct npuc_dim {
	int extent, dst, src, wgt;
};

/* Records a kernel over @n dimensions: two of them loops, the rest micro-ops. */
int npuc_kernel(struct npuc_emitter *e, const struct npuc_dim *dim, int n, int dst, int src,
		int wgt);
int npuc_emit_op(struct npuc_emitter *e, const struct npuc_op *op, const int *after, int n);

/*
 * Pools @tco blocks of a piece from rows at @src into rows at @dst; @after is
 * what the first operation waits for. With mode PLANES @dst is @src.
 */
int npuc_emit_pool(struct npuc_emitter *e, const struct npuc_layer *l, enum npuc_pool_mode mode,
		   const struct npuc_tile *t, int tco, int src, int dst, int after);

/* Where a piece's accumulators are. */
struct npuc_acc {
	int base, rows, tco, out, block;
};

/* The table at @index of the piece's layer, over @rows rows from @src into those from @dst. */
int npuc_emit_lut(struct npuc_emitter *e, const struct npuc_piece *pc, int index, int dst, int src,
		  int rows);

/*
 * Brings @rows rows of both operands, from @a and from @b, together into those
 * from @a; behind those of @b as many are free. Requantising is what is left.
 */
int npuc_emit_binary(struct npuc_emitter *e, const struct npuc_piece *pc, int a, int b, int rows,
		     int param);

/* No error: there is no room before the pieces that are listed are computed. */
#define NPUC_LATER (-4096)

/* Loads of a piece: what its computation needs that is not there yet. */
int npuc_load_piece(struct npuc_emitter *e, struct npuc_piece *pc);
int npuc_prefetch_weights(struct npuc_emitter *e, int layer, int i, int n);
int npuc_load_params(struct npuc_emitter *e, const struct npuc_piece *pc, int *row);
int npuc_pack_params(struct npuc_emitter *e);
int npuc_pack_tables(struct npuc_emitter *e);

/* The latest store that wrote rows [y0, y1) of @image of @value, or NPUC_NO_OP. */
int npuc_last_store(const struct npuc_emitter *e, int value, int image, int y0, int y1);

#endif
