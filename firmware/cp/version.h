/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 OR MIT */
/* Version of the firmware; for assembler, too. */
#ifndef FIRMWARE_CP_VERSION_H
#define FIRMWARE_CP_VERSION_H

/* Major 31:16, minor 15:8, patch 7:0. */
#define FW_VERSION		0x00000100

/* Goes up when a host should not go back behind this build. */
#define FW_SECURITY_VERSION	1

#endif
