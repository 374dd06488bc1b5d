/* SPDX-License-Identifier: MIT */
/* The plan of a module, and its file. */
#ifndef NPU_COMPILER_MODULE_H
#define NPU_COMPILER_MODULE_H

#include "userspace/compiler/emit.h"

/**
 * struct npuc_module - everything a module file holds
 * @insn: instructions
 * @constants: constant image
 * @plan: struct npu_plan_header and its tables
 * @strings: string table
 * @info: JSON text
 * @features: that the code needs
 * @kind: NPU_MODULE_*
 */
struct npuc_module {
	struct npuc_image insn, constants, plan, strings;
	char *info;
	uint64_t features;
	uint32_t kind;
};

/* Makes the plan of @p's stages; @streams in order. */
int npuc_plan(struct npuc_module *m, const struct npuc_program *p,
	      const struct npuc_stream *streams, size_t n_streams, const char *function);

/* Writes the ELF file. */
int npuc_module_write(const struct npuc_module *m, int fd);

void npuc_module_free(struct npuc_module *m);

#endif
