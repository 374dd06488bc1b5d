// SPDX-License-Identifier: MIT
/*
 * Streams, jobs and events. A stream is a queue of the backend and memory for
 * the region tables and reports of the jobs submitted last.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "firmware/host/npu_host.h"
#include "userspace/libnpu/device.h"
#include "userspace/libnpu/report.h"

#define SLOTS		256u
#define DEFAULT_PRIORITY	1u

/* Per job, in memory that the device reads and writes. */
struct slot {
	struct npu_job_report report;
	struct npu_region regions[NPU_REGION_TABLE_MAX];
};

_Static_assert(sizeof(struct slot) % NPU_REPORT_ALIGN == 0, "slots keep reports aligned");

/**
 * struct npu_stream - in-order queue of jobs
 * @dev: holds a reference
 * @queue: of the backend
 * @lock: guards everything below
 * @slots: struct slot for job n at n % SLOTS; NULL until a job needs it
 * @null: whether the job of a slot is a null job
 * @last: number of the last job submitted; atomic for readers without the lock
 * @ended: number of a job that has ended, as have all before it; what is known
 *	without asking the backend; atomic
 * @waits: what the next submission must wait for
 * @wait_count: number of @waits
 */
struct npu_stream {
	struct npu_device *dev;
	uint32_t queue;
	pthread_mutex_t lock;
	struct npu_buffer *slots;
	bool null[SLOTS];
	uint64_t last;
	uint64_t ended;
	struct npu_point *waits;
	unsigned int wait_count;
};

/**
 * struct npu_stream_event - a point of a stream
 * @dev: holds a reference
 * @lock: guards @point
 * @point: what it stands for
 */
struct npu_stream_event {
	struct npu_device *dev;
	pthread_mutex_t lock;
	struct npu_point point;
};

static int check_options(const struct npu_device_info *info, const struct npu_stream_options *o)
{
	uint32_t cores = info->cores >= 32 ? UINT32_MAX : (1u << info->cores) - 1;

	if (o->priority >= info->priorities)
		return npu_fail(-EINVAL, "priority of a stream: expected 0 to %u, found %u",
				info->priorities - 1, o->priority);
	if (o->core_mask & ~cores)
		return npu_fail(-EINVAL, "core mask of a stream: expected bits of %#x, found %#x",
				cores, o->core_mask);
	if (o->limit > info->limit_max)
		return npu_fail(-EINVAL, "cycle limit of a stream: expected at most %llu, found %llu",
				(unsigned long long)info->limit_max,
				(unsigned long long)o->limit);
	return 0;
}

int npu_stream_create(struct npu_device *dev, const struct npu_stream_options *options,
		      struct npu_stream **out)
{
	struct npu_stream_options o = { .priority = DEFAULT_PRIORITY };
	struct npu_stream *stream;
	struct npu_backend *be;
	int ret;

	if (npu_null(dev) || npu_null(out))
		return -EINVAL;
	be = dev->backend;
	if (options)
		o = *options;
	else if (o.priority >= dev->info.priorities)
		o.priority = 0;
	ret = check_options(&dev->info, &o);
	if (!ret)
		ret = npu_device_check(dev);
	if (ret)
		return ret;

	stream = calloc(1, sizeof(*stream));
	if (!stream)
		return npu_fail(-ENOMEM, "out of memory for a stream");
	ret = be->ops->queue_create(be, o.priority, o.core_mask, o.limit, &stream->queue);
	if (ret) {
		free(stream);
		return ret;
	}
	pthread_mutex_init(&stream->lock, NULL);
	stream->dev = npu_device_get(dev);
	*out = stream;
	return 0;
}

void npu_stream_destroy(struct npu_stream *stream)
{
	struct npu_backend *be;

	if (!stream)
		return;
	be = stream->dev->backend;
	if (!npu_device_inherited(stream->dev))
		be->ops->queue_destroy(be, stream->queue);
	npu_buffer_free(stream->slots);
	free(stream->waits);
	pthread_mutex_destroy(&stream->lock);
	npu_device_close(stream->dev);
	free(stream);
}

/* ---- submission ---- */

