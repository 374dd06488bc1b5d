/* SPDX-License-Identifier: MIT */
/*
 * What a graph is lowered to: values with their place in memory, and stages in
 * order. A stage is a host kernel or a layer of the core; layers that follow
 * one another become one instruction stream.
 */
#ifndef NPU_COMPILER_PROGRAM_H
#define NPU_COMPILER_PROGRAM_H

#include "userspace/compiler/graph.h"
#include "userspace/isa/npu_module.h"

/* Memory of the function that a stage names. */
enum npuc_space {
	NPUC_SPACE_NONE,
	NPUC_SPACE_INPUT,
	NPUC_SPACE_OUTPUT,
	NPUC_SPACE_CONST,
	NPUC_SPACE_SCRATCH,
};

struct npuc_place {
	enum npuc_space space;
	int index; /* of the input or output */
	uint64_t offset;
	uint64_t size;
};

/**
 * struct npuc_value - a tensor that exists at run time
 * @tensor: tensor of the graph
 * @alias: value whose memory it shares (Reshape and its like), or -1
 * @flip: uint8 in the graph: the blocked form holds it with bit 7 inverted,
 *	as int8
 * @windows: the blocked form holds windows over the tensor: for one reader only
 * @n: images of the blocked form
 * @c: channels
 * @h: rows
 * @w: columns
 * @dense: where the row-major form is, if it exists
 * @blocked: where the form [n][ceil(c / 16)][h][w][16] is, if it exists
 */
struct npuc_value {
	int tensor;
	int alias;
	bool flip;
	bool windows;
	int n, c, h, w;
	struct npuc_place dense;
	struct npuc_place blocked;
};

#define NPUC_MAX_OPERANDS 3

/* A host kernel: operands that it reads, then the one that it writes. */
struct npuc_host {
	const char *kernel;
	struct npuc_place operand[NPUC_MAX_OPERANDS];
	int operands;
	void *param; /* owned */
	size_t param_size;
};

/* A window that slides over rows and columns. */
struct npuc_window {
	int kernel_h, kernel_w;
	int stride_h, stride_w;
	int dilation_h, dilation_w;
	int pad_top, pad_left, pad_bottom, pad_right;
};

static inline int npuc_blocks(int channels)
{
	return (channels + 15) / 16;
}

enum npuc_binary {
	NPUC_UNARY,
	NPUC_SUM,
	NPUC_PRODUCT,
};

#define NPUC_TABLE 256 /* bytes of a table: element v & 255 is the function of v */

/**
 * struct npuc_operand - an input of a binary layer, x as stored
 * @offset: of a product: x + @offset is multiplied
 * @factor: of a sum: x * @factor is added
 * @correction: of a sum: the value of this table is added as well, or NULL; owned
 */
struct npuc_operand {
	int offset;
	int32_t factor;
	int8_t *correction;
};

/**
 * struct npuc_layer - work of the core
 * @conv: convolution before the pool; else the input itself is pooled
 * @binary: sum or product of two inputs, without convolution and pool
 * @in: value that it reads
 * @in2: second value of a binary layer
 * @out: value that it writes
 * @in_c: input channels as the core sees them (a flattened input: all lanes)
 * @in_h: input rows
 * @in_w: input columns
 * @mid_h: rows after the convolution
 * @mid_w: columns after the convolution
 * @out_c: output channels
 * @out_h: output rows
 * @out_w: output columns
 * @window: of the convolution
 * @pool: of the pool; kernel 1, stride 1 without one
 * @pad_value: value of padding of the convolution
 * @groups: groups of channels, each of whole blocks but for the last if there is one
 * @vector: output channel c reads input channel c alone, and there are as many groups
 * @parts: the weights are the sum of so many
 * @weight: [parts][out_c][in_c / groups][kernel_h][kernel_w], owned
 * @bias: [out_c], input zero point folded in, owned
 * @scale: [out_c], owned
 * @operand: of a binary layer: the inputs as it takes them
 * @table: function of what is stored, or NULL; owned
 * @lo: lowest stored output
 * @hi: highest stored output
 * @zero_point: of the stored output
 * @param_row: first of its requantise parameter rows among those of the step
 * @macs: multiply-accumulates as the model counts them
 */
