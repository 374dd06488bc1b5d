// SPDX-License-Identifier: MIT
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include "userspace/isa/npu_insn.h"
#include "npu_proto.h"

/* Text under construction; length counts what did not fit, too. */
struct line {
	char *buf;
	size_t size;
	size_t length;
};

static void __attribute__((format(printf, 2, 3))) add(struct line *line, const char *fmt, ...)
{
	size_t used = line->length < line->size ? line->length : line->size;
	va_list args;
	int n;

	va_start(args, fmt);
	n = vsnprintf(line->buf ? line->buf + used : NULL, line->size - used, fmt, args);
	va_end(args);
	if (n > 0)
		line->length += (size_t)n;
}

static const char *memory_name(int64_t memory)
{
	switch (memory) {
#define NPU_X(name, value, text) case value: return text;
	NPU_MEM_NAMES(NPU_X)
#undef NPU_X
	default:
		return "reserved";
	}
}

static const char *alu_name(int64_t op)
{
	switch (op) {
#define NPU_X(name, value, text) case value: return text;
	NPU_ALU_NAMES(NPU_X)
#undef NPU_X
	default:
		return "reserved";
	}
}

static void add_pad(struct line *line, const char **separator, const char *name, int64_t value)
{
	if (!value)
		return;
	add(line, "%s%s=%" PRId64, *separator, name, value);
	*separator = " ";
}

static void print_mem(struct line *line, const struct npu_insn_mem *mem)
{
	const char *separator = "";

	add(line, "%s.%s  sram=%" PRId64 " dram=", mem->opcode == NPU_OP_STORE ? "store" : "load",
	    memory_name(mem->memory), mem->sram_base);
	if (mem->region)
		add(line, "r%" PRId64 "+", mem->region);
	add(line, "0x%" PRIx64 "  %" PRId64 "x%" PRId64 " stride %" PRId64,
	    (uint64_t)mem->dram_base, mem->y_size, mem->x_size, mem->x_stride);
	if (!mem->pad_mode && !mem->y_pad_0 && !mem->y_pad_1 && !mem->x_pad_0 && !mem->x_pad_1)
		return;
	add(line, " pad(");
	add_pad(line, &separator, "y0", mem->y_pad_0);
	add_pad(line, &separator, "y1", mem->y_pad_1);
	add_pad(line, &separator, "x0", mem->x_pad_0);
	add_pad(line, &separator, "x1", mem->x_pad_1);
	if (mem->pad_mode == NPU_PAD_VALUE)
		add(line, "%svalue", separator);
	else
		add_pad(line, &separator, "mode", mem->pad_mode);
	add(line, ")");
}

/* The members that all formats with loops share. */
#define PRINT_LOOPS(line, insn) \
	add(line, "uop=%" PRId64 ":%" PRId64 " loop %" PRId64 "x%" PRId64 \
	    " dst(+%" PRId64 " +%" PRId64 ") src(+%" PRId64 " +%" PRId64 ")", \
	    (insn)->uop_bgn, (insn)->uop_end, (insn)->iter_out, (insn)->iter_in, \
	    (insn)->dst_factor_out, (insn)->dst_factor_in, (insn)->src_factor_out, \
	    (insn)->src_factor_in)

#define PRINT_WGT(line, insn) \
	add(line, " wgt(+%" PRId64 " +%" PRId64 ")", (insn)->wgt_factor_out, (insn)->wgt_factor_in)

static void print_gemm(struct line *line, const struct npu_insn_gemm *gemm)
{
	add(line, gemm->reset ? "gemm.reset  " : "gemm  ");
	PRINT_LOOPS(line, gemm);
	PRINT_WGT(line, gemm);
}

