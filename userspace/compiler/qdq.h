/* SPDX-License-Identifier: MIT */
/* Graphs whose float operators stand between DequantizeLinear and QuantizeLinear. */
#ifndef NPU_COMPILER_QDQ_H
#define NPU_COMPILER_QDQ_H

#include "userspace/compiler/graph.h"

/* The operator that changes the quantisation of a value; no model can name it. */
#define NPUC_REQUANTIZE "npu:Requantize"

/*
 * Makes operators on quantised values of the float operators between
 * DequantizeLinear and QuantizeLinear, as ONNX Runtime does, and of those that
 * only move or bound values. What does not fit stays as it is. Returns 0 or
 * -ENOMEM with the message set; the graph is to be freed either way.
 */
int npuc_fuse_qdq(struct npuc_graph *g, struct npuc_diag *d);

/*
 * Does QuantizeLinear (@quantizes) or DequantizeLinear of constants now. The
 * first before npuc_fuse_qdq(), which wants weights quantised, the other after
 * it. Returns 0 or -ENOMEM.
 */
int npuc_fold_constants(struct npuc_graph *g, bool quantizes, struct npuc_diag *d);

#endif
