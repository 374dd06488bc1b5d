// SPDX-License-Identifier: GPL-2.0-only
/*
 * Who waits for what: the fences that address spaces and buffers carry.
 *
 * A submission may use all that its address space maps. Its fence goes into the
 * reservation of the address space alone, however many buffers there are; only
 * buffers that others can see carry fences of their own.
 */
#include <linux/dma-resv.h>
#include <linux/minmax.h>
#include <linux/sort.h>
#include <drm/drm_utils.h>
#include <drm/npu_accel.h>

#include "npu_bo.h"
#include "npu_client.h"

static enum dma_resv_usage npu_vm_bo_usage(const struct npu_vm_bo *vm_bo)
{
	return vm_bo->writable ? DMA_RESV_USAGE_WRITE : DMA_RESV_USAGE_READ;
}

static u32 npu_vm_count_shared(struct npu_vm *vm)
{
	struct npu_vm_bo *vm_bo;
	u32 count = 0;

	lockdep_assert_held(&vm->bos_lock);
	list_for_each_entry(vm_bo, &vm->bos, vm_link)
		count += READ_ONCE(vm_bo->bo->shared);
	return count;
}

static void npu_vm_resv_put(struct npu_vm_resv *resv)
{
	u32 i;

	for (i = 1; i < resv->count; i++)
		drm_gem_object_put(resv->objs[i]);
	if (resv->objs != &resv->one) {
		kvfree(resv->objs);
		kvfree(resv->usages);
	}
}

static void npu_vm_resv_fill(struct npu_vm *vm, struct npu_vm_resv *resv, u32 room)
{
	struct npu_vm_bo *vm_bo;

	list_for_each_entry(vm_bo, &vm->bos, vm_link) {
		if (resv->count == room)
			break;
		if (!READ_ONCE(vm_bo->bo->shared))
			continue;
		drm_gem_object_get(&vm_bo->bo->base.base);
		resv->objs[resv->count] = &vm_bo->bo->base.base;
		resv->usages[resv->count++] = npu_vm_bo_usage(vm_bo);
	}
}

static int npu_vm_resv_cmp(const void *a, const void *b, const void *unused)
{
	const struct dma_resv *left = (*(struct drm_gem_object **)a)->resv;
	const struct dma_resv *right = (*(struct drm_gem_object **)b)->resv;

	return left < right ? -1 : left > right;
}

static void npu_vm_resv_swap(void *a, void *b, int size, const void *priv)
{
	const struct npu_vm_resv *resv = priv;
	struct drm_gem_object **left = a, **right = b;

	swap(*left, *right);
	swap(resv->usages[left - resv->objs], resv->usages[right - resv->objs]);
}

/*
 * One dma-buf that was imported twice is two buffers with one reservation, which
 * can be locked once only.
 */
static void npu_vm_resv_unique(struct npu_vm_resv *resv)
{
	u32 count = resv->count;
	u32 i, kept = 0;

	/* The root stays first: its reservation is nobody else's. */
	sort_r(resv->objs + 1, count - 1, sizeof(*resv->objs), npu_vm_resv_cmp,
	       npu_vm_resv_swap, resv);
	for (i = 1; i < count; i++) {
		struct drm_gem_object *obj = resv->objs[i];

		if (obj->resv == resv->objs[kept]->resv) {
			/* A writer's usage is the lower one, and includes a reader's. */
			resv->usages[kept] = min(resv->usages[kept], resv->usages[i]);
			drm_gem_object_put(obj);
			continue;
		}
		resv->objs[++kept] = obj;
		resv->usages[kept] = resv->usages[i];
	}
	resv->count = kept + 1;
}

/* Lists what to lock: the root, and the shared buffers as of now. */
static int npu_vm_resv_collect(struct npu_vm *vm, struct npu_vm_resv *resv)
{
	u32 room = 1;
	int ret = 0;

	resv->objs = &resv->one;
	resv->usages = &resv->one_usage;
	mutex_lock(&vm->bos_lock);
	room += npu_vm_count_shared(vm);
	if (room > 1) {
		resv->objs = kvmalloc_array(room, sizeof(*resv->objs), GFP_KERNEL_ACCOUNT);
		resv->usages = kvmalloc_array(room, sizeof(*resv->usages), GFP_KERNEL_ACCOUNT);
	}
	resv->count = 0;
	if (resv->objs && resv->usages) {
		resv->objs[0] = &vm->root;
		resv->usages[0] = DMA_RESV_USAGE_BOOKKEEP;
		resv->count = 1;
		npu_vm_resv_fill(vm, resv, room);
	} else {
		ret = -ENOMEM;
	}
	mutex_unlock(&vm->bos_lock);
	if (ret)
		npu_vm_resv_put(resv);
	else if (resv->count > 2)
		npu_vm_resv_unique(resv);
	return ret;
}

static int npu_vm_resv_lock_once(struct npu_vm *vm, struct npu_vm_resv *resv)
{
	int ret;
	u32 i;

	ret = npu_vm_resv_collect(vm, resv);
	if (ret)
		return ret;
	ret = drm_gem_lock_reservations(resv->objs, resv->count, &resv->acquire);
	if (ret) {
		npu_vm_resv_put(resv);
		return ret;
	}
	for (i = 0; i < resv->count && !ret; i++)
		ret = dma_resv_reserve_fences(resv->objs[i]->resv, 1);
	if (ret)
		npu_vm_resv_unlock(resv);
	return ret;
}

