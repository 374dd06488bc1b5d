# SPDX-License-Identifier: MIT
ORACLE_TESTS := $(O)/tests/unit/test_oracle $(O)/tests/unit/test_oracle_core

$(ORACLE_TESTS): $(O)/tests/oracle/liboracle.a $(O)/userspace/isa/libnpu_isa.a
$(O)/tests/unit/test_oracle_core: $(DUT)
TESTS_NATIVE += $(ORACLE_TESTS)
