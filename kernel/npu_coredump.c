// SPDX-License-Identifier: GPL-2.0-only
/*
 * A dump of the device's state, for who has to explain a hang.
 *
 * State is captured while the device is being reset, on the path that signals
 * fences: into memory that was allocated before. Instructions are read from their
 * buffers later, by a work of its own, since that takes locks which are held
 * by those who wait for the reset. Then the dump goes to the kernel's devcoredump.
 */
#include <linux/devcoredump.h>
#include <linux/elf.h>
#include <linux/slab.h>
#include <linux/timekeeping.h>
#include <linux/utsname.h>
#include <linux/vmalloc.h>
#include <drm/drm_drv.h>
#include <drm/drm_managed.h>

#include "npu_client.h"
#include "npu_coredump.h"
#include "npu_fwlog.h"
#include "npu_queue.h"

#define NPU_DUMP_NOTES_SIZE	SZ_256K
#define NPU_DUMP_QUEUE_JOBS	64
#define NPU_DUMP_LAST_ENTRIES	32

/* The HOST block, undefined words included: they read 0. */
#define NPU_DUMP_HOST_WORDS	(0x140 / 4)

/* Pieces of code, and the instructions of each. */
#define NPU_DUMP_CODES		8
#define NPU_DUMP_CODE_INSNS	512
#define NPU_DUMP_FAULT_INSNS	64u
#define NPU_INSN_SIZE		16

enum npu_dump_stage {
	NPU_DUMP_IDLE,
	NPU_DUMP_CAPTURED,
	NPU_DUMP_READY,
};

/**
 * struct npu_dump_code - instructions that are to be read
 * @client_id: whose
 * @context: its context
 * @va: first address
 * @size: bytes; less once they have been read and were not all there
 */
struct npu_dump_code {
	u64 client_id;
	u32 context;
	u64 va;
	u32 size;
};

/**
 * struct npu_dump - a dump that is being made
 * @ndev: device
 * @work: reads instructions and gives the dump away
 * @stage: enum npu_dump_stage. The rest is of who holds the device's lists_lock,
 *	and of @work while this is NPU_DUMP_READY
 * @device: first of the notes
 * @notes: notes
 * @used: bytes of @notes
 * @codes: what @work reads
 * @code_count: number of @codes
 */
struct npu_dump {
	struct npu_device *ndev;
	struct work_struct work;
	atomic_t stage;
	struct npu_dump_device *device;
	void *notes;
	size_t used;
	struct npu_dump_code codes[NPU_DUMP_CODES];
	u32 code_count;
};

/* Room for a note; NULL, and said so in the dump, if there is none. */
static void *npu_dump_note(struct npu_dump *dump, enum npu_dump_note type, size_t size)
{
	struct elf64_note *head = dump->notes + dump->used;
	size_t total = sizeof(*head) + sizeof(NPU_DUMP_NOTE_NAME) + ALIGN(size, 4);

	BUILD_BUG_ON(sizeof(NPU_DUMP_NOTE_NAME) != 4);
	if (NPU_DUMP_NOTES_SIZE - dump->used < total) {
		dump->device->flags |= NPU_DUMP_TRUNCATED;
		return NULL;
	}
	dump->used += total;
	memset(head, 0, total);
	head->n_namesz = sizeof(NPU_DUMP_NOTE_NAME);
	head->n_descsz = size;
	head->n_type = type;
	memcpy(head + 1, NPU_DUMP_NOTE_NAME, sizeof(NPU_DUMP_NOTE_NAME));
	return (void *)(head + 1) + sizeof(NPU_DUMP_NOTE_NAME);
}

static void npu_dump_device(struct npu_dump *dump, struct npu_queue *guilty,
			    enum npu_dump_reason reason)
{
	struct npu_device *ndev = dump->ndev;
	const struct npu_dev_info *info = &ndev->info;
	struct npu_dump_device *out = npu_dump_note(dump, NPU_DUMP_DEVICE, sizeof(*out));

	*out = (struct npu_dump_device) {
		.time_ns = ktime_get_real_ns(),
		.resets = ndev->resets,
		.reason = reason,
		.guilty = guilty ? guilty->desc.queue : 0,
		.contract = info->contract,
		.device_id = info->device,
		.revision = info->revision,
		.fw_version = ndev->fw_version,
		.fw_features = ndev->fw_features,
		.fw_proto = ndev->fw_proto,
		.cores = info->cores,
		.queue_slots = info->queues,
		.contexts = info->contexts - 1,
		.clock_khz = info->clock_khz,
		.patience_ms = npu_device_patience(ndev),
	};
	memcpy(out->uuid, info->uuid, sizeof(out->uuid));
	memcpy(out->fw_build, ndev->fw.build_id, sizeof(out->fw_build));
	strscpy(out->name, dev_name(ndev->drm.dev), sizeof(out->name));
	strscpy(out->kernel, init_utsname()->release, sizeof(out->kernel));
	dump->device = out;
}

