# SPDX-License-Identifier: MIT
# Without arguments a short run with a seed that stays the same.
TESTS_VM += $(O)/tests/fuzz/fuzz

$(O)/tests/fuzz/%.o: CPPFLAGS += -D_GNU_SOURCE $(LIBDRM_CFLAGS)

$(O)/tests/fuzz/fuzz: LDLIBS += -lpthread
$(O)/tests/fuzz/fuzz: $(addprefix $(O)/tests/fuzz/,fuzz.o fuzz_chaos.o fuzz_ops.o fuzz_sync.o) \
		$(O)/tests/kselftest/npu_test.o $(O)/userspace/isa/libnpu_isa.a
	$(link)
