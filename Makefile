# SPDX-License-Identifier: MIT
#
# Every command a person types; "make help" lists them. Folders state what they
# build in their build.mk (see tests/README for tests).

.DEFAULT_GOAL := all
.DELETE_ON_ERROR:
.SUFFIXES:

# O=DIR	where user space and firmware are built
O ?= build
# V=1	shows the commands
V ?= 0
# KDIR=, KVER=	the kernel to build modules for: its build folder, or its version
# KERNEL=NAME	the kernel of the virtual machine, a row of tests/vm/kernels
# DUT=LIB	another device or core for tests (Documentation/hardware/porting.rst)
# NET=face	the demo finds faces in photographs instead
# SUITE=NAME	the Debian release of test-root (trixie)
# PREFIX=DIR, DESTDIR=DIR	where "make install" puts things (also LIBDIR=, BINDIR=)

VERSION := $(file <VERSION)

CC ?= gcc
AR ?= ar
PKG_CONFIG ?= pkg-config
CFLAGS ?= -O2 -g
override CFLAGS := -std=gnu11 -Wall -Wextra -Wstrict-prototypes -Wmissing-prototypes -fPIC $(CFLAGS)
override CPPFLAGS := -I. -Iuapi -Ifirmware/include $(CPPFLAGS)

comma := ,
Q := $(if $(filter 1,$(V)),,@)
say = $(if $(Q),@printf '  %-7s %s\n' '$(1)' '$(2)',@:)

# Recipes for build.mk: "$(O)/x/prog: a.o b.a" followed by "$(link)".
define link
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(LDFLAGS) -o $@ $(filter %.o %.a %.so,$^) $(LDLIBS)
endef

define archive
	$(call say,AR,$@)
	$(Q)mkdir -p $(@D)
	$(Q)rm -f $@
	$(Q)$(AR) rcs $@ $(filter %.o,$^)
endef

# What fragments add to: results, and programs by where they run.
FIRMWARE :=
USERSPACE :=
TESTS_NATIVE :=
TESTS_VM :=
BENCH :=
BENCH_VM :=
# More files for the virtual machine: of its tests and shell, SRC or SRC:DST.
VM_ADD :=
# The demonstration's program, its arguments, and files for it, SRC or SRC:DST.
DEMO :=
DEMO_ARGS :=
DEMO_ADD :=
# Folders that it writes to, DIR:DST.
DEMO_SHARE :=

# Headers of the kernel's selftests, for tests under GPL-2.0-only; fetched when first used.
KSELFTEST_INC = $(eval KSELFTEST_INC := $(shell tests/vm/source.sh --get kselftest))$(KSELFTEST_INC)

