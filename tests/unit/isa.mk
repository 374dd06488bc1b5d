# SPDX-License-Identifier: MIT
TESTS_NATIVE += $(O)/tests/unit/test_isa $(O)/tests/unit/test_isa_builder
$(O)/tests/unit/test_isa $(O)/tests/unit/test_isa_builder: \
	$(O)/userspace/isa/libnpu_isa.a
