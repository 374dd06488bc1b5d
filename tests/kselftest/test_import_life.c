// SPDX-License-Identifier: GPL-2.0-only
/* BO_IMPORT_USER: what happens to memory and mappings while a buffer is made of them. */
#include <linux/mman.h>
#include <pthread.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "tests/kselftest/npu_harness.h"

#define CODE_VA	TEST_VA
#define DATA_VA	(TEST_VA + 0x200000)
#define OUT_VA	(TEST_VA + 0x800000)
#define SPIN_AT	2048u
#define SIZE	(4 * TEST_PAGE)
#define HUGE	(2u << 20)
#define CGROUP	"/sys/fs/cgroup/npu-import"

/**
 * struct client - an open file with a queue that works and one that spins
 * @fd: open file
 * @queue: for copies
 * @other: for a job that keeps the device
 * @code: instructions, at CODE_VA
 * @out: a buffer of the driver's, at OUT_VA
 */
struct client {
	int fd;
	uint32_t queue;
	uint32_t other;
	uint8_t *code;
	uint8_t *out;
};

static int client_init(struct client *client)
{
	client->fd = test_open(0);
	if (client->fd < 0 || test_queue_create(client->fd, 1, 0, &client->queue) ||
	    test_queue_create(client->fd, 1, 0, &client->other))
		return -1;
	client->code = test_buffer(client->fd, CODE_VA, TEST_PAGE, TEST_RWX, NULL);
	client->out = test_buffer(client->fd, OUT_VA, TEST_PAGE, TEST_RW, NULL);
	return client->code == MAP_FAILED || client->out == MAP_FAILED ? -1 : 0;
}

static void client_close(struct client *client)
{
	munmap(client->code, TEST_PAGE);
	munmap(client->out, TEST_PAGE);
	close(client->fd);
}

FIXTURE(life)
{
	struct client client;
	long pins;
};

FIXTURE_SETUP(life)
{
	self->pins = test_pins();
	ASSERT_LE(0, self->pins);
	ASSERT_EQ(0, client_init(&self->client));
}

FIXTURE_TEARDOWN(life)
{
	client_close(&self->client);
	EXPECT_EQ(0, test_pinned_kb());
	EXPECT_EQ(self->pins, test_pins());
}

/* Keeps the device busy, with all that the client has bound. */
static int spin(struct client *client)
{
	struct drm_npu_job job = { .insn_va = CODE_VA + SPIN_AT };
	int ret;

	job.insn_count = test_spin_program(client->code + SPIN_AT);
	ret = test_submit(client->fd, client->other, &job, 1, 0);
	test_wait_until_it_runs(client->fd);
	return ret;
}

static int stop_spinning(struct client *client)
{
	return test_queue_destroy(client->fd, client->other);
}

/* Has the device copy 64 bytes of one place to 16 of another. */
static int device_copies(struct client *client, uint64_t from, uint64_t to)
{
	struct drm_npu_job job = { .insn_va = CODE_VA };

	job.insn_count = test_copy_program(client->code, from, to, 1);
	return test_run(client->fd, client->queue, &job);
}

static int import_and_bind(struct client *client, void *data, uint64_t size)
{
	uint32_t handle;
	int ret = test_import(client->fd, data, size, 0, &handle);

	if (!ret)
		ret = test_bind(client->fd, handle, DATA_VA, 0, size, TEST_RW);
	/* The mapping keeps it. */
	test_bo_close(client->fd, handle);
	return ret;
}

static uint8_t *pages(size_t size)
{
	return mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

TEST_F(life, munmap_under_a_running_job)
{
	int memfd = memfd_create("npu", MFD_CLOEXEC);
	uint8_t *data, *view;

	ASSERT_EQ(0, ftruncate(memfd, SIZE));
	data = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, memfd, 0);
	view = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, memfd, 0);
	ASSERT_NE(MAP_FAILED, data);
	ASSERT_NE(MAP_FAILED, view);
	close(memfd);
	ASSERT_EQ(0, import_and_bind(&self->client, data, SIZE));
	ASSERT_EQ(0, spin(&self->client));
	ASSERT_EQ(0, munmap(data, SIZE));
	memset(view, 0x2a, 64);
	ASSERT_EQ(0, stop_spinning(&self->client));
	ASSERT_EQ(0, device_copies(&self->client, DATA_VA, DATA_VA + TEST_PAGE));
	EXPECT_EQ(0x2a, view[TEST_PAGE]);
	munmap(view, SIZE);
}

