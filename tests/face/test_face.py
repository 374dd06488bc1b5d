#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""The face detector, quantised by the compiler, on photographs; TAP."""

import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.realpath(__file__))
sys.path.insert(0, os.path.join(HERE, '../tools'))
import tooltest  # noqa: E402
from tooltest import BUILD, npu  # noqa: E402

FACE = os.path.join(BUILD, 'tests/face/face')
NO_NETWORK = 3
# Pictures with the middle of their face in parts of the longer side; None without a face.
PICTURES = {'astronaut.png': (0.44, 0.25), 'grace_hopper.jpg': (0.5, 0.4), 'coffee.png': None}
NEAR = 0.12


def run(*words):
    return tooltest.Result(subprocess.run(
        [FACE, *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        env={**os.environ, 'NPU_DEVICE': 'sim'}, timeout=tooltest.TIMEOUT, check=False))


def compiled(report, folder, data):
    samples, module = os.path.join(folder, 's.npy'), os.path.join(folder, 'face.npu')
    pictures = [os.path.join(data, name) for name in sorted(os.listdir(data))
                if name.endswith(('.png', '.jpg'))]
    done = run('--samples', samples, *pictures)
    report.check('samples are made of photographs', done.status == 0, done)
    model = os.path.join(folder, 'face.onnx')
    subprocess.run([os.path.join(HERE, 'bound_scores.py'), os.path.join(data, 'face.onnx'), model],
                   check=True)
    done = npu('compile', model, '--calibrate', samples, '-o', module)
    report.check('the float detector is compiled', done.status == 0, done)
    return module


def check_picture(report, done, name, middle):
    line = re.search(rf'^{name}: (\d+) faces?, best score ([\d.]+)$', done.text, re.MULTILINE)
    found = int(line.group(1)) if line else -1
    report.check(f'{name} has {"one face" if middle else "no face"}', found == bool(middle), done)
    if middle and found == 1:
        place = re.search(rf'^{name}.*\n  face at \(([\d.]+), ([\d.]+)\)', done.text, re.MULTILINE)
        report.check(f'{name}: the face is where it is',
                     all(abs(float(place.group(i + 1)) - middle[i]) < NEAR for i in range(2)),
                     place.group(0))


def check_faces(report, folder):
    data = subprocess.run([os.path.join(HERE, 'data.sh')], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, check=False)
    if data.returncode == NO_NETWORK:
        report.skip('faces', data.stderr.strip().splitlines()[-1])
        return
    report.check('the detector and photographs are there', data.returncode == 0, data.stderr)
    data = data.stdout.strip()
    module = compiled(report, folder, data)
    done = run('--module', module, '--out', folder,
               *(os.path.join(data, name) for name in PICTURES))
    report.check('the detector runs', done.status == 0, done)
    for name, middle in PICTURES.items():
        check_picture(report, done, name, middle)
    last = done.text.splitlines()[-1] if done.text else ''
    report.check('the last line sums up', re.fullmatch(
        r'demo: images=3 faces=2 cycles_per_image=\d+ utilisation=0\.\d\d', last), last)
    report.check('pictures with boxes are written',
                 os.path.exists(os.path.join(folder, 'astronaut-faces.png')), os.listdir(folder))


def check_refusals(report, folder):
    path = tooltest.write(os.path.join(folder, 'bad.png'), b'\x89PNG\r\n\x1a\nbroken')
    done = run('--samples', os.path.join(folder, 's'), path)
    report.check('a broken PNG is refused', done.status == 1 and 'bad.png' in done.errors, done)
    tooltest.write(path, b'\xff\xd8broken')
    done = run('--samples', os.path.join(folder, 's'), path)
    report.check('a broken JPEG is refused', done.status == 1 and 'bad.png' in done.errors, done)
    done = run('--module', tooltest.module(folder), path)
    report.check('another network is refused', done.status == 1 and "not the detector's" in
                 done.errors, done)


if __name__ == '__main__':
    tooltest.main(check_faces, check_refusals)
