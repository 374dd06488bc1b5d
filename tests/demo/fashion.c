// SPDX-License-Identifier: MIT
/*
 * Classifies pictures of clothes on an NPU, shows some of them, and ends with
 * one line: how many, how well, and how well the core was used.
 */
#include <getopt.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>
#include "tests/demo/dataset.h"
#include "tests/demo/network.h"
#include "tests/demo/picture.h"
#include "tests/demo/progress.h"

#define MAX_PICTURES	12
/* A call keeps two groups of 32 jobs on their way; progress is told between calls. */
#define MIN_BATCH	32
#define MAX_BATCH	128
#define CALLS		20

enum when { WHEN_AUTO, WHEN_YES, WHEN_NO };

struct options {
	uint32_t images;
	unsigned int columns;
	enum when color;
	enum when bar;
	const char *device;
	const char *module;
	const char *folder;
};

struct demo {
	struct options options;
	struct dataset data;
	struct network net;
	struct network_totals totals;
	uint8_t *predicted;
	uint32_t right;
	double seconds;
};

static const char usage[] =
	"usage: fashion [OPTION]...\n"
	"\n"
	"Classifies test images of Fashion-MNIST on an NPU.\n"
	"\n"
	"      --images N        the first N images, or \"all\" (1000)\n"
	"      --device NAME     instead of the environment's NPU_DEVICE\n"
	"      --module FILE     the compiled network (fashion.npu beside the program)\n"
	"      --data FOLDER     the images (" DATASET_FOLDER ")\n"
	"      --color WHEN      auto, always or never\n"
	"      --progress HOW    auto, bar or lines\n"
	"      --columns N       width of the terminal\n"
	"  -h, --help            prints this\n";

/* ---- options ---- */

static int take_number(const char *name, const char *text, unsigned long most, uint32_t *out)
{
	char *end;
	unsigned long value = strtoul(text, &end, 10);

	if (*text < '0' || *text > '9' || *end || !value || value > most) {
		fprintf(stderr, "fashion: %s: expected 1 to %lu, found \"%s\"\n", name, most, text);
		return -1;
	}
	*out = value;
	return 0;
}

static int take_when(const char *name, const char *text, const char *yes, const char *no,
		     enum when *out)
{
	if (!strcmp(text, "auto")) {
		*out = WHEN_AUTO;
	} else if (!strcmp(text, yes)) {
		*out = WHEN_YES;
	} else if (!strcmp(text, no)) {
		*out = WHEN_NO;
	} else {
		fprintf(stderr, "fashion: %s: expected auto, %s or %s, found \"%s\"\n", name, yes,
			no, text);
		return -1;
	}
	return 0;
}

static int take_option(struct options *o, int letter)
{
	switch (letter) {
	case 'i':
		if (!strcmp(optarg, "all")) {
			o->images = 0;
			return 0;
		}
		return take_number("--images", optarg, UINT32_MAX, &o->images);
	case 'w':
		return take_number("--columns", optarg, INT_MAX, &o->columns);
	case 'c':
		return take_when("--color", optarg, "always", "never", &o->color);
	case 'p':
		return take_when("--progress", optarg, "bar", "lines", &o->bar);
	case 'd':
		o->device = optarg;
		return 0;
	case 'm':
		o->module = optarg;
		return 0;
	case 'f':
		o->folder = optarg;
		return 0;
	case 'h':
		fputs(usage, stdout);
		exit(0);
	default:
		fputs(usage, stderr);
		return -1;
	}
}

