/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 OR MIT */
/*
 * Interpreter of the control processor: RV32IMC_Zicsr_Zifencei, machine mode.
 *
 * Freestanding: no allocation, no global state, no floating point, no
 * recursion. Any number of processors may exist side by side.
 *
 * What the instruction set manual leaves open is settled as follows:
 *
 * - Instructions are fetched from tightly coupled memory (TCM) alone; any
 *   other address is an instruction access fault. Where only the upper half
 *   of an instruction lies outside, mtval holds the address of that half.
 * - A misaligned load or store traps (causes 4 and 6), also on addresses
 *   where nothing answers.
 * - mtval: the address for access faults and misaligned accesses, the
 *   instruction's bits (16 or 32) for an illegal instruction, the pc for
 *   ebreak, 0 for ecall and interrupts.
 * - Fetch is coherent with every store of the processor: code written by a
 *   store is seen by the next instruction, so fence.i has nothing to do. The
 *   owner reports what it writes itself with rv32_tcm_written().
 * - Interrupts: machine external (11) before machine timer (7). Software
 *   interrupts (3) do not exist; mie.MSIE and mip.MSIP read 0.
 * - mtvec takes direct and vectored mode and any base aligned to 4 bytes.
 * - CSRs: mstatus (MIE, MPIE; MPP reads 3), mstatush (0), misa, mie, mtvec,
 *   mscratch, mepc, mcause, mtval, mip, mcycle[h], minstret[h], mvendorid,
 *   marchid, mimpid, mhartid, mconfigptr (0). Any other, or a write to one
 *   whose number says read-only, is an illegal instruction.
 * - One step is one cycle: an instruction that retires, or one that traps.
 * - An exception before a single instruction of the trap handler has retired
 *   halts the processor (RV32_HALT_DOUBLE_TRAP); mepc, mcause and mtval still
 *   describe the first trap.
 */
#ifndef FIRMWARE_MODEL_RV32_H
#define FIRMWARE_MODEL_RV32_H

#include "firmware/model/npu_types.h"

/* Bits of mip and mie, which double as names of the interrupt lines. */
#define RV32_IRQ_TIMER		(1u << 7)
#define RV32_IRQ_EXTERNAL	(1u << 11)

#define RV32_CAUSE_FETCH_FAULT		1
#define RV32_CAUSE_ILLEGAL		2
#define RV32_CAUSE_BREAKPOINT		3
#define RV32_CAUSE_LOAD_MISALIGNED	4
#define RV32_CAUSE_LOAD_FAULT		5
#define RV32_CAUSE_STORE_MISALIGNED	6
#define RV32_CAUSE_STORE_FAULT		7
#define RV32_CAUSE_ECALL		11
#define RV32_CAUSE_INTERRUPT		(1u << 31)

#define RV32_MSTATUS_MIE	(1u << 3)
#define RV32_MSTATUS_MPIE	(1u << 7)
#define RV32_MSTATUS_MPP	(3u << 11)

/* Code is tracked by lines of this many bytes; TCM is a whole number of them */
#define RV32_TCM_LINE		64u

/**
 * RV32_PREDECODE_BYTES - size of the predecode memory of one processor
 * @tcm_size: bytes of TCM, a multiple of %RV32_TCM_LINE
 *
 * Eight bytes for each half-word and one for each line.
 */
#define RV32_PREDECODE_BYTES(tcm_size) \
	((size_t)(tcm_size) * 4 + (size_t)(tcm_size) / RV32_TCM_LINE)

/**
 * enum rv32_halt - why a processor executes nothing
 * @RV32_HALT_NONE: it does execute
 * @RV32_HALT_RESET: held in reset by its owner; the state after rv32_init()
 * @RV32_HALT_DOUBLE_TRAP: the trap handler's first instruction faulted
 */
enum rv32_halt {
	RV32_HALT_NONE,
	RV32_HALT_RESET,
	RV32_HALT_DOUBLE_TRAP,
};

struct rv32_op;

/**
 * struct rv32_bus - what answers outside TCM
 * @read: load of @size (1, 2 or 4) bytes at @addr, which @size divides; the
 *	value goes into the low bits of *@val. Non-zero: load access fault.
 * @write: store of the low @size bytes of @val. Non-zero: store access fault.
 *
 * Either may be NULL, and then every such access faults. The processor's pc
 * and counters are valid during a call, with pc at the accessing instruction.
 * A callback may call rv32_set_irq(), rv32_stop(), rv32_halt() and
 * rv32_tcm_written(), but neither rv32_run() nor rv32_reset().
 */
struct rv32_bus {
	int (*read)(void *opaque, u32 addr, u32 size, u32 *val);
	int (*write)(void *opaque, u32 addr, u32 size, u32 val);
};

/**
 * struct rv32_config - surroundings of a processor
 * @tcm: its memory, kept by the owner for the processor's life
 * @tcm_base: address of @tcm as the processor sees it, a multiple of 4
 * @tcm_size: bytes, a non-zero multiple of %RV32_TCM_LINE; the end must not
 *	pass 4 GiB
 * @predecode: RV32_PREDECODE_BYTES(@tcm_size) bytes aligned to 8
 * @bus: callbacks for all other addresses, may be NULL
 * @opaque: first argument of the callbacks
 * @hartid: value of mhartid
 */
