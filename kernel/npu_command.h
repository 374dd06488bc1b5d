/* SPDX-License-Identifier: GPL-2.0-only */
/* Commands to the firmware through the admin rings, and its events. */
#ifndef NPU_COMMAND_H
#define NPU_COMMAND_H

#include "npu_device.h"

int npu_command_init(struct npu_device *ndev);
void npu_command_fini(struct npu_device *ndev);
void npu_command_prepare(struct npu_device *ndev);
void npu_command_cancel(struct npu_device *ndev, int error);
void npu_command_irq(struct npu_device *ndev);

int npu_command(struct npu_device *ndev, struct npu_admin_sqe *sqe);
int npu_command_once(struct npu_device *ndev, struct npu_admin_sqe *sqe,
		     unsigned int timeout_ms);

#endif
