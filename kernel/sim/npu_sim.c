// SPDX-License-Identifier: GPL-2.0-only
/*
 * Simulated devices: the device model, each on a thread of its own, behind the
 * auxiliary bus.
 *
 * A mutex serialises all calls into a model. The thread holds it for one slice
 * at a time; registers are read and written under it by whoever does so, in
 * process context. Doorbells come from any context: they are left in a mailbox
 * and picked up before the next slice or register access, which keeps the order.
 *
 * Interrupts are delivered by the thread or by a register access, in process
 * context with the mutex held and interrupts enabled. The handler may ring
 * doorbells, and calls no other operation.
 */
#include <linux/delay.h>
#include <linux/dma-mapping.h>
#include <linux/highmem.h>
#include <linux/idr.h>
#include <linux/io.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/uuid.h>
#include <linux/vmalloc.h>

#include "firmware/model/npu_model.h"
#include "kernel/npu_hw.h"
#include "npu_regs.h"

#define NPU_SIM_MAX_DEVICES	16

/* Ticks of a slice: some milliseconds where a tick is a busy cycle of a core. */
#define NPU_SIM_SLICE		2048

/* A slow machine with a slow kernel takes seconds for one heartbeat. */
#define NPU_SIM_PATIENCE_MS	20000

static unsigned int devices = 1;
module_param(devices, uint, 0444);
MODULE_PARM_DESC(devices, "Number of simulated devices, 1 to 16 (default 1)");

static unsigned int cores = 1;
module_param(cores, uint, 0444);
MODULE_PARM_DESC(cores, "Compute cores of each, 1 to 16 (default 1)");

/**
 * struct npu_sim - a simulated device
 * @aux: device on the auxiliary bus
 * @model: the model
 * @lock: serialises calls into @model; guards @irq and @irq_data
 * @irq: who takes interrupts, NULL for nobody
 * @irq_data: passed to @irq
 * @thread: lets time pass
 * @wake: where @thread waits for work
 * @work: there is something to do
 * @frozen: time stands still until the next reset, as in a broken device
 * @mail_lock: guards @rung and @values; taken in any context, innermost
 * @rung: doorbells that were rung
 * @values: what was written to them
 */
struct npu_sim {
	struct npu_hw_aux *aux;
	struct npu_model *model;
	struct mutex lock; /* serialises calls into the model */
	npu_hw_irq irq;
	void *irq_data;
	struct task_struct *thread;
	wait_queue_head_t wake;
	bool work;
	bool frozen;
	spinlock_t mail_lock; /* guards the mailbox */
	DECLARE_BITMAP(rung, NPU_MAX_QUEUES + 1);
	u32 values[NPU_MAX_QUEUES + 1];
};

static struct npu_sim *sims[NPU_SIM_MAX_DEVICES];
static struct device *sims_parent;

static struct npu_sim *to_npu_sim(struct npu_hw *hw)
{
	return hw->transport;
}

static void npu_sim_kick(struct npu_sim *sim)
{
	WRITE_ONCE(sim->work, true);
	wake_up(&sim->wake);
}

/*
 * Memory of the host is all that the simulated bus reaches; a bus address is a
 * physical address, which npu_sim_check_dma() has made sure of.
 */
static void *npu_sim_map(void *opaque, u64 bus_addr, u32 len)
{
	unsigned long pfn = PHYS_PFN(bus_addr);

	if (bus_addr != (phys_addr_t)bus_addr || !pfn_valid(pfn) ||
	    PageReserved(pfn_to_page(pfn)) || PageHighMem(pfn_to_page(pfn)))
		return NULL;
	return phys_to_virt(bus_addr);
}

static void npu_sim_irq(void *opaque, u32 vector)
{
	struct npu_sim *sim = opaque;

	lockdep_assert_held(&sim->lock);
	if (sim->irq)
		sim->irq(sim->irq_data, vector);
}

static const struct npu_bus_ops npu_sim_bus_ops = {
	.map = npu_sim_map,
	.irq = npu_sim_irq,
};

static void npu_sim_deliver(struct npu_sim *sim)
{
	u32 index, value;

	lockdep_assert_held(&sim->lock);
	for (;;) {
		spin_lock_irq(&sim->mail_lock);
		index = find_first_bit(sim->rung, NPU_MAX_QUEUES + 1);
		if (index <= NPU_MAX_QUEUES) {
			__clear_bit(index, sim->rung);
			value = sim->values[index];
		}
		spin_unlock_irq(&sim->mail_lock);
		if (index > NPU_MAX_QUEUES)
			return;
		npu_model_doorbell(sim->model, index, value);
	}
}

