// SPDX-License-Identifier: MIT
/*
 * Finds faces in photographs on an NPU, draws boxes around them, and ends with
 * one line: how many, and how well the core was used.
 */
#include <getopt.h>
#include <inttypes.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <npu/npu.h>

#include "npu_isa.h"
#include "tests/face/detector.h"
#include "tests/face/image.h"
#include "tests/face/samples.h"

#define SAMPLES	    16
#define LEAST_LINE  2
#define LINE_PART   160 /* of the picture's width is a line of a box */

struct options {
	const char *device, *module, *folder, *samples;
	bool color;
	int columns;
};

/* The network on its device, and what it made. */
struct detector {
	struct npu_device *dev;
	struct npu_module *module;
	struct npu_function *function;
	struct npu_function_info info;
	struct npu_step_stats *stats;
	float *input;
	float *output[DETECTOR_OUTPUTS];
	uint64_t cycles;
};

static const int64_t shapes[1 + DETECTOR_OUTPUTS][4] = {
	{ 1, DETECTOR_SIDE, DETECTOR_SIDE, 3 },
	{ 1, DETECTOR_NEAR, 1 },
	{ 1, DETECTOR_FAR, 1 },
	{ 1, DETECTOR_NEAR, DETECTOR_VALUES },
	{ 1, DETECTOR_FAR, DETECTOR_VALUES },
};

static int rank(int tensor)
{
	return tensor ? 3 : 4;
}

static size_t elements(int tensor)
{
	size_t n = 1;

	for (int i = 0; i < rank(tensor); i++)
		n *= shapes[tensor][i];
	return n;
}

static int fail(const char *what)
{
	fprintf(stderr, "face: %s: %s\n", what, npu_error_message());
	return -1;
}

static int check_function(const struct detector *d, const char *path)
{
	for (int i = 0; i <= DETECTOR_OUTPUTS; i++) {
		struct npu_tensor_info info;

		if (npu_function_get_tensor(d->function, i, &info))
			return fail(path);
		if (info.dtype.code != kDLFloat || info.dtype.bits != 32 || info.ndim != rank(i) ||
		    memcmp(info.shape, shapes[i], rank(i) * sizeof(int64_t))) {
			fprintf(stderr, "face: %s: argument %d is not the detector's\n", path, i);
			return -1;
		}
	}
	return 0;
}

static int open_detector(struct detector *d, const struct options *o)
{
	if (npu_device_open(&d->dev, o->device))
		return fail("no device");
	if (npu_module_load(d->dev, o->module, &d->module) ||
	    npu_module_get_function(d->module, "main", &d->function))
		return fail(o->module);
	npu_function_get_info(d->function, &d->info);
	d->stats = calloc(d->info.steps + 1, sizeof(*d->stats));
	d->input = malloc(elements(0) * sizeof(float));
	for (int i = 0; i < DETECTOR_OUTPUTS; i++)
		d->output[i] = malloc(elements(1 + i) * sizeof(float));
	if (!d->stats || !d->input || !d->output[0] || !d->output[1] || !d->output[2] ||
	    !d->output[3]) {
		fprintf(stderr, "face: out of memory\n");
		return -1;
	}
	return check_function(d, o->module);
}

static void close_detector(struct detector *d)
{
	for (int i = 0; i < DETECTOR_OUTPUTS; i++)
		free(d->output[i]);
	free(d->input);
	free(d->stats);
	npu_module_free(d->module);
	npu_device_close(d->dev);
}

static int run(struct detector *d)
{
	DLTensor tensor[1 + DETECTOR_OUTPUTS];
	struct npu_value args[1 + DETECTOR_OUTPUTS];

	for (int i = 0; i <= DETECTOR_OUTPUTS; i++) {
		tensor[i] = (DLTensor){
			.data = i ? d->output[i - 1] : d->input,
			.device = { kDLCPU, 0 },
			.ndim = rank(i),
			.dtype = { kDLFloat, 32, 1 },
			.shape = (int64_t *)shapes[i],
		};
		args[i] = (struct npu_value){ .type_index = NPU_TYPE_TENSOR, .v_tensor = &tensor[i] };
	}
	if (npu_function_profile(d->function, args, 1 + DETECTOR_OUTPUTS, d->stats, d->info.steps))
		return fail("the detector");
	for (uint32_t i = 0; i < d->info.steps; i++)
		if (d->stats[i].kind == NPU_STEP_KIND_NPU)
			d->cycles += d->stats[i].total.cycles;
	return 0;
}

