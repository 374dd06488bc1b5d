# SPDX-License-Identifier: MIT
# The second interpreter and the generator of random programs.
ORACLE_OBJS := $(addprefix $(O)/tests/oracle/, \
	oracle.o memory.o generator.o generate_insn.o generate_fault.o \
	generate_special.o)
# Requantisation is held against real binary32 arithmetic.
$(O)/tests/oracle/%.o: CFLAGS += -ffp-contract=off

$(O)/tests/oracle/liboracle.a: $(ORACLE_OBJS)
	$(archive)
