#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Which kernels modules are built for, and which are refused; TAP."""

import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.realpath(__file__))


def run(name, *arguments):
    done = subprocess.run([os.path.join(HERE, name), *arguments], stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    return done.returncode, done.stdout.strip(), done.stderr.strip()


def kernel_folder(folder, config):
    os.makedirs(os.path.join(folder, 'include/config'))
    for name, text in (('Makefile', 'modules:\n\t@echo built for $(M)\n'),
                       ('include/config/auto.conf', config)):
        with open(os.path.join(folder, name), 'w', encoding='utf-8') as file:
            file.write(text)
    return folder


def checks(folder):
    status, _, errors = run('kbuild', os.path.join(folder, 'absent'), 'modules')
    yield 'absent kernel is refused', status == 1 and 'no kernel build folder' in errors, errors
    without = kernel_folder(os.path.join(folder, 'without'), 'CONFIG_DRM=m\n')
    status, output, errors = run('kbuild', without, 'modules')
    yield ('kernel without the accel core is refused in one sentence',
           status == 1 and not output and 'CONFIG_DRM_ACCEL' in errors and '\n' not in errors,
           output + errors)
    status, kdir, errors = run('kernel.sh', '--get', 'kdir')
    with open(os.path.join(kdir, 'include/config/auto.conf'), encoding='utf-8') as file:
        yield 'kernel of the cache has the accel core', 'CONFIG_DRM_ACCEL=y\n' in file, errors
    status, image, errors = run('kernel.sh', '--get', 'image')
    yield 'kernel of the cache has an image', status == 0 and os.path.isfile(image), errors
    status, version, errors = run('kernel.sh', '--get', 'version')
    yield 'headers and image are of one version', version in kdir and version in image, version
    status, _, errors = run('kernel.sh', '--get', 'nothing')
    yield 'unknown word is refused', status == 1 and 'nothing is called' in errors, errors


def main():
    with tempfile.TemporaryDirectory() as folder:
        results = list(checks(folder))
    print(f'1..{len(results)}')
    for number, (name, good, detail) in enumerate(results, 1):
        print(f'{"ok" if good else "not ok"} {number} - {name}')
        if not good:
            print('# ' + detail.replace('\n', '\n# '))
    return 0 if all(good for _, good, _ in results) else 1


if __name__ == '__main__':
    sys.exit(main())