/**
 * npu_vm_resv_lock - get ready to add a fence to all that a submission may use
 * @vm: address space
 * @resv: filled in
 *
 * Once the root is locked no buffer can become shared unseen: either its
 * sharing was counted before (npu_bo_share() sets @shared, counts, and locks the
 * root, in this order), and the buffer is in the list, or the one who shares it
 * has yet to lock the root, and copies the fence from there.
 *
 * Return: 0; -EINTR or -ERESTARTSYS; -ENOMEM.
 */
int npu_vm_resv_lock(struct npu_vm *vm, struct npu_vm_resv *resv)
{
	int seen, ret;

	for (;;) {
		seen = atomic_read_acquire(&vm->share_seq);
		ret = npu_vm_resv_lock_once(vm, resv);
		if (ret || seen == atomic_read(&vm->share_seq))
			return ret;
		npu_vm_resv_unlock(resv);
	}
}

void npu_vm_resv_add(struct npu_vm_resv *resv, struct dma_fence *fence)
{
	u32 i;

	for (i = 0; i < resv->count; i++)
		dma_resv_add_fence(resv->objs[i]->resv, fence, resv->usages[i]);
}

void npu_vm_resv_unlock(struct npu_vm_resv *resv)
{
	drm_gem_unlock_reservations(resv->objs, resv->count, &resv->acquire);
	npu_vm_resv_put(resv);
}

static int npu_resv_add_all(struct dma_resv *resv, struct dma_fence **fences, u32 count,
			    enum dma_resv_usage usage)
{
	int ret;
	u32 i;

	dma_resv_lock(resv, NULL);
	ret = dma_resv_reserve_fences(resv, count);
	for (i = 0; i < count && !ret; i++)
		dma_resv_add_fence(resv, fences[i], usage);
	dma_resv_unlock(resv);
	return ret;
}

/* @vm_bo's buffer became shared: it takes over what may be using it already. */
int npu_vm_resv_share(struct npu_vm *vm, struct npu_vm_bo *vm_bo)
{
	struct dma_fence **fences;
	unsigned int count, i;
	int ret;

	dma_resv_lock(vm->root.resv, NULL);
	ret = dma_resv_get_fences(vm->root.resv, DMA_RESV_USAGE_BOOKKEEP, &count, &fences);
	dma_resv_unlock(vm->root.resv);
	if (ret)
		return ret;

	if (count)
		ret = npu_resv_add_all(vm_bo->bo->base.base.resv, fences, count,
				       npu_vm_bo_usage(vm_bo));
	for (i = 0; i < count; i++)
		dma_fence_put(fences[i]);
	kfree(fences);
	return ret;
}

/* Whether jobs of @vm may use @bo, or for @readers_too only write it. */
static bool npu_vm_may_use(struct npu_vm *vm, struct npu_bo *bo, bool readers_too)
{
	struct npu_vm_bo *vm_bo;
	bool ret = false;

	mutex_lock(&bo->lock);
	list_for_each_entry(vm_bo, &bo->vm_bos, bo_link)
		if (vm_bo->vm == vm)
			ret = readers_too || vm_bo->writable;
	mutex_unlock(&bo->lock);
	return ret;
}

static int npu_resv_wait(struct dma_resv *resv, enum dma_resv_usage usage, s64 timeout_ns)
{
	unsigned long timeout;
	long ret;

	/* Jiffies are rounded, and may be over before the time has come. */
	do {
		timeout = drm_timeout_abs_to_jiffies(timeout_ns);
		if (!timeout)
			return dma_resv_test_signaled(resv, usage) ? 0 : -ETIME;
		ret = dma_resv_wait_timeout(resv, usage, true, timeout);
	} while (!ret);
	return ret < 0 ? ret : 0;
}

int npu_ioctl_bo_wait(struct drm_device *drm, void *data, struct drm_file *file)
{
	struct npu_vm *vm = &to_npu_client(file)->vm;
	struct drm_npu_bo_wait *args = data;
	bool readers_too = !(args->flags & DRM_NPU_BO_WAIT_READ);
	struct drm_gem_object *obj;
	enum dma_resv_usage usage;
	int ret;

	if (args->flags & ~DRM_NPU_BO_WAIT_READ)
		return -EINVAL;
	obj = drm_gem_object_lookup(file, args->handle);
	if (!obj)
		return -ENOENT;

	usage = readers_too ? DMA_RESV_USAGE_BOOKKEEP : DMA_RESV_USAGE_WRITE;
	ret = npu_resv_wait(obj->resv, usage, args->timeout_ns);
	if (!ret && !READ_ONCE(to_npu_bo(obj)->shared) &&
	    npu_vm_may_use(vm, to_npu_bo(obj), readers_too))
		ret = npu_resv_wait(vm->root.resv, DMA_RESV_USAGE_BOOKKEEP, args->timeout_ns);
	drm_gem_object_put(obj);
	return ret;
}
