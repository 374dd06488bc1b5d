// SPDX-License-Identifier: MIT
/* npu load, npu unload: the kernel modules, installed or from a built tree */
#include <errno.h>
#include <libkmod.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <npu/npu.h>

#include "userspace/tools/firmware_path.h"
#include "userspace/tools/tool.h"

#define MAX_SIM		16
#define NEEDS_ROOT	"loading and unloading modules needs root (CAP_SYS_MODULE)"

/* Why a module could not be inserted. */
static const char *reason(int err)
{
	switch (-err) {
	case ENOENT:
		return "it needs symbols that no loaded module has; dmesg names them";
	case ENOEXEC:
		return "it was built for another kernel; dmesg says more";
	case EKEYREJECTED:
		return "Secure Boot wants a signature by a key it knows; mokutil enrols one";
	case EPERM:
		return NEEDS_ROOT;
	case EINVAL:
		return "it refuses its parameters, or is no module of this kernel; dmesg says more";
	case ENODEV:
		return "it found no device; dmesg says more";
	default:
		return strerror(-err);
	}
}

static int fail_insert(const char *name, int err)
{
	return tool_fail("module %s: %s", name, reason(err));
}

/* Loads the modules of the kernel that @mod, a file, says it needs. */
static int insert_needed(struct kmod_ctx *ctx, struct kmod_module *mod)
{
	struct kmod_list *info = NULL, *l;
	char depends[512] = "", *save = NULL;
	int status = TOOL_OK, err = kmod_module_get_info(mod, &info);

	if (err < 0)
		return tool_fail("%s: no kernel module: %s", kmod_module_get_path(mod),
				 strerror(-err));
	kmod_list_foreach(l, info) if (!strcmp(kmod_module_info_get_key(l), "depends"))
		snprintf(depends, sizeof(depends), "%s", kmod_module_info_get_value(l));
	kmod_module_info_free_list(info);

	for (char *name = strtok_r(depends, ",", &save); name && !status;
	     name = strtok_r(NULL, ",", &save)) {
		struct kmod_module *need;

		err = kmod_module_new_from_name(ctx, name, &need);
		if (err)
			return fail_insert(name, err);
		/* npu was loaded before npu_sim, from the same folder. */
		if (kmod_module_get_initstate(need) < 0)
			err = kmod_module_probe_insert_module(need, KMOD_PROBE_IGNORE_LOADED, NULL,
							      NULL, NULL, NULL);
		if (err == -ENOENT)
			status = tool_fail(
				"module %s is needed, and this kernel has no such module", name);
		else if (err)
			status = fail_insert(name, err);
		kmod_module_unref(need);
	}
	return status;
}

static int insert(struct kmod_ctx *ctx, struct kmod_module *mod, bool file, const char *options)
{
	int err;

	if (file && insert_needed(ctx, mod))
		return TOOL_FAILED;
	if (file)
		err = kmod_module_insert_module(mod, 0, options);
	else
		err = kmod_module_probe_insert_module(mod, KMOD_PROBE_FAIL_ON_LOADED, options, NULL,
						      NULL, NULL);
	if (err == -ENOENT && !file)
		return tool_fail("module %s is not installed; --from FOLDER names a built tree",
				 kmod_module_get_name(mod));
	return err ? fail_insert(file ? kmod_module_get_path(mod) : kmod_module_get_name(mod), err)
		   : TOOL_OK;
}

static int find_module(struct kmod_ctx *ctx, const char *from, const char *name,
		       struct kmod_module **mod)
{
	char path[PATH_MAX];
	int err;

	if (!from) {
		err = kmod_module_new_from_name(ctx, name, mod);
		return err ? tool_fail("module %s: %s", name, strerror(-err)) : TOOL_OK;
	}
	if ((size_t)snprintf(path, sizeof(path), "%s/%s.ko", from, name) >= sizeof(path))
		return tool_fail("%s: name too long", from);
	err = kmod_module_new_from_path(ctx, path, mod);
	return err ? tool_fail("%s: %s", path, strerror(-err)) : TOOL_OK;
}

/* @was_there: whether it was loaded before, which is an error where it has options now. */
static int load_one(struct kmod_ctx *ctx, const char *from, const char *name, const char *options,
		    bool *was_there)
{
	struct kmod_module *mod;
	int status = find_module(ctx, from, name, &mod);

	if (status)
		return status;
	*was_there = kmod_module_get_initstate(mod) >= 0;
	if (*was_there && options)
		status = tool_fail(
			"%s is loaded already, with devices of its own; \"npu unload\" first",
			name);
	else if (*was_there)
		printf("%s is loaded already\n", name);
	else
		status = insert(ctx, mod, from, options);
	kmod_module_unref(mod);
	if (!status && !*was_there)
		printf("loaded %s%s%s\n", name, options ? " " : "", options ? options : "");
	return status;
}

