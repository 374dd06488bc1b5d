// SPDX-License-Identifier: MIT
/*
 * How long a null job takes from SUBMIT to the end of the wait, measured in
 * round trips of an eventfd between two threads of the same machine.
 */
#include <pthread.h>
#include <sys/eventfd.h>

#include "tests/kselftest/npu_test.h"

#define ROUNDS	2000
#define BATCH	64

struct pair {
	int ping;
	int pong;
};

static void *echo(void *data)
{
	struct pair *pair = data;
	uint64_t value;
	int i;

	for (i = 0; i < ROUNDS; i++)
		if (read(pair->ping, &value, sizeof(value)) != sizeof(value) ||
		    write(pair->pong, &value, sizeof(value)) != sizeof(value))
			abort();
	return NULL;
}

static int compare(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

static double median(int64_t *values)
{
	qsort(values, ROUNDS, sizeof(*values), compare);
	return (values[ROUNDS / 2 - 1] + values[ROUNDS / 2]) / 2.0;
}

static int measure_eventfd(int64_t *values)
{
	struct pair pair = { eventfd(0, EFD_CLOEXEC), eventfd(0, EFD_CLOEXEC) };
	uint64_t value = 1;
	pthread_t thread;
	int64_t begin;
	int i;

	if (pair.ping < 0 || pair.pong < 0 || pthread_create(&thread, NULL, echo, &pair))
		return -1;
	for (i = 0; i < ROUNDS; i++) {
		begin = test_now_ns();
		if (write(pair.ping, &value, sizeof(value)) != sizeof(value) ||
		    read(pair.pong, &value, sizeof(value)) != sizeof(value))
			return -1;
		values[i] = test_now_ns() - begin;
	}
	pthread_join(thread, NULL);
	close(pair.ping);
	close(pair.pong);
	return 0;
}

static int measure_jobs(int fd, uint32_t queue, uint32_t sync, uint32_t count, int64_t *values)
{
	struct drm_npu_job jobs[BATCH] = {};
	int64_t begin;
	int i, ret;

	for (i = 0; i < ROUNDS; i++) {
		begin = test_now_ns();
		ret = test_submit(fd, queue, jobs, count, sync);
		if (!ret)
			ret = test_syncobj_wait(fd, sync, 0, TEST_WAIT_MS);
		if (ret)
			return ret;
		values[i] = test_now_ns() - begin;
	}
	return test_syncobj_status(fd, sync);
}

int main(void)
{
	static int64_t values[ROUNDS];
	double trip, one, batch;
	uint32_t queue, sync;
	int fd = test_open(0);

	if (fd < 0 || test_queue_create(fd, 1, 0, &queue) || test_syncobj_create(fd, &sync)) {
		fprintf(stderr, "null_job: no device\n");
		return 1;
	}
	if (measure_eventfd(values))
		return 1;
	trip = median(values);
	if (measure_jobs(fd, queue, sync, 1, values))
		return 1;
	one = median(values);
	if (measure_jobs(fd, queue, sync, BATCH, values))
		return 1;
	batch = median(values) / BATCH;

	printf("# eventfd round trip %.1f us, null job %.1f us, in a batch of %d %.1f us\n",
	       trip / 1000, one / 1000, BATCH, batch / 1000);
	printf("null_job_ratio %.3f\n", one / trip);
	printf("null_job_batch64_ratio %.3f\n", batch / trip);
	return 0;
}