/* Called with the lock held, as are all functions of this part. */
static int add_wait(struct npu_stream *stream, struct npu_point point)
{
	struct npu_point *more;
	unsigned int i;

	if (!point.seqno)
		return 0;
	/* A later point of a queue stands for its earlier ones. */
	for (i = 0; i < stream->wait_count; i++) {
		if (stream->waits[i].queue != point.queue)
			continue;
		if (stream->waits[i].seqno < point.seqno)
			stream->waits[i].seqno = point.seqno;
		return 0;
	}
	more = reallocarray(stream->waits, stream->wait_count + 1, sizeof(*more));
	if (!more)
		return npu_fail(-ENOMEM, "out of memory for the waits of a stream");
	stream->waits = more;
	more[stream->wait_count++] = point;
	return 0;
}

static int submit(struct npu_stream *stream, const struct npu_backend_job *jobs,
		  unsigned int count, uint64_t *seqno)
{
	struct npu_backend *be = stream->dev->backend;
	uint64_t last = stream->last;
	int ret;

	ret = be->ops->submit(be, stream->queue, jobs, count, stream->waits, stream->wait_count,
			      &last);
	if (ret)
		return ret;
	__atomic_store_n(&stream->last, last, __ATOMIC_RELEASE);
	stream->wait_count = 0;
	if (seqno)
		*seqno = stream->last;
	return 0;
}

static int check_count(struct npu_stream *stream, unsigned int count)
{
	unsigned int max = stream->dev->info.max_jobs < SLOTS ? stream->dev->info.max_jobs : SLOTS;

	if (!count || count > max)
		return npu_fail(-EINVAL, "jobs of a submission: expected 1 to %u, found %u", max,
				count);
	return 0;
}

int npu_stream_submit_raw(struct npu_stream *stream, const struct npu_backend_job *jobs,
			  unsigned int count, bool ordered, uint64_t *seqno)
{
	int ret;

	pthread_mutex_lock(&stream->lock);
	ret = check_count(stream, count);
	if (!ret && ordered && stream->dev->info.cores > 1)
		ret = add_wait(stream, (struct npu_point) { stream->queue, stream->last });
	if (!ret)
		ret = submit(stream, jobs, count, seqno);
	pthread_mutex_unlock(&stream->lock);
	return ret;
}

static int check_job(const struct npu_device_info *info, const struct npu_job *job,
		     unsigned int index)
{
	if (!job->insn_count) {
		if (job->insn_address || job->region_count || job->regions || job->limit)
			return npu_fail(-EINVAL, "job %u: a null job (0 instructions) has other fields set",
					index);
		return 0;
	}
	if (job->insn_address % 16)
		return npu_fail(-EINVAL, "job %u: instruction address: expected a multiple of 16, found %#llx",
				index, (unsigned long long)job->insn_address);
	if (job->region_count > NPU_REGION_TABLE_MAX)
		return npu_fail(-EINVAL, "job %u: regions: expected at most %u, found %u", index,
				NPU_REGION_TABLE_MAX, job->region_count);
	if (job->region_count && !job->regions)
		return npu_fail(-EINVAL, "job %u: %u regions at a null pointer", index,
				job->region_count);
	if (job->limit > info->limit_max)
		return npu_fail(-EINVAL, "job %u: cycle limit: expected at most %llu, found %llu",
				index, (unsigned long long)info->limit_max,
				(unsigned long long)job->limit);
	return 0;
}

static int ensure_slots(struct npu_stream *stream)
{
	if (stream->slots)
		return 0;
	return npu_buffer_alloc(stream->dev, SLOTS * sizeof(struct slot), 0, &stream->slots);
}

static struct slot *slot_of(struct npu_stream *stream, uint64_t seqno)
{
	return (struct slot *)npu_buffer_data(stream->slots) + seqno % SLOTS;
}

static void fill_slot(struct npu_stream *stream, uint64_t seqno, const struct npu_job *job,
		      struct npu_backend_job *out)
{
	struct slot *slot = slot_of(stream, seqno);
	uint64_t va = npu_buffer_address(stream->slots) + seqno % SLOTS * sizeof(*slot);
	uint32_t i;

	stream->null[seqno % SLOTS] = !job->insn_count;
	*out = (struct npu_backend_job) { 0 };
	if (!job->insn_count)
		return;

