// SPDX-License-Identifier: MIT
/* Messages, arguments and JSON of the subcommands. */
#include "userspace/tools/tool.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <npu/npu.h>

int tool_fail(const char *fmt, ...)
{
	char *text, *clean = NULL;
	va_list ap;

	va_start(ap, fmt);
	if (vasprintf(&text, fmt, ap) < 0)
		text = NULL;
	va_end(ap);
	if (text)
		clean = tool_clean(text);
	fflush(stdout);
	fprintf(stderr, "%snpu:%s %s\n", tool_style(stderr, TOOL_RED),
		tool_style(stderr, TOOL_PLAIN), clean ? clean : "out of memory");
	free(clean);
	free(text);
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

int tool_operands(const struct tool_command *c, int argc, char **argv, int min, int max)
{
	int n = argc - optind;

	if (n >= min && n <= max)
		return TOOL_OK;
	if (n > max)
		tool_fail("%s: \"%s\" is one word too many", c->name, argv[optind + max]);
	return tool_usage(c);
}

bool tool_number(const char *text, long min, long max, const char *what, long *out)
{
	char *end;

	errno = 0;
	*out = strtol(text, &end, 10);
	if (!errno && *text && !*end && *out >= min && *out <= max)
		return true;
	tool_fail("%s is \"%s\", want a number from %ld to %ld", what, text, min, max);
	return false;
}

int tool_print_json(json_t *root)
{
	int bad;

	if (!root)
		return tool_fail("out of memory");
	bad = json_dumpf(root, stdout, isatty(STDOUT_FILENO) ? JSON_INDENT(2) : JSON_COMPACT);
	json_decref(root);
	putchar('\n');
	if (bad || fflush(stdout))
		return tool_fail("standard output: %s", strerror(errno));
	return TOOL_OK;
}
