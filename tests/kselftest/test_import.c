// SPDX-License-Identifier: GPL-2.0-only
/* BO_IMPORT_USER: memory that may be imported, and what is refused. */
#include <linux/mman.h>
#include <linux/udmabuf.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "tests/kselftest/npu_harness.h"

#define CODE_VA	TEST_VA
#define DATA_VA	(TEST_VA + 0x200000)
#define HUGE	(2u << 20)

FIXTURE(import)
{
	int fd;
	uint32_t queue;
	uint8_t *code;
};

FIXTURE_SETUP(import)
{
	self->fd = test_open(0);
	ASSERT_GE(self->fd, 0);
	ASSERT_EQ(0, test_queue_create(self->fd, 1, 0, &self->queue));
	self->code = test_buffer(self->fd, CODE_VA, TEST_PAGE, TEST_RWX, NULL);
	ASSERT_NE(MAP_FAILED, self->code);
}

FIXTURE_TEARDOWN(import)
{
	close(self->fd);
}

static void *pages(size_t size)
{
	return mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

/* A file of @size bytes in a new folder of @type; its descriptor. */
static int file_on(const char *type, size_t size)
{
	char folder[] = "/tmp/npu-import-XXXXXX", path[64];
	int fd;

	if (!mkdtemp(folder) || mount(type, folder, type, 0, NULL))
		return -1;
	snprintf(path, sizeof(path), "%s/file", folder);
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	umount2(folder, MNT_DETACH);
	rmdir(folder);
	return fd < 0 || ftruncate(fd, size) ? -1 : fd;
}

static void *map_file(int fd, int flags)
{
	void *data = mmap(NULL, HUGE, PROT_READ | PROT_WRITE, flags, fd, 0);

	close(fd);
	return data;
}

static void *memfd(unsigned int flags)
{
	int fd = memfd_create("npu", MFD_CLOEXEC | flags);

	return fd < 0 || ftruncate(fd, HUGE) ? MAP_FAILED : map_file(fd, MAP_SHARED);
}

static void *kind_private(void)
{
	return pages(HUGE);
}

static void *kind_shared(void)
{
	return mmap(NULL, HUGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
}

static void *kind_memfd(void)
{
	return memfd(0);
}

static void *kind_memfd_huge(void)
{
	return memfd(MFD_HUGETLB | MAP_HUGE_2MB);
}

static void *kind_hugetlb(void)
{
	return mmap(NULL, HUGE, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB | MAP_HUGE_2MB, -1, 0);
}

static void *kind_transparent_huge(void)
{
	uint8_t *data = pages(2 * HUGE);

	if (data == MAP_FAILED)
		return data;
	data = (void *)((uintptr_t)(data + HUGE - 1) & ~(uintptr_t)(HUGE - 1));
	return madvise(data, HUGE, MADV_HUGEPAGE) ? MAP_FAILED : data;
}

static void *kind_tmpfs(void)
{
	return map_file(file_on("tmpfs", HUGE), MAP_SHARED);
}

static void *kind_private_file(void)
{
	return map_file(file_on("ramfs", HUGE), MAP_PRIVATE);
}

static void *kind_sysv(void)
{
	int id = shmget(IPC_PRIVATE, HUGE, IPC_CREAT | 0600);
	void *data = id < 0 ? (void *)-1 : shmat(id, NULL, 0);

	shmctl(id, IPC_RMID, NULL);
	return data;
}

static void *kind_heap(void)
{
	return aligned_alloc(TEST_PAGE, HUGE);
}

static void *kind_stack(void)
{
	/* Of the main thread, which grows down to here. */
	uint8_t *top = (uint8_t *)((uintptr_t)&top & ~(uintptr_t)(TEST_PAGE - 1));
	volatile uint8_t *at;

	for (at = top; at >= top - 2 * HUGE; at -= TEST_PAGE)
		*at = 0;
	return top - 2 * HUGE;
}

static int huge_pages(int count)
{
	char text[16];

	snprintf(text, sizeof(text), "%d", count);
	return test_write_file("/proc/sys/vm/nr_hugepages", text);
}

FIXTURE(kind)
{
	int fd;
	uint32_t queue;
	uint8_t *code;
	uint8_t *data;
};

FIXTURE_VARIANT(kind)
{
	void *(*make)(void);
};

#define KIND(name) \
	FIXTURE_VARIANT_ADD(kind, name) { .make = kind_##name }

KIND(private);
KIND(shared);
KIND(memfd);
KIND(memfd_huge);
KIND(hugetlb);
KIND(transparent_huge);
KIND(tmpfs);
KIND(private_file);
KIND(sysv);
KIND(heap);
KIND(stack);

FIXTURE_SETUP(kind)
{
	ASSERT_EQ(0, huge_pages(4));
	self->fd = test_open(0);
	ASSERT_GE(self->fd, 0);
	ASSERT_EQ(0, test_queue_create(self->fd, 1, 0, &self->queue));
	self->code = test_buffer(self->fd, CODE_VA, TEST_PAGE, TEST_RWX, NULL);
	ASSERT_NE(MAP_FAILED, self->code);
	self->data = variant->make();
	ASSERT_NE(MAP_FAILED, self->data);
	ASSERT_NE(NULL, self->data);
}

FIXTURE_TEARDOWN(kind)
{
	close(self->fd);
	huge_pages(0);
}

/* Has the device copy 64 bytes of one place to 16 of another. */
static int device_copies(int fd, uint32_t queue, uint8_t *code, uint64_t from, uint64_t to)
{
	struct drm_npu_job job = { .insn_va = CODE_VA };

	job.insn_count = test_copy_program(code, from, to, 1);
	return test_run(fd, queue, &job);
}

TEST_F(kind, device_reads_and_writes_it)
{
	uint32_t handle, page;

	ASSERT_EQ(0, test_import(self->fd, self->data, HUGE, 0, &handle));
	ASSERT_EQ(0, test_bind(self->fd, handle, DATA_VA, 0, HUGE, TEST_RW));
	for (page = 0; page < HUGE; page += 61 * TEST_PAGE) {
		memset(self->data + page, 1 + page / TEST_PAGE, TEST_PAGE);
		ASSERT_EQ(0, device_copies(self->fd, self->queue, self->code, DATA_VA + page,
					   DATA_VA + HUGE - TEST_PAGE));
		EXPECT_EQ((uint8_t)(1 + page / TEST_PAGE), self->data[HUGE - TEST_PAGE]);
		EXPECT_EQ((uint8_t)(1 + page / TEST_PAGE), self->data[HUGE - TEST_PAGE + 15]);
	}
}

TEST_F(kind, untouched_memory_is_read_only_imported)
{
	uint32_t handle, out;
	uint8_t *result = test_buffer(self->fd, DATA_VA + HUGE, TEST_PAGE, TEST_RW, &out);

	ASSERT_NE(MAP_FAILED, result);
	ASSERT_EQ(0, test_import(self->fd, self->data, HUGE, DRM_NPU_IMPORT_READ_ONLY, &handle));
	ASSERT_EQ(0, test_bind(self->fd, handle, DATA_VA, 0, HUGE, DRM_NPU_BIND_READ));
	/* Pages that were pinned before the first write are those that are written. */
	memset(self->data + 5 * TEST_PAGE, 0x5c, TEST_PAGE);
	ASSERT_EQ(0, device_copies(self->fd, self->queue, self->code, DATA_VA + 5 * TEST_PAGE,
				   DATA_VA + HUGE));
	EXPECT_EQ(0x5c, result[0]);
	EXPECT_EQ(-EFAULT, device_copies(self->fd, self->queue, self->code, DATA_VA + HUGE,
					 DATA_VA));
}

/* Page tables of this client. */
static int tables(void)
{
	static char text[1 << 20];
	char *line, *rest = text;
	unsigned int pid, count;

	if (test_read_file("/sys/kernel/debug/accel/npu_sim.npu.0/npu_vm", text, sizeof(text)) < 0)
		return -1;
	while ((line = strsep(&rest, "\n")))
		if (sscanf(line, "client %*u: process %u context %*u root %*x tables %u", &pid,
			   &count) == 2 && pid == getpid())
			return count;
	return -1;
}

TEST_F(import, huge_page_is_one_leaf)
{
	uint8_t *small = pages(HUGE), *huge;
	uint32_t handle;
	int before;

	ASSERT_EQ(0, huge_pages(2));
	huge = kind_hugetlb();
	ASSERT_NE(MAP_FAILED, small);
	ASSERT_NE(MAP_FAILED, huge);
	ASSERT_EQ(0, madvise(small, HUGE, MADV_NOHUGEPAGE));
	before = tables();
	ASSERT_LT(0, before);
	/* Each in a gigabyte of its own: small pages need tables of two levels more. */
	ASSERT_EQ(0, test_import(self->fd, small, HUGE, 0, &handle));
	ASSERT_EQ(0, test_bind(self->fd, handle, 1ull << 30, 0, HUGE, TEST_RW));
	EXPECT_EQ(before + 2, tables());
	ASSERT_EQ(0, test_import(self->fd, huge, HUGE, 0, &handle));
	ASSERT_EQ(0, test_bind(self->fd, handle, 2ull << 30, 0, HUGE, TEST_RW));
	EXPECT_EQ(before + 3, tables());
	memset(huge, 0x5d, 64);
	ASSERT_EQ(0, device_copies(self->fd, self->queue, self->code, 2ull << 30,
				   (2ull << 30) + HUGE - TEST_PAGE));
	EXPECT_EQ(0x5d, huge[HUGE - TEST_PAGE]);
	/* A part of it has small ones again. */
	ASSERT_EQ(0, test_unbind(self->fd, (2ull << 30) + TEST_PAGE, TEST_PAGE));
	EXPECT_EQ(before + 4, tables());
	munmap(huge, HUGE);
	huge_pages(0);
}

TEST_F(import, read_only_memory)
{
	uint8_t *data = pages(TEST_PAGE);
	uint32_t handle;

	ASSERT_NE(MAP_FAILED, data);
	data[0] = 7;
	ASSERT_EQ(0, mprotect(data, TEST_PAGE, PROT_READ));
	EXPECT_EQ(-EACCES, test_import(self->fd, data, TEST_PAGE, 0, &handle));
	ASSERT_EQ(0, test_import(self->fd, data, TEST_PAGE, DRM_NPU_IMPORT_READ_ONLY, &handle));
	EXPECT_EQ(-EACCES, test_bind(self->fd, handle, DATA_VA, 0, TEST_PAGE, TEST_RW));
	EXPECT_EQ(-EACCES, test_bind(self->fd, handle, DATA_VA, 0, TEST_PAGE, TEST_RWX));
	EXPECT_EQ(0, test_bind(self->fd, handle, DATA_VA, 0, TEST_PAGE,
			       DRM_NPU_BIND_READ | DRM_NPU_BIND_EXEC));
}

TEST_F(import, instructions_run_from_it)
{
	uint8_t *data = pages(TEST_PAGE);
	struct drm_npu_job job = { .insn_va = DATA_VA };
	uint32_t handle;

	ASSERT_NE(MAP_FAILED, data);
	ASSERT_EQ(0, test_import(self->fd, data, TEST_PAGE, DRM_NPU_IMPORT_READ_ONLY, &handle));
	ASSERT_EQ(0, test_bind(self->fd, handle, DATA_VA, 0, TEST_PAGE,
			       DRM_NPU_BIND_READ | DRM_NPU_BIND_EXEC));
	job.insn_count = test_work_program(data, 1000);
	EXPECT_EQ(0, test_run(self->fd, self->queue, &job));
}

TEST_F(import, twice_is_the_same_memory)
{
	uint8_t *data = pages(TEST_PAGE);
	uint32_t first, second;

	ASSERT_NE(MAP_FAILED, data);
	ASSERT_EQ(0, test_import(self->fd, data, TEST_PAGE, 0, &first));
	ASSERT_EQ(0, test_import(self->fd, data, TEST_PAGE, 0, &second));
	EXPECT_NE(first, second);
	ASSERT_EQ(0, test_bind(self->fd, first, DATA_VA, 0, TEST_PAGE, TEST_RW));
	ASSERT_EQ(0, test_bind(self->fd, second, DATA_VA + TEST_PAGE, 0, TEST_PAGE, TEST_RW));
	test_bo_close(self->fd, first);
	memset(data, 0x31, 64);
	ASSERT_EQ(0, device_copies(self->fd, self->queue, self->code, DATA_VA,
				   DATA_VA + TEST_PAGE + 1024));
	EXPECT_EQ(0x31, data[1024]);
}

TEST_F(import, wait_sees_jobs)
{
	struct drm_npu_job job = { .insn_va = CODE_VA };
	uint8_t *data = pages(TEST_PAGE);
	uint32_t handle;

	ASSERT_NE(MAP_FAILED, data);
	ASSERT_EQ(0, test_import(self->fd, data, TEST_PAGE, 0, &handle));
	ASSERT_EQ(0, test_bind(self->fd, handle, DATA_VA, 0, TEST_PAGE, TEST_RW));
	job.insn_count = test_spin_program(self->code);
	EXPECT_EQ(0, test_bo_wait(self->fd, handle, 0, 0));
	ASSERT_EQ(0, test_submit(self->fd, self->queue, &job, 1, 0));
	EXPECT_EQ(-ETIME, test_bo_wait(self->fd, handle, 0, 0));
	ASSERT_EQ(0, test_queue_destroy(self->fd, self->queue));
	EXPECT_EQ(0, test_bo_wait(self->fd, handle, 0, TEST_WAIT_MS));
}

TEST_F(import, refuses_arguments)
{
	uint8_t *data = pages(4 * TEST_PAGE);
	uint32_t handle;

	ASSERT_NE(MAP_FAILED, data);
	EXPECT_EQ(-EINVAL, test_import(self->fd, data, 0, 0, &handle));
	EXPECT_EQ(-EINVAL, test_import(self->fd, data + 1, TEST_PAGE, 0, &handle));
	EXPECT_EQ(-EINVAL, test_import(self->fd, data + 64, TEST_PAGE, 0, &handle));
	EXPECT_EQ(-EINVAL, test_import(self->fd, data, TEST_PAGE - 1, 0, &handle));
	EXPECT_EQ(-EINVAL, test_import(self->fd, data, TEST_PAGE + 1, 0, &handle));
	EXPECT_EQ(-EINVAL, test_import(self->fd, data, TEST_PAGE, 2, &handle));
	EXPECT_EQ(-EINVAL, test_import(self->fd, data, TEST_PAGE, 1u << 31, &handle));
	EXPECT_EQ(-EINVAL, test_import(self->fd, data, 1ull << 38, 0, &handle));
	EXPECT_EQ(-EINVAL, test_import(self->fd, data, UINT64_MAX & ~4095ull, 0, &handle));
	EXPECT_EQ(-EINVAL, test_import(self->fd, (void *)-4096ull, TEST_PAGE, 0, &handle));
	EXPECT_EQ(-EINVAL, test_import(self->fd, (void *)-4096ull, 2 * TEST_PAGE, 0, &handle));
	EXPECT_EQ(0, test_import(self->fd, data, 4 * TEST_PAGE, 0, &handle));
}

TEST_F(import, refuses_what_is_not_mapped)
{
	uint8_t *data = pages(4 * TEST_PAGE);
	uint32_t handle;

	ASSERT_NE(MAP_FAILED, data);
	EXPECT_EQ(-EFAULT, test_import(self->fd, NULL, TEST_PAGE, 0, &handle));
	EXPECT_EQ(-EFAULT, test_import(self->fd, (void *)(1ull << 62), TEST_PAGE, 0, &handle));
	EXPECT_EQ(-EFAULT, test_import(self->fd, (void *)-8192ull, TEST_PAGE, 0, &handle));
	ASSERT_EQ(0, munmap(data + TEST_PAGE, TEST_PAGE));
	EXPECT_EQ(-EFAULT, test_import(self->fd, data, 4 * TEST_PAGE, 0, &handle));
	EXPECT_EQ(-EFAULT, test_import(self->fd, data, 2 * TEST_PAGE, 0, &handle));
	EXPECT_EQ(-EFAULT, test_import(self->fd, data + TEST_PAGE, 2 * TEST_PAGE, 0, &handle));
	EXPECT_EQ(0, test_import(self->fd, data + 2 * TEST_PAGE, 2 * TEST_PAGE, 0, &handle));
	EXPECT_EQ(TEST_PAGE * 2 / 1024, test_pinned_kb());
}

TEST_F(import, refuses_file_beyond_its_end)
{
	int fd = memfd_create("npu", MFD_CLOEXEC);
	uint32_t handle;
	uint8_t *data;

	ASSERT_EQ(0, ftruncate(fd, TEST_PAGE));
	data = mmap(NULL, 2 * TEST_PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	ASSERT_NE(MAP_FAILED, data);
	close(fd);
	EXPECT_EQ(-EFAULT, test_import(self->fd, data, 2 * TEST_PAGE, 0, &handle));
	EXPECT_EQ(0, test_pinned_kb());
	EXPECT_EQ(0, test_import(self->fd, data, TEST_PAGE, 0, &handle));
}

TEST_F(import, refuses_protected_memory)
{
	uint8_t *data = pages(4 * TEST_PAGE);
	uint32_t handle;

	ASSERT_NE(MAP_FAILED, data);
	ASSERT_EQ(0, mprotect(data + TEST_PAGE, TEST_PAGE, PROT_READ));
	ASSERT_EQ(0, mprotect(data + 3 * TEST_PAGE, TEST_PAGE, PROT_NONE));
	EXPECT_EQ(-EACCES, test_import(self->fd, data, 2 * TEST_PAGE, 0, &handle));
	EXPECT_EQ(0, test_import(self->fd, data, 2 * TEST_PAGE, DRM_NPU_IMPORT_READ_ONLY, &handle));
	EXPECT_EQ(-EACCES, test_import(self->fd, data + 2 * TEST_PAGE, 2 * TEST_PAGE,
				       DRM_NPU_IMPORT_READ_ONLY, &handle));
}

TEST_F(import, refuses_memory_of_the_driver)
{
	uint32_t handle;

	EXPECT_EQ(-EOPNOTSUPP, test_import(self->fd, self->code, TEST_PAGE, 0, &handle));
	EXPECT_EQ(-EOPNOTSUPP, test_import(self->fd, self->code, TEST_PAGE,
					   DRM_NPU_IMPORT_READ_ONLY, &handle));
}

TEST_F(import, refuses_dma_buf)
{
	struct udmabuf_create create = { .flags = UDMABUF_FLAGS_CLOEXEC, .size = TEST_PAGE };
	int device = open("/dev/udmabuf", O_RDWR | O_CLOEXEC);
	uint32_t handle;
	uint8_t *data;
	int fd;

	create.memfd = memfd_create("npu", MFD_ALLOW_SEALING | MFD_CLOEXEC);
	ASSERT_EQ(0, ftruncate(create.memfd, TEST_PAGE));
	ASSERT_EQ(0, fcntl(create.memfd, F_ADD_SEALS, F_SEAL_SHRINK));
	fd = ioctl(device, UDMABUF_CREATE, &create);
	ASSERT_GE(fd, 0);
	data = mmap(NULL, TEST_PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	ASSERT_NE(MAP_FAILED, data);
	EXPECT_EQ(-EOPNOTSUPP, test_import(self->fd, data, TEST_PAGE, 0, &handle));
	close(fd);
	close(create.memfd);
	close(device);
}

TEST_F(import, refuses_device_memory)
{
	uint8_t *data;
	uint32_t handle;
	int fd = open("/dev/mem", O_RDWR | O_CLOEXEC);

	ASSERT_GE(fd, 0);
	/* Video memory: it is there on every PC, and /dev/mem gives it away. */
	data = mmap(NULL, TEST_PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0xa0000);
	ASSERT_NE(MAP_FAILED, data);
	EXPECT_EQ(-EOPNOTSUPP, test_import(self->fd, data, TEST_PAGE, 0, &handle));
	munmap(data, TEST_PAGE);
	data = mmap(NULL, TEST_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0xa0000);
	ASSERT_NE(MAP_FAILED, data);
	EXPECT_EQ(-EOPNOTSUPP, test_import(self->fd, data, TEST_PAGE, 0, &handle));
	close(fd);
}

TEST_F(import, refuses_secret_memory)
{
	int fd = syscall(SYS_memfd_secret, 0);
	uint32_t handle;
	uint8_t *data;

	if (fd < 0)
		SKIP(return, "memfd_secret() is switched off");
	ASSERT_EQ(0, ftruncate(fd, TEST_PAGE));
	data = mmap(NULL, TEST_PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	ASSERT_NE(MAP_FAILED, data);
	EXPECT_EQ(-EOPNOTSUPP, test_import(self->fd, data, TEST_PAGE, 0, &handle));
	EXPECT_EQ(-EOPNOTSUPP, test_import(self->fd, data, TEST_PAGE, DRM_NPU_IMPORT_READ_ONLY,
					   &handle));
	close(fd);
}

TEST_F(import, refuses_shared_file)
{
	uint8_t *data = map_file(file_on("ramfs", HUGE), MAP_SHARED);
	uint32_t handle;

	ASSERT_NE(MAP_FAILED, data);
	EXPECT_EQ(-EOPNOTSUPP, test_import(self->fd, data, TEST_PAGE, 0, &handle));
	ASSERT_EQ(0, mprotect(data, HUGE, PROT_READ));
	EXPECT_EQ(-EOPNOTSUPP, test_import(self->fd, data, TEST_PAGE, DRM_NPU_IMPORT_READ_ONLY,
					   &handle));
}

TEST_F(import, refuses_a_range_of_which_a_part_is_bad)
{
	uint8_t *data = pages(4 * TEST_PAGE);
	struct drm_npu_bo_mmap_offset args = {};
	uint32_t handle;

	ASSERT_NE(MAP_FAILED, data);
	ASSERT_EQ(0, test_bo_create(self->fd, TEST_PAGE, &args.handle));
	ASSERT_EQ(0, test_ioctl(self->fd, DRM_IOCTL_NPU_BO_MMAP_OFFSET, &args));
	ASSERT_EQ(data + 2 * TEST_PAGE, mmap(data + 2 * TEST_PAGE, TEST_PAGE, PROT_READ | PROT_WRITE,
					     MAP_SHARED | MAP_FIXED, self->fd, args.offset));
	EXPECT_EQ(-EOPNOTSUPP, test_import(self->fd, data, 4 * TEST_PAGE, 0, &handle));
	EXPECT_EQ(0, test_pinned_kb());
	EXPECT_EQ(0, test_import(self->fd, data, 2 * TEST_PAGE, 0, &handle));
}

TEST_F(import, has_no_mmap_offset_and_is_not_exported)
{
	struct drm_npu_bo_mmap_offset offset = {};
	struct drm_prime_handle prime = { .flags = DRM_CLOEXEC | DRM_RDWR };
	uint8_t *data = pages(TEST_PAGE);

	ASSERT_NE(MAP_FAILED, data);
	ASSERT_EQ(0, test_import(self->fd, data, TEST_PAGE, 0, &offset.handle));
	EXPECT_EQ(-EOPNOTSUPP, test_ioctl(self->fd, DRM_IOCTL_NPU_BO_MMAP_OFFSET, &offset));
	prime.handle = offset.handle;
	EXPECT_EQ(-EOPNOTSUPP, test_ioctl(self->fd, DRM_IOCTL_PRIME_HANDLE_TO_FD, &prime));
}

TEST_F(import, limit_of_locked_memory_holds)
{
	const struct rlimit limit = { .rlim_cur = 8 * TEST_PAGE, .rlim_max = 8 * TEST_PAGE };
	uint8_t *data = pages(16 * TEST_PAGE);
	uint32_t first, second;

	ASSERT_NE(MAP_FAILED, data);
	ASSERT_EQ(0, setrlimit(RLIMIT_MEMLOCK, &limit));
	/* Not for who has CAP_IPC_LOCK. */
	ASSERT_EQ(0, test_import(self->fd, data, 16 * TEST_PAGE, 0, &first));
	EXPECT_EQ(16 * TEST_PAGE / 1024, test_pinned_kb());
	test_bo_close(self->fd, first);
	EXPECT_EQ(0, test_pinned_kb());

	ASSERT_EQ(0, test_drop_capabilities());
	EXPECT_EQ(-EDQUOT, test_import(self->fd, data, 9 * TEST_PAGE, 0, &first));
	EXPECT_EQ(0, test_pinned_kb());
	ASSERT_EQ(0, test_import(self->fd, data, 6 * TEST_PAGE, 0, &first));
	EXPECT_EQ(-EDQUOT, test_import(self->fd, data, 3 * TEST_PAGE, 0, &second));
	EXPECT_EQ(0, test_import(self->fd, data, 2 * TEST_PAGE, 0, &second));
	EXPECT_EQ(8 * TEST_PAGE / 1024, test_pinned_kb());
	test_bo_close(self->fd, first);
	EXPECT_EQ(0, test_import(self->fd, data, 6 * TEST_PAGE, 0, &first));
}

TEST_HARNESS_MAIN