TEST_F(life, memory_is_kept_without_any_mapping)
{
	uint8_t *data = pages(SIZE);

	ASSERT_NE(MAP_FAILED, data);
	memset(data, 0x2b, SIZE);
	ASSERT_EQ(0, import_and_bind(&self->client, data, SIZE));
	ASSERT_EQ(0, munmap(data, SIZE));
	ASSERT_EQ(0, device_copies(&self->client, DATA_VA + TEST_PAGE, OUT_VA));
	EXPECT_EQ(0x2b, self->client.out[0]);
	EXPECT_EQ(SIZE / 1024, test_pinned_kb());
	ASSERT_EQ(0, test_unbind(self->client.fd, DATA_VA, SIZE));
	EXPECT_EQ(0, test_pinned_kb());
}

TEST_F(life, bind_after_munmap)
{
	uint8_t *data = pages(SIZE);
	uint32_t handle;

	ASSERT_NE(MAP_FAILED, data);
	memset(data, 0x2c, SIZE);
	ASSERT_EQ(0, test_import(self->client.fd, data, SIZE, 0, &handle));
	ASSERT_EQ(0, munmap(data, SIZE));
	ASSERT_EQ(0, test_bind(self->client.fd, handle, DATA_VA, TEST_PAGE, TEST_PAGE, TEST_RW));
	ASSERT_EQ(0, device_copies(&self->client, DATA_VA, OUT_VA));
	EXPECT_EQ(0x2c, self->client.out[0]);
}

TEST_F(life, mremap_under_a_running_job)
{
	uint8_t *data = pages(SIZE), *room = pages(2 * SIZE), *moved;

	ASSERT_NE(MAP_FAILED, data);
	ASSERT_NE(MAP_FAILED, room);
	ASSERT_EQ(0, import_and_bind(&self->client, data, SIZE));
	ASSERT_EQ(0, spin(&self->client));
	moved = mremap(data, SIZE, 2 * SIZE, MREMAP_MAYMOVE | MREMAP_FIXED, room);
	ASSERT_EQ(room, moved);
	memset(moved, 0x3a, 64);
	ASSERT_EQ(0, stop_spinning(&self->client));
	ASSERT_EQ(0, device_copies(&self->client, DATA_VA, DATA_VA + TEST_PAGE));
	EXPECT_EQ(0x3a, moved[TEST_PAGE]);
	/* Something else in the old place is nothing to the device. */
	ASSERT_EQ(data, mmap(data, SIZE, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0));
	memset(data, 0x3b, SIZE);
	ASSERT_EQ(0, device_copies(&self->client, DATA_VA, DATA_VA + TEST_PAGE));
	EXPECT_EQ(0x3a, moved[TEST_PAGE]);
}

TEST_F(life, mprotect_is_for_the_process)
{
	uint8_t *data = pages(SIZE);

	ASSERT_NE(MAP_FAILED, data);
	memset(data, 0x3c, 64);
	ASSERT_EQ(0, import_and_bind(&self->client, data, SIZE));
	ASSERT_EQ(0, mprotect(data, SIZE, PROT_READ));
	ASSERT_EQ(0, device_copies(&self->client, DATA_VA, DATA_VA + TEST_PAGE));
	EXPECT_EQ(0x3c, data[TEST_PAGE]);
}

TEST_F(life, dropped_pages_are_no_longer_the_buffers)
{
	uint8_t *data = pages(SIZE);

	ASSERT_NE(MAP_FAILED, data);
	memset(data, 0x4a, SIZE);
	ASSERT_EQ(0, import_and_bind(&self->client, data, SIZE));
	ASSERT_EQ(0, madvise(data, SIZE, MADV_DONTNEED));
	EXPECT_EQ(0, data[0]);
	memset(data, 0x4b, SIZE);
	ASSERT_EQ(0, device_copies(&self->client, DATA_VA, OUT_VA));
	EXPECT_EQ(0x4a, self->client.out[0]);
	ASSERT_EQ(0, device_copies(&self->client, DATA_VA, DATA_VA + TEST_PAGE));
	EXPECT_EQ(0x4b, data[TEST_PAGE]);
}

