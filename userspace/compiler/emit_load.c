// SPDX-License-Identifier: MIT
/* Packed constants, and the loads that bring pieces into the core. */
#include "userspace/compiler/emit.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "npu_isa.h"

int64_t npuc_image_add(struct npuc_image *im, size_t size, size_t align)
{
	size_t at = (im->size + align - 1) / align * align;

	if (!im->data || at + size > im->room) {
		size_t room = (at + size) * 2 + 4096;
		uint8_t *data = realloc(im->data, room);

		if (!data)
			return -ENOMEM;
		im->data = data;
		im->room = room;
	}
	if (at + size > im->size)
		memset(im->data + im->size, 0, at + size - im->size);
	im->size = at + size;
	return at;
}

int npuc_last_store(const struct npuc_emitter *e, int value, int image, int y0, int y1)
{
	for (size_t i = e->n_store; i-- > 0;) {
		const struct npuc_store_note *s = &e->store[i];

		if (s->value == value && s->image == image && s->y0 < y1 && y0 < s->y1)
			return s->op;
	}
	return NPUC_NO_OP;
}

/* Tap @k, counted over all parts, of the weight of output @o for input @i of its group. */
static int8_t weight_at(const struct npuc_layer *l, size_t o, int i, int k)
{
	int window = l->window.kernel_h * l->window.kernel_w;
	size_t part = k / window * npuc_layer_weights(l);

	return l->weight[part + (o * (l->in_c / l->groups) + i) * window + k % window];
}

static void pack_block(uint8_t *out, const struct npuc_layer *l, int o0, int i0, int k)
{
	for (int o = 0; o < 16 && o0 + o < l->out_c; o++)
		for (int i = 0; i < 16 && i0 + i < l->in_c / l->groups; i++)
			out[o * 16 + i] = weight_at(l, o0 + o, i0 + i, k);
}

/* A row of 16 channels for each tap of each block. */
static void pack_vector(uint8_t *out, const struct npuc_layer *l, const struct npuc_blocks *b)
{
	int taps = npuc_layer_taps(l), c0 = b->out0 * 16;

	for (int c = 0; c < b->n_out * 16 && c0 + c < l->out_c; c++)
		for (int k = 0; k < taps; k++)
			out[(c / 16 * taps + k) * 16 + c % 16] =
				l->weight[(k / (taps / l->parts) * l->out_c + c0 + c) *
						  (taps / l->parts) +
					  k % (taps / l->parts)];
}

static void pack_blocks(uint8_t *out, const struct npuc_layer *l, const struct npuc_blocks *b)
{
	int taps = npuc_layer_taps(l), group = b->out0 * 16 / (l->out_c / l->groups);
	int first = b->in0 * 16 - group * (l->in_c / l->groups);

	for (int o = 0; o < b->n_out; o++)
		for (int i = 0; i < b->n_in; i++)
			for (int k = 0; k < taps; k++, out += NPU_WGT_BYTES)
				pack_block(out, l, (b->out0 + o) * 16, first + i * 16, k);
}

static int64_t pack_weights(struct npuc_emitter *e, struct npuc_layer_state *ls, int co, int ci)
{
	const struct npuc_layer *l = ls->l;
	struct npuc_blocks b = npuc_blocks_at(l, &ls->c, co, ci);
	int size = npuc_weight_elements(l, b.n_out, b.n_in);
	int64_t *memo = &ls->weight[co * ls->c.n_ci + ci], at;

	if (*memo >= 0)
		return *memo;
	at = npuc_image_add(e->constants, (size_t)size * NPU_WGT_BYTES, NPU_WGT_BYTES);
	if (at < 0)
		return at;
	if (l->vector)
		pack_vector(e->constants->data + at, l, &b);
	else
		pack_blocks(e->constants->data + at, l, &b);
	*memo = at;
	return at;
}

