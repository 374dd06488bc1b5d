// SPDX-License-Identifier: MIT
/* npu run: calls a function of a module with tensors from files */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <npu/npu.h>

#include "userspace/tools/tool.h"

#define MAX_TENSORS	16
#define MAX_STEPS	256
#define MAX_ITEMS	(1 << 20)

struct args {
	const char *module, *function;
	const char *input[MAX_TENSORS], *output[MAX_TENSORS];
	unsigned int inputs, outputs;
	long items, seed;
	bool json;
};

struct call {
	struct npu_device *dev;
	struct npu_module *module;
	struct npu_function *fn;
	struct npu_function_info info;
	DLTensor tensor[MAX_TENSORS];
	int64_t shape[MAX_TENSORS][NPU_MAX_DIMS];
	struct npu_value value[MAX_TENSORS];
	struct npu_step_stats stats[MAX_STEPS];
};

static bool take_path(int argc, char **argv, int *i, const char **list, unsigned int *n)
{
	if (*i + 1 >= argc || *n >= MAX_TENSORS)
		return false;
	list[(*n)++] = argv[++*i];
	return true;
}

static int parse(int argc, char **argv, struct args *a)
{
	bool ok = true;

	a->items = 1;
	for (int i = 1; i < argc && ok; i++) {
		bool more = i + 1 < argc;

		if (!strcmp(argv[i], "--input"))
			ok = take_path(argc, argv, &i, a->input, &a->inputs);
		else if (!strcmp(argv[i], "--output"))
			ok = take_path(argc, argv, &i, a->output, &a->outputs);
		else if (!strcmp(argv[i], "--function") && more)
			a->function = argv[++i];
		else if (!strcmp(argv[i], "--items") && more)
			ok = tool_number(argv[++i], 1, MAX_ITEMS, "--items", &a->items);
		else if (!strcmp(argv[i], "--seed") && more)
			ok = tool_number(argv[++i], 0, INT32_MAX, "--seed", &a->seed);
		else if (!strcmp(argv[i], "--json"))
			a->json = true;
		else if (argv[i][0] != '-' && !a->module)
			a->module = argv[i];
		else
			ok = false;
	}
	return ok && a->module ? TOOL_OK : tool_usage(&tool_run);
}

static size_t tensor_bytes(const DLTensor *t)
{
	size_t n = (t->dtype.bits + 7) / 8;

	for (int i = 0; i < t->ndim; i++)
		n *= t->shape[i];
	return n;
}

static uint64_t next_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

/* Floats in [-1, 1), whole numbers of any value. */
static void fill_random(DLTensor *t, uint64_t seed)
{
	uint64_t state = seed * 2 + 0x9e3779b97f4a7c15ull;
	size_t bytes = tensor_bytes(t);

	if (t->dtype.code == kDLFloat && t->dtype.bits == 32)
		for (size_t i = 0; i < bytes / 4; i++)
			((float *)t->data)[i] = (int32_t)(next_random(&state) >> 32) / 2147483648.0f;
	else
		for (size_t i = 0; i < bytes; i++)
			((uint8_t *)t->data)[i] = next_random(&state) >> 32;
}

static int fill_from_file(DLTensor *t, const char *name, const char *path)
{
	size_t size, want = tensor_bytes(t);
	void *data = tool_read_file(path, &size);
	int status = TOOL_OK;

	if (!data)
		return TOOL_FAILED;
	if (size == want)
		memcpy(t->data, data, size);
	else
		status = tool_fail("%s: input %s wants %zu bytes, the file has %zu", path, name, want, size);
	free(data);
	return status;
}

static int make_tensor(struct call *c, unsigned int i, long items)
{
	struct npu_tensor_info ti;
	DLTensor *t = &c->tensor[i];
	int err = npu_function_get_tensor(c->fn, i, &ti);

	if (err)
		return tool_fail_npu(err, "tensor");
	memcpy(c->shape[i], ti.shape, sizeof(c->shape[i]));
	if (c->info.batched && ti.ndim)
		c->shape[i][0] = items;
	*t = (DLTensor){ .device = { kDLCPU, 0 }, .ndim = ti.ndim, .dtype = ti.dtype, .shape = c->shape[i] };
	t->data = aligned_alloc(64, (tensor_bytes(t) + 127) / 64 * 64);
	if (!t->data)
		return tool_fail("tensor %s: out of memory for %zu bytes", ti.name, tensor_bytes(t));
	c->value[i] = (struct npu_value){ .type_index = NPU_TYPE_TENSOR, .v_tensor = t };
	return TOOL_OK;
}

static int make_tensors(struct call *c, const struct args *a)
{
	unsigned int all = c->info.inputs + c->info.outputs;
	int status = TOOL_OK;

	if (all > MAX_TENSORS)
		return tool_fail("%s has %u arguments, at most %d are possible here", c->info.name, all, MAX_TENSORS);
	if (a->inputs > c->info.inputs || a->outputs > c->info.outputs)
		return tool_fail("%s has %u inputs and %u outputs, %u and %u were given", c->info.name,
				 c->info.inputs, c->info.outputs, a->inputs, a->outputs);
	if (a->items > 1 && !c->info.batched)
		return tool_fail("%s takes one item a call, --items %ld was given", c->info.name, a->items);
	for (unsigned int i = 0; i < all && !status; i++) {
		struct npu_tensor_info ti;

		status = make_tensor(c, i, a->items);
		if (status || i >= c->info.inputs)
			continue;
		npu_function_get_tensor(c->fn, i, &ti);
		if (i < a->inputs)
			status = fill_from_file(&c->tensor[i], ti.name, a->input[i]);
		else
			fill_random(&c->tensor[i], a->seed + i);
	}
	return status;
}

