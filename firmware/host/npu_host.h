/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 OR MIT */
/*
 * The host's side of the device: rings, admin operations, page tables, the
 * check of a firmware image, and the boot handshake. Freestanding C for a
 * kernel module and for user space.
 *
 * Nothing here locks. Each object (a ring, struct npu_admin, a page table) is
 * used by one caller at a time; two objects may be used at the same time.
 * "Any context" means that a function neither sleeps nor calls an operation
 * that may. Nothing keeps global state.
 *
 * Errors are negative errno values. Where a struct npu_host_detail is passed
 * it is filled in on error and tells what was looked at, what was expected and
 * what was found; NULL is allowed.
 */
#ifndef FIRMWARE_HOST_NPU_HOST_H
#define FIRMWARE_HOST_NPU_HOST_H

#include "firmware/host/npu_port.h"
#include "npu_proto.h"
#include "npu_regs.h"

#define NPU_PAGE_SHIFT	12
#define NPU_PAGE_SIZE	(1ull << NPU_PAGE_SHIFT)
#define NPU_HUGE_SHIFT	21
#define NPU_HUGE_SIZE	(1ull << NPU_HUGE_SHIFT)

/**
 * struct npu_host_detail - what exactly was wrong
 * @what: the thing that was checked, a constant string; never NULL on error
 * @expected: value or bound that it should have had
 * @found: value that it had
 */
struct npu_host_detail {
	const char *what;
	u64 expected;
	u64 found;
};

/**
 * struct npu_host_ops - what the user of the library gives it
 * @reg_read: read a register, @offset in the register region; any context
 * @reg_write: write a register or a word of the TCM window; any context
 * @doorbell: write doorbell @index; any context. Orders earlier writes to
 *	memory before the doorbell, as writel() does.
 * @now_us: monotonic time in microseconds; any context
 * @relax: called between two looks at something that the device has yet to
 *	do. May sleep: only functions that say so call it.
 * @page_alloc: NPU_PAGE_SIZE bytes, aligned to it, zeroed, coherent for the
 *	device; the device's address goes to @bus. NULL when there is none.
 *	May sleep.
 * @page_free: gives back what @page_alloc returned
 * @mem_alloc: zeroed memory of the host, may sleep; NULL when there is none
 * @mem_free: gives back what @mem_alloc returned
 *
 * A user leaves out (NULL) what the functions that it calls do not need: rings
 * call @doorbell, page tables the four allocation functions, boot and reset all
 * of the first five.
 */
struct npu_host_ops {
	u32 (*reg_read)(void *opaque, u32 offset);
	void (*reg_write)(void *opaque, u32 offset, u32 value);
	void (*doorbell)(void *opaque, u32 index, u32 value);
	u64 (*now_us)(void *opaque);
	void (*relax)(void *opaque);
	void *(*page_alloc)(void *opaque, u64 *bus);
	void (*page_free)(void *opaque, void *cpu, u64 bus);
	void *(*mem_alloc)(void *opaque, size_t size);
	void (*mem_free)(void *opaque, void *mem);
};

/**
 * struct npu_host_env - the operations and whom they are for
 * @ops: operations
 * @opaque: passed to each of them
 *
 * Must outlive the objects that were initialised with it.
 */
struct npu_host_env {
	const struct npu_host_ops *ops;
	void *opaque;
};

/* ---- submission rings (npu_ring.c) ---- */

/**
 * struct npu_sq - submission ring of 64-byte entries
 * @env: for the doorbell
 * @entries: the ring
 * @shadow: shadow doorbell, NULL for none
 * @size: entries, a power of two
 * @doorbell: its index: the slot, 0 for the admin ring
 * @tail: free-running count of entries pushed
 * @published: tail that the device was last told
 * @outstanding: entries pushed whose completion has not been seen
 */
struct npu_sq {
	const struct npu_host_env *env;
	u8 *entries;
	struct npu_shadow *shadow;
	u32 size;
	u32 doorbell;
	u32 tail;
	u32 published;
	u32 outstanding;
};

/**
 * npu_sq_init - start an empty ring
 * @sq: ring
 * @env: environment; may be NULL if npu_sq_publish() is used alone
 * @entries: memory of the ring, (64 << @log_size) bytes
 * @log_size: NPU_RING_LOG_MIN to NPU_RING_LOG_MAX
 * @doorbell: slot, or 0
 * @shadow: zeroed shadow block or NULL
 *
 * Any context. Return: 0, or -EINVAL for @log_size.
 */
