// SPDX-License-Identifier: GPL-2.0-only
/*
 * Device reset: what had started is lost, what had not runs afterwards, and only
 * the queue that is to blame is banned.
 *
 * Runs on the ordered workqueue alone. The lists are locked throughout, so that
 * no queue comes or goes; nothing here waits for who waits for that lock, and
 * nothing allocates.
 */
#include <linux/delay.h>
#include <linux/dma-fence.h>

#include "compat/npu_compat.h"
#include "npu_command.h"
#include "npu_coredump.h"
#include "npu_queue.h"
#include "npu_trace.h"

#define NPU_RESET_ATTEMPTS	2

/* How long a suspend waits for jobs. */
#define NPU_SUSPEND_MS		2000

static void npu_reset_halt(struct npu_device *ndev)
{
	struct npu_host_detail detail = {};
	u32 i;

	if (npu_reset(&ndev->env, USEC_PER_SEC, &detail))
		drm_err(&ndev->drm, "the device does not answer a reset: %s is %#llx\n",
			detail.what, detail.found);
	npu_coredump_salvage(ndev);
	npu_command_cancel(ndev, -ESTALE);
	/* What had completed before is not lost. */
	for (i = 0; i < ndev->cq_count; i++)
		npu_cq_ring_poll(ndev, &ndev->cqs[i]);
}

static void npu_reset_blame(struct npu_device *ndev, struct npu_queue *guilty)
{
	struct npu_queue *queue;

	list_for_each_entry(queue, &ndev->queues, link) {
		if (!queue->live)
			continue;
		if (queue == guilty || READ_ONCE(queue->dead)) {
			queue->live = false;
			npu_queue_fail_all(queue, -ECANCELED, queue == guilty);
		} else {
			npu_queue_fail_started(queue);
		}
	}
}

static int npu_reset_roots(struct npu_device *ndev)
{
	struct npu_admin_sqe sqe;
	u32 context;
	u64 root;
	int ret;

	for (context = 1; context < ndev->info.contexts; context++) {
		spin_lock(&ndev->roots_lock);
		root = ndev->roots[context];
		spin_unlock(&ndev->roots_lock);
		if (!root)
			continue;
		npu_admin_context_set_root(&sqe, context, root);
		ret = npu_command_once(ndev, &sqe, npu_device_patience(ndev));
		if (ret)
			return ret;
	}
	return 0;
}

static int npu_reset_queues(struct npu_device *ndev)
{
	struct npu_admin_sqe sqe;
	struct npu_queue *queue;
	int ret;

	list_for_each_entry(queue, &ndev->queues, link) {
		if (!queue->live)
			continue;
		npu_admin_queue_create(&sqe, &queue->desc);
		ret = npu_command_once(ndev, &sqe, npu_device_patience(ndev));
		if (ret)
			return ret;
	}
	return 0;
}

static int npu_reset_restore(struct npu_device *ndev)
{
	int attempt, ret;

	for (attempt = 0; attempt < NPU_RESET_ATTEMPTS; attempt++) {
		ret = npu_device_boot(ndev);
		if (!ret)
			ret = npu_reset_roots(ndev);
		if (!ret)
			ret = npu_reset_queues(ndev);
		if (!ret)
			return 0;
	}
	return ret;
}

/* Held in reset from here on. */
static void npu_reset_give_up(struct npu_device *ndev, int error)
{
	struct npu_queue *queue;

	drm_err(&ndev->drm, "the device cannot be brought back (error %d)\n", error);
	npu_reset(&ndev->env, USEC_PER_SEC, NULL);
	npu_device_set_state(ndev, NPU_STATE_WEDGED);
	npu_command_cancel(ndev, -EIO);
	list_for_each_entry(queue, &ndev->queues, link) {
		queue->live = false;
		npu_queue_fail_all(queue, -ENODEV, false);
	}
}

/* Firmware, contexts and queues anew, and what has not run. */
static int npu_reset_go_on(struct npu_device *ndev)
{
	struct npu_queue *queue;
	int ret;

	ret = npu_reset_restore(ndev);
	if (ret)
		npu_reset_give_up(ndev, ret);
	else
		npu_device_set_state(ndev, NPU_STATE_UP);
	list_for_each_entry(queue, &ndev->queues, link) {
		npu_queue_kick(queue);
		drm_sched_wqueue_start(&queue->sched);
	}
	return ret;
}

static bool npu_reset_locked(struct npu_device *ndev, struct npu_queue *guilty,
			     enum npu_dump_reason reason)
{
	struct npu_queue *queue;
	bool cookie;
	int ret;

