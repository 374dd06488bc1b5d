// SPDX-License-Identifier: GPL-2.0-only
/* Operations on files, buffers, address spaces and queues. */
#include <dirent.h>
#include <signal.h>
#include <sys/wait.h>

#include "tests/fuzz/fuzz.h"
#include "tests/kselftest/npu_test.h"

#define SYSFS_DEVICES	"/sys/bus/auxiliary/devices"
#define DEBUGFS_ACCEL	"/sys/kernel/debug/accel"
#define DEVICES		2
#define CHILD_OPS	20

static struct fuzz_file *any_file(struct fuzz_thread *thread)
{
	return &thread->process->files[fuzz_below(thread, FUZZ_FILES)];
}

static uint32_t *any_handle(struct fuzz_thread *thread, struct fuzz_file *file)
{
	return &file->handles[fuzz_below(thread, FUZZ_HANDLES)];
}

static uint32_t *any_queue(struct fuzz_thread *thread, struct fuzz_file *file)
{
	return &file->queues[fuzz_below(thread, FUZZ_QUEUES)];
}

static uint8_t *any_memory(struct fuzz_thread *thread)
{
	return thread->process->memory + (size_t)fuzz_below(thread, FUZZ_SLOTS) * FUZZ_SLOT_BYTES;
}

/* The number of a node changes while somebody holds the last one open. */
int fuzz_open(struct fuzz_thread *thread)
{
	char path[80];
	struct dirent *entry;
	unsigned int index;
	int fd = -ENOENT;
	DIR *dir;

	snprintf(path, sizeof(path), SYSFS_DEVICES "/npu_sim.npu.%u/accel",
		 fuzz_below(thread, DEVICES));
	dir = opendir(path);
	while (dir && fd < 0 && (entry = readdir(dir)))
		if (sscanf(entry->d_name, "accel%u", &index) == 1)
			fd = test_open(index);
	if (dir)
		closedir(dir);
	return fd;
}

/* Programs for the device, or what looks like some. */
static void write_programs(struct fuzz_thread *thread, uint8_t *words)
{
	uint64_t from = FUZZ_VA(fuzz_below(thread, 4)) + 64 * fuzz_below(thread, 256);
	uint64_t to = FUZZ_VA(fuzz_below(thread, 4)) + 64 * fuzz_below(thread, 256);
	struct test_program program = { .words = words + 1024 };

	test_copy_program(words, from, to, 1 + fuzz_below(thread, 16));
	test_program_gemm(&program, 1 + fuzz_below(thread, 100000));
	test_program_yield(&program);
	test_program_finish(&program, false);
	test_spin_program(words + 2048);
}

static void scribble(struct fuzz_thread *thread, uint8_t *words)
{
	uint32_t count = 1 + fuzz_below(thread, 64);

	while (count--)
		words[fuzz_below(thread, TEST_PAGE)] = fuzz_random(thread);
}

/* Memory may be unmapped by another thread at any time. */
static int write_memory(struct fuzz_thread *thread)
{
	uint8_t *words = any_memory(thread);

	if (sigsetjmp(fuzz_escape, 1)) {
		fuzz_may_escape = false;
		return -EFAULT;
	}
	fuzz_may_escape = true;
	if (fuzz_one_in(thread, 3))
		scribble(thread, words);
	else
		write_programs(thread, words);
	fuzz_may_escape = false;
	return 0;
}

static int bo_create(struct fuzz_thread *thread)
{
	struct fuzz_file *file = any_file(thread);
	uint32_t *handle = any_handle(thread, file);
	struct drm_npu_bo_create args = {
		.size = fuzz_one_in(thread, 8) ? 2u << 20 : (1 + fuzz_below(thread, 16)) * TEST_PAGE,
		.flags = fuzz_one_in(thread, 4),
	};
	int ret;

	if (fuzz_one_in(thread, 2))
		test_bo_close(file->fd, *handle);
	/* Sizes that are refused; others would only use up all memory. */
	if (fuzz_one_in(thread, 16))
		args.size = fuzz_one_in(thread, 2) ? 0 : 1ull << 38 << fuzz_below(thread, 26);
	if (fuzz_one_in(thread, 16))
		args.region = fuzz_below(thread, 3);
	ret = test_ioctl(file->fd, DRM_IOCTL_NPU_BO_CREATE, &args);
	if (!ret)
		*handle = args.handle;
	return ret;
}

