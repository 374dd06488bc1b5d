#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""The log scanner against one planted line of each kind, and against harmless ones; TAP."""

import os
import subprocess
import sys

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.realpath(__file__))
sys.path.insert(0, HERE)
import dmesg  # noqa: E402

STAMP = '[   12.345678] '

PLANTED = [
    ('panic', 'Kernel panic - not syncing: Attempted to kill init! exitcode=0x00000100'),
    ('KASAN', 'BUG: KASAN: slab-use-after-free in npu_bo_free+0x12/0x80 [npu]'),
    ('KFENCE', 'BUG: KFENCE: use-after-free read in npu_job_done+0x1/0x2 [npu]'),
    ('KCSAN', 'BUG: KCSAN: data-race in npu_queue_kick / npu_queue_done'),
    ('KMSAN', 'BUG: KMSAN: uninit-value in npu_ioctl+0x10/0x20'),
    ('UBSAN', 'UBSAN: array-index-out-of-bounds in kernel/npu_vm.c:12:5'),
    ('lockup', 'watchdog: BUG: soft lockup - CPU#1 stuck for 22s! [kworker/1:2:99]'),
    ('lockup', 'watchdog: Watchdog detected hard LOCKUP on cpu 0'),
    ('lockup', 'BUG: workqueue lockup - pool cpus=0 node=0 flags=0x0 nice=0 stuck for 31s!'),
    ('stall', 'rcu: INFO: rcu_preempt self-detected stall on CPU'),
    ('stall', 'rcu: INFO: rcu_preempt detected stalls on CPUs/tasks:'),
    ('hung task', 'INFO: task rmmod:123 blocked for more than 120 seconds.'),
    ('lockdep', 'WARNING: possible circular locking dependency detected'),
    ('lockdep', 'WARNING: possible recursive locking detected'),
    ('lockdep', 'WARNING: inconsistent lock state'),
    ('lockdep', 'WARNING: bad unlock balance detected!'),
    ('lockdep', 'WARNING: held lock freed!'),
    ('lockdep', 'WARNING: suspicious RCU usage'),
    ('lockdep', 'WARNING: HARDIRQ-safe -> HARDIRQ-unsafe lock order detected'),
    ('lockdep', 'INFO: trying to register non-static key.'),
    ('lockdep', 'BUG: MAX_LOCKDEP_CHAINS too low!'),
    ('lockdep', '[ BUG: Invalid wait context ]'),
    ('BUG', 'BUG: sleeping function called from invalid context at mm/slab.h:321'),
    ('BUG', 'BUG: scheduling while atomic: test/99/0x00000002'),
    ('BUG', 'kernel BUG at drivers/x.c:42!'),
    ('BUG', 'BUG: kernel NULL pointer dereference, address: 0000000000000008'),
    ('oops', 'Oops: 0000 [#1] PREEMPT SMP PTI'),
    ('oops', 'Oops: general protection fault, probably for non-canonical address 0xdead: 0000 [#1]'),
    ('oops', 'invalid opcode: 0000 [#1] SMP'),
    ('refcount', 'refcount_t: underflow; use-after-free.'),
    ('WARNING', 'WARNING: CPU: 1 PID: 99 at kernel/npu_job.c:77 npu_job_run+0x1/0x2 [npu]'),
    ('call trace', 'Call Trace:'),
    ('netdevice', 'unregister_netdevice: waiting for npu0 to become free. Usage count = 2'),
    ('memory leak', 'kmemleak: 3 new suspected memory leaks (see /sys/kernel/debug/kmemleak)'),
    ('DMA-API', 'DMA-API: npu_sim npu.0: device driver frees DMA memory with different size'),
    ('debug objects', 'ODEBUG: free active (active state 0) object: 00000000 type: timer_list'),
    ('list corruption', 'list_del corruption, ffff888 - LIST_POISON1 (dead000000000100)'),
    ('page state', 'BUG: Bad page state in process test  pfn:12345'),
    ('slab', '[npu_job] kmem_cache_destroy: Slab cache still has objects when called from exit'),
    ('allocation', 'test: page allocation failure: order:9, mode:0xcc0(GFP_KERNEL)'),
    ('allocation', 'Out of memory: Killed process 99 (test) total-vm:1kB'),
    ('sysfs', "sysfs: cannot create duplicate filename '/class/accel/accel0'"),
    ('debugfs', "debugfs: Directory 'accel0' with parent 'accel' already present!"),
    ('interrupt', 'irq 17: nobody cared (try booting with the "irqpoll" option)'),
    ('module', 'npu: Unknown symbol drm_sched_init (err -2)'),
    ('module', 'npu: disagrees about version of symbol module_layout'),
    ('stack', 'BUG: TASK stack guard page was hit at 0000 (stack is 0000..0000)'),
]

# Kinds that a line above may also be called, since the first pattern that fits names it.
ALIASES = {
    'BUG: Bad page state in process test  pfn:12345': 'BUG',
    'BUG: TASK stack guard page was hit at 0000 (stack is 0000..0000)': 'BUG',
}

HARMLESS = [
    'Linux version 6.12.95+deb12-amd64 (debian-kernel@lists.debian.org)',
    'npu: loading out-of-tree module taints kernel.',
    'npu: module verification failed: signature and/or required key missing - tainting kernel',
    'DMA-API: preallocated 65536 debug entries',
    'DMA-API: debugging enabled by kernel config',
    'rcu: Hierarchical RCU implementation.',
    '... MAX_LOCKDEP_CHAINS:      65536',
    'Debugging: kmemleak: Kernel memory leak detector initialized (mem pool available: 15691)',
    'x86/fpu: Supporting XSAVE feature 0x001: \'x87 floating point registers\'',
    'Spectre V2 : WARNING-free line about a warning',
    'npu npu.0: job 7 of queue 1 exceeded its limit',
    'workqueue: output_poll_execute hogged CPU for >10000us 4 times',
]


def scanner_status(text, *arguments):
    return subprocess.run([os.path.join(HERE, 'dmesg'), *arguments], input=text, text=True,
                          stdout=subprocess.PIPE, check=False).returncode


def checks():
    for kind, line in PLANTED:
        found = [f.kind for f in dmesg.scan(['a', STAMP + line, 'b'])]
        want = ALIASES.get(line, kind)
        yield f'{kind}: {line}', found == [want], f'found {found}'
    for line in HARMLESS:
        found = [f.kind for f in dmesg.scan([STAMP + line])]
        yield f'harmless: {line}', found == [], f'found {found}'
    missing = {name for name, _ in dmesg.KINDS} - {kind for kind, _ in PLANTED}
    yield 'each kind has a planted line', not missing, f'without: {missing}'
    yield 'an allowed line is no finding', not dmesg.scan(['WARNING: mine'], ['mine$']), ''
    yield 'program: finding', scanner_status('WARNING: x\n') == 1, ''
    yield 'program: clean', scanner_status('fine\n') == 0, ''
    yield 'program: allowed', scanner_status('WARNING: x\n', '--allow', 'x$') == 0, ''


def main():
    results = list(checks())
    print(f'1..{len(results)}')
    for number, (name, good, detail) in enumerate(results, 1):
        # A number sign would begin a directive.
        print(f'{"ok" if good else "not ok"} {number} - {name.replace("#", "No ")}')
        if not good:
            print(f'# {detail}')
    return 0 if all(good for _, good, _ in results) else 1


if __name__ == '__main__':
    sys.exit(main())
