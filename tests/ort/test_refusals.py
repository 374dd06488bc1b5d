#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Operators that the compiler knows, in forms that it refuses, with the reason; TAP."""
import os
import re
import sys
import tempfile

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
import runner  # noqa: E402

I8, F32 = TensorProto.INT8, TensorProto.FLOAT
ONE, ZERO = np.float32(1), np.int8(0)
QUANT = [ONE, ZERO]
IMAGE = [1, 2, 4, 4]


def ints(*values):
    return np.array(values, np.int64)


def case(text, op, *inputs, dims=IMAGE, dtype=I8, opset=15, **attributes):
    """Inputs behind x: arrays are constants, None is left out, "x" is x once more."""
    return text, op, inputs, dims, dtype, opset, attributes


POOL = "QLinearAveragePool"
CASES = (
    case("inputs are int8 and uint8", "QLinearAdd", *QUANT, np.uint8([3]), *QUANT, *QUANT),
    case("shapes [1,2,4,4] and [3] do not agree", "QLinearAdd", *QUANT, np.int8([1, 2, 3]),
         *QUANT, *QUANT),
    case("scale of A is 0, want a positive number", "QLinearMul", np.float32(0), ZERO, "x",
         *QUANT, *QUANT),
    case("scale of C is uint8, want int8", "QLinearMul", *QUANT, "x", *QUANT, ONE, np.uint8(0)),
    case("scale of B wants one float32, has 2", "QLinearAdd", *QUANT, "x", np.float32([1, 1]),
         ZERO, *QUANT),
    case("input 0 is float32; int8 and uint8 are possible", "QLinearAdd", *QUANT, "x", *QUANT,
         *QUANT, dtype=F32),
    case("wants 2 inputs, has 1", "Add", dtype=F32),
    case("input is int8, want float32", "Mul", "x"),
    case("inputs are float32 and int8", "Add", np.int8([1]), dtype=F32),
    case("kernel_shape is missing", POOL, *QUANT, *QUANT),
    case("ceil_mode must be 0", POOL, *QUANT, *QUANT, kernel_shape=[2, 2], ceil_mode=1),
    case("channels_last is not possible", POOL, *QUANT, *QUANT, kernel_shape=[2, 2],
         channels_last=1),
    case("leave out elements, or windows without one", POOL, *QUANT, *QUANT,
         kernel_shape=[2, 2], pads=[2, 0, 0, 0]),
    case("the window does not fit", POOL, *QUANT, *QUANT, kernel_shape=[5, 5]),
    case("3 or 4 dimensions are possible", POOL, *QUANT, *QUANT, dims=[1, 8],
         kernel_shape=[1, 1]),
    case("3 or 4 dimensions are possible", "QLinearGlobalAveragePool", *QUANT, *QUANT,
         dims=[1, 8]),
    case("attribute \"beta\" is not known", "QLinearSigmoid", *QUANT, *QUANT, beta=1.0),
    case("alpha is inf", "QLinearLeakyRelu", *QUANT, *QUANT, alpha=float("inf")),
    case("axis is missing", "Concat", "x"),
    case("group 1099511627776 do not agree", "QLinearConv", *QUANT,
         np.ones([2, 2, 1, 1], np.int8), *QUANT, *QUANT, group=1 << 40),
    case("axis 4 of 4 dimensions", "Concat", "x", axis=4),
    case("int8 [1,2,4,4] and int8 [1,2,4,3] do not agree", "Concat",
         np.zeros((1, 2, 4, 3), np.int8), axis=1),
    case("perm names dimension 1 twice", "Transpose", perm=[0, 1, 1, 2]),
    case("attribute perm wants 4 integers, has 2", "Transpose", perm=[0, 1]),
    case("1 starts, 2 ends", "Slice", ints(0), ints(1, 2)),
    case("nothing of dimension 1 is left", "Slice", ints(2), ints(2), ints(1)),
    case("axis 4 of 4 dimensions", "Slice", ints(0), ints(1), ints(4)),
    case("step 0", "Slice", ints(0), ints(1), ints(0), ints(0)),
    case("starts are float32, want int64 or int32", "Slice", np.float32([0]), ints(1)),
    case("mode is mirror", "Pad", ints(*[0] * 8), mode="mirror"),
    case("6 pads for 4 of 4 dimensions", "Pad", ints(*[0] * 6)),
    case("pads -4 and 0 of dimension 2", "Pad", ints(0, 0, -4, 0, 0, 0, 0, 0)),
    case("constant value wants one int8, has 1 of float32", "Pad", ints(*[0] * 8), ONE),
    case("mode is linear", "Resize", None, np.float32([1, 1, 2, 2]), mode="linear"),
    case("nearest_mode is simple", "Resize", None, np.float32([1, 1, 2, 2]), nearest_mode="simple"),
    case("coordinate_transformation_mode is tf_crop_and_resize", "Resize", None,
         np.float32([1, 1, 2, 2]), coordinate_transformation_mode="tf_crop_and_resize"),
    case("scales are 2 of float32 for 4 dimensions", "Resize", None, np.float32([2, 2])),
    case("scale 2 is -1", "Resize", None, np.float32([1, 1, -1, 1])),
    case("input 2 (scales) is missing", "Resize", None, np.float32([])),
    case("input 1 is missing", "Add", np.float32([]), dtype=F32),
    case("dimension 3 becomes 0", "Resize", None, np.float32([1, 1, 1, 0.1])),
    case("operator set 10, 11 or later is possible", "Resize", np.float32([1, 1, 2, 2]),
         opset=10),
    case("axis -5 of 4 dimensions", "ArgMax", axis=-5),
    case("input is int8, want float32", "Softmax"),
    case("min is no number", "Clip", np.float32("nan"), dtype=F32),
    case("names no operator", "npu:Requantize", *QUANT, *QUANT),
)


