# SPDX-License-Identifier: MIT
"""What a virtual machine boots from: kernel, modules, and a first file system."""

import lzma
import os
import re
import shutil
import subprocess
import tempfile

from cpio import Archive

HERE = os.path.dirname(os.path.realpath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
GUEST_ROOT = '/npu'
BUSYBOX = '/bin/busybox'
FOLDERS = ('bin', 'dev', 'proc', 'sys', 'run', 'tmp', 'root', 'etc', 'lib/firmware', 'mnt', 'var')
PASSWD = 'root:x:0:0:root:/root:/bin/sh\nuser:x:1000:1000::/tmp:/bin/sh\n' \
         'nobody:x:65534:65534::/:/bin/false\n'
GROUP = 'root:x:0:\nrender:x:105:\nuser:x:1000:\nnogroup:x:65534:\n'


class ImageError(Exception):
    pass


def command(*words, **options):
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          check=False, **options)
    if done.returncode:
        raise ImageError(f'{" ".join(words)}: {done.stderr.strip() or done.returncode}')
    return done.stdout


class Kernel:
    """A kernel of the cache (tests/vm/kernel.sh)."""

    def __init__(self, name=None):
        words = [os.path.join(HERE, 'kernel.sh')] + (['--kernel', name] if name else [])
        done = subprocess.run(words, stdout=subprocess.PIPE, text=True, check=False)
        if done.returncode:
            raise ImageError('there is no kernel to boot')
        facts = dict(line.split('=', 1) for line in done.stdout.splitlines())
        self.version = facts['version']
        self.image = facts['image']
        self.modules = facts['modules']

    def with_dependencies(self, name):
        """Paths of a module of the kernel's package, those it needs first."""
        base = self.modules[:-len('/lib/modules/' + self.version)]
        shown = command('/sbin/modprobe', '-d', base, '-S', self.version, '--show-depends', name)
        return [line.split()[1] for line in shown.splitlines() if line.startswith('insmod ')]


def module_name(path):
    return re.sub(r'\.ko(\.xz|\.zst)?$', '', os.path.basename(path)).replace('-', '_')


def modinfo(path, field):
    return command('/sbin/modinfo', '-F', field, path).split()


def uncompressed(path):
    if path.endswith('.xz'):
        with lzma.open(path) as file:
            return file.read()
    if path.endswith('.zst'):
        return subprocess.run(['zstd', '-dqc', path], stdout=subprocess.PIPE, check=True).stdout
    with open(path, 'rb') as file:
        return file.read()


class Modules:
    """Modules in an order in which they can be loaded, each with its parameters."""

    def __init__(self, kernel):
        self.kernel = kernel
        self.paths = {}
        self.parameters = {}

    def add(self, what, parameters=''):
        """what: path of a module file, or name of one in the kernel's package."""
        if '/' in what or what.endswith('.ko'):
            if not os.path.exists(what):
                raise ImageError(f'{what}: no such module; was it built?')
            self._check_version(what)
            for line in modinfo(what, 'depends'):
                for need in filter(None, line.split(',')):
                    if need.replace('-', '_') not in self.paths:
                        self.add(need)
            self.paths[module_name(what)] = os.path.abspath(what)
        else:
            for path in self.kernel.with_dependencies(what):
                self.paths.setdefault(module_name(path), path)
        self.parameters[module_name(what)] = parameters

    def _check_version(self, path):
        magic = modinfo(path, 'vermagic')[0]
        if magic != self.kernel.version:
            raise ImageError(f'{path} was built for {magic}, the machine runs '
                             f'{self.kernel.version}: make vm-modules')

    def firmware(self):
        """Names of the firmware files that modules of ours ask for."""
        own = [path for path in self.paths.values() if not path.startswith(self.kernel.modules)]
        return [name for path in own for name in modinfo(path, 'firmware')]

    def put(self, archive):
        """Into /lib/modules as depmod wants it, so that modprobe and libkmod work too."""
        with tempfile.TemporaryDirectory() as base:
            folder = os.path.join(base, 'lib/modules', self.kernel.version)
            os.makedirs(os.path.join(folder, 'kernel'))
            for name in ('modules.order', 'modules.builtin', 'modules.builtin.modinfo'):
                if os.path.exists(os.path.join(self.kernel.modules, name)):
                    shutil.copy(os.path.join(self.kernel.modules, name), folder)
            for name, path in self.paths.items():
                with open(os.path.join(folder, 'kernel', name + '.ko'), 'wb') as file:
                    file.write(uncompressed(path))
            command('/sbin/depmod', '-b', base, self.kernel.version)
            put_tree(archive, os.path.join(base, 'lib/modules'), '/lib/modules')
        order = [f'/lib/modules/{self.kernel.version}/kernel/{name}.ko '
                 f'{self.parameters.get(name, "")}'.rstrip() for name in self.paths]
        archive.file('/etc/vm/modules', ''.join(line + '\n' for line in order))


