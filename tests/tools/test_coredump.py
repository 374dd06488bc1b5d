#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""npu coredump on files: what it tells, and what it makes of damaged ones; TAP."""

import json
import os
import random
import struct

import tooltest
from tooltest import SANITIZED, SANITIZER_STATUS, npu, write

CODE = 0x100000
FINISH = 3  # opcode
MUTANTS = 150


def note(kind, data):
    return struct.pack('<III', 4, len(data), 0x4e550000 + kind) + b'NPU\0' + data + \
        bytes(-len(data) % 4)


def text(value, size):
    return value.encode().ljust(size, b'\0')


def device(reason, guilty):
    return struct.pack('<QQ14I', 1700000000000000000, 7, reason, guilty, 0, 1, 0x4e500001, 0, 0x100,
                       0x5f, 1, 1, 64, 63, 1000000, 20000) + bytes(32) + \
        text('npu_sim.npu.0', 64) + text('6.12.0', 64)


def queue(slot, flags, comm):
    return struct.pack('<11Q15IHBBBB6x', 42, 10**9, 9, 8, 1, 5000, 6000, 21000, 8, CODE, 0xdead000,
                       slot, 1, 2, 1, 1, flags, 9, 9, 1, 8, 9, 128, 1, 3, 4711, 1, 1, 2, 0,
                       0) + text(comm, 16)


def job(number):
    return struct.pack('<5Q4I', number, CODE, 0, 0, 0, 3, 0, 0x10005, 8)


def completion(slot):
    return struct.pack('<IHBBQQ', 0x77, 3, 0, 0, 1234, 0) + bytes(32) + struct.pack(
        '<HHI', slot, 0, 1)


def log(sequence, what, code, arg0):
    return struct.pack('<IBBHQIIQ', sequence, what, code, 3, 100 * sequence, arg0, 0, 0)


def dump(reason=1, guilty=3, comm='worker', more=b''):
    """A dump as the driver writes it: a guilty queue with a job of three instructions."""
    notes = note(1, device(reason, guilty)) + note(2, struct.pack('<8I', 0xc0, 2, 0xc4, 0, 0xc8, 9, 0x84, 1)) + \
        note(5, struct.pack('<4I', 1, 1, 1, 0) + completion(3)) + \
        note(3, queue(3, 1 if guilty else 0, comm)) + note(4, job(9)) + note(3, queue(4, 0, 'other')) + \
        note(8, log(2, 3, 1, 0x55) + log(1, 1, 1, 0x100) + bytes(32)) + note(99, b'unknown') + more
    code = bytes(32) + struct.pack('<QQ', FINISH, 0)
    at = 64 + 2 * 56
    head = b'\x7fELF' + bytes((2, 1, 1)) + bytes(9) + struct.pack('<HHIQQQIHHHHHH', 4, 0, 1, 0, 64, 0,
                                                              0, 64, 56, 2, 0, 0, 0)
    segments = struct.pack('<IIQQQQQQ', 4, 0, at, 0, 0, len(notes), 0, 4)
    segments += struct.pack('<IIQQQQQQ', 1, 5, at + len(notes), CODE, 1, len(code), len(code), 16)
    return head + segments + notes + code


