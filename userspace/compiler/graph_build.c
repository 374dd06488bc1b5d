// SPDX-License-Identifier: MIT
#include "userspace/compiler/graph_build.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int npuc_build_tensor(struct npuc_graph *g, const char *name, const char *suffix,
		      enum npuc_dtype dtype)
{
	size_t size = strlen(name) + (suffix ? strlen(suffix) : 0) + 2, before = g->n_tensor;
	char *full = malloc(size);
	int id;

	if (!full)
		return -ENOMEM;
	snprintf(full, size, suffix ? "%s:%s" : "%s%s", name, suffix ? suffix : "");
	id = npuc_graph_tensor(g, full);
	free(full);
	if (id >= 0 && g->n_tensor == before)
		return -EEXIST;
	if (id >= 0)
		g->tensor[id].dtype = dtype;
	return id;
}

int npuc_build_constant(struct npuc_graph *g, int id, int rank, const int64_t *dim,
			const void *data)
{
	struct npuc_tensor *t = &g->tensor[id];
	size_t bytes;

	t->rank = rank;
	if (rank)
		memcpy(t->dim, dim, rank * sizeof(*dim));
	bytes = npuc_elements(t) * npuc_dtype_size(t->dtype);
	t->data = malloc(bytes);
	if (!t->data)
		return -ENOMEM;
	memcpy(t->data, data, bytes);
	return 0;
}

static int copy_attr(struct npuc_attr *to, const struct npuc_attr *from)
{
	*to = *from;
	to->name = strdup(from->name);
	to->s = from->s ? strdup(from->s) : NULL;
	to->ints = calloc(from->n_ints + 1, sizeof(*to->ints));
	if (!to->name || !to->ints || (from->s && !to->s))
		return -ENOMEM;
	if (from->n_ints)
		memcpy(to->ints, from->ints, from->n_ints * sizeof(*to->ints));
	return 0;
}

static int fill_node(struct npuc_node *n, const char *op, const char *name, size_t n_in,
		     const struct npuc_node *like)
{
	size_t attrs = like ? like->n_attr : 0;

	*n = (struct npuc_node){ .op = strdup(op), .name = strdup(name) };
	n->in = calloc(n_in + 1, sizeof(*n->in));
	n->out = calloc(1, sizeof(*n->out));
	n->attr = calloc(attrs + 1, sizeof(*n->attr));
	if (!n->op || !n->name || !n->in || !n->out || !n->attr)
		return -ENOMEM;
	while (n->n_attr < attrs) {
		int err = copy_attr(&n->attr[n->n_attr], &like->attr[n->n_attr]);

		n->n_attr++;
		if (err)
			return err;
	}
	return 0;
}

int npuc_build_node(struct npuc_graph *g, const char *op, const char *name, const int *in,
		    size_t n_in, int out, const struct npuc_node *like)
{
	struct npuc_node *grown = realloc(g->node, (g->n_node + 1) * sizeof(*grown)), *n;
	int err;

	if (!grown)
		return -ENOMEM;
	g->node = grown;
	n = &grown[g->n_node++];
	err = fill_node(n, op, name, n_in, like);
	if (err)
		return err;
	for (size_t i = 0; i < n_in; i++) {
		n->in[n->n_in++] = in[i];
		if (in[i] >= 0)
			g->tensor[in[i]].uses++;
	}
	n->out[n->n_out++] = out;
	g->tensor[out].producer = g->n_node - 1;
	return 0;
}
