# SPDX-License-Identifier: MIT
# Compiler and runtime against ONNX Runtime.
ORT_RUN := $(O)/tests/ort/run_models

$(ORT_RUN).o: CPPFLAGS += -D_GNU_SOURCE $(LIBNPU_CPPFLAGS)
$(ORT_RUN): LDLIBS = $(LIBNPU_LIBS) $(COMPILER_LDLIBS)
$(ORT_RUN): $(ORT_RUN).o $(COMPILER_LIB) $(LIBNPU) $(O)/userspace/isa/libnpu_isa.a | $(O)/firmware/cp/npu_fw.bin
	$(link)

ORT_TESTS := $(sort $(wildcard tests/ort/test_*.py))

$(ORT_TESTS) tests/ort/bench_random_graphs.py: | $(ORT_RUN)

TESTS_NATIVE += $(ORT_TESTS)
BENCH += tests/ort/bench_random_graphs.py
