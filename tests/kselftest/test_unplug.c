// SPDX-License-Identifier: GPL-2.0-only
/* The device goes away while clients use it. */
#include <linux/userfaultfd.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "tests/kselftest/npu_harness.h"

#define DEVICE	"npu_sim.npu.0"
#define DRIVER	"/sys/bus/auxiliary/drivers/npu/"
#define CODE_VA	TEST_VA
#define DATA_VA	(TEST_VA + 0x10000)

static int unbind(void)
{
	return test_write_file(DRIVER "unbind", DEVICE);
}

static int bind(void)
{
	return test_write_file(DRIVER "bind", DEVICE);
}

/* As the suite has loaded it. */
static int load_sim(void)
{
	return test_load("npu_sim", "devices=2");
}

/**
 * struct user - a client with a job that runs for ever and one behind it
 * @fd: open file
 * @queue: its queue
 * @running: syncobj of the first
 * @waiting: syncobj of the second
 * @handle: buffer
 * @data: the buffer
 */
struct user {
	int fd;
	uint32_t queue;
	uint32_t running;
	uint32_t waiting;
	uint32_t handle;
	uint8_t *data;
};

static int user_init(struct user *user)
{
	struct drm_npu_job job = { .insn_va = CODE_VA };
	uint8_t *code;

	user->fd = test_open(0);
	if (user->fd < 0 || test_queue_create(user->fd, 1, 0, &user->queue) ||
	    test_syncobj_create(user->fd, &user->running) ||
	    test_syncobj_create(user->fd, &user->waiting))
		return -1;
	code = test_buffer(user->fd, CODE_VA, TEST_PAGE, TEST_RWX, NULL);
	user->data = test_buffer(user->fd, DATA_VA, TEST_PAGE, TEST_RW, &user->handle);
	if (code == MAP_FAILED || user->data == MAP_FAILED)
		return -1;
	job.insn_count = test_spin_program(code);
	munmap(code, TEST_PAGE);
	if (test_submit(user->fd, user->queue, &job, 1, user->running))
		return -1;
	return test_submit(user->fd, user->queue, &job, 1, user->waiting);
}

static void user_close(struct user *user)
{
	munmap(user->data, TEST_PAGE);
	close(user->fd);
}

static int device_works(void)
{
	struct drm_npu_job job = {};
	uint32_t queue;
	int fd = test_open(0);
	int ret;

	if (fd < 0)
		return fd;
	ret = test_queue_create(fd, 1, 0, &queue);
	if (!ret)
		ret = test_run(fd, queue, &job);
	close(fd);
	return ret;
}

/* A sync_file of a syncobj; its error comes from the fence, not from an ioctl. */
static int export_fence(int fd, uint32_t handle)
{
	struct drm_syncobj_handle export = {
		.handle = handle,
		.flags = DRM_SYNCOBJ_HANDLE_TO_FD_FLAGS_EXPORT_SYNC_FILE,
	};
	int ret = test_ioctl(fd, DRM_IOCTL_SYNCOBJ_HANDLE_TO_FD, &export);

	return ret ?: export.fd;
}

FIXTURE(unplug)
{
	struct user user;
};

FIXTURE_SETUP(unplug)
{
	ASSERT_EQ(0, user_init(&self->user));
}

FIXTURE_TEARDOWN(unplug)
{
	user_close(&self->user);
}

static int all_ioctls_say_enodev(struct user *user)
{
	struct drm_npu_query_device info;
	struct drm_npu_queue_query query;
	struct drm_npu_job job = {};
	static uint8_t memory[TEST_PAGE] __attribute__((aligned(TEST_PAGE)));
	uint32_t id;

	return test_import(user->fd, memory, TEST_PAGE, 0, &id) == -ENODEV &&
	       test_query_device(user->fd, &info) == -ENODEV &&
	       test_bo_create(user->fd, TEST_PAGE, &id) == -ENODEV &&
	       test_bo_wait(user->fd, user->handle, 0, 0) == -ENODEV &&
	       test_bind(user->fd, user->handle, DATA_VA, 0, TEST_PAGE, TEST_RW) == -ENODEV &&
	       test_unbind(user->fd, DATA_VA, TEST_PAGE) == -ENODEV &&
	       test_queue_create(user->fd, 1, 0, &id) == -ENODEV &&
	       test_queue_query(user->fd, user->queue, &query) == -ENODEV &&
	       test_submit(user->fd, user->queue, &job, 1, 0) == -ENODEV &&
	       test_queue_destroy(user->fd, user->queue) == -ENODEV &&
	       test_syncobj_wait(user->fd, user->running, 0, 0) == -ENODEV;
}

TEST_F(unplug, unbind)
{
	ASSERT_EQ(0, unbind());
	EXPECT_TRUE(all_ioctls_say_enodev(&self->user));
	ASSERT_EQ(0, bind());
	EXPECT_TRUE(all_ioctls_say_enodev(&self->user));
	EXPECT_EQ(0, device_works());
}

