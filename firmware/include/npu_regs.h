/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 OR MIT */
/* Generated from firmware/contract by gen.py; do not edit. */
#ifndef NPU_REGS_H
#define NPU_REGS_H

#define NPU_CONTRACT_MAJOR		0
#define NPU_CONTRACT_MINOR		1

/* Value of HOST.MAGIC: the bytes "NPU1". */
#define NPU_MAGIC			0x3155504eu
/* Vendor number in HOST.DEVICE. */
#define NPU_VENDOR			20048u
/* Device number of the core described here. */
#define NPU_DEVICE_V0			1u
/* Value that HOST.RESET must be written with. */
#define NPU_RESET_KEY			0x4e505552u
/* Bus region that holds the registers and the TCM window. */
#define NPU_REG_REGION			0u
/* Bytes of the register region. */
#define NPU_REG_REGION_SIZE		0x100000u
/* Offset of the TCM window in the register region. */
#define NPU_TCM_WINDOW			0x80000u
/* Bus region that is the doorbell aperture. */
#define NPU_DOORBELL_REGION		1u
/*
 * Bytes between two doorbells (64 KiB, so that one can be mapped into a
 * process).
 */
#define NPU_DOORBELL_STRIDE		0x10000u
/* Most job queue slots a device may have; slot numbers start at 1. */
#define NPU_MAX_QUEUES			255u
/* Most contexts a device may have; context 0 is the bus itself. */
#define NPU_MAX_CONTEXTS		1024u
/*
 * Most completion rings, and interrupt vectors, a device may have; ring and
 * vector 0 are the admin pair's.
 */
#define NPU_MAX_CQS			32u
/* Most compute cores a device may have. */
#define NPU_MAX_CORES			16u
/* Address of the tightly coupled memory for the control processor. */
#define NPU_TCM_BASE			0x80000000u
/* Most bytes of tightly coupled memory (256 KiB). */
#define NPU_TCM_MAX_SIZE		0x40000u
/* Control processor address of the SYS block. */
#define NPU_CP_SYS			0x40000000u
/* Control processor address of the HOST block. */
#define NPU_CP_HOST			0x40001000u
/* Control processor address of the DOORBELL block. */
#define NPU_CP_DOORBELL			0x40002000u
/* Control processor address of the MMU block. */
#define NPU_CP_MMU			0x40003000u
/* Control processor address of DMA channel 0. */
#define NPU_CP_DMA			0x40004000u
/* Bytes between two DMA channels. */
#define NPU_CP_DMA_STRIDE		64u
/* Number of DMA channels. */
#define NPU_DMA_CHANNELS		4u
/* Most bytes of one DMA transfer. */
#define NPU_DMA_MAX_LENGTH		0x10000u
/* Control processor address of compute core 0's block. */
#define NPU_CP_CORE			0x40010000u
/* Bytes between two compute cores' blocks. */
#define NPU_CP_CORE_STRIDE		4096u
/* Bits of a context's virtual address (the lower half of Sv39). */
#define NPU_VA_BITS			38u

/*
 * HOST: Seen by the host at offset 0 of the register region and by the
 * control processor at CP_HOST. In every block: offsets that are not listed,
 * bits that no field of a register with fields names, and what a side may
 * not read, read 0; what a side may not write ignores writes.
 */
