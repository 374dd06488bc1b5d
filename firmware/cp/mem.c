// SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 OR MIT
/* What the compiler calls behind one's back. */
#include "firmware/cp/fw.h"

void *memcpy(void *restrict to, const void *restrict from, size_t n)
{
	const u8 *s = from;
	u8 *d = to;

	if (!(((uintptr_t)d | (uintptr_t)s) % 4))
		for (; n >= 4; n -= 4, d += 4, s += 4)
			*(u32 *)d = *(const u32 *)s;
	while (n--)
		*d++ = *s++;
	return to;
}

void *memset(void *to, int c, size_t n)
{
	u32 word = (u8)c * 0x01010101u;
	u8 *d = to;

	if (!((uintptr_t)d % 4))
		for (; n >= 4; n -= 4, d += 4)
			*(u32 *)d = word;
	while (n--)
		*d++ = c;
	return to;
}
