// SPDX-License-Identifier: GPL-2.0-only
/*
 * Address spaces: what is mapped where, page tables, and the context that the
 * device knows them by.
 *
 * Tables and buffers that were in use go only once the firmware has said that no
 * unit uses them any more, or the device was reset.
 */
#include <linux/highmem.h>
#include <linux/interval_tree_generic.h>
#include <linux/scatterlist.h>
#include <linux/slab.h>
#include <drm/drm_drv.h>
#include <drm/npu_accel.h>

#include "npu_bo.h"
#include "npu_client.h"
#include "npu_command.h"
#include "npu_uaccess.h"

/**
 * struct npu_map - a mapping
 * @rb: in the address space's tree
 * @start: first address
 * @last: last address
 * @subtree_last: of the tree
 * @vm_bo: buffer, referenced
 * @writable: may be written through
 * @link: in a list of mappings that are to go
 */
struct npu_map {
	struct rb_node rb;
	u64 start;
	u64 last;
	u64 subtree_last;
	struct npu_vm_bo *vm_bo;
	bool writable;
	struct list_head link;
};

#define NPU_MAP_START(map)	((map)->start)
#define NPU_MAP_LAST(map)	((map)->last)
INTERVAL_TREE_DEFINE(struct npu_map, rb, u64, subtree_last, NPU_MAP_START, NPU_MAP_LAST,
		     static, npu_map_tree)

/**
 * struct npu_bind - a call of VM_BIND under way
 * @vm: address space, locked
 * @ops: operations, checked
 * @objs: buffer of each, referenced, NULL for UNMAP
 * @count: of both
 * @garbage: page tables that are to go
 * @maps: mappings that are to go
 */
struct npu_bind {
	struct npu_vm *vm;
	struct drm_npu_bind_op *ops;
	struct drm_gem_object **objs;
	u32 count;
	struct npu_pt_garbage garbage;
	struct list_head maps;
};

static void npu_vm_root_free(struct drm_gem_object *obj)
{
	/* Part of the address space: the reference of its birth is never put. */
}

static const struct drm_gem_object_funcs npu_vm_root_funcs = {
	.free = npu_vm_root_free,
};

void npu_vm_init(struct npu_vm *vm, struct npu_device *ndev)
{
	vm->ndev = ndev;
	vm->root.funcs = &npu_vm_root_funcs;
	drm_gem_private_object_init(&ndev->drm, &vm->root, 0);
	mutex_init(&vm->lock);
	mutex_init(&vm->bos_lock);
	vm->maps = RB_ROOT_CACHED;
	INIT_LIST_HEAD(&vm->bos);
}

static struct npu_vm_bo *npu_vm_bo_find(struct npu_vm *vm, struct npu_bo *bo)
{
	struct npu_vm_bo *vm_bo;

	list_for_each_entry(vm_bo, &bo->vm_bos, bo_link)
		if (vm_bo->vm == vm)
			return vm_bo;
	return NULL;
}

static void npu_vm_bo_count(struct npu_vm_bo *vm_bo, bool writable)
{
	mutex_lock(&vm_bo->vm->bos_lock);
	mutex_lock(&vm_bo->bo->lock);
	vm_bo->maps++;
	vm_bo->writable += writable;
	mutex_unlock(&vm_bo->bo->lock);
	mutex_unlock(&vm_bo->vm->bos_lock);
	drm_gem_object_get(&vm_bo->bo->base.base);
}

/* Counts one more mapping of @bo in @vm, with a reference of its own. */
static struct npu_vm_bo *npu_vm_bo_get(struct npu_vm *vm, struct npu_bo *bo, bool writable)
{
	struct npu_vm_bo *vm_bo;

