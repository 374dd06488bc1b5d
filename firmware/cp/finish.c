// SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 OR MIT
/*
 * Ends of jobs and of admin operations, in a FIFO of three steps: the report
 * is written; entries of one ring that follow each other are written, the first
 * of them with the phase of the pass before; then the first one's phase word.
 * A host that takes them in order sees none before all are there.
 */
#include "firmware/cp/fw.h"

/* So many entries do not wait for company. */
#define BATCH_SOON	(FINISH_SLOTS / 2)

#define SLOT(i)		((i) & (FINISH_SLOTS - 1))

/*
 * Until an entry is written its last word is the address of its struct cq, and
 * HAS_REPORT while its report is not yet done with.
 */
#define HAS_REPORT	1u

static struct npu_cqe entry[FINISH_SLOTS];

/* For those that write a report: what, and to where. */
static struct {
	u64 va;
	u32 context;
	u32 word[REPORT_WORDS];
} report[FINISH_SLOTS];

static u32 put;		/* records made */
static u32 reported;	/* records whose report is done with */
static u32 sent;	/* entries with their phase in memory */

static struct cq *batch_cq;
static u32 batch;	/* entries of the transfer under way, 0: none */
static bool writing_phase;

bool finish_room(void)
{
	return put - sent < FINISH_SLOTS;
}

bool finish_room_for(u32 n)
{
	return put - sent + n <= FINISH_SLOTS;
}

bool finish_idle(void)
{
	return put == sent;
}

/* For waiting until what has been put in so far is in memory. */
u32 finish_mark(void)
{
	return put;
}

bool finish_passed(u32 mark)
{
	return (s32)(sent - mark) >= 0;
}

static inline struct cq *ring_of(const struct npu_cqe *cqe)
{
	return (struct cq *)(cqe->phase & ~HAS_REPORT);
}

/* The next entry, all zeros but for the first two words. */
static inline struct npu_cqe *open(struct cq *cq, u32 cmd_id, u32 status)
{
	u32 *word = (u32 *)&entry[SLOT(put)];
	u32 i;

	word[15] = (u32)cq;
	word[0] = cmd_id;
	word[1] = status;
	for (i = 2; i < 14; i += 4) {
		word[i] = 0;
		word[i + 1] = 0;
		word[i + 2] = 0;
		word[i + 3] = 0;
	}
	return &entry[SLOT(put)];
}

static inline void close(bool with_report)
{
	if (unlikely(with_report)) {
		entry[SLOT(put)].phase |= HAS_REPORT;
		fw.work |= WORK_AUX;
	} else if (likely(reported == put)) {
		reported++;
	}
	put++;
	if (put - sent >= BATCH_SOON)
		finish_kick_cq();
}

static inline void set_source(struct npu_cqe *cqe, const struct queue *q)
{
	((u32 *)cqe)[14] = q->id | q->fetched << 16;
}

static void want_report(u64 va, u32 context, const volatile u32 *from, u32 status)
{
	u32 i, *to = report[SLOT(put)].word;

	report[SLOT(put)].va = va;
	report[SLOT(put)].context = context;
	if (from) {
		for (i = 0; i < REPORT_WORDS; i++)
			to[i] = from[i];
	} else {
		memset(to, 0, sizeof(struct npu_job_report));
	}
	to[0] = (to[0] & 0xffff0000u) | status;
	to[30] = (to[30] & 0xffffu) | context << 16;
}

static void count(const struct queue *q, u32 cmd_id, u32 status, u64 fault_va)
{
	struct npu_telemetry *t = &fw.counters;

	if (status)
		log_add(NPU_LOG_JOB, status, q->id, cmd_id, fault_va);
	if (status == NPU_JOB_STATUS_FAULT)
		t->faults++;
	else if (status == NPU_JOB_STATUS_LIMIT)
		t->limits++;
	else if (status == NPU_JOB_STATUS_ABORTED || status == NPU_JOB_STATUS_CANCELED)
		t->aborts++;
}

