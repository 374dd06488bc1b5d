// SPDX-License-Identifier: MIT
/* Faults that programs are given, each with what must be reported. */
#include <string.h>
#include "tests/oracle/generate.h"

/* Appends the faulty instruction and writes down what is expected of it. */
static bool plant(struct generator *g, const struct npu_insn *insn, uint8_t code)
{
	static const uint8_t units[] = { NPU_UNIT_LOAD, NPU_UNIT_COMPUTE, NPU_UNIT_STORE };

	if (!generator_append(g, insn))
		return false;
	g->out->fault_code = code;
	g->out->fault_unit = units[generator_unit(insn)];
	g->out->fault_insn = g->count - 1;
	return true;
}

static void mem(struct npu_insn *insn, unsigned int opcode, unsigned int memory)
{
	memset(insn, 0, sizeof(*insn));
	insn->format = NPU_FORMAT_MEM;
	insn->mem.opcode = opcode;
	insn->mem.memory = memory;
	insn->mem.y_size = 1;
	insn->mem.x_size = 1;
	insn->mem.x_stride = 1;
}

/* A LOAD of a random memory, or a STORE. */
static unsigned int random_transfer(struct generator *g, struct npu_insn *insn)
{
	static const unsigned int memories[] = {
		NPU_MEM_UOP, NPU_MEM_WGT, NPU_MEM_INP, NPU_MEM_ACC, NPU_MEM_ACC8, NPU_MEM_OUT,
	};
	unsigned int memory = memories[random_below(&g->r, 6)];

	mem(insn, memory == NPU_MEM_OUT ? NPU_OP_STORE : NPU_OP_LOAD, memory);
	return memory;
}

/* A row that starts within a segment and leaves it, but not its region. */
static bool unmapped(struct generator *g, struct npu_insn *insn)
{
	unsigned int memory = random_transfer(g, insn);
	struct npu_region region;
	const struct segment *s;
	struct place place;
	uint64_t end;

	if (!generator_place(g, memory, 0, memory == NPU_MEM_OUT ? DATA_SEGMENTS - 1 : UOP_SEGMENT,
			     &place) ||
	    !generator_region(g, place.selector, memory, &region))
		return false;
	s = &g->out->space.segments[place.segment];
	end = s->va + s->size - region.base;
	if (region.limit < end + 2 * memory_bytes(memory) ||
	    place.high >= (UINT64_C(1) << 32) - 2)
		return false;
	insn->mem.region = place.selector;
	insn->mem.dram_base = (int64_t)place.high - (place.high > place.low);
	insn->mem.x_size = 2;
	return plant(g, insn, NPU_FAULT_UNMAPPED);
}

static bool permission(struct generator *g, struct npu_insn *insn)
{
	struct place place;

	mem(insn, NPU_OP_STORE, NPU_MEM_OUT);
	if (!generator_place(g, NPU_MEM_OUT, UOP_SEGMENT, UOP_SEGMENT, &place))
		return false;
	insn->mem.region = place.selector;
	insn->mem.dram_base = (int64_t)place.low;
	return plant(g, insn, NPU_FAULT_PERMISSION);
}

/* The second row leaves the region; the first one does, too, where it is small. */
static bool region_overrun(struct generator *g, struct npu_insn *insn)
{
	unsigned int memory = random_transfer(g, insn), bytes = memory_bytes(memory);
	struct npu_region region;
	struct place place;

	if (!generator_place(g, memory, 0, memory == NPU_MEM_OUT ? DATA_SEGMENTS - 1 : UOP_SEGMENT,
			     &place) ||
	    !generator_region(g, place.selector, memory, &region))
		return false;
	insn->mem.region = place.selector;
	insn->mem.dram_base = (int64_t)place.low;
	insn->mem.y_size = 2;
	insn->mem.x_stride = 65535;
	if (region.limit / bytes > place.low + 65535)
		return false;
	return plant(g, insn, NPU_FAULT_REGION);
}

static bool selector(struct generator *g, struct npu_insn *insn)
{
	unsigned int entries = g->out->region_count < 1 ? 1 : g->out->region_count;

	random_transfer(g, insn);
	if (entries >= NPU_REGION_ENTRIES)
		return false;
	insn->mem.region = random_range(&g->r, entries, NPU_REGION_ENTRIES - 1);
	return plant(g, insn, NPU_FAULT_SELECTOR);
}

/* Beyond the bits of an address, through the region that goes there. */
static bool address(struct generator *g, struct npu_insn *insn)
{
	unsigned int memory = random_transfer(g, insn);

	if (g->out->region_count < 2 || !(g->regions[1].base >> NPU_VA_BITS))
		return false;
	insn->mem.region = 1;
	insn->mem.dram_base = random_below(&g->r, 8);
	insn->mem.x_size = 64 / memory_bytes(memory) + 1;
	return plant(g, insn, NPU_FAULT_ADDRESS);
}

