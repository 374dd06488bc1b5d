// SPDX-License-Identifier: MIT
#include "tests/unit/compiler_run.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "firmware/model/npu_core.h"
#include "userspace/compiler/module.h"
#include "userspace/compiler/npu_compiler.h"

/* Everything the program reaches, one after the other. */
#define BASE	 0x10000000ull
#define FEATURES 0x1full
#define CONTEXT	 1

struct machine {
	uint8_t *mem; /* regions, instructions, constants, scratch */
	size_t size;
	uint64_t regions, insn, constants, scratch;
	struct npuc_module m;
	struct npuc_program *p;
	const float *input;
	float *output;
};

static u8 reach(struct machine *m, u64 va, u32 len, u64 *fault_va)
{
	if (va >= BASE && va - BASE <= m->size && len <= m->size - (va - BASE))
		return 0;
	*fault_va = va;
	return NPU_FAULT_UNMAPPED;
}

static u8 mem_read(void *opaque, u16 context, u64 va, void *buf, u32 len, u8 access, u64 *fault_va)
{
	struct machine *m = opaque;
	u8 fault = reach(m, va, len, fault_va);

	(void)context;
	(void)access;
	if (!fault)
		memcpy(buf, m->mem + (va - BASE), len);
	return fault;
}

static u8 mem_write(void *opaque, u16 context, u64 va, const void *buf, u32 len, u64 *fault_va)
{
	struct machine *m = opaque;
	u8 fault = reach(m, va, len, fault_va);

	(void)context;
	if (!fault)
		memcpy(m->mem + (va - BASE), buf, len);
	return fault;
}

static uint64_t take(struct machine *m, size_t size)
{
	uint64_t at = BASE + m->size;

	m->size += (size + 255) / 256 * 256;
	return at;
}

static void set_regions(struct machine *m, const struct npuc_stream *st)
{
	struct npu_region *r = (void *)(m->mem + (m->regions - BASE));

	r[NPUC_REGION_NONE] = (struct npu_region){ 0, 0 };
	r[NPUC_REGION_CONST] = (struct npu_region){ m->constants, m->m.constants.size };
	r[NPUC_REGION_SCRATCH] = (struct npu_region){ m->scratch, m->p->scratch };
	r[NPUC_REGION_UOP] = (struct npu_region){ m->constants + st->uop_offset, st->uop_size };
}

static void run_stream(struct machine *m, struct npu_core *c, const struct npuc_stream *st,
		       struct run_result *r)
{
	uint64_t insn = m->insn + (uint64_t)st->insn_first * NPU_INSN_BYTES;
	struct npu_job_report report;

	set_regions(m, st);
	npu_core_reset(c);
	npu_core_reg_write(c, NPU_CORE_CONTEXT, CONTEXT, 0);
	npu_core_reg_write(c, NPU_CORE_INSN_LO, insn, 0);
	npu_core_reg_write(c, NPU_CORE_INSN_COUNT, st->insn_count, 0);
	npu_core_reg_write(c, NPU_CORE_REGION_LO, m->regions, 0);
	npu_core_reg_write(c, NPU_CORE_REGION_COUNT, NPUC_REGIONS, 0);
	npu_core_reg_write(c, NPU_CORE_CONTROL, NPU_CORE_CONTROL_START_MASK, 0);
	for (int i = 0; i < 1000 && npu_core_running(c); i++)
		npu_core_run(c, 10000000, 0);
	npu_core_report_copy(c, 0, &report, sizeof(report));
	r->cycles += report.cycles;
	r->macs += report.macs;
	r->useful_macs += st->macs;
	r->fault = npu_core_reg_read(c, NPU_CORE_STATUS) == NPU_CORE_STATE_DONE ? 0 : -1;
	if (report.fault_code)
		r->fault = report.fault_code;
	r->fault_insn = report.insn;
}

