// SPDX-License-Identifier: MIT
/* Functions: what they are, their memory, their arguments. */
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "npu_proto.h"
#include "userspace/libnpu/module.h"

#define CACHE_LINE	64u

/* One NPU step of one item, in memory that the device reads and writes. */
struct table {
	struct npu_job_report report;
	struct npu_region regions[NPU_REGION_TABLE_MAX];
};

_Static_assert(sizeof(struct table) % NPU_REPORT_ALIGN == 0, "reports stay aligned");

/* ---- memory ---- */

int npu_function_init(struct npu_function *fn, struct npu_module *module,
		      const struct npu_plan_function *plan)
{
	uint32_t i;

	fn->module = module;
	fn->plan = plan;
	fn->buffers = module->plan.buffers + plan->first_buffer;
	fn->steps = module->plan.steps + plan->first_step;
	fn->tensors = module->plan.tensors + plan->first_tensor;
	fn->scratch_offsets = calloc(plan->buffers + 1ul, sizeof(*fn->scratch_offsets));
	if (!fn->scratch_offsets)
		return npu_fail(-ENOMEM, "out of memory for a function");

	for (i = 0; i < plan->buffers; i++) {
		if (fn->buffers[i].kind != NPU_BUFFER_SCRATCH)
			continue;
		fn->scratch_offsets[i] = fn->scratch_size;
		fn->scratch_size += (fn->buffers[i].size + CACHE_LINE - 1) & ~(CACHE_LINE - 1ull);
	}
	for (i = 0; i < plan->steps; i++)
		fn->npu_steps += fn->steps[i].kind == NPU_STEP_NPU;
	return 0;
}

static void drop_memory(struct npu_function *fn)
{
	if (!fn->memory)
		free(fn->scratch);
	npu_buffer_free(fn->memory);
	npu_buffer_free(fn->tables);
	fn->scratch = NULL;
	fn->memory = NULL;
	fn->tables = NULL;
	fn->items = 0;
}

void npu_function_fini(struct npu_function *fn)
{
	drop_memory(fn);
	free(fn->scratch_offsets);
}

static struct table *table_of(const struct npu_function *fn, uint32_t item, uint32_t step)
{
	return (struct table *)npu_buffer_data(fn->tables) +
	       (size_t)item * fn->npu_steps + step;
}

static uint64_t table_va(const struct npu_function *fn, uint32_t item, uint32_t step)
{
	return npu_buffer_address(fn->tables) +
	       ((uint64_t)item * fn->npu_steps + step) * sizeof(struct table);
}

uint64_t npu_function_regions(const struct npu_function *fn, uint32_t item, uint32_t step)
{
	return table_va(fn, item, step) + offsetof(struct table, regions);
}

uint64_t npu_function_report_va(const struct npu_function *fn, uint32_t item, uint32_t step)
{
	return table_va(fn, item, step) + offsetof(struct table, report);
}

void *npu_function_report(const struct npu_function *fn, uint32_t item, uint32_t step)
{
	return &table_of(fn, item, step)->report;
}

static uint64_t scratch_at(const struct npu_function *fn, uint32_t buffer, uint32_t item)
{
	return item * fn->scratch_size + fn->scratch_offsets[buffer];
}

uint8_t *npu_function_host(const struct npu_function *fn, uint32_t buffer, uint32_t item)
{
	const struct npu_plan_buffer *b = &fn->buffers[buffer];

	if (b->kind == NPU_BUFFER_CONST)
		return fn->module->host_constants + b->offset;
	return fn->scratch + scratch_at(fn, buffer, item);
}

/* Device address of a buffer that regions may name. */
static uint64_t device_address(const struct npu_function *fn, uint32_t buffer, uint32_t item)
{
	const struct npu_plan_buffer *b = &fn->buffers[buffer];

	if (!b->size)
		return 0;
	if (b->kind == NPU_BUFFER_CONST)
		return npu_buffer_address(fn->module->constants) + b->offset;
	return npu_buffer_address(fn->memory) + scratch_at(fn, buffer, item);
}

static void fill_regions(struct npu_function *fn, const struct npu_plan_step *step, uint32_t item,
			 struct npu_region *out)
{
	const struct npu_plan_region *r = fn->module->plan.regions + step->first;
	uint32_t i;

	for (i = 0; i < step->count; i++, r++) {
		if (r->buffer == NPU_PLAN_NONE)
			continue;
		out[i].base = device_address(fn, r->buffer, item) + r->offset;
		out[i].limit = r->limit;
	}
}

static void fill_tables(struct npu_function *fn)
{
	uint32_t item, i, n;

	for (item = 0; item < fn->items; item++)
		for (i = 0, n = 0; i < fn->plan->steps; i++)
			if (fn->steps[i].kind == NPU_STEP_NPU)
				fill_regions(fn, &fn->steps[i], item,
					     table_of(fn, item, n++)->regions);
}

