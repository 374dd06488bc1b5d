// SPDX-License-Identifier: MIT
#include "userspace/tools/tool.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <npu/npu.h>

int tool_fail(const char *fmt, ...)
{
	va_list ap;

	fflush(stdout);
	fputs("npu: ", stderr);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	return TOOL_FAILED;
}

int tool_fail_npu(int err, const char *what)
{
	const char *detail = npu_error_message();

	return tool_fail("%s: %s", what, *detail ? detail : strerror(-err));
}

int tool_usage(const struct tool_command *c)
{
	fprintf(stderr, "usage: npu %s %s\n", c->name, c->args);
	return TOOL_USAGE;
}

int tool_print_json(json_t *root)
{
	int bad;

	if (!root)
		return tool_fail("out of memory");
	bad = json_dumpf(root, stdout, tool_terminal(STDOUT_FILENO) ? JSON_INDENT(2) : JSON_COMPACT);
	json_decref(root);
	putchar('\n');
	if (bad || fflush(stdout))
		return tool_fail("standard output: %s", strerror(errno));
	return TOOL_OK;
}

bool tool_number(const char *text, long min, long max, const char *what, long *out)
{
	char *end;

	errno = 0;
	*out = strtol(text, &end, 0);
	if (!errno && *text && !*end && *out >= min && *out <= max)
		return true;
	tool_fail("%s is \"%s\", want a number from %ld to %ld", what, text, min, max);
	return false;
}

static void *read_all(FILE *f, const char *path, size_t *size)
{
	size_t room = 1 << 16, n = 0;
	char *data = malloc(room), *grown;

	while (data) {
		n += fread(data + n, 1, room - n, f);
		if (n < room)
			break;
		room *= 2;
		grown = realloc(data, room);
		if (!grown)
			free(data);
		data = grown;
	}
	if (!data) {
		tool_fail("%s: out of memory", path);
		return NULL;
	}
	if (ferror(f)) {
		tool_fail("%s: %s", path, strerror(errno));
		free(data);
		return NULL;
	}
	*size = n;
	return data;
}

void *tool_read_file(const char *path, size_t *size)
{
	FILE *f = strcmp(path, "-") ? fopen(path, "rb") : stdin;
	void *data;

	if (!f) {
		tool_fail("%s: %s", path, strerror(errno));
		return NULL;
	}
	data = read_all(f, path, size);
	if (f != stdin)
		fclose(f);
	return data;
}

bool tool_terminal(int fd)
{
	const char *term = getenv("TERM");

	return isatty(fd) && term && strcmp(term, "dumb");
}
