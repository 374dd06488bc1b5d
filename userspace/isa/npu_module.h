/* SPDX-License-Identifier: MIT */
/*
 * The module file: what the compiler writes and the runtime loads.
 *
 * An ELF64 file, little endian, e_type ET_NONE, e_machine EM_NONE, with these
 * sections:
 *
 *   .npu.note   SHT_NOTE     one note, name "NPU", type NPU_NOTE_MODULE,
 *                            descriptor struct npu_module_note
 *   .npu.insn   SHT_PROGBITS instructions of all functions, aligned to 64;
 *                            absent or empty in a module without NPU steps
 *   .npu.const  SHT_PROGBITS one image of all constants (micro-ops, weights,
 *                            requantise parameters, tables), aligned to 64;
 *                            may be absent or empty
 *   .npu.plan   SHT_PROGBITS struct npu_plan_header and its tables, aligned to 8
 *   .npu.str    SHT_STRTAB   strings of the plan; byte 0 and the last are NUL
 *   .npu.info   SHT_PROGBITS optional: JSON text for people and tools, for
 *                            example which operator runs where; not interpreted
 *
 * and .shstrtab. Other sections (a .symtab with a symbol for each function, say)
 * are ignored by the loader. No section is compressed or of type SHT_NOBITS.
 *
 * All fields are little endian; reserved fields are 0 and are checked. A string
 * is an offset into .npu.str. Tables of the plan are given by offset from the
 * start of .npu.plan, a multiple of 8, and a count.
 *
 * How a function runs. Its steps run in order. Each step names buffers of the
 * function: the caller's tensors (INPUT and OUTPUT), parts of the constant image
 * (CONST) and memory that lives during the call (SCRATCH, undefined at its start).
 * INPUT and OUTPUT buffers are host memory, dense and row-major, and only HOST
 * steps touch them; CONST and SCRATCH buffers are reached by both. Data that goes
 * to the core is packed by a HOST step into a SCRATCH buffer, and back.
 *
 * Batch. The plan of a function with NPU_FUNCTION_BATCHED is written for one
 * item: all its inputs and outputs have 1 as the first dimension. A caller may
 * pass any N >= 1 there, the same for all; the runtime then runs the plan once
 * an item, each with scratch memory of its own, with INPUT and OUTPUT buffers
 * moved on by one item, and many jobs in flight.
 */
#ifndef USERSPACE_ISA_NPU_MODULE_H
#define USERSPACE_ISA_NPU_MODULE_H

#include <stdint.h>

#define NPU_SECTION_NOTE	".npu.note"
#define NPU_SECTION_INSN	".npu.insn"
#define NPU_SECTION_CONST	".npu.const"
#define NPU_SECTION_PLAN	".npu.plan"
#define NPU_SECTION_STR		".npu.str"
#define NPU_SECTION_INFO	".npu.info"

#define NPU_NOTE_NAME		"NPU"
#define NPU_NOTE_MODULE		1

#define NPU_MODULE_VERSION	1
#define NPU_MODULE_ALIGN	64	/* of CONST offsets, region offsets, buffers */

/* Kinds of modules. */
#define NPU_MODULE_NPU		1	/* has NPU steps, needs a device */
#define NPU_MODULE_HOST		2	/* HOST steps only, runs without one */

/**
 * struct npu_module_note - descriptor of the note
 * @version: NPU_MODULE_VERSION
 * @kind: NPU_MODULE_*
 * @contract: version of the hardware contract, major 31:16, minor 15:0
 * @config0: HOST.CONFIG0 that the code was made for
 * @config1: HOST.CONFIG1 that the code was made for
 * @reserved0: 0
 * @hw_features: NPU_HW_FEATURE_* bits that the code needs
 * @reserved1: 0
 *
 * With kind NPU_MODULE_HOST, @contract, @config0, @config1 and @hw_features
 * are 0.
 */
struct npu_module_note {
	uint32_t version;
	uint32_t kind;
	uint32_t contract;
	uint32_t config0;
	uint32_t config1;
	uint32_t reserved0;
	uint64_t hw_features;
	uint64_t reserved1[2];
};

#define NPU_PLAN_MAGIC		0x4e4c504eu	/* the bytes "NPLN" */
#define NPU_PLAN_NONE		0xffffffffu	/* "no buffer" in a region */

