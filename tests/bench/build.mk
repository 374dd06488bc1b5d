# SPDX-License-Identifier: MIT
# How well the network of tests/models uses the core. BENCH programs of others
# are with the tests whose objects they share.
NET_BENCH := $(O)/tests/bench/net
NET_GRAPH := $(O)/tests/bench/net_graph.o

$(NET_GRAPH) $(O)/tests/bench/net_layers.o $(NET_BENCH).o: CPPFLAGS += -D_GNU_SOURCE $(LIBNPU_CPPFLAGS) \
	-I$(O)/$(COMPILER) -DFASHION_NPU='"$(O)/tests/demo/fashion.npu"'
$(NET_GRAPH): $(O)/$(COMPILER)/onnx.pb-c.h

$(NET_BENCH): LDLIBS = $(LIBNPU_LIBS) $(COMPILER_LDLIBS) -lz
$(NET_BENCH): $(NET_BENCH).o $(NET_GRAPH) $(O)/tests/bench/net_layers.o \
		$(O)/tests/demo/dataset.o $(O)/tests/demo/network.o $(COMPILER_LIB) $(LIBNPU) \
		$(O)/userspace/isa/libnpu_isa.a | $(O)/tests/demo/fashion.npu $(O)/firmware/cp/npu_fw.bin
	$(link)

BENCH += $(NET_BENCH)
