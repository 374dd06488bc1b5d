// SPDX-License-Identifier: GPL-2.0-only
/* Transport: devices on the auxiliary bus. */
#include <linux/module.h>
#include <linux/slab.h>

#include "npu_device.h"

static void npu_hw_aux_release(struct device *dev)
{
	kfree(to_npu_hw_aux(to_auxiliary_dev(dev)));
}

/**
 * npu_hw_aux_create - a device for the auxiliary bus, yet to be added
 * @parent: of the device
 * @id: its number among those of the calling module
 * @ops: operations of the transport
 * @transport: whatever they need
 *
 * The device may outlive the module that added it, since open files refer to
 * it; so its memory belongs to the driver, and @ops and @transport are not used
 * once it was deleted from the bus.
 *
 * Return: the device, to be given back with auxiliary_device_uninit(); or an
 * error pointer.
 */
struct npu_hw_aux *npu_hw_aux_create(struct device *parent, u32 id,
				     const struct npu_hw_ops *ops, void *transport)
{
	struct npu_hw_aux *aux = kzalloc(sizeof(*aux), GFP_KERNEL);
	struct auxiliary_device *adev;
	int ret;

	if (!aux)
		return ERR_PTR(-ENOMEM);
	adev = &aux->adev;
	adev->name = "npu";
	adev->id = id;
	adev->dev.parent = parent;
	adev->dev.release = npu_hw_aux_release;
	adev->dev.dma_parms = &aux->dma_parms;
	aux->hw.ops = ops;
	aux->hw.dev = &adev->dev;
	aux->hw.transport = transport;
	ret = auxiliary_device_init(adev);
	if (ret) {
		kfree(aux);
		return ERR_PTR(ret);
	}
	return aux;
}
EXPORT_SYMBOL_GPL(npu_hw_aux_create);

static int npu_aux_probe(struct auxiliary_device *adev, const struct auxiliary_device_id *id)
{
	struct npu_device *ndev = npu_drv_probe(&to_npu_hw_aux(adev)->hw);

	if (IS_ERR(ndev))
		return PTR_ERR(ndev);
	auxiliary_set_drvdata(adev, ndev);
	return 0;
}

static void npu_aux_remove(struct auxiliary_device *adev)
{
	npu_drv_remove(auxiliary_get_drvdata(adev));
}

static const struct auxiliary_device_id npu_aux_ids[] = {
	{ .name = "npu_sim.npu" },
	{}
};
MODULE_DEVICE_TABLE(auxiliary, npu_aux_ids);

static struct auxiliary_driver npu_aux_driver = {
	.probe = npu_aux_probe,
	.remove = npu_aux_remove,
	.id_table = npu_aux_ids,
	.driver.dev_groups = npu_sysfs_groups,
	.driver.pm = pm_sleep_ptr(&npu_pm_ops),
};

int npu_aux_register(void)
{
	return auxiliary_driver_register(&npu_aux_driver);
}

void npu_aux_unregister(void)
{
	auxiliary_driver_unregister(&npu_aux_driver);
}
