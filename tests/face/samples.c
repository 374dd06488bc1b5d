// SPDX-License-Identifier: MIT
#include "tests/face/samples.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/face/detector.h"
#include "tests/face/image.h"

#define VALUES (DETECTOR_SIDE * DETECTOR_SIDE * 3)
#define HEADER 128

static float between(unsigned int *seed, float lo, float hi)
{
	*seed = *seed * 1664525 + 1013904223;
	return lo + (hi - lo) * (*seed >> 8) / (1 << 24);
}

/* The whole picture first, then closer and closer, every other one mirrored. */
static struct frame part(const struct image *image, int i, int each, unsigned int *seed)
{
	struct frame f = image_frame(image);
	float size = f.size * (1 - 0.6f * i / each);

	f.left += between(seed, 0, f.size - size);
	f.top += between(seed, 0, f.size - size);
	f.size = size;
	f.mirror = i & 1;
	return f;
}

static int write_header(FILE *file, int samples)
{
	char text[HEADER - 10 + 1];
	int n = snprintf(text, sizeof(text),
			 "{'descr': '<f4', 'fortran_order': False, 'shape': (%d, %d, %d, 3), }",
			 samples, DETECTOR_SIDE, DETECTOR_SIDE);

	memset(text + n, ' ', sizeof(text) - 2 - n);
	text[HEADER - 10 - 1] = '\n';
	return fwrite("\x93NUMPY\1\0\x76\0", 10, 1, file) == 1 &&
	       fwrite(text, HEADER - 10, 1, file) == 1 ? 0 : -1;
}

static int write_picture(FILE *file, const char *picture, int each, float *sample)
{
	struct image image;
	unsigned int seed = 1;
	int ret = 0;

	if (image_read(&image, picture))
		return -1;
	for (int i = 0; i < each && !ret; i++) {
		struct frame f = part(&image, i, each, &seed);

		image_sample(&image, &f, DETECTOR_SIDE, sample);
		if (fwrite(sample, sizeof(*sample), VALUES, file) != VALUES)
			ret = -1;
	}
	image_free(&image);
	return ret;
}

int samples_write(const char *path, char *const *pictures, int n, int each)
{
	float *sample = malloc(VALUES * sizeof(*sample));
	FILE *file = sample ? fopen(path, "wb") : NULL;
	int ret = file ? write_header(file, n * each) : -1;

	for (int i = 0; i < n && !ret; i++)
		ret = write_picture(file, pictures[i], each, sample);
	if (file && fclose(file))
		ret = -1;
	if (ret)
		fprintf(stderr, "%s: cannot be written: %s\n", path, strerror(errno));
	free(sample);
	return ret;
}