static u32 npu_sim_reg_read(struct npu_hw *hw, u32 offset)
{
	struct npu_sim *sim = to_npu_sim(hw);
	u32 value;

	mutex_lock(&sim->lock);
	npu_sim_deliver(sim);
	value = npu_model_reg_read(sim->model, offset);
	mutex_unlock(&sim->lock);
	return value;
}

static void npu_sim_reg_write(struct npu_hw *hw, u32 offset, u32 value)
{
	struct npu_sim *sim = to_npu_sim(hw);

	mutex_lock(&sim->lock);
	npu_sim_deliver(sim);
	npu_model_reg_write(sim->model, offset, value);
	if (offset == NPU_HOST_RESET)
		WRITE_ONCE(sim->frozen, false);
	mutex_unlock(&sim->lock);
	npu_sim_kick(sim);
}

static void npu_sim_doorbell(struct npu_hw *hw, u32 index, u32 value)
{
	struct npu_sim *sim = to_npu_sim(hw);
	unsigned long flags;

	if (index > NPU_MAX_QUEUES)
		return;
	spin_lock_irqsave(&sim->mail_lock, flags);
	sim->values[index] = value;
	__set_bit(index, sim->rung);
	spin_unlock_irqrestore(&sim->mail_lock, flags);
	npu_sim_kick(sim);
}

static int npu_sim_irq_request(struct npu_hw *hw, u32 vectors, npu_hw_irq handler, void *data)
{
	struct npu_sim *sim = to_npu_sim(hw);

	mutex_lock(&sim->lock);
	sim->irq_data = data;
	sim->irq = handler;
	mutex_unlock(&sim->lock);
	return 0;
}

static void npu_sim_irq_free(struct npu_hw *hw)
{
	struct npu_sim *sim = to_npu_sim(hw);

	mutex_lock(&sim->lock);
	sim->irq = NULL;
	mutex_unlock(&sim->lock);
}

static const struct npu_hw_ops npu_sim_hw_ops = {
	.reg_read = npu_sim_reg_read,
	.reg_write = npu_sim_reg_write,
	.doorbell = npu_sim_doorbell,
	.irq_request = npu_sim_irq_request,
	.irq_free = npu_sim_irq_free,
};

static int npu_sim_thread(void *data)
{
	struct npu_sim *sim = data;
	bool busy;

	while (!kthread_should_stop()) {
		WRITE_ONCE(sim->work, false);
		/* Pairs with the locks of who kicks: what comes from here on is seen. */
		smp_mb();
		mutex_lock(&sim->lock);
		npu_sim_deliver(sim);
		busy = !sim->frozen && npu_model_run(sim->model, NPU_SIM_SLICE);
		mutex_unlock(&sim->lock);
		if (busy)
			cond_resched();
		else
			wait_event_idle(sim->wake,
					READ_ONCE(sim->work) || kthread_should_stop());
	}
	return 0;
}

static ssize_t frozen_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	struct npu_hw *hw = &to_npu_hw_aux(to_auxiliary_dev(dev))->hw;

	return sysfs_emit(buf, "%d\n", READ_ONCE(to_npu_sim(hw)->frozen));
}

/* 1 makes it a device that hangs, until it is reset. */
static ssize_t frozen_store(struct device *dev, struct device_attribute *attr, const char *buf,
			    size_t count)
{
	struct npu_sim *sim = to_npu_sim(&to_npu_hw_aux(to_auxiliary_dev(dev))->hw);
	bool frozen;
	int ret;

	ret = kstrtobool(buf, &frozen);
	if (ret)
		return ret;
	mutex_lock(&sim->lock);
	WRITE_ONCE(sim->frozen, frozen);
	mutex_unlock(&sim->lock);
	npu_sim_kick(sim);
	return count;
}
static DEVICE_ATTR_RW(frozen);

static struct attribute *npu_sim_attrs[] = {
	&dev_attr_frozen.attr,
	NULL
};
ATTRIBUTE_GROUPS(npu_sim);

static int npu_sim_model_init(struct npu_sim *sim)
{
	struct npu_model_config config;
	struct npu_model *model;
	size_t size;
	int ret;

	npu_model_default_config(&config);
	config.cores = cores;
	generate_random_uuid(config.uuid);
	size = npu_model_size(&config);
	model = size ? vzalloc(size) : NULL;
	if (!model)
		return -ENOMEM;
	ret = npu_model_init(model, &config, &npu_sim_bus_ops, sim);
	if (ret) {
		vfree(model);
		return ret;
	}
	sim->model = model;
	return dma_coerce_mask_and_coherent(sim->aux->hw.dev, DMA_BIT_MASK(config.bus_bits));
}