static int parse(struct options *o, int argc, char **argv)
{
	static const struct option known[] = {
		{ "images", required_argument, NULL, 'i' },
		{ "columns", required_argument, NULL, 'w' },
		{ "color", required_argument, NULL, 'c' },
		{ "progress", required_argument, NULL, 'p' },
		{ "device", required_argument, NULL, 'd' },
		{ "module", required_argument, NULL, 'm' },
		{ "data", required_argument, NULL, 'f' },
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	int letter;

	while ((letter = getopt_long(argc, argv, "h", known, NULL)) != -1)
		if (take_option(o, letter))
			return -1;
	if (optind == argc)
		return 0;
	fprintf(stderr, "fashion: unexpected argument \"%s\"\n", argv[optind]);
	return -1;
}

/* What the output is decides what was not said. */
static void settle(struct options *o)
{
	const char *term = getenv("TERM"), *plain = getenv("NO_COLOR");
	const char *columns = getenv("COLUMNS");
	bool terminal = isatty(STDOUT_FILENO) && term && strcmp(term, "dumb");
	struct winsize size = { 0 };

	if (o->color == WHEN_AUTO)
		o->color = terminal && !(plain && *plain) ? WHEN_YES : WHEN_NO;
	if (o->bar == WHEN_AUTO)
		o->bar = terminal ? WHEN_YES : WHEN_NO;
	if (!o->columns && !ioctl(STDOUT_FILENO, TIOCGWINSZ, &size))
		o->columns = size.ws_col;
	if (!o->columns && columns)
		o->columns = strtoul(columns, NULL, 10);
	if (!o->columns)
		o->columns = 80;
}

/* The network lies beside the program, wherever that was put. */
static const char *module_path(const struct options *o, char *buf, size_t size)
{
	ssize_t length = readlink("/proc/self/exe", buf, size - 1);
	char *slash;

	if (o->module || length < 0)
		return o->module ? o->module : "fashion.npu";
	buf[length] = 0;
	slash = strrchr(buf, '/');
	snprintf(slash + 1, size - (slash + 1 - buf), "fashion.npu");
	return buf;
}

/* ---- work ---- */

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

static void introduce(const struct demo *d)
{
	struct npu_device_info info;

	if (npu_device_get_info(d->net.dev, &info, sizeof(info)))
		return;
	printf("%u images on %s: %u core%s, firmware %u.%u.%u, %" PRIu64 " MAC an image\n",
	       d->data.count, info.path, info.cores, info.cores == 1 ? "" : "s",
	       info.fw_version >> 16, info.fw_version >> 8 & 0xff, info.fw_version & 0xff,
	       d->net.info.useful_macs);
	fflush(stdout);
}

static int classify_batch(struct demo *d, uint32_t first, uint32_t count)
{
	float logits[MAX_BATCH * DATASET_CLASSES];
	uint32_t i;

	if (network_run(&d->net, d->data.images + (size_t)first * DATASET_PIXELS, count, logits,
			&d->totals))
		return -1;
	for (i = 0; i < count; i++) {
		d->predicted[first + i] = network_class(logits + i * DATASET_CLASSES);
		d->right += d->predicted[first + i] == d->data.labels[first + i];
	}
	return 0;
}

static uint32_t batch_size(uint32_t images)
{
	uint32_t size = images / CALLS;

	if (size < MIN_BATCH)
		return MIN_BATCH;
	return size < MAX_BATCH ? size : MAX_BATCH;
}

static int classify(struct demo *d)
{
	struct progress progress = { .total = d->data.count, .bar = d->options.bar == WHEN_YES };
	uint32_t batch = batch_size(d->data.count), first, count;
	double start = now();
	int ret = 0;

	progress_show(&progress, 0, 0);
	for (first = 0; !ret && first < d->data.count; first += count) {
		count = d->data.count - first < batch ? d->data.count - first : batch;
		ret = classify_batch(d, first, count);
		if (!ret)
			progress_show(&progress, first + count, d->right);
	}
	progress_end(&progress);
	d->seconds = now() - start;
	return ret;
}

/* ---- results ---- */

static struct picture picture_of(const struct demo *d, uint32_t i)
{
	return (struct picture) {
		.pixels = d->data.images + (size_t)i * DATASET_PIXELS,
		.predicted = d->predicted[i],
		.label = d->data.labels[i],
	};
}

/* The first of each class, and at the end the first that went wrong, if any did. */
static unsigned int choose(const struct demo *d, struct picture *out, unsigned int most)
{
	unsigned int chosen = 0, seen = 0;
	uint32_t i, wrong = d->data.count;

	for (i = 0; i < d->data.count; i++)
		if (wrong == d->data.count && d->predicted[i] != d->data.labels[i])
			wrong = i;
	for (i = 0; i < d->data.count && chosen < most - (wrong < d->data.count); i++) {
		if (seen & 1u << d->data.labels[i] || i == wrong)
			continue;
		seen |= 1u << d->data.labels[i];
		out[chosen++] = picture_of(d, i);
	}
	if (wrong < d->data.count)
		out[chosen++] = picture_of(d, wrong);
	return chosen;
}

static void show_pictures(const struct demo *d)
{
	struct picture pictures[MAX_PICTURES];
	unsigned int fit = picture_fit(d->options.columns), i, chosen;

	if (fit > MAX_PICTURES / 2)
		fit = MAX_PICTURES / 2;
	chosen = choose(d, pictures, fit < 2 ? 3 : 2 * fit);
	putchar('\n');
	for (i = 0; i < chosen; i += fit)
		picture_print(pictures + i, chosen - i < fit ? chosen - i : fit,
			      d->options.color == WHEN_YES);
}

static void conclude(const struct demo *d)
{
	uint64_t images = d->totals.images, cycles = d->totals.cycles;

	printf("%u of %" PRIu64 " right, in %.1f s; %" PRIu64 " jobs\n", d->right, images,
	       d->seconds, d->totals.jobs);
	printf("demo: images=%" PRIu64 " accuracy=%.3f cycles_per_image=%" PRIu64
	       " utilisation=%.2f\n", images, (double)d->right / images,
	       (cycles + images / 2) / images,
	       network_utilisation(d->net.info.useful_macs * images, cycles));
}

static int run(struct demo *d)
{
	char path[PATH_MAX];

	if (dataset_load(&d->data, d->options.folder, d->options.images))
		return -1;
	if (network_open(&d->net, d->options.device, module_path(&d->options, path, sizeof(path))))
		return -1;
	d->predicted = calloc(d->data.count, 1);
	if (!d->predicted) {
		fprintf(stderr, "fashion: out of memory\n");
		return -1;
	}
	introduce(d);
	if (classify(d))
		return -1;
	show_pictures(d);
	conclude(d);
	return 0;
}

int main(int argc, char **argv)
{
	struct demo d = { .options = { .images = 1000, .folder = DATASET_FOLDER } };
	int ret;

	if (parse(&d.options, argc, argv))
		return 2;
	settle(&d.options);
	ret = run(&d);
	free(d.predicted);
	network_close(&d.net);
	dataset_free(&d.data);
	if (fflush(stdout) || ferror(stdout)) {
		perror("fashion: output");
		return 1;
	}
	return ret ? 1 : 0;
}
