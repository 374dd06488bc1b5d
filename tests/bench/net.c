// SPDX-License-Identifier: MIT
/*
 * The network of tests/models on the device model in this process: how well it
 * uses the core, how fast all 10,000 test images pass, how many are right, and
 * how many logits differ from the reference evaluator, which shares nothing
 * with compiler, runtime and model.
 */
#include <errno.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "tests/bench/net_graph.h"
#include "tests/bench/net_layers.h"
#include "tests/demo/dataset.h"
#include "tests/demo/network.h"

#define IMAGES		10000
#define LOGITS		(IMAGES * DATASET_CLASSES)
#define BATCH		1000
#define ROUNDS		3
#define REFERENCE	"tests/models/reference.py"

extern char **environ;

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* ---- the reference ---- */

/* Its figures are not ours: they go to stderr. */
static int run_reference(const char *path)
{
	char *const argv[] = { REFERENCE, "--dump", (char *)path, NET_MODEL, NULL };
	posix_spawn_file_actions_t actions;
	int ret, status;
	pid_t child;

	if (posix_spawn_file_actions_init(&actions))
		return -1;
	posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO);
	ret = posix_spawn(&child, REFERENCE, &actions, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	if (ret) {
		fprintf(stderr, REFERENCE ": %s\n", strerror(ret));
		return -1;
	}
	while (waitpid(child, &status, 0) < 0)
		if (errno != EINTR)
			return -1;
	if (!WIFEXITED(status) || WEXITSTATUS(status)) {
		fprintf(stderr, REFERENCE ": failed\n");
		return -1;
	}
	return 0;
}

static int read_logits(const char *path, int8_t *out)
{
	FILE *file = fopen(path, "rb");
	int whole = file && fread(out, LOGITS, 1, file) == 1 && fgetc(file) == EOF;

	if (file)
		fclose(file);
	if (!whole)
		fprintf(stderr, "%s: expected %d logits\n", path, LOGITS);
	return whole ? 0 : -1;
}

static int reference_logits(int8_t *out)
{
	char folder[] = "/tmp/npu-net-XXXXXX", path[64];
	int ret;

	if (!mkdtemp(folder)) {
		perror("mkdtemp");
		return -1;
	}
	snprintf(path, sizeof(path), "%s/logits", folder);
	ret = run_reference(path);
	if (!ret)
		ret = read_logits(path, out);
	unlink(path);
	rmdir(folder);
	return ret;
}

/* ---- all images ---- */

static int run_all(struct network *n, const struct dataset *d, float *logits, double *seconds)
{
	struct network_totals totals = { 0 };
	double start = now();
	uint32_t i;

	for (i = 0; i < IMAGES; i += BATCH)
		if (network_run(n, d->images + (size_t)i * DATASET_PIXELS, BATCH,
				logits + (size_t)i * DATASET_CLASSES, &totals))
			return -1;
	*seconds = now() - start;
	return 0;
}

static int measure_speed(struct network *n, const struct dataset *d, float *logits)
{
	double seconds[ROUNDS];
	int i;

	for (i = 0; i < ROUNDS; i++)
		if (run_all(n, d, logits, &seconds[i]))
			return -1;
	qsort(seconds, ROUNDS, sizeof(*seconds), compare);
	printf("sim_images_per_s %.1f\n", IMAGES / seconds[ROUNDS / 2]);
	return 0;
}

static void print_accuracy(const struct dataset *d, const float *logits)
{
	unsigned int right = 0, i;

	for (i = 0; i < IMAGES; i++)
		right += network_class(logits + i * DATASET_CLASSES) == d->labels[i];
	printf("net_accuracy_10000 %.4f\n", (double)right / IMAGES);
}

static int print_mismatches(const struct net_graph *g, const float *logits)
{
	static int8_t ours[LOGITS], theirs[LOGITS];
	float scale = net_graph_logit_scale(g);
	size_t i, mismatches;

	if (!scale || reference_logits(theirs))
		return -1;
	mismatches = net_logits_quantised(logits, LOGITS, scale, ours);
	for (i = 0; i < LOGITS; i++)
		mismatches += ours[i] != theirs[i];
	printf("net_mismatches %zu\n", mismatches);
	return 0;
}

static int report(struct network *n, const struct net_graph *g, const struct dataset *d)
{
	static float logits[LOGITS];

	if (net_layers_report(n->dev, g) || measure_speed(n, d, logits))
		return -1;
	print_accuracy(d, logits);
	return print_mismatches(g, logits);
}

int main(void)
{
	struct net_graph *g = net_graph_load(NET_MODEL);
	struct network n = { 0 };
	struct dataset d;
	int ret;

	if (!g || dataset_load(&d, DATASET_FOLDER, IMAGES))
		return 1;
	ret = network_open(&n, "sim", FASHION_NPU);
	if (!ret)
		ret = report(&n, g, &d);
	network_close(&n);
	dataset_free(&d);
	net_graph_free(g);
	return ret ? 1 : 0;
}