/* The folder of a built tree: where npu.ko lies, from the program's place upwards. */
static char *built_tree(void)
{
	char self[PATH_MAX - 16], path[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

	if (n < 0)
		return NULL;
	self[n] = 0;
	for (char *slash = strrchr(self, '/'); slash; slash = strrchr(self, '/')) {
		*slash = 0;
		snprintf(path, sizeof(path), "%s/npu.ko", self);
		if (!access(path, R_OK))
			return strdup(self);
	}
	return NULL;
}

static bool installed(struct kmod_ctx *ctx)
{
	struct kmod_list *list = NULL;
	bool found = kmod_module_new_from_lookup(ctx, "npu", &list) >= 0 && list;

	kmod_module_unref_list(list);
	return found;
}

static int remove_one(struct kmod_ctx *ctx, const char *name, bool *was_there)
{
	struct kmod_module *mod;
	int err = kmod_module_new_from_name(ctx, name, &mod);

	*was_there = false;
	if (err)
		return tool_fail("module %s: %s", name, strerror(-err));
	*was_there = kmod_module_get_initstate(mod) >= 0;
	err = *was_there ? kmod_module_remove_module(mod, 0) : 0;
	kmod_module_unref(mod);
	if (err == -EAGAIN || err == -EBUSY)
		return tool_fail("module %s is in use", name);
	if (err == -EPERM)
		return tool_fail("module %s: " NEEDS_ROOT, name);
	return err ? tool_fail("module %s: %s", name, strerror(-err)) : TOOL_OK;
}

/* The driver looks at a device while the device is made, so that it is there at once, or never. */
static int count_devices(long want)
{
	unsigned int found;
	int err = npu_device_list(NULL, 0, &found);

	if (err)
		return tool_fail_npu(err, "looking for devices");
	if (found < want)
		return tool_fail("of %ld devices %u came up; dmesg says why", want, found);
	return TOOL_OK;
}

static void take_back(struct kmod_ctx *ctx, const char *name)
{
	bool was_there;

	if (!remove_one(ctx, name, &was_there) && was_there)
		printf("unloaded %s\n", name);
}

/* Driver, then devices; what was loaded is taken back when the rest fails. */
static int load_all(struct kmod_ctx *ctx, const char *from, long sim)
{
	char options[32];
	bool had_npu, had_sim;
	int status = load_one(ctx, from, "npu", NULL, &had_npu);

	if (status || !sim)
		return status;
	snprintf(options, sizeof(options), "devices=%ld", sim);
	status = load_one(ctx, from, "npu_sim", options, &had_sim);
	if (!status) {
		status = count_devices(sim);
		if (status)
			take_back(ctx, "npu_sim");
	}
	if (status && !had_npu)
		take_back(ctx, "npu");
	return status;
}

static int load(const char *from, long sim)
{
	struct kmod_ctx *ctx = kmod_new(NULL, NULL);
	char *tree = NULL;
	struct firmware_path fw;
	int status;

	if (!ctx)
		return tool_fail("libkmod: out of memory");
	if (!from && !installed(ctx))
		from = tree = built_tree();
	status = firmware_path_set(&fw, from);
	if (!status) {
		status = load_all(ctx, from, sim);
		firmware_path_restore(&fw);
	}
	kmod_unref(ctx);
	free(tree);
	return status;
}

static int run_load(int argc, char **argv)
{
	static const struct option options[] = {
		{"sim", required_argument, NULL, 's'},
		{"from", required_argument, NULL, 'f'},
		{0},
	};
	const char *from = NULL;
	long sim = 0;
	int c;

	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (c == 's' && !tool_number(optarg, 1, MAX_SIM, "--sim", &sim))
			return TOOL_USAGE;
		else if (c == 'f')
			from = optarg;
		else if (c != 's')
			return tool_usage(&tool_load);
	}
	c = tool_operands(&tool_load, argc, argv, 0, 0);
	return c ? c : load(from, sim);
}

/* Users of the driver other than npu_sim: open devices, mostly. */
static int driver_users(struct kmod_ctx *ctx)
{
	struct kmod_list *holders;
	struct kmod_module *mod;
	int users;

	if (kmod_module_new_from_name(ctx, "npu", &mod))
		return 0;
	users = kmod_module_get_refcnt(mod);
	holders = kmod_module_get_holders(mod);
	for (struct kmod_list *l = holders; l; l = kmod_list_next(holders, l))
		users--;
	kmod_module_unref_list(holders);
	kmod_module_unref(mod);
	return users > 0 ? users : 0;
}

static int unload(struct kmod_ctx *ctx)
{
	static const char *const names[] = {"npu_sim", "npu"};
	int users = driver_users(ctx), found = 0;

	if (users)
		return tool_fail(
			"module npu is in use (open devices or buffers: %d); nothing was unloaded",
			users);
	for (int i = 0; i < 2; i++) {
		bool was_there;

		if (remove_one(ctx, names[i], &was_there))
			return TOOL_FAILED;
		found += was_there;
		if (was_there)
			printf("unloaded %s\n", names[i]);
	}
	if (!found)
		puts("nothing is loaded");
	return TOOL_OK;
}

static int run_unload(int argc, char **argv)
{
	static const struct option options[] = {{0}};
	struct kmod_ctx *ctx;
	int status;

	if (getopt_long(argc, argv, "", options, NULL) != -1)
		return tool_usage(&tool_unload);
	status = tool_operands(&tool_unload, argc, argv, 0, 0);
	if (status)
		return status;
	ctx = kmod_new(NULL, NULL);
	if (!ctx)
		return tool_fail("libkmod: out of memory");
	status = unload(ctx);
	kmod_unref(ctx);
	return status;
}

const struct tool_command tool_load = {
	"load",
	"[OPTIONS]",
	"loads the driver, and simulated devices with --sim",
	"      --sim N           makes N simulated devices, 1 to 16\n"
	"      --from FOLDER     takes npu.ko and npu_sim.ko from there\n",
	run_load,
};

const struct tool_command tool_unload = {
	"unload", "[OPTIONS]", "unloads the simulated devices and the driver", "", run_unload,
};
