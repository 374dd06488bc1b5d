// SPDX-License-Identifier: MIT
/*
 * What the hardware manual promises, asked of the device by a driver that knows
 * the manual alone. Every instruction was encoded by hand from its tables.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <math.h>
#include <cmocka.h>

#include "firmware/model/npu_model.h"
#include "tests/unit/manual_driver.h"

/* ---- a layer of a network ---- */

/* out = clamp(round((max(in x weights - 7, -200) + bias) * scale)) + zero, 4 x 32 by 32 x 16. */
static const struct insn network[] = {
	/* LOAD UOP 0, region 3, one row of 2 */
	{ 0x3000000000000000, 0x0000000200020001 },
	/* LOAD ACC 100, region 3, dram_base 1, one row of 3 */
	{ 0x3000000004019180, 0x0000000300030001 },
	/* LOAD INP 0, region 1, 2 rows of 4, stride 5 */
	{ 0x1000000000000100, 0x0000000500040002 },
	/* LOAD WGT 0, region 2, one row of 2, push_next */
	{ 0x20000000000000c0, 0x0000000200020001 },
	/* GEMM uop 0, 2 x 4, dst +0 +1, src +4 +1, wgt +1 +0, pop_prev */
	{ 0x000800100020000a, 0x0000100201000800 },
	/* ALU ADD -7, uop 0, 1 x 4, dst +0 +1 */
	{ 0x0008000800200004, 0xfff9a00000000800 },
	/* ALU MAX -200, uop 0, 1 x 4, dst +0 +1 */
	{ 0x0008000800200004, 0xff38900000000800 },
	/* EXT REQUANT uop 1, 1 x 4, dst +0 +1, src +0 +0, push_next */
	{ 0x0008000800400145, 0x3000000000000800 },
	/* STORE OUT 0, region 4, dram_base 1, 2 rows of 2, stride 3, pop_prev, push_prev */
	{ 0x4000000004000229, 0x0000000300020002 },
	/* FINISH, pop_next */
	{ 0x0000000000000013, 0x0000000000000000 },
};

#define K		32
#define ROWS		4
#define LANES		16

struct layer {
	int8_t in[ROWS][K], weights[LANES][K];
	float scale[LANES];
	int32_t bias[LANES];
	int8_t out[ROWS][LANES];
};

static int8_t expected(const struct layer *l, int row, int lane)
{
	int32_t v = -7;
	float r;

	for (int k = 0; k < K; k++)
		v += l->in[row][k] * l->weights[lane][k];
	v = (v > -200 ? v : -200) + l->bias[lane];
	r = rintf((float)v * l->scale[lane]);
	return (int8_t)((r < -125 ? -125 : r > 130 ? 130 : (int)r) - 3);
}

static void make_layer(struct layer *l)
{
	for (int r = 0; r < ROWS; r++)
		for (int k = 0; k < K; k++)
			l->in[r][k] = (int8_t)(r * 37 + k * 11 - 128);
	for (int o = 0; o < LANES; o++) {
		l->scale[o] = 0.0011f * (float)(o + 1);
		l->bias[o] = 300 * (o - 8);
		for (int k = 0; k < K; k++)
			l->weights[o][k] = (int8_t)(o * 29 - k * 17 + 5);
	}
	for (int r = 0; r < ROWS; r++)
		for (int o = 0; o < LANES; o++)
			l->out[r][o] = expected(l, r, o);
}

/* The layout of the SRAMs: blocks of 16 channels, input rows five elements apart. */
static void write_layer(struct npu *d, const struct layer *l)
{
	for (int b = 0; b < K / LANES; b++) {
		for (int r = 0; r < ROWS; r++)
			memcpy(d->mem + M_INPUT + (b * 5 + r) * 16, l->in[r] + b * LANES, LANES);
		for (int o = 0; o < LANES; o++)
			memcpy(d->mem + M_WEIGHTS + b * 256 + o * 16, l->weights[o] + b * LANES,
			       LANES);
	}
	put(d->mem + M_PARAMS, 4, 0);
	put(d->mem + M_PARAMS + 4, 4, 100u << 11);
	for (int o = 0; o < LANES; o++) {
		uint32_t bits;

		memcpy(&bits, &l->scale[o], 4);
		put(d->mem + M_PARAMS + 64 + o * 4, 4, bits);
		put(d->mem + M_PARAMS + 128 + o * 4, 4, 0x082e0ffd);
		put(d->mem + M_PARAMS + 192 + o * 4, 4, (uint32_t)l->bias[o]);
	}
}

/* STORE left two rows of two elements, three apart, from the second element on. */
static void check_output(struct npu *d, const struct layer *l)
{
	static const int place[ROWS] = { 1, 2, 4, 5 };

	for (int r = 0; r < ROWS; r++)
		assert_memory_equal(d->mem + M_OUTPUT + place[r] * 16, l->out[r], LANES);
	for (int i = 0; i < LANES; i++) {
		assert_int_equal(d->mem[M_OUTPUT + i], 0);
		assert_int_equal(d->mem[M_OUTPUT + 3 * 16 + i], 0);
		assert_int_equal(d->mem[M_OUTPUT + 6 * 16 + i], 0);
	}
}

/* ---- what the manual promises ---- */

