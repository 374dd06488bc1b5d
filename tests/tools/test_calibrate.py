#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""npu compile --calibrate: float networks as int8 on the NPU; TAP."""

import json
import os
import sys

import numpy as np
import onnx

import tooltest
from float_net import Net
from tooltest import ROOT, SANITIZED, npu

sys.path.insert(0, os.path.join(ROOT, 'tests/models'))
import float_model  # noqa: E402
import digits_data  # noqa: E402
import fashion_data  # noqa: E402

SAMPLES = 24
RUNS = 4
LEAST_DB = 24
EDGES = ('QuantizeLinear', 'DequantizeLinear')
MUTATIONS = int(os.environ.get('MUTATIONS', 150))


def decibels(exact, got):
    return 10 * np.log10(np.sum(exact ** 2) / max(np.sum((got - exact) ** 2), 1e-30))


def compiled(folder, model, samples, *options, tool=tooltest.TOOL):
    """Writes model and samples; returns the tool's result and the module's path."""
    paths = [os.path.join(folder, name) for name in ('m.onnx', 's.npy', 'm.npu')]
    onnx.save(model, paths[0])
    np.save(paths[1], samples)
    done = npu('compile', paths[0], '--calibrate', paths[1], '-o', paths[2], '--json', *options,
               tool=tool)
    return done, paths[2]


def on_npu(folder, module, sample):
    path = tooltest.write(os.path.join(folder, 'in'), sample.astype('<f4').tobytes())
    out = os.path.join(folder, 'out')
    done = npu('run', module, '--input', path, '--output', out)
    if done.status:
        raise RuntimeError(str(done))
    return np.frombuffer(tooltest.read(out), '<f4')


def plain(net):
    net.conv(8, 3, pad=1)
    net.relu()
    net.max_pool(2, 2)
    net.conv(12, 3, stride=2)
    net.flatten()
    net.gemm(7, False)


def normed(net):
    net.conv(8, 3, bias=False)
    net.norm()
    net.clip(0, 6)
    net.conv(16, 1)
    net.norm()
    net.relu()
    net.conv(4, 3, dilation=2)


def grouped(net):
    net.conv(8, 3, pad=1, group=2)
    net.relu()
    net.conv(8, 3, pad=1, group=8)
    net.clip(-0.5, 0.75)
    net.max_pool(3, 1)


def bounded_first(net):
    net.relu()
    net.conv(6, 3)
    net.max_pool(2, 2)
    net.relu()
    net.clip(0.25, 1.0)


def products(net):
    net.flatten()
    net.matmul(20)
    net.relu()
    net.gemm(9, True)
    net.relu()
    net.gemm(5, False, bias=False)


def check_networks(report, folder):
    for number, make in enumerate((plain, normed, grouped, bounded_first, products)):
        net = Net(number, SAMPLES, 4, 12, 12)
        make(net)
        done, module = compiled(folder, net.model(), net.samples)
        report.check(f'{make.__name__}: compiled', done.status == 0, done)
        if done.status:
            continue
        got = np.array([on_npu(folder, module, net.samples[i]) for i in range(RUNS)])
        ratio = decibels(net.values[:RUNS].reshape(RUNS, -1), got)
        report.check(f'{make.__name__}: the NPU is near to float', ratio > LEAST_DB, f'{ratio} dB')
        layers = json.loads(done.text)['calibration']['layers']
        last = layers[-1]['sqnr_db'] if layers else 0
        report.check(f'{make.__name__}: the report foretells it', abs(last - ratio) < 6,
                     f'reported {last}, found {ratio} dB')


def check_fashion(report, folder):
    weights = dict(np.load(os.path.join(ROOT, 'tests/models/fashion-float.npz')))
    images, labels = fashion_data.load('t10k')
    samples = fashion_data.as_input(images[:500])
    np.save(os.path.join(folder, 'labels.npy'), labels[:500])
    done, module = compiled(folder, float_model.build(weights), samples, '--labels',
                            os.path.join(folder, 'labels.npy'))
    report.check('Fashion-MNIST: compiled', done.status == 0, done)
    found = json.loads(done.text)
    accuracy = found['calibration']['accuracy_float32'], found['calibration']['accuracy_int8']
    report.check('Fashion-MNIST: int8 is as good as float, but for 1 %',
                 accuracy[0] > 0.9 and accuracy[1] > accuracy[0] - 0.01, accuracy)
    right = sum(on_npu(folder, module, samples[i]).argmax() == labels[i] for i in range(40))
    report.check('Fashion-MNIST: the NPU finds the classes', right >= 34, f'{right} of 40')
    report.check('Fashion-MNIST: all layers are on the NPU',
                 all(row['where'] != 'host' for row in found['operators']
                     if row['op'] not in EDGES), found['operators'])


def check_digits(report, folder):
    (samples, _), (images, labels) = digits_data.load()
    model = onnx.load(os.path.join(ROOT, 'tests/models/digits.onnx'))
    done, module = compiled(folder, model, samples[:300])
    report.check('digits: compiled', done.status == 0, done)
    right = sum(on_npu(folder, module, images[i]).argmax() == labels[i] for i in range(100))
    report.check('digits: the NPU reads the first 100 of the test images', right >= 95, right)


