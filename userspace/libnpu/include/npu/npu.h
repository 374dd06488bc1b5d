/* SPDX-License-Identifier: MIT */
/*
 * libnpu: devices, buffers, streams, events, modules and functions of the NPU.
 *
 * Errors. Functions that can fail return 0 or a negative errno; objects come
 * back through an out-parameter, which is left alone on error. For a message
 * that says what was expected and what was found call npu_error_message() in
 * the same thread. The library never prints and never ends the process. A null
 * pointer where an object, a name or an out-parameter is wanted is -EINVAL;
 * functions that give no error give 0, NULL or "" for it.
 *
 * Ownership. Each object is freed by the function named with it; NULL is
 * ignored there. Objects keep what they need alive: a device may be closed
 * while buffers, streams and modules of it exist, and lives on until the last
 * of them is gone.
 *
 * Threads. All functions may be called from any thread at any time, except
 * that an object must not be freed while another thread still uses it.
 * Functions of one module run one call at a time. Not async-signal-safe. After
 * fork() objects of the parent are of no use to the child, which opens the device
 * anew: what would reach the device is -EBADF there, and freeing takes nothing
 * away from the parent.
 *
 * Times are in nanoseconds. A timeout of 0 polls; NPU_FOREVER never ends.
 */
#ifndef NPU_NPU_H
#define NPU_NPU_H

#include <stddef.h>
#include <stdint.h>
#include <dlpack/dlpack.h>

