// SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 OR MIT
/*
 * Ends of jobs and of admin operations, in a FIFO of three steps: the report
 * is written, the completion entry is written with the phase of the pass
 * before, and then its phase word. Entries of one ring that follow each other
 * share a transfer and an interrupt.
 */
#include "firmware/cp/fw.h"

#define SLOT(i)		((i) & (FINISH_SLOTS - 1))

static struct record {
	struct cq *cq;
	u64 report_va;
	u16 context;
} record[FINISH_SLOTS];

static struct npu_cqe entry[FINISH_SLOTS];
static u32 report[FINISH_SLOTS][REPORT_WORDS];

static u32 put;		/* records made */
static u32 reported;	/* records whose report is done with */
static u32 sent;	/* entries with their phase in memory */

static u32 batch;	/* entries of the transfer under way, 0: none */
static u32 batch_done;	/* of them with their phase in memory */
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

static struct npu_cqe *open(struct cq *cq, u32 cmd_id, u32 status)
{
	struct record *r = &record[SLOT(put)];
	u32 *word = (u32 *)&entry[SLOT(put)];
	u32 i;

	r->cq = cq;
	r->report_va = 0;
	word[0] = cmd_id;
	word[1] = status;
	for (i = 2; i < sizeof(struct npu_cqe) / 4; i += 2) {
		word[i] = 0;
		word[i + 1] = 0;
	}
	return &entry[SLOT(put)];
}

static void close(void)
{
	if (reported == put && !record[SLOT(put)].report_va) {
		reported++;
		fw.work |= WORK_CQ;
	} else {
		fw.work |= WORK_AUX;
	}
	put++;
}

static void copy_results(struct npu_cqe *cqe, const volatile u32 *from)
{
	u32 *to = (u32 *)cqe;
	u32 i, fault;

	static_assert(offsetof(struct npu_cqe, cycles) == 8 &&
		      offsetof(struct npu_job_report, cycles) == 32, "copied as words");
	fault = from[0] & 0xffff0000u;
	to[1] |= fault;
	for (i = 0; i < 8; i++)
		to[2 + i] = from[8 + i];
	to[10] = from[2];
	to[11] = from[3];
	to[12] = from[1];
	to[13] = from[30] & 0xffffu;
}

static void copy_report(u32 *to, const volatile u32 *from, u32 status, u32 context)
{
	u32 i;

	if (from) {
		for (i = 0; i < REPORT_WORDS; i++)
			to[i] = from[i];
	} else {
		memset(to, 0, sizeof(struct npu_job_report));
	}
	to[0] = (to[0] & 0xffff0000u) | status;
	to[30] = (to[30] & 0xffffu) | context << 16;
}

static void count(const struct npu_cqe *cqe)
{
	struct npu_telemetry *t = &fw.counters;

	t->jobs++;
	if (cqe->status == NPU_JOB_STATUS_FAULT)
		t->faults++;
	else if (cqe->status == NPU_JOB_STATUS_LIMIT)
		t->limits++;
	else if (cqe->status == NPU_JOB_STATUS_ABORTED || cqe->status == NPU_JOB_STATUS_CANCELED)
		t->aborts++;
	if (!cqe->cycles)
		return;
	t->cycles += cqe->cycles;
	t->macs += cqe->macs;
	t->bytes_read += cqe->bytes_read;
	t->bytes_written += cqe->bytes_written;
}

/* @results: report window or saved report, NULL for a job that has not started. */
void finish_job(struct queue *q, const struct npu_job_sqe *sqe, const volatile u32 *results,
		u32 status)
{
	struct npu_cqe *cqe = open(q->cq, sqe->cmd_id, status);
	struct record *r = &record[SLOT(put)];

	cqe->queue = q->id;
	cqe->sq_head = q->fetched;
	if (results)
		copy_results(cqe, results);
	if (sqe->report_va) {
		r->report_va = sqe->report_va;
		r->context = q->context;
		copy_report(report[SLOT(put)], results, status, q->context);
	}
	count(cqe);
	if (status == NPU_JOB_STATUS_FAULT)
		event_fault(q, cqe, cqe->core);
	close();
}

