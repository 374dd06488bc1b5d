#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""npu compile: report, refusals, and an output that is whole or untouched; TAP."""

import json
import os
import stat

import tooltest
from tooltest import MODEL, npu, read, write

NODES = ('quantise', 'conv1', 'relu1', 'conv2', 'relu2', 'pool1', 'conv3', 'relu3', 'conv4',
         'relu4', 'pool2', 'flatten', 'dense', 'dequantise')


def check_report(report, folder):
    path = os.path.join(folder, 'm.npu')
    done = npu('compile', MODEL, '-o', path)
    lines = done.text.splitlines()
    report.check('a model is compiled', done.status == 0 and not done.errors, done)
    report.check('the report has a line for each operator',
                 [line.split()[1] for line in lines[1:-1]] == list(NODES), done)
    report.check('and ends with the NPU\'s share',
                 lines[-1] == '11 of 13 operators that do work run on the NPU, 2740608 MAC', done)
    found = npu('compile', MODEL, '-o', path, '--json')
    facts = json.loads(found.text)
    report.check('the JSON names the same operators',
                 [row['node'] for row in facts['operators']] == list(NODES) and
                 facts['npu_operators'] == 11 and facts['all_operators'] == 14, found)
    report.check('sums are those of the rows', facts['macs'] == 2740608 ==
                 sum(row['macs'] for row in facts['operators']), found)
    dumped = json.loads(npu('objdump', '--json', path).text)
    report.check('the module carries the report', dumped['compiler'] == facts, dumped)
    done = npu('compile', MODEL, '-q', '-o', path)
    report.check('-q prints nothing', done.status == 0 and not done.output and not done.errors, done)


def check_options(report, folder):
    path = os.path.join(folder, 'm.npu')
    once = read(tooltest.module(folder))
    report.check('compiling is deterministic', once == read(tooltest.module(folder)))
    done = npu('compile', '-', '-o', path, '-q', data=read(MODEL))
    report.check('the model may come from standard input', done.status == 0 and
                 read(path) == once, done)
    npu('compile', MODEL, '-o', path, '-q', '--function', 'classify')
    names = [f['name'] for f in json.loads(npu('objdump', '--json', path).text)['functions']]
    report.check('--function names the function', names == ['classify'], names)
    done = npu('run', path, '--function', 'classify')
    report.check('which is called by that name', done.status == 0, done)
    npu('compile', MODEL, '-o', path, '-q', '--yield', '2000')
    text = npu('objdump', '-d', path).text
    plain = npu('objdump', '-d', tooltest.module(folder)).text
    report.check('--yield puts in points to yield', text.count('yield') > plain.count('yield') == 0,
                 text)


def damaged(folder, before, after):
    data = read(MODEL)
    assert before in data and len(before) == len(after)
    return write(os.path.join(folder, 'damaged.onnx'), data.replace(before, after))


def check_refusals(report, folder):
    unknown = damaged(folder, b'QLinearMatMul', b'QLinearMatBul')
    path = os.path.join(folder, 'm.npu')
    done = npu('compile', unknown, '-o', path)
    report.check('a refusal names the file, the operator and the node', done.status == 1 and
                 all(word in done.errors for word in (unknown, 'QLinearMatBul', 'dense')), done)
    report.check('it is one line, on standard error alone',
                 done.errors.count('\n') == 1 and not done.output, done)
    report.check('nothing is written', os.listdir(folder) == ['damaged.onnx'], os.listdir(folder))
    write(path, b'precious')
    done = npu('compile', unknown, '-o', path)
    report.check('an existing output is untouched', done.status == 1 and
                 read(path) == b'precious' and len(os.listdir(folder)) == 2, os.listdir(folder))
    for name, data in (('empty', b''), ('text', b'hello\n'), ('truncated', read(MODEL)[:20000]),
                       ('zeros', bytes(5000))):
        source = write(os.path.join(folder, 'damaged.onnx'), data)
        done = npu('compile', source, '-o', path)
        report.check(f'{name} model is refused with a reason', done.status == 1 and
                     done.errors.startswith(f'npu: {source}: ') and read(path) == b'precious', done)
    larger = damaged(folder, b'kernel_shape', b'kernel_shapf')
    done = npu('compile', larger, '-o', path)
    report.check('an attribute that is not known is refused by the node', done.status == 1 and
                 'conv1: attribute "kernel_shapf"' in done.errors and read(path) == b'precious', done)


