// SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 OR MIT
/* The device as a whole: its memory, its reset, and the passing of time. */
#include "firmware/model/model_internal.h"

#define FEATURES_ALL	(NPU_HW_FEATURE_REQUANT | NPU_HW_FEATURE_PAD_VALUE | \
			 NPU_HW_FEATURE_YIELD | NPU_HW_FEATURE_VMAC | NPU_HW_FEATURE_LUT)
#define MHZ		1000u

void npu_model_default_config(struct npu_model_config *cfg)
{
	memset(cfg, 0, sizeof(*cfg));
	cfg->cores = 1;
	cfg->queues = 64;
	cfg->cqs = 16;
	cfg->contexts = 64;
	cfg->clock_khz = 1000 * MHZ;
	cfg->tcm_size = NPU_TCM_MAX_SIZE;
	cfg->bus_bits = 52;
	cfg->features = FEATURES_ALL;
}

static bool within(u32 value, u32 low, u32 high)
{
	return value >= low && value <= high;
}

static bool config_ok(const struct npu_model_config *cfg)
{
	return within(cfg->cores, 1, NPU_MAX_CORES) && within(cfg->queues, 1, NPU_MAX_QUEUES) &&
	       within(cfg->cqs, 1, NPU_MAX_CQS) && within(cfg->contexts, 2, NPU_MAX_CONTEXTS) &&
	       within(cfg->bus_bits, 32, 56) && cfg->clock_khz && cfg->tcm_size &&
	       cfg->tcm_size <= NPU_TCM_MAX_SIZE && cfg->tcm_size % 4096 == 0;
}

/* Offsets of the parts that follow struct npu_model. */
struct layout {
	size_t roots;
	size_t tcm;
	size_t predecode;
	size_t cores;
	size_t core_size;
	size_t total;
};

static size_t align(size_t n)
{
	return (n + NPU_MODEL_ALIGN - 1) & ~(size_t)(NPU_MODEL_ALIGN - 1);
}

static void lay_out(const struct npu_model_config *cfg, struct layout *l)
{
	l->roots = align(sizeof(struct npu_model));
	l->tcm = align(l->roots + cfg->contexts * sizeof(u64));
	l->predecode = align(l->tcm + cfg->tcm_size);
	l->cores = align(l->predecode + RV32_PREDECODE_BYTES(cfg->tcm_size));
	l->core_size = align(npu_core_size());
	l->total = l->cores + cfg->cores * l->core_size;
}

size_t npu_model_size(const struct npu_model_config *cfg)
{
	struct layout l;

	if (!config_ok(cfg))
		return 0;
	lay_out(cfg, &l);
	return l.total;
}

u64 npu_now(const struct npu_model *m)
{
	return m->now + (m->cpu.cycles - m->slice_cycles);
}

static u8 core_read(void *opaque, u16 context, u64 va, void *buf, u32 len, u8 access,
		    u64 *fault_va)
{
	struct npu_mmu_fault fault = { NPU_FAULT_CONTEXT, va };
	struct npu_model *m = opaque;

	/* Context 0 is the bus, which is not for jobs. */
	if (context && !npu_mmu_read(&m->mmu, context, va, buf, len, access, &fault))
		return 0;
	*fault_va = fault.va;
	return fault.code;
}

static u8 core_write(void *opaque, u16 context, u64 va, const void *buf, u32 len, u64 *fault_va)
{
	struct npu_mmu_fault fault = { NPU_FAULT_CONTEXT, va };
	struct npu_model *m = opaque;

	if (context && !npu_mmu_write(&m->mmu, context, va, buf, len, &fault))
		return 0;
	*fault_va = fault.va;
	return fault.code;
}

static void init_cores(struct npu_model *m, u8 *mem, size_t size)
{
	const struct npu_core_mem port = { .opaque = m, .read = core_read, .write = core_write };
	u32 i;

	for (i = 0; i < m->cfg.cores; i++) {
		m->cores[i].core = (struct npu_core *)(mem + i * size);
		npu_core_init(m->cores[i].core, i, m->cfg.features, &port);
	}
}

static int init_cpu(struct npu_model *m, void *predecode)
{
	const struct rv32_config cfg = {
		.tcm = m->tcm,
		.tcm_base = NPU_TCM_BASE,
		.tcm_size = m->cfg.tcm_size,
		.predecode = predecode,
		.bus = &npu_cp_bus,
		.opaque = m,
	};

	return rv32_init(&m->cpu, &cfg);
}

int npu_model_init(struct npu_model *m, const struct npu_model_config *cfg,
		   const struct npu_bus_ops *ops, void *opaque)
{
	u8 *base = (u8 *)m;
	struct layout l;
	int ret;

	if (!config_ok(cfg) || (uintptr_t)m % NPU_MODEL_ALIGN)
		return -EINVAL;
	lay_out(cfg, &l);
	memset(m, 0, sizeof(*m));
	m->cfg = *cfg;
	m->ops = ops;
	m->opaque = opaque;
	m->tcm = base + l.tcm;
	memset(m->tcm, 0, cfg->tcm_size);
	ret = init_cpu(m, base + l.predecode);
	if (ret)
		return ret;
	npu_mmu_init(&m->mmu, ops, opaque, cfg, (u64 *)(base + l.roots));
	init_cores(m, base + l.cores, l.core_size);
	npu_model_reset(m);
	return 0;
}

