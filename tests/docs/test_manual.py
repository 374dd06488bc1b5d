#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""The manual builds without a warning, and nothing public is undocumented; TAP."""

import glob
import os
import re
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
sys.path.insert(0, os.path.join(ROOT, 'Documentation/ext'))
import kernel_doc  # noqa: E402

HEADERS = ('userspace/libnpu/include/npu/npu.h', 'uapi/drm/npu_accel.h')
# A header that is documented, and what happens to it: a change, and the complaint it brings.
GOOD = '''/* SPDX-License-Identifier: MIT */
/* An example. */
#define NPU_SIZE	8	/* bytes */

/**
 * enum npu_kind - a choice
 * @NPU_ONE: the one
 * @NPU_TWO: the other
 */
enum npu_kind {
	NPU_ONE = 1,
	NPU_TWO = 2,
};

/**
 * struct npu_pair - two things
 * @first: of them, in a line
 *	and another
 * @second: of them
 * @rest: bytes
 * @raw: all bits
 * @real: a number
 */
struct npu_pair {
	uint32_t first;
	const char *second;
	uint8_t rest[4];
	union {
		int64_t raw;
		double real;
	};
};

/**
 * npu_act - does it
 * @pair: with these
 * @out: out: result
 *
 * Takes npu_act() and *pair as they are.
 *
 * Return: 0, or -EINVAL.
 * Since 0.1.
 */
NPU_API int npu_act(const struct npu_pair *pair,
		    int **out);
'''
FAULTS = (
    (' * npu_act - does it\n', ' * an act\n', 'function npu_act has no comment'),
    ('/**\n * npu_act', '/*\n * npu_act', 'function npu_act has no comment'),
    (' * @out: out: result\n', '', 'function npu_act: out is not described'),
    (' * @out: out: result\n', ' * @out:\n', 'function npu_act: out is not described'),
    (' * @out: out', ' * @result: gone\n * @out: out',
     'function npu_act: result is described and does not exist'),
    (' * Return: 0, or -EINVAL.\n', '', 'function npu_act: what it returns is not said'),
    (' * Since 0.1.\n', '', 'function npu_act: since when it exists is not said'),
    (' * @second: of them\n', '', 'struct npu_pair: second is not described'),
    (' * @rest: bytes\n', '', 'struct npu_pair: rest is not described'),
    (' * @real: a number\n', '', 'struct npu_pair: real is not described'),
    ('struct npu_pair - two', 'struct npu_double - two', 'struct npu_pair has no comment'),
    (' * @NPU_TWO: the other\n', '', 'enum npu_kind: NPU_TWO is not described'),
    ('\t/* bytes */', '', 'macro NPU_SIZE has no comment'),
)
number = failed = 0


def check(name, good, detail=''):
    global number, failed
    number += 1
    failed += not good
    print(f'{"ok" if good else "not ok"} {number} - {name}', flush=True)
    if not good:
        for line in str(detail).splitlines()[:40]:
            print('# ' + line)


def complaints_of(text, folder):
    path = os.path.join(folder, 'example.h')
    with open(path, 'w', encoding='ascii') as file:
        file.write(text)
    return list(kernel_doc.complaints(kernel_doc.read(path)))


def check_extractor(folder):
    check('a documented header brings no complaint', not complaints_of(GOOD, folder),
          complaints_of(GOOD, folder))
    for old, new, complaint in FAULTS:
        found = complaints_of(GOOD.replace(old, new, 1), folder)
        check(f'is noticed: {complaint}', old in GOOD and complaint in found, found)
    example = kernel_doc.read(os.path.join(folder, 'example.h'))
    act = next(symbol for symbol in example.symbols if symbol.name == 'npu_act')
    check('prototypes and texts come whole', act.declaration ==
          'int npu_act(const struct npu_pair *pair, int **out)' and
          act.comment.parts['pair'] == 'with these', act)
    text = '\n'.join(kernel_doc.rest_of(example))
    check('code in a text is marked, and the rest has no meaning',
          'Takes ``npu_act()`` and \\*pair as' in text, text)


def check_headers():
    for path in HEADERS:
        header = kernel_doc.read(os.path.join(ROOT, path))
        bad = list(kernel_doc.complaints(header))
        check(f'every public symbol of {path} is documented', not bad, '\n'.join(bad))
        declared = re.findall(r'^NPU_API\b', header.text, re.MULTILINE)
        functions = [symbol for symbol in header.symbols if symbol.kind == 'function']
        types = re.findall(r'^(?:struct|enum) \w+ \{', header.text, re.MULTILINE)
        check(f'and none of {path} is overlooked', len(functions) == len(declared) and
              len(header.symbols) == len(declared) + len(types),
              f'{len(functions)} of {len(declared)}, {len(header.symbols)}')


def page(folder, name):
    with open(os.path.join(folder, name), encoding='utf-8') as file:
        return file.read()


def check_manual(folder):
    done = subprocess.run(['sphinx-build', '-q', '-E', '-W', '--keep-going', '-d', folder + '/trees',
                           '-b', 'html', 'Documentation', folder + '/html'], cwd=ROOT, text=True,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, check=False)
    check('the manual builds without a warning', done.returncode == 0 and not done.stdout,
          done.stdout)
    for path, name in zip(HEADERS, ('libnpu.html', 'uapi.html')):
        header = kernel_doc.read(os.path.join(ROOT, path))
        text = page(folder + '/html', name)
        missing = [symbol.name for symbol in header.symbols if f'id="c.{symbol.name}"' not in text]
        missing += [request for request, _, _ in header.ioctls if request not in text]
        check(f'{name} has all of {path}', not missing, missing)
    sources = {os.path.relpath(path, ROOT + '/Documentation')[:-len('.rst')]
               for path in glob.glob(ROOT + '/Documentation/**/*.rst', recursive=True)}
    pages = {name for name in sources if not name.startswith('hardware/tables/')}
    missing = [name for name in sorted(pages) if not os.path.exists(f'{folder}/html/{name}.html')]
    check('each source is a page', len(pages) > 10 and not missing, missing)
    check('the picture is there', os.path.exists(folder + '/html/_images/architecture.svg'))


def check_commands():
    """What pages tell a person to type exists: targets of make and commands of the tool."""
    makefile = page(ROOT, 'Makefile')
    main = page(ROOT, 'userspace/tools/main.c')
    for path in sorted(glob.glob(ROOT + '/Documentation/*.rst')):
        text = page(os.path.dirname(path), os.path.basename(path))
        targets = set(re.findall(r'(?:^    |``)make ([a-z][a-z-]+)', text, re.MULTILINE))
        commands = set(re.findall(r'(?:^    |``)npu ([a-z]+)', text, re.MULTILINE))
        bad = [f'make {name}' for name in targets
               if not re.search(rf'^{name}:', makefile, re.MULTILINE)]
        bad += [f'npu {name}' for name in commands if f'&tool_{name},' not in main]
        files = set(re.findall(r'``((?:tests|userspace|firmware|uapi|kernel)/[\w./-]+)``', text))
        bad += [name for name in files if not os.path.exists(os.path.join(ROOT, name))]
        check(f'{os.path.basename(path)} names what exists', not bad, bad)


def main():
    with tempfile.TemporaryDirectory(prefix='npu-docs-') as folder:
        check_extractor(folder)
        check_headers()
        check_commands()
        check_manual(folder)
    print(f'1..{number}')
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