def varint(number):
    digits = []
    while number > 127:
        digits.append(number & 127 | 128)
        number >>= 7
    return bytes([*digits, number])


def nested(levels):
    """A model of graphs, in an attribute of a node of a graph each."""
    parts, size = [], 0
    for level in range(levels):
        parts.append(bytes([(6, 5, 1)[level % 3] << 3 | 2]) + varint(size))
        size += len(parts[-1])
    body = b''.join(reversed(parts))
    return bytes([7 << 3 | 2]) + varint(size) + body


def check_nesting(report, folder):
    path = os.path.join(folder, 'm.npu')
    for levels, text in ((96, 'operator set'), (99, 'more than 100 deep'),
                         (3000000, 'more than 100 deep')):
        done = npu('compile', '-', '-o', path, data=nested(levels))
        report.check(f'{levels} messages in one another are refused', done.status == 1 and
                     text in done.errors and not os.listdir(folder), done)


def field(number, value):
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    return varint(number << 3 | 2) + varint(len(value)) + value


def attribute(name, kind):
    return field(5, field(1, name) + field(20, kind))


def check_additions(report, folder):
    """What is appended to a message is merged into it."""
    path = os.path.join(folder, 'm.npu')
    node = field(4, b'QLinearConv') + field(3, b'more')
    float_tensor = field(2, field(1, field(1, 1)))
    for name, part, text in (
            ('an input twice', field(11, field(1, b'image')), 'input image is there twice'),
            ('an output twice', field(12, field(1, b'logits') + float_tensor),
             'output logits is there twice'),
            ('data of two kinds', field(5, field(8, b'both') + field(1, 1) + field(2, 3) +
                                        field(9, b'x') + field(5, 1)),
             'tensor both: has both raw data and 1 elements of typed data'),
            ('an attribute twice', field(1, node + attribute(b'group', 2) + attribute(b'group', 2)),
             'QLinearConv more: attribute group is there twice'),
            ('a string for a number', field(1, node + attribute(b'group', 3)),
             'QLinearConv more: attribute group is of type STRING, want INT'),
            ('a number for a list', field(1, node + attribute(b'pads', 2)),
             'QLinearConv more: attribute pads is of type INT, want INTS'),
            ('a number for a string', field(1, node + attribute(b'auto_pad', 2)),
             'QLinearConv more: attribute auto_pad is of type INT, want STRING'),
            ('a type that is none', field(1, node + attribute(b'axis', 99)),
             'QLinearConv more: attribute axis is of type unknown, want INT')):
        done = npu('compile', '-', '-o', path, data=read(MODEL) + field(7, part))
        report.check(f'{name} is refused', done.status == 1 and text in done.errors and
                     not os.listdir(folder), done)
    done = npu('compile', '-', '-o', path, '-q', data=read(MODEL) + field(7, b''))
    report.check('nothing appended changes nothing', done.status == 0, done)


def check_many(report, folder):
    """What a search through all names for each of them would take hours for."""
    path = os.path.join(folder, 'm.npu')
    constants = b''.join(field(5, field(8, b'c%d' % i) + field(1, 1) + field(2, 3) + field(9, b'x'))
                         for i in range(400000))
    done = npu('compile', '-', '-o', path, '-q', data=read(MODEL) + field(7, constants))
    report.check('hundreds of thousands of constants are read', done.status == 0, done)


