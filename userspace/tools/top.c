// SPDX-License-Identifier: MIT
/* npu top: samples of devices and their clients */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "userspace/tools/tool.h"
#include "userspace/tools/top.h"

struct options {
	const char *device;
	long interval_ms;
	bool once;
	bool json;
};

static long long now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ll + ts.tv_nsec;
}

/* First line of a file below the device's folder in sysfs; empty if there is none. */
static void attribute(const struct top_device *d, const char *name, char *text, size_t size)
{
	char path[PATH_MAX];
	FILE *f;

	snprintf(path, sizeof(path), "/sys/class/accel%s/device/%s", strrchr(d->path, '/'), name);
	f = fopen(path, "re");
	if (!f || !fgets(text, (int)size, f))
		*text = 0;
	if (f)
		fclose(f);
	text[strcspn(text, "\n")] = 0;
}

static long long number(const struct top_device *d, const char *name)
{
	char text[64];

	attribute(d, name, text, sizeof(text));
	return *text ? strtoll(text, NULL, 10) : -1;
}

static long long sensor(const struct top_device *d, const char *name)
{
	char path[PATH_MAX], file[512] = "";
	struct dirent *entry;
	DIR *dir;

	snprintf(path, sizeof(path), "/sys/class/accel%s/device/hwmon", strrchr(d->path, '/'));
	dir = opendir(path);
	while (dir && (entry = readdir(dir)))
		if (!strncmp(entry->d_name, "hwmon", 5))
			snprintf(file, sizeof(file), "hwmon/%s/%s", entry->d_name, name);
	if (dir)
		closedir(dir);
	return *file ? number(d, file) : -1;
}

static const struct top_client *find_client(const struct top_device *d, uint64_t id)
{
	for (size_t i = 0; i < d->count; i++)
		if (d->clients[i].account.client_id == id)
			return &d->clients[i];
	return NULL;
}

static double share(long long busy_ns, long long passed_ns, long long cores)
{
	double load = passed_ns > 0 && cores > 0 ? (double)busy_ns / passed_ns / cores : 0;

	return load < 0 ? 0 : load > 1 ? 1 : load;
}

static int by_load(const void *a, const void *b)
{
	const struct top_client *x = a, *y = b;

	if (x->load != y->load)
		return x->load < y->load ? 1 : -1;
	return x->account.client_id < y->account.client_id ? -1 : 1;
}

/* Clients that were not there before have used what they have used since. */
static int sample_clients(struct top_device *d, long long passed_ns)
{
	struct accel_accounts all = {0};
	struct top_client *clients;
	size_t n = 0;
	int err = accel_accounts(d->fd, DRM_NPU_ACCOUNTS_LIVE, &all);

	clients = err ? NULL : calloc(all.count + 1, sizeof(*clients));
	for (size_t i = 0; clients && i < all.count; i++) {
		const struct top_client *before = find_client(d, all.list[i].client_id);
		uint64_t cycles = all.list[i].cycles - (before ? before->account.cycles : 0);

		if (all.list[i].pid == (uint32_t)getpid())
			continue;
		clients[n].account = all.list[i];
		clients[n++].load = d->clock_khz > 0
					    ? share((long long)(cycles * 1e6 / d->clock_khz),
						    d->when_ns ? passed_ns : 0, d->cores)
					    : 0;
	}
	free(all.list);
	if (!clients)
		return err ? err : -ENOMEM;
	qsort(clients, n, sizeof(*clients), by_load);
	free(d->clients);
	d->clients = clients;
	d->count = n;
	return 0;
}

static int sample_device(struct top_device *d)
{
	long long when = now_ns(), busy = number(d, "npu/busy_ns"), passed = when - d->when_ns;
	int err = 0;

	d->cores = number(d, "npu/cores");
	d->clock_khz = number(d, "npu/clock_khz");
	attribute(d, "npu/state", d->state, sizeof(d->state));
	if (!*d->state)
		snprintf(d->state, sizeof(d->state), "gone");
	d->millidegrees = sensor(d, "temp1_input");
	d->microwatts = sensor(d, "power1_input");
	if (d->fd >= 0)
		err = sample_clients(d, passed);
	if (d->when_ns) {
		d->load = share(busy - d->busy_ns, passed, d->cores);
		d->history[d->samples++ % TOP_HISTORY] = d->load;
	}
	d->busy_ns = busy;
	d->when_ns = when;
	/* One that has gone is shown as such. */
	return err == -ENODEV ? 0 : err;
}

int top_sample(struct top *top)
{
	int err = 0;

	for (unsigned int i = 0; i < top->count && !err; i++)
		err = sample_device(&top->devices[i]);
	return err;
}

static void top_close(struct top *top)
{
	for (unsigned int i = 0; i < top->count; i++) {
		if (top->devices[i].fd >= 0)
			close(top->devices[i].fd);
		free(top->devices[i].clients);
	}
	free(top->devices);
}

