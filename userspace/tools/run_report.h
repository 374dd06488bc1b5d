/* SPDX-License-Identifier: MIT */
/* What npu run tells about a call. */
#ifndef NPU_TOOL_RUN_REPORT_H
#define NPU_TOOL_RUN_REPORT_H

#include <npu/npu.h>

struct run_report {
	const struct npu_function_info *function;
	long items;
	const char *device;
	const struct npu_step_stats *step;
	unsigned int steps;
};

int run_report_json(const struct run_report *r);
void run_report_print(const struct run_report *r);

#endif
