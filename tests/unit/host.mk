# SPDX-License-Identifier: MIT
# The host library by itself.
HOST_TESTS := $(addprefix $(O)/tests/unit/test_host_, ring admin energy pt fwimage boot)

$(HOST_TESTS): $(O)/firmware/host/libnpu_host.a

TESTS_NATIVE += $(HOST_TESTS)