#define NPU_HOST_MAGIC			0x000u
#define NPU_HOST_MAGIC_RESET		0x3155504eu
#define NPU_HOST_CONTRACT		0x004u
#define NPU_HOST_CONTRACT_RESET		0x00000001u
#define NPU_HOST_CONTRACT_MINOR_SHIFT	0
#define NPU_HOST_CONTRACT_MINOR_MASK	0x0000ffffu
#define NPU_HOST_CONTRACT_MAJOR_SHIFT	16
#define NPU_HOST_CONTRACT_MAJOR_MASK	0xffff0000u
#define NPU_HOST_DEVICE			0x008u
#define NPU_HOST_DEVICE_RESET		0x4e500001u
#define NPU_HOST_DEVICE_ID_SHIFT	0
#define NPU_HOST_DEVICE_ID_MASK		0x0000ffffu
#define NPU_HOST_DEVICE_VENDOR_SHIFT	16
#define NPU_HOST_DEVICE_VENDOR_MASK	0xffff0000u
#define NPU_HOST_REVISION		0x00cu
#define NPU_HOST_FEATURES_LO		0x010u
#define NPU_HOST_FEATURES_HI		0x014u
#define NPU_HOST_TOPOLOGY		0x018u
#define NPU_HOST_TOPOLOGY_CORES_SHIFT	0
#define NPU_HOST_TOPOLOGY_CORES_MASK	0x000000ffu
#define NPU_HOST_TOPOLOGY_QUEUES_SHIFT	8
#define NPU_HOST_TOPOLOGY_QUEUES_MASK	0x0000ff00u
#define NPU_HOST_TOPOLOGY_CQS_SHIFT	16
#define NPU_HOST_TOPOLOGY_CQS_MASK	0x00ff0000u
#define NPU_HOST_CONTEXTS		0x01cu
#define NPU_HOST_CONFIG0		0x020u
#define NPU_HOST_CONFIG0_RESET		0x04403533u
#define NPU_HOST_CONFIG0_LOG_INP_WIDTH_SHIFT	0
#define NPU_HOST_CONFIG0_LOG_INP_WIDTH_MASK	0x0000000fu
#define NPU_HOST_CONFIG0_LOG_WGT_WIDTH_SHIFT	4
#define NPU_HOST_CONFIG0_LOG_WGT_WIDTH_MASK	0x000000f0u
#define NPU_HOST_CONFIG0_LOG_ACC_WIDTH_SHIFT	8
#define NPU_HOST_CONFIG0_LOG_ACC_WIDTH_MASK	0x00000f00u
#define NPU_HOST_CONFIG0_LOG_OUT_WIDTH_SHIFT	12
#define NPU_HOST_CONFIG0_LOG_OUT_WIDTH_MASK	0x0000f000u
#define NPU_HOST_CONFIG0_LOG_BATCH_SHIFT	16
#define NPU_HOST_CONFIG0_LOG_BATCH_MASK	0x000f0000u
#define NPU_HOST_CONFIG0_LOG_BLOCK_IN_SHIFT	20
#define NPU_HOST_CONFIG0_LOG_BLOCK_IN_MASK	0x00f00000u
#define NPU_HOST_CONFIG0_LOG_BLOCK_OUT_SHIFT	24
#define NPU_HOST_CONFIG0_LOG_BLOCK_OUT_MASK	0x0f000000u
#define NPU_HOST_CONFIG1		0x024u
#define NPU_HOST_CONFIG1_RESET		0x11120f0fu
#define NPU_HOST_CONFIG1_LOG_UOP_BYTES_SHIFT	0
#define NPU_HOST_CONFIG1_LOG_UOP_BYTES_MASK	0x000000ffu
#define NPU_HOST_CONFIG1_LOG_INP_BYTES_SHIFT	8
#define NPU_HOST_CONFIG1_LOG_INP_BYTES_MASK	0x0000ff00u
#define NPU_HOST_CONFIG1_LOG_WGT_BYTES_SHIFT	16
#define NPU_HOST_CONFIG1_LOG_WGT_BYTES_MASK	0x00ff0000u
#define NPU_HOST_CONFIG1_LOG_ACC_BYTES_SHIFT	24
#define NPU_HOST_CONFIG1_LOG_ACC_BYTES_MASK	0xff000000u
#define NPU_HOST_CLOCK_KHZ		0x028u
#define NPU_HOST_ADDRESS		0x02cu
#define NPU_HOST_ADDRESS_BUS_BITS_SHIFT	0
#define NPU_HOST_ADDRESS_BUS_BITS_MASK	0x000000ffu
#define NPU_HOST_ADDRESS_VA_BITS_SHIFT	8
#define NPU_HOST_ADDRESS_VA_BITS_MASK	0x0000ff00u
#define NPU_HOST_TCM_SIZE		0x030u
#define NPU_HOST_UUID0			0x040u
#define NPU_HOST_UUID1			0x044u
#define NPU_HOST_UUID2			0x048u
#define NPU_HOST_UUID3			0x04cu
#define NPU_HOST_TIME_LO		0x050u
#define NPU_HOST_TIME_HI		0x054u
#define NPU_HOST_CP_CONTROL		0x080u
#define NPU_HOST_CP_CONTROL_RUN_SHIFT	0
#define NPU_HOST_CP_CONTROL_RUN_MASK	0x00000001u
#define NPU_HOST_CP_STATUS		0x084u
#define NPU_HOST_CP_STATUS_RUNNING_SHIFT	0
#define NPU_HOST_CP_STATUS_RUNNING_MASK	0x00000001u
#define NPU_HOST_CP_STATUS_WFI_SHIFT	1
#define NPU_HOST_CP_STATUS_WFI_MASK	0x00000002u
#define NPU_HOST_CP_STATUS_HALTED_SHIFT	2
#define NPU_HOST_CP_STATUS_HALTED_MASK	0x00000004u
#define NPU_HOST_CP_ENTRY		0x088u
#define NPU_HOST_CP_ENTRY_RESET		0x80000000u
#define NPU_HOST_RESET			0x08cu
#define NPU_HOST_BOOT_STATE		0x0c0u
#define NPU_HOST_BOOT_ERROR		0x0c4u
#define NPU_HOST_HEARTBEAT		0x0c8u
#define NPU_HOST_FW_VERSION		0x0ccu
#define NPU_HOST_FW_PROTO		0x0d0u
#define NPU_HOST_FW_PROTO_RANGE		0x0d4u
#define NPU_HOST_FW_PROTO_RANGE_MIN_SHIFT	0
#define NPU_HOST_FW_PROTO_RANGE_MIN_MASK	0x0000ffffu
#define NPU_HOST_FW_PROTO_RANGE_MAX_SHIFT	16
#define NPU_HOST_FW_PROTO_RANGE_MAX_MASK	0xffff0000u
#define NPU_HOST_HOST_PROTO_RANGE	0x0d8u
#define NPU_HOST_HOST_PROTO_RANGE_MIN_SHIFT	0
#define NPU_HOST_HOST_PROTO_RANGE_MIN_MASK	0x0000ffffu
#define NPU_HOST_HOST_PROTO_RANGE_MAX_SHIFT	16
#define NPU_HOST_HOST_PROTO_RANGE_MAX_MASK	0xffff0000u
#define NPU_HOST_ADMIN_SIZE		0x0dcu
#define NPU_HOST_ADMIN_SIZE_LOG_SQ_SHIFT	0
#define NPU_HOST_ADMIN_SIZE_LOG_SQ_MASK	0x000000ffu
#define NPU_HOST_ADMIN_SIZE_LOG_CQ_SHIFT	8
#define NPU_HOST_ADMIN_SIZE_LOG_CQ_MASK	0x0000ff00u
#define NPU_HOST_ADMIN_SQ_LO		0x0e0u
#define NPU_HOST_ADMIN_SQ_HI		0x0e4u
#define NPU_HOST_ADMIN_CQ_LO		0x0e8u
#define NPU_HOST_ADMIN_CQ_HI		0x0ecu
#define NPU_HOST_FW_FEATURES		0x0f0u
#define NPU_HOST_FW_LOG			0x0f4u
#define NPU_HOST_IRQ_STATUS		0x100u
#define NPU_HOST_IRQ_MASK		0x104u
/*
 * X(name, offset, count, stride, access of the host, access of the control
 * processor, whether the reset value is FIXED or the implementation's, reset
 * value, bits that exist)
 */
