// SPDX-License-Identifier: MIT
/* npu doctor: what is wrong with the NPUs of this machine, layer by layer, and what to do. */
#include <errno.h>
#include <grp.h>
#include <libkmod.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>
#include <zlib.h>

#include <npu/npu.h>

#include "firmware/host/npu_host.h"
#include "userspace/tools/self_test.h"
#include "userspace/tools/tool.h"

#define FIRMWARE	"npu/npu_fw.bin"
#define MAX_DEVICES	64
#define MAX_FILE	(64u << 20)

enum state { OK, WARNING, FAILED, UNKNOWN };

static const char *const state_names[] = {"ok", "warning", "failed", "unknown"};

/*
 * @root: folder that the system lies below, "" for this one
 * @release: of the kernel
 * @findings: one object each
 * @count: findings by state
 * @unfit: the kernel has no accelerator devices
 * @loaded: the driver is
 * @locked: modules need a signature, and why
 * @fw_version: of the firmware's file, 0 if there is none that is good
 */
struct doctor {
	char root[PATH_MAX / 2];
	char release[128];
	json_t *findings;
	unsigned int count[4];
	bool unfit;
	bool loaded;
	char locked[64];
	uint32_t fw_version;
};

/* ---- findings ---- */

static void __attribute__((format(printf, 4, 5)))
find(struct doctor *d, const char *check, enum state state, const char *format, ...)
{
	char text[1024];
	json_t *o = json_object();
	va_list ap;

	va_start(ap, format);
	vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	json_object_set_new(o, "check", json_string(check));
	json_object_set_new(o, "state", json_string(state_names[state]));
	json_object_set_new(o, "found", tool_json_text(text));
	json_array_append_new(d->findings, o);
	d->count[state]++;
}

/* What to do about the last finding. */
static void __attribute__((format(printf, 2, 3)))
advise(struct doctor *d, const char *format, ...)
{
	char text[1024];
	va_list ap;

	va_start(ap, format);
	vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	json_object_set_new(json_array_get(d->findings, json_array_size(d->findings) - 1), "advice",
			    tool_json_text(text));
}

static void print_finding(const json_t *o)
{
	static const enum tool_style styles[] = {TOOL_GREEN, TOOL_YELLOW, TOOL_RED, TOOL_DIM};
	const char *state = json_string_value(json_object_get(o, "state"));
	const char *advice = json_string_value(json_object_get(o, "advice"));
	unsigned int i = 0;

	while (strcmp(state, state_names[i]))
		i++;
	printf("%-10s %s%-8s%s ", json_string_value(json_object_get(o, "check")),
	       tool_style(stdout, styles[i]), state, tool_style(stdout, TOOL_PLAIN));
	tool_put(json_string_value(json_object_get(o, "found")), 0);
	putchar('\n');
	if (!advice)
		return;
	printf("%20s%s", "", tool_style(stdout, TOOL_BOLD));
	tool_put(advice, 0);
	printf("%s\n", tool_style(stdout, TOOL_PLAIN));
}

static int print(const struct doctor *d, bool json)
{
	size_t i;
	json_t *o;

	if (json) {
		o = json_pack("{s:s, s:O, s:i, s:i}", "kernel", d->release, "findings", d->findings,
			      "failed", (int)d->count[FAILED], "warnings",
			      (int)d->count[WARNING]);
		return tool_print_json(o);
	}
	printf("%s%-10s %-8s %s%s\n", tool_style(stdout, TOOL_BOLD), "CHECK", "STATE", "FOUND",
	       tool_style(stdout, TOOL_PLAIN));
	json_array_foreach(d->findings, i, o) print_finding(o);
	printf("%u ok, %u warnings, %u failed, %u unknown\n", d->count[OK], d->count[WARNING],
	       d->count[FAILED], d->count[UNKNOWN]);
	return TOOL_OK;
}

/* ---- files of the system ---- */