static int top_open(struct top *top, const char *device)
{
	struct npu_device_entry *entries;

	if (accel_choose(device, &entries, &top->count))
		return TOOL_FAILED;
	top->devices = calloc(top->count + 1, sizeof(*top->devices));
	for (unsigned int i = 0; top->devices && i < top->count; i++) {
		struct top_device *d = &top->devices[i];
		const char *name = strrchr(entries[i].parent, '/');

		snprintf(d->path, sizeof(d->path), "%.63s", entries[i].path);
		snprintf(d->name, sizeof(d->name), "%.127s", name ? name + 1 : entries[i].parent);
		/* Without the node there is still what sysfs says. */
		d->fd = open(d->path, O_RDWR | O_CLOEXEC);
	}
	free(entries);
	return top->devices ? TOOL_OK : tool_fail("out of memory");
}

static json_t *client_json(const struct top_client *c)
{
	json_t *o = json_object();

	json_object_set_new(o, "pid", json_integer(c->account.pid));
	json_object_set_new(o, "comm", tool_json_text(c->account.comm));
	json_object_set_new(o, "uid", json_integer(c->account.uid));
	json_object_set_new(o, "client_id", json_integer((json_int_t)c->account.client_id));
	json_object_set_new(o, "load", json_real(c->load));
	json_object_set_new(o, "cycles", json_integer((json_int_t)c->account.cycles));
	json_object_set_new(o, "jobs", json_integer((json_int_t)c->account.jobs));
	json_object_set_new(o, "energy_nj", json_integer((json_int_t)c->account.energy_nj));
	return o;
}

static json_t *device_json(const struct top_device *d)
{
	json_t *o = json_object(), *clients = json_array();

	json_object_set_new(o, "path", tool_json_text(d->path));
	json_object_set_new(o, "name", tool_json_text(d->name));
	json_object_set_new(o, "state", tool_json_text(d->state));
	json_object_set_new(o, "load", json_real(d->load));
	json_object_set_new(o, "busy_ns", json_integer(d->busy_ns));
	json_object_set_new(o, "cores", json_integer(d->cores));
	json_object_set_new(o, "millidegrees", json_integer(d->millidegrees));
	json_object_set_new(o, "microwatts", json_integer(d->microwatts));
	for (size_t i = 0; i < d->count; i++)
		json_array_append_new(clients, client_json(&d->clients[i]));
	json_object_set_new(o, "clients", clients);
	return o;
}

static int print_json(const struct top *top)
{
	json_t *list = json_array();

	for (unsigned int i = 0; i < top->count; i++)
		json_array_append_new(list, device_json(&top->devices[i]));
	return tool_print_json(list);
}

static void print_device(const struct top_device *d)
{
	printf("%s%-20s%s ", tool_style(stdout, TOOL_BOLD), d->path, tool_style(stdout, TOOL_PLAIN));
	tool_put(d->name, 16);
	printf(" %-9s load %5.1f %%", d->state, d->load * 100);
	if (d->millidegrees >= 0)
		printf("  %4.1f C", (double)d->millidegrees / 1000);
	if (d->microwatts >= 0)
		printf("  %6.3f W", (double)d->microwatts / 1e6);
	putchar('\n');
	for (size_t i = 0; i < d->count; i++) {
		printf("  %8u ", d->clients[i].account.pid);
		tool_put(d->clients[i].account.comm, 15);
		printf(" %5.1f %% %10llu jobs\n", d->clients[i].load * 100,
		       (unsigned long long)d->clients[i].account.jobs);
	}
}

static int print_once(struct top *top, const struct options *opts)
{
	int err = top_sample(top);

	if (!err) {
		usleep((useconds_t)opts->interval_ms * 1000);
		err = top_sample(top);
	}
	if (err)
		return tool_fail("accounts: %s", strerror(-err));
	if (opts->json)
		return print_json(top);
	for (unsigned int i = 0; i < top->count; i++)
		print_device(&top->devices[i]);
	if (!top->count)
		puts("no NPU is driven here; \"npu load --sim 1\" makes one");
	return TOOL_OK;
}

static int parse(int argc, char **argv, struct options *opts)
{
	static const struct option options[] = {
		{"once", no_argument, NULL, 'o'},
		{"json", no_argument, NULL, 'j'},
		{"interval", required_argument, NULL, 'i'},
		{0},
	};
	int opt;

	while ((opt = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (opt == 'o')
			opts->once = true;
		else if (opt == 'j')
			opts->json = opts->once = true;
		else if (opt != 'i' || !tool_number(optarg, 100, 60000, "--interval",
						    &opts->interval_ms))
			return opt == 'i' ? TOOL_USAGE : tool_usage(&tool_top);
	}
	if (tool_operands(&tool_top, argc, argv, 0, 1))
		return TOOL_USAGE;
	opts->device = argv[optind];
	return TOOL_OK;
}

static int run_top(int argc, char **argv)
{
	struct options opts = {.interval_ms = 1000};
	struct top top = {0};
	int status = parse(argc, argv, &opts);

	if (!status)
		status = top_open(&top, opts.device);
	if (status)
		return status;
	status = opts.once ? print_once(&top, &opts) : top_screen(&top, (int)opts.interval_ms);
	top_close(&top);
	return status;
}

const struct tool_command tool_top = {
	"top",
	"[OPTIONS] [DEVICE]",
	"watches devices and who uses them",
	"      --once            prints one sample and ends\n"
	"      --json            the same as JSON\n"
	"      --interval MS     time between samples (default 1000)\n",
	run_top,
};
