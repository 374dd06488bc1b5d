/* SPDX-License-Identifier: GPL-2.0-only */
/* Open files. */
#ifndef NPU_CLIENT_H
#define NPU_CLIENT_H

#include <linux/xarray.h>
#include <drm/drm_file.h>

#include "npu_account.h"
#include "npu_queue.h"
#include "npu_vm.h"

/**
 * struct npu_client - an open file
 * @ndev: device
 * @link: in the device's list
 * @id: as fdinfo and traces call it
 * @opener: who it is
 * @vm: address space
 * @queues: queues by id; its lock also guards @retired
 * @retired: what queues did that were destroyed
 */
struct npu_client {
	struct npu_device *ndev;
	struct list_head link;
	u64 id;
	struct npu_opener opener;
	struct npu_vm vm;
	struct xarray queues;
	struct npu_stats retired;
};

static inline struct npu_client *to_npu_client(struct drm_file *file)
{
	return file->driver_priv;
}

/* npu_fdinfo.c */
void npu_client_stats(struct npu_client *client, struct npu_stats *stats);
void npu_show_fdinfo(struct drm_printer *p, struct drm_file *file);

#endif
