// SPDX-License-Identifier: MIT
/* Reading dumps, which come from files and are not trusted. */
#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "userspace/tools/coredump_file.h"
#include "userspace/tools/tool.h"

#define MAX_SEGMENTS	256

struct note {
	uint32_t type;
	uint32_t size;
	const uint8_t *data;
};

/* A longer array; NULL, and the old one stays, without memory. */
static void *grow(void *array, size_t count, size_t size)
{
	return realloc(array, (count + 1) * size);
}

/* What a newer or older driver has more or less is left out or 0. */
static void take(void *to, size_t size, const struct note *note)
{
	memset(to, 0, size);
	memcpy(to, note->data, note->size < size ? note->size : size);
}

static int take_array(void **array, size_t *count, size_t size, const struct note *note)
{
	void *copy = malloc(note->size + 1);

	if (!copy)
		return -1;
	memcpy(copy, note->data, note->size);
	free(*array);
	*array = copy;
	*count = note->size / size;
	return 0;
}

static int take_queue(struct dump_file *dump, const struct note *note)
{
	struct dump_queue *grown = grow(dump->queues, dump->queue_count, sizeof(*grown));

	if (!grown)
		return -1;
	dump->queues = grown;
	grown += dump->queue_count++;
	memset(grown, 0, sizeof(*grown));
	take(&grown->q, sizeof(grown->q), note);
	grown->q.comm[sizeof(grown->q.comm) - 1] = 0;
	return 0;
}

/* They follow their queue; places that were left empty have job 0. */
static int take_jobs(struct dump_file *dump, const struct note *note)
{
	struct dump_queue *queue;

	if (!dump->queue_count)
		return 0;
	queue = &dump->queues[dump->queue_count - 1];
	if (take_array((void **)&queue->jobs, &queue->job_count, sizeof(*queue->jobs), note))
		return -1;
	while (queue->job_count && !queue->jobs[queue->job_count - 1].job)
		queue->job_count--;
	return 0;
}

static int take_ring(struct dump_file *dump, const struct note *note)
{
	struct dump_ring *grown, ring = {0};
	size_t room;

	if (note->size < sizeof(ring.head))
		return 0;
	memcpy(&ring.head, note->data, sizeof(ring.head));
	room = (note->size - sizeof(ring.head)) / sizeof(*ring.entries);
	if (ring.head.count > room)
		ring.head.count = room;
	grown = grow(dump->rings, dump->ring_count, sizeof(*grown));
	if (!grown)
		return -1;
	dump->rings = grown;
	ring.entries = malloc(ring.head.count * sizeof(*ring.entries) + 1);
	if (!ring.entries)
		return -1;
	memcpy(ring.entries, note->data + sizeof(ring.head),
	       ring.head.count * sizeof(*ring.entries));
	dump->rings[dump->ring_count++] = ring;
	return 0;
}

static int by_sequence(const void *a, const void *b)
{
	const struct npu_log_entry *x = a, *y = b;

	return x->sequence < y->sequence ? -1 : x->sequence > y->sequence;
}

static int take_log(struct dump_file *dump, const struct note *note)
{
	size_t empty = 0;

	if (take_array((void **)&dump->log, &dump->log_count, sizeof(*dump->log), note))
		return -1;
	qsort(dump->log, dump->log_count, sizeof(*dump->log), by_sequence);
	while (empty < dump->log_count && !dump->log[empty].sequence)
		empty++;
	dump->log_count -= empty;
	memmove(dump->log, dump->log + empty, dump->log_count * sizeof(*dump->log));
	return 0;
}

static int take_note(struct dump_file *dump, const struct note *note)
{
	switch (note->type) {
	case NPU_DUMP_DEVICE:
		take(&dump->device, sizeof(dump->device), note);
		dump->device.name[sizeof(dump->device.name) - 1] = 0;
		dump->device.kernel[sizeof(dump->device.kernel) - 1] = 0;
		return 0;
	case NPU_DUMP_REGISTERS:
		return take_array((void **)&dump->registers, &dump->register_count,
				  sizeof(*dump->registers), note);
	case NPU_DUMP_QUEUE:
		return take_queue(dump, note);
	case NPU_DUMP_JOBS:
		return take_jobs(dump, note);
	case NPU_DUMP_COMPLETIONS:
		return take_ring(dump, note);
	case NPU_DUMP_LOG:
		return take_log(dump, note);
	default:
		return 0;
	}
}

static int take_notes(struct dump_file *dump, const uint8_t *at, size_t size, const char *path)
{
	size_t used = 0;

	while (size - used >= sizeof(Elf64_Nhdr)) {
		Elf64_Nhdr head;
		struct note note;
		uint64_t name, whole;

		memcpy(&head, at + used, sizeof(head));
		name = sizeof(head) + (((uint64_t)head.n_namesz + 3) & ~3ull);
		whole = name + (((uint64_t)head.n_descsz + 3) & ~3ull);
		if (whole > size - used)
			return tool_fail("%s: a note of %llu bytes, where %zu are left", path,
					 (unsigned long long)whole, size - used);
		note = (struct note){head.n_type, head.n_descsz, at + used + name};
		if (head.n_namesz == sizeof(NPU_DUMP_NOTE_NAME) &&
		    !memcmp(at + used + sizeof(head), NPU_DUMP_NOTE_NAME, head.n_namesz) &&
		    take_note(dump, &note))
			return tool_fail("%s: out of memory", path);
		used += whole;
	}
	return TOOL_OK;
}