#define NPU_HOST_REGS(X) \
	X(MAGIC, 0x000u, 1u, 4u, RO, RO, FIXED, 0x3155504eu, 0xffffffffu) \
	X(CONTRACT, 0x004u, 1u, 4u, RO, RO, FIXED, 0x00000001u, 0xffffffffu) \
	X(DEVICE, 0x008u, 1u, 4u, RO, RO, FIXED, 0x4e500001u, 0xffffffffu) \
	X(REVISION, 0x00cu, 1u, 4u, RO, RO, IMPL, 0x00000000u, 0xffffffffu) \
	X(FEATURES_LO, 0x010u, 1u, 4u, RO, RO, IMPL, 0x00000000u, 0xffffffffu) \
	X(FEATURES_HI, 0x014u, 1u, 4u, RO, RO, IMPL, 0x00000000u, 0xffffffffu) \
	X(TOPOLOGY, 0x018u, 1u, 4u, RO, RO, IMPL, 0x00000000u, 0x00ffffffu) \
	X(CONTEXTS, 0x01cu, 1u, 4u, RO, RO, IMPL, 0x00000000u, 0xffffffffu) \
	X(CONFIG0, 0x020u, 1u, 4u, RO, RO, FIXED, 0x04403533u, 0x0fffffffu) \
	X(CONFIG1, 0x024u, 1u, 4u, RO, RO, FIXED, 0x11120f0fu, 0xffffffffu) \
	X(CLOCK_KHZ, 0x028u, 1u, 4u, RO, RO, IMPL, 0x00000000u, 0xffffffffu) \
	X(ADDRESS, 0x02cu, 1u, 4u, RO, RO, IMPL, 0x00000000u, 0x0000ffffu) \
	X(TCM_SIZE, 0x030u, 1u, 4u, RO, RO, IMPL, 0x00000000u, 0xffffffffu) \
	X(UUID0, 0x040u, 1u, 4u, RO, RO, IMPL, 0x00000000u, 0xffffffffu) \
	X(UUID1, 0x044u, 1u, 4u, RO, RO, IMPL, 0x00000000u, 0xffffffffu) \
	X(UUID2, 0x048u, 1u, 4u, RO, RO, IMPL, 0x00000000u, 0xffffffffu) \
	X(UUID3, 0x04cu, 1u, 4u, RO, RO, IMPL, 0x00000000u, 0xffffffffu) \
	X(TIME_LO, 0x050u, 1u, 4u, RO, RO, FIXED, 0x00000000u, 0xffffffffu) \
	X(TIME_HI, 0x054u, 1u, 4u, RO, RO, FIXED, 0x00000000u, 0xffffffffu) \
	X(CP_CONTROL, 0x080u, 1u, 4u, RW, RO, FIXED, 0x00000000u, 0x00000001u) \
	X(CP_STATUS, 0x084u, 1u, 4u, RO, RO, FIXED, 0x00000000u, 0x00000007u) \
	X(CP_ENTRY, 0x088u, 1u, 4u, RW, RO, FIXED, 0x80000000u, 0xffffffffu) \
	X(RESET, 0x08cu, 1u, 4u, RW, RO, FIXED, 0x00000000u, 0xffffffffu) \
	X(BOOT_STATE, 0x0c0u, 1u, 4u, RO, RW, FIXED, 0x00000000u, 0xffffffffu) \
	X(BOOT_ERROR, 0x0c4u, 1u, 4u, RO, RW, FIXED, 0x00000000u, 0xffffffffu) \
	X(HEARTBEAT, 0x0c8u, 1u, 4u, RO, RW, FIXED, 0x00000000u, 0xffffffffu) \
	X(FW_VERSION, 0x0ccu, 1u, 4u, RO, RW, FIXED, 0x00000000u, 0xffffffffu) \
	X(FW_PROTO, 0x0d0u, 1u, 4u, RO, RW, FIXED, 0x00000000u, 0xffffffffu) \
	X(FW_PROTO_RANGE, 0x0d4u, 1u, 4u, RO, RW, FIXED, 0x00000000u, 0xffffffffu) \
	X(HOST_PROTO_RANGE, 0x0d8u, 1u, 4u, RW, RO, FIXED, 0x00000000u, 0xffffffffu) \
	X(ADMIN_SIZE, 0x0dcu, 1u, 4u, RW, RO, FIXED, 0x00000000u, 0x0000ffffu) \
	X(ADMIN_SQ_LO, 0x0e0u, 1u, 4u, RW, RO, FIXED, 0x00000000u, 0xffffffffu) \
	X(ADMIN_SQ_HI, 0x0e4u, 1u, 4u, RW, RO, FIXED, 0x00000000u, 0xffffffffu) \
	X(ADMIN_CQ_LO, 0x0e8u, 1u, 4u, RW, RO, FIXED, 0x00000000u, 0xffffffffu) \
	X(ADMIN_CQ_HI, 0x0ecu, 1u, 4u, RW, RO, FIXED, 0x00000000u, 0xffffffffu) \
	X(FW_FEATURES, 0x0f0u, 1u, 4u, RO, RW, FIXED, 0x00000000u, 0xffffffffu) \
	X(FW_LOG, 0x0f4u, 1u, 4u, RO, RW, FIXED, 0x00000000u, 0xffffffffu) \
	X(IRQ_STATUS, 0x100u, 1u, 4u, W1C, RO, FIXED, 0x00000000u, 0xffffffffu) \
	X(IRQ_MASK, 0x104u, 1u, 4u, RW, RO, FIXED, 0x00000000u, 0xffffffffu)