/**
 * struct npu_plan_table - where a table of the plan is
 * @offset: bytes from the start of the plan, a multiple of 8
 * @count: entries (of @blob: bytes)
 */
struct npu_plan_table {
	uint32_t offset;
	uint32_t count;
};

/**
 * struct npu_plan_header - start of .npu.plan
 * @magic: NPU_PLAN_MAGIC
 * @size: bytes of the plan, equal to the section's
 * @functions: struct npu_plan_function
 * @tensors: struct npu_plan_tensor
 * @buffers: struct npu_plan_buffer
 * @steps: struct npu_plan_step
 * @regions: struct npu_plan_region
 * @operands: struct npu_plan_operand
 * @blob: parameter blocks of HOST steps
 * @reserved: 0
 */
struct npu_plan_header {
	uint32_t magic;
	uint32_t size;
	struct npu_plan_table functions;
	struct npu_plan_table tensors;
	struct npu_plan_table buffers;
	struct npu_plan_table steps;
	struct npu_plan_table regions;
	struct npu_plan_table operands;
	struct npu_plan_table blob;
	uint64_t reserved[2];
};

#define NPU_FUNCTION_BATCHED	(1u << 0)

#define NPU_PLAN_MAX_FUNCTIONS	1024

/**
 * struct npu_plan_function - a function that can be called by its name
 * @name: string, not empty, unique in the module
 * @flags: NPU_FUNCTION_*
 * @first_tensor: inputs in order, then outputs in order
 * @inputs: number of inputs
 * @outputs: number of outputs, at least 1
 * @first_buffer: buffers of this function; steps count from here
 * @buffers: number of buffers, at most NPU_PLAN_MAX_BUFFERS
 * @first_step: steps in order
 * @steps: number of steps
 * @reserved0: 0
 * @useful_macs: multiply-accumulates of the model for one item, as the model
 *	defines them (no padding); for reports
 * @reserved1: 0
 *
 * A call passes the inputs, then the outputs. Tensors, buffers and steps of the
 * functions follow one another in their tables, in the order of the functions,
 * with nothing between and nothing left over.
 */
struct npu_plan_function {
	uint32_t name;
	uint32_t flags;
	uint32_t first_tensor;
	uint32_t inputs;
	uint32_t outputs;
	uint32_t first_buffer;
	uint32_t buffers;
	uint32_t first_step;
	uint32_t steps;
	uint32_t reserved0;
	uint64_t useful_macs;
	uint64_t reserved1[2];
};

#define NPU_PLAN_MAX_BUFFERS	4096
#define NPU_PLAN_MAX_DIMS	8
#define NPU_PLAN_MAX_BYTES	(1ull << 32)	/* of one buffer */

/**
 * struct npu_plan_tensor - an argument of a function
 * @name: string
 * @dtype_code: DLPack's type code: 0 int, 1 unsigned int, 2 float
 * @dtype_bits: bits of an element: 8, 16, 32 or 64
 * @lanes: 1
 * @ndim: dimensions, 0 to NPU_PLAN_MAX_DIMS
 * @reserved: 0
 * @shape: dimensions, each at least 1; those beyond @ndim are 0
 */
struct npu_plan_tensor {
	uint32_t name;
	uint8_t dtype_code;
	uint8_t dtype_bits;
	uint16_t lanes;
	uint32_t ndim;
	uint32_t reserved;
	uint64_t shape[NPU_PLAN_MAX_DIMS];
};

/* Kinds of buffers. */
#define NPU_BUFFER_INPUT	1	/* memory of input @index; read only */
#define NPU_BUFFER_OUTPUT	2	/* memory of output @index */
#define NPU_BUFFER_CONST	3	/* @size bytes at @offset of .npu.const; read only */
#define NPU_BUFFER_SCRATCH	4	/* @size bytes, for the time of a call */

/**
 * struct npu_plan_buffer - memory that steps use
 * @kind: NPU_BUFFER_*
 * @index: INPUT: number of the input; OUTPUT: number of the output; else 0
 * @offset: CONST: offset in the constant image, a multiple of NPU_MODULE_ALIGN;
 *	else 0
 * @size: bytes; INPUT and OUTPUT: of the tensor (of one item)
 *
 * SCRATCH buffers start at a multiple of NPU_MODULE_ALIGN. They are zero before
 * their first use in a process and hold anything later.
 */
