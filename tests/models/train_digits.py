#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Train the digits network and write it as a float ONNX model.

Run off line, once; needs python3-torch and python3-onnx. The result feeds
"npu compile --calibrate".
"""
import argparse
import os

import numpy as np
import onnx
import torch
import torch.nn.functional as F
from onnx import TensorProto, helper, numpy_helper
from torch import nn

import digits_data

HERE = os.path.dirname(os.path.abspath(__file__))
SEED = 7
EPOCHS = 60
BATCH = 64
PEAK_RATE = 1e-2
OPSET = 13
IR_VERSION = 7


class Net(nn.Module):
    """A residual block of a depthwise and a pointwise convolution between two others."""

    def __init__(self):
        super().__init__()
        self.first = nn.Conv2d(1, 16, 3, padding=1, bias=False)
        self.first_norm = nn.BatchNorm2d(16)
        self.depth = nn.Conv2d(16, 16, 3, padding=1, groups=16, bias=False)
        self.depth_norm = nn.BatchNorm2d(16)
        self.point = nn.Conv2d(16, 16, 1)
        self.last = nn.Conv2d(16, 32, 3, stride=2, padding=1, bias=False)
        self.last_norm = nn.BatchNorm2d(32)
        self.dense = nn.Linear(32, 10)

    def forward(self, x):
        x = F.relu(self.first_norm(self.first(x)))
        x = F.relu(x + self.point(self.depth_norm(self.depth(x))))
        x = F.relu(self.last_norm(self.last(x)))
        return self.dense(x.mean((2, 3)))


def shifted(images):
    """Each image moved by up to one pixel."""
    padded = F.pad(images, (1, 1, 1, 1))
    dy, dx = torch.randint(0, 3, (2, len(images)))
    rows = dy[:, None] + torch.arange(digits_data.SIDE)
    columns = dx[:, None] + torch.arange(digits_data.SIDE)
    return padded[torch.arange(len(images))[:, None, None], 0, rows[:, :, None],
                  columns[:, None, :]][:, None]


def accuracy(net, images, labels):
    net.eval()
    with torch.no_grad():
        return (net(images).argmax(1) == labels).float().mean().item()


def train(net, images, labels):
    batches = len(images) // BATCH
    optimiser = torch.optim.AdamW(net.parameters(), PEAK_RATE, weight_decay=0.02)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, PEAK_RATE, EPOCHS * batches)
    for _ in range(EPOCHS):
        net.train()
        for chosen in torch.randperm(len(images)).split(BATCH)[:batches]:
            optimiser.zero_grad()
            loss = F.cross_entropy(net(shifted(images[chosen])), labels[chosen],
                                   label_smoothing=0.05)
            loss.backward()
            optimiser.step()
            schedule.step()


class Graph:
    def __init__(self):
        self.nodes, self.constants = [], []

    def node(self, op, inputs, output, weights=(), **attributes):
        names = list(inputs)
        for i, weight in enumerate(weights):
            names.append(f"{output}.{i}")
            self.constants.append(numpy_helper.from_array(
                weight.detach().numpy().astype(np.float32), names[-1]))
        self.nodes.append(helper.make_node(op, names, [output], output, **attributes))
        return output

    def conv(self, x, name, conv, norm=None):
        weights = [conv.weight] + ([] if conv.bias is None else [conv.bias])
        out = self.node("Conv", [x], name, weights, group=conv.groups,
                        kernel_shape=list(conv.kernel_size), strides=list(conv.stride),
                        pads=list(conv.padding) * 2)
        if norm is None:
            return out
        return self.node("BatchNormalization", [out], name + "_norm",
                         [norm.weight, norm.bias, norm.running_mean, norm.running_var],
                         epsilon=norm.eps)


def model_of(net):
    g = Graph()
    x = g.node("Relu", [g.conv("image", "first", net.first, net.first_norm)], "first_relu")
    y = g.conv(g.conv(x, "depth", net.depth, net.depth_norm), "point", net.point)
    x = g.node("Relu", [g.node("Add", [x, y], "sum")], "sum_relu")
    x = g.node("Relu", [g.conv(x, "last", net.last, net.last_norm)], "last_relu")
    x = g.node("Flatten", [g.node("GlobalAveragePool", [x], "mean")], "flat")
    g.node("Gemm", [x], "logits", [net.dense.weight, net.dense.bias], transB=1)
    value = helper.make_tensor_value_info
    side = digits_data.SIDE
    graph = helper.make_graph(
        g.nodes, "digits", [value("image", TensorProto.FLOAT, [1, 1, side, side])],
        [value("logits", TensorProto.FLOAT, [1, 10])], g.constants)
    model = helper.make_model(graph, producer_name="tests/models/train_digits.py",
                              ir_version=IR_VERSION,
                              opset_imports=[helper.make_opsetid("", OPSET)])
    helper.set_model_props(model, {"licence": "MIT"})
    onnx.checker.check_model(model, full_check=True)
    return model


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--output", default=os.path.join(HERE, "digits.onnx"))
    args = parser.parse_args()
    torch.manual_seed(SEED)
    torch.set_num_threads(1)
    (images, labels), test = digits_data.load()
    net = Net()
    train(net, torch.tensor(images), torch.tensor(labels))
    print(f"accuracy {accuracy(net, *map(torch.tensor, test)):.4f} on {digits_data.TESTS} "
          "images that were not trained on")
    net.eval()
    onnx.save(model_of(net), args.output)


if __name__ == "__main__":
    main()
