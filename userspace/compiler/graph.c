// SPDX-License-Identifier: MIT
#include "userspace/compiler/graph.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

size_t npuc_dtype_size(enum npuc_dtype dtype)
{
	switch (dtype) {
	case NPUC_I8:
	case NPUC_U8:
		return 1;
	case NPUC_F32:
	case NPUC_I32:
		return 4;
	case NPUC_I64:
		return 8;
	case NPUC_NONE:
		break;
	}
	return 0;
}

const char *npuc_dtype_name(enum npuc_dtype dtype)
{
	static const char *const names[] = {
		[NPUC_NONE] = "unknown", [NPUC_F32] = "float32", [NPUC_I8] = "int8",
		[NPUC_U8] = "uint8",	 [NPUC_I32] = "int32",	 [NPUC_I64] = "int64",
	};

	return names[dtype];
}

int64_t npuc_elements(const struct npuc_tensor *t)
{
	int64_t n = 1;

	for (int i = 0; i < t->rank; i++)
		n *= t->dim[i];
	return n;
}

const char *npuc_shape_text(const struct npuc_tensor *t, char *buf, size_t size)
{
	size_t at = 0;

	if (t->rank < 0) {
		snprintf(buf, size, "[?]");
		return buf;
	}
	at += snprintf(buf, size, "[");
	for (int i = 0; i < t->rank && at < size; i++)
		at += snprintf(buf + at, size - at, "%s%lld", i ? "," : "", (long long)t->dim[i]);
	if (at < size)
		snprintf(buf + at, size - at, "]");
	return buf;
}

/* FNV-1a */
static uint64_t hash(const char *name)
{
	uint64_t h = 0xcbf29ce484222325;

	for (; *name; name++)
		h = (h ^ (uint8_t)*name) * 0x100000001b3;
	return h ^ h >> 32;
}

/* The slot of that name, or the free one where it belongs. */
static uint32_t *slot_of(const struct npuc_graph *g, const char *name)
{
	size_t at = hash(name) & (g->n_index - 1);

	while (g->index[at] && strcmp(g->tensor[g->index[at] - 1].name, name))
		at = (at + 1) & (g->n_index - 1);
	return &g->index[at];
}

static int grow_index(struct npuc_graph *g)
{
	size_t n = g->n_index ? 2 * g->n_index : 64;
	uint32_t *index;

	if (2 * (g->n_tensor + 1) <= g->n_index)
		return 0;
	index = calloc(n, sizeof(*index));
	if (!index)
		return -ENOMEM;
	free(g->index);
	g->index = index;
	g->n_index = n;
	for (size_t i = 0; i < g->n_tensor; i++)
		*slot_of(g, g->tensor[i].name) = i + 1;
	return 0;
}

int npuc_graph_tensor(struct npuc_graph *g, const char *name)
{
	struct npuc_tensor *grown;
	uint32_t *slot;

	if (grow_index(g))
		return -ENOMEM;
	slot = slot_of(g, name);
	if (*slot)
		return *slot - 1;
	grown = realloc(g->tensor, (g->n_tensor + 1) * sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	g->tensor = grown;
	grown += g->n_tensor;
	*grown = (struct npuc_tensor){ .name = strdup(name), .rank = -1, .producer = -1 };
	if (!grown->name)
		return -ENOMEM;
	*slot = g->n_tensor + 1;
	return g->n_tensor++;
}

const struct npuc_attr *npuc_attr(const struct npuc_node *n, const char *name)
{
	for (size_t i = 0; i < n->n_attr; i++)
		if (!strcmp(n->attr[i].name, name))
			return &n->attr[i];
	return NULL;
}

int64_t npuc_attr_int(const struct npuc_node *n, const char *name, int64_t def)
{
	const struct npuc_attr *a = npuc_attr(n, name);

	return a && a->kind == NPUC_ATTR_INT ? a->i : def;
}

int npuc_attr_ints(const struct npuc_node *n, const char *name, int64_t *out, size_t count,
		   int64_t min, int64_t max, struct npuc_diag *d)
{
	const struct npuc_attr *a = npuc_attr(n, name);

	if (!a)
		return 0;
	if (a->kind != NPUC_ATTR_INTS || a->n_ints != count)
		return npuc_fail(d, -EINVAL, "%s %s: attribute %s wants %zu integers, has %zu",
				 n->op, n->name, name, count, a->n_ints);
	for (size_t i = 0; i < count; i++) {
		if (a->ints[i] < min || a->ints[i] > max)
			return npuc_fail(d, -EINVAL,
					 "%s %s: attribute %s[%zu] is %lld, want %lld to %lld",
					 n->op, n->name, name, i, (long long)a->ints[i],
					 (long long)min, (long long)max);
		out[i] = a->ints[i];
	}
	return 0;
}

void npuc_node_free(struct npuc_node *n)
{
	for (size_t i = 0; i < n->n_attr; i++) {
		free(n->attr[i].name);
		free(n->attr[i].s);
		free(n->attr[i].ints);
	}
	free(n->attr);
	free(n->in);
	free(n->out);
	free(n->op);
	free(n->name);
}

void npuc_graph_free(struct npuc_graph *g)
{
	if (!g)
		return;
	for (size_t i = 0; i < g->n_node; i++)
		npuc_node_free(&g->node[i]);
	for (size_t i = 0; i < g->n_tensor; i++) {
		free(g->tensor[i].name);
		free(g->tensor[i].data);
	}
	free(g->node);
	free(g->tensor);
	free(g->index);
	free(g->input);
	free(g->output);
	free(g);
}