struct npu_plan_buffer {
	uint32_t kind;
	uint32_t index;
	uint64_t offset;
	uint64_t size;
};

/* Kinds of steps. */
#define NPU_STEP_NPU		1	/* an instruction stream on the core */
#define NPU_STEP_HOST		2	/* a host kernel */

/**
 * struct npu_plan_step - one step of a function
 * @kind: NPU_STEP_*
 * @name: string: HOST the kernel's name, NPU a label for reports
 * @first: NPU: entries in @regions of the plan; HOST: in @operands
 * @count: number of these; NPU: at most NPU_REGION_TABLE_MAX
 * @insn_first: NPU: index of the first instruction in .npu.insn, a multiple of
 *	4, so that streams start on a fetch line; HOST: 0
 * @insn_count: NPU: instructions, at least 1; HOST: 0
 * @param_offset: HOST: offset in the blob, a multiple of 8; NPU: 0
 * @param_size: HOST: bytes, exactly what the kernel takes; NPU: 0
 * @useful_macs: NPU: the step's share of the function's useful_macs; HOST: 0
 *
 * An NPU step's regions become the job's region table, entry by entry.
 */
struct npu_plan_step {
	uint32_t kind;
	uint32_t name;
	uint32_t first;
	uint32_t count;
	uint32_t insn_first;
	uint32_t insn_count;
	uint32_t param_offset;
	uint32_t param_size;
	uint64_t useful_macs;
};

#define NPU_ACCESS_R		(1u << 0)
#define NPU_ACCESS_W		(1u << 1)

/**
 * struct npu_plan_region - an entry of a job's region table
 * @buffer: number of a CONST or SCRATCH buffer of the function, or
 *	NPU_PLAN_NONE for an entry that is not used (base 0, limit 0)
 * @access: NPU_ACCESS_*, what the instructions do; W not on CONST; 0 for NONE
 * @offset: bytes into the buffer, a multiple of NPU_MODULE_ALIGN; 0 for NONE
 * @limit: bytes that may be reached, @offset + @limit within the buffer; 0 for NONE
 */
struct npu_plan_region {
	uint32_t buffer;
	uint32_t access;
	uint64_t offset;
	uint64_t limit;
};

/**
 * struct npu_plan_operand - memory that a host kernel works on
 * @buffer: number of a buffer of the function
 * @access: R or W, as the kernel's description says; W not on INPUT and CONST
 * @offset: bytes into the buffer, a multiple of the element's size
 * @size: bytes, exactly what the kernel's parameters ask for; @offset + @size
 *	within the buffer
 */
struct npu_plan_operand {
	uint32_t buffer;
	uint32_t access;
	uint64_t offset;
	uint64_t size;
};

/*
 * Host kernels: name, operands, parameters. The last operand is the one that is
 * written; it overlaps none of the others. Floats are IEEE binary32. Element types are DLPack code and bits.
 */

/**
 * struct npu_host_quantize - parameters of the quantise kernels
 * @dtype_code: of the quantised side: 0 int, 1 unsigned int
 * @dtype_bits: 8
 * @reserved: 0
 * @outer: elements before the channel dimension, multiplied
 * @channels: channels with a scale of their own; 1: the whole tensor has one
 * @inner: elements after the channel dimension, multiplied
 *
 * Followed by @channels of struct npu_host_scale.
 *
 * "quantize_linear": operand 0 R float32, operand 1 W int8 or uint8, each
 * outer * channels * inner elements: saturate(round_even(x / scale) + zero_point),
 * NaN as the zero point.
 * "dequantize_linear": operand 0 R int8 or uint8, operand 1 W float32:
 * (x - zero_point) * scale.
 */
struct npu_host_quantize {
	uint8_t dtype_code;
	uint8_t dtype_bits;
	uint16_t reserved;
	uint32_t outer;
	uint32_t channels;
	uint32_t inner;
};

/**
 * struct npu_host_scale - of one channel
 * @scale: binary32, positive and finite
 * @zero_point: within the quantised type
 */
struct npu_host_scale {
	float scale;
	int32_t zero_point;
};

