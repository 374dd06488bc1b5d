// SPDX-License-Identifier: MIT
/* Random valid instructions, and what they touch. */
#include <string.h>
#include "tests/oracle/generate.h"

static int64_t small(struct random *r, int64_t most)
{
	int64_t value = random_range(r, 0, 4);

	if (random_chance(r, 10))
		value = random_range(r, 0, most);
	return value < most ? value : most;
}

static struct cell *sram_cell(struct generator *g, unsigned int memory, uint64_t index)
{
	switch (memory) {
	case NPU_MEM_INP:
		return &g->inp[index];
	case NPU_MEM_WGT:
		return &g->wgt[index];
	case NPU_MEM_UOP:
		return NULL;		/* one unit's own */
	default:
		return &g->acc[index];
	}
}

static void touch_sram(struct generator *g, unsigned int unit, unsigned int memory,
		       uint64_t first, uint64_t count, bool write)
{
	if (memory == NPU_MEM_UOP)
		return;
	for (uint64_t i = first; i < first + count; i++)
		generator_touch(g, sram_cell(g, memory, i), unit, write);
}

/* The granules of memory that a row lies in. */
static void touch_row(struct generator *g, const struct place *place, unsigned int unit,
		      unsigned int bytes, uint64_t element, uint64_t count, bool write)
{
	const struct segment *s = &g->out->space.segments[place->segment];
	uint64_t first = place->base + element * bytes - s->va;
	uint64_t last = first + count * bytes - 1;

	for (uint64_t i = first / GRANULE; i <= last / GRANULE; i++) {
		generator_touch(g, &g->memory[place->segment][i], unit, write);
		if (write)
			g->out->stored[place->segment][i] = true;
	}
}

static uint32_t uop_in_memory(const struct generator *g, const struct place *place,
			      uint64_t element)
{
	const struct segment *s = &g->out->space.segments[place->segment];
	const uint8_t *p = s->bytes + (place->base + element * NPU_UOP_BYTES - s->va);

	return p[0] | p[1] << 8 | p[2] << 16 | (uint32_t)p[3] << 24;
}

/* UOP memory as a LOAD leaves it. */
static void follow_uops(struct generator *g, const struct npu_insn_mem *mem,
			const struct place *place)
{
	int64_t row = mem->x_pad_0 + mem->x_size + mem->x_pad_1;
	int64_t rows = mem->y_pad_0 + mem->y_size + mem->y_pad_1;

	memset(g->uop + mem->sram_base, 0, (size_t)(row * rows) * sizeof(*g->uop));
	for (int64_t y = 0; y < mem->y_size; y++)
		for (int64_t x = 0; x < mem->x_size; x++)
			g->uop[mem->sram_base + (mem->y_pad_0 + y) * row + mem->x_pad_0 + x] =
				uop_in_memory(g, place, (uint64_t)(mem->dram_base +
								   y * mem->x_stride + x));
}

static void random_pads(struct generator *g, struct npu_insn_mem *mem)
{
	mem->y_pad_0 = random_chance(&g->r, 20) ? small(&g->r, 15) : 0;
	mem->y_pad_1 = random_chance(&g->r, 20) ? small(&g->r, 15) : 0;
	mem->x_pad_0 = random_chance(&g->r, 20) ? small(&g->r, 15) : 0;
	mem->x_pad_1 = random_chance(&g->r, 20) ? small(&g->r, 15) : 0;
	if (mem->memory != NPU_MEM_UOP && g->out->features & NPU_HW_FEATURE_PAD_VALUE)
		mem->pad_mode = random_below(&g->r, 2);
}

/* An SRAM range of some elements: within the window, or at the memory's end. */
static bool random_base(struct generator *g, struct npu_insn_mem *mem)
{
	int64_t rows = mem->y_pad_0 + mem->y_size + mem->y_pad_1;
	int64_t total = rows * (mem->x_pad_0 + mem->x_size + mem->x_pad_1);
	int64_t depth = memory_depth((unsigned int)mem->memory);
	unsigned int memory = mem->memory == NPU_MEM_ACC8 ? NPU_MEM_ACC :
							    (unsigned int)mem->memory;

	if (total > depth)
		return false;
	mem->sram_base = (int64_t)random_below(&g->r, g->style.window[memory]);
	if (mem->sram_base + total > depth || random_chance(&g->r, 3))
		mem->sram_base = depth - total;
	return true;
}

