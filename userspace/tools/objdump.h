/* SPDX-License-Identifier: MIT */
#ifndef NPU_TOOL_OBJDUMP_H
#define NPU_TOOL_OBJDUMP_H

#include "userspace/tools/module_file.h"

struct objdump_args {
	const char *path;
	bool json, insns, uops;
};

/* The text, or the JSON, of a module; returns an exit status. */
int objdump_text(const struct module_file *m, const struct objdump_args *a);
int objdump_json(const struct module_file *m, const struct objdump_args *a);

const char *objdump_type(const struct npu_plan_tensor *t, char out[24]);

#endif
