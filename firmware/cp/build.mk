# SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 OR MIT
# Firmware of the control processor.
CP_CROSS ?= riscv64-unknown-elf-
CP_FLAGS := -march=rv32imc_zicsr -mabi=ilp32 -I. -Ifirmware/include -Ifirmware/cp/lib
CP_CFLAGS := $(CP_FLAGS) -std=gnu11 -O2 -flto -g -ffreestanding -fno-strict-aliasing \
	-fno-common -fno-tree-loop-distribute-patterns -ffunction-sections -fdata-sections \
	-msmall-data-limit=1024 -Wall -Wextra -Wstrict-prototypes -Wmissing-prototypes
CP_OBJ := $(patsubst %.c,$(O)/%.o,$(sort $(wildcard firmware/cp/*.c))) \
	$(O)/firmware/cp/start.o $(O)/firmware/cp/version.o
CP_IMAGE := $(O)/firmware/cp/npu_fw.bin
CP_ELF := $(O)/firmware/cp/npu_fw.elf

$(O)/firmware/cp/%.o: firmware/cp/%.c firmware/cp/build.mk
	$(call say,CP CC,$<)
	$(Q)mkdir -p $(@D)
	$(Q)$(CP_CROSS)gcc $(CP_CFLAGS) -MMD -MP -c -o $@ $<

$(O)/firmware/cp/%.o: firmware/cp/%.S firmware/cp/build.mk
	$(call say,CP AS,$<)
	$(Q)mkdir -p $(@D)
	$(Q)$(CP_CROSS)gcc $(CP_FLAGS) -MMD -MP -c -o $@ $<

# Without any library: the compiler's own would be that of the 64-bit processor.
$(CP_ELF): firmware/cp/fw.ld $(CP_OBJ)
	$(call say,CP LD,$@)
	$(Q)$(CP_CROSS)gcc $(CP_CFLAGS) -nostdlib -static -Wl,--gc-sections \
		-Wl,--no-warn-rwx-segments -Wl,--build-id=none -Wl,-T,firmware/cp/fw.ld \
		-Wl,-Map,$@.map -o $@ $(CP_OBJ)

$(O)/firmware/cp/npu_fw.payload: $(CP_ELF)
	$(Q)$(CP_CROSS)objcopy -O binary $< $@

$(CP_IMAGE): $(O)/firmware/cp/npu_fw.payload firmware/cp/pack.py \
		$(wildcard firmware/contract/*.yaml)
	$(call say,PACK,$@)
	$(Q)firmware/cp/pack.py firmware/contract $(CP_ELF) $< $@

FIRMWARE += $(CP_IMAGE)
