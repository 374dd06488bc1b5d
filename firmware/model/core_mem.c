// SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 OR MIT
/* LOAD and STORE: one burst of memory a row, padding, regions. */
#include "firmware/model/core_internal.h"

CORE_DECODER(mem, MEM)

struct mem_kind {
	u8 sram;		/* enum core_sram_id */
	u8 lane_bytes;		/* of padding */
	u16 sram_bytes;		/* of an element in SRAM */
	u16 bytes;		/* of an element in memory */
	u16 depth;
};

static const struct mem_kind mem_kind[] = {
	[NPU_MEM_UOP] = { CORE_UOP, 8, sizeof(u64), NPU_UOP_BYTES,
			  NPU_UOP_DEPTH },
	[NPU_MEM_WGT] = { CORE_WGT, 1, NPU_WGT_BYTES, NPU_WGT_BYTES,
			  NPU_WGT_DEPTH },
	[NPU_MEM_INP] = { CORE_INP, 1, NPU_INP_BYTES, NPU_INP_BYTES,
			  NPU_INP_DEPTH },
	[NPU_MEM_ACC] = { CORE_ACC, 4, NPU_ACC_BYTES, NPU_ACC_BYTES,
			  NPU_ACC_DEPTH },
	[NPU_MEM_OUT] = { CORE_ACC, 1, NPU_ACC_BYTES, NPU_OUT_BYTES,
			  NPU_ACC_DEPTH },
	[NPU_MEM_ACC8] = { CORE_ACC, 4, NPU_ACC_BYTES, NPU_OUT_BYTES,
			   NPU_ACC_DEPTH },
};

static u8 mem_access(const struct core_unit *u)
{
	return core_opcode(&u->insn) == NPU_OP_STORE ? NPU_ACCESS_WRITE :
						       NPU_ACCESS_READ;
}

static void *mem_element(struct npu_core *c, u8 memory, u32 first)
{
	switch (memory) {
	case NPU_MEM_UOP:
		return &c->uop[first];	/* for its zeros alone */
	case NPU_MEM_WGT:
		return c->wgt[first];
	case NPU_MEM_INP:
		return c->inp[first];
	default:
		return c->acc[first];
	}
}

/* What the instruction says is defined, whatever it would reach. */
static bool mem_legal(const struct npu_core *c, const struct core_unit *u,
		      const struct core_mem_fields *f)
{
	if (core_opcode(&u->insn) == NPU_OP_STORE)
		return f->memory == NPU_MEM_OUT && !f->pad_mode &&
		       !f->y_pad_0 && !f->y_pad_1 && !f->x_pad_0 && !f->x_pad_1;
	if (f->memory > NPU_MEM_ACC8 || f->memory == NPU_MEM_OUT)
		return false;
	if (!f->x_size || f->pad_mode == NPU_PAD_ZERO)
		return true;
	return f->pad_mode == NPU_PAD_VALUE && f->memory != NPU_MEM_UOP &&
	       c->features & NPU_HW_FEATURE_PAD_VALUE;
}

static void mem_pad(struct npu_core *c, const struct core_unit *u,
		    const struct core_mem_fields *f, u32 first, u32 count)
{
	const struct mem_kind *kind = &mem_kind[f->memory];
	u32 value = f->pad_mode == NPU_PAD_VALUE ? (u32)u->pad_value : 0;
	void *to = mem_element(c, f->memory, first);
	size_t bytes = (size_t)count * kind->sram_bytes;

	if (!count)
		return;
	core_sram_cover(c, kind->sram, first, count);
	if (kind->lane_bytes == 1 || !value) {
		memset(to, value & 0xff, bytes);
	} else {
		u32 *lane = to;
		size_t i;

		for (i = 0; i < bytes / 4; i++)
			lane[i] = value;
	}
}

