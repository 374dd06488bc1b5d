// SPDX-License-Identifier: GPL-2.0-only
#include <dirent.h>
#include <linux/memfd.h>
#include <linux/capability.h>
#include <linux/sync_file.h>
#include <linux/udmabuf.h>
#include <poll.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <time.h>

#include "tests/kselftest/npu_test.h"
#include "userspace/isa/npu_insn.h"

int test_ioctl(int fd, unsigned long request, void *arg)
{
	int ret;

	do {
		ret = ioctl(fd, request, arg);
	} while (ret < 0 && errno == EINTR);
	return ret < 0 ? -errno : 0;
}

/* The node's number changes with a binding while somebody holds the last one open. */
static unsigned int test_minor(unsigned int index)
{
	unsigned int minor = index;
	struct dirent *entry;
	char path[64];
	DIR *dir;

	snprintf(path, sizeof(path), "/sys/bus/auxiliary/devices/npu_sim.npu.%u/accel", index);
	dir = opendir(path);
	while (dir && (entry = readdir(dir)))
		sscanf(entry->d_name, "accel%u", &minor);
	if (dir)
		closedir(dir);
	return minor;
}

int test_open(unsigned int index)
{
	char path[32];
	int fd;

	snprintf(path, sizeof(path), "/dev/accel/accel%u", test_minor(index));
	fd = open(path, O_RDWR | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

/* Of the device; 0 on error, since it counts from its start. */
uint64_t test_ticks(int fd)
{
	struct drm_npu_query_time time = {};
	struct drm_npu_dev_query query = {
		.query = DRM_NPU_QUERY_TIME, .size = sizeof(time), .data = PTR(&time),
	};

	return test_ioctl(fd, DRM_IOCTL_NPU_DEV_QUERY, &query) ? 0 : time.ticks;
}

int test_drop_capabilities(void)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2] = {};

	return syscall(SYS_capset, &header, data) ? -errno : 0;
}

int test_query_device(int fd, struct drm_npu_query_device *info)
{
	struct drm_npu_dev_query query = {
		.query = DRM_NPU_QUERY_DEVICE,
		.size = sizeof(*info),
		.data = PTR(info),
	};

	return test_ioctl(fd, DRM_IOCTL_NPU_DEV_QUERY, &query);
}

int test_bo_create(int fd, uint64_t size, uint32_t *handle)
{
	struct drm_npu_bo_create create = { .size = size };
	int ret = test_ioctl(fd, DRM_IOCTL_NPU_BO_CREATE, &create);

	*handle = create.handle;
	return ret;
}

int test_import(int fd, void *data, uint64_t size, uint32_t flags, uint32_t *handle)
{
	struct drm_npu_bo_import_user import = { .addr = PTR(data), .size = size, .flags = flags };
	int ret = test_ioctl(fd, DRM_IOCTL_NPU_BO_IMPORT_USER, &import);

	*handle = import.handle;
	return ret;
}

static long number_behind(const char *path, const char *key)
{
	static char text[65536];
	const char *line;

	if (test_read_file(path, text, sizeof(text)) < 0)
		return -1;
	line = strstr(text, key);
	return line ? atol(line + strlen(key)) : -1;
}

/* Pinned memory of this process. */
long test_pinned_kb(void)
{
	return number_behind("/proc/self/status", "\nVmPin:");
}

/* Pages that drivers have pinned, of all processes. */
long test_pins(void)
{
	/* What each processor has counted is added up first. */
	if (test_write_file("/proc/sys/vm/stat_refresh", "1"))
		return -1;
	return number_behind("/proc/vmstat", "\nnr_foll_pin_acquired ") -
	       number_behind("/proc/vmstat", "\nnr_foll_pin_released ");
}

void test_bo_close(int fd, uint32_t handle)
{
	struct drm_gem_close args = { .handle = handle };

	test_ioctl(fd, DRM_IOCTL_GEM_CLOSE, &args);
}

void *test_bo_map(int fd, uint32_t handle, uint64_t size)
{
	struct drm_npu_bo_mmap_offset args = { .handle = handle };

	if (test_ioctl(fd, DRM_IOCTL_NPU_BO_MMAP_OFFSET, &args))
		return MAP_FAILED;
	return mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, args.offset);
}

int64_t test_now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ll + ts.tv_nsec;
}

