/* SPDX-License-Identifier: MIT */
/*
 * Command builder: makes the instruction stream of a program and the image of
 * its micro-ops.
 *
 * Use: npu_builder_new(); then instructions, kernels and tokens in program
 * order; npu_builder_finish(); the result stays with the builder until
 * npu_builder_free().
 *
 * Errors stick: the first one is kept with its message, every later call does
 * nothing and returns it, so that a caller may check once, at
 * npu_builder_finish().
 *
 * Tokens: npu_builder_dep_pop() concerns the next instruction that is given to
 * the unit, npu_builder_dep_push() the last one; where there is none that can
 * carry the flag, an instruction that moves tokens only is emitted.
 *
 * Micro-ops: a kernel is one or two loops around a list of micro-ops. It is
 * recorded once; a recording equal to an earlier one gives the earlier number,
 * and equal lists share their place in the image. The builder decides where a
 * list lives in UOP memory and emits the LOAD that brings it there; it reads
 * micro-ops by selector config.uop_region, from element config.uop_base on,
 * which is where the image must be at run time.
 *
 * Threads: a builder belongs to one thread at a time; different builders are
 * independent.
 */
#ifndef USERSPACE_ISA_NPU_BUILDER_H
#define USERSPACE_ISA_NPU_BUILDER_H

#include <stddef.h>
#include <stdint.h>
#include "userspace/isa/npu_insn.h"
#include "npu_proto.h"

struct npu_builder;

/**
 * struct npu_builder_config - What the program is built for.
 * @features: NPU_HW_FEATURE_* bits that the device must have; an instruction
 *	that needs another is refused
 * @uop_region: selector of the region that holds the micro-op image
 * @uop_base: element (of 4 bytes) of that region at which the image starts
 * @uop_depth: micro-ops of UOP memory that may be used, 0 for all of them; some
 *	implementations have 2048 only
 */
struct npu_builder_config {
	uint64_t features;
	unsigned int uop_region;
	uint32_t uop_base;
	unsigned int uop_depth;
};

/**
 * struct npu_builder_output - A finished program; owned by the builder.
 * @insns: instructions, NPU_INSN_BYTES bytes each, in device byte order
 * @insn_count: their number
 * @uops: micro-op image, NPU_UOP_BYTES bytes each, in device byte order
 * @uop_count: their number
 */
struct npu_builder_output {
	const void *insns;
	size_t insn_count;
	const void *uops;
	size_t uop_count;
};

/**
 * npu_builder_new - Makes an empty builder.
 * @out: the builder, to be freed with npu_builder_free()
 * @config: copied; NULL for all features known to this version, region 0,
 *	base 0 and the whole UOP memory
 *
 * Return: 0; -EINVAL for a config out of range; -ENOMEM. Since 0.1.
 */
int npu_builder_new(struct npu_builder **out, const struct npu_builder_config *config);

/**
 * npu_builder_free - Frees a builder and its output.
 * @b: the builder, or NULL
 */
void npu_builder_free(struct npu_builder *b);

/**
 * npu_builder_error - The first error.
 * @b: the builder
 *
 * Return: 0 or -errno. Since 0.1.
 */
int npu_builder_error(const struct npu_builder *b);

/**
 * npu_builder_message - Explains the first error.
 * @b: the builder
 *
 * Return: a text that lives as long as the builder; empty without an error.
 * Since 0.1.
 */
const char *npu_builder_message(const struct npu_builder *b);

/**
 * npu_builder_count - Instructions so far.
 * @b: the builder
 *
 * Return: the index that the next instruction gets. Since 0.1.
 */
size_t npu_builder_count(const struct npu_builder *b);

/**
 * npu_builder_load - Appends a LOAD.
 * @b: the builder
 * @mem: its fields; opcode is set by the builder, pops that are pending are
 *	added to the token flags
 *
 * Memory UOP is refused (-EINVAL): the builder manages it, see
 * npu_builder_kernel_end().
 *
 * Return: 0 or the first error: -ERANGE when a field does not hold its value or
 * the transfer leaves the SRAM, -EINVAL for what a core would not execute,
 * -EOPNOTSUPP for an absent feature, -ENOMEM. Since 0.1.
 */
int npu_builder_load(struct npu_builder *b, const struct npu_insn_mem *mem);

