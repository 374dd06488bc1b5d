/* SPDX-License-Identifier: GPL-2.0-only */
/* Buffers. */
#ifndef NPU_BO_H
#define NPU_BO_H

#include <linux/mutex.h>
#include <drm/drm_file.h>
#include <drm/drm_gem_shmem_helper.h>

#include "npu_device.h"

struct npu_bo_user;

/**
 * struct npu_bo - a buffer
 * @base: base
 * @link: in the device's list; empty if the buffer never got that far
 * @import_node: in the device's table of imported buffers
 * @lock: guards @vm_bos; nests inside the lock of an address space
 * @vm_bos: address spaces where it has mappings (struct npu_vm_bo)
 * @shared: somebody outside of its client may use it, so its own reservation
 *	carries the fences of submissions; never changes back
 * @user: memory of a process that the buffer consists of; @base is then used for
 *	its table alone. NULL: it has its own
 */
struct npu_bo {
	struct drm_gem_shmem_object base;
	struct list_head link;
	struct hlist_node import_node;
	struct mutex lock; /* guards vm_bos */
	struct list_head vm_bos;
	bool shared;
	struct npu_bo_user *user;
};

static inline struct npu_bo *to_npu_bo(struct drm_gem_object *obj)
{
	return container_of(to_drm_gem_shmem_obj(obj), struct npu_bo, base);
}

struct drm_gem_object *npu_bo_gem_create(struct drm_device *drm, size_t size);
void npu_bo_add(struct npu_device *ndev, struct npu_bo *bo);
void npu_bo_free(struct drm_gem_object *obj);
struct drm_gem_object *npu_bo_import(struct drm_device *drm, struct dma_buf *dma_buf);
struct drm_gem_object *npu_bo_import_sg_table(struct drm_device *drm,
					      struct dma_buf_attachment *attach,
					      struct sg_table *sgt);
void npu_bos_unmap(struct npu_device *ndev);

int npu_ioctl_bo_create(struct drm_device *drm, void *data, struct drm_file *file);
int npu_ioctl_bo_mmap_offset(struct drm_device *drm, void *data, struct drm_file *file);

/* npu_bo_user.c */
bool npu_bo_read_only(const struct npu_bo *bo);
void npu_bo_user_unmap(struct npu_bo *bo);
void npu_bo_user_unpin(struct npu_bo *bo);
void npu_bo_user_free(struct npu_bo *bo);
int npu_ioctl_bo_import_user(struct drm_device *drm, void *data, struct drm_file *file);

#endif
