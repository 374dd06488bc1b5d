/* SPDX-License-Identifier: MIT */
/*
 * The compiler: an ONNX model in memory becomes a module file.
 *
 * Thread rules: every function may be called from any thread; an object is
 * used by one thread at a time.
 */
#ifndef NPU_COMPILER_H
#define NPU_COMPILER_H

#include <stddef.h>
#include <stdint.h>

/**
 * struct npu_calibration_input - samples of one input of a float model
 * @data: float32 in row-major order, one sample after the other
 * @rank: number of dimensions, 1 to 8
 * @dim: the first counts samples and is a multiple of the input's first one; the others are
 *	the input's, whereby dimensions of 1 may be left out
 */
struct npu_calibration_input {
	const float *data;
	unsigned int rank;
	const int64_t *dim;
};

/**
 * struct npu_calibration - real inputs, by which a float model becomes an int8 one
 * @input: samples of each input of the model, in its order
 * @inputs: their number
 * @label: the right class of each result, or NULL
 * @labels: their number
 * @progress: called now and then with the runs done of those there are, or NULL
 * @arg: its argument
 *
 * Activations get a scale and a zero point for each tensor, the ones that lose least over the
 * samples; weights a scale for each output channel, and zero point 0. What is given stays with
 * the caller and is used during npu_compile() only. Since 0.1.
 */
struct npu_calibration {
	const struct npu_calibration_input *input;
	unsigned int inputs;
	const int64_t *label;
	int64_t labels;
	void (*progress)(void *arg, unsigned int done, unsigned int all);
	void *arg;
};

/**
 * struct npu_calibrated_row - what int8 costs a layer of the model
 * @op: ONNX operator of the float model
 * @name: node
 * @scale: of its result
 * @zero: zero point of its result
 * @sqnr_db: power of the result over that of its error, all layers before it being int8 as
 *	well; infinite without an error
 * @max_error: largest error of an element
 * @signal: sum of squares of the result
 * @noise: sum of squares of its error
 * @tensor: for the compiler's own use
 */
struct npu_calibrated_row {
	const char *op;
	const char *name;
	float scale;
	int zero;
	double sqnr_db;
	double max_error;
	double signal;
	double noise;
	int tensor;
};

/**
 * struct npu_calibrated - what int8 costs the model, by its first output
 * @runs: samples
 * @results: rows of the output over all samples, each a choice of its largest element
 * @same: results whose choice is the float model's
 * @float_right: results of the float model that are as labelled
 * @int8_right: results of the int8 model that are as labelled
 */
struct npu_calibrated {
	unsigned int runs;
	int64_t results;
	int64_t same;
	int64_t float_right;
	int64_t int8_right;
};

/**
 * struct npu_compile_options - choices of the user
 * @function: name of the function in the module, NULL for "main"
 * @features: NPU_HW_FEATURE_* that the device has, 0 for all of this version
 * @yield_cycles: a point where the core may be given to a more urgent job at
 *	least this often, in cycles; 0 for never
 * @calibration: samples, for a float model; else NULL
 */
struct npu_compile_options {
	const char *function;
	uint64_t features;
	uint64_t yield_cycles;
	const struct npu_calibration *calibration;
};

/**
 * struct npu_compile_row - where an operator of the model went
 * @op: ONNX operator
 * @name: node
 * @where: "npu", "host" or "free" (no work at all)
 * @step: number of its step in the module, -1 for none
 * @macs: multiply-accumulates as the model counts them
 */
struct npu_compile_row {
	const char *op;
	const char *name;
	const char *where;
	int step;
	uint64_t macs;
};

struct npu_compiled;

/**
 * npu_compile - Compiles a model.
 * @out: the result, to be freed with npu_compiled_free()
 * @onnx: the model file's bytes
 * @size: their number
 * @options: NULL for the defaults
 * @message: on error, one sentence that names operator, node and reason
 * @message_size: bytes of @message
 *
 * Return: 0; -EINVAL for what is no valid model; -EOPNOTSUPP for what this
 * version cannot compile; -E2BIG, -EFBIG, -ERANGE for sizes beyond the module
 * format or the core; -ENOMEM. Since 0.1.
 */
int npu_compile(struct npu_compiled **out, const void *onnx, size_t size,
		const struct npu_compile_options *options, char *message, size_t message_size);

/**
 * npu_compiled_write - Writes the module file.
 * @c: the result of npu_compile()
 * @fd: an empty regular file or memfd, open for reading and writing
 *
 * Return: 0 or -errno. Since 0.1.
 */
int npu_compiled_write(const struct npu_compiled *c, int fd);

/**
 * npu_compiled_rows - The report.
 * @c: the result of npu_compile()
 * @count: number of rows
 *
 * Return: rows in the order of the model, as long as @c lives. Since 0.1.
 */
const struct npu_compile_row *npu_compiled_rows(const struct npu_compiled *c, size_t *count);

/**
 * npu_compiled_calibrated - What the calibration found, by a simulation of the int8 model.
 * @c: the result of npu_compile() with a calibration
 * @rows: layers, in the order of the model
 * @count: their number
 *
 * Return: the sums, as long as @c lives; NULL without a calibration. Since 0.1.
 */
const struct npu_calibrated *npu_compiled_calibrated(const struct npu_compiled *c,
						     const struct npu_calibrated_row **rows,
						     size_t *count);

/**
 * npu_compiled_info - The report as JSON, the module's .npu.info.
 * @c: the result of npu_compile()
 *
 * Return: text that lives as long as @c. Since 0.1.
 */
const char *npu_compiled_info(const struct npu_compiled *c);

/**
 * npu_compiled_free - Frees a result.
 * @c: the result, or NULL
 */
void npu_compiled_free(struct npu_compiled *c);

#endif
