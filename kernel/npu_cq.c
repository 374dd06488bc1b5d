// SPDX-License-Identifier: GPL-2.0-only
/* Completion rings of jobs: memory, creation, and what arrives in them. */
#include <linux/log2.h>
#include <drm/drm_managed.h>

#include "npu_command.h"
#include "npu_cq.h"
#include "npu_queue.h"

#define NPU_CQ_ENTRIES	BIT(NPU_CQ_LOG)

static int npu_cq_ring_init(struct npu_device *ndev, struct npu_cq_ring *ring, u32 index)
{
	spin_lock_init(&ring->lock);
	ring->index = index;
	ring->slots = ndev->info.queues;
	ring->queues = drmm_kcalloc(&ndev->drm, ring->slots + 1, sizeof(*ring->queues),
				    GFP_KERNEL);
	if (!ring->queues)
		return -ENOMEM;
	return npu_mem_alloc(ndev, &ring->mem, sizeof(struct npu_cqe) << NPU_CQ_LOG);
}

/*
 * A completion ring must have room for all that its queues can have under way,
 * so the size of a job ring follows from how many queues may share one.
 */
int npu_cq_rings_init(struct npu_device *ndev)
{
	u32 count = min(ndev->info.cqs - 1, ndev->info.queues);
	u32 shared, i;
	int ret;

	if (!count) {
		drm_err(&ndev->drm, "the device has no completion ring for jobs\n");
		return -EINVAL;
	}
	shared = DIV_ROUND_UP(ndev->info.queues, count);
	ndev->ring_log = ilog2(NPU_CQ_ENTRIES / shared);
	ndev->cqs = drmm_kcalloc(&ndev->drm, count, sizeof(*ndev->cqs), GFP_KERNEL);
	if (!ndev->cqs)
		return -ENOMEM;

	for (i = 0; i < count; i++) {
		ret = npu_cq_ring_init(ndev, &ndev->cqs[i], i + 1);
		if (ret) {
			npu_cq_rings_fini(ndev);
			return ret;
		}
		ndev->cq_count++;
	}
	return 0;
}

void npu_cq_rings_fini(struct npu_device *ndev)
{
	while (ndev->cq_count)
		npu_mem_free(ndev, &ndev->cqs[--ndev->cq_count].mem);
}

/* Empty rings for the next boot. */
void npu_cq_rings_prepare(struct npu_device *ndev)
{
	u32 i;

	for (i = 0; i < ndev->cq_count; i++) {
		struct npu_cq_ring *ring = &ndev->cqs[i];

		spin_lock_irq(&ring->lock);
		memset(ring->mem.cpu, 0, ring->mem.size);
		npu_cq_init(&ring->cq, ring->mem.cpu, NPU_CQ_LOG);
		spin_unlock_irq(&ring->lock);
	}
}

/* Makes the rings known to firmware that has just been booted. */
int npu_cq_rings_create(struct npu_device *ndev)
{
	struct npu_admin_sqe sqe;
	u32 i;
	int ret;

	for (i = 0; i < ndev->cq_count; i++) {
		struct npu_cq_ring *ring = &ndev->cqs[i];

		npu_admin_cq_create(&sqe, ring->index, ring->mem.bus, NPU_CQ_LOG, ring->index);
		ret = npu_command_once(ndev, &sqe, npu_device_patience(ndev));
		if (ret)
			return ret;
	}
	return 0;
}

/*
 * Takes what has arrived, at most one ring, ends the submissions whose jobs have
 * all ended, and gives the device the jobs that waited for room. Any context.
 */
void npu_cq_ring_poll(struct npu_device *ndev, struct npu_cq_ring *ring)
{
	struct npu_queue *queue, *next;
	LIST_HEAD(touched);
	struct npu_cqe cqe;
	unsigned long flags;
	u32 taken;
	int ret;

	spin_lock_irqsave(&ring->lock, flags);
	for (taken = 0; taken < NPU_CQ_ENTRIES; taken++) {
		ret = npu_cq_poll(&ring->cq, &cqe);
		if (!ret)
			break;
		queue = ret > 0 && cqe.queue <= ring->slots ? ring->queues[cqe.queue] : NULL;
		if (!queue || npu_queue_job_ended(queue, &cqe)) {
			drm_err_ratelimited(&ndev->drm,
					    "stray completion: queue %u job %#x status %u\n",
					    cqe.queue, cqe.cmd_id, cqe.status);
			continue;
		}
		if (list_empty(&queue->touched))
			list_add_tail(&queue->touched, &touched);
	}
	list_for_each_entry_safe(queue, next, &touched, touched) {
		list_del_init(&queue->touched);
		npu_queue_advance(queue);
	}
	spin_unlock_irqrestore(&ring->lock, flags);
}

/* The firmware cannot use the queue's ring: its next look decides what to do. */
void npu_cq_ring_fault(struct npu_device *ndev, u32 slot)
{
	struct npu_cq_ring *ring;
	unsigned long flags;
	u32 i;

	for (i = 0; i < ndev->cq_count; i++) {
		ring = &ndev->cqs[i];
		spin_lock_irqsave(&ring->lock, flags);
		if (slot <= ring->slots && ring->queues[slot])
			npu_queue_broken(ring->queues[slot]);
		spin_unlock_irqrestore(&ring->lock, flags);
	}
}
