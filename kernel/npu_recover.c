// SPDX-License-Identifier: GPL-2.0-only
/*
 * Jobs that do not end.
 *
 * The device enforces limits itself, in cycles. What is here guards against a
 * device that is broken: a queue with jobs is looked at from time to time, and
 * only when neither the firmware's heartbeat nor the queue's progress moves for
 * long is it given up. So neither a job that waits behind others nor a slow
 * simulation is ever mistaken for a hang.
 *
 * All this runs on one ordered workqueue, as resets do, on the path that signals
 * fences.
 */
#include <linux/dma-fence.h>

#include "npu_command.h"
#include "npu_queue.h"

/* A step of the ladder gets this part of the time that made us try it. */
#define NPU_STEP_MIN_MS		100u
#define NPU_STEP_MAX_MS		5000u

static unsigned int npu_step_ms(struct npu_device *ndev)
{
	return clamp(npu_device_patience(ndev), NPU_STEP_MIN_MS, NPU_STEP_MAX_MS);
}

/* Whether the queue has got on since the last look, or has only just begun. */
static bool npu_queue_alive(struct npu_queue *queue)
{
	u32 heartbeat = npu_device_read(queue->ndev, NPU_HOST_HEARTBEAT);
	unsigned long patience = msecs_to_jiffies(npu_device_patience(queue->ndev));
	u64 progress;
	bool alive;

	spin_lock_irq(&queue->lock);
	if (queue->gone) {
		spin_unlock_irq(&queue->lock);
		return true;
	}
	progress = npu_sq_progress(&queue->sq);
	if (!queue->sq.outstanding || queue->stats.done != queue->seen_done ||
	    progress != queue->seen_progress || heartbeat != queue->seen_heartbeat)
		queue->seen_at = jiffies;
	queue->seen_done = queue->stats.done;
	queue->seen_progress = progress;
	queue->seen_heartbeat = heartbeat;
	alive = !queue->broken && time_before(jiffies, queue->seen_at + patience);
	spin_unlock_irq(&queue->lock);
	return alive;
}

/* Step 1: the job that was given to the device first. */
static bool npu_recover_abort(struct npu_queue *queue)
{
	struct npu_device *ndev = queue->ndev;
	struct npu_admin_sqe sqe;
	u32 cmd_id;
	int ret;

	if (!npu_queue_oldest(queue, &cmd_id))
		return true;
	drm_warn(&ndev->drm, "queue %u does not get on: aborting a job\n", queue->desc.queue);
	npu_admin_abort(&sqe, queue->desc.queue, cmd_id);
	ret = npu_command_once(ndev, &sqe, npu_step_ms(ndev));
	npu_cq_ring_poll(ndev, queue->ring);
	return !ret && !npu_queue_in_flight(queue, cmd_id);
}

/* Step 2: all jobs of the client. */
static bool npu_recover_context(struct npu_queue *queue)
{
	struct npu_device *ndev = queue->ndev;
	struct npu_admin_sqe sqe;
	int ret;

	drm_warn(&ndev->drm, "queue %u: resetting context %u\n", queue->desc.queue,
		 queue->desc.context);
	npu_admin_context_reset(&sqe, queue->desc.context);
	ret = npu_command_once(ndev, &sqe, npu_step_ms(ndev));
	npu_cq_ring_poll(ndev, queue->ring);
	return !ret && npu_queue_idle(queue);
}

/* The interrupt may have got lost: then there is nothing wrong but that. */
static bool npu_queue_gets_on(struct npu_queue *queue)
{
	npu_cq_ring_poll(queue->ndev, queue->ring);
	return npu_queue_alive(queue) || npu_device_state(queue->ndev) != NPU_STATE_UP;
}

/*
 * Who is to blame when @suspect has waited too long: not who waits behind
 * others, but who has the device. Of several whose jobs have begun, those with
 * lower priorities made room for the highest at a YIELD, and wait. NULL if it is
 * not known who has the device.
 */
static struct npu_queue *npu_queue_guilty(struct npu_queue *suspect)
{
	struct npu_queue *guilty = npu_queue_runs(suspect) ? suspect : NULL;
	struct npu_queue *queue;
	bool alone = true;

	lockdep_assert_held(&suspect->ndev->lists_lock);
	if (suspect->broken)
		return suspect;
	list_for_each_entry(queue, &suspect->ndev->queues, link) {
		if (queue == suspect || !queue->live || npu_queue_idle(queue))
			continue;
		alone = false;
		if (npu_queue_runs(queue) &&
		    (!guilty || queue->desc.priority > guilty->desc.priority))
			guilty = queue;
	}
	return alone ? suspect : guilty;
}

/* The steps of the ladder before the last: false if they do not help. */
static bool npu_recover_gently(struct npu_queue *guilty)
{
	if (guilty->broken || (!npu_recover_abort(guilty) && !npu_recover_context(guilty)))
		return false;
	spin_lock_irq(&guilty->lock);
	guilty->seen_at = jiffies;
	spin_unlock_irq(&guilty->lock);
	return true;
}

/* The guilty queue, referenced. */
static struct npu_queue *npu_queue_find_guilty(struct npu_queue *suspect)
{
	struct npu_device *ndev = suspect->ndev;
	struct npu_queue *guilty;

	mutex_lock(&ndev->lists_lock);
	guilty = npu_queue_guilty(suspect);
	if (guilty)
		npu_queue_get(guilty);
	mutex_unlock(&ndev->lists_lock);
	return guilty;
}

/*
 * A look at a queue with jobs. All of it is on the path that signals fences, but
 * lockdep is told so only where the lists are not locked on the way: a reset
 * begins that path with the lists locked already, and lockdep knows one order.
 */
void npu_queue_recover(struct npu_queue *queue)
{
	struct npu_queue *guilty;
	bool cookie, done;

	cookie = dma_fence_begin_signalling();
	done = npu_queue_gets_on(queue);
	dma_fence_end_signalling(cookie);
	if (done)
		return;

	guilty = npu_queue_find_guilty(queue);
	if (guilty) {
		cookie = dma_fence_begin_signalling();
		done = npu_recover_gently(guilty);
		dma_fence_end_signalling(cookie);
	}
	if (!done)
		npu_device_reset(queue->ndev, guilty, NPU_DUMP_HANG);
	if (guilty)
		npu_queue_put(guilty);
}
