// SPDX-License-Identifier: MIT
/*
 * What the layers of the network cost, each in two ways.
 *
 * In the network: the network up to and with the layer is compiled as a model
 * of its own; the layer's cycles are how much longer that takes than the one
 * that ends before it. So the layers add up to the whole network, and where
 * one overlaps with its neighbour, the later one gains.
 *
 * Alone: the layer is compiled as a model of its own, int8 in and int8 out.
 * Nothing overlaps with anything else, and its input and output pass through
 * memory.
 *
 * Without the first layer: all layers but the first, as a model of its own.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "tests/bench/net_layers.h"
#include "tests/demo/network.h"
#include "userspace/compiler/npu_compiler.h"

#define MAX_TENSORS	2

/**
 * struct part - some layers, compiled and run once
 * @macs: multiply-accumulates as the model counts them
 * @cycles: of the core
 * @npu: operators that run on the NPU
 * @operators: operators that do work
 * @output: type and shape of its output
 */
struct part {
	uint64_t macs;
	uint64_t cycles;
	unsigned int npu;
	unsigned int operators;
	struct npu_tensor_info output;
};

static int fail(const char *what, const char *why)
{
	fprintf(stderr, "%s: %s\n", what, why);
	return -1;
}

static void count_operators(const struct npu_compiled *c, struct part *part)
{
	const struct npu_compile_row *rows;
	size_t i, count;

	rows = npu_compiled_rows(c, &count);
	for (i = 0; i < count; i++) {
		part->npu += !strcmp(rows[i].where, "npu");
		part->operators += strcmp(rows[i].where, "free") != 0;
	}
}

static int load(struct npu_device *dev, const struct npu_compiled *c, struct npu_module **module)
{
	char path[32];
	int fd = memfd_create("module", MFD_CLOEXEC), ret;

	if (fd < 0)
		return fail("memfd", "cannot be made");
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	ret = npu_compiled_write(c, fd);
	if (ret)
		ret = fail("compiled part", strerror(-ret));
	else if (npu_module_load(dev, path, module))
		ret = fail("compiled part", npu_error_message());
	close(fd);
	return ret;
}

static int compile(struct npu_device *dev, const void *model, size_t size, struct part *part,
		   struct npu_module **module)
{
	struct npu_compiled *c;
	char message[512];
	int ret;

	if (npu_compile(&c, model, size, NULL, message, sizeof(message)))
		return fail("compiler", message);
	count_operators(c, part);
	ret = load(dev, c, module);
	npu_compiled_free(c);
	return ret;
}

static int make_tensor(const struct npu_tensor_info *info, DLTensor *t)
{
	size_t bytes = (info->dtype.bits + 7) / 8;
	int i;

	for (i = 0; i < info->ndim; i++)
		bytes *= info->shape[i];
	*t = (DLTensor) {
		.data = calloc(1, bytes), .device = { kDLCPU, 0 }, .ndim = info->ndim,
		.dtype = info->dtype, .shape = (int64_t *)info->shape,
	};
	return t->data ? 0 : fail(info->name, "out of memory");
}

static void sum(const struct npu_function_info *info, const struct npu_step_stats *stats,
		struct part *part)
{
	uint32_t i;

	part->macs = info->useful_macs;
	for (i = 0; i < info->steps; i++)
		if (stats[i].kind == NPU_STEP_KIND_NPU)
			part->cycles += stats[i].total.cycles;
}

static int call(struct npu_function *fn, const struct npu_function_info *info, struct part *part)
{
	struct npu_step_stats *stats = calloc(info->steps, sizeof(*stats));
	struct npu_tensor_info tensors[MAX_TENSORS];
	DLTensor data[MAX_TENSORS] = { 0 };
	struct npu_value args[MAX_TENSORS];
	int i, ret = stats ? 0 : fail(info->name, "out of memory");

	for (i = 0; !ret && i < MAX_TENSORS; i++) {
		npu_function_get_tensor(fn, i, &tensors[i]);
		ret = make_tensor(&tensors[i], &data[i]);
		args[i] = (struct npu_value) {
			.type_index = NPU_TYPE_TENSOR, .v_tensor = &data[i],
		};
	}
	if (!ret && npu_function_profile(fn, args, MAX_TENSORS, stats, info->steps))
		ret = fail(info->name, npu_error_message());
	if (!ret) {
		sum(info, stats, part);
		part->output = tensors[1];
	}
	for (i = 0; i < MAX_TENSORS; i++)
		free(data[i].data);
	free(stats);
	return ret;
}

