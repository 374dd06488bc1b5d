// SPDX-License-Identifier: GPL-2.0-only
#include <drm/gpu_scheduler.h>

int npu_probe(struct drm_sched_job *job, struct drm_sched_entity *entity, u64 client);
int npu_probe(struct drm_sched_job *job, struct drm_sched_entity *entity, u64 client)
{
	return drm_sched_job_init(job, entity, 1, NULL, client);
}
