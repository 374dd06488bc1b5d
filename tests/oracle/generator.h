/* SPDX-License-Identifier: MIT */
/*
 * Random programs. A program has no race in the manual's sense: the generator
 * follows what tokens order, and adds some where two units would meet. At most
 * one fault is planted, so that what a program does is defined to the byte (or
 * to the fault).
 */
#ifndef TESTS_ORACLE_GENERATOR_H
#define TESTS_ORACLE_GENERATOR_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include "tests/oracle/memory.h"

#define GENERATED_DATA_SEGMENTS 3
#define GENERATED_SEGMENT 16384		/* bytes */
#define GENERATED_GRANULE 16		/* bytes that are followed as one */

/**
 * struct generated - A program, its memory and what must become of it.
 * @seed: what it was made from
 * @space: its memory before it runs
 * @insn_va: address of the instructions
 * @insn_count: their number
 * @region_va: address of the region table
 * @region_count: its entries
 * @features: NPU_HW_FEATURE_* bits of the core that runs it
 * @fault_code: the fault that was planted, or NPU_FAULT_NONE
 * @fault_unit: where it must be met
 * @fault_insn: by which instruction
 * @yields: number of YIELD instructions
 * @stored: whether some STORE, but for one that faults, names a granule of the
 *	first segments
 */
struct generated {
	uint64_t seed;
	struct address_space space;
	uint64_t insn_va;
	uint32_t insn_count;
	uint64_t region_va;
	uint32_t region_count;
	uint64_t features;
	uint8_t fault_code;
	uint8_t fault_unit;
	uint32_t fault_insn;
	uint32_t yields;
	bool stored[GENERATED_DATA_SEGMENTS][GENERATED_SEGMENT / GENERATED_GRANULE];
};

/* The program of a seed; false without memory. Always the same one. */
bool generate(struct generated *program, uint64_t seed);

/*
 * A program of REQUANT whose products lie at, or right beside, half an integer,
 * where each of its roundings shows.
 */
bool generate_requant(struct generated *program, uint64_t seed);

/*
 * A program that moves nothing but tokens, of a few hundred instructions with
 * any flags. It may deadlock; nothing is expected of it.
 */
bool generate_tokens(struct generated *program, uint64_t seed);

/*
 * A program whose first instruction waits for a token of the one before FINISH.
 * Unit 0 to 2 is load, compute and store; waiting instructions are the unit's.
 */
bool generate_queue(struct generated *program, unsigned int unit, uint32_t waiting);

void generated_free(struct generated *program);

/* The program as text: regions, segments and a line an instruction. */
void generated_print(const struct generated *program, FILE *out);

#endif /* TESTS_ORACLE_GENERATOR_H */
