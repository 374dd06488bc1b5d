// SPDX-License-Identifier: MIT
/* npu objdump: what is in a module */
#include "userspace/tools/objdump.h"

#include <stdlib.h>

#include "userspace/tools/tool.h"

const char *objdump_type(const struct npu_plan_tensor *t, char out[24])
{
	static const char *const codes[] = {"int", "uint", "float"};

	snprintf(out, 24, "%s%u", t->dtype_code < 3 ? codes[t->dtype_code] : "?", t->dtype_bits);
	return out;
}

static void print_head(const struct module_file *m)
{
	const struct npu_module_note *n = &m->desc;

	printf("module version %u, kind %s", n->version, module_kind(m));
	if (n->kind == NPU_MODULE_NPU)
		printf(", contract %u.%u, config 0x%08x 0x%08x, features 0x%llx", n->contract >> 16,
		       n->contract & 0xffff, n->config0, n->config1,
		       (unsigned long long)n->hw_features);
	printf("\n%zu instructions, %zu bytes of constants\n", m->insn.size / NPU_INSN_BYTES,
	       m->constants.size);
}

static bool print_uop(void *opaque, uint32_t index, uint32_t word)
{
	char line[64];

	(void)opaque;
	npu_uop_print(word, line, sizeof(line));
	printf("        uop[%u] %s\n", index, line);
	return !ferror(stdout);
}

static void print_insns(const struct module_file *m, const struct npu_plan_function *f,
			const struct npu_plan_step *s, const struct objdump_args *a)
{
	char line[NPU_INSN_PRINT_MAX];
	struct npu_insn insn;

	for (uint32_t i = 0; i < s->insn_count && !ferror(stdout); i++) {
		module_insn(m, s, i, &insn);
		npu_insn_print(&insn, line, sizeof(line));
		printf("    %6u  %s\n", i, line);
		if (a->uops)
			module_uops(m, f, s, &insn, print_uop, NULL);
	}
}

static void print_step(const struct module_file *m, const struct npu_plan_function *f, uint32_t i,
		       const struct objdump_args *a)
{
	const struct npu_plan_step *s = &m->step[f->first_step + i];
	bool host = s->kind == NPU_STEP_HOST;

	printf("  step %u: %s%s%s ", i, tool_style(stdout, host ? TOOL_YELLOW : TOOL_GREEN),
	       host ? "host" : "npu", tool_style(stdout, TOOL_PLAIN));
	tool_put(module_string(m, s->name), 0);
	if (host) {
		printf(", %u operands\n", s->count);
		return;
	}
	printf(", %u instructions, %llu useful MAC\n", s->insn_count,
	       (unsigned long long)s->useful_macs);
	if (a->insns)
		print_insns(m, f, s, a);
}

static void print_tensor(const struct module_file *m, const char *what,
			 const struct npu_plan_tensor *t)
{
	char type[24];

	printf("  %s ", what);
	tool_put(module_string(m, t->name), 0);
	printf(": %s [", objdump_type(t, type));
	for (uint32_t i = 0; i < t->ndim && i < NPU_PLAN_MAX_DIMS; i++)
		printf("%s%llu", i ? "," : "", (unsigned long long)t->shape[i]);
	puts("]");
}

static void print_function(const struct module_file *m, const struct npu_plan_function *f,
			   const struct objdump_args *a)
{
	const struct npu_plan_tensor *t = &m->tensor[f->first_tensor];

	printf("\n%sfunction ", tool_style(stdout, TOOL_BOLD));
	tool_put(module_string(m, f->name), 0);
	printf("%s%s, %llu useful MAC\n", tool_style(stdout, TOOL_PLAIN),
	       f->flags & NPU_FUNCTION_BATCHED ? " (any number of items)" : "",
	       (unsigned long long)f->useful_macs);
	for (uint32_t i = 0; i < f->inputs + f->outputs; i++)
		print_tensor(m, i < f->inputs ? "input" : "output", &t[i]);
	for (uint32_t i = 0; i < f->steps && !ferror(stdout); i++)
		print_step(m, f, i, a);
}

int objdump_text(const struct module_file *m, const struct objdump_args *a)
{
	print_head(m);
	for (uint32_t i = 0; i < m->h.functions.count && !ferror(stdout); i++)
		print_function(m, &m->function[i], a);
	return TOOL_OK;
}

static int parse(int argc, char **argv, struct objdump_args *a)
{
	static const struct option options[] = {
		{"disassemble", no_argument, NULL, 'd'},
		{"micro-ops", no_argument, NULL, 'u'},
		{"json", no_argument, NULL, 'j'},
		{0},
	};
	int c;

	while ((c = getopt_long(argc, argv, "du", options, NULL)) != -1) {
		if (c == 'j')
			a->json = true;
		else if (c == 'd')
			a->insns = true;
		else if (c == 'u')
			a->insns = a->uops = true;
		else
			return tool_usage(&tool_objdump);
	}
	if (tool_operands(&tool_objdump, argc, argv, 1, 1))
		return TOOL_USAGE;
	a->path = argv[optind];
	return TOOL_OK;
}

static int run_objdump(int argc, char **argv)
{
	struct objdump_args a = {0};
	struct module_file m;
	size_t size;
	char *image;
	int status = parse(argc, argv, &a);

	if (status)
		return status;
	image = tool_read_file(a.path, &size);
	if (!image)
		return TOOL_FAILED;
	status = module_file_read(&m, image, size, a.path);
	if (!status)
		status = a.json ? objdump_json(&m, &a) : objdump_text(&m, &a);
	free(image);
	return status;
}

const struct tool_command tool_objdump = {
	"objdump",
	"[OPTIONS] MODULE.npu",
	"prints what is in a module",
	"  -d, --disassemble     prints instructions\n"
	"  -u, --micro-ops       prints instructions and the micro-ops that they load\n"
	"      --json            prints JSON\n",
	run_objdump,
};
