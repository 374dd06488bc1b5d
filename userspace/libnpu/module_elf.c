// SPDX-License-Identifier: MIT
/*
 * The ELF side of a module file. libelf reads headers and names; where a
 * section's bytes lie is checked here.
 */
#include <errno.h>
#include <gelf.h>
#include <libelf.h>
#include <string.h>
#include "userspace/libnpu/module.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "structures are read as they lie");

#define NOTE_NAME_BYTES	sizeof(NPU_NOTE_NAME)		/* with the NUL: 4, no padding */

struct note {
	Elf64_Nhdr head;
	char name[NOTE_NAME_BYTES];
	struct npu_module_note desc;
};

struct wanted {
	const char *name;
	uint32_t type;
	struct npu_section *out;
};

static int check_header(Elf *elf)
{
	GElf_Ehdr head;

	if (elf_kind(elf) != ELF_K_ELF || !gelf_getehdr(elf, &head))
		return npu_fail(-ENOEXEC, "not a module: no ELF file");
	if (head.e_ident[EI_CLASS] != ELFCLASS64 || head.e_ident[EI_DATA] != ELFDATA2LSB)
		return npu_fail(-ENOEXEC, "not a module: expected ELF class %u and data %u, found %u and %u",
				ELFCLASS64, ELFDATA2LSB, head.e_ident[EI_CLASS],
				head.e_ident[EI_DATA]);
	if (head.e_type != ET_NONE || head.e_machine != EM_NONE)
		return npu_fail(-ENOEXEC, "not a module: expected ELF type %u and machine %u, found %u and %u",
				ET_NONE, EM_NONE, head.e_type, head.e_machine);
	return 0;
}

/* Take the section if its name is one of those wanted. */
static int take(const struct wanted *wanted, size_t count, const char *name,
		const GElf_Shdr *shdr, const uint8_t *file, size_t size)
{
	size_t i;

	for (i = 0; i < count && strcmp(wanted[i].name, name); i++)
		;
	if (i == count)
		return 0;
	if (wanted[i].out->data)
		return npu_fail(-ENOEXEC, "section %s: found twice", name);
	if (shdr->sh_type != wanted[i].type)
		return npu_fail(-ENOEXEC, "section %s: type: expected %u, found %u", name,
				wanted[i].type, shdr->sh_type);
	if (shdr->sh_flags & SHF_COMPRESSED)
		return npu_fail(-ENOEXEC, "section %s: is compressed", name);
	if (shdr->sh_offset > size || shdr->sh_size > size - shdr->sh_offset)
		return npu_fail(-ENOEXEC, "section %s: end: expected at most %zu, found %llu + %llu",
				name, size, (unsigned long long)shdr->sh_offset,
				(unsigned long long)shdr->sh_size);
	wanted[i].out->data = file + shdr->sh_offset;
	wanted[i].out->size = shdr->sh_size;
	return 0;
}

static int walk(Elf *elf, const struct wanted *wanted, size_t count, const uint8_t *file,
		size_t size)
{
	Elf_Scn *scn = NULL;
	size_t names;
	int ret = 0;

	if (elf_getshdrstrndx(elf, &names))
		return npu_fail(-ENOEXEC, "not a module: no section names: %s", elf_errmsg(-1));
	while (!ret && (scn = elf_nextscn(elf, scn))) {
		GElf_Shdr shdr;
		const char *name;

		if (!gelf_getshdr(scn, &shdr))
			return npu_fail(-ENOEXEC, "section %zu: %s", elf_ndxscn(scn),
					elf_errmsg(-1));
		name = elf_strptr(elf, names, shdr.sh_name);
		if (!name)
			return npu_fail(-ENOEXEC, "section %zu: name: %s", elf_ndxscn(scn),
					elf_errmsg(-1));
		ret = take(wanted, count, name, &shdr, file, size);
	}
	return ret;
}

