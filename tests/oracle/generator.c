// SPDX-License-Identifier: MIT
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "tests/oracle/generate.h"

unsigned int memory_bytes(unsigned int memory)
{
	static const unsigned int bytes[] = {
		[NPU_MEM_UOP] = NPU_UOP_BYTES, [NPU_MEM_WGT] = NPU_WGT_BYTES,
		[NPU_MEM_INP] = NPU_INP_BYTES, [NPU_MEM_ACC] = NPU_ACC_BYTES,
		[NPU_MEM_OUT] = NPU_OUT_BYTES, [NPU_MEM_ACC8] = NPU_OUT_BYTES,
	};

	return bytes[memory];
}

unsigned int memory_depth(unsigned int memory)
{
	static const unsigned int depth[] = {
		[NPU_MEM_UOP] = NPU_UOP_DEPTH, [NPU_MEM_WGT] = NPU_WGT_DEPTH,
		[NPU_MEM_INP] = NPU_INP_DEPTH, [NPU_MEM_ACC] = NPU_ACC_DEPTH,
		[NPU_MEM_OUT] = NPU_ACC_DEPTH, [NPU_MEM_ACC8] = NPU_ACC_DEPTH,
	};

	return depth[memory];
}

unsigned int generator_unit(const struct npu_insn *insn)
{
	switch (npu_insn_unit(insn)) {
	case NPU_UNIT_LOAD:
		return LOAD;
	case NPU_UNIT_STORE:
		return STORE;
	default:
		return COMPUTE;
	}
}

bool generator_region(const struct generator *g, unsigned int selector, unsigned int memory,
		      struct npu_region *region)
{
	unsigned int count = g->out->region_count;

	if (!selector && !count) {
		*region = (struct npu_region){ 0, UINT64_C(1) << NPU_VA_BITS };
		return true;
	}
	if (!selector)
		*region = g->regions[count > NPU_REGION_ENTRIES + memory ?
				     NPU_REGION_ENTRIES + memory : 0];
	else if (selector < count && selector < NPU_REGION_ENTRIES)
		*region = g->regions[selector];
	else
		return false;
	return true;
}

static bool reach(const struct generator *g, unsigned int selector, unsigned int memory,
		  unsigned int segment, struct place *place)
{
	const struct segment *s = &g->out->space.segments[segment];
	unsigned int bytes = memory_bytes(memory);
	struct npu_region region;
	uint64_t end;

	if (!generator_region(g, selector, memory, &region))
		return false;
	end = region.limit > UINT64_MAX - region.base ? UINT64_MAX : region.base + region.limit;
	if (end > s->va + s->size)
		end = s->va + s->size;
	if (end <= region.base)
		return false;
	place->selector = selector;
	place->segment = segment;
	place->base = region.base;
	place->low = s->va > region.base ? (s->va - region.base + bytes - 1) / bytes : 0;
	place->high = (end - region.base) / bytes;
	if (place->high > UINT64_C(1) << 32)
		place->high = UINT64_C(1) << 32;
	return place->low < place->high;
}

bool generator_place(struct generator *g, unsigned int memory, unsigned int first,
		     unsigned int last, struct place *place)
{
	unsigned int found = 0;

	for (unsigned int segment = first; segment <= last; segment++) {
		for (unsigned int selector = 0; selector < NPU_REGION_ENTRIES; selector++) {
			struct place candidate;

			if (reach(g, selector, memory, segment, &candidate) &&
			    !random_below(&g->r, ++found))
				*place = candidate;
		}
	}
	return found;
}

/* Adds an instruction as its unit's next; pending pops come with it. */
bool generator_append(struct generator *g, const struct npu_insn *insn)
{
	unsigned int u = generator_unit(insn);
	struct unit *unit = &g->units[u];

	if (g->count == INSN_MAX)
		return false;
	g->insns[g->count] = *insn;
	npu_insn_add_tokens(&g->insns[g->count], unit->pending);
	unit->pending = (struct npu_tokens){ 0 };
	unit->now.seen[u] = ++unit->issued;
	unit->done = unit->now;
	unit->has_last = true;
	unit->last = g->count++;
	return true;
}

