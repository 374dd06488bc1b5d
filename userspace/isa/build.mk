# SPDX-License-Identifier: MIT
# Encoder, decoder, disassembler and command builder of the instruction set.
ISA_OBJS := $(addprefix $(O)/userspace/isa/, \
	npu_insn.o npu_print.o npu_builder.o npu_kernel.o npu_tokens.o)

$(O)/userspace/isa/libnpu_isa.a: $(ISA_OBJS)
	$(archive)

USERSPACE += $(O)/userspace/isa/libnpu_isa.a
