// SPDX-License-Identifier: MIT
/* Backend "sim": boot, memory, time, the worker. */
#include <errno.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "userspace/libnpu/include/npu/npu.h"
#include "userspace/libnpu/sim.h"

#define BOOT_US		(10u * 1000 * 1000)
#define VA_START	(1ull << 20)
#define VA_END		(1ull << NPU_VA_BITS)

static struct sim *sim_of(struct npu_backend *be)
{
	return (struct sim *)be;
}

/* ---- the lock and the worker ---- */

void sim_lock(struct sim *sim)
{
	__atomic_add_fetch(&sim->waiting, 1, __ATOMIC_RELAXED);
	pthread_mutex_lock(&sim->lock);
	__atomic_sub_fetch(&sim->waiting, 1, __ATOMIC_RELAXED);
}

void sim_unlock(struct sim *sim)
{
	pthread_mutex_unlock(&sim->lock);
}

/* A mutex is not fair: without this the worker would take it again at once. */
static void make_way(struct sim *sim)
{
	if (!__atomic_load_n(&sim->waiting, __ATOMIC_RELAXED))
		return;
	sim_unlock(sim);
	while (__atomic_load_n(&sim->waiting, __ATOMIC_RELAXED))
		sched_yield();
	pthread_mutex_lock(&sim->lock);
}

static void *work(void *arg)
{
	struct sim *sim = arg;
	bool more;

	pthread_mutex_lock(&sim->lock);
	while (!sim->stop) {
		more = npu_model_run(sim->model, SIM_QUANTUM);
		if (sim_collect(sim)) {
			sim_pump(sim);
			pthread_cond_broadcast(&sim->done);
			more = true;
		}
		if (more)
			make_way(sim);
		else if (!sim->stop)
			pthread_cond_wait(&sim->work, &sim->lock);
	}
	pthread_mutex_unlock(&sim->lock);
	return NULL;
}