include $(sort $(wildcard firmware/*/build.mk))
include $(sort $(wildcard userspace/*/build.mk))
include $(sort $(wildcard tests/*/build.mk tests/unit/*.mk))
-include $(shell find $(O) -name '*.d' 2>/dev/null)
include userspace/packaging/install.mk

# Objects on the way to a program are kept. Not .SECONDARY: for all targets it would leave
# unbuilt what only a script asks for.
.PRECIOUS: $(O)/%.o
$(O)/%.o: %.c
	$(call say,CC,$<)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) -MMD -MP -c -o $@ $<

# A fragment in tests/unit adds prerequisites, and LDLIBS where it needs more.
$(O)/tests/unit/%: $(O)/tests/unit/%.o
	$(link)
$(O)/tests/unit/%: LDLIBS += -lcmocka -lm

##@ Building

.PHONY: all
all: firmware userspace modules ## everything (the default)

.PHONY: firmware
firmware: $(FIRMWARE) ## control-processor firmware and device model

.PHONY: userspace
userspace: $(USERSPACE) ## libraries, compiler and tools

# A lazy value: only a target that needs a kernel looks for one or fetches one.
ifdef KVER
KDIR ?= /lib/modules/$(KVER)/build
endif
running = /lib/modules/$(shell uname -r)/build
has-accel = $(shell grep -sx CONFIG_DRM_ACCEL=y $(1)/include/config/auto.conf)
vm-kdir = $(or $(shell tests/vm/kernel.sh $(vm-kernel) --get kdir),$(error no kernel for the virtual machine))
kdir = $(or $(KDIR),$(if $(call has-accel,$(running)),$(running),$(vm-kdir)))

# Objects are made beside the sources: two builds take turns, and another kernel starts anew.
kbuild = +$(Q)flock .modules.lock tests/vm/kbuild '$(1)' $(2)

.PHONY: modules
modules: ## npu.ko and npu_sim.ko, for KDIR= or KVER=, else a kernel that fits
	$(call kbuild,$(kdir),modules)

.PHONY: vm-modules
vm-modules:
	$(call kbuild,$(vm-kdir),modules)

.PHONY: tests
tests: firmware userspace $(TESTS_NATIVE) $(TESTS_VM) ## test programs, without running them

.PHONY: clean
clean: ## removes what was built
	$(Q)rm -rf $(O)
	$(Q)tests/vm/kbuild --clean

.PHONY: deps
deps: ## installs the Debian packages that are missing (tests/deps.txt)
	$(Q)tests/deps.sh

##@ Running

# The packages come before a second make reads the fragments: they ask pkg-config.
jobs = $(if $(findstring jobserver,$(MAKEFLAGS)),,-j$$(nproc))
submake = +@tests/deps.sh && $(MAKE) --no-print-directory $(jobs)
vm-kernel = $(addprefix --kernel ,$(KERNEL))
vm-add = $(addprefix --add ,$(VM_ADD))

.PHONY: test
test: ## installs what is missing, builds everything, runs every test
	$(submake) run-tests

.PHONY: run-tests
run-tests: tests vm-modules
	$(Q)O=$(O) tests/run $(TESTS_NATIVE) --vm-count $(words machine load unload log $(TESTS_VM)) \
		--vm 'tests/vm/suite $(vm-kernel) $(vm-add) $(TESTS_VM)'

SUITE ?= trixie
.PHONY: test-root
test-root: ## make test on a bare Debian of another release (SUITE=), in a folder of the cache
	$(Q)tests/root $(SUITE) make test

.PHONY: test-debug
test-debug: ## the driver's tests in a kernel with KASAN, lockdep, kmemleak, ..., built when first used
	$(submake) KERNEL=debug run-test-debug

# Slower by far, and with less memory left than a stock kernel leaves.
.PHONY: run-test-debug
run-test-debug: firmware userspace $(TESTS_VM) vm-modules
	$(Q)O=$(O) tests/run --vm-count $(words machine load unload log $(TESTS_VM)) \
		--vm 'tests/vm/suite $(vm-kernel) --memory 3072 --timeout 14400 --program-timeout 1800 $(vm-add) $(TESTS_VM)'

.PHONY: demo
demo: ## classifies images on the simulated NPU, in a virtual machine
	$(submake) run-demo

.PHONY: run-demo
run-demo: firmware userspace vm-modules $(DEMO)
	$(if $(DEMO),,$(error this tree has no demonstration yet: no fragment sets DEMO))
	@echo 'starting a virtual machine with the NPU driver'
	$(Q)O=$(O) tests/vm/run $(vm-kernel) --progress --npu $(addprefix --add ,$(DEMO_ADD)) \
		$(addprefix --share ,$(DEMO_SHARE)) $(DEMO) $(DEMO_ARGS)

.PHONY: vm
vm: ## a shell in the virtual machine, with what is built
	$(submake) run-vm

.PHONY: run-vm
run-vm: firmware userspace vm-modules $(TESTS_VM)
	$(Q)O=$(O) tests/vm/shell $(vm-kernel) $(vm-add) \
		$(addprefix --add ,$(filter-out %.a %.o,$(USERSPACE)) $(TESTS_VM))

.PHONY: bench
bench: ## figures of speed, as a table and in build/bench.json
	$(submake) run-bench

.PHONY: run-bench
run-bench: firmware userspace vm-modules $(BENCH) $(BENCH_VM)
	$(Q)O=$(O) tests/benchmark --json $(O)/bench.json --vm '$(vm-kernel) --npu $(vm-add)' \
		$(addprefix --vm-program ,$(BENCH_VM)) $(BENCH)

.PHONY: check
check: ## style and static analysis: sparse, checkpatch, lengths
	$(submake) run-check

.PHONY: run-check
run-check:
	$(Q)tests/check $(vm-kdir) $(O)/checkpatch.txt

##@ Documentation

.PHONY: docs
docs: ## the manual, as HTML in build/docs
	$(submake) run-docs

.PHONY: run-docs
run-docs:
	$(Q)sphinx-build -q -W --keep-going -d $(O)/docs/.doctrees -b html Documentation $(O)/docs
	@echo 'the manual begins at $(O)/docs/index.html'

##@ Installing

.PHONY: install
install: install-userspace $(if $(install-kdir),install-modules) ## libnpu, tool, manual pages, firmware; modules too where the kernel fits
	$(if $(install-kdir),,@echo 'kernel modules are left out: the running kernel has no CONFIG_DRM_ACCEL; KDIR= or KVER= names another')

.PHONY: uninstall
uninstall: ## removes what "make install" with the same folders put there
	$(Q)userspace/packaging/install.sh remove '$(DESTDIR)' $(INSTALL_FILES) \
		$(foreach m,$(INSTALLED_MODULES),$(if $(install-release),644:$(m):/lib/modules/$(install-release)/updates/$(m)))
	$(Q)[ -n '$(DESTDIR)' ] || [ -z '$(install-release)' ] || depmod '$(install-release)'

##@ Other

.PHONY: help
help: ## this list
	@awk 'BEGIN { FS = ":.*## " } \
		/^##@ / { printf "\n%s\n", substr($$0, 5) } \
		/^[a-z-]+:.*## / { printf "  %-12s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))
	@printf '\nVariables\n'
	@sed -n 's/^# \([A-Z]\{1,7\}=[^\t]*\)\t/  \1\t/p' $(firstword $(MAKEFILE_LIST)) | expand -t 28
