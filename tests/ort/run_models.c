// SPDX-License-Identifier: MIT
/*
 * Compiles and runs models, many in one process, and compares what they give.
 *
 * usage: run_models < LIST
 * A line of LIST is "NAME ULP MODEL INPUT OUTPUT": the units in the last place
 * by which floats may differ (of 2^-20, if they are smaller), the bytes of the
 * inputs, one after the other, and those of the outputs as expected. One line a model is printed: "NAME equal
 * VALUES", "NAME differs ...", "NAME refused ...", or "NAME failed ...".
 */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <npu/npu.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "userspace/compiler/npu_compiler.h"

#define MAX_ARGS  64
#define MAX_BYTES (64u << 20)

struct bytes {
	uint8_t *data;
	size_t size;
};

/* One model: what was read, and what it became. */
struct test {
	char name[256], model[1024], input[1024], output[1024];
	struct bytes onnx, in, out;
	struct npu_module *module;
	struct npu_function *function;
	struct npu_function_info info;
	DLTensor tensor[MAX_ARGS];
	int64_t shape[MAX_ARGS][NPU_MAX_DIMS];
	struct npu_value args[MAX_ARGS];
	struct bytes found;
	unsigned long ulp;
};

static bool read_file(const char *path, struct bytes *b)
{
	FILE *f = fopen(path, "rbe");
	struct stat st;
	bool ok;

	if (!f)
		return false;
	ok = !fstat(fileno(f), &st) && st.st_size <= MAX_BYTES;
	b->size = ok ? st.st_size : 0;
	b->data = malloc(b->size + 1);
	ok = ok && b->data && fread(b->data, 1, b->size, f) == b->size;
	fclose(f);
	return ok;
}

static bool say(const struct test *t, const char *verdict, const char *message)
{
	printf("%s %s %s\n", t->name, verdict, message);
	return false;
}