static int check_note(const struct npu_module_note *n)
{
	if (n->version != NPU_MODULE_VERSION)
		return npu_fail(-ENOEXEC, "version of the module format: expected %u, found %u",
				NPU_MODULE_VERSION, n->version);
	if (n->kind != NPU_MODULE_NPU && n->kind != NPU_MODULE_HOST)
		return npu_fail(-ENOEXEC, "kind of the module: expected %u or %u, found %u",
				NPU_MODULE_NPU, NPU_MODULE_HOST, n->kind);
	if (n->reserved0 || n->reserved1[0] || n->reserved1[1])
		return npu_fail(-ENOEXEC, "reserved fields of the note: expected 0, found %#x, %#llx, %#llx",
				n->reserved0, (unsigned long long)n->reserved1[0],
				(unsigned long long)n->reserved1[1]);
	if (n->kind == NPU_MODULE_HOST &&
	    (n->contract || n->config0 || n->config1 || n->hw_features))
		return npu_fail(-ENOEXEC, "a host module's note names a device");
	return 0;
}

static int read_note(const struct npu_section *section, struct npu_module_note *out)
{
	struct note note;

	if (section->size != sizeof(note))
		return npu_fail(-ENOEXEC, "section " NPU_SECTION_NOTE ": size: expected %zu, found %zu",
				sizeof(note), section->size);
	memcpy(&note, section->data, sizeof(note));
	if (note.head.n_namesz != NOTE_NAME_BYTES || note.head.n_descsz != sizeof(note.desc) ||
	    note.head.n_type != NPU_NOTE_MODULE ||
	    memcmp(note.name, NPU_NOTE_NAME, NOTE_NAME_BYTES))
		return npu_fail(-ENOEXEC, "note: expected name " NPU_NOTE_NAME ", type %u and %zu bytes, found type %u, %u bytes of name and %u bytes",
				NPU_NOTE_MODULE, sizeof(note.desc), note.head.n_type,
				note.head.n_namesz, note.head.n_descsz);
	*out = note.desc;
	return check_note(out);
}

static int check_presence(const struct npu_sections *s)
{
	if (!s->plan.data)
		return npu_fail(-ENOEXEC, "not a module: no section " NPU_SECTION_PLAN);
	if (!s->str.size || s->str.data[0] || s->str.data[s->str.size - 1])
		return npu_fail(-ENOEXEC, "section " NPU_SECTION_STR ": expected NUL as its first and last byte");
	if (s->insn.size % 16)
		return npu_fail(-ENOEXEC, "section " NPU_SECTION_INSN ": size: expected a multiple of 16, found %zu",
				s->insn.size);
	if (s->insn.size / 16 > UINT32_MAX || s->constants.size > NPU_PLAN_MAX_BYTES)
		return npu_fail(-ENOEXEC, "sections of %zu and %zu bytes: expected at most %llu and %llu",
				s->insn.size, s->constants.size, 16ull * UINT32_MAX,
				NPU_PLAN_MAX_BYTES);
	return 0;
}

int npu_sections_find(const void *data, size_t size, struct npu_sections *out)
{
	struct npu_section note = { NULL, 0 };
	const struct wanted wanted[] = {
		{ NPU_SECTION_NOTE, SHT_NOTE, &note },
		{ NPU_SECTION_INSN, SHT_PROGBITS, &out->insn },
		{ NPU_SECTION_CONST, SHT_PROGBITS, &out->constants },
		{ NPU_SECTION_PLAN, SHT_PROGBITS, &out->plan },
		{ NPU_SECTION_STR, SHT_STRTAB, &out->str },
		{ NPU_SECTION_INFO, SHT_PROGBITS, &out->info },
	};
	Elf *elf;
	int ret;

	memset(out, 0, sizeof(*out));
	elf_version(EV_CURRENT);
	elf = elf_memory((char *)data, size);
	if (!elf)
		return npu_fail(-ENOEXEC, "not a module: %s", elf_errmsg(-1));
	ret = check_header(elf);
	if (!ret)
		ret = walk(elf, wanted, sizeof(wanted) / sizeof(wanted[0]), data, size);
	elf_end(elf);
	if (!ret && !note.data)
		ret = npu_fail(-ENOEXEC, "not a module: no section " NPU_SECTION_NOTE);
	if (!ret)
		ret = read_note(&note, &out->note);
	return ret ? ret : check_presence(out);
}
