// SPDX-License-Identifier: MIT
#include "tests/face/image.h"

#include <errno.h>
#include <math.h>
#include <png.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
/* Wants size_t and FILE. */
#include <jpeglib.h>

#define MAX_SIDE   16384
#define UPPER_HALF "\xe2\x96\x80"

static const char shades[] = " .:-=+*#%@";
static const uint8_t line_color[3] = { 0x20, 0xff, 0x40 };

static int fail(const char *path, const char *why)
{
	fprintf(stderr, "%s: %s\n", path, why);
	return -1;
}

static int make(struct image *image, const char *path, unsigned int width, unsigned int height)
{
	if (!width || !height || width > MAX_SIDE || height > MAX_SIDE)
		return fail(path, "a picture has 1 to 16384 rows and columns");
	image->width = width;
	image->height = height;
	image->pixel = malloc((size_t)width * height * 3);
	return image->pixel ? 0 : fail(path, "out of memory");
}

static int read_png(struct image *image, const char *path)
{
	png_image png = { .version = PNG_IMAGE_VERSION };

	if (!png_image_begin_read_from_file(&png, path))
		return fail(path, png.message);
	png.format = PNG_FORMAT_RGB;
	if (make(image, path, png.width, png.height)) {
		png_image_free(&png);
		return -1;
	}
	if (!png_image_finish_read(&png, NULL, image->pixel, 0, NULL))
		return fail(path, png.message);
	return 0;
}

struct jpeg_error {
	struct jpeg_error_mgr manager;
	jmp_buf back;
	char message[JMSG_LENGTH_MAX];
};

static void jpeg_failed(j_common_ptr common)
{
	struct jpeg_error *error = (struct jpeg_error *)common->err;

	error->manager.format_message(common, error->message);
	longjmp(error->back, 1);
}

static int decode_jpeg(struct jpeg_decompress_struct *jpeg, struct jpeg_error *error, FILE *file,
		       struct image *image, const char *path)
{
	if (setjmp(error->back))
		return fail(path, error->message);
	jpeg_create_decompress(jpeg);
	jpeg_stdio_src(jpeg, file);
	jpeg_read_header(jpeg, TRUE);
	jpeg->out_color_space = JCS_RGB;
	jpeg_start_decompress(jpeg);
	if (make(image, path, jpeg->output_width, jpeg->output_height))
		return -1;
	while (jpeg->output_scanline < jpeg->output_height) {
		JSAMPROW row = image->pixel + (size_t)jpeg->output_scanline * image->width * 3;

		jpeg_read_scanlines(jpeg, &row, 1);
	}
	jpeg_finish_decompress(jpeg);
	return 0;
}

static int read_jpeg(struct image *image, const char *path, FILE *file)
{
	struct jpeg_decompress_struct jpeg = { 0 };
	struct jpeg_error error;
	int ret;

	jpeg.err = jpeg_std_error(&error.manager);
	error.manager.error_exit = jpeg_failed;
	ret = decode_jpeg(&jpeg, &error, file, image, path);
	jpeg_destroy_decompress(&jpeg);
	return ret;
}

int image_read(struct image *image, const char *path)
{
	FILE *file = fopen(path, "rb");
	unsigned char magic[2] = { 0 };
	size_t n;
	int ret;

	memset(image, 0, sizeof(*image));
	if (!file)
		return fail(path, strerror(errno));
	n = fread(magic, 1, sizeof(magic), file);
	rewind(file);
	if (n == 2 && magic[0] == 0xff && magic[1] == 0xd8)
		ret = read_jpeg(image, path, file);
	else
		ret = read_png(image, path);
	fclose(file);
	if (ret)
		image_free(image);
	return ret;
}

int image_write_png(const struct image *image, const char *path)
{
	png_image png = {
		.version = PNG_IMAGE_VERSION, .format = PNG_FORMAT_RGB,
		.width = image->width, .height = image->height,
	};

	return png_image_write_to_file(&png, path, 0, image->pixel, 0, NULL) ?
		       0 : fail(path, png.message);
}

void image_free(struct image *image)
{
	free(image->pixel);
	memset(image, 0, sizeof(*image));
}

struct frame image_frame(const struct image *image)
{
	int size = image->width > image->height ? image->width : image->height;

	return (struct frame){ (image->width - size) / 2.0f, (image->height - size) / 2.0f, size,
			       false };
}

/* Mean of the pixels in a rectangle; those beyond the picture count as black. */
static void mean(const struct image *image, int left, int top, int right, int bottom, float *out)
{
	double sum[3] = { 0 };

	for (int y = top < 0 ? 0 : top; y < bottom && y < image->height; y++)
		for (int x = left < 0 ? 0 : left; x < right && x < image->width; x++)
			for (int c = 0; c < 3; c++)
				sum[c] += image->pixel[((size_t)y * image->width + x) * 3 + c];
	for (int c = 0; c < 3; c++)
		out[c] = sum[c] / ((double)(right - left) * (bottom - top));
}

void image_sample(const struct image *image, const struct frame *frame, int side, float *out)
{
	float step = frame->size / side;

	for (int y = 0; y < side; y++)
		for (int x = 0; x < side; x++) {
			int left = floorf(frame->left + (frame->mirror ? side - 1 - x : x) * step);
			int top = floorf(frame->top + y * step);
			int wide = step > 1 ? (int)ceilf(step) : 1;
			float *to = out + ((size_t)y * side + x) * 3;

			mean(image, left, top, left + wide, top + wide, to);
			for (int c = 0; c < 3; c++)
				to[c] = to[c] / 127.5f - 1;
		}
}

void image_draw(struct image *image, int left, int top, int right, int bottom, int thick)
{
	for (int y = top < 0 ? 0 : top; y <= bottom && y < image->height; y++)
		for (int x = left < 0 ? 0 : left; x <= right && x < image->width; x++)
			if (x < left + thick || x > right - thick || y < top + thick ||
			    y > bottom - thick)
				memcpy(image->pixel + ((size_t)y * image->width + x) * 3, line_color,
				       3);
}

static void print_cell(const float *upper, const float *lower, bool color)
{
	float light = (upper[0] + upper[1] + upper[2] + lower[0] + lower[1] + lower[2]) / 6;

	if (color)
		printf("\033[38;2;%d;%d;%d;48;2;%d;%d;%dm" UPPER_HALF, (int)upper[0], (int)upper[1],
		       (int)upper[2], (int)lower[0], (int)lower[1], (int)lower[2]);
	else
		putchar(shades[(int)(light * (sizeof(shades) - 1) / 256)]);
}

void image_print(const struct image *image, int columns, bool color)
{
	float step = (float)image->width / columns;
	int side = step > 1 ? (int)step : 1;

	for (float y = 0; y + 2 * step <= image->height; y += 2 * step) {
		for (int i = 0; i < columns; i++) {
			int x = i * step, below = y + step;
			float upper[3], lower[3];

			mean(image, x, y, x + side, (int)y + side, upper);
			mean(image, x, below, x + side, below + side, lower);
			print_cell(upper, lower, color);
		}
		printf("%s\n", color ? "\033[0m" : "");
	}
}
