/* SPDX-License-Identifier: GPL-2.0-only */
/* Submissions: the jobs of one SUBMIT. */
#ifndef NPU_JOB_H
#define NPU_JOB_H

#include <linux/list.h>
#include <drm/gpu_scheduler.h>
#include <drm/npu_accel.h>

#include "npu_fence.h"

#define NPU_MAX_JOBS	1024
#define NPU_MAX_SYNCS	256

struct npu_queue;

/**
 * struct npu_submission - the jobs of one SUBMIT, one job for the scheduler
 * @base: base
 * @queue: queue, referenced
 * @fence: signals when the last job has ended
 * @link: in the queue's list of running submissions
 * @first: number of the first job in its queue
 * @count: jobs
 * @next: index of the next job to give to the device
 * @left: jobs that have not ended
 * @failed: lowest index of a job that failed, @count if none
 * @error: why that one failed
 * @done: one bit a job that has ended; needed when some are run again
 * @jobs: jobs, checked
 *
 * All but the first three change under the queue's lock.
 */
struct npu_submission {
	struct drm_sched_job base;
	struct npu_queue *queue;
	struct npu_fence *fence;
	struct list_head link;
	u64 first;
	u32 count;
	u32 next;
	u32 left;
	u32 failed;
	int error;
	DECLARE_BITMAP(done, NPU_MAX_JOBS);
	struct drm_npu_job jobs[] __counted_by(count);
};

extern const struct drm_sched_backend_ops npu_sched_ops;

int npu_ioctl_submit(struct drm_device *drm, void *data, struct drm_file *file);

#endif
