// SPDX-License-Identifier: MIT
/* npu objdump: what is in a module */
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "userspace/isa/npu_insn.h"
#include "userspace/isa/npu_module.h"
#include "userspace/tools/tool.h"

struct part {
	const uint8_t *data;
	size_t size;
};

struct module {
	struct part note, insn, constants, plan, str, info;
	struct npu_plan_header h;
};

struct args {
	const char *path;
	bool json, insns, uops;
};

static void take(struct module *m, const char *name, struct part p)
{
	static const struct {
		const char *name;
		size_t at;
	} parts[] = {
		{ NPU_SECTION_NOTE, offsetof(struct module, note) },
		{ NPU_SECTION_INSN, offsetof(struct module, insn) },
		{ NPU_SECTION_CONST, offsetof(struct module, constants) },
		{ NPU_SECTION_PLAN, offsetof(struct module, plan) },
		{ NPU_SECTION_STR, offsetof(struct module, str) },
		{ NPU_SECTION_INFO, offsetof(struct module, info) },
	};

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		if (!strcmp(name, parts[i].name))
			*(struct part *)((char *)m + parts[i].at) = p;
}

static bool read_sections(Elf *elf, struct module *m)
{
	size_t names;
	Elf_Scn *scn = NULL;

	if (elf_getshdrstrndx(elf, &names))
		return false;
	while ((scn = elf_nextscn(elf, scn))) {
		Elf_Data *data = elf_rawdata(scn, NULL);
		const char *name;
		GElf_Shdr sh;

		if (!gelf_getshdr(scn, &sh))
			return false;
		name = elf_strptr(elf, names, sh.sh_name);
		if (name && data)
			take(m, name, (struct part){ data->d_buf, data->d_buf ? data->d_size : 0 });
	}
	return true;
}

/* A table of the plan, or NULL where it leaves the section. */
static const void *table(const struct module *m, struct npu_plan_table t, size_t entry)
{
	if (t.offset % 8 || t.offset > m->plan.size || t.count > (m->plan.size - t.offset) / entry)
		return NULL;
	return m->plan.data + t.offset;
}

static const char *string(const struct module *m, uint32_t at)
{
	if (at >= m->str.size || !memchr(m->str.data + at, 0, m->str.size - at))
		return "?";
	return (const char *)m->str.data + at;
}

static bool read_plan(struct module *m, const char *path)
{
	if (m->plan.size < sizeof(m->h) || (uintptr_t)m->plan.data % 8) {
		tool_fail("%s: no section %s of at least %zu bytes", path, NPU_SECTION_PLAN, sizeof(m->h));
		return false;
	}
	memcpy(&m->h, m->plan.data, sizeof(m->h));
	if (m->h.magic == NPU_PLAN_MAGIC && m->h.size == m->plan.size)
		return true;
	tool_fail("%s: the plan starts with 0x%08x and says %u bytes; expected 0x%08x and %zu", path, m->h.magic,
		  m->h.size, NPU_PLAN_MAGIC, m->plan.size);
	return false;
}

static void print_note(const struct module *m)
{
	/* name and descriptor sizes, type, the padded name, then the descriptor */
	const size_t head = 16;
	struct npu_module_note n;

	if (m->note.size < head + sizeof(n))
		return;
	memcpy(&n, m->note.data + head, sizeof(n));
	printf("module version %u, kind %s, contract %u.%u, config 0x%08x 0x%08x, features 0x%llx\n", n.version,
	       n.kind == NPU_MODULE_NPU ? "npu" : n.kind == NPU_MODULE_HOST ? "host" : "?", n.contract >> 16,
	       n.contract & 0xffff, n.config0, n.config1, (unsigned long long)n.hw_features);
	printf("%zu instructions, %zu bytes of constants\n", m->insn.size / NPU_INSN_BYTES, m->constants.size);
}

static void print_uops(const struct module *m, const struct npu_plan_step *s, const struct npu_insn *insn)
{
	const struct npu_plan_region *r = table(m, m->h.regions, sizeof(*r));
	char line[64];

	if (insn->format != NPU_FORMAT_MEM || insn->mem.opcode != NPU_OP_LOAD || insn->mem.memory != NPU_MEM_UOP ||
	    !r || (uint64_t)s->first + insn->mem.region >= m->h.regions.count)
		return;
	r += s->first + insn->mem.region;
	for (int64_t i = 0; i < insn->mem.x_size; i++) {
		uint64_t at = r->offset + (insn->mem.dram_base + i) * NPU_UOP_BYTES;
		uint32_t word;

		if (at + sizeof(word) > m->constants.size)
			return;
		memcpy(&word, m->constants.data + at, sizeof(word));
		npu_uop_print(word, line, sizeof(line));
		printf("        uop[%lld] %s\n", (long long)(insn->mem.sram_base + i), line);
	}
}

static void print_insns(const struct module *m, const struct npu_plan_step *s, const struct args *a)
{
	char line[NPU_INSN_PRINT_MAX];
	struct npu_insn insn;

	for (uint64_t i = s->insn_first; i < (uint64_t)s->insn_first + s->insn_count; i++) {
		if ((i + 1) * NPU_INSN_BYTES > m->insn.size)
			break;
		npu_insn_decode(m->insn.data + i * NPU_INSN_BYTES, &insn);
		npu_insn_print(&insn, line, sizeof(line));
		printf("    %6llu  %s\n", (unsigned long long)(i - s->insn_first), line);
		if (a->uops)
			print_uops(m, s, &insn);
	}
}

