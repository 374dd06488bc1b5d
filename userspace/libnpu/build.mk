# SPDX-License-Identifier: MIT
# The runtime, shared and static. Device model and host library are part of both.
# For programs: LIBNPU (static, for tests) or LIBNPU_SO, LIBNPU_CPPFLAGS, LIBNPU_LIBS.
LIBNPU_OUT := $(O)/userspace/libnpu
LIBNPU := $(LIBNPU_OUT)/libnpu.a
LIBNPU_SONAME := libnpu.so.0
LIBNPU_SO := $(LIBNPU_OUT)/$(LIBNPU_SONAME)
LIBNPU_CPPFLAGS := -Iuserspace/libnpu/include
LIBNPU_LIBS := -ldrm -lelf -lpthread -ldl -lm
LIBDRM_CPPFLAGS = $(eval LIBDRM_CPPFLAGS := $(shell $(PKG_CONFIG) --cflags libdrm))$(LIBDRM_CPPFLAGS)

LIBNPU_SRC := $(sort $(wildcard userspace/libnpu/*.c))
LIBNPU_OBJS := $(LIBNPU_SRC:%.c=$(O)/%.o)
LIBNPU_ALL := $(LIBNPU_OBJS) $(HOST_OBJS) $(NPU_MODEL_SRC:%.c=$(O)/%.o)

$(LIBNPU_OBJS): CPPFLAGS += -D_GNU_SOURCE -DNPU_LIBRARY_VERSION='"$(VERSION)"' $(LIBDRM_CPPFLAGS)
$(LIBNPU_OBJS): CFLAGS += -fvisibility=hidden
# Each step of the quantisation rules is rounded; packing and pooling are worth vectors.
$(addprefix $(LIBNPU_OUT)/hostkernel_, quantize.o elementwise.o average.o): CFLAGS += \
	-ffp-contract=off -fno-math-errno -O3
$(addprefix $(LIBNPU_OUT)/hostkernel_, layout.o patch.o pool.o index.o): CFLAGS += -O3

$(LIBNPU): $(LIBNPU_ALL)
	$(archive)

$(LIBNPU_SO): LDFLAGS += -shared -Wl,-soname,$(LIBNPU_SONAME) -Wl,-z,defs \
	-Wl,--version-script=userspace/libnpu/libnpu.map
$(LIBNPU_SO): LDLIBS = $(LIBNPU_LIBS)
$(LIBNPU_SO): $(LIBNPU_ALL) userspace/libnpu/libnpu.map
	$(link)

$(LIBNPU_OUT)/libnpu.so: $(LIBNPU_SO)
	$(Q)ln -sf $(LIBNPU_SONAME) $@

$(LIBNPU_OUT)/libnpu.pc: userspace/libnpu/libnpu.pc.in VERSION
	$(Q)mkdir -p $(@D)
	$(Q)sed 's|@prefix@|/usr|; s|@libdir@|$${prefix}/lib|; s|@includedir@|$${prefix}/include|; s|@version@|$(VERSION)|' $< > $@

USERSPACE += $(LIBNPU) $(LIBNPU_OUT)/libnpu.so $(LIBNPU_OUT)/libnpu.pc
