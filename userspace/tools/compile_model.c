// SPDX-License-Identifier: MIT
/* npu compile */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "userspace/compiler/npu_compiler.h"
#include "userspace/tools/tool.h"

struct args {
	const char *model, *output;
	bool json, quiet;
	struct npu_compile_options opt;
};

static int parse(int argc, char **argv, struct args *a)
{
	long cycles;

	for (int i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "-o") && i + 1 < argc) {
			a->output = argv[++i];
		} else if (!strcmp(argv[i], "--function") && i + 1 < argc) {
			a->opt.function = argv[++i];
		} else if (!strcmp(argv[i], "--yield") && i + 1 < argc) {
			if (!tool_number(argv[++i], 1, 1000000000, "--yield", &cycles))
				return TOOL_USAGE;
			a->opt.yield_cycles = cycles;
		} else if (!strcmp(argv[i], "--json")) {
			a->json = true;
		} else if (!strcmp(argv[i], "-q")) {
			a->quiet = true;
		} else if (argv[i][0] != '-' && !a->model) {
			a->model = argv[i];
		} else {
			return tool_usage(&tool_compile);
		}
	}
	return a->model && a->output ? TOOL_OK : tool_usage(&tool_compile);
}

/* Through a file of its own beside the target: a module is there whole or not at all. */
static int write_module(const struct npu_compiled *c, const char *path)
{
	mode_t mask = umask(0);
	char temp[4096];
	int fd, err;

	umask(mask);
	if ((size_t)snprintf(temp, sizeof(temp), "%s.XXXXXX", path) >= sizeof(temp))
		return tool_fail("%s: name too long", path);
	fd = mkstemp(temp);
	if (fd < 0)
		return tool_fail("%s: %s", temp, strerror(errno));
	err = npu_compiled_write(c, fd);
	if (!err && (fchmod(fd, 0666 & ~mask) || fsync(fd)))
		err = -errno;
	if (close(fd) && !err)
		err = -errno;
	if (!err && rename(temp, path))
		err = -errno;
	if (!err)
		return TOOL_OK;
	unlink(temp);
	return tool_fail("%s: %s", path, strerror(-err));
}

static void print_rows(const struct npu_compiled *c)
{
	size_t n, npu = 0, work = 0;
	const struct npu_compile_row *r = npu_compiled_rows(c, &n);
	uint64_t macs = 0;

	printf("%-18s %-28s %-5s %4s %14s\n", "OPERATOR", "NODE", "WHERE", "STEP", "MAC");
	for (size_t i = 0; i < n; i++) {
		printf("%-18s %-28s %-5s ", r[i].op, r[i].name, r[i].where);
		if (r[i].step >= 0)
			printf("%4d ", r[i].step);
		else
			printf("%4s ", "-");
		printf("%14llu\n", (unsigned long long)r[i].macs);
		npu += !strcmp(r[i].where, "npu");
		work += strcmp(r[i].where, "free");
		macs += r[i].macs;
	}
	printf("%zu of %zu operators that do work run on the NPU, %llu MAC\n", npu, work,
	       (unsigned long long)macs);
}

static int report(const struct npu_compiled *c, const struct args *a)
{
	if (a->json)
		return tool_print_json(json_loads(npu_compiled_info(c), 0, NULL));
	if (!a->quiet)
		print_rows(c);
	return TOOL_OK;
}

static int run_compile(int argc, char **argv)
{
	struct args a = { 0 };
	struct npu_compiled *c;
	char message[512];
	size_t size;
	void *model;
	int status = parse(argc, argv, &a), err;

	if (status)
		return status;
	model = tool_read_file(a.model, &size);
	if (!model)
		return TOOL_FAILED;
	err = npu_compile(&c, model, size, &a.opt, message, sizeof(message));
	free(model);
	if (err)
		return tool_fail("%s: %s", a.model, message);
	status = write_module(c, a.output);
	if (!status)
		status = report(c, &a);
	npu_compiled_free(c);
	return status;
}

const struct tool_command tool_compile = {
	"compile", "MODEL.onnx -o MODULE.npu [--function NAME] [--yield CYCLES] [--json] [-q]",
	"compiles an ONNX model into a module", run_compile,
};
