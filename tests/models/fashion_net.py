# SPDX-License-Identifier: MIT
"""The layers of the Fashion-MNIST network, shared by training and quantisation.

A convolution is followed by a ReLU; neither the pools nor the dense layer are.
"""
from collections import namedtuple

Conv = namedtuple("Conv", "name inputs outputs kernel stride pad")
Pool = namedtuple("Pool", "name kernel stride")
Dense = namedtuple("Dense", "name inputs outputs")

INPUT_SIZE = 28

LAYERS = (
    Conv("conv1", 1, 16, 3, 2, 1),
    Conv("conv2", 16, 32, 3, 1, 1),
    Pool("pool1", 2, 2),
    Conv("conv3", 32, 64, 3, 1, 1),
    Conv("conv4", 64, 32, 3, 1, 1),
    Pool("pool2", 3, 2),
    Dense("dense", 288, 10),
)


def macs(layers=LAYERS, size=INPUT_SIZE):
    """Return {layer name: useful multiply-accumulates per image}."""
    result = {}
    for layer in layers:
        if isinstance(layer, Dense):
            result[layer.name] = layer.inputs * layer.outputs
            continue
        pad = layer.pad if isinstance(layer, Conv) else 0
        size = (size + 2 * pad - layer.kernel) // layer.stride + 1
        if isinstance(layer, Conv):
            result[layer.name] = (size * size * layer.kernel ** 2 *
                                  layer.inputs * layer.outputs)
    return result