/* SYS: Timer and interrupts of the control processor, at CP_SYS. */
#define NPU_SYS_MTIME_LO		0x000u
#define NPU_SYS_MTIME_HI		0x004u
#define NPU_SYS_MTIMECMP_LO		0x008u
#define NPU_SYS_MTIMECMP_LO_RESET	0xffffffffu
#define NPU_SYS_MTIMECMP_HI		0x00cu
#define NPU_SYS_MTIMECMP_HI_RESET	0xffffffffu
#define NPU_SYS_IRQ_PENDING		0x010u
#define NPU_SYS_IRQ_ENABLE		0x014u
#define NPU_SYS_HOST_IRQ		0x018u
#define NPU_SYS_DEBUG_CHAR		0x01cu
/*
 * X(name, offset, count, stride, access of the host, access of the control
 * processor, whether the reset value is FIXED or the implementation's, reset
 * value, bits that exist)
 */
#define NPU_SYS_REGS(X) \
	X(MTIME_LO, 0x000u, 1u, 4u, NONE, RO, FIXED, 0x00000000u, 0xffffffffu) \
	X(MTIME_HI, 0x004u, 1u, 4u, NONE, RO, FIXED, 0x00000000u, 0xffffffffu) \
	X(MTIMECMP_LO, 0x008u, 1u, 4u, NONE, RW, FIXED, 0xffffffffu, 0xffffffffu) \
	X(MTIMECMP_HI, 0x00cu, 1u, 4u, NONE, RW, FIXED, 0xffffffffu, 0xffffffffu) \
	X(IRQ_PENDING, 0x010u, 1u, 4u, NONE, RO, FIXED, 0x00000000u, 0xffffffffu) \
	X(IRQ_ENABLE, 0x014u, 1u, 4u, NONE, RW, FIXED, 0x00000000u, 0xffffffffu) \
	X(HOST_IRQ, 0x018u, 1u, 4u, NONE, WO, FIXED, 0x00000000u, 0xffffffffu) \
	X(DEBUG_CHAR, 0x01cu, 1u, 4u, NONE, WO, FIXED, 0x00000000u, 0xffffffffu)

