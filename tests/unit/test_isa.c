// SPDX-License-Identifier: MIT
/* Encoder, decoder and disassembler. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>
#include "tests/oracle/random.h"
#include "userspace/isa/npu_insn.h"
#include "npu_proto.h"
#include "npu_regs.h"

/*
 * The vectors of the manual (hardware/instruction-set.rst). Their words were
 * worked out by hand from the bit tables; no encoder wrote them.
 */
static const struct {
	struct npu_insn insn;
	uint64_t low;
	uint64_t high;
	const char *text;
} vectors[] = {
	{
		{ .format = NPU_FORMAT_MEM,
		  .mem = { .opcode = NPU_OP_LOAD, .memory = NPU_MEM_INP, .dram_base = 0x40,
			   .region = 1, .y_size = 2, .x_size = 16, .x_stride = 32, .y_pad_0 = 1,
			   .x_pad_0 = 1, .pop_next = 1, .push_next = 1 } },
		0x1000000100000150, 0x0101002000100002,
		"load.inp  sram=0 dram=r1+0x40  2x16 stride 32 pad(y0=1 x0=1) "
		"[pop compute, push compute]",
	}, {
		{ .format = NPU_FORMAT_MEM,
		  .mem = { .opcode = NPU_OP_LOAD, .memory = NPU_MEM_ACC, .sram_base = 2047,
			   .dram_base = 0xffffffff, .pad_mode = NPU_PAD_VALUE, .region = 15,
			   .y_size = 65535, .x_size = 65535, .x_stride = 65535, .y_pad_0 = 15,
			   .y_pad_1 = 15, .x_pad_0 = 15, .x_pad_1 = 15 } },
		0xf7fffffffc1ffd80, 0xffffffffffffffff,
		"load.acc  sram=2047 dram=r15+0xffffffff  65535x65535 stride 65535 "
		"pad(y0=15 y1=15 x0=15 x1=15 value)",
	}, {
		{ .format = NPU_FORMAT_MEM,
		  .mem = { .opcode = NPU_OP_STORE, .memory = NPU_MEM_OUT, .sram_base = 5,
			   .dram_base = 3, .y_size = 1, .x_size = 4, .x_stride = 4, .pop_prev = 1,
			   .push_prev = 1 } },
		0x000000000c001629, 0x0000000400040001,
		"store.out  sram=5 dram=0x3  1x4 stride 4 [pop compute, push compute]",
	}, {
		{ .format = NPU_FORMAT_GEMM,
		  .gemm = { .opcode = NPU_OP_GEMM, .uop_bgn = 1, .uop_end = 10, .iter_out = 14,
			    .iter_in = 14, .dst_factor_out = 14, .dst_factor_in = 1,
			    .src_factor_out = 16, .src_factor_in = 1, .wgt_factor_in = 9,
			    .pop_prev = 1, .push_next = 1 } },
		0x001c00700140014a, 0x024000020400080e,
		"gemm  uop=1:10 loop 14x14 dst(+14 +1) src(+16 +1) wgt(+0 +9) "
		"[pop load, push store]",
	}, {
		{ .format = NPU_FORMAT_GEMM,
		  .gemm = { .opcode = NPU_OP_GEMM, .reset = 1, .uop_bgn = 8191, .uop_end = 16383,
			    .iter_out = 16383, .iter_in = 16383, .dst_factor_out = 2047,
			    .dst_factor_in = 2047, .src_factor_out = 2047, .src_factor_in = 2047,
			    .wgt_factor_out = 1023, .wgt_factor_in = 1023 } },
		0x7fffffffffffff82, 0xffffffffffffffff,
		"gemm.reset  uop=8191:16383 loop 16383x16383 dst(+2047 +2047) "
		"src(+2047 +2047) wgt(+1023 +1023)",
	}, {
		{ .format = NPU_FORMAT_ALU,
		  .alu = { .opcode = NPU_OP_ALU, .uop_end = 1, .iter_out = 1, .iter_in = 64,
			   .dst_factor_in = 1, .src_factor_in = 1, .alu_op = NPU_ALU_SHR,
			   .use_imm = 1, .imm = -8 } },
		0x0080000800200004, 0xfff8b00200000800,
		"alu.shr  uop=0:1 loop 1x64 dst(+0 +1) src(+0 +1) imm=-8",
	}, {
		{ .format = NPU_FORMAT_FINISH,
		  .finish = { .opcode = NPU_OP_FINISH, .pop_next = 1, .push_prev = 1 } },
		0x0000000000000033, 0x0000000000000000,
		"finish [pop store, push load]",
	}, {
		{ .format = NPU_FORMAT_YIELD,
		  .yield = { .opcode = NPU_OP_EXT, .ext_op = NPU_EXT_YIELD } },
		0x0000000000000005, 0x1000000000000000,
		"yield",
	}, {
		{ .format = NPU_FORMAT_PAD_VALUE,
		  .pad_value = { .opcode = NPU_OP_EXT, .ext_op = NPU_EXT_PAD_VALUE,
				 .unit = NPU_PAD_UNIT_COMPUTE, .value = -128 } },
		0xffffff8000000085, 0x2000000000000000,
		"pad_value.compute  -128",
	}, {
		{ .format = NPU_FORMAT_REQUANT,
		  .requant = { .opcode = NPU_OP_EXT, .ext_op = NPU_EXT_REQUANT, .uop_bgn = 2,
			       .uop_end = 3, .iter_out = 1, .iter_in = 196,
			       .dst_factor_in = 1 } },
		0x0188000800600205, 0x3000000000000800,
		"requant  uop=2:3 loop 1x196 dst(+0 +1) src(+0 +0)",
	}, {
		{ .format = NPU_FORMAT_VMAC,
		  .vmac = { .opcode = NPU_OP_EXT, .ext_op = NPU_EXT_VMAC, .uop_end = 9,
			    .iter_out = 7, .iter_in = 7, .dst_factor_out = 7, .dst_factor_in = 1,
			    .src_factor_out = 16, .src_factor_in = 2, .wgt_factor_out = 1,
			    .wgt_factor_in = 255 } },
		0x000e003801200005, 0x4ff0100404000807,
		"vmac  uop=0:9 loop 7x7 dst(+7 +1) src(+16 +2) wgt(+1 +255)",
	}, {
		{ .format = NPU_FORMAT_LUT,
		  .lut = { .opcode = NPU_OP_EXT, .ext_op = NPU_EXT_LUT, .uop_bgn = 4, .uop_end = 5,
			   .iter_out = 2, .iter_in = 32, .dst_factor_out = 32, .dst_factor_in = 1,
			   .src_factor_out = 32, .src_factor_in = 1, .table = 1023 } },
		0x0040001000a00405, 0x503ff00208000820,
		"lut  uop=4:5 loop 2x32 dst(+32 +1) src(+32 +1) table=1023",
	},
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static void put_word(unsigned char *word, uint64_t low, uint64_t high)
{
	for (int i = 0; i < 8; i++) {
		word[i] = low >> 8 * i & 0xff;
		word[8 + i] = high >> 8 * i & 0xff;
	}
}

static void decode_words(uint64_t low, uint64_t high, struct npu_insn *insn)
{
	unsigned char word[NPU_INSN_BYTES];

	put_word(word, low, high);
	npu_insn_decode(word, insn);
}

static void test_vectors_encode(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(vectors); i++) {
		unsigned char wanted[NPU_INSN_BYTES], got[NPU_INSN_BYTES + 1] = { 0 };
		struct npu_isa_error err = { "", 0, 0, 0 };

		put_word(wanted, vectors[i].low, vectors[i].high);
		got[NPU_INSN_BYTES] = 0xa5;
		assert_int_equal(npu_insn_encode(&vectors[i].insn, got, &err), 0);
		assert_memory_equal(got, wanted, NPU_INSN_BYTES);
		assert_int_equal(got[NPU_INSN_BYTES], 0xa5);
	}
}

