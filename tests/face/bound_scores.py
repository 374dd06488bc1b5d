#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Bounds the detector's scores to [-100, 100] where they are made.

Where there is certainly no face they reach -30,000; 256 steps from there to a
face would leave none between "no" and "yes". Readers of the scores bound them in
this way before the sigmoid. usage: bound_scores.py IN.onnx OUT.onnx
"""
import sys

import numpy as np
import onnx
from onnx import helper, numpy_helper

BOUND = 100
SCORES = ('Identity:0', 'Identity_1:0')
MOVES = ('Reshape', 'Transpose')


def maker(graph, name):
    """The convolution whose values the tensor has."""
    node = next(node for node in graph.node if name in node.output)
    return maker(graph, node.input[0]) if node.op_type in MOVES else node


def bound(graph, node):
    made = node.output[0]
    node.output[0] = made + '/free'
    clip = helper.make_node('Clip', [node.output[0], 'bound_low', 'bound_high'], [made],
                            node.name + '/bound')
    graph.node.insert(list(graph.node).index(node) + 1, clip)


def main():
    model = onnx.load(sys.argv[1])
    graph = model.graph
    for name, value in (('bound_low', -BOUND), ('bound_high', BOUND)):
        graph.initializer.append(numpy_helper.from_array(np.float32(value), name))
    for name in SCORES:
        bound(graph, maker(graph, name))
    onnx.checker.check_model(model)
    onnx.save(model, sys.argv[2])


if __name__ == '__main__':
    main()
