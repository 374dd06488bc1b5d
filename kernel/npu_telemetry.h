/* SPDX-License-Identifier: GPL-2.0-only */
/* What the firmware tells of the device: counters, energy, power, temperature. */
#ifndef NPU_TELEMETRY_H
#define NPU_TELEMETRY_H

#include "npu_device.h"

/**
 * struct npu_sensors - the firmware's telemetry, as it was last read
 * @lock: guards all below; held while the firmware answers, so no reset takes it
 * @mem: where the firmware writes
 * @now: counters since the driver was bound, and the other figures
 * @base: of these, what boots before this one counted
 * @boot: number of the boot that @now is from
 * @read: @now is filled in
 * @read_at: when, in jiffies
 */
struct npu_sensors {
	struct mutex lock; /* guards all below */
	struct npu_mem mem;
	struct npu_telemetry now;
	struct npu_telemetry base;
	u64 boot;
	bool read;
	unsigned long read_at;
};

int npu_sensors_init(struct npu_device *ndev);
int npu_sensors_start(struct npu_device *ndev);
void npu_sensors_stop(struct npu_device *ndev);
int npu_sensors_read(struct npu_device *ndev, struct npu_telemetry *out);
int npu_hwmon_register(struct npu_device *ndev);

#endif
