// SPDX-License-Identifier: MIT
/* The plan of a module file: every field is checked before any is used. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "npu_proto.h"
#include "userspace/libnpu/module.h"

/* What the checks look at, and where they are, for messages. */
struct check {
	const struct npu_sections *file;
	struct npu_plan *plan;
	const char *function;
	uint32_t index;		/* of tensor, buffer or step */
};

#define REFUSE(c, thing, field, want, got) \
	npu_fail(-ENOEXEC, "plan: function \"%s\": " thing " %u: " field ": expected %llu, found %llu", \
		 (c)->function, (c)->index, (unsigned long long)(want), (unsigned long long)(got))

#define REFUSE_ABOVE(c, thing, field, most, got) \
	npu_fail(-ENOEXEC, "plan: function \"%s\": " thing " %u: " field ": expected at most %llu, found %llu", \
		 (c)->function, (c)->index, (unsigned long long)(most), (unsigned long long)(got))

uint64_t npu_plan_tensor_bytes(const struct npu_plan_tensor *tensor)
{
	uint64_t bytes = tensor->dtype_bits / 8;
	uint32_t i;

	for (i = 0; i < tensor->ndim; i++)
		bytes *= tensor->shape[i];
	return bytes;
}

static int check_string(const struct check *c, uint32_t offset)
{
	if (offset >= c->file->str.size)
		return npu_fail(-ENOEXEC, "plan: function \"%s\": string: expected an offset below %zu, found %u",
				c->function, c->file->str.size, offset);
	return 0;
}

/* ---- header and tables ---- */

static int check_table(const struct npu_plan_header *head, const char *name,
		       struct npu_plan_table table, size_t entry)
{
	if (table.offset % 8 || (table.count && table.offset < sizeof(*head)) ||
	    table.offset > head->size || table.count > (head->size - table.offset) / entry)
		return npu_fail(-ENOEXEC, "plan: table of %s: expected a multiple of 8 and an end at most at %u, found %u entries of %zu bytes at %u",
				name, head->size, table.count, entry, table.offset);
	return 0;
}

static int check_head(const struct npu_plan_header *head, size_t size)
{
	int ret;

	if (head->magic != NPU_PLAN_MAGIC)
		return npu_fail(-ENOEXEC, "plan: magic: expected %#x, found %#x", NPU_PLAN_MAGIC,
				head->magic);
	if (head->size != size)
		return npu_fail(-ENOEXEC, "plan: size: expected %zu, found %u", size, head->size);
	if (head->reserved[0] || head->reserved[1])
		return npu_fail(-ENOEXEC, "plan: reserved fields of the head are not 0");

	ret = check_table(head, "functions", head->functions, sizeof(struct npu_plan_function));
	if (!ret)
		ret = check_table(head, "tensors", head->tensors, sizeof(struct npu_plan_tensor));
	if (!ret)
		ret = check_table(head, "buffers", head->buffers, sizeof(struct npu_plan_buffer));
	if (!ret)
		ret = check_table(head, "steps", head->steps, sizeof(struct npu_plan_step));
	if (!ret)
		ret = check_table(head, "regions", head->regions, sizeof(struct npu_plan_region));
	if (!ret)
		ret = check_table(head, "operands", head->operands,
				  sizeof(struct npu_plan_operand));
	if (!ret)
		ret = check_table(head, "parameters", head->blob, 1);
	return ret;
}

static void point_at_tables(struct npu_plan *plan)
{
	const struct npu_plan_header *head = plan->header;

	plan->functions = (const void *)(plan->memory + head->functions.offset);
	plan->tensors = (const void *)(plan->memory + head->tensors.offset);
	plan->buffers = (const void *)(plan->memory + head->buffers.offset);
	plan->steps = (const void *)(plan->memory + head->steps.offset);
	plan->regions = (const void *)(plan->memory + head->regions.offset);
	plan->operands = (const void *)(plan->memory + head->operands.offset);
	plan->blob = plan->memory + head->blob.offset;
}

