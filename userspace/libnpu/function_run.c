// SPDX-License-Identifier: MIT
/*
 * Running a function: items pass through the steps in groups. While the jobs
 * of one group are on the device, the host works on the other group, so that
 * neither waits for the other where a call brings enough items.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "userspace/libnpu/module.h"

#define GROUPS		2u
#define GROUP_ITEMS	32u
#define GROUP_BYTES	(128ull << 20)

/**
 * struct run - one call
 * @fn: function
 * @tensors: arguments
 * @stats: one entry a step, or NULL
 * @max: entries of @stats
 * @jobs: room for a group's jobs
 */
struct run {
	struct npu_function *fn;
	DLTensor *const *tensors;
	struct npu_step_stats *stats;
	unsigned int max;
	struct npu_backend_job *jobs;
};

/**
 * struct group - items that pass through the steps together
 * @slot: first of the function's items that is theirs
 * @first: number of the first item in the call
 * @count: items; 0: the group is not in use
 * @step: step that comes next
 * @npu_step: how many NPU steps came before it
 * @waiting: NPU steps that were submitted and not yet waited for
 * @seqno: last job of these
 */
struct group {
	uint32_t slot;
	uint64_t first;
	uint32_t count;
	uint32_t step;
	uint32_t npu_step;
	uint32_t waiting;
	uint64_t seqno;
};

static struct npu_step_stats *stats_of(const struct run *run, uint32_t step)
{
	return run->stats && step < run->max ? &run->stats[step] : NULL;
}

static const char *string(const struct run *run, uint32_t offset)
{
	return run->fn->module->plan.strings + offset;
}

/* ---- host steps ---- */

static uint8_t *argument(const struct run *run, const struct npu_plan_buffer *b, uint64_t item)
{
	uint32_t index = b->kind == NPU_BUFFER_INPUT ? b->index : run->fn->plan->inputs + b->index;
	const DLTensor *t = run->tensors[index];

	return (uint8_t *)t->data + t->byte_offset + item * b->size;
}

static uint8_t *operand(const struct run *run, const struct npu_plan_operand *o, uint32_t slot,
			uint64_t item)
{
	const struct npu_plan_buffer *b = &run->fn->buffers[o->buffer];

	if (b->kind == NPU_BUFFER_INPUT || b->kind == NPU_BUFFER_OUTPUT)
		return argument(run, b, item) + o->offset;
	return npu_function_host(run->fn, o->buffer, slot) + o->offset;
}

static void run_host(const struct run *run, const struct group *g)
{
	const struct npu_plan *plan = &run->fn->module->plan;
	const struct npu_plan_step *step = &run->fn->steps[g->step];
	const struct npu_host_kernel *kernel = plan->kernels[step - plan->steps];
	const struct npu_plan_operand *o = plan->operands + step->first;
	struct npu_step_stats *stats = stats_of(run, g->step);
	int64_t start = stats ? npu_clock_ns() : 0;
	const void *src[NPU_HOST_MAX_INPUTS];
	uint32_t i, k;

	for (i = 0; i < g->count; i++) {
		for (k = 0; k < kernel->inputs; k++)
			src[k] = operand(run, &o[k], g->slot + i, g->first + i);
		kernel->run(plan->blob + step->param_offset, src,
			    operand(run, &o[kernel->inputs], g->slot + i, g->first + i));
	}
	if (stats) {
		stats->runs += g->count;
		stats->host_ns += npu_clock_ns() - start;
	}
}

/* ---- NPU steps ---- */

static int submit(const struct run *run, struct group *g)
{
	const struct npu_plan_step *step = &run->fn->steps[g->step];
	const struct npu_module *module = run->fn->module;
	uint32_t i;
	int ret;

	for (i = 0; i < g->count; i++) {
		uint32_t item = g->slot + i;

		npu_report_clear(npu_function_report(run->fn, item, g->npu_step));
		run->jobs[i] = (struct npu_backend_job) {
			.insn_va = npu_buffer_address(module->insn) + 16ull * step->insn_first,
			.insn_count = step->insn_count,
			.region_count = step->count,
			.region_va = step->count ?
				     npu_function_regions(run->fn, item, g->npu_step) : 0,
			.report_va = npu_function_report_va(run->fn, item, g->npu_step),
		};
	}
	ret = npu_stream_submit_raw(module->stream, run->jobs, g->count, g->waiting, &g->seqno);
	if (ret)
		return ret;
	g->waiting++;
	g->npu_step++;
	return 0;
}

