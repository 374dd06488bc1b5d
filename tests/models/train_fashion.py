#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Train the Fashion-MNIST network in float and write its folded weights.

Run off line, once; needs python3-torch. The result feeds quantise.py.
"""
import argparse
import os
import time

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

import fashion_data
import fashion_net

HERE = os.path.dirname(os.path.abspath(__file__))
SEED = 20240
BATCH = 128
SHIFT = 2
PEAK_RATE = 6e-3
WEIGHT_DECAY = 0.02
SMOOTHING = 0.05


def build():
    modules = []
    for layer in fashion_net.LAYERS:
        if isinstance(layer, fashion_net.Conv):
            modules += [nn.Conv2d(layer.inputs, layer.outputs, layer.kernel,
                                  layer.stride, layer.pad, bias=False),
                        nn.BatchNorm2d(layer.outputs), nn.ReLU()]
        elif isinstance(layer, fashion_net.Pool):
            modules.append(nn.MaxPool2d(layer.kernel, layer.stride))
        else:
            modules += [nn.Flatten(),
                        nn.Linear(layer.inputs, layer.outputs, bias=False)]
    return nn.Sequential(*modules)


def augment(images):
    """Shift each uint8 image by up to SHIFT pixels, mirror half of them."""
    n, size = len(images), images.shape[-1]
    padded = F.pad(images, (SHIFT, SHIFT, SHIFT, SHIFT))
    dy, dx = torch.randint(0, 2 * SHIFT + 1, (2, n))
    rows = dy[:, None] + torch.arange(size)
    columns = dx[:, None] + torch.arange(size)
    mirror = torch.rand(n) < 0.5
    columns = torch.where(mirror[:, None], columns.flip(1), columns)
    return padded[torch.arange(n)[:, None, None], rows[:, :, None],
                  columns[:, None, :]]


def as_input(images):
    return images[:, None].float() / 255


def accuracy(net, images, labels):
    net.eval()
    with torch.no_grad():
        guess = torch.cat([net(as_input(part)).argmax(1)
                           for part in images.split(1000)])
    return (guess == labels).float().mean().item()


def train(net, images, labels, epochs, check):
    """check is (images, labels), reported after each epoch, never used."""
    batches = len(images) // BATCH
    optimiser = torch.optim.AdamW(net.parameters(), PEAK_RATE,
                                  weight_decay=WEIGHT_DECAY)
    schedule = torch.optim.lr_scheduler.OneCycleLR(
        optimiser, PEAK_RATE, epochs * batches, pct_start=0.2)
    start = time.monotonic()
    for epoch in range(epochs):
        net.train()
        total = 0.0
        for chosen in torch.randperm(len(images)).split(BATCH)[:batches]:
            optimiser.zero_grad()
            guess = net(as_input(augment(images[chosen])))
            loss = F.cross_entropy(guess, labels[chosen],
                                   label_smoothing=SMOOTHING)
            loss.backward()
            optimiser.step()
            schedule.step()
            total += loss.item()
        print(f"epoch {epoch + 1}/{epochs} loss {total / batches:.4f} "
              f"accuracy {accuracy(net, *check):.4f} "
              f"{time.monotonic() - start:.0f} s", flush=True)


def folded(net):
    """Weights with batch normalisation folded in: {name.weight, name.bias}."""
    net.eval()
    modules, arrays = iter(net), {}
    for layer in fashion_net.LAYERS:
        module = next(modules)
        if isinstance(layer, fashion_net.Conv):
            norm = next(modules)
            next(modules)
            gain = norm.weight / torch.sqrt(norm.running_var + norm.eps)
            arrays[layer.name + ".weight"] = \
                module.weight * gain[:, None, None, None]
            arrays[layer.name + ".bias"] = norm.bias - norm.running_mean * gain
        elif isinstance(layer, fashion_net.Dense):
            arrays[layer.name + ".weight"] = next(modules).weight.T
    return {k: v.detach().numpy().astype(np.float32)
            for k, v in arrays.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--output",
                        default=os.path.join(HERE, "fashion-float.npz"))
    parser.add_argument("--epochs", type=int, default=12)
    parser.add_argument("--hold-out", type=int, default=0, metavar="N",
                        help="check on the last N training images instead of "
                             "the test images: for choosing a recipe")
    args = parser.parse_args()
    torch.manual_seed(SEED)
    # One thread: float sums then have one order, and a shared machine makes
    # threads that meet after every layer spin more than they compute.
    torch.set_num_threads(1)
    images, labels = (torch.tensor(a) for a in fashion_data.load("train"))
    labels = labels.long()
    if args.hold_out:
        check = images[-args.hold_out:], labels[-args.hold_out:]
        images, labels = images[:-args.hold_out], labels[:-args.hold_out]
    else:
        check = [torch.tensor(a) for a in fashion_data.load("t10k")]
        check[1] = check[1].long()
    print(f"{sum(fashion_net.macs().values())} MAC per image")
    net = build()
    train(net, images, labels, args.epochs, check)
    np.savez(args.output, **folded(net))


if __name__ == "__main__":
    main()
