# SPDX-License-Identifier: MIT
"""Options of a virtual machine, its making and its verdict."""

import os
import secrets
import sys
import tempfile

import dmesg
from image import ROOT, Image, ImageError, Kernel
from machine import Machine

FAILED = 125
TAIL = 40
BOOTS = 3
SHARE_MODULES = ('9pnet_virtio', '9p')


def add_options(parser):
    add = parser.add_argument
    add('--kernel', metavar='NAME', help='row of tests/vm/kernels (default: that of this release)')
    add('--npu', action='store_true', help='load npu.ko and npu_sim.ko, with their firmware')
    add('--devices', type=int, default=1, metavar='N',
        help='number of simulated NPUs (default %(default)s)')
    add('--npu-files', action='store_true',
        help='as --npu, but leaves the loading to the command (modprobe, npu load)')
    add('--module', action='append', default=[], metavar='NAME[:PARAMETERS]',
        help='load a module of the kernel, or one by its path, with what it needs')
    add('--firmware', action='append', default=[], metavar='FILE:NAME',
        help='put a file to /lib/firmware/NAME')
    add('--add', action='append', default=[], metavar='SRC[:DST]',
        help='put a file or folder into the guest, with shared libraries; without DST '
             'below /npu as it is below the project, or where it is on this machine')
    add('--share', action='append', default=[], metavar='DIR:DST',
        help='mount a folder of this machine in the guest, to write too')
    add('--timeout', type=float, default=600, metavar='S',
        help='seconds after which the machine counts as hung (default %(default)s)')
    add('--memory', type=int, default=1024, metavar='MB', help='(default %(default)s)')
    add('--cpus', type=int, default=2, metavar='N', help='(default %(default)s)')
    add('--append', default='', metavar='WORDS', help='more of the kernel command line')
    add('--qemu', action='append', default=[], metavar='WORDS', help='more for QEMU')
    add('--log', metavar='FILE', help='where the kernel log goes')
    add('--allow', action='append', default=[], metavar='REGEX',
        help='kernel log lines that are expected')
    add('--build', default=os.environ.get('O', os.path.join(ROOT, 'build')), metavar='DIR',
        help='build folder, where firmware is looked for (default: $O, build)')


def split(text, what):
    first, colon, second = text.partition(':')
    if not (colon and first and second):
        raise ImageError(f'{text}: {what} expected')
    return first, second


def add_modules(options, image):
    for text in options.module:
        name, _, parameters = text.partition(':')
        image.modules.add(name, parameters)
    if options.npu or options.npu_files:
        image.modules.add(os.path.join(ROOT, 'npu.ko'))
        image.modules.add(os.path.join(ROOT, 'npu_sim.ko'),
                          f'devices={options.devices}')
    if options.share:
        for name in SHARE_MODULES:
            image.modules.add(name)


def add_shares(options, image):
    words, table = [], ''
    for number, text in enumerate(options.share):
        folder, target = split(text, 'DIR:DST')
        if not os.path.isdir(folder):
            raise ImageError(f'{folder}: no such folder')
        words += ['-virtfs', f'local,path={folder},mount_tag=share{number},security_model=none,'
                             f'id=share{number}']
        table += f'share{number} {target}\n'
    image.archive.file('/etc/vm/shares', table)
    return words


def make_image(options, kernel):
    """Returns the image and what QEMU needs for it."""
    image = Image(kernel)
    add_modules(options, image)
    for text in options.firmware:
        source, name = split(text, 'FILE:NAME')
        image.add(source, '/lib/firmware/' + name)
    image.add_firmware(options.build)
    for text in options.add:
        source, _, target = text.partition(':')
        image.add(source, target or None)
    extra = add_shares(options, image)
    return image, extra + [word for text in options.qemu for word in text.split()]


def boot(options, command, settings, configure):
    """Runs a machine to its end and returns it.

    command(image) returns what its shell runs, and may add to the image;
    configure(machine) sets the functions that take what comes in.
    """
    kernel = Kernel(options.kernel)
    image, extra = make_image(options, kernel)
    image.archive.file('/etc/vm/command', command(image) + '\n')
    with tempfile.TemporaryDirectory(prefix='npu-vm-') as folder:
        initrd = os.path.join(folder, 'initrd')
        mark = '\x1e' + secrets.token_hex(16)
        image.write(initrd, {**settings, 'MARK': mark})
        for left in reversed(range(BOOTS)):
            machine = Machine(kernel, initrd, mark, memory=options.memory, cpus=options.cpus,
                              append=options.append, extra=extra,
                              interactive='INTERACTIVE' in settings)
            configure(machine)
            machine.run(options.timeout)
            if not (left and machine.missed_patch()):
                break
            print('vm: the emulator failed while the kernel booted; once more', file=sys.stderr)
    if options.log:
        with open(options.log, 'wb') as file:
            file.write(machine.log)
    return machine


def report(text, lines):
    print(f'vm: {text}', file=sys.stderr)
    for line in lines:
        print(f'vm| {line}', file=sys.stderr)


def judge(machine, allow):
    """Exit status of the run; says what is wrong with the machine or its kernel."""
    lines = machine.log_lines()
    findings = dmesg.scan(lines, allow)
    if findings:
        report(f'the kernel reported: {findings[0].kind} ({len(findings)} lines of the log)',
               dmesg.excerpt(lines, findings))
    if machine.problem:
        report(machine.problem, lines[-TAIL:] if not findings else [])
    return FAILED if findings or machine.problem else machine.status
