/* SPDX-License-Identifier: MIT */
/* What the files of the command builder share. */
#ifndef USERSPACE_ISA_BUILDER_H
#define USERSPACE_ISA_BUILDER_H

#include "userspace/isa/npu_builder.h"

#define BUILDER_UNITS 3

/* A hash table from contents to numbers; the owner compares the contents. */
struct number_table {
	struct number_slot {
		uint64_t hash;
		size_t number;		/* + 1; 0 is an empty slot */
	} *slots;
	size_t size;			/* 0 or a power of 2, more than used */
	size_t used;
};

/* A list of micro-ops in the image, and where it lives in UOP memory. */
struct uop_list {
	size_t first;
	size_t count;
	struct npu_uop max;		/* the highest of each field */
	bool resident;
	unsigned int place;		/* valid while resident */
};

struct kernel_loop {
	int64_t extent;
	int64_t dst_factor;
	int64_t src_factor;
	int64_t wgt_factor;
};

struct kernel {
	struct kernel_loop outer;
	struct kernel_loop inner;
	size_t list;
};

struct kernel_recording {
	bool active;
	unsigned int loops;
	struct kernel_loop loop[2];
	uint32_t *uops;
	size_t count;
	size_t capacity;
};

struct kernel_cache {
	struct kernel_recording recording;
	uint32_t *image;		/* in device byte order */
	size_t image_count;
	size_t image_capacity;
	struct uop_list *lists;
	size_t list_count;
	size_t list_capacity;
	struct number_table list_table;
	struct kernel *kernels;
	size_t kernel_count;
	size_t kernel_capacity;
	struct number_table kernel_table;
	/*
	 * UOP memory is filled from front to back over and over. owner[i] is
	 * the number, + 1, of the list that was put at i last; it counts only
	 * if that list is resident and covers i.
	 */
	unsigned int next_place;
	size_t owner[NPU_UOP_DEPTH];
};

/* One unit as the program has built it up so far. */
struct unit_state {
	bool has_last;			/* an instruction that can carry a push */
	size_t last;
	struct npu_tokens pending;	/* pops of the next instruction */
};

struct npu_builder {
	struct npu_builder_config config;
	int error;
	char message[256];
	bool finished;
	unsigned char *insns;
	size_t count;
	size_t capacity;
	struct unit_state units[BUILDER_UNITS];
	struct kernel_cache kernels;
};

/* Keeps the first error; returns the one that is kept. */
int builder_fail(struct npu_builder *b, int code, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* 0, or why nothing may be added to the program. */
int builder_ready(struct npu_builder *b);

/* Adds an instruction that the core executes; pending pops go to it. */
int builder_append(struct npu_builder *b, const struct npu_insn *insn);

/* The same, but pending pops wait for the next instruction. */
int builder_append_plain(struct npu_builder *b, const struct npu_insn *insn);

/*
 * The array with room for more elements of a size behind its count; NULL without
 * memory, and the array is as it was.
 */
void *builder_grow(void *array, size_t *capacity, size_t count, size_t more, size_t size);

/* SRAM has lost its contents. */
void kernels_forget(struct kernel_cache *cache);

void kernels_free(struct kernel_cache *cache);

#endif /* USERSPACE_ISA_BUILDER_H */