/* All padding at once; the rows between it are another piece of work. */
static void mem_pad_all(struct npu_core *c, const struct core_unit *u,
			const struct core_mem_fields *f, u32 row)
{
	u32 s = f->sram_base;
	u32 y;

	mem_pad(c, u, f, s, f->y_pad_0 * row);
	s += f->y_pad_0 * row;
	if (f->x_pad_0 || f->x_pad_1) {
		for (y = 0; y < f->y_size; y++) {
			mem_pad(c, u, f, s + y * row, f->x_pad_0);
			mem_pad(c, u, f, s + y * row + f->x_pad_0 + f->x_size,
				f->x_pad_1);
		}
	}
	mem_pad(c, u, f, s + f->y_size * row, f->y_pad_1 * row);
}

static bool mem_region(struct npu_core *c, const struct core_unit *u,
		       struct core_transfer *t, u32 selector)
{
	u32 entries = c->job.region_count;
	u32 entry = selector;

	if (!selector && !entries) {
		t->base = 0;
		t->limit = 1ull << NPU_VA_BITS;
		return true;
	}
	if (!selector && entries > NPU_REGION_ENTRIES + t->memory)
		entry = NPU_REGION_ENTRIES + t->memory;
	if (selector >= entries) {
		core_unit_fault(c, u, NPU_FAULT_SELECTOR, mem_access(u),
				selector);
		return false;
	}
	t->base = c->region[entry].base;
	t->limit = c->region[entry].limit;
	return true;
}

static void mem_rows_done(struct npu_core *c, struct core_unit *u,
			  const struct core_transfer *t, u64 cycles)
{
	core_unit_after(c, u, PHASE_COMPLETE,
			cycles + t->pad_cycles * NPU_TIMING_PAD_CYCLES);
}

void core_mem_begin(struct npu_core *c, struct core_unit *u)
{
	struct core_transfer *t = &c->transfer[u->id];
	const struct mem_kind *kind;
	struct core_mem_fields f;
	u64 row, total;

	core_decode_mem(&f, &u->insn);
	if (!mem_legal(c, u, &f)) {
		core_unit_fault(c, u, NPU_FAULT_ILLEGAL, NPU_ACCESS_READ, 0);
		return;
	}
	if (!f.x_size) {
		core_unit_after(c, u, PHASE_COMPLETE, NPU_TIMING_MEM_ISSUE);
		return;
	}
	kind = &mem_kind[f.memory];
	row = f.x_pad_0 + f.x_size + f.x_pad_1;
	total = (f.y_pad_0 + f.y_size + f.y_pad_1) * row;
	if (f.sram_base + total > kind->depth) {
		core_unit_fault(c, u, NPU_FAULT_SRAM, NPU_ACCESS_READ,
				kind->depth);
		return;
	}
	t->memory = f.memory;
	t->rows_left = f.y_size;
	if (f.y_size && !mem_region(c, u, t, f.region))
		return;
	t->offset = (u64)f.dram_base * kind->bytes;
	t->stride_bytes = f.x_stride * kind->bytes;
	t->row_elements = f.x_size;
	t->row_bytes = f.x_size * kind->bytes;
	t->row_step = row;
	t->sram = f.sram_base + f.y_pad_0 * row + f.x_pad_0;
	t->pad_cycles = total - (u64)f.y_size * f.x_size;
	if (t->pad_cycles)
		mem_pad_all(c, u, &f, row);
	if (f.y_size)
		core_unit_after(c, u, PHASE_REQUEST, NPU_TIMING_MEM_ISSUE);
	else
		mem_rows_done(c, u, t, NPU_TIMING_MEM_ISSUE);
}

static void mem_expand(struct npu_core *c, u8 memory, u32 first, u32 bytes)
{
	const s8 *lane = c->bounce.lane;
	const u32 *uop = c->bounce.uop;
	s32 *acc;
	u32 i;

	if (memory == NPU_MEM_ACC8) {
		acc = c->acc[first];
		for (i = 0; i < bytes; i++)
			acc[i] = lane[i];
		return;
	}
	for (i = 0; i < bytes / NPU_UOP_BYTES; i++)
		c->uop[first + i] = core_step(uop[i] & 0x7ff,
					      uop[i] >> 11 & 0x7ff,
					      uop[i] >> 22);
}