/**
 * struct npu_host_pack - parameters of the layout kernels
 * @n: images
 * @c: channels
 * @h: rows
 * @w: columns
 * @pad: value of the lanes beyond @c in the last block, -128 to 127 ("unpack": 0)
 * @reserved: 0
 *
 * "pack_nchw16": operand 0 R 8 bits [n][c][h][w], operand 1 W
 * [n][ceil(c / 16)][h][w][16].
 * "unpack_nchw16": operand 0 R [n][ceil(c / 16)][h][w][16], operand 1 W
 * [n][c][h][w].
 */
struct npu_host_pack {
	uint32_t n;
	uint32_t c;
	uint32_t h;
	uint32_t w;
	int32_t pad;
	uint32_t reserved;
};

/**
 * struct npu_host_patches - parameters of "pack_patches"
 * @n: images
 * @c: channels
 * @h: rows
 * @w: columns
 * @out_h: rows of windows
 * @out_w: columns of windows
 * @kernel_h: rows of a window
 * @kernel_w: columns of a window
 * @stride_h: rows from window to window
 * @stride_w: columns from window to window
 * @dilation_h: rows from tap to tap
 * @dilation_w: columns from tap to tap
 * @pad_top: rows of padding before
 * @pad_left: columns of padding before
 * @pad: value of taps outside the image, and of lanes beyond the last tap,
 *	-128 to 127
 * @reserved: 0
 *
 * Operand 0 R 8 bits [n][c][h][w], operand 1 W
 * [n][ceil(taps / 16)][out_h][out_w][16] with taps = c * kernel_h * kernel_w:
 * lane (ch * kernel_h + y) * kernel_w + x of a window is that tap of it. A
 * convolution over few channels becomes a product over full blocks.
 */
struct npu_host_patches {
	uint32_t n;
	uint32_t c;
	uint32_t h;
	uint32_t w;
	uint32_t out_h;
	uint32_t out_w;
	uint32_t kernel_h;
	uint32_t kernel_w;
	uint32_t stride_h;
	uint32_t stride_w;
	uint32_t dilation_h;
	uint32_t dilation_w;
	uint32_t pad_top;
	uint32_t pad_left;
	int32_t pad;
	uint32_t reserved;
};

/**
 * struct npu_host_copy - parameters of the plain kernels
 * @size: bytes of each operand, at least 1
 *
 * "copy": operand 1 W becomes operand 0 R (Flatten, Reshape, Identity).
 * "flip_sign8": as copy, with bit 7 of each byte inverted: uint8 with zero point z
 * becomes int8 with zero point z - 128, and back.
 */
struct npu_host_copy {
	uint64_t size;
};

/**
 * struct npu_host_transpose - parameters of "transpose"
 * @ndim: dimensions, 1 to NPU_PLAN_MAX_DIMS
 * @element: bytes of an element: 1, 2, 4 or 8
 * @shape: dimensions of operand 0; beyond @ndim 0
 * @perm: dimension i of operand 1 is dimension @perm[i] of operand 0; beyond
 *	@ndim 0
 *
 * Operand 0 R, operand 1 W, both dense.
 */
struct npu_host_transpose {
	uint32_t ndim;
	uint32_t element;
	uint32_t shape[NPU_PLAN_MAX_DIMS];
	uint32_t perm[NPU_PLAN_MAX_DIMS];
};

/**
 * struct npu_host_pool - parameters of "maxpool"
 * @dtype_code: 0 int, 1 unsigned int
 * @dtype_bits: 8
 * @reserved: 0
 * @n: images
 * @c: channels
 * @h: input rows
 * @w: input columns
 * @out_h: output rows
 * @out_w: output columns
 * @kernel_h: rows of the window
 * @kernel_w: columns of the window
 * @stride_h: rows from window to window
 * @stride_w: columns from window to window
 * @pad_top: rows of padding before, below kernel_h
 * @pad_left: columns of padding before, below kernel_w
 * @reserved1: 0
 *
 * Operand 0 R [n][c][h][w], operand 1 W [n][c][out_h][out_w]. Padding never
 * wins; a window without any input element is refused.
 */