static void test_identity(void **state)
{
	struct npu *d = *state;
	uint64_t time;

	assert_int_equal(rd(d, R_MAGIC), MAGIC);
	assert_int_equal(rd(d, R_DEVICE), DEVICE);
	assert_int_equal(rd(d, R_CONFIG0), 0x4403533);
	assert_int_equal(rd(d, R_CONFIG1), 0x11120f0f);
	assert_int_equal(rd(d, R_CP_ENTRY), TCM_BASE);
	assert_int_equal(rd(d, R_CP_STATUS), 0);
	assert_int_equal(rd(d, R_BOOT_STATE), 0);
	assert_int_equal(rd(d, R_ADDRESS) >> 8 & 0xff, 38);
	assert_in_range(rd(d, R_TOPOLOGY) & 0xff, 1, 16);
	assert_in_range(rd(d, R_TOPOLOGY) >> 8 & 0xff, QUEUE, 255);
	assert_in_range(rd(d, R_TOPOLOGY) >> 16 & 0xff, CQ + 1, 32);
	assert_in_range(rd(d, R_CONTEXTS), CONTEXT + 1, 0x400);
	time = rd(d, R_TIME_LO);
	time |= (uint64_t)rd(d, R_TIME_HI) << 32;
	assert_int_equal(time, 0);
	/* Not listed, misaligned, read only, and a wrong key. */
	assert_int_equal(rd(d, 0x034), 0);
	assert_int_equal(rd(d, 0x002), 0);
	wr(d, R_MAGIC, 1);
	assert_int_equal(rd(d, R_MAGIC), MAGIC);
	wr(d, R_CP_ENTRY, TCM_BASE + 4);
	wr(d, R_RESET, 1);
	assert_int_equal(rd(d, R_CP_ENTRY), TCM_BASE + 4);
	reset(d);
	assert_int_equal(rd(d, R_CP_ENTRY), TCM_BASE);
}

static void test_boot(void **state)
{
	struct npu *d = *state;
	uint64_t pong;

	reset(d);
	load_image(d);
	assert_int_not_equal(rd(d, TCM_WINDOW), 0);
	assert_int_equal(start(d, 1, 7), BOOT_READY);
	assert_int_equal(rd(d, TCM_WINDOW), 0);
	assert_int_equal(rd(d, R_FW_PROTO), 1);
	assert_int_equal(rd(d, R_FW_PROTO_RANGE), 1 | 1 << 16);
	assert_int_not_equal(rd(d, R_FW_VERSION), 0);
	assert_int_equal(rd(d, R_BOOT_ERROR), 0);
	assert_int_equal(rd(d, R_CP_STATUS) & 5, 1);
	assert_int_equal(d->vectors, 1);
	assert_int_equal(rd(d, R_IRQ_STATUS), 1);
	wr(d, R_IRQ_STATUS, 1);
	assert_int_equal(rd(d, R_IRQ_STATUS), 0);
	/* More than the rings hold, so that the phase changes. */
	for (uint32_t i = 0; i < 3u << LOG_RING; i++) {
		assert_int_equal(admin(d, &(struct admin){ .op = OP_PING, .arg0 = i }, &pong),
				 ADMIN_OK);
		assert_int_equal(pong, i);
	}
	assert_int_equal(rd(d, R_IRQ_STATUS), 1);
}

static void test_versions_that_do_not_meet(void **state)
{
	struct npu *d = *state;

	reset(d);
	load_image(d);
	assert_int_equal(start(d, 2, 9), BOOT_FAILED);
	assert_int_equal(rd(d, R_BOOT_ERROR) & 0xff, BOOT_ERROR_PROTO);
	assert_int_equal(rd(d, R_FW_PROTO_RANGE), 1 | 1 << 16);
	assert_int_equal(rd(d, R_FW_PROTO), 0);
	assert_int_equal(d->vectors, 1);
}

static void test_boot_after_a_failure(void **state)
{
	struct npu *d = *state;

	reset(d);
	load_image(d);
	assert_int_equal(start(d, 2, 9), BOOT_FAILED);
	reset(d);
	assert_int_equal(rd(d, R_BOOT_STATE), 0);
	load_image(d);
	assert_int_equal(start(d, 1, 1), BOOT_READY);
	assert_int_equal(ADMIN(d, .op = OP_PING), ADMIN_OK);
}

/* That @a is refused for the field at byte @at. */
static void refused(struct npu *d, const struct admin *a, uint64_t at)
{
	uint64_t found;

	assert_int_equal(admin(d, a, &found), ADMIN_BAD_FIELD);
	assert_int_equal(found, at);
}

#define REFUSED(d, at, ...)	refused(d, &(struct admin){ __VA_ARGS__ }, at)

static void test_refusals(void **state)
{
	struct npu *d = *state;

	assert_int_equal(ADMIN(d, .op = 99), ADMIN_BAD_OP);
	REFUSED(d, 24, .op = OP_PING, .size = 1);
	assert_int_equal(ADMIN(d, .op = OP_CQ_CREATE, .cq = CQ, .vector = 1,
			       .log_size = LOG_RING, .address = BUS + M_CQ), ADMIN_EXISTS);
	REFUSED(d, 2, .op = OP_CQ_CREATE, .cq = CQ + 1, .vector = 1, .log_size = 11,
		.address = BUS + M_OTHER);
	assert_int_equal(ADMIN(d, .op = OP_CQ_DESTROY, .cq = CQ), ADMIN_BUSY);
	assert_int_equal(ADMIN(d, .op = OP_CQ_DESTROY, .cq = CQ + 1), ADMIN_NOT_FOUND);
	assert_int_equal(ADMIN(d, .op = OP_QUEUE_DESTROY, .queue = QUEUE + 1), ADMIN_NOT_FOUND);
	assert_int_equal(ADMIN(d, .op = OP_ABORT, .queue = QUEUE, .arg0 = 12345),
			 ADMIN_NOT_FOUND);
	REFUSED(d, 16, .op = OP_TELEMETRY, .address = BUS + M_SCRATCH + 4);
	REFUSED(d, 16, .op = OP_LOG, .address = BUS + M_SCRATCH + 4);
	REFUSED(d, 12, .op = OP_QUEUE_CREATE, .queue = QUEUE + 1, .cq = CQ, .log_size = LOG_RING,
		.address = BUS + M_OTHER, .limit = 1, .core_mask = 1);
}