/* Counters are mostly small, and 64-bit sums are not cheap here. */
static inline void add(u64 *sum, u32 low, u32 high)
{
	u32 *word = (u32 *)sum;

	word[0] += low;
	if (unlikely(word[0] < low))
		high++;
	if (unlikely(high))
		word[1] += high;
}

static inline void copy_counter(u32 *to, const volatile u32 *from, u64 *sum)
{
	u32 low = from[0], high = from[1];

	to[0] = low;
	to[1] = high;
	if (low | high)
		add(sum, low, high);
}

static inline void copy_counters(u32 *to, const volatile u32 *from, struct queue *q)
{
	struct npu_telemetry *t = &fw.counters;

	static_assert(offsetof(struct npu_cqe, cycles) == 8 &&
		      offsetof(struct npu_job_report, cycles) == 32, "copied as words");
	copy_counter(to + 2, from + 8, &q->cycles);
	copy_counter(to + 4, from + 10, &t->macs);
	copy_counter(to + 6, from + 12, &t->bytes_read);
	copy_counter(to + 8, from + 14, &t->bytes_written);
}

/* What only some jobs need; ends as finish_started() does. */
static noinline void finish_unusual(const struct job *job, const volatile u32 *results,
				    u32 status)
{
	struct npu_cqe *cqe = &entry[SLOT(put)];
	u32 *to = (u32 *)cqe;

	count(job->queue, job->cmd_id, status, results[2] | (u64)results[3] << 32);
	if (status == NPU_JOB_STATUS_FAULT) {
		to[10] = results[2];
		to[11] = results[3];
		to[13] = results[30] & 0xffffu;
		event_fault(job->queue, cqe);
	}
	if (job->report_va)
		want_report(job->report_va, job->queue->context, results, status);
	close(job->report_va);
}

/* @results: the report window or the saved report. */
void finish_started(const struct job *job, const volatile u32 *results, u32 status)
{
	struct npu_cqe *cqe = &entry[SLOT(put)];
	struct queue *q = job->queue;
	u32 *to = (u32 *)cqe;

	to[0] = job->cmd_id;
	to[1] = status | (results[0] & 0xffff0000u);
	copy_counters(to, results, q);
	to[10] = 0;
	to[11] = 0;
	to[12] = results[1];
	to[13] = 0;
	to[15] = (u32)q->cq;
	set_source(cqe, q);
	add(&fw.counters.jobs, 1, 0);
	if (unlikely(status || job->report_va))
		finish_unusual(job, results, status);
	else
		close(false);
}

void finish_unstarted(struct queue *q, const struct npu_job_sqe *sqe, u32 status)
{
	set_source(open(q->cq, sqe->cmd_id, status), q);
	add(&fw.counters.jobs, 1, 0);
	if (unlikely(status))
		count(q, sqe->cmd_id, status, 0);
	if (unlikely(sqe->report_va))
		want_report(sqe->report_va, q->context, NULL, status);
	close(sqe->report_va);
}

void finish_invalid(struct queue *q, const struct npu_job_sqe *sqe, u32 offset)
{
	struct npu_cqe *cqe = open(q->cq, sqe->cmd_id, NPU_JOB_STATUS_INVALID);

	set_source(cqe, q);
	cqe->insn = offset;
	count(q, sqe->cmd_id, NPU_JOB_STATUS_INVALID, 0);
	add(&fw.counters.jobs, 1, 0);
	close(false);
}

void finish_admin(u32 cmd_id, u32 status, u64 result0, u64 result1)
{
	struct npu_cqe *cqe = open(&fw.cqs[0], cmd_id, status);

	cqe->cycles = result0;
	cqe->macs = result1;
	set_source(cqe, &fw.queues[0]);
	close(false);
}

void finish_kick_report(void)
{
	u32 i;

	for (; reported != put; reported++) {
		i = SLOT(reported);
		if (entry[i].phase & HAS_REPORT) {
			aux_start(AUX_REPORT, report[i].context, report[i].va, report[i].word,
				  sizeof(struct npu_job_report), true);
			return;
		}
	}
}