/* A bounce buffer or an IOMMU would put the model beside the data. */
static int npu_sim_check_dma(struct device *dev)
{
	struct page *page = alloc_page(GFP_KERNEL);
	dma_addr_t bus;
	bool direct;

	if (!page)
		return -ENOMEM;
	bus = dma_map_page(dev, page, 0, PAGE_SIZE, DMA_BIDIRECTIONAL);
	direct = !dma_mapping_error(dev, bus) && bus == page_to_phys(page);
	if (!dma_mapping_error(dev, bus))
		dma_unmap_page(dev, bus, PAGE_SIZE, DMA_BIDIRECTIONAL);
	__free_page(page);
	if (direct)
		return 0;
	dev_err(dev, "bus addresses are not physical addresses here (swiotlb=force?)\n");
	return -EOPNOTSUPP;
}

static int npu_sim_start(struct npu_sim *sim, u32 id)
{
	struct auxiliary_device *adev = &sim->aux->adev;
	int ret;

	ret = npu_sim_model_init(sim);
	if (ret)
		return ret;
	ret = npu_sim_check_dma(&adev->dev);
	if (ret)
		return ret;
	sim->thread = kthread_run(npu_sim_thread, sim, "npu_sim/%u", id);
	if (IS_ERR(sim->thread))
		return PTR_ERR(sim->thread);
	ret = auxiliary_device_add(adev);
	if (ret)
		kthread_stop(sim->thread);
	return ret;
}

/* Nobody uses the transport any more; open files may keep the device. */
static void npu_sim_free(struct npu_sim *sim)
{
	auxiliary_device_uninit(&sim->aux->adev);
	if (sim->model)
		npu_model_fini(sim->model);
	vfree(sim->model);
	mutex_destroy(&sim->lock);
	kfree(sim);
}

static int npu_sim_create(u32 id)
{
	struct npu_sim *sim = kzalloc(sizeof(*sim), GFP_KERNEL);
	int ret;

	if (!sim)
		return -ENOMEM;
	mutex_init(&sim->lock);
	spin_lock_init(&sim->mail_lock);
	init_waitqueue_head(&sim->wake);
	sim->aux = npu_hw_aux_create(sims_parent, id, &npu_sim_hw_ops, sim);
	if (IS_ERR(sim->aux)) {
		ret = PTR_ERR(sim->aux);
		kfree(sim);
		return ret;
	}
	sim->aux->hw.patience_ms = NPU_SIM_PATIENCE_MS;
	sim->aux->adev.dev.groups = npu_sim_groups;
	ret = npu_sim_start(sim, id);
	if (ret)
		npu_sim_free(sim);
	else
		sims[id] = sim;
	return ret;
}

/* The driver is unbound first, while the device still answers. */
static void npu_sim_destroy(struct npu_sim *sim)
{
	auxiliary_device_delete(&sim->aux->adev);
	kthread_stop(sim->thread);
	npu_sim_free(sim);
}

static void npu_sim_exit(void)
{
	u32 id = NPU_SIM_MAX_DEVICES;

	while (id--)
		if (sims[id])
			npu_sim_destroy(sims[id]);
	root_device_unregister(sims_parent);
}

static int __init npu_sim_init(void)
{
	u32 id;
	int ret;

	if (!devices || devices > NPU_SIM_MAX_DEVICES) {
		pr_err("npu_sim: devices=%u, expected 1 to %u\n", devices, NPU_SIM_MAX_DEVICES);
		return -EINVAL;
	}
	if (!cores || cores > NPU_MAX_CORES) {
		pr_err("npu_sim: cores=%u, expected 1 to %u\n", cores, NPU_MAX_CORES);
		return -EINVAL;
	}
	sims_parent = root_device_register("npu_sim");
	if (IS_ERR(sims_parent))
		return PTR_ERR(sims_parent);
	for (id = 0; id < devices; id++) {
		ret = npu_sim_create(id);
		if (ret) {
			npu_sim_exit();
			return ret;
		}
	}
	return 0;
}

module_init(npu_sim_init);
module_exit(npu_sim_exit);

MODULE_DESCRIPTION("Simulated neural processing units");
MODULE_LICENSE("GPL");
