// SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 OR MIT
/* From reset to READY: the device, the protocol, memory, the admin rings. */
#include "firmware/cp/fw.h"
#include "firmware/cp/version.h"

static u8 *heap;
static u8 *heap_end;

static void *take(u32 bytes)
{
	u8 *p = heap;

	bytes = (bytes + 63) & ~63u;
	if (bytes > (u32)(heap_end - heap))
		fw_fail(NPU_BOOT_ERROR_DEVICE, host_read(TCM_SIZE) >> 10);
	heap += bytes;
	memset(p, 0, bytes);
	return p;
}

static void check_device(void)
{
	if (host_read(MAGIC) != NPU_MAGIC)
		fw_fail(NPU_BOOT_ERROR_DEVICE, NPU_HOST_MAGIC);
	if (host_field(CONTRACT, MAJOR) != NPU_CONTRACT_MAJOR)
		fw_fail(NPU_BOOT_ERROR_DEVICE, NPU_HOST_CONTRACT);
	if (host_field(DEVICE, ID) != NPU_DEVICE_V0)
		fw_fail(NPU_BOOT_ERROR_DEVICE, NPU_HOST_DEVICE);
}

static void read_config(void)
{
	u32 n;

	fw.cores = host_field(TOPOLOGY, CORES);
	fw.queue_count = host_field(TOPOLOGY, QUEUES) + 1;
	fw.cq_count = host_field(TOPOLOGY, CQS);
	fw.context_count = host_read(CONTEXTS);
	fw.bus_high_bits = host_field(ADDRESS, BUS_BITS) - 32;
	if (!fw.cores || fw.cores > NPU_MAX_CORES || !fw.cq_count || fw.cq_count > NPU_MAX_CQS)
		fw_fail(NPU_BOOT_ERROR_DEVICE, NPU_HOST_TOPOLOGY);
	if (fw.bus_high_bits > 56 - 32)
		fw_fail(NPU_BOOT_ERROR_DEVICE, NPU_HOST_ADDRESS);
	for (n = 0; n < fw.cores; n++) {
		fw.core[n].base = NPU_CP_CORE + n * NPU_CP_CORE_STRIDE;
		fw.core[n].bit = 1u << n;
	}
	fw.core_all = (1u << fw.cores) - 1;
	fw.core_idle = fw.core_all;
	fw.features = NPU_FW_FEATURE_SHADOW | NPU_FW_FEATURE_EVENTS | NPU_FW_FEATURE_TELEMETRY |
		      NPU_FW_FEATURE_SUSPEND | NPU_FW_FEATURE_LOG;
	if (host_read(FEATURES_LO) & NPU_HW_FEATURE_YIELD)
		fw.features |= NPU_FW_FEATURE_PREEMPT;
}

static void negotiate(void)
{
	u32 min = host_field(HOST_PROTO_RANGE, MIN);
	u32 max = host_field(HOST_PROTO_RANGE, MAX);

	host_write(FW_VERSION, FW_VERSION);
	if (min < NPU_PROTO_MIN)
		min = NPU_PROTO_MIN;
	if (max > NPU_PROTO_MAX)
		max = NPU_PROTO_MAX;
	if (min > max)
		fw_fail(NPU_BOOT_ERROR_PROTO, host_read(HOST_PROTO_RANGE));
	host_write(FW_PROTO, max);
	host_write(FW_FEATURES, fw.features);
}

