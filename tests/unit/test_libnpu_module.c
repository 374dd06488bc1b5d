// SPDX-License-Identifier: MIT
/* Module files: what is wrong in one is refused, with the field named. */
#include <elf.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>
#include <npu/npu.h>
#include "npu_regs.h"
#include "tests/unit/libnpu_image.h"

static struct npu_device *dev;

static int open_device(void **state)
{
	(void)state;
	return npu_device_open(&dev, "sim");
}

static int close_device(void **state)
{
	(void)state;
	npu_device_close(dev);
	return 0;
}

static void assert_message(const char *text)
{
	if (!strstr(npu_error_message(), text))
		fail_msg("\"%s\" is not in \"%s\"", text, npu_error_message());
}

static void refuse(const struct image *image, int error, const char *text)
{
	struct npu_module *module = NULL;
	int ret = npu_module_load_memory(dev, image->data, image->size, &module);

	if (ret != error)
		fail_msg("expected %d, found %d: %s", error, ret, npu_error_message());
	assert_null(module);
	assert_message(text);
}

static void test_loads(void **state)
{
	struct npu_function_info info;
	struct npu_tensor_info tensor;
	struct npu_function *function;
	struct npu_module *module;
	struct image image;

	(void)state;
	image_make(&image);
	if (npu_module_load_memory(dev, image.data, image.size, &module))
		fail_msg("%s", npu_error_message());
	assert_string_equal(npu_module_kind(module), "npu");
	assert_string_equal(npu_module_info(module), "");
	assert_int_equal(npu_module_function_count(module), 1);
	assert_string_equal(npu_module_function_name(module, 0), "main");
	assert_null(npu_module_function_name(module, 1));
	assert_int_equal(npu_module_get_function(module, "none", &function), -ENOENT);
	assert_message("no function \"none\"");
	assert_int_equal(npu_module_get_function(module, "main", &function), 0);
	npu_function_get_info(function, &info);
	assert_string_equal(info.name, "main");
	assert_int_equal(info.inputs, 1);
	assert_int_equal(info.outputs, 1);
	assert_true(info.batched);
	assert_int_equal(info.steps, 3);
	assert_int_equal(info.useful_macs, 256);
	assert_int_equal(npu_function_get_tensor(function, 1, &tensor), 0);
	assert_string_equal(tensor.name, "y");
	assert_int_equal(tensor.ndim, 2);
	assert_int_equal(tensor.shape[1], 16);
	assert_int_equal(npu_function_get_tensor(function, 2, &tensor), -EINVAL);
	npu_module_free(module);
	npu_module_free(NULL);
	image_free(&image);
}

static void test_file(void **state)
{
	char path[] = "/tmp/npu-module-XXXXXX";
	int fd = mkstemp(path);
	struct npu_module *module = NULL;
	struct image image;

	(void)state;
	image_make(&image);
	assert_int_equal(write(fd, image.data, image.size), image.size);
	close(fd);
	assert_int_equal(npu_module_load(dev, path, &module), 0);
	npu_module_free(module);
	module = NULL;
	assert_int_equal(truncate(path, image.size / 2), 0);
	assert_int_equal(npu_module_load(dev, path, &module), -ENOEXEC);
	assert_message(path);
	unlink(path);
	assert_int_equal(npu_module_load(dev, path, &module), -ENOENT);
	assert_message(path);
	assert_int_equal(npu_module_load(dev, "/", &module), -EISDIR);
	assert_int_equal(npu_module_load(dev, "/dev/null", &module), -EINVAL);
	assert_null(module);
	image_free(&image);
}

#define REFUSE(error, text, ...) do { \
		struct image image; \
		image_make(&image); \
		{ \
			struct image_plan *p = image.plan; \
			struct npu_module_note *note = image.note; \
			(void)p; \
			(void)note; \
			__VA_ARGS__; \
		} \
		refuse(&image, error, text); \
		image_free(&image); \
	} while (0)

static Elf64_Ehdr *elf(struct image *image)
{
	return (Elf64_Ehdr *)image->data;
}

static Elf64_Shdr *section(struct image *image, int index)
{
	return (Elf64_Shdr *)(image->data + elf(image)->e_shoff) + index;
}

