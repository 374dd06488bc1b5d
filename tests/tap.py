# SPDX-License-Identifier: MIT
"""Judges what a test program said and how it ended."""

import re

SUMMARY = re.compile(r'^(\d+) passed, (\d+) failed, (\d+) skipped$')
RESULT = re.compile(r'^(not ok|ok)\b(?:\s+\d+)?(.*)$')
PLAN = re.compile(r'^1\.\.(\d+)(?:\s+#\s*(.*))?$')
DIRECTIVE = re.compile(r'#\s*(SKIP|XFAIL)\b', re.IGNORECASE)
EXIT_SKIP = 4  # what kselftest programs return when all was skipped


class Verdict:
    """Counts of one program, and in words what is wrong with it."""

    def __init__(self):
        self.passed = 0
        self.failed = 0
        self.skipped = 0
        self.problems = []

    def problem(self, text):
        """However much is wrong with a program's end, it is one failure."""
        if not self.problems:
            self.failed += 1
        self.problems.append(text)

    @property
    def total(self):
        return self.passed + self.failed + self.skipped

    def add(self, other):
        self.passed += other.passed
        self.failed += other.failed
        self.skipped += other.skipped

    def summary(self):
        return f'{self.passed} passed, {self.failed} failed, {self.skipped} skipped'


class Reader:
    """Reads the lines of one program; a program may print several plans."""

    def __init__(self):
        self.verdict = Verdict()
        self.planned = None
        self.seen = 0
        self.stated = None
        self.bail = None

    def line(self, text):
        text = text.rstrip('\r\n')
        if match := RESULT.match(text):
            self._result(match.group(1), match.group(2))
        elif match := PLAN.match(text):
            self._plan(int(match.group(1)), match.group(2) or '')
        elif match := SUMMARY.match(text):
            self.stated = tuple(int(n) for n in match.groups())
        elif text.startswith('Bail out!'):
            self.bail = text

    def _result(self, word, rest):
        self.seen += 1
        if DIRECTIVE.search(rest):
            # cmocka says "not ok N # SKIP" of a test it skipped.
            self.verdict.skipped += 1
        elif word == 'ok':
            self.verdict.passed += 1
        else:
            self.verdict.failed += 1

    def _plan(self, count, remark):
        self.planned = (self.planned or 0) + count
        if count == 0 and remark.upper().startswith('SKIP'):
            self.verdict.skipped += 1

    def _check_counts(self):
        verdict = self.verdict
        if self.planned is not None:
            if self.planned != self.seen:
                verdict.problem(f'planned {self.planned} tests, reported {self.seen}')
            elif not verdict.total:
                verdict.problem('planned no test and gave no reason')
        elif self.seen:
            verdict.problem(f'reported {self.seen} tests without a plan')
        elif self.stated is None:
            verdict.problem('reported no test')
        else:
            verdict.passed, verdict.failed, verdict.skipped = self.stated
            if not verdict.total:
                verdict.problem('ran no test')

    def finish(self, status):
        """status: exit status, negative for a signal, or text that says why there is none."""
        self._check_counts()
        verdict = self.verdict
        if self.bail:
            verdict.problem(self.bail)
        if isinstance(status, str):
            verdict.problem(status)
        elif status < 0:
            verdict.problem(f'killed by signal {-status}')
        elif status == EXIT_SKIP and verdict.skipped == verdict.total:
            pass
        elif status and not verdict.failed:
            verdict.problem(f'exit status {status} although no test failed')
        return verdict
