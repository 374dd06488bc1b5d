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
 * struct npu_compile_options - choices of the user
 * @function: name of the function in the module, NULL for "main"
 * @features: NPU_HW_FEATURE_* that the device has, 0 for all of this version
 * @yield_cycles: a point where the core may be given to a more urgent job at
 *	least this often, in cycles; 0 for never
 */
struct npu_compile_options {
	const char *function;
	uint64_t features;
	uint64_t yield_cycles;
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
