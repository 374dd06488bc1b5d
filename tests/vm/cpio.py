# SPDX-License-Identifier: MIT
"""Writes the archive format that the kernel unpacks as its first file system."""

import os
import stat


class Archive:
    """Files, folders, links and device nodes by their path in the guest.

    Parent folders come by themselves. A path that is added again replaces the
    earlier entry. Nothing needs root, since no node is made on this machine.
    """

    def __init__(self):
        self.entries = {}

    def _add(self, path, mode, data=b'', device=(0, 0)):
        path = os.path.normpath(path).strip('/')
        if path in ('', '.'):
            return
        parent = os.path.dirname(path)
        if parent and parent not in self.entries:
            self.folder(parent)
        self.entries[path] = (mode, data, device)

    def folder(self, path, mode=0o755):
        self._add(path, stat.S_IFDIR | mode)

    def file(self, path, data, mode=0o644):
        if isinstance(data, str):
            data = data.encode()
        self._add(path, stat.S_IFREG | mode, data)

    def link(self, path, target):
        self._add(path, stat.S_IFLNK | 0o777, target.encode())

    def character_device(self, path, major, minor, mode=0o600):
        self._add(path, stat.S_IFCHR | mode, device=(major, minor))

    def __contains__(self, path):
        return os.path.normpath(path).strip('/') in self.entries

    def write(self, file):
        number = 0
        for number, (path, entry) in enumerate(self.entries.items(), 1):
            self._entry(file, path, number, *entry)
        self._entry(file, 'TRAILER!!!', 0, 0, b'', (0, 0))

    @staticmethod
    def _entry(file, path, number, mode, data, device):
        name = path.encode() + b'\0'
        links = 2 if stat.S_ISDIR(mode) else 1
        fields = (number, mode, 0, 0, links, 0, len(data), 0, 0, *device, len(name), 0)
        header = b'070701' + b''.join(b'%08x' % field for field in fields)
        file.write(header + name + b'\0' * (-len(header + name) % 4))
        file.write(data + b'\0' * (-len(data) % 4))
