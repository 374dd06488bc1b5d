/* SPDX-License-Identifier: MIT */
/* What npu top samples, and its screen. */
#ifndef NPU_TOP_H
#define NPU_TOP_H

#include "userspace/tools/accel_node.h"

#define TOP_HISTORY	128

/* A client; @load is the share of all cores' time since the sample before. */
struct top_client {
	struct drm_npu_account account;
	double load;
};

/**
 * struct top_device - a device
 * @path: node
 * @name: in the kernel
 * @state: "up" and so on
 * @fd: node, -1 if it could not be opened
 * @cores: number of cores
 * @clock_khz: rate of cycles
 * @millidegrees: temperature, -1 where it is not told
 * @microwatts: power, -1 where it is not told
 * @busy_ns: time that cores ran
 * @when_ns: time of the sample
 * @load: share of the cores' time since the sample before
 * @history: loads, the newest at @samples - 1, modulo TOP_HISTORY
 * @samples: number of samples that have a load
 * @clients: that may be seen, those that use most first
 * @count: of @clients
 */
struct top_device {
	char path[64];
	char name[128];
	char state[32];
	int fd;
	long long cores;
	long long clock_khz;
	long long millidegrees;
	long long microwatts;
	long long busy_ns;
	long long when_ns;
	double load;
	double history[TOP_HISTORY];
	unsigned int samples;
	struct top_client *clients;
	size_t count;
};

struct top {
	struct top_device *devices;
	unsigned int count;
};

/* Until a key ends it; @interval_ms between samples. */
int top_screen(struct top *top, int interval_ms);

/* 0 or a negative errno. */
int top_sample(struct top *top);

#endif