static int bo_import_user(struct fuzz_thread *thread)
{
	struct fuzz_file *file = any_file(thread);
	struct drm_npu_bo_import_user args = {
		.addr = PTR(any_memory(thread) + fuzz_below(thread, 4) * TEST_PAGE),
		.size = (1 + fuzz_below(thread, 32)) * TEST_PAGE,
		.flags = fuzz_below(thread, 2),
	};
	int ret;

	if (fuzz_one_in(thread, 8))
		args.size = 2 * FUZZ_SLOT_BYTES;
	if (fuzz_one_in(thread, 8))
		fuzz_mutate(thread, &args, sizeof(args));
	ret = test_ioctl(file->fd, DRM_IOCTL_NPU_BO_IMPORT_USER, &args);
	if (!ret)
		*any_handle(thread, file) = args.handle;
	return ret;
}

static int bo_close(struct fuzz_thread *thread)
{
	struct fuzz_file *file = any_file(thread);
	struct drm_gem_close args = { .handle = *any_handle(thread, file) };

	return test_ioctl(file->fd, DRM_IOCTL_GEM_CLOSE, &args);
}

static int bo_wait(struct fuzz_thread *thread)
{
	struct fuzz_file *file = any_file(thread);

	return test_bo_wait(file->fd, *any_handle(thread, file), fuzz_below(thread, 2),
			    fuzz_below(thread, 4));
}

/* Puts a buffer, fresh memory or nothing where a slot is. */
static int map_slot(struct fuzz_thread *thread)
{
	struct fuzz_file *file = any_file(thread);
	struct drm_npu_bo_mmap_offset args = { .handle = *any_handle(thread, file) };
	size_t size = (1 + fuzz_below(thread, 16)) * TEST_PAGE;
	uint8_t *slot = any_memory(thread);
	int prot = PROT_READ | (fuzz_one_in(thread, 8) ? 0 : PROT_WRITE);
	int flags = fuzz_one_in(thread, 8) ? MAP_PRIVATE : MAP_SHARED;
	int ret;

	if (fuzz_one_in(thread, 4)) {
		prot = fuzz_one_in(thread, 4) ? PROT_NONE : PROT_READ | PROT_WRITE;
		return mmap(slot, FUZZ_SLOT_BYTES, prot, MAP_FIXED | MAP_ANONYMOUS | flags, -1,
			    0) == MAP_FAILED ? -errno : 0;
	}
	ret = test_ioctl(file->fd, DRM_IOCTL_NPU_BO_MMAP_OFFSET, &args);
	if (ret)
		return ret;
	if (fuzz_one_in(thread, 16))
		args.offset += fuzz_below(thread, 32) * TEST_PAGE;
	return mmap(slot, size, prot, MAP_FIXED | flags, file->fd, args.offset) == MAP_FAILED ?
	       -errno : 0;
}

static void bind_op(struct fuzz_thread *thread, struct fuzz_file *file, struct drm_npu_bind_op *op)
{
	*op = (struct drm_npu_bind_op) {
		.va = FUZZ_VA(fuzz_below(thread, FUZZ_SLOTS)),
		.size = (1 + fuzz_below(thread, 16)) * TEST_PAGE,
	};
	if (fuzz_one_in(thread, 4))
		op->va += fuzz_below(thread, 16) * TEST_PAGE;
	/* Where a huge leaf may be, and its parts may go. */
	if (fuzz_one_in(thread, 4)) {
		op->va = 0x40000000ull + fuzz_below(thread, 2) * (2ull << 20);
		op->size = 2ull << 20 >> fuzz_below(thread, 3);
	}
	if (fuzz_one_in(thread, 3)) {
		op->op = DRM_NPU_BIND_UNMAP;
	} else {
		op->handle = *any_handle(thread, file);
		op->flags = fuzz_one_in(thread, 2) ? TEST_RWX : 1 + fuzz_below(thread, 7);
		op->offset = fuzz_one_in(thread, 3) ? fuzz_below(thread, 8) * TEST_PAGE : 0;
	}
	if (fuzz_one_in(thread, 32))
		fuzz_mutate(thread, op, sizeof(*op));
}

static int vm_bind(struct fuzz_thread *thread)
{
	struct fuzz_file *file = any_file(thread);
	struct drm_npu_bind_op ops[8];
	struct drm_npu_vm_bind args = {
		.op_count = fuzz_one_in(thread, 2) ? 1 : 1 + fuzz_below(thread, 8),
		.op_stride = sizeof(ops[0]),
		.ops = PTR(ops),
	};
	uint32_t i;

	for (i = 0; i < 8; i++)
		bind_op(thread, file, &ops[i]);
	if (fuzz_one_in(thread, 16))
		fuzz_mutate(thread, &args, sizeof(args));
	return test_ioctl(file->fd, DRM_IOCTL_NPU_VM_BIND, &args);
}

