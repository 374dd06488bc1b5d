// SPDX-License-Identifier: MIT
/* Backend: a node of the kernel's driver, /dev/accel/accelN. */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <xf86drm.h>
#include <drm/npu_accel.h>
#include "userspace/libnpu/accel_node.h"
#include "userspace/libnpu/backend.h"
#include "userspace/libnpu/include/npu/npu.h"

/**
 * struct accel_queue - a queue
 * @kernel_id: its id for the driver
 * @timeline: syncobj on whose timeline job n ends at point n; 0: no queue
 * @generation: makes ids of queues that follow each other here differ
 */
struct accel_queue {
	uint32_t kernel_id;
	uint32_t timeline;
	uint32_t generation;
};

#define QUEUE_INDEX_BITS	16
#define MAX_QUEUES		(1u << QUEUE_INDEX_BITS)

/**
 * struct accel - an open node
 * @be: operations
 * @fd: of the node
 * @lock: guards @queues and @queue_count
 * @queues: the queue with id (generation << QUEUE_INDEX_BITS | i) at i
 * @queue_count: entries of @queues
 */
struct accel {
	struct npu_backend be;
	int fd;
	pthread_mutex_t lock;
	struct accel_queue *queues;
	uint32_t queue_count;
};

static struct accel *accel_of(struct npu_backend *be)
{
	return (struct accel *)be;
}

static int fail(int error, const char *what)
{
	if (error == ENODEV)
		return npu_fail(-ENODEV, "%s: the device is gone: it was unplugged, or its driver was unbound",
				what);
	return npu_fail(-error, "%s: %s", what, strerror(error));
}

static int call(struct accel *accel, unsigned long request, void *arg, const char *what)
{
	return drmIoctl(accel->fd, request, arg) ? fail(errno, what) : 0;
}

static uint64_t user_address(const void *pointer)
{
	return (uintptr_t)pointer;
}

/* ---- device ---- */

static int query(struct accel *accel, uint32_t what, void *data, uint32_t size)
{
	struct drm_npu_dev_query args = {
		.query = what, .size = size, .data = user_address(data),
	};

	return call(accel, DRM_IOCTL_NPU_DEV_QUERY, &args, "asking the driver about the device");
}

static int accel_get_info(struct npu_backend *be, struct npu_device_info *info)
{
	struct drm_npu_query_device q = { 0 };
	int ret;

	ret = query(accel_of(be), DRM_NPU_QUERY_DEVICE, &q, sizeof(q));
	if (ret)
		return ret;

	info->contract = q.contract;
	info->device_id = q.device_id;
	info->revision = q.revision;
	info->fw_version = q.fw_version;
	info->hw_features = q.hw_features;
	info->fw_features = q.fw_features;
	info->fw_proto = q.fw_proto;
	info->cores = q.cores;
	info->queue_slots = q.queue_slots;
	info->contexts = q.contexts;
	info->config0 = q.config0;
	info->config1 = q.config1;
	info->clock_khz = q.clock_khz;
	info->priorities = q.priorities;
	info->max_jobs = q.max_jobs;
	info->va_start = q.va_start;
	info->va_end = q.va_end;
	info->limit_default = q.limit_default;
	info->limit_max = q.limit_max;
	info->resets = q.resets;
	memcpy(info->uuid, q.uuid, sizeof(info->uuid));
	return 0;
}

static int accel_get_time(struct npu_backend *be, uint64_t *ticks, uint64_t *monotonic_ns)
{
	struct drm_npu_query_time q = { 0 };
	int ret;

	ret = query(accel_of(be), DRM_NPU_QUERY_TIME, &q, sizeof(q));
	if (ret)
		return ret;
	*ticks = q.ticks;
	*monotonic_ns = q.monotonic_ns;
	return 0;
}

static void accel_close(struct npu_backend *be)
{
	struct accel *accel = accel_of(be);

	close(accel->fd);
	pthread_mutex_destroy(&accel->lock);
	free(accel->queues);
	free(accel);
}

/* ---- memory ---- */

static void close_handle(struct accel *accel, uint32_t handle)
{
	struct drm_gem_close args = { .handle = handle };

	drmIoctl(accel->fd, DRM_IOCTL_GEM_CLOSE, &args);
}