TEST_F(unplug, fences_signal)
{
	int running = export_fence(self->user.fd, self->user.running);
	int waiting = export_fence(self->user.fd, self->user.waiting);

	ASSERT_GE(running, 0);
	ASSERT_GE(waiting, 0);
	ASSERT_EQ(0, unbind());
	EXPECT_EQ(-ENODEV, test_sync_file_status(running));
	EXPECT_EQ(-ENODEV, test_sync_file_status(waiting));
	close(running);
	close(waiting);
	ASSERT_EQ(0, bind());
}

TEST_F(unplug, mappings_stay)
{
	self->user.data[0] = 1;
	ASSERT_EQ(0, unbind());
	EXPECT_EQ(1, self->user.data[0]);
	self->user.data[TEST_PAGE - 1] = 2;
	EXPECT_EQ(2, self->user.data[TEST_PAGE - 1]);
	ASSERT_EQ(0, bind());
	EXPECT_EQ(1, self->user.data[0]);
}

TEST_F(unplug, memory_of_the_process_is_given_back)
{
	const uint64_t size = 16 * TEST_PAGE;
	long pins = test_pins();
	uint32_t handle;
	uint8_t *data = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	ASSERT_NE(MAP_FAILED, data);
	data[0] = 4;
	ASSERT_EQ(0, test_import(self->user.fd, data, size, 0, &handle));
	ASSERT_EQ(0, test_bind(self->user.fd, handle, DATA_VA + size, 0, size, TEST_RW));
	EXPECT_EQ(size / 1024, test_pinned_kb());
	EXPECT_EQ(pins + 16, test_pins());
	ASSERT_EQ(0, unbind());
	/* At once, though the file is open and the buffer has its handle. */
	EXPECT_EQ(0, test_pinned_kb());
	EXPECT_EQ(pins, test_pins());
	EXPECT_EQ(4, data[0]);
	data[0] = 5;
	ASSERT_EQ(0, bind());
	test_bo_close(self->user.fd, handle);
	EXPECT_EQ(5, data[0]);
	EXPECT_EQ(pins, test_pins());
}

/**
 * struct sleeper - a thread whose call waits for memory that nobody provides
 * @fd: open file
 * @queue: its queue
 * @call: 0 imports, 1 binds, 2 submits
 * @memory: a page that is not there
 * @ret: what came of it
 */
struct sleeper {
	int fd;
	uint32_t queue;
	int call;
	void *memory;
	int ret;
};

static void *sleep_in_a_call(void *data)
{
	struct sleeper *sleeper = data;
	struct drm_npu_vm_bind bind = {
		.op_count = 1, .op_stride = sizeof(struct drm_npu_bind_op),
		.ops = PTR(sleeper->memory),
	};
	uint32_t handle;

	if (sleeper->call == 0)
		sleeper->ret = test_import(sleeper->fd, sleeper->memory, TEST_PAGE, 0, &handle);
	else if (sleeper->call == 1)
		sleeper->ret = test_ioctl(sleeper->fd, DRM_IOCTL_NPU_VM_BIND, &bind);
	else
		sleeper->ret = test_submit(sleeper->fd, sleeper->queue, sleeper->memory, 1, 0);
	return NULL;
}

/* The faults of a page of memory, which this process is to resolve itself. */
static int watch_faults(void *memory)
{
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register registration = {
		.range = { .start = PTR(memory), .len = TEST_PAGE },
		.mode = UFFDIO_REGISTER_MODE_MISSING,
	};
	int fd = syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK);

	if (fd < 0)
		return -errno;
	return test_ioctl(fd, UFFDIO_API, &api) ?:
	       test_ioctl(fd, UFFDIO_REGISTER, &registration) ?: fd;
}

/* What a call returns that sleeps in a page fault while the device goes. */
static int unbind_while_it_sleeps(struct user *user, int call)
{
	struct sleeper sleeper = { .fd = user->fd, .queue = user->queue, .call = call };
	struct uffdio_zeropage zero = { .range = { .len = TEST_PAGE } };
	struct pollfd poller = { .events = POLLIN };
	pthread_t thread;
	int ret;

	sleeper.memory = mmap(NULL, TEST_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			      -1, 0);
	if (sleeper.memory == MAP_FAILED)
		return -ENOMEM;
	poller.fd = watch_faults(sleeper.memory);
	if (poller.fd < 0 || pthread_create(&thread, NULL, sleep_in_a_call, &sleeper) ||
	    poll(&poller, 1, TEST_WAIT_MS) != 1 || poller.revents != POLLIN)
		return -EIO;
	/* This does not wait for it. */
	ret = unbind();
	zero.range.start = PTR(sleeper.memory);
	ret = ret ?: test_ioctl(poller.fd, UFFDIO_ZEROPAGE, &zero);
	pthread_join(thread, NULL);
	close(poller.fd);
	return bind() ?: ret ?: sleeper.ret;
}

TEST_F(unplug, does_not_wait_for_a_page_fault_of_an_import)
{
	long pins = test_pins();

	EXPECT_EQ(-ENODEV, unbind_while_it_sleeps(&self->user, 0));
	EXPECT_EQ(pins, test_pins());
}

