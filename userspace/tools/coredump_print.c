// SPDX-License-Identifier: MIT
/* A dump for people and for machines: who, what, where, and what to do. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "firmware/host/npu_host.h"
#include "userspace/isa/npu_insn.h"
#include "userspace/tools/coredump_file.h"
#include "userspace/tools/tool.h"

#define SHOWN_INSNS	16
#define SHOWN_JOBS	8
#define SHOWN_LAST	8
#define SHOWN_LOG	12

static void head(const char *text)
{
	printf("\n%s%s%s\n", tool_style(stdout, TOOL_BOLD), text, tool_style(stdout, TOOL_PLAIN));
}

static void print_device(const struct dump_file *dump)
{
	const struct npu_dump_device *d = &dump->device;
	time_t seconds = (time_t)(d->time_ns / 1000000000);
	char when[64] = "";
	struct tm tm;

	if (localtime_r(&seconds, &tm))
		strftime(when, sizeof(when), "%F %T %z", &tm);
	printf("%sdevice%s ", tool_style(stdout, TOOL_BOLD), tool_style(stdout, TOOL_PLAIN));
	tool_put(d->name, 0);
	printf(", %s, kernel ", when);
	tool_put(d->kernel, 0);
	printf("\n       firmware %u.%u.%u, protocol %u, %u cores, %u.%u MHz, resets before: %" PRIu64 "\n",
	       d->fw_version >> 16, d->fw_version >> 8 & 0xff, d->fw_version & 0xff, d->fw_proto,
	       d->cores, d->clock_khz / 1000, d->clock_khz % 1000 / 100, (uint64_t)d->resets);
	if (d->flags & NPU_DUMP_TRUNCATED)
		puts("       the dump is not complete: there was no room for all of it");
}

static const struct dump_queue *guilty_queue(const struct dump_file *dump)
{
	for (size_t i = 0; i < dump->queue_count; i++)
		if (dump->queues[i].q.flags & NPU_DUMP_QUEUE_GUILTY)
			return &dump->queues[i];
	return NULL;
}

static void print_who(const struct npu_dump_queue *q)
{
	printf("queue %u (priority %u, context %u) of ", q->slot, q->priority, q->context);
	tool_put(*q->comm ? q->comm : "?", 0);
	printf(", process %u, client %" PRIu64, q->pid, (uint64_t)q->client_id);
}

static void print_happened(const struct dump_file *dump, const struct dump_queue *guilty)
{
	const struct npu_dump_device *d = &dump->device;

	head("What happened");
	switch (d->reason) {
	case NPU_DUMP_HANG:
		printf("Neither the firmware's heartbeat nor the queue's progress moved for %u ms, and ending\n"
		       "the job and resetting the context did not help: the driver reset the device.\n",
		       d->patience_ms);
		break;
	case NPU_DUMP_COMMAND:
		printf("The firmware did not answer an operation within %u ms, or refused one that it may\n"
		       "not refuse: the driver reset the device.\n", d->patience_ms);
		break;
	default:
		puts("Somebody asked for a reset of the device.");
		break;
	}
	if (!guilty) {
		puts("Which queue is to blame is not known; none was banned.");
		return;
	}
	printf("%s", tool_style(stdout, TOOL_RED));
	print_who(&guilty->q);
	printf("%s had the device, and is banned.\n", tool_style(stdout, TOOL_PLAIN));
}

static void print_firmware(const struct dump_file *dump)
{
	uint32_t state, error, status, heartbeat;

	if (!dump_register(dump, NPU_HOST_BOOT_STATE, &state) ||
	    !dump_register(dump, NPU_HOST_BOOT_ERROR, &error) ||
	    !dump_register(dump, NPU_HOST_CP_STATUS, &status) ||
	    !dump_register(dump, NPU_HOST_HEARTBEAT, &heartbeat))
		return;
	head("Firmware, before the reset");
	if (state == ~0u) {
		puts("every register read all ones: the device was gone");
		return;
	}
	printf("state %s, heartbeat %u, processor %s%s%s\n", npu_boot_state_name(state), heartbeat,
	       status & NPU_HOST_CP_STATUS_RUNNING_MASK ? "running" : "not running",
	       status & NPU_HOST_CP_STATUS_WFI_MASK ? ", waiting for an interrupt" : "",
	       status & NPU_HOST_CP_STATUS_HALTED_MASK ? ", HALTED by a trap" : "");
	if (error)
		printf("error %s, detail %#x\n", npu_boot_error_name(error & 0xff), error >> 8);
}

static void print_insn(const struct dump_code *code, uint32_t i, uint64_t first, uint64_t marked)
{
	char line[NPU_INSN_PRINT_MAX];
	struct npu_insn insn;
	bool mark = first + i == marked;

	npu_insn_decode(code->words + (size_t)i * NPU_INSN_BYTES, &insn);
	npu_insn_print(&insn, line, sizeof(line));
	printf("  %s%s %6" PRIu64 "  %#" PRIx64 "  %s%s\n", mark ? tool_style(stdout, TOOL_RED) : "",
	       mark ? "->" : "  ", first + i, code->va + (uint64_t)i * NPU_INSN_BYTES, line,
	       mark ? tool_style(stdout, TOOL_PLAIN) : "");
}

/* Instructions of the job that begins at @va, around number @marked of it. */
static void print_code(const struct dump_file *dump, uint32_t context, uint64_t va,
		       uint32_t count, uint64_t marked)
{
	for (size_t c = 0; c < dump->code_count; c++) {
		const struct dump_code *code = &dump->codes[c];
		uint64_t here = code->size / NPU_INSN_BYTES, first, from = 0;

		if (code->context != context || code->va < va || (code->va - va) % NPU_INSN_BYTES)
			continue;
		first = (code->va - va) / NPU_INSN_BYTES;
		if (first >= count || (marked != ~0ull && (marked < first || marked >= first + here)))
			continue;
		if (marked != ~0ull && marked - first > SHOWN_INSNS / 2)
			from = marked - first - SHOWN_INSNS / 2;
		for (uint64_t i = from; i < here && i < from + SHOWN_INSNS; i++)
			print_insn(code, (uint32_t)i, first, marked);
		if (first + from + SHOWN_INSNS < count)
			printf("     ... of %u instructions\n", count);
		return;
	}
	puts("     (the instructions could not be read)");
}

