# SPDX-License-Identifier: MIT
# The compute core alone, on flat memory.
CORE_TESTS := $(patsubst tests/unit/%.c,$(O)/tests/unit/%,$(sort $(wildcard tests/unit/test_core_*.c)))
CORE_BOARD := $(addprefix $(O)/tests/unit/,core_board.o core_expect.o) \
	$(O)/firmware/model/libnpu_model.a \
	$(O)/userspace/isa/libnpu_isa.a

$(CORE_TESTS): $(CORE_BOARD)
TESTS_NATIVE += $(CORE_TESTS)