static void *place(struct machine *m, const struct npuc_place *pl)
{
	switch (pl->space) {
	case NPUC_SPACE_INPUT:
		return (void *)m->input;
	case NPUC_SPACE_OUTPUT:
		return m->output;
	default:
		return m->mem + (m->scratch - BASE) + pl->offset;
	}
}

static void quantise(const struct npu_host_quantize *q, const float *in, uint8_t *out, bool back,
		     float *dense)
{
	const struct npu_host_scale *s = (const void *)(q + 1);
	uint64_t n = (uint64_t)q->outer * q->channels * q->inner;

	for (uint64_t i = 0; i < n; i++) {
		const struct npu_host_scale *ch = &s[i / q->inner % q->channels];
		float lo = q->dtype_code ? 0 : -128, hi = q->dtype_code ? 255 : 127;

		if (back) {
			dense[i] = ((q->dtype_code ? out[i] : (int8_t)out[i]) - ch->zero_point) *
				   ch->scale;
		} else {
			float v = rintf(in[i] / ch->scale) + ch->zero_point;

			out[i] = (int)(v < lo ? lo : v > hi ? hi : v);
		}
	}
}

static void pack(const struct npu_host_pack *k, const int8_t *from, int8_t *to, bool back)
{
	uint32_t blocks = (k->c + 15) / 16;

	for (uint32_t n = 0; n < k->n; n++)
		for (uint32_t c = 0; c < k->c; c++)
			for (uint32_t i = 0; i < k->h * k->w; i++) {
				size_t dense = ((size_t)n * k->c + c) * k->h * k->w + i;
				size_t blocked =
					(((size_t)n * blocks + c / 16) * k->h * k->w + i) * 16 +
					c % 16;

				if (back)
					to[dense] = from[blocked];
				else
					to[blocked] = from[dense];
			}
}

static void patches(const struct npu_host_patches *k, const int8_t *from, int8_t *to)
{
	uint32_t taps = k->c * k->kernel_h * k->kernel_w, blocks = (taps + 15) / 16;

	for (uint64_t at = 0; at < (uint64_t)k->n * k->out_h * k->out_w * taps; at++) {
		uint32_t tap = at % taps, x = at / taps % k->out_w,
			 y = at / taps / k->out_w % k->out_h;
		uint32_t image = at / taps / k->out_w / k->out_h,
			 c = tap / (k->kernel_h * k->kernel_w);
		int64_t iy = (int64_t)y * k->stride_h - k->pad_top +
			     tap / k->kernel_w % k->kernel_h * k->dilation_h;
		int64_t ix =
			(int64_t)x * k->stride_w - k->pad_left + tap % k->kernel_w * k->dilation_w;
		bool inside = iy >= 0 && iy < k->h && ix >= 0 && ix < k->w;

		to[((((uint64_t)image * blocks + tap / 16) * k->out_h + y) * k->out_w + x) * 16 +
		   tap % 16] = inside ? from[(((uint64_t)image * k->c + c) * k->h + iy) * k->w + ix]
				      : k->pad;
	}
}

static void look_up(const struct npu_host_lookup *k, const uint8_t *from, uint8_t *to)
{
	for (uint64_t i = 0; i < k->size; i++)
		to[i] = k->table[from[i]];
}

static void run_host(struct machine *m, const struct npuc_host *h)
{
	void *a = place(m, &h->operand[0]), *b = place(m, &h->operand[1]);

	if (!strcmp(h->kernel, "quantize_linear"))
		quantise(h->param, a, b, false, NULL);
	else if (!strcmp(h->kernel, "dequantize_linear"))
		quantise(h->param, NULL, a, true, b);
	else if (!strcmp(h->kernel, "pack_nchw16"))
		pack(h->param, a, b, false);
	else if (!strcmp(h->kernel, "unpack_nchw16"))
		pack(h->param, a, b, true);
	else if (!strcmp(h->kernel, "pack_patches"))
		patches(h->param, a, b);
	else if (!strcmp(h->kernel, "lookup8"))
		look_up(h->param, a, b);
	else if (!strcmp(h->kernel, "copy"))
		memcpy(b, a, h->operand[0].size);
	else if (!strcmp(h->kernel, "flip_sign8"))
		for (uint64_t i = 0; i < h->operand[0].size; i++)
			((uint8_t *)b)[i] = ((uint8_t *)a)[i] ^ 0x80;
	else
		abort();
}

