// SPDX-License-Identifier: GPL-2.0-only
/* Attributes of the device that the driver is bound to, in a folder npu/. */
#include <linux/math64.h>
#include <linux/sysfs.h>
#include <drm/drm_drv.h>

#include "npu_telemetry.h"

static const char * const npu_state_names[] = {
	[NPU_STATE_DOWN] = "down",
	[NPU_STATE_UP] = "up",
	[NPU_STATE_RESETTING] = "resetting",
	[NPU_STATE_WEDGED] = "wedged",
	[NPU_STATE_GONE] = "gone",
};

const char *npu_state_name(enum npu_state state)
{
	return npu_state_names[state];
}

static ssize_t fw_version_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	u32 version = READ_ONCE(((struct npu_device *)dev_get_drvdata(dev))->fw_version);

	return sysfs_emit(buf, "%u.%u.%u\n", version >> 16, version >> 8 & 0xff, version & 0xff);
}
static DEVICE_ATTR_RO(fw_version);

static ssize_t fw_build_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	struct npu_device *ndev = dev_get_drvdata(dev);

	return sysfs_emit(buf, "%*phN\n", (int)sizeof(ndev->fw.build_id), ndev->fw.build_id);
}
static DEVICE_ATTR_RO(fw_build);

static ssize_t uuid_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	struct npu_device *ndev = dev_get_drvdata(dev);

	return sysfs_emit(buf, "%pUb\n", ndev->info.uuid);
}
static DEVICE_ATTR_RO(uuid);

static ssize_t clock_khz_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	struct npu_device *ndev = dev_get_drvdata(dev);

	return sysfs_emit(buf, "%u\n", ndev->info.clock_khz);
}
static DEVICE_ATTR_RO(clock_khz);

static ssize_t cores_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	struct npu_device *ndev = dev_get_drvdata(dev);

	return sysfs_emit(buf, "%u\n", ndev->info.cores);
}
static DEVICE_ATTR_RO(cores);

static ssize_t state_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%s\n", npu_state_name(npu_device_state(dev_get_drvdata(dev))));
}
static DEVICE_ATTR_RO(state);

/* What an operator has to do: nothing, or to repair it. */
static ssize_t health_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	bool ok = npu_device_state(dev_get_drvdata(dev)) < NPU_STATE_WEDGED;

	return sysfs_emit(buf, "%s\n", ok ? "ok" : "failed");
}
static DEVICE_ATTR_RO(health);

static ssize_t resets_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	struct npu_device *ndev = dev_get_drvdata(dev);

	return sysfs_emit(buf, "%llu\n", READ_ONCE(ndev->resets));
}
static DEVICE_ATTR_RO(resets);

/* Time that cores ran since the driver was bound. */
static ssize_t busy_ns_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	struct npu_device *ndev = dev_get_drvdata(dev);
	struct npu_telemetry told;
	int ret, idx;

	if (!drm_dev_enter(&ndev->drm, &idx))
		return -ENODEV;
	ret = npu_sensors_read(ndev, &told);
	drm_dev_exit(idx);
	if (ret)
		return ret;
	return sysfs_emit(buf, "%llu\n",
			  mul_u64_u32_div(told.cycles, 1000000, ndev->info.clock_khz));
}
static DEVICE_ATTR_RO(busy_ns);

/* 1 resets the device: what had started is lost, all else goes on. */
static ssize_t reset_store(struct device *dev, struct device_attribute *attr, const char *buf,
			   size_t count)
{
	struct npu_device *ndev = dev_get_drvdata(dev);
	bool reset;
	int ret, idx;

	ret = kstrtobool(buf, &reset);
	if (ret || !reset)
		return ret ?: -EINVAL;
	if (!drm_dev_enter(&ndev->drm, &idx))
		return -ENODEV;
	npu_device_request_reset(ndev, NPU_DUMP_REQUEST);
	ret = npu_device_wait_up(ndev);
	drm_dev_exit(idx);
	return ret ?: count;
}
static DEVICE_ATTR_WO(reset);

static struct attribute *npu_attrs[] = {
	&dev_attr_fw_version.attr,
	&dev_attr_fw_build.attr,
	&dev_attr_uuid.attr,
	&dev_attr_clock_khz.attr,
	&dev_attr_cores.attr,
	&dev_attr_state.attr,
	&dev_attr_health.attr,
	&dev_attr_resets.attr,
	&dev_attr_busy_ns.attr,
	&dev_attr_reset.attr,
	NULL
};

static const struct attribute_group npu_attr_group = {
	.name = "npu",
	.attrs = npu_attrs,
};

/* For the transports' drivers: there while the driver is bound. */
const struct attribute_group *npu_sysfs_groups[] = {
	&npu_attr_group,
	NULL
};