/* Rows and stride of a transfer that stays within the place. */
static bool random_rows(struct generator *g, struct npu_insn_mem *mem, const struct place *place)
{
	uint64_t range = place->high - place->low;
	uint64_t window = g->style.memory_window * 16 / memory_bytes((unsigned int)mem->memory) + 1;
	uint64_t extent;

	mem->y_size = random_chance(&g->r, 3) ? 0 : 1 + small(&g->r, 20);
	mem->x_size = 1 + (random_chance(&g->r, 5) ? random_range(&g->r, 0, 255) :
						     small(&g->r, 30));
	mem->x_stride = random_below(&g->r, 2) ? mem->x_size : small(&g->r, 60);
	if (random_chance(&g->r, 2) && mem->y_size < 2)
		mem->x_stride = 65535;
	extent = (uint64_t)(mem->y_size ? (mem->y_size - 1) * mem->x_stride + mem->x_size : 0);
	if (extent > range)
		return false;
	mem->region = place->selector;
	mem->dram_base = (int64_t)(place->low + random_below(&g->r, window < range - extent + 1 ?
						 window : range - extent + 1));
	if (random_chance(&g->r, 5))
		mem->dram_base = (int64_t)(place->high - extent);
	return mem->dram_base < INT64_C(1) << 32;
}

static void touch_rows(struct generator *g, const struct npu_insn_mem *mem,
		       const struct place *place, unsigned int unit, bool write)
{
	for (int64_t y = 0; y < mem->y_size; y++)
		touch_row(g, place, unit, memory_bytes((unsigned int)mem->memory),
			  (uint64_t)(mem->dram_base + y * mem->x_stride), (uint64_t)mem->x_size,
			  write);
}

static bool generate_load(struct generator *g, unsigned int memory)
{
	struct npu_insn insn = {
		.format = NPU_FORMAT_MEM,
		.mem = { .opcode = NPU_OP_LOAD, .memory = memory },
	};
	struct npu_insn_mem *mem = &insn.mem;
	struct place place;
	unsigned int unit = generator_unit(&insn);
	bool uops = memory == NPU_MEM_UOP;

	random_pads(g, mem);
	if (!generator_place(g, memory, uops ? UOP_SEGMENT : 0, UOP_SEGMENT, &place) ||
	    !random_rows(g, mem, &place) || !random_base(g, mem))
		return false;
	if (unit == LOAD) {	/* flags that the unit ignores */
		mem->pop_prev = random_below(&g->r, 2);
		mem->push_prev = random_below(&g->r, 2);
	}
	touch_sram(g, unit, memory, (uint64_t)mem->sram_base,
		   (uint64_t)((mem->y_pad_0 + mem->y_size + mem->y_pad_1) *
			      (mem->x_pad_0 + mem->x_size + mem->x_pad_1)), true);
	touch_rows(g, mem, &place, unit, false);
	if (!generator_commit(g, &insn))
		return false;
	if (uops)
		follow_uops(g, mem, &place);
	return true;
}

static bool generate_store(struct generator *g)
{
	struct npu_insn insn = {
		.format = NPU_FORMAT_MEM,
		.mem = { .opcode = NPU_OP_STORE, .memory = NPU_MEM_OUT,
			 .pop_next = random_below(&g->r, 2), .push_next = random_below(&g->r, 2) },
	};
	struct npu_insn_mem *mem = &insn.mem;
	struct place place;

	if (!generator_place(g, NPU_MEM_OUT, 0, DATA_SEGMENTS - 1, &place) ||
	    !random_rows(g, mem, &place) || !random_base(g, mem))
		return false;
	touch_sram(g, STORE, NPU_MEM_OUT, (uint64_t)mem->sram_base,
		   (uint64_t)(mem->y_size * mem->x_size), false);
	touch_rows(g, mem, &place, STORE, true);
	return generator_commit(g, &insn);
}

