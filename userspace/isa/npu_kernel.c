// SPDX-License-Identifier: MIT
/* Kernels: recording, sharing, and their place in UOP memory. */
#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include "userspace/isa/builder.h"

#define LOOP_MAX 16383

void kernels_forget(struct kernel_cache *cache)
{
	for (size_t i = 0; i < cache->list_count; i++)
		cache->lists[i].resident = false;
	cache->next_place = 0;
}

void kernels_free(struct kernel_cache *cache)
{
	free(cache->recording.uops);
	free(cache->image);
	free(cache->lists);
	free(cache->list_table.slots);
	free(cache->kernels);
	free(cache->kernel_table.slots);
}

/* FNV-1a */
static uint64_t hash_bytes(const void *data, size_t size)
{
	const unsigned char *p = data;
	uint64_t hash = UINT64_C(0xcbf29ce484222325);

	while (size--)
		hash = (hash ^ *p++) * UINT64_C(0x100000001b3);
	return hash;
}

static void table_put(struct number_table *table, uint64_t hash, size_t number)
{
	size_t i = hash & (table->size - 1);

	while (table->slots[i].number)
		i = (i + 1) & (table->size - 1);
	table->slots[i] = (struct number_slot){ hash, number + 1 };
}

/* Makes room for one more, so that table_put() cannot fail. */
static int table_reserve(struct number_table *table)
{
	struct number_table grown = { NULL, table->size ? table->size * 2 : 64, table->used };

	if (table->size && (table->used + 1) * 4 <= table->size * 3)
		return 0;
	grown.slots = calloc(grown.size, sizeof(*grown.slots));
	if (!grown.slots)
		return -ENOMEM;
	for (size_t i = 0; i < table->size; i++)
		if (table->slots[i].number)
			table_put(&grown, table->slots[i].hash, table->slots[i].number - 1);
	free(table->slots);
	*table = grown;
	return 0;
}

static int in_recording(struct npu_builder *b, const char *what)
{
	if (b->error)
		return b->error;
	if (!b->kernels.recording.active)
		return builder_fail(b, -EINVAL, "kernel %zu: %s outside a recording",
				    b->kernels.kernel_count, what);
	return 0;
}

int npu_builder_kernel_begin(struct npu_builder *b)
{
	struct kernel_recording *recording = &b->kernels.recording;
	int ret = builder_ready(b);

	if (ret)
		return ret;
	recording->active = true;
	recording->loops = 0;
	recording->count = 0;
	return 0;
}

static int check_range(struct npu_builder *b, const char *name, int64_t value, int64_t min,
		       int64_t max)
{
	if (value >= min && value <= max)
		return 0;
	return builder_fail(b, -ERANGE, "kernel %zu: %s is %" PRId64 ", not in %" PRId64 " to %"
			    PRId64, b->kernels.kernel_count, name, value, min, max);
}

int npu_builder_loop(struct npu_builder *b, int64_t extent, int64_t dst_factor,
		     int64_t src_factor, int64_t wgt_factor)
{
	struct kernel_recording *recording = &b->kernels.recording;
	int ret = in_recording(b, "a loop");

	if (ret)
		return ret;
	if (recording->loops == 2 || recording->count)
		return builder_fail(b, -EINVAL, "kernel %zu: %s", b->kernels.kernel_count,
				    recording->count ? "a loop after a micro-op" : "a third loop");
	ret = check_range(b, "a loop's extent", extent, 1, LOOP_MAX);
	if (!ret)
		ret = check_range(b, "a loop's dst factor", dst_factor, 0, NPU_ACC_DEPTH - 1);
	if (!ret)
		ret = check_range(b, "a loop's src factor", src_factor, 0, NPU_INP_DEPTH - 1);
	if (!ret)
		ret = check_range(b, "a loop's wgt factor", wgt_factor, 0, NPU_WGT_DEPTH - 1);
	if (ret)
		return ret;
	/* The factors of a loop that runs once do not count. */
	recording->loop[recording->loops++] = extent == 1 ?
		(struct kernel_loop){ 1, 0, 0, 0 } :
		(struct kernel_loop){ extent, dst_factor, src_factor, wgt_factor };
	return 0;
}

