// SPDX-License-Identifier: MIT
/* Tokens between the units, deadlock, YIELD and valid bits. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "firmware/model/core_internal.h"
#include "tests/unit/core_board.h"

#define VA_UOP	BOARD_DATA
#define VA_ACC	(BOARD_DATA + 0x10000)
#define VA_WGT	(BOARD_DATA + 0x20000)

static struct board board;
static struct board *b = &board;

static int setup(void **state)
{
	(void)state;
	board_init(b, BOARD_FEATURES);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	board_exit(b);
	return 0;
}

/* Instructions that only move tokens, one for each unit. */
#define ON_LOAD(...)	BOARD_LOAD(b, .memory = NPU_MEM_INP, __VA_ARGS__)
#define ON_COMPUTE(...)	BOARD_LOAD(b, .memory = NPU_MEM_UOP, __VA_ARGS__)
#define ON_STORE(...)	BOARD_STORE(b, __VA_ARGS__)

static void done(void)
{
	BOARD_FINISH(b);
	board_expect_done(b);
	board_clear(b);
}

static void deadlock(u8 unit, u32 insn)
{
	BOARD_FINISH(b);
	board_expect_fault(b, NPU_FAULT_DEADLOCK, unit, insn, 0,
			   NPU_ACCESS_READ);
	board_clear(b);
}

/* Each of the four queues carries a token, and only to its consumer. */
static void queues(void **state)
{
	(void)state;
	ON_LOAD(.push_next = 1);
	ON_COMPUTE(.pop_prev = 1);
	done();
	ON_COMPUTE(.push_prev = 1);
	ON_LOAD(.pop_next = 1);
	done();
	ON_COMPUTE(.push_next = 1);
	ON_STORE(.pop_prev = 1);
	done();
	ON_STORE(.push_prev = 1);
	ON_COMPUTE(.pop_next = 1);
	done();

	ON_LOAD(.push_next = 1);
	ON_COMPUTE(.pop_next = 1);
	deadlock(NPU_UNIT_COMPUTE, 1);
	ON_STORE(.push_prev = 1);
	ON_COMPUTE(.pop_prev = 1);
	deadlock(NPU_UNIT_COMPUTE, 1);
	ON_COMPUTE(.push_next = 1);
	ON_LOAD(.pop_next = 1);
	deadlock(NPU_UNIT_LOAD, 1);
	ON_COMPUTE(.push_prev = 1);
	ON_STORE(.pop_prev = 1);
	deadlock(NPU_UNIT_STORE, 1);
}

/* Flags towards a neighbour that the unit does not have. */
static void ignored_flags(void **state)
{
	(void)state;
	ON_LOAD(.pop_prev = 1, .push_prev = 1);
	ON_STORE(.pop_next = 1, .push_next = 1);
	BOARD_EXT(b, PAD_VALUE, pad_value, .unit = NPU_PAD_UNIT_LOAD,
		  .pop_prev = 1, .push_prev = 1);
	done();
}

/* FINISH and EXT take part, on either side. */
static void all_formats(void **state)
{
	(void)state;
	ON_LOAD(.push_next = 1);
	ON_STORE(.push_prev = 1);
	BOARD_GEMM(b, .pop_prev = 1, .pop_next = 1, .push_prev = 1,
		   .push_next = 1);
	BOARD_EXT(b, PAD_VALUE, pad_value, .unit = NPU_PAD_UNIT_LOAD,
		  .pop_next = 1, .push_next = 1);
	ON_STORE(.pop_prev = 1, .push_prev = 1);
	BOARD_ALU(b, .pop_prev = 1, .pop_next = 1, .push_prev = 1,
		  .push_next = 1, .use_imm = 1);
	ON_LOAD(.pop_next = 1, .push_next = 1);
	ON_STORE(.pop_prev = 1, .push_prev = 1);
	BOARD_EXT(b, LUT, lut, .pop_prev = 1, .pop_next = 1, .push_prev = 1,
		  .push_next = 1);
	ON_LOAD(.pop_next = 1, .push_next = 1);
	ON_STORE(.pop_prev = 1, .push_prev = 1);
	BOARD_FINISH(b, .pop_prev = 1, .pop_next = 1, .push_prev = 1,
		     .push_next = 1);
	board_expect_done(b);
	board_clear(b);
	BOARD_FINISH(b, .pop_prev = 1);
	board_expect_fault(b, NPU_FAULT_DEADLOCK, NPU_UNIT_COMPUTE, 0, 0,
			   NPU_ACCESS_READ);
}

