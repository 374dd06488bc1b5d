/* SPDX-License-Identifier: MIT */
/* A whole device with host memory and firmware, driven by the host library. */
#ifndef TESTS_UNIT_DEVICE_BOARD_H
#define TESTS_UNIT_DEVICE_BOARD_H

#include "firmware/host/npu_host.h"
#include "firmware/model/npu_model.h"
#include "npu_isa.h"
#include "userspace/isa/npu_insn.h"

#define DEV_MEM_BASE	0x40000000ull	/* bus address of the memory */
#define DEV_PAGES	8192u
#define DEV_CQS		4u
#define DEV_QUEUES	64u

/* Virtual addresses of dev_context(). */
#define DEV_VA		0x00100000ull
#define DEV_VA_BYTES	0x00400000ull
#define DEV_VA_DATA	(DEV_VA + 0x100000)

struct dev_queue {
	struct npu_sq sq;
	struct npu_shadow *shadow;
	u32 slot;
	u32 cq;
	u32 context;
	void *entries;
	u64 bus;
	u64 shadow_bus;
};

struct dev_cq {
	struct npu_cq cq;
	void *entries;
	u64 bus;
	u32 log_size;
};

/*
 * @no_map: the bus gives no pointers, all goes through read and write.
 * [@hole, @hole_end): bus addresses that are refused.
 */
struct dev_board {
	struct npu_model *m;
	struct npu_model_config cfg;
	u8 *mem;
	u8 used[DEV_PAGES];
	bool no_map;
	u64 hole;
	u64 hole_end;
	u32 irqs[NPU_MAX_CQS];
	u64 now;
	u32 slice;		/* budget of a run */
	u64 ran;		/* budget used up by dev_run() */
	struct npu_host_env env;
	struct npu_admin admin;
	void *sq;
	void *cq;
	u64 sq_bus;
	u64 cq_bus;
	u8 *image;
	size_t image_size;
	struct npu_fwimage fw;
	struct npu_pt pt[8];
	u64 data_bus[8];
	struct dev_cq cqs[DEV_CQS + 1];
};

/* @cfg NULL: the default. The firmware is read and checked, not booted. */
void dev_init(struct dev_board *d, const struct npu_model_config *cfg);
void dev_exit(struct dev_board *d);

/* @count contiguous zeroed pages. */
void *dev_pages(struct dev_board *d, u32 count, u64 *bus);
void *dev_at(struct dev_board *d, u64 bus);

/* Boots, which has to succeed. dev_try_boot() gives npu_boot()'s error. */
void dev_boot(struct dev_board *d);
int dev_try_boot(struct dev_board *d);

/* Runs until nothing is left to do; fails the test if that does not come. */
void dev_run(struct dev_board *d);

/* One admin operation, polled to its end. */
struct npu_admin_result dev_admin(struct dev_board *d, struct npu_admin_sqe *sqe);
void dev_admin_ok(struct dev_board *d, struct npu_admin_sqe *sqe);

/*
 * Context @context with 4 MiB of memory, all rights, at DEV_VA. dev_mem()
 * points to memory of a context.
 */
void dev_context(struct dev_board *d, u32 context);
void *dev_mem(struct dev_board *d, u32 context, u64 va);

void dev_make_cq(struct dev_board *d, u32 cq, u32 log_size);

/* Options of a queue; all 0: priority 0, 16 entries, no shadow block, on the bus. */
struct dev_queue_opts {
	u32 priority;
	u32 log_size;
	u64 limit;
	u32 core_mask;
	bool shadow;
	bool in_context;
};

void dev_make_queue(struct dev_board *d, struct dev_queue *q, u32 slot, u32 cq, u32 context,
		    const struct dev_queue_opts *opts);

/* Writes an entry; dev_ring() tells the device. */
void dev_push(struct dev_queue *q, const struct npu_job_sqe *sqe);
void dev_push_nop(struct dev_queue *q, u32 cmd_id);
void dev_ring(struct dev_queue *q);

/* A job of @count instructions at @va of the queue's context. */
struct npu_job_sqe dev_job(u32 cmd_id, u64 va, u32 count);

/* The next completion of a ring; false if there is none. */
bool dev_poll(struct dev_board *d, u32 cq, struct npu_cqe *cqe);

/* The next completion, which must be there. */
struct npu_cqe dev_cqe(struct dev_board *d, u32 cq);

/*
 * Programs. Each is written to @va of @context; the return value is its number
 * of instructions.
 */
u32 dev_program(struct dev_board *d, u32 context, u64 va, const struct npu_insn *insns, u32 n);
u32 dev_program_finish(struct dev_board *d, u32 context, u64 va);

/* GEMM of 16383 * @k cycles per instruction, @n of them, a YIELD between two. */
u32 dev_program_busy(struct dev_board *d, u32 context, u64 va, u32 k, u32 n);

#endif /* TESTS_UNIT_DEVICE_BOARD_H */