TEST_F(life, file_is_cut_off)
{
	int memfd = memfd_create("npu", MFD_CLOEXEC);
	uint8_t *data;

	ASSERT_EQ(0, ftruncate(memfd, SIZE));
	data = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, memfd, 0);
	ASSERT_NE(MAP_FAILED, data);
	memset(data, 0x4c, SIZE);
	ASSERT_EQ(0, import_and_bind(&self->client, data, SIZE));
	ASSERT_EQ(0, spin(&self->client));
	ASSERT_EQ(0, ftruncate(memfd, 0));
	ASSERT_EQ(0, ftruncate(memfd, SIZE));
	ASSERT_EQ(0, stop_spinning(&self->client));
	ASSERT_EQ(0, device_copies(&self->client, DATA_VA, OUT_VA));
	EXPECT_EQ(0x4c, self->client.out[0]);
	EXPECT_EQ(0, data[0]);
	close(memfd);
}

TEST_F(life, pages_stay_where_they_are)
{
	uint8_t *data = pages(64 * SIZE);
	uint32_t i;

	ASSERT_NE(MAP_FAILED, data);
	ASSERT_EQ(0, import_and_bind(&self->client, data, 64 * SIZE));
	ASSERT_EQ(0, test_write_file("/proc/sys/vm/compact_memory", "1"));
	madvise(data, 64 * SIZE, MADV_PAGEOUT);
	for (i = 0; i < 64; i++) {
		memset(data + i * SIZE, 1 + i, 64);
		ASSERT_EQ(0, device_copies(&self->client, DATA_VA + i * SIZE,
					   DATA_VA + i * SIZE + TEST_PAGE));
		EXPECT_EQ(1 + i, data[i * SIZE + TEST_PAGE]);
	}
}

