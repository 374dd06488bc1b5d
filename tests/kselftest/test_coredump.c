// SPDX-License-Identifier: GPL-2.0-only
/* The dump that a reset leaves. */
#include <dirent.h>
#include <elf.h>
#include <sys/mount.h>
#include <drm/npu_coredump.h>

#include "tests/kselftest/npu_harness.h"

#define DEVICE		"npu_sim.npu.0"
#define DRIVER		"/sys/bus/auxiliary/drivers/npu/"
#define DEBUGFS		"/sys/kernel/debug"
#define DEBUGFS_RESET	DEBUGFS "/accel/" DEVICE "/reset"
#define CLASS		"/sys/class/devcoredump"
#define CODE_VA		TEST_VA
#define DATA_VA		(TEST_VA + 0x10000)

FIXTURE(coredump)
{
	int fd;
	uint32_t queue;
	uint8_t *code;
	struct drm_npu_job spin;
	char dump[1 << 20];
	int size;
};

/* The path of the dump's data; false if there is none. */
static bool dump_path(char *path, size_t size)
{
	DIR *dir = opendir(CLASS);
	struct dirent *entry;
	bool found = false;

	while (dir && (entry = readdir(dir)))
		if (!strncmp(entry->d_name, "devcd", 5)) {
			snprintf(path, size, CLASS "/%s/data", entry->d_name);
			found = true;
		}
	if (dir)
		closedir(dir);
	return found;
}

/* The kernel takes dumps away later than it says. */
static void forget(void)
{
	char path[512];

	while (dump_path(path, sizeof(path))) {
		test_write_file(path, "1");
		usleep(1000);
	}
}

/* A work of its own makes the dump. */
static int read_dump(char *dump, size_t size)
{
	char path[512];

	while (!dump_path(path, sizeof(path)))
		usleep(1000);
	return test_read_file(path, dump, size);
}

FIXTURE_SETUP(coredump)
{
	mount("debugfs", DEBUGFS, "debugfs", 0, NULL);
	forget();
	self->fd = test_open(0);
	ASSERT_GE(self->fd, 0);
	ASSERT_EQ(0, test_queue_create(self->fd, 1, 0, &self->queue));
	self->code = test_buffer(self->fd, CODE_VA, 2 * TEST_PAGE, TEST_RWX, NULL);
	ASSERT_NE(MAP_FAILED, self->code);
	self->spin = (struct drm_npu_job) { .insn_va = CODE_VA };
	self->spin.insn_count = test_spin_program(self->code);
}

FIXTURE_TEARDOWN(coredump)
{
	close(self->fd);
	forget();
}

static const Elf64_Phdr *segment(const char *dump, unsigned int index)
{
	const Elf64_Ehdr *head = (const void *)dump;

	return index < head->e_phnum ? (const void *)(dump + head->e_phoff +
						      index * sizeof(Elf64_Phdr)) : NULL;
}

/* The data of the note with that type that comes @skip after the first. */
static const void *note(const char *dump, uint32_t type, unsigned int skip, uint32_t *size)
{
	const Elf64_Phdr *notes = segment(dump, 0);
	const char *at = dump + notes->p_offset, *end = at + notes->p_filesz;

	while (at < end) {
		const Elf64_Nhdr *head = (const void *)at;

		at += sizeof(*head) + head->n_namesz;
		if (head->n_type == type && !skip--) {
			*size = head->n_descsz;
			return at;
		}
		at += (head->n_descsz + 3) & ~3u;
	}
	return NULL;
}

TEST_F(coredump, tells_of_the_job_that_ran)
{
	const struct npu_dump_device *device;
	const struct npu_dump_queue *queue;
	const struct npu_dump_job *job;
	const Elf64_Phdr *code;
	uint32_t sync, size;

	ASSERT_EQ(0, test_syncobj_create(self->fd, &sync));
	ASSERT_EQ(0, test_submit(self->fd, self->queue, &self->spin, 1, sync));
	test_wait_until_it_runs(self->fd);
	ASSERT_EQ(0, test_write_file(DEBUGFS_RESET, "1"));
	self->size = read_dump(self->dump, sizeof(self->dump));
	ASSERT_LT((int)sizeof(Elf64_Ehdr), self->size);
	ASSERT_EQ(0, memcmp(self->dump, ELFMAG, SELFMAG));
	ASSERT_EQ(PT_NOTE, segment(self->dump, 0)->p_type);

	device = note(self->dump, NPU_DUMP_DEVICE, 0, &size);
	ASSERT_NE(NULL, device);
	EXPECT_EQ(sizeof(*device), size);
	EXPECT_EQ(NPU_DUMP_REQUEST, device->reason);
	EXPECT_EQ(0, device->guilty);
	EXPECT_STREQ(DEVICE, device->name);
	queue = note(self->dump, NPU_DUMP_QUEUE, 0, &size);
	ASSERT_NE(NULL, queue);
	EXPECT_EQ(getpid(), queue->pid);
	EXPECT_STREQ("test_coredump", queue->comm);
	EXPECT_EQ(1, queue->outstanding);
	EXPECT_LT(0, queue->progress);
	job = note(self->dump, NPU_DUMP_JOBS, 0, &size);
	ASSERT_NE(NULL, job);
	EXPECT_EQ(sizeof(*job), size);
	EXPECT_EQ(1, job->job);
	EXPECT_EQ(CODE_VA, job->insn_va);
	EXPECT_EQ(self->spin.insn_count, job->insn_count);
	code = segment(self->dump, 1);
	ASSERT_NE(NULL, code);
	EXPECT_EQ(CODE_VA, code->p_vaddr);
	ASSERT_EQ(self->spin.insn_count * NPU_INSN_BYTES, code->p_filesz);
	EXPECT_EQ(0, memcmp(self->dump + code->p_offset, self->code, code->p_filesz));
	EXPECT_EQ(-ECANCELED, test_syncobj_status(self->fd, sync));
}