struct npu_host_pool {
	uint8_t dtype_code;
	uint8_t dtype_bits;
	uint16_t reserved;
	uint32_t n;
	uint32_t c;
	uint32_t h;
	uint32_t w;
	uint32_t out_h;
	uint32_t out_w;
	uint32_t kernel_h;
	uint32_t kernel_w;
	uint32_t stride_h;
	uint32_t stride_w;
	uint32_t pad_top;
	uint32_t pad_left;
	uint32_t reserved1;
};

/**
 * struct npu_host_lookup - parameters of "lookup8"
 * @size: bytes of each operand, at least 1
 * @table: result of each value
 *
 * Operand 0 R, operand 1 W, 8 bits: the value's entry of the table.
 */
struct npu_host_lookup {
	uint64_t size;
	uint8_t table[256];
};

/**
 * struct npu_host_blocks - parameters of "copy_blocks"
 * @count: blocks, at least 1
 * @size: bytes of a block, at least 1
 * @src_step: bytes from block to block of operand 0, at least @size
 * @dst_step: bytes from block to block of operand 1, at least @size
 *
 * Operand 0 R, operand 1 W, each from its first block's start to its last one's
 * end. What lies between blocks of operand 1 is left alone.
 */
struct npu_host_blocks {
	uint64_t count;
	uint64_t size;
	uint64_t src_step;
	uint64_t dst_step;
};

/**
 * struct npu_host_gather - parameters of "gather"
 * @ndim: dimensions, 1 to NPU_PLAN_MAX_DIMS
 * @element: bytes of an element: 1, 2, 4 or 8
 * @src_shape: dimensions of operand 0; beyond @ndim 0
 * @dst_shape: dimensions of operand 1; beyond @ndim 0
 * @fill: bytes of an element outside operand 0; beyond @element 0
 *
 * Followed by the sum of @dst_shape of int32: for each position along each
 * dimension of operand 1, first dimension first, the position along the same
 * dimension of operand 0, or -1 for outside.
 *
 * Operand 0 R, operand 1 W, both dense. Slices, padding, repetition and nearest
 * neighbours are all of this kind.
 */
struct npu_host_gather {
	uint32_t ndim;
	uint32_t element;
	uint32_t src_shape[NPU_PLAN_MAX_DIMS];
	uint32_t dst_shape[NPU_PLAN_MAX_DIMS];
	uint8_t fill[8];
};

/**
 * struct npu_host_binary8 - parameters of the kernels of two quantised operands
 * @dtype_code: of all operands: 0 int, 1 unsigned int
 * @dtype_bits: 8
 * @reserved: 0
 * @reserved1: 0
 * @size: elements, at least 1
 * @a: of operand 0
 * @b: of operand 1
 * @y: of operand 2
 *
 * Operands 0 and 1 R, operand 2 W. Each step is rounded to binary32:
 * "quantized_add": with ra = a.scale / y.scale, rb = b.scale / y.scale and
 * f = y.zero_point - fma(ra, a.zero_point, rb * b.zero_point):
 * saturate(round_even(fma(a, ra, fma(b, rb, f)))), fma() being rounded once.
 * "quantized_mul": with r = a.scale * b.scale / y.scale:
 * saturate(round_even((a - a.zero_point) * (b - b.zero_point) * r + y.zero_point)).
 */
struct npu_host_binary8 {
	uint8_t dtype_code;
	uint8_t dtype_bits;
	uint16_t reserved;
	uint32_t reserved1;
	uint64_t size;
	struct npu_host_scale a;
	struct npu_host_scale b;
	struct npu_host_scale y;
};

/**
 * struct npu_host_average - parameters of "average_pool8"
 * @pool: as of "maxpool"
 * @include_pad: 1: divide by the window's size, 0: by its elements in the input
 * @reserved: 0
 * @x: of operand 0
 * @y: of operand 1
 *
 * Operand 0 R [n][c][h][w], operand 1 W [n][c][out_h][out_w]. Each step is
 * rounded to binary32: sum of x.scale * (x - x.zero_point) in the order of
 * memory, divided by the number of elements, divided by y.scale, plus
 * y.zero_point; then saturate(round_even()).
 */
struct npu_host_average {
	struct npu_host_pool pool;
	uint32_t include_pad;
	uint32_t reserved;
	struct npu_host_scale x;
	struct npu_host_scale y;
};

