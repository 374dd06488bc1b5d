/* SPDX-License-Identifier: MIT */
/* Job reports as the device writes them, and as the user sees them. */
#ifndef USERSPACE_LIBNPU_REPORT_H
#define USERSPACE_LIBNPU_REPORT_H

#include <stdbool.h>
#include "userspace/libnpu/include/npu/npu.h"

/* Copy @report (struct npu_job_report); false if the device has not written it. */
bool npu_report_read(const void *report, struct npu_report *out);

/* 0, or -errno of the status with a message. */
int npu_report_error(uint64_t seqno, const struct npu_report *report);

#endif /* USERSPACE_LIBNPU_REPORT_H */