static void check_report(struct npu *d, const struct completion *c)
{
	const uint8_t *r = d->mem + M_REPORT;

	assert_int_equal(get(r, 2), c->status);
	assert_int_equal(r[2], c->code);
	assert_int_equal(r[3], c->core);
	assert_int_equal(get(r + 4, 4), c->insn);
	assert_int_equal(get(r + 8, 8), c->va);
	assert_true(get(r + 24, 8) >= get(r + 16, 8) + c->cycles);
	assert_int_equal(get(r + 32, 8), c->cycles);
	assert_int_equal(get(r + 40, 8), c->macs);
	assert_int_equal(get(r + 48, 8), c->read);
	assert_int_equal(get(r + 56, 8), c->written);
	assert_int_equal(r[120], c->unit);
	assert_int_equal(r[121], c->access);
	assert_int_equal(get(r + 122, 2), CONTEXT);
	assert_int_equal(get(r + 124, 4), 0);
}

/*
 * The cycles follow from timing.rst. The table of regions arrives in 28, the
 * lines of the program in 36, 44 and 57 (it waits for the port behind the rows
 * of the first LOADs). Micro-ops are there in 45, parameters in 81, inputs in
 * 89. The port is idle then, so the 64 beats of weights last from 106 to 170.
 * GEMM (6 + 8) ends in 184, ALU (6 + 4) in 194 and 204, REQUANT (8 + 4) in 216.
 * STORE moves its rows from 217 to 225, is acknowledged in 241, FINISH in 242.
 */
static void test_network(void **state)
{
	struct npu *d = *state;
	struct layer l;
	struct completion c;
	const uint8_t *r = d->mem + M_REPORT;

	assert_true(rd(d, R_FEATURES_LO) & FEATURE_REQUANT);
	make_layer(&l);
	write_layer(d, &l);
	c = RUN(d, network);
	assert_int_equal(c.status, JOB_OK);
	check_output(d, &l);
	assert_int_equal(c.code, FAULT_NONE);
	assert_int_equal(c.insn, 10);
	assert_int_equal(c.macs, K * ROWS * LANES);
	assert_int_equal(c.read, REGIONS * 16 + sizeof(network) + 8 + 192 + ROWS * K + 512);
	assert_int_equal(c.written, ROWS * LANES);
	check_report(d, &c);
	assert_int_equal(rd(d, R_IRQ_STATUS) >> 1, 1);
	if (!REFERENCE_TIMING)
		return;
	assert_int_equal(c.cycles, 242);
	assert_int_equal(get(r + 64, 8), 131);	/* busy: load */
	assert_int_equal(get(r + 72, 8), 91);	/* compute */
	assert_int_equal(get(r + 80, 8), 25);	/* store */
	assert_int_equal(get(r + 88, 8), 0);	/* stalled: load */
	assert_int_equal(get(r + 96, 8), 89);	/* compute, for load */
	assert_int_equal(get(r + 104, 8), 25);	/* compute, for store */
	assert_int_equal(get(r + 112, 8), 158);	/* store, from the cycle after its hand-out */
}

/* The two examples of timing.rst. */
static struct completion run_without_regions(struct npu *d, const struct insn *code, uint32_t count)
{
	struct completion c;

	write_code(d, code, count);
	submit(d, &(struct job){ .op = JOB_RUN, .insn = VA + M_CODE, .insn_count = count,
				 .report = VA + M_REPORT });
	c = completion(d);
	assert_int_equal(c.status, JOB_OK);
	assert_int_equal(c.insn, count);
	check_report(d, &c);
	return c;
}

static void test_finish(void **state)
{
	static const struct insn finish[] = { FINISH };
	struct npu *d = *state;
	struct completion c = run_without_regions(d, finish, 1);

	assert_int_equal(c.read, 16);
	if (!REFERENCE_TIMING)
		return;
	assert_int_equal(c.cycles, 20);
	assert_int_equal(get(d->mem + M_REPORT + 72, 8), 1);
}

/* Selector 0 without a table is the whole space from 0, whose first page is mapped here. */
static void test_padded_load(void **state)
{
	/* LOAD INP 0, selector 0, 2 rows of 3, stride 3, x_pad_0 1 */
	static const struct insn load[] = { { 0x0000000000000100, 0x0100000300030002 }, FINISH };
	struct npu *d = *state;
	uint8_t *root = d->mem + M_TABLES, *middle = root + 3 * PAGE;
	struct completion c;

	memset(middle, 0, 2 * PAGE);
	put(root, 8, (BUS + M_TABLES + 3 * PAGE) >> 12 << 10 | PTE_V);
	put(middle, 8, (BUS + M_TABLES + 4 * PAGE) >> 12 << 10 | PTE_V);
	put(middle + PAGE, 8, (BUS + M_INPUT) >> 12 << 10 | PTE_V | PTE_R | PTE_U);
	c = run_without_regions(d, load, 2);
	assert_int_equal(c.read, 32 + 96);
	if (!REFERENCE_TIMING)
		return;
	assert_int_equal(c.cycles, 52);
	assert_int_equal(get(d->mem + M_REPORT + 64, 8), 31);
}

struct fault {
	const char *what;
	struct insn insn;
	uint32_t code, unit, access;
	uint64_t va;
};

