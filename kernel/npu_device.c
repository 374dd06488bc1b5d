// SPDX-License-Identifier: GPL-2.0-only
/*
 * A device from bring-up to removal: what the host library calls back, memory
 * that both sides see, boot, interrupts.
 */
#include <linux/delay.h>
#include <linux/dma-mapping.h>
#include <linux/slab.h>
#include <drm/drm_managed.h>

#include "npu_bo.h"
#include "npu_client.h"
#include "npu_command.h"
#include "npu_coredump.h"
#include "npu_queue.h"
#include "npu_telemetry.h"

#define NPU_BOOT_TIMEOUT_US	(10 * USEC_PER_SEC)

static u32 npu_env_reg_read(void *opaque, u32 offset)
{
	return npu_device_read(opaque, offset);
}

static void npu_env_reg_write(void *opaque, u32 offset, u32 value)
{
	struct npu_device *ndev = opaque;

	ndev->hw->ops->reg_write(ndev->hw, offset, value);
}

static void npu_env_doorbell(void *opaque, u32 index, u32 value)
{
	struct npu_device *ndev = opaque;

	ndev->hw->ops->doorbell(ndev->hw, index, value);
}

static u64 npu_env_now_us(void *opaque)
{
	return ktime_to_us(ktime_get());
}

static void npu_env_relax(void *opaque)
{
	usleep_range(20, 100);
}

static void *npu_env_page_alloc(void *opaque, u64 *bus)
{
	struct npu_device *ndev = opaque;
	dma_addr_t addr;
	void *cpu;

	cpu = dma_alloc_coherent(ndev->drm.dev, NPU_PAGE_SIZE, &addr, GFP_KERNEL_ACCOUNT);
	*bus = addr;
	return cpu;
}

static void npu_env_page_free(void *opaque, void *cpu, u64 bus)
{
	struct npu_device *ndev = opaque;

	dma_free_coherent(ndev->drm.dev, NPU_PAGE_SIZE, cpu, bus);
}

static void *npu_env_mem_alloc(void *opaque, size_t size)
{
	return kzalloc(size, GFP_KERNEL_ACCOUNT);
}

static void npu_env_mem_free(void *opaque, void *mem)
{
	kfree(mem);
}

static const struct npu_host_ops npu_env_ops = {
	.reg_read = npu_env_reg_read,
	.reg_write = npu_env_reg_write,
	.doorbell = npu_env_doorbell,
	.now_us = npu_env_now_us,
	.relax = npu_env_relax,
	.page_alloc = npu_env_page_alloc,
	.page_free = npu_env_page_free,
	.mem_alloc = npu_env_mem_alloc,
	.mem_free = npu_env_mem_free,
};

/* Zeroed, aligned to its size rounded up to a power of two of pages. */
int npu_mem_alloc(struct npu_device *ndev, struct npu_mem *mem, size_t size)
{
	mem->cpu = dma_alloc_coherent(ndev->drm.dev, size, &mem->bus, GFP_KERNEL);
	mem->size = size;
	return mem->cpu ? 0 : -ENOMEM;
}

void npu_mem_free(struct npu_device *ndev, struct npu_mem *mem)
{
	if (mem->cpu)
		dma_free_coherent(ndev->drm.dev, mem->size, mem->cpu, mem->bus);
	mem->cpu = NULL;
}

enum npu_state npu_device_state(struct npu_device *ndev)
{
	return READ_ONCE(ndev->state);
}

/* False if the device is beyond @state already: gone for ever, or wedged. */
bool npu_device_set_state(struct npu_device *ndev, enum npu_state state)
{
	bool ok;

	spin_lock(&ndev->state_lock);
	ok = ndev->state != NPU_STATE_GONE &&
	     (ndev->state != NPU_STATE_WEDGED || state == NPU_STATE_GONE);
	if (ok)
		WRITE_ONCE(ndev->state, state);
	spin_unlock(&ndev->state_lock);
	wake_up_all(&ndev->state_wait);
	return ok;
}

/* Waits for a reset that is going on, which is bounded. */
int npu_device_wait_up(struct npu_device *ndev)
{
	wait_event(ndev->state_wait, npu_device_state(ndev) != NPU_STATE_RESETTING);
	switch (npu_device_state(ndev)) {
	case NPU_STATE_WEDGED:
		return -EIO;
	case NPU_STATE_GONE:
		return -ENODEV;
	default:
		return 0;
	}
}

