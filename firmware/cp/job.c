// SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 OR MIT
/* Checking of job entries, and jobs that end without a core. */
#include "firmware/cp/fw.h"

#define BAD(field)	(offsetof(struct npu_job_sqe, field) + 1)

static u32 check_nop(const struct npu_job_sqe *sqe)
{
	if (sqe->insn_va)
		return BAD(insn_va);
	if (sqe->insn_count)
		return BAD(insn_count);
	if (sqe->region_count)
		return BAD(region_count);
	if (sqe->region_va)
		return BAD(region_va);
	return sqe->limit ? BAD(limit) : 0;
}

static u32 check_run(const struct npu_job_sqe *sqe)
{
	if (sqe->insn_va % 16)
		return BAD(insn_va);
	if (!sqe->insn_count)
		return BAD(insn_count);
	if (sqe->region_count > NPU_REGION_TABLE_MAX)
		return BAD(region_count);
	if (sqe->region_va % 16 || (sqe->region_va && !sqe->region_count))
		return BAD(region_va);
	return sqe->limit > NPU_LIMIT_MAX ? BAD(limit) : 0;
}

/* 0 for a good entry, else the offset of the first bad field + 1. */
u32 job_check(const struct npu_job_sqe *sqe)
{
	u32 bad;

	if (sqe->op > NPU_JOB_RUN)
		return BAD(op);
	if (sqe->flags)
		return BAD(flags);
	if (sqe->reserved0)
		return BAD(reserved0);
	bad = sqe->op == NPU_JOB_RUN ? check_run(sqe) : check_nop(sqe);
	if (bad)
		return bad;
	if (sqe->report_va % NPU_REPORT_ALIGN)
		return BAD(report_va);
	return sqe->reserved1[0] | sqe->reserved1[1] ? BAD(reserved1) : 0;
}

/* Entries that are to be aborted when their turn comes. */
static struct mark {
	u16 queue;
	u32 index;
} marks[MARK_SLOTS];

static struct mark *mark_find(u32 queue, u32 index)
{
	u32 i;

	for (i = 0; i < MARK_SLOTS; i++)
		if (marks[i].queue == queue && (!queue || marks[i].index == index))
			return &marks[i];
	return NULL;
}

bool mark_add(struct queue *q, u32 index)
{
	struct mark *m = mark_find(0, 0);

	if (!m)
		return false;
	m->queue = q->id;
	m->index = index;
	q->marks++;
	return true;
}

bool mark_present(const struct queue *q, u32 index)
{
	return q->marks && mark_find(q->id, index);
}

bool mark_take(struct queue *q, u32 index)
{
	struct mark *m = q->marks ? mark_find(q->id, index) : NULL;

	if (!m)
		return false;
	m->queue = 0;
	q->marks--;
	return true;
}

void mark_drop_all(struct queue *q)
{
	u32 i;

	for (i = 0; q->marks && i < MARK_SLOTS; i++) {
		if (marks[i].queue == q->id) {
			marks[i].queue = 0;
			q->marks--;
		}
	}
}

/* Whether the next entry of @q, which has one, ends without a core. */
bool job_is_quick(struct queue *q)
{
	const struct npu_job_sqe *sqe = queue_head(q);

	return q->kill || sqe->reserved0 || sqe->op != NPU_JOB_RUN ||
	       mark_present(q, q->fetched - q->buffered);
}

static void run_one(struct queue *q)
{
	const struct npu_job_sqe *sqe = queue_head(q);
	bool aborted = mark_take(q, q->fetched - q->buffered);

	if (sqe->reserved0)
		finish_invalid(q, sqe, sqe->reserved0 - 1);
	else if (q->kill)
		finish_job(q, sqe, NULL, q->kill);
	else
		finish_job(q, sqe, NULL, aborted ? NPU_JOB_STATUS_ABORTED : NPU_JOB_STATUS_OK);
}

void job_run_quick(void)
{
	struct queue *q;

	while (fw.quick.head && finish_room()) {
		q = entry_of(list_pop(&fw.quick), struct queue, ready);
		run_one(q);
		queue_consumed(q);
	}
}