/* Shares the rest of TCM out: deeper entry buffers where there is room. */
static void share_memory(void)
{
	extern u8 heap_start[];
	struct job *jobs;
	u32 i, room;

	heap = heap_start;
	heap_end = (u8 *)NPU_TCM_BASE + host_read(TCM_SIZE);
	if (heap_end < heap)
		fw_fail(NPU_BOOT_ERROR_DEVICE, host_read(TCM_SIZE) >> 10);
	fw.queues = take(fw.queue_count * sizeof(struct queue));
	fw.cqs = take(fw.cq_count * sizeof(struct cq));
	jobs = take(fw.cores * JOBS_PER_CORE * sizeof(struct job));
	for (i = 0; i < fw.cores * JOBS_PER_CORE; i++)
		list_push(&fw.free_jobs, &jobs[i].node);
	for (i = 0; i < fw.cores; i++)
		fw.core[i].job = entry_of(list_pop(&fw.free_jobs), struct job, node);

	room = heap_end - heap;
	fw.buffer_entries = MAX_BUFFER;
	while (fw.buffer_entries > 1 &&
	       fw.queue_count * fw.buffer_entries * sizeof(struct npu_job_sqe) > room)
		fw.buffer_entries /= 2;
	fw.buffer_low = fw.buffer_entries / 2;
	for (i = 0; i < fw.queue_count; i++) {
		fw.queues[i].id = i;
		fw.queues[i].buf = take(fw.buffer_entries * sizeof(struct npu_job_sqe));
		fw.queues[i].buf_end = fw.queues[i].buf + fw.buffer_entries;
		fw.queues[i].head = fw.queues[i].buf;
	}
}

static void try_dma(u64 address)
{
	u32 fault = 0, status;
	const u32 base = NPU_CP_DMA + DMA_AUX * NPU_CP_DMA_STRIDE;

	dma_start(DMA_AUX, 0, address, fw.queues[0].buf, sizeof(struct npu_cqe), false);
	/* Nothing else can be done yet but wait. */
	do
		status = reg_read(base + NPU_DMA_STATUS);
	while (status & NPU_DMA_STATUS_BUSY_MASK);
	reg_write(base + NPU_DMA_STATUS, NPU_DMA_STATUS_DONE_MASK | NPU_DMA_STATUS_ERROR_MASK);
	fw.dma_busy = 0;
	if (status & NPU_DMA_STATUS_ERROR_MASK) {
		fault = (status & NPU_DMA_STATUS_FAULT_MASK) >> NPU_DMA_STATUS_FAULT_SHIFT;
		fw_fail(NPU_BOOT_ERROR_DMA, fault);
	}
}

static bool log_ok(u32 log)
{
	return log >= NPU_RING_LOG_MIN && log <= NPU_RING_LOG_MAX;
}

static void open_admin_rings(void)
{
	u32 log_sq = host_field(ADMIN_SIZE, LOG_SQ), log_cq = host_field(ADMIN_SIZE, LOG_CQ);
	u64 sq = host_read(ADMIN_SQ_LO) | (u64)host_read(ADMIN_SQ_HI) << 32;
	u64 cq = host_read(ADMIN_CQ_LO) | (u64)host_read(ADMIN_CQ_HI) << 32;
	struct queue *q = &fw.queues[0];

	if (!log_ok(log_sq) || !log_ok(log_cq) || log_cq < log_sq)
		fw_fail(NPU_BOOT_ERROR_ADMIN_RING, host_read(ADMIN_SIZE));
	if (sq % NPU_RING_ALIGN || cq % NPU_RING_ALIGN)
		fw_fail(NPU_BOOT_ERROR_ADMIN_RING, NPU_HOST_ADMIN_SQ_LO);
	try_dma(sq);
	try_dma(cq);
	q->state = QUEUE_ACTIVE;
	q->priority = ADMIN_PRIORITY;
	q->log_size = log_sq;
	q->ring = sq;
	q->cq = &fw.cqs[0];
	q->cq->used = true;
	q->cq->log_size = log_cq;
	q->cq->address = cq;
}

void boot(void)
{
	host_write(BOOT_STATE, NPU_BOOT_BOOTING);
	host_write(FW_LOG, (u32)log_bytes());
	host_write(FW_PROTO_RANGE, NPU_PROTO_MAX << NPU_HOST_FW_PROTO_RANGE_MAX_SHIFT |
				   NPU_PROTO_MIN << NPU_HOST_FW_PROTO_RANGE_MIN_SHIFT);
	check_device();
	read_config();
	negotiate();
	share_memory();
	open_admin_rings();
	log_add(NPU_LOG_BOOT, host_read(FW_PROTO), 0, FW_VERSION, 0);
	host_write(BOOT_STATE, NPU_BOOT_READY);
	sys_write(HOST_IRQ, 0);
}
