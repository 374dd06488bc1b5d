// SPDX-License-Identifier: MIT
/* npu account */
#include <errno.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "userspace/tools/accel_node.h"
#include "userspace/tools/tool.h"

enum by { BY_PROCESS, BY_USER, BY_CGROUP, N_BY };

static const char *const by_names[N_BY] = {"process", "user", "cgroup"};

/**
 * struct usage - what a process, user or cgroup has used
 * @who: one account of it, for the names
 * @clients: accounts
 * @live: of these, clients that are there
 * @sum: sums of the counters
 */
struct usage {
	const struct drm_npu_account *who;
	uint64_t clients;
	uint64_t live;
	struct drm_npu_account sum;
};

struct options {
	const char *device;
	enum by by;
	bool closed;
	bool live;
	bool json;
};

static bool same(const struct drm_npu_account *a, const struct drm_npu_account *b, enum by by)
{
	switch (by) {
	case BY_PROCESS:
		return a->pid == b->pid && a->uid == b->uid && !strcmp(a->comm, b->comm) &&
		       a->cgroup_id == b->cgroup_id;
	case BY_USER:
		return a->uid == b->uid;
	default:
		return a->cgroup_id == b->cgroup_id && !strcmp(a->cgroup, b->cgroup);
	}
}

static void add(struct usage *u, const struct drm_npu_account *a)
{
	u->clients++;
	u->live += !a->closed_ns;
	u->sum.jobs += a->jobs;
	u->sum.jobs_failed += a->jobs_failed;
	u->sum.cycles += a->cycles;
	u->sum.macs += a->macs;
	u->sum.bytes_read += a->bytes_read;
	u->sum.bytes_written += a->bytes_written;
	u->sum.energy_nj += a->energy_nj;
}

static int by_cycles(const void *a, const void *b)
{
	const struct usage *x = a, *y = b;

	if (x->sum.cycles != y->sum.cycles)
		return x->sum.cycles < y->sum.cycles ? 1 : -1;
	return x->who->client_id < y->who->client_id ? -1 : 1;
}

/* Groups, those that used most first; NULL without memory. */
static struct usage *group(const struct accel_accounts *all, enum by by, size_t *count)
{
	struct usage *usages = calloc(all->count + 1, sizeof(*usages));
	size_t n = 0, k;

	for (size_t i = 0; usages && i < all->count; i++) {
		for (k = 0; k < n && !same(usages[k].who, &all->list[i], by); k++)
			;
		if (k == n)
			usages[n++].who = &all->list[i];
		add(&usages[k], &all->list[i]);
	}
	if (usages)
		qsort(usages, n, sizeof(*usages), by_cycles);
	*count = n;
	return usages;
}

static void user_name(uint32_t uid, char *out, size_t size)
{
	const struct passwd *pw = getpwuid(uid);

	if (pw)
		snprintf(out, size, "%s", pw->pw_name);
	else
		snprintf(out, size, "%u", uid);
}

static void set_number(json_t *o, const char *key, uint64_t value)
{
	json_object_set_new(o, key, json_integer((json_int_t)value));
}

static void set_counters(json_t *o, const struct drm_npu_account *a)
{
	set_number(o, "jobs", a->jobs);
	set_number(o, "jobs_failed", a->jobs_failed);
	set_number(o, "cycles", a->cycles);
	set_number(o, "macs", a->macs);
	set_number(o, "bytes_read", a->bytes_read);
	set_number(o, "bytes_written", a->bytes_written);
	set_number(o, "energy_nj", a->energy_nj);
}

static void set_who(json_t *o, const struct drm_npu_account *a, enum by by)
{
	char user[64];

	user_name(a->uid, user, sizeof(user));
	if (by == BY_PROCESS) {
		set_number(o, "pid", a->pid);
		json_object_set_new(o, "comm", tool_json_text(a->comm));
	}
	if (by != BY_CGROUP) {
		set_number(o, "uid", a->uid);
		json_object_set_new(o, "user", tool_json_text(user));
	}
	if (by != BY_USER) {
		json_object_set_new(o, "cgroup", tool_json_text(a->cgroup));
		set_number(o, "cgroup_id", a->cgroup_id);
	}
}

static json_t *usages_json(const struct accel_accounts *all, enum by by)
{
	json_t *list = json_array();
	struct usage *usages;
	size_t count;

	usages = group(all, by, &count);
	if (!usages) {
		json_decref(list);
		return NULL;
	}
	for (size_t i = 0; i < count; i++) {
		json_t *o = json_object();

		set_who(o, usages[i].who, by);
		set_number(o, "clients", usages[i].clients);
		set_number(o, "clients_live", usages[i].live);
		set_counters(o, &usages[i].sum);
		json_array_append_new(list, o);
	}
	free(usages);
	return list;
}

static json_t *clients_json(const struct accel_accounts *all)
{
	json_t *list = json_array();

	for (size_t i = 0; i < all->count; i++) {
		const struct drm_npu_account *a = &all->list[i];
		json_t *o = json_object();

		set_number(o, "client_id", a->client_id);
		set_number(o, "sequence", a->sequence);
		set_number(o, "opened_ns", a->opened_ns);
		set_number(o, "closed_ns", a->closed_ns);
		set_who(o, a, BY_PROCESS);
		set_counters(o, a);
		json_array_append_new(list, o);
	}
	return list;
}

static int print_json(const struct accel_accounts *all)
{
	json_t *o = json_object();

	set_number(o, "lost", all->lost);
	json_object_set_new(o, "processes", usages_json(all, BY_PROCESS));
	json_object_set_new(o, "users", usages_json(all, BY_USER));
	json_object_set_new(o, "cgroups", usages_json(all, BY_CGROUP));
	json_object_set_new(o, "clients", clients_json(all));
	return tool_print_json(o);
}