int test_bo_wait(int fd, uint32_t handle, uint32_t flags, int timeout_ms)
{
	struct drm_npu_bo_wait wait = {
		.handle = handle,
		.flags = flags,
		.timeout_ns = timeout_ms ? test_now_ns() + timeout_ms * 1000000ll : 0,
	};

	return test_ioctl(fd, DRM_IOCTL_NPU_BO_WAIT, &wait);
}

static int test_bind_op(int fd, struct drm_npu_bind_op *op)
{
	struct drm_npu_vm_bind bind = {
		.op_count = 1,
		.op_stride = sizeof(*op),
		.ops = PTR(op),
	};

	return test_ioctl(fd, DRM_IOCTL_NPU_VM_BIND, &bind);
}

int test_bind(int fd, uint32_t handle, uint64_t va, uint64_t offset, uint64_t size, uint32_t flags)
{
	struct drm_npu_bind_op op = {
		.op = DRM_NPU_BIND_MAP,
		.flags = flags,
		.handle = handle,
		.va = va,
		.offset = offset,
		.size = size,
	};

	return test_bind_op(fd, &op);
}

int test_unbind(int fd, uint64_t va, uint64_t size)
{
	struct drm_npu_bind_op op = {
		.op = DRM_NPU_BIND_UNMAP,
		.va = va,
		.size = size,
	};

	return test_bind_op(fd, &op);
}

/* A new buffer, bound at @va and mapped here; MAP_FAILED on error. */
void *test_buffer(int fd, uint64_t va, uint64_t size, uint32_t flags, uint32_t *handle)
{
	uint32_t own;

	if (!handle)
		handle = &own;
	if (test_bo_create(fd, size, handle) || test_bind(fd, *handle, va, 0, size, flags))
		return MAP_FAILED;
	return test_bo_map(fd, *handle, size);
}

/* Memory of another driver: udmabuf makes a dma-buf, which is returned, of a memfd. */
int test_udmabuf(uint64_t size, uint8_t **data)
{
	struct udmabuf_create create = { .flags = UDMABUF_FLAGS_CLOEXEC, .size = size };
	int device = open("/dev/udmabuf", O_RDWR | O_CLOEXEC);
	int memfd = memfd_create("npu", MFD_ALLOW_SEALING | MFD_CLOEXEC);
	int fd;

	if (device < 0 || memfd < 0)
		return -1;
	if (ftruncate(memfd, size) || fcntl(memfd, F_ADD_SEALS, F_SEAL_SHRINK))
		return -1;
	*data = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, memfd, 0);
	create.memfd = memfd;
	fd = ioctl(device, UDMABUF_CREATE, &create);
	close(device);
	close(memfd);
	return *data == MAP_FAILED ? -1 : fd;
}

int test_queue_create(int fd, uint32_t priority, uint64_t limit, uint32_t *id)
{
	struct drm_npu_queue_create create = { .priority = priority, .limit = limit };
	int ret = test_ioctl(fd, DRM_IOCTL_NPU_QUEUE_CREATE, &create);

	*id = create.queue_id;
	return ret;
}

int test_queue_destroy(int fd, uint32_t id)
{
	struct drm_npu_queue_destroy destroy = { .queue_id = id };

	return test_ioctl(fd, DRM_IOCTL_NPU_QUEUE_DESTROY, &destroy);
}

int test_queue_query(int fd, uint32_t id, struct drm_npu_queue_query *query)
{
	memset(query, 0, sizeof(*query));
	query->queue_id = id;
	return test_ioctl(fd, DRM_IOCTL_NPU_QUEUE_QUERY, query);
}

int test_syncobj_create(int fd, uint32_t *handle)
{
	struct drm_syncobj_create create = {};
	int ret = test_ioctl(fd, DRM_IOCTL_SYNCOBJ_CREATE, &create);

	*handle = create.handle;
	return ret;
}

void test_syncobj_destroy(int fd, uint32_t handle)
{
	struct drm_syncobj_destroy destroy = { .handle = handle };

	test_ioctl(fd, DRM_IOCTL_SYNCOBJ_DESTROY, &destroy);
}

int test_syncobj_signal(int fd, uint32_t handle)
{
	struct drm_syncobj_array array = { .handles = PTR(&handle), .count_handles = 1 };

	return test_ioctl(fd, DRM_IOCTL_SYNCOBJ_SIGNAL, &array);
}