def put_tree(archive, source, target):
    """A file, link or folder with all that is in it."""
    if os.path.islink(source) and not os.path.isdir(source):
        archive.link(target, os.readlink(source))
        source = os.path.realpath(source)
        target = os.path.join(os.path.dirname(target), os.path.basename(source))
    if os.path.isdir(source):
        archive.folder(target, os.stat(source).st_mode & 0o7777)
        for name in sorted(os.listdir(source)):
            put_tree(archive, os.path.join(source, name), os.path.join(target, name))
    else:
        with open(source, 'rb') as file:
            archive.file(target, file.read(), os.stat(source).st_mode & 0o7777)


def guest_path(source):
    """Where a file of this machine is in the guest: /npu is the project's root."""
    path = os.path.abspath(source)
    if path == ROOT or path.startswith(ROOT + '/'):
        return GUEST_ROOT + path[len(ROOT):]
    return path


def is_elf(path):
    with open(path, 'rb') as file:
        return file.read(4) == b'\x7fELF'


def libraries(path):
    """Paths of the shared libraries of an ELF file, the loader among them."""
    done = subprocess.run(['ldd', path], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True, check=False)
    if done.returncode:
        return []
    missing = re.findall(r'^\s*(\S+) => not found', done.stdout, re.MULTILINE)
    if missing:
        raise ImageError(f'{path}: no library {", ".join(missing)}')
    return re.findall(r'^\s*(?:\S+ => )?(/\S+) \(0x', done.stdout, re.MULTILINE)


class Image:
    """Collects what the guest shall hold."""

    def __init__(self, kernel):
        self.kernel = kernel
        self.modules = Modules(kernel)
        self.archive = Archive()
        self.library_folders = []
        self._base()

    def _base(self):
        archive = self.archive
        for folder in FOLDERS:
            archive.folder(folder, 0o1777 if folder == 'tmp' else 0o755)
        archive.folder(GUEST_ROOT)
        archive.character_device('/dev/console', 5, 1)
        if not os.path.exists(BUSYBOX):
            raise ImageError(f'no {BUSYBOX}: install busybox-static')
        put_tree(archive, BUSYBOX, BUSYBOX)
        for name in command(BUSYBOX, '--list').split():
            if name != 'busybox':
                archive.link('/bin/' + name, 'busybox')
        archive.link('/sbin', 'bin')
        archive.link('/usr/bin', '../bin')
        archive.link('/usr/sbin', '../bin')
        archive.file('/etc/passwd', PASSWD)
        archive.file('/etc/group', GROUP)
        put_tree(archive, os.path.join(HERE, 'guest/init'), '/init')

    def add(self, source, target=None):
        """A file or folder; ELF files bring their shared libraries. Returns its guest path."""
        if not os.path.exists(source):
            raise ImageError(f'{source}: no such file or folder')
        target = target or guest_path(source)
        put_tree(self.archive, source, target)
        for folder, _, names in os.walk(source) if os.path.isdir(source) else [('', '', [source])]:
            for name in names:
                path = os.path.join(folder, name)
                if os.path.isfile(path) and is_elf(path):
                    self._add_libraries(path)
        return target

    def _add_libraries(self, path):
        for library in libraries(path):
            target = guest_path(library)
            if target not in self.archive:
                with open(library, 'rb') as file:
                    self.archive.file(target, file.read(), 0o755)
            folder = os.path.dirname(target)
            if target.startswith(GUEST_ROOT + '/') and folder not in self.library_folders:
                self.library_folders.append(folder)

    def add_firmware(self, build):
        """The files that modules of ours name, from below the build folder."""
        for name in self.modules.firmware():
            target = '/lib/firmware/' + name
            if target in self.archive:
                continue
            found = [os.path.join(folder, os.path.basename(name))
                     for folder, _, names in os.walk(os.path.join(build, 'firmware'))
                     if os.path.basename(name) in names]
            if not found:
                raise ImageError(f'no {os.path.basename(name)}, which the driver asks for, '
                                 f'below {build}/firmware: make firmware')
            self.archive.file(target, uncompressed(found[0]))

    def write(self, path, settings):
        """settings: variables of the guest's init."""
        self.modules.put(self.archive)
        settings = dict(settings)
        if self.library_folders:
            settings['LD_LIBRARY_PATH'] = ':'.join(self.library_folders)
        lines = [f"{name}='{str(value)}'\n" for name, value in settings.items()]
        self.archive.file('/etc/vm/settings', ''.join(lines))
        with open(path, 'wb') as file:
            self.archive.write(file)
