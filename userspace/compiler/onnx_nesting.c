// SPDX-License-Identifier: MIT
/*
 * How deep messages lie in one another. protobuf-c calls itself for each level,
 * so that depth is bounded before it reads a file that nobody vouches for.
 */
#include "userspace/compiler/graph.h"

#include <errno.h>

#include "onnx.pb-c.h"

/* What other readers of the format allow, too. */
#define MAX_DEPTH 100

enum wire {
	WIRE_VARINT = 0,
	WIRE_64 = 1,
	WIRE_BYTES = 2,
	WIRE_32 = 5,
};

struct cursor {
	const uint8_t *at;
	const uint8_t *end;
};

struct level {
	const ProtobufCMessageDescriptor *type;
	const uint8_t *end;
};

static bool read_varint(struct cursor *c, int max_bytes, uint64_t *out)
{
	*out = 0;
	for (int i = 0; i < max_bytes && c->at < c->end; i++) {
		uint8_t byte = *c->at++;

		*out |= (uint64_t)(byte & 0x7f) << (7 * i);
		if (!(byte & 0x80))
			return true;
	}
	return false;
}

static bool skip(struct cursor *c, uint64_t bytes)
{
	if (bytes > (uint64_t)(c->end - c->at))
		return false;
	c->at += bytes;
	return true;
}

/* Reads a field; for a message, leaves the cursor in front of it and says where it ends. */
static bool read_field(struct cursor *c, const struct level *in, struct level *message)
{
	const ProtobufCFieldDescriptor *field;
	uint64_t key, value;

	message->type = NULL;
	if (!read_varint(c, 5, &key))
		return false;
	switch (key & 7) {
	case WIRE_VARINT:
		return read_varint(c, 10, &value);
	case WIRE_64:
		return skip(c, 8);
	case WIRE_32:
		return skip(c, 4);
	case WIRE_BYTES:
		break;
	default:
		return false;
	}
	if (!read_varint(c, 5, &value) || value > (uint64_t)(c->end - c->at))
		return false;
	field = protobuf_c_message_descriptor_get_field(in->type, key >> 3);
	if (!field || field->type != PROTOBUF_C_TYPE_MESSAGE)
		return skip(c, value);
	message->type = field->descriptor;
	message->end = c->at + value;
	return true;
}

int npuc_check_nesting(const void *data, size_t size, struct npuc_diag *d)
{
	struct cursor c = { data, (const uint8_t *)data + size };
	struct level level[MAX_DEPTH] = { { &onnx__model_proto__descriptor, c.end } };
	int depth = 0;

	while (depth >= 0) {
		struct level next;

		c.end = level[depth].end;
		if (c.at == c.end) {
			depth--;
			continue;
		}
		if (!read_field(&c, &level[depth], &next))
			return npuc_fail(d, -EINVAL,
					 "not an ONNX model: the %zu bytes do not parse", size);
		if (!next.type)
			continue;
		if (++depth == MAX_DEPTH)
			return npuc_fail(d, -EINVAL,
					 "messages lie in one another more than %d deep", MAX_DEPTH);
		level[depth] = next;
	}
	return 0;
}
