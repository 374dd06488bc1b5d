# SPDX-License-Identifier: MIT
# Tests of the driver, run in the virtual machine.
KSELFTESTS := $(addprefix $(O)/,$(basename $(wildcard tests/kselftest/test_*.c)))

TESTS_VM += $(KSELFTESTS)

LIBDRM_CFLAGS = $(eval LIBDRM_CFLAGS := $(shell $(PKG_CONFIG) --cflags libdrm))$(LIBDRM_CFLAGS)
$(O)/tests/kselftest/%.o: CPPFLAGS += -D_GNU_SOURCE -isystem $(KSELFTEST_INC) $(LIBDRM_CFLAGS)

# The harness compares numbers of either sign, and makes functions of fixtures.
$(O)/tests/kselftest/%.o: CFLAGS += -Wno-sign-compare -Wno-missing-prototypes

$(KSELFTESTS): $(O)/tests/kselftest/%: $(O)/tests/kselftest/%.o \
		$(O)/tests/kselftest/npu_test.o $(O)/userspace/isa/libnpu_isa.a
	$(link)

BENCH_VM += $(O)/tests/bench/null_job

$(O)/tests/bench/null_job.o: CPPFLAGS += -D_GNU_SOURCE $(LIBDRM_CFLAGS)
$(O)/tests/bench/null_job: LDLIBS += -lpthread
$(O)/tests/bench/null_job: $(O)/tests/bench/null_job.o $(O)/tests/kselftest/npu_test.o \
		$(O)/userspace/isa/libnpu_isa.a
	$(link)
