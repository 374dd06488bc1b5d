#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""ONNX's own vectors of the operators that the compiler knows; TAP.

Inputs behind the first are bound to constants, as they are in networks. What
cannot be compiled is listed with the reason. In the version of the vectors that
REFUSED was written for it must be there: neither a vector that is lost nor one
that is won goes unseen.
"""
import glob
import os
import subprocess
import sys
import tempfile

import onnx
from onnx import numpy_helper

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
import runner  # noqa: E402

DATA = "/usr/share/libonnx-testdata/data"
SETS = ("node", "pytorch-converted", "pytorch-operator", "simple")
# Operators of models that consist of one, and which inputs stay inputs.
ALL, FIRST = slice(None), slice(1)
OPERATORS = {
    "Add": ALL, "ArgMax": ALL, "Clip": FIRST, "Concat": ALL, "DequantizeLinear": FIRST,
    "Flatten": ALL, "Identity": ALL, "MaxPool": ALL, "Mul": ALL, "Pad": FIRST,
    "QLinearConv": FIRST, "QLinearMatMul": FIRST, "QuantizeLinear": FIRST, "Relu": ALL,
    "Reshape": FIRST, "Resize": FIRST, "Slice": FIRST, "Softmax": ALL, "Squeeze": FIRST,
    "Transpose": ALL, "Unsqueeze": FIRST,
}
SOFTMAX_ULP = 16
VERSION = "1.12."
OLD = "operator set 6, 7 or later is possible"
POOL = "int8 or uint8 of 3 or 4 dimensions is possible"
# What the name of a vector begins with, and what the compiler says of it.
REFUSED = (
    ("node/test_add_uint8", "input is uint8, want float32"),
    ("node/test_mul_uint8", "input is uint8, want float32"),
    ("node/test_identity_opt", "is not a tensor"),
    ("node/test_identity_sequence", "is not a tensor"),
    ("node/test_maxpool_1d_", POOL), ("node/test_maxpool_2d_uint8", None),
    ("node/test_maxpool_2d_", POOL), ("node/test_maxpool_3d_", POOL),
    ("node/test_maxpool_with_argmax_", POOL),
    ("node/test_qlinearmatmul_3D", "[m,k] and [k,n] are possible"),
    ("node/test_reshape_allowzero_reordered", "dimension 0 is 0"),
    ("node/test_resize_downsample_scales_nearest", None),
    ("node/test_resize_downsample_sizes_nearest", None),
    ("node/test_resize_upsample_scales_nearest", None),
    ("node/test_resize_upsample_sizes_nearest", None),
    ("node/test_resize_", "mode is "),
    ("node/test_slice_start_out_of_bounds", "nothing of dimension 1 is left"),
    ("pytorch-converted/test_MaxPool1d_stride_padding_dilation", POOL),
    ("pytorch-converted/test_MaxPool2d_stride_padding_dilation", POOL),
    ("pytorch-converted/", OLD), ("pytorch-operator/", OLD),
)


def single_operator(model):
    nodes = [n for n in model.graph.node if n.op_type != "Constant"]
    return nodes[0].op_type if len(nodes) == 1 else None


def read(path):
    tensor = onnx.TensorProto()
    with open(path, "rb") as file:
        tensor.ParseFromString(file.read())
    return tensor


def bind(model, folder, keep):
    """Bytes of the inputs that are kept; the others become constants."""
    given = {t.name for t in model.graph.initializer}
    inputs = [i for i in model.graph.input if i.name not in given]
    kept, data = inputs[keep], b""
    for number, value in enumerate(inputs):
        tensor = read(os.path.join(folder, "test_data_set_0", f"input_{number}.pb"))
        if value in kept:
            data += numpy_helper.to_array(tensor).tobytes()
        else:
            tensor.name = value.name
            model.graph.initializer.append(tensor)
    del model.graph.input[:]
    model.graph.input.extend(kept)
    return data


def prepare(path, prefix):
    """The entry of a vector, or None if its model is not one of these operators."""
    folder = os.path.dirname(path)
    model = onnx.load(path)
    op = single_operator(model)
    if op not in OPERATORS:
        return None
    entry = {"vector": os.path.relpath(folder, DATA), "model": prefix + ".onnx",
             "input": prefix + ".in", "output": prefix + ".out",
             "ulp": SOFTMAX_ULP if op == "Softmax" else 0}
    tensors = all(i.type.HasField("tensor_type") for i in model.graph.input)
    data = bind(model, folder, OPERATORS[op]) if tensors else b""
    onnx.save(model, entry["model"])
    with open(entry["input"], "wb") as file:
        file.write(data)
    with open(entry["output"], "wb") as file:
        for number in range(len(model.graph.output) if tensors else 0):
            name = os.path.join(folder, "test_data_set_0", f"output_{number}.pb")
            file.write(numpy_helper.to_array(read(name)).tobytes())
    return entry


def expected_reason(vector):
    return next((reason for names, reason in REFUSED if vector.startswith(names)), None)


def installed():
    """Version of the package of the vectors."""
    return subprocess.run(["dpkg-query", "-W", "-f", "${Version}", "libonnx-testdata"],
                          stdout=subprocess.PIPE, text=True, check=True).stdout


def judge(entry, verdict, text, known):
    """Whether that is right, and what is to be said of it."""
    if not known:
        return verdict in ("equal", "refused"), f"{verdict} {text}" * (verdict != "equal")
    reason = expected_reason(entry["vector"])
    if verdict == "equal":
        return reason is None, "is no longer refused" if reason else ""
    if verdict == "refused" and reason and reason in text:
        return True, ""
    return False, f"{verdict} {text}"


def main():
    with tempfile.TemporaryDirectory(prefix="npu-onnx-") as folder:
        paths = sorted(p for s in SETS for p in glob.glob(f"{DATA}/{s}/*/model.onnx"))
        entries = [prepare(p, os.path.join(folder, str(i))) for i, p in enumerate(paths)]
        entries = [e for e in entries if e]
        found = runner.run_models(entries)
    refused = [e for e in entries if found[e["model"]][0] == "refused"]
    print(f"1..{len(entries)}")
    known, failed = installed().startswith(VERSION), 0
    for number, entry in enumerate(entries, 1):
        right, remark = judge(entry, *found[entry["model"]], known)
        failed += not right
        kind = "refused" if entry in refused else "equal"
        print(f"{'ok' if right else 'not ok'} {number} - {kind}: {entry['vector']}")
        if remark:
            print("# " + remark)
    print(f"# {len(entries) - len(refused)} vectors run, {len(refused)} are not applicable:")
    for entry in refused:
        print(f"# {entry['vector']}: {found[entry['model']][1]}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
