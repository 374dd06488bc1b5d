// SPDX-License-Identifier: GPL-2.0-only
/*
 * /proc/PID/fdinfo: memory, and the time that cores ran for the client. Cycles
 * of a job that runs are counted as far as the firmware has told.
 */
#include <linux/math64.h>
#include <drm/drm_file.h>

#include "npu_client.h"
#include "npu_queue.h"

static struct npu_stats npu_queue_live_stats(struct npu_queue *queue)
{
	struct npu_stats stats;

	spin_lock_irq(&queue->lock);
	stats = queue->stats;
	if (!queue->gone)
		stats.cycles = max(stats.cycles,
				   queue->progress_base + npu_sq_progress(&queue->sq));
	/* What was shown once is never taken back. */
	stats.cycles = max(stats.cycles, queue->shown);
	queue->shown = stats.cycles;
	spin_unlock_irq(&queue->lock);
	return stats;
}

/* What all queues of the client did, those that are gone included. */
void npu_client_stats(struct npu_client *client, struct npu_stats *stats)
{
	struct npu_queue *queue;
	unsigned long id;

	xa_lock(&client->queues);
	*stats = client->retired;
	xa_for_each(&client->queues, id, queue) {
		struct npu_stats live = npu_queue_live_stats(queue);

		npu_stats_add(stats, &live);
	}
	xa_unlock(&client->queues);
}

void npu_show_fdinfo(struct drm_printer *p, struct drm_file *file)
{
	struct npu_client *client = to_npu_client(file);
	u32 clock_khz = client->ndev->info.clock_khz;
	struct npu_stats stats;

	npu_client_stats(client, &stats);
	drm_printf(p, "drm-engine-npu:\t%llu ns\n",
		   mul_u64_u32_div(stats.cycles, 1000000, clock_khz));
	drm_printf(p, "drm-engine-capacity-npu:\t%u\n", client->ndev->info.cores);
	drm_printf(p, "drm-cycles-npu:\t%llu\n", stats.cycles);
	drm_printf(p, "drm-maxfreq-npu:\t%llu Hz\n", clock_khz * 1000ull);
	drm_show_memory_stats(p, file);
}
