# SPDX-License-Identifier: MIT
# The npu command as a program: what it prints, writes and refuses.
TESTS_NATIVE += $(sort $(wildcard tests/tools/test_*))

# Damaged files are read by a build with sanitizers: the command, decoder and compiler.
TOOL_SANITIZE := -fsanitize=address,undefined -fno-sanitize-recover=all
TOOL_SANITIZED_SRC := $(TOOL_SRC) $(TOOL_HOST) $(COMPILER_SRC) $(wildcard userspace/isa/*.c)
TOOL_SANITIZED_OBJ := $(TOOL_SANITIZED_SRC:%.c=$(O)/tests/tools/sanitized/%.o)

$(TOOL_SANITIZED_OBJ): CPPFLAGS += $(TOOL_CPPFLAGS) -I$(O)/$(COMPILER)
$(TOOL_SANITIZED_OBJ): CFLAGS += $(TOOL_SANITIZE) -ffp-contract=off
$(TOOL_SANITIZED_OBJ): | $(O)/$(COMPILER)/onnx.pb-c.h
$(O)/tests/tools/sanitized/%.o: %.c
	$(call say,CC,$< (sanitized))
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) -MMD -MP -c -o $@ $<

$(O)/tests/tools/npu: $(TOOL_SANITIZED_OBJ) $(O)/$(COMPILER)/onnx.pb-c.o $(LIBNPU_OUT)/libnpu.so
	$(call say,LD,$@)
	$(Q)$(CC) $(LDFLAGS) $(TOOL_SANITIZE) '-Wl,-rpath,$$ORIGIN/../../userspace/libnpu' -o $@ \
		$(filter %.o,$^) $(TOOL_LDLIBS)

tests/tools/test_calibrate.py tests/tools/test_coredump.py tests/tools/test_doctor.py \
	tests/tools/test_objdump.py: | $(O)/tests/tools/npu
