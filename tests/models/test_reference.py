#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""The reference evaluator against ONNX's vectors, hand-worked values and the
recorded results of the Fashion-MNIST model; TAP."""

import hashlib
import json
import os
import sys
import tempfile

import numpy as np

import fashion_data
import reference

VECTORS = "/usr/share/libonnx-testdata/data/node"
CONFORMANCE = (
    "qlinearconv", "qlinearmatmul_2D", "qlinearmatmul_3D", "quantizelinear",
    "dequantizelinear", "maxpool_2d_uint8", "clip_default_int8_min",
    "clip_default_int8_max", "clip_default_int8_inbounds",
)
MODEL = os.path.join(reference.HERE, "fashion.onnx")


def conformance(name):
    folder = os.path.join(VECTORS, "test_" + name)
    if not os.path.exists(folder):
        folder += "_uint8_float32"  # the name since ONNX 1.15

    def tensor(file):
        with open(os.path.join(folder, "test_data_set_0", file), "rb") as f:
            return reference.read_tensor(f.read())[1]

    model = reference.Model(os.path.join(folder, "model.onnx"))
    inputs = {n: tensor(f"input_{i}.pb") for i, n in enumerate(model.inputs)}
    found = reference.evaluate(model, inputs)[model.outputs[0]]
    expected = tensor("output_0.pb")
    return found.dtype == expected.dtype and np.array_equal(found, expected)


def requantised(values, scale, zero_point=0):
    acc = np.array(values, np.int64).reshape(-1, 1)
    return reference.requantise(
        acc, 1.0, np.array([scale], np.float32), 1.0,
        np.int8(zero_point)).ravel().tolist()


def ties_go_to_even():
    return requantised([1, 3, 5, -1, -3], 0.5) == [0, 2, 2, 0, -2]


def results_saturate():
    return requantised([1000, -1000, 127, -129], 1) == [127, -128, 127, -128]


def clamp_comes_before_zero_point():
    return requantised([300, -300, 1], 1, 5) == [127, -128, 6]


def accumulator_becomes_float32_first():
    # 129 * 2^17 + 1 is no float32 and loses its last bit: the product is 64.5,
    # a tie that goes to 64. In float64 it lies above the tie and gives 65.
    return requantised([129 << 17, (129 << 17) + 1], 2.0 ** -18) == [64, 64]


def sums_are_exact_beyond_float32():
    x, w = np.full((1, 2000), 127, np.int16), np.full((2000, 1), 127, np.int16)
    x[0, 0] = 126
    return reference.product_sum(x, w)[0, 0] == 2000 * 127 * 127 - 127


def pool_ignores_its_border():
    x = np.full((1, 1, 2, 2), -100, np.int8)
    values = reference.windows(x, (3, 3), (2, 2), (1, 1, 1, 1), -128)
    return values.max(axis=(4, 5)).tolist() == [[[[-100]]]]


def damaged_models_are_refused():
    with open(MODEL, "rb") as f:
        whole = f.read()
    refused = 0
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "damaged.onnx")
        cuts = range(0, len(whole), 997)
        for cut in cuts:
            with open(path, "wb") as f:
                f.write(whole[:cut])
            try:
                reference.Model(path)
            except reference.ModelError:
                refused += 1
    return refused == len(cuts)


def model_is_small():
    return os.path.getsize(MODEL) < 500000


def model_matches_its_digest():
    with open(os.path.join(reference.HERE, "fashion.json"),
              encoding="ascii") as f:
        expected = json.load(f)
    model = reference.Model(MODEL)
    images, _ = fashion_data.load("t10k")
    logits = reference.logits_of(model, images[:1000])
    macs = reference.layer_macs(model)
    return (hashlib.sha256(logits.tobytes()).hexdigest() ==
            expected["logits_sha256_1000"] and
            macs == expected["macs"] and
            sum(macs.values()) == expected["macs_per_image"] <= 3000000 and
            expected["accuracy_10000"] > 0.9)


def main():
    tests = [("vector " + name, lambda name=name: conformance(name))
             for name in CONFORMANCE]
    tests += [(f.__name__.replace("_", " "), f) for f in (
        ties_go_to_even, results_saturate, clamp_comes_before_zero_point,
        accumulator_becomes_float32_first, sums_are_exact_beyond_float32,
        pool_ignores_its_border, damaged_models_are_refused, model_is_small,
        model_matches_its_digest)]
    print(f"1..{len(tests)}")
    failed = 0
    for number, (name, test) in enumerate(tests, 1):
        try:
            good, why = bool(test()), ""
        except Exception as error:  # a test that cannot run has failed
            good, why = False, f" # {type(error).__name__}: {error}"
        failed += not good
        print(f"{'ok' if good else 'not ok'} {number} - {name}{why}")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
