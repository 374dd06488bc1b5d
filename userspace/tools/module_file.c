// SPDX-License-Identifier: MIT
#include "userspace/tools/module_file.h"

#include <gelf.h>
#include <libelf.h>
#include <string.h>

#include "npu_proto.h"
#include "userspace/tools/tool.h"

/* An ELF note: sizes and type, then the name, which needs no padding. */
#define NOTE_HEAD	16

static int bad_elf(const char *path)
{
	return tool_fail("%s: not a module: %s", path, elf_errmsg(-1));
}

static struct section *wanted(struct module_file *m, const char *name)
{
	static const struct {
		const char *name;
		size_t at;
	} parts[] = {
		{NPU_SECTION_NOTE, offsetof(struct module_file, note)},
		{NPU_SECTION_INSN, offsetof(struct module_file, insn)},
		{NPU_SECTION_CONST, offsetof(struct module_file, constants)},
		{NPU_SECTION_PLAN, offsetof(struct module_file, plan)},
		{NPU_SECTION_STR, offsetof(struct module_file, str)},
		{NPU_SECTION_INFO, offsetof(struct module_file, info)},
	};

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		if (!strcmp(name, parts[i].name))
			return (struct section *)((char *)m + parts[i].at);
	return NULL;
}

static int read_sections(struct module_file *m, Elf *elf, const char *image, size_t size,
			 const char *path)
{
	Elf_Scn *scn = NULL;
	size_t names;

	if (elf_getshdrstrndx(elf, &names))
		return bad_elf(path);
	while ((scn = elf_nextscn(elf, scn))) {
		struct section *s;
		const char *name;
		GElf_Shdr sh;

		if (!gelf_getshdr(scn, &sh))
			return bad_elf(path);
		name = elf_strptr(elf, names, sh.sh_name);
		if (!name)
			return bad_elf(path);
		s = wanted(m, name);
		if (!s)
			continue;
		if (s->data)
			return tool_fail("%s: section %s: found twice", path, name);
		if (sh.sh_type == SHT_NOBITS || sh.sh_flags & SHF_COMPRESSED)
			return tool_fail("%s: section %s has no plain bytes", path, name);
		if (sh.sh_offset > size || sh.sh_size > size - sh.sh_offset)
			return tool_fail(
				"%s: section %s: end: expected %zu at most, found %llu + %llu",
				path, name, size, (unsigned long long)sh.sh_offset,
				(unsigned long long)sh.sh_size);
		*s = (struct section){(const uint8_t *)image + sh.sh_offset, sh.sh_size};
	}
	return TOOL_OK;
}

static int read_elf(struct module_file *m, char *image, size_t size, const char *path)
{
	GElf_Ehdr head;
	int status;
	Elf *elf;

	elf_version(EV_CURRENT);
	elf = elf_memory(image, size);
	if (!elf)
		return bad_elf(path);
	if (elf_kind(elf) != ELF_K_ELF || !gelf_getehdr(elf, &head))
		status = tool_fail("%s: not a module: no ELF file", path);
	else if (head.e_ident[EI_CLASS] != ELFCLASS64 || head.e_ident[EI_DATA] != ELFDATA2LSB ||
		 head.e_machine != EM_NONE)
		status = tool_fail(
			"%s: ELF class, data, machine: expected %u, %u, %u, found %u, %u, %u",
			path, ELFCLASS64, ELFDATA2LSB, EM_NONE, head.e_ident[EI_CLASS],
			head.e_ident[EI_DATA], head.e_machine);
	else
		status = read_sections(m, elf, image, size, path);
	elf_end(elf);
	return status;
}

static int read_heads(struct module_file *m, const char *path)
{
	if (m->note.size != NOTE_HEAD + sizeof(m->desc))
		return tool_fail("%s: section %s: expected %zu bytes, found %zu", path,
				 NPU_SECTION_NOTE, NOTE_HEAD + sizeof(m->desc), m->note.size);
	memcpy(&m->desc, m->note.data + NOTE_HEAD, sizeof(m->desc));
	if (m->desc.version != NPU_MODULE_VERSION)
		return tool_fail("%s: version of the module format: expected %u, found %u", path,
				 NPU_MODULE_VERSION, m->desc.version);
	if (m->plan.size < sizeof(m->h) || (uintptr_t)m->plan.data % 8)
		return tool_fail(
			"%s: section %s: expected %zu bytes or more, aligned to 8, found %zu", path,
			NPU_SECTION_PLAN, sizeof(m->h), m->plan.size);
	memcpy(&m->h, m->plan.data, sizeof(m->h));
	if (m->h.magic == NPU_PLAN_MAGIC && m->h.size == m->plan.size)
		return TOOL_OK;
	return tool_fail("%s: the plan: expected 0x%08x and %zu bytes, found 0x%08x and %u", path,
			 NPU_PLAN_MAGIC, m->plan.size, m->h.magic, m->h.size);
}

static const void *table(const struct module_file *m, struct npu_plan_table t, size_t entry,
			 const char *name, const char *path)
{
	if (t.offset % 8 == 0 && t.offset <= m->plan.size &&
	    t.count <= (m->plan.size - t.offset) / entry)
		return m->plan.data + t.offset;
	tool_fail("%s: table of %s: expected to be within %zu bytes, found %u of %zu bytes at %u",
		  path, name, m->plan.size, t.count, entry, t.offset);
	return NULL;
}

