# SPDX-License-Identifier: MIT
# Tests of the control processor's interpreter.

RV32_CC ?= riscv64-unknown-elf-gcc
RV32_OBJCOPY ?= riscv64-unknown-elf-objcopy
# rv32imc_zicsr would need a multilib that Debian has not; 2.2 has Zicsr in I.
RV32_TARGET := -march=rv32imc -misa-spec=2.2 -mabi=ilp32 -nostdlib -static -Wl,--no-warn-rwx-segments

RV32_DIR := $(O)/tests/rv32
RV32_OBJS := $(addprefix $(O)/firmware/model/,rv32.o rv32_decode.o rv32_csr.o rv32_exec.o)
RV32_BOARD := $(RV32_OBJS) $(RV32_DIR)/board.o
RV32_PROGRAMS := exceptions csr interrupts wfi counters selfmod mmio

$(RV32_DIR)/%.elf: tests/rv32/%.S tests/rv32/program.h tests/rv32/board_regs.h tests/rv32/bare.ld
	$(call say,RV32,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(RV32_CC) $(RV32_TARGET) -I. -T tests/rv32/bare.ld -o $@ $<

.SECONDARY: $(RV32_PROGRAMS:%=$(RV32_DIR)/%.elf)
$(RV32_DIR)/%.bin: $(RV32_DIR)/%.elf
	$(call say,BIN,$@)
	$(Q)$(RV32_OBJCOPY) -O binary $< $@

$(O)/tests/unit/test_rv32_programs: $(RV32_BOARD)
$(O)/tests/unit/test_rv32_programs: | $(RV32_PROGRAMS:%=$(RV32_DIR)/%.bin)
$(O)/tests/unit/test_rv32_programs.o: CPPFLAGS += -DRV32_DIR='"$(RV32_DIR)"'
TESTS_NATIVE += $(O)/tests/unit/test_rv32_programs

$(RV32_DIR)/workload.elf: tests/rv32/workload.c tests/rv32/board_regs.h tests/rv32/bare.ld
	$(call say,RV32,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(RV32_CC) $(RV32_TARGET) -I. -O2 -ffreestanding -fno-pic -T tests/rv32/bare.ld -o $@ $<

$(RV32_DIR)/bench: $(RV32_BOARD) $(RV32_DIR)/bench.o | $(RV32_DIR)/workload.bin
	$(link)
$(RV32_DIR)/bench.o: CPPFLAGS += -DRV32_DIR='"$(RV32_DIR)"'
BENCH += $(RV32_DIR)/bench
