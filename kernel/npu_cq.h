/* SPDX-License-Identifier: GPL-2.0-only */
/* Completion rings of jobs. */
#ifndef NPU_CQ_H
#define NPU_CQ_H

#include "npu_device.h"

#define NPU_CQ_LOG	NPU_RING_LOG_MAX

/**
 * struct npu_cq_ring - a completion ring and the queues that complete there
 * @lock: guards all below. Fences of the queues are signalled under it, which
 *	keeps them in order; so it nests outside the locks of queues and fences.
 *	Taken in interrupts.
 * @cq: the ring
 * @mem: its memory
 * @queues: by slot, number of slots + 1 entries; NULL: none of this ring
 * @index: number of the ring and of its vector
 * @users: queues that use the ring, guarded by the device's lists_lock
 * @slots: number of slots of the device
 */
struct npu_cq_ring {
	spinlock_t lock; /* guards all below, orders signalling */
	struct npu_cq cq;
	struct npu_mem mem;
	struct npu_queue **queues;
	u32 index;
	u32 users;
	u32 slots;
};

int npu_cq_rings_init(struct npu_device *ndev);
void npu_cq_rings_fini(struct npu_device *ndev);
void npu_cq_rings_prepare(struct npu_device *ndev);
int npu_cq_rings_create(struct npu_device *ndev);
void npu_cq_ring_poll(struct npu_device *ndev, struct npu_cq_ring *ring);
void npu_cq_ring_fault(struct npu_device *ndev, u32 slot);

#endif
