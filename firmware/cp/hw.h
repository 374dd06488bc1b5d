/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 OR MIT */
/* Registers as the control processor reaches them. */
#ifndef FIRMWARE_CP_HW_H
#define FIRMWARE_CP_HW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "npu_proto.h"
#include "npu_regs.h"

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int32_t s32;

#define fallthrough	__attribute__((__fallthrough__))
#define noinline	__attribute__((__noinline__))
#define __always_inline	inline __attribute__((__always_inline__))
#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

#define MIP_TIMER	(1u << 7)
#define MIP_EXTERNAL	(1u << 11)

static inline u32 reg_read(u32 addr)
{
	return *(volatile u32 *)addr;
}

static inline void reg_write(u32 addr, u32 value)
{
	*(volatile u32 *)addr = value;
}

#define sys_read(reg)		reg_read(NPU_CP_SYS + NPU_SYS_##reg)
#define sys_write(reg, v)	reg_write(NPU_CP_SYS + NPU_SYS_##reg, v)
#define host_read(reg)		reg_read(NPU_CP_HOST + NPU_HOST_##reg)
#define host_write(reg, v)	reg_write(NPU_CP_HOST + NPU_HOST_##reg, v)
#define mmu_write(reg, v)	reg_write(NPU_CP_MMU + NPU_MMU_##reg, v)

#define core_read(c, reg)	reg_read((c)->base + NPU_CORE_##reg)
#define core_write(c, reg, v)	reg_write((c)->base + NPU_CORE_##reg, v)

#define likely(x)		__builtin_expect(!!(x), 1)
#define unlikely(x)		__builtin_expect(!!(x), 0)

#define host_field(reg, field) \
	((host_read(reg) & NPU_HOST_##reg##_##field##_MASK) >> NPU_HOST_##reg##_##field##_SHIFT)

static inline u32 csr_mip(void)
{
	u32 v;

	__asm__ volatile("csrr %0, mip" : "=r"(v));
	return v;
}

static inline void csr_set_mie(u32 v)
{
	__asm__ volatile("csrw mie, %0" : : "r"(v));
}

/* Returns when an interrupt that mie enables is pending; none is taken. */
static inline void wait_for_interrupt(void)
{
	__asm__ volatile("wfi" : : : "memory");
}

static inline u64 read_ticks(void)
{
	u32 lo = sys_read(MTIME_LO);

	return lo | (u64)sys_read(MTIME_HI) << 32;
}

static inline u64 read_insns(void)
{
	u32 hi, lo, again;

	do {
		__asm__ volatile("csrr %0, minstreth" : "=r"(hi));
		__asm__ volatile("csrr %0, minstret" : "=r"(lo));
		__asm__ volatile("csrr %0, minstreth" : "=r"(again));
	} while (hi != again);
	return lo | (u64)hi << 32;
}

void *memcpy(void *restrict to, const void *restrict from, size_t n);
void *memset(void *to, int c, size_t n);

/* Number of the lowest bit of @v, which is not 0. */
static inline u32 lowest_bit(u32 v)
{
	extern const u8 lowest_bit_table[32];

	if (v & 1)
		return 0;
	return lowest_bit_table[(v & -v) * 0x077cb531u >> 27];
}

#endif /* FIRMWARE_CP_HW_H */
