// SPDX-License-Identifier: GPL-2.0-only
/* Job queues: creation, destruction, state. */
#include <linux/capability.h>
#include <linux/slab.h>
#include <drm/drm_drv.h>

#include "compat/npu_compat.h"
#include "npu_client.h"
#include "npu_command.h"
#include "npu_queue.h"

/* Submissions that the scheduler hands over before the first has ended. */
#define NPU_QUEUE_DEPTH		64

/* How often a queue with jobs is looked at for signs of life. */
#define NPU_QUEUE_LOOK_MS	500

static void npu_queue_release_work(struct work_struct *work)
{
	struct npu_queue *queue = container_of(work, struct npu_queue, release_work);

	drm_sched_fini(&queue->sched);
	npu_flights_fini(queue);
	mutex_destroy(&queue->submit_lock);
	drm_dev_put(&queue->ndev->drm);
	kfree(queue);
	/* Unloading flushes the workqueue, so this function is not pulled away. */
	module_put(THIS_MODULE);
}

static void npu_queue_release(struct kref *ref)
{
	struct npu_queue *queue = container_of(ref, struct npu_queue, ref);

	/* The last put may come from the scheduler's own work. */
	queue_work(npu_release_wq, &queue->release_work);
}

void npu_queue_put(struct npu_queue *queue)
{
	kref_put(&queue->ref, npu_queue_release);
}

struct npu_queue *npu_queue_lookup(struct npu_client *client, u32 id)
{
	struct npu_queue *queue;

	xa_lock(&client->queues);
	queue = xa_load(&client->queues, id);
	if (queue)
		kref_get(&queue->ref);
	xa_unlock(&client->queues);
	return queue;
}

static struct npu_queue *npu_queue_alloc(struct npu_client *client,
					 const struct drm_npu_queue_create *args)
{
	struct npu_device *ndev = client->ndev;
	struct npu_queue *queue = kzalloc(sizeof(*queue), GFP_KERNEL_ACCOUNT);

	if (!queue)
		return NULL;
	kref_init(&queue->ref);
	queue->ndev = ndev;
	queue->client_id = client->id;
	queue->pid = client->opener.pid;
	memcpy(queue->comm, client->opener.comm, sizeof(queue->comm));
	INIT_LIST_HEAD(&queue->link);
	INIT_WORK(&queue->release_work, npu_queue_release_work);
	mutex_init(&queue->submit_lock);
	queue->fence_context = dma_fence_context_alloc(1);
	queue->desc.priority = args->priority;
	queue->desc.core_mask = args->core_mask ?: GENMASK(ndev->info.cores - 1, 0);
	queue->desc.limit = args->limit ?: NPU_LIMIT_DEFAULT;
	queue->desc.log_size = ndev->ring_log;
	return queue;
}

static int npu_queue_init_sched(struct npu_queue *queue)
{
	struct drm_gpu_scheduler *sched = &queue->sched;
	struct npu_device *ndev = queue->ndev;
	int ret;

	ret = npu_sched_init(sched, &npu_sched_ops, ndev->submit_wq, NPU_QUEUE_DEPTH,
			     msecs_to_jiffies(NPU_QUEUE_LOOK_MS), ndev->timeout_wq, "npu",
			     ndev->drm.dev);
	if (ret)
		return ret;
	ret = drm_sched_entity_init(&queue->entity, DRM_SCHED_PRIORITY_KERNEL, &sched, 1, NULL);
	if (ret)
		drm_sched_fini(sched);
	return ret;
}

/* Ring and, where the firmware knows it, shadow block. */
static int npu_queue_init_ring(struct npu_queue *queue)
{
	size_t ring = sizeof(struct npu_job_sqe) << queue->desc.log_size;
	int ret;

	ret = npu_mem_alloc(queue->ndev, &queue->mem, ring + sizeof(struct npu_shadow));
	if (ret)
		return ret;
	queue->desc.ring = queue->mem.bus;
	if (queue->ndev->fw_features & NPU_FW_FEATURE_SHADOW)
		queue->desc.shadow = queue->mem.bus + ring;
	return 0;
}

/* Takes the completion ring that the fewest queues use. */
static void npu_queue_attach(struct npu_queue *queue)
{
	struct npu_device *ndev = queue->ndev;
	struct npu_cq_ring *ring = &ndev->cqs[0];
	u32 i;

	lockdep_assert_held(&ndev->lists_lock);
	for (i = 1; i < ndev->cq_count; i++)
		if (ndev->cqs[i].users < ring->users)
			ring = &ndev->cqs[i];
	ring->users++;
	queue->ring = ring;
	queue->desc.cq = ring->index;
	spin_lock_irq(&ring->lock);
	ring->queues[queue->desc.queue] = queue;
	spin_unlock_irq(&ring->lock);
	list_add_tail(&queue->link, &ndev->queues);
}

