/* SPDX-License-Identifier: MIT */
/* A module file as npu objdump sees it: what it prints is checked, no more. */
#ifndef NPU_TOOL_MODULE_FILE_H
#define NPU_TOOL_MODULE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "userspace/isa/npu_insn.h"
#include "userspace/isa/npu_module.h"

struct section {
	const uint8_t *data;
	size_t size;
};

/*
 * Tables point into the image and are within it; functions name tensors,
 * buffers and steps that exist, none of them twice, and NPU steps name
 * instructions and regions that exist.
 */
struct module_file {
	struct section note, insn, constants, plan, str, info;
	struct npu_module_note desc;
	struct npu_plan_header h;
	const struct npu_plan_function *function;
	const struct npu_plan_tensor *tensor;
	const struct npu_plan_buffer *buffer;
	const struct npu_plan_step *step;
	const struct npu_plan_region *region;
};

/* Says what is wrong, or returns TOOL_OK. @image is aligned as malloc() does. */
int module_file_read(struct module_file *m, char *image, size_t size, const char *path);

const char *module_string(const struct module_file *m, uint32_t at);
const char *module_kind(const struct module_file *m);

/* @i counts within the step. */
void module_insn(const struct module_file *m, const struct npu_plan_step *s, uint32_t i,
		 struct npu_insn *insn);

/*
 * Calls @each with SRAM index and word of each micro-op that @insn loads from
 * constants, in order, until it returns false; other instructions load none.
 */
void module_uops(const struct module_file *m, const struct npu_plan_function *f,
		 const struct npu_plan_step *s, const struct npu_insn *insn,
		 bool (*each)(void *opaque, uint32_t index, uint32_t word), void *opaque);

#endif