/* The fields that all instructions with micro-ops share. */
struct loops {
	int64_t uop_bgn, uop_end, iter_out, iter_in;
	int64_t dst_out, dst_in, src_out, src_in, wgt_out, wgt_in;
};

/* Limits of the indices; 0: not used. */
struct depths {
	int64_t dst, src, wgt, wgt_factor;
};

static bool runs(const struct loops *l)
{
	return l->uop_end > l->uop_bgn && l->iter_out && l->iter_in;
}

/* Factors of the two loops that keep an index below a depth. */
static bool random_factors(struct generator *g, const struct loops *l, int64_t highest,
			   int64_t depth, int64_t most, int64_t *out, int64_t *in)
{
	int64_t room = depth - 1 - highest, limit;

	*out = random_range(&g->r, 0, most);
	*in = random_range(&g->r, 0, most);
	if (!depth || !runs(l))
		return true;
	if (room < 0)
		return false;
	if (l->iter_out > 1) {
		limit = room / (l->iter_out - 1);
		*out = random_chance(&g->r, 70) ? small(&g->r, limit < most ? limit : most) :
						  random_range(&g->r, 0, limit < most ? limit : most);
		room -= *out * (l->iter_out - 1);
	}
	if (l->iter_in > 1) {
		limit = room / (l->iter_in - 1);
		*in = random_chance(&g->r, 70) ? small(&g->r, limit < most ? limit : most) :
						 random_range(&g->r, 0, limit < most ? limit : most);
	}
	return true;
}

static void random_counts(struct generator *g, struct loops *l)
{
	int64_t length = random_chance(&g->r, 5) ? random_range(&g->r, 1, 64) : 1 + small(&g->r, 6);
	int64_t left = (int64_t)g->style.passes / length;

	l->uop_bgn = (int64_t)random_below(&g->r, g->style.window[NPU_MEM_UOP]);
	if (random_chance(&g->r, 3))
		l->uop_bgn = NPU_UOP_DEPTH - 1;
	l->uop_end = l->uop_bgn + length < NPU_UOP_DEPTH ? l->uop_bgn + length : NPU_UOP_DEPTH;
	l->iter_out = 1 + small(&g->r, left < 1 ? 0 : left - 1);
	left /= l->iter_out;
	l->iter_in = random_chance(&g->r, 50) ? 1 + small(&g->r, left < 1 ? 0 : left - 1) :
						random_range(&g->r, 1, left < 1 ? 1 : left);
	if (random_chance(&g->r, 3))
		l->iter_in = 0;
	else if (random_chance(&g->r, 3))
		l->iter_out = 0;
	else if (random_chance(&g->r, 3))
		l->uop_end = random_range(&g->r, 0, l->uop_bgn);
	if (!runs(l) && random_below(&g->r, 2)) {
		l->iter_in = l->iter_in ? 16383 : 0;
		l->iter_out = l->iter_out ? 16383 : 0;
	}
}

static bool random_loops(struct generator *g, const struct depths *depths, struct loops *l)
{
	struct npu_uop highest = { 0, 0, 0 };

	random_counts(g, l);
	for (int64_t u = l->uop_bgn; u < l->uop_end; u++) {
		struct npu_uop uop = npu_uop_unpack(g->uop[u]);

		if (highest.dst < uop.dst)
			highest.dst = uop.dst;
		if (highest.src < uop.src)
			highest.src = uop.src;
		if (highest.wgt < uop.wgt)
			highest.wgt = uop.wgt;
	}
	return random_factors(g, l, highest.dst, depths->dst, 2047, &l->dst_out, &l->dst_in) &&
	       random_factors(g, l, highest.src, depths->src, 2047, &l->src_out, &l->src_in) &&
	       random_factors(g, l, highest.wgt, depths->wgt, depths->wgt_factor, &l->wgt_out,
			      &l->wgt_in);
}

/* How the instruction uses its indices. */
struct use {
	unsigned int src_memory;
	unsigned int src_rows;
	unsigned int wgt_per_element;
};

