// SPDX-License-Identifier: MIT
/*
 * Numbers below are the manual's, typed in a second time on purpose: where this
 * file and the contract disagree, one of them is wrong.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "tests/oracle/oracle.h"
#include "npu_proto.h"
#include "npu_regs.h"

enum { LOAD, COMPUTE, STORE, UNITS };
enum { UOP, WGT, INP, ACC, OUT, ACC8 };
enum { UOPS = 8192, WGTS = 1024, INPS = 2048, ACCS = 2048, LANES = 16 };
enum { QUEUE_DEPTH = 512, TOKENS_MAX = 255 };

struct word {
	uint64_t low;
	uint64_t high;
};

/* Holds the instruction that executes, and those that wait behind it. */
struct queue {
	uint32_t insn[QUEUE_DEPTH + 1];
	uint32_t first;
	uint32_t count;
};

struct core {
	const struct oracle_program *program;
	struct oracle_result *result;
	struct { uint64_t base, limit; } region[24];
	/* Fetch and the units' queues. */
	uint32_t next;
	bool behind_yield;
	struct queue queue[UNITS];
	bool done[UNITS];		/* the first of the queue has executed */
	bool pushed_prev[UNITS];
	bool pushed_next[UNITS];
	bool finished;
	/* Tokens for a unit, from its previous and its next one. */
	uint32_t from_prev[UNITS];
	uint32_t from_next[UNITS];
	int32_t pad_value[UNITS];
	uint8_t row[WGTS * 256];	/* the longest row of a LOAD */
	/* The memories. */
	uint32_t uop[UOPS];
	int8_t inp[INPS][LANES];
	int8_t wgt[WGTS][LANES][LANES];
	int32_t acc[ACCS][LANES];
	bool uop_valid[UOPS];
	bool inp_valid[INPS];
	bool wgt_valid[WGTS];
	bool acc_valid[ACCS];
};

/* Bits high to low of an instruction, which do not cross its middle. */
static uint64_t bits(const struct word *w, unsigned int high, unsigned int low)
{
	uint64_t half = low < 64 ? w->low : w->high;
	unsigned int width = high - low + 1;

	return half >> low % 64 & (UINT64_MAX >> (64 - width));
}

static uint32_t opcode(const struct word *w)
{
	return (uint32_t)bits(w, 2, 0);
}

static uint32_t ext_op(const struct word *w)
{
	return (uint32_t)bits(w, 127, 124);
}

static bool is_yield(const struct word *w)
{
	return opcode(w) == 5 && ext_op(w) == 1;
}

static uint64_t little_endian(const uint8_t *p, unsigned int bytes)
{
	uint64_t value = 0;

	while (bytes--)
		value = value << 8 | p[bytes];
	return value;
}

static uint8_t unit_name(unsigned int unit)
{
	return unit == LOAD ? NPU_UNIT_LOAD : unit == STORE ? NPU_UNIT_STORE : NPU_UNIT_COMPUTE;
}

/* Section "Addresses": accesses of faults. */
static uint8_t access_of(uint8_t code, uint8_t unit)
{
	if (unit == NPU_UNIT_FETCH)
		return NPU_ACCESS_EXECUTE;
	if (unit != NPU_UNIT_STORE || code == NPU_FAULT_SRAM || code == NPU_FAULT_ILLEGAL ||
	    code == NPU_FAULT_DEADLOCK)
		return NPU_ACCESS_READ;
	return NPU_ACCESS_WRITE;
}

/* Notes the program's fault, and is false, which ends what calls it. */
static bool fault(struct core *c, uint8_t code, uint8_t unit, uint32_t insn, uint64_t va)
{
	c->result->fault_code = code;
	c->result->fault_unit = unit;
	c->result->fault_access = access_of(code, unit);
	c->result->insn = insn;
	c->result->fault_va = va;
	return false;
}

static bool read_memory(struct core *c, uint64_t va, void *buf, uint32_t len, uint8_t access,
			uint8_t unit, uint32_t insn)
{
	const struct oracle_memory *memory = &c->program->memory;
	uint64_t bad = 0;
	uint8_t code = memory->read(memory->opaque, va, buf, len, access, &bad);

	if (!code) {
		c->result->bytes_read += len;
		return true;
	}
	return fault(c, code, unit, insn, bad);
}

