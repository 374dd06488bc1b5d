// SPDX-License-Identifier: MIT
#include "userspace/tools/objdump.h"
#include "userspace/tools/tool.h"

/*
 * JSON is put together in memory. Steps may share instructions, so a small file
 * can name very many: beyond this number of lines of code it is refused.
 */
#define MAX_LINES	(1u << 22)

struct dump {
	const struct module_file *m;
	const struct objdump_args *a;
	uint32_t lines;
};

struct uop_list {
	struct dump *d;
	json_t *list;
};

static void set_number(json_t *o, const char *key, uint64_t value)
{
	json_object_set_new(o, key, json_integer((json_int_t)value));
}

static void set_bits(json_t *o, const char *key, uint64_t value)
{
	char text[24];

	snprintf(text, sizeof(text), "0x%llx", (unsigned long long)value);
	json_object_set_new(o, key, json_string(text));
}

static bool room(struct dump *d)
{
	return d->lines <= MAX_LINES && d->lines++ < MAX_LINES;
}

static bool add_uop(void *opaque, uint32_t index, uint32_t word)
{
	struct uop_list *u = opaque;
	char line[64];
	json_t *o;

	if (!room(u->d))
		return false;
	npu_uop_print(word, line, sizeof(line));
	o = json_object();
	set_number(o, "index", index);
	json_object_set_new(o, "text", json_string(line));
	json_array_append_new(u->list, o);
	return true;
}

static json_t *insn_json(struct dump *d, const struct npu_plan_function *f,
			 const struct npu_plan_step *s, uint32_t i)
{
	struct uop_list u = {d, json_array()};
	char line[NPU_INSN_PRINT_MAX];
	struct npu_insn insn;
	json_t *o = json_object();

	module_insn(d->m, s, i, &insn);
	npu_insn_print(&insn, line, sizeof(line));
	json_object_set_new(o, "text", json_string(line));
	if (d->a->uops)
		module_uops(d->m, f, s, &insn, add_uop, &u);
	if (json_array_size(u.list))
		json_object_set(o, "micro_ops", u.list);
	json_decref(u.list);
	return o;
}

static json_t *step_json(struct dump *d, const struct npu_plan_function *f,
			 const struct npu_plan_step *s)
{
	json_t *o = json_object(), *code;

	json_object_set_new(o, "where", json_string(s->kind == NPU_STEP_HOST ? "host" : "npu"));
	json_object_set_new(o, "name", tool_json_text(module_string(d->m, s->name)));
	if (s->kind == NPU_STEP_HOST) {
		set_number(o, "operands", s->count);
		return o;
	}
	set_number(o, "instructions", s->insn_count);
	set_number(o, "useful_macs", s->useful_macs);
	if (!d->a->insns)
		return o;
	code = json_array();
	for (uint32_t i = 0; i < s->insn_count && room(d); i++)
		json_array_append_new(code, insn_json(d, f, s, i));
	json_object_set_new(o, "code", code);
	return o;
}

static json_t *tensors_json(const struct module_file *m, uint32_t first, uint32_t count)
{
	json_t *list = json_array();

	for (uint32_t i = first; i < first + count; i++) {
		const struct npu_plan_tensor *t = &m->tensor[i];
		json_t *o = json_object(), *shape = json_array();
		char type[24];

		for (uint32_t k = 0; k < t->ndim && k < NPU_PLAN_MAX_DIMS; k++)
			json_array_append_new(shape, json_integer((json_int_t)t->shape[k]));
		json_object_set_new(o, "name", tool_json_text(module_string(m, t->name)));
		json_object_set_new(o, "type", json_string(objdump_type(t, type)));
		json_object_set_new(o, "shape", shape);
		json_array_append_new(list, o);
	}
	return list;
}

static json_t *function_json(struct dump *d, const struct npu_plan_function *f)
{
	json_t *o = json_object(), *steps = json_array();

	json_object_set_new(o, "name", tool_json_text(module_string(d->m, f->name)));
	json_object_set_new(o, "batched", json_boolean(f->flags & NPU_FUNCTION_BATCHED));
	set_number(o, "useful_macs", f->useful_macs);
	json_object_set_new(o, "inputs", tensors_json(d->m, f->first_tensor, f->inputs));
	json_object_set_new(o, "outputs",
			    tensors_json(d->m, f->first_tensor + f->inputs, f->outputs));
	for (uint32_t i = 0; i < f->steps && d->lines < MAX_LINES; i++)
		json_array_append_new(steps, step_json(d, f, &d->m->step[f->first_step + i]));
	json_object_set_new(o, "steps", steps);
	return o;
}

static json_t *head_json(const struct module_file *m)
{
	json_t *o = json_object();
	char contract[16];

	set_number(o, "version", m->desc.version);
	json_object_set_new(o, "kind", json_string(module_kind(m)));
	if (m->desc.kind == NPU_MODULE_NPU) {
		snprintf(contract, sizeof(contract), "%u.%u", m->desc.contract >> 16,
			 m->desc.contract & 0xffff);
		json_object_set_new(o, "contract", json_string(contract));
		set_bits(o, "config0", m->desc.config0);
		set_bits(o, "config1", m->desc.config1);
		set_bits(o, "features", m->desc.hw_features);
	}
	set_number(o, "instructions", m->insn.size / NPU_INSN_BYTES);
	set_number(o, "constant_bytes", m->constants.size);
	return o;
}

int objdump_json(const struct module_file *m, const struct objdump_args *a)
{
	struct dump d = {m, a, 0};
	json_t *o = head_json(m), *list = json_array(), *compiler;

	for (uint32_t i = 0; i < m->h.functions.count; i++)
		json_array_append_new(list, function_json(&d, &m->function[i]));
	json_object_set_new(o, "functions", list);
	if (d.lines >= MAX_LINES) {
		json_decref(o);
		return tool_fail("%s: %u lines of code and more are too many for JSON", a->path,
				 MAX_LINES);
	}
	/* The compiler's report is free text to the format. */
	compiler =
		m->info.size ? json_loadb((const char *)m->info.data, m->info.size, 0, NULL) : NULL;
	json_object_set_new(o, "compiler", compiler ? compiler : json_null());
	return tool_print_json(o);
}
