#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Starts the test of the thread rules. Where addresses are random over more bits than its
# sanitizer knows, it cannot start; so they are not, where that is allowed.
program=${O:-build}/tests/unit/test_libnpu_threads
if setarch -R true 2> /dev/null; then
	exec setarch -R "$program"
fi
exec "$program"
