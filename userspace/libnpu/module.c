// SPDX-License-Identifier: MIT
/* Modules: loading, lookup, imports. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "npu_regs.h"
#include "userspace/libnpu/module.h"
#include "userspace/libnpu/sim.h"

#define MAX_FILE	(1ull << 32)

/* ---- loading ---- */

static int check_device(const struct npu_module_note *note, const struct npu_device *dev)
{
	const struct npu_device_info *info;
	uint64_t missing;

	if (note->kind == NPU_MODULE_HOST)
		return 0;
	if (!dev)
		return npu_fail(-ENODEV, "a module of kind npu needs a device");
	info = &dev->info;
	if (note->contract >> 16 != info->contract >> 16)
		return npu_fail(-ENOTSUP, "module: major version of the contract: expected %u, found %u",
				info->contract >> 16, note->contract >> 16);
	if (note->config0 != info->config0 || note->config1 != info->config1)
		return npu_fail(-ENOTSUP, "module: device configuration: expected %#x %#x, found %#x %#x",
				info->config0, info->config1, note->config0, note->config1);
	missing = note->hw_features & ~info->hw_features;
	if (missing)
		return npu_fail(-ENOTSUP, "module: needs features %#llx, of which the device lacks %#llx",
				(unsigned long long)note->hw_features,
				(unsigned long long)missing);
	return 0;
}

static int upload(struct npu_device *dev, const struct npu_section *section, uint32_t flags,
		  struct npu_buffer **out)
{
	int ret;

	if (!section->size)
		return 0;
	ret = npu_buffer_alloc(dev, section->size, NPU_BUFFER_READ_ONLY | flags, out);
	if (!ret)
		memcpy(npu_buffer_data(*out), section->data, section->size);
	return ret;
}

static int keep_constants(struct npu_module *module, const struct npu_section *section)
{
	int ret;

	if (module->kind == NPU_MODULE_NPU) {
		ret = upload(module->dev, section, 0, &module->constants);
		if (!ret && module->constants)
			module->host_constants = npu_buffer_data(module->constants);
		return ret;
	}
	if (!section->size)
		return 0;
	module->host_constants = aligned_alloc(NPU_MODULE_ALIGN,
					       (section->size + NPU_MODULE_ALIGN - 1) /
					       NPU_MODULE_ALIGN * NPU_MODULE_ALIGN);
	if (!module->host_constants)
		return npu_fail(-ENOMEM, "out of memory for %zu bytes of constants", section->size);
	memcpy(module->host_constants, section->data, section->size);
	return 0;
}

static int keep_info(struct npu_module *module, const struct npu_section *section)
{
	module->info = calloc(1, section->size + 1);
	if (!module->info)
		return npu_fail(-ENOMEM, "out of memory for a module");
	if (section->size)
		memcpy(module->info, section->data, section->size);
	return 0;
}

static int init_functions(struct npu_module *module)
{
	uint32_t count = module->plan.header->functions.count;
	uint32_t i;
	int ret = 0;

	module->functions = calloc(count, sizeof(*module->functions));
	if (!module->functions)
		return npu_fail(-ENOMEM, "out of memory for %u functions", count);
	for (i = 0; !ret && i < count; i++)
		ret = npu_function_init(&module->functions[i], module,
					&module->plan.functions[i]);
	return ret;
}

static int fill(struct npu_module *module, const struct npu_sections *file)
{
	int ret;

	ret = npu_plan_read(file, &module->plan);
	if (!ret)
		ret = check_device(&file->note, module->dev);
	if (!ret)
		ret = keep_info(module, &file->info);
	if (!ret)
		ret = keep_constants(module, &file->constants);
	if (!ret && module->kind == NPU_MODULE_NPU)
		ret = upload(module->dev, &file->insn, NPU_BUFFER_EXECUTE, &module->insn);
	if (!ret && module->kind == NPU_MODULE_NPU)
		ret = npu_stream_create(module->dev, NULL, &module->stream);
	if (!ret)
		ret = init_functions(module);
	return ret;
}

int npu_module_load_memory(struct npu_device *dev, const void *data, size_t size,
			   struct npu_module **out)
{
	struct npu_sections file;
	struct npu_module *module;
	int ret;

	if (npu_null(data) || npu_null(out))
		return -EINVAL;
	ret = npu_sections_find(data, size, &file);
	if (ret)
		return ret;
	module = calloc(1, sizeof(*module));
	if (!module)
		return npu_fail(-ENOMEM, "out of memory for a module");
	pthread_mutex_init(&module->lock, NULL);
	module->kind = file.note.kind;
	module->dev = dev ? npu_device_get(dev) : NULL;
	ret = fill(module, &file);
	if (ret) {
		npu_module_free(module);
		return ret;
	}
	*out = module;
	return 0;
}