#define TABLE(m, what, entries, path) \
	((m)->what = table(m, (m)->h.entries, sizeof(*(m)->what), #entries, path))

static bool read_tables(struct module_file *m, const char *path)
{
	return TABLE(m, function, functions, path) && TABLE(m, tensor, tensors, path) &&
	       TABLE(m, buffer, buffers, path) && TABLE(m, step, steps, path) &&
	       TABLE(m, region, regions, path);
}

/* Functions share nothing, so what is printed is bounded by the file's size. */
static int check_range(const char *path, uint32_t function, const char *what, uint64_t first,
		       uint64_t count, uint64_t *next, uint32_t all)
{
	if (first != *next || count > all - first)
		return tool_fail(
			"%s: function %u: %s: expected from %llu, up to %u, found %llu + %llu",
			path, function, what, (unsigned long long)*next, all,
			(unsigned long long)first, (unsigned long long)count);
	*next += count;
	return TOOL_OK;
}

static int check_functions(const struct module_file *m, const char *path)
{
	uint64_t tensors = 0, buffers = 0, steps = 0;
	int status = TOOL_OK;

	for (uint32_t i = 0; i < m->h.functions.count && !status; i++) {
		const struct npu_plan_function *f = &m->function[i];

		status =
			check_range(path, i, "tensors", f->first_tensor,
				    (uint64_t)f->inputs + f->outputs, &tensors, m->h.tensors.count);
		if (!status)
			status = check_range(path, i, "buffers", f->first_buffer, f->buffers,
					     &buffers, m->h.buffers.count);
		if (!status)
			status = check_range(path, i, "steps", f->first_step, f->steps, &steps,
					     m->h.steps.count);
	}
	return status;
}

static int check_steps(const struct module_file *m, const char *path)
{
	uint64_t insns = m->insn.size / NPU_INSN_BYTES;

	for (uint32_t i = 0; i < m->h.steps.count; i++) {
		const struct npu_plan_step *s = &m->step[i];

		if (s->kind == NPU_STEP_HOST)
			continue;
		if (s->kind != NPU_STEP_NPU)
			return tool_fail("%s: step %u: kind: expected %u or %u, found %u", path, i,
					 NPU_STEP_NPU, NPU_STEP_HOST, s->kind);
		if ((uint64_t)s->insn_first + s->insn_count > insns)
			return tool_fail(
				"%s: step %u: expected %llu instructions at most, found %u + %u",
				path, i, (unsigned long long)insns, s->insn_first, s->insn_count);
		if ((uint64_t)s->first + s->count > m->h.regions.count ||
		    s->count > NPU_REGION_TABLE_MAX)
			return tool_fail(
				"%s: step %u: expected %u regions of %u at most, found %u + %u",
				path, i, NPU_REGION_TABLE_MAX, m->h.regions.count, s->first,
				s->count);
	}
	return TOOL_OK;
}

int module_file_read(struct module_file *m, char *image, size_t size, const char *path)
{
	int status;

	memset(m, 0, sizeof(*m));
	status = read_elf(m, image, size, path);
	if (!status)
		status = read_heads(m, path);
	if (!status && !read_tables(m, path))
		status = TOOL_FAILED;
	if (!status)
		status = check_functions(m, path);
	return status ? status : check_steps(m, path);
}

const char *module_string(const struct module_file *m, uint32_t at)
{
	if (at >= m->str.size || !memchr(m->str.data + at, 0, m->str.size - at))
		return "?";
	return (const char *)m->str.data + at;
}

const char *module_kind(const struct module_file *m)
{
	return m->desc.kind == NPU_MODULE_NPU	 ? "npu"
	       : m->desc.kind == NPU_MODULE_HOST ? "host"
						 : "?";
}

void module_insn(const struct module_file *m, const struct npu_plan_step *s, uint32_t i,
		 struct npu_insn *insn)
{
	npu_insn_decode(m->insn.data + ((uint64_t)s->insn_first + i) * NPU_INSN_BYTES, insn);
}

/* The constants that a load of micro-ops reaches, by the rule of the selector. */
static bool reach(const struct module_file *m, const struct npu_plan_function *f,
		  const struct npu_plan_step *s, uint32_t selector, struct section *out)
{
	uint32_t entry = selector ? selector : s->count > 16 + NPU_MEM_UOP ? 16 + NPU_MEM_UOP : 0;
	const struct npu_plan_region *r;
	const struct npu_plan_buffer *b;

	if (entry >= s->count)
		return false;
	r = &m->region[s->first + entry];
	if (r->buffer >= f->buffers)
		return false;
	b = &m->buffer[f->first_buffer + r->buffer];
	if (b->kind != NPU_BUFFER_CONST || b->offset > m->constants.size ||
	    b->size > m->constants.size - b->offset || r->offset > b->size ||
	    r->limit > b->size - r->offset)
		return false;
	*out = (struct section){m->constants.data + b->offset + r->offset, r->limit};
	return true;
}

void module_uops(const struct module_file *m, const struct npu_plan_function *f,
		 const struct npu_plan_step *s, const struct npu_insn *insn,
		 bool (*each)(void *opaque, uint32_t index, uint32_t word), void *opaque)
{
	const struct npu_insn_mem *l = &insn->mem;
	int64_t row = l->x_pad_0 + l->x_size + l->x_pad_1;
	struct section from;

	if (insn->format != NPU_FORMAT_MEM || l->opcode != NPU_OP_LOAD ||
	    l->memory != NPU_MEM_UOP || !reach(m, f, s, l->region, &from))
		return;
	for (int64_t y = 0; y < l->y_size; y++) {
		uint64_t at = (l->dram_base + y * l->x_stride) * NPU_UOP_BYTES;
		int64_t index = l->sram_base + (l->y_pad_0 + y) * row + l->x_pad_0;
		uint32_t word;

		for (int64_t x = 0; x < l->x_size; x++, at += NPU_UOP_BYTES) {
			if (at + NPU_UOP_BYTES > from.size)
				return;
			memcpy(&word, from.data + at, sizeof(word));
			if (!each(opaque, index + x, word))
				return;
		}
	}
}
