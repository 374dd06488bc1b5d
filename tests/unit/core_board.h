/* SPDX-License-Identifier: MIT */
/* A compute core with flat memory instead of an MMU, for tests. */
#ifndef TESTS_UNIT_CORE_BOARD_H
#define TESTS_UNIT_CORE_BOARD_H

#include "firmware/model/npu_core.h"
#include "npu_isa.h"
#include "tests/oracle/random.h"
#include "userspace/isa/npu_insn.h"

#define BOARD_CONTEXT	7
#define BOARD_BYTES	(4u << 20)
#define BOARD_FEATURES	(NPU_HW_FEATURE_REQUANT | NPU_HW_FEATURE_PAD_VALUE | \
			 NPU_HW_FEATURE_YIELD | NPU_HW_FEATURE_VMAC | \
			 NPU_HW_FEATURE_LUT)

/* Where things lie in memory by habit; all of it may be used at will. */
#define BOARD_INSN	0x001000u
#define BOARD_REGIONS	0x0ff000u
#define BOARD_DATA	0x100000u
#define BOARD_OUT	0x300000u

/*
 * [hole, hole_end) cannot be accessed in the way that @hole_access says, and
 * neither can anything from BOARD_BYTES on: UNMAPPED.
 */
struct board {
	struct npu_core *core;
	u8 *mem;
	u64 hole;
	u64 hole_end;
	u8 hole_access;
	u32 insns;
	u64 tick;
};

/* Options of a run; all 0: no region table, no limit, one slice. */
struct board_run {
	u64 slice;		/* cycles of a call, 0: no bound */
	u32 regions;
	u32 start;
};

void board_init(struct board *b, u64 features);
void board_exit(struct board *b);

/* Forgets the program; memory, core and SRAM stay as they are. */
void board_clear(struct board *b);

/* Appends an instruction to the program. */
void board_word(struct board *b, u64 low, u64 high);
void board_insn(struct board *b, const struct npu_insn *insn);

#define BOARD_MEM(b, ...) \
	board_insn(b, &(struct npu_insn){ .format = NPU_FORMAT_MEM, \
					  .mem = { __VA_ARGS__ } })
#define BOARD_LOAD(b, ...) BOARD_MEM(b, .opcode = NPU_OP_LOAD, __VA_ARGS__)
#define BOARD_STORE(b, ...) \
	BOARD_MEM(b, .opcode = NPU_OP_STORE, .memory = NPU_MEM_OUT, __VA_ARGS__)
#define BOARD_GEMM(b, ...) \
	board_insn(b, &(struct npu_insn){ .format = NPU_FORMAT_GEMM, \
		.gemm = { .opcode = NPU_OP_GEMM, __VA_ARGS__ } })
#define BOARD_ALU(b, ...) \
	board_insn(b, &(struct npu_insn){ .format = NPU_FORMAT_ALU, \
		.alu = { .opcode = NPU_OP_ALU, __VA_ARGS__ } })
#define BOARD_FINISH(b, ...) \
	board_insn(b, &(struct npu_insn){ .format = NPU_FORMAT_FINISH, \
		.finish = { .opcode = NPU_OP_FINISH, __VA_ARGS__ } })
/* Loads of @n elements in one row, from byte address @va. */
#define BOARD_ROW(b, MEM, element, n, va, ...) \
	BOARD_LOAD(b, .memory = NPU_MEM_##MEM, .sram_base = (element), \
		   .dram_base = (va) / NPU_##MEM##_BYTES, .y_size = 1, \
		   .x_size = (n), .x_stride = (n), __VA_ARGS__)

#define BOARD_EXT(b, FORMAT, member, ...) \
	board_insn(b, &(struct npu_insn){ .format = NPU_FORMAT_##FORMAT, \
		.member = { .opcode = NPU_OP_EXT, \
			    .ext_op = NPU_EXT_##FORMAT, __VA_ARGS__ } })

u32 board_uop(u32 dst, u32 src, u32 wgt);
/* Random bytes. */
void board_noise(struct board *b, u64 va, u32 bytes, struct random *r);

void board_put32(struct board *b, u64 va, u32 value);
u32 board_get32(const struct board *b, u64 va);

/* Sets the registers of a job and starts it, from any state. */
void board_start(struct board *b, const struct board_run *run);

/* Runs until the core leaves RUNNING; returns the state. */
u32 board_go(struct board *b, u64 slice);

/* board_start() and board_go(). */
u32 board_run(struct board *b, const struct board_run *run);

/* Element @i of ACC as a program would read it; the core does not run. */
const s32 *board_acc(struct board *b, u32 i);

/* Run the program; any other end than this fails the test. */
void board_expect_done(struct board *b);
void board_expect_fault(struct board *b, u8 fault, u8 unit, u32 insn, u64 va,
			u8 access);

void board_command(struct board *b, u32 command);
u32 board_state(const struct board *b);
struct npu_job_report board_report(const struct board *b);

#endif /* TESTS_UNIT_CORE_BOARD_H */
