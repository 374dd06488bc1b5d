// SPDX-License-Identifier: MIT
/* Boot, rings, admin operations, page tables and jobs, as the manual has them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "firmware/model/npu_model.h"
#include "tests/unit/manual_driver.h"

/* ---- the bus ---- */

static void *bus_map(void *opaque, u64 addr, u32 len)
{
	struct npu *d = opaque;

	if (addr < BUS || addr - BUS >= MEM_SIZE || len > MEM_SIZE - (addr - BUS))
		return NULL;
	return d->mem + (addr - BUS);
}

static void bus_irq(void *opaque, u32 vector)
{
	struct npu *d = opaque;

	d->vectors |= 1u << vector;
}

static const struct npu_bus_ops bus_ops = { .map = bus_map, .irq = bus_irq };

uint32_t rd(struct npu *d, uint32_t offset)
{
	return npu_model_reg_read(d->hw, offset);
}

void wr(struct npu *d, uint32_t offset, uint32_t value)
{
	npu_model_reg_write(d->hw, offset, value);
}

/* Little endian, whatever the host. */
uint64_t get(const uint8_t *p, int bytes)
{
	uint64_t v = 0;

	for (int i = 0; i < bytes; i++)
		v |= (uint64_t)p[i] << 8 * i;
	return v;
}

void put(uint8_t *p, int bytes, uint64_t v)
{
	for (int i = 0; i < bytes; i++)
		p[i] = (uint8_t)(v >> 8 * i);
}

/* Time passes until @offset reads @want or nothing is left to happen. */
uint32_t wait_reg(struct npu *d, uint32_t offset, uint32_t want)
{
	bool more = true;

	while (rd(d, offset) != want && more)
		more = npu_model_run(d->hw, 1000);
	return rd(d, offset);
}

/* ---- reset and boot ---- */

static uint32_t crc32(const uint8_t *p, size_t len)
{
	uint32_t crc = ~0u;

	while (len--) {
		crc ^= *p++;
		for (int bit = 0; bit < 8; bit++)
			crc = crc & 1 ? crc >> 1 ^ 0xedb88320u : crc >> 1;
	}
	return ~crc;
}

static void check_image(const uint8_t *image, size_t size)
{
	uint8_t head[FW_HEADER];
	uint32_t load, entry, length;

	assert_true(size > FW_HEADER);
	assert_int_equal(get(image, 4), FW_MAGIC);
	assert_int_equal(get(image + 4, 4), FW_HEADER);
	assert_int_equal(get(image + 8, 2), DEVICE & 0xffff);
	assert_int_equal(get(image + 10, 2), 0);
	assert_true(get(image + 12, 2) <= 1 && get(image + 14, 2) >= 1);
	load = (uint32_t)get(image + 24, 4);
	entry = (uint32_t)get(image + 28, 4);
	length = (uint32_t)get(image + 32, 4);
	assert_int_equal(size, FW_HEADER + length);
	assert_true(length % 4 == 0 && length <= 0x10000);
	assert_true(load >= TCM_BASE && entry >= load && entry - load < length);
	assert_int_equal(get(image + 36, 4), crc32(image + FW_HEADER, length));
	memcpy(head, image, FW_HEADER);
	memset(head + 40, 0, 4);
	memset(head + 72, 0, 384);
	assert_int_equal(get(image + 40, 4), crc32(head, FW_HEADER));
}

static uint8_t *read_image(size_t *size)
{
	FILE *f = fopen(NPU_FW_IMAGE, "rb");
	uint8_t *image;
	long end;

	if (!f)
		fail_msg("%s cannot be opened", NPU_FW_IMAGE);
	assert_int_equal(fseek(f, 0, SEEK_END), 0);
	end = ftell(f);
	assert_true(end > 0);
	rewind(f);
	image = malloc((size_t)end);
	assert_non_null(image);
	*size = fread(image, 1, (size_t)end, f);
	assert_int_equal(*size, end);
	fclose(f);
	return image;
}

void reset(struct npu *d)
{
	wr(d, R_RESET, RESET_KEY);
	assert_int_equal(wait_reg(d, R_RESET, 0), 0);
	assert_int_equal(rd(d, R_MAGIC), MAGIC);
	assert_int_equal(rd(d, R_CONTRACT) >> 16, 0);
	assert_int_equal(rd(d, R_DEVICE), DEVICE);
}

