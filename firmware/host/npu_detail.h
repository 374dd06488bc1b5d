/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 OR MIT */
/* For the library's own files: keeping what exactly was wrong. */
#ifndef FIRMWARE_HOST_NPU_DETAIL_H
#define FIRMWARE_HOST_NPU_DETAIL_H

#include "firmware/host/npu_host.h"

/* Fill in @detail unless it is NULL; returns @error. */
static inline int npu_refuse(struct npu_host_detail *detail, int error, const char *what,
			     u64 expected, u64 found)
{
	if (detail)
		*detail = (struct npu_host_detail) {
			.what = what, .expected = expected, .found = found,
		};
	return error;
}

#endif /* FIRMWARE_HOST_NPU_DETAIL_H */
