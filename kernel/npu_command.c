// SPDX-License-Identifier: GPL-2.0-only
/*
 * Commands to the firmware through the admin rings, and its events.
 *
 * Any number of threads may wait for a command each. A command that is not
 * answered means that the firmware is lost, and leads to a device reset.
 */
#include <linux/completion.h>

#include "npu_command.h"
#include "npu_cq.h"
#include "npu_trace.h"

#define NPU_EVENT_LOG	6

/* On the stack of the thread that waits. */
struct npu_command_wait {
	struct completion done;
	struct npu_admin_result result;
	u32 cmd_id;
	int submitted;
};

int npu_command_init(struct npu_device *ndev)
{
	int ret;

	ret = npu_mem_alloc(ndev, &ndev->admin_mem, 2 * NPU_RING_ALIGN);
	if (ret)
		return ret;
	ret = npu_mem_alloc(ndev, &ndev->event_mem, sizeof(struct npu_event) << NPU_EVENT_LOG);
	if (ret)
		npu_mem_free(ndev, &ndev->admin_mem);
	return ret;
}

void npu_command_fini(struct npu_device *ndev)
{
	npu_mem_free(ndev, &ndev->event_mem);
	npu_mem_free(ndev, &ndev->admin_mem);
}

/* Empty rings for the next boot. */
void npu_command_prepare(struct npu_device *ndev)
{
	void *cpu = ndev->admin_mem.cpu;
	dma_addr_t bus = ndev->admin_mem.bus;

	spin_lock_irq(&ndev->admin_lock);
	npu_admin_init(&ndev->admin, &ndev->env, cpu, bus, cpu + NPU_RING_ALIGN,
		       bus + NPU_RING_ALIGN);
	memset(ndev->event_mem.cpu, 0, ndev->event_mem.size);
	npu_evq_init(&ndev->evq, ndev->event_mem.cpu, NPU_EVENT_LOG);
	spin_unlock_irq(&ndev->admin_lock);
}

/* Wakes all that wait, and those that come before the device is up again. */
void npu_command_cancel(struct npu_device *ndev, int error)
{
	spin_lock_irq(&ndev->admin_lock);
	npu_admin_cancel(&ndev->admin, error);
	spin_unlock_irq(&ndev->admin_lock);
	wake_up_all(&ndev->state_wait);
}

static void npu_command_event(struct npu_device *ndev, const struct npu_event *event)
{
	switch (event->type) {
	case NPU_EVENT_FAULT:
		drm_dbg_driver(&ndev->drm, "queue %u context %u: fault %s at %#llx, %s of %s\n",
			       event->queue, event->context, npu_fault_name(event->fault_code),
			       event->fault_va, npu_access_name(event->fault_access),
			       npu_unit_name(event->fault_unit));
		break;
	case NPU_EVENT_RING_FAULT:
		drm_err_ratelimited(&ndev->drm, "queue %u: ring fault %s at %#llx\n",
				    event->queue, npu_fault_name(event->fault_code),
				    event->fault_va);
		trace_npu_fault(ndev, event->queue, 0, event->fault_code, event->fault_unit,
				event->fault_access, event->fault_va, 0);
		npu_cq_ring_fault(ndev, event->queue);
		break;
	case NPU_EVENT_LOST:
		drm_dbg_driver(&ndev->drm, "%llu events were lost\n", event->fault_va);
		break;
	default:
		drm_dbg_driver(&ndev->drm, "unknown event %u\n", event->type);
		break;
	}
}

static bool npu_command_next_event(struct npu_device *ndev, struct npu_event *event)
{
	unsigned long flags;
	int ret;

	spin_lock_irqsave(&ndev->admin_lock, flags);
	ret = npu_evq_poll(&ndev->evq, event);
	spin_unlock_irqrestore(&ndev->admin_lock, flags);
	return ret > 0;
}