static const struct fault faults[] = {
	{ "a hole", { 0x5000000000000100, 0x0000000100010001 },
	  FAULT_UNMAPPED, UNIT_LOAD, ACCESS_READ, VA + M_HOLE },
	{ "a page that may only be read", { 0x1000000000000201, 0x0000000100010001 },
	  FAULT_PERMISSION, UNIT_STORE, ACCESS_WRITE, VA + M_INPUT },
	{ "a row behind the limit", { 0x1000000400000100, 0x0000000100010001 },
	  FAULT_REGION, UNIT_LOAD, ACCESS_READ, VA + M_INPUT + PAGE },
	{ "a selector that the table has not", { 0x6000000000000100, 0x0000000100010001 },
	  FAULT_SELECTOR, UNIT_LOAD, ACCESS_READ, 6 },
	{ "an element behind the SRAM", { 0x10000000001ffd00, 0x0000000200020001 },
	  FAULT_SRAM, UNIT_LOAD, ACCESS_READ, 2048 },
	{ "a store of inputs", { 0x4000000000000101, 0x0000000100010001 },
	  FAULT_ILLEGAL, UNIT_STORE, ACCESS_READ, 0 },
	{ "a reserved opcode", { 0x0000000000000007, 0 },
	  FAULT_ILLEGAL, UNIT_COMPUTE, ACCESS_READ, 0 },
	{ "a token that nobody pushes", { 0x000200080020000a, 0 },
	  FAULT_DEADLOCK, UNIT_COMPUTE, ACCESS_READ, 0 },
	{ "FINISH before the end", FINISH, FAULT_NO_FINISH, UNIT_FETCH, ACCESS_EXECUTE, 0 },
};

static void check_fault(struct npu *d, const struct completion *c, const struct fault *f)
{
	uint8_t e[ENTRY];

	assert_int_equal(c->status, JOB_FAULT);
	assert_int_equal(c->code, f->code);
	assert_int_equal(c->unit, f->unit);
	assert_int_equal(c->access, f->access);
	assert_int_equal(c->insn, 0);
	assert_int_equal(c->va, f->va);
	check_report(d, c);
	take(d, &d->events, e);
	assert_int_equal(get(e, 2), EVENT_FAULT);
	assert_int_equal(get(e + 2, 2), QUEUE);
	assert_int_equal(get(e + 4, 2), CONTEXT);
	assert_int_equal(e[6], f->code);
	assert_int_equal(e[7], f->unit);
	assert_int_equal(get(e + 8, 4), c->cmd);
	assert_int_equal(get(e + 12, 4), 0);
	assert_int_equal(get(e + 16, 8), f->va);
	assert_int_equal(e[32], f->access);
	assert_int_equal(get(e + 60, 4) & 2, 2);
	put(d->events.base + (d->events.count - 1) % (1u << LOG_RING) * ENTRY + 60, 4, 0);
}

/* More faults than the event ring has entries; the queue goes on after each. */
static void test_faults(void **state)
{
	struct npu *d = *state;

	for (size_t i = 0; i < ARRAY_SIZE(faults); i++) {
		const struct insn code[] = { faults[i].insn, FINISH };
		struct completion c = RUN(d, code);

		print_message("# %s\n", faults[i].what);
		check_fault(d, &c, &faults[i]);
	}
}

/* A row, and a program, that go from a page into a hole; a report that nobody may write. */
static void test_accesses_across_pages(void **state)
{
	/* LOAD INP 0, region 1, dram_base 254, one row of 4 */
	static const struct insn load[] = { { 0x10000003f8000100, 0x0000000400040001 }, FINISH };
	const struct fault row = { .code = FAULT_UNMAPPED, .unit = UNIT_LOAD,
				   .va = VA + M_INPUT + PAGE };
	struct npu *d = *state;
	struct completion c;

	region(d, 1, M_INPUT, 2 * PAGE);
	put(pte(d, VA + M_INPUT + PAGE), 8, 0);
	c = RUN(d, load);
	check_fault(d, &c, &row);
	/* Two LOADs without rows before the end of the page; the next page may only be read. */
	memset(d->mem + M_CODE + PAGE - 32, 0, 32);
	put(d->mem + M_CODE + PAGE - 32, 8, 0x0000000000000100);
	put(d->mem + M_CODE + PAGE - 16, 8, 0x0000000000000100);
	submit(d, &(struct job){ .op = JOB_RUN, .insn = VA + M_CODE + PAGE - 32, .insn_count = 9,
				 .report = VA + M_INPUT });
	c = completion(d);
	assert_int_equal(c.status, JOB_FAULT);
	assert_int_equal(c.code, FAULT_PERMISSION);
	assert_int_equal(c.unit, UNIT_FETCH);
	assert_int_equal(c.access, ACCESS_EXECUTE);
	assert_int_equal(c.insn, 2);
	assert_int_equal(c.va, VA + M_CODE + PAGE);
}

/* What a table entry may be that breaks the profile, and who finds it. */
static void test_page_faults(void **state)
{
	static const struct insn load[] = { { 0x1000000000000100, 0x0000000100010001 }, FINISH };
	static const struct {
		uint64_t entry;
		uint32_t code;
	} entries[] = {
		{ 0xffe, FAULT_UNMAPPED },
		{ (BUS + M_INPUT) >> 2 | PTE_V | PTE_R, FAULT_PERMISSION },
		{ (BUS + M_INPUT) >> 2 | PTE_V | PTE_X | PTE_U, FAULT_PERMISSION },
		{ (BUS + M_INPUT) >> 2 | PTE_V | PTE_W | PTE_U, FAULT_MALFORMED },
		{ (BUS + M_INPUT) >> 2 | PTE_V, FAULT_MALFORMED },
		{ 1ull << 54 | (BUS + M_INPUT) >> 2 | PTE_V | PTE_R | PTE_U, FAULT_MALFORMED },
		{ (BUS + MEM_SIZE) >> 2 | PTE_V | PTE_R | PTE_U, FAULT_BUS },
	};
	struct npu *d = *state;

	for (size_t i = 0; i < ARRAY_SIZE(entries); i++) {
		const struct fault want = { .code = entries[i].code, .unit = UNIT_LOAD,
					    .va = VA + M_INPUT };
		struct completion c;

		put(pte(d, VA + M_INPUT), 8, entries[i].entry);
		assert_int_equal(ADMIN(d, .op = OP_TLB_INVALIDATE, .context = CONTEXT), ADMIN_OK);
		c = RUN(d, load);
		check_fault(d, &c, &want);
	}
}