	mutex_lock(&bo->lock);
	vm_bo = npu_vm_bo_find(vm, bo);
	mutex_unlock(&bo->lock);
	if (!vm_bo) {
		vm_bo = kzalloc(sizeof(*vm_bo), GFP_KERNEL_ACCOUNT);
		if (!vm_bo)
			return NULL;
		vm_bo->vm = vm;
		vm_bo->bo = bo;
		mutex_lock(&vm->bos_lock);
		mutex_lock(&bo->lock);
		list_add(&vm_bo->vm_link, &vm->bos);
		list_add(&vm_bo->bo_link, &bo->vm_bos);
		mutex_unlock(&bo->lock);
		mutex_unlock(&vm->bos_lock);
	}
	npu_vm_bo_count(vm_bo, writable);
	return vm_bo;
}

static void npu_vm_bo_put(struct npu_vm_bo *vm_bo, bool writable)
{
	struct npu_vm *vm = vm_bo->vm;
	struct npu_bo *bo = vm_bo->bo;
	bool last;

	mutex_lock(&vm->bos_lock);
	mutex_lock(&bo->lock);
	vm_bo->writable -= writable;
	last = !--vm_bo->maps;
	if (last) {
		list_del(&vm_bo->vm_link);
		list_del(&vm_bo->bo_link);
	}
	mutex_unlock(&bo->lock);
	mutex_unlock(&vm->bos_lock);
	if (last)
		kfree(vm_bo);
	drm_gem_object_put(&bo->base.base);
}

static void npu_map_free(struct npu_map *map)
{
	npu_vm_bo_put(map->vm_bo, map->writable);
	kfree(map);
}

static void npu_maps_free(struct list_head *maps)
{
	struct npu_map *map, *next;

	list_for_each_entry_safe(map, next, maps, link) {
		list_del(&map->link);
		npu_map_free(map);
	}
}

/* Page tables come with the first use. */
static int npu_vm_tables(struct npu_vm *vm)
{
	lockdep_assert_held(&vm->lock);
	if (vm->pt.root)
		return 0;
	return npu_pt_init(&vm->pt, &vm->ndev->env, vm->ndev->info.bus_bits);
}

static void npu_vm_set_root(struct npu_vm *vm, u64 root)
{
	spin_lock(&vm->ndev->roots_lock);
	vm->ndev->roots[vm->context] = root;
	spin_unlock(&vm->ndev->roots_lock);
}

static void npu_vm_put_context(struct npu_vm *vm)
{
	struct npu_admin_sqe sqe;
	int ret;

	if (!vm->context)
		return;
	/* First the table: a reset in between sets up what is there. */
	npu_vm_set_root(vm, 0);
	npu_admin_context_set_root(&sqe, vm->context, 0);
	ret = npu_command(vm->ndev, &sqe);
	if (ret && ret != -ESTALE && ret != -EIO && ret != -ENODEV) {
		drm_err(&vm->ndev->drm, "context %u cannot be taken down (error %d)\n",
			vm->context, ret);
		npu_device_request_reset(vm->ndev, NPU_DUMP_COMMAND);
	}
	ida_free(&vm->ndev->contexts, vm->context);
	vm->context = 0;
}

/* The context of @vm, which gets one with its first queue; or a negative errno. */
static int npu_vm_context_locked(struct npu_vm *vm)
{
	struct npu_admin_sqe sqe;
	int ret;

	ret = npu_vm_tables(vm);
	if (ret)
		return ret;
	if (vm->context)
		return vm->context;

	ret = ida_alloc_range(&vm->ndev->contexts, 1, vm->ndev->info.contexts - 1, GFP_KERNEL);
	if (ret < 0)
		return ret;
	vm->context = ret;
	npu_vm_set_root(vm, npu_pt_root(&vm->pt));
	npu_admin_context_set_root(&sqe, vm->context, npu_pt_root(&vm->pt));
	ret = npu_command(vm->ndev, &sqe);
	if (ret && ret != -ESTALE) {
		npu_vm_put_context(vm);
		return ret;
	}
	return vm->context;
}

