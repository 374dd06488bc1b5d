/* SPDX-License-Identifier: (GPL-2.0-only WITH Linux-syscall-note) OR MIT */
/*
 * What npu.ko leaves in /sys/class/devcoredump when it resets a device: an ELF
 * file (64 bits, little endian, ET_CORE, EM_NONE). Its notes have the name "NPU"
 * and the types below; each is one structure, or an array of it. A PT_LOAD segment
 * holds instructions of a job at their virtual address, with the number of the
 * context in p_paddr.
 *
 * Notes grow at their ends, and readers skip types that they do not know.
 */
#ifndef _UAPI_DRM_NPU_COREDUMP_H_
#define _UAPI_DRM_NPU_COREDUMP_H_

#include <linux/types.h>

#if defined(__cplusplus)
extern "C" {
#endif

#define NPU_DUMP_NOTE_NAME	"NPU"

/**
 * enum npu_dump_note - types of notes
 * @NPU_DUMP_DEVICE: struct npu_dump_device, once, the first
 * @NPU_DUMP_REGISTERS: array of struct npu_dump_register, before the reset
 * @NPU_DUMP_QUEUE: struct npu_dump_queue, one a queue
 * @NPU_DUMP_JOBS: array of struct npu_dump_job: what the device had been given of
 *	the queue before it
 * @NPU_DUMP_COMPLETIONS: struct npu_dump_ring, then entries (struct npu_cqe of the
 *	contract), the oldest first: the last jobs that ended
 * @NPU_DUMP_ADMIN: struct npu_dump_ring, then the last entries of the admin ring
 *	(struct npu_admin_sqe), the oldest first
 * @NPU_DUMP_EVENTS: the firmware's event ring (struct npu_event)
 * @NPU_DUMP_LOG: the firmware's log (struct npu_log_entry), after the reset
 */
enum npu_dump_note {
	NPU_DUMP_DEVICE = 0x4e550001,
	NPU_DUMP_REGISTERS = 0x4e550002,
	NPU_DUMP_QUEUE = 0x4e550003,
	NPU_DUMP_JOBS = 0x4e550004,
	NPU_DUMP_COMPLETIONS = 0x4e550005,
	NPU_DUMP_ADMIN = 0x4e550006,
	NPU_DUMP_EVENTS = 0x4e550007,
	NPU_DUMP_LOG = 0x4e550008,
};

/**
 * enum npu_dump_reason - why the device was reset
 * @NPU_DUMP_HANG: a queue with jobs did not get on
 * @NPU_DUMP_COMMAND: the firmware did not answer, or refused what it may not refuse
 * @NPU_DUMP_REQUEST: somebody asked for it
 */
enum npu_dump_reason {
	NPU_DUMP_HANG = 1,
	NPU_DUMP_COMMAND = 2,
	NPU_DUMP_REQUEST = 3,
};

#define NPU_DUMP_TRUNCATED	(1 << 0)	/* there was no room for some notes */

/**
 * struct npu_dump_device - the device, and what happened
 * @time_ns: when, CLOCK_REALTIME
 * @resets: resets before this one
 * @reason: enum npu_dump_reason
 * @guilty: slot of the queue that is banned, 0 for none
 * @flags: NPU_DUMP_*
 * @contract: version of the contract
 * @device_id: vendor and device
 * @revision: stepping
 * @fw_version: firmware
 * @fw_features: its features
 * @fw_proto: version of the protocol
 * @cores: number of cores
 * @queue_slots: number of slots
 * @contexts: number of contexts
 * @clock_khz: rate of ticks and cycles
 * @patience_ms: how long the device may show no sign of life
 * @uuid: of the device
 * @fw_build: of the firmware
 * @name: of the device in the kernel
 * @kernel: release of the kernel
 */
struct npu_dump_device {
	__u64 time_ns;
	__u64 resets;
	__u32 reason;
	__u32 guilty;
	__u32 flags;
	__u32 contract;
	__u32 device_id;
	__u32 revision;
	__u32 fw_version;
	__u32 fw_features;
	__u32 fw_proto;
	__u32 cores;
	__u32 queue_slots;
	__u32 contexts;
	__u32 clock_khz;
	__u32 patience_ms;
	__u8 uuid[16];
	__u8 fw_build[16];
	char name[64];
	char kernel[64];
};

/**
 * struct npu_dump_register - a register of the HOST block
 * @offset: of the register
 * @value: that it had
 */
struct npu_dump_register {
	__u32 offset;
	__u32 value;
};

#define NPU_DUMP_QUEUE_GUILTY	(1 << 0)	/* it had the device */
#define NPU_DUMP_QUEUE_BANNED	(1 << 1)	/* it hung the device before */
#define NPU_DUMP_QUEUE_BROKEN	(1 << 2)	/* the firmware cannot use its ring */
#define NPU_DUMP_QUEUE_SHADOW	(1 << 3)	/* event_idx, sq_head and progress hold */

/**
 * struct npu_dump_queue - a queue
 * @client_id: drm-client-id of fdinfo
 * @limit: cycle limit of a job
 * @submitted: jobs that were submitted
 * @done: jobs that ended
 * @failed: of these, jobs that failed
 * @cycles: cycles of jobs that ended
 * @progress: cycles, as the device has told, since it was booted
 * @idle_ms: time since there was a sign of life
 * @failed_job: the last job that failed, 0 for none
 * @failed_insn_va: its instructions
 * @fault_va: see the contract
 * @slot: slot
 * @context: context
 * @priority: priority
 * @cq: completion ring
 * @core_mask: cores
 * @flags: NPU_DUMP_QUEUE_*
 * @tail: entries written to the ring
 * @told: of these, entries that the device was told of
 * @outstanding: entries whose jobs have not ended
 * @event_idx: of the shadow block
 * @sq_head: entries that the device has fetched, as it has told
 * @size: entries of the ring
 * @fault_insn: instruction of the last failure
 * @failed_insn_count: instructions of the job that failed
 * @pid: process that opened the file
 * @failed_status: of the last job that failed
 * @fault_code: its fault
 * @fault_unit: unit
 * @fault_access: access
 * @fault_core: core
 * @pad0: 0
 * @comm: name of the process
 */
struct npu_dump_queue {
	__u64 client_id;
	__u64 limit;
	__u64 submitted;
	__u64 done;
	__u64 failed;
	__u64 cycles;
	__u64 progress;
	__u64 idle_ms;
	__u64 failed_job;
	__u64 failed_insn_va;
	__u64 fault_va;
	__u32 slot;
	__u32 context;
	__u32 priority;
	__u32 cq;
	__u32 core_mask;
	__u32 flags;
	__u32 tail;
	__u32 told;
	__u32 outstanding;
	__u32 event_idx;
	__u32 sq_head;
	__u32 size;
	__u32 fault_insn;
	__u32 failed_insn_count;
	__u32 pid;
	__u16 failed_status;
	__u8 fault_code;
	__u8 fault_unit;
	__u8 fault_access;
	__u8 fault_core;
	__u8 pad0[6];
	char comm[16];
};

/**
 * struct npu_dump_job - a job that the device was given
 * @job: its number in its queue
 * @insn_va: as in struct drm_npu_job
 * @region_va: the same
 * @limit: the same
 * @report_va: the same
 * @insn_count: the same
 * @region_count: the same
 * @cmd_id: what the device calls it
 * @position: its entry in the ring
 */
struct npu_dump_job {
	__u64 job;
	__u64 insn_va;
	__u64 region_va;
	__u64 limit;
	__u64 report_va;
	__u32 insn_count;
	__u32 region_count;
	__u32 cmd_id;
	__u32 position;
};

/**
 * struct npu_dump_ring - a ring; entries of 64 bytes follow
 * @ring: its number
 * @head: entries that were taken from it, or written to it
 * @count: entries that follow
 * @pad: 0
 */
struct npu_dump_ring {
	__u32 ring;
	__u32 head;
	__u32 count;
	__u32 pad;
};

#if defined(__cplusplus)
}
#endif

#endif