/* -ETIME if it has not signalled by then. */
int test_syncobj_wait(int fd, uint32_t handle, uint64_t point, int timeout_ms)
{
	struct drm_syncobj_timeline_wait wait = {
		.handles = PTR(&handle),
		.points = PTR(&point),
		.count_handles = 1,
		.timeout_nsec = test_now_ns() + timeout_ms * 1000000ll,
	};

	return test_ioctl(fd, DRM_IOCTL_SYNCOBJ_TIMELINE_WAIT, &wait);
}

/* Waits; then 0, or the error that the fence carries. */
int test_sync_file_status(int fd)
{
	struct sync_file_info info = {};
	struct pollfd poller = { .fd = fd, .events = POLLIN };
	int ret;

	ret = poll(&poller, 1, TEST_WAIT_MS);
	if (ret <= 0)
		return ret ? -errno : -ETIME;
	ret = test_ioctl(fd, SYNC_IOC_FILE_INFO, &info);
	if (ret)
		return ret;
	/* 1 is "signalled well"; 0 would be "still active", after the wait. */
	return info.status == 1 ? 0 : info.status ?: -EINPROGRESS;
}

/* As test_sync_file_status(), of the fence in a syncobj. */
int test_syncobj_status(int fd, uint32_t handle)
{
	struct drm_syncobj_handle export = {
		.handle = handle,
		.flags = DRM_SYNCOBJ_HANDLE_TO_FD_FLAGS_EXPORT_SYNC_FILE,
	};
	int ret;

	ret = test_ioctl(fd, DRM_IOCTL_SYNCOBJ_HANDLE_TO_FD, &export);
	if (ret)
		return ret;
	ret = test_sync_file_status(export.fd);
	close(export.fd);
	return ret;
}

int test_submit(int fd, uint32_t queue, const struct drm_npu_job *jobs, uint32_t count,
		uint32_t out_sync)
{
	struct drm_npu_sync sync = { .handle = out_sync };
	struct drm_npu_submit submit = {
		.queue_id = queue,
		.job_count = count,
		.job_stride = sizeof(*jobs),
		.jobs = PTR(jobs),
		.out_sync_count = !!out_sync,
		.out_syncs = PTR(&sync),
	};

	return test_ioctl(fd, DRM_IOCTL_NPU_SUBMIT, &submit);
}

/* Submits one job and waits: 0, what refused it, or what its fence carries. */
int test_run(int fd, uint32_t queue, const struct drm_npu_job *job)
{
	uint32_t sync;
	int ret;

	ret = test_syncobj_create(fd, &sync);
	if (ret)
		return ret;
	ret = test_submit(fd, queue, job, 1, sync);
	if (!ret)
		ret = test_syncobj_status(fd, sync);
	test_syncobj_destroy(fd, sync);
	return ret;
}

static void test_program_add(struct test_program *program, const struct npu_insn *insn)
{
	struct npu_isa_error error = {};

	if (npu_insn_encode(insn, program->words + program->count * NPU_INSN_BYTES, &error)) {
		fprintf(stderr, "# field %s is %lld\n", error.field, (long long)error.value);
		abort();
	}
	program->count++;
}

/* Consecutive elements; a following store of ACC may rely on it. */
void test_program_load(struct test_program *program, unsigned int memory, uint32_t sram,
		       uint64_t element, uint32_t count)
{
	struct npu_insn insn = {
		.format = NPU_FORMAT_MEM,
		.mem = {
			.opcode = NPU_OP_LOAD,
			.push_next = 1,
			.memory = memory,
			.sram_base = sram,
			.dram_base = element,
			.y_size = 1,
			.x_size = count,
			.x_stride = count,
		},
	};

	test_program_add(program, &insn);
}

void test_program_store(struct test_program *program, uint32_t sram, uint64_t element,
			uint32_t count)
{
	struct npu_insn insn = {
		.format = NPU_FORMAT_MEM,
		.mem = {
			.opcode = NPU_OP_STORE,
			.pop_prev = 1,
			.push_prev = 1,
			.memory = NPU_MEM_OUT,
			.sram_base = sram,
			.dram_base = element,
			.y_size = 1,
			.x_size = count,
			.x_stride = count,
		},
	};

	test_program_add(program, &insn);
}