int npu_vm_context(struct npu_vm *vm)
{
	int ret;

	mutex_lock(&vm->lock);
	ret = npu_vm_context_locked(vm);
	mutex_unlock(&vm->lock);
	return ret;
}

/*
 * Takes the address space away from the device, which holds no queue of the
 * client any more, or is held in reset.
 */
void npu_vm_detach(struct npu_vm *vm)
{
	mutex_lock(&vm->lock);
	npu_vm_put_context(vm);
	if (vm->pt.root)
		npu_pt_fini(&vm->pt);
	vm->pt.root = NULL;
	mutex_unlock(&vm->lock);
}

void npu_vm_fini(struct npu_vm *vm)
{
	struct npu_map *map;

	while ((map = npu_map_tree_iter_first(&vm->maps, 0, U64_MAX))) {
		npu_map_tree_remove(map, &vm->maps);
		npu_map_free(map);
	}
	drm_gem_private_object_fini(&vm->root);
	mutex_destroy(&vm->bos_lock);
	mutex_destroy(&vm->lock);
}

static void npu_map_resize(struct npu_vm *vm, struct npu_map *map, u64 start, u64 last)
{
	npu_map_tree_remove(map, &vm->maps);
	map->start = start;
	map->last = last;
	npu_map_tree_insert(map, &vm->maps);
}

/*
 * Removes [start, last] from the tree; what it covers whole goes to the list.
 * Cutting a hole takes @spare, which is consumed then and freed otherwise.
 */
static void npu_vm_carve(struct npu_bind *bind, u64 start, u64 last, struct npu_map *spare)
{
	struct rb_root_cached *tree = &bind->vm->maps;
	struct npu_map *map, *next;

	for (map = npu_map_tree_iter_first(tree, start, last); map; map = next) {
		u64 map_start = map->start, map_last = map->last;

		next = npu_map_tree_iter_next(map, start, last);
		if (map_start >= start && map_last <= last) {
			npu_map_tree_remove(map, tree);
			list_add(&map->link, &bind->maps);
			continue;
		}
		if (map_start < start)
			npu_map_resize(bind->vm, map, map_start, start - 1);
		else
			npu_map_resize(bind->vm, map, last + 1, map_last);
		if (map_start < start && map_last > last) {
			npu_vm_bo_count(map->vm_bo, map->writable);
			spare->vm_bo = map->vm_bo;
			spare->writable = map->writable;
			spare->start = last + 1;
			spare->last = map_last;
			npu_map_tree_insert(spare, tree);
			spare = NULL;
		}
	}
	kfree(spare);
}

/*
 * The pieces of memory behind [offset, offset + size) of a buffer: their number, or
 * a negative errno. What another driver exports may be shorter than it says.
 */
static int npu_bind_runs(struct sg_table *sgt, u64 offset, u64 size, struct npu_pt_run **out)
{
	struct npu_pt_run *runs;
	struct scatterlist *sg;
	u64 end = offset + size;
	u64 at = 0;
	u32 count = 0;
	u32 i;

	runs = kvmalloc_array(sgt->nents, sizeof(*runs), GFP_KERNEL_ACCOUNT);
	if (!runs)
		return -ENOMEM;
	for_each_sgtable_dma_sg(sgt, sg, i) {
		u64 from = max(offset, at);
		u64 to = min(end, at + sg_dma_len(sg));

		if (from < to)
			runs[count++] = (struct npu_pt_run) {
				.bus = sg_dma_address(sg) + (from - at),
				.size = to - from,
			};
		at += sg_dma_len(sg);
	}
	if (at < end) {
		kvfree(runs);
		return -ENXIO;
	}
	*out = runs;
	return count;
}

static int npu_bind_tables(struct npu_bind *bind, const struct drm_npu_bind_op *op,
			   struct drm_gem_object *obj)
{
	struct npu_vm *vm = bind->vm;
	struct npu_host_detail detail = {};
	struct npu_pt_run *runs;
	struct sg_table *sgt;
	int ret;