def bad_file(folder, name, change):
    path = os.path.join(folder, name)
    np.save(path, np.zeros((2, 4, 12, 12), np.float32))
    return tooltest.write(path, change(tooltest.read(path)))


def check_files(report, folder):
    net = Net(1, SAMPLES, 4, 12, 12)
    plain(net)
    _, module = compiled(folder, net.model(), net.samples)
    os.unlink(module)
    model = os.path.join(folder, 'm.onnx')
    for name, change, text in (
            ('no array', lambda data: b'hello, world', 'not an array'),
            ('cut header', lambda data: data[:20], 'cut off'),
            ('cut data', lambda data: data[:-4], 'the shape wants 1152 elements'),
            ('more data', lambda data: data + b'1234', 'the shape wants 1152 elements'),
            ('big-endian', lambda data: data.replace(b'<f4', b'>f4'), 'big-endian'),
            ('complex', lambda data: data.replace(b'<f4', b'<c4'), '"<c4'),
            ('columns', lambda data: data.replace(b'False', b'True '), 'column-major'),
            ('no shape', lambda data: data.replace(b'shape', b'shade'), 'no shape'),
            ('negative', lambda data: data.replace(b'(2, ', b'(-2,'), 'positive'),
            ('huge', lambda data: data.replace(b'12, 12)', b'1e9999)'), 'shape'),
            ('not finite', lambda data: data[:-4] + b'\0\0\x80\x7f', 'not finite'),
            ('other shape', lambda data: data.replace(b'2, 4, 12, 12', b'2, 12, 4, 12'),
             '[1,4,12,12], samples are [2,12,4,12]')):
        path = bad_file(folder, 'bad.npy', change)
        done = npu('compile', model, '--calibrate', path, '-o', module, tool=SANITIZED)
        report.check(f'{name} is refused', done.status == 1 and text in done.errors and
                     not os.path.exists(module), done)
    good = os.path.join(folder, 's.npy')
    for name, words, text in (
            ('an absent file', ('--calibrate', '/nosuch'), '/nosuch'),
            ('a second input', ('--calibrate', good, '--calibrate', good), '1 inputs'),
            ('labels that are no integers', ('--calibrate', good, '--labels', good), 'integers')):
        done = npu('compile', model, *words, '-o', module)
        report.check(f'{name} is refused', done.status == 1 and text in done.errors, done)
    np.save(good + '1.npy', np.zeros(SAMPLES - 1, np.int64))
    done = npu('compile', model, '--calibrate', good, '--labels', good + '1.npy', '-o', module)
    report.check('too few labels are refused', done.status == 1 and '23 labels for 24' in
                 done.errors, done)
    done = npu('compile', model, '--labels', good, '-o', module)
    report.check('labels alone are a usage error', done.status == 2, done)


def weights_from_outside(net):
    net.node('Conv', [net.normal(4, 4, 3, 3)])
    net.nodes[0].input[1] = 'x'


def unknown(net):
    net.node('Cos')


def norm_alone(net):
    net.relu()
    net.norm()


def check_models(report, folder):
    for make, text in ((weights_from_outside, 'must be a constant'), (unknown, 'Cos cos0'),
                       (norm_alone, 'can only follow a Conv')):
        net = Net(1, 4, 4, 12, 12)
        make(net)
        done, module = compiled(folder, net.model(), net.samples, tool=SANITIZED)
        report.check(f'{make.__name__} is refused', done.status == 1 and text in done.errors and
                     not os.path.exists(module), done)
    path = os.path.join(folder, 's.npy')
    np.save(path, np.zeros((2, 28, 28), np.uint8))
    done = npu('compile', tooltest.MODEL, '--calibrate', path, '-o', os.path.join(folder, 'm'))
    report.check('a quantised model is refused', done.status == 1 and 'quantised already' in
                 done.errors, done)


def check_mutations(report, folder):
    """A damaged model is compiled or refused, and nothing is read or written out of bounds."""
    net = Net(7, 2, 4, 12, 12)
    normed(net)
    samples = os.path.join(folder, 's.npy')
    np.save(samples, net.samples)
    whole = net.model().SerializeToString()
    random = np.random.default_rng(7)
    bad = []
    for _ in range(MUTATIONS):
        data = bytearray(whole)
        for at in random.integers(0, len(data), 3):
            # Most of a model is weights: the rest is what matters.
            data[at if random.random() < 0.3 else at % 400] ^= 1 << random.integers(0, 8)
        path = tooltest.write(os.path.join(folder, 'm.onnx'), bytes(data))
        done = npu('compile', path, '--calibrate', samples, '-o', os.path.join(folder, 'm.npu'),
                   '-q', tool=SANITIZED)
        if done.status not in (0, 1) or (done.status and 'm.onnx: ' not in done.errors):
            bad.append(str(done))
    report.check(f'{MUTATIONS} damaged models', not bad, '\n'.join(bad[:3]))


if __name__ == '__main__':
    tooltest.main(check_networks, check_fashion, check_digits, check_files, check_models, check_mutations)
