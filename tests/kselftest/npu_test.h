/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the tests of the driver share: thin wrappers of ioctls, which return 0 or
 * a negative errno, and small programs for the device.
 */
#ifndef TESTS_KSELFTEST_NPU_TEST_H
#define TESTS_KSELFTEST_NPU_TEST_H

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>
#include <drm/npu_accel.h>
#include "npu_isa.h"
#include "npu_proto.h"
#include "npu_regs.h"

/* Far more than anything takes; a test that waits as long has failed. */
#define TEST_WAIT_MS	120000

#define TEST_PAGE	4096u
#define TEST_VA		0x100000ull
#define TEST_RW		(DRM_NPU_BIND_READ | DRM_NPU_BIND_WRITE)
#define TEST_RWX	(TEST_RW | DRM_NPU_BIND_EXEC)

#define PTR(x)		((uint64_t)(uintptr_t)(x))

int test_ioctl(int fd, unsigned long request, void *arg);
int test_open(unsigned int index);
uint64_t test_ticks(int fd);
int test_drop_capabilities(void);
int test_query_device(int fd, struct drm_npu_query_device *info);

int test_bo_create(int fd, uint64_t size, uint32_t *handle);
int test_import(int fd, void *data, uint64_t size, uint32_t flags, uint32_t *handle);
long test_pinned_kb(void);
long test_pins(void);
void test_bo_close(int fd, uint32_t handle);
void *test_bo_map(int fd, uint32_t handle, uint64_t size);
int test_bo_wait(int fd, uint32_t handle, uint32_t flags, int timeout_ms);
int test_bind(int fd, uint32_t handle, uint64_t va, uint64_t offset, uint64_t size, uint32_t flags);
int test_unbind(int fd, uint64_t va, uint64_t size);
void *test_buffer(int fd, uint64_t va, uint64_t size, uint32_t flags, uint32_t *handle);

int test_udmabuf(uint64_t size, uint8_t **data);

int test_queue_create(int fd, uint32_t priority, uint64_t limit, uint32_t *id);
int test_queue_destroy(int fd, uint32_t id);
int test_queue_query(int fd, uint32_t id, struct drm_npu_queue_query *query);

int test_syncobj_create(int fd, uint32_t *handle);
void test_syncobj_destroy(int fd, uint32_t handle);
int test_syncobj_signal(int fd, uint32_t handle);
int test_syncobj_wait(int fd, uint32_t handle, uint64_t point, int timeout_ms);
int test_sync_file_status(int fd);
int test_syncobj_status(int fd, uint32_t handle);
int64_t test_now_ns(void);

int test_submit(int fd, uint32_t queue, const struct drm_npu_job *jobs, uint32_t count,
		uint32_t out_sync);
int test_run(int fd, uint32_t queue, const struct drm_npu_job *job);

/**
 * struct test_program - instructions as they are put together
 * @words: where they go
 * @count: instructions so far
 */
struct test_program {
	uint8_t *words;
	uint32_t count;
};

void test_program_load(struct test_program *program, unsigned int memory, uint32_t sram,
		       uint64_t element, uint32_t count);
void test_program_store(struct test_program *program, uint32_t sram, uint64_t element,
			uint32_t count);
void test_program_gemm(struct test_program *program, uint64_t micro_ops);
void test_program_yield(struct test_program *program);
void test_program_finish(struct test_program *program, bool after_store);
uint32_t test_copy_program(void *words, uint64_t from, uint64_t to, uint32_t count);
uint32_t test_spin_program(void *words);
uint32_t test_work_program(void *words, uint64_t micro_ops);
uint32_t test_yield_program(void *words, uint64_t micro_ops, uint32_t parts);

int test_load(const char *module, const char *parameters);
int test_unload(const char *module);
int test_write_file(const char *path, const char *text);
int test_read_file(const char *path, char *buf, size_t size);
int64_t test_cycles(int fd);
void test_wait_until_it_runs(int fd);

#endif