/* ---- tensors and buffers ---- */

static bool type_known(const struct npu_plan_tensor *t)
{
	bool whole = t->dtype_bits == 8 || t->dtype_bits == 16 || t->dtype_bits == 32 ||
		     t->dtype_bits == 64;

	return t->lanes == 1 && whole && t->dtype_code <= kDLFloat &&
	       !(t->dtype_code == kDLFloat && t->dtype_bits == 8);
}

static int check_tensor(const struct check *c, const struct npu_plan_tensor *t, bool batched)
{
	uint64_t bytes = t->dtype_bits / 8;
	uint32_t i;
	int ret;

	ret = check_string(c, t->name);
	if (ret)
		return ret;
	if (!type_known(t))
		return npu_fail(-ENOEXEC, "plan: function \"%s\": tensor %u: type of code %u, %u bits, %u lanes is not known",
				c->function, c->index, t->dtype_code, t->dtype_bits, t->lanes);
	if (t->ndim > NPU_PLAN_MAX_DIMS)
		return REFUSE_ABOVE(c, "tensor", "dimensions", NPU_PLAN_MAX_DIMS, t->ndim);
	if (t->reserved)
		return REFUSE(c, "tensor", "reserved field", 0, t->reserved);
	for (i = 0; i < NPU_PLAN_MAX_DIMS; i++) {
		if (i >= t->ndim && t->shape[i])
			return REFUSE(c, "tensor", "extent beyond its dimensions", 0, t->shape[i]);
		if (i < t->ndim && !npu_host_multiply(&bytes, t->shape[i]))
			return REFUSE_ABOVE(c, "tensor", "extent (at least 1, and bytes in all)",
					    NPU_PLAN_MAX_BYTES, t->shape[i]);
	}
	if (batched && (!t->ndim || t->shape[0] != 1))
		return REFUSE(c, "tensor", "first dimension of a batched function", 1,
			      t->shape[0]);
	return 0;
}

static int check_argument_buffer(const struct check *c, const struct npu_plan_buffer *b,
				 const struct npu_plan_tensor *tensors, uint32_t count)
{
	uint64_t bytes;

	if (b->index >= count)
		return REFUSE_ABOVE(c, "buffer", "number of its argument", count - 1ull, b->index);
	bytes = npu_plan_tensor_bytes(&tensors[b->index]);
	if (b->size != bytes)
		return REFUSE(c, "buffer", "size", bytes, b->size);
	if (b->offset)
		return REFUSE(c, "buffer", "offset", 0, b->offset);
	return 0;
}

static int check_const_buffer(const struct check *c, const struct npu_plan_buffer *b)
{
	uint64_t image = c->file->constants.size;

	if (b->index)
		return REFUSE(c, "buffer", "index", 0, b->index);
	if (b->offset % NPU_MODULE_ALIGN)
		return REFUSE(c, "buffer", "offset modulo the alignment", 0,
			      b->offset % NPU_MODULE_ALIGN);
	if (b->offset > image || b->size > image - b->offset)
		return REFUSE_ABOVE(c, "buffer", "end in the constant image", image,
				    b->offset + b->size);
	return 0;
}

static int check_scratch_buffer(const struct check *c, const struct npu_plan_buffer *b,
				uint64_t *total)
{
	if (b->index)
		return REFUSE(c, "buffer", "index", 0, b->index);
	if (b->offset)
		return REFUSE(c, "buffer", "offset", 0, b->offset);
	if (b->size > NPU_PLAN_MAX_BYTES - *total)
		return REFUSE_ABOVE(c, "buffer", "size, with the scratch buffers before it",
				    NPU_PLAN_MAX_BYTES, b->size);
	*total += b->size;
	return 0;
}

