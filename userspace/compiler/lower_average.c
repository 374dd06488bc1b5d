// SPDX-License-Identifier: MIT
/* QLinearAveragePool and QLinearGlobalAveragePool. */
#include "userspace/compiler/program.h"

#include <errno.h>
#include <string.h>

/* Inputs: x, its scale and zero point, scale and zero point of the result. */
static int read_scales(struct npuc_program *p, const struct npuc_node *n,
		       struct npu_host_scale *x, struct npu_host_scale *y)
{
	const struct npuc_tensor *t = &p->g->tensor[n->in[0]];
	char shape[128];
	int err = npuc_quantised(p, n, 0);

	if (err)
		return err;
	if (t->rank < 3 || t->rank > 4)
		return npuc_refuse(p, n, "input is %s; 3 or 4 dimensions are possible",
				   npuc_shape_text(t, shape, sizeof(shape)));
	if (npuc_attr_int(n, "channels_last", 0))
		return npuc_refuse(p, n, "channels_last is not possible");
	err = npuc_host_scale(p, n, 1, "input scale", t->dtype, x);
	return err ? err : npuc_host_scale(p, n, 3, "output scale", t->dtype, y);
}

/* Rows of an image: one where it has columns alone. */
static int64_t rows_of(const struct npuc_tensor *x)
{
	return x->rank == 4 ? x->dim[2] : 1;
}

static int read_windows(struct npuc_program *p, const struct npuc_node *n,
			const struct npuc_tensor *x, struct npuc_window *win)
{
	int err;

	if (npuc_attr_int(n, "ceil_mode", 0))
		return npuc_refuse(p, n, "ceil_mode must be 0");
	if (!npuc_attr(n, "kernel_shape"))
		return npuc_refuse(p, n, "kernel_shape is missing");
	win->kernel_h = 1;
	err = npuc_read_window(p, n, x->rank - 2, rows_of(x), x->dim[x->rank - 1], win);
	if (err)
		return err;
	if (win->pad_top >= win->kernel_h || win->pad_bottom >= win->kernel_h ||
	    win->pad_left >= win->kernel_w || win->pad_right >= win->kernel_w ||
	    win->pad_top < 0 || win->pad_bottom < 0 || win->pad_left < 0 || win->pad_right < 0)
		return npuc_refuse(p, n, "pads [%d,%d,%d,%d] leave out elements, or windows without one",
				   win->pad_top, win->pad_left, win->pad_bottom, win->pad_right);
	return 0;
}

int npuc_lower_average(struct npuc_program *p, const struct npuc_node *n)
{
	const struct npuc_tensor *x = &p->g->tensor[n->in[0]];
	struct npu_host_average param = { .include_pad = npuc_attr_int(n, "count_include_pad", 0) };
	struct npuc_window win = { 0 };
	struct npuc_place operand[2];
	int64_t in_h = rows_of(x), in_w = x->dim[x->rank - 1];
	struct npuc_tensor y = { 0 };
	int h, w, err;

	err = read_scales(p, n, &param.x, &param.y);
	if (!err)
		err = read_windows(p, n, x, &win);
	if (err)
		return err;
	param.include_pad = !!param.include_pad;
	h = npuc_window_out(in_h, win.kernel_h, win.stride_h, 1, win.pad_top + win.pad_bottom);
	w = npuc_window_out(in_w, win.kernel_w, win.stride_w, 1, win.pad_left + win.pad_right);
	if (!h || !w)
		return npuc_refuse(p, n, "the window does not fit into the input");
	param.pool = (struct npu_host_pool){
		.dtype_code = x->dtype == NPUC_U8, .dtype_bits = 8,
		.n = x->dim[0], .c = x->dim[1], .h = in_h, .w = in_w,
		.out_h = h, .out_w = w,
		.kernel_h = win.kernel_h, .kernel_w = win.kernel_w,
		.stride_h = win.stride_h, .stride_w = win.stride_w,
		.pad_top = win.pad_top, .pad_left = win.pad_left,
	};
	npuc_set_image(&y, x->rank, x->dim[0], x->dim[1], h, w);
	err = npuc_host_input(p, n, 0, &operand[0]);
	if (!err)
		err = npuc_host_output(p, n, x->dtype, y.rank, y.dim, &operand[1]);
	return err ? err : npuc_host_last(p, n, "average_pool8", operand, 2, &param, sizeof(param));
}

int npuc_lower_global_average(struct npuc_program *p, const struct npuc_node *n)
{
	const struct npuc_tensor *x = &p->g->tensor[n->in[0]];
	struct npu_host_mean param = { .dtype_code = x->dtype == NPUC_U8, .dtype_bits = 8 };
	struct npuc_place operand[2];
	struct npuc_tensor y = { 0 };
	int64_t area;
	int err = read_scales(p, n, &param.x, &param.y);

	if (err)
		return err;
	area = rows_of(x) * x->dim[x->rank - 1];
	if (area > 1 << 23)
		return npuc_refuse(p, n, "means of %lld elements, at most %d are possible",
				   (long long)area, 1 << 23);
	param.outer = x->dim[0] * x->dim[1];
	param.inner = area;
	npuc_set_image(&y, x->rank, x->dim[0], x->dim[1], 1, 1);
	err = npuc_host_input(p, n, 0, &operand[0]);
	if (!err)
		err = npuc_host_output(p, n, x->dtype, y.rank, y.dim, &operand[1]);
	return err ? err : npuc_host_last(p, n, "mean8", operand, 2, &param, sizeof(param));
}