/**
 * npu_builder_store - Appends a STORE.
 * @b: the builder
 * @mem: its fields; opcode and memory are set by the builder, pops that are
 *	pending are added to the token flags
 *
 * Return: as npu_builder_load(). Since 0.1.
 */
int npu_builder_store(struct npu_builder *b, const struct npu_insn_mem *mem);

/**
 * npu_builder_emit - Appends any instruction, as it is but for pending pops.
 * @b: the builder
 * @insn: the instruction
 *
 * Only the encoding is checked. What it does to UOP memory is the caller's
 * affair: a LOAD of UOP makes the builder forget what lives there; a YIELD is
 * treated as npu_builder_yield() treats it.
 *
 * Return: 0 or the first error: as npu_insn_encode(), -ENOMEM. Since 0.1.
 */
int npu_builder_emit(struct npu_builder *b, const struct npu_insn *insn);

/**
 * npu_builder_kernel_begin - Starts to record a kernel.
 * @b: the builder
 *
 * Return: 0, or the first error; -EINVAL inside another recording. Since 0.1.
 */
int npu_builder_kernel_begin(struct npu_builder *b);

/**
 * npu_builder_loop - Adds a loop around the micro-ops of the recording.
 * @b: the builder
 * @extent: iterations
 * @dst_factor: added to dst each iteration
 * @src_factor: added to src each iteration
 * @wgt_factor: added to wgt each iteration; 0 where the kernel will run as ALU,
 *	REQUANT or LUT
 *
 * The first loop is the outer one; at most two. A loop that is not given runs
 * once. Loops come before the micro-ops.
 *
 * Return: 0, or the first error; -EINVAL outside a recording, for a third loop
 * or after a micro-op; -ERANGE. Since 0.1.
 */
int npu_builder_loop(struct npu_builder *b, int64_t extent, int64_t dst_factor,
		     int64_t src_factor, int64_t wgt_factor);

/**
 * npu_builder_uop - Adds a micro-op to the recording.
 * @b: the builder
 * @dst: ACC index
 * @src: INP or ACC index
 * @wgt: WGT index; 0 where there is none
 *
 * Return: 0, or the first error; -EINVAL outside a recording; -ERANGE; -E2BIG
 * when the list is longer than UOP memory; -ENOMEM. Since 0.1.
 */
int npu_builder_uop(struct npu_builder *b, int64_t dst, int64_t src, int64_t wgt);

/**
 * npu_builder_kernel_end - Ends the recording.
 * @b: the builder
 *
 * Return: the kernel's number (>= 0), the same for equal kernels; or the first
 * error; -EINVAL outside a recording or for a kernel without micro-ops;
 * -ENOMEM. Since 0.1.
 */
int npu_builder_kernel_end(struct npu_builder *b);

/**
 * npu_builder_preload - Loads every micro-op recorded so far with one LOAD.
 * @b: the builder
 *
 * One long burst is quicker than a LOAD before the first use of each kernel.
 * Does nothing where the image is empty or larger than UOP memory.
 *
 * Return: 0 or the first error: -EINVAL inside a recording, -ERANGE, -ENOMEM.
 * Since 0.1.
 */
int npu_builder_preload(struct npu_builder *b);

/**
 * npu_builder_gemm - Appends a GEMM over a kernel.
 * @b: the builder
 * @kernel: the kernel
 * @reset: write zero to the destinations and multiply nothing
 *
 * A LOAD of UOP may be emitted before it. Pending pops go to the GEMM. The same
 * holds for the other instructions with kernels.
 *
 * Return: 0 or the first error: -EINVAL for an unknown kernel, -ERANGE when an
 * index leaves its memory, -EOPNOTSUPP, -ENOMEM. Since 0.1.
 */
int npu_builder_gemm(struct npu_builder *b, int kernel, bool reset);

/**
 * npu_builder_alu - Appends an ALU instruction with a register operand.
 * @b: the builder
 * @kernel: the kernel
 * @op: NPU_ALU_*
 *
 * Return: as npu_builder_gemm(). Since 0.1.
 */
int npu_builder_alu(struct npu_builder *b, int kernel, unsigned int op);

/**
 * npu_builder_alu_imm - Appends an ALU instruction with an immediate.
 * @b: the builder
 * @kernel: the kernel; for cores of all makes src equals dst
 * @op: NPU_ALU_*
 * @imm: second operand, -32768 to 32767
 *
 * Return: as npu_builder_gemm(). Since 0.1.
 */