static int map_to_process(struct accel *accel, struct npu_memory *mem)
{
	struct drm_npu_bo_mmap_offset args = { .handle = mem->handle };
	int ret;

	ret = call(accel, DRM_IOCTL_NPU_BO_MMAP_OFFSET, &args, "preparing to map a buffer");
	if (ret)
		return ret;
	mem->data = mmap(NULL, mem->size, PROT_READ | PROT_WRITE, MAP_SHARED, accel->fd,
			 args.offset);
	if (mem->data == MAP_FAILED)
		return npu_fail(-errno, "mapping a buffer of %zu bytes: %s", mem->size,
				strerror(errno));
	return 0;
}

static int accel_memory_alloc(struct npu_backend *be, struct npu_memory *mem)
{
	struct accel *accel = accel_of(be);
	struct drm_npu_bo_create args = { .size = mem->size, .region = DRM_NPU_REGION_SYSTEM };
	int ret;

	ret = call(accel, DRM_IOCTL_NPU_BO_CREATE, &args, "creating a buffer");
	if (ret)
		return ret;
	mem->handle = args.handle;
	mem->size = args.size;
	ret = map_to_process(accel, mem);
	if (ret)
		close_handle(accel, args.handle);
	return ret;
}

static int refuse_import(int error, const struct npu_memory *mem)
{
	const char *why;

	switch (error) {
	case EFAULT:
		why = "nothing is mapped in a part of it";
		break;
	case EACCES:
		why = "a part of it cannot be written, or not be read";
		break;
	case EDQUOT:
		why = "RLIMIT_MEMLOCK does not allow so much to be pinned";
		break;
	case EOPNOTSUPP:
		why = "a part of it is of a device, or of a file that is shared";
		break;
	default:
		return fail(error, "importing memory");
	}
	return npu_fail(-error, "importing %zu bytes at %p: %s", mem->size, mem->data, why);
}

static int accel_memory_import(struct npu_backend *be, struct npu_memory *mem, bool writable)
{
	struct drm_npu_bo_import_user args = {
		.addr = user_address(mem->data), .size = mem->size,
		.flags = writable ? 0 : DRM_NPU_IMPORT_READ_ONLY,
	};

	if (drmIoctl(accel_of(be)->fd, DRM_IOCTL_NPU_BO_IMPORT_USER, &args))
		return refuse_import(errno, mem);
	mem->handle = args.handle;
	mem->imported = true;
	return 0;
}

static void accel_memory_free(struct npu_backend *be, struct npu_memory *mem)
{
	if (!mem->imported)
		munmap(mem->data, mem->size);
	close_handle(accel_of(be), mem->handle);
}

static int bind(struct accel *accel, struct drm_npu_bind_op *op, const char *what)
{
	struct drm_npu_vm_bind args = {
		.op_count = 1, .op_stride = sizeof(*op), .ops = user_address(op),
	};

	return call(accel, DRM_IOCTL_NPU_VM_BIND, &args, what);
}

static int accel_map(struct npu_backend *be, const struct npu_memory *mem, uint64_t va,
		     uint32_t rights)
{
	struct drm_npu_bind_op op = {
		.op = DRM_NPU_BIND_MAP, .flags = rights, .handle = mem->handle,
		.va = va, .size = mem->size,
	};

	_Static_assert(NPU_RIGHT_READ == DRM_NPU_BIND_READ &&
		       NPU_RIGHT_WRITE == DRM_NPU_BIND_WRITE &&
		       NPU_RIGHT_EXECUTE == DRM_NPU_BIND_EXEC, "rights are the kernel's");
	return bind(accel_of(be), &op, "mapping a buffer for the device");
}

static int accel_unmap(struct npu_backend *be, uint64_t va, uint64_t size)
{
	struct drm_npu_bind_op op = { .op = DRM_NPU_BIND_UNMAP, .va = va, .size = size };

	return bind(accel_of(be), &op, "unmapping a buffer from the device");
}

/* ---- queues ---- */

/* Called with the lock held. An unused entry, or -ENOMEM. */
static int find_room(struct accel *accel, uint32_t *index)
{
	struct accel_queue *more;

	for (*index = 0; *index < accel->queue_count; ++*index)
		if (!accel->queues[*index].timeline)
			return 0;
	if (*index == MAX_QUEUES)
		return npu_fail(-ENOMEM, "queues of a device: expected at most %u", MAX_QUEUES);
	more = reallocarray(accel->queues, *index + 1ul, sizeof(*more));
	if (!more)
		return npu_fail(-ENOMEM, "out of memory for a queue");
	more[*index] = (struct accel_queue) { 0 };
	accel->queues = more;
	accel->queue_count++;
	return 0;
}

