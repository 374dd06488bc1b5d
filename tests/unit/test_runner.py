#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""tests/run against programs that behave well and badly; TAP."""

import os
import signal
import subprocess
import sys
import tempfile
import time

RUN = os.path.join(os.path.dirname(os.path.realpath(__file__)), '..', 'run')

ATTEMPTS = 400  # a killed process takes a moment to go

# name, body of a shell script, expected last line, expected exit status
CASES = [
    ('all pass', 'echo 1..2; echo "ok 1 - a"; echo "ok 2 - b"', '2 passed, 0 failed, 0 skipped', 0),
    ('one fails', 'echo 1..2; echo "ok 1 - a"; echo "not ok 2 - b"; exit 1',
     '1 passed, 1 failed, 0 skipped', 1),
    ('a failure with exit status 0', 'echo 1..2; echo "ok 1"; echo "not ok 2"',
     '1 passed, 1 failed, 0 skipped', 1),
    ('exit status without a failed test', 'echo 1..1; echo "ok 1 - a"; exit 3',
     '1 passed, 1 failed, 0 skipped', 1),
    ('killed', 'echo 1..1; echo "ok 1 - a"; kill -SEGV $$', '1 passed, 1 failed, 0 skipped', 1),
    ('hangs', 'echo 1..1; echo "ok 1 - a"; sleep 1000', '1 passed, 1 failed, 0 skipped', 1),
    ('silent', 'exit 0', '0 passed, 1 failed, 0 skipped', 1),
    ('plan not met', 'echo 1..3; echo "ok 1"; echo "ok 2"', '2 passed, 1 failed, 0 skipped', 1),
    ('more than planned', 'echo 1..1; echo "ok 1"; echo "ok 2"', '2 passed, 1 failed, 0 skipped', 1),
    ('no plan', 'echo "ok 1"; echo "ok 2"', '2 passed, 1 failed, 0 skipped', 1),
    ('plan at the end', 'echo "ok 1"; echo 1..1', '1 passed, 0 failed, 0 skipped', 0),
    ('several plans', 'echo 1..1; echo "ok 1"; echo 1..1; echo "ok 1"',
     '2 passed, 0 failed, 0 skipped', 0),
    ('skip as kselftest writes it', 'echo 1..2; echo "ok 1 # SKIP no board"; echo "ok 2 - b"',
     '1 passed, 0 failed, 1 skipped', 0),
    ('skip as cmocka writes it', 'echo 1..2; echo "not ok 1 # SKIP a"; echo "ok 2 - b"',
     '1 passed, 0 failed, 1 skipped', 0),
    ('all skipped is no success', 'echo "1..0 # SKIP nothing here"; exit 4',
     '0 passed, 0 failed, 1 skipped', 1),
    ('bails out', 'echo 1..1; echo "ok 1"; echo "Bail out! no device"',
     '1 passed, 1 failed, 0 skipped', 1),
    ('own summary', 'echo "5 passed, 0 failed, 1 skipped"', '5 passed, 0 failed, 1 skipped', 0),
    ('own summary with a failure', 'echo "5 passed, 2 failed, 1 skipped"; exit 1',
     '5 passed, 2 failed, 1 skipped', 1),
    ('own summary of nothing', 'echo "0 passed, 0 failed, 0 skipped"',
     '0 passed, 1 failed, 0 skipped', 1),
    ('an indented line is no result', 'echo 1..1; echo "  not ok 1"; echo "ok 1"',
     '1 passed, 0 failed, 0 skipped', 0),
    ('the error channel holds no results', 'echo 1..1; echo "ok 1"; echo "not ok 2" >&2',
     '1 passed, 0 failed, 0 skipped', 0),
]

