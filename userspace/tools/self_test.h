/* SPDX-License-Identifier: MIT */
#ifndef NPU_TOOL_SELF_TEST_H
#define NPU_TOOL_SELF_TEST_H

#include <stddef.h>
#include <stdint.h>

/*
 * Runs a job on the device @name that multiplies a vector by a matrix, and compares the result.
 * 0 with its @cycles, or -errno with the reason in @why.
 */
int self_test(const char *name, uint64_t *cycles, char *why, size_t size);

#endif
