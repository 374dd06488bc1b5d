/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 OR MIT */
/* Versions, as absolute symbols for the packer. */
#include "firmware/cp/version.h"

	.globl	fw_version
	.set	fw_version, FW_VERSION
	.globl	fw_security_version
	.set	fw_security_version, FW_SECURITY_VERSION