/* Three digits and a unit. */
static void put_amount(uint64_t value, const char *unit)
{
	static const char prefixes[] = " kMGTPE";
	double v = (double)value;
	int p = 0;

	for (; v >= 999.5 && p < 6; p++)
		v /= 1000;
	printf(" %6.*f%c%s", p && v < 99.95 ? 1 : 0, v, prefixes[p], unit);
}

static void print_row(const struct usage *u, enum by by)
{
	char user[64];

	user_name(u->who->uid, user, sizeof(user));
	if (by == BY_PROCESS) {
		printf("%8u ", u->who->pid);
		tool_put(u->who->comm, 15);
		putchar(' ');
		tool_put(user, 12);
	} else if (by == BY_USER) {
		tool_put(user, 24);
	} else {
		tool_put(*u->who->cgroup ? u->who->cgroup : "-", 40);
	}
	printf(" %7llu", (unsigned long long)u->sum.jobs);
	printf(" %s%6llu%s", u->sum.jobs_failed ? tool_style(stdout, TOOL_RED) : "",
	       (unsigned long long)u->sum.jobs_failed,
	       u->sum.jobs_failed ? tool_style(stdout, TOOL_PLAIN) : "");
	put_amount(u->sum.cycles, "");
	put_amount(u->sum.macs, "");
	put_amount(u->sum.bytes_read + u->sum.bytes_written, "B");
	/* In nanojoules; mJ and so on follow from the prefixes of joules. */
	printf(" %9.3f mJ %s\n", (double)u->sum.energy_nj / 1e6, u->live ? "live" : "");
}

static int print_table(const struct accel_accounts *all, enum by by)
{
	static const char *const heads[N_BY] = {
		"     PID PROCESS         USER        ",
		"USER                    ",
		"CGROUP                                  ",
	};
	size_t count;
	struct usage *usages = group(all, by, &count);

	if (!usages)
		return tool_fail("out of memory");
	if (all->lost)
		printf("%s%llu accounts are no longer kept%s\n", tool_style(stdout, TOOL_YELLOW),
		       (unsigned long long)all->lost, tool_style(stdout, TOOL_PLAIN));
	printf("%s%s    JOBS FAILED  CYCLES     MACS   MEMORY       ENERGY%s\n",
	       tool_style(stdout, TOOL_BOLD), heads[by], tool_style(stdout, TOOL_PLAIN));
	for (size_t i = 0; i < count; i++)
		print_row(&usages[i], by);
	free(usages);
	return TOOL_OK;
}

/* Clients of each device anew, since their numbers are the devices'. */
static int read_device(const char *path, const struct options *opts, struct accel_accounts *all)
{
	int fd = accel_open(path), err = 0;

	if (fd < 0)
		return TOOL_FAILED;
	if (opts->closed) {
		all->after = 0;
		err = accel_accounts(fd, 0, all);
	}
	if (!err && opts->live) {
		all->after = 0;
		err = accel_accounts(fd, DRM_NPU_ACCOUNTS_LIVE, all);
	}
	close(fd);
	return err ? tool_fail("%s: accounts: %s", path, strerror(-err)) : TOOL_OK;
}

/* This very process is a client as well. */
static bool is_other(const struct drm_npu_account *a)
{
	return a->closed_ns || a->pid != (uint32_t)getpid();
}

static void drop_own(struct accel_accounts *all)
{
	size_t n = 0;

	for (size_t i = 0; i < all->count; i++)
		if (is_other(&all->list[i]))
			all->list[n++] = all->list[i];
	all->count = n;
}

static int show(const struct options *opts)
{
	struct accel_accounts all = {0};
	struct npu_device_entry *entries;
	unsigned int count;
	int status = TOOL_OK;

	if (accel_choose(opts->device, &entries, &count))
		return TOOL_FAILED;
	for (unsigned int i = 0; i < count && !status; i++)
		status = read_device(entries[i].path, opts, &all);
	free(entries);
	drop_own(&all);
	if (!status)
		status = opts->json ? print_json(&all) : print_table(&all, opts->by);
	free(all.list);
	return status;
}

static int parse_by(const char *text, enum by *by)
{
	for (int i = 0; i < N_BY; i++)
		if (!strcmp(text, by_names[i])) {
			*by = i;
			return TOOL_OK;
		}
	tool_fail("--by is \"%s\", want process, user or cgroup", text);
	return TOOL_USAGE;
}

static int run_account(int argc, char **argv)
{
	static const struct option options[] = {
		{"json", no_argument, NULL, 'j'},	{"by", required_argument, NULL, 'b'},
		{"live", no_argument, NULL, 'l'},	{"closed", no_argument, NULL, 'c'},
		{0},
	};
	struct options opts = {0};
	int opt, status;

	while ((opt = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (opt == 'j') {
			opts.json = true;
		} else if (opt == 'l') {
			opts.live = true;
		} else if (opt == 'c') {
			opts.closed = true;
		} else if (opt == 'b') {
			status = parse_by(optarg, &opts.by);
			if (status)
				return status;
		} else {
			return tool_usage(&tool_account);
		}
	}
	status = tool_operands(&tool_account, argc, argv, 0, 1);
	if (status)
		return status;
	opts.device = argv[optind];
	if (!opts.live && !opts.closed)
		opts.live = opts.closed = true;
	return show(&opts);
}

const struct tool_command tool_account = {
	"account",
	"[OPTIONS] [DEVICE]",
	"tells who has used the NPUs, and how much",
	"      --by WHAT         process (default), user or cgroup\n"
	"      --live            clients that are there only\n"
	"      --closed          clients that have gone only\n"
	"      --json            prints JSON\n",
	run_account,
};
