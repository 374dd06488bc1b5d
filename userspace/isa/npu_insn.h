/* SPDX-License-Identifier: MIT */
/*
 * Encoding, decoding and disassembly of instructions and micro-ops. The bit
 * positions come from the contract (npu_isa.h); Documentation/hardware/
 * instruction-set.rst says what the instructions do.
 *
 * Every function here is pure: it keeps no state, allocates nothing and may be
 * called from any thread.
 */
#ifndef USERSPACE_ISA_NPU_INSN_H
#define USERSPACE_ISA_NPU_INSN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "npu_isa.h"

/**
 * enum npu_format - Formats of an instruction word.
 *
 * NPU_FORMAT_MEM (LOAD and STORE), NPU_FORMAT_GEMM, NPU_FORMAT_ALU,
 * NPU_FORMAT_FINISH, NPU_FORMAT_YIELD, NPU_FORMAT_PAD_VALUE,
 * NPU_FORMAT_REQUANT, NPU_FORMAT_VMAC, NPU_FORMAT_LUT, and
 * NPU_FORMAT_RESERVED for a word whose opcode or EXT sub-opcode is reserved.
 */
enum npu_format {
#define NPU_X(name, upper) NPU_FORMAT_##upper,
	NPU_FORMATS(NPU_X)
#undef NPU_X
	NPU_FORMAT_RESERVED,
};

/*
 * struct npu_insn_mem, npu_insn_gemm, ...: one member for each field of the
 * format, named as in the manual. Members are 64 bits wide so that a value
 * computed too large reaches the encoder, which refuses it, and is not cut on
 * the way.
 */
#define NPU_X_FIELD(name, word, shift, width, sign) int64_t name;
#define NPU_X(name, upper) \
	struct npu_insn_##name { NPU_FMT_##upper##_FIELDS(NPU_X_FIELD) };
NPU_FORMATS(NPU_X)
#undef NPU_X
#undef NPU_X_FIELD

/**
 * struct npu_insn - A decoded instruction.
 * @format: which member of the union holds the fields
 * @unnamed: the two 64-bit halves of the word, low first, with only the bits
 *	that no field of the format names; for NPU_FORMAT_RESERVED that is the
 *	whole word. Normally 0.
 */
struct npu_insn {
	enum npu_format format;
	uint64_t unnamed[2];
	union {
#define NPU_X(name, upper) struct npu_insn_##name name;
		NPU_FORMATS(NPU_X)
#undef NPU_X
	};
};

/**
 * struct npu_isa_error - Why an encoding was refused.
 * @field: name of the field, a string constant
 * @value: its value
 * @min: lowest value that the field takes
 * @max: highest value that the field takes
 */
struct npu_isa_error {
	const char *field;
	int64_t value;
	int64_t min;
	int64_t max;
};

/**
 * struct npu_uop - The fields of a micro-op.
 * @dst: ACC index, 0 to 2047
 * @src: INP index (GEMM, VMAC) or ACC index (ALU, REQUANT, LUT), 0 to 2047
 * @wgt: WGT element (GEMM) or WGT row (VMAC), 0 to 1023
 */
struct npu_uop {
	int64_t dst;
	int64_t src;
	int64_t wgt;
};

/**
 * struct npu_requant_bounds - The fields of a lane of REQUANT's second row.
 * @zero_point: added last, -512 to 511
 * @lo: lower bound before the zero point is added, -512 to 511
 * @hi: upper bound before the zero point is added, -512 to 511
 */
struct npu_requant_bounds {
	int64_t zero_point;
	int64_t lo;
	int64_t hi;
};

/**
 * npu_insn_encode - Encodes an instruction.
 * @insn: the instruction
 * @word: where its NPU_INSN_BYTES bytes go, of any alignment; untouched on
 *	error
 * @err: says what was refused; may be NULL
 *
 * Only ranges are checked, and that the opcode (and sub-opcode) is one of the
 * format: reserved values of a field can be encoded, see npu_insn_check().
 *
 * Return: 0; -ERANGE when a field does not hold its value; -EINVAL when opcode
 * or ext_op contradict the format, or @insn->unnamed has a bit that is a
 * field's (the error's field is then "format", "opcode", "ext_op" or
 * "unnamed"). Since 0.1.
 */
int npu_insn_encode(const struct npu_insn *insn, void *word,
		    struct npu_isa_error *err);

