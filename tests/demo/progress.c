// SPDX-License-Identifier: MIT
#include <stdio.h>
#include "tests/demo/progress.h"

#define WIDTH	40

static const char full[] = "########################################";
static const char empty[] = "........................................";

_Static_assert(sizeof(full) == WIDTH + 1 && sizeof(empty) == WIDTH + 1, "both are one bar");

static double percent(uint32_t part, uint32_t whole)
{
	return whole ? 100.0 * part / whole : 0;
}

void progress_show(struct progress *p, uint32_t done, uint32_t right)
{
	uint32_t tenths = (uint64_t)done * 10 / p->total;
	int length = (uint64_t)done * WIDTH / p->total;

	if (p->bar)
		printf("\r[%.*s%.*s] %u/%u", length, full, WIDTH - length, empty, done, p->total);
	else if (tenths > p->tenths)
		printf("%3u %%: %u/%u", tenths * 10, done, p->total);
	else
		return;
	p->tenths = tenths;
	if (done)
		printf(", %.1f %% right", percent(right, done));
	fputs(p->bar ? "\033[K" : "\n", stdout);
	fflush(stdout);
}

void progress_end(const struct progress *p)
{
	if (p->bar)
		fputs("\r\033[K", stdout);
}
