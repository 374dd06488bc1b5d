#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""make install and make uninstall, and a program built on what they put there; TAP."""

import glob
import gzip
import os
import re
import shutil
import struct
import subprocess

import tooltest
from tooltest import MODEL, ROOT

EXAMPLE = 'userspace/libnpu/examples/classify.c'
PREFIX = '/opt/npu'
PICTURES = '/usr/share/datasets/fashion-mnist'
BUILDS = (('gcc', '-std=c11', 'c'), ('g++', '-std=c++17', 'c++'))


def run(*words, data=b'', **environment):
    env = {name: value for name, value in os.environ.items()
           if not name.startswith(('NPU_', 'MAKE', 'MFLAGS', 'PKG_CONFIG'))}
    env.update(environment)
    return tooltest.Result(subprocess.run(words, input=data, env=env, cwd=ROOT, check=False,
                                          stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                          timeout=tooltest.TIMEOUT))


def make(target, root, *variables):
    return run('make', target, f'DESTDIR={root}', f'O={os.environ.get("O", "build")}', *variables)


def tree(root):
    return sorted(os.path.relpath(os.path.join(folder, name), root)
                  for folder, _, names in os.walk(root) for name in names)


def check_files(report, root, prefix, libdir, installed):
    report.check(f'make install below {prefix}', installed.status == 0, installed)
    pages = {os.path.basename(path).removesuffix('.scd')
             for path in glob.glob(os.path.join(ROOT, 'userspace/tools/man/*.scd'))}
    share = prefix + '/share'
    wanted = {f'{prefix}/bin/npu', f'{libdir}/libnpu.so.0', f'{libdir}/libnpu.so',
              f'{libdir}/libnpu.a', f'{libdir}/pkgconfig/libnpu.pc', f'{prefix}/include/npu/npu.h',
              f'{prefix}/include/drm/npu_accel.h', '/lib/firmware/npu/npu_fw.bin',
              f'{share}/bash-completion/completions/npu', f'{share}/zsh/site-functions/_npu',
              f'{prefix}/lib/udev/rules.d/70-npu.rules', f'{prefix}/lib/modprobe.d/npu.conf'}
    wanted |= {f'{share}/man/man{page[-1]}/{page}' for page in pages}
    found = {'/' + path for path in tree(root)}
    report.check('every file is there', wanted <= found, '\n'.join(sorted(wanted - found)))
    links = [os.readlink(f'{root}{libdir}/{name}') for name in ('libnpu.so', 'libnpu.so.0')]
    version = tooltest.read(os.path.join(ROOT, 'VERSION')).decode().strip()
    report.check('libnpu.so leads to libnpu.so.0, that to the version',
                 links == ['libnpu.so.0', f'libnpu.so.{version}'], links)
    modes = {path: os.stat(root + path).st_mode & 0o777 for path in wanted}
    programs = {path for path, mode in modes.items() if mode == 0o755}
    report.check('only programs and libraries can be executed',
                 programs == {f'{prefix}/bin/npu', f'{libdir}/libnpu.so', f'{libdir}/libnpu.so.0'}
                 and set(modes.values()) == {0o755, 0o644}, modes)


def pkg_config(root, libdir, *words):
    done = run('pkg-config', *words, 'libnpu', PKG_CONFIG_SYSROOT_DIR=root,
               PKG_CONFIG_LIBDIR=f'{root}{libdir}/pkgconfig')
    return done.text.split()


def check_pkg_config(report, root, prefix, libdir):
    flags = pkg_config(root, libdir, '--cflags', '--libs')
    report.check('pkg-config leads to the prefix', flags == [
        f'-I{root}{prefix}/include', f'-L{root}{libdir}', '-lnpu'], flags)
    static = pkg_config(root, libdir, '--static', '--libs')
    report.check('and for a static program to what libnpu needs itself',
                 {'-ldrm', '-lelf'} <= set(static), static)


def picture():
    """The first picture of the test images, as floats, and its label."""
    with gzip.open(f'{PICTURES}/t10k-images-idx3-ubyte.gz') as file:
        pixels = file.read(16 + 784)[16:]
    with gzip.open(f'{PICTURES}/t10k-labels-idx1-ubyte.gz') as file:
        label = file.read(9)[8]
    return struct.pack('784f', *(pixel / 255 for pixel in pixels)), label


def check_example(report, root, libdir, folder):
    module = tooltest.module(folder)
    data, label = picture()
    for compiler, standard, language in BUILDS:
        for static in (False, True):
            program = os.path.join(folder, 'classify')
            flags = pkg_config(root, libdir, '--cflags', '--libs', *['--static'] * static)
            if static:
                flags = [f'-l:lib{flag[2:]}.a' if flag == '-lnpu' else flag for flag in flags]
            built = run(compiler, standard, '-Wall', '-Wextra', '-Wpedantic', '-Werror', '-x',
                        language, EXAMPLE, '-x', 'none', '-o', program, *flags)
            name = f'{compiler} {standard}, {"static" if static else "shared"}'
            report.check(f'the example compiles without a warning: {name}', built.status == 0,
                         built)
            done = run(program, module, data=data, NPU_DEVICE='sim',
                       LD_LIBRARY_PATH=root + libdir,
                       NPU_FIRMWARE=f'{root}/lib/firmware/npu/npu_fw.bin')
            report.check(f'and classifies a picture: {name}',
                         done.status == 0 and done.text == f'{label}\n', done)
    done = run(program, module, data=data[:-1])
    report.check('the example says what it wants', done.status == 2 and
                 'usage: classify' in done.errors, done)
    done = run(program, module, data=data, NPU_DEVICE='/nonexistent')
    report.check('and passes on what the library says', done.status == 1 and
                 '/nonexistent does not exist' in done.errors, done)