/* Both tokens are taken together, or none. */
static void pops_are_atomic(void **state)
{
	(void)state;
	ON_LOAD(.push_next = 1);
	ON_COMPUTE(.pop_prev = 1, .pop_next = 1);
	deadlock(NPU_UNIT_COMPUTE, 1);
}

/* The lowest index of those that wait, whichever unit has it. */
static void deadlock_index(void **state)
{
	(void)state;
	ON_STORE(.pop_prev = 1);
	ON_COMPUTE(.pop_prev = 1);
	ON_LOAD(.pop_next = 1);
	deadlock(NPU_UNIT_STORE, 0);
	ON_COMPUTE();
	ON_STORE();
	ON_LOAD(.pop_next = 1);
	ON_COMPUTE(.pop_prev = 1);
	deadlock(NPU_UNIT_LOAD, 2);
	/* Only FINISH waits. */
	ON_COMPUTE();
	BOARD_FINISH(b, .pop_next = 1);
	board_expect_fault(b, NPU_FAULT_DEADLOCK, NPU_UNIT_COMPUTE, 1, 0,
			   NPU_ACCESS_READ);
}

/*
 * Behind a full queue of instructions that wait, the instruction that would
 * end the wait never comes.
 */
static void deadlock_behind_queue(void **state)
{
	u32 i;

	(void)state;
	for (i = 0; i < NPU_CMD_QUEUE_DEPTH; i++)
		ON_COMPUTE(.pop_prev = 1);
	ON_LOAD(.push_next = 1);
	for (i = 1; i < NPU_CMD_QUEUE_DEPTH; i++)
		ON_LOAD(.push_next = 1);
	done();
	for (i = 0; i <= NPU_CMD_QUEUE_DEPTH; i++)
		ON_COMPUTE(.pop_prev = 1);
	for (i = 0; i <= NPU_CMD_QUEUE_DEPTH; i++)
		ON_LOAD(.push_next = 1);
	deadlock(NPU_UNIT_COMPUTE, 0);
}

/* 255 tokens fit; the push of the 256th waits for a pop, if one comes. */
static void queue_of_tokens(void **state)
{
	u32 i;

	(void)state;
	for (i = 0; i < NPU_TOKEN_MAX; i++)
		ON_LOAD(.push_next = 1);
	done();
	for (i = 0; i <= NPU_TOKEN_MAX; i++)
		ON_LOAD(.push_next = 1);
	deadlock(NPU_UNIT_LOAD, NPU_TOKEN_MAX);
	for (i = 0; i <= NPU_TOKEN_MAX; i++)
		ON_LOAD(.push_next = 1);
	ON_COMPUTE(.pop_prev = 1);
	done();
}

/* A full queue to one neighbour does not keep a token from the other. */
static void pushes_are_apart(void **state)
{
	u32 i;

	(void)state;
	for (i = 0; i < NPU_TOKEN_MAX; i++)
		ON_COMPUTE(.push_prev = 1);
	ON_COMPUTE(.push_prev = 1, .push_next = 1);
	ON_STORE(.pop_prev = 1, .push_prev = 1);
	ON_LOAD(.pop_next = 1);
	ON_COMPUTE(.pop_next = 1);
	done();
}

static void left_over(void **state)
{
	(void)state;
	ON_LOAD(.push_next = 1);
	ON_STORE(.push_prev = 1);
	ON_COMPUTE(.push_prev = 1, .push_next = 1);
	done();
	/* And they are not there for the next program. */
	ON_COMPUTE(.pop_prev = 1);
	deadlock(NPU_UNIT_COMPUTE, 0);
}

/* Element 5 of ACC is set to @value in every lane. */
static void set_acc(s32 value)
{
	u32 o;

	for (o = 0; o < 16; o++)
		board_put32(b, VA_ACC + 4 * o, value);
	BOARD_ROW(b, ACC, 5, 1, VA_ACC);
}