void load_image(struct npu *d)
{
	size_t size;
	uint8_t *image = read_image(&size);
	uint32_t to = (uint32_t)get(image + 24, 4) - TCM_BASE;
	uint32_t length = (uint32_t)get(image + 32, 4);

	check_image(image, size);
	assert_true(to + length <= rd(d, R_TCM_SIZE));
	for (uint32_t i = 0; i < length; i += 4)
		wr(d, TCM_WINDOW + to + i, (uint32_t)get(image + FW_HEADER + i, 4));
	wr(d, R_CP_ENTRY, (uint32_t)get(image + 28, 4));
	free(image);
}

void ring_init(struct npu *d, struct ring *r, uint32_t at, uint32_t log)
{
	r->base = d->mem + at;
	r->log = log;
	r->count = 0;
	memset(r->base, 0, ENTRY << log);
}

uint32_t start(struct npu *d, uint32_t lowest, uint32_t highest)
{
	ring_init(d, &d->admin_sq, M_ADMIN_SQ, LOG_RING);
	ring_init(d, &d->admin_cq, M_ADMIN_CQ, LOG_RING);
	wr(d, R_ADMIN_SIZE, LOG_RING | LOG_RING << 8);
	wr(d, R_ADMIN_SQ_LO, (uint32_t)(BUS + M_ADMIN_SQ));
	wr(d, R_ADMIN_SQ_HI, (uint32_t)((BUS + M_ADMIN_SQ) >> 32));
	wr(d, R_ADMIN_CQ_LO, (uint32_t)(BUS + M_ADMIN_CQ));
	wr(d, R_ADMIN_CQ_HI, (uint32_t)((BUS + M_ADMIN_CQ) >> 32));
	wr(d, R_HOST_PROTO_RANGE, lowest | highest << 16);
	d->vectors = 0;
	wr(d, R_CP_CONTROL, 1);
	return wait_reg(d, R_BOOT_STATE, BOOT_READY);
}

/* ---- rings ---- */

/* Entry @count of a completion ring is there when its phase is that of the pass. */
bool is_there(const struct ring *r)
{
	const uint8_t *entry = r->base + (r->count & ((1u << r->log) - 1)) * ENTRY;
	uint32_t phase = !(r->count >> r->log & 1);

	return (get(entry + 60, 4) & 1) == phase;
}

void take(struct npu *d, struct ring *r, uint8_t entry[ENTRY])
{
	bool more = true;

	while (!is_there(r) && more)
		more = npu_model_run(d->hw, 1000);
	assert_true(is_there(r));
	memcpy(entry, r->base + (r->count++ & ((1u << r->log) - 1)) * ENTRY, ENTRY);
}

static uint32_t add(struct ring *r, const uint8_t entry[ENTRY])
{
	memcpy(r->base + (r->count & ((1u << r->log) - 1)) * ENTRY, entry, ENTRY);
	return ++r->count;
}

static void admin_post(struct npu *d, const struct admin *a)
{
	uint8_t e[ENTRY] = { a->op, a->priority, a->log_size, a->vector };

	put(e + 4, 4, ++d->next_cmd);
	put(e + 8, 2, a->queue);
	put(e + 10, 2, a->cq);
	put(e + 12, 2, a->context);
	put(e + 14, 2, a->ring_space);
	put(e + 16, 8, a->address);
	put(e + 24, 8, a->size);
	put(e + 32, 8, a->shadow);
	put(e + 40, 8, a->limit);
	put(e + 48, 4, a->core_mask);
	put(e + 52, 4, a->arg0);
	npu_model_doorbell(d->hw, 0, add(&d->admin_sq, e));
}

/* Status of the operation, and its first result. */
uint32_t admin(struct npu *d, const struct admin *a, uint64_t *result)
{
	uint8_t e[ENTRY];

	admin_post(d, a);
	take(d, &d->admin_cq, e);
	assert_int_equal(get(e, 4), d->next_cmd);
	assert_int_equal(get(e + 56, 2), 0);
	assert_int_equal(get(e + 58, 2), d->admin_sq.count & 0xffff);
	if (result)
		*result = get(e + 8, 8);
	return (uint32_t)get(e + 4, 2);
}