static int queue_create(struct fuzz_thread *thread)
{
	struct fuzz_file *file = any_file(thread);
	uint32_t *queue = any_queue(thread, file);
	struct drm_npu_queue_create args = {
		.priority = fuzz_below(thread, 5),
		.limit = fuzz_one_in(thread, 4) ? 0 : 1 + fuzz_below(thread, 200000),
		.core_mask = fuzz_one_in(thread, 8) ? fuzz_below(thread, 4) : 0,
	};
	int ret;

	if (fuzz_one_in(thread, 2))
		test_queue_destroy(file->fd, *queue);
	ret = test_ioctl(file->fd, DRM_IOCTL_NPU_QUEUE_CREATE, &args);
	if (!ret)
		*queue = args.queue_id;
	return ret;
}

static int queue_destroy(struct fuzz_thread *thread)
{
	struct fuzz_file *file = any_file(thread);

	return test_queue_destroy(file->fd, *any_queue(thread, file));
}

static int queue_query(struct fuzz_thread *thread)
{
	struct fuzz_file *file = any_file(thread);
	struct drm_npu_queue_query query;

	return test_queue_query(file->fd, *any_queue(thread, file), &query);
}

static void make_job(struct fuzz_thread *thread, struct drm_npu_job *job)
{
	*job = (struct drm_npu_job) {};
	if (fuzz_one_in(thread, 4))
		return;
	job->insn_va = FUZZ_VA(fuzz_below(thread, 8)) + fuzz_below(thread, 3) * 1024;
	job->insn_count = 2 + fuzz_below(thread, 3);
	job->limit = 1 + fuzz_below(thread, 100000);
	if (fuzz_one_in(thread, 4)) {
		job->region_va = FUZZ_VA(fuzz_below(thread, 8)) + 3072;
		job->region_count = fuzz_below(thread, 17);
	}
	if (fuzz_one_in(thread, 4))
		job->report_va = FUZZ_VA(fuzz_below(thread, 8)) + 3584;
	if (fuzz_one_in(thread, 64))
		fuzz_mutate(thread, job, sizeof(*job));
}

static int submit(struct fuzz_thread *thread)
{
	struct fuzz_file *file = any_file(thread);
	struct drm_npu_sync in[2], out[2];
	struct drm_npu_job jobs[64];
	struct drm_npu_submit args = {
		.queue_id = *any_queue(thread, file),
		.job_count = fuzz_one_in(thread, 8) ? 64 : 1 + fuzz_below(thread, 4),
		.job_stride = sizeof(jobs[0]),
		.jobs = PTR(jobs),
		.in_sync_count = fuzz_one_in(thread, 4) ? 1 + fuzz_below(thread, 2) : 0,
		.out_sync_count = fuzz_below(thread, 3),
		.in_syncs = PTR(in),
		.out_syncs = PTR(out),
	};
	uint32_t i;

	for (i = 0; i < 64; i++)
		make_job(thread, &jobs[i]);
	for (i = 0; i < 2; i++) {
		in[i] = (struct drm_npu_sync) { .handle = file->syncs[fuzz_below(thread, FUZZ_SYNCS)] };
		out[i] = (struct drm_npu_sync) { .handle = file->syncs[fuzz_below(thread, FUZZ_SYNCS)] };
		in[i].point = fuzz_one_in(thread, 3) ? fuzz_below(thread, 4) : 0;
		out[i].point = fuzz_one_in(thread, 3) ? fuzz_below(thread, 8) : 0;
	}
	if (fuzz_one_in(thread, 16))
		fuzz_mutate(thread, &args, sizeof(args));
	return test_ioctl(file->fd, DRM_IOCTL_NPU_SUBMIT, &args);
}

static int dev_query(struct fuzz_thread *thread)
{
	struct fuzz_file *file = any_file(thread);
	uint8_t data[512];
	struct drm_npu_dev_query args = {
		.query = fuzz_below(thread, 4),
		.size = fuzz_below(thread, sizeof(data)),
		.data = PTR(data),
	};

	return test_ioctl(file->fd, DRM_IOCTL_NPU_DEV_QUERY, &args);
}

static int accounts(struct fuzz_thread *thread)
{
	struct fuzz_file *file = any_file(thread);
	struct drm_npu_account records[4];
	struct drm_npu_accounts args = {
		.flags = fuzz_below(thread, 2),
		.count = 1 + fuzz_below(thread, 4),
		.stride = sizeof(records[0]),
		.records = PTR(records),
	};

	return test_ioctl(file->fd, DRM_IOCTL_NPU_ACCOUNTS, &args);
}

static int fdinfo(struct fuzz_thread *thread)
{
	struct fuzz_file *file = any_file(thread);
	char path[64], text[2048];
	int ret;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", file->fd);
	ret = test_read_file(path, text, sizeof(text));
	return ret < 0 ? ret : 0;
}