struct rv32_config {
	u8 *tcm;
	u32 tcm_base;
	u32 tcm_size;
	void *predecode;
	const struct rv32_bus *bus;
	void *opaque;
	u32 hartid;
};

/**
 * struct rv32 - a processor
 * @x: registers; x[32] takes what instructions write to x0
 * @pc: address of the next instruction, always even
 * @mstatus: MIE and MPIE
 * @mie: enabled interrupts
 * @mip: interrupt lines
 * @mtvec: trap vector with its mode
 * @mscratch: CSR
 * @mepc: CSR
 * @mcause: CSR
 * @mtval: CSR
 * @insns: instructions retired since reset
 * @cycles: steps since reset, and what rv32_add_cycles() added
 * @mcycle_offset: what mcycle shows beyond @cycles
 * @minstret_offset: what minstret shows beyond @insns
 * @trap_insns: @insns at the last trap entry, all ones before the first
 * @halt: why it stands, if it does
 * @halt_cause: exception that halted it (mcause encoding)
 * @halt_tval: mtval of that exception; its address is @pc
 * @wfi: waiting for an enabled interrupt line
 * @stop: the current slice ends after this instruction
 * @cfg: surroundings
 * @ops: predecoded instruction of each half-word
 * @code: for each line of TCM, whether @ops may hold part of it
 *
 * The owner may read every field between two calls, and writes none. All
 * calls on one processor must be serialised by the owner; distinct processors
 * share nothing.
 */
struct rv32 {
	u32 x[33];
	u32 pc;
	u32 mstatus;
	u32 mie;
	u32 mip;
	u32 mtvec;
	u32 mscratch;
	u32 mepc;
	u32 mcause;
	u32 mtval;
	u64 insns;
	u64 cycles;
	u64 mcycle_offset;
	u64 minstret_offset;
	u64 trap_insns;
	enum rv32_halt halt;
	u32 halt_cause;
	u32 halt_tval;
	bool wfi;
	bool stop;
	struct rv32_config cfg;
	struct rv32_op *ops;
	u8 *code;
};

/**
 * rv32_init - set up a processor, held in reset
 * @cpu: the processor, uninitialised
 * @cfg: its surroundings, copied
 *
 * There is nothing to undo: the memory belongs to the owner.
 *
 * Return: 0, or -EINVAL if @cfg breaks a rule of struct rv32_config.
 */
int rv32_init(struct rv32 *cpu, const struct rv32_config *cfg);

/**
 * rv32_reset - bring the registers into reset state and release the processor
 * @cpu: the processor
 * @entry: address of the first instruction; bit 0 is ignored
 *
 * Registers, CSRs and counters become 0. TCM and the interrupt lines stay.
 */
void rv32_reset(struct rv32 *cpu, u32 entry);

/**
 * rv32_halt - hold the processor in reset until rv32_reset()
 * @cpu: the processor; its registers stay readable
 */
void rv32_halt(struct rv32 *cpu);

/**
 * rv32_run - execute a slice
 * @cpu: the processor
 * @max_steps: bound of the slice
 *
 * Ends early when the processor halts, waits for an interrupt, or a callback
 * called rv32_stop(). The host's work is bounded by @max_steps, whatever the
 * program does.
 *
 * Return: steps taken, at most @max_steps.
 */
u32 rv32_run(struct rv32 *cpu, u32 max_steps);

/**
 * rv32_stop - end the current slice after the current instruction
 * @cpu: the processor; called from a callback, no effect elsewhere
 */
static inline void rv32_stop(struct rv32 *cpu)
{
	cpu->stop = true;
}

/**
 * rv32_set_irq - drive interrupt lines
 * @cpu: the processor
 * @lines: %RV32_IRQ_TIMER, %RV32_IRQ_EXTERNAL or both
 * @level: their level
 *
 * A callback's change is seen before the next instruction.
 */
void rv32_set_irq(struct rv32 *cpu, u32 lines, bool level);

/**
 * rv32_runnable - whether rv32_run() would take a step
 * @cpu: the processor
 *
 * Return: false while it is halted or waits for an interrupt line.
 */
bool rv32_runnable(const struct rv32 *cpu);

/**
 * rv32_add_cycles - account time that passed without instructions
 * @cpu: the processor
 * @cycles: cycles, of a stalled access or of waiting, to add to mcycle
 */
static inline void rv32_add_cycles(struct rv32 *cpu, u64 cycles)
{
	cpu->cycles += cycles;
}

/**
 * rv32_tcm_written - report that the owner changed TCM
 * @cpu: the processor
 * @addr: first address as the processor sees it
 * @len: bytes; parts outside TCM are ignored
 */
void rv32_tcm_written(struct rv32 *cpu, u32 addr, u32 len);

#endif /* FIRMWARE_MODEL_RV32_H */