/* Returns the new tail of the ring. */
static uint32_t add_job(struct npu *d, struct ring *sq, const struct job *j)
{
	uint8_t e[ENTRY] = { j->op };

	put(e + 4, 4, ++d->next_cmd);
	put(e + 8, 8, j->insn);
	put(e + 16, 4, j->insn_count);
	put(e + 20, 4, j->region_count);
	put(e + 24, 8, j->region);
	put(e + 32, 8, j->limit);
	put(e + 40, 8, j->report);
	return add(sq, e);
}

/* To a queue without shadow block. Returns the cmd_id of the job, as submit() does. */
uint32_t submit_to(struct npu *d, uint32_t slot, struct ring *sq, const struct job *j)
{
	npu_model_doorbell(d->hw, slot, add_job(d, sq, j));
	return d->next_cmd;
}

uint32_t submit(struct npu *d, const struct job *j)
{
	uint32_t old = d->sq.count, new = add_job(d, &d->sq, j);

	if (d->shadow) {
		uint8_t *shadow = d->mem + M_SHADOW;

		put(shadow, 4, new);
		if ((uint32_t)(new - (uint32_t)get(shadow + 32, 4) - 1) >= (uint32_t)(new - old))
			return d->next_cmd;
	}
	d->rung++;
	npu_model_doorbell(d->hw, QUEUE, new);
	return d->next_cmd;
}

struct completion completion(struct npu *d)
{
	uint8_t e[ENTRY];

	take(d, &d->cq, e);
	assert_int_equal(get(e + 54, 2), 0);
	return (struct completion){
		.cmd = (uint32_t)get(e, 4), .status = (uint32_t)get(e + 4, 2),
		.code = e[6], .core = e[7],
		.cycles = get(e + 8, 8), .macs = get(e + 16, 8),
		.read = get(e + 24, 8), .written = get(e + 32, 8), .va = get(e + 40, 8),
		.insn = (uint32_t)get(e + 48, 4), .unit = e[52], .access = e[53],
		.queue = (uint32_t)get(e + 56, 2),
	};
}

/* ---- address space ---- */

uint8_t *pte(struct npu *d, uint64_t va)
{
	return d->mem + M_TABLES + 2 * PAGE + (va >> 12 & 511) * 8;
}

void map(struct npu *d, uint32_t at, uint32_t target, uint32_t bits)
{
	put(pte(d, VA + at), 8, (BUS + target) >> 12 << 10 | bits);
}

/* Root, middle and last table; the second 2 MiB of memory are one page. */
static void build_tables(struct npu *d)
{
	uint8_t *root = d->mem + M_TABLES, *middle = root + PAGE;

	memset(root, 0, 3 * PAGE);
	put(root + (VA >> 30 & 511) * 8, 8, (BUS + M_TABLES + PAGE) >> 12 << 10 | PTE_V);
	put(middle + (VA >> 21 & 511) * 8, 8, (BUS + M_TABLES + 2 * PAGE) >> 12 << 10 | PTE_V);
	put(middle + ((VA + M_OUTPUT) >> 21 & 511) * 8, 8,
	    (BUS + M_OUTPUT) >> 12 << 10 | PTE_V | PTE_R | PTE_W | PTE_U);
	map(d, M_CODE, M_CODE, PTE_V | PTE_X | PTE_U);
	map(d, M_REGIONS, M_REGIONS, PTE_V | PTE_R | PTE_U);
	map(d, M_INPUT, M_INPUT, PTE_V | PTE_R | PTE_U);
	map(d, M_WEIGHTS, M_WEIGHTS, PTE_V | PTE_R | PTE_U);
	map(d, M_PARAMS, M_PARAMS, PTE_V | PTE_R | PTE_U);
}

void region(struct npu *d, uint32_t n, uint32_t at, uint64_t limit)
{
	put(d->mem + M_REGIONS + 16 * n, 8, at ? VA + at : 0);
	put(d->mem + M_REGIONS + 16 * n + 8, 8, limit);
}

static void build_regions(struct npu *d)
{
	region(d, 0, 0, 0);
	region(d, 1, M_INPUT, PAGE);
	region(d, 2, M_WEIGHTS, PAGE);
	region(d, 3, M_PARAMS, PAGE);
	region(d, 4, M_OUTPUT, PAGE);
	region(d, 5, M_HOLE, PAGE);
}