static bool sram_transfer(struct generator *g, struct npu_insn *insn)
{
	int64_t depth = memory_depth(random_transfer(g, insn));

	switch (random_below(&g->r, 4)) {
	case 0:
		insn->mem.sram_base = depth;
		break;
	case 1:
		insn->mem.sram_base = 65535;
		break;
	case 2:
		insn->mem.y_size = 65535;
		insn->mem.x_size = 65535;
		break;
	default:
		insn->mem.sram_base = random_range(&g->r, 0, depth - 1);
		insn->mem.x_size = depth - insn->mem.sram_base + 1;
		break;
	}
	return plant(g, insn, NPU_FAULT_SRAM);
}

/* A valid kernel that is changed to leave a memory in its last pass at the latest. */
static bool sram_kernel(struct generator *g, struct npu_insn *insn)
{
	generator_begin(g);
	if (!generate_kernel(g, insn))
		return false;
	switch (insn->format) {
	case NPU_FORMAT_GEMM:
	case NPU_FORMAT_VMAC:	/* the fields have the same names in the same order */
		if (random_below(&g->r, 2))
			insn->gemm.dst_factor_out = 2047;
		else if (insn->gemm.reset)
			return false;
		insn->gemm.src_factor_out = 2047;
		insn->gemm.iter_out = 3;
		return insn->gemm.iter_in && insn->gemm.iter_in < 100 &&
		       insn->gemm.uop_end > insn->gemm.uop_bgn && plant(g, insn, NPU_FAULT_SRAM);
	case NPU_FORMAT_ALU:
		insn->alu.uop_end = random_range(&g->r, NPU_UOP_DEPTH + 1, 16383);
		return plant(g, insn, NPU_FAULT_SRAM);
	case NPU_FORMAT_REQUANT:
		insn->requant.src_factor_in = 2046;
		insn->requant.iter_in = 2;
		return insn->requant.iter_out && insn->requant.uop_end > insn->requant.uop_bgn &&
		       plant(g, insn, NPU_FAULT_SRAM);
	default:
		insn->lut.src_factor_in = 1024;
		insn->lut.iter_in = 3;
		return insn->lut.iter_out && insn->lut.uop_end > insn->lut.uop_bgn &&
		       plant(g, insn, NPU_FAULT_SRAM);
	}
}

static bool illegal_transfer(struct generator *g, struct npu_insn *insn)
{
	unsigned int memory = random_transfer(g, insn);

	switch (random_below(&g->r, 5)) {
	case 0:
		mem(insn, NPU_OP_LOAD, NPU_MEM_OUT);
		break;
	case 1:
		mem(insn, NPU_OP_LOAD, 6 + (unsigned int)random_below(&g->r, 2));
		insn->mem.x_size = random_below(&g->r, 2);
		break;
	case 2:
		mem(insn, NPU_OP_STORE, (unsigned int)random_below(&g->r, 8));
		if (insn->mem.memory == NPU_MEM_OUT)
			insn->mem.memory = NPU_MEM_ACC8;
		break;
	case 3:
		insn->mem.pad_mode = memory == NPU_MEM_UOP ? 1 : random_range(&g->r, 2, 3);
		break;
	default:
		mem(insn, NPU_OP_STORE, NPU_MEM_OUT);
		insn->mem.x_size = random_below(&g->r, 2);
		*(random_below(&g->r, 2) ? &insn->mem.x_pad_1 : &insn->mem.y_pad_0) = 1;
		break;
	}
	return plant(g, insn, NPU_FAULT_ILLEGAL);
}

static bool reserved(struct generator *g, struct npu_insn *insn)
{
	static const unsigned char ops[] = { 0, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15 };
	/* Without token flags, which would be honoured. */
	uint64_t low = random_u64(&g->r) & ~UINT64_C(0x7f), high = random_u64(&g->r);

	memset(insn, 0, sizeof(*insn));
	insn->format = NPU_FORMAT_RESERVED;
	insn->unnamed[0] = low | (6 + random_below(&g->r, 2));
	insn->unnamed[1] = high;
	if (random_below(&g->r, 2)) {
		insn->unnamed[0] = low | NPU_OP_EXT;
		insn->unnamed[1] = high >> 4 | (uint64_t)ops[random_below(&g->r, 11)] << 60;
	}
	return plant(g, insn, NPU_FAULT_ILLEGAL);
}

static bool illegal_kernel(struct generator *g, struct npu_insn *insn)
{
	generator_begin(g);
	if (!generate_kernel(g, insn) || insn->format == NPU_FORMAT_GEMM)
		return false;
	if (insn->format == NPU_FORMAT_ALU)
		insn->alu.alu_op = random_range(&g->r, 5, 7);
	else	/* bit 63 of EXT is nobody's */
		insn->unnamed[0] = UINT64_C(1) << 63;
	return plant(g, insn, NPU_FAULT_ILLEGAL);
}