/**
 * npu_insn_decode - Decodes any 16 bytes.
 * @word: NPU_INSN_BYTES bytes, of any alignment
 * @insn: the result; encoding it gives @word again
 *
 * Cannot fail: what is no instruction has the format NPU_FORMAT_RESERVED.
 * Since 0.1.
 */
void npu_insn_decode(const void *word, struct npu_insn *insn);

/**
 * npu_insn_check - Says whether a core executes an instruction.
 * @insn: the instruction
 * @features: NPU_HW_FEATURE_* bits of the device (HOST.FEATURES)
 * @why: set to a string constant that names the reason, or to NULL; may be
 *	NULL
 *
 * Covers what the device reports as ILLEGAL. SRAM ranges are not checked.
 *
 * Return: 0; -EINVAL for a reserved value or bit; -EOPNOTSUPP when the device
 * lacks the feature. Since 0.1.
 */
int npu_insn_check(const struct npu_insn *insn, uint64_t features,
		   const char **why);

/**
 * npu_insn_unit - The unit that executes an instruction.
 * @insn: the instruction
 *
 * Return: NPU_UNIT_LOAD, NPU_UNIT_COMPUTE or NPU_UNIT_STORE. Since 0.1.
 */
unsigned int npu_insn_unit(const struct npu_insn *insn);

/**
 * struct npu_tokens - The token flags of an instruction, as its unit
 *	sees them: flags that the unit ignores are false.
 * @pop_prev: pops a token of the previous unit
 * @pop_next: pops a token of the next unit
 * @push_prev: pushes a token to the previous unit
 * @push_next: pushes a token to the next unit
 */
struct npu_tokens {
	bool pop_prev;
	bool pop_next;
	bool push_prev;
	bool push_next;
};

/**
 * npu_insn_tokens - Reads the token flags that count.
 * @insn: the instruction, of any format
 *
 * Return: the flags. Since 0.1.
 */
struct npu_tokens npu_insn_tokens(const struct npu_insn *insn);

/**
 * npu_insn_add_tokens - Sets token flags of an instruction.
 * @insn: the instruction, of any format
 * @tokens: flags to set; those that are set already stay
 *
 * Since 0.1.
 */
void npu_insn_add_tokens(struct npu_insn *insn, struct npu_tokens tokens);

/**
 * npu_insn_print - Disassembles an instruction into one line.
 * @insn: the instruction
 * @buf: where the line goes, with a terminating 0 and no newline
 * @size: bytes of @buf; NPU_INSN_PRINT_MAX suffices for every instruction
 *
 * Return: the length of the whole line, as snprintf() does. Since 0.1.
 */
int npu_insn_print(const struct npu_insn *insn, char *buf, size_t size);

/* Bytes that hold any line of npu_insn_print(). */
#define NPU_INSN_PRINT_MAX 512

/**
 * npu_uop_pack - Encodes a micro-op.
 * @uop: the micro-op
 * @word: the result, in the host's byte order; untouched on error
 * @err: says what was refused; may be NULL
 *
 * Return: 0, or -ERANGE. Since 0.1.
 */
int npu_uop_pack(const struct npu_uop *uop, uint32_t *word,
		 struct npu_isa_error *err);

/**
 * npu_uop_unpack - Decodes a micro-op.
 * @word: the micro-op, in the host's byte order
 *
 * Return: its fields. Since 0.1.
 */
struct npu_uop npu_uop_unpack(uint32_t word);

/**
 * npu_uop_print - Disassembles a micro-op, as "dst=1 src=2 wgt=3".
 * @word: the micro-op, in the host's byte order
 * @buf: where the text goes, with a terminating 0 and no newline
 * @size: bytes of @buf
 *
 * Return: the length of the whole text, as snprintf() does. Since 0.1.
 */
int npu_uop_print(uint32_t word, char *buf, size_t size);

/**
 * npu_requant_bounds_pack - Encodes a lane of REQUANT's second row.
 * @bounds: the fields
 * @word: the result, in the host's byte order; untouched on error
 * @err: says what was refused; may be NULL
 *
 * Return: 0, or -ERANGE. Since 0.1.
 */
int npu_requant_bounds_pack(const struct npu_requant_bounds *bounds,
			    uint32_t *word, struct npu_isa_error *err);

/**
 * npu_requant_bounds_unpack - Decodes a lane of REQUANT's second row.
 * @word: the lane, in the host's byte order
 *
 * Return: its fields. Since 0.1.
 */
struct npu_requant_bounds npu_requant_bounds_unpack(uint32_t word);

#endif /* USERSPACE_ISA_NPU_INSN_H */
