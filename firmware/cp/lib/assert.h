/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 OR MIT */
/* The generated headers need this one line of a C library. */
#ifndef FIRMWARE_CP_LIB_ASSERT_H
#define FIRMWARE_CP_LIB_ASSERT_H

#define static_assert _Static_assert

#endif
