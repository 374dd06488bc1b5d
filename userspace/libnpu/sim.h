/* SPDX-License-Identifier: MIT */
/*
 * Backend "sim": the device model in this process, driven through the host
 * library as a driver would. A worker thread runs the model.
 *
 * One lock guards everything of a device, the model included; the worker holds
 * it for a quantum of model time and lets others in between.
 */
#ifndef USERSPACE_LIBNPU_SIM_H
#define USERSPACE_LIBNPU_SIM_H

#include <pthread.h>
#include "firmware/host/npu_host.h"
#include "firmware/model/npu_core.h"
#include "firmware/model/npu_model.h"
#include "userspace/libnpu/backend.h"
#include "userspace/libnpu/vaspace.h"

/**
 * struct sim_window - memory of the caller on the model's bus
 * @bus: bus address
 * @size: bytes
 * @data: in this process
 */
struct sim_window {
	uint64_t bus;
	uint64_t size;
	uint8_t *data;
};

/**
 * struct sim_arena - memory on the model's bus
 * @base: start in this process
 * @size: bytes of address space set aside; pages come into being when touched
 * @space: free ranges, as bus addresses
 * @pages: one bit a page that was handed out; the bus refuses others
 * @outside: free ranges of bus addresses for windows, beyond the arena
 * @windows: memory of the caller, by ascending bus address
 * @window_count: number of @windows
 */
struct sim_arena {
	uint8_t *base;
	uint64_t size;
	struct npu_vaspace space;
	uint64_t *pages;
	struct npu_vaspace outside;
	struct sim_window *windows;
	size_t window_count;
};

int sim_arena_init(struct sim_arena *arena);
void sim_arena_fini(struct sim_arena *arena);

/* Zeroed pages; @size is a multiple of the page size. 0 or -ENOMEM. */
int sim_arena_alloc(struct sim_arena *arena, uint64_t size, uint64_t *bus, void **data);
void sim_arena_free(struct sim_arena *arena, uint64_t bus, uint64_t size);

/* Put memory of the caller on the bus; @size is a multiple of the page size. 0 or -ENOMEM. */
int sim_arena_import(struct sim_arena *arena, void *data, uint64_t size, uint64_t *bus);
void sim_arena_forget(struct sim_arena *arena, uint64_t bus);

/* Memory at a bus address, NULL unless all of it was handed out. */
void *sim_arena_at(const struct sim_arena *arena, uint64_t bus, uint64_t size);

/**
 * struct sim_job - a job of a queue
 * @job: what to run
 * @waits: what must have ended before; owned
 * @wait_count: number of @waits
 * @done: it has ended
 */
struct sim_job {
	struct npu_backend_job job;
	struct npu_point *waits;
	unsigned int wait_count;
	bool done;
};

/**
 * struct sim_queue - a queue; its slot is its place in struct sim
 * @id: generation above, slot in the low 8 bits
 * @sq: submission ring
 * @ring_bus: pages of the ring and of the shadow block
 * @ring_size: bytes of these
 * @jobs: job n at n % @room, for those after @ended
 * @room: a power of two
 * @submitted: number of the last job submitted
 * @issued: number of the last job given to the device
 * @ended: all jobs up to this one have ended
 * @failure: the last job that failed
 */
struct sim_queue {
	uint32_t id;
	struct npu_sq sq;
	uint64_t ring_bus;
	uint64_t ring_size;
	struct sim_job *jobs;
	uint64_t room;
	uint64_t submitted;
	uint64_t issued;
	uint64_t ended;
	struct npu_failure failure;
};

#define SIM_SLOTS	(NPU_MAX_QUEUES + 1)

/**
 * struct sim - a device
 * @be: operations
 * @lock: guards everything below
 * @waiting: threads that want @lock; atomic, so that the worker makes way
 * @work: the model may have something to do, or @stop
 * @done: some job ended
 * @worker: runs the model
 * @stop: ends the worker
 * @model: device model
 * @arena: its memory
 * @env: host library's
 * @info: its registers
 * @fw_version: running firmware
 * @fw_features: of that
 * @fw_proto: protocol version
 * @admin: admin rings
 * @admin_bus: their two pages
 * @pt: page tables of the only context
 * @cq: completion ring of all queues
 * @cq_bus: its pages
 * @outstanding: jobs that the device holds
 * @queues: by slot; 0 is not used
 * @generation: of the next queue
 */
struct sim {
	struct npu_backend be;
	pthread_mutex_t lock;
	unsigned int waiting;
	pthread_cond_t work;
	pthread_cond_t done;
	pthread_t worker;
	bool stop;
	struct npu_model *model;
	struct sim_arena arena;
	struct npu_host_env env;
	struct npu_dev_info info;
	uint32_t fw_version;
	uint32_t fw_features;
	uint32_t fw_proto;
	struct npu_admin admin;
	uint64_t admin_bus;
	struct npu_pt pt;
	struct npu_cq cq;
	uint64_t cq_bus;
	uint32_t outstanding;
	struct sim_queue *queues[SIM_SLOTS];
	uint32_t generation;
};

void sim_lock(struct sim *sim);
void sim_unlock(struct sim *sim);

/* Ticks of the model between two looks at others. */
#define SIM_QUANTUM	8192u

/* How long an admin operation may take. */
#define SIM_ADMIN_US	(10u * 1000 * 1000)

#define SIM_CONTEXT	1u
#define SIM_CQ		1u
#define SIM_CQ_LOG	NPU_RING_LOG_MAX

#define SIM_MAX_JOBS		64u

/* ---- sim_queue.c; called with the lock held ---- */

/* Take what has completed; true if anything was. */
bool sim_collect(struct sim *sim);

/* Give the device what may start. */
void sim_pump(struct sim *sim);

/* True once the job has ended, or its queue is gone. */
bool sim_ended(const struct sim *sim, struct npu_point point);

int sim_queue_create(struct npu_backend *be, uint32_t priority, uint32_t core_mask,
		     uint64_t limit, uint32_t *queue);
void sim_queue_destroy(struct npu_backend *be, uint32_t queue);
int sim_submit(struct npu_backend *be, uint32_t queue, const struct npu_backend_job *jobs,
	       unsigned int count, const struct npu_point *waits, unsigned int wait_count,
	       uint64_t *seqno);
int sim_last_failure(struct npu_backend *be, uint32_t queue, struct npu_failure *failure);

/* An admin operation, with its name in the message. */
int sim_admin(struct sim *sim, struct npu_admin_sqe *sqe);

/* ---- sim_mapped.c ---- */

/* Whether all of a range is mapped here, as the driver asks. 0, -EFAULT or -EACCES. */
int sim_check_mapped(const void *data, size_t size, bool writable);

/* ---- sim_firmware.c ---- */

/* Read the firmware's file; *@image is to be freed. */
int sim_firmware_read(void **image, size_t *size, char *path, size_t path_size);

/* Read a whole file; *@data is to be freed. 0 or -errno, without a message. */
int npu_read_file(const char *path, size_t max, void **data, size_t *size);

/* What an error of npu_read_file() means. */
const char *npu_read_error(int error);

#endif /* USERSPACE_LIBNPU_SIM_H */