bool generator_mover(struct generator *g, unsigned int u)
{
	static const unsigned int memories[] = { NPU_MEM_INP, NPU_MEM_ACC, NPU_MEM_OUT };
	struct npu_insn insn = {
		.format = NPU_FORMAT_MEM,
		.mem = {
			.opcode = u == STORE ? NPU_OP_STORE : NPU_OP_LOAD,
			.memory = memories[u],
			.sram_base = random_range(&g->r, 0, 65535),
			.region = random_range(&g->r, 0, 15),
			.y_size = random_range(&g->r, 0, 65535),
		},
	};

	/* A LOAD without elements has no field that is checked. */
	if (u != STORE) {
		insn.mem.x_pad_0 = random_range(&g->r, 0, 15);
		insn.mem.pad_mode = random_range(&g->r, 0, 3);
	}
	return generator_append(g, &insn);
}

static bool pops_pending(const struct unit *unit)
{
	return unit->pending.pop_prev || unit->pending.pop_next;
}

static bool pushes(const struct generator *g, unsigned int u, bool next)
{
	struct npu_tokens has = npu_insn_tokens(&g->insns[g->units[u].last]);

	return next ? has.push_next : has.push_prev;
}

/* Unit from gives unit to a token, with what it has done so far behind it. */
static bool push(struct generator *g, unsigned int from, unsigned int to)
{
	struct token_queue *queue = &g->queues[from][to];
	struct unit *unit = &g->units[from];
	struct npu_tokens flag = { .push_prev = to < from, .push_next = to > from };

	if (queue->banned || queue->count == TOKENS_HELD)
		return false;
	if ((pops_pending(unit) || !unit->has_last || pushes(g, from, to > from)) &&
	    !generator_mover(g, from))
		return false;
	npu_insn_add_tokens(&g->insns[unit->last], flag);
	queue->tokens[queue->count++] = unit->done;
	return true;
}

static void join(struct clock *clock, const struct clock *other)
{
	for (unsigned int u = 0; u < UNITS; u++)
		if (clock->seen[u] < other->seen[u])
			clock->seen[u] = other->seen[u];
}

/* The next instruction of unit to takes a token that unit from gave. */
static bool pop(struct generator *g, unsigned int from, unsigned int to)
{
	struct token_queue *queue = &g->queues[from][to];
	struct unit *unit = &g->units[to];
	bool *flag = from < to ? &unit->pending.pop_prev : &unit->pending.pop_next;

	if (!queue->count || queue->banned || (*flag && !generator_mover(g, to)))
		return false;
	*flag = true;
	join(&unit->now, &queue->tokens[0]);
	memmove(queue->tokens, queue->tokens + 1, --queue->count * sizeof(*queue->tokens));
	return true;
}

/* Unit to learns that instruction needed of its neighbour from is over. */
static bool order_neighbours(struct generator *g, unsigned int from, unsigned int to,
			     unsigned int of, uint32_t needed)
{
	const struct token_queue *queue = &g->queues[from][to];

	if (g->units[to].now.seen[of] >= needed)
		return true;
	if ((!queue->count || queue->tokens[queue->count - 1].seen[of] < needed) &&
	    !push(g, from, to))
		return false;
	while (g->units[to].now.seen[of] < needed)
		if (!pop(g, from, to))
			return false;
	return true;
}