	for (i = 0; i < job->region_count; i++)
		slot->regions[i] = (struct npu_region) {
			.base = NPU_LE64(job->regions[i].base),
			.limit = NPU_LE64(job->regions[i].limit),
		};
	npu_report_clear(&slot->report);
	*out = (struct npu_backend_job) {
		.insn_va = job->insn_address,
		.insn_count = job->insn_count,
		.region_va = job->region_count ? va + offsetof(struct slot, regions) : 0,
		.region_count = job->region_count,
		.report_va = va + offsetof(struct slot, report),
		.limit = job->limit,
	};
}

static int submit_jobs(struct npu_stream *stream, const struct npu_job *jobs, unsigned int count,
		       uint64_t *seqno)
{
	struct npu_backend_job raw[SLOTS];
	uint64_t end = stream->last + count;
	unsigned int i;
	int ret;

	ret = check_count(stream, count);
	for (i = 0; !ret && i < count; i++)
		ret = check_job(&stream->dev->info, &jobs[i], i);
	if (!ret)
		ret = ensure_slots(stream);
	/* The slots must be those of jobs that have ended. */
	if (!ret && end > SLOTS)
		ret = npu_stream_wait_raw(stream, end - SLOTS, INT64_MAX);
	if (ret)
		return ret;

	for (i = 0; i < count; i++)
		fill_slot(stream, stream->last + 1 + i, &jobs[i], &raw[i]);
	return submit(stream, raw, count, seqno);
}

int npu_stream_submit(struct npu_stream *stream, const struct npu_job *jobs, unsigned int count,
		      uint64_t *seqno)
{
	int ret;

	if (npu_null(stream) || npu_null(jobs))
		return -EINVAL;
	ret = npu_device_check(stream->dev);
	if (ret)
		return ret;
	pthread_mutex_lock(&stream->lock);
	ret = submit_jobs(stream, jobs, count, seqno);
	pthread_mutex_unlock(&stream->lock);
	return ret;
}

/* ---- waiting and reports ---- */

static uint64_t last_of(struct npu_stream *stream)
{
	/* Without the lock: a submission may hold it while it waits for room. */
	return __atomic_load_n(&stream->last, __ATOMIC_ACQUIRE);
}

int npu_stream_wait_raw(struct npu_stream *stream, uint64_t seqno, int64_t deadline)
{
	struct npu_backend *be = stream->dev->backend;
	uint64_t ended = __atomic_load_n(&stream->ended, __ATOMIC_ACQUIRE);
	int ret;

	if (seqno <= ended)
		return 0;
	ret = be->ops->wait(be, (struct npu_point) { stream->queue, seqno }, deadline);
	if (ret)
		return ret;
	while (ended < seqno && !__atomic_compare_exchange_n(&stream->ended, &ended, seqno, false,
							     __ATOMIC_RELEASE, __ATOMIC_ACQUIRE))
		;
	return 0;
}

int npu_stream_wait(struct npu_stream *stream, uint64_t seqno, int64_t timeout_ns)
{
	uint64_t last;
	int ret;

	if (npu_null(stream))
		return -EINVAL;
	ret = npu_device_check(stream->dev);
	if (ret)
		return ret;
	last = last_of(stream);
	if (seqno > last)
		return npu_fail(-EINVAL, "number of a job: expected at most %llu, found %llu",
				(unsigned long long)last, (unsigned long long)seqno);
	return npu_stream_wait_raw(stream, seqno ? seqno : last, npu_deadline(timeout_ns));
}

/* A job that wrote no report: what the backend knows of it. */
static int judge_by_failure(struct npu_stream *stream, uint64_t seqno, bool null,
			    struct npu_report *out)
{
	struct npu_backend *be = stream->dev->backend;
	struct npu_failure failure;
	int ret;

	memset(out, 0, sizeof(*out));
	ret = be->ops->last_failure(be, stream->queue, &failure);
	if (ret)
		return ret;
	if (failure.seqno == seqno) {
		out->status = failure.status;
		out->fault_code = failure.code;
		out->fault_unit = failure.unit;
		out->fault_access = failure.access;
		out->core = failure.core;
		out->insn = failure.insn;
		out->fault_address = failure.va;
		return npu_report_error(seqno, out);
	}
	if (null)
		return 0;
	out->status = NPU_JOB_STATUS_CANCELED;
	return npu_fail(-ECANCELED, "job %llu ended without a report", (unsigned long long)seqno);
}

