// SPDX-License-Identifier: MIT
/* Command builder. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "tests/oracle/random.h"
#include "userspace/isa/npu_builder.h"
#include "npu_regs.h"

#define L NPU_UNIT_LOAD
#define C NPU_UNIT_COMPUTE
#define S NPU_UNIT_STORE

static struct npu_builder *new_builder(const struct npu_builder_config *config)
{
	struct npu_builder *b = NULL;

	assert_int_equal(npu_builder_new(&b, config), 0);
	assert_non_null(b);
	return b;
}

static struct npu_builder_output finish(struct npu_builder *b)
{
	struct npu_builder_output out;
	int ret = npu_builder_finish(b, &out);

	if (ret)
		fail_msg("%s", npu_builder_message(b));
	return out;
}

static struct npu_insn insn_at(const struct npu_builder_output *out, size_t index)
{
	struct npu_insn insn;

	assert_in_range(index, 0, out->insn_count - 1);
	npu_insn_decode((const char *)out->insns + index * NPU_INSN_BYTES, &insn);
	return insn;
}

/* Checks the disassembly of a whole program, one text an instruction. */
static void assert_program(const struct npu_builder_output *out, const char *const *texts)
{
	size_t count = 0;

	for (; texts[count]; count++) {
		struct npu_insn insn = insn_at(out, count);
		char text[NPU_INSN_PRINT_MAX];

		npu_insn_print(&insn, text, sizeof(text));
		assert_string_equal(text, texts[count]);
	}
	assert_int_equal(out->insn_count, count);
}

#define ASSERT_PROGRAM(out, ...) \
	assert_program(out, (const char *const[]){ __VA_ARGS__, NULL })

/* Stuck with the code, and a message that contains the text. */
static void assert_failed(struct npu_builder *b, int code, const char *text)
{
	struct npu_builder_output out;

	assert_int_equal(npu_builder_error(b), code);
	if (!strstr(npu_builder_message(b), text))
		fail_msg("\"%s\" is not in \"%s\"", text, npu_builder_message(b));
	assert_int_equal(npu_builder_yield(b), code);
	assert_int_equal(npu_builder_finish(b, &out), code);
	npu_builder_free(b);
}

static int load(struct npu_builder *b, unsigned int memory)
{
	return npu_builder_load(b, &(struct npu_insn_mem){
		.memory = memory, .y_size = 1, .x_size = 1, .x_stride = 1,
	});
}

static int store(struct npu_builder *b)
{
	return npu_builder_store(b, &(struct npu_insn_mem){
		.y_size = 1, .x_size = 1, .x_stride = 1,
	});
}

static int one_uop(struct npu_builder *b, int64_t dst, int64_t src, int64_t wgt)
{
	npu_builder_kernel_begin(b);
	npu_builder_uop(b, dst, src, wgt);
	return npu_builder_kernel_end(b);
}

static void test_empty(void **state)
{
	struct npu_builder *b = new_builder(NULL);
	struct npu_builder_output out = finish(b), again;
	(void)state;

	ASSERT_PROGRAM(&out, "finish");
	assert_int_equal(out.uop_count, 0);
	assert_int_equal(npu_builder_finish(b, &again), 0);
	assert_memory_equal(&again, &out, sizeof(out));
	assert_int_equal(load(b, NPU_MEM_INP), -EINVAL);
	assert_failed(b, -EINVAL, "finished");
}

static void test_config(void **state)
{
	struct npu_builder *b;
	(void)state;

	assert_int_equal(npu_builder_new(&b, &(struct npu_builder_config){ .uop_region = 16 }),
			 -EINVAL);
	assert_int_equal(npu_builder_new(&b, &(struct npu_builder_config){ .uop_depth = 8193 }),
			 -EINVAL);
	npu_builder_free(NULL);
}

