/* SPDX-License-Identifier: MIT */
/* Fashion-MNIST's test images, from Debian's package dataset-fashion-mnist. */
#ifndef TESTS_DEMO_DATASET_H
#define TESTS_DEMO_DATASET_H

#include <stdint.h>

#define DATASET_FOLDER	"/usr/share/datasets/fashion-mnist"
#define DATASET_SIDE	28
#define DATASET_PIXELS	(DATASET_SIDE * DATASET_SIDE)
#define DATASET_CLASSES	10

extern const char *const dataset_names[DATASET_CLASSES];

/**
 * struct dataset - images and what they show
 * @count: number of images
 * @images: [count][DATASET_SIDE][DATASET_SIDE], 0 black to 255 white
 * @labels: [count], each below DATASET_CLASSES
 */
struct dataset {
	uint32_t count;
	uint8_t *images;
	uint8_t *labels;
};

/**
 * dataset_load - read the test images
 * @d: filled in, to be freed with dataset_free()
 * @folder: where the files are, DATASET_FOLDER by default
 * @most: read the first @most images; 0 for all
 *
 * Return: 0, or -1 after a message on stderr.
 */
int dataset_load(struct dataset *d, const char *folder, uint32_t most);
void dataset_free(struct dataset *d);

#endif
