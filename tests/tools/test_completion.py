#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Completion of the npu command in bash and zsh; TAP."""

import os
import re
import subprocess

import tooltest
from tooltest import ROOT, TOOL, npu

BASH = '''source userspace/packaging/npu.bash
cd "$FOLDER"
COMP_WORDS=("$@")
COMP_CWORD=$(($# - 1))
_npu
printf '%s\\n' "${COMPREPLY[@]}"
'''
# What zsh's own functions would be called with.
ZSH = '''compadd() { for word; do [[ $word == -- ]] || [[ $word != $PREFIX* ]] || print -r -- $word; done }
_describe() { for word in ${(P)2}; do [[ $word != $PREFIX* ]] || print -r -- ${word%%:*}; done }
_files() { print -l -- $FOLDER/$PREFIX*(N:t) }
complete_npu() { local words=("$@") CURRENT=$# PREFIX=$@[-1]
%s
}
complete_npu "$@"
'''


def complete(shell, folder, *words):
    if shell == 'bash':
        script = BASH
    else:
        with open(os.path.join(ROOT, 'userspace/packaging/_npu'), encoding='ascii') as file:
            script = ZSH % file.read()
    done = subprocess.run([shell, *['--norc'] * (shell == 'bash'), *['-f'] * (shell == 'zsh'), '-c',
                           script, shell, TOOL, *words], cwd=ROOT, check=False, text=True,
                          env={**os.environ, 'FOLDER': folder}, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if done.stderr:
        return [f'error: {done.stderr}']
    return sorted(done.stdout.split())


def commands():
    return set(re.findall(r'^  ([a-z]+)  ', npu('--help').text, re.MULTILINE))


def check_shell(shell):
    def check(report, folder):
        for name in ('model.onnx', 'module.npu'):
            tooltest.write(os.path.join(folder, name), b'')
        found = complete(shell, folder, '')
        report.check(f'{shell}: all commands', commands() <= set(found), found)
        found = complete(shell, folder, 'l')
        report.check(f'{shell}: commands that begin so', found and set(found) == {
            name for name in commands() if name.startswith('l')}, found)
        for name in sorted(commands()):
            heads = re.findall(r'^  +(-.*?)(?:  |$)', npu(name, '--help').text, re.MULTILINE)
            options = sorted(re.findall(r'--[a-z-]+', ' '.join(heads)))
            found = complete(shell, folder, name, '--')
            report.check(f'{shell}: options of npu {name}', found == options and
                         '--help' in found, f'{found}\n{options}')
        found = complete(shell, folder, 'run', '--it')
        report.check(f'{shell}: an option that begins so', found == ['--items'], found)
        found = complete(shell, folder, 'run', 'mo')
        report.check(f'{shell}: files', found == ['model.onnx', 'module.npu'], found)
        found = complete(shell, folder, 'run', 'module.npu', '--device', 's')
        report.check(f'{shell}: devices', found == ['sim'], found)
        found = complete(shell, folder, 'info', '')
        report.check(f'{shell}: devices of npu info', 'sim' in found, found)
        found = complete(shell, folder, 'nosuch', '--')
        report.check(f'{shell}: no option of no command', found == [], found)
    return check


if __name__ == '__main__':
    tooltest.main(check_shell('bash'), check_shell('zsh'))
