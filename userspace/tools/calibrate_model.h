/* SPDX-License-Identifier: MIT */
/* npu compile --calibrate: its samples, and its report. */
#ifndef NPU_TOOLS_CALIBRATE_MODEL_H
#define NPU_TOOLS_CALIBRATE_MODEL_H

#include <jansson.h>
#include <stdbool.h>

#include "userspace/compiler/npu_compiler.h"

#define CALIBRATE_MAX_INPUTS 16

struct calibrate_files {
	const char *sample[CALIBRATE_MAX_INPUTS];
	unsigned int samples;
	const char *label;
	bool quiet;
};

struct calibrate_data;

/* Reads the files; NULL, reported, if that fails. */
struct calibrate_data *calibrate_open(const struct calibrate_files *files);
const struct npu_calibration *calibrate_samples(struct calibrate_data *data);
void calibrate_close(struct calibrate_data *data);

/* The report as a table, and as JSON; what @c was not calibrated for prints nothing, gives NULL. */
void calibrate_print(const struct npu_compiled *c, bool labels);
json_t *calibrate_json(const struct npu_compiled *c, bool labels);

#endif
