/* SPDX-License-Identifier: MIT */
/* What the face detector's four outputs say. */
#ifndef TESTS_FACE_DETECTOR_H
#define TESTS_FACE_DETECTOR_H

#define DETECTOR_SIDE	 128
#define DETECTOR_MAX	 16
#define DETECTOR_SCORE	 0.6f
#define DETECTOR_OUTPUTS 4
#define DETECTOR_NEAR	 512 /* anchors of the fine grid: 16 x 16 cells, 2 each */
#define DETECTOR_FAR	 384 /* of the coarse one: 8 x 8 cells, 6 each */
#define DETECTOR_VALUES	 16  /* a box and six points */

/* A face in parts of the input's side. */
struct face {
	float score;
	float left, top, right, bottom;
};

/**
 * detector_faces - faces in the network's outputs, the best first
 * @output: scores of both grids, then boxes of both
 * @faces: filled in, at most DETECTOR_MAX
 * @best: the highest score of all anchors
 *
 * Of boxes that overlap one remains. Return: number of faces.
 */
int detector_faces(float *const output[DETECTOR_OUTPUTS], struct face *faces, float *best);

#endif
