// SPDX-License-Identifier: GPL-2.0-only
/*
 * Submissions: from the ioctl into the scheduler, and what the scheduler asks.
 */
#include <linux/dma-fence-chain.h>
#include <linux/slab.h>
#include <drm/drm_drv.h>
#include <drm/drm_syncobj.h>

#include "compat/npu_compat.h"
#include "npu_client.h"
#include "npu_queue.h"
#include "npu_trace.h"
#include "npu_uaccess.h"

/**
 * struct npu_out_sync - a syncobj that a submission signals
 * @syncobj: referenced
 * @chain: link of a timeline, allocated beforehand; NULL: binary
 * @point: of the timeline
 */
struct npu_out_sync {
	struct drm_syncobj *syncobj;
	struct dma_fence_chain *chain;
	u64 point;
};

/**
 * struct npu_submit - a call of SUBMIT under way
 * @args: of the call
 * @file: caller
 * @queue: queue, referenced
 * @submission: what becomes of it
 * @outs: out syncs
 * @resv: reservations
 */
struct npu_submit {
	struct drm_npu_submit *args;
	struct drm_file *file;
	struct npu_queue *queue;
	struct npu_submission *submission;
	struct npu_out_sync *outs;
	struct npu_vm_resv resv;
};

static struct npu_submission *to_npu_submission(struct drm_sched_job *job)
{
	return container_of(job, struct npu_submission, base);
}

static struct dma_fence *npu_sched_run_job(struct drm_sched_job *job)
{
	struct npu_submission *submission = to_npu_submission(job);
	struct npu_queue *queue = submission->queue;
	struct npu_fence *fence = submission->fence;
	bool cookie = dma_fence_begin_signalling();
	int ret = -ENODEV;
	int idx;

	/* One reference is the scheduler's, as is one that run_job returns. */
	dma_fence_get(&fence->base);
	if (drm_dev_enter(&queue->ndev->drm, &idx)) {
		ret = npu_queue_start(queue, submission);
		drm_dev_exit(idx);
	}
	if (ret) {
		npu_fence_signal(fence, ret);
		dma_fence_put(&fence->base);
	}
	dma_fence_end_signalling(cookie);
	return ret ? ERR_PTR(ret) : &fence->base;
}

static enum drm_gpu_sched_stat npu_sched_timedout_job(struct drm_sched_job *job)
{
	struct npu_queue *queue = npu_queue_get(to_npu_submission(job)->queue);
	enum drm_gpu_sched_stat status;
	int idx;

	if (drm_dev_enter(&queue->ndev->drm, &idx)) {
		npu_queue_recover(queue);
		drm_dev_exit(idx);
	}
	/* From here on the job may be freed, and was perhaps the queue's last. */
	status = npu_sched_keep_job(job);
	npu_queue_put(queue);
	return status;
}

static void npu_submission_free(struct npu_submission *submission)
{
	struct npu_queue *queue = submission->queue;

	npu_fence_put(submission->fence);
	kvfree(submission);
	/* Last: this may be all that keeps the module. */
	npu_queue_put(queue);
}

static void npu_sched_free_job(struct drm_sched_job *job)
{
	struct npu_submission *submission = to_npu_submission(job);

	/* One that never ran, since its queue was destroyed. */
	npu_fence_signal(submission->fence, -ECANCELED);
	drm_sched_job_cleanup(job);
	npu_submission_free(submission);
}

const struct drm_sched_backend_ops npu_sched_ops = {
	.run_job = npu_sched_run_job,
	.timedout_job = npu_sched_timedout_job,
	.free_job = npu_sched_free_job,
};

static int npu_job_check(const struct drm_npu_job *job)
{
	if (job->flags || job->pad)
		return -EINVAL;
	if (!job->insn_count)
		return job->insn_va || job->region_count || job->region_va || job->limit ||
		       job->report_va ? -EINVAL : 0;
	if (!IS_ALIGNED(job->insn_va, 16) || !IS_ALIGNED(job->region_va, 16) ||
	    !IS_ALIGNED(job->report_va, NPU_REPORT_ALIGN))
		return -EINVAL;
	if (job->region_count > NPU_REGION_TABLE_MAX || (job->region_va && !job->region_count) ||
	    job->limit > NPU_LIMIT_MAX)
		return -EINVAL;
	return 0;
}

