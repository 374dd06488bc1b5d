# SPDX-License-Identifier: MIT
"""Finds in a kernel log what a kernel should never have had to say."""

import re

# (what it is, pattern); the first that fits a line names it.
KINDS = [(name, re.compile(pattern)) for name, pattern in (
    ('panic', r'Kernel panic'),
    ('KASAN', r'KASAN: |\bBUG: KASAN'),
    ('KFENCE', r'\bBUG: KFENCE'),
    ('KCSAN', r'\bBUG: KCSAN'),
    ('KMSAN', r'\bBUG: KMSAN'),
    ('UBSAN', r'UBSAN: '),
    ('lockup', r'soft lockup|hard LOCKUP|workqueue lockup'),
    ('stall', r'\brcu[^ ]*:? .*\b(self-detected stall|detected stalls?|kthread starved)'),
    ('hung task', r'INFO: task .* blocked for more than'),
    ('lockdep', r'possible circular locking|possible recursive locking|possible irq lock inversion'
                r'|inconsistent lock state|bad unlock balance|held lock freed'
                r'|lock held when returning to user space|possible deadlock'
                r'|trying to register non-static key|Invalid wait context'
                r'|suspicious RCU usage|-unsafe lock order detected'
                r'|possible irq lock inversion|MAX_LOCK(DEP_[A-Z]+|_DEPTH) too low'
                r'|turning off the locking correctness validator'),
    ('BUG', r'\bBUG: |kernel BUG at'),
    ('oops', r'\bOops\b|general protection fault|unable to handle (kernel|page fault)'
             r'|invalid opcode: |divide error: |double fault|Internal error:'),
    ('refcount', r'refcount_t: '),
    ('WARNING', r'\bWARNING: '),
    ('call trace', r'\bCall Trace:'),
    ('netdevice', r'unregister_netdevice: waiting for'),
    ('memory leak', r'kmemleak: \d+ new suspected'),
    ('DMA-API', r'DMA-API: (?!preallocated |debugging (enabled|disabled))'),
    ('debug objects', r'ODEBUG: '),
    ('list corruption', r'list_(add|del) corruption'),
    ('page state', r'Bad page (state|map)|bad pmd|Bad rss-counter'),
    ('slab', r'Slab cache still has objects|Objects remaining in|Object already free'
             r'|cache has \d+ objects|Poison overwritten|Redzone overwritten'),
    ('allocation', r'page allocation failure|Out of memory: '),
    ('sysfs', r'cannot create duplicate filename|kobject_add_internal failed'),
    ('debugfs', r'debugfs: .* already present!'),
    ('interrupt', r'irq \d+: nobody cared|already-free IRQ'),
    ('module', r'Unknown symbol|disagrees about version of symbol|module is already loaded'),
    ('stack', r'stack guard page was hit|Kernel stack is corrupted'),
)]

BEFORE = 2
AFTER = 30


class Finding:
    def __init__(self, kind, number, line):
        self.kind = kind
        self.number = number
        self.line = line


def scan(lines, allowed=()):
    """Returns one Finding a line that fits a kind and none of the allowed patterns."""
    allowed = [re.compile(pattern) for pattern in allowed]
    findings = []
    for number, line in enumerate(lines):
        if any(pattern.search(line) for pattern in allowed):
            continue
        for kind, pattern in KINDS:
            if pattern.search(line):
                findings.append(Finding(kind, number, line))
                break
    return findings


def excerpt(lines, findings):
    """The log around the first finding: it is the one that tells most."""
    first = findings[0].number
    return lines[max(0, first - BEFORE):first + AFTER]