static int keep_queue(struct accel *accel, uint32_t kernel_id, uint32_t timeline, uint32_t *id)
{
	uint32_t i;
	int ret;

	pthread_mutex_lock(&accel->lock);
	ret = find_room(accel, &i);
	if (!ret) {
		accel->queues[i].kernel_id = kernel_id;
		accel->queues[i].timeline = timeline;
		*id = accel->queues[i].generation << QUEUE_INDEX_BITS | i;
	}
	pthread_mutex_unlock(&accel->lock);
	return ret;
}

/* A copy; its timeline is 0 if the queue is gone. */
static struct accel_queue queue_of(struct accel *accel, uint32_t id)
{
	struct accel_queue queue = { 0 };
	uint32_t index = id % MAX_QUEUES;

	pthread_mutex_lock(&accel->lock);
	if (index < accel->queue_count &&
	    accel->queues[index].generation << QUEUE_INDEX_BITS == id - index)
		queue = accel->queues[index];
	pthread_mutex_unlock(&accel->lock);
	return queue;
}

static void forget_queue(struct accel *accel, uint32_t id)
{
	struct accel_queue *queue;

	pthread_mutex_lock(&accel->lock);
	queue = &accel->queues[id % MAX_QUEUES];
	queue->timeline = 0;
	queue->generation++;
	pthread_mutex_unlock(&accel->lock);
}

static void destroy_queue(struct accel *accel, uint32_t kernel_id)
{
	struct drm_npu_queue_destroy args = { .queue_id = kernel_id };

	drmIoctl(accel->fd, DRM_IOCTL_NPU_QUEUE_DESTROY, &args);
}

static int refuse_queue(int error, uint32_t priority)
{
	switch (error) {
	case EACCES:
		return npu_fail(-EACCES, "creating a queue: priority %u is for processes with CAP_SYS_NICE",
				priority);
	case ENOSPC:
		return npu_fail(-ENOSPC, "creating a queue: all queue slots or address spaces of the device are in use");
	default:
		return fail(error, "creating a queue");
	}
}

static int accel_queue_create(struct npu_backend *be, uint32_t priority, uint32_t core_mask,
			      uint64_t limit, uint32_t *queue)
{
	struct accel *accel = accel_of(be);
	struct drm_npu_queue_create args = {
		.priority = priority, .core_mask = core_mask, .limit = limit,
	};
	uint32_t timeline;
	int ret;

	if (drmSyncobjCreate(accel->fd, 0, &timeline))
		return fail(errno, "creating a syncobj");
	if (drmIoctl(accel->fd, DRM_IOCTL_NPU_QUEUE_CREATE, &args)) {
		ret = refuse_queue(errno, priority);
		goto destroy_timeline;
	}
	ret = keep_queue(accel, args.queue_id, timeline, queue);
	if (ret)
		goto destroy;
	return 0;

destroy:
	destroy_queue(accel, args.queue_id);
destroy_timeline:
	drmSyncobjDestroy(accel->fd, timeline);
	return ret;
}

static void accel_queue_destroy(struct npu_backend *be, uint32_t id)
{
	struct accel *accel = accel_of(be);
	struct accel_queue queue = queue_of(accel, id);

	forget_queue(accel, id);
	destroy_queue(accel, queue.kernel_id);
	drmSyncobjDestroy(accel->fd, queue.timeline);
}

static unsigned int fill_waits(struct accel *accel, struct drm_npu_sync *syncs,
			       const struct npu_point *waits, unsigned int count)
{
	unsigned int n = 0;
	unsigned int i;

	for (i = 0; i < count; i++) {
		uint32_t timeline = queue_of(accel, waits[i].queue).timeline;

		if (timeline)
			syncs[n++] = (struct drm_npu_sync) {
				.handle = timeline, .point = waits[i].seqno,
			};
	}
	return n;
}

static void fill_jobs(struct drm_npu_job *out, const struct npu_backend_job *jobs,
		      unsigned int count)
{
	unsigned int i;

	for (i = 0; i < count; i++)
		out[i] = (struct drm_npu_job) {
			.insn_va = jobs[i].insn_va,
			.insn_count = jobs[i].insn_count,
			.region_count = jobs[i].region_count,
			.region_va = jobs[i].region_va,
			.limit = jobs[i].limit,
			.report_va = jobs[i].report_va,
		};
}

