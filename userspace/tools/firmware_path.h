/* SPDX-License-Identifier: MIT */
/*
 * Lets the kernel find the firmware of a tree that is not installed: its search
 * path leads to a folder of ours for the time of the loading. The driver keeps
 * the image, so it asks once for each device.
 */
#ifndef NPU_TOOL_FIRMWARE_PATH_H
#define NPU_TOOL_FIRMWARE_PATH_H

#include <limits.h>
#include <signal.h>
#include <stdbool.h>

/* @signals: the mask before; those that end a program wait until all is restored */
struct firmware_path {
	bool active;
	sigset_t signals;
	char folder[64];
	char before[PATH_MAX];
};

/*
 * Takes the file that NPU_FIRMWARE names, else none where one is installed,
 * else that of the build tree around the program; @from is the folder of the
 * modules, NULL for installed ones. Failures are reported.
 */
int firmware_path_set(struct firmware_path *fp, const char *from);
void firmware_path_restore(struct firmware_path *fp);

#endif