static void test_instructions(void **state)
{
	struct npu_builder *b = new_builder(&(struct npu_builder_config){
		.features = 0x1f, .uop_region = 2, .uop_base = 0x100,
	});
	struct npu_builder_output out;
	int k;
	(void)state;

	npu_builder_load(b, &(struct npu_insn_mem){
		.memory = NPU_MEM_ACC8, .sram_base = 3, .dram_base = 9, .region = 4, .y_size = 2,
		.x_size = 5, .x_stride = 7, .x_pad_1 = 1, .pad_mode = NPU_PAD_VALUE,
	});
	npu_builder_kernel_begin(b);
	npu_builder_loop(b, 3, 8, 4, 0);
	npu_builder_loop(b, 2, 1, 2, 0);
	npu_builder_uop(b, 100, 200, 0);
	npu_builder_uop(b, 101, 201, 0);
	k = npu_builder_kernel_end(b);
	assert_int_equal(k, 0);
	npu_builder_gemm(b, k, true);
	npu_builder_gemm(b, k, false);
	npu_builder_alu(b, k, NPU_ALU_MUL);
	npu_builder_alu_imm(b, k, NPU_ALU_MIN, -7);
	npu_builder_requant(b, k);
	npu_builder_vmac(b, k, false);
	npu_builder_vmac(b, k, true);
	npu_builder_lut(b, k, 77);
	npu_builder_pad_value(b, NPU_PAD_UNIT_LOAD, -3);
	npu_builder_store(b, &(struct npu_insn_mem){
		.sram_base = 100, .region = 5, .dram_base = 1, .y_size = 2, .x_size = 2,
		.x_stride = 4,
	});
	assert_int_equal(npu_builder_count(b), 12);
	out = finish(b);
	ASSERT_PROGRAM(&out,
		"load.acc8  sram=3 dram=r4+0x9  2x5 stride 7 pad(x1=1 value)",
		"load.uop  sram=0 dram=r2+0x100  1x2 stride 2",
		"gemm.reset  uop=0:2 loop 3x2 dst(+8 +1) src(+4 +2) wgt(+0 +0)",
		"gemm  uop=0:2 loop 3x2 dst(+8 +1) src(+4 +2) wgt(+0 +0)",
		"alu.mul  uop=0:2 loop 3x2 dst(+8 +1) src(+4 +2)",
		"alu.min  uop=0:2 loop 3x2 dst(+8 +1) src(+4 +2) imm=-7",
		"requant  uop=0:2 loop 3x2 dst(+8 +1) src(+4 +2)",
		"vmac  uop=0:2 loop 3x2 dst(+8 +1) src(+4 +2) wgt(+0 +0)",
		"vmac.reset  uop=0:2 loop 3x2 dst(+8 +1) src(+4 +2) wgt(+0 +0)",
		"lut  uop=0:2 loop 3x2 dst(+8 +1) src(+4 +2) table=77",
		"pad_value.load  -3",
		"store.out  sram=100 dram=r5+0x1  2x2 stride 4",
		"finish");
	assert_int_equal(out.uop_count, 2);
	/* 100 + 200 * 2048, and the next: little endian. */
	assert_memory_equal(out.uops, "\x64\x40\x06\x00\x65\x48\x06\x00", 8);
	npu_builder_free(b);
}

static void test_kernels_are_shared(void **state)
{
	struct npu_builder *b = new_builder(NULL);
	struct npu_builder_output out;
	int first = one_uop(b, 1, 2, 3), other = one_uop(b, 1, 2, 4), looped;
	(void)state;

	assert_int_equal(first, 0);
	assert_int_equal(other, 1);
	assert_int_equal(one_uop(b, 1, 2, 3), first);
	npu_builder_kernel_begin(b);
	npu_builder_loop(b, 1, 5, 5, 5);	/* runs once: its factors do not matter */
	npu_builder_uop(b, 1, 2, 3);
	assert_int_equal(npu_builder_kernel_end(b), first);
	npu_builder_kernel_begin(b);
	npu_builder_loop(b, 2, 5, 5, 5);
	npu_builder_uop(b, 1, 2, 3);
	looped = npu_builder_kernel_end(b);
	assert_int_equal(looped, 2);
	npu_builder_gemm(b, first, false);
	npu_builder_gemm(b, looped, false);
	npu_builder_gemm(b, first, false);
	npu_builder_gemm(b, other, false);
	npu_builder_gemm(b, first, false);
	out = finish(b);
	ASSERT_PROGRAM(&out,
		"load.uop  sram=0 dram=0x0  1x1 stride 1",
		"gemm  uop=0:1 loop 1x1 dst(+0 +0) src(+0 +0) wgt(+0 +0)",
		"gemm  uop=0:1 loop 1x2 dst(+0 +5) src(+0 +5) wgt(+0 +5)",
		"gemm  uop=0:1 loop 1x1 dst(+0 +0) src(+0 +0) wgt(+0 +0)",
		"load.uop  sram=1 dram=0x1  1x1 stride 1",
		"gemm  uop=1:2 loop 1x1 dst(+0 +0) src(+0 +0) wgt(+0 +0)",
		"gemm  uop=0:1 loop 1x1 dst(+0 +0) src(+0 +0) wgt(+0 +0)",
		"finish");
	assert_int_equal(out.uop_count, 2);
	npu_builder_free(b);
}

