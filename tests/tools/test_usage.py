#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Command lines, help, manual pages and colours of the npu command; TAP."""

import glob
import json
import os
import pty
import re

import tooltest
from tooltest import MODEL, ROOT, npu

COMMANDS = ('list', 'info', 'load', 'unload', 'run', 'compile', 'objdump', 'account', 'coredump',
            'doctor', 'reset', 'top')
OTHER_PAGES = (('npu', 4), ('npu', 7), ('libnpu', 7))
PARAMETERS = (('npu', 'kernel/npu_drv.c'), ('npu_sim', 'kernel/sim/npu_sim.c'))
SECTIONS = ('NAME', 'SYNOPSIS', 'DESCRIPTION', 'OPTIONS', 'EXIT STATUS', 'EXAMPLES', 'SEE ALSO')
OPTION = re.compile(r'(?<![\w-])(--?[a-z][a-z-]*)')


def page_source(name, number=1):
    path = os.path.join(ROOT, 'userspace/tools/man', f'{name}.{number}.scd')
    return tooltest.read(path).decode()


def section(source, name):
    found = re.search(rf'^# {name}\n(.*?)(?=^# |\Z)', source, re.MULTILINE | re.DOTALL)
    return found.group(1) if found else ''


def page_options(source):
    """Those that the section of the options describes: their lines start at the margin."""
    lines = re.findall(r'^\*-.*$', section(source, 'OPTIONS'), re.MULTILINE)
    return {option for line in lines for option in re.findall(r'\*(--?[\w-]+)\*', line)}


def usage_options(text):
    """The first words of the option lines in the help text."""
    heads = re.findall(r'^  +(-.*?)(?:  |$)', text, re.MULTILINE)
    return {option for head in heads for option in OPTION.findall(head)}


def check_command_lines(report, folder):
    for words, text in (
            ((), 'usage: npu COMMAND'), (('nosuch',), '"nosuch"'), (('--nosuch',), '"--nosuch"'),
            (('list', '--nosuch'), '--nosuch'), (('list', 'word'), '"word"'),
            (('info', 'a', 'b'), '"b"'), (('load', '--sim'), '--sim'),
            (('load', '--sim', '0'), '1 to 16'), (('load', '--sim', '17'), '1 to 16'),
            (('load', '--sim', '2x'), '"2x"'), (('load', 'word'), '"word"'),
            (('unload', 'word'), '"word"'), (('unload', '--force'), '--force'),
            (('doctor', 'word'), '"word"'), (('doctor', '--root', '/', '--test'), '--root'),
            (('run',), 'usage: npu run'), (('run', 'a', 'b'), '"b"'),
            (('run', 'a', '--items', '0'), '--items'), (('run', 'a', '--items', ''), '--items'),
            (('run', 'a', '--seed', '-1'), '--seed'), (('run', 'a', '--input'), '--input'),
            (('compile',), 'usage: npu compile'), (('compile', MODEL), '-o'),
            (('compile', MODEL, '-o', ''), '-o'), (('compile', '-o', 'x'), 'usage: npu compile'),
            (('compile', MODEL, '-o', 'x', '--function', ''), 'name is empty'),
            (('compile', MODEL, '-o', 'x', '--yield', '0'), '--yield'),
            (('account', 'a', 'b'), '"b"'), (('account', '--by', 'x'), '"x"'), (('coredump', 'a', 'b'), '"b"'),
            (('reset',), 'usage: npu reset'), (('top', '--interval', '1'), '--interval'), (('reset', 'a', 'b'), '"b"'),
            (('objdump',), 'usage: npu objdump'), (('objdump', '-x', 'a'), "'x'"),
            (('objdump', 'a', 'b'), '"b"')):
        done = npu(*words)
        report.check(f'"npu {" ".join(words)}" is a usage error'.replace(MODEL, 'MODEL'),
                     done.status == 2 and text in done.errors and not done.output, done)
    report.check('a usage error writes nothing', not os.listdir(folder) and
                 not os.path.exists(os.path.join(ROOT, 'x')))


