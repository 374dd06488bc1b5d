# SPDX-License-Identifier: MIT
# The demonstration. Images and network are used by benchmarks and unit tests, too.
DEMO := $(O)/tests/demo/fashion
DEMO_DATA := $(addprefix /usr/share/datasets/fashion-mnist/, \
	t10k-images-idx3-ubyte.gz t10k-labels-idx1-ubyte.gz)
FASHION_NPU := $(O)/tests/demo/fashion.npu
DEMO_ADD := $(FASHION_NPU) $(DEMO_DATA)
FASHION_OBJS := $(O)/tests/demo/dataset.o $(O)/tests/demo/network.o
FASHION_LIBS := -lz
# The program finds the library of its tree, from wherever it is started.
DEMO_RPATH := '-Wl,-rpath,$$ORIGIN/../../userspace/libnpu'

# Seen from the virtual machine, no output is a terminal: what this one is like.
demo-columns = $(word 2,$(shell (stty size </dev/tty) 2>/dev/null))
DEMO_ARGS = $(if $(MAKE_TERMOUT),--progress=bar $(if $(NO_COLOR),,--color=always) \
	$(addprefix --columns=,$(filter-out 0,$(demo-columns))))

$(FASHION_NPU): tests/models/fashion.onnx $(TOOL)
	$(call say,NPU,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(TOOL) compile --quiet -o $@ $<

$(O)/tests/demo/%.o: CPPFLAGS += -D_GNU_SOURCE $(LIBNPU_CPPFLAGS)

$(DEMO): $(O)/tests/demo/fashion.o $(O)/tests/demo/picture.o $(O)/tests/demo/progress.o \
		$(FASHION_OBJS) $(LIBNPU_OUT)/libnpu.so | $(FASHION_NPU) $(O)/firmware/cp/npu_fw.bin
	$(call say,LD,$@)
	$(Q)$(CC) $(LDFLAGS) $(DEMO_RPATH) -o $@ $(filter %.o,$^) -L$(LIBNPU_OUT) -lnpu \
		$(FASHION_LIBS)
