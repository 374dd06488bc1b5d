#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Forms of QDQ graphs that the random ones do not take, against ONNX Runtime; TAP."""
import os
import sys
import tempfile

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
import runner  # noqa: E402

F32 = np.float32


class Net:
    """A graph of float operators, with its input and output quantised."""

    def __init__(self, dims, zero=(np.uint8(120), np.uint8(0))):
        self.rng = np.random.default_rng(7)
        self.dims, self.zero = dims, zero
        self.nodes, self.constants = [], []
        self.now = self.dequantise(self.quantise("x", 0.05, zero[0]), 0.05, zero[0])

    def constant(self, array):
        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.asarray(array), name))
        return name

    def add(self, op, inputs, **attributes):
        name = f"t{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, inputs, [name], **attributes))
        return name

    def scales(self, scale, zero):
        names = [self.constant(F32(scale))]
        return names if zero is None else [*names, self.constant(zero)]

    def quantise(self, name, scale, zero):
        return self.add("QuantizeLinear", [name, *self.scales(scale, zero)])

    def dequantise(self, name, scale, zero, **attributes):
        return self.add("DequantizeLinear", [name, *self.scales(scale, zero)], **attributes)

    def weights(self, dims, scale, zero=np.int8(0)):
        data = self.rng.integers(-60, 61, dims).astype(np.int8)
        return self.dequantise(self.constant(data), scale, zero)

    def entry(self, prefix, scale):
        last = self.quantise(self.now, scale, self.zero[1])
        out = self.dequantise(last, scale, self.zero[1])
        graph = helper.make_graph(
            self.nodes, "qdq", [helper.make_tensor_value_info("x", TensorProto.FLOAT, self.dims)],
            [helper.make_tensor_value_info(out, TensorProto.FLOAT, None)], self.constants)
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 15)],
                                    ir_version=8), prefix + ".onnx")
        with open(prefix + ".in", "wb") as file:
            file.write(self.rng.normal(0, 2, self.dims).astype(F32).tobytes())
        return {"model": prefix + ".onnx", "input": prefix + ".in", "output": prefix + ".out",
                "optimise": "all", "inputs": [{"name": "x", "type": "float32", "dims": self.dims}],
                "outputs": [out]}


IMAGE = (1, 3, 9, 8)


def float_bias(net):
    bias = net.constant(net.rng.normal(0, 0.5, 5).astype(F32))
    net.now = net.add("Conv", [net.now, net.weights((5, 3, 3, 3), 0.004), bias])


def without_zero_points(net):
    net.now = net.add("Conv", [net.now, net.weights((5, 3, 3, 3), 0.004, None)])


def relu(net):
    net.now = net.add("Conv", [net.now, net.weights((5, 3, 3, 3), 0.004)])
    net.now = net.add("Relu", [net.now])


def clip_of_all(net):
    net.now = net.add("Conv", [net.now, net.weights((5, 3, 3, 3), 0.004)])
    net.now = net.add("Clip", [net.now, net.constant(F32(0)), net.constant(F32(6))])


def residual(net):
    """One DequantizeLinear that two operators read."""
    y = net.add("Conv", [net.now, net.weights((3, 3, 3, 3), 0.004)], pads=[1, 1, 1, 1])
    y = net.dequantise(net.quantise(y, 0.05, np.uint8(128)), 0.05, np.uint8(128))
    net.now = net.add("Add", [y, net.now])


def linear(net):
    net.now = net.add("MatMul", [net.now, net.weights((40, 7), 0.004)])


def gemm(net):
    bias = net.dequantise(net.constant(net.rng.integers(-900, 900, 7).astype(np.int32)),
                          F32(0.05) * F32(0.004), np.int32(0))
    net.now = net.add("Gemm", [net.now, net.weights((7, 40), 0.004), bias], transB=1)


def kept_in_floats(net):
    """Add of floats that no QuantizeLinear follows at once."""
    y = net.add("Add", [net.now, net.constant(net.rng.normal(0, 1, (9, 8)).astype(F32))])
    net.now = net.add("Mul", [y, net.constant(F32(0.3))])


def weights_in_floats(net):
    """Weights that the graph itself quantises, one scale for each output."""
    data = net.constant(net.rng.normal(0, 0.2, (5, 3, 3, 3)).astype(F32))
    scales = [net.constant(net.rng.uniform(0.002, 0.006, 5).astype(F32)),
              net.constant(np.zeros(5, np.int8))]
    weights = net.add("QuantizeLinear", [data, *scales], axis=0)
    weights = net.add("DequantizeLinear", [weights, *scales], axis=0)
    net.now = net.add("Conv", [net.now, weights])


def constant_in_floats(net):
    """A quantised constant of an operator that stays in floats."""
    y = net.add("Add", [net.now, net.constant(F32(0.25))])
    data = net.dequantise(net.constant(net.rng.integers(0, 256, (9, 8)).astype(np.uint8)),
                          0.01, np.uint8(9))
    net.now = net.add("Mul", [y, data])


CASES = (
    ("a bias in floats", float_bias, IMAGE, {}, 0.03),
    ("no zero points", without_zero_points, IMAGE, {"zero": (None, None)}, 0.03),
    ("Relu before a zero point that is the least value", relu, IMAGE, {}, 0.03),
    ("Relu, int8", relu, IMAGE, {"zero": (np.int8(-9), np.int8(-128))}, 0.03),
    ("Clip of as much as the type holds", clip_of_all, IMAGE, {}, 6 / 255),
    ("a value with two readers", residual, IMAGE, {"zero": (np.uint8(120), np.uint8(99))}, 0.06),
    ("MatMul", linear, (1, 40), {"zero": (np.int8(3), np.int8(-5))}, 0.03),
    ("Gemm", gemm, (1, 40), {"zero": (np.uint8(3), np.uint8(77))}, 0.03),
    ("weights that are quantised in the graph", weights_in_floats, IMAGE, {}, 0.03),
    ("a constant in a part that stays in floats", constant_in_floats, IMAGE, {}, 0.02),
    ("operators that stay in floats", kept_in_floats, IMAGE, {}, 0.02),
)


def main():
    try:
        reference = runner.reference_folder()
    except runner.NoReference as reason:
        print(f"1..0 # SKIP no ONNX Runtime to compare with: {reason}")
        return 0
    with tempfile.TemporaryDirectory(prefix="npu-qdq-") as folder:
        entries = []
        for number, (_, make, dims, options, scale) in enumerate(CASES):
            net = Net(dims, **options)
            make(net)
            entries.append(net.entry(os.path.join(folder, str(number)), scale))
        said = runner.run_reference(entries, reference)
        found = runner.run_models([e for e, s in zip(entries, said) if s == "ok"])
    print(f"1..{len(CASES)}")
    failed = 0
    for number, ((name, *_), entry, words) in enumerate(zip(CASES, entries, said), 1):
        verdict, text = found.get(entry["model"], ("ONNX Runtime:", words))
        failed += verdict != "equal"
        print(f"{'ok' if verdict == 'equal' else 'not ok'} {number} - {name}")
        if verdict != "equal":
            print(f"# {verdict} {text}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