static int refuse_submit(struct accel *accel, uint32_t kernel_id, int error)
{
	struct drm_npu_queue_query q = { .queue_id = kernel_id };

	if (error != EIO || drmIoctl(accel->fd, DRM_IOCTL_NPU_QUEUE_QUERY, &q))
		return fail(error, "submitting jobs");
	if (q.state & DRM_NPU_QUEUE_BANNED)
		return npu_fail(-EIO, "submitting jobs: the queue is banned, since its job %llu hung the device; a new stream may go on",
				(unsigned long long)q.failed_job);
	return npu_fail(-EIO, "submitting jobs: the device did not come back from a reset, and is held in reset");
}

static int accel_submit(struct npu_backend *be, uint32_t id, const struct npu_backend_job *jobs,
			unsigned int count, const struct npu_point *waits, unsigned int wait_count,
			uint64_t *seqno)
{
	struct accel *accel = accel_of(be);
	struct accel_queue queue = queue_of(accel, id);
	struct drm_npu_sync out = { .handle = queue.timeline, .point = *seqno + count };
	struct drm_npu_job list[count];
	struct drm_npu_sync in[wait_count + 1];
	struct drm_npu_submit args = {
		.queue_id = queue.kernel_id,
		.job_count = count,
		.job_stride = sizeof(list[0]),
		.jobs = user_address(list),
		.in_sync_count = fill_waits(accel, in, waits, wait_count),
		.out_sync_count = 1,
		.out_syncs = user_address(&out),
	};

	if (args.in_sync_count)
		args.in_syncs = user_address(in);
	fill_jobs(list, jobs, count);
	if (drmIoctl(accel->fd, DRM_IOCTL_NPU_SUBMIT, &args))
		return refuse_submit(accel, queue.kernel_id, errno);
	*seqno += count;
	return 0;
}

static int accel_wait(struct npu_backend *be, struct npu_point point, int64_t deadline)
{
	struct accel *accel = accel_of(be);
	uint32_t timeline = queue_of(accel, point.queue).timeline;
	int ret;

	if (!timeline)
		return 0;
	ret = drmSyncobjTimelineWait(accel->fd, &timeline, &point.seqno, 1, deadline, 0, NULL);
	if (ret == -ETIME)
		return npu_fail(-ETIMEDOUT, "job %llu has not ended in time",
				(unsigned long long)point.seqno);
	return ret ? fail(-ret, "waiting for a job") : 0;
}

static int accel_last_failure(struct npu_backend *be, uint32_t id, struct npu_failure *failure)
{
	struct drm_npu_queue_query q = { .queue_id = queue_of(accel_of(be), id).kernel_id };
	int ret;

	ret = call(accel_of(be), DRM_IOCTL_NPU_QUEUE_QUERY, &q, "asking about a queue");
	if (ret)
		return ret;
	*failure = (struct npu_failure) {
		.seqno = q.failed_job,
		.jobs_failed = q.jobs_failed,
		.status = q.failed_status,
		.insn = q.fault_insn,
		.va = q.fault_va,
		.code = q.fault_code,
		.unit = q.fault_unit,
		.access = q.fault_access,
		.core = q.fault_core,
	};
	return 0;
}

static const struct npu_backend_ops accel_ops = {
	.name = "accel",
	.close = accel_close,
	.get_info = accel_get_info,
	.get_time = accel_get_time,
	.memory_alloc = accel_memory_alloc,
	.memory_import = accel_memory_import,
	.memory_free = accel_memory_free,
	.map = accel_map,
	.unmap = accel_unmap,
	.queue_create = accel_queue_create,
	.queue_destroy = accel_queue_destroy,
	.submit = accel_submit,
	.wait = accel_wait,
	.last_failure = accel_last_failure,
};

/* ---- opening ---- */

int npu_backend_accel_open(const char *path, struct npu_backend **out)
{
	struct accel *accel;
	int fd, ret;

	ret = npu_accel_open_node(path, &fd);
	if (ret)
		return ret;
	accel = calloc(1, sizeof(*accel));
	if (!accel) {
		close(fd);
		return npu_fail(-ENOMEM, "out of memory for a device");
	}
	accel->be.ops = &accel_ops;
	accel->fd = fd;
	pthread_mutex_init(&accel->lock, NULL);
	*out = &accel->be;
	return 0;
}
