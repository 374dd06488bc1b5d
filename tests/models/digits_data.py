# SPDX-License-Identifier: MIT
"""Handwritten digits of 8 x 8 pixels from a package of Debian."""
import os
import subprocess

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
SIDE = 8
WHITE = 16
COUNT = 1797
# The last ones are for tests alone.
TESTS = 500


def load():
    """Return (images float32 [n][1][8][8] in [0, 1], labels [n]) of training, and of tests."""
    path = subprocess.run([os.path.join(HERE, "digits_data.sh")],
                          stdout=subprocess.PIPE, text=True,
                          check=True).stdout.strip()
    table = np.loadtxt(path, delimiter=",")
    if table.shape != (COUNT, SIDE * SIDE + 1):
        raise ValueError(f"{path}: expected {COUNT} rows of {SIDE * SIDE + 1} "
                         f"numbers, found {table.shape}")
    images = (table[:, :-1].reshape(-1, 1, SIDE, SIDE) / WHITE).astype(np.float32)
    labels = table[:, -1].astype(np.int64)
    return (images[:-TESTS], labels[:-TESTS]), (images[-TESTS:], labels[-TESTS:])
