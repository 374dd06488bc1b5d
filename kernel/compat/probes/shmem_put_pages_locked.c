// SPDX-License-Identifier: GPL-2.0-only
#include <drm/drm_gem_shmem_helper.h>

void npu_probe(struct drm_gem_shmem_object *shmem);
void npu_probe(struct drm_gem_shmem_object *shmem)
{
	drm_gem_shmem_put_pages_locked(shmem);
}