static void print_jobs(const struct dump_file *dump, const struct dump_queue *queue)
{
	for (size_t i = 0; i < queue->job_count && i < SHOWN_JOBS; i++) {
		const struct npu_dump_job *j = &queue->jobs[i];

		printf("job %" PRIu64 " (cmd_id %#x): %u instructions at %#" PRIx64 ", limit %" PRIu64 "%s\n",
		       (uint64_t)j->job, j->cmd_id, j->insn_count, (uint64_t)j->insn_va,
		       (uint64_t)(j->limit ? j->limit : queue->q.limit),
		       i ? "" : "; the oldest: it may have been running");
		if (!i && j->insn_count)
			print_code(dump, queue->q.context, j->insn_va, j->insn_count, ~0ull);
	}
	if (queue->q.outstanding > SHOWN_JOBS)
		printf("... %u jobs in all\n", queue->q.outstanding);
}

static void print_fault(const struct dump_file *dump, const struct npu_dump_queue *q)
{
	if (!q->failed_job)
		return;
	printf("The last job that failed before was %" PRIu64 ": %s", (uint64_t)q->failed_job,
	       npu_job_status_name(q->failed_status));
	if (q->fault_code)
		printf(", %s at %#" PRIx64 " (%s by %s, core %u)", npu_fault_name(q->fault_code),
		       (uint64_t)q->fault_va, npu_access_name(q->fault_access),
		       npu_unit_name(q->fault_unit), q->fault_core);
	printf(", instruction %u\n", q->fault_insn);
	if (q->failed_insn_count)
		print_code(dump, q->context, q->failed_insn_va, q->failed_insn_count,
			   q->fault_insn);
}

