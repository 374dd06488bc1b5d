# SPDX-License-Identifier: MIT
# The npu tool, linked to libnpu as an installed program would be, and its manual pages.
TOOL := $(O)/userspace/tools/npu
TOOL_SRC := $(addprefix userspace/tools/, main.c tool.c device_info.c kmod_load.c run_module.c \
	compile_model.c objdump.c)
TOOL_MAN := $(patsubst userspace/tools/man/%.scd,$(O)/userspace/tools/man/%,$(wildcard userspace/tools/man/*.scd))

$(O)/userspace/tools/%.o: CPPFLAGS += -Iuserspace/libnpu/include
$(TOOL): $(TOOL_SRC:%.c=$(O)/%.o) $(COMPILER_LIB) $(O)/userspace/isa/libnpu_isa.a $(O)/userspace/libnpu/libnpu.so
	$(call say,LD,$@)
	$(Q)$(CC) $(LDFLAGS) -o $@ $(filter %.o %.a,$^) -L$(O)/userspace/libnpu -lnpu \
		'-Wl,-rpath,$$ORIGIN/../libnpu' $(COMPILER_LDLIBS) -lkmod -ljansson

$(O)/userspace/tools/man/%: userspace/tools/man/%.scd
	$(call say,MAN,$@)
	$(Q)mkdir -p $(@D)
	$(Q)scdoc <$< >$@

USERSPACE += $(TOOL) $(TOOL_MAN)
