// SPDX-License-Identifier: MIT
/* What is mapped in this process: a device model meets bad memory with a signal, not a fault. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "userspace/libnpu/sim.h"

/* Goes from mapping to mapping, which the kernel lists in order; @at: what is known so far. */
static int check(FILE *maps, const void *data, size_t size, bool writable)
{
	uintptr_t at = (uintptr_t)data, end = at + size, first, last;
	char line[512], rights[5];

	while (at < end && fgets(line, sizeof(line), maps)) {
		if (sscanf(line, "%lx-%lx %4s", &first, &last, rights) != 3 || last <= at)
			continue;
		if (first > at)
			break;
		if (rights[0] != 'r' || (writable && rights[1] != 'w'))
			return npu_fail(-EACCES, "importing %zu bytes at %p: the mapping at %#lx is %.2s, expected r%c",
					size, data, first, rights, writable ? 'w' : '-');
		at = last;
	}
	if (at < end)
		return npu_fail(-EFAULT, "importing %zu bytes at %p: nothing is mapped at %#lx", size,
				data, at);
	return 0;
}

int sim_check_mapped(const void *data, size_t size, bool writable)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	int ret;

	if (!maps)
		return npu_fail(-errno, "/proc/self/maps: %s", strerror(errno));
	ret = check(maps, data, size, writable);
	fclose(maps);
	return ret;
}
