# SPDX-License-Identifier: MIT
"""Small float networks, written as ONNX, with their values by numpy: each operator is
evaluated by its definition while it is added."""

import numpy as np
from onnx import TensorProto, helper, numpy_helper

OPSET = 13
IR_VERSION = 7


class Net:
    """Nodes in a row; self.values is what the last one makes of all samples."""

    def __init__(self, seed, samples, *shape):
        self.random = np.random.default_rng(seed)
        self.samples = self.random.normal(0, 1, (samples, *shape)).astype(np.float32)
        self.values = self.samples
        self.nodes, self.constants, self.last = [], [], 'x'

    def node(self, op, constants=(), **attributes):
        names = [self.last]
        for value in constants:
            names.append(f'c{len(self.constants)}')
            self.constants.append(numpy_helper.from_array(value, names[-1]))
        self.last = f'{op.lower()}{len(self.nodes)}'
        self.nodes.append(helper.make_node(op, names, [self.last], self.last, **attributes))

    def normal(self, *shape, scale=1.0):
        return self.random.normal(0, scale, shape).astype(np.float32)

    def conv(self, channels, kernel, stride=1, pad=0, dilation=1, group=1, bias=True):
        inputs = self.values.shape[1]
        weight = self.normal(channels, inputs // group, kernel, kernel,
                             scale=(inputs // group * kernel * kernel) ** -0.5)
        constants = [weight] + ([self.normal(channels, scale=0.3)] if bias else [])
        self.node('Conv', constants, strides=[stride] * 2, pads=[pad] * 4,
                  dilations=[dilation] * 2, group=group)
        x = np.pad(self.values, ((0, 0), (0, 0), (pad, pad), (pad, pad)))
        span = (kernel - 1) * dilation + 1
        high, wide = ((size - span) // stride + 1 for size in x.shape[2:])
        out = np.zeros((len(x), channels, high, wide), np.float32)
        each = channels // group
        for channel in range(channels):
            first = channel // each * weight.shape[1]
            for ky in range(kernel):
                for kx in range(kernel):
                    part = x[:, first:first + weight.shape[1], ky * dilation:, kx * dilation:]
                    part = part[:, :, :high * stride:stride, :wide * stride:stride]
                    out[:, channel] += np.tensordot(part, weight[channel, :, ky, kx], (1, 0))
        self.values = out + constants[1].reshape(1, -1, 1, 1) if bias else out

    def norm(self):
        channels = self.values.shape[1]
        gain, shift, mean = (self.normal(channels) for _ in range(3))
        variance = np.abs(self.normal(channels)) + np.float32(0.5)
        self.node('BatchNormalization', [gain, shift, mean, variance], epsilon=0.01)
        column = (1, -1, 1, 1)
        self.values = ((self.values - mean.reshape(column)) *
                       (gain / np.sqrt(variance + 0.01)).reshape(column) +
                       shift.reshape(column)).astype(np.float32)

    def relu(self):
        self.node('Relu')
        self.values = np.maximum(self.values, 0)

    def clip(self, low, high):
        self.node('Clip', [np.float32(low), np.float32(high)])
        self.values = np.clip(self.values, low, high)

    def max_pool(self, kernel, stride):
        self.node('MaxPool', kernel_shape=[kernel] * 2, strides=[stride] * 2)
        high, wide = ((size - kernel) // stride + 1 for size in self.values.shape[2:])
        parts = [self.values[:, :, ky:, kx:][:, :, :high * stride:stride, :wide * stride:stride]
                 for ky in range(kernel) for kx in range(kernel)]
        self.values = np.max(parts, 0)

    def flatten(self):
        self.node('Flatten')
        self.values = self.values.reshape(len(self.values), -1)

    def gemm(self, columns, transposed, bias=True):
        inputs = self.values.shape[1]
        weight = self.normal(inputs, columns, scale=inputs ** -0.5)
        add = [self.normal(columns)] if bias else []
        self.node('Gemm', [np.ascontiguousarray(weight.T) if transposed else weight] + add,
                  transB=int(transposed))
        self.values = self.values @ weight + (add[0] if bias else 0)

    def matmul(self, columns):
        inputs = self.values.shape[1]
        weight = self.normal(inputs, columns, scale=inputs ** -0.5)
        self.node('MatMul', [weight])
        self.values = self.values @ weight

    def model(self):
        value = helper.make_tensor_value_info
        graph = helper.make_graph(
            self.nodes, 'net', [value('x', TensorProto.FLOAT, [1, *self.samples.shape[1:]])],
            [value(self.last, TensorProto.FLOAT, None)], self.constants)
        return helper.make_model(graph, ir_version=IR_VERSION,
                                 opset_imports=[helper.make_opsetid('', OPSET)])
