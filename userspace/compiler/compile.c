// SPDX-License-Identifier: MIT
#include "userspace/compiler/npu_compiler.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "userspace/compiler/module.h"
#include "userspace/compiler/qdq.h"
#include "userspace/compiler/quantise.h"
#include "npu_regs.h"

#define ALL_FEATURES                                                                \
	(NPU_HW_FEATURE_REQUANT | NPU_HW_FEATURE_PAD_VALUE | NPU_HW_FEATURE_YIELD | \
	 NPU_HW_FEATURE_VMAC | NPU_HW_FEATURE_LUT)

struct npu_compiled {
	struct npuc_program *p;
	struct npuc_graph *g;
	struct npuc_module m;
	struct npu_compile_row *row;
	struct npuc_stream *stream;
	size_t n_stream;
	bool calibrated;
	struct npuc_quantiser q;
};

/* What host kernels read comes first: its places are known before anything is emitted. */
static int emit_constants(struct npu_compiled *c)
{
	const struct npuc_program *p = c->p;

	if (!p->constant_size)
		return 0;
	if (npuc_image_add(&c->m.constants, p->constant_size, NPU_MODULE_ALIGN) < 0)
		return npuc_fail(p->d, -ENOMEM, "out of memory");
	memcpy(c->m.constants.data, p->constant, p->constant_size);
	return 0;
}

/* Layers that follow one another, with no host kernel between them, become one stream. */
static int emit_streams(struct npu_compiled *c, const struct npuc_emit_options *opt)
{
	struct npuc_program *p = c->p;

	c->stream = calloc(p->n_stage + 1, sizeof(*c->stream));
	if (!c->stream)
		return npuc_fail(p->d, -ENOMEM, "out of memory");
	for (size_t i = 0; i < p->n_stage;) {
		size_t n = 0;
		int err;

		while (i + n < p->n_stage && !p->stage[i + n].is_host)
			n++;
		if (!n) {
			i++;
			continue;
		}
		err = npuc_emit_stream(p, i, n, opt, &c->m.insn, &c->m.constants,
				       &c->stream[c->n_stream]);
		if (err)
			return err;
		c->n_stream++;
		i += n;
	}
	return 0;
}

/* The features that the code needs: those of the instructions the compiler can emit for it. */
static uint64_t needed_features(const struct npu_compiled *c, const struct npuc_emit_options *opt)
{
	uint64_t need = 0;

	for (size_t i = 0; i < c->p->n_stage; i++) {
		const struct npuc_stage *s = &c->p->stage[i];

		if (s->is_host)
			continue;
		if (s->layer.conv || s->layer.binary)
			need |= NPU_HW_FEATURE_REQUANT;
		if (npuc_layer_tables(&s->layer))
			need |= NPU_HW_FEATURE_LUT;
		if (s->layer.pad_value)
			need |= NPU_HW_FEATURE_PAD_VALUE;
		if (s->layer.vector)
			need |= NPU_HW_FEATURE_VMAC;
	}
	if (opt->yield_cycles && c->n_stream)
		need |= NPU_HW_FEATURE_YIELD;
	return need;
}

/* The step of a stage: stages of one stream share theirs. */
static int step_of(const struct npu_compiled *c, int stage)
{
	int step = 0;

	for (int i = 0; i < stage; i++)
		step += c->p->stage[i].is_host || c->p->stage[i + 1].is_host;
	return stage < 0 ? -1 : step;
}

static int make_rows(struct npu_compiled *c)
{
	c->row = calloc(c->p->n_placement + 1, sizeof(*c->row));
	if (!c->row)
		return npuc_fail(c->p->d, -ENOMEM, "out of memory");
	for (size_t i = 0; i < c->p->n_placement; i++) {
		const struct npuc_placement *pl = &c->p->placement[i];

		c->row[i] = (struct npu_compile_row){
			pl->op, pl->name, pl->where, step_of(c, pl->stage), pl->macs,
		};
	}
	return 0;
}