static bool order(struct generator *g, unsigned int unit, const struct clock *need)
{
	for (unsigned int of = 0; of < UNITS; of++) {
		uint32_t needed = need->seen[of];

		if (of == unit || g->units[unit].now.seen[of] >= needed)
			continue;
		/* Load and store know of each other through compute. */
		if (of != COMPUTE && unit != COMPUTE) {
			if (!order_neighbours(g, of, COMPUTE, of, needed))
				return false;
			/* A token carries what its unit had done: let it do something. */
			if (g->units[COMPUTE].done.seen[of] < needed &&
			    !generator_mover(g, COMPUTE))
				return false;
			if (!order_neighbours(g, COMPUTE, unit, of, needed))
				return false;
		} else if (!order_neighbours(g, of, unit, of, needed)) {
			return false;
		}
	}
	return true;
}

void generator_begin(struct generator *g)
{
	g->touches = 0;
	memset(&g->need, 0, sizeof(g->need));
}

static void need_after(struct generator *g, unsigned int unit, uint32_t insn)
{
	if (g->need.seen[unit] < insn)
		g->need.seen[unit] = insn;
}

void generator_touch(struct generator *g, struct cell *cell, unsigned int unit, bool write)
{
	for (unsigned int u = 0; u < UNITS; u++) {
		if (u == unit)
			continue;
		need_after(g, u, cell->wrote[u]);
		if (write)
			need_after(g, u, cell->read[u]);
	}
	if (g->touches < TOUCH_MAX)
		g->touched[g->touches++] = (struct touch){ cell, write };
}

bool generator_commit(struct generator *g, const struct npu_insn *insn)
{
	unsigned int u = generator_unit(insn);

	/* After a deadlock was planted there may be no token to be had. */
	if (g->touches == TOUCH_MAX ||
	    (!order(g, u, &g->need) && g->out->fault_code != NPU_FAULT_DEADLOCK))
		return false;
	if (!generator_append(g, insn))
		return false;
	for (unsigned int i = 0; i < g->touches; i++) {
		struct cell *cell = g->touched[i].cell;

		if (g->touched[i].write)
			cell->wrote[u] = g->units[u].issued;
		else
			cell->read[u] = g->units[u].issued;
	}
	return true;
}

static void yield(struct generator *g)
{
	const struct npu_insn insn = {
		.format = NPU_FORMAT_YIELD,
		.yield = { .opcode = NPU_OP_EXT, .ext_op = NPU_EXT_YIELD,
			   .push_prev = random_below(&g->r, 2),
			   .push_next = random_below(&g->r, 2) },
	};

	/* The other units' pops must find their tokens before these are dropped. */
	if ((pops_pending(&g->units[LOAD]) && !generator_mover(g, LOAD)) ||
	    (pops_pending(&g->units[STORE]) && !generator_mover(g, STORE)) ||
	    !generator_append(g, &insn))
		return;
	g->out->yields++;
	for (unsigned int u = 0; u < UNITS; u++) {
		g->units[u].has_last = false;
		for (unsigned int v = 0; v < UNITS; v++) {
			g->units[u].now.seen[v] = g->units[v].issued;
			g->queues[u][v].count = 0;
		}
	}
	memset(g->uop, 0, sizeof(g->uop));
}

static void noise(struct generator *g)
{
	unsigned int from = (unsigned int)random_below(&g->r, UNITS);
	unsigned int to = from == COMPUTE ? (random_below(&g->r, 2) ? LOAD : STORE) : COMPUTE;

	if (random_below(&g->r, 2))
		push(g, from, to);
	else
		pop(g, from, to);
}

static bool finish(struct generator *g)
{
	struct npu_insn insn = {
		.format = NPU_FORMAT_FINISH,
		.finish = { .opcode = NPU_OP_FINISH },
	};

	/* They would end a wait that is to last for ever. */
	insn.finish.push_prev = !g->queues[COMPUTE][LOAD].banned && random_below(&g->r, 2);
	insn.finish.push_next = !g->queues[COMPUTE][STORE].banned && random_below(&g->r, 2);
	if (random_below(&g->r, 2))
		insn.unnamed[1] = random_u64(&g->r);
	if (pops_pending(&g->units[LOAD]))
		generator_mover(g, LOAD);
	if (pops_pending(&g->units[STORE]))
		generator_mover(g, STORE);
	if (g->queues[STORE][COMPUTE].count && random_below(&g->r, 2))
		pop(g, STORE, COMPUTE);
	return generator_append(g, &insn);
}

