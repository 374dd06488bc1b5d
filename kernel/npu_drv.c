// SPDX-License-Identifier: GPL-2.0-only
/* The driver as DRM sees it: files, ioctls, probe and remove. */
#include <linux/compat.h>
#include <linux/module.h>
#include <linux/nospec.h>
#include <linux/uaccess.h>
#include <drm/drm_accel.h>
#include <drm/drm_drv.h>
#include <drm/drm_gem.h>
#include <drm/drm_ioctl.h>

#include "compat/npu_compat.h"
#include "npu_bo.h"
#include "npu_client.h"
#include "npu_query.h"
#include "npu_queue.h"
#include "npu_telemetry.h"

/* Ends queues, which must not happen on the workqueues of their schedulers. */
struct workqueue_struct *npu_release_wq;

unsigned int npu_hang_ms;
module_param_named(hang_ms, npu_hang_ms, uint, 0644);
MODULE_PARM_DESC(hang_ms,
		 "Milliseconds without a sign of life after which a working device counts as hung (0: by kind of device)");

/* Ids grow, but two that open at a time may come here in any order. */
static void npu_client_insert(struct npu_device *ndev, struct npu_client *client)
{
	struct npu_client *before;

	list_for_each_entry_reverse(before, &ndev->clients, link)
		if (before->id < client->id)
			break;
	list_add(&client->link, &before->link);
}

static int npu_open(struct drm_device *drm, struct drm_file *file)
{
	struct npu_device *ndev = to_npu_device(drm);
	struct npu_client *client = kzalloc(sizeof(*client), GFP_KERNEL_ACCOUNT);
	int ret;

	if (!client)
		return -ENOMEM;
	ret = npu_opener_init(&client->opener);
	if (ret) {
		kfree(client);
		return ret;
	}
	client->ndev = ndev;
	client->id = file->client_id;
	npu_vm_init(&client->vm, ndev);
	xa_init_flags(&client->queues, XA_FLAGS_ALLOC1);
	file->driver_priv = client;

	mutex_lock(&ndev->clients_lock);
	npu_client_insert(ndev, client);
	mutex_unlock(&ndev->clients_lock);
	return 0;
}

static void npu_postclose(struct drm_device *drm, struct drm_file *file)
{
	struct npu_device *ndev = to_npu_device(drm);
	struct npu_client *client = to_npu_client(file);
	struct npu_queue *queue;
	unsigned long id;
	int idx;

	/* Others may list the client until it is off the device's list: a queue leaves it first. */
	xa_for_each(&client->queues, id, queue) {
		xa_erase(&client->queues, id);
		npu_queue_retire(client, queue);
	}
	xa_destroy(&client->queues);

	if (drm_dev_enter(drm, &idx)) {
		npu_vm_detach(&client->vm);
		drm_dev_exit(idx);
	}
	mutex_lock(&ndev->clients_lock);
	list_del(&client->link);
	/* Unplugged, and npu_device_stop() will not find the client any more. */
	npu_vm_detach(&client->vm);
	mutex_unlock(&ndev->clients_lock);
	npu_vm_fini(&client->vm);
	npu_account_close(client);
	kfree(client);
}

static const struct drm_ioctl_desc npu_ioctls[] = {
	DRM_IOCTL_DEF_DRV(NPU_DEV_QUERY, npu_ioctl_dev_query, 0),
	DRM_IOCTL_DEF_DRV(NPU_BO_CREATE, npu_ioctl_bo_create, 0),
	DRM_IOCTL_DEF_DRV(NPU_BO_IMPORT_USER, npu_ioctl_bo_import_user, 0),
	DRM_IOCTL_DEF_DRV(NPU_BO_MMAP_OFFSET, npu_ioctl_bo_mmap_offset, 0),
	DRM_IOCTL_DEF_DRV(NPU_BO_WAIT, npu_ioctl_bo_wait, 0),
	DRM_IOCTL_DEF_DRV(NPU_VM_BIND, npu_ioctl_vm_bind, 0),
	DRM_IOCTL_DEF_DRV(NPU_QUEUE_CREATE, npu_ioctl_queue_create, 0),
	DRM_IOCTL_DEF_DRV(NPU_QUEUE_DESTROY, npu_ioctl_queue_destroy, 0),
	DRM_IOCTL_DEF_DRV(NPU_QUEUE_QUERY, npu_ioctl_queue_query, 0),
	DRM_IOCTL_DEF_DRV(NPU_SUBMIT, npu_ioctl_submit, 0),
	DRM_IOCTL_DEF_DRV(NPU_ACCOUNTS, npu_ioctl_accounts, 0),
};

/*
 * DRM completes shorter arguments with zeros, and leaves out what longer ones have
 * more: a newer program would not learn that it asks for what is not known here.
 */