/* ---- bringing it up ---- */

void create_queue(struct npu *d)
{
	ring_init(d, &d->sq, M_SQ, LOG_RING);
	ring_init(d, &d->cq, M_CQ, LOG_RING);
	assert_int_equal(ADMIN(d, .op = OP_CQ_CREATE, .cq = CQ, .vector = 1,
			       .log_size = LOG_RING, .address = BUS + M_CQ), ADMIN_OK);
	assert_int_equal(ADMIN(d, .op = OP_CONTEXT_SET_ROOT, .context = CONTEXT,
			       .address = BUS + M_TABLES), ADMIN_OK);
	memset(d->mem + M_SHADOW, 0, ENTRY);
	assert_int_equal(ADMIN(d, .op = OP_QUEUE_CREATE, .queue = QUEUE, .cq = CQ,
			       .context = CONTEXT, .log_size = LOG_RING,
			       .address = BUS + M_SQ, .limit = LIMIT_DEFAULT,
			       .core_mask = d->core_mask,
			       .shadow = d->shadow ? BUS + M_SHADOW : 0), ADMIN_OK);
}

static void set_events(struct npu *d)
{
	ring_init(d, &d->events, M_EVENTS, LOG_RING);
	assert_int_equal(ADMIN(d, .op = OP_EVENT_RING_SET, .log_size = LOG_RING,
			       .address = BUS + M_EVENTS), ADMIN_OK);
}

static void power_on_cores(void **state, uint32_t cores)
{
	struct npu_model_config cfg;
	struct npu *d = calloc(1, sizeof(*d));
	size_t size;

	assert_non_null(d);
	npu_model_default_config(&cfg);
	cfg.cores = cores;
	d->core_mask = (1u << cores) - 1;
	size = (npu_model_size(&cfg) + NPU_MODEL_ALIGN - 1) / NPU_MODEL_ALIGN * NPU_MODEL_ALIGN;
	d->hw = aligned_alloc(NPU_MODEL_ALIGN, size);
	d->mem = calloc(1, MEM_SIZE);
	assert_true(d->hw && d->mem);
	assert_int_equal(npu_model_init(d->hw, &cfg, &bus_ops, d), 0);
	*state = d;
}

int power_on(void **state)
{
	power_on_cores(state, 1);
	return 0;
}

int power_off(void **state)
{
	struct npu *d = *state;

	npu_model_fini(d->hw);
	free(d->hw);
	free(d->mem);
	free(d);
	return 0;
}

static struct npu *bring_up_device(void **state, uint32_t cores)
{
	struct npu *d;

	power_on_cores(state, cores);
	d = *state;
	reset(d);
	load_image(d);
	assert_int_equal(start(d, 1, 1), BOOT_READY);
	build_tables(d);
	build_regions(d);
	return d;
}

int bring_up(void **state)
{
	struct npu *d = bring_up_device(state, 1);

	create_queue(d);
	set_events(d);
	return 0;
}

int bring_up_two_cores(void **state)
{
	struct npu *d = bring_up_device(state, 2);

	create_queue(d);
	set_events(d);
	return 0;
}

int bring_up_shadow(void **state)
{
	struct npu *d = bring_up_device(state, 1);

	d->shadow = true;
	create_queue(d);
	set_events(d);
	return 0;
}

/* ---- jobs ---- */

void write_code(struct npu *d, const struct insn *code, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		put(d->mem + M_CODE + 16 * i, 8, code[i].lo);
		put(d->mem + M_CODE + 16 * i + 8, 8, code[i].hi);
	}
}

struct completion run(struct npu *d, const struct insn *code, uint32_t count)
{
	const struct job job = {
		.op = JOB_RUN, .insn = VA + M_CODE, .insn_count = count, .region = VA + M_REGIONS,
		.region_count = REGIONS, .report = VA + M_REPORT,
	};
	struct completion c;
	uint32_t cmd;

	write_code(d, code, count);
	memset(d->mem + M_REPORT, 0xee, 128);
	cmd = submit(d, &job);
	c = completion(d);
	assert_int_equal(c.cmd, cmd);
	assert_int_equal(c.queue, QUEUE);
	return c;
}
