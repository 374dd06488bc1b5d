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

static u32 check_slowly(const struct npu_job_sqe *sqe)
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
	if (sqe->reserved1[0] | sqe->reserved1[1])
		return BAD(reserved1);
	return sqe->op == NPU_JOB_RUN ? 0 : JOB_IS_NOP;
}

/*
 * 0 for a good RUN, JOB_IS_NOP for a good NOP, else the offset of the first bad
 * field + 1. The usual RUN is recognised without looking for what is wrong.
 */
u32 job_check(const struct npu_job_sqe *sqe)
{
	const u32 *word = (const u32 *)sqe;
	u32 zero;

	static_assert(offsetof(struct npu_job_sqe, insn_va) == 8 &&
		      offsetof(struct npu_job_sqe, region_va) == 24 &&
		      offsetof(struct npu_job_sqe, limit) == 32 &&
		      offsetof(struct npu_job_sqe, report_va) == 40, "looked at as words");
	zero = word[0] ^ NPU_JOB_RUN;
	zero |= (word[2] | word[6]) & 15;
	zero |= word[9];
	zero |= word[10] & (NPU_REPORT_ALIGN - 1);
	zero |= word[12] | word[13] | word[14] | word[15];
	if (zero || !sqe->insn_count || sqe->region_count > NPU_REGION_TABLE_MAX)
		return check_slowly(sqe);
	if (!sqe->region_count && word[6] | word[7])
		return BAD(region_va);
	return 0;
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
	fw.sole = NULL;
	return true;
}

bool mark_present(const struct queue *q, u32 index)
{
	return mark_find(q->id, index);
}

bool mark_take(struct queue *q, u32 index)
{
	struct mark *m = mark_find(q->id, index);

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

static void run_one(struct queue *q)
{
	const struct npu_job_sqe *sqe = q->head;
	bool aborted = q->marks && mark_take(q, q->fetched - q->buffered);

	if (sqe->reserved0 && sqe->reserved0 != JOB_IS_NOP)
		finish_invalid(q, sqe, sqe->reserved0 - 1);
	else if (q->kill)
		finish_unstarted(q, sqe, q->kill);
	else
		finish_unstarted(q, sqe,
				 aborted ? NPU_JOB_STATUS_ABORTED : NPU_JOB_STATUS_OK);
}

void job_run_quick(void)
{
	struct queue *q;

	while (fw.quick.head && finish_room()) {
		q = entry_of(list_pop(&fw.quick), struct queue, ready);
		run_one(q);
		queue_take(q);
		while (!q->kill && q->buffered && finish_room() && job_is_quick(q)) {
			run_one(q);
			queue_take(q);
		}
		queue_taken(q);
	}
}