static int take_code(struct dump_file *dump, const Elf64_Phdr *segment, const uint8_t *words)
{
	struct dump_code *grown = grow(dump->codes, dump->code_count, sizeof(*grown));

	if (!grown)
		return tool_fail("out of memory");
	dump->codes = grown;
	grown[dump->code_count++] = (struct dump_code){
		.va = segment->p_vaddr,
		.context = (uint32_t)segment->p_paddr,
		.size = segment->p_filesz,
		.whole = segment->p_memsz,
		.words = words,
	};
	return TOOL_OK;
}

static int take_segment(struct dump_file *dump, const uint8_t *data, size_t size,
			const Elf64_Phdr *segment, const char *path)
{
	if (segment->p_offset > size || segment->p_filesz > size - segment->p_offset)
		return tool_fail("%s: a segment of %llu bytes at %llu, the file has %zu", path,
				 (unsigned long long)segment->p_filesz,
				 (unsigned long long)segment->p_offset, size);
	if (segment->p_type == PT_NOTE)
		return take_notes(dump, data + segment->p_offset, segment->p_filesz, path);
	if (segment->p_type == PT_LOAD)
		return take_code(dump, segment, data + segment->p_offset);
	return TOOL_OK;
}

static int check_head(const Elf64_Ehdr *head, size_t size, const char *path)
{
	if (memcmp(head->e_ident, ELFMAG, SELFMAG))
		return tool_fail("%s: no dump of an NPU: it is no ELF file", path);
	if (head->e_ident[EI_CLASS] != ELFCLASS64 || head->e_ident[EI_DATA] != ELFDATA2LSB ||
	    head->e_type != ET_CORE || head->e_machine != EM_NONE)
		return tool_fail("%s: no dump of an NPU: ELF class %u, data %u, type %u, machine %u, want %u, %u, %u, %u",
				 path, head->e_ident[EI_CLASS], head->e_ident[EI_DATA],
				 head->e_type, head->e_machine, ELFCLASS64, ELFDATA2LSB, ET_CORE,
				 EM_NONE);
	if (head->e_phentsize != sizeof(Elf64_Phdr) || head->e_phnum > MAX_SEGMENTS ||
	    head->e_phoff > size || head->e_phnum * sizeof(Elf64_Phdr) > size - head->e_phoff)
		return tool_fail("%s: %u segments of %u bytes at %llu, the file has %zu", path,
				 head->e_phnum, head->e_phentsize,
				 (unsigned long long)head->e_phoff, size);
	return TOOL_OK;
}

static int read_all(struct dump_file *dump, const uint8_t *data, size_t size, const char *path)
{
	Elf64_Ehdr head;
	Elf64_Phdr segment;
	int status;

	if (size < sizeof(head))
		return tool_fail("%s: no dump of an NPU: %zu bytes, want at least %zu", path, size,
				 sizeof(head));
	memcpy(&head, data, sizeof(head));
	status = check_head(&head, size, path);
	for (unsigned int i = 0; i < head.e_phnum && !status; i++) {
		memcpy(&segment, data + head.e_phoff + i * sizeof(segment), sizeof(segment));
		status = take_segment(dump, data, size, &segment, path);
	}
	if (!status && !dump->device.reason)
		return tool_fail("%s: no dump of an NPU: it has no note about a device", path);
	return status;
}

int dump_read(struct dump_file *dump, const void *data, size_t size, const char *path)
{
	int status;

	memset(dump, 0, sizeof(*dump));
	status = read_all(dump, data, size, path);
	if (status)
		dump_free(dump);
	return status;
}

void dump_free(struct dump_file *dump)
{
	for (size_t i = 0; i < dump->queue_count; i++)
		free(dump->queues[i].jobs);
	for (size_t i = 0; i < dump->ring_count; i++)
		free(dump->rings[i].entries);
	free(dump->registers);
	free(dump->queues);
	free(dump->rings);
	free(dump->log);
	free(dump->codes);
	memset(dump, 0, sizeof(*dump));
}

bool dump_register(const struct dump_file *dump, uint32_t offset, uint32_t *value)
{
	for (size_t i = 0; i < dump->register_count; i++)
		if (dump->registers[i].offset == offset) {
			*value = dump->registers[i].value;
			return true;
		}
	return false;
}

const char *dump_reason(const struct dump_file *dump)
{
	switch (dump->device.reason) {
	case NPU_DUMP_HANG:
		return "hang";
	case NPU_DUMP_COMMAND:
		return "command";
	case NPU_DUMP_REQUEST:
		return "request";
	default:
		return "unknown";
	}
}