int npu_builder_alu_imm(struct npu_builder *b, int kernel, unsigned int op, int64_t imm);

/**
 * npu_builder_requant - Appends an EXT.REQUANT.
 * @b: the builder
 * @kernel: the kernel; src is the first of three parameter rows
 *
 * Return: as npu_builder_gemm(). Since 0.1.
 */
int npu_builder_requant(struct npu_builder *b, int kernel);

/**
 * npu_builder_vmac - Appends an EXT.VMAC.
 * @b: the builder
 * @kernel: the kernel; wgt counts rows of 16 bytes
 * @reset: write zero to the destinations and multiply nothing
 *
 * Return: as npu_builder_gemm(). Since 0.1.
 */
int npu_builder_vmac(struct npu_builder *b, int kernel, bool reset);

/**
 * npu_builder_lut - Appends an EXT.LUT.
 * @b: the builder
 * @kernel: the kernel
 * @table: WGT element that holds the table
 *
 * Return: as npu_builder_gemm(). Since 0.1.
 */
int npu_builder_lut(struct npu_builder *b, int kernel, int64_t table);

/**
 * npu_builder_pad_value - Appends an EXT.PAD_VALUE.
 * @b: the builder
 * @unit: NPU_PAD_UNIT_*
 * @value: value of each lane of padding, 32 bits signed
 *
 * Return: 0 or the first error: -ERANGE, -EOPNOTSUPP, -ENOMEM. Since 0.1.
 */
int npu_builder_pad_value(struct npu_builder *b, unsigned int unit, int64_t value);

/**
 * npu_builder_yield - Appends an EXT.YIELD.
 * @b: the builder
 *
 * Afterwards every SRAM is empty, the token queues, too, and the pad values are
 * 0; kernels stay and are loaded again when they are used. Tokens do not cross
 * it: a later npu_builder_dep_push() is not put on an instruction before it,
 * pops of the load or store unit that are pending are put on an instruction
 * before it.
 *
 * Return: 0 or the first error: -EOPNOTSUPP, -ENOMEM. Since 0.1.
 */
int npu_builder_yield(struct npu_builder *b);

/**
 * npu_builder_dep_push - Unit @from gives unit @to a token.
 * @b: the builder
 * @from: NPU_UNIT_LOAD, NPU_UNIT_COMPUTE or NPU_UNIT_STORE
 * @to: a neighbour of @from; load and store are not neighbours
 *
 * The token is pushed when the last instruction of @from so far completes.
 *
 * Return: 0 or the first error: -EINVAL, -ENOMEM. Since 0.1.
 */
int npu_builder_dep_push(struct npu_builder *b, unsigned int from, unsigned int to);

/**
 * npu_builder_dep_pop - Unit @to takes a token that unit @from gave.
 * @b: the builder
 * @from: a neighbour of @to
 * @to: NPU_UNIT_LOAD, NPU_UNIT_COMPUTE or NPU_UNIT_STORE
 *
 * The next instruction of @to waits for the token.
 *
 * Return: 0 or the first error: -EINVAL, -ENOMEM. Since 0.1.
 */
int npu_builder_dep_pop(struct npu_builder *b, unsigned int from, unsigned int to);

/**
 * npu_builder_finish - Appends FINISH and hands out the program.
 * @b: the builder
 * @out: the program, which stays with the builder and does not change any more
 *
 * Pending pops are put on FINISH and, for the other units, on instructions of
 * their own. The tokens of the whole program are checked as a core would meet
 * them. A second call gives the same result again; other calls are refused
 * afterwards.
 *
 * Return: 0 or the first error: -EDEADLK when the tokens never come, -EINVAL
 * inside a recording, -E2BIG beyond 2^32 - 1 instructions, -ENOMEM. Since 0.1.
 */
int npu_builder_finish(struct npu_builder *b, struct npu_builder_output *out);

/**
 * npu_tokens_check - Says whether a program's tokens let it end.
 * @insns: instructions, NPU_INSN_BYTES bytes each
 * @count: their number
 * @stuck: set to the lowest instruction that waits for ever, on -EDEADLK; may
 *	be NULL
 *
 * Follows token queues and the units' instruction queues as the manual states
 * them; looks at nothing else.
 *
 * Return: 0 or -EDEADLK. Since 0.1.
 */
int npu_tokens_check(const void *insns, size_t count, size_t *stuck);

#endif /* USERSPACE_ISA_NPU_BUILDER_H */
