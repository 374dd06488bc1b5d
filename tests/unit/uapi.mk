# SPDX-License-Identifier: MIT
TESTS_NATIVE += tests/unit/uapi.sh
