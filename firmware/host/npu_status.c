// SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 OR MIT
/* What the device's codes mean: errno values and names. */
#include "firmware/host/npu_host.h"

int npu_admin_errno(u32 status)
{
	switch (status) {
	case NPU_ADMIN_STATUS_OK:
		return 0;
	case NPU_ADMIN_STATUS_BAD_OP:
		return -EOPNOTSUPP;
	case NPU_ADMIN_STATUS_BAD_FIELD:
		return -EINVAL;
	case NPU_ADMIN_STATUS_EXISTS:
		return -EEXIST;
	case NPU_ADMIN_STATUS_NOT_FOUND:
		return -ENOENT;
	case NPU_ADMIN_STATUS_BUSY:
		return -EBUSY;
	case NPU_ADMIN_STATUS_DMA_ERROR:
		return -EIO;
	default:
		return -EPROTO;
	}
}

int npu_job_errno(u32 status)
{
	switch (status) {
	case NPU_JOB_STATUS_OK:
		return 0;
	case NPU_JOB_STATUS_FAULT:
	case NPU_JOB_STATUS_REPORT_FAULT:
		return -EFAULT;
	case NPU_JOB_STATUS_LIMIT:
		return -ETIME;
	case NPU_JOB_STATUS_ABORTED:
	case NPU_JOB_STATUS_CANCELED:
		return -ECANCELED;
	case NPU_JOB_STATUS_INVALID:
		return -EINVAL;
	default:
		return -EPROTO;
	}
}

#define NPU_NAME(id, value, text) \
	case value: \
		return text;

#define NPU_NAME_FUNCTION(function, LIST) \
	const char *function(u32 value) \
	{ \
		switch (value) { \
		LIST(NPU_NAME) \
		default: \
			return "unknown"; \
		} \
	}

NPU_NAME_FUNCTION(npu_admin_op_name, NPU_ADMIN_NAMES)
NPU_NAME_FUNCTION(npu_admin_status_name, NPU_ADMIN_STATUS_NAMES)
NPU_NAME_FUNCTION(npu_job_status_name, NPU_JOB_STATUS_NAMES)
NPU_NAME_FUNCTION(npu_fault_name, NPU_FAULT_NAMES)
NPU_NAME_FUNCTION(npu_log_name, NPU_LOG_NAMES)
NPU_NAME_FUNCTION(npu_unit_name, NPU_UNIT_NAMES)
NPU_NAME_FUNCTION(npu_access_name, NPU_ACCESS_NAMES)
NPU_NAME_FUNCTION(npu_boot_state_name, NPU_BOOT_NAMES)
NPU_NAME_FUNCTION(npu_boot_error_name, NPU_BOOT_ERROR_NAMES)
