// SPDX-License-Identifier: MIT
#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "npu_isa.h"
#include "npu_regs.h"
#include "tests/unit/libnpu_image.h"
#include "userspace/isa/npu_builder.h"

const int8_t image_weights[IMAGE_BLOCK * IMAGE_BLOCK] = {
	[0] = 1, [1] = -2, [16 + 3] = 5, [32 + 2] = 127, [48 + 15] = -128, [64 + 4] = 3,
	[80 + 1] = 1, [80 + 2] = 1, [96 + 6] = -1, [255] = 7,
};

static void load(struct npu_builder *b, unsigned int memory, unsigned int region)
{
	npu_builder_load(b, &(struct npu_insn_mem) {
		.memory = memory, .region = region, .y_size = 1, .x_size = 1, .x_stride = 1,
	});
}

static void *copy(const void *data, size_t size)
{
	void *out = malloc(size + 1);

	assert_non_null(out);
	memcpy(out, data, size);
	return out;
}

void program_make(struct program *p)
{
	const struct npu_builder_config config = { .uop_region = IMAGE_REGION_UOP };
	struct npu_builder_output out;
	struct npu_builder *b;
	int kernel;

	assert_int_equal(npu_builder_new(&b, &config), 0);
	load(b, NPU_MEM_INP, IMAGE_REGION_X);
	load(b, NPU_MEM_WGT, IMAGE_REGION_W);
	npu_builder_kernel_begin(b);
	npu_builder_uop(b, 0, 0, 0);
	kernel = npu_builder_kernel_end(b);
	npu_builder_gemm(b, kernel, true);
	npu_builder_dep_push(b, NPU_UNIT_LOAD, NPU_UNIT_COMPUTE);
	npu_builder_dep_pop(b, NPU_UNIT_LOAD, NPU_UNIT_COMPUTE);
	npu_builder_gemm(b, kernel, false);
	npu_builder_dep_push(b, NPU_UNIT_COMPUTE, NPU_UNIT_STORE);
	npu_builder_dep_pop(b, NPU_UNIT_COMPUTE, NPU_UNIT_STORE);
	npu_builder_store(b, &(struct npu_insn_mem) {
		.region = IMAGE_REGION_Y, .y_size = 1, .x_size = 1, .x_stride = 1,
	});
	if (npu_builder_finish(b, &out))
		fail_msg("%s", npu_builder_message(b));
	p->insn_count = out.insn_count;
	p->insns = copy(out.insns, out.insn_count * NPU_INSN_BYTES);
	p->uop_bytes = out.uop_count * NPU_UOP_BYTES;
	p->uops = copy(out.uops, p->uop_bytes);
	npu_builder_free(b);
}

void program_free(struct program *p)
{
	free(p->insns);
	free(p->uops);
}

void image_expect(const int8_t *w, const int8_t *x, int8_t *y)
{
	int32_t sum;
	int o, c;

	for (o = 0; o < IMAGE_BLOCK; o++) {
		for (sum = 0, c = 0; c < IMAGE_BLOCK; c++)
			sum += w[o * IMAGE_BLOCK + c] * x[c];
		y[o] = (int8_t)sum;
	}
}

/* ---- the plan ---- */

#define STRINGS	"\0main\0x\0y\0pack_nchw16\0unpack_nchw16\0gemm"
enum { S_MAIN = 1, S_X = 6, S_Y = 8, S_PACK = 10, S_UNPACK = 22, S_GEMM = 36 };

/* Constants: weights, then micro-ops. */
#define UOP_OFFSET	256

enum { B_X, B_Y, B_CONST, B_IN, B_OUT };

#define TABLE(member) \
	{ offsetof(struct image_plan, member), \
	  sizeof(((struct image_plan *)0)->member) / sizeof(((struct image_plan *)0)->member[0]) }

