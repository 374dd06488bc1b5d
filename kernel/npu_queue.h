/* SPDX-License-Identifier: GPL-2.0-only */
/* Job queues. */
#ifndef NPU_QUEUE_H
#define NPU_QUEUE_H

#include <linux/kref.h>
#include <linux/sched.h>
#include <drm/drm_file.h>
#include <drm/gpu_scheduler.h>

#include "npu_cq.h"
#include "npu_job.h"

struct npu_client;

/**
 * struct npu_flight - a job that the device has been given
 * @submission: it belongs to; NULL: this tag is free
 * @index: of the job in its submission
 * @cmd_id: what the device calls it: tag and a count that differs each time
 * @position: count of entries in the ring before it
 */
struct npu_flight {
	struct npu_submission *submission;
	u32 index;
	u32 cmd_id;
	u32 position;
};

/**
 * struct npu_stats - what jobs did
 *
 * As in struct drm_npu_queue_query and struct drm_npu_account.
 */
struct npu_stats {
	u64 submitted;
	u64 done;
	u64 failed;
	u64 cycles;
	u64 resets;
	u64 macs;
	u64 bytes_read;
	u64 bytes_written;
};

/**
 * struct npu_queue - a queue and its slot
 * @ref: held by the client and each submission
 * @ndev: device, referenced, as is this module
 * @client_id: for traces and dumps
 * @pid: process that opened the client's file
 * @comm: its name
 * @release_work: the end, which must not run on the scheduler's own workqueue
 * @sched: a scheduler with one entity: order is the queue's, and who comes
 *	first among queues is the firmware's choice
 * @entity: the entity
 * @link: in the device's list
 * @touched: in a list of npu_cq_ring_poll()
 * @desc: how the firmware knows it
 * @ring: completion ring
 * @mem: submission ring, and the shadow block behind it
 * @submit_lock: makes taking a number, arming and pushing one step, and guards
 *	@dead and @seqno; nests inside reservations
 * @dead: takes no more submissions
 * @live: created in the device, or to be created again by a reset; guarded by
 *	the device's lists_lock
 * @fence_context: context of the fences
 * @seqno: number of the last submission
 * @lock: guards all below; taken in interrupts, nests inside @ring's lock
 * @sq: submission ring
 * @flights: by tag
 * @free_tags: stack of free tags
 * @free_count: their number
 * @sequence: makes cmd_id differ
 * @running: submissions that the scheduler has handed over, in order
 * @issue: first of @running with a job that the device was not given, or NULL
 * @gone: 0, or the error that jobs end with, which the device is not given
 * @banned: hung the device
 * @broken: the firmware cannot use the ring
 * @stats: counters
 * @failure: completion of the last job that failed
 * @failed_job: its number
 * @failed_insn_va: its instructions
 * @failed_insn_count: their number
 * @progress_base: cycles of @stats that the shadow block does not count, since
 *	a reset has zeroed it
 * @shown: cycles that fdinfo has shown
 * @seen_at: when signs of life were last seen, in jiffies
 * @seen_heartbeat: HOST.HEARTBEAT then
 * @seen_progress: progress of the queue then
 * @seen_done: jobs done then
 */
struct npu_queue {
	struct kref ref;
	struct npu_device *ndev;
	u64 client_id;
	u32 pid;
	char comm[TASK_COMM_LEN];
	struct work_struct release_work;
	struct drm_gpu_scheduler sched;
	struct drm_sched_entity entity;
	struct list_head link;
	struct list_head touched;
	struct npu_queue_desc desc;
	struct npu_cq_ring *ring;
	struct npu_mem mem;

	struct mutex submit_lock; /* orders submissions, guards dead and seqno */
	bool dead;
	bool live;
	u64 fence_context;
	u64 seqno;

	spinlock_t lock; /* guards all below */
	struct npu_sq sq;
	struct npu_flight *flights;
	u16 *free_tags;
	u32 free_count;
	u32 sequence;
	struct list_head running;
	struct npu_submission *issue;
	int gone;
	bool banned;
	bool broken;
	struct npu_stats stats;
	struct npu_cqe failure;
	u64 failed_job;
	u64 failed_insn_va;
	u32 failed_insn_count;

	u64 progress_base;
	u64 shown;
	unsigned long seen_at;
	u32 seen_heartbeat;
	u64 seen_progress;
	u64 seen_done;
};

static inline struct npu_queue *npu_queue_get(struct npu_queue *queue)
{
	kref_get(&queue->ref);
	return queue;
}

void npu_queue_put(struct npu_queue *queue);
struct npu_queue *npu_queue_lookup(struct npu_client *client, u32 id);
void npu_queue_destroy(struct npu_queue *queue);
void npu_queue_retire(struct npu_client *client, struct npu_queue *queue);
struct npu_stats npu_queue_stats(struct npu_queue *queue);
void npu_stats_add(struct npu_stats *sum, const struct npu_stats *stats);

/* npu_flight.c: jobs on their way through the device */
int npu_flights_init(struct npu_queue *queue);
void npu_flights_fini(struct npu_queue *queue);
void npu_queue_rewind(struct npu_queue *queue);
int npu_queue_start(struct npu_queue *queue, struct npu_submission *submission);
int npu_queue_job_ended(struct npu_queue *queue, const struct npu_cqe *cqe);
void npu_queue_advance(struct npu_queue *queue);
void npu_queue_fail_all(struct npu_queue *queue, int error, bool ban);
void npu_queue_fail_started(struct npu_queue *queue);
void npu_queue_kick(struct npu_queue *queue);
void npu_queue_broken(struct npu_queue *queue);
struct npu_flight *npu_queue_flight_after(struct npu_queue *queue, const struct npu_flight *last);
bool npu_queue_oldest(struct npu_queue *queue, u32 *cmd_id);
bool npu_queue_idle(struct npu_queue *queue);
bool npu_queue_runs(struct npu_queue *queue);
bool npu_queue_in_flight(struct npu_queue *queue, u32 cmd_id);

/* npu_recover.c */
void npu_queue_recover(struct npu_queue *queue);

int npu_ioctl_queue_create(struct drm_device *drm, void *data, struct drm_file *file);
int npu_ioctl_queue_destroy(struct drm_device *drm, void *data, struct drm_file *file);
int npu_ioctl_queue_query(struct drm_device *drm, void *data, struct drm_file *file);

#endif
