#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Quantise the float Fashion-MNIST network to int8 and write it as ONNX.

Symmetric throughout: weights per output channel, activations per tensor, all
zero points 0. Calibrated on training images. Run off line; needs python3-onnx.
"""
import argparse
import os

import numpy as np
import onnx
from onnx import TensorProto, helper

import fashion_data
import fashion_net

HERE = os.path.dirname(os.path.abspath(__file__))
CALIBRATION_IMAGES = 2000
CANDIDATES = np.linspace(0.5, 1.0, 51)
OPSET = 14
IR_VERSION = 8


def windows(x, layer, pad, fill):
    x = np.pad(x, ((0, 0), (0, 0), (pad, pad), (pad, pad)),
               constant_values=fill)
    view = np.lib.stride_tricks.sliding_window_view(
        x, (layer.kernel, layer.kernel), (2, 3))
    return view[:, :, ::layer.stride, ::layer.stride]


def float_layer(layer, weights, x):
    if isinstance(layer, fashion_net.Pool):
        return windows(x, layer, 0, -np.inf).max(axis=(4, 5))
    w = weights[layer.name + ".weight"]
    if isinstance(layer, fashion_net.Dense):
        return x.reshape(len(x), -1) @ w
    y = np.tensordot(windows(x, layer, layer.pad, 0), w,
                     ((1, 4, 5), (1, 2, 3)))
    y = y.transpose(0, 3, 1, 2) + weights[layer.name + ".bias"][:, None, None]
    return np.maximum(y, 0)


def float_outputs(weights, images):
    """Return {layer name: its output, after ReLU, on images}."""
    parts = {layer.name: [] for layer in fashion_net.LAYERS}
    for start in range(0, len(images), 100):
        x = fashion_data.as_input(images[start:start + 100])
        for layer in fashion_net.LAYERS:
            x = float_layer(layer, weights, x)
            parts[layer.name].append(x)
    return {name: np.concatenate(values) for name, values in parts.items()}


def best_scale(values):
    """The scale whose int8 rounding and clipping loses least (squared)."""
    values = values.ravel()
    largest = np.abs(values).max()
    step = max(1, values.size // 1000000)
    sample = values[::step]
    scales = CANDIDATES * largest / 127

    def loss(scale):
        rounded = np.clip(np.rint(sample / scale), -128, 127) * scale
        return np.square(rounded - sample, dtype=np.float64).sum()

    return np.float32(min(scales, key=loss))


def quantise_weights(w, axis):
    """Return (int8 weights, float32 scale per index of axis)."""
    others = tuple(i for i in range(w.ndim) if i != axis)
    scale = (np.abs(w).max(axis=others) / 127).astype(np.float32)
    shape = [-1 if i == axis else 1 for i in range(w.ndim)]
    return np.rint(w / scale.reshape(shape)).astype(np.int8), scale


class Graph:
    """Nodes and constants in the order they are written."""

    def __init__(self):
        self.nodes, self.constants = [], []

    def constant(self, name, array):
        array = np.asarray(array)
        kind = {"float32": TensorProto.FLOAT, "int8": TensorProto.INT8,
                "int32": TensorProto.INT32}[array.dtype.name]
        self.constants.append(helper.make_tensor(
            name, kind, array.shape, array.tobytes(), raw=True))
        return name

    def node(self, kind, name, inputs, output, **attributes):
        self.nodes.append(helper.make_node(kind, inputs, [output], name=name,
                                           **attributes))
        return output

    def scale(self, tensor, value):
        """Constants for the scale and the zero point 0 of a tensor."""
        return [self.constant(tensor + "_scale", np.float32(value)),
                self.constant(tensor + "_zero_point", np.int8(0))]


def add_weights(graph, layer, w, axis):
    data, scale = quantise_weights(w, axis)
    name = layer.name + "_weight"
    return scale, [
        graph.constant(name, data),
        graph.constant(name + "_scale", scale),
        graph.constant(name + "_zero_point", np.zeros(len(scale), np.int8))]


def add_conv(graph, layer, weights, x, x_scale, y_scale):
    """x is [tensor, scale, zero point]; return the same for the output."""
    w = weights[layer.name + ".weight"]
    w_scale, w_inputs = add_weights(graph, layer, w, 0)
    bias = np.rint(weights[layer.name + ".bias"].astype(np.float64) /
                   (np.float64(x_scale) * w_scale)).astype(np.int32)
    y = graph.scale(layer.name, y_scale)
    graph.node("QLinearConv", layer.name,
               x + w_inputs + y + [graph.constant(layer.name + "_bias", bias)],
               layer.name + "_out",
               kernel_shape=[layer.kernel] * 2, strides=[layer.stride] * 2,
               pads=[layer.pad] * 4)
    relu = layer.name.replace("conv", "relu")
    return [graph.node("Relu", relu, [layer.name + "_out"], relu + "_out")] + y


def add_dense(graph, layer, weights, x, y_scale):
    flat = graph.node("Flatten", "flatten", x[:1], "flatten_out", axis=1)
    _, w_inputs = add_weights(graph, layer, weights[layer.name + ".weight"], 1)
    y = graph.scale(layer.name, y_scale)
    graph.node("QLinearMatMul", layer.name, [flat] + x[1:] + w_inputs + y,
               layer.name + "_out")
    return [layer.name + "_out"] + y


def build(weights, outputs):
    graph = Graph()
    x_scale = np.float32(1 / 127)
    scale = graph.scale("image", x_scale)
    x = [graph.node("QuantizeLinear", "quantise", ["image"] + scale,
                    "image_int8")] + scale
    for layer in fashion_net.LAYERS:
        if isinstance(layer, fashion_net.Pool):
            x[0] = graph.node("MaxPool", layer.name, x[:1],
                              layer.name + "_out",
                              kernel_shape=[layer.kernel] * 2,
                              strides=[layer.stride] * 2)
            continue
        y_scale = best_scale(outputs[layer.name])
        if isinstance(layer, fashion_net.Conv):
            x = add_conv(graph, layer, weights, x, x_scale, y_scale)
        else:
            x = add_dense(graph, layer, weights, x, y_scale)
        x_scale = y_scale
    graph.node("DequantizeLinear", "dequantise", x, "logits")
    return graph


def model_of(graph):
    size = fashion_net.INPUT_SIZE
    image = helper.make_tensor_value_info("image", TensorProto.FLOAT,
                                          [1, 1, size, size])
    logits = helper.make_tensor_value_info(
        "logits", TensorProto.FLOAT, [1, fashion_net.LAYERS[-1].outputs])
    model = helper.make_model(
        helper.make_graph(graph.nodes, "fashion", [image], [logits],
                          graph.constants),
        producer_name="tests/models/quantise.py", ir_version=IR_VERSION,
        opset_imports=[helper.make_opsetid("", OPSET)])
    helper.set_model_props(model, {"licence": "MIT"})
    onnx.checker.check_model(model, full_check=True)
    return model


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--weights",
                        default=os.path.join(HERE, "fashion-float.npz"))
    parser.add_argument("--output", default=os.path.join(HERE, "fashion.onnx"))
    parser.add_argument("--float-accuracy", action="store_true",
                        help="also print the float accuracy on test images")
    args = parser.parse_args()
    weights = dict(np.load(args.weights))
    images, _ = fashion_data.load("train")
    outputs = float_outputs(weights, images[:CALIBRATION_IMAGES])
    onnx.save(model_of(build(weights, outputs)), args.output)
    if args.float_accuracy:
        images, labels = fashion_data.load("t10k")
        last = fashion_net.LAYERS[-1].name
        guess = float_outputs(weights, images)[last].argmax(1)
        print(f"float accuracy={(guess == labels).mean():.4f}")


if __name__ == "__main__":
    main()
