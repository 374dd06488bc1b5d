// SPDX-License-Identifier: MIT
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <setjmp.h>
#include <cmocka.h>
#include "tests/unit/device_board.h"

#define ADMIN_TIMEOUT	100000
#define BOOT_TIMEOUT	100000
#define RUN_LIMIT	2000000000ull

static bool refused(const struct dev_board *d, u64 bus, u32 len)
{
	if (bus < DEV_MEM_BASE || bus + len > DEV_MEM_BASE + DEV_PAGES * 4096ull)
		return true;
	return bus < d->hole_end && bus + len > d->hole;
}

static void *bus_map(void *opaque, u64 bus, u32 len)
{
	struct dev_board *d = opaque;

	assert_true(bus % 4096 + len <= 4096);
	if (d->no_map || refused(d, bus, len))
		return NULL;
	return d->mem + (bus - DEV_MEM_BASE);
}

static int bus_read(void *opaque, u64 bus, void *buf, u32 len)
{
	struct dev_board *d = opaque;

	if (refused(d, bus, len))
		return -EIO;
	memcpy(buf, d->mem + (bus - DEV_MEM_BASE), len);
	return 0;
}

static int bus_write(void *opaque, u64 bus, const void *buf, u32 len)
{
	struct dev_board *d = opaque;

	if (refused(d, bus, len))
		return -EIO;
	memcpy(d->mem + (bus - DEV_MEM_BASE), buf, len);
	return 0;
}

static void bus_irq(void *opaque, u32 vector)
{
	struct dev_board *d = opaque;

	assert_true(vector < NPU_MAX_CQS);
	d->irqs[vector]++;
}

static const struct npu_bus_ops bus_ops = {
	.map = bus_map,
	.read = bus_read,
	.write = bus_write,
	.irq = bus_irq,
};

static u32 host_reg_read(void *opaque, u32 offset)
{
	return npu_model_reg_read(((struct dev_board *)opaque)->m, offset);
}

static void host_reg_write(void *opaque, u32 offset, u32 value)
{
	npu_model_reg_write(((struct dev_board *)opaque)->m, offset, value);
}

static void host_doorbell(void *opaque, u32 index, u32 value)
{
	npu_model_doorbell(((struct dev_board *)opaque)->m, index, value);
}

static u64 host_now(void *opaque)
{
	return ((struct dev_board *)opaque)->now;
}

static void host_relax(void *opaque)
{
	struct dev_board *d = opaque;

	npu_model_run(d->m, d->slice);
	d->now++;
}

void *dev_pages(struct dev_board *d, u32 count, u64 *bus)
{
	u32 i, run = 0;

	for (i = 0; i < DEV_PAGES; i++) {
		run = d->used[i] ? 0 : run + 1;
		if (run < count)
			continue;
		i -= count - 1;
		memset(d->used + i, 1, count);
		memset(d->mem + i * 4096ull, 0, count * 4096ull);
		*bus = DEV_MEM_BASE + i * 4096ull;
		return d->mem + i * 4096ull;
	}
	fail_msg("out of pages");
	return NULL;
}

void *dev_at(struct dev_board *d, u64 bus)
{
	assert_true(bus >= DEV_MEM_BASE && bus < DEV_MEM_BASE + DEV_PAGES * 4096ull);
	return d->mem + (bus - DEV_MEM_BASE);
}

static void *host_page_alloc(void *opaque, u64 *bus)
{
	return dev_pages(opaque, 1, bus);
}

static void host_page_free(void *opaque, void *cpu, u64 bus)
{
	struct dev_board *d = opaque;

	(void)cpu;
	d->used[(bus - DEV_MEM_BASE) / 4096] = 0;
}

static void *host_mem_alloc(void *opaque, size_t size)
{
	(void)opaque;
	return calloc(1, size);
}

static void host_mem_free(void *opaque, void *mem)
{
	(void)opaque;
	free(mem);
}

static const struct npu_host_ops host_ops = {
	.reg_read = host_reg_read,
	.reg_write = host_reg_write,
	.doorbell = host_doorbell,
	.now_us = host_now,
	.relax = host_relax,
	.page_alloc = host_page_alloc,
	.page_free = host_page_free,
	.mem_alloc = host_mem_alloc,
	.mem_free = host_mem_free,
};

static void read_image(struct dev_board *d)
{
	struct npu_host_detail detail;
	FILE *f = fopen(NPU_FW_IMAGE, "rb");
	int err;

	if (!f)
		fail_msg("cannot open %s", NPU_FW_IMAGE);
	d->image = malloc(NPU_FW_MAX_LENGTH + 4096);
	assert_non_null(d->image);
	d->image_size = fread(d->image, 1, NPU_FW_MAX_LENGTH + 4096, f);
	fclose(f);
	err = npu_fwimage_check(d->image, d->image_size, NPU_DEVICE_V0, d->cfg.tcm_size, 0,
				&d->fw, &detail);
	if (err)
		fail_msg("image: %s: expected 0x%llx, found 0x%llx", detail.what,
			 (unsigned long long)detail.expected, (unsigned long long)detail.found);
}