static bool write_memory(struct core *c, uint64_t va, const void *buf, uint32_t len, uint32_t insn)
{
	const struct oracle_memory *memory = &c->program->memory;
	uint64_t bad = 0;
	uint8_t code = memory->write(memory->opaque, va, buf, len, &bad);

	if (!code) {
		c->result->bytes_written += len;
		return true;
	}
	return fault(c, code, NPU_UNIT_STORE, insn, bad);
}

/* Section "Program": which unit an instruction goes to. */
static unsigned int unit_of(const struct word *w)
{
	uint64_t memory = bits(w, 9, 7);

	if (opcode(w) == 0)
		return memory == INP || memory == WGT ? LOAD : COMPUTE;
	if (opcode(w) == 1)
		return STORE;
	if (opcode(w) == 5 && ext_op(w) == 2 && !bits(w, 7, 7))
		return LOAD;
	return COMPUTE;
}

static bool fetch_regions(struct core *c)
{
	const struct oracle_program *p = c->program;
	uint8_t table[24 * 16];

	if (!p->region_count)
		return true;
	if (!read_memory(c, p->region_va, table, p->region_count * 16, NPU_ACCESS_READ,
			 NPU_UNIT_REGION, 0))
		return false;
	for (uint32_t i = 0; i < p->region_count; i++) {
		c->region[i].base = little_endian(table + i * 16, 8);
		c->region[i].limit = little_endian(table + i * 16 + 8, 8);
		if (c->region[i].base % 64)
			return fault(c, NPU_FAULT_ALIGNMENT, NPU_UNIT_REGION, 0, c->region[i].base);
	}
	return true;
}

static bool fetch_word(struct core *c, uint32_t insn, struct word *w)
{
	uint8_t bytes[16];

	if (!read_memory(c, c->program->insn_va + 16 * (uint64_t)insn, bytes, 16,
			 NPU_ACCESS_EXECUTE, NPU_UNIT_FETCH, insn))
		return false;
	w->low = little_endian(bytes, 8);
	w->high = little_endian(bytes + 8, 8);
	return true;
}

/* An instruction that was fetched before; it cannot fail again or be counted. */
static struct word word_at(struct core *c, uint32_t insn)
{
	uint64_t counted = c->result->bytes_read;
	struct word w = { 0, 0 };

	fetch_word(c, insn, &w);
	c->result->bytes_read = counted;
	return w;
}

/*
 * Region and address of a row; section "Addresses". False is a fault.
 */
static bool select_region(struct core *c, const struct word *w, uint32_t insn, uint64_t *base,
			  uint64_t *limit)
{
	uint32_t selector = (uint32_t)bits(w, 63, 60), memory = (uint32_t)bits(w, 9, 7);
	uint32_t entries = c->program->region_count;
	uint32_t entry = selector;

	if (selector) {
		if (selector >= (entries < 16 ? entries : 16))
			return fault(c, NPU_FAULT_SELECTOR, unit_name(unit_of(w)), insn, selector);
	} else if (!entries) {
		*base = 0;
		*limit = UINT64_C(1) << 38;
		return true;
	} else if (entries > 16 + memory) {
		entry = 16 + memory;
	}
	*base = c->region[entry].base;
	*limit = c->region[entry].limit;
	return true;
}

static bool row_address(struct core *c, const struct word *w, uint32_t insn, uint64_t y,
			uint32_t element_bytes, uint64_t *va)
{
	uint64_t offset = (bits(w, 57, 26) + y * bits(w, 111, 96)) * element_bytes;
	uint64_t length = bits(w, 95, 80) * element_bytes;
	uint64_t base, limit;

	if (!select_region(c, w, insn, &base, &limit))
		return false;
	*va = base + offset;
	if (offset + length > limit)
		return fault(c, NPU_FAULT_REGION, unit_name(unit_of(w)), insn, *va);
	if (base > UINT64_MAX - (offset + length - 1))
		return fault(c, NPU_FAULT_ADDRESS, unit_name(unit_of(w)), insn, *va);
	return true;
}

static uint32_t depth_of(uint32_t memory)
{
	return memory == UOP ? UOPS : memory == WGT ? WGTS : memory == INP ? INPS : ACCS;
}

static uint32_t element_bytes_of(uint32_t memory)
{
	switch (memory) {
	case UOP:
		return 4;
	case WGT:
		return 256;
	case ACC:
		return 64;
	default:
		return 16;
	}
}

