// SPDX-License-Identifier: MIT
#include "userspace/tools/run_report.h"
#include "userspace/tools/tool.h"

#include "npu_isa.h"

/* Multiply-accumulates that a core can do in a cycle. */
#define PEAK	(NPU_BLOCK * NPU_BLOCK)

static double utilisation(uint64_t useful_macs, uint64_t cycles)
{
	return cycles ? (double)useful_macs / PEAK / cycles : 0;
}

static double percent(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * part / whole : 0;
}

static void sum(const struct run_report *r, uint64_t *cycles, uint64_t *macs)
{
	*cycles = 0;
	*macs = 0;
	for (unsigned int i = 0; i < r->steps; i++) {
		if (r->step[i].kind != NPU_STEP_KIND_NPU)
			continue;
		*cycles += r->step[i].total.cycles;
		*macs += r->step[i].useful_macs;
	}
}

static void set_number(json_t *o, const char *key, uint64_t value)
{
	json_object_set_new(o, key, json_integer((json_int_t)value));
}

static json_t *step_json(const struct npu_step_stats *s)
{
	const struct npu_report *r = &s->total;
	json_t *o = json_object();

	json_object_set_new(o, "step", tool_json_text(s->name));
	json_object_set_new(o, "where",
			    json_string(s->kind == NPU_STEP_KIND_HOST ? "host" : "npu"));
	set_number(o, "runs", s->runs);
	if (s->kind == NPU_STEP_KIND_HOST) {
		set_number(o, "ns", s->host_ns);
		return o;
	}
	set_number(o, "cycles", r->cycles);
	set_number(o, "macs", r->macs);
	set_number(o, "useful_macs", s->useful_macs);
	set_number(o, "bytes_read", r->bytes_read);
	set_number(o, "bytes_written", r->bytes_written);
	set_number(o, "busy_load", r->busy_load);
	set_number(o, "busy_compute", r->busy_compute);
	set_number(o, "busy_store", r->busy_store);
	set_number(o, "stall_load", r->stall_load);
	set_number(o, "stall_compute_load", r->stall_compute_load);
	set_number(o, "stall_compute_store", r->stall_compute_store);
	set_number(o, "stall_store", r->stall_store);
	json_object_set_new(o, "utilisation", json_real(utilisation(s->useful_macs, r->cycles)));
	return o;
}

int run_report_json(const struct run_report *r)
{
	json_t *o = json_object(), *list = json_array();
	uint64_t cycles, macs;

	sum(r, &cycles, &macs);
	json_object_set_new(o, "function", tool_json_text(r->function->name));
	json_object_set_new(o, "device", tool_json_text(r->device));
	set_number(o, "items", r->items);
	set_number(o, "cycles", cycles);
	set_number(o, "useful_macs", macs);
	json_object_set_new(o, "utilisation", json_real(utilisation(macs, cycles)));
	for (unsigned int i = 0; i < r->steps; i++)
		json_array_append_new(list, step_json(&r->step[i]));
	json_object_set_new(o, "steps", list);
	return tool_print_json(o);
}

static void print_step(const struct npu_step_stats *s)
{
	const struct npu_report *r = &s->total;
	bool host = s->kind == NPU_STEP_KIND_HOST;

	tool_put(s->name, 24);
	printf(" %s%-4s%s %6u", tool_style(stdout, host ? TOOL_YELLOW : TOOL_GREEN),
	       host ? "host" : "npu", tool_style(stdout, TOOL_PLAIN), s->runs);
	if (host)
		printf(" %14s %9.3f ms\n", "", s->host_ns / 1e6);
	else
		printf(" %14llu %10.1f %%  load %.0f %% compute %.0f %% store %.0f %%\n",
		       (unsigned long long)r->cycles, 100 * utilisation(s->useful_macs, r->cycles),
		       percent(r->busy_load, r->cycles), percent(r->busy_compute, r->cycles),
		       percent(r->busy_store, r->cycles));
}

void run_report_print(const struct run_report *r)
{
	uint64_t cycles, macs;

	printf("%s%-24s %-4s %6s %14s %12s%s\n", tool_style(stdout, TOOL_BOLD), "STEP", "ON",
	       "RUNS", "CYCLES", "USEFUL/TIME", tool_style(stdout, TOOL_PLAIN));
	for (unsigned int i = 0; i < r->steps; i++)
		print_step(&r->step[i]);
	sum(r, &cycles, &macs);
	if (cycles)
		printf("%ld items, %llu cycles on %s, useful for %.1f %% of the peak\n", r->items,
		       (unsigned long long)cycles, r->device, 100 * utilisation(macs, cycles));
}
