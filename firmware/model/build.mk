# SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 OR MIT
# The device model as a library for programs; npu_sim.ko compiles the same files.
NPU_MODEL := $(O)/firmware/model/libnpu_model.a
NPU_MODEL_SRC := $(sort $(wildcard firmware/model/*.c))

$(NPU_MODEL): $(NPU_MODEL_SRC:%.c=$(O)/%.o)
	$(archive)

# DUT=lib.a: tests that see a device or a core only by npu_model.h or npu_core.h run with that
# one (Documentation/hardware/porting.rst).
DUT ?= $(NPU_MODEL)

FIRMWARE += $(NPU_MODEL)
