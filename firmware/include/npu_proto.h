/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 OR MIT */
/* Generated from firmware/contract by gen.py; do not edit. */
#ifndef NPU_PROTO_H
#define NPU_PROTO_H

#if defined(__KERNEL__) || defined(__linux__)
#include <linux/types.h>
#else
#include <stdint.h>
typedef uint8_t __u8;
typedef uint16_t __u16;
typedef uint32_t __u32;
typedef uint64_t __u64;
#endif
#ifdef __KERNEL__
#include <linux/build_bug.h>
#include <linux/stddef.h>
#else
#include <assert.h>
#include <stddef.h>
#endif

/* Lowest protocol version described here. */
#define NPU_PROTO_MIN			1u
/* Highest protocol version described here. */
#define NPU_PROTO_MAX			1u
/* Alignment of every ring. */
#define NPU_RING_ALIGN			4096u
/* Logarithm to base 2 of the smallest ring. */
#define NPU_RING_LOG_MIN		1u
/* Logarithm to base 2 of the largest ring. */
#define NPU_RING_LOG_MAX		10u
/* Alignment of a shadow block. */
#define NPU_SHADOW_ALIGN		64u
/* Queue priorities, 0 (lowest) to 3. */
#define NPU_PRIORITIES			4u
/* Entries of the region table that selectors name. */
#define NPU_REGION_ENTRIES		16u
/*
 * Most entries of a region table: entry 16 + m is the legacy base of memory
 * m.
 */
#define NPU_REGION_TABLE_MAX		24u
/* Alignment of a region's base. */
#define NPU_REGION_ALIGN		64u
/* Alignment of report_va. */
#define NPU_REPORT_ALIGN		64u
/* Alignment of the address of TELEMETRY and LOG. */
#define NPU_COPY_ALIGN			8u
/* Highest cycle limit of a queue or job: 10 seconds at 1 GHz. */
#define NPU_LIMIT_MAX			0x2540be400ull
/* Cycle limit of a queue whose user asks for none: 1 second at 1 GHz. */
#define NPU_LIMIT_DEFAULT		0x3b9aca00u
/* Entries of the firmware's log. */
#define NPU_LOG_ENTRIES			32u
/* First word of a firmware image: the bytes "NPUF". */
#define NPU_FW_MAGIC			0x4655504eu
/* Most bytes of a firmware image's payload (64 KiB). */
#define NPU_FW_MAX_LENGTH		0x10000u

/* Operations of the admin ring. */
#define NPU_ADMIN_PING			1u
#define NPU_ADMIN_CQ_CREATE		2u
#define NPU_ADMIN_CQ_DESTROY		3u
#define NPU_ADMIN_QUEUE_CREATE		4u
#define NPU_ADMIN_QUEUE_DESTROY		5u
#define NPU_ADMIN_ABORT			6u
#define NPU_ADMIN_CONTEXT_SET_ROOT	7u
#define NPU_ADMIN_TLB_INVALIDATE	8u
#define NPU_ADMIN_CONTEXT_RESET		9u
#define NPU_ADMIN_EVENT_RING_SET	10u
#define NPU_ADMIN_TELEMETRY		11u
#define NPU_ADMIN_SUSPEND		12u
#define NPU_ADMIN_LOG			13u
#define NPU_ADMIN_NAMES(X) \
	X(PING, 1, "ping") \
	X(CQ_CREATE, 2, "cq_create") \
	X(CQ_DESTROY, 3, "cq_destroy") \
	X(QUEUE_CREATE, 4, "queue_create") \
	X(QUEUE_DESTROY, 5, "queue_destroy") \
	X(ABORT, 6, "abort") \
	X(CONTEXT_SET_ROOT, 7, "context_set_root") \
	X(TLB_INVALIDATE, 8, "tlb_invalidate") \
	X(CONTEXT_RESET, 9, "context_reset") \
	X(EVENT_RING_SET, 10, "event_ring_set") \
	X(TELEMETRY, 11, "telemetry") \
	X(SUSPEND, 12, "suspend") \
	X(LOG, 13, "log")