/* Plays a program's LOADs of UOP, and compares what each GEMM finds there. */
struct uop_player {
	uint32_t uop[NPU_UOP_DEPTH];
	size_t loads;
};

static void play_load(struct uop_player *p, const struct npu_builder_output *out,
		      const struct npu_insn_mem *mem)
{
	assert_int_equal(mem->memory, NPU_MEM_UOP);
	assert_int_equal(mem->y_size, 1);
	assert_true(mem->dram_base + mem->x_size <= (int64_t)out->uop_count);
	assert_true(mem->sram_base + mem->x_size <= NPU_UOP_DEPTH);
	memcpy(p->uop + mem->sram_base, (const uint32_t *)out->uops + mem->dram_base,
	       (size_t)mem->x_size * sizeof(*p->uop));
	p->loads++;
}

/* Kernel k is a list of lengths[k] micro-ops (dst, src, wgt) = (k, i, k). */
static void record(struct npu_builder *b, int k, int length)
{
	npu_builder_kernel_begin(b);
	for (int i = 0; i < length; i++)
		npu_builder_uop(b, k, i, k);
	assert_int_equal(npu_builder_kernel_end(b), k);
}

static void check_gemm(const struct uop_player *p, const struct npu_insn_gemm *gemm, int k,
		       int length)
{
	assert_int_equal(gemm->uop_end - gemm->uop_bgn, length);
	for (int i = 0; i < length; i++) {
		struct npu_uop uop = npu_uop_unpack(p->uop[gemm->uop_bgn + i]);

		assert_true(uop.dst == k && uop.src == i && uop.wgt == k);
	}
}

static void run_eviction(unsigned int depth, uint64_t seed)
{
	enum { KERNELS = 40, USES = 400 };
	struct npu_builder *b = new_builder(&(struct npu_builder_config){ .uop_depth = depth });
	struct uop_player *player = calloc(1, sizeof(*player));
	struct random r = { seed };
	struct npu_builder_output out;
	int lengths[KERNELS], used[USES], next = 0;

	assert_non_null(player);
	for (int k = 0; k < KERNELS; k++) {
		lengths[k] = (int)random_range(&r, 1, depth > 600 ? 600 : (int)depth);
		record(b, k, lengths[k]);
	}
	for (int i = 0; i < USES; i++) {
		used[i] = (int)random_below(&r, KERNELS);
		assert_int_equal(npu_builder_gemm(b, used[i], false), 0);
	}
	out = finish(b);
	for (size_t i = 0; i < out.insn_count - 1; i++) {
		struct npu_insn insn = insn_at(&out, i);

		if (insn.format == NPU_FORMAT_MEM) {
			assert_true(insn.mem.sram_base + insn.mem.x_size <= depth);
			play_load(player, &out, &insn.mem);
			continue;
		}
		check_gemm(player, &insn.gemm, used[next], lengths[used[next]]);
		next++;
	}
	assert_int_equal(next, USES);
	assert_in_range(player->loads, 1, USES);
	free(player);
	npu_builder_free(b);
}

static void test_eviction(void **state)
{
	(void)state;
	run_eviction(16, 1);
	run_eviction(64, 2);
	run_eviction(2048, 3);
	run_eviction(8192, 4);
}