static int check_buffer(const struct check *c, const struct npu_plan_function *f,
			const struct npu_plan_buffer *b, uint64_t *scratch)
{
	const struct npu_plan_tensor *tensors = c->plan->tensors + f->first_tensor;

	switch (b->kind) {
	case NPU_BUFFER_INPUT:
		return check_argument_buffer(c, b, tensors, f->inputs);
	case NPU_BUFFER_OUTPUT:
		return check_argument_buffer(c, b, tensors + f->inputs, f->outputs);
	case NPU_BUFFER_CONST:
		return check_const_buffer(c, b);
	case NPU_BUFFER_SCRATCH:
		return check_scratch_buffer(c, b, scratch);
	default:
		return REFUSE_ABOVE(c, "buffer", "kind", NPU_BUFFER_SCRATCH, b->kind);
	}
}

/* ---- steps ---- */

static bool read_only(const struct npu_plan_buffer *b)
{
	return b->kind == NPU_BUFFER_INPUT || b->kind == NPU_BUFFER_CONST;
}

static bool fits(uint64_t offset, uint64_t size, uint64_t whole)
{
	return offset <= whole && size <= whole - offset;
}

static int check_region(const struct check *c, const struct npu_plan_function *f,
			const struct npu_plan_region *r)
{
	const struct npu_plan_buffer *b;

	if (r->buffer == NPU_PLAN_NONE) {
		if (r->access || r->offset || r->limit)
			return REFUSE(c, "step", "fields of a region that is not used", 0,
				      r->access | r->offset | r->limit);
		return 0;
	}
	if (r->buffer >= f->buffers)
		return REFUSE_ABOVE(c, "step", "buffer of a region", f->buffers - 1ull, r->buffer);
	b = c->plan->buffers + f->first_buffer + r->buffer;
	if (b->kind != NPU_BUFFER_CONST && b->kind != NPU_BUFFER_SCRATCH)
		return REFUSE(c, "step", "kind of a region's buffer (or constant)",
			      NPU_BUFFER_SCRATCH, b->kind);
	if (!r->access || r->access & ~(NPU_ACCESS_R | NPU_ACCESS_W))
		return REFUSE_ABOVE(c, "step", "access of a region (at least 1)",
				    NPU_ACCESS_R | NPU_ACCESS_W, r->access);
	if (r->access & NPU_ACCESS_W && read_only(b))
		return REFUSE(c, "step", "access of a region in constants", NPU_ACCESS_R,
			      r->access);
	if (r->offset % NPU_MODULE_ALIGN)
		return REFUSE(c, "step", "offset of a region modulo the alignment", 0,
			      r->offset % NPU_MODULE_ALIGN);
	if (!fits(r->offset, r->limit, b->size))
		return REFUSE_ABOVE(c, "step", "end of a region in its buffer", b->size,
				    r->offset + r->limit);
	return 0;
}

static int check_npu_step(const struct check *c, const struct npu_plan_function *f,
			  const struct npu_plan_step *s)
{
	uint64_t insns = c->file->insn.size / 16;
	uint32_t i;
	int ret = 0;

	if (c->file->note.kind != NPU_MODULE_NPU)
		return REFUSE(c, "step", "kind in a host module", NPU_STEP_HOST, s->kind);
	if (s->count > NPU_REGION_TABLE_MAX)
		return REFUSE_ABOVE(c, "step", "regions", NPU_REGION_TABLE_MAX, s->count);
	if (!fits(s->first, s->count, c->plan->header->regions.count))
		return REFUSE_ABOVE(c, "step", "last region", c->plan->header->regions.count,
				    (uint64_t)s->first + s->count);
	if (s->insn_first % 4)
		return REFUSE(c, "step", "first instruction modulo 4", 0, s->insn_first % 4);
	if (!s->insn_count || !fits(s->insn_first, s->insn_count, insns))
		return REFUSE_ABOVE(c, "step", "end of the instructions (at least 1)", insns,
				    (uint64_t)s->insn_first + s->insn_count);
	if (s->param_offset || s->param_size)
		return REFUSE(c, "step", "parameters of an NPU step", 0,
			      s->param_offset | s->param_size);
	for (i = 0; !ret && i < s->count; i++)
		ret = check_region(c, f, &c->plan->regions[s->first + i]);
	return ret;
}

