// SPDX-License-Identifier: MIT
/* npu list, npu info */
#include <stdio.h>
#include <string.h>

#include <npu/npu.h>

#include "userspace/tools/tool.h"
#include "npu_regs.h"

#define MAX_DEVICES	64

static const struct {
	uint64_t bit;
	const char *name;
} hw_features[] = {
	{ NPU_HW_FEATURE_REQUANT, "requant" }, { NPU_HW_FEATURE_PAD_VALUE, "pad-value" },
	{ NPU_HW_FEATURE_YIELD, "yield" }, { NPU_HW_FEATURE_VMAC, "vmac" }, { NPU_HW_FEATURE_LUT, "lut" },
}, fw_features[] = {
	{ NPU_FW_FEATURE_SHADOW, "shadow-doorbells" }, { NPU_FW_FEATURE_EVENTS, "events" },
	{ NPU_FW_FEATURE_PREEMPT, "preempt" }, { NPU_FW_FEATURE_TELEMETRY, "telemetry" },
	{ NPU_FW_FEATURE_SUSPEND, "suspend" }, { NPU_FW_FEATURE_PEERS, "peers" },
};

static json_t *feature_list(uint64_t hw, uint32_t fw)
{
	json_t *list = json_array();

	for (size_t i = 0; i < sizeof(hw_features) / sizeof(hw_features[0]); i++)
		if (hw & hw_features[i].bit)
			json_array_append_new(list, json_string(hw_features[i].name));
	for (size_t i = 0; i < sizeof(fw_features) / sizeof(fw_features[0]); i++)
		if (fw & fw_features[i].bit)
			json_array_append_new(list, json_string(fw_features[i].name));
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
	json_t *o = json_pack("{s:s, s:s, s:s}", "path", e->path, "parent", e->parent, "driver", e->driver);

	if (get_info(e->path, &info)) {
		json_object_set_new(o, "error", json_string(npu_error_message()));
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

static void print_list(json_t *list)
{
	size_t i;
	json_t *o;

	printf("%-22s %-14s %-8s %-9s %5s %6s  %s\n", "DEVICE", "PARENT", "DRIVER", "FIRMWARE", "CORES", "RESETS",
	       "UUID");
	json_array_foreach(list, i, o) {
		if (json_object_get(o, "error"))
			printf("%-22s %-14s %-8s %s\n", text_of(o, "path"), text_of(o, "parent"),
			       text_of(o, "driver"), text_of(o, "error"));
		else
			printf("%-22s %-14s %-8s %-9s %5lld %6lld  %s\n", text_of(o, "path"), text_of(o, "parent"),
			       text_of(o, "driver"), text_of(o, "firmware"),
			       (long long)json_integer_value(json_object_get(o, "cores")),
			       (long long)json_integer_value(json_object_get(o, "resets")), text_of(o, "uuid"));
	}
}

static int run_list(int argc, char **argv)
{
	struct npu_device_entry entry[MAX_DEVICES];
	unsigned int count;
	json_t *list;
	bool json = argc == 2 && !strcmp(argv[1], "--json");
	int err;

	if (argc > 1 + json)
		return tool_usage(&tool_list);
	err = npu_device_list(entry, MAX_DEVICES, &count);
	if (err)
		return tool_fail_npu(err, "looking for devices");
	list = json_array();
	for (unsigned int i = 0; i < count && i < MAX_DEVICES; i++)
		json_array_append_new(list, list_entry(&entry[i]));
	if (json)
		return tool_print_json(list);
	if (count)
		print_list(list);
	else
		puts("no NPU is driven here; \"npu load --sim 1\" makes one, NPU_DEVICE=sim needs none");
	json_decref(list);
	return TOOL_OK;
}

static json_t *info_json(const struct npu_device_info *i)
{
	char uuid[37], fw[24];

	uuid_text(i->uuid, uuid);
	version_text(i->fw_version, fw);
	return json_pack("{s:s, s:s, s:s, s:i, s:i, s:s, s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:I, s:I, s:I, s:o}",
			 "path", i->path, "backend", i->backend, "uuid", uuid, "contract_major", i->contract >> 16,
			 "contract_minor", i->contract & 0xffff, "firmware", fw, "protocol", i->fw_proto, "revision",
			 i->revision, "cores", i->cores, "queue_slots", i->queue_slots, "contexts", i->contexts,
			 "clock_khz", i->clock_khz, "priorities", i->priorities, "limit_default",
			 (json_int_t)i->limit_default, "limit_max", (json_int_t)i->limit_max, "resets",
			 (json_int_t)i->resets, "features", feature_list(i->hw_features, i->fw_features));
}

static void print_info(json_t *o)
{
	const char *key;
	json_t *v, *item;
	size_t i;

	json_object_foreach(o, key, v) {
		printf("%-16s", key);
		if (json_is_string(v))
			printf(" %s", json_string_value(v));
		else if (json_is_integer(v))
			printf(" %lld", (long long)json_integer_value(v));
		else
			json_array_foreach(v, i, item)
				printf(" %s", json_string_value(item));
		putchar('\n');
	}
}

static int run_info(int argc, char **argv)
{
	struct npu_device_info info;
	const char *path = NULL;
	bool json = false;
	json_t *o;
	int err;

	for (int i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "--json"))
			json = true;
		else if (argv[i][0] == '-' || path)
			return tool_usage(&tool_info);
		else
			path = argv[i];
	}
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
	"list", "[--json]", "lists the NPUs of this machine", run_list,
};

const struct tool_command tool_info = {
	"info", "[--json] [DEVICE]", "tells what a device is and can do", run_info,
};
