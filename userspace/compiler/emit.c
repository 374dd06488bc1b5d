// SPDX-License-Identifier: MIT
/*
 * The pieces of all layers in one list. While one is computed the loads of the
 * next are listed before it, so that load, compute and store overlap, also
 * from layer to layer; SRAM places are reused by waiting for their last reader.
 */
#include "userspace/compiler/emit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "npu_isa.h"

#define RESIDENT_PARAMS 384 /* ACC rows that parameters may take for good */
#define PASSING_PARAMS	192 /* rows for those of one piece: 64 blocks */
#define MAX_PIECES	(1 << 22)

int npuc_emit_op(struct npuc_emitter *e, const struct npuc_op *op, const int *after, int n)
{
	int id = npuc_schedule_add(&e->s, op, after, n);

	if (id >= 0 && e->s.op[id].unit == NPUC_COMPUTE)
		e->last_compute = id;
	return id;
}

/* The @loops longest dimensions come first. */
static void sort_loops(struct npuc_dim *dim, int n)
{
	for (int i = 0; i < n && i < 2; i++)
		for (int j = i + 1; j < n; j++)
			if (dim[j].extent > dim[i].extent) {
				struct npuc_dim t = dim[i];

				dim[i] = dim[j];
				dim[j] = t;
			}
}

static void record_uops(struct npuc_emitter *e, const struct npuc_dim *dim, int n, int dst, int src,
			int wgt)
{
	if (!n) {
		npu_builder_uop(e->b, dst, src, wgt);
		return;
	}
	for (int i = 0; i < dim->extent; i++)
		record_uops(e, dim + 1, n - 1, dst + i * dim->dst, src + i * dim->src,
			    wgt + i * dim->wgt);
}

int npuc_kernel(struct npuc_emitter *e, const struct npuc_dim *dims, int n, int dst, int src,
		int wgt)
{
	struct npuc_dim dim[10];
	int used = 0, kernel;
	uint64_t steps = 1;

	for (int i = 0; i < n; i++) {
		steps *= dims[i].extent;
		if (dims[i].extent > 1)
			dim[used++] = dims[i];
	}
	e->since_yield += steps;
	sort_loops(dim, used);
	npu_builder_kernel_begin(e->b);
	for (int i = 0; i < used && i < 2; i++)
		npu_builder_loop(e->b, dim[i].extent, dim[i].dst, dim[i].src, dim[i].wgt);
	record_uops(e, dim + 2, used > 2 ? used - 2 : 0, dst, src, wgt);
	kernel = npu_builder_kernel_end(e->b);
	if (kernel < 0)
		return npuc_fail(e->d, kernel, "micro-ops: %s", npu_builder_message(e->b));
	return kernel;
}

static struct npuc_acc acc_of(const struct npuc_emitter *e, const struct npuc_piece *pc,
			 const struct npuc_tile *t)
{
	const struct npuc_layer_state *ls = &e->layer[pc->layer];
	struct npuc_blocks b = npuc_blocks_at(ls->l, &ls->c, pc->co, pc->ci);
	struct npuc_acc a;

	a.base = e->param_rows + e->acc_half * e->acc_rows;
	a.rows = t->mh * t->mw;
	a.tco = b.n_out;
	a.block = b.out0;
	a.out = ls->c.mode == NPUC_POOL_WINDOWS ? a.base + a.tco * a.rows : a.base;
	return a;
}

static int reset(struct npuc_emitter *e, const struct npuc_acc *a)
{
	struct npuc_dim dim = { a->tco * a->rows, 1, 0, 0 };
	struct npuc_op op = { .kind = NPUC_OP_RESET };

	op.kernel = npuc_kernel(e, &dim, 1, a->base, 0, 0);
	return op.kernel < 0 ? op.kernel : npuc_emit_op(e, &op, &e->acc_store[e->acc_half], 1);
}

