// SPDX-License-Identifier: MIT
/* ArgMax and Softmax. */
#include "userspace/compiler/program.h"

#include <errno.h>
#include <string.h>

static void split_at(const struct npuc_tensor *x, int axis, struct npu_host_reduce *param)
{
	param->outer = param->inner = 1;
	for (int i = 0; i < axis; i++)
		param->outer *= x->dim[i];
	for (int i = axis + 1; i < x->rank; i++)
		param->inner *= x->dim[i];
	param->count = x->dim[axis];
}

int npuc_lower_argmax(struct npuc_program *p, const struct npuc_node *n)
{
	const struct npuc_tensor *x = &p->g->tensor[n->in[0]];
	struct npu_host_reduce param = {
		.dtype_code = x->dtype == NPUC_F32 ? 2 : x->dtype == NPUC_U8,
		.dtype_bits = 8 * npuc_dtype_size(x->dtype),
		.select_last = !!npuc_attr_int(n, "select_last_index", 0),
	};
	int64_t keep = npuc_attr_int(n, "keepdims", 1), dim[NPUC_MAX_RANK];
	struct npuc_place operand[2];
	int rank = 0, axis, err;

	if (x->dtype != NPUC_F32 && x->dtype != NPUC_I8 && x->dtype != NPUC_U8)
		return npuc_refuse(p, n, "input is %s; float32, int8 and uint8 are possible",
				   npuc_dtype_name(x->dtype));
	err = npuc_axis(p, n, 0, x->rank, &axis);
	if (err)
		return err;
	split_at(x, axis, &param);
	for (int i = 0; i < x->rank; i++)
		if (i != axis || keep)
			dim[rank++] = i == axis ? 1 : x->dim[i];
	err = npuc_host_input(p, n, 0, &operand[0]);
	if (!err)
		err = npuc_host_output(p, n, NPUC_I64, rank, dim, &operand[1]);
	return err ? err : npuc_host_last(p, n, "argmax", operand, 2, &param, sizeof(param));
}

/* Before operator set 13 all dimensions from the axis on were taken as one. */
int npuc_lower_softmax(struct npuc_program *p, const struct npuc_node *n)
{
	const struct npuc_tensor *x = &p->g->tensor[n->in[0]];
	struct npu_host_reduce param = { .dtype_code = 2, .dtype_bits = 32 };
	struct npuc_place operand[2];
	int axis, err;

	if (x->dtype != NPUC_F32)
		return npuc_refuse(p, n, "input is %s, want float32", npuc_dtype_name(x->dtype));
	err = npuc_axis(p, n, p->g->opset < 13 ? 1 : -1, x->rank, &axis);
	if (err)
		return err;
	split_at(x, axis, &param);
	if (p->g->opset < 13) {
		param.count *= param.inner;
		param.inner = 1;
	}
	err = npuc_host_input(p, n, 0, &operand[0]);
	if (!err)
		err = npuc_host_output(p, n, NPUC_F32, x->rank, x->dim, &operand[1]);
	return err ? err : npuc_host_last(p, n, "softmax", operand, 2, &param, sizeof(param));
}