def check_uapi(report, root, prefix, folder):
    source = tooltest.write(os.path.join(folder, 'uapi.c'), b'#include <drm/npu_accel.h>\n')
    flags = run('pkg-config', '--cflags', 'libdrm').text.split()
    for compiler, standard, language in BUILDS:
        done = run(compiler, standard, '-Wall', '-Wextra', '-Wpedantic', '-Werror', '-fsyntax-only',
                   '-x', language, f'-I{root}{prefix}/include', *flags, source)
        report.check(f"the kernel's interface compiles: {compiler} {standard}", done.status == 0,
                     done)


def check_udev_rule(report, root, prefix):
    text = tooltest.read(f'{root}{prefix}/lib/udev/rules.d/70-npu.rules').decode()
    rules = [line for line in text.splitlines() if line and not line.startswith('#')]
    word = r'[A-Z]+(==|\+=|=)"[^"]*"'
    report.check('the udev rule has the form of one, and gives accelerators to a group',
                 len(rules) == 1 and re.fullmatch(rf'{word}(, {word})*', rules[0]) and
                 'SUBSYSTEM=="accel"' in rules[0] and 'GROUP="render"' in rules[0], text)


def check_tool(report, root, prefix, libdir):
    done = run(f'{root}{prefix}/bin/npu', 'info', '--json', NPU_DEVICE='sim',
               LD_LIBRARY_PATH=root + libdir,
               NPU_FIRMWARE=f'{root}/lib/firmware/npu/npu_fw.bin')
    report.check('the installed tool runs', done.status == 0 and '"sim"' in done.text, done)
    dynamic = run('readelf', '-d', f'{root}{prefix}/bin/npu').text
    path = re.findall(r'R(?:UN)?PATH.*\[(.*)\]', dynamic)
    wanted = [] if libdir.startswith(('/usr/lib', '/usr/local/lib')) else [libdir]
    report.check('and looks for its library where it was installed', path == wanted, dynamic)


def check_prefix(report, folder):
    root = os.path.join(folder, 'root')
    libdir = PREFIX + '/lib'
    done = make('install-userspace', root, f'PREFIX={PREFIX}')
    check_files(report, root, PREFIX, libdir, done)
    check_pkg_config(report, root, PREFIX, libdir)
    check_tool(report, root, PREFIX, libdir)
    check_uapi(report, root, PREFIX, folder)
    check_udev_rule(report, root, PREFIX)
    check_example(report, root, libdir, folder)
    other = os.path.join(root, PREFIX.lstrip('/'), 'include/npu/other.h')
    tooltest.write(other, b'')
    again = make('install-userspace', root, f'PREFIX={PREFIX}')
    report.check('installing twice is installing once', again.status == 0, again)
    done = make('uninstall', root, f'PREFIX={PREFIX}')
    report.check('make uninstall leaves what is not its own, and nothing else',
                 done.status == 0 and tree(root) == [os.path.relpath(other, root)],
                 f'{done}\n{tree(root)}')
    report.check('its empty folders go, too', not os.path.exists(root + '/lib/firmware/npu'))
    shutil.rmtree(root)


def check_distribution(report, folder):
    """As a distribution's package does it, with a library folder of its own."""
    root = os.path.join(folder, 'with space')
    libdir = '/usr/lib/x86_64-linux-gnu'
    words = ('PREFIX=/usr', f'LIBDIR={libdir}')
    check_files(report, root, '/usr', libdir, make('install-userspace', root, *words))
    text = tooltest.read(f'{root}{libdir}/pkgconfig/libnpu.pc').decode()
    report.check('libnpu.pc can be moved with its prefix', 'prefix=/usr\n' in text and
                 'libdir=${prefix}/lib/x86_64-linux-gnu\n' in text and root not in text, text)
    done = make('uninstall', root, *words)
    report.check('and all of it goes again', done.status == 0 and not tree(root),
                 f'{done}\n{tree(root)}')
    done = make('install-userspace', root, 'PREFIX=relative')
    report.check('a prefix that is not absolute is refused', done.status != 0 and
                 'must be absolute' in done.errors and not tree(root), done)


def check_modules(report, folder):
    root = os.path.join(folder, 'modules')
    kdir = run('tests/vm/kernel.sh', '--get', 'kdir').text.strip()
    done = make('install-modules', root, f'KDIR={kdir}')
    names = [path for path in tree(root) if '.ko' in path]
    report.check('modules go where the kernel looks', done.status == 0 and [
        re.sub(r'lib/modules/[^/]+/|\.(xz|zst|gz)$', '', name) for name in names] == [
            'updates/npu.ko', 'updates/npu_sim.ko'], f'{done}\n{tree(root)}')
    version = run('tests/vm/kernel.sh', '--get', 'version').text.strip()
    report.check('of its version', all(f'lib/modules/{version}/' in name for name in names), names)
    run('depmod', '-b', root, version)
    done = run('modprobe', '-d', root, '-S', version, '-C', 'userspace/packaging/npu.conf',
               '--show-depends', 'npu_sim')
    report.check('modprobe npu_sim brings the driver along', done.status == 0 and re.search(
        r'insmod \S*/npu\.ko.*insmod \S*/npu_sim\.ko', done.text, re.DOTALL), done)
    done = make('uninstall', root, f'KDIR={kdir}')
    report.check('and go again', done.status == 0 and
                 not [path for path in tree(root) if '.ko' in path], f'{done}\n{tree(root)}')
    done = make('install-modules', root, 'KDIR=/nonexistent')
    report.check('a kernel that is not there is refused', done.status != 0 and
                 'no kernel build folder' in done.errors, done)


if __name__ == '__main__':
    tooltest.main(check_prefix, check_distribution, check_modules)
