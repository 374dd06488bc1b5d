// SPDX-License-Identifier: MIT
/* npu run: calls a function of a module with tensors from files */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <npu/npu.h>

#include "userspace/tools/run_report.h"
#include "userspace/tools/tool.h"

#define MAX_TENSORS	64
#define MAX_STEPS	1024
#define MAX_ITEMS	(1 << 20)

struct args {
	const char *device, *module, *function;
	const char *input[MAX_TENSORS], *output[MAX_TENSORS];
	unsigned int inputs, outputs;
	long items, seed;
	bool json, quiet;
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

static bool take_path(const char **list, unsigned int *n, const char *what)
{
	if (*n < MAX_TENSORS) {
		list[(*n)++] = optarg;
		return true;
	}
	tool_fail("more than %d times %s", MAX_TENSORS, what);
	return false;
}

static bool take_option(int c, struct args *a)
{
	switch (c) {
	case 'd':
		a->device = optarg;
		return true;
	case 'f':
		a->function = optarg;
		return true;
	case 'i':
		return take_path(a->input, &a->inputs, "--input");
	case 'o':
		return take_path(a->output, &a->outputs, "--output");
	case 'n':
		return tool_number(optarg, 1, MAX_ITEMS, "--items", &a->items);
	case 's':
		return tool_number(optarg, 0, INT32_MAX, "--seed", &a->seed);
	case 'j':
		a->json = true;
		return true;
	case 'q':
		a->quiet = true;
		return true;
	default:
		tool_usage(&tool_run);
		return false;
	}
}

static int parse(int argc, char **argv, struct args *a)
{
	static const struct option options[] = {
		{"device", required_argument, NULL, 'd'},
		{"function", required_argument, NULL, 'f'},
		{"input", required_argument, NULL, 'i'},
		{"output", required_argument, NULL, 'o'},
		{"items", required_argument, NULL, 'n'},
		{"seed", required_argument, NULL, 's'},
		{"json", no_argument, NULL, 'j'},
		{"quiet", no_argument, NULL, 'q'},
		{0},
	};
	int c;

	a->items = 1;
	a->function = "main";
	while ((c = getopt_long(argc, argv, "i:o:q", options, NULL)) != -1)
		if (!take_option(c, a))
			return TOOL_USAGE;
	if (tool_operands(&tool_run, argc, argv, 1, 1))
		return TOOL_USAGE;
	a->module = argv[optind];
	return TOOL_OK;
}

static size_t tensor_bytes(const DLTensor *t)
{
	size_t n = (t->dtype.bits + 7) / 8;

	for (int i = 0; i < t->ndim; i++)
		n *= t->shape[i];
	return n;
}

/* The tensor's size by its shape may exceed what a size_t holds, times the items. */
static bool fits(const DLTensor *t)
{
	size_t n = (t->dtype.bits + 7) / 8;

	for (int i = 0; i < t->ndim; i++)
		if (__builtin_mul_overflow(n, (size_t)t->shape[i], &n))
			return false;
	return n <= PTRDIFF_MAX;
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
			((float *)t->data)[i] =
				(int32_t)(next_random(&state) >> 32) / 2147483648.0f;
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
		status = tool_fail("%s: input %s wants %zu bytes, the file has %zu", path, name,
				   want, size);
	free(data);
	return status;
}

static int make_tensor(struct call *c, unsigned int i, const struct args *a)
{
	struct npu_tensor_info ti;
	DLTensor *t = &c->tensor[i];
	int err = npu_function_get_tensor(c->fn, i, &ti);

	if (err)
		return tool_fail_npu(err, "tensor");
	memcpy(c->shape[i], ti.shape, sizeof(c->shape[i]));
	if (c->info.batched && ti.ndim)
		c->shape[i][0] = a->items;
	*t = (DLTensor){
		.device = {kDLCPU, 0},
		.ndim = ti.ndim,
		.dtype = ti.dtype,
		.shape = c->shape[i],
	};
	if (fits(t))
		t->data = calloc(1, tensor_bytes(t));
	if (!t->data)
		return tool_fail("tensor %s: out of memory for %ld items", ti.name, a->items);
	c->value[i] = (struct npu_value){.type_index = NPU_TYPE_TENSOR, .v_tensor = t};
	if (i < a->inputs)
		return fill_from_file(t, ti.name, a->input[i]);
	if (i < c->info.inputs)
		fill_random(t, a->seed + i);
	return TOOL_OK;
}

static int make_tensors(struct call *c, const struct args *a)
{
	unsigned int all = c->info.inputs + c->info.outputs;
	int status = TOOL_OK;

	if (all > MAX_TENSORS)
		return tool_fail("%s has %u arguments, at most %d are possible here", c->info.name,
				 all, MAX_TENSORS);
	if (a->inputs > c->info.inputs || a->outputs > c->info.outputs)
		return tool_fail("%s has %u inputs and %u outputs, %u and %u were given",
				 c->info.name, c->info.inputs, c->info.outputs, a->inputs,
				 a->outputs);
	if (a->items > 1 && !c->info.batched)
		return tool_fail("%s takes one item a call, --items %ld was given", c->info.name,
				 a->items);
	for (unsigned int i = 0; i < all && !status; i++)
		status = make_tensor(c, i, a);
	return status;
}

static int call_function(struct call *c)
{
	int32_t n = c->info.inputs + c->info.outputs;
	int err = npu_function_profile(c->fn, c->value, n, c->stats, MAX_STEPS);

	return err ? tool_fail_npu(err, c->info.name) : TOOL_OK;
}

static int save_outputs(const struct call *c, const struct args *a)
{
	int status = TOOL_OK;

	for (unsigned int i = 0; i < a->outputs && !status; i++) {
		const DLTensor *t = &c->tensor[c->info.inputs + i];

		status = tool_save_file(a->output[i], t->data, tensor_bytes(t));
	}
	return status;
}

/* A module of kind host needs no device. */
static int load_module(struct call *c, const struct args *a)
{
	size_t size;
	void *image = tool_read_file(a->module, &size);
	const char *what = a->module;
	int err, status;

	if (!image)
		return TOOL_FAILED;
	err = npu_module_load_memory(NULL, image, size, &c->module);
	if (err == -ENODEV) {
		err = npu_device_open(&c->dev, a->device);
		if (err)
			what = a->device ? a->device : "device";
		else
			err = npu_module_load_memory(c->dev, image, size, &c->module);
	}
	status = err ? tool_fail_npu(err, what) : TOOL_OK;
	free(image);
	return status;
}

/* With the names that there are, which is what one wants to know next. */
static int find_function(struct call *c, const struct args *a)
{
	unsigned int n = npu_module_function_count(c->module);
	char names[256] = "";

	if (!npu_module_get_function(c->module, a->function, &c->fn)) {
		npu_function_get_info(c->fn, &c->info);
		return TOOL_OK;
	}
	for (unsigned int i = 0; i < n && strlen(names) + 1 < sizeof(names); i++)
		snprintf(names + strlen(names), sizeof(names) - strlen(names), "%s%s",
			 i ? ", " : "", npu_module_function_name(c->module, i));
	return tool_fail("%s: no function \"%s\"; it has %s", a->module, a->function, names);
}

static void report(const struct call *c, const struct args *a, int *status)
{
	struct npu_device_info device = {.path = "host"};
	struct run_report r = {
		.function = &c->info,
		.items = a->items,
		.device = device.path,
		.step = c->stats,
		.steps = c->info.steps < MAX_STEPS ? c->info.steps : MAX_STEPS,
	};

	if (c->dev)
		npu_device_get_info(c->dev, &device, sizeof(device));
	if (a->json)
		*status = run_report_json(&r);
	else if (!a->quiet)
		run_report_print(&r);
}

static void close_all(struct call *c)
{
	for (int i = 0; i < MAX_TENSORS; i++)
		free(c->tensor[i].data);
	npu_module_free(c->module);
	npu_device_close(c->dev);
	free(c);
}

static int run(const struct args *a)
{
	struct call *c = calloc(1, sizeof(*c));
	int status = c ? load_module(c, a) : tool_fail("out of memory");

	if (!status)
		status = find_function(c, a);
	if (!status)
		status = make_tensors(c, a);
	if (!status)
		status = call_function(c);
	if (!status)
		status = save_outputs(c, a);
	if (!status)
		report(c, a, &status);
	if (c)
		close_all(c);
	return status;
}

static int run_run(int argc, char **argv)
{
	struct args a = {0};
	int status = parse(argc, argv, &a);

	return status ? status : run(&a);
}

const struct tool_command tool_run = {
	"run",
	"[OPTIONS] MODULE.npu",
	"calls a function of a module",
	"      --function NAME   the function (main)\n"
	"  -i, --input FILE      the next input's bytes; \"-\" is standard input;\n"
	"                        inputs without a file are random\n"
	"  -o, --output FILE     where the next output's bytes go\n"
	"      --items N         items of a batch (1)\n"
	"      --seed N          of the random inputs (0)\n"
	"      --device NAME     instead of the environment's NPU_DEVICE\n"
	"      --json            prints the report as JSON\n"
	"  -q, --quiet           prints no report\n",
	run_run,
};
