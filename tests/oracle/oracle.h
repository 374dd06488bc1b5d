/* SPDX-License-Identifier: MIT */
/*
 * A second interpreter of the instruction set, to hold the device model against.
 * It is written from the manual alone (Documentation/hardware/
 * instruction-set.rst), shares no code with the model, the encoder or the
 * generated field lists, and cares for nothing but being plainly right: units
 * run one whole instruction at a time, there are no cycles, requantisation uses
 * real binary32 arithmetic.
 */
#ifndef TESTS_ORACLE_ORACLE_H
#define TESTS_ORACLE_ORACLE_H

#include <stdbool.h>
#include <stdint.h>

/**
 * struct oracle_memory - The memory behind the MMU.
 * @opaque: first argument of the callbacks
 * @read: copies @len bytes from @va; @access is NPU_ACCESS_READ or
 *	NPU_ACCESS_EXECUTE
 * @write: copies @len bytes to @va
 *
 * Both return 0, or NPU_FAULT_* with the first address that failed.
 */
struct oracle_memory {
	void *opaque;
	uint8_t (*read)(void *opaque, uint64_t va, void *buf, uint32_t len, uint8_t access,
			uint64_t *fault_va);
	uint8_t (*write)(void *opaque, uint64_t va, const void *buf, uint32_t len,
			 uint64_t *fault_va);
};

/**
 * struct oracle_program - A job.
 * @memory: where everything is
 * @insn_va: address of the instructions
 * @insn_count: their number
 * @region_va: address of the region table
 * @region_count: its entries
 * @features: NPU_HW_FEATURE_* bits of the core
 */
struct oracle_program {
	struct oracle_memory memory;
	uint64_t insn_va;
	uint32_t insn_count;
	uint64_t region_va;
	uint32_t region_count;
	uint64_t features;
};

/**
 * struct oracle_result - What became of it.
 * @fault_code: NPU_FAULT_*, NPU_FAULT_NONE when FINISH was reached
 * @fault_unit: NPU_UNIT_*
 * @fault_access: NPU_ACCESS_*
 * @insn: instruction at fault, else the number of instructions
 * @fault_va: address or index of the fault
 * @macs: multiply-accumulates
 * @bytes_read: instructions, regions and data
 * @bytes_written: data
 */
struct oracle_result {
	uint8_t fault_code;
	uint8_t fault_unit;
	uint8_t fault_access;
	uint32_t insn;
	uint64_t fault_va;
	uint64_t macs;
	uint64_t bytes_read;
	uint64_t bytes_written;
};

/**
 * oracle_run - Runs a program to its end.
 * @program: the program
 * @result: what became of it
 *
 * Return: 0, also when the program faulted; -ENOMEM.
 */
int oracle_run(const struct oracle_program *program, struct oracle_result *result);

#endif /* TESTS_ORACLE_ORACLE_H */