static void test_preload(void **state)
{
	struct npu_builder *b = new_builder(NULL);
	struct npu_builder_output out;
	(void)state;

	assert_int_equal(npu_builder_preload(b), 0);
	record(b, 0, 3);
	record(b, 1, 2);
	npu_builder_preload(b);
	npu_builder_gemm(b, 1, false);
	npu_builder_gemm(b, 0, false);
	record(b, 2, 2);
	npu_builder_gemm(b, 2, false);
	out = finish(b);
	ASSERT_PROGRAM(&out,
		"load.uop  sram=0 dram=0x0  1x5 stride 5",
		"gemm  uop=3:5 loop 1x1 dst(+0 +0) src(+0 +0) wgt(+0 +0)",
		"gemm  uop=0:3 loop 1x1 dst(+0 +0) src(+0 +0) wgt(+0 +0)",
		"load.uop  sram=5 dram=0x5  1x2 stride 2",
		"gemm  uop=5:7 loop 1x1 dst(+0 +0) src(+0 +0) wgt(+0 +0)",
		"finish");
	npu_builder_free(b);
}

static void test_preload_too_large(void **state)
{
	struct npu_builder *b = new_builder(&(struct npu_builder_config){ .uop_depth = 4 });
	struct npu_builder_output out;
	(void)state;

	record(b, 0, 3);
	record(b, 1, 2);
	assert_int_equal(npu_builder_preload(b), 0);
	out = finish(b);
	ASSERT_PROGRAM(&out, "finish");
	npu_builder_free(b);
}

static void test_yield_empties_uop_memory(void **state)
{
	struct npu_builder *b = new_builder(NULL);
	struct npu_builder_output out;
	(void)state;

	record(b, 0, 1);
	npu_builder_gemm(b, 0, true);
	npu_builder_yield(b);
	npu_builder_gemm(b, 0, true);
	npu_builder_emit(b, &(struct npu_insn){
		.format = NPU_FORMAT_MEM,
		.mem = { .memory = NPU_MEM_UOP, .y_size = 1, .x_size = 1 },
	});
	npu_builder_gemm(b, 0, true);
	out = finish(b);
	ASSERT_PROGRAM(&out,
		"load.uop  sram=0 dram=0x0  1x1 stride 1",
		"gemm.reset  uop=0:1 loop 1x1 dst(+0 +0) src(+0 +0) wgt(+0 +0)",
		"yield",
		"load.uop  sram=0 dram=0x0  1x1 stride 1",
		"gemm.reset  uop=0:1 loop 1x1 dst(+0 +0) src(+0 +0) wgt(+0 +0)",
		"load.uop  sram=0 dram=0x0  1x1 stride 0",
		"load.uop  sram=0 dram=0x0  1x1 stride 1",
		"gemm.reset  uop=0:1 loop 1x1 dst(+0 +0) src(+0 +0) wgt(+0 +0)",
		"finish");
	npu_builder_free(b);
}

static void test_tokens(void **state)
{
	struct npu_builder *b = new_builder(NULL);
	struct npu_builder_output out;
	(void)state;

	load(b, NPU_MEM_INP);
	npu_builder_dep_push(b, L, C);
	npu_builder_dep_pop(b, L, C);
	record(b, 0, 1);
	npu_builder_gemm(b, 0, false);
	npu_builder_dep_push(b, C, L);
	npu_builder_dep_push(b, C, S);
	npu_builder_dep_pop(b, C, S);
	npu_builder_dep_pop(b, C, L);
	store(b);
	npu_builder_dep_push(b, S, C);
	npu_builder_dep_pop(b, S, C);
	out = finish(b);
	ASSERT_PROGRAM(&out,
		"load.inp  sram=0 dram=0x0  1x1 stride 1 [push compute]",
		"load.uop  sram=0 dram=0x0  1x1 stride 1",
		"gemm  uop=0:1 loop 1x1 dst(+0 +0) src(+0 +0) wgt(+0 +0) "
		"[pop load, push load, push store]",
		"store.out  sram=0 dram=0x0  1x1 stride 1 [pop compute, push compute]",
		"load.inp  sram=0 dram=0x0  0x0 stride 0 [pop compute]",
		"finish [pop store]");
	npu_builder_free(b);
}