static int judge(const struct run *run, const struct group *g, uint32_t step, uint32_t npu_step,
		 uint64_t first_seqno)
{
	struct npu_step_stats *stats = stats_of(run, step);
	struct npu_report report;
	uint32_t i;
	int ret;

	for (i = 0; i < g->count; i++) {
		ret = npu_stream_judge(run->fn->module->stream, first_seqno + i,
				       npu_function_report(run->fn, g->slot + i, npu_step),
				       &report);
		if (ret)
			return npu_fail(ret, "function \"%s\": step %u (\"%s\"), item %llu: %s",
					string(run, run->fn->plan->name), step,
					string(run, run->fn->steps[step].name),
					(unsigned long long)g->first + i, npu_error_message());
		if (stats) {
			stats->runs++;
			npu_report_add(&stats->total, &report);
		}
	}
	return 0;
}

/* Wait for the steps that were submitted, which are the ones right before @g->step. */
static int settle(const struct run *run, struct group *g)
{
	uint32_t count = g->waiting;
	uint32_t i;
	int ret;

	if (!count)
		return 0;
	ret = npu_stream_wait_raw(run->fn->module->stream, g->seqno, INT64_MAX);
	g->waiting = 0;
	for (i = 0; !ret && i < count; i++)
		ret = judge(run, g, g->step - count + i, g->npu_step - count + i,
			    g->seqno + 1 - (uint64_t)(count - i) * g->count);
	return ret;
}

/* ---- groups ---- */

/* Go on until the device has to be waited for, or the end. */
static int advance(const struct run *run, struct group *g)
{
	int ret;

	for (; g->step < run->fn->plan->steps; g->step++) {
		if (run->fn->steps[g->step].kind == NPU_STEP_HOST) {
			if (g->waiting)
				return 0;
			run_host(run, g);
			continue;
		}
		ret = submit(run, g);
		if (ret)
			return ret;
	}
	return 0;
}

static int finish(const struct run *run, struct group *g)
{
	int ret = 0;

	if (!g->count)
		return 0;
	do {
		ret = settle(run, g);
		if (!ret)
			ret = advance(run, g);
	} while (!ret && g->waiting);
	if (!ret)
		g->count = 0;
	return ret;
}

static int run_groups(const struct run *run, struct group *groups, uint64_t items, uint32_t most)
{
	uint64_t first = 0;
	unsigned int turn = 0;
	int ret = 0;

	for (; !ret && first < items; turn++) {
		struct group *g = &groups[turn % GROUPS];

		ret = finish(run, g);
		if (ret)
			break;
		*g = (struct group) {
			.slot = turn % GROUPS * most,
			.first = first,
			.count = items - first < most ? items - first : most,
		};
		first += g->count;
		ret = advance(run, g);
	}
	if (!ret)
		ret = finish(run, &groups[turn % GROUPS]);
	if (!ret)
		ret = finish(run, &groups[(turn + 1) % GROUPS]);
	return ret;
}

/* After an error the device may still be at work in memory that the next call uses. */
static void drain(const struct run *run, const struct group *groups)
{
	unsigned int i;

	for (i = 0; i < GROUPS; i++)
		if (groups[i].waiting)
			npu_stream_wait_raw(run->fn->module->stream, groups[i].seqno, INT64_MAX);
}

static uint32_t group_size(const struct npu_function *fn, uint64_t items)
{
	uint64_t most = GROUP_ITEMS;

	if (fn->npu_steps && fn->module->dev->info.max_jobs < most)
		most = fn->module->dev->info.max_jobs;
	if (fn->scratch_size && GROUP_BYTES / fn->scratch_size < most)
		most = GROUP_BYTES / fn->scratch_size;
	/* Two groups even of few items, so that host and device overlap. */
	if (items < 2 * most)
		most = (items + 1) / 2;
	return most ? most : 1;
}

static void start_stats(const struct run *run, uint64_t items)
{
	uint32_t i;

	for (i = 0; i < run->fn->plan->steps && stats_of(run, i); i++) {
		const struct npu_plan_step *step = &run->fn->steps[i];

		run->stats[i] = (struct npu_step_stats) {
			.name = string(run, step->name),
			.kind = step->kind,
			.useful_macs = step->useful_macs * items,
		};
	}
}

int npu_function_run(struct npu_function *fn, DLTensor *const *tensors, uint64_t items,
		     struct npu_step_stats *stats, unsigned int max)
{
	uint32_t most = group_size(fn, items);
	struct group groups[GROUPS] = { { 0 } };
	struct run run = { .fn = fn, .tensors = tensors, .stats = stats, .max = max };
	int ret;

	_Static_assert(NPU_STEP_KIND_NPU == NPU_STEP_NPU && NPU_STEP_KIND_HOST == NPU_STEP_HOST,
		       "kinds of steps are the plan's");
	ret = npu_function_reserve(fn, items > most ? GROUPS * most : most);
	if (ret)
		return ret;
	run.jobs = calloc(most, sizeof(*run.jobs));
	if (!run.jobs)
		return npu_fail(-ENOMEM, "out of memory for %u jobs", most);
	start_stats(&run, items);
	ret = run_groups(&run, groups, items, most);
	if (ret)
		drain(&run, groups);
	free(run.jobs);
	return ret;
}
