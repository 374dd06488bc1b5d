#!/bin/sh
# SPDX-License-Identifier: MIT
# The uAPI header: the layout of structures and numbers of calls for every word size, without
# padding that the compiler adds, and its use in C and C++.
cc=${CC:-gcc}
layout=tests/unit/uapi_layout.c
header=uapi/drm/npu_accel.h
# Kernel headers of one architecture serve all word sizes of it.
includes="-Iuapi $(pkg-config --cflags libdrm | sed s/-I/-isystem/g)
	-isystem /usr/include/$($cc -print-multiarch)"
n=0 bad=0

result() { # result STATUS NAME
	n=$((n + 1))
	if [ "$1" -eq 0 ]; then echo "ok $n - $2"; else echo "not ok $n - $2"; bad=1; fi
}

compile() { # compile FLAG...
	# shellcheck disable=SC2086 # words
	$cc "$@" -Wall -Wextra -Wpadded -Werror -fsyntax-only $includes "$layout"
}

listed() { # listed: every structure and member of the header is in the list
	awk '/^struct drm_npu_.* {/ { name = $2 }
		/^};/ { name = "" }
		name && /^\t/ { sub(/;.*/, ""); sub(/\[.*/, ""); print "AT(struct " name ", " $2 "," }
		/^struct drm_npu_.* {/ { print "SIZE(struct " name "," }' "$header" |
	while read -r want; do
		grep -qF "$want" "$layout" || { echo "# $want is not in $layout"; false; } || exit 1
	done
}

echo "TAP version 13"
machine=$($cc -dumpmachine)
case $machine in
x86_64-*) sizes="-m64 -m32 -mx32" ;;
*) sizes="-DNATIVE" ;;
esac
for size in $sizes; do
	compile -std=c11 "$size"
	result $? "layout with $size"
	! compile -std=c11 "$size" -DPLANTED 2> /dev/null
	result $? "padding is found with $size"
done
compile -std=c++17 -xc++
result $? "layout in C++17"
listed
result $? "list is complete"
echo "1..$n"
exit $bad