void dev_init(struct dev_board *d, const struct npu_model_config *cfg)
{
	size_t size;

	memset(d, 0, sizeof(*d));
	npu_model_default_config(&d->cfg);
	if (cfg)
		d->cfg = *cfg;
	d->slice = 1000;
	d->mem = aligned_alloc(4096, DEV_PAGES * 4096ull);
	size = (npu_model_size(&d->cfg) + 63) & ~(size_t)63;
	assert_true(size);
	d->m = aligned_alloc(NPU_MODEL_ALIGN, size);
	assert_non_null(d->mem);
	assert_non_null(d->m);
	memset(d->m, 0x5a, size);
	assert_int_equal(npu_model_init(d->m, &d->cfg, &bus_ops, d), 0);
	d->env.ops = &host_ops;
	d->env.opaque = d;
	d->sq = dev_pages(d, 1, &d->sq_bus);
	d->cq = dev_pages(d, 1, &d->cq_bus);
	read_image(d);
	npu_admin_init(&d->admin, &d->env, d->sq, d->sq_bus, d->cq, d->cq_bus);
}

void dev_exit(struct dev_board *d)
{
	u32 i;

	for (i = 0; i < 8; i++)
		if (d->pt[i].env)
			npu_pt_fini(&d->pt[i]);
	npu_model_fini(d->m);
	free(d->m);
	free(d->mem);
	free(d->image);
}

int dev_try_boot(struct dev_board *d)
{
	struct npu_host_detail detail;

	npu_admin_init(&d->admin, &d->env, d->sq, d->sq_bus, d->cq, d->cq_bus);
	return npu_boot(&d->env, &d->fw, &d->admin, BOOT_TIMEOUT, &detail);
}

void dev_boot(struct dev_board *d)
{
	int err = dev_try_boot(d);

	if (err)
		fail_msg("boot: %d, state %u, error 0x%x", err,
			 npu_model_reg_read(d->m, NPU_HOST_BOOT_STATE),
			 npu_model_reg_read(d->m, NPU_HOST_BOOT_ERROR));
}

void dev_run(struct dev_board *d)
{
	u64 ran = 0;

	while (npu_model_run(d->m, d->slice)) {
		ran += d->slice;
		if (ran > RUN_LIMIT)
			fail_msg("the device does not come to rest");
	}
	d->ran += ran;
}

struct npu_admin_result dev_admin(struct dev_board *d, struct npu_admin_sqe *sqe)
{
	struct npu_admin_result result = { 0 };
	int err;

	err = npu_admin_call(&d->admin, sqe, ADMIN_TIMEOUT, &result);
	if (err == -ETIMEDOUT)
		fail_msg("admin operation %u is not answered, boot error 0x%x", sqe->op,
			 npu_model_reg_read(d->m, NPU_HOST_BOOT_ERROR));
	return result;
}

void dev_admin_ok(struct dev_board *d, struct npu_admin_sqe *sqe)
{
	struct npu_admin_result result = dev_admin(d, sqe);

	if (result.status)
		fail_msg("%s: %s, result %llu", npu_admin_op_name(sqe->op),
			 npu_admin_status_name(result.status),
			 (unsigned long long)result.result0);
}

void dev_context(struct dev_board *d, u32 context)
{
	struct npu_pt_garbage garbage = { 0 };
	struct npu_host_detail detail;
	struct npu_pt_run run = { .size = DEV_VA_BYTES };
	struct npu_admin_sqe sqe;
	struct npu_pt *pt;

	assert_true(context < 8);
	pt = &d->pt[context];
	if (!pt->env) {
		assert_int_equal(npu_pt_init(pt, &d->env, d->cfg.bus_bits), 0);
		dev_pages(d, DEV_VA_BYTES / 4096, &d->data_bus[context]);
		run.bus = d->data_bus[context];
		assert_int_equal(npu_pt_map(pt, DEV_VA, &run, 1,
					    NPU_PT_READ | NPU_PT_WRITE | NPU_PT_EXEC, &garbage,
					    &detail), 0);
	}
	npu_admin_context_set_root(&sqe, context, npu_pt_root(pt));
	dev_admin_ok(d, &sqe);
}

void *dev_mem(struct dev_board *d, u32 context, u64 va)
{
	assert_true(va >= DEV_VA && va < DEV_VA + DEV_VA_BYTES);
	return dev_at(d, d->data_bus[context] + (va - DEV_VA));
}

void dev_make_cq(struct dev_board *d, u32 cq, u32 log_size)
{
	struct dev_cq *c = &d->cqs[cq];
	struct npu_admin_sqe sqe;

	assert_true(cq && cq <= DEV_CQS);
	c->log_size = log_size;
	c->entries = dev_pages(d, ((64u << log_size) + 4095) / 4096, &c->bus);
	assert_int_equal(npu_cq_init(&c->cq, c->entries, log_size), 0);
	npu_admin_cq_create(&sqe, cq, c->bus, log_size, cq);
	dev_admin_ok(d, &sqe);
}