int npu_sq_init(struct npu_sq *sq, const struct npu_host_env *env, void *entries, u32 log_size,
		u32 doorbell, struct npu_shadow *shadow);

/**
 * npu_sq_room - entries that can be pushed now
 * @sq: ring
 *
 * A slot is free again once as many completions have been seen: a completion
 * of a later entry shows that earlier ones were fetched. Any context.
 */
u32 npu_sq_room(const struct npu_sq *sq);

/**
 * npu_sq_push - write one entry; the device is not told yet
 * @sq: ring
 * @entry: 64 bytes, little endian
 *
 * Any context. Return: 0, or -ENOSPC when there is no room.
 */
int npu_sq_push(struct npu_sq *sq, const void *entry);

/**
 * npu_sq_publish - show the pushed entries in the shadow block
 * @sq: ring
 *
 * Any context. Return: true if the doorbell must be written with @sq->tail.
 */
bool npu_sq_publish(struct npu_sq *sq);

/**
 * npu_sq_ring - tell the device about the pushed entries
 * @sq: ring
 *
 * npu_sq_publish() and, where it is needed, the doorbell. Any context.
 */
void npu_sq_ring(struct npu_sq *sq);

/**
 * npu_sq_complete - account for a completion that was seen
 * @sq: ring
 *
 * Any context. Return: 0, or -EPROTO when nothing was outstanding.
 */
int npu_sq_complete(struct npu_sq *sq);

/**
 * npu_sq_progress - cycles that jobs of this queue have run
 * @sq: ring with a shadow block; 0 without
 *
 * Any context, without the caller's exclusion, too.
 */
u64 npu_sq_progress(const struct npu_sq *sq);

/* ---- completion rings ---- */

/**
 * struct npu_cq - completion ring
 * @entries: the ring
 * @size: entries, a power of two
 * @head: free-running count of entries taken
 */
struct npu_cq {
	struct npu_cqe *entries;
	u32 size;
	u32 head;
};

/**
 * npu_cq_init - start an empty ring
 * @cq: ring
 * @entries: zeroed memory of the ring, (64 << @log_size) bytes
 * @log_size: NPU_RING_LOG_MIN to NPU_RING_LOG_MAX
 *
 * Any context. Return: 0, or -EINVAL for @log_size.
 */
int npu_cq_init(struct npu_cq *cq, void *entries, u32 log_size);

/**
 * npu_cq_poll - take the next completion
 * @cq: ring
 * @out: a copy, in the host's byte order; the ring is read once
 *
 * The values of @out are the device's: queue and cmd_id may name nothing that
 * exists, and it is the caller who looks them up. A device that never stops
 * completing is bounded by the caller, who takes at most @cq->size entries at
 * a time. Any context.
 *
 * Return: 1 if there was an entry, 0 if not, -EPROTO for an entry whose phase
 * word or reserved field is malformed (it is taken all the same).
 */
int npu_cq_poll(struct npu_cq *cq, struct npu_cqe *out);

/* ---- event ring ---- */

/**
 * struct npu_evq - event ring
 * @entries: the ring
 * @size: entries, a power of two
 * @head: free-running count of entries taken
 */
struct npu_evq {
	struct npu_event *entries;
	u32 size;
	u32 head;
};

/* As npu_cq_init(). */
int npu_evq_init(struct npu_evq *evq, void *entries, u32 log_size);

/* As npu_cq_poll(); the entry is acknowledged to the device. */
int npu_evq_poll(struct npu_evq *evq, struct npu_event *out);

/* ---- admin operations (npu_admin.c) ---- */

#define NPU_ADMIN_SLOTS	64

/**
 * struct npu_admin_result - a completed admin operation
 * @error: 0 or negative errno, see npu_admin_errno()
 * @op: NPU_ADMIN_*
 * @status: NPU_ADMIN_STATUS_*
 * @result0: see the operation; on BAD_FIELD the field's offset, on DMA_ERROR
 *	the fault code
 * @result1: see the operation; on DMA_ERROR the address
 * @cmd_id: of the operation
 */
struct npu_admin_result {
	int error;
	u32 op;
	u32 status;
	u64 result0;
	u64 result1;
	u32 cmd_id;
};

/* Called from npu_admin_process(), in its context. */
typedef void (*npu_admin_done)(void *cookie, const struct npu_admin_result *result);

