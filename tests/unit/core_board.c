// SPDX-License-Identifier: MIT
#include <stdio.h>
#include <stdlib.h>
#include "firmware/model/core_internal.h"
#include "tests/unit/core_board.h"

static u8 board_check(const struct board *b, u16 context, u64 va, u32 *len,
		      u8 access, u64 *fault_va)
{
	u64 bad = BOARD_BYTES;

	if (context != BOARD_CONTEXT) {
		*fault_va = va;
		*len = 0;
		return NPU_FAULT_CONTEXT;
	}
	if (access == b->hole_access && va < b->hole_end && va + *len > b->hole)
		bad = b->hole > va ? b->hole : va;
	if (va + *len <= bad)
		return NPU_FAULT_NONE;
	*fault_va = va > bad ? va : bad;
	*len = *fault_va - va;
	return NPU_FAULT_UNMAPPED;
}

static u8 board_read(void *opaque, u16 context, u64 va, void *buf, u32 len,
		     u8 access, u64 *fault_va)
{
	const struct board *b = opaque;
	u8 fault = board_check(b, context, va, &len, access, fault_va);

	if (len)
		memcpy(buf, b->mem + va, len);
	return fault;
}

static u8 board_write(void *opaque, u16 context, u64 va, const void *buf,
		      u32 len, u64 *fault_va)
{
	const struct board *b = opaque;
	u8 fault = board_check(b, context, va, &len, NPU_ACCESS_WRITE, fault_va);

	if (len)
		memcpy(b->mem + va, buf, len);
	return fault;
}

void board_init(struct board *b, u64 features)
{
	const struct npu_core_mem mem = {
		.opaque = b,
		.read = board_read,
		.write = board_write,
	};

	memset(b, 0, sizeof(*b));
	b->core = aligned_alloc(64, (npu_core_size() + 63) & ~(size_t)63);
	b->mem = calloc(1, BOARD_BYTES);
	if (!b->core || !b->mem)
		abort();
	b->tick = 1000;
	memset(b->core, 0xa5, npu_core_size());
	npu_core_init(b->core, 3, features, &mem);
}

void board_exit(struct board *b)
{
	free(b->core);
	free(b->mem);
}

void board_clear(struct board *b)
{
	b->insns = 0;
}

void board_word(struct board *b, u64 low, u64 high)
{
	u8 *to = b->mem + BOARD_INSN + b->insns++ * NPU_INSN_BYTES;

	npu_put_le64(to, low);
	npu_put_le64(to + 8, high);
}

void board_insn(struct board *b, const struct npu_insn *insn)
{
	u8 *to = b->mem + BOARD_INSN + b->insns++ * NPU_INSN_BYTES;
	struct npu_isa_error err;

	if (npu_insn_encode(insn, to, &err)) {
		fprintf(stderr, "cannot encode: %s = %lld\n", err.field,
			(long long)err.value);
		abort();
	}
}

u32 board_uop(u32 dst, u32 src, u32 wgt)
{
	return dst | src << 11 | wgt << 22;
}

void board_put32(struct board *b, u64 va, u32 value)
{
	npu_put_le32(b->mem + va, value);
}

u32 board_get32(const struct board *b, u64 va)
{
	return npu_get_le32(b->mem + va);
}

static void board_reg(struct board *b, u32 offset, u32 value)
{
	npu_core_reg_write(b->core, offset, value, b->tick);
}

void board_command(struct board *b, u32 command)
{
	board_reg(b, NPU_CORE_CONTROL, command);
}

void board_start(struct board *b, const struct board_run *run)
{
	board_command(b, NPU_CORE_CONTROL_CLEAR_MASK);
	board_reg(b, NPU_CORE_EVENT, 1);
	board_reg(b, NPU_CORE_CONTEXT, BOARD_CONTEXT);
	board_reg(b, NPU_CORE_INSN_LO, BOARD_INSN);
	board_reg(b, NPU_CORE_INSN_HI, 0);
	board_reg(b, NPU_CORE_INSN_COUNT, b->insns);
	board_reg(b, NPU_CORE_START_INDEX, run->start);
	board_reg(b, NPU_CORE_REGION_LO, BOARD_REGIONS);
	board_reg(b, NPU_CORE_REGION_HI, 0);
	board_reg(b, NPU_CORE_REGION_COUNT, run->regions);
	board_command(b, NPU_CORE_CONTROL_START_MASK);
}

u32 board_go(struct board *b, u64 slice)
{
	while (npu_core_running(b->core))
		b->tick += npu_core_run(b->core, slice ? slice : ~0ull, b->tick);
	return board_state(b);
}

u32 board_run(struct board *b, const struct board_run *run)
{
	board_start(b, run);
	return board_go(b, run->slice);
}

u32 board_state(const struct board *b)
{
	return npu_core_reg_read(b->core, NPU_CORE_STATUS);
}

struct npu_job_report board_report(const struct board *b)
{
	struct npu_job_report report;

	if (!npu_core_report_copy(b->core, 0, &report, sizeof(report)))
		abort();
	return report;
}

const s32 *board_acc(struct board *b, u32 i)
{
	core_sram_open(b->core, CORE_ACC, i, i);
	return b->core->acc[i];
}

void board_noise(struct board *b, u64 va, u32 bytes, struct random *r)
{
	u64 noise;
	u32 i;

	for (i = 0; i < bytes; i += sizeof(noise)) {
		u32 left = bytes - i;

		noise = random_u64(r);
		memcpy(b->mem + va + i, &noise,
		       left < sizeof(noise) ? left : sizeof(noise));
	}
}
