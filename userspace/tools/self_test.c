// SPDX-License-Identifier: MIT
/* A job that shows that a device works: all three units, memory, and the arithmetic. */
#include "userspace/tools/self_test.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <npu/npu.h>

#include "npu_isa.h"
#include "npu_regs.h"
#include "userspace/isa/npu_builder.h"

#define BLOCK		16
#define WAIT_NS		(10ll * 1000 * 1000 * 1000)

enum { REGION_X = 1, REGION_W, REGION_UOP, REGION_Y, REGIONS };
/* Where these are in the buffer of data, and the instructions in theirs. */
enum { AT_X = 0, AT_W = 64, AT_UOP = 512, AT_Y = 1024, DATA_SIZE = 4096 };

struct test {
	struct npu_device *dev;
	struct npu_stream *stream;
	struct npu_buffer *insns;
	struct npu_buffer *data;
	size_t insn_count;
};

static void emit(struct npu_builder *b)
{
	const struct npu_insn_mem x = {
		.memory = NPU_MEM_INP, .region = REGION_X, .y_size = 1, .x_size = 1, .x_stride = 1,
	};
	const struct npu_insn_mem w = {
		.memory = NPU_MEM_WGT, .region = REGION_W, .y_size = 1, .x_size = 1, .x_stride = 1,
	};
	const struct npu_insn_mem y = {
		.region = REGION_Y, .y_size = 1, .x_size = 1, .x_stride = 1,
	};
	int kernel;

	npu_builder_load(b, &x);
	npu_builder_load(b, &w);
	npu_builder_kernel_begin(b);
	npu_builder_uop(b, 0, 0, 0);
	kernel = npu_builder_kernel_end(b);
	npu_builder_gemm(b, kernel, true);
	npu_builder_dep_push(b, NPU_UNIT_LOAD, NPU_UNIT_COMPUTE);
	npu_builder_dep_pop(b, NPU_UNIT_LOAD, NPU_UNIT_COMPUTE);
	npu_builder_gemm(b, kernel, false);
	npu_builder_dep_push(b, NPU_UNIT_COMPUTE, NPU_UNIT_STORE);
	npu_builder_dep_pop(b, NPU_UNIT_COMPUTE, NPU_UNIT_STORE);
	npu_builder_store(b, &y);
}

static int8_t weight(int row, int column)
{
	return row == column ? 2 : row == column + 1 ? -3 : 0;
}

static int8_t input(int index)
{
	return 5 * index - 37;
}

static int fill(struct test *t, const struct npu_builder_output *out)
{
	int8_t *data;
	int i, err;

	err = npu_buffer_alloc(t->dev, out->insn_count * NPU_INSN_BYTES,
			       NPU_BUFFER_EXECUTE | NPU_BUFFER_READ_ONLY, &t->insns);
	if (!err)
		err = npu_buffer_alloc(t->dev, DATA_SIZE, 0, &t->data);
	if (err)
		return err;
	memcpy(npu_buffer_data(t->insns), out->insns, out->insn_count * NPU_INSN_BYTES);
	t->insn_count = out->insn_count;
	data = npu_buffer_data(t->data);
	memcpy(data + AT_UOP, out->uops, out->uop_count * NPU_UOP_BYTES);
	for (i = 0; i < BLOCK; i++)
		data[AT_X + i] = input(i);
	for (i = 0; i < BLOCK * BLOCK; i++)
		data[AT_W + i] = weight(i / BLOCK, i % BLOCK);
	return 0;
}

static int prepare(struct test *t)
{
	const struct npu_builder_config config = { .uop_region = REGION_UOP };
	struct npu_builder_output out;
	struct npu_builder *b;
	int err = npu_builder_new(&b, &config);

	if (err)
		return err;
	emit(b);
	err = npu_builder_finish(b, &out);
	if (!err)
		err = fill(t, &out);
	npu_builder_free(b);
	return err;
}

static int run(struct test *t, struct npu_report *report)
{
	uint64_t base = npu_buffer_address(t->data);
	const struct npu_job_region regions[REGIONS] = {
		[REGION_X] = { base + AT_X, BLOCK },
		[REGION_W] = { base + AT_W, BLOCK * BLOCK },
		[REGION_UOP] = { base + AT_UOP, 64 },
		[REGION_Y] = { base + AT_Y, BLOCK },
	};
	const struct npu_job job = {
		.insn_address = npu_buffer_address(t->insns),
		.insn_count = t->insn_count,
		.region_count = REGIONS,
		.regions = regions,
	};
	int err = npu_stream_create(t->dev, NULL, &t->stream);

	if (!err)
		err = npu_stream_submit(t->stream, &job, 1, NULL);
	if (!err)
		err = npu_stream_wait(t->stream, 0, WAIT_NS);
	return err ? err : npu_stream_report(t->stream, 0, report);
}

static int compare(const struct test *t, char *why, size_t size)
{
	const int8_t *y = (int8_t *)npu_buffer_data(t->data) + AT_Y;
	int row, column, sum;

	for (row = 0; row < BLOCK; row++) {
		for (sum = 0, column = 0; column < BLOCK; column++)
			sum += weight(row, column) * input(column);
		if (y[row] == (int8_t)sum)
			continue;
		snprintf(why, size, "wrong result: element %d is %d, expected %d", row, y[row],
			 (int8_t)sum);
		return -EBADMSG;
	}
	return 0;
}

int self_test(const char *name, uint64_t *cycles, char *why, size_t size)
{
	struct test t = { 0 };
	struct npu_report report = { 0 };
	int err = npu_device_open(&t.dev, name);

	if (!err)
		err = prepare(&t);
	if (!err)
		err = run(&t, &report);
	if (err)
		snprintf(why, size, "%s", npu_error_message());
	else
		err = compare(&t, why, size);
	*cycles = report.cycles;
	npu_stream_destroy(t.stream);
	npu_buffer_free(t.insns);
	npu_buffer_free(t.data);
	npu_device_close(t.dev);
	return err;
}
