// SPDX-License-Identifier: GPL-2.0-only
/* Accounts of clients that are there and that have gone. */
#include <grp.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "tests/kselftest/npu_harness.h"

#define CGROUP	"/tmp/npu-cgroup"
#define CODE_VA	TEST_VA
#define DATA_VA	(TEST_VA + 0x10000)
#define KEPT	1024

/* What a client has to say of itself before it goes. */
struct told {
	pid_t pid;
	uint64_t jobs, failed, cycles, macs, read, written;
};

static int accounts(int fd, uint32_t flags, uint64_t *after, struct drm_npu_account *out,
		    uint32_t room, uint64_t *lost)
{
	struct drm_npu_accounts args = {
		.flags = flags,
		.count = room,
		.stride = sizeof(*out),
		.records = PTR(out),
		.after = *after,
	};
	int ret = test_ioctl(fd, DRM_IOCTL_NPU_ACCOUNTS, &args);

	*after = args.after;
	if (lost)
		*lost += args.lost;
	return ret ?: (int)args.count;
}

/* The newest account of the process; 0 if there is none. */
static int find(int fd, uint32_t flags, pid_t pid, struct drm_npu_account *found)
{
	struct drm_npu_account some[16];
	uint64_t after = 0;
	int count, i, ret = 0;

	while ((count = accounts(fd, flags, &after, some, 16, NULL)) > 0)
		for (i = 0; i < count; i++)
			if (some[i].pid == (uint32_t)pid) {
				*found = some[i];
				ret = 1;
			}
	return count < 0 ? count : ret;
}

static uint64_t newest(int fd)
{
	struct drm_npu_account some[16];
	uint64_t after = 0;

	while (accounts(fd, 0, &after, some, 16, NULL) > 0)
		;
	return after;
}

/* Two good jobs with multiplications, and one that faults. */
static int use(struct told *told)
{
	struct drm_npu_job job = { .insn_va = CODE_VA };
	struct drm_npu_queue_query query;
	struct test_program program = {};
	uint32_t queue;
	int fd = test_open(0);

	if (fd < 0 || test_queue_create(fd, 1, 0, &queue))
		return -1;
	program.words = test_buffer(fd, CODE_VA, TEST_PAGE, TEST_RWX, NULL);
	if (program.words == MAP_FAILED)
		return -1;
	test_program_gemm(&program, 8192);
	test_program_finish(&program, false);
	job.insn_count = program.count;
	if (test_run(fd, queue, &job) || test_run(fd, queue, &job))
		return -1;
	job.insn_va = DATA_VA;
	if (test_run(fd, queue, &job) != -EFAULT || test_queue_query(fd, queue, &query))
		return -1;
	told->pid = getpid();
	told->jobs = query.jobs_done;
	told->failed = query.jobs_failed;
	told->cycles = query.cycles;
	told->macs = 2 * 8192 * 256;
	told->read = 2 * program.count * NPU_INSN_BYTES;
	return 0;
}

/* Runs in a child, with @before called first; what it told, or pid 0. */
static struct told child(int (*before)(void))
{
	struct told told = {};
	int channel[2], status;
	pid_t pid;

	if (pipe(channel))
		return told;
	pid = fork();
	if (!pid) {
		if ((before && before()) || use(&told))
			_exit(1);
		_exit(write(channel[1], &told, sizeof(told)) != sizeof(told));
	}
	waitpid(pid, &status, 0);
	if (status || read(channel[0], &told, sizeof(told)) != sizeof(told))
		told.pid = 0;
	close(channel[0]);
	close(channel[1]);
	return told;
}

FIXTURE(account)
{
	int fd;
};

FIXTURE_SETUP(account)
{
	self->fd = test_open(0);
	ASSERT_GE(self->fd, 0);
}

FIXTURE_TEARDOWN(account)
{
	close(self->fd);
}

