/* SPDX-License-Identifier: MIT */
/* Nodes of NPUs, for commands that speak of the driver rather than of computing. */
#ifndef NPU_ACCEL_NODE_H
#define NPU_ACCEL_NODE_H

#include <drm/npu_accel.h>
#include <npu/npu.h>
#include <stdbool.h>
#include <stddef.h>

/* All devices that there are; *entries is to be freed. 0 or a negative errno. */
int accel_find(struct npu_device_entry **entries, unsigned int *count);

/* The same, or the one that @device names (path or number); reports what is wrong. */
int accel_choose(const char *device, struct npu_device_entry **entries, unsigned int *count);

/* A file descriptor, or a negative errno that was reported. */
int accel_open(const char *path);

/**
 * struct accel_accounts - accounts of a device
 * @list: to be freed
 * @count: of them
 * @after: to go on from
 * @lost: accounts that were no longer kept
 */
struct accel_accounts {
	struct drm_npu_account *list;
	size_t count;
	uint64_t after;
	uint64_t lost;
};

/* Appends those behind @accounts->after; 0 or a negative errno. */
int accel_accounts(int fd, uint32_t flags, struct accel_accounts *accounts);

#endif
