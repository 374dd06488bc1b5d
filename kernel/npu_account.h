/* SPDX-License-Identifier: GPL-2.0-only */
/* What clients have used, while they are there and when they have gone. */
#ifndef NPU_ACCOUNT_H
#define NPU_ACCOUNT_H

#include <linux/sched.h>
#include <linux/uidgid.h>
#include <drm/drm_file.h>
#include <drm/npu_accel.h>

#define NPU_CLOSED_ACCOUNTS	1024	/* kept of each device */
#define NPU_MAX_ACCOUNTS	64	/* of one call */

struct npu_client;
struct npu_device;

/**
 * struct npu_opener - who opened a file, as of then
 * @uid: user
 * @pid: process, in the initial namespace
 * @comm: its name
 * @opened_ns: when, CLOCK_REALTIME
 * @cgroup_id: its cgroup
 * @cgroup_cut: the beginning of @cgroup is missing
 * @cgroup: path of that
 */
struct npu_opener {
	kuid_t uid;
	u32 pid;
	char comm[TASK_COMM_LEN];
	u64 opened_ns;
	u64 cgroup_id;
	bool cgroup_cut;
	char cgroup[DRM_NPU_CGROUP_LEN];
};

int npu_opener_init(struct npu_opener *opener);

/**
 * struct npu_closed - the account of a client that has gone
 * @uid: user
 * @account: what user space is given
 */
struct npu_closed {
	kuid_t uid;
	struct drm_npu_account account;
};

int npu_accounts_init(struct npu_device *ndev);
void npu_account_close(struct npu_client *client);
int npu_ioctl_accounts(struct drm_device *drm, void *data, struct drm_file *file);

#endif