static void choose_style(struct generator *g)
{
	static const unsigned int windows[] = { 4, 16, 64, 512, 8192 };
	struct style *style = &g->style;
	unsigned int window = windows[random_below(&g->r, 5)];

	for (unsigned int memory = NPU_MEM_UOP; memory <= NPU_MEM_OUT; memory++)
		style->window[memory] = window < memory_depth(memory) ? window :
									memory_depth(memory);
	style->memory_window = windows[random_below(&g->r, 5)];
	style->insns = (unsigned int)random_range(&g->r, 1, 60);
	if (random_chance(&g->r, 3))
		style->insns = 300;
	style->noise = random_chance(&g->r, 50) ? 0 : (unsigned int)random_range(&g->r, 1, 60);
	style->yields = random_chance(&g->r, 60) ? 0 : (unsigned int)random_range(&g->r, 1, 10);
	style->passes = random_chance(&g->r, 5) ? 1500 : 60;
}

/* One 64-byte row of memory, of a kind that some instruction finds interesting. */
static void fill_row(struct random *r, uint8_t *row)
{
	static const uint32_t edges[] = { 0, 1, 0xffffffff, 0x7fffffff, 0x80000000, 0x00ffffff,
					  0x01000001, 0xff800000 };
	unsigned int kind = (unsigned int)random_below(r, 6);

	for (unsigned int lane = 0; lane < 16; lane++) {
		uint32_t word = (uint32_t)random_u64(r);

		if (kind == 1)		/* scales of REQUANT from 2^-30 to 2^2 */
			word = (word & 0x7fffff) | (97 + (word >> 24) % 33) << 23;
		else if (kind == 2)	/* its bounds, around a byte */
			word = (word & 0x3f) | 0x380 << 10 | 0x7f << 20;
		else if (kind == 3)
			word = (uint32_t)((int32_t)word >> 12);
		else if (kind == 4)
			word = edges[word % 8];
		for (unsigned int i = 0; i < 4; i++)
			row[lane * 4 + i] = word >> 8 * i & 0xff;
	}
}

static uint32_t random_uop(struct generator *g)
{
	const unsigned int *window = g->style.window;
	struct npu_uop uop;
	uint32_t word = 0;

	if (random_chance(&g->r, 10))
		return (uint32_t)random_u64(&g->r);
	uop.dst = (int64_t)random_below(&g->r, window[NPU_MEM_ACC]);
	uop.src = (int64_t)random_below(&g->r, window[NPU_MEM_ACC]);
	uop.wgt = (int64_t)random_below(&g->r, window[NPU_MEM_WGT]);
	npu_uop_pack(&uop, &word, NULL);
	return word;
}

/* Pages that nothing else has, and that a region with base 0 reaches. */
static uint64_t free_va(struct generator *g, uint64_t size)
{
	uint64_t va;

	do {
		va = random_below(&g->r, UINT64_C(1) << (random_below(&g->r, 2) ? 33 : 25));
		va &= ~(uint64_t)(MEMORY_PAGE - 1);
		/* A page between two segments stays empty. */
	} while (address_space_touches(&g->out->space, va - MEMORY_PAGE,
				       size + 2 * MEMORY_PAGE) || va < MEMORY_PAGE);
	return va;
}

static bool make_segments(struct generator *g)
{
	for (unsigned int i = 0; i < TRACKED_SEGMENTS; i++) {
		struct segment *s = address_space_add(&g->out->space, free_va(g, SEGMENT_BYTES),
						      SEGMENT_BYTES, i == UOP_SEGMENT ? "r" : "rw");

		if (!s)
			return false;
		for (unsigned int at = 0; at < SEGMENT_BYTES; at += 64)
			fill_row(&g->r, s->bytes + at);
		for (unsigned int at = 0; i == UOP_SEGMENT && at < SEGMENT_BYTES; at += 4) {
			uint32_t word = random_uop(g);

			for (unsigned int b = 0; b < 4; b++)
				s->bytes[at + b] = word >> 8 * b & 0xff;
		}
	}
	return true;
}