/* Rows and columns of the middle as loops: with planes each tap of the pool has its own. */
static void space_dims(const struct npuc_layer *l, enum npuc_pool_mode mode,
		       const struct npuc_tile *t, struct npuc_dim *dim)
{
	const struct npuc_window *w = &l->window, *p = &l->pool;
	int plane = t->h * t->w;

	if (mode != NPUC_POOL_PLANES) {
		dim[0] = (struct npuc_dim){ t->mh, t->mw, w->stride_h * t->iw, 0 };
		dim[1] = (struct npuc_dim){ t->mw, 1, w->stride_w, 0 };
		dim[2] = dim[3] = (struct npuc_dim){ 1, 0, 0, 0 };
		return;
	}
	dim[0] = (struct npuc_dim){ t->h, t->w, p->kernel_h * w->stride_h * t->iw, 0 };
	dim[1] = (struct npuc_dim){ t->w, 1, p->kernel_w * w->stride_w, 0 };
	dim[2] = (struct npuc_dim){ p->kernel_h, p->kernel_w * plane, w->stride_h * t->iw, 0 };
	dim[3] = (struct npuc_dim){ p->kernel_w, plane, w->stride_w, 0 };
}

/* Blocks: each output block reads all input blocks, or the one of the same number. */
static void block_dims(const struct npuc_layer *l, const struct npuc_tile *t,
		       const struct npuc_blocks *b, int rows, struct npuc_dim *dim)
{
	int taps = npuc_layer_taps(l), plane = t->ih * t->iw;

	if (l->vector) {
		dim[0] = (struct npuc_dim){ b->n_out, rows, plane, taps };
		dim[1] = (struct npuc_dim){ 1, 0, 0, 0 };
		return;
	}
	dim[0] = (struct npuc_dim){ b->n_out, rows, 0, b->n_in * taps };
	dim[1] = (struct npuc_dim){ b->n_in, 0, plane, taps };
}

/* Multiplies and adds all that the piece has. */
static int multiply(struct npuc_emitter *e, struct npuc_piece *pc, const struct npuc_tile *t,
		    const struct npuc_acc *a)
{
	const struct npuc_layer_state *ls = &e->layer[pc->layer];
	const struct npuc_layer *l = ls->l;
	const struct npuc_window *w = &l->window;
	struct npuc_blocks b = npuc_blocks_at(l, &ls->c, pc->co, pc->ci);
	struct npuc_op op = { .kind = l->vector ? NPUC_OP_VMAC : NPUC_OP_GEMM };
	int wgt = e->wgt[pc->wgt].base * (l->vector ? NPU_BLOCK : 1), id;
	struct npuc_dim dim[9];

	block_dims(l, t, &b, a->rows, dim);
	dim[2] = (struct npuc_dim){ l->parts, 0, 0, w->kernel_h * w->kernel_w };
	dim[3] = (struct npuc_dim){ w->kernel_h, 0, w->dilation_h * t->iw, w->kernel_w };
	dim[4] = (struct npuc_dim){ w->kernel_w, 0, w->dilation_w, 1 };
	space_dims(l, ls->c.mode, t, dim + 5);
	op.kernel = npuc_kernel(e, dim, 9, a->base, pc->inp * NPUC_INP_SLOT, wgt);
	if (op.kernel < 0)
		return op.kernel;
	id = npuc_emit_op(e, &op, &pc->need, 1);
	if (id < 0)
		return id;
	e->inp[pc->inp].reader = id;
	e->wgt[pc->wgt].reader = id;
	return 0;
}

static int requant(struct npuc_emitter *e, const struct npuc_piece *pc, const struct npuc_tile *t,
		   const struct npuc_acc *a)
{
	struct npuc_op op = { .kind = NPUC_OP_REQUANT };
	int row, stride, err = npuc_load_params(e, pc, &row);

	if (err < 0)
		return err;
	stride = e->layer[pc->layer].c.mode == NPUC_POOL_WINDOWS ? t->h * t->w : a->rows;
	struct npuc_dim dim[] = {
		{ a->tco, stride, e->layer[pc->layer].l->binary ? 0 : 3, 0 },
		{ t->h * t->w, 1, 0, 0 },
	};

	op.kernel = npuc_kernel(e, dim, 2, a->out, row, 0);
	return op.kernel < 0 ? op.kernel : npuc_emit_op(e, &op, NULL, 0);
}

/* The function of what is to be stored, if the layer has one. */
static int look_up(struct npuc_emitter *e, const struct npuc_piece *pc, const struct npuc_tile *t,
		   const struct npuc_acc *a)
{
	const struct npuc_layer *l = e->layer[pc->layer].l;
	int stride = e->layer[pc->layer].c.mode == NPUC_POOL_WINDOWS ? t->h * t->w : a->rows;
	int err = 0;

	if (!l->table)
		return 0;
	for (int o = 0; o < a->tco && err >= 0; o++)
		err = npuc_emit_lut(e, pc, npuc_layer_tables(l) - 1, a->out + o * stride,
				    a->out + o * stride, t->h * t->w);
	return err;
}

