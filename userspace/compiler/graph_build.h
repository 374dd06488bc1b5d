/* SPDX-License-Identifier: MIT */
/* Makes a graph node by node, in the order in which they run. */
#ifndef NPU_COMPILER_GRAPH_BUILD_H
#define NPU_COMPILER_GRAPH_BUILD_H

#include "userspace/compiler/graph.h"

#define NPUC_MAX_INPUTS 64

/* A new tensor @name of @dtype, with @suffix if that is not NULL; -EEXIST, -ENOMEM. */
int npuc_build_tensor(struct npuc_graph *g, const char *name, const char *suffix,
		      enum npuc_dtype dtype);

/* Gives tensor @id its shape and a copy of @data. */
int npuc_build_constant(struct npuc_graph *g, int id, int rank, const int64_t *dim,
			const void *data);

/* Operator @op called @name, from @n_in tensors to tensor @out, with the attributes of @like. */
int npuc_build_node(struct npuc_graph *g, const char *op, const char *name, const int *in,
		    size_t n_in, int out, const struct npuc_node *like);

#endif
