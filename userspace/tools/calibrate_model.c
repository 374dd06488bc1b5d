// SPDX-License-Identifier: MIT
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include "userspace/tools/calibrate_model.h"
#include "userspace/tools/npy.h"
#include "userspace/tools/tool.h"

#define BAR_WIDTH 30
/* Decibels below which a layer stands out, and those that fill the bar. */
#define POOR_DB	  20
#define FULL_DB	  60

struct calibrate_data {
	struct npy sample[CALIBRATE_MAX_INPUTS], label;
	struct npu_calibration_input input[CALIBRATE_MAX_INPUTS];
	struct npu_calibration calibration;
	unsigned int shown;
};

/* A line that changes on a terminal; nothing elsewhere. */
static void progress(void *arg, unsigned int done, unsigned int all)
{
	struct calibrate_data *data = arg;
	unsigned int percent = all ? 100ull * done / all : 100;

	if (percent == data->shown && done != all)
		return;
	data->shown = percent;
	fprintf(stderr, "\r\033[Kcalibrating [");
	for (unsigned int i = 0; i < BAR_WIDTH; i++)
		fputc(i < BAR_WIDTH * percent / 100 ? '#' : '.', stderr);
	fprintf(stderr, "] %3u %%", percent);
	if (done == all)
		fprintf(stderr, "\r\033[K");
	fflush(stderr);
}

static int read_samples(struct calibrate_data *data, const struct calibrate_files *files)
{
	int status = TOOL_OK;

	for (unsigned int i = 0; i < files->samples && !status; i++) {
		struct npy *a = &data->sample[i];

		status = npy_read(files->sample[i], a);
		if (!status)
			status = npy_to_real(a);
		data->input[i] = (struct npu_calibration_input){ a->real, a->rank, a->dim };
	}
	if (status || !files->label)
		return status;
	status = npy_read(files->label, &data->label);
	if (!status && data->label.kind != 'i')
		return tool_fail("%s: labels are numbers of classes, want integers", files->label);
	return status;
}

struct calibrate_data *calibrate_open(const struct calibrate_files *files)
{
	struct calibrate_data *data = calloc(1, sizeof(*data));

	if (!data) {
		tool_fail("out of memory");
		return NULL;
	}
	if (read_samples(data, files)) {
		calibrate_close(data);
		return NULL;
	}
	data->calibration = (struct npu_calibration){
		.input = data->input,
		.inputs = files->samples,
		.label = data->label.whole,
		.labels = data->label.elements,
		.progress = !files->quiet && isatty(STDERR_FILENO) ? progress : NULL,
		.arg = data,
	};
	return data;
}

const struct npu_calibration *calibrate_samples(struct calibrate_data *data)
{
	return &data->calibration;
}

void calibrate_close(struct calibrate_data *data)
{
	if (!data)
		return;
	for (unsigned int i = 0; i < CALIBRATE_MAX_INPUTS; i++)
		npy_free(&data->sample[i]);
	npy_free(&data->label);
	free(data);
}

static void print_bar(double db)
{
	int full = isfinite(db) ? fmax(0, fmin(db / FULL_DB, 1)) * BAR_WIDTH : BAR_WIDTH;

	printf("  %s", tool_style(stdout, db < POOR_DB ? TOOL_RED : TOOL_GREEN));
	for (int i = 0; i < full; i++)
		putchar('#');
	printf("%s\n", tool_style(stdout, TOOL_PLAIN));
}

static void print_layer(const struct npu_calibrated_row *r)
{
	tool_put(r->op, 18);
	putchar(' ');
	tool_put(*r->name ? r->name : "-", 24);
	printf(" %11.5g %5d %11.4g %7.1f", r->scale, r->zero, r->max_error, r->sqnr_db);
	print_bar(r->sqnr_db);
}

void calibrate_print(const struct npu_compiled *c, bool labels)
{
	const struct npu_calibrated_row *row;
	const struct npu_calibrated *t;
	size_t n;

	t = npu_compiled_calibrated(c, &row, &n);
	if (!t)
		return;
	printf("\n%s%-18s %-24s %11s %5s %11s %7s  signal to error%s\n",
	       tool_style(stdout, TOOL_BOLD), "LAYER", "NODE", "SCALE", "ZERO", "MAX ERROR", "dB",
	       tool_style(stdout, TOOL_PLAIN));
	for (size_t i = 0; i < n; i++)
		print_layer(&row[i]);
	printf("%u samples: int8 chooses as float32 in %lld of %lld results (%.2f %%)\n", t->runs,
	       (long long)t->same, (long long)t->results, 100.0 * t->same / t->results);
	if (labels)
		printf("accuracy: float32 %.2f %%, int8 %.2f %%\n",
		       100.0 * t->float_right / t->results, 100.0 * t->int8_right / t->results);
}

static json_t *layer_json(const struct npu_calibrated_row *r)
{
	/* Without an error the ratio is infinite, which JSON cannot say: null. */
	return json_pack("{s:o, s:o, s:f, s:i, s:f, s:o}", "op", tool_json_text(r->op), "node",
			 tool_json_text(r->name), "scale", r->scale, "zero_point", r->zero,
			 "max_error", r->max_error, "sqnr_db",
			 isfinite(r->sqnr_db) ? json_real(r->sqnr_db) : json_null());
}

json_t *calibrate_json(const struct npu_compiled *c, bool labels)
{
	const struct npu_calibrated_row *row;
	const struct npu_calibrated *t;
	json_t *layers, *root;
	size_t n;

	t = npu_compiled_calibrated(c, &row, &n);
	if (!t)
		return NULL;
	layers = json_array();
	for (size_t i = 0; i < n; i++)
		json_array_append_new(layers, layer_json(&row[i]));
	root = json_pack("{s:i, s:I, s:I, s:o}", "samples", t->runs, "results",
			 (json_int_t)t->results, "same", (json_int_t)t->same, "layers", layers);
	if (labels) {
		json_object_set_new(root, "accuracy_float32",
				    json_real((double)t->float_right / t->results));
		json_object_set_new(root, "accuracy_int8",
				    json_real((double)t->int8_right / t->results));
	}
	return root;
}