static int note_store(struct npuc_emitter *e, const struct npuc_piece *pc,
		      const struct npuc_tile *t, int op)
{
	struct npuc_store_note *s = e->store;

	if (!(e->n_store & (e->n_store - 1)))
		s = realloc(s, (e->n_store ? 2 * e->n_store : 1) * sizeof(*s));
	if (!s)
		return npuc_fail(e->d, -ENOMEM, "out of memory");
	e->store = s;
	s[e->n_store++] = (struct npuc_store_note){
		e->layer[pc->layer].l->out, pc->image, t->y0, t->y0 + t->h, op,
	};
	return 0;
}

/* One STORE an output block; the accumulators change halves. */
static int store(struct npuc_emitter *e, const struct npuc_piece *pc, const struct npuc_tile *t,
		 const struct npuc_acc *a)
{
	const struct npuc_layer_state *ls = &e->layer[pc->layer];
	const struct npuc_layer *l = ls->l;
	int64_t base = e->p->value[l->out].blocked.offset / NPU_OUT_BYTES;
	int64_t block = (int64_t)pc->image * npuc_blocks(l->out_c) + a->block;
	int stride = ls->c.mode == NPUC_POOL_WINDOWS ? t->h * t->w : a->rows;
	int after = e->last_compute, id = 0;

	for (int o = 0; o < a->tco; o++) {
		struct npuc_op op = {
			.kind = NPUC_OP_STORE,
			.mem = { .memory = NPU_MEM_OUT,
				 .region = NPUC_REGION_SCRATCH,
				 .sram_base = a->out + o * stride,
				 .y_size = t->h,
				 .x_size = t->w,
				 .x_stride = l->out_w },
		};

		op.mem.dram_base = base + ((block + o) * l->out_h + t->y0) * l->out_w + t->x0;
		if (t->w == l->out_w) {
			op.mem.x_size = op.mem.x_stride = t->h * t->w;
			op.mem.y_size = 1;
		}
		id = npuc_emit_op(e, &op, &after, 1);
		if (id < 0)
			return id;
	}
	e->acc_store[e->acc_half] = id;
	e->acc_half = !e->acc_half;
	return note_store(e, pc, t, id);
}

static int conv_piece(struct npuc_emitter *e, struct npuc_piece *pc)
{
	const struct npuc_layer_state *ls = &e->layer[pc->layer];
	struct npuc_tile t;
	struct npuc_acc a;
	int err = 0;

	npuc_tile_at(ls->l, &ls->c, pc->ty, pc->tx, &t);
	a = acc_of(e, pc, &t);
	if (pc->ci == 0)
		err = reset(e, &a);
	if (err >= 0)
		err = multiply(e, pc, &t, &a);
	if (err < 0 || pc->ci < ls->c.n_ci - 1)
		return err;
	if (ls->c.mode != NPUC_POOL_NONE)
		err = npuc_emit_pool(e, ls->l, ls->c.mode, &t, a.tco, a.base, a.out, NPUC_NO_OP);
	if (err >= 0)
		err = requant(e, pc, &t, &a);
	if (err >= 0)
		err = look_up(e, pc, &t, &a);
	return err < 0 ? err : store(e, pc, &t, &a);
}

/* Brings what is stored of @value into the accumulators from @row on. */
static int load_plain(struct npuc_emitter *e, const struct npuc_piece *pc,
		      const struct npuc_tile *t, const struct npuc_acc *a, int value, int row)
{
	const struct npuc_layer_state *ls = &e->layer[pc->layer];
	const struct npuc_layer *l = ls->l;
	int64_t base = e->p->value[value].blocked.offset / NPU_OUT_BYTES;
	int64_t block = (int64_t)pc->image * npuc_blocks(l->in_c) + a->block;
	int after[] = {
		e->acc_store[e->acc_half],
		npuc_last_store(e, value, pc->image, t->my0, t->my0 + t->mh),
	};

	for (int o = 0; o < a->tco; o++) {
		struct npuc_op op = {
			.kind = NPUC_OP_LOAD,
			.mem = { .memory = NPU_MEM_ACC8,
				 .region = NPUC_REGION_SCRATCH,
				 .sram_base = row + o * a->rows,
				 .y_size = t->mh,
				 .x_size = t->mw,
				 .x_stride = l->in_w },
		};
		int id;

		op.mem.dram_base = base + ((block + o) * l->in_h + t->my0) * l->in_w + t->mx0;
		id = npuc_emit_op(e, &op, after, 2);
		if (id < 0)
			return id;
	}
	return 0;
}

