/* SPDX-License-Identifier: MIT */
#ifndef USERSPACE_LIBNPU_ACCEL_NODE_H
#define USERSPACE_LIBNPU_ACCEL_NODE_H

/* Open the node of an NPU. 0, or -errno with a message that says what stands in the way. */
int npu_accel_open_node(const char *path, int *fd);

#endif /* USERSPACE_LIBNPU_ACCEL_NODE_H */