/* Status of an admin completion. */
#define NPU_ADMIN_STATUS_OK		0u
#define NPU_ADMIN_STATUS_BAD_OP		1u
#define NPU_ADMIN_STATUS_BAD_FIELD	2u
#define NPU_ADMIN_STATUS_EXISTS		3u
#define NPU_ADMIN_STATUS_NOT_FOUND	4u
#define NPU_ADMIN_STATUS_BUSY		5u
#define NPU_ADMIN_STATUS_DMA_ERROR	6u
#define NPU_ADMIN_STATUS_NAMES(X) \
	X(OK, 0, "ok") \
	X(BAD_OP, 1, "bad_op") \
	X(BAD_FIELD, 2, "bad_field") \
	X(EXISTS, 3, "exists") \
	X(NOT_FOUND, 4, "not_found") \
	X(BUSY, 5, "busy") \
	X(DMA_ERROR, 6, "dma_error")

/* Operations of a job ring. */
#define NPU_JOB_NOP			0u
#define NPU_JOB_RUN			1u
#define NPU_JOB_NAMES(X) \
	X(NOP, 0, "nop") \
	X(RUN, 1, "run")

/* Status of a job. */
#define NPU_JOB_STATUS_OK		0u
#define NPU_JOB_STATUS_FAULT		1u
#define NPU_JOB_STATUS_LIMIT		2u
#define NPU_JOB_STATUS_ABORTED		3u
#define NPU_JOB_STATUS_CANCELED		4u
#define NPU_JOB_STATUS_INVALID		5u
#define NPU_JOB_STATUS_REPORT_FAULT	6u
#define NPU_JOB_STATUS_NAMES(X) \
	X(OK, 0, "ok") \
	X(FAULT, 1, "fault") \
	X(LIMIT, 2, "limit") \
	X(ABORTED, 3, "aborted") \
	X(CANCELED, 4, "canceled") \
	X(INVALID, 5, "invalid") \
	X(REPORT_FAULT, 6, "report_fault")

/* What went wrong. */
#define NPU_FAULT_NONE			0u
#define NPU_FAULT_UNMAPPED		1u
#define NPU_FAULT_PERMISSION		2u
#define NPU_FAULT_MALFORMED		3u
#define NPU_FAULT_ADDRESS		4u
#define NPU_FAULT_CONTEXT		5u
#define NPU_FAULT_BUS			6u
#define NPU_FAULT_REGION		7u
#define NPU_FAULT_SELECTOR		8u
#define NPU_FAULT_ALIGNMENT		9u
#define NPU_FAULT_SRAM			10u
#define NPU_FAULT_ILLEGAL		11u
#define NPU_FAULT_DEADLOCK		12u
#define NPU_FAULT_NO_FINISH		13u
#define NPU_FAULT_LENGTH		14u
#define NPU_FAULT_NAMES(X) \
	X(NONE, 0, "none") \
	X(UNMAPPED, 1, "unmapped") \
	X(PERMISSION, 2, "permission") \
	X(MALFORMED, 3, "malformed") \
	X(ADDRESS, 4, "address") \
	X(CONTEXT, 5, "context") \
	X(BUS, 6, "bus") \
	X(REGION, 7, "region") \
	X(SELECTOR, 8, "selector") \
	X(ALIGNMENT, 9, "alignment") \
	X(SRAM, 10, "sram") \
	X(ILLEGAL, 11, "illegal") \
	X(DEADLOCK, 12, "deadlock") \
	X(NO_FINISH, 13, "no_finish") \
	X(LENGTH, 14, "length")

/* Where a fault was met. */
#define NPU_UNIT_NONE			0u
#define NPU_UNIT_FETCH			1u
#define NPU_UNIT_LOAD			2u
#define NPU_UNIT_COMPUTE		3u
#define NPU_UNIT_STORE			4u
#define NPU_UNIT_REGION			5u
#define NPU_UNIT_DMA			6u
#define NPU_UNIT_NAMES(X) \
	X(NONE, 0, "none") \
	X(FETCH, 1, "fetch") \
	X(LOAD, 2, "load") \
	X(COMPUTE, 3, "compute") \
	X(STORE, 4, "store") \
	X(REGION, 5, "region") \
	X(DMA, 6, "dma")