static void make_plan(struct image_plan *p, const struct program *program, size_t const_size)
{
	const struct npu_plan_tensor vector = {
		.name = S_X, .dtype_code = 0, .dtype_bits = 8, .lanes = 1, .ndim = 2,
		.shape = { 1, IMAGE_BLOCK },
	};
	const struct npu_host_pack pack = { .n = 1, .c = IMAGE_BLOCK, .h = 1, .w = 1 };
	const uint32_t params = offsetof(struct image_plan, params);

	memset(p, 0, sizeof(*p));
	p->head = (struct npu_plan_header) {
		.magic = NPU_PLAN_MAGIC,
		.size = sizeof(*p),
		.functions = { offsetof(struct image_plan, function), 1 },
		.tensors = TABLE(tensors),
		.buffers = TABLE(buffers),
		.steps = TABLE(steps),
		.regions = TABLE(regions),
		.operands = TABLE(operands),
		.blob = { params, sizeof(p->params) },
	};
	p->function = (struct npu_plan_function) {
		.name = S_MAIN, .flags = NPU_FUNCTION_BATCHED, .inputs = 1, .outputs = 1,
		.buffers = 5, .steps = 3, .useful_macs = 256,
	};
	p->tensors[0] = vector;
	p->tensors[1] = vector;
	p->tensors[1].name = S_Y;
	p->buffers[B_X] = (struct npu_plan_buffer) { NPU_BUFFER_INPUT, 0, 0, IMAGE_BLOCK };
	p->buffers[B_Y] = (struct npu_plan_buffer) { NPU_BUFFER_OUTPUT, 0, 0, IMAGE_BLOCK };
	p->buffers[B_CONST] = (struct npu_plan_buffer) { NPU_BUFFER_CONST, 0, 0, const_size };
	p->buffers[B_IN] = (struct npu_plan_buffer) { NPU_BUFFER_SCRATCH, 0, 0, IMAGE_BLOCK };
	p->buffers[B_OUT] = (struct npu_plan_buffer) { NPU_BUFFER_SCRATCH, 0, 0, IMAGE_BLOCK };
	p->steps[0] = (struct npu_plan_step) {
		.kind = NPU_STEP_HOST, .name = S_PACK, .first = 0, .count = 2,
		.param_size = sizeof(pack),
	};
	p->steps[1] = (struct npu_plan_step) {
		.kind = NPU_STEP_NPU, .name = S_GEMM, .first = 0, .count = IMAGE_REGIONS,
		.insn_count = program->insn_count, .useful_macs = 256,
	};
	p->steps[2] = (struct npu_plan_step) {
		.kind = NPU_STEP_HOST, .name = S_UNPACK, .first = 2, .count = 2,
		.param_offset = sizeof(pack), .param_size = sizeof(pack),
	};
	p->regions[0] = (struct npu_plan_region) { .buffer = NPU_PLAN_NONE };
	p->regions[IMAGE_REGION_X] = (struct npu_plan_region) { B_IN, NPU_ACCESS_R, 0, 16 };
	p->regions[IMAGE_REGION_W] = (struct npu_plan_region) { B_CONST, NPU_ACCESS_R, 0, 256 };
	p->regions[IMAGE_REGION_UOP] = (struct npu_plan_region) {
		B_CONST, NPU_ACCESS_R, UOP_OFFSET, program->uop_bytes,
	};
	p->regions[IMAGE_REGION_Y] = (struct npu_plan_region) { B_OUT, NPU_ACCESS_W, 0, 16 };
	p->operands[0] = (struct npu_plan_operand) { B_X, NPU_ACCESS_R, 0, 16 };
	p->operands[1] = (struct npu_plan_operand) { B_IN, NPU_ACCESS_W, 0, 16 };
	p->operands[2] = (struct npu_plan_operand) { B_OUT, NPU_ACCESS_R, 0, 16 };
	p->operands[3] = (struct npu_plan_operand) { B_Y, NPU_ACCESS_W, 0, 16 };
	p->params[0] = pack;
	p->params[1] = pack;
}

/* ---- the file ---- */