static void npu_queue_detach(struct npu_queue *queue)
{
	struct npu_cq_ring *ring = queue->ring;

	lockdep_assert_held(&queue->ndev->lists_lock);
	list_del_init(&queue->link);
	ring->users--;
	spin_lock_irq(&ring->lock);
	ring->queues[queue->desc.queue] = NULL;
	spin_unlock_irq(&ring->lock);
}

/* Creates the slot, again if a reset comes in between, until it is there. */
static int npu_queue_bring_up(struct npu_queue *queue)
{
	struct npu_device *ndev = queue->ndev;
	struct npu_admin_sqe sqe;
	u64 resets;
	int ret;

	do {
		mutex_lock(&ndev->lists_lock);
		resets = ndev->resets;
		mutex_unlock(&ndev->lists_lock);

		npu_queue_rewind(queue);
		npu_admin_queue_create(&sqe, &queue->desc);
		ret = npu_command(ndev, &sqe);

		mutex_lock(&ndev->lists_lock);
		queue->live = !ret && resets == ndev->resets;
		if (!ret && !queue->live)
			ret = -ESTALE;
		mutex_unlock(&ndev->lists_lock);
	} while (ret == -ESTALE);
	return ret;
}

static int npu_queue_init(struct npu_queue *queue, int context)
{
	struct npu_device *ndev = queue->ndev;
	int ret;

	queue->desc.context = context;
	ret = npu_flights_init(queue);
	if (ret)
		goto err_free;
	ret = npu_queue_init_ring(queue);
	if (ret)
		goto err_flights;
	ret = npu_queue_init_sched(queue);
	if (ret)
		goto err_ring;
	ret = ida_alloc_range(&ndev->slots, 1, ndev->info.queues, GFP_KERNEL);
	if (ret < 0)
		goto err_sched;
	queue->desc.queue = ret;
	drm_dev_get(&ndev->drm);
	__module_get(THIS_MODULE);

	mutex_lock(&ndev->lists_lock);
	npu_queue_attach(queue);
	mutex_unlock(&ndev->lists_lock);
	return 0;

err_sched:
	drm_sched_entity_fini(&queue->entity);
	drm_sched_fini(&queue->sched);
err_ring:
	npu_mem_free(ndev, &queue->mem);
err_flights:
	npu_flights_fini(queue);
err_free:
	mutex_destroy(&queue->submit_lock);
	kfree(queue);
	return ret;
}

/* Has the firmware abort what it holds of the queue, and free the slot. */
static void npu_queue_take_down(struct npu_queue *queue)
{
	struct npu_device *ndev = queue->ndev;
	struct npu_admin_sqe sqe;
	bool live;
	int ret;

	mutex_lock(&ndev->lists_lock);
	live = queue->live;
	mutex_unlock(&ndev->lists_lock);
	if (!live)
		return;

	npu_admin_queue_destroy(&sqe, queue->desc.queue);
	ret = npu_command(ndev, &sqe);
	/* Its completion came after those of the jobs, perhaps on another vector. */
	npu_cq_ring_poll(ndev, queue->ring);
	if (ret && ret != -ESTALE && ret != -EIO && ret != -ENODEV) {
		drm_err(&ndev->drm, "queue %u cannot be destroyed (error %d)\n",
			queue->desc.queue, ret);
		npu_device_request_reset(ndev, NPU_DUMP_COMMAND);
	}
}

/* Ends a queue that no client can find any more. */
void npu_queue_destroy(struct npu_queue *queue)
{
	struct npu_device *ndev = queue->ndev;
	int idx;

	mutex_lock(&queue->submit_lock);
	queue->dead = true;
	mutex_unlock(&queue->submit_lock);

	drm_sched_entity_fini(&queue->entity);
	if (drm_dev_enter(&ndev->drm, &idx)) {
		npu_queue_take_down(queue);
		drm_dev_exit(idx);
	}

	mutex_lock(&ndev->lists_lock);
	queue->live = false;
	npu_queue_fail_all(queue, -ECANCELED, false);
	npu_queue_detach(queue);
	npu_mem_free(ndev, &queue->mem);
	mutex_unlock(&ndev->lists_lock);

	/* What is under way there may still speak of the slot. */
	flush_workqueue(ndev->timeout_wq);
	ida_free(&ndev->slots, queue->desc.queue);
	npu_queue_put(queue);
}