static void touch_loops(struct generator *g, const struct loops *l, const struct depths *depths,
			const struct use *use)
{
	if (!runs(l))
		return;
	for (int64_t i = 0; i < l->iter_out; i++) {
		for (int64_t j = 0; j < l->iter_in; j++) {
			for (int64_t u = l->uop_bgn; u < l->uop_end; u++) {
				struct npu_uop uop = npu_uop_unpack(g->uop[u]);
				int64_t s = uop.src + i * l->src_out + j * l->src_in;
				int64_t w = uop.wgt + i * l->wgt_out + j * l->wgt_in;

				touch_sram(g, COMPUTE, NPU_MEM_ACC,
					   (uint64_t)(uop.dst + i * l->dst_out + j * l->dst_in), 1,
					   true);
				if (depths->src)
					touch_sram(g, COMPUTE, use->src_memory, (uint64_t)s,
						   use->src_rows, false);
				if (depths->wgt)
					touch_sram(g, COMPUTE, NPU_MEM_WGT,
						   (uint64_t)w / use->wgt_per_element, 1, false);
			}
		}
	}
}

#define SET_LOOPS(insn, l) \
	do { \
		(insn)->uop_bgn = (l)->uop_bgn; \
		(insn)->uop_end = (l)->uop_end; \
		(insn)->iter_out = (l)->iter_out; \
		(insn)->iter_in = (l)->iter_in; \
		(insn)->dst_factor_out = (l)->dst_out; \
		(insn)->dst_factor_in = (l)->dst_in; \
		(insn)->src_factor_out = (l)->src_out; \
		(insn)->src_factor_in = (l)->src_in; \
	} while (0)

static bool make_gemm(struct generator *g, struct npu_insn *insn)
{
	bool reset = random_chance(&g->r, 20);
	const struct depths depths = { NPU_ACC_DEPTH, reset ? 0 : NPU_INP_DEPTH,
				       reset ? 0 : NPU_WGT_DEPTH, 1023 };
	struct loops l;

	insn->format = NPU_FORMAT_GEMM;
	insn->gemm.opcode = NPU_OP_GEMM;
	insn->gemm.reset = reset;
	if (random_chance(&g->r, 20))
		insn->unnamed[0] = UINT64_C(1) << 63;
	if (!random_loops(g, &depths, &l))
		return false;
	SET_LOOPS(&insn->gemm, &l);
	insn->gemm.wgt_factor_out = l.wgt_out;
	insn->gemm.wgt_factor_in = l.wgt_in;
	touch_loops(g, &l, &depths, &(struct use){ NPU_MEM_INP, 1, 1 });
	return true;
}

static bool make_alu(struct generator *g, struct npu_insn *insn)
{
	bool use_imm = random_below(&g->r, 2);
	const struct depths depths = { NPU_ACC_DEPTH, use_imm ? 0 : NPU_ACC_DEPTH, 0, 0 };
	struct loops l;

	insn->format = NPU_FORMAT_ALU;
	insn->alu.opcode = NPU_OP_ALU;
	insn->alu.alu_op = random_range(&g->r, NPU_ALU_MIN, NPU_ALU_MUL);
	insn->alu.use_imm = use_imm;
	insn->alu.imm = random_below(&g->r, 2) ? random_range(&g->r, -32768, 32767) :
						 random_range(&g->r, -40, 40);
	insn->alu.reset = random_chance(&g->r, 10);
	if (random_chance(&g->r, 20))
		insn->unnamed[0] = UINT64_C(1) << 63;
	if (!random_loops(g, &depths, &l))
		return false;
	SET_LOOPS(&insn->alu, &l);
	touch_loops(g, &l, &depths, &(struct use){ NPU_MEM_ACC, 1, 1 });
	return true;
}

static bool make_requant(struct generator *g, struct npu_insn *insn)
{
	const struct depths depths = { NPU_ACC_DEPTH, NPU_ACC_DEPTH - 2, 0, 0 };
	struct loops l;

	insn->format = NPU_FORMAT_REQUANT;
	insn->requant.opcode = NPU_OP_EXT;
	insn->requant.ext_op = NPU_EXT_REQUANT;
	if (!(g->out->features & NPU_HW_FEATURE_REQUANT) || !random_loops(g, &depths, &l))
		return false;
	SET_LOOPS(&insn->requant, &l);
	touch_loops(g, &l, &depths, &(struct use){ NPU_MEM_ACC, 3, 1 });
	return true;
}