static void yield_clears(void **state)
{
	(void)state;
	board_put32(b, VA_UOP, board_uop(6, 5, 0));
	set_acc(77);
	BOARD_EXT(b, PAD_VALUE, pad_value, .unit = NPU_PAD_UNIT_COMPUTE,
		  .value = 9);
	ON_LOAD(.push_next = 1);
	ON_LOAD(.push_next = 1);
	BOARD_EXT(b, YIELD, yield, .pop_prev = 1, .push_next = 1);
	BOARD_ROW(b, UOP, 0, 1, VA_UOP);
	BOARD_ALU(b, .alu_op = NPU_ALU_ADD, .uop_end = 1, .iter_out = 1,
		  .iter_in = 1);
	BOARD_LOAD(b, .memory = NPU_MEM_ACC, .sram_base = 7, .y_size = 0,
		   .x_size = 1, .y_pad_0 = 1, .pad_mode = NPU_PAD_VALUE);
	BOARD_FINISH(b);
	board_expect_done(b);
	assert_int_equal(board_acc(b, 5)[0], 0);
	assert_int_equal(board_acc(b, 6)[0], 0);
	assert_int_equal(board_acc(b, 7)[0], 0);
	board_clear(b);
	/* Neither the token left of the load unit nor the pushed one is there. */
	ON_LOAD(.push_next = 1);
	BOARD_EXT(b, YIELD, yield, .push_next = 1, .push_prev = 1);
	ON_COMPUTE(.pop_prev = 1);
	deadlock(NPU_UNIT_COMPUTE, 2);
	BOARD_EXT(b, YIELD, yield, .push_next = 1, .push_prev = 1);
	ON_STORE(.pop_prev = 1);
	deadlock(NPU_UNIT_STORE, 1);
	BOARD_EXT(b, YIELD, yield, .push_next = 1, .push_prev = 1);
	ON_LOAD(.pop_next = 1);
	deadlock(NPU_UNIT_LOAD, 1);
}

/* Another unit that never gets idle; the YIELD's own token that never comes. */
static void yield_deadlock(void **state)
{
	(void)state;
	ON_LOAD(.pop_next = 1);
	BOARD_EXT(b, YIELD, yield, .push_prev = 1);
	deadlock(NPU_UNIT_LOAD, 0);
	BOARD_EXT(b, YIELD, yield, .pop_next = 1);
	ON_STORE(.push_prev = 1);
	deadlock(NPU_UNIT_COMPUTE, 0);
}

/* The result is the same whether the core switches at the YIELD or not. */
static void yield_resumes(void **state)
{
	u32 request;

	(void)state;
	board_put32(b, VA_UOP, board_uop(6, 5, 0));
	for (request = 0; request < 2; request++) {
		npu_core_reg_write(b->core, NPU_CORE_YIELD_REQUEST, request, 0);
		board_clear(b);
		set_acc(1);
		BOARD_EXT(b, YIELD, yield);
		BOARD_ROW(b, UOP, 0, 1, VA_UOP);
		BOARD_ROW(b, ACC, 5, 1, VA_ACC);
		BOARD_ALU(b, .alu_op = NPU_ALU_ADD, .uop_end = 1,
			  .iter_out = 1, .iter_in = 3);
		BOARD_FINISH(b);
		board_start(b, &(struct board_run){ 0 });
		if (request) {
			assert_int_equal(board_go(b, 0),
					 NPU_CORE_STATE_YIELDED);
			assert_true(npu_core_event(b->core));
			/* RESUME is not for this state. */
			board_command(b, NPU_CORE_CONTROL_RESUME_MASK);
			assert_int_equal(board_state(b),
					 NPU_CORE_STATE_YIELDED);
			board_start(b, &(struct board_run){ .start =
				npu_core_reg_read(b->core,
						  NPU_CORE_RESUME_INDEX) });
		}
		assert_int_equal(board_go(b, 0), NPU_CORE_STATE_DONE);
		assert_int_equal(board_acc(b, 6)[3], 3);
		assert_int_equal(board_report(b).insn, 6);
	}
}

/* A job that fills all of SRAM, and one that reads all of it. */
static void fill_sram(void)
{
	struct random rnd = { .state = 9 };

	board_noise(b, VA_UOP, 0x100000, &rnd);
	BOARD_ROW(b, UOP, 0, NPU_UOP_DEPTH, VA_UOP);
	BOARD_ROW(b, ACC, 0, NPU_ACC_DEPTH, VA_UOP);
	BOARD_ROW(b, INP, 0, NPU_INP_DEPTH, VA_UOP);
	BOARD_ROW(b, WGT, 0, NPU_WGT_DEPTH, VA_UOP);
	done();
}

static void expect_clean_acc(void)
{
	const s32 zero[16] = { 0 };
	u32 i;

	for (i = 0; i < NPU_ACC_DEPTH; i++)
		assert_memory_equal(board_acc(b, i), zero, 64);
}