TEST_F(unplug, does_not_wait_for_a_page_fault_of_a_bind)
{
	/* It read zeros: an operation of no bytes. */
	EXPECT_EQ(-EINVAL, unbind_while_it_sleeps(&self->user, 1));
}

TEST_F(unplug, does_not_wait_for_a_page_fault_of_a_submission)
{
	EXPECT_EQ(-ENODEV, unbind_while_it_sleeps(&self->user, 2));
}

TEST_F(unplug, unload_of_the_transport)
{
	ASSERT_EQ(0, test_unload("npu_sim"));
	EXPECT_TRUE(all_ioctls_say_enodev(&self->user));
	self->user.data[0] = 3;
	/* The driver is in use as long as a client has it open. */
	EXPECT_EQ(-EWOULDBLOCK, test_unload("npu"));
	ASSERT_EQ(0, load_sim());
	EXPECT_EQ(3, self->user.data[0]);
	EXPECT_EQ(0, device_works());
}

TEST_F(unplug, fence_keeps_the_driver)
{
	int fence = export_fence(self->user.fd, self->user.running);

	ASSERT_GE(fence, 0);
	ASSERT_EQ(0, test_unload("npu_sim"));
	user_close(&self->user);
	self->user.fd = -1;
	self->user.data = MAP_FAILED;
	EXPECT_EQ(-EWOULDBLOCK, test_unload("npu"));
	EXPECT_EQ(-ENODEV, test_sync_file_status(fence));
	close(fence);
	/* Fences are freed after a grace period. */
	while (test_unload("npu") == -EWOULDBLOCK)
		usleep(10000);
	ASSERT_EQ(0, test_load("npu", ""));
	ASSERT_EQ(0, load_sim());
	EXPECT_EQ(0, device_works());
}

/* Memory of another driver, each time with a buffer object of its own. */
static void import(int fd, int dmabuf)
{
	struct drm_prime_handle prime = { .fd = dmabuf };

	if (!test_ioctl(fd, DRM_IOCTL_PRIME_FD_TO_HANDLE, &prime))
		test_bo_close(fd, prime.handle);
}

/* The same with memory of this process. */
static void import_own(int fd, void *memory)
{
	uint32_t handle;

	if (test_import(fd, memory, 2 * TEST_PAGE, 0, &handle))
		return;
	test_bind(fd, handle, DATA_VA + 16 * TEST_PAGE, 0, 2 * TEST_PAGE, TEST_RW);
	test_bo_close(fd, handle);
}

/* Opens, imports, submits, maps and closes until it is killed. */
static void hammer(void)
{
	struct drm_npu_job jobs[16] = {};
	uint32_t queue, sync, i;
	uint8_t *memory;
	int dmabuf = test_udmabuf(2 * TEST_PAGE, &memory);
	int fd;

	for (;;) {
		fd = test_open(0);
		if (fd < 0)
			continue;
		for (i = 0; i < 20; i++) {
			import(fd, dmabuf);
			import_own(fd, memory);
		}
		test_queue_create(fd, 1, 0, &queue);
		test_syncobj_create(fd, &sync);
		for (i = 0; i < 20; i++) {
			void *data = test_buffer(fd, DATA_VA, 4 * TEST_PAGE, TEST_RW, NULL);

			if (data != MAP_FAILED) {
				memset(data, i, 4 * TEST_PAGE);
				munmap(data, 4 * TEST_PAGE);
			}
			test_submit(fd, queue, jobs, 16, sync);
			test_syncobj_wait(fd, sync, 0, 1000);
			test_unbind(fd, DATA_VA, 4 * TEST_PAGE);
		}
		close(fd);
	}
}

TEST(unbind_under_load)
{
	long pins = test_pins();
	pid_t pids[3];
	uint32_t i;

	for (i = 0; i < 3; i++) {
		pids[i] = fork();
		ASSERT_GE(pids[i], 0);
		if (!pids[i])
			hammer();
	}
	for (i = 0; i < 15; i++) {
		usleep(100000);
		EXPECT_EQ(0, unbind());
		usleep(i * 1000);
		EXPECT_EQ(0, bind());
	}
	for (i = 0; i < 3; i++) {
		kill(pids[i], SIGKILL);
		waitpid(pids[i], NULL, 0);
	}
	EXPECT_EQ(pins, test_pins());
	EXPECT_EQ(0, device_works());
}

TEST(unload_under_load)
{
	pid_t pids[3];
	uint32_t i;

	for (i = 0; i < 3; i++) {
		pids[i] = fork();
		ASSERT_GE(pids[i], 0);
		if (!pids[i])
			hammer();
	}
	for (i = 0; i < 5; i++) {
		usleep(200000);
		EXPECT_EQ(0, test_unload("npu_sim"));
		EXPECT_EQ(0, load_sim());
	}
	for (i = 0; i < 3; i++) {
		kill(pids[i], SIGKILL);
		waitpid(pids[i], NULL, 0);
	}
	EXPECT_EQ(0, device_works());
}

TEST_HARNESS_MAIN
