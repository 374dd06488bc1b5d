# SPDX-License-Identifier: MIT
"""One run of a virtual machine: QEMU, its channels, its end."""

import os
import re
import selectors
import socket
import subprocess
import sys
import time

QEMU = 'qemu-system-x86_64'
# An oops ends the machine: what it left locked would only look like a hang.
# The watchdogs wait long, since the host may be busy with other things. The rest
# leaves out work at boot that tests nothing of ours: a fifth of its time.
COMMAND_LINE = 'console=ttyS0 panic=-1 oops=panic ignore_loglevel rdinit=/init ' \
               'watchdog_thresh=60 rcupdate.rcu_cpu_stall_timeout=200 ' \
               'mitigations=off nokaslr tsc=reliable no_timer_check cryptomgr.notests ' \
               'apparmor=0 audit=0'
PORTS = ('out', 'err', 'ctl')  # /dev/vport0p1 and so on, in this order
POWER_OFF_SECONDS = 60
RECEIVES = 1000


class Marked:
    """A stream in which marks stand; take() returns the data without them."""

    def __init__(self, mark):
        self.mark = mark
        self.rest = b''     # what may be the beginning of a mark
        self.count = 0      # of marks that came and that nobody has used

    def take(self, data):
        *parts, last = (self.rest + data).split(self.mark)
        self.count += len(parts)
        keep = next((size for size in range(min(len(last), len(self.mark) - 1), 0, -1)
                     if self.mark.startswith(last[-size:])), 0)
        self.rest = last[len(last) - keep:]
        return b''.join(parts) + last[:len(last) - keep]


