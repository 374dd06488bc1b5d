/* SPDX-License-Identifier: MIT */
/* Pictures in a terminal, two of their rows a line. */
#ifndef TESTS_DEMO_PICTURE_H
#define TESTS_DEMO_PICTURE_H

#include <stdbool.h>
#include <stdint.h>

/**
 * struct picture - a picture and its labels
 * @pixels: [DATASET_SIDE][DATASET_SIDE]
 * @predicted: class that the network says
 * @label: class that it is
 */
struct picture {
	const uint8_t *pixels;
	unsigned int predicted;
	unsigned int label;
};

/* How many pictures fit side by side; at least one. */
unsigned int picture_fit(unsigned int columns);

/* Prints pictures side by side; in shades of ASCII without @color. */
void picture_print(const struct picture *pictures, unsigned int count, bool color);

#endif