def check_text(report, folder):
    path = write(os.path.join(folder, 'dump'), dump())
    done = npu('coredump', path)
    for name, words in (
            ('the device', ('npu_sim.npu.0', 'kernel 6.12.0', 'firmware 0.1.0')),
            ('who is to blame', ('queue 3', 'worker', 'process 4711', 'client 42', 'is banned')),
            ('what happened', ('for 20000 ms',)),
            ('how the firmware was', ('state ready, heartbeat 9, processor running',)),
            ('the job', ('job 9 (cmd_id 0x10005): 3 instructions at 0x100000',)),
            ('its instructions', ('0x100020  finish',)),
            ('the fault before', ('job that failed before was 8: fault, unmapped at 0xdead000',
                                  'read by load')),
            ('the instruction at fault', ('->      1  0x100010',)),
            ('what ended', ('queue 3 cmd_id 0x77: aborted, 1234 cycles',)),
            ('the log, in order', ('100 boot', '200 job cmd_id 0x55: fault')),
            ('what to do', ('What to do', 'report it'))):
        report.check(f'tells {name}', done.status == 0 and all(word in done.text for word in words),
                     done)
    report.check('the log begins with the oldest entry',
                 done.text.index('100 boot') < done.text.index('200 job'), done)
    for reason, guilty, word in ((3, 0, 'asked for a reset'), (2, 0, 'The firmware was lost'),
                                 (1, 0, 'not known in whose job')):
        done = npu('coredump', '-', data=dump(reason, guilty))
        report.check(f'reason {reason} has words of its own', done.status == 0 and word in done.text,
                     done)
    done = npu('coredump', '-', data=dump(comm='\033[31mred'))
    report.check('names do not reach the terminal as they are',
                 done.status == 0 and '\033' not in done.text and r'\x1b[31mred' in done.text, done)


def check_json(report, folder):
    path = write(os.path.join(folder, 'dump'), dump())
    facts = json.loads(npu('coredump', '--json', path).text)
    report.check('JSON has the reason', facts['reason'] == 'hang' and
                 facts['device']['guilty'] == 3, facts)
    first, other = facts['queues']
    report.check('and the queues', first['guilty'] and not other['guilty'] and
                 first['pid'] == 4711 and first['comm'] == 'worker', facts)
    report.check('and the jobs', [j['job'] for j in first['jobs']] == [9] and not other['jobs'])
    report.check('and the failure', first['failure']['fault'] == 'unmapped' and
                 first['failure']['insn'] == 1, first)
    report.check('and the code', facts['code'][0]['va'] == CODE and
                 facts['code'][0]['instructions'][2] == 'finish', facts['code'])
    report.check('and the registers by name', facts['registers']['HEARTBEAT'] == 9,
                 facts['registers'])
    report.check('and the log', [e['sequence'] for e in facts['firmware_log']] == [1, 2])
    target = os.path.join(folder, 'copy')
    done = npu('coredump', path, '-o', target)
    report.check('-o keeps the dump', done.status == 0 and
                 tooltest.read(target) == tooltest.read(path), done)


def check_refusals(report, folder):
    whole = dump()
    wrong = {'an empty file': (b'', 'at least 64'),
             'what is no ELF file': (b'x' * 100, 'no ELF file'),
             'an ELF file of another kind': (whole[:16] + b'\2\0' + whole[18:], 'type 2'),
             'a file cut short': (whole[:300], 'the file has 300'),
             'a file without its segments': (whole[:100], 'segments'),
             'a dump without a device': (dump(reason=0), 'no note about a device')}
    for name, (data, words) in wrong.items():
        done = npu('coredump', write(os.path.join(folder, 'x'), data))
        report.check(f'{name} is refused', done.status == 1 and words in done.errors and
                     not done.output, done)
    done = npu('coredump', '/nosuch')
    report.check('a name that is nothing is refused', done.status == 1 and '/nosuch' in done.errors,
                 done)


def check_mutants(report, _folder):
    """Damaged dumps, in a build with sanitizers."""
    rng = random.Random(5)
    whole = dump()
    bad = []
    for i in range(MUTANTS):
        data = bytearray(whole)
        for _ in range(rng.choice((1, 1, 2, 8))):
            data[rng.randrange(len(data))] = rng.choice((0, 1, 0x7f, 0x80, 0xff, rng.randrange(256)))
        if i % 4 == 0:
            del data[rng.randrange(len(data)):]
        words = ('coredump', '-') if i % 2 else ('coredump', '--json', '-')
        done = npu(*words, tool=SANITIZED, data=bytes(data))
        if done.status not in (0, 1) or done.status == SANITIZER_STATUS:
            bad.append(f'{i}: {done}')
    report.check(f'{MUTANTS} damaged dumps do no harm', not bad, '\n'.join(bad[:3]))


if __name__ == '__main__':
    tooltest.main(check_text, check_json, check_refusals, check_mutants)