static void put_le32(uint32_t *word, uint32_t value)
{
	const unsigned char bytes[] = { value & 0xff, value >> 8 & 0xff, value >> 16 & 0xff,
					value >> 24 };

	memcpy(word, bytes, sizeof(bytes));
}

static uint32_t get_le32(const uint32_t *word)
{
	unsigned char bytes[4];

	memcpy(bytes, word, sizeof(bytes));
	return bytes[0] | bytes[1] << 8 | bytes[2] << 16 | (uint32_t)bytes[3] << 24;
}

int npu_builder_uop(struct npu_builder *b, int64_t dst, int64_t src, int64_t wgt)
{
	struct kernel_recording *recording = &b->kernels.recording;
	const struct npu_uop uop = { dst, src, wgt };
	struct npu_isa_error err;
	uint32_t word;
	void *grown;
	int ret = in_recording(b, "a micro-op");

	if (ret)
		return ret;
	if (recording->count == b->config.uop_depth)
		return builder_fail(b, -E2BIG, "kernel %zu: more than %u micro-ops",
				    b->kernels.kernel_count, b->config.uop_depth);
	if (npu_uop_pack(&uop, &word, &err))
		return check_range(b, err.field, err.value, err.min, err.max);
	grown = builder_grow(recording->uops, &recording->capacity, recording->count, 1,
			     sizeof(*recording->uops));
	if (!grown)
		return builder_fail(b, -ENOMEM, "kernel %zu: no memory for its micro-ops",
				    b->kernels.kernel_count);
	recording->uops = grown;
	put_le32(&recording->uops[recording->count++], word);
	return 0;
}

static size_t find_list(const struct kernel_cache *cache, uint64_t hash)
{
	const struct kernel_recording *recording = &cache->recording;
	const struct number_table *table = &cache->list_table;
	size_t i = hash & (table->size - 1);

	for (; table->size && table->slots[i].number; i = (i + 1) & (table->size - 1)) {
		const struct uop_list *list = &cache->lists[table->slots[i].number - 1];

		if (table->slots[i].hash == hash && list->count == recording->count &&
		    !memcmp(cache->image + list->first, recording->uops,
			    list->count * sizeof(*cache->image)))
			return table->slots[i].number - 1;
	}
	return SIZE_MAX;
}

