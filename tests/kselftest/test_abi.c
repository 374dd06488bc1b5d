// SPDX-License-Identifier: GPL-2.0-only
/*
 * Arguments of all calls as programs older and newer than the driver pass them:
 * shorter, longer, at the very end of mapped memory, and from 32-bit programs.
 */
#include <setjmp.h>
#include <signal.h>

#include "tests/kselftest/npu_harness.h"

#define VA	(TEST_VA + 0x100000)
#define MARK	0xa5
#define ROOM	1024u

/**
 * struct call - a call with arguments that it accepts
 * @number: DRM_IOCTL_NPU_*
 * @used: bytes up to the last field that is not to be 0
 * @args: arguments
 * @ret: what it returns
 */
struct call {
	unsigned long number;
	unsigned int used;
	uint64_t args[16];
	int ret;
};

FIXTURE(abi)
{
	int fd;
	struct call calls[16];
	unsigned int count;
	uint8_t *memory;
	struct drm_npu_query_time time;
	struct drm_npu_account account;
	struct drm_npu_bind_op op;
	struct drm_npu_job job;
};

static void add(struct call *calls, unsigned int *count, unsigned long number, const void *args,
		unsigned int used, int ret)
{
	struct call *call = &calls[(*count)++];

	*call = (struct call) { .number = number, .used = used, .ret = ret };
	memcpy(call->args, args, _IOC_SIZE(number));
}

#define ADD(number, last, expected, ...) do { \
	__typeof__(__VA_ARGS__) args_ = __VA_ARGS__; \
	\
	add(self->calls, &self->count, number, &args_, \
	    offsetof(__typeof__(args_), last) + sizeof(args_.last), expected); \
} while (0)

FIXTURE_SETUP(abi)
{
	uint32_t handle, queue;

	self->fd = test_open(0);
	ASSERT_GE(self->fd, 0);
	ASSERT_EQ(0, test_bo_create(self->fd, TEST_PAGE, &handle));
	ASSERT_EQ(0, test_queue_create(self->fd, 0, 0, &queue));
	self->memory = mmap(NULL, TEST_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			    -1, 0);
	ASSERT_NE(MAP_FAILED, self->memory);
	self->op = (struct drm_npu_bind_op) {
		.flags = TEST_RW, .handle = handle, .va = VA, .size = TEST_PAGE,
	};

	ADD(DRM_IOCTL_NPU_DEV_QUERY, data, 0, (struct drm_npu_dev_query) {
		.query = DRM_NPU_QUERY_TIME, .size = sizeof(self->time), .data = PTR(&self->time) });
	ADD(DRM_IOCTL_NPU_BO_CREATE, size, 0, (struct drm_npu_bo_create) { .size = TEST_PAGE });
	ADD(DRM_IOCTL_NPU_BO_IMPORT_USER, size, 0, (struct drm_npu_bo_import_user) {
		.addr = PTR(self->memory), .size = TEST_PAGE });
	ADD(DRM_IOCTL_NPU_BO_MMAP_OFFSET, handle, 0, (struct drm_npu_bo_mmap_offset) {
		.handle = handle });
	ADD(DRM_IOCTL_NPU_BO_WAIT, handle, 0, (struct drm_npu_bo_wait) { .handle = handle });
	ADD(DRM_IOCTL_NPU_VM_BIND, ops, 0, (struct drm_npu_vm_bind) {
		.op_count = 1, .op_stride = sizeof(self->op), .ops = PTR(&self->op) });
	ADD(DRM_IOCTL_NPU_QUEUE_CREATE, priority, 0, (struct drm_npu_queue_create) {});
	ADD(DRM_IOCTL_NPU_QUEUE_DESTROY, queue_id, -ENOENT, (struct drm_npu_queue_destroy) {
		.queue_id = 12345 });
	ADD(DRM_IOCTL_NPU_QUEUE_QUERY, queue_id, 0, (struct drm_npu_queue_query) {
		.queue_id = queue });
	ADD(DRM_IOCTL_NPU_SUBMIT, jobs, 0, (struct drm_npu_submit) {
		.queue_id = queue, .job_count = 1, .job_stride = sizeof(self->job),
		.jobs = PTR(&self->job) });
	ADD(DRM_IOCTL_NPU_ACCOUNTS, records, 0, (struct drm_npu_accounts) {
		.count = 1, .stride = sizeof(self->account), .records = PTR(&self->account),
		.flags = DRM_NPU_ACCOUNTS_LIVE });
}

