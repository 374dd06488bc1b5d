/* SPDX-License-Identifier: MIT */
/* Parts of photographs as calibration samples of the face detector. */
#ifndef TESTS_FACE_SAMPLES_H
#define TESTS_FACE_SAMPLES_H

/* Writes an array (.npy) of @each samples a picture; 0, or -1 after a message on stderr. */
int samples_write(const char *path, char *const *pictures, int n, int each);

#endif
