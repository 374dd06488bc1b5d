// SPDX-License-Identifier: MIT
/*
 * System calls that a program makes for a job when it submits 64 of them at once,
 * waits, and looks at the report of each. Counted by a tracer, all threads and
 * children included, between two calls that the program makes as marks.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <linux/ptrace.h>
#include <npu/npu.h>
#include "npu_isa.h"
#include "tests/unit/libnpu_image.h"

#define BATCH	64u
#define ROUNDS	50u
#define BYTES	16u

/* No command of prctl(); EINVAL. */
#define MARK	0x4e505500

/* ---- what is traced ---- */

static void must(int ret)
{
	if (!ret)
		return;
	fprintf(stderr, "syscalls: %s\n", npu_error_message());
	_exit(1);
}

/**
 * struct work - memory of the jobs
 * @code: instructions
 * @data: weights, micro-ops, and x and y of each job
 * @program: what they run
 */
struct work {
	struct npu_buffer *code;
	struct npu_buffer *data;
	struct program program;
};

enum { AT_W = 0, AT_UOP = 1024, AT_X = 4096, AT_Y = 8192, DATA_BYTES = 12288 };

static void work_init(struct work *work, struct npu_device *dev)
{
	uint8_t *data;

	program_make(&work->program);
	must(npu_buffer_alloc(dev, work->program.insn_count * NPU_INSN_BYTES,
			      NPU_BUFFER_READ_ONLY | NPU_BUFFER_EXECUTE, &work->code));
	must(npu_buffer_alloc(dev, DATA_BYTES, 0, &work->data));
	memcpy(npu_buffer_data(work->code), work->program.insns,
	       work->program.insn_count * NPU_INSN_BYTES);
	data = npu_buffer_data(work->data);
	memcpy(data + AT_W, image_weights, sizeof(image_weights));
	memcpy(data + AT_UOP, work->program.uops, work->program.uop_bytes);
}

static struct npu_job make_job(struct work *work, struct npu_job_region *regions, unsigned int n)
{
	uint64_t base = npu_buffer_address(work->data);

	regions[IMAGE_REGION_X] = (struct npu_job_region) { base + AT_X + n * 64, BYTES };
	regions[IMAGE_REGION_W] = (struct npu_job_region) { base + AT_W, sizeof(image_weights) };
	regions[IMAGE_REGION_UOP] = (struct npu_job_region) { base + AT_UOP, 64 };
	regions[IMAGE_REGION_Y] = (struct npu_job_region) { base + AT_Y + n * 64, BYTES };
	return (struct npu_job) {
		.insn_address = npu_buffer_address(work->code),
		.insn_count = work->program.insn_count,
		.region_count = IMAGE_REGIONS,
		.regions = regions,
	};
}

static void run_batch(struct npu_stream *stream, const struct npu_job *jobs)
{
	struct npu_report report;
	uint64_t last, i;

	must(npu_stream_submit(stream, jobs, BATCH, &last));
	must(npu_stream_wait(stream, last, 60000000000ll));
	for (i = 0; i < BATCH; i++) {
		must(npu_stream_report(stream, last - i, &report));
		if (!report.cycles)
			_exit(1);
	}
}

static void check_results(struct work *work)
{
	const int8_t *data = npu_buffer_data(work->data);
	int8_t expected[BYTES];
	unsigned int i;

	for (i = 0; i < BATCH; i++) {
		image_expect(image_weights, data + AT_X + i * 64, expected);
		if (memcmp(expected, data + AT_Y + i * 64, BYTES)) {
			fprintf(stderr, "syscalls: job %u has a wrong result\n", i);
			_exit(1);
		}
	}
}

static void traced(const char *path)
{
	static struct npu_job_region regions[BATCH][IMAGE_REGIONS];
	struct npu_job jobs[BATCH];
	struct npu_stream *stream;
	struct npu_device *dev;
	struct work work;
	unsigned int i, k;

	must(npu_device_open(&dev, path));
	must(npu_stream_create(dev, NULL, &stream));
	work_init(&work, dev);
	for (i = 0; i < BATCH; i++) {
		jobs[i] = make_job(&work, regions[i], i);
		for (k = 0; k < BYTES; k++)
			((int8_t *)npu_buffer_data(work.data))[AT_X + i * 64 + k] = i + 3 * k;
	}
	/* What the first use sets up is no cost of a job. */
	run_batch(stream, jobs);
	ptrace(PTRACE_TRACEME, 0, NULL, NULL);
	raise(SIGSTOP);
	syscall(SYS_prctl, MARK);
	for (i = 0; i < ROUNDS; i++)
		run_batch(stream, jobs);
	syscall(SYS_prctl, MARK);
	check_results(&work);
	_exit(0);
}

/* ---- the tracer ---- */

/**
 * struct count - what was seen
 * @inside: between the marks
 * @marks: marks so far
 * @calls: system calls between them
 * @ioctls: of these, ioctl()
 */
struct count {
	int inside;
	int marks;
	unsigned long calls;
	unsigned long ioctls;
};

static void entered(struct count *count, const struct ptrace_syscall_info *info)
{
	if (info->entry.nr == SYS_prctl && info->entry.args[0] == MARK) {
		count->inside = !count->inside;
		count->marks++;
		return;
	}
	if (!count->inside)
		return;
	count->calls++;
	count->ioctls += info->entry.nr == SYS_ioctl;
}

static int follow(pid_t pid, struct count *count)
{
	struct ptrace_syscall_info info;
	int status, signal;
	pid_t who;

	for (;;) {
		who = waitpid(-1, &status, __WALL);
		if (who < 0)
			return -errno;
		if (WIFEXITED(status) || WIFSIGNALED(status)) {
			if (who == pid)
				return WIFEXITED(status) ? -WEXITSTATUS(status) : -1;
			continue;
		}
		signal = 0;
		if (WSTOPSIG(status) == (SIGTRAP | 0x80)) {
			if (ptrace(PTRACE_GET_SYSCALL_INFO, who, sizeof(info), &info) > 0 &&
			    info.op == PTRACE_SYSCALL_INFO_ENTRY)
				entered(count, &info);
		} else if (WSTOPSIG(status) != SIGTRAP && WSTOPSIG(status) != SIGSTOP) {
			signal = WSTOPSIG(status);
		}
		if (ptrace(PTRACE_SYSCALL, who, NULL, (void *)(long)signal))
			return -errno;
	}
}

int main(int argc, char **argv)
{
	const long options = PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK |
			     PTRACE_O_TRACEVFORK;
	struct count count = {};
	int status;
	pid_t pid = fork();

	if (!pid)
		traced(argc > 1 ? argv[1] : "/dev/accel/accel0");
	if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFSTOPPED(status) ||
	    ptrace(PTRACE_SETOPTIONS, pid, NULL, (void *)options) ||
	    ptrace(PTRACE_SYSCALL, pid, NULL, NULL) || follow(pid, &count) || count.marks != 2) {
		fprintf(stderr, "syscalls: the traced program failed\n");
		return 1;
	}
	printf("# %lu system calls for %u jobs, %lu of them ioctl()\n", count.calls, BATCH * ROUNDS,
	       count.ioctls);
	printf("syscalls_per_job_batch64 %.5f\n", (double)count.calls / (BATCH * ROUNDS));
	return 0;
}
