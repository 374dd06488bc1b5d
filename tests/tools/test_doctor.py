#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""npu doctor on systems with planted faults; TAP."""

import json
import os
import shutil
import struct
import subprocess
import zlib

import tooltest
from tooltest import BUILD, ROOT, npu

FIRMWARE = os.path.join(BUILD, 'firmware/cp/npu_fw.bin')
FILE = 'lib/firmware/npu/npu_fw.bin'
HEAD = 512
# Offsets of struct npu_fw_header are read from the generated header.
HEADER = os.path.join(ROOT, 'firmware/include/npu_proto.h')
SIZES = {'__u8': 1, '__u16': 2, '__u32': 4, '__u64': 8, '__le16': 2, '__le32': 4, '__le64': 8}


def run(*words):
    return subprocess.run(words, cwd=ROOT, check=True, text=True, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE).stdout.strip()


RELEASE = run('modinfo', '-F', 'vermagic', 'npu.ko').split()[0]


def offset(field):
    """Of a field of the firmware's header."""
    text = tooltest.read(HEADER).decode()
    body = text[text.index('struct npu_fw_header {'):]
    at = 0
    for line in body[body.index('{') + 1:body.index('}')].split(';'):
        words = line.split('/*')[0].split()
        if len(words) < 2:
            continue
        name, _, count = words[1].partition('[')
        if name == field:
            return at
        at += SIZES[words[0]] * int((count or '1').rstrip('u]'), 0)
    raise KeyError(field)


def image(field=None, value=0, spoil=False):
    """The firmware with one field of its header changed, and a header checksum that fits."""
    data = bytearray(tooltest.read(FIRMWARE))
    if field:
        struct.pack_into('<H', data, offset(field), value)
    struct.pack_into('<I', data, offset('header_crc32'), 0)
    struct.pack_into('<I', data, offset('header_crc32'), zlib.crc32(bytes(data[:HEAD])))
    if spoil:
        data[-1] ^= 1
    return bytes(data)


class System:
    """A root with all that an NPU needs; tests take things away."""

    def __init__(self, folder):
        self.root = os.path.join(folder, 'root')
        shutil.rmtree(self.root, ignore_errors=True)
        self.put('proc/sys/kernel/osrelease', RELEASE + '\n')
        self.put(f'boot/config-{RELEASE}', 'CONFIG_DRM=m\nCONFIG_DRM_ACCEL=y\n')
        self.put(FILE, image())
        self.module = f'lib/modules/{RELEASE}/updates/npu.ko'
        self.put(self.module, tooltest.read(os.path.join(ROOT, 'npu.ko')))
        self.put(f'lib/modules/{RELEASE}/modules.order', '')
        self.put(f'lib/modules/{RELEASE}/modules.builtin', '')
        self.depmod()
        self.put('sys/kernel/security/lockdown', '[none] integrity confidentiality\n')
        self.load()

    def path(self, name):
        return os.path.join(self.root, name)

    def put(self, name, data):
        os.makedirs(os.path.dirname(self.path(name)), exist_ok=True)
        return tooltest.write(self.path(name), data.encode() if isinstance(data, str) else data)

    def remove(self, name):
        path = self.path(name)
        if os.path.isdir(path):
            shutil.rmtree(path)
        else:
            os.remove(path)

    def depmod(self):
        run('depmod', '-b', self.root, RELEASE)

    def load(self):
        """As if the driver were loaded, with one device."""
        os.makedirs(self.path('sys/module/npu/notes'))
        os.makedirs(self.path('sys/devices/npu_sim.npu.0'))
        os.makedirs(self.path('sys/drivers/npu'))
        os.makedirs(self.path('sys/class/accel/accel0'))
        os.symlink('../../../devices/npu_sim.npu.0', self.path('sys/class/accel/accel0/device'))
        os.symlink('../../drivers/npu', self.path('sys/devices/npu_sim.npu.0/driver'))
        run('objcopy', '-O', 'binary', '--only-section=.note.gnu.build-id',
            '--set-section-flags', '.note.gnu.build-id=alloc', os.path.join(ROOT, 'npu.ko'),
            self.path('sys/module/npu/notes/.note.gnu.build-id'))
        self.put('dev/accel/accel0', '')

    def unload(self):
        for name in ('sys/module', 'sys/class', 'dev'):
            self.remove(name)

    def doctor(self):
        done = npu('doctor', '--json', '--root', self.root, tool=tooltest.SANITIZED)
        return done, json.loads(done.text)['findings'] if done.text else []