# name, stream of a virtual machine, its exit status, expected last line, expected exit status
STREAMS = [
    ('stream of two programs', '@begin a\n1..1\nok 1\n@end 0\n@begin b\n1..1\nok 1\n@end 0\n', 0,
     '2 passed, 0 failed, 0 skipped', 0),
    ('stream with a failing program', '@begin a\n1..1\nnot ok 1\n@end 1\n', 0,
     '0 passed, 1 failed, 0 skipped', 1),
    ('stream that breaks off', '@begin a\n1..1\nok 1\n', 125, '1 passed, 1 failed, 0 skipped', 1),
    ('stream with a reason', '@begin a\n1..1\nok 1\n@end - kernel panic\n', 0,
     '1 passed, 1 failed, 0 skipped', 1),
    ('stream with errors aside', '@begin a\n1..1\n@err not ok 7\nok 1\n@end 0\n', 0,
     '1 passed, 0 failed, 0 skipped', 0),
    ('no machine at all', '', 125, '0 passed, 1 failed, 0 skipped', 1),
    ('a machine without tests', '', 0, '0 passed, 1 failed, 0 skipped', 1),
    ('a machine that fails after its tests', '@begin a\n1..1\nok 1\n@end 0\n', 125,
     '1 passed, 1 failed, 0 skipped', 1),
]


def script(folder, name, body):
    path = os.path.join(folder, name.replace(' ', '_'))
    with open(path, 'w', encoding='utf-8') as file:
        file.write('#!/bin/sh\n' + body + '\n')
    os.chmod(path, 0o755)
    return path


def runner(*arguments):
    done = subprocess.run([RUN, *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, check=False)
    return done.stdout, done.returncode


class Report:
    def __init__(self):
        self.number = 0
        self.failed = 0

    def check(self, name, output, last, status, want_last, want_status):
        self.number += 1
        if last == want_last and status == want_status:
            print(f'ok {self.number} - {name}')
            return
        self.failed += 1
        print(f'not ok {self.number} - {name}')
        print(f'# expected "{want_last}", status {want_status}; found "{last}", status {status}')
        for line in output.splitlines():
            print('# ' + line)


def last_line(output):
    return output.splitlines()[-1] if output else ''


def run_cases(folder, report):
    for name, body, want_last, want_status in CASES:
        limit = '0.5' if name == 'hangs' else '60'
        output, status = runner('--timeout', limit, script(folder, name, body))
        report.check(name, output, last_line(output), status, want_last, want_status)
    for name, text, code, want_last, want_status in STREAMS:
        path = script(folder, name, f"cat <<'END'\n{text}END\nexit {code}")
        output, status = runner('--vm', path)
        report.check(name, output, last_line(output), status, want_last, want_status)


def alive(pid):
    """An orphan that is dead may still await its reaper."""
    try:
        with open(f'/proc/{pid}/stat', encoding='utf-8') as file:
            return file.read().split()[2] not in 'ZX'
    except OSError:
        return False


def interrupt(folder):
    """Interrupts a runner whose program waits; says whether that program is still there."""
    mark = os.path.join(folder, 'pid')
    os.mkfifo(mark)
    path = script(folder, 'waits', f'echo $$ > {mark}; exec sleep 1000')
    with subprocess.Popen([RUN, path], stdout=subprocess.DEVNULL) as child:
        with open(mark, encoding='utf-8') as file:
            pid = int(file.read())
        child.send_signal(signal.SIGTERM)
        child.wait()
    for _ in range(ATTEMPTS):
        if not alive(pid):
            return 'gone'
        time.sleep(0.05)
    return 'still there'


def run_mixtures(folder, report):
    good = script(folder, 'good', 'echo 1..1; echo "ok 1 - a"')
    bad = script(folder, 'bad', 'echo 1..1; echo "# because"; echo "not ok 1 - b"; exit 1')
    output, status = runner('--jobs', '2', good, bad)
    report.check('two programs', output, last_line(output), status,
                 '1 passed, 1 failed, 0 skipped', 1)
    shown = 'shown' if '  | # because' in output and 'FAIL ' + bad in output else 'hidden'
    report.check('output of the failing program', output, shown, 0, 'shown', 0)
    output, status = runner(os.path.join(folder, 'absent'))
    report.check('absent program', output, last_line(output), status,
                 '0 passed, 1 failed, 0 skipped', 1)
    left = interrupt(folder)
    report.check('an interrupted runner leaves nothing behind', '', left, 0, 'gone', 0)
    output, status = runner()
    report.check('no program', output, last_line(output), status,
                 '0 passed, 0 failed, 0 skipped', 1)


def main():
    report = Report()
    print(f'1..{len(CASES) + len(STREAMS) + 5}')
    with tempfile.TemporaryDirectory() as folder:
        run_cases(folder, report)
        run_mixtures(folder, report)
    return 1 if report.failed else 0


if __name__ == '__main__':
    sys.exit(main())
