// SPDX-License-Identifier: MIT
#include "tests/face/detector.h"

#include <math.h>

#define OVERLAP 0.3f

struct grid {
	int cells, each;
	const float *score, *box;
};

/* Centre and size are offsets from the middle of the anchor's cell, in pixels of the input. */
static struct face decode(const struct grid *g, int anchor)
{
	const float *box = g->box + anchor * DETECTOR_VALUES;
	int cell = anchor / g->each;
	float x = (cell % g->cells + 0.5f) / g->cells + box[0] / DETECTOR_SIDE;
	float y = (cell / g->cells + 0.5f) / g->cells + box[1] / DETECTOR_SIDE;
	float half_w = box[2] / DETECTOR_SIDE / 2, half_h = box[3] / DETECTOR_SIDE / 2;

	return (struct face){ 1 / (1 + expf(-g->score[anchor])), x - half_w, y - half_h, x + half_w,
			      y + half_h };
}

static float area(const struct face *f)
{
	return fmaxf(f->right - f->left, 0) * fmaxf(f->bottom - f->top, 0);
}

/* Common area over the area of both. */
static float overlap(const struct face *a, const struct face *b)
{
	struct face both = { 0, fmaxf(a->left, b->left), fmaxf(a->top, b->top),
			     fminf(a->right, b->right), fminf(a->bottom, b->bottom) };
	float common = area(&both);

	return common > 0 ? common / (area(a) + area(b) - common) : 0;
}

/* Keeps the list sorted, and free of what overlaps something better. */
static int add(struct face *faces, int n, const struct face *f)
{
	int at = 0, kept;

	while (at < n && faces[at].score >= f->score)
		if (overlap(&faces[at++], f) > OVERLAP)
			return n;
	if (at == DETECTOR_MAX)
		return n;
	kept = at;
	for (int i = at; i < n; i++)
		if (overlap(&faces[i], f) <= OVERLAP)
			faces[kept++] = faces[i];
	n = kept < DETECTOR_MAX ? kept : DETECTOR_MAX - 1;
	for (int i = n; i > at; i--)
		faces[i] = faces[i - 1];
	faces[at] = *f;
	return n + 1;
}

int detector_faces(float *const output[DETECTOR_OUTPUTS], struct face *faces, float *best)
{
	const struct grid grids[] = { { 16, 2, output[0], output[2] },
				      { 8, 6, output[1], output[3] } };
	int n = 0;

	*best = 0;
	for (int i = 0; i < 2; i++)
		for (int a = 0; a < grids[i].cells * grids[i].cells * grids[i].each; a++) {
			struct face f = decode(&grids[i], a);

			*best = fmaxf(*best, f.score);
			if (f.score >= DETECTOR_SCORE)
				n = add(faces, n, &f);
		}
	return n;
}
