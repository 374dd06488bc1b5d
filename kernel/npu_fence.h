/* SPDX-License-Identifier: GPL-2.0-only */
/* Fences of submissions. */
#ifndef NPU_FENCE_H
#define NPU_FENCE_H

#include <linux/dma-fence.h>
#include <linux/spinlock.h>

/**
 * struct npu_fence - signals when the jobs of a submission have ended
 * @base: base
 * @lock: the lock of @base; in the fence, since fences outlive queues
 */
struct npu_fence {
	struct dma_fence base;
	spinlock_t lock; /* of base */
};

struct npu_fence *npu_fence_alloc(void);
void npu_fence_init(struct npu_fence *fence, u64 context, u64 seqno);
void npu_fence_put(struct npu_fence *fence);
void npu_fence_signal(struct npu_fence *fence, int error);

#endif
