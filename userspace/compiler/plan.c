// SPDX-License-Identifier: MIT
#include "userspace/compiler/module.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Tables of the plan while it is made. */
struct planner {
	struct npuc_module *m;
	const struct npuc_program *p;
	struct npuc_image tensors, buffers, steps, regions, operands, blob;
	uint32_t n_buffers;
	uint32_t const_buffer, scratch_buffer;
	uint32_t n_steps, n_regions, n_operands;
	uint64_t macs;
};

static int oom(const struct planner *pl)
{
	return npuc_fail(pl->p->d, -ENOMEM, "out of memory");
}

static int add(struct planner *pl, struct npuc_image *im, const void *data, size_t size,
	       size_t align)
{
	int64_t at = npuc_image_add(im, size, align);

	if (at < 0)
		return oom(pl);
	memcpy(im->data + at, data, size);
	return 0;
}

static int64_t string(struct planner *pl, const char *s)
{
	int64_t at = npuc_image_add(&pl->m->strings, strlen(s) + 1, 1);

	if (at >= 0)
		memcpy(pl->m->strings.data + at, s, strlen(s));
	return at;
}

static int add_tensor(struct planner *pl, int tensor)
{
	const struct npuc_tensor *t = &pl->p->g->tensor[tensor];
	int64_t name = string(pl, t->name);
	struct npu_plan_tensor out = {
		.name = name,
		.lanes = 1,
		.ndim = t->rank,
		.dtype_bits = 8 * npuc_dtype_size(t->dtype),
		.dtype_code = t->dtype == NPUC_F32  ? 2
			      : t->dtype == NPUC_U8 ? 1
						    : 0,
	};

	if (name < 0)
		return oom(pl);
	for (int i = 0; i < t->rank; i++)
		out.shape[i] = t->dim[i];
	return add(pl, &pl->tensors, &out, sizeof(out), 8);
}

static int add_buffer(struct planner *pl, uint32_t kind, uint32_t index, uint64_t size,
		      uint32_t *number)
{
	struct npu_plan_buffer out = { .kind = kind, .index = index, .size = size };

	*number = pl->n_buffers++;
	return add(pl, &pl->buffers, &out, sizeof(out), 8);
}

static uint64_t tensor_bytes(const struct planner *pl, int tensor)
{
	const struct npuc_tensor *t = &pl->p->g->tensor[tensor];

	return npuc_elements(t) * npuc_dtype_size(t->dtype);
}

/* Inputs, outputs, then the constants and the scratch memory if there are any. */
static int add_buffers(struct planner *pl)
{
	const struct npuc_graph *g = pl->p->g;
	uint32_t number;
	int err = 0;

	for (size_t i = 0; i < g->n_input && !err; i++)
		err = add_buffer(pl, NPU_BUFFER_INPUT, i, tensor_bytes(pl, g->input[i]), &number);
	for (size_t i = 0; i < g->n_output && !err; i++)
		err = add_buffer(pl, NPU_BUFFER_OUTPUT, i, tensor_bytes(pl, g->output[i]), &number);
	if (!err && pl->m->constants.size)
		err = add_buffer(pl, NPU_BUFFER_CONST, 0, pl->m->constants.size, &pl->const_buffer);
	if (!err && pl->p->scratch)
		err = add_buffer(pl, NPU_BUFFER_SCRATCH, 0, pl->p->scratch, &pl->scratch_buffer);
	return err;
}

static uint32_t buffer_of(const struct planner *pl, const struct npuc_place *place)
{
	switch (place->space) {
	case NPUC_SPACE_INPUT:
		return place->index;
	case NPUC_SPACE_OUTPUT:
		return pl->p->g->n_input + place->index;
	case NPUC_SPACE_CONST:
		return pl->const_buffer;
	default:
		return pl->scratch_buffer;
	}
}

static int add_host_step(struct planner *pl, const struct npuc_stage *s)
{
	int64_t name = string(pl, s->host.kernel);
	struct npu_plan_step step = {
		.kind = NPU_STEP_HOST,
		.name = name,
		.first = pl->n_operands,
		.count = s->host.operands,
		.param_size = s->host.param_size,
	};
	int64_t at;

	if (name < 0)
		return oom(pl);
	at = npuc_image_add(&pl->blob, s->host.param_size, 8);
	if (at < 0)
		return oom(pl);
	memcpy(pl->blob.data + at, s->host.param, s->host.param_size);
	step.param_offset = at;
	for (int i = 0; i < s->host.operands; i++) {
		const struct npuc_place *place = &s->host.operand[i];
		struct npu_plan_operand o = {
			.buffer = buffer_of(pl, place),
			.access = i == s->host.operands - 1 ? NPU_ACCESS_W : NPU_ACCESS_R,
			.offset = place->offset,
			.size = place->size,
		};

		if (add(pl, &pl->operands, &o, sizeof(o), 8))
			return -ENOMEM;
		pl->n_operands++;
	}
	pl->n_steps++;
	return add(pl, &pl->steps, &step, sizeof(step), 8);
}