static void npu_dump_registers(struct npu_dump *dump)
{
	struct npu_dump_register *out;
	u32 i;

	out = npu_dump_note(dump, NPU_DUMP_REGISTERS, sizeof(*out) * NPU_DUMP_HOST_WORDS);
	for (i = 0; out && i < NPU_DUMP_HOST_WORDS; i++) {
		out[i].offset = i * sizeof(u32);
		out[i].value = npu_device_read(dump->ndev, out[i].offset);
	}
}

static void npu_dump_add_code(struct npu_dump *dump, const struct npu_queue *queue, u64 va,
			      u64 size)
{
	if (dump->code_count == NPU_DUMP_CODES || !size)
		return;
	dump->codes[dump->code_count++] = (struct npu_dump_code) {
		.client_id = queue->client_id,
		.context = queue->desc.context,
		.va = va,
		.size = min_t(u64, size, NPU_DUMP_CODE_INSNS * NPU_INSN_SIZE),
	};
}

static void npu_dump_fill_queue(struct npu_dump_queue *out, struct npu_queue *queue)
{
	const struct npu_sq *sq = &queue->sq;
	const struct npu_cqe *failure = &queue->failure;

	*out = (struct npu_dump_queue) {
		.client_id = queue->client_id,
		.limit = queue->desc.limit,
		.submitted = queue->stats.submitted,
		.done = queue->stats.done,
		.failed = queue->stats.failed,
		.cycles = queue->stats.cycles,
		.progress = npu_sq_progress(sq),
		.idle_ms = jiffies_to_msecs(jiffies - queue->seen_at),
		.failed_job = queue->failed_job,
		.failed_insn_va = queue->failed_insn_va,
		.fault_va = failure->fault_va,
		.slot = queue->desc.queue,
		.context = queue->desc.context,
		.priority = queue->desc.priority,
		.cq = queue->desc.cq,
		.core_mask = queue->desc.core_mask,
		.tail = sq->tail,
		.told = sq->published,
		.outstanding = sq->outstanding,
		.size = sq->size,
		.fault_insn = failure->insn,
		.failed_insn_count = queue->failed_insn_count,
		.pid = queue->pid,
		.failed_status = failure->status,
		.fault_code = failure->fault_code,
		.fault_unit = failure->fault_unit,
		.fault_access = failure->fault_access,
		.fault_core = failure->core,
	};
	out->flags = (queue->banned ? NPU_DUMP_QUEUE_BANNED : 0) |
		     (queue->broken ? NPU_DUMP_QUEUE_BROKEN : 0);
	if (sq->shadow) {
		out->flags |= NPU_DUMP_QUEUE_SHADOW;
		out->event_idx = READ_ONCE(sq->shadow->event_idx);
		out->sq_head = READ_ONCE(sq->shadow->sq_head);
	}
	memcpy(out->comm, queue->comm, sizeof(out->comm));
}

static void npu_dump_fill_job(struct npu_dump_job *out, const struct npu_flight *flight)
{
	const struct drm_npu_job *job = &flight->submission->jobs[flight->index];

	*out = (struct npu_dump_job) {
		.job = flight->submission->first + flight->index,
		.insn_va = job->insn_va,
		.region_va = job->region_va,
		.limit = job->limit,
		.report_va = job->report_va,
		.insn_count = job->insn_count,
		.region_count = job->region_count,
		.cmd_id = flight->cmd_id,
		.position = flight->position,
	};
}

/* The oldest first, since that is what may have started. */
static void npu_dump_jobs(struct npu_dump *dump, struct npu_queue *queue, bool suspect)
{
	u32 count = min_t(u32, queue->sq.outstanding, NPU_DUMP_QUEUE_JOBS);
	struct npu_flight *flight = NULL;
	struct npu_dump_job *out;
	u32 i;

	out = count ? npu_dump_note(dump, NPU_DUMP_JOBS, sizeof(*out) * count) : NULL;
	for (i = 0; out && i < count; i++) {
		flight = npu_queue_flight_after(queue, flight);
		if (!flight)
			break;
		npu_dump_fill_job(&out[i], flight);
		if (suspect && i < hweight32(queue->desc.core_mask))
			npu_dump_add_code(dump, queue, out[i].insn_va,
					  (u64)out[i].insn_count * NPU_INSN_SIZE);
	}
}

