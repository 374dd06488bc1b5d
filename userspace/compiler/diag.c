// SPDX-License-Identifier: MIT
#include "userspace/compiler/diag.h"

#include <stdarg.h>
#include <stdio.h>

int npuc_fail(struct npuc_diag *d, int err, const char *fmt, ...)
{
	va_list ap;

	if (d->message[0])
		return err;
	va_start(ap, fmt);
	vsnprintf(d->message, sizeof(d->message), fmt, ap);
	va_end(ap);
	return err;
}
