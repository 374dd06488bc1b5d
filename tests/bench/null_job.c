// SPDX-License-Identifier: MIT
/*
 * How long a null job takes from SUBMIT to the end of the wait, measured in
 * round trips of an eventfd between two threads of the same machine.
 */
#include <errno.h>
#include <pthread.h>
#include <sys/eventfd.h>

#include "tests/kselftest/npu_test.h"

#define ROUNDS	2000
#define BATCH	64

struct pair {
	int ping;
	int pong;
};

static int64_t trips[ROUNDS], ones[ROUNDS], batches[ROUNDS];

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

static int eventfd_trip(const struct pair *pair, int64_t *took)
{
	int64_t begin = test_now_ns();
	uint64_t value = 1;

	if (write(pair->ping, &value, sizeof(value)) != sizeof(value) ||
	    read(pair->pong, &value, sizeof(value)) != sizeof(value))
		return -EIO;
	*took = test_now_ns() - begin;
	return 0;
}

static int null_jobs(int fd, uint32_t queue, uint32_t sync, uint32_t count, int64_t *took)
{
	struct drm_npu_job jobs[BATCH] = {};
	int64_t begin = test_now_ns();
	int ret = test_submit(fd, queue, jobs, count, sync);

	if (!ret)
		ret = test_syncobj_wait(fd, sync, 0, TEST_WAIT_MS);
	*took = test_now_ns() - begin;
	return ret;
}

/* Round by round, so that what else the machine does is in all three alike. */
static int measure(int fd, uint32_t queue, uint32_t sync)
{
	struct pair pair = { eventfd(0, EFD_CLOEXEC), eventfd(0, EFD_CLOEXEC) };
	pthread_t thread;
	int i, ret = 0;

	if (pair.ping < 0 || pair.pong < 0 || pthread_create(&thread, NULL, echo, &pair))
		return -EIO;
	for (i = 0; i < ROUNDS && !ret; i++) {
		ret = eventfd_trip(&pair, &trips[i]);
		if (!ret)
			ret = null_jobs(fd, queue, sync, 1, &ones[i]);
		if (!ret)
			ret = null_jobs(fd, queue, sync, BATCH, &batches[i]);
	}
	return ret ? ret : test_syncobj_status(fd, sync);
}

int main(void)
{
	double trip, one, batch;
	uint32_t queue, sync;
	int fd = test_open(0);
	int ret;

	if (fd < 0 || test_queue_create(fd, 1, 0, &queue) || test_syncobj_create(fd, &sync)) {
		fprintf(stderr, "null_job: no device\n");
		return 1;
	}
	ret = measure(fd, queue, sync);
	if (ret) {
		fprintf(stderr, "null_job: error %d\n", ret);
		return 1;
	}
	trip = median(trips);
	one = median(ones);
	batch = median(batches) / BATCH;

	printf("# eventfd round trip %.1f us, null job %.1f us, in a batch of %d %.1f us\n",
	       trip / 1000, one / 1000, BATCH, batch / 1000);
	printf("null_job_ratio %.3f\n", one / trip);
	printf("null_job_batch64_ratio %.3f\n", batch / trip);
	return 0;
}
