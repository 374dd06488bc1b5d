# SPDX-License-Identifier: MIT
# The runtime, on the device model in the test's process; and its loader with a sanitizer.
LIBNPU_TESTS := $(addprefix $(O)/tests/unit/test_libnpu_, stream module function hostkernel \
	operators vaspace errors import)

$(LIBNPU_TESTS): $(O)/tests/unit/libnpu_image.o $(LIBNPU) $(O)/userspace/isa/libnpu_isa.a \
	| $(O)/firmware/cp/npu_fw.bin
$(LIBNPU_TESTS): LDLIBS += $(LIBNPU_LIBS)
$(LIBNPU_TESTS:=.o): CPPFLAGS += $(LIBNPU_CPPFLAGS) -D_GNU_SOURCE

$(O)/tests/unit/test_libnpu_errors.o: CPPFLAGS += -DTEST_FIRMWARE='"$(O)/firmware/cp/npu_fw.bin"'

TESTS_NATIVE += $(LIBNPU_TESTS)

# Its dependencies are built with the rest of user space before any test runs.
TESTS_NATIVE += tests/unit/test_libnpu_abi.py

# The same through the kernel's driver, in the virtual machine.
LIBNPU_VM_TESTS := $(addprefix $(O)/tests/unit/vm_libnpu_, stream function import)

.PRECIOUS: $(O)/tests/unit/vm_libnpu_%.o
$(O)/tests/unit/vm_libnpu_%.o: tests/unit/test_libnpu_%.c
	$(call say,CC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(LIBNPU_CPPFLAGS) -D_GNU_SOURCE -DTEST_DEVICE='"/dev/accel/accel0"' \
		$(CFLAGS) -MMD -MP -c -o $@ $<
$(O)/tests/unit/test_libnpu_parity.o: CPPFLAGS += $(LIBNPU_CPPFLAGS)
$(LIBNPU_VM_TESTS) $(O)/tests/unit/test_libnpu_parity: LDLIBS += $(LIBNPU_LIBS)
$(LIBNPU_VM_TESTS) $(O)/tests/unit/test_libnpu_parity: $(O)/tests/unit/libnpu_image.o $(LIBNPU) \
	$(O)/userspace/isa/libnpu_isa.a

TESTS_VM += $(LIBNPU_VM_TESTS) $(O)/tests/unit/test_libnpu_parity

# What only a device of the driver can do: be forbidden, hang, go away.
LIBNPU_GUEST := $(O)/tests/unit/test_libnpu_guest
$(LIBNPU_GUEST).o: CPPFLAGS += $(LIBNPU_CPPFLAGS) -D_GNU_SOURCE $(LIBDRM_CPPFLAGS)
$(LIBNPU_GUEST): LDLIBS += $(LIBNPU_LIBS)
$(LIBNPU_GUEST): $(O)/tests/kselftest/npu_test.o $(LIBNPU) $(O)/userspace/isa/libnpu_isa.a

TESTS_VM += $(LIBNPU_GUEST)

# $(call libnpu-sanitized,FOLDER,TEST,FLAGS): a test with the library in it, all of it compiled once
# more, with a sanitizer.
define libnpu-sanitized
$(1)/%.o: %.c
	$$(call say,CC,$$@)
	$$(Q)mkdir -p $$(@D)
	$$(Q)$$(CC) $$(CPPFLAGS) -D_GNU_SOURCE -DNPU_LIBRARY_VERSION='"$$(VERSION)"' $$(LIBNPU_CPPFLAGS) \
		$$(LIBDRM_CPPFLAGS) $$(CFLAGS) -O1 $(3) -MMD -MP -c -o $$@ $$<

$(2): $$(patsubst %.c,$(1)/%.o,$$(LIBNPU_SRC) $$(HOST_OBJS:$$(O)/%.o=%.c) $$(NPU_MODEL_SRC) \
		tests/unit/libnpu_image.c $(2:$(O)/%=%).c) $$(O)/userspace/isa/libnpu_isa.a \
		| $$(O)/firmware/cp/npu_fw.bin
	$$(call say,LD,$$@)
	$$(Q)mkdir -p $$(@D)
	$$(Q)$$(CC) $(3) -o $$@ $$(filter %.o %.a,$$^) $$(LIBNPU_LIBS) -lcmocka -lm
endef

# What reads untrusted files, with AddressSanitizer; what threads share, with ThreadSanitizer.
$(eval $(call libnpu-sanitized,$(O)/asan,$(O)/tests/unit/test_libnpu_mutate,-fsanitize=address$(comma)undefined -fno-sanitize-recover=undefined))
# There memory can run out: the test says at which request.
$(eval $(call libnpu-sanitized,$(O)/asan,$(O)/tests/unit/test_libnpu_misuse,-fsanitize=address$(comma)undefined -fno-sanitize-recover=undefined \
	$(addprefix -Wl$(comma)--wrap=,malloc calloc reallocarray aligned_alloc)))
$(eval $(call libnpu-sanitized,$(O)/tsan,$(O)/tests/unit/test_libnpu_threads,-fsanitize=thread -Wno-tsan))

TESTS_NATIVE += $(O)/tests/unit/test_libnpu_mutate $(O)/tests/unit/test_libnpu_misuse tests/unit/test_libnpu_threads.sh
tests/unit/test_libnpu_threads.sh: | $(O)/tests/unit/test_libnpu_threads

# What the same costs in system calls.
$(O)/tests/bench/syscalls.o: CPPFLAGS += $(LIBNPU_CPPFLAGS) -D_GNU_SOURCE
$(O)/tests/bench/syscalls: LDLIBS = $(LIBNPU_LIBS) -lcmocka
$(O)/tests/bench/syscalls: $(O)/tests/bench/syscalls.o $(O)/tests/unit/libnpu_image.o $(LIBNPU) \
		$(O)/userspace/isa/libnpu_isa.a
	$(link)
BENCH_VM += $(O)/tests/bench/syscalls
