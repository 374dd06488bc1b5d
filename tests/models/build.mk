# SPDX-License-Identifier: MIT
TESTS_NATIVE += tests/models/test_reference.py
