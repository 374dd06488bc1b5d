// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sleep of the system: the firmware suspends, the device is held in reset, and is
 * booted anew when the system wakes. A suspend is never refused.
 */
#include <linux/pm.h>
#include <drm/drm_drv.h>

#include "compat/npu_compat.h"
#include "npu_device.h"

/**
 * struct npu_pm_work - a step, on the workqueue that resets are on
 * @work: base
 * @ndev: device
 * @resume: which step
 * @up: the device serves, or is to be asleep
 */
struct npu_pm_work {
	struct work_struct work;
	struct npu_device *ndev;
	bool resume;
	bool up;
};

static void npu_pm_run(struct work_struct *work)
{
	struct npu_pm_work *step = container_of(work, struct npu_pm_work, work);

	if (step->resume)
		step->up = npu_device_resume(step->ndev);
	else
		npu_device_suspend(step->ndev);
}

static void npu_pm_step(struct device *dev, bool resume)
{
	struct npu_pm_work step = {
		.ndev = dev_get_drvdata(dev),
		.resume = resume,
		.up = true,
	};
	int idx;

	if (!drm_dev_enter(&step.ndev->drm, &idx))
		return;
	INIT_WORK_ONSTACK(&step.work, npu_pm_run);
	queue_work(step.ndev->timeout_wq, &step.work);
	flush_work(&step.work);
	destroy_work_on_stack(&step.work);
	if (!step.up)
		npu_dev_wedged(&step.ndev->drm);
	drm_dev_exit(idx);
}

static int npu_pm_suspend(struct device *dev)
{
	npu_pm_step(dev, false);
	return 0;
}

/* What could not be brought back is wedged, which is no reason not to wake up. */
static int npu_pm_resume(struct device *dev)
{
	npu_pm_step(dev, true);
	return 0;
}

DEFINE_SIMPLE_DEV_PM_OPS(npu_pm_ops, npu_pm_suspend, npu_pm_resume);