static int start_worker(struct sim *sim)
{
	sigset_t all, old;
	int ret;

	/* The program's signals are for the program's threads. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	ret = pthread_create(&sim->worker, NULL, work, sim);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return ret ? npu_fail(-ret, "starting a thread: %s", strerror(ret)) : 0;
}

static void stop_worker(struct sim *sim)
{
	sim_lock(sim);
	sim->stop = true;
	pthread_cond_signal(&sim->work);
	sim_unlock(sim);
	pthread_join(sim->worker, NULL);
}

/* ---- what model and host library ask for ---- */

static void *bus_map(void *opaque, u64 bus, u32 len)
{
	return sim_arena_at(&((struct sim *)opaque)->arena, bus, len);
}

static void bus_irq(void *opaque, u32 vector)
{
	/* The worker looks at the rings after each quantum anyway. */
	(void)opaque;
	(void)vector;
}

static const struct npu_bus_ops bus_ops = { .map = bus_map, .irq = bus_irq };

static u32 host_reg_read(void *opaque, u32 offset)
{
	return npu_model_reg_read(((struct sim *)opaque)->model, offset);
}

static void host_reg_write(void *opaque, u32 offset, u32 value)
{
	npu_model_reg_write(((struct sim *)opaque)->model, offset, value);
}

static void host_doorbell(void *opaque, u32 index, u32 value)
{
	npu_model_doorbell(((struct sim *)opaque)->model, index, value);
}

static u64 host_now_us(void *opaque)
{
	(void)opaque;
	return npu_clock_ns() / 1000;
}

static void host_relax(void *opaque)
{
	npu_model_run(((struct sim *)opaque)->model, SIM_QUANTUM);
}

static void *host_page_alloc(void *opaque, u64 *bus)
{
	struct sim *sim = opaque;
	void *data;

	return sim_arena_alloc(&sim->arena, NPU_PAGE_SIZE, bus, &data) ? NULL : data;
}

static void host_page_free(void *opaque, void *cpu, u64 bus)
{
	(void)cpu;
	sim_arena_free(&((struct sim *)opaque)->arena, bus, NPU_PAGE_SIZE);
}

static void *host_mem_alloc(void *opaque, size_t size)
{
	(void)opaque;
	return calloc(1, size);
}

static void host_mem_free(void *opaque, void *mem)
{
	(void)opaque;
	free(mem);
}

static const struct npu_host_ops host_ops = {
	.reg_read = host_reg_read,
	.reg_write = host_reg_write,
	.doorbell = host_doorbell,
	.now_us = host_now_us,
	.relax = host_relax,
	.page_alloc = host_page_alloc,
	.page_free = host_page_free,
	.mem_alloc = host_mem_alloc,
	.mem_free = host_mem_free,
};

/* ---- boot ---- */

static int make_model(struct sim *sim)
{
	struct npu_model_config config;
	size_t size;

	npu_model_default_config(&config);
	memcpy(config.uuid, "npu-sim-process", sizeof(config.uuid));
	size = npu_model_size(&config);
	size = (size + NPU_MODEL_ALIGN - 1) & ~(size_t)(NPU_MODEL_ALIGN - 1);
	sim->model = aligned_alloc(NPU_MODEL_ALIGN, size);
	if (!sim->model)
		return npu_fail(-ENOMEM, "out of memory for a simulated device");
	if (npu_model_init(sim->model, &config, &bus_ops, sim))
		return npu_fail(-EINVAL, "configuration of the simulated device is refused");
	npu_model_set_kernels(sim->model, npu_core_kernels_native());
	return 0;
}

static int say_detail(int ret, const char *what, const struct npu_host_detail *d)
{
	return npu_fail(ret, "%s: %s: expected %#llx, found %#llx", what, d->what,
			(unsigned long long)d->expected, (unsigned long long)d->found);
}

static int boot_image(struct sim *sim, const void *data, size_t size, const char *path)
{
	struct npu_host_detail detail;
	struct npu_fwimage image;
	void *rings;
	int ret;

	ret = npu_identify(&sim->env, &sim->info, &detail);
	if (ret)
		return say_detail(ret, "simulated device", &detail);
	ret = npu_fwimage_check(data, size, NPU_DEVICE_V0, sim->info.tcm_size, 0, &image, &detail);
	if (ret)
		return npu_fail(ret, "firmware %s: %s: expected %#llx, found %#llx", path, detail.what,
				(unsigned long long)detail.expected,
				(unsigned long long)detail.found);
	ret = sim_arena_alloc(&sim->arena, 2 * NPU_PAGE_SIZE, &sim->admin_bus, &rings);
	if (ret)
		return ret;
	npu_admin_init(&sim->admin, &sim->env, rings, sim->admin_bus,
		       (uint8_t *)rings + NPU_PAGE_SIZE, sim->admin_bus + NPU_PAGE_SIZE);
	ret = npu_boot(&sim->env, &image, &sim->admin, BOOT_US, &detail);
	if (ret)
		return say_detail(ret, "boot of the simulated device", &detail);
	sim->fw_version = host_reg_read(sim, NPU_HOST_FW_VERSION);
	sim->fw_features = host_reg_read(sim, NPU_HOST_FW_FEATURES);
	sim->fw_proto = host_reg_read(sim, NPU_HOST_FW_PROTO);
	return 0;
}

static int boot(struct sim *sim)
{
	char path[PATH_MAX];
	void *data;
	size_t size;
	int ret;

	ret = sim_firmware_read(&data, &size, path, sizeof(path));
	if (ret)
		return ret;
	ret = boot_image(sim, data, size, path);
	free(data);
	return ret;
}

static int set_up_context(struct sim *sim)
{
	struct npu_admin_sqe sqe;
	void *ring;
	int ret;

	ret = npu_pt_init(&sim->pt, &sim->env, sim->info.bus_bits);
	if (ret)
		return npu_fail(ret, "out of memory for page tables");
	npu_admin_context_set_root(&sqe, SIM_CONTEXT, npu_pt_root(&sim->pt));
	ret = sim_admin(sim, &sqe);
	if (ret)
		return ret;

	ret = sim_arena_alloc(&sim->arena, 64u << SIM_CQ_LOG, &sim->cq_bus, &ring);
	if (ret)
		return ret;
	npu_cq_init(&sim->cq, ring, SIM_CQ_LOG);
	npu_admin_cq_create(&sqe, SIM_CQ, sim->cq_bus, SIM_CQ_LOG, SIM_CQ);
	return sim_admin(sim, &sqe);
}

/* Pages need no care: they go with the arena. */
static void free_sim(struct sim *sim)
{
	npu_pt_fini(&sim->pt);
	if (sim->model)
		npu_model_fini(sim->model);
	free(sim->model);
	if (sim->arena.base)
		sim_arena_fini(&sim->arena);
	pthread_cond_destroy(&sim->done);
	pthread_cond_destroy(&sim->work);
	pthread_mutex_destroy(&sim->lock);
	free(sim);
}

/* ---- operations ---- */

static void sim_close(struct npu_backend *be)
{
	stop_worker(sim_of(be));
	free_sim(sim_of(be));
}

static int sim_get_info(struct npu_backend *be, struct npu_device_info *info)
{
	const struct sim *sim = sim_of(be);

	info->contract = sim->info.contract;
	info->device_id = sim->info.device;
	info->revision = sim->info.revision;
	info->fw_version = sim->fw_version;
	info->hw_features = sim->info.features;
	info->fw_features = sim->fw_features;
	info->fw_proto = sim->fw_proto;
	info->cores = sim->info.cores;
	info->queue_slots = sim->info.queues;
	info->contexts = sim->info.contexts - 1;
	info->config0 = sim->info.config0;
	info->config1 = sim->info.config1;
	info->clock_khz = sim->info.clock_khz;
	info->priorities = NPU_PRIORITIES;
	info->max_jobs = SIM_MAX_JOBS;
	info->va_start = VA_START;
	info->va_end = VA_END;
	info->limit_default = NPU_LIMIT_DEFAULT;
	info->limit_max = NPU_LIMIT_MAX;
	info->resets = 0;
	memcpy(info->uuid, sim->info.uuid, sizeof(info->uuid));
	return 0;
}

static int sim_get_time(struct npu_backend *be, uint64_t *ticks, uint64_t *monotonic_ns)
{
	struct sim *sim = sim_of(be);

	sim_lock(sim);
	*ticks = npu_read_ticks(&sim->env);
	*monotonic_ns = npu_clock_ns();
	sim_unlock(sim);
	return 0;
}

static int sim_memory_alloc(struct npu_backend *be, struct npu_memory *mem)
{
	struct sim *sim = sim_of(be);
	int ret;

	sim_lock(sim);
	ret = sim_arena_alloc(&sim->arena, mem->size, &mem->handle, &mem->data);
	sim_unlock(sim);
	return ret;
}

static int sim_memory_import(struct npu_backend *be, struct npu_memory *mem, bool writable)
{
	struct sim *sim = sim_of(be);
	int ret = sim_check_mapped(mem->data, mem->size, writable);

	if (ret)
		return ret;
	sim_lock(sim);
	ret = sim_arena_import(&sim->arena, mem->data, mem->size, &mem->handle);
	sim_unlock(sim);
	mem->imported = !ret;
	return ret;
}

static void sim_memory_free(struct npu_backend *be, struct npu_memory *mem)
{
	struct sim *sim = sim_of(be);

	sim_lock(sim);
	if (mem->imported)
		sim_arena_forget(&sim->arena, mem->handle);
	else
		sim_arena_free(&sim->arena, mem->handle, mem->size);
	sim_unlock(sim);
}

/* Until the device has acknowledged, it may use what a change took away. */
static int settle(struct sim *sim, struct npu_pt_garbage *garbage)
{
	struct npu_admin_sqe sqe;
	int ret;

	if (garbage->inv_va != garbage->inv_end) {
		npu_admin_tlb_invalidate(&sqe, SIM_CONTEXT, garbage->inv_va,
					 garbage->inv_end - garbage->inv_va);
		ret = sim_admin(sim, &sqe);
		if (ret)
			return ret;
	}
	npu_pt_garbage_free(&sim->pt, garbage);
	return 0;
}

static int sim_map(struct npu_backend *be, const struct npu_memory *mem, uint64_t va,
		   uint32_t rights)
{
	const struct npu_pt_run run = { .bus = mem->handle, .size = mem->size };
	struct sim *sim = sim_of(be);
	struct npu_pt_garbage garbage = { 0 };
	struct npu_host_detail detail;
	int ret;

	_Static_assert(NPU_RIGHT_READ == NPU_PT_READ && NPU_RIGHT_WRITE == NPU_PT_WRITE &&
		       NPU_RIGHT_EXECUTE == NPU_PT_EXEC, "rights are the page table's");
	sim_lock(sim);
	ret = npu_pt_map(&sim->pt, va, &run, 1, rights, &garbage, &detail);
	if (ret)
		say_detail(ret, "mapping a buffer for the device", &detail);
	else
		ret = settle(sim, &garbage);
	sim_unlock(sim);
	return ret;
}

static int sim_unmap(struct npu_backend *be, uint64_t va, uint64_t size)
{
	struct sim *sim = sim_of(be);
	struct npu_pt_garbage garbage = { 0 };
	struct npu_host_detail detail;
	int ret;

	sim_lock(sim);
	ret = npu_pt_unmap(&sim->pt, va, size, &garbage, &detail);
	if (ret)
		say_detail(ret, "unmapping a buffer from the device", &detail);
	else
		ret = settle(sim, &garbage);
	sim_unlock(sim);
	return ret;
}

static int sim_wait(struct npu_backend *be, struct npu_point point, int64_t deadline)
{
	const struct timespec until = {
		.tv_sec = deadline / 1000000000, .tv_nsec = deadline % 1000000000,
	};
	struct sim *sim = sim_of(be);
	bool ended;
	int ret = 0;

	sim_lock(sim);
	while (!(ended = sim_ended(sim, point)) && ret != ETIMEDOUT)
		ret = pthread_cond_timedwait(&sim->done, &sim->lock, &until);
	sim_unlock(sim);
	if (!ended)
		return npu_fail(-ETIMEDOUT, "job %llu has not ended in time",
				(unsigned long long)point.seqno);
	return 0;
}

static const struct npu_backend_ops sim_ops = {
	.name = "sim",
	.close = sim_close,
	.get_info = sim_get_info,
	.get_time = sim_get_time,
	.memory_alloc = sim_memory_alloc,
	.memory_import = sim_memory_import,
	.memory_free = sim_memory_free,
	.map = sim_map,
	.unmap = sim_unmap,
	.queue_create = sim_queue_create,
	.queue_destroy = sim_queue_destroy,
	.submit = sim_submit,
	.wait = sim_wait,
	.last_failure = sim_last_failure,
};

static void init_locks(struct sim *sim)
{
	pthread_condattr_t attr;

	pthread_mutex_init(&sim->lock, NULL);
	pthread_cond_init(&sim->work, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&sim->done, &attr);
	pthread_condattr_destroy(&attr);
}

int npu_backend_sim_open(struct npu_backend **out)
{
	struct sim *sim = calloc(1, sizeof(*sim));
	int ret;

	if (!sim)
		return npu_fail(-ENOMEM, "out of memory for a simulated device");
	sim->be.ops = &sim_ops;
	sim->env = (struct npu_host_env) { .ops = &host_ops, .opaque = sim };
	init_locks(sim);
	ret = sim_arena_init(&sim->arena);
	if (!ret)
		ret = make_model(sim);
	if (!ret)
		ret = boot(sim);
	if (!ret)
		ret = set_up_context(sim);
	if (!ret)
		ret = start_worker(sim);
	if (ret) {
		free_sim(sim);
		return ret;
	}
	*out = &sim->be;
	return 0;
}