static void fill_element(struct core *c, uint32_t memory, uint32_t s, int32_t value)
{
	switch (memory) {
	case UOP:
		c->uop[s] = (uint32_t)value;
		c->uop_valid[s] = true;
		break;
	case WGT:
		memset(c->wgt[s], value & 255, sizeof(c->wgt[s]));
		c->wgt_valid[s] = true;
		break;
	case INP:
		memset(c->inp[s], value & 255, sizeof(c->inp[s]));
		c->inp_valid[s] = true;
		break;
	default:
		for (int o = 0; o < LANES; o++)
			c->acc[s][o] = value;
		c->acc_valid[s] = true;
		break;
	}
}

static void load_element(struct core *c, uint32_t memory, uint32_t s, const uint8_t *p)
{
	fill_element(c, memory, s, 0);
	for (int o = 0; o < LANES; o++) {
		if (memory == INP)
			c->inp[s][o] = (int8_t)p[o];
		else if (memory == ACC8)
			c->acc[s][o] = (int8_t)p[o];
		else if (memory == ACC)
			c->acc[s][o] = (int32_t)little_endian(p + 4 * o, 4);
		else if (memory == WGT)
			for (int i = 0; i < LANES; i++)
				c->wgt[s][o][i] = (int8_t)p[LANES * o + i];
	}
	if (memory == UOP)
		c->uop[s] = (uint32_t)little_endian(p, 4);
}

static bool load_row(struct core *c, const struct word *w, uint32_t insn, uint64_t y, uint32_t s)
{
	uint32_t memory = (uint32_t)bits(w, 9, 7);
	uint32_t size = element_bytes_of(memory), x_size = (uint32_t)bits(w, 95, 80);
	uint64_t va;

	if (!row_address(c, w, insn, y, size, &va) ||
	    !read_memory(c, va, c->row, x_size * size, NPU_ACCESS_READ, unit_name(unit_of(w)),
			 insn))
		return false;
	for (uint32_t x = 0; x < x_size; x++)
		load_element(c, memory, s + x, c->row + (size_t)x * size);
	return true;
}

static bool check_load(struct core *c, const struct word *w, uint32_t insn)
{
	uint64_t memory = bits(w, 9, 7), mode = bits(w, 59, 58);
	uint8_t unit = unit_name(unit_of(w));

	if (memory == OUT || memory > ACC8)
		return fault(c, NPU_FAULT_ILLEGAL, unit, insn, 0);
	if (!bits(w, 95, 80))
		return true;
	if (mode > 1 || (mode == 1 && memory == UOP) ||
	    (mode == 1 && !(c->program->features & NPU_HW_FEATURE_PAD_VALUE)))
		return fault(c, NPU_FAULT_ILLEGAL, unit, insn, 0);
	return true;
}

static bool load(struct core *c, const struct word *w, uint32_t insn)
{
	uint32_t memory = (uint32_t)bits(w, 9, 7), s = (uint32_t)bits(w, 25, 10);
	uint64_t y_size = bits(w, 79, 64), x_size = bits(w, 95, 80);
	uint64_t y_pad_0 = bits(w, 115, 112), y_pad_1 = bits(w, 119, 116);
	uint64_t x_pad_0 = bits(w, 123, 120), x_pad_1 = bits(w, 127, 124);
	uint64_t row = x_pad_0 + x_size + x_pad_1;
	int32_t value = bits(w, 59, 58) ? c->pad_value[unit_of(w)] : 0;

	if (!check_load(c, w, insn))
		return false;
	if (!x_size)
		return true;
	if (s + (y_pad_0 + y_size + y_pad_1) * row > depth_of(memory))
		return fault(c, NPU_FAULT_SRAM, unit_name(unit_of(w)), insn, depth_of(memory));
	for (uint64_t i = 0; i < y_pad_0 * row; i++)
		fill_element(c, memory, s++, value);
	for (uint64_t y = 0; y < y_size; y++) {
		for (uint64_t i = 0; i < x_pad_0; i++)
			fill_element(c, memory, s++, value);
		if (!load_row(c, w, insn, y, s))
			return false;
		s += (uint32_t)x_size;
		for (uint64_t i = 0; i < x_pad_1; i++)
			fill_element(c, memory, s++, value);
	}
	for (uint64_t i = 0; i < y_pad_1 * row; i++)
		fill_element(c, memory, s++, value);
	return true;
}