static void test_elf_refusals(void **state)
{
	(void)state;
	REFUSE(-ENOEXEC, "no ELF file", image.data[0] = 0);
	REFUSE(-ENOEXEC, "not a module", image.size = 20);
	REFUSE(-ENOEXEC, "not a module", elf(&image)->e_ident[EI_CLASS] = ELFCLASS32);
	REFUSE(-ENOEXEC, "not a module", elf(&image)->e_ident[EI_DATA] = ELFDATA2MSB);
	REFUSE(-ENOEXEC, "expected ELF type 0 and machine 0, found 2 and 0",
	       elf(&image)->e_type = ET_EXEC);
	REFUSE(-ENOEXEC, "found 0 and 62", elf(&image)->e_machine = EM_X86_64);
	REFUSE(-ENOEXEC, "", elf(&image)->e_shoff = image.size);
	REFUSE(-ENOEXEC, "", elf(&image)->e_shstrndx = 99);
	REFUSE(-ENOEXEC, ".npu.insn: end", section(&image, 2)->sh_offset = image.size + 1);
	REFUSE(-ENOEXEC, ".npu.insn: end", section(&image, 2)->sh_size = UINT64_MAX);
	REFUSE(-ENOEXEC, ".npu.const: type: expected 1, found 8",
	       section(&image, 3)->sh_type = SHT_NOBITS);
	REFUSE(-ENOEXEC, "is compressed", section(&image, 4)->sh_flags = SHF_COMPRESSED);
	REFUSE(-ENOEXEC, "found twice", section(&image, 4)->sh_name = section(&image, 3)->sh_name);
	REFUSE(-ENOEXEC, "no section .npu.plan", section(&image, 4)->sh_name = 0);
	REFUSE(-ENOEXEC, "no section .npu.note", section(&image, 1)->sh_name = 0);
	REFUSE(-ENOEXEC, ".npu.note: size", section(&image, 1)->sh_size -= 4);
	REFUSE(-ENOEXEC, "NUL as its first and last", section(&image, 5)->sh_size--;
	       section(&image, 5)->sh_size--);
	REFUSE(-ENOEXEC, "NUL as its first and last", section(&image, 5)->sh_size = 0);
	REFUSE(-ENOEXEC, "expected a multiple of 16", section(&image, 2)->sh_size--);
}

static void test_note_refusals(void **state)
{
	(void)state;
	REFUSE(-ENOEXEC, "version of the module format: expected 1, found 2", note->version = 2);
	REFUSE(-ENOEXEC, "kind of the module", note->kind = 3);
	REFUSE(-ENOEXEC, "reserved fields of the note", note->reserved0 = 1);
	REFUSE(-ENOEXEC, "reserved fields of the note", note->reserved1[1] = 1);
	REFUSE(-ENOEXEC, "names a device", note->kind = NPU_MODULE_HOST);
	REFUSE(-ENOEXEC, "kind in a host module", note->kind = NPU_MODULE_HOST;
	       note->contract = 0; note->config0 = 0; note->config1 = 0);
	REFUSE(-ENOEXEC, "note: expected name NPU",
	       ((Elf64_Nhdr *)(image.data + section(&image, 1)->sh_offset))->n_type = 2);
	REFUSE(-ENOTSUP, "major version", note->contract += 1 << 16);
	REFUSE(-ENOTSUP, "device configuration", note->config1 = 7);
	REFUSE(-ENOTSUP, "lacks 0x8000000000000000", note->hw_features = 1ull << 63 | 1);
}

static void test_table_refusals(void **state)
{
	(void)state;
	REFUSE(-ENOEXEC, "plan: magic", p->head.magic++);
	REFUSE(-ENOEXEC, "plan: size", p->head.size -= 8);
	REFUSE(-ENOEXEC, "plan: size", section(&image, 4)->sh_size = 8);
	REFUSE(-ENOEXEC, "reserved", p->head.reserved[1] = 1);
	REFUSE(-ENOEXEC, "table of steps", p->head.steps.offset += 4);
	REFUSE(-ENOEXEC, "table of regions", p->head.regions.count = 0x7fffffff);
	REFUSE(-ENOEXEC, "table of operands", p->head.operands.offset = 0xfffffff8);
	REFUSE(-ENOEXEC, "table of tensors", p->head.tensors.offset = 0);
	REFUSE(-ENOEXEC, "table of parameters", p->head.blob.count++);
	REFUSE(-ENOEXEC, "functions: expected 1 to", p->head.functions.count = 0);
	REFUSE(-ENOEXEC, "has no name", p->function.name = 0);
	REFUSE(-ENOEXEC, "string: expected an offset below", p->function.name = 1000);
	REFUSE(-ENOEXEC, "unknown flags", p->function.flags = 2);
	REFUSE(-ENOEXEC, "unknown flags", p->function.reserved1[0] = 2);
	REFUSE(-ENOEXEC, "outputs: expected at least 1", p->function.outputs = 0);
	REFUSE(-ENOEXEC, "first tensor: expected 0, found 1", p->function.first_tensor = 1);
	REFUSE(-ENOEXEC, "number of tensors: expected at most 2, found 4294967296",
	       p->function.inputs = 0xffffffff);
	REFUSE(-ENOEXEC, "buffers: expected at most", p->function.buffers = 5000);
	REFUSE(-ENOEXEC, "number of buffers", p->function.buffers = 6);
	REFUSE(-ENOEXEC, "first step", p->function.first_step = 1);
	REFUSE(-ENOEXEC, "belong to no function", p->function.steps = 2);
}