static int check_operand(const struct check *c, const struct npu_plan_function *f,
			 const struct npu_plan_operand *o, uint32_t access,
			 struct npu_host_need need)
{
	const struct npu_plan_buffer *b;

	if (o->buffer >= f->buffers)
		return REFUSE_ABOVE(c, "step", "buffer of an operand", f->buffers - 1ull,
				    o->buffer);
	b = c->plan->buffers + f->first_buffer + o->buffer;
	if (o->access != access)
		return REFUSE(c, "step", "access of an operand", access, o->access);
	if (access == NPU_ACCESS_W && read_only(b))
		return npu_fail(-ENOEXEC, "plan: function \"%s\": step %u: writes buffer %u, which is read-only",
				c->function, c->index, o->buffer);
	if (o->offset % need.align)
		return REFUSE(c, "step", "offset of an operand modulo its element", 0,
			      o->offset % need.align);
	if (o->size != need.size)
		return REFUSE(c, "step", "size of an operand", need.size, o->size);
	if (!fits(o->offset, o->size, b->size))
		return REFUSE_ABOVE(c, "step", "end of an operand in its buffer", b->size,
				    o->offset + o->size);
	return 0;
}

/* One of both is written, so they can only meet in scratch memory or in an output. */
static bool same_memory(const struct npu_plan_buffer *buffers, const struct npu_plan_operand *a,
			const struct npu_plan_operand *b)
{
	const struct npu_plan_buffer *x = &buffers[a->buffer];
	const struct npu_plan_buffer *y = &buffers[b->buffer];

	if (x->kind != y->kind || x->index != y->index)
		return false;
	if (x->kind == NPU_BUFFER_SCRATCH && x != y)
		return false;
	return a->offset < b->offset + b->size && b->offset < a->offset + a->size;
}

static int check_params(const struct check *c, const struct npu_plan_step *s,
			const struct npu_host_kernel *kernel, struct npu_host_need *need)
{
	int ret;

	if (s->param_offset % 8)
		return REFUSE(c, "step", "offset of the parameters modulo 8", 0,
			      s->param_offset % 8);
	if (!fits(s->param_offset, s->param_size, c->plan->header->blob.count))
		return REFUSE_ABOVE(c, "step", "end of the parameters",
				    c->plan->header->blob.count,
				    (uint64_t)s->param_offset + s->param_size);
	ret = kernel->check(c->plan->blob + s->param_offset, s->param_size, need);
	if (ret)
		return npu_fail(-ENOEXEC, "plan: function \"%s\": step %u: %s", c->function,
				c->index, npu_error_message());
	return 0;
}

/* Those that are read, then the one that is written, which meets none of them. */
static int check_operands(const struct check *c, const struct npu_plan_function *f,
			  const struct npu_plan_operand *o, uint32_t inputs,
			  const struct npu_host_need *need)
{
	uint32_t i;
	int ret = 0;

	for (i = 0; !ret && i <= inputs; i++)
		ret = check_operand(c, f, &o[i], i < inputs ? NPU_ACCESS_R : NPU_ACCESS_W, need[i]);
	for (i = 0; !ret && i < inputs; i++)
		if (same_memory(c->plan->buffers + f->first_buffer, &o[i], &o[inputs]))
			ret = npu_fail(-ENOEXEC, "plan: function \"%s\": step %u: operands overlap",
				       c->function, c->index);
	return ret;
}