/* Tables exist where there are NPU steps, and there is a device then. */
static int alloc_device_memory(struct npu_function *fn, uint32_t items)
{
	struct npu_device *dev = fn->module->dev;
	int ret = 0;

	if (fn->scratch_size)
		ret = npu_buffer_alloc(dev, items * fn->scratch_size, 0, &fn->memory);
	if (ret)
		return ret;
	if (fn->memory)
		fn->scratch = npu_buffer_data(fn->memory);
	return npu_buffer_alloc(dev, (size_t)items * fn->npu_steps * sizeof(struct table), 0,
				&fn->tables);
}

static int alloc_host_memory(struct npu_function *fn, uint32_t items)
{
	if (!fn->scratch_size)
		return 0;
	fn->scratch = aligned_alloc(CACHE_LINE, items * fn->scratch_size);
	if (!fn->scratch)
		return npu_fail(-ENOMEM, "out of memory for %u x %llu bytes of scratch memory",
				items, (unsigned long long)fn->scratch_size);
	memset(fn->scratch, 0, items * fn->scratch_size);
	return 0;
}

int npu_function_reserve(struct npu_function *fn, uint32_t items)
{
	int ret;

	if (items <= fn->items)
		return 0;
	drop_memory(fn);
	ret = fn->npu_steps ? alloc_device_memory(fn, items) : alloc_host_memory(fn, items);
	if (ret) {
		drop_memory(fn);
		return ret;
	}
	fn->items = items;
	fill_tables(fn);
	return 0;
}

/* ---- questions ---- */

static const char *string(const struct npu_function *fn, uint32_t offset)
{
	return fn->module->plan.strings + offset;
}

void npu_function_get_info(const struct npu_function *fn, struct npu_function_info *info)
{
	if (npu_null(info))
		return;
	if (npu_null(fn)) {
		memset(info, 0, sizeof(*info));
		return;
	}
	*info = (struct npu_function_info) {
		.name = string(fn, fn->plan->name),
		.inputs = fn->plan->inputs,
		.outputs = fn->plan->outputs,
		.batched = fn->plan->flags & NPU_FUNCTION_BATCHED,
		.steps = fn->plan->steps,
		.useful_macs = fn->plan->useful_macs,
	};
}

int npu_function_get_tensor(const struct npu_function *fn, unsigned int index,
			    struct npu_tensor_info *info)
{
	const struct npu_plan_tensor *t;
	unsigned int count;
	uint32_t i;

	if (npu_null(fn) || npu_null(info))
		return -EINVAL;
	count = fn->plan->inputs + fn->plan->outputs;
	if (index >= count)
		return npu_fail(-EINVAL, "argument of function \"%s\": expected 0 to %u, found %u",
				string(fn, fn->plan->name), count - 1, index);
	t = &fn->tensors[index];
	*info = (struct npu_tensor_info) {
		.name = string(fn, t->name),
		.dtype = { t->dtype_code, t->dtype_bits, t->lanes },
		.ndim = t->ndim,
	};
	for (i = 0; i < t->ndim; i++)
		info->shape[i] = t->shape[i];
	return 0;
}

/* ---- arguments ---- */

#define REFUSE(fn, i, format, ...) \
	npu_fail(-EINVAL, "function \"%s\": argument %u (\"%s\"): " format, \
		 string(fn, (fn)->plan->name), i, string(fn, (fn)->tensors[i].name), \
		 __VA_ARGS__)

static int check_shape(const struct npu_function *fn, unsigned int i, const DLTensor *t,
		       int64_t items)
{
	const struct npu_plan_tensor *want = &fn->tensors[i];
	int64_t extent, stride = 1;
	int d;

	if ((uint32_t)t->ndim != want->ndim)
		return REFUSE(fn, i, "dimensions: expected %u, found %d", want->ndim, t->ndim);
	if (t->ndim && !t->shape)
		return REFUSE(fn, i, "shape of %d dimensions is a null pointer", t->ndim);
	for (d = t->ndim - 1; d >= 0; d--) {
		extent = d || !(fn->plan->flags & NPU_FUNCTION_BATCHED) ? (int64_t)want->shape[d] :
									   items;
		if (t->shape[d] != extent)
			return REFUSE(fn, i, "dimension %d: expected %lld, found %lld", d,
				      (long long)extent, (long long)t->shape[d]);
		if (t->strides && extent > 1 && t->strides[d] != stride)
			return REFUSE(fn, i, "stride of dimension %d: expected %lld (compact), found %lld",
				      d, (long long)stride, (long long)t->strides[d]);
		stride *= extent;
	}
	return 0;
}