/* Where no instruction can carry a flag, one is made. */
static void test_token_movers(void **state)
{
	struct npu_builder *b = new_builder(NULL);
	struct npu_builder_output out;
	(void)state;

	npu_builder_dep_push(b, C, L);		/* no instruction yet */
	npu_builder_dep_push(b, C, L);		/* it pushes already */
	npu_builder_dep_pop(b, C, L);
	npu_builder_dep_pop(b, C, L);		/* one pop an instruction */
	npu_builder_dep_push(b, L, C);		/* the pop comes first */
	load(b, NPU_MEM_WGT);
	npu_builder_dep_pop(b, L, C);
	npu_builder_dep_push(b, C, S);
	npu_builder_dep_pop(b, C, S);
	out = finish(b);
	ASSERT_PROGRAM(&out,
		"load.uop  sram=0 dram=0x0  0x0 stride 0 [push load]",
		"load.uop  sram=0 dram=0x0  0x0 stride 0 [push load]",
		"load.inp  sram=0 dram=0x0  0x0 stride 0 [pop compute]",
		"load.inp  sram=0 dram=0x0  0x0 stride 0 [pop compute, push compute]",
		"load.wgt  sram=0 dram=0x0  1x1 stride 1",
		"load.uop  sram=0 dram=0x0  0x0 stride 0 [pop load, push store]",
		"store.out  sram=0 dram=0x0  0x0 stride 0 [pop compute]",
		"finish");
	npu_builder_free(b);
}

static void test_tokens_and_yield(void **state)
{
	struct npu_builder *b = new_builder(NULL);
	struct npu_builder_output out;
	(void)state;

	load(b, NPU_MEM_INP);
	npu_builder_dep_push(b, L, C);
	npu_builder_dep_pop(b, L, C);
	npu_builder_dep_push(b, C, S);
	npu_builder_dep_pop(b, C, S);
	npu_builder_yield(b);
	npu_builder_dep_push(b, L, C);
	npu_builder_dep_pop(b, L, C);
	out = finish(b);
	ASSERT_PROGRAM(&out,
		"load.inp  sram=0 dram=0x0  1x1 stride 1 [push compute]",
		"load.uop  sram=0 dram=0x0  0x0 stride 0 [pop load, push store]",
		"store.out  sram=0 dram=0x0  0x0 stride 0 [pop compute]",
		"yield",
		"load.inp  sram=0 dram=0x0  0x0 stride 0 [push compute]",
		"finish [pop load]");
	npu_builder_free(b);
}

/* Flags that the caller set himself are counted, too. */
static void test_own_flags(void **state)
{
	struct npu_builder *b = new_builder(NULL);
	struct npu_builder_output out;
	(void)state;

	load(b, NPU_MEM_INP);
	npu_builder_dep_push(b, L, C);
	npu_builder_dep_push(b, L, C);
	npu_builder_dep_pop(b, L, C);
	npu_builder_load(b, &(struct npu_insn_mem){ .memory = NPU_MEM_ACC, .pop_prev = 1 });
	out = finish(b);
	ASSERT_PROGRAM(&out,
		"load.inp  sram=0 dram=0x0  1x1 stride 1 [push compute]",
		"load.inp  sram=0 dram=0x0  0x0 stride 0 [push compute]",
		"load.uop  sram=0 dram=0x0  0x0 stride 0 [pop load]",
		"load.acc  sram=0 dram=0x0  0x0 stride 0 [pop load]",
		"finish");
	npu_builder_free(b);
}

static void test_deadlock(void **state)
{
	struct npu_builder *b = new_builder(NULL);
	struct npu_builder_output out;
	(void)state;

	load(b, NPU_MEM_INP);
	npu_builder_dep_pop(b, C, S);
	store(b);
	assert_int_equal(npu_builder_finish(b, &out), -EDEADLK);
	assert_failed(b, -EDEADLK, "instruction 1 waits for ever: store.out");
}

#define ASSERT_REFUSED(call, code, text) \
	do { \
		struct npu_builder *b = new_builder(&config); \
		assert_int_equal(call, code); \
		assert_failed(b, code, text); \
	} while (0)