static int check_host_step(const struct check *c, const struct npu_plan_function *f,
			   const struct npu_plan_step *s, const struct npu_host_kernel **kernel)
{
	const char *name = c->plan->strings + s->name;
	struct npu_host_need need[NPU_HOST_MAX_OPERANDS];
	int ret;

	*kernel = npu_host_kernel_find(name);
	if (!*kernel)
		return npu_fail(-ENOEXEC, "plan: function \"%s\": step %u: host kernel \"%.64s\" is not known",
				c->function, c->index, name);
	if (s->insn_first || s->insn_count || s->useful_macs)
		return npu_fail(-ENOEXEC, "plan: function \"%s\": step %u: a host step has instructions",
				c->function, c->index);
	if (s->count != (*kernel)->inputs + 1)
		return REFUSE(c, "step", "operands", (*kernel)->inputs + 1, s->count);
	if (!fits(s->first, s->count, c->plan->header->operands.count))
		return REFUSE_ABOVE(c, "step", "last operand", c->plan->header->operands.count,
				    (uint64_t)s->first + s->count);
	ret = check_params(c, s, *kernel, need);
	return ret ? ret : check_operands(c, f, c->plan->operands + s->first, (*kernel)->inputs,
					  need);
}

static int check_step(const struct check *c, const struct npu_plan_function *f,
		      const struct npu_plan_step *s)
{
	int ret = check_string(c, s->name);

	if (ret)
		return ret;
	switch (s->kind) {
	case NPU_STEP_NPU:
		return check_npu_step(c, f, s);
	case NPU_STEP_HOST:
		return check_host_step(c, f, s, &c->plan->kernels[s - c->plan->steps]);
	default:
		return REFUSE_ABOVE(c, "step", "kind", NPU_STEP_HOST, s->kind);
	}
}

/* ---- functions ---- */

static int check_name(const struct check *c, uint32_t number)
{
	const struct npu_plan_function *f = c->plan->functions;
	uint32_t i;

	if (!*c->function)
		return npu_fail(-ENOEXEC, "plan: function %u has no name", number);
	for (i = 0; i < number; i++)
		if (!strcmp(c->plan->strings + f[i].name, c->function))
			return npu_fail(-ENOEXEC, "plan: functions %u and %u are both named \"%s\"",
					i, number, c->function);
	return 0;
}

/* Where the next function's entries start in each table. */
struct cursor {
	uint64_t tensor;
	uint64_t buffer;
	uint64_t step;
};

static int check_range(const char *function, const char *what, uint64_t *cursor, uint32_t first,
		       uint64_t count, uint32_t table)
{
	if (first != *cursor)
		return npu_fail(-ENOEXEC, "plan: function \"%s\": first %s: expected %llu, found %u",
				function, what, (unsigned long long)*cursor, first);
	if (count > table - *cursor)
		return npu_fail(-ENOEXEC, "plan: function \"%s\": number of %ss: expected at most %llu, found %llu",
				function, what, (unsigned long long)(table - *cursor),
				(unsigned long long)count);
	*cursor += count;
	return 0;
}

static int check_ranges(const struct check *c, const struct npu_plan_function *f,
			struct cursor *cursor)
{
	const struct npu_plan_header *head = c->plan->header;
	int ret;

	if (f->flags & ~NPU_FUNCTION_BATCHED || f->reserved0 || f->reserved1[0] || f->reserved1[1])
		return npu_fail(-ENOEXEC, "plan: function \"%s\": unknown flags or reserved fields that are not 0",
				c->function);
	if (!f->outputs)
		return npu_fail(-ENOEXEC, "plan: function \"%s\": outputs: expected at least 1, found 0",
				c->function);
	if (f->buffers > NPU_PLAN_MAX_BUFFERS)
		return npu_fail(-ENOEXEC, "plan: function \"%s\": buffers: expected at most %u, found %u",
				c->function, NPU_PLAN_MAX_BUFFERS, f->buffers);
	ret = check_range(c->function, "tensor", &cursor->tensor, f->first_tensor,
			  (uint64_t)f->inputs + f->outputs, head->tensors.count);
	if (!ret)
		ret = check_range(c->function, "buffer", &cursor->buffer, f->first_buffer,
				  f->buffers, head->buffers.count);
	if (!ret)
		ret = check_range(c->function, "step", &cursor->step, f->first_step, f->steps,
				  head->steps.count);
	return ret;
}

