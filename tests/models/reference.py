#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Reference evaluator of int8 ONNX graphs, written straight from the rules.

It shares nothing with the compiler, the runtime or the device model: its own
reader of the ONNX wire format, and the float32 steps that ONNX Runtime
documents by its behaviour. It is the yardstick that they are held against.
"""
import argparse
import hashlib
import json
import os
import struct
import sys

import numpy as np

import fashion_data

HERE = os.path.dirname(os.path.abspath(__file__))
BATCH = 100


class ModelError(Exception):
    """The model is malformed or needs what this evaluator does not offer."""


# ---- the wire format: only what the graphs of tests/models need ----

def varint(buf, pos):
    value = shift = 0
    while True:
        if pos >= len(buf) or shift > 63:
            raise ModelError("truncated or overlong varint")
        byte = buf[pos]
        value |= (byte & 0x7f) << shift
        pos, shift = pos + 1, shift + 7
        if byte < 0x80:
            return value, pos


def signed(value):
    return value - (1 << 64) if value >> 63 else value


def fields(buf):
    """Return {field number: [values]}; a value is an int or bytes."""
    found, pos = {}, 0
    while pos < len(buf):
        key, pos = varint(buf, pos)
        kind = key & 7
        if kind == 0:
            value, pos = varint(buf, pos)
        elif kind in (1, 2, 5):
            size = {1: 8, 5: 4}.get(kind)
            if size is None:
                size, pos = varint(buf, pos)
            value, pos = buf[pos:pos + size], pos + size
            if pos > len(buf):
                raise ModelError("field reaches beyond its message")
        else:
            raise ModelError(f"expected wire type 0, 1, 2 or 5, found {kind}")
        found.setdefault(key >> 3, []).append(value)
    return found


def integers(values):
    """Flatten a repeated integer field, packed or not."""
    out = []
    for value in values:
        if isinstance(value, int):
            out.append(signed(value))
            continue
        pos = 0
        while pos < len(value):
            item, pos = varint(value, pos)
            out.append(signed(item))
    return out


def text(message, number):
    return message.get(number, [b""])[-1].decode()


DTYPES = {1: "<f4", 2: "u1", 3: "i1", 6: "<i4", 7: "<i8"}


def read_tensor(buf):
    """Return (name, array) of a TensorProto."""
    msg = fields(buf)
    name, code = text(msg, 8), msg.get(2, [0])[-1]
    if code not in DTYPES or 13 in msg:
        raise ModelError(f"tensor {name}: unsupported type {code} or storage")
    dtype = np.dtype(DTYPES[code])
    if 9 in msg:
        data = np.frombuffer(msg[9][-1], dtype)
    elif code == 1:
        data = np.frombuffer(b"".join(msg.get(4, [])), dtype)
    else:
        data = np.array(integers(msg.get(7 if code == 7 else 5, [])), dtype)
    dims = integers(msg.get(1, []))
    if data.size != np.prod(dims, dtype=np.int64):
        raise ModelError(f"tensor {name}: shape {dims}, {data.size} elements")
    return name, data.reshape(dims)


class Node:
    def __init__(self, buf):
        msg = fields(buf)
        self.inputs = [v.decode() for v in msg.get(1, [])]
        self.outputs = [v.decode() for v in msg.get(2, [])]
        self.name, self.op = text(msg, 3), text(msg, 4)
        self.attributes = {}
        for attribute in map(fields, msg.get(5, [])):
            self.attributes[text(attribute, 1)] = self.value(attribute)

    @staticmethod
    def value(attribute):
        kind = attribute.get(20, [0])[-1]
        if kind == 2:
            return signed(attribute.get(3, [0])[-1])
        if kind == 3:
            return attribute.get(4, [b""])[-1].decode()
        if kind == 7:
            return integers(attribute.get(8, []))
        if kind == 1:
            return struct.unpack("<f", attribute[2][-1])[0]
        raise ModelError(f"unsupported attribute type {kind}")

    def take(self, **defaults):
        """Return the named attributes; any other one is refused."""
        other = set(self.attributes) - set(defaults)
        if other:
            raise ModelError(f"{self.op} {self.name}: attribute {other}")
        return [self.attributes.get(k, v) for k, v in defaults.items()]

    def expect(self, what, found, *allowed):
        if found not in allowed:
            raise ModelError(f"{self.op} {self.name}: {what}: expected one "
                             f"of {allowed}, found {found}")


class Model:
    def __init__(self, path):
        with open(path, "rb") as f:
            message = fields(f.read())
        if not isinstance(message.get(7, [None])[-1], bytes):
            raise ModelError("expected a model, found no graph")
        graph = fields(message[7][-1])
        self.nodes = [Node(buf) for buf in graph.get(1, [])]
        self.constants = dict(map(read_tensor, graph.get(5, [])))
        names = [text(fields(buf), 1) for buf in graph.get(11, [])]
        self.inputs = [n for n in names if n not in self.constants]
        self.outputs = [text(fields(buf), 1) for buf in graph.get(12, [])]


# ---- the operators ----

def scalar(node, what, array):
    if array.size != 1:
        raise ModelError(f"{node.op} {node.name}: {what} must be one value")
    return array.reshape(())[()]


def product_sum(x, w):
    """x @ w of integers, exactly.

    Every partial sum is an integer of at most K * max|x| * max|w|. Below 2^24
    (float32) or 2^53 (float64) each is representable, so no order of the
    additions, nor a fused multiply-add, can round.
    """
    bound = x.shape[-1] * max(1, int(np.abs(x.astype(np.int32)).max())) * \
        max(1, int(np.abs(w.astype(np.int32)).max()))
    dtype = np.float32 if bound < 1 << 24 else np.float64
    assert bound < 1 << 53
    return np.matmul(x.astype(dtype), w.astype(dtype)).astype(np.int64)


def requantise(acc, xs, ws, ys, yz):
    """int32 accumulators [..., channel] to the type of yz."""
    scale = (np.float32(xs) * ws.astype(np.float32)) / np.float32(ys)
    info = np.iinfo(yz.dtype)
    low = np.float32(info.min - int(yz))
    high = np.float32(info.max - int(yz))
    value = acc.astype(np.int32).astype(np.float32) * scale
    return (np.rint(np.clip(value, low, high)) + int(yz)).astype(yz.dtype)


def quantize_linear(node, x, ys, yz):
    node.take(axis=1)
    ys, yz = scalar(node, "scale", ys), scalar(node, "zero point", yz)
    info = np.iinfo(yz.dtype)
    value = np.rint(x / np.float32(ys)) + np.float32(yz)
    return np.clip(value, info.min, info.max).astype(yz.dtype)


def dequantize_linear(node, x, xs, xz):
    node.take(axis=1)
    xs, xz = scalar(node, "scale", xs), scalar(node, "zero point", xz)
    return (x.astype(np.int32) - int(xz)).astype(np.float32) * np.float32(xs)


def windows(x, kernel, strides, pads, fill):
    """Return [n][c][oh][ow][kh][kw], a view of x with its border filled."""
    top, left, bottom, right = pads
    x = np.pad(x, ((0, 0), (0, 0), (top, bottom), (left, right)),
               constant_values=fill)
    view = np.lib.stride_tricks.sliding_window_view(x, kernel, (2, 3))
    return view[:, :, ::strides[0], ::strides[1]]


def qlinear_conv(node, x, xs, xz, w, ws, wz, ys, yz, bias=None):
    kernel, strides, pads, dilations, group, auto_pad = node.take(
        kernel_shape=list(w.shape[2:]), strides=[1, 1], pads=[0, 0, 0, 0],
        dilations=[1, 1], group=1, auto_pad="NOTSET")
    node.expect("kernel_shape", kernel, list(w.shape[2:]))
    node.expect("dilations", dilations, [1, 1])
    node.expect("group", group, 1)
    node.expect("auto_pad", auto_pad, "NOTSET")
    xz, yz = scalar(node, "x_zero_point", xz), scalar(node, "y_zero_point", yz)
    view = windows(x, w.shape[2:], strides, pads, xz)
    n, _, height, width = view.shape[:4]
    rows = view.transpose(0, 2, 3, 1, 4, 5).reshape(n * height * width, -1)
    wz = wz.reshape(-1, 1, 1, 1).astype(np.int16)
    columns = (w.astype(np.int16) - wz).reshape(len(w), -1).T
    acc = product_sum(rows.astype(np.int16) - int(xz), columns)
    if bias is not None:
        acc = acc + bias
    y = requantise(acc, scalar(node, "x_scale", xs), ws.reshape(-1),
                   scalar(node, "y_scale", ys), yz)
    return y.reshape(n, height, width, -1).transpose(0, 3, 1, 2)


def qlinear_matmul(node, a, xs, xz, b, ws, wz, ys, yz):
    node.take()
    xz, yz = scalar(node, "a_zero_point", xz), scalar(node, "y_zero_point", yz)
    acc = product_sum(a.astype(np.int16) - int(xz),
                      b.astype(np.int16) - wz.astype(np.int16))
    return requantise(acc, scalar(node, "a_scale", xs), ws,
                      scalar(node, "y_scale", ys), yz)


def max_pool(node, x):
    kernel, strides, pads, dilations, ceil, order, auto_pad = node.take(
        kernel_shape=None, strides=[1, 1], pads=[0, 0, 0, 0],
        dilations=[1, 1], ceil_mode=0, storage_order=0, auto_pad="NOTSET")
    node.expect("dilations", dilations, [1, 1])
    node.expect("ceil_mode", ceil, 0)
    node.expect("storage_order", order, 0)
    node.expect("auto_pad", auto_pad, "NOTSET")
    lowest = np.iinfo(x.dtype).min
    return windows(x, kernel, strides, pads, lowest).max(axis=(4, 5))


def relu(node, x):
    node.take()
    return np.maximum(x, x.dtype.type(0))


def clip(node, x, low=None, high=None):
    node.take()
    x = x if low is None else np.maximum(x, scalar(node, "min", low))
    return x if high is None else np.minimum(x, scalar(node, "max", high))


def flatten(node, x):
    node.expect("axis", node.take(axis=1)[0], 1)
    return x.reshape(len(x), -1)


def reshape(node, x, shape):
    """The graph is for one image, x holds a batch: keep its first axis."""
    node.take(allowzero=0)
    node.expect("first dimension", shape[0], 0, 1, -1)
    rest = [x.shape[i] if d == 0 else d for i, d in enumerate(shape)][1:]
    return x.reshape(len(x), *rest)


OPERATORS = {
    "QuantizeLinear": quantize_linear, "DequantizeLinear": dequantize_linear,
    "QLinearConv": qlinear_conv, "QLinearMatMul": qlinear_matmul,
    "MaxPool": max_pool, "Relu": relu, "Clip": clip, "Flatten": flatten,
    "Reshape": reshape,
}


def evaluate(model, values):
    """Run model on values {name: array}; return every tensor by name."""
    values = {**model.constants, **values}
    for node in model.nodes:
        if node.op not in OPERATORS:
            raise ModelError(f"operator {node.op} of {node.name}")
        args = [values[name] if name else None for name in node.inputs]
        values[node.outputs[0]] = OPERATORS[node.op](node, *args)
    return values


def quantised_output(model):
    """Name of the int8 tensor that the last DequantizeLinear reads."""
    last = model.nodes[-1]
    if last.op != "DequantizeLinear":
        raise ModelError(f"expected DequantizeLinear last, found {last.op}")
    return last.inputs[0]


def logits_of(model, images):
    """int8 [n][classes] for uint8 images [n][28][28]."""
    name, out = quantised_output(model), []
    for start in range(0, len(images), BATCH):
        x = fashion_data.as_input(images[start:start + BATCH])
        out.append(evaluate(model, {model.inputs[0]: x})[name])
    return np.concatenate(out)


def layer_macs(model):
    """Return {node name: useful multiply-accumulates for one image}."""
    x = np.zeros((1, 1, 28, 28), np.float32)
    values, result = evaluate(model, {model.inputs[0]: x}), {}
    for node in model.nodes:
        y = values[node.outputs[0]]
        if node.op == "QLinearConv":
            result[node.name] = y.size * values[node.inputs[3]][0].size
        elif node.op == "QLinearMatMul":
            result[node.name] = y.size * len(values[node.inputs[3]])
    return result


def digest(model, logits, labels):
    """The contents of fashion.json."""
    macs = layer_macs(model)
    return {
        "accuracy_10000": float((logits.argmax(1) == labels).mean()),
        "logits_sha256_1000":
            hashlib.sha256(logits[:1000].tobytes()).hexdigest(),
        "logits_sha256_10000": hashlib.sha256(logits.tobytes()).hexdigest(),
        "macs": macs,
        "macs_per_image": sum(macs.values()),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("model", nargs="?",
                        default=os.path.join(HERE, "fashion.onnx"))
    parser.add_argument("-n", type=int, default=10000, metavar="IMAGES",
                        help="the first N test images (default: all 10,000)")
    parser.add_argument("--dump", metavar="FILE",
                        help="write the int8 logits, raw [n][10]")
    parser.add_argument("--digest", metavar="FILE",
                        help="write accuracy, hashes and MACs as JSON")
    args = parser.parse_args()
    images, labels = fashion_data.load("t10k")
    if not 1 <= args.n <= len(images):
        parser.error(f"-n: expected 1 to {len(images)}, found {args.n}")
    if args.digest and args.n != len(images):
        parser.error("--digest needs all test images")
    model = Model(args.model)
    logits = logits_of(model, images[:args.n])
    correct = int((logits.argmax(1) == labels[:args.n]).sum())
    print(f"images={args.n} correct={correct} accuracy={correct / args.n:.4f}")
    if args.dump:
        logits.tofile(args.dump)
    if args.digest:
        with open(args.digest, "w", encoding="ascii") as f:
            json.dump(digest(model, logits, labels), f, indent=2)
            f.write("\n")


if __name__ == "__main__":
    try:
        main()
    except (ModelError, OSError, ValueError) as error:
        sys.exit(f"reference: {error}")