struct note {
	Elf64_Nhdr head;
	char name[4];
	struct npu_module_note desc;
};

enum { SEC_NONE, SEC_NOTE, SEC_INSN, SEC_CONST, SEC_PLAN, SEC_STR, SEC_NAMES, SECTIONS };

#define NAMES	"\0.npu.note\0.npu.insn\0.npu.const\0.npu.plan\0.npu.str\0.shstrtab"

struct part {
	uint32_t name;
	uint32_t type;
	const void *data;
	size_t size;
	size_t align;
};

static size_t put(struct image *image, const void *data, size_t size, size_t align)
{
	size_t at = (image->size + align - 1) / align * align;

	image->data = realloc(image->data, at + size);
	assert_non_null(image->data);
	memset(image->data + image->size, 0, at - image->size);
	memcpy(image->data + at, data, size);
	image->size = at + size;
	return at;
}

static void make_file(struct image *image, const struct part *parts)
{
	Elf64_Shdr headers[SECTIONS] = { 0 };
	Elf64_Ehdr head = {
		.e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB,
			     EV_CURRENT },
		.e_type = ET_NONE, .e_machine = EM_NONE, .e_version = EV_CURRENT,
		.e_ehsize = sizeof(head), .e_shentsize = sizeof(Elf64_Shdr),
		.e_shnum = SECTIONS, .e_shstrndx = SEC_NAMES,
	};
	int i;

	put(image, &head, sizeof(head), 1);
	for (i = 1; i < SECTIONS; i++)
		headers[i] = (Elf64_Shdr) {
			.sh_name = parts[i].name, .sh_type = parts[i].type,
			.sh_offset = put(image, parts[i].data, parts[i].size, parts[i].align),
			.sh_size = parts[i].size, .sh_addralign = parts[i].align,
		};
	head.e_shoff = put(image, headers, sizeof(headers), 8);
	memcpy(image->data, &head, sizeof(head));
	image->note = (void *)(image->data + headers[SEC_NOTE].sh_offset +
			       offsetof(struct note, desc));
	image->plan = (void *)(image->data + headers[SEC_PLAN].sh_offset);
}

void image_make(struct image *image)
{
	static const char strings[] = STRINGS;
	static const char names[] = NAMES;
	uint8_t constants[UOP_OFFSET + 64] = { 0 };
	struct image_plan plan;
	struct program program;
	struct note note = {
		.head = { 4, sizeof(note.desc), NPU_NOTE_MODULE },
		.name = NPU_NOTE_NAME,
		.desc = {
			.version = NPU_MODULE_VERSION, .kind = NPU_MODULE_NPU,
			.contract = NPU_CONTRACT_MAJOR << 16 | NPU_CONTRACT_MINOR,
			.config0 = NPU_HOST_CONFIG0_RESET, .config1 = NPU_HOST_CONFIG1_RESET,
		},
	};

	memset(image, 0, sizeof(*image));
	program_make(&program);
	assert_true(program.uop_bytes <= 64);
	memcpy(constants, image_weights, sizeof(image_weights));
	memcpy(constants + UOP_OFFSET, program.uops, program.uop_bytes);
	make_plan(&plan, &program, sizeof(constants));
	make_file(image, (const struct part[]) {
		[SEC_NOTE] = { 1, SHT_NOTE, &note, sizeof(note), 8 },
		[SEC_INSN] = { 11, SHT_PROGBITS, program.insns,
			       program.insn_count * NPU_INSN_BYTES, 64 },
		[SEC_CONST] = { 21, SHT_PROGBITS, constants, sizeof(constants), 64 },
		[SEC_PLAN] = { 32, SHT_PROGBITS, &plan, sizeof(plan), 8 },
		[SEC_STR] = { 42, SHT_STRTAB, strings, sizeof(strings), 1 },
		[SEC_NAMES] = { 51, SHT_STRTAB, names, sizeof(names), 1 },
	});
	program_free(&program);
}

void image_free(struct image *image)
{
	free(image->data);
}
