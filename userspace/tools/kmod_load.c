// SPDX-License-Identifier: MIT
/* npu load, npu unload: the kernel modules, installed or from a built tree */
#include <errno.h>
#include <libkmod.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "userspace/tools/tool.h"

#define MAX_SIM	16

static const char *reason(int err)
{
	switch (-err) {
	case ENOENT:
		return "no such module; give its folder with --from";
	case ENOEXEC:
		return "built for another kernel; dmesg says more";
	case EKEYREJECTED:
		return "the kernel wants a signature by a key it knows (Secure Boot); enrol the key with mokutil";
	case EPERM:
		return "loading modules needs root (CAP_SYS_MODULE)";
	case ENODEV:
		return "the module found no device; dmesg says more";
	case EBUSY:
	case EAGAIN:
		return "in use";
	default:
		return strerror(-err);
	}
}

static int insert(struct kmod_ctx *ctx, struct kmod_module *mod, const char *options);

/* Modules that @mod says it needs, by name, and those in its folder by their path. */
static int insert_needed(struct kmod_ctx *ctx, struct kmod_module *mod)
{
	struct kmod_list *info = NULL, *l;
	char depends[512] = "";
	int err = kmod_module_get_info(mod, &info);

	if (err < 0)
		return err;
	kmod_list_foreach(l, info)
		if (!strcmp(kmod_module_info_get_key(l), "depends"))
			snprintf(depends, sizeof(depends), "%s", kmod_module_info_get_value(l));
	kmod_module_info_free_list(info);
	err = 0;
	for (char *save, *name = strtok_r(depends, ",", &save); name && !err; name = strtok_r(NULL, ",", &save)) {
		struct kmod_module *need;

		err = kmod_module_new_from_name(ctx, name, &need);
		if (err)
			break;
		/* npu.ko lies beside npu_sim.ko, or was inserted before. */
		if (kmod_module_get_initstate(need) < 0)
			err = kmod_module_probe_insert_module(need, KMOD_PROBE_IGNORE_LOADED, NULL, NULL, NULL, NULL);
		if (err)
			tool_fail("module %s: %s", name, reason(err));
		kmod_module_unref(need);
	}
	return err;
}

static int insert(struct kmod_ctx *ctx, struct kmod_module *mod, const char *options)
{
	int err = 0;

	if (kmod_module_get_path(mod)) {
		err = insert_needed(ctx, mod);
		if (!err)
			err = kmod_module_insert_module(mod, 0, options);
		return err == -EEXIST ? 0 : err;
	}
	return kmod_module_probe_insert_module(mod, KMOD_PROBE_IGNORE_LOADED, options, NULL, NULL, NULL);
}

static int load_one(struct kmod_ctx *ctx, const char *from, const char *name, const char *options)
{
	struct kmod_module *mod;
	char path[4096];
	int err;

	if (from) {
		snprintf(path, sizeof(path), "%s/%s.ko", from, name);
		err = kmod_module_new_from_path(ctx, path, &mod);
	} else {
		err = kmod_module_new_from_name(ctx, name, &mod);
	}
	if (err)
		return tool_fail("module %s: %s", from ? path : name, reason(err));
	if (kmod_module_get_initstate(mod) >= 0) {
		kmod_module_unref(mod);
		return options ? tool_fail("module %s is loaded already; \"npu unload\" first", name) : TOOL_OK;
	}
	err = insert(ctx, mod, options);
	kmod_module_unref(mod);
	if (err)
		return tool_fail("module %s: %s", from ? path : name, reason(err));
	printf("loaded %s%s%s\n", name, options ? " " : "", options ? options : "");
	return TOOL_OK;
}

/* The folder of a built tree: where npu.ko lies, from the program's place upwards. */
static char *built_tree(void)
{
	char self[4096], path[4200];
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

static int run_load(int argc, char **argv)
{
	char *from = NULL, *tree = NULL, options[32] = "";
	struct kmod_ctx *ctx;
	long sim = 0;
	int status;

	for (int i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "--sim") && i + 1 < argc) {
			if (!tool_number(argv[++i], 1, MAX_SIM, "--sim", &sim))
				return TOOL_USAGE;
		} else if (!strcmp(argv[i], "--from") && i + 1 < argc) {
			from = argv[++i];
		} else {
			return tool_usage(&tool_load);
		}
	}
	ctx = kmod_new(NULL, NULL);
	if (!ctx)
		return tool_fail("libkmod: out of memory");
	if (!from && !installed(ctx))
		from = tree = built_tree();
	status = load_one(ctx, from, "npu", NULL);
	if (!status && sim) {
		snprintf(options, sizeof(options), "devices=%ld", sim);
		status = load_one(ctx, from, "npu_sim", options);
	}
	kmod_unref(ctx);
	free(tree);
	return status;
}

static int unload_one(struct kmod_ctx *ctx, const char *name)
{
	struct kmod_module *mod;
	int err = kmod_module_new_from_name(ctx, name, &mod);

	if (err)
		return tool_fail("module %s: %s", name, reason(err));
	if (kmod_module_get_initstate(mod) < 0) {
		kmod_module_unref(mod);
		return TOOL_OK;
	}
	err = kmod_module_remove_module(mod, 0);
	kmod_module_unref(mod);
	if (err)
		return tool_fail("module %s: %s", name, reason(err));
	printf("unloaded %s\n", name);
	return TOOL_OK;
}

static int run_unload(int argc, char **argv)
{
	struct kmod_ctx *ctx;
	int status;

	(void)argv;
	if (argc > 1)
		return tool_usage(&tool_unload);
	ctx = kmod_new(NULL, NULL);
	if (!ctx)
		return tool_fail("libkmod: out of memory");
	status = unload_one(ctx, "npu_sim");
	if (!status)
		status = unload_one(ctx, "npu");
	kmod_unref(ctx);
	return status;
}

const struct tool_command tool_load = {
	"load", "[--sim N] [--from FOLDER]",
	"loads the driver, and simulated devices with --sim", run_load,
};

const struct tool_command tool_unload = {
	"unload", "", "unloads the simulated devices and the driver", run_unload,
};