def finding(findings, check):
    return next((found for found in findings if found['check'] == check), {})


def sign(system):
    """With a key of our own, as the manual says."""
    kdir = run('tests/vm/kernel.sh', '--get', 'kdir')
    key, cert = system.path('key.pem'), system.path('cert.der')
    run('openssl', 'req', '-new', '-x509', '-newkey', 'rsa:2048', '-nodes', '-keyout', key,
        '-outform', 'DER', '-out', cert, '-subj', '/CN=test/', '-days', '2')
    run(os.path.join(kdir, 'scripts/sign-file'), 'sha256', key, cert, system.path(system.module))


def other_note(system):
    path = system.path('sys/module/npu/notes/.note.gnu.build-id')
    data = bytearray(tooltest.read(path))
    data[-1] ^= 0xff
    tooltest.write(path, bytes(data))


def other_kernel(system):
    data = tooltest.read(system.path(system.module))
    system.put(system.module, data.replace(f'vermagic={RELEASE} '.encode(),
                                           f'vermagic={"9" + RELEASE[1:]} '.encode()))


def compressed_config(system):
    system.remove(f'boot/config-{RELEASE}')
    tool = zlib.compressobj(wbits=31)
    system.put('proc/config.gz', tool.compress(b'CONFIG_DRM_ACCEL=y\n') + tool.flush())
    system.unload()


def no_config(system):
    system.remove(f'boot/config-{RELEASE}')
    system.unload()


def unfit(system):
    system.put(f'boot/config-{RELEASE}', '# CONFIG_DRM_ACCEL is not set\n')
    system.unload()


def locked(system):
    system.put('sys/kernel/security/lockdown', 'none [integrity] confidentiality\n')
    system.unload()


def enforced(system):
    system.unload()
    system.put('sys/module/module/parameters/sig_enforce', 'Y\n')


def signed(system):
    locked(system)
    sign(system)


def not_installed(system):
    system.remove(system.module)
    system.depmod()
    system.unload()


def firmware(*arguments, **options):
    return lambda system: system.put(FILE, image(*arguments, **options))


def moved_firmware(system):
    system.put(f'lib/firmware/{RELEASE}/npu/npu_fw.bin', image())
    system.remove(FILE)


def later_firmware(system):
    """The kernel's search path comes before all folders."""
    system.put('sys/module/firmware_class/parameters/path', '/opt/firmware\n')
    system.put('opt/firmware/npu/npu_fw.bin', b'short')


