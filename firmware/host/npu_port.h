/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 OR MIT */
/*
 * What the host library needs from where it is compiled: ordering of memory
 * that the device shares, and single accesses that the compiler may not split.
 */
#ifndef FIRMWARE_HOST_NPU_PORT_H
#define FIRMWARE_HOST_NPU_PORT_H

#include "firmware/model/npu_types.h"

#ifdef __KERNEL__

#include <asm/barrier.h>

#define npu_wmb()	dma_wmb()	/* writes before, then writes after */
#define npu_rmb()	dma_rmb()	/* reads before, then reads after */
#define npu_mb()	mb()		/* writes before, then reads after */

#else

#define npu_wmb()	__atomic_thread_fence(__ATOMIC_RELEASE)
#define npu_rmb()	__atomic_thread_fence(__ATOMIC_ACQUIRE)
#define npu_mb()	__atomic_thread_fence(__ATOMIC_SEQ_CST)

#ifndef READ_ONCE
#define READ_ONCE(x)		__atomic_load_n(&(x), __ATOMIC_RELAXED)
#endif
#ifndef WRITE_ONCE
#define WRITE_ONCE(x, v)	__atomic_store_n(&(x), (v), __ATOMIC_RELAXED)
#endif

#endif /* __KERNEL__ */

#endif /* FIRMWARE_HOST_NPU_PORT_H */