/* LOAD of what looks different in SRAM. */
static u8 mem_load_expanded(struct npu_core *c, const struct core_transfer *t,
			    u64 va, u64 *fault_va)
{
	u32 element = mem_kind[t->memory].bytes;
	u32 done, bytes;
	u8 fault;

	for (done = 0; done < t->row_bytes; done += bytes) {
		bytes = t->row_bytes - done;
		if (bytes > CORE_BOUNCE)
			bytes = CORE_BOUNCE;
		fault = c->mem.read(c->mem.opaque, c->job.context, va + done,
				    &c->bounce, bytes, NPU_ACCESS_READ,
				    fault_va);
		if (fault)
			return fault;
		mem_expand(c, t->memory, t->sram + done / element, bytes);
	}
	return NPU_FAULT_NONE;
}

static u8 mem_load(struct npu_core *c, const struct core_transfer *t, u64 va,
		   u64 *fault_va)
{
	core_sram_cover(c, mem_kind[t->memory].sram, t->sram, t->row_elements);
	if (t->memory == NPU_MEM_ACC8 || t->memory == NPU_MEM_UOP)
		return mem_load_expanded(c, t, va, fault_va);
	return c->mem.read(c->mem.opaque, c->job.context, va,
			   mem_element(c, t->memory, t->sram), t->row_bytes,
			   NPU_ACCESS_READ, fault_va);
}

static u8 mem_store(struct npu_core *c, const struct core_transfer *t, u64 va,
		    u64 *fault_va)
{
	const s32 *from = c->acc[t->sram];
	s8 *to = c->bounce.lane;
	u32 done, bytes, i;
	u8 fault;

	core_sram_open(c, CORE_ACC, t->sram, t->sram + t->row_elements - 1);
	for (done = 0; done < t->row_bytes; done += bytes) {
		bytes = t->row_bytes - done;
		if (bytes > CORE_BOUNCE)
			bytes = CORE_BOUNCE;
		for (i = 0; i < bytes; i++)
			to[i] = from[done + i];
		fault = c->mem.write(c->mem.opaque, c->job.context, va + done,
				     &c->bounce, bytes, fault_va);
		if (fault)
			return fault;
	}
	return NPU_FAULT_NONE;
}

/* Whether the next row lies in its region; the fault if it does not. */
static u8 mem_row_check(const struct core_transfer *t)
{
	if (t->offset > t->limit || t->row_bytes > t->limit - t->offset)
		return NPU_FAULT_REGION;
	if (t->base + t->offset < t->base)
		return NPU_FAULT_ADDRESS;
	if (t->base + t->offset + t->row_bytes - 1 < t->base)
		return NPU_FAULT_ADDRESS;
	return NPU_FAULT_NONE;
}

static u64 mem_claim(struct npu_core *c, bool store, u32 bytes)
{
	if (store)
		return core_port_claim(&c->write_port, c->now, 0, bytes);
	return core_port_claim(&c->read_port, c->now, NPU_TIMING_MEM_LATENCY,
			       bytes);
}

/* Moves the next row, and asks for the one after it when that has left. */
void core_mem_row(struct npu_core *c, struct core_unit *u)
{
	struct core_transfer *t = &c->transfer[u->id];
	bool store = u->id == CORE_STORE;
	u64 va = t->base + t->offset;
	u64 fault_va = va;
	u64 cycles;
	u8 fault;

	fault = mem_row_check(t);
	if (!fault)
		fault = store ? mem_store(c, t, va, &fault_va) :
				mem_load(c, t, va, &fault_va);
	if (fault) {
		core_unit_fault(c, u, fault, mem_access(u), fault_va);
		return;
	}
	if (store)
		c->report.job.bytes_written += t->row_bytes;
	else
		c->report.job.bytes_read += t->row_bytes;
	cycles = mem_claim(c, store, t->row_bytes) - c->now;
	t->offset += t->stride_bytes;
	t->sram += t->row_step;
	if (--t->rows_left)
		core_unit_after(c, u, PHASE_REQUEST, cycles);
	else
		mem_rows_done(c, u, t, store ? cycles + NPU_TIMING_MEM_LATENCY :
					       cycles);
}
