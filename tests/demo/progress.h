/* SPDX-License-Identifier: MIT */
/* How far a long run has come: a bar that is redrawn, or a line every tenth. */
#ifndef TESTS_DEMO_PROGRESS_H
#define TESTS_DEMO_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

/**
 * struct progress - a display; begins with the others 0
 * @total: what there is to do
 * @bar: the output is a terminal
 * @tenths: tenths that were told
 */
struct progress {
	uint32_t total;
	bool bar;
	uint32_t tenths;
};

/* @done of the total are done, @right of them well. */
void progress_show(struct progress *p, uint32_t done, uint32_t right);

/* Takes the bar away. */
void progress_end(const struct progress *p);

#endif