	/* Memory that is not the buffer's own has its table already. */
	sgt = drm_gem_shmem_get_pages_sgt(to_drm_gem_shmem_obj(obj));
	if (IS_ERR(sgt))
		return PTR_ERR(sgt);
	ret = npu_bind_runs(sgt, op->offset, op->size, &runs);
	if (ret < 0)
		return ret;

	BUILD_BUG_ON(DRM_NPU_BIND_READ != NPU_PT_READ);
	BUILD_BUG_ON(DRM_NPU_BIND_WRITE != NPU_PT_WRITE);
	BUILD_BUG_ON(DRM_NPU_BIND_EXEC != NPU_PT_EXEC);
	ret = npu_pt_map(&vm->pt, op->va, runs, ret, op->flags, &bind->garbage, &detail);
	if (ret)
		drm_dbg_driver(&vm->ndev->drm, "vm_bind: %s %#llx (limit %#llx), error %d\n",
			       detail.what ?: "out of memory", detail.found, detail.expected, ret);
	kvfree(runs);
	return ret;
}

static int npu_bind_map(struct npu_bind *bind, const struct drm_npu_bind_op *op,
			struct drm_gem_object *obj)
{
	struct npu_map *map = kzalloc(sizeof(*map), GFP_KERNEL_ACCOUNT);
	struct npu_map *spare = kzalloc(sizeof(*spare), GFP_KERNEL_ACCOUNT);
	int ret = -ENOMEM;

	if (!map || !spare)
		goto err_free;
	map->start = op->va;
	map->last = op->va + op->size - 1;
	map->writable = op->flags & DRM_NPU_BIND_WRITE;
	/* Before the device can use it, so that every submission that can is seen. */
	map->vm_bo = npu_vm_bo_get(bind->vm, to_npu_bo(obj), map->writable);
	if (!map->vm_bo)
		goto err_free;

	ret = npu_bind_tables(bind, op, obj);
	if (ret)
		goto err_put;
	npu_vm_carve(bind, map->start, map->last, spare);
	npu_map_tree_insert(map, &bind->vm->maps);
	return 0;

err_put:
	npu_vm_bo_put(map->vm_bo, map->writable);
err_free:
	kfree(spare);
	kfree(map);
	return ret;
}

static int npu_bind_unmap(struct npu_bind *bind, const struct drm_npu_bind_op *op)
{
	struct npu_map *spare = kzalloc(sizeof(*spare), GFP_KERNEL_ACCOUNT);
	struct npu_host_detail detail = {};
	int ret;

	if (!spare)
		return -ENOMEM;
	ret = npu_pt_unmap(&bind->vm->pt, op->va, op->size, &bind->garbage, &detail);
	if (ret) {
		kfree(spare);
		return ret;
	}
	npu_vm_carve(bind, op->va, op->va + op->size - 1, spare);
	return 0;
}

/* When this returns the device uses nothing of what was taken away. */
static void npu_bind_flush(struct npu_bind *bind)
{
	struct npu_pt_garbage *garbage = &bind->garbage;
	struct npu_vm *vm = bind->vm;
	struct npu_admin_sqe sqe;
	int ret;

	if (vm->context && garbage->inv_end != garbage->inv_va) {
		npu_admin_tlb_invalidate(&sqe, vm->context, garbage->inv_va,
					 garbage->inv_end - garbage->inv_va);
		ret = npu_command(vm->ndev, &sqe);
		if (ret && ret != -ESTALE && ret != -EIO && ret != -ENODEV) {
			drm_err(&vm->ndev->drm, "context %u: invalidation refused (error %d)\n",
				vm->context, ret);
			npu_device_request_reset(vm->ndev, NPU_DUMP_COMMAND);
		}
	}
	npu_pt_garbage_free(&vm->pt, garbage);
	npu_maps_free(&bind->maps);
}