CASES = (
    # what is planted, check, state, words of what is found, words of the advice
    ('nothing', lambda system: None, 'device', 'ok', '/dev/accel/accel0', None),
    ('kernel without accelerators', unfit, 'kernel', 'failed', 'without CONFIG_DRM_ACCEL',
     'boot a kernel'),
    ('configuration in /proc', compressed_config, 'kernel', 'ok', 'CONFIG_DRM_ACCEL', None),
    ('no configuration', no_config, 'kernel', 'unknown', 'no file tells', '/sys/class/accel'),
    ('module not installed', not_installed, 'driver', 'failed', 'neither loaded nor installed',
     'make install KVER='),
    ('module not loaded', System.unload, 'driver', 'warning', 'is not loaded', 'npu load'),
    ('module of another kernel', other_kernel, 'driver', 'failed', 'is for kernel 9',
     'make install KVER='),
    ('another build is loaded', other_note, 'driver', 'warning', 'that is loaded is not',
     'npu unload && npu load'),
    ('half a module', lambda system: system.put(system.module, b'no module'), 'driver', 'failed',
     'npu.ko', 'make install KVER='),
    ('lockdown', locked, 'driver', 'failed', 'has no signature, and lockdown is integrity',
     'mokutil'),
    ('enforced signatures', enforced, 'driver', 'failed', 'module.sig_enforce', 'mokutil'),
    ('lockdown and a signed module', signed, 'driver', 'warning', 'is not loaded', 'npu load'),
    ('lockdown as such', locked, 'lockdown', 'ok', 'signed modules only', None),
    ('no firmware', lambda system: (system.unload(), system.remove(FILE)), 'firmware', 'failed',
     'does not exist', 'make install'),
    ('firmware gone after loading', lambda system: system.remove(FILE), 'firmware', 'warning',
     'does not exist', 'make install'),
    ('damaged firmware', firmware(spoil=True), 'firmware', 'failed', 'CRC of the payload: expected',
     'make install'),
    ('no firmware but a text', lambda system: system.put(FILE, b'x' * 600), 'firmware', 'failed',
     'magic: expected', 'make install'),
    ('firmware of a later protocol', firmware('proto_min', 0x7fff), 'firmware', 'failed',
     'protocol version', 'make install'),
    ('firmware of another device', firmware('device', 0x7777), 'firmware', 'failed',
     'device number: expected', 'make install'),
    ('firmware in the folder of the release', moved_firmware, 'firmware', 'ok',
     f'/lib/firmware/{RELEASE}/', None),
    ('bad firmware that comes first', later_firmware, 'firmware', 'failed',
     '/opt/firmware/npu/npu_fw.bin: size of the file', 'make install'),
    ('no node', lambda system: system.remove('dev/accel/accel0'), 'device', 'failed',
     'accel0 does not exist', 'udev'),
    ('no device', lambda system: system.remove('sys/class/accel/accel0'), 'device', 'warning',
     'has no device', 'npu load --sim 1'),
)


def check_faults(report, folder):
    for name, plant, check, state, found, advice in CASES:
        system = System(folder)
        plant(system)
        done, findings = system.doctor()
        one = finding(findings, check)
        failed = [other['check'] for other in findings if other['state'] == 'failed']
        report.check(f'{name}: {check} is {state}', one.get('state') == state and
                     found in one['found'] and
                     (advice in one.get('advice', '') if advice else 'advice' not in one) and
                     done.status == (1 if failed else 0), f'{done}\n{one}')
        report.check(f'{name}: nothing else fails', set(failed) <= {check, 'driver'} and
                     (state == 'failed') == (check in failed), failed)
        report.check(f'{name}: paths are those of that system',
                     system.root not in done.text, done.text)


def check_here(report, folder):
    done = npu('doctor', '--test')
    report.check('the device model runs the job', done.status in (0, 1) and
                 'sim: a job of' in done.text, done)
    spoilt = tooltest.write(os.path.join(folder, 'fw.bin'), image(spoil=True))
    done = npu('doctor', '--test', NPU_FIRMWARE=spoilt)
    report.check('or says why not', done.status == 1 and 'CRC of the payload' in done.text, done)
    done = npu('doctor', '--test', '--json')
    value = json.loads(done.text)
    states = [found['state'] for found in value['findings']]
    report.check('JSON counts what it lists', value['failed'] == states.count('failed') and
                 value['warnings'] == states.count('warning'), done)
    done = npu('doctor', '--root', os.path.join(folder, 'nosuch'))
    report.check('an absent root is an error', done.status == 1 and 'nosuch: No such' in done.errors
                 and not done.output, done)


if __name__ == '__main__':
    tooltest.main(check_faults, check_here)
