#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Reads kernel-doc comments of C headers: a directive for Sphinx, and a check.

usage: kernel_doc.py HEADER...
prints each public symbol that is not documented, and ends with status 1 if there is one.
"""

import os
import re
import sys
from dataclasses import dataclass, field

COMMENT = re.compile(r'/\*\*\n(.*?)\*/\n', re.DOTALL)
HEAD = re.compile(r'(?:(struct|enum)\s+)?(\w+)\s+-\s+(.*)', re.DOTALL)
FUNCTION = re.compile(r'^NPU_API\s+([^;{]*?\b(\w+)\([^;]*\));', re.MULTILINE | re.DOTALL)
TYPE = re.compile(r'^(struct|enum)\s+(\w+)\s*\{(.*?)^\};', re.MULTILINE | re.DOTALL)
MACRO = re.compile(r'^#define\s+(\w+)[ \t]+(?:\\\n\s*)?(\S[^\n]*?)[ \t]*(?:/\*\s*(.*?)\s*\*/)?$',
                   re.MULTILINE | re.DOTALL)
IOCTL = re.compile(r'DRM_(IOWR|IOW|IOR|IO)\(DRM_COMMAND_BASE \+ (\w+)(?:, struct (\w+))?\)')
# A word that is code: a symbol, a call, a parameter, a constant, one with a wildcard.
CODE = re.compile(r'@?\b[A-Za-z]\w*_[\w*]*(?:\(\))?|@\w+|\b[A-Za-z]\w*\(\)|\b[A-Z]{2,}[A-Z0-9]*\b')


@dataclass
class Comment:
    """@parts: text by the name of the parameter or member it describes."""
    kind: str
    name: str
    summary: str
    parts: dict = field(default_factory=dict)
    body: list = field(default_factory=list)


@dataclass
class Symbol:
    """@members: pairs of name and declaration; @comment: None if there is none."""
    kind: str
    name: str
    declaration: str
    members: list
    at: int
    comment: Comment = None


@dataclass
class Header:
    path: str
    intro: list
    symbols: list
    macros: list
    ioctls: list
    text: str


def paragraphs(lines):
    """Texts between empty lines."""
    found, current = [], []
    for line in [*lines, '']:
        if line.strip():
            current.append(line.strip())
        elif current:
            found.append(' '.join(current))
            current = []
    return found


def read_comment(text):
    lines = [re.sub(r'^ \* ?', '', line).rstrip() for line in text.split('\n')]
    lines = [line if line != ' *' else '' for line in lines]
    head, rest = [], list(lines)
    while rest and rest[0].strip() and not rest[0].startswith('@'):
        head.append(rest.pop(0).strip())
    match = HEAD.match(' '.join(head))
    if not match:
        return None
    comment = Comment(match[1] or 'function', match[2], match[3])
    name = None
    while rest and (rest[0].startswith('@') or (name and rest[0].startswith(('\t', ' ')))):
        line = rest.pop(0)
        part = re.match(r'@(\w+):\s*(.*)', line)
        if part:
            name = part[1]
            comment.parts[name] = part[2]
        else:
            comment.parts[name] += ' ' + line.strip()
    comment.body = paragraphs(rest)
    return comment


def parameters(prototype):
    inner = prototype[prototype.index('(') + 1:prototype.rindex(')')]
    if inner.strip() in ('', 'void'):
        return []
    return [(re.search(r'(\w+)(?:\[\w*\])?$', one.strip())[1], ' '.join(one.split()))
            for one in inner.split(',')]


def members(kind, body):
    body = re.sub(r'/\*.*?\*/', '', body, flags=re.DOTALL)
    if kind == 'enum':
        return [(one.split('=')[0].strip(), ' '.join(one.split()))
                for one in body.split(',') if one.strip()]
    # Members of an anonymous union are members of the structure.
    body = re.sub(r'\b(?:union|struct)\s*\{|\}\s*;', '', body)
    found = []
    for one in body.split(';'):
        words = ' '.join(one.split())
        if words:
            found.append((re.search(r'(\w+)(?:\[[^\]]*\])*$', words)[1], words))
    return found


def introduction(text):
    """The first comment behind the licence."""
    match = re.search(r'\*/\n/\*\n(.*?)\*/', text, re.DOTALL)
    return paragraphs(re.sub(r'^ \* ?', '', line) for line in match[1].split('\n')) if match else []


def read(path):
    with open(path, encoding='utf-8') as file:
        text = file.read()
    comments = {}
    for match in COMMENT.finditer(text):
        comment = read_comment(match[1])
        if comment:
            comments[(comment.kind, comment.name, match.end())] = comment
    symbols = []
    for match in FUNCTION.finditer(text):
        prototype = ' '.join(match[1].split())
        symbols.append(Symbol('function', match[2], prototype, parameters(prototype),
                              match.start()))
    for match in TYPE.finditer(text):
        symbols.append(Symbol(match[1], match[2], match[2], members(match[1], match[3]),
                              match.start()))
    symbols.sort(key=lambda symbol: symbol.at)
    for symbol in symbols:
        symbol.comment = comments.get((symbol.kind, symbol.name, symbol.at))
    ioctls, macros = [], []
    for match in MACRO.finditer(text):
        call = IOCTL.search(match[2])
        if call:
            ioctls.append((match[1], call[2], call[3]))
        elif not match[1].endswith('_H_') and not match[1].startswith('NPU_API'):
            macros.append((match[1], match[2], match[3]))
    numbers = {number for _, number, _ in ioctls}
    macros = [macro for macro in macros if macro[0] not in numbers]
    return Header(path, introduction(text), symbols, macros, ioctls, text)


# ---- the check ----

def complaints_of_symbol(symbol):
    if not symbol.comment:
        yield f'{symbol.kind} {symbol.name} has no comment'
        return
    names = [name for name, _ in symbol.members]
    for name in names:
        if not symbol.comment.parts.get(name):
            yield f'{symbol.kind} {symbol.name}: {name} is not described'
    for name in symbol.comment.parts:
        if name not in names:
            yield f'{symbol.kind} {symbol.name}: {name} is described and does not exist'
    if symbol.kind == 'function':
        body = ' '.join(symbol.comment.body)
        if not symbol.declaration.startswith('void ') and 'Return:' not in body:
            yield f'function {symbol.name}: what it returns is not said'
        if not re.search(r'Since \d+\.\d+', body):
            yield f'function {symbol.name}: since when it exists is not said'


def complaints(header):
    """What is public and not documented."""
    for symbol in header.symbols:
        yield from complaints_of_symbol(symbol)
    documented = ' '.join(COMMENT.findall(header.text))
    for name, _, comment in header.macros:
        family = name.rsplit('_', 1)[0] + '_*'
        if not comment and not re.search(rf'\b{name}\b', documented) and family not in documented:
            yield f'macro {name} has no comment'


# ---- reStructuredText ----

def prose(text):
    """Text of a comment, its code marked as such and the rest without a meaning."""
    out, at = [], 0
    for match in CODE.finditer(text):
        out.append(re.sub(r'([\\*`|_])', r'\\\1', text[at:match.start()]))
        glue = '\\ ' if match.start() and not text[match.start() - 1].isspace() else ''
        tail = '\\ ' if match.end() < len(text) and text[match.end()].isalnum() else ''
        out.append(f'{glue}``{match[0].lstrip("@")}``{tail}')
        at = match.end()
    out.append(re.sub(r'([\\*`|_])', r'\\\1', text[at:]))
    return ''.join(out)


def rest_of_function(symbol):
    yield f'.. c:function:: {symbol.declaration}'
    yield ''
    yield f'   {prose(symbol.comment.summary)}'
    yield ''
    for name, _ in symbol.members:
        yield f'   :param {name}: {prose(symbol.comment.parts[name])}'
    returns = [text for text in symbol.comment.body if text.startswith('Return:')]
    for text in returns:
        yield f'   :return: {prose(text[len("Return:"):].strip())}'
    yield ''
    for text in symbol.comment.body:
        if text not in returns:
            yield f'   {prose(text)}'
            yield ''


def rest_of_type(symbol):
    inner = 'enumerator' if symbol.kind == 'enum' else 'member'
    yield f'.. c:{symbol.kind}:: {symbol.name}'
    yield ''
    yield f'   {prose(symbol.comment.summary)}'
    yield ''
    for name, declaration in symbol.members:
        yield f'   .. c:{inner}:: {declaration}'
        yield ''
        yield f'      {prose(symbol.comment.parts[name])}'
        yield ''
    for text in symbol.comment.body:
        yield f'   {prose(text)}'
        yield ''


def table(title, heads, rows):
    yield f'.. list-table:: {title}'
    yield '   :header-rows: 1'
    yield ''
    for row in [heads, *rows]:
        for index, cell in enumerate(row):
            yield f'   {"* -" if not index else "  -"} {cell}'
    yield ''


def rest_of_macros(header):
    if header.ioctls:
        yield from table('Calls', ('Request', 'Argument'), [
            (f'``{name}``', f':c:struct:`{argument}`' if argument else 'none')
            for name, _, argument in header.ioctls])
    commented = [macro for macro in header.macros if macro[2]]
    if commented:
        yield from table('Constants', ('Name', 'Value', 'Meaning'), [
            (f'``{name}``', f'``{value}``', prose(' '.join(comment.split())))
            for name, value, comment in commented])


def rest_of(header):
    for text in header.intro:
        yield prose(text)
        yield ''
    yield from rest_of_macros(header)
    for symbol in header.symbols:
        yield from (rest_of_function if symbol.kind == 'function' else rest_of_type)(symbol)


# ---- Sphinx ----

def setup(app):
    from docutils import nodes
    from docutils.statemachine import StringList
    from sphinx.util.docutils import SphinxDirective

    class KernelDoc(SphinxDirective):
        """``.. kernel-doc:: HEADER``, relative to the project's root."""
        required_arguments = 1

        def run(self):
            path = os.path.join(self.config.project_root, self.arguments[0])
            self.env.note_dependency(path)
            header = read(path)
            bad = list(complaints(header))
            if bad:
                raise self.error(f'{self.arguments[0]}: {bad[0]}')
            content = StringList(list(rest_of(header)), source=path)
            parent = nodes.section()
            parent.document = self.state.document
            self.state.nested_parse(content, self.content_offset, parent)
            return parent.children

    app.add_config_value('project_root', '.', 'env')
    app.add_directive('kernel-doc', KernelDoc)
    return {'parallel_read_safe': True}


def main(paths):
    if not paths:
        sys.exit(__doc__)
    bad = [f'{path}: {text}' for path in paths for text in complaints(read(path))]
    for text in bad:
        print(text)
    return 1 if bad else 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
