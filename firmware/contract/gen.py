#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 OR MIT
"""Generates C headers and manual tables from the contract.

usage: gen.py [--check] ROOT

Writes firmware/include/npu_{regs,proto,isa}.h and Documentation/hardware/tables/*.rst below ROOT; with --check it
writes nothing and fails when a file is not current.
"""
import os
import sys

import yaml

HERE = os.path.dirname(os.path.abspath(__file__))
SPDX = 'GPL-2.0-only OR Apache-2.0 OR MIT'
NOTE = 'Generated from firmware/contract by gen.py; do not edit.'
SIZES = {'u8': 1, 'u16': 2, 'u32': 4, 'u64': 8}
KEYS = {
    'constant': {'name', 'value', 'doc'},
    'value': {'name', 'value', 'doc'},
    'enum': {'name', 'prefix', 'kind', 'doc', 'values'},
    'reg': {'name', 'offset', 'host', 'cp', 'reset', 'doc', 'fields', 'count', 'stride'},
    'bitfield': {'name', 'bits', 'doc', 'signed'},
    'member': {'name', 'type', 'doc', 'count'},
    'struct': {'name', 'size', 'doc', 'fields'},
    'block': {'name', 'prefix', 'doc', 'regs'},
    'format': {'name', 'doc', 'fields', 'fields2', 'extra'},
}


class ContractError(Exception):
    pass


def need(cond, message):
    if not cond:
        raise ContractError(message)


def known(kind, item):
    extra = set(item) - KEYS[kind]
    need(not extra, f'{kind} {item.get("name")}: unknown keys {sorted(map(str, extra))} (a comma in a doc wants quotes)')
    need(item.get('doc'), f'{kind} {item.get("name")}: no doc')


def load(name):
    with open(os.path.join(HERE, name), encoding='utf-8') as f:
        return yaml.safe_load(f)


def num(value):
    if value > 0xffff:
        return f'0x{value:x}' + ('ull' if value > 0xffffffff else 'u')
    return f'{value}u'