static int write_result(const struct image *image, const char *picture, const char *folder)
{
	char name[256], path[1024], *dot;

	snprintf(name, sizeof(name), "%s", picture);
	dot = strrchr(name, '.');
	if (dot)
		*dot = '\0';
	snprintf(path, sizeof(path), "%s/%s-faces.png", folder, name);
	if (image_write_png(image, path))
		return -1;
	printf("  with boxes: %s\n", path);
	return 0;
}

static void draw(struct image *image, const struct frame *f, const struct face *face)
{
	int thick = image->width / LINE_PART > LEAST_LINE ? image->width / LINE_PART : LEAST_LINE;

	image_draw(image, f->left + face->left * f->size, f->top + face->top * f->size,
		   f->left + face->right * f->size, f->top + face->bottom * f->size, thick);
}

/* Returns the number of faces, or -1. */
static int detect(struct detector *d, const struct options *o, char *path)
{
	struct face faces[DETECTOR_MAX];
	struct image image;
	const char *name = basename(path);
	struct frame frame;
	float best;
	int n = 0, ret;

	if (image_read(&image, path))
		return -1;
	frame = image_frame(&image);
	image_sample(&image, &frame, DETECTOR_SIDE, d->input);
	ret = run(d);
	if (!ret) {
		n = detector_faces(d->output, faces, &best);
		for (int i = 0; i < n; i++)
			draw(&image, &frame, &faces[i]);
		image_print(&image, o->columns, o->color);
		printf("%s: %d face%s, best score %.3f\n", name, n, n == 1 ? "" : "s", best);
		for (int i = 0; i < n; i++)
			printf("  face at (%.2f, %.2f), %.2f wide, score %.3f\n",
			       (faces[i].left + faces[i].right) / 2,
			       (faces[i].top + faces[i].bottom) / 2,
			       faces[i].right - faces[i].left, faces[i].score);
		if (o->folder)
			ret = write_result(&image, name, o->folder);
		putchar('\n');
	}
	image_free(&image);
	return ret ? -1 : n;
}

static int detect_all(struct detector *d, const struct options *o, char **paths, int n)
{
	int faces = 0;

	for (int i = 0; i < n; i++) {
		int found = detect(d, o, paths[i]);

		if (found < 0)
			return -1;
		faces += found;
		fflush(stdout);
	}
	printf("demo: images=%d faces=%d cycles_per_image=%" PRIu64 " utilisation=%.2f\n", n, faces,
	       d->cycles / n, d->cycles ? (double)d->info.useful_macs * n /
						  ((double)NPU_BLOCK * NPU_BLOCK * d->cycles) : 0);
	return 0;
}

static const char usage[] =
	"usage: face [OPTION]... PICTURE...\n"
	"\n"
	"Finds faces in PNG and JPEG pictures on an NPU.\n"
	"\n"
	"      --module FILE     the compiled detector\n"
	"      --device NAME     instead of the environment's NPU_DEVICE\n"
	"      --out FOLDER      where pictures with boxes go\n"
	"      --columns N       width of what is shown (64)\n"
	"      --color           in colours\n"
	"      --samples FILE    writes calibration samples (.npy) from the pictures, no more\n"
	"  -h, --help            prints this\n";

static int parse(int argc, char **argv, struct options *o)
{
	static const struct option options[] = {
		{ "module", required_argument, NULL, 'm' }, { "device", required_argument, NULL, 'd' },
		{ "out", required_argument, NULL, 'o' },    { "columns", required_argument, NULL, 'n' },
		{ "color", no_argument, NULL, 'c' },	    { "samples", required_argument, NULL, 's' },
		{ "help", no_argument, NULL, 'h' },	    { 0 },
	};
	int c;

	while ((c = getopt_long(argc, argv, "h", options, NULL)) != -1) {
		if (c == 'm')
			o->module = optarg;
		else if (c == 'd')
			o->device = optarg;
		else if (c == 'o')
			o->folder = optarg;
		else if (c == 'n')
			o->columns = atoi(optarg);
		else if (c == 'c')
			o->color = true;
		else if (c == 's')
			o->samples = optarg;
		else {
			fputs(usage, c == 'h' ? stdout : stderr);
			return c == 'h' ? 0 : 2;
		}
	}
	if (optind < argc && (o->module || o->samples) && o->columns > 0 && o->columns < 1000)
		return -1;
	fputs(usage, stderr);
	return 2;
}

int main(int argc, char **argv)
{
	struct options o = { .columns = 64 };
	struct detector d = { 0 };
	int ret = parse(argc, argv, &o);

	if (ret >= 0)
		return ret;
	if (o.samples)
		return samples_write(o.samples, argv + optind, argc - optind, SAMPLES) ? 1 : 0;
	ret = open_detector(&d, &o);
	if (!ret)
		ret = detect_all(&d, &o, argv + optind, argc - optind);
	close_detector(&d);
	return ret ? 1 : 0;
}