static void invalid_reads_zero(const struct npu_core_kernels *kernels)
{
	u32 i;

	npu_core_set_kernels(b->core, kernels);
	fill_sram();
	/* Micro-ops of zeros: index 0 and no other, 100 products of nothing. */
	BOARD_GEMM(b, .uop_bgn = 8000, .uop_end = 8100, .iter_out = 1,
		   .iter_in = 1);
	BOARD_GEMM(b, .uop_end = 1, .iter_out = 64, .iter_in = 32,
		   .dst_factor_out = 32, .dst_factor_in = 1,
		   .src_factor_out = 32, .src_factor_in = 1,
		   .wgt_factor_out = 16, .wgt_factor_in = 0);
	done();
	expect_clean_acc();

	/* Inputs of 1 show stale weights, weights of 1 stale inputs. */
	fill_sram();
	BOARD_EXT(b, PAD_VALUE, pad_value, .unit = NPU_PAD_UNIT_LOAD,
		  .value = 1);
	BOARD_LOAD(b, .memory = NPU_MEM_INP, .sram_base = 100, .y_size = 0,
		   .x_size = 1, .y_pad_0 = 1, .pad_mode = NPU_PAD_VALUE);
	BOARD_LOAD(b, .memory = NPU_MEM_WGT, .sram_base = 100, .y_size = 0,
		   .x_size = 1, .y_pad_0 = 1, .pad_mode = NPU_PAD_VALUE,
		   .push_next = 1);
	board_put32(b, VA_UOP, board_uop(0, 100, 101));
	board_put32(b, VA_UOP + 4, board_uop(1, 101, 100));
	board_put32(b, VA_UOP + 8, board_uop(2, 99, 100));
	board_put32(b, VA_UOP + 12, board_uop(3, 100, 99));
	board_put32(b, VA_UOP + 16, board_uop(4, 100, 100));
	BOARD_ROW(b, UOP, 0, 5, VA_UOP);
	BOARD_GEMM(b, .uop_end = 5, .iter_out = 1, .iter_in = 1, .pop_prev = 1);
	done();
	for (i = 0; i < 5; i++)
		assert_int_equal(board_acc(b, i)[7], i == 4 ? 16 : 0);
	assert_int_equal(board_acc(b, 5)[0], 0);

	/* What STORE reads. */
	fill_sram();
	memset(b->mem + BOARD_OUT, 0xee, NPU_ACC_DEPTH * 16);
	BOARD_STORE(b, .dram_base = BOARD_OUT / 16, .y_size = 1,
		    .x_size = NPU_ACC_DEPTH);
	done();
	for (i = 0; i < NPU_ACC_DEPTH * 16; i++)
		assert_int_equal(b->mem[BOARD_OUT + i], 0);
}

static void invalid_portable(void **state)
{
	(void)state;
	invalid_reads_zero(npu_core_kernels_portable());
}

static void invalid_native(void **state)
{
	(void)state;
	invalid_reads_zero(npu_core_kernels_native());
}

/* LUT's table, VMAC's rows and REQUANT's parameters are no way around it. */
static void invalid_ext(void **state)
{
	(void)state;
	fill_sram();
	BOARD_EXT(b, LUT, lut, .uop_end = 1, .iter_out = 1, .iter_in = 200,
		  .dst_factor_in = 1, .src_factor_in = 1, .table = 1000);
	BOARD_EXT(b, VMAC, vmac, .uop_end = 1, .iter_out = 8, .iter_in = 8,
		  .dst_factor_out = 8, .dst_factor_in = 1,
		  .src_factor_in = 1, .wgt_factor_out = 255);
	BOARD_EXT(b, REQUANT, requant, .uop_end = 1, .iter_out = 1,
		  .iter_in = 100, .dst_factor_in = 1, .src_factor_in = 1);
	done();
	expect_clean_acc();
}

/* The count of generations wraps; what was valid long ago is not. */
static void generation_wraps(void **state)
{
	u32 sram, g;

	(void)state;
	fill_sram();
	for (sram = 0; sram < CORE_SRAMS; sram++) {
		for (g = 0; g < 64; g++)
			b->core->group[sram][g] = 1;
	}
	b->core->generation = ~0u;
	done();
	expect_clean_acc();
}

static void reset_clears(void **state)
{
	(void)state;
	fill_sram();
	npu_core_reset(b->core);
	assert_int_equal(board_state(b), NPU_CORE_STATE_IDLE);
	expect_clean_acc();
	fill_sram();
	board_command(b, NPU_CORE_CONTROL_CLEAR_MASK);
	expect_clean_acc();
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(queues),
		TEST(ignored_flags),
		TEST(all_formats),
		TEST(pops_are_atomic),
		TEST(deadlock_index),
		TEST(deadlock_behind_queue),
		TEST(queue_of_tokens),
		TEST(pushes_are_apart),
		TEST(left_over),
		TEST(yield_clears),
		TEST(yield_deadlock),
		TEST(yield_resumes),
		TEST(invalid_portable),
		TEST(invalid_native),
		TEST(invalid_ext),
		TEST(generation_wraps),
		TEST(reset_clears),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
