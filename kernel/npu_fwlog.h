/* SPDX-License-Identifier: GPL-2.0-only */
/* The firmware's log. */
#ifndef NPU_FWLOG_H
#define NPU_FWLOG_H

#include "npu_device.h"

#define NPU_FWLOG_BYTES	(NPU_LOG_ENTRIES * sizeof(struct npu_log_entry))

int npu_fwlog_read(struct npu_device *ndev, struct npu_log_entry *entries);
bool npu_fwlog_salvage(struct npu_device *ndev, struct npu_log_entry *entries);

#endif