def check_help(report, _folder):
    listed = re.findall(r'^  ([a-z]+) ', npu('--help').text, re.MULTILINE)
    report.check('every command is tested here', sorted(listed) == sorted(COMMANDS), listed)
    for word in ('--help', '-h', 'help'):
        done = npu(word)
        report.check(f'npu {word} names every command', done.status == 0 and all(
            re.search(rf'^  {name} ', done.text, re.MULTILINE) for name in COMMANDS), done)
    done = npu('--version')
    version = tooltest.read(os.path.join(ROOT, 'VERSION')).decode().strip()
    report.check('npu --version is that of the tree',
                 done.status == 0 and done.text == f'npu {version}\n', done)
    for name in COMMANDS:
        done = npu(name, 'word', '--help')
        report.check(f'npu {name} --help', done.status == 0 and not done.errors and
                     done.text.startswith(f'usage: npu {name}'), done)


def check_pages(report, _folder):
    for name in COMMANDS:
        described = page_options(page_source(f'npu-{name}'))
        named = usage_options(npu(name, '--help').text)
        report.check(f'npu-{name}(1) describes the options that npu {name} takes',
                     named == described and {'-h', '--help'} <= named,
                     f'help: {sorted(named)}\npage: {sorted(described)}')
    help_text = npu('--help').text
    source = page_source('npu')
    report.check('npu(1) describes the options of npu itself',
                 page_options(source) == set(OPTION.findall(help_text.split('\n\n')[0])) | {'-h'},
                 page_options(source))
    for name in ('npu',) + tuple(f'npu-{name}' for name in COMMANDS):
        source = page_source(name)
        missing = [part for part in SECTIONS if not section(source, part).strip()]
        report.check(f'{name}(1) has all sections', not missing, missing)
        roff = os.path.join(tooltest.BUILD, 'userspace/tools/man', f'{name}.1')
        report.check(f'{name}.1 is built', os.path.exists(roff) and
                     b'.TH "' + name.encode() + b'"' in tooltest.read(roff), roff)
    check_references(report)


def check_references(report):
    pages = {tuple(os.path.basename(path).split('.')[:2])
             for path in glob.glob(os.path.join(ROOT, 'userspace/tools/man/*.scd'))}
    for name, number in sorted(pages):
        found = set(re.findall(r'\*((?:lib)?npu[a-z-]*)\*\((\d)\)', page_source(name, number)))
        report.check(f'{name}({number}) refers to pages that exist', found and found <= pages,
                     sorted(found - pages))


def check_other_pages(report, _folder):
    for name, number in OTHER_PAGES:
        source = page_source(name, number)
        report.check(f'{name}({number}) has a head, a name and its sections',
                     source.startswith(f'{name}({number})\n') and
                     f'\n{name} - ' in section(source, 'NAME') and
                     all(section(source, part).strip() for part in ('DESCRIPTION', 'SEE ALSO')))
        roff = os.path.join(tooltest.BUILD, 'userspace/tools/man', f'{name}.{number}')
        report.check(f'{name}.{number} is built', os.path.exists(roff) and
                     f'.TH "{name}" "{number}"'.encode() in tooltest.read(roff), roff)
    parameters = {f'{module}.{name}' for module, path in PARAMETERS for name in re.findall(
        r'MODULE_PARM_DESC\((\w+)', tooltest.read(os.path.join(ROOT, path)).decode())}
    described = set(re.findall(r'^\*(npu\w*\.\w+)\*', section(page_source('npu', 4), 'PARAMETERS'),
                               re.MULTILINE))
    report.check('npu(4) describes the parameters that the modules have',
                 parameters and parameters == described, f'{parameters}\n{described}')
    functions = set(re.findall(r'\*(npu_\w+)\*\(\)', page_source('libnpu', 7)))
    header = tooltest.read(os.path.join(ROOT, 'userspace/libnpu/include/npu/npu.h')).decode()
    report.check('libnpu(7) names functions that exist', len(functions) > 5 and all(
        re.search(rf'^NPU_API .*\b{name}\(', header, re.MULTILINE) for name in functions), functions)


