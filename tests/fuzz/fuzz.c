// SPDX-License-Identifier: GPL-2.0-only
/*
 * usage: fuzz [--seed N] [--ops N] [--threads N] [--processes N] [--chaos] [--verbose]
 *   --ops N		operations of each thread
 *   --chaos		as root, resets, freezes, unbinds and binds devices meanwhile
 *   --verbose		tells of each operation; with one thread and one process the
 *			same seed gives the same sequence
 *
 * What is tested is the kernel: it must report no fault, and the devices must
 * work afterwards. Prints TAP.
 */
#include <getopt.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/wait.h>

#include "tests/fuzz/fuzz.h"
#include "tests/kselftest/npu_test.h"

#define MAX_THREADS	64
#define MAX_PROCESSES	32

struct options {
	uint64_t seed;
	uint64_t ops;
	unsigned int threads;
	unsigned int processes;
	bool chaos;
	bool verbose;
};

/* Shared by all processes. */
struct totals {
	volatile bool stop;
	uint64_t calls[64];
	uint64_t good[64];
};

__thread sigjmp_buf fuzz_escape;
__thread volatile bool fuzz_may_escape;

/* SplitMix64: any seed is a good one. */
uint64_t fuzz_random(struct fuzz_thread *thread)
{
	uint64_t z = thread->random += 0x9e3779b97f4a7c15ull;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ z >> 27) * 0x94d049bb133111ebull;
	return z ^ z >> 31;
}

uint32_t fuzz_below(struct fuzz_thread *thread, uint32_t limit)
{
	return (fuzz_random(thread) >> 32) * limit >> 32;
}

bool fuzz_one_in(struct fuzz_thread *thread, uint32_t n)
{
	return !fuzz_below(thread, n);
}

/* Changes one field of 4 bytes: nearly right values find more than garbage does. */
void fuzz_mutate(struct fuzz_thread *thread, void *data, uint32_t size)
{
	static const uint32_t favourites[] = {
		0, 1, 2, 16, 255, 256, 1023, 1024, 1025, 4095, 4096, 65536, 0x7fffffff, 0x80000000,
		0xfffff000, 0xffffffff,
	};
	uint32_t at = fuzz_below(thread, size / 4) * 4;
	uint32_t value = fuzz_random(thread);

	if (!fuzz_one_in(thread, 4))
		value = favourites[fuzz_below(thread, sizeof(favourites) / 4)];
	memcpy((uint8_t *)data + at, &value, 4);
}

static void on_fault(int signal)
{
	static const char text[] = "# a fault outside of what may fault\n";

	if (fuzz_may_escape)
		siglongjmp(fuzz_escape, 1);
	(void)!write(STDOUT_FILENO, text, sizeof(text) - 1);
	_exit(128 + signal);
}

void fuzz_run(struct fuzz_thread *thread, uint64_t ops)
{
	unsigned int sum = 0, i, choice;
	uint64_t done;
	int ret;

	for (i = 0; i < fuzz_op_count; i++)
		sum += fuzz_ops[i].weight;
	for (done = 0; done < ops; done++) {
		choice = fuzz_below(thread, sum);
		for (i = 0; choice >= fuzz_ops[i].weight; i++)
			choice -= fuzz_ops[i].weight;
		ret = fuzz_ops[i].run(thread);
		__atomic_add_fetch(&thread->calls[i], 1, __ATOMIC_RELAXED);
		if (!ret)
			__atomic_add_fetch(&thread->good[i], 1, __ATOMIC_RELAXED);
		if (thread->verbose)
			printf("# %llu: %s = %d\n", (unsigned long long)done, fuzz_ops[i].name, ret);
	}
}

struct start {
	struct fuzz_thread thread;
	pthread_t id;
	uint64_t ops;
};

static void *run_thread(void *data)
{
	struct start *start = data;

	fuzz_run(&start->thread, start->ops);
	return NULL;
}

/* Files [from, to) of a process; descriptors stay the same from here on. */
static int open_files(struct fuzz_process *process, uint64_t seed, unsigned int from,
		      unsigned int to)
{
	struct fuzz_thread thread = { .process = process, .random = seed };
	unsigned int i;

	for (i = from; i < to; i++) {
		process->files[i].fd = fuzz_open(&thread);
		if (process->files[i].fd < 0)
			return process->files[i].fd;
		fuzz_prepare(&thread, &process->files[i]);
	}
	return 0;
}

/* The starting points of generators that do not get in each other's way. */
static uint64_t seed_of(const struct options *options, unsigned int process, unsigned int thread)
{
	struct fuzz_thread mixer = {
		.random = options->seed ^ (uint64_t)process << 48 ^ (uint64_t)thread << 32,
	};

	return fuzz_random(&mixer);
}

