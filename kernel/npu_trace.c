// SPDX-License-Identifier: GPL-2.0-only
/* The bodies of the tracepoints. */
#ifndef __CHECKER__
#define CREATE_TRACE_POINTS
#include "npu_trace.h"
#endif