/*
 * DOORBELL: Doorbells as the control processor sees them, at CP_DOORBELL.
 * Doorbell 0 is the admin ring's, doorbell q that of slot q.
 */
#define NPU_DB_PENDING(n)		(0x000u + 4u * (n))
#define NPU_DB_VALUE(n)			(0x400u + 4u * (n))
/*
 * X(name, offset, count, stride, access of the host, access of the control
 * processor, whether the reset value is FIXED or the implementation's, reset
 * value, bits that exist)
 */
#define NPU_DB_REGS(X) \
	X(PENDING, 0x000u, 8u, 4u, NONE, W1C, FIXED, 0x00000000u, 0xffffffffu) \
	X(VALUE, 0x400u, 256u, 4u, NONE, RO, FIXED, 0x00000000u, 0xffffffffu)

/*
 * MMU: Context roots and the TLB, at CP_MMU. Registers take effect in the
 * order written.
 */
#define NPU_MMU_CONTEXT			0x000u
#define NPU_MMU_ROOT_LO			0x004u
#define NPU_MMU_ROOT_HI			0x008u
#define NPU_MMU_VA_LO			0x00cu
#define NPU_MMU_VA_HI			0x010u
#define NPU_MMU_SIZE_LO			0x014u
#define NPU_MMU_SIZE_HI			0x018u
#define NPU_MMU_INVALIDATE		0x01cu
/*
 * X(name, offset, count, stride, access of the host, access of the control
 * processor, whether the reset value is FIXED or the implementation's, reset
 * value, bits that exist)
 */
#define NPU_MMU_REGS(X) \
	X(CONTEXT, 0x000u, 1u, 4u, NONE, RW, FIXED, 0x00000000u, 0xffffffffu) \
	X(ROOT_LO, 0x004u, 1u, 4u, NONE, RW, FIXED, 0x00000000u, 0xffffffffu) \
	X(ROOT_HI, 0x008u, 1u, 4u, NONE, RW, FIXED, 0x00000000u, 0xffffffffu) \
	X(VA_LO, 0x00cu, 1u, 4u, NONE, RW, FIXED, 0x00000000u, 0xffffffffu) \
	X(VA_HI, 0x010u, 1u, 4u, NONE, RW, FIXED, 0x00000000u, 0xffffffffu) \
	X(SIZE_LO, 0x014u, 1u, 4u, NONE, RW, FIXED, 0x00000000u, 0xffffffffu) \
	X(SIZE_HI, 0x018u, 1u, 4u, NONE, RW, FIXED, 0x00000000u, 0xffffffffu) \
	X(INVALIDATE, 0x01cu, 1u, 4u, NONE, WO, FIXED, 0x00000000u, 0xffffffffu)

/*
 * DMA: One channel of the asynchronous DMA block, at CP_DMA + channel *
 * CP_DMA_STRIDE. The only way for the control processor to host memory.
 */
#define NPU_DMA_HOST_LO			0x000u
#define NPU_DMA_HOST_HI			0x004u
#define NPU_DMA_LOCAL			0x008u
#define NPU_DMA_LENGTH			0x00cu
#define NPU_DMA_CONTEXT			0x010u
#define NPU_DMA_CONTROL			0x014u
#define NPU_DMA_CONTROL_START_SHIFT	0
#define NPU_DMA_CONTROL_START_MASK	0x00000001u
#define NPU_DMA_CONTROL_TO_HOST_SHIFT	1
#define NPU_DMA_CONTROL_TO_HOST_MASK	0x00000002u
#define NPU_DMA_STATUS			0x018u
#define NPU_DMA_STATUS_DONE_SHIFT	0
#define NPU_DMA_STATUS_DONE_MASK	0x00000001u
#define NPU_DMA_STATUS_ERROR_SHIFT	1
#define NPU_DMA_STATUS_ERROR_MASK	0x00000002u
#define NPU_DMA_STATUS_BUSY_SHIFT	2
#define NPU_DMA_STATUS_BUSY_MASK	0x00000004u
#define NPU_DMA_STATUS_FAULT_SHIFT	8
#define NPU_DMA_STATUS_FAULT_MASK	0x0000ff00u
#define NPU_DMA_FAULT_LO		0x01cu
#define NPU_DMA_FAULT_HI		0x020u
/*
 * X(name, offset, count, stride, access of the host, access of the control
 * processor, whether the reset value is FIXED or the implementation's, reset
 * value, bits that exist)
 */
