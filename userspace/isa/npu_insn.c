// SPDX-License-Identifier: MIT
#include <assert.h>
#include <errno.h>
#include <string.h>
#include "userspace/isa/npu_insn.h"
#include "npu_proto.h"
#include "npu_regs.h"

/* A field's place in the word. */
struct field {
	const char *name;
	unsigned char word;
	unsigned char shift;
	unsigned char width;
	unsigned char sign;
};

struct layout {
	const struct field *fields;
	unsigned int count;
	uint64_t valid[2];
};

#define NPU_X_FIELD(name, word, shift, width, sign) { #name, word, shift, width, sign },
#define NPU_X(name, upper) \
	static const struct field name##_fields[] = { NPU_FMT_##upper##_FIELDS(NPU_X_FIELD) }; \
	static_assert(sizeof(name##_fields) / sizeof(struct field) * sizeof(int64_t) == \
		      sizeof(struct npu_insn_##name), "one int64_t a field, in the same order");
NPU_FORMATS(NPU_X)
#undef NPU_X

static const struct field uop_fields[] = { NPU_UOP_FIELDS(NPU_X_FIELD) };
static const struct field bounds_fields[] = { NPU_REQUANT_BOUNDS_FIELDS(NPU_X_FIELD) };
#undef NPU_X_FIELD

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static_assert(COUNT(uop_fields) * sizeof(int64_t) == sizeof(struct npu_uop), "npu_uop");
static_assert(COUNT(bounds_fields) * sizeof(int64_t) == sizeof(struct npu_requant_bounds),
	      "npu_requant_bounds");

static const struct layout layouts[] = {
#define NPU_X(name, upper) { \
		name##_fields, COUNT(name##_fields), \
		{ NPU_FMT_##upper##_VALID_LO, NPU_FMT_##upper##_VALID_HI }, \
	},
	NPU_FORMATS(NPU_X)
#undef NPU_X
	{ NULL, 0, { 0, 0 } },
};

static const struct layout uop_layout = {
	uop_fields, COUNT(uop_fields), { NPU_UOP_VALID, 0 },
};

static const struct layout bounds_layout = {
	bounds_fields, COUNT(bounds_fields), { NPU_REQUANT_BOUNDS_VALID, 0 },
};

static int refuse(struct npu_isa_error *err, int code, const char *field, int64_t value,
		  int64_t min, int64_t max)
{
	if (err)
		*err = (struct npu_isa_error){ field, value, min, max };
	return code;
}

static uint64_t get_le64(const unsigned char *p)
{
	uint64_t value = 0;

	for (int i = 7; i >= 0; i--)
		value = value << 8 | p[i];
	return value;
}

static void put_le64(unsigned char *p, uint64_t value)
{
	for (int i = 0; i < 8; i++)
		p[i] = value >> 8 * i & 0xff;
}

/* The members of a format's struct are the fields' values, in order. */
static int pack(const struct layout *layout, const void *members, uint64_t words[2],
		struct npu_isa_error *err)
{
	for (unsigned int i = 0; i < layout->count; i++) {
		const struct field *f = &layout->fields[i];
		uint64_t mask = (UINT64_C(1) << f->width) - 1;
		int64_t min = f->sign ? -(INT64_C(1) << (f->width - 1)) : 0;
		int64_t max = f->sign ? (int64_t)(mask >> 1) : (int64_t)mask;
		int64_t value;

		memcpy(&value, (const char *)members + i * sizeof(value), sizeof(value));
		if (value < min || value > max)
			return refuse(err, -ERANGE, f->name, value, min, max);
		words[f->word] |= ((uint64_t)value & mask) << f->shift;
	}
	return 0;
}

static void unpack(const struct layout *layout, const uint64_t words[2], void *members)
{
	for (unsigned int i = 0; i < layout->count; i++) {
		const struct field *f = &layout->fields[i];
		uint64_t mask = (UINT64_C(1) << f->width) - 1;
		int64_t value = (int64_t)(words[f->word] >> f->shift & mask);

		if (f->sign && value > (int64_t)(mask >> 1))
			value -= INT64_C(1) << f->width;
		memcpy((char *)members + i * sizeof(value), &value, sizeof(value));
	}
}

static void *members(struct npu_insn *insn)
{
	switch (insn->format) {
#define NPU_X(name, upper) case NPU_FORMAT_##upper: return &insn->name;
	NPU_FORMATS(NPU_X)
#undef NPU_X
	default:
		return NULL;
	}
}

static enum npu_format ext_format(uint64_t high)
{
	switch (high >> 60) {
	case NPU_EXT_YIELD:
		return NPU_FORMAT_YIELD;
	case NPU_EXT_PAD_VALUE:
		return NPU_FORMAT_PAD_VALUE;
	case NPU_EXT_REQUANT:
		return NPU_FORMAT_REQUANT;
	case NPU_EXT_VMAC:
		return NPU_FORMAT_VMAC;
	case NPU_EXT_LUT:
		return NPU_FORMAT_LUT;
	default:
		return NPU_FORMAT_RESERVED;
	}
}

static enum npu_format word_format(const uint64_t words[2])
{
	switch (words[0] & 7) {
	case NPU_OP_LOAD:
	case NPU_OP_STORE:
		return NPU_FORMAT_MEM;
	case NPU_OP_GEMM:
		return NPU_FORMAT_GEMM;
	case NPU_OP_FINISH:
		return NPU_FORMAT_FINISH;
	case NPU_OP_ALU:
		return NPU_FORMAT_ALU;
	case NPU_OP_EXT:
		return ext_format(words[1]);
	default:
		return NPU_FORMAT_RESERVED;
	}
}

int npu_insn_encode(const struct npu_insn *insn, void *word, struct npu_isa_error *err)
{
	struct npu_insn copy = *insn;
	const struct layout *layout;
	uint64_t words[2] = { 0, 0 };
	int ret;

	if ((unsigned int)insn->format > NPU_FORMAT_RESERVED)
		return refuse(err, -EINVAL, "format", insn->format, 0, NPU_FORMAT_RESERVED);
	layout = &layouts[insn->format];
	for (int i = 0; i < 2; i++)
		if (insn->unnamed[i] & layout->valid[i])
			return refuse(err, -EINVAL, "unnamed", (int64_t)insn->unnamed[i], 0,
				      (int64_t)~layout->valid[i]);
	ret = pack(layout, members(&copy), words, err);
	if (ret)
		return ret;
	words[0] |= insn->unnamed[0];
	words[1] |= insn->unnamed[1];
	/* The fields that select the format are opcode and, in EXT, ext_op. */
	if (word_format(words) != insn->format) {
		bool ext = insn->format >= NPU_FORMAT_YIELD && (words[0] & 7) == NPU_OP_EXT;

		return refuse(err, -EINVAL, ext ? "ext_op" : "opcode",
			      (int64_t)(ext ? words[1] >> 60 : words[0] & 7), 0, ext ? 15 : 7);
	}
	put_le64(word, words[0]);
	put_le64((unsigned char *)word + 8, words[1]);
	return 0;
}

void npu_insn_decode(const void *word, struct npu_insn *insn)
{
	const uint64_t words[2] = { get_le64(word), get_le64((const unsigned char *)word + 8) };
	const struct layout *layout;

	memset(insn, 0, sizeof(*insn));
	insn->format = word_format(words);
	layout = &layouts[insn->format];
	unpack(layout, words, members(insn));
	insn->unnamed[0] = words[0] & ~layout->valid[0];
	insn->unnamed[1] = words[1] & ~layout->valid[1];
}

static const char *check_mem(const struct npu_insn_mem *mem, uint64_t features, bool *absent)
{
	if (mem->opcode == NPU_OP_STORE) {
		if (mem->memory != NPU_MEM_OUT)
			return "STORE moves memory OUT only";
		if (mem->pad_mode || mem->y_pad_0 || mem->y_pad_1 || mem->x_pad_0 || mem->x_pad_1)
			return "STORE has no padding";
		return NULL;
	}
	if (mem->memory == NPU_MEM_OUT || mem->memory > NPU_MEM_ACC8)
		return "LOAD moves memories UOP, WGT, INP, ACC and ACC8 only";
	if (mem->pad_mode == NPU_PAD_ZERO || !mem->x_size)
		return NULL;
	if (mem->pad_mode != NPU_PAD_VALUE)
		return "pad mode is reserved";
	if (mem->memory == NPU_MEM_UOP)
		return "LOAD of UOP pads with zero only";
	*absent = !(features & NPU_HW_FEATURE_PAD_VALUE);
	return *absent ? "the device lacks feature PAD_VALUE" : NULL;
}

static const char *check_ext(enum npu_format format, uint64_t features)
{
	static const struct {
		uint64_t feature;
		const char *why;
	} needs[] = {
		[NPU_FORMAT_YIELD] = { NPU_HW_FEATURE_YIELD, "the device lacks feature YIELD" },
		[NPU_FORMAT_PAD_VALUE] = { NPU_HW_FEATURE_PAD_VALUE,
					   "the device lacks feature PAD_VALUE" },
		[NPU_FORMAT_REQUANT] = { NPU_HW_FEATURE_REQUANT,
					 "the device lacks feature REQUANT" },
		[NPU_FORMAT_VMAC] = { NPU_HW_FEATURE_VMAC, "the device lacks feature VMAC" },
		[NPU_FORMAT_LUT] = { NPU_HW_FEATURE_LUT, "the device lacks feature LUT" },
	};

	return features & needs[format].feature ? NULL : needs[format].why;
}

int npu_insn_check(const struct npu_insn *insn, uint64_t features, const char **why)
{
	const char *reason = NULL;
	bool absent = false;

	switch (insn->format) {
	case NPU_FORMAT_MEM:
		reason = check_mem(&insn->mem, features, &absent);
		break;
	case NPU_FORMAT_ALU:
		if (insn->alu.alu_op > NPU_ALU_MUL)
			reason = "ALU operation is reserved";
		break;
	case NPU_FORMAT_GEMM:
	case NPU_FORMAT_FINISH:
		break;
	case NPU_FORMAT_RESERVED:
		reason = (insn->unnamed[0] & 7) == NPU_OP_EXT ? "EXT sub-opcode is reserved" :
								"opcode is reserved";
		break;
	default:
		if (insn->unnamed[0] || insn->unnamed[1]) {
			reason = "a bit of EXT that no field names is set";
			break;
		}
		reason = check_ext(insn->format, features);
		absent = reason;
		break;
	}
	if (why)
		*why = reason;
	return !reason ? 0 : absent ? -EOPNOTSUPP : -EINVAL;
}

unsigned int npu_insn_unit(const struct npu_insn *insn)
{
	if (insn->format == NPU_FORMAT_PAD_VALUE)
		return insn->pad_value.unit == NPU_PAD_UNIT_LOAD ? NPU_UNIT_LOAD :
								   NPU_UNIT_COMPUTE;
	if (insn->format != NPU_FORMAT_MEM)
		return NPU_UNIT_COMPUTE;
	if (insn->mem.opcode == NPU_OP_STORE)
		return NPU_UNIT_STORE;
	if (insn->mem.memory == NPU_MEM_INP || insn->mem.memory == NPU_MEM_WGT)
		return NPU_UNIT_LOAD;
	return NPU_UNIT_COMPUTE;
}

struct npu_tokens npu_insn_tokens(const struct npu_insn *insn)
{
	struct npu_tokens tokens = { false, false, false, false };
	unsigned int unit = npu_insn_unit(insn);

	switch (insn->format) {
#define NPU_X(name, upper) \
	case NPU_FORMAT_##upper: \
		tokens = (struct npu_tokens){ insn->name.pop_prev, insn->name.pop_next, \
						   insn->name.push_prev, insn->name.push_next }; \
		break;
	NPU_FORMATS(NPU_X)
#undef NPU_X
	case NPU_FORMAT_RESERVED:
		tokens = (struct npu_tokens){
			insn->unnamed[0] >> 3 & 1, insn->unnamed[0] >> 4 & 1,
			insn->unnamed[0] >> 5 & 1, insn->unnamed[0] >> 6 & 1,
		};
		break;
	}
	if (unit == NPU_UNIT_LOAD)
		tokens.pop_prev = tokens.push_prev = false;
	else if (unit == NPU_UNIT_STORE)
		tokens.pop_next = tokens.push_next = false;
	return tokens;
}

void npu_insn_add_tokens(struct npu_insn *insn, struct npu_tokens tokens)
{
	switch (insn->format) {
#define NPU_X(name, upper) \
	case NPU_FORMAT_##upper: \
		insn->name.pop_prev |= tokens.pop_prev; \
		insn->name.pop_next |= tokens.pop_next; \
		insn->name.push_prev |= tokens.push_prev; \
		insn->name.push_next |= tokens.push_next; \
		break;
	NPU_FORMATS(NPU_X)
#undef NPU_X
	case NPU_FORMAT_RESERVED:
		insn->unnamed[0] |= tokens.pop_prev << 3 | tokens.pop_next << 4 |
				    tokens.push_prev << 5 | tokens.push_next << 6;
		break;
	}
}

int npu_uop_pack(const struct npu_uop *uop, uint32_t *word, struct npu_isa_error *err)
{
	uint64_t words[2] = { 0, 0 };
	int ret = pack(&uop_layout, uop, words, err);

	if (!ret)
		*word = (uint32_t)words[0];
	return ret;
}

struct npu_uop npu_uop_unpack(uint32_t word)
{
	const uint64_t words[2] = { word, 0 };
	struct npu_uop uop;

	unpack(&uop_layout, words, &uop);
	return uop;
}

int npu_requant_bounds_pack(const struct npu_requant_bounds *bounds, uint32_t *word,
			    struct npu_isa_error *err)
{
	uint64_t words[2] = { 0, 0 };
	int ret = pack(&bounds_layout, bounds, words, err);

	if (!ret)
		*word = (uint32_t)words[0];
	return ret;
}

struct npu_requant_bounds npu_requant_bounds_unpack(uint32_t word)
{
	const uint64_t words[2] = { word, 0 };
	struct npu_requant_bounds bounds;

	unpack(&bounds_layout, words, &bounds);
	return bounds;
}