void finish_report_done(const struct dma_end *end)
{
	struct npu_cqe *cqe = &entry[SLOT(reported)];

	if (end->fault && cqe->status == NPU_JOB_STATUS_OK) {
		cqe->status = NPU_JOB_STATUS_REPORT_FAULT;
		cqe->fault_code = end->fault;
		cqe->fault_unit = NPU_UNIT_DMA;
		cqe->fault_access = NPU_ACCESS_WRITE;
		cqe->fault_va = end->va;
	}
	cqe->phase &= ~HAS_REPORT;
	reported++;
}

static inline u32 place(const struct cq *cq)
{
	return cq->tail & ((1u << cq->log_size) - 1);
}

static inline u64 address(const struct cq *cq, u32 place, u32 offset)
{
	return cq->address + (place * sizeof(struct npu_cqe) + offset);
}

static inline u32 phase(const struct cq *cq)
{
	return ~(cq->tail >> cq->log_size) & 1;
}

/* Entries from @sent on that go to @cq together, without a wrap on either side. */
static u32 batch_size(const struct cq *cq)
{
	u32 most = reported - sent;
	u32 room = (1u << cq->log_size) - place(cq);
	u32 n = 1;

	if (most > room)
		most = room;
	if (most > FINISH_SLOTS - SLOT(sent))
		most = FINISH_SLOTS - SLOT(sent);
	while (n < most && ring_of(&entry[SLOT(sent) + n]) == cq)
		n++;
	return n;
}

/* @n records are over: there is room for what waited for it. */
static void drop(u32 n)
{
	sent += n;
	if (fw.quick.head)
		fw.work |= WORK_SCHED;
	if (fw.queues[0].buffered || fw.admin_active)
		fw.work |= WORK_ADMIN;
}

static void set_phases(struct npu_cqe *cqe, const struct cq *cq, u32 n)
{
	u32 value = phase(cq);

	/* The first one's is written when all of this is in memory. */
	cqe->phase = value ^ 1;
	while (--n)
		(++cqe)->phase = value;
}

/* Whether there is something for finish_kick_cq() to do. */
bool finish_waits(void)
{
	return !batch && sent != reported;
}

noinline void finish_kick_cq(void)
{
	struct cq *cq;

	if (!finish_waits())
		return;
	cq = ring_of(&entry[SLOT(sent)]);
	if (cq->dead) {
		drop(1);
		return;
	}
	fw.held = false;
	batch = reported - sent == 1 ? 1 : batch_size(cq);
	batch_cq = cq;
	writing_phase = false;
	set_phases(&entry[SLOT(sent)], cq, batch);
	dma_start(DMA_CQ, 0, address(cq, place(cq), 0), &entry[SLOT(sent)],
		  batch * sizeof(struct npu_cqe), true);
}

static void cq_fault(struct cq *cq, const struct dma_end *end)
{
	u32 i;

	if (cq == &fw.cqs[0])
		fw_fail(NPU_BOOT_ERROR_DMA, end->fault);
	cq->dead = true;
	for (i = 1; i < fw.queue_count; i++)
		if (fw.queues[i].state != QUEUE_FREE && fw.queues[i].cq == cq)
			queue_fault(&fw.queues[i], end, NPU_ACCESS_WRITE);
	drop(batch);
	batch = 0;
}

static void write_phase(struct cq *cq)
{
	struct npu_cqe *cqe = &entry[SLOT(sent)];

	writing_phase = true;
	cqe->phase ^= 1;
	dma_start(DMA_CQ, 0, address(cq, place(cq), offsetof(struct npu_cqe, phase)),
		  &cqe->phase, sizeof(cqe->phase), true);
}

void finish_cq_done(const struct dma_end *end)
{
	struct cq *cq = batch_cq;

	if (end->fault) {
		cq_fault(cq, end);
	} else if (!writing_phase) {
		write_phase(cq);
	} else {
		cq->tail += batch;
		drop(batch);
		batch = 0;
		sys_write(HOST_IRQ, cq->vector);
	}
}
