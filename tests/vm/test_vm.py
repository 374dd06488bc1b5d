#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""The virtual machine itself: what goes in and out, and that each way to fail shows; TAP."""

import os
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.realpath(__file__))
sys.path.insert(0, HERE)
from machine import Machine, Marked  # noqa: E402

FAILED = 125
# All bytes, so that no terminal's translation goes unnoticed.
BYTES = bytes(range(256)) * 40
RETRY = 'vm: the emulator failed while the kernel booted'


class Report:
    def __init__(self, count):
        self.number = 0
        self.failed = 0
        print(f'1..{count}')

    def check(self, name, good, detail=''):
        self.number += 1
        print(f'{"ok" if good else "not ok"} {self.number} - {name}', flush=True)
        if not good:
            self.failed += 1
            for line in str(detail).splitlines()[-60:]:
                print('# ' + line)


def run(*arguments):
    done = subprocess.run([os.path.join(HERE, 'run'), *arguments], stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    lines = done.stderr.decode(errors='replace').splitlines(keepends=True)
    # A boot that was tried again is no matter of these tests.
    return done.returncode, done.stdout, ''.join(line for line in lines if RETRY not in line)


def check_channels(report, folder):
    with open(os.path.join(folder, 'bytes'), 'wb') as file:
        file.write(BYTES)
    log = os.path.join(folder, 'log')
    release = subprocess.run([os.path.join(HERE, 'kernel.sh'), '--get', 'version'],
                             stdout=subprocess.PIPE, text=True, check=True).stdout.strip()
    status, output, errors = run(
        '--share', f'{folder}:/mnt', '--add', f'{folder}/bytes:/data/bytes', '--log', log,
        '--module', 'drm_shmem_helper', '--allow', 'WARNING: expected', '--exec',
        'cat /data/bytes; cat /data/bytes > /mnt/back; cat /proc/version > /mnt/version;'
        'echo aside >&2; echo "WARNING: expected" > /dev/kmsg;'
        'grep -c ^drm_shmem_helper /proc/modules > /mnt/modules; exit 7')
    report.check('exit status passes through', status == 7, f'{status}\n{errors}')
    report.check('output is exact', output == BYTES, f'{len(output)} bytes\n{errors}')
    report.check('error channel is apart', errors == 'aside\n', errors)
    report.check('shared folder is written', read(folder, 'back') == BYTES, errors)
    version = read(folder, 'version').decode()
    report.check('kernel is the one of the cache', f'version {release} ' in version, version)
    report.check('module with dependencies is loaded', read(folder, 'modules') == b'1\n', errors)
    report.check('kernel log is kept', b'WARNING: expected' in read(folder, 'log'), errors)


def read(folder, name):
    try:
        with open(os.path.join(folder, name), 'rb') as file:
            return file.read()
    except OSError:
        return b''


def check_faults(report):
    status, _, errors = run('--exec', 'echo "WARNING: planted" > /dev/kmsg; exit 3')
    report.check('warning of the kernel fails the run', status == FAILED, f'{status}\n{errors}')
    report.check('warning is shown', 'WARNING: planted' in errors, errors)
    status, _, errors = run('--exec', 'echo c > /proc/sysrq-trigger; exit 3')
    report.check('panic fails the run', status == FAILED, f'{status}\n{errors}')
    report.check('panic is shown', 'sysrq triggered crash' in errors, errors)
    status, _, errors = run('--timeout', '15', '--exec', 'sleep 100000')
    report.check('hang fails the run', status == FAILED, f'{status}\n{errors}')
    report.check('hang is named', 'hangs' in errors, errors)


def check_refusals(report):
    for name, words, text in (
            ('unknown module', ('--module', 'nosuch', '--exec', 'true'), 'nosuch'),
            ('absent file', ('--add', '/nosuch', '--exec', 'true'), '/nosuch'),
            ('absent program', ('/nosuch',), '/nosuch'),
            ('no command', (), 'nothing to run'),
            ('unknown kernel', ('--kernel', 'nosuch', '--exec', 'true'), 'nosuch')):
        status, _, errors = run(*words)
        report.check(f'{name} is refused', status == FAILED and text in errors, errors)


class BootedKernel:
    image = '/none'


def check_missed_patch(report):
    machine = Machine(BootedKernel, '/none', 'mark')
    machine.problem = 'the machine went down before the command ended'
    report.check('another early end is not tried again', not machine.missed_patch())
    machine.log += b'[    2.873339] Oops: int3: 0000 [#1] PREEMPT SMP NOPTI\r\n'
    report.check('an early breakpoint is', machine.missed_patch())
    machine.heard = True
    report.check('one after user space has begun is not', not machine.missed_patch())


def check_marks(report):
    stream = b'one\x1eab\x1eabctwo\x1eabc\x1eabc\x1eab'
    wrong = []
    for size in range(1, len(stream) + 1):
        marked = Marked(b'\x1eabc')
        data = b''.join(marked.take(stream[at:at + size]) for at in range(0, len(stream), size))
        if (data, marked.rest, marked.count) != (b'one\x1eabtwo', b'\x1eab', 3):
            wrong.append((size, data, marked.rest, marked.count))
    report.check('marks are found wherever the stream is cut', not wrong, wrong)


class Ports(Machine):
    """A machine whose channels a test feeds by hand."""

    def __init__(self):
        super().__init__(BootedKernel, '/none', '|')
        self.seen = []
        self.on_output = lambda data: self.seen.append(data.decode())
        self.on_control = self.seen.append

    def feed(self, **channels):
        for name, data in channels.items():
            self.channels[name][1].send(data)
            self._receive(name)
            self._obey()


def check_order(report):
    machine = Ports()
    machine.feed(ctl=b'end 0\n', err=b'|', out=b'late|')
    report.check('control waits for the output before it', machine.seen == ['late', 'end 0'],
                 machine.seen)
    machine.feed(ctl=b'fault no port\n')
    report.check('a fault waits for nothing', machine.problem == 'no port', machine.problem)


def main():
    report = Report(24)
    check_marks(report)
    check_order(report)
    check_missed_patch(report)
    with tempfile.TemporaryDirectory() as folder:
        check_channels(report, folder)
    check_faults(report)
    check_refusals(report)
    return 1 if report.failed else 0


if __name__ == '__main__':
    sys.exit(main())
