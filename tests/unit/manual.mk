# SPDX-License-Identifier: MIT
# A driver made from the hardware manual alone: the headers of the contract are out of its sight.
MANUAL_TEST := $(O)/tests/unit/test_manual_driver

$(MANUAL_TEST): $(O)/tests/unit/manual_driver.o $(DUT) | $(O)/firmware/cp/npu_fw.bin
$(MANUAL_TEST).o $(O)/tests/unit/manual_driver.o: override CPPFLAGS := -I. \
	-DNPU_FW_IMAGE='"$(O)/firmware/cp/npu_fw.bin"' \
	-DREFERENCE_TIMING=$(if $(filter $(NPU_MODEL),$(DUT)),1,0)

TESTS_NATIVE += $(MANUAL_TEST)