/**
 * struct npu_admin_slot - an operation under way
 * @done: called when it completes; NULL: nobody waits any more
 * @cookie: passed to @done
 * @cmd_id: its id, 0 if the slot is free
 * @op: NPU_ADMIN_*
 */
struct npu_admin_slot {
	npu_admin_done done;
	void *cookie;
	u32 cmd_id;
	u32 op;
};

/**
 * struct npu_admin - the admin pair of rings
 * @sq: submission ring
 * @cq: completion ring
 * @sq_bus: bus address of @sq
 * @cq_bus: bus address of @cq
 * @log_sq: logarithm of the submission entries
 * @log_cq: logarithm of the completion entries
 * @sequence: makes ids differ
 * @strays: completions that answered nothing
 * @slots: operations under way
 */
struct npu_admin {
	struct npu_sq sq;
	struct npu_cq cq;
	u64 sq_bus;
	u64 cq_bus;
	u32 log_sq;
	u32 log_cq;
	u32 sequence;
	u32 strays;
	struct npu_admin_slot slots[NPU_ADMIN_SLOTS];
};

/**
 * npu_admin_init - set up the admin pair, before boot and again after a reset
 * @admin: to initialise; zeroed before the first time, so that ids go on after
 *	a reset. Operations that were under way are forgotten, without a call of
 *	their done (use npu_admin_cancel() first).
 * @env: environment
 * @sq: page of the submission ring
 * @sq_bus: its bus address
 * @cq: page of the completion ring
 * @cq_bus: its bus address
 *
 * Each ring is one page, NPU_ADMIN_SLOTS entries, zeroed here. Any context.
 */
void npu_admin_init(struct npu_admin *admin, const struct npu_host_env *env, void *sq,
		    u64 sq_bus, void *cq, u64 cq_bus);

/**
 * npu_admin_submit - start an operation
 * @admin: rings
 * @sqe: the operation, from one of the npu_admin_* builders; cmd_id is filled in
 * @done: called when it completes
 * @cookie: passed to @done
 * @cmd_id: out, for npu_admin_abandon(); NULL is allowed
 *
 * Any context. Return: 0, or -EBUSY when too many are under way.
 */
int npu_admin_submit(struct npu_admin *admin, struct npu_admin_sqe *sqe, npu_admin_done done,
		     void *cookie, u32 *cmd_id);

/**
 * npu_admin_abandon - stop waiting for an operation
 * @admin: rings
 * @cmd_id: operation; one that completed already is ignored
 *
 * Its done will not be called. The operation still takes place. Any context.
 */
void npu_admin_abandon(struct npu_admin *admin, u32 cmd_id);

/**
 * npu_admin_cancel - give up everything under way
 * @admin: rings
 * @error: negative errno that each done is called with
 *
 * For a device that is gone or was reset. Any context.
 */
void npu_admin_cancel(struct npu_admin *admin, int error);

/**
 * npu_admin_process - take what has completed
 * @admin: rings
 *
 * Calls the done of each, at most one ring's worth. Any context; so @done must
 * not sleep if the caller may not.
 *
 * Return: number of entries taken.
 */
u32 npu_admin_process(struct npu_admin *admin);

/**
 * npu_admin_call - run an operation and poll for its end
 * @admin: rings
 * @sqe: the operation
 * @timeout_us: how long to poll
 * @result: out; NULL is allowed
 *
 * Calls relax: process context. The caller keeps its exclusion throughout; the
 * done of other operations may be called. Return: the operation's error, -EBUSY
 * as npu_admin_submit(), -ETIMEDOUT.
 */
int npu_admin_call(struct npu_admin *admin, struct npu_admin_sqe *sqe, u64 timeout_us,
		   struct npu_admin_result *result);

/* 0, or the errno of a NPU_ADMIN_STATUS_*; -EPROTO for an unknown one. */
int npu_admin_errno(u32 status);

/*
 * 0, or the errno of a NPU_JOB_STATUS_*: -EFAULT FAULT and REPORT_FAULT, -ETIME
 * LIMIT, -ECANCELED ABORTED and CANCELED, -EINVAL INVALID, -EPROTO unknown.
 */
int npu_job_errno(u32 status);

