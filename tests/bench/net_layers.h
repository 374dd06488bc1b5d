/* SPDX-License-Identifier: MIT */
/* What the layers of the network cost. */
#ifndef TESTS_BENCH_NET_LAYERS_H
#define TESTS_BENCH_NET_LAYERS_H

#include <npu/npu.h>
#include "tests/bench/net_graph.h"

/**
 * net_layers_report - print a table and figures of the layers
 * @dev: device
 * @g: network
 *
 * Return: 0, or -1 after a message on stderr.
 */
int net_layers_report(struct npu_device *dev, const struct net_graph *g);

#endif