class Header:
    def __init__(self, guard, includes=()):
        self.lines = [f'/* SPDX-License-Identifier: {SPDX} */', f'/* {NOTE} */', f'#ifndef {guard}', f'#define {guard}', '']
        for inc in includes:
            self.lines.append(f'#include {inc}')
        if includes:
            self.lines.append('')

    def comment(self, text):
        words, row, out = ' '.join(text.split()).split(' '), '', []
        for word in words:
            if row and len(row) + 1 + len(word) > 74:
                out.append(row)
                row = word
            else:
                row = f'{row} {word}' if row else word
        out.append(row)
        if len(out) == 1:
            self.lines.append(f'/* {out[0]} */')
        else:
            self.lines += ['/*'] + [f' * {r}' for r in out] + [' */']

    def define(self, name, value):
        tabs = '\t' * max(1, (40 - 8 - len(name) + 7) // 8)
        self.lines.append(f'#define {name}{tabs}{value}')

    def blank(self):
        if self.lines[-1] != '':
            self.lines.append('')

    def text(self):
        return '\n'.join(self.lines + ['', '#endif', '']).replace('\n\n\n', '\n\n')


def constants(h, items, prefix):
    for c in items:
        known('constant', c)
        h.comment(c['doc'])
        h.define(f'{prefix}{c["name"]}', num(c['value']))
    h.blank()


def enums(h, items):
    for e in items:
        known('enum', e)
        seen = set()
        h.comment(e['doc'])
        for v in e['values']:
            known('value', v)
            need(v['value'] not in seen, f'enum {e["name"]}: value {v["value"]} twice')
            seen.add(v['value'])
            name = f'NPU_{e["prefix"]}_{v["name"]}'
            h.define(name, f'(1u << {v["value"]})' if e.get('kind') == 'bits' else f'{v["value"]}u')
        if e.get('kind') == 'bits':
            for v in e['values']:
                h.define(f'NPU_{e["prefix"]}_{v["name"]}_BIT', f'{v["value"]}u')
        else:
            rows = ' \\\n'.join(f'\tX({v["name"]}, {v["value"]}, "{v["name"].lower()}")' for v in e['values'])
            h.lines.append(f'#define NPU_{e["prefix"]}_NAMES(X) \\\n{rows}')
        h.blank()


def reg_fields(h, base, fields, width):
    taken = 0
    for f in fields:
        known('bitfield', f)
        hi, lo = f['bits']
        need(width > hi >= lo >= 0, f'{base}.{f["name"]}: bits {hi}:{lo} do not fit {width}')
        mask = ((1 << (hi - lo + 1)) - 1) << lo
        need(not taken & mask, f'{base}.{f["name"]}: bits {hi}:{lo} overlap another field')
        taken |= mask
        h.define(f'{base}_{f["name"].upper()}_SHIFT', lo)
        h.define(f'{base}_{f["name"].upper()}_MASK', f'0x{mask:08x}u')


def reg_list(h, block):
    rows = []
    for r in block['regs']:
        mask = 0
        for f in r.get('fields', []):
            hi, lo = f['bits']
            mask |= ((1 << (hi - lo + 1)) - 1) << lo
        host, cp = (r.get(side, 'none').upper() for side in ('host', 'cp'))
        need({host, cp} <= {'NONE', 'RO', 'RW', 'WO', 'W1C'}, f'{block["name"]}.{r["name"]}: unknown access')
        fixed = isinstance(r['reset'], int)
        need(fixed or r['reset'] == 'impl', f'{block["name"]}.{r["name"]}: reset is neither a number nor impl')
        rows.append(f'\tX({r["name"]}, 0x{r["offset"]:03x}u, {r.get("count", 1)}u, {r.get("stride", 4)}u, {host}, {cp}, '
                    f'{"FIXED" if fixed else "IMPL"}, 0x{r["reset"] if fixed else 0:08x}u, 0x{mask or 0xffffffff:08x}u)')
    h.comment('X(name, offset, count, stride, access of the host, access of the control processor, whether the reset value is '
              'FIXED or the implementation\'s, reset value, bits that exist)')
    h.lines.append(f'#define NPU_{block["prefix"]}_REGS(X) \\\n' + ' \\\n'.join(rows))


def gen_regs(regs, timing, energy):
    h = Header('NPU_REGS_H')
    h.define('NPU_CONTRACT_MAJOR', regs['contract']['major'])
    h.define('NPU_CONTRACT_MINOR', regs['contract']['minor'])
    h.blank()
    constants(h, regs['constants'], 'NPU_')
    for b in regs['blocks']:
        known('block', b)
        h.comment(f'{b["name"]}: {b["doc"]}')
        used = set()
        for r in b['regs']:
            known('reg', r)
            count, stride = r.get('count', 1), r.get('stride', 4)
            span = {r['offset'] + i * stride for i in range(count)}
            need(not used & span, f'{b["name"]}.{r["name"]}: offset in use')
            need(r['offset'] % 4 == 0, f'{b["name"]}.{r["name"]}: offset not a multiple of 4')
            used |= span
            base = f'NPU_{b["prefix"]}_{r["name"]}'
            h.define(base if count == 1 else f'{base}(n)',
                     f'0x{r["offset"]:03x}u' if count == 1 else f'(0x{r["offset"]:03x}u + {stride}u * (n))')
            if count == 1 and isinstance(r['reset'], int) and r['reset']:
                h.define(f'{base}_RESET', f'0x{r["reset"]:08x}u')
            reg_fields(h, base, r.get('fields', []), 32)
        reg_list(h, b)
        h.blank()
    enums(h, regs['enums'])
    h.comment('Timing of the device model.')
    constants(h, timing['constants'], 'NPU_TIMING_')
    h.comment('The energy model.')
    constants(h, energy['constants'], 'NPU_ENERGY_')
    return h.text()


def gen_proto(proto):
    h = Header('NPU_PROTO_H')
    h.lines += ['#if defined(__KERNEL__) || defined(__linux__)', '#include <linux/types.h>', '#else', '#include <stdint.h>',
                'typedef uint8_t __u8;', 'typedef uint16_t __u16;', 'typedef uint32_t __u32;', 'typedef uint64_t __u64;',
                '#endif', '#ifdef __KERNEL__', '#include <linux/build_bug.h>', '#include <linux/stddef.h>', '#else',
                '#include <assert.h>', '#include <stddef.h>', '#endif', '']
    constants(h, proto['constants'], 'NPU_')
    enums(h, proto['enums'])
    for s in proto['structs']:
        known('struct', s)
        h.comment(s['doc'])
        h.lines.append(f'struct {s["name"]} {{')
        offset, checks = 0, []
        for f in s['fields']:
            known('member', f)
            size, count = SIZES[f['type']], f.get('count', 1)
            need(offset % size == 0, f'{s["name"]}.{f["name"]}: offset {offset} is not aligned to {size}')
            array = f'[{count}]' if 'count' in f else ''
            h.lines.append(f'\t__{f["type"]} {f["name"]}{array};')
            checks.append((f['name'], offset))
            offset += size * count
        need(offset == s['size'], f'{s["name"]}: members take {offset} bytes, size says {s["size"]}')
        h.lines.append('};')
        h.lines.append(f'static_assert(sizeof(struct {s["name"]}) == {s["size"]}, "{s["name"]}");')
        h.blank()
    return h.text()


def format_fields(fmt, common):
    fields = list(common) + fmt['fields'] + fmt.get('fields2', []) + fmt.get('extra', [])
    return sorted(fields, key=lambda f: f['bits'][1])


def field_list(h, macro, fields, width):
    taken, rows = 0, []
    for f in fields:
        known('bitfield', f)
        hi, lo = f['bits']
        need(width > hi >= lo >= 0 and hi // 64 == lo // 64, f'{macro}.{f["name"]}: bits {hi}:{lo}')
        mask = ((1 << (hi - lo + 1)) - 1) << lo
        need(not taken & mask, f'{macro}.{f["name"]}: overlaps')
        taken |= mask
        rows.append(f'\tX({f["name"]}, {lo // 64}, {lo % 64}, {hi - lo + 1}, {1 if f.get("signed") else 0})')
    h.lines.append(f'#define {macro}(X) \\\n' + ' \\\n'.join(rows))
    return taken


def gen_isa(isa):
    h = Header('NPU_ISA_H')
    h.comment('Field lists: X(name, 64-bit word, lowest bit in that word, width, signed). A *_VALID mask has a bit for each bit that '
              'some field of the format names; the others must be 0.')
    h.blank()
    constants(h, isa['constants'], 'NPU_')
    enums(h, isa['enums'])
    for fmt in isa['formats']:
        known('format', fmt)
        h.comment(f'Format {fmt["name"]}: {fmt["doc"]}')
        name = f'NPU_FMT_{fmt["name"].upper()}'
        valid = field_list(h, f'{name}_FIELDS', format_fields(fmt, isa['common']), 128)
        h.define(f'{name}_VALID_LO', f'0x{valid & (1 << 64) - 1:016x}ull')
        h.define(f'{name}_VALID_HI', f'0x{valid >> 64:016x}ull')
        h.blank()
    h.lines.append('#define NPU_FORMATS(X) \\\n' + ' \\\n'.join(f'\tX({f["name"]}, {f["name"].upper()})' for f in isa['formats']))
    h.blank()
    for w in isa['words']:
        h.comment(w['doc'])
        name = f'NPU_{w["name"].upper()}'
        valid = field_list(h, f'{name}_FIELDS', w['fields'], 32)
        h.define(f'{name}_VALID', f'0x{valid:08x}u')
        h.blank()
    return h.text()


def cell(text):
    return ' '.join(str(text).split())


def table(title, heads, rows, widths):
    out = [f'.. list-table:: {title}', '   :header-rows: 1', f'   :widths: {" ".join(map(str, widths))}', '']
    for row in [heads] + rows:
        for i, c in enumerate(row):
            out.append(('   * - ' if i == 0 else '     - ') + cell(c))
    return out + ['']


def hexnum(value):
    return f'``0x{value:x}``' if isinstance(value, int) and value > 9 else f'``{value}``'


def rst(*parts):
    body = [f'.. SPDX-License-Identifier: {SPDX}', f'.. {NOTE}', '']
    for p in parts:
        body += p
    return '\n'.join(body)


def const_table(title, items, prefix='NPU_'):
    return table(title, ['Constant', 'Value', 'Meaning'],
                 [[f'``{prefix}{c["name"]}``', hexnum(c['value']), c['doc']] for c in items], [25, 15, 60])


def enum_tables(items):
    out = []
    for e in items:
        head = 'Bit' if e.get('kind') == 'bits' else 'Value'
        out += [f'.. _npu-enum-{e["name"].replace("_", "-")}:', '']
        out += table(f'{e["name"]}: {e["doc"]}', [head, 'Name', 'Meaning'],
                     [[f'``{v["value"]}``', f'``{v["name"]}``', v['doc']] for v in e['values']], [10, 25, 65])
    return out


def reg_tables(regs):
    out = []
    for b in regs['blocks']:
        out += [f'.. _npu-block-{b["name"].lower()}:', '', cell(b['doc']), '']
        rows = []
        for r in b['regs']:
            offset = f'``0x{r["offset"]:03x}``' + (f' + {r.get("stride", 4)} n, n < {r["count"]}' if 'count' in r else '')
            rows.append([offset, f'``{r["name"]}``', r.get('host', '-'), r.get('cp', '-'), hexnum(r['reset']), r['doc']])
            for f in r.get('fields', []):
                hi, lo = f['bits']
                bits = f'{hi}:{lo}' if hi != lo else f'{lo}'
                rows.append(['', f'{bits} ``{f["name"]}``', '', '', '', f['doc']])
        out += table(f'Registers of the {b["name"]} block', ['Offset', 'Register', 'Host', 'CP', 'Reset', 'Meaning'], rows,
                     [12, 20, 6, 6, 12, 44])
    return out


def struct_tables(proto):
    out = []
    for s in proto['structs']:
        offset, rows = 0, []
        for f in s['fields']:
            size = SIZES[f['type']] * f.get('count', 1)
            kind = f['type'] + (f'[{f["count"]}]' if 'count' in f else '')
            rows.append([f'``{offset}``', f'``{kind}``', f'``{f["name"]}``', f['doc']])
            offset += size
        out += [f'.. _{s["name"].replace("_", "-")}:', '', cell(s['doc']), '']
        out += table(f'struct {s["name"]} ({s["size"]} bytes)', ['Offset', 'Type', 'Field', 'Meaning'], rows, [10, 12, 20, 58])
    return out


def isa_tables(isa):
    out = []
    formats = [(f['name'], f['doc'], format_fields(f, isa['common'])) for f in isa['formats']]
    formats += [(w['name'], w['doc'], w['fields']) for w in isa['words']]
    for name, doc, fields in formats:
        rows = []
        for f in fields:
            hi, lo = f['bits']
            rows.append([f'{hi}:{lo}' if hi != lo else f'{lo}', f'``{f["name"]}``', 'yes' if f.get('signed') else 'no', f['doc']])
        out += [f'.. _npu-format-{name.replace("_", "-")}:', '']
        out += table(f'{name}: {doc}', ['Bits', 'Field', 'Signed', 'Meaning'], rows, [12, 20, 8, 60])
    return out


def outputs():
    regs, proto, isa, timing, energy = (
        load(f'{n}.yaml') for n in ('registers', 'protocol', 'isa', 'timing', 'energy'))
    docs = 'Documentation/hardware/tables'
    return {
        'firmware/include/npu_regs.h': gen_regs(regs, timing, energy),
        'firmware/include/npu_proto.h': gen_proto(proto),
        'firmware/include/npu_isa.h': gen_isa(isa),
        f'{docs}/constants.rst': rst(const_table('Device', regs['constants']), const_table('Protocol', proto['constants']),
                                     const_table('Instruction set', isa['constants'])),
        f'{docs}/registers.rst': rst(reg_tables(regs), enum_tables(regs['enums'])),
        f'{docs}/protocol.rst': rst(struct_tables(proto), enum_tables(proto['enums'])),
        f'{docs}/isa.rst': rst(isa_tables(isa), enum_tables(isa['enums'])),
        f'{docs}/timing.rst': rst(const_table('Timing', timing['constants'], 'NPU_TIMING_')),
        f'{docs}/energy.rst': rst(const_table('Energy', energy['constants'], 'NPU_ENERGY_')),
    }


def main(argv):
    check = '--check' in argv
    args = [a for a in argv if a != '--check']
    if len(args) != 1:
        print(__doc__, file=sys.stderr)
        return 2
    try:
        files = outputs()
    except (ContractError, yaml.YAMLError, KeyError) as e:
        print(f'gen.py: {e}', file=sys.stderr)
        return 1
    stale = 0
    for path, text in files.items():
        full = os.path.join(args[0], path)
        old = open(full, encoding='utf-8').read() if os.path.exists(full) else None
        if old == text:
            continue
        if check:
            print(f'gen.py: {path} is not current; run make contract', file=sys.stderr)
            stale = 1
            continue
        os.makedirs(os.path.dirname(full), exist_ok=True)
        with open(full, 'w', encoding='utf-8') as f:
            f.write(text)
        print(f'  GEN     {path}')
    return stale


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
