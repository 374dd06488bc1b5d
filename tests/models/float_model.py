#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Writes the Fashion-MNIST network as it was trained, in float: food for
"npu compile --calibrate". Needs python3-onnx.
"""
import argparse
import os

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

import fashion_data
import fashion_net

HERE = os.path.dirname(os.path.abspath(__file__))
OPSET = 13
IR_VERSION = 7


def layer_nodes(layer, weights, x):
    """Nodes and constants of one layer that reads x; the last node's output goes on."""
    constants = [numpy_helper.from_array(weights[key], key) for key in
                 (layer.name + ".weight", layer.name + ".bias") if key in weights]
    names = [x] + [constant.name for constant in constants]
    if isinstance(layer, fashion_net.Pool):
        return [helper.make_node("MaxPool", [x], [layer.name], layer.name,
                                 kernel_shape=[layer.kernel] * 2,
                                 strides=[layer.stride] * 2)], constants
    if isinstance(layer, fashion_net.Dense):
        return [helper.make_node("Flatten", [x], ["flat"], "flatten"),
                helper.make_node("Gemm", ["flat"] + names[1:], [layer.name],
                                 layer.name)], constants
    return [helper.make_node("Conv", names, [layer.name + "_sum"], layer.name,
                             kernel_shape=[layer.kernel] * 2,
                             strides=[layer.stride] * 2, pads=[layer.pad] * 4),
            helper.make_node("Relu", [layer.name + "_sum"], [layer.name],
                             layer.name + "_relu")], constants


def build(weights):
    nodes, constants, x = [], [], "image"
    for layer in fashion_net.LAYERS:
        more, values = layer_nodes(layer, weights, x)
        nodes += more
        constants += values
        x = nodes[-1].output[0]
    size = fashion_net.INPUT_SIZE
    value = helper.make_tensor_value_info
    graph = helper.make_graph(
        nodes, "fashion", [value("image", TensorProto.FLOAT, [1, 1, size, size])],
        [value(x, TensorProto.FLOAT, [1, fashion_net.LAYERS[-1].outputs])], constants)
    model = helper.make_model(graph, ir_version=IR_VERSION,
                              opset_imports=[helper.make_opsetid("", OPSET)])
    onnx.checker.check_model(model, full_check=True)
    return model


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folder", help="where fashion-float.onnx, samples.npy and "
                                       "labels.npy are written")
    parser.add_argument("--samples", type=int, default=200)
    parser.add_argument("--part", default="train", choices=("train", "t10k"))
    args = parser.parse_args()
    weights = dict(np.load(os.path.join(HERE, "fashion-float.npz")))
    onnx.save(build(weights), os.path.join(args.folder, "fashion-float.onnx"))
    images, labels = fashion_data.load(args.part)
    np.save(os.path.join(args.folder, "samples.npy"),
            fashion_data.as_input(images[:args.samples]))
    np.save(os.path.join(args.folder, "labels.npy"), labels[:args.samples])


if __name__ == "__main__":
    main()