TEST_F(account, a_process_that_has_gone_is_metered)
{
	struct drm_npu_account account = {};
	struct told told = child(NULL);

	ASSERT_NE(0, told.pid);
	ASSERT_EQ(1, find(self->fd, 0, told.pid, &account));
	EXPECT_LT(0, account.sequence);
	EXPECT_LT(0, account.client_id);
	EXPECT_EQ(3, account.jobs);
	EXPECT_EQ(told.jobs, account.jobs);
	EXPECT_EQ(1, account.jobs_failed);
	EXPECT_EQ(told.cycles, account.cycles);
	EXPECT_EQ(told.macs, account.macs);
	EXPECT_LE(told.read, account.bytes_read);
	EXPECT_EQ(0, account.bytes_written);
	EXPECT_EQ((account.cycles * NPU_ENERGY_CYCLE + account.macs * NPU_ENERGY_MAC +
		   account.bytes_read * NPU_ENERGY_BYTE) >> NPU_ENERGY_UNIT_LOG,
		  account.energy_nj);
	EXPECT_EQ(getuid(), account.uid);
	EXPECT_LT(0, account.opened_ns);
	EXPECT_LE(account.opened_ns, account.closed_ns);
	EXPECT_STREQ("test_account", account.comm);
	EXPECT_EQ(0, find(self->fd, DRM_NPU_ACCOUNTS_LIVE, told.pid, &account));
}

TEST_F(account, a_client_that_is_there_has_one_too)
{
	struct drm_npu_account account = {};
	struct told told = {};

	ASSERT_EQ(0, use(&told));
	ASSERT_EQ(1, find(self->fd, DRM_NPU_ACCOUNTS_LIVE, getpid(), &account));
	EXPECT_EQ(0, account.sequence);
	EXPECT_EQ(0, account.closed_ns);
	EXPECT_EQ(told.jobs, account.jobs);
	EXPECT_EQ(told.cycles, account.cycles);
	EXPECT_EQ(told.macs, account.macs);
}

TEST_F(account, queues_that_were_destroyed_count)
{
	struct drm_npu_account account = {};
	struct drm_npu_job null = {};
	uint32_t queue, round;

	for (round = 0; round < 3; round++) {
		ASSERT_EQ(0, test_queue_create(self->fd, 1, 0, &queue));
		ASSERT_EQ(0, test_run(self->fd, queue, &null));
		ASSERT_EQ(0, test_queue_destroy(self->fd, queue));
	}
	ASSERT_EQ(1, find(self->fd, DRM_NPU_ACCOUNTS_LIVE, getpid(), &account));
	EXPECT_EQ(3, account.jobs);
}

static int enter_cgroup(void)
{
	char text[16];

	snprintf(text, sizeof(text), "%d", getpid());
	return test_write_file(CGROUP "/metered/inner/cgroup.procs", text);
}

TEST_F(account, cgroup_is_that_of_the_opening)
{
	struct drm_npu_account account = {};
	struct stat st;
	struct told told;

	mkdir(CGROUP, 0755);
	ASSERT_EQ(0, mount("cgroup2", CGROUP, "cgroup2", 0, NULL));
	mkdir(CGROUP "/metered", 0755);
	ASSERT_EQ(0, mkdir(CGROUP "/metered/inner", 0755));
	told = child(enter_cgroup);
	ASSERT_EQ(0, stat(CGROUP "/metered/inner", &st));
	/* The cgroup goes, its name stays. */
	ASSERT_EQ(0, rmdir(CGROUP "/metered/inner"));
	rmdir(CGROUP "/metered");
	umount(CGROUP);
	ASSERT_NE(0, told.pid);
	ASSERT_EQ(1, find(self->fd, 0, told.pid, &account));
	EXPECT_STREQ("/metered/inner", account.cgroup);
	EXPECT_EQ(st.st_ino, account.cgroup_id);
	EXPECT_EQ(0, account.flags);
}

/* The file was opened by root: who has its descriptor sees no more than its own. */
TEST_F(account, others_see_their_own_only)
{
	struct drm_npu_account account = {};
	struct told told = child(NULL);
	int status;
	pid_t pid;

	ASSERT_NE(0, told.pid);
	pid = fork();
	if (!pid) {
		if (setgroups(0, NULL) || setgid(1234) || setuid(1234))
			_exit(1);
		_exit(find(self->fd, 0, told.pid, &account) ? 2 :
		      find(self->fd, DRM_NPU_ACCOUNTS_LIVE, getppid(), &account) ? 3 : 0);
	}
	waitpid(pid, &status, 0);
	EXPECT_EQ(0, status);
	EXPECT_EQ(1, find(self->fd, 0, told.pid, &account));
}