static int npu_queue_check(struct npu_device *ndev, const struct drm_npu_queue_create *args)
{
	u32 cores = GENMASK(ndev->info.cores - 1, 0);

	if (args->flags || args->priority >= NPU_PRIORITIES || args->core_mask & ~cores ||
	    args->limit > NPU_LIMIT_MAX) {
		drm_dbg_driver(&ndev->drm,
			       "queue_create: flags %#x, priority %u, cores %#x of %#x, limit %llu\n",
			       args->flags, args->priority, args->core_mask, cores, args->limit);
		return -EINVAL;
	}
	if (args->priority >= NPU_PRIORITIES / 2 && !capable(CAP_SYS_NICE)) {
		drm_dbg_driver(&ndev->drm, "queue_create: priority %u needs CAP_SYS_NICE\n",
			       args->priority);
		return -EACCES;
	}
	return 0;
}

static int npu_queue_create(struct npu_client *client, struct drm_npu_queue_create *args)
{
	struct npu_queue *queue;
	int context, ret;

	context = npu_vm_context(&client->vm);
	if (context < 0)
		return context;
	queue = npu_queue_alloc(client, args);
	if (!queue)
		return -ENOMEM;
	ret = npu_queue_init(queue, context);
	if (ret)
		return ret;

	ret = npu_queue_bring_up(queue);
	if (!ret)
		ret = xa_alloc(&client->queues, &args->queue_id, queue, xa_limit_31b,
			       GFP_KERNEL_ACCOUNT);
	if (ret)
		npu_queue_destroy(queue);
	return ret;
}

int npu_ioctl_queue_create(struct drm_device *drm, void *data, struct drm_file *file)
{
	int ret, idx;

	ret = npu_queue_check(to_npu_device(drm), data);
	if (ret)
		return ret;
	if (!drm_dev_enter(drm, &idx))
		return -ENODEV;
	ret = npu_queue_create(to_npu_client(file), data);
	drm_dev_exit(idx);
	return ret;
}

/* Destroys a queue that was taken from its client, who keeps what it did. */
void npu_queue_retire(struct npu_client *client, struct npu_queue *queue)
{
	struct npu_stats stats;

	npu_queue_get(queue);
	npu_queue_destroy(queue);
	stats = npu_queue_stats(queue);
	npu_queue_put(queue);

	xa_lock(&client->queues);
	npu_stats_add(&client->retired, &stats);
	xa_unlock(&client->queues);
}

int npu_ioctl_queue_destroy(struct drm_device *drm, void *data, struct drm_file *file)
{
	struct npu_client *client = to_npu_client(file);
	struct drm_npu_queue_destroy *args = data;
	struct npu_queue *queue;

	if (args->pad)
		return -EINVAL;
	queue = xa_erase(&client->queues, args->queue_id);
	if (!queue)
		return -ENOENT;
	npu_queue_retire(client, queue);
	return 0;
}

void npu_stats_add(struct npu_stats *sum, const struct npu_stats *stats)
{
	sum->submitted += stats->submitted;
	sum->done += stats->done;
	sum->failed += stats->failed;
	sum->cycles += stats->cycles;
	sum->resets += stats->resets;
	sum->macs += stats->macs;
	sum->bytes_read += stats->bytes_read;
	sum->bytes_written += stats->bytes_written;
}

struct npu_stats npu_queue_stats(struct npu_queue *queue)
{
	struct npu_stats stats;

	spin_lock_irq(&queue->lock);
	stats = queue->stats;
	spin_unlock_irq(&queue->lock);
	return stats;
}

static void npu_queue_fill_query(struct npu_queue *queue, struct drm_npu_queue_query *args)
{
	const struct npu_cqe *failure = &queue->failure;

	spin_lock_irq(&queue->lock);
	args->state = queue->banned ? DRM_NPU_QUEUE_BANNED : 0;
	args->jobs_done = queue->stats.done;
	args->jobs_failed = queue->stats.failed;
	args->cycles = queue->stats.cycles;
	args->resets = queue->stats.resets;
	args->failed_job = queue->failed_job;
	args->failed_status = failure->status;
	args->fault_code = failure->fault_code;
	args->fault_unit = failure->fault_unit;
	args->fault_access = failure->fault_access;
	args->fault_core = failure->core;
	args->fault_insn = failure->insn;
	args->fault_va = failure->fault_va;
	spin_unlock_irq(&queue->lock);
}

int npu_ioctl_queue_query(struct drm_device *drm, void *data, struct drm_file *file)
{
	struct drm_npu_queue_query *args = data;
	struct npu_queue *queue;

	if (args->pad || args->pad0)
		return -EINVAL;
	queue = npu_queue_lookup(to_npu_client(file), args->queue_id);
	if (!queue)
		return -ENOENT;

	mutex_lock(&queue->submit_lock);
	args->jobs_submitted = queue->stats.submitted;
	mutex_unlock(&queue->submit_lock);
	npu_queue_fill_query(queue, args);
	npu_queue_put(queue);
	return 0;
}