static int run_process(const struct options *options, struct fuzz_process *process,
		       unsigned int number, struct totals *totals)
{
	static struct start starts[MAX_THREADS];
	unsigned int i;

	/* With devices that come and go there may be none at the moment. */
	if (open_files(process, seed_of(options, number, MAX_THREADS), FUZZ_FILES / 2, FUZZ_FILES) &&
	    !options->chaos)
		return 1;
	process->memory = mmap(NULL, (size_t)FUZZ_SLOTS * FUZZ_SLOT_BYTES, PROT_READ | PROT_WRITE,
			       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (process->memory == MAP_FAILED)
		return 1;
	for (i = 0; i < options->threads; i++) {
		starts[i].ops = options->ops;
		starts[i].thread = (struct fuzz_thread) {
			.process = process,
			.random = seed_of(options, number, i),
			.verbose = options->verbose,
			.calls = totals->calls,
			.good = totals->good,
		};
		if (pthread_create(&starts[i].id, NULL, run_thread, &starts[i]))
			return 1;
	}
	for (i = 0; i < options->threads; i++)
		pthread_join(starts[i].id, NULL);
	return 0;
}

/* True if all ended by themselves. */
static bool run_all(const struct options *options, struct totals *totals)
{
	static struct fuzz_process process;
	pid_t pids[MAX_PROCESSES], chaos = -1;
	bool good = true;
	unsigned int i;
	int status;

	for (i = 0; i < FUZZ_FDS; i++)
		process.fds[i] = -1;
	if (open_files(&process, options->seed, 0, FUZZ_FILES / 2))
		return false;
	fflush(stdout);
	if (options->chaos) {
		chaos = fork();
		if (!chaos) {
			fuzz_chaos(options->seed, &totals->stop);
			_exit(0);
		}
	}
	for (i = 0; i < options->processes; i++) {
		pids[i] = fork();
		if (!pids[i])
			exit(run_process(options, &process, i, totals));
	}
	for (i = 0; i < options->processes; i++) {
		good &= waitpid(pids[i], &status, 0) == pids[i] && !status;
		if (status)
			printf("# process %u ended with status %#x\n", i, status);
	}
	totals->stop = true;
	if (chaos > 0)
		good &= waitpid(chaos, &status, 0) == chaos && !status;
	for (i = 0; i < FUZZ_FILES / 2; i++)
		close(process.files[i].fd);
	return good;
}

static bool devices_work(void)
{
	struct drm_npu_job job = {};
	struct fuzz_thread thread = { .random = 1 };
	unsigned int i;
	uint32_t queue;
	int fd, ret;

	for (i = 0; i < 8; i++) {
		fd = fuzz_open(&thread);
		if (fd < 0)
			return false;
		ret = test_queue_create(fd, 1, 0, &queue);
		if (!ret)
			ret = test_run(fd, queue, &job);
		close(fd);
		if (ret) {
			printf("# a job after all ends with %d\n", ret);
			return false;
		}
	}
	return true;
}

/* An operation that never succeeds would test nothing but its own refusal. */
static bool all_succeeded(const struct totals *totals)
{
	bool good = true;
	unsigned int i;

	for (i = 0; i < fuzz_op_count; i++) {
		printf("# %-15s %8llu calls, %8llu good\n", fuzz_ops[i].name,
		       (unsigned long long)totals->calls[i], (unsigned long long)totals->good[i]);
		good &= totals->good[i] || totals->calls[i] < 30;
	}
	return good;
}

static void parse(int argc, char **argv, struct options *options)
{
	static const struct option longs[] = {
		{ "seed", required_argument, NULL, 's' },
		{ "ops", required_argument, NULL, 'o' },
		{ "threads", required_argument, NULL, 't' },
		{ "processes", required_argument, NULL, 'p' },
		{ "chaos", no_argument, NULL, 'c' },
		{ "verbose", no_argument, NULL, 'v' },
		{},
	};
	int option;

	while ((option = getopt_long(argc, argv, "", longs, NULL)) != -1) {
		if (option == 's')
			options->seed = strtoull(optarg, NULL, 0);
		else if (option == 'o')
			options->ops = strtoull(optarg, NULL, 0);
		else if (option == 't')
			options->threads = strtoul(optarg, NULL, 0);
		else if (option == 'p')
			options->processes = strtoul(optarg, NULL, 0);
		else if (option == 'c')
			options->chaos = true;
		else if (option == 'v')
			options->verbose = true;
		else
			exit(2);
	}
	if (!options->threads || options->threads > MAX_THREADS || !options->processes ||
	    options->processes > MAX_PROCESSES) {
		fprintf(stderr, "fuzz: 1 to %u threads and 1 to %u processes\n", MAX_THREADS,
			MAX_PROCESSES);
		exit(2);
	}
}

static void result(unsigned int number, bool good, const char *name)
{
	printf("%s %u - %s\n", good ? "ok" : "not ok", number, name);
}

int main(int argc, char **argv)
{
	struct options options = { .seed = 1, .ops = 1500, .threads = 2, .processes = 2 };
	struct sigaction action = { .sa_handler = on_fault, .sa_flags = SA_NODEFER };
	struct totals *totals;
	bool ended, good, work;

	parse(argc, argv, &options);
	totals = mmap(NULL, sizeof(*totals), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		      -1, 0);
	if (totals == MAP_FAILED)
		return 1;
	sigaction(SIGSEGV, &action, NULL);
	sigaction(SIGBUS, &action, NULL);
	mount("debugfs", "/sys/kernel/debug", "debugfs", 0, NULL);
	printf("1..3\n# seed %llu, %llu operations, %u threads, %u processes%s\n",
	       (unsigned long long)options.seed, (unsigned long long)options.ops, options.threads,
	       options.processes, options.chaos ? ", chaos" : "");
	ended = run_all(&options, totals);
	good = all_succeeded(totals);
	work = devices_work();
	result(1, ended, "processes come to their end");
	result(2, good, "each operation has succeeded now and then");
	result(3, work, "devices work afterwards");
	return !(ended && good && work);
}