void finish_invalid(struct queue *q, const struct npu_job_sqe *sqe, u32 offset)
{
	struct npu_cqe *cqe = open(q->cq, sqe->cmd_id, NPU_JOB_STATUS_INVALID);

	cqe->queue = q->id;
	cqe->sq_head = q->fetched;
	cqe->insn = offset;
	count(cqe);
	close();
}

void finish_admin(u32 cmd_id, u32 status, u64 result0, u64 result1)
{
	struct npu_cqe *cqe = open(&fw.cqs[0], cmd_id, status);

	cqe->cycles = result0;
	cqe->macs = result1;
	cqe->sq_head = fw.queues[0].fetched;
	close();
}

void finish_kick_report(void)
{
	struct record *r;

	for (; reported != put; reported++) {
		r = &record[SLOT(reported)];
		if (r->report_va) {
			aux_start(AUX_REPORT, r->context, r->report_va, report[SLOT(reported)],
				  sizeof(struct npu_job_report), true);
			return;
		}
		fw.work |= WORK_CQ;
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
	reported++;
	fw.work |= WORK_CQ;
}

static u64 place(const struct cq *cq)
{
	u32 index = cq->tail & ((1u << cq->log_size) - 1);

	return cq->address + index * sizeof(struct npu_cqe);
}

static u32 phase(const struct cq *cq)
{
	return ~(cq->tail >> cq->log_size) & 1;
}

static u32 batch_size(const struct cq *cq)
{
	u32 most = reported - sent;
	u32 room = (1u << cq->log_size) - (cq->tail & ((1u << cq->log_size) - 1));
	u32 n = 1;

	if (most > room)
		most = room;
	if (most > FINISH_SLOTS - SLOT(sent))
		most = FINISH_SLOTS - SLOT(sent);
	while (n < most && record[SLOT(sent + n)].cq == cq)
		n++;
	return n;
}

/* What has completed in the meantime has made room. */
static void drop(u32 n)
{
	sent += n;
	if (sent != reported)
		fw.work |= WORK_CQ;
	if (fw.quick.head)
		fw.work |= WORK_SCHED;
	if (fw.queues[0].buffered || fw.admin_active)
		fw.work |= WORK_ADMIN;
}

void finish_kick_cq(void)
{
	struct cq *cq;
	u32 i;

	if (batch)
		return;
	while (sent != reported && record[SLOT(sent)].cq->dead)
		drop(1);
	if (sent == reported)
		return;
	cq = record[SLOT(sent)].cq;
	batch = batch_size(cq);
	batch_done = 0;
	writing_phase = false;
	for (i = 0; i < batch; i++)
		entry[SLOT(sent + i)].phase = phase(cq) ^ 1;
	dma_start(DMA_CQ, 0, place(cq), &entry[SLOT(sent)], batch * sizeof(struct npu_cqe), true);
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
	drop(batch - batch_done);
	batch = 0;
}

static void write_phase(struct cq *cq)
{
	struct npu_cqe *cqe = &entry[SLOT(sent)];

	cqe->phase = phase(cq);
	dma_start(DMA_CQ, 0, place(cq) + offsetof(struct npu_cqe, phase), &cqe->phase,
		  sizeof(cqe->phase), true);
}

void finish_cq_done(const struct dma_end *end)
{
	struct cq *cq = record[SLOT(sent)].cq;

	if (end->fault) {
		cq_fault(cq, end);
		return;
	}
	if (writing_phase) {
		cq->tail++;
		sent++;
		batch_done++;
	}
	if (batch_done < batch) {
		writing_phase = true;
		write_phase(cq);
		return;
	}
	batch = 0;
	drop(0);
	sys_write(HOST_IRQ, cq->vector);
}
