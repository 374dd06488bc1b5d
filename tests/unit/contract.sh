#!/bin/sh
# SPDX-License-Identifier: MIT
# The committed headers and tables are what the description says, and the generator refuses what it must.
gen="/usr/bin/python3 firmware/contract/gen.py"
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
n=0 bad=0

result() { # result STATUS NAME
	n=$((n + 1))
	if [ "$1" -eq 0 ]; then echo "ok $n - $2"; else echo "not ok $n - $2"; bad=1; fi
}

refused() { # refused NAME FILE SED MESSAGE: a description edited by SED fails with MESSAGE
	cp -r firmware/contract "$tmp/c"
	sed -i "$3" "$tmp/c/$2"
	if /usr/bin/python3 "$tmp/c/gen.py" "$tmp/out" 2>"$tmp/err"; then
		result 1 "$1"
	else
		grep -q -- "$4" "$tmp/err"
		result $? "$1"
	fi
	rm -rf "$tmp/c"
}

echo "TAP version 13"
$gen --check . >&2
result $? "generated files are current"
refused "overlapping fields" isa.yaml 's/name: pop_next, bits: \[4, 4\]/name: pop_next, bits: [3, 3]/' overlap
refused "a struct of another size" protocol.yaml '0,/size: 64/s//size: 60/' 'size says 60'
refused "a register twice" registers.yaml 's/name: REVISION, offset: 0x00c/name: REVISION, offset: 0x008/' 'offset in use'
refused "an unknown key in another file" energy.yaml '0,/doc:/s//dok:/' 'unknown keys'
refused "an unknown key" timing.yaml '0,/doc:/s//dok:/' 'unknown keys'
echo "1..$n"
exit $bad