static int32_t acc_lane(const struct core *c, uint32_t index, int o)
{
	return c->acc_valid[index] ? c->acc[index][o] : 0;
}

static bool store(struct core *c, const struct word *w, uint32_t insn)
{
	uint32_t s = (uint32_t)bits(w, 25, 10);
	uint64_t y_size = bits(w, 79, 64), x_size = bits(w, 95, 80), va;
	uint8_t lanes[LANES];

	if (bits(w, 9, 7) != OUT || bits(w, 127, 112) || bits(w, 59, 58))
		return fault(c, NPU_FAULT_ILLEGAL, NPU_UNIT_STORE, insn, 0);
	if (!x_size)
		return true;
	if (s + y_size * x_size > ACCS)
		return fault(c, NPU_FAULT_SRAM, NPU_UNIT_STORE, insn, ACCS);
	for (uint64_t y = 0; y < y_size; y++) {
		if (!row_address(c, w, insn, y, LANES, &va))
			return false;
		for (uint64_t x = 0; x < x_size; x++, s++) {
			for (int o = 0; o < LANES; o++)
				lanes[o] = acc_lane(c, s, o) & 255;
			if (!write_memory(c, va + x * LANES, lanes, LANES, insn))
				return false;
		}
	}
	return true;
}

/* The indices of one pass of the innermost loop. */
struct pass {
	uint64_t dst;
	uint64_t src;
	uint64_t wgt;
};

typedef bool (*body)(struct core *c, const struct word *w, uint32_t insn, const struct pass *p);

/* The loops that GEMM, ALU, REQUANT, VMAC and LUT share. */
static bool loops(struct core *c, const struct word *w, uint32_t insn, uint64_t wgt_out,
		  uint64_t wgt_in, body run)
{
	uint64_t begin = bits(w, 20, 8), end = bits(w, 34, 21);

	if (end > UOPS)
		return fault(c, NPU_FAULT_SRAM, NPU_UNIT_COMPUTE, insn, end);
	if (end <= begin)
		return true;
	for (uint64_t i = 0; i < bits(w, 48, 35); i++) {
		for (uint64_t j = 0; j < bits(w, 62, 49); j++) {
			for (uint64_t u = begin; u < end; u++) {
				uint32_t uop = c->uop_valid[u] ? c->uop[u] : 0;
				struct pass p;

				p.dst = (uop & 2047) + i * bits(w, 74, 64) + j * bits(w, 85, 75);
				p.src = (uop >> 11 & 2047) + i * bits(w, 96, 86) +
					j * bits(w, 107, 97);
				p.wgt = (uop >> 22) + i * wgt_out + j * wgt_in;
				if (!run(c, w, insn, &p))
					return false;
			}
		}
	}
	return true;
}

static bool in_memory(struct core *c, uint32_t insn, uint64_t index, uint64_t depth)
{
	return index < depth || fault(c, NPU_FAULT_SRAM, NPU_UNIT_COMPUTE, insn, index);
}

/* All lanes of the destination, written together after everything was read. */
static void write_acc(struct core *c, uint64_t d, const int32_t *lanes)
{
	memcpy(c->acc[d], lanes, sizeof(c->acc[d]));
	c->acc_valid[d] = true;
}

static bool gemm_pass(struct core *c, const struct word *w, uint32_t insn, const struct pass *p)
{
	bool reset = bits(w, 7, 7);
	int32_t lanes[LANES] = { 0 };

	if (!in_memory(c, insn, p->dst, ACCS))
		return false;
	if (!reset && !(in_memory(c, insn, p->src, INPS) && in_memory(c, insn, p->wgt, WGTS)))
		return false;
	for (int o = 0; !reset && o < LANES; o++) {
		uint32_t sum = (uint32_t)acc_lane(c, (uint32_t)p->dst, o);

		for (int i = 0; i < LANES; i++)
			if (c->inp_valid[p->src] && c->wgt_valid[p->wgt])
				sum += (uint32_t)(c->inp[p->src][i] * c->wgt[p->wgt][o][i]);
		lanes[o] = (int32_t)sum;
	}
	c->result->macs += reset ? 0 : 256;
	write_acc(c, p->dst, lanes);
	return true;
}

static int32_t shift(int32_t a, int32_t b)
{
	uint32_t amount = (b < 0 ? -(uint32_t)b : (uint32_t)b) & 31;

	if (b < 0)
		return (int32_t)((uint32_t)a << amount);
	/* Division that rounds down: an arithmetic shift without one. */
	return (int32_t)floor(ldexp(a, -(int)amount));
}