/* Kind of the access that faulted. */
#define NPU_ACCESS_READ			0u
#define NPU_ACCESS_WRITE		1u
#define NPU_ACCESS_EXECUTE		2u
#define NPU_ACCESS_NAMES(X) \
	X(READ, 0, "read") \
	X(WRITE, 1, "write") \
	X(EXECUTE, 2, "execute")

/* Kinds of events. */
#define NPU_EVENT_FAULT			1u
#define NPU_EVENT_RING_FAULT		2u
#define NPU_EVENT_LOST			3u
#define NPU_EVENT_NAMES(X) \
	X(FAULT, 1, "fault") \
	X(RING_FAULT, 2, "ring_fault") \
	X(LOST, 3, "lost")

/* What an entry of the firmware's log tells. */
#define NPU_LOG_BOOT			1u
#define NPU_LOG_ADMIN			2u
#define NPU_LOG_JOB			3u
#define NPU_LOG_RING_FAULT		4u
#define NPU_LOG_FAILED			5u
#define NPU_LOG_NAMES(X) \
	X(BOOT, 1, "boot") \
	X(ADMIN, 2, "admin") \
	X(JOB, 3, "job") \
	X(RING_FAULT, 4, "ring_fault") \
	X(FAILED, 5, "failed")

/*
 * Bits of a page-table entry (RISC-V Sv39; PPN at bits 53:10 is a bus
 * address / 4096).
 */
#define NPU_PTE_V			(1u << 0)
#define NPU_PTE_R			(1u << 1)
#define NPU_PTE_W			(1u << 2)
#define NPU_PTE_X			(1u << 3)
#define NPU_PTE_U			(1u << 4)
#define NPU_PTE_G			(1u << 5)
#define NPU_PTE_A			(1u << 6)
#define NPU_PTE_D			(1u << 7)
#define NPU_PTE_V_BIT			0u
#define NPU_PTE_R_BIT			1u
#define NPU_PTE_W_BIT			2u
#define NPU_PTE_X_BIT			3u
#define NPU_PTE_U_BIT			4u
#define NPU_PTE_G_BIT			5u
#define NPU_PTE_A_BIT			6u
#define NPU_PTE_D_BIT			7u

/*
 * An entry of the admin submission ring. Fields that the operation does not
 * use are 0.
 */
struct npu_admin_sqe {
	__u8 op;
	__u8 priority;
	__u8 log_size;
	__u8 vector;
	__u32 cmd_id;
	__u16 queue;
	__u16 cq;
	__u16 context;
	__u16 ring_space;
	__u64 address;
	__u64 size;
	__u64 shadow;
	__u64 limit;
	__u32 core_mask;
	__u32 arg0;
	__u32 reserved[2];
};
static_assert(sizeof(struct npu_admin_sqe) == 64, "npu_admin_sqe");

/*
 * An entry of a job submission ring. Context, priority and cores come from
 * the queue.
 */
struct npu_job_sqe {
	__u8 op;
	__u8 flags;
	__u16 reserved0;
	__u32 cmd_id;
	__u64 insn_va;
	__u32 insn_count;
	__u32 region_count;
	__u64 region_va;
	__u64 limit;
	__u64 report_va;
	__u64 reserved1[2];
};
static_assert(sizeof(struct npu_job_sqe) == 64, "npu_job_sqe");

/*
 * An entry of a completion ring, of a job or of an admin operation. The
 * device writes the last word after all others; the phase starts at 1 and
 * changes each time the ring wraps. The host keeps a ring at least as large
 * as all the entries that can be outstanding on it, so there is no doorbell
 * for its head.
 */
struct npu_cqe {
	__u32 cmd_id;
	__u16 status;
	__u8 fault_code;
	__u8 core;
	__u64 cycles;
	__u64 macs;
	__u64 bytes_read;
	__u64 bytes_written;
	__u64 fault_va;
	__u32 insn;
	__u8 fault_unit;
	__u8 fault_access;
	__u16 reserved;
	__u16 queue;
	__u16 sq_head;
	__u32 phase;
};
static_assert(sizeof(struct npu_cqe) == 64, "npu_cqe");

