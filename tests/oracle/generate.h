/* SPDX-License-Identifier: MIT */
/* What the files of the generator share. */
#ifndef TESTS_ORACLE_GENERATE_H
#define TESTS_ORACLE_GENERATE_H

#include "tests/oracle/generator.h"
#include "tests/oracle/random.h"
#include "userspace/isa/npu_insn.h"
#include "npu_proto.h"
#include "npu_regs.h"

enum { LOAD, COMPUTE, STORE, UNITS };

enum {
	INSN_MAX = 3000,
	TOKENS_HELD = 200,
	TOUCH_MAX = 1 << 16,
	GRANULE = GENERATED_GRANULE,
	DATA_SEGMENTS = GENERATED_DATA_SEGMENTS,
	SEGMENT_BYTES = GENERATED_SEGMENT,
	UOP_SEGMENT = DATA_SEGMENTS,	/* index of the read-only one */
	TRACKED_SEGMENTS = DATA_SEGMENTS + 1,
};

/*
 * Instructions of each unit are numbered from 1. A clock holds, for each unit,
 * the last instruction that is known to have completed.
 */
struct clock {
	uint32_t seen[UNITS];
};

/* The last instruction of each unit that wrote or read an element. */
struct cell {
	uint32_t wrote[UNITS];
	uint32_t read[UNITS];
};

struct touch {
	struct cell *cell;
	bool write;
};

struct token_queue {
	struct clock tokens[TOKENS_HELD];
	unsigned int count;
	bool banned;			/* nothing may be pushed any more */
};

struct unit {
	uint32_t issued;
	struct clock now;		/* before its next instruction */
	struct clock done;		/* after its last one */
	struct npu_tokens pending;	/* pops of the next one */
	bool has_last;			/* an instruction that can take a push flag */
	unsigned int last;
};

/* How a program is: small windows make units meet often. */
struct style {
	unsigned int insns;
	unsigned int window[5];		/* elements in use, by memory */
	unsigned int memory_window;	/* elements of memory in use */
	unsigned int noise;		/* percent of needless tokens */
	unsigned int yields;		/* percent */
	unsigned int passes;		/* most micro-ops executed by an instruction */
};

struct generator {
	struct random r;
	struct generated *out;
	struct style style;
	struct npu_insn insns[INSN_MAX];
	unsigned int count;
	struct unit units[UNITS];
	struct token_queue queues[UNITS][UNITS];	/* from, to */
	struct npu_region regions[NPU_REGION_TABLE_MAX];
	/* The instruction that is being made: what it touches, what must be over. */
	struct touch touched[TOUCH_MAX];
	unsigned int touches;
	struct clock need;
	struct cell inp[NPU_INP_DEPTH];
	struct cell wgt[NPU_WGT_DEPTH];
	struct cell acc[NPU_ACC_DEPTH];
	struct cell memory[TRACKED_SEGMENTS][SEGMENT_BYTES / GRANULE];
	/* Micro-ops in UOP memory; 0 where there is none. */
	uint32_t uop[NPU_UOP_DEPTH];
};

/* A range of memory that an instruction may name. */
struct place {
	unsigned int selector;
	unsigned int segment;
	uint64_t base;			/* of the region */
	uint64_t low;			/* first element of the range */
	uint64_t high;			/* one past the last */
};

unsigned int memory_bytes(unsigned int memory);
unsigned int memory_depth(unsigned int memory);
unsigned int generator_unit(const struct npu_insn *insn);

/* The region that a selector names for a memory; false if there is none. */
bool generator_region(const struct generator *g, unsigned int selector, unsigned int memory,
		      struct npu_region *region);

/* A random range of one of the segments first to last that some selector reaches. */
bool generator_place(struct generator *g, unsigned int memory, unsigned int first,
		     unsigned int last, struct place *place);

/* Starts an instruction; touch() adds what it reads or writes. */
void generator_begin(struct generator *g);
void generator_touch(struct generator *g, struct cell *cell, unsigned int unit, bool write);

/* Orders and appends the instruction; false if the program is full. */
bool generator_commit(struct generator *g, const struct npu_insn *insn);

/* Appends an instruction whose tokens are not followed. */
bool generator_append(struct generator *g, const struct npu_insn *insn);

/* Appends an instruction that moves tokens only, with pending pops. */
bool generator_mover(struct generator *g, unsigned int unit);

/* Appends a random valid instruction; false if none was found. */
bool generate_insn(struct generator *g);

/* Random loops, with all indices within their memories. */
bool generate_kernel(struct generator *g, struct npu_insn *insn);

/* Makes the next instruction a faulty one; false if it did not come to be. */
bool generate_fault(struct generator *g);

/* Faults of the program as a whole, once its instructions are written. */
void generate_late_fault(struct generator *g, struct segment *code);

#endif /* TESTS_ORACLE_GENERATE_H */