static void place_in_context(struct dev_board *d, struct dev_queue *q)
{
	/* The last pages of the context's memory, by slot. */
	u64 va = DEV_VA + DEV_VA_BYTES - q->slot * 0x11000ull;

	q->bus = va;
	q->entries = dev_mem(d, q->context, va);
	q->shadow_bus = va + 0x10000;
	q->shadow = dev_mem(d, q->context, va + 0x10000);
	memset(q->shadow, 0, sizeof(*q->shadow));
}

void dev_make_queue(struct dev_board *d, struct dev_queue *q, u32 slot, u32 cq, u32 context,
		    const struct dev_queue_opts *opts)
{
	static const struct dev_queue_opts defaults;
	const struct dev_queue_opts *o = opts ? opts : &defaults;
	u32 log_size = o->log_size ? o->log_size : 4;
	struct npu_queue_desc desc = {
		.queue = slot, .cq = cq, .context = context, .log_size = log_size,
		.ring_space = o->in_context ? context : 0, .priority = o->priority,
		.core_mask = o->core_mask ? o->core_mask : 1,
		.limit = o->limit ? o->limit : NPU_LIMIT_MAX,
	};
	struct npu_admin_sqe sqe;

	memset(q, 0, sizeof(*q));
	q->slot = slot;
	q->cq = cq;
	q->context = context;
	if (o->in_context) {
		place_in_context(d, q);
	} else {
		q->entries = dev_pages(d, ((64u << log_size) + 4095) / 4096, &q->bus);
		q->shadow = dev_pages(d, 1, &q->shadow_bus);
	}
	if (!o->shadow)
		q->shadow = NULL;
	assert_int_equal(npu_sq_init(&q->sq, &d->env, q->entries, log_size, slot, q->shadow), 0);
	desc.ring = q->bus;
	desc.shadow = o->shadow ? q->shadow_bus : 0;
	npu_admin_queue_create(&sqe, &desc);
	dev_admin_ok(d, &sqe);
}

void dev_push(struct dev_queue *q, const struct npu_job_sqe *sqe)
{
	assert_int_equal(npu_sq_push(&q->sq, sqe), 0);
}

void dev_push_nop(struct dev_queue *q, u32 cmd_id)
{
	struct npu_job_sqe sqe;

	npu_job_nop(&sqe, cmd_id);
	dev_push(q, &sqe);
}

void dev_ring(struct dev_queue *q)
{
	npu_sq_ring(&q->sq);
}

struct npu_job_sqe dev_job(u32 cmd_id, u64 va, u32 count)
{
	struct npu_job_desc desc = { .insn_va = va, .insn_count = count };
	struct npu_job_sqe sqe;

	npu_job_run(&sqe, cmd_id, &desc);
	return sqe;
}

bool dev_poll(struct dev_board *d, u32 cq, struct npu_cqe *cqe)
{
	int ret = npu_cq_poll(&d->cqs[cq].cq, cqe);

	assert_true(ret >= 0);
	return ret;
}

struct npu_cqe dev_cqe(struct dev_board *d, u32 cq)
{
	struct npu_cqe cqe;

	if (!dev_poll(d, cq, &cqe))
		fail_msg("no completion in ring %u", cq);
	return cqe;
}

u32 dev_program(struct dev_board *d, u32 context, u64 va, const struct npu_insn *insns, u32 n)
{
	struct npu_isa_error err;
	u32 i;

	for (i = 0; i < n; i++)
		if (npu_insn_encode(&insns[i], (u8 *)dev_mem(d, context, va) + 16 * i, &err))
			fail_msg("cannot encode %s = %lld", err.field, (long long)err.value);
	return n;
}

static const struct npu_insn insn_finish = {
	.format = NPU_FORMAT_FINISH, .finish = { .opcode = NPU_OP_FINISH },
};

u32 dev_program_finish(struct dev_board *d, u32 context, u64 va)
{
	return dev_program(d, context, va, &insn_finish, 1);
}

u32 dev_program_busy(struct dev_board *d, u32 context, u64 va, u32 k, u32 n)
{
	const struct npu_insn gemm = {
		.format = NPU_FORMAT_GEMM,
		.gemm = { .opcode = NPU_OP_GEMM, .reset = 1, .uop_end = 1, .iter_out = k,
			  .iter_in = 16383 },
	};
	const struct npu_insn yield = {
		.format = NPU_FORMAT_YIELD,
		.yield = { .opcode = NPU_OP_EXT, .ext_op = NPU_EXT_YIELD },
	};
	u32 i, count = 0;

	for (i = 0; i < n; i++) {
		if (i)
			count += dev_program(d, context, va + 16 * count, &yield, 1);
		count += dev_program(d, context, va + 16 * count, &gemm, 1);
	}
	return count + dev_program(d, context, va + 16 * count, &insn_finish, 1);
}
