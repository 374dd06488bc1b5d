# SPDX-License-Identifier: MIT
# Firmware and device model together.
FW_TESTS := $(patsubst tests/unit/%.c,$(O)/tests/unit/%,$(sort $(wildcard tests/unit/test_fw_*.c)))
FW_BOARD := $(O)/tests/unit/device_board.o $(DUT) \
	$(O)/firmware/host/libnpu_host.a $(O)/userspace/isa/libnpu_isa.a

$(FW_TESTS): $(FW_BOARD)
$(FW_TESTS): | $(O)/firmware/cp/npu_fw.bin
$(O)/tests/unit/device_board.o: CPPFLAGS += -DNPU_FW_IMAGE='"$(O)/firmware/cp/npu_fw.bin"'

TESTS_NATIVE += $(FW_TESTS)

$(O)/tests/unit/test_fw_cost: $(O)/tests/unit/fw_cost.o

$(O)/tests/bench/fw_cost: $(O)/tests/bench/fw_cost.o $(O)/tests/unit/fw_cost.o $(FW_BOARD)
	$(link)
$(O)/tests/bench/fw_cost: LDLIBS += -lcmocka
$(O)/tests/bench/fw_cost: | $(O)/firmware/cp/npu_fw.bin
BENCH += $(O)/tests/bench/fw_cost

$(O)/tests/unit/test_fw_yield: $(O)/tests/unit/fw_yield.o

$(O)/tests/bench/yield_delay: $(O)/tests/bench/yield_delay.o $(O)/tests/unit/fw_yield.o $(FW_BOARD)
	$(link)
$(O)/tests/bench/yield_delay: LDLIBS += -lcmocka
$(O)/tests/bench/yield_delay: | $(O)/firmware/cp/npu_fw.bin
BENCH += $(O)/tests/bench/yield_delay