/* The log is read out of the reset device. */
TEST_F(coredump, has_the_log_of_the_firmware)
{
	const struct npu_log_entry *log;
	uint32_t size, i, boots = 0;

	ASSERT_EQ(0, test_write_file(DEBUGFS_RESET, "1"));
	self->size = read_dump(self->dump, sizeof(self->dump));
	ASSERT_LT((int)sizeof(Elf64_Ehdr), self->size);
	log = note(self->dump, NPU_DUMP_LOG, 0, &size);
	ASSERT_NE(NULL, log);
	ASSERT_EQ(NPU_LOG_ENTRIES * sizeof(*log), size);
	for (i = 0; i < NPU_LOG_ENTRIES; i++)
		boots += log[i].what == NPU_LOG_ADMIN && log[i].code == NPU_ADMIN_QUEUE_CREATE;
	EXPECT_LT(0, boots);
}

/* Around the fault, where the job is longer than what is kept. */
TEST_F(coredump, has_the_instructions_around_a_fault)
{
	struct drm_npu_job job = { .insn_va = CODE_VA };
	struct test_program program = { .words = self->code };
	const struct npu_dump_queue *queue;
	const Elf64_Phdr *code;
	uint32_t size, i, insn;

	for (i = 0; i < 200; i++)
		test_program_gemm(&program, 1);
	insn = program.count;
	test_program_load(&program, NPU_MEM_ACC, 0, DATA_VA / NPU_ACC_BYTES, 1);
	for (i = 0; i < 200; i++)
		test_program_gemm(&program, 1);
	test_program_finish(&program, false);
	job.insn_count = program.count;
	ASSERT_EQ(-EFAULT, test_run(self->fd, self->queue, &job));
	ASSERT_EQ(0, test_write_file(DEBUGFS_RESET, "1"));
	self->size = read_dump(self->dump, sizeof(self->dump));
	ASSERT_LT((int)sizeof(Elf64_Ehdr), self->size);
	queue = note(self->dump, NPU_DUMP_QUEUE, 0, &size);
	ASSERT_NE(NULL, queue);
	EXPECT_EQ(NPU_FAULT_UNMAPPED, queue->fault_code);
	EXPECT_EQ(insn, queue->fault_insn);
	EXPECT_EQ(1, queue->failed_job);
	code = segment(self->dump, 1);
	ASSERT_NE(NULL, code);
	EXPECT_EQ(CODE_VA + (insn - 64) * NPU_INSN_BYTES, code->p_vaddr);
	ASSERT_EQ(128 * NPU_INSN_BYTES, code->p_filesz);
	EXPECT_EQ(0, memcmp(self->dump + code->p_offset,
			    self->code + (insn - 64) * NPU_INSN_BYTES, code->p_filesz));
}

TEST_F(coredump, instructions_that_are_gone_are_left_out)
{
	const Elf64_Phdr *code;

	ASSERT_EQ(0, test_submit(self->fd, self->queue, &self->spin, 1, 0));
	test_wait_until_it_runs(self->fd);
	ASSERT_EQ(0, test_unbind(self->fd, CODE_VA, 2 * TEST_PAGE));
	ASSERT_EQ(0, test_write_file(DEBUGFS_RESET, "1"));
	self->size = read_dump(self->dump, sizeof(self->dump));
	ASSERT_LT((int)sizeof(Elf64_Ehdr), self->size);
	code = segment(self->dump, 1);
	ASSERT_NE(NULL, code);
	EXPECT_EQ(0, code->p_filesz);
	EXPECT_EQ(2 * NPU_INSN_BYTES, code->p_memsz);
}

TEST_F(coredump, resets_and_unbinds_in_a_row)
{
	int round;

	for (round = 0; round < 20; round++)
		ASSERT_EQ(0, test_write_file(DEBUGFS_RESET, "1"));
	for (round = 0; round < 5; round++) {
		ASSERT_EQ(0, test_write_file(DEBUGFS_RESET, "1"));
		ASSERT_EQ(0, test_write_file(DRIVER "unbind", DEVICE));
		ASSERT_EQ(0, test_write_file(DRIVER "bind", DEVICE));
	}
	/* It outlives the binding that it is of. */
	self->size = read_dump(self->dump, sizeof(self->dump));
	EXPECT_LT((int)sizeof(Elf64_Ehdr), self->size);
}

TEST_HARNESS_MAIN