/* How long the device may show no sign of life while it works, in ms. */
unsigned int npu_device_patience(struct npu_device *ndev)
{
	return READ_ONCE(npu_hang_ms) ?: ndev->hw->patience_ms;
}

static void npu_device_irq(void *data, u32 vector)
{
	struct npu_device *ndev = data;

	if (!vector)
		npu_command_irq(ndev);
	else if (vector <= ndev->cq_count)
		npu_cq_ring_poll(ndev, &ndev->cqs[vector - 1]);
}

static int npu_device_log(struct npu_device *ndev, const char *what,
			  const struct npu_host_detail *detail, int error)
{
	drm_err(&ndev->drm, "%s: %s is %#llx, expected %#llx (error %d)\n", what,
		detail->what ?: "device", detail->found, detail->expected, error);
	return error;
}

/* Empty rings, firmware, rings made known. Allocates nothing. */
int npu_device_boot(struct npu_device *ndev)
{
	struct npu_host_detail detail = {};
	struct npu_admin_sqe sqe;
	int ret;

	WRITE_ONCE(ndev->boots, ndev->boots + 1);
	npu_command_prepare(ndev);
	npu_cq_rings_prepare(ndev);
	ret = npu_boot(&ndev->env, &ndev->fw, &ndev->admin, NPU_BOOT_TIMEOUT_US, &detail);
	if (ret)
		return npu_device_log(ndev, "boot", &detail, ret);
	ndev->fw_version = npu_device_read(ndev, NPU_HOST_FW_VERSION);
	ndev->fw_features = npu_device_read(ndev, NPU_HOST_FW_FEATURES);
	ndev->fw_proto = npu_device_read(ndev, NPU_HOST_FW_PROTO);
	ndev->fw_log = npu_device_read(ndev, NPU_HOST_FW_LOG);

	ret = npu_cq_rings_create(ndev);
	if (!ret && ndev->fw_features & NPU_FW_FEATURE_EVENTS) {
		npu_admin_event_ring_set(&sqe, ndev->event_mem.bus,
					 ilog2(ndev->event_mem.size / sizeof(struct npu_event)));
		ret = npu_command_once(ndev, &sqe, npu_device_patience(ndev));
	}
	if (ret)
		drm_err(&ndev->drm, "the firmware does not take its rings (error %d)\n", ret);
	return ret;
}

static int npu_device_init_dma(struct npu_device *ndev)
{
	struct device *dev = ndev->hw->dev;
	int ret;

	ret = dma_set_mask_and_coherent(dev, DMA_BIT_MASK(ndev->info.bus_bits));
	if (ret) {
		drm_err(&ndev->drm, "no DMA with %u address bits (error %d)\n",
			ndev->info.bus_bits, ret);
		return ret;
	}
	dma_set_max_seg_size(dev, UINT_MAX);
	return 0;
}

static void npu_device_free_wq(struct drm_device *drm, void *wq)
{
	destroy_workqueue(wq);
}

static int npu_device_init_wqs(struct npu_device *ndev)
{
	int ret;

	ndev->submit_wq = alloc_workqueue("npu_submit", WQ_HIGHPRI | WQ_MEM_RECLAIM, 0);
	if (!ndev->submit_wq)
		return -ENOMEM;
	ret = drmm_add_action_or_reset(&ndev->drm, npu_device_free_wq, ndev->submit_wq);
	if (ret)
		return ret;
	ndev->timeout_wq = alloc_ordered_workqueue("npu_timeout", WQ_MEM_RECLAIM);
	if (!ndev->timeout_wq)
		return -ENOMEM;
	INIT_WORK(&ndev->reset_work, npu_reset_work);
	return drmm_add_action_or_reset(&ndev->drm, npu_device_free_wq, ndev->timeout_wq);
}

static void npu_device_free_idas(struct drm_device *drm, void *unused)
{
	struct npu_device *ndev = to_npu_device(drm);

	ida_destroy(&ndev->slots);
	ida_destroy(&ndev->contexts);
}

