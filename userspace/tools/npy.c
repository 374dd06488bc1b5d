// SPDX-License-Identifier: MIT
#include "userspace/tools/npy.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "userspace/tools/tool.h"

#define MAGIC	     "\x93NUMPY"
#define MAX_ELEMENTS (1ll << 32)

/* A file that is read, and its header's text. */
struct file {
	const char *path;
	unsigned char *data;
	size_t size, start;
	char *header;
	char type, order;
	unsigned int width;
};

static int bad(const struct file *f, const char *why)
{
	return tool_fail("%s: %s", f->path, why);
}

/* Magic, version, length of the header (2 bytes in version 1, else 4), header. */
static int find_header(struct file *f)
{
	size_t at = 10, length;

	if (f->size < 12 || memcmp(f->data, MAGIC, 6))
		return bad(f, "not an array in NumPy's format (.npy)");
	length = f->data[8] | f->data[9] << 8;
	if (f->data[6] > 1) {
		length |= (size_t)f->data[10] << 16 | (size_t)f->data[11] << 24;
		at = 12;
	}
	if (length > f->size - at)
		return bad(f, "the header is cut off");
	f->start = at + length;
	f->header = strndup((char *)f->data + at, length);
	return f->header ? TOOL_OK : bad(f, "out of memory");
}

/* What follows 'KEY': in the header. */
static const char *field(const struct file *f, const char *key)
{
	const char *at = strstr(f->header, key);

	if (!at)
		return NULL;
	at += strlen(key);
	return at + strspn(at, "\"': ");
}

static int read_type(struct file *f)
{
	const char *text = field(f, "descr"), *order = field(f, "fortran_order");
	char *end;

	if (!text || !order)
		return bad(f, "the header names no descr or fortran_order");
	if (strncmp(order, "False", 5))
		return bad(f, "the array is in column-major (Fortran) order, want row-major");
	f->order = text[0];
	f->type = text[0] ? text[1] : 0;
	f->width = f->type ? strtoul(text + 2, &end, 10) : 0;
	if (f->order == '>')
		return bad(f, "the array is big-endian, want little-endian");
	if ((f->type == 'f' && (f->width == 4 || f->width == 8)) ||
	    ((f->type == 'i' || f->type == 'u') &&
	     (f->width == 1 || f->width == 2 || f->width == 4 || f->width == 8)))
		return TOOL_OK;
	return tool_fail("%s: elements are \"%.6s\"; float32, float64 and integers are possible",
			 f->path, text);
}

static int read_shape(struct file *f, struct npy *out)
{
	const char *at = field(f, "shape");

	if (!at || *at++ != '(')
		return bad(f, "the header names no shape");
	out->elements = 1;
	while (*at && *at != ')') {
		char *end;
		long long dim = strtoll(at, &end, 10);

		if (end == at || dim < 1 || out->rank == NPY_MAX_RANK ||
		    dim > MAX_ELEMENTS / out->elements)
			return bad(f, "the shape is not 1 to 8 positive numbers");
		out->dim[out->rank++] = dim;
		out->elements *= dim;
		at = end + strspn(end, ", L");
	}
	if (f->size - f->start != (uint64_t)out->elements * f->width)
		return tool_fail("%s: the shape wants %lld elements of %u bytes, the file has %zu bytes of them",
				 f->path, (long long)out->elements, f->width, f->size - f->start);
	return TOOL_OK;
}

static int64_t integer_at(const struct file *f, const unsigned char *p)
{
	uint64_t v = 0;
	unsigned int bits = 8 * f->width;

	for (unsigned int i = 0; i < f->width; i++)
		v |= (uint64_t)p[i] << 8 * i;
	if (f->type == 'i' && bits < 64 && v >> (bits - 1))
		v |= ~UINT64_C(0) << bits;
	return v;
}

static float real_at(const struct file *f, const unsigned char *p)
{
	double d;
	float s;

	if (f->width == 4) {
		memcpy(&s, p, sizeof(s));
		return s;
	}
	memcpy(&d, p, sizeof(d));
	return d;
}

static int read_elements(struct file *f, struct npy *out)
{
	out->kind = f->type == 'f' ? 'f' : 'i';
	if (out->kind == 'f')
		out->real = malloc(out->elements * sizeof(*out->real));
	else
		out->whole = malloc(out->elements * sizeof(*out->whole));
	if (!out->real && !out->whole)
		return bad(f, "out of memory");
	for (int64_t i = 0; i < out->elements; i++) {
		const unsigned char *p = f->data + f->start + i * f->width;

		if (out->real)
			out->real[i] = real_at(f, p);
		else
			out->whole[i] = integer_at(f, p);
	}
	return TOOL_OK;
}

int npy_read(const char *path, struct npy *out)
{
	struct file f = { .path = path };
	int status;

	*out = (struct npy){ 0 };
	f.data = tool_read_file(path, &f.size);
	if (!f.data)
		return TOOL_FAILED;
	status = find_header(&f);
	if (!status)
		status = read_type(&f);
	if (!status)
		status = read_shape(&f, out);
	if (!status)
		status = read_elements(&f, out);
	free(f.header);
	free(f.data);
	return status;
}

int npy_to_real(struct npy *a)
{
	if (a->kind == 'f')
		return TOOL_OK;
	a->real = malloc(a->elements * sizeof(*a->real));
	if (!a->real)
		return tool_fail("out of memory");
	for (int64_t i = 0; i < a->elements; i++)
		a->real[i] = a->whole[i];
	a->kind = 'f';
	return TOOL_OK;
}

void npy_free(struct npy *a)
{
	free(a->real);
	free(a->whole);
	*a = (struct npy){ 0 };
}
