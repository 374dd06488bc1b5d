# SPDX-License-Identifier: MIT
# The compiler as a library; `npu compile` is its command.
COMPILER := userspace/compiler
COMPILER_SRC := $(sort $(wildcard userspace/compiler/*.c))
COMPILER_OBJ := $(COMPILER_SRC:%.c=$(O)/%.o) $(O)/$(COMPILER)/onnx.pb-c.o
COMPILER_LIB := $(O)/$(COMPILER)/libnpu_compiler.a
COMPILER_LDLIBS := -lelf -ljansson -lprotobuf-c -lm
ONNX_PROTO_DIR ?= /usr/include/onnx

# protoc-c writes both files.
$(O)/$(COMPILER)/onnx.pb-c.c $(O)/$(COMPILER)/onnx.pb-c.h &: $(ONNX_PROTO_DIR)/onnx.proto
	$(call say,PROTOC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)protoc-c --c_out=$(@D) -I$(ONNX_PROTO_DIR) onnx.proto

$(O)/$(COMPILER)/onnx.pb-c.o: $(O)/$(COMPILER)/onnx.pb-c.c
	$(call say,CC,$<)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) -w -c -o $@ $<

ONNX_READERS := $(O)/$(COMPILER)/import_onnx.o $(O)/$(COMPILER)/onnx_wire.o
$(ONNX_READERS): $(O)/$(COMPILER)/onnx.pb-c.h
$(ONNX_READERS): CPPFLAGS += -I$(O)/$(COMPILER)
# Multipliers, tables and coordinates are float32 in stated steps.
$(addprefix $(O)/$(COMPILER)/, fold_constants.o lower_pair.o lower_quant.o lower_resize.o \
	lower_table.o): CFLAGS += -ffp-contract=off

$(COMPILER_LIB): $(COMPILER_OBJ)
	$(archive)

USERSPACE += $(COMPILER_LIB)