static int make_info(struct npu_compiled *c)
{
	json_t *rows = json_array(), *root;
	uint64_t macs = 0, npu = 0;

	for (size_t i = 0; i < c->p->n_placement; i++) {
		const struct npu_compile_row *r = &c->row[i];

		macs += r->macs;
		npu += !strcmp(r->where, "npu");
		json_array_append_new(rows, json_pack("{s:s*, s:s*, s:s, s:i, s:I}", "op", r->op,
						      "node", r->name, "where", r->where, "step",
						      r->step, "macs", (json_int_t)r->macs));
	}
	root = json_pack("{s:o, s:I, s:I, s:I}", "operators", rows, "macs", (json_int_t)macs,
			 "npu_operators", (json_int_t)npu, "all_operators",
			 (json_int_t)c->p->n_placement);
	c->m.info = root ? json_dumps(root, JSON_COMPACT) : NULL;
	json_decref(root);
	return c->m.info ? 0 : npuc_fail(c->p->d, -ENOMEM, "out of memory");
}

static int compile(struct npu_compiled *c, const void *onnx, size_t size,
		   const struct npu_compile_options *o, struct npuc_diag *d)
{
	struct npuc_emit_options opt = {
		.features = o->features ? o->features : ALL_FEATURES,
		.yield_cycles = o->yield_cycles,
	};
	int err = npuc_import_onnx(onnx, size, &c->g, d);

	if (!err && o->calibration) {
		c->calibrated = true;
		err = npuc_calibrate(&c->g, o->calibration, &c->q, d);
	}
	if (!err)
		err = npuc_fold_constants(c->g, true, d);
	if (!err)
		err = npuc_fuse_qdq(c->g, d);
	if (!err)
		err = npuc_fold_constants(c->g, false, d);
	if (!err)
		err = npuc_lower(c->g, opt.features, &c->p, d);
	if (err)
		return err;
	c->m.features = needed_features(c, &opt);
	if (c->m.features & ~opt.features)
		return npuc_fail(
			d, -EOPNOTSUPP, "the model needs device features 0x%llx, 0x%llx are there",
			(unsigned long long)c->m.features, (unsigned long long)opt.features);
	err = emit_constants(c);
	if (!err)
		err = emit_streams(c, &opt);
	if (!err)
		err = npuc_plan(&c->m, c->p, c->stream, c->n_stream,
				o->function ? o->function : "main");
	c->m.features = needed_features(c, &opt);
	if (!err)
		err = make_rows(c);
	return err ? err : make_info(c);
}

int npu_compile(struct npu_compiled **out, const void *onnx, size_t size,
		const struct npu_compile_options *options, char *message, size_t message_size)
{
	static const struct npu_compile_options defaults;
	struct npu_compiled *c = calloc(1, sizeof(*c));
	struct npuc_diag d = { "" };
	int err;

	err = c ? compile(c, onnx, size, options ? options : &defaults, &d)
		: npuc_fail(&d, -ENOMEM, "out of memory");
	if (message_size)
		snprintf(message, message_size, "%s", d.message);
	if (err) {
		npu_compiled_free(c);
		return err;
	}
	/* Its diagnostics ended with this call. */
	c->p->d = NULL;
	c->q.d = NULL;
	c->q.c = NULL;
	*out = c;
	return 0;
}

int npu_compiled_write(const struct npu_compiled *c, int fd)
{
	return npuc_module_write(&c->m, fd);
}

const struct npu_compile_row *npu_compiled_rows(const struct npu_compiled *c, size_t *count)
{
	*count = c->p->n_placement;
	return c->row;
}

const struct npu_calibrated *npu_compiled_calibrated(const struct npu_compiled *c,
						     const struct npu_calibrated_row **rows,
						     size_t *count)
{
	*rows = c->q.row;
	*count = c->q.n_row;
	return c->calibrated ? &c->q.total : NULL;
}

const char *npu_compiled_info(const struct npu_compiled *c)
{
	return c->m.info;
}

void npu_compiled_free(struct npu_compiled *c)
{
	if (!c)
		return;
	npuc_module_free(&c->m);
	npuc_program_free(c->p);
	npuc_graph_free(c->g);
	npuc_quantiser_free(&c->q);
	free(c->stream);
	free(c->row);
	free(c);
}
