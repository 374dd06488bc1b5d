// SPDX-License-Identifier: GPL-2.0-only
/* The firmware's log, from firmware that lives and from firmware that is lost. */
#include "npu_command.h"
#include "npu_fwlog.h"

/**
 * npu_fwlog_read - have the firmware write its log
 * @ndev: device, within drm_dev_enter()
 * @entries: NPU_LOG_ENTRIES of them, filled in
 *
 * When a command has ended, in whatever way, the device writes to its memory no
 * more: it was answered, or the device was reset.
 *
 * Return: 0; -EOPNOTSUPP: this firmware has none; other errors of npu_command().
 */
int npu_fwlog_read(struct npu_device *ndev, struct npu_log_entry *entries)
{
	struct npu_admin_sqe sqe;
	struct npu_mem mem;
	int ret;

	if (!(ndev->fw_features & NPU_FW_FEATURE_LOG))
		return -EOPNOTSUPP;
	ret = npu_mem_alloc(ndev, &mem, NPU_FWLOG_BYTES);
	if (ret)
		return ret;
	npu_admin_log(&sqe, mem.bus);
	ret = npu_command(ndev, &sqe);
	if (!ret)
		memcpy(entries, mem.cpu, NPU_FWLOG_BYTES);
	npu_mem_free(ndev, &mem);
	return ret;
}

/**
 * npu_fwlog_salvage - read the log of firmware that is lost
 * @ndev: device that was reset, and whose firmware was not loaded again
 * @entries: NPU_LOG_ENTRIES of them, filled in
 *
 * A reset keeps TCM. Allocates nothing. Return: false if there is no log.
 */
bool npu_fwlog_salvage(struct npu_device *ndev, struct npu_log_entry *entries)
{
	u32 at = ndev->fw_log - NPU_TCM_BASE;
	u32 *words = (u32 *)entries;
	u32 i;

	/* What the register said was the device's word. */
	if (!ndev->fw_log || !IS_ALIGNED(at, 4) || at >= ndev->info.tcm_size ||
	    ndev->info.tcm_size - at < NPU_FWLOG_BYTES)
		return false;
	for (i = 0; i < NPU_FWLOG_BYTES / sizeof(u32); i++)
		words[i] = npu_device_read(ndev, NPU_TCM_WINDOW + at + i * sizeof(u32));
	return true;
}