static void test_refused_transfers(void **state)
{
	const struct npu_builder_config config = { .features = 0 };
	(void)state;

	ASSERT_REFUSED(load(b, NPU_MEM_UOP), -EINVAL, "micro-ops");
	ASSERT_REFUSED(load(b, NPU_MEM_OUT), -EINVAL, "LOAD moves");
	ASSERT_REFUSED(load(b, 6), -EINVAL, "LOAD moves");
	ASSERT_REFUSED(load(b, 8), -ERANGE, "memory is 8, not in 0 to 7");
	ASSERT_REFUSED(npu_builder_load(b, &(struct npu_insn_mem){
		.memory = NPU_MEM_INP, .sram_base = 2047, .y_size = 1, .x_size = 1, .x_pad_1 = 1,
	}), -ERANGE, "elements 2047 to 2048 leave the SRAM, which has 2048");
	ASSERT_REFUSED(npu_builder_load(b, &(struct npu_insn_mem){
		.memory = NPU_MEM_WGT, .y_size = 1, .x_size = 1025,
	}), -ERANGE, "1024");
	ASSERT_REFUSED(npu_builder_load(b, &(struct npu_insn_mem){
		.memory = NPU_MEM_INP, .dram_base = INT64_C(1) << 32,
	}), -ERANGE, "dram_base is 4294967296");
	ASSERT_REFUSED(npu_builder_load(b, &(struct npu_insn_mem){
		.memory = NPU_MEM_INP, .pad_mode = NPU_PAD_VALUE, .y_size = 1, .x_size = 1,
	}), -EOPNOTSUPP, "PAD_VALUE");
	ASSERT_REFUSED(npu_builder_store(b, &(struct npu_insn_mem){
		.y_size = 2, .x_size = 1025,
	}), -ERANGE, "2049");
	ASSERT_REFUSED(npu_builder_store(b, &(struct npu_insn_mem){ .x_pad_0 = 1 }), -EINVAL,
		       "STORE has no padding");
	ASSERT_REFUSED(npu_builder_yield(b), -EOPNOTSUPP, "YIELD");
	ASSERT_REFUSED(npu_builder_pad_value(b, 0, 0), -EOPNOTSUPP, "PAD_VALUE");
	ASSERT_REFUSED(npu_builder_dep_push(b, L, S), -EINVAL, "tokens pass");
	ASSERT_REFUSED(npu_builder_dep_pop(b, C, C), -EINVAL, "tokens pass");
	ASSERT_REFUSED(npu_builder_dep_pop(b, NPU_UNIT_FETCH, C), -EINVAL, "tokens pass");
}

static void test_refused_recordings(void **state)
{
	const struct npu_builder_config config = { .uop_depth = 2 };
	(void)state;

	ASSERT_REFUSED(npu_builder_uop(b, 0, 0, 0), -EINVAL, "outside a recording");
	ASSERT_REFUSED(npu_builder_loop(b, 1, 0, 0, 0), -EINVAL, "outside a recording");
	ASSERT_REFUSED(npu_builder_kernel_end(b), -EINVAL, "outside a recording");
	ASSERT_REFUSED((npu_builder_kernel_begin(b), npu_builder_kernel_begin(b)), -EINVAL,
		       "being recorded");
	ASSERT_REFUSED((npu_builder_kernel_begin(b), npu_builder_kernel_end(b)), -EINVAL,
		       "no micro-ops");
	ASSERT_REFUSED((npu_builder_kernel_begin(b), store(b)), -EINVAL, "being recorded");
	ASSERT_REFUSED((npu_builder_kernel_begin(b), npu_builder_uop(b, 2048, 0, 0)), -ERANGE,
		       "dst is 2048");
	ASSERT_REFUSED((npu_builder_kernel_begin(b), npu_builder_uop(b, 0, 0, -1)), -ERANGE,
		       "wgt is -1");
	ASSERT_REFUSED((npu_builder_kernel_begin(b), npu_builder_loop(b, 0, 0, 0, 0)), -ERANGE,
		       "extent is 0");
	ASSERT_REFUSED((npu_builder_kernel_begin(b), npu_builder_loop(b, 16384, 0, 0, 0)), -ERANGE,
		       "extent is 16384");
	ASSERT_REFUSED((npu_builder_kernel_begin(b), npu_builder_loop(b, 2, 2048, 0, 0)), -ERANGE,
		       "dst factor is 2048");
	ASSERT_REFUSED((npu_builder_kernel_begin(b), npu_builder_loop(b, 1, 0, 0, 0),
			npu_builder_loop(b, 1, 0, 0, 0), npu_builder_loop(b, 1, 0, 0, 0)), -EINVAL,
		       "third loop");
	ASSERT_REFUSED((npu_builder_kernel_begin(b), npu_builder_uop(b, 0, 0, 0),
			npu_builder_loop(b, 1, 0, 0, 0)), -EINVAL, "after a micro-op");
	ASSERT_REFUSED((npu_builder_kernel_begin(b), npu_builder_uop(b, 0, 0, 0),
			npu_builder_uop(b, 0, 0, 0), npu_builder_uop(b, 0, 0, 0)), -E2BIG,
		       "more than 2 micro-ops");
}

