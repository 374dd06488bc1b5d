// SPDX-License-Identifier: MIT
/*
 * The network through the kernel's driver and on the model in this process: the
 * same logits and the same cycles, also while another process keeps the device
 * busy with its own.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>
#include "tests/demo/dataset.h"
#include "tests/demo/network.h"

#define NODE	"/dev/accel/accel0"
#define IMAGES	64

struct outcome {
	float logits[IMAGES * DATASET_CLASSES];
	struct network_totals totals;
	struct npu_report report;
};

static struct dataset data;
static struct outcome expected;

static void add_reports(const struct network *n, struct npu_report *sum)
{
	uint32_t i;

	for (i = 0; i < n->info.steps; i++) {
		const struct npu_report *r = &n->stats[i].total;

		sum->macs += r->macs;
		sum->bytes_read += r->bytes_read;
		sum->bytes_written += r->bytes_written;
		sum->busy_load += r->busy_load;
		sum->busy_compute += r->busy_compute;
		sum->busy_store += r->busy_store;
		sum->stall_load += r->stall_load;
		sum->stall_compute_load += r->stall_compute_load;
		sum->stall_compute_store += r->stall_compute_store;
		sum->stall_store += r->stall_store;
	}
}

static int classify(const char *device, struct outcome *o)
{
	struct network net;
	int ret;

	memset(o, 0, sizeof(*o));
	if (network_open(&net, device, FASHION_NPU))
		return -1;
	ret = network_run(&net, data.images, IMAGES, o->logits, &o->totals);
	if (!ret)
		add_reports(&net, &o->report);
	network_close(&net);
	return ret;
}

static void assert_expected(const struct outcome *o)
{
	assert_memory_equal(o->logits, expected.logits, sizeof(o->logits));
	assert_true(o->totals.cycles > 0);
	assert_int_equal(o->totals.cycles, expected.totals.cycles);
	assert_int_equal(o->totals.jobs, expected.totals.jobs);
	assert_memory_equal(&o->report, &expected.report, sizeof(o->report));
}

static int setup(void **state)
{
	(void)state;
	if (dataset_load(&data, DATASET_FOLDER, IMAGES))
		return -1;
	return classify("sim", &expected);
}

static int teardown(void **state)
{
	(void)state;
	dataset_free(&data);
	return 0;
}

static void test_driver_gives_the_same(void **state)
{
	static struct outcome o;

	(void)state;
	assert_int_equal(classify(NODE, &o), 0);
	assert_expected(&o);
}

/* Until it is killed. */
static void keep_busy(int told)
{
	static float logits[IMAGES * DATASET_CLASSES];
	struct network_totals totals = { 0 };
	struct network net;

	if (network_open(&net, NODE, FASHION_NPU))
		_exit(1);
	while (!network_run(&net, data.images, IMAGES, logits, &totals))
		if (totals.images == IMAGES && write(told, "x", 1) != 1)
			_exit(1);
	_exit(1);
}

static void test_a_neighbour_changes_nothing(void **state)
{
	static struct outcome o;
	int told[2], ret;
	pid_t child;
	char byte;

	(void)state;
	assert_int_equal(pipe(told), 0);
	child = fork();
	assert_true(child >= 0);
	if (!child)
		keep_busy(told[1]);
	close(told[1]);
	assert_int_equal(read(told[0], &byte, 1), 1);
	ret = classify(NODE, &o);
	/* Still at work when we were done, so it was there all the time. */
	assert_int_equal(waitpid(child, NULL, WNOHANG), 0);
	kill(child, SIGKILL);
	assert_int_equal(waitpid(child, NULL, 0), child);
	close(told[0]);
	assert_int_equal(ret, 0);
	assert_expected(&o);
}

static void test_after_a_killed_neighbour(void **state)
{
	static struct outcome o;

	(void)state;
	assert_int_equal(classify(NODE, &o), 0);
	assert_expected(&o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_driver_gives_the_same),
		cmocka_unit_test(test_a_neighbour_changes_nothing),
		cmocka_unit_test(test_after_a_killed_neighbour),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("network on both backends", tests, setup, teardown);
}
