// SPDX-License-Identifier: GPL-2.0-only
#include <drm/gpu_scheduler.h>

enum drm_gpu_sched_stat npu_probe(void);
enum drm_gpu_sched_stat npu_probe(void)
{
	return DRM_GPU_SCHED_STAT_NO_HANG;
}
