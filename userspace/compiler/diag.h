/* SPDX-License-Identifier: MIT */
/* Why a model was refused: one precise sentence, the first one met. */
#ifndef NPU_COMPILER_DIAG_H
#define NPU_COMPILER_DIAG_H

struct npuc_diag {
	char message[512];
};

/* Keeps the first message and returns @err, so that "return npuc_fail(...)" reads well. */
int npuc_fail(struct npuc_diag *d, int err, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

#endif
