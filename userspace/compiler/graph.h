/* SPDX-License-Identifier: MIT */
/*
 * The graph of a model: what the importer makes and every later pass reads.
 * Tensors and nodes are named by index. A graph is used by one thread.
 */
#ifndef NPU_COMPILER_GRAPH_H
#define NPU_COMPILER_GRAPH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "userspace/compiler/diag.h"

#define NPUC_MAX_RANK 8

enum npuc_dtype {
	NPUC_NONE,
	NPUC_F32,
	NPUC_I8,
	NPUC_U8,
	NPUC_I32,
	NPUC_I64,
};

/**
 * struct npuc_tensor - a value of the graph
 * @name: name in the model, unique
 * @dtype: element type, NPUC_NONE until it is known
 * @rank: number of dimensions, -1 until the shape is known
 * @dim: dimensions, all positive
 * @data: elements in row-major order if it is constant, else NULL; owned
 * @producer: node that makes it, -1 for inputs and constants
 * @uses: how often nodes and graph outputs read it
 */
struct npuc_tensor {
	char *name;
	enum npuc_dtype dtype;
	int rank;
	int64_t dim[NPUC_MAX_RANK];
	void *data;
	int producer;
	int uses;
};

enum npuc_attr_kind {
	NPUC_ATTR_INT,
	NPUC_ATTR_FLOAT,
	NPUC_ATTR_STRING,
	NPUC_ATTR_INTS,
	NPUC_ATTR_OTHER,
};

struct npuc_attr {
	char *name;
	enum npuc_attr_kind kind;
	int64_t i;
	float f;
	char *s;
	int64_t *ints;
	size_t n_ints;
};

/**
 * struct npuc_node - an operator
 * @op: ONNX operator type
 * @name: name in the model, or one made from its type and position
 * @in: tensors, -1 for an optional input that is left out
 * @out: tensors
 * @attr: attributes
 * @dead: taken out by a pass
 */
struct npuc_node {
	char *op;
	char *name;
	int *in;
	size_t n_in;
	int *out;
	size_t n_out;
	struct npuc_attr *attr;
	size_t n_attr;
	bool dead;
};

/**
 * struct npuc_graph - a model
 * @index: tensors by the hash of their names: number plus 1, 0 is free
 * @n_index: slots of @index, a power of two, at most half of them in use
 */
struct npuc_graph {
	struct npuc_tensor *tensor;
	size_t n_tensor;
	uint32_t *index;
	size_t n_index;
	struct npuc_node *node;
	size_t n_node;
	int *input;
	size_t n_input;
	int *output;
	size_t n_output;
	int64_t opset;
};

size_t npuc_dtype_size(enum npuc_dtype dtype);
const char *npuc_dtype_name(enum npuc_dtype dtype);

/* Elements of a tensor of known shape. */
int64_t npuc_elements(const struct npuc_tensor *t);

/* Writes "[1,16,28,28]" (or "[?]") to @buf; returns @buf. */
const char *npuc_shape_text(const struct npuc_tensor *t, char *buf, size_t size);

/* The tensor of that name, made if it is new; -ENOMEM. */
int npuc_graph_tensor(struct npuc_graph *g, const char *name);

const struct npuc_attr *npuc_attr(const struct npuc_node *n, const char *name);
int64_t npuc_attr_int(const struct npuc_node *n, const char *name, int64_t def);

/*
 * Reads an ints attribute of exactly @count values into @out, each in
 * [@min, @max]; leaves @out alone when the attribute is absent.
 */
int npuc_attr_ints(const struct npuc_node *n, const char *name, int64_t *out, size_t count,
		   int64_t min, int64_t max, struct npuc_diag *d);

/* What a node holds. */
void npuc_node_free(struct npuc_node *n);

void npuc_graph_free(struct npuc_graph *g);

/*
 * Reads an ONNX model from memory. The graph is checked: names resolve, no
 * tensor has two producers, nodes come after what they read, constants have
 * as many elements as their shape says. External data files are refused.
 */
int npuc_import_onnx(const void *data, size_t size, struct npuc_graph **out, struct npuc_diag *d);

/* Refuses an ONNX model whose messages lie too deep in one another, or whose text is not UTF-8. */
int npuc_check_wire(const void *data, size_t size, struct npuc_diag *d);

#endif