static int looped(struct npu_builder *b, int64_t extent, int64_t dst, int64_t src, int64_t wgt)
{
	npu_builder_kernel_begin(b);
	npu_builder_loop(b, extent, dst, src, wgt);
	npu_builder_uop(b, 0, 0, 0);
	return npu_builder_kernel_end(b);
}

static void test_refused_kernels(void **state)
{
	const struct npu_builder_config config = { .features = 0x1f & ~NPU_HW_FEATURE_LUT };
	(void)state;

	ASSERT_REFUSED(npu_builder_gemm(b, 0, false), -EINVAL, "there is no kernel 0");
	ASSERT_REFUSED(npu_builder_alu(b, -EINVAL, 0), -EINVAL, "there is no kernel -22");
	ASSERT_REFUSED(npu_builder_gemm(b, looped(b, 2049, 1, 0, 0), true), -ERANGE,
		       "dst reaches 2048");
	ASSERT_REFUSED(npu_builder_gemm(b, looped(b, 2049, 0, 1, 0), false), -ERANGE,
		       "src reaches 2048");
	ASSERT_REFUSED(npu_builder_gemm(b, looped(b, 1025, 0, 0, 1), false), -ERANGE,
		       "wgt reaches 1024");
	ASSERT_REFUSED(npu_builder_vmac(b, looped(b, 16383, 0, 0, 2), false), -ERANGE,
		       "wgt reaches 32764, the memory has 16384");
	ASSERT_REFUSED(npu_builder_vmac(b, looped(b, 2, 0, 0, 256), false), -ERANGE,
		       "wgt_factor_in is 256");
	ASSERT_REFUSED(npu_builder_alu(b, looped(b, 2, 0, 0, 1), 0), -EINVAL, "weight factors");
	ASSERT_REFUSED(npu_builder_alu(b, looped(b, 3, 0, 1024, 0), 0), -ERANGE,
		       "src reaches 2048");
	ASSERT_REFUSED(npu_builder_requant(b, one_uop(b, 0, 2046, 0)), -ERANGE,
		       "src reaches 2048");
	ASSERT_REFUSED(npu_builder_alu(b, one_uop(b, 0, 0, 0), 5), -EINVAL, "ALU operation");
	ASSERT_REFUSED(npu_builder_alu_imm(b, one_uop(b, 0, 0, 0), 0, 32768), -ERANGE,
		       "imm is 32768, not in -32768 to 32767");
	ASSERT_REFUSED(npu_builder_lut(b, one_uop(b, 0, 0, 0), 0), -EOPNOTSUPP, "LUT");
}

/* What is not read is not checked. */
static void test_unused_indices(void **state)
{
	struct npu_builder *b = new_builder(NULL);
	(void)state;

	assert_int_equal(npu_builder_gemm(b, looped(b, 3, 0, 1024, 512), true), 0);
	assert_int_equal(npu_builder_vmac(b, looped(b, 2049, 0, 1, 0), true), 0);
	assert_int_equal(npu_builder_alu_imm(b, looped(b, 3, 0, 1024, 0), NPU_ALU_ADD, 1), 0);
	assert_int_equal(npu_builder_requant(b, one_uop(b, 0, 2045, 0)), 0);
	finish(b);
	npu_builder_free(b);
}

