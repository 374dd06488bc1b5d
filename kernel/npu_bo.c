// SPDX-License-Identifier: GPL-2.0-only
/*
 * Buffers: pages of shared memory, mapped for the device when they are first
 * bound, and pinned from then on; or the memory of another driver's dma-buf, or
 * that of a process (npu_bo_user.c).
 */
#include <linux/dma-buf.h>
#include <linux/dma-mapping.h>
#include <linux/sched.h>
#include <drm/drm_prime.h>
#include <drm/npu_accel.h>

#include "compat/npu_compat.h"
#include "npu_bo.h"
#include "npu_client.h"

void npu_bo_free(struct drm_gem_object *obj)
{
	struct npu_device *ndev = to_npu_device(obj->dev);
	struct npu_bo *bo = to_npu_bo(obj);
	bool user = bo->user;

	drm_WARN_ON(obj->dev, !list_empty(&bo->vm_bos));
	/* Under the lock: npu_bos_unmap() must not pass while memory is still mapped. */
	mutex_lock(&ndev->bos_lock);
	if (!list_empty(&bo->link)) {
		list_del(&bo->link);
		hash_del(&bo->import_node);
		if (!drm_gem_is_imported(obj) && !user)
			atomic64_sub(obj->size, &ndev->bo_bytes);
	}
	mutex_destroy(&bo->lock);
	if (user)
		npu_bo_user_unmap(bo);
	else
		drm_gem_shmem_free(&bo->base);
	mutex_unlock(&ndev->bos_lock);
	if (user)
		npu_bo_user_free(bo);
}

/* From here on the buffer's own reservation carries the fences of submissions. */
static int npu_bo_share(struct npu_bo *bo)
{
	struct npu_vm_bo *vm_bo;
	int ret = 0;

	WRITE_ONCE(bo->shared, true);

	mutex_lock(&bo->lock);
	list_for_each_entry(vm_bo, &bo->vm_bos, bo_link) {
		/* Pairs with npu_vm_resv_lock(): clients that map the buffer, and no others. */
		atomic_inc_return_release(&vm_bo->vm->share_seq);
		ret = npu_vm_resv_share(vm_bo->vm, vm_bo);
		if (ret)
			break;
	}
	mutex_unlock(&bo->lock);
	return ret;
}

static struct dma_buf *npu_bo_export(struct drm_gem_object *obj, int flags)
{
	int ret = npu_bo_share(to_npu_bo(obj));

	return ret ? ERR_PTR(ret) : drm_gem_prime_export(obj, flags);
}

static enum drm_gem_object_status npu_bo_status(struct drm_gem_object *obj)
{
	struct npu_bo *bo = to_npu_bo(obj);

	/* A hint for statistics: no lock. */
	if (READ_ONCE(bo->base.pages) || drm_gem_is_imported(obj))
		return DRM_GEM_OBJECT_RESIDENT;
	return 0;
}

static const struct drm_gem_object_funcs npu_bo_funcs = {
	.free = npu_bo_free,
	.export = npu_bo_export,
	.print_info = drm_gem_shmem_object_print_info,
	.pin = drm_gem_shmem_object_pin,
	.unpin = drm_gem_shmem_object_unpin,
	.get_sg_table = drm_gem_shmem_object_get_sg_table,
	.vmap = drm_gem_shmem_object_vmap,
	.vunmap = drm_gem_shmem_object_vunmap,
	.mmap = drm_gem_shmem_object_mmap,
	.status = npu_bo_status,
	.vm_ops = &drm_gem_shmem_vm_ops,
};

/* The helper frees the object with kfree() when it fails later: no list yet. */
struct drm_gem_object *npu_bo_gem_create(struct drm_device *drm, size_t size)
{
	struct npu_bo *bo = kzalloc(sizeof(*bo), GFP_KERNEL_ACCOUNT);

	BUILD_BUG_ON(offsetof(struct npu_bo, base.base) != 0);
	if (!bo)
		return ERR_PTR(-ENOMEM);
	mutex_init(&bo->lock);
	INIT_LIST_HEAD(&bo->link);
	INIT_LIST_HEAD(&bo->vm_bos);
	bo->base.base.funcs = &npu_bo_funcs;
	return &bo->base.base;
}

void npu_bo_add(struct npu_device *ndev, struct npu_bo *bo)
{
	mutex_lock(&ndev->bos_lock);
	list_add(&bo->link, &ndev->bos);
	mutex_unlock(&ndev->bos_lock);
}

/* Referenced; NULL if there is none; -EAGAIN if it is just being freed. */
static struct drm_gem_object *npu_bo_find_import(struct npu_device *ndev, struct dma_buf *dma_buf)
{
	struct drm_gem_object *obj = NULL;
	struct npu_bo *bo;

	mutex_lock(&ndev->bos_lock);
	hash_for_each_possible(ndev->imports, bo, import_node, (unsigned long)dma_buf) {
		if (bo->base.base.import_attach->dmabuf != dma_buf)
			continue;
		obj = &bo->base.base;
		if (!kref_get_unless_zero(&obj->refcount))
			obj = ERR_PTR(-EAGAIN);
		break;
	}
	mutex_unlock(&ndev->bos_lock);
	return obj;
}