/* Vector 0. At most one ring of events a call, whatever the device does. */
void npu_command_irq(struct npu_device *ndev)
{
	struct npu_event event;
	unsigned long flags;
	unsigned int i;
	u32 taken;

	spin_lock_irqsave(&ndev->admin_lock, flags);
	taken = npu_admin_process(&ndev->admin);
	spin_unlock_irqrestore(&ndev->admin_lock, flags);
	if (taken)
		wake_up_all(&ndev->state_wait);

	for (i = 0; i < 1 << NPU_EVENT_LOG && npu_command_next_event(ndev, &event); i++)
		npu_command_event(ndev, &event);
}

static void npu_command_done(void *cookie, const struct npu_admin_result *result)
{
	struct npu_command_wait *wait = cookie;

	wait->result = *result;
	complete(&wait->done);
}

/*
 * False if there is no room. Once this gives -ESTALE a cancellation has passed,
 * or is going on.
 */
static bool npu_command_submit(struct npu_device *ndev, struct npu_admin_sqe *sqe,
			       struct npu_command_wait *wait, bool resetter)
{
	enum npu_state state;
	int ret = -ESTALE;

	spin_lock_irq(&ndev->admin_lock);
	state = npu_device_state(ndev);
	if (state == NPU_STATE_UP || (resetter && state < NPU_STATE_WEDGED))
		ret = npu_admin_submit(&ndev->admin, sqe, npu_command_done, wait, &wait->cmd_id);
	spin_unlock_irq(&ndev->admin_lock);
	wait->submitted = ret;
	return ret != -EBUSY;
}

static int npu_command_run(struct npu_device *ndev, struct npu_admin_sqe *sqe,
			   unsigned int timeout_ms, bool resetter)
{
	unsigned long timeout = msecs_to_jiffies(timeout_ms);
	struct npu_command_wait wait = {};
	u32 op = sqe->op;

	init_completion(&wait.done);
	if (!wait_event_timeout(ndev->state_wait,
				npu_command_submit(ndev, sqe, &wait, resetter), timeout))
		return -ETIMEDOUT;
	if (wait.submitted)
		return wait.submitted;

	if (!wait_for_completion_timeout(&wait.done, timeout)) {
		/* The interrupt may have got lost. */
		npu_command_irq(ndev);
		spin_lock_irq(&ndev->admin_lock);
		npu_admin_abandon(&ndev->admin, wait.cmd_id);
		spin_unlock_irq(&ndev->admin_lock);
		if (!completion_done(&wait.done))
			return -ETIMEDOUT;
	}
	if (wait.result.error && wait.result.error != -ESTALE)
		drm_dbg_driver(&ndev->drm, "command %s: %s (%#llx, %#llx)\n",
			       npu_admin_op_name(op), npu_admin_status_name(wait.result.status),
			       wait.result.result0, wait.result.result1);
	return wait.result.error;
}

/*
 * Runs a command. For the reset ladder, which runs on the ordered workqueue and
 * deals with a firmware that does not answer itself.
 */
int npu_command_once(struct npu_device *ndev, struct npu_admin_sqe *sqe, unsigned int timeout_ms)
{
	return npu_command_run(ndev, sqe, timeout_ms, true);
}

/*
 * Runs a command, after a reset that is going on. Bounded, not interruptible.
 * -ESTALE: the device was reset and has forgotten all it knew; what is in the
 * driver's tables has been set up again. -EIO: wedged; -ENODEV: gone; both are
 * held in reset.
 */
int npu_command(struct npu_device *ndev, struct npu_admin_sqe *sqe)
{
	u32 op = sqe->op;
	int ret;

	ret = npu_device_wait_up(ndev);
	if (ret)
		return ret;
	ret = npu_command_run(ndev, sqe, npu_device_patience(ndev), false);
	if (ret == -ETIMEDOUT) {
		drm_err(&ndev->drm, "command %s was not answered\n", npu_admin_op_name(op));
		npu_device_request_reset(ndev, NPU_DUMP_COMMAND);
		ret = -ESTALE;
	}
	if (ret == -ESTALE)
		return npu_device_wait_up(ndev) ?: -ESTALE;
	return ret;
}