static bool load_compiled(struct test *t, struct npu_device *dev, const struct npu_compiled *c)
{
	int fd = memfd_create("module", MFD_CLOEXEC);
	struct stat st;
	void *file;
	int ret;

	if (fd < 0 || npu_compiled_write(c, fd) || fstat(fd, &st)) {
		if (fd >= 0)
			close(fd);
		return say(t, "failed", "the module cannot be written");
	}
	file = mmap(NULL, st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
	if (file == MAP_FAILED)
		return say(t, "failed", "the module cannot be mapped");
	ret = npu_module_load_memory(dev, file, st.st_size, &t->module);
	munmap(file, st.st_size);
	if (!ret)
		ret = npu_module_get_function(t->module, "main", &t->function);
	return ret ? say(t, "failed", npu_error_message()) : true;
}

static bool compile(struct test *t, struct npu_device *dev)
{
	struct npu_compiled *c;
	char message[512];
	bool ok;

	if (npu_compile(&c, t->onnx.data, t->onnx.size, NULL, message, sizeof(message)))
		return say(t, "refused", message);
	ok = load_compiled(t, dev, c);
	npu_compiled_free(c);
	return ok;
}

static size_t tensor_size(const DLTensor *t)
{
	size_t size = t->dtype.bits / 8;

	for (int i = 0; i < t->ndim; i++)
		size *= t->shape[i];
	return size;
}

/* Describes argument @i; its bytes. */
static size_t describe(struct test *t, unsigned int i)
{
	struct npu_tensor_info info;

	npu_function_get_tensor(t->function, i, &info);
	memcpy(t->shape[i], info.shape, sizeof(t->shape[i]));
	t->tensor[i] = (DLTensor){
		.device = { kDLCPU, 0 },
		.ndim = info.ndim,
		.dtype = info.dtype,
		.shape = t->shape[i],
	};
	t->args[i] =
		(struct npu_value){ .type_index = NPU_TYPE_TENSOR, .v_tensor = &t->tensor[i] };
	return tensor_size(&t->tensor[i]);
}

/* Each tensor has memory of its own, so that its type's alignment holds. */
static bool bind(struct test *t)
{
	size_t in = 0, out = 0;

	npu_function_get_info(t->function, &t->info);
	if (t->info.inputs + t->info.outputs > MAX_ARGS)
		return say(t, "failed", "too many arguments");
	for (unsigned int i = 0; i < t->info.inputs + t->info.outputs; i++) {
		size_t size = describe(t, i);
		size_t *total = i < t->info.inputs ? &in : &out;

		t->tensor[i].data = calloc(1, size + 1);
		if (!t->tensor[i].data)
			return say(t, "failed", "out of memory");
		if (i < t->info.inputs && in + size <= t->in.size)
			memcpy(t->tensor[i].data, t->in.data + in, size);
		*total += size;
	}
	if (in != t->in.size || out != t->out.size) {
		printf("%s failed %zu bytes of inputs and %zu of outputs, expected %zu and %zu\n",
		       t->name, in, out, t->in.size, t->out.size);
		return false;
	}
	return true;
}

/* Below that, floats may differ as much as there. */
#define SMALL 0x1p-20

static bool same(const DLTensor *tensor, const uint8_t *found, const uint8_t *expected,
		 unsigned long ulp)
{
	float a, b;

	if (!memcmp(found, expected, tensor->dtype.bits / 8))
		return true;
	if (tensor->dtype.code != kDLFloat || !ulp)
		return false;
	memcpy(&a, found, sizeof(a));
	memcpy(&b, expected, sizeof(b));
	return fabs((double)a - b) <= ulp * 0x1p-23 * fmax(fabs((double)b), SMALL);
}

static double value_of(const DLTensor *tensor, const uint8_t *at)
{
	union {
		float f32;
		int32_t i32;
		int64_t i64;
	} v;

	if (tensor->dtype.bits == 8)
		return tensor->dtype.code == kDLInt ? (int8_t)*at : *at;
	memcpy(&v, at, tensor->dtype.bits / 8);
	if (tensor->dtype.code == kDLFloat)
		return v.f32;
	return tensor->dtype.bits == 32 ? v.i32 : (double)v.i64;
}

static void compare(const struct test *t)
{
	size_t at = 0, values = 0, wrong = 0;
	char first[256] = "";

	for (unsigned int i = t->info.inputs; i < t->info.inputs + t->info.outputs; i++) {
		const DLTensor *tensor = &t->tensor[i];
		size_t step = tensor->dtype.bits / 8, size = tensor_size(tensor);

		for (size_t k = 0; k < size; k += step, values++) {
			const uint8_t *found = (const uint8_t *)tensor->data + k;

			if (same(tensor, found, t->out.data + at + k, t->ulp))
				continue;
			if (!wrong++)
				snprintf(first, sizeof(first),
					 "output %u, element %zu: expected %.9g, found %.9g",
					 i - t->info.inputs, k / step,
					 value_of(tensor, t->out.data + at + k),
					 value_of(tensor, found));
		}
		at += size;
	}
	if (wrong)
		printf("%s differs %zu of %zu values, first %s\n", t->name, wrong, values, first);
	else
		printf("%s equal %zu\n", t->name, values);
}

static void run(struct test *t, struct npu_device *dev)
{
	if (!read_file(t->model, &t->onnx) || !read_file(t->input, &t->in) ||
	    !read_file(t->output, &t->out)) {
		say(t, "failed", "a file cannot be read");
		return;
	}
	if (!compile(t, dev) || !bind(t))
		return;
	if (npu_function_call(t->function, t->args, t->info.inputs + t->info.outputs, NULL))
		say(t, "failed", npu_error_message());
	else
		compare(t);
}

static void drop(struct test *t)
{
	for (unsigned int i = 0; i < MAX_ARGS; i++)
		free(t->tensor[i].data);
	npu_module_free(t->module);
	free(t->onnx.data);
	free(t->in.data);
	free(t->out.data);
}

int main(void)
{
	static struct test t;
	struct npu_device *dev;
	char line[4096];

	if (npu_device_open(&dev, NULL)) {
		fprintf(stderr, "run_models: %s\n", npu_error_message());
		return 1;
	}
	while (fgets(line, sizeof(line), stdin)) {
		memset(&t, 0, sizeof(t));
		if (sscanf(line, "%255s %lu %1023s %1023s %1023s", t.name, &t.ulp, t.model,
			   t.input, t.output) != 5) {
			fprintf(stderr, "run_models: not five words: %s", line);
			return 1;
		}
		run(&t, dev);
		fflush(stdout);
		drop(&t);
	}
	npu_device_close(dev);
	return 0;
}
