#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""The runtime's face: header, version script, exported symbols and documentation agree."""

import os
import re
import subprocess
import sys
import tempfile

HEADER = 'userspace/libnpu/include/npu/npu.h'
MAP = 'userspace/libnpu/libnpu.map'
OUT = os.path.join(os.environ.get('O', 'build'), 'userspace/libnpu')
LIBRARY = os.path.join(OUT, 'libnpu.so.0')
PROGRAM = '''#include <npu/npu.h>
#include <stdio.h>
int main(void) { puts(npu_version()); return 0; }
'''
failed = number = 0


def check(name, problems):
    global failed, number
    number += 1
    failed += bool(problems)
    print(f'{"not ok" if problems else "ok"} {number} - {name}')
    for problem in problems:
        print(f'# {problem}')


def output(*words):
    done = subprocess.run(words, check=False, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT)
    return done.returncode, done.stdout


def differences(found, wanted):
    return [f'missing: {name}' for name in sorted(wanted - found)] + \
           [f'not declared: {name}' for name in sorted(found - wanted)]


def declared(text):
    return set(re.findall(r'^NPU_API [^(;]*?\**(npu_\w+)\(', text, re.M))


def exported():
    lines = output('nm', '-D', '--defined-only', LIBRARY)[1].splitlines()
    names = {line.split()[2].split('@')[0] for line in lines}
    return {name for name in names if not name.startswith('LIBNPU_')}


def undocumented(text):
    """A function's comment names it, each parameter, and since when it exists."""
    problems = []
    pattern = re.compile(r'/\*\*\n \* (npu_\w+) - (.*?)\*/\nNPU_API ([^;]*);', re.S)
    documented = set()
    for name, comment, prototype in pattern.findall(text):
        documented.add(name)
        arguments = prototype[prototype.index('(') + 1:prototype.rindex(')')]
        for argument in arguments.split(','):
            parameter = re.search(r'(\w+)$', argument.strip()).group(1)
            if parameter != 'void' and f'@{parameter}:' not in comment:
                problems.append(f'{name}: parameter {parameter}')
        if not re.search(r'Since\s+(\*\s+)?\d+\.\d+', comment):
            problems.append(f'{name}: since when')
        if not prototype.startswith('void ') and 'Return:' not in comment:
            problems.append(f'{name}: what it returns')
    return problems + [f'{name}: no comment' for name in sorted(declared(text) - documented)]


def compiles(folder, compiler, *flags):
    source = os.path.join(folder, 'use.cc' if compiler == 'g++' else 'use.c')
    with open(source, 'w', encoding='ascii') as f:
        f.write(PROGRAM)
    status, text = output(compiler, *flags, '-Wall', '-Wextra', '-pedantic', '-Werror',
                          '-Iuserspace/libnpu/include', '-fsyntax-only', source)
    return text.splitlines() or ['failed'] if status else []


def links(folder):
    """By pkg-config, from an installed look-alike."""
    source, program = os.path.join(folder, 'use.c'), os.path.join(folder, 'use')
    env = dict(os.environ, PKG_CONFIG_PATH=OUT)
    flags = subprocess.run(['pkg-config', '--libs', 'libnpu'], env=env, check=False, text=True,
                           stdout=subprocess.PIPE).stdout.split()
    if '-lnpu' not in flags:
        return [f'pkg-config --libs libnpu: {flags}']
    status, text = output('gcc', '-Iuserspace/libnpu/include', source, '-o', program, f'-L{OUT}',
                          f'-Wl,-rpath,{os.path.abspath(OUT)}', *flags)
    if status:
        return text.splitlines()
    status, text = output(program)
    with open('VERSION', encoding='ascii') as f:
        version = f.read().strip()
    return [] if status == 0 and text.strip() == version else [f'{text!r} is not {version!r}']


def main():
    with open(HEADER, encoding='ascii') as f:
        text = f.read()
    with open(MAP, encoding='ascii') as f:
        listed = set(re.findall(r'^\t(npu_\w+);', f.read(), re.M))
    print('1..7')
    check('version script lists what the header declares', differences(listed, declared(text)))
    check('library exports what the header declares', differences(exported(), declared(text)))
    check('each function is documented', undocumented(text))
    soname = re.search(r'SONAME.*\[(.*)\]', output('readelf', '-d', LIBRARY)[1])
    check('soname', [] if soname and soname.group(1) == 'libnpu.so.0' else [str(soname)])
    with tempfile.TemporaryDirectory() as folder:
        check('header is clean C11', compiles(folder, 'gcc', '-std=c11'))
        check('header is clean C++17', compiles(folder, 'g++', '-std=c++17'))
        check('a program links by pkg-config and runs', links(folder))
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
