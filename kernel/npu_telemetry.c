// SPDX-License-Identifier: GPL-2.0-only
/*
 * Telemetry: asked of the firmware when somebody looks, and kept for a moment, so
 * that power is the mean of a time worth the name however many look.
 */
#include <linux/hwmon.h>
#include <linux/math64.h>
#include <drm/drm_drv.h>
#include <drm/drm_managed.h>

#include "npu_command.h"
#include "npu_telemetry.h"

#define NPU_SENSORS_MS	100
#define NPU_RETRIES	3

int npu_sensors_init(struct npu_device *ndev)
{
	ndev->sensors = drmm_kzalloc(&ndev->drm, sizeof(*ndev->sensors), GFP_KERNEL);
	if (!ndev->sensors)
		return -ENOMEM;
	return drmm_mutex_init(&ndev->drm, &ndev->sensors->lock);
}

int npu_sensors_start(struct npu_device *ndev)
{
	return npu_mem_alloc(ndev, &ndev->sensors->mem, sizeof(struct npu_telemetry));
}

/* The device is unplugged, or was never seen by anybody. */
void npu_sensors_stop(struct npu_device *ndev)
{
	npu_mem_free(ndev, &ndev->sensors->mem);
}

static void npu_sensors_take(struct npu_sensors *sensors, u64 boot)
{
	const struct npu_telemetry *told = sensors->mem.cpu;
	struct npu_telemetry *now = &sensors->now;

	if (boot != sensors->boot)
		sensors->base = *now;
	sensors->boot = boot;
	/* The device's memory: copied, then used. */
	memcpy(now, told, sizeof(*now));
	now->jobs += sensors->base.jobs;
	now->faults += sensors->base.faults;
	now->aborts += sensors->base.aborts;
	now->limits += sensors->base.limits;
	now->yields += sensors->base.yields;
	now->cycles += sensors->base.cycles;
	now->macs += sensors->base.macs;
	now->bytes_read += sensors->base.bytes_read;
	now->bytes_written += sensors->base.bytes_written;
	now->energy += sensors->base.energy;
	sensors->read = true;
	sensors->read_at = jiffies;
}

static int npu_sensors_ask(struct npu_device *ndev)
{
	struct npu_sensors *sensors = ndev->sensors;
	struct npu_admin_sqe sqe;
	int attempt, ret = -ESTALE;
	u64 boot;

	for (attempt = 0; attempt < NPU_RETRIES && ret == -ESTALE; attempt++) {
		boot = READ_ONCE(ndev->boots);
		npu_admin_telemetry(&sqe, sensors->mem.bus);
		ret = npu_command(ndev, &sqe);
		if (!ret && boot != READ_ONCE(ndev->boots))
			ret = -ESTALE;
	}
	if (!ret)
		npu_sensors_take(sensors, boot);
	return ret == -ESTALE ? -EAGAIN : ret;
}

/**
 * npu_sensors_read - the firmware's telemetry, at most a moment old
 * @ndev: device, within drm_dev_enter()
 * @out: filled in
 *
 * Return: 0; -EOPNOTSUPP: this firmware has none; -EAGAIN: the device is reset again
 * and again; -EIO: wedged; -ENODEV: gone.
 */
int npu_sensors_read(struct npu_device *ndev, struct npu_telemetry *out)
{
	struct npu_sensors *sensors = ndev->sensors;
	int ret = 0;

	if (!(ndev->fw_features & NPU_FW_FEATURE_TELEMETRY))
		return -EOPNOTSUPP;
	mutex_lock(&sensors->lock);
	if (!sensors->read ||
	    time_after(jiffies, sensors->read_at + msecs_to_jiffies(NPU_SENSORS_MS)))
		ret = npu_sensors_ask(ndev);
	if (!ret)
		*out = sensors->now;
	mutex_unlock(&sensors->lock);
	return ret;
}

#if IS_REACHABLE(CONFIG_HWMON)
static umode_t npu_hwmon_is_visible(const void *data, enum hwmon_sensor_types type, u32 attr,
				    int channel)
{
	return 0444;
}

static int npu_hwmon_value(const struct npu_telemetry *told, enum hwmon_sensor_types type,
			   long *value)
{
	switch (type) {
	case hwmon_temp:
		*value = told->temperature;
		return 0;
	case hwmon_power:
		*value = told->power * 1000l;
		return 0;
	case hwmon_energy:
		*value = div_u64(told->energy, 1000);
		return 0;
	default:
		return -EOPNOTSUPP;
	}
}

static int npu_hwmon_read(struct device *dev, enum hwmon_sensor_types type, u32 attr,
			  int channel, long *value)
{
	struct npu_device *ndev = dev_get_drvdata(dev);
	struct npu_telemetry told;
	int ret, idx;

	if (!drm_dev_enter(&ndev->drm, &idx))
		return -ENODEV;
	ret = npu_sensors_read(ndev, &told);
	drm_dev_exit(idx);
	/* A figure of 0 says that there is no sensor. */
	if (!ret && !told.temperature)
		ret = -ENODATA;
	return ret ?: npu_hwmon_value(&told, type, value);
}

static int npu_hwmon_read_string(struct device *dev, enum hwmon_sensor_types type, u32 attr,
				 int channel, const char **text)
{
	*text = "npu";
	return 0;
}

static const struct hwmon_ops npu_hwmon_ops = {
	.is_visible = npu_hwmon_is_visible,
	.read = npu_hwmon_read,
	.read_string = npu_hwmon_read_string,
};

static const struct hwmon_channel_info * const npu_hwmon_channels[] = {
	HWMON_CHANNEL_INFO(temp, HWMON_T_INPUT | HWMON_T_LABEL),
	HWMON_CHANNEL_INFO(power, HWMON_P_INPUT | HWMON_P_LABEL),
	HWMON_CHANNEL_INFO(energy, HWMON_E_INPUT | HWMON_E_LABEL),
	NULL
};

static const struct hwmon_chip_info npu_hwmon_chip = {
	.ops = &npu_hwmon_ops,
	.info = npu_hwmon_channels,
};

/* Goes with the binding of the driver. */
int npu_hwmon_register(struct npu_device *ndev)
{
	struct device *dev = ndev->hw->dev;

	if (!(ndev->fw_features & NPU_FW_FEATURE_TELEMETRY))
		return 0;
	return PTR_ERR_OR_ZERO(devm_hwmon_device_register_with_info(dev, "npu", ndev,
								    &npu_hwmon_chip, NULL));
}
#else
int npu_hwmon_register(struct npu_device *ndev)
{
	return 0;
}
#endif