static void place(const struct doctor *d, char path[PATH_MAX], const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static void place(const struct doctor *d, char path[PATH_MAX], const char *format, ...)
{
	int n = snprintf(path, PATH_MAX, "%s", d->root);
	va_list ap;

	va_start(ap, format);
	vsnprintf(path + n, PATH_MAX - n, format, ap);
	va_end(ap);
}

static bool exists(const struct doctor *d, const char *name)
{
	char path[PATH_MAX];

	place(d, path, "%s", name);
	return !access(path, F_OK);
}

/* The first bytes of a file, as text; false if there is none. */
static bool read_text(const struct doctor *d, const char *name, char *out, size_t size)
{
	char path[PATH_MAX];
	FILE *f;
	size_t n;

	place(d, path, "%s", name);
	f = fopen(path, "re");
	if (!f)
		return false;
	n = fread(out, 1, size - 1, f);
	fclose(f);
	out[n] = 0;
	out[strcspn(out, "\n")] = 0;
	return true;
}

static void *read_whole(const char *path, size_t *size)
{
	FILE *f = fopen(path, "re");
	struct stat st;
	char *data = NULL;

	if (!f)
		return NULL;
	if (!fstat(fileno(f), &st) && S_ISREG(st.st_mode) && st.st_size <= (off_t)MAX_FILE)
		data = malloc(st.st_size + 1);
	if (data)
		*size = fread(data, 1, st.st_size, f);
	fclose(f);
	return data;
}

/* ---- kernel ---- */

/* 1 set, 0 not set, -1 no such file; plain and compressed files are read alike. */
static int config_in(const char *path, const char *line)
{
	char text[1024];
	gzFile f = gzopen(path, "re");
	int found = 0;

	if (!f)
		return -1;
	while (!found && gzgets(f, text, sizeof(text))) {
		text[strcspn(text, "\n")] = 0;
		found = !strcmp(text, line);
	}
	gzclose(f);
	return found;
}

static int config(const struct doctor *d, const char *line, char path[PATH_MAX])
{
	int found;

	place(d, path, "/proc/config.gz");
	found = config_in(path, line);
	if (found < 0) {
		place(d, path, "/boot/config-%s", d->release);
		found = config_in(path, line);
	}
	if (found < 0) {
		place(d, path, "/lib/modules/%s/config", d->release);
		found = config_in(path, line);
	}
	if (found < 0) {
		place(d, path, "/lib/modules/%s/build/include/config/auto.conf", d->release);
		found = config_in(path, line);
	}
	return found;
}

static void check_kernel(struct doctor *d)
{
	char path[PATH_MAX];
	int found = config(d, "CONFIG_DRM_ACCEL=y", path);

	if (found > 0 || exists(d, "/sys/class/accel")) {
		find(d, "kernel", OK, "%s has accelerator devices (CONFIG_DRM_ACCEL)", d->release);
	} else if (!found) {
		d->unfit = true;
		find(d, "kernel", FAILED, "%s is built without CONFIG_DRM_ACCEL, as %s says", d->release,
		     path + strlen(d->root));
		advise(d, "boot a kernel that has it, on Debian 12 linux-image-amd64 of bookworm-backports; NPU_DEVICE=sim needs none");
	} else {
		find(d, "kernel", UNKNOWN, "%s: no file tells whether it has CONFIG_DRM_ACCEL",
		     d->release);
		advise(d, "look whether /sys/class/accel exists after \"modprobe drm\"");
	}
}

/* ---- Secure Boot and lockdown ---- */

static void check_lockdown(struct doctor *d)
{
	char text[256], *mode;

	if (read_text(d, "/sys/module/module/parameters/sig_enforce", text, sizeof(text)) &&
	    text[0] == 'Y')
		snprintf(d->locked, sizeof(d->locked), "module.sig_enforce is set");
	if (read_text(d, "/sys/kernel/security/lockdown", text, sizeof(text))) {
		mode = strchr(text, '[');
		if (mode && strncmp(mode, "[none]", 6))
			snprintf(d->locked, sizeof(d->locked), "lockdown is %.*s",
				 (int)strcspn(mode + 1, "]"), mode + 1);
	}
	if (d->locked[0])
		find(d, "lockdown", OK, "%s: the kernel takes signed modules only", d->locked);
	else
		find(d, "lockdown", OK, "the kernel takes unsigned modules");
}

/* ---- driver ---- */

static bool is_signed(struct kmod_list *info)
{
	struct kmod_list *l;

	kmod_list_foreach(l, info) if (!strcmp(kmod_module_info_get_key(l), "signer") ||
				       !strcmp(kmod_module_info_get_key(l), "sig_id"))
		return true;
	return false;
}

/* Whether the loaded driver has another build id than this file, if that is not compressed. */
static bool other_build(const struct doctor *d, const char *file)
{
	char name[PATH_MAX];
	size_t note_size = 0, size = 0;
	void *note, *data;
	bool other = false;

	place(d, name, "/sys/module/npu/notes/.note.gnu.build-id");
	note = read_whole(name, &note_size);
	data = read_whole(file, &size);
	/* sysfs does not tell sizes of notes; what was read counts. */
	if (note && data && note_size > 16 && size > 4 && !memcmp(data, "\177ELF", 4))
		other = !memmem(data, size, note, note_size);
	free(note);
	free(data);
	return other;
}

static void judge_module(struct doctor *d, const char *file, const char *magic, bool has_signature)
{
	size_t n = strlen(d->release);
	const char *name = file + strlen(d->root);

	if (magic && (strncmp(magic, d->release, n) || magic[n] != ' ')) {
		find(d, "driver", FAILED, "%s is for kernel %.*s, this is %s", name,
		     (int)strcspn(magic, " "), magic, d->release);
		advise(d, "make install KVER=%s", d->release);
	} else if (d->loaded && other_build(d, file)) {
		find(d, "driver", WARNING, "the driver that is loaded is not %s", name);
		advise(d, "npu unload && npu load");
	} else if (d->loaded) {
		find(d, "driver", OK, "npu.ko is loaded");
	} else if (d->locked[0] && !has_signature) {
		find(d, "driver", FAILED, "%s has no signature, and %s", name, d->locked);
		advise(d, "sign it with a key that mokutil has enrolled: npu(4), \"Secure Boot\"");
	} else {
		find(d, "driver", WARNING, "%s is not loaded", name);
		advise(d, "npu load, and with --sim 1 a simulated device");
	}
}

static void judge_installed(struct doctor *d, struct kmod_module *mod)
{
	struct kmod_list *info = NULL, *l;
	const char *magic = NULL;
	int err = kmod_module_get_info(mod, &info);

	if (err < 0) {
		find(d, "driver", FAILED, "%s: %s", kmod_module_get_path(mod) + strlen(d->root),
		     strerror(-err));
		advise(d, "make install KVER=%s", d->release);
		return;
	}
	kmod_list_foreach(l, info) if (!strcmp(kmod_module_info_get_key(l), "vermagic"))
		magic = kmod_module_info_get_value(l);
	judge_module(d, kmod_module_get_path(mod), magic, is_signed(info));
	kmod_module_info_free_list(info);
}

static void check_driver(struct doctor *d)
{
	char folder[PATH_MAX];
	struct kmod_list *list = NULL;
	struct kmod_module *mod;
	struct kmod_ctx *ctx;

	d->loaded = exists(d, "/sys/module/npu");
	place(d, folder, "/lib/modules/%s", d->release);
	ctx = kmod_new(folder, NULL);
	if (!ctx) {
		find(d, "driver", UNKNOWN, "libkmod: out of memory");
		return;
	}
	kmod_set_log_priority(ctx, -1);
	if (kmod_module_new_from_lookup(ctx, "npu", &list) >= 0 && list) {
		mod = kmod_module_get_module(list);
		judge_installed(d, mod);
		kmod_module_unref(mod);
	} else if (d->loaded) {
		find(d, "driver", OK, "npu.ko is loaded, and not installed for this kernel");
	} else {
		find(d, "driver", FAILED, "npu.ko is neither loaded nor installed for kernel %s",
		     d->release);
		if (d->unfit)
			advise(d, "another kernel comes first");
		else
			advise(d, "make install KVER=%s, or npu load --from FOLDER", d->release);
	}
	kmod_module_unref_list(list);
	kmod_unref(ctx);
}

/* ---- firmware ---- */

static void version_text(uint32_t v, char out[24])
{
	snprintf(out, 24, "%u.%u.%u", v >> 16, v >> 8 & 0xff, v & 0xff);
}

/* In the order in which the kernel looks. */
static bool find_firmware(const struct doctor *d, char path[PATH_MAX])
{
	char first[PATH_MAX / 4] = "";
	static const char *const folders[] = {"/lib/firmware/updates", "/lib/firmware"};

	read_text(d, "/sys/module/firmware_class/parameters/path", first, sizeof(first));
	place(d, path, "%s/" FIRMWARE, first);
	if (first[0] && !access(path, F_OK))
		return true;
	for (int i = 0; i < 4; i++) {
		place(d, path, "%s%s%s/" FIRMWARE, folders[i / 2], i % 2 ? "" : "/",
		      i % 2 ? "" : d->release);
		if (!access(path, F_OK))
			return true;
	}
	return false;
}

static void judge_firmware(struct doctor *d, const char *name, const void *data, size_t size)
{
	struct npu_host_detail detail;
	struct npu_fwimage image;
	char version[24];

	if (npu_fwimage_check(data, size, NPU_DEVICE_V0, NPU_FW_MAX_LENGTH, 0, &image, &detail)) {
		find(d, "firmware", FAILED, "%s: %s: expected %#llx, found %#llx", name, detail.what,
		     (unsigned long long)detail.expected, (unsigned long long)detail.found);
		advise(d, "make install, with the sources that the driver was built from");
		return;
	}
	d->fw_version = image.version;
	version_text(image.version, version);
	find(d, "firmware", OK, "%s: version %s, checksums right, protocol %u to %u", name, version,
	     image.proto_min, image.proto_max);
}

static void check_firmware(struct doctor *d)
{
	char path[PATH_MAX];
	size_t size = 0;
	void *data;

	if (!find_firmware(d, path)) {
		/* A driver that has its image does not need the file until it is bound again. */
		find(d, "firmware", d->loaded ? WARNING : FAILED,
		     "/lib/firmware/" FIRMWARE " does not exist");
		advise(d, "make install puts it there; npu load takes that of a built tree");
		return;
	}
	data = read_whole(path, &size);
	if (data) {
		judge_firmware(d, path + strlen(d->root), data, size);
	} else {
		find(d, "firmware", FAILED, "%s cannot be read: %s", path + strlen(d->root),
		     strerror(errno));
		advise(d, "chmod a+r %s", path + strlen(d->root));
	}
	free(data);
}

/* ---- library ---- */

static void check_library(struct doctor *d)
{
	if (!strcmp(npu_version(), TOOL_VERSION)) {
		find(d, "libnpu", OK, "version %s, as this tool", npu_version());
		return;
	}
	find(d, "libnpu", WARNING, "version %s, this tool is %s", npu_version(), TOOL_VERSION);
	advise(d, "ldconfig; look for other copies with \"ldd $(command -v npu)\"");
}

/* ---- devices ---- */

static void advise_access(struct doctor *d, const char *path)
{
	struct group *group;
	struct stat st;

	if (!access(path, R_OK | W_OK) || stat(path, &st)) {
		advise(d, "allow the device in the cgroup and the mount of this process");
		return;
	}
	group = st.st_gid && (st.st_mode & 060) == 060 ? getgrgid(st.st_gid) : NULL;
	if (group)
		advise(d, "usermod -aG %s USER, then log in again", group->gr_name);
	else
		advise(d, "install the udev rule 70-npu.rules, which gives nodes to the group render");
}

static void advise_open(struct doctor *d, int err, const char *path)
{
	switch (err) {
	case -ENOENT:
		advise(d, "start udev, or give the container its node");
		break;
	case -EACCES:
		advise_access(d, path);
		break;
	default:
		advise(d, "dmesg says more");
	}
}

static void judge_info(struct doctor *d, const char *path, const struct npu_device_info *info)
{
	char running[24], file[24];

	version_text(info->fw_version, running);
	version_text(d->fw_version, file);
	if (info->contract >> 16 != NPU_CONTRACT_MAJOR) {
		find(d, "device", FAILED, "%s: contract %u.%u, this tool and libnpu are for %u", path,
		     info->contract >> 16, info->contract & 0xffff, NPU_CONTRACT_MAJOR);
		advise(d, "install libnpu and tool of the device's contract");
	} else if (d->fw_version && info->fw_version != d->fw_version) {
		find(d, "device", WARNING, "%s: runs firmware %s, the file is %s", path, running,
		     file);
		advise(d, "npu unload && npu load, or unbind the device and bind it again");
	} else if (info->resets) {
		find(d, "device", WARNING, "%s: works, and was reset %llu times", path,
		     (unsigned long long)info->resets);
		advise(d, "dmesg names the queue and process that hung it");
	} else {
		find(d, "device", OK, "%s: %u cores, firmware %s, contract %u.%u", path, info->cores,
		     running, info->contract >> 16, info->contract & 0xffff);
	}
}

static void check_open(struct doctor *d, const char *path)
{
	struct npu_device_info info;
	struct npu_device *dev;
	int err = npu_device_open(&dev, path);

	if (!err) {
		err = npu_device_get_info(dev, &info, sizeof(info));
		npu_device_close(dev);
	}
	if (!err) {
		judge_info(d, path, &info);
		return;
	}
	find(d, "device", FAILED, "%s", npu_error_message());
	advise_open(d, err, path);
}

/* Of a system that is not this one the nodes cannot be opened. */
static void check_node(struct doctor *d, const struct npu_device_entry *entry)
{
	if (!d->root[0]) {
		check_open(d, entry->path);
	} else if (exists(d, entry->path)) {
		find(d, "device", OK, "%s: of driver %s", entry->path, entry->driver);
	} else {
		find(d, "device", FAILED, "%s does not exist, and the kernel has the device",
		     entry->path);
		advise_open(d, -ENOENT, entry->path);
	}
}

static void check_test(struct doctor *d, const char *name)
{
	uint64_t cycles;
	char why[512];

	if (!self_test(name, &cycles, why, sizeof(why))) {
		find(d, "test", OK, "%s: a job of %llu cycles gave the right result", name,
		     (unsigned long long)cycles);
		return;
	}
	find(d, "test", FAILED, "%s: %s", name, why);
	advise(d, "npu info %s, and dmesg", name);
}

static void check_devices(struct doctor *d, bool test)
{
	static struct npu_device_entry entries[MAX_DEVICES];
	char sysfs[PATH_MAX];
	unsigned int count = 0, i;

	place(d, sysfs, "/sys");
	if (d->root[0])
		setenv("NPU_SYSFS", sysfs, 1);
	if (npu_device_list(entries, MAX_DEVICES, &count)) {
		find(d, "device", FAILED, "%s", npu_error_message());
		advise(d, "mount sysfs at /sys");
		return;
	}
	if (count > MAX_DEVICES)
		count = MAX_DEVICES;
	if (!count) {
		find(d, "device", d->loaded ? WARNING : UNKNOWN, "%s",
		     d->loaded ? "the driver is loaded and has no device" :
				 "none, since the driver is not loaded");
		advise(d, d->loaded ? "npu load --sim 1 makes a simulated one; dmesg says why a card did not start"
				    : "NPU_DEVICE=sim works without a driver");
	}
	for (i = 0; i < count; i++)
		check_node(d, &entries[i]);
	for (i = 0; test && i < count; i++)
		check_test(d, entries[i].path);
	if (test)
		check_test(d, "sim");
}

/* ---- the command ---- */

static int examine(struct doctor *d, bool json, bool test)
{
	struct utsname u;
	int status;

	if (!read_text(d, "/proc/sys/kernel/osrelease", d->release, sizeof(d->release)) &&
	    !uname(&u))
		snprintf(d->release, sizeof(d->release), "%s", u.release);
	d->findings = json_array();
	check_kernel(d);
	check_lockdown(d);
	check_driver(d);
	check_firmware(d);
	check_library(d);
	check_devices(d, test);
	status = print(d, json);
	json_decref(d->findings);
	return status ? status : d->count[FAILED] ? TOOL_FAILED : TOOL_OK;
}

static int run_doctor(int argc, char **argv)
{
	static const struct option options[] = {
		{"json", no_argument, NULL, 'j'},
		{"test", no_argument, NULL, 't'},
		{"root", required_argument, NULL, 'r'},
		{0},
	};
	static struct doctor d;
	bool json = false, test = false;
	int c;

	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (c == '?')
			return tool_usage(&tool_doctor);
		json |= c == 'j';
		test |= c == 't';
		if (c == 'r' && (size_t)snprintf(d.root, sizeof(d.root), "%s", optarg) >=
					sizeof(d.root))
			return tool_fail("--root: name too long");
	}
	c = tool_operands(&tool_doctor, argc, argv, 0, 0);
	if (c)
		return c;
	if (d.root[0] && access(d.root, X_OK))
		return tool_fail("%s: %s", d.root, strerror(errno));
	if (d.root[0] && test) {
		tool_fail("--test runs on this machine, and --root names another");
		return TOOL_USAGE;
	}
	return examine(&d, json, test);
}

const struct tool_command tool_doctor = {
	"doctor",
	"[OPTIONS]",
	"finds what is wrong with NPUs here, and what to do",
	"      --test            runs a job on each device, and on the device model\n"
	"      --root FOLDER     looks at the system below FOLDER instead\n"
	"      --json            prints JSON\n",
	run_doctor,
};
