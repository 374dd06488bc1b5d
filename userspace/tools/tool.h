/* SPDX-License-Identifier: MIT */
/* What the subcommands of npu share. */
#ifndef NPU_TOOL_H
#define NPU_TOOL_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

/* Exit status of a subcommand. */
enum {
	TOOL_OK = 0,
	TOOL_FAILED = 1,
	TOOL_USAGE = 2,
};

struct tool_command {
	const char *name;
	const char *args;
	const char *summary;
	int (*run)(int argc, char **argv);
};

extern const struct tool_command tool_list, tool_info, tool_load, tool_unload, tool_run, tool_compile,
	tool_objdump;

/* Prints "npu: " and the message to stderr; returns TOOL_FAILED. */
int tool_fail(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* The same after a failed call of libnpu: adds its message, or that of @err. */
int tool_fail_npu(int err, const char *what);

/* Prints how the command is called; returns TOOL_USAGE. */
int tool_usage(const struct tool_command *c);

/* Prints and drops @root (compact on a pipe, indented on a terminal). */
int tool_print_json(json_t *root);

/* Whole numbers and files; errors are reported, and NULL or false returned. */
bool tool_number(const char *text, long min, long max, const char *what, long *out);
void *tool_read_file(const char *path, size_t *size);

/* Whether colours and progress suit this output. */
bool tool_terminal(int fd);

#endif