/* Any command of the driver, of any size, with what memory there is or is not. */
static int garbage(struct fuzz_thread *thread)
{
	unsigned int number = DRM_COMMAND_BASE + fuzz_below(thread, 16);
	uint8_t *memory = any_memory(thread) + fuzz_below(thread, 2) * (FUZZ_SLOT_BYTES - 24);
	uint64_t words[32];
	uint32_t i;

	for (i = 0; i < 32; i++)
		words[i] = fuzz_one_in(thread, 2) ? 0 : fuzz_random(thread) >> fuzz_below(thread, 64);
	/* A size that would be granted must not be huge. */
	if (number == DRM_COMMAND_BASE + DRM_NPU_BO_CREATE)
		words[0] &= 0xfffff;
	return test_ioctl(any_file(thread)->fd,
			  _IOC(_IOC_READ | _IOC_WRITE, 'd', number, 8 * fuzz_below(thread, 24)),
			  fuzz_one_in(thread, 4) && number != DRM_COMMAND_BASE + DRM_NPU_BO_CREATE ?
			  (void *)memory : words);
}

/* What an open file needs for most operations to have something to work on. */
int fuzz_prepare(struct fuzz_thread *thread, struct fuzz_file *file)
{
	uint32_t i;

	for (i = 0; i < 4; i++) {
		uint8_t *words = test_buffer(file->fd, FUZZ_VA(i), 16 * TEST_PAGE, TEST_RWX,
					     &file->handles[i]);

		if (words == MAP_FAILED)
			return -errno;
		write_programs(thread, words);
		munmap(words, 16 * TEST_PAGE);
	}
	for (i = 0; i < FUZZ_SYNCS; i++)
		test_syncobj_create(file->fd, &file->syncs[i]);
	return test_queue_create(file->fd, 1, 100000, &file->queues[0]);
}

static int reopen(struct fuzz_thread *thread)
{
	struct fuzz_file *file = any_file(thread);
	int fd = fuzz_open(thread);
	int ret;

	if (fd < 0)
		return fd;
	ret = dup2(fd, file->fd);
	close(fd);
	return ret < 0 ? -errno : fuzz_prepare(thread, file);
}

static int duplicate(struct fuzz_thread *thread)
{
	int fd = dup(any_file(thread)->fd);

	if (fd < 0)
		return -errno;
	fuzz_keep_fd(thread, fd);
	return 0;
}

/* A child works on the same files, and ends or is killed in the middle. */
static int fork_child(struct fuzz_thread *thread)
{
	struct fuzz_thread child = *thread;
	pid_t pid;

	if (thread->depth)
		return -EAGAIN;
	child.random = fuzz_random(thread);
	child.depth = 1;
	pid = fork();
	if (pid < 0)
		return -errno;
	if (!pid) {
		fuzz_run(&child, CHILD_OPS);
		_exit(0);
	}
	if (fuzz_one_in(thread, 2)) {
		usleep(fuzz_below(thread, 3000));
		kill(pid, SIGKILL);
	}
	return waitpid(pid, NULL, 0) == pid ? 0 : -errno;
}

static int reset(struct fuzz_thread *thread)
{
	char path[80];

	snprintf(path, sizeof(path), DEBUGFS_ACCEL "/npu_sim.npu.%u/reset",
		 fuzz_below(thread, DEVICES));
	return test_write_file(path, "1");
}

const struct fuzz_op fuzz_ops[] = {
	{ "bo_create", 60, bo_create },
	{ "bo_import_user", 40, bo_import_user },
	{ "bo_close", 40, bo_close },
	{ "bo_wait", 30, bo_wait },
	{ "map_slot", 50, map_slot },
	{ "write_memory", 80, write_memory },
	{ "vm_bind", 120, vm_bind },
	{ "queue_create", 30, queue_create },
	{ "queue_destroy", 15, queue_destroy },
	{ "queue_query", 20, queue_query },
	{ "submit", 200, submit },
	{ "dev_query", 20, dev_query },
	{ "accounts", 10, accounts },
	{ "fdinfo", 10, fdinfo },
	{ "garbage", 40, garbage },
	{ "syncobj", 120, fuzz_syncobj },
	{ "prime", 80, fuzz_prime },
	{ "udmabuf", 15, fuzz_udmabuf },
	{ "close_fd", 20, fuzz_close_fd },
	{ "reopen", 10, reopen },
	{ "duplicate", 5, duplicate },
	{ "fork", 5, fork_child },
	{ "reset", 2, reset },
};

const unsigned int fuzz_op_count = sizeof(fuzz_ops) / sizeof(fuzz_ops[0]);
