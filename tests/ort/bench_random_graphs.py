#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Figures of the random graphs: how many ran, how many differ from ONNX Runtime."""
import os
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
import random_graphs  # noqa: E402
import runner  # noqa: E402


def main():
    try:
        result = random_graphs.run(range(random_graphs.COUNT))
    except runner.NoReference as reason:
        print(f"# no ONNX Runtime to compare with: {reason}")
        print("random_graphs 0")
        return 0
    for line in result.wrong:
        print("# " + line)
    print(f"random_graphs {result.graphs}")
    print(f"random_graph_mismatches {len(result.wrong)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
