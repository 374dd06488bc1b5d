// SPDX-License-Identifier: MIT
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "tests/unit/core_board.h"

void board_expect_done(struct board *b)
{
	u32 state = board_run(b, &(struct board_run){ 0 });

	if (state != NPU_CORE_STATE_DONE) {
		struct npu_job_report r = board_report(b);

		print_message("state %u, fault %u unit %u insn %u va 0x%llx\n",
			      state, r.fault_code, r.fault_unit, r.insn,
			      (unsigned long long)r.fault_va);
	}
	assert_int_equal(state, NPU_CORE_STATE_DONE);
	assert_int_equal(board_report(b).insn, b->insns);
}

void board_expect_fault(struct board *b, u8 fault, u8 unit, u32 insn, u64 va,
			u8 access)
{
	struct npu_job_report r;

	assert_int_equal(board_run(b, &(struct board_run){ 0 }),
			 NPU_CORE_STATE_FAULT);
	r = board_report(b);
	assert_int_equal(r.fault_code, fault);
	assert_int_equal(r.fault_unit, unit);
	assert_int_equal(r.insn, insn);
	assert_int_equal(r.fault_va, va);
	assert_int_equal(r.fault_access, access);
	assert_true(npu_core_event(b->core));
}