def on_terminal(folder, words, keys=b'', **environment):
    """What the command writes where all its channels are a terminal, on which @keys are typed."""
    env = {'TERM': 'xterm', 'PATH': os.environ['PATH'], 'NPU_DEVICE': 'sim', **environment}
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(folder)
        os.execve(tooltest.TOOL, [tooltest.TOOL, *words], env)
    output = b''
    if keys:
        os.write(terminal, keys)
    while True:
        try:
            data = os.read(terminal, 65536)
        except OSError:  # the other side is closed
            break
        if not data:
            break
        output += data
    os.waitpid(pid, 0)
    os.close(terminal)
    return output


def has_terminals():
    try:
        for number in os.openpty():
            os.close(number)
    except OSError:  # a root without /dev/pts
        return False
    return True


def check_terminal(report, folder):
    if not has_terminals():
        report.skip('colours and JSON on a terminal', 'no pseudo terminal can be opened here')
        return
    words = ('compile', MODEL, '-o', 'm.npu')
    report.check('a terminal gets colours', b'\033[' in on_terminal(folder, words))
    report.check('errors are coloured there', b'\033[' in on_terminal(folder, ('nosuch',)))
    report.check('findings are coloured there', b'\033[' in on_terminal(folder, ('doctor',)))
    report.check('NO_COLOR is obeyed',
                 b'\033' not in on_terminal(folder, words, NO_COLOR='1'))
    report.check('a dumb terminal gets none',
                 b'\033' not in on_terminal(folder, words, TERM='dumb'))
    pretty = on_terminal(folder, ('info', '--json')).replace(b'\r\n', b'\n')
    plain = npu('info', '--json').text
    report.check('JSON is the same, indented and uncoloured, on a terminal',
                 pretty.count(b'\n') > 5 and json.loads(pretty) == json.loads(plain), pretty)
    screen = on_terminal(folder, ('top',), keys=b'q')
    report.check('npu top draws a screen until q is pressed',
                 b'quits' in screen and b'npu top' in screen, screen)
    report.check('a terminal that nobody knows is named',
                 b'"nosuch"' in on_terminal(folder, ('top',), TERM='nosuch'))


def check_pipe(report, folder):
    path = tooltest.module(folder)
    for words in (('compile', MODEL, '-o', path), ('run', path), ('objdump', path), ('list',),
                  ('info',), ('nosuch',)):
        done = npu(*words, TERM='xterm')
        report.check(f'no colours in a pipe: {words[0]}',
                     b'\033' not in done.output and '\033' not in done.errors, done)
    plain = npu('info', '--json').text
    report.check('JSON is one line in a pipe', plain.count('\n') == 1, plain)


def check_output_errors(report, _folder):
    for words in (('--help',), ('info',), ('info', '--json'), ('list', '--json')):
        with open('/dev/full', 'wb') as full:
            child = tooltest.subprocess.run(
                [tooltest.TOOL, *words], stdout=full, stderr=tooltest.subprocess.PIPE,
                env={**os.environ, 'NPU_DEVICE': 'sim'}, check=False)
        report.check(f'a full disk is an error: npu {" ".join(words)}',
                     child.returncode == 1 and b'standard output' in child.stderr, child)


def check_names_from_outside(report, folder):
    done = npu('run', '\033[31mred\n')
    report.check('control characters in names do not reach the terminal',
                 done.status == 1 and '\033' not in done.errors and r'\x1b[31mred\x0a' in done.errors,
                 done)
    path = tooltest.write(os.path.join(folder, 'evil.onnx'),
                          tooltest.read(MODEL).replace(b'pool1', b'p\033[7m'))
    done = npu('compile', path, '-o', os.path.join(folder, 'm'))
    report.check('nor do those of a model', done.status == 0 and b'\033' not in done.output and
                 r'p\x1b[7m' in done.text, done)


if __name__ == '__main__':
    tooltest.main(check_command_lines, check_help, check_pages, check_other_pages, check_terminal, check_pipe,
                  check_output_errors, check_names_from_outside)