static int npu_submission_check(struct npu_submit *submit)
{
	struct npu_submission *submission = submit->submission;
	u32 i;
	int ret;

	for (i = 0; i < submission->count; i++) {
		const struct drm_npu_job *job = &submission->jobs[i];

		ret = npu_job_check(job);
		if (ret) {
			drm_dbg_driver(&submit->queue->ndev->drm,
				       "submit: job %u (insn %#llx + %u, regions %#llx + %u, limit %llu, report %#llx, flags %#x) is refused\n",
				       i, job->insn_va, job->insn_count, job->region_va,
				       job->region_count, job->limit, job->report_va, job->flags);
			return ret;
		}
	}
	return 0;
}

/* On error nothing of the submission is left. */
static int npu_submission_create(struct npu_submit *submit)
{
	struct npu_queue *queue = submit->queue;
	struct npu_submission *submission;
	u32 count = submit->args->job_count;
	int ret = -ENOMEM;

	submission = kvzalloc(struct_size(submission, jobs, count), GFP_KERNEL_ACCOUNT);
	if (!submission)
		return -ENOMEM;
	submission->count = count;
	submission->left = count;
	submission->failed = count;
	submission->fence = npu_fence_alloc();
	if (!submission->fence)
		goto err_free;
	submit->submission = submission;
	ret = npu_copy_array(submission->jobs, sizeof(submission->jobs[0]), submit->args->jobs,
			     submit->args->job_stride, count);
	if (!ret)
		ret = npu_submission_check(submit);
	if (!ret)
		ret = npu_sched_job_init(&submission->base, &queue->entity, submit->file,
					 queue->client_id);
	if (ret)
		goto err_fence;
	submission->queue = npu_queue_get(queue);
	return 0;

err_fence:
	npu_fence_put(submission->fence);
err_free:
	submit->submission = NULL;
	kvfree(submission);
	return ret;
}

static int npu_copy_syncs(u64 from, u32 count, struct drm_npu_sync **out)
{
	struct drm_npu_sync *syncs;
	u32 i;
	int ret;

	syncs = kvmalloc_array(count, sizeof(*syncs), GFP_KERNEL_ACCOUNT);
	if (!syncs)
		return -ENOMEM;
	ret = npu_copy_array(syncs, sizeof(*syncs), from, sizeof(*syncs), count);
	for (i = 0; i < count && !ret; i++)
		if (syncs[i].flags)
			ret = -EINVAL;
	if (ret)
		kvfree(syncs);
	else
		*out = syncs;
	return ret;
}

static int npu_submit_in_syncs(struct npu_submit *submit)
{
	struct drm_npu_submit *args = submit->args;
	struct drm_npu_sync *syncs;
	struct dma_fence *fence;
	u32 i;
	int ret;

	if (!args->in_sync_count)
		return 0;
	ret = npu_copy_syncs(args->in_syncs, args->in_sync_count, &syncs);
	if (ret)
		return ret;
	for (i = 0; i < args->in_sync_count && !ret; i++) {
		ret = drm_syncobj_find_fence(submit->file, syncs[i].handle, syncs[i].point, 0,
					     &fence);
		if (!ret)
			ret = drm_sched_job_add_dependency(&submit->submission->base, fence);
	}
	kvfree(syncs);
	return ret;
}

static int npu_out_sync_init(struct npu_out_sync *out, struct drm_file *file,
			     const struct drm_npu_sync *sync)
{
	out->syncobj = drm_syncobj_find(file, sync->handle);
	if (!out->syncobj)
		return -ENOENT;
	out->point = sync->point;
	if (!sync->point)
		return 0;
	out->chain = dma_fence_chain_alloc();
	return out->chain ? 0 : -ENOMEM;
}

static int npu_submit_out_syncs(struct npu_submit *submit)
{
	struct drm_npu_submit *args = submit->args;
	struct drm_npu_sync *syncs;
	u32 i;
	int ret;

	if (!args->out_sync_count)
		return 0;
	ret = npu_copy_syncs(args->out_syncs, args->out_sync_count, &syncs);
	if (ret)
		return ret;
	submit->outs = kvcalloc(args->out_sync_count, sizeof(*submit->outs), GFP_KERNEL_ACCOUNT);
	if (!submit->outs)
		ret = -ENOMEM;
	for (i = 0; i < args->out_sync_count && !ret; i++)
		ret = npu_out_sync_init(&submit->outs[i], submit->file, &syncs[i]);
	kvfree(syncs);
	return ret;
}