#define NPU_DMA_REGS(X) \
	X(HOST_LO, 0x000u, 1u, 4u, NONE, RW, FIXED, 0x00000000u, 0xffffffffu) \
	X(HOST_HI, 0x004u, 1u, 4u, NONE, RW, FIXED, 0x00000000u, 0xffffffffu) \
	X(LOCAL, 0x008u, 1u, 4u, NONE, RW, FIXED, 0x00000000u, 0xffffffffu) \
	X(LENGTH, 0x00cu, 1u, 4u, NONE, RW, FIXED, 0x00000000u, 0xffffffffu) \
	X(CONTEXT, 0x010u, 1u, 4u, NONE, RW, FIXED, 0x00000000u, 0xffffffffu) \
	X(CONTROL, 0x014u, 1u, 4u, NONE, WO, FIXED, 0x00000000u, 0x00000003u) \
	X(STATUS, 0x018u, 1u, 4u, NONE, W1C, FIXED, 0x00000000u, 0x0000ff07u) \
	X(FAULT_LO, 0x01cu, 1u, 4u, NONE, RO, FIXED, 0x00000000u, 0xffffffffu) \
	X(FAULT_HI, 0x020u, 1u, 4u, NONE, RO, FIXED, 0x00000000u, 0xffffffffu)

/*
 * CORE: One compute core, at CP_CORE + core * CP_CORE_STRIDE. Job registers
 * and the report window are written only while the core does not run; a
 * write while it runs is ignored (but for CONTROL, EVENT, YIELD_REQUEST and
 * LIMIT). Everything may be read at any time.
 */
#define NPU_CORE_CONTROL		0x000u
#define NPU_CORE_CONTROL_START_SHIFT	0
#define NPU_CORE_CONTROL_START_MASK	0x00000001u
#define NPU_CORE_CONTROL_STOP_SHIFT	1
#define NPU_CORE_CONTROL_STOP_MASK	0x00000002u
#define NPU_CORE_CONTROL_RESUME_SHIFT	2
#define NPU_CORE_CONTROL_RESUME_MASK	0x00000004u
#define NPU_CORE_CONTROL_CLEAR_SHIFT	3
#define NPU_CORE_CONTROL_CLEAR_MASK	0x00000008u
#define NPU_CORE_STATUS			0x004u
#define NPU_CORE_STATUS_STATE_SHIFT	0
#define NPU_CORE_STATUS_STATE_MASK	0x000000ffu
#define NPU_CORE_EVENT			0x008u
#define NPU_CORE_CONTEXT		0x00cu
#define NPU_CORE_CONTEXT_ID_SHIFT	0
#define NPU_CORE_CONTEXT_ID_MASK	0x0000ffffu
#define NPU_CORE_INSN_LO		0x010u
#define NPU_CORE_INSN_HI		0x014u
#define NPU_CORE_INSN_COUNT		0x018u
#define NPU_CORE_START_INDEX		0x01cu
#define NPU_CORE_REGION_LO		0x020u
#define NPU_CORE_REGION_HI		0x024u
#define NPU_CORE_REGION_COUNT		0x028u
#define NPU_CORE_YIELD_REQUEST		0x02cu
#define NPU_CORE_YIELD_REQUEST_STOP_SHIFT	0
#define NPU_CORE_YIELD_REQUEST_STOP_MASK	0x00000001u
#define NPU_CORE_LIMIT_LO		0x030u
#define NPU_CORE_LIMIT_LO_RESET		0xffffffffu
#define NPU_CORE_LIMIT_HI		0x034u
#define NPU_CORE_LIMIT_HI_RESET		0xffffffffu
#define NPU_CORE_RESUME_INDEX		0x038u
#define NPU_CORE_REPORT(n)		(0x080u + 4u * (n))
/*
 * X(name, offset, count, stride, access of the host, access of the control
 * processor, whether the reset value is FIXED or the implementation's, reset
 * value, bits that exist)
 */