static int clip(struct npuc_emitter *e, const struct npuc_layer *l, int base, int rows)
{
	struct npuc_dim dim = { rows, 1, 1, 0 };
	struct npuc_op op = { .kind = NPUC_OP_ALU_IMM };
	int err = 0;

	if (l->lo <= INT8_MIN && l->hi >= INT8_MAX)
		return 0;
	op.kernel = npuc_kernel(e, &dim, 1, base, base, 0);
	if (op.kernel < 0)
		return op.kernel;
	op.alu_op = NPU_ALU_MAX;
	op.value = l->lo;
	err = npuc_emit_op(e, &op, NULL, 0);
	op.alu_op = NPU_ALU_MIN;
	op.value = l->hi;
	return err < 0 ? err : npuc_emit_op(e, &op, NULL, 0);
}

static int plain_piece(struct npuc_emitter *e, struct npuc_piece *pc)
{
	const struct npuc_layer_state *ls = &e->layer[pc->layer];
	struct npuc_tile t;
	struct npuc_acc a;
	int err;

	npuc_tile_at(ls->l, &ls->c, pc->ty, pc->tx, &t);
	a = acc_of(e, pc, &t);
	err = load_plain(e, pc, &t, &a, ls->l->in, a.base);
	if (err >= 0 && ls->c.mode != NPUC_POOL_NONE)
		err = npuc_emit_pool(e, ls->l, ls->c.mode, &t, a.tco, a.base, a.out, NPUC_NO_OP);
	if (err >= 0)
		err = clip(e, ls->l, a.out, a.tco * t.h * t.w);
	if (err >= 0)
		err = look_up(e, pc, &t, &a);
	return err < 0 ? err : store(e, pc, &t, &a);
}

static int binary_piece(struct npuc_emitter *e, struct npuc_piece *pc)
{
	const struct npuc_layer_state *ls = &e->layer[pc->layer];
	int rows, row, err;
	struct npuc_tile t;
	struct npuc_acc a;

	npuc_tile_at(ls->l, &ls->c, pc->ty, pc->tx, &t);
	a = acc_of(e, pc, &t);
	rows = a.tco * a.rows;
	err = npuc_load_params(e, pc, &row);
	if (err >= 0)
		err = load_plain(e, pc, &t, &a, ls->l->in, a.base);
	if (err >= 0)
		err = load_plain(e, pc, &t, &a, ls->l->in2, a.base + rows);
	if (err >= 0)
		err = npuc_emit_binary(e, pc, a.base, a.base + rows, rows, row);
	if (err >= 0)
		err = requant(e, pc, &t, &a);
	if (err >= 0)
		err = look_up(e, pc, &t, &a);
	return err < 0 ? err : store(e, pc, &t, &a);
}

static int add_piece(struct npuc_emitter *e, const struct npuc_piece *pc)
{
	struct npuc_piece *grown = e->piece;

	if (e->n_piece >= MAX_PIECES)
		return npuc_fail(e->d, -E2BIG, "more than %d pieces", MAX_PIECES);
	if (!(e->n_piece & (e->n_piece - 1)))
		grown = realloc(grown, (e->n_piece ? 2 * (size_t)e->n_piece : 1) * sizeof(*grown));
	if (!grown)
		return npuc_fail(e->d, -ENOMEM, "out of memory");
	e->piece = grown;
	grown[e->n_piece++] = *pc;
	return 0;
}

