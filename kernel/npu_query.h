/* SPDX-License-Identifier: GPL-2.0-only */
/* DEV_QUERY. */
#ifndef NPU_QUERY_H
#define NPU_QUERY_H

#include <drm/drm_file.h>

int npu_ioctl_dev_query(struct drm_device *drm, void *data, struct drm_file *file);

#endif