static void npu_submit_publish(struct npu_submit *submit, struct dma_fence *fence)
{
	u32 i;

	npu_vm_resv_add(&submit->resv, fence);
	for (i = 0; i < submit->args->out_sync_count; i++) {
		struct npu_out_sync *out = &submit->outs[i];

		if (out->chain)
			drm_syncobj_add_point(out->syncobj, out->chain, fence, out->point);
		else
			drm_syncobj_replace_fence(out->syncobj, fence);
		out->chain = NULL;
	}
}

/*
 * The last step; reservations are locked. Once the job is armed nothing fails,
 * and its fence is seen by others once it signals in bounded time.
 */
static int npu_submit_push(struct npu_submit *submit)
{
	struct npu_submission *submission = submit->submission;
	struct npu_queue *queue = submit->queue;
	struct dma_fence *fence = &submission->fence->base;
	bool cookie;
	int ret = 0;

	mutex_lock(&queue->submit_lock);
	if (queue->dead)
		ret = -ENOENT;
	else if (READ_ONCE(queue->banned) ||
		 npu_device_state(queue->ndev) == NPU_STATE_WEDGED)
		ret = -EIO;
	if (ret)
		goto out;

	submission->first = queue->stats.submitted + 1;
	queue->stats.submitted += submission->count;
	submit->args->seqno = queue->stats.submitted;

	cookie = dma_fence_begin_signalling();
	drm_sched_job_arm(&submission->base);
	npu_fence_init(submission->fence, queue->fence_context, ++queue->seqno);
	dma_fence_get(fence);
	trace_npu_submit(queue, submission);
	/* The scheduler's from here on. */
	submit->submission = NULL;
	drm_sched_entity_push_job(&submission->base);
	npu_submit_publish(submit, fence);
	dma_fence_end_signalling(cookie);
	dma_fence_put(fence);
out:
	mutex_unlock(&queue->submit_lock);
	return ret;
}

static void npu_submit_cleanup(struct npu_submit *submit)
{
	u32 i;

	for (i = 0; submit->outs && i < submit->args->out_sync_count; i++) {
		dma_fence_chain_free(submit->outs[i].chain);
		if (submit->outs[i].syncobj)
			drm_syncobj_put(submit->outs[i].syncobj);
	}
	kvfree(submit->outs);
	if (submit->submission) {
		drm_sched_job_cleanup(&submit->submission->base);
		npu_submission_free(submit->submission);
	}
	npu_queue_put(submit->queue);
}

/* What waits for memory of the caller comes before drm_dev_enter(), for which an unplug waits. */
static int npu_submit(struct drm_device *drm, struct npu_submit *submit)
{
	int ret, idx;

	ret = npu_submission_create(submit);
	if (ret)
		return ret;
	ret = npu_submit_in_syncs(submit);
	if (ret)
		return ret;
	ret = npu_submit_out_syncs(submit);
	if (ret)
		return ret;
	if (!drm_dev_enter(drm, &idx))
		return -ENODEV;
	ret = npu_vm_resv_lock(&to_npu_client(submit->file)->vm, &submit->resv);
	if (!ret) {
		ret = npu_submit_push(submit);
		npu_vm_resv_unlock(&submit->resv);
	}
	drm_dev_exit(idx);
	return ret;
}

int npu_ioctl_submit(struct drm_device *drm, void *data, struct drm_file *file)
{
	struct npu_submit submit = { .args = data, .file = file };
	struct drm_npu_submit *args = data;
	int ret;

	if (args->flags || !args->job_count || args->job_count > NPU_MAX_JOBS ||
	    args->in_sync_count > NPU_MAX_SYNCS || args->out_sync_count > NPU_MAX_SYNCS) {
		drm_dbg_driver(drm, "submit: flags %#x, %u jobs, %u in syncs, %u out syncs\n",
			       args->flags, args->job_count, args->in_sync_count,
			       args->out_sync_count);
		return -EINVAL;
	}
	submit.queue = npu_queue_lookup(to_npu_client(file), args->queue_id);
	if (!submit.queue)
		return -ENOENT;
	ret = npu_submit(drm, &submit);
	npu_submit_cleanup(&submit);
	return ret;
}
