// SPDX-License-Identifier: MIT
/* A dump for machines: all of it. */
#include <stdlib.h>

#include "firmware/host/npu_host.h"
#include "userspace/isa/npu_insn.h"
#include "userspace/tools/coredump_file.h"
#include "userspace/tools/tool.h"

static void set_number(json_t *o, const char *key, uint64_t value)
{
	json_object_set_new(o, key, json_integer((json_int_t)value));
}

static json_t *device_json(const struct dump_file *dump)
{
	const struct npu_dump_device *d = &dump->device;
	json_t *o = json_object();
	char text[24];

	json_object_set_new(o, "name", tool_json_text(d->name));
	json_object_set_new(o, "kernel", tool_json_text(d->kernel));
	snprintf(text, sizeof(text), "%u.%u.%u", d->fw_version >> 16, d->fw_version >> 8 & 0xff,
		 d->fw_version & 0xff);
	json_object_set_new(o, "firmware", json_string(text));
	set_number(o, "time_ns", d->time_ns);
	set_number(o, "resets", d->resets);
	set_number(o, "guilty", d->guilty);
	set_number(o, "cores", d->cores);
	set_number(o, "clock_khz", d->clock_khz);
	set_number(o, "patience_ms", d->patience_ms);
	json_object_set_new(o, "truncated", json_boolean(d->flags & NPU_DUMP_TRUNCATED));
	return o;
}

static json_t *job_json(const struct npu_dump_job *j)
{
	json_t *o = json_object();

	set_number(o, "job", j->job);
	set_number(o, "cmd_id", j->cmd_id);
	set_number(o, "insn_va", j->insn_va);
	set_number(o, "insn_count", j->insn_count);
	set_number(o, "region_va", j->region_va);
	set_number(o, "region_count", j->region_count);
	set_number(o, "limit", j->limit);
	set_number(o, "report_va", j->report_va);
	return o;
}

static json_t *failure_json(const struct npu_dump_queue *q)
{
	json_t *o = json_object();

	set_number(o, "job", q->failed_job);
	json_object_set_new(o, "status", json_string(npu_job_status_name(q->failed_status)));
	json_object_set_new(o, "fault", json_string(npu_fault_name(q->fault_code)));
	json_object_set_new(o, "unit", json_string(npu_unit_name(q->fault_unit)));
	json_object_set_new(o, "access", json_string(npu_access_name(q->fault_access)));
	set_number(o, "va", q->fault_va);
	set_number(o, "insn", q->fault_insn);
	set_number(o, "core", q->fault_core);
	return o;
}

static json_t *queue_json(const struct dump_queue *queue)
{
	const struct npu_dump_queue *q = &queue->q;
	json_t *o = json_object(), *jobs = json_array();

	set_number(o, "slot", q->slot);
	set_number(o, "client_id", q->client_id);
	set_number(o, "pid", q->pid);
	json_object_set_new(o, "comm", tool_json_text(q->comm));
	set_number(o, "context", q->context);
	set_number(o, "priority", q->priority);
	json_object_set_new(o, "guilty", json_boolean(q->flags & NPU_DUMP_QUEUE_GUILTY));
	json_object_set_new(o, "banned", json_boolean(q->flags & NPU_DUMP_QUEUE_BANNED));
	json_object_set_new(o, "broken", json_boolean(q->flags & NPU_DUMP_QUEUE_BROKEN));
	set_number(o, "jobs_submitted", q->submitted);
	set_number(o, "jobs_done", q->done);
	set_number(o, "jobs_failed", q->failed);
	set_number(o, "cycles", q->cycles);
	set_number(o, "outstanding", q->outstanding);
	set_number(o, "tail", q->tail);
	set_number(o, "sq_head", q->sq_head);
	set_number(o, "progress", q->progress);
	set_number(o, "idle_ms", q->idle_ms);
	if (q->failed_job)
		json_object_set_new(o, "failure", failure_json(q));
	for (size_t i = 0; i < queue->job_count; i++)
		json_array_append_new(jobs, job_json(&queue->jobs[i]));
	json_object_set_new(o, "jobs", jobs);
	return o;
}

static json_t *code_json(const struct dump_code *code)
{
	json_t *o = json_object(), *list = json_array();
	char line[NPU_INSN_PRINT_MAX];
	struct npu_insn insn;

	set_number(o, "context", code->context);
	set_number(o, "va", code->va);
	for (uint64_t i = 0; i < code->size / NPU_INSN_BYTES; i++) {
		npu_insn_decode(code->words + i * NPU_INSN_BYTES, &insn);
		npu_insn_print(&insn, line, sizeof(line));
		json_array_append_new(list, json_string(line));
	}
	json_object_set_new(o, "instructions", list);
	return o;
}

static void append_completions(json_t *list, const struct dump_ring *ring)
{
	for (uint32_t i = 0; i < ring->head.count; i++) {
		const struct npu_cqe *e = &ring->entries[i];
		json_t *o = json_object();

		set_number(o, "ring", ring->head.ring);
		set_number(o, "queue", e->queue);
		set_number(o, "cmd_id", e->cmd_id);
		json_object_set_new(o, "status", json_string(npu_job_status_name(e->status)));
		set_number(o, "cycles", e->cycles);
		json_array_append_new(list, o);
	}
}

static json_t *log_json(const struct npu_log_entry *e)
{
	json_t *o = json_object();

	set_number(o, "sequence", e->sequence);
	set_number(o, "tick", e->tick);
	json_object_set_new(o, "what", json_string(npu_log_name(e->what)));
	set_number(o, "code", e->code);
	set_number(o, "queue", e->queue);
	set_number(o, "arg0", e->arg0);
	set_number(o, "arg1", e->arg1);
	return o;
}

static json_t *registers_json(const struct dump_file *dump)
{
#define REGISTER(name, offset, ...) {offset, #name},
	static const struct {
		uint32_t offset;
		const char *name;
	} names[] = {NPU_HOST_REGS(REGISTER)};
	json_t *o = json_object();
	uint32_t value;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (dump_register(dump, names[i].offset, &value))
			set_number(o, names[i].name, value);
	return o;
}

json_t *dump_json(const struct dump_file *dump)
{
	json_t *o = json_object(), *queues = json_array(), *codes = json_array();
	json_t *ended = json_array(), *log = json_array();

	for (size_t i = 0; i < dump->queue_count; i++)
		json_array_append_new(queues, queue_json(&dump->queues[i]));
	for (size_t i = 0; i < dump->code_count; i++)
		json_array_append_new(codes, code_json(&dump->codes[i]));
	for (size_t i = 0; i < dump->ring_count; i++)
		append_completions(ended, &dump->rings[i]);
	for (size_t i = 0; i < dump->log_count; i++)
		json_array_append_new(log, log_json(&dump->log[i]));
	json_object_set_new(o, "reason", json_string(dump_reason(dump)));
	json_object_set_new(o, "device", device_json(dump));
	json_object_set_new(o, "registers", registers_json(dump));
	json_object_set_new(o, "queues", queues);
	json_object_set_new(o, "code", codes);
	json_object_set_new(o, "completions", ended);
	json_object_set_new(o, "firmware_log", log);
	return o;
}