struct npuc_layer {
	bool conv;
	enum npuc_binary binary;
	int in, in2, out;
	int in_c, in_h, in_w;
	int mid_h, mid_w;
	int out_c, out_h, out_w;
	struct npuc_window window;
	struct npuc_window pool;
	int pad_value;
	int groups;
	bool vector;
	int parts;
	int8_t *weight;
	int32_t *bias;
	float *scale;
	struct npuc_operand operand[2];
	int8_t *table;
	int lo, hi, zero_point;
	int param_row;
	uint64_t macs;
};

/* Taps of the window, of all parts: multiply-accumulates of a block over a block. */
static inline int npuc_layer_taps(const struct npuc_layer *l)
{
	return l->parts * l->window.kernel_h * l->window.kernel_w;
}

/* Tables of a layer, one after the other in WGT: of the operands, then of what is stored. */
static inline int npuc_layer_tables(const struct npuc_layer *l)
{
	return !!l->operand[0].correction + !!l->operand[1].correction + !!l->table;
}

/* Rows of parameters: three a block, or for all of a binary layer, and its factors. */
static inline int npuc_layer_rows(const struct npuc_layer *l)
{
	if (l->binary)
		return l->binary == NPUC_SUM ? 5 : 3;
	return l->conv ? 3 * npuc_blocks(l->out_c) : 0;
}

/* Weights of one part. */
static inline size_t npuc_layer_weights(const struct npuc_layer *l)
{
	return (size_t)l->out_c * (l->in_c / l->groups) * l->window.kernel_h * l->window.kernel_w;
}

struct npuc_stage {
	bool is_host;
	char *name; /* node, or nodes joined by '+' */
	struct npuc_host host;
	struct npuc_layer layer;
};

/* Where an operator of the model went. */
struct npuc_placement {
	char *op;
	char *name;
	const char *where; /* "npu", "host", "free" */
	int stage;	   /* -1: none of its own */
	uint64_t macs;
};

/**
 * struct npuc_program - a lowered function
 * @g: the graph, not owned
 * @features: NPU_HW_FEATURE_* that may be used
 * @value: values
 * @stage: in order
 * @placement: one an operator
 * @scratch: bytes of scratch memory so far
 * @constant: what host kernels read, the start of the module's constants; owned
 * @constant_size: bytes
 */
struct npuc_program {
	const struct npuc_graph *g;
	uint64_t features;
	struct npuc_diag *d;
	struct npuc_value *value;
	size_t n_value;
	struct npuc_stage *stage;
	size_t n_stage;
	struct npuc_placement *placement;
	size_t n_placement;
	uint64_t scratch;
	uint8_t *constant;
	uint64_t constant_size;
};

/* Lowers @g for a core with @features, or says which operator cannot be done and why. */
int npuc_lower(const struct npuc_graph *g, uint64_t features, struct npuc_program **out,
	       struct npuc_diag *d);
void npuc_program_free(struct npuc_program *p);

/*
 * For lower_*.c: values, places, stages. Functions that return a value or a
 * stage give its index, or -errno with the message set.
 */
int npuc_value_of(struct npuc_program *p, int tensor);
int npuc_value_new(struct npuc_program *p, int tensor);
int npuc_dense(struct npuc_program *p, int value);
int npuc_blocked(struct npuc_program *p, int value, int n, int c, int h, int w);
/*
 * The windows of @l's convolution over @value as channels of a new value, where
 * that saves the core work: few channels fill a block badly. Gives the value,
 * or -ENOENT where it does not pay.
 */
