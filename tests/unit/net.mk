# SPDX-License-Identifier: MIT
# The network of tests/models: on the model in the process, and through the driver.
NET_TESTS := $(O)/tests/unit/test_net $(O)/tests/unit/test_net_parity

$(NET_TESTS:=.o): CPPFLAGS += -D_GNU_SOURCE $(LIBNPU_CPPFLAGS) -DFASHION_NPU='"$(FASHION_NPU)"'
$(NET_TESTS): LDLIBS += $(LIBNPU_LIBS) $(FASHION_LIBS)
$(NET_TESTS): $(FASHION_OBJS) $(LIBNPU) | $(FASHION_NPU) $(O)/firmware/cp/npu_fw.bin
$(O)/tests/unit/test_net: $(NET_GRAPH) $(O)/$(COMPILER)/onnx.pb-c.o
$(O)/tests/unit/test_net: LDLIBS += -lprotobuf-c -ljansson -lcrypto

TESTS_NATIVE += $(O)/tests/unit/test_net
TESTS_VM += $(O)/tests/unit/test_net_parity
VM_ADD += $(FASHION_NPU) $(DEMO_DATA)
