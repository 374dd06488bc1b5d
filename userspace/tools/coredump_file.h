/* SPDX-License-Identifier: MIT */
/* Dumps of the driver (drm/npu_coredump.h), read and checked. */
#ifndef NPU_COREDUMP_FILE_H
#define NPU_COREDUMP_FILE_H

#include <drm/npu_coredump.h>
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "npu_proto.h"

/* Instructions of a job, at @va of @context; @size of @whole bytes are there. */
struct dump_code {
	uint64_t va;
	uint32_t context;
	uint64_t size;
	uint64_t whole;
	const uint8_t *words;
};

/* A queue, and what the device had been given of it. */
struct dump_queue {
	struct npu_dump_queue q;
	struct npu_dump_job *jobs;
	size_t job_count;
};

struct dump_ring {
	struct npu_dump_ring head;
	struct npu_cqe *entries;
};

/**
 * struct dump_file - what is in a dump; all copied, but for instructions
 * @device: the device
 * @registers: array
 * @queues: array, the guilty one first
 * @rings: completion rings
 * @log: the firmware's log, the oldest first
 * @codes: instructions
 */
struct dump_file {
	struct npu_dump_device device;
	struct npu_dump_register *registers;
	size_t register_count;
	struct dump_queue *queues;
	size_t queue_count;
	struct dump_ring *rings;
	size_t ring_count;
	struct npu_log_entry *log;
	size_t log_count;
	struct dump_code *codes;
	size_t code_count;
};

/* Reports what is wrong, under the name @path; @data must outlive @dump. */
int dump_read(struct dump_file *dump, const void *data, size_t size, const char *path);
void dump_free(struct dump_file *dump);

/* Value of a register; false if the dump does not have it. */
bool dump_register(const struct dump_file *dump, uint32_t offset, uint32_t *value);

void dump_print(const struct dump_file *dump);
json_t *dump_json(const struct dump_file *dump);

const char *dump_reason(const struct dump_file *dump);

#endif