static void print_alu(struct line *line, const struct npu_insn_alu *alu)
{
	add(line, "alu.%s  ", alu_name(alu->alu_op));
	if (alu->alu_op > NPU_ALU_MUL)
		add(line, "op=%" PRId64 " ", alu->alu_op);
	PRINT_LOOPS(line, alu);
	if (alu->use_imm)
		add(line, " imm=%" PRId64, alu->imm);
	else if (alu->imm)
		add(line, " (imm=%" PRId64 ")", alu->imm);
	if (alu->reset)
		add(line, " (reset)");
}

static void print_format(struct line *line, const struct npu_insn *insn)
{
	switch (insn->format) {
	case NPU_FORMAT_MEM:
		print_mem(line, &insn->mem);
		break;
	case NPU_FORMAT_GEMM:
		print_gemm(line, &insn->gemm);
		break;
	case NPU_FORMAT_ALU:
		print_alu(line, &insn->alu);
		break;
	case NPU_FORMAT_FINISH:
		add(line, "finish");
		break;
	case NPU_FORMAT_YIELD:
		add(line, "yield");
		break;
	case NPU_FORMAT_PAD_VALUE:
		add(line, "pad_value.%s  %" PRId64,
		    insn->pad_value.unit == NPU_PAD_UNIT_LOAD ? "load" : "compute",
		    insn->pad_value.value);
		break;
	case NPU_FORMAT_REQUANT:
		add(line, "requant  ");
		PRINT_LOOPS(line, &insn->requant);
		break;
	case NPU_FORMAT_VMAC:
		add(line, insn->vmac.reset ? "vmac.reset  " : "vmac  ");
		PRINT_LOOPS(line, &insn->vmac);
		PRINT_WGT(line, &insn->vmac);
		break;
	case NPU_FORMAT_LUT:
		add(line, "lut  ");
		PRINT_LOOPS(line, &insn->lut);
		add(line, " table=%" PRId64, insn->lut.table);
		break;
	case NPU_FORMAT_RESERVED:
		add(line, "reserved  0x%016" PRIx64 " 0x%016" PRIx64, insn->unnamed[0],
		    insn->unnamed[1]);
		break;
	}
}

static void add_token(struct line *line, const char **separator, bool flag, const char *verb,
		      const char *unit)
{
	if (!flag)
		return;
	add(line, "%s%s %s", *separator, verb, unit);
	*separator = ", ";
}

static void print_tokens(struct line *line, const struct npu_insn *insn)
{
	struct npu_tokens tokens = npu_insn_tokens(insn);
	unsigned int unit = npu_insn_unit(insn);
	/* Load has no previous unit and store no next: those flags are false. */
	const char *prev = unit == NPU_UNIT_STORE ? "compute" : "load";
	const char *next = unit == NPU_UNIT_LOAD ? "compute" : "store";
	const char *separator = "";

	if (!tokens.pop_prev && !tokens.pop_next && !tokens.push_prev && !tokens.push_next)
		return;
	add(line, " [");
	add_token(line, &separator, tokens.pop_prev, "pop", prev);
	add_token(line, &separator, tokens.pop_next, "pop", next);
	add_token(line, &separator, tokens.push_prev, "push", prev);
	add_token(line, &separator, tokens.push_next, "push", next);
	add(line, "]");
}

int npu_insn_print(const struct npu_insn *insn, char *buf, size_t size)
{
	struct line line = { buf, size, 0 };

	if (size)
		buf[0] = 0;
	print_format(&line, insn);
	print_tokens(&line, insn);
	if (insn->format != NPU_FORMAT_RESERVED && (insn->unnamed[0] || insn->unnamed[1]))
		add(&line, " unnamed=0x%016" PRIx64 ":0x%016" PRIx64, insn->unnamed[1],
		    insn->unnamed[0]);
	return (int)line.length;
}

int npu_uop_print(uint32_t word, char *buf, size_t size)
{
	struct npu_uop uop = npu_uop_unpack(word);

	return snprintf(buf, size, "dst=%" PRId64 " src=%" PRId64 " wgt=%" PRId64, uop.dst, uop.src,
			uop.wgt);
}