static void print_step(const struct module *m, uint32_t i, const struct npu_plan_step *s, const struct args *a)
{
	if (s->kind == NPU_STEP_HOST) {
		printf("  step %u: host %s, %u operands\n", i, string(m, s->name), s->count);
		return;
	}
	printf("  step %u: npu %s, %u instructions, %llu useful MAC\n", i, string(m, s->name), s->insn_count,
	       (unsigned long long)s->useful_macs);
	if (a->insns)
		print_insns(m, s, a);
}

static void print_tensor(const struct module *m, const char *what, const struct npu_plan_tensor *t)
{
	static const char *const codes[] = { "int", "uint", "float" };

	printf("  %s %s: %s%u [", what, string(m, t->name), t->dtype_code < 3 ? codes[t->dtype_code] : "?",
	       t->dtype_bits);
	for (uint32_t i = 0; i < t->ndim && i < NPU_PLAN_MAX_DIMS; i++)
		printf("%s%llu", i ? "," : "", (unsigned long long)t->shape[i]);
	puts("]");
}

static void print_function(const struct module *m, const struct npu_plan_function *f, const struct args *a)
{
	const struct npu_plan_tensor *t = table(m, m->h.tensors, sizeof(*t));
	const struct npu_plan_step *s = table(m, m->h.steps, sizeof(*s));

	printf("\nfunction %s%s, %llu useful MAC\n", string(m, f->name),
	       f->flags & NPU_FUNCTION_BATCHED ? " (any number of items)" : "", (unsigned long long)f->useful_macs);
	for (uint64_t i = 0; t && i < (uint64_t)f->inputs + f->outputs && f->first_tensor + i < m->h.tensors.count; i++)
		print_tensor(m, i < f->inputs ? "input" : "output", &t[f->first_tensor + i]);
	for (uint64_t i = 0; s && i < f->steps && f->first_step + i < m->h.steps.count; i++)
		print_step(m, i, &s[f->first_step + i], a);
}

static json_t *insns_json(const struct module *m, const struct npu_plan_step *s)
{
	char line[NPU_INSN_PRINT_MAX];
	json_t *list = json_array();
	struct npu_insn insn;

	for (uint64_t i = s->insn_first; i < (uint64_t)s->insn_first + s->insn_count; i++) {
		if ((i + 1) * NPU_INSN_BYTES > m->insn.size)
			break;
		npu_insn_decode(m->insn.data + i * NPU_INSN_BYTES, &insn);
		npu_insn_print(&insn, line, sizeof(line));
		json_array_append_new(list, json_string(line));
	}
	return list;
}

static json_t *function_json(const struct module *m, const struct npu_plan_function *f, const struct args *a)
{
	const struct npu_plan_step *s = table(m, m->h.steps, sizeof(*s));
	json_t *steps = json_array();

	for (uint64_t i = 0; s && i < f->steps && f->first_step + i < m->h.steps.count; i++) {
		const struct npu_plan_step *st = &s[f->first_step + i];
		json_t *o = json_pack("{s:s, s:s, s:i}", "where", st->kind == NPU_STEP_HOST ? "host" : "npu", "name",
				      string(m, st->name), "instructions", st->insn_count);

		if (a->insns && st->kind == NPU_STEP_NPU)
			json_object_set_new(o, "code", insns_json(m, st));
		json_array_append_new(steps, o);
	}
	return json_pack("{s:s, s:I, s:o}", "name", string(m, f->name), "useful_macs", (json_int_t)f->useful_macs,
			 "steps", steps);
}

static int show(const struct module *m, const struct args *a)
{
	const struct npu_plan_function *f = table(m, m->h.functions, sizeof(*f));
	json_t *list = json_array();

	if (!f)
		return tool_fail("%s: the table of functions leaves the plan", a->path);
	if (!a->json)
		print_note(m);
	for (uint32_t i = 0; i < m->h.functions.count; i++) {
		if (a->json)
			json_array_append_new(list, function_json(m, &f[i], a));
		else
			print_function(m, &f[i], a);
	}
	if (a->json)
		return tool_print_json(json_pack("{s:o, s:o*}", "functions", list, "compiler",
						 json_loadb((const char *)m->info.data, m->info.size, 0, NULL)));
	json_decref(list);
	return TOOL_OK;
}

static int parse(int argc, char **argv, struct args *a)
{
	for (int i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "--json"))
			a->json = true;
		else if (!strcmp(argv[i], "-d"))
			a->insns = true;
		else if (!strcmp(argv[i], "-u"))
			a->insns = a->uops = true;
		else if (argv[i][0] != '-' && !a->path)
			a->path = argv[i];
		else
			return tool_usage(&tool_objdump);
	}
	return a->path ? TOOL_OK : tool_usage(&tool_objdump);
}

static int run_objdump(int argc, char **argv)
{
	struct module m = { 0 };
	struct args a = { 0 };
	int status = parse(argc, argv, &a);
	size_t size;
	char *image;
	Elf *elf;

	if (status)
		return status;
	image = tool_read_file(a.path, &size);
	if (!image)
		return TOOL_FAILED;
	elf_version(EV_CURRENT);
	elf = elf_memory(image, size);
	if (!elf || elf_kind(elf) != ELF_K_ELF || !read_sections(elf, &m))
		status = tool_fail("%s: not an ELF file with sections", a.path);
	else if (!read_plan(&m, a.path))
		status = TOOL_FAILED;
	else
		status = show(&m, &a);
	elf_end(elf);
	free(image);
	return status;
}

const struct tool_command tool_objdump = {
	"objdump", "[-d] [-u] [--json] MODULE.npu",
	"prints what is in a module; -d its instructions, -u micro-ops as well", run_objdump,
};
