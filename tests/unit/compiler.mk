# SPDX-License-Identifier: MIT
TESTS_NATIVE += $(O)/tests/unit/test_compiler
$(O)/tests/unit/test_compiler: $(O)/tests/unit/compiler_net.o $(O)/tests/unit/compiler_run.o \
	$(COMPILER_LIB) $(O)/userspace/isa/libnpu_isa.a $(O)/firmware/model/libnpu_model.a
$(O)/tests/unit/test_compiler: LDLIBS += $(COMPILER_LDLIBS)
$(O)/tests/unit/compiler_net.o $(O)/tests/unit/test_compiler.o: $(O)/$(COMPILER)/onnx.pb-c.h
$(O)/tests/unit/compiler_net.o $(O)/tests/unit/test_compiler.o: CPPFLAGS += -I$(O)/$(COMPILER)
$(O)/tests/unit/compiler_net.o: CFLAGS += -ffp-contract=off
$(O)/tests/unit/compiler_run.o: CPPFLAGS += -D_GNU_SOURCE
