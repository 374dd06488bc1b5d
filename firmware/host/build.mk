# SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 OR MIT
# The host's side of the device, for user space; Kbuild compiles the same files into npu.ko.
HOST_OBJS := $(addprefix $(O)/firmware/host/, \
	npu_ring.o npu_admin.o npu_status.o npu_pt.o npu_fwimage.o npu_boot.o npu_energy.o)

$(O)/firmware/host/libnpu_host.a: $(HOST_OBJS)
	$(archive)

FIRMWARE += $(O)/firmware/host/libnpu_host.a