static int build(struct machine *m, struct npuc_stream *st, size_t *n, uint64_t yield_cycles)
{
	struct npuc_emit_options opt = { FEATURES, yield_cycles };

	*n = 0;
	for (size_t i = 0; i < m->p->n_stage;) {
		size_t k = 0;
		int err;

		while (i + k < m->p->n_stage && !m->p->stage[i + k].is_host)
			k++;
		if (k) {
			err = npuc_emit_stream(m->p, i, k, &opt, &m->m.insn, &m->m.constants,
					       &st[(*n)++]);
			if (err)
				return err;
		}
		i += k ? k : 1;
	}
	return 0;
}

static void lay_out(struct machine *m)
{
	m->regions = take(m, NPU_REGION_TABLE_MAX * sizeof(struct npu_region));
	m->insn = take(m, m->m.insn.size);
	m->constants = take(m, m->m.constants.size);
	m->scratch = take(m, m->p->scratch);
	m->mem = malloc(m->size);
	/* Nothing may depend on what scratch memory held before. */
	memset(m->mem, 0x5a, m->size);
	if (m->m.insn.size)
		memcpy(m->mem + (m->insn - BASE), m->m.insn.data, m->m.insn.size);
	if (m->m.constants.size)
		memcpy(m->mem + (m->constants - BASE), m->m.constants.data, m->m.constants.size);
}

static void execute(struct machine *m, const struct npuc_stream *st, struct run_result *r)
{
	struct npu_core_mem mem = { m, mem_read, mem_write };
	struct npu_core *c = calloc(1, npu_core_size());
	size_t next = 0;

	npu_core_init(c, 0, FEATURES, &mem);
	npu_core_set_kernels(c, npu_core_kernels_native());
	for (size_t i = 0; i < m->p->n_stage && !r->fault; i++) {
		if (m->p->stage[i].is_host) {
			run_host(m, &m->p->stage[i].host);
		} else {
			run_stream(m, c, &st[next], r);
			i += st[next++].stages - 1;
			r->streams++;
		}
	}
	free(c);
}

void run_model(const void *onnx, size_t size, const float *input, uint64_t yield_cycles,
	       struct run_result *r)
{
	struct npuc_diag d = { "" };
	struct machine m = { .input = input };
	struct npuc_graph *g = NULL;
	struct npuc_stream st[64];
	size_t n;

	memset(r, 0, sizeof(*r));
	r->err = npuc_import_onnx(onnx, size, &g, &d);
	if (!r->err)
		r->err = npuc_lower(g, FEATURES, &m.p, &d);
	if (!r->err)
		r->err = build(&m, st, &n, yield_cycles);
	if (!r->err) {
		r->output_elements = npuc_elements(&g->tensor[g->output[0]]);
		r->output = m.output = calloc(r->output_elements, sizeof(float));
		lay_out(&m);
		execute(&m, st, r);
	}
	memcpy(r->message, d.message, sizeof(r->message));
	free(m.mem);
	npuc_module_free(&m.m);
	npuc_program_free(m.p);
	npuc_graph_free(g);
}

int compile_model(const void *onnx, size_t size, struct run_result *r)
{
	struct npu_compiled *c;
	int fd;

	memset(r, 0, sizeof(*r));
	r->err = npu_compile(&c, onnx, size, NULL, r->message, sizeof(r->message));
	if (r->err)
		return r->err;
	fd = memfd_create("module", MFD_CLOEXEC);
	if (fd < 0 || npu_compiled_write(c, fd))
		abort();
	close(fd);
	npu_compiled_free(c);
	return 0;
}
