// SPDX-License-Identifier: MIT
/* npu compile */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "userspace/compiler/npu_compiler.h"
#include "userspace/tools/calibrate_model.h"
#include "userspace/tools/tool.h"

struct args {
	const char *model, *output;
	bool json, quiet;
	struct npu_compile_options opt;
	struct calibrate_files calibrate;
};

static int take_sample(struct args *a, const char *path)
{
	if (a->calibrate.samples == CALIBRATE_MAX_INPUTS) {
		tool_fail("--calibrate: at most %d inputs are possible", CALIBRATE_MAX_INPUTS);
		return TOOL_USAGE;
	}
	a->calibrate.sample[a->calibrate.samples++] = path;
	return TOOL_OK;
}

static int check(const struct args *a)
{
	if (!a->output || !*a->output)
		tool_fail("where to? -o MODULE.npu is missing");
	else if (a->opt.function && !*a->opt.function)
		tool_fail("the function's name is empty");
	else if (a->calibrate.label && !a->calibrate.samples)
		tool_fail("--labels goes with --calibrate");
	else
		return TOOL_OK;
	return tool_usage(&tool_compile);
}

static int parse(int argc, char **argv, struct args *a)
{
	static const struct option options[] = {
		{"output", required_argument, NULL, 'o'},
		{"function", required_argument, NULL, 'f'},
		{"yield", required_argument, NULL, 'y'},
		{"calibrate", required_argument, NULL, 'c'},
		{"labels", required_argument, NULL, 'l'},
		{"json", no_argument, NULL, 'j'},
		{"quiet", no_argument, NULL, 'q'},
		{0},
	};
	long cycles;
	int c;

	while ((c = getopt_long(argc, argv, "o:q", options, NULL)) != -1) {
		if (c == 'o')
			a->output = optarg;
		else if (c == 'f')
			a->opt.function = optarg;
		else if (c == 'y' && !tool_number(optarg, 1, 1000000000, "--yield", &cycles))
			return TOOL_USAGE;
		else if (c == 'y')
			a->opt.yield_cycles = cycles;
		else if (c == 'c' && take_sample(a, optarg))
			return TOOL_USAGE;
		else if (c == 'l')
			a->calibrate.label = optarg;
		else if (c == 'j')
			a->json = true;
		else if (c == 'q')
			a->quiet = true;
		else if (c != 'c')
			return tool_usage(&tool_compile);
	}
	if (tool_operands(&tool_compile, argc, argv, 1, 1))
		return TOOL_USAGE;
	a->model = argv[optind];
	a->calibrate.quiet = a->quiet;
	return check(a);
}

static int write_module(const struct npu_compiled *c, const char *path)
{
	int fd = memfd_create("module", MFD_CLOEXEC), status, err;
	struct stat st;
	void *data;

	if (fd < 0)
		return tool_fail("memory for the module: %s", strerror(errno));
	err = npu_compiled_write(c, fd);
	if (!err && fstat(fd, &st))
		err = -errno;
	data = err ? MAP_FAILED : mmap(NULL, st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (!err && data == MAP_FAILED)
		err = -errno;
	close(fd);
	if (err)
		return tool_fail("%s: %s", path, strerror(-err));
	status = tool_save_file(path, data, st.st_size);
	munmap(data, st.st_size);
	return status;
}

static enum tool_style style_of(const char *where)
{
	return !strcmp(where, "npu") ? TOOL_GREEN : !strcmp(where, "host") ? TOOL_YELLOW : TOOL_DIM;
}

static void print_row(const struct npu_compile_row *r)
{
	tool_put(r->op, 18);
	putchar(' ');
	tool_put(r->name && *r->name ? r->name : "-", 28);
	printf(" %s%-5s%s ", tool_style(stdout, style_of(r->where)), r->where,
	       tool_style(stdout, TOOL_PLAIN));
	if (r->step >= 0)
		printf("%4d ", r->step);
	else
		printf("%4s ", "-");
	printf("%14llu\n", (unsigned long long)r->macs);
}

static void print_rows(const struct npu_compiled *c)
{
	size_t n, npu = 0, work = 0;
	const struct npu_compile_row *r = npu_compiled_rows(c, &n);
	uint64_t macs = 0;

	printf("%s%-18s %-28s %-5s %4s %14s%s\n", tool_style(stdout, TOOL_BOLD), "OPERATOR", "NODE",
	       "WHERE", "STEP", "MAC", tool_style(stdout, TOOL_PLAIN));
	for (size_t i = 0; i < n; i++) {
		print_row(&r[i]);
		npu += !strcmp(r[i].where, "npu");
		work += strcmp(r[i].where, "free") != 0;
		macs += r[i].macs;
	}
	printf("%zu of %zu operators that do work run on the NPU, %llu MAC\n", npu, work,
	       (unsigned long long)macs);
}

static int report(const struct npu_compiled *c, const struct args *a)
{
	json_t *root, *calibration;

	if (!a->json) {
		if (!a->quiet) {
			print_rows(c);
			calibrate_print(c, a->calibrate.label);
		}
		return TOOL_OK;
	}
	root = json_loads(npu_compiled_info(c), 0, NULL);
	calibration = calibrate_json(c, a->calibrate.label);
	if (calibration)
		json_object_set_new(root, "calibration", calibration);
	return tool_print_json(root);
}

static int compile(const struct args *a)
{
	struct npu_compiled *c;
	char message[512];
	size_t size;
	void *model = tool_read_file(a->model, &size);
	int status, err;

	if (!model)
		return TOOL_FAILED;
	err = npu_compile(&c, model, size, &a->opt, message, sizeof(message));
	free(model);
	if (err)
		return tool_fail("%s: %s", a->model, message);
	status = write_module(c, a->output);
	if (!status)
		status = report(c, a);
	npu_compiled_free(c);
	return status;
}

static int run_compile(int argc, char **argv)
{
	struct calibrate_data *data;
	struct args a = {0};
	int status = parse(argc, argv, &a);

	if (status || !a.calibrate.samples)
		return status ? status : compile(&a);
	data = calibrate_open(&a.calibrate);
	if (!data)
		return TOOL_FAILED;
	a.opt.calibration = calibrate_samples(data);
	status = compile(&a);
	calibrate_close(data);
	return status;
}

const struct tool_command tool_compile = {
	"compile",
	"[OPTIONS] MODEL.onnx -o MODULE.npu",
	"compiles an ONNX model into a module",
	"  -o, --output FILE     the module to write\n"
	"      --function NAME   name of the function in the module (main)\n"
	"      --yield CYCLES    let more urgent jobs in at least this often (never)\n"
	"      --calibrate FILE  a float model becomes int8; FILE.npy has samples of its\n"
	"                        input (once more for each further input)\n"
	"      --labels FILE     the samples' classes, for the report's accuracy\n"
	"      --json            prints the report as JSON\n"
	"  -q, --quiet           prints no report\n",
	run_compile,
};
