#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 OR MIT
"""Puts struct npu_fw_header before the payload of the firmware.

usage: pack.py CONTRACT ELF PAYLOAD IMAGE

The layout and the constants come from the contract, entry and version from the symbols of the ELF file.
"""
import hashlib
import os
import struct
import sys
import zlib

import yaml

KINDS = {'u8': 'B', 'u16': 'H', 'u32': 'I', 'u64': 'Q'}


def load(contract, name):
    with open(os.path.join(contract, name), encoding='utf-8') as f:
        return yaml.safe_load(f)


def constants(contract):
    found = {}
    for name in ('registers.yaml', 'protocol.yaml'):
        found.update({c['name']: c['value'] for c in load(contract, name)['constants']})
    return found


def header_layout(contract):
    for s in load(contract, 'protocol.yaml')['structs']:
        if s['name'] == 'npu_fw_header':
            return s
    sys.exit('pack.py: the contract has no npu_fw_header')


def encode(layout, values):
    out = b''
    for f in layout['fields']:
        value = values.get(f['name'], 0)
        count = f.get('count', 1)
        if isinstance(value, bytes):
            out += value.ljust(count * struct.calcsize(KINDS[f['type']]), b'\0')
        else:
            out += struct.pack('<' + KINDS[f['type']], value) * count
    if len(out) != layout['size']:
        sys.exit(f'pack.py: the head has {len(out)} bytes, not {layout["size"]}')
    return out


def read_elf(elf):
    """Entry and symbols (values by name) of a little-endian 32-bit file."""
    if elf[:6] != b'\x7fELF\x01\x01':
        sys.exit('pack.py: not a little-endian 32-bit ELF file')
    entry, _, shoff = struct.unpack_from('<III', elf, 24)
    shentsize, shnum = struct.unpack_from('<HH', elf, 46)
    sections = [struct.unpack_from('<10I', elf, shoff + i * shentsize) for i in range(shnum)]
    symbols = {}
    for s in sections:
        if s[1] != 2:
            continue
        strings = sections[s[6]][4]
        for at in range(s[4], s[4] + s[5], 16):
            name, value = struct.unpack_from('<II', elf, at)
            end = elf.index(b'\0', strings + name)
            symbols[elf[strings + name:end].decode()] = value
    return entry, symbols


def main(argv):
    if len(argv) != 4:
        sys.exit(__doc__)
    contract, elf_path, payload_path, image_path = argv
    const = constants(contract)
    layout = header_layout(contract)
    with open(payload_path, 'rb') as f:
        payload = f.read()
    with open(elf_path, 'rb') as f:
        entry, symbols = read_elf(f.read())
    payload += b'\0' * (-len(payload) % 4)
    base = const['TCM_BASE']
    if len(payload) > const['FW_MAX_LENGTH']:
        sys.exit(f'pack.py: payload of {len(payload)} bytes, at most {const["FW_MAX_LENGTH"]}')
    if not base <= entry < base + len(payload):
        sys.exit(f'pack.py: entry 0x{entry:x} lies outside the payload')
    values = {
        'magic': const['FW_MAGIC'],
        'header_size': layout['size'],
        'device': const['DEVICE_V0'],
        'proto_min': const['PROTO_MIN'],
        'proto_max': const['PROTO_MAX'],
        'version': symbols['fw_version'],
        'security_version': symbols['fw_security_version'],
        'load_address': base,
        'entry': entry,
        'length': len(payload),
        'crc32': zlib.crc32(payload),
        'build_id': hashlib.sha256(payload).digest()[:16],
    }
    values['header_crc32'] = zlib.crc32(encode(layout, values))
    with open(image_path, 'wb') as f:
        f.write(encode(layout, values) + payload)


if __name__ == '__main__':
    main(sys.argv[1:])
