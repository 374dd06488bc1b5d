/* SPDX-License-Identifier: MIT */
/* Modules and functions inside the library. */
#ifndef USERSPACE_LIBNPU_MODULE_H
#define USERSPACE_LIBNPU_MODULE_H

#include <pthread.h>
#include "userspace/isa/npu_module.h"
#include "userspace/libnpu/device.h"
#include "userspace/libnpu/hostkernel.h"

/**
 * struct npu_section - bytes of the file
 * @data: NULL if there is no such section
 * @size: bytes
 */
struct npu_section {
	const uint8_t *data;
	size_t size;
};

/**
 * struct npu_sections - a module file taken apart
 * @note: descriptor of the note
 * @insn: .npu.insn
 * @constants: .npu.const
 * @plan: .npu.plan
 * @str: .npu.str
 * @info: .npu.info
 */
struct npu_sections {
	struct npu_module_note note;
	struct npu_section insn;
	struct npu_section constants;
	struct npu_section plan;
	struct npu_section str;
	struct npu_section info;
};

/* Find the sections of a file; they point into it. 0 or -ENOEXEC. */
int npu_sections_find(const void *data, size_t size, struct npu_sections *out);

/**
 * struct npu_plan - a plan that was checked
 * @memory: what all pointers below lead to; owned
 * @header: head
 * @functions: table
 * @tensors: table
 * @buffers: table
 * @steps: table
 * @regions: table
 * @operands: table
 * @blob: parameters of host kernels
 * @kernels: kernel of each HOST step, by step; owned
 * @strings: strings; owned
 */
struct npu_plan {
	uint8_t *memory;
	const struct npu_plan_header *header;
	const struct npu_plan_function *functions;
	const struct npu_plan_tensor *tensors;
	const struct npu_plan_buffer *buffers;
	const struct npu_plan_step *steps;
	const struct npu_plan_region *regions;
	const struct npu_plan_operand *operands;
	const uint8_t *blob;
	const struct npu_host_kernel **kernels;
	char *strings;
};

/* Copy and check the plan. 0, -ENOEXEC or -ENOMEM. */
int npu_plan_read(const struct npu_sections *file, struct npu_plan *plan);
void npu_plan_free(struct npu_plan *plan);

/* Bytes of a tensor that was checked. */
uint64_t npu_plan_tensor_bytes(const struct npu_plan_tensor *tensor);

/**
 * struct npu_function - a function of a module
 * @module: where it lives
 * @plan: its entry in the plan
 * @buffers: its first buffer
 * @steps: its first step
 * @tensors: its inputs and outputs
 * @scratch_offsets: of each buffer, in the scratch memory of an item
 * @scratch_size: bytes of scratch memory of an item
 * @npu_steps: how many of the steps run on the device
 * @items: items that there is memory for
 * @scratch: memory of all items; with a device part of @memory
 * @memory: scratch memory where there is a device
 * @tables: region table and report of each NPU step of each item
 */
struct npu_function {
	struct npu_module *module;
	const struct npu_plan_function *plan;
	const struct npu_plan_buffer *buffers;
	const struct npu_plan_step *steps;
	const struct npu_plan_tensor *tensors;
	uint64_t *scratch_offsets;
	uint64_t scratch_size;
	uint32_t npu_steps;
	uint32_t items;
	uint8_t *scratch;
	struct npu_buffer *memory;
	struct npu_buffer *tables;
};

/**
 * struct npu_module - a loaded module
 * @dev: NULL for a host module without device; else holds a reference
 * @kind: NPU_MODULE_*
 * @plan: what to do
 * @info: text of the compiler
 * @functions: as many as the plan has
 * @insn: instructions; NULL if there are none
 * @constants: constant image in the device's reach; NULL in a host module
 * @host_constants: constant image for host kernels
 * @stream: where jobs run; NULL in a host module
 * @lock: held during a call; guards memory of functions, and @imports
 * @imports: other modules
 * @import_count: number of @imports
 */
struct npu_module {
	struct npu_device *dev;
	uint32_t kind;
	struct npu_plan plan;
	char *info;
	struct npu_function *functions;
	struct npu_buffer *insn;
	struct npu_buffer *constants;
	uint8_t *host_constants;
	struct npu_stream *stream;
	pthread_mutex_t lock;
	struct npu_module **imports;
	unsigned int import_count;
};

/* Point @function at its tables. 0 or -ENOMEM. */
int npu_function_init(struct npu_function *function, struct npu_module *module,
		      const struct npu_plan_function *plan);
void npu_function_fini(struct npu_function *function);

/* Memory for @items items at once. Called with the module's lock held. */
int npu_function_reserve(struct npu_function *function, uint32_t items);

/* A buffer of item @item of those under way; INPUT and OUTPUT are the caller's. */
uint8_t *npu_function_host(const struct npu_function *function, uint32_t buffer, uint32_t item);

/* Region table (device address) and report of NPU step number @step of an item. */
uint64_t npu_function_regions(const struct npu_function *function, uint32_t item, uint32_t step);
uint64_t npu_function_report_va(const struct npu_function *function, uint32_t item,
				uint32_t step);
void *npu_function_report(const struct npu_function *function, uint32_t item, uint32_t step);

/* Run it on checked arguments. Called with the module's lock held. */
int npu_function_run(struct npu_function *function, DLTensor *const *tensors, uint64_t count,
		     struct npu_step_stats *stats, unsigned int max);

#endif /* USERSPACE_LIBNPU_MODULE_H */