static struct npu_region random_region(struct generator *g, unsigned int segment)
{
	const struct segment *s = &g->out->space.segments[segment];
	uint64_t below = 64 * random_below(&g->r, s->va / 64), inside;

	switch (random_below(&g->r, 4)) {
	case 0:		/* everything */
		return (struct npu_region){ 0, UINT64_C(1) << NPU_VA_BITS };
	case 1:		/* from before the segment to wherever */
		return (struct npu_region){ s->va - below,
					    random_below(&g->r, 2) ? UINT64_MAX :
					    below + random_below(&g->r, 2 * SEGMENT_BYTES) };
	case 2:		/* the segment */
		return (struct npu_region){ s->va, s->size };
	default:	/* a part of it */
		inside = 64 * random_below(&g->r, SEGMENT_BYTES / 64);
		return (struct npu_region){ s->va + inside,
					    random_range(&g->r, 0, (int64_t)(s->size - inside)) };
	}
}

static void choose_regions(struct generator *g)
{
	static const unsigned int counts[] = { 0, 1, 2, 5, 15, 16, 17, 20, 22, 24 };
	unsigned int count = counts[random_below(&g->r, 10)];

	for (unsigned int i = 0; i < count; i++)
		g->regions[i] = random_region(g, (unsigned int)random_below(&g->r,
									    TRACKED_SEGMENTS));
	/* For a fault: what no address reaches. */
	if (count > 2 && random_chance(&g->r, 30))
		g->regions[1] = (struct npu_region){
			random_below(&g->r, 2) ? UINT64_C(1) << NPU_VA_BITS : UINT64_MAX - 63,
			UINT64_MAX - random_below(&g->r, 2),
		};
	/* Every memory is to be reached somehow. */
	if (count)
		g->regions[count < NPU_REGION_ENTRIES ? count - 1 : 7] =
			(struct npu_region){ 0, UINT64_C(1) << NPU_VA_BITS };
	g->out->region_count = count;
}

static bool put_regions(struct generator *g)
{
	unsigned int count = g->out->region_count;
	struct segment *s;
	uint32_t at;

	if (!count)
		return true;
	s = address_space_add(&g->out->space, free_va(g, MEMORY_PAGE), MEMORY_PAGE, "r");
	if (!s)
		return false;
	at = 16 * (uint32_t)random_below(&g->r, MEMORY_PAGE / 16 - count + 1);
	for (unsigned int i = 0; i < count; i++) {
		for (unsigned int b = 0; b < 8; b++) {
			s->bytes[at + 16 * i + b] = g->regions[i].base >> 8 * b & 0xff;
			s->bytes[at + 16 * i + 8 + b] = g->regions[i].limit >> 8 * b & 0xff;
		}
	}
	g->out->region_va = s->va + at;
	return true;
}

static bool put_code(struct generator *g)
{
	uint32_t bytes = g->count * NPU_INSN_BYTES;
	uint32_t size = (bytes + MEMORY_PAGE - 1) / MEMORY_PAGE * MEMORY_PAGE, at;
	struct segment *s = address_space_add(&g->out->space, free_va(g, size), size,
					      random_below(&g->r, 2) ? "x" : "rx");

	if (!s)
		return false;
	at = (size - bytes) & ~63u;
	at = random_below(&g->r, 2) ? 0 : NPU_INSN_BYTES * (uint32_t)random_below(&g->r, at / 16 + 1);
	for (unsigned int i = 0; i < g->count; i++)
		if (npu_insn_encode(&g->insns[i], s->bytes + at + i * NPU_INSN_BYTES, NULL))
			return false;
	g->out->insn_va = s->va + at;
	g->out->insn_count = g->count;
	generate_late_fault(g, s);
	return true;
}