static int32_t alu_lane(uint64_t op, int32_t a, int32_t b)
{
	switch (op) {
	case 0:
		return a < b ? a : b;
	case 1:
		return a > b ? a : b;
	case 2:
		return (int32_t)((uint32_t)a + (uint32_t)b);
	case 3:
		return shift(a, b);
	default:
		return (int32_t)(uint32_t)((int64_t)a * b);
	}
}

static bool alu_pass(struct core *c, const struct word *w, uint32_t insn, const struct pass *p)
{
	bool use_imm = bits(w, 111, 111);
	int32_t imm = (int16_t)bits(w, 127, 112);
	int32_t lanes[LANES];

	if (!in_memory(c, insn, p->dst, ACCS) || !(use_imm || in_memory(c, insn, p->src, ACCS)))
		return false;
	for (int o = 0; o < LANES; o++)
		lanes[o] = alu_lane(bits(w, 110, 108), acc_lane(c, (uint32_t)p->dst, o),
				    use_imm ? imm : acc_lane(c, (uint32_t)p->src, o));
	write_acc(c, p->dst, lanes);
	return true;
}

static float scale_of(uint32_t word)
{
	float scale;

	/* A positive normal number below 2^31. */
	if (word < 0x00800000 || word >= 0x4f000000)
		return 0;
	memcpy(&scale, &word, sizeof(scale));
	return scale;
}

static int32_t ten_bits(uint32_t word, int low)
{
	int32_t value = (int32_t)(word >> low & 1023);

	return value < 512 ? value : value - 1024;
}

static int32_t requant_lane(int32_t acc, uint32_t scale, uint32_t bounds, int32_t bias)
{
	int32_t v = (int32_t)((uint32_t)acc + (uint32_t)bias);
	volatile float product = (float)v * scale_of(scale);
	double r = rintf(product);

	if (r > ten_bits(bounds, 20))
		r = ten_bits(bounds, 20);
	if (r < ten_bits(bounds, 10))
		r = ten_bits(bounds, 10);
	return (int32_t)r + ten_bits(bounds, 0);
}

static bool requant_pass(struct core *c, const struct word *w, uint32_t insn, const struct pass *p)
{
	uint32_t d = (uint32_t)p->dst, s = (uint32_t)p->src;
	int32_t lanes[LANES];

	(void)w;
	if (!in_memory(c, insn, p->dst, ACCS))
		return false;
	if (p->src + 2 >= ACCS)
		return fault(c, NPU_FAULT_SRAM, NPU_UNIT_COMPUTE, insn, p->src);
	for (int o = 0; o < LANES; o++)
		lanes[o] = requant_lane(acc_lane(c, d, o), (uint32_t)acc_lane(c, s, o),
					(uint32_t)acc_lane(c, s + 1, o), acc_lane(c, s + 2, o));
	write_acc(c, d, lanes);
	return true;
}

static bool vmac_pass(struct core *c, const struct word *w, uint32_t insn, const struct pass *p)
{
	bool reset = bits(w, 7, 7);
	int32_t lanes[LANES] = { 0 };

	if (!in_memory(c, insn, p->dst, ACCS))
		return false;
	if (!reset && !(in_memory(c, insn, p->src, INPS) && in_memory(c, insn, p->wgt, 16384)))
		return false;
	for (int o = 0; !reset && o < LANES; o++) {
		int32_t a = c->inp_valid[p->src] ? c->inp[p->src][o] : 0;
		int32_t b = c->wgt_valid[p->wgt / 16] ? c->wgt[p->wgt / 16][p->wgt % 16][o] : 0;

		lanes[o] = (int32_t)((uint32_t)acc_lane(c, (uint32_t)p->dst, o) +
				     (uint32_t)(a * b));
	}
	c->result->macs += reset ? 0 : 16;
	write_acc(c, p->dst, lanes);
	return true;
}

static bool lut_pass(struct core *c, const struct word *w, uint32_t insn, const struct pass *p)
{
	uint32_t table = (uint32_t)bits(w, 117, 108);
	int32_t lanes[LANES];

	if (!in_memory(c, insn, p->dst, ACCS) || !in_memory(c, insn, p->src, ACCS))
		return false;
	for (int o = 0; o < LANES; o++) {
		uint32_t i = (uint32_t)acc_lane(c, (uint32_t)p->src, o) & 255;

		lanes[o] = c->wgt_valid[table] ? c->wgt[table][i / 16][i % 16] : 0;
	}
	write_acc(c, p->dst, lanes);
	return true;
}

