// SPDX-License-Identifier: MIT
/* Half blocks in the terminal's 24 greys, or characters of growing weight. */
#include <stdio.h>
#include "tests/demo/dataset.h"
#include "tests/demo/picture.h"

#define GAP		2
#define GREY_FIRST	232
#define GREYS		24
#define RED		"\033[1;31m"
#define GREEN		"\033[32m"
#define PLAIN		"\033[0m"
#define UPPER_HALF	"\xe2\x96\x80"

static const char shades[] = " .:-=+*#%@";

unsigned int picture_fit(unsigned int columns)
{
	unsigned int fit = (columns + GAP) / (DATASET_SIDE + GAP);

	return fit ? fit : 1;
}

static unsigned int grey(uint8_t value)
{
	return GREY_FIRST + value * GREYS / 256;
}

static void print_line(const uint8_t *upper, bool color)
{
	const uint8_t *lower = upper + DATASET_SIDE;
	int x;

	for (x = 0; x < DATASET_SIDE; x++)
		if (color)
			printf("\033[38;5;%u;48;5;%um" UPPER_HALF, grey(upper[x]), grey(lower[x]));
		else
			putchar(shades[(upper[x] + lower[x]) * (sizeof(shades) - 1) / 512]);
	if (color)
		fputs(PLAIN, stdout);
}

static void print_predicted(const struct picture *p, bool color)
{
	bool right = p->predicted == p->label;

	printf("%sNPU:  %-*s%s%s", color ? right ? GREEN : RED : "", DATASET_SIDE - 11,
	       dataset_names[p->predicted], right ? "     " : "WRONG", color ? PLAIN : "");
}

static void print_label(const struct picture *p)
{
	printf("true: %-*s", DATASET_SIDE - 6, dataset_names[p->label]);
}

static void print_gap(unsigned int i, unsigned int count)
{
	printf("%*s", i + 1 < count ? GAP : 0, "");
	if (i + 1 == count)
		putchar('\n');
}

void picture_print(const struct picture *pictures, unsigned int count, bool color)
{
	unsigned int i;
	int y;

	for (y = 0; y < DATASET_SIDE; y += 2)
		for (i = 0; i < count; i++) {
			print_line(pictures[i].pixels + y * DATASET_SIDE, color);
			print_gap(i, count);
		}
	for (i = 0; i < count; i++) {
		print_predicted(&pictures[i], color);
		print_gap(i, count);
	}
	for (i = 0; i < count; i++) {
		print_label(&pictures[i]);
		print_gap(i, count);
	}
	putchar('\n');
}
