// SPDX-License-Identifier: GPL-2.0-only
/* DEV_QUERY: what the device is and has. */
#include <linux/ktime.h>
#include <linux/uaccess.h>
#include <drm/drm_drv.h>

#include "npu_client.h"
#include "npu_query.h"
#include "npu_queue.h"

static int npu_query_device(struct npu_device *ndev, struct drm_npu_query_device *out)
{
	const struct npu_dev_info *info = &ndev->info;

	*out = (struct drm_npu_query_device) {
		.contract = info->contract,
		.device_id = info->device,
		.revision = info->revision,
		.fw_version = ndev->fw_version,
		.hw_features = info->features,
		.fw_features = ndev->fw_features,
		.fw_proto = ndev->fw_proto,
		.cores = info->cores,
		.queue_slots = info->queues,
		.contexts = info->contexts - 1,
		.config0 = info->config0,
		.config1 = info->config1,
		.clock_khz = info->clock_khz,
		.priorities = NPU_PRIORITIES,
		.max_jobs = NPU_MAX_JOBS,
		.max_syncs = NPU_MAX_SYNCS,
		.max_binds = NPU_MAX_BINDS,
		.va_start = NPU_VA_START,
		.va_end = NPU_VA_END,
		.limit_default = NPU_LIMIT_DEFAULT,
		.limit_max = NPU_LIMIT_MAX,
	};
	memcpy(out->uuid, info->uuid, sizeof(out->uuid));
	mutex_lock(&ndev->lists_lock);
	out->resets = ndev->resets;
	mutex_unlock(&ndev->lists_lock);
	return sizeof(*out);
}

static int npu_query_regions(struct npu_device *ndev, struct drm_npu_query_region *out)
{
	*out = (struct drm_npu_query_region) {
		.id = DRM_NPU_REGION_SYSTEM,
		.used = atomic64_read(&ndev->bo_bytes),
	};
	return sizeof(*out);
}

static int npu_query_time(struct npu_device *ndev, struct drm_npu_query_time *out)
{
	u64 before, after;

	mutex_lock(&ndev->time_lock);
	before = ktime_get_ns();
	out->ticks = npu_read_ticks(&ndev->env);
	after = ktime_get_ns();
	mutex_unlock(&ndev->time_lock);
	out->monotonic_ns = before + (after - before) / 2;
	out->deviation_ns = after - before;
	return sizeof(*out);
}

static int npu_query_copy(struct drm_npu_dev_query *args, const void *data, u32 size)
{
	void __user *to = u64_to_user_ptr(args->data);
	u32 room = args->size;
	u32 copied = min(room, size);

	/* No query grows as large: what is zeroed behind it is bounded. */
	if (room > PAGE_SIZE)
		return -E2BIG;
	args->size = size;
	if (!room)
		return 0;
	if (copy_to_user(to, data, copied))
		return -EFAULT;
	return clear_user(to + copied, room - copied) ? -EFAULT : 0;
}

int npu_ioctl_dev_query(struct drm_device *drm, void *data, struct drm_file *file)
{
	struct npu_device *ndev = to_npu_device(drm);
	struct drm_npu_dev_query *args = data;
	union {
		struct drm_npu_query_device device;
		struct drm_npu_query_region region;
		struct drm_npu_query_time time;
	} out = {};
	int ret, idx;

	if (!drm_dev_enter(drm, &idx))
		return -ENODEV;
	switch (args->query) {
	case DRM_NPU_QUERY_DEVICE:
		ret = npu_query_device(ndev, &out.device);
		break;
	case DRM_NPU_QUERY_REGIONS:
		ret = npu_query_regions(ndev, &out.region);
		break;
	case DRM_NPU_QUERY_TIME:
		ret = npu_query_time(ndev, &out.time);
		break;
	default:
		drm_dbg_driver(drm, "dev_query: no query %u\n", args->query);
		ret = -EINVAL;
		break;
	}
	drm_dev_exit(idx);
	return ret < 0 ? ret : npu_query_copy(args, &out, ret);
}
