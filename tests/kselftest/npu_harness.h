/* SPDX-License-Identifier: GPL-2.0-only */
/* The kernel's test harness, for the one file of a program that has tests. */
#ifndef TESTS_KSELFTEST_NPU_HARNESS_H
#define TESTS_KSELFTEST_NPU_HARNESS_H

#include <kselftest_harness.h>
#include "tests/kselftest/npu_test.h"

/* A test that hangs is ended; one on a slow machine with a slow kernel is not. */
#undef TEST_TIMEOUT_DEFAULT
#define TEST_TIMEOUT_DEFAULT 300

#endif