static int npu_bind_run(struct npu_bind *bind, u32 *failed_op)
{
	u32 i;
	int ret;

	ret = npu_vm_tables(bind->vm);
	for (i = 0; i < bind->count && !ret; i++) {
		const struct drm_npu_bind_op *op = &bind->ops[i];

		ret = op->op == DRM_NPU_BIND_MAP ? npu_bind_map(bind, op, bind->objs[i]) :
						   npu_bind_unmap(bind, op);
		if (ret)
			*failed_op = i;
	}
	npu_bind_flush(bind);
	return ret;
}

static int npu_bind_check_map(struct npu_bind *bind, u32 index, struct drm_file *file)
{
	const struct drm_npu_bind_op *op = &bind->ops[index];
	const u32 all = DRM_NPU_BIND_READ | DRM_NPU_BIND_WRITE | DRM_NPU_BIND_EXEC;
	struct drm_gem_object *obj;

	if (!op->flags || op->flags & ~all || !IS_ALIGNED(op->offset, NPU_PAGE_SIZE))
		return -EINVAL;
	if (op->flags & DRM_NPU_BIND_WRITE && !(op->flags & DRM_NPU_BIND_READ))
		return -EINVAL;
	obj = drm_gem_object_lookup(file, op->handle);
	if (!obj)
		return -ENOENT;
	bind->objs[index] = obj;
	if (op->flags & DRM_NPU_BIND_WRITE && npu_bo_read_only(to_npu_bo(obj)))
		return -EACCES;
	if (op->offset > obj->size || op->size > obj->size - op->offset)
		return -EINVAL;
	return 0;
}

static int npu_bind_check_op(struct npu_bind *bind, u32 index, struct drm_file *file)
{
	const struct drm_npu_bind_op *op = &bind->ops[index];

	if (op->pad || !op->size || !IS_ALIGNED(op->va | op->size, NPU_PAGE_SIZE))
		return -EINVAL;
	if (op->va < NPU_VA_START || op->va >= NPU_VA_END || op->size > NPU_VA_END - op->va)
		return -EINVAL;

	switch (op->op) {
	case DRM_NPU_BIND_MAP:
		return npu_bind_check_map(bind, index, file);
	case DRM_NPU_BIND_UNMAP:
		return op->flags || op->handle || op->offset ? -EINVAL : 0;
	default:
		return -EINVAL;
	}
}

static int npu_bind_check(struct npu_bind *bind, struct drm_file *file, u32 *failed_op)
{
	const struct drm_npu_bind_op *op;
	u32 i;
	int ret;

	for (i = 0; i < bind->count; i++) {
		ret = npu_bind_check_op(bind, i, file);
		if (!ret)
			continue;
		op = &bind->ops[i];
		drm_dbg_driver(&bind->vm->ndev->drm,
			       "vm_bind: op %u (%u, flags %#x, handle %u, va %#llx, offset %#llx, size %#llx): error %d\n",
			       i, op->op, op->flags, op->handle, op->va, op->offset, op->size,
			       ret);
		*failed_op = i;
		return ret;
	}
	return 0;
}

static int npu_bind_prepare(struct npu_bind *bind, const struct drm_npu_vm_bind *args)
{
	INIT_LIST_HEAD(&bind->maps);
	bind->count = args->op_count;
	bind->objs = kvcalloc(args->op_count, sizeof(*bind->objs), GFP_KERNEL_ACCOUNT);
	if (!bind->objs)
		return -ENOMEM;
	bind->ops = kvmalloc_array(args->op_count, sizeof(*bind->ops), GFP_KERNEL_ACCOUNT);
	if (!bind->ops)
		return -ENOMEM;
	return npu_copy_array(bind->ops, sizeof(*bind->ops), args->ops, args->op_stride,
			      args->op_count);
}

