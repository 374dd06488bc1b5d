# SPDX-License-Identifier: MIT
"""Runs the npu command and reports TAP."""

import os
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.realpath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
BUILD = os.path.join(ROOT, os.environ.get('O', 'build'))
TOOL = os.path.join(BUILD, 'userspace/tools/npu')
SANITIZED = os.path.join(BUILD, 'tests/tools/npu')
MODEL = os.path.join(ROOT, 'tests/models/fashion.onnx')
# What sanitizers exit with; the tool itself says 0, 1 or 2.
SANITIZER_STATUS = 99
TIMEOUT = 300


class Result:
    def __init__(self, done):
        self.status = done.returncode
        self.output = done.stdout
        self.errors = done.stderr.decode(errors='replace')

    @property
    def text(self):
        return self.output.decode(errors='replace')

    def __str__(self):
        return f'status {self.status}\n{self.text[-2000:]}\n{self.errors[-4000:]}'


def npu(*words, tool=TOOL, device='sim', data=b'', **environment):
    """Runs the command; @device is NPU_DEVICE, None for none."""
    env = {name: value for name, value in os.environ.items() if not name.startswith('NPU_')}
    if device is not None:
        env['NPU_DEVICE'] = device
    env['ASAN_OPTIONS'] = f'exitcode={SANITIZER_STATUS}:allocator_may_return_null=1'
    env['UBSAN_OPTIONS'] = f'exitcode={SANITIZER_STATUS}:halt_on_error=1:print_stacktrace=1'
    env.update(environment)
    return Result(subprocess.run([tool, *words], input=data, env=env, timeout=TIMEOUT,
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False))


class Report:
    """One line a check, the plan at the end."""

    def __init__(self):
        self.number = 0
        self.failed = 0

    def check(self, name, good, detail=''):
        self.number += 1
        print(f'{"ok" if good else "not ok"} {self.number} - {name}', flush=True)
        if not good:
            self.failed += 1
            for line in str(detail).splitlines()[-60:]:
                print('# ' + line)


    def skip(self, name, reason):
        self.number += 1
        print(f'ok {self.number} - {name} # SKIP {reason}', flush=True)


def main(*groups):
    """Each group gets the report and a folder of its own."""
    report = Report()
    for group in groups:
        with tempfile.TemporaryDirectory(prefix='npu-tools-') as folder:
            group(report, folder)
    print(f'1..{report.number}')
    sys.exit(1 if report.failed else 0)


def read(path):
    with open(path, 'rb') as file:
        return file.read()


def write(path, data):
    with open(path, 'wb') as file:
        file.write(data)
    return path


def module(folder, *options):
    """The compiled test model."""
    path = os.path.join(folder, 'fashion.npu')
    done = npu('compile', MODEL, '-o', path, '-q', *options)
    if done.status:
        raise RuntimeError(str(done))
    return path
