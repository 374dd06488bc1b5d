/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 OR MIT */
/*
 * Fixed-width types and little-endian access for freestanding code that is
 * compiled both into kernel modules and into user-space programs.
 */
#ifndef FIRMWARE_MODEL_NPU_TYPES_H
#define FIRMWARE_MODEL_NPU_TYPES_H

#ifdef __KERNEL__

#include <linux/compiler.h>
#include <linux/errno.h>
#include <linux/stddef.h>
#include <linux/string.h>
#include <linux/types.h>

#else /* user space */

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int8_t s8;
typedef int16_t s16;
typedef int32_t s32;
typedef int64_t s64;

#ifndef likely
#define likely(x)	__builtin_expect(!!(x), 1)
#endif
#ifndef unlikely
#define unlikely(x)	__builtin_expect(!!(x), 0)
#endif
#ifndef fallthrough
#define fallthrough	__attribute__((__fallthrough__))
#endif

#endif /* __KERNEL__ */

#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define NPU_LE16(v)	__builtin_bswap16(v)
#define NPU_LE32(v)	__builtin_bswap32(v)
#define NPU_LE64(v)	__builtin_bswap64(v)
#else
#define NPU_LE16(v)	(v)
#define NPU_LE32(v)	(v)
#define NPU_LE64(v)	(v)
#endif

/* The pointers of the accessors below need no alignment. */

static inline u16 npu_get_le16(const void *p)
{
	u16 v;

	__builtin_memcpy(&v, p, sizeof(v));
	return NPU_LE16(v);
}

static inline u32 npu_get_le32(const void *p)
{
	u32 v;

	__builtin_memcpy(&v, p, sizeof(v));
	return NPU_LE32(v);
}

static inline u64 npu_get_le64(const void *p)
{
	u64 v;

	__builtin_memcpy(&v, p, sizeof(v));
	return NPU_LE64(v);
}

static inline void npu_put_le16(void *p, u16 v)
{
	v = NPU_LE16(v);
	__builtin_memcpy(p, &v, sizeof(v));
}

static inline void npu_put_le32(void *p, u32 v)
{
	v = NPU_LE32(v);
	__builtin_memcpy(p, &v, sizeof(v));
}

static inline void npu_put_le64(void *p, u64 v)
{
	v = NPU_LE64(v);
	__builtin_memcpy(p, &v, sizeof(v));
}

#endif /* FIRMWARE_MODEL_NPU_TYPES_H */
