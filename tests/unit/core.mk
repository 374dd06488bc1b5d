# SPDX-License-Identifier: MIT
# The compute core alone, on flat memory.
CORE_TESTS := $(patsubst tests/unit/%.c,$(O)/tests/unit/%,$(sort $(wildcard tests/unit/test_core_*.c)))
CORE_HOSTILE := $(O)/tests/unit/test_core_hostile
CORE_BOARD := $(addprefix $(O)/tests/unit/,core_board.o core_expect.o core_random.o)

$(filter-out $(CORE_HOSTILE),$(CORE_TESTS)): $(CORE_BOARD) \
	$(O)/firmware/model/libnpu_model.a $(O)/userspace/isa/libnpu_isa.a
TESTS_NATIVE += $(CORE_TESTS)

# Hostile programs run on objects with sanitizers, apart from the others.
CORE_SANITIZE := -fsanitize=address,undefined -fno-sanitize-recover=all
CORE_SANITIZED := $(patsubst $(O)/%,$(O)/tests/core/sanitized/%,$(CORE_BOARD)) \
	$(patsubst %.c,$(O)/tests/core/sanitized/%.o,$(sort $(wildcard firmware/model/core*.c)))

$(O)/tests/core/sanitized/%.o: %.c
	$(call say,CC,$< (sanitized))
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) $(CORE_SANITIZE) -MMD -MP -c -o $@ $<

$(CORE_HOSTILE): $(CORE_SANITIZED) $(O)/userspace/isa/libnpu_isa.a
$(CORE_HOSTILE): LDFLAGS += $(CORE_SANITIZE)
$(CORE_HOSTILE).o: CFLAGS += $(CORE_SANITIZE)

$(O)/tests/bench/model_gemm: $(O)/tests/bench/model_gemm.o \
	$(O)/tests/unit/core_board.o $(O)/firmware/model/libnpu_model.a $(O)/userspace/isa/libnpu_isa.a
	$(link)
BENCH += $(O)/tests/bench/model_gemm
