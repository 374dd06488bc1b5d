// SPDX-License-Identifier: GPL-2.0-only
/*
 * Buffers of the caller's memory: its pages stay pinned, and mapped for the
 * device, as long as the buffer lives. What the caller does to its mappings
 * meanwhile does not matter to the device.
 */
#include <linux/capability.h>
#include <linux/dma-mapping.h>
#include <linux/magic.h>
#include <linux/mm.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/uaccess.h>
#include <drm/drm_drv.h>
#include <drm/drm_prime.h>
#include <drm/npu_accel.h>

#include "npu_bo.h"
#include "npu_vm.h"

/**
 * struct npu_bo_user - memory of a process
 * @mm: whose memory is charged for @charged, referenced
 * @charged: pages that count against the limit of locked memory
 * @pages: pages
 * @pinned: of these, how many are pinned
 * @writable: the device may write them
 */
struct npu_bo_user {
	struct mm_struct *mm;
	unsigned long charged;
	struct page **pages;
	unsigned long pinned;
	bool writable;
};

/*
 * Long-term pins hold pages that a file system wants to write back, or to cut
 * off. Memory that only looks like a file has neither.
 */
static bool npu_vma_is_memory(const struct vm_area_struct *vma)
{
	unsigned long magic;

	if (vma->vm_flags & (VM_IO | VM_PFNMAP | VM_MIXEDMAP))
		return false;
	/* Pages of a private mapping become the process's own when they are pinned. */
	if (!(vma->vm_flags & VM_MAYSHARE))
		return true;
	magic = vma->vm_file ? file_inode(vma->vm_file)->i_sb->s_magic : 0;
	return magic == TMPFS_MAGIC || magic == HUGETLBFS_MAGIC;
}

static int npu_vma_check(const struct vm_area_struct *vma, bool writable)
{
	unsigned long needed = writable ? VM_READ | VM_WRITE : VM_READ;

	if (!npu_vma_is_memory(vma))
		return -EOPNOTSUPP;
	return (vma->vm_flags & needed) == needed ? 0 : -EACCES;
}

/*
 * Says what is wrong with memory that cannot be pinned. The mappings may change
 * right afterwards: what keeps bad pages out is the pinning itself.
 */
static int npu_user_check(struct drm_device *drm, const struct drm_npu_bo_import_user *args)
{
	bool writable = !(args->flags & DRM_NPU_IMPORT_READ_ONLY);
	unsigned long at = untagged_addr(args->addr);
	unsigned long end = at + args->size;
	struct vm_area_struct *vma;
	int ret = 0;

	if (mmap_read_lock_killable(current->mm))
		return -EINTR;
	while (at < end && !ret) {
		vma = find_vma(current->mm, at);
		if (!vma || vma->vm_start > at) {
			ret = -EFAULT;
			break;
		}
		ret = npu_vma_check(vma, writable);
		if (!ret)
			at = vma->vm_end;
	}
	mmap_read_unlock(current->mm);
	if (ret)
		drm_dbg_driver(drm, "bo_import_user: memory at %#lx (%s), error %d\n", at,
			       ret == -EFAULT ? "none" : ret == -EACCES ? "protected" : "kind",
			       ret);
	return ret;
}

static int npu_user_charge(struct npu_bo_user *user, unsigned long pages)
{
	unsigned long limit = rlimit(RLIMIT_MEMLOCK) >> PAGE_SHIFT;

	if (atomic64_add_return(pages, &user->mm->pinned_vm) > limit && !capable(CAP_IPC_LOCK)) {
		atomic64_sub(pages, &user->mm->pinned_vm);
		return -EDQUOT;
	}
	user->charged = pages;
	return 0;
}

static int npu_user_pin(struct npu_bo_user *user, unsigned long addr, unsigned long pages)
{
	unsigned int flags = FOLL_LONGTERM | (user->writable ? FOLL_WRITE : 0);
	int ret;

	/* No warning: the size is the caller's. */
	user->pages = kvmalloc_array(pages, sizeof(*user->pages),
				     GFP_KERNEL_ACCOUNT | __GFP_NOWARN);
	if (!user->pages)
		return -ENOMEM;
	while (user->pinned < pages) {
		ret = pin_user_pages_fast(addr + (user->pinned << PAGE_SHIFT),
					  min_t(unsigned long, pages - user->pinned, INT_MAX),
					  flags, user->pages + user->pinned);
		if (ret <= 0)
			return ret ?: -EFAULT;
		user->pinned += ret;
		if (fatal_signal_pending(current))
			return -EINTR;
	}
	return 0;
}

static void npu_user_release(struct npu_bo_user *user)
{
	unpin_user_pages_dirty_lock(user->pages, user->pinned, user->writable);
	kvfree(user->pages);
	atomic64_sub(user->charged, &user->mm->pinned_vm);
	user->pages = NULL;
	user->pinned = 0;
	user->charged = 0;
}

static void npu_user_free(struct npu_bo_user *user)
{
	npu_user_release(user);
	mmdrop(user->mm);
	kfree(user);
}

static struct npu_bo_user *npu_user_create(const struct drm_npu_bo_import_user *args)
{
	unsigned long pages = args->size >> PAGE_SHIFT;
	struct npu_bo_user *user = kzalloc(sizeof(*user), GFP_KERNEL_ACCOUNT);
	int ret;