#define NPU_CORE_REGS(X) \
	X(CONTROL, 0x000u, 1u, 4u, NONE, WO, FIXED, 0x00000000u, 0x0000000fu) \
	X(STATUS, 0x004u, 1u, 4u, NONE, RO, FIXED, 0x00000000u, 0x000000ffu) \
	X(EVENT, 0x008u, 1u, 4u, NONE, W1C, FIXED, 0x00000000u, 0xffffffffu) \
	X(CONTEXT, 0x00cu, 1u, 4u, NONE, RW, FIXED, 0x00000000u, 0x0000ffffu) \
	X(INSN_LO, 0x010u, 1u, 4u, NONE, RW, FIXED, 0x00000000u, 0xffffffffu) \
	X(INSN_HI, 0x014u, 1u, 4u, NONE, RW, FIXED, 0x00000000u, 0xffffffffu) \
	X(INSN_COUNT, 0x018u, 1u, 4u, NONE, RW, FIXED, 0x00000000u, 0xffffffffu) \
	X(START_INDEX, 0x01cu, 1u, 4u, NONE, RW, FIXED, 0x00000000u, 0xffffffffu) \
	X(REGION_LO, 0x020u, 1u, 4u, NONE, RW, FIXED, 0x00000000u, 0xffffffffu) \
	X(REGION_HI, 0x024u, 1u, 4u, NONE, RW, FIXED, 0x00000000u, 0xffffffffu) \
	X(REGION_COUNT, 0x028u, 1u, 4u, NONE, RW, FIXED, 0x00000000u, 0xffffffffu) \
	X(YIELD_REQUEST, 0x02cu, 1u, 4u, NONE, RW, FIXED, 0x00000000u, 0x00000001u) \
	X(LIMIT_LO, 0x030u, 1u, 4u, NONE, RW, FIXED, 0xffffffffu, 0xffffffffu) \
	X(LIMIT_HI, 0x034u, 1u, 4u, NONE, RW, FIXED, 0xffffffffu, 0xffffffffu) \
	X(RESUME_INDEX, 0x038u, 1u, 4u, NONE, RO, FIXED, 0x00000000u, 0xffffffffu) \
	X(REPORT, 0x080u, 32u, 4u, NONE, RW, FIXED, 0x00000000u, 0xffffffffu)

/* Bits of HOST.FEATURES. */
#define NPU_HW_FEATURE_REQUANT		(1u << 0)
#define NPU_HW_FEATURE_PAD_VALUE	(1u << 1)
#define NPU_HW_FEATURE_YIELD		(1u << 2)
#define NPU_HW_FEATURE_VMAC		(1u << 3)
#define NPU_HW_FEATURE_LUT		(1u << 4)
#define NPU_HW_FEATURE_REQUANT_BIT	0u
#define NPU_HW_FEATURE_PAD_VALUE_BIT	1u
#define NPU_HW_FEATURE_YIELD_BIT	2u
#define NPU_HW_FEATURE_VMAC_BIT		3u
#define NPU_HW_FEATURE_LUT_BIT		4u

/* Bits of HOST.FW_FEATURES. */
#define NPU_FW_FEATURE_SHADOW		(1u << 0)
#define NPU_FW_FEATURE_EVENTS		(1u << 1)
#define NPU_FW_FEATURE_PREEMPT		(1u << 2)
#define NPU_FW_FEATURE_TELEMETRY	(1u << 3)
#define NPU_FW_FEATURE_SUSPEND		(1u << 4)
#define NPU_FW_FEATURE_PEERS		(1u << 5)
#define NPU_FW_FEATURE_LOG		(1u << 6)
#define NPU_FW_FEATURE_SHADOW_BIT	0u
#define NPU_FW_FEATURE_EVENTS_BIT	1u
#define NPU_FW_FEATURE_PREEMPT_BIT	2u
#define NPU_FW_FEATURE_TELEMETRY_BIT	3u
#define NPU_FW_FEATURE_SUSPEND_BIT	4u
#define NPU_FW_FEATURE_PEERS_BIT	5u
#define NPU_FW_FEATURE_LOG_BIT		6u

/* Values of HOST.BOOT_STATE. */
#define NPU_BOOT_NONE			0u
#define NPU_BOOT_BOOTING		1u
#define NPU_BOOT_READY			2u
#define NPU_BOOT_FAILED			3u
#define NPU_BOOT_SUSPENDED		4u
#define NPU_BOOT_NAMES(X) \
	X(NONE, 0, "none") \
	X(BOOTING, 1, "booting") \
	X(READY, 2, "ready") \
	X(FAILED, 3, "failed") \
	X(SUSPENDED, 4, "suspended")

/* Values of HOST.BOOT_ERROR. Bits 31:8 hold a detail that is for people. */
#define NPU_BOOT_ERROR_NONE		0u
#define NPU_BOOT_ERROR_PROTO		1u
#define NPU_BOOT_ERROR_ADMIN_RING	2u
#define NPU_BOOT_ERROR_DEVICE		3u
#define NPU_BOOT_ERROR_DMA		4u
#define NPU_BOOT_ERROR_TRAP		5u
#define NPU_BOOT_ERROR_NAMES(X) \
	X(NONE, 0, "none") \
	X(PROTO, 1, "proto") \
	X(ADMIN_RING, 2, "admin_ring") \
	X(DEVICE, 3, "device") \
	X(DMA, 4, "dma") \
	X(TRAP, 5, "trap")

