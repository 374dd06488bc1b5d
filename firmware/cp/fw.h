/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 OR MIT */
/*
 * State and parts of the firmware.
 *
 * One loop (main.c) turns interrupt sources into work and lets each part go
 * on; nothing waits. Each DMA channel belongs to one part:
 *
 *   fetch.c    submission entries into the buffers of their queues
 *   shadow.c   shadow blocks
 *   finish.c   job reports (DMA_AUX) and completion entries (DMA_CQ)
 *   event.c    the event ring (DMA_AUX, when no report is due)
 *   admin*.c   operations of the admin ring (DMA_AUX for what they move)
 *   sched.c    which job runs where
 *   core.c     starting, stopping and saving cores
 *   energy.c   the model of energy, power and temperature
 *   log.c      the log
 *
 * The admin ring is queue 0.
 */
#ifndef FIRMWARE_CP_FW_H
#define FIRMWARE_CP_FW_H

#include "firmware/cp/hw.h"


/* Completions, events and abort marks that can be under way. */
#define FINISH_SLOTS		64u
#define EVENT_SLOTS		16u
#define MARK_SLOTS		32u
#define MAX_BUFFER		16u
#define SCAN_ENTRIES		16u
#define JOBS_PER_CORE		NPU_PRIORITIES
#define REPORT_WORDS		(sizeof(struct npu_job_report) / 4)
#define JOB_REGISTERS		8u
#define ADMIN_PRIORITY		NPU_PRIORITIES

enum dma_channel { DMA_FETCH, DMA_CQ, DMA_AUX, DMA_SHADOW };

/* Work that the loop has to look after. */
#define WORK_ADMIN		(1u << 0)
#define WORK_SCHED		(1u << 1)
#define WORK_FETCH		(1u << 2)
#define WORK_SHADOW		(1u << 3)
#define WORK_STOP		(1u << 5)
#define WORK_AUX		(1u << 4)

struct node {
	struct node *next;
	bool on;
};

struct list {
	struct node *head;
	struct node *tail;
};

#define entry_of(node, type, member) \
	((type *)((char *)(node) - offsetof(type, member)))

static inline void list_push(struct list *list, struct node *node)
{
	node->next = NULL;
	node->on = true;
	if (list->head)
		list->tail->next = node;
	else
		list->head = node;
	list->tail = node;
}

static inline struct node *list_pop(struct list *list)
{
	struct node *node = list->head;

	if (node) {
		list->head = node->next;
		node->on = false;
	}
	return node;
}

void list_remove(struct list *list, struct node *node);

/*
 * Stopped: after a RING_FAULT, takes no more entries. Closing: being destroyed,
 * takes those up to its last tail.
 */
enum queue_state { QUEUE_FREE, QUEUE_ACTIVE, QUEUE_STOPPED, QUEUE_CLOSING };

struct cq {
	bool used;
	bool dead;
	u8 log_size;
	u8 vector;
	u16 users;
	u32 tail;
	u64 address;
};

/*
 * Entries with index in [fetched - buffered, fetched) are in @buf, the first of
 * them at @head; those in [fetched, tail) are still in the ring. @running counts
 * jobs that have started and not ended, paused ones included. While @kill is a
 * status, entries up to @kill_end end with it; @killing lasts until those and
 * the started ones have.
 */
struct queue {
	struct node ready;
	struct node fetch;
	struct node shadow_node;
	u8 state;
	u8 priority;
	u8 log_size;
	u8 buffered;
	u8 fetching;
	u8 hold;
	u8 marks;
	u8 kill;
	u16 id;
	u16 context;
	u16 space;
	u16 running;
	u32 fetched;
	u32 tail;
	u32 kill_end;
	u32 core_mask;
	bool has_shadow;
	bool killing;
	u64 ring;
	u64 shadow;
	u64 limit;
	u64 cycles;
	struct cq *cq;
	struct npu_job_sqe *buf;
	struct npu_job_sqe *buf_end;
	struct npu_job_sqe *head;
};

/*
 * A job that has started. What it needs to go on, @resume_index to @report, is
 * there while it is paused.
 */
struct job {
	struct node node;
	struct queue *queue;
	u32 cmd_id;
	u64 report_va;
	u32 resume_index;
	u32 registers[JOB_REGISTERS];
	u32 report[REPORT_WORDS];
};

/*
 * @job is the job that runs, or room for the next one. Whether it runs, is being
 * stopped, or was asked to yield is in the masks of struct fw, by @bit.
 */
struct core {
	u32 base;
	u32 bit;
	struct job *job;
	u8 kill;
	bool killed;
};

struct fw {
	u32 work;
	u32 dma_busy;
	u32 cores;
	u32 core_all;		/* a bit a core, as in those that follow */
	u32 core_idle;
	u32 core_stopping;
	u32 core_asked;		/* to yield */
	u32 buffer_entries;
	u32 buffer_low;		/* with so many left the next are fetched */
	u32 queue_count;	/* with queue 0 */
	u32 cq_count;
	u32 context_count;
	u32 bus_high_bits;	/* bits of the high word of a bus address */
	u32 features;
	bool timer_armed;
	bool admin_active;
	bool held;		/* the timer is set for held completions */
	u64 heartbeat_at;
	u32 heartbeat;
	struct queue *queues;
	struct cq *cqs;
	struct list fetch[NPU_PRIORITIES + 1];
	struct list ready[NPU_PRIORITIES];
	struct list paused[NPU_PRIORITIES];
	struct queue *sole;	/* see find_sole(); NULL as soon as that would not hold */
	struct list quick;	/* queues whose next entry needs no core */
	struct list shadow;
	struct list free_jobs;
	u32 fetch_mask;		/* priorities with something in fetch */
	u32 ready_mask;		/* and in ready or paused */
	struct core core[NPU_MAX_CORES];
	struct npu_telemetry counters;
};

