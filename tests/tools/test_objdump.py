#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""npu objdump, and what it and npu compile make of damaged files; TAP."""

import json
import os
import random
import struct

import tooltest
from tooltest import MODEL, SANITIZED, SANITIZER_STATUS, npu, read, write

FLIPS = 300
CUTS = 60
MODEL_FLIPS = 100


def check_text(report, folder):
    path = tooltest.module(folder)
    done = npu('objdump', path, device=None)
    report.check('functions with their inputs and outputs', done.status == 0 and all(
        line in done.text for line in ('function main (any number of items)',
                                       '  input image: float32 [1,1,28,28]',
                                       '  output logits: float32 [1,10]')), done)
    code = npu('objdump', '-d', path, device=None).text
    micro = npu('objdump', '-u', path, device=None).text
    mnemonics = {line.split()[1] for line in code.splitlines() if line.startswith('     ')}
    report.check('-d prints instructions', {'load.uop', 'load.inp', 'gemm', 'finish'} <= mnemonics,
                 sorted(mnemonics))
    report.check('-u adds micro-ops', 'uop[0] dst=' in micro and 'uop[' not in code and
                 [line for line in micro.splitlines() if 'uop[' not in line] == code.splitlines())
    report.check('long options do the same',
                 npu('objdump', '--disassemble', path).text == code and
                 npu('objdump', '--micro-ops', path).text == micro)
    done = npu('objdump', '-', data=read(path))
    report.check('a module may come from standard input', done.text == npu('objdump', path).text,
                 done)


def count_uops(text):
    """Micro-ops that the first load of them announces, and those printed below it."""
    lines = text.splitlines()
    at = next(i for i, line in enumerate(lines) if ' load.uop ' in line)
    announced = int(lines[at].split('1x')[1].split()[0])
    printed = 0
    while lines[at + 1 + printed].startswith('        uop['):
        printed += 1
    return announced, printed


def check_micro_ops(report, folder):
    path = tooltest.module(folder)
    announced, printed = count_uops(npu('objdump', '-u', path).text)
    report.check('all micro-ops of a load are printed', announced == printed > 0,
                 f'{announced} {printed}')
    facts = json.loads(npu('objdump', '-u', '--json', path).text)
    code = [insn for step in facts['functions'][0]['steps'] for insn in step.get('code', ())]
    loads = [insn for insn in code if insn['text'].startswith('load.uop')]
    report.check('the JSON has them, too', loads and
                 len(loads[0]['micro_ops']) == announced, loads)


def check_json(report, folder):
    path = tooltest.module(folder)
    plain = json.loads(npu('objdump', '--json', path).text)
    code = json.loads(npu('objdump', '-d', '--json', path).text)
    function = plain['functions'][0]
    report.check('JSON tells what the module is for', plain['kind'] == 'npu' and
                 plain['contract'] == '0.1' and plain['version'] == 1, plain)
    report.check('and of the functions', function['name'] == 'main' and function['batched'] and
                 function['inputs'] == [{'name': 'image', 'type': 'float32',
                                         'shape': [1, 1, 28, 28]}], function)
    steps = code['functions'][0]['steps']
    report.check('and with -d, the code', 'code' not in str(plain) and all(
        len(step['code']) == step['instructions'] for step in steps if step['where'] == 'npu') and
        sum(step.get('instructions', 0) for step in steps) == code['instructions'], code)


