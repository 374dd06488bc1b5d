// SPDX-License-Identifier: MIT
/*
 * What protobuf-c does not check of a file that nobody vouches for: it calls
 * itself for each message in a message, and takes any bytes for text.
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

/* Bytes of the character at @at, 0 if it is none of UTF-8; NUL would end a name early. */
static size_t character(const uint8_t *at, size_t size)
{
	static const uint32_t least[] = { 0, 1, 0x80, 0x800, 0x10000 };
	size_t n = *at < 0x80 ? 1 : *at < 0xc0 ? 0 : *at < 0xe0 ? 2 : *at < 0xf0 ? 3 : 4;
	uint32_t code = *at & (n == 1 ? 0x7f : 0x7f >> n);

	if (!n || n > size || *at > 0xf4)
		return 0;
	for (size_t i = 1; i < n; i++) {
		if ((at[i] & 0xc0) != 0x80)
			return 0;
		code = code << 6 | (at[i] & 0x3f);
	}
	return code < least[n] || code > 0x10ffff || code >> 11 == 0xd800 >> 11 ? 0 : n;
}

static int check_text(const ProtobufCFieldDescriptor *field, const struct level *in,
		      const uint8_t *text, size_t size, struct npuc_diag *d)
{
	for (size_t at = 0, n; at < size; at += n) {
		n = character(text + at, size - at);
		if (!n)
			return npuc_fail(d, -EINVAL,
					 "%s of %s: byte %zu is 0x%02x, want text in UTF-8",
					 field->name, in->type->short_name, at, text[at]);
	}
	return 0;
}

static bool skip(struct cursor *c, uint64_t bytes)
{
	if (bytes > (uint64_t)(c->end - c->at))
		return false;
	c->at += bytes;
	return true;
}

static int malformed(struct npuc_diag *d)
{
	return npuc_fail(d, -EINVAL, "not an ONNX model: its bytes do not parse");
}

static bool skip_number(struct cursor *c, int wire)
{
	uint64_t value;

	switch (wire) {
	case WIRE_VARINT:
		return read_varint(c, 10, &value);
	case WIRE_64:
		return skip(c, 8);
	case WIRE_32:
		return skip(c, 4);
	}
	return false;
}

/* Reads a field; for a message, leaves the cursor in front of it and says where it ends. */
static int read_field(struct cursor *c, const struct level *in, struct level *message,
		      struct npuc_diag *d)
{
	const ProtobufCFieldDescriptor *field;
	uint64_t key, size;
	int err = 0;

	message->type = NULL;
	if (!read_varint(c, 5, &key))
		return malformed(d);
	if ((key & 7) != WIRE_BYTES)
		return skip_number(c, key & 7) ? 0 : malformed(d);
	if (!read_varint(c, 5, &size) || size > (uint64_t)(c->end - c->at))
		return malformed(d);
	field = protobuf_c_message_descriptor_get_field(in->type, key >> 3);
	if (field && field->type == PROTOBUF_C_TYPE_MESSAGE) {
		message->type = field->descriptor;
		message->end = c->at + size;
		return 0;
	}
	if (field && field->type == PROTOBUF_C_TYPE_STRING)
		err = check_text(field, in, c->at, size, d);
	skip(c, size);
	return err;
}

int npuc_check_wire(const void *data, size_t size, struct npuc_diag *d)
{
	struct cursor c = { data, (const uint8_t *)data + size };
	struct level level[MAX_DEPTH] = { { &onnx__model_proto__descriptor, c.end } };
	int depth = 0;

	while (depth >= 0) {
		struct level next;
		int err;

		c.end = level[depth].end;
		if (c.at == c.end) {
			depth--;
			continue;
		}
		err = read_field(&c, &level[depth], &next, d);
		if (err)
			return err;
		if (!next.type)
			continue;
		if (++depth == MAX_DEPTH)
			return npuc_fail(d, -EINVAL,
					 "messages lie in one another more than %d deep", MAX_DEPTH);
		level[depth] = next;
	}
	return 0;
}