static void yield(struct core *c)
{
	memset(c->uop_valid, 0, sizeof(c->uop_valid));
	memset(c->inp_valid, 0, sizeof(c->inp_valid));
	memset(c->wgt_valid, 0, sizeof(c->wgt_valid));
	memset(c->acc_valid, 0, sizeof(c->acc_valid));
	memset(c->pad_value, 0, sizeof(c->pad_value));
	memset(c->from_prev, 0, sizeof(c->from_prev));
	memset(c->from_next, 0, sizeof(c->from_next));
	c->behind_yield = false;
}

/* Bits of EXT that a sub-opcode has no field for; see the tables. */
static bool ext_has_unnamed_bits(const struct word *w)
{
	switch (ext_op(w)) {
	case 1:
		return bits(w, 63, 7) || bits(w, 123, 64);
	case 2:
		return bits(w, 31, 8) || bits(w, 123, 64);
	case 3:
		return bits(w, 7, 7) || bits(w, 63, 63) || bits(w, 123, 108);
	case 4:
		return bits(w, 63, 63);
	default:
		return bits(w, 7, 7) || bits(w, 63, 63) || bits(w, 123, 118);
	}
}

static bool ext(struct core *c, const struct word *w, uint32_t insn)
{
	static const uint64_t feature[16] = {
		[1] = NPU_HW_FEATURE_YIELD, [2] = NPU_HW_FEATURE_PAD_VALUE,
		[3] = NPU_HW_FEATURE_REQUANT, [4] = NPU_HW_FEATURE_VMAC, [5] = NPU_HW_FEATURE_LUT,
	};

	if (!(c->program->features & feature[ext_op(w)]) || ext_has_unnamed_bits(w))
		return fault(c, NPU_FAULT_ILLEGAL, unit_name(unit_of(w)), insn, 0);
	switch (ext_op(w)) {
	case 1:
		yield(c);
		return true;
	case 2:
		c->pad_value[unit_of(w)] = (int32_t)bits(w, 63, 32);
		return true;
	case 3:
		return loops(c, w, insn, 0, 0, requant_pass);
	case 4:
		return loops(c, w, insn, bits(w, 115, 108), bits(w, 123, 116), vmac_pass);
	default:
		return loops(c, w, insn, 0, 0, lut_pass);
	}
}

static bool execute(struct core *c, const struct word *w, uint32_t insn)
{
	switch (opcode(w)) {
	case 0:
		return load(c, w, insn);
	case 1:
		return store(c, w, insn);
	case 2:
		return loops(c, w, insn, bits(w, 117, 108), bits(w, 127, 118), gemm_pass);
	case 3:
		c->finished = true;
		return true;
	case 4:
		if (bits(w, 110, 108) > 4)
			break;
		return loops(c, w, insn, 0, 0, alu_pass);
	case 5:
		return ext(c, w, insn);
	}
	return fault(c, NPU_FAULT_ILLEGAL, NPU_UNIT_COMPUTE, insn, 0);
}

static bool faulted(const struct core *c)
{
	return c->result->fault_code != NPU_FAULT_NONE;
}

/* Hands out one instruction; false when none can be. */
static bool hand_out(struct core *c)
{
	uint32_t count = c->program->insn_count, insn = c->next;
	struct queue *q;
	struct word w;

	if (c->behind_yield || insn == count || !fetch_word(c, insn, &w))
		return false;
	q = &c->queue[unit_of(&w)];
	if (q->count - c->done[unit_of(&w)] == QUEUE_DEPTH) {
		c->result->bytes_read -= 16;	/* it is fetched once, and waits */
		return false;
	}
	if ((opcode(&w) == 3) != (insn == count - 1))
		return fault(c, NPU_FAULT_NO_FINISH, NPU_UNIT_FETCH, insn, 0);
	q->insn[(q->first + q->count++) % (QUEUE_DEPTH + 1)] = insn;
	c->behind_yield = is_yield(&w);
	c->next++;
	return true;
}

static bool wants(const struct word *w, unsigned int unit, unsigned int bit)
{
	/* Load has no previous unit, store no next one. */
	if ((unit == LOAD && (bit == 3 || bit == 5)) || (unit == STORE && (bit == 4 || bit == 6)))
		return false;
	return bits(w, bit, bit);
}