static int save_outputs(const struct call *c, const struct args *a)
{
	for (unsigned int i = 0; i < a->outputs; i++) {
		const DLTensor *t = &c->tensor[c->info.inputs + i];
		FILE *f = fopen(a->output[i], "wb");
		size_t bytes = tensor_bytes(t), done = f ? fwrite(t->data, 1, bytes, f) : 0;
		int err = errno;

		if (f && fclose(f))
			err = errno;
		else if (done == bytes)
			continue;
		return tool_fail("%s: %s", a->output[i], strerror(err));
	}
	return TOOL_OK;
}

static double utilisation(const struct npu_step_stats *s)
{
	return s->total.cycles ? s->useful_macs / 256.0 / s->total.cycles : 0;
}

static json_t *step_json(const struct npu_step_stats *s)
{
	const struct npu_report *r = &s->total;

	if (s->kind == NPU_STEP_KIND_HOST)
		return json_pack("{s:s, s:s, s:i, s:I}", "step", s->name, "where", "host", "runs", s->runs, "ns",
				 (json_int_t)s->host_ns);
	return json_pack("{s:s, s:s, s:i, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:f}", "step",
			 s->name, "where", "npu", "runs", s->runs, "cycles", (json_int_t)r->cycles, "macs",
			 (json_int_t)r->macs, "useful_macs", (json_int_t)s->useful_macs, "bytes_read",
			 (json_int_t)r->bytes_read, "bytes_written", (json_int_t)r->bytes_written, "busy_load",
			 (json_int_t)r->busy_load, "busy_compute", (json_int_t)r->busy_compute, "busy_store",
			 (json_int_t)r->busy_store, "stall_load", (json_int_t)r->stall_load, "stall_compute_load",
			 (json_int_t)r->stall_compute_load, "stall_compute_store",
			 (json_int_t)r->stall_compute_store, "stall_store", (json_int_t)r->stall_store,
			 "utilisation", utilisation(s));
}

static void print_step(const struct npu_step_stats *s)
{
	const struct npu_report *r = &s->total;

	if (s->kind == NPU_STEP_KIND_HOST) {
		printf("%-24.24s host %6u %14s %10.3f ms\n", s->name, s->runs, "", s->host_ns / 1e6);
		return;
	}
	printf("%-24.24s npu  %6u %14llu %9.1f %%  load %.0f %% compute %.0f %% store %.0f %%\n", s->name, s->runs,
	       (unsigned long long)r->cycles, 100 * utilisation(s), 100.0 * r->busy_load / (r->cycles ? r->cycles : 1),
	       100.0 * r->busy_compute / (r->cycles ? r->cycles : 1),
	       100.0 * r->busy_store / (r->cycles ? r->cycles : 1));
}

static int report(const struct call *c, const struct args *a)
{
	unsigned int n = c->info.steps < MAX_STEPS ? c->info.steps : MAX_STEPS;
	json_t *list;

	if (a->json) {
		list = json_array();
		for (unsigned int i = 0; i < n; i++)
			json_array_append_new(list, step_json(&c->stats[i]));
		return tool_print_json(json_pack("{s:s, s:I, s:o}", "function", c->info.name, "items",
						 (json_int_t)a->items, "steps", list));
	}
	printf("%-24s %-4s %6s %14s %11s\n", "STEP", "ON", "RUNS", "CYCLES", "USEFUL/TIME");
	for (unsigned int i = 0; i < n; i++)
		print_step(&c->stats[i]);
	return TOOL_OK;
}

static int open_all(struct call *c, const struct args *a)
{
	int err = npu_device_open(&c->dev, NULL);

	if (err)
		return tool_fail_npu(err, "device");
	err = npu_module_load(c->dev, a->module, &c->module);
	if (err)
		return tool_fail_npu(err, a->module);
	err = npu_module_get_function(c->module, a->function ? a->function : "main", &c->fn);
	if (err)
		return tool_fail_npu(err, a->module);
	npu_function_get_info(c->fn, &c->info);
	return TOOL_OK;
}

static void close_all(struct call *c)
{
	for (int i = 0; i < MAX_TENSORS; i++)
		free(c->tensor[i].data);
	if (c->module)
		npu_module_free(c->module);
	if (c->dev)
		npu_device_close(c->dev);
	free(c);
}

static int run_run(int argc, char **argv)
{
	struct call *c = calloc(1, sizeof(*c));
	struct args a = { 0 };
	int status = c ? parse(argc, argv, &a) : tool_fail("out of memory"), err;

	if (!status)
		status = open_all(c, &a);
	if (!status)
		status = make_tensors(c, &a);
	if (!status) {
		err = npu_function_profile(c->fn, c->value, c->info.inputs + c->info.outputs, c->stats, MAX_STEPS);
		if (err)
			status = tool_fail_npu(err, c->info.name);
	}
	if (!status)
		status = save_outputs(c, &a);
	if (!status)
		status = report(c, &a);
	if (c)
		close_all(c);
	return status;
}

const struct tool_command tool_run = {
	"run", "MODULE.npu [--function NAME] [--input FILE]... [--output FILE]... [--items N] [--seed N] [--json]",
	"calls a function of a module; inputs without a file are random", run_run,
};
