// SPDX-License-Identifier: MIT
/*
 * The network of tests/models, compiled, on the device model in this process:
 * every logit is the reference evaluator's, and cycles do not depend on how
 * images are put into calls.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <jansson.h>
#include <openssl/evp.h>
#include "tests/bench/net_graph.h"
#include "tests/demo/dataset.h"
#include "tests/demo/network.h"

#define RECORD		"tests/models/fashion.json"
#define IMAGES		1000
#define FEW		65
#define LOGITS(n)	((size_t)(n) * DATASET_CLASSES)

struct fixture {
	struct dataset data;
	struct network net;
	float logits[LOGITS(IMAGES)];
	struct network_totals totals;
};

/* Images in calls of @batch. */
static void run(struct fixture *f, uint32_t count, uint32_t batch, float *logits,
		struct network_totals *totals)
{
	uint32_t i, n;

	memset(totals, 0, sizeof(*totals));
	for (i = 0; i < count; i += n) {
		n = count - i < batch ? count - i : batch;
		assert_int_equal(network_run(&f->net, f->data.images + (size_t)i * DATASET_PIXELS,
					     n, logits + LOGITS(i), totals), 0);
	}
	assert_int_equal(totals->images, count);
}

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	if (!f || dataset_load(&f->data, DATASET_FOLDER, IMAGES) ||
	    network_open(&f->net, "sim", FASHION_NPU))
		return -1;
	run(f, IMAGES, IMAGES, f->logits, &f->totals);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	network_close(&f->net);
	dataset_free(&f->data);
	free(f);
	return 0;
}

/* ---- against the reference ---- */

static json_t *record(void)
{
	json_error_t error;
	json_t *json = json_load_file(RECORD, 0, &error);

	if (!json)
		fail_msg(RECORD ": line %d: %s", error.line, error.text);
	return json;
}

static void sha256_text(const void *data, size_t size, char *text)
{
	unsigned char digest[EVP_MAX_MD_SIZE];
	unsigned int length, i;

	assert_int_equal(EVP_Digest(data, size, digest, &length, EVP_sha256(), NULL), 1);
	for (i = 0; i < length; i++)
		sprintf(text + 2 * i, "%02x", digest[i]);
}

static void test_logits_equal_the_reference(void **state)
{
	struct fixture *f = *state;
	struct net_graph *g = net_graph_load(NET_MODEL);
	char found[2 * EVP_MAX_MD_SIZE + 1];
	int8_t logits[LOGITS(IMAGES)];
	json_t *json = record();
	const char *expected = json_string_value(json_object_get(json, "logits_sha256_1000"));
	float scale;

	assert_non_null(g);
	assert_non_null(expected);
	scale = net_graph_logit_scale(g);
	assert_true(scale > 0);
	assert_int_equal(net_logits_quantised(f->logits, LOGITS(IMAGES), scale, logits), 0);
	sha256_text(logits, sizeof(logits), found);
	assert_string_equal(found, expected);
	json_decref(json);
	net_graph_free(g);
}

static void test_accuracy(void **state)
{
	struct fixture *f = *state;
	unsigned int right = 0, i;

	for (i = 0; i < IMAGES; i++)
		right += network_class(f->logits + LOGITS(i)) == f->data.labels[i];
	assert_in_range(right, IMAGES * 9 / 10 + 1, IMAGES);
}

static void test_useful_macs_are_the_models(void **state)
{
	struct fixture *f = *state;
	json_t *json = record();

	assert_int_equal(f->net.info.useful_macs,
			 json_integer_value(json_object_get(json, "macs_per_image")));
	json_decref(json);
}

/* ---- determinism ---- */

static void test_second_run_is_the_same(void **state)
{
	static float logits[LOGITS(IMAGES)];
	struct fixture *f = *state;
	struct network_totals totals;

	run(f, IMAGES, IMAGES, logits, &totals);
	assert_memory_equal(logits, f->logits, sizeof(logits));
	assert_true(totals.cycles > 0);
	assert_int_equal(totals.cycles, f->totals.cycles);
	assert_int_equal(totals.jobs, f->totals.jobs);
}

static void test_calls_of_any_size_are_the_same(void **state)
{
	static const uint32_t sizes[] = { 1, 2, 7, 31, 33, 64, FEW };
	struct network_totals totals, first;
	float logits[LOGITS(FEW)];
	struct fixture *f = *state;
	size_t i;

	run(f, FEW, sizes[0], logits, &first);
	for (i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		memset(logits, 0, sizeof(logits));
		run(f, FEW, sizes[i], logits, &totals);
		assert_memory_equal(logits, f->logits, sizeof(logits));
		assert_int_equal(totals.cycles, first.cycles);
	}
}

static void test_every_image_costs_the_same(void **state)
{
	struct fixture *f = *state;
	struct network_totals totals;
	float logits[LOGITS(1)];

	run(f, 1, 1, logits, &totals);
	assert_int_equal(f->totals.cycles, totals.cycles * IMAGES);
}

/* A device that was just made has nothing in its memories that a job could gain from. */
static void test_another_device_is_the_same(void **state)
{
	struct fixture *f = *state, other = { .data = f->data };
	struct network_totals totals;
	float logits[LOGITS(1)];

	assert_int_equal(network_open(&other.net, "sim", FASHION_NPU), 0);
	run(&other, 1, 1, logits, &totals);
	network_close(&other.net);
	assert_memory_equal(logits, f->logits, sizeof(logits));
	assert_int_equal(totals.cycles * IMAGES, f->totals.cycles);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_logits_equal_the_reference),
		cmocka_unit_test(test_accuracy),
		cmocka_unit_test(test_useful_macs_are_the_models),
		cmocka_unit_test(test_second_run_is_the_same),
		cmocka_unit_test(test_calls_of_any_size_are_the_same),
		cmocka_unit_test(test_every_image_costs_the_same),
		cmocka_unit_test(test_another_device_is_the_same),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("network", tests, setup, teardown);
}
