# SPDX-License-Identifier: MIT
# What "make install" puts where; read after all fragments.

PREFIX ?= /usr/local
LIBDIR ?= $(PREFIX)/lib
BINDIR ?= $(PREFIX)/bin
INCLUDEDIR ?= $(PREFIX)/include
DATADIR ?= $(PREFIX)/share
# Where kernel and libnpu look, whatever the prefix is.
FIRMWAREDIR ?= /lib/firmware

INSTALL_OUT := $(O)/userspace/packaging
LIBNPU_REAL := libnpu.so.$(VERSION)
# Folders that the dynamic linker knows; from others the program is told.
linker-knows = $(or $(filter /lib /usr/lib /usr/local/lib,$(LIBDIR)), \
	$(filter /lib/$(1) /usr/lib/$(1) /usr/local/lib/$(1),$(LIBDIR)))
multiarch = $(shell $(CC) -print-multiarch 2>/dev/null)
install-rpath = $(if $(call linker-knows,$(multiarch)),,-Wl$(comma)-rpath$(comma)$(LIBDIR))

# MODE:SOURCE:DESTINATION, or link:TARGET:DESTINATION
INSTALL_FILES = \
	755:$(INSTALL_OUT)/npu:$(BINDIR)/npu \
	755:$(LIBNPU_SO):$(LIBDIR)/$(LIBNPU_REAL) \
	link:$(LIBNPU_REAL):$(LIBDIR)/$(LIBNPU_SONAME) \
	link:$(LIBNPU_SONAME):$(LIBDIR)/libnpu.so \
	644:$(LIBNPU):$(LIBDIR)/libnpu.a \
	644:$(INSTALL_OUT)/libnpu.pc:$(LIBDIR)/pkgconfig/libnpu.pc \
	$(foreach h,$(wildcard userspace/libnpu/include/npu/*.h),644:$(h):$(INCLUDEDIR)/npu/$(notdir $(h))) \
	$(foreach h,$(wildcard uapi/*/*.h),644:$(h):$(INCLUDEDIR)/$(h:uapi/%=%)) \
	$(foreach m,$(TOOL_MAN),644:$(m):$(DATADIR)/man/man$(subst .,,$(suffix $(m)))/$(notdir $(m))) \
	644:userspace/packaging/npu.bash:$(DATADIR)/bash-completion/completions/npu \
	644:userspace/packaging/_npu:$(DATADIR)/zsh/site-functions/_npu \
	644:userspace/packaging/70-npu.rules:$(PREFIX)/lib/udev/rules.d/70-npu.rules \
	644:userspace/packaging/npu.conf:$(PREFIX)/lib/modprobe.d/npu.conf \
	$(foreach f,$(filter %.bin,$(FIRMWARE)),644:$(f):$(FIRMWAREDIR)/npu/$(notdir $(f)))

# Prefix and folders are not known to make's dates, so these are made each time.
.PHONY: install-made
install-made: firmware userspace
	$(Q)mkdir -p $(INSTALL_OUT)
	$(Q)sed 's|@prefix@|$(PREFIX)|; s|@version@|$(VERSION)|; s|@libdir@|$(LIBDIR:$(PREFIX)/%=$${prefix}/%)|; s|@includedir@|$(INCLUDEDIR:$(PREFIX)/%=$${prefix}/%)|' \
		userspace/libnpu/libnpu.pc.in > $(INSTALL_OUT)/libnpu.pc
	$(Q)$(CC) $(LDFLAGS) $(install-rpath) -o $(INSTALL_OUT)/npu $(TOOL_SRC:%.c=$(O)/%.o) \
		$(filter %.o %.a,$(TOOL_LIBS)) $(TOOL_LDLIBS)

.PHONY: install-userspace
install-userspace: install-made
	$(Q)userspace/packaging/install.sh install '$(DESTDIR)' $(INSTALL_FILES)
	$(Q)[ -n '$(DESTDIR)' ] || [ "$$(id -u)" -ne 0 ] || ldconfig

# As a kernel may compress them.
INSTALLED_MODULES := $(foreach m,npu npu_sim,$(addprefix $(m).ko,/ .gz .xz .zst))
INSTALLED_MODULES := $(INSTALLED_MODULES:/=)

# A kernel that was named, else the running one if NPUs can be driven there.
install-kdir = $(or $(KDIR),$(if $(call has-accel,$(running)),$(running)))
install-release = $(shell cat '$(install-kdir)/include/config/kernel.release' 2>/dev/null)

.PHONY: install-modules
install-modules:
	$(if $(install-kdir),,$(error the running kernel has no CONFIG_DRM_ACCEL; name another with KDIR= or KVER=))
	+$(Q)flock .modules.lock userspace/packaging/install-modules.sh '$(install-kdir)' '$(DESTDIR)'
	$(Q)[ -n '$(DESTDIR)' ] || depmod '$(install-release)'