/* Names, for messages; "unknown" beyond the contract. */
const char *npu_admin_op_name(u32 op);
const char *npu_admin_status_name(u32 status);
const char *npu_job_status_name(u32 status);
const char *npu_fault_name(u32 code);
const char *npu_log_name(u32 value);
const char *npu_unit_name(u32 unit);
const char *npu_access_name(u32 access);
const char *npu_boot_state_name(u32 state);
const char *npu_boot_error_name(u32 error);

/**
 * struct npu_queue_desc - a job queue, for npu_admin_queue_create()
 * @queue: slot, 1 to TOPOLOGY.QUEUES
 * @cq: completion ring
 * @context: address space of its jobs, not 0
 * @ring_space: address space of ring and shadow: 0 the bus, or @context
 * @priority: 0 to NPU_PRIORITIES - 1
 * @log_size: logarithm of the entries
 * @core_mask: cores, not 0
 * @ring: address of the ring
 * @shadow: address of the shadow block, 0 for none
 * @limit: cycle limit of a job, 1 to NPU_LIMIT_MAX
 */
struct npu_queue_desc {
	u16 queue;
	u16 cq;
	u16 context;
	u16 ring_space;
	u8 priority;
	u8 log_size;
	u32 core_mask;
	u64 ring;
	u64 shadow;
	u64 limit;
};

/* Builders: each fills in the whole entry. Any context. */
void npu_admin_ping(struct npu_admin_sqe *sqe, u32 value);
void npu_admin_cq_create(struct npu_admin_sqe *sqe, u32 cq, u64 bus, u32 log_size, u32 vector);
void npu_admin_cq_destroy(struct npu_admin_sqe *sqe, u32 cq);
void npu_admin_queue_create(struct npu_admin_sqe *sqe, const struct npu_queue_desc *desc);
void npu_admin_queue_destroy(struct npu_admin_sqe *sqe, u32 queue);
void npu_admin_abort(struct npu_admin_sqe *sqe, u32 queue, u32 job_cmd_id);
void npu_admin_context_set_root(struct npu_admin_sqe *sqe, u32 context, u64 root);
void npu_admin_tlb_invalidate(struct npu_admin_sqe *sqe, u32 context, u64 va, u64 size);
void npu_admin_context_reset(struct npu_admin_sqe *sqe, u32 context);
void npu_admin_event_ring_set(struct npu_admin_sqe *sqe, u64 bus, u32 log_size);
void npu_admin_telemetry(struct npu_admin_sqe *sqe, u64 bus);
void npu_admin_log(struct npu_admin_sqe *sqe, u64 bus);
void npu_admin_suspend(struct npu_admin_sqe *sqe);

/**
 * struct npu_job_desc - a job, for npu_job_run()
 * @insn_va: instructions, a multiple of 16
 * @region_va: region table, a multiple of 16
 * @limit: cycle limit, 0 for the queue's
 * @report_va: report, a multiple of NPU_REPORT_ALIGN, or 0
 * @insn_count: instructions, at least 1
 * @region_count: entries, 0 to NPU_REGION_TABLE_MAX
 */
struct npu_job_desc {
	u64 insn_va;
	u64 region_va;
	u64 limit;
	u64 report_va;
	u32 insn_count;
	u32 region_count;
};

/* Builders of a job ring's entries. Any context. */
void npu_job_run(struct npu_job_sqe *sqe, u32 cmd_id, const struct npu_job_desc *desc);
void npu_job_nop(struct npu_job_sqe *sqe, u32 cmd_id);

/* ---- energy (npu_energy.c) ---- */

/**
 * npu_energy_nj - energy by the model of the contract
 * @ticks: ticks that passed; 0 for the share of a job, whose device would have
 *	spent that anyway
 * @cycles: cycles that cores ran
 * @macs: multiply-accumulates
 * @bytes: bytes read and written
 *
 * Any context. Return: nanojoules, rounded down.
 */
u64 npu_energy_nj(u64 ticks, u64 cycles, u64 macs, u64 bytes);

/* ---- page tables (npu_pt.c) ---- */

/**
 * struct npu_pt_node - one table; private
 * @cpu: its page
 * @bus: address of the page
 * @children: tables below, by index; NULL in a table of the last level
 * @next: list of nodes in a pool or in a struct npu_pt_garbage
 * @valid: one bit an entry that is in use
 * @count: bits set in @valid
 */
struct npu_pt_node {
	u64 *cpu;
	u64 bus;
	struct npu_pt_node **children;
	struct npu_pt_node *next;
	u64 valid[8];
	u32 count;
};