static void print_queues(const struct dump_file *dump)
{
	head("Queues");
	puts("SLOT CLIENT      PID PROCESS         PRIO CTX  JOBS UNDER WAY  DONE FAILED IDLE ms");
	for (size_t i = 0; i < dump->queue_count; i++) {
		const struct npu_dump_queue *q = &dump->queues[i].q;

		printf("%4u %6" PRIu64 " %8u ", q->slot, (uint64_t)q->client_id, q->pid);
		tool_put(*q->comm ? q->comm : "?", 15);
		printf(" %4u %3u %5u of %-6u %5" PRIu64 " %6" PRIu64 " %7" PRIu64 "%s%s%s\n",
		       q->priority, q->context, q->outstanding, q->size, (uint64_t)q->done,
		       (uint64_t)q->failed, (uint64_t)q->idle_ms,
		       q->flags & NPU_DUMP_QUEUE_GUILTY ? " guilty" : "",
		       q->flags & NPU_DUMP_QUEUE_BANNED ? " banned" : "",
		       q->flags & NPU_DUMP_QUEUE_BROKEN ? " broken" : "");
	}
}

static void print_last(const struct dump_file *dump)
{
	if (!dump->ring_count)
		return;
	head("Jobs that ended last");
	for (size_t r = 0; r < dump->ring_count; r++) {
		const struct dump_ring *ring = &dump->rings[r];
		uint32_t from = ring->head.count > SHOWN_LAST ? ring->head.count - SHOWN_LAST : 0;

		for (uint32_t i = from; i < ring->head.count; i++) {
			const struct npu_cqe *e = &ring->entries[i];

			printf("queue %u cmd_id %#x: %s, %" PRIu64 " cycles, core %u\n", e->queue,
			       e->cmd_id, npu_job_status_name(e->status), (uint64_t)e->cycles,
			       e->core);
		}
	}
}

static void print_log(const struct dump_file *dump)
{
	size_t from = dump->log_count > SHOWN_LOG ? dump->log_count - SHOWN_LOG : 0;

	head("The firmware's log");
	for (size_t i = from; i < dump->log_count; i++) {
		const struct npu_log_entry *e = &dump->log[i];

		printf("%12" PRIu64 " %s", (uint64_t)e->tick, npu_log_name(e->what));
		if (e->what == NPU_LOG_ADMIN)
			printf(" %s: %s", npu_admin_op_name(e->code), npu_admin_status_name(e->arg0));
		else if (e->what == NPU_LOG_JOB)
			printf(" cmd_id %#x: %s", e->arg0, npu_job_status_name(e->code));
		else if (e->what == NPU_LOG_RING_FAULT)
			printf(" %s at %#" PRIx64, npu_fault_name(e->code), (uint64_t)e->arg1);
		else
			printf(" %#x", e->arg0);
		if (e->queue)
			printf(", queue %u", e->queue);
		putchar('\n');
	}
}

static void print_advice(const struct dump_file *dump, const struct dump_queue *guilty)
{
	uint32_t status = 0;

	head("What to do");
	dump_register(dump, NPU_HOST_CP_STATUS, &status);
	if (status & NPU_HOST_CP_STATUS_HALTED_MASK || dump->device.reason == NPU_DUMP_COMMAND)
		puts("The firmware was lost. Report it with this file, firmware and kernel version.");
	else if (guilty)
		puts("The device stood still in a job, which no stream of instructions may bring about: report it\n"
		     "with this file. The process may go on with a new queue; other clients go on by themselves.");
	else if (dump->device.reason == NPU_DUMP_HANG)
		puts("The device stood still, and it is not known in whose job: report it with this file.");
	else
		puts("Nothing: this reset was asked for. Jobs that had started ended with ECANCELED, others ran.");
	puts("If resets come again and again, \"npu account\" tells who was there, and npu/health of the\n"
	     "device in sysfs whether it could be brought back.");
}

void dump_print(const struct dump_file *dump)
{
	const struct dump_queue *guilty = guilty_queue(dump);

	print_device(dump);
	print_happened(dump, guilty);
	print_firmware(dump);
	for (size_t i = 0; i < dump->queue_count; i++) {
		const struct dump_queue *queue = &dump->queues[i];

		if ((guilty && queue != guilty) || (!queue->job_count && !queue->q.failed_job))
			continue;
		putchar('\n');
		print_who(&queue->q);
		putchar('\n');
		print_jobs(dump, queue);
		print_fault(dump, &queue->q);
	}
	print_queues(dump);
	print_last(dump);
	print_log(dump);
	print_advice(dump, guilty);
}
