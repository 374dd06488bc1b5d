// SPDX-License-Identifier: GPL-2.0-only
/*
 * debugfs: what the driver and the firmware know, for people, and a reset on
 * demand. Files go before the device does, and reading them is bounded.
 */
#include <linux/debugfs.h>
#include <linux/slab.h>
#include <drm/drm_debugfs.h>
#include <drm/drm_drv.h>

#include "npu_client.h"
#include "npu_fwlog.h"
#include "npu_queue.h"

/* Of all clients together, and of one ring. */
#define NPU_SHOW_EXTENTS	4096
#define NPU_SHOW_ENTRIES	64

static struct npu_device *npu_debugfs_device(struct seq_file *m)
{
	struct drm_debugfs_entry *entry = m->private;

	return to_npu_device(entry->dev);
}

static int npu_debugfs_state(struct seq_file *m, void *unused)
{
	struct npu_device *ndev = npu_debugfs_device(m);
	struct npu_queue *queue;

	seq_printf(m, "state %s\n", npu_state_name(npu_device_state(ndev)));
	mutex_lock(&ndev->lists_lock);
	seq_printf(m, "resets %llu\n", ndev->resets);
	list_for_each_entry(queue, &ndev->queues, link) {
		struct npu_stats stats = npu_queue_stats(queue);

		seq_printf(m, "queue %u: client %llu context %u priority %u cq %u done %llu failed %llu cycles %llu%s\n",
			   queue->desc.queue, queue->client_id, queue->desc.context,
			   queue->desc.priority, queue->desc.cq, stats.done, stats.failed,
			   stats.cycles, queue->banned ? " banned" : "");
	}
	mutex_unlock(&ndev->lists_lock);
	return 0;
}

static void npu_debugfs_flights(struct seq_file *m, const struct npu_queue *queue)
{
	u32 size = 1u << queue->desc.log_size;
	u32 shown = 0;
	u32 tag;

	for (tag = 0; tag < size && shown < NPU_SHOW_ENTRIES; tag++) {
		const struct npu_flight *flight = &queue->flights[tag];

		if (!flight->submission)
			continue;
		seq_printf(m, "  entry %u: job %llu cmd_id %#x insn %#llx + %u\n",
			   flight->position, flight->submission->first + flight->index,
			   flight->cmd_id, flight->submission->jobs[flight->index].insn_va,
			   flight->submission->jobs[flight->index].insn_count);
		shown++;
	}
	if (queue->sq.outstanding > shown)
		seq_printf(m, "  %u more\n", queue->sq.outstanding - shown);
}

static void npu_debugfs_queue(struct seq_file *m, struct npu_queue *queue)
{
	const struct npu_sq *sq = &queue->sq;

	spin_lock_irq(&queue->lock);
	seq_printf(m, "queue %u: tail %u told %u under way %u of %u", queue->desc.queue, sq->tail,
		   sq->published, sq->outstanding, sq->size);
	/* The memory goes with the device; that of the device is read once each. */
	if (queue->mem.cpu && sq->shadow)
		seq_printf(m, " event_idx %u sq_head %u progress %llu",
			   READ_ONCE(sq->shadow->event_idx), READ_ONCE(sq->shadow->sq_head),
			   npu_sq_progress(sq));
	seq_puts(m, queue->broken ? " broken\n" : "\n");
	if (queue->mem.cpu)
		npu_debugfs_flights(m, queue);
	spin_unlock_irq(&queue->lock);
}

static int npu_debugfs_rings(struct seq_file *m, void *unused)
{
	struct npu_device *ndev = npu_debugfs_device(m);
	struct npu_queue *queue;
	u32 i;

	spin_lock_irq(&ndev->admin_lock);
	seq_printf(m, "admin: tail %u under way %u head %u events %u\n", ndev->admin.sq.tail,
		   ndev->admin.sq.outstanding, ndev->admin.cq.head, ndev->evq.head);
	spin_unlock_irq(&ndev->admin_lock);

	mutex_lock(&ndev->lists_lock);
	for (i = 0; i < ndev->cq_count; i++) {
		struct npu_cq_ring *ring = &ndev->cqs[i];

		spin_lock_irq(&ring->lock);
		if (ring->users)
			seq_printf(m, "cq %u: head %u of %u, %u queues\n", ring->index,
				   ring->cq.head, ring->cq.size, ring->users);
		spin_unlock_irq(&ring->lock);
	}
	list_for_each_entry(queue, &ndev->queues, link)
		npu_debugfs_queue(m, queue);
	mutex_unlock(&ndev->lists_lock);
	return 0;
}

/**
 * struct npu_extent - leaves that follow each other in both address spaces
 * @va: address
 * @bus: bus address
 * @size: bytes, 0 for none yet
 * @prot: NPU_PT_*
 */
struct npu_extent {
	u64 va;
	u64 bus;
	u64 size;
	u32 prot;
};

