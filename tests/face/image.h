/* SPDX-License-Identifier: MIT */
/* Photographs: files, the network's input, drawing. */
#ifndef TESTS_FACE_IMAGE_H
#define TESTS_FACE_IMAGE_H

#include <stdbool.h>
#include <stdint.h>

/**
 * struct image - a picture
 * @width: columns
 * @height: rows
 * @pixel: [height][width][3], red green blue, owned
 */
struct image {
	int width, height;
	uint8_t *pixel;
};

/* A part of a picture, in pixels; may reach beyond it. */
struct frame {
	float left, top, size;
	bool mirror;
};

/* PNG or JPEG; 0, or -1 after a message on stderr. */
int image_read(struct image *image, const char *path);
int image_write_png(const struct image *image, const char *path);
void image_free(struct image *image);

/* The smallest square around the whole picture. */
struct frame image_frame(const struct image *image);

/*
 * The frame as @side x @side pixels of [-1, 1], each the mean of what it covers;
 * black beyond the picture.
 */
void image_sample(const struct image *image, const struct frame *frame, int side, float *out);

/* Lines of @thick pixels around a rectangle. */
void image_draw(struct image *image, int left, int top, int right, int bottom, int thick);

/* The picture in the terminal, two rows a line, at most @columns wide. */
void image_print(const struct image *image, int columns, bool color);

#endif
