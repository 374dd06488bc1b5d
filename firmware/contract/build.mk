# SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 OR MIT
# The contract's generated headers and tables are committed; `make contract` renews them.
CONTRACT_GEN := /usr/bin/python3 firmware/contract/gen.py

.PHONY: contract
contract:
	$(CONTRACT_GEN) .

TESTS_NATIVE += tests/unit/contract.sh