static int wait_for(pid_t pid)
{
	int status;

	if (waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
		return -1;
	return WEXITSTATUS(status);
}

/* What the child sees: the values as of the fork, whatever parent and device write. */
static int child_checks(uint8_t *data, int go)
{
	char byte;

	data[1] = 0x99;
	if (read(go, &byte, 1) != 1)
		return 1;
	return data[0] == 0x5a && data[1] == 0x99 && data[TEST_PAGE] == 0 ? 0 : 2;
}

TEST_F(life, fork_copies_for_the_child)
{
	uint8_t *data = pages(SIZE);
	int go[2];
	pid_t pid;

	ASSERT_NE(MAP_FAILED, data);
	ASSERT_EQ(0, pipe(go));
	memset(data, 0x5a, 64);
	ASSERT_EQ(0, import_and_bind(&self->client, data, SIZE));
	ASSERT_EQ(0, spin(&self->client));
	pid = fork();
	ASSERT_GE(pid, 0);
	if (!pid) {
		close(go[1]);
		_exit(child_checks(data, go[0]));
	}
	/* The parent writes to pinned pages still: it is no writing after a fork that copies. */
	memset(data, 0x5b, 64);
	ASSERT_EQ(0, stop_spinning(&self->client));
	ASSERT_EQ(0, device_copies(&self->client, DATA_VA, DATA_VA + TEST_PAGE));
	EXPECT_EQ(0x5b, data[TEST_PAGE]);
	ASSERT_EQ(1, write(go[1], "x", 1));
	EXPECT_EQ(0, wait_for(pid));
	EXPECT_EQ(0x5b, data[1]);
	close(go[0]);
	close(go[1]);
}

TEST_F(life, fork_shares_what_is_shared)
{
	uint8_t *data = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid_t pid;

	ASSERT_NE(MAP_FAILED, data);
	ASSERT_EQ(0, import_and_bind(&self->client, data, SIZE));
	pid = fork();
	ASSERT_GE(pid, 0);
	if (!pid) {
		memset(data, 0x5c, 64);
		_exit(0);
	}
	ASSERT_EQ(0, wait_for(pid));
	ASSERT_EQ(0, device_copies(&self->client, DATA_VA, DATA_VA + TEST_PAGE));
	EXPECT_EQ(0x5c, data[TEST_PAGE]);
}

/* Imports memory of its own, binds it, and is gone; the file lives on with the parent. */
TEST_F(life, owner_of_the_memory_exits)
{
	pid_t pid = fork();

	ASSERT_GE(pid, 0);
	if (!pid) {
		uint8_t *data = pages(SIZE);

		memset(data, 0x6a, 64);
		_exit(data == MAP_FAILED || import_and_bind(&self->client, data, SIZE) ||
		      spin(&self->client));
	}
	ASSERT_EQ(0, wait_for(pid));
	/* It was charged to the child. */
	EXPECT_EQ(0, test_pinned_kb());
	ASSERT_EQ(0, stop_spinning(&self->client));
	ASSERT_EQ(0, device_copies(&self->client, DATA_VA, OUT_VA));
	EXPECT_EQ(0x6a, self->client.out[0]);
}

TEST_F(life, exit_under_a_running_job)
{
	struct client child;
	pid_t pid = fork();

	ASSERT_GE(pid, 0);
	if (!pid) {
		uint8_t *data = pages(SIZE);

		_exit(data == MAP_FAILED || client_init(&child) ||
		      import_and_bind(&child, data, SIZE) || spin(&child));
	}
	ASSERT_EQ(0, wait_for(pid));
	EXPECT_EQ(0, device_copies(&self->client, OUT_VA, OUT_VA + 64));
}

/* Another try, for whoever is killed in the middle of it, until it is killed. */
static void import_for_ever(int fd)
{
	uint8_t *data = pages(32 << 20);
	uint32_t handle;

	for (;;) {
		if (!test_import(fd, data, 32 << 20, 0, &handle))
			test_bo_close(fd, handle);
		madvise(data, 32 << 20, MADV_DONTNEED);
	}
}

TEST_F(life, killed_while_it_imports)
{
	int round;

	for (round = 0; round < 20; round++) {
		pid_t pid = fork();

		ASSERT_GE(pid, 0);
		if (!pid)
			import_for_ever(test_open(0));
		usleep(1000 + 7000 * round);
		kill(pid, SIGKILL);
		ASSERT_EQ(pid, waitpid(pid, NULL, 0));
	}
	EXPECT_EQ(self->pins, test_pins());
}

/**
 * struct changer - a thread that puts one thing after the other in the same place
 * @at: the place
 * @fd: open file with a buffer
 * @offset: of the buffer
 * @stop: it is to end
 */
struct changer {
	uint8_t *at;
	int fd;
	uint64_t offset;
	bool stop;
};

static void *change(void *data)
{
	struct changer *changer = data;
	const int fixed = MAP_FIXED, rw = PROT_READ | PROT_WRITE;

	while (!__atomic_load_n(&changer->stop, __ATOMIC_RELAXED)) {
		mmap(changer->at, TEST_PAGE, rw, MAP_SHARED | fixed, changer->fd, changer->offset);
		mmap(changer->at, TEST_PAGE, rw, MAP_PRIVATE | MAP_ANONYMOUS | fixed, -1, 0);
		mprotect(changer->at, TEST_PAGE, PROT_READ);
		munmap(changer->at, TEST_PAGE);
		mmap(changer->at, TEST_PAGE, rw, MAP_SHARED | MAP_ANONYMOUS | fixed, -1, 0);
	}
	return NULL;
}

/* Whatever the check of the mappings saw: what is pinned can be. */
TEST_F(life, mappings_change_while_it_imports)
{
	struct drm_npu_bo_mmap_offset args = {};
	struct changer changer = { .fd = self->client.fd };
	uint8_t *data = pages(SIZE);
	uint32_t i, handle, good = 0;
	pthread_t thread;
	int ret;

	ASSERT_NE(MAP_FAILED, data);
	ASSERT_EQ(0, test_bo_create(self->client.fd, TEST_PAGE, &args.handle));
	ASSERT_EQ(0, test_ioctl(self->client.fd, DRM_IOCTL_NPU_BO_MMAP_OFFSET, &args));
	changer.offset = args.offset;
	changer.at = data + TEST_PAGE;
	ASSERT_EQ(0, pthread_create(&thread, NULL, change, &changer));
	for (i = 0; i < 20000 || !good; i++) {
		ret = test_import(self->client.fd, data, SIZE, 0, &handle);
		if (ret && ret != -EFAULT && ret != -EACCES && ret != -EOPNOTSUPP)
			break;
		good += !ret;
		if (!ret)
			test_bo_close(self->client.fd, handle);
		ret = 0;
	}
	EXPECT_EQ(0, ret);
	__atomic_store_n(&changer.stop, true, __ATOMIC_RELAXED);
	ASSERT_EQ(0, pthread_join(thread, NULL));
	/* The last round may have left the buffer's mapping, which keeps the file. */
	munmap(data, SIZE);
	EXPECT_EQ(self->pins, test_pins());
}

static long huge_pages_free(void)
{
	char text[16384];
	const char *line;
	long count;

	if (test_read_file("/proc/meminfo", text, sizeof(text)) < 0)
		return -1;
	line = strstr(text, "HugePages_Free:");
	return line && sscanf(line, "HugePages_Free: %ld", &count) == 1 ? count : -1;
}

TEST_F(life, huge_page_comes_back_with_the_buffer)
{
	uint8_t *data;
	long before;

	ASSERT_EQ(0, test_write_file("/proc/sys/vm/nr_hugepages", "2"));
	before = huge_pages_free();
	ASSERT_LE(1, before);
	data = mmap(NULL, HUGE, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB | MAP_HUGE_2MB, -1, 0);
	ASSERT_NE(MAP_FAILED, data);
	ASSERT_EQ(0, import_and_bind(&self->client, data, HUGE));
	ASSERT_EQ(0, munmap(data, HUGE));
	EXPECT_EQ(before - 1, huge_pages_free());
	ASSERT_EQ(0, test_unbind(self->client.fd, DATA_VA, HUGE));
	EXPECT_EQ(before, huge_pages_free());
	EXPECT_EQ(0, test_write_file("/proc/sys/vm/nr_hugepages", "0"));
}

static long cgroup_memory(void)
{
	char text[32];

	return test_read_file(CGROUP "/memory.current", text, sizeof(text)) < 0 ? -1 : atol(text);
}

/* In a cgroup: imports, unmaps, and says when it did; then waits. */
static int charged_child(struct client *client, int said, int go)
{
	uint8_t *data;
	char byte;

	if (test_write_file(CGROUP "/cgroup.procs", "0"))
		return 1;
	data = pages(16 << 20);
	if (data == MAP_FAILED || import_and_bind(client, data, 16 << 20) ||
	    munmap(data, 16 << 20))
		return 2;
	return write(said, "x", 1) == 1 && read(go, &byte, 1) == 1 ? 0 : 3;
}

TEST_F(life, memory_is_charged_to_the_cgroup)
{
	int said[2], go[2];
	long before;
	char byte;
	pid_t pid;

	ASSERT_EQ(0, test_write_file("/sys/fs/cgroup/cgroup.subtree_control", "+memory"));
	ASSERT_TRUE(!mkdir(CGROUP, 0700) || errno == EEXIST);
	ASSERT_EQ(0, pipe(said));
	ASSERT_EQ(0, pipe(go));
	pid = fork();
	ASSERT_GE(pid, 0);
	if (!pid)
		_exit(charged_child(&self->client, said[1], go[0]));
	ASSERT_EQ(1, read(said[0], &byte, 1));
	/* It has no mapping of the memory any more, and still has it. */
	before = cgroup_memory();
	EXPECT_LE(16 << 20, before);
	ASSERT_EQ(0, test_unbind(self->client.fd, DATA_VA, 16 << 20));
	EXPECT_GE(before - (12 << 20), cgroup_memory());
	ASSERT_EQ(1, write(go[1], "x", 1));
	EXPECT_EQ(0, wait_for(pid));
	EXPECT_EQ(0, rmdir(CGROUP));
}

TEST_HARNESS_MAIN
