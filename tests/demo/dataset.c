// SPDX-License-Identifier: MIT
/* Reads gzip-compressed IDX files of unsigned bytes. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include "tests/demo/dataset.h"

#define IDX_UNSIGNED_BYTE	0x08
#define MAX_RANK		3
#define MAX_COUNT		1000000

const char *const dataset_names[DATASET_CLASSES] = {
	"T-shirt/top", "Trouser", "Pullover", "Dress", "Coat",
	"Sandal", "Shirt", "Sneaker", "Bag", "Ankle boot",
};

/**
 * struct idx - an open file
 * @file: where its elements come next
 * @path: for messages
 * @dim: extents
 */
struct idx {
	gzFile file;
	char path[512];
	uint32_t dim[MAX_RANK];
};

static int fail(const struct idx *x, const char *what)
{
	fprintf(stderr, "%s: %s\n", x->path, what);
	return -1;
}

static uint32_t big_endian(const uint8_t *p)
{
	return (uint32_t)p[0] << 24 | p[1] << 16 | p[2] << 8 | p[3];
}

static int read_bytes(struct idx *x, void *buf, uint32_t size)
{
	int got = gzread(x->file, buf, size), error;

	if (got >= 0 && (uint32_t)got == size)
		return 0;
	return fail(x, got < 0 ? gzerror(x->file, &error) : "ends before its last element");
}

static int read_header(struct idx *x, unsigned int rank)
{
	const uint8_t magic[4] = { 0, 0, IDX_UNSIGNED_BYTE, rank };
	uint8_t head[4 + 4 * MAX_RANK];
	unsigned int i;

	if (read_bytes(x, head, 4 + 4 * rank))
		return -1;
	if (memcmp(head, magic, sizeof(magic))) {
		fprintf(stderr, "%s: expected IDX, unsigned bytes of rank %u, found magic %08x\n",
			x->path, rank, big_endian(head));
		return -1;
	}
	for (i = 0; i < rank; i++)
		x->dim[i] = big_endian(head + 4 + 4 * i);
	return 0;
}

static int open_idx(struct idx *x, const char *folder, const char *name, unsigned int rank)
{
	snprintf(x->path, sizeof(x->path), "%s/%s", folder, name);
	errno = 0;
	x->file = gzopen(x->path, "rb");
	if (!x->file)
		return fail(x, errno ? strerror(errno) : "out of memory");
	return read_header(x, rank);
}

static void close_idx(struct idx *x)
{
	if (x->file)
		gzclose(x->file);
}

static int check(const struct idx *images, const struct idx *labels, uint32_t most)
{
	uint32_t count = images->dim[0];

	if (images->dim[1] != DATASET_SIDE || images->dim[2] != DATASET_SIDE)
		return fail(images, "expected pictures of 28 x 28");
	if (count != labels->dim[0])
		return fail(images, "not as many pictures as labels");
	if (!count || count > MAX_COUNT)
		return fail(images, "expected 1 to 1000000 pictures");
	if (most > count) {
		fprintf(stderr, "%s: expected %u pictures, found %u\n", images->path, most, count);
		return -1;
	}
	return 0;
}

static int read_all(struct dataset *d, struct idx *images, struct idx *labels)
{
	uint32_t i;

	d->images = malloc((size_t)d->count * DATASET_PIXELS);
	d->labels = malloc(d->count);
	if (!d->images || !d->labels)
		return fail(images, "out of memory");
	if (read_bytes(images, d->images, d->count * DATASET_PIXELS) ||
	    read_bytes(labels, d->labels, d->count))
		return -1;
	for (i = 0; i < d->count; i++)
		if (d->labels[i] >= DATASET_CLASSES)
			return fail(labels, "a label is above 9");
	return 0;
}

int dataset_load(struct dataset *d, const char *folder, uint32_t most)
{
	struct idx images = { 0 }, labels = { 0 };
	int ret;

	memset(d, 0, sizeof(*d));
	ret = open_idx(&images, folder, "t10k-images-idx3-ubyte.gz", 3);
	if (!ret)
		ret = open_idx(&labels, folder, "t10k-labels-idx1-ubyte.gz", 1);
	if (!ret)
		ret = check(&images, &labels, most);
	if (!ret) {
		d->count = most ? most : images.dim[0];
		ret = read_all(d, &images, &labels);
	}
	close_idx(&images);
	close_idx(&labels);
	if (ret)
		dataset_free(d);
	return ret;
}

void dataset_free(struct dataset *d)
{
	free(d->images);
	free(d->labels);
	memset(d, 0, sizeof(*d));
}