static void npu_debugfs_extent(struct seq_file *m, const struct npu_extent *extent)
{
	seq_printf(m, "  %#012llx - %#012llx -> %#llx %c%c%c\n", extent->va,
		   extent->va + extent->size, extent->bus, extent->prot & NPU_PT_READ ? 'r' : '-',
		   extent->prot & NPU_PT_WRITE ? 'w' : '-', extent->prot & NPU_PT_EXEC ? 'x' : '-');
}

/* Gives the number of lines that are left. */
static u32 npu_debugfs_tables(struct seq_file *m, const struct npu_pt *pt, u32 left)
{
	struct npu_extent last = {}, leaf = {};

	while (left && npu_pt_next(pt, &leaf.va, &leaf.size, &leaf.bus, &leaf.prot)) {
		if (last.size && last.va + last.size == leaf.va && last.prot == leaf.prot &&
		    last.bus + last.size == leaf.bus) {
			last.size += leaf.size;
		} else {
			if (last.size) {
				npu_debugfs_extent(m, &last);
				left--;
			}
			last = leaf;
		}
		leaf.va += leaf.size;
	}
	if (!left)
		seq_puts(m, "  ...\n");
	else if (last.size)
		npu_debugfs_extent(m, &last);
	return left;
}

static int npu_debugfs_vm(struct seq_file *m, void *unused)
{
	struct npu_device *ndev = npu_debugfs_device(m);
	struct npu_client *client;
	u32 left = NPU_SHOW_EXTENTS;

	mutex_lock(&ndev->clients_lock);
	list_for_each_entry(client, &ndev->clients, link) {
		struct npu_vm *vm = &client->vm;

		mutex_lock(&vm->lock);
		seq_printf(m, "client %llu: process %u context %u", client->id,
			   client->opener.pid, vm->context);
		if (vm->pt.root) {
			seq_printf(m, " root %#llx tables %u\n", npu_pt_root(&vm->pt),
				   vm->pt.tables);
			left = npu_debugfs_tables(m, &vm->pt, left);
		} else {
			seq_puts(m, "\n");
		}
		mutex_unlock(&vm->lock);
	}
	mutex_unlock(&ndev->clients_lock);
	return 0;
}

static void npu_debugfs_log_entry(struct seq_file *m, const struct npu_log_entry *entry)
{
	seq_printf(m, "%u tick %llu %s queue %u ", entry->sequence, entry->tick,
		   npu_log_name(entry->what), entry->queue);
	switch (entry->what) {
	case NPU_LOG_ADMIN:
		seq_printf(m, "%s: %s, address %#llx\n", npu_admin_op_name(entry->code),
			   npu_admin_status_name(entry->arg0), entry->arg1);
		break;
	case NPU_LOG_JOB:
		seq_printf(m, "cmd_id %#x: %s, va %#llx\n", entry->arg0,
			   npu_job_status_name(entry->code), entry->arg1);
		break;
	case NPU_LOG_RING_FAULT:
		seq_printf(m, "%s at %#llx\n", npu_fault_name(entry->code), entry->arg1);
		break;
	default:
		seq_printf(m, "code %u arg %#x %#llx\n", entry->code, entry->arg0, entry->arg1);
		break;
	}
}

/* The oldest first: behind the newest in the ring. */
static void npu_debugfs_log(struct seq_file *m, const struct npu_log_entry *entries)
{
	u32 newest = 0;
	u32 i;

	for (i = 0; i < NPU_LOG_ENTRIES; i++)
		if (entries[i].sequence > entries[newest].sequence)
			newest = i;
	for (i = 1; i <= NPU_LOG_ENTRIES; i++)
		if (entries[(newest + i) % NPU_LOG_ENTRIES].sequence)
			npu_debugfs_log_entry(m, &entries[(newest + i) % NPU_LOG_ENTRIES]);
}

static int npu_debugfs_firmware_log(struct seq_file *m, void *unused)
{
	struct npu_device *ndev = npu_debugfs_device(m);
	struct npu_log_entry *entries = kzalloc(NPU_FWLOG_BYTES, GFP_KERNEL);
	int ret = -ENODEV;
	int idx;

	if (!entries)
		return -ENOMEM;
	if (drm_dev_enter(&ndev->drm, &idx)) {
		ret = npu_fwlog_read(ndev, entries);
		drm_dev_exit(idx);
	}
	if (!ret)
		npu_debugfs_log(m, entries);
	kfree(entries);
	return ret;
}

static const struct drm_debugfs_info npu_debugfs_files[] = {
	{ "npu_state", npu_debugfs_state, 0, NULL },
	{ "npu_rings", npu_debugfs_rings, 0, NULL },
	{ "npu_vm", npu_debugfs_vm, 0, NULL },
	{ "npu_firmware_log", npu_debugfs_firmware_log, 0, NULL },
};

static int npu_debugfs_reset(void *data, u64 value)
{
	struct npu_device *ndev = data;
	int idx;

	if (!drm_dev_enter(&ndev->drm, &idx))
		return -ENODEV;
	npu_device_request_reset(ndev, NPU_DUMP_REQUEST);
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