TEST_F(account, who_ran_nothing_is_not_kept)
{
	uint64_t before = newest(self->fd);
	uint32_t queue;
	int fd = test_open(0);

	ASSERT_GE(fd, 0);
	ASSERT_EQ(0, test_queue_create(fd, 1, 0, &queue));
	close(fd);
	EXPECT_EQ(before, newest(self->fd));
}

TEST_F(account, says_how_many_are_lost)
{
	struct drm_npu_account some[64];
	uint64_t before = newest(self->fd), after = before, lost = 0, got = 0;
	struct drm_npu_job null = {};
	int i, count, fd;
	uint32_t queue;

	for (i = 0; i < KEPT + 100; i++) {
		fd = test_open(0);
		ASSERT_GE(fd, 0);
		ASSERT_EQ(0, test_queue_create(fd, 1, 0, &queue));
		ASSERT_EQ(0, test_run(fd, queue, &null));
		close(fd);
	}
	while ((count = accounts(self->fd, 0, &after, some, 64, &lost)) > 0) {
		for (i = 0; i < count; i++)
			EXPECT_EQ(before + lost + got + i + 1, some[i].sequence);
		got += count;
	}
	EXPECT_EQ(0, count);
	EXPECT_EQ(KEPT, got);
	EXPECT_EQ(100, lost);
	EXPECT_EQ(before + KEPT + 100, after);
}

TEST_F(account, records_of_another_size)
{
	struct drm_npu_account account[2];
	uint8_t longer[2][sizeof(account[0]) + 8];
	struct drm_npu_accounts args = { .flags = DRM_NPU_ACCOUNTS_LIVE, .count = 1 };

	args.stride = 16;
	args.records = PTR(account);
	memset(account, 0xaa, sizeof(account));
	ASSERT_EQ(0, test_ioctl(self->fd, DRM_IOCTL_NPU_ACCOUNTS, &args));
	EXPECT_EQ(1, args.count);
	EXPECT_EQ(0, account[0].sequence);
	EXPECT_EQ(0xaaaaaaaaaaaaaaaaull, account[0].opened_ns);

	args.stride = sizeof(longer[0]);
	args.records = PTR(longer);
	args.after = 0;
	memset(longer, 0xaa, sizeof(longer));
	ASSERT_EQ(0, test_ioctl(self->fd, DRM_IOCTL_NPU_ACCOUNTS, &args));
	EXPECT_EQ(1, args.count);
	EXPECT_EQ(0, longer[0][sizeof(account[0])]);
	EXPECT_EQ(0xaa, longer[1][0]);
}

TEST_F(account, refusals)
{
	struct drm_npu_account account;
	const struct drm_npu_accounts good = {
		.flags = DRM_NPU_ACCOUNTS_LIVE,
		.count = 1,
		.stride = sizeof(account),
		.records = PTR(&account),
	};
	struct drm_npu_accounts args;

#define REFUSE(error, field, value) do { \
	args = good; \
	args.field = value; \
	EXPECT_EQ(error, test_ioctl(self->fd, DRM_IOCTL_NPU_ACCOUNTS, &args)); \
} while (0)
	REFUSE(-EINVAL, flags, 2);
	REFUSE(-EINVAL, count, 0);
	REFUSE(-EINVAL, stride, 0);
	REFUSE(-EINVAL, stride, sizeof(account) - 4);
	REFUSE(-EINVAL, stride, 1 << 20);
	REFUSE(-EINVAL, pad, 1);
	REFUSE(-EINVAL, lost, 1);
	REFUSE(-EFAULT, records, 8);
	/* More room than the driver fills in one call is no error. */
	REFUSE(0, after, 0);
	EXPECT_EQ(1, args.count);
}

TEST_HARNESS_MAIN
