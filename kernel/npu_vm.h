/* SPDX-License-Identifier: GPL-2.0-only */
/* Address spaces. */
#ifndef NPU_VM_H
#define NPU_VM_H

#include <linux/mutex.h>
#include <linux/rbtree.h>
#include <drm/drm_file.h>
#include <drm/drm_gem.h>

#include "npu_device.h"

#define NPU_VA_START	0x10000ull
#define NPU_VA_END	BIT_ULL(NPU_VA_BITS)
#define NPU_MAX_BINDS	1024

struct npu_bo;

/**
 * struct npu_vm - address space of a client
 * @ndev: device
 * @root: object without memory whose reservation holds the fences of all
 *	submissions that may use this address space
 * @lock: guards all below but @bos and @share_seq. Held while the firmware
 *	invalidates translations: bounded, and nothing that a reset needs waits
 *	for it.
 * @pt: page tables; valid if pt.root
 * @context: context in the device, 0 if it has none yet
 * @maps: mappings, by address
 * @bos_lock: guards @bos; nests inside @lock
 * @bos: buffers that have mappings here (struct npu_vm_bo)
 * @share_seq: counts buffers that became shared while they were mapped here
 */
struct npu_vm {
	struct npu_device *ndev;
	struct drm_gem_object root;
	struct mutex lock; /* guards mappings, tables and context */
	struct npu_pt pt;
	u32 context;
	struct rb_root_cached maps;
	struct mutex bos_lock; /* guards bos */
	struct list_head bos;
	atomic_t share_seq;
};

/**
 * struct npu_vm_bo - a buffer that has mappings in an address space
 * @vm: address space
 * @bo: buffer; its mappings hold references
 * @vm_link: in the list of @vm
 * @bo_link: in the list of @bo
 * @maps: mappings
 * @writable: of these, those that may be written through
 */
struct npu_vm_bo {
	struct npu_vm *vm;
	struct npu_bo *bo;
	struct list_head vm_link;
	struct list_head bo_link;
	u32 maps;
	u32 writable;
};

/**
 * struct npu_vm_resv - reservations that a submission has locked
 * @acquire: of the locks
 * @objs: objects, the address space's root first; others are referenced
 * @usages: what the submission does with each
 * @count: of both
 * @one: room for the usual case
 * @one_usage: room for the usual case
 */
struct npu_vm_resv {
	struct ww_acquire_ctx acquire;
	struct drm_gem_object **objs;
	enum dma_resv_usage *usages;
	u32 count;
	struct drm_gem_object *one;
	enum dma_resv_usage one_usage;
};

void npu_vm_init(struct npu_vm *vm, struct npu_device *ndev);
void npu_vm_fini(struct npu_vm *vm);
void npu_vm_detach(struct npu_vm *vm);
int npu_vm_context(struct npu_vm *vm);
size_t npu_vm_peek(struct npu_vm *vm, u64 va, void *to, size_t size);
int npu_ioctl_vm_bind(struct drm_device *drm, void *data, struct drm_file *file);

/* npu_resv.c */
int npu_vm_resv_lock(struct npu_vm *vm, struct npu_vm_resv *resv);
void npu_vm_resv_add(struct npu_vm_resv *resv, struct dma_fence *fence);
void npu_vm_resv_unlock(struct npu_vm_resv *resv);
int npu_vm_resv_share(struct npu_vm *vm, struct npu_vm_bo *vm_bo);
int npu_ioctl_bo_wait(struct drm_device *drm, void *data, struct drm_file *file);

#endif