static bool make_vmac(struct generator *g, struct npu_insn *insn)
{
	bool reset = random_chance(&g->r, 20);
	const struct depths depths = { NPU_ACC_DEPTH, reset ? 0 : NPU_INP_DEPTH,
				       reset ? 0 : NPU_WGT_DEPTH * NPU_BLOCK, 255 };
	struct loops l;

	insn->format = NPU_FORMAT_VMAC;
	insn->vmac.opcode = NPU_OP_EXT;
	insn->vmac.ext_op = NPU_EXT_VMAC;
	insn->vmac.reset = reset;
	if (!(g->out->features & NPU_HW_FEATURE_VMAC) || !random_loops(g, &depths, &l))
		return false;
	SET_LOOPS(&insn->vmac, &l);
	insn->vmac.wgt_factor_out = l.wgt_out;
	insn->vmac.wgt_factor_in = l.wgt_in;
	touch_loops(g, &l, &depths, &(struct use){ NPU_MEM_INP, 1, NPU_BLOCK });
	return true;
}

static bool make_lut(struct generator *g, struct npu_insn *insn)
{
	const struct depths depths = { NPU_ACC_DEPTH, NPU_ACC_DEPTH, 0, 0 };
	struct loops l;

	insn->format = NPU_FORMAT_LUT;
	insn->lut.opcode = NPU_OP_EXT;
	insn->lut.ext_op = NPU_EXT_LUT;
	insn->lut.table = (int64_t)random_below(&g->r, g->style.window[NPU_MEM_WGT]);
	if (!(g->out->features & NPU_HW_FEATURE_LUT) || !random_loops(g, &depths, &l))
		return false;
	SET_LOOPS(&insn->lut, &l);
	touch_loops(g, &l, &depths, &(struct use){ NPU_MEM_ACC, 1, 1 });
	touch_sram(g, COMPUTE, NPU_MEM_WGT, (uint64_t)insn->lut.table, 1, false);
	return true;
}

bool generate_kernel(struct generator *g, struct npu_insn *insn)
{
	memset(insn, 0, sizeof(*insn));
	switch (random_below(&g->r, 9)) {
	case 0: case 1: case 2:
		return make_gemm(g, insn);
	case 3: case 4: case 5:
		return make_alu(g, insn);
	case 6:
		return make_requant(g, insn);
	case 7:
		return make_vmac(g, insn);
	default:
		return make_lut(g, insn);
	}
}

static bool generate_pad_value(struct generator *g)
{
	struct npu_insn insn = {
		.format = NPU_FORMAT_PAD_VALUE,
		.pad_value = {
			.opcode = NPU_OP_EXT, .ext_op = NPU_EXT_PAD_VALUE,
			.unit = random_below(&g->r, 2),
			.value = random_below(&g->r, 2) ? random_range(&g->r, -128, 127) :
							  random_range(&g->r, INT32_MIN, INT32_MAX),
		},
	};

	if (insn.pad_value.unit == NPU_PAD_UNIT_LOAD) {
		insn.pad_value.pop_prev = random_below(&g->r, 2);
		insn.pad_value.push_prev = random_below(&g->r, 2);
	}
	return g->out->features & NPU_HW_FEATURE_PAD_VALUE && generator_commit(g, &insn);
}

bool generate_insn(struct generator *g)
{
	unsigned int kind = (unsigned int)random_below(&g->r, 100);
	struct npu_insn insn;

	generator_begin(g);
	if (kind < 8)
		return generate_load(g, NPU_MEM_UOP);
	if (kind < 20)
		return generate_load(g, NPU_MEM_WGT);
	if (kind < 32)
		return generate_load(g, NPU_MEM_INP);
	if (kind < 42)
		return generate_load(g, NPU_MEM_ACC);
	if (kind < 47)
		return generate_load(g, NPU_MEM_ACC8);
	if (kind < 63)
		return generate_store(g);
	if (kind < 67)
		return generate_pad_value(g);
	if (kind < 69)
		return generator_mover(g, (unsigned int)random_below(&g->r, UNITS));
	return generate_kernel(g, &insn) && generator_commit(g, &insn);
}
