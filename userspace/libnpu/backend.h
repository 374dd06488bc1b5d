/* SPDX-License-Identifier: MIT */
/*
 * The seam between libnpu and what a device really is: a node of the kernel's
 * driver, or the device model in this process.
 *
 * All functions return 0 or -errno and leave a message (npu_fail()). They may
 * be called from any thread. Jobs of a queue are numbered from 1 in the order
 * of submission; a number is also a point in time, the end of that job and of
 * those before it.
 */
#ifndef USERSPACE_LIBNPU_BACKEND_H
#define USERSPACE_LIBNPU_BACKEND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct npu_backend;
struct npu_device_info;

/* Rights of a mapping, as in the kernel's interface. */
#define NPU_RIGHT_READ		(1u << 0)
#define NPU_RIGHT_WRITE		(1u << 1)
#define NPU_RIGHT_EXECUTE	(1u << 2)

#define NPU_VA_ALIGN		4096u

/**
 * struct npu_memory - memory that host and device share
 * @size: bytes, a multiple of the page size
 * @data: in this process
 * @handle: the backend's
 * @imported: @data is the caller's
 */
struct npu_memory {
	size_t size;
	void *data;
	uint64_t handle;
	bool imported;
};

/**
 * struct npu_backend_job - a job, all addresses the device's
 * @insn_va: instructions
 * @region_va: region table
 * @report_va: where the report goes, 0 for nowhere
 * @limit: cycle limit, 0 for the queue's
 * @insn_count: instructions; 0 for a null job, all else is 0 then
 * @region_count: entries of the region table
 */
struct npu_backend_job {
	uint64_t insn_va;
	uint64_t region_va;
	uint64_t report_va;
	uint64_t limit;
	uint32_t insn_count;
	uint32_t region_count;
};

/**
 * struct npu_point - the end of a job
 * @queue: queue
 * @seqno: number of the job; 0 has always ended
 */
struct npu_point {
	uint32_t queue;
	uint64_t seqno;
};

/**
 * struct npu_failure - the last job of a queue that did not end well
 * @seqno: its number, 0 for none
 * @jobs_failed: how many there were
 * @status: NPU_JOB_STATUS_*
 * @insn: instruction
 * @va: address or index
 * @code: NPU_FAULT_*
 * @unit: NPU_UNIT_*
 * @access: NPU_ACCESS_*
 * @core: core
 */
struct npu_failure {
	uint64_t seqno;
	uint64_t jobs_failed;
	uint32_t status;
	uint32_t insn;
	uint64_t va;
	uint8_t code;
	uint8_t unit;
	uint8_t access;
	uint8_t core;
};

/**
 * struct npu_backend_ops - operations of a backend
 * @close: end it; everything made with it was given back before
 * @get_info: all fields of @info but path and backend
 * @get_time: tick counter and CLOCK_MONOTONIC at the same moment
 * @memory_alloc: memory of @mem->size bytes, zeroed and mapped into the process
 * @memory_import: let the device reach memory at @mem->data, whole pages of the caller's;
 *	@writable unless it is only read. -EOPNOTSUPP and -EDQUOT where a copy must do
 * @memory_free: give either back
 * @map: let the device reach memory at @va
 * @unmap: take that away; on return no job can reach it
 * @queue_create: @queue identifies it from then on, and no other one after it
 * @queue_destroy: aborts what it holds; its points have ended then
 * @submit: queue jobs, which start once all of @waits have ended; @seqno is the
 *	number of the queue's last job, before and after. All or nothing. One call
 *	at a time on a queue.
 * @wait: until @deadline (CLOCK_MONOTONIC); -ETIMEDOUT
 * @last_failure: see there
 */
struct npu_backend_ops {
	const char *name;
	void (*close)(struct npu_backend *be);
	int (*get_info)(struct npu_backend *be, struct npu_device_info *info);
	int (*get_time)(struct npu_backend *be, uint64_t *ticks, uint64_t *monotonic_ns);
	int (*memory_alloc)(struct npu_backend *be, struct npu_memory *mem);
	int (*memory_import)(struct npu_backend *be, struct npu_memory *mem, bool writable);
	void (*memory_free)(struct npu_backend *be, struct npu_memory *mem);
	int (*map)(struct npu_backend *be, const struct npu_memory *mem, uint64_t va,
		   uint32_t rights);
	int (*unmap)(struct npu_backend *be, uint64_t va, uint64_t size);
	int (*queue_create)(struct npu_backend *be, uint32_t priority, uint32_t core_mask,
			    uint64_t limit, uint32_t *queue);
	void (*queue_destroy)(struct npu_backend *be, uint32_t queue);
	int (*submit)(struct npu_backend *be, uint32_t queue, const struct npu_backend_job *jobs,
		      unsigned int count, const struct npu_point *waits, unsigned int wait_count,
		      uint64_t *seqno);
	int (*wait)(struct npu_backend *be, struct npu_point point, int64_t deadline);
	int (*last_failure)(struct npu_backend *be, uint32_t queue, struct npu_failure *failure);
};

/**
 * struct npu_backend - start of each backend's own structure
 * @ops: operations
 */
struct npu_backend {
	const struct npu_backend_ops *ops;
};

/* Open the node at @path. */
int npu_backend_accel_open(const char *path, struct npu_backend **out);

/* Make a device of the model in this process and boot it. */
int npu_backend_sim_open(struct npu_backend **out);

/* CLOCK_MONOTONIC in nanoseconds. */
int64_t npu_clock_ns(void);

/* Keep a message for this thread and return @error. */
int npu_fail(int error, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Whether an argument of a public function is NULL, which the message then says. */
bool npu_is_null(const void *p, const char *function, const char *argument);
#define npu_null(p)	npu_is_null(p, __func__, #p)

#endif /* USERSPACE_LIBNPU_BACKEND_H */