static void test_vectors_decode(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(vectors); i++) {
		struct npu_insn insn;

		decode_words(vectors[i].low, vectors[i].high, &insn);
		assert_memory_equal(&insn, &vectors[i].insn, sizeof(insn));
	}
}

static void test_vectors_print(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(vectors); i++) {
		char text[NPU_INSN_PRINT_MAX];
		int length = npu_insn_print(&vectors[i].insn, text, sizeof(text));

		assert_string_equal(text, vectors[i].text);
		assert_int_equal(length, strlen(text));
	}
}

static void test_uop_vectors(void **state)
{
	static const struct {
		struct npu_uop uop;
		uint32_t word;
	} uops[] = {
		{ { 0, 0, 0 }, 0 },
		{ { 1, 2, 3 }, 0x00c01001 },
		{ { 2047, 0, 0 }, 0x000007ff },
		{ { 0, 2047, 0 }, 0x003ff800 },
		{ { 0, 0, 1023 }, 0xffc00000 },
	};
	(void)state;

	for (size_t i = 0; i < COUNT(uops); i++) {
		struct npu_uop back = npu_uop_unpack(uops[i].word);
		uint32_t word;

		assert_int_equal(npu_uop_pack(&uops[i].uop, &word, NULL), 0);
		assert_int_equal(word, uops[i].word);
		assert_memory_equal(&back, &uops[i].uop, sizeof(back));
	}
}

