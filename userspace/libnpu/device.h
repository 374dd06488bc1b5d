/* SPDX-License-Identifier: MIT */
/* Devices, buffers and streams as the rest of the library sees them. */
#ifndef USERSPACE_LIBNPU_DEVICE_H
#define USERSPACE_LIBNPU_DEVICE_H

#include <pthread.h>
#include "userspace/libnpu/backend.h"
#include "userspace/libnpu/include/npu/npu.h"
#include "userspace/libnpu/vaspace.h"

/**
 * struct npu_device - an open device
 * @backend: what it is
 * @info: what does not change of it
 * @process: the one that opened it, as number of forks before it
 * @refs: the user's, and one of each object made from it; atomic
 * @lock: guards @va
 * @va: free device addresses
 */
struct npu_device {
	struct npu_backend *backend;
	struct npu_device_info info;
	unsigned int process;
	unsigned int refs;
	pthread_mutex_t lock;
	struct npu_vaspace va;
};

/**
 * struct npu_buffer - memory with a device address
 * @dev: holds a reference
 * @mem: memory
 * @va: device address of @mem
 * @flags: NPU_BUFFER_*
 * @data: the user's: @mem's, for an import a part of it, for a copy elsewhere
 * @size: bytes at @data
 * @copied: @mem holds a copy of what is at @data
 */
struct npu_buffer {
	struct npu_device *dev;
	struct npu_memory mem;
	uint64_t va;
	uint32_t flags;
	void *data;
	size_t size;
	bool copied;
};

struct npu_device *npu_device_get(struct npu_device *dev);

/*
 * Whether this process got the device by fork(): its threads and locks are the
 * parent's then, as is what the driver holds for it. -EBADF with a message, or 0.
 */
int npu_device_check(const struct npu_device *dev);
bool npu_device_inherited(const struct npu_device *dev);

/* Where sysfs is; tests look elsewhere. */
const char *npu_sysfs_root(void);

/* Find the first NPU's node. */
int npu_enumerate_first(char *path, size_t size);

/* Now plus a timeout, without overflow. */
int64_t npu_deadline(int64_t timeout_ns);

/*
 * Queue jobs whose tables the caller keeps. With @ordered the first starts after
 * what the stream holds has ended, also where cores run side by side.
 */
int npu_stream_submit_raw(struct npu_stream *stream, const struct npu_backend_job *jobs,
			  unsigned int count, bool ordered, uint64_t *seqno);

/* Wait for a job of npu_stream_submit_raw(). */
int npu_stream_wait_raw(struct npu_stream *stream, uint64_t seqno, int64_t deadline);

/* How it ended, from its report in memory; the message says so on error. */
int npu_stream_judge(struct npu_stream *stream, uint64_t seqno, const void *report,
		     struct npu_report *out);

/* Mark report memory as not written yet. */
void npu_report_clear(void *report);

/* Add the counters of @report to @total. */
void npu_report_add(struct npu_report *total, const struct npu_report *report);

#endif /* USERSPACE_LIBNPU_DEVICE_H */