	/* Whoever asked during a suspend gets a device that was booted anew. */
	if (ndev->suspended || !npu_device_set_state(ndev, NPU_STATE_RESETTING))
		return true;
	if (guilty)
		drm_warn(&ndev->drm, "resetting the device; queue %u is banned\n",
			 guilty->desc.queue);
	else
		drm_warn(&ndev->drm, "resetting the device\n");
	trace_npu_reset(ndev, guilty ? guilty->desc.queue : 0);
	list_for_each_entry(queue, &ndev->queues, link)
		drm_sched_wqueue_stop(&queue->sched);
	cookie = dma_fence_begin_signalling();
	npu_coredump_capture(ndev, guilty, reason);
	npu_reset_halt(ndev);
	ndev->resets++;
	npu_reset_blame(ndev, guilty);
	ret = npu_reset_go_on(ndev);
	trace_npu_reset_done(ndev, ret);
	dma_fence_end_signalling(cookie);
	return !ret;
}

static bool npu_reset_all_idle(struct npu_device *ndev)
{
	struct npu_queue *queue;

	list_for_each_entry(queue, &ndev->queues, link)
		if (queue->live && !npu_queue_idle(queue))
			return false;
	return true;
}

/* The firmware comes to rest, if it does; the reset that follows does not need it. */
static void npu_suspend_firmware(struct npu_device *ndev)
{
	unsigned long end = jiffies + msecs_to_jiffies(NPU_SUSPEND_MS);
	struct npu_admin_sqe sqe;
	int ret;

	while (!npu_reset_all_idle(ndev) && time_before(jiffies, end))
		usleep_range(1000, 2000);
	if (!(ndev->fw_features & NPU_FW_FEATURE_SUSPEND))
		return;
	npu_admin_suspend(&sqe);
	ret = npu_command_once(ndev, &sqe, npu_device_patience(ndev));
	if (ret)
		drm_warn(&ndev->drm, "the firmware does not suspend (error %d)\n", ret);
}

/*
 * On the ordered workqueue, as resets. Jobs that the device has been given may end
 * for a while; of those that have not, the ones that had started are lost, and the
 * others run after npu_device_resume(). Until then all that need the device wait.
 */
void npu_device_suspend(struct npu_device *ndev)
{
	struct npu_queue *queue;
	bool cookie;

	mutex_lock(&ndev->lists_lock);
	if (npu_device_state(ndev) == NPU_STATE_UP) {
		list_for_each_entry(queue, &ndev->queues, link)
			drm_sched_wqueue_stop(&queue->sched);
		npu_suspend_firmware(ndev);
		npu_device_set_state(ndev, NPU_STATE_RESETTING);
		ndev->suspended = true;
		cookie = dma_fence_begin_signalling();
		npu_reset_halt(ndev);
		npu_reset_blame(ndev, NULL);
		dma_fence_end_signalling(cookie);
	}
	mutex_unlock(&ndev->lists_lock);
}

/* On the ordered workqueue. False if the device cannot be brought back. */
bool npu_device_resume(struct npu_device *ndev)
{
	bool cookie;
	int ret = 0;

	mutex_lock(&ndev->lists_lock);
	if (ndev->suspended) {
		ndev->suspended = false;
		cookie = dma_fence_begin_signalling();
		ret = npu_reset_go_on(ndev);
		dma_fence_end_signalling(cookie);
	}
	mutex_unlock(&ndev->lists_lock);
	return !ret;
}

/*
 * On the ordered workqueue, within drm_dev_enter(). @guilty: the queue to ban, or
 * NULL.
 *
 * All of it is on the path that signals fences, but lockdep is told so only once
 * the schedulers have stopped: it takes waiting for a work for a lock, and
 * run_job, in that work, is on that path as well.
 */
void npu_device_reset(struct npu_device *ndev, struct npu_queue *guilty,
		      enum npu_dump_reason reason)
{
	bool up;

	mutex_lock(&ndev->lists_lock);
	up = npu_reset_locked(ndev, guilty, reason);
	mutex_unlock(&ndev->lists_lock);
	npu_coredump_finish(ndev);

	/* Tells user space, and may sleep in memory reclaim. */
	if (!up)
		npu_dev_wedged(&ndev->drm);
}

void npu_reset_work(struct work_struct *work)
{
	struct npu_device *ndev = container_of(work, struct npu_device, reset_work);
	int idx;

	if (!drm_dev_enter(&ndev->drm, &idx))
		return;
	npu_device_reset(ndev, NULL, READ_ONCE(ndev->reset_reason));
	drm_dev_exit(idx);
}

/* Process context, not on the ordered workqueue: returns when it is over. */
void npu_device_request_reset(struct npu_device *ndev, enum npu_dump_reason reason)
{
	WRITE_ONCE(ndev->reset_reason, reason);
	queue_work(ndev->timeout_wq, &ndev->reset_work);
	flush_work(&ndev->reset_work);
}
