// SPDX-License-Identifier: MIT
/* npu list, npu info */
#include <stdlib.h>
#include <string.h>

#include <npu/npu.h>

#include "userspace/tools/accel_node.h"
#include "userspace/tools/tool.h"
#include "npu_regs.h"

#define COUNT(array)	(sizeof(array) / sizeof((array)[0]))

struct feature {
	uint64_t bit;
	const char *name;
};

static const struct feature hw_features[] = {
	{NPU_HW_FEATURE_REQUANT, "requant"}, {NPU_HW_FEATURE_PAD_VALUE, "pad-value"},
	{NPU_HW_FEATURE_YIELD, "yield"},     {NPU_HW_FEATURE_VMAC, "vmac"},
	{NPU_HW_FEATURE_LUT, "lut"},
};

static const struct feature fw_features[] = {
	{NPU_FW_FEATURE_SHADOW, "shadow-doorbells"}, {NPU_FW_FEATURE_EVENTS, "events"},
	{NPU_FW_FEATURE_PREEMPT, "preempt"},	     {NPU_FW_FEATURE_TELEMETRY, "telemetry"},
	{NPU_FW_FEATURE_SUSPEND, "suspend"},	     {NPU_FW_FEATURE_PEERS, "peers"},
	{NPU_FW_FEATURE_LOG, "log"},
};

static json_t *feature_list(uint64_t bits, const struct feature *names, size_t n)
{
	json_t *list = json_array();
	char text[24];

	for (unsigned int bit = 0; bit < 64; bit++) {
		const char *name = NULL;

		if (!(bits >> bit & 1))
			continue;
		for (size_t i = 0; i < n; i++)
			if (names[i].bit == 1ull << bit)
				name = names[i].name;
		snprintf(text, sizeof(text), "bit%u", bit);
		json_array_append_new(list, json_string(name ? name : text));
	}
	return list;
}

static void uuid_text(const uint8_t *uuid, char out[37])
{
	for (int i = 0, at = 0; i < 16; i++) {
		at += sprintf(out + at, "%02x", uuid[i]);
		if (i == 3 || i == 5 || i == 7 || i == 9)
			out[at++] = '-';
	}
}

static void version_text(uint32_t v, char out[24])
{
	sprintf(out, "%u.%u.%u", v >> 16, v >> 8 & 0xff, v & 0xff);
}

static int get_info(const char *path, struct npu_device_info *info)
{
	struct npu_device *dev;
	int err = npu_device_open(&dev, path);

	if (err)
		return err;
	err = npu_device_get_info(dev, info, sizeof(*info));
	npu_device_close(dev);
	return err;
}

static json_t *list_entry(const struct npu_device_entry *e)
{
	struct npu_device_info info;
	char uuid[37], fw[24];
	json_t *o = json_object();

	json_object_set_new(o, "path", tool_json_text(e->path));
	json_object_set_new(o, "parent", tool_json_text(e->parent));
	json_object_set_new(o, "driver", tool_json_text(e->driver));
	if (get_info(e->path, &info)) {
		json_object_set_new(o, "error", tool_json_text(npu_error_message()));
		return o;
	}
	uuid_text(info.uuid, uuid);
	version_text(info.fw_version, fw);
	json_object_set_new(o, "uuid", json_string(uuid));
	json_object_set_new(o, "firmware", json_string(fw));
	json_object_set_new(o, "cores", json_integer(info.cores));
	json_object_set_new(o, "resets", json_integer(info.resets));
	return o;
}

static const char *text_of(const json_t *o, const char *key)
{
	const char *s = json_string_value(json_object_get(o, key));

	return s ? s : "-";
}

static void print_entry(const json_t *o)
{
	tool_put(text_of(o, "path"), 21);
	putchar(' ');
	tool_put(text_of(o, "parent"), 18);
	if (json_object_get(o, "error")) {
		printf(" %s", tool_style(stdout, TOOL_RED));
		tool_put(text_of(o, "error"), 0);
		puts(tool_style(stdout, TOOL_PLAIN));
		return;
	}
	printf(" %-8s %5lld %6lld %s\n", text_of(o, "firmware"),
	       (long long)json_integer_value(json_object_get(o, "cores")),
	       (long long)json_integer_value(json_object_get(o, "resets")), text_of(o, "uuid"));
}

static void print_list(json_t *list)
{
	size_t i;
	json_t *o;

	printf("%s%-21s %-18s %-8s %5s %6s %s%s\n", tool_style(stdout, TOOL_BOLD), "DEVICE",
	       "PARENT", "FIRMWARE", "CORES", "RESETS", "UUID", tool_style(stdout, TOOL_PLAIN));
	json_array_foreach(list, i, o) print_entry(o);
}