static void test_bounds_vectors(void **state)
{
	static const struct {
		struct npu_requant_bounds bounds;
		uint32_t word;
	} lanes[] = {
		{ { -3, -125, 130 }, 0x082e0ffd },
		{ { 511, -512, 511 }, 0x1ff801ff },
		{ { -512, -1, 0 }, 0x000ffe00 },
	};
	(void)state;

	for (size_t i = 0; i < COUNT(lanes); i++) {
		struct npu_requant_bounds back = npu_requant_bounds_unpack(lanes[i].word);
		uint32_t word;

		assert_int_equal(npu_requant_bounds_pack(&lanes[i].bounds, &word, NULL), 0);
		assert_int_equal(word, lanes[i].word);
		assert_memory_equal(&back, &lanes[i].bounds, sizeof(back));
	}
	/* The two upper bits are nobody's. */
	assert_int_equal(npu_requant_bounds_unpack(0xc82e0ffd).hi, 130);
}

/* A format's fields, as the contract lists them: an independent walk. */
struct field {
	const char *name;
	int width;
	bool sign;
	size_t offset;
};

#define FIELD_LIST(upper, name_) \
	static const struct field name_##_list[] = { NPU_FMT_##upper##_FIELDS(ENTRY) { 0 } }
#define ENTRY(name, word, shift, width, sign) \
	{ #name, width, sign, offsetof(struct npu_insn, PART.name) },
#define PART mem
FIELD_LIST(MEM, mem);
#undef PART
#define PART gemm
FIELD_LIST(GEMM, gemm);
#undef PART
#define PART alu
FIELD_LIST(ALU, alu);
#undef PART
#define PART finish
FIELD_LIST(FINISH, finish);
#undef PART
#define PART yield
FIELD_LIST(YIELD, yield);
#undef PART
#define PART pad_value
FIELD_LIST(PAD_VALUE, pad_value);
#undef PART
#define PART requant
FIELD_LIST(REQUANT, requant);
#undef PART
#define PART vmac
FIELD_LIST(VMAC, vmac);
#undef PART
#define PART lut
FIELD_LIST(LUT, lut);
#undef PART

static const struct {
	const struct field *fields;
	int64_t opcode;
	int64_t ext_op;
} formats[] = {
	[NPU_FORMAT_MEM] = { mem_list, NPU_OP_LOAD, 0 },
	[NPU_FORMAT_GEMM] = { gemm_list, NPU_OP_GEMM, 0 },
	[NPU_FORMAT_ALU] = { alu_list, NPU_OP_ALU, 0 },
	[NPU_FORMAT_FINISH] = { finish_list, NPU_OP_FINISH, 0 },
	[NPU_FORMAT_YIELD] = { yield_list, NPU_OP_EXT, NPU_EXT_YIELD },
	[NPU_FORMAT_PAD_VALUE] = { pad_value_list, NPU_OP_EXT, NPU_EXT_PAD_VALUE },
	[NPU_FORMAT_REQUANT] = { requant_list, NPU_OP_EXT, NPU_EXT_REQUANT },
	[NPU_FORMAT_VMAC] = { vmac_list, NPU_OP_EXT, NPU_EXT_VMAC },
	[NPU_FORMAT_LUT] = { lut_list, NPU_OP_EXT, NPU_EXT_LUT },
};

static int64_t lowest(const struct field *f)
{
	return f->sign ? -(INT64_C(1) << (f->width - 1)) : 0;
}

static int64_t highest(const struct field *f)
{
	return (INT64_C(1) << (f->width - f->sign)) - 1;
}

static void set(struct npu_insn *insn, const struct field *f, int64_t value)
{
	memcpy((char *)insn + f->offset, &value, sizeof(value));
}

static bool selects(const struct field *f)
{
	return !strcmp(f->name, "opcode") || !strcmp(f->name, "ext_op");
}

static void blank(unsigned int format, struct npu_insn *insn)
{
	memset(insn, 0, sizeof(*insn));
	insn->format = format;
	for (const struct field *f = formats[format].fields; f->name; f++)
		if (selects(f))
			set(insn, f, f->name[0] == 'o' ? formats[format].opcode :
							 formats[format].ext_op);
}

static void assert_round_trip(const struct npu_insn *insn)
{
	unsigned char word[NPU_INSN_BYTES], again[NPU_INSN_BYTES];
	char text[NPU_INSN_PRINT_MAX];
	struct npu_insn back;

	assert_int_equal(npu_insn_encode(insn, word, NULL), 0);
	npu_insn_decode(word, &back);
	assert_memory_equal(&back, insn, sizeof(back));
	assert_int_equal(npu_insn_encode(&back, again, NULL), 0);
	assert_memory_equal(again, word, sizeof(word));
	assert_in_range(npu_insn_print(insn, text, sizeof(text)), 1, sizeof(text) - 1);
}

static void test_round_trip_random(void **state)
{
	struct random r = { 1 };
	(void)state;

	for (int round = 0; round < 2000; round++) {
		for (unsigned int format = 0; format < NPU_FORMAT_RESERVED; format++) {
			struct npu_insn insn;

			blank(format, &insn);
			for (const struct field *f = formats[format].fields; f->name; f++)
				if (!selects(f))
					set(&insn, f, random_range(&r, lowest(f), highest(f)));
			assert_round_trip(&insn);
		}
	}
}

static void test_round_trip_extremes(void **state)
{
	(void)state;
	for (unsigned int format = 0; format < NPU_FORMAT_RESERVED; format++) {
		for (const struct field *f = formats[format].fields; f->name; f++) {
			struct npu_insn insn;

			if (selects(f))
				continue;
			blank(format, &insn);
			set(&insn, f, lowest(f));
			assert_round_trip(&insn);
			set(&insn, f, highest(f));
			assert_round_trip(&insn);
		}
	}
}

static void assert_refused(const struct npu_insn *insn, const struct field *f, int64_t value)
{
	unsigned char word[NPU_INSN_BYTES], before[NPU_INSN_BYTES];
	struct npu_isa_error err;

	memset(word, 0x5a, sizeof(word));
	memcpy(before, word, sizeof(word));
	assert_int_equal(npu_insn_encode(insn, word, &err), -ERANGE);
	assert_string_equal(err.field, f->name);
	assert_true(err.value == value);
	assert_true(err.min == lowest(f) && err.max == highest(f));
	assert_memory_equal(word, before, sizeof(word));
}

static void test_out_of_range(void **state)
{
	(void)state;
	for (unsigned int format = 0; format < NPU_FORMAT_RESERVED; format++) {
		for (const struct field *f = formats[format].fields; f->name; f++) {
			const int64_t bad[] = { highest(f) + 1, lowest(f) - 1, INT64_MAX, INT64_MIN,
						INT64_C(1) << 32 };
			struct npu_insn insn;

			for (size_t i = 0; i < COUNT(bad); i++) {
				blank(format, &insn);
				set(&insn, f, bad[i]);
				assert_refused(&insn, f, bad[i]);
			}
		}
	}
}

static void test_uop_out_of_range(void **state)
{
	const struct npu_uop uops[] = {
		{ 2048, 0, 0 }, { 0, 2048, 0 }, { 0, 0, 1024 }, { -1, 0, 0 },
	};
	const char *const names[] = { "dst", "src", "wgt", "dst" };
	uint32_t word = 7;
	(void)state;

	for (size_t i = 0; i < COUNT(uops); i++) {
		struct npu_isa_error err;

		assert_int_equal(npu_uop_pack(&uops[i], &word, &err), -ERANGE);
		assert_string_equal(err.field, names[i]);
		assert_int_equal(word, 7);
	}
	assert_int_equal(npu_requant_bounds_pack(&(struct npu_requant_bounds){ 512, 0, 0 }, &word,
						 NULL), -ERANGE);
	assert_int_equal(npu_requant_bounds_pack(&(struct npu_requant_bounds){ 0, -513, 0 }, &word,
						 NULL), -ERANGE);
}

static void test_contradictions(void **state)
{
	unsigned char word[NPU_INSN_BYTES];
	struct npu_isa_error err;
	struct npu_insn insn;
	(void)state;

	blank(NPU_FORMAT_GEMM, &insn);
	insn.gemm.opcode = NPU_OP_ALU;
	assert_int_equal(npu_insn_encode(&insn, word, &err), -EINVAL);
	assert_string_equal(err.field, "opcode");
	blank(NPU_FORMAT_LUT, &insn);
	insn.lut.ext_op = NPU_EXT_VMAC;
	assert_int_equal(npu_insn_encode(&insn, word, &err), -EINVAL);
	assert_string_equal(err.field, "ext_op");
	blank(NPU_FORMAT_FINISH, &insn);
	insn.unnamed[0] = 8;
	assert_int_equal(npu_insn_encode(&insn, word, &err), -EINVAL);
	assert_string_equal(err.field, "unnamed");
	memset(&insn, 0, sizeof(insn));
	insn.format = NPU_FORMAT_RESERVED + 1;
	assert_int_equal(npu_insn_encode(&insn, word, &err), -EINVAL);
	assert_string_equal(err.field, "format");
	/* A word that is an instruction is not a reserved one. */
	memset(&insn, 0, sizeof(insn));
	insn.format = NPU_FORMAT_RESERVED;
	assert_int_equal(npu_insn_encode(&insn, word, NULL), -EINVAL);
}

/* Decoding loses nothing, whatever the 16 bytes are. */
static void test_any_word(void **state)
{
	struct random r = { 2 };
	(void)state;

	for (int i = 0; i < 50000; i++) {
		unsigned char word[NPU_INSN_BYTES], again[NPU_INSN_BYTES];
		char text[NPU_INSN_PRINT_MAX];
		struct npu_insn insn;

		put_word(word, random_u64(&r), random_u64(&r));
		npu_insn_decode(word, &insn);
		assert_int_equal(npu_insn_encode(&insn, again, NULL), 0);
		assert_memory_equal(again, word, sizeof(word));
		assert_in_range(npu_insn_print(&insn, text, sizeof(text)), 1, sizeof(text) - 1);
	}
}

static void test_reserved_words(void **state)
{
	static const struct {
		uint64_t low, high;
		enum npu_format format;
		int check;
	} words[] = {
		{ 6, 0, NPU_FORMAT_RESERVED, -EINVAL },
		{ 7, 0, NPU_FORMAT_RESERVED, -EINVAL },
		{ 5, 0, NPU_FORMAT_RESERVED, -EINVAL },
		{ 5, 0x6000000000000000, NPU_FORMAT_RESERVED, -EINVAL },
		{ 5, 0xf000000000000000, NPU_FORMAT_RESERVED, -EINVAL },
		/* Base set: bits that no field names do not matter, in EXT they do. */
		{ 0x8000000000000002, 0, NPU_FORMAT_GEMM, 0 },
		{ 0xffffffffffffff83, ~UINT64_C(0), NPU_FORMAT_FINISH, 0 },
		{ 5, 0x1000000000000001, NPU_FORMAT_YIELD, -EINVAL },
		{ 0x8000000000000005, 0x4000000000000000, NPU_FORMAT_VMAC, -EINVAL },
		{ 0x85, 0x3000000000000000, NPU_FORMAT_REQUANT, -EINVAL },
		{ 4, 0x0000500000000000, NPU_FORMAT_ALU, -EINVAL },
		/* Pad modes 1 to 3; without elements LOAD does not look at them. */
		{ 0x0800000000000100, 0x10000, NPU_FORMAT_MEM, -EINVAL },
		{ 0x0400000000000000, 0x10000, NPU_FORMAT_MEM, -EINVAL },
		{ 0x0400000000000100, 0x10000, NPU_FORMAT_MEM, 0 },
		{ 0x0c00000000000100, 0, NPU_FORMAT_MEM, 0 },
		{ 0x200, 0, NPU_FORMAT_MEM, -EINVAL },			/* LOAD of OUT */
		{ 0x300, 0, NPU_FORMAT_MEM, -EINVAL },
		{ 0x181, 0, NPU_FORMAT_MEM, -EINVAL },			/* STORE of ACC */
		{ 0x201, 0x0001000000000000, NPU_FORMAT_MEM, -EINVAL },	/* STORE, y_pad_0 */
		{ 0x0400000000000201, 0, NPU_FORMAT_MEM, -EINVAL },
	};
	(void)state;

	for (size_t i = 0; i < COUNT(words); i++) {
		const char *why = "unset";
		struct npu_insn insn;

		decode_words(words[i].low, words[i].high, &insn);
		assert_int_equal(insn.format, words[i].format);
		assert_int_equal(npu_insn_check(&insn, 0x1f, &why), words[i].check);
		assert_true(!why == !words[i].check);
	}
}

static void test_features(void **state)
{
	static const uint64_t feature[] = {
		[NPU_FORMAT_YIELD] = NPU_HW_FEATURE_YIELD,
		[NPU_FORMAT_PAD_VALUE] = NPU_HW_FEATURE_PAD_VALUE,
		[NPU_FORMAT_REQUANT] = NPU_HW_FEATURE_REQUANT,
		[NPU_FORMAT_VMAC] = NPU_HW_FEATURE_VMAC,
		[NPU_FORMAT_LUT] = NPU_HW_FEATURE_LUT,
	};
	struct npu_insn insn;
	(void)state;

	for (unsigned int format = NPU_FORMAT_YIELD; format < NPU_FORMAT_RESERVED; format++) {
		blank(format, &insn);
		assert_int_equal(npu_insn_check(&insn, feature[format], NULL), 0);
		assert_int_equal(npu_insn_check(&insn, ~feature[format], NULL), -EOPNOTSUPP);
	}
	blank(NPU_FORMAT_MEM, &insn);
	insn.mem.memory = NPU_MEM_ACC8;
	insn.mem.pad_mode = NPU_PAD_VALUE;
	insn.mem.x_size = 1;
	assert_int_equal(npu_insn_check(&insn, NPU_HW_FEATURE_PAD_VALUE, NULL), 0);
	assert_int_equal(npu_insn_check(&insn, ~(uint64_t)NPU_HW_FEATURE_PAD_VALUE, NULL),
			 -EOPNOTSUPP);
}

static void test_units_and_tokens(void **state)
{
	static const struct {
		uint64_t low, high;
		unsigned int unit;
		const char *text;
	} words[] = {
		{ 0x78 | NPU_MEM_INP << 7, 0, NPU_UNIT_LOAD, "[pop compute, push compute]" },
		{ 0x78 | NPU_MEM_WGT << 7, 0, NPU_UNIT_LOAD, "[pop compute, push compute]" },
		{ 0x79 | NPU_MEM_OUT << 7, 0, NPU_UNIT_STORE, "[pop compute, push compute]" },
		{ 0x78 | NPU_MEM_UOP << 7, 0, NPU_UNIT_COMPUTE,
		  "[pop load, pop store, push load, push store]" },
		{ 0x78 | NPU_MEM_ACC8 << 7, 0, NPU_UNIT_COMPUTE,
		  "[pop load, pop store, push load, push store]" },
		{ 0x78 | 7 << 7, 0, NPU_UNIT_COMPUTE,
		  "[pop load, pop store, push load, push store]" },
		{ 0x7a, 0, NPU_UNIT_COMPUTE, "[pop load, pop store, push load, push store]" },
		{ 0x0b, 0, NPU_UNIT_COMPUTE, "[pop load]" },
		{ 0x1c, 0, NPU_UNIT_COMPUTE, "[pop load, pop store]" },
		{ 0x2d, 0x1000000000000000, NPU_UNIT_COMPUTE, "[pop load, push load]" },
		{ 0x7d, 0x2000000000000000, NPU_UNIT_LOAD, "[pop compute, push compute]" },
		{ 0xcd, 0x2000000000000000, NPU_UNIT_COMPUTE, "[pop load, push store]" },
		{ 0x4e, 0, NPU_UNIT_COMPUTE, "[pop load, push store]" },
	};
	(void)state;

	for (size_t i = 0; i < COUNT(words); i++) {
		char text[NPU_INSN_PRINT_MAX];
		struct npu_insn insn;

		decode_words(words[i].low, words[i].high, &insn);
		assert_int_equal(npu_insn_unit(&insn), words[i].unit);
		npu_insn_print(&insn, text, sizeof(text));
		assert_non_null(strstr(text, " ["));
		assert_string_equal(strstr(text, " [") + 1, words[i].text);
	}
}

static void test_print_bounded(void **state)
{
	const struct npu_insn *insn = &vectors[0].insn;
	int length = (int)strlen(vectors[0].text);
	char text[NPU_INSN_PRINT_MAX];
	struct npu_insn reserved;
	(void)state;

	for (int size = 1; size <= length + 1; size++) {
		memset(text, '#', sizeof(text));
		assert_int_equal(npu_insn_print(insn, text, (size_t)size), length);
		assert_int_equal(strlen(text), size - 1);
		assert_memory_equal(text, vectors[0].text, (size_t)size - 1);
		assert_int_equal(text[size], '#');
	}
	assert_int_equal(npu_insn_print(insn, NULL, 0), length);
	decode_words(6, 1, &reserved);
	npu_insn_print(&reserved, text, sizeof(text));
	assert_string_equal(text, "reserved  0x0000000000000006 0x0000000000000001");
	decode_words(0x8000000000000002, 0, &reserved);
	npu_insn_print(&reserved, text, sizeof(text));
	assert_non_null(strstr(text, "unnamed=0x0000000000000000:0x8000000000000000"));
	npu_uop_print(0x00c01001, text, sizeof(text));
	assert_string_equal(text, "dst=1 src=2 wgt=3");
}

static void test_add_tokens(void **state)
{
	struct npu_insn insn;
	struct npu_tokens tokens;
	(void)state;

	for (unsigned int format = NPU_FORMAT_GEMM; format < NPU_FORMAT_RESERVED; format++) {
		blank(format, &insn);
		if (format == NPU_FORMAT_PAD_VALUE)
			insn.pad_value.unit = NPU_PAD_UNIT_COMPUTE;
		npu_insn_add_tokens(&insn, (struct npu_tokens){ .pop_prev = true });
		npu_insn_add_tokens(&insn, (struct npu_tokens){ .push_next = true });
		tokens = npu_insn_tokens(&insn);
		assert_true(tokens.pop_prev && tokens.push_next);
		assert_false(tokens.pop_next || tokens.push_prev);
		assert_round_trip(&insn);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_vectors_encode),
		cmocka_unit_test(test_vectors_decode),
		cmocka_unit_test(test_vectors_print),
		cmocka_unit_test(test_uop_vectors),
		cmocka_unit_test(test_bounds_vectors),
		cmocka_unit_test(test_round_trip_random),
		cmocka_unit_test(test_round_trip_extremes),
		cmocka_unit_test(test_out_of_range),
		cmocka_unit_test(test_uop_out_of_range),
		cmocka_unit_test(test_contradictions),
		cmocka_unit_test(test_any_word),
		cmocka_unit_test(test_reserved_words),
		cmocka_unit_test(test_features),
		cmocka_unit_test(test_units_and_tokens),
		cmocka_unit_test(test_print_bounded),
		cmocka_unit_test(test_add_tokens),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