static int check_entries(struct check *c, const struct npu_plan_function *f)
{
	uint64_t scratch = 0;
	int ret = 0;

	for (c->index = 0; !ret && c->index < f->inputs + f->outputs; c->index++)
		ret = check_tensor(c, c->plan->tensors + f->first_tensor + c->index,
				   f->flags & NPU_FUNCTION_BATCHED);
	for (c->index = 0; !ret && c->index < f->buffers; c->index++)
		ret = check_buffer(c, f, c->plan->buffers + f->first_buffer + c->index, &scratch);
	for (c->index = 0; !ret && c->index < f->steps; c->index++)
		ret = check_step(c, f, c->plan->steps + f->first_step + c->index);
	return ret;
}

static int check_functions(struct check *c)
{
	const struct npu_plan_header *head = c->plan->header;
	struct cursor cursor = { 0, 0, 0 };
	uint32_t i;
	int ret = 0;

	if (!head->functions.count || head->functions.count > NPU_PLAN_MAX_FUNCTIONS)
		return npu_fail(-ENOEXEC, "plan: functions: expected 1 to %u, found %u",
				NPU_PLAN_MAX_FUNCTIONS, head->functions.count);
	for (i = 0; !ret && i < head->functions.count; i++) {
		const struct npu_plan_function *f = &c->plan->functions[i];

		c->function = "";
		ret = check_string(c, f->name);
		if (ret)
			break;
		c->function = c->plan->strings + f->name;
		ret = check_name(c, i);
		if (!ret)
			ret = check_ranges(c, f, &cursor);
		if (!ret)
			ret = check_entries(c, f);
	}
	if (!ret && (cursor.tensor != head->tensors.count ||
		     cursor.buffer != head->buffers.count || cursor.step != head->steps.count))
		ret = npu_fail(-ENOEXEC, "plan: tensors, buffers or steps that belong to no function");
	return ret;
}

static int copy_plan(const struct npu_sections *file, struct npu_plan *plan)
{
	plan->memory = malloc(file->plan.size);
	plan->strings = malloc(file->str.size);
	if (!plan->memory || !plan->strings)
		return npu_fail(-ENOMEM, "out of memory for a plan");
	memcpy(plan->memory, file->plan.data, file->plan.size);
	memcpy(plan->strings, file->str.data, file->str.size);
	plan->header = (const struct npu_plan_header *)plan->memory;
	return 0;
}

int npu_plan_read(const struct npu_sections *file, struct npu_plan *plan)
{
	struct check c = { .file = file, .plan = plan };
	int ret;

	memset(plan, 0, sizeof(*plan));
	if (file->plan.size < sizeof(*plan->header))
		return npu_fail(-ENOEXEC, "plan: size: expected at least %zu, found %zu",
				sizeof(*plan->header), file->plan.size);
	ret = copy_plan(file, plan);
	if (!ret)
		ret = check_head(plan->header, file->plan.size);
	if (!ret) {
		point_at_tables(plan);
		plan->kernels = calloc(plan->header->steps.count + 1ul, sizeof(*plan->kernels));
		ret = plan->kernels ? check_functions(&c) :
				      npu_fail(-ENOMEM, "out of memory for a plan");
	}
	if (ret)
		npu_plan_free(plan);
	return ret;
}

void npu_plan_free(struct npu_plan *plan)
{
	free(plan->kernels);
	free(plan->strings);
	free(plan->memory);
	memset(plan, 0, sizeof(*plan));
}