FIXTURE_TEARDOWN(abi)
{
	close(self->fd);
}

/* The same call with another size in its number. */
static unsigned long sized(unsigned long number, unsigned int size)
{
	return _IOC(_IOC_DIR(number), _IOC_TYPE(number), _IOC_NR(number), size);
}

/* A page of which @size bytes are used, at its end; nothing is mapped behind. */
static uint8_t *at_the_end(unsigned int size)
{
	uint8_t *pages = mmap(NULL, 2 * TEST_PAGE, PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (pages == MAP_FAILED || munmap(pages + TEST_PAGE, TEST_PAGE))
		return NULL;
	memset(pages, MARK, TEST_PAGE);
	return pages + TEST_PAGE - size;
}

static bool all_are(const uint8_t *data, unsigned int size, uint8_t value)
{
	while (size--)
		if (data[size] != value)
			return false;
	return true;
}

TEST_F(abi, table_has_all_calls)
{
	unsigned int i;

	for (i = 0; i < self->count; i++)
		EXPECT_EQ(DRM_COMMAND_BASE + i, _IOC_NR(self->calls[i].number));
	/* The next one is not there. */
	EXPECT_EQ(-EINVAL, test_ioctl(self->fd, DRM_IOWR(DRM_COMMAND_BASE + self->count,
							 struct drm_npu_accounts), self->memory));
}

TEST_F(abi, nothing_is_read_or_written_behind_the_arguments)
{
	unsigned int i;

	for (i = 0; i < self->count; i++) {
		const struct call *call = &self->calls[i];
		unsigned int size = _IOC_SIZE(call->number);
		uint8_t *args = at_the_end(size);

		ASSERT_NE(NULL, args);
		memcpy(args, call->args, size);
		EXPECT_EQ(call->ret, test_ioctl(self->fd, call->number, args))
			TH_LOG("call %u", i);
		EXPECT_TRUE(all_are(args - 64, 64, MARK));
	}
}

TEST_F(abi, shorter_arguments_are_completed_with_zeros)
{
	unsigned int i;

	for (i = 0; i < self->count; i++) {
		const struct call *call = &self->calls[i];
		unsigned int size = (call->used + 7) & ~7u;
		uint8_t *args = at_the_end(size);

		ASSERT_NE(NULL, args);
		memcpy(args, call->args, size);
		EXPECT_EQ(call->ret, test_ioctl(self->fd, sized(call->number, size), args))
			TH_LOG("call %u", i);
		EXPECT_TRUE(all_are(args - 64, 64, MARK));
	}
}

TEST_F(abi, no_arguments_are_all_zeros)
{
	unsigned int i;

	for (i = 0; i < self->count; i++) {
		int ret = test_ioctl(self->fd, sized(self->calls[i].number, 0), NULL);

		EXPECT_TRUE(ret == -EINVAL || ret == -ENOENT || ret == 0)
			TH_LOG("call %u: %d", i, ret);
	}
}

TEST_F(abi, longer_arguments_with_zeros)
{
	uint8_t args[ROOM];
	unsigned int i;

	for (i = 0; i < self->count; i++) {
		const struct call *call = &self->calls[i];
		unsigned int size = _IOC_SIZE(call->number);

		memset(args, 0, sizeof(args));
		memset(args + size + 64, MARK, sizeof(args) - size - 64);
		memcpy(args, call->args, size);
		EXPECT_EQ(call->ret, test_ioctl(self->fd, sized(call->number, size + 64), args))
			TH_LOG("call %u", i);
		EXPECT_TRUE(all_are(args + size, 64, 0));
		EXPECT_TRUE(all_are(args + size + 64, sizeof(args) - size - 64, MARK));
	}
}

TEST_F(abi, longer_arguments_with_something_unknown)
{
	uint8_t args[ROOM], before[ROOM];
	unsigned int i, at;

	for (i = 0; i < self->count; i++) {
		const struct call *call = &self->calls[i];
		unsigned int size = _IOC_SIZE(call->number);

		for (at = size; at < size + 64; at += 9) {
			memset(args, 0, sizeof(args));
			memcpy(args, call->args, size);
			args[at] = 1;
			memcpy(before, args, sizeof(args));
			EXPECT_EQ(-E2BIG, test_ioctl(self->fd, sized(call->number, size + 64), args))
				TH_LOG("call %u", i);
			EXPECT_EQ(0, memcmp(before, args, sizeof(args)));
		}
	}
}

TEST_F(abi, longer_arguments_that_are_not_there)
{
	unsigned int i;

	for (i = 0; i < self->count; i++) {
		const struct call *call = &self->calls[i];
		unsigned int size = _IOC_SIZE(call->number);
		uint8_t *args = at_the_end(size);

		ASSERT_NE(NULL, args);
		memcpy(args, call->args, size);
		EXPECT_EQ(-EFAULT, test_ioctl(self->fd, sized(call->number, size + 64), args))
			TH_LOG("call %u", i);
		EXPECT_EQ(-EFAULT, test_ioctl(self->fd, call->number, args + size))
			TH_LOG("call %u", i);
		EXPECT_EQ(-EFAULT, test_ioctl(self->fd, call->number, NULL)) TH_LOG("call %u", i);
		EXPECT_EQ(-EFAULT, test_ioctl(self->fd, call->number, (void *)-4096ul))
			TH_LOG("call %u", i);
	}
}

/* What a call gives back, and was not asked with, may hold anything. */
TEST_F(abi, outputs_need_not_be_cleared)
{
	struct drm_npu_bo_create bo = { .size = TEST_PAGE, .handle = UINT32_MAX };
	struct drm_npu_bo_import_user user = {
		.addr = PTR(self->memory), .size = TEST_PAGE, .handle = UINT32_MAX,
	};
	struct drm_npu_bo_mmap_offset offset = { .offset = UINT64_MAX };
	struct drm_npu_queue_create queue = { .queue_id = UINT32_MAX };
	struct drm_npu_queue_query query;
	struct drm_npu_vm_bind bind = {
		.op_count = 1, .op_stride = sizeof(self->op), .ops = PTR(&self->op),
		.failed_op = UINT32_MAX,
	};
	struct drm_npu_submit submit = {
		.job_count = 1, .job_stride = sizeof(self->job), .jobs = PTR(&self->job),
		.seqno = UINT64_MAX,
	};

	EXPECT_EQ(0, test_ioctl(self->fd, DRM_IOCTL_NPU_BO_CREATE, &bo));
	EXPECT_NE(UINT32_MAX, bo.handle);
	EXPECT_EQ(0, test_ioctl(self->fd, DRM_IOCTL_NPU_BO_IMPORT_USER, &user));
	EXPECT_NE(UINT32_MAX, user.handle);
	offset.handle = bo.handle;
	EXPECT_EQ(0, test_ioctl(self->fd, DRM_IOCTL_NPU_BO_MMAP_OFFSET, &offset));
	EXPECT_NE(UINT64_MAX, offset.offset);
	EXPECT_EQ(0, test_ioctl(self->fd, DRM_IOCTL_NPU_QUEUE_CREATE, &queue));
	EXPECT_NE(UINT32_MAX, queue.queue_id);
	EXPECT_EQ(0, test_ioctl(self->fd, DRM_IOCTL_NPU_VM_BIND, &bind));
	EXPECT_EQ(0, bind.failed_op);
	submit.queue_id = queue.queue_id;
	EXPECT_EQ(0, test_ioctl(self->fd, DRM_IOCTL_NPU_SUBMIT, &submit));
	EXPECT_EQ(1, submit.seqno);
	memset(&query, 0xff, sizeof(query));
	query.queue_id = queue.queue_id;
	query.pad = 0;
	query.pad0 = 0;
	EXPECT_EQ(0, test_ioctl(self->fd, DRM_IOCTL_NPU_QUEUE_QUERY, &query));
	EXPECT_EQ(1, query.jobs_submitted);
	EXPECT_EQ(0, query.failed_job);
	EXPECT_EQ(0, query.fault_va);
}

#ifdef __x86_64__
static sigjmp_buf no_such_call;

static void cannot_call(int number)
{
	siglongjmp(no_such_call, number);
}

/* As a 32-bit program would: by the kernel's other entry. */
static int ioctl_of_32_bits(int fd, unsigned long number, void *arg)
{
	long ret = 54;

	asm volatile("int $0x80" : "+a" (ret)
		     : "b" ((long)fd), "c" (number), "d" (arg) : "memory", "r8", "r9", "r10", "r11");
	return ret;
}

TEST_F(abi, calls_of_32_bit_programs)
{
	const struct sigaction action = { .sa_handler = cannot_call };
	uint8_t *args = mmap(NULL, TEST_PAGE, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
	unsigned int i;

	ASSERT_NE(MAP_FAILED, args);
	ASSERT_EQ(0, sigaction(SIGSEGV, &action, NULL));
	if (sigsetjmp(no_such_call, 1))
		SKIP(return, "this kernel runs no 32-bit programs");
	for (i = 0; i < self->count; i++) {
		const struct call *call = &self->calls[i];
		unsigned int size = _IOC_SIZE(call->number);

		memset(args, 0, TEST_PAGE);
		memcpy(args, call->args, size);
		EXPECT_EQ(call->ret, ioctl_of_32_bits(self->fd, call->number, args))
			TH_LOG("call %u", i);
		memset(args, 0, TEST_PAGE);
		memcpy(args, call->args, size);
		args[size + 8] = 1;
		EXPECT_EQ(-E2BIG, ioctl_of_32_bits(self->fd, sized(call->number, size + 16), args))
			TH_LOG("call %u", i);
	}
}
#endif

static const unsigned int known[] = {
	[DRM_NPU_QUERY_DEVICE] = sizeof(struct drm_npu_query_device),
	[DRM_NPU_QUERY_REGIONS] = sizeof(struct drm_npu_query_region),
	[DRM_NPU_QUERY_TIME] = sizeof(struct drm_npu_query_time),
};

static int query(int fd, uint32_t what, void *data, uint32_t size, uint32_t *has)
{
	struct drm_npu_dev_query args = { .query = what, .size = size, .data = PTR(data) };
	int ret = test_ioctl(fd, DRM_IOCTL_NPU_DEV_QUERY, &args);

	*has = args.size;
	return ret;
}

TEST_F(abi, queries_of_every_size)
{
	uint32_t what, size, has;

	for (what = 0; what < 3; what++) {
		for (size = 1; size <= known[what] + 40; size++) {
			uint8_t *data = at_the_end(size);

			ASSERT_NE(NULL, data);
			ASSERT_EQ(0, query(self->fd, what, data, size, &has));
			EXPECT_EQ(known[what], has);
			EXPECT_TRUE(all_are(data - 64, 64, MARK));
			if (size > known[what])
				EXPECT_TRUE(all_are(data + known[what], size - known[what], 0));
		}
	}
}

/* Each byte of an answer is written, whatever was there. */
TEST_F(abi, answers_are_whole)
{
	uint8_t zeros[256], ones[256];
	uint32_t size = sizeof(struct drm_npu_query_device);
	struct drm_npu_query_region region;
	uint32_t has;

	memset(zeros, 0, sizeof(zeros));
	memset(ones, 0xff, sizeof(ones));
	ASSERT_EQ(0, query(self->fd, DRM_NPU_QUERY_DEVICE, zeros, size, &has));
	ASSERT_EQ(0, query(self->fd, DRM_NPU_QUERY_DEVICE, ones, size, &has));
	EXPECT_EQ(0, memcmp(zeros, ones, size));
	memset(&region, 0xff, sizeof(region));
	ASSERT_EQ(0, query(self->fd, DRM_NPU_QUERY_REGIONS, &region, sizeof(region), &has));
	EXPECT_EQ(0, region.pad);
	EXPECT_EQ(0, region.size);
}

TEST_F(abi, queries_refuse_sizes)
{
	uint32_t has;
	uint8_t *data = at_the_end(64);

	EXPECT_EQ(-E2BIG, query(self->fd, DRM_NPU_QUERY_TIME, data, TEST_PAGE + 1, &has));
	EXPECT_EQ(-E2BIG, query(self->fd, DRM_NPU_QUERY_TIME, data, UINT32_MAX, &has));
	EXPECT_EQ(-EFAULT, query(self->fd, DRM_NPU_QUERY_TIME, data, TEST_PAGE, &has));
	EXPECT_EQ(-EFAULT, query(self->fd, DRM_NPU_QUERY_TIME, data + 48, 24, &has));
	EXPECT_EQ(-EFAULT, query(self->fd, DRM_NPU_QUERY_TIME, (void *)-4096ul, 24, &has));
}

TEST_HARNESS_MAIN