/* What a job did, exact. Also the layout of the report window of a core. */
struct npu_job_report {
	__u16 status;
	__u8 fault_code;
	__u8 core;
	__u32 insn;
	__u64 fault_va;
	__u64 start_tick;
	__u64 end_tick;
	__u64 cycles;
	__u64 macs;
	__u64 bytes_read;
	__u64 bytes_written;
	__u64 busy_load;
	__u64 busy_compute;
	__u64 busy_store;
	__u64 stall_load;
	__u64 stall_compute_load;
	__u64 stall_compute_store;
	__u64 stall_store;
	__u8 fault_unit;
	__u8 fault_access;
	__u16 context;
	__u32 reserved;
};
static_assert(sizeof(struct npu_job_report) == 128, "npu_job_report");

/*
 * One entry of a job's region table. Entry 0 holds for selector 0 unless the
 * table has entry 16 + memory; entries 1 to 15 are what selectors 1 to 15
 * name. With no table selector 0 is the whole address space from 0.
 */
struct npu_region {
	__u64 base;
	__u64 limit;
};
static_assert(sizeof(struct npu_region) == 16, "npu_region");

/*
 * Shadow doorbell of a queue. The host writes sq_tail before it compares
 * event_idx, the device writes event_idx before it reads sq_tail again; the
 * host rings the doorbell only if event_idx lies in [old tail, new tail).
 * The host zeroes the block before it creates the queue.
 */
struct npu_shadow {
	__u32 sq_tail;
	__u32 reserved0[7];
	__u32 event_idx;
	__u32 sq_head;
	__u64 progress;
	__u64 reserved1[2];
};
static_assert(sizeof(struct npu_shadow) == 64, "npu_shadow");

/*
 * An entry of the event ring; phase as in npu_cqe. The host acknowledges by
 * clearing the phase word of the entries it has read.
 */
struct npu_event {
	__u16 type;
	__u16 queue;
	__u16 context;
	__u8 fault_code;
	__u8 fault_unit;
	__u32 cmd_id;
	__u32 insn;
	__u64 fault_va;
	__u64 tick;
	__u8 fault_access;
	__u8 core;
	__u16 reserved0;
	__u32 reserved1[6];
	__u32 phase;
};
static_assert(sizeof(struct npu_event) == 64, "npu_event");

/* Counters since boot. */
struct npu_telemetry {
	__u64 tick;
	__u64 jobs;
	__u64 faults;
	__u64 aborts;
	__u64 limits;
	__u64 yields;
	__u64 cycles;
	__u64 macs;
	__u64 bytes_read;
	__u64 bytes_written;
	__u64 cp_insns;
	__u64 events_lost;
	__u32 temperature;
	__u32 power;
	__u64 energy;
	__u64 reserved[2];
};
static_assert(sizeof(struct npu_telemetry) == 128, "npu_telemetry");

/*
 * An entry of the firmware's log. Entries are used in turn; the one with the
 * lowest sequence is the oldest.
 */
struct npu_log_entry {
	__u32 sequence;
	__u8 what;
	__u8 code;
	__u16 queue;
	__u64 tick;
	__u32 arg0;
	__u32 reserved;
	__u64 arg1;
};
static_assert(sizeof(struct npu_log_entry) == 32, "npu_log_entry");

/* Head of a firmware image file; the payload follows it. */
struct npu_fw_header {
	__u32 magic;
	__u32 header_size;
	__u16 device;
	__u16 flags;
	__u16 proto_min;
	__u16 proto_max;
	__u32 version;
	__u32 security_version;
	__u32 load_address;
	__u32 entry;
	__u32 length;
	__u32 crc32;
	__u32 header_crc32;
	__u32 signature_type;
	__u32 signature_length;
	__u32 reserved0;
	__u8 build_id[16];
	__u8 signature[384];
	__u32 reserved1[14];
};
static_assert(sizeof(struct npu_fw_header) == 512, "npu_fw_header");

#endif