static bool give(uint32_t *tokens, bool *given)
{
	if (*tokens == TOKENS_MAX)
		return false;
	(*tokens)++;
	*given = true;
	return true;
}

/* Pushes what can be pushed of the instruction that is done. */
static bool push(struct core *c, unsigned int unit, const struct word *w)
{
	struct queue *q = &c->queue[unit];
	bool prev = wants(w, unit, 5) && !c->pushed_prev[unit];
	bool next = wants(w, unit, 6) && !c->pushed_next[unit];
	bool moved = false;

	if (prev && give(&c->from_next[unit - 1], &c->pushed_prev[unit])) {
		prev = false;
		moved = true;
	}
	if (next && give(&c->from_prev[unit + 1], &c->pushed_next[unit])) {
		next = false;
		moved = true;
	}
	if (prev || next)
		return moved;
	q->first = (q->first + 1) % (QUEUE_DEPTH + 1);
	q->count--;
	c->done[unit] = false;
	return true;
}

static bool neighbours_idle(const struct core *c)
{
	return !c->queue[LOAD].count && !c->queue[STORE].count;
}

/* Lets a unit do something; false when it cannot. */
static bool step(struct core *c, unsigned int unit)
{
	struct queue *q = &c->queue[unit];
	uint32_t insn = q->insn[q->first];
	struct word w;

	if (!q->count)
		return false;
	w = word_at(c, insn);
	if (c->done[unit])
		return push(c, unit, &w);
	if ((wants(&w, unit, 3) && !c->from_prev[unit]) ||
	    (wants(&w, unit, 4) && !c->from_next[unit]) ||
	    (is_yield(&w) && !neighbours_idle(c)))
		return false;
	c->from_prev[unit] -= wants(&w, unit, 3);
	c->from_next[unit] -= wants(&w, unit, 4);
	if (!execute(c, &w, insn))
		return false;
	c->done[unit] = true;
	/* The pushes of a YIELD are ignored. */
	c->pushed_prev[unit] = c->pushed_next[unit] = is_yield(&w);
	push(c, unit, &w);
	return true;
}

static bool all_idle(const struct core *c)
{
	return !c->queue[LOAD].count && !c->queue[COMPUTE].count && !c->queue[STORE].count;
}

static void deadlock(struct core *c)
{
	uint32_t lowest = UINT32_MAX;
	uint8_t unit = NPU_UNIT_NONE;

	for (unsigned int u = 0; u < UNITS; u++) {
		const struct queue *q = &c->queue[u];

		if (q->count && q->insn[q->first] < lowest) {
			lowest = q->insn[q->first];
			unit = unit_name(u);
		}
	}
	fault(c, NPU_FAULT_DEADLOCK, unit, lowest, 0);
}

/* Section "Program": what a core checks at START. */
static bool check_job(struct core *c)
{
	const struct oracle_program *p = c->program;

	if (p->insn_va % 16)
		return fault(c, NPU_FAULT_ALIGNMENT, NPU_UNIT_FETCH, 0, p->insn_va);
	if (!p->insn_count)
		return fault(c, NPU_FAULT_LENGTH, NPU_UNIT_FETCH, 0, 0);
	if (p->region_count && p->region_va % 16)
		return fault(c, NPU_FAULT_ALIGNMENT, NPU_UNIT_REGION, 0, p->region_va);
	if (p->region_count > 24)
		return fault(c, NPU_FAULT_LENGTH, NPU_UNIT_REGION, 0, p->region_count);
	return true;
}

static void run(struct core *c)
{
	if (!check_job(c) || !fetch_regions(c))
		return;
	while (!(c->finished && all_idle(c))) {
		bool moved = hand_out(c);

		for (unsigned int unit = 0; unit < UNITS && !faulted(c); unit++)
			moved |= step(c, unit);
		if (faulted(c))
			return;
		if (!moved) {
			deadlock(c);
			return;
		}
	}
	c->result->insn = c->program->insn_count;
}

int oracle_run(const struct oracle_program *program, struct oracle_result *result)
{
	struct core *c = calloc(1, sizeof(*c));

	if (!c)
		return -ENOMEM;
	memset(result, 0, sizeof(*result));
	c->program = program;
	c->result = result;
	run(c);
	free(c);
	return 0;
}
