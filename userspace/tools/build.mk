# SPDX-License-Identifier: MIT
# The npu tool, linked to libnpu as an installed program would be, and its manual pages.
TOOL := $(O)/userspace/tools/npu
TOOL_SRC := $(sort $(wildcard userspace/tools/*.c))
# npu doctor judges firmware as the driver does, npu coredump knows names of the contract.
TOOL_HOST := firmware/host/npu_fwimage.c firmware/host/npu_status.c
TOOL_MAN_SRC := $(wildcard userspace/tools/man/*.scd)
TOOL_MAN := $(TOOL_MAN_SRC:%.scd=$(O)/%)
TOOL_LIBS := $(TOOL_HOST:%.c=$(O)/%.o) $(COMPILER_LIB) $(O)/userspace/isa/libnpu_isa.a $(LIBNPU_OUT)/libnpu.so
TOOL_CPPFLAGS = -D_GNU_SOURCE -DTOOL_VERSION='"$(VERSION)"' -Iuserspace/libnpu/include $(LIBDRM_CPPFLAGS)
# The program finds the library of its tree, from wherever it is started.
TOOL_RPATH := '-Wl,-rpath,$$ORIGIN/../libnpu'
TOOL_LDLIBS := -L$(LIBNPU_OUT) -lnpu $(COMPILER_LDLIBS) -lkmod -ljansson -lncursesw -ltinfo -lz

$(O)/userspace/tools/%.o: CPPFLAGS += $(TOOL_CPPFLAGS)
$(TOOL): $(TOOL_SRC:%.c=$(O)/%.o) $(TOOL_LIBS)
	$(call say,LD,$@)
	$(Q)$(CC) $(LDFLAGS) $(TOOL_RPATH) -o $@ $(filter %.o %.a,$^) $(TOOL_LDLIBS)

$(O)/userspace/tools/man/%: userspace/tools/man/%.scd
	$(call say,MAN,$@)
	$(Q)mkdir -p $(@D)
	$(Q)scdoc <$< >$@

USERSPACE += $(TOOL) $(TOOL_MAN)
