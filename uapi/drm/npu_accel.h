/* SPDX-License-Identifier: (GPL-2.0-only WITH Linux-syscall-note) OR MIT */
/*
 * The ioctl interface of /dev/accel/accelN as npu.ko offers it.
 *
 * Every structure has a fixed layout without implicit padding. Fields named
 * pad or reserved, and bits of flags that are not defined here, must be 0
 * (EINVAL otherwise). Structures grow at their end only: a shorter one from an
 * older program is completed with zeros, a longer one from a newer program is
 * accepted while its unknown tail is zero (E2BIG otherwise); that goes for the
 * arguments of the calls, by the size in the call's number, and for the elements of
 * arrays, by their stride.
 */
#ifndef _UAPI_DRM_NPU_ACCEL_H_
#define _UAPI_DRM_NPU_ACCEL_H_

#ifdef __KERNEL__
#include <drm/drm.h>
#else
#include <drm.h>
#endif

#if defined(__cplusplus)
extern "C" {
#endif

#define DRM_NPU_DEV_QUERY		0x00
#define DRM_NPU_BO_CREATE		0x01
#define DRM_NPU_BO_IMPORT_USER		0x02
#define DRM_NPU_BO_MMAP_OFFSET		0x03
#define DRM_NPU_BO_WAIT			0x04
#define DRM_NPU_VM_BIND			0x05
#define DRM_NPU_QUEUE_CREATE		0x06
#define DRM_NPU_QUEUE_DESTROY		0x07
#define DRM_NPU_QUEUE_QUERY		0x08
#define DRM_NPU_SUBMIT			0x09
#define DRM_NPU_ACCOUNTS		0x0a

/**
 * enum drm_npu_query - what DEV_QUERY asks for
 * @DRM_NPU_QUERY_DEVICE: struct drm_npu_query_device
 * @DRM_NPU_QUERY_REGIONS: array of struct drm_npu_query_region
 * @DRM_NPU_QUERY_TIME: struct drm_npu_query_time
 */
enum drm_npu_query {
	DRM_NPU_QUERY_DEVICE = 0,
	DRM_NPU_QUERY_REGIONS = 1,
	DRM_NPU_QUERY_TIME = 2,
};

/**
 * struct drm_npu_dev_query - ask about the device
 * @query: one of enum drm_npu_query
 * @size: in: bytes at @data, 0 to learn the size; out: bytes that the driver
 *	has for this query. The smaller of both is copied; bytes of @data
 *	beyond what the driver has are zeroed. At most 4096 (E2BIG).
 * @data: user pointer
 */
struct drm_npu_dev_query {
	__u32 query;
	__u32 size;
	__u64 data;
};

/**
 * struct drm_npu_query_device - what the device is
 * @contract: version of the hardware contract, major 31:16, minor 15:0
 * @device_id: vendor 31:16, device 15:0
 * @revision: stepping
 * @fw_version: running firmware, major 31:16, minor 15:8, patch 7:0
 * @hw_features: NPU_HW_FEATURE_* of the contract
 * @fw_features: NPU_FW_FEATURE_* of the contract
 * @fw_proto: protocol version agreed with the firmware
 * @cores: number of compute cores
 * @queue_slots: job queues that can exist at once, over all clients
 * @contexts: address spaces that can exist at once
 * @config0: HOST.CONFIG0 of the contract (element widths and block)
 * @config1: HOST.CONFIG1 of the contract (SRAM sizes)
 * @clock_khz: rate of cycles and ticks
 * @priorities: priorities are 0 to this - 1
 * @va_start: lowest address that VM_BIND takes
 * @va_end: one past the highest address that VM_BIND takes
 * @limit_default: cycle limit of a queue that asks for 0
 * @limit_max: highest cycle limit
 * @max_jobs: most jobs of one SUBMIT
 * @max_syncs: most in syncs, and most out syncs, of one SUBMIT
 * @max_binds: most operations of one VM_BIND
 * @resets: device resets since the driver was bound
 * @uuid: unique id of the device
 */
struct drm_npu_query_device {
	__u32 contract;
	__u32 device_id;
	__u32 revision;
	__u32 fw_version;
	__u64 hw_features;
	__u32 fw_features;
	__u32 fw_proto;
	__u32 cores;
	__u32 queue_slots;
	__u32 contexts;
	__u32 config0;
	__u32 config1;
	__u32 clock_khz;
	__u32 priorities;
	__u32 max_jobs;
	__u32 max_syncs;
	__u32 max_binds;
	__u64 va_start;
	__u64 va_end;
	__u64 limit_default;
	__u64 limit_max;
	__u64 resets;
	__u8 uuid[16];
};

#define DRM_NPU_REGION_SYSTEM	0	/* memory of the host */

/**
 * struct drm_npu_query_region - a kind of memory that buffers can live in
 * @id: for BO_CREATE
 * @pad: 0
 * @size: bytes, 0 when it is bounded by the host's memory alone
 * @used: bytes of buffers of all clients; imported memory is not the region's
 */
struct drm_npu_query_region {
	__u32 id;
	__u32 pad;
	__u64 size;
	__u64 used;
};

/**
 * struct drm_npu_query_time - the device's clock beside the host's
 * @ticks: tick counter of the device
 * @monotonic_ns: CLOCK_MONOTONIC at the same moment
 * @deviation_ns: the two were read within this time
 */
struct drm_npu_query_time {
	__u64 ticks;
	__u64 monotonic_ns;
	__u64 deviation_ns;
};

#define DRM_NPU_BO_WC		(1 << 0)	/* map it write-combined to user space */
#define DRM_NPU_BO_FLAGS	DRM_NPU_BO_WC	/* all of them */

/**
 * struct drm_npu_bo_create - create a buffer, zeroed
 * @size: in: bytes, not 0; out: rounded up to pages
 * @region: DRM_NPU_REGION_*
 * @flags: DRM_NPU_BO_*
 * @handle: out
 * @pad: 0
 *
 * Memory comes with its first use. EINVAL: @size is 0 or more than the address
 * space holds; ENOENT: no such region.
 */
struct drm_npu_bo_create {
	__u64 size;
	__u32 region;
	__u32 flags;
	__u32 handle;
	__u32 pad;
};

#define DRM_NPU_IMPORT_READ_ONLY	(1 << 0)	/* the device only reads it */

/**
 * struct drm_npu_bo_import_user - make a buffer of the caller's own memory
 * @addr: page-aligned address
 * @size: bytes, a multiple of the page size, not 0
 * @flags: DRM_NPU_IMPORT_*
 * @handle: out
 *
 * Without a copy: device and caller see what the other writes. The pages stay where
 * they are until the last reference to the buffer goes, that is the handle and all
 * mappings of VM_BIND, whatever becomes of the caller's mapping: munmap() and
 * mremap() do not disturb a job that runs; pages that MADV_DONTNEED or a new mapping
 * put in their place are not the buffer's. A child of fork() gets copies.
 *
 * Memory may be anonymous, private or shared; a memfd or another file of tmpfs or
 * hugetlbfs; a private mapping of any file, of which the pages become the caller's
 * copies; huge pages of either kind. The buffer has no mmap offset and cannot be
 * exported (EOPNOTSUPP both): memory for others is made with BO_CREATE, or with
 * udmabuf of a memfd. With READ_ONLY the caller's mapping need not be writable, and
 * VM_BIND refuses WRITE (EACCES).
 *
 * The pages count against RLIMIT_MEMLOCK of the caller (EDQUOT; not with
 * CAP_IPC_LOCK), and are shown as VmPin in its /proc/PID/status. EINVAL: @addr, @size
 * or @flags; EFAULT: nothing is mapped somewhere in the range; EACCES: a part cannot
 * be read, or not be written; EOPNOTSUPP: a part is none of the above: memory of a
 * device, a dma-buf, memfd_secret(), DAX, a shared mapping of a file elsewhere; ENOMEM;
 * ENODEV.
 */
struct drm_npu_bo_import_user {
	__u64 addr;
	__u64 size;
	__u32 flags;
	__u32 handle;
};

/**
 * struct drm_npu_bo_mmap_offset - where to mmap() a buffer on the device node
 * @handle: buffer
 * @pad: 0
 * @offset: out
 *
 * A mapping keeps the buffer, its contents, and the open file; it stays usable
 * when the device goes away. ENOENT: no such buffer; EOPNOTSUPP: it is the caller's
 * own memory.
 */
struct drm_npu_bo_mmap_offset {
	__u32 handle;
	__u32 pad;
	__u64 offset;
};

#define DRM_NPU_BO_WAIT_READ	(1 << 0)	/* wait for writers only */

/**
 * struct drm_npu_bo_wait - wait until no job that may use the buffer is left
 * @handle: buffer
 * @flags: DRM_NPU_BO_WAIT_*
 * @timeout_ns: absolute CLOCK_MONOTONIC time; 0 or the past polls
 *
 * Looks at the jobs of the caller while the buffer is mapped in the caller's
 * address space, and at those of everybody once the buffer was exported or
 * imported. 0 when idle, ETIME after the timeout, ENOENT no such buffer.
 */
struct drm_npu_bo_wait {
	__u32 handle;
	__u32 flags;
	__s64 timeout_ns;
};

#define DRM_NPU_BIND_MAP	0	/* map a buffer, or a part of it */
#define DRM_NPU_BIND_UNMAP	1	/* take mappings away */

#define DRM_NPU_BIND_READ	(1 << 0)	/* jobs may read */
#define DRM_NPU_BIND_WRITE	(1 << 1)	/* jobs may write; needs READ */
#define DRM_NPU_BIND_EXEC	(1 << 2)	/* instructions may be fetched */

/**
 * struct drm_npu_bind_op - one change of the address space
 * @op: DRM_NPU_BIND_MAP or _UNMAP
 * @flags: MAP: DRM_NPU_BIND_READ and so on, at least one; UNMAP: 0
 * @handle: MAP: buffer; UNMAP: 0
 * @pad: 0
 * @va: page-aligned address
 * @offset: MAP: page-aligned offset into the buffer; UNMAP: 0
 * @size: bytes, a multiple of the page size, not 0
 *
 * A MAP over an existing mapping replaces what it covers. An UNMAP takes away
 * all that lies in the range, and may split mappings; a range with nothing in
 * it is fine.
 */
struct drm_npu_bind_op {
	__u32 op;
	__u32 flags;
	__u32 handle;
	__u32 pad;
	__u64 va;
	__u64 offset;
	__u64 size;
};

/**
 * struct drm_npu_vm_bind - change the client's address space
 * @op_count: 1 to max_binds
 * @op_stride: sizeof(struct drm_npu_bind_op) of the caller
 * @ops: user pointer to the operations
 * @flags: 0
 * @failed_op: out: on error, the index of the operation that failed
 * @in_sync_count: 0 in this version
 * @out_sync_count: 0 in this version
 * @in_syncs: 0 in this version
 * @out_syncs: 0 in this version
 *
 * Synchronous: on return the device uses the new mappings only. All operations
 * are checked before the first is carried out; should memory run out in
 * between, those before @failed_op are in force. Unmapping memory that a
 * running job uses makes that job fault. EINVAL: a field of an operation or of
 * the call; ENOENT: no such buffer; ENXIO: an imported buffer whose exporter gave
 * less memory than it has bytes; EACCES: WRITE of a buffer that was imported to be
 * read only; ENOMEM.
 */
struct drm_npu_vm_bind {
	__u32 op_count;
	__u32 op_stride;
	__u64 ops;
	__u32 flags;
	__u32 failed_op;
	__u32 in_sync_count;
	__u32 out_sync_count;
	__u64 in_syncs;
	__u64 out_syncs;
};

/**
 * struct drm_npu_queue_create - create a job queue
 * @priority: 0 (lowest) to priorities - 1; above the middle needs CAP_SYS_NICE
 *	(EACCES)
 * @core_mask: cores that may run the jobs; 0 for all
 * @limit: cycle limit of a job; 0 for the default
 * @flags: 0
 * @queue_id: out
 *
 * Jobs of one queue start in order. ENOSPC when no queue slot, or for the first
 * queue of a client no context, is free.
 */
struct drm_npu_queue_create {
	__u32 priority;
	__u32 core_mask;
	__u64 limit;
	__u32 flags;
	__u32 queue_id;
};

/**
 * struct drm_npu_queue_destroy - destroy a queue
 * @queue_id: queue
 * @pad: 0
 *
 * Jobs that have not ended are aborted; their fences carry ECANCELED. ENOENT: no
 * such queue.
 */
struct drm_npu_queue_destroy {
	__u32 queue_id;
	__u32 pad;
};

#define DRM_NPU_QUEUE_BANNED	(1 << 0)	/* it hung the device; SUBMIT gives EIO */

/**
 * struct drm_npu_queue_query - state of a queue
 * @queue_id: in
 * @state: DRM_NPU_QUEUE_* bits
 * @jobs_submitted: jobs accepted so far; also the number of the last one
 * @jobs_done: jobs that have ended, in whatever way
 * @jobs_failed: of these, jobs that ended otherwise than with FINISH
 * @cycles: core cycles that the jobs have run
 * @resets: device resets that ended jobs of this queue
 * @failed_job: number of the last job that failed, 0 if none
 * @failed_status: NPU_JOB_STATUS_* of that job
 * @fault_code: NPU_FAULT_* of that job
 * @fault_unit: NPU_UNIT_*
 * @fault_access: NPU_ACCESS_*
 * @fault_core: core
 * @pad0: 0
 * @fault_insn: instruction index
 * @pad: 0
 * @fault_va: address or index, see the contract
 */
struct drm_npu_queue_query {
	__u32 queue_id;
	__u32 state;
	__u64 jobs_submitted;
	__u64 jobs_done;
	__u64 jobs_failed;
	__u64 cycles;
	__u64 resets;
	__u64 failed_job;
	__u16 failed_status;
	__u8 fault_code;
	__u8 fault_unit;
	__u8 fault_access;
	__u8 fault_core;
	__u16 pad0;
	__u32 fault_insn;
	__u32 pad;
	__u64 fault_va;
};

/**
 * struct drm_npu_job - one job
 * @insn_va: address of the instructions, a multiple of 16
 * @insn_count: instructions; 0 makes it a null job, all else must then be 0
 * @region_count: entries of the region table
 * @region_va: address of the region table, a multiple of 16
 * @limit: cycle limit, 0 for the queue's; the lower holds
 * @report_va: where struct npu_job_report goes, a multiple of 64; 0: nowhere
 * @flags: 0
 * @pad: 0
 */
struct drm_npu_job {
	__u64 insn_va;
	__u32 insn_count;
	__u32 region_count;
	__u64 region_va;
	__u64 limit;
	__u64 report_va;
	__u32 flags;
	__u32 pad;
};

/**
 * struct drm_npu_sync - a syncobj of a submission
 * @handle: syncobj
 * @flags: 0
 * @point: timeline point; 0: binary
 *
 * ENOENT: no such syncobj; EINVAL: nothing has been submitted that would signal
 * an in sync.
 */
struct drm_npu_sync {
	__u32 handle;
	__u32 flags;
	__u64 point;
};

/**
 * struct drm_npu_submit - run jobs
 * @queue_id: queue
 * @flags: 0
 * @job_count: 1 to max_jobs
 * @job_stride: sizeof(struct drm_npu_job) of the caller
 * @jobs: user pointer to the jobs
 * @in_sync_count: syncs that must signal before the first job starts
 * @out_sync_count: syncs that signal when the last job has ended
 * @in_syncs: user pointer to struct drm_npu_sync
 * @out_syncs: user pointer to struct drm_npu_sync
 * @seqno: out: number of the last job in its queue, counting from 1
 *
 * All or nothing: on error no job was queued. The out syncs' fence carries the
 * error of the first job that failed: EFAULT fault, ETIME limit, ECANCELED
 * aborted, cancelled or lost in a reset, EINVAL refused by the device, ENODEV
 * device gone. EIO: the queue is banned.
 */
struct drm_npu_submit {
	__u32 queue_id;
	__u32 flags;
	__u32 job_count;
	__u32 job_stride;
	__u64 jobs;
	__u32 in_sync_count;
	__u32 out_sync_count;
	__u64 in_syncs;
	__u64 out_syncs;
	__u64 seqno;
};

#define DRM_NPU_COMM_LEN	16	/* bytes of a process's name */
#define DRM_NPU_CGROUP_LEN	256	/* bytes of a cgroup's path */

#define DRM_NPU_ACCOUNT_CGROUP_CUT	(1 << 0)	/* the path's beginning is missing */

/**
 * struct drm_npu_account - what a client has used, a client being an open file
 * @sequence: number of the account among those of clients that have gone, from 1;
 *	0 while the client is there
 * @client_id: drm-client-id of fdinfo
 * @opened_ns: when the file was opened, CLOCK_REALTIME
 * @closed_ns: when it was closed, 0 while it is open
 * @jobs: jobs that have ended, in whatever way
 * @jobs_failed: of these, jobs that ended otherwise than with FINISH
 * @cycles: core cycles; of a job that runs, as far as the firmware has told
 * @macs: multiply-accumulates of jobs that have ended
 * @bytes_read: bytes that cores read from memory, of jobs that have ended
 * @bytes_written: bytes that cores wrote
 * @energy_nj: nanojoules, by the contract's model: cycles, multiply-accumulates and
 *	bytes, without what the device uses by being there
 * @cgroup_id: cgroup of the process, in the hierarchy of version 2
 * @pid: process that opened the file, in the initial namespace
 * @uid: its user, in the caller's namespace
 * @flags: DRM_NPU_ACCOUNT_*
 * @pad: 0
 * @comm: name of the process
 * @cgroup: path of the cgroup; what does not fit is cut off its beginning
 *
 * Who opened the file, and its cgroup, is as of then. Strings end with a 0.
 */
struct drm_npu_account {
	__u64 sequence;
	__u64 client_id;
	__u64 opened_ns;
	__u64 closed_ns;
	__u64 jobs;
	__u64 jobs_failed;
	__u64 cycles;
	__u64 macs;
	__u64 bytes_read;
	__u64 bytes_written;
	__u64 energy_nj;
	__u64 cgroup_id;
	__u32 pid;
	__u32 uid;
	__u32 flags;
	__u32 pad;
	char comm[DRM_NPU_COMM_LEN];
	char cgroup[DRM_NPU_CGROUP_LEN];
};

#define DRM_NPU_ACCOUNTS_LIVE	(1 << 0)	/* clients that are there, not closed ones */

/**
 * struct drm_npu_accounts - read accounts
 * @flags: DRM_NPU_ACCOUNTS_*
 * @count: in: room at @records, not 0; out: accounts written there
 * @stride: sizeof(struct drm_npu_account) of the caller: what the driver knows more
 *	of is left out, what it does not know is zeroed
 * @pad: 0
 * @records: user pointer
 * @after: in: accounts behind this one are wanted, 0 for all; out: the last one
 *	that was looked at, for the next call. A sequence, with LIVE a client_id.
 * @lost: in: 0; out: closed accounts behind @after that are no longer kept
 *
 * A device keeps the accounts of the last 1,024 clients that have gone and had run a
 * job, until its driver is unbound. Callers see the accounts of their own user, with CAP_PERFMON
 * those of all. A call may give fewer than there are: when @count is 0 there are no
 * more. Works while the device is in a reset or suspended.
 */
struct drm_npu_accounts {
	__u32 flags;
	__u32 count;
	__u32 stride;
	__u32 pad;
	__u64 records;
	__u64 after;
	__u64 lost;
};

#define DRM_IOCTL_NPU_DEV_QUERY \
	DRM_IOWR(DRM_COMMAND_BASE + DRM_NPU_DEV_QUERY, struct drm_npu_dev_query)
#define DRM_IOCTL_NPU_BO_CREATE \
	DRM_IOWR(DRM_COMMAND_BASE + DRM_NPU_BO_CREATE, struct drm_npu_bo_create)
#define DRM_IOCTL_NPU_BO_IMPORT_USER \
	DRM_IOWR(DRM_COMMAND_BASE + DRM_NPU_BO_IMPORT_USER, struct drm_npu_bo_import_user)
#define DRM_IOCTL_NPU_BO_MMAP_OFFSET \
	DRM_IOWR(DRM_COMMAND_BASE + DRM_NPU_BO_MMAP_OFFSET, struct drm_npu_bo_mmap_offset)
#define DRM_IOCTL_NPU_BO_WAIT \
	DRM_IOW(DRM_COMMAND_BASE + DRM_NPU_BO_WAIT, struct drm_npu_bo_wait)
#define DRM_IOCTL_NPU_VM_BIND \
	DRM_IOWR(DRM_COMMAND_BASE + DRM_NPU_VM_BIND, struct drm_npu_vm_bind)
#define DRM_IOCTL_NPU_QUEUE_CREATE \
	DRM_IOWR(DRM_COMMAND_BASE + DRM_NPU_QUEUE_CREATE, struct drm_npu_queue_create)
#define DRM_IOCTL_NPU_QUEUE_DESTROY \
	DRM_IOW(DRM_COMMAND_BASE + DRM_NPU_QUEUE_DESTROY, struct drm_npu_queue_destroy)
#define DRM_IOCTL_NPU_QUEUE_QUERY \
	DRM_IOWR(DRM_COMMAND_BASE + DRM_NPU_QUEUE_QUERY, struct drm_npu_queue_query)
#define DRM_IOCTL_NPU_SUBMIT \
	DRM_IOWR(DRM_COMMAND_BASE + DRM_NPU_SUBMIT, struct drm_npu_submit)

#define DRM_IOCTL_NPU_ACCOUNTS \
	DRM_IOWR(DRM_COMMAND_BASE + DRM_NPU_ACCOUNTS, struct drm_npu_accounts)

#if defined(__cplusplus)
}
#endif

#endif