def undocumented():
    """Names that only one of compiler and manual page has."""
    root = os.path.join(runner.HERE, "../..")
    with open(os.path.join(root, "userspace/compiler/lower.c"), encoding="ascii") as file:
        table = file.read().split("} operators[] = {")[1].split("};")[0]
    with open(os.path.join(root, "userspace/compiler/qdq.c"), encoding="ascii") as file:
        forms = file.read().split("} forms[] = {")[1].split("};")[0]
    with open(os.path.join(root, "userspace/tools/man/npu-compile.1.scd"),
              encoding="ascii") as file:
        page = file.read().split("# OPERATORS")[1].split("# CALIBRATION")[0]
    known = set(re.findall(r'^\t\{ "(\w+)"', table + forms, re.MULTILINE))
    named = set(re.findall(r"\b(?:[A-Z][a-z]+){1,5}\b|\bQLinear\w+|\bQGemm", page))
    words = {"On", "At", "Between", "Weights", "What", "NPU"}
    return sorted(known ^ (named - words))


def write(prefix, op, inputs, dims, dtype, opset, attributes):
    names, constants = ["x"], []
    for value in inputs:
        if isinstance(value, np.ndarray) or np.isscalar(value) and not isinstance(value, str):
            constants.append(numpy_helper.from_array(np.asarray(value), f"c{len(constants)}"))
            names.append(constants[-1].name)
        else:
            names.append(value or "")
    graph = helper.make_graph(
        [helper.make_node(op, names, ["y"], name="node", **attributes)], "refused",
        [helper.make_tensor_value_info("x", dtype, dims)],
        [helper.make_tensor_value_info("y", dtype, None)], constants)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)],
                                ir_version=8), prefix + ".onnx")
    for suffix in (".in", ".out"):
        with open(prefix + suffix, "wb"):
            pass
    return {"model": prefix + ".onnx", "input": prefix + ".in", "output": prefix + ".out"}


def main():
    with tempfile.TemporaryDirectory(prefix="npu-refused-") as folder:
        entries = [write(os.path.join(folder, str(i)), *words[1:])
                   for i, words in enumerate(CASES)]
        found = runner.run_models(entries)
    print(f"1..{len(CASES) + 1}")
    failed = 0
    for number, (words, entry) in enumerate(zip(CASES, entries), 1):
        verdict, text = found[entry["model"]]
        right = verdict == "refused" and words[0] in text
        failed += not right
        print(f"{'ok' if right else 'not ok'} {number} - {words[1]}: {words[0]}")
        if not right:
            print(f"# {verdict} {text}")
    odd = undocumented()
    failed += bool(odd)
    print(f"{'not ok' if odd else 'ok'} {len(CASES) + 1} - npu-compile(1) names every operator")
    for name in odd:
        print(f"# {name}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
