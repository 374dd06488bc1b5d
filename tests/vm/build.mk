# SPDX-License-Identifier: MIT
TESTS_NATIVE += tests/vm/test_dmesg.py tests/vm/test_vm.py
