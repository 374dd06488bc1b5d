// SPDX-License-Identifier: MIT
/* Job reports. */
#include <errno.h>
#include <string.h>
#include "firmware/host/npu_host.h"
#include "userspace/libnpu/device.h"
#include "userspace/libnpu/report.h"

#define NOT_WRITTEN	0xffffu		/* no NPU_JOB_STATUS_* */

void npu_report_clear(void *report)
{
	struct npu_job_report *raw = report;

	memset(raw, 0, sizeof(*raw));
	raw->status = NOT_WRITTEN;
}

bool npu_report_read(const void *report, struct npu_report *out)
{
	struct npu_job_report raw;

	memcpy(&raw, report, sizeof(raw));
	if (raw.status == NOT_WRITTEN)
		return false;
	*out = (struct npu_report) {
		.status = NPU_LE16(raw.status),
		.fault_code = raw.fault_code,
		.fault_unit = raw.fault_unit,
		.fault_access = raw.fault_access,
		.core = raw.core,
		.insn = NPU_LE32(raw.insn),
		.fault_address = NPU_LE64(raw.fault_va),
		.start_tick = NPU_LE64(raw.start_tick),
		.end_tick = NPU_LE64(raw.end_tick),
		.cycles = NPU_LE64(raw.cycles),
		.macs = NPU_LE64(raw.macs),
		.bytes_read = NPU_LE64(raw.bytes_read),
		.bytes_written = NPU_LE64(raw.bytes_written),
		.busy_load = NPU_LE64(raw.busy_load),
		.busy_compute = NPU_LE64(raw.busy_compute),
		.busy_store = NPU_LE64(raw.busy_store),
		.stall_load = NPU_LE64(raw.stall_load),
		.stall_compute_load = NPU_LE64(raw.stall_compute_load),
		.stall_compute_store = NPU_LE64(raw.stall_compute_store),
		.stall_store = NPU_LE64(raw.stall_store),
	};
	return true;
}

void npu_report_add(struct npu_report *total, const struct npu_report *report)
{
	total->cycles += report->cycles;
	total->macs += report->macs;
	total->bytes_read += report->bytes_read;
	total->bytes_written += report->bytes_written;
	total->busy_load += report->busy_load;
	total->busy_compute += report->busy_compute;
	total->busy_store += report->busy_store;
	total->stall_load += report->stall_load;
	total->stall_compute_load += report->stall_compute_load;
	total->stall_compute_store += report->stall_compute_store;
	total->stall_store += report->stall_store;
}

int npu_report_error(uint64_t seqno, const struct npu_report *r)
{
	unsigned long long job = seqno;
	int error = npu_job_errno(r->status);

	switch (r->status) {
	case NPU_JOB_STATUS_OK:
		return 0;
	case NPU_JOB_STATUS_FAULT:
	case NPU_JOB_STATUS_REPORT_FAULT:
		return npu_fail(error, "job %llu: %s \"%s\" of unit %s on core %u at instruction %u, %s of %#llx",
				job, npu_job_status_name(r->status), npu_fault_name(r->fault_code),
				npu_unit_name(r->fault_unit), r->core, r->insn,
				npu_access_name(r->fault_access),
				(unsigned long long)r->fault_address);
	case NPU_JOB_STATUS_INVALID:
		return npu_fail(error, "job %llu: refused by the device for the field at byte %u of its entry",
				job, r->insn);
	default:
		return npu_fail(error, "job %llu: %s after %llu cycles and %u instructions", job,
				npu_job_status_name(r->status), (unsigned long long)r->cycles,
				r->insn);
	}
}
