#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Writes an assembler file of random unprivileged RV32IMC sequences.

usage: random_program.py SEED SEQUENCES LENGTH

Each sequence starts from registers and 256 bytes of memory that the file
holds, runs LENGTH random items, and leaves its registers and memory where they
were. At the end the file writes all of them to standard output and exits, by
Linux system calls; registers 2 and 3 point at the sequence's memory and state.
"""

import random
import sys

STATE = 128	# bytes of registers, before the memory
MEMORY = 256

SPECIAL = [0, 1, 2, 3, 31, 32, 0x7f, 0x80, 0xff, 0x7fff, 0x8000, 0xffff,
           0x7fffffff, 0x80000000, 0x80000001, 0xfffffffe, 0xffffffff]

REGISTER = ['add', 'sub', 'sll', 'slt', 'sltu', 'xor', 'srl', 'sra', 'or', 'and',
            'mul', 'mulh', 'mulhsu', 'mulhu', 'div', 'divu', 'rem', 'remu']
IMMEDIATE = ['addi', 'slti', 'sltiu', 'xori', 'ori', 'andi']
SHIFT = ['slli', 'srli', 'srai']
BRANCH = ['beq', 'bne', 'blt', 'bge', 'bltu', 'bgeu']
LOAD = [('lb', 1), ('lbu', 1), ('lh', 2), ('lhu', 2), ('lw', 4)]
STORE = [('sb', 1), ('sh', 2), ('sw', 4)]


class Sequence:
    """One sequence. Registers in self.kept are not written."""

    def __init__(self, rng, number, length):
        self.rng = rng
        self.number = number
        self.length = length
        self.kept = {2, 3}
        self.labels = 0

    def word(self):
        if self.rng.random() < 0.5:
            return self.rng.choice(SPECIAL)
        return self.rng.getrandbits(32)

    def rd(self, low=0, high=31):
        while True:
            reg = self.rng.randint(low, high)
            if reg not in self.kept:
                return reg

    def rs(self, low=0, high=31):
        return self.rng.randint(low, high)

    def short(self):
        """A register that the short formats can name, to be written."""
        return self.rd(8, 15)

    def nonzero(self, low, high):
        return self.rng.choice([i for i in range(low, high + 1) if i])

    def label(self):
        self.labels += 1
        return '.L%d_%d' % (self.number, self.labels)

    # Items: each returns its lines. They fall through, or go to "after",
    # the start of an item behind them.

    def register(self, after):
        return ['%s x%d, x%d, x%d' % (self.rng.choice(REGISTER), self.rd(),
                                      self.rs(), self.rs())]

    def immediate(self, after):
        return ['%s x%d, x%d, %d' % (self.rng.choice(IMMEDIATE), self.rd(),
                                     self.rs(), self.rng.randint(-2048, 2047))]

    def shift(self, after):
        return ['%s x%d, x%d, %d' % (self.rng.choice(SHIFT), self.rd(), self.rs(),
                                     self.rng.randint(0, 31))]

    def upper(self, after):
        return ['%s x%d, %d' % (self.rng.choice(['lui', 'auipc']), self.rd(),
                                self.rng.getrandbits(20))]

    def constant(self, after):
        return ['li x%d, %#x' % (self.rd(), self.word())]

    def fence(self, after):
        return [self.rng.choice(['fence', 'fence rw, w', 'fence.i', 'c.nop', 'nop'])]

    def edge(self, after):
        """Special operands, which random registers seldom hold together."""
        rng = self.rng
        first, second = self.rd(1), self.rd(1)
        value = rng.choice(SPECIAL)
        load = 'li x%d, %#x' % (first, value)
        way = rng.randrange(3)
        if way == 0:
            near = rng.choice([0, 0, 1, 2047, -1, -2048])
            return ['li x%d, %d' % (first, near + rng.choice([-1, 0, 0, 1])),
                    '%s x%d, x%d, %d' % (rng.choice(IMMEDIATE), self.rd(), first, near)]
        if way == 1:
            other = value
        else:
            other = rng.choice([0xffffffff, 0, 1, 0x80000000, 0x7fffffff])
        return [load, 'li x%d, %#x' % (second, other),
                '%s x%d, x%d, x%d' % (rng.choice(REGISTER), self.rd(), first, second)]

    def short_immediate(self, after):
        reg = self.rd(1)
        rng = self.rng
        return [rng.choice([
            lambda: 'c.addi x%d, %d' % (reg, self.nonzero(-32, 31)),
            lambda: 'c.li x%d, %d' % (reg, rng.randint(-32, 31)),
            lambda: 'c.lui x%d, %d' % (reg, self.nonzero(1, 31)),
            lambda: 'c.lui x%d, %#x' % (reg, rng.randint(0xfffe0, 0xfffff)),
            lambda: 'c.slli x%d, %d' % (reg, rng.randint(1, 31)),
            lambda: 'c.srli x%d, %d' % (self.short(), rng.randint(1, 31)),
            lambda: 'c.srai x%d, %d' % (self.short(), rng.randint(1, 31)),
            lambda: 'c.andi x%d, %d' % (self.short(), rng.randint(-32, 31)),
            lambda: 'c.addi4spn x%d, sp, %d' % (self.short(), 4 * rng.randint(1, 255)),
        ])()]

    def short_stack(self, after):
        """Moves sp, keeps where it went, and moves it back."""
        move = 16 * self.nonzero(-31, 31)
        return ['c.addi16sp sp, %d' % move, 'c.mv x%d, sp' % self.rd(1),
                'c.addi16sp sp, %d' % -move]

    def short_register(self, after):
        if self.rng.random() < 0.3:
            return ['%s x%d, x%d' % (self.rng.choice(['c.mv', 'c.add']), self.rd(1),
                                     self.rs(1))]
        return ['%s x%d, x%d' % (self.rng.choice(['c.sub', 'c.xor', 'c.or', 'c.and']),
                                 self.short(), self.rs(8, 15))]

    def memory(self, after):
        store = self.rng.random() < 0.5
        name, size = self.rng.choice(STORE if store else LOAD)
        target = size * self.rng.randrange(MEMORY // size)
        data = self.rs() if store else self.rd()
        way = self.rng.randrange(3)
        if way == 0:
            return ['%s x%d, %d(sp)' % (name, data, target)]
        if way == 1:
            return ['%s x%d, %d(gp)' % (name, data, target + STATE)]
        base = self.rd(1)
        offset = self.rng.randint(-1024, 1023)
        return ['addi x%d, sp, %d' % (base, target - offset),
                '%s x%d, %d(x%d)' % (name, data, offset, base)]

    def short_memory(self, after):
        base = self.short()
        offset = 4 * self.rng.randint(0, 31)
        target = 4 * self.rng.randrange(MEMORY // 4)
        way = self.rng.randrange(4)
        if way == 0:
            return ['c.lwsp x%d, %d(sp)' % (self.rd(1), target)]
        if way == 1:
            return ['c.swsp x%d, %d(sp)' % (self.rs(), target)]
        lines = ['addi x%d, sp, %d' % (base, target - offset)]
        if way == 2:
            return lines + ['c.lw x%d, %d(x%d)' % (self.short(), offset, base)]
        return lines + ['c.sw x%d, %d(x%d)' % (self.rs(8, 15), offset, base)]

    def branch(self, after):
        if self.rng.random() < 0.3:
            return ['%s x%d, %s' % (self.rng.choice(['c.beqz', 'c.bnez']),
                                    self.rs(8, 15), after)]
        first = self.rs()
        second = first if self.rng.random() < 0.2 else self.rs()
        return ['%s x%d, x%d, %s' % (self.rng.choice(BRANCH), first, second, after)]

    def jump(self, after):
        reg = self.rd(1)
        rng = self.rng
        offset = rng.randint(-2048, 2046)
        address = 'la x%d, %s' % (reg, after)
        return rng.choice([
            lambda: ['c.j %s' % after],
            lambda: ['c.jal %s' % after],
            lambda: ['jal x%d, %s' % (self.rd(), after)],
            lambda: [address, 'c.jr x%d' % reg],
            lambda: [address, 'c.jalr x%d' % reg],
            lambda: ['la x%d, %s - (%d)' % (reg, after, offset),
                     'jalr x%d, %d(x%d)' % (self.rd(), offset, reg)],
            # bit 0 of the sum is dropped
            lambda: [address, 'jalr x%d, 1(x%d)' % (reg, reg)],
        ])()

    def loop(self, after):
        count = self.rd(8, 15)
        top = self.label()
        lines = ['li x%d, %d' % (count, self.rng.randint(1, 5)), top + ':']
        self.kept.add(count)
        for _ in range(self.rng.randint(1, 4)):
            lines += self.plain(after)
        self.kept.remove(count)
        lines += ['addi x%d, x%d, -1' % (count, count)]
        back = self.rng.choice(['c.bnez x%d, %s', 'bne x%d, x0, %s', 'bgtz x%d, %s'])
        return lines + [back % (count, top)]

    PLAIN = [(register, 24), (edge, 14), (immediate, 10), (shift, 8), (upper, 4), (constant, 10),
             (fence, 1), (short_immediate, 14), (short_stack, 1), (short_register, 10),
             (memory, 16), (short_memory, 8)]
    FLOW = PLAIN + [(branch, 14), (jump, 7), (loop, 2)]

    def pick(self, items, after):
        item = self.rng.choices([i for i, _ in items], [w for _, w in items])[0]
        lines = item(self, after)
        # Full-length forms of what the assembler would make short.
        if self.rng.random() < 0.5 and not any('c.' in line for line in lines):
            return ['.option norvc'] + lines + ['.option rvc']
        return lines

    def plain(self, after):
        return self.pick(self.PLAIN, after)

    def code(self):
        lines = ['la gp, state%d' % self.number, 'addi sp, gp, %d' % STATE]
        lines += ['lw x%d, %d(gp)' % (i, 4 * i) for i in range(1, 32)
                  if i not in self.kept]
        starts = [self.label() for _ in range(self.length + 6)]
        for i in range(self.length):
            lines += [starts[i] + ':']
            lines += self.pick(self.FLOW, starts[i + 1 + self.rng.randrange(6)])
        lines += [label + ':' for label in starts[self.length:]]
        return lines + ['sw x%d, %d(gp)' % (i, 4 * i) for i in range(32)]

    def data(self):
        words = [self.word() for _ in range((STATE + MEMORY) // 4)]
        return ['state%d:' % self.number, '.word ' + ', '.join(map(hex, words))]


def main():
    seed, count, length = map(int, sys.argv[1:])
    rng = random.Random(seed)
    sequences = [Sequence(rng, i, length) for i in range(count)]
    lines = ['# seed %d' % seed, '.option norelax', '.section .text.start, "ax"',
             '.globl _start', '_start:']
    for sequence in sequences:
        lines += sequence.code()
    lines += ['li a7, 64', 'li a0, 1', 'la a1, state0',
              'li a2, %d' % (count * (STATE + MEMORY)), 'ecall',
              'li a7, 93', 'li a0, 0', 'ecall', '.data', '.balign 4']
    for sequence in sequences:
        lines += sequence.data()
    print('\n'.join(lines))


main()