def check_refusals(report, folder):
    path = tooltest.module(folder)
    data = read(path)
    plan = data.index(b'NPLN')
    cases = (
        ('absent file', None, 'No such file'),
        ('empty file', b'', 'no ELF file'),
        ('text', b'hello, world\n' * 50, 'no ELF file'),
        ('program', read('/bin/true'), 'machine'),
        ('first half', data[:len(data) // 2], 'expected'),
        ('another magic', data.replace(b'NPLN', b'NPLM'), '0x4d4c504e'),
        ('another plan size', data[:plan + 4] + bytes(4) + data[plan + 8:], 'found 0x4e4c504e and 0'),
        ('a table outside', data[:plan + 12] + b'\xff\xff\xff\x7f' + data[plan + 16:], 'functions'),
        ('a table out of line', data[:plan + 8] + b'\x51\0\0\0' + data[plan + 12:], 'functions'),
        ('another section name', data.replace(b'.npu.plan', b'.npu.plam'), '.npu.plan'),
        ('a section twice', data.replace(b'.npu.const', b'.npu.plan\0'), 'twice'),
    )
    for name, content, text in cases:
        target = os.path.join(folder, name.replace(' ', '_'))
        if content is not None:
            write(target, content)
        done = npu('objdump', '-d', target)
        report.check(f'{name} is refused', done.status == 1 and text in done.errors and
                     done.errors.count('\n') == 1 and not done.output, done)


def check_functions_share_nothing(report, folder):
    """Steps named by several functions would be printed as often as someone likes."""
    data = bytearray(read(tooltest.module(folder)))
    plan = data.index(b'NPLN')
    function = plan + struct.unpack_from('<I', data, plan + 8)[0]
    struct.pack_into('<I', data, function + 28, 1)  # first_step
    target = write(os.path.join(folder, 'm'), data)
    done = npu('objdump', target)
    report.check('a function that skips a step is refused', done.status == 1 and
                 'steps: expected from 0' in done.errors, done)


def trial(words, data):
    """Anything is allowed but a crash, a finding of a sanitizer, or a hang."""
    done = npu(*words, tool=SANITIZED, data=data)
    good = done.status in (0, 1) and (done.status == 1) == bool(done.errors)
    return good, done


def mutations(data, seed, count):
    source = random.Random(seed)
    for number in range(count):
        changed = bytearray(data)
        # Half of them where structure is: headers, note, code, plan, names.
        for _ in range(source.choice((1, 1, 2, 8))):
            if number % 2:
                at = source.randrange(len(changed))
            else:
                at = source.choice((source.randrange(64), source.randrange(64, 2500),
                                    source.randrange(len(changed) - 6000, len(changed))))
            changed[at] = source.choice((changed[at] ^ 1 << source.randrange(8), 0, 0xff,
                                         source.randrange(256)))
        yield number, bytes(changed)


def check_all(report, name, trials):
    refused = total = 0
    for words, label, data in trials:
        good, done = trial(words, data)
        total += 1
        refused += done.status == 1
        if not good:
            report.check(name, False, f'{label}: {" ".join(words)}\n{done}')
            return
    report.check(f'{name} ({total} tried, {refused} refused)', 0 < refused, 'none was refused')


def check_damage(report, folder):
    data = read(tooltest.module(folder))
    done = npu('objdump', '-u', '--json', '-', tool=SANITIZED, data=data)
    report.check('the sanitized program does the same',
                 done.output == npu('objdump', '-u', '--json', '-', data=data).output, done)
    kinds = (('-u',), ('-u', '--json'), ())
    cuts = [len(data) * i // CUTS for i in range(CUTS)] + list(range(len(data) - 20, len(data)))
    check_all(report, 'modules cut short do no harm',
              ((('objdump', *kinds[size % 3], '-'), f'{size} bytes', data[:size]) for size in cuts))
    check_all(report, 'modules with flipped bits do no harm',
              ((('objdump', *kinds[number % 3], '-'), f'seed 1, {number}', changed)
               for number, changed in mutations(data, 1, FLIPS)))
    model = read(MODEL)
    target = os.path.join(folder, 'out')
    check_all(report, 'models with flipped bits do no harm',
              ((('compile', '-', '-q', '-o', target), f'seed 2, {number}', changed)
               for number, changed in mutations(model, 2, MODEL_FLIPS)))
    report.check('nothing stays behind but modules', set(os.listdir(folder)) <= {
        'fashion.npu', 'out'}, os.listdir(folder))


if __name__ == '__main__':
    assert SANITIZER_STATUS not in (0, 1, 2)
    tooltest.main(check_text, check_micro_ops, check_json, check_refusals,
                  check_functions_share_nothing, check_damage)