void npu_model_fini(struct npu_model *m)
{
	rv32_halt(&m->cpu);
	m->ops = NULL;
}

void npu_model_reset(struct npu_model *m)
{
	u32 i;

	rv32_halt(&m->cpu);
	m->now = 0;
	m->slice_cycles = m->cpu.cycles;
	m->mtimecmp = NPU_NEVER;
	m->irq_enable = 0;
	m->mtime_hi = 0;
	memset(m->db_pending, 0, sizeof(m->db_pending));
	memset(m->db_value, 0, sizeof(m->db_value));
	npu_host_reset(m);
	npu_dma_reset(m);
	npu_mmu_reset(&m->mmu);
	for (i = 0; i < m->cfg.cores; i++) {
		npu_core_reset(m->cores[i].core);
		m->cores[i].time = 0;
	}
	npu_irq_update(m);
}

void npu_model_set_kernels(struct npu_model *m, const struct npu_core_kernels *kernels)
{
	u32 i;

	for (i = 0; i < m->cfg.cores; i++)
		npu_core_set_kernels(m->cores[i].core, kernels);
}

void npu_model_bus_changed(struct npu_model *m)
{
	npu_mmu_forget_pointers(&m->mmu);
}

u64 npu_model_ticks(const struct npu_model *m)
{
	return npu_now(m);
}

u64 npu_model_cp_insns(const struct npu_model *m)
{
	return m->cpu.insns;
}

void npu_core_catch_up(struct npu_model *m, u32 core, u64 tick)
{
	struct npu_core_slot *slot = &m->cores[core];

	if (slot->time < tick && npu_core_running(slot->core))
		npu_core_run(slot->core, tick - slot->time, slot->time);
	slot->time = tick;
}

static u32 cores_running(const struct npu_model *m, u32 *first)
{
	u32 i, n = 0;

	for (i = m->cfg.cores; i--;) {
		if (npu_core_running(m->cores[i].core)) {
			*first = i;
			n++;
		}
	}
	return n;
}

/* The tick of the next timer interrupt or end of a transfer. */
static u64 next_event(const struct npu_model *m)
{
	u64 next = npu_dma_next(m);

	if (m->cpu.halt == RV32_HALT_NONE && m->now < m->mtimecmp && m->mtimecmp < next &&
	    (!m->cpu.wfi || m->cpu.mie & RV32_IRQ_TIMER))
		next = m->mtimecmp;
	return next;
}

/* Brings all cores and the clock to @tick, where the processor is or was. */
static void advance_to(struct npu_model *m, u64 tick)
{
	u32 i;

	for (i = 0; i < m->cfg.cores; i++)
		npu_core_catch_up(m, i, tick);
	m->now = tick;
	m->slice_cycles = m->cpu.cycles;
}

static void advance_waiting(struct npu_model *m, u64 tick)
{
	rv32_add_cycles(&m->cpu, tick - m->now);
	advance_to(m, tick);
}

static u64 earlier(u64 a, u64 b)
{
	return a < b ? a : b;
}

/* Runs the processor, and the cores beside it, up to @border at most. */
static void slice_cp(struct npu_model *m, u64 border)
{
	u32 steps;

	steps = rv32_run(&m->cpu, border - m->now);
	advance_to(m, m->now + steps);
}

/* Runs the one core that is running, until it stops or @border at most. */
static void slice_core(struct npu_model *m, u32 core, u64 border)
{
	struct npu_core_slot *slot = &m->cores[core];

	slot->time += npu_core_run(slot->core, border - m->now, m->now);
	advance_waiting(m, slot->time);
}

/*
 * One step of the simulation; *@work becomes the ticks that something was busy
 * in. False: there is nothing to do.
 *
 * Borders of slices follow from the state of the device alone, but where only
 * a core runs, and how a core's time is cut does not matter.
 */
static bool step(struct npu_model *m, u64 most, u64 *work)
{
	u64 quantum = (m->now | (NPU_QUANTUM - 1)) + 1;
	u64 next = next_event(m), begin = m->now;
	bool cp = rv32_runnable(&m->cpu);
	u32 first = 0, running = cores_running(m, &first);

	*work = 1;
	if (cp)
		slice_cp(m, earlier(next, quantum));
	else if (running == 1)
		slice_core(m, first, earlier(next, begin + most));
	else if (running)
		advance_waiting(m, earlier(next, quantum));
	else if (next != NPU_NEVER)
		advance_waiting(m, next);
	else
		return false;
	if (cp || running)
		*work += m->now - begin;
	npu_dma_complete(m);
	npu_irq_update(m);
	return true;
}

bool npu_model_run(struct npu_model *m, u32 budget)
{
	u64 work, left = budget ? budget : 1;
	u32 first;

	while (left) {
		if (!step(m, left, &work))
			return false;
		left -= earlier(left, work);
	}
	return rv32_runnable(&m->cpu) || cores_running(m, &first) || next_event(m) != NPU_NEVER;
}