static int64_t higher(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

static int reserve_list(struct kernel_cache *cache, size_t uops)
{
	void *lists = builder_grow(cache->lists, &cache->list_capacity, cache->list_count, 1,
				   sizeof(*cache->lists));
	void *image;

	if (!lists)
		return -ENOMEM;
	cache->lists = lists;
	image = builder_grow(cache->image, &cache->image_capacity, cache->image_count, uops,
			     sizeof(*cache->image));
	if (!image)
		return -ENOMEM;
	cache->image = image;
	return table_reserve(&cache->list_table);
}

static int add_list(struct kernel_cache *cache, uint64_t hash)
{
	const struct kernel_recording *recording = &cache->recording;
	struct uop_list list = { .first = cache->image_count, .count = recording->count };

	if (reserve_list(cache, list.count))
		return -ENOMEM;
	memcpy(cache->image + list.first, recording->uops, list.count * sizeof(*cache->image));
	for (size_t i = 0; i < list.count; i++) {
		struct npu_uop uop = npu_uop_unpack(get_le32(&recording->uops[i]));

		list.max.dst = higher(list.max.dst, uop.dst);
		list.max.src = higher(list.max.src, uop.src);
		list.max.wgt = higher(list.max.wgt, uop.wgt);
	}
	cache->image_count += list.count;
	table_put(&cache->list_table, hash, cache->list_count);
	cache->list_table.used++;
	cache->lists[cache->list_count++] = list;
	return 0;
}

/* Compared and hashed by bytes: every byte of a kernel is a member's. */
static_assert(sizeof(struct kernel) == 8 * sizeof(int64_t) + sizeof(size_t), "no padding");

static size_t find_kernel(const struct kernel_cache *cache, const struct kernel *kernel,
			  uint64_t hash)
{
	const struct number_table *table = &cache->kernel_table;
	size_t i = hash & (table->size - 1);

	for (; table->size && table->slots[i].number; i = (i + 1) & (table->size - 1))
		if (table->slots[i].hash == hash &&
		    !memcmp(&cache->kernels[table->slots[i].number - 1], kernel, sizeof(*kernel)))
			return table->slots[i].number - 1;
	return SIZE_MAX;
}

static int add_kernel(struct kernel_cache *cache, const struct kernel *kernel, uint64_t hash)
{
	void *grown;

	if (cache->kernel_count == INT_MAX || table_reserve(&cache->kernel_table))
		return -ENOMEM;
	grown = builder_grow(cache->kernels, &cache->kernel_capacity, cache->kernel_count, 1,
			     sizeof(*cache->kernels));
	if (!grown)
		return -ENOMEM;
	cache->kernels = grown;
	table_put(&cache->kernel_table, hash, cache->kernel_count);
	cache->kernel_table.used++;
	cache->kernels[cache->kernel_count++] = *kernel;
	return 0;
}

/* The number of the recorded kernel, or SIZE_MAX without memory. */
static size_t keep_recording(struct kernel_cache *cache)
{
	const struct kernel_recording *recording = &cache->recording;
	struct kernel kernel = { .outer = { 1, 0, 0, 0 }, .inner = { 1, 0, 0, 0 } };
	uint64_t hash = hash_bytes(recording->uops, recording->count * sizeof(*recording->uops));
	size_t found;

	kernel.list = find_list(cache, hash);
	if (kernel.list == SIZE_MAX) {
		if (add_list(cache, hash))
			return SIZE_MAX;
		kernel.list = cache->list_count - 1;
	}
	if (recording->loops)
		kernel.inner = recording->loop[recording->loops - 1];
	if (recording->loops == 2)
		kernel.outer = recording->loop[0];
	hash = hash_bytes(&kernel, sizeof(kernel));
	found = find_kernel(cache, &kernel, hash);
	if (found != SIZE_MAX)
		return found;
	return add_kernel(cache, &kernel, hash) ? SIZE_MAX : cache->kernel_count - 1;
}

int npu_builder_kernel_end(struct npu_builder *b)
{
	struct kernel_cache *cache = &b->kernels;
	int ret = in_recording(b, "an end");
	size_t number;

	if (ret)
		return ret;
	if (!cache->recording.count)
		return builder_fail(b, -EINVAL, "kernel %zu: no micro-ops", cache->kernel_count);
	cache->recording.active = false;
	number = keep_recording(cache);
	if (number == SIZE_MAX)
		return builder_fail(b, -ENOMEM, "kernel %zu: no memory", cache->kernel_count);
	return (int)number;
}

/* Emits the LOAD of image[first..] to UOP[place..]. */
static int load_uops(struct npu_builder *b, size_t first, size_t count, unsigned int place)
{
	const struct npu_insn insn = {
		.format = NPU_FORMAT_MEM,
		.mem = {
			.opcode = NPU_OP_LOAD, .memory = NPU_MEM_UOP, .sram_base = place,
			.region = b->config.uop_region,
			.dram_base = (int64_t)(b->config.uop_base + first),
			.y_size = 1, .x_size = (int64_t)count, .x_stride = (int64_t)count,
		},
	};

	return builder_append_plain(b, &insn);
}

/* Takes UOP memory from place on for a list; lists that lived there are gone. */
static void settle(struct kernel_cache *cache, size_t number, unsigned int place)
{
	struct uop_list *list = &cache->lists[number];

	for (unsigned int i = place; i < place + list->count; i++) {
		struct uop_list *old = cache->owner[i] ? &cache->lists[cache->owner[i] - 1] : NULL;

		if (old && i >= old->place && i < old->place + old->count)
			old->resident = false;
		cache->owner[i] = number + 1;
	}
	list->resident = true;
	list->place = place;
}

static int make_resident(struct npu_builder *b, size_t number)
{
	struct kernel_cache *cache = &b->kernels;
	const struct uop_list *list = &cache->lists[number];
	unsigned int place = cache->next_place;
	int ret;

	if (list->resident)
		return 0;
	if (list->count > b->config.uop_depth - place)
		place = 0;
	ret = load_uops(b, list->first, list->count, place);
	if (ret)
		return ret;
	settle(cache, number, place);
	cache->next_place = place + (unsigned int)list->count;
	return 0;
}

int npu_builder_preload(struct npu_builder *b)
{
	struct kernel_cache *cache = &b->kernels;
	int ret = builder_ready(b);

	if (ret || !cache->image_count || cache->image_count > b->config.uop_depth)
		return ret;
	ret = load_uops(b, 0, cache->image_count, 0);
	if (ret)
		return ret;
	kernels_forget(cache);
	for (size_t i = 0; i < cache->list_count; i++)
		settle(cache, i, (unsigned int)cache->lists[i].first);
	cache->next_place = (unsigned int)cache->image_count;
	return 0;
}

static int64_t reach(int64_t max, const struct kernel *kernel, int64_t outer, int64_t inner)
{
	return max + (kernel->outer.extent - 1) * outer + (kernel->inner.extent - 1) * inner;
}

/* What an instruction reads beside its destination, as limits of indices. */
struct use {
	const char *name;
	unsigned int src_depth;		/* 0: src is not used */
	unsigned int src_rows;		/* consecutive elements from src on */
	unsigned int wgt_depth;		/* 0: wgt is not used */
	bool wgt_fields;		/* the format has weight factors */
};

static int check_reach(struct npu_builder *b, const struct use *use, const char *what,
		       int64_t highest, unsigned int depth)
{
	if (highest < depth)
		return 0;
	return builder_fail(b, -ERANGE, "instruction %zu (%s): %s reaches %" PRId64
			    ", the memory has %u", b->count, use->name, what, highest, depth);
}

/* The kernel, resident and within its memories; or NULL after an error. */
static const struct kernel *prepare(struct npu_builder *b, int number, const struct use *use)
{
	const struct kernel *k;
	const struct npu_uop *max;

	if (builder_ready(b))
		return NULL;
	if (number < 0 || (size_t)number >= b->kernels.kernel_count) {
		builder_fail(b, -EINVAL, "instruction %zu (%s): there is no kernel %d", b->count,
			     use->name, number);
		return NULL;
	}
	k = &b->kernels.kernels[number];
	max = &b->kernels.lists[k->list].max;
	if (!use->wgt_fields && (k->outer.wgt_factor || k->inner.wgt_factor)) {
		builder_fail(b, -EINVAL, "instruction %zu (%s): kernel %d has weight factors",
			     b->count, use->name, number);
		return NULL;
	}
	if (check_reach(b, use, "dst", reach(max->dst, k, k->outer.dst_factor, k->inner.dst_factor),
			NPU_ACC_DEPTH) ||
	    (use->src_depth &&
	     check_reach(b, use, "src", reach(max->src, k, k->outer.src_factor,
					      k->inner.src_factor) + use->src_rows - 1,
			 use->src_depth)) ||
	    (use->wgt_depth &&
	     check_reach(b, use, "wgt", reach(max->wgt, k, k->outer.wgt_factor,
					      k->inner.wgt_factor), use->wgt_depth)) ||
	    make_resident(b, k->list))
		return NULL;
	return k;
}

#define LOOP_FIELDS(b, k) \
	.uop_bgn = (b)->kernels.lists[(k)->list].place, \
	.uop_end = (int64_t)((b)->kernels.lists[(k)->list].place + \
			     (b)->kernels.lists[(k)->list].count), \
	.iter_out = (k)->outer.extent, .iter_in = (k)->inner.extent, \
	.dst_factor_out = (k)->outer.dst_factor, .dst_factor_in = (k)->inner.dst_factor, \
	.src_factor_out = (k)->outer.src_factor, .src_factor_in = (k)->inner.src_factor

#define WGT_FIELDS(k) \
	.wgt_factor_out = (k)->outer.wgt_factor, .wgt_factor_in = (k)->inner.wgt_factor

int npu_builder_gemm(struct npu_builder *b, int kernel, bool reset)
{
	const struct use use = { "gemm", reset ? 0 : NPU_INP_DEPTH, 1, reset ? 0 : NPU_WGT_DEPTH,
				 true };
	const struct kernel *k = prepare(b, kernel, &use);

	if (!k)
		return b->error;
	return builder_append(b, &(struct npu_insn){
		.format = NPU_FORMAT_GEMM,
		.gemm = { .opcode = NPU_OP_GEMM, .reset = reset, LOOP_FIELDS(b, k), WGT_FIELDS(k) },
	});
}

int npu_builder_alu(struct npu_builder *b, int kernel, unsigned int op)
{
	const struct use use = { "alu", NPU_ACC_DEPTH, 1, 0, false };
	const struct kernel *k = prepare(b, kernel, &use);

	if (!k)
		return b->error;
	return builder_append(b, &(struct npu_insn){
		.format = NPU_FORMAT_ALU,
		.alu = { .opcode = NPU_OP_ALU, .alu_op = op, LOOP_FIELDS(b, k) },
	});
}

int npu_builder_alu_imm(struct npu_builder *b, int kernel, unsigned int op, int64_t imm)
{
	const struct use use = { "alu", 0, 1, 0, false };
	const struct kernel *k = prepare(b, kernel, &use);

	if (!k)
		return b->error;
	return builder_append(b, &(struct npu_insn){
		.format = NPU_FORMAT_ALU,
		.alu = { .opcode = NPU_OP_ALU, .alu_op = op, .use_imm = 1, .imm = imm,
			 LOOP_FIELDS(b, k) },
	});
}

int npu_builder_requant(struct npu_builder *b, int kernel)
{
	const struct use use = { "requant", NPU_ACC_DEPTH, 3, 0, false };
	const struct kernel *k = prepare(b, kernel, &use);

	if (!k)
		return b->error;
	return builder_append(b, &(struct npu_insn){
		.format = NPU_FORMAT_REQUANT,
		.requant = { .opcode = NPU_OP_EXT, .ext_op = NPU_EXT_REQUANT, LOOP_FIELDS(b, k) },
	});
}

int npu_builder_vmac(struct npu_builder *b, int kernel, bool reset)
{
	const struct use use = { "vmac", reset ? 0 : NPU_INP_DEPTH, 1,
				 reset ? 0 : NPU_WGT_DEPTH * NPU_BLOCK, true };
	const struct kernel *k = prepare(b, kernel, &use);

	if (!k)
		return b->error;
	return builder_append(b, &(struct npu_insn){
		.format = NPU_FORMAT_VMAC,
		.vmac = { .opcode = NPU_OP_EXT, .ext_op = NPU_EXT_VMAC, .reset = reset,
			  LOOP_FIELDS(b, k), WGT_FIELDS(k) },
	});
}

int npu_builder_lut(struct npu_builder *b, int kernel, int64_t table)
{
	const struct use use = { "lut", NPU_ACC_DEPTH, 1, 0, false };
	const struct kernel *k = prepare(b, kernel, &use);

	if (!k)
		return b->error;
	return builder_append(b, &(struct npu_insn){
		.format = NPU_FORMAT_LUT,
		.lut = { .opcode = NPU_OP_EXT, .ext_op = NPU_EXT_LUT, .table = table,
			 LOOP_FIELDS(b, k) },
	});
}
