// SPDX-License-Identifier: MIT
/* npu coredump */
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "userspace/tools/accel_node.h"
#include "userspace/tools/coredump_file.h"
#include "userspace/tools/tool.h"

#define CLASS	"/sys/class/devcoredump"

struct options {
	const char *what;
	const char *output;
	bool json;
	bool clear;
};

static const char *last_part(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* The name of the device that an entry of the class is about. */
static bool failing_device(const char *entry, char *name, size_t size)
{
	char path[PATH_MAX], target[PATH_MAX];
	ssize_t length;

	snprintf(path, sizeof(path), CLASS "/%s/failing_device", entry);
	length = readlink(path, target, sizeof(target) - 1);
	if (length < 0)
		return false;
	target[length] = 0;
	return snprintf(name, size, "%s", last_part(target)) < (int)size;
}

static bool is_one_of(const char *name, const struct npu_device_entry *entries,
		      unsigned int count)
{
	for (unsigned int i = 0; i < count; i++)
		if (!strcmp(last_part(entries[i].parent), name))
			return true;
	return false;
}

/* The dump of one of these devices; false if there is none. */
static bool find_dump(const struct npu_device_entry *entries, unsigned int count, char *path,
		      size_t size)
{
	DIR *dir = opendir(CLASS);
	char name[256];
	struct dirent *entry;
	bool found = false;

	while (dir && !found && (entry = readdir(dir)))
		if (!strncmp(entry->d_name, "devcd", 5) &&
		    failing_device(entry->d_name, name, sizeof(name)) &&
		    is_one_of(name, entries, count))
			found = snprintf(path, size, CLASS "/%s/data", entry->d_name) < (int)size;
	if (dir)
		closedir(dir);
	return found;
}

/* A file, if there is one of that name, else a device. */
static int choose(const char *what, char *path, size_t size, bool *of_device)
{
	struct npu_device_entry *entries;
	unsigned int count;
	struct stat st;
	bool found;

	*of_device = false;
	if (what && (!strcmp(what, "-") || (!stat(what, &st) && !S_ISCHR(st.st_mode))))
		return snprintf(path, size, "%s", what) < (int)size
			       ? TOOL_OK
			       : tool_fail("%s: %s", what, strerror(ENAMETOOLONG));
	*of_device = true;
	if (accel_choose(what, &entries, &count))
		return TOOL_FAILED;
	found = find_dump(entries, count, path, size);
	free(entries);
	if (found)
		return TOOL_OK;
	return tool_fail("%s%sthere is no dump; the kernel keeps one for five minutes after a reset",
			 what ? what : "", what ? ": " : "");
}

static int show(const struct options *opts, const void *data, size_t size, const char *path)
{
	struct dump_file dump;
	int status = dump_read(&dump, data, size, path);

	if (status)
		return status;
	if (opts->json)
		status = tool_print_json(dump_json(&dump));
	else
		dump_print(&dump);
	dump_free(&dump);
	return status;
}

/* Whatever is written there makes the kernel forget the dump. */
static int clear(const char *path)
{
	FILE *f = fopen(path, "we");
	bool bad = !f || fputc('1', f) == EOF;

	if (f)
		bad = fclose(f) || bad;
	return bad ? tool_fail("%s: %s", path, strerror(errno)) : TOOL_OK;
}

static int run(const struct options *opts)
{
	char path[PATH_MAX];
	bool of_device;
	size_t size;
	void *data;
	int status = choose(opts->what, path, sizeof(path), &of_device);

	if (status)
		return status;
	data = tool_read_file(path, &size);
	if (!data)
		return TOOL_FAILED;
	if (opts->output)
		status = tool_save_file(opts->output, data, size);
	if (!status)
		status = show(opts, data, size, path);
	free(data);
	if (!status && opts->clear && of_device)
		status = clear(path);
	return status;
}

static int run_coredump(int argc, char **argv)
{
	static const struct option options[] = {
		{"json", no_argument, NULL, 'j'},
		{"output", required_argument, NULL, 'o'},
		{"clear", no_argument, NULL, 'c'},
		{0},
	};
	struct options opts = {0};
	int opt;

	while ((opt = getopt_long(argc, argv, "o:", options, NULL)) != -1) {
		if (opt == 'j')
			opts.json = true;
		else if (opt == 'o')
			opts.output = optarg;
		else if (opt == 'c')
			opts.clear = true;
		else
			return tool_usage(&tool_coredump);
	}
	if (tool_operands(&tool_coredump, argc, argv, 0, 1))
		return TOOL_USAGE;
	opts.what = argv[optind];
	return run(&opts);
}

const struct tool_command tool_coredump = {
	"coredump",
	"[OPTIONS] [FILE|DEVICE]",
	"explains why a device was reset",
	"  -o, --output FILE     keeps the dump in a file, too\n"
	"      --clear           has the kernel forget it\n"
	"      --json            prints JSON\n",
	run_coredump,
};
