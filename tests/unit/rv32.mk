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

$(O)/tests/unit/test_rv32: $(RV32_BOARD)
TESTS_NATIVE += $(O)/tests/unit/test_rv32

# Hostile programs run on objects with sanitizers, apart from the others.
RV32_SANITIZE := -fsanitize=address,undefined -fno-sanitize-recover=all
RV32_SANITIZED := $(patsubst $(O)/%,$(RV32_DIR)/sanitized/%,$(RV32_OBJS))

$(RV32_DIR)/sanitized/%.o: %.c
	$(call say,CC,$< (sanitized))
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) $(RV32_SANITIZE) -MMD -MP -c -o $@ $<

$(O)/tests/unit/test_rv32_hostile: $(RV32_SANITIZED)
$(O)/tests/unit/test_rv32_hostile: LDFLAGS += $(RV32_SANITIZE)
$(O)/tests/unit/test_rv32_hostile.o: CFLAGS += $(RV32_SANITIZE)
TESTS_NATIVE += $(O)/tests/unit/test_rv32_hostile

# Random sequences, compared with qemu-riscv32. The number is the seed.
RV32_RANDOM := $(addprefix random,1 2 3 4 5 6 7 8)
RV32_SEQUENCES := 64 300

$(RV32_DIR)/random%.S: tests/rv32/random_program.py
	$(call say,GEN,$@)
	$(Q)mkdir -p $(@D)
	$(Q)tests/rv32/random_program.py $* $(RV32_SEQUENCES) > $@

$(RV32_DIR)/random%.elf: $(RV32_DIR)/random%.S tests/rv32/linux.ld
	$(call say,RV32,$@)
	$(Q)$(RV32_CC) $(RV32_TARGET) -T tests/rv32/linux.ld -o $@ $<

.SECONDARY: $(RV32_RANDOM:%=$(RV32_DIR)/%.elf) $(RV32_RANDOM:%=$(RV32_DIR)/%.S)
$(O)/tests/unit/test_rv32_random: $(RV32_BOARD)
$(O)/tests/unit/test_rv32_random: | $(RV32_RANDOM:%=$(RV32_DIR)/%.bin)
$(O)/tests/unit/test_rv32_random.o: CPPFLAGS += -DRV32_DIR='"$(RV32_DIR)"'
TESTS_NATIVE += $(O)/tests/unit/test_rv32_random

$(RV32_DIR)/workload.elf: tests/rv32/workload.c tests/rv32/board_regs.h tests/rv32/bare.ld
	$(call say,RV32,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(RV32_CC) $(RV32_TARGET) -I. -O2 -ffreestanding -fno-pic -T tests/rv32/bare.ld -o $@ $<

$(RV32_DIR)/bench: $(RV32_BOARD) $(RV32_DIR)/bench.o | $(RV32_DIR)/workload.bin
	$(link)
$(RV32_DIR)/bench.o: CPPFLAGS += -DRV32_DIR='"$(RV32_DIR)"'
BENCH += $(RV32_DIR)/bench