/* The pieces of a layer, its two outer loops in the order that the tiling chose. */
static int list_layer(struct npuc_emitter *e, int layer)
{
	struct npuc_layer_state *ls = &e->layer[layer];
	const struct npuc_tiling *c = &ls->c;
	int places = ls->images * c->n_y * c->n_x, total = places * c->n_co, err = 0;

	ls->first_piece = e->n_piece;
	ls->n_piece = total * c->n_ci;
	for (int i = 0; i < total && !err; i++) {
		int place = c->co_outer ? i % places : i / c->n_co;
		struct npuc_piece pc = { .layer = layer, .need = NPUC_NO_OP };

		pc.co = c->co_outer ? i / places : i % c->n_co;
		pc.image = place / (c->n_y * c->n_x);
		pc.ty = place / c->n_x % c->n_y;
		pc.tx = place % c->n_x;
		for (pc.ci = 0; pc.ci < c->n_ci && !err; pc.ci++)
			err = add_piece(e, &pc);
	}
	return err;
}

static void forget(struct npuc_emitter *e)
{
	memset(e->inp, 0, sizeof(e->inp));
	memset(e->wgt, 0, sizeof(e->wgt));
	e->inp[0].reader = e->inp[1].reader = NPUC_NO_OP;
	e->acc_store[0] = e->acc_store[1] = NPUC_NO_OP;
	e->wgt_head = e->vector_head = e->table_head = e->pad_value = 0;
	e->param_loaded = false;
	e->param_layer = e->param_co = -1;
	e->since_yield = 0;
}

/* Whether loads of piece @k read what piece @k - 1 has yet to store. */
static bool reads_next_store(const struct npuc_emitter *e, int k)
{
	const struct npuc_piece *pc = &e->piece[k], *before = pc - 1;
	const struct npuc_layer_state *ls = &e->layer[pc->layer], *lb = &e->layer[before->layer];
	struct npuc_tile t, tb;

	if (ls->l->in != lb->l->out || pc->image != before->image)
		return false;
	if (ls->l->in_h != lb->l->out_h)
		return true;
	npuc_tile_at(ls->l, &ls->c, pc->ty, pc->tx, &t);
	npuc_tile_at(lb->l, &lb->c, before->ty, before->tx, &tb);
	return t.iy0 < tb.y0 + tb.h && tb.y0 < t.iy0 + t.ih;
}

static int list_loads(struct npuc_emitter *e, int k)
{
	int err = npuc_load_piece(e, &e->piece[k]);

	/* While a layer is computed the weights of the next arrive. */
	if (!err && e->piece[k].layer + 1 < e->n_layer) {
		const struct npuc_layer_state *ls = &e->layer[e->piece[k].layer];

		err = npuc_prefetch_weights(e, e->piece[k].layer + 1, k - ls->first_piece,
					    ls->n_piece);
	}
	return err;
}

static int yield(struct npuc_emitter *e)
{
	struct npuc_op op = { .kind = NPUC_OP_YIELD };
	int id = npuc_emit_op(e, &op, NULL, 0);

	forget(e);
	return id < 0 ? id : 0;
}

static int compute(struct npuc_emitter *e, int k)
{
	struct npuc_piece *pc = &e->piece[k];
	const struct npuc_layer *l = e->layer[pc->layer].l;
	int err;

	if (l->conv)
		err = conv_piece(e, pc);
	else
		err = l->binary ? binary_piece(e, pc) : plain_piece(e, pc);
	e->done = k;
	return err < 0 ? err : 0;
}

static int list_pieces(struct npuc_emitter *e, uint64_t yield_cycles)
{
	int err = list_loads(e, 0), next;

	for (int k = 0; k < e->n_piece && !err; k++) {
		bool last = k + 1 == e->n_piece;
		bool yields = !last && yield_cycles && e->since_yield >= yield_cycles &&
			      !e->piece[k + 1].ci;

		next = NPUC_LATER;
		if (!last && !yields && !reads_next_store(e, k + 1))
			next = list_loads(e, k + 1);
		if (next && next != NPUC_LATER)
			return next;
		err = compute(e, k);
		if (!err && yields)
			err = yield(e);
		if (!err && !last && next)
			err = list_loads(e, k + 1);
	}
	return err;
}

