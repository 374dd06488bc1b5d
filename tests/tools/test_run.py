#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""npu run, info and list on a device inside the process; TAP."""

import json
import os
import sys

import tooltest
from tooltest import MODEL, npu, read, write

sys.path.insert(0, os.path.join(tooltest.ROOT, 'tests/models'))
import fashion_data  # noqa: E402
import reference  # noqa: E402

IMAGES = 5
PIXELS = 28 * 28 * 4
LOGITS = 10 * 4


def make_inputs(folder):
    pictures = fashion_data.as_input(fashion_data.load('t10k')[0][:IMAGES])
    return pictures, write(os.path.join(folder, 'in.f32'), pictures.tobytes())


def expected_of(pictures):
    model = reference.Model(MODEL)
    values = reference.evaluate(model, {model.inputs[0]: pictures})
    return values[model.outputs[0]].astype('<f4').tobytes()


def check_values(report, folder):
    path = tooltest.module(folder)
    pictures, source = make_inputs(folder)
    target = os.path.join(folder, 'out.f32')
    done = npu('run', path, '--items', str(IMAGES), '-i', source, '-o', target)
    want = expected_of(pictures)
    report.check('a batch runs', done.status == 0 and not done.errors, done)
    report.check('its outputs are those of the reference', read(target) == want)
    single = b''
    for image in range(IMAGES):
        one = read(source)[image * PIXELS:(image + 1) * PIXELS]
        npu('run', path, '--input', '-', '--output', target, '-q', data=one)
        single += read(target)
    report.check('one by one they are the same', single == want)
    npu('run', path, '--items', str(IMAGES), f'--input={source}', f'--output={target}', '-q',
        NPU_FIRMWARE=os.path.join(tooltest.BUILD, 'firmware/cp/npu_fw.bin'))
    report.check('and with the firmware named', read(target) == want)


def check_report(report, folder):
    path = tooltest.module(folder)
    one = json.loads(npu('run', path, '--json').text)
    three = json.loads(npu('run', path, '--json', '--items', '3').text)
    steps = {step['step']: step for step in one['steps']}
    on_npu = [step for step in one['steps'] if step['where'] == 'npu']
    report.check('the JSON names function, device and items',
                 (one['function'], one['device'], one['items']) == ('main', 'sim', 1), one)
    report.check('steps of host and NPU', len(steps) == len(one['steps']) and on_npu and
                 steps['quantize_linear']['where'] == 'host', one)
    report.check('sums are those of the steps', one['useful_macs'] == 2740608 and
                 one['cycles'] == sum(step['cycles'] for step in on_npu) > 0, one)
    report.check('utilisation is useful MAC per cycle over 256',
                 abs(one['utilisation'] - one['useful_macs'] / 256 / one['cycles']) < 1e-9, one)
    report.check('units are busy for no longer than the step', all(
        0 < step[f'busy_{unit}'] <= step['cycles'] for step in on_npu
        for unit in ('load', 'compute', 'store')), one)
    report.check('a batch counts all its items', three['useful_macs'] == 3 * one['useful_macs'] and
                 all(step['runs'] == 3 for step in three['steps']), three)
    again = json.loads(npu('run', path, '--json', '--seed', '7').text)
    report.check('cycles depend neither on the run nor on the data',
                 again['cycles'] == one['cycles'], again)
    done = npu('run', path)
    report.check('the table has a line for each step',
                 len(done.text.splitlines()) == len(steps) + 2 and
                 f' {one["cycles"]} ' in done.text, done)


def check_random_inputs(report, folder):
    path = tooltest.module(folder)
    outputs = []
    for number, seed in enumerate(('1', '1', '2')):
        target = os.path.join(folder, f'out{number}')
        npu('run', path, '--seed', seed, '-o', target, '-q')
        outputs.append(read(target))
    report.check('random inputs depend on the seed alone',
                 outputs[0] == outputs[1] != outputs[2] and len(outputs[0]) == LOGITS)


def check_refusals(report, folder):
    path = tooltest.module(folder)
    short = write(os.path.join(folder, 'short'), bytes(PIXELS - 1))
    right = write(os.path.join(folder, 'right'), bytes(PIXELS))
    target = os.path.join(folder, 'out')
    for name, words, texts in (
            ('a file too short', ('-i', short), (short, f'{PIXELS} bytes', str(PIXELS - 1))),
            ('a file for another batch', ('-i', right, '--items', '2'), (str(2 * PIXELS),)),
            ('an empty file', ('-i', '-'), (f'{PIXELS} bytes', 'has 0')),
            ('an absent file', ('-i', target + 'x'), ('No such file',)),
            ('too many inputs', ('-i', right, '-i', right), ('1 inputs', '2 and 1')),
            ('too many outputs', ('-o', target), ('1 outputs', '0 and 2')),
            ('an unknown function', ('--function', 'nosuch'), ('"nosuch"', 'main')),
            ('an unwritable output', ('-o', '/proc/x'), ('/proc/x',))):
        output = () if name == 'an unwritable output' else ('-o', target)
        done = npu('run', path, *words, *output)
        report.check(f'{name} is refused', done.status == 1 and
                     all(text in done.errors for text in texts) and
                     not done.output and not os.path.exists(target), done)
    done = npu('run', short)
    report.check('what is no module is refused', done.status == 1 and short in done.errors, done)
    damaged = write(os.path.join(folder, 'cut.npu'), read(path)[:-100])
    done = npu('run', damaged, '-o', target)
    report.check('a module cut short is refused', done.status == 1 and
                 damaged in done.errors and not os.path.exists(target), done)


def check_devices(report, folder):
    path = tooltest.module(folder)
    for name, words, settings, text in (
            ('absent node', (), {'device': '/dev/accel/accel99'}, 'accel99'),
            ('node of another kind', (), {'device': '/dev/null'}, '/dev/null'),
            ('absent firmware', (), {'NPU_FIRMWARE': '/nosuch'}, '/nosuch'),
            ('firmware that is none', (), {'NPU_FIRMWARE': MODEL}, 'magic'),
            ('--device goes first', ('--device', '/dev/null'), {}, '/dev/null')):
        done = npu('run', path, *words, **settings)
        report.check(f'{name}', done.status == 1 and text in done.errors and not done.output, done)
    done = npu('run', path, '--device', 'sim', '-q', device='/dev/null')
    report.check('--device sim needs no driver', done.status == 0, done)


def check_info(report, _folder):
    facts = json.loads(npu('info', '--json').text)
    report.check('info of the device inside the process', facts['path'] == 'sim' and
                 facts['backend'] == 'sim' and facts['cores'] == 1 and
                 'requant' in facts['hw_features'], facts)
    named = npu('info', 'sim', '--json', device='/dev/null')
    report.check('a device that is named goes before NPU_DEVICE',
                 named.status == 0 and json.loads(named.text) == facts, named)
    lines = npu('info').text.splitlines()
    report.check('the text names the same', [line.split()[0] for line in lines] == list(facts),
                 lines)
    done = npu('info', '/dev/accel/accel99')
    report.check('info of an absent device', done.status == 1 and 'accel99' in done.errors, done)
    done = npu('list', '--json')
    report.check('list prints an array', done.status == 0 and
                 isinstance(json.loads(done.text), list), done)


if __name__ == '__main__':
    tooltest.main(check_values, check_report, check_random_inputs, check_refusals, check_devices,
                  check_info)