/* Scale, bounds and bias of one block: three rows. */
static int pack_block_params(struct npuc_emitter *e, const struct npuc_layer *l, int block,
			     int32_t *row)
{
	struct npu_requant_bounds bounds = {
		l->zero_point,
		l->lo - l->zero_point,
		l->hi - l->zero_point,
	};

	for (int o = 0; o < 16; o++) {
		int c = block * 16 + o;
		uint32_t word;

		if (npu_requant_bounds_pack(&bounds, &word, NULL))
			return npuc_fail(e->d, -ERANGE, "bounds %d to %d leave their field", l->lo,
					 l->hi);
		row[16 + o] = word;
		if (c >= l->out_c)
			continue;
		memcpy(&row[o], &l->scale[c], sizeof(*row));
		row[32 + o] = l->bias[c];
	}
	return 0;
}

static int pack_layer_params(struct npuc_emitter *e, const struct npuc_layer *l, int32_t *row)
{
	int rows = npuc_layer_rows(l), blocks = l->binary ? 1 : rows / 3, err = 0;

	for (int b = 0; b < blocks && !err; b++)
		err = pack_block_params(e, l, b, row + b * 48);
	for (int i = 0; i < 2 && l->binary == NPUC_SUM; i++)
		for (int o = 0; o < 16; o++)
			row[48 + i * 16 + o] = l->operand[i].factor;
	return err;
}

int npuc_pack_params(struct npuc_emitter *e)
{
	for (int i = 0; i < e->n_layer; i++) {
		struct npuc_layer_state *ls = &e->layer[i];
		int err;

		ls->param = npuc_image_add(e->constants,
					   (size_t)npuc_layer_rows(ls->l) * NPU_ACC_BYTES,
					   NPU_ACC_BYTES);
		if (ls->param < 0)
			return npuc_fail(e->d, -ENOMEM, "out of memory");
		err = pack_layer_params(e, ls->l, (int32_t *)(e->constants->data + ls->param));
		if (err)
			return err;
	}
	return 0;
}

int npuc_pack_tables(struct npuc_emitter *e)
{
	for (int i = 0; i < e->n_layer; i++) {
		struct npuc_layer_state *ls = &e->layer[i];
		const int8_t *table[] = {
			ls->l->operand[0].correction,
			ls->l->operand[1].correction,
			ls->l->table,
		};
		uint8_t *to;

		ls->tables = npuc_image_add(e->constants,
					    (size_t)npuc_layer_tables(ls->l) * NPU_WGT_BYTES,
					    NPU_WGT_BYTES);
		if (ls->tables < 0)
			return npuc_fail(e->d, -ENOMEM, "out of memory");
		to = e->constants->data + ls->tables;
		for (size_t k = 0; k < sizeof(table) / sizeof(table[0]); k++) {
			if (!table[k])
				continue;
			memcpy(to, table[k], NPUC_TABLE);
			to += NPU_WGT_BYTES;
		}
	}
	return 0;
}

static int load_rows(struct npuc_emitter *e, int64_t offset, int rows)
{
	struct npuc_op op = {
		.kind = NPUC_OP_LOAD,
		.mem = { .memory = NPU_MEM_ACC,
			 .region = NPUC_REGION_CONST,
			 .y_size = 1,
			 .x_size = rows,
			 .x_stride = rows,
			 .dram_base = offset / NPU_ACC_BYTES },
	};

	return npuc_emit_op(e, &op, NULL, 0);
}

/* Makes the parameters of @pc's output blocks be in ACC, from *@row on. */
int npuc_load_params(struct npuc_emitter *e, const struct npuc_piece *pc, int *row)
{
	struct npuc_layer_state *ls = &e->layer[pc->layer];
	struct npuc_blocks b = npuc_blocks_at(ls->l, &ls->c, pc->co, pc->ci);
	int first = ls->l->conv ? b.out0 * 3 : 0, err;
	int rows = ls->l->conv ? b.n_out * 3 : npuc_layer_rows(ls->l);

	if (e->param_resident) {
		*row = (ls->param - e->layer[0].param) / NPU_ACC_BYTES + first;
		if (e->param_loaded)
			return 0;
		e->param_loaded = true;
		return load_rows(e, e->layer[0].param, e->param_rows);
	}
	*row = 0;
	if (e->param_layer == pc->layer && e->param_co == pc->co)
		return 0;
	err = load_rows(e, ls->param + (int64_t)first * NPU_ACC_BYTES, rows);
	e->param_layer = pc->layer;
	e->param_co = pc->co;
	return err;
}