int npu_module_load(struct npu_device *dev, const char *path, struct npu_module **out)
{
	void *data;
	size_t size;
	int ret;

	if (npu_null(path) || npu_null(out))
		return -EINVAL;
	ret = npu_read_file(path, MAX_FILE, &data, &size);
	if (ret)
		return npu_fail(ret, "module %s: %s", path, npu_read_error(ret));
	ret = npu_module_load_memory(dev, data, size, out);
	if (ret)
		npu_fail(ret, "%s: %s", path, npu_error_message());
	free(data);
	return ret;
}

void npu_module_free(struct npu_module *module)
{
	uint32_t i;

	if (!module)
		return;
	/* The stream goes first: nothing runs in the memory that is freed then. */
	npu_stream_destroy(module->stream);
	for (i = 0; module->functions && i < module->plan.header->functions.count; i++)
		npu_function_fini(&module->functions[i]);
	free(module->functions);
	npu_buffer_free(module->insn);
	if (!module->constants)
		free(module->host_constants);
	npu_buffer_free(module->constants);
	npu_plan_free(&module->plan);
	free(module->info);
	free(module->imports);
	npu_device_close(module->dev);
	pthread_mutex_destroy(&module->lock);
	free(module);
}

/* ---- questions ---- */

const char *npu_module_kind(const struct npu_module *module)
{
	if (npu_null(module))
		return "";
	return module->kind == NPU_MODULE_NPU ? "npu" : "host";
}

const char *npu_module_info(const struct npu_module *module)
{
	return npu_null(module) ? "" : module->info;
}

unsigned int npu_module_function_count(const struct npu_module *module)
{
	if (npu_null(module))
		return 0;
	return module->plan.header->functions.count;
}

static const char *name_of(const struct npu_module *module, unsigned int index)
{
	return module->plan.strings + module->plan.functions[index].name;
}

const char *npu_module_function_name(const struct npu_module *module, unsigned int index)
{
	return index < npu_module_function_count(module) ? name_of(module, index) : NULL;
}

static struct npu_function *find_own(struct npu_module *module, const char *name)
{
	unsigned int i;

	for (i = 0; i < npu_module_function_count(module); i++)
		if (!strcmp(name_of(module, i), name))
			return &module->functions[i];
	return NULL;
}

/*
 * Imports form no circle, and a lock is taken while that of an importer is held
 * only, so this ends and does not deadlock.
 */
static struct npu_function *find(struct npu_module *module, const char *name)
{
	struct npu_function *function = find_own(module, name);
	unsigned int i;

	if (function)
		return function;
	pthread_mutex_lock(&module->lock);
	for (i = 0; !function && i < module->import_count; i++)
		function = find(module->imports[i], name);
	pthread_mutex_unlock(&module->lock);
	return function;
}

int npu_module_get_function(struct npu_module *module, const char *name,
			    struct npu_function **out)
{
	struct npu_function *function;

	if (npu_null(module) || npu_null(name) || npu_null(out))
		return -EINVAL;
	function = find(module, name);
	if (!function)
		return npu_fail(-ENOENT, "no function \"%s\" in the module: it has %u, the first is \"%s\"",
				name, npu_module_function_count(module), name_of(module, 0));
	*out = function;
	return 0;
}

/* ---- imports ---- */

static bool reaches(struct npu_module *from, const struct npu_module *to)
{
	bool found = from == to;
	unsigned int i;

	if (found)
		return true;
	pthread_mutex_lock(&from->lock);
	for (i = 0; !found && i < from->import_count; i++)
		found = reaches(from->imports[i], to);
	pthread_mutex_unlock(&from->lock);
	return found;
}

/* One at a time, so that two threads cannot close a circle together. */
static pthread_mutex_t import_lock = PTHREAD_MUTEX_INITIALIZER;

static int import(struct npu_module *module, struct npu_module *other)
{
	struct npu_module **more;
	int ret = 0;

	if (reaches(other, module))
		return npu_fail(-ELOOP, "a module cannot import one that finds functions in it");
	pthread_mutex_lock(&module->lock);
	more = reallocarray(module->imports, module->import_count + 1, sizeof(*more));
	if (more) {
		module->imports = more;
		more[module->import_count++] = other;
	} else {
		ret = npu_fail(-ENOMEM, "out of memory for an import");
	}
	pthread_mutex_unlock(&module->lock);
	return ret;
}

int npu_module_import(struct npu_module *module, struct npu_module *other)
{
	int ret;

	if (npu_null(module) || npu_null(other))
		return -EINVAL;
	pthread_mutex_lock(&import_lock);
	ret = import(module, other);
	pthread_mutex_unlock(&import_lock);
	return ret;
}
