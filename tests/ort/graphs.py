# SPDX-License-Identifier: MIT
"""Random quantised ONNX graphs, of the operators that the compiler knows.

A graph depends on its seed only. Scales are drawn so that results use their
range: outputs that saturate everywhere would hide mistakes.
"""
import dataclasses

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

MAX_OPERATORS = 12
# Softmax sums in an order of its own, and its exp() is no library's.
SOFTMAX_ULP = 16
MAX_ELEMENTS = 6000
TYPES = {"int8": TensorProto.INT8, "uint8": TensorProto.UINT8,
         "float32": TensorProto.FLOAT, "int64": TensorProto.INT64}


def has_wide_products():
    """Whether ONNX Runtime adds u8 x s8 products in 32 bits on this machine.

    Without these instructions it adds pairs of them in 16 bits, which saturate.
    """
    with open("/proc/cpuinfo", encoding="ascii", errors="replace") as file:
        return any(word in file.read() for word in ("avx512_vnni", "avx_vnni"))


WEIGHT_LIMIT = 127 if has_wide_products() else 63


@dataclasses.dataclass
class Value:
    name: str
    dims: tuple
    dtype: str
    scale: np.float32 = None
    zero: int = 0
    used: bool = False
    hidden: bool = False  # no other node may read it
    rectified: bool = False

    @property
    def size(self):
        return int(np.prod(self.dims, dtype=np.int64))


class Builder:
    """A graph under construction: values that nodes may read, newest last."""

    def __init__(self, seed):
        self.seed = seed
        self.rng = np.random.default_rng(seed)
        self.nodes, self.constants, self.values = [], [], []
        self.inputs, self.data = [], []
        self.operators = []
        # How far floats may differ, and whether ONNX Runtime must optimise.
        self.ulp, self.fused = 0, False
        self.count = self.between(1, MAX_OPERATORS)

    # ---- draws ----

    def chance(self, probability):
        return self.rng.random() < probability

    def between(self, low, high):
        return int(self.rng.integers(low, high + 1))

    def choice(self, items):
        return items[int(self.rng.integers(len(items)))]

    def scale(self):
        return np.float32(2.0 ** self.rng.uniform(-8, -2))

    def zero(self, dtype):
        info = np.iinfo(dtype)
        kind = self.between(0, 3)
        if kind == 0:
            return 0
        if kind == 1:
            return self.choice([info.min, info.max])
        return self.between(info.min // 2, info.max // 2)

    def near(self, value):
        """A number of the size of @value."""
        return np.float32(value * 2.0 ** self.rng.uniform(-1, 1))

    # ---- parts ----

    def constant(self, array):
        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.asarray(array), name))
        return name

    def quant(self, scale, zero, dtype):
        return [self.constant(np.float32(scale)), self.constant(np.dtype(dtype).type(zero))]

    def of(self, value):
        """Name, scale and zero point of a quantised value."""
        value.used = True
        return [value.name, *self.quant(value.scale, value.zero, value.dtype)]

    def value(self, dims, dtype, scale=None, zero=0):
        name = f"t{len(self.values)}"
        self.values.append(Value(name, tuple(int(d) for d in dims), dtype, scale, zero))
        return self.values[-1]

    def node(self, op, inputs, result, domain=None, **attributes):
        self.operators.append(op)
        self.nodes.append(helper.make_node(op, inputs, [result.name], domain=domain,
                                           name=f"{op}_{len(self.nodes)}", **attributes))
        return result

    def like(self, op, x, dims, *more, **attributes):
        """A node whose result keeps type and quantisation of x."""
        x.used = True
        result = self.value(dims, x.dtype, x.scale, x.zero)
        return self.node(op, [x.name, *more], result, **attributes)

    def pick(self, test):
        """One of the values that satisfy test, rather a new one than an old one."""
        found = [v for v in self.values if not v.hidden and test(v)]
        if not found:
            return None
        return found[-1] if self.chance(0.7) else self.choice(found)

    def add_input(self, dims, dtype):
        value = self.value(dims, dtype)
        if dtype == "float32":
            value.scale = self.scale()
            data = self.rng.normal(0, 60, value.size)
            ties = self.rng.random(value.size) < 0.2
            data = np.where(ties, np.round(data) + 0.5, data) * value.scale
        else:
            info = np.iinfo(dtype)
            value.scale, value.zero = self.scale(), self.zero(dtype)
            data = self.rng.integers(info.min, info.max + 1, value.size)
        self.inputs.append(value)
        self.data.append(data.astype(dtype).reshape(dims))
        return value

    def model(self):
        outputs = [v for v in self.values if v not in self.inputs and
                   (not v.used or (not v.hidden and self.chance(0.15)))]
        graph = helper.make_graph(
            self.nodes, f"random{self.seed}",
            [helper.make_tensor_value_info(v.name, TYPES[v.dtype], v.dims)
             for v in self.inputs],
            [helper.make_tensor_value_info(v.name, TYPES[v.dtype], v.dims) for v in outputs],
            self.constants)
        opsets = [helper.make_opsetid("", 15), helper.make_opsetid("com.microsoft", 1)]
        return helper.make_model(graph, opset_imports=opsets, ir_version=8), outputs