static void test_tensor_and_buffer_refusals(void **state)
{
	(void)state;
	REFUSE(-ENOEXEC, "tensor 1: type of code 3", p->tensors[1].dtype_code = 3);
	REFUSE(-ENOEXEC, "tensor 0: type of code 0, 4 bits", p->tensors[0].dtype_bits = 4);
	REFUSE(-ENOEXEC, "2 lanes", p->tensors[0].lanes = 2);
	REFUSE(-ENOEXEC, "type of code 2, 8 bits", p->tensors[0].dtype_code = 2);
	REFUSE(-ENOEXEC, "dimensions: expected at most 8", p->tensors[0].ndim = 9);
	REFUSE(-ENOEXEC, "reserved", p->tensors[0].reserved = 9);
	REFUSE(-ENOEXEC, "extent", p->tensors[0].shape[1] = 0);
	REFUSE(-ENOEXEC, "extent", p->tensors[0].shape[1] = UINT64_MAX);
	REFUSE(-ENOEXEC, "extent beyond", p->tensors[0].shape[2] = 1);
	REFUSE(-ENOEXEC, "first dimension", p->tensors[0].shape[0] = 2);
	REFUSE(-ENOEXEC, "first dimension", p->tensors[0].ndim = 0; p->tensors[0].shape[0] = 0;
	       p->tensors[0].shape[1] = 0);
	REFUSE(-ENOEXEC, "buffer 0: kind", p->buffers[0].kind = 5);
	REFUSE(-ENOEXEC, "buffer 0: number of its argument", p->buffers[0].index = 1);
	REFUSE(-ENOEXEC, "buffer 0: size: expected 16, found 17", p->buffers[0].size = 17);
	REFUSE(-ENOEXEC, "buffer 1: offset", p->buffers[1].offset = 64);
	REFUSE(-ENOEXEC, "buffer 2: offset modulo", p->buffers[2].offset = 1);
	REFUSE(-ENOEXEC, "buffer 2: end in the constant image",
	       p->buffers[2].offset = UINT64_MAX - 63);
	REFUSE(-ENOEXEC, "buffer 2: end in the constant image", p->buffers[2].size++);
	REFUSE(-ENOEXEC, "buffer 2: index", p->buffers[2].index++);
	REFUSE(-ENOEXEC, "buffer 3: index", p->buffers[3].index++);
	REFUSE(-ENOEXEC, "buffer 3: offset", p->buffers[3].offset = 64);
	REFUSE(-ENOEXEC, "buffer 4: size", p->buffers[3].size = NPU_PLAN_MAX_BYTES);
}

static void test_step_refusals(void **state)
{
	(void)state;
	REFUSE(-ENOEXEC, "step 0: kind", p->steps[0].kind = 3);
	REFUSE(-ENOEXEC, "string", p->steps[0].name = 1000);
	REFUSE(-ENOEXEC, "host kernel \"gemm\" is not known", p->steps[0].name = p->steps[1].name);
	REFUSE(-ENOEXEC, "step 0: operands", p->steps[0].count = 3);
	REFUSE(-ENOEXEC, "step 0: last operand", p->steps[0].first = 3);
	REFUSE(-ENOEXEC, "step 0: last operand", p->steps[0].first = 0xffffffff);
	REFUSE(-ENOEXEC, "step 0: offset of the parameters", p->steps[0].param_offset = 4);
	REFUSE(-ENOEXEC, "step 0: end of the parameters", p->steps[0].param_offset = 0xfffffff8);
	REFUSE(-ENOEXEC, "step 0: parameters of pack_nchw16", p->steps[0].param_size = 23);
	REFUSE(-ENOEXEC, "has instructions", p->steps[0].insn_count = 1);
	REFUSE(-ENOEXEC, "step 1: first instruction", p->steps[1].insn_first = 1);
	REFUSE(-ENOEXEC, "step 1: end of the instructions", p->steps[1].insn_count = 0);
	REFUSE(-ENOEXEC, "step 1: end of the instructions", p->steps[1].insn_count = 0xffffffff);
	REFUSE(-ENOEXEC, "step 1: parameters", p->steps[1].param_size = 8);
	REFUSE(-ENOEXEC, "step 1: regions", p->steps[1].count = 25);
	REFUSE(-ENOEXEC, "step 1: last region", p->steps[1].first = 1);
	REFUSE(-ENOEXEC, "step 1: buffer of a region", p->regions[1].buffer = 5);
	REFUSE(-ENOEXEC, "step 1: kind of a region's buffer", p->regions[1].buffer = 0);
	REFUSE(-ENOEXEC, "step 1: access of a region", p->regions[1].access = 0);
	REFUSE(-ENOEXEC, "step 1: access of a region", p->regions[1].access = 4);
	REFUSE(-ENOEXEC, "access of a region in constants", p->regions[2].access = 3);
	REFUSE(-ENOEXEC, "offset of a region modulo", p->regions[2].offset = 8);
	REFUSE(-ENOEXEC, "end of a region", p->regions[1].limit = 17);
	REFUSE(-ENOEXEC, "end of a region", p->regions[2].limit = UINT64_MAX);
	REFUSE(-ENOEXEC, "region that is not used", p->regions[0].limit = 1);
	REFUSE(-ENOEXEC, "buffer of an operand", p->operands[0].buffer = 5);
	REFUSE(-ENOEXEC, "access of an operand", p->operands[0].access = 2);
	REFUSE(-ENOEXEC, "writes buffer 2, which is read-only", p->operands[1].buffer = 2);
	REFUSE(-ENOEXEC, "size of an operand: expected 16, found 15", p->operands[1].size = 15);
	REFUSE(-ENOEXEC, "end of an operand", p->operands[1].offset = 1);
	REFUSE(-ENOEXEC, "end of an operand", p->operands[1].offset = UINT64_MAX);
	REFUSE(-ENOEXEC, "operands overlap", p->operands[0].buffer = 3; p->buffers[3].size = 24;
	       p->operands[0].offset = 8);
	REFUSE(-ENOEXEC, "pad value of pack_nchw16", p->params[0].pad = 1000);
}