/**
 * struct npu_host_mean - parameters of "mean8"
 * @dtype_code: 0 int, 1 unsigned int
 * @dtype_bits: 8
 * @reserved: 0
 * @outer: means, at least 1
 * @inner: elements of each, 1 to 2^23
 * @reserved1: 0
 * @x: of operand 0
 * @y: of operand 1
 *
 * Operand 0 R [outer][inner], operand 1 W [outer]:
 * saturate(round_even(sum(x - x.zero_point) * (x.scale / (y.scale * inner))) + y.zero_point).
 */
struct npu_host_mean {
	uint8_t dtype_code;
	uint8_t dtype_bits;
	uint16_t reserved;
	uint32_t outer;
	uint32_t inner;
	uint32_t reserved1;
	struct npu_host_scale x;
	struct npu_host_scale y;
};

/**
 * struct npu_host_reduce - parameters of the kernels along one dimension
 * @dtype_code: of operand 0: 0 int, 1 unsigned int, 2 float
 * @dtype_bits: 8, or 32 for floats ("softmax": float)
 * @select_last: "argmax": 1: of equals the last, 0: the first ("softmax": 0)
 * @reserved: 0
 * @outer: elements before the dimension, multiplied
 * @count: elements of the dimension
 * @inner: elements after it, multiplied
 *
 * Operand 0 R [outer][count][inner].
 * "argmax": operand 1 W int64 [outer][inner], the place of the highest.
 * "softmax": operand 1 W float32 [outer][count][inner], exp(x - max) divided by
 * the sum of these.
 */
struct npu_host_reduce {
	uint8_t dtype_code;
	uint8_t dtype_bits;
	uint8_t select_last;
	uint8_t reserved;
	uint32_t outer;
	uint32_t count;
	uint32_t inner;
};

/**
 * struct npu_host_bound - parameters of "clip_f32"
 * @size: bytes of each operand, a multiple of 4, at least 4
 * @low: least result, no NaN
 * @high: greatest result, no NaN
 *
 * Operand 0 R float32, operand 1 W float32: x, but @low below that, and then
 * @high above that; NaN stays.
 */
struct npu_host_bound {
	uint64_t size;
	float low;
	float high;
};

/*
 * "add_f32", "mul_f32": struct npu_host_copy with the bytes of each operand, a
 * multiple of 4; operands 0 and 1 R, operand 2 W.
 */

_Static_assert(sizeof(struct npu_module_note) == 48, "npu_module_note");
_Static_assert(sizeof(struct npu_plan_header) == 80, "npu_plan_header");
_Static_assert(sizeof(struct npu_plan_function) == 64, "npu_plan_function");
_Static_assert(sizeof(struct npu_plan_tensor) == 80, "npu_plan_tensor");
_Static_assert(sizeof(struct npu_plan_buffer) == 24, "npu_plan_buffer");
_Static_assert(sizeof(struct npu_plan_step) == 40, "npu_plan_step");
_Static_assert(sizeof(struct npu_plan_region) == 24, "npu_plan_region");
_Static_assert(sizeof(struct npu_plan_operand) == 24, "npu_plan_operand");
_Static_assert(sizeof(struct npu_host_quantize) == 16, "npu_host_quantize");
_Static_assert(sizeof(struct npu_host_pack) == 24, "npu_host_pack");
_Static_assert(sizeof(struct npu_host_patches) == 64, "npu_host_patches");
_Static_assert(sizeof(struct npu_host_transpose) == 72, "npu_host_transpose");
_Static_assert(sizeof(struct npu_host_pool) == 56, "npu_host_pool");
_Static_assert(sizeof(struct npu_host_lookup) == 264, "npu_host_lookup");
_Static_assert(sizeof(struct npu_host_blocks) == 32, "npu_host_blocks");
_Static_assert(sizeof(struct npu_host_gather) == 80, "npu_host_gather");
_Static_assert(sizeof(struct npu_host_binary8) == 40, "npu_host_binary8");
_Static_assert(sizeof(struct npu_host_average) == 80, "npu_host_average");
_Static_assert(sizeof(struct npu_host_mean) == 32, "npu_host_mean");
_Static_assert(sizeof(struct npu_host_bound) == 16, "npu_host_bound");
_Static_assert(sizeof(struct npu_host_reduce) == 16, "npu_host_reduce");

#endif /* USERSPACE_ISA_NPU_MODULE_H */