/* The instruction that failed, and those around it. */
static void npu_dump_failed_code(struct npu_dump *dump, const struct npu_queue *queue)
{
	u32 count = queue->failed_insn_count;
	u32 from, to;

	if (!count)
		return;
	from = min(queue->failure.insn, count - 1);
	to = min(from + NPU_DUMP_FAULT_INSNS, count);
	from -= min(from, NPU_DUMP_FAULT_INSNS);
	npu_dump_add_code(dump, queue, queue->failed_insn_va + (u64)from * NPU_INSN_SIZE,
			  (u64)(to - from) * NPU_INSN_SIZE);
}

static void npu_dump_queue(struct npu_dump *dump, struct npu_queue *queue,
			   struct npu_queue *guilty)
{
	bool suspect = !guilty || queue == guilty;
	struct npu_dump_queue *out = npu_dump_note(dump, NPU_DUMP_QUEUE, sizeof(*out));

	if (!out)
		return;
	spin_lock_irq(&queue->lock);
	if (queue->mem.cpu) {
		npu_dump_fill_queue(out, queue);
		if (queue == guilty)
			out->flags |= NPU_DUMP_QUEUE_GUILTY;
		npu_dump_jobs(dump, queue, suspect);
		if (suspect)
			npu_dump_failed_code(dump, queue);
	}
	spin_unlock_irq(&queue->lock);
}

/* The last entries of a ring that has @head entries taken or written so far. */
static void npu_dump_entries(struct npu_dump *dump, enum npu_dump_note type, u32 ring,
			     const void *entries, u32 size, u32 head)
{
	u32 count = min3(head, size, (u32)NPU_DUMP_LAST_ENTRIES);
	struct npu_dump_ring *out;
	u32 i;

	out = npu_dump_note(dump, type, sizeof(*out) + count * sizeof(struct npu_cqe));
	if (!out)
		return;
	*out = (struct npu_dump_ring) { .ring = ring, .head = head, .count = count };
	for (i = 0; i < count; i++)
		memcpy((void *)(out + 1) + i * sizeof(struct npu_cqe),
		       entries + ((head - count + i) & (size - 1)) * sizeof(struct npu_cqe),
		       sizeof(struct npu_cqe));
}

static void npu_dump_rings(struct npu_dump *dump)
{
	struct npu_device *ndev = dump->ndev;
	void *events;
	u32 i;

	BUILD_BUG_ON(sizeof(struct npu_admin_sqe) != sizeof(struct npu_cqe));
	for (i = 0; i < ndev->cq_count; i++) {
		struct npu_cq_ring *ring = &ndev->cqs[i];

		spin_lock_irq(&ring->lock);
		if (ring->cq.head)
			npu_dump_entries(dump, NPU_DUMP_COMPLETIONS, ring->index,
					 ring->cq.entries, ring->cq.size, ring->cq.head);
		spin_unlock_irq(&ring->lock);
	}
	spin_lock_irq(&ndev->admin_lock);
	npu_dump_entries(dump, NPU_DUMP_ADMIN, 0, ndev->admin.sq.entries, ndev->admin.sq.size,
			 ndev->admin.sq.tail);
	events = npu_dump_note(dump, NPU_DUMP_EVENTS, ndev->event_mem.size);
	if (events)
		memcpy(events, ndev->event_mem.cpu, ndev->event_mem.size);
	spin_unlock_irq(&ndev->admin_lock);
}

/*
 * The device is about to be reset, and its lists are locked. What makes the dump
 * readable comes first, queues last, since there may be many.
 */
void npu_coredump_capture(struct npu_device *ndev, struct npu_queue *guilty,
			  enum npu_dump_reason reason)
{
	struct npu_dump *dump = ndev->dump;
	struct npu_queue *queue;

	lockdep_assert_held(&ndev->lists_lock);
	if (atomic_cmpxchg(&dump->stage, NPU_DUMP_IDLE, NPU_DUMP_CAPTURED) != NPU_DUMP_IDLE)
		return;
	dump->used = 0;
	dump->code_count = 0;
	npu_dump_device(dump, guilty, reason);
	npu_dump_registers(dump);
	npu_dump_rings(dump);
	if (guilty)
		npu_dump_queue(dump, guilty, guilty);
	list_for_each_entry(queue, &ndev->queues, link)
		if (queue != guilty)
			npu_dump_queue(dump, queue, guilty);
}

/* The device was reset, and firmware is not loaded yet. */
void npu_coredump_salvage(struct npu_device *ndev)
{
	struct npu_dump *dump = ndev->dump;
	void *log;

	/* Of a reset that came while an older dump was being made nothing is kept. */
	if (atomic_cmpxchg(&dump->stage, NPU_DUMP_CAPTURED, NPU_DUMP_READY) != NPU_DUMP_CAPTURED)
		return;
	log = npu_dump_note(dump, NPU_DUMP_LOG, NPU_FWLOG_BYTES);
	if (log)
		npu_fwlog_salvage(ndev, log);
}