static bool apart(const struct npuc_wgt_entry *w, int base, int size)
{
	return w->base + w->size <= base || base + size <= w->base;
}

/* A piece that is listed but not computed yet will read it. */
static bool pending(const struct npuc_emitter *e, const struct npuc_wgt_entry *w)
{
	return w->valid && w->piece > e->done;
}

/* A part of WGT that is written around and around. */
struct ring {
	int *head;
	int first, end;
};

/*
 * Takes room in WGT, and gives what must have been read before it is written.
 * LATER: what is there is still waited for.
 */
static int wgt_take(struct npuc_emitter *e, const struct ring *r, int size, int *after)
{
	int base = *r->head < r->first || *r->head + size > r->end ? r->first : *r->head;
	int slot = -1;

	*after = NPUC_NO_OP;
	for (int i = 0; i < NPUC_WGT_ENTRIES; i++)
		if (pending(e, &e->wgt[i]) && !apart(&e->wgt[i], base, size))
			return NPUC_LATER;
	for (int i = 0; i < NPUC_WGT_ENTRIES; i++) {
		struct npuc_wgt_entry *w = &e->wgt[i];

		if (w->valid && !apart(w, base, size)) {
			if (w->reader > *after)
				*after = w->reader;
			w->valid = false;
		}
		if (pending(e, w))
			continue;
		if (slot < 0 || !w->valid ||
		    (e->wgt[slot].valid && w->writer < e->wgt[slot].writer))
			slot = i;
	}
	/* An entry that gives way for another: later loads are in order behind this one. */
	if (e->wgt[slot].valid && e->wgt[slot].reader > *after)
		*after = e->wgt[slot].reader;
	e->wgt[slot] = (struct npuc_wgt_entry){
		.base = base,
		.size = size,
		.writer = NPUC_NO_OP,
		.reader = NPUC_NO_OP,
		.piece = -1,
	};
	*r->head = base + size;
	return slot;
}

static int find_wgt(const struct npuc_emitter *e, int layer, int co, int ci)
{
	for (int i = 0; i < NPUC_WGT_ENTRIES; i++)
		if (e->wgt[i].valid && e->wgt[i].layer == layer && e->wgt[i].co == co &&
		    e->wgt[i].ci == ci)
			return i;
	return -1;
}

/* Loads @size elements at @at of the constants into @r, as piece @co, @ci of @layer. */
static int load_ring(struct npuc_emitter *e, const struct ring *r, int64_t at, int size, int layer,
		     int co, int ci)
{
	int slot, id, after;
	struct npuc_op op = {
		.kind = NPUC_OP_LOAD,
		.mem = { .memory = NPU_MEM_WGT,
			 .region = NPUC_REGION_CONST,
			 .y_size = 1,
			 .x_size = size,
			 .x_stride = size,
			 .dram_base = at / NPU_WGT_BYTES },
	};

	if (at < 0)
		return npuc_fail(e->d, -ENOMEM, "out of memory");
	slot = wgt_take(e, r, size, &after);
	if (slot < 0)
		return slot;
	op.mem.sram_base = e->wgt[slot].base;
	id = npuc_emit_op(e, &op, &after, 1);
	if (id < 0)
		return id;
	e->wgt[slot].valid = true;
	e->wgt[slot].layer = layer;
	e->wgt[slot].co = co;
	e->wgt[slot].ci = ci;
	e->wgt[slot].writer = id;
	return slot;
}

static int load_wgt(struct npuc_emitter *e, int layer, int co, int ci)
{
	struct npuc_layer_state *ls = &e->layer[layer];
	struct npuc_blocks b = npuc_blocks_at(ls->l, &ls->c, co, ci);
	struct ring plain = { &e->wgt_head, 0, e->wgt_depth };
	struct ring vector = { &e->vector_head, 0, NPUC_VECTOR_DEPTH };

	return load_ring(e, ls->l->vector ? &vector : &plain, pack_weights(e, ls, co, ci),
			 npuc_weight_elements(ls->l, b.n_out, b.n_in), layer, co, ci);
}

