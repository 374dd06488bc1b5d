// SPDX-License-Identifier: GPL-2.0-only
#include <drm/drm_accel.h>
#include <drm/drm_drv.h>
#include <drm/drm_gem_shmem_helper.h>
#include <drm/gpu_scheduler.h>

void npu_probe(struct drm_gpu_scheduler *sched);
void npu_probe(struct drm_gpu_scheduler *sched)
{
	drm_sched_fini(sched);
}