def check_names(report, folder):
    path = os.path.join(folder, 'm.npu')
    for name, text in (('lone byte', b'\xffense'), ('cut character', b'den\xe2\x82'),
                       ('surrogate', b'\xed\xa0\x80se'), ('overlong', b'\xc0\xafnse'),
                       ('beyond Unicode', b'\xf4\x90\x80\x80e'), ('NUL', b'de\0se')):
        done = npu('compile', '-', '-o', path, data=read(MODEL).replace(b'dense', text))
        report.check(f'a name that is not UTF-8 is refused: {name}', done.status == 1 and
                     'UTF-8' in done.errors and 'NodeProto' in done.errors and
                     not os.listdir(folder), done)
    for text in ('\u00e9\u20ac', 'e\U0001f980', '\ud7ff\u07ff', 'a\x1b\n\x7fz'):
        data = read(MODEL).replace(b'dense', text.encode())
        done = npu('compile', '-', '-o', path, '--json', data=data)
        report.check(f'{ascii(text)} is a name', done.status == 0 and
                     text in [row['node'] for row in json.loads(done.text)['operators']], done)


def check_files(report, folder):
    done = npu('compile', os.path.join(folder, 'absent'), '-o', os.path.join(folder, 'm.npu'))
    report.check('an absent model', done.status == 1 and 'absent: No such file' in done.errors, done)
    done = npu('compile', folder, '-o', os.path.join(folder, 'm.npu'))
    report.check('a folder is no model', done.status == 1 and 'directory' in done.errors, done)
    done = npu('compile', MODEL, '-o', os.path.join(folder, 'no/such/m.npu'))
    report.check('an absent folder', done.status == 1 and 'No such file' in done.errors, done)
    done = npu('compile', MODEL, '-o', folder)
    report.check('a folder is no output', done.status == 1 and folder in done.errors, done)
    done = npu('compile', MODEL, '-o', os.path.join('/proc', 'm.npu'))
    report.check('an unwritable folder', done.status == 1 and '/proc/m.npu' in done.errors and
                 not done.output, done)
    report.check('nothing stays behind', not os.listdir(folder), os.listdir(folder))


def check_replacing(report, folder):
    want = read(tooltest.module(folder))
    target = write(os.path.join(folder, 'target.npu'), b'old')
    os.chmod(target, 0o640)
    link = os.path.join(folder, 'link.npu')
    os.symlink('target.npu', link)
    with open(target, 'rb') as reader:
        done = npu('compile', MODEL, '-o', link, '-q')
        report.check('who reads the old file goes on reading it', reader.read() == b'old')
    report.check('a link leads to the file that is replaced', done.status == 0 and
                 os.path.islink(link) and read(target) == want, done)
    report.check('the mode stays', stat.S_IMODE(os.stat(target).st_mode) == 0o640)
    fresh = os.path.join(folder, 'fresh.npu')
    mask = os.umask(0o027)
    npu('compile', MODEL, '-o', fresh, '-q')
    os.umask(mask)
    report.check('a new file obeys the umask', stat.S_IMODE(os.stat(fresh).st_mode) == 0o640)
    done = npu('compile', MODEL, '-o', '/proc/self/fd/1', '-q')
    report.check('a pipe is written into', done.status == 0 and done.output == want, done.errors)
    fifo = os.path.join(folder, 'fifo')
    os.mkfifo(fifo)
    with os.fdopen(os.open(fifo, os.O_RDWR), 'rb'):
        done = npu('compile', MODEL, '-o', fifo, '-q')
    report.check('so is a fifo, which stays one', done.status == 0 and
                 stat.S_ISFIFO(os.stat(fifo).st_mode), done)
    os.unlink(fifo)
    os.symlink('nothing', os.path.join(folder, 'dangling'))
    done = npu('compile', MODEL, '-o', os.path.join(folder, 'dangling'), '-q')
    report.check('a link to nothing is refused', done.status == 1 and 'dangling' in done.errors, done)
    os.unlink(os.path.join(folder, 'dangling'))
    report.check('no other file was made', sorted(os.listdir(folder)) == [
        'fashion.npu', 'fresh.npu', 'link.npu', 'target.npu'], os.listdir(folder))


if __name__ == '__main__':
    tooltest.main(check_report, check_options, check_refusals, check_nesting, check_names,
                  check_additions, check_many, check_files, check_replacing)
