/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 OR MIT */
/* The admin operation under way, for admin.c and its operations. */
#ifndef FIRMWARE_CP_ADMIN_H
#define FIRMWARE_CP_ADMIN_H

#include "firmware/cp/fw.h"

#define ADMIN_PENDING	0xffffu

/* Names of the fields that not every operation uses. */
enum admin_field {
	F_PRIORITY, F_LOG_SIZE, F_VECTOR, F_QUEUE, F_CQ, F_CONTEXT, F_RING_SPACE, F_ADDRESS,
	F_SIZE, F_SHADOW, F_LIMIT, F_CORE_MASK, F_ARG0, F_RESERVED,
};

/*
 * @poll goes on with the operation: it returns ADMIN_PENDING or the status.
 * A transfer that the operation wants is described and @dma_wanted set; when
 * it has ended @dma_wanted is false and @end tells how.
 */
struct admin {
	struct npu_admin_sqe sqe;
	u32 (*poll)(void);
	u64 result0;
	u64 result1;
	struct queue *queue;
	u32 step;
	u32 core;
	u32 index;
	u32 chunk;
	bool dma_wanted;
	bool dma_running;
	bool to_host;
	u32 context;
	u64 host;
	void *local;
	u32 len;
	struct dma_end end;
};

extern struct admin admin;

void admin_dma(u32 context, u64 host, void *local, u32 len, bool to_host);
u32 admin_wait(u32 (*poll)(void));
u32 admin_bad_field(u32 offset);
#define BAD_FIELD(field)	admin_bad_field(offsetof(struct npu_admin_sqe, field))

/* admin_create.c */
u32 op_cq_create(void);
u32 op_cq_destroy(void);
u32 op_queue_create(void);
struct queue *admin_find_queue(u32 *status);

/* admin_kill.c */
u32 op_queue_destroy(void);
u32 op_abort(void);
u32 op_context_reset(void);
u32 op_suspend(void);

/* admin_abort.c: the part of ABORT that deals with waiting entries */
u32 abort_waiting(void);

#endif /* FIRMWARE_CP_ADMIN_H */