int npuc_patches(struct npuc_program *p, int value, const struct npuc_layer *l, int images);
struct npuc_place npuc_scratch(struct npuc_program *p, uint64_t size);
int npuc_stage_host(struct npuc_program *p, const char *name, const char *kernel,
		    struct npuc_place a, struct npuc_place b, const void *param, size_t param_size);
int npuc_stage_host_n(struct npuc_program *p, const char *name, const char *kernel,
		      const struct npuc_place *operand, int operands, const void *param,
		      size_t param_size);
/* A copy of @data among the constants. */
int npuc_constant(struct npuc_program *p, const void *data, uint64_t size, struct npuc_place *out);
/* Where the row-major form of @tensor is to be made: in the caller's memory if it is an output. */
struct npuc_place npuc_dense_place(struct npuc_program *p, int tensor);
void npuc_layer_free(struct npuc_layer *l);
int npuc_stage_layer(struct npuc_program *p, const char *name, const struct npuc_layer *l);
int npuc_placed(struct npuc_program *p, const struct npuc_node *n, const char *where, int stage,
		uint64_t macs);
int npuc_refuse(struct npuc_program *p, const struct npuc_node *n, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* The layer that made @value, if nothing else reads it, so that more can be fused into it; else NULL. */
struct npuc_layer *npuc_fusable(struct npuc_program *p, int value);
void npuc_fused(struct npuc_program *p, struct npuc_layer *l, const struct npuc_node *n,
		int out_value);

/* The output of @n, with that type and blocked shape, without memory. */
int npuc_plain_value(struct npuc_program *p, const struct npuc_node *n, enum npuc_dtype type,
		     const struct npuc_value *like);
/* Makes @l, without convolution, a stage that reads @l->in and writes @l->out; takes its arrays. */
int npuc_plain_layer(struct npuc_program *p, const struct npuc_node *n, struct npuc_layer *l);

/*
 * Elementwise work on the core. -ENOENT: the core cannot do it, or not for
 * less than its data costs to bring there; nothing has been changed.
 */
int npuc_lower_lookup(struct npuc_program *p, const struct npuc_node *n, enum npuc_dtype type,
		      const uint8_t *table);
int npuc_lower_pair(struct npuc_program *p, const struct npuc_node *n, enum npuc_binary binary,
		    const struct npu_host_binary8 *k);

/* What is stored becomes min(max(v, lo), hi). */
void npuc_clip_table(struct npuc_layer *l, int lo, int hi);

/* Constant inputs of a node. */
int npuc_const(struct npuc_program *p, const struct npuc_node *n, size_t index, const char *what,
	       const struct npuc_tensor **out);
/* A constant of one element of @dtype; NULL where it is left out. */
int npuc_optional(struct npuc_program *p, const struct npuc_node *n, size_t index,
		  const char *what, enum npuc_dtype dtype, const struct npuc_tensor **out);
int npuc_scalar_f32(struct npuc_program *p, const struct npuc_node *n, size_t index,
		    const char *what, float *out);
int npuc_zero_point(struct npuc_program *p, const struct npuc_node *n, size_t index,
		    const char *what, enum npuc_dtype dtype, int *out);


/*
 * Operators of host kernels. An input is the row-major form of what a node
 * reads, computed or constant; an output is the value of its first result.
 */
int npuc_host_input(struct npuc_program *p, const struct npuc_node *n, size_t index,
		    struct npuc_place *out);
int npuc_host_output(struct npuc_program *p, const struct npuc_node *n, enum npuc_dtype dtype,
		     int rank, const int64_t *dim, struct npuc_place *out);
/* The node's last stage: also says where the node went. */
int npuc_host_last(struct npuc_program *p, const struct npuc_node *n, const char *kernel,
		   const struct npuc_place *operand, int operands, const void *param,
		   size_t param_size);
/* One scale, and a zero point of type @dtype that is 0 where it is left out. */
int npuc_host_scale(struct npuc_program *p, const struct npuc_node *n, size_t index,
		    const char *what, enum npuc_dtype dtype, struct npu_host_scale *out);
/* Refuses what is not int8 or uint8. */
int npuc_quantised(struct npuc_program *p, const struct npuc_node *n, size_t index);
/* An axis attribute in [0, @rank). */
int npuc_axis(struct npuc_program *p, const struct npuc_node *n, int64_t def, int rank, int *out);

/* Parameters of "gather" with all lists 0; freed by the caller. */
struct npu_host_gather *npuc_gather_new(int rank, const int64_t *src, const int64_t *dst,
					size_t element, size_t *size);
int32_t *npuc_gather_list(struct npu_host_gather *g, int dim);

/* The table that turns values of one quantisation into those of another, f() between. */
struct npuc_table {
	enum npuc_dtype x_type, y_type;
	struct npu_host_scale x, y;
	float (*f)(float x, float parameter);
	float parameter;
};

void npuc_fill_table(const struct npuc_table *t, uint8_t *table);

int npuc_lower_conv(struct npuc_program *p, const struct npuc_node *n);
int npuc_lower_matmul(struct npuc_program *p, const struct npuc_node *n);
int npuc_lower_gemm(struct npuc_program *p, const struct npuc_node *n);
int npuc_lower_maxpool(struct npuc_program *p, const struct npuc_node *n);
int npuc_lower_clip(struct npuc_program *p, const struct npuc_node *n);
int npuc_lower_quantize(struct npuc_program *p, const struct npuc_node *n);
int npuc_lower_dequantize(struct npuc_program *p, const struct npuc_node *n);
int npuc_lower_float_clip(struct npuc_program *p, const struct npuc_node *n);
int npuc_lower_view(struct npuc_program *p, const struct npuc_node *n);
int npuc_lower_binary(struct npuc_program *p, const struct npuc_node *n);
int npuc_lower_average(struct npuc_program *p, const struct npuc_node *n);
int npuc_lower_global_average(struct npuc_program *p, const struct npuc_node *n);
int npuc_lower_concat(struct npuc_program *p, const struct npuc_node *n);
int npuc_lower_quantised_concat(struct npuc_program *p, const struct npuc_node *n);
int npuc_lower_table(struct npuc_program *p, const struct npuc_node *n);
int npuc_lower_transpose(struct npuc_program *p, const struct npuc_node *n);
int npuc_lower_slice(struct npuc_program *p, const struct npuc_node *n);
int npuc_lower_pad(struct npuc_program *p, const struct npuc_node *n);
int npuc_lower_resize(struct npuc_program *p, const struct npuc_node *n);
int npuc_lower_argmax(struct npuc_program *p, const struct npuc_node *n);
int npuc_lower_softmax(struct npuc_program *p, const struct npuc_node *n);

/* The shape of what Flatten, Reshape, Squeeze, Unsqueeze and their like make of @x. */
int npuc_view_shape(struct npuc_program *p, const struct npuc_node *n, const struct npuc_tensor *x,
		    struct npuc_tensor *y);

/*
 * Reads kernel, strides, pads, dilations and auto_pad of a window over @h x @w.
 * With one of @axes the attributes are those of the columns, of one row. A
 * kernel that is there already must agree; its rows are 1 with one axis. Pads
 * of auto_pad can come out below 0 where strides leap over the last rows: pools
 * then begin inside, convolutions take them as 0, as ONNX Runtime does.
 */
int npuc_read_window(struct npuc_program *p, const struct npuc_node *n, int axes, int h, int w,
		     struct npuc_window *out);
/* The shape [images,channels,h,w], or [images,channels,w] with rank 3. */
void npuc_set_image(struct npuc_tensor *t, int rank, int64_t images, int channels, int h, int w);
/* Whether that pool can follow @l's convolution before its results leave the core. */
bool npuc_pool_fits(const struct npuc_layer *l, const struct npuc_window *pool, int out_h,
		    int out_w);
int npuc_window_out(int size, int kernel, int stride, int dilation, int pads);

#endif