static void test_refused_jobs(void **state)
{
	static const struct {
		struct job job;
		uint32_t field;
	} jobs[] = {
		{ { .op = 2 }, 0 },
		{ { .op = JOB_RUN, .insn = VA + 8, .insn_count = 1 }, 8 },
		{ { .op = JOB_RUN, .insn = VA }, 16 },
		{ { .op = JOB_RUN, .insn = VA, .insn_count = 1, .region_count = 25 }, 20 },
		{ { .op = JOB_RUN, .insn = VA, .insn_count = 1, .region = VA }, 24 },
		{ { .op = JOB_RUN, .insn = VA, .insn_count = 1, .limit = 0x2540be401 }, 32 },
		{ { .op = JOB_RUN, .insn = VA, .insn_count = 1, .report = VA + 32 }, 40 },
		{ { .op = JOB_NOP, .insn = VA }, 8 },
	};
	struct npu *d = *state;
	struct completion c;

	for (size_t i = 0; i < ARRAY_SIZE(jobs); i++) {
		uint32_t cmd = submit(d, &jobs[i].job);

		c = completion(d);
		assert_int_equal(c.cmd, cmd);
		assert_int_equal(c.status, JOB_INVALID);
		assert_int_equal(c.insn, jobs[i].field);
	}
	submit(d, &(struct job){ .op = JOB_NOP, .report = VA + M_REPORT });
	c = completion(d);
	assert_int_equal(c.status, JOB_OK);
	assert_int_equal(get(d->mem + M_REPORT + 32, 8), 0);
	submit(d, &(struct job){ .op = JOB_NOP, .report = VA + M_INPUT });
	c = completion(d);
	assert_int_equal(c.status, JOB_REPORT_FAULT);
	assert_int_equal(c.code, FAULT_PERMISSION);
	assert_int_equal(c.unit, UNIT_DMA);
	assert_int_equal(c.access, ACCESS_WRITE);
	assert_int_equal(c.va, VA + M_INPUT);
}

/* GEMM with reset, micro-ops 0 to 8190, 16383 x 16383 iterations: 36 minutes at 1 GHz. */
static const struct insn endless[] = { { 0x7ffffffbffe00082, 0 }, FINISH };

static uint32_t submit_endless(struct npu *d, uint64_t limit)
{
	write_code(d, endless, 2);
	return submit(d, &(struct job){ .op = JOB_RUN, .insn = VA + M_CODE, .insn_count = 2,
					.limit = limit, .report = VA + M_REPORT });
}

static void let_it_run(struct npu *d)
{
	for (int i = 0; i < 20; i++)
		assert_true(npu_model_run(d->hw, 1000));
}

static void test_abort(void **state)
{
	struct npu *d = *state;
	uint32_t running = submit_endless(d, 0);
	uint32_t waiting = submit(d, &(struct job){ .op = JOB_NOP });
	struct completion c;

	let_it_run(d);
	assert_false(is_there(&d->cq));
	assert_int_equal(ADMIN(d, .op = OP_ABORT, .queue = QUEUE, .arg0 = waiting), ADMIN_OK);
	assert_false(is_there(&d->cq));
	assert_int_equal(ADMIN(d, .op = OP_ABORT, .queue = QUEUE, .arg0 = running), ADMIN_OK);
	assert_true(is_there(&d->cq));
	c = completion(d);
	assert_int_equal(c.cmd, running);
	assert_int_equal(c.status, JOB_ABORTED);
	assert_int_equal(c.code, FAULT_NONE);
	assert_true(c.cycles > 0);
	check_report(d, &c);
	c = completion(d);
	assert_int_equal(c.cmd, waiting);
	assert_int_equal(c.status, JOB_ABORTED);
	assert_int_equal(ADMIN(d, .op = OP_ABORT, .queue = QUEUE, .arg0 = running),
			 ADMIN_NOT_FOUND);
}

/* Two jobs of one queue at a time; the NOP behind them waits for both. */
static void test_two_cores(void **state)
{
	struct npu *d = *state;
	uint32_t first, second, last;
	struct completion c;

	first = submit_endless(d, 100000);
	second = submit(d, &(struct job){ .op = JOB_RUN, .insn = VA + M_CODE + 16,
					  .insn_count = 1 });
	last = submit(d, &(struct job){ .op = JOB_NOP });
	c = completion(d);
	assert_int_equal(c.cmd, second);
	assert_int_equal(c.status, JOB_OK);
	assert_int_equal(c.core, 1);
	c = completion(d);
	assert_int_equal(c.cmd, first);
	assert_int_equal(c.status, JOB_LIMIT);
	assert_int_equal(c.core, 0);
	assert_int_equal(completion(d).cmd, last);
}

