// SPDX-License-Identifier: MIT
#include "userspace/compiler/module.h"

#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <stdlib.h>
#include <string.h>

#include "npu_regs.h"

/* An ELF note with its name and descriptor, both padded to 4 bytes already. */
struct note {
	uint32_t namesz, descsz, type;
	char name[4];
	struct npu_module_note desc;
};

struct section {
	const char *name;
	const void *data;
	size_t size;
	uint32_t type;
	uint64_t align;
};

static int add_section(Elf *elf, struct npuc_image *names, const struct section *s)
{
	int64_t name = npuc_image_add(names, strlen(s->name) + 1, 1);
	Elf_Scn *scn = elf_newscn(elf);
	Elf_Data *data = scn ? elf_newdata(scn) : NULL;
	Elf64_Shdr *shdr = scn ? elf64_getshdr(scn) : NULL;

	if (name < 0 || !data || !shdr)
		return -ENOMEM;
	memcpy(names->data + name, s->name, strlen(s->name));
	data->d_buf = (void *)s->data;
	data->d_size = s->size;
	data->d_align = s->align;
	data->d_type = ELF_T_BYTE;
	data->d_version = EV_CURRENT;
	shdr->sh_name = name;
	shdr->sh_type = s->type;
	shdr->sh_addralign = s->align;
	return 0;
}

static int write_sections(Elf *elf, const struct section *s, size_t n, struct npuc_image *names)
{
	static const char last[] = ".shstrtab";
	Elf64_Ehdr *ehdr = elf64_newehdr(elf);
	int err = 0;

	if (!ehdr || npuc_image_add(names, 1, 1) < 0)
		return -ENOMEM;
	ehdr->e_ident[EI_DATA] = ELFDATA2LSB;
	ehdr->e_type = ET_NONE;
	ehdr->e_machine = EM_NONE;
	ehdr->e_version = EV_CURRENT;
	/* The names' section comes last; its room is taken first, so that the image stays put. */
	for (size_t i = 0; i < n && !err; i++)
		err = add_section(elf, names, &s[i]);
	if (!err)
		err = add_section(elf, names, &(struct section){ last, NULL, 0, SHT_STRTAB, 1 });
	if (err)
		return err;
	ehdr->e_shstrndx = n + 1;
	elf_getdata(elf_getscn(elf, n + 1), NULL)->d_buf = names->data;
	elf_getdata(elf_getscn(elf, n + 1), NULL)->d_size = names->size;
	return elf_update(elf, ELF_C_WRITE) < 0 ? -EIO : 0;
}

int npuc_module_write(const struct npuc_module *m, int fd)
{
	bool npu = m->kind == NPU_MODULE_NPU;
	struct note note = {
		.namesz = sizeof(note.name),
		.descsz = sizeof(note.desc),
		.type = NPU_NOTE_MODULE,
		.name = NPU_NOTE_NAME,
		.desc =
			{
				.version = NPU_MODULE_VERSION,
				.kind = m->kind,
				.contract = npu ? NPU_CONTRACT_MAJOR << 16 | NPU_CONTRACT_MINOR : 0,
				.config0 = npu ? NPU_HOST_CONFIG0_RESET : 0,
				.config1 = npu ? NPU_HOST_CONFIG1_RESET : 0,
				.hw_features = npu ? m->features : 0,
			},
	};
	const struct section sections[] = {
		{ NPU_SECTION_NOTE, &note, sizeof(note), SHT_NOTE, 4 },
		{ NPU_SECTION_INSN, m->insn.data, m->insn.size, SHT_PROGBITS, NPU_MODULE_ALIGN },
		{ NPU_SECTION_CONST, m->constants.data, m->constants.size, SHT_PROGBITS,
		  NPU_MODULE_ALIGN },
		{ NPU_SECTION_PLAN, m->plan.data, m->plan.size, SHT_PROGBITS, 8 },
		{ NPU_SECTION_STR, m->strings.data, m->strings.size, SHT_STRTAB, 1 },
		{ NPU_SECTION_INFO, m->info, strlen(m->info), SHT_PROGBITS, 1 },
	};
	struct npuc_image names = { 0 };
	Elf *elf;
	int err;

	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_WRITE, NULL);
	if (!elf)
		return -EIO;
	if (!gelf_newehdr(elf, ELFCLASS64)) {
		elf_end(elf);
		return -ENOMEM;
	}
	err = write_sections(elf, sections, sizeof(sections) / sizeof(sections[0]), &names);
	elf_end(elf);
	free(names.data);
	return err;
}

void npuc_module_free(struct npuc_module *m)
{
	free(m->insn.data);
	free(m->constants.data);
	free(m->plan.data);
	free(m->strings.data);
	free(m->info);
}