int npu_stream_judge(struct npu_stream *stream, uint64_t seqno, const void *report,
		     struct npu_report *out)
{
	if (!npu_report_read(report, out))
		return judge_by_failure(stream, seqno, false, out);
	return npu_report_error(seqno, out);
}

static int report_of(struct npu_stream *stream, uint64_t seqno, struct npu_report *out)
{
	int ret;

	if (!seqno)
		seqno = stream->last;
	if (!seqno || seqno > stream->last || stream->last - seqno >= SLOTS)
		return npu_fail(-ENOENT, "number of a job: expected %llu to %llu, found %llu",
				stream->last >= SLOTS ? stream->last - SLOTS + 1ull : 1ull,
				(unsigned long long)stream->last, (unsigned long long)seqno);
	ret = npu_stream_wait_raw(stream, seqno, npu_clock_ns());
	if (ret == -ETIMEDOUT)
		return npu_fail(-EBUSY, "job %llu has not ended", (unsigned long long)seqno);
	if (ret)
		return ret;
	if (stream->null[seqno % SLOTS])
		return judge_by_failure(stream, seqno, true, out);
	return npu_stream_judge(stream, seqno, &slot_of(stream, seqno)->report, out);
}

int npu_stream_report(struct npu_stream *stream, uint64_t seqno, struct npu_report *report)
{
	struct npu_report none;
	int ret;

	if (npu_null(stream))
		return -EINVAL;
	ret = npu_device_check(stream->dev);
	if (ret)
		return ret;
	pthread_mutex_lock(&stream->lock);
	ret = report_of(stream, seqno, report ? report : &none);
	pthread_mutex_unlock(&stream->lock);
	return ret;
}

/* ---- events ---- */

int npu_event_create(struct npu_device *dev, struct npu_stream_event **out)
{
	struct npu_stream_event *event;

	if (npu_null(dev) || npu_null(out))
		return -EINVAL;
	event = calloc(1, sizeof(*event));
	if (!event)
		return npu_fail(-ENOMEM, "out of memory for an event");
	pthread_mutex_init(&event->lock, NULL);
	event->dev = npu_device_get(dev);
	*out = event;
	return 0;
}

void npu_event_destroy(struct npu_stream_event *event)
{
	if (!event)
		return;
	pthread_mutex_destroy(&event->lock);
	npu_device_close(event->dev);
	free(event);
}

static struct npu_point point_of(struct npu_stream_event *event)
{
	struct npu_point point;

	pthread_mutex_lock(&event->lock);
	point = event->point;
	pthread_mutex_unlock(&event->lock);
	return point;
}

int npu_event_record(struct npu_stream_event *event, struct npu_stream *stream)
{
	struct npu_point point;
	int ret;

	if (npu_null(event) || npu_null(stream))
		return -EINVAL;
	ret = npu_device_check(event->dev);
	if (ret)
		return ret;
	point = (struct npu_point) { stream->queue, last_of(stream) };
	if (event->dev != stream->dev)
		return npu_fail(-EINVAL, "event and stream belong to different devices");
	pthread_mutex_lock(&event->lock);
	event->point = point;
	pthread_mutex_unlock(&event->lock);
	return 0;
}

int npu_event_wait(struct npu_stream_event *event, int64_t timeout_ns)
{
	struct npu_backend *be;
	struct npu_point point;
	int ret;

	if (npu_null(event))
		return -EINVAL;
	ret = npu_device_check(event->dev);
	if (ret)
		return ret;
	be = event->dev->backend;
	point = point_of(event);
	if (!point.seqno)
		return 0;
	return be->ops->wait(be, point, npu_deadline(timeout_ns));
}

int npu_stream_wait_event(struct npu_stream *stream, struct npu_stream_event *event)
{
	struct npu_point point;
	int ret;

	if (npu_null(stream) || npu_null(event))
		return -EINVAL;
	ret = npu_device_check(event->dev);
	if (ret)
		return ret;
	point = point_of(event);
	if (event->dev != stream->dev)
		return npu_fail(-EINVAL, "event and stream belong to different devices");
	pthread_mutex_lock(&stream->lock);
	ret = add_wait(stream, point);
	pthread_mutex_unlock(&stream->lock);
	return ret;
}