#if defined(__cplusplus)
extern "C" {
#endif

#if defined(__GNUC__)
#define NPU_API __attribute__((visibility("default")))
#else
#define NPU_API
#endif

#define NPU_FOREVER	INT64_MAX	/* timeout that does not end */

struct npu_device;
struct npu_buffer;
struct npu_stream;
struct npu_stream_event;
struct npu_module;
struct npu_function;

/**
 * npu_version - version of the library that is running
 *
 * Return: "major.minor.patch"; never NULL. Since 0.1.
 */
NPU_API const char *npu_version(void);

/**
 * npu_error_message - what went wrong in this thread last
 *
 * Return: a text without newline, valid until the next call of the library in
 * this thread; empty if nothing went wrong yet. A success leaves it alone.
 * Since 0.1.
 */
NPU_API const char *npu_error_message(void);

/* ---- devices ---- */

/**
 * struct npu_device_entry - a device that could be opened
 * @path: for npu_device_open(): "/dev/accel/accelN"
 * @parent: name of the parent device in the kernel, for example "npu_sim.0"
 * @driver: name of its driver
 */
struct npu_device_entry {
	char path[64];
	char parent[64];
	char driver[32];
};

/**
 * npu_device_list - NPUs of this machine, found through sysfs
 * @entries: filled in, in order of their numbers; NULL only with @max 0
 * @max: room in @entries
 * @count: out: devices that there are, which may be more than @max
 *
 * Devices of other drivers are left out. The in-process device ("sim") is
 * always there and is not listed.
 *
 * Return: 0 (also when there are none), or -errno of reading sysfs. Since 0.1.
 */
NPU_API int npu_device_list(struct npu_device_entry *entries, unsigned int max,
			    unsigned int *count);

/**
 * npu_device_open - open a device
 * @out: the device, to be closed with npu_device_close()
 * @name: "sim" for the device model in this process; a path such as
 *	"/dev/accel/accel0"; a number N as short for accelN; NULL for the value of
 *	the environment's NPU_DEVICE, or the first device found where that is
 *	not set
 *
 * The model takes its firmware from the file that NPU_FIRMWARE names, else the
 * installed one, else the one of the build tree that the library lies in. Each
 * "sim" opened is a device of its own.
 *
 * Return: 0; -ENODEV no device, no driver, or a driver that is not the NPU's;
 * -ENOENT no such node, or no firmware; -EACCES no permission; others as the
 * message says. Since 0.1.
 */
NPU_API int npu_device_open(struct npu_device **out, const char *name);

/**
 * npu_device_close - give up a device
 * @dev: device or NULL
 *
 * Since 0.1.
 */
NPU_API void npu_device_close(struct npu_device *dev);

/**
 * struct npu_device_info - what a device is
 * @path: "sim" or the device node
 * @backend: "sim" or "accel"
 * @contract: version of the hardware contract, major 31:16, minor 15:0
 * @device_id: vendor 31:16, device 15:0
 * @revision: stepping
 * @fw_version: running firmware, major 31:16, minor 15:8, patch 7:0
 * @hw_features: bits of hardware features (NPU_HW_FEATURE_* of the contract)
 * @fw_features: bits of firmware features
 * @fw_proto: protocol version agreed with the firmware
 * @cores: compute cores
 * @queue_slots: job queues that can exist at once, over all users
 * @contexts: address spaces that can exist at once
 * @config0: element widths and block sizes, as in the contract
 * @config1: SRAM sizes, as in the contract
 * @clock_khz: rate of cycles and ticks
 * @priorities: priorities are 0 to this - 1
 * @max_jobs: most jobs of one npu_stream_submit()
 * @va_start: lowest device address
 * @va_end: one past the highest device address
 * @limit_default: cycle limit of a job where nothing else is said
 * @limit_max: highest cycle limit
 * @resets: device resets since the driver was bound
 * @uuid: unique id
 */
struct npu_device_info {
	char path[64];
	char backend[16];
	uint32_t contract;
	uint32_t device_id;
	uint32_t revision;
	uint32_t fw_version;
	uint64_t hw_features;
	uint32_t fw_features;
	uint32_t fw_proto;
	uint32_t cores;
	uint32_t queue_slots;
	uint32_t contexts;
	uint32_t config0;
	uint32_t config1;
	uint32_t clock_khz;
	uint32_t priorities;
	uint32_t max_jobs;
	uint64_t va_start;
	uint64_t va_end;
	uint64_t limit_default;
	uint64_t limit_max;
	uint64_t resets;
	uint8_t uuid[16];
};

/**
 * npu_device_get_info - ask what a device is
 * @dev: device
 * @info: filled in
 * @size: sizeof(*info) of the caller, so that the structure can grow
 *
 * Return: 0; -ENODEV the device is gone; -EINVAL @size 0. Since 0.1.
 */
NPU_API int npu_device_get_info(struct npu_device *dev, struct npu_device_info *info,
				size_t size);

/**
 * npu_device_get_time - the device's clock beside the host's
 * @dev: device
 * @ticks: out: tick counter of the device
 * @monotonic_ns: out: CLOCK_MONOTONIC at the same moment
 *
 * The clock of a simulated device stands still while it has nothing to do.
 *
 * Return: 0 or -ENODEV. Since 0.1.
 */
NPU_API int npu_device_get_time(struct npu_device *dev, uint64_t *ticks, uint64_t *monotonic_ns);

/* ---- buffers ---- */

#define NPU_BUFFER_READ_ONLY	(1u << 0)	/* jobs cannot write it */
#define NPU_BUFFER_EXECUTE	(1u << 1)	/* jobs can fetch instructions from it */
#define NPU_BUFFER_MAY_COPY	(1u << 2)	/* import: a copy where sharing is impossible */

/**
 * npu_buffer_alloc - memory that host and device share
 * @dev: device
 * @size: bytes, not 0; rounded up to pages
 * @flags: NPU_BUFFER_*
 * @out: the buffer, zeroed, to be freed with npu_buffer_free()
 *
 * Jobs of this npu_device only can reach it, at npu_buffer_address().
 *
 * Return: 0; -EINVAL size or flags; -ENOMEM; -ENOSPC no device addresses left;
 * -ENODEV. Since 0.1.
 */
NPU_API int npu_buffer_alloc(struct npu_device *dev, size_t size, uint32_t flags,
			     struct npu_buffer **out);

/**
 * npu_buffer_import - let the device use memory of the program, without a copy
 * @dev: device
 * @data: address, a multiple of 64
 * @size: bytes, not 0
 * @flags: NPU_BUFFER_*; with NPU_BUFFER_READ_ONLY the memory need not be writable
 * @out: the buffer, to be freed with npu_buffer_free()
 *
 * Device and program see what the other writes, in the order that submissions
 * and waits give (see npu_buffer_sync()). The memory stays the program's and must
 * stay mapped as it is until the buffer is freed: the kernel pins its pages, the
 * model in this process uses them where they are. Pages are mapped whole, so that
 * a job with a wrong address may also reach what else lies in the first and the
 * last one; a region's limit keeps a job to the buffer.
 *
 * Anonymous memory, memfds, huge pages and private mappings of files can be
 * shared; addresses that are no multiple of 64 cannot (-EINVAL). Nor can, with a
 * device of the driver, memory of a device and shared mappings of other files
 * (-EOPNOTSUPP), and more than RLIMIT_MEMLOCK (-EDQUOT). With NPU_BUFFER_MAY_COPY
 * the device gets a copy in these cases, which npu_buffer_is_copy() tells, and
 * npu_buffer_sync() then carries the bytes over in either direction.
 *
 * Return: 0; -EINVAL, -EOPNOTSUPP, -EDQUOT as above; -EINVAL size or flags;
 * -EFAULT nothing is mapped in a part; -EACCES a part cannot be written, or not
 * be read; -ENOMEM; -ENOSPC no device addresses left; -ENODEV. Since 0.1.
 */
NPU_API int npu_buffer_import(struct npu_device *dev, void *data, size_t size, uint32_t flags,
			      struct npu_buffer **out);

/**
 * npu_buffer_import_tensor - npu_buffer_import() of what a DLPack tensor holds
 * @dev: device
 * @tensor: host memory (kDLCPU), compact and row-major, elements of whole bytes
 *	in all; its data and byte_offset give the address. Used during the call only.
 * @flags: as npu_buffer_import()
 * @out: the buffer, to be freed with npu_buffer_free(), while the tensor's memory
 *	still exists
 *
 * Return: as npu_buffer_import(); -EINVAL another tensor. Since 0.1.
 */
NPU_API int npu_buffer_import_tensor(struct npu_device *dev, const DLTensor *tensor,
				     uint32_t flags, struct npu_buffer **out);

/**
 * npu_buffer_is_copy - whether an import had to copy
 * @buf: buffer
 *
 * Return: 1 if the device has a copy, which npu_buffer_sync() keeps up to date; 0
 * if it uses what npu_buffer_data() gives. Since 0.1.
 */
NPU_API int npu_buffer_is_copy(const struct npu_buffer *buf);

/**
 * npu_buffer_free - free a buffer
 * @buf: buffer or NULL
 *
 * A job that still uses it meets a fault; wait for it first. Since 0.1.
 */
NPU_API void npu_buffer_free(struct npu_buffer *buf);

/**
 * npu_buffer_data - the buffer in the memory of this process
 * @buf: buffer
 *
 * Return: pointer to npu_buffer_size() bytes, aligned to a page, valid until the
 * buffer is freed; of an import what it was made from; never NULL. Since 0.1.
 */
NPU_API void *npu_buffer_data(struct npu_buffer *buf);

/**
 * npu_buffer_size - bytes of a buffer
 * @buf: buffer
 *
 * Return: the size after rounding up, of an import as it was given. Since 0.1.
 */
NPU_API size_t npu_buffer_size(const struct npu_buffer *buf);

/**
 * npu_buffer_address - the buffer in the device's address space
 * @buf: buffer
 *
 * Return: device address, a multiple of 4096, of an import one of 64. Since 0.1.
 */
NPU_API uint64_t npu_buffer_address(const struct npu_buffer *buf);

#define NPU_SYNC_FOR_DEVICE	1	/* the host has written */
#define NPU_SYNC_FOR_HOST	2	/* the host will read */

/**
 * npu_buffer_sync - hand a buffer over between host and device
 * @buf: buffer
 * @direction: NPU_SYNC_*
 *
 * Memory is coherent; what remains to be done is ordering. A submission does
 * it for the device, and a wait that succeeds for the host, so this is needed
 * only where the two meet in another way, and for a copy (npu_buffer_is_copy()),
 * which it brings up to date: all of it, so nothing that the other side writes
 * meanwhile survives.
 *
 * Return: 0 or -EINVAL. Since 0.1.
 */
NPU_API int npu_buffer_sync(struct npu_buffer *buf, int direction);

/* ---- streams and jobs ---- */

/**
 * struct npu_stream_options - how a stream's jobs run
 * @priority: 0 (lowest) to the device's priorities - 1; above the middle takes
 *	a privilege (-EACCES)
 * @core_mask: cores that may run the jobs; 0 for all
 * @limit: cycle limit of a job; 0 for the device's default
 */
struct npu_stream_options {
	uint32_t priority;
	uint32_t core_mask;
	uint64_t limit;
};

/**
 * npu_stream_create - create an in-order queue of jobs
 * @dev: device
 * @options: NULL for priority 1, all cores, the default limit
 * @out: the stream, to be destroyed with npu_stream_destroy()
 *
 * Return: 0; -EINVAL options; -EACCES priority; -ENOSPC no queue slot is free;
 * -ENOMEM; -ENODEV. Since 0.1.
 */
NPU_API int npu_stream_create(struct npu_device *dev, const struct npu_stream_options *options,
			      struct npu_stream **out);

/**
 * npu_stream_destroy - destroy a stream
 * @stream: stream or NULL
 *
 * Jobs that have not ended are aborted. Since 0.1.
 */
NPU_API void npu_stream_destroy(struct npu_stream *stream);

/**
 * struct npu_job_region - memory that a job may reach by a selector
 * @base: device address, a multiple of 64
 * @limit: bytes
 */
struct npu_job_region {
	uint64_t base;
	uint64_t limit;
};

/**
 * struct npu_job - an instruction stream to run
 * @insn_address: device address of the instructions, a multiple of 16, in a
 *	buffer with NPU_BUFFER_EXECUTE
 * @insn_count: instructions; 0 makes it a null job, for which all else is 0
 * @region_count: number of @regions, at most 24
 * @regions: the region table; copied
 * @limit: cycle limit, 0 for the stream's; the lower of both holds
 */
struct npu_job {
	uint64_t insn_address;
	uint32_t insn_count;
	uint32_t region_count;
	const struct npu_job_region *regions;
	uint64_t limit;
};

/**
 * npu_stream_submit - queue jobs
 * @stream: stream
 * @jobs: jobs, run in order
 * @count: number of jobs, 1 to the device's max_jobs
 * @seqno: out: number of the last of these jobs; jobs of a stream are numbered
 *	from 1. NULL is allowed.
 *
 * Many jobs in one call are the normal case. May wait for earlier jobs of the
 * stream when very many (256) are under way.
 *
 * Return: 0; -EINVAL a job; -EIO the stream was banned since it hung the
 * device; -ENOMEM; -ENODEV. On error no job was queued. Since 0.1.
 */
NPU_API int npu_stream_submit(struct npu_stream *stream, const struct npu_job *jobs,
			      unsigned int count, uint64_t *seqno);

/**
 * npu_stream_wait - wait for a job
 * @stream: stream
 * @seqno: number of the job; 0 for the last one submitted
 * @timeout_ns: how long
 *
 * Jobs before it have ended, too (on a device of several cores they may
 * otherwise end out of order).
 *
 * Return: 0 when it ended, however that was: see npu_stream_report();
 * -ETIMEDOUT; -EINVAL for a number not yet submitted; -ENODEV. Since 0.1.
 */
NPU_API int npu_stream_wait(struct npu_stream *stream, uint64_t seqno, int64_t timeout_ns);

/**
 * struct npu_report - what a job did
 * @status: 0 OK, else NPU_JOB_STATUS_* of the contract: 1 fault, 2 limit, 3
 *	aborted, 4 cancelled, 5 invalid, 6 report fault
 * @fault_code: NPU_FAULT_* of the contract
 * @fault_unit: NPU_UNIT_* of the contract
 * @fault_access: NPU_ACCESS_* of the contract
 * @core: core that ran it
 * @insn: instruction at fault, else instructions done
 * @reserved: 0
 * @fault_address: device address, or SRAM index
 * @start_tick: tick counter at the start
 * @end_tick: tick counter at the end
 * @cycles: core cycles that it ran
 * @macs: multiply-accumulates
 * @bytes_read: from memory
 * @bytes_written: to memory
 * @busy_load: cycles in which the load unit worked
 * @busy_compute: cycles in which the compute unit worked
 * @busy_store: cycles in which the store unit worked
 * @stall_load: cycles in which the load unit waited for a token
 * @stall_compute_load: cycles in which compute waited for load
 * @stall_compute_store: cycles in which compute waited for store
 * @stall_store: cycles in which the store unit waited for a token
 */
struct npu_report {
	uint32_t status;
	uint8_t fault_code;
	uint8_t fault_unit;
	uint8_t fault_access;
	uint8_t core;
	uint32_t insn;
	uint32_t reserved;
	uint64_t fault_address;
	uint64_t start_tick;
	uint64_t end_tick;
	uint64_t cycles;
	uint64_t macs;
	uint64_t bytes_read;
	uint64_t bytes_written;
	uint64_t busy_load;
	uint64_t busy_compute;
	uint64_t busy_store;
	uint64_t stall_load;
	uint64_t stall_compute_load;
	uint64_t stall_compute_store;
	uint64_t stall_store;
};

/**
 * npu_stream_report - how a job ended
 * @stream: stream
 * @seqno: number of a job that ended, among the last 256 submitted; 0 for the
 *	last one submitted
 * @report: filled in; NULL is allowed
 *
 * Return: 0 for a job that ended well; -EFAULT a fault; -ETIME its limit;
 * -ECANCELED aborted, cancelled, or lost in a device reset; -EINVAL refused by
 * the device; -EBUSY not ended yet; -ENOENT no such job, or too long ago. With
 * the first five @report is filled in and the message tells unit, instruction
 * and address. Since 0.1.
 */
NPU_API int npu_stream_report(struct npu_stream *stream, uint64_t seqno,
			      struct npu_report *report);

/**
 * npu_event_create - create an event
 * @dev: device
 * @out: the event, done from the start, to be destroyed with npu_event_destroy()
 *
 * Return: 0 or -ENOMEM. Since 0.1.
 */
NPU_API int npu_event_create(struct npu_device *dev, struct npu_stream_event **out);

/**
 * npu_event_destroy - destroy an event
 * @event: event or NULL
 *
 * Since 0.1.
 */
NPU_API void npu_event_destroy(struct npu_stream_event *event);

/**
 * npu_event_record - the event is done when what a stream holds now has ended
 * @event: event; what it stood for before is forgotten
 * @stream: stream of the same device
 *
 * Return: 0, or -EINVAL for a stream of another device. Since 0.1.
 */
NPU_API int npu_event_record(struct npu_stream_event *event, struct npu_stream *stream);

/**
 * npu_event_wait - wait in this thread until an event is done
 * @event: event
 * @timeout_ns: how long; 0 asks whether it is done
 *
 * Return: 0, -ETIMEDOUT, -ENODEV. Since 0.1.
 */
NPU_API int npu_event_wait(struct npu_stream_event *event, int64_t timeout_ns);

/**
 * npu_stream_wait_event - later jobs of a stream start after an event
 * @stream: stream
 * @event: event of the same device
 *
 * The waiting is the device's; this returns at once. Jobs in front that failed
 * do not hold up those behind.
 *
 * Return: 0, -EINVAL for another device's event, -ENOMEM. Since 0.1.
 */
NPU_API int npu_stream_wait_event(struct npu_stream *stream, struct npu_stream_event *event);

/* ---- modules and functions ---- */

/**
 * enum npu_type - what a struct npu_value holds; the numbers are tvm-ffi's
 * @NPU_TYPE_NONE: nothing
 * @NPU_TYPE_INT: int64_t
 * @NPU_TYPE_BOOL: int64_t, 0 or 1
 * @NPU_TYPE_FLOAT: double
 * @NPU_TYPE_POINTER: void *
 * @NPU_TYPE_DATA_TYPE: DLDataType
 * @NPU_TYPE_DEVICE: DLDevice
 * @NPU_TYPE_TENSOR: DLTensor *, the caller's
 * @NPU_TYPE_STRING: const char *, the caller's
 */
enum npu_type {
	NPU_TYPE_NONE = 0,
	NPU_TYPE_INT = 1,
	NPU_TYPE_BOOL = 2,
	NPU_TYPE_FLOAT = 3,
	NPU_TYPE_POINTER = 4,
	NPU_TYPE_DATA_TYPE = 5,
	NPU_TYPE_DEVICE = 6,
	NPU_TYPE_TENSOR = 7,
	NPU_TYPE_STRING = 8
};

/**
 * struct npu_value - an argument or result, laid out as tvm-ffi's any
 * @type_index: enum npu_type
 * @zero_padding: 0
 * @v_int64: INT and BOOL
 * @v_float64: FLOAT
 * @v_ptr: POINTER
 * @v_tensor: TENSOR
 * @v_c_str: STRING
 * @v_dtype: DATA_TYPE
 * @v_device: DEVICE
 * @v_uint64: all bits
 */
struct npu_value {
	int32_t type_index;
	uint32_t zero_padding;
	union {
		int64_t v_int64;
		double v_float64;
		void *v_ptr;
		DLTensor *v_tensor;
		const char *v_c_str;
		DLDataType v_dtype;
		DLDevice v_device;
		uint64_t v_uint64;
	};
};

/**
 * npu_module_load - load a module file
 * @dev: device that it will run on; NULL is allowed for a module of kind host
 * @path: file
 * @out: the module, to be freed with npu_module_free()
 *
 * The file is trusted with nothing: all of it is checked before any of it is
 * used.
 *
 * Return: 0; -ENOEXEC not a module, or one that breaks the format; -ENODEV
 * needs a device; -ENOTSUP made for another device; -errno of reading the
 * file; as npu_buffer_alloc() and npu_stream_create(). Since 0.1.
 */
NPU_API int npu_module_load(struct npu_device *dev, const char *path, struct npu_module **out);

/**
 * npu_module_load_memory - load a module from memory
 * @dev: as npu_module_load()
 * @data: the file's contents; not used after the call
 * @size: bytes
 * @out: the module, to be freed with npu_module_free()
 *
 * Return: as npu_module_load(). Since 0.1.
 */
NPU_API int npu_module_load_memory(struct npu_device *dev, const void *data, size_t size,
				   struct npu_module **out);

/**
 * npu_module_free - free a module
 * @module: module or NULL; functions of it must not be used afterwards
 *
 * Since 0.1.
 */
NPU_API void npu_module_free(struct npu_module *module);

/**
 * npu_module_kind - kind of a module
 * @module: module
 *
 * Return: "npu" or "host". Since 0.1.
 */
NPU_API const char *npu_module_kind(const struct npu_module *module);

/**
 * npu_module_info - what the compiler says about a module
 * @module: module
 *
 * Return: text (JSON), valid as long as the module; empty if there is none.
 * Since 0.1.
 */
NPU_API const char *npu_module_info(const struct npu_module *module);

/**
 * npu_module_function_count - functions of a module, without imports
 * @module: module
 *
 * Return: their number. Since 0.1.
 */
NPU_API unsigned int npu_module_function_count(const struct npu_module *module);

/**
 * npu_module_function_name - name of a function
 * @module: module
 * @index: 0 to npu_module_function_count() - 1
 *
 * Return: name, valid as long as the module; NULL for another @index. Since 0.1.
 */
NPU_API const char *npu_module_function_name(const struct npu_module *module,
					     unsigned int index);

/**
 * npu_module_import - let a module find functions in another
 * @module: module
 * @other: module that must stay loaded as long as @module
 *
 * Return: 0; -ELOOP if @other finds functions in @module already, or is it;
 * -ENOMEM. Since 0.1.
 */
NPU_API int npu_module_import(struct npu_module *module, struct npu_module *other);

/**
 * npu_module_get_function - find a function by its name
 * @module: module; its own functions come first, then imports in order
 * @name: name
 * @out: the function; belongs to its module and is not freed
 *
 * Return: 0, or -ENOENT. Since 0.1.
 */
NPU_API int npu_module_get_function(struct npu_module *module, const char *name,
				    struct npu_function **out);

#define NPU_MAX_DIMS	8	/* dimensions of an argument */

/**
 * struct npu_tensor_info - an argument of a function
 * @name: valid as long as the module
 * @dtype: type of an element
 * @ndim: dimensions
 * @shape: their extents; the first is 1 where the function is batched
 */
struct npu_tensor_info {
	const char *name;
	DLDataType dtype;
	int32_t ndim;
	int64_t shape[NPU_MAX_DIMS];
};

/**
 * struct npu_function_info - what a function takes and gives
 * @name: valid as long as the module
 * @inputs: number of inputs
 * @outputs: number of outputs
 * @batched: not 0: the first dimension of all arguments may be any N >= 1, the
 *	same for all
 * @steps: steps that the function consists of
 * @useful_macs: multiply-accumulates of the model for one item
 */
struct npu_function_info {
	const char *name;
	uint32_t inputs;
	uint32_t outputs;
	uint32_t batched;
	uint32_t steps;
	uint64_t useful_macs;
};

/**
 * npu_function_get_info - what a function takes and gives
 * @function: function
 * @info: filled in
 *
 * Since 0.1.
 */
NPU_API void npu_function_get_info(const struct npu_function *function,
				   struct npu_function_info *info);

/**
 * npu_function_get_tensor - describe an argument
 * @function: function
 * @index: inputs from 0 on, then outputs
 * @info: filled in
 *
 * Return: 0, or -EINVAL for @index. Since 0.1.
 */
NPU_API int npu_function_get_tensor(const struct npu_function *function, unsigned int index,
				    struct npu_tensor_info *info);

/**
 * npu_function_call - call a function and wait for its end
 * @function: function
 * @args: inputs in order, then outputs in order, each a NPU_TYPE_TENSOR: host
 *	memory (kDLCPU), compact and row-major, type and shape as
 *	npu_function_get_tensor() says. Inputs and outputs must not overlap.
 * @count: number of @args
 * @ret: out: NPU_TYPE_NONE; NULL is allowed
 *
 * The caller's memory is used during the call only. On error outputs hold
 * anything.
 *
 * Return: 0; -EINVAL arguments; -EFAULT, -ETIME, -ECANCELED as
 * npu_stream_report(); -ENOMEM; -ENODEV. Since 0.1.
 */
NPU_API int npu_function_call(struct npu_function *function, const struct npu_value *args,
			      int32_t count, struct npu_value *ret);

#define NPU_STEP_KIND_NPU	1
#define NPU_STEP_KIND_HOST	2

/**
 * struct npu_step_stats - what one step did, over all items of a call
 * @name: kernel or label; valid as long as the module
 * @kind: NPU_STEP_KIND_*
 * @runs: how often it ran
 * @useful_macs: multiply-accumulates of the model
 * @total: NPU: sums over the jobs (status, fault and tick fields are 0)
 * @host_ns: HOST: time spent
 */
struct npu_step_stats {
	const char *name;
	uint32_t kind;
	uint32_t runs;
	uint64_t useful_macs;
	struct npu_report total;
	uint64_t host_ns;
};

/**
 * npu_function_profile - npu_function_call() that also counts
 * @function: function
 * @args: as npu_function_call()
 * @count: as npu_function_call()
 * @stats: one entry a step, filled in on success
 * @max: room in @stats; steps beyond it are not counted
 *
 * Cycle counts are the same as without counting, and the same on every run.
 *
 * Return: as npu_function_call(). Since 0.1.
 */
NPU_API int npu_function_profile(struct npu_function *function, const struct npu_value *args,
				 int32_t count, struct npu_step_stats *stats, unsigned int max);

/**
 * npu_function_safe_call - npu_function_call() with the calling convention of
 *	tvm-ffi
 * @self: struct npu_function
 * @args: values
 * @count: number of @args
 * @ret: out: NPU_TYPE_NONE
 *
 * Where libtvm_ffi is loaded in the process, the error is raised there, too.
 *
 * Return: 0 or -1. Since 0.1.
 */
NPU_API int npu_function_safe_call(void *self, const struct npu_value *args, int32_t count,
				   struct npu_value *ret);

/* ---- layout ---- */

/**
 * npu_pack_nchw16 - row-major to the blocked layout of the core
 * @src: [n][c][h][w]
 * @dst: [n][ceil(c / 16)][h][w][16]
 * @n: images
 * @c: channels
 * @h: rows
 * @w: columns
 * @pad: value of the lanes beyond @c
 *
 * Since 0.1.
 */
NPU_API void npu_pack_nchw16(const int8_t *src, int8_t *dst, size_t n, size_t c, size_t h,
			     size_t w, int8_t pad);

/**
 * npu_unpack_nchw16 - the blocked layout of the core to row-major
 * @src: [n][ceil(c / 16)][h][w][16]
 * @dst: [n][c][h][w]
 * @n: images
 * @c: channels
 * @h: rows
 * @w: columns
 *
 * Since 0.1.
 */
NPU_API void npu_unpack_nchw16(const int8_t *src, int8_t *dst, size_t n, size_t c, size_t h,
			       size_t w);

/**
 * npu_packed_size - bytes of the blocked layout
 * @n: images
 * @c: channels
 * @h: rows
 * @w: columns
 *
 * Return: n * ceil(c / 16) * h * w * 16, or 0 if that does not fit in size_t.
 * Since 0.1.
 */
NPU_API size_t npu_packed_size(size_t n, size_t c, size_t h, size_t w);

#if defined(__cplusplus)
}
#endif

#endif /* NPU_NPU_H */