static int show_list(bool json)
{
	struct npu_device_entry *entries;
	unsigned int count;
	json_t *list;
	int err = accel_find(&entries, &count);

	if (err) {
		free(entries);
		return tool_fail_npu(err, "looking for devices");
	}
	list = json_array();
	for (unsigned int i = 0; i < count; i++)
		json_array_append_new(list, list_entry(&entries[i]));
	free(entries);
	if (json)
		return tool_print_json(list);
	if (count)
		print_list(list);
	else
		puts("no NPU is driven here; \"npu load --sim 1\" makes one");
	json_decref(list);
	return TOOL_OK;
}

static int parse_json(const struct tool_command *c, int argc, char **argv, int operands, bool *json)
{
	static const struct option options[] = {{"json", no_argument, NULL, 'j'}, {0}};
	int opt;

	*json = false;
	while ((opt = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (opt != 'j')
			return tool_usage(c);
		*json = true;
	}
	return tool_operands(c, argc, argv, 0, operands);
}

static int run_list(int argc, char **argv)
{
	bool json;
	int status = parse_json(&tool_list, argc, argv, 0, &json);

	return status ? status : show_list(json);
}

static void set_number(json_t *o, const char *key, uint64_t value)
{
	json_object_set_new(o, key, json_integer((json_int_t)value));
}

static json_t *info_json(const struct npu_device_info *i)
{
	json_t *o = json_object();
	char text[40];

	json_object_set_new(o, "path", tool_json_text(i->path));
	json_object_set_new(o, "backend", tool_json_text(i->backend));
	uuid_text(i->uuid, text);
	json_object_set_new(o, "uuid", json_string(text));
	snprintf(text, sizeof(text), "%04x:%04x", i->device_id >> 16, i->device_id & 0xffff);
	json_object_set_new(o, "device_id", json_string(text));
	set_number(o, "revision", i->revision);
	snprintf(text, sizeof(text), "%u.%u", i->contract >> 16, i->contract & 0xffff);
	json_object_set_new(o, "contract", json_string(text));
	version_text(i->fw_version, text);
	json_object_set_new(o, "firmware", json_string(text));
	set_number(o, "protocol", i->fw_proto);
	set_number(o, "cores", i->cores);
	set_number(o, "clock_khz", i->clock_khz);
	set_number(o, "queue_slots", i->queue_slots);
	set_number(o, "contexts", i->contexts);
	set_number(o, "priorities", i->priorities);
	set_number(o, "max_jobs", i->max_jobs);
	set_number(o, "va_start", i->va_start);
	set_number(o, "va_end", i->va_end);
	set_number(o, "limit_default", i->limit_default);
	set_number(o, "limit_max", i->limit_max);
	set_number(o, "resets", i->resets);
	json_object_set_new(o, "hw_features",
			    feature_list(i->hw_features, hw_features, COUNT(hw_features)));
	json_object_set_new(o, "fw_features",
			    feature_list(i->fw_features, fw_features, COUNT(fw_features)));
	return o;
}

static void print_info(json_t *o)
{
	const char *key;
	json_t *v, *item;
	size_t i;

	json_object_foreach(o, key, v)
	{
		printf("%s%-14s%s", tool_style(stdout, TOOL_BOLD), key,
		       tool_style(stdout, TOOL_PLAIN));
		if (json_is_integer(v)) {
			printf(" %lld", (long long)json_integer_value(v));
		} else if (json_is_string(v)) {
			putchar(' ');
			tool_put(json_string_value(v), 0);
		}
		json_array_foreach(v, i, item) printf(" %s", json_string_value(item));
		putchar('\n');
	}
}

static int run_info(int argc, char **argv)
{
	struct npu_device_info info;
	const char *path;
	bool json;
	json_t *o;
	int err = parse_json(&tool_info, argc, argv, 1, &json);

	if (err)
		return err;
	path = argv[optind];
	err = get_info(path, &info);
	if (err)
		return tool_fail_npu(err, path ? path : "device");
	o = info_json(&info);
	if (json)
		return tool_print_json(o);
	print_info(o);
	json_decref(o);
	return TOOL_OK;
}

const struct tool_command tool_list = {
	"list",
	"[OPTIONS]",
	"lists the NPUs of this machine",
	"      --json            prints JSON\n",
	run_list,
};

const struct tool_command tool_info = {
	"info",
	"[OPTIONS] [DEVICE]",
	"tells what a device is and can do",
	"      --json            prints JSON\n",
	run_info,
};