def quantised(v):
    return v.dtype in ("int8", "uint8")


def image(v):
    """Rows and columns, or columns alone."""
    return quantised(v) and len(v.dims) in (3, 4)


# ---- operators: each takes a builder, and gives None where no value fits ----

def quantize(b):
    x = b.pick(lambda v: v.dtype == "float32" and v in b.inputs)
    if not x:
        return None
    x.used = True
    dtype = b.choice(["int8", "uint8"])
    y = b.value(x.dims, dtype, x.scale, b.zero(dtype))
    return b.node("QuantizeLinear", [x.name, *b.quant(y.scale, y.zero, dtype)], y)


def dequantize(b):
    x = b.pick(lambda v: quantised(v) and not v.used)
    return x and b.node("DequantizeLinear", b.of(x), b.value(x.dims, "float32"))


def weights(b, dims, dtype, channels):
    """Constant names of weights, scale and zero point, and the mean scale."""
    if dtype == "int8":
        data, zero = b.rng.integers(-WEIGHT_LIMIT, WEIGHT_LIMIT + 1, dims), 0
    else:
        data, zero = b.rng.integers(128 - WEIGHT_LIMIT, 129 + WEIGHT_LIMIT, dims), 128
    if b.chance(0.4):
        zero = b.zero(dtype)
    scales = np.array([b.near(1 / 128) for _ in range(channels)], np.float32)
    names = [b.constant(data.astype(dtype)),
             b.constant(scales if channels > 1 else scales[0]),
             b.constant(np.full(channels if channels > 1 else (), zero, dtype))]
    return names, float(scales.mean())


def product_scale(b, x, mean, taps):
    """A result scale for sums of taps products."""
    return b.near(float(x.scale) * mean * np.sqrt(taps) * 60 * WEIGHT_LIMIT / 2 / 50)


