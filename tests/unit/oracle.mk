# SPDX-License-Identifier: MIT
$(O)/tests/unit/test_oracle_core: $(O)/tests/oracle/liboracle.a \
	$(O)/userspace/isa/libnpu_isa.a $(O)/firmware/model/libnpu_model.a
TESTS_NATIVE += $(O)/tests/unit/test_oracle_core
