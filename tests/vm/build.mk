# SPDX-License-Identifier: MIT
TESTS_NATIVE += tests/vm/test_dmesg.py tests/vm/test_kbuild.py
# In front, since it takes longest and others run beside it.
TESTS_NATIVE := tests/vm/test_vm.py $(TESTS_NATIVE)
