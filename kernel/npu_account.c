// SPDX-License-Identifier: GPL-2.0-only
/*
 * Accounts: what a client has used, and who it was. Those of clients that have
 * gone are kept for a while, so that processes which live for moments are metered
 * as well as others.
 */
#include <linux/capability.h>
#include <linux/cgroup.h>
#include <linux/cred.h>
#include <linux/perf_event.h>
#include <linux/slab.h>
#include <linux/timekeeping.h>
#include <drm/drm_managed.h>

#include "npu_client.h"
#include "npu_queue.h"
#include "npu_uaccess.h"

static_assert(DRM_NPU_COMM_LEN == TASK_COMM_LEN);

/* The end of a path tells more than its beginning. */
static void npu_opener_set_cgroup(struct npu_opener *opener, char *path)
{
#ifdef CONFIG_CGROUPS
	struct cgroup *cgroup;
	size_t length;

	rcu_read_lock();
	cgroup = task_dfl_cgroup(current);
	opener->cgroup_id = cgroup_id(cgroup);
	if (cgroup_path(cgroup, path, PATH_MAX) < 0)
		path[0] = 0;
	rcu_read_unlock();

	length = strlen(path);
	opener->cgroup_cut = length >= sizeof(opener->cgroup);
	if (opener->cgroup_cut)
		path += length - (sizeof(opener->cgroup) - 1);
	strscpy(opener->cgroup, path, sizeof(opener->cgroup));
#endif
}

int npu_opener_init(struct npu_opener *opener)
{
	char *path = kmalloc(PATH_MAX, GFP_KERNEL);

	if (!path)
		return -ENOMEM;
	opener->uid = current_uid();
	opener->pid = task_tgid_nr(current);
	get_task_comm(opener->comm, current->group_leader);
	opener->opened_ns = ktime_get_real_ns();
	npu_opener_set_cgroup(opener, path);
	kfree(path);
	return 0;
}

int npu_accounts_init(struct npu_device *ndev)
{
	ndev->closed = drmm_kcalloc(&ndev->drm, NPU_CLOSED_ACCOUNTS, sizeof(*ndev->closed),
				    GFP_KERNEL);
	if (!ndev->closed)
		return -ENOMEM;
	return drmm_mutex_init(&ndev->drm, &ndev->closed_lock);
}

static void npu_account_fill(struct drm_npu_account *account, struct npu_client *client)
{
	const struct npu_opener *opener = &client->opener;
	struct npu_stats stats;

	npu_client_stats(client, &stats);
	*account = (struct drm_npu_account) {
		.client_id = client->id,
		.opened_ns = opener->opened_ns,
		.jobs = stats.done,
		.jobs_failed = stats.failed,
		.cycles = stats.cycles,
		.macs = stats.macs,
		.bytes_read = stats.bytes_read,
		.bytes_written = stats.bytes_written,
		.energy_nj = npu_energy_nj(0, stats.cycles, stats.macs,
					   stats.bytes_read + stats.bytes_written),
		.cgroup_id = opener->cgroup_id,
		.pid = opener->pid,
		.flags = opener->cgroup_cut ? DRM_NPU_ACCOUNT_CGROUP_CUT : 0,
	};
	strscpy(account->comm, opener->comm, sizeof(account->comm));
	strscpy(account->cgroup, opener->cgroup, sizeof(account->cgroup));
}

/*
 * The client is about to go, and has no queue any more. Who ran nothing is not
 * kept: programs that only watch would push out the others.
 */
void npu_account_close(struct npu_client *client)
{
	struct npu_device *ndev = client->ndev;
	struct npu_closed *closed;

	if (!client->retired.done)
		return;
	mutex_lock(&ndev->closed_lock);
	closed = &ndev->closed[ndev->closed_count % NPU_CLOSED_ACCOUNTS];
	npu_account_fill(&closed->account, client);
	closed->uid = client->opener.uid;
	closed->account.sequence = ++ndev->closed_count;
	closed->account.closed_ns = ktime_get_real_ns();
	mutex_unlock(&ndev->closed_lock);
}

static bool npu_account_visible(kuid_t uid)
{
	return uid_eq(uid, current_uid()) || perfmon_capable();
}

static void npu_account_give(struct drm_npu_account *to, kuid_t uid)
{
	to->uid = from_kuid_munged(current_user_ns(), uid);
}

static u32 npu_accounts_closed(struct npu_device *ndev, struct drm_npu_accounts *args,
			       struct drm_npu_account *out)
{
	u64 from = args->after;
	u32 count = 0;

	mutex_lock(&ndev->closed_lock);
	if (ndev->closed_count > NPU_CLOSED_ACCOUNTS &&
	    from < ndev->closed_count - NPU_CLOSED_ACCOUNTS) {
		args->lost = ndev->closed_count - NPU_CLOSED_ACCOUNTS - from;
		from = ndev->closed_count - NPU_CLOSED_ACCOUNTS;
	}
	for (; from < ndev->closed_count && count < args->count; from++) {
		const struct npu_closed *closed = &ndev->closed[from % NPU_CLOSED_ACCOUNTS];

		if (!npu_account_visible(closed->uid))
			continue;
		out[count] = closed->account;
		npu_account_give(&out[count++], closed->uid);
	}
	args->after = max(args->after, from);
	mutex_unlock(&ndev->closed_lock);
	return count;
}

/* Clients are in the order of their ids. */
static u32 npu_accounts_live(struct npu_device *ndev, struct drm_npu_accounts *args,
			     struct drm_npu_account *out)
{
	struct npu_client *client;
	u32 count = 0;

	mutex_lock(&ndev->clients_lock);
	list_for_each_entry(client, &ndev->clients, link) {
		if (client->id <= args->after || !npu_account_visible(client->opener.uid))
			continue;
		if (count == args->count)
			break;
		npu_account_fill(&out[count], client);
		npu_account_give(&out[count++], client->opener.uid);
		args->after = client->id;
	}
	mutex_unlock(&ndev->clients_lock);
	return count;
}

int npu_ioctl_accounts(struct drm_device *drm, void *data, struct drm_file *file)
{
	struct npu_device *ndev = to_npu_device(drm);
	struct drm_npu_accounts *args = data;
	struct drm_npu_account *accounts;
	int ret;

	if (args->flags & ~DRM_NPU_ACCOUNTS_LIVE || args->pad || args->lost || !args->count) {
		drm_dbg_driver(drm, "accounts: flags %#x, count %u, pad %#x, lost %llu\n",
			       args->flags, args->count, args->pad, args->lost);
		return -EINVAL;
	}
	args->count = min_t(u32, args->count, NPU_MAX_ACCOUNTS);
	accounts = kvcalloc(args->count, sizeof(*accounts), GFP_KERNEL_ACCOUNT);
	if (!accounts)
		return -ENOMEM;
	if (args->flags & DRM_NPU_ACCOUNTS_LIVE)
		args->count = npu_accounts_live(ndev, args, accounts);
	else
		args->count = npu_accounts_closed(ndev, args, accounts);
	ret = npu_copy_array_out(args->records, args->stride, accounts, sizeof(*accounts),
				 args->count);
	kvfree(accounts);
	return ret;
}