/**
 * struct npu_pt - page tables of one address space
 * @env: environment, for allocation
 * @root: top table
 * @bus_limit: one past the highest bus address allowed
 * @tables: tables in use, @root included
 */
struct npu_pt {
	const struct npu_host_env *env;
	struct npu_pt_node *root;
	u64 bus_limit;
	u32 tables;
};

/**
 * struct npu_pt_run - a contiguous piece of memory
 * @bus: bus address, a multiple of the page size
 * @size: bytes, a multiple of the page size, not 0
 */
struct npu_pt_run {
	u64 bus;
	u64 size;
};

/**
 * struct npu_pt_garbage - what changes of a page table leave to be done
 * @pages: tables that no entry points to any more
 * @inv_va: start of the range whose translations may be cached
 * @inv_end: end of that range; equal to @inv_va: nothing to invalidate
 *
 * Start with all zeros; several changes may add to one. When done, invalidate
 * [@inv_va, @inv_end) unless it is empty, wait for the acknowledgement, and only
 * then call npu_pt_garbage_free(). Memory that was mapped there before may be
 * reused after the acknowledgement, too.
 */
struct npu_pt_garbage {
	struct npu_pt_node *pages;
	u64 inv_va;
	u64 inv_end;
};

#define NPU_PT_READ	(1u << 0)
#define NPU_PT_WRITE	(1u << 1)	/* needs READ */
#define NPU_PT_EXEC	(1u << 2)

/**
 * npu_pt_init - an empty address space
 * @pt: to initialise
 * @env: environment, for allocation
 * @bus_bits: HOST.ADDRESS.BUS_BITS
 *
 * May sleep (allocates). Return: 0, -ENOMEM, or -EINVAL for @bus_bits.
 */
int npu_pt_init(struct npu_pt *pt, const struct npu_host_env *env, u32 bus_bits);

/**
 * npu_pt_fini - free all tables
 * @pt: address space that no context of the device has as its root any more
 */
void npu_pt_fini(struct npu_pt *pt);

/* Bus address of the root table, for npu_admin_context_set_root(). */
u64 npu_pt_root(const struct npu_pt *pt);

/**
 * npu_pt_map - map memory; what was mapped in the range before is replaced
 * @pt: address space
 * @va: first address, a multiple of the page size
 * @runs: pieces of memory, one after the other from @va on
 * @count: number of @runs, at least 1
 * @prot: NPU_PT_*
 * @garbage: see there
 * @detail: what was wrong
 *
 * All or nothing: on error the address space is as before. 2 MiB leaves are
 * used wherever address, bus address and length allow. May sleep (allocates).
 *
 * Return: 0; -EINVAL alignment, emptiness or @prot; -ERANGE beyond the virtual
 * or bus address space; -ENOMEM.
 */
int npu_pt_map(struct npu_pt *pt, u64 va, const struct npu_pt_run *runs, u32 count, u32 prot,
	       struct npu_pt_garbage *garbage, struct npu_host_detail *detail);

/**
 * npu_pt_unmap - unmap whatever lies in a range
 * @pt: address space
 * @va: first address, a multiple of the page size
 * @size: bytes, a multiple of the page size, not 0
 * @garbage: see there
 * @detail: what was wrong
 *
 * All or nothing, since cutting a 2 MiB leaf takes a table. May sleep
 * (allocates). Return: as npu_pt_map().
 */
int npu_pt_unmap(struct npu_pt *pt, u64 va, u64 size, struct npu_pt_garbage *garbage,
		 struct npu_host_detail *detail);

/**
 * npu_pt_lookup - translate as the device would
 * @pt: address space
 * @va: any address
 * @bus: out
 * @prot: out, NPU_PT_*
 *
 * Any context. Return: true if it is mapped.
 */
bool npu_pt_lookup(const struct npu_pt *pt, u64 va, u64 *bus, u32 *prot);

/**
 * npu_pt_next - the next leaf, for who wants to see all
 * @pt: address space
 * @va: in: where to begin; out: address of the leaf
 * @size: out, NPU_PAGE_SIZE or NPU_HUGE_SIZE
 * @bus: out
 * @prot: out, NPU_PT_*
 *
 * Begin with 0, go on with @va + @size. Any context. Return: false at the end.
 */
bool npu_pt_next(const struct npu_pt *pt, u64 *va, u64 *size, u64 *bus, u32 *prot);

