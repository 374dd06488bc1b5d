# SPDX-License-Identifier: MIT
TESTS_NATIVE += tests/unit/test_runner.py