static struct drm_gem_object *npu_bo_import_new(struct npu_device *ndev, struct dma_buf *dma_buf)
{
	struct drm_gem_object *obj = drm_gem_prime_import(&ndev->drm, dma_buf);

	/* A buffer of this device is what it was, not an import. */
	if (IS_ERR(obj) || !drm_gem_is_imported(obj))
		return obj;
	mutex_lock(&ndev->bos_lock);
	hash_add(ndev->imports, &to_npu_bo(obj)->import_node, (unsigned long)dma_buf);
	mutex_unlock(&ndev->bos_lock);
	return obj;
}

/*
 * One dma-buf is one buffer, whoever imports it and however often, since its pages
 * may be mapped for the device once only. DRM's lock of names lets one in at a time.
 *
 * The object goes into the device's list before it is complete: npu_bos_unmap()
 * comes after all who are in here, and finds no mapping that it does not know.
 */
struct drm_gem_object *npu_bo_import(struct drm_device *drm, struct dma_buf *dma_buf)
{
	struct npu_device *ndev = to_npu_device(drm);
	struct drm_gem_object *obj;
	int idx;

	lockdep_assert_held(&drm->object_name_lock);
	if (!drm_dev_enter(drm, &idx))
		return ERR_PTR(-ENODEV);
	while (obj = npu_bo_find_import(ndev, dma_buf), obj == ERR_PTR(-EAGAIN))
		schedule_timeout_uninterruptible(1);
	if (!obj)
		obj = npu_bo_import_new(ndev, dma_buf);
	drm_dev_exit(idx);
	return obj;
}

struct drm_gem_object *npu_bo_import_sg_table(struct drm_device *drm,
					      struct dma_buf_attachment *attach,
					      struct sg_table *sgt)
{
	struct drm_gem_object *obj = drm_gem_shmem_prime_import_sg_table(drm, attach, sgt);

	if (IS_ERR(obj))
		return obj;
	to_npu_bo(obj)->shared = true;
	npu_bo_add(to_npu_device(drm), to_npu_bo(obj));
	return obj;
}

static void npu_bo_unmap(struct npu_bo *bo)
{
	struct drm_gem_object *obj = &bo->base.base;
	struct sg_table *sgt;

	if (bo->user) {
		npu_bo_user_unmap(bo);
		npu_bo_user_unpin(bo);
		return;
	}
	dma_resv_lock(obj->resv, NULL);
	sgt = bo->base.sgt;
	bo->base.sgt = NULL;
	if (sgt && drm_gem_is_imported(obj)) {
		dma_buf_unmap_attachment(obj->import_attach, sgt, DMA_BIDIRECTIONAL);
	} else if (sgt) {
		dma_unmap_sgtable(obj->dev->dev, sgt, DMA_BIDIRECTIONAL, 0);
		sg_free_table(sgt);
		kfree(sgt);
		npu_shmem_put_pages(&bo->base);
	}
	dma_resv_unlock(obj->resv);
}

/*
 * The device is being unbound, and nothing may stay mapped for its DMA. User
 * space keeps its own mappings and what is in them.
 */
void npu_bos_unmap(struct npu_device *ndev)
{
	struct npu_bo *bo;

	mutex_lock(&ndev->bos_lock);
	list_for_each_entry(bo, &ndev->bos, link)
		npu_bo_unmap(bo);
	mutex_unlock(&ndev->bos_lock);
}

int npu_ioctl_bo_create(struct drm_device *drm, void *data, struct drm_file *file)
{
	struct npu_device *ndev = to_npu_device(drm);
	struct drm_npu_bo_create *args = data;
	struct drm_gem_shmem_object *shmem;
	int ret;

	if (args->flags & ~DRM_NPU_BO_FLAGS || args->pad) {
		drm_dbg_driver(drm, "bo_create: flags %#x, pad %#x\n", args->flags,
			       args->pad);
		return -EINVAL;
	}
	if (args->region != DRM_NPU_REGION_SYSTEM) {
		drm_dbg_driver(drm, "bo_create: no region %u\n", args->region);
		return -ENOENT;
	}
	if (!args->size || args->size > NPU_VA_END - NPU_VA_START) {
		drm_dbg_driver(drm, "bo_create: size %#llx\n", args->size);
		return -EINVAL;
	}

	shmem = drm_gem_shmem_create(drm, args->size);
	if (IS_ERR(shmem))
		return PTR_ERR(shmem);
	shmem->map_wc = args->flags & DRM_NPU_BO_WC;
	atomic64_add(shmem->base.size, &ndev->bo_bytes);
	npu_bo_add(ndev, to_npu_bo(&shmem->base));

	args->size = shmem->base.size;
	ret = drm_gem_handle_create(file, &shmem->base, &args->handle);
	drm_gem_object_put(&shmem->base);
	return ret;
}

int npu_ioctl_bo_mmap_offset(struct drm_device *drm, void *data, struct drm_file *file)
{
	struct drm_npu_bo_mmap_offset *args = data;
	struct drm_gem_object *obj;
	int ret = 0;

	if (args->pad)
		return -EINVAL;

	obj = drm_gem_object_lookup(file, args->handle);
	if (!obj)
		return -ENOENT;
	if (!to_npu_bo(obj)->user)
		args->offset = drm_vma_node_offset_addr(&obj->vma_node);
	else
		ret = -EOPNOTSUPP;
	drm_gem_object_put(obj);
	return ret;
}