/* A job of a higher priority gets the core at a YIELD of the one that runs, which goes on later. */
static void test_preemption(void **state)
{
	/* GEMM with reset, micro-ops 0 to 8190, 1 x 4 iterations; EXT YIELD */
	static const struct insn step[] = { { 0x0008000bffe00082, 0 },
					    { 0x0000000000000005, 0x1000000000000000 } };
	static const struct insn finish[] = { FINISH };
	struct npu *d = *state;
	struct insn code[201];
	struct ring sq;
	struct completion c;
	uint32_t low, high;

	assert_true(rd(d, R_FEATURES_LO) & FEATURE_YIELD);
	assert_true(rd(d, R_FW_FEATURES) & FW_PREEMPT);
	ring_init(d, &sq, M_SCRATCH, LOG_RING);
	assert_int_equal(ADMIN(d, .op = OP_QUEUE_CREATE, .queue = QUEUE + 1, .cq = CQ,
			       .context = CONTEXT, .log_size = LOG_RING, .priority = 3,
			       .address = BUS + M_SCRATCH, .limit = LIMIT_DEFAULT,
			       .core_mask = 1), ADMIN_OK);
	for (int i = 0; i < 100; i++)
		memcpy(&code[2 * i], step, sizeof(step));
	memcpy(&code[200], finish, sizeof(finish));
	write_code(d, code, 201);
	low = submit(d, &(struct job){ .op = JOB_RUN, .insn = VA + M_CODE, .insn_count = 201,
				       .report = VA + M_REPORT });
	let_it_run(d);
	high = submit_to(d, QUEUE + 1, &sq, &(struct job){ .op = JOB_RUN, .insn_count = 1,
							   .insn = VA + M_CODE + 16 * 200 });
	c = completion(d);
	assert_int_equal(c.cmd, high);
	assert_int_equal(c.queue, QUEUE + 1);
	assert_int_equal(c.status, JOB_OK);
	c = completion(d);
	assert_int_equal(c.cmd, low);
	assert_int_equal(c.queue, QUEUE);
	assert_int_equal(c.status, JOB_OK);
	assert_int_equal(c.insn, 201);
	assert_int_equal(ADMIN(d, .op = OP_TELEMETRY, .address = BUS + M_SCRATCH + PAGE),
			 ADMIN_OK);
	assert_int_equal(get(d->mem + M_SCRATCH + PAGE + 40, 8), 1);
	check_report(d, &c);
}

static void test_limit(void **state)
{
	struct npu *d = *state;
	struct completion c;

	submit_endless(d, 10000);
	c = completion(d);
	assert_int_equal(c.status, JOB_LIMIT);
	assert_in_range(c.cycles, 10000, 10000 + LIMIT_SLACK);
	check_report(d, &c);
}

static void test_context_reset(void **state)
{
	struct npu *d = *state;
	uint32_t running = submit_endless(d, 0);
	uint32_t waiting = submit(d, &(struct job){ .op = JOB_NOP });
	struct completion c;

	let_it_run(d);
	assert_int_equal(ADMIN(d, .op = OP_CONTEXT_SET_ROOT, .context = CONTEXT,
			       .address = BUS + M_TABLES), ADMIN_BUSY);
	assert_int_equal(ADMIN(d, .op = OP_CONTEXT_RESET, .context = CONTEXT), ADMIN_OK);
	c = completion(d);
	assert_int_equal(c.cmd, running);
	assert_int_equal(c.status, JOB_CANCELED);
	c = completion(d);
	assert_int_equal(c.cmd, waiting);
	assert_int_equal(c.status, JOB_CANCELED);
	submit(d, &(struct job){ .op = JOB_NOP });
	assert_int_equal(completion(d).status, JOB_OK);
}

/* LOAD ACC8, region 1, a row of 4, push_next; STORE OUT, region 4, a row of 4, pop_prev. */
static const struct insn copy[] = {
	{ 0x10000000000002c0, 0x0000000400040001 },
	{ 0x4000000000000209, 0x0000000400040001 },
	FINISH,
};

static void test_invalidate(void **state)
{
	struct npu *d = *state;
	struct completion c;

	for (int i = 0; i < 64; i++) {
		d->mem[M_INPUT + i] = (uint8_t)(i * 5 + 1);
		d->mem[M_OTHER + i] = (uint8_t)(i * 7 + 100);
	}
	assert_int_equal(RUN(d, copy).status, JOB_OK);
	assert_memory_equal(d->mem + M_OUTPUT, d->mem + M_INPUT, 64);
	map(d, M_INPUT, M_OTHER, PTE_V | PTE_R | PTE_U);
	assert_int_equal(ADMIN(d, .op = OP_TLB_INVALIDATE, .context = CONTEXT,
			       .address = VA + M_INPUT, .size = PAGE), ADMIN_OK);
	assert_int_equal(RUN(d, copy).status, JOB_OK);
	assert_memory_equal(d->mem + M_OUTPUT, d->mem + M_OTHER, 64);
	put(pte(d, VA + M_INPUT), 8, 0);
	assert_int_equal(ADMIN(d, .op = OP_TLB_INVALIDATE, .context = CONTEXT,
			       .address = VA + M_INPUT, .size = PAGE), ADMIN_OK);
	c = RUN(d, copy);
	assert_int_equal(c.status, JOB_FAULT);
	assert_int_equal(c.code, FAULT_UNMAPPED);
	assert_int_equal(c.unit, UNIT_COMPUTE);
	/* No translation is kept of a fault, so this needs no invalidation. */
	map(d, M_INPUT, M_INPUT, PTE_V | PTE_R | PTE_U);
	assert_int_equal(RUN(d, copy).status, JOB_OK);
	assert_memory_equal(d->mem + M_OUTPUT, d->mem + M_INPUT, 64);
}