extern struct fw fw;

/* main.c */
_Noreturn void fw_main(void);
void fw_trap(u32 cause);
_Noreturn void fw_fail(u32 error, u32 detail);
_Noreturn void fw_sleep_for_ever(void);
void timer_arm(void);

/* boot.c */
void boot(void);

static inline bool bus_has(u64 address)
{
	return !((u32)(address >> 32) >> fw.bus_high_bits);
}

/* dma.c */
struct dma_end {
	u32 fault;		/* NPU_FAULT_*, 0 for a good end */
	u64 va;
};

void dma_start(u32 channel, u32 context, u64 host, const void *local, u32 len, bool to_host);
void dma_events(void);

static inline bool dma_is_busy(u32 channel)
{
	return fw.dma_busy & 1u << channel;
}

/* queue.c */
void doorbells(void);
void queue_new_tail(struct queue *q, u32 tail);
void queue_update(struct queue *q);
void queue_want_fetch(struct queue *q);
void queue_taken(struct queue *q);
void queue_fault(struct queue *q, const struct dma_end *end, u32 access);
void queue_kill(struct queue *q, u32 status);
void queue_settle(struct queue *q);
void queue_reconsider(struct queue *q);
bool queue_may_fetch(const struct queue *q);


/* The entry at the head has been dealt with. */
static inline void queue_take(struct queue *q)
{
	if (++q->head == q->buf_end)
		q->head = q->buf;
	q->buffered--;
}

/* fetch.c */
void fetch_start(struct queue *q);
void fetch_kick(void);
void fetch_done(const struct dma_end *end);

/* shadow.c */
void shadow_request(struct queue *q);
bool shadow_is_busy(const struct queue *q);
void shadow_kick(void);
void shadow_done(const struct dma_end *end);

/* job.c */
u32 job_check(const struct npu_job_sqe *sqe);
void job_run_quick(void);
bool mark_add(struct queue *q, u32 index);
bool mark_present(const struct queue *q, u32 index);
bool mark_take(struct queue *q, u32 index);
void mark_drop_all(struct queue *q);

#define JOB_IS_NOP	0xffffu	/* job_check()'s word for a good NOP */

/* Whether the next entry of @q, which has one, ends without a core. */
static inline bool job_is_quick(const struct queue *q)
{
	return q->head->reserved0 || q->kill ||
	       (q->marks && mark_present(q, q->fetched - q->buffered));
}

/* sched.c */
extern const u8 highest_priority[1u << NPU_PRIORITIES];

void schedule(void);
void schedule_push(struct list *list, struct node *node, u32 priority);
void schedule_left(struct queue *q);

/* core.c */
void core_start(struct core *c, struct queue *q);
void core_resume(struct core *c, struct job *job);
void core_events(u32 mask);
void core_stop(struct core *c, u32 status);
void core_poll_stopping(void);
void core_end_paused(struct job *job, u32 status);
void core_request_yield(struct core *c);
u64 core_counter(const struct core *c, u32 offset);

static inline u64 core_cycles(const struct core *c)
{
	return core_counter(c, offsetof(struct npu_job_report, cycles));
}

static inline bool core_runs(const struct core *c, const struct queue *q)
{
	return !(fw.core_idle & c->bit) && c->job->queue == q;
}

/* finish.c */
bool finish_room(void);
bool finish_room_for(u32 n);
bool finish_idle(void);
u32 finish_mark(void);
bool finish_passed(u32 mark);
void finish_started(const struct job *job, const volatile u32 *results, u32 status);
void finish_unstarted(struct queue *q, const struct npu_job_sqe *sqe, u32 status);
void finish_invalid(struct queue *q, const struct npu_job_sqe *sqe, u32 offset);
void finish_admin(u32 cmd_id, u32 status, u64 result0, u64 result1);
void finish_kick_report(void);
void finish_report_done(const struct dma_end *end);
bool finish_waits(void);
void finish_kick_cq(void);
void finish_cq_done(const struct dma_end *end);

/* dma_aux.c: sharing of DMA_AUX */
enum aux_owner { AUX_REPORT, AUX_ADMIN, AUX_EVENT };

void aux_start(u32 owner, u32 context, u64 host, const void *local, u32 len, bool to_host);
void aux_kick(void);
void aux_done(const struct dma_end *end);

/* event.c */
void event_fault(const struct queue *q, const struct npu_cqe *cqe);
void event_ring_fault(u32 queue, u32 context, const struct dma_end *end, u32 access);
void event_ring_set(u64 address, u32 log_size);
bool event_idle(void);
void event_retry_lost(void);
void event_kick(void);
void event_done(const struct dma_end *end);

/* energy.c */
void energy_look(void);
void energy_tell(struct npu_telemetry *t);

/* log.c */
void log_add(u32 what, u32 code, u32 queue, u32 arg0, u64 arg1);
void log_admin(const struct npu_admin_sqe *sqe, u32 status);
void *log_bytes(void);

/* admin.c */
void admin_step(void);
void admin_kick_dma(void);
void admin_dma_done(const struct dma_end *end);

#endif /* FIRMWARE_CP_FW_H */