/* The reset is over. */
void npu_coredump_finish(struct npu_device *ndev)
{
	if (atomic_read(&ndev->dump->stage) == NPU_DUMP_READY)
		queue_work(system_unbound_wq, &ndev->dump->work);
}

static void npu_dump_header(struct npu_dump *dump, struct elf64_hdr *head, u32 segments)
{
	*head = (struct elf64_hdr) {
		.e_type = ET_CORE,
		.e_machine = EM_NONE,
		.e_version = EV_CURRENT,
		.e_phoff = sizeof(*head),
		.e_ehsize = sizeof(*head),
		.e_phentsize = sizeof(struct elf64_phdr),
		.e_phnum = segments,
	};
	memcpy(head->e_ident, ELFMAG, SELFMAG);
	head->e_ident[EI_CLASS] = ELFCLASS64;
	head->e_ident[EI_DATA] = ELFDATA2LSB;
	head->e_ident[EI_VERSION] = EV_CURRENT;
}

static size_t npu_dump_read_code(struct npu_dump *dump, struct npu_dump_code *code, void *to)
{
	struct npu_device *ndev = dump->ndev;
	struct npu_client *client;
	size_t got = 0;

	mutex_lock(&ndev->clients_lock);
	list_for_each_entry(client, &ndev->clients, link)
		if (client->id == code->client_id)
			got = npu_vm_peek(&client->vm, code->va, to, code->size);
	mutex_unlock(&ndev->clients_lock);
	return got;
}

/* Everything in one piece, for the kernel to keep; what of @size was used. */
static size_t npu_dump_assemble(struct npu_dump *dump, void *file)
{
	struct elf64_phdr *segment = file + sizeof(struct elf64_hdr);
	size_t at = sizeof(struct elf64_hdr) + (1 + dump->code_count) * sizeof(*segment);
	u32 i;

	npu_dump_header(dump, file, 1 + dump->code_count);
	*segment++ = (struct elf64_phdr) {
		.p_type = PT_NOTE,
		.p_offset = at,
		.p_filesz = dump->used,
		.p_align = 4,
	};
	memcpy(file + at, dump->notes, dump->used);
	at += dump->used;
	for (i = 0; i < dump->code_count; i++) {
		struct npu_dump_code *code = &dump->codes[i];
		size_t got = npu_dump_read_code(dump, code, file + at);

		*segment++ = (struct elf64_phdr) {
			.p_type = PT_LOAD,
			.p_flags = PF_R | PF_X,
			.p_offset = at,
			.p_vaddr = code->va,
			.p_paddr = code->context,
			.p_filesz = got,
			.p_memsz = code->size,
			.p_align = NPU_INSN_SIZE,
		};
		at += got;
	}
	return at;
}

static size_t npu_dump_size(const struct npu_dump *dump)
{
	size_t size = sizeof(struct elf64_hdr) + dump->used +
		      (1 + dump->code_count) * sizeof(struct elf64_phdr);
	u32 i;

	for (i = 0; i < dump->code_count; i++)
		size += dump->codes[i].size;
	return size;
}

static void npu_dump_work(struct work_struct *work)
{
	struct npu_dump *dump = container_of(work, struct npu_dump, work);
	struct npu_device *ndev = dump->ndev;
	void *file;
	int idx;

	if (atomic_read(&dump->stage) != NPU_DUMP_READY)
		return;
	file = vzalloc(npu_dump_size(dump));
	if (file && drm_dev_enter(&ndev->drm, &idx)) {
		size_t size = npu_dump_assemble(dump, file);

		/* Takes the memory; keeps an older dump, if there is one, and not this. */
		dev_coredumpv(ndev->hw->dev, file, size, GFP_KERNEL);
		file = NULL;
		drm_dev_exit(idx);
		drm_info(&ndev->drm, "the state before the reset is in /sys/class/devcoredump (npu coredump reads it)\n");
	}
	vfree(file);
	atomic_set(&dump->stage, NPU_DUMP_IDLE);
}

static void npu_dump_free_notes(struct drm_device *drm, void *notes)
{
	vfree(notes);
}

int npu_coredump_init(struct npu_device *ndev)
{
	struct npu_dump *dump = drmm_kzalloc(&ndev->drm, sizeof(*dump), GFP_KERNEL);

	if (!dump)
		return -ENOMEM;
	dump->notes = vmalloc(NPU_DUMP_NOTES_SIZE);
	if (!dump->notes)
		return -ENOMEM;
	dump->ndev = ndev;
	INIT_WORK(&dump->work, npu_dump_work);
	ndev->dump = dump;
	return drmm_add_action_or_reset(&ndev->drm, npu_dump_free_notes, dump->notes);
}

/* The device is unplugged: no reset comes any more. */
void npu_coredump_stop(struct npu_device *ndev)
{
	cancel_work_sync(&ndev->dump->work);
}