/* All that needs no device. What it allocates lives as long as the DRM device. */
static int npu_device_init_soft(struct npu_device *ndev)
{
	int ret;

	ndev->env.ops = &npu_env_ops;
	ndev->env.opaque = ndev;
	spin_lock_init(&ndev->state_lock);
	spin_lock_init(&ndev->admin_lock);
	spin_lock_init(&ndev->roots_lock);
	init_waitqueue_head(&ndev->state_wait);
	ida_init(&ndev->slots);
	ida_init(&ndev->contexts);
	INIT_LIST_HEAD(&ndev->queues);
	INIT_LIST_HEAD(&ndev->clients);
	INIT_LIST_HEAD(&ndev->bos);
	hash_init(ndev->imports);
	ret = drmm_add_action_or_reset(&ndev->drm, npu_device_free_idas, NULL);
	if (!ret)
		ret = drmm_mutex_init(&ndev->drm, &ndev->lists_lock);
	if (!ret)
		ret = drmm_mutex_init(&ndev->drm, &ndev->clients_lock);
	if (!ret)
		ret = drmm_mutex_init(&ndev->drm, &ndev->bos_lock);
	if (!ret)
		ret = drmm_mutex_init(&ndev->drm, &ndev->time_lock);
	if (!ret)
		ret = npu_accounts_init(ndev);
	if (!ret)
		ret = npu_sensors_init(ndev);
	if (!ret)
		ret = npu_coredump_init(ndev);
	if (!ret)
		ret = npu_device_init_wqs(ndev);
	return ret;
}

/* Identifies the device and reads its firmware. */
int npu_device_init(struct npu_device *ndev)
{
	struct npu_host_detail detail = {};
	int ret;

	ret = npu_device_init_soft(ndev);
	if (ret)
		return ret;
	ret = npu_identify(&ndev->env, &ndev->info, &detail);
	if (ret)
		return npu_device_log(ndev, "identification", &detail, ret);
	ret = npu_device_init_dma(ndev);
	if (ret)
		return ret;
	ndev->roots = drmm_kcalloc(&ndev->drm, ndev->info.contexts, sizeof(*ndev->roots),
				   GFP_KERNEL);
	if (!ndev->roots)
		return -ENOMEM;
	return npu_fw_load(ndev);
}

/* Brings the device up; npu_device_stop() is the way back. */
int npu_device_start(struct npu_device *ndev)
{
	struct npu_hw *hw = ndev->hw;
	int ret;

	ret = npu_command_init(ndev);
	if (ret)
		return ret;
	ret = npu_sensors_start(ndev);
	if (ret)
		goto err_command;
	ret = npu_cq_rings_init(ndev);
	if (ret)
		goto err_sensors;
	/* Rings that an early interrupt may look at. */
	npu_command_prepare(ndev);
	npu_cq_rings_prepare(ndev);
	ret = hw->ops->irq_request(hw, ndev->cq_count + 1, npu_device_irq, ndev);
	if (ret)
		goto err_rings;
	ret = npu_device_boot(ndev);
	if (ret)
		goto err_reset;
	npu_device_set_state(ndev, NPU_STATE_UP);
	return 0;

err_reset:
	npu_reset(&ndev->env, USEC_PER_SEC, NULL);
	hw->ops->irq_free(hw);
err_rings:
	npu_cq_rings_fini(ndev);
err_sensors:
	npu_sensors_stop(ndev);
err_command:
	npu_command_fini(ndev);
	return ret;
}

/*
 * The end, first half: from here on the device does nothing, and nobody waits
 * for it. After a reset that is going on, and before another can begin.
 */
void npu_device_halt(struct npu_device *ndev)
{
	mutex_lock(&ndev->lists_lock);
	npu_reset(&ndev->env, USEC_PER_SEC, NULL);
	npu_device_set_state(ndev, NPU_STATE_GONE);
	mutex_unlock(&ndev->lists_lock);
	npu_command_cancel(ndev, -ENODEV);
}

/*
 * The end, second half: the device is unplugged. Signals all that is left, and
 * gives back all memory that was mapped for the device; what clients hold stays
 * until they close.
 */
void npu_device_stop(struct npu_device *ndev)
{
	struct npu_client *client;
	struct npu_queue *queue;

	cancel_work_sync(&ndev->reset_work);
	npu_coredump_stop(ndev);
	ndev->hw->ops->irq_free(ndev->hw);

	mutex_lock(&ndev->lists_lock);
	list_for_each_entry(queue, &ndev->queues, link) {
		queue->live = false;
		npu_queue_fail_all(queue, -ENODEV, false);
		npu_mem_free(ndev, &queue->mem);
	}
	mutex_unlock(&ndev->lists_lock);

	mutex_lock(&ndev->clients_lock);
	list_for_each_entry(client, &ndev->clients, link)
		npu_vm_detach(&client->vm);
	mutex_unlock(&ndev->clients_lock);
	npu_bos_unmap(ndev);
	npu_cq_rings_fini(ndev);
	npu_sensors_stop(ndev);
	npu_command_fini(ndev);
}