/* An instruction whose feature the core does not have. */
static bool absent(struct generator *g, struct npu_insn *insn)
{
	const uint8_t word[NPU_INSN_BYTES] = {
		[0] = NPU_OP_EXT,
		[15] = (uint8_t)(random_range(&g->r, NPU_EXT_YIELD, NPU_EXT_LUT) << 4),
	};

	npu_insn_decode(word, insn);
	return npu_insn_check(insn, g->out->features, NULL) && plant(g, insn, NPU_FAULT_ILLEGAL);
}

/* An instruction waits for a token that nobody gives. */
static bool deadlock(struct generator *g, struct npu_insn *insn)
{
	unsigned int from = (unsigned int)random_below(&g->r, UNITS);
	unsigned int to = from == COMPUTE ? (random_below(&g->r, 2) ? LOAD : STORE) : COMPUTE;
	struct token_queue *queue = &g->queues[from][to];
	const struct npu_tokens pending = g->units[to].pending;

	if (queue->count || (from < to ? pending.pop_prev : pending.pop_next))
		return false;
	mem(insn, to == STORE ? NPU_OP_STORE : NPU_OP_LOAD,
	    to == LOAD ? NPU_MEM_WGT : to == STORE ? NPU_MEM_OUT : NPU_MEM_ACC);
	insn->mem.x_size = 0;
	npu_insn_add_tokens(insn, (struct npu_tokens){ .pop_prev = from < to,
						       .pop_next = from > to });
	queue->banned = true;
	return plant(g, insn, NPU_FAULT_DEADLOCK);
}

static bool early_finish(struct generator *g, struct npu_insn *insn)
{
	memset(insn, 0, sizeof(*insn));
	insn->format = NPU_FORMAT_FINISH;
	insn->finish.opcode = NPU_OP_FINISH;
	if (!plant(g, insn, NPU_FAULT_NO_FINISH))
		return false;
	g->out->fault_unit = NPU_UNIT_FETCH;
	return true;
}

bool generate_fault(struct generator *g)
{
	static bool (*const kinds[])(struct generator *g, struct npu_insn *insn) = {
		unmapped, permission, region_overrun, selector, address, sram_transfer,
		sram_kernel, illegal_transfer, reserved, illegal_kernel, absent, deadlock,
		deadlock, early_finish,
	};

	for (int tries = 0; tries < 30; tries++) {
		struct npu_insn insn;

		if (kinds[random_below(&g->r, sizeof(kinds) / sizeof(kinds[0]))](g, &insn))
			return true;
	}
	return false;
}

static void expect(struct generator *g, uint8_t code, uint8_t unit, uint32_t insn)
{
	g->out->fault_code = code;
	g->out->fault_unit = unit;
	g->out->fault_insn = insn;
}

/* The program's end moves behind the last page of its code. */
static void cut_code(struct generator *g, struct segment *code)
{
	uint32_t kept = (uint32_t)random_below(&g->r, g->count);
	uint32_t at = (uint32_t)(g->out->insn_va - code->va);

	memmove(code->bytes + code->size - kept * NPU_INSN_BYTES, code->bytes + at,
		kept * NPU_INSN_BYTES);
	g->out->insn_va = code->va + code->size - kept * NPU_INSN_BYTES;
	expect(g, NPU_FAULT_UNMAPPED, NPU_UNIT_FETCH, kept);
}

static void misalign_region(struct generator *g)
{
	struct address_space *space = &g->out->space;
	struct segment *table = &space->segments[TRACKED_SEGMENTS];
	uint32_t entry = (uint32_t)random_below(&g->r, g->out->region_count);

	table->bytes[g->out->region_va - table->va + 16 * entry] ^=
		1 << random_below(&g->r, 6);
	expect(g, NPU_FAULT_ALIGNMENT, NPU_UNIT_REGION, 0);
}

void generate_late_fault(struct generator *g, struct segment *code)
{
	if (g->out->fault_code || !random_chance(&g->r, 6))
		return;
	switch (random_below(&g->r, 6)) {
	case 0:
		g->out->insn_va += 1 + random_below(&g->r, 15);
		expect(g, NPU_FAULT_ALIGNMENT, NPU_UNIT_FETCH, 0);
		break;
	case 1:
		code->executable = false;
		expect(g, NPU_FAULT_PERMISSION, NPU_UNIT_FETCH, 0);
		break;
	case 2:
		cut_code(g, code);
		break;
	case 3:
		if (g->count > 1) {
			g->out->insn_count--;
			expect(g, NPU_FAULT_NO_FINISH, NPU_UNIT_FETCH, g->out->insn_count - 1);
		}
		break;
	case 4:
		if (g->out->region_count)
			misalign_region(g);
		break;
	default:
		if (g->out->region_count) {
			g->out->space.segments[TRACKED_SEGMENTS].readable = false;
			expect(g, NPU_FAULT_PERMISSION, NPU_UNIT_REGION, 0);
		}
		break;
	}
}