static void make_insns(struct generator *g)
{
	/* One program in four gets a fault, somewhere. */
	unsigned int fault_at = random_chance(&g->r, 25) ?
		(unsigned int)random_below(&g->r, g->style.insns + 1) : UINT32_MAX;

	for (unsigned int i = 0; i <= g->style.insns; i++) {
		if (i == fault_at)
			generate_fault(g);
		if (g->out->features & NPU_HW_FEATURE_YIELD &&
		    random_chance(&g->r, g->style.yields))
			yield(g);
		if (random_chance(&g->r, g->style.noise))
			noise(g);
		for (int tries = 0; tries < 20 && !generate_insn(g); tries++)
			;
	}
	/* A queue of a unit is 512 deep: now and then fill one. */
	if (random_chance(&g->r, 2))
		for (unsigned int u = (unsigned int)random_below(&g->r, UNITS), i = 0; i < 600; i++)
			generator_mover(g, u);
}

bool generate(struct generated *program, uint64_t seed)
{
	struct generator *g = calloc(1, sizeof(*g));
	bool good;

	memset(program, 0, sizeof(*program));
	if (!g)
		return false;
	program->seed = seed;
	program->features = 0x1f;
	g->out = program;
	g->r.state = seed;
	if (random_chance(&g->r, 10))
		program->features = random_below(&g->r, 32);
	choose_style(g);
	good = make_segments(g);
	if (good) {
		choose_regions(g);
		make_insns(g);
		good = finish(g) && put_regions(g) && put_code(g);
	}
	free(g);
	if (!good)
		generated_free(program);
	return good;
}

void generated_free(struct generated *program)
{
	address_space_free(&program->space);
}

static void print_insn(const struct generated *program, uint32_t i, FILE *out)
{
	struct address_space *space = (struct address_space *)&program->space;
	uint8_t word[NPU_INSN_BYTES];
	char text[NPU_INSN_PRINT_MAX];
	struct npu_insn insn;
	uint64_t bad;

	if (address_space_read(space, program->insn_va + (uint64_t)i * NPU_INSN_BYTES, word,
			       sizeof(word), NPU_ACCESS_EXECUTE, &bad)) {
		fprintf(out, "# %5" PRIu32 "  cannot be fetched\n", i);
		return;
	}
	npu_insn_decode(word, &insn);
	npu_insn_print(&insn, text, sizeof(text));
	fprintf(out, "# %5" PRIu32 "  %s\n", i, text);
}

void generated_print(const struct generated *program, FILE *out)
{
	struct address_space *space = (struct address_space *)&program->space;
	uint64_t region[2], bad;

	fprintf(out, "# seed %" PRIu64 ": features 0x%" PRIx64 ", %" PRIu32 " instructions at 0x%"
		PRIx64 ", planted: fault %u of unit %u at %" PRIu32 "\n", program->seed,
		program->features, program->insn_count, program->insn_va, program->fault_code,
		program->fault_unit, program->fault_insn);
	for (unsigned int i = 0; i < space->count; i++) {
		const struct segment *s = &space->segments[i];

		fprintf(out, "# segment 0x%" PRIx64 " to 0x%" PRIx64 " %s%s%s\n", s->va,
			s->va + s->size, s->readable ? "r" : "", s->writable ? "w" : "",
			s->executable ? "x" : "");
	}
	for (uint32_t i = 0; i < program->region_count; i++)
		if (!address_space_read(space, program->region_va + 16 * (uint64_t)i, region, 16,
					NPU_ACCESS_READ, &bad))
			fprintf(out, "# region %" PRIu32 ": base 0x%" PRIx64 " limit 0x%" PRIx64
				"\n", i, region[0], region[1]);
	for (uint32_t i = 0; i < program->insn_count; i++)
		print_insn(program, i, out);
}
