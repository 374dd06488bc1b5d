/* SPDX-License-Identifier: GPL-2.0-only */
/* What is kept of a device that had to be reset. */
#ifndef NPU_COREDUMP_H
#define NPU_COREDUMP_H

#include <linux/workqueue.h>
#include <drm/npu_coredump.h>

#include "npu_device.h"

struct npu_queue;

int npu_coredump_init(struct npu_device *ndev);
void npu_coredump_stop(struct npu_device *ndev);

void npu_coredump_capture(struct npu_device *ndev, struct npu_queue *guilty,
			  enum npu_dump_reason reason);
void npu_coredump_salvage(struct npu_device *ndev);
void npu_coredump_finish(struct npu_device *ndev);

#endif