def window(b, size, kernel, padded=True):
    """Strides, pads and dilations that leave a result, for both axes."""
    strides = [b.choice([1, 1, 2, 3]) for _ in kernel]
    dilations = [b.choice([1, 1, 1, 2]) for _ in kernel]
    pads = [b.between(0, k - 1) if padded and k > 1 else 0 for k in kernel * 2]
    out = []
    for i, k in enumerate(kernel):
        span = (k - 1) * dilations[i] + 1
        whole = size[i] + pads[i] + pads[i + len(kernel)]
        if whole < span:
            dilations[i] = 1
            span = k
        out.append((whole - span) // strides[i] + 1)
    return strides, pads, dilations, out


def kernel_of(b, size, most=3):
    return [b.between(1, min(most, s)) for s in size]


def conv(b):
    x = b.pick(image)
    if not x:
        return None
    n, c, *size = x.dims
    groups = b.choice([1, 1, 1, c, c, *(d for d in (2, 4, 8) if c % d == 0)])
    m = groups * b.choice([1, 2]) if groups > 1 else b.between(1, 20)
    kernel = kernel_of(b, size)
    strides, pads, dilations, out = window(b, size, kernel)
    dtype = "int8" if x.dtype == "int8" or b.chance(0.7) else "uint8"
    dims = (m, c // groups, *kernel)
    names, mean = weights(b, dims, dtype, m if b.chance(0.6) else 1)
    taps = int(np.prod(dims[1:]))
    words = {"pads": pads}
    if b.chance(0.2):
        dilations = [1] * len(kernel)
        words = {"auto_pad": b.choice(["SAME_UPPER", "SAME_LOWER"])}
        out = [-(-s // stride) for s, stride in zip(size, strides)]
    y = b.value((n, m, *out), x.dtype, product_scale(b, x, mean, taps), b.zero(x.dtype))
    inputs = [*b.of(x), *names, *b.quant(y.scale, y.zero, y.dtype)]
    if b.chance(0.7):
        most = int(60 * WEIGHT_LIMIT * np.sqrt(taps))
        inputs.append(b.constant(b.rng.integers(-most, most, m).astype(np.int32)))
    return b.node("QLinearConv", inputs, y, kernel_shape=kernel, strides=strides,
                  dilations=dilations, group=groups, **words)


def matmul(b):
    x = b.pick(lambda v: quantised(v) and len(v.dims) == 2 and v.dims[1] <= 2048)
    if not x:
        return None
    k, columns = x.dims[1], b.between(1, 24)
    dtype = "int8" if x.dtype == "int8" or b.chance(0.7) else "uint8"
    names, mean = weights(b, (k, columns), dtype, 1)
    y = b.value((x.dims[0], columns), x.dtype, product_scale(b, x, mean, k), b.zero(x.dtype))
    return b.node("QLinearMatMul", [*b.of(x), *names, *b.quant(y.scale, y.zero, y.dtype)], y)


def gemm(b):
    x = b.pick(lambda v: quantised(v) and len(v.dims) == 2 and v.dims[1] <= 2048)
    if not x:
        return None
    k, columns = x.dims[1], b.between(1, 24)
    dtype = "int8" if x.dtype == "int8" or b.chance(0.7) else "uint8"
    turned, alpha = b.between(0, 1), b.choice([1.0, 0.5, 0.3])
    dims = (columns, k) if turned else (k, columns)
    names, mean = weights(b, dims, dtype, columns if b.chance(0.5) else 1)
    y = b.value((x.dims[0], columns), x.dtype, product_scale(b, x, mean * alpha, k),
                b.zero(x.dtype))
    bias = ""
    if b.chance(0.6):
        most = int(60 * WEIGHT_LIMIT * np.sqrt(k))
        bias = b.constant(b.rng.integers(-most, most, columns).astype(np.int32))
    return b.node("QGemm", [*b.of(x), *names, bias, *b.quant(y.scale, y.zero, y.dtype)], y,
                  domain="com.microsoft", transB=turned, alpha=alpha)


def max_pool(b):
    x = b.pick(image)
    if not x:
        return None
    size = x.dims[2:]
    kernel = kernel_of(b, size)
    strides, pads, dilations, out = window(b, size, kernel)
    words = {"kernel_shape": kernel, "strides": strides, "dilations": dilations}
    if b.chance(0.2):
        words["dilations"] = [1] * len(kernel)
        words["auto_pad"] = b.choice(["SAME_UPPER", "SAME_LOWER"])
        out = [-(-s // stride) for s, stride in zip(size, strides)]
        return b.like("MaxPool", x, (*x.dims[:2], *out), **words)
    words["pads"] = pads
    if b.chance(0.5):
        ceil = []
        for i, k in enumerate(kernel):
            whole = size[i] + pads[i] + pads[i + len(size)]
            ceil.append(-(-(whole - (k - 1) * dilations[i] - 1) // strides[i]) + 1)
        # A window that begins behind the input: ONNX Runtime's two shapes of it differ.
        if all((o - 1) * s < n + p for o, s, n, p in zip(ceil, strides, size, pads)):
            words["ceil_mode"], out = 1, ceil
    return b.like("MaxPool", x, (*x.dims[:2], *out), **words)


def relu(b):
    x = b.pick(lambda v: v.dtype == "int8")
    y = x and b.like("Relu", x, x.dims)
    if y:
        y.rectified = True
    return y


def clip(b):
    # ONNX Runtime's fusion of Relu and Clip fails on int8.
    x = b.pick(lambda v: quantised(v) and not v.rectified)
    if not x:
        return None
    info = np.iinfo(x.dtype)
    low, high = sorted(b.rng.integers(info.min, info.max + 1, 2).astype(x.dtype))
    bounds = [b.constant(low) if b.chance(0.8) else ""]
    if not bounds[0] or b.chance(0.8):
        bounds.append(b.constant(high))
    return b.like("Clip", x, x.dims, *bounds)


def flatten(b):
    x = b.pick(lambda v: quantised(v) and len(v.dims) > 1)
    if not x:
        return None
    axis = b.between(1, len(x.dims) - 1)
    dims = (int(np.prod(x.dims[:axis])), int(np.prod(x.dims[axis:])))
    return b.like("Flatten", x, dims, axis=axis if b.chance(0.5) else axis - len(x.dims))


def reshape(b):
    x = b.pick(lambda v: quantised(v) and len(v.dims) > 1)
    if not x:
        return None
    rest, dims = x.size // x.dims[0], [x.dims[0]]
    for _ in range(b.between(0, 2)):
        divisor = b.choice([d for d in range(1, 17) if rest % d == 0])
        dims.append(divisor)
        rest //= divisor
    dims.append(rest)
    shape = list(dims)
    if b.chance(0.5):
        shape[0] = 0
    if b.chance(0.5):
        shape[-1] = -1
    return b.like("Reshape", x, dims, b.constant(np.array(shape, np.int64)))


def squeeze(b):
    x = b.pick(lambda v: quantised(v) and 1 in v.dims[1:])
    if not x:
        return None
    axis = b.choice([i for i, d in enumerate(x.dims) if i and d == 1])
    dims = [d for i, d in enumerate(x.dims) if i != axis]
    return b.like("Squeeze", x, dims, b.constant(np.array([axis], np.int64)))


def unsqueeze(b):
    x = b.pick(lambda v: quantised(v) and len(v.dims) < 5)
    if not x:
        return None
    axis = b.between(1, len(x.dims))
    dims = [*x.dims[:axis], 1, *x.dims[axis:]]
    return b.like("Unsqueeze", x, dims, b.constant(np.array([axis], np.int64)))


def identity(b):
    x = b.pick(quantised)
    return x and b.like("Identity", x, x.dims)


MS = "com.microsoft"


def other(b, x):
    """Something of x's type that can be added to it: a value or a constant."""
    if b.chance(0.6):
        y = b.pick(lambda v: v.dtype == x.dtype and v is not x and v.dims == x.dims)
        if y:
            return b.of(y), y.scale
    dims = [d if b.chance(0.6) else 1 for d in x.dims[b.between(0, len(x.dims)):]]
    info, scale = np.iinfo(x.dtype), b.near(x.scale)
    data = b.rng.integers(info.min, info.max + 1, dims).astype(x.dtype)
    return [b.constant(data), *b.quant(scale, b.zero(x.dtype), x.dtype)], scale


def binary(b, op, scale_of):
    x = b.pick(quantised)
    if not x:
        return None
    more, scale = other(b, x)
    y = b.value(x.dims, x.dtype, b.near(scale_of(float(x.scale), float(scale))), b.zero(x.dtype))
    inputs = [b.of(x), more] if b.chance(0.5) else [more, b.of(x)]
    return b.node(op, [*inputs[0], *inputs[1], *b.quant(y.scale, y.zero, y.dtype)], y, MS)


def q_add(b):
    return binary(b, "QLinearAdd", lambda x, y: 1.4 * max(x, y))


def q_mul(b):
    return binary(b, "QLinearMul", lambda x, y: x * y * 60)


def branch(b, x, channels):
    """A convolution of one tap."""
    kernel = [1] * (len(x.dims) - 2)
    names, mean = weights(b, (channels, x.dims[1], *kernel), "int8", 1)
    scale = product_scale(b, x, mean, x.dims[1])
    y = b.value((x.dims[0], channels, *x.dims[2:]), x.dtype, scale, b.zero(x.dtype))
    return b.node("QLinearConv", [*b.of(x), *names, *b.quant(y.scale, y.zero, y.dtype)], y)


def joined(b):
    """A sum or product of two convolutions: where the core has both operands."""
    x = b.pick(image)
    if not x or not room(b, 3):
        return None
    channels = b.between(1, 20)
    one, two = branch(b, x, channels), branch(b, x, channels)
    a, c = float(one.scale), float(two.scale)
    op, scale = b.choice([("QLinearAdd", 1.4 * max(a, c)), ("QLinearMul", a * c * 60)])
    y = b.value(one.dims, x.dtype, b.near(scale), b.zero(x.dtype))
    inputs = [*b.of(one), *b.of(two), *b.quant(y.scale, y.zero, y.dtype)]
    return b.node(op, inputs, y, MS)


def unary(b, op, x, dims, scale, **attributes):
    y = b.value(dims, x.dtype, scale, b.zero(x.dtype))
    return b.node(op, [*b.of(x), *b.quant(y.scale, y.zero, y.dtype)], y, MS, **attributes)


def q_average(b):
    x = b.pick(image)
    if not x:
        return None
    kernel = kernel_of(b, x.dims[2:], 4)
    strides, pads, _, _ = window(b, x.dims[2:], kernel)
    out = [(s + pads[i] + pads[i + len(kernel)] - k) // strides[i] + 1
           for i, (s, k) in enumerate(zip(x.dims[2:], kernel))]
    return unary(b, "QLinearAveragePool", x, (*x.dims[:2], *out), b.near(x.scale),
                 kernel_shape=kernel, strides=strides, pads=pads,
                 count_include_pad=b.between(0, 1))


def q_global_average(b):
    x = b.pick(image)
    return x and unary(b, "QLinearGlobalAveragePool", x,
                       (*x.dims[:2], *(1 for _ in x.dims[2:])), b.near(x.scale / 4))


def q_sigmoid(b):
    x = b.pick(quantised)
    return x and unary(b, "QLinearSigmoid", x, x.dims, b.near(1 / 256))


def q_leaky_relu(b):
    x = b.pick(quantised)
    return x and unary(b, "QLinearLeakyRelu", x, x.dims, b.near(x.scale),
                       alpha=float(b.rng.uniform(0, 1)))


def parts(b):
    """Values that agree but for one axis, and the shape of all together."""
    x = b.pick(quantised)
    if not x:
        return None
    axis = b.between(1, len(x.dims) - 1) if len(x.dims) > 1 else 0
    fit = [v for v in b.values if v.dtype == x.dtype and len(v.dims) == len(x.dims) and
           all(d == e for i, (d, e) in enumerate(zip(v.dims, x.dims)) if i != axis)]
    found = [x] + [b.choice(fit) for _ in range(b.between(0, 3))]
    dims = list(x.dims)
    dims[axis] = sum(v.dims[axis] for v in found)
    return found, axis if b.chance(0.5) else axis - len(dims), dims


def concat(b):
    found = parts(b)
    if not found:
        return None
    values, axis, dims = found
    for v in values:
        v.used = True
    y = b.value(dims, values[0].dtype, values[0].scale, values[0].zero)
    return b.node("Concat", [v.name for v in values], y, axis=axis)


def q_concat(b):
    found = parts(b)
    if not found:
        return None
    values, axis, dims = found
    x = values[0]
    same = b.chance(0.3)
    y = b.value(dims, x.dtype, x.scale if same else b.near(x.scale),
                x.zero if same else b.zero(x.dtype))
    inputs = b.quant(y.scale, y.zero, y.dtype)
    for v in values:
        inputs += b.of(v)
    return b.node("QLinearConcat", inputs, y, MS, axis=axis)


def transpose(b):
    x = b.pick(lambda v: len(v.dims) > 1 and quantised(v))
    if not x:
        return None
    perm = [0] + [int(i) + 1 for i in b.rng.permutation(len(x.dims) - 1)]
    if b.chance(0.1):
        perm = [int(i) for i in b.rng.permutation(len(x.dims))]
    return b.like("Transpose", x, [x.dims[i] for i in perm], perm=perm)


def integers(b, values):
    return b.constant(np.array(values, np.int64))


def slice_(b):
    x = b.pick(lambda v: len(v.dims) > 1 and quantised(v))
    if not x:
        return None
    starts, ends, axes, steps, dims = [], [], [], [], list(x.dims)
    for axis in range(1, len(dims)):
        if b.chance(0.4):
            continue
        size, step = dims[axis], b.choice([1, 1, 2, 3, -1, -2])
        low, high = sorted((b.between(0, size - 1), b.between(0, size - 1)))
        start, end = (low, high + 1) if step > 0 else (high, low - 1)
        dims[axis] = len(range(start, end, step))
        if step < 0 and end < 0:
            end = -size - 5
        elif b.chance(0.3) and end == size:
            end = 2 ** 40
        elif b.chance(0.3) and 0 <= end < size:
            end -= size
        starts.append(start - size if b.chance(0.3) else start)
        ends.append(end)
        axes.append(axis if b.chance(0.5) else axis - len(dims))
        steps.append(step)
    if not axes:
        return None
    return b.like("Slice", x, dims, *(integers(b, v) for v in (starts, ends, axes, steps)))


def pad(b):
    x = b.pick(lambda v: len(v.dims) > 1 and quantised(v))
    if not x:
        return None
    mode = b.choice(["constant", "edge", "reflect"])
    before = [0] + [b.between(-1 if d > 3 else 0, min(3, d - 1)) for d in x.dims[1:]]
    after = [0] + [b.between(-1 if d > 3 else 0, min(3, d - 1)) for d in x.dims[1:]]
    if mode != "constant":
        before, after = [max(v, 0) for v in before], [max(v, 0) for v in after]
    dims = [d + p + q for d, p, q in zip(x.dims, before, after)]
    more = [integers(b, before + after)]
    if mode == "constant" and b.chance(0.8):
        more.append(b.constant(np.dtype(x.dtype).type(x.zero)))
    return b.like("Pad", x, dims, *more, mode=mode)


def resize(b):
    x = b.pick(lambda v: image(v) and len(v.dims) == 4)
    if not x:
        return None
    attributes = {
        "mode": "nearest",
        "coordinate_transformation_mode": b.choice(
            ["half_pixel", "asymmetric", "pytorch_half_pixel", "align_corners"]),
        "nearest_mode": b.choice(
            ["round_prefer_floor", "round_prefer_ceil", "floor", "ceil"]),
    }
    if b.chance(0.5):
        scales = np.array([1, 1, *(b.choice([0.5, 1, 1.5, 2, 2.7, 3]) for _ in "hw")], np.float32)
        dims = [int(np.float32(d) * s) for d, s in zip(x.dims, scales)]
        more = ["", b.constant(scales)]
    else:
        dims = [*x.dims[:2], *(b.between(1, 2 * d + 1) for d in x.dims[2:])]
        more = ["", "", integers(b, dims)]
    if min(dims) < 1:
        return None
    return b.like("Resize", x, dims, *more, **attributes)


def argmax(b):
    x = b.pick(lambda v: v.dtype != "int64" and v not in b.inputs)
    if not x:
        return None
    x.used = True
    axis, keep = b.between(0, len(x.dims) - 1), b.between(0, 1)
    dims = [1 if i == axis else d for i, d in enumerate(x.dims) if keep or i != axis]
    if not dims:
        return None
    return b.node("ArgMax", [x.name], b.value(dims, "int64"), axis=axis, keepdims=keep,
                  select_last_index=b.between(0, 1))


def floats(v):
    return v.dtype == "float32"


def float_binary(b, op):
    x = b.pick(floats)
    if not x:
        return None
    x.used = True
    y = b.pick(lambda v: floats(v) and v.dims == x.dims) if b.chance(0.5) else None
    if y:
        y.used = True
        name = y.name
    else:
        dims = [d if b.chance(0.6) else 1 for d in x.dims[b.between(0, len(x.dims)):]]
        name = b.constant(b.rng.normal(0, 4, dims).astype(np.float32))
    return b.node(op, [x.name, name], b.value(x.dims, "float32"))


def add(b):
    return float_binary(b, "Add")


def mul(b):
    return float_binary(b, "Mul")


def bound(b):
    x = b.pick(lambda v: floats(v) and v not in b.inputs)
    if not x:
        return None
    x.used = True
    y = b.value(x.dims, "float32")
    if b.chance(0.5):
        return b.node("Relu", [x.name], y)
    low, high = (b.constant(np.float32(v)) for v in sorted(b.rng.normal(0, 2, 2)))
    return b.node("Clip", [x.name, low, high] if b.chance(0.7) else [x.name, "", high], y)


def softmax(b):
    x = b.pick(lambda v: floats(v) and v not in b.inputs)
    if not x:
        return None
    x.used = True
    b.ulp = SOFTMAX_ULP
    y = b.value(x.dims, "float32")
    y.hidden = True
    return b.node("Softmax", [x.name], y, axis=b.between(0, len(x.dims) - 1) - len(x.dims))


# ---- float operators between DequantizeLinear and QuantizeLinear ----

def room(b, nodes):
    return len(b.nodes) + nodes <= b.count


def in_floats(b, inputs, dims):
    """DequantizeLinear of the three names."""
    value = b.value(dims, "float32")
    value.hidden = value.used = True
    b.node("DequantizeLinear", inputs, value)
    return value.name


def floated(b, values):
    return [in_floats(b, b.of(v), v.dims) for v in values]


def between_floats(b, op, inputs, y, **attributes):
    """The operator, and the quantisation of its result, which is y."""
    b.fused = True
    b.values.remove(y)
    value = b.value(y.dims, "float32")
    value.name, value.hidden, value.used = f"{y.name}f", True, True
    b.node(op, inputs, value, **attributes)
    if y.zero == np.iinfo(y.dtype).min and b.chance(0.5):
        more = b.value(y.dims, "float32")
        more.name, more.hidden, more.used = f"{y.name}r", True, True
        b.node("Relu", [value.name], more)
        value = more
    b.values.append(y)
    return b.node("QuantizeLinear", [value.name, *b.quant(y.scale, y.zero, y.dtype)], y)


def named(b, x, dims, scale, zero=None):
    """A result of x's type, whose name no later value gets."""
    y = b.value(dims, x.dtype, scale, b.zero(x.dtype) if zero is None else zero)
    y.name = f"q{len(b.nodes)}"
    return y


def floated_weights(b, dims, dtype, channels, axis):
    names, mean = weights(b, dims, dtype, channels)
    value = b.value(dims, "float32")
    value.hidden = value.used = True
    b.node("DequantizeLinear", names, value, **({"axis": axis} if channels > 1 else {}))
    return value.name, names, mean


def floated_bias(b, x, names, m, taps):
    """A bias in int32 and the product of both scales, or in floats."""
    scales = next(numpy_helper.to_array(c) for c in b.constants if c.name == names[1])
    product = np.float32(x.scale) * scales
    most = int(60 * WEIGHT_LIMIT * np.sqrt(taps))
    data = b.rng.integers(-most, most, m).astype(np.int32)
    zero = np.zeros(product.shape, np.int32)
    inputs = [b.constant(data), b.constant(product), b.constant(zero)]
    value = b.value((m,), "float32")
    value.hidden = value.used = True
    b.node("DequantizeLinear", inputs, value, **({"axis": 0} if product.shape else {}))
    return value.name


def qdq_conv(b):
    x = b.pick(lambda v: image(v) and len(v.dims) == 4)
    if not x or not room(b, 6):
        return None
    n, c, *size = x.dims
    groups = b.choice([1, 1, c])
    m = groups * b.choice([1, 2]) if groups > 1 else b.between(1, 20)
    kernel = kernel_of(b, size)
    strides, pads, dilations, out = window(b, size, kernel)
    dims = (m, c // groups, *kernel)
    dtype = "int8" if x.dtype == "int8" or b.chance(0.7) else "uint8"
    taps = int(np.prod(dims[1:]))
    inputs = floated(b, [x])
    name, names, mean = floated_weights(b, dims, dtype, m if b.chance(0.6) else 1, 0)
    inputs.append(name)
    if b.chance(0.7):
        inputs.append(floated_bias(b, x, names, m, taps))
    y = named(b, x, (n, m, *out), product_scale(b, x, mean, taps))
    return between_floats(b, "Conv", inputs, y, kernel_shape=kernel, strides=strides, pads=pads,
                          dilations=dilations, group=groups)


def qdq_matmul(b):
    x = b.pick(lambda v: quantised(v) and len(v.dims) == 2 and v.dims[1] <= 2048)
    if not x or not room(b, 5):
        return None
    k, columns = x.dims[1], b.between(1, 24)
    dtype = "int8" if x.dtype == "int8" or b.chance(0.7) else "uint8"
    inputs = floated(b, [x])
    name, _, mean = floated_weights(b, (k, columns), dtype, 1, 1)
    y = named(b, x, (x.dims[0], columns), product_scale(b, x, mean, k))
    return between_floats(b, "MatMul", [*inputs, name], y)


def qdq_gemm(b):
    x = b.pick(lambda v: quantised(v) and len(v.dims) == 2 and v.dims[1] <= 2048)
    if not x or not room(b, 6):
        return None
    k, columns, turned = x.dims[1], b.between(1, 24), b.between(0, 1)
    dtype = "int8" if x.dtype == "int8" or b.chance(0.7) else "uint8"
    inputs = floated(b, [x])
    name, names, mean = floated_weights(b, (columns, k) if turned else (k, columns), dtype, 1, 0)
    inputs += [name, floated_bias(b, x, names, columns, k)]
    y = named(b, x, (x.dims[0], columns), product_scale(b, x, mean, k))
    return between_floats(b, "Gemm", inputs, y, transB=turned)


def qdq_binary(b):
    x = b.pick(quantised)
    if not x or not room(b, 5):
        return None
    other_ = b.pick(lambda v: v.dtype == x.dtype and v.dims == x.dims and v is not x)
    op = b.choice(["Add", "Mul"])
    if other_:
        inputs, scale = floated(b, [x, other_]), other_.scale
    else:
        names, scale = other(b, x)
        inputs = floated(b, [x])
        dims = next(c.dims for c in b.constants if c.name == names[0]) \
            if names[0][0] == "c" else x.dims
        inputs.append(in_floats(b, names, tuple(dims)))
    x_scale, scale = float(x.scale), float(scale)
    scale = 1.4 * max(x_scale, scale) if op == "Add" else x_scale * scale * 60
    return between_floats(b, op, inputs, named(b, x, x.dims, b.near(scale)))


def qdq_unary(b):
    x = b.pick(quantised)
    if not x or not room(b, 4):
        return None
    op = b.choice(["Sigmoid", "LeakyRelu", "AveragePool", "GlobalAveragePool"])
    dims, scale, attributes = x.dims, b.near(x.scale), {}
    if op == "Sigmoid":
        scale = b.near(1 / 256)
    elif op == "LeakyRelu":
        attributes = {"alpha": float(b.rng.uniform(0, 1))}
    elif not image(x) or len(x.dims) != 4:
        return None
    elif op == "GlobalAveragePool":
        dims = (*x.dims[:2], 1, 1)
    else:
        kernel = kernel_of(b, x.dims[2:], 4)
        strides, pads, _, _ = window(b, x.dims[2:], kernel)
        dims = (*x.dims[:2], *((s + pads[i] + pads[i + 2] - k) // strides[i] + 1
                               for i, (s, k) in enumerate(zip(x.dims[2:], kernel))))
        attributes = {"kernel_shape": kernel, "strides": strides, "pads": pads,
                      "count_include_pad": b.between(0, 1)}
    return between_floats(b, op, floated(b, [x]), named(b, x, dims, scale), **attributes)


def qdq_concat(b):
    found = parts(b)
    if not found or not room(b, 3 + len(found[0])):
        return None
    values, axis, dims = found
    y = named(b, values[0], dims, b.near(values[0].scale))
    return between_floats(b, "Concat", floated(b, values), y, axis=axis)


def qdq_move(b):
    x = b.pick(lambda v: quantised(v) and len(v.dims) > 1)
    if not x or not room(b, 3):
        return None
    op = b.choice(["Flatten", "Transpose", "MaxPool", "Relu", "Unsqueeze"])
    dims, more, attributes = x.dims, [], {}
    if op == "Flatten":
        dims, attributes = (x.dims[0], x.size // x.dims[0]), {"axis": 1}
    elif op == "Transpose":
        perm = [0] + [int(i) + 1 for i in b.rng.permutation(len(x.dims) - 1)]
        dims, attributes = [x.dims[i] for i in perm], {"perm": perm}
    elif op == "MaxPool":
        if len(x.dims) != 4:
            return None
        kernel = kernel_of(b, x.dims[2:])
        dims = (*x.dims[:2], *(s - k + 1 for s, k in zip(x.dims[2:], kernel)))
        attributes = {"kernel_shape": kernel}
    elif op == "Unsqueeze":
        if len(x.dims) > 4:
            return None
        dims, more = (*x.dims[:1], 1, *x.dims[1:]), [integers(b, [1])]
    same = b.chance(0.6)
    zero = x.zero if same else b.zero(x.dtype)
    if op == "Relu" and zero == np.iinfo(x.dtype).min:
        # ONNX Runtime takes such a Relu out, and ends with a segmentation fault.
        return None
    y = named(b, x, dims, x.scale if same else b.near(x.scale), zero)
    return between_floats(b, op, [*floated(b, [x]), *more], y, **attributes)


# Operators and how often each is tried.
OPERATORS = (
    (conv, 6), (matmul, 4), (gemm, 4), (max_pool, 3), (relu, 2), (clip, 2), (flatten, 2),
    (reshape, 2), (squeeze, 1), (unsqueeze, 1), (identity, 1), (dequantize, 2), (q_add, 4),
    (q_mul, 3), (q_average, 2), (q_global_average, 1), (q_sigmoid, 2), (q_leaky_relu, 2),
    (concat, 2), (q_concat, 2), (transpose, 2), (slice_, 2), (pad, 2), (resize, 2), (argmax, 1),
    (add, 1), (mul, 1), (bound, 2), (softmax, 4), (qdq_conv, 7), (qdq_matmul, 4),
    (qdq_gemm, 5), (qdq_binary, 4), (joined, 5),
    (qdq_unary, 6), (qdq_concat, 3), (qdq_move, 4),
)

# ONNX's names of what the functions above make.
NAMES = (
    "Add", "ArgMax", "AveragePool", "Clip", "Concat", "Conv", "DequantizeLinear", "Flatten",
    "Gemm", "GlobalAveragePool", "Identity", "LeakyRelu", "MatMul", "MaxPool", "Mul", "Pad",
    "QGemm", "QLinearAdd", "QLinearAveragePool", "QLinearConcat", "QLinearConv",
    "QLinearGlobalAveragePool", "QLinearLeakyRelu", "QLinearMatMul", "QLinearMul",
    "QLinearSigmoid", "QuantizeLinear", "Relu", "Reshape", "Resize", "Sigmoid", "Slice",
    "Softmax", "Squeeze", "Transpose", "Unsqueeze",
)


def first_value(b):
    n = b.choice([1, 1, 1, 2])
    if b.chance(0.75):
        dims = (n, b.choice([1, 2, 3, 4, 8, 16, 17, 20]), b.between(1, 14), b.between(1, 14))
    else:
        dims = (n, b.between(1, 300))
    dtype = b.choice(["float32", "float32", "int8", "uint8"])
    b.add_input(dims, dtype)
    if dtype == "float32":
        quantize(b)


def build(seed):
    """The builder of graph number seed, finished."""
    b = Builder(seed)
    functions = [f for f, weight in OPERATORS for _ in range(weight)]
    first_value(b)
    while len(b.nodes) < b.count:
        made = b.choice(functions)(b)
        if made and made.size > MAX_ELEMENTS:
            # Whatever comes next starts from something smaller.
            b.values.remove(made)
            b.values.insert(0, made)
    return b


def write(b, prefix):
    """Writes model and inputs; returns the entry of run_ort.js."""
    model, outputs = b.model()
    onnx.save(model, prefix + ".onnx")
    with open(prefix + ".in", "wb") as file:
        for data in b.data:
            file.write(data.tobytes())
    return {
        "model": prefix + ".onnx", "input": prefix + ".in", "output": prefix + ".out",
        "optimise": "all" if b.fused or b.seed % 2 else "disabled",
        "ulp": b.ulp,
        "inputs": [{"name": v.name, "type": v.dtype, "dims": v.dims} for v in b.inputs],
        "outputs": [v.name for v in outputs],
    }
