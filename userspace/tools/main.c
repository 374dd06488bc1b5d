// SPDX-License-Identifier: MIT
#include <string.h>

#include <npu/npu.h>

#include "userspace/tools/tool.h"

static const struct tool_command *const commands[] = {
	&tool_list, &tool_info, &tool_load, &tool_unload, &tool_run, &tool_compile, &tool_objdump,
	&tool_account, &tool_coredump, &tool_doctor, &tool_reset, &tool_top,
};

#define N_COMMANDS (sizeof(commands) / sizeof(commands[0]))

static void help(FILE *out)
{
	fputs("usage: npu COMMAND [ARGUMENTS]\n"
	      "       npu --help | --version\n\n",
	      out);
	for (size_t i = 0; i < N_COMMANDS; i++)
		fprintf(out, "  %-9s %s\n", commands[i]->name, commands[i]->summary);
	fputs("\n\"npu COMMAND --help\" and npu-COMMAND(1) say more.\n"
	      "NPU_DEVICE chooses the device: a node's path or number, or \"sim\" for one\n"
	      "inside the process.\n",
	      out);
}

static int run(const struct tool_command *c, int argc, char **argv)
{
	char name[32];

	for (int i = 1; i < argc && strcmp(argv[i], "--"); i++) {
		if (strcmp(argv[i], "--help") && strcmp(argv[i], "-h"))
			continue;
		printf("usage: npu %s %s\n\n%s\n\n%s  -h, --help            prints this\n", c->name,
		       c->args, c->summary, c->options);
		return TOOL_OK;
	}
	/* What getopt puts before its messages. */
	snprintf(name, sizeof(name), "npu %s", c->name);
	argv[0] = name;
	return c->run(argc, argv);
}

/* What was printed last may meet a full disk or a closed pipe only here. */
static int finish(int status)
{
	if (fflush(stdout) || ferror(stdout))
		return status ? status : tool_fail("standard output cannot be written");
	return status;
}

int main(int argc, char **argv)
{
	if (argc < 2) {
		help(stderr);
		return TOOL_USAGE;
	}
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") || !strcmp(argv[1], "help")) {
		help(stdout);
		return finish(TOOL_OK);
	}
	if (!strcmp(argv[1], "--version")) {
		printf("npu %s\n", npu_version());
		return finish(TOOL_OK);
	}
	for (size_t i = 0; i < N_COMMANDS; i++)
		if (!strcmp(argv[1], commands[i]->name))
			return finish(run(commands[i], argc - 1, argv + 1));
	tool_fail("no command \"%s\"; \"npu --help\" lists them", argv[1]);
	return TOOL_USAGE;
}