/* The ring is filled again and again; a doorbell is written where event_idx asks for it. */
static void test_shadow(void **state)
{
	struct npu *d = *state;
	uint32_t done = 0;

	assert_true(rd(d, R_FW_FEATURES) & FW_SHADOW);
	for (int round = 0; round < 10; round++) {
		for (uint32_t i = 0; i < 1u << LOG_RING; i++)
			submit(d, &(struct job){ .op = JOB_NOP });
		for (uint32_t i = 0; i < 1u << LOG_RING; i++, done++)
			assert_int_equal(completion(d).status, JOB_OK);
	}
	assert_true(d->rung > 0 && d->rung < done);
	while (npu_model_run(d->hw, 1000))
		;
	assert_int_equal(get(d->mem + M_SHADOW + 32, 4), done);
	assert_int_equal(get(d->mem + M_SHADOW + 36, 4), done);
}

/* Vectors that are masked are kept, and signalled when they are not any more. */
static void test_interrupts(void **state)
{
	struct npu *d = *state;

	wr(d, R_IRQ_STATUS, ~0u);
	wr(d, R_IRQ_MASK, 1u << CQ);
	d->vectors = 0;
	submit(d, &(struct job){ .op = JOB_NOP });
	assert_int_equal(completion(d).status, JOB_OK);
	while (npu_model_run(d->hw, 1000))
		;
	assert_int_equal(d->vectors, 0);
	assert_int_equal(rd(d, R_IRQ_STATUS), 1u << CQ);
	wr(d, R_IRQ_MASK, 0);
	assert_int_equal(d->vectors, 1u << CQ);
	/* Again, though nobody has cleared the bit. */
	d->vectors = 0;
	submit(d, &(struct job){ .op = JOB_NOP });
	assert_int_equal(completion(d).status, JOB_OK);
	while (npu_model_run(d->hw, 1000))
		;
	assert_int_equal(d->vectors, 1u << CQ);
}

static void test_impossible_tails(void **state)
{
	struct npu *d = *state;
	uint8_t e[ENTRY];

	submit(d, &(struct job){ .op = JOB_NOP });
	assert_int_equal(completion(d).status, JOB_OK);
	/* An old tail is one that was overtaken. */
	npu_model_doorbell(d->hw, QUEUE, 0);
	submit(d, &(struct job){ .op = JOB_NOP });
	assert_int_equal(completion(d).status, JOB_OK);
	npu_model_doorbell(d->hw, QUEUE, d->sq.count + (1u << LOG_RING) + 1);
	take(d, &d->events, e);
	assert_int_equal(get(e, 2), EVENT_RING_FAULT);
	assert_int_equal(get(e + 2, 2), QUEUE);
	assert_int_equal(e[6], FAULT_LENGTH);
	assert_int_equal(e[7], UNIT_DMA);
	assert_int_equal(get(e + 16, 8), d->sq.count + (1u << LOG_RING) + 1);
	submit(d, &(struct job){ .op = JOB_NOP });
	while (npu_model_run(d->hw, 1000))
		;
	assert_false(is_there(&d->cq));
	assert_int_equal(ADMIN(d, .op = OP_QUEUE_DESTROY, .queue = QUEUE), ADMIN_OK);
	npu_model_doorbell(d->hw, 0, d->admin_sq.count + (1u << LOG_RING) + 1);
	assert_int_equal(wait_reg(d, R_BOOT_STATE, BOOT_FAILED), BOOT_FAILED);
	assert_int_equal(rd(d, R_BOOT_ERROR) & 0xff, BOOT_ERROR_ADMIN_RING);
}

/* Ring and shadow block at virtual addresses: the ring read only, the block not. */
static void test_ring_in_a_context(void **state)
{
	struct npu *d = *state;

	assert_int_equal(ADMIN(d, .op = OP_QUEUE_DESTROY, .queue = QUEUE), ADMIN_OK);
	map(d, M_SQ, M_SQ, PTE_V | PTE_R | PTE_U);
	map(d, M_SHADOW, M_SHADOW, PTE_V | PTE_R | PTE_W | PTE_U);
	memset(d->mem + M_SHADOW, 0, ENTRY);
	ring_init(d, &d->sq, M_SQ, LOG_RING);
	d->shadow = true;
	assert_int_equal(ADMIN(d, .op = OP_QUEUE_CREATE, .queue = QUEUE, .cq = CQ,
			       .context = CONTEXT, .ring_space = CONTEXT, .log_size = LOG_RING,
			       .address = VA + M_SQ, .limit = LIMIT_DEFAULT, .core_mask = 1,
			       .shadow = VA + M_SHADOW), ADMIN_OK);
	submit(d, &(struct job){ .op = JOB_NOP });
	assert_int_equal(completion(d).status, JOB_OK);
	while (npu_model_run(d->hw, 1000))
		;
	assert_int_equal(get(d->mem + M_SHADOW + 36, 4), 1);
}

static void test_destroy(void **state)
{
	struct npu *d = *state;
	uint32_t running = submit_endless(d, 0);
	uint32_t waiting = submit(d, &(struct job){ .op = JOB_NOP });
	struct completion c;

	let_it_run(d);
	assert_int_equal(ADMIN(d, .op = OP_QUEUE_DESTROY, .queue = QUEUE), ADMIN_OK);
	c = completion(d);
	assert_int_equal(c.cmd, running);
	assert_int_equal(c.status, JOB_ABORTED);
	c = completion(d);
	assert_int_equal(c.cmd, waiting);
	assert_int_equal(c.status, JOB_ABORTED);
	assert_int_equal(ADMIN(d, .op = OP_QUEUE_DESTROY, .queue = QUEUE), ADMIN_NOT_FOUND);
	assert_int_equal(ADMIN(d, .op = OP_CONTEXT_SET_ROOT, .context = CONTEXT), ADMIN_OK);
	assert_int_equal(ADMIN(d, .op = OP_CQ_DESTROY, .cq = CQ), ADMIN_OK);
	assert_int_equal(ADMIN(d, .op = OP_EVENT_RING_SET), ADMIN_OK);
	create_queue(d);
	assert_int_equal(RUN(d, copy).status, JOB_OK);
}