/* Interrupt sources of the control processor. */
#define NPU_CP_IRQ_DOORBELL		(1u << 0)
#define NPU_CP_IRQ_DMA			(1u << 1)
#define NPU_CP_IRQ_CORE0		(1u << 8)
#define NPU_CP_IRQ_DOORBELL_BIT		0u
#define NPU_CP_IRQ_DMA_BIT		1u
#define NPU_CP_IRQ_CORE0_BIT		8u

/* States of a compute core. */
#define NPU_CORE_STATE_IDLE		0u
#define NPU_CORE_STATE_RUNNING		1u
#define NPU_CORE_STATE_STOPPED		2u
#define NPU_CORE_STATE_DONE		3u
#define NPU_CORE_STATE_FAULT		4u
#define NPU_CORE_STATE_YIELDED		5u
#define NPU_CORE_STATE_LIMIT		6u
#define NPU_CORE_STATE_NAMES(X) \
	X(IDLE, 0, "idle") \
	X(RUNNING, 1, "running") \
	X(STOPPED, 2, "stopped") \
	X(DONE, 3, "done") \
	X(FAULT, 4, "fault") \
	X(YIELDED, 5, "yielded") \
	X(LIMIT, 6, "limit")

/* Timing of the device model. */
/* Cycles from a read request to its first data when the read port was idle. */
#define NPU_TIMING_MEM_LATENCY		16u
/* Bytes per cycle of the read port, and of the write port. */
#define NPU_TIMING_MEM_BYTES_PER_CYCLE	8u
/*
 * Bytes of one fetch request (4 instructions), aligned to the stream's
 * start.
 */
#define NPU_TIMING_FETCH_LINE_BYTES	64u
/* Lines that fetch reads ahead of dispatch. */
#define NPU_TIMING_FETCH_LINES		2u
/* Cycles to hand one instruction to its unit. */
#define NPU_TIMING_DISPATCH_CYCLES	1u
/*
 * Cycles of LOAD and STORE before the first request, also when they only
 * move tokens.
 */
#define NPU_TIMING_MEM_ISSUE		1u
/* Cycles per element of padding, after the data. */
#define NPU_TIMING_PAD_CYCLES		1u
/* Cycles before the first micro-op of a GEMM. */
#define NPU_TIMING_GEMM_FILL		6u
/* Cycles per micro-op of a GEMM, with or without reset. */
#define NPU_TIMING_GEMM_UOP		1u
/* Cycles before the first micro-op of an ALU instruction. */
#define NPU_TIMING_ALU_FILL		6u
/* Cycles per micro-op with an immediate. */
#define NPU_TIMING_ALU_IMM_UOP		1u
/* Cycles per micro-op with a register operand. */
#define NPU_TIMING_ALU_REG_UOP		2u
/* Cycles before the first micro-op of REQUANT, VMAC and LUT. */
#define NPU_TIMING_EXT_FILL		8u
/* Cycles per micro-op of REQUANT. */
#define NPU_TIMING_REQUANT_UOP		1u
/* Cycles per micro-op of VMAC. */
#define NPU_TIMING_VMAC_UOP		1u
/* Cycles per micro-op of LUT. */
#define NPU_TIMING_LUT_UOP		1u
/* Cycles of FINISH, YIELD and PAD_VALUE. */
#define NPU_TIMING_CONTROL		1u
/* Most cycles a core runs on after its limit. */
#define NPU_TIMING_LIMIT_SLACK		4096u
/*
 * Cycles of a page walk: hidden, so that cycle counts do not depend on the
 * placing of pages.
 */
#define NPU_TIMING_TLB_MISS		0u
/* Ticks between two heartbeats while a job runs. */
#define NPU_TIMING_HEARTBEAT_TICKS	0xf4240u

/* The energy model. */
/* Logarithm to base 2 of the units in a nanojoule. */
#define NPU_ENERGY_UNIT_LOG		20u
/* A tick, whatever the device does: 50 pJ, which is 50 mW at 1 GHz. */
#define NPU_ENERGY_TICK			52429u
/* A cycle of a running core, its SRAM and its control: 20 pJ. */
#define NPU_ENERGY_CYCLE		20972u
/* A multiply-accumulate of 8-bit values: 0.4 pJ. */
#define NPU_ENERGY_MAC			420u
/* A byte read from memory or written there: 40 pJ. */
#define NPU_ENERGY_BYTE			41943u
/* Temperature at reset, and of the surroundings, in millidegrees Celsius. */
#define NPU_ENERGY_AMBIENT		35000u
/* Millidegrees that a milliwatt, held for long, adds. */
#define NPU_ENERGY_RESISTANCE		40u
/* Logarithm to base 2 of the ticks of a step of the temperature. */
#define NPU_ENERGY_STEP_LOG		20u
/*
 * In a step the temperature moves by 2^-8 of what is left to the one that
 * the power leads to.
 */
#define NPU_ENERGY_STEP_SHIFT		8u

#endif
