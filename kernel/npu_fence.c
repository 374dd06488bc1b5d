// SPDX-License-Identifier: GPL-2.0-only
/*
 * Fences of submissions. They are what user space waits for, and what the
 * scheduler is given by run_job.
 *
 * A fence is allocated with its submission, initialised when nothing can fail
 * any more, and refers to nothing but this module, which it keeps loaded: a
 * sync_file may hold it for as long as it likes.
 */
#include <linux/module.h>
#include <linux/slab.h>

#include "npu_fence.h"

static const char *npu_fence_driver_name(struct dma_fence *fence)
{
	return "npu";
}

static const char *npu_fence_timeline_name(struct dma_fence *fence)
{
	return "queue";
}

static void npu_fence_release(struct dma_fence *fence)
{
	dma_fence_free(fence);
	module_put(THIS_MODULE);
}

static const struct dma_fence_ops npu_fence_ops = {
	.get_driver_name = npu_fence_driver_name,
	.get_timeline_name = npu_fence_timeline_name,
	.release = npu_fence_release,
};

/* The fence cannot be waited for before npu_fence_init(). */
struct npu_fence *npu_fence_alloc(void)
{
	struct npu_fence *fence = kzalloc(sizeof(*fence), GFP_KERNEL_ACCOUNT);

	/* dma_fence_free() frees the base. */
	BUILD_BUG_ON(offsetof(struct npu_fence, base) != 0);
	if (fence)
		spin_lock_init(&fence->lock);
	return fence;
}

void npu_fence_init(struct npu_fence *fence, u64 context, u64 seqno)
{
	__module_get(THIS_MODULE);
	dma_fence_init(&fence->base, &npu_fence_ops, &fence->lock, context, seqno);
}

void npu_fence_put(struct npu_fence *fence)
{
	if (fence->base.ops)
		dma_fence_put(&fence->base);
	else
		kfree(fence);
}

void npu_fence_signal(struct npu_fence *fence, int error)
{
	unsigned long flags;

	spin_lock_irqsave(&fence->lock, flags);
	if (!dma_fence_is_signaled_locked(&fence->base)) {
		if (error)
			dma_fence_set_error(&fence->base, error);
		dma_fence_signal_locked(&fence->base);
	}
	spin_unlock_irqrestore(&fence->lock, flags);
}