/* Tables stand among the weights as a piece of no output. */
#define TABLES (-1)

static int load_tables(struct npuc_emitter *e, int layer)
{
	struct ring r = { &e->table_head, NPUC_WGT_DEPTH - NPUC_TABLE_DEPTH, NPUC_WGT_DEPTH };
	int slot = find_wgt(e, layer, TABLES, 0);

	if (slot >= 0)
		return slot;
	return load_ring(e, &r, e->layer[layer].tables, npuc_layer_tables(e->layer[layer].l), layer,
			 TABLES, 0);
}

/*
 * Brings a share of the next layer's weights, if they all find room beside
 * those in use: piece @i of the @n of this layer has its part, so that inputs
 * do not queue behind them.
 */
int npuc_prefetch_weights(struct npuc_emitter *e, int layer, int i, int n)
{
	struct npuc_layer_state *ls = &e->layer[layer];
	int all = ls->c.n_co * ls->c.n_ci;

	if (!ls->l->conv || all > NPUC_WGT_ENTRIES / 4 ||
	    npuc_layer_elements(ls->l) > (ls->l->vector ? NPUC_VECTOR_SLOT : NPUC_WGT_SLOT))
		return 0;
	for (int k = i * all / n; k < (i + 1) * all / n; k++) {
		int slot = find_wgt(e, layer, k / ls->c.n_ci, k % ls->c.n_ci);

		if (slot < 0)
			slot = load_wgt(e, layer, k / ls->c.n_ci, k % ls->c.n_ci);
		if (slot < 0)
			return slot == NPUC_LATER ? 0 : slot;
	}
	return 0;
}

/* [from, from + n) cut to [0, size): what is before, inside, after. */
static void cut(int from, int n, int size, int *before, int *inside, int *behind)
{
	*before = from < 0 ? (-from < n ? -from : n) : 0;
	*behind = from + n > size ? (from + n - size < n ? from + n - size : n) : 0;
	*inside = n - *before - *behind;
	if (*inside < 0)
		*inside = 0;
}

/* One block of an input piece. */
static void input_block(const struct npuc_layer *l, const struct npuc_tile *t,
			struct npu_insn_mem *mem, int64_t block)
{
	int top, rows, bottom, left, columns, right;

	cut(t->iy0, t->ih, l->in_h, &top, &rows, &bottom);
	cut(t->ix0, t->iw, l->in_w, &left, &columns, &right);
	if (!rows || !columns) {
		/* Padding alone: one long row of it. */
		mem->x_size = t->ih * t->iw;
		mem->y_pad_0 = 1;
		mem->dram_base = 0;
		return;
	}
	mem->y_size = rows;
	mem->x_size = columns;
	mem->x_stride = l->in_w;
	mem->y_pad_0 = top;
	mem->y_pad_1 = bottom;
	mem->x_pad_0 = left;
	mem->x_pad_1 = right;
	mem->dram_base = (block * l->in_h + t->iy0 + top) * l->in_w + t->ix0 + left;
}

static bool whole_input(const struct npuc_layer *l, const struct npuc_tile *t)
{
	return !t->iy0 && !t->ix0 && t->ih == l->in_h && t->iw == l->in_w;
}

static bool any_padding(const struct npuc_layer *l, const struct npuc_tile *t)
{
	return t->iy0 < 0 || t->ix0 < 0 || t->iy0 + t->ih > l->in_h || t->ix0 + t->iw > l->in_w;
}

static int set_pad_value(struct npuc_emitter *e, int value)
{
	struct npuc_op op = { .kind = NPUC_OP_PAD_VALUE, .value = value };
	int id;

	if (e->pad_value == value)
		return 0;
	id = npuc_emit_op(e, &op, NULL, 0);
	e->pad_value = value;
	return id < 0 ? id : 0;
}

