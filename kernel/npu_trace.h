/* SPDX-License-Identifier: GPL-2.0-only */
/* Tracepoints: a job's way through the driver, faults, resets. */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM npu

#if !defined(NPU_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define NPU_TRACE_H

#include <linux/tracepoint.h>

#include "npu_queue.h"

/* The names of the contract, as __print_symbolic() takes them. */
#define NPU_TRACE_NAME(id, value, name) { value, name },
#define npu_trace_symbol(value, names)	\
	__print_symbolic(value, names(NPU_TRACE_NAME) { 255, "none" })

TRACE_EVENT(npu_submit,
	TP_PROTO(struct npu_queue *queue, struct npu_submission *submission),
	TP_ARGS(queue, submission),
	TP_STRUCT__entry(
		__string(dev, dev_name(queue->ndev->drm.dev))
		__field(u64, client)
		__field(u32, queue)
		__field(u32, count)
		__field(u64, first)
		__field(u64, fence_context)
		__field(u64, fence_seqno)
	),
	TP_fast_assign(
		__assign_str(dev);
		__entry->client = queue->client_id;
		__entry->queue = queue->desc.queue;
		__entry->count = submission->count;
		__entry->first = submission->first;
		__entry->fence_context = submission->fence->base.context;
		__entry->fence_seqno = submission->fence->base.seqno;
	),
	TP_printk("dev=%s client=%llu queue=%u first=%llu count=%u fence=%llu:%llu",
		  __get_str(dev), __entry->client, __entry->queue, __entry->first,
		  __entry->count, __entry->fence_context, __entry->fence_seqno)
);

TRACE_EVENT(npu_run,
	TP_PROTO(struct npu_queue *queue, u64 job, u32 cmd_id, const struct drm_npu_job *args),
	TP_ARGS(queue, job, cmd_id, args),
	TP_STRUCT__entry(
		__string(dev, dev_name(queue->ndev->drm.dev))
		__field(u64, client)
		__field(u32, queue)
		__field(u32, context)
		__field(u64, job)
		__field(u32, cmd_id)
		__field(u32, insn_count)
		__field(u64, insn_va)
	),
	TP_fast_assign(
		__assign_str(dev);
		__entry->client = queue->client_id;
		__entry->queue = queue->desc.queue;
		__entry->context = queue->desc.context;
		__entry->job = job;
		__entry->cmd_id = cmd_id;
		__entry->insn_count = args->insn_count;
		__entry->insn_va = args->insn_va;
	),
	TP_printk("dev=%s client=%llu queue=%u context=%u job=%llu cmd_id=%#x insn=%#llx+%u",
		  __get_str(dev), __entry->client, __entry->queue, __entry->context,
		  __entry->job, __entry->cmd_id, __entry->insn_va, __entry->insn_count)
);

TRACE_EVENT(npu_complete,
	TP_PROTO(struct npu_queue *queue, u64 job, const struct npu_cqe *cqe),
	TP_ARGS(queue, job, cqe),
	TP_STRUCT__entry(
		__string(dev, dev_name(queue->ndev->drm.dev))
		__field(u64, client)
		__field(u32, queue)
		__field(u32, status)
		__field(u64, job)
		__field(u32, core)
		__field(u32, insn)
		__field(u64, cycles)
		__field(u64, macs)
		__field(u64, bytes_read)
		__field(u64, bytes_written)
	),
	TP_fast_assign(
		__assign_str(dev);
		__entry->client = queue->client_id;
		__entry->queue = queue->desc.queue;
		__entry->status = cqe->status;
		__entry->job = job;
		__entry->core = cqe->core;
		__entry->insn = cqe->insn;
		__entry->cycles = cqe->cycles;
		__entry->macs = cqe->macs;
		__entry->bytes_read = cqe->bytes_read;
		__entry->bytes_written = cqe->bytes_written;
	),
	TP_printk("dev=%s client=%llu queue=%u job=%llu status=%s core=%u insn=%u cycles=%llu macs=%llu read=%llu written=%llu",
		  __get_str(dev), __entry->client, __entry->queue, __entry->job,
		  npu_trace_symbol(__entry->status, NPU_JOB_STATUS_NAMES), __entry->core,
		  __entry->insn, __entry->cycles, __entry->macs, __entry->bytes_read,
		  __entry->bytes_written)
);

/* @job is 0 where the firmware met the fault at a ring. */
TRACE_EVENT(npu_fault,
	TP_PROTO(struct npu_device *ndev, u32 queue, u64 job, u32 code, u32 unit, u32 access,
		 u64 va, u32 insn),
	TP_ARGS(ndev, queue, job, code, unit, access, va, insn),
	TP_STRUCT__entry(
		__string(dev, dev_name(ndev->drm.dev))
		__field(u32, queue)
		__field(u32, insn)
		__field(u64, job)
		__field(u64, va)
		__field(u32, code)
		__field(u32, unit)
		__field(u32, access)
	),
	TP_fast_assign(
		__assign_str(dev);
		__entry->queue = queue;
		__entry->insn = insn;
		__entry->job = job;
		__entry->va = va;
		__entry->code = code;
		__entry->unit = unit;
		__entry->access = access;
	),
	TP_printk("dev=%s queue=%u job=%llu code=%s unit=%s access=%s va=%#llx insn=%u",
		  __get_str(dev), __entry->queue, __entry->job,
		  npu_trace_symbol(__entry->code, NPU_FAULT_NAMES),
		  npu_trace_symbol(__entry->unit, NPU_UNIT_NAMES),
		  npu_trace_symbol(__entry->access, NPU_ACCESS_NAMES), __entry->va,
		  __entry->insn)
);

/* @guilty: slot of the queue that is banned, 0 for none. */
TRACE_EVENT(npu_reset,
	TP_PROTO(struct npu_device *ndev, u32 guilty),
	TP_ARGS(ndev, guilty),
	TP_STRUCT__entry(
		__string(dev, dev_name(ndev->drm.dev))
		__field(u64, resets)
		__field(u32, guilty)
	),
	TP_fast_assign(
		__assign_str(dev);
		__entry->resets = ndev->resets;
		__entry->guilty = guilty;
	),
	TP_printk("dev=%s resets=%llu guilty=%u", __get_str(dev), __entry->resets,
		  __entry->guilty)
);

TRACE_EVENT(npu_reset_done,
	TP_PROTO(struct npu_device *ndev, int error),
	TP_ARGS(ndev, error),
	TP_STRUCT__entry(
		__string(dev, dev_name(ndev->drm.dev))
		__field(u64, resets)
		__field(int, error)
	),
	TP_fast_assign(
		__assign_str(dev);
		__entry->resets = ndev->resets;
		__entry->error = error;
	),
	TP_printk("dev=%s resets=%llu error=%d", __get_str(dev), __entry->resets,
		  __entry->error)
);

#endif

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH kernel
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE npu_trace
#include <trace/define_trace.h>
