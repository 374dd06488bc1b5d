// SPDX-License-Identifier: GPL-2.0-only
/*
 * /proc/PID/fdinfo: memory, and the time that cores ran for the client. Cycles
 * of a job that runs are counted as far as the firmware has told.
 */
#include <linux/math64.h>
#include <drm/drm_file.h>

#include "npu_client.h"
#include "npu_queue.h"

static u64 npu_queue_cycles(struct npu_queue *queue)
{
	u64 cycles;

	spin_lock_irq(&queue->lock);
	cycles = queue->stats.cycles;
	if (!queue->gone)
		cycles = max(cycles, queue->progress_base + npu_sq_progress(&queue->sq));
	/* What was shown once is never taken back. */
	cycles = max(cycles, queue->shown);
	queue->shown = cycles;
	spin_unlock_irq(&queue->lock);
	return cycles;
}

void npu_show_fdinfo(struct drm_printer *p, struct drm_file *file)
{
	struct npu_client *client = to_npu_client(file);
	u32 clock_khz = client->ndev->info.clock_khz;
	struct npu_queue *queue;
	unsigned long id;
	u64 cycles;

	xa_lock(&client->queues);
	cycles = client->retired;
	xa_for_each(&client->queues, id, queue)
		cycles += npu_queue_cycles(queue);
	xa_unlock(&client->queues);

	drm_printf(p, "drm-engine-npu:\t%llu ns\n",
		   mul_u64_u32_div(cycles, 1000000, clock_khz));
	drm_printf(p, "drm-engine-capacity-npu:\t%u\n", client->ndev->info.cores);
	drm_printf(p, "drm-cycles-npu:\t%llu\n", cycles);
	drm_printf(p, "drm-maxfreq-npu:\t%llu Hz\n", clock_khz * 1000ull);
	drm_show_memory_stats(p, file);
}