static void npu_bind_cleanup(struct npu_bind *bind)
{
	u32 i;

	for (i = 0; bind->objs && i < bind->count; i++)
		if (bind->objs[i])
			drm_gem_object_put(bind->objs[i]);
	kvfree(bind->objs);
	kvfree(bind->ops);
}

int npu_ioctl_vm_bind(struct drm_device *drm, void *data, struct drm_file *file)
{
	struct npu_bind bind = { .vm = &to_npu_client(file)->vm };
	struct drm_npu_vm_bind *args = data;
	int ret, idx;

	if (args->flags || args->in_sync_count || args->out_sync_count || args->in_syncs ||
	    args->out_syncs || !args->op_count || args->op_count > NPU_MAX_BINDS) {
		drm_dbg_driver(drm, "vm_bind: %u ops, flags %#x, or syncs\n", args->op_count,
			       args->flags);
		return -EINVAL;
	}

	args->failed_op = 0;
	/* Copies, which may wait for the caller's memory: outside of drm_dev_enter(). */
	ret = npu_bind_prepare(&bind, args);
	if (!ret)
		ret = npu_bind_check(&bind, file, &args->failed_op);
	if (!ret && !drm_dev_enter(drm, &idx))
		ret = -ENODEV;
	if (!ret) {
		mutex_lock(&bind.vm->lock);
		ret = npu_bind_run(&bind, &args->failed_op);
		mutex_unlock(&bind.vm->lock);
		drm_dev_exit(idx);
	}
	npu_bind_cleanup(&bind);
	return ret;
}

/* The page of a buffer's own memory that the device knows by @bus, and where in it. */
static struct page *npu_bo_page(struct npu_bo *bo, u64 bus, u64 *offset)
{
	struct sg_table *sgt = READ_ONCE(bo->base.sgt);
	struct scatterlist *sg;
	u64 at = 0;
	int i;

	if (!sgt || drm_gem_is_imported(&bo->base.base))
		return NULL;
	for_each_sgtable_dma_sg(sgt, sg, i) {
		if (bus >= sg_dma_address(sg) && bus - sg_dma_address(sg) < sg_dma_len(sg)) {
			at += bus - sg_dma_address(sg);
			break;
		}
		at += sg_dma_len(sg);
	}
	for_each_sgtable_sg(sgt, sg, i) {
		if (at < sg->length) {
			at += sg->offset;
			*offset = offset_in_page(at);
			return pfn_to_page(page_to_pfn(sg_page(sg)) + (at >> PAGE_SHIFT));
		}
		at -= sg->length;
	}
	return NULL;
}

/* Up to the end of a page of the device; 0 where nothing can be read. */
static size_t npu_vm_peek_page(struct npu_vm *vm, u64 va, void *to, size_t size)
{
	size_t part = min_t(size_t, size, NPU_PAGE_SIZE - (va & (NPU_PAGE_SIZE - 1)));
	struct npu_map *map = npu_map_tree_iter_first(&vm->maps, va, va);
	struct page *page;
	u64 bus, offset;
	u32 prot;

	if (!map || !vm->pt.root || !npu_pt_lookup(&vm->pt, va, &bus, &prot))
		return 0;
	page = npu_bo_page(map->vm_bo->bo, bus, &offset);
	if (page)
		memcpy_from_page(to, page, offset, part);
	return page ? part : 0;
}

/**
 * npu_vm_peek - read memory as a client's jobs see it
 * @vm: address space
 * @va: address
 * @to: room for @size bytes
 * @size: bytes
 *
 * Within drm_dev_enter(). Memory of other drivers is not read.
 *
 * Return: bytes that could be read, from the first on.
 */
size_t npu_vm_peek(struct npu_vm *vm, u64 va, void *to, size_t size)
{
	size_t got, sum = 0;

	mutex_lock(&vm->lock);
	do {
		got = npu_vm_peek_page(vm, va + sum, to + sum, size - sum);
		sum += got;
	} while (got && sum < size);
	mutex_unlock(&vm->lock);
	return sum;
}