/* Encodes token movers: a letter names the unit, the digit its flags. */
static int check_tokens(const char *program, int repeat, size_t *stuck)
{
	size_t count = strlen(program) / 2;
	unsigned char *words = calloc(count * (size_t)repeat + 1, NPU_INSN_BYTES);
	int ret;

	assert_non_null(words);
	for (size_t i = 0; i < count * (size_t)repeat; i++) {
		const char *p = program + i % count * 2;
		unsigned char *word = words + i * NPU_INSN_BYTES;
		unsigned int memory = *p == 'l' ? NPU_MEM_INP :
				      *p == 's' ? NPU_MEM_OUT : NPU_MEM_UOP;
		unsigned int flags = (unsigned int)(p[1] <= '9' ? p[1] - '0' : p[1] - 'a' + 10);

		word[0] = flags << 3 | (memory & 1) << 7 | (*p == 's' ? NPU_OP_STORE : NPU_OP_LOAD);
		word[1] = memory >> 1;
		if (*p == 'y') {
			word[0] = flags << 3 | NPU_OP_EXT;
			word[15] = NPU_EXT_YIELD << 4;
		}
	}
	ret = npu_tokens_check(words, count * (size_t)repeat, stuck);
	free(words);
	return ret;
}

/* Flags: 1 pop_prev, 2 pop_next, 4 push_prev, 8 push_next. */
static void test_tokens_check(void **state)
{
	static const struct {
		const char *program;
		int repeat, ret;
		size_t stuck;
	} cases[] = {
		{ "", 1, 0, 0 },
		{ "l8c1c8s1", 100, 0, 0 },
		{ "c0c1", 1, -EDEADLK, 1 },
		{ "l2c1", 1, -EDEADLK, 0 },		/* each waits for the other */
		{ "s1l2", 1, -EDEADLK, 0 },
		{ "c1l8", 1, 0, 0 },
		{ "l8", 255, 0, 0 },
		{ "l8", 256, -EDEADLK, 255 },		/* no room for the token */
		{ "l4l1s8s2", 300, 0, 0 },		/* flags that are ignored */
		{ "c1", 1, -EDEADLK, 0 },
		/* The compute unit's queue fills and fetch never gets to the load. */
		{ "c1", 512, -EDEADLK, 0 },
		/* YIELD drops tokens, and waits for idle neighbours. */
		{ "l8y0c1", 1, -EDEADLK, 2 },
		{ "l8y1c0", 1, 0, 0 },
		{ "y8s1", 1, -EDEADLK, 1 },
		{ "l2y4", 1, -EDEADLK, 0 },
		{ "l8y0", 300, 0, 0 },
	};
	(void)state;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		size_t stuck = 0;

		assert_int_equal(check_tokens(cases[i].program, cases[i].repeat, &stuck),
				 cases[i].ret);
		assert_int_equal(stuck, cases[i].stuck);
	}
}

/* 512 instructions fit into a unit's queue, one more stops fetch. */
static void test_queue_depth(void **state)
{
	char program[2 * 514 + 1];
	(void)state;

	for (int waiting = 512; waiting <= 513; waiting++) {
		size_t stuck = 99;

		for (int i = 0; i < waiting; i++)
			memcpy(program + 2 * i, i ? "c0" : "c1", 2);
		memcpy(program + 2 * waiting, "l8", 3);
		assert_int_equal(check_tokens(program, 1, &stuck), waiting == 512 ? 0 : -EDEADLK);
		assert_int_equal(stuck, waiting == 512 ? 99 : 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_empty),
		cmocka_unit_test(test_config),
		cmocka_unit_test(test_instructions),
		cmocka_unit_test(test_kernels_are_shared),
		cmocka_unit_test(test_eviction),
		cmocka_unit_test(test_preload),
		cmocka_unit_test(test_preload_too_large),
		cmocka_unit_test(test_yield_empties_uop_memory),
		cmocka_unit_test(test_tokens),
		cmocka_unit_test(test_token_movers),
		cmocka_unit_test(test_tokens_and_yield),
		cmocka_unit_test(test_own_flags),
		cmocka_unit_test(test_deadlock),
		cmocka_unit_test(test_refused_transfers),
		cmocka_unit_test(test_refused_recordings),
		cmocka_unit_test(test_refused_kernels),
		cmocka_unit_test(test_unused_indices),
		cmocka_unit_test(test_tokens_check),
		cmocka_unit_test(test_queue_depth),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