class Machine:
    """Runs QEMU and hands what comes in on each channel to a function.

    on_output(data), on_error(data) get bytes; on_control(line) gets text, after
    all that was written to the other channels before it: the ports of a machine
    keep no order among each other, so the guest ends what it wrote on those two
    with the mark before each line of control. It waits for an empty line in
    answer, so nothing that it writes later comes before that line either.
    """

    def __init__(self, kernel, initrd, mark, memory=1024, cpus=2, append='', extra=(),
                 interactive=False):
        self.on_output = lambda data: None
        self.on_error = lambda data: None
        self.on_control = lambda line: None
        self.log = bytearray()
        self.status = None      # exit status of the command
        self.problem = None     # why the machine itself failed
        self.control = b''
        self.waiting = []       # lines of control whose marks have not come
        self.marked = {name: Marked(mark.encode()) for name in ('out', 'err')}
        self.heard = False      # whether the guest's user space said anything
        self.progress = None    # a BootProgress
        self.channels = {}
        self.deadline = None
        self.words = [
            QEMU, '-accel', 'tcg,thread=multi', '-cpu', 'max', '-smp', str(cpus), '-M', 'q35',
            '-m', str(memory), '-no-reboot', '-nic', 'none', '-display', 'none', '-nodefaults',
            '-kernel', kernel.image, '-initrd', initrd, '-append', f'{COMMAND_LINE} {append}',
            *self._channel('log', 'serial'), '-device', 'virtio-serial-pci']
        for number, name in enumerate(PORTS, 1):
            self.words += self._channel(name, f'port{number}')
        if interactive:
            self.words += ['-chardev', 'stdio,id=terminal,signal=off', '-serial',
                           'chardev:terminal']
        self.interactive = interactive
        self.words += extra

    def _channel(self, name, kind):
        ours, theirs = socket.socketpair()
        ours.setblocking(False)
        self.channels[name] = (ours, theirs)
        words = ['-chardev', f'socket,id={name},fd={theirs.fileno()}']
        if kind == 'serial':
            return words + ['-serial', f'chardev:{name}']
        return words + ['-device', f'virtserialport,nr={kind[-1]},chardev={name},name={name}']

    def run(self, timeout):
        """Until the machine is off. Leaves status or problem, and log."""
        self.deadline = time.monotonic() + timeout
        passed = [theirs.fileno() for _, theirs in self.channels.values()]
        try:
            child = subprocess.Popen(self.words, pass_fds=passed,
                                     stdin=None if self.interactive else subprocess.DEVNULL)
        except OSError as error:
            self.problem = f'{QEMU}: {error.strerror}'
            return
        for _, theirs in self.channels.values():
            theirs.close()
        try:
            self._serve()
        finally:
            if child.poll() is None and self.problem:
                child.kill()
            code = child.wait()
            for ours, _ in self.channels.values():
                ours.close()
        if code and not self.problem:
            self.problem = f'{QEMU} ended with status {code}'
        if self.status is None and not self.problem:
            self.problem = 'the machine went down before the command ended'

    def _serve(self):
        with selectors.DefaultSelector() as selector:
            for name, (ours, _) in self.channels.items():
                selector.register(ours, selectors.EVENT_READ, name)
            while selector.get_map():
                left = self.deadline - time.monotonic()
                if left <= 0:
                    self.problem = self.problem or 'the machine hangs: time is over'
                    return
                ready = [key.data for key, _ in selector.select(left)]
                for name in sorted(ready, key='log out err ctl'.split().index):
                    if not self._receive(name):
                        selector.unregister(self.channels[name][0])
                self._obey()
        self._flush()

    def _receive(self, name):
        """Takes what waits on a channel; False at its end."""
        # Bounded, or a guest that never stops writing would outlive its time limit.
        for _ in range(RECEIVES):
            try:
                data = self.channels[name][0].recv(65536)
            except BlockingIOError:
                return True
            except ConnectionResetError:
                return False
            if not data:
                return False
            if self.progress and not self.heard and name != 'log':
                self.progress.end()
            self.heard = self.heard or name != 'log'
            if name == 'log':
                self.log += data
                if self.progress and not self.heard:
                    self.progress.log(data)
            elif name == 'ctl':
                *lines, self.control = (self.control + data).split(b'\n')
                self.waiting += [line.decode(errors='replace') for line in lines]
            else:
                self._pass_on(name, self.marked[name].take(data))
        return True

    def _pass_on(self, name, data):
        if data:
            (self.on_output if name == 'out' else self.on_error)(data)

    def _obey(self):
        """Lines of control whose marks are there, and those that have none."""
        while self.waiting:
            if not self.waiting[0].startswith('fault '):
                if not all(marked.count for marked in self.marked.values()):
                    return
                for marked in self.marked.values():
                    marked.count -= 1
            self._control(self.waiting.pop(0))

    def _flush(self):
        """What is left when the machine is off, whether marks came or not."""
        for name, marked in self.marked.items():
            self._pass_on(name, marked.rest)
        for text in self.waiting:
            self._control(text)

    def _control(self, text):
        word, _, rest = text.partition(' ')
        if word == 'status':
            self.status = int(rest)
            self.deadline = time.monotonic() + POWER_OFF_SECONDS
        elif word == 'fault':
            self.problem = rest
        else:
            self.on_control(text)
            # What the guest writes from here on comes after that line.
            try:
                self.channels['ctl'][0].send(b'\n')
            except OSError:
                pass  # a machine that is off waits for no answer

    def missed_patch(self):
        """Whether the emulator, not the kernel, failed while the kernel booted.

        The kernel patches its code behind a breakpoint instruction. With a thread
        for each processor QEMU now and then runs the breakpoint after the kernel
        has taken it away, and the kernel, which expects none there, stops with
        "int3". Nothing of ours contains that instruction.
        """
        return not self.heard and self.problem is not None and b'Oops: int3' in self.log

    def log_lines(self):
        return self.log.decode(errors='replace').replace('\r', '').splitlines()


def write_through(stream):
    """A function that passes bytes on at once, and survives a reader that is gone."""
    def write(data):
        try:
            stream.buffer.write(data)
            stream.buffer.flush()
        except BrokenPipeError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
    return write


class BootProgress:
    """Shows how a boot gets on, from the kernel log, until user space speaks.

    On a terminal one line that changes, elsewhere a line for each second of the
    guest's time.
    """

    def __init__(self, stream):
        self.stream = stream
        self.redraw = stream.isatty()
        self.part = ''
        self.second = -1

    def show(self, seconds, message):
        if self.redraw:
            self.stream.write(f'\r\033[Kbooting {seconds:5.1f} s  {message[:60]}')
        elif int(seconds) != self.second:
            self.stream.write(f'booting: {int(seconds)} s\n')
        self.second = int(seconds)
        self.stream.flush()

    def log(self, data):
        *lines, self.part = (self.part + data.decode(errors='replace')).split('\n')
        for line in lines:
            match = re.match(r'\[ *(\d+\.\d+)\] (.*)', line.strip())
            if match:
                self.show(float(match[1]), match[2])

    def end(self):
        if self.redraw and self.second >= 0:
            self.stream.write('\r\033[K')
            self.stream.flush()
