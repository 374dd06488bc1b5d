# SPDX-License-Identifier: MIT
# The manual builds without a warning, and nothing public is undocumented.
TESTS_NATIVE += tests/docs/test_manual.py