/* About @micro_ops multiplications of zeros: SRAM is not valid yet. */
void test_program_gemm(struct test_program *program, uint64_t micro_ops)
{
	const uint64_t list = 4096, inner = 1024;
	uint64_t outer = (micro_ops + list * inner - 1) / (list * inner);
	struct npu_insn insn = {
		.format = NPU_FORMAT_GEMM,
		.gemm = {
			.opcode = NPU_OP_GEMM,
			.uop_end = list,
			.iter_out = outer,
			.iter_in = inner,
		},
	};

	if (micro_ops < list * inner) {
		insn.gemm.iter_out = 1;
		insn.gemm.iter_in = (micro_ops + list - 1) / list;
	}
	test_program_add(program, &insn);
}

void test_program_yield(struct test_program *program)
{
	struct npu_insn insn = {
		.format = NPU_FORMAT_YIELD,
		.yield = { .opcode = NPU_OP_EXT, .ext_op = NPU_EXT_YIELD },
	};

	test_program_add(program, &insn);
}

void test_program_finish(struct test_program *program, bool after_store)
{
	struct npu_insn insn = {
		.format = NPU_FORMAT_FINISH,
		.finish = { .opcode = NPU_OP_FINISH, .pop_next = after_store },
	};

	test_program_add(program, &insn);
}

/* Copies the low byte of each 32-bit lane of @count elements: 64 bytes to 16. */
uint32_t test_copy_program(void *words, uint64_t from, uint64_t to, uint32_t count)
{
	struct test_program program = { .words = words };

	test_program_load(&program, NPU_MEM_ACC, 0, from / NPU_ACC_BYTES, count);
	test_program_store(&program, 0, to / NPU_OUT_BYTES, count);
	test_program_finish(&program, true);
	return program.count;
}

/* Longer than anybody waits. */
uint32_t test_spin_program(void *words)
{
	return test_work_program(words, 1ull << 34);
}

uint32_t test_work_program(void *words, uint64_t micro_ops)
{
	struct test_program program = { .words = words };

	test_program_gemm(&program, micro_ops);
	test_program_finish(&program, false);
	return program.count;
}

/* @parts times work, with a YIELD between two. */
uint32_t test_yield_program(void *words, uint64_t micro_ops, uint32_t parts)
{
	const struct npu_insn yield = {
		.format = NPU_FORMAT_YIELD,
		.yield = { .opcode = NPU_OP_EXT, .ext_op = NPU_EXT_YIELD },
	};
	struct test_program program = { .words = words };
	uint32_t i;

	for (i = 0; i < parts; i++) {
		if (i)
			test_program_add(&program, &yield);
		test_program_gemm(&program, micro_ops);
	}
	test_program_finish(&program, false);
	return program.count;
}

/* As the virtual machine has it; returns when its devices are there. */
int test_load(const char *module, const char *parameters)
{
	struct utsname name;
	char path[256];
	int fd, ret;

	uname(&name);
	snprintf(path, sizeof(path), "/lib/modules/%s/kernel/%s.ko", name.release, module);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	ret = syscall(SYS_finit_module, fd, parameters, 0) ? -errno : 0;
	close(fd);
	return ret;
}

int test_unload(const char *module)
{
	return syscall(SYS_delete_module, module, O_NONBLOCK) ? -errno : 0;
}

int test_write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	ssize_t written;
	int ret = 0;

	if (fd < 0)
		return -errno;
	written = write(fd, text, strlen(text));
	if (written != (ssize_t)strlen(text))
		ret = written < 0 ? -errno : -EIO;
	close(fd);
	return ret;
}

/* The file's text, with a terminating 0; its length, or a negative errno. */
int test_read_file(const char *path, char *buf, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t got;
	size_t length = 0;

	if (fd < 0)
		return -errno;
	while (length < size - 1) {
		got = read(fd, buf + length, size - 1 - length);
		if (got <= 0)
			break;
		length += got;
	}
	buf[length] = 0;
	close(fd);
	return length;
}

/* Cycles of all jobs of a client; of one that runs, as far as heartbeats have told. */
int64_t test_cycles(int fd)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	return number_behind(path, "\ndrm-cycles-npu:");
}

void test_wait_until_it_runs(int fd)
{
	while (!test_cycles(fd))
		usleep(1000);
}
