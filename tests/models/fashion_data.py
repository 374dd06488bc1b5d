# SPDX-License-Identifier: MIT
"""Fashion-MNIST from Debian's package dataset-fashion-mnist."""
import gzip
import os
import struct

import numpy as np

DATASET = "/usr/share/datasets/fashion-mnist"


def read_idx(path):
    """Return the uint8 array of a gzip-compressed IDX file."""
    with gzip.open(path) as f:
        data = f.read()
    if len(data) < 4 or data[:3] != b"\0\0\x08":
        raise ValueError(f"{path}: expected an IDX file of unsigned bytes, "
                         f"found magic {data[:4].hex()}")
    rank = data[3]
    shape = struct.unpack_from(f">{rank}I", data, 4)
    found = len(data) - 4 - 4 * rank
    if found != np.prod(shape):
        raise ValueError(f"{path}: expected {np.prod(shape)} elements, "
                         f"found {found}")
    return np.frombuffer(data, np.uint8, offset=4 + 4 * rank).reshape(shape)


def load(part, folder=DATASET):
    """Return (images [n][28][28], labels [n]) of part "train" or "t10k"."""
    images = read_idx(os.path.join(folder, f"{part}-images-idx3-ubyte.gz"))
    labels = read_idx(os.path.join(folder, f"{part}-labels-idx1-ubyte.gz"))
    if images.shape != (len(labels), 28, 28):
        raise ValueError(f"{part}: {images.shape} images for "
                         f"{len(labels)} labels")
    return images, labels


def as_input(images):
    """Pixels as the network takes them: float32 [n][1][28][28] in [0, 1]."""
    return images[:, None].astype(np.float32) / np.float32(255)