static void test_telemetry(void **state)
{
	struct npu *d = *state;
	const uint8_t *t = d->mem + M_SCRATCH;
	struct completion c = RUN(d, copy);

	assert_true(rd(d, R_FW_FEATURES) & FW_TELEMETRY);
	assert_int_equal(c.status, JOB_OK);
	assert_int_equal(ADMIN(d, .op = OP_TELEMETRY, .address = BUS + M_SCRATCH), ADMIN_OK);
	assert_int_equal(get(t + 8, 8), 1);
	assert_int_equal(get(t + 16, 8), 0);
	assert_int_equal(get(t + 48, 8), c.cycles);
	assert_int_equal(get(t + 64, 8), c.read);
	assert_int_equal(get(t + 72, 8), c.written);
	assert_true(get(t, 8) > c.cycles && get(t + 80, 8) > 0);
}

/* By the operation, and through the window after a reset. */
static void test_log(void **state)
{
	struct npu *d = *state;
	uint32_t at = rd(d, R_FW_LOG), version = rd(d, R_FW_VERSION);
	const uint8_t *log = d->mem + M_SCRATCH;
	uint32_t boots = 0;

	assert_true(rd(d, R_FW_FEATURES) & FW_LOG);
	assert_true(at >= TCM_BASE && at - TCM_BASE < rd(d, R_TCM_SIZE));
	assert_int_equal(ADMIN(d, .op = OP_LOG, .address = BUS + M_SCRATCH), ADMIN_OK);
	for (int i = 0; i < LOG_ENTRIES; i++, log += LOG_ENTRY)
		if (log[4] == LOG_BOOT && log[5] == 1 && get(log + 16, 4) == version)
			boots++;
	assert_int_equal(boots, 1);
	reset(d);
	for (uint32_t i = 0; i < LOG_ENTRIES * LOG_ENTRY; i += 4)
		put(d->mem + M_SCRATCH + PAGE + i, 4, rd(d, TCM_WINDOW + at - TCM_BASE + i));
	assert_memory_equal(d->mem + M_SCRATCH + PAGE, d->mem + M_SCRATCH,
			    LOG_ENTRIES * LOG_ENTRY);
}

static void test_suspend(void **state)
{
	struct npu *d = *state;

	assert_true(rd(d, R_FW_FEATURES) & FW_SUSPEND);
	submit_endless(d, 0);
	let_it_run(d);
	assert_int_equal(ADMIN(d, .op = OP_SUSPEND), ADMIN_OK);
	assert_int_equal(wait_reg(d, R_BOOT_STATE, BOOT_SUSPENDED), BOOT_SUSPENDED);
	assert_false(is_there(&d->cq));
	memset(d->mem, 0, M_TABLES);
	npu_model_doorbell(d->hw, 0, d->admin_sq.count + 1);
	npu_model_doorbell(d->hw, QUEUE, d->sq.count + 1);
	while (npu_model_run(d->hw, 1000))
		;
	for (uint32_t i = 0; i < M_TABLES; i++)
		assert_int_equal(d->mem[i], 0);
	/* The same steps bring it back. */
	reset(d);
	load_image(d);
	assert_int_equal(start(d, 1, 1), BOOT_READY);
	create_queue(d);
	assert_int_equal(RUN(d, copy).status, JOB_OK);
}

/* An argument picks tests by name, with * and ?. */
int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_identity, power_on, power_off),
		cmocka_unit_test_setup_teardown(test_boot, power_on, power_off),
		cmocka_unit_test_setup_teardown(test_versions_that_do_not_meet, power_on,
						power_off),
		cmocka_unit_test_setup_teardown(test_boot_after_a_failure, power_on, power_off),
		cmocka_unit_test_setup_teardown(test_refusals, bring_up, power_off),
		cmocka_unit_test_setup_teardown(test_network, bring_up, power_off),
		cmocka_unit_test_setup_teardown(test_finish, bring_up, power_off),
		cmocka_unit_test_setup_teardown(test_padded_load, bring_up, power_off),
		cmocka_unit_test_setup_teardown(test_faults, bring_up, power_off),
		cmocka_unit_test_setup_teardown(test_accesses_across_pages, bring_up, power_off),
		cmocka_unit_test_setup_teardown(test_page_faults, bring_up, power_off),
		cmocka_unit_test_setup_teardown(test_refused_jobs, bring_up, power_off),
		cmocka_unit_test_setup_teardown(test_abort, bring_up, power_off),
		cmocka_unit_test_setup_teardown(test_limit, bring_up, power_off),
		cmocka_unit_test_setup_teardown(test_two_cores, bring_up_two_cores, power_off),
		cmocka_unit_test_setup_teardown(test_preemption, bring_up, power_off),
		cmocka_unit_test_setup_teardown(test_context_reset, bring_up, power_off),
		cmocka_unit_test_setup_teardown(test_invalidate, bring_up, power_off),
		cmocka_unit_test_setup_teardown(test_shadow, bring_up_shadow, power_off),
		cmocka_unit_test_setup_teardown(test_interrupts, bring_up, power_off),
		cmocka_unit_test_setup_teardown(test_impossible_tails, bring_up, power_off),
		cmocka_unit_test_setup_teardown(test_ring_in_a_context, bring_up, power_off),
		cmocka_unit_test_setup_teardown(test_destroy, bring_up, power_off),
		cmocka_unit_test_setup_teardown(test_telemetry, bring_up, power_off),
		cmocka_unit_test_setup_teardown(test_log, bring_up, power_off),
		cmocka_unit_test_setup_teardown(test_suspend, bring_up, power_off),
	};

	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
