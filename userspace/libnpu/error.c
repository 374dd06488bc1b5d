// SPDX-License-Identifier: MIT
/* Messages, one per thread. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include "userspace/libnpu/backend.h"
#include "userspace/libnpu/include/npu/npu.h"

static _Thread_local char message[512];

const char *npu_error_message(void)
{
	return message;
}

int npu_fail(int error, const char *format, ...)
{
	/* The arguments may lie in the old message. */
	char text[sizeof(message)];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	memcpy(message, text, sizeof(message));
	return error;
}

bool npu_is_null(const void *p, const char *function, const char *argument)
{
	if (!p)
		npu_fail(-EINVAL, "%s: %s is a null pointer", function, argument);
	return !p;
}

const char *npu_version(void)
{
	return NPU_LIBRARY_VERSION;
}

int64_t npu_clock_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}