static int add_npu_step(struct planner *pl, const struct npuc_stream *st)
{
	struct npu_plan_region region[NPUC_REGIONS] = {
		[NPUC_REGION_NONE] = { .buffer = NPU_PLAN_NONE },
		[NPUC_REGION_CONST] = { pl->const_buffer, NPU_ACCESS_R, 0, pl->m->constants.size },
		[NPUC_REGION_SCRATCH] = { pl->scratch_buffer, NPU_ACCESS_R | NPU_ACCESS_W, 0,
					  pl->p->scratch },
		[NPUC_REGION_UOP] = { pl->const_buffer, NPU_ACCESS_R, st->uop_offset,
				      st->uop_size },
	};
	static const struct npu_plan_region none = { .buffer = NPU_PLAN_NONE };
	int64_t name = string(pl, pl->p->stage[st->first_stage].name);
	struct npu_plan_step step = {
		.kind = NPU_STEP_NPU,
		.name = name,
		.first = pl->n_regions,
		.count = NPUC_REGIONS,
		.insn_first = st->insn_first,
		.insn_count = st->insn_count,
		.useful_macs = st->macs,
	};

	if (name < 0)
		return oom(pl);
	if (!pl->m->constants.size)
		region[NPUC_REGION_CONST] = region[NPUC_REGION_UOP] = none;
	pl->n_regions += NPUC_REGIONS;
	pl->n_steps++;
	pl->macs += st->macs;
	if (add(pl, &pl->regions, region, sizeof(region), 8))
		return -ENOMEM;
	return add(pl, &pl->steps, &step, sizeof(step), 8);
}

static int add_steps(struct planner *pl, const struct npuc_stream *streams, size_t n_streams)
{
	size_t next = 0;
	int err = 0;

	for (size_t i = 0; i < pl->p->n_stage && !err;) {
		if (next < n_streams && streams[next].first_stage == (int)i) {
			err = add_npu_step(pl, &streams[next]);
			i += streams[next++].stages;
		} else {
			err = add_host_step(pl, &pl->p->stage[i++]);
		}
	}
	return err;
}

static bool batched(const struct npuc_graph *g)
{
	for (size_t i = 0; i < g->n_input; i++)
		if (g->tensor[g->input[i]].rank < 1 || g->tensor[g->input[i]].dim[0] != 1)
			return false;
	for (size_t i = 0; i < g->n_output; i++)
		if (g->tensor[g->output[i]].rank < 1 || g->tensor[g->output[i]].dim[0] != 1)
			return false;
	return g->n_input > 0;
}

static int put_table(struct planner *pl, const struct npuc_image *from, size_t entry,
		     struct npu_plan_table *table)
{
	int64_t at = npuc_image_add(&pl->m->plan, from->size, 8);

	if (at < 0)
		return oom(pl);
	if (from->size)
		memcpy(pl->m->plan.data + at, from->data, from->size);
	*table = (struct npu_plan_table){ at, from->size / entry };
	return 0;
}

static int assemble(struct planner *pl, const char *function)
{
	struct npu_plan_header h = { .magic = NPU_PLAN_MAGIC };
	struct npu_plan_function f = {
		.flags = batched(pl->p->g) ? NPU_FUNCTION_BATCHED : 0,
		.inputs = pl->p->g->n_input,
		.outputs = pl->p->g->n_output,
		.buffers = pl->n_buffers,
		.steps = pl->n_steps,
		.useful_macs = pl->macs,
	};
	struct npuc_image functions = { (void *)&f, sizeof(f), sizeof(f) };
	int64_t name = string(pl, function);
	int err;

	if (name < 0 || npuc_image_add(&pl->m->plan, sizeof(h), 8) < 0)
		return oom(pl);
	f.name = name;
	err = put_table(pl, &functions, sizeof(f), &h.functions);
	if (!err)
		err = put_table(pl, &pl->tensors, sizeof(struct npu_plan_tensor), &h.tensors);
	if (!err)
		err = put_table(pl, &pl->buffers, sizeof(struct npu_plan_buffer), &h.buffers);
	if (!err)
		err = put_table(pl, &pl->steps, sizeof(struct npu_plan_step), &h.steps);
	if (!err)
		err = put_table(pl, &pl->regions, sizeof(struct npu_plan_region), &h.regions);
	if (!err)
		err = put_table(pl, &pl->operands, sizeof(struct npu_plan_operand), &h.operands);
	if (!err)
		err = put_table(pl, &pl->blob, 1, &h.blob);
	if (err)
		return err;
	h.size = pl->m->plan.size;
	memcpy(pl->m->plan.data, &h, sizeof(h));
	return 0;
}

int npuc_plan(struct npuc_module *m, const struct npuc_program *p,
	      const struct npuc_stream *streams, size_t n_streams, const char *function)
{
	struct planner pl = { .m = m, .p = p };
	int err = string(&pl, "") < 0 ? oom(&pl) : 0;

	if (p->scratch > NPU_PLAN_MAX_BYTES || m->constants.size > NPU_PLAN_MAX_BYTES)
		err = npuc_fail(p->d, -E2BIG,
				"%llu bytes of scratch and %zu of constants, at most %llu each",
				(unsigned long long)p->scratch, m->constants.size,
				NPU_PLAN_MAX_BYTES);
	for (size_t i = 0; i < p->g->n_input && !err; i++)
		err = add_tensor(&pl, p->g->input[i]);
	for (size_t i = 0; i < p->g->n_output && !err; i++)
		err = add_tensor(&pl, p->g->output[i]);
	if (!err)
		err = add_buffers(&pl);
	if (!err)
		err = add_steps(&pl, streams, n_streams);
	if (!err)
		err = assemble(&pl, function);
	m->kind = n_streams ? NPU_MODULE_NPU : NPU_MODULE_HOST;
	free(pl.tensors.data);
	free(pl.buffers.data);
	free(pl.steps.data);
	free(pl.regions.data);
	free(pl.operands.data);
	free(pl.blob.data);
	return err;
}
