/* SPDX-License-Identifier: MIT */
/* What the subcommands of npu share. */
#ifndef NPU_TOOL_H
#define NPU_TOOL_H

#include <getopt.h>
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Exit status of a subcommand. */
enum {
	TOOL_OK = 0,
	TOOL_FAILED = 1,
	TOOL_USAGE = 2,
};

/* @options is the help text of the options, a line each. */
struct tool_command {
	const char *name;
	const char *args;
	const char *summary;
	const char *options;
	int (*run)(int argc, char **argv);
};

extern const struct tool_command tool_list, tool_info, tool_load, tool_unload, tool_run,
	tool_compile, tool_objdump, tool_account, tool_coredump,
	tool_doctor, tool_reset, tool_top;

/* Prints "npu: " and the message to stderr; returns TOOL_FAILED. */
int tool_fail(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* The same after a failed call of libnpu: adds its message, or that of @err. */
int tool_fail_npu(int err, const char *what);

/* Prints how the command is called; returns TOOL_USAGE. */
int tool_usage(const struct tool_command *c);

/* TOOL_OK when getopt left @min to @max words, else usage. */
int tool_operands(const struct tool_command *c, int argc, char **argv, int min, int max);

/* Whole numbers; what is none, or out of bounds, is reported. */
bool tool_number(const char *text, long min, long max, const char *what, long *out);

/* Prints and drops @root (compact on a pipe, indented on a terminal). */
int tool_print_json(json_t *root);

/* A string of any bytes: what is not UTF-8 becomes \xNN. */
json_t *tool_json_text(const char *text);

/*
 * A copy, to be freed, without what a terminal would obey: control characters
 * and bytes that are not UTF-8 become \xNN. NULL without memory.
 */
char *tool_clean(const char *text);

/* Prints a name from outside, clean, in at least @width columns. */
void tool_put(const char *text, int width);

enum tool_style { TOOL_PLAIN, TOOL_BOLD, TOOL_RED, TOOL_GREEN, TOOL_YELLOW, TOOL_DIM };

/* Escape sequence, empty where @f is no terminal or NO_COLOR is set. */
const char *tool_style(FILE *f, enum tool_style style);

/* The whole file, "-" being standard input; NULL, reported, if that fails. */
void *tool_read_file(const char *path, size_t *size);

/* Replaces a file, or leaves it as it was: readers never see a part of it. */
int tool_save_file(const char *path, const void *data, size_t size);

#endif