/* The loads of an input piece into slot @slot; returns the last. */
static int load_inp_blocks(struct npuc_emitter *e, const struct npuc_piece *pc,
			   const struct npuc_tile *t, const struct npuc_blocks *b, int slot,
			   const int *after)
{
	const struct npuc_layer *l = e->layer[pc->layer].l;
	int64_t first = (int64_t)pc->image * npuc_blocks(l->in_c) + b->in0;
	int n = b->n_in, id = 0;
	int64_t base = e->p->value[l->in].blocked.offset / NPU_INP_BYTES;

	for (int i = 0; i < n; i++) {
		struct npuc_op op = {
			.kind = NPUC_OP_LOAD,
			.mem = { .memory = NPU_MEM_INP,
				 .region = NPUC_REGION_SCRATCH,
				 .sram_base = slot * NPUC_INP_SLOT + i * t->ih * t->iw,
				 .pad_mode = l->pad_value ? NPU_PAD_VALUE : NPU_PAD_ZERO },
		};

		input_block(l, t, &op.mem, first + i);
		if (whole_input(l, t)) {
			op.mem.x_size = n * t->ih * t->iw;
			op.mem.y_size = 1;
			i = n;
		}
		op.mem.dram_base += base;
		id = npuc_emit_op(e, &op, after, 2);
		if (id < 0)
			return id;
	}
	return id;
}

static int find_inp(const struct npuc_emitter *e, const struct npuc_piece *pc, int block)
{
	for (int i = 0; i < 2; i++) {
		const struct npuc_inp_slot *s = &e->inp[i];

		if (s->valid && s->layer == pc->layer && s->image == pc->image && s->ty == pc->ty &&
		    s->tx == pc->tx && s->block == block)
			return i;
	}
	return -1;
}

static int load_inp(struct npuc_emitter *e, const struct npuc_piece *pc)
{
	const struct npuc_layer_state *ls = &e->layer[pc->layer];
	const struct npuc_layer *l = ls->l;
	struct npuc_blocks b = npuc_blocks_at(l, &ls->c, pc->co, pc->ci);
	int slot = find_inp(e, pc, b.in0), after[2], id, err;
	struct npuc_tile t;

	if (slot >= 0) {
		e->inp_used = slot;
		return slot;
	}
	npuc_tile_at(l, &ls->c, pc->ty, pc->tx, &t);
	slot = !e->inp_used;
	after[0] = e->inp[slot].reader;
	/* A flattened image is read whole. */
	if (l->in_h == e->p->value[l->in].h)
		after[1] = npuc_last_store(e, l->in, pc->image, t.iy0, t.iy0 + t.ih);
	else
		after[1] = npuc_last_store(e, l->in, pc->image, 0, INT_MAX);
	if (any_padding(l, &t) && l->pad_value) {
		err = set_pad_value(e, l->pad_value);
		if (err)
			return err;
	}
	id = load_inp_blocks(e, pc, &t, &b, slot, after);
	if (id < 0)
		return id;
	e->inp[slot] = (struct npuc_inp_slot){
		true, pc->layer, pc->image, pc->ty, pc->tx, b.in0, id, NPUC_NO_OP,
	};
	e->inp_used = slot;
	return slot;
}

int npuc_load_piece(struct npuc_emitter *e, struct npuc_piece *pc)
{
	if (npuc_layer_tables(e->layer[pc->layer].l)) {
		pc->tables = load_tables(e, pc->layer);
		if (pc->tables < 0)
			return pc->tables;
		e->wgt[pc->tables].piece = pc - e->piece;
	}
	if (!e->layer[pc->layer].l->conv)
		return 0;
	pc->inp = load_inp(e, pc);
	if (pc->inp < 0)
		return pc->inp;
	pc->wgt = find_wgt(e, pc->layer, pc->co, pc->ci);
	if (pc->wgt < 0)
		pc->wgt = load_wgt(e, pc->layer, pc->co, pc->ci);
	if (pc->wgt < 0)
		return pc->wgt;
	e->wgt[pc->wgt].piece = pc - e->piece;
	pc->need = e->inp[pc->inp].writer;
	if (e->wgt[pc->wgt].writer > pc->need)
		pc->need = e->wgt[pc->wgt].writer;
	return 0;
}
