# SPDX-License-Identifier: MIT
# The device model without firmware. Objects with sanitizers, apart from the others.
MODEL_TESTS := $(patsubst tests/unit/%.c,$(O)/tests/unit/%,$(sort $(wildcard tests/unit/test_model_*.c)))
MODEL_SANITIZE := -fsanitize=address,undefined -fno-sanitize-recover=all
MODEL_SANITIZED := $(NPU_MODEL_SRC:%.c=$(O)/tests/unit/sanitized/%.o) \
	$(O)/tests/unit/sanitized/tests/unit/soc_board.o

$(O)/tests/unit/sanitized/%.o: %.c
	$(call say,CC,$< (sanitized))
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) $(MODEL_SANITIZE) -MMD -MP -c -o $@ $<

$(MODEL_TESTS): $(MODEL_SANITIZED)
$(MODEL_TESTS): LDFLAGS += $(MODEL_SANITIZE)
$(MODEL_TESTS:%=%.o): CFLAGS += $(MODEL_SANITIZE)

TESTS_NATIVE += $(MODEL_TESTS)