static void test_needs_a_device(void **state)
{
	struct npu_module *module = NULL;
	struct image image;

	(void)state;
	image_make(&image);
	assert_int_equal(npu_module_load_memory(NULL, image.data, image.size, &module), -ENODEV);
	assert_message("needs a device");
	assert_null(module);
	image_free(&image);
}

/* Step 2 alone, made to read the input: a module of kind host. */
static void make_host(struct image *image)
{
	struct image_plan *p;

	image_make(image);
	p = image->plan;
	image->note->kind = NPU_MODULE_HOST;
	image->note->contract = 0;
	image->note->config0 = 0;
	image->note->config1 = 0;
	p->function.steps = 1;
	p->head.steps.count = 1;
	p->operands[1].buffer = 1;
}

static void test_host_module_and_imports(void **state)
{
	struct npu_module *npu, *host, *third;
	struct npu_function *function;
	DLTensor x, y;
	int64_t shape[2] = { 3, 16 };
	int8_t in[48], out[48];
	struct npu_value args[2];
	struct image image;
	int i;

	(void)state;
	make_host(&image);
	if (npu_module_load_memory(NULL, image.data, image.size, &host))
		fail_msg("%s", npu_error_message());
	assert_int_equal(npu_module_load_memory(NULL, image.data, image.size, &third), 0);
	image_free(&image);
	assert_string_equal(npu_module_kind(host), "host");
	for (i = 0; i < 48; i++)
		in[i] = i * 5;
	x = (DLTensor) { .data = in, .device = { kDLCPU, 0 }, .ndim = 2,
			 .dtype = { kDLInt, 8, 1 }, .shape = shape };
	y = x;
	y.data = out;
	args[0] = (struct npu_value) { .type_index = NPU_TYPE_TENSOR, .v_tensor = &x };
	args[1] = (struct npu_value) { .type_index = NPU_TYPE_TENSOR, .v_tensor = &y };
	assert_int_equal(npu_module_get_function(host, "main", &function), 0);
	assert_int_equal(npu_function_call(function, args, 2, NULL), 0);
	assert_memory_equal(in, out, 48);

	image_make(&image);
	memcpy(image.data + section(&image, 5)->sh_offset + 1, "gone", 4);
	assert_int_equal(npu_module_load_memory(dev, image.data, image.size, &npu), 0);
	image_free(&image);
	assert_int_equal(npu_module_get_function(npu, "main", &function), -ENOENT);
	assert_int_equal(npu_module_import(npu, third), 0);
	assert_int_equal(npu_module_import(third, host), 0);
	assert_int_equal(npu_module_get_function(npu, "main", &function), 0);
	assert_int_equal(npu_module_import(host, npu), -ELOOP);
	assert_int_equal(npu_module_import(host, host), -ELOOP);
	npu_module_free(npu);
	npu_module_free(third);
	npu_module_free(host);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_loads),
		cmocka_unit_test(test_file),
		cmocka_unit_test(test_elf_refusals),
		cmocka_unit_test(test_note_refusals),
		cmocka_unit_test(test_table_refusals),
		cmocka_unit_test(test_tensor_and_buffer_refusals),
		cmocka_unit_test(test_step_refusals),
		cmocka_unit_test(test_needs_a_device),
		cmocka_unit_test(test_host_module_and_imports),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("libnpu modules", tests, open_device, close_device);
}