static int choose_tilings(struct npuc_emitter *e)
{
	int rows = 0;

	e->wgt_depth = NPUC_WGT_DEPTH;
	for (int i = 0; i < e->n_layer; i++) {
		rows += npuc_layer_rows(e->layer[i].l);
		if (npuc_layer_tables(e->layer[i].l))
			e->wgt_depth = NPUC_WGT_DEPTH - NPUC_TABLE_DEPTH;
	}
	e->param_resident = rows <= RESIDENT_PARAMS;
	e->param_rows = e->param_resident ? rows : PASSING_PARAMS;
	e->acc_rows = (NPU_ACC_DEPTH - e->param_rows) / 2;
	for (int i = 0; i < e->n_layer; i++) {
		struct npuc_layer_state *ls = &e->layer[i];
		size_t pieces;

		if (npuc_tile_choose(ls->l, ls->images, e->acc_rows, &ls->c))
			return npuc_fail(
				e->d, -EOPNOTSUPP,
				"layer %d (%d x %d x %d to %d x %d x %d): no piece of it fits the core",
				i, ls->l->in_c, ls->l->in_h, ls->l->in_w, ls->l->out_c,
				ls->l->out_h, ls->l->out_w);
		pieces = (size_t)ls->c.n_co * ls->c.n_ci;
		ls->weight = malloc(pieces * sizeof(*ls->weight));
		if (!ls->weight)
			return npuc_fail(e->d, -ENOMEM, "out of memory");
		memset(ls->weight, 0xff, pieces * sizeof(*ls->weight));
	}
	return 0;
}

static int emit_all(struct npuc_emitter *e, const struct npuc_emit_options *opt,
		    struct npuc_image *insn, struct npuc_stream *out)
{
	struct npu_builder_output result;
	int64_t at;
	int err;

	err = choose_tilings(e);
	if (!err)
		err = npuc_pack_params(e);
	if (!err)
		err = npuc_pack_tables(e);
	for (int i = 0; i < e->n_layer && !err; i++)
		err = list_layer(e, i);
	if (!err)
		err = list_pieces(e, opt->yield_cycles);
	if (err)
		return err;
	npu_builder_preload(e->b);
	err = npuc_schedule_emit(&e->s, e->b);
	if (err)
		return err;
	err = npu_builder_finish(e->b, &result);
	if (err)
		return npuc_fail(e->d, err, "instruction stream: %s", npu_builder_message(e->b));
	at = npuc_image_add(insn, result.insn_count * NPU_INSN_BYTES, 4 * NPU_INSN_BYTES);
	if (at < 0)
		return npuc_fail(e->d, -ENOMEM, "out of memory");
	memcpy(insn->data + at, result.insns, result.insn_count * NPU_INSN_BYTES);
	out->insn_first = at / NPU_INSN_BYTES;
	out->insn_count = result.insn_count;
	out->uop_size = result.uop_count * NPU_UOP_BYTES;
	at = npuc_image_add(e->constants, out->uop_size, NPU_MODULE_ALIGN);
	if (at < 0)
		return npuc_fail(e->d, -ENOMEM, "out of memory");
	if (out->uop_size)
		memcpy(e->constants->data + at, result.uops, out->uop_size);
	out->uop_offset = at;
	return 0;
}

static void fini(struct npuc_emitter *e)
{
	for (int i = 0; i < e->n_layer; i++)
		free(e->layer[i].weight);
	free(e->layer);
	free(e->piece);
	free(e->store);
	npuc_schedule_free(&e->s);
	npu_builder_free(e->b);
}

int npuc_emit_stream(struct npuc_program *p, int first, int count,
		     const struct npuc_emit_options *opt, struct npuc_image *insn,
		     struct npuc_image *constants, struct npuc_stream *out)
{
	struct npu_builder_config config = { .features = opt->features,
					     .uop_region = NPUC_REGION_UOP };
	struct npuc_emitter e = { .p = p, .d = p->d, .constants = constants, .done = -1 };
	int err;

	*out = (struct npuc_stream){ .first_stage = first, .stages = count };
	forget(&e);
	npuc_schedule_init(&e.s, p->d);
	e.layer = calloc(count, sizeof(*e.layer));
	if (!e.layer || npu_builder_new(&e.b, &config)) {
		fini(&e);
		return npuc_fail(p->d, -ENOMEM, "out of memory");
	}
	e.n_layer = count;
	for (int i = 0; i < count; i++) {
		e.layer[i].l = &p->stage[first + i].layer;
		e.layer[i].images = p->value[e.layer[i].l->out].n;
		out->macs += e.layer[i].l->macs;
	}
	err = emit_all(&e, opt, insn, out);
	fini(&e);
	return err;
}