	if (!user)
		return ERR_PTR(-ENOMEM);
	user->mm = current->mm;
	mmgrab(user->mm);
	user->writable = !(args->flags & DRM_NPU_IMPORT_READ_ONLY);
	ret = npu_user_charge(user, pages);
	if (!ret)
		ret = npu_user_pin(user, args->addr, pages);
	if (ret) {
		npu_user_free(user);
		return ERR_PTR(ret);
	}
	return user;
}

bool npu_bo_read_only(const struct npu_bo *bo)
{
	return bo->user && !bo->user->writable;
}

/*
 * Under the lock of the device's list, and when nobody else uses the buffer or the
 * device is unplugged: nothing else guards the table.
 */
void npu_bo_user_unmap(struct npu_bo *bo)
{
	struct drm_gem_object *obj = &bo->base.base;
	struct sg_table *sgt = bo->base.sgt;

	if (!sgt)
		return;
	bo->base.sgt = NULL;
	dma_unmap_sgtable(obj->dev->dev, sgt,
			  bo->user->writable ? DMA_BIDIRECTIONAL : DMA_TO_DEVICE, 0);
	sg_free_table(sgt);
	kfree(sgt);
}

/* The memory is the process's again; the buffer may live on, without a device. */
void npu_bo_user_unpin(struct npu_bo *bo)
{
	npu_user_release(bo->user);
}

void npu_bo_user_free(struct npu_bo *bo)
{
	npu_user_free(bo->user);
	drm_gem_object_release(&bo->base.base);
	kfree(bo);
}

/* Pages of a process are for its own devices: others may not map or keep them. */
static struct dma_buf *npu_bo_user_export(struct drm_gem_object *obj, int flags)
{
	return ERR_PTR(-EOPNOTSUPP);
}

static enum drm_gem_object_status npu_bo_user_status(struct drm_gem_object *obj)
{
	return DRM_GEM_OBJECT_RESIDENT;
}

static const struct drm_gem_object_funcs npu_bo_user_funcs = {
	.free = npu_bo_free,
	.export = npu_bo_user_export,
	.status = npu_bo_user_status,
};

static int npu_bo_user_map(struct npu_bo *bo)
{
	struct drm_device *drm = bo->base.base.dev;
	struct sg_table *sgt;
	int ret;

	sgt = drm_prime_pages_to_sg(drm, bo->user->pages, bo->user->pinned);
	if (IS_ERR(sgt))
		return PTR_ERR(sgt);
	ret = dma_map_sgtable(drm->dev, sgt,
			      bo->user->writable ? DMA_BIDIRECTIONAL : DMA_TO_DEVICE, 0);
	if (ret) {
		sg_free_table(sgt);
		kfree(sgt);
		return ret;
	}
	bo->base.sgt = sgt;
	return 0;
}

/* Takes @user over, on error too. */
static struct npu_bo *npu_bo_user_create(struct drm_device *drm, struct npu_bo_user *user)
{
	size_t size = user->pinned << PAGE_SHIFT;
	struct drm_gem_object *obj = npu_bo_gem_create(drm, size);
	struct npu_bo *bo;
	int ret;

	if (IS_ERR(obj)) {
		npu_user_free(user);
		return ERR_CAST(obj);
	}
	bo = to_npu_bo(obj);
	bo->user = user;
	obj->funcs = &npu_bo_user_funcs;
	drm_gem_private_object_init(drm, obj, size);
	ret = npu_bo_user_map(bo);
	if (ret) {
		drm_gem_object_put(obj);
		return ERR_PTR(ret);
	}
	npu_bo_add(to_npu_device(drm), bo);
	return bo;
}

static bool npu_user_args_valid(const struct drm_npu_bo_import_user *args)
{
	if (args->flags & ~DRM_NPU_IMPORT_READ_ONLY || !PAGE_ALIGNED(args->addr | args->size))
		return false;
	return args->size && args->size <= NPU_VA_END - NPU_VA_START &&
	       args->addr + args->size > args->addr;
}

static int npu_bo_user_publish(struct drm_device *drm, struct drm_file *file,
			       struct npu_bo_user *user, u32 *handle)
{
	struct npu_bo *bo = npu_bo_user_create(drm, user);
	int ret;

	if (IS_ERR(bo))
		return PTR_ERR(bo);
	ret = drm_gem_handle_create(file, &bo->base.base, handle);
	drm_gem_object_put(&bo->base.base);
	return ret;
}

/*
 * Pins outside of drm_dev_enter(): page faults may take for ever, if the caller wants
 * that, and an unplug waits for those who are inside.
 */
int npu_ioctl_bo_import_user(struct drm_device *drm, void *data, struct drm_file *file)
{
	struct drm_npu_bo_import_user *args = data;
	struct npu_bo_user *user;
	int ret, idx;

	if (!npu_user_args_valid(args)) {
		drm_dbg_driver(drm, "bo_import_user: %#llx bytes at %#llx, flags %#x\n",
			       args->size, args->addr, args->flags);
		return -EINVAL;
	}
	ret = npu_user_check(drm, args);
	if (ret)
		return ret;
	user = npu_user_create(args);
	if (IS_ERR(user)) {
		drm_dbg_driver(drm, "bo_import_user: %#llx bytes at %#llx: error %ld\n",
			       args->size, args->addr, PTR_ERR(user));
		return PTR_ERR(user);
	}
	if (!drm_dev_enter(drm, &idx)) {
		npu_user_free(user);
		return -ENODEV;
	}
	ret = npu_bo_user_publish(drm, file, user, &args->handle);
	drm_dev_exit(idx);
	return ret;
}