static int run(struct npu_module *module, struct part *part)
{
	struct npu_function_info info;
	struct npu_function *fn;

	if (npu_module_get_function(module, "main", &fn))
		return fail("main", npu_error_message());
	npu_function_get_info(fn, &info);
	if (info.inputs != 1 || info.outputs != 1)
		return fail(info.name, "expected one input and one output");
	return call(fn, &info, part);
}

/* Cycles do not depend on data, so the input is all zeros. */
static int measure(struct npu_device *dev, const struct net_graph *g, unsigned int first,
		   unsigned int last, const struct npu_tensor_info *input, struct part *part)
{
	struct npu_module *module = NULL;
	size_t size;
	void *model = net_graph_cut(g, first, last, input, &size);
	int ret;

	memset(part, 0, sizeof(*part));
	if (!model)
		return -1;
	ret = compile(dev, model, size, part, &module);
	if (!ret)
		ret = run(module, part);
	npu_module_free(module);
	free(model);
	/* The name belongs to the module. */
	part->output.name = NULL;
	return ret;
}

/* ---- table ---- */

#define MAX_LAYERS	64

/**
 * struct layer - what a layer costs
 * @name: of its QLinearConv or QLinearMatMul
 * @inside: in the network; only MAC and cycles
 * @alone: as a model of its own
 */
struct layer {
	const char *name;
	struct part inside;
	struct part alone;
};

/**
 * struct costs - what all of them cost
 * @count: layers
 * @layers: each by itself
 * @rest: all but the first, as a model of its own
 * @whole: the network
 */
struct costs {
	unsigned int count;
	struct layer layers[MAX_LAYERS];
	struct part rest;
	struct part whole;
};

static int measure_all(struct npu_device *dev, const struct net_graph *g, struct costs *c)
{
	unsigned int i;

	c->count = net_graph_layers(g);
	if (c->count < 2 || c->count > MAX_LAYERS)
		return fail(NET_MODEL, "expected 2 to 64 layers");
	for (i = 0; i < c->count; i++) {
		struct layer *layer = &c->layers[i];
		struct part before = c->whole;

		layer->name = net_graph_layer_name(g, i);
		if (measure(dev, g, i, i, &before.output, &layer->alone) ||
		    measure(dev, g, 0, i, NULL, &c->whole))
			return -1;
		layer->inside.macs = c->whole.macs - before.macs;
		layer->inside.cycles = c->whole.cycles - before.cycles;
		if (i == 1 && measure(dev, g, 1, c->count - 1, &before.output, &c->rest))
			return -1;
	}
	return 0;
}

static double utilisation(const struct part *part)
{
	return network_utilisation(part->macs, part->cycles);
}

static void print_row(const char *name, const struct part *part, const struct part *alone)
{
	printf("# %-14s %9" PRIu64 " %8" PRIu64 " %6.1f %%", name, part->macs, part->cycles,
	       100 * utilisation(part));
	if (alone)
		printf(" %10" PRIu64 " %6.1f %%", alone->cycles, 100 * utilisation(alone));
	putchar('\n');
}

static void print_table(const struct costs *c)
{
	unsigned int i;
	char name[64];

	printf("# layer                MAC   cycles  of peak      alone  of peak\n");
	for (i = 0; i < c->count; i++)
		print_row(c->layers[i].name, &c->layers[i].inside, &c->layers[i].alone);
	print_row("network", &c->whole, NULL);
	snprintf(name, sizeof(name), "without %s", c->layers[0].name);
	print_row(name, &c->rest, NULL);
	printf("# %u of %u operators that do work run on the NPU\n", c->whole.npu,
	       c->whole.operators);
}

static void print_figures(const struct costs *c)
{
	unsigned int i;

	printf("net_cycles_per_image %" PRIu64 "\n", c->whole.cycles);
	printf("net_utilisation %.4f\n", utilisation(&c->whole));
	printf("net_utilisation_without_first %.4f\n", utilisation(&c->rest));
	printf("net_npu_operator_share %.4f\n", (double)c->whole.npu / c->whole.operators);
	for (i = 0; i < c->count; i++) {
		const struct layer *layer = &c->layers[i];

		printf("net_%s_cycles %" PRIu64 "\n", layer->name, layer->inside.cycles);
		printf("net_%s_utilisation %.4f\n", layer->name, utilisation(&layer->inside));
		printf("net_%s_alone_cycles %" PRIu64 "\n", layer->name, layer->alone.cycles);
		printf("net_%s_alone_utilisation %.4f\n", layer->name, utilisation(&layer->alone));
	}
}

int net_layers_report(struct npu_device *dev, const struct net_graph *g)
{
	static struct costs costs;

	memset(&costs, 0, sizeof(costs));
	if (measure_all(dev, g, &costs))
		return -1;
	print_table(&costs);
	print_figures(&costs);
	return 0;
}