static int npu_ioctl_check_tail(unsigned int cmd, unsigned long arg)
{
	unsigned int number = _IOC_NR(cmd) - DRM_COMMAND_BASE;
	unsigned int size = _IOC_SIZE(cmd);
	unsigned int known;
	int ret;

	if (_IOC_TYPE(cmd) != DRM_IOCTL_BASE || number >= ARRAY_SIZE(npu_ioctls))
		return 0;
	known = _IOC_SIZE(npu_ioctls[array_index_nospec(number, ARRAY_SIZE(npu_ioctls))].cmd);
	if (size <= known)
		return 0;
	ret = check_zeroed_user((void __user *)arg + known, size - known);
	return ret < 0 ? ret : ret ? 0 : -E2BIG;
}

static long npu_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	int ret = npu_ioctl_check_tail(cmd, arg);

	return ret ?: drm_ioctl(file, cmd, arg);
}

#ifdef CONFIG_COMPAT
static long npu_compat_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	int ret = npu_ioctl_check_tail(cmd, (unsigned long)compat_ptr(arg));

	return ret ?: drm_compat_ioctl(file, cmd, arg);
}
#else
#define npu_compat_ioctl NULL
#endif

static const struct file_operations npu_fops = {
	.owner = THIS_MODULE,
	.open = accel_open,
	.release = drm_release,
	.unlocked_ioctl = npu_ioctl,
	.compat_ioctl = npu_compat_ioctl,
	.poll = drm_poll,
	.read = drm_read,
	.llseek = noop_llseek,
	.mmap = drm_gem_mmap,
	.show_fdinfo = drm_show_fdinfo,
	NPU_FOP_FLAGS
};

static const struct drm_driver npu_driver = {
	.driver_features = DRIVER_COMPUTE_ACCEL | DRIVER_GEM | DRIVER_SYNCOBJ |
			   DRIVER_SYNCOBJ_TIMELINE,
	.open = npu_open,
	.postclose = npu_postclose,
	.show_fdinfo = npu_show_fdinfo,
	.gem_create_object = npu_bo_gem_create,
	.gem_prime_import = npu_bo_import,
	.gem_prime_import_sg_table = npu_bo_import_sg_table,
	.ioctls = npu_ioctls,
	.num_ioctls = ARRAY_SIZE(npu_ioctls),
	.fops = &npu_fops,
	.name = "npu",
	.desc = "Neural processing unit",
	NPU_DRIVER_DATE
	.major = 0,
	.minor = 1,
};

struct npu_device *npu_drv_probe(struct npu_hw *hw)
{
	struct npu_device *ndev;
	int ret;

	ndev = devm_drm_dev_alloc(hw->dev, &npu_driver, struct npu_device, drm);
	if (IS_ERR(ndev))
		return ndev;
	ndev->hw = hw;
	ret = npu_device_init(ndev);
	if (ret)
		return ERR_PTR(ret);
	ret = npu_device_start(ndev);
	if (ret)
		return ERR_PTR(ret);

	npu_debugfs_init(ndev);
	ret = drm_dev_register(&ndev->drm, 0);
	if (ret) {
		npu_device_halt(ndev);
		npu_device_stop(ndev);
		return ERR_PTR(ret);
	}
	ret = npu_hwmon_register(ndev);
	if (ret)
		drm_warn(&ndev->drm, "no hwmon device (error %d)\n", ret);
	drm_info(&ndev->drm, "%u cores, %u queues, %u contexts, firmware %u.%u.%u, build %8phN\n",
		 ndev->info.cores, ndev->info.queues, ndev->info.contexts - 1,
		 ndev->fw_version >> 16, ndev->fw_version >> 8 & 0xff, ndev->fw_version & 0xff,
		 ndev->fw.build_id);
	return ndev;
}

void npu_drv_remove(struct npu_device *ndev)
{
	npu_device_halt(ndev);
	drm_dev_unplug(&ndev->drm);
	npu_device_stop(ndev);
}

static int __init npu_init(void)
{
	int ret;

	npu_release_wq = alloc_workqueue("npu_release", WQ_UNBOUND, 0);
	if (!npu_release_wq)
		return -ENOMEM;
	ret = npu_aux_register();
	if (ret)
		destroy_workqueue(npu_release_wq);
	return ret;
}

static void __exit npu_exit(void)
{
	npu_aux_unregister();
	destroy_workqueue(npu_release_wq);
}

module_init(npu_init);
module_exit(npu_exit);

MODULE_DESCRIPTION("Driver of an open neural processing unit");
MODULE_LICENSE("GPL");
NPU_IMPORT_NS_DMA_BUF;
