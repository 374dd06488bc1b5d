// SPDX-License-Identifier: GPL-2.0-only
/*
 * The firmware image: read once, checked, and kept, since a reset must not
 * touch a file system.
 */
#include <linux/firmware.h>
#include <linux/module.h>
#include <drm/drm_managed.h>

#include "npu_device.h"

#define NPU_FW_NAME	"npu/npu_fw.bin"

static int npu_fw_check(struct npu_device *ndev, size_t size)
{
	struct npu_host_detail detail = {};
	int ret;

	ret = npu_fwimage_check(ndev->fw_file, size, ndev->info.device & 0xffff,
				ndev->info.tcm_size, 0, &ndev->fw, &detail);
	if (ret)
		drm_err(&ndev->drm, "%s: %s is %#llx, expected %#llx (error %d)\n", NPU_FW_NAME,
			detail.what ?: "image", detail.found, detail.expected, ret);
	return ret;
}

int npu_fw_load(struct npu_device *ndev)
{
	const struct firmware *file;
	size_t size;
	int ret;

	ret = request_firmware(&file, NPU_FW_NAME, ndev->hw->dev);
	if (ret) {
		drm_err(&ndev->drm, "cannot read firmware %s (error %d)\n", NPU_FW_NAME, ret);
		return ret;
	}

	size = file->size;
	if (size <= sizeof(struct npu_fw_header) + NPU_FW_MAX_LENGTH)
		ndev->fw_file = drmm_kmalloc(&ndev->drm, size, GFP_KERNEL);
	else
		ret = -EFBIG;
	if (ndev->fw_file)
		memcpy(ndev->fw_file, file->data, size);
	release_firmware(file);
	if (ret) {
		drm_err(&ndev->drm, "%s: %zu bytes are more than an image can have\n",
			NPU_FW_NAME, size);
		return ret;
	}
	return ndev->fw_file ? npu_fw_check(ndev, size) : -ENOMEM;
}

MODULE_FIRMWARE(NPU_FW_NAME);