static int check_tensor(const struct npu_function *fn, unsigned int i, const DLTensor *t,
			int64_t items)
{
	const struct npu_plan_tensor *want = &fn->tensors[i];

	if (!t)
		return REFUSE(fn, i, "is a null %s", "tensor");
	if (t->device.device_type != kDLCPU)
		return REFUSE(fn, i, "device type: expected %d (CPU), found %d", kDLCPU,
			      (int)t->device.device_type);
	if (t->dtype.code != want->dtype_code || t->dtype.bits != want->dtype_bits ||
	    t->dtype.lanes != want->lanes)
		return REFUSE(fn, i, "type: expected code %u with %u bits, found code %u with %u bits and %u lanes",
			      want->dtype_code, want->dtype_bits, t->dtype.code, t->dtype.bits,
			      t->dtype.lanes);
	if (!t->data)
		return REFUSE(fn, i, "data is a null %s", "pointer");
	if (t->byte_offset > UINTPTR_MAX - (uintptr_t)t->data)
		return REFUSE(fn, i, "data at %p: no memory %llu bytes behind that", t->data,
			      (unsigned long long)t->byte_offset);
	if (((uintptr_t)t->data + t->byte_offset) % (want->dtype_bits / 8))
		return REFUSE(fn, i, "data at %p + %llu: expected a multiple of %u", t->data,
			      (unsigned long long)t->byte_offset, want->dtype_bits / 8);
	return check_shape(fn, i, t, items);
}

/* How many items the first argument brings; all others must bring as many. */
static int count_items(const struct npu_function *fn, const DLTensor *t, int64_t *items)
{
	*items = 1;
	if (!(fn->plan->flags & NPU_FUNCTION_BATCHED))
		return 0;
	if (!t || t->ndim < 1 || !t->shape || t->shape[0] < 1)
		return REFUSE(fn, 0u, "first dimension: expected at least %d", 1);
	/* So that no size in bytes leaves 64 bits. */
	if (t->shape[0] > INT32_MAX)
		return REFUSE(fn, 0u, "first dimension: expected at most %d, found %lld", INT32_MAX,
			      (long long)t->shape[0]);
	*items = t->shape[0];
	return 0;
}

static int take_tensors(const struct npu_function *fn, const struct npu_value *args,
			int32_t count, DLTensor **tensors, int64_t *items)
{
	unsigned int want = fn->plan->inputs + fn->plan->outputs;
	unsigned int i;
	int ret = 0;

	*items = 1;
	if (count < 0 || (uint32_t)count != want || !args)
		return npu_fail(-EINVAL, "function \"%s\": arguments: expected %u (%u inputs, %u outputs), found %d",
				string(fn, fn->plan->name), want, fn->plan->inputs,
				fn->plan->outputs, args ? count : 0);
	for (i = 0; i < want; i++) {
		if (args[i].type_index != NPU_TYPE_TENSOR)
			return REFUSE(fn, i, "kind of value: expected %d (tensor), found %d",
				      NPU_TYPE_TENSOR, args[i].type_index);
		tensors[i] = args[i].v_tensor;
	}
	ret = count_items(fn, tensors[0], items);
	for (i = 0; !ret && i < want; i++)
		ret = check_tensor(fn, i, tensors[i], *items);
	return ret;
}

/* ---- calls ---- */

static int call(struct npu_function *fn, const struct npu_value *args, int32_t count,
		struct npu_step_stats *stats, unsigned int max)
{
	DLTensor **tensors;
	int64_t items;
	int ret;

	if (npu_is_null(fn, "call of a function", "function"))
		return -EINVAL;
	ret = fn->module->dev ? npu_device_check(fn->module->dev) : 0;
	if (ret)
		return ret;
	tensors = calloc(fn->plan->inputs + fn->plan->outputs, sizeof(DLTensor *));
	if (!tensors)
		return npu_fail(-ENOMEM, "out of memory for arguments");
	ret = take_tensors(fn, args, count, tensors, &items);
	if (!ret) {
		pthread_mutex_lock(&fn->module->lock);
		ret = npu_function_run(fn, tensors, items, stats, max);
		pthread_mutex_unlock(&fn->module->lock);
	}
	free(tensors);
	return ret;
}

int npu_function_call(struct npu_function *fn, const struct npu_value *args, int32_t count,
		      struct npu_value *ret)
{
	if (ret)
		memset(ret, 0, sizeof(*ret));
	return call(fn, args, count, NULL, 0);
}

int npu_function_profile(struct npu_function *fn, const struct npu_value *args, int32_t count,
			 struct npu_step_stats *stats, unsigned int max)
{
	return call(fn, args, count, stats, max);
}

/* tvm-ffi keeps errors in a thread-local of its own. */
static void raise_in_tvm(int error)
{
	void (*set)(const char *kind, const char *message);

	*(void **)&set = dlsym(RTLD_DEFAULT, "TVMFFIErrorSetRaisedFromCStr");
	if (set)
		set(error == -EINVAL ? "ValueError" : "RuntimeError", npu_error_message());
}

int npu_function_safe_call(void *self, const struct npu_value *args, int32_t count,
			   struct npu_value *ret)
{
	int error = npu_function_call(self, args, count, ret);

	if (!error)
		return 0;
	raise_in_tvm(error);
	return -1;
}
