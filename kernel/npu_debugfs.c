// SPDX-License-Identifier: GPL-2.0-only
/* debugfs: state of the device, and a reset on demand. */
#include <linux/debugfs.h>
#include <drm/drm_debugfs.h>
#include <drm/drm_drv.h>

#include "npu_device.h"
#include "npu_queue.h"

static int npu_debugfs_state(struct seq_file *m, void *unused)
{
	struct drm_debugfs_entry *entry = m->private;
	struct npu_device *ndev = to_npu_device(entry->dev);
	struct npu_queue *queue;

	seq_printf(m, "state %s\n", npu_state_name(npu_device_state(ndev)));
	mutex_lock(&ndev->lists_lock);
	seq_printf(m, "resets %llu\n", ndev->resets);
	list_for_each_entry(queue, &ndev->queues, link) {
		struct npu_stats stats = npu_queue_stats(queue);

		seq_printf(m, "queue %u: context %u priority %u cq %u done %llu failed %llu cycles %llu%s\n",
			   queue->desc.queue, queue->desc.context, queue->desc.priority,
			   queue->desc.cq, stats.done, stats.failed, stats.cycles,
			   queue->banned ? " banned" : "");
	}
	mutex_unlock(&ndev->lists_lock);
	return 0;
}

static const struct drm_debugfs_info npu_debugfs_files[] = {
	{ "npu_state", npu_debugfs_state, 0, NULL },
};

static int npu_debugfs_reset(void *data, u64 value)
{
	struct npu_device *ndev = data;
	int idx;

	if (!drm_dev_enter(&ndev->drm, &idx))
		return -ENODEV;
	npu_device_request_reset(ndev);
	drm_dev_exit(idx);
	return 0;
}
DEFINE_DEBUGFS_ATTRIBUTE(npu_debugfs_reset_fops, NULL, npu_debugfs_reset, "%llu\n");

void npu_debugfs_init(struct npu_device *ndev)
{
	drm_debugfs_add_files(&ndev->drm, npu_debugfs_files, ARRAY_SIZE(npu_debugfs_files));
	debugfs_create_file_unsafe("reset", 0200, ndev->drm.debugfs_root, ndev,
				   &npu_debugfs_reset_fops);
}
