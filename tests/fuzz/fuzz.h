/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Random sequences of everything that a client may do with the driver, from
 * several processes and threads. What a thread does follows from the seed, and
 * from what the others have made of the objects that they all use.
 */
#ifndef TESTS_FUZZ_FUZZ_H
#define TESTS_FUZZ_FUZZ_H

#include <setjmp.h>
#include <stdbool.h>
#include <stdint.h>

#define FUZZ_FILES	4
#define FUZZ_HANDLES	16
#define FUZZ_QUEUES	4
#define FUZZ_SYNCS	8
#define FUZZ_FDS	16

/* Memory of a process, in slots: anonymous, a mapped buffer, or nothing. */
#define FUZZ_SLOTS	16
#define FUZZ_SLOT_BYTES	(1u << 20)

/* The same for the address spaces of the device. */
#define FUZZ_VA(slot)	(TEST_VA + (uint64_t)(slot) * FUZZ_SLOT_BYTES)

/**
 * struct fuzz_file - an open file and what was made through it
 * @fd: file descriptor, which stays the same when the file is opened anew
 * @handles: buffers
 * @queues: queues
 * @syncs: syncobjs
 *
 * Threads read and write all this without a lock: a stale or torn-down object
 * is as good as any.
 */
struct fuzz_file {
	int fd;
	uint32_t handles[FUZZ_HANDLES];
	uint32_t queues[FUZZ_QUEUES];
	uint32_t syncs[FUZZ_SYNCS];
};

/**
 * struct fuzz_process - what the threads of a process share
 * @files: open files; those of the first half are shared by all processes
 * @fds: dma-bufs and sync_files, -1 for none
 * @memory: FUZZ_SLOTS slots
 */
struct fuzz_process {
	struct fuzz_file files[FUZZ_FILES];
	int fds[FUZZ_FDS];
	uint8_t *memory;
};

/**
 * struct fuzz_thread - a thread
 * @process: its process
 * @random: state of its generator
 * @verbose: tell of each operation
 * @depth: 0, or 1 in a child that an operation has forked
 * @calls: how often each operation was tried
 * @good: how often it succeeded
 */
struct fuzz_thread {
	struct fuzz_process *process;
	uint64_t random;
	bool verbose;
	unsigned int depth;
	uint64_t *calls;
	uint64_t *good;
};

/**
 * struct fuzz_op - an operation
 * @name: for people
 * @weight: how often it is chosen, relative to the others
 * @run: does it; 0 or a negative errno
 */
struct fuzz_op {
	const char *name;
	unsigned int weight;
	int (*run)(struct fuzz_thread *thread);
};

extern const struct fuzz_op fuzz_ops[];
extern const unsigned int fuzz_op_count;

/* Where a thread goes on after an access to memory that is not there. */
extern __thread sigjmp_buf fuzz_escape;
extern __thread volatile bool fuzz_may_escape;

uint64_t fuzz_random(struct fuzz_thread *thread);
uint32_t fuzz_below(struct fuzz_thread *thread, uint32_t limit);
bool fuzz_one_in(struct fuzz_thread *thread, uint32_t n);
void fuzz_mutate(struct fuzz_thread *thread, void *data, uint32_t size);

int fuzz_open(struct fuzz_thread *thread);
int fuzz_prepare(struct fuzz_thread *thread, struct fuzz_file *file);
void fuzz_run(struct fuzz_thread *thread, uint64_t ops);

/* fuzz_chaos.c: what only root can do, until it is told to stop */
void fuzz_chaos(uint64_t seed, const volatile bool *stop);

/* fuzz_sync.c */
int fuzz_syncobj(struct fuzz_thread *thread);
int fuzz_prime(struct fuzz_thread *thread);
int fuzz_udmabuf(struct fuzz_thread *thread);
int fuzz_close_fd(struct fuzz_thread *thread);
void fuzz_keep_fd(struct fuzz_thread *thread, int fd);

#endif