/**
 * npu_pt_garbage_free - free tables after the invalidation was acknowledged
 * @pt: address space that they came from (or another of the same environment)
 * @garbage: emptied
 */
void npu_pt_garbage_free(struct npu_pt *pt, struct npu_pt_garbage *garbage);

/* ---- firmware image (npu_fwimage.c) ---- */

/**
 * struct npu_fwimage - an image that was checked
 * @payload: points into the image
 * @length: bytes of @payload
 * @load_address: where it goes, in TCM
 * @entry: first instruction
 * @version: as HOST.FW_VERSION
 * @security_version: of the image
 * @proto_min: lowest protocol version
 * @proto_max: highest protocol version
 * @build_id: identifies the build
 */
struct npu_fwimage {
	const u8 *payload;
	u32 length;
	u32 load_address;
	u32 entry;
	u32 version;
	u32 security_version;
	u16 proto_min;
	u16 proto_max;
	u8 build_id[16];
};

/**
 * npu_fwimage_check - check an image file, every field of it
 * @image: file, any alignment
 * @size: its bytes
 * @device_id: number that the image must be for (HOST.DEVICE.ID)
 * @tcm_size: bytes of TCM of the device
 * @security_min: lowest security version allowed
 * @out: what is in it; refers to @image
 * @detail: what was wrong
 *
 * Any context (64 KiB of CRC). Return: 0; -ENOEXEC not an image, or truncated;
 * -ENODEV for another device; -EPROTONOSUPPORT no common protocol version;
 * -EBADMSG a CRC is wrong; -EKEYREJECTED signed in a way that is not known, or
 * @security_min; -EFBIG does not fit in TCM; -EINVAL any other field.
 */
int npu_fwimage_check(const void *image, size_t size, u32 device_id, u32 tcm_size,
		      u32 security_min, struct npu_fwimage *out,
		      struct npu_host_detail *detail);

/* CRC-32 of the contract; start with @crc 0, feed pieces in order. */
u32 npu_crc32(u32 crc, const void *data, size_t size);

/* ---- identification, reset, boot (npu_boot.c) ---- */

/**
 * struct npu_dev_info - what the registers say of the device
 *
 * Field for field HOST.* of the contract.
 */
struct npu_dev_info {
	u32 contract;
	u32 device;
	u32 revision;
	u64 features;
	u32 cores;
	u32 queues;
	u32 cqs;
	u32 contexts;
	u32 config0;
	u32 config1;
	u32 clock_khz;
	u32 bus_bits;
	u32 va_bits;
	u32 tcm_size;
	u8 uuid[16];
};

/**
 * npu_identify - read and check the identification registers
 * @env: environment
 * @info: out
 * @detail: what was wrong
 *
 * Any context. Return: 0; -ENODEV gone (all ones) or not an NPU, or another
 * device; -EPROTONOSUPPORT contract major version; -EINVAL a size that the
 * contract does not allow.
 */
int npu_identify(const struct npu_host_env *env, struct npu_dev_info *info,
		 struct npu_host_detail *detail);

/**
 * npu_reset - reset the device and wait until it is done
 * @env: environment
 * @timeout_us: how long to wait
 * @detail: what was wrong
 *
 * Calls relax: process context. Return: 0, -ETIMEDOUT, -ENODEV gone.
 */
int npu_reset(const struct npu_host_env *env, u64 timeout_us, struct npu_host_detail *detail);

/**
 * npu_boot - reset, load the firmware, start it, wait until it is ready
 * @env: environment
 * @image: checked image
 * @admin: initialised by npu_admin_init()
 * @timeout_us: how long to wait, for the reset and again for the firmware
 * @detail: what was wrong
 *
 * Calls relax: process context. Never allocates. On error the processor is held
 * in reset. Return: 0; -ENODEV gone; -ETIMEDOUT; -EPROTONOSUPPORT no common
 * protocol version; -EIO the firmware failed (detail: boot error) or halted;
 * -EPROTO it chose a version outside of both ranges.
 */
int npu_boot(const struct npu_host_env *env, const struct npu_fwimage *image,
	     const struct npu_admin *admin, u64 timeout_us, struct npu_host_detail *detail);

/* Tick counter. Two reads that belong together: the caller excludes others. */
u64 npu_read_ticks(const struct npu_host_env *env);

#endif /* FIRMWARE_HOST_NPU_HOST_H */
